"""How a statement is broken: the mutants of its witness that have words.

A mutant replaces a piece of a witness's source; the claim is false then, and the cell must raise
AssertionError. In a cell's metadata it is `[old, new]`, or `[old, new, words]`, where the words say
the change to the claim as a reader would; if the cell witnesses several statements, the label of the one
that is broken stands after them.

When a chapter is executed, each mutant with words is run after the last cell, in the same kernel. The
sentence that its failed assertion gives, without the label that it begins with, is kept beside the outputs
(tools.stored), and the page shows it under the statement (tools.sphinx.units).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from nbformat import NotebookNode

SHORTEST = 20  # "it is false" is no counter-example


class Mutant(NamedTuple):
    """A replacement that makes a witness's claim false."""

    old: str
    new: str
    words: str = ""
    label: str = ""

    def source(self, cell: NotebookNode) -> str:
        """The witness with the piece replaced."""
        return cell.source.replace(self.old, self.new)


def mutants(cell: NotebookNode) -> list[Mutant]:
    """All mutants of a cell; the label of the only statement it witnesses is filled in."""
    labels = cell.metadata.get("witnesses", [])
    found = [Mutant(*entry) for entry in cell.metadata.get("mutants", [])]
    return [m if m.label or len(labels) != 1 else m._replace(label=labels[0]) for m in found]


def spoken(nb: NotebookNode) -> Iterator[tuple[NotebookNode, Mutant]]:
    """The mutants with words, and their cells, in the order of the notebook."""
    for cell in nb.cells:
        if cell.cell_type == "code" and "witness" in cell.metadata.get("tags", []):
            yield from ((cell, mutant) for mutant in mutants(cell) if mutant.words)


def malformed(cell: NotebookNode) -> Iterator[str]:
    """What is wrong with the words of a witness's mutants, whose form is right otherwise."""
    labels = cell.metadata.get("witnesses", [])
    for mutant in mutants(cell):
        if mutant.words and mutant.label not in labels:
            yield (
                f"mutant {mutant.words!r} breaks {mutant.label or 'which statement?'}; name one of the "
                f"cell's witnesses ({', '.join(labels)}) after the words"
            )


class Silent(Exception):
    """A mutant did not fail as it must, or its assertion does not say what was found."""


def sentence(error: str, said: str, label: str) -> str:
    """What a failed assertion tells a reader: its message `LABEL, part 2: sentence` without the label."""
    if error != "AssertionError":
        raise Silent(f"raised {error}: {said}" if error else "still passes, must raise AssertionError")
    match = re.match(rf"{re.escape(label)}(, [^:]*)?: (.*)", said, flags=re.DOTALL)
    if not match:
        raise Silent(f"says {said!r}; its assertion must begin with '{label}: ' or '{label}, part …: '")
    told = match[2].strip()
    if len(told) < SHORTEST or not re.search(r"\d", told) or "\n" in told or "np." in told:
        raise Silent(
            f"says {told!r}; it must be one sentence of at least {SHORTEST} characters that names the "
            "case and the numbers that were found, as text (no reprs of numpy, no second line)"
        )
    word = told.split()[0]
    begin = told[0].upper() if word.isalpha() and len(word) > 1 else told[0]  # a symbol keeps its letter
    return begin + told[1:] + ("" if told.endswith((".", "!", "?")) else ".")


def by_cell(nb: NotebookNode, sentences: list[str]) -> dict[str, list[str]]:
    """The sentences of `spoken(nb)` under the ids of their cells, as they are stored."""
    told: dict[str, list[str]] = {}
    for (cell, _), text in zip(spoken(nb), sentences, strict=True):
        told.setdefault(cell.id, []).append(text)
    return told


def key(nb: NotebookNode) -> list[Any]:
    """What the sentences depend on, beside the code of the chapter."""
    return [[cell.id, mutant.old, mutant.new, mutant.label] for cell, mutant in spoken(nb)]
