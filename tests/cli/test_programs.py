"""Which programs a command runs: those of --llama-bin alone when it is given."""

from pathlib import Path

import pytest

from app.cli import BAD_USAGE, CommandError, programs
from app.core.machine import Machine, Program, Runtime
from app.core.request import Tool
from app.work.settings import LLAMA_FOLDER, Settings
from tests.hosts import FakeHost

CHOSEN = str(Path("/chosen").absolute())


def _runtime(folder: str, *names: str, id: str = "llama.cpp") -> Runtime:
    found = tuple(Program(name, f"{folder}/{name}") for name in names)
    return Runtime(id, id, folder, None, None, found, "test")


def _host(*paths: str) -> FakeHost:
    return FakeHost(files=dict.fromkeys(paths, ""))


def test_finds_the_programs_in_the_folder_or_where_a_build_puts_them() -> None:
    tools = (Tool.BENCH, Tool.SERVER)
    assert programs.chosen_folder(None, tools, _host()) == ""
    own = _host(f"{CHOSEN}/llama-server")
    assert programs.chosen_folder("/chosen", tools, own) == CHOSEN
    built = _host(f"{CHOSEN}/README", f"{CHOSEN}/build/bin/llama-bench")
    assert programs.chosen_folder("/chosen", tools, built) == f"{CHOSEN}/build/bin"


def test_refuses_a_folder_without_the_program() -> None:
    # one that is found elsewhere would not be what was asked for
    host = _host(f"{CHOSEN}/llama-bench", "/usr/bin/llama-server")
    with pytest.raises(CommandError, match="There is no llama-server in /chosen") as caught:
        programs.chosen_folder("/chosen", (Tool.SERVER,), host)
    assert caught.value.status == BAD_USAGE


def test_looks_into_the_chosen_folder_else_into_the_remembered_one() -> None:
    settings = Settings()
    assert programs.folders("", settings) == ()
    settings.set(LLAMA_FOLDER, "/remembered")
    assert programs.folders("", settings) == ("/remembered",)
    assert programs.folders("/chosen", settings) == ("/chosen",)


def test_takes_the_first_llama_cpp_that_has_the_program() -> None:
    server = _runtime("/a", "llama-server")
    both = _runtime("/b", "llama-server", "llama-bench")
    other = _runtime("/c", "llama-bench", id="ollama")
    machine = Machine(runtimes=(other, server, both))
    assert programs.runtime_with(Tool.SERVER, machine, "") is server
    assert programs.runtime_with(Tool.BENCH, machine, "") is both
    assert programs.runtime_with(Tool.BENCH, machine, "/a") is None
    assert programs.runtime_with(Tool.SERVER, machine, "/b") is both
