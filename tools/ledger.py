"""The ledger: what the book claims, what supports each claim, and which source item is treated where.

``python -m tools.ledger check`` prints every problem with its notebook and cell and exits with 1 if there
is any. The pages "theorem ledger", "source map" and "errata" of the site are made from the same reading
(tools/sphinx/ledger_pages.py).

What it reads: ``_toc.yml`` (only what stands there is published), the notebooks and Markdown pages that it
lists, ``sources.yml``, which names for each item of the lectures the one label that treats it, and
``errata.yml``, which names the one that corrects. Nothing is executed. The form of a cell's metadata, mutants
included, is checked by tools/notebooks.py; here it is only related to the statements.

What counts as a statement is decided by the Markdown parser that the site itself uses, so a directive that
is merely shown inside a code block is text and no statement.
"""

import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from nbformat import NotebookNode

from tools import notebooks

# Kind of statement -> the prefix of its label.
PREFIX = {
    "definition": "def",
    "lemma": "lem",
    "theorem": "thm",
    "proposition": "prop",
    "corollary": "cor",
    "algorithm": "alg",
    "example": "exm",
    "remark": "rem",
}
# These assert something: they are proved here and witnessed, or cited. The others are registered only.
ASSERTING = ("lemma", "theorem", "proposition", "corollary")
# What an item of a lecture can be.
KINDS = ("definition", "statement", "proof", "algorithm", "example", "exercise", "figure", "remark")
# What an erratum says of a lecture: false, true with something added, a slip; R: true, and more is true.
CLASSES = ("A", "B", "C", "R")
MOST_ALSO = 3  # further labels of an item: more would be a list of where its words occur
# Directives whose body is not MyST: what looks like a directive inside is text.
OPAQUE = {"code", "code-block", "code-cell", "sourcecode", "math", "raw", "eval-rst", "parsed-literal"}


def _parser() -> MarkdownIt:
    plugins = (front_matter_plugin, colon_fence_plugin, myst_block_plugin, myst_role_plugin)
    return functools.reduce(MarkdownIt.use, plugins, MarkdownIt("commonmark"))


_MARKDOWN = _parser()
_BLOCKS = _parser().disable("inline")  # what stands inside a line takes most of the time


@dataclass(frozen=True)
class Place:
    """Where something stands: a file relative to the book and, in a notebook, the cell."""

    file: str
    cell: str = ""

    def __str__(self) -> str:
        return f"{self.file}, {self.cell}" if self.cell else self.file

    @property
    def document(self) -> str:
        return self.file.rsplit(".", 1)[0]


@dataclass(frozen=True)
class Problem:
    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass(frozen=True)
class Statement:
    label: str  # "" if it has none
    kind: str
    title: str
    cited: bool
    citations: tuple[str, ...]
    place: Place

    @property
    def needs_proof(self) -> bool:
        return self.kind in ASSERTING and not self.cited


@dataclass(frozen=True)
class Proof:
    of: Statement | None  # the nearest statement before it in the notebook
    place: Place


@dataclass(frozen=True)
class Witness:
    labels: tuple[str, ...]
    mutants: int
    place: Place


@dataclass(frozen=True)
class Label:
    """What a link can lead to: a statement, a section, an equation, a figure, an exercise, or a page."""

    name: str
    document: str
    role: str
    title: str = ""  # for a link that has no text of its own

    @property
    def link(self) -> str:
        return (
            f"{{{self.role}}}`{self.title} <{self.name}>`" if self.title else f"{{{self.role}}}`{self.name}`"
        )


@dataclass(frozen=True)
class Waiver:
    """A public reason why a statement goes without a proof or a witness."""

    what: str  # "proof" or "witness"
    label: str
    reason: str
    place: Place


