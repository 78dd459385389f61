"""Sphinx extension: the pages that are made from the ledger and the errata.

Directives without content: ``ledger-filter``, ``theorem-ledger``, ``source-filter``, ``source-map``,
``lecture-list``, ``errata-filter``, ``errata-errors``, ``errata-more``, ``errata-slips`` and
``errata-right``; and, with a lecture for its argument, ``lecture-introduction`` and ``lecture-slides``.
Their text is MyST, which the page's own parser reads, so every reference in it is checked by the build like
any other. It is kept in a file beside what Sphinx keeps, and written again only when it has changed: only
then is the page read again.

It also puts anchors where the notebooks have none: ``proof-LABEL`` before the proof of a statement and
``witness-LABEL`` before the cell that witnesses it (a second one gets ``-2``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import proof_node

from tools import ledger
from tools.ledger import Book, Statement


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


def table(
    head: tuple[str, ...],
    widths: tuple[int, ...],
    rows: Sequence[tuple[str, ...]],
    look: str = "ledger-table",
) -> Iterator[str]:
    """A list-table, whose cells may wrap: on a phone a column is about fifteen letters wide."""
    yield ":::::{list-table}"
    yield ":header-rows: 1"
    yield f":widths: {' '.join(map(str, widths))}"
    yield f":class: {look}"
    yield ""
    for row in (head, *rows):
        for column, cell in enumerate(row):
            bullet = "* - " if column == 0 else "  - "
            lines = cell.strip().split("\n")
            yield bullet + lines[0]
            yield from (f"    {line}".rstrip() for line in lines[1:])
    yield ":::::"
    yield ""


def ledger_filter(book: Book) -> Iterator[str]:
    """What the statements can be filtered by."""
    yield from facets(
        {
            "place": places(book),
            "kind": {kind: kind for kind in ledger.PREFIX},
            "support": SUPPORT,
            "check": CHECK,
            "literature": {"named": "named beside it", "none": "none named"},
            "lecture": {**whose(book), "none": "in none of them"},
            "erratum": {"yes": "concerned by one", "no": "by none"},
        }
    )


SUPPORT = {
    "proved": "proved here",
    "cited": "cited",
    "waived": "neither, with a reason",
    "none": "needs no proof",
}
FEW, MANY = 3, 7  # mutants: of half of the statements four to six
CHECK = {
    "few": f"at most {FEW} mutants",
    "some": f"{FEW + 1} to {MANY - 1} mutants",
    "many": f"{MANY} mutants or more",
    "waived": "none, with a reason",
    "none": "needs none",
}


def check_of(book: Book, s: Statement) -> str:
    """How much the witnesses of a statement are tested."""
    if witnesses := book.witnesses_of(s.label):
        mutants = sum(witness.mutants for witness in witnesses)
        return "few" if mutants <= FEW else "some" if mutants < MANY else "many"
    return "waived" if book.waiver("witness", s.label) else "none"


def support_of(book: Book, s: Statement) -> str:
    if s.cited:
        return "cited"
    if book.proofs_of(s):
        return "proved"
    return "waived" if book.waiver("proof", s.label) else "none"


def places(book: Book) -> dict[str, dict[str, str]]:
    """The chapters by their parts; and all of a part."""
    groups: dict[str, dict[str, str]] = {}
    for document in book.documents:
        if document.startswith("chapters/"):
            part = book.parts[document]
            group = groups.setdefault(part, {f"all-{slug(part)}": f"all of “{part}”"})
            group[slug(document.split("/")[1])] = heading(book, document)
    return {part: group if len(group) > 2 else dict([group.popitem()]) for part, group in groups.items()}


def place_of(book: Book, document: str) -> tuple[str, ...]:
    """The values of the facet `place` of what stands in a document."""
    if not document.startswith("chapters/"):
        return ()
    return document.split("/")[1], f"all-{slug(book.parts[document])}"


def theorem_ledger(book: Book) -> Iterator[str]:
    """Statement, how it is supported, where it comes from; by chapter, the exceptions in public."""
    for document, statements in groupby(book.statements, key=lambda s: s.place.document):
        rows = [ledger_row(book, s) for s in statements if s.label]
        yield f"## [{heading(book, document)}](/{document}.ipynb)"
        yield ""
        yield from table(("Statement", "Support", "From"), (38, 34, 28), rows, "ledger-table cards")
    yield "## Exceptions"
    yield ""
    if not book.waivers:
        yield "None: every statement that is not cited has its proof and its witness."
    for w in book.waivers:
        reason = re.sub(
            r"[\w-]+", lambda word: book.labels[word[0]].link if word[0] in book.labels else word[0], w.reason
        )
        yield f"- {{prf:ref}}`{w.label}` has no {w.what}: {reason}"
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
    works = book.literature.get(s.label)
    if works and not s.cited:
        support.append(f"see {{cite}}`{','.join(works)}`")
    items = [
        item for item, entry in book.items.items() if s.label in (entry.get("home"), *entry.get("also", ()))
    ]
    entries = [*book.errata.values(), *book.right.values()]
    errata = [e["id"] for e in entries if s.label in (e.get("corrected"), *e.get("witnesses", ()))]
    marks = mark(
        place=place_of(book, s.place.document),
        kind=s.kind,
        support=support_of(book, s),
        check=check_of(book, s),
        literature="named" if works else "none",
        lecture=tuple(dict.fromkeys(item.split(".")[0] for item in items)) or "none",
        erratum="yes" if errata else "no",
    )
    title = f"{{prf:ref}}`{s.label}`" + (f": {s.title}" if s.title else "")
    origin = [*map(source, items), *map(erratum, errata)]
    return f"{title}\n\n{marks}", ", ".join(support), ", ".join(origin)


def source_filter(book: Book) -> Iterator[str]:
    """What the items of the lectures can be filtered by."""
    yield from facets(
        {
            "lecture": whose(book),
            "place": places(book),
            "kind": {kind: kind for kind in ledger.KINDS},
            "erratum": {"yes": "with an erratum", "no": "without"},
        }
    )


def errata_filter(book: Book) -> Iterator[str]:
    """What the errata can be filtered by."""
    classes = {"A": "A: false", "B": "B: true with something added", "R": "R: true, and more is true"}
    classes |= {"C": "C: a slip", "right": "looks wrong, is right"}
    yield from facets({"lecture": whose(book), "class": {slug(key): text for key, text in classes.items()}})


def whose(book: Book) -> dict[str, str]:
    """The lectures by name and author."""
    return {slug(name): f"{name}: {lecture['author']}" for name, lecture in book.lectures.items()}


def source_map(book: Book) -> Iterator[str]:
    """Each lecture, item by item, and the one place where the book treats it."""
    for name, lecture in book.lectures.items():
        yield f"({lecture_anchor(name)})="
        yield f"## {lecture['author']}: {lecture['title']}"
        yield ""
        yield f"{introduction(name, lecture)} {{doc}}`Slide by slide <{lecture_page(name)}>`."
        yield ""
        rows = [
            (
                f"({source_anchor(item)})=\n{item}\n\n{mark(**facets_of(book, item))}",
                f"{entry['summary']} *({place(entry)})*",
                entry["kind"],
                homes(book, item),
                ", ".join(erratum(e) for e in book.errata_of_item(item)),
            )
            for item, entry in lecture["items"].items()
        ]
        head = ("Item", "What the lecture says, and where", "Kind", "In the book", "Erratum")
        yield from table(head, (10, 42, 12, 24, 12), rows, "ledger-table cards")
    yield ""


def facets_of(book: Book, item: str) -> dict[str, str | tuple[str, ...]]:
    home = book.home(item)
    return {
        "lecture": item.split(".")[0],
        "place": place_of(book, home.document) if home else (),
        "kind": book.items[item]["kind"],
        "erratum": "yes" if book.errata_of_item(item) else "no",
    }


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def facets(values: Mapping[str, Mapping[str, str | Mapping[str, str]]]) -> Iterator[str]:
    """What the entries of a page can be filtered by: web/static/filter.js puts the controls in this place.

    By facet and value, what a reader is shown; or values that belong together, by the name of their group.
    """
    yield "```{raw} html"
    yield f'<script type="application/json" class="facets">{json.dumps(values)}</script>'
    yield "```"
    yield ""


def mark(**values: str | tuple[str, ...]) -> str:
    """A comment that becomes classes of the row, the box or the section in which it stands."""
    pairs = [
        (name, one) for name, some in values.items() for one in ([some] if isinstance(some, str) else some)
    ]
    return "% facets " + " ".join(f"{name}--{slug(one)}" for name, one in pairs if one)


def lecture_page(name: str) -> str:
    return f"/appendix/lectures/{name.lower()}"


def introduction(name: str, lecture: dict[str, Any]) -> str:
    """Whose lecture it is, what it follows, and how much of what it has."""
    kinds = Counter(entry["kind"] for entry in lecture["items"].values())
    counts = ", ".join(f"{kinds[kind]} {plural(kind, kinds[kind])}" for kind in ledger.KINDS if kinds[kind])
    origin = f"{lecture['institution']}, {lecture['date']} {{cite}}`{lecture['cite']}`"
    return (
        f"{origin}, after {lecture['follows']}. {len(lecture['items'])} items, here called {name}: {counts}."
    )


def plural(kind: str, count: int) -> str:
    return kind if count == 1 else f"{kind}s"


def place(entry: dict[str, Any]) -> str:
    """Where an item stands in its lecture, in the lecture's own words."""
    more = f", {entry['where']}" if "where" in entry else ""
    return f"“{entry['slide']}”{more}"


