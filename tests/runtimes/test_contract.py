"""What each runtime must do, on every machine: answer in time, never raise, write every load."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.runtimes
from app.core import plugins
from app.core.host import CommandResult, HttpAnswer, Listener, ProcessInfo
from app.core.probe import LoadWish, RuntimeProbe
from app.core.reading import State
from app.runtimes import models
from tests.hosts import FakeHost
from tests.runtimes.test_llama_argv import REQUESTS

RUNTIMES = plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe)
PLATFORMS = ("linux", "win32", "darwin")
_NAMES = (
    "llama-server", "llama-bench.exe", "bin", "build", "model.gguf", "models--a--b", "snapshots",
    "manifests", "blobs", "koboldcpp", "lms", "libggml-cuda.so", "model.yml",
    "x-00001-of-00002.gguf",
)  # fmt: skip
_PIECES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "", "GGUF", '{"status":"ok"}', '{"models":[null,1,{"name":null}]}', "[[[[",
            '{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"x"}]}',
            '{"default_generation_settings":[],"model_path":3,"build_info":"b99999999999-x"}',
            '{"version":"","result":"KoboldCpp"}', "Ollama is running", "version: x (build y)",
            "Available devices:\n  CUDA0: a (1 MiB, 2 MiB free)\n  : (1 MiB", "\0", "model_path: ",
            "²",
            '{"data":[{"id":1,"state":2,"compatibility_type":3}]}', '{"n":' + "9" * 5000 + "}",
        ]
    ),
)  # fmt: skip


class WildHost(FakeHost):
    """A machine where everything a runtime could look for is there and says anything."""

    def __init__(self, platform: str, texts: Sequence[str], seed: int) -> None:
        wild = random.Random(seed)
        names = ("llama-server", "LM Studio", "koboldcpp", "jan", "python3")
        argv = tuple(wild.sample(("--port", "70000", "12", "--port=²", "koboldcpp.py"), 3))
        processes = tuple(
            ProcessInfo(n, name, wild.choice([None, f"/opt/{name}"]), argv)
            for n, name in enumerate(names)
        )
        listeners = (Listener("::1", wild.choice([8080, 11434]), None),)
        super().__init__(
            platform=platform,
            processes=processes,
            listeners=wild.choice([(), listeners]),
            env={"LOCALAPPDATA": wild.choice(texts), "OLLAMA_HOST": wild.choice(texts)},
        )
        self._wild = wild
        self._texts = texts

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return anything."""
        return self._wild.choice([None, *self._texts])

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return some of the names that lead on, not without end."""
        if len(path) > 150:
            return ()
        return tuple(sorted(self._wild.sample(_NAMES, self._wild.randrange(4))))

    def is_file(self, path: str) -> bool:
        """Say anything."""
        return self._wild.random() < 0.5

    def file_bytes(self, path: str) -> int | None:
        """Say anything."""
        return self._wild.choice([None, 0, 1 << 40])

    def read_start(self, path: str, n_bytes: int) -> bytes:
        """Say anything."""
        return self._wild.choice(self._texts).encode("utf-8", "replace")[:n_bytes]

    def which(self, name: str) -> str | None:
        """Find every program."""
        return f"/usr/bin/{name}"

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Print anything."""
        out, err = self._wild.choice(self._texts), self._wild.choice(self._texts)
        return CommandResult(tuple(argv), self._wild.choice(list(State)), 1, out, err, "why")

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """Answer anything."""
        body = self._wild.choice(self._texts).encode("utf-8", "replace")
        status = self._wild.choice([None, 200, 401, 404, 503])
        return HttpAnswer(status, body, "why", self._wild.choice(["", "llama.cpp"]))


_WILD = {
    "texts": st.lists(_PIECES, min_size=1, max_size=6),
    "seed": st.integers(0, 1 << 32),
}


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.id)
@given(**_WILD)
@settings(max_examples=60, deadline=None)
def test_never_raises_whatever_the_machine_says(
    runtime: RuntimeProbe, texts: list[str], seed: int
) -> None:
    for platform in PLATFORMS:
        for found in runtime.find(WildHost(platform, texts, seed), ("/chosen", "")):
            assert found.id == runtime.id
            assert found.title and found.source


@given(**_WILD)
@settings(max_examples=60, deadline=None)
def test_never_raises_while_it_looks_for_models(texts: list[str], seed: int) -> None:
    for platform in PLATFORMS:
        found = models.find_models(WildHost(platform, texts, seed), ("/chosen",))
        paths = [model.path for model in found.models]
        assert len(paths) == len(set(paths))


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.id)
def test_stays_within_its_time_when_everything_hangs(runtime: RuntimeProbe) -> None:
    processes = tuple(ProcessInfo(n, "llama-server", None, ("--port", f"{n}")) for n in range(1, 9))
    folders = tuple(f"/opt/{name}" for name in "abcd")
    files = {f"{folder}/llama-server": "" for folder in folders}
    for platform in PLATFORMS:
        host = FakeHost(platform=platform, processes=processes, files=files, hangs=True)
        runtime.find(host, folders)
        assert host.elapsed_s <= runtime.time_limit_s


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.id)
@given(request=REQUESTS)
@settings(max_examples=40, deadline=None)
def test_writes_every_load_as_text(runtime: RuntimeProbe, request: object) -> None:
    wish = LoadWish(request, "/models/a b.gguf", layers_total=19)  # type: ignore[arg-type] # hypothesis gives no type
    text = runtime.setting(wish)
    assert text.strip()
    assert "None" not in text


def test_finds_all_the_runtimes() -> None:
    ids = {runtime.id for runtime in RUNTIMES}
    assert ids == {
        "llama.cpp", "ollama", "lm-studio", "koboldcpp", "jan", "gpt4all", "vllm", "tabby-api",
        "text-generation-webui", "llamafile", "docker-model-runner", "sglang", "mlx-lm",
    }  # fmt: skip
