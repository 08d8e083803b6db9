"""Says in plain words what a line of a log means, and whether it matters."""

from collections.abc import Callable
from enum import Enum

from app.core import units
from app.core.log import BufferKind, Fact, LoadStory, LogBuffer, LogEvent, Role
from app.core.log_texts import HARMLESS, TEXTS
from app.core.saved_page import instead_of_model
from app.core.units import MIB

FEW_PROMPT_TOKENS = 32  # below these counts a rate says little (logs.md section 0, rule 9)
FEW_GENERATED_TOKENS = 16


class Weight(Enum):
    """How much a line matters to somebody who looks for a fault."""

    FAULT = "fault"  # an error, or a warning that costs something
    EVIDENCE = "evidence"  # tells where the bytes are, or how fast it was
    DETAIL = "detail"
    HARMLESS = "harmless"  # looks alarming, is not


# not the fit's own tries: what it moved or cut is a fault, and has lines of its own
_FAULTS = frozenset(
    {
        Fact.CRASHED,
        Fact.KILLED,
        Fact.SETTING_IGNORED,
        Fact.NO_GPU_WARNING,
        Fact.SOFTWARE_DEVICE,
        Fact.CTX_ABOVE_TRAIN,
        Fact.CTX_CAPPED,
        Fact.FIT_CTX_REDUCED,
        Fact.MEMORY_PRESSURE,
        Fact.QUALITY_WARNING,
        Fact.CONTEXT_TRUNCATED,
        Fact.REQUEST_TOO_LONG,
        Fact.KV_POOL_FULL,
        Fact.PROMPT_REPROCESSED,
        Fact.GPU_DROPPED,
        Fact.GPU_LOST,
        Fact.GPU_NO_KERNELS,
        Fact.GPU_FORBIDDEN,
        Fact.KV_CONVERTED,
        Fact.VLLM_MEMORY,
        *(fact for fact in Fact if fact.value.startswith("error_")),
    }
) - {Fact.ERROR_CONSEQUENCE}
_DETAILS = frozenset(
    {
        Fact.PROGRAM,
        Fact.VOCAB_ONLY,
        Fact.FREE_MEMORY,
        Fact.TOTAL_MEMORY,
        Fact.BENCH_TABLE,
        Fact.BENCH_ROW,
        Fact.PROMPT_SIZE,
        Fact.PROMPT_CACHED,
        Fact.PEAK_MEMORY,
        Fact.BUILD,
        Fact.VERBOSITY,
        Fact.BACKEND_LOADED,
        Fact.VARIABLE,
        Fact.BACKEND_FAILED,
        Fact.DRAFT_MAX,
        Fact.VLLM_EAGER,
        Fact.DRY_PASS,
        Fact.LOADING_TENSORS,
        Fact.LOAD_START,
        Fact.MODEL_FILE,
        Fact.OFFLOADING_REPEATING,
        Fact.OFFLOADING_OUTPUT,
        Fact.N_CTX_SEQ,
        Fact.GRAPH_SPLITS,
        Fact.SECOND_CONTEXT,
        Fact.FIT_DONE,
        Fact.REQUEST_START,
        Fact.CLEAN_EXIT,
        Fact.ERROR_CONSEQUENCE,
    }
)
_ROLES = {
    Fact.WEIGHTS_BUFFER: (Role.WEIGHTS, "weights"),
    Fact.KV_BUFFER: (Role.KV, "the KV cache"),
    Fact.RS_BUFFER: (Role.KV, "the recurrent state"),
    Fact.COMPUTE_BUFFER: (Role.COMPUTE, "intermediate results"),
    Fact.OUTPUT_BUFFER: (Role.OUTPUT, "the output values"),
}
_PARTS = {"weights": "the weights", "kv": "the KV cache", "compute": "the compute buffer"}
_WHY = {
    "not-gguf": "The file is no GGUF file: an old format, a web page, a pointer or an archive.",
    "empty": "The file is empty.",
    "missing": "The file is not there, or may not be read.",
    "cut": "The file is cut short, as after an interrupted download.",
    "newer": "The file was made for a newer version of the program.",
    "older": "The file has an old form that is no longer read.",
    "endian": "The file was made for a computer with another byte order.",
    "split": "A part of a model in several files is missing, or not the first part was opened.",
    "other-tensors": "The file and the program disagree on the model's tensors.",
}


def weight(event: LogEvent) -> Weight:
    """Tell how much a line matters; what a trial run printed is a detail."""
    if event.fact is Fact.HARMLESS:
        return Weight.HARMLESS
    if event.fact in _FAULTS:
        return Weight.FAULT
    if event.is_projection or event.fact in _DETAILS:
        return Weight.DETAIL
    return Weight.EVIDENCE


def program(load: LoadStory) -> str:
    """Name the program with its version, what computes inside it, and its build."""
    name = f"{load.program} {load.version}".rstrip()
    if load.engine and load.engine != load.program:
        name += f" ({load.engine})"
    return f"{name}, build {load.build}" if load.build is not None else name


