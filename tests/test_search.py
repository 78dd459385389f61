"""The search while typing: what is found first, and that every other word for something leads to it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from docutils import nodes
from py_mini_racer import MiniRacer

from tools import ledger, parts
from tools.sphinx import search
from tools.sphinx.search import Entry

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = (ROOT / "web" / "static" / "search.js").read_text(encoding="utf-8")

# what readers type, and the chapter that they mean
QUERIES = {
    "one-vs-rest": "reduction",
    "one vs all": "reduction",
    "OvR": "reduction",
    "ECOC": "ecoc",
    "SVM": "binary",
    "which classifier should I use": "comparison",
    "Which classifier should I use?": "comparison",
    "CART": "tree",
    "cost-complexity": "pruning",
    "multinomial logistic": "softmax",
    "MSVM": "hinge",
    "Crammer Singer": "hinge",
    "how to choose C": "hinge",  # its section on the price C
}


class Search:
    """The script with an index."""

    def __init__(self, index: str, script: str = SCRIPT):
        self.context = MiniRacer()
        self.context.eval(script)
        self.context.eval(f"{index}; const names = mcSearch.prepare(mcSearchIndex)")

    def groups(self, query: str) -> list[tuple[str, list[str]]]:
        """Of each group its name and the addresses in it."""
        found = self.json(f"mcSearch.rank(names, {json.dumps(query)})")
        return [(group["name"], [hit["address"] for hit in group["hits"]]) for group in found]

    def first(self, query: str) -> str:
        groups = self.groups(query)
        return groups[0][1][0] if groups else ""

    def words(self, text: str) -> list[str]:
        return list(self.json(f"mcSearch.words({json.dumps(text)})"))

    def json(self, expression: str) -> Any:
        return json.loads(str(self.context.eval(f"JSON.stringify({expression})")))


def script_of(entries: list[Entry], also: search.Also | None = None) -> str:
    return search.script(entries, {e.document: f"{e.document}.html" for e in entries}, also or {})


# -- a small book -------------------------------------------------------------------------------

SMALL = [
    Entry("page", "chapters/ova", "", "One class against all", "1"),
    Entry("section", "chapters/ova", "exercises", "Exercises"),
    Entry("statement", "chapters/ova", "thm-ova-ties", "Ties have measure zero", "Theorem 1.1"),
    Entry("statement", "chapters/ova", "thm-ova-late", "Late", "Theorem 1.10"),
    Entry("page", "chapters/tree", "", "Trees: nearest leaves", "2"),
    Entry("section", "chapters/tree", "exercises", "Exercises"),
    Entry("figure", "chapters/tree", "fig-tree-tie", "A tie", "Figure 2.1"),
    Entry("page", "appendix/glossary", "", "Glossary"),
    Entry("term", "appendix/glossary", "term-tie", "tie", "Two classes with the largest score."),
    Entry("page", "appendix/api", "", "The package"),
    Entry("name", "appendix/api", "mcutils.ova.OneVsAll", "OneVsAll", "class of mcutils.ova"),
    Entry("name", "appendix/api", "mcutils.ova.OneVsAll.fit", "OneVsAll.fit", "method of mcutils.ova"),
]
ALSO = {("chapters/ova", ""): ["one-vs-rest", "which rule should I use"], ("chapters/tree", ""): ["CART"]}


@pytest.fixture(scope="module")
def small() -> Search:
    return Search(script_of(SMALL, ALSO))


def test_case_hyphens_accents_and_plurals_count_for_nothing(small: Search) -> None:
    assert small.words("Cost-Complexity of Trees’ leaves: Poincaré's classes, 9.1, bias.") == (
        ["cost", "complexity", "of", "tree", "leave", "poincare", "class", "9.1", "bias"]
    )
    assert small.first("ONE vs. Rest") == small.first("one‑vs‑rest") == "chapters/ova.html"
    assert small.first("onevsrest") == small.first("one-vs-rest")
    assert small.first("carts") == small.first("Cart") == "chapters/tree.html"


def test_words_begin_with_what_was_typed_and_do_not_merely_have_it_within(small: Search) -> None:
    assert small.first("near") == "chapters/tree.html"
    assert small.groups("rest") == small.groups("one-vs-rest")[:1]  # and not "nearest"


def test_a_title_comes_before_a_word_of_a_title_and_all_words_before_some(small: Search) -> None:
    assert small.first("tie") == "appendix/glossary.html#term-tie"
    assert small.first("ties zero") == "chapters/ova.html#thm-ova-ties"
    assert small.first("one against everything") == "chapters/ova.html"
    assert small.groups("one conspicuous elephant") == []
    assert small.first("exercises tree") == "chapters/tree.html#exercises"
    assert small.first("exercises") == "chapters/ova.html#exercises"


def test_a_topic_leads_to_its_chapter(small: Search) -> None:
    assert small.first("ova") == "chapters/ova.html"
    assert small.first("chapter 2") == "chapters/tree.html"


def test_numbers(small: Search) -> None:
    assert small.first("theorem 1.1") == "chapters/ova.html#thm-ova-ties"
    assert "1.10" not in str(small.groups("1.1"))
    assert small.groups("1.1") == [("Statements", ["chapters/ova.html#thm-ova-ties"])]
    assert len(small.groups("theorem 1")[0][1]) == 2  # 1.1 and 1.10 begin so
    assert small.first("figure 2.1") == "chapters/tree.html#fig-tree-tie"


def test_names_of_the_package_are_found_by_their_parts(small: Search) -> None:
    assert small.first("OneVsAll") == small.first("one vs all")
    assert small.first("onevsall") == "appendix/api.html#mcutils.ova.OneVsAll"
    assert small.first("onevsall.fit") == "appendix/api.html#mcutils.ova.OneVsAll.fit"


def test_empty_words_say_nothing_unless_they_are_all(small: Search) -> None:
    assert small.first("which of the rules should I use") == "chapters/ova.html"
    assert small.first("which rule should i") == "chapters/ova.html"
    assert small.groups("xyz") == small.groups("") == small.groups("?!") == []
    assert small.first("which") == "chapters/ova.html"


def test_at_most_ten_places_and_four_of_a_group() -> None:
    many = [Entry("page", "chapters/many", "", "Many", "1")]
    for kind in ("section", "statement", "figure", "term", "name"):
        many += [Entry(kind, "chapters/many", f"{kind}-{n}", f"alike {n}", "x") for n in range(6)]
    groups = Search(script_of(many)).groups("alike")
    assert sum(len(places) for _, places in groups) == 10
    assert max(len(places) for _, places in groups) == 4


def test_the_script_keeps_what_could_break_it() -> None:
    title = 'A "quoted" title\\ with </script> and ∑'
    index = script_of([Entry("page", "a", "", title, "1"), Entry("section", "b", "c", "d")])
    found = MiniRacer()
    found.eval(index)
    assert found.eval("mcSearchIndex.entries[0][3]") == title
    assert found.eval("mcSearchIndex.pages.join()") == "a.html,b.html"


def test_a_figure_says_its_first_sentence() -> None:
    assert search.opening("Two curves (see 3.1), e.g. one. The other.") == ("Two curves (see 3.1), e.g. one.")
    long = search.opening("word " * 99)
    assert len(long) <= 160
    assert long.endswith(" word…")


def test_a_meaning_has_no_label_in_it() -> None:
    def meaning(*children: nodes.Node) -> str:
        return search.meaning(nodes.definition("", nodes.paragraph("", "", *children)))

    label = nodes.inline("", "thm-one")
    label.tagname, label["reftarget"] = "pending_xref", "thm-one"
    assert meaning(nodes.Text("A rule. See "), label, nodes.Text(".")) == "A rule."
    assert meaning(nodes.Text("What "), label, nodes.Text(" says.")) == ""
    assert meaning(nodes.Text("See there.")) == ""
    assert search.meaning(nodes.definition()) == ""


# -- this book, as its sources have it; tests/browser/test_search.py asks the whole index --------


@pytest.fixture(scope="module")
def book() -> ledger.Book:
    return ledger.read(ROOT)


@pytest.fixture(scope="module")
def places(book: ledger.Book) -> dict[str, tuple[str, str]]:
    """The documents and labels of the book: document and anchor."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = {document: (document, "") for document in ledger.documents(toc)}
    found |= {label.name: (label.document, label.name) for label in book.labels.values()}
    return found | {s.label: (s.place.document, s.label) for s in book.statements}


