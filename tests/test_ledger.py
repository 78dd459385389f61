"""The ledger finds every way in which a book can break its own rules, and names the place.

The books here are small ones, written into a temporary folder; each breaks one rule. At the end: the
inventory of the sources, and the real book.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import ledger

ROOT = Path(__file__).parent.parent

PROOF = ":::{prf:proof}\nBecause.\n:::\n"


def statement(kind: str, label: str, body: str = "Two is two.", more: str = "") -> str:
    return f":::{{prf:{kind}}} Title\n:label: {label}\n{more}\n{body}\n:::\n\n"


def text(source: str, **metadata: Any) -> nbformat.NotebookNode:
    return new_markdown_cell(source, metadata=metadata)


def witness(*labels: str) -> nbformat.NotebookNode:
    mutants = [["2", "3"], ["==", "!="]]
    return new_code_cell(
        "assert 1 + 1 == 2",
        metadata={"tags": ["witness"], "witnesses": list(labels), "mutants": mutants},
    )


def good_cells() -> list[nbformat.NotebookNode]:
    return [
        text("(sec-codes)=\n# Codes"),
        text("What a code is."),
        text(statement("definition", "def-codes-row")),
        text(statement("theorem", "thm-codes-bound") + PROOF),
        witness("thm-codes-bound"),
        text(statement("theorem", "thm-codes-old", "See {cite}`key1960`, Theorem 1.", ":class: cited\n")),
    ]


SOURCES: dict[str, Any] = {
    "lectures": {
        "K": {
            "author": "A",
            "institution": "I",
            "date": "2014",
            "title": "T",
            "follows": "F",
            "cite": "key1960",
            "items": {
                "K.1": {"slide": "Codes", "kind": "remark", "summary": "Codes.", "home": "sec-codes"},
                "K.2": {
                    "slide": "Codes",
                    "where": "below",
                    "kind": "statement",
                    "summary": "A bound.",
                    "home": "thm-codes-bound",
                    "also": ["def-codes-row"],
                },
                "K.5": {
                    "slide": "References",
                    "kind": "remark",
                    "summary": "A reference.",
                    "home": "appendix/bibliography",
                },
                "K.6": {
                    "slide": "Blank",
                    "kind": "remark",
                    "summary": "A blank page.",
                    "nothing": "It is blank.",
                },
            },
        }
    },
}
ERRATA: dict[str, Any] = {
    "errors": [
        {
            "id": "E-K.1",
            "class": "A",
            "items": ["K.2"],
            "where": "page 2",
            "says": "$1+1=3$",
            "right": "$1+1=2$",
            "why": "Count.",
            "witnesses": ["thm-codes-bound"],
            "corrected": "thm-codes-bound",
        },
        {
            "id": "E-K.2",
            "class": "C",
            "no-correction": "nobody repeats it",
            "slips": [{"where": "page 1", "says": "teh", "right": "the"}],
        },
    ],
    "right": [
        {
            "id": "R-1",
            "items": ["K.1"],
            "where": "page 1",
            "says": "$0.5$",
            "why": "A half.",
            "witnesses": ["thm-codes-bound"],
        }
    ],
}


def write_book(
    root: Path,
    cells: list[nbformat.NotebookNode] | None = None,
    sources: dict[str, Any] = SOURCES,
    errata: dict[str, Any] = ERRATA,
) -> ledger.Book:
    (root / "chapters").mkdir()
    (root / "appendix").mkdir()
    notebook = new_notebook(cells=good_cells() if cells is None else cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, root / "chapters" / "codes.ipynb")
    (root / "appendix" / "bibliography.md").write_text("# Bibliography\n\n```{bibliography}\n```\n")
    (root / "index.md").write_text("# Book\n")
    toc = {
        "format": "jb-book",
        "root": "index",
        "parts": [
            {"caption": "Part", "chapters": [{"file": "chapters/codes"}]},
            {"caption": "Back matter", "chapters": [{"file": "appendix/bibliography"}]},
        ],
    }
    for name, content in (("_toc.yml", toc), ("sources.yml", sources), ("errata.yml", errata)):
        (root / name).write_text(yaml.safe_dump(content, sort_keys=False))
    return ledger.read(root)


def problems(*args: Any, **kwargs: Any) -> list[str]:
    return [str(p) for p in ledger.check(write_book(*args, **kwargs))]


def changed(data: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    copy: dict[str, Any] = yaml.safe_load(yaml.safe_dump(data, sort_keys=False))
    change(copy)
    return copy


def items(data: dict[str, Any]) -> dict[str, Any]:
    inventory: dict[str, Any] = data["lectures"]["K"]["items"]
    return inventory


def test_a_clean_book_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


def without(index: int) -> list[nbformat.NotebookNode]:
    cells = good_cells()
    del cells[index]
    return cells


def with_cell(cell: nbformat.NotebookNode, index: int | None = None) -> list[nbformat.NotebookNode]:
    cells = good_cells()
    cells.insert(len(cells) if index is None else index, cell)
    return cells


def with_theorem(source: str) -> list[nbformat.NotebookNode]:
    cells = good_cells()
    cells[3].source = source
    return cells


# what is wrong -> the cells, and the one problem that is found: the cell's position and a piece of the text
BROKEN = {
    "no proof": (with_theorem(statement("theorem", "thm-codes-bound")), 4, "thm-codes-bound has no proof"),
    "cited with proof": (
        with_cell(text(PROOF)),
        6,
        "thm-codes-old is cited, so it can have no proof",
    ),
    "cited without citation": (
        with_cell(text(statement("theorem", "thm-codes-odd", "`{cite}`", ":class: cited\n"))),
        7,
        "thm-codes-odd is cited, but its text holds no {cite}",
    ),
    "witness of nothing": (
        with_cell(witness("thm-codes-none")),
        7,
        "witness of thm-codes-none, which is no statement",
    ),
    "label used twice": (
        with_cell(text(statement("definition", "def-codes-row"))),
        7,
        "label def-codes-row is used twice; first in chapters/codes.ipynb, cell 3",
    ),
    "no label": (
        with_cell(text(":::{prf:remark} Title\nWords.\n:::")),
        7,
        "remark 'Title' has no label; give it rem-codes-",
    ),
    "prefix of another kind": (
        with_cell(text(statement("remark", "thm-codes-note"))),
        7,
        "label thm-codes-note of a remark in codes; rem-codes-… is wanted",
    ),
    "name of another chapter": (
        with_cell(text(statement("remark", "rem-trees-note"))),
        7,
        "label rem-trees-note of a remark in codes; rem-codes-… is wanted",
    ),
    "kind that the book has not": (
        with_cell(text(statement("axiom", "axm-codes-note"))),
        7,
        "directive prf:axiom is not used in this book; allowed: definition, lemma",
    ),
    "proof of nothing": (with_cell(text(PROOF), 0), 1, "a proof with no statement before it"),
    "excuse for nothing": (
        with_cell(text("x", **{"no-proof": {"thm-codes-none": "long"}})),
        7,
        "'no-proof' names thm-codes-none, which is no statement",
    ),
    "excuse that is not needed": (
        with_cell(text("x", **{"no-witness": {"thm-codes-bound": "long"}})),
        7,
        "'no-witness' of thm-codes-bound, which has a witness",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_in_a_notebook_is_found_and_named(tmp_path: Path, name: str) -> None:
    cells, position, expected = BROKEN[name]
    result = problems(tmp_path, cells)
    assert len(result) == 1, result
    assert re.match(rf"chapters/codes\.ipynb, cell {position} \(", result[0])
    assert expected in result[0]


def test_a_theorem_without_witness_is_found_and_so_is_the_erratum_that_leans_on_it(tmp_path: Path) -> None:
    result = "\n".join(problems(tmp_path, without(4)))
    assert re.search(r"codes\.ipynb, cell 4 .*: thm-codes-bound has no witness", result)
    assert "errata.yml: E-K.1 points to thm-codes-bound, which has no witness" in result


def test_a_public_reason_stands_for_a_proof_or_a_witness(tmp_path: Path) -> None:
    lemma = statement("lemma", "lem-codes-hard")
    reasons = {"no-proof": {"lem-codes-hard": "open"}, "no-witness": {"lem-codes-hard": "infinite"}}
    book = write_book(tmp_path, with_cell(text(lemma, **reasons)))
    assert ledger.check(book) == []
    waiver = book.waiver("witness", "lem-codes-hard")
    assert waiver is not None
    assert waiver.reason == "infinite"


@pytest.mark.parametrize("item", ["K.2", "K.5", "K.6"])
@pytest.mark.parametrize("key", ["slide", "summary"])
def test_an_item_needs_its_place_and_summary(tmp_path: Path, item: str, key: str) -> None:
    sources = changed(SOURCES, lambda data: items(data)[item].pop(key))
    assert problems(tmp_path, sources=sources) == [f"sources.yml: {item} has no {key}"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"home": "thm-codes-none"}, "names thm-codes-none, which is no label of the book"),
        ({"also": ["sec-none"]}, "names sec-none, which is no label of the book"),
        ({"also": ["thm-codes-bound"]}, "has in 'also' a label twice, or more than 3"),
        ({"home": ""}, "needs either a home (the label that treats it) or 'nothing' (why not)"),
        ({"nothing": "It is blank."}, "needs either a home (the label that treats it) or 'nothing'"),
        ({"kind": "joke"}, "is a 'joke'; allowed: definition, statement, proof,"),
    ],
)
def test_an_item_has_one_home_that_exists(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    sources = changed(SOURCES, lambda data: items(data)["K.2"].update(change))
    (result,) = problems(tmp_path, sources=sources)
    assert result.startswith(f"sources.yml: K.2 {expected}")


LABELLED = """(sec-here)=
## Here

