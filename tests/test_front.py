"""The first page of the book, as it is written: what comes first, and that nothing comes twice."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "index.md").read_text(encoding="utf-8")

DOORS = re.compile(r":::\{div\} doors\n(.*?)\n:::", re.DOTALL)
TARGET = re.compile(r"<([\w/]+)>`|\{doc\}`([\w/]+)`")


def complaints(page: str) -> list[str]:
    """What is wrong with a first page."""
    found = []
    lead = page.split(":::{div} lead\n")[1]
    if not lead.split("\n:::")[0].split("?")[0].startswith("Which "):
        found.append("it does not begin with the reader's question")
    doors = re.findall(r"^- \{doc\}`([\w ]+) <([\w/]+)>`$", DOORS.search(page)[1], re.MULTILINE)  # type: ignore[index]
    if len(doors) != 3:
        found.append(f"{len(doors)} doors")
    for title, target in doors:
        if not any((ROOT / f"{target}{suffix}").exists() for suffix in (".md", ".ipynb")):
            found.append(f"the door {title} leads nowhere: {target}")
    order = [page.find("{" + name) for name in ("div} doors", "break-it}", "chapter-map}", "about-book}")]
    if -1 in order or order != sorted(order):
        found.append("doors, a theorem to break, the chapters, the book itself: not in this order")
    if "lecture" in page[: order[-1]].replace("appendix/lecturers", ""):
        found.append("lectures before the last section")
    if "{tableofcontents}" in page:
        found.append("the chapters are listed twice")
    targets = [a or b for a, b in TARGET.findall(page)]
    found += [f"{target} is linked twice" for target in sorted({t for t in targets if targets.count(t) > 1})]
    return found


def test_the_reader_comes_first():
    assert complaints(PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("Which letter", "Five lectures ask which letter", "it does not begin with the reader's question"),
        ("<appendix/path>", "<appendix/nowhere>", "the door Learn it leads nowhere: appendix/nowhere"),
        ("- {doc}`Teach", "- {ref}`Teach", "2 doors"),
        ("<appendix/open>", "<appendix/path>", "appendix/path is linked twice"),
        ("## What else", "{tableofcontents}\n\n## What else", "the chapters are listed twice"),
        ("## What else", "## The five lectures", "lectures before the last section"),
        (
            "{about-book}",
            "{chapters}",
            "doors, a theorem to break, the chapters, the book itself: not in this order",
        ),
    ],
)
def test_what_would_be_wrong_is_found(old: str, new: str, complaint: str):
    assert PAGE.count(old) == 1
    assert complaint in complaints(PAGE.replace(old, new))
