r"""All signs, one flip at a time: the Gray code.

There are :math:`2^L` ways to choose :math:`L` signs. The reflected Gray code lists them so that one entry
differs from the last in one sign: to step from entry :math:`t - 1` to entry :math:`t`, flip the sign whose
number is that of the trailing zeros of :math:`t` in binary. The first entry is all +1::

    t     1 = 1   2 = 10   3 = 11   4 = 100   5 = 101   6 = 110   7 = 111
    flip    0       1        0        2         0         1         0

So a sum :math:`\sum_i \sigma_i v_i` of vectors is known for all signs at the price of one addition of
vectors each, where the definition would take :math:`L`.

Both kernels overwrite ``sums``, which they take as :math:`\sum_i v_i` (other, fixed vectors may have been
added), and take ``moves``, which is :math:`2 v_i` in row i: what a flip from -1 to +1 adds.
"""

import numpy as np

from mcutils.jit import kernel


@kernel
def extremes(sums, moves, highest, lowest):
    r"""The largest and the smallest entry of :math:`\sum_i \sigma_i v_i`, for all signs.

    Parameters
    ----------
    sums : (n,) array
        The sum at all signs +1; overwritten.
    moves : (L, n) array
        Row i is :math:`2 v_i`.
    highest, lowest : (2**L,) arrays
        Filled, in the order of the Gray code.
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
        high, low = sums[0], sums[0]
        for g in range(len(sums)):
            high = max(high, sums[g])
            low = min(low, sums[g])
        highest[t] = high
        lowest[t] = low


@kernel
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
