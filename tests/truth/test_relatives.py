"""The same floor for the architectures beside the first truth file, and their graphs' nodes."""

from collections.abc import Sequence

import pytest

from app.core.graph import reserve as reserving
from app.core.graph.net import Batch, Net
from app.core.graph.reserve import Job, Reserved, reserve
from app.core.placement import place, prepare
from app.core.units import MIB
from tests.truth import models
from tests.truth.check import Report, check
from tests.truth.rows import RELATIVES, Truth, read

_HUNDREDTH = 0.0101
# built by the function of a relative that was recorded
_NOT_RECORDED = {"gemma2", "mamba2", "nemotron_h_moe", "lfm2moe", "qwen35moe"}


@pytest.fixture(scope="module")
def truths() -> tuple[Truth, ...]:
    """Return all runs."""
    return tuple(read(RELATIVES))


@pytest.fixture(scope="module")
def report(truths: tuple[Truth, ...]) -> Report:
    """Compare all runs once."""
    return check(truths)


def test_each_graph_that_is_built_was_compared(truths: tuple[Truth, ...]) -> None:
    compared = {truth.arch for truth in (*truths, *read())}
    assert set(reserving._BUILDERS) - compared == _NOT_RECORDED


def test_every_row_agrees(report: Report) -> None:
    for what, at_least in (("weights", 1000), ("context", 1000), ("KV lines", 450)):
        count = report.kind(what)
        assert count.total >= at_least
        assert count.right == count.total, report.differences[:10]
    assert report.refusals.right == report.refusals.total == 1


def test_every_compute_buffer_is_within_a_mib_and_in_its_range(report: Report) -> None:
    errors = [error for found in report.compute.values() for error in found]
    assert len(errors) >= 900
    assert [error for error in errors if error.off > 1.01 or not error.is_in_range] == []


def test_graphs_have_the_nodes_that_llama_cpp_counts(
    truths: tuple[Truth, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # buffers to the MiB do not tell a norm or a scale too many, the number of nodes does
    counted: list[int] = []
    graphs = dict(reserving._BUILDERS)

    def counting(net: Net) -> None:
        graphs[net.shape.arch](net)
        counted.append(len(net.graph.nodes))

    def whole(job: Job, batches: Sequence[Batch]) -> tuple[Reserved, ...] | None:
        return reserve(job, batches, keeps_all=True)

    monkeypatch.setattr(reserving, "_BUILDERS", dict.fromkeys(graphs, counting))
    monkeypatch.setattr("app.core.compute_graph.reserve", whole)
    seen = set()
    for truth in truths:
        if truth.nodes is None or truth.model in seen or truth.devices != "cpu":
            continue
        seen.add(truth.model)
        counted.clear()
        reserving._answer.cache_clear()
        prepared = prepare(models.build(truth.model, truth.arch, truth.recipe, truth.params))
        placed = place(
            prepared, truth.device_list(), truth.host, truth.request(),
            dry_pass=True, build=truth.build,
        )  # fmt: skip
        assert truth.nodes in counted, (truth.model, truth.nodes, counted)
        ((_name, mib),) = truth.compute_mib
        assert abs(placed.rows[0].compute_bytes / MIB - mib) < _HUNDREDTH, truth.title
    reserving._answer.cache_clear()
    assert len(seen) == 40
