"""Runs atheris over the target: `python -m tests.fuzz CORPUS [-max_total_time=300]`.

Atheris is no dependency: install it in an environment of your own (PyPI has wheels for Linux
and macOS up to Python 3.13). New finds are written beside the corpus as crash-*; copy them to
tests/data/fuzz.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["app"]):
    from tests.fuzz import target


def main() -> None:
    """Write the seeds into the corpus that is named first, and fuzz until told to stop."""
    corpus = Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(target.seeds()):
        (corpus / f"seed-{i:02}").write_bytes(seed)
    folder = Path(tempfile.mkdtemp())
    atheris.Setup(sys.argv, lambda data: target.run(data, folder) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
