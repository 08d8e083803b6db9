"""Names the devices that Ollama to 2025-09 lists by an id as its runner names them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from app.core.log import Fact, LogEvent

# Ollama hands the ids to its runner in the order of its list (discover/gpu.go of v0.11), and the
# runner numbers them from 0
_PREFIXES = {"cuda": "CUDA", "rocm": "ROCm", "oneapi": "SYCL", "metal": "Metal", "vulkan": "Vulkan"}


def named(events: Iterable[LogEvent]) -> Iterator[LogEvent]:
    """Yield the events; a device by an id gets its name, and keeps the id as a value."""
    seen: dict[str, dict[str, int]] = {}
    for event in events:
        if event.values.get("at") == "start":
            seen.clear()  # the server begins anew and lists its devices again
        yield _named(event, seen) if _has_id(event) else event


def _has_id(event: LogEvent) -> bool:
    return event.fact is Fact.DEVICE_LISTED and "library" in event.values and "id" in event.values


def _named(event: LogEvent, seen: dict[str, dict[str, int]]) -> LogEvent:
    library = event.word("library").lower()
    prefix = _PREFIXES.get(library)
    if prefix is None:
        return replace(event, values=MappingProxyType({**event.values, "device": "CPU"}))
    numbers = seen.setdefault(library, {})
    number = numbers.setdefault(event.word("id"), len(numbers))
    name = prefix if library == "metal" else f"{prefix}{number}"
    return replace(event, values=MappingProxyType({**event.values, "device": name}))