$$
x
$$ (eq-x)

(there)=
:::{admonition} A picture
:::

:::{exercise} Title
:label: ex-codes-hand
:::
"""


def test_what_an_item_can_be_treated_by(tmp_path: Path) -> None:
    figure = new_code_cell("1", metadata={"mystnb": {"figure": {"name": "fig-codes-x"}}})
    book = write_book(tmp_path, [*with_cell(text(LABELLED)), figure])
    shown = {name: label.link for name, label in book.labels.items()}
    expected = {
        "sec-here": "{ref}`sec-here`",
        "eq-x": "{eq}`eq-x`",
        "there": "{ref}`A picture <there>`",
        "ex-codes-hand": "{ref}`ex-codes-hand`",
        "fig-codes-x": "{numref}`fig-codes-x`",
        "thm-codes-bound": "{prf:ref}`thm-codes-bound`",
        "appendix/bibliography": "{doc}`/appendix/bibliography`",
    }
    assert expected.items() <= shown.items()


def error(data: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = data["errors"][0]
    return entry


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: error(d).update(witnesses=["thm-codes-none"]), "points to thm-codes-none, which is no"),
        (lambda d: error(d).update(witnesses=["def-codes-row"]), "points to def-codes-row, which has no wit"),
        (lambda d: error(d).pop("witnesses"), "names no witness, and has no slips"),
        (lambda d: error(d).update({"no-correction": "too long"}), "needs either 'corrected' (the label"),
        (
            lambda d: error(d).update(corrected="thm-codes-none"),
            "is corrected in thm-codes-none, which is no",
        ),
        (lambda d: error(d).update({"class": "D"}), "is of class 'D'; allowed: A, B, C, R"),
        (lambda d: error(d).update(items=["K.99"]), "names source K.99, which does not exist"),
    ],
)
def test_an_erratum_points_to_what_exists(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], expected: str
) -> None:
    (result,) = problems(tmp_path, errata=changed(ERRATA, change))
    assert result.startswith("errata.yml: ")
    assert "E-K.1" in result
    assert expected in result


def test_what_looks_wrong_and_is_right_needs_a_witness_too(tmp_path: Path) -> None:
    errata = changed(ERRATA, lambda d: d["right"][0].pop("witnesses"))
    assert problems(tmp_path, errata=errata) == ["errata.yml: R-1 names no witness, and has no slips"]


def test_an_erratum_is_corrected_somewhere_or_has_a_reason_why_not(tmp_path: Path) -> None:
    errata = changed(ERRATA, lambda d: d["errors"][1].pop("no-correction"))
    assert problems(tmp_path, errata=errata) == [
        "errata.yml: E-K.2 needs either 'corrected' (the label that does) or 'no-correction' (why)"
    ]


@pytest.mark.parametrize(("here", "there"), [("errors", "right"), ("right", "errors")])
def test_errors_and_what_is_right_do_not_mix(tmp_path: Path, here: str, there: str) -> None:
    errata = changed(ERRATA, lambda d: d[there].append(d[here].pop(0)))
    result = problems(tmp_path, errata=errata)
    assert any(f"stands under '{there}', where ids begin with" in problem for problem in result)


def test_a_listed_document_that_is_missing_is_found(tmp_path: Path) -> None:
    write_book(tmp_path)
    (tmp_path / "index.md").unlink()
    assert [str(p) for p in ledger.check(ledger.read(tmp_path))] == [
        "_toc.yml: lists index, which does not exist"
    ]


def test_a_notebook_that_is_not_in_the_toc_is_not_read(tmp_path: Path) -> None:
    write_book(tmp_path)
    draft = new_notebook(cells=[text(statement("theorem", "nonsense"))])
    nbformat.write(draft, tmp_path / "chapters" / "trees.ipynb")
    assert ledger.check(ledger.read(tmp_path)) == []


def test_the_command_prints_the_problems_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = write_book(tmp_path, without(4))
    monkeypatch.setattr(ledger, "read", lambda root: book)
    assert ledger.main(["check"]) == 1
    assert "thm-codes-bound has no witness" in capsys.readouterr().out


# --- what is a statement and what only looks like one ---------------------------------------------------


def labels(source: str) -> list[str]:
    """The labels of the prf directives that the reader sees in a piece of MyST."""
    return [value[2]["label"] for kind, value in ledger.outline(source) if kind == "directive" and value[2]]


def test_both_kinds_of_fence_are_read() -> None:
    colons = statement("theorem", "thm-codes-one")
    backticks = colons.replace(":::", "```").replace("one", "two")
    yaml_options = "```{prf:lemma}\n---\nlabel: lem-codes-three\nclass: cited\n---\nText.\n```\n"
    assert labels(colons + backticks + yaml_options) == ["thm-codes-one", "thm-codes-two", "lem-codes-three"]


def test_a_statement_inside_longer_fences_is_found() -> None:
    inner = statement("theorem", "thm-codes-inner")
    assert labels(f"::::{{dropdown}} Open\n\n{inner}::::\n") == ["thm-codes-inner"]
    mixed = f"::::::{{admonition}} A\n\n`````{{dropdown}} B\n\n{inner}\n`````\n::::::\n"
    assert labels(mixed) == ["thm-codes-inner"]


def test_a_fence_as_long_as_the_outer_one_closes_it_as_it_does_on_the_page() -> None:
    source = ":::{prf:theorem} A\n:label: a\n\n:::{prf:lemma} B\n:label: b\n\nText.\n:::\n\n" + PROOF
    seen = [value[0] for kind, value in ledger.outline(source) if kind == "directive"]
    assert seen == ["prf:theorem", "prf:lemma", "prf:proof"]


@pytest.mark.parametrize(
    "wrap",
    [
        "````\n{}````\n",
        "````markdown\n{}````\n",
        "````{{code-block}} markdown\n{}````\n",
        "~~~~\n{}~~~~\n",
        "<!--\n{}-->\n",
    ],
    ids=["fence", "language", "code-block", "tildes", "comment"],
)
def test_a_directive_that_is_only_shown_is_text(wrap: str) -> None:
    shown = statement("theorem", "thm-codes-shown").replace("\n\n", "\n")
    assert labels(wrap.format(shown)) == []


def test_an_indented_directive_is_code() -> None:
    assert labels("Text.\n\n    :::{prf:theorem}\n    :label: thm-codes-shown\n    :::\n") == []


def test_citations_leave_out_what_is_code() -> None:
    source = "By {cite:t}`one1960, two1961` and `{cite}` and\n\n````\n{cite}`three`\n````\n"
    assert ledger.citations(source) == ("one1960", "two1961")


def test_a_proof_belongs_to_the_nearest_statement_before_it(tmp_path: Path) -> None:
    cells = [text(statement("lemma", "lem-codes-a") + statement("lemma", "lem-codes-b")), text(PROOF)]
    book = write_book(tmp_path, cells)
    assert [p.of.label for p in book.proofs if p.of] == ["lem-codes-b"]


def test_what_a_chapter_has_is_counted(tmp_path: Path) -> None:
    write_book(tmp_path)
    assert ledger.counts(tmp_path / "chapters" / "codes.ipynb") == (3, 1, 2)


def test_literature_belongs_to_the_statement_that_it_follows(tmp_path: Path) -> None:
    later = [
        text(statement("lemma", "lem-codes-a")),
        text(PROOF),
        witness("lem-codes-a"),
        text("See {cite}`one1960`; the lecture is {cite}`key1960`."),
        text("## Another section\n\n{cite}`two1961` is about something else."),
        text(statement("definition", "def-codes-b", "Of {cite}`three1962`.") + "As in {cite}`three1962`.\n"),
        text(":::{exercise} Try\n:label: ex-codes-try\nAs {cite}`four1963`.\n:::\n\nAnd {cite}`five1964`."),
    ]
    found = write_book(tmp_path, with_cell(later[0]) + later[1:]).literature
    assert found["lem-codes-a"] == ["one1960"]
    assert found["def-codes-b"] == ["three1962"]
    assert set(found) == {"thm-codes-old", "lem-codes-a", "def-codes-b"}


# --- the pages ------------------------------------------------------------------------------------------


CONF = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
extensions = ["myst_nb", "sphinx_external_toc", "sphinx_proof", "sphinxcontrib.bibtex"]
extensions.append("tools.sphinx.ledger_pages")
external_toc_path = "_toc.yml"
external_toc_exclude_missing = True
myst_enable_extensions = ["colon_fence", "dollarmath"]
bibtex_bibfiles = ["references.bib"]
nb_execution_mode = "off"
html_theme = "basic"
numfig = True
"""
PAGE = """# Made from the ledger

```{ledger-filter}
```

```{theorem-ledger}
```

```{source-map}
```

```{lecture-list}
```

```{errata-filter}
```

## Errors

```{errata-errors}
```

## Slips

```{errata-slips}
```

```{errata-right}
```
"""
LECTURE = """# Lecture K

```{lecture-introduction} K
```

```{lecture-slides} K
```
"""


