"""Discovery: collect what the modules of a folder export, and refuse an empty folder."""

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def modules(package: ModuleType) -> tuple[ModuleType, ...]:
    """Import and return the modules of a package, by name; works in a frozen program too."""
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in names)


def collect(package: ModuleType, name: str, kind: type[T]) -> tuple[T, ...]:
    """Return the attribute `name` of each module that has one; raise when there is none at all.

    A frozen program without rules would call every machine healthy, so an empty result is a bug.
    """
    found: list[T] = []
    for module in modules(package):
        value = getattr(module, name, None)
        if value is None:
            continue
        if not isinstance(value, kind):
            raise TypeError(f"{module.__name__}.{name} is not a {kind.__name__}")
        found.append(value)
    if not found:
        raise RuntimeError(f"{package.__name__} exports no {name}")
    return tuple(found)
