"""The gaps, the hinges of them, and their subgradients."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from .._checks import class_labels, cost_matrix, integer, one_of, score_table
from .._typing import Floats, Ints

HINGES = ("crammer_singer", "weston_watkins")
"""The names of the losses."""


def gaps(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""The gaps :math:`g_r = \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i)`; exactly 0 for the true class.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns predictions. By default every mistake costs 1.

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> gaps([[2.0, 1.5, 0.0]], [0])
    array([[ 0. ,  0.5, -1. ]])
    >>> gaps([[2.0, 1.5, 0.0]], [0], cost=[[0, 1, 4], [1, 0, 1], [1, 1, 0]])
    array([[0. , 0.5, 2. ]])
    """
    f, labels, costs = _check(scores, y, cost)
    return score_gaps(f, labels, costs)


def crammer_singer(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r""":math:`\ell_i = \max_r (\Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i))` (def-hinge-crammer-singer).

    It is at least 0, as r may be the true class.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns predictions. By default every mistake costs 1.

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> crammer_singer([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]], [0, 1, 2])
    array([0.5, 0. , 1. ])
    """
    return total("crammer_singer", gaps(scores, y, cost))


def weston_watkins(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r""":math:`\ell_i = \sum_{r \ne y_i} \max(0, \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i))`.

    See def-hinge-weston-watkins. Parameters and result are those of :func:`crammer_singer`.

    Examples
    --------
    >>> weston_watkins([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]], [0, 1, 2])
    array([0.75, 0.  , 2.  ])
    """
    return total("weston_watkins", gaps(scores, y, cost))


def loss_augmented(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Ints:
    r"""The active class, :math:`\arg\max_r (\Delta(y_i, r) + f_r(x_i))`: that of the largest gap.

    Ties go to the true class if it is among the largest, otherwise to the smallest class. So it is the
    true class exactly where the Crammer-Singer loss is 0.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns predictions. By default every mistake costs 1.

    Returns
    -------
    (m,) int array

    Examples
    --------
    >>> loss_augmented([[2.0, 1.5, 1.5], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [0, 0, 1])
    array([1, 0, 0])
    """
    f, labels, costs = _check(scores, y, cost)
    return _active(score_gaps(f, labels, costs), labels)


def crammer_singer_subgradient(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""A subgradient of the Crammer-Singer loss with respect to the scores of each example.

    It is the gradient :math:`e_r - e_y` of one active gap, that of the class r which :func:`loss_augmented`
    returns, and 0 where that is the true class. At a tie every convex combination of the gradients of the
    active gaps is one too (prop-subgradient-max).

    With respect to W it is the outer product with the example: row r is x, and row y is -x.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns predictions. By default every mistake costs 1.

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> crammer_singer_subgradient([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0]], [0, 1])
    array([[-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    """
    f, labels, costs = _check(scores, y, cost)
    return score_slopes("crammer_singer", score_gaps(f, labels, costs), labels)


def weston_watkins_subgradient(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""A subgradient of the Weston-Watkins loss with respect to the scores of each example.

    It is :math:`\sum_r (e_r - e_y)` over the classes r whose gap is positive. A gap of exactly 0 is left out;
    with any share of it between 0 and 1 there is another subgradient.

    With respect to W it is the outer product with the example: the row of each such class is x, and
    row y is minus their number times x. Parameters and result are those of
    :func:`crammer_singer_subgradient`.

    Examples
    --------
    >>> weston_watkins_subgradient([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0]], [0, 1])
    array([[-2.,  1.,  1.],
           [ 0.,  0.,  0.]])
    """
    f, labels, costs = _check(scores, y, cost)
    return score_slopes("weston_watkins", score_gaps(f, labels, costs), labels)


def lipschitz(loss: str, k: int) -> float:
    r"""The Lipschitz constant of a loss in the Euclidean norm of the scores (prop-hinge-lipschitz).

    :math:`\sqrt 2` for Crammer-Singer, the length of :math:`e_r - e_y`; for Weston-Watkins
    :math:`\sqrt{k (k - 1)}`, that of :math:`\sum_{r \ne y} (e_r - e_y)`. None smaller will do, whatever the
    cost matrix. As a function of W in the Frobenius norm the loss of one example has this constant times
    :math:`\|x\|`.

    Parameters
    ----------
    loss : {"crammer_singer", "weston_watkins"}
    k : int
        The number of classes, at least 2.

    Examples
    --------
    >>> round(lipschitz("crammer_singer", 5), 4), round(lipschitz("weston_watkins", 5), 4)
    (1.4142, 4.4721)
    >>> lipschitz("crammer_singer", 2) == lipschitz("weston_watkins", 2)
    True
    """
    one_of(loss, "loss", HINGES)
    k = integer(k, "k", 2)
    return sqrt(2.0) if loss == "crammer_singer" else sqrt(k * (k - 1.0))


def score_gaps(scores: Floats, labels: Ints, costs: Floats) -> Floats:
    """By how much each class is not behind the true class by its cost; exactly 0 for the true class."""
    rows = np.arange(len(scores))
    gaps: Floats = scores - scores[rows, labels][:, None]
    gaps += costs[labels]
    gaps[rows, labels] = 0.0
    return gaps


def total(loss: str, gaps: Floats) -> Floats:
    """The loss of each example, from its gaps."""
    losses: Floats = gaps.max(axis=1) if loss == "crammer_singer" else np.maximum(gaps, 0.0).sum(axis=1)
    return losses


def _check(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None) -> tuple[Floats, Ints, Floats]:
    f = score_table(scores)
    return f, class_labels(y, *f.shape), cost_matrix(cost, f.shape[1])


def _active(gaps: Floats, labels: Ints) -> Ints:
    first = gaps.argmax(axis=1)
    active: Ints = np.where(gaps[np.arange(len(gaps)), first] > 0, first, labels)
    return active


def score_slopes(loss: str, gaps: Floats, labels: Ints) -> Floats:
    """A subgradient of each loss with respect to the scores of its example."""
    rows = np.arange(len(gaps))
    if loss == "crammer_singer":
        slopes = np.zeros_like(gaps)
        slopes[rows, _active(gaps, labels)] += 1.0
        slopes[rows, labels] -= 1.0
    else:
        slopes = (gaps > 0).astype(np.float64)
        slopes[rows, labels] = -slopes.sum(axis=1)
    return slopes + 0.0  # no negative zeros
