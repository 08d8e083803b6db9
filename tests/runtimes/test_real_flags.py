"""Every option that a runtime hands to its llama-server is one that the real one knows."""

import shlex
from pathlib import Path

import pytest

from app.core.probe import LoadWish
from app.core.request import LoadRequest, SplitMode, Switch
from app.probes.host import RealHost
from app.runtimes import docker_models, llama_cpp, llamafile, text_generation_webui

pytestmark = pytest.mark.real

FULL = LoadRequest(
    ngl=9,
    ctx=4096,
    cache_type_k="q8_0",
    cache_type_v="q8_0",
    flash_attn=Switch.ON,
    batch=256,
    ubatch=128,
    parallel=2,
    kv_offload=False,
    swa_full=True,
    device_ids=("CPU",),
    main_gpu=1,
    split_mode=SplitMode.ROW,
    tensor_split=(3, 1),
    n_cpu_moe=4,
    overrides=(("ffn_up", "CPU"),),
    host_buffers=False,
    repack=False,
    op_offload=False,
    load_mode="none",
    fit_target_mib=512,
    fit_ctx=2048,
    threads=1,
    projector_path="/models/mmproj.gguf",
    projector_offload=False,
    draft_path="/models/draft.gguf",
)
WISHES = (
    LoadWish(FULL, "/models/gemma.gguf", layers_total=37),
    LoadWish(LoadRequest(use_devices=False, cpu_moe=True, fit_targets_mib=(1, 2)), "m.gguf"),
    LoadWish(LoadRequest(n_cpu_ffn=2, load_mode="mlock"), "m.gguf", layers_total=37),
)
_OWN_OF_LLAMAFILE = {"--server", "--gpu"}  # its own, of no llama.cpp


@pytest.fixture
def known(llama_bin: Path) -> set[str]:
    flags = llama_cpp.read_flags(RealHost(), str(llama_bin / "llama-server"))
    return {name for flag in flags for name in flag.names}


def _names(words: list[str]) -> set[str]:
    return {word for word in words if word.startswith("-") and not word[1:2].isdigit()}


def _words(text: str) -> list[str]:
    return shlex.split(text, comments=True)


@pytest.mark.parametrize("wish", WISHES)
def test_llama_cpp_knows_each_option(known: set[str], wish: LoadWish) -> None:
    found = _names(_words(llama_cpp.RUNTIME.setting(wish)))
    assert found and found <= known


@pytest.mark.parametrize("wish", WISHES[:2])
def test_docker_hands_on_what_its_llama_server_knows(known: set[str], wish: LoadWish) -> None:
    configure = _words(docker_models.RUNTIME.setting(wish).splitlines()[0])
    found = _names(configure[configure.index("--") + 1 :])
    assert found == {"--n-gpu-layers"}
    assert found <= known


@pytest.mark.parametrize("wish", WISHES)
def test_llamafile_knows_each_option(known: set[str], wish: LoadWish) -> None:
    found = _names(_words(llamafile.RUNTIME.setting(wish)))
    assert found and found <= known | _OWN_OF_LLAMAFILE


def test_the_web_interface_hands_on_what_its_llama_server_knows(known: set[str]) -> None:
    words = _words(text_generation_webui.RUNTIME.setting(WISHES[0]))
    extra = words[words.index("--extra-flags") + 1].split(",")
    # it puts "--" before each (modules/llama_cpp_server.py, 4.0)
    found = {f"--{one.partition('=')[0]}" for one in extra}
    assert found <= known
