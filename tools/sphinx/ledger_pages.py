"""Sphinx extension: the pages that are made from the ledger, the errata and the benchmarks.

Directives, each without content: ``theorem-ledger``, ``source-map``, ``lecture-list``, ``lecture-plan``,
``errata-list`` (with the argument errors, slips or right) and ``benchmark-table``. They write MyST and let
the page's own parser read it, so every reference in them is checked by the build like any other.

It also puts anchors where the notebooks have none: ``proof-LABEL`` before the proof of a statement and
``witness-LABEL`` before the cell that witnesses it (a second one gets ``-2``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import proof_node

from tools import ledger
from tools.ledger import Book, Statement

RESULTS = Path("results/benchmarks.json")


def read_ledger(app: Sphinx) -> None:
    """Once a build, before the pages are read."""
    app.ledger_book = ledger.read(Path(app.srcdir))  # type: ignore[attr-defined]


def erratum(identifier: str) -> str:
    """A link to the entry of an erratum (E-…) or of a claim that only looks wrong (R-…)."""
    return f"{{ref}}`{identifier} <{erratum_anchor(identifier)}>`"


def erratum_anchor(identifier: str) -> str:
    kind = "erratum" if identifier.startswith("E-") else "right"
    return f"{kind}-{identifier.lower().replace('.', '-')}"


def lecture_anchor(name: str) -> str:
    return f"sources-{name.lower()}"


def source_anchor(item: str) -> str:
    return f"source-{item.lower().replace('.', '-')}"


def source(item: str) -> str:
    return f"{{ref}}`{item} <{source_anchor(item)}>`"


def table(head: tuple[str, ...], widths: tuple[int, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A list-table, whose cells may wrap: on a phone a column is about fifteen letters wide."""
    yield ":::::{list-table}"
    yield ":header-rows: 1"
    yield f":widths: {' '.join(map(str, widths))}"
    yield ":class: ledger-table"
    yield ""
    for row in (head, *rows):
        for column, cell in enumerate(row):
            bullet = "* - " if column == 0 else "  - "
            lines = cell.strip().split("\n")
            yield bullet + lines[0]
            yield from (f"    {line}".rstrip() for line in lines[1:])
    yield ":::::"
    yield ""


class GeneratedPage(SphinxDirective):
    """A directive whose content is MyST that Python writes."""

    def lines(self) -> Iterator[str]:
        raise NotImplementedError

    @property
    def book(self) -> Book:
        return self.env.app.ledger_book  # type: ignore[attr-defined]

    def link(self, treatment: ledger.Treatment) -> str:
        if not treatment.target:
            return f"{{doc}}`/{treatment.place.document}`"
        role = "prf:ref" if treatment.target_is_statement else "ref"
        return f"{{{role}}}`{treatment.target}`"

    def run(self) -> list[nodes.Node]:
        for file in self.book.files:
            self.env.note_dependency(str(file))
        holder = nodes.container()
        content = StringList(list(self.lines()), source=self.env.doc2path(self.env.docname))
        self.state.nested_parse(content, 0, holder, match_titles=True)
        return holder.children


class TheoremLedger(GeneratedPage):
    """Statement, how it is supported, where it comes from; by chapter, the exceptions in public."""

    def lines(self) -> Iterator[str]:
        by_document = groupby(self.book.statements, key=lambda s: s.place.document)
        for document, statements in by_document:
            rows = [self.row(s) for s in statements if s.label]
            yield f"## [{self.title(document)}](/{document}.ipynb)"
            yield ""
            yield from table(("Statement", "Support", "From"), (38, 34, 28), rows)
        yield "## Exceptions"
        yield ""
        if not self.book.waivers:
            yield "None: every statement that is not cited has its proof and its witness."
        for w in self.book.waivers:
            yield f"- {{prf:ref}}`{w.label}` has no {w.what}: {w.reason}"
        yield ""

    def title(self, document: str) -> str:
        """The heading of a chapter; of a bare reference the page's contents would show the file's name."""
        notebook = json.loads((Path(self.env.srcdir) / f"{document}.ipynb").read_text(encoding="utf-8"))
        text = "\n".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")
        heading = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
        if heading is None:
            raise ValueError(f"{document}.ipynb has no heading of the first level")
        return heading[1]

    def row(self, s: Statement) -> tuple[str, str, str]:
        witnesses = self.book.witnesses_of(s.label)
        support = []
        if s.cited:
            support.append(f"cited: {{cite}}`{','.join(s.citations)}`")
        if self.book.proofs_of(s):
            support.append(f"{{ref}}`proved <proof-{s.label}>`")
        for number, witness in enumerate(witnesses, 1):
            name = "witness" if number == 1 else f"witness {number}"
            link = f"{{ref}}`{name} <{witness_anchor(s.label, number)}>`"
            support.append(f"{link} ({witness.mutants} mutants)")
        for what in ("proof", "witness"):
            if self.book.waiver(what, s.label):
                support.append(f"no {what} (see below)")
        places = {s.place, *(w.place for w in witnesses)}
        items = {i for t in self.book.treatments if t.place in places for i in t.items}
        errata = {e for c in self.book.corrections if c.place in places for e in c.items}
        errata |= {
            e
            for e, entry in [*self.book.errata.items(), *self.book.right.items()]
            if s.label in entry.get("witnesses", ())
        }
        origin = [source(i) for i in self.book.items if i in items]
        origin += [erratum(e) for e in [*self.book.errata, *self.book.right] if e in errata]
        title = f"{{prf:ref}}`{s.label}`" + (f": {s.title}" if s.title else "")
        return title, ", ".join(support) or "—", ", ".join(origin) or "—"


