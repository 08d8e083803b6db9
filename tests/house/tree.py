"""The source files of the repository and their syntax trees, for the house tests."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"
TESTS = ROOT / "tests"


@cache
def sources(folder: Path) -> tuple[Path, ...]:
    """Return the Python files below a folder, by name."""
    return tuple(sorted(folder.rglob("*.py")))


@cache
def syntax(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """Return a file's path within the repository, with slashes."""
    return path.relative_to(ROOT).as_posix()


def imported_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each imported module, and module.name for names out of one, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def docstring_nodes(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes that are docstrings."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, holders) and node.body and isinstance(node.body[0], ast.Expr)
    }


def strings(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each string in the code that is not a docstring, with its line."""
    documentation = docstring_nodes(tree)
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node not in documentation:
            assert isinstance(node, ast.Constant)
            yield str(node.value), node.lineno
