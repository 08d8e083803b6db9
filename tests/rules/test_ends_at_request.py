"""A program that was ready and died: by its own words, by its end, and not by a log that stops."""

from dataclasses import replace

from app.core.evidence import Evidence, LoadOutcome
from app.core.log import Ended, Fact, Role
from app.core.request import LoadRequest, Switch
from app.core.rule import Certainty
from app.rules.ends_at_request import check, silent
from tests.rules import made

READY = made.event(Fact.LOADED, 160, "srv  llama_server: model loaded")
ASKED = made.event(Fact.REQUEST_START, 170, "slot launch_slot_: id 0 | task 0 | processing", task=0)
ILLEGAL = made.event(
    Fact.ERROR_OTHER, 180, "CUDA error: an illegal memory access was encountered",
    what="an illegal memory access was encountered",
)  # fmt: skip
LOST = made.event(Fact.ERROR_OTHER, 180, "vk::Queue::submit: ErrorDeviceLost")
BUFFERS = (made.buffer("CUDA0", Role.WEIGHTS, 3500, 143),)
DIED = LoadOutcome(
    ("llama-server",), "llama-server", True, "llama-server ended early: it crashed", 3.0
)


def log(*events: object, **more: object) -> Evidence:
    """Return evidence of a load that was ready, and of these lines."""
    return made.seen(made.story(READY, ASKED, *events, buffers=BUFFERS, **more))  # type: ignore[arg-type]


def test_tries_it_without_flash_attention_when_a_device_computed() -> None:
    finding = check(log(ILLEGAL, ended=Ended.CRASHED))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert [cite.line for cite in finding.cites] == [180]
    assert dict(finding.fix.change)["flash_attn"] is Switch.OFF
    assert "-fa off" in finding.fix.command


def test_asks_for_a_build_when_flash_attention_was_off() -> None:
    evidence = replace(log(ILLEGAL), request=LoadRequest(flash_attn=Switch.OFF))
    finding = check(evidence)
    assert finding is not None and "Update the program" in finding.fix.text


def test_asks_for_shorter_steps_when_the_device_was_lost() -> None:
    finding = check(log(LOST))
    assert finding is not None and "the driver gave up" in finding.fix.text
    assert "-ub 128" in finding.fix.command


def test_tells_how_the_program_ended_when_the_log_does_not() -> None:
    finding = check(replace(log(), outcome=DIED))
    assert finding is not None and "it crashed" in finding.cause
    assert finding.cites[0].source == "llama-server"


def test_speaks_of_memory_when_the_system_killed_it() -> None:
    killed = replace(DIED, exit_text="llama-server ended early: the system killed it, most likely "
                     "because memory ran out (SIGKILL).")  # fmt: skip
    finding = check(replace(log(), outcome=killed))
    assert finding is not None and "Close other programs" in finding.fix.text


def test_is_only_possible_when_the_log_stops_inside_a_request() -> None:
    finding = check(log(ended=Ended.OPEN, last_line=170))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN
    assert check(log(ended=Ended.OPEN, last_line=300)) is None


def test_leaves_memory_to_its_own_rule() -> None:
    refused = made.event(Fact.ERROR_MEMORY, 175, "cudaMalloc failed: out of memory")
    evidence = log(ILLEGAL, errors=(refused,))
    assert check(evidence) is None


def test_takes_an_error_of_computing_for_a_load_that_had_succeeded() -> None:
    # the warm-up computes before the program says that it is ready
    assert check(made.seen(made.story(ILLEGAL, buffers=BUFFERS))) is not None


def test_is_silent_when_it_never_was_ready() -> None:
    assert_line = made.event(Fact.ERROR_OTHER, 50, "GGML_ASSERT(n_dims == 4) failed", what="x")
    assert check(made.seen(made.story(assert_line, buffers=BUFFERS))) is None
    assert silent(Evidence()) == "nothing says that the program ended at a request"
