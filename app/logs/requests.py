"""Puts a load's lines together into its requests: prompt, cache, rates, and what went wrong."""

import re
from collections.abc import Iterable
from dataclasses import replace

from app.core.log import Fact, LogEvent, Request

# llama-server tags its lines; to 2026-04 the lines with the rates stand below without a tag
_TASK = re.compile(r"\btask (?P<task>\d+) \||\b(?:id_task|task_id)=(?P<id>\d+)")
_ABOUT = frozenset(
    {
        Fact.REQUEST_START,
        Fact.PROMPT_SIZE,
        Fact.PROMPT_CACHED,
        Fact.PROMPT_RATE,
        Fact.GENERATION_RATE,
        Fact.DRAFT_ACCEPTANCE,
        Fact.PROMPT_REPROCESSED,
        Fact.CONTEXT_TRUNCATED,
        Fact.REQUEST_TOO_LONG,
    }
)


def requests(events: Iterable[LogEvent]) -> tuple[Request, ...]:
    """Return the requests in the order in which they began."""
    found: list[Request] = []
    by_task: dict[int, int] = {}
    for event in events:
        if event.fact not in _ABOUT or "bench" in event.values:
            continue
        tag = _TASK.search(event.text)
        task = int(tag["task"] or tag["id"]) if tag else None
        if event.fact is Fact.REQUEST_START:
            task = event.whole("task")
        number = by_task.get(task) if task is not None else len(found) - 1
        is_new = event.fact is Fact.REQUEST_START and task in by_task  # the server began anew
        if number is None or number < 0 or is_new or not _belongs(found[number], event, task):
            number = len(found)
            found.append(Request(event.line, task))
        if task is not None:
            by_task[task] = number
        found[number] = _with(found[number], event)
    return tuple(found)


def _belongs(request: Request, event: LogEvent, task: int | None) -> bool:
    """Tell whether an untagged line may be about the request before it."""
    if task is not None or event.line == request.line:
        return True
    if event.fact in (Fact.PROMPT_RATE, Fact.PROMPT_SIZE):
        return request.prompt is None and request.generation is None
    if event.fact is Fact.PROMPT_CACHED:
        return request.n_cached is None and request.generation is None
    return event.fact is not Fact.GENERATION_RATE or request.generation is None


def _with(request: Request, event: LogEvent) -> Request:
    fact, n = event.fact, event.values.get("n")
    if fact is Fact.PROMPT_SIZE:
        return replace(request, n_prompt=event.whole("n"))
    if fact is Fact.PROMPT_CACHED and request.n_cached is None and n is not None:
        # later lines of the same task are batches, not reuse (logs.md section 3)
        return replace(request, n_cached=event.whole("n"))
    if fact is Fact.PROMPT_RATE:
        return replace(request, prompt=event)
    if fact is Fact.GENERATION_RATE:
        return replace(request, generation=event)
    if fact is Fact.DRAFT_ACCEPTANCE:
        return replace(request, draft=event)
    if fact is Fact.PROMPT_REPROCESSED:
        return replace(request, is_reread=True)
    if fact is Fact.REQUEST_TOO_LONG:
        return replace(request, is_refused=True)
    if fact is Fact.CONTEXT_TRUNCATED and "shift" in event.values:
        return replace(request, n_shifts=request.n_shifts + 1)
    if fact is Fact.CONTEXT_TRUNCATED:
        return replace(request, is_truncated=True)
    return request
