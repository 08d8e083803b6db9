"""Every reader of a tool's text or of an answer's bytes: any input gives values or none, in time.

The readers are found by their signature, so a new one is tested without being named here.
"""

import dataclasses
import importlib
import inspect
import math
import pkgutil
import time
import typing
from collections.abc import Callable, Mapping
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.probes
import app.runtimes
from app.core.machine import MachineFact
from tests.hosts import SAMPLES
from tests.runtimes import DATA

Reader = Callable[..., object]

# what a reader calls its input; a path or an address is no input of this kind
_INPUTS = (
    "text", "body", "data", "version", "real", "bank", "name", "output", "mounts", "content",
    "device_id",
)  # fmt: skip
_MOST_SAMPLE = 16_000  # characters
_MOST_NUMBER = 1 << 70


def _readers() -> dict[str, Reader]:
    found: dict[str, Reader] = {}
    for package in (app.probes, app.runtimes):
        for module in _modules(package):
            for name, function in vars(module).items():
                if _is_reader(module, name, function):
                    found[f"{module.__name__}.{name}"] = function
    return found


def _modules(package: ModuleType) -> list[ModuleType]:
    names = (entry.name for entry in pkgutil.iter_modules(package.__path__))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def _is_reader(module: ModuleType, name: str, function: object) -> bool:
    if name.startswith("_") or not inspect.isfunction(function):
        return False
    parameters = list(inspect.signature(function).parameters)
    if function.__module__ != module.__name__ or not parameters:
        return False
    if parameters[0] not in _INPUTS:
        return False
    kind = typing.get_type_hints(function).get(parameters[0])
    return kind in (str, bytes, str | None, bytes | None)


READERS = _readers()


def _is_raw(reader: Reader) -> bool:
    """Tell whether a reader passes JSON on as it is; text() and whole() judge its values."""
    return "Any" in str(typing.get_type_hints(reader).get("return"))


def _call(reader: Reader, text: str) -> object:
    hints = typing.get_type_hints(reader)
    parameters = list(inspect.signature(reader).parameters.values())
    wants = str(hints[parameters[0].name])
    first = text.encode("utf-8", "replace") if "bytes" in wants else text
    needed = [p for p in parameters[1:] if p.default is p.empty]
    # names to look for, and a source to write down: a word of the text, as a caller would
    word = next(iter(text.split()), "x")[:40]
    by_name = {p.name: word for p in needed if p.kind is p.KEYWORD_ONLY}
    return reader(first, *(word for p in needed if p.kind is not p.KEYWORD_ONLY), **by_name)


def _check(value: object) -> None:
    """Fail on what can be no figure; look into everything that a reader returns."""
    if isinstance(value, bool | None | str):
        return
    if isinstance(value, int):
        assert abs(value) < _MOST_NUMBER
    elif isinstance(value, float):
        assert math.isfinite(value)
    elif isinstance(value, MachineFact):
        reading = value.reading
        assert (reading.value is None) == bool(reading.reason)
        _check(reading.value)
    elif isinstance(value, Mapping):
        for item in value.values():
            _check(item)
    elif isinstance(value, tuple | list):
        for item in value:
            _check(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            inner = getattr(value, field.name)
            if field.name.endswith("_bytes") and inner is not None:
                assert inner >= 0, field.name
            _check(inner)


def _samples() -> list[str]:
    paths = sorted((*SAMPLES.iterdir(), *DATA.iterdir()))
    return [path.read_text(encoding="utf-8", errors="replace")[:_MOST_SAMPLE] for path in paths]


_SAMPLES = _samples()
_DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
_WIDE = str.maketrans("0123456789.:", "０１２３４５６７８９．：")
_ABSURD = ("9" * 400, "-1", "1e999", "nan", "0x" + "f" * 40, "", "²", "\0", "99999999999999999999")


@st.composite
def _spoiled(draw: st.DrawFn) -> str:
    """Return a real text cut off, in another country's figures, or with absurd ones."""
    text = draw(st.sampled_from(_SAMPLES))
    start, end = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    text = draw(st.sampled_from([text, text[:end], text[start:], text[start:end]]))
    how = draw(st.integers(0, 6))
    if how == 0:
        return text.translate(_DIGITS)
    if how == 1:
        return text.translate(_WIDE)
    if how == 2:
        return text.replace(".", ",").replace(":", " :\u00a0")
    if how == 3:
        figure = draw(st.sampled_from("0123456789"))
        return text.replace(figure, draw(st.sampled_from(_ABSURD)), 20)
    if how == 4:
        return text.replace("\n", draw(st.sampled_from(["\r\n", "\r", "\0", " ", "\u2028"])))
    if how == 5:
        return text.swapcase()
    return text + draw(st.text(max_size=40))


@pytest.mark.parametrize("name", READERS)
@given(text=_spoiled() | st.text(max_size=200) | st.sampled_from(_ABSURD))
@settings(max_examples=60, deadline=None)
def test_any_text_gives_values_or_none(name: str, text: str) -> None:
    found = _call(READERS[name], text)
    if not _is_raw(READERS[name]):
        _check(found)


@pytest.mark.parametrize("name", READERS)
def test_a_huge_text_is_read_in_time(name: str) -> None:
    # a pattern that tries each start anew takes minutes for these
    for piece in ("9", " ", "a: ", "[", "{", "x = 1\n", "\n", "GPU 0:\n", "(", '"', "luid_0x"):
        text = (piece * 300_000)[:300_000]
        started = time.process_time()
        _check(_call(READERS[name], text))
        assert time.process_time() - started < 3, piece


def test_finds_the_readers() -> None:
    assert len(READERS) > 50
    assert {"app.probes.swap.parse_swapusage", "app.runtimes.ollama.loaded_models"} <= set(READERS)
