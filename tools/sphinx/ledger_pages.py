"""Sphinx extension: the pages that are made from the ledger, the errata and the benchmarks.

Directives, each without content: ``theorem-ledger``, ``source-map``, ``lecture-list``, ``lecture-plan``,
``errata-errors``, ``errata-slips``, ``errata-right`` and ``benchmark-table``. Their text is MyST, which the
page's own parser reads, so every reference in it is checked by the build like any other. It is kept in a file
beside what Sphinx keeps, and written again only when it has changed: only then is the page read again.

It also puts anchors where the notebooks have none: ``proof-LABEL`` before the proof of a statement and
``witness-LABEL`` before the cell that witnesses it (a second one gets ``-2``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import proof_node

from tools import ledger
from tools.ledger import Book, Statement

RESULTS = Path("results/benchmarks.json")


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


def link(treatment: ledger.Treatment) -> str:
    if not treatment.target:
        return f"{{doc}}`/{treatment.place.document}`"
    role = "prf:ref" if treatment.target_is_statement else "ref"
    return f"{{{role}}}`{treatment.target}`"


def theorem_ledger(book: Book) -> Iterator[str]:
    """Statement, how it is supported, where it comes from; by chapter, the exceptions in public."""
    for document, statements in groupby(book.statements, key=lambda s: s.place.document):
        rows = [ledger_row(book, s) for s in statements if s.label]
        yield f"## [{heading(book, document)}](/{document}.ipynb)"
        yield ""
        yield from table(("Statement", "Support", "From"), (38, 34, 28), rows)
    yield "## Exceptions"
    yield ""
    if not book.waivers:
        yield "None: every statement that is not cited has its proof and its witness."
    for w in book.waivers:
        yield f"- {{prf:ref}}`{w.label}` has no {w.what}: {w.reason}"
    yield ""


def heading(book: Book, document: str) -> str:
    """The heading of a chapter; of a bare reference the page's contents would show the file's name."""
    notebook = json.loads((book.root / f"{document}.ipynb").read_text(encoding="utf-8"))
    text = "\n".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")
    found = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    if found is None:
        raise ValueError(f"{document}.ipynb has no heading of the first level")
    return found[1]


def ledger_row(book: Book, s: Statement) -> tuple[str, str, str]:
    witnesses = book.witnesses_of(s.label)
    support = []
    if s.cited:
        support.append(f"cited: {{cite}}`{','.join(s.citations)}`")
    if book.proofs_of(s):
        support.append(f"{{ref}}`proved <proof-{s.label}>`")
    for number, witness in enumerate(witnesses, 1):
        name = "witness" if number == 1 else f"witness {number}"
        reference = f"{{ref}}`{name} <{witness_anchor(s.label, number)}>`"
        support.append(f"{reference} ({witness.mutants} mutants)")
    for what in ("proof", "witness"):
        if book.waiver(what, s.label):
            support.append(f"no {what} (see below)")
    places = {s.place, *(w.place for w in witnesses)}
    items = {i for t in book.treatments if t.place in places for i in t.items}
    errata = {e for c in book.corrections if c.place in places for e in c.items}
    errata |= {
        e for e, entry in [*book.errata.items(), *book.right.items()] if s.label in entry.get("witnesses", ())
    }
    origin = [source(i) for i in book.items if i in items]
    origin += [erratum(e) for e in [*book.errata, *book.right] if e in errata]
    title = f"{{prf:ref}}`{s.label}`" + (f": {s.title}" if s.title else "")
    return title, ", ".join(support) or "—", ", ".join(origin) or "—"


def source_map(book: Book) -> Iterator[str]:
    """Each lecture, item by item, and where the book treats it."""
    where: dict[str, list[str]] = {}
    for treatment in book.treatments:
        for item in treatment.items:
            if link(treatment) not in where.setdefault(item, []):
                where[item].append(link(treatment))
    for name, lecture in book.lectures.items():
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


def lecture_list(book: Book) -> Iterator[str]:
    """The lectures, with a link to each one's part of the source map."""
    for name, lecture in book.lectures.items():
        yield (
            f"- {{ref}}`{lecture['title']} <{lecture_anchor(name)}>`: {lecture['author']}, "
            f"{lecture['date']}; {len(lecture['items'])} items."
        )


def lecture_plan(book: Book) -> Iterator[str]:
    """Each lecture, chapter by chapter: the items that a chapter owns, and what else it treats."""
    treated: dict[str, set[str]] = {}
    for treatment in book.treatments:
        name = treatment.place.document.split("/")[-1]
        treated.setdefault(name, set()).update(treatment.items)
    for name, lecture in book.lectures.items():
        rows = []
        for chapter in book.chapters:
            own = [item for item, entry in lecture["items"].items() if entry["owner"] == chapter]
            also = [item for item in lecture["items"] if item in treated.get(chapter, set()) - set(own)]
            parts = [runs(own, lecture)] if own else []
            parts += [f"*also* {runs(also, lecture)}"] if also else []
            if parts:
                rows.append((f"{{doc}}`/chapters/{chapter}`", "; ".join(parts)))
        yield f"### {name}: {lecture['author']}, {lecture['date']}"
        yield ""
        yield from table(("Chapter", "Items"), (50, 50), rows)


