"""Sphinx extension: what every page needs beside its text.

- A description for search engines: what a chapter says of itself (`sentence` in its metadata), otherwise the
  page's first sentences, or its own front matter (`myst: html_meta: description`).
- What other sites show of a page that somebody links to: its title, the description, and the book's picture
  (tools/preview.py) where the configuration has the site's address.
- Marks that programs reading a page aloud can trust: no id twice, names that say what is to be
  seen, no roles that have been withdrawn. They repair what other extensions write.
- A sidebar that folds by part, and a foot that says who wrote the book, which version it is and where an
  error is reported; on the first page `{about-book}` says it.
- The icons' font.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from mcutils import __version__
from tools import package, parts, preview
from tools.sphinx import katex
from tools.stored import ROOT

ICONS = ROOT / "web" / "vendor" / "fontawesome"

SHORTEST, LONGEST = 50, parts.DESCRIPTION  # what search engines show
END_OF_SENTENCE = re.compile(r"[.?!](?=\s+[^\sa-z]|\s*$)")  # not the point of "i.e. slowly"

# of the pages that are not written by anybody
DESCRIPTIONS = {
    "genindex": "Every term and every function of the book by the alphabet, and the places that treat it.",
    "search": "Search the whole book, chapters and back matter, in your browser; no other computer is asked.",
}


def plain(node: nodes.Element) -> str:
    """The words of a paragraph, its formulas as letters."""
    node = node.deepcopy()  # copy.deepcopy would follow the node's parent, and copy the whole page
    for formula in list(node.findall(nodes.math)):
        result = katex.answer(formula.astext(), False)
        text = katex.plain(result["html"]) if "html" in result else formula.astext()
        formula.parent.replace(formula, nodes.Text(text))
    return re.sub(r"\s+", " ", node.astext()).strip()


def shortened(text: str) -> str:
    """As many whole sentences as fit; if they are too short, as many words."""
    if len(text) <= LONGEST:
        return text
    ends = [m.end() for m in re.finditer(r"[.?!](?=\s)", text[: LONGEST + 1])]
    if ends and ends[-1] >= SHORTEST:
        return text[: ends[-1]]
    return text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(" ,;:–—") + "…"


def running_text(doctree: nodes.document) -> Iterator[nodes.paragraph]:
    """The paragraphs that stand in the page itself, not in a box, a table or a list."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            yield paragraph


def description(begin: str, doctree: nodes.document, otherwise: str) -> str:
    """`begin`, and if that is too short as many paragraphs of the page as are needed, and `otherwise`."""
    text = ""
    for words in chain([begin], map(plain, running_text(doctree))):
        text = f"{text} {words}".strip()
        if len(text) >= SHORTEST:
            return shortened(text)
    return shortened(f"{text} {otherwise}".strip())


def sentence(path: Path) -> str:
    """What a chapter says of itself."""
    if path.suffix != ".ipynb":
        return ""
    cell = parts.title_cell(json.loads(path.read_text(encoding="utf-8"))["cells"])
    return str(cell["metadata"].get("chapter", {}).get("sentence", "")) if cell else ""


def own_description(doctree: nodes.document) -> str:
    for meta in doctree.findall(nodes.meta):
        if meta.get("name") == "description":
            return str(meta["content"])
    return ""


def describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    own = own_description(doctree) if doctree else ""
    context["has_own_description"] = bool(own)
    if pagename in DESCRIPTIONS:
        context["page_description"] = DESCRIPTIONS[pagename]
    elif doctree is not None:
        title = plain(app.env.titles[pagename])
        otherwise = f"{title}: a page of the book “{app.config.html_title or app.config.project}”."
        begin = sentence(Path(app.env.doc2path(pagename)))
        context["page_description"] = own or description(begin, doctree, otherwise)


SHARED_IDS = {"proof", "proof-content", "exercise-content", "solution-content"}


