"""vLLM, text-generation-webui, TabbyAPI, GPT4All, llamafile, Docker: known by what they say."""

from pathlib import Path

import pytest

from app.core.host import Listener, ProcessInfo
from app.core.machine import Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import LoadRequest
from app.probes.recorded import RecordedHttp
from app.runtimes import (
    docker_models,
    gpt4all,
    llamafile,
    mlx_lm,
    others,
    sglang,
    tabby_api,
    text_generation_webui,
    vllm,
)
from tests.hosts import FakeHost, sample

DATA = Path(__file__).parent.parent / "data" / "runtimes"
VLLM_MODELS = (
    '{"object":"list","data":[{"id":"Qwen/Qwen3-8B","owned_by":"vllm","max_model_len":40960}]}'
)
WEBUI = '{"model_name": "Qwen3-8B-Q4_K_M.gguf", "lora_names": []}'
ALL = (
    vllm, text_generation_webui, tabby_api, gpt4all, llamafile, docker_models, sglang, mlx_lm,
)  # fmt: skip


def _http(port: int, **answers: str) -> tuple[RecordedHttp, ...]:
    return tuple(
        RecordedHttp(f"http://127.0.0.1:{port}/{path.replace('__', '/')}", 200, body)
        for path, body in answers.items()
    )


def _one(module: object, host: FakeHost) -> Runtime | None:
    probe = getattr(module, "RUNTIME")  # noqa: B009 - modules of one shape
    assert isinstance(probe, RuntimeProbe)
    found = probe.find(host, ())
    return found[0] if found else None


def test_vllm_says_version_model_and_context_on_a_port_of_its_own() -> None:
    process = ProcessInfo(
        7, "python3", "/venv/bin/python3",
        ("python3", "-m", "vllm.entrypoints.openai.api_server", "--port", "9001",
         "--api-key", "geheim"),
    )  # fmt: skip
    answers = _http(9001, version=sample("vllm-version.json"), v1__models=VLLM_MODELS)
    runtime = _one(vllm, FakeHost(processes=(process,), http=answers))
    assert runtime is not None
    assert (runtime.version, runtime.port, runtime.is_running) == ("0.11.0", 9001, True)
    assert [(m.name, m.ctx) for m in runtime.loaded] == [("Qwen/Qwen3-8B", 40960)]
    assert "geheim" not in runtime.argv and "--port" in runtime.argv


def test_the_port_that_the_process_listens_on_comes_first() -> None:
    process = ProcessInfo(7, "vllm", "/venv/bin/vllm", ("vllm", "serve", "x"))
    answers = _http(9100, version=sample("vllm-version.json"), v1__models=VLLM_MODELS)
    listeners = (Listener("127.0.0.1", 9100, 7), Listener("127.0.0.1", 8000, 1))
    host = FakeHost(processes=(process,), http=answers, listeners=listeners)
    runtime = _one(vllm, host)
    assert runtime is not None and runtime.port == 9100


@pytest.mark.parametrize(
    ("module", "answers", "loaded"),
    [
        (text_generation_webui, _http(5000, v1__internal__model__info=WEBUI),
         ["Qwen3-8B-Q4_K_M.gguf"]),
        (tabby_api, _http(5000, health='{"status":"healthy","issues":[]}'), []),
        (gpt4all, _http(4891, v1__models='{"data":[{"id":"x","owned_by":"humanity"}]}'), []),
        (docker_models, (RecordedHttp("http://127.0.0.1:12434/", 200,
                                      "Docker Model Runner\n\nThe service is running.\n"),), []),
    ],
)  # fmt: skip
def test_is_known_by_its_own_answer(
    module: object, answers: tuple[RecordedHttp, ...], loaded: list[str]
) -> None:
    runtime = _one(module, FakeHost(http=answers))
    assert runtime is not None and runtime.is_running
    assert [model.name for model in runtime.loaded] == loaded


def test_docker_says_its_engine_and_what_runs() -> None:
    ps = (DATA / "docker-model-runner-ps.json").read_text()
    base = "http://127.0.0.1:12434"
    answers = (
        RecordedHttp(f"{base}/", 200, "Docker Model Runner\n\nThe service is running.\n"),
        RecordedHttp(f"{base}/engines/ps", 200, ps),
        RecordedHttp(
            f"{base}/engines/status", 200, '{"llama.cpp":"running llama.cpp version: c22473b"}'
        ),
    )
    runtime = _one(docker_models, FakeHost(http=answers))
    assert runtime is not None and runtime.version == "c22473b"
    assert [(m.name, m.settings) for m in runtime.loaded] == [
        ("ai/smollm2", ("by llama.cpp",)),
        ("ai/qwen3", ("by llama.cpp", "loading")),
    ]


