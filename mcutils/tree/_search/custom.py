"""Questions that a function of the user makes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .node import Candidate, Node

if TYPE_CHECKING:
    from .search import Search


def all_questions(search: "Search", node: Node, family: Callable[..., Iterable[Any]]) -> Iterator[Candidate]:
    """The questions of the function that divide the items."""
    items = node.items
    weights = search.measure.weights[items] if search.measure.weighted else np.ones(len(items))
    weights = weights * search.measure.unit
    rows = search.X[items]
    for question in family(rows, search.codes[items], weights):
        outcome = search.outcome(node, question, rows)
        if outcome is not None:
            yield outcome


def best_question(search: "Search", node: Node, family: Callable[..., Iterable[Any]]) -> Candidate | None:
    """The best question of the function; the first if there are several."""
    best: Candidate | None = None
    for outcomes in all_questions(search, node, family):
        if best is None or outcomes.gain > best.gain:
            best = outcomes
    return best
