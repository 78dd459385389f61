"""Means over all choices of signs: of the extremes of signed sums, and of their lengths."""

from collections.abc import Callable, Iterator
from itertools import product
from math import fsum

import numpy as np

from .._typing import Floats
from ..exact import all_signs

# Additions that an exact enumeration may take: some seconds.
MOST_STEPS = 2**33

# Signs per compiled call: few enough that Ctrl-C is noticed; and how many of
# them it finds added up in a table.
_GRAY_SIGNS = 16
_TABLE_SIGNS = 6

# Numbers that an intermediate result may hold.
ROOM = 2**22


def too_many(count: str, allowed: int) -> ValueError:
    return ValueError(
        f"exact enumeration would take {count} steps, more than {allowed}; "
        "use monte_carlo, whose interval bounds its error"
    )


def _gray_walks(vectors: Floats, most: int) -> Iterator[tuple[Floats, Floats]]:
    """The sums of (m, n) vectors with signs, the first fixed at +1, in walks for mcutils.jit.gray.

    ``most`` is the largest number of signs in a walk. Each walk starts from a sum that is computed afresh, so
    that rounding does not add up.
    """
    m = len(vectors)
    low = min(m - 1, most)
    head, tail = vectors[: m - low], vectors[m - low :]
    moves = np.ascontiguousarray(2 * tail)
    for signs in product((1.0, -1.0), repeat=m - low - 1):
        yield np.array((1.0, *signs)) @ head + tail.sum(axis=0), moves


def _affordable(m: int, n: int) -> None:
    if 2 ** (m - 1) * (n + 8) > MOST_STEPS:  # a step costs about 8 additions beside those of its entries
        raise too_many(f"2^{m - 1} * {n}", MOST_STEPS)


def mean_extremes(functions: Floats, value: Callable[[Floats, Floats], Floats]) -> float:
    """The mean over all signs of a function of the largest and the smallest signed sum."""
    from ..jit import gray as jit

    n, m = len(functions), len(functions[0])
    _affordable(m, n)
    # the loop takes functions by fours: the last is repeated
    vectors = functions[np.minimum(np.arange(-(-n // 4) * 4), n - 1)].T
    in_table = min(m - 1, _TABLE_SIGNS)
    walked, rest = vectors[: m - in_table], vectors[m - in_table :]
    table = np.ascontiguousarray((all_signs(in_table) @ rest).T)
    sums: list[float] = []
    for start, moves in _gray_walks(walked, _GRAY_SIGNS - _TABLE_SIGNS):
        high, low = np.empty((2, 2 ** len(moves), table.shape[1]))
        jit.extremes(start, moves, table, high, low)
        sums.append(float(value(high, low).sum()))
    return fsum(sums) / 2.0 ** (m - 1)


def _squared_norms(features: Floats) -> Iterator[Floats]:
    """|sum of signs times features|^2 for all signs up to their common sign, piece by piece."""
    from ..jit import gray as jit

    _affordable(*features.shape)
    for start, moves in _gray_walks(features, _GRAY_SIGNS):
        squares = np.empty(2 ** len(moves))
        jit.squared_norms(start, moves, squares)
        yield squares


def mean_norm(features: Floats, copies: int = 1) -> float:
    """The mean over all signs of the norm of the signed sum, in a space of ``copies`` copies."""
    m = len(features)
    if copies == 1:
        return fsum(float(np.sqrt(squares).sum()) for squares in _squared_norms(features)) / 2.0 ** (m - 1)
    squares, counts = np.unique(np.concatenate(list(_squared_norms(features))), return_counts=True)
    first = _sums_of(squares, counts / 2 ** (m - 1), copies // 2)
    second = _sums_of(squares, counts / 2 ** (m - 1), copies - copies // 2)
    if len(first[0]) * len(second[0]) > MOST_STEPS / 8:
        raise too_many(f"{len(first[0])} * {len(second[0])}", MOST_STEPS // 8)
    rows = max(1, ROOM // len(second[0]))
    return fsum(
        float(first[1][i : i + rows] @ (np.sqrt(first[0][i : i + rows, None] + second[0]) @ second[1]))
        for i in range(0, len(first[0]), rows)
    )


def _sums_of(values: Floats, chances: Floats, terms: int) -> tuple[Floats, Floats]:
    """The distribution of the sum of ``terms`` independent variables of this distribution."""
    sums, chance = values, chances
    for _ in range(terms - 1):
        if len(sums) * len(values) > 8 * ROOM:
            raise too_many(f"{len(sums)} * {len(values)}", 8 * ROOM)
        sums, back = np.unique(np.add.outer(sums, values), return_inverse=True)
        weights = np.multiply.outer(chance, chances).ravel()
        chance = np.bincount(back.ravel(), weights=weights).astype(np.float64)
    return sums, chance
