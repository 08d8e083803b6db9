"""Models on this computer: each file once, by its content, with its owner's name for it."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.machine import FoundModel
from app.runtimes import gguf_head, models, ollama_store
from tests.hosts import FakeHost, sample

HUB = "/home/user/.cache/huggingface/hub"
STORE = "/home/user/.ollama/models"
DIGEST = "e7b273f9636059a689e3ddcab3716e4f65abe0143ac978e46673ad0e52d09efb"
MANIFEST = sample("ollama-manifest-gpt-oss.json")
LIBRARY = f"{STORE}/manifests/registry.ollama.ai/library"


def _find(files: dict[str, str], *folders: str, **changes: Any) -> models.Found:
    return models.find_models(FakeHost(files=files, **changes), folders)


def _titles(found: models.Found) -> list[tuple[str, str]]:
    return [(model.title, model.source) for model in found.models]


def test_names_a_model_of_ollama_and_finds_its_blob() -> None:
    blob = f"{STORE}/blobs/sha256-{DIGEST}"
    found = _find({f"{LIBRARY}/gpt-oss/20b": MANIFEST, blob: "GGUF1234"})
    assert found.models == (FoundModel(blob, "gpt-oss:20b", 8, "Ollama"),)
    assert found.notes == ()


def test_finds_a_blob_with_the_older_name_and_another_server() -> None:
    path = f"{STORE}/manifests/hf.co/bartowski/gemma-GGUF/Q4_K_M"
    found = _find({path: MANIFEST, f"{STORE}/blobs/sha256:{DIGEST}": "GGUF"})
    assert _titles(found) == [("hf.co/bartowski/gemma-GGUF:Q4_K_M", "Ollama")]


def test_follows_the_newer_layout_of_manifests() -> None:
    path = f"{STORE}/manifest-v2/ollama.com/library/gpt-oss/20b"
    found = _find({path: MANIFEST, f"{STORE}/blobs/sha256-{DIGEST}": "GGUF"})
    assert _titles(found) == [("gpt-oss:20b", "Ollama")]


@pytest.mark.parametrize(
    ("manifest", "word"),
    [
        (MANIFEST, "missing from the store"),
        (MANIFEST.replace("image.model", "image.tensor"), "not as a GGUF"),
        (MANIFEST.replace(DIGEST, "../../../etc/passwd"), "no valid digest"),
        ('{"layers": []}', "names no model file"),
        ("<html>", "not readable"),
        ("", "not readable"),
    ],
)
def test_says_why_a_model_of_ollama_is_not_listed(manifest: str, word: str) -> None:
    found = _find({f"{LIBRARY}/gpt-oss/20b": manifest})
    assert found.models == ()
    assert len(found.notes) == 1 and word in found.notes[0]
    assert found.notes[0].startswith("Ollama gpt-oss:20b: ")


def test_lists_a_hub_file_once_although_it_is_a_link() -> None:
    root = f"{HUB}/models--ggml-org--gemma-3-270m-GGUF"
    first = f"{root}/snapshots/aaa/gemma.gguf"
    second = f"{root}/snapshots/bbb/gemma.gguf"
    blob = f"{root}/blobs/0123"
    files = {first: "GGUF12", second: "GGUF12", blob: "GGUF12", f"{root}/blobs/9.incomplete": "GG"}
    found = _find(files, links={first: blob, second: blob})
    assert _titles(found) == [("ggml-org/gemma-3-270m-GGUF/gemma.gguf", "Hugging Face cache")]
    # without links (Windows without developer mode) they are two files
    assert len(_find(files).models) == 2


@pytest.mark.parametrize(
    ("env", "hub"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HF_HOME": "/b"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
        ({"LLAMA_CACHE": "/d"}, "/d"),
        ({}, HUB),
    ],
)
def test_looks_where_the_variables_point(env: dict[str, str], hub: str) -> None:
    files = {f"{hub}/models--o--r/snapshots/c/m.gguf": "GGUF"}
    assert [model.title for model in _find(files, env=env).models] == ["o/r/m.gguf"]


def test_joins_the_parts_of_a_split_model() -> None:
    folder = "/home/user/.lmstudio/models/pub/repo"
    files = {f"{folder}/big-0000{n}-of-00003.gguf": "GGUF" + "x" * n for n in (1, 2, 3)}
    (model,) = _find(files).models
    assert model.path.endswith("big-00001-of-00003.gguf")
    assert (model.n_parts, model.n_bytes) == (3, 18)
    assert model.source == "LM Studio"


def test_marks_a_projector() -> None:
    folder = "/home/user/.lmstudio/models/pub/repo"
    files = {f"{folder}/mmproj-model-f16.gguf": "GGUF", f"{folder}/model.gguf": "GGUF"}
    assert [model.is_projector for model in _find(files).models] == [True, False]


def test_reads_lm_studios_own_downloads_folder() -> None:
    files = {
        "/home/user/.lmstudio/settings.json": '{"downloadsFolder": "/data/lm"}',
        "/data/lm/pub/repo/a.gguf": "GGUF",
    }
    assert _titles(_find(files)) == [("pub/repo/a.gguf", "LM Studio")]


def test_reads_jans_models_relative_and_absolute() -> None:
    data = "/home/user/.local/share/Jan/data"
    files = {
        f"{data}/llamacpp/models/gemma/model.yml": (
            "name: g\nmodel_path: llamacpp/models/gemma/m.gguf\n"
        ),
        f"{data}/llamacpp/models/gemma/m.gguf": "GGUF",
        f"{data}/llamacpp/models/owner/phi/model.yml": "model_path: '/data/phi.gguf'\n",
        "/data/phi.gguf": "GGUF",
    }
    assert _titles(_find(files)) == [("gemma", "Jan"), ("owner/phi", "Jan")]


def test_looks_at_the_content_and_not_only_at_the_name() -> None:
    folder = "/home/user/.local/share/nomic.ai/GPT4All"
    files = {f"{folder}/a.gguf": "GGUF", f"{folder}/pointer.gguf": "version https://git-lfs"}
    assert _titles(_find(files)) == [("a.gguf", "GPT4All")]


def test_searches_a_chosen_folder_some_levels_deep() -> None:
    files = {
        "/m/Qwen2.5-7B/q4.gguf": "GGUF",
        "/m/a/b/c/d/deep.gguf": "GGUF",
        "/m/a/b/c/d/e/too-deep.gguf": "GGUF",
        "/m/.hidden/x.gguf": "GGUF",
        "/m/half.gguf.part": "GGUF",
    }
    titles = {title for title, _ in _titles(_find(files, "/m"))}
    assert titles == {"Qwen2.5-7B/q4.gguf", "a/b/c/d/deep.gguf"}


def test_stops_when_asked_to() -> None:
    class Stopped(Exception):
        """Raised by the cancelled work."""

    class Cancel:
        """A flag that is already set."""

        def check(self) -> None:
            """Stop at once."""
            raise Stopped

    with pytest.raises(Stopped):
        models.find_models(FakeHost(files={"/m/a.gguf": "GGUF"}), ("/m",), Cancel())


def test_finds_windows_models_by_their_variables() -> None:
    path = "C:\\Users\\user\\AppData\\Local\\nomic.ai\\GPT4All\\a.gguf"
    env = {"LOCALAPPDATA": "C:\\Users\\user\\AppData\\Local"}
    found = _find({path: "GGUF"}, platform="win32", home="C:\\Users\\user", env=env)
    assert [model.path for model in found.models] == [path]


def test_looks_into_the_folders_of_the_service() -> None:
    assert "/usr/share/ollama/.ollama/models" in ollama_store.stores(FakeHost())
    given = ollama_store.stores(FakeHost(env={"OLLAMA_MODELS": "/data/o"}))
    assert given[0] == "/data/o"


def _head(arch: str) -> str:
    """Return the first bytes of a GGUF file as a text that keeps each byte."""
    key, value = b"general.architecture", arch.encode()
    data = b"GGUF\x03\0\0\0" + b"\x01" + b"\0" * 15 + bytes([len(key)]) + b"\0" * 7 + key
    data += b"\x08\0\0\0" + bytes([len(value)]) + b"\0" * 7 + value
    return data.decode("latin-1")


def test_tells_a_projector_and_a_draft_by_their_first_bytes() -> None:
    folder = "/home/user/.lmstudio/models/pub/repo"
    files = {
        f"{folder}/eyes.gguf": _head("clip"),
        f"{folder}/guess.gguf": _head("eagle3"),
        f"{folder}/big-draft.gguf": _head("qwen2"),
        f"{folder}/draughts.gguf": _head("qwen2"),
    }
    found = {model.title.rpartition("/")[2]: model for model in _find(files).models}
    assert [name for name, model in found.items() if model.is_projector] == ["eyes.gguf"]
    drafts = [name for name, model in found.items() if model.is_draft]
    assert sorted(drafts) == ["big-draft.gguf", "guess.gguf"]


def test_a_split_model_that_lacks_a_part_says_so() -> None:
    folder = "/home/user/.lmstudio/models/pub/repo"
    files = {f"{folder}/big-0000{n}-of-00003.gguf": "GGUF" for n in (1, 3)}
    (model,) = _find(files).models
    assert (model.n_parts, model.n_parts_expected) == (2, 3)


def test_names_the_models_of_docker_by_their_tags() -> None:
    store, digest = "/home/user/.docker/models", "ab" * 32
    index = {
        "models": [
            {"id": "sha256:1", "tags": ["ai/smollm2:latest"], "files": [f"sha256:{digest}", 3]},
            {"tags": None, "files": "x"}, 7,
        ]
    }  # fmt: skip
    files = {f"{store}/models.json": json.dumps(index), f"{store}/blobs/sha256/{digest}": "GGUF"}
    assert _titles(_find(files)) == [("ai/smollm2:latest", "Docker Model Runner")]


@given(st.binary(max_size=300))
def test_any_first_bytes_tell_an_architecture_or_none(data: bytes) -> None:
    assert len(gguf_head.architecture(data)) <= 64
    assert len(gguf_head.architecture(b"general.architecture" + data)) <= 64


def test_tens_of_thousands_of_files_are_read_in_time_and_stopped_at_a_limit() -> None:
    folder = "/home/user/.lmstudio/models/pub/repo"
    host = FakeHost(files={f"{folder}/m{n:05}.gguf": "GGUF" for n in range(6000)})
    started = time.process_time()
    found = models.find_models(host)
    assert time.process_time() - started < 10
    assert len(found.models) == 5000
    assert "More than 5,000 files" in found.notes[0]
