"""LM Studio: what it puts around the lines of its engines, and what its MLX engine says."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, decimal_gb, last_by_first

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[LM STUDIO ", "[LMSInternal]", "[LMSAuthenticator]", "[LM Studio]"),
        regex=re.compile(
            r"(?P<program>\[(?:LM STUDIO \w+|LMSInternal|LMSAuthenticator|LM Studio)\])"
        ),
        types={"program": always("LM Studio")},
        samples=(
            Sample(
                build="LM Studio 0.3 (public log)",
                line="[2025-08-01 12:00:00][INFO][LM STUDIO SERVER] Success! HTTP server "
                "listening on port 1234",
                values={"program": "LM Studio"},
            ),
            Sample(
                build="LM Studio 0.4 (lmstudio-bug-tracker issue 2190)",
                line="[2026-07-23 10:21:52.879] [error] [LM Studio] GPU Configuration:",
                values={"program": "LM Studio"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=(
            "Prompt processing progress: ",
            "Cache reuse summary: ",
            "(Exit code: ",
            "Running chat completion on conversation with ",
        ),
        regex=re.compile(
            r"(?P<program>\[\S+\] Prompt processing progress: [\d.]+%|Cache reuse summary: \d+/"
            r"|\] Running chat completion on conversation with \d+ messages"
            r"|\(Exit code: \S{1,24}\)\. (?:Please check settings|Unknown error|Some model))"
        ),
        types={"program": always("LM Studio")},
        samples=(
            Sample(
                build="LM Studio 0.4.14 (lmstudio-bug-tracker issue 1977)",
                line=" [qwen3.6-27b-mlx] Prompt processing progress: 6.2%",
                values={"program": "LM Studio"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[ModelKit]", "[CacheWrapper]", "[cache_wrapper]", "mlx_engine/", "app-mlx-generate"),
        regex=re.compile(
            r"(?P<program>(?P<engine>\[(?:ModelKit|CacheWrapper|cache_wrapper)\]\[\w+\]"
            r"|mlx_engine/|app-mlx-generate))"
        ),
        types={"program": always("LM Studio"), "engine": always("MLX")},
        samples=(
            Sample(
                build="LM Studio 0.3.12 (lmstudio-bug-tracker issue 498)",
                line="[2025-03-09 19:30:01][DEBUG][ModelKit][INFO] Model loaded successfully",
                values={"program": "LM Studio", "engine": "MLX"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("Loading model from ",),
        regex=re.compile(
            r"(?:\[(?:ModelKit|VisionModelKit)\]\[INFO\]:? |^)Loading model from (?P<path>/.+?)"
            r"(?:\.\.\.)?$"
        ),
        samples=(
            Sample(
                build="LM Studio 0.3.12 (lmstudio-bug-tracker issue 498)",
                line="[2025-03-09 19:29:57][DEBUG][ModelKit][INFO] Loading model from "
                "/Users/user/.lmstudio/models/u/DeepSeek-R1-Distill-Qwen-32B-MLX-4bit...",
                values={
                    "path": "/Users/user/.lmstudio/models/u/DeepSeek-R1-Distill-Qwen-32B-MLX-4bit"
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("Loading draft model from ",),
        regex=re.compile(
            r"(?:\[INFO\]:? |^)Loading (?P<kind>draft) model from (?P<path>/.+?)(?:\.\.\.)?$"
        ),
        types={"kind": always("draft")},
        samples=(
            Sample(
                build="LM Studio 0.3.12 (lmstudio-bug-tracker issue 498)",
                line="[2025-03-09 19:30:01][DEBUG][ModelKit][INFO] Loading draft model from "
                "/Users/user/.lmstudio/models/mlx-community/DeepSeek-R1-Distill-Qwen-7B-4bit...",
                values={
                    "kind": "draft",
                    "path": "/Users/user/.lmstudio/models/mlx-community/"
                    "DeepSeek-R1-Distill-Qwen-7B-4bit",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=("Model loaded successfully", "Model successfully loaded"),
        regex=re.compile(r"Model (?:loaded successfully|successfully loaded)"),
        samples=(
            Sample(
                build="LM Studio 0.3.12 (lmstudio-bug-tracker issue 498)",
                line="[2025-03-09 19:30:01][DEBUG][ModelKit][INFO] Model loaded successfully",
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_CACHED,
        keys=("Cache reuse summary: ",),
        regex=re.compile(r"Cache reuse summary: (?P<n>\d+)/\d+ of prompt"),
        types={"n": int},
        samples=(
            Sample(
                build="LM Studio 0.3 (public log, 2025-11)",
                line=" Cache reuse summary: 3154/3154 of prompt (100%), 3154 prefix, 0 non-prefix",
                values={"n": 3154},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_SIZE,
        keys=("Total prompt tokens: ",),
        regex=re.compile(r"^\s*Total prompt tokens: (?P<n>\d+)$"),
        types={"n": int},
        samples=(
            Sample(
                build="LM Studio 0.3 (public log, 2025-11)",
                line="Total prompt tokens: 3154",
                values={"n": 3154},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_REPROCESSED,
        keys=("tokens from the prompt cache, but could not",),
        regex=re.compile(r"Tried to trim '\d+' tokens from the prompt cache, but could not"),
        samples=(
            Sample(
                build="mlx-engine (source, mlx_engine/cache_wrapper.py)",
                line="[CacheWrapper][WARN] Tried to trim '512' tokens from the prompt cache, but "
                "could not: Cache is not trimmable. Clearing the cache instead.",
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("tokensPerSecond",),
        # tokens first: the count stands some lines below the rate
        regex=re.compile(
            r'"tokensPerSecond": (?P<ms>(?P<tps>\d+(?:\.\d+)?),.{1,300}?'
            r'"totalTimeSec": [\d.]+,.{1,120}?"predictedTokensCount": (?P<n>\d+))'
        ),
        types={"ms": last_by_first, "tps": float, "n": int},
        samples=(
            Sample(
                build="LM Studio 0.3 (ml-explore/mlx-lm issue 480)",
                line='"tokensPerSecond": 62.67186522030397, "numGpuLayers": -1, '
                '"timeToFirstTokenSec": 3.184, "totalTimeSec": 40.257, '
                '"promptTokensCount": 5984, "predictedTokensCount": 2523,',
                values={
                    "ms": 1000 * 2523 / 62.67186522030397,
                    "tps": 62.67186522030397,
                    "n": 2523,
                },
            ),
        ),
        may_break=True,
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("due to insufficient system resources",),
        regex=re.compile(
            r"Model loading (?:was stopped|aborted) due to insufficient system resources"
            r"(?:.*?requires approximately (?P<n_bytes>\d+(?:\.\d+)?) ?GB)?"
        ),
        types={"n_bytes": decimal_gb},
        samples=(
            Sample(
                build="LM Studio 0.3 (public report)",
                line="Error: Model loading was stopped due to insufficient system resources. "
                "Under the current settings, this model requires approximately 30.5 GB of memory",
                values={"n_bytes": 30_500_000_000},
            ),
            Sample(
                build="LM Studio 0.3 (public report; its guess may be no number)",
                line="Error: Model loading was stopped due to insufficient system resources. "
                "Under the current settings, this model requires approximately NaN GB of memory",
            ),
            Sample(
                build="LM Studio 0.3.24 (lmstudio-bug-tracker issue 927)",
                line="[2025-08-23 11:25:47.731] [error] [LMSInternal][Client=LM Studio]"
                "[Endpoint=loadModel] Error in channel handler: Error: Model loading aborted due "
                "to insufficient system resources. Overloading the system will likely cause it to "
                "freeze.",
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("Not enough resources to load the model",),
        regex=re.compile(r"Not enough resources to load the model"),
        samples=(
            Sample(
                build="LM Studio 0.4 (public report)",
                line="Not enough resources to load the model with the current settings",
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=("Failed to load LLM engine from path: ", "No module named "),
        regex=re.compile(
            r"Failed to load LLM engine from path: (?P<what>\S+)"
            r"|Error when loading model: ModuleNotFoundError: No module named"
        ),
        samples=(
            Sample(
                build="LM Studio 0.4.2 (lmstudio-bug-tracker issue 1521)",
                line="Failed to load LLM engine from path: /Users/user/.lmstudio/extensions/"
                "backends/mlx-llm-mac-arm64-apple-metal-advsimd-1.0.0/"
                "llm_engine_mlx_amphibian.node. dlopen(...): Library not loaded: "
                "@rpath/libpython3.11.dylib",
                values={
                    "what": "/Users/user/.lmstudio/extensions/backends/"
                    "mlx-llm-mac-arm64-apple-metal-advsimd-1.0.0/llm_engine_mlx_amphibian.node."
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.KILLED,
        keys=("(Exit code: null)",),
        regex=re.compile(r"\(Exit code: null\)"),
        samples=(
            Sample(
                build="LM Studio 0.3 (public report)",
                line='{"title":"Error loading model.","cause":"(Exit code: null). Please check '
                'settings and try loading the model again. "}',
            ),
        ),
    ),
    Pattern(
        fact=Fact.CRASHED,
        keys=("(Exit code: ",),
        # Windows' crash codes, signed or as a float that lost its last digits; elsewhere the
        # signal's number, with or without 128
        regex=re.compile(r"\(Exit code: (?P<code>-?\d{2,22}|[3-9])\)"),
        samples=(
            Sample(
                build="LM Studio 0.3 (public report)",
                line='{"title":"Error loading model.","cause":"(Exit code: '
                '18446744072635812000). Unknown error."}',
                values={"code": "18446744072635812000"},
            ),
            Sample(
                build="LM Studio 0.3.31 (lmstudio-bug-tracker issue 1189)",
                line="(Exit code: 6). Please check settings and try loading the model again. ",
                values={"code": "6"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CRASHED,
        keys=("Fatal Python error: ", "exception: access violation "),
        regex=re.compile(r"Fatal Python error: \w+|OSError: exception: access violation"),
        samples=(
            Sample(
                build="LM Studio 0.3.15 (lmstudio-ai/mlx-engine issue 157)",
                line="Fatal Python error: Aborted",
            ),
            Sample(
                build="KoboldCpp 1.101.1 (issue 1852)",
                line="OSError: exception: access violation reading 0x0000000000000004",
            ),
        ),
    ),
)
