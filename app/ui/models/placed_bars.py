"""The bars of a placement: what each device and the system memory hold, and what stays free."""

from collections.abc import Sequence

from app.core import beside, placement, units, weights
from app.core.beside import Beside
from app.core.machine import Device, Host
from app.core.overhead import Overhead, overhead_of
from app.core.placement import Placement, Row
from app.ui.widgets.byte_bar import Bar, NamedBar, Segment

BESIDE = {beside.Kind.DRAFT: "Draft model", beside.Kind.PROJECTOR: "Projector"}
_HOST_ROWS = (placement.HOST_ROW, weights.CPU_REPACK, weights.AMX)
_Part = tuple[str, str, int, str]  # role, name, bytes, source


def note_of(one: Beside) -> str:
    """Return what is counted of a file beside the model, and from where that is known."""
    option = "-md" if one.kind is beside.Kind.DRAFT else "--mmproj"
    return f"{BESIDE[one.kind]} {one.name} ({option}): {one.note}."


def _beside(others: Sequence[Beside], buffers: Sequence[str]) -> tuple[_Part, ...]:
    return tuple(
        (
            "other", BESIDE[one.kind],
            sum(row.total_bytes for row in one.rows if row.buffer in buffers),
            f"{one.name}: {one.note}",
        )
        for one in others
    )  # fmt: skip


def device_bar(device: Device, placed: Placement, others: Sequence[Beside]) -> NamedBar:
    """Return what a device holds after the load, with the driver's own use."""
    row = placed.row(device.id) or Row(device.id, False, 0, 0, 0, 0, 0)
    free = device.free_bytes
    total = device.total_bytes or free or 0
    used = max(total - free, 0) if free is not None else 0
    title = f"{device.id} · {device.description}" if device.description else device.id
    kept = overhead_of(device) if row.total_bytes else None
    return _bar(
        title, row, "device", total=total, used=used, source=device.source, told=placed.source,
        kept=kept, more=_beside(others, (device.id,)),
    )  # fmt: skip


def host_bar(host: Host, placed: Placement, others: Sequence[Beside]) -> NamedBar:
    """Return what the system memory holds after the load."""
    row = placed.total(is_host=True)
    total = host.total_bytes or 0
    available = host.available_bytes
    used = max(total - available, 0) if available is not None else 0
    return _bar(
        "System memory", row, "host", total=total, used=used, source="operating system",
        told=placed.source, more=_beside(others, _HOST_ROWS),
    )  # fmt: skip


def _bar(
    title: str, row: Row, role: str, *, total: int, used: int, source: str,
    told: str, kept: Overhead | None = None, more: tuple[_Part, ...] = (),
) -> NamedBar:  # fmt: skip
    needed = row.total_bytes + (kept.n_bytes if kept else 0) + sum(part[2] for part in more)
    width = max(total, used + needed, 1)
    parts = [
        (role, "Weights", row.weights_bytes, told),
        ("kv", "KV cache", row.context_bytes, told),
        (
            "compute",
            "Compute",
            row.compute_bytes,
            f"{told}; range {units.mib(row.compute_low_bytes)} to "
            f"{units.mib(row.compute_high_bytes)}",
        ),
        *more,
        ("other", "In use", used, f"by other programs, before the load: {source}"),
    ]
    if kept is not None:
        why = f"kept for its own use; {kept.source}"
        parts.insert(-1, ("other", "Driver", kept.n_bytes, why))
    segments = [
        Segment(which, name, units.size(n_bytes), n_bytes / width, where)
        for which, name, n_bytes, where in parts
        if n_bytes
    ]
    over = used + needed - total if total else 0
    if total and over <= 0:
        rest = total - used - needed
        segments.append(Segment("free", "Free", units.size(rest), rest / width, source))
    headline = f"{units.size(needed)} of {units.size(total)}" if total else units.size(needed)
    if total:
        headline += (
            f" · does not fit by {units.size(over)}"
            if over > 0
            else f" · {units.size(-over)} stay free"
        )
    sentence = f"{title}: {headline}. " + ", ".join(f"{s.name} {s.text}" for s in segments)
    limit = total / width if total and over > 0 else None
    return NamedBar(title, headline, over > 0, Bar(tuple(segments), limit, sentence))
