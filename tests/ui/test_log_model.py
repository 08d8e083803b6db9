"""What the Logs tab says about real logs: the list of marked lines, and the load's story."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester

from app.core.log import Fact, LogEvent, LogSummary
from app.logs.scan import scan_file
from app.ui.models import log_meaning, log_model, log_story, log_titles
from app.ui.models.log_model import LogModel, evidence_lines, marks_of
from app.ui.widgets.log_marks import Mark
from app.ui.widgets.story_card import Story, StoryTone

LOGS = Path(__file__).parents[1] / "data" / "logs"
ALL = sorted(LOGS.glob("*.log"))


def _log(name: str) -> LogSummary:
    return scan_file(LOGS / name)


def _story(name: str) -> Story:
    return log_story.story_of(_log(name))


def _cell(story: Story, caption: str) -> tuple[str, str, int | None]:
    cell = next(cell for cell in story.cells if cell.caption == caption)
    return cell.value, cell.detail, cell.line


def test_is_a_sound_model(qtmodeltester: ModelTester) -> None:
    model = LogModel()
    rows = evidence_lines(_log("b10434-vulkan-partial-ngl9-lv4.log").events)
    model.show(rows)
    qtmodeltester.check(model)
    model.show(())
    qtmodeltester.check(model)


def test_lists_each_line_once_with_its_words() -> None:
    model = LogModel()
    model.show(evidence_lines(_log("b10434-vulkan-partial-ngl9-lv4.log").events))
    row = model.row_of(147)
    assert row is not None
    index = model.index(row)
    assert index.data() == "Weights: 29.3 MiB in Vulkan0"
    assert index.data(log_model.MARK) is Mark.PLACEMENT
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == (
        "Line 147, placement: Weights: 29.3 MiB in Vulkan0"
    )
    assert len(set(model.lines)) == len(model.lines) == model.rowCount()
    assert model.data(model.index(-1)) is None


def test_steps_to_the_next_and_the_previous_line() -> None:
    model = LogModel()
    model.show(evidence_lines([LogEvent(Fact.LOADED, line, "x") for line in (3, 3, 9)]))
    assert model.lines == (3, 9)
    assert [model.next_line(line) for line in (0, 3, 9)] == [3, 9, None]
    assert [model.previous_line(line) for line in (3, 4, 99)] == [None, 3, 9]
    assert [model.row_of(line) for line in (3, 4)] == [0, None]


def test_adds_rows_when_the_log_has_grown(qtmodeltester: ModelTester) -> None:
    model = LogModel()
    events = [LogEvent(Fact.LOADED, line, "x") for line in (1, 5, 9)]
    model.show(evidence_lines(events[:2]))
    added: list[tuple[int, int]] = []
    resets: list[bool] = []
    model.rowsInserted.connect(lambda _parent, first, last: added.append((first, last)))
    model.modelReset.connect(lambda: resets.append(True))
    model.show(evidence_lines(events))
    assert (added, resets) == ([(2, 2)], [])
    model.show(evidence_lines(events[1:]))
    assert resets == [True]
    qtmodeltester.check(model)


@pytest.mark.parametrize(
    ("fact", "mark"),
    [
        (Fact.ERROR_FILE, Mark.ERROR),
        (Fact.CRASHED, Mark.ERROR),
        (Fact.NO_GPU_WARNING, Mark.WARNING),
        (Fact.WEIGHTS_BUFFER, Mark.PLACEMENT),
        (Fact.OFFLOADED, Mark.PLACEMENT),
        (Fact.N_CTX, Mark.CONTEXT),
        (Fact.GENERATION_RATE, Mark.RATE),
        (Fact.BUILD, Mark.NOTE),
        (Fact.HARMLESS, Mark.HARMLESS),
    ],
)
def test_marks_by_meaning(fact: Fact, mark: Mark) -> None:
    assert log_model.mark_of(LogEvent(fact, 1, "")) is mark


def test_calls_a_trial_runs_line_a_detail() -> None:
    event = LogEvent(Fact.WEIGHTS_BUFFER, 1, "x", {"buffer": "CPU", "mib": 0.0}, True)
    assert log_model.mark_of(event) is Mark.NOTE
    assert log_titles.title(event) == "Trial: Weights: 0 bytes in CPU"


def test_sorts_the_marks_for_the_scroll_bar() -> None:
    rows = evidence_lines(
        [LogEvent(Fact.LOADED, 2, ""), LogEvent(Fact.CRASHED, 4, ""), LogEvent(Fact.LOADED, 7, "")]
    )
    marks = marks_of(rows)
    assert marks.by_line == {2: Mark.NOTE, 4: Mark.ERROR, 7: Mark.NOTE}
    by_mark = dict(marks.by_mark)
    assert (by_mark[Mark.ERROR], by_mark[Mark.NOTE]) == ([4], [2, 7])
    assert [mark for mark, _ in marks.by_mark] == list(Mark)


@pytest.mark.parametrize("fact", list(Fact), ids=lambda fact: fact.value)
def test_has_a_title_for_every_fact(fact: Fact) -> None:
    assert fact in log_titles._TITLES


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_says_something_about_every_capture(path: Path) -> None:
    log = scan_file(path)
    story = log_story.story_of(log)
    assert story.headline
    assert "None" not in story.sentence
    line = log_story.most_telling(log)
    assert line is None or 1 <= line <= max(1, log.n_lines)
    for entry in evidence_lines(log.events):
        meaning = log_meaning.meaning_of(entry, log)
        assert meaning.text
        assert "?" not in meaning.title  # a value that the title names and the line lacks
        assert "{" not in meaning.text


def test_tells_a_partial_offload_by_its_buffers() -> None:
    story = _story("b10434-vulkan-partial-ngl9-lv4.log")
    assert (story.headline, story.tone) == ("Part of the weights is on Vulkan0", StoryTone.WARNING)
    assert _cell(story, "Layers asked for") == ("9 of 19", "a request, not what happened", 144)
    assert _cell(story, "Weights") == (
        "29.3 MiB on Vulkan0",
        "in system memory: AMX 190 MiB, CPU_Mapped 206 MiB",
        147,
    )
    assert _cell(story, "KV cache") == (
        "23.0 MiB on Vulkan0",
        "in system memory: CPU 26.5 MiB · f16",
        169,
    )
    assert _cell(story, "Context")[:2] == ("4,096 tokens", "trained for 32,768 · 4 slots")
    assert _cell(story, "Ended")[0] == "cleanly"


def test_does_not_believe_the_offload_line() -> None:
    story = _story("b10434-vulkan-device-none-ngl99-lv4.log")
    assert story.headline == (
        "No weights are on a device: the CPU computes every layer, though layers were asked for"
    )
    assert story.tone is StoryTone.WARNING
    assert "“offloaded 19/19” only repeats the request." in story.note
    assert _cell(story, "Weights")[0] == "none on a device"


def test_says_that_a_short_log_cannot_show_the_placement() -> None:
    log = _log("b11434-cpu-ngl99-default-verbosity.log")
    story = log_story.story_of(log)
    assert story.headline == "Where the weights are does not show in this log"
    assert "(verbosity 3): run again with -lv 4" in story.note
    assert _cell(story, "Weights") == ("not in this log", "", None)
    verbosity = log.last(Fact.VERBOSITY)
    assert verbosity is not None
    assert log_story.most_telling(log) == verbosity.line


def test_names_the_cause_of_a_failed_load() -> None:
    log = _log("b11434-load-error-truncated-data-lv4.log")
    story = log_story.story_of(log)
    assert story.headline == (
        "The load failed. The file is cut short, as after an interrupted download."
    )
    assert story.tone is StoryTone.ERROR
    assert story.cells == ()
    assert story.note.startswith("Line 15: llama_model_load: error loading model: tensor 'blk.4")
    assert log_story.most_telling(log) == 15


def test_says_where_the_program_was_when_it_crashed() -> None:
    story = _story("b10434-vulkan-abort-kv-tensor-too-large-lv4.log")
    assert story.headline.startswith("The program crashed. Last seen: ")
    assert story.tone is StoryTone.ERROR


def test_calls_a_full_offload_good() -> None:
    story = _story("b10434-vulkan-full-offload-lv4.log")
    assert (story.headline, story.tone) == ("The weights are on Vulkan0", StoryTone.GOOD)


def test_says_that_the_fit_cut_the_context() -> None:
    story = _story("b11434-rpc-two-devices-fit-lv4.log")
    assert story.headline == "The weights are on RPC0, RPC1"
    assert _cell(story, "Weights")[0] == "57.5 MiB on RPC0, 178 MiB on RPC1"
    assert "fit cut it from 32,768" in _cell(story, "Context")[1]
    assert _cell(story, "Layers asked for")[1] == "as llama.cpp's fit chose"


def test_says_where_a_log_stops_that_does_not_end() -> None:
    story = _story("b10434-vulkan-crash-in-first-request-verbose.log")
    value, detail, _line = _cell(story, "Ended")
    assert value == "not in this log"
    assert detail == ("last seen: starting to answer a request. It runs on, crashed, or was killed")


def test_tells_of_the_last_load_when_there_are_several(tmp_path: Path) -> None:
    path = tmp_path / "two.log"
    names = ("b11434-load-error-truncated-data-lv4.log", "b10434-vulkan-partial-ngl9-lv4.log")
    path.write_bytes(b"".join((LOGS / name).read_bytes() for name in names))
    log = scan_file(path)
    story = log_story.story_of(log)
    assert story.title == (
        "llama-server · gemma-3-270m-it-Q4_K_M.gguf · load 2 of 2 · from 2026-06 or later, by its "
        "words"
    )
    first = evidence_lines(log.events)[8]
    assert ", load 1 of 2" in log_meaning.meaning_of(first, log).place


def test_says_so_when_a_log_tells_of_no_load() -> None:
    story = log_story.story_of(LogSummary("notes.txt", 3))
    assert story.headline == "This log tells of no model load"
    assert story.cells == ()
    assert log_story.most_telling(LogSummary("notes.txt", 3)) is None


def test_says_that_repeated_lines_are_left_out() -> None:
    log = _log("b10434-vulkan-partial-ngl9-lv4.log")
    dropped = LogSummary(log.name, log.n_lines, log.events, log.loads, log.n_bytes, n_dropped=1234)
    assert "1,234 repeated lines" in log_story.story_of(dropped).note
