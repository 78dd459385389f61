"""Sphinx extension: what a link shows before somebody follows it.

A link to a statement, an exercise, an erratum, an equation, a figure, a section, a name of the package or an
entry of the bibliography or of the glossary has a card with what stands there. `web/static/follow.js` shows
it. What stands on the page itself it takes from there; for a link to another page it loads the cards of that
page, a script below `_static/cards`. The scripts are made here from the pages as they were written, so that
cards have the same numbers and typeset formulas.

Nine tenths of a formula are tags, and few different ones. A script has each piece of HTML that occurs again
once, and a sign in its place; that makes it a seventh as long. The TeX beside a formula is left out; its
MathML, which is read aloud, stays.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sphinx.application import Sphinx

CARDS = Path("_static/cards")

ARTICLE = re.compile(r'<article class="bd-article">.*?</article>', re.DOTALL)
LINK = re.compile(r'<a\b(?![^>]*\bclass="headerlink")[^>]*?\bhref="([^"#:?]*)#([^"]+)"[^>]*>')
OPENING = re.compile(r"<(\w+)\b[^>]*>")
PLACE = re.compile(r'\sid="([^"]+)"')
CLASSES = re.compile(r'\bclass="([^"]*)"')
# the empty places before a heading, and the heading
HEADING = re.compile(r"(?:\s*</?span\b[^>]*>)*\s*(<h[1-6]\b.*?</h[1-6]>)\s*", re.DOTALL)
GIST = re.compile(r'<details class="[^"]*\bsection\b[^"]*">\s*(<summary>.*?</summary>)', re.DOTALL)
PLAIN_PARAGRAPH = re.compile(r"<p\b(?![^>]*\bclass=)[^>]*>")

LEFT_OUT = re.compile(
    r'<a class="headerlink"[^>]*>.*?</a>|<annotation\b.*?</annotation>|</?a\b[^>]*>|</?semantics>'
    r'|<span class="label">.*?</span>\s*(?=<p>)| (?:id|role|loading|tabindex|xmlns)="[^"]*"| style="--[^"]*"',
    re.DOTALL,
)
SOURCE = re.compile(r'(?<= src=")(?!data:)([^"]+)')

FORMULA = re.compile(r'<span class="katex">')
TAGS = re.compile(r"(?:<[^>]+>)+")
TAG = re.compile(r"<[^>]+>")
# What stands for a piece of HTML: letters of alphabets that this book does not use, two bytes each; if these
# are not enough, signs of no alphabet, three bytes each.
SIGNS = (*range(0x400, 0x7C0), *range(0xE000, 0xF900))


# -- what a card shows ----------------------------------------------------------------------


def element(text: str, start: int) -> str:
    """The element whose first tag begins at `start`.

    >>> element("<p><b>a<b>c</b></b>d</p>", 3)
    '<b>a<b>c</b></b>'
    """
    opening = OPENING.match(text, start)
    if opening is None:
        raise ValueError(f"no element begins at {start}, but {text[start : start + 40]!r}")
    depth = 0
    for tag in re.compile(rf"<(/?){opening[1]}\b[^>]*>").finditer(text, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return text[start : tag.end()]
    raise ValueError(f"the element at {start} has no end: {text[start : start + 40]!r}")


def first(pattern: re.Pattern[str], text: str, start: int = 0) -> str:
    """The first element after `start` whose first tag fits, "" if there is none."""
    opening = pattern.search(text, start)
    return element(text, opening.start()) if opening else ""


def shown(text: str, start: int) -> str:
    """What a card shows of the place whose tag begins at `start`; "" if such a place has no card.

    `cut` in web/static/follow.js does the same for places of the page itself.
    """
    opening = OPENING.match(text, start)
    assert opening is not None
    name = opening[1]
    names = CLASSES.search(opening[0])
    classes = set(names[1].split()) if names else set()
    if classes & {"admonition", "math", "citation"}:
        return element(text, start)
    if name == "figure":
        figure = element(text, start)
        picture = re.search(r"<img\b[^>]*>", figure)
        return (picture[0] if picture else "") + first(re.compile("<figcaption>"), figure)
    if name == "dt":
        title = element(text, start)
        meaning = first(re.compile("<dd>"), text, start + len(title))
        return title + (first(PLAIN_PARAGRAPH, meaning) if "sig" in classes else meaning)
    if name == "p" and ' id="sec-' in opening[0]:
        return element(text, start)
    if name == "p" and ' id="erratum-' in opening[0]:
        row = element(text, text.rindex("<tr", 0, start))
        return re.sub(r"<(/?)td\b[^>]*>", r"<\1div>", re.sub(r"</?tr\b[^>]*>", "", row))
    heading = HEADING.match(text, start) if name == "span" else None
    if heading is None:
        return ""
    gist = GIST.match(text, heading.end())
    return heading[1] + (gist[1] if gist else first(PLAIN_PARAGRAPH, text, heading.end()))


def card(text: str, start: int, page: str) -> str:
    """The same, without what it has no use for, and with addresses of pictures from the site's root."""
    return SOURCE.sub(lambda source: joined(page, source[1]), LEFT_OUT.sub("", shown(text, start)))


