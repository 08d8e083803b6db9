"""A context above the trained length is told by the program's warning."""

from app.core.log import Fact
from app.core.rule import Certainty
from app.rules.context_above_training import check, silent
from tests.rules import made
from tests.rules.test_captures import judged

ABOVE = made.event(Fact.CTX_ABOVE_TRAIN, 9, "n_ctx_seq (65536) > n_ctx_train", n=65536, train=32768)
CAPPED = made.event(Fact.CTX_CAPPED, 20, "capping", n=65536, train=32768)


def test_goes_back_to_the_trained_length() -> None:
    finding = check(made.seen(made.story(ABOVE)))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "-c 32768" in finding.fix.command


def test_is_proven_when_the_rest_is_never_used() -> None:
    finding = check(made.seen(made.story(ABOVE, CAPPED)))
    assert finding is not None and finding.certainty is Certainty.PROVEN


def test_names_the_capture() -> None:
    verdict = judged("b11434-cpu-ctx-above-train-lv4").verdict
    assert verdict is not None and verdict.rule_id == "context-above-training"


def test_is_silent_when_no_line_says_it() -> None:
    assert check(made.seen(made.story())) is None
    assert silent(made.seen(made.story()))
