"""Sphinx extension: the numbers of the user guide, and what each estimator costs.

- ``{measured}`race tree-full-synthetic` `` in a text is a number of `results/` (tools.guide). A name that
  there is not fails the build.
- `{many-table}`: methods for a thousand classes. `{cost-growth}`, `{cost-table}` and `{cost-times}`: how the
  costs of all estimators grow, and what was measured.
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
        made = growth() if self.name == "cost-growth" else many_classes()
        lines = StringList(list(made), source=self.env.doc2path(self.env.docname))
        self.state.nested_parse(lines, 0, holder)
        return holder.children


def many_classes() -> Iterator[str]:
    head = ("Method", "Error, %", "Training, s", "1000 answers, ms")
    yield from table(head, (46, 18, 18, 18), guide.many_rows("1000"))


def growth() -> Iterator[str]:
    """A row for each estimator: time, memory, and what says so."""
    rows = []
    for name, cost in guide.GROWTH.items():
        link = f"{{py:class}}`~mcutils.{mcutils.HOMES[name]}.{name}`"
        labels = ", ".join(f"{{prf:ref}}`{label}`" for label in cost.labels)
        rows.append((link, f"{cost.time}." + (f" ({labels})" if labels else ""), f"{cost.memory}."))
    yield from table(
        ("Estimator", "Time of a fit", "Memory, beside X"), (24, 44, 32), rows, "ledger-table cards"
    )


class CostTable(SphinxDirective):
    """A table of what was measured, as a chapter shows it."""

    def run(self) -> list[nodes.Node]:
        depend_on_results(self.env)
        made = guide.cost_table() if self.name == "cost-table" else guide.times_table()
        html = f'<div class="cell_output"><div class="output text_html">{made._repr_html_()}</div></div>'
        return [nodes.raw("", html, format="html")]


def as_rst(text: str) -> str:
    """Code and formulas as docstrings have them."""
    return re.sub(r"\$(.+?)\$", r":math:`\1`", re.sub(r"`(.+?)`", r"``\1``", text))


def add_costs(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    short = name.rpartition(".")[2]
    if what == "class" and short in guide.GROWTH:
        depend_on_results(app.env)
        more = ":ref:`What all estimators cost <sec-choose-costs>`."
        lines += ["", ".. rubric:: What it costs", "", f"{as_rst(guide.cost_in_words(short))} {more}", ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("measured", Measured())
    for name in ("many-table", "cost-growth"):
        app.add_directive(name, GuideTable)
    for name in ("cost-table", "cost-times"):
        app.add_directive(name, CostTable)
    app.connect("autodoc-process-docstring", add_costs, priority=600)  # napoleon has made its sections
    return {"parallel_read_safe": True, "parallel_write_safe": True}
