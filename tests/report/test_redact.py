"""Nothing personal leaves: names, paths, keys, addresses, ids; model facts stay whole."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from app.core import codec, facts
from app.core.evidence import Evidence, LoadOutcome
from app.core.log import Fact, LoadStory, LogEvent, LogSummary
from app.core.machine import Device, DeviceKind, Flag, Machine, Program, Runtime
from app.core.model import Model, Part
from app.core.request import LoadRequest
from app.report.redact import Person, Redactor, folders_of, redact, this_person
from tests.core.strategies import values

LOGS = Path(__file__).parent.parent / "data" / "logs"
PETER = Person("/home/peter", "peter", "peters-box")


def cleaned(text: str, person: Person = PETER, *, is_fact: bool = False) -> str:
    """Return a text as a report shows it."""
    return Redactor(person).text(text, is_fact=is_fact)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/peter/models/a.gguf", "~/models/a.gguf"),
        ("/home/peterson/a.gguf", "/home/<user>/a.gguf"),
        ("loading '/Users/Ann/x.gguf'", "loading '/Users/<user>/x.gguf'"),
        (r"C:\Users\Ann Lee\m.gguf", r"C:\Users\<user> Lee\m.gguf"),
        ("C:/Users/ann/m.gguf", "C:/Users/<user>/m.gguf"),
        ("/mnt/c/Users/ann/m.gguf", "/mnt/c/Users/<user>/m.gguf"),
        (r"\\nas\share\m.gguf", r"\\<host>\share\m.gguf"),
        ("Nov 30 peters-box ollama[12]: x", "Nov 30 <host> ollama[12]: x"),
        ("user=peter id=1000", "user=<user> id=1000"),
        ("Peter wrote", "<user> wrote"),
        ("llama-server --api-key abc123 -c 1", "llama-server --api-key <secret> -c 1"),
        ("--api-key=abc123", "--api-key=<secret>"),
        ("HF_TOKEN=hf_abcdefghijklmnopqrst", "HF_TOKEN=<secret>"),
        ("LLAMA_API_KEY=xyz run", "LLAMA_API_KEY=<secret> run"),
        ("Authorization: Bearer abcdef", "Authorization: Bearer <secret>"),
        ('"api_key": "s3cret"', '"api_key": "<secret>"'),
        ("key sk-abcdefghijklmnop1234", "key <secret>"),
        ("RPC0[192.168.1.5:50052]", "RPC0[<address 1>:50052]"),
        ("12.12.146.163 - - GET /", "<address 1> - - GET /"),
        ("https://mygithub.com/x", "https://<address 1>/x"),
        ("http://nas.lan:8080/v1", "http://<address 1>:8080/v1"),
        ("from fe80::1ff:fe23:4567:890a", "from <address 1>"),
        ("link 00:1a:2b:3c:4d:5e up", "link <id> up"),
        ("GPU-12345678-1234-1234-1234-123456789abc", "<id>"),
        ("write to ann.lee@example.org", "write to <e-mail>"),
    ],
)
def test_detail_is_taken_out(text: str, shown: str) -> None:
    assert cleaned(text) == shown
    assert cleaned(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "EOS token             = 151643 '<|im_end|>'",
        "3.03 ms per token,   329.94 tokens per second",
        "load_tensors: offloaded 19/19 layers to GPU",
        "0.00.076.885 I cmn  common_param: device_info:",
        "listening on http://127.0.0.1:8080",
        "RPC0[127.0.0.1:52241] model buffer size = 29.34 MiB",
        "driver version 31.0.15.36",
        "Vulkan 1.3.204.1",
        "0000:01:00.0",
        "12:34:56 started",
        "peter-7b-instruct.Q4_K_M.gguf",
        "general.name = repeter",
        "/usr/lib/libvulkan.so",
        "ffn_down::1",
        "0.12.146.163 I srv  llama_server: initializing ...",
        "12.12.146.163 W srv  llama_server: ready",
        "\x1b[34m12.12.146.163\x1b[0m \x1b[35mW srv: ready",
        "more info: https://github.com/ggml-org/llama.cpp/pull/25655",
    ],
)
def test_text_stays_when_nothing_in_it_is_personal(text: str) -> None:
    assert cleaned(text) == text


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_captured_log_stays_as_it_is(path: Path) -> None:
    redactor = Redactor(PETER)
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        assert redactor.text(line) == line


def test_user_name_stays_when_it_is_a_word_of_logs() -> None:
    person = Person("/home/llama", "llama", "localhost")
    assert cleaned("arch = llama on localhost", person) == "arch = llama on localhost"
    assert cleaned("/home/llama/a.gguf", person) == "~/a.gguf"


def test_user_name_stays_in_a_fact_about_the_model() -> None:
    person = Person("/home/gemini", "gemini", "")
    assert cleaned("gemini chat template", person, is_fact=True) == "gemini chat template"
    assert cleaned("/home/gemini/imatrix.dat", person, is_fact=True) == "~/imatrix.dat"


def test_same_address_has_the_same_number_all_through() -> None:
    redactor = Redactor(PETER)
    assert redactor.text("RPC0[10.0.0.5:1] RPC1[10.0.0.6:1]") == (
        "RPC0[<address 1>:1] RPC1[<address 2>:1]"
    )
    assert redactor.text("connect 10.0.0.6") == "connect <address 2>"
    assert redactor.removed == (("network address", 3),)


def full() -> Evidence:
    """Return evidence with something personal in each part."""
    path = "/home/peter/my models/peter-7b.gguf"
    line = LogEvent(Fact.LOAD_START, 3, f"loading model '{path}'", {"path": path})
    program = Program("llama-server", "/srv/private/bin/llama-server")
    return Evidence(
        model=Model("peter-7b.gguf", "llama", 3, False, {"general.author": "peter"}, (),
                    (Part(path, 1, 2, 32),)),
        machine=Machine(
            facts=(facts.known("cpu.model", "AMD EPYC", source="/proc/cpuinfo"),),
            devices=(Device("RPC0", DeviceKind.RPC, "10.0.0.5:50052", 1, 1, "list"),),
            runtimes=(
                Runtime("llama.cpp", "llama.cpp", "/srv/private/bin", "1", 1, (program,), "PATH"),
            ),
        ),
        outcome=LoadOutcome(
            ("/srv/private/bin/llama-server", "-m", path, "--api-key", "geheim"),
            "llama-server", True, "",
        ),
        log=LogSummary(path, 9, events=(line,), loads=(LoadStory(path=path, events=(line,)),)),
        notes=("peters-box was busy",),
    )  # fmt: skip


def test_evidence_keeps_nothing_personal() -> None:
    redacted = redact(full(), PETER)
    text = codec.dumps(redacted.evidence).decode()
    for word in ("/home", "my models", "private", "geheim", "10.0.0.5", "peters-box"):
        assert word not in text
    kinds = {kind for kind, _n in redacted.removed}
    assert kinds >= {"folder of a model or log", "key or token", "network address", "host name"}


def test_evidence_keeps_what_helps() -> None:
    kept = redact(full(), PETER).evidence
    assert kept.model is not None and kept.machine is not None and kept.outcome is not None
    assert kept.model.path == "<folder>/peter-7b.gguf"
    assert kept.model.keys["general.author"] == "peter"
    assert kept.machine.text("cpu.model") == "AMD EPYC"
    assert kept.machine.facts[0].reading.source == "/proc/cpuinfo"
    assert kept.outcome.command == (
        "<folder>/llama-server", "-m", "<folder>/peter-7b.gguf", "--api-key", "<secret>",
    )  # fmt: skip
    assert kept.log is not None
    assert kept.log.events[0].text == "loading model '<folder>/peter-7b.gguf'"


def test_second_pass_finds_nothing_more() -> None:
    once = redact(full(), PETER)
    twice = redact(once.evidence, PETER)
    assert twice.evidence == once.evidence
    assert twice.removed == ()


def test_a_list_of_options_holds_no_secret() -> None:
    program = Program("llama-server", "/usr/bin/llama-server", (Flag(("-hft", "--hf-token")),))
    runtime = Runtime("llama.cpp", "llama.cpp", "/usr/bin", "1", 1, (program,), "PATH")
    redacted = redact(Evidence(machine=Machine((), (), (runtime,))), PETER)
    assert redacted.removed == ()
    assert redacted.evidence.machine is not None
    assert redacted.evidence.machine.runtimes[0].programs == (program,)


def test_system_folders_are_not_personal() -> None:
    outcome = LoadOutcome(("/usr/bin/llama-server", "/opt/x/a", "relative/b"), "s", True, "")
    assert folders_of(Evidence(outcome=outcome)) == ()


def test_folder_of_the_vision_file_is_personal() -> None:
    request = LoadRequest(projector_path="/data/anna/mmproj.gguf")
    assert folders_of(Evidence(request=request)) == ("/data/anna/",)


def test_person_of_this_computer_is_known() -> None:
    person = this_person()
    assert person.home and person.host


@settings(deadline=None, max_examples=60)
@given(values(Evidence))
def test_any_evidence_can_be_redacted(evidence: Evidence) -> None:
    assert codec.loads(codec.dumps(redact(evidence, PETER).evidence)) is not None
