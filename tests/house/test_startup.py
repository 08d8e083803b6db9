"""The window opens fast: what is slow to import is not imported at its start."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.house.tree import ROOT

SLOW = ("numpy", "pyqtgraph", "pynvml")
BUILD_WINDOW = f"""
import json, sys
from app.ui import start
app = start.make_application(["test"])
window = start.make_window(app)
window.show()
app.processEvents()
print(json.dumps([name for name in {SLOW!r} if name in sys.modules]))
window.close()
"""


def test_window_is_built_without_slow_imports(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", BUILD_WINDOW],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
