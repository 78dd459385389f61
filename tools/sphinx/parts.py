"""Sphinx extension: the overview pages of the parts, and the map of the chapters.

- `{part-overview}`, on a page of `parts/`: its chapters with what each gives a reader, how long it takes,
  how hard it is and what it builds on.
- `{chapter-map}`: all chapters, part by part, with what each gives a reader, how long it takes, how hard it
  is, and a line down to those that build on it. The directive's content is its introduction.

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


def measured(root: Path, chapter: Chapter) -> measure.Measures:
    return measure.measure(notebooks.read(root / f"{chapter.document}.ipynb"))


# -- the overview of a part --------------------------------------------------------------


def overview(root: Path, part: Part, everything: tuple[Part, ...]) -> Iterator[str]:
    """The chapters of a part, as a numbered list in MyST."""
    direct = parts.reduced(parts.graph(everything))
    yield "::::{div} part-overview"
    for chapter in part.chapters:
        minutes = measured(root, chapter)
        facts = [f"Story {minutes.story_minutes} min", f"Full {minutes.full_minutes} min"]
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


@dataclass(frozen=True)
class Row:
    """A chapter on the map."""

    name: str
    number: int | None
    sentence: str
    minutes: int  # of Story
    difficulty: int | None
    builds_on: list[str]  # the nearest

    @property
    def sign(self) -> str:
        """Its number, or the letter of the one that has none."""
        return "B" if self.number is None else str(self.number)


@dataclass(frozen=True)
class Band:
    """A part on the map."""

    caption: str
    overview: str
    rows: list[Row]


def bands(root: Path, everything: tuple[Part, ...]) -> list[Band]:
    direct = parts.reduced(parts.graph(everything))

    def row(chapter: Chapter) -> Row:
        minutes = measured(root, chapter).story_minutes
        about = (chapter.sentence, minutes, chapter.difficulty, list(direct[chapter.name]))
        return Row(chapter.name, chapter.number, *about)

    return [Band(part.caption, part.overview, [row(c) for c in part.chapters]) for part in everything]


def lanes(spans: dict[str, tuple[int, int]]) -> dict[str, int]:
    """A lane for each line that runs from one row to another; 1 is next to the words, for short ones.

    >>> lanes({"a": (0, 9), "b": (1, 3), "c": (4, 6)})
    {'b': 1, 'c': 1, 'a': 2}
    """
    found: dict[str, int] = {}
    for name in sorted(spans, key=lambda name: spans[name][1] - spans[name][0]):
        begin, end = spans[name]
        meet = {found[o] for o in found if spans[o][0] <= end and begin <= spans[o][1]}
        found[name] = next(lane for lane in range(1, len(spans) + 1) if lane not in meet)
    return found


def lines(edges: dict[str, list[str]], places: dict[str, int]) -> dict[tuple[str, str], int]:
    """The lane of the line of each pair, a chapter and one that builds on it; 0 is straight down.

    All lines that leave a chapter run in one lane, but that to the chapter right below it.
    """
    order = list(edges)
    pairs = [(other, name) for name in edges for other in edges[name]]
    near = {pair for pair in pairs if order.index(pair[1]) == order.index(pair[0]) + 1}
    far = [pair for pair in pairs if pair not in near]
    lane = lanes(
        {
            other: (places[other], max(places[name] for o, name in far if o == other))
            for other in dict.fromkeys(other for other, _ in far)
        }
    )
    return {pair: 0 if pair in near else lane[pair[0]] for pair in pairs}


def drawing(plan: list[Band], titles: dict[str, str], addresses: dict[str, str]) -> str:
    """The map as a list of the chapters with lines left of it; `titles` and `addresses` by document.

    List, lines and stations share the rows of one grid (web/static/parts.css): however a browser breaks the
    words, a line ends where its chapter begins.
    """
    signs = {row.name: row.sign for band in plan for row in band.rows}
    places: dict[str, int] = {}
    sections: list[str] = []
    top = 1
    for band in plan:
        caption = html.escape(band.caption)
        if band.overview:
            caption = f'<a href="{html.escape(addresses[band.overview])}">{caption}</a>'
        items = [row_of(row, signs, titles, addresses) for row in band.rows]
        places |= {row.name: top + 1 + n for n, row in enumerate(band.rows)}
        span = 1 + len(items)
        sections.append(
            f'<div class="map-part" style="grid-row:{top}/span {span}"><h3>{caption}</h3>'
            f'<ol role="list">{"".join(items)}</ol></div>'
        )
        top += span

    edges = {row.name: [o for o in row.builds_on if o != BACKGROUND] for band in plan for row in band.rows}
    above = {name: parts.ancestors(edges, name) for name in edges}
    # a station and a line belong to all chapters that lie behind them
    behind = {name: " ".join(f"for-{c}" for c in edges if name == c or name in above[c]) for name in edges}
    lane = lines(edges, places)
    drawn = [
        f'<span class="map-line {behind[name]}" '
        f'style="grid-row:{places[other]}/{places[name]};--lane:{lane[other, name]}"></span>'
        for other, name in lane
    ]
    drawn += [
        f'<span class="map-station {behind[name]}" style="grid-row:{row}"></span>'
        for name, row in places.items()
    ]
    rule = ",".join(f".chapter-map:has(.to-{name}:is(:hover,:focus-visible)) .for-{name}" for name in edges)
    return (
        f'<div class="chapter-map" style="--lanes:{max([1, *lane.values()])}">'
        f"<style>{rule}{{--lit:var(--pst-color-primary);--weight:3px;z-index:1}}</style>"
        f'{"".join(sections)}<div class="map-lines" aria-hidden="true">{"".join(drawn)}</div></div>'
    )


def row_of(row: Row, signs: dict[str, str], titles: dict[str, str], addresses: dict[str, str]) -> str:
    """A chapter in the list: its title, how long and how hard it is, what it builds on, what it gives."""
    document = f"chapters/{row.name}"
    facts = [f"{row.minutes} min"]
    if row.difficulty:
        facts.append(DIFFICULTY[row.difficulty])
    if row.builds_on:
        facts.append(f"builds on {', '.join(signs[name] for name in row.builds_on)}")
    sentence = f"<p>{html.escape(row.sentence)}</p>" if row.sentence else ""
    return (
        f'<li><a class="to-{row.name}" href="{html.escape(addresses[document])}">'
        f'<span class="map-number">{row.sign}</span> {html.escape(titles[document])}</a>'
        f'<p class="map-facts">{" · ".join(facts)}</p>{sentence}</li>'
    )


class chapter_map(nodes.General, nodes.Element):
    """The plan of the map; it is drawn when all titles and addresses are known."""


class ChapterMap(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        file = kept_text(self.env.app, self.name)
        self.env.note_dependency(str(file))
        plan = json.loads(file.read_text(encoding="utf-8"))
        figure = nodes.container(classes=["map-figure"])
        self.state.nested_parse(self.content, self.content_offset, figure)
        figure += chapter_map(plan=plan)
        self.set_source_info(figure)
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
    keep(app, "chapter-map", json.dumps([asdict(band) for band in bands(root, everything)]))
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
