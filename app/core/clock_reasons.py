"""Why an NVIDIA card holds its clocks down: the bits of NVML's clock event reasons."""

# nvml.h nvmlClocksEventReason*, CUDA 13
_WORDS = (
    (0x1, "idle"),
    (0x2, "clocks set by an application"),
    (0x4, "power limit"),
    (0x8, "hardware slowdown"),
    (0x10, "held in step with another card"),
    (0x20, "heat (software)"),
    (0x40, "heat (hardware)"),
    (0x80, "power supply or its cable (hardware)"),
    (0x100, "clock of the screen"),
    (0x200, "limit of the board"),
    (0x400, "voltage"),
)
_KNOWN = sum(bit for bit, _ in _WORDS)
POWER_LIMIT = 0x4  # at full load normal on many cards; these are not:
HEAT = 0x20 | 0x40
POWER_BRAKE = 0x80
FAULTS = 0x8 | HEAT | POWER_BRAKE
WINDOW, TIMES = 10, 3


def words(mask: int) -> tuple[str, ...]:
    """Return the reasons in words; bits that are not known in hexadecimal."""
    found = [text for bit, text in _WORDS if mask & bit]
    unknown = mask & ~_KNOWN
    if unknown > 0:
        found.append(f"not known: {unknown:#x}")
    return tuple(found)


def why(mask: int | None) -> str:
    """Return what holds a clock down in one phrase: a fault before the power limit; "" = neither.

    The hardware's slowdown names no cause; where heat or the power supply is told, they are it.
    """
    bits = (mask or 0) & (HEAT | POWER_BRAKE) or (mask or 0) & FAULTS or (mask or 0) & POWER_LIMIT
    return ", ".join(text for bit, text in _WORDS if bits & bit)


def faults(samples: tuple[tuple[int, int | None], ...], busy_from: int = 50) -> tuple[str, ...]:
    """Return the faults of the last samples of (mask, use in per cent).

    A fault is one that shows in at least 3 of the last 10 samples while the card works.
    """
    busy = [mask for mask, use in samples[-WINDOW:] if use is not None and use >= busy_from]
    bits = sum(bit for bit, _ in _WORDS if sum(1 for m in busy if m & bit) >= TIMES) & FAULTS
    # the hardware's slowdown names no cause; where the cause is told, it says nothing more
    bits = bits & ~0x8 if bits & (0x40 | POWER_BRAKE) else bits
    return tuple(text for bit, text in _WORDS if bits & bit)
