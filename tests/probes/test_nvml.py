"""The collector over NVIDIA's library, with modules that act like pynvml."""

from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from app.core.host import NvmlValue
from app.core.reading import State
from app.probes import nvml


class FakeError(Exception):
    """Stands for pynvml.NVMLError."""


def _error(name: str) -> type[FakeError]:
    return type(f"NVMLError_{name}", (FakeError,), {})


def _raises(name: str) -> Any:
    def function(*_arguments: object) -> None:
        raise _error(name)

    return function


def _api(**changes: Any) -> SimpleNamespace:
    """Make a module with one card that answers everything it is asked."""
    functions: dict[str, Any] = {
        name: (lambda *_: 7) for name in dir(pynvml) if name.startswith("nvmlDeviceGet")
    }
    functions |= {
        "NVMLError": FakeError,
        "NVML_CLOCK_MEM": 2,
        "NVML_CLOCK_SM": 1,
        "NVML_TEMPERATURE_GPU": 0,
        "NVML_PERF_POLICY_POWER": 0,
        "NVML_PERF_POLICY_THERMAL": 1,
        "nvmlMemory_v2": 0x2000028,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: b"580.95.05",
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 13000,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetName": lambda _handle: "NVIDIA H200",
        "nvmlDeviceGetCudaComputeCapability": lambda _handle: (9, 0),
        "nvmlDeviceGetMemoryInfo": lambda *_: SimpleNamespace(total=100, free=60, used=39),
    }
    return SimpleNamespace(**(functions | changes))


def _card(answer: Any) -> dict[str, NvmlValue]:
    return {value.query: value for value in answer.cards[0]}


def test_keeps_each_answer_of_a_card() -> None:
    answer = nvml.ask(_api())
    assert answer.state is State.KNOWN
    assert answer.driver == (NvmlValue("driver", "580.95.05"), NvmlValue("cuda", 13000))
    card = _card(answer)
    assert card["name"].value == "NVIDIA H200"
    assert card["compute_capability"].value == "9.0"
    assert (card["memory_v2.total"].value, card["memory_v2.free"].value) == (100, 60)
    assert "memory_v1.total" not in card


def test_asks_the_older_memory_call_when_the_newer_is_not_there() -> None:
    def memory(_handle: object, version: int | None = None) -> SimpleNamespace:
        if version:
            raise _error("FunctionNotFound")
        return SimpleNamespace(total=100, free=50)

    card = _card(nvml.ask(_api(nvmlDeviceGetMemoryInfo=memory)))
    assert card["memory_v2.total"].error == "FunctionNotFound"
    assert card["memory_v1.total"].value == 100


def test_keeps_the_errors_name_when_one_question_fails() -> None:
    card = _card(nvml.ask(_api(nvmlDeviceGetPowerUsage=_raises("NotSupported"))))
    assert card["power"] == NvmlValue("power", None, "NotSupported")
    assert card["name"].value == "NVIDIA H200"


def test_reads_the_other_cards_when_one_is_lost() -> None:
    def handle(index: int) -> int:
        if index == 0:
            raise _error("GpuIsLost")
        return index

    answer = nvml.ask(_api(nvmlDeviceGetCount=lambda: 2, nvmlDeviceGetHandleByIndex=handle))
    assert answer.cards[0] == (NvmlValue("handle", None, "GpuIsLost"),)
    assert len(answer.cards[1]) > 5


@pytest.mark.parametrize(
    ("error", "state", "word"),
    [
        ("LibraryNotFound", State.ABSENT, "not installed"),
        ("LibRmVersionMismatch", State.ERROR, "restart"),
        ("DriverNotLoaded", State.ERROR, "not loaded"),
        ("NoPermission", State.DENIED, "refuses"),
        ("Timeout", State.ERROR, "Timeout"),
    ],
)
def test_says_why_the_library_does_not_start(error: str, state: State, word: str) -> None:
    answer = nvml.ask(_api(nvmlInit=_raises(error)))
    assert answer.state is state
    assert word in answer.reason


def test_says_absent_when_the_driver_shows_no_card() -> None:
    answer = nvml.ask(_api(nvmlDeviceGetCount=lambda: 0))
    assert answer.state is State.ABSENT
    assert "no card is visible" in answer.reason


