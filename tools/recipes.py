"""The form of a recipe: one problem of a practitioner on a short page, its names from the top of mcutils.

`python -m tools.notebooks check` prints what `findings` finds; what every notebook must keep, figures with a
text for those who cannot see them among it, is checked there. A recipe has none of a chapter's duties:
neither witnesses nor layers nor exercises.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from tools import measure

LONGEST = 350  # words
MOST_CODE = 4  # cells, without the one that finds mcutils
SECTIONS = ["With your own data", "What it does not do"]
PROBLEM = re.compile(r"\A# (?P<title>[^\n]+)\n\n\*\*The problem\.\*\* (?P<sentence>[^\n]+)\n", re.MULTILINE)
PROVED = re.compile(r"\{prf:ref\}`")


def opening(nb: NotebookNode) -> re.Match[str] | None:
    """The title and the problem of a recipe, which stand in its first cell of text."""
    return PROBLEM.match(nb.cells[2].source) if len(nb.cells) > 2 else None


def findings(nb: NotebookNode) -> Iterator[str]:
    """What keeps a notebook from the form of a recipe."""
    if opening(nb) is None:
        yield "does not begin with a title and, in a paragraph of one line, **The problem.** and what it is"
    text = "\n\n".join(cell.source for cell in nb.cells[2:] if cell.cell_type == "markdown")
    code = [cell for cell in nb.cells[2:] if cell.cell_type == "code"]
    if (words := measure.words(text)) > LONGEST:
        yield f"has {words} words, at most {LONGEST}"
    if len(code) > MOST_CODE:
        yield f"has {len(code)} cells of code besides the first, at most {MOST_CODE}"
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    if sections != SECTIONS:
        yield f"has the sections {sections}, must have {SECTIONS}"
    if not PROVED.search(text):
        yield "names no statement that proves why: {prf:ref}`…`"
    figures = sum("figure" in cell.metadata.get("mystnb", {}) for cell in code)
    if figures != 1:
        yield f"has {figures} figures, must have one"
    for cell in code:
        yield from _not_from_the_top(cell.source)


def _not_from_the_top(source: str) -> Iterator[str]:
    """Imports from inside mcutils: a recipe shows what a user types."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:  # a finding of every notebook
        return
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        for name in names:
            if name.startswith("mcutils."):
                yield f"imports {name}; from mcutils import … has every estimator and every module"
