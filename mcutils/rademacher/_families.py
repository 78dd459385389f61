"""Families, their complexity by enumeration and by Monte Carlo, and its bounds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import fsum, isfinite, log, prod, sqrt
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky
from scipy.special import stdtrit

from .._checks import integer, number, reals, switch
from ..kernel import check_psd

Floats: TypeAlias = NDArray[np.float64]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
Suprema: TypeAlias = Callable[[Floats], Any]

# Additions that an exact enumeration may take: some seconds.
_MOST_STEPS = 2**33
# Signs that a compiled loop handles at a time: long for it, short for who presses Ctrl-C; and how many of
# them it finds added up in a table.
_GRAY_SIGNS = 16
_TABLE_SIGNS = 6
# All signs of so many, when the supremum is a function of Python.
_MOST_SIGNS = 24
# Draws of one seed; so the same signs are drawn however many processes share the work.
_BLOCK = 256
# Numbers that an intermediate result may hold.
_ROOM = 2**22
# Up to this size eigenvalues are computed.
_SMALL = 1000


# ---------------------------------------------------------------------------------------------------
# Families


@runtime_checkable
class Family(Protocol):
    """What :func:`exact` and :func:`monte_carlo` need; a family of your own has these three."""

    @property
    def m(self) -> int:
        """Size of the sample, by which the supremum is divided."""

    @property
    def n_signs(self) -> int:
        """How many signs there are: m, or more for functions with several outputs."""

    def supremum(self, signs: ArrayLike) -> Floats:
        r""":math:`\sup_g \sum_i \sigma_i g(z_i)` for each row of signs, not yet divided by m."""


class _Known:
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

    def _suprema(self, signs: Floats) -> Floats:
        raise NotImplementedError

    def _exact(self) -> float:
        raise NotImplementedError

    def _for_draws(self, n_draws: int) -> "_Known":
        """A family of the same complexity whose draws cost or vary less."""
        return self

    def _upper(self) -> float:
        raise NotImplementedError

    def _lower(self) -> float:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Finite(_Known):
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
    >>> exact(both)
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
        rows = max(1, _ROOM // len(self.values))
        parts = [
            (signs[i : i + rows] @ self.values.T).max(axis=1, initial=-np.inf)
            for i in range(0, len(signs), rows)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _exact(self) -> float:
        functions = np.unique(self.values, axis=0)
        # the supremum for the opposite signs is minus the infimum for these
        return _mean_extremes(functions, lambda high, low: (high - low) / 2) / self.m

    def _for_draws(self, n_draws: int) -> "_Known":
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
class KernelBall(_Known):
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
        return self.radius * _root(np.diag(self.gram))

    @cached_property
    def norm(self) -> float:
        r""":math:`\Lambda` times the root of a bound on the largest eigenvalue of :math:`\mathbf K`.

        The eigenvalue itself up to m = 1000.
        """
        return self.radius * sqrt(_largest_eigenvalue(self.gram))

    def _suprema(self, signs: Floats) -> Floats:
        return self.radius * _root(_quadratic(self.gram, signs))

    def _exact(self) -> float:
        return self.radius * _mean_norm(_features(self.gram)) / self.m

    def _upper(self) -> float:
        return self.radius * sqrt(_trace(self.gram)) / self.m

    def _lower(self) -> float:
        return self._upper() / sqrt(2)


@dataclass(frozen=True, eq=False)
class L2Ball(_Known):
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
        if thin.shape[1] <= _SMALL:
            return self.radius * sqrt(_largest_eigenvalue(thin.T @ thin))
        by_sums = sqrt(np.linalg.norm(thin, 1) * np.linalg.norm(thin, np.inf))
        return self.radius * min(by_sums, float(np.linalg.norm(thin)))

    def _suprema(self, signs: Floats) -> Floats:
        found: Floats = self.radius * np.linalg.norm(signs @ self.X, axis=1)
        return found

    def _exact(self) -> float:
        m, d = self.X.shape
        features = self.X if d <= m else _features(self.X @ self.X.T)
        return self.radius * _mean_norm(features) / self.m

    def _for_draws(self, n_draws: int) -> "_Known":
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
class L1Ball(_Known):
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
        found: Floats = self.radius * np.abs(signs @ self.X).max(axis=1, initial=0.0)
        return found

    def _exact(self) -> float:
        columns = np.unique(self.X.T, axis=0)
        return self.radius * _mean_extremes(columns, lambda high, low: np.maximum(high, -low)) / self.m

    def _upper(self) -> float:
        corners = np.unique(np.vstack([self.X.T, -self.X.T]), axis=0)
        return self.norm * sqrt(2 * log(len(corners))) / self.m

    def _lower(self) -> float:
        return self.norm / (sqrt(2) * self.m)


@dataclass(frozen=True, eq=False)
class Thresholds(_Known):
    r"""The functions :math:`x \mapsto +1` from a threshold on and -1 below it, for every threshold.

    Thresholds beyond all x are among them, so both constant functions are. There are m + 1 different
    functions on m different numbers; equal numbers cannot be told apart. The indicators
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
        found: Floats = below[:, -1] - 2 * np.minimum(below[:, last_of_equals].min(axis=1), 0.0)
        return found

    def _exact(self) -> float:
        # The supremum is the sum of all signs, of mean 0, plus twice the largest of 0 and minus the sums
        # below a threshold, that is, twice the maximum M of a random walk seen after every group of
        # equals. Backwards: M of the groups from g on is max(0, step of g + M of those after g).
        if self.m**2 > _MOST_STEPS:
            raise _too_many(f"{self.m}^2", _MOST_STEPS)
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
class MulticlassBall(_Known):
    r"""k score functions of a kernel, :math:`f = (f_1, \dots, f_k)` with
    :math:`\sum_y \|f_y\|^2 \le \Lambda^2`: the class :math:`\mathcal H_{K,2,\Lambda}` (def-classes-family).

    There is a sign :math:`\sigma_{iy}` for each example and class, and the complexity is
    :math:`\mathbb E_\sigma \sup_f \frac1m \sum_{i,y} \sigma_{iy} f_y(x_i)`, as vector contraction
    (lem-classes-vector-contraction) wants it. The supremum is
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
        return np.repeat(self.radius * _root(np.diag(self.gram)), self.k)

    @cached_property
    def norm(self) -> float:
        """As for one ball of the kernel."""
        return KernelBall(self.gram, self.radius).norm

    def _suprema(self, signs: Floats) -> Floats:
        by_class = signs.reshape(len(signs), self.m, self.k).swapaxes(1, 2).reshape(-1, self.m)
        squares = _quadratic(self.gram, np.ascontiguousarray(by_class)).reshape(len(signs), self.k)
        return self.radius * _root(squares.sum(axis=1))

    def _exact(self) -> float:
        return self.radius * _mean_norm(_features(self.gram), copies=self.k) / self.m

    def _upper(self) -> float:
        return self.radius * sqrt(self.k * _trace(self.gram)) / self.m

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
    if numbers > 8 * _ROOM:
        raise ValueError(
            f"the maxima would be {numbers} numbers, more than {8 * _ROOM}: take fewer functions"
        )
    found = families[0].values
    for one in families[1:]:
        found = np.maximum(found[:, None], one.values).reshape(-1, one.m)
    return Finite(found)


# ---------------------------------------------------------------------------------------------------
# Exactly


def exact(family: Family | Suprema, *, m: int | None = None) -> float:
    r"""The empirical Rademacher complexity, as the mean over all :math:`2^m` choices of signs.

    Finite families and :class:`L1Ball` walk through the signs in the order of the Gray code, so that a
    step costs one addition for each function, with the first sign fixed (the opposite signs are had
    by symmetry). :class:`KernelBall`, :class:`L2Ball` and :class:`MulticlassBall` walk likewise through the
    vectors :math:`\sum_i \sigma_i x_i`; for several classes the distribution of their squared lengths is
    combined k times. :class:`Thresholds` needs no enumeration. m = 24 with a few hundred functions takes
    about a second.

    Parameters
    ----------
    family : Family or callable
        One of the families here; or your own; or a function that answers the (n,) suprema, not divided by
        m, for (n, m) signs. The latter two are asked for all signs, in blocks, up to 24 signs.
    m : int, optional
        For a function: the size of the sample.

    Returns
    -------
    float

    Examples
    --------
    >>> exact(Finite([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))  # 7 of 8 times some sign is +1
    0.25
    >>> exact(lambda signs: signs.max(axis=1), m=3)
    0.25
    """
    known = _as_family(family, m, None)
    if isinstance(known, _Known):
        return _in_range(known._exact())
    n = known.n_signs
    if n > _MOST_SIGNS:
        raise _too_many(f"2^{n}", 2**_MOST_SIGNS)
    low = _all_signs(min(n, 12))
    sums: list[float] = []
    for high in product((1.0, -1.0), repeat=n - low.shape[1]):
        signs = np.hstack([np.broadcast_to(high, (len(low), len(high))), low])
        with np.errstate(over="ignore"):
            sums.append(_in_range(float(_asked(known, signs).sum())))
    return fsum(sums) / 2.0**n / known.m


def _too_many(found: str, allowed: int) -> ValueError:
    return ValueError(
        f"exact enumeration would take {found} steps, more than {allowed}; "
        "use monte_carlo, whose interval says how near it is"
    )


def _gray_walks(vectors: Floats, most: int) -> Iterator[tuple[Floats, Floats]]:
    """The sums of (m, n) vectors with signs, the first fixed at +1, in walks for mcutils.jit.gray.

    A walk is through so many signs at most. Each starts from a sum that is computed afresh, so that
    rounding has no time to add up.
    """
    m = len(vectors)
    low = min(m - 1, most)
    head, tail = vectors[: m - low], vectors[m - low :]
    moves = np.ascontiguousarray(2 * tail)
    for signs in product((1.0, -1.0), repeat=m - low - 1):
        yield np.array((1.0, *signs)) @ head + tail.sum(axis=0), moves


def _affordable(m: int, n: int) -> None:
    if 2 ** (m - 1) * (n + 8) > _MOST_STEPS:  # a step costs about 8 additions beside those of its entries
        raise _too_many(f"2^{m - 1} * {n}", _MOST_STEPS)


def _mean_extremes(functions: Floats, value: Callable[[Floats, Floats], Floats]) -> float:
    """The mean over all signs of a function of the largest and the smallest signed sum."""
    from ..jit import gray

    n, m = len(functions), len(functions[0])
    _affordable(m, n)
    # the kernel takes functions by fours: the last is repeated
    vectors = functions[np.minimum(np.arange(-(-n // 4) * 4), n - 1)].T
    in_table = min(m - 1, _TABLE_SIGNS)
    walked, rest = vectors[: m - in_table], vectors[m - in_table :]
    table = np.ascontiguousarray((_all_signs(in_table) @ rest).T)
    sums: list[float] = []
    for start, moves in _gray_walks(walked, _GRAY_SIGNS - _TABLE_SIGNS):
        high, low = np.empty((2, 2 ** len(moves), table.shape[1]))
        gray.extremes(start, moves, table, high, low)
        sums.append(float(value(high, low).sum()))
    return fsum(sums) / 2.0 ** (m - 1)


def _squared_norms(features: Floats) -> Iterator[Floats]:
    """|sum of signs times features|^2 for all signs up to their common sign, piece by piece."""
    from ..jit import gray

    _affordable(*features.shape)
    for start, moves in _gray_walks(features, _GRAY_SIGNS):
        squares = np.empty(2 ** len(moves))
        gray.squared_norms(start, moves, squares)
        yield squares


def _all_signs(n: int) -> Floats:
    """The 2^n rows of n signs."""
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return 1 - 2 * bits.astype(np.float64)


def _mean_norm(features: Floats, copies: int = 1) -> float:
    """The mean over all signs of the norm of the signed sum, in a space of so many copies."""
    m = len(features)
    if copies == 1:
        return fsum(float(np.sqrt(squares).sum()) for squares in _squared_norms(features)) / 2.0 ** (m - 1)
    squares, counts = np.unique(np.concatenate(list(_squared_norms(features))), return_counts=True)
    first = _sums_of(squares, counts / 2 ** (m - 1), copies // 2)
    second = _sums_of(squares, counts / 2 ** (m - 1), copies - copies // 2)
    if len(first[0]) * len(second[0]) > _MOST_STEPS / 8:
        raise _too_many(f"{len(first[0])} * {len(second[0])}", _MOST_STEPS // 8)
    rows = max(1, _ROOM // len(second[0]))
    return fsum(
        float(first[1][i : i + rows] @ (np.sqrt(first[0][i : i + rows, None] + second[0]) @ second[1]))
        for i in range(0, len(first[0]), rows)
    )


def _sums_of(values: Floats, chances: Floats, terms: int) -> tuple[Floats, Floats]:
    """The distribution of a sum of so many independent variables of this distribution."""
    sums, chance = values, chances
    for _ in range(terms - 1):
        if len(sums) * len(values) > 8 * _ROOM:
            raise _too_many(f"{len(sums)} * {len(values)}", 8 * _ROOM)
        sums, back = np.unique(np.add.outer(sums, values), return_inverse=True)
        weights = np.multiply.outer(chance, chances).ravel()
        chance = np.bincount(back.ravel(), weights=weights).astype(np.float64)
    return sums, chance


# ---------------------------------------------------------------------------------------------------
# By Monte Carlo


@dataclass(frozen=True)
class Estimate:
    r"""What :func:`monte_carlo` found.

    Attributes
    ----------
    value : float
        The mean of the draws: an unbiased estimate of the complexity.
    low, high : float
        The confidence interval.
    confidence : float
        The probability with which the interval contains the complexity: at least this if ``guaranteed``,
        otherwise about this when the draws are many.
    n_draws : int
        How many draws of all signs.
    standard_error : float
        The standard deviation of a draw over :math:`\sqrt n`; not a number for one draw.
    guaranteed : bool
        Whether the interval is that of the theorem, for every number of draws.
    """

    value: float
    low: float
    high: float
    confidence: float
    n_draws: int
    standard_error: float
    guaranteed: bool


def monte_carlo(
    family: Family | Suprema,
    n_draws: int = 1000,
    *,
    m: int | None = None,
    n_signs: int | None = None,
    envelope: ArrayLike | None = None,
    guaranteed: bool | None = None,
    confidence: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Estimate:
    r"""The empirical Rademacher complexity estimated from random signs, with a confidence interval.

    **The interval.** Flipping one sign :math:`\sigma_i` moves the supremum by at most
    :math:`2 b_i`, where :math:`b_i = \sup_g |g(z_i)|` is the *envelope*. By McDiarmid's inequality
    (thm-rademacher-mcdiarmid), applied to the mean of all n draws as a function of all n m signs, this
    mean is within

    .. math:: \frac{s}{m} \sqrt{\frac{2 \ln (2 / \alpha)}{n}}, \qquad s = \sqrt{\textstyle\sum_i b_i^2},

    of the complexity with probability at least :math:`1 - \alpha`, for every n, every family and every
    sample. The supremum is also a convex function of the signs and moves by at most the norm
    :math:`\sup_g \sqrt{\sum_i g(z_i)^2}` times the distance; so the same holds with twice the norm in
    place of s, by the concentration of convex Lipschitz functions of bounded variables. The smaller of the
    two, which is known before the draw, is taken. Of a finite family's functions a fixed function is first
    taken off, so that the envelope is least.

    A family that does not say its envelope gets the interval :math:`\pm t` standard errors, Student's t
    with n - 1 degrees of freedom. It is narrower, and *right only in the limit of many draws*: for few
    draws of a skewed or two-valued supremum it contains the complexity less often than it says. Two draws
    that agree, for one, give an interval of length 0.

    Parameters
    ----------
    family : Family or callable
        One of the families here; or your own; or a function that answers the (n,) suprema, not divided by
        m, for (n, n_signs) signs.
    n_draws : int, default=1000
        Number n of draws.
    m, n_signs : int, optional
        For a function: the size of the sample, and the number of signs where it is another.
    envelope : float or (n_signs,) array-like, optional
        For a function, or for your own family: :math:`b_i`, or bounds on it. It makes the guarantee possible.
    guaranteed : bool, optional
        True asks for the guaranteed interval, and is refused where no envelope is known; False for
        Student's. By default the guaranteed interval where it can be had.
    confidence : float, default=0.95
        :math:`1 - \alpha`, between 0 and 1.
    random_state : int, numpy Generator, RandomState or None
        Draws the signs.
    n_jobs : int or None
        How many blocks of draws are computed at once, through joblib. The signs do not depend on it.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> found = monte_carlo(KernelBall(np.eye(100)), random_state=0)
    >>> round(found.value, 6), found.guaranteed  # 1 / sqrt(100)
    (0.1, True)
    >>> monte_carlo(lambda signs: signs.max(axis=1), m=3, envelope=1.0, random_state=0).guaranteed
    True
    """
    known = _as_family(family, m, n_signs)
    n = integer(n_draws, "n_draws", 1)
    alpha = 1 - number(confidence, "confidence", above=0, below=1)
    if isinstance(known, _Known):
        if envelope is not None:
            raise ValueError(f"{type(known).__name__} knows its envelope; give none")
        known = known._for_draws(n)
        spread: float | None = min(float(np.linalg.norm(known.envelope)), 2 * known.norm)
    else:
        spread = None if envelope is None else _length(envelope, known.n_signs)
    guaranteed = spread is not None if guaranteed is None else switch(guaranteed, "guaranteed")
    if guaranteed and spread is None:
        raise ValueError(
            "a guaranteed interval needs the envelope, a bound on every |g(z_i)|: give envelope=..., "
            "or take guaranteed=False, whose interval is right only in the limit of many draws"
        )
    if not guaranteed and n < 2:
        raise ValueError("an interval from the standard error needs at least 2 draws, found n_draws=1")

    entropy = _generator(random_state).integers(2**63, size=2)
    seeds = np.random.SeedSequence([int(e) for e in entropy]).spawn(-(-n // _BLOCK))
    sizes = [_BLOCK] * (n // _BLOCK) + ([n % _BLOCK] if n % _BLOCK else [])
    suprema = np.concatenate(
        Parallel(n_jobs=n_jobs)(
            delayed(_draw)(known, seed, size) for seed, size in zip(seeds, sizes, strict=True)
        )
    )
    draws = suprema / known.m
    value = _in_range(float(draws.mean()))
    standard_error = float(np.std(draws, ddof=1)) / sqrt(n) if n > 1 else float("nan")
    if guaranteed and spread is not None:
        reach = spread / known.m * sqrt(2 * log(2 / alpha) / n)
    else:
        reach = float(stdtrit(n - 1, 1 - alpha / 2)) * standard_error
    _in_range(value + reach)
    return Estimate(value, value - reach, value + reach, 1 - alpha, n, standard_error, guaranteed)


def _draw(known: Family, seed: np.random.SeedSequence, size: int) -> Floats:
    """The suprema of so many draws."""
    numbers = size * known.n_signs
    random = np.frombuffer(np.random.default_rng(seed).bytes(-(-numbers // 8)), dtype=np.uint8)
    bits = np.unpackbits(random, count=numbers).reshape(size, known.n_signs)
    signs = 2 * bits.astype(np.float64) - 1
    return known._suprema(signs) if isinstance(known, _Known) else _asked(known, signs)


# ---------------------------------------------------------------------------------------------------
# By theorem


def upper(family: Family) -> float:
    r"""The closed-form upper bound on the complexity.

    Massart's lemma (lem-rademacher-massart) for the families of finitely many functions, or with
    finitely many corners: :math:`\max_g \|g\|_2 \sqrt{2 \ln N} / m`, with N different functions on the
    sample. For the balls :math:`\Lambda \sqrt{\operatorname{tr} \mathbf K} / m` by Jensen's inequality
    (cor-classes-kernel), and :math:`\sqrt k` times that for k classes.

    Parameters
    ----------
    family : one of the families here

    Returns
    -------
    float

    Examples
    --------
    >>> upper(MulticlassBall([[1.0, 0.0], [0.0, 1.0]], k=8))
    2.0
    """
    return _in_range(_known(family, "upper")._upper())


def lower(family: Family) -> float:
    r"""A closed-form lower bound on the complexity, by Khintchine's inequality (lem-classes-khintchine).

    For the balls it is :func:`upper` over :math:`\sqrt 2`: the mean length of
    :math:`\sum_i \sigma_i x_i` is at least :math:`1 / \sqrt 2` of the root of its mean square. In other
    families two functions that are furthest apart give
    :math:`\max_{g, g'} \|g - g'\|_2 / (2 \sqrt 2\, m)`, since the larger of two sums is their mean plus
    half of their distance.

    Parameters
    ----------
    family : one of the families here

    Returns
    -------
    float

    Examples
    --------
    >>> one, other = [1.0, 0.0], [0.0, 1.0]
    >>> lower(Finite([one, other])), exact(Finite([one, other]))
    (0.25, 0.25)
    """
    return _in_range(_known(family, "lower")._lower())


# ---------------------------------------------------------------------------------------------------
# Quadratic forms


def _quadratic(gram: Floats, signs: Floats) -> Floats:
    """The numbers s K s for the rows s of signs, from the upper half of K."""
    total = np.zeros(len(signs))
    m, width = len(gram), 512
    for i in range(0, m, width):
        here, after = slice(i, i + width), slice(i + width, m)
        product = signs[:, here] @ gram[here, here]
        if i + width < m:
            product += 2 * (signs[:, after] @ gram[here, after].T)
        total += np.einsum("ij,ij->i", product, signs[:, here])
    return total


def _features(gram: Floats) -> Floats:
    """Vectors with these inner products, in as few dimensions as there are beyond rounding."""
    eigenvalues, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = eigenvalues > 8 * len(gram) * np.finfo(np.float64).eps * np.abs(gram).max()
    if not kept.any():
        return np.zeros((len(gram), 1))
    features: Floats = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    return features


def _largest_eigenvalue(gram: Floats) -> float:
    """A bound on the largest eigenvalue; up to rounding the eigenvalue itself for small matrices."""
    if len(gram) <= _SMALL:
        return max(0.0, float(np.linalg.eigvalsh(gram)[-1]))
    return float(min(np.linalg.norm(gram), np.abs(gram).sum(axis=1).max()))


def _trace(gram: Floats) -> float:
    return max(0.0, float(np.trace(gram)))


def _root(squares: Floats) -> Floats:
    """The root; what rounding put below 0 counts as 0."""
    return np.sqrt(np.maximum(squares, 0.0))


# ---------------------------------------------------------------------------------------------------
# What is asked of arguments


@dataclass(frozen=True, eq=False)
class _Asked:
    """A family of which only a function is known."""

    suprema: Suprema
    m: int
    n_signs: int

    def supremum(self, signs: ArrayLike) -> Floats:
        return np.asarray(self.suprema(np.asarray(signs, dtype=np.float64)), dtype=np.float64)


def _as_family(family: Any, m: int | None, n_signs: int | None) -> Family:
    if isinstance(family, Family):
        if m is not None or n_signs is not None:
            raise ValueError("m and n_signs are for a function; a family knows its own")
        return family
    if not callable(family):
        raise ValueError(
            "family must have m, n_signs and supremum, or be a function that answers the suprema for signs; "
            f"found {type(family).__name__}"
        )
    if m is None:
        raise ValueError("give m=..., the size of the sample: the function alone does not say it")
    size = integer(m, "m", 1)
    return _Asked(family, size, size if n_signs is None else integer(n_signs, "n_signs", 1))


def _asked(family: Family, signs: Floats) -> Floats:
    """What a family that is not ours answers, checked."""
    found = np.asarray(family.supremum(signs), dtype=np.float64)
    if found.shape != (len(signs),):
        raise ValueError(
            f"the supremum must be one number for each row of signs: for signs of shape {signs.shape} "
            f"it has shape {found.shape}"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"the supremum must be finite, found {found[~np.isfinite(found)][0]}")
    return found


def _known(family: Any, name: str) -> _Known:
    if not isinstance(family, _Known):
        raise ValueError(f"{name} is known for the families of this module, found {type(family).__name__}")
    return family


def _keep(family: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass, an array as a view that cannot be written to."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    object.__setattr__(family, name, value)


def _in_range(value: float) -> float:
    if not isfinite(value):
        raise ValueError("the suprema leave the range of floating point; scale the family")
    return value


def _matrix(values: ArrayLike, name: str, meaning: str) -> Floats:
    matrix = np.asarray(values)
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
    if len(matrix) <= _SMALL or matrix.shape[0] != matrix.shape[1]:
        check_psd(matrix)
        return matrix
    # a factorisation says the same sooner; what it does not certify, the eigenvalues decide
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
    found = np.asarray(signs)
    if found.ndim != 2 or found.shape[1] != n_signs:
        raise ValueError(f"signs must have a row of {n_signs} for each draw, found shape {found.shape}")
    if found.dtype.kind not in "if" or not (np.abs(found) == 1).all():
        raise ValueError("signs must be -1 or +1 (from bits b: 2 * b - 1)")
    return found.astype(np.float64)


def _length(envelope: ArrayLike, n_signs: int) -> float:
    found = reals(envelope, "envelope")
    if found.shape not in ((), (n_signs,)) or (found < 0).any():
        raise ValueError(f"envelope must be a number or {n_signs} numbers, at least 0, found {envelope!r}")
    return float(np.linalg.norm(np.broadcast_to(found, n_signs)))


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        # scikit-learn's convention: the object is shared, and using it advances it
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
