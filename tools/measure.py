"""How long a chapter is."""

from typing import Any, NamedTuple


class Measures(NamedTuple):
    """Minutes of reading."""

    story_minutes: int
    full_minutes: int


def measure(nb: Any) -> Measures:
    """Minutes of both layers: 200 words a minute, all of them in both as long as nothing is marked."""
    words = sum(len(cell.source.split()) for cell in nb.cells if cell.cell_type == "markdown")
    return Measures(round(words / 200), round(words / 200))
