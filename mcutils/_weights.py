"""Weights of examples and of classes, checked in one place, whatever scikit-learn is installed."""

from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array

Floats: TypeAlias = NDArray[np.float64]


def example_weights(sample_weight: ArrayLike | None, m: int, *, all_zero: bool = False) -> Floats:
    """The weight of each of m examples, as a new or the given array of float64.

    Parameters
    ----------
    sample_weight : (m,) array-like, number or None
        Finite and at least 0. A number is the weight of every example; None is 1.
    all_zero : bool
        Whether all weights may be 0.

    >>> example_weights([0, 2], 2)
    array([0., 2.])
    >>> example_weights([1, -1], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight must be 2 finite numbers, at least 0, found -1.0
    """
    if sample_weight is None:
        return np.ones(m)
    wanted = f"sample_weight must be {m} finite numbers, at least 0, found "
    given = array(sample_weight, "sample_weight")
    if given.ndim == 0:
        given = np.broadcast_to(given, m)
    if given.shape != (m,):
        raise ValueError(f"{wanted}the shape {given.shape}")
    if given.dtype.kind not in "biufO":  # neither complex numbers, nor texts that look like numbers
        raise ValueError(f"{wanted}{given.dtype}")
    try:
        weights: Floats = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}{given.tolist()[:6]}") from None
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ValueError(f"{wanted}{weights[wrong][0]}")
    if not (all_zero or weights.any()):
        raise ValueError("sample_weight must not be zero for all examples")
    refuse_endless(weights)
    return weights


def times_class_weight(
    weights: Floats, class_weight: Any, classes: NDArray[Any], codes: NDArray[np.integer]
) -> Floats:
    """The weight of each example, multiplied with that of its class.

    Parameters
    ----------
    weights : (m,) array
    class_weight : dict, "balanced" or None
        By label. A class that a dict does not name weighs 1; as in scikit-learn, a dict may name classes
        that have no example only if it names all that have one: otherwise it is taken for a slip.
        "balanced": the classes that have any weight get equal sums, and all sums together stay as they are.
    classes : (k,) array
        The labels.
    codes : (m,) array
        The place in ``classes`` of the label of each example.
    """
    if class_weight is None:
        return weights
    if isinstance(class_weight, dict):
        labels = classes.tolist()
        unknown = [name for name in class_weight if name not in labels]
        unnamed = [name for name in labels if name not in class_weight]
        if unknown and unnamed:
            raise ValueError(
                f"class_weight names classes that y has not: {unknown}, and does not name {unnamed}; "
                f"the classes are {labels}"
            )
        given = [class_weight.get(name, 1.0) for name in labels]
        if not all(isinstance(one, Real) and not isinstance(one, (bool, np.bool_)) for one in given):
            raise ValueError(f"class_weight must be numbers, at least 0, found {given}")
        of_class = np.array(given, dtype=np.float64)
    elif isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(codes, weights, len(classes))
        of_class = sums.sum() / (np.count_nonzero(sums) * np.where(sums > 0, sums, 1.0))
    else:
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, found {class_weight!r}")
    if not (np.isfinite(of_class).all() and of_class.min() >= 0):
        raise ValueError(f"class_weight must be numbers, at least 0, found {of_class.tolist()}")
    with np.errstate(over="ignore"):
        weighted: Floats = weights * of_class[codes]
    refuse_endless(weighted, "sample_weight and class_weight")
    return weighted


def refuse_idle(
    factors: Floats,
    classes: NDArray[Any],
    codes: NDArray[np.integer],
    names: str = "sample_weight and class_weight",
) -> None:
    """No class may weigh nothing, and the sum must be finite; ``names`` are the arguments to be blamed."""
    refuse_endless(factors, names)
    idle = np.bincount(codes, factors, minlength=len(classes)) == 0
    if idle.any():
        raise ValueError(
            f"{names} must not be zero for a whole class, found it zero for {classes[idle].tolist()}"
        )


def in_units(weights: Floats) -> tuple[Floats, float]:
    """The weights divided by a power of two, so that the largest is from 1 to 2; and this power.

    For what depends on the proportions of the weights only: squares and products of them are then in range.
    Nothing is rounded but what is below 1e-300 of the largest.
    """
    exponent = int(np.frexp(weights.max())[1]) - 1
    return np.ldexp(weights, -exponent), float(np.ldexp(1.0, exponent))


def refuse_huge(penalties: Floats) -> None:
    """Refuse penalties whose squares are beyond floating point."""
    if penalties.sum() > 1e150:
        raise ValueError(
            "C and sample_weight must be smaller: the squares of their products are beyond floating point, "
            f"found a sum of {penalties.sum():.3g}"
        )


def refuse_endless(weights: Floats, names: str = "sample_weight") -> None:
    """The sum of the weights must be finite."""
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"{names} must have a finite sum, found weights up to {weights.max():.3g}")
