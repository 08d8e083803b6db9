"""Where the bytes are: asked against given, buffers of the log, and our own sum beside them."""

from app.core import units
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.log import BufferKind, LoadStory, LogBuffer, Role
from app.core.placement import Placement
from app.core.request import LoadRequest
from app.core.said import AGREES_TEXT, Part, Said
from app.report.blocks import (
    Block,
    ByteBar,
    ByteChart,
    Column,
    Heading,
    Ink,
    Paragraph,
    Piece,
    Table,
)

_ASKED = (Column("", share=2), Column("Asked", share=2), Column("Given", share=3))
_ROLES = {
    Role.WEIGHTS: "weights",
    Role.KV: "KV cache",
    Role.COMPUTE: "compute",
    Role.OUTPUT: "output",
}
_KINDS = {
    BufferKind.DEVICE: "device",
    BufferKind.HOST: "system memory",
    BufferKind.UNKNOWN: "not known",
}
_TWICE = (
    "In system memory the same weights can be listed twice: mapped from the file, and repacked for "
    "the processor."
)


def blocks(evidence: Evidence, found: Forecast) -> tuple[Block, ...]:
    """Return asked and given, the buffers, and the calculated sum."""
    story = evidence.log.load if evidence.log else None
    blocks: list[Block] = []
    if story is not None:
        blocks.append(Table(_ASKED, _asked_rows(evidence.request, story)))
        if story.note:
            blocks.append(Paragraph(story.note))
    if story is not None and story.buffers:
        blocks += [
            ByteChart("Buffers in the log", _bars(evidence, story)),
            Table(
                (
                    Column("Buffer", share=3),
                    Column("Holds", share=2),
                    Column("Where", share=2),
                    Column("Size", is_number=True, share=2),
                    Column("Log line", is_number=True),
                ),
                tuple(_buffer_row(buffer) for buffer in story.buffers),
            ),
        ]
        if len(_host_weights(story)) > 1:
            blocks.append(Paragraph(_TWICE, is_quiet=True))
    if found.placement is not None:
        blocks += _calculated(found.placement)
    if evidence.said is not None:
        blocks += _said(evidence.said)
    if not blocks:
        return (Paragraph("No log of a load and no model file were seen."),)
    return tuple(blocks)


def _said(said: Said) -> tuple[Block, ...]:
    """Return llama.cpp's own word; what differs from the calculated sum is never left out."""
    ngl = "auto" if said.request.ngl is None else str(said.request.ngl)
    about = f"Asked for n_gpu_layers {ngl}, context {units.count(said.request.ctx)}."
    rows = tuple(
        (row.buffer, *(units.mib(row.mib(part) * units.MIB, 0) for part in Part))
        for row in said.rows
    )
    return (
        Heading("What llama.cpp itself says of a load"),
        Paragraph(f"{said.source}. {about}"),
        Table(
            (
                Column("Buffer", share=3),
                Column("Weights", is_number=True, share=2),
                Column("Context", is_number=True, share=2),
                Column("Compute", is_number=True, share=2),
            ),
            rows,
        ),
        Paragraph(
            f"Differs from what was calculated: {'; '.join(said.differences)}."
            if said.differences
            else AGREES_TEXT
        ),
    )


def _asked_rows(request: LoadRequest | None, story: LoadStory) -> tuple[tuple[str, ...], ...]:
    names = (
        "Layers on the device",
        "Weights on the device",
        "Context",
        "Cache types K, V",
        "Flash attention",
        "Chats at once",
    )
    return tuple(zip(names, _asked(request), _given(story), strict=True))


def _asked(request: LoadRequest | None) -> tuple[str, ...]:
    if request is None:
        return (units.UNKNOWN, "–", *(units.UNKNOWN for _ in range(4)))
    is_automatic = request.ngl is None or request.ngl < 0
    layers = "automatic" if is_automatic else str(request.ngl)
    return (
        layers if request.use_devices else f"{layers}, but --device none",
        "–",
        units.count(request.ctx) if request.ctx else "automatic",
        f"{request.cache_type_k}, {request.cache_type_v}",
        request.flash_attn.value,
        "automatic" if request.parallel is None else str(request.parallel),
    )


