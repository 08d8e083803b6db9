"""A running llama-server is recognised by its answers, on any port, also while it loads."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.host import Listener, ProcessInfo
from app.probes.recorded import RecordedHttp
from app.runtimes import llama_server
from tests.hosts import FakeHost, sample

DATA = Path(__file__).parent.parent / "data" / "runtimes"
BASE = "http://127.0.0.1:8080"
LOADING = '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'


def _host(*answers: RecordedHttp, **changes: Any) -> FakeHost:
    return FakeHost(http=answers, **changes)


def _health(status: int, body: str, server: str = "llama.cpp") -> RecordedHttp:
    return RecordedHttp(f"{BASE}/health", status, body, server)


def test_reads_model_and_context_of_a_recorded_answer() -> None:
    props = RecordedHttp(f"{BASE}/props", 200, sample("llama-server-props.json"))
    server = llama_server.ask(_host(_health(200, '{"status":"ok"}'), props), 8080)
    assert server is not None
    # b0: made from an archive, so its build is not known
    assert (server.version, server.build) == (None, None)
    assert server.loaded[0].name == "gemma3-270m-q4_k_m.gguf"
    assert server.loaded[0].ctx == 512


def test_reads_the_build_where_there_is_one() -> None:
    props = RecordedHttp(f"{BASE}/props", 200, '{"build_info": "b11434-abcdef1"}')
    server = llama_server.ask(_host(_health(200, '{"status":"ok"}'), props), 8080)
    assert server is not None and server.build == 11434 and server.loaded == ()


def test_recognises_a_server_from_before_the_header() -> None:
    props = RecordedHttp(f"{BASE}/props", 200, sample("llama-server-props.json"))
    assert llama_server.ask(_host(_health(200, '{"status":"ok"}', ""), props), 8080) is not None


def test_recognises_a_server_that_loads_or_asks_for_a_key() -> None:
    assert llama_server.ask(_host(_health(503, LOADING)), 8080) is not None
    locked = RecordedHttp(f"{BASE}/props", 401, "{}", "llama.cpp")
    server = llama_server.ask(_host(_health(200, '{"status":"ok"}'), locked), 8080)
    assert server is not None and server.loaded == ()


@pytest.mark.parametrize(
    "answer",
    [
        RecordedHttp(f"{BASE}/health", 200, "<html>hello</html>", "nginx"),
        RecordedHttp(f"{BASE}/health", 200, '{"status":"ok","version":"2"}', "uvicorn"),
        RecordedHttp(f"{BASE}/health", 200, '{"status":"ok"}', ""),
        RecordedHttp(f"{BASE}/health", 404, "{}", "Jetty"),
        RecordedHttp(f"{BASE}/other", 200, '{"status":"ok"}', "llama.cpp"),
    ],
)
def test_takes_nothing_else_for_llama_cpp(answer: RecordedHttp) -> None:
    assert llama_server.ask(_host(answer), 8080) is None


def test_does_not_try_a_port_on_which_nothing_listens() -> None:
    answers = (_health(200, '{"status":"ok"}'),)
    elsewhere = _host(*answers, listeners=(Listener("127.0.0.1", 22, None),))
    assert llama_server.running(elsewhere) == ()
    there = _host(*answers, listeners=(Listener("127.0.0.1", 8080, None),))
    assert len(llama_server.running(there)) == 1


@pytest.mark.parametrize(
    ("argv", "port"),
    [
        (("llama-server", "--port", "9000"), 9000),
        (("llama-server", "--port=9001", "-m", "x"), 9001),
        (("llama-server",), 8080),
        (("llama-server", "--port"), 8080),
        (("llama-server", "--port", "many"), 8080),
        ((), 8080),
    ],
)
def test_reads_the_port_of_a_command_line(argv: tuple[str, ...], port: int) -> None:
    assert llama_server.port_of(argv) == port


def test_asks_each_port_once_and_not_too_many() -> None:
    processes = tuple(
        ProcessInfo(n, "llama-server", None, ("llama-server", "--port", str(9000 + n)))
        for n in range(30)
    )
    host = FakeHost(processes=processes, hangs=True)
    assert llama_server.running(host) == ()
    assert host.elapsed_s == 2.0


def test_says_size_and_slots_of_a_server_that_tells_them() -> None:
    answers = [_health(200, '{"status":"ok"}')] + [
        RecordedHttp(f"{BASE}/{path}", 200, sample(name))
        for path, name in (
            ("props", "llama-server-props.json"),
            ("slots", "llama-server-slots.json"),
            ("v1/models", "llama-server-v1-models.json"),
        )
    ]
    server = llama_server.ask(_host(*answers), 8080)
    assert server is not None
    (model,) = server.loaded
    assert model.n_bytes == 246_587_904
    assert model.settings == ("Q4_K - Medium", "4 slots")
    busy = replace(answers[2], body='[{"is_processing": true}, 7, {"is_processing": "yes"}]')
    server = llama_server.ask(_host(*answers[:2], busy), 8080)
    assert server is not None and server.loaded[0].settings[-1] == "1 at work"


def test_a_router_holds_what_is_loaded_and_not_a_model_called_none() -> None:
    props, models = (
        (DATA / f"b11434-router-{name}.json").read_text() for name in ("props", "models")
    )
    answers = (
        _health(200, '{"status":"ok"}'),
        RecordedHttp(f"{BASE}/props", 200, props),
        RecordedHttp(f"{BASE}/models", 200, models),
    )
    server = llama_server.ask(_host(*answers), 8080)
    assert server is not None and server.build == 11434
    (model,) = server.loaded
    assert (model.name, model.n_bytes, model.ctx) == ("gemma-3-270m-q4_k_m", 246_587_904, 512)
    idle = replace(answers[2], body=models.replace('"loaded"', '"unloaded"'))
    server = llama_server.ask(_host(*answers[:2], idle), 8080)
    assert server is not None and server.loaded == ()
