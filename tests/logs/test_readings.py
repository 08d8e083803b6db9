"""Every sample log is read as tests/data/logs/readings.json says; the healthy ones are silent."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.core.log import BufferKind, Ended, Fact, LoadStory, LogSummary, Role
from app.logs.figures import MIB
from app.logs.scan import scan_file

DATA = Path(__file__).parents[1] / "data" / "logs"
READINGS: dict[str, dict[str, Any]] = json.loads((DATA / "readings.json").read_text())
# what the independent reader that made readings.json did not see, and why it is so
CORRECTED: dict[str, dict[str, Any]] = {
    name: {  # "mem required" and "compute buffer total size" are the buffer lines of 2023
        "host_buffers_mib": {"CPU": {"model": 40.19, "compute": 20.47}},
        "weights_on_device": False,
    }
    for name in ("old-2023-09-main-cpu.log", "old-2023-09-main-load-error-truncated.log")
}
# it left out the rows of llama-bench: 8 tokens at 160.86 and 4 at 46.86 per second
CORRECTED["b11434-llama-bench-progress.log"] = {
    "timings_ms_count": [
        ["prompt eval", 1000 * 8 / 160.86, 8, "tokens"],
        ["eval", 1000 * 4 / 46.86, 4, "tokens"],
    ]
}
for _name, _changed in CORRECTED.items():
    READINGS[_name] |= _changed
ROLES = {Role.WEIGHTS: "model", Role.KV: "KV", Role.COMPUTE: "compute", Role.OUTPUT: "output"}
FAULTS = {fact for fact in Fact if fact.value.startswith("error_")} | {Fact.CRASHED}
CRASHED = (
    "b10434-vulkan-abort-kv-tensor-too-large-default-verbosity.log",
    "b10434-vulkan-abort-kv-tensor-too-large-lv4.log",
    "b11434-rpc-server-unreachable.log",
)
# killed, crashed without a word, or stopped from outside without a closing line
OPEN = (
    "b10434-vulkan-crash-in-first-request-default-verbosity.log",
    "b10434-vulkan-crash-in-first-request-verbose.log",
    "b10434-vulkan-kv-q8_0-killed-while-loading-lv4.log",
    "b11434-llama-bench-progress.log",  # its rates only
    "b11434-llama-fit-params.log",
    "old-2023-09-main-load-error-truncated.log",
    "old-2024-02-main-load-error-truncated.log",
    "old-b3889-2024-10-vulkan-full-offload.log",
    "old-b4798-2025-03-server-cpu.log",
    "old-b7079-2025-11-server-cpu.log",
    "old-b6123-2025-08-server-cpu-gemma.log",
)
FAILED = (
    "b10434-vulkan-oom-kv-gemma-lv4.log",
    "b11434-cpu-kv-q8_0-fa-off-gemma-error.log",
    "b10434-vulkan-oom-compute-default-verbosity.log",
    "b11434-cpu-oom-huge-ctx-fit-off-default-verbosity.log",
    "b11434-cpu-oom-huge-ctx-fit-on-lv4.log",
    "b11434-llama-bench-error-missing-file.log",
    "b11434-llama-bench-error-oom-depth.log",
    "b11434-port-in-use-default-verbosity.log",
    "b11434-removed-flag-mlock.log",
    "old-2023-09-main-load-error-unknown-arch.log",
    "old-2023-09-main-load-error-wrong-magic.log",
    "old-2024-02-main-load-error-wrong-magic.log",
    "old-b3889-2024-10-load-error-truncated.log",
    "old-b4798-2025-03-load-error-truncated.log",
    "old-b6123-2025-08-load-error-truncated.log",
    "old-b8672-2026-04-load-error-truncated.log",
    *sorted(name for name in READINGS if name.startswith("b11434-load-error-")),
)
# not a load: lists, versions, another program, or a build that printed nothing
WITHOUT_LOAD = (
    "b10434-llama-server-list-devices-vulkan.log",
    "b11434-list-devices-rpc.log",
    "b11434-llama-bench-list-devices-none.log",
    "b11434-rpc-server-side.log",
    "b11434-version.log",
    "old-2024-02-main-load-error-unknown-arch.log",
    "old-b7079-2025-11-load-error-truncated.log",
)
WITH_LOAD = sorted(set(READINGS) - set(WITHOUT_LOAD))
HEALTHY = sorted(set(WITH_LOAD) - {*CRASHED, *FAILED})


@cache
def summary(name: str) -> LogSummary:
    return scan_file(DATA / name)


def story(name: str) -> LoadStory:
    found = summary(name)
    assert len(found.loads) == 1 + ("draft" in name)
    assert found.load is not None
    return found.load


def mib(load: LoadStory, kind: BufferKind) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for buffer in load.buffers:
        if buffer.kind is kind:
            found.setdefault(buffer.name, {})[ROLES[buffer.role]] = round(buffer.n_bytes / MIB, 2)
    return found


def test_readings_cover_every_log() -> None:
    assert set(READINGS) == {path.name for path in DATA.glob("*.log")}


@pytest.mark.parametrize("name", WITHOUT_LOAD)
def test_no_load_where_none_is_shown(name: str) -> None:
    assert summary(name).loads == ()


@pytest.mark.parametrize("name", WITH_LOAD)
def test_offload_line(name: str) -> None:
    line = story(name).offload_line
    assert (f"{line[0]}/{line[1]}" if line else None) == READINGS[name].get("offload_line")


@pytest.mark.parametrize("name", WITH_LOAD)
def test_buffers_by_name(name: str) -> None:
    load, reading = story(name), READINGS[name]
    assert mib(load, BufferKind.DEVICE) == reading.get("device_buffers_mib", {})
    host = reading.get("host_buffers_mib", {})
    for roles in host.values():
        roles.pop("input", None)  # 3 MiB of 2024-02 for which there is no role
    assert mib(load, BufferKind.HOST) == host
    assert mib(load, BufferKind.UNKNOWN) == {}


@pytest.mark.parametrize("name", WITH_LOAD)
def test_weights_on_device(name: str) -> None:
    assert story(name).weights_on_device is READINGS[name].get("weights_on_device")


@pytest.mark.parametrize("name", WITH_LOAD)
def test_contexts(name: str) -> None:
    load, reading = story(name), READINGS[name]
    assert (load.n_ctx, load.n_ctx_slot, load.n_ctx_train) == (
        reading.get("n_ctx"),
        reading.get("n_ctx_slot"),
        reading.get("n_ctx_train"),
    )


@pytest.mark.parametrize("name", WITH_LOAD)
def test_fit_decisions(name: str) -> None:
    load = story(name)
    decisions = [e for e in load.fit if e.fact not in (Fact.FIT_PROJECTED, Fact.FIT_DONE)]
    decisions += [e for e in load.errors if "trying to fit params" in e.text]
    assert [event.text.split(": ", 1)[1].strip() for event in decisions] == READINGS[name].get(
        "fit", []
    )


@pytest.mark.parametrize("name", WITH_LOAD)
def test_rates(name: str) -> None:
    rates = [
        [
            "prompt eval" if event.fact is Fact.PROMPT_RATE else "eval",
            event.number("ms"),
            event.whole("n"),
            event.values.get("unit", "tokens"),
        ]
        for event in story(name).rates
    ]
    assert rates == READINGS[name].get("timings_ms_count", [])


@pytest.mark.parametrize("name", WITH_LOAD)
def test_evidence_lines_are_events(name: str) -> None:
    texts = [event.text for event in summary(name).events]
    lines = READINGS[name].get("evidence_lines", [])
    assert not [line for line in lines if line.strip() not in texts]


@pytest.mark.parametrize("name", WITH_LOAD)
def test_first_error_is_the_first_cause(name: str) -> None:
    errors = story(name).errors
    alarming = [
        line
        for line in READINGS[name].get("evidence_lines", [])
        if not any(
            words in line for words in ("control-", "> n_ctx_train", "fit params", "to mlock")
        )
        and not any(words in line for words in ("capping", "special_eos_id"))
    ]
    assert (errors[0].text if errors else None) == (alarming[0] if alarming else None)


@pytest.mark.parametrize("name", WITH_LOAD)
def test_how_it_ended(name: str) -> None:
    expected = Ended.CLEAN
    for ended, names in ((Ended.CRASHED, CRASHED), (Ended.OPEN, OPEN), (Ended.FAILED, FAILED)):
        if name in names:
            expected = ended
    assert story(name).ended is expected


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_log_has_no_fault(name: str) -> None:
    assert not [event for event in summary(name).events if event.fact in FAULTS]


def test_lines_are_numbered_as_an_editor_does() -> None:
    for name in WITH_LOAD:
        lines = (DATA / name).read_bytes().decode("utf-8", "replace").split("\n")
        for event in summary(name).events:
            if "jsonl" not in name:
                assert event.text.strip()[:60] in lines[event.line - 1].replace("\x1b[0m", "")
