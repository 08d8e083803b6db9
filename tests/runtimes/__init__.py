"""Tests of the runtimes, and where their recorded outputs are."""

from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "runtimes"


def data(name: str) -> str:
    """Return a recorded output."""
    return (DATA / name).read_text(encoding="utf-8")
