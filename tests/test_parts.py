"""The parts of the book: what chapters say of themselves, the overview pages, and the map."""

import html
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from mini_book import copy_to, python
from nbformat.v4 import new_markdown_cell, new_notebook

from tools import edition, ledger, measure, notebooks, parts
from tools.parts import Chapter, Part
from tools.sphinx import layers
from tools.sphinx import parts as pages

ROOT = Path(__file__).resolve().parents[1]
BOOK = parts.read(ROOT)
CHAPTERS = {chapter.name: chapter for part in BOOK for chapter in part.chapters}
ABOUT = {"sentence": "What it gives.", "difficulty": 1, "builds-on": []}


def of(*chapters: Chapter, caption: str = "One") -> tuple[Part, ...]:
    return (Part(caption, "", chapters),)


def chapter(name: str, *builds_on: str, number: int | None = 1, sentence: str = "It is so.") -> Chapter:
    return Chapter(name, number, name.title(), sentence, 1, builds_on)


# -- reading -----------------------------------------------------------------------------


def test_every_chapter_of_the_contents_is_in_a_part():
    listed = ledger.documents(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    assert [c.document for c in CHAPTERS.values()] == [d for d in listed if d.startswith("chapters/")]
    assert [part.caption for part in BOOK if not part.overview] == ["Back matter"]


def test_numbers_go_on_from_part_to_part():
    numbered = [c.number for c in CHAPTERS.values() if c.number is not None]
    assert numbered == list(range(1, len(CHAPTERS)))
    assert CHAPTERS[parts.BACKGROUND].number is None


def test_an_overview_page_and_its_chapters_are_one_part(tmp_path: Path):
    (tmp_path / "chapters").mkdir()
    for name in ("a", "b"):
        cell = new_markdown_cell(f"(sec-{name})=\n# Title {name}\n\nText.", metadata={"chapter": ABOUT})
        nbformat.write(new_notebook(cells=[cell]), tmp_path / "chapters" / f"{name}.ipynb")
    entries: list[dict[str, Any]] = [
        {"caption": "First", "chapters": [{"file": "parts/first", "title": "Overview"}]},
        {"numbered": 1, "chapters": [{"file": "chapters/a"}]},
        {"caption": "Last", "chapters": [{"file": "chapters/b.ipynb"}, {"file": "chapters/gone"}]},
    ]
    toc = {"format": "jb-book", "root": "index", "parts": entries}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
    first, last = parts.read(tmp_path)
    assert (first.caption, first.overview) == ("First", "parts/first")
    assert first.chapters == (Chapter("a", 1, "Title a", "What it gives.", 1, ()),)
    assert [(c.name, c.number) for c in last.chapters] == [("b", None)]


# -- check -------------------------------------------------------------------------------


def test_the_book_has_no_problem():
    assert list(parts.problems(BOOK)) == []


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        ("risk", "must have exactly the keys"),
        ({"sentence": "So."}, "must have exactly the keys"),
        ({**ABOUT, "more": 1}, "must have exactly the keys"),
        ({**ABOUT, "sentence": "No full stop"}, "must be a text that ends with a full stop"),
        ({**ABOUT, "sentence": "word " * 25 + "end."}, "has 26 words; at most 25"),
        ({**ABOUT, "sentence": "characters " * 15 + "end."}, "has 169 characters; at most 160"),
        ({**ABOUT, "difficulty": 4}, "difficulty is 4; it must be 1, 2 or 3"),
        ({**ABOUT, "difficulty": "easy"}, "difficulty is 'easy'"),
        ({**ABOUT, "difficulty": True}, "difficulty is True"),
        ({**ABOUT, "builds-on": "risk"}, "must be a list of names"),
        ({**ABOUT, "builds-on": ["risk", "risk"]}, "names a chapter twice: risk, risk"),
    ],
)
def test_what_a_chapter_says_of_itself_has_a_form(about: object, complaint: str):
    (found,) = parts.complaints(about)
    assert complaint in found
    assert list(parts.complaints(ABOUT)) == []


