"""The form of the second edition: rules for chapters that a program can check, and the chapters that wait.

`python -m tools.notebooks check` prints what `findings` finds, chapter by chapter; what is counted is counted
by tools.measure, and what a chapter says of itself is checked by tools.parts. A chapter whose name is in
`waiting` is not held to the rules yet. The list only becomes shorter: a chapter that keeps all of them and
still waits is a finding. What is left to do in one that waits:

    python -m tools.edition ecoc
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
from collections.abc import Iterator
from typing import NamedTuple

from nbformat import NotebookNode

from tools import breaks, measure
from tools.measure import Block, Piece

# Chapters that have not been cast into the form yet. The list only becomes shorter.
waiting = frozenset(
    """
    background binary boosting bound capacity classes consistency dual frontier hinge kernel
    perceptron pruning rademacher reduction representer softmax solver subgradient tree
    """.split()  # noqa: SIM905 - 24 names are better read so
)

TEMPLATE = "_template"

LONGEST_STORY = 2000  # words
LONGEST_FULL = 6000
FIRST_PICTURE = 300  # words before it
LINES_OF_THE_MINUTE = 5
UNSKETCHED = 12  # lines of a proof's source
LONGEST_SKETCH = 3
LONGEST_CELL = 30  # lines of visible code
MEDIAN_CELL = 12
LONGEST_WITNESS = 40  # lines of its one function, without comments
WAYS_TO_BREAK = 4
LONGEST_WORDS = 12  # of a way to break
QUIZZES = 4
LONGEST_QUIZ = 70  # words
EXERCISES = (4, 8)

LAYERS = ("detail", "beyond")
LAYER_OF = {"Exercises": "detail", "Further reading": "beyond"}
# what the first edition had, and where it is now
GONE = {"Before you start": "the line below the title", "What to remember": "the box “In one minute”"}

CODES = re.compile(
    r"\b(?:E-)?(?:L7|U14|M5|D10)\b(?:\.\d+)?|\b(?:E-)?K\.\d+"
    r"|(?i:\b(?:the|this|that|a|each|its|our|other|another|five|\w+['’]s)(?: \w+)? lectures?\b(?! notes))"
)
ITEM = re.compile(r"^\s{0,3}(?:[-*+]|\d+[.)])\s+", re.MULTILINE)
NUMBERED = re.compile(r"^\s{0,3}\d+[.)]\s+", re.MULTILINE)
PROVED_BY = re.compile(r"\{prf:ref\}`(?:[^`<]*<)?([^`<>\s]+)>?`")


class Chapter(NamedTuple):
    """A notebook, read once for all rules."""

    name: str
    nb: NotebookNode
    pieces: list[Piece]
    measures: measure.Measures

    @property
    def blocks(self) -> Iterator[tuple[int, Block]]:
        """The blocks with the positions of their cells."""
        return ((piece.cell, piece.block) for piece in self.pieces if piece.block is not None)

    @property
    def code(self) -> Iterator[Piece]:
        return (piece for piece in self.pieces if piece.code is not None)

    @property
    def statements(self) -> dict[str, Block]:
        """The statements by their labels."""
        found = {b.options.get("label", ""): b for _, b in self.blocks if b.kind.startswith("prf:")}
        return {label: block for label, block in found.items() if label}


# A finding: the position of its cell, None for the chapter as a whole, and what is wrong.
Finding = tuple[int | None, str]


def findings(name: str, nb: NotebookNode) -> list[Finding]:
    """What keeps a chapter from the form of the second edition; of one that waits, whether it need not."""
    if name not in waiting:
        return sorted(broken(name, nb), key=lambda finding: -1 if finding[0] is None else finding[0])
    if next(broken(name, nb), None) is None:
        return [(None, "keeps all rules of the edition: take it off `waiting` in tools/edition.py")]
    return []


def broken(name: str, nb: NotebookNode) -> Iterator[Finding]:
    """The rules that a chapter breaks, rule by rule."""
    chapter = Chapter(name, nb, list(measure.pieces(nb)), measure.measure(nb))
    return (finding for rule in RULES for finding in rule(chapter))


# -- the page as a whole -----------------------------------------------------------------


def opening(chapter: Chapter) -> Iterator[Finding]:
    """The title cell says what the chapter gives; then comes what is true of it in one minute."""
    title = next((cell for cell, b in chapter.blocks if b.kind == "heading" and b.level == 1), None)
    for index, cell in enumerate(chapter.nb.cells):
        if "chapter" in cell.metadata and index != title:
            yield index, "the metadata 'chapter' belongs to the cell with the title of the chapter"
    for cell, block in chapter.blocks:
        if (name := block.title if block.kind == "admonition" else block.text) in GONE:
            yield cell, f"{name!r} has gone; its place is {GONE[name]}"
    boxes = [(cell, b) for cell, b in chapter.blocks if b.kind == "admonition" and b.has_class("one-minute")]
    if len(boxes) != 1:
        yield None, f"has {len(boxes)} boxes of class 'one-minute' (“In one minute”), must have one"
    for cell, box in boxes:
        sections = [c for c, b in chapter.blocks if b.kind == "heading" and b.level > 1]
        if sections and cell > sections[0]:
            yield cell, "the box “In one minute” comes after the first section; it belongs before it"
        lines = [line for line in ITEM.split(box.text) if line.strip()]
        if not ITEM.search(box.text) or not 1 <= len(lines) <= LINES_OF_THE_MINUTE:
            yield cell, f"“In one minute” has {len(lines)} lines; a list of one to {LINES_OF_THE_MINUTE}"
        for line in lines:
            named = PROVED_BY.findall(line)
            unknown = [label for label in named if label not in chapter.statements]
            if not named or unknown:
                yield (
                    cell,
                    f"“In one minute”, line {line.strip()[:40]!r}: "
                    + (f"{unknown[0]!r} is no statement of this chapter" if unknown else "names no statement")
                    + "; each line names with {prf:ref} the statement of this chapter that proves it",
                )


def length(chapter: Chapter) -> Iterator[Finding]:
    """Story and Full are short, and a picture comes early."""
    measures = chapter.measures
    for layer, found, most in (
        ("Story", measures.story_words, LONGEST_STORY),
        ("Full", measures.full_words, LONGEST_FULL),
    ):
        if found > most:
            yield None, f"{layer} has {found:,} words, at most {most:,} (python -m tools.measure)"
    if measures.before_picture is None:
        yield None, f"has no picture in Story; one must stand within the first {FIRST_PICTURE} words"
    elif measures.before_picture > FIRST_PICTURE:
        yield None, f"the first picture comes after {measures.before_picture} words, at most {FIRST_PICTURE}"


def tasks(chapter: Chapter) -> Iterator[Finding]:
    """Enough quizzes and exercises; of each, the template shows one."""
    if chapter.name == TEMPLATE:
        return
    measures = chapter.measures
    least, most = EXERCISES
    if not least <= measures.exercises <= most:
        yield None, f"has {measures.exercises} exercises; {least} to {most}"
    if measures.quizzes != QUIZZES:
        yield None, f"has {measures.quizzes} quizzes, must have {QUIZZES}"


def sections(chapter: Chapter) -> Iterator[Finding]:
    """A section that is folded in Story says so in the metadata of its one heading."""
    for index, cell in enumerate(chapter.nb.cells):
        headings = [b for c, b in chapter.blocks if c == index and b.kind == "heading"]
        layer, gist = cell.metadata.get("layer"), cell.metadata.get("gist")
        for heading in headings:
            if (wanted := LAYER_OF.get(heading.text)) and layer != wanted:
                yield index, f'the section {heading.text!r} is a {wanted}: metadata "layer": "{wanted}"'
        if layer is None and gist is None:
            continue
        if layer not in LAYERS:
            yield index, f"metadata 'layer' is {layer!r}; allowed are {' and '.join(map(repr, LAYERS))}"
        if not isinstance(gist, str) or not re.search(r"\S[.?!]$", gist) or "\n" in gist:
            yield index, f"metadata 'gist' is {gist!r}; it must be a sentence that says what is folded"
        levels = [heading.level for heading in headings]
        if len(levels) != 1 or levels[0] not in (2, 3):
            yield index, f"has a layer and {len(levels)} headings; it must begin with one, of ## or ###"
            continue
        before = [b.kind for c, b in chapter.blocks if c == index]
        # the end of a solution is written at the head of the next cell
        if set(before[: before.index("heading")]) - {"target", "comment", "solution-end", "exercise-end"}:
            yield index, "has a layer, and text before its heading, which would not be folded"


# -- statements --------------------------------------------------------------------------


def proofs(chapter: Chapter) -> Iterator[Finding]:
    """A long proof begins with its sketch."""
    for cell, block in chapter.blocks:
        if block.kind != "prf:proof":
            continue
        lines = [line for line in block.text.splitlines() if line.strip()]
        if measure.has_sketch(block):
            sketch = block.inside[0].text
            if len(sketch.splitlines()) > LONGEST_SKETCH:
                yield cell, f"a sketch of {len(sketch.splitlines())} lines; one to {LONGEST_SKETCH}"
            if not sketch.startswith("*Sketch.*"):
                yield cell, f"a sketch begins with '*Sketch.*', found {sketch[:20]!r}"
        elif len(lines) > UNSKETCHED:
            yield (
                cell,
                f"a proof of {len(lines)} lines ({lines[0][:30]!r}) has no sketch; one of more than "
                f"{UNSKETCHED} begins with a paragraph '*Sketch.* …', which stays in view",
            )


def witnesses(chapter: Chapter) -> Iterator[Finding]:
    """A witness prints one line, and each statement that is checked can be broken in words."""
    places: dict[str, int] = {}
    for piece in chapter.code:
        cell = piece.code
        assert cell is not None
        if "witness" not in cell.metadata.get("tags", ()):
            continue
        yield from ((piece.cell, complaint) for complaint in _shape(cell.source))
        text = measure.printed(cell)
        if not text or "\n" in text:
            lines = len(text.splitlines())
            yield piece.cell, f"a witness that prints {lines} lines; one, which the page shows after ✓"
        for label in cell.metadata.get("witnesses", ()):
            places.setdefault(label, piece.cell)
        for mutant in breaks.mutants(cell):
            if len(mutant.words.split()) > LONGEST_WORDS:
                yield piece.cell, f"mutant {mutant.words!r} has more than {LONGEST_WORDS} words"
            if re.search(r"[$\\`]", mutant.words):
                yield piece.cell, f"mutant {mutant.words!r} has signs of Markdown or TeX; plain text"
    worded = measure.worded(chapter.nb)
    for label, cell_index in places.items():
        ways = worded.get(label, [])
        if not 1 <= len(ways) <= WAYS_TO_BREAK:
            yield (
                cell_index,
                f"{label} has {len(ways)} mutants with words; one to {WAYS_TO_BREAK} "
                '(["old", "new", "words"]; the others stay tests)',
            )
        if len(set(ways)) < len(ways):
            yield cell_index, f"two mutants of {label} have the same words"


def _shape(source: str) -> Iterator[str]:
    """A witness is one function with names of its own, and a call of it."""
    body = ast.parse(source).body
    if [type(part) for part in body] != [ast.FunctionDef, ast.Expr]:
        yield "a witness is one function, and in its last line the call that prints what it returns"
        return
    lines = [line.strip() for line in source.splitlines()[: body[0].end_lineno]]
    if (size := sum(bool(line) and not line.startswith("#") for line in lines)) > LONGEST_WITNESS:
        yield f"a witness of {size} lines, at most {LONGEST_WITNESS}"


def lectures(chapter: Chapter) -> Iterator[Finding]:
    """The lectures are spoken of where a fold says so, and nowhere else."""
    for piece in chapter.pieces:
        around = [*piece.inside, *([piece.block] if piece.block is not None else [])]
        if any(block.kind == "dropdown" and block.title == measure.LECTURES for block in around):
            continue
        for text in shown_texts(chapter.nb, piece):
            for spoken in dict.fromkeys(match[0] for match in CODES.finditer(measure.plain(text))):
                yield (
                    piece.cell,
                    f"speaks of {spoken!r} outside of a dropdown “{measure.LECTURES}”",
                )


def shown_texts(nb: NotebookNode, piece: Piece) -> Iterator[str]:
    """What a reader meets as words in a piece: prose, or what a cell says beside its code."""
    if piece.block is not None:
        if piece.block.kind in ("text", "heading", "gist", "html", "table", *measure.TABLES):
            yield piece.block.text
        if piece.block.level == 1:
            yield nb.cells[piece.cell].metadata.get("chapter", {}).get("sentence", "")
        yield piece.block.title
        return
    assert piece.code is not None
    said = piece.code.metadata.get("mystnb", {})
    yield said.get("figure", {}).get("caption", "")
    yield said.get("image", {}).get("alt", "")
    yield measure.printed(piece.code, tables=True)
    for mutant in breaks.mutants(piece.code):
        yield mutant.words


# -- code and its results ----------------------------------------------------------------


def code(chapter: Chapter) -> Iterator[Finding]:
    """Code in view is short; what only prepares is folded."""
    sizes = []
    for piece in chapter.code:
        cell = piece.code
        assert cell is not None
        prompts = sorted(key for key in cell.metadata.get("mystnb", {}) if key.startswith("code_prompt_"))
        if prompts:
            yield piece.cell, f"metadata mystnb.{prompts[0]}: the page names folded code itself; delete it"
        tags = set(cell.metadata.get("tags", ()))
        if measure.is_preparation(cell.source) and not tags & (measure.FOLDED_CODE | measure.NO_CODE):
            yield piece.cell, "only imports; give it the tag 'hide-input'"
        if piece.solution:
            continue
        if size := len(measure.visible_code(cell)):
            sizes.append(size)
        if size > LONGEST_CELL:
            yield piece.cell, f"{size} lines of code in view, at most {LONGEST_CELL}; fold some of it"
    if sizes and statistics.median(sizes) > MEDIAN_CELL:
        found = statistics.median(sizes)
        yield None, f"cells in view have {found:g} lines of code in the median, at most {MEDIAN_CELL}"


def results(chapter: Chapter) -> Iterator[Finding]:
    """Results are tables or charts."""
    for piece in chapter.code:
        assert piece.code is not None
        text = measure.printed(piece.code)
        if residue := measure.RESIDUE.search(text):
            yield piece.cell, f"prints {residue[0][:40]!r}; values belong into a plot.table, or a sentence"
        lines = text.count("\n") + 1
        if lines > measure.TELETYPE and "witness" not in piece.code.metadata.get("tags", ()):
            yield piece.cell, f"prints {lines} lines, at most {measure.TELETYPE}; plot.table, or a chart"


# -- quizzes -----------------------------------------------------------------------------


def quizzes(chapter: Chapter) -> Iterator[Finding]:
    """A quiz is short, and has a reason for every option."""
    for cell, block in chapter.blocks:
        if measure.is_quiz(block):
            yield from ((cell, f"{block.title!r} {complaint}") for complaint in _quiz(block))


def _quiz(quiz: Block) -> Iterator[str]:
    answers = [block for block in quiz.inside if block.kind == "dropdown"]
    question = "\n\n".join(block.text for block in quiz.inside if block.kind in ("text", "display"))
    if (length := measure.words(question)) > LONGEST_QUIZ:
        yield f"has {length} words in view, at most {LONGEST_QUIZ}"
    if len(answers) != 1:
        yield f"has {len(answers)} dropdowns, must have one with the answer"
        return
    if quiz.has_class("match"):
        return
    options, reasons = (len(NUMBERED.findall(text)) for text in (question, answers[0].text))
    if options < 2:
        yield f"has {options} numbered options, at least two"
    if reasons != options:
        yield f"has {options} options and {reasons} numbered reasons in its answer; one for each"
    right = re.match(r"\s*\*\*(\d+)\.?\*\*", answers[0].text)
    if not right or not 1 <= int(right[1]) <= options:
        yield "has an answer that does not begin with the number of an option in bold, as '**2.** …'"


RULES = (opening, length, tasks, sections, proofs, witnesses, lectures, code, results, quizzes)


def main() -> int:
    """Print what keeps the named chapters from the form, whether they wait or not. Exit status."""
    from tools import notebooks

    parser = argparse.ArgumentParser(prog="python -m tools.edition", description="What is left to do.")
    parser.add_argument("names", nargs="+", type=notebooks.find, help="ecoc, or a path")
    left = 0
    for path in parser.parse_args().names:
        nb = notebooks.read(path)
        for index, message in broken(path.stem, nb):
            where = "" if index is None else f", {notebooks.place(index, nb.cells[index])}"
            print(f"{notebooks.shown(path)}{where}: {message}")
            left += 1
    print(f"edition: {left} findings")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
