"""Three sentences about a machine, each from its facts, none with a figure of its own."""

import re
from dataclasses import replace

import pytest

from app.core import facts
from app.core.machine import Device, DeviceKind, Machine, MachineFact
from app.core.overview import fast_cores, overview
from app.core.reading import State
from tests import machines

GIB = 1 << 30
ALL = {
    "two cards": machines.two_cards,
    "Strix Halo": machines.strix_halo,
    "software": machines.software_only,
    "nothing": machines.linux,
    "empty": Machine,
}


def _with(machine: Machine, *changed: MachineFact) -> Machine:
    paths = {fact.path for fact in changed}
    kept = (fact for fact in machine.facts if fact.path not in paths)
    return replace(machine, facts=(*kept, *changed))


def _texts(machine: Machine) -> tuple[str, str, str]:
    first, second, third = overview(machine).sentences
    return first.text, second.text, third.text


@pytest.mark.parametrize("name", ALL)
def test_every_figure_is_one_of_the_facts(name: str) -> None:
    machine = ALL[name]()
    known = {
        f"{value / GIB:.1f}"
        for fact in machine.facts
        if isinstance(value := fact.reading.value, int)
    }
    sizes = [size for d in machine.devices for size in (d.total_bytes, d.free_bytes) if size]
    known |= {f"{size / GIB:.1f}" for size in sizes}
    real = [d for d in machine.devices if not d.is_software]
    known.add(f"{sum(d.total_bytes or 0 for d in real) / GIB:.1f}")
    known.add(f"{sum(d.free_bytes or 0 for d in real) / GIB:.1f}")
    said = overview(machine)
    text = " ".join((said.headline, *(sentence.text for sentence in said.sentences)))
    for figure in re.findall(r"([\d.]+) GiB", text):
        assert figure in known


def test_names_cards_and_what_is_free_on_them_together() -> None:
    said = overview(machines.two_cards())
    assert said.headline == "2 GPUs with 33.6 GiB free"
    first, second, third = _texts(machines.two_cards())
    assert "NVIDIA GeForce RTX 4090 (CUDA1) and NVIDIA GeForce RTX 3060 (CUDA0)" in first
    assert second == "45.8 GiB of 62.7 GiB system memory are free for what does not fit on the GPU."
    assert third.startswith("3.0 GiB of 8.0 GiB swap are in use")


def test_shared_memory_is_not_counted_twice() -> None:
    said = overview(machines.strix_halo())
    assert said.headline == "A GPU that shares the computer's memory"
    assert "for GPU and CPU together" in said.sentences[1].text


def test_no_gpu_is_said_calmly_and_with_its_consequence() -> None:
    said = overview(machines.linux("  (none)\n"))
    assert said.headline == "No GPU: the CPU reads the weights from system memory"
    assert said.sentences[0].text == (
        "No driver reports a GPU and llama.cpp lists none, so the CPU does the work and reads the "
        "weights from system memory for every token."
    )


def test_says_that_nobody_was_asked_when_there_is_no_llama_cpp() -> None:
    assert "no llama.cpp program was found to ask" in _texts(machines.linux())[0]


def test_a_software_device_is_named_and_not_counted() -> None:
    said = overview(machines.software_only())
    assert said.headline.startswith("No GPU")
    assert "Vulkan0, which llama.cpp lists, is software" in said.sentences[0].text


def test_a_card_that_llama_cpp_does_not_list_is_the_headline() -> None:
    machine = machines.linux("  (none)\n", machines.nvidia(("NVIDIA RTX A2000", 6138, 6000)))
    said = overview(machine)
    assert said.headline == "A GPU is there, but llama.cpp cannot use it"
    assert "NVIDIA RTX A2000" in said.sentences[0].text
    assert "the GPU" not in said.sentences[1].text


def test_a_card_without_llama_cpp_is_neither_used_nor_useless() -> None:
    machine = machines.linux(None, machines.nvidia(("NVIDIA RTX A2000", 6138, 6000)))
    said = overview(machine)
    assert "not known" in said.headline
    assert "with 6.0 GiB" in said.sentences[0].text


def test_a_driver_that_fails_is_not_the_absence_of_a_card() -> None:
    broken = replace(
        machines.NO_NVML, state=State.ERROR, reason="the driver was updated: restart the computer"
    )
    said = overview(machines.linux("  (none)\n", broken))
    assert "could not be found out" in said.headline
    assert "restart the computer" in said.sentences[0].text


def test_devices_over_the_network_are_named_as_such() -> None:
    device = Device("RPC0", DeviceKind.RPC, "10.0.0.2:50052", 8 * GIB, 8 * GIB, "test")
    machine = replace(machines.linux("  (none)\n"), devices=(device,))
    assert "over the network" in _texts(machine)[0]


def test_a_container_limit_takes_the_place_of_the_computers_memory() -> None:
    machine = _with(
        machines.linux(),
        facts.known("memory.limit", 8 * GIB, source="cgroup", unit="bytes"),
        facts.known("memory.limit_used", 2 * GIB, source="cgroup", unit="bytes"),
    )
    second = _texts(machine)[1]
    assert "8.0 GiB of the computer's 62.7 GiB" in second
    assert "6.0 GiB are free" in second


def test_wsl_has_what_windows_gives_it() -> None:
    machine = _with(machines.linux(), facts.known("os.is_wsl", True, source="test"))
    assert "that Windows gives WSL" in _texts(machine)[1]


def test_a_cpu_quota_comes_before_swap() -> None:
    machine = _with(
        machines.two_cards(), facts.known("cpu.quota", 1.5, source="cgroup", unit="CPUs")
    )
    assert "the time of 1.5 CPUs, though the computer has 16 cores" in _texts(machine)[2]


