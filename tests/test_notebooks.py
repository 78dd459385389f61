"""Chapters: their committed form, how they are rewritten, and witnesses that must be able to fail."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mini_book import FIXTURE, ROOT, copy_to, python
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from tools import notebooks, stored

TOY = FIXTURE / "chapters" / "toy.ipynb"

# reads a module and a file whose names stand nowhere
SLY = """
import importlib

importlib.import_module("mcutils.hid" + "den")
_ = open("../mcutils/tal" + "lies.csv").read()"""

# positions among all its cells
MACROS, SETUP, INTRO, IMPORT, WITNESS, FIGURE, TABLE = 0, 1, 2, 3, 4, 6, 7


@pytest.fixture
def toy() -> NotebookNode:
    """The right chapter in its committed form, as far as that needs no execution."""
    nb = notebooks.read(TOY)
    notebooks.normalise(nb)
    shown = {"text/plain": "<Figure size 640x480 with 1 Axes>"}
    nb.cells[FIGURE].outputs = [new_output("display_data", data=shown)]
    return nb


def findings(nb: NotebookNode, folder: Path) -> list[str]:
    """What `check` reports of a notebook called toy."""
    path = folder / "toy.ipynb"
    path.write_text(notebooks.text(nb), encoding="utf-8")
    return notebooks.findings(path)


# -- check -------------------------------------------------------------------------------


def test_a_right_chapter_has_no_findings(toy: NotebookNode, tmp_path: Path):
    assert findings(toy, tmp_path) == []


def output(**parts: object) -> Callable[[NotebookNode], None]:
    """Give the cell an output."""

    def damage(cell: NotebookNode) -> None:
        cell.outputs = [new_output(**parts)]

    return damage


def metadata(**parts: object) -> Callable[[NotebookNode], None]:
    """Set metadata of the cell; None removes."""

    def damage(cell: NotebookNode) -> None:
        for key, value in parts.items():
            if value is None:
                del cell.metadata[key]
            else:
                cell.metadata[key] = value

    return damage


def figure(**parts: object) -> Callable[[NotebookNode], None]:
    """Set the metadata of the figure."""

    def damage(cell: NotebookNode) -> None:
        caught = cell.metadata.mystnb
        for key, value in parts.items():
            (caught.image if key == "alt" else caught.figure)[key] = value

    return damage


def source(text: str) -> Callable[[NotebookNode], None]:
    """Append to the source of the cell."""

    def damage(cell: NotebookNode) -> None:
        cell.source += text

    return damage


def count(number: int | None) -> Callable[[NotebookNode], None]:
    """Set the execution count of the cell."""

    def damage(cell: NotebookNode) -> None:
        cell.execution_count = number

    return damage


DAMAGE = {
    "never run": (IMPORT, count(None), "execution count is None, should be 2"),
    "run out of order": (IMPORT, count(7), "execution count is 7, should be 2"),
    "html": (
        TABLE,
        output(output_type="execute_result", data={"text/html": "<b>2</b>", "text/plain": "two"}),
        "holds the HTML of a table",
    ),
    "html without a text": (
        TABLE,
        output(output_type="display_data", data={"text/html": "<b>2</b>"}),
        "displays HTML that has no text beside it",
    ),
    "html whose text says nothing": (
        TABLE,
        output(output_type="display_data", data={"text/plain": "<IPython.core.display.HTML object>"}),
        "displays HTML that has no text beside it",
    ),
    "image": (
        FIGURE,
        output(output_type="display_data", data={"image/png": "iVBO", "text/plain": "<Figure size 6x4>"}),
        "holds an image/png output",
    ),
    "svg": (
        FIGURE,
        output(
            output_type="display_data", data={"image/svg+xml": "<svg/>", "text/plain": "<Figure size 6x4>"}
        ),
        "holds an image/svg+xml output",
    ),
    "stderr": (
        IMPORT,
        output(output_type="stream", name="stderr", text="UserWarning: old"),
        "wrote to stderr ('UserWarning: old')",
    ),
    "error": (
        IMPORT,
        output(output_type="error", ename="ValueError", evalue="no", traceback=[]),
        "its output is an error (ValueError)",
    ),
    "magic": (IMPORT, source("\n%pip install numpy"), "not plain Python"),
    "shell": (IMPORT, source("\n!ls"), "not plain Python"),
    "semicolon": (IMPORT, source(";"), "assign to _ instead"),
    "nbval marker": (IMPORT, source("\n# NBVAL_IGNORE_OUTPUT"), "holds NBVAL_IGNORE_OUTPUT"),
    "unknown tag": (IMPORT, metadata(tags=["nbval-skip"]), "unknown tag 'nbval-skip'; allowed are "),
    "unknown metadata": (IMPORT, metadata(witnes=["thm-toy-sum"]), "unknown metadata 'witnes'"),
    "metadata of a wrong type": (IMPORT, metadata(witnesses="thm-toy-sum"), "must be a list of strings"),
    "reason left out": (INTRO, metadata(**{"no-proof": {"thm-toy-sum": ""}}), "must map labels to reasons"),
    "macros": (MACROS, source("x"), "does not hold the macros of web/macros.yml"),
    "setup": (SETUP, source("\n"), "not the setup cell"),
    "a proof that begins with a list": (
        INTRO,
        source("\n\n:::{prf:proof}\n\n1. By the definition.\n2. By part 1.\n:::"),
        "a proof begins with '1. By the definition.'",
    ),
    "no alt": (FIGURE, figure(alt=""), "alternative text (metadata mystnb.image.alt) is ''"),
    "short alt": (FIGURE, figure(alt="Two lines."), "say in at least 40 characters what is to be seen"),
    "alt is the caption": (
        FIGURE,
        figure(alt="Two lines, one of them dashed, cross.", caption="Two lines, one of them dashed, cross."),
        "alternative text",
    ),
    "no caption": (FIGURE, figure(caption=""), "has no caption"),
    "no name": (FIGURE, figure(name=""), "must begin with fig-toy-"),
    "name of another chapter": (FIGURE, figure(name="fig-ecoc-lines"), "must begin with fig-toy-"),
    "figure shown by plot.show": (IMPORT, source("\nplot.show(fig)"), "the figure has no caption"),
    "one mutant": (WITNESS, metadata(mutants=[["== 3", "== 4"]]), "at least two different ones"),
    "one mutant twice": (WITNESS, metadata(mutants=[["== 3", "== 4"]] * 2), "at least two different ones"),
    "mutant of nothing": (
        WITNESS,
        metadata(mutants=[["== 3", "== 4"], ["== 5", "== 4"]]),
        "'== 5' occurs 0 times in the cell, must occur once",
    ),
    "mutant of several places": (
        WITNESS,
        metadata(mutants=[["== 3", "== 4"], ["total", "tot"]]),
        "'total' occurs 3 times in the cell, must occur once",
    ),
    "mutant that changes nothing": (
        WITNESS,
        metadata(mutants=[["== 3", "== 4"], ["sum", "sum"]]),
        "changes nothing",
    ),
    "mutant that is not Python": (
        WITNESS,
        metadata(mutants=[["== 3", "== 4"], ["== 3", "== )"]]),
        "is not Python any more",
    ),
    "mutant that is no pair": (WITNESS, metadata(mutants=[["== 3"]]), "must be a pair [old, new] of strings"),
    "witness of nothing": (WITNESS, metadata(witnesses=[]), "'witnesses' is empty"),
    "witness without mutants": (WITNESS, metadata(mutants=None), "go together"),
    "witness without its tag": (WITNESS, metadata(tags=[]), "go together"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_where_it_is(name: str, toy: NotebookNode, tmp_path: Path):
    index, damage, message = DAMAGE[name]
    damage(toy.cells[index])
    result = findings(toy, tmp_path)
    [finding] = [f for f in result if message in f]
    assert "toy.ipynb" in finding
    if index not in (MACROS, SETUP):
        assert f"cell {index + 1} (" in finding


def test_two_figures_of_one_name(toy: NotebookNode, tmp_path: Path):
    second = copy.deepcopy(toy.cells[FIGURE])
    second.id = "second"
    toy.cells.append(second)
    notebooks.normalise(toy)
    assert any("taken by cell 7 (fig, ax" in f for f in findings(toy, tmp_path))


def test_other_spacing_is_found(toy: NotebookNode, tmp_path: Path):
    path = tmp_path / "toy.ipynb"
    path.write_text(notebooks.text(toy).replace("\n ", "\n  "), encoding="utf-8")
    assert any("run `make notebooks`" in f for f in notebooks.findings(path))


def test_not_a_notebook(tmp_path: Path):
    path = tmp_path / "toy.ipynb"
    path.write_text("{", encoding="utf-8")
    assert "not a notebook" in notebooks.findings(path)[0]


# -- the committed form ------------------------------------------------------------------


def test_normalising_drops_what_does_not_belong(toy: NotebookNode):
    wanted = notebooks.text(toy)
    cell = toy.cells[FIGURE]
    cell.metadata["scrolled"] = True
    cell.execution_count = 99
    toy.metadata["toc"] = {}
    toy.cells.append(new_code_cell("  \n", id="left-over"))
    notebooks.normalise(toy)
    assert notebooks.text(toy) == wanted


def test_of_a_table_the_text_is_committed(toy: NotebookNode):
    shown = new_output("execute_result", data={"text/plain": "a  b\n1  2", "text/html": "<table></table>"})
    toy.cells[TABLE].outputs = [shown]
    notebooks.normalise(toy)
    assert dict(toy.cells[TABLE].outputs[0].data) == {"text/plain": "a  b\n1  2"}


def test_cells_without_ids_get_the_same_ones_each_time(toy: NotebookNode, tmp_path: Path):
    path = tmp_path / "toy.ipynb"
    raw = json.loads(notebooks.text(toy))
    for cell in raw["cells"]:
        del cell["id"]
    raw["cells"][-1]["id"] = raw["cells"][-2]["id"] = "twice"
    path.write_text(json.dumps(raw), encoding="utf-8")
    once, again = ([cell.id for cell in notebooks.read(path).cells] for _ in range(2))
    assert once == again
    assert len(set(once)) == len(once)


# -- write -------------------------------------------------------------------------------


@pytest.mark.ci
def test_rewriting_twice_changes_no_byte(tmp_path: Path):
    book = copy_to(tmp_path, "toy")
    chapter = book / "chapters" / "toy.ipynb"
    first = python(book, "tools.notebooks", "write")
    assert first.returncode == 0, first.stderr
    assert "chapters/toy.ipynb: rewritten" in first.stdout
    written = chapter.read_bytes()
    second = python(book, "tools.notebooks", "write", "toy")
    assert "chapters/toy.ipynb: unchanged" in second.stdout
    assert chapter.read_bytes() == written
    check = python(book, "tools.notebooks", "check")
    assert check.returncode == 0, check.stderr


@pytest.mark.ci
def test_a_chapter_that_raises_is_not_written(tmp_path: Path):
    book = copy_to(tmp_path, "faulty", "toy")
    toy, faulty = (book / "chapters" / f"{name}.ipynb" for name in ("toy", "faulty"))
    noisy = notebooks.read(toy)
    noisy.cells[1].source += '\nimport sys\n\nprint("careful", file=sys.stderr)'
    toy.write_text(notebooks.text(noisy), encoding="utf-8")
    before = toy.read_bytes(), faulty.read_bytes()
    run = python(book, "tools.notebooks", "write")
    assert run.returncode == 1
    assert "numerator / 0" in run.stderr
    assert "chapters/faulty.ipynb, cell 4 (numerator = 1): ZeroDivisionError: division by zero" in run.stderr
    assert "chapters/toy.ipynb, cell 4 (import matplotlib.pyplot as plt): wrote to stderr" in run.stderr
    assert "careful" in run.stderr
    assert (toy.read_bytes(), faulty.read_bytes()) == before


@pytest.mark.ci
def test_an_unknown_name_is_refused_with_the_existing_ones(tmp_path: Path):
    run = python(copy_to(tmp_path, "toy"), "tools.notebooks", "write", "tyo")
    assert run.returncode == 2
    assert "no notebook 'tyo'; there are: toy" in run.stderr


# -- under pytest ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A small book with witnesses that are none, and with a number that has changed; pytest's report."""
    book = copy_to(tmp_path_factory.mktemp("tested"), "toy", "vacuous")
    assert python(book, "tools.notebooks", "write").returncode == 0
    shutil.rmtree(book / "_build" / "outputs")
    changed = notebooks.read(book / "chapters" / "toy.ipynb")
    changed.cells[IMPORT].outputs[0].text = "4243\n"
    (book / "chapters" / "changed.ipynb").write_text(notebooks.text(changed), encoding="utf-8")
    sly = notebooks.read(book / "chapters" / "toy.ipynb")
    sly.cells[IMPORT].source += SLY
    (book / "chapters" / "sly.ipynb").write_text(notebooks.text(sly), encoding="utf-8")
    for name, text in {"hidden.py": "", "tallies.csv": "1,2\n"}.items():
        (book / "mcutils" / name).write_text(text, encoding="utf-8")
    # without --dist loadscope: the conftest sees to it that a chapter stays on one worker
    run = python(book, "pytest", "--nbval", "-n", "2", "-rA", "--color=no", "chapters")
    assert run.returncode == 1, run.stderr
    return book, run.stdout


