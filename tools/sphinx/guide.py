"""Sphinx extension: the numbers of the user guide, and what each estimator costs.

- ``{measured}`race tree-full-synthetic` `` in a text is a number of `results/` (tools.guide). A name that
  there is not fails the build.
- `{many-table}`: methods for a thousand classes. `{cost-growth}` and `{cost-table}`: how the costs of all
  estimators grow, and what was measured. `{time-curves}` and `{memory-curves}`: the same as pictures.
- `{cluster-table}`: what a second worker saves.
- The page of an estimator says the same of it, below its docstring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole

import mcutils
from tools import guide
from tools.sphinx import curves
from tools.sphinx.ledger_pages import table


def depend_on_results(env: BuildEnvironment) -> None:
    """A page is read again when a number can have changed."""
    for name in guide.FILES:
        env.note_dependency(str(guide.RESULTS / f"{name}.json"))
    env.note_dependency(str(Path(guide.__file__)))


class Measured(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        depend_on_results(self.env)
        try:
            return [nodes.Text(guide.measured(self.text))], []
        except (KeyError, TypeError, ValueError, AssertionError) as error:
            message = self.inliner.reporter.error(f"{self.text!r} is not measured: {error}", line=self.lineno)
            return [nodes.problematic(self.rawtext, self.rawtext)], [message]


class GuideTable(SphinxDirective):
    """A table whose cells have links."""

    def run(self) -> list[nodes.Node]:
        depend_on_results(self.env)
        holder = nodes.container()
        lines = StringList(list(TABLES[self.name]()), source=self.env.doc2path(self.env.docname))
        self.state.nested_parse(lines, 0, holder)
        return holder.children


class Curves(SphinxDirective):
    """Pictures of what was measured; which, its name says."""

    def run(self) -> list[nodes.Node]:
        depend_on_results(self.env)
        self.env.note_dependency(str(Path(curves.__file__)))
        return [nodes.raw("", "\n".join(curves.table(CURVES[self.name])), format="html")]


def many_classes() -> Iterator[str]:
    yield from table(("Method", "Error", "Fit", "Ask"), (46, 18, 18, 18), guide.many_rows("1000"))


def growth() -> Iterator[str]:
    """A row for each estimator: time, memory, and what says so."""
    rows = []
    for name, cost in guide.GROWTH.items():
        link = f"{{py:class}}`~mcutils.{mcutils.HOMES[name]}.{name}`"
        labels = ", ".join(f"{{prf:ref}}`{label}`" for label in cost.labels)
        time = f"*Time:* {cost.time}." + (f" ({labels})" if labels else "")
        times = f"*Exponents of the measured times:* {guide.times_in_words(name)}."
        rows.append((link, f"{time}\n\n*Memory, beside X:* {cost.memory}.\n\n{times}"))
    yield from table(("Estimator", "What a fit takes"), (26, 74), rows, "ledger-table cards")


def measured() -> Iterator[str]:
    """A row for each estimator that was measured, with its peer."""
    yield from table(("mcutils", "scikit-learn"), (50, 50), guide.cost_rows(), "ledger-table cards")


def clusters() -> Iterator[str]:
    """A row for each task."""
    yield from table(("Task", "Seconds", "Sent"), (30, 48, 22), guide.cluster_rows(), "ledger-table cards")


CURVES = {"time-curves": "fit_seconds", "memory-curves": "peak"}
TABLES = {
    "many-table": many_classes,
    "cost-growth": growth,
    "cost-table": measured,
    "cluster-table": clusters,
}


def as_rst(text: str) -> str:
    """Code and formulas as docstrings have them."""
    return re.sub(r"\$(.+?)\$", r":math:`\1`", re.sub(r"`(.+?)`", r"``\1``", text))


def add_costs(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    short = name.rpartition(".")[2]
    if what == "class" and short in guide.GROWTH:
        depend_on_results(app.env)
        more = ":ref:`What all estimators cost <sec-costs>`."
        lines += ["", ".. rubric:: What it costs", "", f"{as_rst(guide.cost_in_words(short))} {more}", ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("measured", Measured())
    for name in TABLES:
        app.add_directive(name, GuideTable)
    for name in CURVES:
        app.add_directive(name, Curves)
    app.connect("autodoc-process-docstring", add_costs, priority=600)  # napoleon has made its sections
    return {"parallel_read_safe": True, "parallel_write_safe": True}
