"""Bounds on the complexity in closed form."""

from typing import Any

from ._families import Family, KnownFamily, in_range


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
    return in_range(_known(family, "upper")._upper())


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
    >>> lower(Finite([one, other])), complexity(Finite([one, other]))
    (0.25, 0.25)
    """
    return in_range(_known(family, "lower")._lower())


def _known(family: Any, name: str) -> KnownFamily:
    if not isinstance(family, KnownFamily):
        raise ValueError(
            f"{name} is known for the families of this module: family must be one of them, "
            f"found {type(family).__name__}"
        )
    return family
