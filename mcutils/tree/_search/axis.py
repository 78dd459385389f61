"""Numerical and categorical questions."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._typing import Bools, Floats, Ints
from .._columns import are_chosen
from .._limits import ITEMS, LEVELS, TIE
from .node import Candidate, Node

if TYPE_CHECKING:
    from .search import Search


def best_question(search: "Search", node: Node) -> Candidate | None:
    """The best numerical or categorical question."""
    from ...jit import tree as jit

    measure = search.measure
    if measure.code < 0:
        return _best_by_function(search, node)
    chosen = np.zeros(search.width, dtype=np.uint8)
    j, place = jit.best_question(
        node.keys,
        0,
        len(node),
        search.n_levels,
        search.left_out.copy(),
        measure.code,
        measure.exact,
        measure.weighted,
        measure.weights,
        node.total,
        measure.table,
        measure.costs,
        search.fewest,
        search.lightest,
        chosen,
    )
    if j < 0:
        return None
    if place < -1:
        search.refuse_levels(j, -place)
    if place == -1:
        return _by_levels(search, node, j, chosen)
    return _by_threshold(search, node, j, place)


def _by_threshold(search: "Search", node: Node, j: int, place: int) -> Candidate:
    from ...jit import tree as jit

    items = node.keys[j] & (ITEMS - 1)
    positive = search.mask(node, items[: place + 1])
    threshold = jit.between(search.values[j, items[place]], search.values[j, items[place + 1]])
    return Candidate(search.gain(node, positive), positive, j, threshold)


def _by_levels(search: "Search", node: Node, j: int, chosen: NDArray[np.uint8]) -> Candidate:
    positive = are_chosen(chosen, search.X[node.items, j])
    return Candidate(search.gain(node, positive), positive, j, members=chosen)


def _best_by_function(search: "Search", node: Node) -> Candidate | None:
    best: tuple[float, int, Any] | None = None
    for j in np.flatnonzero(search.left_out == 0).tolist():
        if search.n_levels[j] > 0:
            candidate: Any = _subset_by_function(search, node, j)
        else:
            candidate = search.measure.first_best(*search.cumulated_counts(node, j))
        if candidate is not None and (best is None or candidate[1] > best[0] + TIE * node.total.sum()):
            best = candidate[1], j, candidate[0]
    if best is None:
        return None
    _, j, place = best
    return (
        _by_levels(search, node, j, place)
        if search.n_levels[j] > 0
        else _by_threshold(search, node, j, place)
    )


def _level_counts(search: "Search", node: Node, j: int) -> tuple[Ints, Floats, Ints]:
    """The levels of a column at a node, the weights of the classes in each, and the items."""
    levels, where = np.unique(search.X[node.items, j].astype(np.int64), return_inverse=True)
    counts = np.zeros((len(levels), search.measure.k))
    weights = search.measure.weights[node.items] if search.measure.weighted else 1.0
    np.add.at(counts, (where, search.codes[node.items]), weights)
    return levels, counts, np.bincount(where)


def _subset_by_function(search: "Search", node: Node, j: int) -> tuple[NDArray[np.uint8], float] | None:
    levels, counts, items = _level_counts(search, node, j)
    L = len(levels)
    if L < 2:
        return None
    present = np.flatnonzero(node.total > 0)
    masks: Bools | None = None
    if len(present) <= 2:
        order = np.argsort(counts[:, present[-1]] / counts.sum(axis=1), kind="stable")
        masks = np.zeros((L - 1, L), dtype=np.bool_)
        for q in range(L - 1):
            masks[q, order[: q + 1]] = True
        best = _best_mask(search, masks, counts, np.ones(len(masks), dtype=np.bool_))
        if best is not None and _obeys(search, masks[best[0]][None], counts, items)[0]:
            return _side(search, levels, masks[best[0]], j), best[1]
    if L > LEVELS:
        search.refuse_levels(j, L)
    best_side: tuple[NDArray[np.uint8], float] | None = None
    step = 2**14
    for start in range(1, 2 ** (L - 1), step):
        numbers = np.arange(start, min(start + step, 2 ** (L - 1)))
        masks = (numbers[:, None] >> np.arange(L) & 1).astype(np.bool_)
        best = _best_mask(search, masks, counts, _obeys(search, masks, counts, items))
        if best is not None and (best_side is None or best[1] > best_side[1] + TIE * node.total.sum()):
            best_side = _side(search, levels, masks[best[0]], j), best[1]
    return best_side


def _best_mask(search: "Search", masks: Bools, counts: Floats, allowed: Bools) -> tuple[int, float] | None:
    return search.measure.first_best((~masks) @ counts, masks @ counts, allowed)


def _obeys(search: "Search", masks: Bools, counts: Floats, items: Ints) -> Bools:
    """Which sets of levels leave enough items, and weight, on either side."""
    sizes, weights = masks @ items, masks @ counts.sum(axis=1)
    light = np.minimum(weights, counts.sum() - weights)
    return np.asarray((np.minimum(sizes, items.sum() - sizes) >= search.fewest) & (light >= search.lightest))


def _side(search: "Search", levels: Ints, inside: Bools, j: int) -> NDArray[np.uint8]:
    """Of a set of levels and its complement the one that the question names."""
    has_missing = levels[-1] == search.n_levels[j]
    n, L = int(inside.sum()), len(levels)
    swapped = bool(inside[-1]) if has_missing else 2 * n > L or (2 * n == L and not inside[0])
    chosen = np.zeros(search.width, dtype=np.uint8)
    chosen[levels[inside != swapped]] = 1
    return chosen


def all_questions(search: "Search", node: Node) -> Iterator[Candidate]:
    """Every numerical and categorical question, for looking ahead."""
    for j in np.flatnonzero(search.left_out == 0).tolist():
        if search.n_levels[j] > 0:
            yield from _all_subsets(search, node, j)
        else:
            for place in np.flatnonzero(search.cumulated_counts(node, j)[2]).tolist():
                yield _by_threshold(search, node, j, place)


def _all_subsets(search: "Search", node: Node, j: int) -> Iterator[Candidate]:
    levels, counts, items = _level_counts(search, node, j)
    L = len(levels)
    if L > LEVELS:
        search.refuse_levels(j, L)
    for mask in range(1, 2 ** (L - 1)):
        inside = (mask >> np.arange(L) & 1).astype(np.bool_)
        if _obeys(search, inside[None], counts, items)[0]:
            yield _by_levels(search, node, j, _side(search, levels, inside, j))
