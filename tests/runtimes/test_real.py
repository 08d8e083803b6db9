"""The real programs of builds 11434 and 10434: what they say is read right."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeVar

import pytest

from app.core.machine import Device, DeviceKind, Program, Runtime
from app.core.reading import State
from app.core.request import LoadRequest, Switch
from app.probes.host import RealHost
from app.runtimes import llama_argv, llama_cpp, llama_server, ollama
from app.runtimes.llama_server import RunningServer

T = TypeVar("T")
pytestmark = pytest.mark.real


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def _started(argv: tuple[str, ...]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program; its output is not read, a pipe would hold it back until it ends."""
    silent = subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=silent, stdout=silent, stderr=silent) as process:
        try:
            yield process
        finally:
            process.kill()


def _until(process: "subprocess.Popen[bytes]", answer: Callable[[], T | None]) -> T:
    """Ask again until there is an answer; the question itself takes its time."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        value = answer()
        if value is not None:
            return value
    return pytest.fail(f"no answer, exit status {process.poll()}")


def test_finds_version_flags_and_no_device_of_the_cpu_build(llama_bin: Path) -> None:
    host = RealHost()
    runtime = llama_cpp.find(host, (str(llama_bin),))[0]
    assert runtime.build == 11434
    assert runtime.source == "chosen folder"
    server = runtime.executable("llama-server")
    assert server is not None
    assert server.supports("--load-mode") is True
    assert server.supports("--no-mmap") is False
    listed = llama_cpp.list_devices(host, (runtime,))
    assert (listed.state, listed.devices) == (State.KNOWN, ())


def test_lists_the_software_device_of_the_vulkan_build(
    vulkan_server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")
    listed = llama_cpp.ask_devices(RealHost(), str(vulkan_server))
    assert listed.state is State.KNOWN
    (device,) = listed.devices
    assert (device.id, device.kind) == ("Vulkan0", DeviceKind.VULKAN)
    assert device.is_software
    assert device.total_bytes == 2048 << 20


def test_lists_a_device_over_rpc(llama_bin: Path) -> None:
    host = RealHost()
    port = _free_port()
    address = f"127.0.0.1:{port}"
    with _started((str(llama_bin / "ggml-rpc-server"), "-t", "1", "-p", str(port))) as process:
        for name in ("llama-bench", "llama-server"):
            program = str(llama_bin / name)

            def ask(program: str = program) -> Device | None:
                listed = llama_cpp.ask_devices(host, program, rpc=address)
                return listed.devices[0] if listed.devices else None

            device = _until(process, ask)
            assert (device.id, device.kind) == ("RPC0", DeviceKind.RPC)
            assert device.free_bytes
            assert address in device.source


def test_a_server_runs_with_our_command_and_is_recognised(llama_bin: Path, gemma: Path) -> None:
    host = RealHost()
    server = Program(
        "llama-server",
        str(llama_bin / "llama-server"),
        llama_cpp.read_flags(host, str(llama_bin / "llama-server")),
    )
    port = _free_port()
    request = LoadRequest(
        ngl=0,
        ctx=512,
        threads=1,
        parallel=1,
        flash_attn=Switch.ON,
        cache_type_k="q8_0",
        cache_type_v="q8_0",
        load_mode="mmap",
        ubatch=64,
        repack=False,
        kv_offload=False,
        op_offload=False,
        host_buffers=False,
        swa_full=True,
        fit_target_mib=512,
        overrides=((r"blk\.1\.ffn_up", "CPU"),),
        n_cpu_ffn=1,
    )
    options = llama_argv.server_options(request, server)
    assert options.left_out == ()
    argv = llama_argv.server_argv(server, str(gemma), request, port=port)
    with _started(argv) as process:

        def ask() -> llama_server.RunningServer | None:
            server = llama_server.ask(host, port)
            return server if server and server.loaded else None

        answer = _until(process, ask)
        assert answer.loaded[0].name == gemma.name
        assert answer.loaded[0].ctx == 512
        (found,) = (entry for entry in llama_cpp.find(host) if entry.port == port)
        assert found.is_running
        assert found.program("llama-server") == server.path


def test_llama_bench_runs_with_our_command(llama_bin: Path, gemma: Path) -> None:
    host = RealHost()
    path = str(llama_bin / "llama-bench")
    bench = Program("llama-bench", path, llama_cpp.read_flags(host, path))
    request = LoadRequest(
        ngl=0,
        threads=1,
        cache_type_k="q8_0",
        flash_attn=Switch.ON,
        kv_offload=False,
        load_mode="mmap",
        cpu_moe=True,
        n_cpu_ffn=2,
        use_devices=False,
        repack=False,
        host_buffers=False,
        op_offload=False,
    )
    argv = llama_argv.bench_argv(
        bench, str(gemma), request, n_prompt=8, n_gen=2, repetitions=1, depth=4
    )
    answer = host.run(argv, timeout_s=120)
    assert (answer.state, answer.code) == (State.KNOWN, 0), answer.stderr
    rows = answer.stdout.splitlines()
    assert len(rows) == 2
    assert all('"type_k": "q8_0"' in row and '"n_depth": 4' in row for row in rows)


def test_bench_and_server_refuse_none_of_our_flags_on_the_older_build(
    vulkan_server: Path,
) -> None:
    host = RealHost()
    flags = llama_cpp.read_flags(host, str(vulkan_server))
    program = Program("llama-server", str(vulkan_server), flags)
    request = LoadRequest(ngl=1, n_cpu_ffn=1, load_mode="none", flash_attn=Switch.OFF)
    options = llama_argv.server_options(request, program)
    assert options.left_out == ("feed-forward layers on the CPU",)
    # a model that is not there: flags are read first, so the error is not about them
    answer = host.run((program.path, "-m", "gone.gguf", *options.words), timeout_s=60)
    assert answer.code == 1
    assert "gone.gguf" in answer.stderr + answer.stdout
    assert "invalid argument" not in answer.stderr + answer.stdout


def test_python_is_no_llama_cpp() -> None:
    listed = llama_cpp.ask_devices(RealHost(), sys.executable)
    assert listed.state is State.ERROR
    assert listed.reason.startswith("exit status 2")


@pytest.mark.skipif(sys.platform != "linux", reason="the libraries are found by LD_LIBRARY_PATH")
def test_finds_a_server_of_a_strange_name_on_a_strange_port(
    llama_bin: Path, gemma: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = tmp_path / "my-assistant"
    shutil.copy2(llama_bin / "llama-server", stranger)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(llama_bin))
    port = _free_port()
    words = ("-m", str(gemma), "-c", "256", "-t", "1", "-ngl", "0", "--api-key", "geheim")
    argv = (str(stranger), *words, "--port", str(port))
    with _started(argv) as process:

        def ask() -> Runtime | None:
            found = llama_cpp.find(RealHost())
            return next((one for one in found if one.port == port), None)

        runtime = _until(process, ask)
        assert runtime.folder == str(tmp_path)
        assert runtime.argv[-2:] == ("--port", str(port))
        assert "geheim" not in runtime.argv


def test_a_router_is_found_and_holds_no_model_called_none(
    llama_bin: Path, gemma: Path, tmp_path: Path
) -> None:
    (tmp_path / gemma.name).symlink_to(gemma)
    port = _free_port()
    argv = (
        str(llama_bin / "llama-server"), "--models-dir", str(tmp_path), "--port", str(port),
        "-t", "1",
    )  # fmt: skip
    with _started(argv) as process:

        def ask() -> RunningServer | None:
            return llama_server.ask(RealHost(), port)

        server = _until(process, ask)
        assert server.build == 11434
        assert server.loaded == ()


class _LookAlike(BaseHTTPRequestHandler):
    """Says what Ollama says at /, and is not Ollama."""

    def do_GET(self) -> None:
        """Answer as a hostile server: right words, wrong types, and a redirect off the machine."""
        if self.path == "/":
            body = b"Ollama is running"
            self.send_response(200)
        elif self.path == "/api/version":
            body = b'{"version": ["0.33.0"]}'
            self.send_response(200)
        else:
            body = b""
            self.send_response(302)
            self.send_header("Location", "http://example.invalid/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Keep quiet."""


def test_a_look_alike_on_ollamas_port_is_not_ollama() -> None:
    try:
        server = ThreadingHTTPServer(("127.0.0.1", ollama.PORT), _LookAlike)
    except OSError:
        pytest.skip("something runs on Ollama's port here")
    with server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            assert [one for one in ollama.find(RealHost()) if one.is_running] == []
        finally:
            server.shutdown()
            thread.join()
