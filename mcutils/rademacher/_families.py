"""Families of functions on a sample, each with its supremum for given signs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, log, prod, sqrt
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky

from .._checks import array, integer, number
from .._typing import Floats
from ..kernel import check_psd
from ._enumeration import MOST_STEPS, ROOM, mean_extremes, mean_norm, too_many
from ._quadratic import SMALL, features_of, largest_eigenvalue, quadratic_forms, root, trace

Suprema: TypeAlias = Callable[[Floats], Any]


@runtime_checkable
class Family(Protocol):
    """What :func:`complexity` and :func:`monte_carlo` need; a family of your own has these three."""

    @property
    def m(self) -> int:
        """Size of the sample, by which the supremum is divided."""

    @property
    def n_signs(self) -> int:
        """How many signs there are: m, or more for functions with several outputs."""

    def supremum(self, signs: ArrayLike) -> Floats:
        r""":math:`\sup_g \sum_i \sigma_i g(z_i)` for each row of signs, not yet divided by m."""


class KnownFamily:
    """What the families of this module have in common."""

    @property
    def m(self) -> int:
        """Size of the sample."""
        raise NotImplementedError

    @property
    def n_signs(self) -> int:
        """How many signs there are: one for each example."""
        return self.m

    @property
    def envelope(self) -> Floats:
        r"""What no function exceeds: :math:`\sup_g |g(z_i)|` for each sign."""
        raise NotImplementedError

    @property
    def norm(self) -> float:
        r"""A bound on the length of every function's vector, :math:`\sup_g \sqrt{\sum_i g(z_i)^2}`."""
        raise NotImplementedError

    def supremum(self, signs: ArrayLike) -> Floats:
        r"""The supremum :math:`\sup_g \sum_i \sigma_i g(z_i)`, for each row of signs.

        Parameters
        ----------
        signs : (n, n_signs) array-like
            Entries -1 and +1.

        Returns
        -------
        (n,) array
            Not divided by m.
        """
        return self._suprema(_signs(signs, self.n_signs))

    def __sizeof__(self) -> int:
        # with the arrays: a backend of joblib that moves data asks, and sends what is large to a worker once
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        return object.__sizeof__(self) + sum(value.nbytes for value in arrays)

    def _suprema(self, signs: Floats) -> Floats:
        raise NotImplementedError

    def _exact(self) -> float:
        raise NotImplementedError

    def _for_draws(self, n_draws: int) -> "KnownFamily":
        """A family of the same complexity whose draws cost or vary less."""
        return self

    def _upper(self) -> float:
        raise NotImplementedError

    def _lower(self) -> float:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Finite(KnownFamily):
    r"""Finitely many functions, by their values on the sample.

    Parameters
    ----------
    values : (n_functions, m) array-like
        Row j holds :math:`g_j(z_1), \dots, g_j(z_m)`.

    Examples
    --------
    >>> both = Finite([[1.0, 1.0], [-1.0, -1.0]])
    >>> both.supremum([[1, 1], [1, -1]])
    array([2., 0.])
    >>> complexity(both)
    0.5
    """

    values: Floats

    def __post_init__(self) -> None:
        _keep(self, "values", _matrix(self.values, "values", "a row for each function"))

    @property
    def m(self) -> int:
        """Size of the sample."""
        return int(self.values.shape[1])

    @property
    def envelope(self) -> Floats:
        r""":math:`\max_g |g(z_i)|` for each example."""
        bound: Floats = np.abs(self.values).max(axis=0)
        return bound

    @property
    def norm(self) -> float:
        r""":math:`\max_g \sqrt{\sum_i g(z_i)^2}`."""
        return float(np.linalg.norm(self.values, axis=1).max())

    def _suprema(self, signs: Floats) -> Floats:
        rows = max(1, ROOM // len(self.values))
        parts = [
            (signs[i : i + rows] @ self.values.T).max(axis=1, initial=-np.inf)
            for i in range(0, len(signs), rows)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _exact(self) -> float:
        functions = np.unique(self.values, axis=0)
        # the supremum for the opposite signs is minus the infimum for these
        return mean_extremes(functions, lambda high, low: (high - low) / 2) / self.m

    def _for_draws(self, n_draws: int) -> "KnownFamily":
        # One function added to all changes no complexity (prop-rademacher-rules): with the middle of the
        # values at every example taken off, the suprema vary least.
        middle = (self.values.max(axis=0) + self.values.min(axis=0)) / 2
        return Finite(self.values - middle)

    def _upper(self) -> float:
        n_functions = len(np.unique(self.values, axis=0))
        return self.norm * sqrt(2 * log(n_functions)) / self.m

    def _lower(self) -> float:
        functions = np.unique(self.values, axis=0)
        far = max(float(np.linalg.norm(functions - one, axis=1).max()) for one in functions)
        return far / (2 * sqrt(2) * self.m)


@dataclass(frozen=True, eq=False)
class KernelBall(KnownFamily):
    r"""Functions of a kernel with norm at most :math:`\Lambda`.

    By the Cauchy-Schwarz inequality the supremum is :math:`\Lambda \sqrt{\sigma^\top \mathbf K \sigma}`.

    Parameters
    ----------
    gram : (m, m) array-like
        The Gram matrix :math:`\mathbf K` of the sample, symmetric and positive semidefinite up to rounding;
        see :func:`mcutils.kernel.check_psd`.
    radius : float, default=1.0
        :math:`\Lambda`, at least 0.

    Examples
    --------
    >>> KernelBall([[2.0, 1.0], [1.0, 2.0]], radius=3.0).supremum([[1, 1], [1, -1]])
    array([7.34846923, 4.24264069])
    """

    gram: Floats
    radius: float = 1.0

    def __post_init__(self) -> None:
        _keep(self, "gram", _gram(self.gram))
        _keep(self, "radius", number(self.radius, "radius", least=0))

    @property
    def m(self) -> int:
        """Size of the sample."""
        return len(self.gram)

    @property
    def envelope(self) -> Floats:
        r""":math:`\Lambda \sqrt{K(x_i, x_i)}` for each example."""
        return self.radius * root(np.diag(self.gram))

    @cached_property
    def norm(self) -> float:
        r""":math:`\Lambda` times the root of a bound on the largest eigenvalue of :math:`\mathbf K`.

        The eigenvalue itself up to m = 1000.
        """
        return self.radius * sqrt(largest_eigenvalue(self.gram))

    def _suprema(self, signs: Floats) -> Floats:
        return self.radius * root(quadratic_forms(self.gram, signs))

    def _exact(self) -> float:
        return self.radius * mean_norm(features_of(self.gram)) / self.m

    def _upper(self) -> float:
        return self.radius * sqrt(trace(self.gram)) / self.m

    def _lower(self) -> float:
        return self._upper() / sqrt(2)


@dataclass(frozen=True, eq=False)
class L2Ball(KnownFamily):
    r"""Linear functions with :math:`\|w\|_2 \le \Lambda`: a kernel ball, given by its features.

    The supremum is :math:`\Lambda \bigl\| \sum_i \sigma_i x_i \bigr\|_2`.

    Parameters
    ----------
    X : (m, d) array-like
        The examples.
    radius : float, default=1.0
        :math:`\Lambda`, at least 0.

    Examples
    --------
    >>> L2Ball([[3.0, 0.0], [0.0, 4.0]]).supremum([[1, 1], [1, -1]])
    array([5., 5.])
    """

    X: Floats
    radius: float = 1.0

    def __post_init__(self) -> None:
        _keep(self, "X", _matrix(self.X, "X", "a row for each example"))
        _keep(self, "radius", number(self.radius, "radius", least=0))

    @property
    def m(self) -> int:
        """Size of the sample."""
        return len(self.X)

    @property
    def envelope(self) -> Floats:
        r""":math:`\Lambda \|x_i\|_2` for each example."""
        bound: Floats = self.radius * np.linalg.norm(self.X, axis=1)
        return bound

    @cached_property
    def norm(self) -> float:
        r""":math:`\Lambda` times the largest singular value of X, or a bound on it when X is large."""
        thin = self.X if self.X.shape[0] >= self.X.shape[1] else self.X.T
        if thin.shape[1] <= SMALL:
            return self.radius * sqrt(largest_eigenvalue(thin.T @ thin))
        by_sums = sqrt(np.linalg.norm(thin, 1) * np.linalg.norm(thin, np.inf))
        return self.radius * min(by_sums, float(np.linalg.norm(thin)))

    def _suprema(self, signs: Floats) -> Floats:
        suprema: Floats = self.radius * np.linalg.norm(signs @ self.X, axis=1)
        return suprema

    def _exact(self) -> float:
        m, d = self.X.shape
        features = self.X if d <= m else features_of(self.X @ self.X.T)
        return self.radius * mean_norm(features) / self.m

    def _for_draws(self, n_draws: int) -> "KnownFamily":
        # multiplications: 2 m d for a draw from X; from K half of 2 m^2, and to make K m^2 d
        m, d = self.X.shape
        if m * d + n_draws * m < 2 * n_draws * d:
            ball = object.__new__(KernelBall)  # nobody need check that this matrix is semidefinite
            _keep(ball, "gram", self.X @ self.X.T)
            _keep(ball, "radius", self.radius)
            return ball
        return self

    def _upper(self) -> float:
        return self.radius * float(np.linalg.norm(self.X)) / self.m

    def _lower(self) -> float:
        return self._upper() / sqrt(2)


@dataclass(frozen=True, eq=False)
class L1Ball(KnownFamily):
    r"""Linear functions with :math:`\|w\|_1 \le \Lambda`.

    The supremum of a linear function over the ball is at a corner:
    :math:`\Lambda \max_j \bigl| \sum_i \sigma_i x_{ij} \bigr|`.

    Parameters
    ----------
    X : (m, d) array-like
        The examples.
    radius : float, default=1.0
        :math:`\Lambda`, at least 0.

    Examples
    --------
    >>> L1Ball([[3.0, 0.0], [0.0, 4.0]]).supremum([[1, 1], [1, -1]])
    array([4., 4.])
    """

    X: Floats
    radius: float = 1.0

    def __post_init__(self) -> None:
        _keep(self, "X", _matrix(self.X, "X", "a row for each example"))
        _keep(self, "radius", number(self.radius, "radius", least=0))

    @property
    def m(self) -> int:
        """Size of the sample."""
        return len(self.X)

    @property
    def envelope(self) -> Floats:
        r""":math:`\Lambda \max_j |x_{ij}|` for each example."""
        bound: Floats = self.radius * np.abs(self.X).max(axis=1)
        return bound

    @property
    def norm(self) -> float:
        r""":math:`\Lambda` times the length of the longest column of X."""
        return self.radius * float(np.linalg.norm(self.X, axis=0).max())

    def _suprema(self, signs: Floats) -> Floats:
        suprema: Floats = self.radius * np.abs(signs @ self.X).max(axis=1, initial=0.0)
        return suprema

    def _exact(self) -> float:
        columns = np.unique(self.X.T, axis=0)
        return self.radius * mean_extremes(columns, lambda high, low: np.maximum(high, -low)) / self.m

    def _upper(self) -> float:
        corners = np.unique(np.vstack([self.X.T, -self.X.T]), axis=0)
        return self.norm * sqrt(2 * log(len(corners))) / self.m

    def _lower(self) -> float:
        return self.norm / (sqrt(2) * self.m)


@dataclass(frozen=True, eq=False)
class Thresholds(KnownFamily):
    r"""The functions :math:`x \mapsto +1` from a threshold on and -1 below it, for every threshold.

    Thresholds beyond all x are among them, so both constant functions are. There are m + 1 different
    functions on m different numbers; equal numbers cannot be separated. The indicators
    :math:`x \mapsto \mathbb 1[x \ge \theta]` have half the complexity (prop-rademacher-rules: they are
    half of these functions, plus one half).

    The exact complexity is not enumerated: twice the expected maximum of a random walk, by a recursion
    over its steps, for thousands of examples.

    Parameters
    ----------
    x : (m,) array-like
        The examples, in any order.

    Examples
    --------
    >>> Thresholds([1.0, 2.0, 3.0]).supremum([[-1, -1, 1], [1, 1, -1], [-1, 1, -1]])
    array([3., 1., 1.])
    """

    x: Floats

    def __post_init__(self) -> None:
        x = np.asarray(self.x)
        if x.ndim != 1:
            raise ValueError(f"x must be a vector of numbers, found shape {x.shape}")
        _keep(self, "x", _matrix(x[None], "x", "a number for each example")[0])

    @property
    def m(self) -> int:
        """Size of the sample."""
        return len(self.x)

    @property
    def envelope(self) -> Floats:
        """1 for each example."""
        return np.ones(self.m)

    @property
    def norm(self) -> float:
        r""":math:`\sqrt m`."""
        return sqrt(self.m)

    def _suprema(self, signs: Floats) -> Floats:
        order = np.argsort(self.x, kind="stable")
        below = np.cumsum(signs[:, order], axis=1)
        last_of_equals = np.append(np.diff(self.x[order]) > 0, True)
        # the sum above the threshold minus the sum below it; below the least x there is nothing
        suprema: Floats = below[:, -1] - 2 * np.minimum(below[:, last_of_equals].min(axis=1), 0.0)
        return suprema

    def _exact(self) -> float:
        # The supremum is the sum of all signs, of mean 0, plus twice the largest of 0 and minus the sums
        # below a threshold, that is, twice the maximum M of a random walk seen after every group of
        # equals. Backwards: M of the groups from g on is max(0, step of g + M of those after g).
        if self.m**2 > MOST_STEPS:
            raise too_many(f"{self.m}^2", MOST_STEPS)
        sizes = np.unique(self.x, return_counts=True)[1]
        chance = np.ones(1)  # of M = 0, 1, 2, ...
        for size in sizes:
            walk = np.concatenate([np.zeros(size), chance, np.zeros(size)])
            for _ in range(size):
                half = walk / 2
                walk = np.zeros_like(walk)
                walk[1:] += half[:-1]
                walk[:-1] += half[1:]
            chance = walk[size:]
            chance[0] += walk[:size].sum()
        return 2 * float(chance @ np.arange(len(chance))) / self.m

    def _upper(self) -> float:
        n_functions = len(np.unique(self.x)) + 1
        return sqrt(2 * log(n_functions) / self.m)

    def _lower(self) -> float:
        return 1 / sqrt(2 * self.m)


@dataclass(frozen=True, eq=False)
class MulticlassBall(KnownFamily):
    r"""k score functions of a kernel, :math:`f = (f_1, \dots, f_k)` with
    :math:`\sum_y \|f_y\|^2 \le \Lambda^2`: the class :math:`\mathcal H_{K,2,\Lambda}` (def-classes-family).

    There is a sign :math:`\sigma_{iy}` for each example and class, and the complexity is
    :math:`\mathbb E_\sigma \sup_f \frac1m \sum_{i,y} \sigma_{iy} f_y(x_i)`, as part 1 of vector contraction
    (lem-classes-vector-contraction) has it. The supremum is
    :math:`\Lambda \sqrt{\sum_y \sigma_y^\top \mathbf K \sigma_y}` with
    :math:`\sigma_y = (\sigma_{1y}, \dots, \sigma_{my})`.

    Parameters
    ----------
    gram : (m, m) array-like
        The Gram matrix :math:`\mathbf K`, as for :class:`KernelBall`.
    k : int
        Number of classes, at least 1.
    radius : float, default=1.0
        :math:`\Lambda`, at least 0.

    Examples
    --------
    >>> ball = MulticlassBall([[1.0, 1.0], [1.0, 1.0]], k=2)
    >>> ball.supremum([[1, 1, 1, 1], [1, 1, -1, 1]])  # the signs of (i, y) = (1, 1), (1, 2), (2, 1), (2, 2)
    array([2.82842712, 2.        ])
    """

    gram: Floats
    k: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        _keep(self, "gram", _gram(self.gram))
        _keep(self, "k", integer(self.k, "k", 1))
        _keep(self, "radius", number(self.radius, "radius", least=0))

    @property
    def m(self) -> int:
        """Size of the sample."""
        return len(self.gram)

    @property
    def n_signs(self) -> int:
        r"""m k: the sign :math:`\sigma_{iy}` stands at i k + y, both counted from 0."""
        return self.m * self.k

    @property
    def envelope(self) -> Floats:
        r""":math:`\Lambda \sqrt{K(x_i, x_i)}`, for each example k times."""
        return np.repeat(self.radius * root(np.diag(self.gram)), self.k)

    @cached_property
    def norm(self) -> float:
        """As for one ball of the kernel."""
        return KernelBall(self.gram, self.radius).norm

    def _suprema(self, signs: Floats) -> Floats:
        by_class = signs.reshape(len(signs), self.m, self.k).swapaxes(1, 2).reshape(-1, self.m)
        squares = quadratic_forms(self.gram, np.ascontiguousarray(by_class)).reshape(len(signs), self.k)
        return self.radius * root(squares.sum(axis=1))

    def _exact(self) -> float:
        return self.radius * mean_norm(features_of(self.gram), copies=self.k) / self.m

    def _upper(self) -> float:
        return self.radius * sqrt(self.k * trace(self.gram)) / self.m

    def _lower(self) -> float:
        return self._upper() / sqrt(2)


def maximum(*families: Finite) -> Finite:
    r"""All pointwise maxima :math:`z \mapsto \max(g_1(z), \dots, g_l(z))` with :math:`g_j \in \mathcal G_j`.

    Lemma 8.1 (lem-rademacher-maximum) says that the complexity is at most the sum of those of the
    families.

    Parameters
    ----------
    *families : Finite
        On the same sample.

    Returns
    -------
    Finite
        A function for every choice of one from each family, the last family's changing first.

    Examples
    --------
    >>> maximum(Finite([[0, 5], [3, 3]]), Finite([[1, 1], [4, 0]])).values
    array([[1., 5.],
           [4., 5.],
           [3., 3.],
           [4., 3.]])
    """
    if not families:
        raise ValueError("maximum needs at least one family, found none")
    for one in families:
        if not isinstance(one, Finite):
            raise ValueError(f"maximum takes families of the type Finite, found {type(one).__name__}")
    sizes = {one.m for one in families}
    if len(sizes) > 1:
        raise ValueError(f"the families must be given on the same sample, found sizes {sorted(sizes)}")
    numbers = prod(len(one.values) for one in families) * families[0].m
    if numbers > 8 * ROOM:
        raise ValueError(f"the maxima would be {numbers} numbers, more than {8 * ROOM}: take fewer functions")
    values = families[0].values
    for one in families[1:]:
        values = np.maximum(values[:, None], one.values).reshape(-1, one.m)
    return Finite(values)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A family of which only a function is known."""

    suprema: Suprema
    m: int
    n_signs: int

    def supremum(self, signs: ArrayLike) -> Floats:
        return np.asarray(self.suprema(np.asarray(signs, dtype=np.float64)), dtype=np.float64)


def as_family(family: Any, m: int | None, n_signs: int | None) -> Family:
    if isinstance(family, Family):
        if m is not None or n_signs is not None:
            raise ValueError("m and n_signs are for a function; a family has its own")
        return family
    if not callable(family):
        raise ValueError(
            "family must have m, n_signs and supremum, or be a function that returns the suprema for signs; "
            f"found {type(family).__name__}"
        )
    if m is None:
        raise ValueError("give m=..., the size of the sample: the function alone does not have it")
    size = integer(m, "m", 1)
    return _Asked(family, size, size if n_signs is None else integer(n_signs, "n_signs", 1))


def checked_suprema(family: Family, signs: Floats) -> Floats:
    """What a family that is not ours returns, checked."""
    suprema = np.asarray(family.supremum(signs), dtype=np.float64)
    if suprema.shape != (len(signs),):
        raise ValueError(
            f"the supremum must be one number for each row of signs: for signs of shape {signs.shape} "
            f"it has shape {suprema.shape}"
        )
    if not np.isfinite(suprema).all():
        raise ValueError(f"the supremum must be finite, found {suprema[~np.isfinite(suprema)][0]}")
    return suprema


def in_range(value: float) -> float:
    if not isfinite(value):
        raise ValueError("the suprema leave the range of floating point; scale the family")
    return value


def _keep(family: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass, an array as a view that cannot be written to."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    object.__setattr__(family, name, value)


def _matrix(values: ArrayLike, name: str, meaning: str) -> Floats:
    matrix = array(values, name)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} must hold {meaning}, for at least one function and one example; "
            f"found shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers, found entries of type {matrix.dtype}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite, found NaN or infinity")
    return np.asarray(matrix, dtype=np.float64)


def _gram(gram: ArrayLike) -> Floats:
    matrix = _matrix(gram, "gram", "the kernel of every pair of examples")
    if len(matrix) <= SMALL or matrix.shape[0] != matrix.shape[1]:
        check_psd(matrix)
        return matrix
    # a factorisation proves the same sooner; what it does not certify, the eigenvalues decide
    allowed = 8 * len(matrix) * np.finfo(np.float64).eps * np.abs(matrix).max()
    shifted = matrix.copy()
    shifted[np.diag_indices_from(shifted)] += allowed
    if all(np.abs(matrix[i] - matrix[:, i]).max() <= allowed for i in range(len(matrix))):
        try:
            cholesky(shifted, overwrite_a=True, check_finite=False)
            return matrix
        except LinAlgError:
            pass
    check_psd(matrix)
    return matrix


def _signs(signs: ArrayLike, n_signs: int) -> Floats:
    rows = array(signs, "signs")
    if rows.ndim != 2 or rows.shape[1] != n_signs:
        raise ValueError(f"signs must have a row of {n_signs} for each draw, found shape {rows.shape}")
    if rows.dtype.kind not in "if" or not (np.abs(rows) == 1).all():
        raise ValueError("signs must be -1 or +1 (from bits b: 2 * b - 1)")
    return rows.astype(np.float64)
