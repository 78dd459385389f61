r"""Margin bounds: what a sample promises about the risk of every score function of a class.

All bounds have one form. With probability at least :math:`1 - \delta` over a sample of m examples, for all
score functions :math:`f = (f_1, \dots, f_k)` of a class at once and for every tie-break,

.. math:: R(h_f) \le \hat R_{S,\rho}(f) + \text{complexity} + \text{confidence},

and a function of this module returns the three terms as a :class:`Bound`. They differ in the second:

* "quadratic": :math:`2 k^2 \mathfrak R / \rho` for any class (thm-bound-margin), and
  :math:`2 k^2 r\Lambda / (\rho\sqrt m)` for a kernel class (cor-classes-kernel);
* "linear": :math:`2 k \mu_k \mathfrak R / \rho` with :math:`\mu_k = 2 - 1 / \lceil k/2 \rceil`
  (thm-classes-linear-k), and :math:`2 \sqrt k\, b_k r\Lambda / (\rho\sqrt m)` for a kernel class with any p;
* "sqrt": :math:`2 b_k r\Lambda / (\rho\sqrt m)` for a kernel class with :math:`p \le 2`, where
  :math:`b_k = \sqrt{k-1}\, (\sqrt k + 2) / (\sqrt k + 1)` (thm-classes-sqrt-k).

:math:`\mathfrak R` is the Rademacher complexity of :math:`\Pi_1(\mathcal H)`, the set of all single scores
:math:`x \mapsto f_y(x)`: expected over samples, or that of the sample itself (``data_dependent=True``), which
costs a larger third term, :math:`3\sqrt{\log(2/\delta)/2m}` in place of :math:`\sqrt{\log(1/\delta)/2m}`.

The class, the margin :math:`\rho` and the norm bound :math:`\Lambda` are fixed before the sample is seen. A
number chosen with its help needs a form that is uniform in it, and the functions refuse it without:

>>> import numpy as np
>>> scores, y = np.tile([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]], (5000, 1)), np.tile([0, 1], 5000)
>>> result = margin_bound(scores, y, rho=0.5, complexity=0.002, delta=0.05)
>>> {name: round(term, 4) for name, term in result.terms.items()}
{'empirical': 0.0, 'complexity': 0.072, 'confidence': 0.0122}
>>> margin_bound(  # doctest: +ELLIPSIS
...     scores, y, rho=0.5, complexity=0.002, delta=0.05, rho_chosen_from_data=True
... )
Traceback (most recent call last):
    ...
ValueError: rho=0.5 was chosen from the data ... fixed before: set uniform_in_rho=True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, fsum, inf, log, log2, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array, integer, number, one_of, reals, switch
from .margin import empirical_margin_loss, margins, rho_loss

__all__ = [
    "Bound",
    "Chain",
    "best_rho",
    "chain",
    "complexity_term",
    "kernel_bound",
    "margin_bound",
    "samples_needed",
    "steps",
    "uniform",
]

Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["quadratic", "linear", "sqrt"]

_KERNEL_STATEMENT = {
    "quadratic": "cor-classes-kernel",
    "linear": "thm-classes-sqrt-k",
    "sqrt": "thm-classes-sqrt-k",
}


@dataclass(frozen=True)
class Bound:
    """A bound on a risk, term by term.

    Attributes
    ----------
    statement : str
        The label of the theorem that it computes.
    empirical : float
        What is seen on the sample: the mean loss.
    complexity : float
        What the choice among many functions adds, with its factor.
    confidence : float
        What holding with probability 1 - delta adds.

    Examples
    --------
    >>> result = uniform(empirical=0.25, complexity=0.125, m=800, delta=0.05)
    >>> round(result.total, 3), result.vacuous
    (0.543, False)
    """

    statement: str
    empirical: float
    complexity: float
    confidence: float

    def __post_init__(self) -> None:
        for name, term in self.terms.items():
            if not term >= 0:  # an infinite one bounds as well, if vacuously
                raise ValueError(f"{name} must be a number, at least 0, found {term!r}")

    @property
    def total(self) -> float:
        """The bound: the sum of the three terms, rounded once."""
        return fsum(self.terms.values())

    @property
    def vacuous(self) -> bool:
        """Whether the bound is at least 1, which every risk satisfies anyway."""
        return self.total >= 1

    @property
    def terms(self) -> dict[str, float]:
        """The three terms by name."""
        return {"empirical": self.empirical, "complexity": self.complexity, "confidence": self.confidence}


# ---------------------------------------------------------------------------------------------------
# The bounds


def uniform(empirical: float, complexity: float, m: int, delta: float, data_dependent: bool = False) -> Bound:
    r"""The uniform bound for a family of functions with values in [0, 1] (thm-rademacher-uniform).

    With probability at least :math:`1 - \delta`, for all g of the family at once,
    :math:`\E g \le \frac1m \sum_i g(z_i) + 2 \mathfrak R_m + \sqrt{\log(1/\delta) / 2m}`, and also
    :math:`\E g \le \frac1m \sum_i g(z_i) + 2 \hat{\mathfrak R}_S + 3 \sqrt{\log(2/\delta) / 2m}`. Each has
    this probability; both together have :math:`1 - 2\delta`.

    Parameters
    ----------
    empirical : float
        Mean of g on the sample, from 0 to 1.
    complexity : float
        Rademacher complexity of the family: expected, or of the sample if ``data_dependent``.
    m : int
        Size of the sample.
    delta : float
        Probability of failure, between 0 and 1.
    data_dependent : bool
        Whether ``complexity`` is that of the sample.

    Returns
    -------
    Bound

    Examples
    --------
    >>> result = uniform(0.1, 0.01, m=10_000, delta=0.05, data_dependent=True)
    >>> {name: round(term, 4) for name, term in result.terms.items()}
    {'empirical': 0.1, 'complexity': 0.02, 'confidence': 0.0407}
    """
    return Bound(
        "thm-rademacher-uniform",
        number(empirical, "empirical", least=0, most=1),
        2 * number(complexity, "complexity", least=0),
        _confidence(integer(m, "m", 1), delta, data_dependent),
    )


def margin_bound(
    scores: ArrayLike,
    y: ArrayLike,
    rho: float,
    complexity: float,
    delta: float,
    *,
    kind: Literal["quadratic", "linear"] = "quadratic",
    data_dependent: bool = False,
    rho_chosen_from_data: bool = False,
    uniform_in_rho: bool = False,
    rho_max: float = 1.0,
) -> Bound:
    r"""The margin bound from the complexity of the single scores.

    :math:`\hat R_{S,\rho}(f) + \frac{2 k^2}\rho \mathfrak R + \sqrt{\log(1/\delta)/2m}`
    (thm-bound-margin), or with :math:`2k\mu_k` in place of :math:`2k^2` (``kind="linear"``,
    thm-classes-linear-k): :math:`4(k-1)` for even k, :math:`4k^2/(k+1)` for odd k. The form uniform in rho
    holds for all :math:`\rho \in (0, \rho_{\max}]` at once: it doubles the second term and adds
    :math:`(2 + \log_2 \frac{\rho_{\max}}\rho) \log 2` to the logarithm of the third
    (thm-bound-uniform-rho).

    Parameters
    ----------
    scores : (m, k) array-like
        The scores of f on the sample.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    rho : float
        The required margin, positive.
    complexity : float
        Rademacher complexity of :math:`\Pi_1(\mathcal H)`, or an upper bound: expected over samples, or that
        of the inputs of this sample if ``data_dependent``.
    delta : float
        Probability of failure, between 0 and 1.
    kind : "quadratic" or "linear"
        How the second term grows with k.
    data_dependent : bool
        Whether ``complexity`` is that of the sample.
    rho_chosen_from_data : bool
        True if rho was chosen with the help of the sample; then the uniform form is the one that holds.
    uniform_in_rho : bool
        Compute the uniform form.
    rho_max : float
        The largest margin that the uniform form admits, fixed in advance.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> scores, y = np.tile([[0.9, 0.1], [0.2, 0.7]], (2000, 1)), np.tile([0, 1], 2000)
    >>> round(margin_bound(scores, y, 0.5, 0.005, delta=0.1).total, 4)
    0.097
    >>> round(
    ...     margin_bound(scores, y, 0.5, 0.005, 0.1, rho_chosen_from_data=True, uniform_in_rho=True).total, 4
    ... )
    0.1834
    """
    rho = _check_rho(rho, rho_chosen_from_data, uniform_in_rho)
    number(rho_max, "rho_max", above=0)
    one_of(kind, "kind", ("quadratic", "linear"))
    empirical = empirical_margin_loss(scores, y, rho)
    m, k = np.shape(scores)
    complexity = number(complexity, "complexity", least=0)
    second = _class_factor(kind, k) * complexity / rho
    if not uniform_in_rho:
        name = "thm-bound-margin" if kind == "quadratic" else "thm-classes-linear-k"
        return Bound(name, empirical, second, _confidence(m, delta, data_dependent))
    octaves = 2 + log2(_check_rho_max(rho_max, rho) / rho)
    return Bound(
        "thm-bound-uniform-rho", empirical, 2 * second, _confidence(m, delta, data_dependent, octaves)
    )


def best_rho(
    scores: ArrayLike,
    y: ArrayLike,
    complexity: float,
    delta: float,
    *,
    kind: Literal["quadratic", "linear"] = "quadratic",
    data_dependent: bool = False,
    rho_max: float = 1.0,
) -> tuple[float, Bound]:
    r"""The margin of the smallest bound, chosen from the data in a way that the bound allows.

    The bound of thm-bound-margin, for all margins :math:`\rho_{\max} 2^{-j}`, j = 0, 1, ..., at once: the
    j-th fails with probability at most :math:`\delta 2^{-(j+1)}`, so that together they fail with
    probability at most delta (eq-bound-grid). No smaller value is found by thm-bound-uniform-rho, which is
    deduced from it.

    Parameters
    ----------
    scores, y, complexity, delta, kind, data_dependent, rho_max
        As in :func:`margin_bound`.

    Returns
    -------
    (float, Bound)
        The margin and its bound.

    Examples
    --------
    >>> import numpy as np
    >>> scores, y = np.tile([[0.9, 0.1], [0.2, 0.7]], (2000, 1)), np.tile([0, 1], 2000)
    >>> rho, result = best_rho(scores, y, 0.001, delta=0.1)
    >>> rho, round(result.total, 4)
    (0.5, 0.0375)
    """
    rho_max = _check_rho(rho_max, False, False, "rho_max")
    one_of(kind, "kind", ("quadratic", "linear"))
    reached = margins(scores, y)
    m, k = np.shape(scores)
    richness = _class_factor(kind, k) * number(complexity, "complexity", least=0)
    least = float((reached <= 0).mean())  # no margin loss is smaller
    best: tuple[float, Bound] | None = None
    for j in range(1000):
        rho = rho_max * 2.0**-j
        if rho == 0:
            break
        here = Bound(
            "eq-bound-grid",
            float(rho_loss(reached, rho).mean()),
            richness / rho,
            _confidence(m, delta, data_dependent, j + 1),
        )
        if best is None or here.total < best[1].total:
            best = rho, here
        if fsum((least, here.complexity, here.confidence)) >= best[1].total:
            break  # both terms grow from here on
    assert best is not None  # j = 0 is always looked at
    return best


def kernel_bound(
    scores: ArrayLike,
    y: ArrayLike,
    rho: float,
    norm_bound: float,
    delta: float,
    *,
    kind: Kind = "quadratic",
    radius: float | None = None,
    gram: ArrayLike | None = None,
    rho_chosen_from_data: bool = False,
    uniform_in_rho: bool = False,
    rho_max: float = 1.0,
    norm_chosen_from_data: bool = False,
    uniform_in_norm: bool = False,
    norm_min: float = 1.0,
) -> Bound:
    r"""The margin bound of a kernel class.

    With ``kind="quadratic"`` (cor-classes-kernel)
    :math:`\hat R_{S,\rho}(f) + 2 k^2 \frac{r\Lambda}{\rho\sqrt m} + \sqrt{\log(1/\delta)/2m}` from a radius;
    :math:`\hat R_{S,\rho}(f) + 2 k^2 \frac{\Lambda\sqrt{\operatorname{tr}\mathbf K}}{\rho m} +
    3\sqrt{\log(2/\delta)/2m}` from the Gram matrix of the sample. For all f of
    :math:`\mathcal H_{K,p,\Lambda}`, :math:`p \ge 1`. With ``kind="linear"``
    :math:`2\sqrt k\, b_k` stands in place of :math:`2k^2`, where
    :math:`b_k = \sqrt{k-1}\, (\sqrt k + 2) / (\sqrt k + 1) < 1 + \sqrt{k-1}`; with ``kind="sqrt"`` it is
    :math:`2 b_k`, for all f with :math:`\sum_y \lVert f_y \rVert^2 \le \Lambda^2`, that is, for
    :math:`p \le 2` (thm-classes-sqrt-k).

    Only :math:`\Lambda/\rho` matters, since f with the margin rho and f/rho with the margin 1 are the same
    (rem-bound-scale). So the uniform forms are one: with :math:`t = \max(t_0, \Lambda/\rho)` in place of
    :math:`\Lambda/\rho` the second term is doubled and :math:`(2 + \log_2(t/t_0)) \log 2` is added to the
    logarithm of the third (thm-bound-uniform-rho, thm-bound-uniform-lambda). The smallest ratio
    :math:`t_0` is fixed in advance: it has ``rho_max`` for rho if the form is uniform in rho, and
    ``norm_min`` for the norm if it is uniform in the norm.

    Parameters
    ----------
    scores : (m, k) array-like
        The scores of f on the sample.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    rho : float
        The required margin, positive.
    norm_bound : float
        :math:`\Lambda`, a bound on the norm of f; if the form is uniform in it, the norm of f itself.
    delta : float
        Probability of failure, between 0 and 1.
    kind : "quadratic", "linear" or "sqrt"
        How the second term grows with k.
    radius : float, optional
        r with :math:`K(x, x) \le r^2` for every x.
    gram : (m, m) or (m,) array-like, optional
        The Gram matrix of the sample or its diagonal. Exactly one of ``radius`` and ``gram`` is given.
    rho_chosen_from_data, norm_chosen_from_data : bool
        True if the number was chosen with the help of the sample.
    uniform_in_rho, uniform_in_norm : bool
        Compute the form that is uniform in it.
    rho_max, norm_min : float
        The largest margin and the smallest norm bound of the uniform forms, fixed in advance.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> scores, y = np.tile([[2.0, 0.0], [0.0, 2.0]], (50_000, 1)), np.tile([0, 1], 50_000)
    >>> result = kernel_bound(scores, y, rho=1, norm_bound=2, delta=0.05, radius=1)
    >>> {name: round(term, 4) for name, term in result.terms.items()}
    {'empirical': 0.0, 'complexity': 0.0506, 'confidence': 0.0039}
    >>> scores = np.tile([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], (50_000, 1))
    >>> kinds = ("quadratic", "linear", "sqrt")
    >>> [round(kernel_bound(scores, y, 1, 2, 0.05, kind=kind, radius=1).complexity, 3) for kind in kinds]
    [0.114, 0.042, 0.024]
    """
    rho = _check_rho(rho, rho_chosen_from_data, uniform_in_rho)
    number(rho_max, "rho_max", above=0)
    number(norm_min, "norm_min", above=0)
    norm = number(norm_bound, "norm_bound", least=0)
    uniform_in_norm = switch(uniform_in_norm, "uniform_in_norm")
    if switch(norm_chosen_from_data, "norm_chosen_from_data") and not uniform_in_norm:
        raise ValueError(
            f"norm_bound={norm_bound!r} was chosen from the data (norm_chosen_from_data), and this bound "
            "holds for one that was fixed before: set uniform_in_norm=True"
        )
    empirical = empirical_margin_loss(scores, y, rho)
    m, k = np.shape(scores)
    size = _size(m, radius, gram)
    data_dependent = gram is not None
    if not uniform_in_rho and not uniform_in_norm:
        second = _factor(kind, k) * norm / rho * size
        return Bound(_KERNEL_STATEMENT[kind], empirical, second, _confidence(m, delta, data_dependent))

    least_norm = _check_rho(norm_min, False, False, "norm_min") if uniform_in_norm else norm
    largest_rho = rho
    if uniform_in_rho:
        # with the norm free too, a larger rho is the same as a smaller norm
        largest_rho = _check_rho_max(rho_max, 0 if uniform_in_norm else rho)
    ratio = max(norm / rho, least_norm / largest_rho)
    # differences of logarithms: quotients may leave the range of floats
    octaves = log2(largest_rho) - log2(rho)
    if uniform_in_norm:
        octaves += log2(norm) - log2(least_norm) if norm > 0 else -inf
    return Bound(
        "thm-bound-uniform-lambda" if uniform_in_norm else "thm-bound-uniform-rho",
        empirical,
        2 * _factor(kind, k) * ratio * size,
        _confidence(m, delta, data_dependent, 2 + max(0.0, octaves)),
    )


def _size(m: int, radius: float | None, gram: ArrayLike | None) -> float:
    r""":math:`r / \sqrt m` or :math:`\sqrt{\operatorname{tr}\mathbf K} / m`."""
    if (radius is None) == (gram is None):
        raise ValueError(
            "exactly one of radius and gram must be given, found " + ("none" if gram is None else "both")
        )
    if radius is not None:
        return number(radius, "radius", least=0) / sqrt(m)
    matrix = reals(gram, "gram")  # type: ignore[arg-type]
    if matrix.shape not in ((m, m), (m,)):
        raise ValueError(
            f"gram must be the ({m}, {m}) Gram matrix of the examples or its diagonal, "
            f"found shape {matrix.shape}"
        )
    diagonal = matrix if matrix.ndim == 1 else matrix.diagonal()
    if diagonal.min() < 0:
        raise ValueError(f"gram must not be negative on its diagonal, found {diagonal.min()}")
    return sqrt(float(diagonal.sum())) / m


# ---------------------------------------------------------------------------------------------------
# Curves


def complexity_term(kind: str, k: ArrayLike, m: ArrayLike, ratio: ArrayLike = 1.0) -> Any:
    r"""The second term of a kernel class as a function of k, m and :math:`r\Lambda/\rho`.

    "quadratic": :math:`2k^2`, "linear": :math:`2\sqrt k\, b_k`, "sqrt": :math:`2 b_k` with
    :math:`b_k = \sqrt{k-1}\, (\sqrt k + 2) / (\sqrt k + 1)`, each times
    :math:`\frac{r\Lambda}\rho / \sqrt m`.

    Parameters
    ----------
    kind : "quadratic", "linear" or "sqrt"
        How the term grows with k.
    k, m, ratio : array-like
        Numbers or arrays that fit together: classes (at least 2), examples, and :math:`r\Lambda/\rho`.

    Returns
    -------
    float, or a float64 array

    Examples
    --------
    >>> [round(complexity_term(kind, k=100, m=10**6), 4) for kind in ("quadratic", "linear", "sqrt")]
    [20.0, 0.2171, 0.0217]
    """
    classes, examples, ratios = (reals(a, name) for a, name in ((k, "k"), (m, "m"), (ratio, "ratio")))
    if not ((classes >= 2) & (classes <= 1e100)).all():
        raise ValueError(f"k must be from 2 to 1e100, found {k!r}")
    if not (examples >= 1).all():
        raise ValueError(f"m must be at least 1, found {m!r}")
    if not (ratios >= 0).all():
        raise ValueError(f"ratio must be at least 0, found {ratio!r}")
    terms = _factor(kind, classes) * ratios / np.sqrt(examples)
    return terms if np.ndim(terms) else float(terms)


def samples_needed(
    kind: str,
    k: int,
    ratio: float,
    delta: float,
    empirical: float = 0.0,
    target: float = 1.0,
    *,
    data_dependent: bool = False,
) -> int:
    r"""The least m at which the bound of a kernel class is smaller than a target.

    Parameters
    ----------
    kind : "quadratic", "linear" or "sqrt"
        As in :func:`complexity_term`.
    k : int
        Number of classes.
    ratio : float
        :math:`r\Lambda/\rho`; if ``data_dependent``,
        :math:`\Lambda\sqrt{\operatorname{tr}\mathbf K/m}/\rho`.
    delta : float
        Probability of failure, between 0 and 1.
    empirical : float
        The empirical margin loss, taken not to change with m.
    target : float
        Larger than ``empirical``. Below 1 the bound is not vacuous.
    data_dependent : bool
        Whether the bound has the trace of the Gram matrix, and three times :math:`\sqrt{\log(2/\delta)/2m}`.

    Returns
    -------
    int

    Examples
    --------
    >>> [samples_needed(kind, 10, 1.0, 0.05) for kind in ("quadratic", "linear", "sqrt")]
    [40492, 613, 76]
    """
    gap = number(target, "target") - number(empirical, "empirical", least=0)
    if not gap > 0:
        raise ValueError(f"target must exceed empirical={empirical!r}, found {target!r}")
    # the bound is empirical + numerator / sqrt(m)
    numerator = complexity_term(kind, integer(k, "k", 2), 1, number(ratio, "ratio"))
    numerator += _confidence(1, delta, data_dependent)
    return floor((Fraction(numerator) / Fraction(gap)) ** 2) + 1


def _factor(kind: str, k: Any) -> Any:
    one_of(kind, "kind", get_args(Kind))
    b = (k - 1) ** 0.5 * (k**0.5 + 2) / (k**0.5 + 1)
    return {"quadratic": 2 * k**2, "linear": 2 * k**0.5 * b, "sqrt": 2 * b}[kind]


def _class_factor(kind: str, k: int) -> float:
    return 2 * k**2 if kind == "quadratic" else 4 * k - 2 * k / ((k + 1) // 2)


# ---------------------------------------------------------------------------------------------------
# The steps of the proof


@dataclass(frozen=True)
class Chain:
    r"""What the proof of thm-bound-margin bounds :math:`\hat{\mathfrak R}_S(\mathcal G)` by, step by step.

    All are divided by rho except the first, so that none is smaller than the one before.

    Attributes
    ----------
    losses : float
        :math:`\hat{\mathfrak R}_S(\mathcal G)`, the complexity of the margin losses.
    margins : float
        That of the margins (lem-bound-contraction).
    masked : float
        Summed over the classes y, that of the margins of the examples of class y (lem-bound-labels).
    unmasked : float
        Summed over y, that of the margins of all examples towards class y (lem-bound-mask).
    split : float
        Summed over y, that of the scores of y and that of the best other score (lem-bound-split).
    components : float
        k times the sum of the complexities of the k sets of scores (lem-bound-others).
    total : float
        :math:`k^2` times that of all single scores (lem-bound-count).
    """

    losses: float
    margins: float
    masked: float
    unmasked: float
    split: float
    components: float
    total: float


def steps(values: ArrayLike, y: ArrayLike, rho: float, signs: ArrayLike) -> Mapping[str, Floats]:
    r"""The suprema behind the fields of :class:`Chain`, one for each row of signs, not yet divided by m.

    Parameters
    ----------
    values : (F, m, k) array-like
        Values of the F score functions of a finite class: ``values[j, i, y]`` is :math:`f^{(j)}_y(x_i)`.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    rho : float
        The required margin, positive.
    signs : (n, m) array-like
        Signs. If equal examples are written once, the sum of the signs of each.

    Returns
    -------
    mapping of str to (n,) array

    Examples
    --------
    >>> values = [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]
    >>> result = steps(values, [0, 1], 1.0, [[1, 1], [1, -1]])
    >>> result["losses"].tolist(), result["margins"].tolist()
    ([1.0, 1.0], [0.0, 2.0])
    """
    f = reals(values, "values")
    if f.ndim != 3 or f.shape[0] < 1:
        raise ValueError(
            "values must have the shape (score functions, examples, classes), at least one each, "
            f"found {f.shape}"
        )
    _, m, k = f.shape
    labels = array(y, "y")
    own = np.array([margins(scores, labels) for scores in f])  # (F, m)
    sigma = reals(signs, "signs")
    if sigma.ndim != 2 or sigma.shape[1] != m:
        raise ValueError(f"signs must have {m} columns, one for each example, found shape {sigma.shape}")

    def supremum(g: Floats) -> Floats:
        largest: Floats = (sigma @ g.T).max(axis=1)
        return largest

    classes = range(k)
    towards = [np.array([margins(scores, np.full(m, c)) for scores in f]) for c in classes]
    score = [supremum(f[:, :, c]) for c in classes]
    other = [supremum(-np.delete(f, c, axis=2).max(axis=2)) for c in classes]
    return {
        "losses": supremum(rho_loss(own, rho)),
        "margins": supremum(own) / rho,
        "masked": sum(supremum(np.where(labels == c, own, 0.0)) for c in classes) / rho,
        "unmasked": sum(supremum(towards[c]) for c in classes) / rho,
        "split": sum(score[c] + other[c] for c in classes) / rho,
        "components": k * sum(score) / rho,
        "total": k * k * np.max(score, axis=0) / rho,
    }


def chain(values: ArrayLike, y: ArrayLike, rho: float) -> Chain:
    r"""Every step of the proof of thm-bound-margin on a sample, exactly: the mean over all :math:`2^m` signs.

    Parameters
    ----------
    values, y, rho
        As in :func:`steps`; at most 20 examples.

    Returns
    -------
    Chain

    Examples
    --------
    >>> values = [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]
    >>> chain(values, [0, 1], rho=1.0)
    Chain(losses=0.25, margins=0.5, masked=1.0, unmasked=1.0, split=1.0, components=1.0, total=1.0)
    """
    table = array(values, "values")
    m = table.shape[1] if table.ndim == 3 else 0
    if m > 20:
        raise ValueError(f"{m} examples have 2^{m} signs; draw some and take the mean of steps(...) instead")
    sums: dict[str, float] = {}
    block = 2 ** min(m, 14)
    for start in range(0, 2**m, block):
        signs = 1.0 - 2.0 * ((np.arange(start, start + block)[:, None] >> np.arange(m)) & 1)
        for name, suprema in steps(values, y, rho, signs).items():
            sums[name] = sums.get(name, 0.0) + float(suprema.sum())
    return Chain(**{name: value / 2**m / m for name, value in sums.items()})


# ---------------------------------------------------------------------------------------------------
# Checks


def _confidence(m: int, delta: float, data_dependent: bool, octaves: float = 0.0) -> float:
    r""":math:`\sqrt{(\log(1/\delta) + n\log 2)/2m}`, or three times that with :math:`\log(2/\delta)`."""
    delta = number(delta, "delta", above=0, below=1)
    data_dependent = switch(data_dependent, "data_dependent")
    factor, top = (3, log(2)) if data_dependent else (1, 0.0)
    return factor * sqrt((top - log(delta) + octaves * log(2)) / (2 * m))


def _check_rho(rho: Any, chosen: bool, uniform_form: bool, name: str = "rho") -> float:
    uniform_form = switch(uniform_form, f"uniform_in_{name}")
    if array(rho, name).ndim != 0 and not uniform_form:
        raise ValueError(
            f"{name} must be one number, fixed before the data were seen, found {rho!r}; to choose among "
            "several, use best_rho"
        )
    value = number(rho, name, above=0)
    if switch(chosen, f"{name}_chosen_from_data") and not uniform_form:
        raise ValueError(
            f"{name}={rho!r} was chosen from the data ({name}_chosen_from_data), and this bound holds for a "
            f"{name} that was fixed before: set uniform_in_{name}=True"
        )
    return value


def _check_rho_max(rho_max: Any, rho: float) -> float:
    largest = _check_rho(rho_max, False, False, "rho_max")
    if rho > largest:
        raise ValueError(f"the uniform form holds for rho up to rho_max={largest!r}, found rho={rho!r}")
    return largest
