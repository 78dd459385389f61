"""Write chapters as hand-outs: notebooks for a class, without the solutions of the exercises.

    python -m tools.handout NAME… [--quiz]    (make handout ARGS="ecoc risk")

`_build/handouts/NAME.ipynb` is the chapter for a JupyterLab that knows nothing of this book: statements are
quoted blocks with a bold title, references are words, formulas need no macros, outputs are cleared. What
stands between `solution-start` and `solution-end` is left out, code included; so are the answers of quizzes,
unless `--quiz` asks for them.

The folder has what the notebooks need: mcutils as a wheel that is built from here, a `requirements.txt` that
names it, and below `files/` what their code reads from the repository.

tools/folders.py writes chapters in the same way for those who learn alone: with solutions and answers.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import nbformat
import yaml
from hatchling.builders.wheel import WheelBuilder
from nbformat import NotebookNode
from pybtex.database import BibliographyData, Entry, parse_file

from tools import measure, notebooks, package
from tools.measure import Block
from tools.stored import ROOT

OUT = ROOT / "_build" / "handouts"

KINDS = {
    **{f"prf:{kind}": kind.capitalize() for kind in ("definition", "theorem", "lemma", "proposition")},
    **{f"prf:{kind}": kind.capitalize() for kind in ("corollary", "example", "algorithm", "remark")},
    **dict.fromkeys(("exercise", "exercise-start"), "Exercise"),
    **dict.fromkeys(("solution", "solution-start"), "the solution of"),
}
DROPPED = {"comment", "target", "index", "exercise-end", "solution-end"}
KNOWN = {*KINDS, *DROPPED, "admonition", "dropdown", "list-table", "margin", "prf:proof"}
WIDGET = re.compile(r"data-widget=|<script\b")
ON_THE_SITE = "*On the site, an interactive figure stands here.*"

ROLE = re.compile(r"\{([\w:.-]+)\}`([^`]*)`")
CODE = re.compile(r"(`+)[^`].*?\1", re.DOTALL)
DISPLAY = re.compile(r"\$\$(.*?)\$\$(?:\s*\(([\w-]+)\))?", re.DOTALL)
EXPLICIT = re.compile(r"(.*?)\s*<([^<>]*)>$", re.DOTALL)
OUTSIDE = re.compile(r"""(?<=["'])\.\./(?!mcutils/|widgets/)([^"']+)(?=["'])""")


class Refusal(Exception):
    """A sentence that says why no hand-out was written."""


# -- formulas without macros -------------------------------------------------------------

COMMAND = re.compile(r"\\([A-Za-z]+)")
WANTS_ONE_TOKEN = re.compile(r"(?:[_^]|\\(?:hat|bar|tilde|widehat|widetilde|overline|check|dot|vec))\s*$")


def _argument(tex: str, at: int) -> tuple[str, int]:
    """What TeX takes for an argument, and where it ends: a group, a command, or a character."""
    while at < len(tex) and tex[at].isspace():
        at += 1
    if at == len(tex):
        raise Refusal(f"A macro lacks an argument: {tex!r}.")
    if tex[at] != "{":
        command = COMMAND.match(tex, at)
        end = command.end() if command else at + 1
        return tex[at:end], end
    depth, end = 0, at
    while end < len(tex):
        depth += (tex[end] == "{") - (tex[end] == "}")
        end += 2 if tex[end] == "\\" else 1
        if depth == 0:
            return tex[at + 1 : end - 1], end
    raise Refusal(f"A brace is not closed: {tex!r}.")


def expand(tex: str) -> str:
    r"""A formula without the macros of `web/macros.yml`.

    >>> expand(r"\norm{x} \in \R")
    '\\left\\lVert x \\right\\rVert \\in \\mathbb{R}'
    >>> expand(r"\hat\E g")
    '\\hat{\\mathop{\\mathbb{E}}} g'
    >>> expand(r"\inner w{\phi(\set{x})}y")
    '\\left\\langle w, \\phi(\\left\\{x\\right\\}) \\right\\rangle y'
    """
    macros = notebooks.macros()
    done, at = "", 0
    while found := COMMAND.search(tex, at):
        done += tex[at : found.start()]
        at = found.end()
        new = found[0]
        if template := macros.get(new):
            values = []
            for _ in range(max((int(n) for n in re.findall(r"#(\d)", template)), default=0)):
                value, at = _argument(tex, at)
                values.append(expand(value))
            new = re.sub(r"#(\d)", lambda number, values=values: values[int(number[1]) - 1], template)  # type: ignore[misc]
            if WANTS_ONE_TOKEN.search(done) and not new.startswith("^"):
                new = f"{{{new}}}"
        # a letter must not become a part of the command before it
        done += new + (" " if re.search(r"\\[A-Za-z]+$", new) and tex[at : at + 1].isalpha() else "")
    return done + tex[at:]


# -- what the labels of the book stand for -----------------------------------------------


class Named(NamedTuple):
    """What has a label: a statement, an exercise, a section, a figure, a table, a formula."""

    kind: str
    title: str
    document: str


@dataclass
class Book:
    """What references can name."""

    root: Path
    title: str
    labels: dict[str, Named] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)  # of the documents
    sources: BibliographyData = field(default_factory=BibliographyData)


def read(root: Path) -> Book:
    """All labels of a book."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    book = Book(root, config["title"])
    if (root / "references.bib").exists():
        book.sources = parse_file(str(root / "references.bib"))
    written = [path for folder in notebooks.FOLDERS for path in root.glob(f"{folder}/*.ipynb")]
    for path in sorted([*written, *root.glob("*.md"), *root.glob("*/*.md")]):
        document = path.relative_to(root).with_suffix("").as_posix()
        if document.split("/")[0] not in (*notebooks.FOLDERS, "appendix", "parts", path.stem):
            continue
        if path.suffix == ".md":
            _note(book, document, measure.blocks(path.read_text(encoding="utf-8")))
            continue
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "markdown":
                _note(book, document, measure.blocks(cell.source))
            elif figure := cell.metadata.get("mystnb", {}).get("figure"):
                book.labels[figure["name"]] = Named("figure", figure["caption"], document)
    return book