def outcomes(report: str, chapter: str) -> dict[str, str]:
    """Item to outcome, from the summary that -rA prints; what was skipped stands there by its reason."""
    lines = re.findall(rf"^(PASSED|FAILED) chapters/{chapter}\.ipynb::(.*?)(?: - .*)?$", report, re.MULTILINE)
    return {item: outcome for outcome, item in lines}


@pytest.mark.ci
def test_a_right_chapter_passes_in_parallel(tested: tuple[Path, str]):
    # the second witness reads what the mutants of the first one overwrite
    items = ["Form", *(f"Cell {n}" for n in range(7)), "Sight", "Mutants of cell 5", "Mutants of cell 6"]
    assert outcomes(tested[1], "toy") == dict.fromkeys(items, "PASSED")


@pytest.mark.ci
def test_a_witness_that_cannot_fail_fails(tested: tuple[Path, str]):
    _, report = tested
    assert outcomes(report, "vacuous")["Mutants of cell 4"] == "FAILED"
    where = "chapters/vacuous.ipynb, cell 4 (total = sum([1, 2])), witness of thm-vacuous-itself: "
    survived = "with 'total = sum([1, 2])' replaced by 'total = sum([2, 1])' it still passes, must raise"
    assert where + survived in report


@pytest.mark.ci
def test_a_mutant_that_merely_breaks_the_code_fails(tested: tuple[Path, str]):
    raised = "with '== sum([1, 2])' replaced by '== summ([1, 2])' it raised NameError: name 'summ' is not"
    assert raised in tested[1]


