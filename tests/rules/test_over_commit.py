"""A device that holds more than it has is found by the sum, not by a warning."""

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent, LogSummary, Role, Value
from app.core.machine import Machine
from app.rules.over_commit import check, silent
from tests.rules import made


def row(own: int, total: int) -> LogEvent:
    """Return a row of the memory breakdown."""
    values: dict[str, Value] = {"device": "Vulkan0", "total": total, "free": total, "self": own}
    return LogEvent(Fact.BREAKDOWN_DEVICE, 250, f"|   - Vulkan0 | {total} = ( {own}", values)


def test_names_the_device_when_the_breakdown_is_above_its_total() -> None:
    told = made.story(breakdown=(row(2426, 2048),))
    finding = check(made.seen(told))
    assert finding is not None
    assert "Vulkan0 has 2,048 MiB and the load takes 2,426 MiB" in finding.cause
    assert finding.cites[0].line == 250


def test_names_the_device_when_the_buffers_are_above_its_total() -> None:
    buffers = (
        made.buffer("CUDA0", Role.WEIGHTS, 9000, 100),
        made.buffer("CUDA0", Role.KV, 4000, 101),
    )
    finding = check(made.seen(made.story(buffers=buffers), made.listed("CUDA0", mib=12288)))
    assert finding is not None
    assert [cite.line for cite in finding.cites] == [4, 100, 101]


def test_is_silent_when_all_fits() -> None:
    buffers = (made.buffer("CUDA0", Role.WEIGHTS, 9000, 100),)
    told = made.story(buffers=buffers, breakdown=(row(2000, 2048),))
    evidence = made.seen(told, made.listed("CUDA0", mib=12288))
    assert check(evidence) is None
    assert silent(evidence) == "the load needs 2,000 MiB of 2,048 MiB on Vulkan0"
    by_sum = made.seen(made.story(buffers=buffers), made.listed("CUDA0", mib=12288))
    assert silent(by_sum) == "the load needs 9,000 MiB of 12,288 MiB on CUDA0"


def test_says_that_no_device_is_in_use_when_all_is_in_system_memory() -> None:
    told = made.story(buffers=(made.buffer("CPU_Mapped", Role.WEIGHTS, 900, 100),), devices=())
    assert silent(made.seen(told)) == "the log shows no memory in use on a device"


def test_asks_for_a_smaller_file_when_a_mac_has_less_memory_than_the_load_takes() -> None:
    limit = made.event(Fact.DEVICE_LIMIT, 3, "recommendedMaxWorkingSetSize", n_bytes=11_453_000_000)
    pressure = made.event(
        Fact.MEMORY_PRESSURE, 9, "greater than the recommended", used_mib=19626.8, limit_mib=10922.7
    )
    log = LogSummary("m.log", 9, events=(limit, pressure))
    mac = Machine(facts=(facts.known("memory.total", 16 << 30, unit="bytes", source="sysctl"),))
    finding = check(Evidence(log=log, machine=mac))
    assert finding is not None and "smaller file" in finding.fix.text
    larger = Machine(facts=(facts.known("memory.total", 32 << 30, unit="bytes", source="sysctl"),))
    other = check(Evidence(log=log, machine=larger))
    assert other is not None and "Remove -ngl" in other.fix.text
