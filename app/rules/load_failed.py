"""The model did not load: memory, format, architecture, damage, a missing file or a flag.

What: the program ended, or said an error, before it was ready.
Evidence: the first error line (later ones repeat it in other words), how the program ended, and
what the header reader found wrong with the file.
Arithmetic: bytes asked for against bytes there; bytes of the file against the end of its tensors.
Fix: by the kind of the first error. Memory: what was named gets smaller. Format: the GGUF of the
model. Architecture: a newer program. Damage: the download again.
Proof: the error line is gone and the program is ready.
Sources: logs.md sections 4.1 to 4.3 and 0 rule 10; advice.md part 3; tests/data/logs/*load-error*,
b11434-cpu-oom-huge-ctx-fit-off-default-verbosity.log, b11434-removed-flag-mlock.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Ended, Fact, LoadStory, LogEvent, Role
from app.core.model import Fault, ModelProblem
from app.core.request import Switch
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, file_words, memory_fix, runtime_estimate, seen

_ERRORS = (
    Fact.ERROR_MEMORY,
    Fact.ERROR_ARCHITECTURE,
    Fact.ERROR_FILE,
    Fact.ERROR_ARGUMENT,
    Fact.ERROR_NETWORK,
    Fact.ERROR_OTHER,
)
# flags that older guides name -> what build 11434 takes instead (advice.md part 1, claims 46, 47)
TODAY = {
    "--mlock": "--load-mode mlock",
    "--no-mmap": "--load-mode none",
    "--mmap": "--load-mode mmap",
    "--draft-max": "--spec-draft-n-max",
    "--draft": "--spec-draft-n-max",
}
# what the header reader found -> the log reader's word for the same
_WHY = {
    Fault.TRUNCATED_DATA: "cut",
    Fault.PART_MISSING: "split",
    Fault.UNKNOWN_TYPE: "other-tensors",
    Fault.WRONG_BYTE_ORDER: "endian",
}
_OF_DEVICES = (Fact.GPU_FORBIDDEN, Fact.GPU_NO_KERNELS, Fact.NO_GPU_WARNING)
_NO_KIND = "unknown model architecture: ''"  # general.architecture is missing
_METAL_STATUS = "failed with status 5"
_WORDLESS = (_METAL_STATUS, ": fatal error")  # the next line of the log says why
_SECOND_TRY = "retrying without pipeline parallelism"
_PARTS = ("part", "part2")  # values that name what was being allocated
_HERE = ("127.", "localhost", "[::1]")
_READY = "the error line is gone and the program says that it is ready."


def check(evidence: Evidence) -> Finding | None:
    """Find the first error of a load that did not become ready."""
    if is_ready(evidence):
        return None
    error = _first_error(evidence)
    if error is not None:
        return _by_line(evidence, error)
    killed = evidence.log.last(Fact.KILLED) if evidence.log else None
    if killed is not None:
        return _killed(killed)
    crashed = evidence.log.last(Fact.CRASHED) if evidence.log else None
    if crashed is not None:
        return _crashed(crashed)
    if evidence.model is not None and evidence.model.problems:
        return _by_file(evidence, evidence.model.problems[0])
    outcome = evidence.outcome
    if outcome is None or not outcome.exit_text:
        return None
    return Finding(
        cause=f"The model did not load: {outcome.exit_text}. The program gave no reason.",
        cites=(Cite(outcome.exit_text, source=outcome.program),),
        fix=Fix(
            "Start it by hand with the log switched on, and open that log here.",
            f"{command.server(evidence)} -lv 4",
        ),
        proof=f"The next log names a first error, or {_READY}",
        certainty=Certainty.LIKELY,
        title="The load failed",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    outcome = evidence.outcome
    if outcome is not None and outcome.is_ready:
        took = f" after {outcome.load_s:.1f} s" if outcome.load_s is not None else ""
        return f"{outcome.program} loaded the model and could answer{took}"
    if evidence.log is not None and evidence.log.load is not None:
        return "the model loaded, no error line comes before that"
    return "the header of the file is whole"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    story = seen.load(evidence)
    if is_ready(evidence):
        return ""
    if story is not None:
        return f"the log ends before the model was loaded, without an error{_after(story)}"
    return "" if evidence.model is not None else "no log of a load and no model file"


def _after(story: LoadStory) -> str:
    return f" (after: {story.ends_after})" if story.ends_after else ""


def is_ready(evidence: Evidence) -> bool:
    """Tell whether the program became ready, as far as is known."""
    if evidence.outcome is not None:
        return evidence.outcome.is_ready
    story = seen.load(evidence)
    if seen.ready_line(evidence) is not None or (story is not None and story.rates):
        return True
    return story is not None and story.ended is Ended.CLEAN and not story.errors


def _first_error(evidence: Evidence) -> LogEvent | None:
    story = seen.load(evidence)
    events = evidence.log.events if evidence.log else ()
    of_others = {event.line for event in events if event.fact is Fact.VLLM_MEMORY}
    of_others |= {event.line for event in events if event.fact in _OF_DEVICES}
    of_others |= {event.line for event in runtime_estimate.refusals(evidence)}
    own = (event for event in events if event.line not in of_others)  # other rules have those
    found = (event for event in own if event.fact in _ERRORS)
    of_load = (e for e in (story.errors if story is not None else ()) if e.line not in of_others)
    causes = (*of_load, *found)
    if any(event.fact is Fact.ERROR_MEMORY for event in causes):
        causes = tuple(e for e in causes if not any(word in e.text for word in _WORDLESS))
    again = _second_try(evidence)
    return next(
        (
            e
            for e in causes
            if (e.fact is not Fact.ERROR_MEMORY or e.line > again) and not seen.is_of_computing(e)
        ),
        None,
    )


def _second_try(evidence: Evidence) -> int:
    """Return the line that says that memory is asked for once more, in another way; 0 = none.

    What was refused before it is no end (sched_reserve in llama-context.cpp, build 11434).
    """
    lines = evidence.log.all(Fact.HARMLESS) if evidence.log else ()
    return max((line.line for line in lines if _SECOND_TRY in line.text), default=0)


def _by_line(evidence: Evidence, error: LogEvent) -> Finding:
    if error.fact is Fact.ERROR_MEMORY:
        return _memory(evidence, error)
    title, cause, fix = _words(evidence, error)
    # tensors that do not match: the program is of another time, or the conversion went wrong
    is_open = error.values.get("why") == "other-tensors" or _METAL_STATUS in error.text
    return Finding(
        cause=cause,
        cites=(seen.cite(error), *_file_cites(evidence)),
        fix=fix,
        proof=f"In the next run {_READY}",
        certainty=Certainty.LIKELY if is_open else Certainty.PROVEN,
        title=title,
    )


def _killed(line: LogEvent) -> Finding:
    return Finding(
        cause="The system ended the program while it loaded. It does that when the memory of the "
        "computer, or the limit of its container, is used up.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Close other programs that use much memory, or take a smaller file or a shorter "
            "context. In a container, look at its memory limit first."
        ),
        proof=f"In the next run {_READY}",
        certainty=Certainty.LIKELY,
        title="The system ended the program",
    )


def _crashed(line: LogEvent) -> Finding:
    return Finding(
        cause="The program ended by a crash before the model was loaded, and the log gives no "
        "reason.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Load it once with everything on the CPU (in LM Studio GPU Offload 0, in llama.cpp "
            "--device none). If that works, the device's library or driver crashes: update it, or "
            "choose another engine."
        ),
        proof=f"In the next run {_READY}",
        certainty=Certainty.LIKELY,
        title="The program crashed while loading",
    )


def _words(evidence: Evidence, error: LogEvent) -> tuple[str, str, Fix]:
    if error.fact is Fact.ERROR_FILE:
        return file_words.of_line(evidence, error)
    if error.fact is Fact.ERROR_ARCHITECTURE:
        arch = error.values.get("arch")
        if _NO_KIND in error.text:
            return (
                "The file names no kind of model",
                "The file does not say what kind of model it holds. Files of picture, video or "
                "speech models, and parts of them, are written so.",
                Fix(
                    "Take the GGUF of a language model. For this file, use the program that it "
                    "was made for: its page names it."
                ),
            )
        kind = f" of the kind “{arch}”" if arch else " of this kind"
        return (
            "The program does not know this model",
            f"This version of the program cannot run models{kind}. Most often the model is newer.",
            Fix(
                "Update the program that runs the model. If it is the newest, this kind is not "
                "supported there yet, or not any more. The file itself may be fine."
            ),
        )
    if error.fact is Fact.ERROR_ARGUMENT:
        return _argument(error)
    if error.fact is Fact.ERROR_OTHER and error.values.get("needs") == "flash_attn":
        return (
            "A quantised V cache needs flash attention",
            "The V cache was to be quantised, and flash attention is off.",
            command.fix(
                evidence,
                "Remove -fa off: the automatic setting switches it on. Or leave the V cache at "
                "f16; a quantised K works without.",
                flash_attn=Switch.AUTO,
            ),
        )
    if _METAL_STATUS in error.text:
        return (
            "The GPU gave up a computation",
            "Metal says that a computation failed, and not why. Most often the load is above what "
            "the GPU may hold.",
            Fix("Use a shorter context or a smaller file, and look at the memory of the GPU then."),
        )
    if error.fact is Fact.ERROR_NETWORK:
        return _network(error)
    return (
        "The load failed",
        "The program said an error before the model was loaded.",
        Fix("Read the line above, and look it up in the program's issue tracker."),
    )


def _network(error: LogEvent) -> tuple[str, str, Fix]:
    if "endpoint" in error.values:
        endpoint = error.word("endpoint")
        is_here = endpoint.startswith(_HERE)
        where = "on this computer" if is_here else "on the other computer"
        return (
            "The RPC server does not answer",
            f"The program was to use the RPC server at {endpoint} ({where}), and nothing answers "
            "there.",
            Fix(f"Start ggml-rpc-server {where} first, or leave --rpc away."),
        )
    if "lost" in error.values:
        return (
            "The RPC server is gone or busy",
            "The connection to the RPC server broke: it has ended, or it serves another program, "
            "as it takes one at a time.",
            Fix(
                "Start ggml-rpc-server again (the same build as this program), end other programs "
                "that use it, and load once more. Or leave --rpc away."
            ),
        )
    port = f"port {error.values['port']}" if "port" in error.values else "its port"
    return (
        "The port could not be opened",
        f"The server could not open {port}. Most often another program has it already.",
        Fix("End the other program, or choose another port with --port."),
    )


def _argument(error: LogEvent) -> tuple[str, str, Fix]:
    flag = str(error.values.get("flag", "")).strip()
    today = TODAY.get(flag)
    cause = f"The program does not know the option {flag or 'it was started with'}."
    if today is None:
        return (
            "An option is not known",
            cause,
            Fix("Remove that option. `llama-server --help` lists those of your version."),
        )
    return (
        "An option was removed",
        f"{cause} Older guides still name it.",
        Fix(f"Write {today} instead of {flag}."),
    )


def _memory(evidence: Evidence, error: LogEvent) -> Finding:
    part = _part(evidence, error)
    names = {
        "weights": "the weights",
        "kv": "the KV cache (the context)",
        "compute": "the compute buffer",
    }
    n_bytes = error.values.get("n_bytes", error.values.get("vulkan"))
    size = f" {units.size(int(float(n_bytes)))} were asked for at once." if n_bytes else ""
    cause = f"There was not enough memory for {names.get(part, 'a buffer')}.{size}"
    is_limit = any("limit" in event.values for event in _memory_errors(evidence))
    if is_limit:
        cause = (
            f"One buffer was larger than this device allows ({names.get(part, 'unknown')}).{size}"
        )
    return Finding(
        cause=cause,
        cites=tuple(seen.cite(event) for event in _memory_lines(evidence, error)),
        fix=memory_fix.first(evidence, part, _memory_errors(evidence)),
        proof=f"In the next run {_READY}",
        certainty=Certainty.PROVEN if part else Certainty.LIKELY,
        title="A buffer is too large for the device" if is_limit else "Out of memory while loading",
    )


def _memory_errors(evidence: Evidence) -> tuple[LogEvent, ...]:
    story = seen.load(evidence)
    events = story.errors if story is not None else evidence.log.events if evidence.log else ()
    return tuple(event for event in events if event.fact is Fact.ERROR_MEMORY)


def _memory_lines(evidence: Evidence, error: LogEvent) -> tuple[LogEvent, ...]:
    """Return the first error and the line that names the part, where another one does."""
    named = [e for e in _memory_errors(evidence) if any(key in e.values for key in _PARTS)]
    return (error, *(event for event in named[:1] if event != error))


def _part(evidence: Evidence, error: LogEvent) -> str:
    """Return what was being allocated: weights, kv or compute; "" = the log does not tell.

    Where no line names it: buffers come in the order weights, KV cache, compute.
    """
    for event in (error, *_memory_errors(evidence)):
        named = next((event.values[key] for key in _PARTS if key in event.values), "")
        if named:
            return str(named)
    story = seen.load(evidence)
    if story is None or story.event(Fact.OFFLOADED) is None:
        return ""
    roles = {buffer.role for buffer in story.buffers}
    if Role.WEIGHTS not in roles:
        return "weights"
    return "compute" if Role.KV in roles else "kv"


def _by_file(evidence: Evidence, problem: ModelProblem) -> Finding:
    """Say it in the words of a failed load; no load is needed to know that it would fail."""
    title, _, fix = file_words.of_fault(evidence, _WHY[problem.fault])
    return Finding(
        cause=f"This file does not load as it is: {problem.text}",
        cites=(Cite(problem.text, source="header of the file"),),
        fix=fix,
        proof="The header is whole, and the program says that it is ready.",
        certainty=Certainty.LIKELY if problem.fault is Fault.UNKNOWN_TYPE else Certainty.PROVEN,
        title=title,
    )


def _file_cites(evidence: Evidence) -> tuple[Cite, ...]:
    problems = evidence.model.problems if evidence.model else ()
    return tuple(Cite(problem.text, source="header of the file") for problem in problems[:1])


RULE = Rule(id="load-failed", title="The load failed", check=check, silent=silent, needs=needs)
