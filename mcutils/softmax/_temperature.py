"""One temperature for the scores of all classes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._checks import class_labels, switch
from .._typing import Floats
from .._weights import example_weights
from ..certificate import Certificate
from ._loss import finite_gaps, log_softmax, softmax

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Temperature:
    r"""The temperature of some scores; see :func:`temperature`.

    Attributes
    ----------
    temperature : float
        T. 0 where the loss decreases for ever as the scores grow, infinite where it is least without them.
    before : float
        Mean loss at :math:`T = 1`, with smoothed targets if ``smooth``.
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
        f = finite_gaps(scores)
        below = f - f.max(axis=1, keepdims=True)
        if self.temperature == 0:
            shares: Floats = (below == 0) / (below == 0).sum(axis=1, keepdims=True)
            return shares
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
        others, m being the sum of the weights. That is the share of right predictions that Laplace's rule
        expects after m right predictions of m, and T is positive even if there are no mistakes.
    sample_weight : (m,) array-like, optional

    Returns
    -------
    Temperature
        T is 1 by convention if it makes no difference, all scores of every example being equal.

    Examples
    --------
    >>> scores = [[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]]  # softmax: 0.982
    >>> result = temperature(scores, [0, 0, 0, 1])  # is right with 3 of 4
    >>> round(result.temperature, 4), result.probabilities(scores[:1]).round(4)
    (3.641, array([[0.75, 0.25]]))
    """
    f = finite_gaps(scores)
    m, k = f.shape
    codes = class_labels(y, m, k)
    weights = example_weights(sample_weight, m, all_zero=True)
    if not weights.sum() > 0:
        raise ValueError("sample_weight must be positive for at least one example")
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
