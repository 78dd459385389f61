"""Sphinx extension: `{recipe-list}`, the recipes in the order of _toc.yml, each with its problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools import ledger, notebooks, recipes
from tools.sphinx import launch


def files(root: Path) -> list[Path]:
    """The recipes of the book in `root`, in reading order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    paths = [root / f"{document}.ipynb" for document in ledger.documents(toc)]
    return [path for path in paths if path.parent.name == "recipes" and path.exists()]


def listing(paths: list[Path], link: Callable[[str], str]) -> Iterator[str]:
    """The recipes, their problems and the links to their folders, as a numbered list in MyST."""
    yield "::::{div} part-overview"
    for number, path in enumerate(paths, 1):
        found = recipes.opening(notebooks.read(path))
        if found is None:
            raise ValueError(
                f"{path.name} does not begin with its problem: `python -m tools.notebooks check`"
            )
        text = f"    {found['sentence']} {link(path.stem)}"
        yield from (f"{number}. {{doc}}`/recipes/{path.stem}`", "", text, "")
    yield "::::"


def folder_of(docname: str, name: str) -> str:
    """From a page to the folder of a recipe."""
    return launch.download(f"{name}.zip", docname, f"{name}.zip")


class RecipeList(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        paths = files(Path(self.env.srcdir))
        for path in paths:
            self.env.note_dependency(str(path))
        try:
            link = partial(folder_of, self.env.docname)
            lines = StringList(list(listing(paths, link)), source=self.env.doc2path(self.env.docname))
        except ValueError as problem:
            raise self.error(str(problem)) from None
        holder = nodes.container()
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("recipe-list", RecipeList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