def homes(book: Book, item: str) -> str:
    """A link to the place that treats an item; then, said to be such, the other places."""
    home = book.home(item)
    if home is None:
        return book.items[item].get("nothing", "")
    also = [book.labels[label].link for label in book.items[item].get("also", ()) if label in book.labels]
    return home.link + (f"; also in {', '.join(also)}" if also else "")


def lecture_list(book: Book) -> Iterator[str]:
    """The lectures, with a link to each one's page."""
    for name, lecture in book.lectures.items():
        yield (
            f"- {{doc}}`{lecture['title']} <{lecture_page(name)}>`: {lecture['author']}, "
            f"{lecture['date']}; {len(lecture['items'])} items."
        )


def slides(lecture: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The lecture's slides or sections in order: title, and the items on it."""
    return [
        (title, list(items))
        for title, items in groupby(lecture["items"], key=lambda i: lecture["items"][i]["slide"])
    ]


def lecture_slides(book: Book, name: str) -> Iterator[str]:
    """A lecture in its own order: which chapter, what to change, and slide by slide."""
    lecture = book.lectures[name]
    yield "## Which chapter treats what"
    yield ""
    rows = []
    for document, run in groupby(
        lecture["items"], key=lambda i: home.document if (home := book.home(i)) else ""
    ):
        first, *rest = run
        span = f"{first} – {rest[-1]}" if rest else first
        titles = list(dict.fromkeys(lecture["items"][i]["slide"] for i in (first, *rest)))
        shown = f"“{titles[0]}”" + (f" to “{titles[-1]}”" if len(titles) > 1 else "")
        rows.append(
            (shown, f"{{ref}}`{span} <{source_anchor(first)}>`", f"{{doc}}`/{document}`" if document else "—")
        )
    yield from table(("Slides or sections", "Items", "Chapter"), (44, 20, 36), rows)
    yield from to_change(book, name)
    yield "## Slide by slide"
    yield ""
    yield "Each line: what the lecture says, and where the book treats it."
    yield ""
    for title, items in slides(lecture):
        yield f"### {title}"
        yield ""
        for item in items:
            entry = lecture["items"][item]
            where = f" ({entry['where']})" if "where" in entry else ""
            errata = "".join(f" **{erratum(e)}**" for e in book.errata_of_item(item))
            what = f"{entry['kind']}{where}: {entry['summary']}"
            yield f"- {source(item)}, {what} → {homes(book, item)}.{errata}"
        yield ""


def to_change(book: Book, name: str) -> Iterator[str]:
    """The errata of a lecture in the order of its slides."""
    order = list(book.items)
    entries = sorted(
        errata_of(book, name), key=lambda e: min((order.index(i) for i in e.get("items", ())), default=0)
    )
    yield "## What to change"
    yield ""
    for head, classes in (("Errors", "AB"), ("True, and more is true", "R")):
        chosen = [entry for entry in entries if entry["class"] in classes]
        if not chosen:
            continue
        yield f"### {head}"
        yield ""
        for e in chosen:
            yield f"- {erratum(e['id'])} (class {e['class']}), {e['where']}"
            yield ""
            for label, key in (
                ("It says", "says"),
                ("More is true" if classes == "R" else "Right is", "right"),
            ):
                yield from (f"  {line}".rstrip() for line in f"*{label}:* {e[key]}".splitlines())
                yield ""
    slips = [
        (f"{erratum(e['id'])}: {slip['where']}", slip["says"], slip["right"])
        for e in entries
        for slip in e.get("slips", ())
    ]
    if slips:
        yield "### Slips of the pen"
        yield ""
        yield from table(("Where", "Printed", "Read"), (36, 32, 32), slips, SLIPS)


# Errata stand in the order of the lectures, in each by number; errata.yml has them as they came.


def errata_errors(book: Book) -> Iterator[str]:
    """What is wrong in the lectures, in full."""
    yield from errata_in_full(book, "AB", (("It says", "says"), ("Right is", "right"), ("Why", "why")))


def errata_more(book: Book) -> Iterator[str]:
    """What is true in the lectures as it stands, where more is true."""
    yield from errata_in_full(book, "R", (("It says", "says"), ("More is true", "right"), ("Why", "why")))


def errata_in_full(book: Book, classes: str, parts: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, lecture in book.lectures.items():
        entries = [e for e in errata_of(book, name) if e["class"] in classes and "slips" not in e]
        if entries:
            yield f"### {name}: {lecture['author']}, {lecture['date']}"
            yield ""
        for entry in entries:
            yield from erratum_in_full(book, entry, parts)


SLIPS = "ledger-table cards slips"  # web/static/book.css repeats the heads where rows are cards


def errata_slips(book: Book) -> Iterator[str]:
    """Slips of the pen, as a table."""
    rows: list[tuple[str, ...]] = []
    for entry in (e for lecture in book.lectures for e in errata_of(book, lecture)):
        for number, slip in enumerate(entry.get("slips", ())):
            where = slip["where"]
            if number == 0:
                label = book.labels.get(entry.get("corrected", ""))
                corrected = label.link if label else entry["no-correction"]
                where = f"({erratum_anchor(entry['id'])})=\n**{entry['id']}** {where} ({corrected})"
            where += "\n\n" + mark(lecture=entry["id"][2:].split(".")[0], **{"class": "C"})
            rows.append((where, slip["says"], slip["right"]))
    yield from table(("Where (corrected in)", "Printed", "Read"), (36, 32, 32), rows, SLIPS)


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
    kind = f" (class {entry['class']})" if entry.get("class", "R") != "R" else ""
    yield f":::::{{admonition}} {entry['id']}{kind}: {entry['where']}"
    yield ":class: erratum"
    yield ""
    lectures = [item.split(".")[0] for item in entry.get("items", ())]
    yield mark(lecture=lectures[0] if lectures else "", **{"class": entry.get("class", "right")})
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
    label = book.labels.get(entry.get("corrected", ""))
    yield f"{shown} **Corrected in** {label.link}." if label else shown
    yield ":::::"
    yield ""


TEXTS: dict[str, Callable[[Book], Iterator[str]]] = {
    "ledger-filter": ledger_filter,
    "theorem-ledger": theorem_ledger,
    "source-filter": source_filter,
    "source-map": source_map,
    "lecture-list": lecture_list,
    "errata-filter": errata_filter,
    "errata-errors": errata_errors,
    "errata-more": errata_more,
    "errata-slips": errata_slips,
    "errata-right": errata_right,
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
    roles = {name: label.role for name, label in sorted(book.labels.items())}
    keep(app, "labels", json.dumps(roles))  # for the docstrings: tools/sphinx/api.py
    for name in book.lectures:
        keep(app, f"lecture-slides-{name}", "\n".join(lecture_slides(book, name)))
        keep(app, f"lecture-introduction-{name}", introduction(name, book.lectures[name]))


class KeptText(SphinxDirective):
    """Parses the text that is kept under the directive's name, and under its argument if it has one."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        file = kept_text(self.env.app, "-".join([self.name, *self.arguments]))
        self.env.note_dependency(str(file))
        holder = nodes.container()
        content = StringList(
            file.read_text(encoding="utf-8").split("\n"), source=self.env.doc2path(self.env.docname)
        )
        self.state.nested_parse(content, 0, holder, match_titles=True)
        return holder.children  # the sections are in the page already


def mark_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Give the rows and entries that hold a comment of `mark` their classes."""
    for comment in list(doctree.findall(nodes.comment)):
        if (text := comment.astext()).startswith("facets "):
            marked = comment.parent
            while not isinstance(marked, nodes.row | nodes.Admonition | nodes.section):
                marked = marked.parent
            marked["classes"] += ["entry", *text.split()[1:]]
            comment.parent.remove(comment)


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
    for directive in (*TEXTS, "lecture-introduction", "lecture-slides"):
        app.add_directive(directive, KeptText)
    app.connect("builder-inited", write_texts)
    app.connect("doctree-read", add_anchors)
    app.connect("doctree-read", mark_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
