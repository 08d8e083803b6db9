"""The evidence file: lossless both ways, and a clear refusal of everything else."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core import codec, json_values
from app.core.errors import UserError
from app.core.evidence import Evidence, MemoryWatch
from app.core.machine import Machine, MachineFact
from app.core.model import Model, SkippedArray
from app.core.reading import Reading, State
from tests.core.strategies import values

FEATURES: tuple[str, ...] = ("avx2", "fma")
EVERY_PART = Evidence(
    model=Model(
        name="日本語.gguf",
        arch="llama",
        version=3,
        is_big_endian=False,
        keys={"llama.block_count": 12, "x": (1, 2.0, True), "t": SkippedArray("string", 9)},
        tensors=(),
        parts=(),
    ),
    machine=Machine(
        facts=(
            MachineFact("memory.total", Reading(25_275_936_768, "bytes", "/proc/meminfo")),
            MachineFact("cpu.features", Reading(FEATURES, "", "/proc/cpuinfo")),
            MachineFact("os.wsl", Reading(False, "", "/proc/version")),
            MachineFact(
                "gpu.0.clock", Reading.missing(State.MISSING, source="NVML", reason="no driver")
            ),
        )
    ),
    watch=MemoryWatch(seconds=3.0, n_samples=6, swap_in_max=0.0, cores=2, source="/proc/vmstat"),
)


def document() -> dict[str, Any]:
    """Return a fresh parsed evidence file."""
    parsed: dict[str, Any] = json.loads(codec.dumps(EVERY_PART))
    return parsed


def refusal(data: bytes) -> str:
    """Return the sentence with which a file is refused."""
    with pytest.raises(UserError) as caught:
        codec.loads(data)
    return caught.value.sentence()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(values(Evidence))
def test_evidence_is_the_same_after_a_round_trip(evidence: Evidence) -> None:
    again = codec.loads(codec.dumps(evidence))
    assert again == evidence
    assert codec.dumps(again) == codec.dumps(evidence)


def test_types_survive_when_numbers_look_alike() -> None:
    again = codec.loads(codec.dumps(EVERY_PART))
    assert again.model is not None and again.machine is not None
    assert [type(value) for value in again.model.keys["x"]] == [int, float, bool]  # type: ignore[union-attr]
    assert again.model.keys["t"] == SkippedArray("string", 9)
    assert again.machine.words("cpu.features") == ("avx2", "fma")
    assert again.machine.flag("os.wsl") is False
    missing = again.machine.fact("gpu.0.clock")
    assert missing is not None and missing.reading.state is State.MISSING


def test_name_stays_readable_when_it_is_not_ascii() -> None:
    assert "日本語.gguf" in codec.dumps(EVERY_PART).decode("utf-8")


def test_path_survives_when_its_bytes_are_no_text() -> None:
    broken = b"/models/\xff.gguf".decode("utf-8", "surrogateescape")
    evidence = Evidence(symptom=broken)
    assert codec.loads(codec.dumps(evidence)) == evidence


def test_header_value_survives_when_it_is_not_a_number() -> None:
    assert EVERY_PART.model is not None
    model = replace(EVERY_PART.model, keys={"nan": math.nan, "inf": -math.inf})
    again = codec.loads(codec.dumps(Evidence(model=model))).model
    assert again is not None
    assert math.isnan(again.keys["nan"])  # type: ignore[arg-type]
    assert again.keys["inf"] == -math.inf


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("model", "version"), "3", "evidence.model.version should be a whole number, not '3'"),
        (("model", "version"), True, "evidence.model.version should be a whole number, not True"),
        (("model", "version"), 2**65, "evidence.model.version is larger than 2^64"),
        (("model", "name"), None, "evidence.model.name may not be null"),
        (("model", "keys"), [], "evidence.model.keys should be an object, not a list"),
        (("model", "parts"), {}, "evidence.model.parts should be a list, not an object"),
        (("watch", "cores"), "two", "evidence.watch.cores should be a whole number or null"),
        (("watch", "colour"), 1, "evidence.watch has the unknown key 'colour'"),
        (("symptom",), "x" * (json_values.MAX_TEXT + 1), "evidence.symptom is longer than"),
        (("schema",), "slowscope.evidence/2", "Open it with the Slowscope version that made it"),
        (("schema",), None, "Choose a file that Slowscope exported"),
    ],
)
def test_key_is_named_when_its_value_is_wrong(
    path: tuple[str, ...], value: object, words: str
) -> None:
    changed = document()
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert words in refusal(json.dumps(changed).encode())


def test_key_is_named_when_it_is_missing() -> None:
    changed = document()
    del changed["model"]["arch"]
    assert "evidence.model.arch is missing" in refusal(json.dumps(changed).encode())


def test_place_in_a_list_is_named_when_a_value_is_wrong() -> None:
    changed = document()
    changed["machine"]["facts"][1]["reading"]["state"] = "maybe"
    words = refusal(json.dumps(changed).encode())
    assert "evidence.machine.facts[1].reading.state should be one of known, absent" in words


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "Line 1"),
        (b"[1]", "does not hold a JSON object"),
        (b'{"schema": 1, "schema": 2}', "The key 'schema' stands twice"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1e999}', "is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe{", "Byte 0 is not UTF-8"),
        (b"GGUF\x03\x00", "Line 1"),
    ],
)
def test_file_is_refused_in_words_when_it_is_hostile(data: bytes, words: str) -> None:
    assert words in refusal(data)


def test_file_is_refused_when_it_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MAX_BYTES", 1 << 20)
    assert "larger than 1 MiB" in refusal(b" " * ((1 << 20) + 1))


@given(st.binary(max_size=200))
def test_only_a_user_error_leaves_when_bytes_are_random(data: bytes) -> None:
    with pytest.raises(UserError):
        codec.loads(data)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_only_a_user_error_leaves_when_any_value_is_replaced(data: st.DataObject) -> None:
    changed = document()
    places: list[tuple[Any, Any]] = []
    _walk(changed, places)
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just([]), st.just({}))
    )
    try:
        codec.loads(json.dumps(changed).encode())
    except UserError as error:
        assert "evidence" in error.sentence()


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        places.append((value, key))
        if isinstance(item, dict | list):
            _walk(item, places)
