"""Sphinx extension: below a statement, what of mcutils computes it, asserts it or rests on it.

A docstring names a statement by its label, and its page links there (tools.sphinx.api). Here is the way back:
the row of folds below the statement has one more, "In the package", with a link to each function and class
whose docstring, or that of a method, names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from tools.sphinx.api import PAGES, ancestors
from tools.sphinx.folds import fold
from tools.sphinx.units import BETWEEN, Strip, following, is_statement

PACKAGE = "In the package"


def uses(doctree: nodes.document) -> Iterator[tuple[str, str]]:
    """Each label that a definition of a page links to, and the definition's full name."""
    for link in doctree.findall(addnodes.pending_xref):
        around = [node for node in ancestors(link) if isinstance(node, addnodes.desc)]
        if link["refdomain"] == "prf" and around:
            yield link["reftarget"], around[-1][0]["ids"][0]


def of_all_pages(env: BuildEnvironment) -> dict[str, dict[str, list[str]]]:
    """By page of the package and label, the names of what names the label."""
    if not hasattr(env, "statement_uses"):
        env.statement_uses = {}  # type: ignore[attr-defined]
    return env.statement_uses  # type: ignore[attr-defined]


def collect(app: Sphinx, doctree: nodes.document) -> None:
    docname = app.env.docname
    if docname.startswith(PAGES):
        found = of_all_pages(app.env)[docname] = {}
        for label, name in sorted(set(uses(doctree))):
            found.setdefault(label, []).append(name)


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    of_all_pages(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment) -> None:
    found = of_all_pages(other)
    of_all_pages(env).update((name, found[name]) for name in docnames if name in found)


class ShowUses(SphinxPostTransform):
    """Put the fold into the row below each statement that a docstring names."""

    default_priority = 5  # before references are resolved
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        pages = sorted(of_all_pages(self.env).items())
        for statement in [node for node in self.document.findall(nodes.Element) if is_statement(node)]:
            links = [self.link(page, name) for page, by in pages for name in by.get(statement["label"], ())]
            if links:
                items = [nodes.list_item("", nodes.paragraph("", "", link)) for link in links]
                row_below(statement).append(fold("package", PACKAGE, nodes.bullet_list("", *items)))

    def link(self, page: str, name: str) -> nodes.reference:
        address = self.app.builder.get_relative_uri(self.env.docname, page)
        return nodes.reference("", "", nodes.literal("", name), refuri=f"{address}#{name}", internal=True)


def is_sketch(node: nodes.Node) -> bool:
    return isinstance(node, nodes.paragraph) and "sketch" in node["classes"]


def row_below(statement: nodes.Element) -> Strip:
    """The row of folds of a statement; a new one where it has none."""
    for node in following(statement):
        if isinstance(node, Strip):
            return node
        if not isinstance(node, BETWEEN) and not is_sketch(node):
            break  # a row further down belongs to other text
    row = Strip()
    statement.parent.insert(statement.parent.index(statement) + 1, row)
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(ShowUses)
    app.connect("doctree-read", collect, priority=510)  # when the labels are links (tools.sphinx.api)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
