"""How good probabilities are: scores of them, and their reliability."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from .._checks import array, class_labels, integer, number, reals
from .._typing import Floats, Ints
from ._loss import probability_rows

_MOST_BINS = 1_000_000


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
    p = probability_rows(probabilities)
    return p, class_labels(y, *p.shape)


@dataclass(frozen=True, eq=False)
class Reliability:
    r"""How often predictions with a given confidence are right; see :func:`reliability`.

    Attributes
    ----------
    edges : (n + 1,) array
        Ends of the bins. A confidence on the border of two bins is in the upper one.
    counts : (n,) int array
        How many examples are in each bin.
    confidence, accuracy : (n,) array
        Mean confidence and share of right predictions in each bin; nan in an empty one.
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
        True classes, 0 to k-1. The predicted class is that of the largest probability; ties go to the
        smallest.
    bins : int or (n + 1,) array-like, default=10
        The number of bins of equal width from 0 to 1; or their ends, increasing from 0 to 1.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]
    >>> result = reliability(p, [0, 1, 1, 0], bins=[0, 0.5, 0.75, 1])
    >>> result.counts, result.confidence.round(3), result.accuracy, round(result.ece, 3)
    (array([0, 2, 2]), array([ nan, 0.65, 0.85]), array([nan, 1. , 0.5]), 0.35)
    """
    p, codes = _judged(probabilities, y)
    level = number(level, "level", above=0, below=1)
    if array(bins, "bins").ndim == 0:
        edges = np.linspace(0.0, 1.0, integer(bins, "bins", 1, feasible=_MOST_BINS) + 1)
    else:
        edges = reals(bins, "bins")
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
    return Reliability(edges, counts, means, shares, lower, upper, level, ece)


def _wilson(hits: NDArray[Any], counts: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    r"""The shares :math:`\pi` with :math:`|h - n \pi| \le z \sqrt{n \pi (1 - \pi)}`, for h hits among n."""
    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (hits + z2 / 2) / (counts + z2)
    # n p (1 - p) without a division, for empty bins
    spread = hits * (counts - hits) / np.maximum(counts, 1)
    half = np.sqrt(z2 * (spread + z2 / 4)) / (counts + z2)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
