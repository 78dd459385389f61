"""Exact arithmetic for small problems: what the witnesses of the chapters and the tests share.

There is no chapter of this name. Nothing here rounds, so an equality that it finds is an equality.

>>> A = as_fractions([[0.5, 1], [1, "1/3"]])
>>> [str(value) for value in A @ A[1]]
['5/6', '10/9']
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._alternative import fraction, objects
from ._checks import integer
from ._typing import Ints

__all__ = ["all_signs", "as_fractions", "solve"]

_MOST_SIGNS = 20


def as_fractions(values: Any) -> NDArray[np.object_]:
    """The same numbers as `fractions.Fraction`, in an array of objects that numpy does not round.

    Parameters
    ----------
    values : array-like
        Numbers of any kind, or texts such as ``"1/3"`` and ``"0.1"``. A float is taken for what it is, a
        binary fraction.

    Returns
    -------
    array of Fraction
        Of the same shape.

    Examples
    --------
    >>> as_fractions([[1, 0.5], ["0.1", 3]]).tolist()
    [[Fraction(1, 1), Fraction(1, 2)], [Fraction(1, 10), Fraction(3, 1)]]
    """
    return _fractions(values, "values")


def _fractions(values: Any, name: str) -> NDArray[np.object_]:
    array = np.asarray(values, dtype=object)
    entries = []
    for entry in array.ravel().tolist():
        try:
            entries.append(Fraction(entry) if isinstance(entry, str) else fraction(entry))
        except (AttributeError, TypeError, ValueError, OverflowError, ZeroDivisionError):
            raise ValueError(f"{name} must be finite numbers, found {entry!r}") from None
    return objects(entries).reshape(array.shape)


def all_signs(m: int) -> Ints:
    """All :math:`2^m` choices of m signs, one in each row, in lexicographic order.

    Parameters
    ----------
    m : int
        From 0 to 20.

    Examples
    --------
    >>> all_signs(2).tolist()
    [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    """
    m = integer(m, "m", 0, _MOST_SIGNS)
    return 2 * (np.arange(2**m, dtype=np.intp)[:, None] >> np.arange(m)[::-1] & 1) - 1


def solve(A: ArrayLike, b: ArrayLike) -> list[Fraction] | None:
    """The solution of the linear equations Ax = b, by elimination in fractions.

    Parameters
    ----------
    A : (n, n) array-like
    b : (n,) array-like

    Returns
    -------
    list of Fraction, or None
        None if A is singular.

    Examples
    --------
    >>> [str(value) for value in solve([[1, 1], [1, -2]], [1, 0])]
    ['2/3', '1/3']
    >>> solve([[1, 2], [2, 4]], [1, 2]) is None
    True
    """
    square, right = _fractions(A, "A"), _fractions(b, "b")
    n = square.shape[0] if square.ndim else 0
    if square.shape != (n, n) or right.shape != (n,):
        raise ValueError(
            "A must be square and b have an entry for each row, "
            f"found shapes {square.shape} and {right.shape}"
        )
    rows = np.column_stack([square, right])
    for i in range(n):
        pivot = next((r for r in range(i, n) if rows[r, i]), None)
        if pivot is None:
            return None
        rows[[i, pivot]] = rows[[pivot, i]]
        rows[i] = rows[i] / rows[i, i]
        for r in range(n):
            if r != i:
                rows[r] = rows[r] - rows[r, i] * rows[i]
    solution: list[Fraction] = rows[:, -1].tolist()
    return solution
