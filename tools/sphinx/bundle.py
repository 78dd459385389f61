"""Sphinx extension: one stylesheet, with the rules that the site uses.

A page links a dozen stylesheets and is rendered only when the last has arrived; on a slow connection each
costs a round trip. So what the pages link is put into one file that each links instead, and the settings
that scripts read (`documentation_options.js`, 300 bytes) are put into the page itself. The file begins with
the names of what it was made of: a page that was not written again in this build links it already.

Two thirds of what the theme and its extensions bring is for things that this book does not have. A rule
stays if every class and id that its selector needs occurs as a word in some page or script.

Pages are light until a script says otherwise: the theme has colours for light and dark, and none for "auto".
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.application import Sphinx

from tools.sphinx import lean

LINK = re.compile(
    r'\s*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="((?:\.\./|\./)*_static/[^"?]+)[^"]*"[^>]*>'
)
SETTINGS = re.compile(
    r'<script\b[^>]*\bsrc="((?:\.\./|\./)*_static/documentation_options\.js)[^"]*"[^>]*></script>'
)
MADE_OF = re.compile(r"/\* made of (.*?) \*/")
IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"')]+)["']?\)?\s*;""")
# for bytes.translate, three times as fast as a regular expression: a space for each sign that is in no name
SPACED = bytes(b if b >= 128 or chr(b).isalnum() or chr(b) in "_-" else 32 for b in range(256))
ADDRESS = re.compile(r"""url\(\s*["']?(?!data:|https?:|#)([^"')]+)["']?\s*\)""")


def inlined(static: Path, name: str) -> str:
    """A stylesheet with what it imports, and with addresses from `static`."""
    folder = posixpath.dirname(name)

    def from_static(address: str) -> str:
        return posixpath.normpath(posixpath.join(folder, address))

    css = (static / name).read_text(encoding="utf-8")
    css = re.sub(r'@charset\s+"[^"]*";', "", css)
    css = ADDRESS.sub(lambda match: f'url("{from_static(match[1])}")', css)
    return IMPORT.sub(lambda match: inlined(static, from_static(match[1])), css)


def needed(selector: str) -> set[str]:
    """The classes and ids without which a selector matches nothing.

    >>> sorted(needed("#top .fold:not(.open) > a:is(.x, .y)[href='.z']"))
    ['fold', 'top']
    """
    selector = re.sub(r"\\(.)", r"\1", selector)
    nested = re.compile(r"\([^()]*\)|\[[^\]]*\]")
    while nested.search(selector):
        selector = nested.sub("", selector)
    return set(re.findall(r"[.#]([\w-]+)", selector))


ENDS_IN_TYPES = re.compile(r"((?:.*[\s>+~])?):is\(([a-z][a-z\d]*(?:,\s*[a-z][a-z\d]*)*)\)([^\s>+~(]*)", re.S)


def spelled_out(selector: str) -> list[str]:
    """One selector for each type of element that it ends in: browsers try `:is(…)` on every element.

    >>> spelled_out(".a > :is(td, th):first-child"), spelled_out(":is(td, th) p"), spelled_out(":is(p, .p)")
    (['.a > td:first-child', '.a > th:first-child'], [':is(td, th) p'], [':is(p, .p)'])
    """
    match = ENDS_IN_TYPES.fullmatch(selector)
    return [f"{match[1]}{kind.strip()}{match[3]}" for kind in match[2].split(",")] if match else [selector]


def used(rules: Iterable[Any], words: set[str]) -> Iterator[str]:
    """The rules that can match something, without those selectors that cannot."""
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors: list[list[Any]] = [[]]
            for token in rule.prelude:
                if token == ",":
                    selectors.append([])
                else:
                    selectors[-1].append(token)
            texts = [tinycss2.serialize(tokens).strip() for tokens in selectors]
            kept = ",".join(one for text in texts if needed(text) <= words for one in spelled_out(text))
            if kept:
                content = (token for token in rule.content if token.type != "comment")
                yield f"{kept}{{{tinycss2.serialize(content).strip()}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if kept := "\n".join(used(inner, words)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{kept}}}"
        elif rule.type == "at-rule":
            yield rule.serialize()
        else:
            raise ValueError(f"a stylesheet cannot be read at line {rule.source_line}: {rule.message}")


def words_of_the_site(out: Path) -> set[str]:
    """All that could be a name in a page or a script."""
    files = [*out.rglob("*.html"), *out.rglob("*.js")]
    words = {word for file in files for word in file.read_bytes().translate(SPACED).split()}
    return {word.decode() for word in words}


def bundle(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    words = words_of_the_site(out)
    lean.write_lengths(static, words)
    bundles: dict[tuple[str, ...], str] = {}
    earlier = {  # before anything is written: what the bundles of the last build were made of
        file.name: tuple(match[1].split())
        for file in static.glob("book.bundle*.css")
        if (match := MADE_OF.match(file.read_text(encoding="utf-8")))
    }

    def bundled(names: tuple[str, ...]) -> str:
        """The address, from `static`, of the one stylesheet made of these."""
        if names not in bundles:
            css = "\n".join(inlined(static, name) for name in names)
            rules = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
            content = f"/* made of {' '.join(names)} */\n" + "\n".join(used(rules, words)) + "\n"
            mark = hashlib.sha256(content.encode()).hexdigest()[:8]
            file = "book.bundle.css" if not bundles else f"book.bundle.{mark}.css"
            (static / file).write_text(content, encoding="utf-8")
            bundles[names] = f"{file}?v={mark}"
        return bundles[names]

    settings = (static / "documentation_options.js").read_text(encoding="utf-8").strip()
    for page in sorted(out.rglob("*.html")):
        if page.is_relative_to(static):
            continue
        text = page.read_text(encoding="utf-8")
        head, end, rest = text.partition("</head>")
        links = [match[1] for match in LINK.finditer(head)]
        if links:
            root = links[0].split("_static/")[0]
            names = [link.split("_static/")[1] for link in links]
            one = bundled(tuple(part for name in names for part in earlier.get(name, (name,))))
            start, stop = next(LINK.finditer(head)).span()
            link = f'\n    <link rel="stylesheet" href="{root}_static/{one}" />'
            head = head[:start] + link + LINK.sub("", head[stop:])
        head = head.replace('data-theme="auto"', 'data-theme="light"', 1)
        head = SETTINGS.sub(f"<script>{settings}</script>".replace("\\", r"\\"), head)
        if head + end + rest != text:
            page.write_text(head + end + rest, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", bundle, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