def terms() -> list[str]:
    text = (ROOT / "appendix" / "glossary.md").read_text(encoding="utf-8")
    return re.findall(r"^(\S.*)\n  \S", text, re.MULTILINE)


@pytest.fixture(scope="module")
def index(book: ledger.Book, places: dict[str, tuple[str, str]]) -> str:
    chapters = [chapter for part in parts.read(ROOT) for chapter in part.chapters]
    entries = [Entry("page", c.document, "", c.title, str(c.number or "B")) for c in chapters]
    others = {document for document, _ in places.values()} - {chapter.document for chapter in chapters}
    entries += [Entry("page", document, "", document) for document in sorted(others)]
    entries += [Entry("statement", s.place.document, s.label, s.title, s.kind) for s in book.statements]
    entries += [Entry("term", "appendix/glossary", f"term-{term}", term) for term in terms()]
    also = {places[name]: words for name, words in search.synonyms().items()}
    known = {(entry.document, entry.anchor) for entry in entries}
    entries += [Entry("section", document, anchor, anchor) for document, anchor in also.keys() - known]
    return script_of(entries, also)


def test_every_other_word_is_for_something_that_exists(places: dict[str, tuple[str, str]]) -> None:
    assert sorted(search.synonyms().keys() - places.keys()) == []


