"""HTML: one page that loads nothing and runs nothing, whatever is quoted in it."""

from html.parser import HTMLParser

from app.core.evidence import Evidence
from app.core.rule import Cite, Diagnosis, Finding, Fix
from app.report.document import build
from app.report.html import to_html
from app.rules import judge
from tests.report import sample

_VOID = {"meta", "br", "img", "link", "input"}


class Reader(HTMLParser):
    """Collects tags and text, and checks that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _value in attrs]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    """Parse a page."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def test_page_is_whole_and_loads_nothing() -> None:
    evidence = sample.evidence()
    reader = read(to_html(build(evidence, judge.diagnose(evidence))))
    assert not {"script", "img", "link", "iframe", "a"} & set(reader.tags)
    assert "src" not in reader.attributes and "href" not in reader.attributes
    assert sample.NAME in reader.text
    assert "offloaded 9/19 layers to GPU" in reader.text
    assert "28.48 tok/s" in reader.text


def test_quoted_text_stays_text() -> None:
    text = '<script>alert(1)</script><img src=x onerror=y> " onclick="z'
    finding = Finding(text, (Cite(text, 1, text),), Fix(text, text), text, title=text)
    page = to_html(build(Evidence(notes=(text,)), Diagnosis(finding, also=(finding,))))
    reader = read(page)
    assert "script" not in reader.tags and "img" not in reader.tags
    assert "onclick" not in reader.attributes
    assert text in reader.text