class NoIdTwice(SphinxPostTransform):
    """sphinx-proof gives all proofs one id, the insides of all statements another; sphinx-exercise too."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.Element):
            if not SHARED_IDS.isdisjoint(node.get("ids", ())):
                node["ids"] = [name for name in node["ids"] if name not in SHARED_IDS]


# what other extensions write -> what programs that read aloud understand
REPAIRS = [
    # of bibliographies: the role has been withdrawn, and what stands in a list is an item
    ('role="doc-biblioentry"', 'role="listitem"'),
    # of cells that unfold: the name that is to be seen is better
    ('<summary aria-label="Toggle hidden content">', "<summary>"),
]


# a formula alone at the head of a column, which may say how the column is aligned
FORMULA_AS_HEAD = re.compile(
    r'<th class="head[^"]*"><p><span class="math [^<]*<span class="katex">.*?</th>', re.DOTALL
)


def named(head: re.Match[str]) -> str:
    """With its letters as its name: programs that check or read tables may not know MathML."""
    text = head.group()
    if text.count("</math>") != 1 or not text.endswith("</span></p></th>"):
        return text
    return text.replace("<math", f'<math aria-label="{html.escape(katex.plain(text))}"', 1)


def repair(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if "body" in context:
        for found, better in REPAIRS:
            context["body"] = context["body"].replace(found, better)
        context["body"] = FORMULA_AS_HEAD.sub(named, context["body"])


class Part(NamedTuple):
    caption: str  # HTML, as the list of its pages; empty where pages stand without one
    pages: str
    current: bool  # whether the page that is written belongs to it


CAPTION = re.compile(
    r'<p\b[^>]*\bclass="caption"[^>]*><span class="caption-text">(.*?)</span></p>', re.DOTALL
)
CURRENT = re.compile(r'<li class="[^"]*\bcurrent\b')


# what unfolds the pages below a page: an icon without a name
BELOW = re.compile(r"(<a\b[^>]*>)((?:(?!</a>).)*)(</a><details[^>]*><summary)>", re.DOTALL)


def name_below(found: re.Match[str]) -> str:
    """With the name of the page above them.

    >>> BELOW.sub(name_below, '<a href="#">A <code>b</code></a><details><summary><i></i>')
    '<a href="#">A <code>b</code></a><details><summary aria-label="Below A b"><i></i>'
    """
    title = re.sub(r"<[^>]*>", "", found[2]).replace('"', "&quot;")
    return f'{found[1]}{found[2]}{found[3]} aria-label="Below {title}">'


def parts_of(contents: str) -> list[Part]:
    """The table of contents by part: a list without a caption belongs to the part before it.

    >>> caption = '<p class="caption"><span class="caption-text">A</span></p>'
    >>> for part in parts_of(f'<ul>1</ul>{caption}<ul><li class="current">2</li></ul><ul>3</ul>'):
    ...     print(part)
    Part(caption='', pages='<ul>1</ul>', current=False)
    Part(caption='A', pages='<ul><li class="current">2</li></ul><ul>3</ul>', current=True)
    """
    pieces = ["", *CAPTION.split(BELOW.sub(name_below, str(contents)))]
    parts = [
        Part(caption, pages.strip(), bool(CURRENT.search(pages)))
        for caption, pages in zip(pieces[::2], pieces[1::2], strict=True)
    ]
    return [part for part in parts if part.caption or part.pages]


def facts(config: Config) -> dict[str, Any]:
    """What the templates say of the book; what the configuration leaves empty is empty."""
    site = config.html_baseurl
    return {
        "book": config.html_context.get("book", {}),
        "book_title": config.html_title or config.project,
        "book_version": __version__,
        "book_date": package.released(),
        "book_repository": config.html_theme_options.get("repository_url", ""),
        "book_site": site,
        # other sites take no address that is not absolute
        "book_preview": posixpath.join(site, "_static", preview.FILE.name) if site else "",
        "preview_size": preview.SIZE,
        "preview_words": preview.WORDS,
    }


def help_templates(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    context |= facts(app.config) | {"parts_of": parts_of}


class about_book(nodes.General, nodes.Element):
    """Who wrote the book, which version it is, and so on; filled in when the page is written."""


class AboutBook(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [about_book()]


def tell(self: HTML5Translator, node: about_book) -> None:
    config = self.builder.config
    context = facts(config) | {"copyright": config.copyright}
    self.body.append(self.builder.templates.render("about-book.html", context))
    raise nodes.SkipNode


def copy_icons(app: Sphinx) -> None:
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "icons"
        shutil.copytree(ICONS, target, ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(about_book, html=(tell, None))
    app.add_directive("about-book", AboutBook)
    app.add_post_transform(NoIdTwice)
    app.connect("builder-inited", copy_icons)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", repair)
    app.connect("html-page-context", help_templates)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