def age(load: LoadStory) -> str:
    """Say from when a program without a build number is, "" when there is nothing to say."""
    has_number = load.build is not None or load.version
    return f"from {load.dated}, by its words" if load.dated and not has_number else ""


def requests(load: LoadStory) -> str:
    """Sum up a load's requests in one sentence, "" when the log tells of none."""
    found = load.requests
    if not found:
        return ""
    parts = [f"{units.count(len(found))} request{'s' if len(found) > 1 else ''}"]
    known = [r for r in found if r.n_prompt is not None and r.n_cached is not None]
    if known:
        cached, total = sum(r.n_cached or 0 for r in known), sum(r.n_prompt or 0 for r in known)
        parts.append(
            f"{units.count(cached)} of {units.count(total)} prompt tokens came from the cache"
        )
    for count, what in (
        (sum(r.is_reread for r in found), "read again although the cache was there"),
        (sum(r.n_shifts > 0 for r in found), "lost their oldest text"),
        (sum(r.is_truncated for r in found), "cut at the end of the context"),
        (sum(r.is_refused for r in found), "refused as too long"),
    ):
        if count:
            parts.append(f"{units.count(count)} {what}")
    return ", ".join(parts)


def explain(event: LogEvent, load: LoadStory | None = None) -> str:
    """Say what a line means, in one to three sentences; load is the one it belongs to."""
    say = _SAID.get(event.fact)
    text = say(event, load) if say else TEXTS[event.fact].format_map(_shown(event))
    if event.is_projection and event.fact not in (Fact.BREAKDOWN_DEVICE, Fact.BREAKDOWN_HOST):
        return f"From a trial run that allocated nothing, so this does not count. {text}"
    return text


class _Shown(dict[str, str]):
    """Values as text; one that a cut line lacks is said to be missing."""

    def __missing__(self, key: str) -> str:
        return "not named"


def _shown(event: LogEvent) -> _Shown:
    return _Shown(
        (name, units.count(value) if isinstance(value, int) else str(value))
        for name, value in event.values.items()
    )


def _mib(event: LogEvent, name: str) -> str:
    return units.size(round(event.number(name) * MIB))


def _offloaded(event: LogEvent, load: LoadStory | None) -> str:
    asked = (
        f"The program was asked to put {event.whole('n')} of {event.whole('m')} layers on a GPU. "
        "This line repeats what was asked; the buffer lines say what happened."
    )
    if load is None or load.weights_on_device is not False or event.whole("n") == 0:
        return asked
    return f"{asked} Here they disagree: no weights are on any device."


def _buffer(event: LogEvent, load: LoadStory | None) -> str:
    role, holds = _ROLES[event.fact]
    name = event.word("buffer")
    found = _find(load, name, role)
    where = {
        None: "this memory",
        BufferKind.DEVICE: "the memory of a device (GPU)",
        BufferKind.HOST: "system memory",
        BufferKind.UNKNOWN: "memory of a kind that is not known here",
    }[found.kind if found else None]
    text = f"{_mib(event, 'mib')} for {holds} in {name}: {where}."
    if found is not None and found.kind is BufferKind.HOST and role is Role.WEIGHTS:
        text += _host_weights(name)
    if found is not None and found.device is not None and found.device != name:
        text += f" The device is {found.device}."
    return text


def _host_weights(name: str) -> str:
    if name == "CPU_Mapped":
        return " It is a view of the model file, and may cover more than the processor needs."
    if name.startswith(("AMX", "CPU_")):
        return " These weights are arranged anew for the processor; CPU_Mapped may list them too."
    return ""


def _find(load: LoadStory | None, name: str, role: Role) -> LogBuffer | None:
    if load is None:
        return None
    return next((b for b in load.buffers if (b.name, b.role) == (name, role)), None)


def _rate(event: LogEvent, _load: LoadStory | None) -> str:
    is_prompt = event.fact is Fact.PROMPT_RATE
    n = event.whole("n")
    what = "The prompt was read" if is_prompt else "The answer was written"
    text = f"{what} at {units.rate(event.number('tps'))}, over {units.count(n)} tokens."
    few = FEW_PROMPT_TOKENS if is_prompt else FEW_GENERATED_TOKENS
    return f"{text} That is too few for a rate to mean much." if n < few else text


_SHOWN = {
    "mixed": "It mixes reading the prompt and writing the answer, so it is lower than either.",
    "sum": "It is the sum over all requests of the last seconds, not the rate of one.",
    "running": "It was taken while the answer was written. When it falls, memory runs short, the "
    "processor gets hot, or the context grows.",
    "uncounted": "It does not say over how many tokens, so it may mean little.",
}


def _rate_shown(event: LogEvent, _load: LoadStory | None) -> str:
    rates = [("prompt_tps", "Prompt"), ("tps", "Answer" if "prompt_tps" in event.values else "")]
    said = [
        f"{what} {units.rate(event.number(name))}".strip()
        for name, what in rates
        if name in event.values
    ]
    return f"{', '.join(said)}. {_SHOWN.get(str(event.values.get('kind', '')), '')}".rstrip()


