"""Takes memory that was refused and got in another way out of the errors."""

from collections.abc import Iterable
from dataclasses import replace

from app.core.log import Fact, LogEvent

# a backend that tries again says so; what came before was no error (llama.cpp, sched_reserve in
# src/llama-context.cpp and ggml_cuda_pool in ggml-cuda.cu, build 11434)
_AGAIN = ("retrying without pipeline parallelism", "and retrying")
_REACH = 6  # lines; the messages of one refusal follow each other
# ggml_vk_host_buffer_type_alloc_buffer says what was refused, then goes on with other memory
_GIVEN_UP = "Failed to allocate pinned memory"


def settled(events: Iterable[LogEvent]) -> list[LogEvent]:
    """Return the events, with the refusals before a new attempt marked as harmless."""
    found = list(events)
    for place, event in enumerate(found):
        if event.fact is Fact.HARMLESS and _GIVEN_UP in event.text:
            why = place + 1
            if why < len(found) and found[why].line == event.line + 1:
                found[why] = _harmless(found[why])
        if event.fact is not Fact.HARMLESS or not any(word in event.text for word in _AGAIN):
            continue
        for number in range(place - 1, -1, -1):
            if event.line - found[number].line > _REACH:
                break
            found[number] = _harmless(found[number])
    return found


def _harmless(event: LogEvent) -> LogEvent:
    return replace(event, fact=Fact.HARMLESS) if event.fact is Fact.ERROR_MEMORY else event
