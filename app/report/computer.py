"""The computer of a report: what limits it, the devices for layers, every fact with its source."""

from app.core import fact_words, units
from app.core.evidence import Evidence
from app.core.machine import Device, Machine, MachineFact
from app.core.overview import overview
from app.report.blocks import Block, Bullets, Column, Heading, Paragraph, Table
from app.report.form import backend_name

_KNOWN = (Column("Fact", share=3), Column("Value", share=4), Column("Source", share=4))
_UNKNOWN = (Column("Fact", share=3), Column("State", share=2), Column("Reason", share=6))
_DEVICES = (
    Column("Device", share=2),
    Column("Name", share=5),
    Column("Memory", is_number=True, share=2),
    Column("Free", is_number=True, share=2),
    Column("Kind", share=3),
)


def blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Return devices, facts, and what could not be read and why."""
    machine = evidence.machine
    if machine is None:
        return (Paragraph("This computer was not looked at."),)
    said = overview(machine)
    found: list[Block] = [
        Paragraph(said.headline),
        Bullets(tuple(sentence.text for sentence in said.sentences if sentence.text)),
        *_devices(machine),
    ]
    for heading, facts in fact_words.groups(machine):
        known = [fact for fact in facts if fact.reading.value is not None]
        if known:
            found += [Heading(heading, 2), Table(_KNOWN, tuple(_known(fact) for fact in known))]
    unknown = [fact for fact in machine.facts if fact.reading.value is None]
    if unknown:
        found += [
            Heading("Not there, or could not be read", 2),
            Table(_UNKNOWN, tuple(_unknown(fact) for fact in unknown)),
        ]
    found += [Paragraph(f"Not asked: {text}", is_quiet=True) for text in machine.skipped]
    return tuple(found)


def _devices(machine: Machine) -> tuple[Block, ...]:
    if not machine.devices_source:
        return ()
    if not machine.devices:
        return (Paragraph(f"Devices for layers: none, says {machine.devices_source}."),)
    rows = tuple(
        (d.id, d.description, units.size(d.total_bytes), units.size(d.free_bytes), _kind(d))
        for d in machine.devices
    )
    return (
        Heading("Devices for layers", 2),
        Table(_DEVICES, rows),
        Paragraph(f"Source: {machine.devices_source}", is_quiet=True),
    )


def _kind(device: Device) -> str:
    name = backend_name(device)
    if device.is_software:
        return f"{name}, software"
    if device.is_integrated is None:
        return name
    return f"{name}, {'integrated' if device.is_integrated else 'discrete'}"


def _known(fact: MachineFact) -> tuple[str, ...]:
    return (fact_words.title(fact.path), fact_words.value(fact), fact.reading.source)


def _unknown(fact: MachineFact) -> tuple[str, ...]:
    state = fact_words.STATES[fact.reading.state]
    return (fact_words.title(fact.path), state, fact.reading.reason)
