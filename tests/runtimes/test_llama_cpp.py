"""Finding llama.cpp: each installation once, the user's folder first, and what it can use."""

from typing import Any

from app.core.host import CommandResult, ProcessInfo
from app.core.machine import DeviceKind
from app.core.reading import State
from app.probes.recorded import Answers, RecordedHttp
from app.runtimes import llama_cpp
from tests.hosts import FakeHost, answered, fake_host, sample
from tests.runtimes import data

CACHE = "/home/user/.cache/slowscope"
VULKAN = f"{CACHE}/vulkan-10434"
BUILD = f"{CACHE}/build-11434/bin"
VERSION = data("b11434-version.txt")


def _with(*folders: str, **changes: Any) -> FakeHost:
    """Return a machine with a llama-server of build 11434 in each folder."""
    files = {f"{folder}/llama-server": "" for folder in folders}
    commands = tuple(
        answered(f"{folder}/llama-server", "--version", stderr=VERSION) for folder in folders
    )
    return FakeHost(Answers(commands=commands), files, **changes)


def test_finds_the_programs_of_a_recorded_machine() -> None:
    found = llama_cpp.find(fake_host("vm-llvmpipe"), (VULKAN, BUILD))
    assert [runtime.folder for runtime in found] == [VULKAN, BUILD]
    assert found[0].backends == ("cpu", "rpc", "vulkan")
    assert (found[0].version, found[0].build) == ("0.1.0-dev, commit 7e4c0a9", None)
    assert (found[1].version, found[1].build) == ("build 11434", 11434)
    bench = found[1].executable("llama-bench")
    assert bench is not None and bench.supports("--n-cpu-moe") is True
    assert found[0].executable("llama-bench") is None
    server = found[1].executable("llama-server")
    assert server is not None and server.supports("--no-mmap") is False


def test_finds_nothing_on_an_empty_machine() -> None:
    assert llama_cpp.find(FakeHost()) == ()
    assert llama_cpp.find(FakeHost(platform="win32")) == ()
    assert llama_cpp.find(FakeHost(platform="darwin"), ("",)) == ()


def test_takes_the_program_itself_for_its_folder() -> None:
    found = llama_cpp.find(_with("/opt/llama"), ("/opt/llama/llama-server",))
    assert [runtime.folder for runtime in found] == ["/opt/llama"]


def test_looks_into_a_source_tree_that_was_chosen() -> None:
    found = llama_cpp.find(_with("/src/llama.cpp/build/bin"), ("/src/llama.cpp",))
    assert [runtime.folder for runtime in found] == ["/src/llama.cpp/build/bin"]


def test_lists_a_link_and_its_target_once() -> None:
    path = "/usr/local/bin/llama-server"
    host = _with("/usr/local/bin", "/opt/llama", programs={"llama-server": path})
    linked = _with(
        "/usr/local/bin",
        "/opt/llama",
        programs={"llama-server": path},
        links={path: "/opt/llama/llama-server"},
    )
    assert len(llama_cpp.find(host, ("/opt/llama",))) == 2
    assert [r.folder for r in llama_cpp.find(linked, ("/opt/llama",))] == ["/opt/llama"]


def test_finds_the_programs_inside_ollama_and_jan() -> None:
    jan = "/home/user/.local/share/Jan/data/llamacpp/backends/b6500/linux-vulkan-x64/build/bin"
    found = llama_cpp.find(_with("/usr/local/lib/ollama", jan))
    assert [runtime.title for runtime in found] == [
        "llama.cpp inside Ollama",
        "llama.cpp inside Jan",
    ]


def test_finds_windows_programs_with_their_ending() -> None:
    folder = "C:\\Users\\user\\AppData\\Local\\Microsoft\\WinGet\\Packages"
    program = f"{folder}\\ggml.llamacpp_Source\\llama-server.exe"
    host = FakeHost(
        platform="win32",
        home="C:\\Users\\user",
        env={"LOCALAPPDATA": "C:\\Users\\user\\AppData\\Local"},
        files={program: "", f"{folder}\\ggml.llamacpp_Source\\ggml-cuda.dll": ""},
    )
    found = llama_cpp.find(host)
    assert [runtime.program("llama-server") for runtime in found] == [program]
    assert found[0].backends == ("cuda",)
    assert found[0].version is None


