"""Chapters under pytest: strict nbval, the rules that it lacks, and the mutants of the witnesses.

`pytest --nbval chapters` runs each chapter in one kernel. Every printed line must be the
committed one; `tools.notebooks.findings` must be empty; and every witness must be able to
fail: with each of its mutants put into its source, it must raise AssertionError.
The outputs of chapters whose cells all passed are kept for the site (tools.stored).
"""

from __future__ import annotations

from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from tools import notebooks, stored

SECONDS_A_MUTANT = 120  # a mutant may turn a loop into an endless one


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("nbval").addoption(
        "--no-mutants", action="store_true", help="Do not run the mutants of the witnesses."
    )


def pytest_configure(config: pytest.Config) -> None:
    # the kernel is this Python, whatever kernels this machine's user has installed
    config.option.nbval_current_env = not config.option.nbval_kernel_name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the cells of a notebook on one worker, as `--dist loadscope` does: they share a kernel."""
    if not config.option.nbval:
        return None
    from xdist.scheduler import LoadScopeScheduling

    return LoadScopeScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    collectors = yield
    return [
        Chapter.from_parent(parent, path=file_path) if isinstance(c, IPyNbFile) else c for c in collectors
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if isinstance(item, IPyNbCell) and report.when == "call" and report.passed:
        item.parent.fresh[item.cell_num] = (item.test_outputs, call.duration)
    return report


class Chapter(IPyNbFile):
    """A notebook: its form, its cells, and the mutants of its witnesses, in this order."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        # figures are not committed: nbval leaves out png and jpeg by itself
        self.skip_compare += ("image/svg+xml",)
        self.fresh: dict[int, tuple[list[Any], float]] = {}

    def collect(self) -> Any:
        yield Form.from_parent(self, name="Form")
        cells = list(super().collect())
        self.n_cells = len(cells)
        yield from cells
        if not self.config.option.no_mutants:
            for index, cell in notebooks.code_cells(self.nb):
                if "witness" in notebooks.tags(cell):
                    # names must differ: a statement can have two witnesses
                    name = f"Mutants of cell {index + 1}"
                    yield Mutants.from_parent(self, name=name, index=index, cell=cell)

    def setup(self) -> None:
        self.key = stored.key()  # of the helpers as the kernel is about to import them
        super().setup()

    def all_passed(self) -> bool:
        return len(self.fresh) == self.n_cells

    def teardown(self) -> None:
        super().teardown()
        if self.all_passed() and stored.key() == self.key and self.path.is_relative_to(notebooks.ROOT):
            outputs, seconds = zip(*(self.fresh[n] for n in range(self.n_cells)), strict=True)
            stored.save(self.path, self.nb, list(outputs), sum(seconds), self.key)

    def error_in(self, source: str) -> str:
        """Run `source` in the chapter's kernel; "" when it passes, else the name of what it raised."""
        client = self.kernel.kc
        try:
            reply = client.execute_interactive(
                source,
                store_history=False,
                allow_stdin=False,
                output_hook=lambda message: None,
                timeout=SECONDS_A_MUTANT,
            )
        except (Empty, TimeoutError):
            self.kernel.interrupt()
            return f"nothing within {SECONDS_A_MUTANT} seconds"
        content = reply["content"]
        return "" if content["status"] == "ok" else f"{content['ename']}: {content['evalue']}"


class RuleBroken(Exception):
    """A chapter breaks a rule; the message says all there is to say."""


class Rule(pytest.Item):
    """An item that fails with a message instead of a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RuleBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{notebooks.shown(self.path)}::{self.name}"


class Form(Rule):
    """The notebook is in the committed form, which strict nbval does not ask for."""

    def runtest(self) -> None:
        if found := notebooks.findings(self.path):
            raise RuleBroken("\n".join(found))


class Mutants(Rule):
    """A witness passes when run again by itself, and fails when its claim is made false."""

    def __init__(self, *, index: int, cell: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.cell = cell
        labels = ", ".join(cell.metadata.get("witnesses", []))
        self.place = f"{notebooks.shown(self.path)}, {notebooks.place(index, cell)}, witness of {labels}"

    def runtest(self) -> None:
        chapter = self.parent
        if not chapter.all_passed():
            pytest.skip("not every cell of this chapter ran and passed")
        if error := chapter.error_in(self.cell.source):
            raise RuleBroken(
                f"{self.place}: run again by itself after the last cell, it raised {error}\n"
                "A witness must not use up or overwrite what it reads."
            )
        problems = []
        for old, new in self.cell.metadata["mutants"]:
            error = chapter.error_in(self.cell.source.replace(old, new))
            if not error.startswith("AssertionError:"):
                problems.append(
                    f"{self.place}: with {old!r} replaced by {new!r} it "
                    + (f"raised {error}" if error else "still passes")
                    + ", must raise AssertionError"
                )
        # the next witness finds the state that the chapter left
        if error := chapter.error_in(self.cell.source):
            problems.append(f"{self.place}: its mutants broke what it reads; run again it raised {error}")
        if problems:
            raise RuleBroken("\n".join(problems))
