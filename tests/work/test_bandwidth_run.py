"""A measurement of memory: its command, its answer, busy machines, and the notebook's last one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core import bandwidth
from app.core.errors import UserError
from app.core.host import CommandResult
from app.core.machine import Machine
from app.core.reading import State
from app.work import bandwidth_run
from app.work.notebook import Notebook
from tests.hosts import FakeHost
from tests.machines import linux

NOW = "2026-11-30T12:00:00Z"


def _answer(**changes: object) -> str:
    values: dict[str, object] = {
        "threads": 2, "buffer_bytes": 1 << 28, "rates_bps": [30, 31, 32, 33, 10],
        "cpu_rates_bps": [33, 34], "is_busy": False, "is_cache": False,
    }  # fmt: skip
    return json.dumps(values | changes)


def _host(machine: Machine, stdout: str, state: State = State.KNOWN, code: int = 0) -> FakeHost:
    words = bandwidth_run.argv(machine)
    answer = CommandResult(words, state, code, stdout, "MemoryError\n" if code else "", "slow")
    return FakeHost(commands=(answer,))


def test_asks_for_the_cores_and_reads_the_middle_of_the_rates() -> None:
    machine = linux()
    words = bandwidth_run.argv(machine)
    assert words[words.index("--threads") + 1] == "16"  # cores, not logical CPUs
    rate = bandwidth_run.measure(_host(machine, _answer()), machine)
    assert (rate.low, rate.value, rate.high) == (30, 31, 32)
    assert (rate.n, rate.busy, rate.processor) == (5, "", machine.text("cpu.model"))


def test_a_busy_machine_gives_an_upper_bound_and_says_so() -> None:
    rate = bandwidth_run.parse(_answer(is_busy=True, cpu_rates_bps=[60, 61, 62, 63, 90]), NOW, "X")
    assert rate.high == 63
    assert "other programs" in rate.busy


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", _answer(rates_bps=[1, 2]), _answer(rates_bps=[1, 2, "x"]),
     _answer(rates_bps=[1, 2, 0]), _answer(threads=None), "NaN", "Traceback"],
)  # fmt: skip
def test_an_odd_answer_is_an_error_in_words(text: str) -> None:
    with pytest.raises(UserError, match="could not be measured"):
        bandwidth_run.parse(text, NOW, "X")


@pytest.mark.parametrize(("state", "code"), [(State.TIMEOUT, 0), (State.KNOWN, 1)])
def test_a_child_that_fails_is_an_error_in_words(state: State, code: int) -> None:
    machine = linux()
    with pytest.raises(UserError) as caught:
        bandwidth_run.measure(_host(machine, "", state, code), machine)
    assert caught.value.detail in ("slow", "MemoryError")


def test_the_notebook_keeps_the_last_rate_and_its_runs_apart(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path / "notebook.jsonl")
    assert notebook.host_rate() is None
    first = bandwidth_run.parse(_answer(), NOW, linux().text("cpu.model") or "")
    notebook.append_host_rate(first)
    notebook.append_host_rate(replace(first, value=40.0))
    with notebook.path.open("ab") as file:
        file.write(b'{"schema": "slowscope.bandwidth/1", "value": "x"}\n')
    assert notebook.host_rate() == replace(first, value=40.0)
    pages = notebook.read()
    assert pages.entries == () and pages.n_broken == 0
    machine = bandwidth_run.with_kept(linux(), notebook)
    assert machine.number(bandwidth.MEASURED) == 40


def test_a_notebook_that_cannot_be_written_is_an_error_with_the_figure(tmp_path: Path) -> None:
    machine = linux()
    (tmp_path / "file").write_text("")
    broken = Notebook(tmp_path / "file" / "notebook.jsonl")
    with pytest.raises(UserError, match="could not be kept"):
        bandwidth_run.measure_and_keep(_host(machine, _answer()), machine, broken)
    kept = Notebook(tmp_path / "notebook.jsonl")
    rate = bandwidth_run.measure_and_keep(_host(machine, _answer()), machine, kept)
    assert kept.host_rate() == rate
