"""How long a chapter is, and what a reader meets in it: counted from the notebook, without executing it.

    python -m tools.measure [names…] [--json]    (make measure)

A name is that of a topic (`ecoc`) or a path; without names, all chapters in the order of the book.

*Story* is what is seen when everything is folded: prose, captions, statements, the sketches of proofs, the
gists of folded sections, questions and options of quizzes. *Full* has, besides, proofs, dropdowns and the
sections marked "detail" and "beyond". Neither has the solutions of exercises, code, or what stands in tables.

A formula is no word. A reference counts as one word, unless it brings its own text. The minutes of both are
computed by one formula, in `Layer.minutes`, from the words, the formulas within lines, the displayed formulas
and the lines of code in view.

`blocks` reads Markdown line by line. The site's parser would need ten times as long, and this is a part of
`make check`; tests/test_measure.py compares the two on every chapter.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple

from nbformat import NotebookNode

from tools import breaks

# So many words a minute are read by those who study a text; of plain prose adults read 240. A formula within
# a line is taken in at a glance, a displayed one is read sign by sign, code line by line.
WORDS_A_MINUTE = 150
SECONDS_A_FORMULA = 3
SECONDS_A_DISPLAY = 15
SECONDS_A_LINE_OF_CODE = 4

TELETYPE = 3  # more printed lines than this are a table that wants to be one
LECTURES = "In the five lectures"
FOLDED_CODE = {"hide-input", "hide-cell"}
NO_CODE = {"remove-cell", "remove-input"}
NO_OUTPUT = {"remove-cell", "remove-output", "hide-output", "hide-cell"}


@dataclass(frozen=True)
class Measures:
    """What is counted of a chapter.

    Attributes
    ----------
    story_words, full_words : int
        Words of both layers.
    story_minutes, full_minutes : int
        How long they take, to five minutes.
    before_picture : int or None
        Words of Story before the first picture or interactive figure; None if there is neither.
    proofs, sketched : int
        The proofs, and those that begin with a sketch, which stays in view.
    bars : int
        The longest run of fold bars with nothing to read between them.
    statements, breakable : int
        The statements that a witness checks, and those of them that a reader can break, because a mutant
        has words.
    teletype : int
        The cells that print more than three lines, or a value as only programs read it.
    quizzes, exercises : int
        How many there are.
    """

    story_words: int
    full_words: int
    story_minutes: int
    full_minutes: int
    before_picture: int | None
    proofs: int
    sketched: int
    bars: int
    statements: int
    breakable: int
    teletype: int
    quizzes: int
    exercises: int


# -- reading Markdown --------------------------------------------------------------------


class Block(NamedTuple):
    """A piece of Markdown: a text, a heading, a displayed formula, code, HTML, a table, or a directive."""

    kind: str  # "text", "heading", "display", "code", "html", "table", "target", or a directive's name
    text: str  # its lines; of a directive, those inside it, without the options
    title: str = ""  # what stands behind the name of a directive
    options: dict[str, str] = {}  # noqa: RUF012 (never changed)
    inside: tuple[Block, ...] = ()
    level: int = 0  # of a heading

    def has_class(self, name: str) -> bool:
        return name in self.options.get("class", "").split()


FENCE = re.compile(r"\s*(`{3,}|:{3,})\s*(?:\{([^}\s]+)\})?\s*(.*)$")
OPTION = re.compile(r"\s*:([\w-]+):\s*(.*)$")
HEADING = re.compile(r"(#{1,6})\s+(.*)$")
RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*$")  # below the heads of a table
TARGET = re.compile(r"\(([^()\s]+)\)=\s*$")
# what begins a piece of raw HTML, which ends at a blank line
HTML = re.compile(r"\s*</?(?:div|p|table|t[rdh]|tbody|thead|fig\w+|details|noscript|script|svg|[uo]l)\b")
AMSMATH = re.compile(r"\s*\\begin\{(align|alignat|equation|gather|multline)\*?\}")
# directives whose inside is no Markdown, or is shown elsewhere
OPAQUE = {"code", "code-block", "code-cell", "math", "raw", "index", "bibliography"}
TABLES = {"list-table", "table", "csv-table"}
PICTURES = {"figure", "image", "chapter-figure"}


def blocks(source: str) -> tuple[Block, ...]:
    """The pieces of a Markdown text, in order."""
    return tuple(_blocks(source.split("\n")))


def _blocks(lines: list[str]) -> Iterator[Block]:
    text: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        start = line.lstrip()
        found: Block | None = None
        end = at + 1
        if start.startswith(("```", ":::")) and (fence := FENCE.match(line)):
            marks, name, title = fence.groups()
            end = _end_of_fence(lines, at + 1, marks)
            found = _directive(name, title, lines[at + 1 : end])
            end += 1
        elif start.startswith("$$"):  # until two dollars stand again, perhaps in the same line
            end = at + 1 if "$$" in start[2:] else _first(lines, at + 1, lambda other: "$$" in other) + 1
            found = Block("display", "\n".join(lines[at:end]))
        elif start.startswith("\\begin{") and (opened := AMSMATH.match(line)):
            closing = f"\\end{{{opened[1]}"
            end = _first(lines, at, lambda other, closing=closing: closing in other) + 1  # type: ignore[misc]
            found = Block("display", "\n".join(lines[at:end]))
        elif line.startswith("#") and (heading := HEADING.match(line)):
            found = Block("heading", heading[2], level=len(heading[1]))
        elif start.startswith("<") and HTML.match(line):
            end = _first(lines, at, lambda other: not other.strip())
            found = Block("html", "\n".join(lines[at:end]))
        elif start.startswith("|") and at + 1 < len(lines) and RULE.match(lines[at + 1]):
            end = _first(lines, at, lambda other: not other.lstrip().startswith("|"))
            found = Block("table", "\n".join(lines[at:end]))
        elif start.startswith("(") and (target := TARGET.match(start)):
            found = Block("target", target[1])
        elif start.startswith(("%", "+++")):
            found = Block("comment", line)
        if found is None and start:
            text.append(line)
        elif text:
            yield Block("text", "\n".join(text))
            text = []
        if found is not None:
            yield found
        at = end
    if text:
        yield Block("text", "\n".join(text))


def _first(lines: list[str], start: int, wanted: Callable[[str], bool]) -> int:
    """The first line from `start` on that is wanted; the number of lines if none is."""
    return next((i for i in range(start, len(lines)) if wanted(lines[i])), len(lines))


def _end_of_fence(lines: list[str], start: int, marks: str) -> int:
    """Where Markdown says that a fence ends: at the first line of as many or more of the same character."""
    for i in range(start, len(lines)):
        line = lines[i].strip()
        if line.startswith(marks) and not line.strip(marks[0]):
            return i
    return len(lines)


def _directive(name: str | None, title: str, lines: list[str]) -> Block:
    if name is None:
        return Block("code", "\n".join(lines))
    options: dict[str, str] = {}
    first = 0
    while first < len(lines) and (option := OPTION.match(lines[first])):
        options[option[1]] = option[2].strip()
        first += 1
    text = "\n".join(lines[first:])
    if name == "math":
        return Block("display", text)
    if name in OPAQUE:
        return Block("code" if name.startswith("code") else "comment", text)
    inside = () if name in TABLES else blocks(text)
    return Block(name, text, title, options, inside)


# -- words and formulas ------------------------------------------------------------------

FORMULA = re.compile(r"(?<!\\)\$(?!\s)[^$]+\$")
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*)(?:<[^`]*>)?`")
LINK = re.compile(r"\]\([^)\s]*\)|</?[a-z][^>]*>|<https?:[^>]*>")
WORD = re.compile(r"[^\W_](?:[\w'’-]|[.,](?=\w))*")


def plain(text: str) -> str:
    """A text without formulas, tags and addresses; of a reference its own text, or one word.

    >>> plain("By {prf:ref}`thm-x`, [errs](x.md) with $k = 3$; see {ref}`Lu <lu>`.")
    'By  one , [errs  with  ; see Lu .'
    """
    text = FORMULA.sub(" ", text)
    text = ROLE.sub(lambda role: role[1] if "<" in role[0] else " one ", text)
    return LINK.sub(" ", text)


def words(text: str) -> int:
    """How many words a text has; a formula is none.

    >>> words("By {prf:ref}`thm-x`, *one-vs-all* with $k = 3$ errs 0.5 times.")
    7
    """
    return len(WORD.findall(plain(text)))


def formulas(text: str) -> int:
    """How many formulas stand within the lines of a text.

    >>> formulas("with $k = 3$ and $n$")
    2
    """
    return len(FORMULA.findall(text))


# -- walking through a chapter -----------------------------------------------------------


class Piece(NamedTuple):
    """A block, or a cell of code, in its place on the page."""

    block: Block | None
    code: NotebookNode | None
    cell: int  # its position among all cells
    folded: bool  # not seen in Story
    solution: bool  # of an exercise
    inside: tuple[Block, ...]  # the directives around it


def pieces(nb: NotebookNode) -> Iterator[Piece]:
    """What stands on the page of a chapter, in the order of the notebook; a directive before its inside."""
    section = 0  # the level of the folded section that is open, 0 if none is
    solution = False
    for index, cell in enumerate(nb.cells):
        if "remove-cell" in cell.metadata.get("tags", ()):
            continue
        if cell.cell_type != "markdown":
            yield Piece(None, cell, index, section > 0, solution, ())
            continue
        layer, gist = cell.metadata.get("layer", ""), cell.metadata.get("gist", "")
        for block in blocks(cell.source):
            if block.kind == "heading":
                if section and block.level <= section:
                    section = 0
                # the heading of a folded section is in view, and so is what it says of itself
                yield Piece(block, None, index, section > 0, solution, ())
                if layer and not section:
                    yield Piece(Block("gist", gist), None, index, False, solution, ())
                    section = block.level
                layer = ""  # it is the cell's first heading that it marks
                continue
            if block.kind == "solution-start":
                solution = True
            yield from _walk(block, index, section > 0, solution or block.kind == "solution", ())
            if block.kind == "solution-end":
                solution = False


def _walk(
    block: Block, cell: int, folded: bool, solution: bool, around: tuple[Block, ...]
) -> Iterator[Piece]:
    yield Piece(block, None, cell, folded, solution, around)
    inner = folded or block.kind in ("prf:proof", "dropdown")
    for number, part in enumerate(block.inside):
        seen = block.kind == "prf:proof" and number == 0 and is_sketch(part)
        yield from _walk(part, cell, folded if seen else inner, solution, (*around, block))


def is_sketch(block: Block) -> bool:
    """Whether a proof's first paragraph is its sketch, which stays in view."""
    return block.kind == "text" and block.text.lstrip().startswith(("*Sketch", "_Sketch"))


