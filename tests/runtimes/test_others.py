"""Ollama, LM Studio, KoboldCpp and Jan: found by what they say, never by a port alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.host import Listener, ProcessInfo
from app.core.units import MIB
from app.probes.recorded import RecordedHttp
from app.runtimes import jan, koboldcpp, lm_studio, ollama
from tests.hosts import FakeHost, sample

DATA = Path(__file__).parent.parent / "data" / "runtimes"
OLLAMA = "http://127.0.0.1:11434"
LM_STUDIO = "http://127.0.0.1:1234"
KOBOLD = "http://127.0.0.1:5001"
RUNNING = (
    RecordedHttp(f"{OLLAMA}/", 200, "Ollama is running"),
    RecordedHttp(f"{OLLAMA}/api/version", 200, '{"version":"0.33.0"}'),
    RecordedHttp(f"{OLLAMA}/api/ps", 200, sample("ollama-ps.json")),
)


def test_ollama_runs_and_says_what_is_on_the_device() -> None:
    host = FakeHost(files={"/usr/local/bin/ollama": ""}, http=RUNNING)
    (runtime,) = ollama.find(host)
    assert (runtime.version, runtime.is_running, runtime.port) == ("0.33.0", True, 11434)
    assert runtime.program("ollama") == "/usr/local/bin/ollama"
    (model,) = runtime.loaded
    assert model.name == "qwen3:32b"
    assert model.n_bytes == 24_117_248_000
    assert model.device_bytes == 11_043_602_432
    assert model.ctx == 8192


def test_ollama_is_found_on_the_port_its_process_listens_on() -> None:
    process = ProcessInfo(9, "ollama", None, ("/usr/local/bin/ollama", "serve"))
    moved = tuple(replace(answer, url=answer.url.replace("11434", "12321")) for answer in RUNNING)
    listeners = (Listener("127.0.0.1", 12321, 9),)
    files = {"/usr/local/lib/ollama/cuda_v13/x": "", "/usr/local/lib/ollama/libggml-base.so": ""}
    host = FakeHost(http=moved, processes=(process,), listeners=listeners, files=files)
    (runtime,) = ollama.find(host)
    assert (runtime.port, runtime.version) == (12321, "0.33.0")
    assert runtime.backends == ("cuda_v13",)
    assert runtime.argv == ("/usr/local/bin/ollama", "serve")


def test_ollama_of_another_user_runs_and_tells_nothing() -> None:
    (runtime,) = ollama.find(FakeHost(processes=(ProcessInfo(9, "ollama", None, ()),)))
    assert (runtime.is_running, runtime.version, runtime.source) == (True, None, "its process")


def test_ollama_is_installed_but_does_not_run() -> None:
    (runtime,) = ollama.find(FakeHost(programs={"ollama": "/usr/bin/ollama"}))
    assert (runtime.version, runtime.is_running, runtime.port) == (None, False, None)


def test_ollama_on_a_port_of_its_own() -> None:
    moved = tuple(
        RecordedHttp(answer.url.replace("11434", "12000"), answer.status, answer.body)
        for answer in RUNNING
    )
    for given in ("127.0.0.1:12000", "http://0.0.0.0:12000/", ":12000"):
        (runtime,) = ollama.find(FakeHost(http=moved, env={"OLLAMA_HOST": given}))
        assert runtime.port == 12000


@pytest.mark.parametrize(
    "answers",
    [
        # KoboldCpp imitates this address, so it proves nothing
        (RecordedHttp(f"{OLLAMA}/api/version", 200, '{"version":"0.7.0"}'),),
        (RecordedHttp(f"{OLLAMA}/", 200, "Ollama is running"),),
        (*RUNNING[:1], RecordedHttp(f"{OLLAMA}/api/version", 200, '{"version":7}')),
        (*RUNNING[:1], RecordedHttp(f"{OLLAMA}/api/version", 200, "[" * 100_000)),
        (*RUNNING[:1], RecordedHttp(f"{OLLAMA}/api/version", 401, '{"version":"1"}')),
    ],
)
def test_takes_nothing_else_for_ollama(answers: tuple[RecordedHttp, ...]) -> None:
    assert ollama.find(FakeHost(http=answers)) == ()


def test_ollama_with_odd_figures_is_not_believed() -> None:
    body = '{"models": [{"name": 5, "size": -1, "size_vram": 1e9, "context_length": true}, 7]}'
    (model,) = ollama.loaded_models(body.encode())
    assert (model.name, model.n_bytes, model.device_bytes, model.ctx) == ("", None, None, None)
    assert ollama.loaded_models(b'{"models": {}}') == ()


def test_lm_studio_runs_with_a_model() -> None:
    answers = (RecordedHttp(f"{LM_STUDIO}/api/v0/models", 200, sample("lmstudio-v0-models.json")),)
    engine = "llama.cpp-linux-x86_64-nvidia-cuda12-avx2-1.50.2"
    files = {
        f"/home/user/.lmstudio/extensions/backends/{engine}/x": "",
        "/home/user/.lmstudio/bin/lms": "",
    }
    (runtime,) = lm_studio.find(FakeHost(files=files, http=answers))
    assert runtime.is_running and runtime.port == 1234
    assert [(model.name, model.ctx) for model in runtime.loaded] == [
        ("meta-llama-3.1-8b-instruct", 4096)
    ]
    assert runtime.backends == (engine,)
    assert runtime.program("lms") == "/home/user/.lmstudio/bin/lms"


def test_lm_studio_tells_each_instance_by_its_newer_list() -> None:
    body = (DATA / "lmstudio-v1-models.json").read_text()
    answers = (
        RecordedHttp(f"{LM_STUDIO}/api/v1/models", 200, body),
        RecordedHttp(f"{LM_STUDIO}/api/v0/models", 200, sample("lmstudio-v0-models.json")),
    )
    (runtime,) = lm_studio.find(FakeHost(http=answers))
    first, second = runtime.loaded
    assert (first.name, first.ctx, first.n_bytes) == (
        "meta-llama-3.1-8b-instruct", 4096, 4_920_739_232
    )  # fmt: skip
    assert first.settings == ("flash attention on", "KV cache on the CPU", "batch 512")
    assert (second.name, second.ctx, second.settings) == (
        "meta-llama-3.1-8b-instruct:2", 32768, ()
    )  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b'{"models": 1}', b'{"models": []}', b'{"models": [{"key": "x"}]}',
        b'{"models":[{"key":1,"loaded_instances":[null,{"id":2,"config":[]}],'
        b'"max_context_length":-1,"size_bytes":"9"}]}',
    ],
)  # fmt: skip
def test_lm_studios_newer_list_may_be_odd(body: bytes) -> None:
    for model in lm_studio.models_v1(body) or ():
        assert (model.n_bytes, model.ctx, model.settings) == (None, None, ())


def test_lm_studio_runs_without_a_model_or_behind_a_key() -> None:
    greeting = RecordedHttp(f"{LM_STUDIO}/lmstudio-greeting", 200, '{"lmstudio":true}')
    (runtime,) = lm_studio.find(FakeHost(http=(greeting,)))
    assert runtime.is_running and runtime.loaded == ()
    window = (ProcessInfo(9, "LM Studio.exe", None, ()),)
    host = FakeHost(files={"/home/user/.lmstudio/settings.json": "{}"}, processes=window)
    (runtime,) = lm_studio.find(host)
    assert runtime.is_running and runtime.port is None


def test_lm_studio_follows_the_pointer_to_a_moved_folder() -> None:
    files = {
        "/home/user/.lmstudio-home-pointer": "/data/lmstudio\n",
        "/data/lmstudio/settings.json": "{}",
        "/home/user/.lmstudio/old": "",
    }
    (runtime,) = lm_studio.find(FakeHost(files=files))
    assert runtime.folder == "/data/lmstudio"


@pytest.mark.parametrize("body", ['{"data":[{"id":"x","object":"model"}]}', '{"data":[]}', "no"])
def test_takes_nothing_else_for_lm_studio(body: str) -> None:
    answer = RecordedHttp(f"{LM_STUDIO}/api/v0/models", 200, body)
    assert lm_studio.find(FakeHost(http=(answer,))) == ()


def test_koboldcpp_runs_as_program_or_as_script() -> None:
    version = sample("koboldcpp-version.json")
    answer = RecordedHttp(f"{KOBOLD}/api/extra/version", 200, version)
    process = ProcessInfo(3, "koboldcpp-linux-x64", "/opt/koboldcpp-linux-x64", ("koboldcpp",))
    (runtime,) = koboldcpp.find(FakeHost(http=(answer,), processes=(process,)))
    assert (runtime.version, runtime.is_running) == ("1.100.1", True)
    assert runtime.program("koboldcpp") == "/opt/koboldcpp-linux-x64"
    moved = RecordedHttp("http://127.0.0.1:6000/api/extra/version", 200, version)
    argv = ("python3", "koboldcpp.py", "--port", "6000")
    script = ProcessInfo(4, "python3", "/usr/bin/python3", argv)
    (runtime,) = koboldcpp.find(FakeHost(http=(moved,), processes=(script,)))
    assert runtime.port == 6000


def test_koboldcpp_names_its_model() -> None:
    assert [m.name for m in koboldcpp.loaded_model(b'{"result":"koboldcpp/Qwen3-8B"}')] == [
        "Qwen3-8B"
    ]
    for body in (b"", b'{"result":"inactive"}', b'{"result":7}', b"[1]"):
        assert koboldcpp.loaded_model(body) == ()


def test_koboldcpp_in_a_chosen_folder() -> None:
    host = FakeHost(files={"/home/user/tools/koboldcpp_cu12.exe": ""})
    (runtime,) = koboldcpp.find(host, ("/home/user/tools",))
    assert not runtime.is_running
    assert koboldcpp.find(host) == ()


def test_takes_nothing_else_for_koboldcpp() -> None:
    answer = RecordedHttp(f"{KOBOLD}/api/extra/version", 200, '{"version":"1.0"}')
    assert koboldcpp.find(FakeHost(http=(answer,))) == ()


def test_jan_is_found_by_its_data_and_runs_by_its_process() -> None:
    files = {"/home/user/.local/share/Jan/data/llamacpp/backends/b6500/x": ""}
    (runtime,) = jan.find(FakeHost(files=files))
    assert (runtime.is_running, runtime.backends) == (False, ("b6500",))
    process = ProcessInfo(5, "jan", "/usr/bin/jan", ())
    (runtime,) = jan.find(FakeHost(files=files, processes=(process,)))
    assert runtime.is_running
    # a process of this name alone could be anything
    assert jan.find(FakeHost(processes=(process,))) == ()


def test_sizes_are_bytes() -> None:
    (model,) = ollama.loaded_models(b'{"models":[{"name":"a","size":1048576}]}')
    assert model.n_bytes == MIB
