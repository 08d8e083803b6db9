"""What GPU and programs did while it was measured, and which limits were reached."""

from app.core import units
from app.core.evidence import Evidence, GpuWatch, MemoryWatch
from app.report.blocks import NAME_VALUE, Block, Column, Heading, Paragraph, Table

_MOST_EVENTS = 20
_EVENTS = (Column("At", is_number=True), Column("What began", share=8))


def blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Return the GPU's table and the events; () when nothing was watched."""
    found: list[Block] = []
    if evidence.gpu_watch is not None:
        rows = gpu_rows(evidence.gpu_watch)
        found += [Heading("The GPU while it was measured", 2), Table(NAME_VALUE, rows)]
    if evidence.track is not None:
        found += [Heading("Limits that were reached", 2), *_events(evidence)]
    if evidence.watch is not None and (grown := growth(evidence.watch)):
        found.append(Paragraph(grown, is_quiet=True))
    return tuple(found)


def gpu_rows(watch: GpuWatch) -> tuple[tuple[str, str], ...]:
    """Return what is known of a watched card, name and value."""
    rows = (
        ("Card", watch.name),
        ("In use", _percent(watch.use_mean, "of the time, on average")),
        ("Memory read or written", _percent(watch.memory_use_mean, "of the time, on average")),
        ("Memory free", _least(watch)),
        ("Memory clock", _fall(watch.memory_clock_min)),
        ("Computing clock", _fall(watch.clock_min)),
        ("Clocks held down by", _reasons(watch)),
        ("Temperature", _against(watch.temperature_max, watch.temperature_limit, "°C")),
        ("Power", _against(watch.power_max_w, watch.power_limit_w, "W")),
        ("Link", _link(watch)),
        ("System memory taken on for the card", _size(watch.shared_growth_bytes)),
        ("Watched", f"{watch.n_samples} samples; {watch.source or 'GPU watch'}"),
    )
    return tuple((name, text) for name, text in rows if text)


def growth(watch: MemoryWatch) -> str:
    """Say by how much the runtime's own memory changed, "" when it is not known."""
    grown = watch.own_growth_bytes
    if grown is None:
        return ""
    how = "grew" if grown >= 0 else "shrank"
    return (
        f"The runtime's own memory {how} by {units.size(abs(grown))} in "
        f"{units.seconds(watch.seconds)}; the mapped model file does not count."
    )


def _events(evidence: Evidence) -> list[Block]:
    track = evidence.track
    events = track.events[:_MOST_EVENTS] if track is not None else ()
    if not events:
        return [Paragraph("None, as far as this computer tells.", is_quiet=True)]
    return [Table(_EVENTS, tuple((units.seconds(event.at_s), event.text) for event in events))]


def _percent(share: float | None, words: str) -> str:
    return "" if share is None else f"{units.percent(share, 0)} {words}"


def _least(watch: GpuWatch) -> str:
    return "" if watch.free_min_bytes is None else f"at least {units.gib(watch.free_min_bytes)}"


def _fall(share: float | None) -> str:
    if share is None:
        return ""
    if share > 0.995:
        return "did not fall while it worked"
    return f"fell to {units.percent(share, 0)} of the highest before, while it worked"


def _reasons(watch: GpuWatch) -> str:
    if watch.reasons:
        return ", ".join(watch.reasons)
    if watch.n_thermal is None:
        return ""
    return "the power limit (normal at full load)" if watch.is_capped else "nothing"


def _against(most: float | None, limit: float | None, unit: str) -> str:
    if most is None:
        return ""
    return f"at most {most:.0f} {unit}" + (f", limit {limit:.0f} {unit}" if limit else "")


def _link(watch: GpuWatch) -> str:
    parts = []
    if watch.link_generation is not None and watch.link_generation_max is not None:
        parts.append(f"PCIe {watch.link_generation} of {watch.link_generation_max}")
    if watch.link_width is not None and watch.link_width_max is not None:
        parts.append(f"{watch.link_width} of {watch.link_width_max} lanes")
    if watch.link_max_bytes_s is not None:
        parts.append(f"at most {units.bandwidth(watch.link_max_bytes_s)}")
    return ", ".join(parts)


def _size(n_bytes: int | None) -> str:
    return "" if n_bytes is None else units.size(n_bytes)
