"""Plans every run of the truth file and compares it, row by row."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from app.core import fit as fitting
from app.core.errors import UserError
from app.core.placement import HOST_ROW, Placement, Prepared, place, prepare
from app.core.units import MIB
from tests.truth import models
from tests.truth.rows import Said, Truth

_KV_MIB = 0.011
_RPC_BUFFER = re.compile(r"(RPC\d)\[127\.0\.0\.1:(\d+)\]")


@dataclass(slots=True)
class Count:
    """How many of a kind agree."""

    right: int = 0
    total: int = 0

    def add(self, is_right: bool) -> None:
        """Count one."""
        self.right += is_right
        self.total += 1


@dataclass(frozen=True, slots=True)
class ComputeError:
    """One compute buffer in MiB: what was said, and what was calculated with its range."""

    said: int
    value: float
    low: float
    high: float

    @property
    def off(self) -> float:
        """Return how far the figure is off; what was said is truncated."""
        return abs(self.value - self.said)

    @property
    def share(self) -> float:
        """Return the error over what was said."""
        return self.off / max(self.said, 1)

    @property
    def is_in_range(self) -> bool:
        """Tell whether the range holds what was said, to the MiB."""
        return self.low - 1 <= self.said <= self.high + 1


@dataclass(slots=True)
class Report:
    """What the comparison found."""

    rows: dict[tuple[str, str, str], Count] = field(default_factory=dict)
    compute: dict[tuple[str, str, str], list[ComputeError]] = field(default_factory=dict)
    refusals: Count = field(default_factory=Count)
    fits: Count = field(default_factory=Count)
    differences: list[str] = field(default_factory=list)
    runs: int = 0

    def kind(self, what: str) -> Count:
        """Return the count over all architectures of weights, context or KV lines."""
        chosen = [count for (_arch, _devices, kind), count in self.rows.items() if kind == what]
        return Count(sum(c.right for c in chosen), sum(c.total for c in chosen))


def check(truths: Iterable[Truth]) -> Report:
    """Compare all runs; every one of them counts somewhere."""
    report = Report()
    prepared: dict[str, Prepared] = {}
    for truth in truths:
        if truth.model not in prepared:
            model = models.build(truth.model, truth.arch, truth.recipe, truth.params)
            prepared[truth.model] = prepare(model)
        report.runs += 1
        if truth.is_fit:
            _check_fit(truth, prepared[truth.model], report)
        elif truth.status:
            _check_refusal(truth, prepared[truth.model], report)
        else:
            _check_rows(truth, prepared[truth.model], report)
    return report


def _place(truth: Truth, prepared: Prepared) -> Placement:
    return place(
        prepared,
        truth.device_list(),
        truth.host,
        truth.request(),
        dry_pass=True,
        build=truth.build,
    )


def _check_rows(truth: Truth, prepared: Prepared, report: Report) -> None:
    placed = _place(truth, prepared)
    ours = {row.buffer: row for row in placed.rows}
    for said in truth.said:
        row = ours.get(said.buffer)
        for what, printed, counted in (
            ("weights", said.model, row.weights_bytes if row else 0),
            ("context", said.context, row.context_bytes if row else 0),
        ):
            is_right = abs(counted // MIB - printed) <= 1
            _count(report, truth, what).add(is_right)
            if not is_right:
                report.differences.append(
                    f"{truth.title}: {said.buffer} {what} {printed} MiB, not {counted / MIB:.2f}"
                )
        if row is not None and (said.free is not None or said.buffer == HOST_ROW):
            key = (truth.tool, placement_of(truth, placed), "host" if row.is_host else "device")
            sizes = (row.compute_bytes, row.compute_low_bytes, row.compute_high_bytes)
            error = ComputeError(said.compute, *(size / MIB for size in sizes))
            report.compute.setdefault(key, []).append(error)
    _check_unsaid(truth, placed, truth.said, report)
    _check_kv(truth, placed, report)


def _check_unsaid(truth: Truth, placed: Placement, said: tuple[Said, ...], report: Report) -> None:
    """Count rows that we have and llama.cpp does not print."""
    printed = {one.buffer for one in said}
    for row in placed.rows:
        if row.buffer not in printed and row.weights_bytes >= MIB:
            _count(report, truth, "weights").add(False)
            report.differences.append(f"{truth.title}: there is no row {row.buffer}")


def _check_kv(truth: Truth, placed: Placement, report: Report) -> None:
    if not truth.kv_mib:
        return
    ours = [cache.n_bytes / MIB for cache in placed.caches]
    is_right = len(ours) == len(truth.kv_mib) and all(
        abs(a - b) <= _KV_MIB for a, b in zip(ours, truth.kv_mib, strict=True)
    )
    _count(report, truth, "KV lines").add(is_right)
    if not is_right:
        report.differences.append(f"{truth.title}: KV {truth.kv_mib} MiB, not {ours}")


def _check_refusal(truth: Truth, prepared: Prepared, report: Report) -> None:
    try:
        _place(truth, prepared)
    except UserError:
        report.refusals.add(True)
        return
    report.refusals.add(False)
    report.differences.append(f"{truth.title}: llama.cpp refuses it")


def _check_fit(truth: Truth, prepared: Prepared, report: Report) -> None:
    request = truth.request()
    result = fitting.fit(prepared, truth.device_list(), truth.host, request, truth.build)
    if truth.fitted is None:
        report.refusals.add(result.refused == truth.refusal)
        return
    wanted = truth.fitted
    ngl = result.ngl if result.ngl is not None else request.ngl
    said = (wanted.ctx, wanted.ngl, wanted.split, _overrides(wanted.overrides))
    ours = ",".join(f"{pattern}={buffer}" for pattern, buffer in result.overrides)
    if request.has_override:
        said = (*said[:3], "")  # the printed ones are the user's own
    # the file keeps the first 600 characters of what was printed
    found = (result.ctx, -1 if ngl is None else ngl, result.tensor_split, ours[: len(said[3])])
    report.fits.add(said == found)
    if said != found:
        report.differences.append(f"{truth.title}: fitted {said[:3]}, not {found[:3]}")


def _overrides(printed: str) -> str:
    """Name RPC buffers as devices: each server calls its own one RPC0 and adds its port."""
    ports = sorted({port for _name, port in _RPC_BUFFER.findall(printed)})
    # the only device that layers overflow to is the second of two
    return _RPC_BUFFER.sub("RPC1", printed) if ports else printed


def placement_of(truth: Truth, placed: Placement) -> str:
    """Name the case as placement.md section 3 does."""
    request = truth.request()
    if not request.kv_offload and truth.n_devices:
        return "cache on the host"
    if request.has_override:
        return "experts on the host"
    on_device = sum(layer.device is not None for layer in placed.layers)
    if not on_device:
        return "host only"
    n = len([row for row in placed.rows if not row.is_host])
    name = "one device" if n == 1 else "several devices"
    backend = " (Vulkan)" if truth.devices == "vulkan" else ""
    return f"{name}, {'all' if on_device == len(placed.layers) else 'part'}{backend}"


def _count(report: Report, truth: Truth, what: str) -> Count:
    return report.rows.setdefault((truth.arch, truth.devices, what), Count())


def compute_lines(report: Report) -> Iterator[tuple[str, ...]]:
    """Yield a line per program and placement: how close compute buffers are."""
    yield ("program", "placement", "row", "runs", "within 1 MiB", "median", "p90", "worst", "range")
    for (tool, placement, row), errors in sorted(report.compute.items()):
        shares = sorted(error.share for error in errors)
        worst = max(errors, key=lambda error: error.off)
        yield (
            tool,
            placement,
            row,
            str(len(errors)),
            str(sum(error.off <= 1.01 for error in errors)),
            f"{100 * shares[len(shares) // 2]:.1f} %",
            f"{100 * shares[int(0.9 * len(shares))]:.1f} %",
            f"{worst.value - worst.said:+.0f} of {worst.said} MiB",
            f"{100 * sum(error.is_in_range for error in errors) / len(errors):.0f} %",
        )
