"""What a chapter can see: the modules that it imports, theirs, and the data files that they name."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import notebooks, stored

FILES = {
    "shop/__init__.py": "",
    "shop/till.py": "from . import coins\n",
    "shop/coins.py": "def count():\n    from .safe.lock import turn\n    return turn()\n",
    "shop/safe/__init__.py": "from shop.safe import lock as _\n",
    "shop/safe/lock.py": "NAME = 'penalties'\n",
    "shop/safe/penalties.csv": "1\n",
    "shop/safe/costs.csv": "1\n",
    "shop/window.py": "import shop.till\n",
    "requirements.lock": "",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(stored, "ROOT", tmp_path)
    return tmp_path


def notebook(*cells: str):
    return new_notebook(cells=[new_code_cell(cell) for cell in cells])


def seen(root: Path, *cells: str) -> list[str]:
    return [path.relative_to(root).as_posix() for path in stored.seen(notebook(*cells))]


@pytest.mark.parametrize("line", ["import shop.till", "from shop import till", "from shop.till import coins"])
def test_imports_are_followed_into_functions_and_packages(root: Path, line: str):
    modules = ["__init__.py", "coins.py", "safe/__init__.py", "safe/lock.py", "safe/penalties.csv", "till.py"]
    assert seen(root, line) == [f"shop/{name}" for name in modules]


def test_a_data_file_is_seen_where_its_name_is_a_string(root: Path):
    assert "shop/safe/costs.csv" not in seen(root, "import shop.safe")
    assert "shop/safe/costs.csv" in seen(root, "import shop.safe", "load = 'costs'")
    assert seen(root, "load = 'costs'") == []  # and where its package is imported
    assert seen(root, "load = 'costs.csv'") == ["shop/safe/costs.csv"]  # or with its whole name


def test_what_cannot_be_read_as_python_sees_nothing(root: Path):
    assert seen(root, "%matplotlib inline") == []


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("shop/safe/lock.py", True),
        ("shop/safe/penalties.csv", True),
        ("requirements.lock", True),
        ("shop/window.py", False),
        ("shop/safe/costs.csv", False),
    ],
)
def test_the_key_changes_with_what_is_seen_and_with_nothing_else(root: Path, name: str, changes: bool):
    chapter = notebook("from shop import till")
    before = stored.key(chapter)
    with (root / name).open("a", encoding="utf-8") as file:
        file.write("# more\n")
    assert (stored.key(chapter) != before) == changes


def test_the_key_changes_with_the_code(root: Path):
    assert stored.key(notebook("import shop")) != stored.key(notebook("import shop", "1"))


def test_a_change_in_one_module_reaches_some_chapters_only():
    """The book itself: the chapter on trees sees all of `tree`, the one on bounds does not."""
    tree = stored.ROOT / "mcutils" / "tree" / "_search" / "axis.py"
    sees = {path.stem: tree in stored.seen(notebooks.read(path)) for path in notebooks.chapters()}
    assert sees["tree"]
    assert sees["pruning"]
    assert not sees["bound"]
    assert not sees["classes"]


def test_a_name_that_mcutils_loads_when_it_is_used_is_followed():
    files = seen(stored.ROOT, "from mcutils import DecisionTree")
    assert {"mcutils/__init__.py", "mcutils/tree/__init__.py", "mcutils/jit/tree.py"} <= {*files}
    assert not any(name.startswith("mcutils/softmax") for name in files)