def build(root: Path) -> subprocess.CompletedProcess[str]:
    toc = yaml.safe_load((root / "_toc.yml").read_text())
    toc["parts"][1]["chapters"] += [{"file": "made"}, {"file": "appendix/lectures/k"}]
    (root / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False))
    (root / "made.md").write_text(PAGE)
    (root / "appendix" / "lectures").mkdir()
    (root / "appendix" / "lectures" / "k.md").write_text(LECTURE)
    (root / "conf.py").write_text(CONF)
    entry = "@book{key1960, author={Key, Ann}, title={Keys}, publisher={Lock}, year={1960}}"
    (root / "references.bib").write_text(
        entry + entry.replace("key1960", "lock1961").replace("Key, Ann", "Lock, Bo")
    )
    return sphinx(root)


def sphinx(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "-b", "html", str(root), str(root / "out")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.mark.ci
def test_the_pages_list_everything_and_link_to_it(tmp_path: Path) -> None:
    lemma = statement("lemma", "lem-codes-hard")
    more = text(lemma + PROOF + "\nBy {cite}`lock1961`.", **{"no-witness": {"lem-codes-hard": "infinite"}})
    write_book(tmp_path, with_cell(more))
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "made.html").read_text(encoding="utf-8")
    chapter = (tmp_path / "out" / "chapters" / "codes.html").read_text(encoding="utf-8")
    for anchor in ("thm-codes-bound", "proof-thm-codes-bound", "witness-thm-codes-bound", "sec-codes"):
        assert f'href="chapters/codes.html#{anchor}"' in page
        assert f'id="{anchor}"' in chapter
    for anchor in ("erratum-e-k-1", "erratum-e-k-2", "right-r-1", "source-k-2"):
        assert f'id="{anchor}"' in page
    shown = words(page)
    assert "witness (2 mutants)" in shown
    assert "cited: [ Key60 ]" in shown
    assert "has no witness: infinite" in shown
    assert "K.6 A blank page. (“Blank”) remark It is blank." in shown
    assert "K.2 A bound. (“Codes”, below) statement Theorem 1 ; also in Definition 1 E-K.1" in shown
    assert '<tr class="entry lecture--k place--codes place--all-part kind--statement erratum--yes' in page
    marks = "kind--lemma support--proved check--waived literature--named lecture--none erratum--no"
    assert f'<tr class="entry place--codes place--all-part {marks}' in page
    assert "check--few literature--none lecture--k erratum--yes" in page
    assert "support--cited check--none literature--none" in page
    assert "see [ Loc60 ]" in shown
    filters = json.loads(re.findall(r'class="facets">(.*?)</script>', page)[0])
    assert filters["place"] == {"Part": {"codes": "Codes"}}
    assert '<div class="erratum entry lecture--k class--a admonition"' in page
    assert "A, 2014; 4 items." in shown
    lecture = (tmp_path / "out" / "appendix" / "lectures" / "k.html").read_text(encoding="utf-8")
    walked = words(lecture)
    assert "“Codes” K.1 – K.2 Codes" in walked
    assert "4 items, here called K: 1 statement, 3 remarks." in walked
    assert "E-K.1 (class A), page 2 It says: \\(1+1=3\\) Right is: \\(1+1=2\\)" in walked
    assert "K.2 , statement (below): A bound. → Theorem 1 ; also in Definition 1 . E-K.1" in walked
    assert lecture.index("here called K") < lecture.index("<h2>")
    assert "page 1 (nobody repeats it) teh the" in shown
    assert "K: A, 2014" in shown
    assert "Corrected in Theorem 1" in shown


