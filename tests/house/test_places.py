"""What may be used in one place only: programs, threads, the product's name, bundle folders."""

import ast
from pathlib import Path

import pytest

from app import product
from tests.house import tree

# module or name -> the files and folders of app that may import it
ONLY_IN = {
    "subprocess": ("app/probes/host.py",),
    "PySide6.QtCore.QProcess": ("app/work/",),
    "PySide6.QtCore.QThreadPool": ("app/work/",),
    "PySide6.QtCore.QRunnable": ("app/work/",),
    "psutil": ("app/probes/", "app/work/process.py"),
    "pynvml": ("app/probes/",),
    "numpy": ("app/logs/", "app/probes/bandwidth.py", "app/work/", "app/ui/"),
    "pyqtgraph": ("app/ui/",),
    "asyncio": (),
    "multiprocessing": (),
    "concurrent": ("app/work/machine_reader.py",),  # decision 0008
}
# the three loops in which a broken part may not spoil the others: over jobs (a script of steps is
# one job in parts), over rules, over probes
CATCH_ALL = (
    "app/work/jobs.py",
    "app/work/steps.py",
    "app/rules/judge.py",
    "app/work/machine_reader.py",
)
APP_FILES = tree.sources(tree.APP)


@pytest.mark.parametrize("path", APP_FILES, ids=tree.name_of)
def test_imports_only_what_its_place_allows(path: Path) -> None:
    name = tree.name_of(path)
    for imported, line in tree.imported_names(tree.syntax(path)):
        for banned, places in ONLY_IN.items():
            if imported == banned or imported.startswith(f"{banned}."):
                assert name.startswith(places or "nowhere"), f"line {line} imports {imported}"


RULES = [path for path in APP_FILES if tree.name_of(path).startswith("app/rules/")]


@pytest.mark.parametrize("path", RULES, ids=tree.name_of)
def test_no_rule_holds_a_regular_expression(path: Path) -> None:
    # what a line says is a pattern's business, what a name says is core's (docs/architecture.md)
    assert "re" not in {name for name, _line in tree.imported_names(tree.syntax(path))}


# it measures the memory with threads, in a process of its own
WITHOUT_THREADS = [path for path in APP_FILES if path.name != "bandwidth.py"]


@pytest.mark.parametrize("path", WITHOUT_THREADS, ids=tree.name_of)
def test_starts_no_thread_of_its_own(path: Path) -> None:
    for node in ast.walk(tree.syntax(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            call = f"{node.value.id}.{node.attr}"
            assert call not in {"threading.Thread", "os.system", "os.popen"}, node.lineno
    modules = {name for name, _line in tree.imported_names(tree.syntax(path))}
    assert "threading.Thread" not in modules


@pytest.mark.parametrize("path", APP_FILES, ids=tree.name_of)
def test_product_is_named_by_product_py_alone(path: Path) -> None:
    if path == tree.APP / "product.py":
        return
    named = [line for text, line in tree.strings(tree.syntax(path))
             if product.SLUG in text.lower()]  # fmt: skip
    assert not named, f"use app.product in line {named}"


def test_asks_in_one_file_whether_it_is_packaged() -> None:
    asking = {
        tree.name_of(path)
        for path in APP_FILES
        if any("_MEIPASS" in text for text, _line in tree.strings(tree.syntax(path)))
    }
    assert asking == {"app/paths.py"}


def test_catches_everything_in_three_loops_only() -> None:
    catching = [
        tree.name_of(path)
        for path in APP_FILES
        for node in ast.walk(tree.syntax(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
    ]
    assert all(name.startswith(CATCH_ALL) for name in catching), catching
    for place in CATCH_ALL:
        assert sum(name.startswith(place) for name in catching) <= 1, place


@pytest.mark.parametrize("path", tree.sources(tree.TESTS), ids=tree.name_of)
def test_no_test_waits_for_time(path: Path) -> None:
    waits = {"time.sleep", "QTest.qWait", "qtbot.wait", "QThread.sleep", "QThread.msleep"}
    for node in ast.walk(tree.syntax(path)):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in waits, f"line {node.lineno}"
