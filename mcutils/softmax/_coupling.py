"""Probabilities of classes out of those of pairs."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from .._checks import one_of, reals
from .._typing import Floats
from ..reduction import pairs
from ._loss import softmax

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Coupling:
    r"""Probabilities of classes out of those of pairs; see :func:`pairwise_coupling`.

    Attributes
    ----------
    probabilities : (n, k) array
        p.
    residual : (n,) array
        How far each row is from the fixed point: :math:`p^\top Q p - \min_y (Qp)_y`, which bounds what
        :math:`\frac12 p^\top Q p` is above its minimum, for "wu_lin_weng"; and
        :math:`\max_y |\sum_r (\mu_{yr} - r_{yr})|` for "hastie_tibshirani".
    """

    probabilities: Floats
    residual: Floats


def pairwise_coupling(
    r: ArrayLike, *, method: Literal["wu_lin_weng", "hastie_tibshirani"] = "wu_lin_weng"
) -> Coupling:
    r"""Class probabilities :math:`p_y` out of :math:`r_{yr} \approx p_y / (p_y + p_r)`
    (def-softmax-coupling).

    ``"wu_lin_weng"`` minimises :math:`\frac12 p^\top Q p = \frac12 \sum_{y < r} (r_{ry} p_y - r_{yr} p_r)^2`
    under :math:`\sum_y p_y = 1` (the second method of Wu, Lin and Weng, and LIBSVM's); the minimum is
    positive, unique, and has all entries of Qp equal. ``"hastie_tibshirani"`` minimises the Kullback–Leibler
    divergence of the :math:`r_{yr}` from :math:`\mu_{yr} = p_y / (p_y + p_r)`, all pairs with the same
    weight, and has :math:`\sum_r \mu_{yr} = \sum_r r_{yr}` for each y. Where the r come from some p, both
    find it.

    Parameters
    ----------
    r : (n, l) array-like
        For each example the probability of the first class of each pair, in the order of
        :func:`mcutils.reduction.pairs`; strictly between 0 and 1.
    method : {"wu_lin_weng", "hastie_tibshirani"}

    Returns
    -------
    Coupling

    Examples
    --------
    >>> p = [0.5, 0.3, 0.2]
    >>> pairwise_coupling([[0.5 / 0.8, 0.5 / 0.7, 0.3 / 0.5]]).probabilities.round(6)
    array([[0.5, 0.3, 0.2]])
    """
    duels = reals(r, "r")
    k = (1 + int(np.sqrt(1 + 8 * duels.shape[1]) + 0.5)) // 2 if duels.ndim == 2 else 0
    if k < 2 or k * (k - 1) // 2 != duels.shape[1]:
        raise ValueError(
            f"r must have a column for each of the k(k-1)/2 pairs of classes, found shape {duels.shape}"
        )
    if not ((duels > 0) & (duels < 1)).all():
        bad = duels[~((duels > 0) & (duels < 1))][0]
        raise ValueError(f"r must be probabilities strictly between 0 and 1, found {bad}")
    one_of(method, "method", ("wu_lin_weng", "hastie_tibshirani"))
    first, second = pairs(k).T
    shares = np.zeros((len(duels), k, k))
    shares[:, first, second] = duels
    shares[:, second, first] = 1 - duels
    return _least_squares(shares) if method == "wu_lin_weng" else _bradley_terry(shares)


def _least_squares(shares: Floats) -> Coupling:
    n, k, _ = shares.shape
    turned = shares.transpose(0, 2, 1)
    Q = -turned * shares
    Q[:, np.arange(k), np.arange(k)] = (turned**2).sum(axis=2)
    bordered = np.ones((n, k + 1, k + 1))
    bordered[:, :k, :k] = Q
    bordered[:, k, k] = 0.0
    target = np.zeros((n, k + 1, 1))
    target[:, k] = 1.0
    solution = np.linalg.solve(bordered, target)
    p = np.maximum(solution[:, :k, 0], 0.0)  # negative only by rounding
    p /= p.sum(axis=1, keepdims=True)
    product = (Q @ p[:, :, None])[:, :, 0]
    return Coupling(p, (p * product).sum(axis=1) - product.min(axis=1))


def _bradley_terry(shares: Floats) -> Coupling:
    """Newton's method for the scores log p of each example: a convex problem, of k logistic losses each."""
    n, k, _ = shares.shape
    wins = shares.sum(axis=2)
    f = np.log(wins)
    diagonal = np.arange(k)

    def value(f: Floats) -> Floats:
        with np.errstate(under="ignore"):
            differences = f[:, :, None] - f[:, None, :]
            divergence: Floats = (shares * np.logaddexp(0.0, -differences)).sum(axis=(1, 2))
        return divergence

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
