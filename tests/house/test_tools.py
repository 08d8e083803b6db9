"""The tools that are part of the gate: formatting, lint, types and layers."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

# numpy's stubs are those of the Python that runs: with newer ones, mypy may not speak of 3.11
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
COMMANDS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy", "--python-version", VERSION],
    "lint-imports": ["lint-imports"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_tool_has_no_complaint(name: str) -> None:
    program, *arguments = COMMANDS[name]
    found = shutil.which(program, path=str(Path(sys.executable).parent))
    assert found, f"{program} is not installed in this environment"
    done = subprocess.run(
        [found, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{name}:\n{done.stdout}{done.stderr}"
