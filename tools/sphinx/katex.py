"""Sphinx extension: formulas are typeset by KaTeX while the site is built.

Pages need no script to show them, only a stylesheet and fonts, which are copied into the site.
The macros are those of web/macros.yml. A formula that KaTeX cannot read is a warning, so it
fails the build.

Numbers are Sphinx's: label a block. KaTeX would count once more in environments that number
themselves (`equation`, `align`, …), so these are refused.
"""

from __future__ import annotations

import atexit
import copy
import functools
import html
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from tools import notebooks
from tools.sphinx import lean
from tools.stored import ROOT

logger = logging.getLogger(__name__)

VENDORED = ROOT / "web" / "vendor" / "katex"
IN_SITE = "katex"  # below _static

NUMBERS_ITSELF = re.compile(r"\\begin\{(equation|align|alignat|gather|multline|eqnarray|flalign)\}")

# KaTeX draws a command that `trust: false` forbids in red and goes on; as a function, `trust` can refuse.
# The table of macros is a fresh one each time, so that no formula defines something for the next.
RENDER = """
function render(tex, display, macros) {
  const trust = ({command}) => { throw new katex.ParseError(`${command} is not allowed`); };
  try {
    return JSON.stringify({html: katex.renderToString(tex, {
      displayMode: display, macros: JSON.parse(macros), output: "htmlAndMathml",
      strict: "error", throwOnError: true, trust,
    })});
  } catch (error) {
    return JSON.stringify({error: error.rawMessage ?? String(error)});
  }
}
"""


# (place, complaint) of every formula that was refused in this build
reported: set[tuple[str, str]] = set()


class FormulaError(Exception):
    """KaTeX cannot read a formula."""


@functools.cache
def engine(process: int) -> MiniRacer:
    """The engine of a process: Sphinx reads and writes pages in several, and an engine survives no fork."""
    context = MiniRacer()
    atexit.register(context.close)  # Python would not end while the engine is open
    context.eval((VENDORED / "katex.min.js").read_text(encoding="utf-8"))
    context.eval(RENDER)
    return context


@functools.cache
def macros() -> str:
    return json.dumps(notebooks.macros())


@functools.cache
def answer(tex: str, display: bool) -> dict[str, str]:
    """What KaTeX makes of a formula, `html` or `error`. The same formula is typeset once in a process."""
    result: dict[str, str] = json.loads(engine(os.getpid()).call("render", tex, display, macros()))
    return result


@functools.cache
def leaned(formula: str, keep_tex: bool) -> str:
    return lean.formula(formula, keep_tex=keep_tex)


def typeset(tex: str, *, display: bool, keep_tex: bool = False) -> str:
    """The HTML of a formula, with its TeX if a script of the page asks for it, or FormulaError."""
    if match := NUMBERS_ITSELF.search(tex):
        name = match.group(1)
        inner = {"equation": "no environment", "gather": "`gathered`"}.get(name, "`aligned`")
        raise FormulaError(
            f"`{name}` numbers itself, besides the book's own numbers: "
            f"write a labelled math block with {inner} inside, or `{name}*` for no number"
        )
    result = answer(tex, display)
    if "error" in result:
        raise FormulaError(result["error"])
    return leaned(result["html"], keep_tex)


def as_display(tex: str) -> str:
    """Sphinx's two liberties: blank lines part equations, and `\\\\` and `&` need no environment."""
    parts = [part.strip() for part in tex.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(parts) < 2:
        return "".join(parts)
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def is_searched(node: nodes.Node | None) -> bool:
    """Whether a formula stands in a table in which web/static/find.js looks for its TeX."""
    while node is not None and not isinstance(node, nodes.table):
        node = node.parent
    return node is not None and "notation-table" in node["classes"]


def html_of(node: nodes.Element, tex: str, *, display: bool) -> str:
    """The HTML of a formula; of a faulty one its TeX, and a warning."""
    try:
        return typeset(tex, display=display, keep_tex=is_searched(node))
    except FormulaError as error:
        complaint = f"{error}, in the formula\n{node.astext().strip()}"
        # titles are written once more in tables of contents and links: no second warning for those
        location = logging.get_node_location(node)
        if location and (location, complaint) not in reported:
            reported.add((location, complaint))
            logger.warning(complaint, location=location)
        return f"<code>{html.escape(node.astext())}</code>"


class KeepTextBeside(SphinxPostTransform):
    """Put a formula and what stands beside it without a space, such as a comma, into one span.

    A formula is a row of boxes, and for a browser a line may end before and after every box. In this
    span (see book.css) it may not, but at the `wbr` that `visit_math` puts between the boxes.
    """

    default_priority = 400  # after references, whose texts may hold formulas, are resolved
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            siblings = formula.parent
            place = siblings.index(formula)
            before, after = "", ""
            if place > 0 and isinstance(text := siblings[place - 1], nodes.Text):
                before = re.split(r"\s", text)[-1]
                siblings[place - 1] = nodes.Text(text.removesuffix(before))
            if place + 1 < len(siblings) and isinstance(text := siblings[place + 1], nodes.Text):
                after = re.split(r"\s", text, maxsplit=1)[0]
                siblings[place + 1] = nodes.Text(text.removeprefix(after))
            if before or after:
                span = nodes.inline("", "", classes=["beside-formula"])
                siblings[place] = span
                span += [nodes.Text(before), formula, nodes.Text(after)]


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    formula = html_of(node, node.astext(), display=False)
    box = '<span class="katex-base '
    self.body.append(formula.replace(f"</span>{box}", f"</span><wbr>{box}") + "</span>")
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    tex = node.astext()
    self.body.append(html_of(node, tex if node["nowrap"] else as_display(tex), display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def plain(formula: str) -> str:
    """The characters of a typeset formula: those of its MathML, without the TeX beside it."""
    mathml = re.search(r"<math.*?</math>", formula, re.DOTALL)
    assert mathml is not None
    without_tex = re.sub(r"<annotation.*?</annotation>", "", mathml.group(), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", without_tex))


def title_without_markup(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """The browser's tab shows letters only; the theme would strip tags and leave a formula twice."""
    title = app.env.titles.get(pagename)
    if title is None or not any(title.findall(nodes.math)):
        return
    title = copy.deepcopy(title)
    for node in list(title.findall(nodes.math)):
        result = answer(node.astext(), False)
        text = plain(result["html"]) if "html" in result else node.astext()
        node.parent.replace(node, nodes.Text(text))
    context["title"] = html.escape(title.astext())


def copy_stylesheet_and_fonts(app: Sphinx) -> None:
    if app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / IN_SITE
    shutil.copytree(VENDORED, target, ignore=shutil.ignore_patterns("*.js", "*.md"), dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.add_post_transform(KeepTextBeside)
    app.add_css_file(f"{IN_SITE}/katex.min.css")
    app.connect("builder-inited", copy_stylesheet_and_fonts)
    app.connect("html-page-context", title_without_markup)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
