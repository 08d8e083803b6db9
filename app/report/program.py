"""Program, build, command and settings of a report: what maintainers ask for first."""

import shlex

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.report.blocks import NAME_VALUE, Block, Command, Paragraph, Table
from app.runtimes import llama_argv


def blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Return program, build, runtime around it and the log that was read."""
    rows: list[tuple[str, ...]] = []
    story = evidence.log.load if evidence.log else None
    if story is not None:
        rows += [("Program in the log", story.program), ("Build", build_text(evidence))]
    if evidence.outcome is not None:
        outcome = evidence.outcome
        end = "ready" if outcome.is_ready else outcome.exit_text or "not ready"
        took = f" after {units.seconds(outcome.load_s)}" if outcome.load_s is not None else ""
        rows.append(("Load started here", f"{outcome.program}: {end}{took}"))
    builds = dict.fromkeys(f"{run.instrument} {run.build}".strip() for run in evidence.runs)
    rows += [("Measured with", build) for build in builds]
    for runtime in evidence.machine.runtimes if evidence.machine else ():
        build = f"build {runtime.build}" if runtime.build is not None else ""
        parts = [runtime.version or build or "version not told"]
        if build and not _names(parts[0], runtime.build):
            parts.append(build)
        if runtime.backends:
            parts.append(", ".join(runtime.backends))
        if runtime.is_running:
            parts.append("running")
        rows.append((f"Installed: {runtime.title}", "; ".join(parts)))
    if evidence.log is not None:
        n_lines = units.count(evidence.log.n_lines)
        rows.append(("Log", f"{evidence.log.name}, {n_lines} lines"))
    if not rows:
        return (Paragraph("No program and no log were seen."),)
    return (Table(NAME_VALUE, tuple(rows)),)


def _names(version: str, build: int | None) -> bool:
    """Tell whether a version is the build's number, as llama.cpp's own is."""
    return str(build) in version.removeprefix("b").split()


def build_text(evidence: Evidence) -> str:
    """Return the build as the log says it, without the names of functions before it."""
    said = evidence.log.last(Fact.BUILD) if evidence.log else None
    if said is not None:
        return said.text.rpartition(": ")[2]
    story = evidence.log.load if evidence.log else None
    if story is None or story.build is None:
        return "the log does not tell it"
    return str(story.build)


def command_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Return the command as it was started, and which settings were explicit."""
    found: list[Block] = []
    started = command_of(evidence)
    if started:
        found.append(Command(started))
    if evidence.request is not None:
        options = llama_argv.server_options(evidence.request).words
        text = shlex.join(options) if options else "none: all settings at the program's defaults"
        found.append(Paragraph(f"Set explicitly: {text}", is_quiet=bool(found)))
    if not found:
        return (Paragraph("The command is not known: the log does not name it."),)
    return tuple(found)


def command_of(evidence: Evidence) -> str:
    """Return the command line that was started, "" when it is not known."""
    if evidence.outcome is not None:
        return shlex.join(evidence.outcome.command)
    said = evidence.log.last(Fact.COMMAND) if evidence.log else None
    return str(said.values.get("argv", said.text)) if said is not None else ""
