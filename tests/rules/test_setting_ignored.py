"""A setting that is dropped is named with what it needs."""

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary
from app.rules.setting_ignored import check, silent
from tests.rules import made


@pytest.mark.parametrize(
    ("what", "fix"),
    [
        ("quantized kv cache requested but flash attention disabled", "flash attention on"),
        ("kv cache type not supported by model", "f16"),
        ("flash attention enabled but not supported by gpu", "Remove the setting"),
    ],
)
def test_says_what_the_setting_needs(what: str, fix: str) -> None:
    line = made.event(Fact.SETTING_IGNORED, 4, f'msg="{what}"', what=what)
    finding = check(Evidence(log=LogSummary("server.log", 9, events=(line,))))
    assert finding is not None
    assert fix in finding.fix.text


def test_is_silent_when_no_setting_is_dropped() -> None:
    evidence = Evidence(log=LogSummary("server.log", 9))
    assert check(evidence) is None
    assert silent(evidence) == ""
