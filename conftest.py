"""Chapters under pytest: strict nbval, the rules that it lacks, and the mutants of the witnesses.

`pytest --nbval chapters` runs each chapter in one kernel. Every printed line must be the
committed one; `tools.notebooks.findings` must be empty; every witness must be able to fail: with
each of its mutants put into its source, it must raise AssertionError; and the kernel must have
opened no file that the key of the chapter's outputs does not cover (tools.stored).
The outputs of chapters whose cells all passed are kept for the site.

With `--quick`, which `make test` adds unless CI is set, a chapter whose outputs are stored for the
present code is not executed again: the stored outputs must be the committed ones. Mutants then run
only in chapters that differ from the last commit. The summary lists what was left out.
"""

from __future__ import annotations

import ast
import json
from contextlib import nullcontext
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from tools import breaks, forked, notebooks, stored
from tools.stored import ROOT

SECONDS_A_MUTANT = 120  # a mutant may turn a loop into an endless one

# Run in the kernel before the first cell: remember every file that is opened. The names leave nothing behind.
WATCH = """
def _watch():
    import sys

    opened = sys._opened_by_the_chapter = set()

    def remember(event, arguments):
        if event == "open" and isinstance(arguments[0], str):
            opened.add(arguments[0])

    sys.addaudithook(remember)


_watch()
del _watch
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nbval")
    group.addoption("--no-mutants", action="store_true", help="Do not run the mutants of the witnesses.")
    group.addoption(
        "--quick",
        action="store_true",
        help="Compare stored outputs instead of executing again what has not changed; "
        "mutants only of chapters that differ from the last commit.",
    )
    group.addoption(
        "--forked",
        action="store_true",
        help="Fork the kernels from one process that has the libraries loaded: quicker, "
        "but a chapter that forgets to import one of them may pass.",
    )


def pytest_configure(config: pytest.Config) -> None:
    # the kernel is this Python, whatever kernels this computer's user has installed
    config.option.nbval_current_env = not config.option.nbval_kernel_name


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Any:
    with forked.prepared() if session.config.option.forked else nullcontext():
        return (yield)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not config.getoption("--quick"):
        return
    reports = (r for name in ("passed", "failed") for r in terminalreporter.stats.get(name, ()))
    properties = [p for report in reports if report.when == "call" for p in report.user_properties]
    compared = sum(value for name, value in properties if name == "compared")
    mutants = sum(value for name, value in properties if name == "mutants left out")
    if compared or mutants:
        terminalreporter.write_line(
            f"Left out, because of --quick: {compared} chapters were not executed again, only their stored "
            f"outputs compared; {mutants} mutants were not tried. `CI=true make test` does it all."
        )


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
        # figures are not committed, nor the HTML of tables: nbval leaves out png and jpeg by itself
        self.skip_compare += ("image/svg+xml", "text/html")
        self.fresh: dict[int, tuple[list[Any], float]] = {}
        self.broken: dict[str, list[str]] | None = {}  # None: not known yet, or not as it must be
        self.tried: dict[str, tuple[str, str]] = {}  # by the source of a mutant, what it raised

    def collect(self) -> Any:
        cells = list(super().collect())
        self.n_cells = len(cells)
        quick = self.config.option.quick and self.path.resolve() not in stored.changed()
        witnesses = [(i, c) for i, c in notebooks.code_cells(self.nb) if "witness" in notebooks.tags(c)]
        mutants = sum(len(cell.metadata["mutants"]) for _, cell in witnesses) if quick else 0
        self.entry = stored.load(self.path, self.nb) if quick else None
        yield Form.from_parent(self, name="Form", left_out=mutants)
        if self.entry:
            yield StoredOutputs.from_parent(self, name="Stored outputs", cells=cells)
            return
        yield from cells
        if self.path.is_relative_to(ROOT):
            yield Sight.from_parent(self, name="Sight")
        if any(breaks.spoken(self.nb)):
            self.broken = None
            if not self.config.option.no_mutants:
                yield Broken.from_parent(self, name="Broken")
        if not (quick or self.config.option.no_mutants):
            for index, cell in witnesses:
                # names must differ: a statement can have two witnesses
                name = f"Mutants of cell {index + 1}"
                yield Mutants.from_parent(self, name=name, index=index, cell=cell)

    def setup(self) -> None:
        if self.entry:
            self.setup_sanitize_files()  # the comparison wants them
            return
        self.key = stored.key(self.nb)  # with the helpers as the kernel is about to import them
        super().setup()
        self.error_in(WATCH)

    def all_passed(self) -> bool:
        return len(self.fresh) == self.n_cells

    def teardown(self) -> None:
        super().teardown()
        incomplete = self.entry or not self.all_passed() or not self.path.is_relative_to(ROOT)
        if incomplete or self.broken is None:
            return
        if stored.key(self.nb) == self.key:
            outputs, seconds = zip(*(self.fresh[n] for n in range(self.n_cells)), strict=True)
            stored.save(self.path, list(outputs), sum(seconds), self.key, self.broken)

    def run(self, source: str, **expressions: str) -> dict[str, Any]:
        """Run `source` in the chapter's kernel; what the kernel replies."""
        reply = self.kernel.kc.execute_interactive(
            source,
            store_history=False,
            allow_stdin=False,
            output_hook=lambda message: None,
            timeout=SECONDS_A_MUTANT,
            user_expressions=expressions,
        )
        content: dict[str, Any] = reply["content"]
        return content

    def raised_by(self, source: str) -> tuple[str, str]:
        """Run `source` in the chapter's kernel: the name of what it raised ("" if nothing), its message."""
        try:
            content = self.run(source)
        except (Empty, TimeoutError):
            self.kernel.interrupt()
            return "nothing", f"within {SECONDS_A_MUTANT} seconds"
        return ("", "") if content["status"] == "ok" else (content["ename"], content["evalue"])

    def raised_by_mutant(self, source: str) -> tuple[str, str]:
        """As `raised_by`; a mutant with words, which two items ask about, is run once."""
        if source not in self.tried:
            self.tried[source] = self.raised_by(source)
        return self.tried[source]

    def error_in(self, source: str) -> str:
        """As `raised_by`, in one text."""
        return ": ".join(filter(None, self.raised_by(source)))

    def opened(self) -> set[Path]:
        """The files of this repository that the kernel has opened since it started."""
        # as a text: of a long list the kernel would show the beginning
        reply = self.run(
            "", opened="__import__('json').dumps(sorted(__import__('sys')._opened_by_the_chapter))"
        )
        names = json.loads(ast.literal_eval(reply["user_expressions"]["opened"]["data"]["text/plain"]))
        return {source_of(Path(self.path.parent, name).resolve()) for name in names}


