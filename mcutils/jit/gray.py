r"""All signs, one flip at a time: the Gray code.

There are :math:`2^L` ways to choose :math:`L` signs. The reflected Gray code lists them so that one entry
differs from the last in one sign: to step from entry :math:`t - 1` to entry :math:`t`, flip the sign whose
number is that of the trailing zeros of :math:`t` in binary. The first entry is all +1::

    t     1 = 1   2 = 10   3 = 11   4 = 100   5 = 101   6 = 110   7 = 111
    flip    0       1        0        2         0         1         0

So a sum :math:`\sum_i \sigma_i v_i` of vectors is known for all signs at the cost of one addition of
vectors each, where the definition would take :math:`L`.

Both loops overwrite ``sums``, which they take as :math:`\sum_i v_i` (other, fixed vectors may have been
added), and take ``moves``, which is :math:`2 v_i` in row i: what a flip from -1 to +1 adds.
"""

import numpy as np

from mcutils.jit import compiled


@compiled
def larger(a, b):
    """The larger of two numbers, none of them NaN: unlike ``max`` a single instruction."""
    return a if a > b else b


@compiled
def smaller(a, b):
    """The smaller of two numbers, none of them NaN."""
    return a if a < b else b


@compiled
def extremes(sums, moves, table, highest, lowest):
    r"""The largest and the smallest entry of a signed sum of vectors, for all signs.

    The code walks through the signs of L vectors. Of the others, the last few, every signed sum stands in a
    table; adding it and comparing is all that is left to do for most signs, and as the p loop has neither
    branches nor an order, the processor does it for several signs at once.

    Parameters
    ----------
    sums : (n,) array
        The sum of the L vectors at all signs +1; overwritten. n is a multiple of 4.
    moves : (L, n) array
        Row i is :math:`2 v_i`.
    table : (n, P) array
        Column p is a signed sum of the other vectors.
    highest, lowest : (2**L, P) arrays
        Filled, the rows in the order of the Gray code and the columns in that of the table.
    """
    signs = np.ones(len(moves))
    for t in range(len(highest)):
        if t > 0:
            i = 0
            while (t >> i) & 1 == 0:
                i += 1
            signs[i] = -signs[i]
            for g in range(len(sums)):
                sums[g] += signs[i] * moves[i, g]
        high, low = highest[t], lowest[t]
        high[:] = -np.inf
        low[:] = np.inf
        for g in range(0, len(sums), 4):  # by fours: each visit of high and low is paid four times
            a, b, c, d = sums[g], sums[g + 1], sums[g + 2], sums[g + 3]
            for p in range(table.shape[1]):
                u = a + table[g, p]
                v = b + table[g + 1, p]
                w = c + table[g + 2, p]
                x = d + table[g + 3, p]
                above = larger(larger(u, v), larger(w, x))
                below = smaller(smaller(u, v), smaller(w, x))
                high[p] = larger(high[p], above)
                low[p] = smaller(low[p], below)


@compiled
def squared_norms(sums, moves, squares):
    r"""The squared length of :math:`\sum_i \sigma_i v_i`, for all signs.

    Parameters
    ----------
    sums : (d,) array
        The sum at all signs +1; overwritten.
    moves : (L, d) array
        Row i is :math:`2 v_i`.
    squares : (2**L,) array
        Filled, in the order of the Gray code.
    """
    signs = np.ones(len(moves))
    for t in range(len(squares)):
        if t > 0:
            i = 0
            while (t >> i) & 1 == 0:
                i += 1
            signs[i] = -signs[i]
            for j in range(len(sums)):
                sums[j] += signs[i] * moves[i, j]
        square = 0.0
        for j in range(len(sums)):
            square += sums[j] * sums[j]
        squares[t] = square
