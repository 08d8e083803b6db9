"""Every option in every command exists in llama.cpp build 11434."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.evidence import Evidence
from app.core.request import LoadRequest, SplitMode, Switch
from app.rules import command, load_failed
from tests.rules import made

DATA = Path(__file__).parent.parent / "data" / "rules"
FULL = LoadRequest(
    ngl=9, ctx=4096, cache_type_k="q8_0", cache_type_v="q8_0", flash_attn=Switch.ON, batch=512,
    ubatch=256, parallel=2, kv_offload=False, swa_full=True, device_ids=("Vulkan0",), main_gpu=1,
    split_mode=SplitMode.NONE, tensor_split=(3.0, 1.0), n_cpu_moe=2, cpu_moe=True, n_cpu_ffn=1,
    overrides=(("exps", "CPU"),), host_buffers=False, repack=False, op_offload=False,
    load_mode="none", fit_target_mib=512, fit_ctx=8192, threads=4,
)  # fmt: skip


def known_options(program: str) -> set[str]:
    """Return the options that the program takes, without removed and deprecated ones."""
    rows = (DATA / f"flags-{program}-11434.txt").read_text(encoding="utf-8").splitlines()
    fields = (row.split("\t") for row in rows if row and not row.startswith("#"))
    return {name for field in fields if field[-1] == "-" for name in field[1].split(",")}


def used_options(line: str) -> list[str]:
    """Return the options of a command line."""
    return [word for word in shlex.split(line)[1:] if word.startswith("-")]


@pytest.mark.parametrize("request_", [FULL, replace(FULL, use_devices=False, device_ids=())])
def test_server_knows_each_option_when_all_are_set(request_: LoadRequest) -> None:
    line = command.server(Evidence(request=request_))
    options = used_options(line)
    assert len(options) >= 25
    assert set(options) <= known_options("llama-server")


def test_server_takes_no_option_when_nothing_was_asked() -> None:
    assert command.server(Evidence()) == "llama-server -m MODEL.gguf"


def test_bench_knows_each_option() -> None:
    line = command.bench_ends(Evidence())
    assert set(used_options(line)) <= known_options("llama-bench")


def test_removed_options_are_answered_with_one_that_exists() -> None:
    known = known_options("llama-server")
    assert not set(load_failed.TODAY) & known
    assert {today.split()[0] for today in load_failed.TODAY.values()} <= known


def test_path_is_quoted_when_it_has_spaces() -> None:
    told = replace(made.story(), path="/my models/a b.gguf")
    line = command.server(made.seen(told))
    assert shlex.split(line) == ["llama-server", "-m", "/my models/a b.gguf"]
