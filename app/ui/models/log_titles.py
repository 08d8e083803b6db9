"""What a line of a log says in a few words with its figures, for the list beside the log."""

from app.core import units
from app.core.log import Fact, LogEvent, Value
from app.core.units import MIB

# {name} is a value of the line; sizes in MiB are printed in the unit that reads best
_TITLES: dict[Fact, str] = {
    Fact.PROGRAM: "{program}",
    Fact.BUILD: "llama.cpp build {number}",
    Fact.VERBOSITY: "Verbosity {level}",
    Fact.COMMAND: "The command",
    Fact.DEVICE_LISTED: "Device listed: {device}",
    Fact.DEVICE_USED: "Device used: {device}, {free_mib} free",
    Fact.BACKEND_LOADED: "Backend loaded: {backend}",
    Fact.NO_GPU_WARNING: "No usable GPU",
    Fact.SOFTWARE_DEVICE: "The device is the processor",
    Fact.DEVICE_LIMIT: "Memory limit of the device",
    Fact.SYSTEM_INFO: "Threads and instructions",
    Fact.LOAD_START: "A load begins",
    Fact.MODEL_FILE: "Model file read",
    Fact.LOADED: "Loaded and ready",
    Fact.DRY_PASS: "Trial run or real load",
    Fact.LOADING_TENSORS: "Reading the weights",
    Fact.OFFLOADING_REPEATING: "Asked: {n} blocks on the GPU",
    Fact.OFFLOADING_OUTPUT: "Asked: output layer on the GPU",
    Fact.OFFLOADED: "Asked: {n} of {m} layers",
    Fact.WEIGHTS_BUFFER: "Weights: {mib} in {buffer}",
    Fact.KV_BUFFER: "KV cache: {mib} in {buffer}",
    Fact.RS_BUFFER: "State: {mib} in {buffer}",
    Fact.COMPUTE_BUFFER: "Compute: {mib} in {buffer}",
    Fact.OUTPUT_BUFFER: "Output: {mib} in {buffer}",
    Fact.KV_SIZE: "KV cache in all: {mib}",
    Fact.SECOND_CONTEXT: "A second context",
    Fact.N_CTX: "Context: {n} tokens",
    Fact.N_CTX_SEQ: "Context of one chat: {n}",
    Fact.N_CTX_SLOT: "Context of one request: {n}",
    Fact.N_CTX_TRAIN: "Trained for {n} tokens",
    Fact.CTX_ABOVE_TRAIN: "Context beyond the training",
    Fact.CTX_CAPPED: "Context cut to {train} tokens",
    Fact.FLASH_ATTN: "Flash attention: {state}",
    Fact.GRAPH_SPLITS: "Graph splits: {n}",
    Fact.FIT_PROJECTED: "Fit expects {used_mib} of {free_mib}",
    Fact.FIT_ENOUGH: "Fit: nothing to change",
    Fact.FIT_NO_DEVICE: "Fit found no GPU memory",
    Fact.FIT_SHORT: "Fit: {need_mib} too much",
    Fact.FIT_CTX_REDUCED: "Fit cut the context to {after}",
    Fact.FIT_CTX_KEPT: "Fit kept the context of {n}",
    Fact.FIT_DEVICE: "Fit: {layers} layers on {device}",
    Fact.FIT_FAILED: "Fit changed nothing",
    Fact.FIT_DONE: "Fit is done",
    Fact.BREAKDOWN_DEVICE: "Memory of {device}",
    Fact.BREAKDOWN_HOST: "System memory: {row}",
    Fact.OVERRIDDEN: "Moved on purpose to {buffer}",
    Fact.PROMPT_RATE: "Prompt: {tps} tok/s",
    Fact.GENERATION_RATE: "Generation: {tps} tok/s",
    Fact.DRAFT_ACCEPTANCE: "Draft accepted: a share of {rate}",
    Fact.REQUEST_START: "A request begins",
    Fact.MEMORY_PRESSURE: "Memory runs short",
    Fact.QUALITY_WARNING: "The text may be wrong",
    Fact.ERROR_MEMORY: "Not enough memory",
    Fact.ERROR_FILE: "The model file is bad",
    Fact.ERROR_ARCHITECTURE: "Unknown kind of model: {arch}",
    Fact.ERROR_ARGUMENT: "Unknown option {flag}",
    Fact.ERROR_NETWORK: "Network error",
    Fact.ERROR_OTHER: "Error",
    Fact.ERROR_CONSEQUENCE: "Follows from an earlier error",
    Fact.HARMLESS: "Harmless",
    Fact.CONTEXT_TRUNCATED: "The context was full",
    Fact.REQUEST_TOO_LONG: "Request longer than the context",
    Fact.KV_POOL_FULL: "All slots together want too much",
    Fact.PROMPT_REPROCESSED: "The whole prompt is read again",
    Fact.BACKEND_FAILED: "Library did not load: {file}",
    Fact.GPU_DROPPED: "GPU left out: {description}",
    Fact.VARIABLE: "Variable {name}",
    Fact.GPU_LOST: "The driver cannot be reached",
    Fact.GPU_NO_KERNELS: "No code for this GPU",
    Fact.GPU_FORBIDDEN: "The GPU may not be opened",
    Fact.OFFLOAD_PLAN: "Plan: {offload} of {layers} layers",
    Fact.PROJECTOR_MEMORY: "Vision part: {mib}",
    Fact.TENSOR_REFUSED: "{preferred} refuses {type}",
    Fact.PROMPT_CACHE: "{prompts} texts kept in memory",
    Fact.KV_CONVERTED: "KV cache types converted",
    Fact.DRAFT_MAX: "{n} tokens guessed at once",
    Fact.VLLM_MEMORY: "vLLM: memory does not suffice",
    Fact.VLLM_EAGER: "Eager mode: {state}",
    Fact.FREE_MEMORY: "{mib} of {of} memory free",
    Fact.TOTAL_MEMORY: "{mib} of {of} memory in all",
    Fact.LAYERS_CHOSEN: "Layers chosen: {n}",
    Fact.BENCH_TABLE: "A table of llama-bench",
    Fact.BENCH_ROW: "A row of llama-bench",
    Fact.CTX_CHOSEN: "Context chosen: {n} tokens",
    Fact.SETTING_IGNORED: "A setting has no effect",
    Fact.VOCAB_ONLY: "Only the words were read",
    Fact.PROMPT_SIZE: "A prompt of {n} tokens",
    Fact.PROMPT_CACHED: "Prompt from the cache",
    Fact.RATE_SHOWN: "A rate the program shows",
    Fact.KV_CAPACITY: "The cache holds {n} tokens",
    Fact.PEAK_MEMORY: "The most memory used",
    Fact.KILLED: "Killed",
    Fact.CLEAN_EXIT: "Ended in good order",
    Fact.CRASHED: "Crashed",
}
_ALL = 100  # --verbose sets the largest number there is
_SIZES = frozenset({"mib", "free_mib", "used_mib", "need_mib"})


