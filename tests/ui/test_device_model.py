"""The cards of the Hardware tab: both sources of memory, software named, nothing invented."""

from dataclasses import replace

from app.core import facts
from app.core.machine import LoadedModel, Machine, Runtime
from app.core.reading import State
from app.ui.models.device_model import Tile, memory_bar, runtime_entries, system_line, tiles
from app.ui.widgets.card_grid import columns_for
from tests import machines

GIB = 1 << 30


def _tile(machine: Machine, name: str) -> Tile:
    return next(tile for tile in tiles(machine) if tile.name == name)


def _value(tile: Tile, label: str) -> str:
    return next(line.value for line in tile.lines if line.label == label)


def test_a_card_shows_the_drivers_memory_beside_llama_cpps() -> None:
    tile = _tile(machines.two_cards(), "gpu0")
    assert tile.title == "NVIDIA GeForce RTX 4090"
    assert [(bar.title, bar.headline) for bar in tile.bars] == [
        ("Driver (NVML)", "22.4 GiB of 24.0 GiB free"),
        ("llama.cpp CUDA1", "22.1 GiB of 23.5 GiB free"),
    ]
    assert _value(tile, "Bandwidth") == "1,008.1 GB/s (calculated)"


def test_an_idle_link_is_told_from_missing_lanes() -> None:
    link = _value(_tile(machines.two_cards(), "gpu0"), "PCIe")
    assert link == "gen 1 ×4, gen 4 when it works (the card can do ×16)"


def test_a_figure_the_card_refuses_is_left_out_of_the_card_not_shown_as_zero() -> None:
    labels = [line.label for line in _tile(machines.two_cards(), "gpu0").lines]
    assert "Temperature" not in labels


def test_a_card_that_llama_cpp_does_not_list_says_so() -> None:
    nvml = machines.nvidia(("NVIDIA RTX A2000", 6138, 6000))
    asked = _tile(machines.linux("  (none)\n", nvml), "gpu0")
    assert _value(asked, "llama.cpp") == "not listed: this llama.cpp cannot use it"
    alone = _tile(machines.linux(None, nvml), "gpu0")
    assert _value(alone, "llama.cpp") == "not known: no llama.cpp program was found"


def test_no_gpu_is_one_calm_card() -> None:
    cards = tiles(machines.linux("  (none)\n"))
    assert [tile.name for tile in cards] == ["noGpu", "cpu", "memory"]
    assert cards[0].title == "None found"
    assert "normal result" in cards[0].text
    assert _value(cards[0], "llama.cpp") == "lists none"
    assert not cards[0].notes


def test_a_software_device_is_listed_on_the_card_that_says_there_is_no_gpu() -> None:
    card = _tile(machines.software_only(), "noGpu")
    assert _value(card, "llama.cpp").startswith("Vulkan0: llvmpipe")
    assert "software, runs on the CPU" in _value(card, "llama.cpp")


def test_a_gpu_that_shares_memory_is_marked_and_its_own_part_is_named() -> None:
    tile = _tile(machines.strix_halo(), "gpu0")
    assert tile.part == "GPU that shares the computer's memory"
    assert _value(tile, "Own memory") == "512 MiB"
    assert _value(tile, "May borrow") == "128 GiB"
    assert len(tile.notes) == 1


def test_the_cpu_says_how_many_threads_to_use() -> None:
    tile = _tile(machines.linux(), "cpu")
    assert _value(tile, "Cores") == "16 physical, 32 logical"
    assert _value(tile, "Threads to use") == "16"


def test_a_cpu_whose_cores_are_not_known_gets_no_number_of_threads() -> None:
    unknown = facts.missing("cpu.physical", State.MISSING, source="test", reason="not told")
    tile = _tile(Machine(facts=(unknown,)), "cpu")
    assert [(line.label, line.value, line.is_missing) for line in tile.lines] == [
        ("Cores", "not told", True)
    ]


def test_memory_swap_and_a_limit_are_bars_where_they_are_known() -> None:
    limited = replace(
        machines.two_cards(),
        facts=(
            *(f for f in machines.two_cards().facts if f.path != "memory.limit"),
            facts.known("memory.limit", 8 * GIB, source="cgroup", unit="bytes"),
            facts.known("memory.limit_used", 2 * GIB, source="cgroup", unit="bytes"),
        ),
    )
    assert [bar.title for bar in _tile(limited, "memory").bars] == [
        "RAM",
        "Container limit",
        "Swap",
    ]
    assert [bar.headline for bar in _tile(limited, "memory").bars][1] == "6.0 GiB of 8.0 GiB free"


def test_an_unread_memory_is_a_reason_not_a_bar() -> None:
    unread = facts.missing("memory.total", State.MISSING, source="test", reason="not told")
    tile = _tile(Machine(facts=(unread,)), "memory")
    assert not tile.bars
    assert _value(tile, "RAM") == "not told"


def test_a_bar_needs_both_figures_and_a_free_one_that_can_be() -> None:
    assert memory_bar("x", 8, 3, "s") is not None
    for total, free in ((None, 3), (8, None), (8, 9), (0, 0)):
        assert memory_bar("x", total, free, "s") is None


def test_a_bars_shares_fill_it() -> None:
    bar = memory_bar("x", 8 * GIB, 3 * GIB, "source")
    assert bar is not None
    assert sum(segment.share for segment in bar.bar.segments) == 1.0
    assert [segment.text for segment in bar.bar.segments] == ["5.00 GiB", "3.00 GiB"]
    assert {segment.source for segment in bar.bar.segments} == {"source"}


def test_runtimes_say_where_they_are_and_what_they_hold() -> None:
    loaded = LoadedModel("qwen3:14b", 10 * GIB, 6 * GIB)
    runtime = Runtime("ollama", "Ollama", "/usr/bin", "0.30", None, (), "PATH", loaded=(loaded,))
    (entry,) = runtime_entries(Machine(runtimes=(runtime,)))
    assert entry.title == "Ollama 0.30"
    assert entry.details == (
        "/usr/bin  ·  PATH",
        "loaded: qwen3:14b, 10.00 GiB, 6.00 GiB of it on a device",
    )


def test_the_system_in_a_line() -> None:
    assert system_line(machines.linux()) == "Ubuntu 24.04.2 LTS · x86_64"
    assert system_line(Machine()) == ""


def test_rows_of_cards_are_never_nearly_empty() -> None:
    assert [columns_for(n, 1028) for n in (1, 2, 3, 4, 5, 7)] == [1, 2, 3, 2, 3, 3]
    assert columns_for(3, 700) == 2
    assert columns_for(3, 100) == 1
    assert columns_for(0, 1028) == 1
