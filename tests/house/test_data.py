"""The test data is described: which program, build, machine and command made it."""

import re

from tests.house.tree import TESTS

DATA = TESTS / "data"
INDEX = (DATA / "INDEX.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\S+)/$\n(.*?)(?=^## |\Z)", INDEX, re.MULTILINE | re.DOTALL))


def test_every_folder_has_a_section_and_the_other_way_round() -> None:
    assert set(SECTIONS) == {path.name for path in DATA.iterdir() if path.is_dir()}
    assert all(len(text.strip()) > 60 for text in SECTIONS.values())


def test_no_file_lies_outside_of_a_section() -> None:
    assert [path.name for path in DATA.iterdir() if path.is_file()] == ["INDEX.md"]


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", INDEX):
        assert (DATA / target).exists(), target


def test_data_is_small() -> None:
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 10_000_000
