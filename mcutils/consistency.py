r"""Which losses are right in the limit: conditional risks of seven surrogates, minimised with a proof.

Where the classes have the probabilities p, scores s of a classifier that minimises a surrogate cost in the
limit

.. math:: R(s) = \sum_y p_y L_y(s),

with :math:`L_y` the loss if y is true (def-consistency-risk). The surrogate is *calibrated* at p if every
sequence of scores whose risk tends to the least one ends by giving the largest score to a most probable class
only: then, and only then, its *calibration gap* is positive (def-consistency-gap).

Four surrogates are polyhedral: sums of maxima of linear functions. For them everything here is exact if the
probabilities are given as fractions, since a finite list of scores suffices (lem-consistency-corners), and
multipliers prove each minimum (prop-consistency-dual). For the other three the probabilities of some classes
are replaced by their mean (thm-consistency-smooth).

>>> from fractions import Fraction
>>> p = [Fraction(40, 100), Fraction(35, 100), Fraction(25, 100)]  # no class has a majority
>>> result = minimise("weston_watkins", p, exact=True)
>>> [int(score) for score in result.scores], str(result.value)  # the two best classes tie
([1, 1, 0], '7/4')
>>> for surrogate in SURROGATES:
...     print(f"{surrogate:15} {float(calibration_gap(surrogate, p)):.4f}")
crammer_singer  0.0000
weston_watkins  0.0000
lee_lin_wahba   0.0375
ova_hinge       0.0000
ova_logistic    0.0027
softmax         0.0017
squared         0.0050
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.special import kl_div, logit, xlog1py, xlogy

from . import loss
from ._checks import array, integer, number, one_of, switch
from .capacity import decide
from .certificate import Certificate
from .softmax import log_softmax

__all__ = [
    "POLYHEDRAL",
    "SURROGATES",
    "Minimum",
    "abstain",
    "calibration_gap",
    "conditional_risk",
    "corners",
    "losses",
    "minimise",
    "simplex_grid",
]

_MOST_POINTS = 1_000_000

Ints: TypeAlias = NDArray[np.intp]
# float64, or objects that are fractions
Numbers: TypeAlias = NDArray[Any]

POLYHEDRAL = ("crammer_singer", "weston_watkins", "lee_lin_wahba", "ova_hinge")
"""The surrogates that are sums of maxima of linear functions."""

SURROGATES = (*POLYHEDRAL, "ova_logistic", "softmax", "squared")
"""The names of the surrogates."""

# those computed in fractions
_RATIONAL = (*POLYHEDRAL, "squared")
# Crammer-Singer and Weston-Watkins have 2^(k-1) corners
_LARGEST = 16


# ---------------------------------------------------------------------------------------------------
# The losses


def losses(surrogate: str, scores: ArrayLike) -> Numbers:
    r"""What the scores pay for each class that may be true: entry y is :math:`L_y(s)` (def-consistency-risk).

    ================  =========================================================================
    crammer_singer    :math:`\max(0, \max_{r \ne y} 1 + s_r - s_y)`
    weston_watkins    :math:`\sum_{r \ne y} \max(0, 1 + s_r - s_y)`
    lee_lin_wahba     :math:`\sum_{r \ne y} \max(0, \frac1{k-1} + s_r - \bar s)`, with the mean
                      :math:`\bar s` of the scores, which the authors require to be 0
    ova-...           :math:`\varphi(s_y) + \sum_{r \ne y} \varphi(-s_r)`; hinge:
                      :math:`\varphi(z) = \max(0, 1 - z)`, logistic: :math:`\log(1 + e^{-z})`
    softmax           :math:`\log \sum_r e^{s_r - s_y}`
    squared           one-vs-all with :math:`\varphi(z) = (1 - z)^2`
    ================  =========================================================================

    Parameters
    ----------
    surrogate : str
        One of :data:`SURROGATES`.
    scores : (..., k) array-like
        Finite, for at least two classes. Fractions stay fractions where the loss is one.

    Returns
    -------
    (..., k) array

    Examples
    --------
    >>> losses("crammer_singer", [[2.0, 1.5, 0.0], [0.0, 0.0, 0.0]])
    array([[0.5, 1.5, 3. ],
           [1. , 1. , 1. ]])
    >>> losses("weston_watkins", [2.0, 1.5, 0.0])
    array([0.5, 1.5, 5.5])
    """
    _check_surrogate(surrogate)
    s = _numbers(scores, "scores")
    return _losses(surrogate, s if surrogate in _RATIONAL else s.astype(np.float64))


def _losses(surrogate: str, s: Numbers) -> Numbers:
    k = s.shape[-1]
    losses: Numbers
    if surrogate == "softmax":
        losses = -log_softmax(s.reshape(-1, k)).reshape(s.shape)
    elif surrogate == "lee_lin_wahba":
        losses = np.maximum(s - s.sum(axis=-1, keepdims=True) / k + Fraction(1, k - 1), 0) @ _others(k)
    elif surrogate in ("crammer_singer", "weston_watkins"):
        gaps = s[..., None, :] - s[..., :, None] + _others(k)  # y, r
        losses = gaps.max(axis=-1) if surrogate == "crammer_singer" else np.maximum(gaps, 0).sum(axis=-1)
    else:
        yes, no = (_margin_loss(surrogate, z) for z in (s, -s))
        losses = yes + no @ _others(k)
    return losses


def _margin_loss(surrogate: str, z: Numbers) -> Numbers:
    if surrogate == "ova_logistic":
        return loss.logistic(z)
    losses: Numbers = np.maximum(1 - z, 0) if surrogate == "ova_hinge" else (1 - z) * (1 - z)
    return losses


def _others(k: int) -> NDArray[np.int64]:
    """1 but for the diagonal."""
    return 1 - np.eye(k, dtype=np.int64)


def conditional_risk(surrogate: str, scores: ArrayLike, probabilities: ArrayLike) -> Any:
    r"""The mean loss :math:`R(s) = \sum_y p_y L_y(s)` where the classes have probabilities p.

    See def-consistency-risk.

    Parameters
    ----------
    surrogate : str
        One of :data:`SURROGATES`.
    scores : (..., k) array-like
        As in :func:`losses`.
    probabilities : (..., k) array-like
        Not negative, each row with the sum 1. Those of a shorter type than float64 may miss it by the
        rounding of that type, and are divided by their sum in float64. Leading axes are broadcast with those
        of the scores.

    Returns
    -------
    number or array
        Without the last axis; fractions if both arguments are and the loss is one.

    Examples
    --------
    >>> conditional_risk("crammer_singer", [[0, 0, 0], [1, 0, 0]], [0.4, 0.35, 0.25])
    array([1. , 1.2])
    """
    p, paid = _probabilities(probabilities), losses(surrogate, scores)
    if p.shape[-1] != paid.shape[-1]:
        raise ValueError(
            f"scores have {paid.shape[-1]} classes and probabilities {p.shape[-1]}; they must agree"
        )
    if p.dtype != paid.dtype:
        p, paid = p.astype(np.float64), paid.astype(np.float64)
    return (p * paid).sum(axis=-1)


def simplex_grid(k: int, n: int) -> Numbers:
    """All probabilities of k classes that are whole multiples of 1/n, as fractions.

    Parameters
    ----------
    k : int
        Number of classes, at least 2.
    n : int
        At least 1.

    Returns
    -------
    (N, k) array of fractions
        The first class loses probability from row to row; N is the number of ways to put n into k boxes.

    Examples
    --------
    >>> simplex_grid(3, 2).astype(float)
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0. , 0.5, 0.5],
           [0. , 0. , 1. ]])
    """
    k, n = integer(k, "k", 2, feasible=_MOST_POINTS), integer(n, "n", 1, feasible=_MOST_POINTS)
    points = comb(n + k - 1, min(n, k - 1)) if min(n, k - 1) < 100 else inf
    if points > _MOST_POINTS:
        raise ValueError(
            f"k and n must give at most {_MOST_POINTS} points, found {points:.3g} for k={k} and n={n}"
        )
    # n stars and k - 1 bars; the places of the bars
    bars = np.array(list(combinations(range(n + k - 1), k - 1)))[::-1]
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + k - 1)))
    return _fractions(np.diff(ends, axis=1) - 1) / n


# ---------------------------------------------------------------------------------------------------
# The least risk


@cache
def _corners(surrogate: str, k: int) -> Numbers:
    if surrogate in ("crammer_singer", "weston_watkins"):
        steps = np.array(list(product((0, 1), repeat=k - 1)))
        return _fractions(np.pad(np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1))))
    first = np.tri(k + 1, k, -1, dtype=np.int64)  # the first 0, 1, ..., k classes
    if surrogate == "ova_hinge":
        return _fractions(2 * first - 1)
    size = first[1:].sum(axis=1, keepdims=True)
    corners: Numbers = (_fractions(first[1:]) * k / size - 1) / (k - 1)
    return corners


def corners(surrogate: str, k: int) -> Numbers:
    r"""Falling scores that suffice: if p falls too, one of them has the least risk (lem-consistency-corners).

    For Crammer-Singer and Weston-Watkins they fall by 0 or 1 from class to class, which orders the classes
    into groups of equals; for Lee-Lin-Wahba :math:`s + \frac1{k-1}` is constant on the first classes and 0 on
    the others; for the one-vs-all hinge the first classes have 1 and the others -1.

    Parameters
    ----------
    surrogate : str
        One of :data:`POLYHEDRAL`.
    k : int
        Number of classes, from 2 to 16.

    Returns
    -------
    (N, k) array of fractions

    Examples
    --------
    >>> corners("weston_watkins", 3).astype(int)
    array([[0, 0, 0],
           [1, 1, 0],
           [1, 0, 0],
           [2, 1, 0]])
    """
    one_of(surrogate, "surrogate", POLYHEDRAL)
    k = integer(k, "k", 2, _LARGEST)  # some have 2^(k-1) corners
    return _corners(surrogate, k).copy()


class _Pieces(NamedTuple):
    r"""The risk as :math:`\sum_g w_g \max(0, \max_{i \in g} a_i + \langle b_i, s \rangle)`."""

    a: Numbers
    b: Numbers
    groups: NDArray[np.int64]  # a row for each group, 1 at its pieces
    weights: NDArray[np.int64]  # w = weights @ p


def _pieces(surrogate: str, k: int) -> _Pieces:
    """Pieces in the order of the multipliers; of Crammer-Singer those of a true class are a group."""
    unit, others = np.eye(k, dtype=np.int64), _others(k)
    if surrogate == "lee_lin_wahba":
        return _Pieces(np.full(k, Fraction(1, k - 1)), unit - np.full((k, k), Fraction(1, k)), unit, others)
    if surrogate == "ova_hinge":
        ones = np.ones(2 * k, dtype=np.int64)
        return _Pieces(
            ones, np.vstack([-unit, unit]), np.eye(2 * k, dtype=np.int64), np.vstack([unit, others])
        )
    slopes = (unit[None, :, :] - unit[:, None, :]).reshape(k * k, k)  # y, r
    own = np.repeat(unit, k, axis=0)
    if surrogate == "crammer_singer":
        return _Pieces(others.ravel(), slopes, own.T, unit)
    return _Pieces(others.ravel(), slopes, np.eye(k * k, dtype=np.int64), own)


@dataclass(frozen=True, eq=False)
class Minimum:
    r"""The least conditional risk, with what proves it; see :func:`minimise`.

    Attributes
    ----------
    scores : (k,) array
        Scores with the least risk. Where none have it (softmax, logistic, and a probability that is 0 or 1)
        they are infinite, the limit of scores whose risk tends to ``value``.
    value : number
        The least risk.
    multipliers : array
        What proves it (prop-consistency-dual). Crammer-Singer and Weston-Watkins: (k, k), entry (y, r)
        belongs to :math:`1 + s_r - s_y`. Lee-Lin-Wahba: (k,). One-vs-all hinge: (2, k), the first row belongs
        to :math:`1 - s_r`, the second to :math:`1 + s_r`. Smooth surrogates: (k,), probabilities whose
        entropy is a lower bound (thm-consistency-smooth).
    certificate : Certificate
        The risk of the scores, and the lower bound that the multipliers give.
    exact : bool
        Whether scores, value and multipliers are fractions and the bound equals the value.
    """

    scores: Numbers
    value: Any
    multipliers: Numbers
    certificate: Certificate
    exact: bool


def minimise(
    surrogate: str, probabilities: ArrayLike, *, top: int | None = None, exact: bool = False
) -> Minimum:
    """The least conditional risk, of all scores or of those where a given class is on top.

    Scores of polyhedral surrogates come from the corners (lem-consistency-corners), with the other classes in
    the order of their probabilities (lem-consistency-order); the multipliers that prove them right come from
    a linear programme that does not use the corners.

    Parameters
    ----------
    surrogate : str
        One of :data:`SURROGATES`.
    probabilities : (k,) array-like
        Not negative, with the sum 1, as in :func:`conditional_risk`; for polyhedral surrogates of at most 16
        classes.
    top : int, optional
        Only scores are allowed whose largest one, alone or with others, is that of this class.
    exact : bool, default=False
        Compute in fractions, which the probabilities then must be. Not for softmax and logistic.

    Returns
    -------
    Minimum

    Examples
    --------
    >>> result = minimise("lee_lin_wahba", [0.4, 0.35, 0.25])
    >>> result.scores, round(result.value, 3), result.certificate.certifies(1e-9)
    (array([ 1. , -0.5, -0.5]), 0.9, True)
    >>> minimise("lee_lin_wahba", [0.4, 0.35, 0.25], top=1).scores
    array([ 0.25,  0.25, -0.5 ])
    """
    _check_surrogate(surrogate)
    p = _probabilities(probabilities)
    if p.ndim != 1:
        raise ValueError(f"probabilities must be those of one distribution, found shape {p.shape}")
    if top is not None:
        top = integer(top, "top", 0, len(p) - 1)
    exact = switch(exact, "exact")
    if exact and surrogate not in _RATIONAL:
        raise ValueError(f"exact=True is for {', '.join(map(repr, _RATIONAL))}, found {surrogate!r}")
    if exact and p.dtype != object:
        raise ValueError(f"probabilities must be fractions if exact=True, found dtype {p.dtype}")
    if not exact:
        p = p.astype(np.float64)
    return _minimise(surrogate, p, top) if surrogate in POLYHEDRAL else _minimise_smooth(surrogate, p, top)


def _minimise(surrogate: str, p: Numbers, top: int | None) -> Minimum:
    k, exact = len(p), p.dtype == object
    order = np.argsort(-p, kind="stable")
    if top is not None:
        order = np.concatenate([[top], order[order != top]])
    risks = _risks_of_corners(surrogate, p[order])
    best = int(risks.argmin())
    scores = np.empty_like(p)
    scores[order] = _corners(surrogate, k)[best]
    value = risks[best] if exact else float(risks[best])

    pieces = _pieces(surrogate, k)
    # rows e_top - e_j, which are not negative at the scores that are allowed
    leads = np.zeros((0, k), dtype=np.int64)
    if top is not None:
        leads = np.delete(np.eye(k, dtype=np.int64)[top] - np.eye(k, dtype=np.int64), top, axis=0)
    solve = _multipliers_exact if exact else _multipliers
    weights = pieces.weights @ p
    minimiser, pull = solve(pieces, weights, leads, value)
    if surrogate in ("crammer_singer", "weston_watkins"):
        minimiser = minimiser.reshape(k, k)
        minimiser[np.diag_indices(k)] = 0  # of pieces that are 0 for all scores
    bound = pieces.a @ minimiser.ravel()
    residuals = {
        "balance": abs(pieces.b.T @ minimiser.ravel() - leads.T @ pull).max(),
        "excess": max(0, (pieces.groups @ minimiser.ravel() - weights).max(), -minimiser.min()),
    }
    if exact and (bound != value or any(residuals.values())):
        raise RuntimeError(f"no multipliers prove that {value} is the least risk of {surrogate!r}")
    if surrogate == "ova_hinge":
        minimiser = minimiser.reshape(2, k)
    kkt = {name: float(residual) for name, residual in residuals.items()}
    certificate = Certificate(float(value), float(bound), kkt)
    return Minimum(scores, value, minimiser, certificate, exact)


def _risks_of_corners(surrogate: str, p: Numbers) -> Numbers:
    paid = _losses_of_corners(surrogate, p.shape[-1])
    risks: Numbers = p @ (paid if p.dtype == object else paid.astype(np.float64)).T
    return risks


@cache
def _losses_of_corners(surrogate: str, k: int) -> Numbers:
    if k > _LARGEST:
        raise ValueError(f"probabilities must be of at most {_LARGEST} classes for {surrogate!r}, found {k}")
    return _losses(surrogate, _corners(surrogate, k))


def _multipliers(pieces: _Pieces, w: Numbers, leads: Ints, value: Any) -> tuple[Numbers, Numbers]:
    r"""The largest :math:`\langle a, \lambda \rangle`, by HiGHS."""
    n = len(pieces.a)
    solved = linprog(
        -np.concatenate([pieces.a, np.zeros(len(leads))]).astype(np.float64),
        A_ub=np.pad(pieces.groups, ((0, 0), (0, len(leads)))),
        b_ub=w,
        A_eq=np.hstack([pieces.b.T, -leads.T]).astype(np.float64),
        b_eq=np.zeros(leads.shape[1]),
        method="highs-ds",
    )
    if solved.status != 0:
        raise RuntimeError(f"HiGHS found no multipliers for the risk {value}: {solved.message}")
    return solved.x[:n], solved.x[n:]


def _multipliers_exact(pieces: _Pieces, w: Numbers, leads: Ints, value: Any) -> tuple[Numbers, Numbers]:
    r"""Multipliers of the risk in fractions: they prove that no scores have a smaller one.

    Unknowns are s, the paid :math:`\xi_g`, and t > 0, by which all is multiplied; that
    :math:`\sum_g w_g \xi_g < t \cdot` value is impossible then has a proof (prop-capacity-alternative).
    """
    k, n = leads.shape[1], len(w)
    zero = np.zeros
    strict = np.vstack(
        [np.concatenate([zero(k + n, int), [1]]), np.concatenate([zero(k, int), -w, [value]]).astype(object)]
    )
    weak = np.vstack(
        [
            np.hstack([-pieces.b, pieces.groups.T, -pieces.a[:, None]]),
            np.hstack([leads, zero((len(leads), n + 1), int)]),
            np.hstack([zero((n, k), int), np.eye(n, dtype=int), zero((n, 1), int)]),
        ]
    )
    solved = decide(strict, weak, exact=True)
    if solved.strict is None or solved.weak is None:
        raise RuntimeError(f"there are scores with a risk below {value}: {solved.solution}")
    multipliers = (
        solved.weak
    )  # with the factors 0 of t > 0 and 1 of the other, as there are scores with the value
    return multipliers[: len(pieces.a)], multipliers[len(pieces.a) : len(pieces.a) + len(leads)]


# ---------------------------------------------------------------------------------------------------
# The smooth surrogates


def _pooled(p: Numbers, top: Ints) -> Numbers:
    """In each row, the class on top and all that are above the mean of those get that mean."""
    rest = p.copy()
    own = np.take_along_axis(p, top[:, None], axis=1)
    np.put_along_axis(rest, top[:, None], -1, axis=1)
    rest = -np.sort(-rest, axis=1)[:, :-1]
    sizes = np.arange(1, p.shape[1] + 1)
    # while the next one is above the mean, the mean rises
    means = np.cumsum(np.hstack([own, rest]), axis=1) / sizes
    mean = means.max(axis=1, keepdims=True)
    pooled: Numbers = np.minimum(p, mean)
    np.put_along_axis(pooled, top[:, None], mean, axis=1)
    return pooled


def _minimise_smooth(surrogate: str, p: Numbers, top: int | None) -> Minimum:
    q = p if top is None else _pooled(p[None], np.array([top]))[0]
    scores: Numbers
    if surrogate == "squared":
        scores = 2 * q - 1
    else:
        with np.errstate(divide="ignore"):
            scores = logit(q) if surrogate == "ova_logistic" else np.log(q)
    value, bound = (_cross(surrogate, mix, q) for mix in (p, q))
    exact = p.dtype == object
    return Minimum(
        scores, value if exact else float(value), q, Certificate(float(value), float(bound)), exact
    )


def _cross(surrogate: str, p: Numbers, q: Numbers) -> Any:
    """The risk at the scores that are best for q, also where these are infinite."""
    if surrogate == "squared":
        return 4 * (p * (1 - q) * (1 - q) + (1 - p) * q * q).sum()
    if surrogate == "softmax":
        return -xlogy(p, q).sum()
    return -(xlogy(p, q) + xlog1py(1 - p, -q)).sum()


def _divergence(surrogate: str, p: Numbers, q: Numbers) -> Numbers:
    """What scores that are best for q pay more than those that are best for p, row by row."""
    if surrogate == "squared":
        parts = 4 * (p - q) * (p - q)
    else:
        p, q = p.astype(np.float64), q.astype(np.float64)
        parts = kl_div(p, q)
        if surrogate == "ova_logistic":
            parts = parts + kl_div(1 - p, 1 - q)
    divergence: Numbers = parts.sum(axis=-1)
    return divergence


# ---------------------------------------------------------------------------------------------------
# Calibration


def calibration_gap(surrogate: str, probabilities: ArrayLike) -> Any:
    r"""The least excess risk of scores whose decision may be wrong (def-consistency-gap).

    The decision may be wrong if a class that is not one of the most probable ones has the largest score,
    alone or with others. The gap is the infimum of their risks less the infimum of all risks: positive where
    the surrogate is calibrated, else 0. Where all classes are equally probable no prediction is wrong, and
    the gap is infinite.

    It is enough to look at the most probable of the wrong classes (lem-consistency-order).

    Parameters
    ----------
    surrogate : str
        One of :data:`SURROGATES`.
    probabilities : (k,) or (n, k) array-like
        Not negative, each row with the sum 1, as in :func:`conditional_risk`; for polyhedral surrogates of at
        most 16 classes. Floating-point values are compared as they are, and small gaps are lost in rounding;
        with fractions (an array of objects) all is exact, but for logarithms.

    Returns
    -------
    number or (n,) array
        Fractions, and ``inf``, for fractions in a polyhedral surrogate or ``"squared"``.

    Examples
    --------
    >>> calibration_gap("crammer_singer", [[0.625, 0.25, 0.125], [0.375, 0.375, 0.25]])
    array([0.25, 0.  ])
    >>> from fractions import Fraction
    >>> third, sixth = Fraction(1, 3), Fraction(1, 6)
    >>> print(calibration_gap("lee_lin_wahba", [third, third, sixth, sixth]))
    2/27
    """
    _check_surrogate(surrogate)
    p = np.atleast_2d(_probabilities(probabilities))
    if p.ndim > 2:
        raise ValueError(f"probabilities must be a vector or a matrix, found shape {p.shape}")
    p = -np.sort(-p, axis=1)
    k = p.shape[1]
    n_best = (p == p[:, :1]).sum(axis=1)
    wrong = np.minimum(n_best, k - 1)  # the first class that is not one of the best
    gap: Numbers
    if surrogate in POLYHEDRAL:
        # the wrong class goes first
        columns = np.arange(k)
        order = columns - (columns <= wrong[:, None])
        order[:, 0] = wrong
        on_top = _risks_of_corners(surrogate, np.take_along_axis(p, order, axis=1))
        gap = np.maximum(on_top.min(axis=1) - _risks_of_corners(surrogate, p).min(axis=1), 0)
    else:
        gap = _divergence(surrogate, p, _pooled(p, wrong))
    gap = np.where(n_best < k, gap, np.inf)
    return gap if np.ndim(probabilities) == 2 else gap[0]


def abstain(surrogate: str, scores: ArrayLike, threshold: float | None = None) -> Ints:
    r"""Predict only where the scores show that a class has a majority (thm-consistency-abstain).

    If to abstain costs 1/2 and a mistake 1, it is best to predict where some class is more probable than 1/2.
    Crammer-Singer shows it by the lead of the largest score over the second, the one-vs-all hinge by the
    largest score.

    Parameters
    ----------
    surrogate : {"crammer_singer", "ova_hinge"}
        What the scores were trained by.
    scores : (m, k) array-like
        Finite scores.
    threshold : float, optional
        What the lead must exceed, between 0 and 1, by default 1/2; or what the largest score must exceed,
        between -1 and 1, by default 0.

    Returns
    -------
    (m,) int array
        The class of the largest score, or -1 to abstain.

    Examples
    --------
    >>> abstain("crammer_singer", [[1.0, 0.0, 0.0], [0.5, 0.25, 0.0]])
    array([ 0, -1])
    >>> abstain("ova_hinge", [[1.0, -1.0, -1.0], [-0.5, -1.0, -1.0]])
    array([ 0, -1])
    """
    ranges = {"crammer_singer": (0.0, 0.5, 1.0), "ova_hinge": (-1.0, 0.0, 1.0)}
    low, usual, high = ranges[one_of(surrogate, "surrogate", ranges)]
    bar = usual if threshold is None else number(threshold, "threshold", above=low, below=high)
    s = _numbers(scores, "scores").astype(np.float64)
    if s.ndim != 2:
        raise ValueError(f"scores must be a matrix with a row for each example, found shape {s.shape}")
    ordered = np.sort(s, axis=1)
    known = ordered[:, -1] - (ordered[:, -2] if surrogate == "crammer_singer" else 0.0)
    return np.where(known > bar, s.argmax(axis=1), -1)


# ---------------------------------------------------------------------------------------------------
# What is passed in


def _check_surrogate(surrogate: str) -> None:
    one_of(surrogate, "surrogate", SURROGATES)


def _fractions(values: NDArray[Any]) -> Numbers:
    """Whole numbers or fractions, as fractions."""
    entries = [Fraction(value) for value in values.ravel().tolist()]
    return np.array([*entries, None], dtype=object)[:-1].reshape(values.shape)


def _numbers(values: ArrayLike, name: str) -> Numbers:
    """Finite numbers of at least two classes: fractions, or float64."""
    matrix = array(values, name)
    if matrix.ndim < 1 or matrix.shape[-1] < 2:
        raise ValueError(
            f"{name} must have an entry for each of at least two classes, found shape {matrix.shape}"
        )
    if matrix.dtype == object:
        bad = [entry for entry in matrix.flat if not isinstance(entry, (int, Fraction, np.integer))]
        if bad:
            raise ValueError(f"{name} must be numbers, or all of them whole or fractions, found {bad[0]!r}")
        return _fractions(matrix)
    if matrix.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be real numbers, found dtype {matrix.dtype}")
    matrix = matrix.astype(np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite, found {matrix[~np.isfinite(matrix)][0]}")
    return matrix


def _probabilities(values: ArrayLike) -> Numbers:
    p = _numbers(values, "probabilities")
    sums = np.asarray(p.sum(axis=-1))
    # what rounding to its own digits may do to numbers that were divided by their sum
    given = np.asarray(values).dtype
    short = given.kind == "f" and np.finfo(given).eps > 1e-10
    slack = 0 if p.dtype == object else 1e-9
    if short:
        slack = (p.shape[-1] + 4) * float(np.finfo(given).eps)
    bad = (np.asarray(p.min(axis=-1)) < 0) | (np.abs(sums - 1) > slack)
    if np.any(bad):
        row = p[bad][0] if p.ndim > 1 else p
        raise ValueError(
            f"probabilities must not be negative and must have the sum 1, found [{', '.join(map(str, row))}]"
        )
    return p / sums[..., None] if short else p
