r"""Error-correcting output codes: a multi-class machine out of any binary ones.

A *code* is a matrix :math:`M \in \{-1, 0, +1\}^{k \times l}`: one row (codeword) per class, one column
per binary problem. Column ``s`` is learned on the examples of the classes with a nonzero entry, as
:math:`(x_i, M(y_i, s))`; its machine answers a score :math:`f_s(x)`. *Decoding* chooses the row closest
to the scores :math:`f(x) = (f_1(x), \dots, f_l(x))`.

Everything the module computes starts from two numbers of a pair of rows: the distance
:math:`\rho(r, r') = \sum_s \frac{1 - M(r, s) M(r', s)}{2}` (a zero counts one half), and the number of
columns that *separate* them, that is, where they have opposite signs.

Reference: Allwein, Schapire and Singer, *Reducing multiclass to binary: a unifying approach for margin
classifiers*, Journal of Machine Learning Research 1 (2000) 113-141.

Classes are rows of an array, so indices in arguments and results start at 0; messages to people count
classes and columns from 1, as the book does, and say so.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import cache, cached_property
from math import ceil, comb, log2
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from . import loss as losses
from ._checks import seed
from ._reduction import BinaryReduction, Column
from .loss import MarginLoss

__all__ = [
    "CodeReport",
    "Decoding",
    "OutputCode",
    "TrainingErrorBound",
    "all_pairs",
    "check_code",
    "decode",
    "dense",
    "exhaustive",
    "one_vs_all",
    "report",
    "sparse",
    "training_error_bound",
]

Code: TypeAlias = NDArray[np.int8]
Floats: TypeAlias = NDArray[np.float64]
Pairs: TypeAlias = tuple[tuple[int, int], ...]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
_Logs: TypeAlias = tuple[NDArray[np.intp], Floats]
LossLike: TypeAlias = str | MarginLoss | Callable[[Floats], Any]


# ---------------------------------------------------------------------------------------------------
# Codes


def one_vs_all(k: int) -> Code:
    r"""One column per class: +1 for the class, -1 for all others. :math:`\rho = 2`.

    Loss-based decoding chooses the class of the largest score, whenever :math:`L(-z) - L(z)` increases
    with z (prop-ecoc-one-vs-all); every loss of :mod:`mcutils.loss` but the 0-1 loss is of this kind.

    Parameters
    ----------
    k : int
        Number of classes.

    Returns
    -------
    (k, k) int8 array

    Examples
    --------
    >>> one_vs_all(3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    k = _check_count(k, "k", 2)
    return 2 * np.eye(k, dtype=np.int8) - np.int8(1)


def all_pairs(k: int) -> Code:
    r"""One column per pair of classes :math:`r < r'`: +1, -1, and 0 for all others.

    The pairs come in the order (1, 2), (1, 3), ..., (k-1, k), and
    :math:`\rho = \bigl(\binom k2 + 1\bigr) / 2`. Hamming decoding is the majority vote
    (prop-ecoc-all-pairs).

    Parameters
    ----------
    k : int
        Number of classes.

    Returns
    -------
    (k, k(k-1)/2) int8 array

    Examples
    --------
    >>> all_pairs(3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """
    k = _check_count(k, "k", 2)
    code = np.zeros((k, comb(k, 2)), dtype=np.int8)
    first, second = np.triu_indices(k, 1)
    column = np.arange(code.shape[1])
    code[first, column] = 1
    code[second, column] = -1
    return code


def exhaustive(k: int) -> Code:
    r"""Every way to split k classes into two, each once: :math:`2^{k-1} - 1` columns, k at most 12.

    The first row is all +1; below it the columns count in binary (-1 for 0, +1 for 1). Every pair of
    rows differs in exactly :math:`2^{k-2} = \rho` columns.

    Parameters
    ----------
    k : int
        Number of classes, from 2 to 12.

    Returns
    -------
    (k, 2**(k-1) - 1) int8 array

    Examples
    --------
    >>> exhaustive(3)
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    """
    k = _check_count(k, "k", 2, 12)
    number = np.arange(2 ** (k - 1) - 1)
    bit = (number >> np.arange(k - 1)[::-1, None]) & 1
    return np.vstack([np.ones_like(number), 2 * bit - 1]).astype(np.int8)


def dense(k: int, n_columns: int | None = None, random_state: RandomState = None) -> Code:
    r"""A random code without zeros: the best of many candidates by minimum distance.

    Parameters
    ----------
    k : int
        Number of classes.
    n_columns : int, optional
        By default :math:`\lceil 10 \log_2 k \rceil`, but never more than the :math:`2^{k-1} - 1` columns
        that differ (a column and its negative are the same binary problem).
    random_state : int, numpy Generator, RandomState or None
        An int makes the code reproducible.

    Returns
    -------
    (k, n_columns) int8 array
        No constant, equal or complementary columns; all rows differ.

    Examples
    --------
    >>> code = dense(6, random_state=0)
    >>> code.shape, report(code).rho
    ((6, 26), 13.0)
    """
    k = _check_count(k, "k", 2)
    distinct = 2 ** (k - 1) - 1
    n_columns = min(ceil(10 * log2(k)), distinct) if n_columns is None else n_columns
    # l columns of two entries make at most 2^l different rows
    n_columns = _check_count(n_columns, "n_columns", ceil(log2(k)), distinct)
    return _best_of_many(k, n_columns, distinct, np.array([-1, 1], dtype=np.int8), random_state)


def sparse(k: int, n_columns: int | None = None, random_state: RandomState = None) -> Code:
    r"""A random code with zeros: entries 0 with probability 1/2, +1 and -1 with 1/4 each.

    The best of many candidates by minimum distance, like :func:`dense`.

    Parameters
    ----------
    k : int
        Number of classes.
    n_columns : int, optional
        By default :math:`\lceil 15 \log_2 k \rceil`, but never more than the
        :math:`(3^k - 2^{k+1} + 1) / 2` columns with both signs that differ (a column and its negative
        are the same binary problem).
    random_state : int, numpy Generator, RandomState or None
        An int makes the code reproducible.

    Returns
    -------
    (k, n_columns) int8 array
        Every column has both signs, no two are equal or complementary, and every pair of rows has
        opposite signs in some column.

    Examples
    --------
    >>> code = sparse(6, random_state=0)
    >>> code.shape, int(report(code).min_separation) >= 1
    ((6, 39), True)
    """
    k = _check_count(k, "k", 2)
    distinct = (3**k - 2 ** (k + 1) + 1) // 2
    n_columns = min(ceil(15 * log2(k)), distinct) if n_columns is None else n_columns
    # each zero replaced by a sign, rows that were separated still differ: no fewer columns than above
    n_columns = _check_count(n_columns, "n_columns", ceil(log2(k)), distinct)
    return _best_of_many(k, n_columns, distinct, np.array([0, 0, -1, 1], dtype=np.int8), random_state)


def _check_count(value: Any, name: str, least: int, most: int | None = None) -> int:
    allowed = f"an integer from {least} to {most}" if most is not None else f"an integer, at least {least}"
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or int(value) < least or (most is not None and int(value) > most):
        raise ValueError(f"{name} must be {allowed}, found {value!r}")
    return int(value)


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        # scikit-learn's convention: the object is shared, and using it advances it
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def _best_of_many(k: int, n_columns: int, distinct: int, entries: Code, random_state: RandomState) -> Code:
    """The candidate of the largest minimum distance among those that separate all rows."""
    rng = _generator(random_state)
    # All distinct columns make one code only. Otherwise many candidates, fewer when one is costly.
    n_candidates = 1 if n_columns == distinct else int(np.clip(2e9 / (k * k * n_columns), 20, 1000))
    best, best_rho = None, -1.0
    for _ in range(n_candidates):
        code = _distinct_columns(k, n_columns, entries, rng)
        distances, separations = _pairwise(code)
        upper = np.triu_indices(k, 1)
        if separations[upper].min() > 0 and distances[upper].min() > best_rho:
            best, best_rho = code, distances[upper].min()
    if best is None:
        raise ValueError(
            f"none of {n_candidates} random codes with n_columns={n_columns} separates all k={k} classes; "
            "ask for more columns"
        )
    return best


def _distinct_columns(k: int, n_columns: int, entries: Code, rng: np.random.Generator) -> Code:
    """Random columns with both signs, no two of them equal or complementary."""
    found = np.empty((0, k), dtype=np.int8)
    while len(found) < n_columns:
        drawn = rng.choice(entries, size=(2 * n_columns, k))
        drawn = drawn[(drawn.min(axis=1) < 0) & (drawn.max(axis=1) > 0)]
        # of a column and its negative, keep the one whose first nonzero entry is +1
        leading = np.take_along_axis(drawn, (drawn != 0).argmax(axis=1)[:, None], axis=1)
        pool = np.vstack([found, drawn * leading])
        first = np.unique(pool, axis=0, return_index=True)[1]
        found = pool[np.sort(first)][:n_columns]
    return np.ascontiguousarray(found.T)


def check_code(code: ArrayLike) -> Code:
    """The code as an int8 array, or a ValueError that names what cannot work.

    A code is refused when a class is never used (a row of zeros), when a column lacks +1 or -1 (its
    machine would see one label only), and when no column has opposite signs in two rows (nothing that
    is learned tells these classes apart). Equal or complementary columns only waste work and pass; see
    :func:`report`.

    Parameters
    ----------
    code : (k, l) array-like
        Entries -1, 0, +1.

    Examples
    --------
    >>> check_code([[1.0, -1.0], [-1.0, 1.0]])
    array([[ 1, -1],
           [-1,  1]], dtype=int8)
    >>> check_code([[1, 1, 0], [-1, -1, 0], [1, 0, 1]])
    Traceback (most recent call last):
        ...
    ValueError: code cannot work: column 3 (no -1); classes 1 and 3 have opposite signs in no column \
(columns and classes counted from 1)
    """
    matrix = _as_code(code)
    used = matrix.any(axis=1)
    faults = [f"class {r + 1} is never used (its row is zero)" for r in np.flatnonzero(~used)]
    for s, column in enumerate(matrix.T.tolist(), start=1):
        lacks = [name for name, sign in (("+1", 1), ("-1", -1)) if sign not in column]
        if lacks:
            faults.append(f"column {s} (no {' and no '.join(lacks)})")
    alike = (_pairwise(matrix)[1] == 0) & np.outer(used, used)
    faults += [
        f"classes {r + 1} and {q + 1} have opposite signs in no column"
        for r, q in np.argwhere(np.triu(alike, 1))
    ]
    if faults:
        more = f"; and {len(faults) - 5} more faults" if len(faults) > 5 else ""
        raise ValueError(
            f"code cannot work: {'; '.join(faults[:5])}{more} (columns and classes counted from 1)"
        )
    return matrix


def _as_code(code: ArrayLike) -> Code:
    """An int8 matrix of at least two rows and one column with entries -1, 0, +1."""
    matrix = np.asarray(code)
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 1:
        raise ValueError(
            "code must be a matrix with a row for each of at least two classes and a column for each binary "
            f"problem, found shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "iuf" or not np.isin(matrix, (-1, 0, 1)).all():
        raise ValueError(f"code must have entries -1, 0, +1 only, found {np.unique(matrix)[:6].tolist()}")
    return matrix.astype(np.int8)


def _pairwise(code: Code) -> tuple[Floats, NDArray[np.intp]]:
    """Distances rho and numbers of opposite signs of all pairs of rows, both (k, k)."""
    real = code.astype(np.float64)
    agreement = real @ real.T  # sum of M(r,s) M(r',s)
    used = np.abs(real) @ np.abs(real).T  # columns where both entries are nonzero
    return (code.shape[1] - agreement) / 2, ((used - agreement) / 2).astype(np.intp)


@dataclass(frozen=True, eq=False)
class CodeReport:
    r"""What is to be known of a code before it is used; see :func:`report`.

    Attributes
    ----------
    distances : (k, k) array
        :math:`\rho(r, r') = \sum_s (1 - M(r,s) M(r',s)) / 2`. On the diagonal: half the zeros of a row.
    rho : float
        The least distance of two different rows.
    separations : (k, k) int array
        Number of columns in which two rows have opposite signs.
    min_separation : int
        :math:`\delta_M`, its least value over two different rows.
    zeros : (k,) int array
        Number of zeros of every row.
    constant_columns : tuple of int
        Columns that lack +1 or -1.
    duplicate_columns : tuple of (int, int)
        Pairs of columns that are equal: the same binary problem twice.
    complementary_columns : tuple of (int, int)
        Pairs of columns of which one is the negative of the other: the same binary problem, sides exchanged.
    equal_rows : tuple of (int, int)
        Pairs of classes with the same codeword.
    """

    distances: Floats
    rho: float
    separations: NDArray[np.intp]
    min_separation: int
    zeros: NDArray[np.intp]
    constant_columns: tuple[int, ...]
    duplicate_columns: Pairs
    complementary_columns: Pairs
    equal_rows: Pairs


def report(code: ArrayLike) -> CodeReport:
    """Distances and defects of a code, also of one that :func:`check_code` refuses.

    Parameters
    ----------
    code : (k, l) array-like
        Entries -1, 0, +1.

    Returns
    -------
    CodeReport

    Examples
    --------
    >>> found = report(all_pairs(4))
    >>> found.rho, found.min_separation, found.zeros.tolist()
    (3.5, 1, [3, 3, 3, 3])
    >>> report([[1, -1, 1], [-1, 1, 1]]).complementary_columns
    ((0, 1),)
    """
    matrix = _as_code(code)
    distances, separations = _pairwise(matrix)
    upper = np.triu_indices(len(matrix), 1)
    return CodeReport(
        distances=distances,
        rho=float(distances[upper].min()),
        separations=separations,
        min_separation=int(separations[upper].min()),
        zeros=(matrix == 0).sum(axis=1),
        constant_columns=tuple(np.flatnonzero((matrix.min(axis=0) > -1) | (matrix.max(axis=0) < 1)).tolist()),
        duplicate_columns=_equal_pairs(matrix.T, matrix.T),
        complementary_columns=_equal_pairs(matrix.T, -matrix.T),
        equal_rows=_equal_pairs(matrix, matrix),
    )


def _equal_pairs(left: Code, right: Code) -> Pairs:
    """Pairs i < j with ``left[i] == right[j]``."""
    # a row of -1, 0, 1 agrees with another in all its nonzeros, and has as many, when they are equal
    left, right = left.astype(np.float64), right.astype(np.float64)
    agreement = left @ right.T
    size = np.abs(left).sum(axis=1)
    equal = (agreement == size[:, None]) & (size[:, None] == size[None, :])
    return tuple((int(i), int(j)) for i, j in np.argwhere(np.triu(equal, 1)))


# ---------------------------------------------------------------------------------------------------
# Decoding

_EPS = float(np.finfo(np.float64).eps)

# Scores are decoded in chunks with a work space of about this many bytes: small enough for the cache of a
# core, large enough that a chunk costs more than the calls that it takes.
_CHUNK_BYTES = 2**23

# Up to this magnitude, sums of exp(f) and exp(-f) neither overflow nor underflow.
_MODERATE = 300.0


@dataclass(frozen=True, eq=False)
class Decoding:
    r"""What :func:`decode` found for n vectors of scores and the k rows of a code.

    Attributes
    ----------
    winner : (n,) int array
        The row of least distance; of tied rows, the first.
    tied : (n,) bool array
        Whether another row has the same least distance.
    distances : (n, k) array
        The distance of every row. ``winner`` is its first argmin, but where exponential distances
        overflow to ``inf`` or underflow to 0; ``log_distances`` never do.
    """

    winner: NDArray[np.intp]
    tied: NDArray[np.bool_]
    distances: Floats
    # exponential decoding only: examples that were decided by logarithms, and these, (k, number of examples)
    _by_logs: list[_Logs] | None = field(default=None, repr=False)

    @cached_property
    def log_distances(self) -> Floats | None:
        """Logarithms of the distances of exponential decoding, always finite; None for other losses.

        ``winner`` is their first argmin.
        """
        if self._by_logs is None:
            return None
        with np.errstate(divide="ignore"):
            log_distances = np.log(self.distances)
        for examples, logs in self._by_logs:
            log_distances[examples] = logs.T
        return log_distances


def decode(scores: ArrayLike, code: ArrayLike, loss: LossLike = "hamming") -> Decoding:
    r"""The row of the code closest to the scores, and the distance of every row.

    Hamming decoding (def-ecoc-hamming) measures
    :math:`d_H(r) = \sum_s \frac{1 - \operatorname{sign}(M(r,s) f_s)}{2}` with
    :math:`\operatorname{sign}(0) = 0`; loss-based decoding (def-ecoc-loss) measures
    :math:`d_L(r) = \sum_s L(M(r,s) f_s)`. Zeros of the code count: they pay 1/2, or :math:`L(0)`.

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_s(x_i)`, finite. All sums are taken in float64, whatever the type of the scores.
    code : (k, l) array-like
        Entries -1, 0, +1; see :func:`check_code`.
    loss : str, MarginLoss or callable
        "hamming" (another name of "zero_one"), any loss of :mod:`mcutils.loss`, or a vectorised function
        of the margins.

    Returns
    -------
    Decoding

    Notes
    -----
    *Ties* go to the smallest index, and ``tied`` tells.

    - Hamming distances are multiples of 1/2, and exact.
    - Exponential distances are compared exactly as well. Two rows tie just when the same exponents
      :math:`-M(r,s) f_s` occur in both, because powers of e with different rational exponents are
      linearly independent over the rationals (Lindemann and Weierstrass). So rows are told apart that
      share a term :math:`e^{10000}` and differ in a term of size 1.
    - For the other losses two rows tie when rounding explains their difference: when it is at most
      :math:`(l + 8)\,2^{-51}` times the sum of :math:`|L|` over the terms of both rows in the columns
      where their terms differ.

    So what truly ties is seen to tie, in whatever order a machine adds. The reported distances agree with
    these decisions: rows that tie with the winner have its value, and no other row has.

    *Memory*: the distances take 8nk bytes, the work space about 10 megabytes per thread. Many examples are
    decoded in as many threads as BLAS may use (``OMP_NUM_THREADS``, ``threadpoolctl``).

    Examples
    --------
    >>> code = one_vs_all(3)
    >>> scores = [[-1.0, 2.0, 1.0], [0.0, 0.0, 0.0]]
    >>> found = decode(scores, code)
    >>> found.winner, found.tied
    (array([1, 0]), array([ True,  True]))
    >>> found.distances
    array([[3. , 1. , 1. ],
           [1.5, 1.5, 1.5]])
    >>> decode(scores, code, loss="hinge").distances
    array([[7., 2., 3.],
           [3., 3., 3.]])

    Distances that overflow still choose rightly:

    >>> found = decode([[9000.0, 1e4, 9500.0]], code, loss="exponential")
    >>> found.winner, found.distances, found.log_distances
    (array([1]), array([[inf, inf, inf]]), array([[10000.,  9500., 10000.]]))
    """
    matrix = _as_code(code)
    decoder = _Decoder(_decoding_loss(loss), matrix)
    table = _check_scores(scores, matrix.shape[1])
    n, (k, l) = len(table), matrix.shape
    # (k, n), so that every loop over the examples of a chunk is contiguous; the answer is its transpose
    distances = np.empty((k, n))
    winner = np.empty(n, dtype=np.intp)
    tied = np.empty(n, dtype=np.bool_)
    step = max(16, _CHUNK_BYTES // (8 * (3 * l + k)))

    def decode_chunk(start: int) -> _Logs | None:
        chunk = slice(start, start + step)
        found = decoder(table[chunk].astype(np.float64, copy=False))
        winner[chunk], tied[chunk], distances[:, chunk] = found.winner, found.tied, found.distances
        return None if found.logs is None else (start + found.close, found.logs)

    logs = [some for some in _map_chunks(decode_chunk, range(0, n, step)) if some is not None]
    return Decoding(winner, tied, distances.T, logs if decoder.loss is losses.exponential else None)


def _map_chunks(function: Callable[[int], _Logs | None], starts: range) -> list[_Logs | None]:
    """Call for every chunk, side by side in as many threads as BLAS may use.

    A product of one chunk is too small for BLAS to share out among threads: left to itself it loses time
    where the machine is idle, and stalls where it is not.
    """
    blas = _threadpools().select(user_api="blas")
    n_threads = max((library["num_threads"] for library in blas.info()), default=1)
    if len(starts) < 2 or n_threads < 2:
        return [function(start) for start in starts]
    context = copy_context()  # NumPy's error state is the caller's in every thread
    with blas.limit(limits=1), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda start: context.copy().run(function, start), starts))


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def _decoding_loss(loss: LossLike) -> MarginLoss:
    return losses.zero_one if isinstance(loss, str) and loss == "hamming" else losses.get(loss)


def _check_scores(scores: ArrayLike, l: int) -> NDArray[Any]:
    table = np.asarray(scores)
    if table.ndim != 2 or table.shape[1] != l:
        raise ValueError(
            f"scores must be a matrix with one row for each example and {l} columns, as many as the code, "
            f"found shape {table.shape}"
        )
    if table.dtype.kind not in "iufb":
        raise ValueError(f"scores must be real numbers, found dtype {table.dtype}")
    return table


class _Chunk(NamedTuple):
    winner: NDArray[np.intp]  # (m,)
    tied: NDArray[np.bool_]  # (m,)
    distances: Floats  # (k, m)
    close: NDArray[np.intp]  # (u,), the examples that an umpire decided
    logs: Floats | None = None  # (k, u), logarithms of their distances, for the exponential loss


class _Decoder:
    """Decodes chunks of scores f, (m, l): measures all rows, then lets an umpire decide close calls."""

    def __init__(self, loss: MarginLoss, matrix: Code):
        self.loss = loss
        self.signs = matrix.astype(np.float64)
        # L(M f) = [M = 1] L(f) + [M = -1] L(-f) + [M = 0] L(0): one product sums the losses
        self.halves = np.hstack([matrix == 1, matrix == -1]).astype(np.float64)
        self.at_zero = (matrix == 0).sum(axis=1)[:, None] * loss.at_zero

    def __call__(self, f: Floats) -> _Chunk:
        k = len(self.signs)
        magnitude = np.abs(f)
        size: Floats = np.einsum("ij->i", magnitude)
        if not np.isfinite(size).all():
            bad = f[~np.isfinite(f)]
            found = f"found {bad[0]}" if len(bad) else "found magnitudes whose sum overflows"
            raise ValueError(f"scores must be finite, {found}")

        distances, rounding = self.measure(f, magnitude, size)
        near = distances <= distances.min(axis=0) + rounding
        rank = np.arange(k, 0, -1, dtype=np.min_scalar_type(k))[:, None]
        winner = k - (near * rank).max(axis=0).astype(np.intp)  # the first that is near
        tied = near.sum(axis=0, dtype=rank.dtype) > 1
        undecided = tied
        if self.loss is losses.exponential and magnitude.max() > _MODERATE:
            undecided = tied | (magnitude.max(axis=1) > _MODERATE)
        close = np.flatnonzero(undecided)
        if self.loss is losses.zero_one or not len(close):
            return _Chunk(winner, tied, distances, close)
        logs = None
        if self.loss is losses.exponential:
            logs, rounding = self.log_distances(f[close])
            near[:, close] = logs <= logs.min(axis=0) + rounding
            with np.errstate(over="ignore", under="ignore"):
                distances[:, close] = np.exp(logs)
        champion, equal = self.umpire(f[close], near[:, close])
        winner[close] = champion
        tied[close] = equal.sum(axis=0) > 1
        distances[:, close] = _agree(distances[:, close], champion, equal, near[:, close])
        if logs is not None:
            logs = _agree(logs, champion, equal, near[:, close])
        return _Chunk(winner, tied, distances, close, logs)

    def measure(self, f: Floats, magnitude: Floats, size: Floats) -> tuple[Floats, Floats]:
        """All distances, (k, m), and by how much rounding may have moved the least of them, (m,)."""
        m, l = f.shape
        relative = 4 * (l + 8) * _EPS
        if self.loss is losses.zero_one:
            # small integers, halved: exact
            distances = self.signs @ np.sign(f).T
            np.subtract(l, distances, out=distances)
            distances *= 0.5
            return distances, np.zeros(m)
        if self.loss is losses.linear:
            return -self.signs @ f.T, relative * size

        values = np.empty((m, 2 * l))
        plus, minus = values[:, :l], values[:, l:]
        if self.loss is losses.exponential:
            # larger scores are left to logarithms, and must only not overflow here
            moderate = f if magnitude.max() <= _MODERATE else np.clip(f, -_MODERATE, _MODERATE)
            np.exp(moderate, out=minus)
            np.divide(1.0, minus, out=plus)
            # as much as the rounding of their logarithms, so that these keep the order of the others
            relative += 4 * _MODERATE * _EPS
        elif self.loss is losses.logistic:
            # L(z) = L(|z|) + max(-z, 0): one logarithm serves both signs
            with np.errstate(under="ignore"):
                even = np.exp(-magnitude)
            np.log1p(even, out=even)
            part = np.maximum(f, 0.0)
            np.add(even, part, out=minus)
            part -= f  # now max(-f, 0), exactly
            np.add(even, part, out=plus)
        else:
            with np.errstate(over="ignore"):
                plus[...] = self.loss(f)
                minus[...] = self.loss(-f)
        with np.errstate(invalid="ignore"):
            distances = self.halves @ values.T
        distances += self.at_zero
        scale = distances.min(axis=0)
        if not np.isfinite(scale).all():
            raise ValueError(
                f"the loss {self.loss.name!r} overflows at scores of magnitude {magnitude.max():g}"
            )
        if min(values.min(), self.loss.at_zero) < 0:
            # terms of both signs: rounding is relative to their magnitudes, not to their sum
            scale = np.maximum(np.abs(plus), np.abs(minus)).sum(axis=1) + np.abs(self.at_zero).max()
        return distances, relative * scale

    def log_distances(self, f: Floats) -> tuple[Floats, Floats]:
        """Logarithms of all exponential distances, (k, m), and a bound of their rounding, (m,)."""
        logs = np.empty((len(self.signs), len(f)))
        columns = np.ascontiguousarray(f.T)
        for r, row in enumerate(self.signs):
            exponents = -row[:, None] * columns
            top = exponents.max(axis=0)
            with np.errstate(over="ignore"):
                exponents -= top
            # e^-700 is lost beside the top's 1 as well, and is quicker than a number that underflows
            np.maximum(exponents, -700.0, out=exponents)
            logs[r] = top + np.log(np.exp(exponents, out=exponents).sum(axis=0))
        return logs, 4 * _EPS * (f.shape[1] + 8 + np.abs(f).max(axis=1))

    def umpire(self, f: Floats, near: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Of the rows that are ``near``, (k, m), the first that none beats; and all that equal it."""
        champion = near.argmax(axis=0)
        equal = np.zeros_like(near)
        equal[champion, np.arange(len(f))] = True
        for r, row in enumerate(self.signs):
            games = np.flatnonzero(near[r] & (champion != r))
            if len(games):
                result = self.compare(f[games], row, self.signs[champion[games]])
                equal[:, games[result < 0]] = False
                champion[games[result < 0]] = r
                equal[r, games[result <= 0]] = True
        return champion, equal

    def compare(self, f: Floats, row: Floats, other: Floats) -> Floats:
        """The sign of d(row) - d(other) for every f: -1, +1, or 0 for a tie."""
        if self.loss is losses.exponential:
            return _compare_exponential_sums(-row * f, -other * f)
        left, right = self.loss(row * f), self.loss(other * f)
        difference = (left - right).sum(axis=1)
        # columns with the same term cancel, and add nothing to the rounding
        terms = np.where(left != right, np.abs(left) + np.abs(right), 0.0).sum(axis=1)
        rounding = 2 * (f.shape[1] + 8) * _EPS * terms
        return np.where(np.abs(difference) <= rounding, 0.0, np.sign(difference))


def _agree(
    values: Floats, champion: NDArray[np.intp], equal: NDArray[np.bool_], near: NDArray[np.bool_]
) -> Floats:
    """Distances moved, within rounding, to what was decided: the champion's value for its equals only."""
    least = values[champion, np.arange(values.shape[1])]
    above = np.maximum(values, np.nextafter(least, np.inf))
    return np.where(equal, least, np.where(near, above, values))


def _compare_exponential_sums(left: Floats, right: Floats) -> Floats:
    r"""The exact sign of :math:`\sum_s e^{a_s} - \sum_s e^{b_s}` for every row a of left, b of right.

    Take the 2l exponents of both together in descending order, :math:`v_1 \ge v_2 \ge \dots`, and let
    :math:`C_j` be how many more of the first j come from a than from b. Summation by parts gives the
    difference as :math:`\sum_j C_j (e^{v_j} - e^{v_{j+1}})`: an exponent that occurs in both cancels
    exactly, and what remains is measured by its own largest term.
    """
    exponents = np.hstack([left, right])
    order = np.argsort(-exponents, axis=1)
    v = np.take_along_axis(exponents, order, axis=1)
    count = np.where(order < left.shape[1], 1.0, -1.0).cumsum(axis=1)[:, :-1]
    with np.errstate(over="ignore", under="ignore"):
        gap = v[:, :-1] - v[:, 1:]
        live = (count != 0) & (gap > 0)
        top = np.where(live, v[:, :-1], -np.inf).max(axis=1, keepdims=True)
        depth = np.where(live, np.minimum(top - v[:, :-1], 700.0), 700.0)
        terms = np.where(live, count * np.exp(-depth) * -np.expm1(-gap), 0.0)
        sign: Floats = np.sign(terms.sum(axis=1))
        # rounding of an exponent of size depth, of exp, expm1 and the sum; and what e^-700 stands for
        rounding = _EPS * (np.abs(terms) * (depth + 2 * exponents.shape[1] + 16)).sum(axis=1) + 1e-290
        unsure = live.any(axis=1) & (np.abs(terms.sum(axis=1)) <= rounding)
    for i in np.flatnonzero(unsure):
        sign[i] = _sign_of_exponential_sum(left[i].tolist(), right[i].tolist())
    return sign


def _sign_of_exponential_sum(left: list[float], right: list[float]) -> int:
    """The sign of a difference of sums of exponentials that is not zero, in as many digits as it takes."""
    count = Counter(left)
    count.subtract(right)
    multiplicity = {Decimal(v): c for v, c in count.items() if c}
    digits = 50
    while True:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
            top = max(multiplicity)
            terms = [c * (v - top).exp() for v, c in multiplicity.items()]
            total = sum(terms, Decimal(0))
            if abs(total) > sum(map(abs, terms), Decimal(0)).scaleb(12 - digits):
                return 1 if total > 0 else -1
        digits *= 2


# ---------------------------------------------------------------------------------------------------
# The training-error bound


@dataclass(frozen=True)
class TrainingErrorBound:
    r"""The training error of loss-based decoding, and what bounds it; see :func:`training_error_bound`.

    Attributes
    ----------
    error : float
        Share of examples with some row :math:`r \ne y` with :math:`d_L(r) \le d_L(y)`: ties are errors.
    epsilon : float
        :math:`\varepsilon`, the mean of :math:`L(M(y_i, s) f_s(x_i))` over all examples and columns, the
        zeros of the code included.
    rho : float
        The least distance of two rows of the code, over all pairs of classes.
    bound : float
        :math:`l \varepsilon / (\rho L(0))`.
    sharper : float or None
        Mean over the examples of :math:`\sum_{s: M(y_i,s) \ne 0} L(M(y_i,s) f_s(x_i)) / (\delta_M L(0))`,
        where :math:`\delta_M` is the least number of columns in which two rows have opposite signs. None
        when the rows have unequal numbers of zeros, or :math:`\delta_M = 0`.
    """

    error: float
    epsilon: float
    rho: float
    bound: float
    sharper: float | None


def training_error_bound(
    scores: ArrayLike, y: ArrayLike, code: ArrayLike, loss: LossLike = "hamming"
) -> TrainingErrorBound:
    r"""The bound of Allwein, Schapire and Singer on the error of decoding (thm-ecoc-training-error).

    If :math:`L \ge 0` and :math:`\frac12 (L(z) + L(-z)) \ge L(0) > 0`, then the training error of decoding
    with L is at most :math:`l \varepsilon / (\rho L(0))`: an error forces
    :math:`d_L(y) \ge \rho(r, y) L(0)` (lem-ecoc-distance). For Hamming decoding, :math:`L(0) = 1/2`. In
    codes whose rows have equally many zeros these cancel, and thm-ecoc-sharper bounds by the nonzero
    entries alone.

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_s(x_i)`.
    y : (n,) array-like of int
        Classes as rows of the code, 0 to k-1.
    code : (k, l) array-like
        Entries -1, 0, +1.
    loss : str, MarginLoss or callable
        As for :func:`decode`. A loss with :math:`L(0) = 0`, as "linear", is refused: the theorem says
        nothing. The two conditions are checked at the margins at hand.

    Returns
    -------
    TrainingErrorBound

    Examples
    --------
    >>> scores = [[2.0, -1.0, -3.0], [-0.5, 0.5, -2.0], [-1.0, -1.0, 0.25]]
    >>> found = training_error_bound(scores, [0, 1, 2], one_vs_all(3), loss="hinge")
    >>> found.error, round(found.bound, 4), round(found.sharper, 4)
    (0.0, 0.2917, 0.2917)
    """
    matrix = _as_code(code)
    chosen = _decoding_loss(loss)
    if not chosen.at_zero > 0:
        raise ValueError(
            f"the bound divides by L(0), which must be positive; the loss {chosen.name!r} has "
            f"L(0) = {chosen.at_zero:g}, so the theorem says nothing about it"
        )
    k, l = matrix.shape
    table = _check_scores(scores, l).astype(np.float64, copy=False)
    classes = np.asarray(y)
    if classes.shape != (len(table),) or not len(table):
        raise ValueError(
            f"y must be one class for each of the {len(table)} (at least 1) rows of scores, "
            f"found shape {classes.shape}"
        )
    if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= k:
        raise ValueError(
            f"y must be rows of the code, integers from 0 to {k - 1}, found {np.unique(classes)[:6].tolist()}"
        )

    found = decode(table, matrix, chosen)
    error = np.mean((found.winner != classes) | found.tied)

    margins = matrix[classes] * table
    paid = chosen(margins)
    if paid.min() < 0:
        raise ValueError(
            f"the bound needs L >= 0; the loss {chosen.name!r} is {paid.min():g} at a margin here"
        )
    even = (paid + chosen(-margins)) / 2
    if (even < chosen.at_zero * (1 - 1e-12)).any():
        z = margins.flat[even.argmin()]
        raise ValueError(
            f"the bound needs (L(z) + L(-z)) / 2 >= L(0) = {chosen.at_zero:g}; "
            f"for the loss {chosen.name!r} it is {even.min():g} at z = {z:g}"
        )
    known = report(matrix)
    if not known.rho > 0:
        equal = ", ".join(f"{r + 1} and {q + 1}" for r, q in known.equal_rows)
        raise ValueError(
            "the bound divides by the least distance of two rows, which is 0 here: "
            f"rows {equal} are equal and have no zeros (rows counted from 1)"
        )
    epsilon = paid.mean()
    sharper = None
    if known.min_separation and (known.zeros == known.zeros[0]).all():
        used = np.where(matrix[classes] != 0, paid, 0.0).sum(axis=1)
        sharper = float(used.mean() / (known.min_separation * chosen.at_zero))
    return TrainingErrorBound(
        error=float(error),
        epsilon=float(epsilon),
        rho=known.rho,
        bound=float(l * epsilon / (known.rho * chosen.at_zero)),
        sharper=sharper,
    )


# ---------------------------------------------------------------------------------------------------
# The estimator

_NAMED_CODES: dict[str, Callable[[int], Code]] = {
    "all-pairs": all_pairs,
    "one-vs-all": one_vs_all,
    "exhaustive": exhaustive,
}
_RANDOM_CODES = {"dense": dense, "sparse": sparse}


class OutputCode(BinaryReduction):
    r"""A multi-class classifier out of a binary one, by an output code.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with ``decision_function``, or else ``predict_proba``; one clone is fitted to
        each column of the code. From probabilities the score is the log-odds
        :math:`\log \frac{p}{1 - p}`, where p is kept at least :math:`2^{-52}` away from 0 and 1, so that
        a machine that is certain scores :math:`\pm 36.04` and not infinity.
    code : {"all-pairs", "one-vs-all", "exhaustive", "dense", "sparse"} or (k, l) array-like
        The code; rows in the order of ``classes_``. See :func:`all_pairs`, :func:`one_vs_all`,
        :func:`exhaustive`, :func:`dense`, :func:`sparse` and :func:`check_code`.
    decoding : str, MarginLoss or callable
        "hamming" or the loss of loss-based decoding, as for :func:`decode`.
    n_jobs : int or None
        How many columns are fitted at once, through joblib.
    random_state : int, RandomState or None
        Draws the "dense" or "sparse" code. It is not passed on: a random estimator has its own.
    verbose : int
        How much joblib tells of the progress of ``fit``.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    code_ : (k, l) int8 array
        The code in use.
    estimators_ : list of estimator
        The l fitted machines; that of column s was trained on the examples with
        :math:`M(y_i, s) \ne 0`, labelled :math:`M(y_i, s)`.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    ``decision_function`` is minus the distance of every row of the code; for exponential decoding, minus the
    logarithm of the distance, which cannot overflow. For two classes it is the second's value minus the
    first's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = OutputCode(LogisticRegression(), code="all-pairs", decoding="logistic").fit(X, y)
    >>> machine.code_.shape, machine.output_scores(X).shape
    ((3, 3), (150, 3))
    >>> machine.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        code: str | ArrayLike = "all-pairs",
        decoding: LossLike = "hinge",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.code = code
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        try:
            _decoding_loss(self.decoding)
        except ValueError as error:
            raise ValueError(f"decoding must be 'hamming' or a loss: {error}") from None
        seed(self.random_state)

    def _prepare(self) -> int:
        self.code_ = self._make_code(len(self.classes_))
        return len(self.code_.T)

    def _column(self, s: int) -> Column:
        return Column(self.code_[:, s], f"column {s + 1} of the code (counted from 1)")

    def _make_code(self, k: int) -> Code:
        if isinstance(self.code, str):
            if self.code in _NAMED_CODES:
                return _NAMED_CODES[self.code](k)
            if self.code in _RANDOM_CODES:
                return _RANDOM_CODES[self.code](k, random_state=self.random_state)
            allowed = ", ".join([*_NAMED_CODES, *_RANDOM_CODES])
            raise ValueError(f"unknown code {self.code!r}; allowed are {allowed}, or an array")
        code = check_code(self.code)
        if len(code) != k:
            raise ValueError(f"code must have one row for each class: {len(code)} rows, {k} classes in y")
        return code

    def output_scores(self, X: Any) -> Floats:
        """Scores :math:`f_s(x_i)` of the l machines.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, l) array
        """
        return self._scores(X)

    def _values(self, X: Any) -> Floats:
        found = decode(self.output_scores(X), self.code_, self.decoding)
        distances = found.distances if found.log_distances is None else found.log_distances
        return distances[:, 0] - distances[:, 1] if len(self.classes_) == 2 else -distances

    def training_error_bound(self, X: Any, y: ArrayLike) -> TrainingErrorBound:
        """:func:`training_error_bound` of the fitted machines on examples, usually those of ``fit``.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among ``classes_``.

        Returns
        -------
        TrainingErrorBound
        """
        scores = self.output_scores(X)
        labels = np.asarray(y)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y has labels that were not in fit: {unknown[:6].tolist()}")
        return training_error_bound(scores, np.searchsorted(self.classes_, labels), self.code_, self.decoding)
