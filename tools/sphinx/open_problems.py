"""Sphinx extension: the page of open problems can be filtered by part and by kind.

`{open-problem} CHAPTER KIND`, below the heading of a problem, says what is sought and from which chapter, and
gives the section what web/static/filter.js looks for; `{open-filter}` is the place of the controls.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools import parts
from tools.sphinx.ledger_pages import facets, mark, slug

KINDS = {
    "bound": "A bound is sought",
    "constant": "A constant is sought",
    "algorithm": "An algorithm is sought",
    "experiment": "An experiment is sought",
}


class FromText(SphinxDirective):
    """Parses what `text` yields."""

    def text(self, book: tuple[parts.Part, ...]) -> Iterator[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        book = parts.read(Path(self.env.srcdir))
        container = nodes.container()
        source, _ = self.get_source_info()
        self.state.nested_parse(StringList(list(self.text(book)), source=source), 0, container)
        return container.children


class Filter(FromText):
    def text(self, book: tuple[parts.Part, ...]) -> Iterator[str]:
        yield from facets(
            {"part": {slug(part.caption): part.caption for part in book}, "kind": {k: k for k in KINDS}}
        )


class Problem(FromText):
    required_arguments = 2

    def text(self, book: tuple[parts.Part, ...]) -> Iterator[str]:
        name, kind = self.arguments
        part = next((part for part in book if name in [chapter.name for chapter in part.chapters]), None)
        if part is None or kind not in KINDS:
            raise self.error(
                f"an open problem of {name!r}, {kind!r}: the first must be a chapter of _toc.yml, "
                f"the second one of {', '.join(KINDS)}"
            )
        yield mark(part=part.caption, kind=kind)
        yield ""
        yield f"*{KINDS[kind]}.* Chapter: {{doc}}`/chapters/{name}`."


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("open-filter", Filter)
    app.add_directive("open-problem", Problem)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
