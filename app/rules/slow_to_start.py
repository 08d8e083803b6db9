"""Slow to start, not slow to write: most of the time goes into reading the prompt.

What: two phases with two rates. A headline that divides the answer's tokens by all of the time
mixes them and says nothing of either.
Evidence: a request's lines: the prompt's time far above the answer's. A second run without the
device that reads the prompt much faster means that the device's memory has no headroom.
Arithmetic: prompt time over prompt + answer, at least 0.7, from 20 s on.
Fix: headroom on the device where the comparison says so; with weights on the host a larger
micro-batch; else a shorter prompt.
Proof: the prompt's rate alone, measured again.
Sources: slowdown.md section 9 (prompt); advice.md claim 87; llama.cpp issue 1786; users.md row 14.
"""

from app.core import units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LogEvent, Role
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, rates, seen

_SHARE = 0.7
_SHORTEST_MS = 20_000
_FEWEST_TOKENS = 200  # a first short prompt also waits for shaders to be compiled
_MUCH = 2.0
_LARGER_UBATCH = 2048


def check(evidence: Evidence) -> Finding | None:
    """Find a request whose time went into its prompt."""
    pair = _request(evidence)
    if pair is None:
        return None
    prompt, answer = pair
    without = _faster_without_device(evidence, prompt)
    suspect = (
        ""
        if without is None
        else f" Without layers on the device the prompt is read at {units.rate(without.mean_tps)}: "
        "the device's memory is probably overfull."
    )
    return Finding(
        cause=f"Reading the prompt took {_seconds(prompt)} of {_seconds(prompt, answer)}: "
        f"{units.count(prompt.whole('n'))} tokens at {units.rate(prompt.number('tps'))}. Writing "
        f"took {_seconds(answer)}, at {units.rate(answer.number('tps'))}. One figure for both says "
        f"nothing.{suspect}",
        cites=(
            seen.cite(prompt),
            seen.cite(answer),
            *((rates.cite(without, "n_gpu_layers"),) if without is not None else ()),
        ),
        fix=_fix(evidence, without),
        proof="The prompt's rate alone, measured again, is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no request spent most of a long time on its prompt"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.log is None or evidence.log.last(Fact.PROMPT_RATE) is None:
        return "no log of a request with its prompt and answer times"
    return ""


def _request(evidence: Evidence) -> tuple[LogEvent, LogEvent] | None:
    """Return the prompt and answer lines of the slowest request that is meant."""
    if evidence.log is None:
        return None
    found: list[tuple[LogEvent, LogEvent]] = []
    last: LogEvent | None = None
    for event in evidence.log.events:
        if event.fact is Fact.PROMPT_RATE:
            last = event
        elif event.fact is Fact.GENERATION_RATE and last is not None:
            found.append((last, event))
            last = None
    slow = [pair for pair in found if _is_prompt_bound(*pair)]
    return max(slow, key=lambda pair: pair[0].number("ms"), default=None)


def _is_prompt_bound(prompt: LogEvent, answer: LogEvent) -> bool:
    ms = prompt.number("ms")
    if prompt.whole("n") < _FEWEST_TOKENS:
        return False
    return ms >= _SHORTEST_MS and ms >= _SHARE * (ms + answer.number("ms"))


def _seconds(*events: LogEvent) -> str:
    return f"{sum(event.number('ms') for event in events) / 1000:.0f} s"


def _faster_without_device(evidence: Evidence, prompt: LogEvent) -> BenchRun | None:
    for run in rates.of(evidence, Test.PROMPT):
        if rates.whole(run, "n_gpu_layers") == 0 and run.mean_tps > _MUCH * prompt.number("tps"):
            return run
    return None


def _fix(evidence: Evidence, without: BenchRun | None) -> Fix:
    if without is not None:
        return Fix(
            "Give the device's memory headroom: a shorter context, or two layers fewer on the "
            "device. Then measure the prompt's rate again, apart from the answer's."
        )
    story = seen.load(evidence)
    on_host = story.bytes_of(BufferKind.HOST, Role.WEIGHTS) if story else 0
    if on_host and story is not None and story.weights_on_device:
        return command.fix(
            evidence,
            "Use a larger micro-batch: weights in system memory are then copied to the device "
            "less often while the prompt is read. It takes memory on the device.",
            ubatch=_LARGER_UBATCH,
        )
    return Fix(
        "Send a shorter prompt: fewer documents and tools. The answer comes at a normal rate."
    )


RULE = Rule(
    id="slow-to-start",
    title="Reading the prompt is slow, not writing",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
