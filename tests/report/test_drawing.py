"""Pictures as shapes: what they show lies where its value is, inside its frame, and is told."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.report import html, svg
from app.report.blocks import CurveChart, StepBar, StepChart
from app.report.document import build
from app.report.drawing import Anchor, Box, Drawing, Mark, Paint, Stroke, Text, drawn
from app.report.markdown import to_markdown
from app.report.pictures import curve_chart, step_chart
from app.rules import judge, ranked
from tests.core.test_expectation import run
from tests.core.test_ranking import R, evidence

BARS = (
    StepBar("Now", "measured", ("20.00 tok/s",), "Now.", 0, 20, 19, 21, is_whole=True),
    StepBar("More layers on it", "free", ("+30.0", "2.50×"), "More.", 20, 50, 45, 60),
    StepBar("Context 4,096", "context", ("+10.0", "1.20×"), "Short.", 50, 60, 50, 80,
            has_price=True),
    StepBar("Best", "calculated", ("60.00 tok/s",), "Best.", 0, 60, 50, 80, is_whole=True),
)  # fmt: skip
STEPS = StepChart("Path", "tokens per second", BARS)


def seen() -> Evidence:
    """Return evidence with both ends measured and a run between them."""
    return replace(evidence(), runs=(run(3, 20.0),), history=(run(0, 10.0), run(5, 75.0)))


def _inside(drawing: Drawing) -> None:
    for shape in drawing.shapes:
        points = shape.points if isinstance(shape, Stroke) else ()
        if isinstance(shape, Box):
            points = ((shape.x, shape.y), (shape.x + shape.width, shape.y + shape.height))
        if isinstance(shape, Text | Mark):
            points = ((shape.x, shape.y),)
        for x, y in points:
            assert -0.5 <= x <= drawing.width + 0.5 and -0.5 <= y <= drawing.height + 0.5, shape


@pytest.mark.parametrize("width", [420.0, 720.0, 1400.0])
def test_steps_float_from_the_level_before(width: float) -> None:
    drawing = drawn(STEPS, width, 12)
    _inside(drawing)
    now, more, short, best = (shape for shape in drawing.shapes if isinstance(shape, Box))
    assert (now.paint, more.paint, short.paint) == (Paint.NOW, Paint.GAIN, Paint.PRICE)
    assert now.y == pytest.approx(more.y + more.height)
    assert short.y + short.height == pytest.approx(more.y)
    assert best.y == pytest.approx(short.y)
    assert best.height == pytest.approx(3 * now.height)
    assert [zone.told for zone in drawing.zones] == ["Now.", "More.", "Short.", "Best."]


def test_labels_of_narrow_columns_are_broken_and_stay_in_theirs() -> None:
    drawing = drawn(STEPS, 420, 12)
    texts = [shape.text for shape in drawing.shapes if isinstance(shape, Text)]
    assert "More layers" in texts and "on it" in texts
    assert all(len(text) * 12 * 0.56 < 420 / 3 for text in texts[1:])


def test_the_scale_has_round_figures_up_to_the_highest_whisker() -> None:
    drawing = drawn(STEPS, 720, 12)
    ends = [s.text for s in drawing.shapes if isinstance(s, Text) and s.anchor is Anchor.END]
    assert ends == ["0", "20", "40", "60", "80"]


def test_an_svg_is_well_formed_and_says_what_it_shows() -> None:
    made = svg.to_svg(drawn(STEPS, 720, 12), "A <path>", "20 & 60")
    root = ET.fromstring(made)
    assert root.tag == "svg" and root.attrib["role"] == "img"
    assert root.findtext("title") == "A <path>" and root.findtext("desc") == "20 & 60"
    assert [zone.findtext("title") for zone in root if zone.find("title") is not None] == [
        "Now.", "More.", "Short.", "Best.",
    ]  # fmt: skip


def test_the_curve_marks_what_was_measured_beside_what_is_predicted() -> None:
    chart = curve_chart(seen())
    assert chart is not None
    assert chart.own[0] == 3 and chart.own[1] == pytest.approx(75 / 20)
    assert (5.0, 1.0) in chart.measured and chart.xs[0] == 0
    assert "r = 7." in chart.told and "measured here" in chart.told
    drawing = drawn(chart, 720, 12)
    _inside(drawing)
    marks = [shape for shape in drawing.shapes if isinstance(shape, Mark)]
    assert [mark.is_diamond for mark in marks] == [True, True, True, False]
    assert (marks[-1].x, marks[-1].y) == (marks[1].x, marks[1].y)


def test_a_curve_of_one_point_is_drawn_too() -> None:
    chart = CurveChart("c", "x", "y", (), (), (), (), (), (0.0, 1.0), "one", "told")
    _inside(drawn(chart, 420, 12))


def test_every_form_of_the_report_has_both_pictures() -> None:
    found = forecast(seen(), R)
    ranking = ranked.ranking(seen(), found)
    document = build(seen(), judge.diagnose(seen()), predicted=found, ranked=ranking)
    page, text = html.to_html(document), to_markdown(document)
    assert page.count("<svg") == 2
    for words in ("From now to the best", "Slowdown of generation over the layers"):
        assert words in page and words in text
    assert "on top of the former steps" in text
    rates = document.section("rates")
    assert rates is not None and any(isinstance(block, CurveChart) for block in rates.blocks)


def test_without_steps_there_is_no_picture_but_the_reason() -> None:
    bare = evidence()
    found = forecast(bare)
    path = ranked.ranking(bare, found).path
    assert path is not None and step_chart(path) is None
    document = build(bare, judge.diagnose(bare), predicted=found,
                     ranked=ranked.ranking(bare, found))  # fmt: skip
    assert "No path is drawn: r is not known" in to_markdown(document)
