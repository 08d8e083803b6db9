"""A failed load is told by its first error: memory, format, architecture, damage, a flag."""

from dataclasses import replace

import pytest

from app.core.evidence import Evidence, LoadOutcome
from app.core.log import Ended, Fact, LogEvent, LogSummary, Role
from app.core.model import Fault, Model, ModelProblem
from app.core.request import LoadRequest, Switch
from app.core.rule import Certainty
from app.rules import judge
from app.rules.load_failed import check, needs, silent
from tests.rules import made


def failed(error: LogEvent, *more: LogEvent, request: LoadRequest | None = None) -> Evidence:
    """Return evidence of a load that ended with errors."""
    told = made.story(errors=(error, *more), ended=Ended.FAILED)
    return made.seen(told, request=request)


def file_error(why: str) -> LogEvent:
    """Return an error about the file."""
    return made.event(Fact.ERROR_FILE, 20, f"some words about {why}", why=why)


def cut_model() -> Model:
    """Return a model whose file ends too early."""
    text = "20 of 42 MiB are there; blk.4.ffn_down.weight is the first tensor that is missing"
    problem = ModelProblem(Fault.TRUNCATED_DATA, text, missing_bytes=22 << 20)
    return Model("m.gguf", "llama", 3, False, {}, (), (), problems=(problem,))


@pytest.mark.parametrize(
    ("why", "title", "fix"),
    [
        ("not-gguf", "The file is no model this program can read", "Get the GGUF"),
        ("newer", "The program does not know this file's contents", "Update the program"),
        ("missing", "The model file is not there", "Check the path"),
        ("split", "A part of the model is missing", "Put all parts"),
        ("cut", "The model file is damaged", "Download the file again"),
        ("empty", "The model file is damaged", "Download the file again"),
        ("a word of a later version", "The model file is damaged", "Download the file again"),
    ],
)
def test_names_what_is_wrong_with_the_file_when_it_fails(why: str, title: str, fix: str) -> None:
    consequence = made.event(Fact.ERROR_CONSEQUENCE, 21, "failed to load model")
    finding = check(failed(file_error(why), consequence))
    assert finding is not None
    assert finding.title == title
    assert finding.fix.text.startswith(fix)
    assert [cite.line for cite in finding.cites] == [20]


def test_names_the_architecture_when_it_is_unknown() -> None:
    error = made.event(Fact.ERROR_ARCHITECTURE, 9, "unknown model architecture", arch="newmodel")
    finding = check(failed(error))
    assert finding is not None
    assert "“newmodel”" in finding.cause
    assert "Update the program" in finding.fix.text


def test_names_the_option_of_today_when_an_old_one_is_refused() -> None:
    error = made.event(Fact.ERROR_ARGUMENT, 1, "error: invalid argument: --mlock", flag="--mlock")
    evidence = Evidence(log=LogSummary("log", 1, events=(error,)))
    finding = check(evidence)
    assert finding is not None
    assert finding.title == "An option was removed"
    assert "--load-mode mlock" in finding.fix.text


def test_names_no_option_of_today_when_it_does_not_know_one() -> None:
    error = made.event(Fact.ERROR_ARGUMENT, 1, "error: invalid argument: --xyz", flag="--xyz")
    finding = check(Evidence(log=LogSummary("log", 1, events=(error,))))
    assert finding is not None and "Remove that option" in finding.fix.text


def test_makes_what_was_named_smaller_when_memory_is_refused() -> None:
    request = LoadRequest(ngl=99, ctx=65536, swa_full=True)
    error = made.event(
        Fact.ERROR_MEMORY, 30, "cudaMalloc failed: out of memory", n_bytes=4403 << 20
    )
    for part, words, command in (
        ("weights", "remove -ngl", "llama-server -m /models/m.gguf -c 65536 --swa-full"),
        ("kv", "Remove -c and --swa-full", "llama-server -m /models/m.gguf -ngl 99"),
        ("compute", "smaller micro-batch", "-ub 256"),
    ):
        named = made.event(Fact.ERROR_MEMORY, 31, f"failed to allocate {part}", part=part)
        finding = check(failed(error, named, request=request))
        assert finding is not None
        assert finding.certainty is Certainty.PROVEN
        assert "4.30 GiB were asked for" in finding.cause
        assert words in finding.fix.text
        assert command in finding.fix.command
        assert [cite.line for cite in finding.cites] == [30, 31]


def test_tells_the_part_by_the_buffers_when_no_line_names_it() -> None:
    error = made.event(Fact.ERROR_MEMORY, 30, "out of memory")
    weights = made.buffer("CUDA0", Role.WEIGHTS, 900, 20)
    for buffers, words in (((), "weights"), ((weights,), "KV cache")):
        told = made.story(
            made.offloaded(19, 19), buffers=buffers, errors=(error,), ended=Ended.FAILED
        )
        finding = check(made.seen(told))
        assert finding is not None and words in finding.cause


def test_stays_likely_when_the_log_does_not_tell_the_part() -> None:
    finding = check(failed(made.event(Fact.ERROR_MEMORY, 30, "out of memory")))
    assert finding is not None
    assert finding.certainty is Certainty.LIKELY
    assert "a buffer" in finding.cause