class SourceMap(GeneratedPage):
    """Each lecture, item by item, and where the book treats it."""

    def lines(self) -> Iterator[str]:
        where: dict[str, list[str]] = {}
        for treatment in self.book.treatments:
            link = self.link(treatment)
            for item in treatment.items:
                if link not in where.setdefault(item, []):
                    where[item].append(link)
        for name, lecture in self.book.lectures.items():
            yield f"({lecture_anchor(name)})="
            yield f"## {name}: {lecture['title']}"
            yield ""
            yield (
                f"{lecture['author']}; {lecture['institution']}; {lecture['date']} "
                f"{{cite}}`{lecture['cite']}`. Follows {lecture['follows']}."
            )
            yield ""
            rows = [
                (
                    f"({source_anchor(item)})=\n{item}",
                    f"{entry['summary']} *({entry['where']})*",
                    ", ".join(where.get(item, ["nothing to treat"])),
                )
                for item, entry in lecture["items"].items()
            ]
            yield from table(("Item", "What it is", "Where"), (16, 50, 34), rows)


class LectureList(GeneratedPage):
    """The lectures, with a link to each one's part of the source map."""

    def lines(self) -> Iterator[str]:
        for name, lecture in self.book.lectures.items():
            yield (
                f"- {{ref}}`{lecture['title']} <{lecture_anchor(name)}>`: {lecture['author']}, "
                f"{lecture['date']}; {len(lecture['items'])} items."
            )


class LecturePlan(GeneratedPage):
    """Each lecture, chapter by chapter: the items that a chapter owns, and what else it treats."""

    def lines(self) -> Iterator[str]:
        treated: dict[str, set[str]] = {}
        for treatment in self.book.treatments:
            name = treatment.place.document.split("/")[-1]
            treated.setdefault(name, set()).update(treatment.items)
        for name, lecture in self.book.lectures.items():
            rows = []
            for chapter in self.book.chapters:
                own = [item for item, entry in lecture["items"].items() if entry["owner"] == chapter]
                also = [item for item in lecture["items"] if item in treated.get(chapter, set()) - set(own)]
                parts = [self.runs(own, lecture)] if own else []
                parts += [f"*also* {self.runs(also, lecture)}"] if also else []
                if parts:
                    rows.append((f"{{doc}}`/chapters/{chapter}`", "; ".join(parts)))
            yield f"### {name}: {lecture['author']}, {lecture['date']}"
            yield ""
            yield from table(("Chapter", "Items"), (50, 50), rows)

    @staticmethod
    def runs(chosen: list[str], lecture: dict[str, Any]) -> str:
        """The items, neighbours of the lecture joined: K.3 – K.5, K.9."""
        found = []
        for is_chosen, run in groupby(lecture["items"], key=set(chosen).__contains__):
            first, *rest = run
            if is_chosen:
                found.append(f"{first} – {rest[-1]}" if rest else first)
        return ", ".join(found)