def _note(book: Book, document: str, blocks: tuple[Block, ...]) -> None:
    targets: list[str] = []
    for block in blocks:
        if block.kind == "target":
            targets.append(block.text)
            continue
        if block.kind == "comment":
            continue
        if block.kind == "heading":
            book.titles.setdefault(document, block.text)
        for label in targets if block.kind in ("heading", "list-table") else ():
            book.labels[label] = Named(
                "section", block.text if block.kind == "heading" else block.title, document
            )
        targets = []
        if block.kind == "display" and (found := DISPLAY.search(block.text)) and found[2]:
            book.labels[found[2]] = Named("formula", "", document)
        if name := block.options.get("label") or block.options.get("name"):
            book.labels[name] = Named(KINDS.get(block.kind, block.kind), block.title, document)
        _note(book, document, block.inside)


class Kept(NamedTuple):
    """A cell of a hand-out, and the blocks of its text."""

    cell: NotebookNode
    blocks: tuple[Block, ...]


# -- from MyST to Markdown ---------------------------------------------------------------


@dataclass
class Handout:
    """A chapter on its way to a hand-out."""

    book: Book
    document: str
    quiz: bool = False
    formulas: dict[str, int] = field(default_factory=dict)  # the numbers of labelled ones
    figures: dict[str, int] = field(default_factory=dict)
    cited: set[str] = field(default_factory=set)

    def number(self, cells: Iterable[Kept]) -> None:
        """Count what has a number, before the first reference to it."""
        for cell, blocks in cells:
            for label in labelled_formulas(blocks):
                self.formulas[label] = len(self.formulas) + 1
            if figure := cell.metadata.get("mystnb", {}).get("figure"):
                self.figures[figure["name"]] = len(self.figures) + 1

    def markdown(self, blocks: tuple[Block, ...]) -> str:
        parts = (self.block(block) for block in blocks if block.kind not in DROPPED)
        return "\n\n".join(part for part in parts if part)

    def block(self, block: Block) -> str:
        if block.kind == "text":
            return self.text(block.text)
        if block.kind == "heading":
            return f"{'#' * block.level} {self.text(block.text)}"
        if block.kind == "display":
            return self.display(block.text)
        if block.kind == "code":
            return f"```\n{block.text}\n```"
        if block.kind == "html":
            return (
                ON_THE_SITE
                if WIDGET.search(block.text)
                else ""
                if block.text.startswith("</")
                else block.text
            )
        if block.kind == "table":
            return self.text(block.text)
        if block.kind == "list-table":
            return self.table(block)
        if block.kind == "prf:proof":
            return self.proof(block)
        if block.kind in ("exercise", "exercise-start"):
            head = f"#### {self.title_of(block)}"
            return f"{head}\n\n{self.markdown(block.inside)}" if block.inside else head
        if block.kind in ("solution", "solution-start"):
            head = f"{SOLUTION} of `{block.title}`"
            return f"{head}\n\n{self.markdown(block.inside)}" if block.inside else head
        if block.kind in KINDS:
            return quoted(f"{self.head(block)}\n\n{self.markdown(block.inside)}")
        if block.kind == "margin":
            return quoted(f"*In the margin.* {self.markdown(block.inside)}")
        if block.kind == "admonition":
            inside = block.inside
            if measure.is_quiz(block) and not self.quiz:
                inside = tuple(part for part in inside if part.kind != "dropdown")
            title = self.text(block.title)
            return quoted(f"**{title}**\n\n{self.markdown(inside)}" if title else self.markdown(inside))
        if block.kind == "dropdown":
            summary = f"<summary>{self.text(block.title)}</summary>"
            return f"<details>{summary}\n\n{self.markdown(block.inside)}\n\n</details>"
        raise Refusal(
            f"{self.document} has the directive {block.kind!r}, which hand-outs do not know; "
            f"they know {', '.join(sorted(KNOWN))}."
        )

    def proof(self, block: Block) -> str:
        """A proof, from its name to its end; what is no paragraph keeps lines of its own."""
        inside = [part for part in block.inside if part.kind not in DROPPED]
        begin = " " if inside and inside[0].kind == "text" else "\n\n"
        end = " " if inside and inside[-1].kind == "text" else "\n\n"
        return f"**Proof{self.brackets(block)}.**{begin}{self.markdown(block.inside).lstrip()}{end}∎"

    def brackets(self, block: Block) -> str:
        return f" ({self.text(block.title)})" if block.title else ""

    def head(self, block: Block) -> str:
        """The bold title of a statement, and its label, by which the checks call it."""
        return f"**{KINDS[block.kind]}{self.brackets(block)}**{name_of(block)}"

    def title_of(self, exercise: Block) -> str:
        return f"Exercise{self.brackets(exercise)}{name_of(exercise)}"

    def table(self, block: Block) -> str:
        rows: list[list[str]] = []
        for line in block.text.split("\n"):
            entry = re.match(r"(\* - |  - )(.*)$", line)
            if entry and entry[1] == "* - ":
                rows.append([entry[2]])
            elif entry:
                rows[-1].append(entry[2])
            elif line.strip():
                rows[-1][-1] += f" {line.strip()}"
        lines = [f"| {' | '.join(self.text(entry) for entry in row)} |" for row in rows]
        lines.insert(1, "|" + "---|" * len(rows[0]))
        caption = f"*{self.text(block.title)}*\n\n" if block.title else ""
        return caption + "\n".join(lines)

    def display(self, text: str) -> str:
        """A displayed formula; if it has a label, with its number."""

        def one(found: re.Match[str]) -> str:
            tex = expand(found[1])
            if not found[2]:
                return f"$${tex}$$"
            end = tex[len(tex.rstrip()) :]
            return f"$${tex.rstrip()} \\tag{{{self.formulas[found[2]]}}}{end}$$"

        return DISPLAY.sub(one, text) if "$$" in text else expand(text)

    def text(self, text: str) -> str:
        """A text whose references are words and whose formulas need no macros."""
        parts: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
            (ROLE, self.role),
            (CODE, lambda code: code[0]),
            (measure.FORMULA, lambda formula: f"${expand(formula[0][1:-1])}$"),
        ]
        done, at = "", 0
        while at < len(text):
            matches = [
                (found.start(), n, found) for n, (p, _) in enumerate(parts) if (found := p.search(text, at))
            ]
            if not matches:
                break
            start, number, found = min(matches, key=lambda match: match[:2])
            done += text[at:start] + parts[number][1](found)
            at = found.end()
        return done + text[at:]

    def role(self, role: re.Match[str]) -> str:
        """A reference in words."""
        name, content = role[1], " ".join(role[2].split())
        if name in ("cite", "cite:t"):
            return self.citation(content.split(","), textual=name == "cite:t")
        explicit = EXPLICIT.match(content)
        if explicit and name in ("doc", "ref", "prf:ref", "prf:numref", "numref"):
            target = self.book.labels.get(explicit[2])
            number = self.figures.get(explicit[2])
            words = self.text(explicit[1])
            return words.replace(
                "%s", str(number) if number else f"“{self.text(target.title)}”" if target else ""
            )
        if name == "doc":
            path = PurePosixPath(
                content[1:] if content.startswith("/") else f"{PurePosixPath(self.document).parent}/{content}"
            )
            return f"“{self.text(self.title(path.as_posix()))}”"
        if name == "eq":
            if content in self.formulas:
                return f"({self.formulas[content]})"
            return f"(`{content}`, in “{self.text(self.title(self.named(content).document))}”)"
        if name in ("ref", "prf:ref", "prf:numref", "numref"):
            return self.reference(content)
        raise Refusal(
            f"{self.document} has the role {name!r}, which hand-outs do not know; they know "
            "cite, cite:t, doc, eq, numref, prf:numref, prf:ref and ref."
        )

    def reference(self, label: str) -> str:
        found = self.named(label)
        if found.kind == "figure":
            if label in self.figures:
                return f"Figure {self.figures[label]}"
            return f"the figure `{label}` in “{self.text(self.title(found.document))}”"
        title = f"“{self.text(found.title)}”" if found.title else f"`{label}`"
        return f"{found.kind} {title}" if found.kind in KINDS.values() else title

    def named(self, label: str) -> Named:
        if label not in self.book.labels:
            raise Refusal(f"{self.document} refers to {label!r}, which has no place in the book.")
        return self.book.labels[label]

    def title(self, document: str) -> str:
        if document not in self.book.titles:
            raise Refusal(f"{self.document} refers to the page {document!r}, which the book does not have.")
        return self.book.titles[document]

    def citation(self, keys: list[str], *, textual: bool) -> str:
        found = []
        for key in map(str.strip, keys):
            if key not in self.book.sources.entries:
                raise Refusal(f"{self.document} cites {key!r}, which is not in references.bib.")
            self.cited.add(key)
            authors, year = cited_as(self.book.sources.entries[key])
            found.append((f"{authors} [{year}]" if textual else f"{authors}, {year}") if year else authors)
        return ", ".join(found) if textual else f"[{'; '.join(found)}]"

    def references(self) -> str:
        """The works that the chapter cites, for its end."""
        lines = []
        for key in self.cited:
            entry = self.book.sources.entries[key]
            authors, year = cited_as(entry)
            title = re.sub(r"[{}]", "", entry.fields.get("title", ""))
            doi = entry.fields.get("doi")
            address = f"https://doi.org/{doi}" if doi else entry.fields.get("url", "")
            lines.append(
                f"- {authors}{f' ({year})' if year else ''}. *{title}*.{f' <{address}>' if address else ''}"
            )
        return "\n".join(["## References", "", *sorted(lines)])


