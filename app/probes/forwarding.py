"""A host that passes every question on; others change single answers."""

from collections.abc import Mapping, Sequence

from app.core.host import (
    Basics,
    CommandResult,
    Host,
    HttpAnswer,
    Listener,
    NvmlAnswer,
    ProcessInfo,
)


class ForwardingHost:
    """Asks another host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def platform(self) -> str:
        """Return linux, win32 or darwin."""
        return self._host.platform()

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return a file's text."""
        return self._host.read_text(path, limit)

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder."""
        return self._host.list_dir(path)

    def is_file(self, path: str) -> bool:
        """Tell whether a regular file is there."""
        return self._host.is_file(path)

    def file_bytes(self, path: str) -> int | None:
        """Return a file's size."""
        return self._host.file_bytes(path)

    def read_start(self, path: str, n_bytes: int) -> bytes:
        """Return at most the first n_bytes of a file."""
        return self._host.read_start(path, n_bytes)

    def may_use(self, path: str) -> bool | None:
        """Tell whether a file or device may be read and written."""
        return self._host.may_use(path)

    def real_path(self, path: str) -> str:
        """Return the path with links followed."""
        return self._host.real_path(path)

    def env(self) -> Mapping[str, str]:
        """Return the environment."""
        return self._host.env()

    def home(self) -> str:
        """Return the user's home folder."""
        return self._host.home()

    def which(self, name: str) -> str | None:
        """Return the path of a program on PATH."""
        return self._host.which(name)

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Run a program to its end."""
        return self._host.run(argv, timeout_s)

    def processes(self) -> tuple[ProcessInfo, ...]:
        """Return the running processes."""
        return self._host.processes()

    def listeners(self) -> tuple[Listener, ...]:
        """Return the listening TCP ports."""
        return self._host.listeners()

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """GET a loopback address."""
        return self._host.get(url, timeout_s, limit)

    def basics(self) -> Basics:
        """Return what the operating system's own calls say."""
        return self._host.basics()

    def nvml(self) -> NvmlAnswer:
        """Return what NVIDIA's library says."""
        return self._host.nvml()
