"""Lines by regular expression: right numbers, bad patterns in words, hard ones without a hang."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import UserError
from app.core.log import Found
from app.logs.reader import LineIndex
from app.work.jobs import Cancel, Cancelled
from app.work.log_pattern import LEVELS, find_pattern, spans_of_pattern

DATA = Path(__file__).parents[1] / "data" / "logs"


def searched(path: Path, pattern: str | tuple[str, ...], limit: int = 200_000) -> Found:
    with LineIndex(path) as index:
        index.extend()
        return find_pattern(index, pattern, Cancel(), limit=limit)


def found(path: Path, pattern: str | tuple[str, ...], limit: int = 200_000) -> tuple[int, ...]:
    return searched(path, pattern, limit).lines


def in_file(tmp_path: Path, text: str, pattern: str | tuple[str, ...]) -> tuple[int, ...]:
    path = tmp_path / "a.log"
    path.write_bytes(text.encode("utf-8", "replace"))
    return found(path, pattern)


@pytest.mark.parametrize(
    "pattern", [r"\d+ MiB$", r"^\d.*load_tensors", "buffer size", "kv|KV", r"\bn_ctx\w* +=", "^$"]
)
def test_finds_what_python_finds_line_by_line(pattern: str) -> None:
    path = DATA / "b10434-vulkan-partial-ngl9-lv4.log"
    regex = re.compile(pattern, re.IGNORECASE)
    lines = path.read_text().split("\n")[:-1]
    assert found(path, pattern) == tuple(
        number for number, line in enumerate(lines, 1) if regex.search(line)
    )


lines = st.lists(st.text(st.sampled_from("ab 1\r\u00e9\U0001f600"), max_size=8), max_size=12)


@settings(max_examples=60, deadline=None)
@given(lines, st.sampled_from(["a", "a.*b", "^b", "1$", "[^a]+b", r"\s", "é", "a|^$"]))
def test_numbers_are_right_whatever_the_letters(parts: list[str], pattern: str) -> None:
    from tempfile import TemporaryDirectory

    regex = re.compile(pattern)
    expected = [n for n, line in enumerate(parts, 1) if regex.search(line.rstrip("\r"))]
    with TemporaryDirectory() as folder:
        text = "".join(f"{line}\n" for line in parts)
        assert list(in_file(Path(folder), text, pattern)) == expected


def test_match_never_reaches_over_a_line_end(tmp_path: Path) -> None:
    assert in_file(tmp_path, "a\nb\na b\n", r"a\sb") == (3,)


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?<n>"])
def test_bad_pattern_says_so(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(UserError) as caught:
        in_file(tmp_path, "a\n", pattern)
    assert "at character" in caught.value.detail


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+c", r"(.*)*z", r"(x+x+)+y"])
def test_pattern_that_explodes_gives_up_on_its_line_only(tmp_path: Path, pattern: str) -> None:
    hard = "a" * 5_000 + "x" * 3_000 + "b\n"
    start = time.process_time()
    lines = in_file(tmp_path, f"{hard * 3}aac xxy z aa\n{hard}aa\n", pattern)
    assert 4 in lines
    assert time.process_time() - start < 5


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+[cd]", r"(.*)*[z#]"])
def test_counts_each_line_that_is_too_hard_once(tmp_path: Path, pattern: str) -> None:
    hard = "a" * 5_000 + "!"
    path = tmp_path / "a.log"
    path.write_text("\n".join(["aac", "z aa", hard, "aad #", hard, "", hard]))
    result = searched(path, pattern)
    assert result.n_hard == 3
    assert set(result.lines) <= {1, 2, 4}
    assert len(set(result.lines)) == len(result.lines)


def test_no_line_of_an_easy_pattern_is_too_hard() -> None:
    result = searched(
        DATA / "b10434-vulkan-partial-ngl9-lv4.log", r"load_tensors.*buffer size.*MiB$"
    )
    assert result.lines
    assert result.n_hard == 0


def test_places_in_a_line_are_in_characters() -> None:
    spans = spans_of_pattern(r"b+|\d+", 3)
    assert spans("\U0001f600 abb 12") == ((3, 5), (6, 8))
    assert spans("1 2 3 4 5") == ((0, 1), (2, 3), (4, 5))
    assert spans_of_pattern("x*", 9)("ayxx") == ((2, 4),)
    assert spans_of_pattern("(", 9)("(((") == ()


def test_places_in_a_hard_line_cost_little() -> None:
    start = time.process_time()
    assert spans_of_pattern(r"(a+)+$", 9)("a" * 8_000 + "!") == ()
    assert time.process_time() - start < 0.1


def test_stops_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"line\n" * 1000)
    cancel = Cancel()
    cancel.set()
    with LineIndex(path) as index:
        index.extend()
        with pytest.raises(Cancelled):
            find_pattern(index, "l", cancel)


def test_stops_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"line\n" * 100)
    assert found(path, "l", limit=10) == tuple(range(1, 11))


@pytest.mark.parametrize(
    ("name", "errors", "warnings"),
    [
        ("b10434-vulkan-partial-ngl9-lv4.log", 0, 1),
        ("b11434-cpu-lv4-colors-on.log", 0, 1),
        ("b11434-load-error-file-not-found.log", 1, 1),
    ],
)
def test_levels_are_found_by_their_prefix(name: str, errors: int, warnings: int) -> None:
    assert len(found(DATA / name, LEVELS["errors"])) >= errors
    assert len(found(DATA / name, LEVELS["warnings"])) >= warnings
    letters = re.compile(r"\d+\.\d\d\.\d{3}\.\d{3}(?:\x1b\[\d+m| )+[WE] ")
    raw = (DATA / name).read_text().split("\n")
    by_letter = {n for n, line in enumerate(raw, 1) if letters.search(line)}
    assert by_letter <= set(found(DATA / name, LEVELS["warnings"]))


def test_a_word_of_one_letter_is_no_level(tmp_path: Path) -> None:
    text = "e to the x\nw is a weight\n\x1b[31m0.00.000.001 \x1b[0mE bad\n"
    assert in_file(tmp_path, text, LEVELS["errors"]) == (3,)


def test_levels_of_other_programs_are_found(tmp_path: Path) -> None:
    text = (
        "time=1 level=WARN source=a.go:1 msg=x\ntime=1 level=INFO source=a.go:1 msg=x\n"
        "time=1 level=ERROR msg=x\nINFO 01-11 [a.py:1] fine\nERROR 01-11 [a.py:1] bad\nE bad\n"
        "Enough of it\n"
    )
    assert in_file(tmp_path, text, LEVELS["errors"]) == (3, 5, 6)
    assert in_file(tmp_path, text, LEVELS["warnings"]) == (1, 3, 5, 6)