def joined(page: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), address))


# -- scripts --------------------------------------------------------------------------------


def occurrences(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The pieces that fit, and where they begin; of a formula the whole element."""
    end = 0
    for match in pattern.finditer(text):
        if match.start() >= end:
            piece = element(text, match.start()) if pattern is FORMULA else match[0]
            yield match.start(), piece
            end = match.start() + len(piece)


def substituted(text: str, pattern: re.Pattern[str], signs: dict[str, str]) -> str:
    """With a sign in the place of each piece that has one."""
    parts, end = [], 0
    for start, piece in occurrences(text, pattern):
        if piece in signs:
            parts += [text[end:start], signs[piece]]
            end = start + len(piece)
    return "".join(parts) + text[end:]


def compressed(cards: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The cards with a sign for each piece that occurs again, and the pieces by their signs.

    First whole formulas, then runs of tags, then tags. Pieces may hold the signs of later ones.
    """
    taken = set("".join(cards.values()))
    free = iter(sign for sign in map(chr, SIGNS) if sign not in taken)
    pieces: dict[str, str] = {}
    for pattern in (FORMULA, TAGS, TAG):
        texts = [*cards.values(), *pieces.values()]
        count = Counter(piece for text in texts for _, piece in occurrences(text, pattern))
        gain = {piece: (n - 1) * (len(piece.encode()) - 2) for piece, n in count.items()}
        worth = sorted((piece for piece in gain if gain[piece] > 8), key=lambda piece: (-gain[piece], piece))
        signs = dict(zip(worth, free, strict=False))
        cards = {anchor: substituted(text, pattern, signs) for anchor, text in cards.items()}
        pieces = {sign: substituted(text, pattern, signs) for sign, text in pieces.items()}
        pieces |= {sign: piece for piece, sign in signs.items()}
    return cards, pieces


def script(page: str, cards: dict[str, str]) -> str:
    """The cards of a page, as `web/static/follow.js` reads them."""
    short, pieces = compressed(cards)
    values = (page.removesuffix(".html"), "".join(pieces), list(pieces.values()), short)
    said = ",\n".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)
    return f"mcFollow.take({said});\n"


# -- the site -------------------------------------------------------------------------------


def links(page: str, text: str) -> Iterator[tuple[str, str]]:
    """The places that the text of a page links to: page and anchor."""
    article = ARTICLE.search(text)
    for link in LINK.finditer(article[0] if article else ""):
        yield (joined(page, link[1]) if link[1] else page), unquote(html.unescape(link[2]))


def places(text: str) -> dict[str, int]:
    """Where the tag of each anchor of a page begins."""
    return {html.unescape(place[1]): text.rfind("<", 0, place.start()) for place in PLACE.finditer(text)}


def pages(out: Path) -> dict[str, str]:
    """The pages of a site: their texts by their addresses."""
    files = {file.relative_to(out).as_posix(): file for file in sorted(out.rglob("*.html"))}
    return {
        name: file.read_text(encoding="utf-8")
        for name, file in files.items()
        if not name.startswith("_static/")
    }


def cards_by_page(texts: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Of each page that another one links into, the cards of these places."""
    wanted: dict[str, set[str]] = {}
    for name, text in texts.items():
        for page, anchor in links(name, text):
            if page != name and page in texts:
                wanted.setdefault(page, set()).add(anchor)
    for page, anchors in wanted.items():
        text = texts[page]
        starts = places(text)
        cards = {anchor: card(text, starts[anchor], page) for anchor in sorted(anchors & starts.keys())}
        yield page, {anchor: content for anchor, content in cards.items() if content}


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    written = set()
    for page, cards in cards_by_page(pages(out)):
        file = out / CARDS / Path(page).with_suffix(".js")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script(page, cards), encoding="utf-8")
        written.add(file)
    for file in set((out / CARDS).rglob("*.js")) - written:
        file.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write, priority=800)  # before the stylesheets are bundled
    return {"parallel_read_safe": True, "parallel_write_safe": True}
