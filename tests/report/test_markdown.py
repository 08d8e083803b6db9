"""Markdown: shown as it is, safe to paste, and the fields that each tracker asks for."""

import itertools
from dataclasses import replace

import pytest

from app.core.evidence import Evidence
from app.core.rule import Cite, Diagnosis, Finding, Fix
from app.report.document import Document, build
from app.report.markdown import Project, issue_markdown, to_markdown
from app.rules import judge
from tests.report import sample


@pytest.fixture(scope="module")
def document() -> Document:
    return build(sample.evidence(), judge.diagnose(sample.evidence()), created="today")


def hostile(text: str) -> Document:
    """Return a report that quotes a text in every place."""
    finding = Finding(text, (Cite(text, 1),), Fix(text, text), text, title=text)
    return build(Evidence(notes=(text,)), Diagnosis(finding, also=(finding,)))


def test_whole_report_has_all_sections(document: Document) -> None:
    text = to_markdown(document)
    for section in document.sections:
        if section.title:
            assert f"\n## {section.title}\n" in text
    assert "line 144: load_tensors: offloaded 9/19 layers to GPU" in text
    assert "| Vulkan0 | weights | device | 29.34 MiB | 147 |" in text


def test_tables_have_one_width(document: Document) -> None:
    lines = to_markdown(document).splitlines()
    for first, second in itertools.pairwise(lines):
        if first.startswith("|") and second.startswith("|"):
            assert first.replace("\\|", "").count("|") == second.replace("\\|", "").count("|")


@pytest.mark.parametrize(
    ("project", "titles"),
    [
        (Project.LLAMA_CPP, ["Name and Version", "Operating systems", "GGML backends", "Hardware",
                             "Models", "Problem description & steps to reproduce",
                             "First Bad Commit", "Relevant log output"]),
        (Project.OLLAMA, ["What is the issue?", "Relevant log output", "OS", "GPU", "CPU",
                          "Ollama version"]),
        (Project.LM_STUDIO, ["Which version of LM Studio?", "Which operating system?",
                             "What is the bug?", "Hardware", "Logs", "To Reproduce"]),
    ],
)  # fmt: skip
def test_issue_follows_the_form(document: Document, project: Project, titles: list[str]) -> None:
    text = issue_markdown(document, project)
    assert [line[4:] for line in text.splitlines() if line.startswith("### ")] == titles
    assert "offloaded 9/19" in text


def test_unknown_answer_is_said_to_be_unknown() -> None:
    text = issue_markdown(build(Evidence(), Diagnosis(None)), Project.OLLAMA)
    assert "### GPU\n\nnot known" in text


def test_quoted_text_cannot_leave_its_block() -> None:
    text = to_markdown(hostile("x\n```\n# Injected\n@everyone <script>alert(1)</script>"))
    outside = [line for line in _outside_fences(text) if "Injected" in line]
    assert all("\\# Injected" in line for line in outside)
    assert "@everyone" not in "\n".join(_outside_fences(text))
    assert "<script>" not in "\n".join(_outside_fences(text))


def test_cell_stays_a_cell_when_its_text_has_a_bar() -> None:
    evidence = sample.evidence()
    assert evidence.model is not None
    odd = replace(evidence, model=replace(evidence.model, name="a|b.gguf"))
    assert "| File | a\\|b.gguf |" in to_markdown(build(odd, Diagnosis(None)))


def _outside_fences(text: str) -> list[str]:
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if not fence and len(ticks) >= 3:
            fence = ticks
        elif fence and line == fence:
            fence = ""
        elif not fence:
            kept.append(line)
    return kept
