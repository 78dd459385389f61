"""Sphinx extension: the overview pages of the parts, and the map of the chapters.

- `{part-overview}`, on a page of `parts/`: its chapters with what each gives a reader, how long it takes,
  how hard it is and what it builds on.
- `{chapter-map}`: all chapters, part by part, with a line from each down to those that build on it; a drawing
  with links, in the colours of the page. The directive's content is its caption.

Both are made from what the chapters say of themselves (tools/parts.py). Like the texts of the ledger they are
kept in files that are written again only when they have changed: only then are the pages read again.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from tools import measure, notebooks, parts
from tools.parts import BACKGROUND, Chapter, Part
from tools.sphinx.layers import DIFFICULTY
from tools.sphinx.ledger_pages import keep, kept_text
from tools.sphinx.pages import plain

logger = logging.getLogger(__name__)


# -- the overview of a part --------------------------------------------------------------


def overview(root: Path, part: Part, everything: tuple[Part, ...]) -> Iterator[str]:
    """The chapters of a part, as a numbered list in MyST."""
    direct = parts.reduced(parts.graph(everything))
    yield "::::{div} part-overview"
    for chapter in part.chapters:
        measured = measure.measure(notebooks.read(root / f"{chapter.document}.ipynb"))
        facts = [f"Story {measured.story_minutes} min", f"Full {measured.full_minutes} min"]
        if chapter.difficulty:
            facts.append(DIFFICULTY[chapter.difficulty])
        if others := direct[chapter.name]:
            facts.append(f"builds on {', '.join(map(link, others))}")
        yield f"{chapter.number}. {{doc}}`/{chapter.document}`"
        yield ""
        if chapter.sentence:
            yield f"    {chapter.sentence}"
            yield ""
        yield "    :::{div} part-facts"
        yield f"    {' · '.join(facts)}"
        yield "    :::"
        yield ""
    yield "::::"


def link(name: str) -> str:
    """To a chapter by its title; to the one that any chapter may build on, by its name."""
    return f"{{doc}}`{name} </chapters/{name}>`" if name == BACKGROUND else f"{{doc}}`/chapters/{name}`"


class PartOverview(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        file = kept_text(self.env.app, f"{self.name}-{Path(self.env.docname).name}")
        if not file.exists():
            raise self.error(f"{self.env.docname} is the overview page of no part of _toc.yml")
        self.env.note_dependency(str(file))
        holder = nodes.container()
        source = self.env.doc2path(self.env.docname)
        lines = StringList(file.read_text(encoding="utf-8").split("\n"), source=source)
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


# -- the map -----------------------------------------------------------------------------

# In units of the drawing, which is as wide as a phone's column; on a wide page it is a little larger.
WIDTH = 400
STATIONS = 96  # where the stations stand, left of all words; the lines run further left
NUMBERS = 128  # the right end of the numbers
WORDS = 136  # the left end of the titles
LETTERS = 14
LINE, ROW, HEAD, GAP = (
    18,
    12,
    30,
    10,
)  # heights: of a line of words, of a row besides, of a caption; between parts
LANES, BEND = 12, 6  # between lines that run side by side; the radius where one turns


@dataclass(frozen=True)
class Row:
    """A chapter on the map."""

    name: str
    number: int | None
    sentence: str
    builds_on: list[str]  # the nearest, without the background
    on_background: bool


@dataclass(frozen=True)
class Band:
    """A part on the map."""

    caption: str
    overview: str
    rows: list[Row]


def bands(everything: tuple[Part, ...]) -> list[Band]:
    direct = parts.reduced(
        {name: [o for o in others if o != BACKGROUND] for name, others in parts.graph(everything).items()}
    )

    def row(chapter: Chapter) -> Row:
        on_background = BACKGROUND in chapter.builds_on
        return Row(chapter.name, chapter.number, chapter.sentence, list(direct[chapter.name]), on_background)

    return [Band(part.caption, part.overview, [row(c) for c in part.chapters]) for part in everything]


def width(text: str) -> float:
    """About as wide as the words are in a wide sans-serif, in units of the drawing."""
    narrow, wide = "iljtfrI.,:;'’()- ", "mwMWOQGCD@%—"
    return LETTERS * sum(0.4 if c in narrow else 0.9 if c in wide else 0.63 for c in text)


def wrapped(text: str, room: float) -> list[str]:
    """The words in lines that are not wider than `room`.

    >>> wrapped("One label out of many", 130)
    ['One label out of', 'many']
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def lanes(spans: dict[str, tuple[float, float]]) -> dict[str, int]:
    """A lane for each line that runs from one height to another; 1 is next to the stations, for short ones.

    >>> lanes({"a": (0, 9), "b": (1, 3), "c": (4, 6)})
    {'b': 1, 'c': 1, 'a': 2}
    """
    found: dict[str, int] = {}
    for name in sorted(spans, key=lambda name: spans[name][1] - spans[name][0]):
        begin, end = spans[name]
        meet = {found[o] for o in found if spans[o][0] <= end and begin <= spans[o][1]}
        found[name] = next(lane for lane in range(1, len(spans) + 1) if lane not in meet)
    return found


