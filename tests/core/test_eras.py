"""Which changes of llama.cpp a build has."""

import pytest

from app.core.eras import NEWEST, Change, Era, eras_of, is_output_first


@pytest.mark.parametrize(
    ("build", "change", "has"),
    [
        (9409, Change.HALF_MASKS, False),
        (9410, Change.HALF_MASKS, True),
        (9459, Change.FEW_OUTPUTS, False),
        (9460, Change.FEW_OUTPUTS, True),
        (9488, Change.CUDA_COPIES, False),
        (9489, Change.CUDA_COPIES, True),
        (11342, Change.MIXED_BATCHES, False),
        (11434, Change.MIXED_BATCHES, True),
    ],
)
def test_a_build_has_a_change_from_its_release_on(build: int, change: Change, has: bool) -> None:
    assert [era.has(change) for era in eras_of(build)] == [has] * len(eras_of(build))


def test_between_two_known_builds_both_ways_are_possible() -> None:
    assert {era.has(Change.MIXED_BATCHES) for era in eras_of(11400)} == {True, False}
    assert eras_of(11434) == (NEWEST,)
    assert eras_of(5000) == (Era(frozenset()),)


def test_an_unknown_build_may_be_of_any_age_and_is_taken_for_a_new_one() -> None:
    found = eras_of(None)
    assert found[0] == NEWEST
    assert not found[-1].changes
    assert {era.has(Change.HALF_MASKS) for era in found} == {True, False}


def test_each_change_lies_between_two_builds_in_order() -> None:
    firsts = [change.value[1] for change in Change]
    assert firsts == sorted(firsts)
    assert all(last < first for last, first in (change.value for change in Change))


def test_the_output_layer_goes_first_since_december_2025() -> None:
    # 6786 and 5466 are logs of the old order, 8173 and 11434 of the new one
    assert [is_output_first(build) for build in (5466, 6786, 8173, 11434, None)] == [
        False, False, True, True, True,
    ]  # fmt: skip
