"""Oblique questions: hyperplanes that are turned as long as it helps."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import Floats
from .._questions import Oblique
from .node import Candidate, Node

if TYPE_CHECKING:
    from .search import Search


def best_question(search: "Search", node: Node) -> Candidate | None:
    """The best oblique question that a climb from the best directions reaches."""
    columns = search.numerical
    if len(columns) == 0:
        return None
    rows = np.ascontiguousarray(search.X[np.ix_(node.items, columns)])
    starts: list[tuple[float, int, Floats, float]] = []
    for direction in _directions(search, node, rows):
        cut = search.best_threshold(node, _project(rows, direction))
        if cut is not None:
            starts.append((-cut[1], len(starts), direction, cut[0]))
    best: Candidate | None = None
    # from the best start of all, and from two others
    for _, _, direction, threshold in sorted(starts, key=lambda start: start[:2])[:3]:
        outcome = _climb(search, node, rows, direction, threshold)
        if outcome is not None and (best is None or outcome.gain > best.gain):
            best = outcome
    return best


def _directions(search: "Search", node: Node, rows: Floats) -> Iterator[Floats]:
    """Where the climb to an oblique question begins: the axes, and between the means of two classes."""
    yield from np.eye(rows.shape[1])
    codes = search.codes[node.items]
    known = ~np.isnan(rows).any(axis=1)
    means = [rows[known & (codes == c)].mean(axis=0) for c in np.unique(codes[known]).tolist()]
    for a in range(len(means)):
        for b in range(a):
            if (means[a] != means[b]).any():
                yield means[a] - means[b]


def _climb(search: "Search", node: Node, rows: Floats, weights: Floats, threshold: float) -> Candidate | None:
    """Turn a hyperplane within itself, one weight at a time by the best angle, as long as it helps."""
    best_so_far = _hyperplane(search, node, rows, weights)
    improved = best_so_far is not None
    while improved and best_so_far is not None:
        improved = False
        for j in range(rows.shape[1]):
            known = rows[:, j][~np.isnan(rows[:, j])]
            # what of the hyperplane has this value in column j stays where it is
            for pivot in np.unique(np.quantile(known, [0.0, 0.25, 0.5, 0.75, 1.0])) if len(known) else ():
                others = weights.copy()
                others[j] = 0.0
                level = threshold - weights[j] * pivot - _project(rows, others)
                others[j] = _turn(search, node, level, rows[:, j] - pivot, weights[j])
                if not others.any():
                    continue
                candidate = _hyperplane(search, node, rows, others)
                if candidate is not None and candidate.gain > best_so_far.gain:
                    best_so_far, improved = candidate, True
                    weights = np.asarray(candidate.question.weights)[search.numerical]
                    threshold = candidate.question.threshold
    return best_so_far


def _turn(search: "Search", node: Node, level: Floats, far: Floats, weight: float) -> float:
    """The best weight v, where an item says yes if v times ``far`` is at most its ``level``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = level / far
    moving = np.isfinite(slopes)
    ahead = moving & (far > 0)
    items = node.items[moving][np.argsort(slopes[moving], kind="stable")]
    slopes = np.sort(slopes[moving], kind="stable")
    if len(slopes) < 2:
        return weight
    counts = np.zeros((len(items), search.measure.k))
    counts[np.arange(len(items)), search.codes[items]] = (
        search.measure.weights[items] if search.measure.weighted else 1.0
    )
    sign = np.where(ahead[np.searchsorted(node.items, items)], -1.0, 1.0)
    # as v grows, an item ahead of the pivot turns to no, one behind it to yes
    start = search.counts(node.items[ahead | (~moving & (far == 0) & (level >= 0))])
    yes = np.maximum(start + (sign[:, None] * counts).cumsum(axis=0)[:-1], 0.0)
    no = np.maximum(node.total - yes, 0.0)
    allowed = (slopes[1:] > slopes[:-1]) & (yes.sum(axis=1) > 0) & (no.sum(axis=1) > 0)
    best = search.measure.first_best(no, yes, allowed)
    return weight if best is None else float(slopes[best[0]] / 2 + slopes[best[0] + 1] / 2)


def _hyperplane(search: "Search", node: Node, rows: Floats, weights: Floats) -> Candidate | None:
    """The best question with these weights, which are brought to length 1."""
    weights = weights / np.linalg.norm(weights)
    weights[np.abs(weights) < 1e-12] = 0.0
    cut = search.best_threshold(node, _project(rows, weights))
    if cut is None:
        return None
    full = np.zeros(search.X.shape[1])
    full[search.numerical] = weights
    question = Oblique(tuple(full.tolist()), float(cut[0]))
    return search.outcome(node, question, search.X[node.items])


def _project(rows: Floats, weights: Floats) -> Floats:
    """As :meth:`Oblique.score` computes it."""
    used = np.flatnonzero(weights)
    if len(used) == 0:
        return np.zeros(len(rows))
    return np.asarray((np.ascontiguousarray(rows[:, used]) * weights[used]).sum(axis=1))
