"""Writes a drawing as a vector picture inside a page."""

from html import escape

from app.report.drawing import Anchor, Area, Box, Drawing, Mark, Paint, Shape, Stroke, Text

# the light colours of shipping.md section 5
COLOURS = {
    Paint.TEXT: "#1b1f24",
    Paint.DIM: "#5a6270",
    Paint.GRID: "#e3e6ea",
    Paint.NOW: "#5a6270",
    Paint.GAIN: "#17713f",
    Paint.PRICE: "#96540a",
    Paint.CURVE: "#125078",
    Paint.BAND: "#d3e0e9",
    Paint.POINT: "#125078",
    Paint.BACK: "#ffffff",
}
_HATCH = (
    '<defs><pattern id="price" width="6" height="6" patternTransform="rotate(45)" '
    'patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="{colour}"/>'
    '<rect width="1.5" height="6" fill="#ffffff" fill-opacity="0.6"/></pattern></defs>'
)


def to_svg(drawing: Drawing, title: str, told: str) -> str:
    """Return the element; title and told are what a reader of the screen says."""
    shapes = "".join(map(_shape, drawing.shapes))
    zones = "".join(
        f'<rect x="{z.left:.1f}" y="0" width="{z.right - z.left:.1f}" '
        f'height="{drawing.height:.1f}" fill="none" pointer-events="all">'
        f"<title>{escape(z.told)}</title></rect>"
        for z in drawing.zones
    )
    return (
        f'<svg viewBox="0 0 {drawing.width:.1f} {drawing.height:.1f}" role="img" '
        f'width="100%" font-family="system-ui, sans-serif"><title>{escape(title)}</title>'
        f"<desc>{escape(told)}</desc>{_HATCH.format(colour=COLOURS[Paint.PRICE])}"
        f"{shapes}{zones}</svg>"
    )


def _shape(shape: Shape) -> str:
    colour = COLOURS[shape.paint]
    match shape:
        case Box():
            fill = "url(#price)" if shape.paint is Paint.PRICE else colour
            return (
                f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
                f'height="{shape.height:.1f}" fill="{fill}"/>'
            )
        case Stroke():
            dashes = ' stroke-dasharray="3 3"' if shape.is_dashed else ""
            return (
                f'<polyline points="{_points(shape.points)}" fill="none" stroke="{colour}" '
                f'stroke-width="{shape.width:.2f}"{dashes}/>'
            )
        case Area():
            return f'<polygon points="{_points(shape.points)}" fill="{colour}"/>'
        case Mark():
            return _mark(shape, colour)
        case Text():
            weight = ' font-weight="600"' if shape.is_bold else ""
            anchor = "" if shape.anchor is Anchor.START else f' text-anchor="{shape.anchor.value}"'
            return (
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:.1f}" '
                f'fill="{colour}"{anchor}{weight}>{escape(shape.text)}</text>'
            )


def _mark(mark: Mark, colour: str) -> str:
    if not mark.is_diamond:
        return f'<circle cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="{mark.size:.1f}" fill="{colour}"/>'
    corners = (
        (mark.x, mark.y - mark.size), (mark.x + mark.size, mark.y),
        (mark.x, mark.y + mark.size), (mark.x - mark.size, mark.y),
    )  # fmt: skip
    return f'<polygon points="{_points(corners)}" fill="{colour}"/>'


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