def name_of(block: Block) -> str:
    label = block.options.get("label")
    return f" `{label}`" if label else ""


def cited_as(entry: Entry) -> tuple[str, str]:
    """The authors of a work, in short, and its year."""
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [re.sub(r"[{}\\\"']", "", " ".join([*p.prelast_names, *p.last_names])) for p in people]
    if not names:
        names = [entry.fields.get("key") or entry.key]
    short = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return short, entry.fields.get("year", "")


def quoted(text: str) -> str:
    """A quoted block; formulas on one line, since JupyterLab reads them before it takes the marks off."""

    def one_line(formula: re.Match[str]) -> str:
        return " ".join(formula[0].split())

    text = re.sub(r"\$\$.*?\$\$|(?<![$\\])\$(?![$\s])[^$]+\$", one_line, text, flags=re.DOTALL)
    return textwrap.indent(text, "> ", lambda line: True)


# -- the notebook ------------------------------------------------------------------------

# One level below that of an exercise: JupyterLab folds what comes until the next heading that is not lower.
SOLUTION = "##### Solution"
FOLDED_HEADING = {"jp-MarkdownHeadingCollapsed": True}
ENDS_A_SOLUTION = {"heading", "exercise", "exercise-start"}


def kept(nb: NotebookNode, solutions: bool = False) -> Iterator[Kept]:
    """The cells of a hand-out, with their blocks; nothing that is for the site alone."""
    solution = False
    for cell in nb.cells:
        if "remove-cell" in notebooks.tags(cell):
            continue
        if cell.cell_type != "markdown":
            if solutions or not solution:
                yield Kept(cell, ())
            continue
        blocks = []
        for block in measure.blocks(cell.source):
            if block.kind == "solution-start":
                solution = True
            if solutions or not (solution or block.kind == "solution"):
                blocks.append(block)
            if block.kind == "solution-end":
                solution = False
        yield Kept(cell, tuple(blocks))
    if solution:
        raise Refusal("A solution begins that does not end: everything after it would be left out.")