def test_stops_asking_after_two_programs_gave_no_answer() -> None:
    host = FakeHost(
        files={f"/opt/{name}/llama-server": "" for name in "abcdef"},
        hangs=True,
    )
    found = llama_cpp.find(host, tuple(f"/opt/{name}" for name in "abcdef"))
    assert len(found) == 6
    assert len(host.asked) == 2
    assert all(runtime.version is None for runtime in found)
    assert host.elapsed_s <= llama_cpp.RUNTIME.time_limit_s


def test_a_program_that_hung_is_not_asked_for_its_devices_too() -> None:
    hung = CommandResult(
        ("/opt/a/llama-server", "--version"), State.TIMEOUT, None, "", "", "no answer within 1.5 s"
    )
    good = answered(
        "/opt/b/llama-server", "--list-devices", stdout=data("b11434-list-devices-none.txt")
    )
    files = {"/opt/a/llama-server": "", "/opt/b/llama-server": ""}
    host = FakeHost(Answers(commands=(hung, good)), files)
    found = llama_cpp.find(host, ("/opt/a", "/opt/b"))
    assert [runtime.is_silent for runtime in found] == [True, False]
    assert llama_cpp.list_devices(host, found).state is State.KNOWN
    assert ("/opt/a/llama-server", "--list-devices") not in host.asked
    alone = llama_cpp.list_devices(host, found[:1])
    assert alone.state is State.TIMEOUT and "--version" in alone.reason


def test_lists_the_devices_of_a_recorded_machine() -> None:
    host = fake_host("vm-llvmpipe")
    listed = llama_cpp.list_devices(host, llama_cpp.find(host, (VULKAN, BUILD)))
    assert listed.state is State.KNOWN
    assert [device.kind for device in listed.devices] == [DeviceKind.VULKAN]
    assert listed.devices[0].is_software


def test_says_why_no_devices_were_listed() -> None:
    listed = llama_cpp.list_devices(FakeHost(), ())
    assert listed.state is State.MISSING
    assert "no llama.cpp program" in listed.reason
    hung = FakeHost(files={"/opt/a/llama-server": ""}, hangs=True)
    listed = llama_cpp.list_devices(hung, llama_cpp.find(hung, ("/opt/a",)))
    assert listed.state is State.TIMEOUT


def test_takes_the_next_program_when_the_first_is_broken() -> None:
    error = "llama-server: error while loading shared libraries: libcuda.so.1\n"
    broken = answered("/opt/a/llama-server", "--list-devices", stderr=error, code=127)
    good = answered(
        "/opt/b/llama-server", "--list-devices", stdout=data("b11434-list-devices-none.txt")
    )
    host = FakeHost(
        Answers(commands=(broken, good)),
        {"/opt/a/llama-server": "", "/opt/b/llama-server": ""},
    )
    listed = llama_cpp.list_devices(host, llama_cpp.find(host, ("/opt/a", "/opt/b")))
    assert (listed.state, listed.devices) == (State.KNOWN, ())
    listed = llama_cpp.list_devices(host, llama_cpp.find(host, ("/opt/a",))[:1])
    assert listed.state is State.ERROR
    assert listed.reason.endswith("libcuda.so.1")


def _serves(port: int, props: str = "{}") -> tuple[RecordedHttp, ...]:
    base = f"http://127.0.0.1:{port}"
    return (
        RecordedHttp(f"{base}/health", 200, '{"status":"ok"}', "llama.cpp"),
        RecordedHttp(f"{base}/props", 200, props, "llama.cpp"),
    )


def test_marks_an_installation_that_runs() -> None:
    exe = "/opt/llama/llama-server"
    host = _with(
        "/opt/llama",
        processes=(ProcessInfo(7, "llama-server", exe, (exe, "--port", "9000")),),
        http=_serves(9000, sample("llama-server-props.json")),
    )
    (runtime,) = llama_cpp.find(host, ("/opt/llama",))
    assert runtime.is_running and runtime.port == 9000
    assert [(model.name, model.ctx) for model in runtime.loaded] == [
        ("gemma3-270m-q4_k_m.gguf", 512)
    ]


def test_names_a_running_server_that_is_installed_nowhere_known() -> None:
    exe = "/tmp/unpacked/llama-server"
    host = FakeHost(processes=(ProcessInfo(7, "llama-server", exe, (exe,)),), http=_serves(8080))
    (runtime,) = llama_cpp.find(host)
    assert (runtime.folder, runtime.is_running, runtime.port) == ("/tmp/unpacked", True, 8080)
