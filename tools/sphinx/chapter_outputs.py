"""Sphinx extension: pages show outputs of the present code.

Before Sphinx reads the chapters, those without stored outputs of the present helpers, data
and pins (tools.stored) are executed, two at a time; the outputs then take the place of the
committed ones, which have no figures. myst-nb itself executes nothing: its cache does not
see a change in mcutils.

Also here, because they come from the same place: the directives `execution-times` and
`versions` of the status page.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import nbformat
import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from mcutils import __version__
from tools import ledger, notebooks, stored
from tools.sphinx import svg

logger = logging.getLogger(__name__)

SHOWN_VERSIONS = ["numpy", "scipy", "matplotlib", "scikit-learn", "cvxopt", "numba", "jupyter-book", "sphinx"]


def chapters(env: BuildEnvironment, docnames: list[str]) -> list[Path]:
    """The notebooks among the pages."""
    paths = (Path(env.doc2path(name)) for name in sorted(docnames))
    return [path for path in paths if path.suffix == ".ipynb"]


def execute_what_is_stale(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    paths = chapters(env, docnames)
    stale = [path for path in paths if not stored.load(path, notebooks.read(path))]
    for path in stale:
        logger.info("to be executed: %s", notebooks.shown(path))
    for path, result in notebooks.two_at_a_time(
        lambda p: notebooks.execute_and_save(p, notebooks.read(p)), stale
    ):
        if isinstance(result, notebooks.CellError):
            # the cell's first line in myst-nb's way of counting (see tools/site.py)
            location = f"{path}:{10_000 * (result.index + 1) + 2}"
            logger.warning("a cell failed, the page would be out of date\n%s", result, location=location)


def use_stored_outputs(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return
    nb = nbformat.reads(source[0], as_version=4)
    if entry := stored.load(path, nb):  # else it failed, and Sphinx has the error
        stored.put(nb, entry["outputs"])
        for cell in nb.cells:
            for output in cell.get("outputs", ()):
                if drawn := output.get("data", {}).get("image/svg+xml"):
                    output["data"]["image/svg+xml"] = svg.smaller("".join(drawn))
        source[0] = nbformat.writes(nb)


class Table(SphinxDirective):
    """A table written in MyST by `rows`."""

    heads: tuple[str, ...]

    def rows(self) -> Sequence[tuple[str, ...]]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        lines = [self.heads, ("---", *["---:"] * (len(self.heads) - 1)), *self.rows()]
        container = nodes.container()
        table = StringList([f"| {' | '.join(line)} |" for line in lines], source=__name__)
        self.state.nested_parse(table, self.content_offset, container)
        for made in container.findall(nodes.table):
            made["classes"].append("numbers")
        return container.children


class ExecutionTimes(Table):
    """The chapters in the order of the book: what each claims, how it is checked, and how long that takes."""

    heads = ("Chapter", "Statements", "Checks", "Mutants", "Seconds")

    def rows(self) -> Sequence[tuple[str, ...]]:
        rows = []
        totals = [0.0] * 4
        for document in ledger.documents(
            yaml.safe_load(Path(self.env.srcdir, "_toc.yml").read_text("utf-8"))
        ):
            path = Path(self.env.srcdir, f"{document}.ipynb")
            if path.parent.name != "chapters" or not path.exists():
                continue
            self.env.note_dependency(str(path))
            self.env.note_dependency(str(stored.entry(path)))
            if entry := stored.load(path, notebooks.read(path)):
                numbers = [*ledger.counts(path), entry["seconds"]]
                totals = [a + b for a, b in zip(totals, numbers, strict=True)]
                rows.append((f"{{doc}}`/{document}`", *cells(numbers)))
        return [*rows, ("All", *cells(totals))]


def cells(numbers: Sequence[float]) -> list[str]:
    """Counts, and at the end seconds."""
    return [*(f"{count:,.0f}" for count in numbers[:-1]), f"{numbers[-1]:.1f}"]


class Versions(Table):
    heads = ("Program", "Version")

    def rows(self) -> Sequence[tuple[str, ...]]:
        own = [("mcutils", __version__), ("Python", python_version())]
        return own + [(name, version(name)) for name in SHOWN_VERSIONS]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-before-read-docs", execute_what_is_stale)
    app.connect("source-read", use_stored_outputs)
    app.add_directive("execution-times", ExecutionTimes)
    app.add_directive("versions", Versions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
