"""A llama-server of somebody else: watched while it answers, and still there afterwards."""

import json
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication

from app.rules import judge
from app.work import headless
from app.work.load_probe import free_port
from app.work.observe_run import ObservePlan

pytestmark = pytest.mark.real


def _ask(port: int, path: str, body: dict[str, object] | None = None) -> bytes:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def until_ready(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Return once a server answers."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            _ask(port, "/health")
        except OSError:
            continue
        return
    pytest.fail(f"no answer, exit status {process.poll()}")


def test_watches_a_running_server_without_restarting_it(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path, tmp_path: Path
) -> None:
    port = free_port()
    log = tmp_path / "server.log"
    silent = subprocess.DEVNULL
    argv = (
        str(llama_bin / "llama-server"), "-m", str(gemma), "-c", "1024", "-t", "1", "-np", "1",
        "--port", str(port), "-lv", "4", "--log-file", str(log),
    )  # fmt: skip
    with subprocess.Popen(argv, stdin=silent, stdout=silent, stderr=silent) as process:
        try:
            until_ready(process, port)
            body: dict[str, object] = {"prompt": "Count:", "n_predict": 400, "ignore_eos": True}
            user = threading.Thread(target=_ask, args=(port, "/completion", body))
            user.start()
            found = headless.run_observe(ObservePlan((str(llama_bin),), port=port, seconds=3.0))
            user.join()
            assert process.poll() is None  # it is still the user's
        finally:
            process.kill()
    evidence = found.evidence
    assert evidence.model is not None and evidence.model.name == gemma.name
    assert evidence.request is not None
    assert (evidence.request.ctx, evidence.request.threads) == (1024, 1)
    story = evidence.log.load if evidence.log else None
    assert story is not None and story.weights_on_device is False
    assert evidence.watch is not None and evidence.watch.n_samples >= 3
    assert any("holds gemma" in note and "1,024" in note for note in evidence.notes)
    assert any("No rate was measured" in note for note in evidence.notes)
    assert judge.diagnose(evidence).ruled_out
