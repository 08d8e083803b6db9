"""Facts in words, and the whole machine as plain text."""

from dataclasses import replace

import pytest

from app.core import fact_words, facts
from app.core.machine import LoadedModel, Machine, MachineFact, Runtime
from app.core.machine_text import loaded_lines, machine_text, runtime_line
from app.core.reading import State
from app.core.short_home import short_home
from tests import machines

GIB = 1 << 30


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (facts.known("memory.total", 25276502016, source="test", unit="bytes"), "23.54 GiB"),
        (
            facts.known("gpu.0.bandwidth", 1_008_096_000_000, source="test", unit="bytes/s"),
            "1,008.1 GB/s",
        ),
        (facts.known("pressure.memory.some", 0.25, source="test", unit="%"), "0.2 %"),
        (facts.known("cpu.quota", 1.5, source="test", unit="CPUs"), "1.5 CPUs"),
        (facts.known("cpu.physical", 0, source="test"), "0"),
        (facts.known("os.is_wsl", False, source="test"), "no"),
        (facts.known("cpu.instruction_sets", ("avx", "avx2"), source="test"), "avx, avx2"),
        (
            facts.missing("swap.used", State.ABSENT, source="test", reason="no swap is set up"),
            "no swap is set up",
        ),
        (facts.missing("swap.used", State.TIMEOUT, source="test", reason=""), "no answer"),
    ],
)
def test_a_value_has_its_unit_or_its_reason(fact: MachineFact, text: str) -> None:
    assert fact_words.value(fact) == text


def test_every_fact_of_a_machine_has_a_name_of_its_own_below_its_heading() -> None:
    for machine in (machines.two_cards(), machines.strix_halo(), machines.software_only()):
        for _heading, found in fact_words.groups(machine):
            names = [fact_words.title(fact.path) for fact in found]
            assert len(names) == len(set(names))


def test_no_fact_is_lost_between_the_headings() -> None:
    machine = machines.two_cards()
    grouped = [fact for _heading, found in fact_words.groups(machine) for fact in found]
    assert sorted(fact.path for fact in grouped) == sorted(fact.path for fact in machine.facts)


def test_a_path_that_has_no_name_yet_is_readable() -> None:
    assert fact_words.title("fan.turning_speed") == "Turning speed"
    assert fact_words.group(Machine(), "fan.turning_speed") == "fan"


def test_says_how_to_get_only_what_can_be_got() -> None:
    none = facts.missing("swap.total", State.ABSENT, source="x", reason="no swap is set up")
    hung = facts.missing("gpu.0.name", State.TIMEOUT, source="nvidia-smi", reason="no answer")
    assert fact_words.how_to_get(none) == ""
    assert "run nvidia-smi in a terminal" in fact_words.how_to_get(hung)
    llama = facts.missing("llama.devices", State.MISSING, source="", reason="none to ask")
    assert "Choose the folder" in fact_words.how_to_get(llama)
    assert fact_words.how_to_get(facts.known("nvidia.search", 1, source="test")) == ""


def test_the_text_holds_each_fact_with_value_and_source() -> None:
    machine = machines.two_cards()
    text = " ".join(machine_text(machine).split())
    for fact in machine.facts:
        assert fact_words.title(fact.path) in text
        assert " ".join(fact_words.value(fact).split()) in text
        assert fact.reading.source in text


def test_the_text_starts_with_what_limits_the_machine() -> None:
    assert machine_text(machines.two_cards()).startswith("2 GPUs with 33.6 GiB free\n")


def test_the_text_marks_software_and_says_what_broke() -> None:
    machine = replace(machines.software_only(), skipped=("NVIDIA could not be read: KeyError: 1",))
    text = machine_text(machine)
    assert "(software, runs on the CPU)" in text
    assert text.endswith("Not read: NVIDIA could not be read: KeyError: 1\n")


def test_lines_of_text_stay_within_a_terminal() -> None:
    for machine in (machines.two_cards(), machines.software_only(), machines.linux()):
        assert max(len(line) for line in machine_text(machine).splitlines()) <= 130


def test_a_running_runtime_says_what_it_holds() -> None:
    loaded = LoadedModel("qwen3:14b", 10 * GIB, 6 * GIB, 4096)
    runtime = Runtime(
        "ollama", "Ollama", "/usr/local/bin", "0.30.1", None, (), "http://127.0.0.1:11434",
        is_running=True, backends=("cuda",), loaded=(loaded,), port=11434,
    )  # fmt: skip
    assert runtime_line(runtime) == "Ollama 0.30.1, backends cuda, running on port 11434"
    assert loaded_lines(runtime) == (
        "qwen3:14b, 10.00 GiB, 6.00 GiB of it on a device, context 4,096",
    )
    silent = replace(runtime, loaded=(LoadedModel("qwen3:14b"),))
    assert loaded_lines(silent) == ("qwen3:14b",)


def test_the_home_folder_is_left_out_and_nothing_else() -> None:
    machine = machines.software_only()
    assert "/home/user" in machine_text(machine)
    text = machine_text(short_home(machine, "/home/user"))
    assert "/home/user" not in text
    assert "~/.cache" in text
    assert short_home(machine, "/home/use") == machine
    assert short_home(machine, "/") == machine
    assert short_home(machine, "") == machine


def test_the_home_folder_is_left_out_of_windows_paths() -> None:
    runtime = Runtime("jan", "Jan", r"C:\Users\ann\AppData\Jan", None, None, (), r"C:\Users\ann")
    (found,) = short_home(Machine(runtimes=(runtime,)), "C:\\Users\\ann").runtimes
    assert found.folder == r"~\AppData\Jan"
    assert found.source == "~"
