"""dev.py: what it says before anything is installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dev
from tests.house.tree import ROOT


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "requirements").mkdir()
    for name in ("app.lock", "dev.lock"):
        (tmp_path / "requirements" / name).write_text(f"# {name}\n")
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    return tmp_path


@pytest.fixture
def steps(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note what would be run, and pretend that the environment works."""
    noted: list[str] = []
    (project / ".venv").mkdir()

    def run(command: list[str]) -> None:
        noted.append(Path(command[-1]).name)

    monkeypatch.setattr(dev, "run", run)
    monkeypatch.setattr(dev, "works", lambda _python: True)
    monkeypatch.setattr(dev, "put_on_path", lambda: None)
    monkeypatch.setattr(dev, "failure", lambda _code: "")
    return noted


def test_prints_how_to_use_it_when_asked_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main([]) == 2
    assert dev.main(["instal"]) == 2
    assert "dev.py app" in capsys.readouterr().err


def test_installs_once_while_the_lock_is_unchanged(steps: list[str], project: Path) -> None:
    dev.prepare("test")
    dev.prepare("test")
    assert steps == ["dev.lock"]
    (project / "requirements" / "dev.lock").write_text("# changed\n")
    dev.prepare("test")
    assert steps == ["dev.lock", "dev.lock"]


def test_starts_the_app_from_the_environment_of_the_tests(steps: list[str]) -> None:
    dev.prepare("test")
    dev.prepare("app")
    assert steps == ["dev.lock"]


def test_installs_again_when_the_project_was_moved(
    steps: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev.prepare("app")
    moved = project / "moved"
    (project / "requirements").rename(moved.with_name("kept"))
    moved.mkdir()
    moved.with_name("kept").rename(moved / "requirements")
    monkeypatch.setattr(dev, "ROOT", moved)
    dev.prepare("app")
    assert steps == ["app.lock", "app.lock"]


@pytest.mark.parametrize(
    ("missing", "packages"),
    [
        (dev.CHECK_QT, dev.PACKAGES),
        (dev.CHECK_X11, f"{dev.PACKAGES} {dev.WINDOW_PACKAGES}"),
    ],
    ids=["libGL", "libxcb-cursor"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the libraries are Linux's")
def test_names_the_packages_and_exits_2_when_a_library_is_missing(
    steps: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    missing: str,
    packages: str,
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(dev, "failure", lambda code: "no such file" if code == missing else "")
    assert dev.main(["app"]) == 2
    line = f"apt-get install -y --no-install-recommends {packages}\n"
    assert capsys.readouterr().err.endswith(line)
    # and it looks again the next time
    assert not list(dev.VENV.glob("*.installed"))


def test_names_python3_venv_when_ensurepip_is_missing(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert dev.main(["app"]) == 2
    assert "python3-venv" in capsys.readouterr().err


def test_is_offscreen_when_there_is_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert dev.test_environment()["QT_QPA_PLATFORM"] == "offscreen"
    monkeypatch.setenv("DISPLAY", ":0")
    assert "QT_QPA_PLATFORM" not in dev.test_environment()


def test_check_sees_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "venv_python", lambda: Path(sys.executable))
    assert dev.failure("import ctypes; ctypes.CDLL('libno-such.so.1')").startswith("OSError")
    assert dev.failure(dev.CHECK_QT) == ""


def test_needs_the_standard_library_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "dev.py")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "usage" in done.stderr
