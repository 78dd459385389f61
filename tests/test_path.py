"""The path for somebody alone: what it says is to be done can be done."""

import re
from pathlib import Path

import pytest

from tools import breaks, notebooks

ROOT = Path(__file__).resolve().parents[1]
PATH = (ROOT / "appendix" / "path.md").read_text(encoding="utf-8")
CHANGES = re.findall(
    r"\{prf:ref\}`([\w-]+)` \([^)]*\): in its check, write\s+`([^`]+)` for\s+`([^`]+)`", PATH
)


def test_it_is_short():
    text = PATH.split("---", 2)[2]
    assert len(re.sub(r"\{story-minutes\}`[^`]*`", "minutes", text).split()) <= 900


def test_each_week_has_its_six_lines():
    weeks = PATH.split("\n## ")[1:-1]
    assert len(weeks) == 6
    for week in weeks:
        heads = re.findall(r"^- \*\*(.*?):?\*\*", week, re.MULTILINE)
        assert heads[0] == "Read"
        assert heads[1] in ("Play", "Look")
        assert heads[2:] == ["Break", "Exercises", "You can now"]
        assert "{story-minutes}`" in week


def test_the_changes_are_all_found():
    assert len(CHANGES) == PATH.count("in its check, write") == 4


@pytest.mark.parametrize(("label", "new", "old"), CHANGES)
def test_a_change_is_one_that_the_check_has_been_seen_to_refuse(label, new, old):
    """The lines of a mutant of the check, which the tests run."""
    chapter = notebooks.read(ROOT / "chapters" / f"{label.split('-')[1]}.ipynb")
    (cell,) = (cell for cell in chapter.cells if label in cell.metadata.get("witnesses", []))
    assert cell.source.count(old) >= 1
    assert any(m.source(cell) == cell.source.replace(old, new) for m in breaks.mutants(cell))
