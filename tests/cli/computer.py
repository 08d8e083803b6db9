"""A computer whose llama.cpp is a stand-in, for commands that run programs."""

from pathlib import Path

import pytest

from app.core.evidence import Evidence
from app.core.machine import Machine
from app.work import machine_reader


def use(monkeypatch: pytest.MonkeyPatch, found: Evidence) -> None:
    """Let commands find this evidence's machine instead of reading the real one."""
    machine = found.machine
    assert machine is not None

    def read_machine(*_given: object) -> Machine:
        assert machine is not None
        return machine

    monkeypatch.setattr(machine_reader, "read_machine", read_machine)


def folder_of(path: Path) -> list[str]:
    """Return the option that chooses a folder's programs."""
    return ["--llama-bin", str(path)]
