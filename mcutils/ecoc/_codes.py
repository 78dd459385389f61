"""Codes: how they are made, checked and measured."""

from dataclasses import dataclass
from math import ceil, comb, log2
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import array, generator, integer
from .._typing import Floats, Ints, RandomState

_MOST_CLASSES = 10_000
_MOST_IN_PAIRS = 1_000  # half a gigabyte

Code: TypeAlias = NDArray[np.int8]
Pairs: TypeAlias = tuple[tuple[int, int], ...]


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
    k = integer(k, "k", 2, feasible=_MOST_CLASSES)
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
    k = integer(k, "k", 2, feasible=_MOST_IN_PAIRS)
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
    k = integer(k, "k", 2, 12)
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
    k = integer(k, "k", 2, feasible=_MOST_CLASSES)
    distinct = 2 ** (k - 1) - 1
    n_columns = min(ceil(10 * log2(k)), distinct) if n_columns is None else n_columns
    # l columns of two entries make at most 2^l different rows
    n_columns = integer(n_columns, "n_columns", ceil(log2(k)), distinct)
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
    k = integer(k, "k", 2, feasible=_MOST_CLASSES)
    distinct = (3**k - 2 ** (k + 1) + 1) // 2
    n_columns = min(ceil(15 * log2(k)), distinct) if n_columns is None else n_columns
    # each zero replaced by a sign, rows that were separated still differ: no fewer columns than above
    n_columns = integer(n_columns, "n_columns", ceil(log2(k)), distinct)
    return _best_of_many(k, n_columns, distinct, np.array([0, 0, -1, 1], dtype=np.int8), random_state)


def _best_of_many(k: int, n_columns: int, distinct: int, entries: Code, random_state: RandomState) -> Code:
    """The candidate of the largest minimum distance among those that separate all rows."""
    rng = generator(random_state)
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
            "take more columns"
        )
    return best


def _distinct_columns(k: int, n_columns: int, entries: Code, rng: np.random.Generator) -> Code:
    """Random columns with both signs, no two of them equal or complementary."""
    columns = np.empty((0, k), dtype=np.int8)
    while len(columns) < n_columns:
        drawn = rng.choice(entries, size=(2 * n_columns, k))
        drawn = drawn[(drawn.min(axis=1) < 0) & (drawn.max(axis=1) > 0)]
        # of a column and its negative, keep the one whose first nonzero entry is +1
        leading = np.take_along_axis(drawn, (drawn != 0).argmax(axis=1)[:, None], axis=1)
        pool = np.vstack([columns, drawn * leading])
        first = np.unique(pool, axis=0, return_index=True)[1]
        columns = pool[np.sort(first)][:n_columns]
    return np.ascontiguousarray(columns.T)


def check_code(code: ArrayLike) -> Code:
    """The code as an int8 array, or a ValueError that says why it is not usable.

    A code is refused when a class is never used (a row of zeros), when a column lacks +1 or -1 (its
    classifier would see one label only), and when no column has opposite signs in two rows (nothing that
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
    ValueError: code is not usable: column 3 (no -1); classes 1 and 3 have opposite signs in no column \
(columns and classes counted from 1)
    """
    matrix = as_code(code)
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
            f"code is not usable: {'; '.join(faults[:5])}{more} (columns and classes counted from 1)"
        )
    return matrix


def as_code(code: ArrayLike) -> Code:
    """An int8 matrix of at least two rows and one column with entries -1, 0, +1."""
    matrix = array(code, "code")
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 1:
        raise ValueError(
            "code must be a matrix with a row for each of at least two classes and a column for each binary "
            f"problem, found shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "iuf" or not np.isin(matrix, (-1, 0, 1)).all():
        raise ValueError(f"code must have entries -1, 0, +1 only, found {matrix.ravel()[:6].tolist()}")
    return matrix.astype(np.int8)


def _pairwise(code: Code) -> tuple[Floats, Ints]:
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
    repairs : int
        How many wrong columns Hamming decoding repairs with certainty (cor-ecoc-correct, part 3): the
        largest w with :math:`2w < \delta(r, r') - \frac12 |\zeta(r) - \zeta(r')|` for all pairs of
        rows, where :math:`\zeta(r)` is the number of zeros of row r. A column is wrong if its score has
        the sign opposite to the true row's entry; where this entry is 0, the score may have either sign.
        It is -1 if a class can lose although none of its columns is wrong. Without zeros, w is the
        largest integer below :math:`\rho / 2`.
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
    separations: Ints
    min_separation: int
    zeros: Ints
    repairs: int
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
    >>> result = report(all_pairs(4))
    >>> result.rho, result.min_separation, result.zeros.tolist(), result.repairs
    (3.5, 1, [3, 3, 3, 3], 0)
    >>> report(exhaustive(5)).rho, report(exhaustive(5)).repairs
    (8.0, 3)
    >>> report([[1, -1, 1], [-1, 1, 1]]).complementary_columns
    ((0, 1),)
    """
    matrix = as_code(code)
    distances, separations = _pairwise(matrix)
    upper = np.triu_indices(len(matrix), 1)
    zeros = (matrix == 0).sum(axis=1)
    margin = (2 * separations - np.abs(zeros[:, None] - zeros))[upper].min()  # 4w must be smaller
    return CodeReport(
        distances=distances,
        rho=float(distances[upper].min()),
        separations=separations,
        min_separation=int(separations[upper].min()),
        zeros=zeros,
        repairs=max(-1, int(margin - 1) // 4),
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
