"""Cards on Windows, live, from counters: busiest engine, memory, and what left the card."""

from app.core.host import Adapter, Basics, CounterValue
from app.probes import pdh
from app.probes.live_windows import WindowsMeter
from tests.hosts import FakeHost, sample

GIB = 1 << 30
NVIDIA = Adapter("NVIDIA GeForce RTX 4060", 0x10DE, 8 * GIB, 0, 32 * GIB, "0x00000000_0x0000d1e5")
AMD = Adapter("AMD Radeon RX 7800 XT", 0x1002, 16 * GIB, 0, 32 * GIB, "0x00000000_0x0000f001")
INTEL = Adapter("Intel(R) Graphics", 0x8086, 128 << 20, 0, 32 * GIB, "0x00000000_0x0000e001")
BASIC = Adapter("Microsoft Basic", 0x1414, 0, 0, 0, "0x00000000_0x0000e009", True)


class Query:
    """Answers with prepared values."""

    def __init__(self, *values: CounterValue) -> None:
        self.values = values
        self.is_closed = False

    def read(self) -> tuple[CounterValue, ...] | None:
        return self.values

    def close(self) -> None:
        self.is_closed = True


def _engine(pid: int, luid: str, engine: str, share: int) -> CounterValue:
    name = f"pid_{pid}_luid_{luid}_phys_0_eng_{engine}"
    return CounterValue(name, "Utilization Percentage", share)


def _meter(query: Query, *adapters: Adapter) -> WindowsMeter:
    host = FakeHost(platform="win32", basics=Basics(adapters=adapters))
    return WindowsMeter(host, lambda: query)


def test_reads_cards_of_other_makers() -> None:
    luid = AMD.luid
    query = Query(
        _engine(7, luid, "0_engtype_3D", 20), _engine(8, luid, "0_engtype_3D", 15),
        _engine(7, luid, "1_engtype_Compute_0", 90), _engine(9, INTEL.luid, "0_engtype_3D", 5),
        CounterValue(f"luid_{luid}_phys_0", "Dedicated Usage", 9 * GIB),
        CounterValue(f"luid_{INTEL.luid}_phys_0", "Shared Usage", 2 * GIB),
    )  # fmt: skip
    amd, intel = _meter(query, NVIDIA, AMD, INTEL, BASIC).read()
    assert (amd.busy, amd.memory_used_bytes, amd.memory_total_bytes) == (0.9, 9 * GIB, 16 * GIB)
    assert (intel.busy, intel.memory_used_bytes) == (0.05, 2 * GIB)
    assert intel.memory_total_bytes == 32 * GIB


def test_memory_beside_the_card_is_told_by_process_and_not_of_integrated_gpus() -> None:
    rows = [line.split("\t") for line in sample("pdh-gpu-process-memory.txt").splitlines() if line]
    values = [CounterValue(name, counter, int(size)) for name, counter, size in rows]
    shared = CounterValue(f"pid_14872_luid_{INTEL.luid}_phys_0", "Non Local Usage", GIB)
    meter = _meter(Query(*values, shared), NVIDIA, INTEL)
    assert meter.read()[0].name == INTEL.name
    held = meter.process_memory()
    assert held.on_card == {14872: 8_321_499_136}
    assert held.spilled == {14872: 6_442_450_944}


def test_what_counters_do_not_tell_is_none() -> None:
    (amd,) = _meter(Query(), AMD).read()
    assert (amd.busy, amd.memory_used_bytes) == (None, None)
    assert pdh.busy_share((CounterValue("nonsense", "x", 5),), AMD.luid) is None


def test_lets_go_of_the_query_and_opens_another() -> None:
    query = Query()
    meter = _meter(query, AMD)
    meter.read()
    meter.close()
    assert query.is_closed
    assert len(meter.read()) == 1


def test_other_systems_have_no_counters() -> None:
    meter = WindowsMeter(FakeHost(platform="linux"))
    assert meter.read() == ()
    assert meter.process_memory().on_card == {}
    assert pdh.Query().read() is None
