"""A runtime that runs already: it is asked and watched, never restarted."""

import json
from dataclasses import replace

import pytest

from app.core.errors import UserError
from app.core.host import HttpAnswer, Listener, ProcessInfo
from app.core.machine import LoadedModel, Runtime
from app.probes.sampler import Counters
from app.work import observe_run
from app.work.jobs import Cancel, Progress
from app.work.observe_run import busy_slots, chosen, watch
from tests.hosts import FakeHost

ARGV = ("llama-server", "-m", "/m/a.gguf", "-ngl", "9")
SERVER = Runtime(
    "llama.cpp", "llama-server", "", "build 11434", 11434, (), "http://127.0.0.1:8080/props",
    is_running=True, loaded=(LoadedModel("a.gguf", ctx=4096),), port=8080, argv=ARGV,
)  # fmt: skip
OLLAMA = Runtime(
    "ollama", "Ollama", "", "0.33", None, (), "http://127.0.0.1:11434/api/ps", is_running=True,
    loaded=(LoadedModel("qwen3:8b", 6_000_000_000, 3_000_000_000, 4096),), port=11434,
)  # fmt: skip


class Asked(FakeHost):
    """A host whose server says which slots compute, from question to question."""

    def __init__(self, *answers: int) -> None:
        super().__init__()
        self.answers = list(answers)

    def listeners(self) -> tuple[Listener, ...]:
        return (Listener("127.0.0.1", 8080, 77),)

    def processes(self) -> tuple[ProcessInfo, ...]:
        return (ProcessInfo(77, "llama-server", None, ARGV),)

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        assert url == "http://127.0.0.1:8080/slots"
        busy = self.answers.pop(0) if self.answers else 0
        slots = [{"id": n, "is_processing": n < busy} for n in range(4)]
        return HttpAnswer(200, json.dumps(slots).encode())


class Quick(Cancel):
    """Does not wait: the test counts rounds, not seconds."""

    def wait(self, seconds: float) -> None:
        self.check()


class Steady:
    """A meter in which nothing moves; it keeps whose work is the run's own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pids: frozenset[int] = frozenset()

    def read(self, pids: frozenset[int]) -> Counters:
        self.now += 0.5
        self.pids |= pids
        return Counters(self.now, 0, 0, 0, 0, busy_cpu_s=self.now)


def test_tells_a_request_from_none() -> None:
    meter = Steady()
    seen = watch(Asked(0, 2, 1), SERVER, 3.0, Quick(), Progress(lambda _p, _t: None), meter=meter)
    assert (seen.is_busy, seen.n_slots) == (True, 2)
    assert 77 in meter.pids  # the server's own work is no other program's
    quiet = watch(Asked(), SERVER, 1.0, Quick(), Progress(lambda _p, _t: None), meter=Steady())
    assert quiet.is_busy is False
    assert quiet.watch.n_samples == 2


def test_says_how_much_time_is_left() -> None:
    told: list[tuple[int, str]] = []
    watch(Asked(), SERVER, 1.0, Quick(), Progress(lambda p, t: told.append((p, t))), meter=Steady())
    assert [percent for percent, _ in told] == [50, 100]
    assert "let your request run" in told[0][1]


def test_asks_only_llama_server_for_its_slots() -> None:
    assert busy_slots(Asked(3), SERVER) == 3
    assert busy_slots(Asked(3), OLLAMA) is None
    assert busy_slots(Asked(3), replace(SERVER, port=None)) is None


def test_watches_the_runtime_that_holds_a_model() -> None:
    empty = replace(SERVER, loaded=())
    assert chosen((empty, OLLAMA)) is OLLAMA
    assert chosen((SERVER, OLLAMA), port=11434) is OLLAMA
    with pytest.raises(UserError) as caught:
        chosen((empty,))
    assert "llama-server runs" in caught.value.detail
    with pytest.raises(UserError):
        chosen(())


def test_says_what_the_runtime_tells_of_its_model() -> None:
    (text,) = observe_run._told(OLLAMA)
    assert "50.0 %" in text and "in device memory" in text and "/api/ps" in text
    (text,) = observe_run._told(SERVER)
    assert "device memory" not in text and "4,096" in text