def test_sglang_owns_its_models_and_tells_version_and_context() -> None:
    models = (DATA / "sglang-0.5.23-models.json").read_text()
    process = ProcessInfo(4, "sglang::schedul", None, ("sglang::scheduler",))
    for path in ("server_info", "get_server_info"):
        answers = _http(30000, v1__models=models, **{path: '{"version":"0.5.23"}'})
        runtime = _one(sglang, FakeHost(http=answers, processes=(process,)))
        assert runtime is not None
        assert (runtime.version, runtime.port) == ("0.5.23", 30000)
        assert [(m.name, m.ctx) for m in runtime.loaded] == [("Qwen/Qwen3-8B", 40960)]
    assert (
        _one(vllm, FakeHost(http=_http(8000, version='{"version":"1"}', v1__models=models))) is None
    )


@pytest.mark.parametrize(
    "argv",
    [
        ("/venv/bin/python3", "/venv/bin/mlx_lm.server", "--port", "9100", "--model", "/m/tiny"),
        ("python3", "-m", "mlx_lm", "server", "--port", "9100", "--model", "/m/tiny"),
        ("python3", "-m", "mlx_lm.server", "--port", "9100", "--model", "/m/tiny"),
    ],
)
def test_mlx_lm_is_told_by_its_process_and_its_list(argv: tuple[str, ...]) -> None:
    models = (DATA / "mlx-lm-0.32.2-models.json").read_text()
    process = ProcessInfo(4, "python3", argv[0], argv)
    host = FakeHost(http=_http(9100, v1__models=models), processes=(process,))
    runtime = _one(mlx_lm, host)
    assert runtime is not None
    assert (runtime.port, [m.name for m in runtime.loaded]) == (9100, ["tiny"])
    # the same answers of any other program prove nothing
    assert _one(mlx_lm, FakeHost(http=_http(8080, v1__models=models))) is None


def test_llamafile_runs_as_an_old_llama_cpp() -> None:
    process = ProcessInfo(
        3, "llava.llamafile", "/home/user/llava.llamafile", ("/home/user/llava.llamafile",)
    )
    props = '{"default_generation_settings": {"model": "llava-v1.5.gguf"}}'
    runtime = _one(llamafile, FakeHost(processes=(process,), http=_http(8080, props=props)))
    assert runtime is not None
    assert [model.name for model in runtime.loaded] == ["llava-v1.5.gguf"]
    # the same answer without such a process is a llama-server
    assert _one(llamafile, FakeHost(http=_http(8080, props=props))) is None


@pytest.mark.parametrize("module", ALL, ids=lambda module: module.ID)
@pytest.mark.parametrize(
    "body",
    ["", "ok", "[]", '{"status":"ok"}', '{"version":"1"}', '{"data":[{"id":"m"}]}', "[" * 9999,
     '{"model_name":"m"}', "<html>AirPlay</html>", '{"default_generation_settings":1}'],
)  # fmt: skip
def test_takes_no_other_server_for_its_own(module: object, body: str) -> None:
    paths = ("", "version", "health", "props", "v1/models", "v1/internal/model/info", "models")
    answers = tuple(
        RecordedHttp(f"http://127.0.0.1:{port}/{path}", 200, body)
        for port in (5000, 8000, 8080, 4891, 12434, 30000)
        for path in paths
    )
    assert _one(module, FakeHost(http=answers)) is None


def test_a_process_without_an_answer_runs_and_tells_nothing() -> None:
    process = ProcessInfo(5, "gpt4all", "/opt/gpt4all/bin/chat", ("gpt4all",))
    runtime = _one(gpt4all, FakeHost(processes=(process,)))
    assert runtime is not None
    assert (runtime.is_running, runtime.port, runtime.source) == (True, None, "its process")


def test_finds_a_llamafile_in_a_chosen_folder() -> None:
    host = FakeHost(files={"/models/qwen.llamafile": ""})
    (runtime,) = llamafile.find(host, ("/models",))
    assert runtime.program("llamafile") == "/models/qwen.llamafile"


def test_writes_what_each_can_be_told() -> None:
    wish = LoadWish(LoadRequest(ngl=12, ctx=8192), "/models/a b.gguf", 33)
    assert vllm.setting(wish).startswith("vllm serve '/models/a b.gguf' --max-model-len 8192")
    assert "no setting for layers" in vllm.setting(wish)
    assert "--gpu-layers 12 --ctx-size 8192" in text_generation_webui.setting(wish)
    assert "GPU Layers: 12" in gpt4all.setting(wish)
    assert "-ngl 12 -c 8192" in llamafile.setting(wish)
    assert "--context-size 8192 MODEL -- --n-gpu-layers 12" in docker_models.setting(wish)
    assert "no GGUF" in tabby_api.setting(wish)
    assert "no GGUF" in mlx_lm.setting(wish)
    assert "--context-length 8192" in sglang.setting(wish)
    assert "no setting for layers" in sglang.setting(wish)


def test_odd_lists_of_models_are_empty() -> None:
    assert others.listed_models(b'{"data": 5}') == ()
