"""Measures the host's read bandwidth in a child process, and keeps the last one in the notebook."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from app.core import bandwidth, json_values
from app.core.bandwidth import HostRate
from app.core.errors import UserError
from app.core.host import Host
from app.core.machine import Machine
from app.core.reading import State, lowest
from app.work.notebook import Notebook

# the same words as app/probes/bandwidth.py has; importing it would load numpy and threads here
FLAG = "--measure-bandwidth"
TIME_LIMIT_S = 8.0  # it takes under 3 s; a computer that swaps is given up on
_TITLE = "The memory's bandwidth could not be measured"
_ADVICE = "Close other programs and measure again"


def argv(machine: Machine) -> tuple[str, ...]:
    """Return the command that measures this machine."""
    threads = lowest((machine.number("cpu.physical"), machine.number("cpu.usable"))) or 1
    words = (
        "--threads", str(threads),
        "--l3", str(machine.number("cpu.cache_l3") or 0),
        "--available", str(machine.number("memory.available") or 2 << 30),
    )  # fmt: skip
    if getattr(sys, "frozen", False):
        return (sys.executable, FLAG, *words)
    script = Path(__file__).resolve().parent.parent / "probes" / "bandwidth.py"
    # -P: the folder of the script has modules with names such as text and host
    return (sys.executable, "-P", str(script), *words)


def measure(host: Host, machine: Machine) -> HostRate:
    """Measure and return the rate; UserError when there is none."""
    answer = host.run(argv(machine), timeout_s=TIME_LIMIT_S)
    if answer.state is not State.KNOWN or answer.code != 0:
        last = answer.stderr.strip().splitlines()[-1:] or [answer.reason]
        raise UserError(_TITLE, last[0][:300] or f"exit status {answer.code}", _ADVICE)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return parse(answer.stdout, now, machine.text("cpu.model") or "")


def measure_and_keep(host: Host, machine: Machine, notebook: Notebook | None = None) -> HostRate:
    """Measure, add the rate to the notebook and return it; UserError when either fails."""
    rate = measure(host, machine)
    try:
        (notebook or Notebook()).append_host_rate(rate)
    except OSError as error:
        raise UserError(
            "The memory's bandwidth could not be kept",
            f"It is {rate.value / 1e9:.1f} GB/s, but the notebook cannot be written: {error}",
            "Free some space or check the folder's rights",
        ) from error
    return rate


def parse(text: str, now: str, processor: str) -> HostRate:
    """Return the rate from the child's line; the middle half of the repetitions is its range."""
    document = json_values.parse(text.encode(), limit_bytes=1 << 16, title=_TITLE)
    values = document if isinstance(document, dict) else {}
    rates, threads = values.get("rates_bps"), values.get("threads")
    size, cpu = values.get("buffer_bytes"), values.get("cpu_rates_bps")
    if (
        not isinstance(rates, list)
        or len(rates) < 3
        or not all(isinstance(rate, int) and rate > 0 for rate in rates)
        or not isinstance(threads, int)
        or not isinstance(size, int)
    ):
        raise UserError(_TITLE, "Its answer is not a list of rates.", _ADVICE)
    ordered = sorted(rates)
    high = float(ordered[-1 - len(ordered) // 4])
    is_busy = values.get("is_busy") is True
    if is_busy and isinstance(cpu, list) and cpu:
        quick = sorted(rate for rate in cpu if isinstance(rate, int)) or [0]
        high = max(high, float(quick[-1 - len(quick) // 4]))
    return HostRate(
        value=float(ordered[len(ordered) // 2]),
        low=float(ordered[len(ordered) // 4]),
        high=high,
        n=len(rates),
        threads=threads,
        buffer_bytes=size,
        time=now,
        processor=processor,
        busy="other programs used the processor meanwhile" if is_busy else "",
        is_cache=values.get("is_cache") is True,
    )


def with_kept(machine: Machine, notebook: Notebook | None = None) -> Machine:
    """Return the machine with the read rate that was last measured on it."""
    return bandwidth.with_host(machine, (notebook or Notebook()).host_rate())
