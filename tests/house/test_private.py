"""Nothing of a developer's machine is in the repository: no paths, no package index."""

import re

import pytest

from tests.house.tree import ROOT

FOLDERS = (".ci", ".github", "app", "docs", "installers", "requirements", "resources", "tests")
TEXT = {".py", ".md", ".txt", ".log", ".json", ".jsonl", ".csv", ".toml", ".yml", ".sh", ".nsi",
        ".lock", ".svg", ".xml", ".desktop", ".spec", ".plist", ""}  # fmt: skip
# written so that this file is not found itself
WORDS = {
    "a developer's folder": re.compile(rb"(?<![\w.*}])/(?:work|root)[/]"),
    "a package index": re.compile(rb"py[p]i\.org|python[h]osted"),
}
FILES = sorted(
    path
    for path in [*ROOT.glob("*"), *(file for name in FOLDERS for file in (ROOT / name).rglob("*"))]
    if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts
)


@pytest.mark.parametrize("what", WORDS)
def test_no_file_names_a_developers_place(what: str) -> None:
    naming = [path.relative_to(ROOT).as_posix() for path in FILES
              if WORDS[what].search(path.read_bytes())]  # fmt: skip
    assert not naming, f"{what} occurs in {', '.join(naming)}"


def test_looks_at_all_kinds_of_files() -> None:
    assert len(FILES) > 50
    assert {path.suffix for path in FILES} >= {".py", ".md", ".lock", ".toml"}
