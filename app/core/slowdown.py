"""The law of slowdown under partial offload: S = (1 - s) + s x r (slowdown.md).

Time per token is the sum over devices of bytes read there over that path's rate; r is how many
times slower the host path is. s is the host's share: three quarters by bytes (f, which is what is
shown), a quarter by layers, for the fixed time of each block. predicted_share() is the one source
of s, for predictions and for the lines through measured rates (decision 0011).
"""

from dataclasses import dataclass

from app.core.machine import Device
from app.core.reading import Estimate, Kind

# Below this ratio a partial offload is often slower than either end (slowdown.md section 4 and 7).
SMALLEST_RATIO = 2.5
# measured / table ratio of seven machines with both ends measured (slowdown.md section 5)
TABLE_LOW, TABLE_HIGH = 0.75, 1.35
# how far tok/s may lie below and above the law with both ends known (slowdown.md section 4)
_ERROR = (0.10, 0.10)
_SMALL_MODEL_ERROR = (0.25, 0.10)
_SMALL_MODEL_BYTES = 2_000_000_000
SHARED = (
    "This device shares the system memory. A partial offload is often slower than either end: "
    "measure all layers on one side, then on the other."
)
_BETWEEN = 0.001  # a share nearer to an end is that end
_BLOCK_TERM = 0.25  # share of a block's fixed time, an empirical fit (slowdown.md section 3)
NO_DEVICE = "There is no device, so nothing to be slower than."


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted slowdown, or None with the reason why no figure may be shown."""

    slowdown: Estimate | None
    reason: str = ""


def law(share: float, r: float) -> float:
    """Return (1 - s) + s x r."""
    return (1 - share) + share * r


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
    share = predicted_share(f, f_layers)
    reason = refusal(share, r, devices)
    if reason:
        return Prediction(None, reason)
    value = law(share, r.value)
    ends = [law(one, ratio) for one in (f, share) for ratio in (r.low, r.high)]
    bottom, top = min(ends), max(ends)
    if r.kind is not Kind.TABLE and _BETWEEN < share < 1 - _BETWEEN:
        bottom, top = widened(bottom, top, read_bytes)
    source = f"(1 - s) + s x r, s {share:.3f} by bytes and blocks, r {r.source}"
    return Prediction(Estimate(value, min(bottom, value), max(top, value), source, Kind.CALCULATED))


def refusal(share: float, r: Estimate | None, devices: tuple[Device, ...]) -> str:
    """Say why no figure may be shown at this share, "" when one may."""
    if r is not None and r.high < 1 and share < 1 - _BETWEEN:
        return (
            f"r is {r.value:.2f}: the device is the slower end, so every layer on it slows this "
            "computer. Keep all layers on the processor."
        )
    if not _BETWEEN < share < 1 - _BETWEEN:
        return ""
    if any(device.is_integrated or device.is_software for device in devices):
        return SHARED
    if r is not None and r.low < SMALLEST_RATIO:
        return (
            f"With r below {SMALLEST_RATIO} a partial offload is often slower than either end: "
            "measure all layers on one side, then on the other."
        )
    return ""


def widened(low: float, high: float, read_bytes: int) -> tuple[float, float]:
    """Return a range of times with what rates missed the law by, in the public series."""
    below, above = error_of(read_bytes)
    return low / (1 + above), high / (1 - below)


def error_of(read_bytes: int) -> tuple[float, float]:
    """Return by what shares tok/s between two known ends may lie below and above the law."""
    return _ERROR if read_bytes >= _SMALL_MODEL_BYTES else _SMALL_MODEL_ERROR


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