@pytest.mark.ci
def test_a_witness_that_cannot_be_run_again_fails(tested: tuple[Path, str]):
    _, report = tested
    assert outcomes(report, "vacuous")["Mutants of cell 6"] == "FAILED"
    where = "chapters/vacuous.ipynb, cell 6 (assert sum(numbers) == 3), witness of thm-vacuous-once: "
    assert where + "run again by itself after the last cell, it raised AssertionError" in report


@pytest.mark.ci
def test_a_changed_number_fails_and_spares_the_mutants(tested: tuple[Path, str]):
    _, report = tested
    assert outcomes(report, "changed")["Cell 1"] == "FAILED"
    assert not any(item.startswith("Mutants") for item in outcomes(report, "changed"))
    assert "not every cell of this chapter ran and passed" in report


@pytest.mark.ci
def test_outputs_are_kept_where_every_cell_passed(tested: tuple[Path, str]):
    book, _ = tested
    python = "{}.{}".format(*sys.version_info)  # another Python keeps its own
    kept = book / "_build" / "outputs" / python / "chapters"
    assert sorted(path.name for path in kept.iterdir()) == ["sly.json", "toy.json", "vacuous.json"]
    entry = json.loads((kept / "toy.json").read_text(encoding="utf-8"))
    nb = notebooks.read(book / "chapters" / "toy.ipynb")
    stored.put(nb, entry["outputs"])
    assert nb.cells[IMPORT].outputs[0].text == "4242\n"
    assert "image/png" in nb.cells[FIGURE].outputs[0].data
    assert "text/html" in nb.cells[TABLE].outputs[0].data
    assert entry["seconds"] > 0


