"""The long computations whose results chapters read: `python -m experiments.NAME` makes one anew.

A result goes to ``results/NAME.json``, with what it was made with; the chapter repeats a small part and
compares it with the file.
"""

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.race import machine, versions
from mcutils import __version__

RESULTS = Path(__file__).parents[1] / "results"


def made_with() -> dict[str, str]:
    """The versions that can change a result."""
    return versions() | {"cvxopt": version("cvxopt"), "mcutils": __version__}


def read(name: str) -> dict[str, Any]:
    """A stored result."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def write(
    name: str,
    *,
    seed: Any,
    settings: Mapping[str, Any],
    tables: Mapping[str, Iterable[Mapping[str, Any]]],
    folder: Path = RESULTS,
) -> None:
    """Write a result, a row of a table a line, with the versions, the computer and the seed that made it.

    Parameters
    ----------
    name : str
        The experiment; the file is called ``NAME.json``.
    seed : int or list of int
        What the random numbers were drawn with.
    settings : mapping
        What else decides the result, or is said of the whole.
    tables : mapping from str to rows
    folder : Path
        Where to, by default the book's own.
    """
    head = {"versions": made_with(), "machine": machine(), "seed": seed, **settings}
    parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, rows in tables.items():
        lines = ",\n".join(json.dumps(row) for row in rows)
        parts.append(f"{json.dumps(key)}: [\n{lines}\n]")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
