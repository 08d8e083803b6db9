"""What is asked of a running program where the user sees wrong text, and its variables."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.evidence import TextCheck
from app.probes import environment
from app.probes.host import RealHost
from app.work import observed_text, text_check
from app.work.jobs import Jobs
from app.work.process import Processes
from app.work.server_client import Endpoint
from app.work.steps import Steps
from app.work.text_check import Chat
from tests.work.test_observe_run import OLLAMA, SERVER, Asked

RIGHT = TextCheck((("temperature", "0"),), is_readable=True, has_ended=True)


@pytest.fixture
def steps(qapp: QCoreApplication) -> Iterator[Steps]:
    made = Steps(Jobs(), Processes())
    yield made
    assert made._jobs.stop_all_and_wait()


def told(steps: Steps, script: object, qtbot: QtBot) -> object:
    """Run a script to its end and return its result."""
    ends: list[object] = []
    steps.done.connect(ends.append)
    steps.run(script)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: not steps.is_running)
    return ends[0]


def test_finds_the_process_by_its_command_line() -> None:
    assert observed_text.pids_of(Asked(), SERVER) == frozenset({77})
    assert observed_text.pids_of(Asked(), OLLAMA) == frozenset()


def answers(monkeypatch: pytest.MonkeyPatch, *own: float) -> list[Chat]:
    """Let every question be answered well; return what was asked, as it comes."""
    asked: list[Chat] = []

    def ask(chat: Chat, *_: object) -> tuple[TextCheck, str]:
        asked.append(chat)
        return RIGHT, ""

    monkeypatch.setattr(text_check, "own_temperatures", lambda _port, above: own)
    monkeypatch.setattr(text_check, "ask", ask)
    return asked


def test_asks_once_under_the_name_that_the_program_gave(
    steps: Steps, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, notes = answers(monkeypatch), list[str]()
    assert told(steps, observed_text.checked(steps, OLLAMA, notes), qtbot) == (RIGHT,)
    assert asked == [Chat(Endpoint(11434), model="qwen3:8b")]
    assert notes == ["1 short request of ours was answered by Ollama."]


def test_asks_again_at_a_high_temperature_of_its_own(
    steps: Steps, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers(monkeypatch, 1.8)
    told(steps, observed_text.checked(steps, SERVER, []), qtbot)
    assert [chat.temperature for chat in asked] == [0.0, 1.8]


def test_says_why_when_it_does_not_answer_or_has_no_port(
    steps: Steps, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_check, "own_temperatures", lambda _port, above: ())
    monkeypatch.setattr(text_check, "ask", lambda *_: (None, "status 401"))
    notes: list[str] = []
    assert told(steps, observed_text.checked(steps, SERVER, notes), qtbot) == ()
    assert notes == ["The text was not checked: status 401."]
    assert told(steps, observed_text.checked(steps, replace(SERVER, port=None), notes), qtbot) == ()
    assert "no port" in notes[1]


def test_reads_the_variables_or_says_why_not(
    steps: Steps, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RealHost, "processes", lambda _self: Asked().processes())
    monkeypatch.setattr(environment, "variables_of", lambda pid: ((("A", str(pid)),), ""))
    assert told(steps, observed_text.variables(steps, SERVER, []), qtbot) == (("A", "77"),)
    notes: list[str] = []
    monkeypatch.setattr(environment, "variables_of", lambda pid: ((), environment.NOT_ALLOWED))
    told(steps, observed_text.variables(steps, SERVER, notes), qtbot)
    assert environment.NOT_ALLOWED in notes[0]
