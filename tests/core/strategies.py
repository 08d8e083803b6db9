"""Hypothesis strategies for any value of core, built from its type hints."""

import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from hypothesis import strategies as st

NUMBERS = st.floats(allow_nan=False)
WHOLE = st.integers(min_value=-(2**63), max_value=2**64)
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    int: WHOLE,
    float: NUMBERS,
    bool: st.booleans(),
    str: st.text(max_size=12),
    type(None): st.none(),
}


def values(hint: Any, variables: Mapping[Any, Any] = types.MappingProxyType({})) -> Any:
    """Return a strategy for values of a type hint; sequences stay short."""
    hint = variables.get(hint, hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values(arg, variables) for arg in args])
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(values(args[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*[values(arg) for arg in args])
    if origin is Mapping:
        return st.dictionaries(values(args[0]), values(args[1]), max_size=3)
    kind: Any = origin or hint
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    hints = typing.get_type_hints(kind)
    inner = dict(zip(getattr(kind, "__parameters__", ()), args, strict=False))
    return st.builds(kind, **{f.name: values(hints[f.name], inner) for f in fields(kind) if f.init})