@pytest.mark.ci
def test_a_chapter_that_reads_what_its_key_does_not_cover_fails(tested: tuple[Path, str]):
    assert outcomes(tested[1], "sly")["Sight"] == "FAILED"
    assert "chapters/sly.ipynb reads mcutils/hidden.py, mcutils/tallies.csv, and tools/stored.py" in tested[1]


@pytest.mark.ci
def test_quick_compares_what_is_stored_and_lists_what_it_left_out(tested: tuple[Path, str], tmp_path: Path):
    book = shutil.copytree(tested[0], tmp_path / "book")
    run = python(book, "pytest", "--nbval", "--quick", "-rA", "--color=no", "chapters")
    assert outcomes(run.stdout, "toy") == {"Form": "PASSED", "Stored outputs": "PASSED"}
    # what is stored is not what this chapter shows: it is executed, and fails
    assert outcomes(run.stdout, "changed")["Cell 1"] == "FAILED"
    assert "Left out, because of --quick: 3 chapters were not executed again" in run.stdout
    chapters = [notebooks.read(path) for path in (book / "chapters").glob("*.ipynb")]
    mutants = sum(len(cell.metadata.get("mutants", [])) for nb in chapters for cell in nb.cells)
    assert f"{mutants} mutants were not tried" in run.stdout
    toy = book / "chapters" / "toy.ipynb"
    toy.write_text(toy.read_text(encoding="utf-8").replace("4242", "4243"), encoding="utf-8")
    run = python(book, "pytest", "--nbval", "--quick", "-rA", "--color=no", "chapters/toy.ipynb")
    assert outcomes(run.stdout, "toy")["Stored outputs"] == "FAILED"
    assert "chapters/toy.ipynb, cell 2 of code: the present code prints something else" in run.stdout


