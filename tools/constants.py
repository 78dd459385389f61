"""Constants of displayed bounds: a witness that has one must be seen to need it.

A bound with 4 in it says more than one with 8. If the witness of the statement multiplies or divides by 4,
too, one of its mutants changes the 4 (`tools.breaks`): otherwise nothing shows that the check would notice a
wrong constant. Compared are numbers as they are written, of two and more, without exponents and indices.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from nbformat import NotebookNode

from tools import breaks, measure

ASSERTING = {"prf:theorem", "prf:proposition", "prf:lemma", "prf:corollary"}

DISPLAY = re.compile(r"\$\$(.+?)\$\$|\\begin\{(align|aligned|gather)\*?\}(.+?)\\end", re.DOTALL)
COMPARED = re.compile(r"\\(?:leq?|geq?)(?![a-zA-Z])|(?<!\\)[<>]")
# what holds numbers that are no constants of the bound
ASIDE = re.compile(
    r"_(?:\{[^{}]*\}|\\?\w+)"
    r"|\^(?:\{\d+\}|\d)"
    r"|\\(?:label|tag|text|mathrm|operatorname|begin|end)\*?\{[^{}]*\}"
    r"|\\\\\[[^\]]*\]"
)
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?|(?<=frac)\d|(?<=sqrt)\d|(?<=frac\d)\d")

WRITTEN = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")


def of_bounds(statement: str) -> set[str]:
    """The constants, of two and more, in the displayed inequalities of a statement's source."""
    displays = [match[0] for match in DISPLAY.finditer(statement)]
    bounds = [ASIDE.sub(" ", display) for display in displays if COMPARED.search(display)]
    return {number for bound in bounds for number in NUMBER.findall(bound)} - {"0", "1"}


def of_witness(source: str) -> set[str]:
    """The numbers by which a witness multiplies or divides, or whose powers it takes."""
    numbers = set()
    for node in ast.walk(ast.parse(source)):
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            operands = [node.left, node.right]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            operands = [node.left]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Fraction":
            operands = node.args
        numbers |= {f"{value:g}" for value in map(_number, operands) if value is not None}
    return numbers


def _number(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def written(piece: str) -> Counter[str]:
    """How often each number is written in a piece of code, which need not be whole."""
    return Counter(number.removesuffix(".0") for number in WRITTEN.findall(piece))


def untried(nb: NotebookNode) -> Iterator[tuple[int, str]]:
    """Statements with a constant that no mutant changes: the position of the cell, and what is wrong."""
    witnesses = defaultdict(list)
    for cell in nb.cells:
        if cell.cell_type == "code" and "witness" in cell.metadata.get("tags", []):
            for label in cell.metadata.get("witnesses", []):
                witnesses[label].append(cell)
    for index, block in ((piece.cell, piece.block) for piece in measure.pieces(nb)):
        if block is None or block.kind not in ASSERTING or not (label := block.options.get("label")):
            continue
        for constant in sorted(of_bounds(_source(nb.cells[index].source, label))):
            checking = [cell for cell in witnesses[label] if constant in of_witness(cell.source)]
            changes = (m for cell in checking for m in breaks.mutants(cell) if m.label in ("", label))
            if checking and not any(written(m.old)[constant] > written(m.new)[constant] for m in changes):
                yield (
                    index,
                    f"{label}: its bound and its witness have the constant {constant}, and no mutant "
                    "changes it; add one that weakens it, and see the witness fail",
                )


def _source(cell: str, label: str) -> str:
    """The source of a statement in its cell, from its label to its end."""
    begin = cell.find(f":label: {label}\n")
    end = cell.find("\n:::", begin)
    return cell[begin : end if end > 0 else None]
