"""Sphinx extension: what is folded.

Everything that a page folds is a `<details>`, so that it opens without scripts too. One word for each kind,
which is its class and, in the row below a statement, its name:

- `section`: a section of the layers "detail" (○) and "beyond" (☆) (tools.sphinx.layers),
- `proof`: a proof,
- `check`: that a statement is checked, and how it breaks (tools.sphinx.units),
- `lectures`: what the five lectures say,
- `package`: what of mcutils a statement is the ground of (tools.sphinx.uses),
- `aside`: something that only some readers need,
- `code`: the code of a check, of a figure, or other code.

A reader who chooses "Full" at the top of the page has sections, proofs, asides and lectures opened
(web/static/layers.js); checks, code and the package are opened one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

KINDS = ("section", "proof", "check", "lectures", "package", "aside", "code")

# in the order in which they are looked for
CODE = {"witness": "Code of the check", "figure": "Code of the figure", "imports": "Imports", "code": "Code"}


class Fold(nodes.General, nodes.Element):
    """A `<details>`; its first child is a Summary."""


class Summary(nodes.General, nodes.Element):
    """The `<summary>`, of what is read in a line."""


def fold(
    kind: str, summary: Sequence[nodes.Node] | str, *content: nodes.Node, classes: Sequence[str] = ()
) -> Fold:
    """A fold with its content."""
    line = [nodes.Text(summary)] if isinstance(summary, str) else summary
    return Fold("", Summary("", *line), *content, classes=["fold", kind, *classes])


def visit_fold(self: HTML5Translator, node: Fold) -> None:
    self.body.append(self.starttag(node, "details"))


def depart_fold(self: HTML5Translator, node: Fold) -> None:
    self.body.append("</details>\n")


def visit_summary(self: HTML5Translator, node: Summary) -> None:
    self.body.append(self.starttag(node, "summary", ""))


def depart_summary(self: HTML5Translator, node: Summary) -> None:
    self.body.append("</summary>\n")


# -- proofs --------------------------------------------------------------------------------


def is_sketch(paragraph: nodes.paragraph) -> bool:
    begins = paragraph.children[:1]
    return bool(begins) and isinstance(begins[0], nodes.emphasis) and begins[0].astext().startswith("Sketch")


def fold_proof(proof: proof_node) -> list[nodes.Node]:
    """What stands in a proof's place: its sketch, which is always seen, and the folded rest."""
    (box,) = proof.children
    paragraph = next(iter(box.findall(nodes.paragraph)), None)
    if paragraph is not None and isinstance(paragraph[0], nodes.Text):
        # sphinx-proof begins the text with the word that the fold has as its name
        paragraph[0] = nodes.Text(paragraph[0].astext().removeprefix("Proof. "))
        if not paragraph[0].astext():
            del paragraph[0]
    sketch = []
    if paragraph is not None and is_sketch(paragraph) and len(box) > 1:
        box.remove(paragraph)
        paragraph["classes"].append("sketch")
        sketch = [paragraph]
    return [*sketch, fold("proof", "Proof", proof)]


# -- code ----------------------------------------------------------------------------------


def is_preparation(source: str) -> bool:
    """Whether code only imports, and sets what holds for the whole chapter."""
    try:
        lines = ast.parse(source).body
    except SyntaxError:
        return False
    calls = (ast.Expr, ast.Assign)
    first = [isinstance(line, ast.Import | ast.ImportFrom) for line in lines]
    return any(first) and all(
        is_import
        or (isinstance(line, calls) and ast.unparse(line).startswith(("plot.use_style", "getcontext")))
        for is_import, line in zip(first, lines, strict=True)
    )


def kind_of_code(cell: nodes.container) -> str:
    metadata = cell["cell_metadata"]
    if "witness" in metadata.get("tags", ()):
        return "witness"
    if "figure" in metadata.get("mystnb", {}):
        return "figure"
    return "imports" if cell.get("preparation") else "code"


def name_code(app: Sphinx, doctree: nodes.document) -> None:
    """Fold the imports, and give all folded code the one name of its kind."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") != "cell_code":
            continue
        source = cell[0] if cell.children and cell[0].get("nb_element") == "cell_code_source" else None
        if source is not None and is_preparation(source.astext()):
            cell["hide_mode"] = cell.get("hide_mode") or "input"
            cell["preparation"] = True
        if cell.get("hide_mode"):
            cell["prompt_show"] = cell["prompt_hide"] = CODE[kind_of_code(cell)]


class CodeAfterResult(SphinxPostTransform):
    """Readers meet the picture first, and then the way to its code."""

    default_priority = 200  # after myst-nb has wrapped the code
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for node in list(self.document.findall(HideCodeCellNode)):
            cell = node.parent
            if "above-input" in node["classes"] and len(cell.children) > 1:
                cell.remove(node)
                cell.append(node)


def visit_code(self: HTML5Translator, node: HideCodeCellNode) -> None:
    self.body.append(f'<details class="fold code"><summary>{node["prompt_show"]}</summary>\n')


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(Fold, html=(visit_fold, depart_fold))
    app.add_node(Summary, html=(visit_summary, depart_summary))
    app.add_node(HideCodeCellNode, override=True, html=(visit_code, depart_fold))
    app.add_post_transform(CodeAfterResult)
    app.connect("doctree-read", name_code, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