def test_every_other_word_leads_to_its_place_first(index: str, places: dict[str, tuple[str, str]]) -> None:
    names = Search(index)
    for name, words in search.synonyms().items():
        document, anchor = places[name]
        for word in words:
            assert names.first(word) == f"{document}.html" + (anchor and f"#{anchor}"), word


def test_no_other_word_is_for_two_things() -> None:
    words = [word.lower() for words in search.synonyms().values() for word in words]
    assert sorted(word for word in set(words) if words.count(word) > 1) == []


@pytest.mark.parametrize(("query", "chapter"), QUERIES.items())
def test_what_readers_type(index: str, query: str, chapter: str) -> None:
    assert Search(index).first(query).split("#")[0] == f"chapters/{chapter}.html"


@pytest.mark.ci
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[phrase(title, 1), ...also", "[phrase(title, 1), ...[]"),  # no other words
        ('.normalize("NFKD").replace(/\\p{M}/gu, "")', ""),
        ("word.startsWith(asked)", "word.includes(asked)"),
        ("const whole = phrase.squeezed === squeezed", "const whole = false"),
        ("members.length === MOST_OF_A_GROUP", "false"),
        ("shown === MOST", "false"),
        ("missing > 0.5", "missing > 0"),
        ("word.startsWith(`${asked}.`)", "word.startsWith(asked)"),
    ],
)
def test_planted_faults_are_found(old: str, new: str) -> None:
    """Each changes what one of the tests above sees."""
    assert SCRIPT.count(old) == 1
    right, wrong = (Search(script_of(SMALL, ALSO), text) for text in (SCRIPT, SCRIPT.replace(old, new)))
    kinds = ("page", "section", "statement", "figure", "term", "name")
    many = script_of([Entry(kind, "a", f"{kind}-{n}", f"alike {n}") for n in range(6) for kind in kinds])
    crowd = [Search(many, text).groups("alike") for text in (SCRIPT, SCRIPT.replace(old, new))]
    asked = (
        "CART",
        "rest",
        "poincaré",
        "tie",
        "one against everything",
        "onevsrest",
        "theorem 1.1",
        "1.1",
        "1",
        "ONE-vs-rest",
    )
    same = all(right.groups(q) == wrong.groups(q) and right.words(q) == wrong.words(q) for q in asked)
    assert not same or crowd[0] != crowd[1]