def line(above: float, below: float, lane: float) -> str:
    """From a station left to its lane, down, and right to another station."""
    return (
        f"M{STATIONS} {above:g}H{lane + BEND:g}q{-BEND} 0 {-BEND} {BEND}"
        f"V{below - BEND:g}q0 {BEND} {BEND} {BEND}H{STATIONS}"
    )


def row_of_links(top: float, height: float) -> str:
    """What shows that a row has the keyboard's attention, and takes the finger."""
    left = STATIONS + 8
    return f'<rect x="{left}" y="{top + 1:g}" width="{WIDTH - left - 4}" height="{height - 2:g}" rx="4"/>'


def paths(edges: dict[str, list[str]], places: dict[str, float]) -> dict[tuple[str, str], str]:
    """The line of each pair of a chapter and one that builds on it."""
    order = list(edges)
    pairs = [(other, name) for name in edges for other in edges[name]]
    near = {pair for pair in pairs if order.index(pair[1]) == order.index(pair[0]) + 1}
    spans = {
        other: (places[other], max(places[name] for o, name in pairs if o == other and (o, name) not in near))
        for other in dict.fromkeys(other for other, name in pairs if (other, name) not in near)
    }
    lane = lanes(spans)
    step = min(LANES, (STATIONS - BEND) / max([1, *lane.values()]))
    return {
        (other, name): f"M{STATIONS} {places[other]:g}V{places[name]:g}"
        if (other, name) in near
        else line(places[other], places[name], STATIONS - step * lane[other])
        for other, name in pairs
    }


def drawing(plan: list[Band], titles: dict[str, str], addresses: dict[str, str]) -> str:
    """The map as SVG; `titles` and `addresses` by document."""
    places: dict[str, float] = {}
    words: list[str] = []
    grounds: list[str] = []
    top = 0.0
    for band in plan:
        begin = top
        caption = html.escape(band.caption)
        heading = f'<text class="map-part" x="{NUMBERS - 16}" y="{top + HEAD - 10:g}">{caption}</text>'
        if band.overview:
            address = html.escape(addresses[band.overview])
            heading = f'<a href="{address}">{row_of_links(top + 3, HEAD - 4)}{heading}</a>'
        top += HEAD
        items = []
        for row in band.rows:
            document = f"chapters/{row.name}"
            lines = wrapped(titles[document], WIDTH - WORDS - 8)
            height = ROW + LINE * len(lines)
            number = "B" if row.number is None else str(row.number)
            base = top + ROW / 2 + LINE * 0.75
            title = '<tspan font-size="0"> </tspan>'.join(  # for programs that read the words
                f'<tspan x="{WORDS}" y="{base + LINE * n:g}">{html.escape(text)}</tspan>'
                for n, text in enumerate(lines)
            )
            items.append(
                f'<g role="listitem"><a class="to-{row.name}" href="{html.escape(addresses[document])}" '
                f'aria-label="{html.escape(spoken(row, number, titles))}">{row_of_links(top, height)}'
                f'<text class="map-number" x="{NUMBERS}" y="{base:g}">{number}</text> '
                f"<text>{title}</text></a></g>"
            )
            places[row.name] = top + height / 2
            top += height
        words.append(f'{heading}<g role="list" aria-label="{caption}">{"".join(items)}</g>')
        top += 6
        grounds.append(f'<rect y="{begin:g}" width="{WIDTH}" height="{top - begin:g}" rx="6"/>')
        top += GAP

    edges = {row.name: row.builds_on for band in plan for row in band.rows}
    above = {name: parts.ancestors(edges, name) for name in edges}
    # a station and a line belong to all chapters that lie behind them
    behind = {name: " ".join(f"for-{c}" for c in edges if name == c or name in above[c]) for name in edges}
    ways = paths(edges, places)
    lines = [f'<path d="{way}"/>' for way in ways.values()]
    lit = [f'<path class="{behind[name]}" d="{way}"/>' for (_, name), way in ways.items()]
    hollow = {row.name for band in plan for row in band.rows if row.on_background or row.name == BACKGROUND}
    stations = [
        f'<circle class="{"map-hollow " * (name in hollow)}{behind[name]}" cx="{STATIONS}" cy="{y:g}" r="5"/>'
        for name, y in places.items()
    ]
    rule = ",".join(f".chapter-map:has(.to-{name}:is(:hover,:focus-visible)) .for-{name}" for name in edges)
    return (
        f'<svg class="chapter-map" viewBox="0 0 {WIDTH} {top - GAP:g}" xmlns="http://www.w3.org/2000/svg" '
        'role="group" aria-label="Map of the chapters">'
        f"<style>{rule}{{stroke:var(--pst-color-primary)}}</style>"
        f'<g class="map-grounds" aria-hidden="true">{"".join(grounds)}</g>'
        f'<g class="map-lines" aria-hidden="true">{"".join(lines)}</g>'
        f'<g class="map-lit" aria-hidden="true">{"".join(lit)}</g>'
        f'<g class="map-stations" aria-hidden="true">{"".join(stations)}</g>{"".join(words)}</svg>'
    )