def has_sketch(proof: Block) -> bool:
    return bool(proof.inside) and is_sketch(proof.inside[0])


def is_quiz(block: Block) -> bool:
    return block.kind == "admonition" and block.has_class("quiz")


def is_picture(piece: Piece) -> bool:
    """Whether a picture or an interactive figure begins here."""
    if piece.code is not None:
        tags = set(piece.code.metadata.get("tags", ()))
        is_drawn = "figure" in piece.code.metadata.get("mystnb", {}) or "data-widget=" in piece.code.source
        return is_drawn and not tags & NO_OUTPUT
    block = piece.block
    if block is None:
        return False
    if block.kind == "html":
        return "data-widget" in block.text or "<img" in block.text
    return block.kind in PICTURES or (block.kind == "text" and "![" in block.text)


def visible_code(cell: NotebookNode) -> list[str]:
    """The lines of a cell's code that are in view, without the blank ones."""
    tags = set(cell.metadata.get("tags", ()))
    if tags & (FOLDED_CODE | NO_CODE) or is_preparation(cell.source):
        return []
    return [line for line in cell.source.splitlines() if line.strip()]


def is_preparation(source: str) -> bool:
    """Whether code only imports, and sets what holds for the whole chapter; the page folds it."""
    if "import" not in source:
        return False
    try:
        lines = ast.parse(source).body
    except SyntaxError:
        return False
    imports = [isinstance(line, ast.Import | ast.ImportFrom) for line in lines]
    settings = ("plot.use_style", "getcontext")
    return any(imports) and all(
        imported or ast.unparse(line).startswith(settings)
        for line, imported in zip(lines, imports, strict=True)
    )