@dataclass
class Book:
    root: Path
    documents: list[str] = field(default_factory=list)  # of _toc.yml, in reading order
    lectures: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)  # document -> the part of _toc.yml that it is in
    items: dict[str, dict[str, Any]] = field(default_factory=dict)  # source id -> its entry of sources.yml
    errata: dict[str, dict[str, Any]] = field(default_factory=dict)
    right: dict[str, dict[str, Any]] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    labels: dict[str, Label] = field(default_factory=dict)
    waivers: list[Waiver] = field(default_factory=list)
    literature: dict[str, list[str]] = field(default_factory=dict)  # label -> works named with the statement
    problems: list[Problem] = field(default_factory=list)  # what could not even be read

    @property
    def chapters(self) -> list[str]:
        """Short names of the chapters, in reading order."""
        return [name.split("/")[1] for name in self.documents if name.startswith("chapters/")]

    def by_label(self) -> dict[str, Statement]:
        return {s.label: s for s in self.statements if s.label}

    def proofs_of(self, statement: Statement) -> list[Proof]:
        return [p for p in self.proofs if p.of is statement]

    def witnesses_of(self, label: str) -> list[Witness]:
        return [w for w in self.witnesses if label in w.labels]

    def home(self, item: str) -> Label | None:
        """What treats an item of a lecture; None where there is nothing to treat, or no such label."""
        return self.labels.get(self.items[item].get("home", ""))

    def errata_of_item(self, item: str) -> list[str]:
        """Ids of the errata, and of what only looks wrong, that concern an item."""
        entries = [*self.errata.values(), *self.right.values()]
        return [entry["id"] for entry in entries if item in entry.get("items", ())]

    def waiver(self, what: str, label: str) -> Waiver | None:
        return next((w for w in self.waivers if (w.what, w.label) == (what, label)), None)


# --- reading ------------------------------------------------------------------------------------------


def directive(token: Token) -> tuple[str, str] | None:
    """Name and argument, if the token is a fenced directive and not a plain code block."""
    if token.type not in ("fence", "colon_fence"):
        return None
    match = re.match(r"\{([^}\s]+)\}\s*(.*)$", token.info.strip())
    return (match[1], match[2]) if match else None


def options(body: str) -> tuple[dict[str, str], str]:
    """The options at the head of a directive's body, in either of MyST's two forms, and the rest."""
    lines = body.splitlines()
    found: dict[str, str] = {}
    if lines and lines[0].strip() == "---":
        end = next((i for i, line in enumerate(lines[1:], 1) if line.strip() == "---"), len(lines))
        loaded = yaml.safe_load("\n".join(lines[1:end])) or {}
        return {str(k): str(v) for k, v in loaded.items()}, "\n".join(lines[end + 1 :])
    while lines and (match := re.match(r":([\w-]+):\s*(.*)$", lines[0])):
        found[match[1]] = match[2].strip()
        del lines[0]
    return found, "\n".join(lines)


def citations(source: str) -> tuple[str, ...]:
    """The keys of every {cite} role in a piece of MyST, code spans and code blocks left out."""
    keys: list[str] = []
    for token in _MARKDOWN.parse(source) if "{cite" in source else ():
        named = directive(token)
        if named and named[0] not in OPAQUE:
            keys.extend(citations(options(token.content)[1]))
        for child in token.children or ():
            if child.type == "myst_role" and child.meta["name"].split(":")[0] == "cite":
                keys.extend(key.strip() for key in child.content.split(","))
    return tuple(keys)


def outline(source: str) -> Iterator[tuple[str, Any]]:
    """What a piece of MyST holds, in order: ("target", label), ("paragraph", text), ("directive", …), ….

    A directive comes before the things inside it. A fence ends where Markdown says it ends: at the first
    line of as many or more of the same character. So an inner fence that is as long as the outer one closes
    the outer one too early, here as on the page.
    """
    tokens = _BLOCKS.parse(source)
    for i, token in enumerate(tokens):
        if token.type == "myst_target":
            yield "target", token.content
        elif token.type == "heading_open":
            yield "heading", tokens[i + 1].content
        elif token.type == "paragraph_open":
            yield "paragraph", tokens[i + 1].content
        elif token.type == "front_matter":
            yield "front matter", yaml.safe_load(token.content) or {}
        elif named := directive(token):
            given, body = options(token.content)
            yield "directive", (*named, given, body)
            if named[0] not in OPAQUE:
                yield from outline(body)