@pytest.mark.ci
def test_a_page_is_read_again_when_its_text_has_changed(tmp_path: Path) -> None:
    write_book(tmp_path)
    assert build(tmp_path).returncode == 0
    texts = tmp_path / "out" / ".doctrees" / "texts"
    before = {text.name: text.stat().st_mtime_ns for text in texts.iterdir()}
    page = tmp_path / "out" / "made.html"
    errata = tmp_path / "errata.yml"
    errata.write_text(errata.read_text().replace("teh", "hte"))
    done = sphinx(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "hte" in page.read_text(encoding="utf-8")
    after = {text.name: text.stat().st_mtime_ns for text in texts.iterdir()}
    rewritten = {name for name in after if before[name] != after[name]}
    assert rewritten == {"errata-slips.txt", "lecture-slides-K.txt"}


@pytest.mark.ci
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    write_book(tmp_path, errata=changed(ERRATA, lambda d: error(d).update(witnesses=["thm-codes-none"])))
    done = build(tmp_path)
    assert done.returncode != 0
    assert "made.md" in done.stderr
    assert "thm-codes-none" in done.stderr


# --- the inventory and the real book --------------------------------------------------------------------


def test_the_inventory_is_complete() -> None:
    lectures = yaml.safe_load((ROOT / "sources.yml").read_text(encoding="utf-8"))["lectures"]
    assert {name: len(lecture["items"]) for name, lecture in lectures.items()} == {
        "L7": 167,
        "M5": 35,
        "K": 52,
        "D10": 43,
        "U14": 99,
    }
    for name, lecture in lectures.items():
        assert all(item.startswith(f"{name}.") for item in lecture["items"])
    running = {"L7": 167, "M5": 35, "K": 52, "U14": 99}
    for name, last in running.items():
        assert list(lectures[name]["items"]) == [f"{name}.{i}" for i in range(1, last + 1)]
    steps = {9: "abc", 13: "abc"}
    notes = {f"D10.{i}{step}" for i in range(1, 32) for step in steps.get(i, [""])}
    others = {"D10.A", "D10.F2.1", "D10.F2.2", *(f"D10.R{i}" for i in range(1, 6))}
    assert set(lectures["D10"]["items"]) == notes | others


# Items of which a first map named another statement of the same cell: what treats each, looked up one by one.
HOMES = {
    "thm-dual-strong": "L7.109 L7.110",
    "alg-tree-greedy": "L7.142",
    "alg-pruning-sequence thm-pruning-step thm-pruning-sequence": "L7.164 L7.165 L7.166",
    "def-pruning-objective thm-pruning-smallest": "L7.158 L7.160",
    "prop-dual-convex": "L7.86 L7.87",
    "prop-dual-qp": "L7.106",
    "def-risk-zero-one": "L7.8 K.37",
    "def-hinge-map prop-hinge-block": "M5.12 M5.13 M5.14 M5.15 M5.16 K.38 D10.16 D10.17 D10.18",
    "prop-hinge-bound": "M5.17 M5.30 K.41 D10.24",
    "prop-hinge-zero": "M5.19 M5.20 M5.31 L7.69",
    "prop-hinge-order def-hinge-weston-watkins": "M5.32 M5.33",
    "prop-hinge-lipschitz": "D10.23",
    "prop-hinge-machine": "D10.28",
    "prop-subgradient-max exm-kernel-step exm-kernel-pass exm-kernel-bias": "U14.32 U14.33 U14.34",
    "def-kernel-dual thm-kernel-dual": "U14.56 U14.57",
    "prop-kernel-combination": "U14.51",
    "prop-reduction-pairs": "U14.86",
    "alg-ecoc-train": "K.9",
    "alg-perceptron-multiclass": "K.30",
}


@pytest.mark.parametrize("labels", HOMES)
def test_an_item_leads_to_what_treats_it(labels: str) -> None:
    lectures = yaml.safe_load((ROOT / "sources.yml").read_text(encoding="utf-8"))["lectures"]
    homes = {
        item: entry.get("home") for lecture in lectures.values() for item, entry in lecture["items"].items()
    }
    assert {item: homes[item] for item in HOMES[labels].split() if homes[item] not in labels.split()} == {}


def test_no_id_stands_twice() -> None:
    """A YAML reader keeps the last of two equal keys without a word."""
    for name, pattern in (("sources.yml", r"^ {6}(\S+):"), ("errata.yml", r"^ {2}- id: (\S+)")):
        ids = re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert len(ids) == len(set(ids)), name


def test_every_reference_is_complete() -> None:
    """Author, title, year, and where to find it; the lectures themselves have no permanent address."""
    entries = re.split(r"^@", (ROOT / "references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    lectures = yaml.safe_load((ROOT / "sources.yml").read_text(encoding="utf-8"))["lectures"].values()
    keys = {entry.split("{", 1)[1].split(",", 1)[0]: entry for entry in entries}
    assert len(keys) == len(entries)
    assert {lecture["cite"] for lecture in lectures} <= set(keys)
    for key in set(keys) - {lecture["cite"] for lecture in lectures}:
        fields = set(re.findall(r"^ +(\w+) += ", keys[key], re.MULTILINE))
        assert {"author", "title"} <= fields, key
        assert fields & {"doi", "url"}, key
        assert "year" in fields or "undated" in keys[key], key


def test_the_book_keeps_its_rules() -> None:
    assert [str(p) for p in ledger.check(ledger.read(ROOT))] == []