def test_loads_the_library_of_wsl_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def init() -> None:
        if not loaded:
            raise _error("LibraryNotFound")

    monkeypatch.setattr("ctypes.CDLL", lambda path, _mode: loaded.append(path))
    answer = nvml.ask(_api(nvmlInit=init), wsl_library=True)
    assert loaded == ["/usr/lib/wsl/lib/libnvidia-ml.so.1"]
    assert answer.state is State.KNOWN
    assert "wsl" in answer.source


def test_names_the_functions_that_the_real_module_has() -> None:
    asked = [name for _, name in nvml._PLAIN] + ["nvmlDeviceGetMemoryInfo", "nvmlMemory_v2"]
    asked += ["nvmlDeviceGetNvLinkState", "nvmlDeviceGetViolationStatus", "nvmlDeviceGetEccMode"]
    asked += ["nvmlDeviceGetTopologyCommonAncestor", "NVML_PERF_POLICY_POWER"]
    assert [name for name in asked if not hasattr(pynvml, name)] == []


def test_asks_use_modes_and_parts_of_a_split_card() -> None:
    def part(_handle: object, index: int) -> int:
        if index == 1:
            raise _error("NotFound")
        return index

    card = _card(
        nvml.ask(
            _api(
                nvmlDeviceGetUtilizationRates=lambda _handle: SimpleNamespace(gpu=97, memory=41),
                nvmlDeviceGetMigMode=lambda _handle: [1, 1],
                nvmlDeviceGetDriverModel=_raises("NotSupported"),
                nvmlDeviceGetMaxMigDeviceCount=lambda _handle: 2,
                nvmlDeviceGetMigDeviceHandleByIndex=part,
            )
        )
    )
    assert (card["use.gpu"].value, card["use.memory"].value) == (97, 41)
    assert card["mig"].value == 1
    assert card["driver_model"].error == "NotSupported"
    assert card["instance.0.total"].value == 100
    assert "instance.1.total" not in card


def test_asks_how_cards_are_joined_and_held_down() -> None:
    def links(_handle: object, link: int) -> int:
        if link >= 4:
            raise _error("InvalidArgument")
        return int(link != 2)

    def violation(_handle: object, policy: int) -> SimpleNamespace:
        return SimpleNamespace(referenceTime=1, violationTime=5_000_000_000 * (policy + 1))

    answer = nvml.ask(
        _api(
            nvmlDeviceGetCount=lambda: 3,
            nvmlDeviceGetHandleByIndex=lambda index: index,
            nvmlDeviceGetTopologyCommonAncestor=lambda a, b: 10 * abs(a - b),
            nvmlDeviceGetNvLinkState=links,
            nvmlDeviceGetViolationStatus=violation,
            nvmlDeviceGetEccMode=lambda _handle: [1, 0],
        )
    )
    card = _card(answer)
    assert (card["topology.1"].value, card["topology.2"].value) == (10, 20)
    assert "topology.0" not in card
    assert card["nvlinks"].value == 3
    assert card["violation.power"].value == 5_000_000_000
    assert card["violation.thermal"].value == 10_000_000_000
    assert card["ecc"].value == 1


def test_a_card_without_links_says_so() -> None:
    no = _raises("NotSupported")
    answer = nvml.ask(
        _api(nvmlDeviceGetNvLinkState=no, nvmlDeviceGetViolationStatus=no, nvmlDeviceGetEccMode=no)
    )
    card = _card(answer)
    for query in ("nvlinks", "violation.power", "violation.thermal", "ecc"):
        assert card[query] == NvmlValue(query, None, "NotSupported")


def test_memory_of_processes_that_is_hidden_is_no_sum() -> None:
    def processes(*sizes: int | None) -> Any:
        return lambda _handle: [SimpleNamespace(usedGpuMemory=size) for size in sizes]

    shown = nvml.ask(_api(nvmlDeviceGetComputeRunningProcesses=processes(5, 7)))
    assert _card(shown)["process_memory"].value == 12
    hidden = nvml.ask(_api(nvmlDeviceGetComputeRunningProcesses=processes(5, None)))
    assert _card(hidden)["process_memory"] == NvmlValue("process_memory", None, "NotSupported")
