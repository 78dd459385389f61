"""The primal and the dual objective of softmax regression."""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.special import entr
from sklearn.utils import check_array

from .._checks import class_labels, number, reals, squarable, switch
from .._typing import Floats, Ints
from .._weights import example_weights
from ._loss import loss_parts, probability_rows

_EPS = float(np.finfo(np.float64).eps)

# Tables of scores are made for so many entries at a time: a block stays in a cache, and needs little memory.
_ENTRIES = 2**16


def blocks(m: int, k: int) -> Iterator[slice]:
    """The rows of a table, a block after the other."""
    size = max(16, _ENTRIES // k)
    return (slice(start, start + size) for start in range(0, m, size))


class Point(NamedTuple):
    """What a problem says of one classifier."""

    primal: float
    gradient: Floats  # (k, d + bias)
    noise: float  # what rounding may do to the gradient,
    doubt: float  # and to the primal and the dual value together


class Problem:
    """One regularised problem: its scores, derivatives and dual values, of weights (k, d + bias)."""

    def __init__(self, X: Any, y: Ints, k: int, penalties: Floats, bias: bool):
        self.X, self.y, self.k, self.penalties, self.bias = X, y, k, penalties, bias
        self.rows = np.arange(len(y))
        # sizes of the features, and lengths of the inputs when features are measured by them: for rounding
        squares = X.multiply(X) if issparse(X) else X**2
        mean = np.asarray(squares.mean(axis=0), dtype=np.float64).ravel()
        mean[mean == 0] = 1.0
        self.sizes: Floats = np.sqrt(mean)
        self.lengths: Floats = np.sqrt(squares @ (1 / mean))

    def parts(self) -> Iterator[tuple[slice, "Problem"]]:
        """The rows of the examples, block by block, and the problem of these."""
        for rows in blocks(len(self.y), self.k):
            part = copy(self)
            part.X, part.y, part.penalties = self.X[rows], self.y[rows], self.penalties[rows]
            part.rows, part.lengths = self.rows[: len(part.y)], self.lengths[rows]
            yield rows, part

    def scores(self, V: Floats) -> Floats:
        d = self.X.shape[1]
        scores: Floats = self.X @ V[:, :d].T
        return scores + V[:, d] if self.bias else scores

    def gathered(self, R: Floats) -> Floats:
        r""":math:`\sum_i r_i (x_i, 1)^\top`, (k, d + bias)."""
        sums = input_sums(self.X, R)
        return np.column_stack([sums, R.sum(axis=0)]) if self.bias else sums

    def norm(self, V: Floats) -> float:
        W = V[:, : self.X.shape[1]]
        return float(np.vdot(W, W)) / 2

    def primal(self, V: Floats, f: Floats) -> float:
        return self.norm(V) + float(self.penalties @ loss_parts(f, self.y)[0])

    def multipliers(self, others: Floats, missing: Floats) -> Floats:
        r""":math:`C_i (e_{y_i} - q_i)`."""
        multipliers = -others * self.penalties[:, None]
        multipliers[self.rows, self.y] = self.penalties * missing
        return multipliers

    def at(self, V: Floats, keep: Callable[[slice, Floats, Floats], None]) -> Point:
        """The value and the gradient of a classifier. The probabilities of each block of rows, zero at the
        true class, and what the true class lacks to 1, are handed on."""
        k, d = V.shape[0], self.X.shape[1]
        paid, gathered, sums, total = 0.0, np.zeros_like(V), np.zeros(k), np.zeros(k)
        for rows, part in self.parts():
            losses, others, missing = loss_parts(part.scores(V), part.y)
            keep(rows, others, missing)
            paid += float(part.penalties @ losses)
            multipliers = part.multipliers(others, missing)
            gathered += part.gathered(multipliers)
            np.abs(multipliers, out=multipliers)
            sums += part.lengths @ multipliers
            total += multipliers.sum(axis=0)
        gradient = -gathered
        gradient[:, :d] += V[:, :d]
        return Point(self.norm(V) + paid, gradient, *self._rounding(V, sums, total))

    def _rounding(self, V: Floats, sums: Floats, total: Floats) -> tuple[float, float]:
        """What it may do, from the absolute multipliers of each class, with and without the lengths of the
        inputs."""
        d = self.X.shape[1]
        gradient = np.linalg.norm(sums) * np.linalg.norm(self.sizes) + total.sum()
        values = sums @ np.linalg.norm(V[:, :d] * self.sizes, axis=1) + total @ np.abs(V[:, d:]).sum(axis=1)
        return _EPS * float(gradient), _EPS * float(values)

    def excess(self, others: Floats, missing: Floats) -> Floats:
        r""":math:`\sum_i C_i (q_i - e_{y_i})`: what a class gets from the others' examples, less what its own
        give."""
        lost = np.bincount(self.y, weights=self.penalties * missing, minlength=self.k)
        excess: Floats = self.penalties @ others - lost
        return excess

    def dual(self, others: Floats, missing: Floats) -> float:
        """The dual value of probabilities that are balanced, or made so: a lower bound of the primal."""
        if self.bias:
            others, missing = self.balanced(others, missing, self.transfer(self.excess(others, missing)))
        entropy, V = self._dual_terms(others, missing)
        return entropy - self.norm(V)

    def bound(self, V: Floats, excess: Floats) -> float:
        """The dual value of a classifier's probabilities, which exceed by so much what is right."""
        moved, entropy, gathered = self.transfer(excess) if self.bias else None, 0.0, np.zeros_like(V)
        for _, part in self.parts():
            _, others, missing = loss_parts(part.scores(V), part.y)
            if self.bias:
                others, missing = part.balanced(others, missing, moved)
            of_part, sums = part._dual_terms(others, missing)
            entropy, gathered = entropy + of_part, gathered + sums
        return entropy - self.norm(gathered)

    def _dual_terms(self, others: Floats, missing: Floats) -> tuple[float, Floats]:
        """The entropies of probabilities, weighted, and the classifier that they make."""
        with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
            kept = np.where(missing < 1, -(1 - missing) * np.log1p(-missing), 0.0)
        entropy = float(self.penalties @ (entr(others).sum(axis=1) + kept))
        return entropy, self.gathered(self.multipliers(others, missing))

    def transfer(self, excess: Floats) -> tuple[Floats, Floats] | None:
        """Which share of its probabilities a class gives up, and which share of these it gets; None where
        nothing is to be moved."""
        total = np.bincount(self.y, weights=self.penalties, minlength=self.k)
        surplus, lack = np.maximum(excess, 0.0), np.maximum(-excess, 0.0)
        if not (lack.sum() > 0 and surplus.sum() > 0):
            return None
        return surplus / (total + surplus), lack / lack.sum()

    def balanced(
        self, others: Floats, missing: Floats, transfer: tuple[Floats, Floats] | None
    ) -> tuple[Floats, Floats]:
        """Probabilities whose sum over the examples is right for each class, near the given ones.

        Classes with too much give up the same share of every probability; what an example loses by that goes
        to the classes with too little, in the proportions of what they lack. Rows stay on the simplex."""
        if transfer is None:
            return others, missing
        given, share = transfer
        freed = others @ given + (1 - missing) * given[self.y]
        moved = others * (1 - given) + freed[:, None] * share
        moved[self.rows, self.y] = 0.0
        return moved, moved.sum(axis=1)


def _design(
    X: Any, y: ArrayLike, k: int, C: float, sample_weight: ArrayLike | None
) -> tuple[Any, Ints, Floats]:
    points = check_array(X, accept_sparse="csr", dtype=np.float64)
    squarable(points)
    codes = class_labels(y, points.shape[0], k)
    return points, codes, number(C, "C", above=0) * example_weights(sample_weight, len(codes), all_zero=True)


def input_sums(X: Any, R: Floats) -> Floats:
    r""":math:`\sum_i r_i x_i^\top`, (k, d)."""
    sums: Floats = np.asarray(X.T @ R).T if issparse(X) else R.T @ X
    return sums


def objective(
    W: ArrayLike,
    X: Any,
    y: ArrayLike,
    *,
    C: float = 1.0,
    intercept: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r""":math:`\frac12 \|W\|_F^2 + C \sum_i \ell_i`, with the cross-entropy and intercepts that are not
    penalised.

    Parameters
    ----------
    W : (k, d) array-like
    X : (m, d) array-like or sparse matrix
    y : (m,) array-like of int
        Classes, rows of W.
    C : float, default=1.0
    intercept : (k,) array-like, optional
        Intercepts; zero by default.
    sample_weight : (m,) array-like, optional
        Factors of C.

    Returns
    -------
    float

    Examples
    --------
    >>> round(objective([[1.0], [-1.0]], [[0.0], [3.0]], [0, 0]), 4)
    1.6956
    """
    rows = reals(W, "W")
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"W must have a row for each of k >= 2 classes, found shape {rows.shape}")
    points, codes, penalties = _design(X, y, len(rows), C, sample_weight)
    if points.shape[1] != rows.shape[1]:
        raise ValueError(
            f"W must have a column for each of the {points.shape[1]} features, found {rows.shape[1]}"
        )
    b = np.zeros(len(rows)) if intercept is None else reals(intercept, "intercept")
    if b.shape != (len(rows),):
        raise ValueError(f"intercept must be {len(rows)} numbers, found shape {b.shape}")
    problem = Problem(points, codes, len(rows), penalties, True)
    V = np.column_stack([rows, b])
    return problem.primal(V, problem.scores(V))


def dual_objective(
    q: ArrayLike,
    X: Any,
    y: ArrayLike,
    *,
    C: float = 1.0,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""The dual value :math:`\sum_i C H(q_i) - \frac12 \|\sum_i C (e_{y_i} - q_i) x_i^\top\|_F^2`, a lower
    bound.

    No classifier has a smaller :func:`objective`, for whatever probabilities q; with q the softmax of the
    classifier's own scores the two differ by half the squared norm of the objective's gradient.

    Parameters
    ----------
    q : (m, k) array-like
        A probability vector for each example. With intercepts the probabilities of each class must add up to
        the number of its examples (weighted); what is not so by more than 1e-6 of the whole is refused.
    X : (m, d) array-like or sparse matrix
    y : (m,) array-like of int
    C : float, default=1.0
    fit_intercept : bool, default=True
        Whether the bound holds for classifiers with intercepts too.
    sample_weight : (m,) array-like, optional

    Returns
    -------
    float

    Examples
    --------
    >>> X, y = [[-1.0], [1.0]], [0, 1]
    >>> round(dual_objective([[0.75, 0.25], [0.25, 0.75]], X, y), 4)
    0.8747
    >>> round(objective([[-0.5], [0.5]], X, y), 4)
    0.8765
    """
    rows = probability_rows(q, "q")
    k = rows.shape[1]
    points, codes, penalties = _design(X, y, k, C, sample_weight)
    if len(codes) != len(rows):
        raise ValueError(f"q must have a row for each of the {len(codes)} examples, found {len(rows)}")
    fit_intercept = switch(fit_intercept, "fit_intercept")
    problem = Problem(points, codes, k, penalties, fit_intercept)
    others = rows / rows.sum(axis=1, keepdims=True)
    others[problem.rows, codes] = 0.0
    missing = others.sum(axis=1)
    if fit_intercept:
        excess = problem.excess(others, missing)
        if np.abs(excess).max() > 1e-6 * penalties.sum():
            raise ValueError(
                "with intercepts the probabilities of each class must add up to its examples' weight, "
                f"found that, times C, they exceed it by {excess.tolist()}"
            )
    return problem.dual(others, np.minimum(missing, 1.0))