def test_it_belongs_to_the_title(tmp_path: Path):
    nb = new_notebook(cells=[new_markdown_cell("## Section", metadata={"chapter": ABOUT})])
    notebooks.normalise(nb)
    file = tmp_path / "toy.ipynb"
    file.write_text(notebooks.text(nb), encoding="utf-8")
    assert any("belongs to the cell with the chapter's title" in found for found in notebooks.findings(file))


def test_a_circle_is_named():
    book = of(chapter("a"), chapter("b", "a", "d"), chapter("c", "b"), chapter("d", "c"))
    assert list(parts.problems(book)) == ["chapters build on each other in a circle: b on d on c on b"]


@pytest.mark.parametrize(
    ("book", "complaint"),
    [
        (of(chapter("a", "z")), "builds on 'z', which is no chapter of _toc.yml"),
        (of(chapter("a", "b"), chapter("b")), "builds on b, which comes after it"),
        (of(chapter("a", sentence="")), "its title cell has no metadata 'chapter'"),
        (of(chapter("a", "a")), "in a circle: a on a"),
    ],
)
def test_problems_between_chapters(book: tuple[Part, ...], complaint: str):
    (found,) = parts.problems(book, waiting=())
    assert complaint in found


def test_the_background_may_come_last_and_who_waits_may_be_silent():
    book = of(chapter("a", "background"), chapter("background", number=None), chapter("b", sentence=""))
    assert list(parts.problems(book, waiting={"b"})) == []
    silent = {c.name for c in CHAPTERS.values() if not c.sentence}
    assert silent <= edition.waiting


# -- the overview pages ------------------------------------------------------------------

OVERVIEWS = [part for part in BOOK if part.overview]


def words(text: str) -> int:
    """Of a page in MyST, without what marks up and what only names."""
    text = re.sub(r"^\s*(```|:::).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{\w+(:\w+)?\}`(?:([^`<]*)<[^`>]*>|([^`]*))`", r"\2\3", text)
    return len(re.findall(r"\w[\w'’-]*", text))


@pytest.mark.parametrize("part", OVERVIEWS, ids=lambda part: part.overview)
def test_an_overview_page_is_short_and_has_one_picture(part: Part):
    page = (ROOT / f"{part.overview}.md").read_text(encoding="utf-8")
    page = re.sub(r"\A---\n.*?\n---\n\n", "", page, flags=re.DOTALL)  # its description
    assert page.startswith("# Part ")
    assert page.splitlines()[0].endswith(f": {part.caption}")
    assert page.count("```{part-overview}\n```") == 1
    (figure,) = re.findall(r"```\{chapter-figure\} fig-(\w+)-", page)
    assert figure in {c.name for c in part.chapters}
    made = "\n".join(pages.overview(ROOT, part, BOOK))
    for name in re.findall(r"`/chapters/(\w+)`", made):  # the title stands in the link's place
        made = made.replace(f"`/chapters/{name}`", f"`{CHAPTERS[name].title}`")
    assert words(page) + words(made) <= 600


@pytest.mark.parametrize("part", OVERVIEWS, ids=lambda part: part.overview)
def test_an_overview_lists_its_chapters_with_what_they_say(part: Part):
    made = list(pages.overview(ROOT, part, BOOK))
    listed = [re.match(r"(\d+)\. \{doc\}`/(.*)`$", line) for line in made]
    assert [(int(m[1]), m[2]) for m in listed if m] == [(c.number, c.document) for c in part.chapters]
    for c in part.chapters:
        assert not c.sentence or f"    {c.sentence}" in made
    facts = [line for line in made if " min · " in line]
    assert len(facts) == len(part.chapters)
    assert all(re.match(r"    Story \d+ min · Full \d+ min", line) for line in facts)


def test_what_builds_on_what_is_told_once():
    book = of(chapter("a"), chapter("b", "a"), chapter("c", "a", "b", "background"), chapter("background"))
    assert parts.reduced(parts.graph(book))["c"] == ("b", "background")


# -- the map -----------------------------------------------------------------------------