# -- what is printed ---------------------------------------------------------------------

# a dictionary; a list of texts, or of more than two entries, as two may be an interval; what is for programs
RESIDUE = re.compile(
    r"\{[^{}\n]*:[^{}\n]*\}"
    r"|\['[^\[\]\n]*\]|\[[^\[\]\n]*(?:,[^\[\]\n]*){2,}\]"
    r"|\bnp\.\w+\(|\barray\(|<[\w.]+ object"
)


def printed(cell: NotebookNode, *, tables: bool = False) -> str:
    """What a cell prints on the page, its result included; no figures, and tables only if asked for."""
    if set(cell.metadata.get("tags", ())) & NO_OUTPUT:
        return ""
    texts = []
    for output in cell.outputs:
        result = output.get("data", {}).get("text/plain", "")
        if output.get("name") == "stdout":
            texts.append(output.text)
        elif result and not result.startswith("<Figure ") and (tables or not ends_in_a_table(cell.source)):
            texts.append(result)
    return "\n".join(text.strip("\n") for text in texts)


def ends_in_a_table(source: str) -> bool:
    """Whether the last expression of a cell is `plot.table(…)`."""
    if "table(" not in source:
        return False
    try:
        last = ast.parse(source).body[-1]
    except (SyntaxError, IndexError):
        return False
    called = last.value.func if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else None
    return (getattr(called, "attr", "") or getattr(called, "id", "")) == "table"


