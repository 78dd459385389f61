"""Sphinx extension: what the docstrings of mcutils do not become by napoleon alone.

- The types in a list of attributes lead to the classes that they name, as those of parameters do. (The
  lists are made by `napoleon_custom_sections`: as `:ivar coef_:` the name would be read as a reference.)
- The signature of a dataclass shows no private fields, and defaults instead of what makes them. Where a
  private field has no default, no reader makes such an object: then the signature is left out.
- A package of private files is read as if it were one file. autodoc takes the order of methods, and the text
  below a constant, from the source of the module that they are shown in, which only imports them.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.inspect import stringify_signature

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


def files_of(module: str) -> list[Path]:
    """The files of a package, its `__init__.py` first; those of a module that is one file: none."""
    spec = find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or []
    return [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]


def read_packages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give autodoc each package of mcutils as one source, before it reads a page that shows some."""
    if "automodule::" not in source[0]:
        return
    for module in pkgutil.iter_modules([str(files_of("mcutils")[0].parent)], "mcutils."):
        if module.ispkg:
            files = files_of(module.name)
            text = "\n".join(file.read_text(encoding="utf-8") for file in files)
            analyzer = ModuleAnalyzer(text, module.name, str(files[0]))
            analyzer.analyze()
            # names that stand in several files have left gaps, but autodoc counts on numbers without gaps
            in_order = sorted(analyzer.tagorder, key=analyzer.tagorder.__getitem__)
            analyzer.tagorder = {name: number for number, name in enumerate(in_order)}
            ModuleAnalyzer.cache["module", module.name] = analyzer


def depend_on_files(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A page with a package is read again when one of its files has changed."""
    if what == "module":
        for file in files_of(name):
            app.env.note_dependency(str(file))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read_packages)
    app.connect("autodoc-process-docstring", depend_on_files)
    app.connect("object-description-transform", link_types)
    app.connect("autodoc-process-signature", class_signature)
    return {"parallel_read_safe": True}
