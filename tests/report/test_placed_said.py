"""llama.cpp's own word in a report: its figures, and the differences that are never left out."""

from dataclasses import replace

from app.core.request import LoadRequest
from app.core.said import AGREES_TEXT, Said, SaidRow
from app.report import document, markdown, redact
from app.report.redact import Person
from app.rules import judge
from tests.report import sample

PERSON = Person("/home/peter", "peter", "peters-box")
SAID = Said(
    rows=(SaidRow("Vulkan0", False, 29, 23, 27), SaidRow("Host", True, 205, 26, 9)),
    program="llama-server",
    build=11434,
    command=("/home/peter/llama/llama-server", "-m", "/home/peter/models/a.gguf"),
    request=LoadRequest(ngl=9, ctx=4096),
    seconds=0.8,
)


def _report(said: Said) -> str:
    evidence = redact.redact(replace(sample.evidence(), said=said), PERSON).evidence
    return markdown.to_markdown(document.build(evidence, judge.diagnose(evidence)))


def test_names_the_figures_and_that_they_agree() -> None:
    text = _report(SAID)
    assert "What llama.cpp itself says of a load" in text
    assert "205 MiB" in text
    assert AGREES_TEXT in text
    assert "peter" not in text


def test_never_leaves_out_a_difference() -> None:
    difference = "Host weights: calculated 1.0 MiB, llama.cpp says 205 MiB"
    assert difference in _report(replace(SAID, differences=(difference,)))
