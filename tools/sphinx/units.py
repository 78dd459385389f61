"""Sphinx extension: a statement with what supports it is one unit.

Below a statement stands one row of folds: its proof, its check with the ways to break it, and what the five
lectures say. Proof and check are taken from where they stand in the notebook: the proof is the next one after
the statement, the check is the cell whose metadata `witnesses` begins with the statement's label. A cell that
witnesses several statements is shown with the first; the others link to it.

`{break-it} LABEL` shows on another page how a statement of a chapter is checked and how it breaks.

In chapters that have not been cast into this form yet (`waiting` in tools.edition), proofs are folded where
they stand, and checks stay there.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import proof_node

from tools import breaks, edition, notebooks, stored
from tools.sphinx.folds import Fold, fold, fold_proof

LECTURES = "In the five lectures"
MOST = 4  # ways to break a statement that are shown

# what a statement and its row may have between them
BETWEEN = (nodes.target, nodes.comment)


def is_statement(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and bool(node.get("realtype"))


def is_dropdown(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("design_component") == "dropdown"


def is_lectures(node: nodes.Node) -> bool:
    return is_dropdown(node) and node["has_title"] and node[0].astext() == LECTURES


class Strip(nodes.General, nodes.Element):
    """The row of folds below a statement."""


def visit_strip(self: Any, node: Strip) -> None:
    self.body.append(self.starttag(node, "div", CLASS="strip"))


def depart_strip(self: Any, node: Strip) -> None:
    self.body.append("</div>\n")


# -- the check, and how it breaks ------------------------------------------------------------


class Check:
    """What is known of a statement's witnesses."""

    def __init__(self, label: str, nb: NotebookNode, broken: dict[str, list[str]]):
        self.label = label
        self.cells = [c for c in nb.cells if label in c.metadata.get("witnesses", ())]
        self.ways = [
            (cell, mutant, found)
            for cell in self.cells
            for mutant, found in zip(
                (m for m in breaks.mutants(cell) if m.words), broken.get(cell.id, ()), strict=True
            )
            if mutant.label == label
        ][:MOST]

    def held(self) -> Iterator[str]:
        """The line that each witness prints."""
        for cell in self.cells:
            text = "".join(o.get("text", "") for o in cell.outputs if o.get("name") == "stdout").strip()
            yield text or "holds wherever it was tried"

    def html(self) -> str:
        """The lines, and the ways to break the statement."""
        invitation = "Break it. Choose a change; the check then finds a counter-example:"
        return f'{self.lines()}<p class="invite">{invitation}</p>{self.list()}' if self.ways else self.lines()

    def lines(self) -> str:
        mark = '<span class="tick" aria-hidden="true">✓</span> '
        return "".join(f'<p class="held">{mark}{html.escape(text)}</p>' for text in self.held())

    def list(self) -> str:
        ways = "".join(f"<li>{way(*one)}</li>" for one in self.ways)
        return f'<ul class="breaks">{ways}</ul>'


def way(cell: NotebookNode, mutant: breaks.Mutant, found: str) -> str:
    """One way to break a statement: its words, the changed line, and what was found."""
    before, after = changed_line(cell.source, mutant)
    return (
        f"<details><summary>{html.escape(mutant.words)}</summary>"
        f'<div class="change" tabindex="0" role="group" aria-label="The changed line of the check">'
        f'<code><span class="visually-hidden">before: </span>{before}</code>'
        f'<code><span class="visually-hidden">after: </span>{after}</code></div>'
        f'<p class="counter">{html.escape(found)}</p></details>'
    )


def changed_line(source: str, mutant: breaks.Mutant) -> tuple[str, str]:
    """The lines in which the piece stands, with the piece marked, before and after it is replaced."""
    at = source.index(mutant.old)
    start = source.rfind("\n", 0, at) + 1
    end = source.find("\n", at + len(mutant.old))
    end = len(source) if end < 0 else end
    head, tail = source[start:at].lstrip(), source[at + len(mutant.old) : end]
    parts = html.escape(head), html.escape(tail)
    old, new = html.escape(mutant.old), html.escape(mutant.new)
    return f"{parts[0]}<del>{old}</del>{parts[1]}", f"{parts[0]}<ins>{new}</ins>{parts[1]}"


def check_fold(check: Check, cells: list[nodes.container], elsewhere: str) -> Fold:
    """The fold of a check: with its code, or with a link to the statement that has it."""
    name = "✓ checked · break it" if check.ways else "✓ checked"
    result = fold("check", name, nodes.raw("", check.html(), format="html"))
    for cell in cells:
        cell.parent.remove(cell)
        if "hide_mode" in cell:
            del cell["hide_mode"]
        for output in [c for c in cell.children if c.get("nb_element") == "cell_code_output"]:
            cell.remove(output)  # its line stands above
        result += fold("code", "Code of the check", cell)
    if elsewhere:
        link = nodes.reference("", "the code of the check", refid=f"witness-{elsewhere}", internal=True)
        result += nodes.paragraph(
            "", "", nodes.Text("One check for several statements: "), link, nodes.Text(".")
        )
    return result


