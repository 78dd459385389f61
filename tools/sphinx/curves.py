"""The curves of the page "What each costs": seconds and megabytes on two log scales, ours beside the peer's.

All pictures have the same scales, so a slope is an exponent wherever it stands. They are hidden from programs
that read pages aloud; below each picture stand the exponents, and the ends of each curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import Any

from tools import guide

STEP, DECADE, EDGE = 30.0, 18.0, 5.0  # in pixels: four times as many, ten times as much, the rim
UNITS = {"fit_seconds": "s", "peak": "MB"}
FLOOR = {"fit_seconds": 1e-3, "peak": 1.0}  # less is drawn as this
WORDS = {"m": "examples", "d": "features", "k": "classes"}


class Scale:
    """Places of the numbers of all pictures of one kind."""

    def __init__(self, value: str) -> None:
        found = [row[value] for row in guide.stored("growth")["rows"]]
        self.value, self.floor = value, FLOOR[value]
        self.low, self.high = math.floor(math.log10(self.floor)), math.ceil(math.log10(max(found)))

    def y(self, number: float) -> float:
        return EDGE + DECADE * (self.high - math.log10(max(number, self.floor)))

    def height(self) -> float:
        return 2 * EDGE + DECADE * (self.high - self.low)

    def panel(self, what: str, lines: dict[str, list[tuple[int, float]]]) -> str:
        """A picture of the curves by the number of examples, features or classes."""
        first = min(x for points in every(what) for x, _ in points)
        last = max(x for points in every(what) for x, _ in points)
        width = 2 * EDGE + STEP * math.log(last / first, 4)
        grid = "".join(
            f'<line x1="0" x2="{width:g}" y1="{self.y(10**n):g}" y2="{self.y(10**n):g}"/>'
            for n in range(self.low, self.high + 1)
        )
        if what == "m":  # the numbers stand beside the first picture of a row
            grid += "".join(
                f'<text x="{width + 2:g}" y="{self.y(10**n) + 3:g}">{10.0**n:g} {UNITS[self.value]}</text>'
                for n in range(self.low, self.high + 1, 2)
            )
        drawn = "".join(self.line(package, first, points) for package, points in lines.items())
        return f'<svg width="{width:g}" height="{self.height():g}" aria-hidden="true">{grid}{drawn}</svg>'

    def line(self, package: str, first: int, points: list[tuple[int, float]]) -> str:
        """A curve, the steps between the points of which are straight."""
        places = [(EDGE + STEP * math.log(x / first, 4), self.y(number)) for x, number in points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in places)
        return f'<g class="{"ours" if package == "mcutils" else "peer"}"><path d="{path}"/>{marks}</g>'


def every(what: str) -> list[list[tuple[int, float]]]:
    """All curves by the number of one thing."""
    found = [guide.curve(measured, what, "fit_seconds") for measured in guide.series().values()]
    return [points for points in found if len(points) > 1]


def in_words(package: str, points: list[tuple[int, float]], value: str, slope: float | None) -> str:
    """The ends of a curve, and its exponent, which below some megabytes there is not."""
    (_, least), *_, (_, most) = points
    ends = "–".join(guide.significant(max(end, FLOOR[value])) for end in (least, most))
    exponent = f"<b>{slope:z.2f}</b>" if slope is not None else "–"
    kind = "ours" if package == "mcutils" else "peer"
    return f'<small class="{kind}">{exponent} <span>{ends}\u202f{UNITS[value]}</span></small>'


def table(value: str) -> Iterator[str]:
    """A row for each estimator, with a picture for each of the three numbers that can grow."""
    scale, series = Scale(value), guide.series()
    yield '<table class="curves">'
    heads = "".join(f"<th>{word}</th>" for word in WORDS.values())
    yield f"<thead><tr><th>Estimator</th>{heads}</tr></thead><tbody>"
    for setting, package in series:
        if package != "mcutils":
            continue
        both = {by: series[setting, by] for by in ("mcutils", "scikit-learn") if (setting, by) in series}
        names = "".join(
            f'<span class="{"ours" if by == "mcutils" else "peer"}">{shown(measured[0]["name"])}</span>'
            for by, measured in both.items()
        )
        cells = "".join(cell(scale, what, both) for what in WORDS)
        yield f'<tr><th scope="row">{names}</th>{cells}</tr>'
    yield "</tbody></table>"


def cell(scale: Scale, what: str, both: dict[str, list[dict[str, Any]]]) -> str:
    """The picture and its numbers; empty where nothing was multiplied."""
    lines = {by: guide.curve(measured, what, scale.value) for by, measured in both.items()}
    lines = {by: points for by, points in lines.items() if len(points) > 1}
    if not lines:
        return "<td></td>"
    slopes = {by: guide.growth(both[by], scale.value).get(what) for by in lines}
    words = "".join(in_words(by, points, scale.value, slopes[by]) for by, points in lines.items())
    return f'<td data-what="{WORDS[what]}">{scale.panel(what, lines)}{words}</td>'


def shown(name: str) -> str:
    """The name of an estimator, which may be broken after a comma or a bracket."""
    return "<code>" + escape(name).replace("(", "(<wbr>").replace(", ", ",<wbr> ") + "</code>"
