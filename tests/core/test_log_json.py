"""The contract of `log --json`: names, bytes, kinds, lines, and nothing made up."""

import json
from pathlib import Path

import pytest

from app.core.log_json import log_json
from app.logs.scan import scan_file, scan_text

DATA = Path(__file__).parents[1] / "data" / "logs"
LOAD_KEYS = {
    "program", "build", "devices", "asked", "offload_line", "buffers", "weights_on_device",
    "n_ctx", "n_ctx_slot", "n_ctx_train", "fit", "rates", "errors", "ended",
}  # fmt: skip


def reading(name: str) -> dict[str, list[dict[str, object]]]:
    document = log_json(scan_file(DATA / f"{name}.log"))
    assert document["schema"] == "slowscope.log/1"
    loaded: dict[str, list[dict[str, object]]] = json.loads(json.dumps(document))
    return loaded


@pytest.mark.parametrize("path", sorted(DATA.glob("*.log")), ids=lambda path: path.stem)
def test_every_log_has_the_keys_of_the_contract(path: Path) -> None:
    for load in reading(path.stem)["loads"]:
        assert set(load) >= LOAD_KEYS
        assert load["ended"] in ("clean", "failed", "crashed", "open")


def test_partial_offload_is_told_in_bytes_with_lines() -> None:
    load = reading("b10434-vulkan-partial-ngl9-lv4")["loads"][0]
    assert load["offload_line"] == [9, 19]
    assert load["weights_on_device"] is True
    buffers = load["buffers"]
    assert isinstance(buffers, list)
    device = [b for b in buffers if b["kind"] == "device"]
    assert [(b["name"], b["role"], b["bytes"]) for b in device] == [
        ("Vulkan0", "weights", 30765220),
        ("Vulkan0", "kv", 23 * 1024 * 1024),
        ("Vulkan0", "compute", 28762440),
    ]
    assert all(isinstance(b["line"], int) and b["source"] for b in buffers)
    assert load["devices"] == [
        {
            "name": "Vulkan0",
            "description": "llvmpipe (LLVM 15.0.6, 256 bits)",
            "total_bytes": 2048 * 1024 * 1024,
            "free_bytes": 2048 * 1024 * 1024,
            "is_used": True,
            "source": "log line 71",
        },
        {
            "name": "CPU",
            "description": "Intel(R) Xeon(R) Processor",
            "total_bytes": 24105 * 1024 * 1024,
            "free_bytes": 24105 * 1024 * 1024,
            "is_used": False,
            "source": "log line 5",
        },
    ]


def test_rate_is_an_object_with_its_source() -> None:
    rates = reading("b11434-cpu-prompt-cache-swa-reprocessing-lv4")["loads"][0]["rates"]
    assert isinstance(rates, list)
    assert rates[0] | {"line": 0} == {
        "test": "prompt",
        "n_tokens": 685,
        "ms": 5402.11,
        "tps": {
            "value": 126.8,
            "low": None,
            "high": None,
            "source": f"log line {rates[0]['line']}",
            "kind": "measured",
        },
        "is_too_short": False,
        "line": 0,
    }


def test_what_was_asked_is_told_only_where_the_log_says_it() -> None:
    asked = reading("b10434-vulkan-fit-fails-ngl-set-default-verbosity")["loads"][0]["asked"]
    assert isinstance(asked, dict)
    assert (asked["ngl"], asked["ctx"]) == (99, None)
    kept = reading("b10434-vulkan-fit-moves-layers-ctx-set-lv4")["loads"][0]["asked"]
    assert isinstance(kept, dict)
    assert (kept["ngl"], kept["ctx"]) == (None, 16384)


def test_command_of_ollama_tells_what_was_asked() -> None:
    command = (
        'time=2026-05-02T10:11:12.000Z level=INFO source=server.go:391 msg="starting llama-server" '
        'cmd="/usr/lib/ollama/llama-server --port 1 --ctx-size 8192 -ngl 33 -b x '
        '-fa --cache-type-k q8_0"\n'
    )
    log = (DATA / "b11434-cpu-lv4-no-prefix-no-timestamps.log").read_text()
    document = log_json(scan_text(command + log))
    loads = document["loads"]
    assert isinstance(loads, list)
    assert len(loads) == 1
    assert loads[0]["asked"] == {
        "ngl": 33,
        "ctx": 8192,
        "batch": None,
        "ubatch": None,
        "parallel": None,
        "threads": None,
        "cache_type_k": "q8_0",
        "cache_type_v": None,
        "flash_attn": "on",
    }


def test_errors_say_which_is_the_cause() -> None:
    errors = reading("b11434-load-error-truncated-data")["loads"][0]["errors"]
    assert isinstance(errors, list)
    assert [error["is_cause"] for error in errors][:2] == [True, False]
    assert errors[0]["values"] == {"tensor": "blk.4.ffn_down.weight", "why": "cut"}


def test_events_carry_their_explanation() -> None:
    events = reading("b10434-vulkan-full-offload-lv4")["events"]
    assert all(event["means"] and event["weight"] for event in events)
    assert "low" not in events[0]
