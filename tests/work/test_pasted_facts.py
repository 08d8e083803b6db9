"""What a person pastes fills what was missing, and changes nothing that was known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import bandwidth, facts
from app.core.machine import Machine
from app.core.units import MIB
from app.work import device_rows, pasted_facts
from app.work.pasted_facts import Added
from tests.hosts import sample
from tests.machines import linux, strix_halo, two_cards
from tests.probes.test_nvidia import PASTED


def _add(machine: Machine, text: str) -> Added:
    source, found = pasted_facts.parsed(text)
    return pasted_facts.merge(machine, found, f"{source} (pasted)")


def test_modules_of_dmidecode_fill_the_memory() -> None:
    before = linux()
    assert before.number("memory.channels") is None
    added = _add(before, sample("dmidecode-two-of-four.txt"))
    assert added.machine.number("memory.channels") == 2
    assert added.machine.number("memory.bandwidth") == 76_800_000_000
    assert "dmidecode (pasted)" in added.sentence
    assert added.machine.number("memory.total") == before.number("memory.total")


def test_modules_of_windows_as_json_too() -> None:
    added = _add(Machine(), sample("win32_physicalmemory.json"))
    assert added.machine.number("memory.speed_rated") == 6000


def test_cores_of_a_mac() -> None:
    added = _add(Machine(), sample("system_profiler-displays-m4max.json"))
    assert added.machine.number("gpu.0.cores") == 40


def test_a_card_that_no_driver_showed_is_added_after_the_others() -> None:
    added = _add(strix_halo(), PASTED)
    assert added.machine.text("gpu.1.name") == "NVIDIA GeForce RTX 3060"
    assert added.machine.number("gpu.count") == 2
    assert added.machine.text("gpu.0.vendor") == "AMD"


def test_known_facts_stay_as_they_were_measured() -> None:
    before = two_cards()
    added = _add(before, PASTED)
    assert added.machine.text("gpu.0.name") == before.text("gpu.0.name")
    assert added.machine.number("gpu.0.memory_total") == before.number("gpu.0.memory_total")
    # the temperature was refused, so what was pasted is better than nothing
    assert added.machine.number("gpu.0.temperature") == 41
    again = _add(added.machine, PASTED)
    assert again.n_facts == 0 and "known already" in again.sentence
    assert added.machine.number("gpu.0.memory_total") != 12288 * MIB


@given(st.text(max_size=200))
def test_other_text_adds_nothing_and_says_so(text: str) -> None:
    added = _add(Machine(), text)
    assert added.machine == Machine()
    assert "Nothing in it was understood" in added.sentence


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_names_commands_for_each_system(platform: str) -> None:
    assert all(one.words and one.tells for one in pasted_facts.commands(platform))


def test_cores_that_were_pasted_choose_the_row_of_the_table() -> None:
    told = (
        facts.known("gpu.0.vendor", "Apple", source="sysctl"),
        facts.known("gpu.0.name", "Apple M4 Max GPU", source="sysctl"),
    )
    machine = bandwidth.with_devices(Machine(facts=told), device_rows.rows())
    assert machine.number("gpu.0.bandwidth") is None  # 32 or 40 cores: two bandwidths
    added = _add(machine, sample("system_profiler-displays-m4max.json"))
    assert added.machine.number("gpu.0.bandwidth") == 546_100_000_000


def test_looking_up_twice_changes_nothing() -> None:
    machine = two_cards()
    assert bandwidth.with_devices(machine, device_rows.rows()).facts == machine.facts