def documents(toc: Any) -> Iterator[str]:
    """Every document of a _toc.yml, in reading order."""
    if isinstance(toc, dict):
        for key in ("root", "file"):
            if key in toc:
                yield str(toc[key]).removesuffix(".md").removesuffix(".ipynb")
        for value in toc.values():
            yield from documents(value)
    elif isinstance(toc, list):
        for value in toc:
            yield from documents(value)


class _Reader:
    """Walks one document and adds what it finds to the book."""

    def __init__(self, book: Book, file: Path) -> None:
        self.book = book
        self.file = file.relative_to(book.root).as_posix()
        self.nearest: Statement | None = None
        self.latest = ""  # the statement of the section that the text is about

    def complain(self, place: Place, text: str) -> None:
        self.book.problems.append(Problem(place, text))

    def label(self, name: str, role: str, title: str = "") -> None:
        self.book.labels.setdefault(name, Label(name, Place(self.file).document, role, title))

    def page(self, source: str) -> None:
        document = Place(self.file).document
        self.book.labels[document] = Label(f"/{document}", document, "doc")
        self.targets(source)

    def notebook(self, cells: list[NotebookNode]) -> None:
        for index, cell in enumerate(cells):
            place = Place(self.file, notebooks.place(index, cell))
            if cell.cell_type == "markdown":
                self.markdown(cell.source, place)
            elif figure := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"):
                self.label(figure, "numref")
            self.metadata(cell, place)

    def targets(self, source: str) -> None:
        """Register the places of a text that it names: equations, headings, exercises and the like."""
        for name in re.findall(r"^\s*\$\$ *\(([\w-]+)\)", source, flags=re.MULTILINE):
            self.label(name, "eq")
        waiting: list[str] = []
        for kind, value in [*outline(source), ("end", None)]:
            if kind == "target":
                waiting.append(value)
                continue
            for name in waiting:  # a heading is its own title; another place needs a text for its links
                title = value[1] if kind == "directive" else ""
                if not title or re.search(r"[`$<>\\]", title):
                    title = "there"
                self.label(name, "ref", "" if kind == "heading" else title)
            waiting = []
            if kind == "directive" and value[0] in ("exercise", "exercise-start") and "label" in value[2]:
                self.label(value[2]["label"], "ref")  # which gives itself a number

    def markdown(self, source: str, place: Place) -> None:
        """Register the statements, proofs and labels of one cell."""
        self.targets(source)
        for kind, value in outline(source):
            if kind == "heading" or (kind == "directive" and value[0].startswith(("exercise", "solution"))):
                self.latest = ""
            elif kind == "paragraph" and self.latest and "{cite" in value:
                self.literature(self.latest, value)
            if kind != "directive" or not value[0].startswith("prf:"):
                continue
            name, argument, given, body = value
            name = name.removeprefix("prf:")
            if name == "proof":
                self.book.proofs.append(Proof(self.nearest, place))
                continue
            if name not in PREFIX:
                allowed = ", ".join(PREFIX)
                self.complain(
                    place, f"directive prf:{name} is not used in this book; allowed: {allowed}, proof"
                )
                continue
            cited = "cited" in given.get("class", "").split()
            label = given.get("label", "")
            self.nearest = Statement(label, name, argument, cited, citations(body), place)
            self.book.statements.append(self.nearest)
            if label:
                self.label(label, "prf:ref")
            self.latest = label

    def literature(self, label: str, paragraph: str) -> None:
        """Note the works that a text names in a statement, in its proof, or between it and the next one."""
        works = self.book.literature.setdefault(label, [])
        lectures = {lecture["cite"] for lecture in self.book.lectures.values()}
        works += [key for key in citations(paragraph) if key not in {*lectures, *works}]

    def metadata(self, cell: NotebookNode, place: Place) -> None:
        data = cell.metadata
        labels = tuple(data.get("witnesses", ()))
        if labels:
            self.book.witnesses.append(Witness(labels, len(data.get("mutants", ())), place))
        for what in ("proof", "witness"):
            for label, reason in data.get(f"no-{what}", {}).items():
                self.book.waivers.append(Waiver(what, label, reason, place))


