"""A device of the real llama.cpp without a GPU: ggml-rpc-server on this computer."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.probes.host import RealHost
from app.runtimes import llama_cpp
from app.work.load_probe import free_port


@contextmanager
def rpc_device(folder: Path, *, threads: int = 1) -> Iterator[str]:
    """Start a device with so many threads, and give its address, host:port."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    silent = subprocess.DEVNULL
    argv = (str(folder / "ggml-rpc-server"), "-t", str(threads), "-p", str(port))
    with subprocess.Popen(argv, stdin=silent, stdout=silent, stderr=silent) as process:
        try:
            deadline = time.monotonic() + 60
            server = str(folder / "llama-server")
            # the question itself takes its time
            while not llama_cpp.ask_devices(RealHost(), server, rpc=address).devices:
                assert process.poll() is None and time.monotonic() < deadline
            yield address
        finally:
            process.kill()
