"""plan --exact: llama.cpp's own word beside the calculated one."""

from collections.abc import Sequence

from app.cli import BAD_USAGE, CommandError
from app.cli.devices import Computer
from app.core import placement, said, units
from app.core.errors import UserError
from app.core.model import Model
from app.core.placement import Placement, Prepared
from app.core.plan import Situation
from app.core.said import Figure, Said
from app.core.units import MIB


def said_of(model: Model, prepared: Prepared, situation: Situation, computer: Computer) -> Said:
    """Run this computer's llama.cpp for the same request; UserError when it does not say."""
    from app.work import dry_pass, headless

    if computer.machine is None:
        raise CommandError(
            BAD_USAGE,
            "--exact asks this computer's llama.cpp, which knows no devices of --device-free.",
        )
    placed = dry_placement(prepared, situation)
    question = dry_pass.question_of(model, situation.request, computer.machine, placed)
    if question is None:
        raise UserError(
            "No llama.cpp program was found to ask",
            f"A plan for {situation.request.tool.value} asks "
            f"{dry_pass.program_name(situation.request.tool)}.",
            "Name its folder with --llama-bin.",
        )
    return dry_pass.compared(headless.ask_llama(question), placed)


def dry_placement(prepared: Prepared, situation: Situation) -> Placement:
    """Return the placement as a dry pass has it: no file is mapped."""
    return placement.place(
        prepared, situation.devices, situation.host, situation.request,
        fill=situation.fill, dry_pass=True, build=situation.build,
    )  # fmt: skip


def said_lines(figures: Sequence[Figure], found: Said) -> list[str]:
    """Return both words side by side, one line per part of a buffer."""
    from app.cli.plan_text import columns

    rows = [("", "", "calculated", "llama.cpp says", "")]
    rows += [
        (
            figure.buffer,
            figure.part.value,
            units.mib(figure.n_bytes),
            units.mib((figure.said_mib or 0) * MIB, 0),
            "differs" if figure.is_apart else "",
        )
        for figure in figures
        if figure.n_bytes >= MIB or figure.said_mib
    ]
    end = said.AGREES_TEXT if not found.differences else said.TOLERANCE_TEXT
    asked = f"Asked {found.source}; it took {units.seconds(found.seconds)}."
    if found.is_sparse_copy:
        asked += " The file is not complete, so a sparse copy of its header was asked about."
    return ["", "llama.cpp's own word:", *(f"  {line}" for line in columns(rows, left=2)),
            f"  {end}", f"  {asked}"]  # fmt: skip
