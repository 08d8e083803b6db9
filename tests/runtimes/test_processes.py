"""Which runtime a process belongs to; other programs are none."""

import pytest

from app.core.host import ProcessInfo
from app.runtimes.processes import title_of


@pytest.mark.parametrize(
    ("name", "exe", "argv", "title"),
    [
        ("llama-server", "/opt/llama.cpp/llama-server", (), "llama.cpp: llama-server"),
        ("llama-bench.exe", r"C:\llama\llama-bench.exe", (), "llama.cpp: llama-bench"),
        ("ollama", "/usr/local/bin/ollama", ("ollama", "serve"), "Ollama"),
        ("llama-server", "/usr/local/lib/ollama/llama-server", (), "Ollama: llama-server"),
        (
            "llama-server.exe",
            r"C:\Users\user\AppData\Roaming\Jan\data\llamacpp\backends\b1\build\bin\llama-server",
            (),
            "Jan: llama-server",
        ),
        ("LM Studio Helper", None, (), "LM Studio"),
        ("koboldcpp-linux-x64", None, (), "KoboldCpp"),
        ("python3.11", None, ("python3", "-m", "vllm.entrypoints.openai.api_server"), "vLLM"),
        ("my-server", "/x/my-server", ("my-server", "-m", "a.GGUF"), "llama.cpp: my-server"),
        ("VLLM::EngineCore", None, (), "vLLM"),
    ],
)
def test_names_the_runtime(name: str, exe: str | None, argv: tuple[str, ...], title: str) -> None:
    assert title_of(ProcessInfo(7, name, exe, argv)) == title


@pytest.mark.parametrize("name", ["bash", "python3", "gnome-shell", "chrome", "code", ""])
def test_other_programs_are_none(name: str) -> None:
    assert title_of(ProcessInfo(7, name, f"/usr/bin/{name}", (name, "file.txt"))) == ""


def test_programs_that_start_others_are_none() -> None:
    for argv in (("timeout", "9", "server", "-m", "a.gguf"), ("timeout", "9", "app", "a.gguf")):
        assert title_of(ProcessInfo(7, "timeout", None, argv)) == ""
    assert title_of(ProcessInfo(7, "less", None, ("less", "a.gguf"))) == ""


def test_a_title_holds_no_path() -> None:
    exe = "/home/somebody/llama.cpp/build/bin/llama-cli"
    assert title_of(ProcessInfo(7, "llama-cli", exe, ())) == "llama.cpp: llama-cli"