def read(root: Path) -> Book:
    """Read the book that lies in ``root``."""
    root = root.resolve()
    book = Book(root)

    def load(name: str) -> Any:
        return yaml.safe_load((root / name).read_text(encoding="utf-8")) or {}

    toc = load("_toc.yml")
    book.documents = list(documents(toc))
    caption = ""  # a part may be several entries, of which the first has the caption
    for part in toc.get("parts", ()):
        caption = part.get("caption", caption)
        book.parts.update(dict.fromkeys(documents(part), caption))
    sources = load("sources.yml")
    book.lectures = sources["lectures"]
    for lecture in book.lectures.values():
        book.items.update(lecture["items"])
    errata = load("errata.yml")
    book.errata = {entry["id"]: entry for entry in errata["errors"]}
    book.right = {entry["id"]: entry for entry in errata["right"]}

    for document in book.documents:
        notebook, page = root / f"{document}.ipynb", root / f"{document}.md"
        if notebook.exists():
            _Reader(book, notebook).notebook(nbformat.read(notebook, as_version=4).cells)
        elif page.exists():
            _Reader(book, page).page(page.read_text(encoding="utf-8"))
        else:
            book.problems.append(Problem(Place("_toc.yml"), f"lists {document}, which does not exist"))
    return book


def counts(file: Path) -> tuple[int, int, int]:
    """Of a notebook its statements, the cells that check them, and their mutants."""
    book = Book(file.parent.parent)
    _Reader(book, file).notebook(nbformat.read(file, as_version=4).cells)
    return len(book.statements), len(book.witnesses), sum(witness.mutants for witness in book.witnesses)


# --- checking -----------------------------------------------------------------------------------------


def check(book: Book) -> list[Problem]:
    """Every way in which the book breaks its own rules."""
    return [
        *book.problems,
        *_labels(book),
        *_support(book),
        *_waivers(book),
        *_witnesses(book),
        *_items(book),
        *_errata(book),
    ]


def _labels(book: Book) -> Iterator[Problem]:
    seen: dict[str, Statement] = {}
    for s in book.statements:
        prefix, chapter = PREFIX[s.kind], s.place.document.split("/")[-1]
        if not s.label:
            yield Problem(s.place, f"{s.kind} {s.title!r} has no label; give it {prefix}-{chapter}-…")
        elif not re.fullmatch(rf"{prefix}-{re.escape(chapter)}-[a-z0-9]+(-[a-z0-9]+)*", s.label):
            yield Problem(
                s.place, f"label {s.label} of a {s.kind} in {chapter}; {prefix}-{chapter}-… is wanted"
            )
        elif s.label in seen:
            yield Problem(s.place, f"label {s.label} is used twice; first in {seen[s.label].place}")
        seen.setdefault(s.label, s)


def _support(book: Book) -> Iterator[Problem]:
    for proof in book.proofs:
        if proof.of is None:
            yield Problem(proof.place, "a proof with no statement before it")
    for s in book.statements:
        if s.cited:
            if book.proofs_of(s):
                yield Problem(s.place, f"{s.label} is cited, so it can have no proof block here")
            if not s.citations:
                yield Problem(s.place, f"{s.label} is cited, but its text holds no {{cite}}")
        elif s.needs_proof:
            if not book.proofs_of(s) and not book.waiver("proof", s.label):
                yield Problem(s.place, f"{s.label} has no proof (nor a 'no-proof' reason)")
            if not book.witnesses_of(s.label) and not book.waiver("witness", s.label):
                yield Problem(s.place, f"{s.label} has no witness (nor a 'no-witness' reason)")


