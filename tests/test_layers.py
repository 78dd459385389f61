"""Folds, layers and units on a built page."""

import re
from pathlib import Path

import pytest
from mini_book import copy_to, python
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools import notebooks
from tools.sphinx.folds import is_preparation

pytestmark = pytest.mark.ci

CAST = """(sec-toy-more)=
## More sums

:::{prf:lemma} Another sum
:label: lem-toy-other

Two and two make four.
:::

:::{prf:lemma} A third sum
:label: lem-toy-third

Two and three make five.
:::

:::{prf:proof}
*Sketch.* Count on your fingers.

One hand is enough.
:::

:::{dropdown} In the five lectures
A lecture counts otherwise.
:::

Text after the unit.

:::{dropdown} What zero does
Nothing.
:::
"""

WITNESS = """def check():
    assert 2 + 2 == 4, f"lem-toy-other: 2 and 2 make {2 + 2}, which is not claimed"
    assert 2 + 3 == 5, f"lem-toy-third: 2 and 3 make {2 + 3}, which is not claimed"
    print("holds for 2 sums")


check()"""

MUTANTS = [
    ["2 + 2 == 4", "2 + 2 == 5", "claim that two and two make five", "lem-toy-other"],
    ["2 + 3 == 5", "2 + 3 < 5", "claim < instead of =", "lem-toy-third"],
    ["2 + 3 == 5", "2 + 3 == 6"],
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    book = copy_to(tmp_path_factory.mktemp("book"), "toy")
    path = book / "chapters" / "toy.ipynb"
    nb = notebooks.read(path)
    section = new_markdown_cell(CAST, id="more", metadata={"layer": "detail", "gist": "Two *further* sums."})
    metadata = {
        "tags": ["witness", "hide-input"],
        "witnesses": ["lem-toy-other", "lem-toy-third"],
        "mutants": MUTANTS,
    }
    nb.cells += [section, new_code_cell(WITNESS, id="check", metadata=metadata)]
    path.write_text(notebooks.text(nb), encoding="utf-8")
    index = book / "index.md"
    told = "\n\n:::{break-it} lem-toy-third\nTwo and three make five.\n:::\n"
    told += "\nToy takes {story-minutes}`toy`, its sums {story-minutes}`sec-toy-sums, sec-toy-more`.\n"
    index.write_text(index.read_text(encoding="utf-8") + told, encoding="utf-8")
    run = python(book, "tools.notebooks", "write")
    assert run.returncode == 0, run.stderr
    run = python(book, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    html = book / "_build" / "html"
    return (
        (html / "chapters" / "toy.html").read_text(encoding="utf-8")
        + "\f"
        + Path(html / "index.html").read_text(encoding="utf-8")
    )


def flat(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_a_marked_section_is_folded_below_its_heading(page: str):
    section = page[page.index('<section class="layer-detail" id="more-sums">') :]
    heading, _, rest = section.partition('<details class="fold section detail">')
    assert "More sums" in heading
    assert "Text after" not in heading
    summary = rest[: rest.index("</summary>")]
    assert flat(summary).split() == ["○", "Detail:", "Two", "further", "sums."]
    assert '>More sums <span class="layer-sign" title="Detail">○</span></a>' in page  # in the page's contents


def test_a_unit_has_its_proof_its_check_and_its_lecture_in_one_row(page: str):
    unit = page[page.index('id="lem-toy-third"') : page.index("Text after the unit.")]
    assert '<p class="sketch"><em>Sketch.</em>' in unit
    row = unit[unit.index('<div class="strip">') :]
    names = re.findall(r"<summary>([^<]*)</summary>", row)
    assert names == ["Proof", "✓ checked · break it", "claim &lt; instead of =", "In the five lectures"]
    assert "One hand is enough." in row
    assert "Count on" not in row
    assert 'href="#witness-lem-toy-other"' in row  # the code of the check stands with the first statement


def test_what_was_found_is_told_in_numbers(page: str):
    unit = page[page.index('id="lem-toy-other"') : page.index('id="lem-toy-third"')]
    assert "holds for 2 sums" in unit
    assert "assert <del>2 + 2 == 4</del>, f" in unit
    assert "assert <ins>2 + 2 == 5</ins>, f" in unit
    assert '<p class="counter">2 and 2 make 4, which is not claimed.</p>' in unit
    assert "2 + 3 == 6" not in unit
    assert unit.count("Code of the check") == 1
    # in both units, in the check's own code, and on the first page: not where the cell stood
    assert page.count("holds for 2 sums") == 4


def test_another_page_breaks_it_too(page: str):
    index = page[page.index("\f") :]
    assert "Two and three make five." in index
    assert "2 and 3 make 5, which is not claimed." in index


def test_a_page_says_how_long_chapters_and_sections_take(page: str):
    assert "Toy takes 5 minutes, its sums 5 minutes." in flat(page)


def test_other_dropdowns_are_asides_but_those_of_quizzes(page: str):
    assert '<details class="fold aside"><summary>What zero does</summary>' in page.replace("\n", "")
    quiz = page[page.index('class="quiz') :]
    assert "sd-dropdown" in quiz


def test_imports_and_code_have_their_names(page: str):
    assert "Toggle hidden" not in page
    assert "Show code" not in page


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("import numpy as np\nfrom math import inf", True),
        ("import numpy as np\n\nplot.use_style()", True),
        ("from decimal import getcontext\ngetcontext().prec = 50", True),
        ("import numpy as np\nx = 1", False),
        ("plot.use_style()", False),
        ("%matplotlib inline", False),
        ("", False),
    ],
)
def test_preparations_are_told_from_other_code(source: str, is_one: bool):
    assert is_preparation(source) == is_one
