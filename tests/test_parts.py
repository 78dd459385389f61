"""The parts of the book: what chapters say of themselves, the overview pages, and the map."""

import html
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from mini_book import copy_to, python
from nbformat.v4 import new_markdown_cell, new_notebook

from tools import edition, ledger, notebooks, parts
from tools.parts import Chapter, Part
from tools.sphinx import parts as pages

ROOT = Path(__file__).resolve().parents[1]
BOOK = parts.read(ROOT)
CHAPTERS = {chapter.name: chapter for part in BOOK for chapter in part.chapters}
ABOUT = {"sentence": "What it gives.", "difficulty": 1, "builds-on": []}
SVG = "{http://www.w3.org/2000/svg}"


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
    return ET.fromstring(pages.drawing(pages.bands(book), titles, addresses))


def test_every_chapter_is_on_the_map_and_every_link_leads_somewhere():
    links = [a.get("href", "") for a in drawn().iter(f"{SVG}a")]
    expected = [[part.overview, *(c.document for c in part.chapters)] for part in BOOK]
    assert links == [f"{name}.html" for names in expected for name in names if name]
    for link in links:
        source = ROOT / link.removesuffix(".html")
        assert source.with_suffix(".md").exists() or source.with_suffix(".ipynb").exists()


def test_each_link_has_a_name_that_contains_what_is_seen():
    for a in drawn().iter(f"{SVG}a"):
        if a.get("class"):
            seen = " ".join("".join(a.itertext()).split())
            assert (a.get("aria-label") or "").startswith(f"{seen}. Builds on: ")


def ends(path: ET.Element) -> tuple[float, float]:
    """The heights at which a line begins and ends."""
    begin = re.match(rf"M{pages.STATIONS} ([\d.]+)", path.get("d", ""))
    straight = re.search(r"V([\d.]+)$", path.get("d", ""))
    bent = re.search(rf"V([\d.]+)q0 6 6 6H{pages.STATIONS}$", path.get("d", ""))
    assert begin
    assert straight or bent
    return float(begin[1]), float(straight[1]) if straight else float(bent[1]) + 6 if bent else 0


def test_the_lines_are_those_that_the_chapters_give():
    picture = drawn()
    stations = {float(c.get("cy", 0)): c for c in picture.iter(f"{SVG}circle")}
    names = dict(zip(sorted(stations), CHAPTERS, strict=True))
    group = next(g for g in picture.iter(f"{SVG}g") if g.get("class") == "map-lines")
    lines = {tuple(names[y] for y in ends(path)) for path in group}
    direct = parts.reduced(parts.graph(BOOK))
    others = {(o, n) for n, found in direct.items() for o in found if o != parts.BACKGROUND}
    # without the background, which has a sign of its own, nothing else is a detour
    assert lines == others


def test_no_line_crosses_words():
    picture = drawn()
    lines = "".join(path.get("d", "") for path in picture.iter(f"{SVG}path"))
    right = [float(x) for x in re.findall(r"[MH]([\d.]+)", lines)]
    assert min(right) > 0
    assert max(right) == pages.STATIONS
    left = [
        float(text.get("x", 0)) - (18 if text.get("class") == "map-number" else 0)
        for text in [*picture.iter(f"{SVG}text"), *picture.iter(f"{SVG}tspan")]
        if text.get("x")
    ]
    assert min(left) > pages.STATIONS + 6


def test_lines_that_run_side_by_side_have_lanes_of_their_own():
    spans = {"a": (0.0, 9.0), "b": (1.0, 3.0), "c": (3.0, 6.0), "d": (4.0, 5.0), "e": (7.0, 8.0)}
    found = pages.lanes(spans)
    for one in spans:
        for other in spans:
            if one < other and found[one] == found[other]:
                assert spans[one][1] < spans[other][0] or spans[other][1] < spans[one][0]
    assert max(found.values()) == 3


def test_rows_do_not_overlap_and_titles_fit():
    rows = [r for r in drawn().iter(f"{SVG}rect") if r.get("x")]
    for above, below in pairwise(rows):
        assert float(above.get("y", 0)) + float(above.get("height", 0)) <= float(below.get("y", 0))
    for text in drawn().iter(f"{SVG}tspan"):
        assert pages.WORDS + pages.width(text.text or "") <= pages.WIDTH
    assert all(float(row.get("height", 0)) >= 24 for row in rows)  # for a finger


def test_pointing_at_a_chapter_marks_all_that_it_builds_on():
    picture = drawn()
    style = next(picture.iter(f"{SVG}style")).text or ""
    edges = parts.graph(BOOK)
    names = dict(zip(CHAPTERS, picture.iter(f"{SVG}circle"), strict=True))
    for name in CHAPTERS:
        assert f".chapter-map:has(.to-{name}:is(:hover,:focus-visible)) .for-{name}" in style
        marked = {n for n, circle in names.items() if f"for-{name}" in (circle.get("class") or "").split()}
        assert marked - {parts.BACKGROUND} == ({name} | parts.ancestors(edges, name)) - {parts.BACKGROUND}


def test_a_sign_tells_who_uses_the_background():
    hollow = [c for c in drawn().iter(f"{SVG}circle") if "map-hollow" in (c.get("class") or "")]
    users = [c for c in CHAPTERS.values() if parts.BACKGROUND in (*c.builds_on, c.name)]
    assert len(hollow) == len(users)


def test_titles_are_text_and_nothing_else():
    strange = replace(CHAPTERS["risk"], title='<b>&"', builds_on=())
    text = pages.drawing(pages.bands(of(strange)), {strange.document: strange.title}, {strange.document: "x"})
    assert "<b>" not in text
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
        0, {"caption": "Fixtures", "chapters": [{"file": "parts/first", "title": "Overview"}]}
    )
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
    assert 'href="chapters/toy.html" aria-label="1 A toy chapter. Builds on: no other chapter"' in index_page
    assert '<a href="parts/first.html">' in index_page
    assert "The <em>caption</em> of the map." in index_page
    toy = (site / "chapters" / "toy.html").read_text(encoding="utf-8")
    assert '<span class="section-number">1. </span>A toy chapter' in toy

    chapter = book / "chapters" / "toy.ipynb"
    text = chapter.read_text(encoding="utf-8")
    status = (site / "appendix" / "status.html").stat().st_mtime_ns
    chapter.write_text(text.replace("What a small book can show.", "What has changed."), encoding="utf-8")
    assert "What has changed." in build()
    assert (site / "appendix" / "status.html").stat().st_mtime_ns == status  # only what it can reach

    chapter.write_text(text.replace('"builds-on": []', '"builds-on": ["toy"]'), encoding="utf-8")
    run = python(book, "tools.site", "build")
    assert run.returncode == 1
    assert "chapters build on each other in a circle: toy on toy" in run.stderr