def drawn(book: tuple[Part, ...] = BOOK) -> ET.Element:
    titles = {c.document: c.title for part in book for c in part.chapters}
    addresses = {name: f"{name}.html" for name in [*titles, *(part.overview for part in book)]}
    return ET.fromstring(pages.drawing(pages.bands(ROOT, book), titles, addresses))


def places(picture: ET.Element, name: str) -> list[tuple[ET.Element, list[int]]]:
    """The elements of a class, with the rows of the grid that they begin and end at."""
    found = [e for e in picture.iter("span") if name in (e.get("class") or "").split()]
    return [(e, [int(n) for n in re.findall(r"\d+", (e.get("style") or "").split(";")[0])]) for e in found]


def rows(picture: ET.Element) -> list[tuple[str, str]]:
    """The rows of the grid in order: what they are (part or chapter), and their words."""
    found: list[tuple[str, str]] = []
    for part in picture.iter("div"):
        if part.get("class") == "map-part":
            begin, span = re.findall(r"\d+", part.get("style") or "")
            assert int(begin) == len(found) + 1
            found += [(e.tag, "".join(e.itertext())) for e in part.iter() if e.tag in ("h3", "li")]
            assert int(span) == len(found) + 1 - int(begin)
    return found


def test_every_chapter_is_on_the_map_and_every_link_leads_somewhere():
    links = [a.get("href", "") for a in drawn().iter("a")]
    expected = [[part.overview, *(c.document for c in part.chapters)] for part in BOOK]
    assert links == [f"{name}.html" for names in expected for name in names if name]
    for link in links:
        source = ROOT / link.removesuffix(".html")
        assert source.with_suffix(".md").exists() or source.with_suffix(".ipynb").exists()


def test_the_map_says_of_each_chapter_what_it_gives_and_how_long_it_takes():
    listed = rows(drawn())
    assert [words for tag, words in listed if tag == "h3"] == [part.caption for part in BOOK]
    shown = [words for tag, words in listed if tag == "li"]
    signs = {c.name: str(c.number or "B") for c in CHAPTERS.values()}
    direct = parts.reduced(parts.graph(BOOK))
    for words, c in zip(shown, CHAPTERS.values(), strict=True):
        minutes = measure.measure(notebooks.read(ROOT / f"{c.document}.ipynb")).story_minutes
        facts = [f"{minutes} min", *([layers.DIFFICULTY[c.difficulty]] if c.difficulty else [])]
        if direct[c.name]:
            facts.append(f"builds on {', '.join(signs[o] for o in direct[c.name])}")
        assert words == f"{signs[c.name]} {c.title}{' · '.join(facts)}{c.sentence}"


def test_the_lines_are_those_that_the_chapters_give():
    picture = drawn()
    names = dict(
        zip((n + 1 for n, (tag, _) in enumerate(rows(picture)) if tag == "li"), CHAPTERS, strict=True)
    )
    assert [place for _, (place,) in places(picture, "map-station")] == list(names)
    lines = {tuple(names[row] for row in ends) for _, ends in places(picture, "map-line")}
    direct = parts.reduced(parts.graph(BOOK))
    # the background comes last, and what builds on it says so in words
    assert lines == {(o, n) for n, found in direct.items() for o in found if o != parts.BACKGROUND}


def test_lines_of_different_chapters_do_not_run_in_one_lane():
    picture = drawn()
    lanes = [
        (int(re.findall(r"--lane:(\d+)", line.get("style") or "")[0]), *ends)
        for line, ends in places(picture, "map-line")
    ]
    assert f"--lanes:{max(lane for lane, *_ in lanes)}" == picture.get("style")
    for lane, begin, end in lanes:
        assert lane or end - begin <= 2  # to the chapter right below, at most a caption between
        for other, first, last in lanes:
            if lane == other and begin != first:
                assert end < first or last < begin or not lane


