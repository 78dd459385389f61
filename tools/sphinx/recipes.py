"""Sphinx extension: `{recipe-list}`, the recipes in the order of _toc.yml, each with its problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools import ledger, notebooks, recipes


class RecipeList(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
        lines = ["::::{div} part-overview"]
        files = [root / f"{document}.ipynb" for document in ledger.documents(toc)]
        of_recipes = [file for file in files if file.parent.name == "recipes" and file.exists()]
        for number, file in enumerate(of_recipes, 1):
            self.env.note_dependency(str(file))
            found = recipes.opening(notebooks.read(file))
            if found is None:  # the check of the notebooks says so too
                raise self.error(f"{notebooks.shown(file)} does not begin with its problem")
            lines += [f"{number}. {{doc}}`/recipes/{file.stem}`", "", f"    {found['sentence']}", ""]
        holder = nodes.container()
        source = self.env.doc2path(self.env.docname)
        self.state.nested_parse(StringList([*lines, "::::"], source=source), self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("recipe-list", RecipeList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
