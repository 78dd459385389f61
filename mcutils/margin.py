r"""Margins of scores: how far the true class is ahead, and what a margin loss pays where that is too little.

Score functions :math:`f = (f_1, \dots, f_k)` predict the class of the largest score. On an example
:math:`(x, y)` they have the margin
:math:`\rho_f(x, y) = f_y(x) - \max_{y' \ne y} f_{y'}(x)` (def-margin-margin). It is positive exactly when the
true class wins alone, and the prediction is wrong only if it is not positive.

Everything here takes a table of scores, one row for each example and one column for each class, and the true
classes as indices 0 to k - 1 of its columns. A margin belongs to scores, not to a classifier: the same
predictions with all scores multiplied by ten have ten times the margins (prop-margin-scale).

>>> import numpy as np
>>> scores = np.array([[2.0, 0.5, 1.0], [1.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
>>> y = np.array([0, 1, 1, 0])
>>> margins(scores, y)
array([ 1.,  0.,  2., -4.])
>>> sandwich(scores, y, rho=1.6)
Sandwich(zero_one=0.5, nonpositive=0.5, margin_loss=0.59375, at_most_rho=0.75)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array, class_labels, number, reals, score_table

__all__ = ["Sandwich", "empirical_margin_loss", "margins", "predict", "rho_loss", "sandwich"]

Floats: TypeAlias = NDArray[np.float64]
Tie: TypeAlias = str | Sequence[int]


def predict(scores: ArrayLike, tie: Tie = "smallest") -> NDArray[np.intp]:
    """The class of the largest score of every row (def-margin-scores).

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes; computed with as float64.
    tie : "smallest", "largest" or a sequence of the k classes
        Which of equal largest scores wins: the smallest class, the largest, or the class that comes first
        in the sequence. Scores tie when they are equal as floating-point numbers.

    Returns
    -------
    (m,) int array
        Indices of columns.

    Examples
    --------
    >>> scores = [[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]]
    >>> predict(scores), predict(scores, "largest"), predict(scores, [2, 0, 1])
    (array([0, 1]), array([1, 2]), array([0, 2]))
    """
    f = score_table(scores)
    order = _order(tie, f.shape[1])
    # the first maximum in the order of preference, and the class that stands there
    winner: NDArray[np.intp] = order[f[:, order].argmax(axis=1)]
    return winner


def margins(scores: ArrayLike, y: ArrayLike) -> Floats:
    r"""The margin :math:`\rho_i = f_{y_i}(x_i) - \max_{y' \ne y_i} f_{y'}(x_i)` of every example.

    It is 0 exactly when the true class shares the largest score (def-margin-margin, prop-margin-only-if).

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.

    Returns
    -------
    (m,) float64 array

    Examples
    --------
    >>> margins([[0.2, 0.1], [0.2, 0.1]], [0, 1])
    array([ 0.1, -0.1])
    """
    f = score_table(scores)
    labels = class_labels(y, *f.shape)
    rows = np.arange(len(f))
    others = f.copy()
    others[rows, labels] = -np.inf
    with np.errstate(over="ignore"):  # 1e308 - (-1e308): an infinite margin is large, as it should be
        differences: Floats = f[rows, labels] - others.max(axis=1)
    return differences


def rho_loss(margins: ArrayLike, rho: float) -> Floats:
    r""":math:`\Phi_\rho(u) = \min(1, \max(0, 1 - u/\rho))` of every margin (def-margin-rho-loss).

    1 up to the margin 0, 0 from the margin rho on, and a straight line between.

    Parameters
    ----------
    margins : array-like
        Margins, of any shape.
    rho : float
        The required margin, positive and finite.

    Returns
    -------
    float64 array of the shape of ``margins``

    Examples
    --------
    >>> rho_loss([-1.0, 0.0, 0.5, 2.0, 3.0], rho=2.0)
    array([1.  , 1.  , 0.75, 0.  , 0.  ])
    """
    rho = _check_rho(rho)
    u = reals(margins, "margins", infinite=True)
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(1.0 - u / rho, 0.0, 1.0)


@overload
def empirical_margin_loss(scores: ArrayLike, y: ArrayLike, rho: float) -> float: ...
@overload
def empirical_margin_loss(scores: ArrayLike, y: ArrayLike, rho: Sequence[float] | Floats) -> Floats: ...
def empirical_margin_loss(
    scores: ArrayLike, y: ArrayLike, rho: float | Sequence[float] | Floats
) -> float | Floats:
    r""":math:`\hat R_{S,\rho}(f) = \frac1m \sum_i \Phi_\rho(\rho_i)`, the mean ρ-margin loss.

    As a function of rho it never decreases, from the share of margins that are not positive up to 1
    (prop-margin-monotone).

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    rho : float or 1-d array-like of float
        The required margin, positive and finite; several make a curve.

    Returns
    -------
    float, or a float64 array with one value for each rho

    Examples
    --------
    >>> empirical_margin_loss([[0.2, 0.1], [0.1, 0.6]], [0, 1], rho=1.0)
    0.7
    >>> empirical_margin_loss([[0.2, 0.1], [0.1, 0.6]], [0, 1], rho=[0.1, 0.5, 1.0])
    array([0. , 0.4, 0.7])
    """
    values = margins(scores, y)
    several = array(rho, "rho")
    if several.ndim == 0:
        return float(rho_loss(values, rho).mean())  # type: ignore[arg-type]
    if several.ndim != 1:
        raise ValueError(f"rho must be a number or a list of numbers, found shape {several.shape}")
    return np.array([rho_loss(values, one).mean() for one in reals(rho, "rho").tolist()], dtype=np.float64)


@dataclass(frozen=True)
class Sandwich:
    r"""Four shares of the same examples, each at most the next (prop-margin-sandwich).

    Attributes
    ----------
    zero_one : float
        :math:`\hat R_S(h_f)`, the share of examples that are predicted wrongly.
    nonpositive : float
        The share of margins that are at most 0.
    margin_loss : float
        :math:`\hat R_{S,\rho}(f)`, the mean ρ-margin loss.
    at_most_rho : float
        The share of margins that are at most rho.
    """

    zero_one: float
    nonpositive: float
    margin_loss: float
    at_most_rho: float


def sandwich(scores: ArrayLike, y: ArrayLike, rho: float, tie: Tie = "smallest") -> Sandwich:
    r"""The training error, and the three shares that bound it in terms of margins.

    :math:`\hat R_S(h_f) \le \frac1m \#\{\rho_i \le 0\} \le \hat R_{S,\rho}(f) \le
    \frac1m \#\{\rho_i \le \rho\}`, whatever the tie-break (prop-margin-sandwich). In floating point too:
    every step that is taken here preserves order.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    rho : float
        The required margin, positive and finite.
    tie : "smallest", "largest", a sequence of the k classes, "for" or "against"
        As in :func:`predict`; or, which no classifier can do, for the true class wherever it is among the
        largest, or against it. Every tie-break has an error between these two, and "against" makes the
        first inequality an equality.

    Returns
    -------
    Sandwich

    Examples
    --------
    >>> scores, y = [[1.0, 1.0], [1.0, 1.0], [3.0, 0.0]], [0, 1, 0]
    >>> [round(sandwich(scores, y, 2.0, tie).zero_one, 3) for tie in ("for", "smallest", "against")]
    [0.0, 0.333, 0.667]
    """
    rho = _check_rho(rho)
    f = score_table(scores)
    values = margins(f, y)
    if isinstance(tie, str) and tie == "for":
        wrong = values < 0
    elif isinstance(tie, str) and tie == "against":
        wrong = values <= 0
    else:
        wrong = predict(f, tie) != np.asarray(y)
    return Sandwich(
        zero_one=float(wrong.mean()),
        nonpositive=float((values <= 0).mean()),
        margin_loss=float(rho_loss(values, rho).mean()),
        at_most_rho=float((values <= rho).mean()),
    )


def _order(tie: Tie, k: int) -> NDArray[np.intp]:
    """The classes in the order in which they win ties."""
    if isinstance(tie, str):
        if tie not in ("smallest", "largest"):
            raise ValueError(
                f"tie={tie!r} is no tie-break; allowed are 'smallest', 'largest' and an order of the classes "
                "(sandwich also has 'for' and 'against')"
            )
        return np.arange(k) if tie == "smallest" else np.arange(k)[::-1]
    order = array(tie, "tie")
    if order.dtype.kind not in "iu" or order.shape != (k,) or sorted(order.tolist()) != list(range(k)):
        raise ValueError(f"tie must name each of the classes 0 to {k - 1} once, found {tie!r}")
    return order.astype(np.intp)


def _check_rho(rho: Any) -> float:
    return number(rho.item() if isinstance(rho, np.ndarray) and rho.ndim == 0 else rho, "rho", above=0)
