"""The short question: when it is asked, what an answer says, and the second one with f16."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.evidence import Evidence
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.core.symptom import Symptom
from app.rules import judge
from app.work import text_check
from app.work.diagnose_run import DiagnosePlan, DiagnoseResult, DiagnoseRun
from app.work.jobs import Jobs
from app.work.process import Processes
from tests.work import stand_ins

_CHAT = """
        if self.path == "/tokenize":
            return self.answer(200, {"tokens": body["content"].split()})
        if self.path == "/v1/chat/completions":
            {code}
            return self.answer(200, {answer})
"""
FINE = "The capital of France is Paris."
NONSENSE = "GGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG"


def chat(content: str, finish: str = "stop", code: str = "pass") -> str:
    """Return the stand-in's code that answers the chat form with a text."""
    answer = {
        "choices": [{"message": {"content": content}, "finish_reason": finish}],
        "usage": {"completion_tokens": 12},
    }
    return _CHAT.replace("{code}", code).replace("{answer}", repr(answer)).strip()


@pytest.fixture
def run(qapp: QCoreApplication) -> Iterator[DiagnoseRun]:
    made = DiagnoseRun(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


def evidence(
    run: DiagnoseRun, qtbot: QtBot, folder: Path, answer: str, *,
    symptom: str = Symptom.WRONG_TEXT.value, type_v: str = "f16",
) -> tuple[Evidence, stand_ins.StandIn]:  # fmt: skip
    """Do the guided run with a server that answers so."""
    server, bench = stand_ins.server(folder, on_request=answer), stand_ins.bench(folder)
    base = replace(stand_ins.evidence(server, bench), symptom=symptom)
    plan = DiagnosePlan(
        str(stand_ins.model(folder)), LoadRequest(ctx=4096, threads=1, cache_type_v=type_v),
        base=base, n_prompt=64, n_gen=16, repetitions=1,
    )  # fmt: skip
    ends: list[object] = []
    run.done.connect(ends.append)
    run.start(plan)
    qtbot.waitUntil(lambda: not run.is_running, timeout=30_000)
    (end,) = ends
    assert isinstance(end, DiagnoseResult)
    return end.evidence, server


def test_asks_once_when_the_user_sees_wrong_text(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    seen, server = evidence(run, qtbot, tmp_path, chat(FINE))
    (check,) = seen.text_checks
    assert check.is_readable and check.has_ended
    assert (check.n_generated, check.n_shown) == (12, 6)
    assert dict(check.settings) == {"temperature": "0", "type_k": "f16", "type_v": "f16"}
    asked = [json.loads(line) for line in server.told.splitlines()[1:] if "messages" in line]
    assert [(one["temperature"], one["seed"]) for one in asked] == [(0.0, 1)]


def test_asks_nothing_when_another_thing_is_wrong(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    seen, server = evidence(run, qtbot, tmp_path, chat(FINE), symptom="slow-writing")
    assert seen.text_checks == ()
    assert "messages" not in server.told


def test_names_the_build_when_only_the_quantised_cache_spoils_the_text(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    is_second = "int(tries.read_text()) > 1"  # the second start has the cache of f16
    code = f"if {is_second}: return self.answer(200, {json.loads(chat_json(FINE))!r})"
    seen, _ = evidence(run, qtbot, tmp_path, chat(NONSENSE, code=code), type_v="q8_0")
    assert [check.is_readable for check in seen.text_checks] == [False, True]
    found = judge.diagnose(seen)
    assert "quantised-v-cache" in {finding.rule_id for finding in found.also}
    assert not {"template-missing", "end-token-missing"} & {f.rule_id for f in found.also}


def test_says_why_when_there_is_no_answer(run: DiagnoseRun, qtbot: QtBot, tmp_path: Path) -> None:
    code = "return self.answer(501, {'error': 'no chat'})"
    seen, _ = evidence(run, qtbot, tmp_path, chat(FINE, code=code))
    assert seen.text_checks == ()
    assert any("The text was not checked" in note for note in seen.notes)


def test_an_endless_answer_of_a_base_model_is_named(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    seen, _ = evidence(run, qtbot, tmp_path, chat(FINE, "length"))
    verdict = judge.diagnose(replace(seen, machine=None, log=None, runs=(), watch=None)).verdict
    assert verdict is not None and verdict.certainty is Certainty.LIKELY
    assert verdict.cites[0].text == "a short answer: it did not end by itself"


def test_reads_a_thought_where_nothing_is_shown() -> None:
    answer = {
        "choices": [{"message": {"content": "", "reasoning_content": FINE}}],
        "usage": {"completion_tokens": 300},
    }
    check = text_check.judged(answer, 0.0, (), 0)
    assert check.is_readable and check.has_ended is None
    assert (check.n_generated, check.n_shown) == (300, 0)
    assert not text_check.judged({}, 0.0, (), None).is_readable


def chat_json(content: str) -> str:
    """Return an answer of the chat form as JSON."""
    return json.dumps(
        {"choices": [{"message": {"content": content}, "finish_reason": "stop"}], "usage": {}}
    )