class _Shown(dict[str, str]):
    def __missing__(self, _name: str) -> str:
        return "?"  # a form of the line that does not name it


def title(event: LogEvent) -> str:
    """Return what the line says, in a few words."""
    if event.fact is Fact.PROGRAM:
        names = [str(event.values[n]) for n in ("program", "version") if n in event.values]
        return " ".join(names or [str(event.values.get("engine", ""))])
    if event.fact is Fact.ERROR_MEMORY and "limit" in event.values:
        return "Too large for one buffer"
    if event.fact is Fact.ERROR_NETWORK:
        is_rpc = "endpoint" in event.values or "lost" in event.values
        return "The RPC server is silent" if is_rpc else "The port could not be opened"
    text = _TITLES.get(event.fact, event.fact.value.replace("_", " ").capitalize())
    shown = text.format_map(_Shown((k, _show(k, v)) for k, v in event.values.items()))
    return f"Trial: {shown}" if event.is_projection else shown


def _show(name: str, value: Value) -> str:
    if name in _SIZES:
        return units.size(round(float(value) * MIB))
    if name == "tps":
        return units.rate(float(value)).removesuffix(" tok/s")
    if name == "level" and int(value) > _ALL:
        return "of everything"
    if name == "number":
        return str(value)
    return units.count(value) if type(value) is int else str(value)
