"""A copy of a small book (tests/fixtures/book) with this repository's own tools around it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
FIXTURE = ROOT / "tests" / "fixtures" / "book"

# its chapters: toy is right; vacuous has witnesses that are none; faulty does not run
CHAPTERS = ("toy", "vacuous", "faulty")


def copy_to(folder: Path, *chapters: str) -> Path:
    """Set the small book up in `folder`, with some of its chapters."""
    shutil.copytree(FIXTURE, folder, dirs_exist_ok=True)
    for name in set(CHAPTERS) - set(chapters):
        (folder / "chapters" / f"{name}.ipynb").unlink()
    for name in ("tools", "web"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "pyproject.toml", "requirements.lock", "CITATION.cff"):
        shutil.copy(ROOT / name, folder)
    for name in ("requirements.txt", "README.md", "LICENSE"):  # what a chapter's folder needs
        shutil.copy(ROOT / name, folder)
    for name in ("_table.py", "_checks.py", "_typing.py"):  # what a table of results needs
        shutil.copy(ROOT / "mcutils" / name, folder / "mcutils")
    # the rules for chapters of the book ask for more than a small chapter has: tests/test_edition.py
    with open(folder / "tools" / "edition.py", "a", encoding="utf-8") as file:
        file.write("\nRULES = ()\n")
    (folder / "appendix").mkdir()
    shutil.copy(ROOT / "appendix" / "status.md", folder / "appendix")
    # the site's real settings, but for the ledger and the guide, which want the whole book
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    for name in ("tools.sphinx.ledger_pages", "tools.sphinx.guide"):
        config["sphinx"]["local_extensions"].pop(name)
        config["sphinx"]["config"]["extensions"].remove(name)
    config["sphinx"]["config"]["chapter_letters"] = {"appendix/status": "S"}
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m …` in the small book."""
    # pytest-xdist tells its workers apart by variables, which a pytest of its own must not see
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
