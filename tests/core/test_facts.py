"""Facts of several probes become one list; what was not found says why."""

from app.core import facts
from app.core.machine import Machine
from app.core.reading import State


def test_numbers_the_gpus_of_several_probes_on() -> None:
    first = (
        facts.known("gpu.0.name", "A", source="x"),
        facts.known("gpu.1.name", "B", source="x"),
    )
    second = (facts.known("gpu.0.name", "C", source="y"), facts.known("cpu.model", "D", source="y"))
    machine = Machine(facts=facts.join([first, (), second]))
    names = [machine.text(f"gpu.{index}.name") for index in range(3)]
    assert names == ["A", "B", "C"]
    assert machine.text("cpu.model") == "D"
    assert machine.number("gpu.count") == 3


def test_says_absent_when_each_maker_has_none() -> None:
    none = [
        (facts.searched("amd", State.ABSENT, source="sysfs", reason="no AMD card"),),
        (facts.searched("nvidia", State.ABSENT, source="NVML", reason="no driver"),),
    ]
    fact = Machine(facts=facts.join(none)).fact("gpu.count")
    assert fact is not None
    assert fact.reading.state is State.ABSENT
    assert fact.reading.reason == "no AMD card; no driver"
    assert fact.reading.source == "sysfs, NVML"


def test_a_search_that_failed_speaks_louder_than_an_absent_maker() -> None:
    mixed = [
        (facts.searched("amd", State.ABSENT, source="sysfs", reason="no AMD card"),),
        (facts.searched("nvidia", State.ERROR, source="NVML", reason="restart"),),
    ]
    fact = Machine(facts=facts.join(mixed)).fact("gpu.count")
    assert fact and (fact.reading.state, fact.reading.reason) == (State.ERROR, "restart")


def test_says_so_when_nobody_looked() -> None:
    fact = Machine(facts=facts.join([])).fact("gpu.count")
    assert fact and fact.reading.value is None and fact.reading.reason
