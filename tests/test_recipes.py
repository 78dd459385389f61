"""Recipes: the form of each, a fault planted against each rule, and the tools that find them."""

import copy
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools import ledger, notebooks, recipes, stored
from tools.sphinx import recipes as pages

ROOT = Path(__file__).resolve().parents[1]
PATHS = notebooks.listed("recipes")

Damage = Callable[[NotebookNode], None]


@pytest.fixture(scope="module")
def recipe() -> NotebookNode:
    return notebooks.read(ROOT / "recipes" / "text.ipynb")


def test_the_book_has_ten_and_lists_each_once():
    assert sorted(toc_of_recipes()) == [f"recipes/{path.stem}" for path in PATHS]
    assert len(PATHS) == 10


def toc_of_recipes() -> list[str]:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    overview, *listed = (name for name in ledger.documents(toc) if name.startswith("recipes/"))
    assert overview == "recipes/overview"
    return listed


def test_each_has_the_number_of_its_place():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    letters = config["sphinx"]["config"]["chapter_letters"]
    numbered = {document: letter for document, letter in letters.items() if document.startswith("recipes/")}
    assert numbered == {document: f"R{place}" for place, document in enumerate(toc_of_recipes(), 1)}


def test_the_overview_lists_each_with_its_problem(tmp_path: Path, recipe: NotebookNode):
    lines = list(pages.listing(pages.files(ROOT), "({})".format))
    heads = [line for line in lines if "{doc}" in line]
    assert heads == [f"{n}. {{doc}}`/{name}`" for n, name in enumerate(toc_of_recipes(), 1)]
    assert "    Some classes are rare, and the classifier hardly ever predicts them. (imbalanced)" in lines
    damaged = copy.deepcopy(recipe)
    no_problem(damaged)
    (tmp_path / "text.ipynb").write_text(notebooks.text(damaged), encoding="utf-8")
    with pytest.raises(ValueError, match="does not begin with its problem"):
        list(pages.listing([tmp_path / "text.ipynb"], str))


@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_a_recipe_keeps_its_form(path: Path):
    assert list(recipes.findings(notebooks.read(path))) == []


@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_a_recipe_reads_nothing_from_a_network_or_the_results(path: Path):
    source = "\n".join(cell.source for _, cell in notebooks.code_cells(notebooks.read(path)))
    assert not re.search(r"https?://|fetch_|urllib|requests|\.\./results", source)


def no_problem(nb: NotebookNode) -> None:
    nb.cells[2].source = nb.cells[2].source.replace("**The problem.** ", "")


def one_word_too_many(nb: NotebookNode) -> None:
    nb.cells.insert(3, new_markdown_cell("word " * recipes.LONGEST))


def much_code(nb: NotebookNode) -> None:
    nb.cells[3:3] = [new_code_cell(f"{n}") for n in range(recipes.MOST_CODE)]


def no_end(nb: NotebookNode) -> None:
    nb.cells[-1].source = nb.cells[-1].source.replace("## What it does not do", "## More")


def nothing_proved(nb: NotebookNode) -> None:
    for cell in nb.cells:
        cell.source = cell.source.replace("{prf:ref}", "")


def no_figure(nb: NotebookNode) -> None:
    for cell in nb.cells:
        cell.metadata.pop("mystnb", None)


def from_inside(nb: NotebookNode) -> None:
    nb.cells[3].source += "\nfrom mcutils.solver import CrammerSinger"


def from_inside_by_name(nb: NotebookNode) -> None:
    nb.cells[3].source += "\nimport mcutils.solver"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (no_problem, "does not begin with a title and"),
        (one_word_too_many, r"has \d+ words, at most 350"),
        (much_code, "cells of code besides the first, at most 4"),
        (no_end, r"has the sections \['With your own data', 'More'\]"),
        (nothing_proved, "names no statement that proves why"),
        (no_figure, "has 0 figures, must have one"),
        (from_inside, "imports mcutils.solver; from mcutils import"),
        (from_inside_by_name, "imports mcutils.solver; from mcutils import"),
    ],
)
def test_each_rule_finds_its_fault(recipe: NotebookNode, damage: Damage, said: str):
    damaged = copy.deepcopy(recipe)
    damage(damaged)
    (found,) = recipes.findings(damaged)
    assert re.search(said, found)


def test_the_check_of_the_notebooks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "recipes").mkdir()
    path = tmp_path / "recipes" / "text.ipynb"
    nb = notebooks.read(ROOT / "recipes" / "text.ipynb")
    path.write_text(notebooks.text(nb), encoding="utf-8")
    notebooks.macros()  # are read once, from the repository
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    assert notebooks.findings(path) == []
    no_end(nb)
    path.write_text(notebooks.text(nb), encoding="utf-8")
    (found,) = notebooks.findings(path)
    assert found.startswith("recipes/text.ipynb: has the sections")


def test_tools_find_recipes_beside_chapters():
    assert notebooks.find("own-code") == ROOT / "recipes" / "own-code.ipynb"
    assert notebooks.find("ecoc") == ROOT / "chapters" / "ecoc.ipynb"
    assert {path.parent.name for path in notebooks.listed()} == {"chapters", "recipes"}
    assert not {path.stem for path in PATHS} & {path.stem for path in notebooks.chapters()}
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tested,) = re.findall(r"^testpaths = (.*)$", settings, re.MULTILINE)
    assert {f'"{folder}"' for folder in notebooks.FOLDERS} <= set(re.findall(r'"\w+"', tested))


def test_what_a_recipe_sees_is_the_module_of_each_name_that_it_takes():
    seen = stored.seen(notebooks.read(ROOT / "recipes" / "compare.ipynb"))
    names = {path.relative_to(ROOT).as_posix() for path in seen}
    assert {"mcutils/comparison.py", "mcutils/tree/__init__.py", "mcutils/data/vehicle.csv"} <= names
    assert "mcutils/ecoc/__init__.py" not in names
