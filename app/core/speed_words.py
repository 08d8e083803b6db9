"""What the speed of memory means for a person: the most tokens per second for a model of 5 GB."""

from app.core import bandwidth, units
from app.core.gpus import Gpu
from app.core.machine import Machine

_MODEL_BYTES = 5_000_000_000  # about 8 billion weights at four to five bits, a common choice


def on_gpus(machine: Machine, usable: list[Gpu]) -> tuple[str, tuple[str, ...]]:
    """Return a sentence for devices of llama.cpp and the facts' paths; "" when nothing is known."""
    facts = [
        fact
        for gpu in usable
        for device in gpu.devices[:1]
        if (fact := bandwidth.device_rate(machine, device)) is not None
    ]
    rates = [fact.reading.value for fact in facts if isinstance(fact.reading.value, int)]
    if len(rates) != len(usable) or not rates:
        return "", ()
    fastest = max(rates)  # what is said is the most there can be
    whose = "Its" if len(usable) == 1 else "The faster one's"
    return (
        f" {whose} {units.bandwidth(fastest)} let a model of 5 GB that fits there write at most "
        f"about {_tokens(fastest)} tokens per second.",
        tuple(fact.path for fact in facts),
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
