"""Frozen values <-> plain JSON by their type hints; outside input is checked key by key."""

import functools
import json
import math
import operator
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar, Union, cast

from app.core.errors import UserError

T = TypeVar("T")

MAX_TEXT = 1 << 20
MAX_ITEMS = 2_000_000
MAX_DEPTH = 40
_MAX_WHOLE = 1 << 64  # GGUF keys are at most uint64
_FLOAT_KEY = "float"  # JSON has no NaN; GGUF keys may hold one
_ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class _BadValueError(Exception):
    """Carry what is wrong while a document is read; never leaves this module."""


def to_plain(value: object) -> object:
    """Return what `json` can write: objects, lists, texts, numbers, true, false, null."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT_KEY: str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value) if f.init}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def from_plain(kind: type[T], plain: object, *, where: str, title: str) -> T:
    """Build a value of `kind` from parsed JSON; UserError(title) names the key that is wrong."""
    try:
        return cast(T, _decode(kind, plain, where, 0))
    except _BadValueError as error:
        raise UserError(title, str(error)) from None


def dumps(plain: object) -> bytes:
    """Return readable JSON as UTF-8; a path with undecodable bytes is written with escapes."""
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(plain, ensure_ascii=True, indent=1, allow_nan=False).encode("ascii")


def parse(data: bytes, *, limit_bytes: int, title: str) -> object:
    """Parse JSON from another person: size, depth, numbers and repeated keys are checked."""
    if len(data) > limit_bytes:
        raise UserError(title, f"It is larger than {limit_bytes >> 20} MiB.")
    try:
        return json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_unique,
            parse_float=_finite,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise UserError(title, f"Byte {error.start} is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        raise UserError(title, f"Line {error.lineno}: {error.msg}.") from None
    except RecursionError:
        raise UserError(title, "It is nested too deeply.") from None
    except (_BadValueError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise UserError(title, f"{error}.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _BadValueError(f"The key {_short(twice)} stands twice in one object")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _BadValueError(f"The number {_short(digits)} is too large")
    return value


def _no_constant(name: str) -> float:
    raise _BadValueError(f"{name} is not JSON")


def _decode(hint: Any, value: object, where: str, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise _BadValueError(f"{where} is nested too deeply")
    options = _options(hint)
    if value is None:
        if type(None) in options:
            return None
        raise _BadValueError(f"{where} may not be null")
    if isinstance(value, bool):
        return _expect(bool in options, value, where, options)
    if isinstance(value, int):
        return _whole(value, where, options)
    if isinstance(value, float):
        return _expect(float in options, value, where, options)
    if isinstance(value, str):
        return _text(value, where, options)
    if isinstance(value, list):
        return _list(value, where, options, depth)
    if isinstance(value, dict):
        return _object(value, where, options, depth)
    raise _BadValueError(f"{where} has an unknown kind of value")


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return tuple(part for member in typing.get_args(hint) for part in _options(member))
    return (hint,)


def _expect(is_right: bool, value: T, where: str, options: tuple[Any, ...]) -> T:
    if not is_right:
        raise _BadValueError(f"{where} should be {_names(options)}, not {_short(value)}")
    return value


def _whole(value: int, where: str, options: tuple[Any, ...]) -> int | float:
    if abs(value) > _MAX_WHOLE:
        raise _BadValueError(f"{where} is larger than 2^64")
    if int in options:
        return value
    _expect(float in options, value, where, options)
    return float(value)


def _text(value: str, where: str, options: tuple[Any, ...]) -> object:
    if len(value) > MAX_TEXT:
        raise _BadValueError(f"{where} is longer than {MAX_TEXT:,} characters")
    for option in options:
        if isinstance(option, type) and issubclass(option, Enum):
            member = next((item for item in option if item.value == value), None)
            if member is not None:
                return member
    return _expect(str in options, value, where, options)


def _list(value: list[Any], where: str, options: tuple[Any, ...], depth: int) -> object:
    hint = next((option for option in options if typing.get_origin(option) is tuple), None)
    if hint is None:
        raise _BadValueError(f"{where} should be {_names(options)}, not a list")
    if len(value) > MAX_ITEMS:
        raise _BadValueError(f"{where} has more than {MAX_ITEMS:,} entries")
    args = typing.get_args(hint)
    if len(args) == 2 and args[1] is Ellipsis:
        args = (args[0],) * len(value)
    if len(args) != len(value):
        raise _BadValueError(f"{where} should have {len(args)} entries, not {len(value)}")
    return tuple(
        _decode(part, item, f"{where}[{index}]", depth + 1)
        for index, (part, item) in enumerate(zip(args, value, strict=True))
    )


def _object(value: dict[str, Any], where: str, options: tuple[Any, ...], depth: int) -> object:
    if float in options and value.keys() == {_FLOAT_KEY}:
        odd = _ODD_FLOATS.get(str(value[_FLOAT_KEY]))
        if odd is not None:
            return odd
    kind = _dataclass_option(options)
    if kind is not None:
        return _instance(kind, value, where, depth)
    for option in options:
        if typing.get_origin(option) is Mapping:
            item = typing.get_args(option)[1]
            return MappingProxyType(
                {
                    _text_key(key, where): _decode(item, entry, f"{where}.{_short(key)}", depth + 1)
                    for key, entry in value.items()
                }
            )
        # typing.get_origin gives collections.abc.Mapping for both spellings
    raise _BadValueError(f"{where} should be {_names(options)}, not an object")


def _text_key(key: str, where: str) -> str:
    if len(key) > MAX_TEXT:
        raise _BadValueError(f"{where} has a key longer than {MAX_TEXT:,} characters")
    return key


def _dataclass_option(options: tuple[Any, ...]) -> Any:
    """Return the one dataclass of a union; several Reading[...] become one with a union inside."""
    found = [option for option in options if is_dataclass(typing.get_origin(option) or option)]
    if not found:
        return None
    args = [arg for option in found for arg in typing.get_args(option)]
    if not args:
        return found[0]
    return typing.get_origin(found[0])[functools.reduce(operator.or_, args)]


def _instance(kind: Any, value: dict[str, Any], where: str, depth: int) -> object:
    origin = typing.get_origin(kind) or kind
    hints = _hints(origin)
    args = typing.get_args(kind)
    variables = dict(zip(getattr(origin, "__parameters__", ()), args, strict=False))
    known = {f.name: f for f in fields(origin) if f.init}
    for name in value:
        if name not in known:
            raise _BadValueError(f"{where} has the unknown key {_short(name)}")
    made: dict[str, object] = {}
    for name, field in known.items():
        if name in value:
            hint = _filled(hints[name], variables)
            made[name] = _decode(hint, value[name], f"{where}.{name}", depth + 1)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise _BadValueError(f"{where}.{name} is missing")
    return origin(**made)


@functools.cache
def _hints(origin: type) -> Mapping[str, Any]:
    return typing.get_type_hints(origin)


def _filled(hint: Any, variables: Mapping[Any, Any]) -> Any:
    """Put the arguments of a generic value into a field's hint."""
    if not variables:
        return hint
    parts = tuple(variables.get(option, option) for option in _options(hint))
    return functools.reduce(operator.or_, parts)


def _names(options: tuple[Any, ...]) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    found: list[str] = []
    for option in options:
        if option is type(None):
            word = "null"
        elif isinstance(option, type) and issubclass(option, Enum):
            word = f"one of {', '.join(str(item.value) for item in option)}"
        elif typing.get_origin(option) is tuple:
            word = "a list"
        else:
            word = words.get(option, "an object")
        if word not in found:
            found.append(word)
    return " or ".join(found)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
