"""Measures r: generation with all layers on the device against all on the host."""

from dataclasses import dataclass, replace

from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.forecast import rate_of
from app.core.reading import Estimate
from app.core.request import LoadRequest, Tool
from app.core.slowdown import measured_ratio
from app.work.bench_runner import BenchPlan, BenchResult, measure, summary
from app.work.steps import Script, Steps

# more than any model has blocks: both builds of today and older ones take it as "all"
ALL_LAYERS = 999


@dataclass(frozen=True, slots=True)
class RatioResult:
    """r with its range, and the two runs it comes from, to be kept in the notebook."""

    r: Estimate
    host: BenchResult
    device: BenchResult

    @property
    def runs(self) -> tuple[BenchRun, ...]:
        """Return the rates of both ends."""
        return (*self.host.runs, *self.device.runs)


class RatioRun(Steps):
    """Runs llama-bench twice, short; done brings a RatioResult."""

    def start(self, plan: BenchPlan) -> None:
        """Measure both ends of a plan; its layers are set here, everything else stays."""
        self.run(self._measured(plan))

    def _measured(self, plan: BenchPlan) -> Script[RatioResult]:
        results = []
        # the host end first: it always fits, so a failure of the other one loses less
        for name, ngl in (("all layers on the host", 0), ("all layers on the device", ALL_LAYERS)):
            self.begin(f"Measuring with {name}")
            result = yield from measure(self, replace(plan, request=_with(plan.request, ngl)))
            self.end(summary(result.runs))
            results.append(result)
        host, device = results
        return RatioResult(ratio(host.runs, device.runs), host, device)


def ratio(host: tuple[BenchRun, ...], device: tuple[BenchRun, ...]) -> Estimate:
    """Return r of two runs; UserError when they do not give one."""
    slow, fast = _generation(host), _generation(device)
    if fast.setting("devices") == "none":
        raise UserError(
            "r could not be measured",
            "This llama-bench has no device, so both runs were on the processor.",
            "Choose the folder of a llama.cpp that lists your GPU.",
        )
    slow_rate, fast_rate = rate_of(slow), rate_of(fast)
    if slow_rate is None or fast_rate is None or slow_rate.low <= 0:
        raise UserError(
            "r could not be measured",
            "The runs vary so much that the interval of the slower one reaches 0.",
            "Close other programs and measure again with more repetitions.",
        )
    return measured_ratio(host=slow_rate, device=fast_rate)


def _generation(runs: tuple[BenchRun, ...]) -> BenchRun:
    for run in runs:
        if run.test is Test.GENERATION:
            return run
    raise UserError("r could not be measured", "The plan generates no tokens.")


def _with(request: LoadRequest, ngl: int) -> LoadRequest:
    return replace(
        request, tool=Tool.BENCH, ngl=ngl, n_cpu_moe=0, cpu_moe=False, n_cpu_ffn=0, overrides=()
    )
