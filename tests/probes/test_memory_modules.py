"""Memory modules: three systems' spellings, the traps of their units, and any nonsense."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB
from app.probes import memory_modules
from tests.hosts import FakeHost, answered, sample

PATHS = ("memory.modules", "memory.channels", "memory.speed", "memory.speed_rated")


def _linux(*, stdout: str, stderr: str = "") -> Machine:
    tool = "/usr/sbin/dmidecode"
    answer = answered(tool, "-t", "17", stdout=stdout, stderr=stderr)
    host = FakeHost(files={tool: ""}, commands=(answer,))
    return Machine(facts=memory_modules.read(host))


def _windows(text: str) -> Machine:
    command = answered(*memory_modules.POWERSHELL, stdout=text)
    return Machine(facts=memory_modules.read(FakeHost(platform="win32", commands=(command,))))


def test_reads_two_modules_of_four_slots_below_their_speed() -> None:
    for machine in (
        _linux(stdout=sample("dmidecode-two-of-four.txt")),
        _windows(sample("win32_physicalmemory.json")),
    ):
        assert len(machine.words("memory.modules") or ()) == 2
        assert "32.00 GiB DDR5 4800 MT/s" in (machine.words("memory.modules") or ("",))[0]
        assert machine.number("memory.channels") == 2
        assert machine.number("memory.speed") == 4800
        assert machine.number("memory.speed_rated") == 6000
        # 4800 MT/s x 2 channels x 64 bits, memory.tsv: 76.8 GB/s
        assert machine.number("memory.bandwidth") == 76_800_000_000


def test_four_modules_on_two_channels_are_two_channels() -> None:
    text = sample("win32_physicalmemory.json")
    four = json.dumps([*json.loads(text), *json.loads(text)])
    assert _windows(four).number("memory.channels") == 2
    assert _windows(four).number("memory.bandwidth") == 76_800_000_000


def test_a_single_module_is_not_wrapped_in_a_list() -> None:
    one = json.dumps(json.loads(sample("win32_physicalmemory.json"))[0])
    machine = _windows(one)
    assert machine.number("memory.channels") == 1
    assert machine.number("memory.bandwidth") == 38_400_000_000


@pytest.mark.parametrize(
    ("bank", "place", "channel"),
    [
        ("P0 CHANNEL A", "DIMM 1", "0A"),
        ("BANK 0", "Controller0-ChannelA-DIMM0", "0A"),
        ("BANK 0", "ChannelB-DIMM1", "B"),
        ("NODE 1", "Node1_Channel2_Dimm0", "12"),
        ("", "DIMM_B2", "B"),
        ("BANK 2", "DIMM 3", None),
        ("", "", None),
    ],
)
def test_takes_the_channel_from_labels_and_never_guesses(
    bank: str, place: str, channel: str | None
) -> None:
    assert memory_modules.channel_of(bank, place) == channel


def test_says_that_rights_are_missing() -> None:
    machine = _linux(
        stdout="# dmidecode 3.4\n",
        stderr="/sys/firmware/dmi/tables/smbios_entry_point: Permission denied\n",
    )
    for path in PATHS:
        fact = machine.fact(path)
        assert fact and fact.reading.state is State.DENIED and fact.reading.value is None


def test_older_tool_names_the_speed_otherwise_and_in_mhz() -> None:
    text = sample("dmidecode-two-of-four.txt")
    text = text.replace("Configured Memory Speed", "Configured Clock Speed").replace("MT/s", "MHz")
    assert _linux(stdout=text).number("memory.speed") == 4800


def test_unknown_speed_is_missing_and_not_zero() -> None:
    text = sample("dmidecode-two-of-four.txt").replace("4800 MT/s", "Unknown")
    fact = _linux(stdout=text).fact("memory.speed")
    assert fact and fact.reading.value is None and fact.reading.state is State.UNSUPPORTED


def test_apple_silicon_tells_size_and_type_and_no_speed() -> None:
    text = json.dumps({"SPMemoryDataType": [{"SPMemoryDataType": "36 GB", "dimm_type": "LPDDR5"}]})
    command = answered(*memory_modules.PROFILER, stdout=text)
    machine = Machine(facts=memory_modules.read(FakeHost(platform="darwin", commands=(command,))))
    assert machine.words("memory.modules") == ("36.00 GiB LPDDR5",)
    assert machine.number("memory.speed") is None


@given(st.text(max_size=300) | st.sampled_from([sample("dmidecode-two-of-four.txt")]))
def test_reads_any_text(text: str) -> None:
    for cut in (len(text), len(text) // 2):
        modules = (
            *memory_modules.dmi_modules(text[:cut]),
            *memory_modules.windows_modules(text[:cut]),
            *memory_modules.apple_modules(text[:cut]),
        )
        assert all(module.n_bytes > 0 for module in modules)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["Capacity", "Speed", "SMBIOSMemoryType", "SPMemoryDataType", "x"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_reads_any_json(value: object) -> None:
    text = json.dumps(value)
    for module in memory_modules.windows_modules(text) + memory_modules.apple_modules(text):
        assert 0 < module.n_bytes < 1 << 60
        assert module.configured is None or module.configured > 0


def test_a_tib_module_is_read() -> None:
    text = sample("dmidecode-two-of-four.txt").replace("32 GB", "1 TB")
    assert memory_modules.dmi_modules(text)[0].n_bytes == 1024 * GIB


EDAC = "/sys/devices/system/edac/mc/mc0"


def test_a_servers_driver_tells_modules_without_rights() -> None:
    files = {
        f"{EDAC}/dimm0/size": "32768\n",
        f"{EDAC}/dimm0/dimm_label": "CPU_SrcID#0_MC#0_Chan#0_DIMM#0\n",
        f"{EDAC}/dimm0/dimm_mem_type": "Registered-DDR5\n",
        f"{EDAC}/dimm1/size": "0\n",
        f"{EDAC}/power/x": "1\n",
    }
    machine = Machine(facts=memory_modules.read(FakeHost(files=files)))
    (module,) = machine.words("memory.modules") or ()
    assert module == "CPU_SrcID#0_MC#0_Chan#0_DIMM#0 32.00 GiB Registered-DDR5"
    fact = machine.fact("memory.speed")
    assert fact and fact.reading.state is State.UNSUPPORTED
    assert "dmidecode" in fact.reading.reason


@pytest.mark.parametrize("size", ["", "x", "-1", "9" * 25])
def test_odd_sizes_of_the_servers_driver_are_no_module(size: str) -> None:
    machine = Machine(facts=memory_modules.read(FakeHost(files={f"{EDAC}/dimm0/size": size})))
    assert machine.words("memory.modules") is None
