"""Sphinx extension: how high a paragraph or a formula will be on a phone, roughly.

On a small screen the browser does not lay out what is far below (`web/static/book.css`), and takes a guess
for its height. One guess for all was wrong by a quarter over a long chapter: the page grew under the
reader's thumb, and its lines jumped. So each paragraph that is longer than a line says how many lines of a
phone it has, and each formula how high it is; KaTeX knows that, and letters can be counted.
"""

from __future__ import annotations

import html
import math
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LETTERS = 41  # in a line of a phone, 390 px wide: measured over all chapters
NUMBER = 1.6  # the height of an equation's number, which stands below it there

PARAGRAPH = re.compile(r"<p\b([^>]*)>(.*?)</p>", re.DOTALL)
FORMULA = re.compile(r'<div class="math\b([^>]*)>(.*?)</div>', re.DOTALL)
STRUT = re.compile(r'class="katex-base a(\d+)')  # its height in ten thousandths: tools.sphinx.lean


def lines(content: str) -> int:
    """Of a paragraph: formulas count with the letters that are seen.

    >>> lines("<em>Short</em>"), lines("x" * 100)
    (1, 3)
    """
    seen = re.sub(r"<math\b.*?</math>|<[^>]*>|\\u200b", "", content, flags=re.DOTALL)
    return max(1, math.ceil(len(html.unescape(seen)) / LETTERS))


def height(content: str) -> float | None:
    """Of a displayed formula, in its own em."""
    struts = [int(strut) / 10_000 for strut in STRUT.findall(content)]
    return max(struts) + NUMBER * ('class="eqno"' in content) if struts else None


def with_lines(match: re.Match[str]) -> str:
    attributes, content = match.groups()
    count = lines(content)
    if count == 1 or "style=" in attributes:
        return match.group()
    return f'<p{attributes} style="--lines:{count}">{content}</p>'


def with_height(match: re.Match[str]) -> str:
    attributes, content = match.groups()
    found = height(content)
    if found is None or "style=" in attributes:
        return match.group()
    return f'<div class="math{attributes} style="--height:{found:.3g}">{content}</div>'


def guess(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """In chapters from the second section on, as the stylesheet has it."""
    body = context.get("body") or ""
    first = body.find("<h2")
    second = body.find("<h2", first + 1)
    if first < 0 or second < 0 or 'class="cell' not in body:
        return
    above, below = body[:second], body[second:]
    context["body"] = above + FORMULA.sub(with_height, PARAGRAPH.sub(with_lines, below))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", guess)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
