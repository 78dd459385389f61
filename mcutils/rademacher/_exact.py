"""The complexity as the mean over all choices of signs."""

from itertools import product
from math import fsum

import numpy as np

from ..exact import all_signs
from ._enumeration import too_many
from ._families import Family, KnownFamily, Suprema, as_family, checked_suprema, in_range

# The most examples whose signs are all enumerated when the supremum is a Python function.
_MOST_SIGNS = 24


def complexity(family: Family | Suprema, *, m: int | None = None) -> float:
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
        One of the families here; or your own; or a function that returns the (n,) suprema, not divided by
        m, for (n, m) signs. The latter two are called with all signs, in blocks, up to 24 signs.
    m : int, optional
        For a function: the size of the sample.

    Returns
    -------
    float

    Examples
    --------
    >>> complexity(Finite([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))  # 7 of 8 times some sign is +1
    0.25
    >>> complexity(lambda signs: signs.max(axis=1), m=3)
    0.25
    """
    known = as_family(family, m, None)
    if isinstance(known, KnownFamily):
        return in_range(known._exact())
    n = known.n_signs
    if n > _MOST_SIGNS:
        raise too_many(f"2^{n}", 2**_MOST_SIGNS)
    low = all_signs(min(n, 12))
    sums: list[float] = []
    for high in product((1.0, -1.0), repeat=n - low.shape[1]):
        signs = np.hstack([np.broadcast_to(high, (len(low), len(high))), low])
        with np.errstate(over="ignore"):
            sums.append(in_range(float(checked_suprema(known, signs).sum())))
    return fsum(sums) / 2.0**n / known.m