def not_folded(found: Iterable[Kept]) -> set[str]:
    """The exercises whose solutions stay open: what follows is no heading, and would be folded with them."""
    result, solution, ended = set(), "", False
    for cell, blocks in found:
        for block in blocks or (Block("code cell", cell.source),):
            if ended and block.kind not in DROPPED | ENDS_A_SOLUTION:
                result.add(solution)
            if block.kind in ("solution", "solution-start"):
                solution = block.title
            if block.kind not in DROPPED or block.kind == "solution-end":
                ended = block.kind in ("solution", "solution-end")
    return result


def pieces(blocks: tuple[Block, ...]) -> Iterator[tuple[Block, ...]]:
    """The blocks of a cell in pieces, cut where a solution begins and ends: JupyterLab folds whole cells."""
    begun: list[Block] = []
    for block in blocks:
        if block.kind in ("solution-start", "solution-end"):
            yield tuple(begun)
            yield (block,)
            begun = []
        else:
            begun.append(block)
    yield tuple(begun)


def labelled_formulas(blocks: tuple[Block, ...]) -> Iterator[str]:
    for block in blocks:
        if block.kind == "display":
            yield from (found[2] for found in DISPLAY.finditer(block.text) if found[2])
        yield from labelled_formulas(block.inside)


def handout(
    path: Path, book: Book, *, quiz: bool = False, solutions: bool = False
) -> tuple[NotebookNode, set[str]]:
    """The notebook of a chapter without the book, and what its code reads from the repository."""
    quiz = quiz or solutions
    found = list(kept(notebooks.read(path), solutions))
    document = path.resolve().relative_to(book.root).with_suffix("").as_posix()
    stay_open = not_folded(found)
    solution = ""
    writer = Handout(book, document, quiz)
    writer.number(found)
    cells: list[NotebookNode] = []
    files: set[str] = set()
    for cell, blocks in found:
        if cell.cell_type == "markdown":
            for number, piece in enumerate(pieces(blocks)):
                first = piece[0].kind if piece else ""
                solution = piece[0].title if first == "solution-start" else solution
                source = writer.markdown(piece)
                if first == "solution-end" and solution in stay_open:
                    source = "***"
                if source:
                    is_folded = first == "solution-start" and solution not in stay_open
                    metadata = FOLDED_HEADING if is_folded else {}
                    name = f"{cell.id[:50]}-{number}" if number else cell.id
                    cells.append(nbformat.v4.new_markdown_cell(source, id=name, metadata=metadata))
            continue
        files |= {read[1] for read in OUTSIDE.finditer(cell.source)}
        source = OUTSIDE.sub(lambda read: f"files/{read[1]}", cell.source)
        folded = set(notebooks.tags(cell)) & measure.FOLDED_CODE or measure.is_preparation(source)
        hidden = {"jupyter": {"source_hidden": True}} if folded else {}
        cells.append(nbformat.v4.new_code_cell(source, id=cell.id, metadata=hidden))
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            caption = f"**Figure {writer.figures[figure['name']]}.** {writer.text(figure['caption'])}"
            cells.append(nbformat.v4.new_markdown_cell(caption, id=f"{cell.id[:50]}-caption"))
    if cells:
        origin = about(book, quiz=quiz, solutions=solutions)
        cells.insert(1, nbformat.v4.new_markdown_cell(origin, id="handout-origin"))
    if writer.cited:
        cells.append(nbformat.v4.new_markdown_cell(writer.references(), id="handout-references"))
    result = nbformat.v4.new_notebook(cells=cells, metadata=nbformat.from_dict(notebooks.METADATA))
    nbformat.validate(result)
    return result, files