def test_lanes_next_to_the_words_are_for_short_lines():
    spans = {"a": (0, 9), "b": (1, 3), "c": (3, 6), "d": (4, 5), "e": (7, 8)}
    found = pages.lanes(spans)
    for one in spans:
        for other in spans:
            if one < other and found[one] == found[other]:
                assert spans[one][1] < spans[other][0] or spans[other][1] < spans[one][0]
    assert max(found.values()) == found["a"] == 3


def test_pointing_at_a_chapter_marks_all_that_it_builds_on():
    picture = drawn()
    style = next(picture.iter("style")).text or ""
    edges = parts.graph(BOOK)
    stations = dict(zip(CHAPTERS, (e for e, _ in places(picture, "map-station")), strict=True))
    for name in CHAPTERS:
        assert f".chapter-map:has(.to-{name}:is(:hover,:focus-visible)) .for-{name}" in style
        marked = {n for n, e in stations.items() if f"for-{name}" in (e.get("class") or "").split()}
        assert marked - {parts.BACKGROUND} == ({name} | parts.ancestors(edges, name)) - {parts.BACKGROUND}


def test_titles_are_text_and_nothing_else():
    strange = replace(CHAPTERS["risk"], title='<b>&"', sentence="<i>&", builds_on=())
    plan = pages.bands(ROOT, of(strange))
    text = pages.drawing(plan, {strange.document: strange.title}, {strange.document: "x"})
    assert "<b>" not in text
    assert "<i>" not in text
    assert html.escape('<b>&"') in text
    ET.fromstring(text)


# -- in a book ---------------------------------------------------------------------------

OVERVIEW = """# Part I: Fixtures

This page says what its part is about, in a sentence that is long enough.

```{part-overview}
```
"""


@pytest.mark.ci
def test_the_pages_follow_what_the_chapters_say(tmp_path: Path):
    book = copy_to(tmp_path / "book", "toy")
    toc = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    toc["parts"][0].pop("caption")
    toc["parts"].insert(
        0,
        {
            "caption": "Fixtures",
            "chapters": [{"file": "parts/first", "title": "Overview"}, {"file": "plain"}],
        },
    )
    (book / "plain.md").write_text("# A plain page\n\nIt names no chapter.\n", encoding="utf-8")
    (book / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
    (book / "parts").mkdir()
    (book / "parts" / "first.md").write_text(OVERVIEW, encoding="utf-8")
    with (book / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n```{chapter-map}\nThe *caption* of the map.\n```\n")
    written = python(book, "tools.notebooks", "write")
    assert written.returncode == 0, written.stderr
    site = book / "_build" / "html"

    def build() -> str:
        run = python(book, "tools.site", "build")
        assert run.returncode == 0, run.stderr
        return (site / "parts" / "first.html").read_text(encoding="utf-8")

    page = build()
    assert "What a small book can show." in page
    assert re.search(r'<ol class="[^"]*" start="1">|<ol class="[^"]*">\s*<li>', page)
    index_page = (site / "index.html").read_text(encoding="utf-8")
    assert (
        '<a class="to-toy" href="chapters/toy.html"><span class="map-number">1</span> A toy chapter</a>'
        in (index_page)
    )
    assert re.search(r'<p class="map-facts">\d+ min · easy</p><p>What a small book can show.</p>', index_page)
    assert '<a href="parts/first.html">' in index_page
    assert "The <em>caption</em> of the map." in index_page
    toy = (site / "chapters" / "toy.html").read_text(encoding="utf-8")
    assert '<span class="section-number">1. </span>A toy chapter' in toy

    chapter = book / "chapters" / "toy.ipynb"
    text = chapter.read_text(encoding="utf-8")
    plain = (site / "plain.html").stat().st_mtime_ns
    chapter.write_text(text.replace("What a small book can show.", "What has changed."), encoding="utf-8")
    assert "What has changed." in build()
    assert (site / "plain.html").stat().st_mtime_ns == plain  # only what it can reach

    chapter.write_text(text.replace('"builds-on": []', '"builds-on": ["toy"]'), encoding="utf-8")
    run = python(book, "tools.site", "build")
    assert run.returncode == 1
    assert "chapters build on each other in a circle: toy on toy" in run.stderr
