"""docs/faults.md lists the rules that exist, in their order, with what each module says."""

import inspect
import re

import app.rules as package
from app.core import plugins
from app.core.rule import Rule
from app.rules import order
from tests.house.tree import TESTS

LIST = (TESTS.parent / "docs" / "faults.md").read_text(encoding="utf-8")


def test_lists_each_rule_with_its_first_line() -> None:
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.+?) \| (yes)? ?\|$", LIST, re.MULTILINE)
    modules = {m.RULE.id: m for m in plugins.modules(package) if hasattr(m, "RULE")}
    assert [row[0] for row in rows] == list(order.ORDER)
    assert set(order.ORDER) == modules.keys()
    for name, words, rate in rows:
        rule = modules[name].RULE
        assert isinstance(rule, Rule)
        assert words == (inspect.getdoc(modules[name]) or "").splitlines()[0]
        assert bool(rate) is rule.rests_on_rate


def test_gives_the_reason_of_each_group() -> None:
    for group in order.GROUPS:
        assert group.reason in LIST
