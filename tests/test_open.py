"""The page of open problems: its code runs, and it leads to every open exercise."""

import re
from pathlib import Path

import nbformat
import pytest

from tools import ledger

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "appendix" / "open.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block {i}" for i in range(1, len(BLOCKS) + 1)])
def test_the_code_runs(block: str) -> None:
    exec(compile(block, "appendix/open.md", "exec"), {})


def open_exercises() -> list[str]:
    """The labels of the exercises of published chapters whose title begins with Open."""
    result: list[str] = []
    for document in ledger.read(ROOT).documents:
        notebook = ROOT / f"{document}.ipynb"
        if notebook.exists():
            text = "\n".join(c.source for c in nbformat.read(notebook, as_version=4).cells)
            result += re.findall(r"\{exercise(?:-start)?\} Open\b.*\n:label: (\S+)", text)
    return result


def test_every_open_exercise_is_listed() -> None:
    labels = open_exercises()
    assert len(labels) > 15
    assert [label for label in labels if f"<{label}>`" not in PAGE] == []
