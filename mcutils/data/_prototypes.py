"""Gaussian classes whose means hang in a tree: any number of classes, and the Bayes rule is known."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from mcutils._checks import generator, integer, number, reals

MOST_NUMBERS = 100_000_000
MOST_DRAWN = 10_000_000  # examples: at seven numbers each about half a gigabyte

Floats = NDArray[np.float64]

# Scores are computed in chunks of this many entries.
_CHUNK = 2**21


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Equally likely Gaussian classes with one common, diagonal covariance; made by :func:`prototypes`.

    Attributes
    ----------
    means : (k, d) array
        The mean of each class.
    scales : (d,) array
        The standard deviation of each feature inside every class.
    order : (k,) int array
        The classes in the order of the leaves of their tree: relatives are neighbours.
    """

    means: Floats
    scales: Floats
    order: NDArray[np.intp]

    def draw(
        self, n: int, random_state: int | np.random.Generator | None = None
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Draw examples, of each class equally many up to one, in random order.

        Parameters
        ----------
        n : int
            How many, at least 1.
        random_state : int, numpy.random.Generator or None
            Seed, or a generator that is advanced.

        Returns
        -------
        X : (n, d) array
        y : (n,) int array
        """
        n = integer(n, "n", 1, feasible=MOST_DRAWN)
        rng = generator(random_state)
        k, d = self.means.shape
        # where n is no multiple of k, the classes that get one more are drawn too
        y = rng.permutation(rng.permutation(k)[np.arange(n) % k])
        return self.means[y] + rng.normal(size=(n, d)) * self.scales, y

    def log_posterior(self, X: ArrayLike) -> Floats:
        r"""The logarithms of the class probabilities.

        With :math:`\Sigma` the common covariance they are the linear scores
        :math:`\mu_y^\top \Sigma^{-1} x - \frac12 \mu_y^\top \Sigma^{-1} \mu_y`, up to what is common to all
        classes.

        Parameters
        ----------
        X : (n, d) array-like

        Returns
        -------
        (n, k) array
        """
        weights = self.means / self.scales**2
        scores: Floats = self._points(X) @ weights.T
        scores -= (weights * self.means).sum(axis=1) / 2
        scores -= logsumexp(scores, axis=1, keepdims=True)
        return scores

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """The Bayes rule: the most probable class.

        Parameters
        ----------
        X : (n, d) array-like

        Returns
        -------
        (n,) int array
        """
        return self._by_parts(X, lambda logs: logs.argmax(axis=1))

    def bayes_error(
        self, n: int = 20_000, random_state: int | np.random.Generator | None = 0
    ) -> tuple[float, float]:
        r"""The Bayes error :math:`\mathbb E[1 - \max_y p(y \mid x)]` by Monte Carlo, with its standard error.

        Parameters
        ----------
        n : int
            How many draws, at least 2.
        random_state : int, numpy.random.Generator or None
            Seed, or a generator that is advanced.

        Returns
        -------
        estimate, standard_error : float
        """
        n = integer(n, "n", 2, feasible=MOST_DRAWN)  # with one draw there is no standard error
        X, _ = self.draw(n, random_state)
        risk = 1.0 - np.exp(self._by_parts(X, lambda logs: logs.max(axis=1)))
        return float(risk.mean()), float(risk.std(ddof=1) / np.sqrt(n))

    def _points(self, X: ArrayLike) -> Floats:
        points, d = reals(X, "X"), self.means.shape[1]
        if points.ndim != 2 or len(points) < 1 or points.shape[1] != d:
            raise ValueError(f"X must have a row of {d} numbers for each example, found shape {points.shape}")
        return points

    def _by_parts(self, X: ArrayLike, summary: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """A summary of the log-posteriors of each example, without all of them at once."""
        points = self._points(X)
        rows = max(1, _CHUNK // len(self.means))
        parts = [summary(self.log_posterior(points[i : i + rows])) for i in range(0, len(points), rows)]
        return np.concatenate(parts)


def prototypes(
    k: int,
    d: int = 64,
    *,
    separation: float = 2.2,
    growth: float = 1.2,
    spread: float = 1.5,
    random_state: int | np.random.Generator | None = None,
) -> Prototypes:
    r"""k Gaussian classes whose means hang in a binary tree, so that relatives are easily confused.

    The mean of a class is the sum of the steps on its way from the root: a step that ends at height h above
    the leaves is Gaussian, of expected squared length :math:`(s g^h)^2` with the separation s and the growth
    g. The scales of the noise lie between 1/spread and spread, uniform in their logarithm. The lowest heights
    look the same for every k, so that the Bayes error hardly depends on k. The classes are dealt to the
    leaves at random: their numbers do not show which leaves are related.

    Parameters
    ----------
    k : int
        Number of classes, at least 2.
    d : int
        Number of features, at least 1.
    separation : float
        s, positive.
    growth : float
        g, at least 0. At 0 only the last steps are left: no class is related to another.
    spread : float
        At least 1; at 1 the covariance is the identity.
    random_state : int, numpy.random.Generator or None
        Seed, or a generator that is advanced.

    Returns
    -------
    Prototypes

    Examples
    --------
    >>> from mcutils.data import prototypes
    >>> nature = prototypes(100, random_state=0)
    >>> X, y = nature.draw(3000, random_state=1)
    >>> X.shape, sorted(set(np.bincount(y).tolist()))
    ((3000, 64), [30])
    >>> error, standard_error = nature.bayes_error()
    >>> 0.03 < error < 0.08, standard_error < 0.002
    (True, True)
    """
    k, d = integer(k, "k", 2, feasible=MOST_DRAWN), integer(d, "d", 1, feasible=MOST_DRAWN)
    separation = number(separation, "separation", above=0)
    growth, spread = number(growth, "growth", least=0), number(spread, "spread", least=1)
    if k * d > MOST_NUMBERS:
        raise ValueError(f"k and d must have a product of at most {MOST_NUMBERS}, found {k} and {d}")
    if growth > 1 and (k - 1).bit_length() * log(growth) > 300:
        raise ValueError(f"growth must be smaller for {k} classes: the means overflow, found {growth}")
    rng = generator(random_state)
    scales = spread ** rng.uniform(-1, 1, size=d)
    means = np.zeros((1, d))
    for height in range((k - 1).bit_length() - 1, -1, -1):
        nodes = -(-k // 2**height)  # leaf i hangs below node i // 2^h
        steps = rng.normal(size=(nodes, d)) / np.sqrt(d)
        means = means[np.arange(nodes) // 2] + separation * growth**height * steps
    order = rng.permutation(k)
    dealt = np.empty_like(means)
    dealt[order] = means
    for array in (dealt, scales, order):
        array.flags.writeable = False
    return Prototypes(dealt, scales, order)
