"""Evidence made by hand for rules: small, with the values that real captures have."""

from app.core.evidence import Evidence
from app.core.log import (
    BufferKind,
    Ended,
    Fact,
    LoadStory,
    LogBuffer,
    LogEvent,
    LogSummary,
    Role,
    Value,
)
from app.core.request import LoadRequest
from app.core.units import MIB

GPU = "RTX 4070"


def event(fact: Fact, line: int, text: str, **values: Value) -> LogEvent:
    """Make an event."""
    return LogEvent(fact, line, text, values)


def buffer(name: str, role: Role, mib: float, line: int) -> LogBuffer:
    """Make a buffer; its kind follows from the few names used here."""
    is_host = name.startswith("CPU") or name in ("AMX", "Vulkan_Host")
    kind = BufferKind.HOST if is_host else BufferKind.DEVICE
    return LogBuffer(name, kind, role, int(mib * MIB), line)


def listed(name: str, description: str = GPU, mib: int = 12288, line: int = 4) -> LogEvent:
    """Make a line of the device list."""
    return event(
        Fact.DEVICE_LISTED,
        line,
        f"  - {name} : {description} ({mib} MiB, {mib} MiB free)",
        device=name,
        description=description,
        total_mib=mib,
        free_mib=mib,
    )


def offloaded(n: int, m: int, line: int = 140) -> LogEvent:
    """Make the offload line."""
    return event(Fact.OFFLOADED, line, f"load_tensors: offloaded {n}/{m} layers to GPU", n=n, m=m)


def story(
    *events: LogEvent,
    buffers: tuple[LogBuffer, ...] = (),
    devices: tuple[str, ...] | None = ("CUDA0",),
    errors: tuple[LogEvent, ...] = (),
    ended: Ended = Ended.CLEAN,
    **more: object,
) -> LoadStory:
    """Make a load's story; whether weights are on a device follows from the buffers."""
    weights = [b for b in buffers if b.role is Role.WEIGHTS]
    claim = next((e for e in events if e.fact is Fact.OFFLOADED), None)
    on_device = any(b.kind is BufferKind.DEVICE and b.n_bytes for b in weights)
    return LoadStory(
        path="/models/m.gguf",
        devices_listed=devices,
        buffers=buffers,
        weights_on_device=on_device if weights else None,
        offload_line=None if claim is None else (claim.whole("n"), claim.whole("m")),
        events=(*events, *errors),
        errors=errors,
        ended=ended,
        **more,  # type: ignore[arg-type]
    )


def seen(told: LoadStory, *before: LogEvent, request: LoadRequest | None = None) -> Evidence:
    """Make evidence of one load; `before` are lines before it, such as the device list."""
    lines = LogSummary("server.log", 200, events=(*before, *told.events), loads=(told,))
    return Evidence(log=lines, request=request)
