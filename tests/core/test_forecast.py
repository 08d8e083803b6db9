"""The forecast: f of what happened, r of two measured ends, and a reason where a figure lacks."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.forecast import forecast, happened, measured_r, rate_of
from app.core.log import Fact, LoadStory, LogEvent, LogSummary
from app.core.machine import Device, DeviceKind, Machine
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest, SplitMode
from app.core.units import GIB
from tests.core.small_models import llama, mixture

CARD = Device("CUDA0", DeviceKind.CUDA, "card", 24 * GIB, 20 * GIB, "list")
R = Estimate.typed(8.0)


def run(tps: float, ngl: int, **more: str) -> BenchRun:
    """Return a generation rate with a narrow interval."""
    settings = (("n_gpu_layers", str(ngl)), *more.items())
    return BenchRun(Test.GENERATION, 128, (tps, tps * 1.01, tps * 0.99), "llama-bench", settings)


def log(**told: object) -> LogSummary:
    """Return a log with one load."""
    return LogSummary("log", 1, loads=(LoadStory(**told),))  # type: ignore[arg-type]


def evidence(**told: object) -> Evidence:
    """Return evidence of a load on the card."""
    request = LoadRequest(ngl=5, ctx=4096)
    return Evidence(model=llama(), machine=Machine(devices=(CARD,)), log=log(**told),
                    request=request)  # fmt: skip


def test_everything_on_the_host_costs_r_when_nothing_is_on_the_device() -> None:
    seen = evidence(weights_on_device=False, offload_line=(5, 5), n_ctx=4096)
    found = forecast(seen, R)
    assert found.f == 1.0
    assert found.prediction.slowdown is not None
    assert found.prediction.slowdown.value == pytest.approx(8.0)


def test_share_follows_the_layers_that_were_given_when_more_were_asked() -> None:
    found = forecast(evidence(weights_on_device=True, offload_line=(3, 5), n_ctx=4096), R)
    assert found.placement is not None and found.placement.ngl == 3
    assert found.f == pytest.approx(0.5, abs=0.01)
    assert found.prediction.slowdown is not None
    share = 0.75 * 0.5 + 0.25 * 2 / 5  # bytes, and two of five layers
    assert found.prediction.slowdown.value == pytest.approx(1 + 7 * share, rel=0.02)


def test_request_takes_context_and_types_from_the_log() -> None:
    story = {"weights_on_device": True, "offload_line": (3, 5), "n_ctx": 2048}
    given = happened(evidence(**story, cache_type_k="q8_0", cache_type_v="q8_0"))
    assert (given.ngl, given.ctx, given.cache_type_k, given.cache_type_v) == (
        3, 2048, "q8_0", "q8_0",
    )  # fmt: skip


def test_r_comes_from_both_ends_when_they_were_measured() -> None:
    found = measured_r((run(40.0, 99), run(5.0, 0)), layers_total=5)
    assert found is not None
    assert found.value == pytest.approx(8.0)
    assert found.low < 8.0 < found.high
    with_device_none = measured_r((run(40.0, -1), run(5.0, 99, devices="none")), layers_total=5)
    assert with_device_none is not None and with_device_none.value == pytest.approx(8.0)


@pytest.mark.parametrize(
    "runs",
    [
        (),
        (run(40.0, 99),),
        (run(40.0, 99), run(5.0, 2)),
        (run(40.0, 99), replace(run(5.0, 0), busy="others compute")),
        (run(40.0, 99), replace(run(5.0, 0), samples_tps=(5.0,))),
        (run(40.0, 99), replace(run(5.0, 0), test=Test.PROMPT)),
    ],
)
def test_r_is_unknown_when_an_end_is_missing(runs: tuple[BenchRun, ...]) -> None:
    assert measured_r(runs, layers_total=5) is None


def test_reason_is_given_when_a_part_is_missing() -> None:
    assert "no model file" in forecast(Evidence()).prediction.reason
    assert "r is not known" in forecast(evidence(weights_on_device=False)).prediction.reason
    no_machine = replace(evidence(weights_on_device=True), machine=None)
    assert "no device" in forecast(no_machine).prediction.reason
    odd = replace(evidence(), model=replace(llama(), keys={}, tensors=()))
    assert forecast(odd, R).prediction.reason


def test_rate_has_no_interval_when_there_is_one_sample() -> None:
    assert rate_of(replace(run(5.0, 0), samples_tps=(5.0,))) is None
    rate = rate_of(run(5.0, 0))
    assert rate is not None and rate.low < 5.0 < rate.high


def _with_rates(seen: Evidence) -> Evidence:
    """Return the evidence with a card of 1008 GB/s and memory of 76.8 GB/s."""
    told = (
        facts.known("device.CUDA0.bandwidth", 1_008_000_000_000, source="table", unit="bytes/s"),
        facts.known("memory.bandwidth", 76_800_000_000, source="modules", unit="bytes/s"),
    )
    assert seen.machine is not None
    return replace(seen, machine=replace(seen.machine, facts=told))


def test_r_comes_from_bandwidths_where_nothing_was_measured_and_says_so() -> None:
    seen = _with_rates(evidence(weights_on_device=True, offload_line=(3, 5), n_ctx=4096))
    found = forecast(seen)
    assert found.r is not None and found.r.kind is Kind.TABLE
    # 1.08 x 1008 / 76.8, 0.75 to 1.35 around it (slowdown.md section 5)
    assert found.r.value == pytest.approx(14.175)
    assert "CUDA0" in found.r.source and "modules" in found.r.source
    slowdown = found.prediction.slowdown
    assert slowdown is not None and "bandwidth of CUDA0" in slowdown.source
    # the whole range of r is carried through S
    assert slowdown.low <= 0.5 + 0.5 * 14.175 * 0.75 * 1.02
    assert slowdown.high >= 0.5 + 0.5 * 14.175 * 1.35 * 0.98


def test_a_load_without_the_card_is_counted_from_all_of_it_there() -> None:
    seen = _with_rates(evidence(weights_on_device=False, offload_line=(5, 5), n_ctx=4096))
    found = forecast(seen)
    assert found.f == 1.0 and found.r is not None
    assert found.prediction.slowdown is not None
    assert found.prediction.slowdown.value == pytest.approx(14.175)


def test_what_is_typed_or_measured_comes_before_tables() -> None:
    seen = _with_rates(evidence(weights_on_device=True, offload_line=(3, 5), n_ctx=4096))
    assert forecast(seen, R).r == R
    measured = replace(seen, runs=(run(10, 0), run(80, 5)))
    found = forecast(measured).r
    assert found is not None and found.kind is Kind.MEASURED


def fitted_mixture() -> Evidence:
    """Return a load of 3.6 GiB whose card has 4 GiB: the fit keeps all layers and moves experts."""
    card = replace(CARD, total_bytes=4 * GIB, free_bytes=4 * GIB)
    short = LogEvent(Fact.FIT_SHORT, 7, "cannot meet free memory target", {})
    story = LoadStory(weights_on_device=True, offload_line=(5, 5), n_ctx=4096, events=(short,))
    return Evidence(
        model=mixture(), machine=Machine(devices=(card,)), request=LoadRequest(ctx=4096),
        log=LogSummary("log", 9, loads=(story,)),
    )  # fmt: skip


def test_counts_the_experts_that_the_fit_left_on_the_host() -> None:
    seen = fitted_mixture()
    found = forecast(seen, R)
    assert happened(seen).overrides
    assert found.placement is not None and found.f is not None and 0.05 < found.f < 0.6
    # a number of layers switches the fit off, so nothing else was moved
    by_hand = replace(seen, request=LoadRequest(ctx=4096, ngl=5))
    assert not happened(by_hand).overrides


def test_devices_that_were_named_but_not_used_are_no_error() -> None:
    seen = _with_rates(evidence(weights_on_device=False, offload_line=(5, 5), n_ctx=4096))
    odd = LoadRequest(ctx=4096, use_devices=False, device_ids=("CUDA9",), split_mode=SplitMode.ROW)
    for log_of_it in (seen.log, None):
        found = forecast(replace(seen, request=odd, log=log_of_it))
        assert found.f == 1.0 and found.r is not None


def test_a_run_with_experts_on_the_host_is_no_device_end() -> None:
    whole, host = run(60.0, 99), run(6.0, 0)
    moved = run(20.0, 99, n_cpu_moe="4"), run(20.0, 99, tensor_buft_overrides="exps=CPU")
    for one in moved:
        found = measured_r((host, whole, one), 5)
        assert found is not None and found.value == pytest.approx(10.0, rel=0.01)
        assert measured_r((host, one), 5) is None


def test_takes_no_r_from_an_end_that_the_device_does_not_hold_whole() -> None:
    runs = (run(6.0, 0), run(60.0, 99), run(20.0, 3))
    seen = replace(evidence(weights_on_device=True, offload_line=(3, 5), n_ctx=4096), runs=runs)
    assert forecast(seen).r is not None
    # matrices of 512 MiB that this device cannot take stay in system memory
    narrow = replace(CARD, kind=DeviceKind.VULKAN, id="Vulkan0", max_buffer_bytes=100 << 20)
    refused = replace(seen, machine=Machine(devices=(narrow,)))
    assert forecast(refused).r is None
    slower = replace(refused, runs=(run(60.0, 0), run(6.0, 99), run(20.0, 3)))
    assert forecast(slower).r is not None  # slower with part of it: slower still with all
