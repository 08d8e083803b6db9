"""The notebook: every run, one JSON line each, appended in a way that a crash cannot harm."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app import paths, product
from app.core import json_values
from app.core.bandwidth import HostRate
from app.core.bench import BenchRun, Change, compare, differing_settings
from app.core.errors import UserError
from app.core.evidence import GpuWatch, MemoryWatch

SCHEMA = product.schema("notebook")
RATE_SCHEMA = product.schema("bandwidth")  # lines with the host's read rate, between the runs
LINE_LIMIT_BYTES = 4 << 20
MARK_SCHEMA = product.schema("notebook-mark")
HISTORY = 60  # rates that go into evidence: ten sweeps of three placements
_TITLE = "This line of the notebook cannot be read"
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a load's bytes were, from its buffer lines; None = the run had no log."""

    device_weights_bytes: int | None = None
    host_weights_bytes: int | None = None
    device_kv_bytes: int | None = None
    host_kv_bytes: int | None = None
    offload_line: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One run: its rates, and what is needed to compare them with another day's."""

    run_id: str
    time: str  # UTC, ISO 8601
    model: str
    runs: tuple[BenchRun, ...]
    build: str = ""
    machine: tuple[str, ...] = ()  # processor, memory, devices and drivers, in words
    placement: Placement = Placement()
    watch: MemoryWatch | None = None
    busy: str = ""  # why the machine was not quiet, "" when it was
    source: str = "benchmark"  # or "diagnose"
    gpu_watch: GpuWatch | None = None


@dataclass(frozen=True, slots=True)
class Pages:
    """What the notebook holds, oldest first, and how many lines could not be read."""

    entries: tuple[Entry, ...]
    n_broken: int = 0

    def warning(self) -> str:
        """Say that lines are missing, "" when none is."""
        if not self.n_broken:
            return ""
        lines = "line was" if self.n_broken == 1 else "lines were"
        return f"{self.n_broken} {lines} not understood and left out; nothing was deleted."


@dataclass(frozen=True, slots=True)
class Comparison:
    """One rate of two runs beside each other, and everything that differed."""

    before: BenchRun
    after: BenchRun
    change: Change
    differences: tuple[tuple[str, str, str], ...]  # name, before, after
    caution: str = ""  # why the pair may say little, "" when it is fair

    @property
    def ratio(self) -> float | None:
        """Return after / before, None when there is nothing to divide by."""
        return self.after.mean_tps / self.before.mean_tps if self.before.mean_tps else None


class Notebook:
    """The file of all runs; several of our windows may write to it at once."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.user_data() / "notebook.jsonl"

    def append(self, entry: Entry) -> None:
        """Add a run at the end and wait until it is on the disk; OSError when it cannot be."""
        plain = json_values.to_plain(entry)
        assert isinstance(plain, dict)
        self._append({"schema": SCHEMA, **plain})

    def append_host_rate(self, rate: HostRate) -> None:
        """Add a read rate of system memory; OSError when it cannot be written."""
        plain = json_values.to_plain(rate)
        assert isinstance(plain, dict)
        self._append({"schema": RATE_SCHEMA, **plain})

    def host_rate(self) -> HostRate | None:
        """Return the last read rate, None when none was measured or it cannot be read."""
        found = None
        try:
            for line in self._lines():
                if RATE_SCHEMA.encode("ascii") in line[:100]:
                    found = _rate(line) or found
        except OSError:
            return None
        return found

    def delete(self, run_ids: tuple[str, ...]) -> None:
        """Leave runs out from now on; OSError when it cannot be written.

        A mark is appended: rewriting the file would lose what another window appends meanwhile.
        """
        for run_id in run_ids:
            self._append({"schema": MARK_SCHEMA, "run_id": run_id, "is_deleted": True})

    def restore(self, run_ids: tuple[str, ...]) -> None:
        """Take deleted runs in again."""
        for run_id in run_ids:
            self._append({"schema": MARK_SCHEMA, "run_id": run_id, "is_deleted": False})

    def _append(self, document: dict[str, object]) -> None:
        line = json.dumps(document, ensure_ascii=True, allow_nan=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        # a line that a crash cut short is closed first, so that it spoils only itself
        data = f"{self._repair()}{line}\n".encode("ascii")
        handle = os.open(self.path, _APPEND, 0o644)
        try:
            # O_APPEND and one write: lines of two writers never mix (open(2))
            written = os.write(handle, data)
            if written != len(data):
                raise OSError(f"only {written} of {len(data)} bytes were written: the disk is full")
            os.fsync(handle)
        finally:
            os.close(handle)
        if is_new:
            _sync_folder(self.path.parent)

    def read(self) -> Pages:
        """Return all runs that can be read; a missing file is an empty notebook."""
        entries: list[Entry] = []
        deleted: dict[str, bool] = {}
        n_broken = 0
        for line in self._lines():
            if RATE_SCHEMA.encode("ascii") in line[:100]:
                continue
            try:
                if MARK_SCHEMA.encode("ascii") in line[:100]:
                    deleted.update([_mark(line)])
                else:
                    entries.append(_entry(line))
            except UserError:
                n_broken += 1
        kept = tuple(entry for entry in entries if not deleted.get(entry.run_id, False))
        return Pages(kept, n_broken)

    def runs_of(self, model_name: str) -> tuple[BenchRun, ...]:
        """Return all rates of a model, oldest first; none when the notebook cannot be read."""
        try:
            entries = self.read().entries
        except OSError:  # r is then not known, which every output says
            return ()
        return tuple(run for e in entries for run in e.runs if run.model_name == model_name)

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                while line := file.readline(LINE_LIMIT_BYTES):
                    if line.strip():
                        yield line
        except FileNotFoundError:
            return

    def _repair(self) -> str:
        """Return a line end when the file's last line has none."""
        try:
            with self.path.open("rb") as file:
                if not file.seek(0, os.SEEK_END):
                    return ""
                file.seek(-1, os.SEEK_END)
                return "" if file.read(1) == b"\n" else "\n"
        except FileNotFoundError:
            return ""


