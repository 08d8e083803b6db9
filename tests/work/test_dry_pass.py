"""The dry pass with stand-ins that print what the real programs printed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app import paths
from app.core.errors import UserError
from app.core.machine import Machine, Program, Runtime
from app.core.model import Fault, Model, ModelProblem
from app.core.request import LoadRequest, Tool
from app.core.said import Said
from app.work.dry_pass import DryPass, Question, question_of
from app.work.jobs import Jobs
from app.work.process import Processes
from tests.core import small_models
from tests.work.stand_ins import LOGS

SERVER_LOG = LOGS / "b10434-vulkan-partial-ngl9-lv4.log"
NO_FIT_LOG = LOGS / "b11434-cpu-fit-off-lv4.log"
FAILED_LOG = LOGS / "b11434-cpu-oom-huge-ctx-fit-off-default-verbosity.log"

# prints a log, notes that it got to the end of it, and waits as a server does
_PRINTS = """
import pathlib, sys, time
me = pathlib.Path({told!r})
tries = len(list(me.parent.glob(me.name + ".*"))) + 1
pathlib.Path(f"{{me}}.{{tries}}").write_text(" ".join(sys.argv[1:]))
lines = pathlib.Path({log!r}).read_text().splitlines()
{change}
for line in lines:
    print(line, flush=True)
{end}
"""


def stand_in(
    folder: Path, log: Path, *, name: str = "llama-server", change: str = "",
    end: str = "time.sleep(60)",
) -> Program:  # fmt: skip
    """Write a program that prints a log, then does what `end` says."""
    script = folder / name
    body = _PRINTS.format(told=str(folder / "told"), log=str(log), change=change, end=end)
    script.write_text(f"#!{sys.executable}\n{body}")
    script.chmod(0o755)
    return Program(name, str(script))


@pytest.fixture
def dry_pass(qapp: QCoreApplication) -> Iterator[DryPass]:
    """Return a runner; nothing it started is left."""
    made = DryPass(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


def _ask(dry_pass: DryPass, question: Question, qtbot: QtBot) -> Said:
    ends: list[object] = []
    dry_pass.done.connect(ends.append)
    dry_pass.failed.connect(ends.append)
    dry_pass.start(question)
    qtbot.waitUntil(lambda: not dry_pass.is_running, timeout=20_000)
    if isinstance(ends[0], Exception):
        raise ends[0]
    assert isinstance(ends[0], Said)
    return ends[0]


def _question(program: Program, model: Model | None = None) -> Question:
    return Question(program, 10434, model or small_models.llama(), LoadRequest(ngl=9))


def test_reads_the_first_table_of_a_server_and_ends_it(
    dry_pass: DryPass, qtbot: QtBot, tmp_path: Path
) -> None:
    said = _ask(dry_pass, _question(stand_in(tmp_path, SERVER_LOG)), qtbot)
    assert [row.buffer for row in said.rows] == ["Vulkan0", "Host", "AMX"]
    assert said.rows[0].weights_mib == 29
    assert said.rows[1].is_host
    # it was ended at once: its three seconds of grace are for programs with something to save
    assert said.seconds < 3.0


def test_asks_a_server_that_only_this_computer_reaches(
    dry_pass: DryPass, qtbot: QtBot, tmp_path: Path
) -> None:
    _ask(dry_pass, _question(stand_in(tmp_path, SERVER_LOG)), qtbot)
    words = (tmp_path / "told.1").read_text().split()
    for flag, value in (("--host", "127.0.0.1"), ("-lv", "4"), ("-ngl", "9")):
        assert words[words.index(flag) + 1] == value


def test_asks_again_when_the_tail_of_the_log_is_missing(
    dry_pass: DryPass, qtbot: QtBot, tmp_path: Path
) -> None:
    # placement.md 4.5: the log is written by a thread of its own, which the end may overtake
    log = LOGS / "b11434-llama-fit-params.log"
    change = "lines = [line for line in lines if tries > 1 or 'CPU_REPACK' not in line]"
    program = stand_in(tmp_path, log, name="llama-fit-params", change=change, end="")
    question = Question(
        program, 11434, small_models.llama(), LoadRequest(tool=Tool.FIT_PARAMS),
        expected=("Host", "CPU_REPACK"),
    )  # fmt: skip
    said = _ask(dry_pass, question, qtbot)
    assert "CPU_REPACK" in {row.buffer for row in said.rows}
    assert len(list(tmp_path.glob("told.*"))) == 2


@pytest.mark.parametrize(
    "case",
    [
        (NO_FIT_LOG, "time.sleep(60)", "without a dry pass"),
        (FAILED_LOG, "sys.exit(1)", "insufficient memory"),
    ],
    ids=["old build", "refused"],
)
def test_says_why_when_there_is_no_table(
    dry_pass: DryPass, qtbot: QtBot, tmp_path: Path, case: tuple[Path, str, str]
) -> None:
    log, end, words = case
    with pytest.raises(UserError) as caught:
        _ask(dry_pass, _question(stand_in(tmp_path, log, end=end)), qtbot)
    assert words in caught.value.sentence()


def test_gives_up_when_nothing_is_printed(dry_pass: DryPass, qtbot: QtBot, tmp_path: Path) -> None:
    program = stand_in(tmp_path, SERVER_LOG, change="lines = []")
    question = Question(program, None, small_models.llama(), LoadRequest(), timeout_s=0.3)
    with pytest.raises(UserError, match="did not say"):
        _ask(dry_pass, question, qtbot)


def _cut(tmp_path: Path) -> Model:
    model = small_models.llama()
    path = tmp_path / "cut.gguf"
    path.write_bytes(b"GGUF" + bytes(8188))
    (part,) = model.parts
    return Model(
        model.name, model.arch, model.version, False, model.keys, model.tensors,
        (type(part)(str(path), 8192, part.data_offset, part.alignment),),
        (ModelProblem(Fault.TRUNCATED_DATA, "cut", 1),),
    )  # fmt: skip


def test_asks_about_a_sparse_copy_when_the_download_is_not_complete(
    dry_pass: DryPass, qtbot: QtBot, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    change = (
        "import os\n"
        "copy = sys.argv[sys.argv.index('-m') + 1]\n"
        f"pathlib.Path({str(seen)!r}).write_text(' '.join(map(str, (copy, os.stat(copy).st_size, "
        "os.stat(copy).st_blocks * 512))))"
    )
    model = _cut(tmp_path)
    said = _ask(dry_pass, _question(stand_in(tmp_path, SERVER_LOG, change=change), model), qtbot)
    copy, size, on_disk = seen.read_text().split()
    assert said.is_sparse_copy
    assert said.command[2] == model.path  # what to type, not the copy
    assert int(size) > max(tensor.n_bytes for tensor in model.tensors)
    assert int(on_disk) < 1 << 20
    assert Path(copy).parent == paths.user_cache() / "headers"
    assert not Path(copy).exists()


def test_leaves_neither_copy_nor_program_when_cancelled(
    dry_pass: DryPass, qtbot: QtBot, tmp_path: Path
) -> None:
    program = stand_in(tmp_path, SERVER_LOG, change="lines = []")
    with qtbot.waitSignal(dry_pass.cancelled, timeout=10_000):
        dry_pass.start(_question(program, _cut(tmp_path)))
        qtbot.waitUntil(lambda: bool(list(tmp_path.glob("told.*"))), timeout=10_000)
        dry_pass.cancel()
    assert dry_pass._processes.running() == 0
    assert list((paths.user_cache() / "headers").iterdir()) == []


def _runtime(folder: str, *names: str) -> Runtime:
    programs = tuple(Program(name, f"{folder}/{name}") for name in names)
    return Runtime("llama.cpp", "llama.cpp", folder, None, None, programs, "test")


def test_asks_the_program_that_the_plan_is_for() -> None:
    everything = ("llama-server", "llama-bench", "llama-fit-params")
    machine = Machine(
        runtimes=(_runtime("/a", *everything), _runtime("/b", *everything)),
        devices_source="/b/llama-server --list-devices",
    )
    model = small_models.llama()
    paths_asked = [
        question.program.path if question else ""
        for tool in Tool
        if (question := question_of(model, LoadRequest(tool=tool), machine)) or True
    ]
    # llama-bench has no dry pass; the devices are those that the second one lists
    assert paths_asked == ["/b/llama-server", "/b/llama-fit-params", "/b/llama-fit-params"]
    assert question_of(model, LoadRequest(), Machine(runtimes=(_runtime("/a"),))) is None
