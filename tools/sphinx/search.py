"""Sphinx extension: what the search shows while a reader types.

Sphinx's own search looks through the words of all pages. Before it comes a short index of names: titles of
pages and sections, names and numbers of statements, the first sentence of a figure's caption, terms of the
glossary, names of the package, and other words for any of them (`web/synonyms.yml`). It is a script, so that
it can be read from the disk too, and is loaded when somebody goes to the search field. `web/static/search.js`
ranks and shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tools.sphinx.pages import END_OF_SENTENCE, LONGEST, plain
from tools.stored import ROOT

SYNONYMS = ROOT / "web" / "synonyms.yml"
INDEX = Path("_static/search-index.js")
KINDS = ("page", "section", "statement", "figure", "term", "name")


class Entry(NamedTuple):
    """A place that the search knows by name."""

    kind: str
    document: str
    anchor: str  # "" for the page itself
    title: str
    note: str = ""  # a page's number, "Theorem 9.1", what a term means, what a name is of


def synonyms() -> dict[str, list[str]]:
    """By a document or a label: the other words for it."""
    found: dict[str, list[str]] = yaml.safe_load(SYNONYMS.read_text(encoding="utf-8"))
    return found


Also = dict[tuple[str, str], list[str]]  # other words, by document and anchor


def script(entries: list[Entry], addresses: dict[str, str], also: Also) -> str:
    """The index as `web/static/search.js` reads it: each address once, a list for each entry."""

    def short(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    documents = list(dict.fromkeys(entry.document for entry in entries))
    place = {document: at for at, document in enumerate(documents)}
    rows = []
    for kind, document, anchor, title, note in entries:
        words = also.get((document, anchor), [])
        row = [KINDS.index(kind), place[document], anchor, title, note, *([words] if words else [])]
        rows.append(short(row))
    pages = short([addresses[document] for document in documents])
    return f"globalThis.mcSearchIndex={{pages:{pages},entries:[\n" + ",\n".join(rows) + "\n]};\n"


# -- what is known of a page when it has been read --------------------------------------------


def opening(text: str) -> str:
    """The first sentence of a text, or as many words of it as fit.

    >>> opening("By hand, i.e. slowly. Then not.")
    'By hand, i.e. slowly.'
    """
    end = END_OF_SENTENCE.search(text)
    short = text[: end.end()] if end else text
    return short if len(short) <= LONGEST else short[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(" ,;:–—") + "…"


def meaning(definition: nodes.Element) -> str:
    """The first sentence of a glossary entry, "" if it refers to something by its label."""
    paragraph = next(iter(definition.findall(nodes.paragraph)), None)
    if paragraph is None:
        return ""
    sentence = opening(plain(paragraph))
    labels = (
        node["reftarget"] for node in paragraph.findall() if getattr(node, "tagname", "") == "pending_xref"
    )
    return "" if sentence.startswith("See ") or any(label in sentence for label in labels) else sentence


def named(doctree: nodes.document) -> Iterator[tuple[str, str, str, str]]:
    """Kind, id, title and what goes with it, of the statements, figures and terms of a page.

    Of a section with a label: "alias", the label, the place that the contents link to.
    """
    for node in doctree.findall(nodes.Element):
        if isinstance(node, nodes.section):
            for other in node["ids"][1:]:
                yield "alias", other, node["ids"][0], ""
        elif node.get("realtype") and node["ids"]:
            title = plain(node[0]) if node.children and isinstance(node[0], nodes.title) else ""
            yield "statement", node["label"], re.sub(r"^\((.*)\)$", r"\1", title), node["countertype"]
        elif isinstance(node, nodes.figure) and node["ids"]:
            for caption in node.findall(nodes.caption):
                yield "figure", node["ids"][0], opening(plain(caption)), "figure"
        elif isinstance(node, nodes.definition_list_item):
            for term in node.findall(nodes.term):
                if term["ids"] and term["ids"][0].startswith("term-"):
                    yield "term", term["ids"][0], plain(term), meaning(node[-1])


def read(app: Sphinx, doctree: nodes.document) -> None:
    names_by_page(app.env)[app.env.docname] = list(named(doctree))


def names_by_page(env: BuildEnvironment) -> dict[str, list[tuple[str, str, str, str]]]:
    if not hasattr(env, "search_names"):
        env.search_names = {}  # type: ignore[attr-defined]
    return env.search_names  # type: ignore[attr-defined]


def purge(app: Sphinx, env: BuildEnvironment, document: str) -> None:
    names_by_page(env).pop(document, None)


def merge(app: Sphinx, env: BuildEnvironment, documents: set[str], other: BuildEnvironment) -> None:
    names_by_page(env).update(
        {name: names for name, names in names_by_page(other).items() if name in documents}
    )


# -- the index ----------------------------------------------------------------------------------


def joined(number: Any) -> str:
    return ".".join(map(str, number or ()))


def entries(env: BuildEnvironment) -> Iterator[Entry]:
    """All places, page by page in reading order."""
    objects = env.domaindata["py"]["objects"]
    modules = [name for name, entry in objects.items() if entry.objtype == "module"]
    names = {entry.node_id: (name, entry.objtype) for name, entry in objects.items()}
    for document in env.collect_relations():
        number = joined(env.toc_secnumbers.get(document, {}).get(""))
        yield Entry("page", document, "", plain(env.titles[document]), number)
        for link in env.tocs[document].findall(nodes.reference):
            anchor = link.get("anchorname", "").removeprefix("#")
            name, what = names.get(anchor, ("", "module"))
            if what == "module":
                if anchor:
                    yield Entry("section", document, anchor, plain(link))
                continue
            module = max((m for m in modules if name.startswith(f"{m}.")), key=len, default="")
            yield Entry("name", document, anchor, name.removeprefix(f"{module}."), f"{what} of {module}")
        numbers = env.toc_fignumbers.get(document, {})
        for kind, anchor, title, what in names_by_page(env).get(document, ()):
            if kind == "alias":
                continue
            if kind == "term":
                yield Entry(kind, document, anchor, title, what)
                continue
            note = f"{what.capitalize()} {joined(numbers.get(what, {}).get(anchor))}".strip()
            yield Entry(kind, document, anchor, title or note, note)


def by_place(env: BuildEnvironment, also: dict[str, list[str]]) -> Also:
    """The other words by the place that has them; what a small book lacks, of the tests, is left out."""
    labels = env.domaindata["std"]["anonlabels"]
    result: Also = {}
    for name, words in also.items():
        document, anchor = (name, "") if name in env.found_docs else labels.get(name, ("", ""))[:2]
        of_section = [
            own
            for kind, other, own, _ in names_by_page(env).get(document, ())
            if (kind, other) == ("alias", anchor)
        ]
        result[document, (of_section or [anchor])[0]] = words
    return result


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    everything = list(entries(app.env))
    addresses = {e.document: app.builder.get_target_uri(e.document) for e in everything}
    text = script(everything, addresses, by_place(app.env, synonyms()))
    (Path(app.outdir) / INDEX).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", read)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", write, priority=800)  # before the stylesheets are bundled
    return {"parallel_read_safe": True, "parallel_write_safe": True}
