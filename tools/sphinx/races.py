"""Sphinx extension: the races of `results/benchmarks.json` on the page of benchmarks.

`{race-summary}` counts them, and names where mcutils is slower; `{race-plot}` shows each ratio, and of a
group of races the geometric mean, as a mark on a log scale; `{race-table}` has the seconds and the promises.
The plot is a table too, whose numbers everybody can read: its pictures are hidden from programs that read
pages aloud.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxDirective

from tools import parts
from tools.sphinx.ledger_pages import table

RESULTS = Path("results/benchmarks.json")
Race = dict[str, Any]

GROUPS = (
    "The strange sets differ in size, features, classes and noise. The SVMs of several classes have "
    "thresholds that were chosen with a look at them, so on other data expect less. Their races are one line "
    "a group, with the geometric mean as its mark and the worst race at its end."
)


def read(root: Path) -> dict[str, Any]:
    try:
        results: dict[str, Any] = json.loads((root / RESULTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SphinxError(f"{RESULTS} is missing: take the committed one, or run `make bench`") from None
    return results


def by_chapter(races: list[Race], order: list[str]) -> list[tuple[str, list[Race]]]:
    """The races of each chapter of the book, in its order; within a chapter the slowest first."""

    def place(race: Race) -> int:
        topic = topic_of(race)
        if topic not in order:
            raise SphinxError(f"{RESULTS}: the race {race['id']} is of {topic!r}, which is no chapter")
        return order.index(topic)

    races = sorted(races, key=lambda race: (place(race), -race["ratio"]["median"]))
    return [(topic, list(group)) for topic, group in groupby(races, key=topic_of)]


def topic_of(race: Race) -> str:
    return str(race["id"]).split("-")[0]


def is_slower(race: Race) -> bool:
    """Whether mcutils takes longer than its peer."""
    return bool(race["ratio"]["median"] > 1)


def together(races: list[Race]) -> list[Race]:
    """The races, each group as one: the geometric mean of its ratios, from the smallest to the largest."""
    groups: dict[str, list[Race]] = {}
    for race in races:
        groups.setdefault(race.get("group") or race["id"], []).append(race)
    found = []
    for name, group in groups.items():
        if "group" not in group[0]:
            found += group
            continue
        ratios = [race["ratio"]["median"] for race in group]
        mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
        several = f"geometric mean of {len(group)} races, the worst {max(ratios):#.3g}"
        ratio = {"median": mean, "low": min(ratios), "high": max(ratios)}
        found.append(group[0] | {"title": name, "condition": several, "ratio": ratio})
    return sorted(found, key=lambda race: -race["ratio"]["median"])


def summary(chapters: list[tuple[str, list[Race]]]) -> str:
    """How many races are won and lost, and where they are lost."""
    every = [race for _, races in chapters for race in races]
    lost = []
    for topic, races in chapters:
        if slower := [race["ratio"]["median"] for race in races if is_slower(race)]:
            extent = f"by {factor(min(slower))}" if len(slower) == 1 else f"by up to {factor(max(slower))}"
            lost.append(f"{len(slower)} of {len(races)} in {{doc}}`/chapters/{topic}` ({extent})")
    count = sum(map(is_slower, every))
    said = f"`mcutils` is faster in {len(every) - count} of {len(every)} races"
    said = f"{said}, and slower in {count}: {'; '.join(lost)}." if lost else f"{said}."
    return f"{said}\n\n{GROUPS}" if any("group" in race for race in every) else said


def factor(ratio: float) -> str:
    return f"a factor {ratio:.2f}"


# -- the plot ----------------------------------------------------------------------------


def pieces(race: Race) -> list[str]:
    """What was raced, on what, and against whom."""
    return [*race["title"].split(", "), *race["condition"].split(", "), f"against {race['peer']}"]


class Scale:
    """Ratios as places between 0 and 100 % of a width, by their logarithms."""

    def __init__(self, races: list[Race]) -> None:
        self.low = math.log10(min(race["ratio"]["low"] for race in races)) - 0.1
        self.high = math.log10(max(1.0, *(race["ratio"]["high"] for race in races))) + 0.1

    def __call__(self, ratio: float) -> str:
        return f"{100 * (math.log10(ratio) - self.low) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[float]:
        return [10.0**n for n in range(math.ceil(self.low), math.floor(self.high) + 1)]

    def lines(self) -> str:
        """Upright lines at the powers of ten; the one at 1 is marked."""
        marks = ((self(tick), ' class="one"' if tick == 1 else "") for tick in self.ticks())
        return "".join(f'<line x1="{x}" x2="{x}" y1="0" y2="100%"{mark}/>' for x, mark in marks)

    def axis(self) -> str:
        names = "".join(f'<text x="{self(tick)}" y="1.1em">{tick:g}</text>' for tick in self.ticks())
        return f'<svg class="axis" aria-hidden="true">{names}</svg>'

    def mark(self, race: Race) -> str:
        """The lowest to the highest ratio as a line, the median as a disc or, if slower, as a diamond."""
        ratio = race["ratio"]
        middle = self(ratio["median"])
        spread = (
            f'<line class="spread" x1="{self(ratio["low"])}" x2="{self(ratio["high"])}" y1="50%" y2="50%"/>'
        )
        disc = f'<circle cx="{middle}" cy="50%" r="5.5"/>'
        diamond = f'<svg x="{middle}" y="50%" overflow="visible"><path d="M-7 0 0-7 7 0 0 7Z"/></svg>'
        return f'<svg aria-hidden="true">{self.lines()}{spread}{diamond if is_slower(race) else disc}</svg>'


def plot(chapters: list[tuple[str, list[Race]]], heads: dict[str, str]) -> Iterator[str]:
    """The races in HTML, chapter by chapter under their heads; what all races of one share, stands there."""
    scale = Scale([race for _, races in chapters for race in races])
    yield '<table class="races">'
    heading = ("Race", "Our time over the peer’s, on a log scale", "Ratio")
    yield f"<thead><tr>{''.join(f'<th>{name}</th>' for name in heading)}</tr></thead>"
    for topic, races in chapters:
        shared = [one for one in pieces(races[0]) if all(one in pieces(race) for race in races)]
        if len(races) == 1:
            shared = pieces(races[0])[1:]
        about = f" <small>{escape(', '.join(shared))}</small>" if shared else ""
        yield "<tbody>"
        head = f'<th scope="rowgroup">{heads[topic]}{about}</th><td>{scale.axis()}</td><td></td>'
        yield f'<tr class="head">{head}</tr>'
        for race in races:
            own = escape(", ".join(one for one in pieces(race) if one not in shared))
            word = "slower" if is_slower(race) else "faster"
            ratio = f"{race['ratio']['median']:#.3g}"
            yield (
                f'<tr class="{word}"><th scope="row">{own}</th><td>{scale.mark(race)}</td>'
                f"<td>{ratio} <small>{word}</small></td></tr>"
            )
        yield "</tbody>"
    yield "</table>"


# -- the table ---------------------------------------------------------------------------


def numbers(results: dict[str, Any], chapters: list[tuple[str, list[Race]]]) -> Iterator[str]:
    """Seconds, ratios and promises; at the end on which machine, and with which versions."""
    rows = []
    for race in (race for _, races in chapters for race in races):
        ratio, seconds = race["ratio"], race["seconds"]
        rows.append(
            (
                f"**{race['title']}**: {race['condition']}",
                f"{seconds['ours']:.2g} s (ours) against {seconds['peer']:.2g} s ({race['peer']})",
                f"**{ratio['median']:#.3g}** ({ratio['low']:#.3g} to {ratio['high']:#.3g}, "
                f"{race['repeats']} repeats); promised: {race['claim']}",
            )
        )
    yield from table(("Race", "Seconds", "Ratio"), (36, 32, 32), rows)
    machine = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    versions = ", ".join(f"{key} {value}" for key, value in results["versions"].items())
    yield f"Measured {results['date']} on {machine}; {versions}."


class Races(SphinxDirective):
    """Which of the three it is, its name says."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        results = read(root)
        self.env.note_dependency(str(root / RESULTS))
        titles = {chapter.name: chapter.title for part in parts.read(root) for chapter in part.chapters}
        chapters = by_chapter(results["races"], list(titles))
        if self.name == "race-plot":
            heads = {topic: self.link(topic, titles[topic]) for topic, _ in chapters}
            rows = [(topic, together(races)) for topic, races in chapters]
            return [nodes.raw("", "\n".join(plot(rows, heads)), format="html")]
        text = [summary(chapters)] if self.name == "race-summary" else list(numbers(results, chapters))
        container = nodes.container()
        self.state.nested_parse(StringList("\n".join(text).split("\n"), source=str(RESULTS)), 0, container)
        return container.children

    def link(self, topic: str, title: str) -> str:
        document = f"chapters/{topic}"
        self.env.note_dependency(self.env.doc2path(document))  # its heading
        uri = self.env.app.builder.get_relative_uri(self.env.docname, document)
        return f'<a href="{escape(uri)}">{escape(title)}</a>'


def setup(app: Sphinx) -> dict[str, Any]:
    for name in ("race-summary", "race-plot", "race-table"):
        app.add_directive(name, Races)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
