"""The environment of another program: read, refused, or gone."""

import os

import psutil
import pytest

from app.probes import environment


class _Process:
    """A process that answers as it is told."""

    answer: object = {}

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def environ(self) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "variables", "why"),
    [
        ({"GGML_VK_VISIBLE_DEVICES": "0", "HOME": "/h"}, (("GGML_VK_VISIBLE_DEVICES", "0"),), ""),
        (psutil.AccessDenied(7), (), environment.NOT_ALLOWED),
        (psutil.NoSuchProcess(7), (), environment.GONE),
        (OSError("no"), (), "the environment could not be read: no"),
    ],
)
def test_tells_what_it_read_or_why_not(
    monkeypatch: pytest.MonkeyPatch, answer: object, variables: object, why: str
) -> None:
    monkeypatch.setattr(_Process, "answer", answer)
    monkeypatch.setattr(psutil, "Process", _Process)
    assert environment.variables_of(7) == (variables, why)


@pytest.mark.real
def test_reads_its_own() -> None:
    assert environment.variables_of(os.getpid())[1] == ""
