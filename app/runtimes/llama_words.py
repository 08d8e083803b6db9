"""Reads the options of a llama-server that runs already: the request that its user made."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.core.request import LoadRequest, Switch
from app.core.request import changed as with_change

_ALL = 999  # "all": more than any model has


def _whole(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None


def _layers(text: str) -> int | None:
    if text == "all":
        return _ALL
    value = _whole(text)
    return value if value is not None and value >= 0 else None


def _types(text: str) -> str:
    return text or "f16"


def _switch(text: str) -> Switch:
    return Switch(text) if text in {one.value for one in Switch} else Switch.AUTO


_MARGINS = ("-fitt", "--fit-target")
# the spellings of build 11434 and of the builds before it
_VALUES: tuple[tuple[tuple[str, ...], str, Callable[[str], Any]], ...] = (
    (("-ngl", "--gpu-layers", "--n-gpu-layers"), "ngl", _layers),
    (("-c", "--ctx-size"), "ctx", _whole),
    (("-t", "--threads"), "threads", _whole),
    (("-np", "--parallel"), "parallel", _whole),
    (("-ctk", "--cache-type-k"), "cache_type_k", _types),
    (("-ctv", "--cache-type-v"), "cache_type_v", _types),
    (("-fa", "--flash-attn"), "flash_attn", _switch),
    (_MARGINS, "fit_target_mib", _whole),
    (("-lm", "--load-mode"), "load_mode", lambda text: text or "auto"),
)
_NUMBERS = ((("-b", "--batch-size"), "batch"), (("-ub", "--ubatch-size"), "ubatch"))
_MODEL = ("-m", "--model")
_DEVICE = ("-dev", "--device")
_KV_ON_HOST = ("-nkvo", "--no-kv-offload")


def request_of(argv: tuple[str, ...]) -> LoadRequest:
    """Return what the options ask for; what is not among them keeps the program's default."""
    change: list[tuple[str, object]] = []
    for names, field, read in _VALUES:
        text = value_of(argv, names)
        if text is not None:
            change.append((field, read(text)))
    for names, field in _NUMBERS:
        number = _whole(value_of(argv, names) or "")
        if number:
            change.append((field, number))
    request = with_change(LoadRequest(), change)
    devices = value_of(argv, _DEVICE)
    if devices == "none":
        request = replace(request, use_devices=False)
    elif devices:
        request = replace(request, device_ids=tuple(devices.split(",")))
    margins = (value_of(argv, _MARGINS) or "").replace("/", ",").split(",")
    if len(margins) > 1 and all(margin.isdigit() for margin in margins):
        request = replace(request, fit_targets_mib=tuple(map(int, margins)))
    rpc = value_of(argv, ("--rpc",))
    if rpc:
        request = replace(request, rpc_servers=tuple(rpc.split(",")))
    return replace(request, kv_offload=not any(name in argv for name in _KV_ON_HOST))


def model_of(argv: tuple[str, ...]) -> str:
    """Return the path of the model, "" when none is given."""
    return value_of(argv, _MODEL) or ""


def value_of(argv: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """Return the value of the last of these options, None when it is not there."""
    found = None
    for index, word in enumerate(argv):
        name, separator, value = word.partition("=")
        if name in names and separator:
            found = value
        elif word in names and index + 1 < len(argv):
            found = argv[index + 1]
    return found
