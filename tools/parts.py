"""The parts of the book, and what chapters say of themselves.

The title cell of a chapter has the metadata

    "chapter": {"sentence": "What the chapter gives a reader.", "difficulty": 2, "builds-on": ["risk"]}

with a sentence of at most 25 words, a difficulty from 1 to 3 and the names of the chapters that a reader
should know. From them and from `_toc.yml` come the overview pages of the parts and the map of the chapters
(tools/sphinx/parts.py). `python -m tools.notebooks check` prints what is wrong with them.

An entry of `_toc.yml` with a caption begins a part of the book; one without a caption continues it. So a part
has an overview page, which has no number, and then its chapters, which have one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools import edition

KEYS = ("sentence", "difficulty", "builds-on")
LONGEST = 25  # words of the sentence
DESCRIPTION = 160  # characters: more is not shown of a page's description, which it is
HARDEST = 3

# A chapter of the back matter: any chapter may build on it.
BACKGROUND = "background"


@dataclass(frozen=True)
class Chapter:
    name: str
    number: int | None  # as on its page; None in the back matter
    title: str
    sentence: str  # "" where the chapter does not say it yet
    difficulty: int | None
    builds_on: tuple[str, ...]

    @property
    def document(self) -> str:
        return f"chapters/{self.name}"


@dataclass(frozen=True)
class Part:
    caption: str
    overview: str  # the document of its overview page, "" if it has none
    chapters: tuple[Chapter, ...]


# -- reading -----------------------------------------------------------------------------


def title_cell(cells: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The cell with the heading of the first level."""
    for cell in cells:
        if cell["cell_type"] == "markdown" and re.search(r"^# ", "".join(cell["source"]), re.MULTILINE):
            return cell
    return None


def chapter(file: Path, number: int | None) -> Chapter:
    cell = title_cell(json.loads(file.read_text(encoding="utf-8"))["cells"])
    if cell is None:
        raise ValueError(f"{file.name} has no heading of the first level")
    heading = re.search(r"^# (.+)$", "".join(cell["source"]), re.MULTILINE)
    about = cell["metadata"].get("chapter", {})
    return Chapter(
        file.stem,
        number,
        heading[1].strip() if heading else "",
        about.get("sentence", ""),
        about.get("difficulty"),
        tuple(about.get("builds-on", ())),
    )


def read(root: Path) -> tuple[Part, ...]:
    """The parts of the book in `root` that have chapters, in reading order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found: list[Part] = []
    number = 0
    for entry in toc.get("parts", ()):
        documents = [re.sub(r"\.(md|ipynb)$", "", str(page.get("file", ""))) for page in entry["chapters"]]
        overview = next((name for name in documents if name.startswith("parts/")), "")
        chapters = []
        for document in documents:
            file = root / f"{document}.ipynb"
            if (
                document.startswith("chapters/") and file.exists()
            ):  # the ledger's check names one that is missing
                number += bool(entry.get("numbered"))
                chapters.append(chapter(file, number if entry.get("numbered") else None))
        if "caption" in entry or not found:
            found.append(Part(str(entry.get("caption", "")), overview, tuple(chapters)))
        else:
            last = found.pop()
            found.append(Part(last.caption, last.overview or overview, (*last.chapters, *chapters)))
    return tuple(part for part in found if part.chapters)


# -- how chapters build on each other ----------------------------------------------------

Graph = Mapping[str, Collection[str]]  # a chapter's name -> those that it builds on


def graph(parts: tuple[Part, ...]) -> dict[str, tuple[str, ...]]:
    return {chapter.name: chapter.builds_on for part in parts for chapter in part.chapters}


def cycle(edges: Graph) -> list[str]:
    """Chapters each of which builds on the next, the last one on the first; [] if there are none.

    >>> cycle({"a": ["b"], "b": ["c"], "c": ["b"]})
    ['b', 'c']
    """
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        if name not in done:
            for other in edges.get(name, ()):
                if found := walk(other, [*way, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in edges if (found := walk(name, []))), [])


def ancestors(edges: Graph, name: str) -> set[str]:
    """All that a chapter builds on, through others too.

    >>> sorted(ancestors({"c": ["b"], "b": ["a"]}, "c"))
    ['a', 'b']
    """
    found: set[str] = set()
    waiting = list(edges.get(name, ()))
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting.extend(edges.get(other, ()))
    return found


def reduced(edges: Graph) -> dict[str, tuple[str, ...]]:
    """Without those that another one of them builds on already.

    >>> reduced({"c": ["a", "b"], "b": ["a"], "a": []})
    {'c': ('b',), 'b': ('a',), 'a': ()}
    """
    return {
        name: tuple(o for o in others if not any(o in ancestors(edges, other) for other in others))
        for name, others in edges.items()
    }


# -- check -------------------------------------------------------------------------------


def complaints(about: Any) -> Iterator[str]:
    """What is wrong with the metadata `chapter` of a title cell, by itself."""
    if not isinstance(about, dict) or set(about) != set(KEYS):
        yield f"metadata 'chapter' is {about!r}; it must have exactly the keys {', '.join(KEYS)}"
        return
    sentence, difficulty, builds_on = (about[key] for key in KEYS)
    if not isinstance(sentence, str) or not re.search(r"\S[.?!]$", sentence):
        yield f"the chapter's sentence is {sentence!r}; it must be a text that ends with a full stop"
    elif len(sentence.split()) > LONGEST:
        yield f"the chapter's sentence has {len(sentence.split())} words; at most {LONGEST}"
    elif len(sentence) > DESCRIPTION:
        yield f"the chapter's sentence has {len(sentence)} characters; at most {DESCRIPTION}"
    if type(difficulty) is not int or not 1 <= difficulty <= HARDEST:  # True is no number here
        yield f"the chapter's difficulty is {difficulty!r}; it must be 1, 2 or {HARDEST}"
    if not isinstance(builds_on, list) or not all(isinstance(name, str) for name in builds_on):
        yield f"'builds-on' is {builds_on!r}; it must be a list of names of chapters"
    elif len(set(builds_on)) < len(builds_on):
        yield f"'builds-on' names a chapter twice: {', '.join(builds_on)}"


def problems(parts: tuple[Part, ...], waiting: Collection[str] = edition.waiting) -> Iterator[str]:
    """What is wrong between chapters: silence, unknown names, circles, a wrong order."""
    chapters = [chapter for part in parts for chapter in part.chapters]
    order = [chapter.name for chapter in chapters]
    for chapter in chapters:
        where = f"{chapter.document}.ipynb"
        if not chapter.sentence and chapter.name not in waiting:
            yield f"{where}: its title cell has no metadata 'chapter' ({', '.join(KEYS)})"
        for name in chapter.builds_on:
            if name not in order:
                yield f"{where}: builds on {name!r}, which is no chapter of _toc.yml"
    edges = graph(parts)
    if found := cycle(edges):
        yield f"chapters build on each other in a circle: {' on '.join([*found, found[0]])}"
        return
    for chapter in chapters:
        for name in set(chapter.builds_on) & set(order) - {BACKGROUND}:
            if order.index(name) > order.index(chapter.name):
                yield f"{chapter.document}.ipynb: builds on {name}, which comes after it in _toc.yml"
