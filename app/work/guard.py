"""The launcher between us and a program: when we die, however, nothing of it is left.

Runs as its own small process, so it imports the standard library alone and little of it. It
stands between: it starts the program, passes on how it ended, and kills the program with all its
descendants when the process that asked for it is gone, also after kill -9 of that process.

Linux: prctl(2). PR_SET_PDEATHSIG tells the guard that its parent died, PR_SET_CHILD_SUBREAPER
makes orphaned grandchildren children of the guard, so that it finds all of them. The program
itself gets PR_SET_PDEATHSIG too, in case the guard is killed. macOS: kqueue watches the parent
(kqueue(2), EVFILT_PROC; not tested). Windows has no need of it (app/work/windows_job.py).
"""

import ctypes
import os
import signal
import sys
from typing import NoReturn

FLAG = "--guard"
# what the guard says, as its last line on stderr and as exit code, when the program can't start
NOT_STARTED = 125
MARK = "guard: cannot start: "

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBRARY_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def prefix(parent: int) -> tuple[str, ...]:
    """Return what to put before a program and its arguments to run them under the guard."""
    if getattr(sys, "frozen", False):
        return (sys.executable, FLAG, str(parent))
    # as a file, without site packages: starts in 20 ms and needs no path to this package
    return (sys.executable, "-I", "-S", os.path.abspath(__file__), str(parent))  # noqa: PTH100


def main(arguments: list[str]) -> int:
    """Run a program under guard; arguments are the parent's process id, the program, its own."""
    parent, command = int(arguments[0]), arguments[1:]
    try:
        if sys.platform == "linux":
            code = _guard_linux(parent, command)
        elif sys.platform == "darwin":
            code = _guard_mac(parent, command)
        else:
            raise OSError(0, "the guard runs on Linux and macOS only")
    except OSError as error:  # no fork, or a sandbox without prctl
        os.write(2, f"\n{MARK}{error.strerror}\n".encode())
        code = NOT_STARTED
    return code


def _guard_linux(parent: int, command: list[str]) -> int:
    watched = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    _leave_terminal_signals()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != parent:  # it died before we began to watch
        return NOT_STARTED
    program = _start(command, watched)
    while True:
        arrived = signal.sigwait(watched)
        if os.getppid() != parent:
            _kill_descendants()
            return NOT_STARTED
        if arrived == signal.SIGTERM:
            _send(program, signal.SIGTERM)
            continue
        status = _reap(program)
        if status is not None:
            _kill_descendants()
            return _end_like(status)


if sys.platform == "darwin":

    def _guard_mac(parent: int, command: list[str]) -> int:
        import select

        watched = {signal.SIGTERM}
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # EVFILT_SIGNAL sees ignored signals too
        _leave_terminal_signals()
        queue = select.kqueue()
        flags = select.KQ_EV_ADD | select.KQ_EV_ONESHOT
        try:
            queue.control(
                [
                    select.kevent(parent, select.KQ_FILTER_PROC, flags, select.KQ_NOTE_EXIT),
                    select.kevent(signal.SIGTERM, select.KQ_FILTER_SIGNAL, select.KQ_EV_ADD),
                ],
                0,
            )
        except ProcessLookupError:
            return NOT_STARTED
        if os.getppid() != parent:
            return NOT_STARTED
        program = _start(command, watched)
        exit_event = select.kevent(program, select.KQ_FILTER_PROC, flags, select.KQ_NOTE_EXIT)
        try:
            queue.control([exit_event], 0)
        except ProcessLookupError:  # it has ended already
            return _end_like(os.waitpid(program, 0)[1])
        while True:
            event = queue.control(None, 1)[0]
            if event.ident == parent:
                _kill_group(program)
                return NOT_STARTED
            if event.ident == program:
                _kill_group(program)
                return _end_like(os.waitpid(program, 0)[1])
            _send(program, signal.SIGTERM)


def _start(command: list[str], blocked: set[signal.Signals]) -> int:
    """Start the program in a session of its own, so that Ctrl+C in a terminal reaches only us."""
    guard = os.getpid()
    program = os.fork()
    if program == 0:
        _become(command, guard, blocked)
    return program


def _become(command: list[str], guard: int, blocked: set[signal.Signals]) -> NoReturn:
    try:
        os.setsid()
        if sys.platform == "linux":
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guard:
                os._exit(NOT_STARTED)
        # Python ignores these, and what is ignored stays ignored after exec
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGHUP,
                        signal.SIGQUIT, signal.SIGTERM):  # fmt: skip
            signal.signal(ignored, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        os.execve(command[0], command, _environment())
    except OSError as error:
        os.write(2, f"\n{MARK}{error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _environment() -> dict[str, str]:
    """Return the program's environment: the packaged guard has its own libraries on the path."""
    result = dict(os.environ)
    if not getattr(sys, "frozen", False):
        return result
    for name in _LIBRARY_PATHS:  # PyInstaller keeps the former value under _ORIG
        former = result.pop(f"{name}_ORIG", None)
        result.pop(name, None)
        if former is not None:
            result[name] = former
    return result


def _leave_terminal_signals() -> None:
    """Let Ctrl+C and a closed terminal pass by: the process that asked decides what they mean."""
    for passing in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(passing, signal.SIG_IGN)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _reap(program: int) -> int | None:
    """Collect what has ended; return the program's own status when it is among it."""
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = ended


def _kill_descendants() -> None:
    """Kill all that stems from us; orphans become our children, so in the end none is left."""
    while True:
        for pid in _descendants():
            _send(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _descendants() -> list[int]:
    """Return the process ids below us (proc(5): stat, the field after the name and the state)."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib is slow to load
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                after_name = file.read().rpartition(b")")[2].split()
        except OSError:  # it has just ended
            continue
        children.setdefault(int(after_name[1]), []).append(int(name))
    found, unseen = [], [os.getpid()]
    while unseen:
        below = children.get(unseen.pop(), [])
        found += below
        unseen += below
    return found


def _kill_group(program: int) -> None:
    try:
        os.killpg(program, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS: EPERM when only zombies are left
        return


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _end_like(status: int) -> int:
    """End the way the program ended: with its exit code, or by the signal that ended it."""
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    import resource

    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 + number


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
