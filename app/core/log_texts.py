"""What each fact means, in plain words, with the line's figures in {braces}."""

from app.core.log import Fact

TEXTS: dict[Fact, str] = {
    Fact.PROGRAM: "The program that wrote this.",
    Fact.BUILD: "The version of llama.cpp. Many guides are for other versions.",
    Fact.VERBOSITY: "How detailed the log is.",
    Fact.COMMAND: "The command that was started. It says what was asked, not what happened.",
    Fact.DEVICE_LISTED: "The program can see {device}. Being listed is not being used.",
    Fact.DEVICE_USED: "The model loader will use {device}. {free_mib} MiB of it were free.",
    Fact.BACKEND_LOADED: "The library that can compute with {backend} was found.",
    Fact.NO_GPU_WARNING: (
        "The program cannot use a GPU: it was built without, or the driver does not answer. "
        "Everything runs on the processor."
    ),
    Fact.DEVICE_LIMIT: "The system recommends to use at most {n_bytes} bytes on this device.",
    Fact.SOFTWARE_DEVICE: (
        "This device is no graphics card: the processor plays one, slower than without it."
    ),
    Fact.SYSTEM_INFO: "How many threads are used, and which fast instructions the program uses.",
    Fact.LOAD_START: "Here the load of a model begins.",
    Fact.MODEL_FILE: "The header of the model file was read.",
    Fact.LOADED: "The model is loaded and the program is ready.",
    Fact.DRY_PASS: "Says whether the pass that follows allocates memory or only reckons.",
    Fact.LOADING_TENSORS: "Here the weights are read, and how.",
    Fact.OFFLOADING_REPEATING: "{n} of the model's blocks were asked to go to the GPU.",
    Fact.OFFLOADING_OUTPUT: "The output layer was asked to go to the GPU.",
    Fact.OFFLOADED: "So many layers were asked to go to the GPU.",
    Fact.WEIGHTS_BUFFER: "Weights are in this memory.",
    Fact.KV_BUFFER: "A part of the KV cache is in this memory.",
    Fact.RS_BUFFER: "The recurrent state is in this memory.",
    Fact.COMPUTE_BUFFER: "Intermediate results are in this memory.",
    Fact.OUTPUT_BUFFER: "The output values are in this memory.",
    Fact.KV_SIZE: (
        "The size of the KV cache, which grows with the context, and the type of its two halves. "
        "Models with a sliding window print two such lines; they add up."
    ),
    Fact.SECOND_CONTEXT: "The model gets one more context, to guess tokens ahead.",
    Fact.N_CTX: "The context is {n} tokens, for all requests together.",
    Fact.N_CTX_SEQ: "One conversation may use {n} tokens of context.",
    Fact.N_CTX_SLOT: "One request may use {n} tokens of context.",
    Fact.N_CTX_TRAIN: "The model was trained for a context of at most {n} tokens.",
    Fact.CTX_ABOVE_TRAIN: "The context is longer than the model was trained for.",
    Fact.CTX_CAPPED: "A part of the context was allocated and cannot be used.",
    Fact.FLASH_ATTN: "Whether flash attention is used. It saves memory with long contexts.",
    Fact.GRAPH_SPLITS: (
        "The work changes between processor and GPU in {n} parts for each token. 1 to 3 is "
        "healthy; tens mean that layers are split."
    ),
    Fact.FIT_PROJECTED: (
        "By the program's own reckoning the load will take {used_mib} MiB of {free_mib} MiB."
    ),
    Fact.FIT_ENOUGH: "It fits: the program changes nothing.",
    Fact.FIT_NO_DEVICE: "The automatic fit found no GPU with memory of its own.",
    Fact.FIT_SHORT: (
        "It does not fit as it is: {need_mib} MiB too much. The program first shortens the "
        "context, then moves layers to system memory, unless you have set these."
    ),
    Fact.FIT_CTX_REDUCED: "To fit the memory, the context was cut.",
    Fact.FIT_CTX_KEPT: (
        "The context stays at {n} tokens, because it was given. If it does not fit, layers go to "
        "system memory."
    ),
    Fact.FIT_DEVICE: "The automatic fit puts {layers} layers on {device}.",
    Fact.FIT_FAILED: "The automatic fit did nothing.",
    Fact.FIT_DONE: "The automatic fit is done. This is also printed when nothing was changed.",
    Fact.BREAKDOWN_DEVICE: (
        "The memory of this device in MiB: total, free, and what the model, the context and "
        "computing take. Before the load this is a projection, at exit it is the fact."
    ),
    Fact.BREAKDOWN_HOST: (
        "System memory in MiB: what the model, the context and computing take. Before the load "
        "this is a projection, at exit it is the fact."
    ),
    Fact.OVERRIDDEN: (
        "This tensor was put into {buffer} on purpose, whatever the layer count says."
    ),
    Fact.PROMPT_RATE: "How fast the prompt was read.",
    Fact.GENERATION_RATE: "How fast the answer was written.",
    Fact.DRAFT_ACCEPTANCE: (
        "A share of {rate} of the tokens guessed ahead was right. Below about half, guessing may "
        "cost more than it brings."
    ),
    Fact.REQUEST_START: "A request begins.",
    Fact.MEMORY_PRESSURE: (
        "More memory is used than the system recommends. It will soon swap, and be slow."
    ),
    Fact.QUALITY_WARNING: (
        "The model's tokenizer or chat template is not right. The text may be worse than it should."
    ),
    Fact.ERROR_MEMORY: "There was not enough memory.",
    Fact.ERROR_FILE: "The model file is damaged.",
    Fact.ERROR_ARCHITECTURE: (
        "This version of the program does not know models of the kind {arch}. It is older than "
        "the model."
    ),
    Fact.ERROR_ARGUMENT: "The program does not know the option {flag}. It may have been removed.",
    Fact.ERROR_NETWORK: "The port is taken, or an RPC server does not answer.",
    Fact.ERROR_OTHER: "An error that the program reports.",
    Fact.ERROR_CONSEQUENCE: "This follows from an earlier error. The first one is the cause.",
    Fact.HARMLESS: "This looks alarming and is not. You can ignore it.",
    Fact.CONTEXT_TRUNCATED: (
        "The context was full: the oldest text was dropped, or the answer was cut."
    ),
    Fact.REQUEST_TOO_LONG: "The request is longer than the context, so it was refused.",
    Fact.KV_POOL_FULL: "All requests together need more context than there is. They slow down.",
    Fact.PROMPT_REPROCESSED: (
        "The whole prompt is read again, because the cache of this model cannot be cut back. "
        "Long chats get slow to start."
    ),
    Fact.BACKEND_FAILED: (
        "A library of the program did not load. One that does not suit this processor is normal."
    ),
    Fact.GPU_DROPPED: (
        "The program leaves out this GPU ({description}): it takes it for an integrated GPU, or "
        "has no code for it."
    ),
    Fact.VARIABLE: "The environment chooses the GPUs: {name} is {value}.",
    Fact.GPU_LOST: ("The program cannot reach the GPU's driver."),
    Fact.GPU_NO_KERNELS: "The library has no code for this kind of GPU.",
    Fact.GPU_FORBIDDEN: "This user may not open the GPU ({path}).",
    Fact.OFFLOAD_PLAN: (
        "Ollama's plan: {offload} of {layers} layers on the GPU. A plan is not what happened."
    ),
    Fact.PROJECTOR_MEMORY: ("So much memory the part that looks at pictures will take."),
    Fact.TENSOR_REFUSED: (
        "{preferred} cannot hold weights of the type {type}, so they stay in system memory."
    ),
    Fact.PROMPT_CACHE: (
        "So much system memory keeps the cache of {prompts} earlier texts, to take them up again."
    ),
    Fact.KV_CONVERTED: (
        "The GPU has no code for these cache types, so the cache is converted all the time."
    ),
    Fact.DRAFT_MAX: ("So many tokens are guessed ahead at once."),
    Fact.VLLM_MEMORY: ("vLLM did not start: the memory left does not hold what was asked."),
    Fact.VLLM_EAGER: (
        "Whether vLLM runs without prepared graphs (eager mode). Without graphs it is slower."
    ),
    Fact.FREE_MEMORY: "So much memory was free before the load.",
    Fact.TOTAL_MEMORY: "So much memory the largest GPU has, used or free.",
    Fact.LAYERS_CHOSEN: (
        "The program chose by itself to put {n} layers on the GPU. The buffer lines say what "
        "happened."
    ),
    Fact.BENCH_TABLE: "A table of llama-bench begins.",
    Fact.BENCH_ROW: "A row of llama-bench.",
    Fact.CTX_CHOSEN: "Nobody asked for a context, so the program chose {n} tokens by itself.",
    Fact.SETTING_IGNORED: "A setting does not take effect: {what}.",
    Fact.VOCAB_ONLY: "The file was opened only for its words. No weights were loaded here.",
    Fact.PROMPT_SIZE: "The prompt of this request is {n} tokens long.",
    Fact.PROMPT_CACHED: "The cache still held {n} tokens of the prompt, which need no reading.",
    Fact.RATE_SHOWN: "A rate that the program shows.",
    Fact.KV_CAPACITY: "The KV cache holds {n} tokens, for all requests together.",
    Fact.PEAK_MEMORY: "The most memory that was used at once.",
    Fact.KILLED: (
        "The program was ended from outside. The system does that when memory runs out; its own "
        "log says so."
    ),
    Fact.CLEAN_EXIT: "The program ended in good order.",
    Fact.CRASHED: "The program crashed here. The line before usually says why.",
}

# the harmless lines, by words in them; what is said of each when somebody asks
HARMLESS: tuple[tuple[str, str], ...] = (
    ("control-type", "The tokenizer marks a token oddly. The program corrects that."),
    ("full capacity", "The model could take a longer context than was asked for. That is fine."),
    ("mlock", "The system did not let the model be locked in memory. It runs without."),
    (
        "Radeon iGPU",
        "A graphics part of the processor is left out. A card of its own is still used.",
    ),
    ("pinned memory", "The program found no pinned memory and does without."),
    ("retrying", "The program tries again in another way. What comes next counts."),
    ("special_eog_ids", "The file does not name all end marks. The program finds them itself."),
    ("API key", "No password is set. That matters only if others can reach this port."),
    ("CORS", "Web pages may talk to this port. That matters only if you do not want it."),
    ("recover within timeout", "The memory of the last model came free late. It goes on."),
    ("same id", "One graphics card is seen in two ways. It is used once."),
    ("logit bias", "An end mark is switched off for the moment, as was asked."),
)
