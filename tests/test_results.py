"""What an experiment stored is shown: every part of a results file is on a page that reads the file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools import guide, notebooks

ROOT = Path(__file__).resolve().parent.parent
RESULTS = sorted((ROOT / "results").glob("*.json"))

# how and where it was measured; and the races, which a page of their own shows (tools.sphinx.races)
CIRCUMSTANCES = {"versions", "machine", "seed", "date", "settings", "cpu_seconds", "races"}


def unread(result: dict[str, Any], code: str, printed: str) -> Iterator[str]:
    """The parts that the code never takes, and the kinds of rows that nothing names."""
    for key, rows in result.items():
        names = isinstance(rows, dict) and all(isinstance(value, str) for value in rows.values())
        if key in CIRCUMSTANCES or names or not isinstance(rows, list | dict):
            continue
        if f'"{key}"' not in code:
            yield f"{key!r} is never read"
        if not (isinstance(rows, list) and rows and isinstance(rows[0], dict)):
            continue
        kinds = {(name, value) for row in rows for name, value in row.items() if isinstance(value, str)}
        for name, value in sorted(kinds):
            if value not in code and value not in printed:
                yield f"{key!r}: no row whose {name!r} is {value!r} is named"


def readers(file: str) -> Iterator[tuple[str, str]]:
    """Code and printed text of each chapter that reads a results file."""
    for path in notebooks.chapters():
        cells = [cell for cell in notebooks.read(path).cells if cell.cell_type == "code"]
        code = "\n".join(cell.source for cell in cells)
        if f"results/{file}" in code:
            outputs = [output for cell in cells for output in cell.outputs]
            yield code, "\n".join(json.dumps(output, ensure_ascii=False) for output in outputs)
    if file == "cluster.json":  # of the user guide
        printed = "".join(map("".join, guide.cluster_rows())) + guide.cluster("error")
        yield Path(guide.__file__).read_text(encoding="utf-8"), printed
    if file == "growth.json":  # as well
        cells = "".join(map("".join, guide.cost_rows()))
        named = {row[key] for row in guide.stored("growth")["rows"] for key in ("estimator", "name")}
        shown = [name for name in named if guide.shown(name) in cells]
        yield Path(guide.__file__).read_text(encoding="utf-8"), "\n".join(shown)


@pytest.mark.parametrize("path", RESULTS, ids=[path.stem for path in RESULTS])
def test_what_is_stored_is_shown(path: Path):
    texts = list(readers(path.name))
    code, printed = ("\n".join(each) for each in zip(*texts, strict=True)) if texts else ("", "")
    assert not list(unread(json.loads(path.read_text(encoding="utf-8")), code, printed))


ROWS = {
    "seed": 0,
    "rows": [{"method": "a tree", "error": 0.1}, {"method": "a flat one", "error": 0.2}],
    "large": [{"method": "a tree", "error": 0.3}],
}


@pytest.mark.parametrize(
    ("code", "printed", "hidden"),
    [
        ('result["rows"], result["large"]', "a tree 0.1, a flat one 0.2", []),
        (
            'result["rows"], result["large"]["a tree"]',
            "",
            ["'rows': no row whose 'method' is 'a flat one' is named"],
        ),
        ('result["rows"]', "a tree 0.1, a flat one 0.2", ["'large' is never read"]),
    ],
)
def test_a_part_that_nobody_reads_is_noticed(code: str, printed: str, hidden: list[str]):
    assert list(unread(ROWS, code, printed)) == hidden