def is_teletype(cell: NotebookNode) -> bool:
    """Whether a cell prints a table as lines, or a value as only programs read it."""
    text = printed(cell)
    return text.count("\n") >= TELETYPE or bool(RESIDUE.search(text))


# -- measuring ---------------------------------------------------------------------------


@dataclass
class Layer:
    """What is counted of Story, or of Full."""

    words: int = 0
    formulas: int = 0
    displays: int = 0
    lines: int = 0

    def add(self, piece: Piece) -> None:
        block = piece.block
        if piece.code is not None:
            self.lines += len(visible_code(piece.code))
            self.read(piece.code.metadata.get("mystnb", {}).get("figure", {}).get("caption", ""))
        elif block is None:
            pass
        elif block.kind in ("text", "heading", "gist"):
            self.read(block.text)
        elif block.kind == "display":
            self.displays += 1
        elif block.kind == "code":
            self.lines += len(block.text.splitlines())
        elif block.kind not in PICTURES:  # whose argument is a file
            self.read(block.title)

    def read(self, text: str) -> None:
        self.words += words(text)
        self.formulas += formulas(text)

    @property
    def seconds(self) -> float:
        """How long it takes to read."""
        return (
            self.words * 60 / WORDS_A_MINUTE
            + self.formulas * SECONDS_A_FORMULA
            + self.displays * SECONDS_A_DISPLAY
            + self.lines * SECONDS_A_LINE_OF_CODE
        )

    @property
    def minutes(self) -> int:
        """How long it takes to read, to five minutes."""
        return to_minutes(self.seconds)


def to_minutes(seconds: float) -> int:
    """Seconds as a number of minutes that claims no precision.

    >>> to_minutes(1000)
    15
    """
    return max(5, 5 * round(seconds / 300))


def story_seconds(nb: NotebookNode, first: str = "", last: str = "") -> float:
    """How long Story takes, from the section with the label `first` to the end of that with `last`.

    Without labels it is the whole chapter.
    """
    story = Layer()
    labels: set[str] = set()  # of the heading that comes next
    inside, ending = not first, 0  # the level of the last section, once it has begun
    for piece in pieces(nb):
        block = piece.block
        if block is not None and block.kind == "target":
            labels.add(block.text)
            continue
        if block is not None and block.kind == "heading":
            if ending and block.level <= ending:
                return story.seconds
            inside = inside or first in labels
            if inside and last in labels:
                ending = block.level
            labels = set()
        if inside and not piece.folded and not piece.solution:
            story.add(piece)
    if first and not ending:
        raise ValueError(f"no section {last!r} at or after a section {first!r}")
    return story.seconds


def measure(nb: NotebookNode) -> Measures:
    """Count what a reader meets in a chapter."""
    story, full = Layer(), Layer()
    before_picture: int | None = None
    found = list(pieces(nb))
    for piece in found:
        if piece.solution:
            continue
        if before_picture is None and not piece.folded and is_picture(piece):
            before_picture = story.words
        full.add(piece)
        if not piece.folded:
            story.add(piece)
    directives = [piece.block for piece in found if piece.block is not None]
    proofs = [block for block in directives if block.kind == "prf:proof"]
    statements = {label for cell in nb.cells for label in cell.metadata.get("witnesses", ())}
    return Measures(
        story_words=story.words,
        full_words=full.words,
        story_minutes=story.minutes,
        full_minutes=full.minutes,
        before_picture=before_picture,
        proofs=len(proofs),
        sketched=sum(map(has_sketch, proofs)),
        bars=longest_run(nb, found),
        statements=len(statements),
        breakable=len(worded(nb)),
        teletype=sum(piece.code is not None and is_teletype(piece.code) for piece in found),
        quizzes=sum(map(is_quiz, directives)),
        exercises=sum(block.kind in ("exercise", "exercise-start") for block in directives),
    )


