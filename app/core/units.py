"""The one parser and printer of bytes, rates and ratios, so that all outputs agree to the digit."""

KIB = 1024
MIB = 1024**2
GIB = 1024**3
UNKNOWN = "not known"


def mib(n_bytes: int | float | None, digits: int = 2) -> str:
    """Print bytes as MiB, always with the unit."""
    return UNKNOWN if n_bytes is None else f"{n_bytes / MIB:,.{digits}f} MiB"


def gib(n_bytes: int | float | None, digits: int = 1) -> str:
    """Print bytes as GiB, always with the unit."""
    return UNKNOWN if n_bytes is None else f"{n_bytes / GIB:,.{digits}f} GiB"


def size(n_bytes: int | float | None) -> str:
    """Print bytes in the unit that reads best, from bytes to GiB."""
    if n_bytes is None:
        return UNKNOWN
    if abs(n_bytes) >= GIB:
        return gib(n_bytes, 2 if abs(n_bytes) < 100 * GIB else 0)
    if abs(n_bytes) >= MIB:
        return mib(n_bytes, 1 if abs(n_bytes) < 100 * MIB else 0)
    if abs(n_bytes) >= KIB:
        return f"{n_bytes / KIB:,.1f} KiB"
    return f"{n_bytes:,.0f} bytes"


def rate(tps: float | None) -> str:
    """Print tokens per second with three significant digits or two decimals."""
    if tps is None:
        return UNKNOWN
    return f"{tps:,.0f} tok/s" if abs(tps) >= 100 else f"{tps:.2f} tok/s"


def interval(low: float, high: float) -> str:
    """Print the ends of a rate's interval."""
    digits = 0 if abs(high) >= 100 else 2
    return f"{low:,.{digits}f} to {high:,.{digits}f} tok/s"


def measured_interval(low: float, high: float) -> str:
    """Print a mean's interval; one that reaches zero says nothing, and why is said instead."""
    return interval(low, high) if low > 0 else "too few repetitions for an interval"


def percent(share: float | None, digits: int = 1) -> str:
    """Print a share of one as per cent."""
    return UNKNOWN if share is None else f"{100 * share:.{digits}f} %"


def times(ratio: float | None) -> str:
    """Print a ratio such as a slowdown."""
    return UNKNOWN if ratio is None else f"{ratio:.2f}×"


def times_range(low: float, high: float) -> str:
    """Print the range of a ratio; one figure when both ends print the same."""
    first, last = times(low), times(high)
    return first if first == last else f"{first[:-1]} to {last}"


def seconds(value: float | None) -> str:
    """Print a duration in ms below one second, else in s or min."""
    if value is None:
        return UNKNOWN
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def count(value: int | None) -> str:
    """Print a whole number with thousands separated."""
    return UNKNOWN if value is None else f"{value:,}"


def lines(n: int) -> str:
    """Print a number of lines with the word."""
    return f"{count(n)} line" if n == 1 else f"{count(n)} lines"


def mhz(value: float | None) -> str:
    """Print a clock."""
    return UNKNOWN if value is None else f"{value:,.0f} MHz"


def degrees(value: float | None) -> str:
    """Print a temperature."""
    return UNKNOWN if value is None else f"{value:.0f} °C"


def watts(value: float | None) -> str:
    """Print an electric power."""
    return UNKNOWN if value is None else f"{value:.0f} W"


def whole_percent(share: float | None) -> str:
    """Print a share of 1 without decimals."""
    return percent(share, 0)


def bandwidth(bytes_per_s: float | None) -> str:
    """Print a read rate in GB/s, 10^9 bytes as memory makers count."""
    return UNKNOWN if bytes_per_s is None else f"{bytes_per_s / 1e9:,.1f} GB/s"
