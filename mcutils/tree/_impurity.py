"""Impurities of class distributions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import name_or_function, reals
from .._typing import Criterion, Floats
from ..risk import check_costs

CRITERIA = ("gini", "entropy", "misclassification")
"""The names of the impurities."""


def check_criterion(criterion: Criterion) -> Criterion:
    """A function, or one of CRITERIA: also where the entropy has scikit-learn's other name."""
    name_or_function(criterion, "criterion", (*CRITERIA, "log_loss"), "a concave function")
    return "entropy" if isinstance(criterion, str) and criterion == "log_loss" else criterion


def impurity(counts: ArrayLike, criterion: Criterion = "gini", cost: ArrayLike | None = None) -> Any:
    r"""The impurity :math:`F` of class distributions (def-tree-impurity).

    Parameters
    ----------
    counts : (..., k) array-like
        Numbers of items, weights or probabilities of the classes; at least 0, on any scale. Without any
        items the impurity is 0.
    criterion : {"gini", "entropy", "log_loss", "misclassification"} or callable
        "log_loss" is the entropy. A callable takes the distributions as the rows of an array and returns
        their impurities.
    cost : (k, k) array-like, optional
        :math:`\Delta`, for "misclassification": rows are true classes, columns predictions.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> impurity([[1, 1], [3, 1], [4, 0]])
    array([0.5  , 0.375, 0.   ])
    >>> impurity([[1, 1], [3, 1], [4, 0]], "misclassification")
    array([0.5 , 0.25, 0.  ])
    >>> float(impurity([1, 1, 2], "entropy"))
    1.5
    """
    criterion = check_criterion(criterion)
    numbers = reals(counts, "counts")
    if numbers.ndim == 0 or numbers.shape[-1] == 0:
        raise ValueError(f"counts must have an entry for each class, found shape {numbers.shape}")
    if numbers.min(initial=0.0) < 0:
        raise ValueError(f"counts must be at least 0, found {numbers.min()}")
    costs = check_cost(cost, numbers.shape[-1])
    sums = numbers.sum(axis=-1, keepdims=True)
    p = numbers / np.where(sums > 0, sums, 1.0)
    values = impurities(p.reshape(-1, numbers.shape[-1]), criterion, costs)
    values[sums.ravel() == 0] = 0.0
    return values.reshape(numbers.shape[:-1])


def impurities(p: Floats, criterion: Criterion, costs: Floats) -> Floats:
    """Of rows that are distributions."""
    if callable(criterion):
        values = np.array(criterion(p), dtype=np.float64)
        if values.shape != (len(p),) or not np.isfinite(values).all():
            raise ValueError(
                f"criterion must return a finite number for each of {len(p)} distributions, "
                f"found an array of shape {values.shape}"
            )
        return values
    if criterion == "gini":
        return np.asarray((p * (1.0 - p)).sum(axis=1))
    if criterion == "entropy":
        return np.asarray(np.maximum(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1), 0.0))
    if len(costs):
        return np.asarray((p @ costs).min(axis=1))
    return np.asarray(1.0 - p.max(axis=1))


def decrease(
    negative: ArrayLike, positive: ArrayLike, criterion: Criterion = "gini", cost: ArrayLike | None = None
) -> Any:
    r"""What a split decreases the impurity by, :math:`\tilde F` (def-tree-decrease).

    Parameters
    ----------
    negative, positive : (..., k) array-like
        Numbers or weights of the classes among the items that answer no, and yes.
    criterion, cost
        As in :func:`impurity`.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> no, yes = [[6, 4], [0, 1]], [[9, 1], [1, 0]]
    >>> decrease(no, yes).round(12), decrease(no, yes, "misclassification").round(12)
    (array([0.045, 0.5  ]), array([0. , 0.5]))
    """
    no, yes = reals(negative, "negative"), reals(positive, "positive")
    for name, counts in (("negative", no), ("positive", yes)):
        if counts.min(initial=0.0) < 0:
            raise ValueError(f"{name} must be at least 0, found {counts.min()}")
    if no.shape != yes.shape:
        raise ValueError(f"negative and positive must have one shape, found {no.shape} and {yes.shape}")
    whole = impurity(no + yes, criterion, cost)
    sizes = no.sum(axis=-1), yes.sum(axis=-1)
    eta = sizes[0] / np.where(sizes[0] + sizes[1] > 0, sizes[0] + sizes[1], 1.0)
    return whole - (eta * impurity(no, criterion, cost) + (1 - eta) * impurity(yes, criterion, cost))


def check_cost(cost: ArrayLike | None, k: int) -> Floats:
    """The costs as floats; an array without rows where there are none."""
    if cost is None:
        return np.zeros((0, 0))
    costs = check_costs(cost).astype(np.float64)
    if costs.shape != (k, k):
        raise ValueError(f"cost must have a row and a column for each of {k} classes, found {costs.shape}")
    return np.ascontiguousarray(costs)
