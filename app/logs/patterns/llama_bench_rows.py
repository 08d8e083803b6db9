"""llama-bench: its rows in any format, wherever they stand in a log."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always

_CSV_HEAD = "build_commit,build_number,cpu_info,n_prompt,n_gen,n_depth,test_time,avg_ns,stddev_ns"
_CSV = (
    '"unknown","0","CPU","/models/a.gguf","gemma3 270M Q4_K - Medium","32","0","16",'
    '"2026-10-11T10:11:12Z","392470000","1000","81.53","4.52"'
)
_JSON = (
    '"n_prompt": 0, "n_gen": 8, "n_depth": 0, "test_time": "2026-10-11T10:11:12Z", '
    '"avg_ns": 339270000, "stddev_ns": 1000, "avg_ts": 23.58, "stddev_ts": 0.11,'
)
_SQL = (
    "INSERT INTO test (build_commit, n_prompt, n_gen, n_depth, test_time, avg_ns, stddev_ns, "
    "avg_ts, stddev_ts) VALUES ('unknown', '32', '0', '16', '2026-10-11T10:11:12Z', "
    "'392470000', '1000', '81.530000', '4.520000');"
)
_TYPES = {"n_prompt": int, "n_gen": int, "depth": int, "tps": float, "stddev": float}
_TIME = r"\d{4}-\d\d-\d\dT[\d:]{8}Z"

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("params | backend", "build_commit"),
        regex=re.compile(
            r"(?P<program>\| +test +\| +t/s +\||^build_commit,build_number,"
            r"|INSERT INTO \w+ \(build_commit, |.build_commit.: .)"
        ),
        types={"program": always("llama-bench")},
        samples=(
            Sample(
                build="11434",
                line="| model                          |       size |     params | backend    | "
                "threads |            test |                  t/s |",
                values={"program": "llama-bench"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BENCH_ROW,
        keys=(" MiB | ", " GiB | "),
        # with a space before the number in early 2024; a console may show the sign as others
        regex=re.compile(
            r"\| +(?:pp ?(?P<n_prompt>\d+)\+?)?(?:tg ?(?P<n_gen>\d+))?(?: @ d(?P<depth>\d+))? +"
            r"\| +(?P<tps>\d+\.\d+) \D{1,4} *(?P<stddev>\d+\.\d+) \|"
        ),
        types=_TYPES,
        samples=(
            Sample(
                build="11434",
                line="| gemma3 270M Q4_K - Medium | 230.73 MiB | 268.10 M | CPU,RPC | 1 | "
                "pp32 @ d16 | 81.53 ± 4.52 |",
                values={"n_prompt": 32, "depth": 16, "tps": 81.53, "stddev": 4.52},
            ),
            Sample(
                build="2024-02",
                line="| llama ?B mostly Q8_0           |  40.16 MiB |    42.07 M | BLAS       |   "
                "    1 | tg 8       |    292.45 ± 1.20 |",
                values={"n_gen": 8, "tps": 292.45, "stddev": 1.2},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BENCH_ROW,
        keys=("n_prompt",),
        regex=re.compile(
            r'"n_prompt": (?P<n_prompt>\d+),\s+"n_gen": (?P<n_gen>\d+),\s+'
            rf'(?:"n_depth": (?P<depth>\d+),\s+)?"test_time": "{_TIME}",\s+"avg_ns": \d+,\s+'
            r'"stddev_ns": \d+,\s+"avg_ts": (?P<tps>[\d.]+),\s+"stddev_ts": (?P<stddev>[\d.]+)'
        ),
        types=_TYPES,
        samples=(
            Sample(
                build="11434",
                line=_JSON,
                values={"n_prompt": 0, "n_gen": 8, "depth": 0, "tps": 23.58, "stddev": 0.11},
            ),
        ),
        may_break=True,
    ),
    Pattern(
        fact=Fact.BENCH_ROW,
        keys=("INSERT INTO ",),
        regex=re.compile(
            r"INSERT INTO \w+ \(.*, n_prompt, n_gen, n_depth, test_time,.*VALUES \(.*, "
            r"'(?P<n_prompt>\d+)', '(?P<n_gen>\d+)', '(?P<depth>\d+)', "
            rf"'{_TIME}', '\d+', '\d+', '(?P<tps>[\d.]+)', '(?P<stddev>[\d.]+)'\)"
        ),
        types=_TYPES,
        samples=(
            Sample(
                build="11434",
                line=_SQL,
                values={"n_prompt": 32, "n_gen": 0, "depth": 16, "tps": 81.53, "stddev": 4.52},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BENCH_ROW,
        keys=("INSERT INTO ",),
        regex=re.compile(
            r"INSERT INTO \w+ \(.*, n_prompt, n_gen, test_time,.*VALUES \(.*, "
            r"'(?P<n_prompt>\d+)', '(?P<n_gen>\d+)', "
            rf"'{_TIME}', '\d+', '\d+', '(?P<tps>[\d.]+)', '(?P<stddev>[\d.]+)'\)"
        ),
        types={name: kind for name, kind in _TYPES.items() if name != "depth"},
        samples=(
            Sample(
                build="2024-02",
                line=_SQL.replace(" n_depth,", "").replace(" '16',", ""),
                values={"n_prompt": 32, "n_gen": 0, "tps": 81.53, "stddev": 4.52},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BENCH_TABLE,
        keys=("build_commit,build_number,",),
        regex=re.compile(r"^build_commit,build_number,.*,n_gen,(?P<depth>n_depth,)?test_time,"),
        types={"depth": bool},
        samples=(Sample(build="11434", line=_CSV_HEAD, values={"depth": True}),),
    ),
    Pattern(
        fact=Fact.BENCH_ROW,
        keys=(".gguf",),
        # a csv row; whether the third figure from the time is a count or a flag says the header
        regex=re.compile(
            r'^".*,"(?P<third>\d+)","(?P<second>\d+)","(?P<first>\d+)",'
            rf'"{_TIME}","\d+","\d+","(?P<tps>[\d.]+)","(?P<stddev>[\d.]+)"\s*$'
        ),
        types={"third": int, "second": int, "first": int, "tps": float, "stddev": float},
        samples=(
            Sample(
                build="11434",
                line=_CSV,
                values={"third": 32, "second": 0, "first": 16, "tps": 81.53, "stddev": 4.52},
            ),
        ),
    ),
)
