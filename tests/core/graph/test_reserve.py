"""The worst-case graph: shortened runs of blocks, what a dry pass forgets, flash attention."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.core import placement
from app.core.graph import reserve as reserving
from app.core.graph.lookup import few
from app.core.graph.net import Batch
from app.core.graph.reserve import Job, Reserved, reserve
from app.core.placement import prepare
from app.core.request import LoadRequest, Switch
from app.core.units import MIB
from tests.truth import models
from tests.truth.rows import RELATIVES, Truth, read

# of each architecture and kind of devices so many rows are built with every block
EACH = 1


def _rows() -> list[Truth]:
    counts: dict[tuple[str, str], int] = {}
    found = []
    for truth in (*read(), *read(RELATIVES)):
        key = (truth.arch, truth.devices)
        if truth.is_fit or truth.status or counts.get(key, 0) == EACH:
            continue
        counts[key] = counts.get(key, 0) + 1
        found.append(truth)
    return found


def test_needs_no_more_blocks_than_it_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[tuple[Job, Sequence[Batch], tuple[Reserved, ...] | None]] = []

    def noted(job: Job, batches: Sequence[Batch]) -> tuple[Reserved, ...] | None:
        answer = reserve(job, batches)
        jobs.append((job, batches, answer))
        return answer

    monkeypatch.setattr("app.core.compute_graph.reserve", noted)
    for truth in _rows():
        prepared = prepare(models.build(truth.model, truth.arch, truth.recipe, truth.params))
        _place(prepared, truth, truth.request())
    assert len(jobs) > 150
    for job, batches, answer in jobs:
        assert reserve(job, batches, keeps_all=True) == answer, (job.shape.arch, batches)


def test_keeps_few_of_many_equal_blocks() -> None:
    assert few("a" * 94) == tuple(range(4))
    assert few("a" * 93) == tuple(range(5))  # an even number goes
    assert few("aab" * 10 + "c") == (*range(12), 30)
    assert few("abcd") == (0, 1, 2, 3)


def test_an_unknown_architecture_is_not_built() -> None:
    assert reserving.is_known("llama")
    assert not reserving.is_known("rwkv7")


def _place(
    prepared: placement.Prepared, truth: Truth, request: LoadRequest, *, dry_pass: bool = True
) -> placement.Placement:
    return placement.place(
        prepared, truth.device_list(), truth.host, request, dry_pass=dry_pass, build=truth.build
    )


def test_a_load_binds_norms_to_their_layer_and_a_dry_pass_does_not() -> None:
    # llama.cpp 11434 on two RPC servers: the dry pass copies a norm and its input to the second
    # device (354.55 MiB), the load only the input
    truth = next(
        t for t in read()
        if t.model == "llama-3.1-8b" and t.devices == "rpc x2" and "-ngl" in t.flags
        and t.tool == "llama-fit-params" and t.flags[t.flags.index("-ngl") + 1] == "-1"
    )  # fmt: skip
    prepared = prepare(models.build(truth.model, truth.arch, truth.recipe, truth.params))
    dry = _place(prepared, truth, truth.request()).row("RPC1")
    real = _place(prepared, truth, truth.request(), dry_pass=False).row("RPC1")
    assert dry is not None
    assert real is not None
    one_input = 4 * 512 * 4096
    assert dry.compute_bytes - real.compute_bytes == 4 * one_input
    assert dry.compute_bytes // MIB == 354


def test_flash_attention_auto_goes_off_where_a_hybrid_keeps_its_cache_on_the_host() -> None:
    truth = next(
        t for t in read() if t.model == "lfm2-1.2b" and t.devices == "rpc x1" and "-nkvo" in t.flags
        and t.tool == "llama-server"
    )  # fmt: skip
    prepared = prepare(models.build(truth.model, truth.arch, truth.recipe, truth.params))
    auto = _place(prepared, truth, truth.request()).total(is_host=True).compute_bytes
    forced = replace(truth.request(), flash_attn=Switch.ON)
    on = _place(prepared, truth, forced).total(is_host=True).compute_bytes
    assert auto // MIB == 556
    assert auto - on > 500 * MIB  # the scores of 8,192 cells
