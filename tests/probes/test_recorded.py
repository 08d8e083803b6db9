"""Recordings: written without names, read back with the same answers, refused when broken."""

import time
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.core.host import Basics, ProcessInfo
from app.core.reading import State
from app.probes import recorded
from app.probes.recorded import RecordedHttp
from app.probes.recorder import RecordingHost
from tests.hosts import FakeHost, answered, fake_host

HOME = "/home/erika"


def _private() -> FakeHost:
    server = f"{HOME}/llama/llama-server"
    return FakeHost(
        files={
            "/proc/meminfo": "MemTotal: 1 kB\n",
            f"{HOME}/.lmstudio/settings.json": f'{{"downloadsFolder": "{HOME}/models"}}',
            "/media/erika/disk/x.gguf": "GGUF....",
        },
        home=HOME,
        env={"HF_HOME": f"{HOME}/hf", "HF_TOKEN": "hf_secret", "LOGNAME": "erika"},
        programs={"llama-server": server},
        commands=(answered(server, "--version", stderr=f"loaded from {HOME}/llama\n"),),
        processes=(
            ProcessInfo(7, "llama-server", server, (server, "--api-key", "sk-secret", "-m", "x")),
            ProcessInfo(8, "diary", f"{HOME}/diary", ("diary", "secret")),
        ),
        folders={"/usr/bin": ("gnucash", "llama-bench", "tor")},
        basics=Basics(arch="x86_64"),
    )


def _record(folder: Path) -> recorded.RecordedHost:
    host = RecordingHost(_private(), (f"{HOME}/llama",))
    host.read_text("/proc/meminfo")
    host.read_text(f"{HOME}/.lmstudio/settings.json")
    host.read_start("/media/erika/disk/x.gguf", 4)
    host.file_bytes("/media/erika/disk/x.gguf")
    host.run((host.which("llama-server") or "", "--version"))
    host.list_dir("/usr/bin")
    host.save(folder)
    return recorded.load(folder)


def test_answers_the_same_after_a_round_trip(tmp_path: Path) -> None:
    host = _record(tmp_path)
    assert host.home() == "/home/user"
    assert host.chosen == ("/home/user/llama",)
    assert host.read_text("/proc/meminfo") == "MemTotal: 1 kB\n"
    program = host.which("llama-server")
    assert program == "/home/user/llama/llama-server"
    answer = host.run((program, "--version"))
    assert (answer.state, answer.stderr) == (State.KNOWN, "loaded from /home/user/llama\n")
    assert host.read_start("/media/user/disk/x.gguf", 4) == b"GGUF"
    assert host.file_bytes("/media/user/disk/x.gguf") == 8
    assert host.basics().arch == "x86_64"


def test_holds_no_names_keys_or_other_programs(tmp_path: Path) -> None:
    _record(tmp_path)
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    places = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")]
    everything = "\n".join([*texts, *places])
    for word in ("erika", "secret", "diary", "gnucash", 'tor"', "LOGNAME"):
        assert word not in everything
    assert "llama-bench" in everything


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('[{"id":0,"n_ctx":512,"is_processing":true,"prompt":"geheim"},3]',
         '[{"id": 0, "n_ctx": 512, "is_processing": true}]'),
        ('{"prompt":"geheim"}', ""),
        ("geheim", ""),
    ],
)  # fmt: skip
def test_keeps_no_text_that_a_person_typed_into_a_server(
    body: str, kept: str, tmp_path: Path
) -> None:
    url = "http://127.0.0.1:8080/slots"
    host = RecordingHost(FakeHost(http=(RecordedHttp(url, 200, body),)))
    assert host.get(url).body == body.encode()
    host.save(tmp_path)
    assert recorded.load(tmp_path).get(url).body == kept.encode()


def test_keeps_runtimes_that_python_runs_and_no_number_of_one_card(tmp_path: Path) -> None:
    host = RecordingHost(
        FakeHost(
            processes=(
                ProcessInfo(1, "python3.12", None, ("python3", "-m", "mlx_lm", "server")),
                ProcessInfo(2, "python3.12", None, ("python3", "diary.py", "x")),
                ProcessInfo(3, "vim", None, ("vim", "llama.txt")),
            ),
            commands=(answered("vulkaninfo", stdout="\tdeviceUUID  = 6d657361-3232\n\tx = 1\n"),),
        )
    )
    host.run(("vulkaninfo",))
    host.save(tmp_path)
    again = recorded.load(tmp_path)
    assert [process.pid for process in again.processes()] == [1]
    assert "6d657361" not in again.run(("vulkaninfo",)).stdout
    assert "x = 1" in again.run(("vulkaninfo",)).stdout


def test_keeps_windows_paths_in_a_folder_of_any_system(tmp_path: Path) -> None:
    path = "C:\\Users\\Max\\.lmstudio\\settings.json"
    host = RecordingHost(FakeHost(platform="win32", home="C:\\Users\\Max", files={path: "{}"}))
    assert host.read_text(path) == "{}"
    host.save(tmp_path)
    assert (tmp_path / "files/C_/Users/user/.lmstudio/settings.json").read_text() == "{}"
    again = recorded.load(tmp_path)
    assert again.read_text("C:\\Users\\user\\.lmstudio\\settings.json") == "{}"
    assert again.list_dir("C:\\Users\\user\\.lmstudio") == ("settings.json",)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (None, "No such file"),
        ("", "Line 1"),
        ("[]", "is not"),
        ('{"schema": "slowscope.recording/9"}', "is not"),
        ('{"schema": "slowscope.recording/1", "sizes": {"a": "b"}}', "sizes"),
        ('{"schema": "slowscope.recording/1", "surprise": 1}', "surprise"),
    ],
)
def test_refuses_a_broken_recording_with_a_sentence(
    tmp_path: Path, text: str | None, word: str
) -> None:
    if text is not None:
        (tmp_path / "host.json").write_text(text)
    with pytest.raises(UserError) as caught:
        recorded.load(tmp_path)
    assert word in caught.value.sentence()


def test_lists_folders_from_the_files_that_are_there() -> None:
    host = fake_host("vm-llvmpipe")
    assert "meminfo" in host.list_dir("/proc")
    assert "thread_siblings_list" in host.list_dir("/sys/devices/system/cpu/cpu0/topology/")
    assert host.list_dir("/nowhere") == ()


def test_leaves_out_numbers_that_name_one_machine(tmp_path: Path) -> None:
    text = (
        "\tLocator: DIMM_A2\n\tSerial Number: 0123ABCD\n\tAsset Tag: 9876543210\n"
        '\tSpeed: 6000 MT/s\n{"dimm_serial_number": "0x5B4C", "GPU UUID": "GPU-1234"}\n'
    )
    host = FakeHost(commands=(answered("tool", stdout=text),))
    recorder = RecordingHost(host)
    recorder.run(("tool",))
    recorder.save(tmp_path / "rec")
    kept = recorded.load(tmp_path / "rec").run(("tool",)).stdout
    for number in ("0123ABCD", "9876543210", "0x5B4C", "GPU-1234"):
        assert number not in kept
    assert "DIMM_A2" in kept and "6000 MT/s" in kept


def test_a_long_line_is_written_down_in_time(tmp_path: Path) -> None:
    text = "a b " * 100_000
    host = RecordingHost(FakeHost(commands=(answered("tool", stdout=text),)))
    host.run(("tool",))
    started = time.process_time()
    host.save(tmp_path)
    assert time.process_time() - started < 3
    assert recorded.load(tmp_path).run(("tool",)).stdout == text
