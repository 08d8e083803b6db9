"""Machines for tests: what a folder or a test says is there, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.core.host import CommandResult, HttpAnswer
from app.core.reading import State
from app.probes import recorded
from app.probes.recorded import Answers, RecordedHost

HOSTS = Path(__file__).parent / "data" / "hosts"
SAMPLES = HOSTS / "samples"


class FakeHost(RecordedHost):
    """A machine that never is the real one; time passes only on its own clock."""

    def __init__(
        self,
        answers: Answers | None = None,
        files: Mapping[str, str] | None = None,
        *,
        hangs: bool = False,
        **changes: Any,
    ) -> None:
        """Take answers, texts by path, and single fields of Answers; hangs: no program ends."""
        texts = {path: text.encode() for path, text in (files or {}).items()}
        super().__init__(replace(answers or Answers(), **changes), texts)
        self._hangs = hangs
        self.elapsed_s = 0.0
        self.asked: list[tuple[str, ...]] = []

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Answer as recorded; a command that hangs costs its time limit, on the clock only."""
        self.asked.append(tuple(argv))
        answer = super().run(argv, timeout_s)
        if self._hangs:
            reason = f"no answer within {timeout_s:g} s"
            answer = CommandResult(tuple(argv), State.TIMEOUT, None, "", "", reason)
        if answer.state is State.TIMEOUT:
            self.elapsed_s += timeout_s
        return answer

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """Answer as recorded; a server that hangs costs its time limit."""
        if self._hangs:
            self.elapsed_s += timeout_s
            return HttpAnswer(None, b"", f"no answer within {timeout_s:g} s")
        return super().get(url, timeout_s, limit)


def fake_host(name: str, *, hangs: bool = False) -> FakeHost:
    """Return the machine of a folder below tests/data/hosts."""
    folder = HOSTS / name
    answers, files = recorded.read_folder(folder)
    texts = {path: data.decode() for path, data in files.items()}
    return FakeHost(answers, texts, hangs=hangs)


def sample(name: str) -> str:
    """Return a sample's text without its first comment lines."""
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def answered(*argv: str, stdout: str = "", stderr: str = "", code: int = 0) -> CommandResult:
    """Make the answer of a program that ran."""
    return CommandResult(argv, State.KNOWN, code, stdout, stderr)
