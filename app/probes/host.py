"""The real machine: files, programs, processes, ports and loopback servers, all read-only."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from app.core.host import (
    Basics,
    CommandResult,
    HttpAnswer,
    Listener,
    NvmlAnswer,
    ProcessInfo,
)
from app.core.reading import State
from app.probes import loopback, operating_system

# a question has a short answer; a program that prints without end is stopped
OUTPUT_LIMIT = 4 << 20
_SLICE_S = 0.05
_NO_WINDOW = 0x08000000  # CREATE_NO_WINDOW: no console flashes up on Windows


class RealHost:
    """Answers from this computer."""

    def platform(self) -> str:
        """Return linux, win32 or darwin."""
        return sys.platform

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return at most limit bytes of a file as text."""
        try:
            with Path(path).open("rb") as file:
                return file.read(limit).decode("utf-8", "replace")
        # EBUSY and EINVAL of sysfs too: a card that sleeps (hardware.md section 4)
        except (OSError, ValueError):
            return None

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted."""
        try:
            return tuple(sorted(os.listdir(path)))  # noqa: PTH208 - names, not paths
        except (OSError, ValueError):
            return ()

    def is_file(self, path: str) -> bool:
        """Tell whether a regular file is there."""
        try:
            return Path(path).is_file()
        except (OSError, ValueError):
            return False

    def file_bytes(self, path: str) -> int | None:
        """Return a file's size."""
        try:
            return Path(path).stat().st_size
        except (OSError, ValueError):
            return None

    def read_start(self, path: str, n_bytes: int) -> bytes:
        """Return at most the first n_bytes of a regular file."""
        if not self.is_file(path):  # a pipe or a device could wait for ever
            return b""
        try:
            with Path(path).open("rb") as file:
                return file.read(n_bytes)
        except OSError:
            return b""

    def may_use(self, path: str) -> bool | None:
        """Tell whether a file or device may be read and written; groups and ACLs are in it."""
        try:
            return os.access(path, os.R_OK | os.W_OK) if Path(path).exists() else None
        except (OSError, ValueError):
            return None

    def real_path(self, path: str) -> str:
        """Return the path with links followed."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path

    def env(self) -> Mapping[str, str]:
        """Return the environment."""
        return dict(os.environ)

    def home(self) -> str:
        """Return the user's home folder."""
        return os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none

    def which(self, name: str) -> str | None:
        """Return the path of a program on PATH."""
        return shutil.which(name)

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Run a program to its end; past the time limit its whole process group is killed."""
        words = tuple(argv)
        # files instead of pipes: a grandchild that keeps a pipe open cannot hold us up
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = _start(words, out, err)
            except FileNotFoundError:
                return _not_run(words, State.MISSING, "the program is not there")
            except PermissionError:
                return _not_run(words, State.DENIED, "the program may not be started")
            except (OSError, ValueError) as error:
                return _not_run(words, State.ERROR, f"the program did not start: {error}")
            reason = _wait(process, (out, err), timeout_s)
            texts = _text(out), _text(err)
        if reason:
            state = State.TIMEOUT if reason.startswith("no answer") else State.ERROR
            return CommandResult(words, state, None, *texts, reason)
        return CommandResult(words, State.KNOWN, process.returncode, *texts)

    def processes(self) -> tuple[ProcessInfo, ...]:
        """Return the running processes; what another user's process hides is None or empty."""
        found = []
        for process in psutil.process_iter(["pid", "name", "exe", "cmdline"]):
            info = process.info
            found.append(
                ProcessInfo(
                    pid=info["pid"],
                    name=info["name"] or "",
                    exe=info["exe"] or None,
                    argv=tuple(info["cmdline"] or ()),
                )
            )
        return tuple(found)

    def listeners(self) -> tuple[Listener, ...]:
        """Return the listening TCP ports; empty where the system does not tell (macOS)."""
        try:
            connections = psutil.net_connections("tcp")
        except (psutil.Error, OSError):
            return ()
        return tuple(
            Listener(entry.laddr.ip, entry.laddr.port, entry.pid)
            for entry in connections
            if entry.status == psutil.CONN_LISTEN and entry.laddr
        )

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """GET a loopback address; no redirects, at most limit bytes."""
        return loopback.get(url, timeout_s=timeout_s, limit=limit)

    def basics(self) -> Basics:
        """Return what the operating system's own calls say."""
        return operating_system.basics()

    def nvml(self) -> NvmlAnswer:
        """Return what NVIDIA's library says."""
        from app.probes import nvml  # loads pynvml, which the window's start must not wait for

        return nvml.ask(wsl_library=self.is_file(nvml.WSL_LIBRARY))


def child_environment(environ: Mapping[str, str], *, is_frozen: bool) -> dict[str, str]:
    """Return the environment for another program: plain language, and its own libraries.

    The packaged program points the loader at its own libraries; nvidia-smi or llama-bench would
    load those and fail. PyInstaller keeps the former value under _ORIG.
    """
    result = {**environ, "LC_ALL": "C", "LANG": "C"}
    if not is_frozen:
        return result
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        former = result.pop(f"{name}_ORIG", None)
        if former is not None:
            result[name] = former
        else:
            result.pop(name, None)
    return result


def _start(argv: tuple[str, ...], out: IO[bytes], err: IO[bytes]) -> "subprocess.Popen[bytes]":
    is_windows = sys.platform == "win32"
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env=child_environment(os.environ, is_frozen=bool(getattr(sys, "frozen", False))),
        start_new_session=not is_windows,
        creationflags=_NO_WINDOW if is_windows else 0,
    )


def _wait(
    process: "subprocess.Popen[bytes]", files: tuple[IO[bytes], IO[bytes]], timeout_s: float
) -> str:
    """Wait for the end; return why the program was killed, "" when it ended by itself."""
    deadline = time.monotonic() + timeout_s
    reason = ""
    while not reason:
        left = deadline - time.monotonic()
        try:
            process.wait(max(0.0, min(_SLICE_S, left)))
            return ""
        except subprocess.TimeoutExpired:
            if left <= _SLICE_S:
                reason = f"no answer within {timeout_s:g} s"
            elif any(os.fstat(file.fileno()).st_size > OUTPUT_LIMIT for file in files):
                reason = f"it printed more than {OUTPUT_LIMIT >> 20} MiB"
    _kill_group(process)
    process.wait()
    return reason


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    if sys.platform == "win32":
        _kill_tree(process)
    else:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # it leads its own group
        except ProcessLookupError:
            process.kill()


def _kill_tree(process: "subprocess.Popen[bytes]") -> None:
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.Error:
        children = []
    process.kill()
    for child in children:
        try:
            child.kill()
        except psutil.Error:
            continue  # it ended by itself


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(OUTPUT_LIMIT).decode("utf-8", "replace").replace("\r\n", "\n")


def _not_run(argv: tuple[str, ...], state: State, reason: str) -> CommandResult:
    return CommandResult(argv, state, None, "", "", reason)