TERMS = "Text: CC BY 4.0; code: BSD 3-Clause."


def about(book: Book, *, quiz: bool, solutions: bool) -> str:
    """Whence it comes, and under which terms: the licences ask for it."""
    without = "" if solutions else ", without solutions" if quiz else ", without solutions and answers"
    folded = "Code that is folded opens with a click on its dots" + (
        "; the solution of an exercise, with a click on the words below its title." if solutions else "."
    )
    return f"*A chapter of “{book.title}”{without}. {TERMS} {folded}*"


# -- the folder --------------------------------------------------------------------------


def pythons() -> str:
    """Those that the book runs on, as "3.11, 3.12 or 3.13"."""
    prefix = "Programming Language :: Python :: 3."
    classifiers = package.project()["classifiers"]
    *others, last = [f"3.{each.removeprefix(prefix)}" for each in classifiers if each.startswith(prefix)]
    return f"{', '.join(others)} or {last}" if others else last


def requirements(wheel: str, also: Iterable[str] = ()) -> str:
    """What the notebooks need, in the versions that the book is tested with; mcutils from the wheel."""
    project = package.project()
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(each for extra in extras.values() for each in extra),
        "jupyterlab",
        *also,
    ]
    names = {re.match(r"[\w.-]+", each)[0].lower() for each in needed}  # type: ignore[index]
    pins = re.findall(
        r"^[\w.-]+==[^\s#]+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    lines = [pin for pin in pins if pin.split("==")[0].lower() in names]
    return "\n".join(
        [
            f"# Python {pythons()}. In this folder: pip install -r requirements.txt, then jupyter lab",
            f"./{wheel}[{','.join(extras)}]",
            *lines,
            "",
        ]
    )


def build_wheel(folder: Path) -> str:
    """Build mcutils into the folder, always with the same bytes and without asking a network; its name."""
    for old in folder.glob("*.whl"):
        old.unlink()
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(built).name


def files_of(name: str) -> dict[str, bytes]:
    """A file, or a folder of them, that a chapter reads: paths beside its notebook, and contents."""
    source = ROOT / name
    if not source.exists():
        raise Refusal(f"A chapter reads ../{name}, which is not there.")
    paths = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
    return {f"files/{path.relative_to(ROOT).as_posix()}": path.read_bytes() for path in paths}


def copy(name: str, folder: Path) -> None:
    """Put what a chapter reads beside its notebook."""
    for path, content in files_of(name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.handout", description="Hand-outs without solutions."
    )
    parser.add_argument("names", nargs="+", type=notebooks.find, help="ecoc, or a path")
    parser.add_argument("--quiz", action="store_true", help="keep the answers of quizzes")
    options = parser.parse_args(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        book = read(ROOT)
        found = {path.stem: handout(path, book, quiz=options.quiz) for path in options.names}
        wheel = build_wheel(OUT)
        for name, (nb, files) in found.items():
            for file in files:
                copy(file, OUT)
            (OUT / f"{name}.ipynb").write_text(notebooks.text(nb), encoding="utf-8")
        (OUT / "requirements.txt").write_text(requirements(wheel), encoding="utf-8")
    except Refusal as reason:
        sys.exit(str(reason))
    for name in found:
        print(notebooks.shown(OUT / f"{name}.ipynb"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
