"""Takes memory that was refused and got in another way out of the errors."""

from collections.abc import Iterable
from dataclasses import replace

from app.core.log import Fact, LogEvent

# a backend that tries again says so; what came before was no error (llama.cpp, sched_reserve in
# src/llama-context.cpp and ggml_cuda_pool in ggml-cuda.cu, build 11434)
_AGAIN = ("retrying without pipeline parallelism", "and retrying")
_REACH = 6  # lines; the messages of one refusal follow each other


def settled(events: Iterable[LogEvent]) -> list[LogEvent]:
    """Return the events, with the refusals before a new attempt marked as harmless."""
    found = list(events)
    for place, event in enumerate(found):
        if event.fact is not Fact.HARMLESS or not any(word in event.text for word in _AGAIN):
            continue
        for number in range(place - 1, -1, -1):
            if event.line - found[number].line > _REACH:
                break
            if found[number].fact is Fact.ERROR_MEMORY:
                found[number] = replace(found[number], fact=Fact.HARMLESS)
    return found
