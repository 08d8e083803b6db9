"""A program without a build number is dated by its words, never wrongly on any capture."""

import re
from pathlib import Path

import pytest

from app.logs.scan import scan_file
from app.logs.vocabulary import dated

DATA = Path(__file__).parents[1] / "data" / "logs"
_MONTH = re.compile(r"(?<!\d)20\d{2}-\d{2}")
# by the release of each build (logs.md, head)
_BUILDS = {"b10434": "2026-08", "b11434": "2026-10"}


def month(name: str) -> str:
    found = _MONTH.search(name)
    return found[0] if found else _BUILDS[name.partition("-")[0]]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.log")), ids=lambda path: path.name)
def test_date_holds_the_month_of_each_capture(path: Path) -> None:
    for load in scan_file(path).loads:
        if not load.dated:
            continue
        months = _MONTH.findall(load.dated)
        since = "" if "earlier" in load.dated else months[0]
        until = "9999" if "later" in load.dated else months[-1]
        assert since <= month(path.name) <= until


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("old-2023-09-main-cpu.log", "2023-08 to 2024-08"),
        ("old-b6123-2025-08-server-cpu-gemma.log", "2025-05 to 2025-09"),
        ("b11434-cpu-healthy-lv4.log", "2026-06 or later"),
    ],
)
def test_whole_logs_are_dated_closely(name: str, expected: str) -> None:
    load = scan_file(DATA / name).load
    assert load is not None
    assert load.dated == expected


def test_no_date_for_words_of_all_times_or_of_two_programs() -> None:
    assert dated(["offloaded 3/4 layers to GPU"]) == ""
    assert dated(["llm_load_tensors: a", "common_fit_params: b"]) == ""
