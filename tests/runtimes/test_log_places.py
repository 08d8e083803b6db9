"""Logs are found where each runtime keeps them, by the system; what is not there is not named."""

from app.core.host import ProcessInfo
from app.runtimes.log_places import JOURNAL, FoundLog, find_logs
from tests.hosts import FakeHost

LINUX = {
    "/home/user/.ollama/logs/server.log": "now",
    "/home/user/.ollama/logs/server-1.log": "before",
    "/home/user/.ollama/logs/app.log": "of the window",
    "/home/user/.lmstudio/server-logs/2026-10/2026-10-01.1.log": "a",
    "/home/user/.lmstudio/server-logs/2026-10/2026-10-02.1.log": "b",
    "/home/user/.lmstudio/server-logs/2026-09/2026-09-30.1.log": "c",
    "/home/user/.local/share/Jan/data/logs/app.log": "d",
    "/home/user/.local/share/Jan/data/logs/empty.log": "",
    "/home/user/run.log": "written by a server that runs",
}


def test_newest_log_of_each_program_comes_first() -> None:
    host = FakeHost(files=LINUX, platform="linux", home="/home/user")
    found = find_logs(host)
    assert [(log.source, log.path.removeprefix("/home/user/")) for log in found.logs] == [
        ("Ollama", ".ollama/logs/server.log"),
        ("Ollama", ".ollama/logs/server-1.log"),
        ("LM Studio", ".lmstudio/server-logs/2026-10/2026-10-02.1.log"),
        ("LM Studio", ".lmstudio/server-logs/2026-10/2026-10-01.1.log"),
        ("LM Studio", ".lmstudio/server-logs/2026-09/2026-09-30.1.log"),
        ("Jan", ".local/share/Jan/data/logs/app.log"),
    ]
    assert found.logs[0].n_bytes == 3


def test_file_that_a_running_server_writes_is_offered() -> None:
    server = ProcessInfo(
        pid=7,
        name="llama-server",
        exe="",
        argv=("llama-server", "--log-file", "/home/user/run.log"),
    )
    host = FakeHost(files=LINUX, platform="linux", home="/home/user", processes=(server,))
    assert find_logs(host).logs[0] == FoundLog("/home/user/run.log", "llama.cpp", 29)


def test_log_of_ollama_on_windows_is_in_the_users_data() -> None:
    host = FakeHost(
        files={"C:\\Users\\u\\AppData\\Local\\Ollama\\server.log": "x"},
        platform="win32",
        home="C:\\Users\\u",
        env={"LOCALAPPDATA": "C:\\Users\\u\\AppData\\Local"},
    )
    assert [log.source for log in find_logs(host).logs] == ["Ollama"]


def test_journal_is_named_when_ollama_is_a_service() -> None:
    host = FakeHost(platform="linux", home="/home/user", programs={"ollama": "/usr/bin/ollama"})
    assert find_logs(host).commands == (JOURNAL,)
    assert find_logs(FakeHost(platform="linux", home="/home/user")).commands == ()