class ErrataList(GeneratedPage):
    """The entries of errata.yml: errors in full, slips as a table, and what looks wrong and is right.

    Errors and slips stand in the order of the lectures, in each by number; the file has them as they came.
    """

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        part = directives.choice(self.arguments[0], ("errors", "slips", "right"))
        if part == "right":
            for entry in sorted(self.book.right.values(), key=self.number):
                yield from self.entry(entry, (("It says", "says"), ("Why it is right", "why")))
        elif part == "slips":
            yield from self.slips()
        else:
            parts = (("It says", "says"), ("Right is", "right"), ("Why", "why"))
            for name, lecture in self.book.lectures.items():
                yield f"### {name}: {lecture['author']}, {lecture['date']}"
                yield ""
                for entry in self.of(name):
                    if "slips" not in entry:
                        yield from self.entry(entry, parts)

    def of(self, lecture: str) -> list[dict[str, Any]]:
        """The entries of a lecture, by number."""
        entries = self.book.errata.values()
        return sorted((e for e in entries if e["id"].startswith(f"E-{lecture}.")), key=self.number)

    @staticmethod
    def number(entry: dict[str, Any]) -> int:
        return int(re.split(r"[-.]", entry["id"])[-1])

    def entry(self, entry: dict[str, Any], parts: tuple[tuple[str, str], ...]) -> Iterator[str]:
        yield f"({erratum_anchor(entry['id'])})="
        kind = f" (class {entry['class']})" if "class" in entry else ""
        yield f":::::{{admonition}} {entry['id']}{kind}: {entry['where']}"
        yield ":class: erratum"
        yield ""
        for head, key in parts:
            yield from f"**{head}:** {entry[key]}".splitlines()
            yield ""
        links = [
            f"{{ref}}`witness <{witness_anchor(label, 1)}>` of {{prf:ref}}`{label}`"
            for label in entry["witnesses"]
        ]
        items = ", ".join(source(item) for item in entry["items"])
        shown = f"**Shown by** the {' and the '.join(links)}. **Concerns** {items}."
        corrected = self.corrected(entry)
        yield f"{shown} **Corrected in** {corrected}." if corrected else shown
        yield ":::::"
        yield ""

    def corrected(self, entry: dict[str, Any]) -> str:
        """Links to the places of the book that correct it."""
        links = [self.link(c) for c in self.book.corrections if entry["id"] in c.items]
        return ", ".join(dict.fromkeys(links))

    def slips(self) -> Iterator[str]:
        rows: list[tuple[str, ...]] = []
        for entry in (e for lecture in self.book.lectures for e in self.of(lecture)):
            for number, slip in enumerate(entry.get("slips", ())):
                where = slip["where"]
                if number == 0:
                    place = self.corrected(entry) or entry["no-correction"]
                    where = f"({erratum_anchor(entry['id'])})=\n**{entry['id']}** {where} ({place})"
                rows.append((where, slip["says"], slip["right"]))
        yield from table(("Where (corrected in)", "Printed", "Read"), (36, 32, 32), rows)


class BenchmarkTable(GeneratedPage):
    """The races of results/benchmarks.json."""

    def lines(self) -> Iterator[str]:
        file = Path(self.env.srcdir) / RESULTS
        if not file.exists():
            raise self.error(f"{RESULTS} does not exist; `make bench` writes it")
        self.env.note_dependency(str(file))
        results = json.loads(file.read_text(encoding="utf-8"))
        rows = []
        for race in results["races"]:
            ratio, seconds = race["ratio"], race["seconds"]
            rows.append(
                (
                    f"**{race['title']}**: {race['condition']}",
                    f"{seconds['ours']:.2g} s (ours) against {seconds['peer']:.2g} s ({race['peer']})",
                    f"**{ratio['median']:.2f}** ({ratio['low']:.2f} to {ratio['high']:.2f}, "
                    f"{race['repeats']} repeats); promised: {race['claim']}",
                )
            )
        yield from table(("Race", "Seconds", "Ratio"), (36, 32, 32), rows)
        machine = ", ".join(f"{k} {v}" for k, v in results["machine"].items())
        versions = ", ".join(f"{k} {v}" for k, v in results["versions"].items())
        yield f"Measured {results['date']} on {machine}; {versions}."
        yield ""


def witness_anchor(label: str, number: int) -> str:
    return f"witness-{label}" + (f"-{number}" if number > 1 else "")


def add_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Put an anchor before every proof and every witness, so that the ledger can link to them."""
    labels = app.env.get_domain("std").anonlabels  # type: ignore[attr-defined]
    seen: Counter[str] = Counter()
    statement = ""

    def anchor(node: nodes.Element, name: str) -> None:
        node.parent.insert(node.parent.index(node), nodes.target("", "", ids=[name]))
        labels[name] = (app.env.docname, name)

    for node in list(doctree.findall(nodes.Element)):
        if node.get("realtype"):
            statement = node["label"]
        elif isinstance(node, proof_node) and statement and f"proof-{statement}" not in seen:
            seen[f"proof-{statement}"] = 1  # the link goes to the first proof of several
            anchor(node, f"proof-{statement}")
        elif node.get("nb_element") == "cell_code":
            for label in node["cell_metadata"].get("witnesses", ()):
                seen[label] += 1
                anchor(node, witness_anchor(label, seen[label]))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("theorem-ledger", TheoremLedger)
    app.add_directive("source-map", SourceMap)
    app.add_directive("lecture-list", LectureList)
    app.add_directive("lecture-plan", LecturePlan)
    app.add_directive("errata-list", ErrataList)
    app.add_directive("benchmark-table", BenchmarkTable)
    app.connect("builder-inited", read_ledger)
    app.connect("doctree-read", add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
