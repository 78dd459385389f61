"""Sphinx extension: `{recipe-list}`, the recipes in the order of _toc.yml, each with its problem."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools import ledger, notebooks, recipes


def files(root: Path) -> list[Path]:
    """The recipes of the book in `root`, in reading order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    paths = [root / f"{document}.ipynb" for document in ledger.documents(toc)]
    return [path for path in paths if path.parent.name == "recipes" and path.exists()]


def listing(paths: list[Path]) -> Iterator[str]:
    """The recipes and their problems, as a numbered list in MyST."""
    yield "::::{div} part-overview"
    for number, path in enumerate(paths, 1):
        found = recipes.opening(notebooks.read(path))
        if found is None:
            raise ValueError(
                f"{path.name} does not begin with its problem: `python -m tools.notebooks check`"
            )
        yield from (f"{number}. {{doc}}`/recipes/{path.stem}`", "", f"    {found['sentence']}", "")
    yield "::::"


class RecipeList(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        paths = files(Path(self.env.srcdir))
        for path in paths:
            self.env.note_dependency(str(path))
        try:
            lines = StringList(list(listing(paths)), source=self.env.doc2path(self.env.docname))
        except ValueError as problem:
            raise self.error(str(problem)) from None
        holder = nodes.container()
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("recipe-list", RecipeList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
