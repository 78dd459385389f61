"""Outputs of executed chapters, kept so that the site need not execute again.

A chapter is executed by `make test`, by `make notebooks` or by the site's build, whichever
comes first; all three save here, and the site's pages show what is saved. An entry counts
only while everything that its chapter can see is unchanged: its own code, the modules of this
repository that it imports (and those that they import), the data files that these name, the
locked versions and Python itself. What a chapter imports is read from the source; when the
chapters are tested, the kernel reports the files that it opened, and one that is not among
those seen here is an error (conftest.py).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat

import mcutils
from tools import breaks

ROOT = Path(__file__).resolve().parents[1]

# made by tools, never read by them
GENERATED = {"_build", "__pycache__", "build", "dist", "node_modules"}


def files(root: Path | None = None) -> Iterator[Path]:
    """Every file of the repository in a fixed order, without hidden and generated ones."""
    for path in sorted((root or ROOT).iterdir()):
        if path.name.startswith(".") or path.name in GENERATED or path.name.endswith(".egg-info"):
            continue
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def digest(paths: Iterable[Path], more: str = "") -> str:
    """A hash over names and contents, over `more`, and over the Python that runs them."""
    sha = hashlib.sha256(f"{sys.version}\n{more}".encode())
    for path in paths:
        content = path.read_bytes()
        sha.update(f"\n{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        sha.update(content)
    return sha.hexdigest()


@functools.cache
def changed() -> frozenset[Path]:
    """The files that differ from the last commit; without git, none."""
    command = ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames", "-z"]
    try:
        status = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    return frozenset(ROOT / entry[3:] for entry in status.split("\0") if entry)


# -- what a chapter can see --------------------------------------------------------------


class Source:
    """What a piece of Python names: modules that it may import, and strings, which may name files."""

    def __init__(self, code: str, package: str):
        self.modules: set[str] = set()
        self.strings: set[str] = set()
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                self.modules.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
                base = ".".join([*parents, *([node.module] if node.module else [])])
                # a name that is imported from a package may be one of its modules
                self.modules.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.strings.add(node.value)


@functools.cache
def _of_notebook(code: str) -> Source:
    return Source(code, "")


@functools.cache
def _source(path: Path, modified: int, size: int) -> Source:
    package = path.parent.relative_to(ROOT).as_posix().replace("/", ".")
    return Source(path.read_text(encoding="utf-8"), package)


def _files_of(module: str) -> Iterator[Path]:
    """The file of a module of this repository, and those of the packages around it."""
    package, _, name = module.rpartition(".")
    homes = getattr(mcutils, "HOMES", {})  # the package of a small book has none
    if package == "mcutils" and name in homes:  # it is loaded when it is first used
        module = f"mcutils.{homes[name]}"
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        stem = ROOT.joinpath(*parts[:length])
        yield from (path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file())


def _data_beside(path: Path) -> Iterator[Path]:
    """What a package holds beside its modules; a test package or a folder of tools has its own rules."""
    if path.name == "__init__.py":
        yield from (file for file in files(path.parent) if file.suffix != ".py")


def seen(nb: nbformat.NotebookNode) -> list[Path]:
    """The files of this repository that the code of a notebook can see, in a fixed order.

    A data file is seen if its name is a string, or the last part of one, somewhere in the code or in the
    modules; without the ending, if it lies in a package that is imported.
    """
    try:
        sources = [_of_notebook("\n\n".join(_code(nb)))]
    except SyntaxError:  # executing it, or checking it, says where
        return []
    names = set(sources[0].modules)
    waiting = list(names)
    modules: set[Path] = set()
    while waiting:
        for path in _files_of(waiting.pop()):
            if path not in modules:
                modules.add(path)
                status = path.stat()
                sources.append(_source(path, status.st_mtime_ns, status.st_size))
                waiting.extend(sources[-1].modules - names)
                names |= sources[-1].modules
    strings = set().union(*(source.strings for source in sources))
    data = {file for path in modules for file in _data_beside(path) if file.stem in strings}
    ends = {string.rpartition("/")[2] for string in strings}
    named = {file for file in files() if file.name in ends and file.suffix not in (".py", ".ipynb")}
    return sorted(modules | data | named)


def key(nb: nbformat.NotebookNode) -> str:
    """Names the state of everything that the outputs of a notebook depend on."""
    return digest([*seen(nb), *always_seen()], more=json.dumps([_code(nb), breaks.key(nb)]))


def always_seen() -> list[Path]:
    """The versions of everything else."""
    return [ROOT / "requirements.lock"]


def entry(notebook: Path) -> Path:
    """The file that keeps the outputs of a chapter."""
    python = "{}.{}".format(*sys.version_info)  # tools.pythons must not overwrite what the site shows
    return (ROOT / "_build" / "outputs" / python / notebook.resolve().relative_to(ROOT)).with_suffix(".json")


def _code(nb: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in nb.cells if cell.cell_type == "code"]


def save(notebook: Path, outputs: list[Any], seconds: float, key: str, broken: dict[str, list[str]]) -> None:
    """Keep what a notebook has shown, computed while its `key` was `key`.

    That is one list of outputs per code cell, and for each witness what its mutants with words have found.
    """
    kept = entry(notebook)
    kept.parent.mkdir(parents=True, exist_ok=True)
    # two processes may save the same chapter: each writes its own file, the rename is atomic
    unfinished = kept.with_suffix(f".{os.getpid()}.tmp")
    content = {"key": key, "outputs": outputs, "seconds": round(seconds, 2), "broken": broken}
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(kept)


def load(notebook: Path, nb: nbformat.NotebookNode) -> dict[str, Any] | None:
    """The entry of a chapter (`outputs`, `seconds`, `broken`), or None where it must be executed."""
    kept = entry(notebook)
    if not kept.exists():
        return None
    content: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return content if content["key"] == key(nb) else None


def put(nb: nbformat.NotebookNode, outputs: list[Any]) -> None:
    """Replace the outputs of the code cells of `nb`."""
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    for number, (cell, fresh) in enumerate(zip(cells, outputs, strict=True), start=1):
        cell.execution_count = number
        cell.outputs = nbformat.from_dict(fresh)