def worded(nb: NotebookNode) -> dict[str, list[str]]:
    """The words of the mutants that break each statement."""
    found: dict[str, list[str]] = {}
    for _, mutant in breaks.spoken(nb):
        found.setdefault(mutant.label, []).append(mutant.words)
    return found


def longest_run(nb: NotebookNode, found: Iterable[Piece]) -> int:
    """The most fold bars that stand one below the other with nothing to read between them.

    In a chapter that says what it is (metadata `chapter`), proof, check and lectures of a statement share a
    row, which is one bar (tools.sphinx.units); in the others each has its own, where it stands in the
    notebook. What folded code prints is not counted as something to read, its figure or table is.
    """
    units = any("chapter" in cell.metadata for cell in nb.cells)
    found = [p for p in found if not p.inside and (not p.solution or _begins_solution(p.block))]
    labels = {p.block.options.get("label", "") for p in found if p.block is not None}
    checked = {cell.metadata.get("witnesses", [""])[0] for cell in nb.cells} & labels - {""}
    longest = run = 0
    row = direct = False  # the statement before has a row; nothing but its row has come since

    def bar() -> None:
        nonlocal longest, run
        run += 1
        longest = max(longest, run)

    for piece in found:
        block, cell = piece.block, piece.code
        if cell is not None:
            if is_picture(piece) or visible_code(cell) or ends_in_a_table(cell.source):
                run, direct = 0, False
            moved = units and cell.metadata.get("witnesses", [""])[0] in checked
            if not (moved or visible_code(cell) or set(cell.metadata.get("tags", ())) & NO_CODE):
                bar()
        elif block is None or block.kind in ("comment", "target"):
            continue
        elif block.kind == "prf:proof":
            if not (units and row):
                run = 0 if has_sketch(block) else run
                bar()
            row = True
        elif block.kind in ("dropdown", "solution-start", "solution"):
            if not (units and row and direct and block.title == LECTURES):
                bar()
        elif block.kind.startswith("prf:"):
            run, direct = 0, True
            row = units and block.options.get("label", "") in checked
            if row:
                bar()
        else:
            run, direct = 0, False
    return longest


def _begins_solution(block: Block | None) -> bool:
    return block is not None and block.kind in ("solution-start", "solution")


# -- the command -------------------------------------------------------------------------

NOTE = (
    "Words and minutes of both layers; words before the first picture; the longest run of fold bars; "
    "statements that are checked, and that can be broken; cells that print tables or values as lines."
)
HEADS = {
    "story_words": "Story",
    "full_words": "Full",
    "story_minutes": "minutes",
    "full_minutes": "of Full",
    "before_picture": "to picture",
    "proofs": "proofs",
    "sketched": "sketched",
    "bars": "bars",
    "statements": "checked",
    "breakable": "breakable",
    "teletype": "teletype",
    "quizzes": "quizzes",
    "exercises": "exercises",
}


def as_table(measured: dict[str, Measures]) -> str:
    """The measures of chapters by their names, with a last row for all of them together."""
    # not at the top: the site needs no numpy to count words
    from mcutils._table import table

    columns = {name: [getattr(measures, name) for measures in measured.values()] for name in HEADS}
    rows = list(zip(measured, *columns.values(), strict=True))
    if len(rows) > 1:
        single = ("before_picture", "bars")
        rows.append(("all", *(None if name in single else sum(columns[name]) for name in HEADS)))
    heads = ("chapter", *HEADS.values())
    formats = dict.fromkeys(HEADS.values(), ",d")
    return str(table(rows, heads, caption="What a reader meets", formats=formats, note=NOTE))


def main() -> int:
    from tools import notebooks

    parser = argparse.ArgumentParser(prog="python -m tools.measure", description="Measure chapters.")
    parser.add_argument("names", nargs="*", type=notebooks.find, help="ecoc, or a path; all chapters if none")
    parser.add_argument("--json", action="store_true", help="for programs: the names and values of Measures")
    arguments = parser.parse_args()
    toc = (notebooks.ROOT / "_toc.yml").read_text(encoding="utf-8")
    book = [path for path in notebooks.chapters() if f"chapters/{path.stem}\n" in toc]
    paths = arguments.names or sorted(book, key=lambda path: toc.index(f"chapters/{path.stem}\n"))
    measured = {path.stem: measure(notebooks.read(path)) for path in paths}
    if arguments.json:
        print(json.dumps({name: asdict(measures) for name, measures in measured.items()}, indent=1))
    else:
        print(as_table(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
