"""Whether a hyperplane separates two classes, with a proof; distances and margins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._alternative import decide, fraction, root
from .._checks import array, number, switch
from .._typing import Floats
from ..exact import as_fractions
from ._svm import signed_labels


@dataclass(frozen=True, eq=False)
class Separation:
    r"""Whether a hyperplane separates two classes, with a proof in either case; see :func:`separate`.

    Attributes
    ----------
    separable : bool
    weights : (d,) array or None
        w of a separating hyperplane: :math:`y_i (\langle w, x_i \rangle + b) > 0` for all i, in exact
        arithmetic. Floats, or `fractions.Fraction` where no floats were found that separate.
    intercept : float or None
        Its b; 0.0 for one through the origin. A fraction where the weights are.
    margin : float or None
        Its geometric margin, as computed: 0.0 where it is smaller than every positive float.
    multipliers : (m,) array of fractions.Fraction, or None
        If there is none: :math:`\lambda \ge 0` with sum 1 and :math:`\sum_i \lambda_i y_i x_i = 0`, and with
        a bias also :math:`\sum_i \lambda_i y_i = 0`, exactly. So a convex combination of each class is the
        same point.
    """

    separable: bool
    weights: NDArray[Any] | None = None
    intercept: Any = None
    margin: float | None = None
    multipliers: NDArray[Any] | None = None


def separate(X: ArrayLike, y: ArrayLike, *, fit_intercept: bool = True) -> Separation:
    r"""Decide by linear programming whether a hyperplane separates two classes (prop-binary-separable).

    The programme maximises t with :math:`y_i (\langle w, x_i \rangle + b) \ge t` and :math:`|w_j| \le 1`; its
    multipliers are the other certificate. With a bias, the features are shifted and scaled to the unit cube
    first. The programme only proposes: a hyperplane is checked in exact arithmetic, and of the multipliers
    only the support is believed, on which they are solved for in fractions. Where neither is a proof, the
    simplex method decides in whole numbers. So neither scales nor a small margin change the verdict.

    Parameters
    ----------
    X : (m, d) array-like
        The examples.
    y : (m,) array-like
        Labels -1 and +1; with a bias both must occur.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.

    Returns
    -------
    Separation

    Raises
    ------
    RuntimeError
        Only with 50 features or more: floating point proves neither, and whole numbers would take long.

    Examples
    --------
    >>> result = separate([[0.0], [1.0], [3.0]], [-1, -1, 1])
    >>> result.separable, round(result.margin, 9)
    (True, 1.0)
    >>> separate([[0.0], [1.0], [3.0]], [-1, -1, 1], fit_intercept=False).separable
    False
    >>> [str(weight) for weight in separate([[0.0], [2.0], [3.0]], [-1, 1, -1]).multipliers]
    ['1/6', '1/2', '1/3']
    """
    fit_intercept = switch(fit_intercept, "fit_intercept")
    points, labels = checked_sample(X, y, both=fit_intercept)
    signed = labels[:, None] * (np.column_stack([points, np.ones(len(points))]) if fit_intercept else points)
    v, multipliers = decide(signed, len(signed), blocks=int(fit_intercept))
    if v is None:
        return Separation(False, multipliers=multipliers)
    w, b = (v[:-1], v[-1]) if fit_intercept else (v, 0.0)
    if v.dtype != object:
        b = float(b)
    return Separation(True, w, b, float((labels * _heights(points, w, b)).min()))


def checked_sample(X: ArrayLike, y: ArrayLike, *, both: bool) -> tuple[Floats, Floats]:
    """Points and labels as floats; with ``both``, both labels must occur."""
    points = array(X, "X")
    if points.ndim != 2 or 0 in points.shape or points.dtype.kind not in "buif":
        raise ValueError(
            f"X must be a matrix of numbers with a row for each example, found shape {points.shape} "
            f"of type {points.dtype}"
        )
    points = points.astype(np.float64)
    if not np.isfinite(points).all():
        raise ValueError("X must be finite, found NaN or infinity")
    labels = signed_labels(y, len(points))
    if both and len(np.unique(labels)) < 2:
        raise ValueError(f"y must have both labels, -1 and +1, found only {labels[0]:+g}")
    return points, labels


def _heights(points: Floats, w: NDArray[Any], b: Any) -> Floats:
    """The signed distances of points to a hyperplane, in fractions where floats leave their range."""
    if w.dtype != object:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            length = np.linalg.norm(w)
            most = np.abs(points).max() * np.abs(w).max() + abs(b)
            if 1e-100 < length < 1e100 and 1e-200 < most < 1e200:
                heights: Floats = (points @ w + b) / length
                return heights
    normal = as_fractions(w)
    values = as_fractions(points) @ normal + fraction(b)
    square = normal @ normal
    return np.array([(-1 if value < 0 else 1) * root(value * value / square) for value in values])


def distance(X: ArrayLike, w: ArrayLike, b: float = 0.0) -> Floats:
    r"""The distance of each point to the hyperplane :math:`\langle w, x \rangle + b = 0`
    (lem-binary-distance).

    It is :math:`|\langle w, x \rangle + b| / \|w\|`.

    Parameters
    ----------
    X : (m, d) array-like
    w : (d,) array-like
        Not zero.
    b : float, default=0.0

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> distance([[0.0, 0.0], [3.0, 4.0]], [3.0, 4.0], -5.0)
    array([1., 4.])
    """
    distances: Floats = np.abs(_heights(*_hyperplane(X, w, b)))
    return distances


def geometric_margin(X: ArrayLike, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> float:
    r"""The geometric margin :math:`\rho_{w,b} = \min_i y_i (\langle w, x_i \rangle + b) / \|w\|`.

    See def-binary-margins. It is positive just when the hyperplane separates the classes, and does not change
    when w and b are multiplied by a positive number (prop-binary-scaling).

    Parameters
    ----------
    X : (m, d) array-like
    y : (m,) array-like
        Labels -1 and +1.
    w : (d,) array-like
        Not zero.
    b : float, default=0.0

    Returns
    -------
    float

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [3.0, 4.0]], [-1, 1]
    >>> geometric_margin(X, y, [3.0, 4.0], -5.0), geometric_margin(X, y, [6.0, 8.0], -10.0)
    (1.0, 1.0)
    """
    points, normal, shift = _hyperplane(X, w, b)
    labels = signed_labels(y, len(points))
    return float((labels * _heights(points, normal, shift)).min())


def _hyperplane(X: ArrayLike, w: ArrayLike, b: float) -> tuple[Floats, Floats, float]:
    table = array(X, "X")
    points, _ = checked_sample(table, np.ones(table.shape[0] if table.ndim else 1), both=False)
    normal = normal_vector(w, points.shape[1])
    if not normal.any():
        raise ValueError("w must not be zero: it is the normal of the hyperplane")
    return points, normal, number(b, "b")


def normal_vector(w: ArrayLike, d: int) -> Floats:
    """The normal of a hyperplane in d dimensions as floats."""
    normal = array(w, "w")
    if normal.shape != (d,) or normal.dtype.kind not in "buif" or not np.isfinite(normal).all():
        raise ValueError(f"w must have {d} finite numbers, one for each column of X, found {normal}")
    return normal.astype(np.float64)