def _waivers(book: Book) -> Iterator[Problem]:
    known = book.by_label()
    for w in book.waivers:
        if w.label not in known:
            yield Problem(w.place, f"'no-{w.what}' names {w.label}, which is no statement of the book")
            continue
        has = book.proofs_of(known[w.label]) if w.what == "proof" else book.witnesses_of(w.label)
        if has:
            yield Problem(w.place, f"'no-{w.what}' of {w.label}, which has a {w.what}")


def _witnesses(book: Book) -> Iterator[Problem]:
    known = book.by_label()
    for witness in book.witnesses:
        for label in witness.labels:
            if label not in known:
                yield Problem(witness.place, f"witness of {label}, which is no statement of the book")


def _items(book: Book) -> Iterator[Problem]:
    here = Place("sources.yml")
    for item, entry in book.items.items():
        for key in ("slide", "summary"):
            if not entry.get(key):
                yield Problem(here, f"{item} has no {key}")
        if entry.get("kind") not in KINDS:
            yield Problem(here, f"{item} is a {entry.get('kind')!r}; allowed: {', '.join(KINDS)}")
        if bool(entry.get("home")) == bool(entry.get("nothing")):
            yield Problem(
                here, f"{item} needs either a home (the label that treats it) or 'nothing' (why not)"
            )
        also = entry.get("also", [])
        if len({*also, entry.get("home")}) <= len(also) or len(also) > MOST_ALSO:
            yield Problem(here, f"{item} has in 'also' a label twice, or more than {MOST_ALSO}")
        for label in (entry.get("home"), *also):
            if label and label not in book.labels:
                yield Problem(here, f"{item} names {label}, which is no label of the book")


def _errata(book: Book) -> Iterator[Problem]:
    known = book.by_label()
    here = Place("errata.yml")
    for part, prefix, entries in (("errors", "E-", book.errata), ("right", "R-", book.right)):
        for identifier in entries:
            if not identifier.startswith(prefix):
                yield Problem(here, f"{identifier} stands under {part!r}, where ids begin with {prefix}")
    for entry in book.errata.values():
        name, label = entry["id"], entry.get("corrected")
        if entry.get("class") not in CLASSES:
            yield Problem(here, f"{name} is of class {entry.get('class')!r}; allowed: {', '.join(CLASSES)}")
        if bool(label) == bool(entry.get("no-correction")):
            yield Problem(
                here, f"{name} needs either 'corrected' (the label that does) or 'no-correction' (why)"
            )
        if label and label not in book.labels:
            yield Problem(here, f"{name} is corrected in {label}, which is no label of the book")
    for entry in [*book.errata.values(), *book.right.values()]:
        for item in entry.get("items", ()):
            if item not in book.items:
                yield Problem(here, f"{entry['id']} names source {item}, which does not exist in sources.yml")
        labels = entry.get("witnesses", ())
        if not labels and not entry.get("slips"):
            yield Problem(here, f"{entry['id']} names no witness, and has no slips")
        for label in labels:
            if label not in known:
                yield Problem(here, f"{entry['id']} points to {label}, which is no statement of the book")
            elif not book.witnesses_of(label):
                yield Problem(here, f"{entry['id']} points to {label}, which has no witness")


def main(arguments: list[str]) -> int:
    if arguments != ["check"]:
        print("usage: python -m tools.ledger check", file=sys.stderr)
        return 2
    book = read(Path(__file__).parent.parent)
    found = check(book)
    for problem in found:
        print(problem)
    if not found:
        proved = sum(s.needs_proof for s in book.statements)
        print(
            f"ledger: {len(book.statements)} statements, {proved} of them proved, "
            f"{len(book.witnesses)} witnesses, {len(book.items)} source items, no problem"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
