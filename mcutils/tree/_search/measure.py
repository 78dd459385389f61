"""How splits are compared."""

import numpy as np

from ..._typing import Bools, Criterion, Floats, Ints
from ..._weights import in_units
from .._impurity import CRITERIA, impurities
from .._limits import EXACT, TIE


def _in_units(weights: Floats | None) -> tuple[Floats | None, float]:
    """The weights in units of their own, None if all are one; and the unit.

    Whole numbers stay what they are. Of others a tree depends on the proportions only, and in units of a
    power of two nothing is rounded; less than 1e-290 of the largest is taken as this.
    """
    if weights is None or (weights == weights[0]).all():
        return None, 1.0 if weights is None else float(weights[0])
    if weights.sum() <= EXACT and (weights == np.floor(weights)).all():
        return weights, 1.0
    weights, unit = in_units(weights)
    return np.maximum(weights, 2.0**-960), unit


class Measure:
    """How splits are compared: an impurity, on weights."""

    def __init__(
        self, criterion: Criterion, costs: Floats, weights: Floats | None, codes: Ints, k: int
    ) -> None:
        weights, self.unit = _in_units(weights)
        self.criterion, self.costs, self.k = criterion, costs, k
        self.code = -1 if callable(criterion) else CRITERIA.index(criterion)
        if criterion != "misclassification":
            self.costs = np.zeros((0, 0))
        self.weighted = weights is not None
        self.weights = np.zeros(0) if weights is None else weights
        self.total = np.bincount(codes, weights, minlength=k).astype(np.float64)
        size = self.total.sum()
        whole = weights is None or bool((weights == np.floor(weights)).all())
        self.exact = whole and size <= EXACT and len(self.costs) == 0 and self.code >= 0
        self.table, self.scale = np.zeros(0, dtype=np.int64), 1.0
        if self.exact and criterion == "entropy":
            x = np.arange(int(size) + 1, dtype=np.float64)
            x[1:] *= np.log2(x[1:])
            self.scale = 2.0 ** (61 - np.ceil(np.log2(x[-1] + 2)))
            self.table = np.round(x * self.scale).astype(np.int64)

    def impurity(self, counts: Floats) -> float:
        """Of a node; whole counts give a share of mistakes without a rounded difference."""
        if self.criterion == "misclassification" and not len(self.costs):
            return float(np.delete(counts, counts.argmax()).sum() / counts.sum())
        return float(impurities(counts[None] / counts.sum(), self.criterion, self.costs)[0])

    def gain(self, no: Floats, yes: Floats) -> float:
        """The total decrease: that of the impurity, times the weight of the node."""
        from ...jit import tree as jit

        if self.code >= 0:
            decrease: float = jit.decrease(self.code, self.exact, no, yes, self.table, self.scale, self.costs)
            return decrease
        return float(self._gains(no[None], yes[None])[0])

    def _gains(self, no: Floats, yes: Floats) -> Floats:
        """Of rows of counts, by a function of one's own."""
        both = no[:1] + yes[:1]
        size = float(both.sum())
        values = []
        for side in (no, yes):
            sums = np.maximum(side.sum(axis=1), 2.0**-1000)  # rounding may have left nothing
            values.append(sums * impurities(side / sums[:, None], self.criterion, self.costs))
        gains = size * impurities(both / size, self.criterion, self.costs) - values[0] - values[1]
        worst = int(np.argmin(gains))
        if gains[worst] < -1e-8 * size:
            raise ValueError(
                "criterion must be concave: it found "
                f"{(no[worst] / no[worst].sum()).tolist()} and {(yes[worst] / yes[worst].sum()).tolist()} "
                f"together purer than apart, by {-gains[worst] / size:.3g}"
            )
        gains[gains < TIE * size] = 0.0
        return np.asarray(gains)

    def first_best(self, no: Floats, yes: Floats, allowed: Bools) -> tuple[int, float] | None:
        """Of rows of counts the first among the best, and its decrease, by a function of one's own."""
        places = np.flatnonzero(allowed)
        if len(places) == 0:
            return None
        gains = self._gains(no[places], yes[places])
        first = int(np.argmax(gains >= gains.max() - TIE * (no[0] + yes[0]).sum()))
        return int(places[first]), float(gains[first])
