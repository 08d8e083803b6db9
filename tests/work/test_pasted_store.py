"""What was pasted stays until it is removed: over a new look, another day, and a broken file."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import facts
from app.core.errors import UserError
from app.core.machine import Machine
from app.work import kept_facts
from app.work.pasted_store import PastedStore
from tests.hosts import sample
from tests.machines import linux, two_cards
from tests.probes.test_nvidia import PASTED

DMI = sample("dmidecode-two-of-four.txt")
NOW = datetime(2026, 12, 1, 2, 50, tzinfo=UTC)


def test_a_new_look_keeps_what_was_pasted_with_its_time() -> None:
    store = PastedStore()
    assert store.add(linux(), DMI, NOW).n_facts == 5
    machine = kept_facts.with_kept(linux())
    assert machine.number("memory.channels") == 2
    fact = machine.fact("memory.channels")
    assert fact and fact.reading.source == "dmidecode (pasted 2026-12-01)"
    (entry,) = store.entries(machine)
    assert (entry.time, entry.source, len(entry.facts)) == ("2026-12-01T02:50:00Z", "dmidecode", 5)


def test_serial_numbers_are_not_kept() -> None:
    store = PastedStore()
    store.add(linux(), DMI.replace("Rank: 1", "Rank: 1\n\tSerial Number: 4711-GEHEIM"), NOW)
    text = store.path.read_text()
    assert "dmidecode" in text and "GEHEIM" not in text


def test_a_newer_output_takes_the_place_of_the_older() -> None:
    store = PastedStore()
    store.add(linux(), DMI, NOW)
    store.add(linux(), DMI.replace("4800", "6000"), NOW + timedelta(days=1))
    (entry,) = store.entries(linux())
    assert entry.time.startswith("2026-12-02")
    assert store.with_kept(linux()).number("memory.speed") == 6000


def test_what_is_removed_is_gone_and_the_rest_stays() -> None:
    store = PastedStore()
    store.add(two_cards(), DMI, NOW)
    store.add(two_cards(), PASTED, NOW)
    assert [entry.source for entry in store.entries(two_cards())] == ["dmidecode", "nvidia-smi -q"]
    store.remove(two_cards(), "dmidecode")
    machine = store.with_kept(two_cards(), NOW)
    assert machine.number("memory.channels") is None
    assert machine.number("gpu.0.temperature") == 41


def test_a_temperature_of_yesterday_is_not_shown() -> None:
    store = PastedStore()
    store.add(two_cards(), PASTED, NOW)
    assert (
        store.with_kept(two_cards(), NOW + timedelta(minutes=5)).number("gpu.0.temperature") == 41
    )
    later = store.with_kept(two_cards(), NOW + timedelta(days=1))
    assert later.number("gpu.0.temperature") is None


def test_another_processor_is_another_computer() -> None:
    store = PastedStore()
    store.add(linux(), DMI, NOW)
    assert store.entries(Machine()) == ()
    assert store.with_kept(Machine()) == Machine()


@given(st.binary(max_size=200) | st.sampled_from([b"[]", b'{"entries": 3}', b"{" * 5000, b"null"]))
def test_a_broken_file_counts_as_empty(data: bytes) -> None:
    store = PastedStore()
    store.path.parent.mkdir(parents=True, exist_ok=True)
    store.path.write_bytes(data)
    assert store.entries(linux()) == ()


def test_a_broken_file_is_set_aside_when_something_new_is_kept(tmp_path: Path) -> None:
    store = PastedStore(tmp_path / "pasted.json")
    store.path.write_bytes(b'{"entries": 3, "mine": "a long afternoon"}')
    store.add(linux(), DMI, NOW)
    assert len(store.entries(linux())) == 1
    assert b"afternoon" in (tmp_path / "pasted.json.broken").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pasted.json", "pasted.json.broken"]


def test_says_so_when_it_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = PastedStore(tmp_path / "file" / "pasted.json")
    with pytest.raises(UserError) as caught:
        store.add(linux(), DMI, NOW)
    assert "could not be kept" in caught.value.sentence()


def test_nothing_understood_keeps_nothing() -> None:
    store = PastedStore()
    assert store.add(linux(), "hello", NOW).n_facts == 0
    assert not store.path.exists()


def test_doubts_modules_that_hold_less_than_this_computer_has() -> None:
    large = Machine((facts.known("memory.total", 90 << 30, source="psutil"),))
    added = PastedStore().add(large, DMI, NOW)
    assert "this computer has 90.00 GiB: they may be of another computer" in added.sentence
    small = Machine((facts.known("memory.total", 8 << 30, source="psutil"),))
    assert "another computer" not in PastedStore().add(small, DMI, NOW).sentence
    assert "another computer" not in PastedStore().add(Machine(), DMI, NOW).sentence