def source_of(path: Path) -> Path:
    """The module whose bytecode this is, or the path itself."""
    if path.parent.name == "__pycache__" and path.suffix == ".pyc":
        return path.parent.parent / f"{path.name.split('.')[0]}.py"
    return path


class RuleBroken(Exception):
    """A chapter breaks a rule, which the message describes in full."""


class Rule(pytest.Item):
    """An item that fails with a message instead of a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RuleBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{notebooks.shown(self.path)}::{self.name}"


class Form(Rule):
    """The notebook is in the committed form, which strict nbval does not check."""

    def __init__(self, *, left_out: int, **kwargs: Any):
        super().__init__(**kwargs)
        if left_out:
            self.user_properties.append(("mutants left out", left_out))

    def runtest(self) -> None:
        if found := notebooks.findings(self.path):
            raise RuleBroken("\n".join(found))


class StoredOutputs(Rule):
    """The outputs that are stored for the present code are the committed ones; nothing is executed."""

    def __init__(self, *, cells: list[IPyNbCell], **kwargs: Any):
        super().__init__(**kwargs)
        self.cells = cells
        self.user_properties.append(("compared", 1))

    def runtest(self) -> None:
        chapter = self.parent
        found = []
        for cell, outputs in zip(self.cells, chapter.entry["outputs"], strict=True):
            fresh = [nbformat.from_dict(output) for output in outputs]
            if not cell.compare_outputs(fresh, cell.cell.outputs, skip_compare=chapter.skip_compare):
                where = f"{notebooks.shown(self.path)}, cell {cell.cell_num + 1} of code"
                found += [f"{where}: the present code prints something else", *cell.comparison_traceback]
        if found:
            raise RuleBroken("\n".join(found))


class Sight(Rule):
    """The chapter has opened only files of this repository that the key of its outputs covers."""

    def runtest(self) -> None:
        chapter = self.parent
        if not chapter.all_passed():
            pytest.skip("not every cell of this chapter ran and passed")
        covered = {*stored.seen(chapter.nb), *stored.always_seen()}
        inside = (path for path in chapter.opened() if path.is_relative_to(ROOT))
        apart = (ROOT / ".venv", ROOT / "_build")
        missed = sorted(
            path.relative_to(ROOT).as_posix()
            for path in inside
            if path not in covered
            and "__pycache__" not in path.parts
            and not any(path.is_relative_to(folder) for folder in apart)
        )
        if missed:
            raise RuleBroken(
                f"{notebooks.shown(self.path)} reads {', '.join(missed)}, and tools/stored.py does not see "
                "that it does: a change there would leave old numbers on the page. Import the module by "
                "its name; name a data file by a string."
            )


class Broken(Rule):
    """Each mutant that has words fails, in a sentence that a reader can be shown."""

    def runtest(self) -> None:
        chapter = self.parent
        if not chapter.all_passed():
            pytest.skip("not every cell of this chapter ran and passed")
        sentences, problems = [], []
        for cell, mutant in breaks.spoken(chapter.nb):
            try:
                sentences.append(
                    breaks.sentence(*chapter.raised_by_mutant(mutant.source(cell)), mutant.label)
                )
            except breaks.Silent as silent:
                problems.append(
                    f"{notebooks.shown(self.path)}, witness of {mutant.label}: with {mutant.old!r} replaced "
                    f"by {mutant.new!r} ({mutant.words}) it {silent}"
                )
        if problems:
            raise RuleBroken("\n".join(problems))
        chapter.broken = breaks.by_cell(chapter.nb, sentences)


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
        for mutant in breaks.mutants(self.cell):
            raised, said = chapter.raised_by_mutant(mutant.source(self.cell))
            if raised != "AssertionError":
                problems.append(
                    f"{self.place}: with {mutant.old!r} replaced by {mutant.new!r} it "
                    + (f"raised {raised}: {said}" if raised else "still passes")
                    + ", must raise AssertionError"
                )
        # the next witness finds the state that the chapter left
        if error := chapter.error_in(self.cell.source):
            problems.append(f"{self.place}: its mutants broke what it reads; run again it raised {error}")
        if problems:
            raise RuleBroken("\n".join(problems))
