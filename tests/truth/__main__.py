"""Prints how close the planner comes to the truth file: python -m tests.truth [FILE]."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.truth.check import Report, check, compute_lines
from tests.truth.rows import FILE, read

_KINDS = ("weights", "context", "KV lines")


def row_lines(report: Report) -> Iterator[tuple[str, ...]]:
    """Yield a line per architecture and devices: rows that agree of all."""
    yield ("architecture", "devices", *_KINDS)
    pairs = sorted({(arch, devices) for arch, devices, _kind in report.rows})
    for arch, devices in pairs:
        counts = [report.rows.get((arch, devices, kind)) for kind in _KINDS]
        yield (arch, devices, *(f"{c.right}/{c.total}" if c else "-" for c in counts))
    totals = [report.kind(kind) for kind in _KINDS]
    yield ("all", "", *(f"{count.right}/{count.total}" for count in totals))


def _print(rows: Iterator[Sequence[str]]) -> None:
    lines = list(rows)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    print()


def main(arguments: Sequence[str]) -> int:
    """Compare and print; the exit status is 0 when weights, context and KV lines all agree."""
    report = check(read(Path(arguments[0]) if arguments else FILE))
    print(
        f"{report.runs} runs. Weights and context agree within 1 MiB, KV lines within 0.01 MiB:\n"
    )
    _print(row_lines(report))
    print("Compute buffers (range: what was said lies in the range that is shown):\n")
    _print(compute_lines(report))
    print(f"Refusals predicted: {report.refusals.right}/{report.refusals.total}")
    print(f"--fit decisions: {report.fits.right}/{report.fits.total}\n")
    for line in report.differences:
        print(line)
    exact = [report.kind(kind) for kind in _KINDS]
    return 0 if all(count.right == count.total for count in exact) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
