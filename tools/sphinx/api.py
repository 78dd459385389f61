"""Sphinx extension: the pages of mcutils, and what its docstrings do not become by napoleon alone.

Each public module has a page in `appendix/api`, of the module's name: its docstrings, read by autodoc.

- `{module-summary}`, at the top of such a page: the chapter of the same name, and a table of what the page
  defines, with the first sentence of each docstring.
- `{module-list}`, on the overview page: a row for each of these pages.
- The label of a statement in a docstring, as in (thm-comparison-holm), is a link to the statement. A label
  that the book does not have fails the build.
- The types in a list of attributes lead to the classes that they name, as those of parameters do. (The
  lists are made by `napoleon_custom_sections`: as `:ivar coef_:` the name would be read as a reference.)
- The signature of a dataclass shows no private fields, and defaults instead of what makes them. Where a
  private field has no default, no reader makes such an object: then the signature is left out.
- What stands before a colon in the docstring of a property or a constant begins a sentence, and is no type.
- A package of private files is read as if it were one file. autodoc takes the order of methods, and the text
  below a constant, from the source of the module that they are shown in, which only imports them.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.ext.napoleon.docstring import NumpyDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

from tools import ledger
from tools.sphinx.ledger_pages import kept_text
from tools.sphinx.pages import END_OF_SENTENCE

logger = logging.getLogger(__name__)

PAGES = "appendix/api/"  # before a module's name: the document that shows it
LABELS = "labels"  # of the kept text with all labels of the book

(TYPED,) = (field for field in PyObject.doc_field_types if field.name == "parameter")


def link_types(app: Sphinx, domain: str, objtype: str, content: addnodes.desc_content) -> None:
    """Replace the emphasised type of each attribute by references,."""
    fields = [field for child in content if isinstance(child, nodes.field_list) for field in child]
    for field in fields:
        if field[0].astext() != "Attributes":
            continue
        for entry in field.findall(nodes.paragraph):
            match entry.children:
                case [nodes.strong(), nodes.Text(" ("), nodes.emphasis() as named, *_]:
                    linked = TYPED.make_xrefs(
                        "class", "py", named.astext(), addnodes.literal_emphasis, env=app.env
                    )
                    named.replace_self(linked)


def class_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """The signature of a dataclass as one would write it."""
    if not isinstance(obj, type) or not dataclasses.is_dataclass(obj):
        return None
    made = {f.name: f.default_factory for f in dataclasses.fields(obj) if callable(f.default_factory)}
    shown = []
    for parameter in inspect.signature(obj).parameters.values():
        if parameter.name in made:
            parameter = parameter.replace(default=made[parameter.name]())
        if not parameter.name.startswith("_"):
            shown.append(parameter)
        elif parameter.default is parameter.empty:
            return None, None
    return stringify_signature(inspect.Signature(shown), show_annotation=False), None


def without_type(self: NumpyDocstring) -> tuple[str, list[str]]:
    """In the place of what reads the docstring of a property or a constant, as type and words."""
    return "", self.__class__(self._consume_to_end(), self._config).lines()


def files_of(module: str) -> list[Path]:
    """The files of a package, its `__init__.py` first; those of a module that is one file: none."""
    spec = find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or []
    return [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]


@functools.cache
def read_as_one(package: str) -> ModuleAnalyzer:
    """The source of a package, as if it were one file."""
    files = files_of(package)
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    analyzer = ModuleAnalyzer(text, package, str(files[0]))
    analyzer.analyze()
    # names that stand in several files have left gaps, but autodoc counts on numbers without gaps
    in_order = sorted(analyzer.tagorder, key=analyzer.tagorder.__getitem__)
    analyzer.tagorder = {name: number for number, name in enumerate(in_order)}
    return analyzer


def read_packages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give autodoc each package of mcutils as one source, before it reads a page that shows some."""
    if "automodule::" not in source[0]:
        return
    for module in pkgutil.iter_modules([str(files_of("mcutils")[0].parent)], "mcutils."):
        if module.ispkg:
            ModuleAnalyzer.cache["module", module.name] = read_as_one(module.name)


