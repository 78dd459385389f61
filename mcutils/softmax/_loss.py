"""The loss as a function of the scores."""

import numpy as np
from numpy.typing import ArrayLike

from .._checks import class_labels, score_table
from .._typing import Floats, Ints


def finite_gaps(values: ArrayLike, name: str = "scores") -> Floats:
    """Scores whose differences in a row are finite, too."""
    f = score_table(values, name)
    with np.errstate(over="ignore"):
        if not np.isfinite(np.ptp(f, axis=1)).all():
            raise ValueError(f"{name} must have finite differences in each row, found some that overflow")
    return f


def probability_rows(values: ArrayLike, name: str = "probabilities") -> Floats:
    """Rows on the simplex, up to rounding."""
    f = score_table(values, name)
    if f.min() < 0 or np.abs(f.sum(axis=1) - 1).max() > 1e-6:
        worst = int(np.argmax(np.maximum(-f.min(axis=1), np.abs(f.sum(axis=1) - 1))))
        raise ValueError(
            f"{name} must have rows of numbers >= 0 with sum 1, found the row {f[worst].tolist()}"
        )
    return f


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
    below, rest = _rest(finite_gaps(scores))
    logarithms: Floats = below - np.log1p(rest)
    return logarithms


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
    below, rest = _rest(finite_gaps(scores))
    with np.errstate(under="ignore"):
        probabilities: Floats = np.exp(below) / (1 + rest)
    return probabilities


def loss_parts(f: Floats, y: Ints) -> tuple[Floats, Floats, Floats]:
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
    f = finite_gaps(scores)
    return loss_parts(f, class_labels(y, *f.shape))[0]


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
    f = finite_gaps(scores)
    codes = class_labels(y, *f.shape)
    _, slopes, missing = loss_parts(f, codes)
    slopes[np.arange(len(f)), codes] = -missing
    return slopes


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
    f, v = finite_gaps(scores), finite_gaps(directions, "directions")
    if v.shape != f.shape:
        raise ValueError(f"directions must have the shape {f.shape} of scores, found {v.shape}")
    return hessian_product(softmax(f), v)


def hessian_product(q: Floats, v: Floats) -> Floats:
    product: Floats = q * (v - (q * v).sum(axis=1, keepdims=True))
    return product
