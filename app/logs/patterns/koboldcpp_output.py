"""KoboldCpp: its version, the backend it takes, and the line that sums up each request."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, first_times_last, seconds

_LINE = (
    "[12:34:56] CtxLimit:512/4096, Amt:100/100, Init:0.01s, Process:1.23s (335.12T/s), "
    "Generate:4.56s (21.93T/s), Total:5.79s"
)
_OLD = (
    "CtxLimit:512/4096, Amt:100/100, Init:0.01s, Process:1.23s (3.0ms/T = 335.12T/s), "
    "Generate:4.56s (45.6ms/T = 21.93T/s), Total:5.79s (17.27T/s)"
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
        keys=("CtxLimit:",),
        regex=re.compile(r"(?P<program>CtxLimit):\d+/\d+, Amt:"),
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
        fact=Fact.FREE_MEMORY,
        keys=("Detected Free GPU Memory: ",),
        regex=re.compile(r"Detected Free (?P<of>GPU) Memory: (?P<mib>\d+) MB"),
        types={"mib": float},
        samples=(
            Sample(
                build="KoboldCpp 1.93 (source, koboldcpp.py)",
                line="Detected Free GPU Memory: 23028 MB (Set GPU layers manually if incorrect)",
                values={"of": "GPU", "mib": 23028.0},
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
