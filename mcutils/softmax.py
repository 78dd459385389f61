r"""Softmax: class probabilities out of scores, how to learn them, and how to check what they are worth.

Scores :math:`f_1, \dots, f_k` become probabilities :math:`q_y = e^{f_y} / \sum_r e^{f_r}`. Their loss is the
*cross-entropy* :math:`\ell = -\log q_y = \log \sum_r e^{f_r - f_y}` of the true class y (def-softmax-loss);
with two classes it is the logistic loss of the margin :math:`f_y - f_r`. Softmax regression minimises

.. math:: \tfrac12 \|W\|_F^2 + C \sum_i \ell_i, \qquad f_y(x) = \langle w_y, x \rangle + b_y ,

with :math:`\lambda = 1/(mC)` in the other notation. The loss is a maximum over probability vectors,
:math:`\ell = \max_q \langle q - e_y, f \rangle + H(q)` with the entropy :math:`H(q) = -\sum_r q_r \log q_r`,
and so the dual maximises

.. math:: \sum_i C H(q_i) - \tfrac12 \|V\|_F^2, \qquad V = \sum_i C (e_{y_i} - q_i) x_i^\top,

over one probability vector :math:`q_i` for each example; with intercepts, over those with
:math:`\sum_i C (e_{y_i} - q_i) = 0`. It certifies every machine here.

The other half of the module makes probabilities for machines that have only scores (:func:`temperature`,
:func:`pairwise_coupling`, :class:`WithProbabilities`), and judges probabilities wherever they come from
(:func:`reliability`, :func:`brier`, :func:`log_loss`).

Classes in arguments of functions are rows of W, from 0; estimators take any labels. Ties go to the smallest
class.

>>> import numpy as np
>>> from mcutils import softmax
>>> softmax.softmax([[0.0, np.log(3.0)]]).round(4)
array([[0.25, 0.75]])
>>> float(softmax.cross_entropy([[0.0, -50.0]], [0])[0])  # tiny, and right in all digits
1.9287498479639178e-22
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import issparse
from scipy.special import entr, expit, ndtri
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import Tags, check_array, check_consistent_length, get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._checks import integer, jobs, one_of, seed, switch
from ._reduction import selectable
from ._weights import example_weights, refuse_idle, times_class_weight
from .certificate import Certificate
from .reduction import pairs

__all__ = [
    "Coupling",
    "Reliability",
    "SoftmaxRegression",
    "Temperature",
    "WithProbabilities",
    "brier",
    "cross_entropy",
    "cross_entropy_gradient",
    "cross_entropy_hessian_product",
    "dual_objective",
    "log_loss",
    "log_softmax",
    "objective",
    "pairwise_coupling",
    "reliability",
    "softmax",
    "temperature",
]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# A Newton step is preconditioned by the Hessian's diagonal, or by a Cholesky factor of its block of each
# class: by these up to so many features of a dense X, if they take no more than so many multiplications, or
# else from the first step on in which the diagonal has taken as much time as they would take.
_BLOCK_FEATURES, _QUICK = 200, 2e8
# A dense X is rotated first if that takes no more time than so many products with the Hessian.
_ROTATION = 20
# Most products with the Hessian in a Newton step.
_PRODUCTS = 500
# What WithProbabilities keeps a pair's probability away from 0 and 1, as LIBSVM does.
_LEAST_PAIR = 1e-7


# ---------------------------------------------------------------------------------------------------
# The loss as a function of the scores


def _table(values: ArrayLike, name: str) -> Floats:
    """A finite matrix with at least 2 columns, a row for each example."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] < 2:
        raise ValueError(
            f"{name} must be a matrix with a column for each of k >= 2 classes, found shape {found.shape}"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite, found {found[~np.isfinite(found)][0]}")
    with np.errstate(over="ignore"):
        if not np.isfinite(np.ptp(found, axis=1)).all():
            raise ValueError(f"{name} must have finite differences in each row, found some that overflow")
    return found


def _codes(y: ArrayLike, m: int, k: int) -> Ints:
    """Classes 0 to k-1, one for each example."""
    found = np.asarray(y)
    if found.shape != (m,):
        raise ValueError(f"y must be one class for each of the {m} examples, found shape {found.shape}")
    if m and (found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= k):
        raise ValueError(f"y must be integers from 0 to {k - 1}, found {np.unique(found)[:6].tolist()}")
    return found.astype(np.intp)


def _probabilities(values: ArrayLike, name: str = "probabilities") -> Floats:
    """Rows on the simplex, up to rounding."""
    found = _table(values, name)
    if found.size and (found.min() < 0 or np.abs(found.sum(axis=1) - 1).max() > 1e-6):
        worst = int(np.argmax(np.maximum(-found.min(axis=1), np.abs(found.sum(axis=1) - 1))))
        raise ValueError(
            f"{name} must have rows of numbers >= 0 with sum 1, found the row {found[worst].tolist()}"
        )
    return found


def _rest(f: Floats) -> tuple[Floats, Floats]:
    """Scores less their largest; and the sum of the exponentials without that one, whose exponential is 1."""
    with np.errstate(over="ignore", under="ignore"):
        below = f - f.max(axis=1, keepdims=True)
        powers = np.exp(below)
    np.put_along_axis(powers, f.argmax(axis=1)[:, None], 0.0, axis=1)
    return below, powers.sum(axis=1, keepdims=True)


def log_softmax(scores: ArrayLike) -> Floats:
    r""":math:`\log q_y = f_y - \log \sum_r e^{f_r}`, without overflow; exact where :math:`q_y` is almost 1.

    Parameters
    ----------
    scores : (n, k) array-like
        :math:`f_y(x_i)`.

    Returns
    -------
    (n, k) array

    Examples
    --------
    >>> log_softmax([[1000.0, 0.0]])
    array([[    0., -1000.]])
    """
    below, rest = _rest(_table(scores, "scores"))
    found: Floats = below - np.log1p(rest)
    return found


def softmax(scores: ArrayLike) -> Floats:
    r"""Probabilities :math:`q_y = e^{f_y} / \sum_r e^{f_r}` (def-softmax-loss), without overflow.

    Parameters
    ----------
    scores : (n, k) array-like
        :math:`f_y(x_i)`. A number added to all scores of an example changes nothing.

    Returns
    -------
    (n, k) array

    Examples
    --------
    >>> softmax([[1000.0, 1000.0], [0.0, -2000.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    below, rest = _rest(_table(scores, "scores"))
    with np.errstate(under="ignore"):
        found: Floats = np.exp(below) / (1 + rest)
    return found


def _pieces(f: Floats, y: Ints) -> tuple[Floats, Floats, Floats]:
    """Losses; probabilities, zero at the true class; and what the true class lacks to 1. All to full
    precision."""
    places = y[:, None]
    with np.errstate(over="ignore", under="ignore"):
        z = f - np.take_along_axis(f, places, axis=1)
        top = z.max(axis=1)
        others = np.exp(z - top[:, None])
        own = np.exp(-top)
        np.put_along_axis(others, places, 0.0, axis=1)
        rest = others.sum(axis=1)
        total = rest + own
        losses = np.where(top > 0, top + np.log(total), np.log1p(rest))
        others /= total[:, None]
    return losses, others, rest / total


def cross_entropy(scores: ArrayLike, y: ArrayLike) -> Floats:
    r"""The loss :math:`\ell = \log \sum_r e^{f_r - f_y} = -\log q_y` of each example (def-softmax-loss).

    It is convex in the scores (prop-softmax-convex), positive, and at least :math:`\log 2` where the true
    class does not have the only largest score.

    Parameters
    ----------
    scores : (m, k) array-like
    y : (m,) array-like of int
        True classes, 0 to k-1.

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> cross_entropy([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], [1, 0]).round(4)
    array([1.0986, 0.2395])
    """
    f = _table(scores, "scores")
    return _pieces(f, _codes(y, *f.shape))[0]


def cross_entropy_gradient(scores: ArrayLike, y: ArrayLike) -> Floats:
    r"""The gradient :math:`q - e_y` of the loss with respect to the scores (prop-softmax-gradient).

    Parameters
    ----------
    scores : (m, k) array-like
    y : (m,) array-like of int

    Returns
    -------
    (m, k) array
        Each row has the sum 0.

    Examples
    --------
    >>> cross_entropy_gradient([[0.0, 0.0]], [1])
    array([[ 0.5, -0.5]])
    """
    f = _table(scores, "scores")
    codes = _codes(y, *f.shape)
    _, found, missing = _pieces(f, codes)
    found[np.arange(len(f)), codes] = -missing
    return found


def cross_entropy_hessian_product(scores: ArrayLike, directions: ArrayLike) -> Floats:
    r"""The Hessian :math:`\operatorname{diag}(q) - q q^\top` of the loss, times a direction for each example.

    It does not depend on the true class, and is positive semidefinite (prop-softmax-convex): the direction v
    has the second derivative :math:`\sum_r q_r v_r^2 - (\sum_r q_r v_r)^2`, the variance of v under q.

    Parameters
    ----------
    scores : (m, k) array-like
    directions : (m, k) array-like

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> cross_entropy_hessian_product([[0.0, 0.0]], [[1.0, -1.0]])
    array([[ 0.5, -0.5]])
    """
    f, v = _table(scores, "scores"), _table(directions, "directions")
    if v.shape != f.shape:
        raise ValueError(f"directions must have the shape {f.shape} of scores, found {v.shape}")
    return _bend(softmax(f), v)


def _bend(q: Floats, v: Floats) -> Floats:
    found: Floats = q * (v - (q * v).sum(axis=1, keepdims=True))
    return found


# ---------------------------------------------------------------------------------------------------
# Softmax regression: primal, dual, and Newton's method


class _Problem:
    """One regularised problem: its scores, derivatives and dual values. A machine is a (k, d + bias)
    array."""

    def __init__(self, X: Any, y: Ints, k: int, prices: Floats, bias: bool):
        self.X, self.y, self.k, self.prices, self.bias = X, y, k, prices, bias
        self.rows = np.arange(len(y))
        # sizes of the features, and lengths of the inputs when features are measured by them: for rounding
        squares = X.multiply(X) if issparse(X) else X**2
        mean = np.asarray(squares.mean(axis=0), dtype=np.float64).ravel()
        mean[mean == 0] = 1.0
        self.sizes: Floats = np.sqrt(mean)
        self.lengths: Floats = np.sqrt(squares @ (1 / mean))

    def scores(self, V: Floats) -> Floats:
        d = self.X.shape[1]
        found: Floats = self.X @ V[:, :d].T
        return found + V[:, d] if self.bias else found

    def gathered(self, R: Floats) -> Floats:
        r""":math:`\sum_i r_i (x_i, 1)^\top`, (k, d + bias)."""
        found = _columns(self.X, R)
        return np.column_stack([found, R.sum(axis=0)]) if self.bias else found

    def norm(self, V: Floats) -> float:
        W = V[:, : self.X.shape[1]]
        return float(np.vdot(W, W)) / 2

    def primal(self, V: Floats, f: Floats) -> float:
        return self.norm(V) + float(self.prices @ _pieces(f, self.y)[0])

    def multipliers(self, others: Floats, missing: Floats) -> Floats:
        r""":math:`C_i (e_{y_i} - q_i)`."""
        found = -others * self.prices[:, None]
        found[self.rows, self.y] = self.prices * missing
        return found

    def rounding(self, V: Floats, multipliers: Floats) -> tuple[float, float]:
        """What rounding may do to the gradient, and to the primal and the dual value together."""
        d = self.X.shape[1]
        moved = np.abs(multipliers)
        sums, total = self.lengths @ moved, moved.sum(axis=0)
        gradient = np.linalg.norm(sums) * np.linalg.norm(self.sizes) + total.sum()
        values = sums @ np.linalg.norm(V[:, :d] * self.sizes, axis=1) + total @ np.abs(V[:, d:]).sum(axis=1)
        return _EPS * float(gradient), _EPS * float(values)

    def excess(self, others: Floats, missing: Floats) -> Floats:
        r""":math:`\sum_i C_i (q_i - e_{y_i})`: what a class gets from the others' examples, less what its own
        give."""
        lost = np.bincount(self.y, weights=self.prices * missing, minlength=self.k)
        found: Floats = self.prices @ others - lost
        return found

    def dual(self, others: Floats, missing: Floats) -> float:
        """The dual value of probabilities that are balanced, or made so: a lower bound of the primal."""
        if self.bias:
            others, missing = self.balanced(others, missing)
        with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
            kept = np.where(missing < 1, -(1 - missing) * np.log1p(-missing), 0.0)
        V = self.gathered(self.multipliers(others, missing))
        return float(self.prices @ (entr(others).sum(axis=1) + kept)) - self.norm(V)

    def balanced(self, others: Floats, missing: Floats) -> tuple[Floats, Floats]:
        """Probabilities whose sum over the examples is right for each class, near the given ones.

        Classes with too much give up the same share of every probability; what an example loses by that goes
        to the classes with too little, in the proportions of what they lack. Rows stay on the simplex."""
        excess = self.excess(others, missing)
        total = np.bincount(self.y, weights=self.prices, minlength=self.k)
        surplus, lack = np.maximum(excess, 0.0), np.maximum(-excess, 0.0)
        if not (lack.sum() > 0 and surplus.sum() > 0):
            return others, missing
        given = surplus / (total + surplus)
        freed = others @ given + (1 - missing) * given[self.y]
        found = others * (1 - given) + freed[:, None] * (lack / lack.sum())
        found[self.rows, self.y] = 0.0
        return found, found.sum(axis=1)


def _design(
    X: Any, y: ArrayLike, k: int, C: float, sample_weight: ArrayLike | None
) -> tuple[Any, Ints, Floats]:
    points = check_array(X, accept_sparse="csr", dtype=np.float64)
    codes = _codes(y, points.shape[0], k)
    return points, codes, _positive("C", C) * example_weights(sample_weight, len(codes), all_zero=True)


def _positive(name: str, value: Any) -> float:
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not number or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive finite number, found {value!r}")
    return float(value)


def objective(
    W: ArrayLike,
    X: Any,
    y: ArrayLike,
    *,
    C: float = 1.0,
    bias: ArrayLike | None = None,
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
    bias : (k,) array-like, optional
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
    rows = np.asarray(W, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise ValueError(f"W must have a finite row for each of k >= 2 classes, found shape {rows.shape}")
    points, codes, prices = _design(X, y, len(rows), C, sample_weight)
    if points.shape[1] != rows.shape[1]:
        raise ValueError(
            f"W must have a column for each of the {points.shape[1]} features, found {rows.shape[1]}"
        )
    b = np.zeros(len(rows)) if bias is None else np.asarray(bias, dtype=np.float64)
    if b.shape != (len(rows),) or not np.isfinite(b).all():
        raise ValueError(f"bias must be {len(rows)} finite numbers, found {bias!r}")
    problem = _Problem(points, codes, len(rows), prices, True)
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

    No machine has a smaller :func:`objective`, for whatever probabilities q; with q the softmax of the
    machine's own scores the two differ by half the squared norm of the objective's gradient.

    Parameters
    ----------
    q : (m, k) array-like
        A probability vector for each example. With intercepts the probabilities of each class must add up to
        the number of its examples (weighted); what is not so by more than 1e-6 of the whole is refused.
    X : (m, d) array-like or sparse matrix
    y : (m,) array-like of int
    C : float, default=1.0
    fit_intercept : bool, default=True
        Whether the bound holds for machines with intercepts too.
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
    found = _probabilities(q, "q")
    k = found.shape[1]
    points, codes, prices = _design(X, y, k, C, sample_weight)
    if len(codes) != len(found):
        raise ValueError(f"q must have a row for each of the {len(codes)} examples, found {len(found)}")
    fit_intercept = switch(fit_intercept, "fit_intercept")
    problem = _Problem(points, codes, k, prices, fit_intercept)
    others = found / found.sum(axis=1, keepdims=True)
    others[problem.rows, codes] = 0.0
    missing = others.sum(axis=1)
    if fit_intercept:
        excess = problem.excess(others, missing)
        if np.abs(excess).max() > 1e-6 * prices.sum():
            raise ValueError(
                "with intercepts the probabilities of each class must add up to its examples' weight, "
                f"found that, times C, they exceed it by {excess.tolist()}"
            )
    return problem.dual(others, np.minimum(missing, 1.0))


@dataclass
class _Found:
    """A machine with its best lower bound."""

    V: Floats
    primal: float
    dual: float
    stationarity: float
    balance: float
    n_steps: int

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / max(1.0, abs(self.primal))


def _minimise(problem: _Problem, V: Floats, tol: float, max_iter: int) -> _Found:
    """Newton's method with conjugate gradients, from the machine V, until the gap is at most tol."""
    d = problem.X.shape[1]
    penalised = np.zeros_like(V)
    penalised[:, :d] = 1.0
    axes = _axes(problem)
    few = axes is not None and d <= _BLOCK_FEATURES
    quick = len(problem.y) * d**2 * problem.k <= _QUICK
    preconditioner = _Blocks(axes) if axes is not None and few and quick else _Diagonal(problem, axes)

    V = V - V.mean(axis=0)  # the same vector added to all classes changes no probability
    f = problem.scores(V)
    dual, best, stalled, first, flat = -np.inf, np.inf, 0, 0.0, False
    for step in range(max_iter + 1):
        losses, others, missing = _pieces(f, problem.y)
        multipliers = problem.multipliers(others, missing)
        now = problem.norm(V) + float(problem.prices @ losses)
        gradient = penalised * V - problem.gathered(multipliers)
        noise, doubt = problem.rounding(V, multipliers)
        dual = max(dual, problem.dual(others, missing) - doubt)
        slope = float(np.linalg.norm(gradient))
        first = first or slope
        found = _Found(
            V,
            now,
            dual,
            float(np.linalg.norm(gradient[:, :d])),
            float(np.abs(gradient[:, d:]).max(initial=0.0)),
            step,
        )
        stalled = 0 if found.gap < best / 2 else stalled + 1
        best = min(best, found.gap)
        # nothing more is to be had: only rounding is left of the gradient, or of the decrease for many steps
        spent = slope == 0 or (stalled >= 4 and slope <= noise) or (stalled >= 12 and flat)
        if found.gap <= tol or step == max_iter or spent:
            break

        q = others.copy()
        q[problem.rows, problem.y] = 1 - missing
        bends = q * (1 - q)
        bends[problem.rows, problem.y] = (1 - missing) * missing
        bends *= problem.prices[:, None]
        preconditioner.update(bends)

        def bend(D: Floats, q: Floats = q) -> Floats:
            v = problem.scores(D)
            v -= v[problem.rows, problem.y][:, None]  # so that a true class of probability 1 costs no digits
            return penalised * D + problem.gathered(_bend(q, v) * problem.prices[:, None])

        accuracy = min(0.1, slope / first)
        # a product takes 4 m d k operations, the factors of all blocks take 2 m d^2 k
        doubtful = few and isinstance(preconditioner, _Diagonal)
        exact, most = (accuracy / 2, d // 2) if doubtful else (accuracy, _PRODUCTS)
        D, solved = _conjugate_gradients(bend, preconditioner, -gradient, exact, most)
        if axes is not None and doubtful and not solved:
            preconditioner = _Blocks(axes)  # from now on
            preconditioner.update(bends)
            D, _ = _conjugate_gradients(bend, preconditioner, -gradient, accuracy, _PRODUCTS)
        decrease = -float(np.vdot(gradient, D))
        ahead = problem.scores(D)
        # on a line the norm is a parabola and the scores are linear: no further product with X
        t, flat = 1.0, decrease <= 1e-12 * max(1.0, abs(now))
        while not flat and t > 1e-12:
            if problem.primal(V + t * D, f + t * ahead) <= now - 1e-4 * t * decrease:
                break
            t /= 2
        V = V + t * D
        f = problem.scores(V)
    return found


class _Axes:
    """Other coordinates of dense inputs, in which the Hessian's blocks of the classes are far from singular
    even if the features are not centred or almost dependent: the inputs are centred, which moves the
    intercept, and rotated to their principal axes."""

    def __init__(self, problem: _Problem):
        X, prices = problem.X, problem.prices
        self.d, self.bias = X.shape[1], problem.bias
        self.centre = prices @ X / prices.sum() if self.bias else np.zeros(self.d)
        moved = X - self.centre
        triangle = np.linalg.qr(np.sqrt(prices)[:, None] * moved, mode="r")
        self.axes = np.linalg.svd(triangle, full_matrices=True)[2].T
        self.X = moved @ self.axes

    def turned(self, R: Floats) -> Floats:
        """A gradient in these coordinates."""
        d, found = self.d, R.copy()
        found[:, :d] = (R[:, :d] - R[:, d:] * self.centre if self.bias else R) @ self.axes
        return found

    def back(self, R: Floats) -> Floats:
        """The machine that is R in these coordinates."""
        d, found = self.d, R.copy()
        found[:, :d] = R[:, :d] @ self.axes.T
        if self.bias:
            found[:, d] -= found[:, :d] @ self.centre
        return found


def _axes(problem: _Problem) -> _Axes | None:
    """The principal axes, for few dense features, or if they cost little."""
    if issparse(problem.X):
        return None
    m, d = problem.X.shape
    # QR and singular values take 2 m d^2 + 20 d^3 operations, a product takes 4 m d k
    cheap = 2 * m * d + 20 * d**2 <= _ROTATION * 4 * m * problem.k
    return _Axes(problem) if d <= _BLOCK_FEATURES or cheap else None


class _Diagonal:
    """The inverse of the Hessian's diagonal, with the inputs centred for each class, which moves its
    intercept."""

    def __init__(self, problem: _Problem, axes: _Axes | None):
        self.axes, self.bias = axes, problem.bias
        self.X = X = problem.X if axes is None else axes.X
        self.d = X.shape[1]
        self.squares = X.multiply(X).tocsr() if issparse(X) else X**2

    def update(self, bends: Floats) -> None:
        self.own = bends.sum(axis=0)[:, None] + 1e-300
        self.centre = np.zeros((bends.shape[1], self.d))
        if self.bias:
            self.centre = _columns(self.X, bends) / self.own
        second = _columns(self.squares, bends)
        self.diagonal = 1.0 + np.maximum(second - self.own * self.centre**2, 0.0)

    def __call__(self, R: Floats) -> Floats:
        d = self.d
        R = R if self.axes is None else self.axes.turned(R)
        solved = R.copy()
        if self.bias:
            solved[:, :d] -= R[:, d:] * self.centre
        solved[:, :d] /= self.diagonal
        if self.bias:
            solved[:, d:] = R[:, d:] / self.own - (solved[:, :d] * self.centre).sum(axis=1, keepdims=True)
        if self.axes is not None:
            solved = self.axes.back(solved)
        solved -= solved.mean(axis=0)
        return solved


def _columns(X: Any, R: Floats) -> Floats:
    r""":math:`\sum_i r_i x_i^\top`, (k, d)."""
    found: Floats = np.asarray(X.T @ R).T if issparse(X) else R.T @ X
    return found


class _Blocks:
    """Inverses of the Hessian's blocks of the classes, for few dense features."""

    def __init__(self, axes: _Axes):
        self.axes, self.d = axes, axes.d
        self.columns = np.column_stack([axes.X, np.ones((len(axes.X), int(axes.bias)))])

    def update(self, bends: Floats) -> None:
        self.factors = []
        for weight in bends.T:
            block = self.columns.T @ (weight[:, None] * self.columns)
            block[np.diag_indices(self.d)] += 1.0
            diagonal = np.diag(block)
            unit = np.sqrt(np.maximum(diagonal, 1e-30 * diagonal.max() + 1e-300))
            block = block / unit[:, None] / unit
            block[np.diag_indices(len(block))] += 1e-12
            try:
                factor = cho_factor(block, lower=True)
            except LinAlgError:  # only by rounding
                factor = cho_factor(np.eye(len(block)), lower=True)
            self.factors.append((factor, unit))

    def __call__(self, R: Floats) -> Floats:
        turned = self.axes.turned(R)
        for row, (factor, unit) in zip(turned, self.factors, strict=True):
            row[:] = cho_solve(factor, row / unit) / unit
        solved = self.axes.back(turned)
        solved -= solved.mean(axis=0)
        return solved


def _conjugate_gradients(
    product: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    target: Floats,
    accuracy: float,
    most: int,
) -> tuple[Floats, bool]:
    """A direction that solves product(D) = target to an accuracy, and never an ascent; whether it was reached
    within so many products."""
    D = np.zeros_like(target)
    R = target.copy()
    Z = precondition(R)
    P = Z.copy()
    size = float(np.vdot(R, Z))
    goal, solved = accuracy**2 * size, False
    for _ in range(most):
        if not size > 0:
            break
        bent = product(P)
        curvature = float(np.vdot(P, bent))
        if not curvature > 0:
            break
        D += size / curvature * P
        R -= size / curvature * bent
        Z = precondition(R)
        before, size = size, float(np.vdot(R, Z))
        solved = size <= goal
        if solved:
            break
        P = Z + size / before * P
    return (D if D.any() else Z), solved


class SoftmaxRegression(ClassifierMixin, BaseEstimator):
    r"""Softmax regression: the linear machine of least cross-entropy (def-softmax-loss), solved to a
    certified gap.

    It minimises :math:`\frac12 \|W\|_F^2 + \sum_i C_i \ell_i`, where :math:`C_i` is C times the weight of the
    example and of its class; intercepts are not penalised. For three classes or more that is scikit-learn's
    ``LogisticRegression(C=C)``. For two classes there are still two rows, :math:`w_1 = -w_2` at the minimum,
    and this is ``LogisticRegression(C=2 * C)``, whose one weight vector is :math:`w_2 - w_1`.

    Parameters
    ----------
    C : float, default=1.0
        The price of the losses, positive and finite; :math:`\lambda = 1/(mC)`.
    fit_intercept : bool, default=True
        Whether each class has an intercept.
    tol : float, default=1e-9
        How far primal and dual may be apart, relative to the primal (and at least 1).
    max_iter : int, default=100
        The most Newton steps; each has up to 600 products with X.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    warm_start : bool, default=False
        Begin with the machine of the last :meth:`fit`, if it had the same classes and number of features.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    coef_ : (k, d) array
        W, with rows that add up to 0; two rows for two classes.
    intercept_ : (k,) array
        b, with the sum 0; zeros without intercepts.
    certificate_ : Certificate
        Primal value, and the dual value of the machine's probabilities, balanced where there are intercepts,
        less what rounding can be expected to add; in ``kkt`` the norm of the gradient in W ("stationarity")
        and the largest entry of that in b ("balance").
    converged_ : bool
        Whether the gap is at most ``tol``.
    n_iter_ : int
        Newton steps, at least 1.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Newton's method, its steps solved by conjugate gradients. Memory is proportional to X, to the scores and
    to W (with up to 200 dense features also to a d × d matrix for each class, where that saves time). Sparse
    matrices stay sparse.
    Features need not be centred or scaled for the sake of the solver; but where they vary by less than 1e-6
    of their size, rounding may keep the gap above ``tol``, which is then said.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SoftmaxRegression().fit(X, y)
    >>> machine.converged_, round(machine.certificate_.primal, 4)
    (True, 28.8863)
    >>> machine.predict_proba(X[:1]).round(3)
    array([[0.982, 0.018, 0.   ]])
    """

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the machine.

        Parameters
        ----------
        X : (m, d) array-like or sparse matrix
        y : (m,) array-like
            Labels of any type that can be sorted, of at least two classes.
        sample_weight : (m,) array-like, optional
            Factors of C, at least 0. An example of weight 0 is ignored.

        Returns
        -------
        SoftmaxRegression
        """
        price = _positive("C", self.C)
        tol = _positive("tol", self.tol)
        if (
            isinstance(self.max_iter, bool)
            or not isinstance(self.max_iter, (int, np.integer))
            or self.max_iter < 1
        ):
            raise ValueError(f"max_iter must be an integer, at least 1, found {self.max_iter!r}")
        fit_intercept = switch(self.fit_intercept, "fit_intercept")
        before = None
        if switch(self.warm_start, "warm_start") and hasattr(self, "coef_"):
            before = self.classes_, np.column_stack([self.coef_, self.intercept_])
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        k, d = len(self.classes_), X.shape[1]
        if k < 2:
            raise ValueError(f"y must have at least 2 classes, found {k} class: {self.classes_.tolist()}")
        prices = price * _factors(self.classes_, codes, self.class_weight, sample_weight)

        V = np.zeros((k, d + fit_intercept))
        if before and before[1].shape[1] == d + 1 and np.array_equal(before[0], self.classes_):
            V[:] = before[1][:, : V.shape[1]]
        problem = _Problem(X, codes, k, prices, fit_intercept)
        found = _minimise(problem, V, tol, int(self.max_iter))
        V = found.V - found.V.mean(axis=0)
        self.coef_ = np.ascontiguousarray(V[:, :d])
        self.intercept_ = V[:, d].copy() if fit_intercept else np.zeros(k)
        self.certificate_ = Certificate(
            found.primal,
            found.dual,
            kkt={"stationarity": found.stationarity, "balance": found.balance},
            n_iter=found.n_steps,
        )
        self.converged_ = self.certificate_.certifies(tol)
        self.n_iter_ = max(1, found.n_steps)
        if not self.converged_:
            warnings.warn(
                f"softmax regression has not converged to tol={tol:g} in {found.n_steps} steps: "
                f"the relative gap is {self.certificate_.gap:.3g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        found: Floats = X @ self.coef_.T + self.intercept_
        return found

    def decision_function(self, X: Any) -> Floats:
        r"""Scores :math:`f_y(x)` of all classes.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n, k) array
            For two classes (n,), as everywhere in scikit-learn: the log-odds :math:`f_2 - f_1` of the second
            class.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`, exact where these are almost 0 or 1.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n, k) array
        """
        return log_softmax(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        """The :func:`softmax` of the scores.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n, k) array
        """
        return softmax(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the largest score; of several, the first.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n,) array
        """
        values = self.decision_function(X)
        winner = values > 0 if values.ndim == 1 else values.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner.astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _factors(
    classes: NDArray[Any],
    codes: Ints,
    class_weight: Any,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Weight of each example, that of its class included; no class may weigh nothing."""
    factors = times_class_weight(example_weights(sample_weight, len(codes)), class_weight, classes, codes)
    refuse_idle(factors, classes, codes)
    return factors


# ---------------------------------------------------------------------------------------------------
# Probabilities out of scores


@dataclass(frozen=True)
class Temperature:
    r"""The temperature of some scores; see :func:`temperature`.

    Attributes
    ----------
    temperature : float
        T. 0 where the loss decreases for ever as the scores grow, infinite where it is least without them.
    before : float
        Mean loss at :math:`T = 1`, with smoothed targets if they were asked for.
    loss : float
        Mean loss at T, likewise.
    certificate : Certificate
        The loss, and a lower bound of it over all T.
    """

    temperature: float
    before: float
    loss: float
    certificate: Certificate

    def probabilities(self, scores: ArrayLike) -> Floats:
        r"""The softmax of :math:`f / T`; at :math:`T = 0` all classes of the largest score share 1.

        Parameters
        ----------
        scores : (n, k) array-like

        Returns
        -------
        (n, k) array
        """
        f = _table(scores, "scores")
        below = f - f.max(axis=1, keepdims=True)
        if self.temperature == 0:
            found: Floats = (below == 0) / (below == 0).sum(axis=1, keepdims=True)
            return found
        with np.errstate(over="ignore", under="ignore"):
            powers: Floats = np.exp(below / self.temperature)
        powers /= powers.sum(axis=1, keepdims=True)
        return powers


def temperature(
    scores: ArrayLike, y: ArrayLike, *, smooth: bool = False, sample_weight: ArrayLike | None = None
) -> Temperature:
    r"""The temperature T of least mean cross-entropy of the scores :math:`f / T` (def-softmax-temperature).

    The loss is convex in :math:`1/T`, and T is found between 0 and infinity, both included. It never changes
    which class has the largest score. Choose it on examples that the scores were not trained on.

    Parameters
    ----------
    scores : (m, k) array-like
    y : (m,) array-like of int
        True classes, 0 to k-1.
    smooth : bool, default=False
        Whether an example counts as :math:`(m + 1)/(m + 2)` of its class, and the rest in equal parts as the
        others, m being the sum of the weights. That is the share of right answers that Laplace's rule expects
        after m right answers of m, and T is positive even if there are no mistakes.
    sample_weight : (m,) array-like, optional

    Returns
    -------
    Temperature
        T is 1 by convention if it makes no difference, all scores of every example being equal.

    Examples
    --------
    >>> scores = [[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]]  # says 0.982
    >>> found = temperature(scores, [0, 0, 0, 1])  # is right with 3 of 4
    >>> round(found.temperature, 4), found.probabilities(scores[:1]).round(4)
    (3.641, array([[0.75, 0.25]]))
    """
    f = _table(scores, "scores")
    m, k = f.shape
    codes = _codes(y, m, k)
    weights = example_weights(sample_weight, m, all_zero=True)
    if not weights.sum() > 0:
        raise ValueError("temperature needs at least one example of positive weight")
    f, codes, weights = f[weights > 0], codes[weights > 0], weights[weights > 0]
    m, share = len(f), weights / weights.sum()
    targets = np.zeros((m, k))
    part = 1 / (weights.sum() + 2) if switch(smooth, "smooth") else 0.0
    targets += part / (k - 1)
    targets[np.arange(m), codes] = 1 - part
    below = f - f.max(axis=1, keepdims=True)
    unit = float(np.abs(below).max())

    def value(factor: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            terms = np.where(targets > 0, -targets * log_softmax(below * factor), 0.0)
        return float(share @ terms.sum(axis=1))

    before = value(1.0)
    if unit == 0:
        return Temperature(1.0, before, before, Certificate(before, before))
    below /= unit
    before = value(unit)

    def slope(beta: float) -> tuple[float, float]:
        """First and second derivative of the loss."""
        q = softmax(beta * below)
        mean = (q * below).sum(axis=1)
        spread = (q * (below - mean[:, None]) ** 2).sum(axis=1)
        return float(share @ (mean - (targets * below).sum(axis=1))), float(share @ spread)

    least = -float(share @ (targets * below).sum(axis=1))  # the slope as beta tends to infinity
    if least == 0:
        tied = float(share @ np.log((below == 0).sum(axis=1)))
        return Temperature(0.0, before, tied, Certificate(tied, tied))
    if slope(0.0)[0] >= 0:
        flat = float(np.log(k))
        return Temperature(np.inf, before, flat, Certificate(flat, flat))

    # the slope changes its sign between low and high
    low, high = 0.0, 1.0
    while slope(high)[0] < 0 and high < 1e300:
        low, high = high, 2 * high
    beta = high
    for _ in range(200):
        first, second = slope(beta)
        low, high = (beta, high) if first < 0 else (low, beta)
        if first == 0 or high - low <= 2 * _EPS * high:
            break
        step = beta - first / second if second > 0 else np.nan
        if not low < step < high:
            step = (low + high) / 2
        elif abs(step - beta) <= 1e-12 * beta:
            # nothing left to gain: close the interval round the solution
            inside = step * (1 + (2e-12 if first < 0 else -2e-12))
            step = inside if low < inside < high else (low + high) / 2
        beta = step
    loss = value(beta)
    # tangents at both ends lie below a convex function: so does their intersection
    at_low, at_high = slope(low)[0], slope(high)[0]
    reach = at_low * (high - low) if at_low < 0 else 0.0
    bound = max(value(low) + reach, value(high) - max(at_high, 0.0) * (high - low))
    return Temperature(unit / beta, before, loss, Certificate(loss, min(bound, loss)))


@dataclass(frozen=True, eq=False)
class Coupling:
    r"""Probabilities of classes out of those of pairs; see :func:`pairwise_coupling`.

    Attributes
    ----------
    probabilities : (n, k) array
        p.
    residual : (n,) array
        How far each row is from the fixed point: :math:`p^\top Q p - \min_y (Qp)_y`, which bounds what
        :math:`\frac12 p^\top Q p` is above its minimum, for "wu-lin-weng"; and
        :math:`\max_y |\sum_r (\mu_{yr} - r_{yr})|` for "hastie-tibshirani".
    """

    probabilities: Floats
    residual: Floats


def pairwise_coupling(
    r: ArrayLike, *, method: Literal["wu-lin-weng", "hastie-tibshirani"] = "wu-lin-weng"
) -> Coupling:
    r"""Class probabilities :math:`p_y` out of :math:`r_{yr} \approx p_y / (p_y + p_r)`
    (def-softmax-coupling).

    ``"wu-lin-weng"`` minimises :math:`\frac12 p^\top Q p = \frac12 \sum_{y < r} (r_{ry} p_y - r_{yr} p_r)^2`
    under :math:`\sum_y p_y = 1` (the second method of Wu, Lin and Weng, and LIBSVM's); the minimum is
    positive, unique, and has all entries of Qp equal. ``"hastie-tibshirani"`` minimises the Kullback–Leibler
    divergence of the :math:`r_{yr}` from :math:`\mu_{yr} = p_y / (p_y + p_r)`, all pairs with the same
    weight, and has :math:`\sum_r \mu_{yr} = \sum_r r_{yr}` for each y. Where the r come from some p, both
    find it.

    Parameters
    ----------
    r : (n, l) array-like
        For each example the probability of the first class of each pair, in the order of
        :func:`mcutils.reduction.pairs`; strictly between 0 and 1.
    method : {"wu-lin-weng", "hastie-tibshirani"}

    Returns
    -------
    Coupling

    Examples
    --------
    >>> p = [0.5, 0.3, 0.2]
    >>> pairwise_coupling([[0.5 / 0.8, 0.5 / 0.7, 0.3 / 0.5]]).probabilities.round(6)
    array([[0.5, 0.3, 0.2]])
    """
    duels = np.asarray(r, dtype=np.float64)
    k = (1 + int(np.sqrt(1 + 8 * duels.shape[1]) + 0.5)) // 2 if duels.ndim == 2 else 0
    if k < 2 or k * (k - 1) // 2 != duels.shape[1]:
        raise ValueError(
            f"r must have a column for each of the k(k-1)/2 pairs of classes, found shape {duels.shape}"
        )
    if not ((duels > 0) & (duels < 1)).all():
        bad = duels[~((duels > 0) & (duels < 1))][0]
        raise ValueError(f"r must be probabilities strictly between 0 and 1, found {bad}")
    if method not in ("wu-lin-weng", "hastie-tibshirani"):
        raise ValueError(f"method must be 'wu-lin-weng' or 'hastie-tibshirani', found {method!r}")
    first, second = pairs(k).T
    table = np.zeros((len(duels), k, k))
    table[:, first, second] = duels
    table[:, second, first] = 1 - duels
    return _least_squares(table) if method == "wu-lin-weng" else _bradley_terry(table)


def _least_squares(table: Floats) -> Coupling:
    n, k, _ = table.shape
    turned = table.transpose(0, 2, 1)
    Q = -turned * table
    Q[:, np.arange(k), np.arange(k)] = (turned**2).sum(axis=2)
    bordered = np.ones((n, k + 1, k + 1))
    bordered[:, :k, :k] = Q
    bordered[:, k, k] = 0.0
    target = np.zeros((n, k + 1, 1))
    target[:, k] = 1.0
    found = np.linalg.solve(bordered, target)
    p = np.maximum(found[:, :k, 0], 0.0)  # negative only by rounding
    p /= p.sum(axis=1, keepdims=True)
    product = (Q @ p[:, :, None])[:, :, 0]
    return Coupling(p, (p * product).sum(axis=1) - product.min(axis=1))


def _bradley_terry(table: Floats) -> Coupling:
    """Newton's method for the scores log p of each example: a convex problem, of k logistic losses each."""
    n, k, _ = table.shape
    wins = table.sum(axis=2)
    f = np.log(wins)
    diagonal = np.arange(k)

    def value(f: Floats) -> Floats:
        with np.errstate(under="ignore"):
            differences = f[:, :, None] - f[:, None, :]
            found: Floats = (table * np.logaddexp(0.0, -differences)).sum(axis=(1, 2))
        return found

    def misfit(f: Floats) -> tuple[Floats, Floats]:
        mu = expit(f[:, :, None] - f[:, None, :])
        mu[:, diagonal, diagonal] = 0.0
        return mu, mu.sum(axis=2) - wins

    mu, gradient = misfit(f)
    for _ in range(100):
        hessian = -mu * mu.transpose(0, 2, 1)
        hessian[:, diagonal, diagonal] = -hessian.sum(axis=2) + 1e-300
        hessian += np.abs(hessian).max(axis=(1, 2), keepdims=True) / k  # the direction of equal scores
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        step -= step.mean(axis=1, keepdims=True)
        now, decrease = value(f), -(gradient * step).sum(axis=1)
        t = np.ones(n)
        for _ in range(40):
            short = (value(f + t[:, None] * step) > now - 1e-4 * t * decrease) & (decrease > 1e-12)
            if not short.any():
                break
            t[short] /= 2
        f = f + t[:, None] * step
        f -= f.max(axis=1, keepdims=True)
        before = np.abs(gradient).max()
        mu, gradient = misfit(f)
        if np.abs(gradient).max() <= 4 * k * _EPS or (
            before < 1e-10 and np.abs(gradient).max() >= before / 2
        ):
            break
    return Coupling(softmax(f), np.abs(gradient).max(axis=1))


class WithProbabilities(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""A machine with scores, made to answer probabilities.

    The scores that the probabilities are fitted to come from examples that the machine was not trained on:
    each fold of a cross-validation is scored by a clone trained on the others. The machine that answers is
    trained on all examples.

    Parameters
    ----------
    machine : estimator
        A classifier with ``decision_function``; for "coupling" with ``pairwise_scores``, as
        :class:`mcutils.reduction.OneVsOne`.
    method : {"temperature", "coupling"}
        ``"temperature"``: the softmax of the scores over one :func:`temperature`, with smoothed targets; of
        two classes with the one score f, those of (0, f). ``"coupling"``: a temperature for each pair of
        classes, fitted to the examples of these two, and :func:`pairwise_coupling` of the pairs'
        probabilities, which are first kept 1e-7 away from 0 and 1.
    cv : int, cross-validation splitter, or "prefit"
        An integer means so many stratified folds, in random order. "prefit": the machine is already trained,
        and :meth:`fit` gets examples that it was not trained on.
    random_state : int, RandomState or None
        Shuffles the folds. It is not passed on.
    n_jobs : int or None
        How many machines are trained at once, through joblib.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    machine_ : estimator
        The machine trained on all examples.
    temperatures_ : list of Temperature
        One, or one for each pair.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    :meth:`predict` answers the class of the largest probability. With "temperature" that is the class of the
    machine's largest score (of SVC not always the answer of its own ``predict``), except where the
    temperature is infinite or probabilities are equal after rounding; the coupling of pairs may differ from
    their vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = WithProbabilities(LinearSVC(random_state=0), random_state=0).fit(X, y)
    >>> log_loss(machine.predict_proba(X), y) < 0.5
    True
    """

    def __init__(
        self,
        machine: Any,
        *,
        method: Literal["temperature", "coupling"] = "temperature",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.machine = machine
        self.method = method
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the machine, and fit the probabilities to scores of examples that were held out.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
            Passed on to the machine, its rows selected.
        y : (n,) array-like
        sample_weight : (n,) array-like, optional
            Passed on to the machine, its entries selected, and counted in the fit of the probabilities;
            refused if the machine takes none.

        Returns
        -------
        WithProbabilities
        """
        asked = {"temperature": "decision_function", "coupling": "pairwise_scores"}
        one_of(self.method, "method", asked)
        seed(self.random_state)
        jobs(self.n_jobs)
        if isinstance(self.cv, Integral):
            integer(self.cv, "cv", 2)
        if not hasattr(self.machine, asked[self.method]):
            raise ValueError(
                f"machine must have {asked[self.method]} for {self.method!r}, found {self.machine!r}"
            )
        labels: NDArray[Any] = validate_data(self, X="no_validation", y=y)
        X = selectable(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        weights = None
        if sample_weight is not None:
            if "sample_weight" not in signature(self.machine.fit).parameters:
                raise ValueError(f"sample_weight is given, but {self.machine!r} does not take it")
            weights = example_weights(sample_weight, len(labels))

        if isinstance(self.cv, str) and self.cv == "prefit":
            self._prefit(X, labels, weights)
            return self
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least 2 classes, found 1 class: {self.classes_.tolist()}")
        folds = self._folds(labels, codes)
        tasks = [*folds, (np.arange(len(labels)), None)]
        answers = Parallel(n_jobs=self.n_jobs)(
            delayed(_train_and_score)(self.machine, self.method, X, labels, weights, train, test)
            for train, test in tasks
        )
        for fitted, _ in answers:
            if not np.array_equal(fitted, self.classes_):
                raise ValueError(
                    f"every fold must leave examples of all classes {self.classes_.tolist()} for training, "
                    f"found one with {fitted.tolist()}"
                )
        self.machine_ = answers[-1][1]
        held_out = np.concatenate([test for _, test in folds])
        scores = np.concatenate([answer for _, answer in answers[:-1]])
        self._calibrate(scores, codes[held_out], None if weights is None else weights[held_out])
        return self

    def _prefit(self, X: Any, labels: NDArray[Any], weights: Floats | None) -> None:
        check_is_fitted(self.machine)
        self.machine_ = self.machine
        self.classes_ = self.machine.classes_
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must have labels among the classes {self.classes_.tolist()} of the machine, "
                f"found {unknown.tolist()}"
            )
        scores = _score(self.machine_, self.method, X)
        self._calibrate(scores, np.searchsorted(self.classes_, labels), weights)

    def _folds(self, labels: NDArray[Any], codes: Ints) -> list[tuple[Ints, Ints]]:
        if isinstance(self.cv, Integral):
            counts = np.bincount(codes)
            if self.cv < 2 or counts.min() < self.cv:
                fewest = self.classes_[[int(counts.argmin())]].tolist()[0]
                raise ValueError(
                    "cv must be at least 2 and at most the number of examples of each class: "
                    f"found cv={self.cv}, and {counts.min()} examples of class {fewest!r}"
                )
            splitter = StratifiedKFold(int(self.cv), shuffle=True, random_state=self.random_state)
        else:
            splitter = check_cv(self.cv, labels, classifier=True)
        return list(splitter.split(np.zeros(len(labels)), labels))

    def _calibrate(self, scores: Floats, codes: Ints, weights: Floats | None) -> None:
        k = len(self.classes_)
        columns = k if self.method == "temperature" else k * (k - 1) // 2
        if scores.shape[1] != columns:
            raise ValueError(
                f"the machine must answer {columns} scores for {k} classes, found {scores.shape[1]}"
            )
        if self.method == "temperature":
            self.temperatures_ = [temperature(scores, codes, smooth=True, sample_weight=weights)]
            return
        self.temperatures_ = []
        for s, (first, second) in enumerate(pairs(k).tolist()):
            used = np.flatnonzero((codes == first) | (codes == second))
            if not len(used) or (weights is not None and not weights[used].sum() > 0):
                raise ValueError(
                    f"coupling needs held-out examples of {self.classes_[first]!r} or "
                    f"{self.classes_[second]!r}, found none"
                )
            self.temperatures_.append(
                temperature(
                    np.column_stack([scores[used, s], np.zeros(len(used))]),
                    (codes[used] == second).astype(np.intp),
                    smooth=True,
                    sample_weight=None if weights is None else weights[used],
                )
            )

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of all classes.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        scores = _score(self.machine_, self.method, X)  # the machine checks X
        validate_data(self, X, reset=False, skip_check_array=True)
        if self.method == "temperature":
            return self.temperatures_[0].probabilities(scores)
        duels = np.column_stack(
            [
                one.probabilities(np.column_stack([f, np.zeros(len(f))]))[:, 0]
                for one, f in zip(self.temperatures_, scores.T, strict=True)
            ]
        )
        return pairwise_coupling(np.clip(duels, _LEAST_PAIR, 1 - _LEAST_PAIR)).probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the largest probability; of several, the first.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        winner = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.machine)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags


def _score(machine: Any, method: str, X: Any) -> Floats:
    """Scores of all classes, or of all pairs."""
    if method == "coupling":
        found: Floats = np.asarray(machine.pairwise_scores(X), dtype=np.float64)
        return found
    scores = np.asarray(machine.decision_function(X), dtype=np.float64)
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


def _train_and_score(
    machine: Any,
    method: str,
    X: Any,
    labels: NDArray[Any],
    weights: Floats | None,
    train: Ints,
    test: Ints | None,
) -> tuple[NDArray[Any], Any]:
    """Classes of a clone trained on some examples, and its scores of others, or else itself."""
    some, known = (X, labels) if test is None else _safe_split(machine, X, labels, train)
    fitted = clone(machine).fit(some, known, **({} if weights is None else {"sample_weight": weights[train]}))
    if test is None:
        return fitted.classes_, fitted
    return fitted.classes_, _score(fitted, method, _safe_split(machine, X, labels, test, train)[0])


# ---------------------------------------------------------------------------------------------------
# What probabilities are worth


def brier(probabilities: ArrayLike, y: ArrayLike) -> float:
    r"""The mean of :math:`\sum_r (p_r - \mathbb 1\{r = y\})^2`, between 0 and 2.

    Parameters
    ----------
    probabilities : (m, k) array-like
    y : (m,) array-like of int
        True classes, 0 to k-1.

    Returns
    -------
    float

    Examples
    --------
    >>> brier([[0.5, 0.5], [1.0, 0.0]], [0, 0])
    0.25
    """
    p, codes = _judged(probabilities, y)
    errors = p.copy()
    errors[np.arange(len(p)), codes] -= 1
    return float(np.square(errors).sum(axis=1).mean())


def log_loss(probabilities: ArrayLike, y: ArrayLike) -> float:
    r"""The mean of :math:`-\log p_y`; infinite if a true class has the probability 0.

    Parameters
    ----------
    probabilities : (m, k) array-like
    y : (m,) array-like of int
        True classes, 0 to k-1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(log_loss([[0.5, 0.5], [1.0, 0.0]], [0, 0]), 4)
    0.3466
    >>> log_loss([[1.0, 0.0]], [1])
    inf
    """
    p, codes = _judged(probabilities, y)
    with np.errstate(divide="ignore"):
        return float(np.mean(-np.log(p[np.arange(len(p)), codes])) + 0.0)


def _judged(probabilities: ArrayLike, y: ArrayLike) -> tuple[Floats, Ints]:
    p = _probabilities(probabilities)
    if not len(p):
        raise ValueError("probabilities must have at least one row, found none")
    return p, _codes(y, *p.shape)


@dataclass(frozen=True, eq=False)
class Reliability:
    r"""How often the answers given with some confidence are right; see :func:`reliability`.

    Attributes
    ----------
    edges : (n + 1,) array
        Ends of the bins. A confidence on the border of two bins is in the upper one.
    counts : (n,) int array
        How many examples are in each bin.
    confidence, accuracy : (n,) array
        Mean confidence and share of right answers in each bin; nan in an empty one.
    lower, upper : (n,) array
        Wilson's interval for the accuracy; 0 and 1 in an empty bin.
    level : float
        Its confidence level, for each bin by itself.
    ece : float
        Expected calibration error :math:`\sum_j \frac{m_j}{m} |\text{accuracy}_j - \text{confidence}_j|`.
    """

    edges: Floats
    counts: Ints
    confidence: Floats
    accuracy: Floats
    lower: Floats
    upper: Floats
    level: float
    ece: float


def reliability(
    probabilities: ArrayLike, y: ArrayLike, *, bins: int | ArrayLike = 10, level: float = 0.95
) -> Reliability:
    r"""The reliability diagram of the predicted class: accuracy against confidence :math:`\max_y p_y`.

    Parameters
    ----------
    probabilities : (m, k) array-like
    y : (m,) array-like of int
        True classes, 0 to k-1. The answer is the class of the largest probability, of several the smallest.
    bins : int or (n + 1,) array-like, default=10
        So many bins of equal width from 0 to 1; or their ends, increasing from 0 to 1.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]
    >>> found = reliability(p, [0, 1, 1, 0], bins=[0, 0.5, 0.75, 1])
    >>> found.counts, found.confidence.round(3), found.accuracy, round(found.ece, 3)
    (array([0, 2, 2]), array([ nan, 0.65, 0.85]), array([nan, 1. , 0.5]), 0.35)
    """
    p, codes = _judged(probabilities, y)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, found {level!r}")
    if np.ndim(bins) == 0:
        if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
            raise ValueError(f"bins must be an integer, at least 1, or the ends of the bins, found {bins!r}")
        edges = np.linspace(0.0, 1.0, int(bins) + 1)
    else:
        edges = np.asarray(bins, dtype=np.float64)
        if (
            edges.ndim != 1
            or len(edges) < 2
            or edges[0] != 0
            or edges[-1] != 1
            or not (np.diff(edges) > 0).all()
        ):
            raise ValueError(f"bins must be ends that increase from 0 to 1, found {bins!r}")
    n = len(edges) - 1
    confidence = p.max(axis=1)
    right = p.argmax(axis=1) == codes
    place = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, n - 1)
    counts = np.bincount(place, minlength=n)
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, confidence, minlength=n) / counts
        shares = np.bincount(place, right, minlength=n) / counts
    lower, upper = _wilson(np.bincount(place, right, minlength=n), counts, level)
    used = counts > 0
    ece = float(counts[used] @ np.abs(shares[used] - means[used])) / len(p)
    return Reliability(edges, counts, means, shares, lower, upper, float(level), ece)


def _wilson(hits: NDArray[Any], counts: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    r"""The shares :math:`\pi` with :math:`|h - n \pi| \le z \sqrt{n \pi (1 - \pi)}`, for h hits among n."""
    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (hits + z2 / 2) / (counts + z2)
    # n p (1 - p) without a division, for empty bins
    spread = hits * (counts - hits) / np.maximum(counts, 1)
    half = np.sqrt(z2 * (spread + z2 / 4)) / (counts + z2)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
