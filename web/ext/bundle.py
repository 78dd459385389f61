"""Sphinx extension: one stylesheet.

A page has a dozen of them, and shows nothing before the last has come; on a slow line each costs a
journey there and back. When the site is built, what its pages link is put into one file each links
instead, and the settings that scripts read (`documentation_options.js`, 300 bytes) into the page itself.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

LINK = re.compile(
    r'\s*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="((?:\.\./|\./)*_static/[^"?]+)[^"]*"[^>]*>'
)
SETTINGS = re.compile(
    r'<script\b[^>]*\bsrc="((?:\.\./|\./)*_static/documentation_options\.js)[^"]*"[^>]*></script>'
)
IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"')]+)["']?\)?\s*;""")
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


def bundle(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    bundles: dict[tuple[str, ...], str] = {}

    def bundled(names: tuple[str, ...]) -> str:
        """The address, from `static`, of the one stylesheet made of these."""
        if names not in bundles:
            content = "\n".join(inlined(static, name) for name in names)
            mark = hashlib.sha256(content.encode()).hexdigest()[:8]
            file = "book.bundle.css" if not bundles else f"book.bundle.{mark}.css"
            (static / file).write_text(content, encoding="utf-8")
            bundles[names] = f"{file}?v={mark}"
        return bundles[names]

    settings = (static / "documentation_options.js").read_text(encoding="utf-8").strip()
    for page in sorted(out.rglob("*.html")):
        if page.is_relative_to(static):
            continue
        head, end, rest = page.read_text(encoding="utf-8").partition("</head>")
        links = [match[1] for match in LINK.finditer(head)]
        if links:
            root = links[0].split("_static/")[0]
            one = bundled(tuple(link.split("_static/")[1] for link in links))
            start, stop = next(LINK.finditer(head)).span()
            link = f'\n    <link rel="stylesheet" href="{root}_static/{one}" />'
            head = head[:start] + link + LINK.sub("", head[stop:])
        head = SETTINGS.sub(f"<script>{settings}</script>".replace("\\", r"\\"), head)
        page.write_text(head + end + rest, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", bundle, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
