"""The judge on every captured log: what each one is, and silence on the healthy ones."""

from pathlib import Path

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.log_words import Weight, weight
from app.core.rule import Certainty, Diagnosis
from app.core.symptom import Symptom
from app.logs import scan
from app.rules import judge

LOGS = Path(__file__).parent.parent / "data" / "logs"
SOFTWARE = "wrong-backend"
# tests/data/logs/README.md says of each what the right reading is
VERDICTS = {
    "b10434-vulkan-abort-kv-tensor-too-large-default-verbosity": "load-failed",
    "b10434-vulkan-abort-kv-tensor-too-large-lv4": "load-failed",
    "b10434-vulkan-device-none-ngl99-lv4": "device-present-but-unused",
    "b10434-vulkan-fit-moves-layers-ctx-set-lv4": "cache-too-large",
    "b10434-vulkan-fit-reduces-context-lv4": "context-reduced",
    "b10434-vulkan-nkvo-lv4": "kv-on-host",
    "b10434-vulkan-oom-compute-default-verbosity": "load-failed",
    "b10434-vulkan-overcommit-loads-anyway-lv4": "over-commit",
    "b10434-vulkan-partial-ngl9-lv4": "layers-not-offloaded",
    "b11434-cpu-context-full-no-shift-default-verbosity": "context-full",
    "b11434-cpu-context-shift-gemma-lv4": "context-full",
    "b11434-cpu-fit-reduces-context-lv4": "context-reduced",
    "b11434-cpu-ngram-speculation-default-verbosity": "context-full",
    "b11434-cpu-oom-huge-ctx-fit-off-default-verbosity": "load-failed",
    "b11434-cpu-oom-huge-ctx-fit-on-lv4": "load-failed",
    "b11434-llama-bench-error-missing-file": "load-failed",
    "b11434-llama-bench-error-oom-depth": "load-failed",
    "b11434-load-error-big-endian": "load-failed",
    "b11434-load-error-corrupt-kv-type": "load-failed",
    "b11434-load-error-empty-file": "load-failed",
    "b11434-load-error-file-not-found": "load-failed",
    "b11434-load-error-git-lfs-pointer": "load-failed",
    "b11434-load-error-html-page": "load-failed",
    "b11434-load-error-missing-tensor": "load-failed",
    "b11434-load-error-split-missing": "load-failed",
    "b11434-load-error-truncated-data": "load-failed",
    "b11434-load-error-truncated-header": "load-failed",
    "b11434-load-error-unknown-architecture": "load-failed",
    "b11434-load-error-unknown-ggml-type": "load-failed",
    "b11434-load-error-wrong-magic": "load-failed",
    "b11434-port-in-use-default-verbosity": "load-failed",
    "b11434-removed-flag-mlock": "load-failed",
    "b11434-rpc-one-device-ngl99-device-none-lv4": "device-present-but-unused",
    "b11434-rpc-one-device-partial-ngl6-lv4": "layers-not-offloaded",
    "b11434-rpc-one-device-partial-ngl6-verbose": "layers-not-offloaded",
    "b11434-rpc-server-unreachable": "load-failed",
    "b11434-rpc-two-devices-fit-lv4": "context-reduced",
}
HEALTHY = (
    "b10434-vulkan-full-offload-lv4",
    "b10434-vulkan-tiny-full-offload-two-requests-lv4",
    "b10434-vulkan-fit-fails-ngl-set-default-verbosity",
    "b11434-cpu-ctx-zero-full-context-no-change-lv4",
    "b11434-cpu-fit-off-lv4",
    "b11434-cpu-healthy-default-verbosity",
    "b11434-cpu-healthy-lv4",
    "b11434-cpu-kv-q8_0-lv4",
    "b11434-cpu-load-mode-mlock-lv4",
    "b11434-cpu-load-mode-none-lv4",
    "b11434-cpu-lv4-colors-on",
    "b11434-cpu-lv4-jsonl",
    "b11434-cpu-lv4-no-prefix-no-timestamps",
    "b11434-cpu-ngl99-default-verbosity",
    "b11434-cpu-ngl99-lv4",
    "b11434-cpu-verbose",
    "b11434-rpc-two-devices-full-lv4",
    "b11434-split-two-files-lv4",
    "old-2023-09-main-cpu",
    "old-2024-02-main-cpu",
    "old-b3889-2024-10-vulkan-full-offload",
    "old-b4798-2025-03-server-cpu",
    "old-b7079-2025-11-server-cpu",
)