def _given(story: LoadStory) -> tuple[str, ...]:
    line = units.UNKNOWN
    if story.offload_line is not None:
        line = f"{story.offload_line[0]} of {story.offload_line[1]}, says the offload line"
    on_device = {True: "yes, say the buffers", False: "no, say the buffers", None: units.UNKNOWN}
    slot = f", {units.count(story.n_ctx_slot)} for each chat" if story.n_ctx_slot else ""
    trained = f" (trained for {units.count(story.n_ctx_train)})" if story.n_ctx_train else ""
    tokens = units.UNKNOWN if story.n_ctx is None else f"{units.count(story.n_ctx)} tokens"
    types = (story.cache_type_k, story.cache_type_v)
    return (
        line,
        on_device[story.weights_on_device],
        f"{tokens}{slot}{trained}",
        ", ".join(kind for kind in types if kind) or units.UNKNOWN,
        story.flash_attn or units.UNKNOWN,
        units.count(story.n_slots),
    )


def _buffer_row(buffer: LogBuffer) -> tuple[str, ...]:
    return (
        buffer.name,
        _ROLES[buffer.role],
        _KINDS[buffer.kind],
        units.mib(buffer.n_bytes),
        str(buffer.line),
    )


def _bars(evidence: Evidence, story: LoadStory) -> tuple[ByteBar, ...]:
    totals = {d.id: d.total_bytes for d in evidence.machine.devices} if evidence.machine else {}
    names = dict.fromkeys(
        b.device or b.name for b in story.buffers if b.kind is not BufferKind.HOST
    )
    bars = [
        _bar(name, [b for b in story.buffers if (b.device or b.name) == name], totals.get(name))
        for name in names
    ]
    host = [b for b in story.buffers if b.kind is BufferKind.HOST]
    if host:
        memory = evidence.machine.number("memory.total") if evidence.machine else None
        bars.append(_bar("System memory", host, memory))
    return tuple(bars)


def _bar(label: str, buffers: list[LogBuffer], total: int | None) -> ByteBar:
    sums: dict[Ink, int] = {}
    for buffer in buffers:
        ink = _ink(buffer)
        sums[ink] = sums.get(ink, 0) + buffer.n_bytes
    pieces = tuple(Piece(ink, sums[ink]) for ink in Ink if sums.get(ink))
    return ByteBar(label, pieces, total)


def _ink(buffer: LogBuffer) -> Ink:
    if buffer.role is Role.WEIGHTS:
        return Ink.HOST if buffer.kind is BufferKind.HOST else Ink.DEVICE
    return Ink.CACHE if buffer.role is Role.KV else Ink.COMPUTE


def _host_weights(story: LoadStory) -> list[LogBuffer]:
    return [b for b in story.buffers if b.kind is BufferKind.HOST and b.role is Role.WEIGHTS]


def _calculated(placed: Placement) -> list[Block]:
    columns = (
        Column("Memory", share=3),
        Column("Weights", is_number=True, share=2),
        Column("KV cache", is_number=True, share=2),
        Column("Compute", is_number=True, share=2),
        Column("Sum", is_number=True, share=2),
    )
    rows = tuple(
        (
            row.buffer,
            units.mib(row.weights_bytes),
            units.mib(row.context_bytes),
            units.mib(row.compute_bytes),
            units.mib(row.total_bytes),
        )
        for row in placed.rows
    )
    text = (
        f"Calculated from the header of the file: {placed.ngl} of {placed.layers_total} layers, "
        f"{units.count(placed.context.n_ctx)} tokens of context. "
        f"f = {placed.f:.3f}: {units.percent(placed.f)} of the bytes read for each token are in "
        "system memory."
    )
    found: list[Block] = [Heading("The same, calculated", 2), Table(columns, rows), Paragraph(text)]
    found += [Paragraph(reason, is_quiet=True) for reason in placed.not_calculated]
    return found