@pytest.mark.ci
def test_mutants_can_be_left_out(tested: tuple[Path, str]):
    book, _ = tested
    run = python(book, "pytest", "--nbval", "--no-mutants", "-rA", "--color=no", "chapters/vacuous.ipynb")
    assert run.returncode == 0, run.stdout
    assert set(outcomes(run.stdout, "vacuous")) == {"Form", *(f"Cell {n}" for n in range(4)), "Sight"}


@pytest.mark.ci
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")
@pytest.mark.parametrize(("options", "outcome"), [(["--forked"], "PASSED"), ([], "FAILED")])
def test_kernels_can_be_forked(tested: tuple[Path, str], tmp_path: Path, options: list[str], outcome: str):
    book = shutil.copytree(tested[0], tmp_path / "book")
    prepared = notebooks.read(book / "chapters" / "toy.ipynb")
    prepared.cells[IMPORT].source += '\nimport sys\n\nassert "numba" in sys.modules'
    (book / "chapters" / "prepared.ipynb").write_text(notebooks.text(prepared), encoding="utf-8")
    words = ("--nbval", "--no-mutants", "-rA", "--color=no", "chapters/prepared.ipynb")
    run = python(book, "pytest", *options, *words)
    assert outcomes(run.stdout, "prepared")["Cell 1"] == outcome


# -- the setup cell ----------------------------------------------------------------------


def mcutils_found_from(folder: Path, rival: Path) -> Path:
    """Which mcutils the first cells import, in `folder`, with another one earlier on the path."""
    (rival / "mcutils").mkdir()
    (rival / "mcutils" / "__init__.py").touch()
    code = f"{notebooks.SETUP}\nimport mcutils\nprint(mcutils.__file__)"
    environment = os.environ | {"PYTHONPATH": str(rival)}
    command = [sys.executable, "-P", "-c", code]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return Path(run.stdout.strip()).parents[1]


def test_chapters_find_the_mcutils_of_the_repository(tmp_path: Path):
    assert mcutils_found_from(ROOT / "chapters", tmp_path) == ROOT


def test_a_downloaded_chapter_finds_the_installed_mcutils(tmp_path: Path):
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    assert mcutils_found_from(downloads, tmp_path) == tmp_path
