"""Options of a load: the same words for planning and for running."""

from argparse import ArgumentParser

import pytest

from app.cli.load_options import (
    add_load_options,
    add_run_options,
    add_server_options,
    run_request_of,
)
from app.core.request import LoadRequest, Switch, Tool


def _request(*words: str) -> LoadRequest:
    parser = ArgumentParser(exit_on_error=False)
    add_load_options(parser)
    add_server_options(parser)
    add_run_options(parser)
    return run_request_of(parser.parse_args(words), Tool.SERVER)


def test_asks_for_nothing_without_options() -> None:
    assert _request() == LoadRequest()


def test_reads_what_a_run_is_told() -> None:
    request = _request(
        "--ngl", "9", "--threads", "2", "--cache-type-k", "q8_0", "--no-kv-offload",
        "--flash-attn", "off", "--batch", "64", "--ubatch", "32", "--fit-target", "512",
        "--parallel", "1", "--swa-full",
    )  # fmt: skip
    assert request == LoadRequest(
        ngl=9, threads=2, cache_type_k="q8_0", kv_offload=False, flash_attn=Switch.OFF, batch=64,
        ubatch=32, fit_target_mib=512, parallel=1, swa_full=True,
    )  # fmt: skip


def test_takes_devices_by_name_or_none_at_all() -> None:
    assert _request("--device", "none") == LoadRequest(use_devices=False)
    assert _request("--device", "CUDA0,Vulkan1").device_ids == ("CUDA0", "Vulkan1")


@pytest.mark.parametrize("wrong", ["", "CUDA0,", "none,CUDA0"])
def test_refuses_a_device_list_that_says_two_things(wrong: str) -> None:
    with pytest.raises(Exception, match=r"device|alone"):
        _request("--device", wrong)


def test_tells_programs_a_number_instead_of_all() -> None:
    assert _request("--ngl", "all").ngl == 999
    assert _request("--ngl", "auto").ngl == -1
