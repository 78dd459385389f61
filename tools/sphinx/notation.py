"""Sphinx extension: `{notation-find}` puts the search of the notation (web/static/find.js) where it stands.

The script filters the rows of the page's own tables. The content of the directive names further pages, one
in a line; what their rows hold goes into the page as JSON, section by section, so that the script can say
where else a symbol stands and link to it. Nothing is fetched: it works from the disk. Without the script the
page is complete.
"""

from __future__ import annotations

import json
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

SYMBOLS = re.compile(r"Symbol|Letter|writes?$")  # heads of the columns that hold symbols: as in find.js


class Find(nodes.General, nodes.Element):
    """The place of the search; the rows of its `pages` are found too."""


class FindDirective(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        pages = []
        for line in filter(None, map(str.strip, self.content)):
            file, path = self.env.relfn2path(f"{line}.md")
            self.env.note_dependency(path)  # what they say is part of this page
            pages.append(file.removesuffix(".md"))
        return [Find("", pages=pages)]


def section_of(node: nodes.Node) -> nodes.Node:
    while not isinstance(node, nodes.section):
        node = node.parent
    return node


def rows(section: nodes.section) -> list[tuple[list[str], str]]:
    """Of each row of a section's own tables the formulas of its symbols, and its words."""
    found = []
    for table in [table for table in section.findall(nodes.table) if section_of(table) is section]:
        heads = [entry.astext() for head in table.findall(nodes.thead) for entry in head.findall(nodes.entry)]
        columns = [n for n, head in enumerate(heads) if SYMBOLS.search(head)]
        for body in table.findall(nodes.tbody):
            for row in body.findall(nodes.row):
                symbols = [f.astext() for n in columns for f in row[n].findall(nodes.math)]
                texts = [t for t in row.findall(nodes.Text) if not isinstance(t.parent, nodes.math)]
                found.append((symbols, " ".join(" ".join(texts).split())))
    return found


class WriteIndex(SphinxPostTransform):
    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(Find)):
            index = []
            for page in place["pages"]:
                uri = self.app.builder.get_relative_uri(self.env.docname, page)
                for section in self.env.get_doctree(page).findall(nodes.section):
                    if found := rows(section):
                        anchor, title = section["ids"][-1], section[0].astext()
                        index.append({"page": uri, "anchor": anchor, "title": title, "rows": found})
            content = json.dumps(index, ensure_ascii=False).replace(
                "<", "\\u003c"
            )  # "</script>" would end it
            script = f'<script type="application/json" class="find">{content}</script>'
            place.replace_self(nodes.raw("", script, format="html"))


def load_script(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if page.startswith("appendix/notation"):
        app.add_js_file("find.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(Find)
    app.add_directive("notation-find", FindDirective)
    app.add_post_transform(WriteIndex)
    app.connect("html-page-context", load_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
