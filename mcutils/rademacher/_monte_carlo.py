"""The complexity estimated from random signs."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.utils.parallel import delayed

from .._checks import generator, integer, jobs, number, reals, switch, verbosity
from .._progress import Log, side_by_side
from .._typing import Floats, RandomState
from ._families import Family, KnownFamily, Suprema, as_family, checked_suprema, in_range

_MOST_DRAWS = 100_000_000

# Draws of one seed; so the same signs are drawn however many processes share the work.
_BLOCK = 256


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
    verbose: int | bool = 0,
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

    A family without an envelope gets the interval :math:`\pm t` standard errors, Student's t
    with n - 1 degrees of freedom. It is narrower, and *right only in the limit of many draws*: for few
    draws of a skewed or two-valued supremum it contains the complexity less often than its level. Two draws
    that agree, for one, give an interval of length 0.

    Parameters
    ----------
    family : Family or callable
        One of the families here; or your own; or a function that returns the (n,) suprema, not divided by
        m, for (n, n_signs) signs.
    n_draws : int, default=1000
        Number n of draws.
    m, n_signs : int, optional
        For a function: the size of the sample, and the number of signs where it is another.
    envelope : float or (n_signs,) array-like, optional
        For a function, or for your own family: :math:`b_i`, or bounds on it. It makes the guarantee possible.
    guaranteed : bool, optional
        True requires the guaranteed interval, and is refused where no envelope is known; False for
        Student's. By default the guaranteed interval where it can be had.
    confidence : float, default=0.95
        :math:`1 - \alpha`, between 0 and 1.
    random_state : int, numpy Generator, RandomState or None
        Draws the signs.
    n_jobs : int or None
        How many blocks of draws are computed at once, through joblib. The signs do not depend on it.
    verbose : int or bool
        1, or True: a line on stderr says how far the work is; 2: each report is a line of its own.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> result = monte_carlo(KernelBall(np.eye(100)), random_state=0)
    >>> round(result.value, 6), result.guaranteed  # 1 / sqrt(100)
    (0.1, True)
    >>> monte_carlo(lambda signs: signs.max(axis=1), m=3, envelope=1.0, random_state=0).guaranteed
    True
    """
    known = as_family(family, m, n_signs)
    jobs(n_jobs)
    verbose = verbosity(verbose)
    n = integer(n_draws, "n_draws", 1, feasible=_MOST_DRAWS)
    alpha = 1 - number(confidence, "confidence", above=0, below=1)
    if isinstance(known, KnownFamily):
        if envelope is not None:
            raise ValueError(f"{type(known).__name__} has its envelope; give none")
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

    entropy = generator(random_state).integers(2**63, size=2)
    seeds = np.random.SeedSequence([int(e) for e in entropy]).spawn(-(-n // _BLOCK))
    sizes = [_BLOCK] * (n // _BLOCK) + ([n % _BLOCK] if n % _BLOCK else [])
    calls = (delayed(_draw)(known, seed, size) for seed, size in zip(seeds, sizes, strict=True))
    with Log("monte_carlo", verbose, unit="block", most=len(sizes)) as line:
        suprema = np.concatenate(side_by_side(calls, n_jobs, line))
    draws = suprema / known.m
    value = in_range(float(draws.mean()))
    standard_error = float(np.std(draws, ddof=1)) / sqrt(n) if n > 1 else float("nan")
    if guaranteed and spread is not None:
        reach = spread / known.m * sqrt(2 * log(2 / alpha) / n)
    else:
        reach = float(stdtrit(n - 1, 1 - alpha / 2)) * standard_error
    in_range(value + reach)
    return Estimate(value, value - reach, value + reach, 1 - alpha, n, standard_error, guaranteed)


def _draw(known: Family, seed: np.random.SeedSequence, size: int) -> Floats:
    """The suprema of ``size`` draws."""
    numbers = size * known.n_signs
    random = np.frombuffer(np.random.default_rng(seed).bytes(-(-numbers // 8)), dtype=np.uint8)
    bits = np.unpackbits(random, count=numbers).reshape(size, known.n_signs)
    signs = 2 * bits.astype(np.float64) - 1
    return known._suprema(signs) if isinstance(known, KnownFamily) else checked_suprema(known, signs)


def _length(envelope: ArrayLike, n_signs: int) -> float:
    values = reals(envelope, "envelope")
    if values.shape not in ((), (n_signs,)) or (values < 0).any():
        raise ValueError(f"envelope must be a number or {n_signs} numbers, at least 0, found {envelope!r}")
    return float(np.linalg.norm(np.broadcast_to(values, n_signs)))