def _program(event: LogEvent, _load: LoadStory | None) -> str:
    version = event.values.get("version", "")
    name = f"{event.values.get('program', 'another program')} {version}".rstrip()
    return f"The program that writes this log is {name}."


def _cached(event: LogEvent, _load: LoadStory | None) -> str:
    if "n" not in event.values:
        return "A part of the prompt was still in the cache and needs no reading."
    return TEXTS[Fact.PROMPT_CACHED].format_map(_shown(event))


def _truncated(event: LogEvent, _load: LoadStory | None) -> str:
    if "limit" in event.values and "n" in event.values:
        n, limit = units.count(event.whole("n")), units.count(event.whole("limit"))
        return f"The prompt of {n} tokens was cut to {limit}. What was cut is lost without notice."
    return TEXTS[Fact.CONTEXT_TRUNCATED]


def _memory(event: LogEvent, load: LoadStory | None) -> str:
    part = _PARTS.get(str(event.values.get("part", "")), "a buffer")
    size = event.values.get("n_bytes")
    asked = f" of {units.size(int(size))}" if size is not None else ""
    is_limit = any("limit" in error.values for error in load.errors) if load else False
    if is_limit and "limit" not in event.values:
        return f"There was no room for {part}{asked}: the device takes no single buffer so large."
    if "limit" in event.values:
        return (
            "The device refuses one buffer of this size. That is a limit for a single buffer, "
            "not a lack of memory."
        )
    return f"There was no room for {part}{asked}."


def _harmless(event: LogEvent, _load: LoadStory | None) -> str:
    more = next((text for words, text in HARMLESS if words in event.text), "")
    return f"{TEXTS[Fact.HARMLESS]} {more}".rstrip()


def _network(event: LogEvent, _load: LoadStory | None) -> str:
    if "endpoint" in event.values:
        return (
            f"The RPC server does not answer at {event.word('endpoint')}: no ggml-rpc-server "
            "listens there, or the network does not reach it."
        )
    if "lost" in event.values:
        return "The connection to the RPC server broke: it has ended, or serves another program."
    port = f"port {event.values['port']}" if "port" in event.values else "its port"
    return f"The server could not open {port}: most often another program has it already."


def _file(event: LogEvent, load: LoadStory | None) -> str:
    saved = instead_of_model(event.text)
    if saved:
        return f"The file is no model: what was saved is {saved}."
    is_part = any(e.values.get("why") == "split" for e in load.errors) if load else False
    if is_part and event.values.get("why") == "missing":
        name = (
            event.word("path").replace("\\", "/").rpartition("/")[2]
            if "path" in event.values
            else "one of its files"
        )
        return f"A part of the model is missing: {name} is not there, or may not be read."
    return _WHY.get(str(event.values.get("why", "")), "The model file is damaged.")


def _fit_failed(event: LogEvent, _load: LoadStory | None) -> str:
    if "n_gpu_layers already set" in event.text:
        return (
            "The automatic fit did nothing, because the number of layers was given. The load goes "
            "on as asked, whether it fits or not."
        )
    return "The automatic fit found no way. The load goes on as asked, whether it fits or not."


def _reduced(event: LogEvent, _load: LoadStory | None) -> str:
    before, after = units.count(event.whole("before")), units.count(event.whole("after"))
    return f"To fit the memory, the context was cut from {before} to {after} tokens."


def _above(event: LogEvent, _load: LoadStory | None) -> str:
    n, train = units.count(event.whole("n")), units.count(event.whole("train"))
    return (
        f"The context of {n} tokens is longer than the {train} the model was trained for. What "
        "lies beyond costs memory and may come out as nonsense."
    )


def _verbosity(event: LogEvent, _load: LoadStory | None) -> str:
    if event.whole("level") >= 4:
        return "The log is detailed enough to show where the bytes are."
    return (
        "At this level the log hides where the weights and the KV cache are. Run again with -lv 4 "
        "to see them."
    )


_SAID: dict[Fact, Callable[[LogEvent, LoadStory | None], str]] = {
    Fact.VERBOSITY: _verbosity,
    Fact.OFFLOADED: _offloaded,
    **dict.fromkeys(_ROLES, _buffer),
    Fact.PROMPT_RATE: _rate,
    Fact.GENERATION_RATE: _rate,
    Fact.RATE_SHOWN: _rate_shown,
    Fact.PROGRAM: _program,
    Fact.CONTEXT_TRUNCATED: _truncated,
    Fact.PROMPT_CACHED: _cached,
    Fact.ERROR_MEMORY: _memory,
    Fact.ERROR_FILE: _file,
    Fact.ERROR_NETWORK: _network,
    Fact.HARMLESS: _harmless,
    Fact.FIT_FAILED: _fit_failed,
    Fact.FIT_CTX_REDUCED: _reduced,
    Fact.CTX_ABOVE_TRAIN: _above,
    Fact.CTX_CAPPED: _above,
}
