"""From nothing to running: `dev.py app` starts the application, `dev.py test` runs all tests.

Both create .venv with exactly the versions of requirements/*.lock. Standard library only; also an
old Python (3.7) must be able to read this file, to say that it is too old.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
APT = "apt-get install -y --no-install-recommends "
# proved in a bare Debian 12; the rest comes as dependencies
PACKAGES = (
    "python3 python3-venv libgl1 libegl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0"
)
WINDOW_PACKAGES = "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0"
USAGE = """usage: python3 dev.py app [FILE...]          start the window (or a subcommand)
       python3 dev.py test [PYTEST ARGS...]  run all tests"""
# runs in the new environment: the imports fail when a system library is missing
CHECK_QT = "import PySide6.QtWidgets"
CHECK_X11 = """
import ctypes, pathlib, PySide6, PySide6.QtWidgets
ctypes.CDLL(str(pathlib.Path(PySide6.__file__).parent / "Qt/plugins/platforms/libqxcb.so"))
"""


class SetupError(Exception):
    """Something the user must do first; the text says what."""


def main(arguments: list[str]) -> int:
    """Run `app` or `test`; the exit status is 2 when something must be installed first."""
    if sys.version_info < OLDEST:
        found = sys.version.split()[0]
        print("Python 3.11 or newer is needed, this is " + found + ".", file=sys.stderr)
        return 2
    if not arguments or arguments[0] not in ("app", "test"):
        print(USAGE, file=sys.stderr)
        return 2
    what, extra = arguments[0], arguments[1:]
    try:
        prepare(what)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    # -P: a folder named "app" where the user stands must not be taken for ours
    if what == "app":
        return start([str(venv_python()), "-P", "-m", "app", *extra], dict(os.environ))
    os.chdir(ROOT)
    return start([str(venv_python()), "-m", "pytest", *extra], test_environment())


def prepare(what: str) -> None:
    """Create the environment and install the lock, unless that was done before."""
    lock = ROOT / "requirements" / ("app.lock" if what == "app" else "dev.lock")
    # dev.lock holds all of app.lock (tests/house looks)
    enough = {lock.name, "dev.lock"}
    if works(venv_python()) and any(is_installed(name) for name in enough):
        return
    uv = shutil.which("uv")
    if not works(venv_python()):
        create_venv(uv)
    for marker in VENV.glob("*.installed"):
        marker.unlink()
    say("installing " + str(lock.relative_to(ROOT)) + " (once, takes a minute)")
    pip = [uv, "pip"] if uv else [str(venv_python()), "-m", "pip", "--disable-pip-version-check"]
    where = ["--python", str(venv_python())] if uv else []
    run([*pip, "install", "--quiet", *where, "--require-hashes", "-r", str(lock)])
    put_on_path()
    check_libraries()
    marker_of(lock.name).write_text(fingerprint(lock.name))


def create_venv(uv: str | None) -> None:
    """Make .venv anew, with this Python."""
    say("creating .venv with Python " + sys.version.split()[0])
    if VENV.exists():
        shutil.rmtree(VENV)
    if uv:
        run([uv, "venv", "--quiet", "--seed", "--python", sys.executable, str(VENV)])
        return
    try:
        # Debian keeps it in the package python3-venv
        import ensurepip  # noqa: F401
    except ImportError:
        raise SetupError("Python's venv is not complete. Run as root:\n" + apt(PACKAGES)) from None
    run([sys.executable, "-m", "venv", str(VENV)])


def put_on_path() -> None:
    """Let the environment find the folder app/ from wherever it is started."""
    line = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run(
        [str(venv_python()), "-c", line], capture_output=True, text=True, check=True
    ).stdout.strip()
    Path(site, "slowscope.pth").write_text(str(ROOT) + "\n", encoding="utf-8")


def check_libraries() -> None:
    """Import Qt in a child process; a missing system library is named with its apt line."""
    error = failure(CHECK_QT)
    if error:
        raise SetupError(
            error + "\nQt needs libraries of the system. Run as root:\n" + apt(PACKAGES)
        )
    has_x11 = sys.platform == "linux" and bool(os.environ.get("DISPLAY"))
    error = failure(CHECK_X11) if has_x11 else ""
    if error:
        needed = apt(PACKAGES + " " + WINDOW_PACKAGES)
        raise SetupError(
            error + "\nA window needs libraries of the system. Run as root:\n" + needed
        )


def failure(code: str) -> str:
    """Return the last line of what a piece of Python printed when it failed, else ""."""
    done = subprocess.run(
        [str(venv_python()), "-c", code], capture_output=True, text=True, check=False
    )
    lines = done.stderr.strip().splitlines() or ["exit status " + str(done.returncode)]
    return lines[-1] if done.returncode else ""


def test_environment() -> dict[str, str]:
    """Return the environment of the tests: offscreen where there is no screen."""
    environment = dict(os.environ)
    screen = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    if sys.platform == "linux" and not screen:
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    return environment


def start(command: list[str], environment: dict[str, str]) -> int:
    """Become the program, so that signals reach it; Windows has no exec that waits."""
    sys.stdout.flush()
    if sys.platform == "win32":
        return subprocess.call(command, env=environment)
    return os.execve(command[0], command, environment)


def run(command: list[str]) -> None:
    """Run a step and stop with its output when it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise SetupError(" ".join(command) + " failed:\n" + done.stdout.strip())


def works(python: Path) -> bool:
    """Tell whether the environment's Python is there, new enough, and starts."""
    if not python.exists():
        return False
    code = "import sys; sys.exit(sys.version_info < " + repr(OLDEST) + ")"
    return subprocess.run([str(python), "-c", code], check=False).returncode == 0


def is_installed(lock_name: str) -> bool:
    """Tell whether this lock, unchanged, was installed here."""
    marker = marker_of(lock_name)
    return marker.exists() and marker.read_text() == fingerprint(lock_name)


def fingerprint(lock_name: str) -> str:
    """Return the lock's hash together with the place of the project, which may be moved."""
    lock = (ROOT / "requirements" / lock_name).read_bytes()
    return hashlib.sha256(lock).hexdigest() + " " + str(ROOT)


def marker_of(lock_name: str) -> Path:
    """Return the file that says that a lock is installed."""
    return VENV / (lock_name + ".installed")


def venv_python() -> Path:
    """Return the environment's Python."""
    return VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def apt(packages: str) -> str:
    """Return the line to type on Debian or Ubuntu."""
    return "    " + APT + packages


def say(text: str) -> None:
    """Print progress."""
    print("dev.py: " + text, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
