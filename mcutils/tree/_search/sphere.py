"""Spheres around means of classes and around items."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._questions import Sphere
from .node import Candidate, Node

if TYPE_CHECKING:
    from .search import Search

# Most items that are tried as centres.
_CENTRES = 256


def best_question(search: "Search", node: Node) -> Candidate | None:
    """The best sphere around the mean of a class or around one of the items."""
    columns = search.numerical
    rows = search.X[np.ix_(node.items, columns)]
    known = np.flatnonzero(~np.isnan(rows).any(axis=1))
    if len(columns) == 0 or len(known) == 0:
        return None
    codes = search.codes[node.items][known]
    means = [rows[known[codes == c]].mean(axis=0) for c in np.unique(codes).tolist()]
    some = known[np.linspace(0, len(known) - 1, min(len(known), _CENTRES)).astype(np.intp)]
    best: tuple[float, Sphere] | None = None
    for center in [*means, *rows[some]]:
        full = np.full(search.X.shape[1], np.nan)
        full[columns] = center
        sphere = Sphere(tuple(full.tolist()), 0.0)
        cut = search.best_threshold(node, sphere.score(search.X[node.items]))
        if cut is not None and (best is None or cut[1] > best[0]):
            best = cut[1], replace(sphere, radius=float(cut[0]))
    return None if best is None else search.outcome(node, best[1], search.X[node.items])
