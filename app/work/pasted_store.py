"""Keeps the facts that a person pasted, until the person removes them: one file of ours."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from app import paths, product
from app.core import json_values
from app.core.errors import UserError
from app.core.machine import Machine, MachineFact
from app.work import pasted_facts, whole_file
from app.work.pasted_facts import Added

SCHEMA = product.schema("pasted")
_TITLE = "The pasted facts could not be kept"
_LIMIT = 1 << 20
_MAX_ENTRIES = 20
# what a tool tells of one moment, such as a temperature, is not shown the next day
_MOMENT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What one tool told of one computer; the text itself, with its serial numbers, is not kept."""

    time: str  # UTC, ISO 8601
    source: str  # "dmidecode"
    processor: str  # of which computer
    facts: tuple[MachineFact, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """The file."""

    schema: str = SCHEMA
    entries: tuple[Entry, ...] = ()


class PastedStore:
    """The file of pasted facts; one that is broken counts as empty and is set aside."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.user_data() / "pasted.json"
        self._is_broken = False

    def entries(self, machine: Machine) -> tuple[Entry, ...]:
        """Return what was pasted on this computer, oldest first."""
        name = machine.text("cpu.model") or ""
        return tuple(entry for entry in self._all() if entry.processor == name)

    def add(self, machine: Machine, text: str, now: datetime | None = None) -> Added:
        """Keep what a text tells and return the machine with it; UserError when it cannot be kept.

        A newer output of one tool takes the place of the older.
        """
        source, found = pasted_facts.parsed(text)
        time = (now or datetime.now(UTC)).isoformat(timespec="seconds").replace("+00:00", "Z")
        added = pasted_facts.merge(machine, found, f"{source} (pasted {time[:10]})")
        if added.n_facts:
            entry = Entry(time, source, machine.text("cpu.model") or "", found)
            others = tuple(
                e for e in self._all() if (e.source, e.processor) != (source, entry.processor)
            )
            self._write((*others, entry)[-_MAX_ENTRIES:])
        doubt = pasted_facts.doubt(machine, text[: pasted_facts.LIMIT]) if added.n_facts else ""
        return replace(added, sentence=f"{added.sentence} {doubt}".rstrip())

    def remove(self, machine: Machine, source: str) -> None:
        """Forget what one tool told of this computer; UserError when it cannot be written."""
        name = machine.text("cpu.model") or ""
        kept = (e for e in self._all() if (e.source, e.processor) != (source, name))
        self._write(tuple(kept))

    def with_kept(self, machine: Machine, now: datetime | None = None) -> Machine:
        """Return the machine with all that was pasted and is not known otherwise."""
        for entry in self.entries(machine):
            found = entry.facts
            if _age_s(entry.time, now or datetime.now(UTC)) > _MOMENT_S:
                found = tuple(fact for fact in found if not pasted_facts.is_momentary(fact))
            how = f"{entry.source} (pasted {entry.time[:10]})"
            machine = pasted_facts.merge(machine, found, how).machine
        return machine

    def _all(self) -> tuple[Entry, ...]:
        try:
            with self.path.open("rb") as file:
                data = file.read(_LIMIT + 1)
            document = json_values.parse(data, limit_bytes=_LIMIT, title=_TITLE)
            return json_values.from_plain(_File, document, where="pasted", title=_TITLE).entries
        except OSError:
            return ()
        except UserError:
            self._is_broken = True
            return ()

    def _write(self, entries: tuple[Entry, ...]) -> None:
        try:
            if self._is_broken:
                whole_file.set_aside(self.path)
                self._is_broken = False
            whole_file.write(
                self.path, json_values.dumps(json_values.to_plain(_File(entries=entries)))
            )
        except OSError as error:
            raise UserError(
                _TITLE,
                f"{self.path}: {error.strerror}",
                "Free some space or check the folder's rights",
            ) from error


def _age_s(time: str, now: datetime) -> float:
    """Return how old a time is; one that cannot be read is old."""
    try:
        return (now - datetime.fromisoformat(time.replace("Z", "+00:00"))).total_seconds()
    except (ValueError, TypeError):
        return float("inf")
