"""KoboldCpp: its version, the backend it takes, and the line that sums up each request."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, first_by_last_ms, first_times_last, per_second, seconds

_LINE = (
    "[12:34:56] CtxLimit:512/4096, Amt:100/100, Init:0.01s, Process:1.23s (335.12T/s), "
    "Generate:4.56s (21.93T/s), Total:5.79s"
)
_OLD = (
    "CtxLimit:512/4096, Amt:100/100, Init:0.01s, Process:1.23s (3.0ms/T = 335.12T/s), "
    "Generate:4.56s (45.6ms/T = 21.93T/s), Total:5.79s (17.27T/s)"
)
_NEW = (
    "[09:59:50] CtxLimit:290/16384, Init:0.15s, Processed:240 in 34.03s (7.05T/s), "
    "Generated:50/64 in 2.10s (23.81T/s), Total:36.13s"
)
_FIRST = (
    "ContextLimit: 1378/8192, Processing:43.08s (36.8ms/T), Generation:44.08s (210.9ms/T), "
    "Total:87.15s (417.0ms/T = 2.40T/s)"
)
_ASKED = (
    "Namespace(admin=False, benchmark='stdout', blasbatchsize=512, contextsize=4096, "
    "flashattention=False, gpulayers=33, quantkv=0, threads=7)"
)

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("Welcome to KoboldCpp - Version ",),
        regex=re.compile(r"(?P<at>Welcome to) (?P<program>KoboldCpp) - Version (?P<version>\S+)"),
        types={"at": always("start")},
        samples=(
            Sample(
                build="KoboldCpp 1.93.2",
                line="Welcome to KoboldCpp - Version 1.93.2",
                values={"at": "start", "program": "KoboldCpp", "version": "1.93.2"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("CtxLimit:", "ContextLimit: "),
        regex=re.compile(
            r"(?P<program>CtxLimit:\d+/\d+, (?:Amt|Init):|ContextLimit: \d+/\d+, Processing:)"
        ),
        types={"program": always("KoboldCpp")},
        samples=(Sample(build="KoboldCpp 1.93", line=_LINE, values={"program": "KoboldCpp"}),),
    ),
    Pattern(
        fact=Fact.BACKEND_LOADED,
        keys=("Initializing dynamic library: koboldcpp_",),
        regex=re.compile(
            r"Initializing dynamic library: (?P<file>koboldcpp_(?P<backend>\w+)\.\w+)"
        ),
        samples=(
            Sample(
                build="KoboldCpp 1.93 (source, koboldcpp.py)",
                line="Initializing dynamic library: koboldcpp_cublas.dll",
                values={"file": "koboldcpp_cublas.dll", "backend": "cublas"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.TOTAL_MEMORY,
        keys=("Detected Free GPU Memory: ", "Detected Available GPU Memory: "),
        # koboldcpp.py prints MaxMemory, all of the largest card, whatever the word "free" says
        regex=re.compile(r"Detected (?:Free|Available) (?P<of>GPU) Memory: (?P<mib>\d+) MB"),
        types={"mib": float},
        samples=(
            Sample(
                build="KoboldCpp 1.93 (source, koboldcpp.py)",
                line="Detected Free GPU Memory: 23028 MB (Set GPU layers manually if incorrect)",
                values={"of": "GPU", "mib": 23028.0},
            ),
            Sample(
                build="KoboldCpp 1.108.2 (issue 2003)",
                line="Detected Available GPU Memory: 8188 MB",
                values={"of": "GPU", "mib": 8188.0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FREE_MEMORY,
        keys=("Detected Available RAM: ",),
        regex=re.compile(r"Detected Available (?P<of>RAM): (?P<mib>\d+) MB"),
        types={"mib": float, "of": always("system")},
        samples=(
            Sample(
                build="KoboldCpp 1.117.1 (issue 2347)",
                line="Detected Available RAM: 2614 MB",
                values={"of": "system", "mib": 2614.0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.COMMAND,
        keys=("Namespace(",),
        regex=re.compile(r"^(?P<argv>Namespace\(.*\b(?:gpulayers|contextsize)=.*)"),
        samples=(
            Sample(build="KoboldCpp 1.90.2 (issue 1527)", line=_ASKED, values={"argv": _ASKED}),
        ),
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("Loading Text Model: ", "Loading Embeddings Model: ", "Loading model: "),
        regex=re.compile(r"Loading (?:Text M|Embeddings M|m)odel: +(?P<path>\S.*?)\s*$"),
        samples=(
            Sample(
                build="KoboldCpp 1.99 (issue 1780)",
                line="Loading Text Model: C:\\models\\L3.3-70B-Animus-V12.1-Q4_K_M.gguf",
                values={"path": "C:\\models\\L3.3-70B-Animus-V12.1-Q4_K_M.gguf"},
            ),
            Sample(
                build="KoboldCpp 1.54 (issue 595)",
                line="Loading model: f:\\koboldcpp\\sonya-7b-x8-moe.Q6_K.gguf",
                values={"path": "f:\\koboldcpp\\sonya-7b-x8-moe.Q6_K.gguf"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LAYERS_CHOSEN,
        keys=("Auto Recommended GPU Layers: ",),
        regex=re.compile(r"Auto Recommended GPU Layers: (?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="KoboldCpp 1.90.2 (issue 1527)",
                line="Auto Recommended GPU Layers: 33",
                values={"n": 33},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LAYERS_CHOSEN,
        keys=("Autofit Result: ",),
        regex=re.compile(r"Autofit Result: .*?-ngl (?P<n>-?\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="KoboldCpp 1.108.2 (issue 2003)",
                line="Autofit Success: 1, Autofit Result: -c 8320 -ngl 0",
                values={"n": 0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CTX_CHOSEN,
        keys=("Autofit Result: ",),
        regex=re.compile(r"Autofit Result: .*?-c (?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="KoboldCpp 1.108.2 (issue 2003)",
                line="Autofit Success: 1, Autofit Result: -c 8320 -ngl 0",
                values={"n": 8320},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=("Model OK: True",),
        regex=re.compile(r"Load (?:\w+ )?Model OK: True"),
        samples=(Sample(build="KoboldCpp 1.119", line="Load Text Model OK: True"),),
    ),
    Pattern(
        fact=Fact.ERROR_CONSEQUENCE,
        keys=("Model OK: False", "Could not load text model: ", "Could not load model: "),
        regex=re.compile(r"Load (?:\w+ )?Model OK: False|Could not load (?:text )?model: "),
        samples=(
            Sample(build="KoboldCpp 1.30.3 (issue 242)", line="Load Model OK: False"),
            Sample(
                build="KoboldCpp 1.108.2 (issue 2003)",
                line="Error: Could not load text model: D:\\kobold\\gemma-3-27b-it.q4_k_m.gguf",
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=("ContextLimit: ",),
        regex=re.compile(
            r"ContextLimit: .*?Processing:(?P<n>(?P<ms>[\d.]+s) \((?P<tps>[\d.]+))ms/T\)"
        ),
        types={"n": first_by_last_ms, "ms": seconds, "tps": per_second},
        samples=(
            Sample(
                build="KoboldCpp 1.60 (issue 666)",
                line=_FIRST,
                values={"n": 1171, "ms": 43080.0, "tps": 1000 / 36.8},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("ContextLimit: ",),
        regex=re.compile(
            r"ContextLimit: .*?Generation:(?P<n>(?P<ms>[\d.]+s) \((?P<tps>[\d.]+))ms/T\)"
        ),
        types={"n": first_by_last_ms, "ms": seconds, "tps": per_second},
        samples=(
            Sample(
                build="KoboldCpp 1.60 (issue 666)",
                line=_FIRST,
                values={"n": 209, "ms": 44080.0, "tps": 1000 / 210.9},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("ProcessingSpeed: ",),
        regex=re.compile(r"^(?P<kind>ProcessingSpeed): (?P<prompt_tps>[\d.]+) ?T/s"),
        types={"kind": always("uncounted"), "prompt_tps": float},
        samples=(
            Sample(
                build="KoboldCpp 1.97.1 --benchmark (issue 1770)",
                line="ProcessingSpeed: 625.75T/s",
                values={"kind": "uncounted", "prompt_tps": 625.75},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("GenerationSpeed: ",),
        regex=re.compile(r"^(?P<kind>GenerationSpeed): (?P<tps>[\d.]+) ?T/s"),
        types={"kind": always("uncounted"), "tps": float},
        samples=(
            Sample(
                build="KoboldCpp 1.97.1 --benchmark (issue 1770)",
                line="GenerationSpeed: 19.89T/s",
                values={"kind": "uncounted", "tps": 19.89},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=("CtxLimit:",),
        regex=re.compile(
            r"Process:(?P<n>(?P<ms>[\d.]+s) \((?:[\d.]+ms/T = )?(?P<tps>[\d.]+))T/s\)"
        ),
        types={"n": first_times_last, "ms": seconds, "tps": float},
        samples=(
            Sample(
                build="KoboldCpp 1.93",
                line=_LINE,
                values={"n": 412, "ms": 1230.0, "tps": 335.12},
            ),
            Sample(
                build="KoboldCpp 1.70 (2024)",
                line=_OLD,
                values={"n": 412, "ms": 1230.0, "tps": 335.12},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=("CtxLimit:",),
        regex=re.compile(r"Processed:(?P<n>\d+) in (?P<ms>[\d.]+s) \((?P<tps>[\d.]+)T/s\)"),
        types={"n": int, "ms": seconds, "tps": float},
        samples=(
            Sample(
                build="KoboldCpp 1.119",
                line=_NEW,
                values={"n": 240, "ms": 34030.0, "tps": 7.05},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("CtxLimit:",),
        regex=re.compile(r"Generated:(?P<n>\d+)/\d+ in (?P<ms>[\d.]+s) \((?P<tps>[\d.]+)T/s\)"),
        types={"n": int, "ms": seconds, "tps": float},
        samples=(
            Sample(
                build="KoboldCpp 1.119",
                line=_NEW,
                values={"n": 50, "ms": 2100.0, "tps": 23.81},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("CtxLimit:",),
        regex=re.compile(
            r"Amt:(?P<n>\d+)/\d+,.*?Generate:(?P<ms>[\d.]+s) "
            r"\((?:[\d.]+ms/T = )?(?P<tps>[\d.]+)T/s\)"
        ),
        types={"n": int, "ms": seconds, "tps": float},
        samples=(
            Sample(
                build="KoboldCpp 1.93",
                line=_LINE,
                values={"n": 100, "ms": 4560.0, "tps": 21.93},
            ),
        ),
    ),
    Pattern(
        fact=Fact.REQUEST_TOO_LONG,
        keys=("exceeds allocated context size of ",),
        regex=re.compile(
            r"max_context_length=(?P<n>\d+) exceeds allocated context size of (?P<n_ctx>\d+)"
        ),
        types={"n": int, "n_ctx": int},
        samples=(
            Sample(
                build="KoboldCpp 1.93 (source, koboldcpp.py)",
                line="Warning! Request max_context_length=16384 exceeds allocated context size of "
                "4096. Consider launching with increased --contextsize to avoid errors.",
                values={"n": 16384, "n_ctx": 4096},
            ),
        ),
    ),
)