def history_of(
    pages: Pages, model_name: str, machine: tuple[str, ...], limit: int = HISTORY
) -> tuple[BenchRun, ...]:
    """Return the latest rates of a model on this machine, oldest first; busy ones are left out."""
    found = tuple(
        run
        for entry in pages.entries
        if not entry.busy and (entry.machine == machine or not entry.machine)
        for run in entry.runs
        if run.model_name == model_name
    )
    return found[-limit:]


def compare_entries(before: Entry, after: Entry) -> tuple[Comparison, ...]:
    """Compare the rates that two runs have in common: same test, length, depth and model."""
    found = []
    for old in before.runs:
        new = next((run for run in after.runs if _is_pair(old, run)), None)
        if new is not None:
            differences = (*_machine_differences(before, after), *differing_settings(old, new))
            found.append(
                Comparison(old, new, compare(old, new), differences, _caution(before, after))
            )
    return tuple(found)


def _is_pair(old: BenchRun, new: BenchRun) -> bool:
    return (old.test, old.n_tokens, old.depth) == (new.test, new.n_tokens, new.depth)


def _machine_differences(before: Entry, after: Entry) -> tuple[tuple[str, str, str], ...]:
    """Return what is in one machine's description and not in the other's."""
    found = []
    if before.model != after.model:
        found.append(("model", before.model, after.model))
    gone = [word for word in before.machine if word not in after.machine]
    new = [word for word in after.machine if word not in before.machine]
    if gone or new:
        found.append(("machine", "; ".join(gone) or "-", "; ".join(new) or "-"))
    for name in ("device_weights_bytes", "host_weights_bytes"):
        old_bytes, new_bytes = getattr(before.placement, name), getattr(after.placement, name)
        if None not in (old_bytes, new_bytes) and old_bytes != new_bytes:
            found.append((name, f"{old_bytes:,}", f"{new_bytes:,}"))
    return tuple(found)


def _caution(before: Entry, after: Entry) -> str:
    for which, entry in (("first", before), ("second", after)):
        if entry.busy:
            return f"The computer was busy during the {which} run: {entry.busy}"
    return ""


def _entry(line: bytes) -> Entry:
    document = json_values.parse(line, limit_bytes=LINE_LIMIT_BYTES, title=_TITLE)
    if not isinstance(document, dict):
        raise UserError(_TITLE, "It is no JSON object.")
    if document.pop("schema", None) != SCHEMA:
        raise UserError(_TITLE, "Another version wrote it.")
    return json_values.from_plain(Entry, document, where="run", title=_TITLE)


def _rate(line: bytes) -> HostRate | None:
    try:
        document = json_values.parse(line, limit_bytes=LINE_LIMIT_BYTES, title=_TITLE)
        if not isinstance(document, dict):
            return None
        document.pop("schema", None)
        return json_values.from_plain(HostRate, document, where="rate", title=_TITLE)
    except UserError:
        return None


def _mark(line: bytes) -> tuple[str, bool]:
    """Return a run's id and whether it is deleted from there on."""
    document = json_values.parse(line, limit_bytes=LINE_LIMIT_BYTES, title=_TITLE)
    if not isinstance(document, dict):
        raise UserError(_TITLE, "It is no JSON object.")
    run_id, is_deleted = document.get("run_id"), document.get("is_deleted")
    if not isinstance(run_id, str) or not isinstance(is_deleted, bool):
        raise UserError(_TITLE, "It marks no run.")
    return run_id, is_deleted


def _sync_folder(folder: Path) -> None:
    """Make the new file's name survive a power cut; not every system can sync a folder."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    except OSError:  # some network file systems refuse
        return
    finally:
        os.close(handle)
