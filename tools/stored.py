"""Outputs of executed chapters, kept so that the site need not execute again.

A chapter is executed by `make test`, by `make notebooks` or by the site's build, whichever
comes first; all three save here, and the site's pages show what is saved. An entry counts
only while everything that a cell can see is unchanged: its own code cells, the helper
package, every data file, the pinned versions and Python itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[1]

# made by tools, never read by them
GENERATED = {"_build", "__pycache__", "build", "dist", "node_modules"}

# no cell reads these
UNSEEN = {"appendix", "binder", "tests", "tools", "web"}


def files(root: Path = ROOT) -> Iterator[Path]:
    """Every file of the repository in a fixed order, without hidden and generated ones."""
    for path in sorted(root.iterdir()):
        if path.name.startswith(".") or path.name in GENERATED or path.name.endswith(".egg-info"):
            continue
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def digest(paths: Iterator[Path]) -> str:
    """A hash over names and contents, and over the Python that runs them."""
    sha = hashlib.sha256(sys.version.encode())
    for path in paths:
        content = path.read_bytes()
        sha.update(f"\n{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        sha.update(content)
    return sha.hexdigest()


def _seen_by_cells() -> Iterator[Path]:
    for path in files():
        parts = path.relative_to(ROOT).parts
        in_a_folder = len(parts) > 1 and parts[0] not in UNSEEN and path.suffix != ".ipynb"
        if in_a_folder or parts == ("requirements.lock",):
            yield path


def key() -> str:
    """Names the state of everything outside a notebook that its cells can see."""
    return digest(_seen_by_cells())


def _entry(notebook: Path) -> Path:
    python = "{}.{}".format(*sys.version_info)  # tools.pythons must not overwrite what the site shows
    return (ROOT / "_build" / "outputs" / python / notebook.resolve().relative_to(ROOT)).with_suffix(".json")


def _code(nb: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in nb.cells if cell.cell_type == "code"]


def save(notebook: Path, nb: nbformat.NotebookNode, outputs: list[Any], seconds: float, key: str) -> None:
    """Keep one list of outputs per code cell of `nb`, computed while `key()` was `key`."""
    entry = _entry(notebook)
    entry.parent.mkdir(parents=True, exist_ok=True)
    # two processes may save the same chapter: each writes its own file, the rename is atomic
    unfinished = entry.with_suffix(f".{os.getpid()}.tmp")
    content = {"key": key, "code": _code(nb), "outputs": outputs, "seconds": round(seconds, 2)}
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(entry)


def load(notebook: Path, nb: nbformat.NotebookNode, key: str) -> dict[str, Any] | None:
    """The entry of a chapter (`outputs`, `seconds`), or None where it must be executed."""
    entry = _entry(notebook)
    if not entry.exists():
        return None
    content: dict[str, Any] = json.loads(entry.read_text(encoding="utf-8"))
    return content if content["key"] == key and content["code"] == _code(nb) else None


def put(nb: nbformat.NotebookNode, outputs: list[Any]) -> None:
    """Replace the outputs of the code cells of `nb`."""
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    for number, (cell, fresh) in enumerate(zip(cells, outputs, strict=True), start=1):
        cell.execution_count = number
        cell.outputs = nbformat.from_dict(fresh)