def test_names_the_limit_of_one_buffer_when_the_device_has_one() -> None:
    error = made.event(
        Fact.ERROR_MEMORY, 30, "Requested buffer size exceeds device buffer size limit", limit="x"
    )
    finding = check(failed(error, made.event(Fact.ERROR_MEMORY, 31, "kv cache", part="kv")))
    assert finding is not None
    assert "One buffer was larger than this device allows" in finding.cause


def test_names_a_cut_file_when_only_the_header_was_read() -> None:
    verdict = judge.diagnose(Evidence(model=cut_model())).verdict
    assert verdict is not None
    assert (verdict.rule_id, verdict.title) == ("load-failed", "The model file is damaged")
    assert verdict.certainty is Certainty.PROVEN
    assert "20 of 42 MiB are there" in verdict.cause
    assert "blk.4.ffn_down.weight" in verdict.cites[0].text
    after_load = check(failed(file_error("cut")))
    assert after_load is not None and verdict.fix == after_load.fix


@pytest.mark.parametrize(
    ("fault", "title"),
    [
        (Fault.PART_MISSING, "A part of the model is missing"),
        (Fault.UNKNOWN_TYPE, "The program does not know this file's contents"),
        (Fault.WRONG_BYTE_ORDER, "The file is no model this program can read"),
    ],
)
def test_names_each_fault_of_a_header_without_a_load(fault: Fault, title: str) -> None:
    problem = ModelProblem(fault, "what the header says")
    finding = check(Evidence(model=replace(cut_model(), problems=(problem,))))
    assert finding is not None and finding.title == title
    assert finding.cites[0].text == "what the header says"


def test_is_silent_when_only_a_whole_header_was_read() -> None:
    evidence = Evidence(model=replace(cut_model(), problems=()))
    assert check(evidence) is None
    assert silent(evidence) == "the header of the file is whole"


def test_says_how_many_bytes_are_missing_when_log_and_header_agree() -> None:
    told = made.story(errors=(file_error("cut"),), ended=Ended.FAILED)
    finding = check(Evidence(model=cut_model(), log=made.seen(told).log))
    assert finding is not None
    assert "22.0 MiB are missing" in finding.cause
    assert [cite.source for cite in finding.cites] == ["log", "header of the file"]


def test_asks_for_the_log_when_the_program_died_in_silence() -> None:
    outcome = LoadOutcome(("llama-server",), "llama-server", False, "killed by signal 9")
    finding = check(Evidence(outcome=outcome))
    assert finding is not None
    assert finding.certainty is Certainty.LIKELY
    assert finding.fix.command.endswith("-lv 4")


def test_is_silent_when_the_program_became_ready() -> None:
    outcome = LoadOutcome(("llama-server",), "llama-server", True, "")
    evidence = Evidence(model=cut_model(), outcome=outcome)
    assert check(evidence) is None
    assert silent(evidence) == "llama-server loaded the model and could answer"
    timed = replace(evidence, outcome=replace(outcome, load_s=3.21))
    assert silent(timed) == "llama-server loaded the model and could answer after 3.2 s"


def test_is_silent_when_an_error_comes_in_a_log_that_loaded() -> None:
    told = made.story(
        made.event(Fact.LOADED, 60, "model loaded"), errors=(file_error("cut"),), ended=Ended.OPEN
    )
    assert check(made.seen(told)) is None


def test_is_not_checked_when_the_log_simply_ends() -> None:
    told = made.story(ended=Ended.OPEN, ends_after="loading tensors")
    evidence = made.seen(told)
    assert check(evidence) is None
    assert "loading tensors" in needs(evidence)


def test_names_the_system_when_it_ended_the_program() -> None:
    killed = made.event(Fact.KILLED, 40, "Killed")
    finding = check(made.seen(made.story(killed, ended=Ended.KILLED)))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert finding.title == "The system ended the program"
    assert finding.cites[0].line == 40


def test_gives_flash_attention_back_when_the_v_cache_needs_it() -> None:
    text = "V cache quantization requires flash_attn"
    line = made.event(Fact.ERROR_OTHER, 30, text, needs="flash_attn")
    request = LoadRequest(cache_type_v="q8_0", flash_attn=Switch.OFF)
    finding = check(failed(line, request=request))
    assert finding is not None
    assert finding.fix.change == (("flash_attn", Switch.AUTO),)
    assert "-fa" not in finding.fix.command


def test_says_that_the_rpc_server_is_gone_when_its_connection_broke() -> None:
    text = "recv failed (bytes_recv=0, size_to_recv=8)"
    lost = made.event(Fact.ERROR_NETWORK, 20, text, lost="recv failed (bytes_recv=")
    finding = check(made.seen(made.story(errors=(lost,), ended=Ended.OPEN)))
    assert finding is not None and finding.title == "The RPC server is gone or busy"
    assert "tracker" not in finding.fix.text and "ggml-rpc-server again" in finding.fix.text


@pytest.mark.parametrize(
    ("endpoint", "where"),
    [("127.0.0.1:50052", "on this computer"), ("10.0.0.7:50052", "on the other computer")],
)
def test_says_where_the_rpc_server_is_that_does_not_answer(endpoint: str, where: str) -> None:
    text = f"Failed to connect to {endpoint}"
    silent_one = made.event(Fact.ERROR_NETWORK, 20, text, endpoint=endpoint)
    finding = check(made.seen(made.story(errors=(silent_one,), ended=Ended.OPEN)))
    assert finding is not None and where in finding.cause and where in finding.fix.text