def test_a_quota_above_the_cores_is_no_limit() -> None:
    machine = _with(machines.linux(), facts.known("cpu.quota", 64.0, source="cgroup"))
    assert "quota" not in _texts(machine)[2]


def test_an_old_cpu_is_named() -> None:
    machine = _with(machines.linux(), facts.known("cpu.instruction_sets", ("avx",), source="test"))
    assert "no AVX2" in _texts(machine)[2]


def test_an_arm_cpu_is_not_blamed_for_lacking_avx2() -> None:
    machine = _with(
        machines.linux(),
        facts.known("cpu.instruction_sets", ("asimd",), source="test"),
        facts.known("os.arch", "arm64", source="test"),
    )
    assert "AVX2" not in _texts(machine)[2]


def test_waiting_for_memory_is_said_from_ten_per_cent_on() -> None:
    busy = _with(machines.linux(), facts.known("pressure.memory.some", 34.0, source="test"))
    calm = _with(machines.linux(), facts.known("pressure.memory.some", 0.5, source="test"))
    assert "34 % of the last ten seconds" in _texts(busy)[2]
    assert "waited" not in _texts(calm)[2]


def test_swap_that_cannot_be_read_is_not_called_empty() -> None:
    unread = facts.missing("swap.total", State.MISSING, source="test", reason="not told")
    gone = _with(
        machines.linux(),
        unread,
        facts.missing("swap.used", State.MISSING, source="test", reason="not told"),
    )
    assert _texts(gone)[2] == "How much swap is in use could not be read."


def test_no_swap_is_not_empty_swap() -> None:
    absent = [
        facts.missing(path, State.ABSENT, source="test", reason="no swap is set up")
        for path in ("swap.total", "swap.used")
    ]
    assert _texts(_with(machines.linux(), *absent))[2].startswith("No swap is set up")
    assert _texts(machines.linux())[2].startswith("Swap is empty")


def test_an_empty_machine_gives_sentences_without_figures() -> None:
    assert _texts(Machine())[1] == "How much system memory is free could not be read."
    assert not re.search(r"\d", " ".join(_texts(Machine())))


def test_threads_are_the_cores_of_the_fastest_kind() -> None:
    assert fast_cores(machines.linux()) == 16
    hybrid = _with(machines.linux(), facts.known("cpu.fast_cores", 8, source="test"))
    assert fast_cores(hybrid) == 8
    assert fast_cores(Machine()) is None


def test_says_that_it_runs_on_battery_and_that_memory_is_held_down() -> None:
    def third(*found: MachineFact) -> str:
        return overview(Machine(facts=found)).sentences[2].text

    mains, speed = facts.known("power.is_mains", True, source="x"), "memory.speed"
    battery = facts.known("power.is_mains", False, source="x")
    rated = facts.known("memory.speed_rated", 6000, source="x")
    one = facts.known("memory.modules", ("a",), source="x")
    two = facts.known("memory.modules", ("a", "b"), source="x")
    assert "battery" in third(battery)
    assert "battery" not in third(mains)
    assert "4,800 MT/s" in third(facts.known(speed, 4800, source="x"), rated)
    assert "XMP" not in third(facts.known(speed, 5980, source="x"), rated)
    assert "one channel" in third(one, facts.known("memory.channels", 1, source="x"))
    assert "one channel" not in third(two, facts.known("memory.channels", 2, source="x"))


def test_says_what_the_speed_of_memory_allows() -> None:
    first = _texts(machines.two_cards())[0]
    # 4090: 1008 GB/s over 5 GB
    assert "CUDA1's 1,008.1 GB/s let a model of 5 GB" in first
    assert "about 202 tokens per second" in first
    measured = facts.known("memory.read_bandwidth", 20_000_000_000, source="t", unit="bytes/s")
    first = _texts(_with(machines.linux("  (none)\n"), measured))[0]
    assert "Its 20.0 GB/s (measured here) let a model of 5 GB write at most about 4.0" in first
    # a card that nobody can use yet has no speed, and the CPU's is not the point
    idle = machines.linux(None, machines.nvidia(("NVIDIA RTX A2000", 6138, 6000)))
    assert "tokens per second" not in _texts(_with(idle, measured))[0]


def test_a_gpu_cannot_have_more_of_shared_memory_than_is_free() -> None:
    first = _texts(machines.strix_halo())[0]
    assert "but only" in first and "are free now" in first


@pytest.mark.parametrize(
    ("limit", "word"), [(56 * GIB, "56.0 GiB of 64.0 GiB by hand"), (64 * GIB, "all of the")]
)
def test_a_raised_limit_of_a_mac_is_said(limit: int, word: str) -> None:
    told = (
        facts.known("gpu.0.vendor", "Apple", source="sysctl"),
        facts.known("gpu.0.memory_limit", limit, source="sysctl", unit="bytes"),
        facts.known("memory.total", 64 * GIB, source="psutil", unit="bytes"),
    )
    assert word in _texts(Machine(facts=told))[2]


def test_a_gpu_that_llama_cpp_leaves_out_is_not_counted() -> None:
    card = Device("Vulkan0", DeviceKind.VULKAN, "Arc A770", 16 * GIB, 14 * GIB, "t")
    own = Device(
        "Vulkan1", DeviceKind.VULKAN, "UHD 770", 31 * GIB, 31 * GIB, "t", is_integrated=True
    )
    machine = replace(machines.linux("  (none)\n"), devices=(card, own))
    said = overview(machine)
    assert said.headline == "One GPU with 14.0 GiB free"
    assert "leaves out UHD 770 (Vulkan1)" in said.sentences[0].text
    assert "45.0 GiB" not in said.sentences[0].text
