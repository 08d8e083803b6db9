"""A log says the same however its bytes arrive, and damaged lines stop nothing."""

import gzip
import random
from pathlib import Path

import pytest

from app.cli.log_text import log_text
from app.core.log import Fact, LogSummary
from app.core.log_json import log_json
from app.logs.matcher import standard
from app.logs.scan import Scanner, scan_file
from app.ui.models import log_story, log_titles

SAMPLES = [sample.line for pattern in standard().patterns for sample in pattern.samples]


def fed(text: str, size: int) -> LogSummary:
    """Scan a text that arrives in pieces; 0 = all at once."""
    data, scanner = text.encode(), Scanner()
    for start in range(0, len(data), size or len(data)):
        scanner.feed(data[start : start + (size or len(data))])
    return scanner.summary()


@pytest.mark.parametrize("seed", range(8))
def test_says_the_same_in_pieces(seed: int) -> None:
    chance = random.Random(seed)
    # cut lines may go on below, also those that begin with what a program wraps its lines in
    lines = [line[: chance.randrange(8, len(line) + 40)] for line in chance.sample(SAMPLES, 150)]
    text = "".join(f"{line}\n" for line in lines)
    whole = fed(text, 0)
    assert whole.events
    for size in (1, 37, 701):
        assert fed(text, size).events == whole.events


def test_a_wrapper_before_an_open_line_is_told_however_it_arrives() -> None:
    wrappers = [s.line for p in standard().patterns if p.is_wrapper for s in p.samples]
    broken = [s.line for p in standard().patterns if p.may_break for s in p.samples]
    assert wrappers
    assert broken
    lines = [f"{wrapper} {line[: len(line) * 2 // 3]}" for line in broken for wrapper in wrappers]
    text = "".join(f"{line}\n" for line in lines)
    whole = fed(text, 0)
    assert whole.all(Fact.PROGRAM)
    assert fed(text, 701).events == whole.events


@pytest.mark.parametrize("length", [3_000, 4_096, 5_000, 70_000, 200_000])
def test_what_follows_a_long_open_line_is_kept(length: int) -> None:
    text = f'"n_prompt": 512, {"x" * length}\n' + "load_tensors: offloaded 9/19 layers to GPU\n" * 3
    for size in (0, 701, 66_000):
        assert len(fed(text, size).all(Fact.OFFLOADED)) == 3


@pytest.mark.parametrize("figure", ["", "0", "-1", ".", "1e999", "nan", "9" * 40])
def test_damaged_figures_stop_nothing(figure: str) -> None:
    chance = random.Random(figure)
    lines = list[str]()
    for line in SAMPLES:
        at = [i for i, letter in enumerate(line) if letter.isdigit()]
        place = chance.choice(at) if at else 0
        lines.append(line[:place] + figure + line[place + 1 :])
        lines.append(line[: chance.randrange(len(line))])
    summary = fed("\n".join(lines), 0)
    assert log_json(summary)
    assert all(log_titles.title(event) for event in summary.events)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_reads_any_encoding_packed_or_not(tmp_path: Path, encoding: str, is_packed: bool) -> None:
    line = "load_tensors: offloaded 9/19 layers to GPU\n"
    data = (line * 400).encode(encoding)
    path = tmp_path / "a.log"
    path.write_bytes(gzip.compress(data) if is_packed else data)
    summary = scan_file(path)
    assert len(summary.all(Fact.OFFLOADED)) == summary.n_lines == 400
    assert summary.damage == ""


def test_says_that_a_packed_log_is_cut(tmp_path: Path) -> None:
    chance = random.Random(1)
    text = "".join(f"{chance.choice(SAMPLES)}\n" for _ in range(3000))
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(text.encode())[:-2000])
    summary = scan_file(path)
    assert summary.events
    assert "damaged or cut" in summary.damage
    assert log_json(summary)["damage"] == summary.damage
    assert summary.damage in log_story.subtitle(summary, "")
    assert summary.damage in log_text(summary)
