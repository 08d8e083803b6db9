"""Each pattern says what its samples say, and can be found by its words."""

import pytest

from app.core.log import Fact, Pattern
from app.logs import lines
from app.logs.matcher import apply, standard
from app.logs.needles import Needles

PATTERNS = standard().patterns


def name(pattern: Pattern) -> str:
    return f"{pattern.fact.value}-{pattern.keys[0].strip()[:24]}"


def test_patterns_state_most_facts() -> None:
    never_printed = {Fact.ERROR_OTHER}  # also what an unknown error line states
    stated = {pattern.fact for pattern in PATTERNS} | never_printed
    assert set(Fact) - stated == set()


@pytest.mark.parametrize("pattern", PATTERNS, ids=name)
def test_pattern_has_a_sample_with_its_build(pattern: Pattern) -> None:
    assert pattern.samples
    assert all(sample.build for sample in pattern.samples)


@pytest.mark.parametrize("pattern", PATTERNS, ids=name)
def test_pattern_takes_its_values_from_its_samples(pattern: Pattern) -> None:
    for sample in pattern.samples:
        text = sample.line if pattern.is_wrapper else lines.strip(sample.line)[0]
        values = apply(pattern, text)
        assert values is not None
        assert dict(values) == dict(sample.values)


@pytest.mark.parametrize("pattern", PATTERNS, ids=name)
def test_sample_holds_one_of_the_keys(pattern: Pattern) -> None:
    for sample in pattern.samples:
        assert any(key in sample.line for key in pattern.keys)


@pytest.mark.parametrize("pattern", PATTERNS, ids=name)
def test_keys_are_found_within_json_messages(pattern: Pattern) -> None:
    # a JSON message escapes these, so a key that holds one would never be found there
    assert not [key for key in pattern.keys if set(key) & set('"\\\n\t') or not key.isascii()]


@pytest.mark.parametrize("pattern", PATTERNS, ids=name)
def test_named_groups_have_types_that_exist(pattern: Pattern) -> None:
    assert set(pattern.types) <= set(pattern.regex.groupindex)


def test_sample_of_one_pattern_states_no_fault_of_another() -> None:
    faults = {fact for fact in Fact if fact.value.startswith("error_")} | {Fact.CRASHED}
    for pattern in PATTERNS:
        if pattern.fact in faults | {Fact.KILLED}:  # who is killed says so in an error line
            continue
        for sample in pattern.samples:
            text, level = lines.strip(sample.line)
            stated = {fact for fact, _ in standard().facts(text, level, PATTERNS)}
            assert not stated & faults, sample.line


def test_needles_are_mostly_long_enough_for_the_fast_way() -> None:
    keys = {key for pattern in PATTERNS for key in pattern.keys}
    assert len([key for key in keys if len(key) < 7]) <= 5
    assert len(Needles(keys).find(b"nothing of interest\n" * 1000)) == 0
