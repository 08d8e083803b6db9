"""The locks: no address in them, one contains the other, and they hold what pyproject asks for."""

import re
import tomllib

import pytest

from app import product
from tests.house.tree import ROOT

LOCKS = ("app.lock", "dev.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(lock: str) -> set[str]:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    return {line.rstrip(" \\") for line in text.splitlines() if "==" in line}


def names(lock: str) -> set[str]:
    return {re.split("==", pin)[0] for pin in pins(lock)}


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_address(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in requirement, requirement.splitlines()[0]


def test_dev_lock_holds_all_of_app_lock() -> None:
    # dev.py relies on it: an environment for the tests can start the application
    assert pins("app.lock") <= pins("dev.lock")


def test_locks_hold_what_the_project_asks_for() -> None:
    def asked(requirements: list[str]) -> set[str]:
        return {re.split(r"[<>=!~ ]", requirement)[0] for requirement in requirements}

    assert asked(PROJECT["project"]["dependencies"]) <= names("app.lock")
    assert asked(PROJECT["dependency-groups"]["dev"]) <= names("dev.lock")


def test_version_is_the_same_everywhere() -> None:
    assert PROJECT["project"]["version"] == product.VERSION
    assert f"## [{product.VERSION}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