def judged(name: str) -> Diagnosis:
    """Return the diagnosis of one captured log and nothing else."""
    return judge.diagnose(Evidence(log=scan.scan_file(LOGS / f"{name}.log")))


@pytest.mark.parametrize("name", VERDICTS)
def test_names_the_fault_that_the_capture_has(name: str) -> None:
    found = judged(name)
    assert found.verdict is not None
    assert found.verdict.rule_id == VERDICTS[name]
    assert any(cite.line for cite in found.verdict.cites)
    assert not any(finding.title == "This check failed" for finding in found.also)


@pytest.mark.parametrize("name", HEALTHY)
def test_finds_nothing_when_the_capture_is_healthy(name: str) -> None:
    found = judged(name)
    assert found.verdict is None
    assert found.ruled_out
    # llvmpipe holds these loads: that is said beside the verdict, and as unproven
    assert {finding.rule_id for finding in found.also} <= {SOFTWARE}
    assert all(finding.certainty is Certainty.NOT_PROVEN for finding in found.also)


@pytest.mark.parametrize("name", (*HEALTHY, *VERDICTS))
def test_gives_the_same_verdict_whatever_the_user_says_to_see(name: str) -> None:
    log = scan.scan_file(LOGS / f"{name}.log")
    verdicts = {
        judge.diagnose(Evidence(log=log, symptom=symptom)).verdict
        for symptom in ("", *(symptom.value for symptom in Symptom))
    }
    assert len(verdicts) == 1


# a line marks a fault, and no rule can name it from this log alone
UNNAMED = {
    "b10434-llama-server-list-devices-vulkan.log": "a list of devices; no load uses one",
}


def test_names_a_fault_when_a_line_of_the_log_marks_one() -> None:
    silent = set()
    for path in sorted(LOGS.rglob("*.log")):
        log = scan.scan_file(path)
        if any(weight(event) is Weight.FAULT for event in log.events):
            found = judge.diagnose(Evidence(log=log))
            if found.verdict is None and not found.also:
                silent.add(path.name)
    assert silent == set(UNNAMED)


def test_says_that_nothing_is_on_the_gpu_when_the_line_says_19_of_19() -> None:
    verdict = judged("b10434-vulkan-device-none-ngl99-lv4").verdict
    assert verdict is not None
    assert verdict.cause.startswith("Nothing is on the GPU")
    assert [cite.line for cite in verdict.cites] == [4, 143, 144, 142]


def test_asks_for_more_log_when_the_capture_hides_the_placement() -> None:
    found = judged("b11434-cpu-healthy-default-verbosity")
    hidden = {ruled.rule_id: ruled.because for ruled in found.not_checked}
    assert "-lv 4" in hidden["layers-not-offloaded"]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("b11434-load-error-split-missing", "A part of the model is missing"),
        ("b11434-load-error-html-page", "The file is no model this program can read"),
        ("b11434-load-error-truncated-data", "The model file is damaged"),
        ("b11434-load-error-unknown-ggml-type", "The program does not know this file's contents"),
        ("b11434-removed-flag-mlock", "An option was removed"),
        ("b11434-rpc-server-unreachable", "The RPC server does not answer"),
        ("b11434-port-in-use-default-verbosity", "The port could not be opened"),
        ("b10434-vulkan-oom-compute-default-verbosity", "A buffer is too large for the device"),
    ],
)
def test_tells_the_kinds_of_failed_loads_apart(name: str, title: str) -> None:
    verdict = judged(name).verdict
    assert verdict is not None and verdict.title == title


def test_cites_the_first_error_and_the_part_when_memory_is_refused() -> None:
    verdict = judged("b11434-cpu-oom-huge-ctx-fit-on-lv4").verdict
    assert verdict is not None
    assert "the KV cache" in verdict.cause and "114 GiB" in verdict.cause
    assert [cite.line for cite in verdict.cites] == [163, 166]


def test_cites_each_line_of_the_cache_when_its_size_is_a_sum() -> None:
    verdict = judged("b10434-vulkan-nkvo-lv4").verdict
    assert verdict is not None
    assert "49.5" in verdict.cause
    assert [cite.line for cite in verdict.cites] == [168, 173]
    assert ["12.00" in verdict.cites[0].text, "37.50" in verdict.cites[1].text] == [True, True]


def test_counts_a_device_as_used_when_it_holds_bytes_but_no_line_says_so() -> None:
    log = scan.scan_file(LOGS / "old-b3889-2024-10-vulkan-full-offload.log")
    assert log.load is not None
    assert log.load.devices == ("Vulkan0",)
    assert not log.all(Fact.DEVICE_USED)
