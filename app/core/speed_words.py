"""What the speed of memory means for a person: the most tokens per second for a model of 5 GB."""

from app.core import bandwidth, units
from app.core.gpus import Gpu, GpuKind
from app.core.machine import Machine

_MODEL_BYTES = 5_000_000_000  # about 8 billion weights at four to five bits, a common choice


def on_gpus(machine: Machine, usable: list[Gpu]) -> tuple[str, tuple[str, ...]]:
    """Return a sentence for devices of llama.cpp and the facts' paths; "" when nothing is known."""
    usable = [gpu for gpu in usable if gpu.kind is GpuKind.CARD] or usable
    found = []
    for device in (gpu.devices[0] for gpu in usable):
        fact = bandwidth.device_rate(machine, device)
        rate = fact.reading.value if fact is not None else None
        if fact is None or not isinstance(rate, int):
            return "", ()
        found.append((rate, device.id, fact.path))
    if not found:
        return "", ()
    fastest, name, _path = max(found)  # what is said is the most there can be
    return (
        f" {name}'s {units.bandwidth(fastest)} let a model of 5 GB that fits there write at most "
        f"about {_tokens(fastest)} tokens per second.",
        tuple(path for _rate, _name, path in found),
    )


def on_host(machine: Machine) -> tuple[str, tuple[str, ...]]:
    """Return a sentence for the CPU: measured here, or by the modules; "" when not known."""
    for path, how in (
        (bandwidth.MEASURED, "measured here"),
        ("memory.bandwidth", "by speed and channels"),
    ):
        rate = machine.number(path)
        if rate:
            return (
                f" Its {units.bandwidth(rate)} ({how}) let a model of 5 GB write at most about "
                f"{_tokens(rate)} tokens per second.",
                (path,),
            )
    return "", ()


def _tokens(rate: int) -> str:
    value = rate / _MODEL_BYTES
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