def depend_on_files(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A page with a package is read again when one of its files has changed."""
    if what == "module":
        for file in files_of(name):
            app.env.note_dependency(str(file))


# -- the labels of statements in docstrings ----------------------------------------------

LABEL = re.compile(rf"(?<![\w-])(?:{'|'.join(ledger.PREFIX.values())}|eq)-[a-z]+(?:-[a-z0-9]+)+(?![\w-])")

# what is no running text: code, formulas, links
LEFT_ALONE = (
    nodes.literal,
    nodes.FixedTextElement,
    nodes.math,
    nodes.reference,
    addnodes.pending_xref,
    addnodes.desc_signature,
)


def ancestors(node: nodes.Node) -> Iterator[nodes.Element]:
    while (node := node.parent) is not None:
        yield node


def linked(text: str, roles: dict[str, str], docname: str) -> Iterator[nodes.Node]:
    """The text with a link in the place of each label; `roles` has the role that makes it."""
    end = 0
    for found in LABEL.finditer(text):
        label, start, stop = found[0], *found.span()
        domain, _, kind = {"eq": "math:eq"}.get(roles[label], roles[label]).partition(":")
        if kind == "eq" and text[start - 1 : stop + 1] == f"({label})":
            start, stop = start - 1, stop + 1  # its number has brackets of its own
        yield nodes.Text(text[end:start])
        link = {"refdomain": domain, "reftype": kind, "reftarget": label, "refdoc": docname}
        yield addnodes.pending_xref("", nodes.inline("", label), **link, refexplicit=False, refwarn=True)
        end = stop
    yield nodes.Text(text[end:])


def link_labels(doctree: nodes.document, roles: dict[str, str], docname: str) -> Iterator[tuple[str, str]]:
    """Make each label in the text of a page a link; yield labels that there are not, and what names them."""
    for text in list(doctree.findall(nodes.Text)):
        labels = LABEL.findall(text)
        above = list(ancestors(text)) if labels else []
        if not labels or any(isinstance(node, LEFT_ALONE) for node in above):
            continue
        if missing := [label for label in labels if label not in roles]:
            names = [node[0]["ids"][0] for node in above if isinstance(node, addnodes.desc)]
            yield from ((label, names[0] if names else docname) for label in missing)
        else:
            text.parent.replace(text, list(linked(text, roles, docname)))


Cells = Sequence[Sequence[nodes.Node]]  # of a row of a table

# -- a page for each module, and the overview --------------------------------------------


class ModuleSummary(nodes.General, nodes.Element):
    """Where the summary will stand, when all of the page has been read."""


class ModuleList(nodes.General, nodes.Element):
    """Where the list of the modules will stand, when all pages have been read."""


class ModuleSummaryDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(kept_text(self.env.app, LABELS)))
        return [ModuleSummary()]


class ModuleListDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        for file in files_of("mcutils"):  # the first sentences
            self.env.note_dependency(str(file))
        toc = yaml.safe_load(Path(self.env.srcdir, "_toc.yml").read_text(encoding="utf-8"))
        return [ModuleList(pages=[name for name in ledger.documents(toc) if name.startswith(PAGES)])]


def first_sentence(paragraph: nodes.paragraph | None) -> list[nodes.Node]:
    """The first sentence of a paragraph, with its formulas and links."""
    sentence: list[nodes.Node] = []
    for child in paragraph.children if paragraph is not None else ():
        end = END_OF_SENTENCE.search(child.astext()) if isinstance(child, nodes.Text) else None
        if end:
            return [*sentence, nodes.Text(child.astext()[: end.end()])]
        sentence.append(child.deepcopy())
    return sentence


def paragraph_of(node: nodes.Element) -> nodes.paragraph | None:
    """The first paragraph that stands in a node itself."""
    return next((child for child in node.children if isinstance(child, nodes.paragraph)), None)


def definitions(doctree: nodes.document) -> Iterator[tuple[str, str, list[nodes.Node]]]:
    """What a page defines, in its order: name, anchor, the first sentence of the docstring."""
    for node in doctree.findall(addnodes.desc):
        if isinstance(node.parent, nodes.section):
            content = next(iter(node.findall(addnodes.desc_content)))
            for signature in (child for child in node if isinstance(child, addnodes.desc_signature)):
                yield signature["fullname"], signature["ids"][0], first_sentence(paragraph_of(content))


def table(head: Sequence[str], widths: Sequence[int], rows: Iterable[Cells], look: str) -> nodes.table:
    """A table as `list-table` makes it."""

    def row(cells: Cells) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells))

    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
    group += [nodes.thead("", row([[nodes.Text(name)] for name in head])), nodes.tbody("", *map(row, rows))]
    return nodes.table("", group, classes=["colwidths-given", "ledger-table", *look.split()])


def link_to_document(name: str, docname: str, text: str = "") -> addnodes.pending_xref:
    """A link to a page; without a text of its own it has the page's title."""
    link = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{name}", "refdoc": docname}
    shown = nodes.inline("", text)
    return addnodes.pending_xref("", shown, **link, refexplicit=bool(text), refwarn=True)


def module_page(app: Sphinx, doctree: nodes.document) -> None:
    """Link the labels of a module's page, and put its summary in."""
    docname = app.env.docname
    for place in list(doctree.findall(ModuleSummary)):
        roles = json.loads(kept_text(app, LABELS).read_text(encoding="utf-8"))
        for label, name in link_labels(doctree, roles, docname):
            logger.warning("%s names %s, which is no label of the book", name, label, location=docname)
        summary: list[nodes.Node] = []
        chapter = f"chapters/{docname.removeprefix(PAGES)}"
        if chapter in app.env.found_docs:
            derived = nodes.paragraph("", "Derived in ", link_to_document(chapter, docname), nodes.Text("."))
            summary.append(nodes.container("", derived, classes=["derived-in"]))
        rows = [
            ([nodes.reference("", "", nodes.literal("", name), refid=anchor, internal=True)], sentence)
            for name, anchor, sentence in definitions(doctree)
        ]
        summary.append(table(("Name", "What it is"), (36, 64), rows, "names"))
        place.parent.replace(place, summary)


class ListModules(SphinxPostTransform):
    """A row for each page of a module: its first sentence, and what it defines."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(ModuleList)):
            rows = [self.row(name) for name in place["pages"]]
            place.parent.replace(
                place, table(("Module", "What it has", "Names"), (24, 34, 42), rows, "cards names")
            )

    def row(self, page: str) -> tuple[list[nodes.Node], ...]:
        doctree = self.env.get_doctree(page)
        address = self.app.builder.get_relative_uri(self.env.docname, page)
        names: list[nodes.Node] = []
        for name, anchor, _ in definitions(doctree):
            shown = nodes.literal("", name)
            if names:
                names.append(nodes.Text(", "))
            names.append(nodes.reference("", "", shown, refuri=f"{address}#{anchor}", internal=True))
        module = f"mcutils.{page.removeprefix(PAGES)}"
        for link in doctree.findall(addnodes.pending_xref):
            link["refdoc"] = self.env.docname  # where it will stand
        sections = doctree.findall(nodes.section)
        return (
            [link_to_document(page, self.env.docname, module)],
            first_sentence(paragraph_of(next(sections))),
            names,
        )


def setup(app: Sphinx) -> dict[str, bool]:
    NumpyDocstring._consume_inline_attribute = without_type  # type: ignore[assignment, method-assign]
    app.add_directive("module-summary", ModuleSummaryDirective)
    app.add_directive("module-list", ModuleListDirective)
    app.add_post_transform(ListModules)
    app.connect("doctree-read", module_page)
    app.connect("source-read", read_packages)
    app.connect("autodoc-process-docstring", depend_on_files)
    app.connect("object-description-transform", link_types)
    app.connect("autodoc-process-signature", class_signature)
    return {"parallel_read_safe": True}