def spoken(row: Row, number: str, titles: dict[str, str]) -> str:
    """A chapter and what it builds on, for those who do not see the lines."""
    others = [titles[f"chapters/{name}"] for name in row.builds_on]
    others += ["the background chapter"] if row.on_background else []
    return f"{number} {titles[f'chapters/{row.name}']}. Builds on: {'; '.join(others) or 'no other chapter'}"


class chapter_map(nodes.General, nodes.Element):
    """The plan of the map; it is drawn when all titles and addresses are known."""


class ChapterMap(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        file = kept_text(self.env.app, self.name)
        self.env.note_dependency(str(file))
        plan = json.loads(file.read_text(encoding="utf-8"))
        figure = nodes.container(classes=["map-figure"])
        figure += chapter_map(plan=plan)
        self.set_source_info(figure)
        self.state.nested_parse(self.content, self.content_offset, figure)
        return [figure]


def draw(self: HTML5Translator, node: chapter_map) -> None:
    builder = self.builder
    env = builder.env
    plan = [Band(b["caption"], b["overview"], [Row(**row) for row in b["rows"]]) for b in node["plan"]]
    chapters = {f"chapters/{row.name}": row.number for band in plan for row in band.rows}
    documents = [*chapters, *(band.overview for band in plan if band.overview)]
    for document, number in chapters.items():
        shown = env.toc_secnumbers.get(document, {}).get("", ())
        if number is not None and tuple(shown or ())[:1] != (number,):
            logger.warning(
                "the map gives %s the number %s, its page %s", document, number, shown, location=node
            )
    here = builder.current_docname
    self.body.append(
        drawing(
            plan,
            {document: plain(env.titles[document]) for document in documents},
            {document: builder.get_relative_uri(here, document) for document in documents},
        )
    )
    raise nodes.SkipNode


# -- what both are made from -------------------------------------------------------------


def write_texts(app: Sphinx) -> None:
    """Once a build, before the pages are read."""
    root = Path(app.srcdir)
    everything = parts.read(root)
    wrong = list(parts.problems(everything))
    for message in wrong:
        logger.warning(message)
    if wrong:  # nothing can be drawn; the warnings say why
        everything = tuple(Part(part.caption, part.overview, ()) for part in everything)
    keep(app, "chapter-map", json.dumps([asdict(band) for band in bands(everything)]))
    for part in everything:
        if part.overview:
            name = f"part-overview-{Path(part.overview).name}"
            keep(app, name, "\n".join(overview(root, part, everything)))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(chapter_map, html=(draw, None))
    app.add_directive("part-overview", PartOverview)
    app.add_directive("chapter-map", ChapterMap)
    app.connect("builder-inited", write_texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
