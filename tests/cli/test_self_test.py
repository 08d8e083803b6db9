"""The self-test passes on a whole program and fails, in words, on one that lacks a part."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.house.tree import ROOT

TABS = ["diagnose", "hardware", "fit", "offload", "logs", "benchmark"]
# a program whose bundle lacks a tab
WITHOUT_A_TAB = """
import sys
from app.ui import main_window
lost = main_window.TabSpec("logs", "Logs", "file-text", "lost_tab", "LostTab")
main_window.TABS = tuple(lost if tab.id == "logs" else tab for tab in main_window.TABS)
from app import cli
sys.exit(cli.main(["self-test", "--json", sys.argv[1]]))
"""


def self_test(folder: Path, *command: str) -> tuple[int, dict[str, Any]]:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
    }
    answer = folder / "answer.json"
    done = subprocess.run(
        [sys.executable, *command, str(answer)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.exists(), done.stderr
    return done.returncode, json.loads(answer.read_text(encoding="utf-8"))


def test_passes_on_the_whole_program(tmp_path: Path) -> None:
    status, answer = self_test(tmp_path, "-m", "app", "self-test", "--json")
    assert answer["problems"] == []
    assert status == 0
    assert answer["schema"] == "slowscope.self-test/1"
    assert [tab["id"] for tab in answer["tabs"]] == TABS
    assert all(tab["ms"] > 0 for tab in answer["tabs"])
    assert all(answer["parts"][kind] > 0 for kind in ("rules", "probes", "runtimes", "patterns"))
    assert answer["model"]["tensors"] == 21
    assert answer["pdf"]["pages"] >= 1
    assert answer["frozen"] is False
    assert answer["platform"] == "offscreen"
    assert answer["qt_messages"] == []


def test_fails_and_says_why_when_a_tab_is_missing(tmp_path: Path) -> None:
    status, answer = self_test(tmp_path, "-c", WITHOUT_A_TAB)
    assert status == 1
    assert answer["ok"] is False
    assert "lost_tab" in answer["problems"][0]
