"""The law of slowdown under partial offload: S = (1 - f) + f x r (slowdown.md).

Time per token is the sum over devices of bytes read there over that path's rate. f is the host's
share of the bytes, r how many times slower the host path is. Tested on 61 public series.
"""

from dataclasses import dataclass

from app.core.machine import Device
from app.core.reading import Estimate, Kind

# Below this ratio a partial offload is often slower than either end (slowdown.md section 4 and 7).
SMALLEST_RATIO = 2.5
# measured / table ratio of seven machines with both ends measured (slowdown.md section 5)
TABLE_LOW, TABLE_HIGH = 0.75, 1.35
_MEASURED_ERROR = 0.10
_SMALL_MODEL_LOW, _SMALL_MODEL_HIGH = 0.25, 0.10
_SMALL_MODEL_BYTES = 2_000_000_000
_BLOCK_TERM = 0.25  # share of a block's fixed time, an empirical fit (slowdown.md section 3)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted slowdown, or None with the reason why no figure may be shown."""

    slowdown: Estimate | None
    reason: str = ""


def law(f: float, r: float) -> float:
    """Return (1 - f) + f x r."""
    return (1 - f) + f * r


def predicted_share(f: float, f_layers: float) -> float:
    """Return the share used for prediction: bytes, and a quarter for each block's fixed time."""
    return (1 - _BLOCK_TERM) * f + _BLOCK_TERM * f_layers


def predict(
    f: float, f_layers: float, r: Estimate | None, *, read_bytes: int,
    devices: tuple[Device, ...] = (),
) -> Prediction:  # fmt: skip
    """Predict the slowdown of generation against a full offload, as a range."""
    if r is None:
        return Prediction(None, "r is not known: measure it here, or type it in")
    if r.high < 1 and f < 0.999:
        return Prediction(
            None,
            f"r is {r.value:.2f}: the device is the slower end, so every layer on it slows this "
            "computer. Keep all layers on the processor.",
        )
    between = 0.001 < f < 0.999
    if between and any(device.is_integrated or device.is_software for device in devices):
        return Prediction(
            None,
            "This device shares the system memory. A partial offload is often slower than "
            "either end: measure all layers on one side, then on the other.",
        )
    if between and r.low < SMALLEST_RATIO:
        return Prediction(
            None,
            f"With r below {SMALLEST_RATIO} a partial offload is often slower than either end: "
            "measure all layers on one side, then on the other.",
        )
    corrected = predicted_share(f, f_layers)
    low, high = _ratio_range(r)
    ends = [law(share, ratio) for share in (f, corrected) for ratio in (low, high)]
    bottom, top = min(ends), max(ends)
    if r.kind is Kind.MEASURED and between:
        below, above = error_of(read_bytes)
        bottom, top = bottom * (1 - below), top * (1 + above)
    value = law(f, r.value)
    source = f"(1 - f) + f x r, r {r.source}"
    return Prediction(Estimate(value, min(bottom, value), max(top, value), source, Kind.CALCULATED))


def error_of(read_bytes: int) -> tuple[float, float]:
    """Return by what shares a time between two measured ends may lie below and above the law."""
    if read_bytes >= _SMALL_MODEL_BYTES:
        return _MEASURED_ERROR, _MEASURED_ERROR
    return _SMALL_MODEL_HIGH, _SMALL_MODEL_LOW


def measured_ratio(host: Estimate, device: Estimate) -> Estimate:
    """Return r from two measured generation rates: all on the host, all on the device (tok/s)."""
    return Estimate(
        value=device.value / host.value,
        low=device.low / host.high,
        high=device.high / host.low,
        source="measured here: generation with all layers on the device over all on the host",
        kind=Kind.MEASURED,
    )


def table_ratio(device_bps: float, host_bps: float, source: str) -> Estimate:
    """Return r from two bandwidths in bytes per second, with the range such tables have."""
    value = 1.08 * device_bps / host_bps
    return Estimate(value, value * TABLE_LOW, value * TABLE_HIGH, source, Kind.TABLE)


def _ratio_range(r: Estimate) -> tuple[float, float]:
    return r.low, r.high
