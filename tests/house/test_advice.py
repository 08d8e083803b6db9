"""No text of a rule repeats advice that was checked and is wrong, out of date or dangerous."""

import ast
import re
from pathlib import Path

import pytest

from tests.house import tree

# words, and what is true instead; options that older guides name stand in load_failed.TODAY
WRONG = {
    r"-ngl 99\b|-ngl 999": "all layers are the default; 99 is not all for every model",
    r"(?<!Remove )--m?lock\b|--no-mmap|-mmp 0": "ends build 11434 at its start",
    r"--draft-max": "gone; --spec-draft-n-max",
    r"-fa(?! on| off| auto)(?=[\s.,;]|$)": "the switch takes on, off or auto",
    r"HSA_OVERRIDE": "a wrong value crashes",
    r"LLAMA_FA=|FA_ALL_QUANTS": "no such option, or a former name",
    r"HIPBLAS": "a former name",
    r"AITER": "for other cards",
    r"-sm row": "cuts matrices; out of date",
    r"MLX_NUM_THREADS": "does not exist",
    r"exllamav2": "no such server",
    r"\bMPS\b": "brings one user nothing",
    r"topo -m": "shows no link speed",
    r"UNIFIED_MEMORY=1": "hides that memory is short",
    r"20 % .{0,20}free": "the runtimes leave 0.5 to 1 GiB",
    r"(?i)q4_0 .{0,30}(half|no loss|minimal)": "28 per cent, with visible loss",
    r"(?i)(use|set|take) more threads": "slower",
    r"(?i)KV cache grows while": "it is allocated whole at the load",
    r"(?i)larger batch .{0,30}writ": "a batch does nothing for writing",
    r"--numa(?! distribute| isolate| numactl)(?=[\s.,;]|$)": "needs a word after it",
    r"--enable-prefix-caching": "on by itself",
    r"llama-cli .{0,30}-n 1": "a chat program",
}
EXEMPT = {"load_failed.py": "TODAY"}  # names former options, to say what to write instead


def texts(path: Path) -> list[str]:
    """Return the texts of a module that users may read: no docstrings, no former options."""
    module = tree.syntax(path)
    skipped: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        is_named = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if is_named and node.targets[0].id == EXEMPT.get(path.name):  # type: ignore[attr-defined]
            skipped.update(id(part) for part in ast.walk(node))
    return [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in skipped
    ]


@pytest.mark.parametrize("path", tree.sources(tree.APP / "rules"), ids=tree.name_of)
def test_no_rule_gives_advice_that_is_known_to_be_wrong(path: Path) -> None:
    for text in texts(path):
        for words, truth in WRONG.items():
            assert not re.search(words, text), f"{text!r}: {truth}"