def runs(chosen: list[str], lecture: dict[str, Any]) -> str:
    """The items, neighbours of the lecture joined: K.3 – K.5, K.9."""
    found = []
    for is_chosen, run in groupby(lecture["items"], key=set(chosen).__contains__):
        first, *rest = run
        if is_chosen:
            found.append(f"{first} – {rest[-1]}" if rest else first)
    return ", ".join(found)


# Errata stand in the order of the lectures, in each by number; errata.yml has them as they came.


def errata_errors(book: Book) -> Iterator[str]:
    """What is wrong in the lectures, in full."""
    parts = (("It says", "says"), ("Right is", "right"), ("Why", "why"))
    for name, lecture in book.lectures.items():
        yield f"### {name}: {lecture['author']}, {lecture['date']}"
        yield ""
        for entry in errata_of(book, name):
            if "slips" not in entry:
                yield from erratum_in_full(book, entry, parts)


def errata_slips(book: Book) -> Iterator[str]:
    """Slips of the pen, as a table."""
    rows: list[tuple[str, ...]] = []
    for entry in (e for lecture in book.lectures for e in errata_of(book, lecture)):
        for number, slip in enumerate(entry.get("slips", ())):
            where = slip["where"]
            if number == 0:
                place = corrected(book, entry) or entry["no-correction"]
                where = f"({erratum_anchor(entry['id'])})=\n**{entry['id']}** {where} ({place})"
            rows.append((where, slip["says"], slip["right"]))
    yield from table(("Where (corrected in)", "Printed", "Read"), (36, 32, 32), rows)


def errata_right(book: Book) -> Iterator[str]:
    """What looks wrong and is right."""
    for entry in sorted(book.right.values(), key=number_of):
        yield from erratum_in_full(book, entry, (("It says", "says"), ("Why it is right", "why")))


def errata_of(book: Book, lecture: str) -> list[dict[str, Any]]:
    """The entries of a lecture, by number."""
    return sorted((e for e in book.errata.values() if e["id"].startswith(f"E-{lecture}.")), key=number_of)


def number_of(entry: dict[str, Any]) -> int:
    return int(re.split(r"[-.]", entry["id"])[-1])


def erratum_in_full(book: Book, entry: dict[str, Any], parts: tuple[tuple[str, str], ...]) -> Iterator[str]:
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
    where = corrected(book, entry)
    yield f"{shown} **Corrected in** {where}." if where else shown
    yield ":::::"
    yield ""


def corrected(book: Book, entry: dict[str, Any]) -> str:
    """Links to the places of the book that correct an erratum."""
    return ", ".join(dict.fromkeys(link(c) for c in book.corrections if entry["id"] in c.items))


def benchmark_table(book: Book) -> Iterator[str]:
    """The races of results/benchmarks.json."""
    try:
        results = json.loads((book.root / RESULTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SphinxError(f"{RESULTS} is missing: take the committed one, or run `make bench`") from None
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


TEXTS: dict[str, Callable[[Book], Iterator[str]]] = {
    "theorem-ledger": theorem_ledger,
    "source-map": source_map,
    "lecture-list": lecture_list,
    "lecture-plan": lecture_plan,
    "errata-errors": errata_errors,
    "errata-slips": errata_slips,
    "errata-right": errata_right,
    "benchmark-table": benchmark_table,
}


def kept_text(app: Sphinx, name: str) -> Path:
    return Path(app.doctreedir) / "texts" / f"{name}.txt"


def keep(app: Sphinx, name: str, text: str) -> None:
    """Write a text for a directive to read; one that is as it was keeps its date."""
    file = kept_text(app, name)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def write_texts(app: Sphinx) -> None:
    """Once a build, before the pages are read."""
    book = ledger.read(Path(app.srcdir))
    for directive, lines in TEXTS.items():
        keep(app, directive, "\n".join(lines(book)))


class KeptText(SphinxDirective):
    """Parses the text that is kept under the directive's name."""

    def run(self) -> list[nodes.Node]:
        file = kept_text(self.env.app, self.name)
        self.env.note_dependency(str(file))
        holder = nodes.container()
        content = StringList(
            file.read_text(encoding="utf-8").split("\n"), source=self.env.doc2path(self.env.docname)
        )
        self.state.nested_parse(content, 0, holder, match_titles=True)
        return holder.children


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
    for directive in TEXTS:
        app.add_directive(directive, KeptText)
    app.connect("builder-inited", write_texts)
    app.connect("doctree-read", add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
