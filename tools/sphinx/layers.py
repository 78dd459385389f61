"""Sphinx extension: the two layers of a chapter, and the line below its title.

A markdown cell that begins a section may have the metadata `"layer": "detail"` or `"beyond"`, and in `"gist"`
what the section holds: "Story" then shows its heading and the gist, and folds the rest; "Full" has it open.
How long both layers are is counted from the notebook (tools.measure).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from tools import measure, notebooks, stored
from tools.sphinx import launch
from tools.sphinx.api import PAGES, link_to_document
from tools.sphinx.folds import fold

MARKS = {"detail": ("○", "Detail"), "beyond": ("☆", "Beyond")}
DIFFICULTY = {1: "easy", 2: "medium", 3: "demanding"}

SWITCH = """
<div class="layers pst-js-only" role="group" aria-label="How much of the page is shown">
<button type="button" data-layer="story" aria-pressed="true">Story</button>
<button type="button" data-layer="full" aria-pressed="false" aria-keyshortcuts="Alt+L">Full</button>
</div>
"""

PRINT = """
<details class="print-menu pst-js-only"><summary>Print</summary>
<div role="group" aria-label="What is printed">
<button type="button" data-print="story">Story</button>
<button type="button" data-print="full">Full, without checks and code</button>
<button type="button" data-print="everything">Everything</button>
</div></details>
"""


class LayerMark(nodes.General, nodes.Element):
    """Stands at the end of the cell that begins a section of a layer; gone when the page has been read."""


class LayerDirective(SphinxDirective):
    """What the metadata of a cell say of the section that it begins."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        mark = LayerMark("", layer=self.arguments[0])
        self.state.nested_parse(self.content, self.content_offset, mark)
        return [mark]


def mark_sections(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take the marks from the metadata into the text; at a cell's end, so that no line changes its number."""
    if '"layer"' not in source[0] or Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    nb = json.loads(source[0])
    for cell in nb["cells"]:
        if layer := cell["metadata"].get("layer"):
            text = "".join(cell["source"])
            cell["source"] = (
                f"{text}\n\n::::::{{layer-mark}} {layer}\n{cell['metadata'].get('gist', '')}\n::::::\n"
            )
    source[0] = json.dumps(nb)


def fold_sections(app: Sphinx, doctree: nodes.document) -> None:
    """Fold what stands below the heading of each marked section."""
    for mark in list(doctree.findall(LayerMark)):
        section = mark.parent
        while not isinstance(section, nodes.section):
            section = section.parent
        mark.parent.remove(mark)
        sign, word = MARKS[mark["layer"]]
        title, *content = section.children
        gist = mark[0].children if mark.children else []
        summary = [
            nodes.inline("", sign, classes=["layer-sign"]),
            nodes.Text(" "),
            nodes.inline("", f"{word}: ", classes=["layer-word"]),
            *gist,
        ]
        folded = fold("section", summary, *content, classes=[mark["layer"]])
        section.children = []
        section.extend([title, folded])
        section["classes"].append(f"layer-{mark['layer']}")


def mark_contents(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Show the marks in the page's contents too."""
    if doctree is None or "toc" not in context:
        return
    for section in doctree.findall(nodes.section):
        for layer, (sign, word) in MARKS.items():
            if f"layer-{layer}" in section["classes"]:
                entry = re.compile(rf'href="#{re.escape(section["ids"][0])}">.*?(?=</a>)')
                mark = f' <span class="layer-sign" title="{word}">{sign}</span>'
                if found := entry.search(context["toc"]):
                    context["toc"] = context["toc"][: found.end()] + mark + context["toc"][found.end() :]


def porch(app: Sphinx, doctree: nodes.document) -> None:
    """The line below the title: how long it takes, what it builds on, its module; a switch, menus."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb" or path.parent.name != "chapters":
        return
    nb = notebooks.read(path)
    heading = next(iter(doctree.findall(nodes.title)), None)
    if heading is None:
        return
    about: dict[str, Any] = next((c.metadata["chapter"] for c in nb.cells if "chapter" in c.metadata), {})
    measured = measure.measure(nb)
    facts = [
        f"Story {measured.story_minutes} min",
        f"Full {measured.full_minutes} min",
    ]
    if entry := stored.load(path, nb):
        facts.append(f"runs in {max(1, round(entry['seconds']))} s")
    if about:
        facts.append(DIFFICULTY[about["difficulty"]])
    line = nodes.paragraph("", " · ".join(facts), classes=["facts"])
    if about.get("builds-on"):
        line += nodes.Text(" · builds on ")
        for number, name in enumerate(about["builds-on"]):
            if number:
                line += nodes.Text(", ")
            line += link_to_document(f"chapters/{name}", app.env.docname)
    module = path.stem
    if f"{PAGES}{module}" in app.env.found_docs:
        line += nodes.Text(" · in the library: ")
        line += link_to_document(f"{PAGES}{module}", app.env.docname, f"mcutils.{module}")
    box = nodes.container("", nodes.raw("", SWITCH, format="html"), line, classes=["porch"])
    box += nodes.raw("", launch.menu(app, app.env.docname), format="html")
    box += nodes.raw("", PRINT, format="html")
    heading.parent.insert(heading.parent.index(heading) + 1, box)


class StoryMinutes(SphinxRole):
    """How long Story takes, as "40 minutes": of chapters, and of sections from one label to another.

    They stand one after the other: `risk, sec-kernel-demo, sec-hinge-map to sec-hinge-machine`.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        seconds = 0.0
        for part in " ".join(self.text.split()).split(", "):
            first, _, last = part.partition(" to ")
            is_section = first.startswith("sec-")
            name = first.split("-")[1] if is_section else first
            path = Path(self.env.srcdir) / "chapters" / f"{name}.ipynb"
            try:
                nb = notebooks.read(path)
                seconds += measure.story_seconds(nb, *((first, last or first) if is_section else ()))
            except (OSError, ValueError) as error:
                message = self.inliner.reporter.error(
                    f"{part!r} cannot be measured: {error}", line=self.lineno
                )
                return [nodes.problematic(self.rawtext, self.rawtext)], [message]
            self.env.note_dependency(str(path))
        return [nodes.Text(f"{measure.to_minutes(seconds)} minutes")], []


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("layer-mark", LayerDirective)
    app.add_role("story-minutes", StoryMinutes())
    app.connect("source-read", mark_sections, priority=600)  # when the outputs are in
    app.connect(
        "doctree-read", fold_sections, priority=470
    )  # the units have their folds, the anchors are not set
    app.connect("doctree-read", porch, priority=480)
    app.connect("html-page-context", mark_contents, priority=400)  # the theme reads the contents at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
