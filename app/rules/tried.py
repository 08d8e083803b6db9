"""A ranked change as something to prove: the lines that must change when it is tried."""

from collections.abc import Iterator
from dataclasses import fields

from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.log import Fact, LoadStory, Role
from app.core.ranking import Option
from app.core.request import LoadRequest
from app.core.rule import Change, Cite, Finding, Fix
from app.rules import command, ranked, seen

# the line that tells whether a setting took effect
_LINES = {
    "ngl": Fact.OFFLOADED,
    "ctx": Fact.N_CTX,
    "threads": Fact.SYSTEM_INFO,
    "flash_attn": Fact.FLASH_ATTN,
    "cache_type_k": Fact.KV_SIZE,
    "cache_type_v": Fact.KV_SIZE,
}
_PLACES = ("ngl", "use_devices", "device_ids", "cpu_moe", "n_cpu_moe", "overrides")
_PROOF = "The lines above change as the setting says, and the intervals of the rates are apart."


def finding(evidence: Evidence, option: Option) -> Finding:
    """Return a change as a finding that can be tried; its rule is none."""
    return Finding(
        cause=option.text,
        cites=tuple(_cites(evidence, option.change)),
        fix=Fix(option.text, option.command, option.change),
        proof=_PROOF,
        title=option.title,
    )


def tried(evidence: Evidence) -> Finding | None:
    """Return the ranked change that the second run tried, None when it tried a rule's fix."""
    again = evidence.again
    if again is None or not again.option_id:
        return None
    options = ranked.options(evidence, forecast(evidence))
    found = next((option for option in options if option.id == again.option_id), None)
    if found is not None:
        return finding(evidence, found)
    # r may have been typed in where it was tried, so that other changes were ranked there
    change = _difference(evidence.request or LoadRequest(), again.request)
    text = f"Load it again with {', '.join(name for name, _value in change) or 'no change'}."
    fix = Fix(text, command.server(evidence, **dict(change)), change)
    return Finding(text, tuple(_cites(evidence, change)), fix, _PROOF, title=again.option_id)


def _cites(evidence: Evidence, change: Change) -> Iterator[Cite]:
    story = seen.load(evidence)
    if story is None:
        return
    names = {name for name, _value in change}
    facts = dict.fromkeys(fact for name, fact in _LINES.items() if name in names)
    for fact in facts:
        event = story.event(fact)
        if event is not None:
            yield seen.cite(event)
    if names & set(_PLACES):
        yield from _buffers(evidence, story, Role.WEIGHTS)
    if "use_devices" in names:  # a device that holds no weights may still compute prompts
        yield from _buffers(evidence, story, Role.COMPUTE)
    if "kv_offload" in names:
        yield from _buffers(evidence, story, Role.KV)


def _buffers(evidence: Evidence, story: LoadStory, role: Role) -> tuple[Cite, ...]:
    return seen.cite_buffers(evidence, (b for b in story.buffers if b.role is role))


def _difference(before: LoadRequest, after: LoadRequest) -> Change:
    return tuple(
        (field.name, getattr(after, field.name))
        for field in fields(LoadRequest)
        if getattr(before, field.name) != getattr(after, field.name)
    )