# -- units -----------------------------------------------------------------------------------


def following(node: nodes.Element) -> list[nodes.Node]:
    """The siblings after a statement, up to the next one."""
    after = list(node.parent.children[node.parent.index(node) + 1 :])
    stop = next((i for i, sibling in enumerate(after) if is_statement(sibling)), len(after))
    return after[:stop]


def assemble(statement: nodes.Element, check: Check, cells: list[nodes.container], elsewhere: str) -> None:
    """Put the row of folds below a statement."""
    place = statement
    row: list[nodes.Node] = []
    after = following(statement)
    for proof in (node for node in after if isinstance(node, proof_node)):
        proof.parent.remove(proof)
        *sketch, folded = fold_proof(proof)
        for paragraph in sketch:
            place.parent.insert(place.parent.index(place) + 1, paragraph)
            place = paragraph
        row.append(folded)
    if check.cells:
        row.append(check_fold(check, cells, elsewhere))
    rest = [node for node in after if not isinstance(node, (*BETWEEN, proof_node)) and node not in cells]
    if rest and is_lectures(rest[0]):
        rest[0].parent.remove(rest[0])
        row.append(fold_dropdown(rest[0]))
    if row:
        place.parent.insert(place.parent.index(place) + 1, Strip("", *row))


def put(node: nodes.Element, make: Callable[[Any], list[nodes.Node]]) -> None:
    """Put what is made of a node into its place."""
    parent, at = node.parent, node.parent.index(node)
    parent.remove(node)
    for number, new in enumerate(make(node)):
        parent.insert(at + number, new)


def fold_dropdown(node: nodes.container) -> Fold:
    """A dropdown of sphinx-design as one of our folds."""
    kind = "lectures" if is_lectures(node) else "aside"
    title = list(node[0].children)
    return fold(kind, title, *node.children[1:])


def units(app: Sphinx, doctree: nodes.document) -> None:
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    if path.stem in edition.waiting:
        fold_the_rest(doctree)
        return
    nb = notebooks.read(path)
    entry = stored.load(path, nb)
    if entry is None:  # it failed, and Sphinx has been told
        return
    stored.put(nb, entry["outputs"])
    shown: dict[str, list[nodes.container]] = {}
    first: dict[str, str] = {}  # the statement with which a check of several is shown
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code":
            labels = cell["cell_metadata"].get("witnesses", [])
            if labels:
                shown.setdefault(labels[0], []).append(cell)
            for label in labels[1:]:
                first.setdefault(label, labels[0])
    for statement in [node for node in doctree.findall(nodes.Element) if is_statement(node)]:
        label = statement["label"]
        elsewhere = "" if label in shown else first.get(label, "")
        assemble(statement, Check(label, nb, entry["broken"]), shown.get(label, []), elsewhere)
    for node in [n for n in doctree.findall(nodes.container) if is_dropdown(n) and n["has_title"]]:
        if is_lectures(node):
            put(node, lambda lectures: [Strip("", fold_dropdown(lectures))])
        elif not in_question(node):
            put(node, lambda aside: [fold_dropdown(aside)])
    fold_the_rest(doctree)


def fold_the_rest(doctree: nodes.document) -> None:
    """Fold the proofs that no unit has, where they stand."""
    for proof in list(doctree.findall(proof_node)):
        if not isinstance(proof.parent, Fold):
            put(proof, fold_proof)


class BreakIt(SphinxDirective):
    """How a statement of a chapter breaks, on another page; the content says the statement in words."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        label = self.arguments[0]
        for path in sorted((Path(self.env.srcdir) / "chapters").glob("*.ipynb")):
            nb = notebooks.read(path)
            if not any(label in cell.metadata.get("witnesses", ()) for cell in nb.cells):
                continue
            self.env.note_dependency(str(path))
            self.env.note_dependency(str(stored.entry(path)))
            entry = stored.load(path, nb)
            if entry is None:  # the chapter failed, and Sphinx has been told
                return []
            stored.put(nb, entry["outputs"])
            check = Check(label, nb, entry["broken"])
            if not check.ways:
                raise self.error(f"no mutant of the witnesses of {label!r} has words")
            box = nodes.container(classes=["break-it"])
            self.state.nested_parse(self.content, self.content_offset, box)
            box += nodes.raw("", check.html(), format="html")
            return [box]
        raise self.error(f"no witness of a chapter has the label {label!r}")


def in_question(node: nodes.Element) -> bool:
    """Whether it is the answer of a quiz, or part of an exercise or its solution."""
    around: nodes.Element | None = node.parent
    while around is not None:
        if {"quiz", "exercise", "solution"} & set(around.get("classes", ())):
            return True
        around = around.parent
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("break-it", BreakIt)
    app.add_node(Strip, html=(visit_strip, depart_strip))
    # before the anchors of proofs and checks are set (tools.sphinx.ledger_pages), after code has its names
    app.connect("doctree-read", units, priority=450)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
