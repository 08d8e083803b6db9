"""The contract of each folder of plug-ins, so that a new file is tested the moment it exists."""

from collections import Counter
from collections.abc import Iterator

import pytest

import app.logs.patterns
import app.probes
import app.rules
import app.runtimes
from app.core import plugins
from app.core.evidence import Evidence
from app.core.log import Fact, Pattern
from app.core.probe import Probe, RuntimeProbe
from app.core.reading import State
from app.core.rule import Rule
from app.logs import lines, matcher
from app.rules import order
from tests.hosts import FakeHost
from tests.house import tree

RULES = plugins.collect(app.rules, "RULE", Rule)
PROBES = plugins.collect(app.probes, "PROBE", Probe)
RUNTIMES = plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe)
PATTERN_GROUPS = {module.__name__: module.PATTERNS for module in plugins.modules(app.logs.patterns)}
PATTERNS: list[Pattern] = [pattern for group in PATTERN_GROUPS.values() for pattern in group]
RULE_PARTS = ("What:", "Evidence:", "Arithmetic:", "Fix:", "Proof:", "Sources:")
PLATFORMS = ("linux", "win32", "darwin")


def samples() -> Iterator[tuple[Pattern, int]]:
    for pattern in PATTERNS:
        yield from ((pattern, place) for place in range(len(pattern.samples)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_named_after_its_file_and_explains_itself(rule: Rule) -> None:
    module = next(m for m in plugins.modules(app.rules) if getattr(m, "RULE", None) is rule)
    name = module.__name__.rpartition(".")[2]
    assert rule.id == name.replace("_", "-")
    missing = [part for part in RULE_PARTS if part not in (module.__doc__ or "")]
    assert not missing, f"{module.__name__} does not say {missing}"
    assert rule.title
    assert rule.id in order.ORDER, "place it in app/rules/order.py"
    assert (tree.TESTS / "rules" / f"test_{name}.py").exists()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_finds_nothing_in_no_evidence(rule: Rule) -> None:
    assert rule.check(Evidence()) is None
    assert rule.needs(Evidence()), "it must say what is missing to check it"


def test_rules_in_the_order_exist() -> None:
    assert len(set(order.ORDER)) == len(order.ORDER)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_probe_survives_a_machine_without_anything(probe: Probe, platform: str) -> None:
    for fact in probe.read(FakeHost(platform=platform)):
        reading = fact.reading
        if reading.value is None:
            assert reading.state is not State.KNOWN, fact.path
            assert reading.reason, fact.path
        assert reading.source, fact.path
    assert 0 < probe.time_limit_s <= 30


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.id)
def test_runtime_is_not_found_on_a_bare_machine(runtime: RuntimeProbe, platform: str) -> None:
    assert runtime.find(FakeHost(platform=platform), ()) == ()
    assert runtime.find(FakeHost(platform=platform), ("/no/such/folder",)) == ()
    assert runtime.title
    assert 0 < runtime.time_limit_s <= 30


@pytest.mark.parametrize("kind", [RULES, PROBES, RUNTIMES], ids=["rules", "probes", "runtimes"])
def test_names_are_unique(kind: tuple[Rule | Probe | RuntimeProbe, ...]) -> None:
    names = Counter(one.name if isinstance(one, Probe) else one.id for one in kind)
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("name", PATTERN_GROUPS)
def test_pattern_file_holds_patterns_with_samples(name: str) -> None:
    group = PATTERN_GROUPS[name]
    assert isinstance(group, tuple)
    assert group
    for pattern in group:
        assert isinstance(pattern, Pattern)
        assert isinstance(pattern.fact, Fact)
        assert pattern.keys, pattern.regex.pattern
        assert pattern.samples, f"no verbatim sample: {pattern.regex.pattern}"


@pytest.mark.parametrize(("pattern", "place"), list(samples()))
def test_pattern_takes_from_its_sample_what_it_says(pattern: Pattern, place: int) -> None:
    sample = pattern.samples[place]
    assert sample.build, "which build printed it?"
    text = sample.line if pattern.is_wrapper else lines.strip(sample.line)[0]
    assert any(key in text for key in pattern.keys), "its words do not occur"
    values = matcher.apply(pattern, text)
    assert values is not None, sample.line
    assert dict(values) == dict(sample.values)
