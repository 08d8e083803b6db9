"""The program loaded the model, was ready, and died at a request.

What: loading only places bytes. The first request is the first time that the device computes, so a
driver or a kernel that cannot do it ends the program there. Memory has rules of its own.
Evidence: the program was ready, and then a check of its own failed, its device was lost, or it
ended by itself; or an error that only a computation gives (a lost device, an illegal access). A log
that only stops in a request is not enough: the program may still run.
Arithmetic: none.
Fix: by what was computing. A lost device: shorter steps, then its driver. On a device with flash
attention: once without it, which costs nothing to try. Otherwise another build.
Proof: the same request is answered.
Sources: logs.md sections 4.1 (device lost = driver reset) and 4.3 (a log that simply ends); tests/
data/logs/b10434-vulkan-crash-in-first-request-default-verbosity.log; advice.md claim 34.
"""

from app.core.evidence import Evidence
from app.core.log import BufferKind, Ended, Fact, LoadStory, LogEvent, Role
from app.core.request import LoadRequest, Switch
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, load_failed, out_of_memory_later, seen

_GPU_WORDS = ("CUDA error", "ROCm error", "ggml_vulkan", "ggml-cuda")
_LOST = ("DeviceLost", "device lost", "launch timed out")
_NO_MEMORY = "memory ran out"  # how work/outcome.py words a kill by the system


def check(evidence: Evidence) -> Finding | None:
    """Find an end after the program was ready, that memory does not explain."""
    story = seen.load(evidence)
    line = _line(evidence)
    is_after_load = load_failed.is_ready(evidence) or line is not None
    if not is_after_load or out_of_memory_later.later(evidence) is not None:
        return None
    outcome = evidence.outcome
    exit_text = outcome.exit_text if outcome is not None else ""
    if line is None and not exit_text:
        return _open_end(story)
    said = (Cite(exit_text, source=outcome.program),) if outcome is not None and exit_text else ()
    return Finding(
        cause="The model loaded, and the program died when it computed: "
        + (f"{exit_text}" if exit_text else "a check of its own failed, or its device did.")
        + " The load does not compute anything; the first request does.",
        cites=(*((seen.cite(line),) if line is not None else ()), *said),
        fix=_fix(evidence, story, line),
        proof="The same request is answered.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.runs:
        return "its requests were answered while the rates were measured"
    story = seen.load(evidence)
    if story is not None and story.rates:
        return "its requests were answered"
    return "nothing says that the program ended at a request"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.outcome is not None or seen.events(evidence):
        return "" if load_failed.is_ready(evidence) else "the program did not become ready"
    return "no log of requests"


def _open_end(story: LoadStory | None) -> Finding | None:
    """Say that a log stops inside its first request: a crash, a kill, or a program that runs."""
    if story is None or story.ended is not Ended.OPEN or story.rates:
        return None
    asked = story.event(Fact.REQUEST_START)
    if asked is None or asked.line < story.last_line:
        return None
    return Finding(
        cause="The log ends inside the first request. The program may have died there, or it may "
        "still compute.",
        cites=(seen.cite(asked),),
        fix=Fix("Look whether the program still runs. If it does not, add its last words here."),
        proof="The same request is answered.",
        certainty=Certainty.NOT_PROVEN,
        title="The log ends inside a request",
    )


def _line(evidence: Evidence) -> LogEvent | None:
    """Return the first line after the program was ready that says how it died."""
    ready = seen.ready_line(evidence)
    deaths = (Fact.ERROR_OTHER, Fact.CRASHED)
    return next(
        (
            event
            for event in seen.events(evidence)
            if seen.is_of_computing(event)
            or (ready is not None and event.fact in deaths and event.line > ready)
        ),
        None,
    )


def _fix(evidence: Evidence, story: LoadStory | None, line: LogEvent | None) -> Fix:
    outcome = evidence.outcome
    if outcome is not None and _NO_MEMORY in outcome.exit_text:
        return command.fix(
            evidence,
            "Close other programs that use much memory. If it is killed again, use a shorter "
            "context, or a smaller file of the same model.",
        )
    if line is not None and any(word in line.text for word in _LOST):
        ubatch = _shorter_steps(evidence)
        return command.fix(
            evidence,
            f"Use a smaller micro-batch (-ub {ubatch}): the driver gave up while the GPU computed, "
            "and a smaller one makes each step shorter. If that does not help, update the driver.",
            ubatch=ubatch,
        )
    if _has_device(evidence, story) and _attention(evidence, story):
        return command.fix(
            evidence,
            "Try it once without flash attention. If the request is then answered, this build's "
            "flash attention does not work on this device: update the program, and report it.",
            flash_attn=Switch.OFF,
            cache_type_v="f16",  # a quantised V cache needs flash attention
        )
    return Fix(
        "Update the program that runs the model. If it is the newest, take the build before it, "
        "and report the line above to its makers."
    )


def _shorter_steps(evidence: Evidence) -> int:
    """Return a quarter of the micro-batch in use, at least 64 tokens."""
    ubatch = evidence.request.ubatch if evidence.request is not None else LoadRequest().ubatch
    return max(64, ubatch // 4)


def _has_device(evidence: Evidence, story: LoadStory | None) -> bool:
    if story is not None and any(b.role is Role.WEIGHTS for b in story.buffers):
        return story.bytes_of(BufferKind.DEVICE, Role.WEIGHTS) > 0
    says_gpu = any(
        word in event.text for event in seen.events(evidence) if event.fact is Fact.ERROR_OTHER
        for word in _GPU_WORDS
    )  # fmt: skip
    return says_gpu or bool(seen.devices(evidence))


def _attention(evidence: Evidence, story: LoadStory | None) -> bool:
    """Tell whether flash attention may have computed: it is automatic unless switched off."""
    request = evidence.request
    if request is not None and request.flash_attn is Switch.OFF:
        return False
    return story is None or story.flash_attn != "disabled"


RULE = Rule(
    id="ends-at-request",
    title="The program died at a request",
    check=check,
    silent=silent,
    needs=needs,
)
