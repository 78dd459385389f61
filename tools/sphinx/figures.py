"""Sphinx extension: figures.

- An image without alternative text is a warning that names its place, so it fails the build.
- A page reserves the place of an image before it has it, and loads it when a reader comes near.
- An interactive figure holds a still picture, for readers without scripts: its own, or the figure of
  the page that its `data-fallback` names. The script that builds it replaces all that it holds.
- `{chapter-figure} NAME` shows the figure of a chapter on another page: the picture that the present
  code draws, with the text for those who cannot see it. The directive's content is its caption.
"""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from tools import notebooks, stored
from tools.sphinx import svg

logger = logging.getLogger(__name__)

PX_PER_UNIT = {"pt": 4 / 3, "px": 1.0, "": 1.0}


def has_alt(image: nodes.image) -> bool:
    return bool(image.get("alt", "").strip())


def demand_alternative_text(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Also of images in HTML, whether it is written in a page or is what a cell shows."""
    for image in doctree.findall(nodes.image):
        if not has_alt(image):
            tell(image, image["uri"])
    for raw in doctree.findall(nodes.raw):
        for tag in re.findall(r"<img\b[^>]*>", raw.astext()):
            if not re.search(r"""\balt\s*=\s*["']\s*[^\s"']""", tag):
                tell(raw, tag[:80])


def tell(node: nodes.Element, what: str) -> None:
    logger.warning(
        "an image without alternative text (%s): say what is to be seen; of a cell's figure in the cell's "
        "metadata, mystnb.image.alt",
        what,
        location=place(node),
    )


def place(node: nodes.Node) -> str | None:
    """Of the node, or of the next thing around it that has one: what cells show has none."""
    around: nodes.Node | None = node
    while around is not None:
        if getattr(around, "line", None) and getattr(around, "source", None):
            return logging.get_node_location(around)
        around = around.parent
    return logging.get_node_location(node)


def size(file: Path) -> tuple[int, int] | None:
    """Width and height in pixels, of SVG and PNG."""
    content = file.read_bytes()
    if content.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", content[16:24])
        return width, height
    head = re.search(r"<svg\b[^>]*>", content[:2000].decode("utf-8", errors="ignore"))
    if not head:
        return None
    pixels = []
    for side in ("width", "height"):
        match = re.search(rf'\b{side}="([\d.]+)(pt|px|)"', head[0])
        if not match:
            return None
        pixels.append(round(float(match[1]) * PX_PER_UNIT[match[2]]))
    return pixels[0], pixels[1]


def reserve_place(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    body = context.get("body")
    if not body:
        return
    files = {Path(name).name: Path(app.srcdir) / source for source, (_, name) in app.env.images.items()}
    below = body.find("<h2")  # what stands above the first heading is seen at once

    def with_size(match: re.Match[str]) -> str:
        tag = match.group()
        source = re.search(r'\bsrc="([^"]+)"', tag)
        file = files.get(source[1].rsplit("/", 1)[-1]) if source else None
        more = ""
        if file and not re.search(r"\b(width|height|style)=", tag) and (pixels := size(file)):
            more += f' width="{pixels[0]}" height="{pixels[1]}"'
        if "loading=" not in tag and match.start() > below >= 0:
            more += ' loading="lazy"'
        return re.sub(r"\s*(/?>)$", rf"{more} \1", tag)

    context["body"] = re.sub(r"<img\b[^>]*>", with_size, body)


WIDGET = re.compile(r"""<div\b(?=[^>]*\bclass="mc-widget\b)(?:[^>"']|"[^"]*"|'[^']*')*>""")


def end_of_div(body: str, start: int) -> int:
    """Where the content ends of a div whose content begins at `start`."""
    depth = 1
    for tag in re.finditer(r"<div\b|</div>", body[start:]):
        depth += 1 if tag[0] == "<div" else -1
        if not depth:
            return start + tag.start()
    return len(body)


def put_stills(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    body = context.get("body") or ""
    for opening in reversed(list(WIDGET.finditer(body))):  # what is put in moves only what comes after
        end = end_of_div(body, opening.end())
        if re.search(r"<(img|svg|table)\b", body[opening.end() : end]):
            continue
        name = re.search(r'\bdata-fallback="([^"]+)"', opening[0])
        figure = name and re.search(
            rf'<figure\b[^>]*\bid="{re.escape(name[1])}"[^>]*>.*?(<img\b[^>]*>)', body, re.DOTALL
        )
        if figure:
            body = f'{body[:end]}<div class="mc-still">{figure[1]}</div>\n{body[end:]}'
        else:
            logger.warning(
                "an interactive figure without a still one, for readers without scripts: put a picture or "
                "a table into it, or name a figure of this page in data-fallback: %s",
                opening[0][:80],
                location=pagename,
            )
    if body:
        context["body"] = body


class ShownFigure(nodes.figure):
    """A figure without a number: it has one where it belongs."""


class ChapterFigure(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        for docname in sorted(self.env.found_docs):
            path = Path(self.env.doc2path(docname))
            if path.suffix != ".ipynb":
                continue
            chapter = notebooks.read(path)
            code = [cell for cell in chapter.cells if cell.cell_type == "code"]
            for number, cell in enumerate(code):
                if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == name:
                    self.env.note_dependency(str(path))
                    entry = stored.load(path, chapter)
                    # else the chapter failed, and Sphinx has the error
                    return self.figure(cell, entry["outputs"][number]) if entry else []
        raise self.error(f"no cell of a chapter has the figure {name!r}")

    def figure(self, cell: Any, outputs: list[dict[str, Any]]) -> list[nodes.Node]:
        name = self.arguments[0]
        shown = {kind: content for output in outputs for kind, content in output.get("data", {}).items()}
        if "image/svg+xml" in shown:
            suffix, picture = ".svg", svg.smaller("".join(shown["image/svg+xml"])).encode()
        elif "image/png" in shown:
            suffix, picture = ".png", b64decode("".join(shown["image/png"]))
        else:
            raise self.error(f"the cell of {name!r} shows no picture")
        # where myst-nb, too, puts the pictures of cells
        file = Path(self.env.app.outdir).parent / "jupyter_execute" / f"{name}{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(picture)
        image = nodes.image(uri="/" + file.relative_to(self.env.srcdir).as_posix())
        image["alt"] = cell.metadata["mystnb"].get("image", {}).get("alt", "")
        self.set_source_info(image)
        figure = ShownFigure("", image, classes=["chapter-figure"])
        if self.content:
            caption = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, caption)
            paragraph = caption.children[0]
            figure += nodes.caption("", "", *paragraph.children)
        # the class lets dark mode treat it as what it is
        return [nodes.container("", figure, classes=["cell_output"])]


def setup(app: Sphinx) -> dict[str, Any]:
    as_figure = (HTML5Translator.visit_figure, HTML5Translator.depart_figure)
    app.add_node(ShownFigure, html=as_figure)
    app.add_directive("chapter-figure", ChapterFigure)
    app.connect("doctree-resolved", demand_alternative_text)
    app.connect("html-page-context", put_stills, priority=400)
    app.connect("html-page-context", reserve_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
