"""Takes values out of the JSON that runtimes answer; whatever does not fit is not there."""

import json
from typing import Any

_MAX_ITEMS = 200
_MAX_TEXT = 300


def document(body: bytes) -> dict[str, Any]:
    """Return a JSON object, empty for anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def objects(body: bytes, key: str) -> tuple[dict[str, Any], ...]:
    """Return the objects of a list in a JSON object, empty for anything else."""
    value = document(body).get(key)
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value[:_MAX_ITEMS] if isinstance(item, dict))


def inner(item: dict[str, Any], key: str) -> dict[str, Any]:
    """Return an object inside an object, empty for anything else."""
    value = item.get(key)
    return value if isinstance(value, dict) else {}


def items_of(item: dict[str, Any], key: str) -> tuple[dict[str, Any], ...]:
    """Return the objects of a list in an object, empty for anything else."""
    value = item.get(key)
    found = value[:_MAX_ITEMS] if isinstance(value, list) else ()
    return tuple(one for one in found if isinstance(one, dict))


def items(body: bytes) -> tuple[dict[str, Any], ...]:
    """Return the objects of a JSON list, empty for anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    found = value[:_MAX_ITEMS] if isinstance(value, list) else ()
    return tuple(item for item in found if isinstance(item, dict))


def text(item: dict[str, Any], key: str) -> str:
    """Return a text, "" when there is none."""
    value = item.get(key)
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


def whole(item: dict[str, Any], key: str) -> int | None:
    """Return a whole number that is not negative, None when there is none."""
    value = item.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 1 << 63 else None
