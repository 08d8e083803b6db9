"""Size and documentation of the source: what keeps every file readable in one sitting."""

import ast
from pathlib import Path

import pytest

from tests.house import tree

FILE_LINES = 400
MAIN_WINDOW_LINES = 250
FUNCTION_LINES = 60
DOC_COLUMNS = 100
VAGUE_FOLDERS = {"utils", "util", "misc", "helpers", "common"}
ALL = (*tree.sources(tree.APP), *tree.sources(tree.TESTS))


@pytest.mark.parametrize("path", ALL, ids=tree.name_of)
def test_file_and_functions_are_short(path: Path) -> None:
    limit = MAIN_WINDOW_LINES if path.name == "main_window.py" else FILE_LINES
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= limit, f"{n_lines} lines, at most {limit}"
    for node in ast.walk(tree.syntax(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{node.name} in line {node.lineno}: {length} lines"


@pytest.mark.parametrize("path", ALL, ids=tree.name_of)
def test_module_says_in_one_line_what_it_is_for(path: Path) -> None:
    text = ast.get_docstring(tree.syntax(path))
    assert text, "no docstring"
    first = text.splitlines()[0]
    assert first.endswith("."), first
    assert len(first) <= DOC_COLUMNS


@pytest.mark.parametrize("path", tree.sources(tree.APP), ids=tree.name_of)
def test_public_classes_and_functions_are_documented(path: Path) -> None:
    module = tree.syntax(path)
    defined = [(node, "") for node in module.body]
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            defined += [(member, f"{node.name}.") for member in node.body]
    for node, owner in defined:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or _needs_no_words(node):
            continue
        assert ast.get_docstring(node), f"{owner}{node.name} in line {node.lineno}"


def _needs_no_words(node: ast.ClassDef | ast.FunctionDef) -> bool:
    """Tell whether a name is private or given by Qt, whose manual describes it."""
    return node.name.startswith("_") or (
        isinstance(node, ast.FunctionDef) and node.name != node.name.lower()
    )


def test_no_folder_has_a_name_that_says_nothing() -> None:
    folders = {path.parent.name for path in ALL}
    assert not folders & VAGUE_FOLDERS
