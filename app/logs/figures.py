"""Turns the figures of log lines into the values of facts."""

import re
from collections.abc import Callable

MIB = 1024 * 1024
_UNITS = {"B": 1, "KIB": 1024, "MIB": MIB, "GIB": 1024 * MIB, "TIB": 1024 * 1024 * MIB}


def mib_to_bytes(text: str) -> int:
    """Return the bytes of a figure in MiB."""
    return round(float(text) * MIB)


def size_to_mib(text: str) -> float:
    """Return MiB of a text such as "4.3 GiB" (Ollama's HumanBytes2); ValueError otherwise."""
    figure, _, unit = text.strip().partition(" ")
    if unit.upper() not in _UNITS:
        raise ValueError(text)
    return float(figure) * _UNITS[unit.upper()] / MIB


def sizes_to_mib(text: str) -> float:
    """Return the sum in MiB of a list such as "22.0 GiB 512.0 MiB"; ValueError otherwise."""
    words = text.split()
    return sum(size_to_mib(" ".join(pair)) for pair in zip(words[::2], words[1::2], strict=True))


def bytes_to_mib(text: str) -> int:
    """Return whole MiB of a figure in bytes."""
    return int(text) // MIB


def decimal_mb(text: str) -> int:
    """Return the bytes of a figure in MB of 10^6, as Metal prints its working set."""
    return round(float(text) * 1_000_000)


def size_to_bytes(text: str) -> int:
    """Return the bytes of a text such as "4.3 GiB"; ValueError otherwise."""
    return round(size_to_mib(text) * MIB)


def decimal_gb(text: str) -> int:
    """Return the bytes of a figure in GB of 10^9; ValueError when it is no amount."""
    n_bytes = float(text) * 1e9
    if not 0 <= n_bytes < 1e18:
        raise ValueError(text)  # LM Studio's guess may be NaN
    return round(n_bytes)


def grouped(text: str) -> int:
    """Return the number of a text with thousands separators."""
    return int(text.replace(",", ""))


def share(percent: str) -> float:
    """Return a share of one for a figure in percent."""
    return float(percent) / 100


def always(word: str) -> Callable[[str], str]:
    """Return what makes any group say the same word."""
    return lambda _text: word


def unescaped(text: str) -> str:
    """Return a JSON text's path with its backslashes single."""
    return text.replace("\\\\", "\\")


def numbered(prefix: str) -> Callable[[str], str]:
    """Return what makes a device's name of its number."""
    return lambda index: f"{prefix}{index}"


_FIGURE = re.compile(r"\d+(?:\.\d+)?")


def first_by_last(text: str) -> float:
    """Return milliseconds for a text whose first figure is tokens and the last tokens/s."""
    figures = [float(figure) for figure in _FIGURE.findall(text)]
    if figures[-1] <= 0:
        raise ValueError(text)
    return 1000 * figures[0] / figures[-1]


def last_by_first(text: str) -> float:
    """Return milliseconds for a text whose first figure is tokens/s and the last tokens."""
    figures = [float(figure) for figure in _FIGURE.findall(text)]
    if figures[0] <= 0:
        raise ValueError(text)
    return 1000 * figures[-1] / figures[0]


def first_by_last_ms(text: str) -> int:
    """Return tokens for a text whose first figure is seconds and the last ms per token."""
    figures = [float(figure) for figure in _FIGURE.findall(text)]
    if figures[-1] <= 0:
        raise ValueError(text)
    return round(1000 * figures[0] / figures[-1])


def per_second(ms_per_token: str) -> float:
    """Return tokens per second of milliseconds per token; ValueError for zero."""
    ms = float(ms_per_token)
    if ms <= 0:
        raise ValueError(ms_per_token)
    return 1000 / ms


def first_times_last(text: str) -> int:
    """Return tokens for a text whose first figure is seconds and the last tokens/s."""
    figures = [float(figure) for figure in _FIGURE.findall(text)]
    return round(figures[0] * figures[-1])


def seconds(text: str) -> float:
    """Return milliseconds for a text that begins with seconds."""
    found = _FIGURE.match(text)
    if found is None:
        raise ValueError(text)
    return 1000 * float(found[0])


def flash_state(text: str) -> str:
    """Return enabled, disabled or auto; builds to 2025-08 print 1 and 0."""
    return {"0": "disabled", "1": "enabled", "-1": "auto"}.get(text, text)


# what is wrong with a model file, by the words of its first error line (ggml/src/gguf.cpp and
# src/llama-model-loader.cpp of build 11434, and their older wordings)
_FILE_FAULTS = (
    ("invalid magic", "not-gguf"),
    ("failed to read magic", "empty"),
    ("failed to open", "missing"),
    ("No such file", "missing"),
    ("exceeds remaining file size", "cut"),
    ("failed to read key-value pairs", "cut"),
    ("failed to read tensor", "cut"),
    ("not within the file bounds", "cut"),
    ("invalid ggml type", "newer"),
    ("only supports up to version", "newer"),
    ("unknown pre-tokenizer type", "newer"),
    ("key not found in model", "newer"),
    ("no longer supported", "older"),
    ("extremely large", "endian"),
    ("split", "split"),
    ("missing tensor", "other-tensors"),
    ("not found", "other-tensors"),
    ("wrong number of tensors", "other-tensors"),
    ("wrong shape", "other-tensors"),
)


def file_fault(text: str) -> str:
    """Name what is wrong with the file: not-gguf, empty, missing, cut, newer, older, and so on."""
    return next((fault for words, fault in _FILE_FAULTS if words in text), "damaged")
