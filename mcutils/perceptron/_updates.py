"""The updates: who pays for a mistake, and how much."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._checks import array, class_labels, score_table
from .._typing import Bools, Floats

Update: TypeAlias = str | Callable[[Floats, int], ArrayLike]

UPDATES = ("top", "uniform", "proportional", "mira")
"""The names of the updates."""


def ultraconservative(
    scores: ArrayLike, y: ArrayLike, update: Update = "top", *, squares: ArrayLike | None = None
) -> Floats:
    r"""The coefficients :math:`\tau` of a step, for each row of scores (def-perceptron-ultraconservative).

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    update : {"top", "uniform", "proportional", "mira"} or callable
        Who pays, of the classes in :math:`E = \{r \ne y : f_r \ge f_y\}`:

        * "top": one of the largest score, the smallest such class;
        * "uniform": all, :math:`\tau_r = -1 / |E|`;
        * "proportional": in proportion to :math:`f_r - f_y`; where all these are 0, as in the first step, all
          the same;
        * "mira": so that :math:`\|W\|` becomes as small as it can, in the manner of MIRA, but with
          :math:`\tau_y = 1` (see :func:`mira`, which may take a shorter step);
        * a function of a row of scores and its class that returns :math:`\tau`; what is not
          ultraconservative is refused.
    squares : (m,) array-like, optional
        :math:`\|\phi(x_i)\|^2`, for "mira".

    Returns
    -------
    (m, k) array
        A row of zeros where there is no mistake.

    Examples
    --------
    >>> scores, y = [[1.0, 4.0, 2.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], [0, 0, 3]
    >>> ultraconservative(scores, y) + 0.0
    array([[ 1., -1.,  0.,  0.],
           [ 0.,  0.,  0.,  0.],
           [-1.,  0.,  0.,  1.]])
    >>> ultraconservative(scores, y, "proportional")[0] + 0.0
    array([ 1.  , -0.75, -0.25,  0.  ])
    >>> ultraconservative(scores, y, "mira", squares=[4.0, 4.0, 4.0])[0] + 0.0
    array([ 1.  , -0.75, -0.25,  0.  ])
    """
    matrix = score_table(scores)
    labels = class_labels(y, *matrix.shape)
    check_update(update)
    if squares is not None:
        lengths = _check_squares(squares, len(matrix))
    elif isinstance(update, str) and update == "mira":
        raise ValueError("squares must be given for 'mira': the squared norm of every example")
    else:
        lengths = np.zeros(len(matrix))
    rows = zip(matrix, labels.tolist(), lengths.tolist(), strict=True)
    with np.errstate(over="ignore"):
        return np.array([coefficients(update, f, c, square) for f, c, square in rows])


def mira(scores: ArrayLike, y: ArrayLike, squares: ArrayLike) -> Floats:
    r"""The coefficients of the original MIRA, whose steps may be shorter: :math:`\tau_y \le 1`.

    Crammer and Singer's algorithm makes :math:`\frac12 \sum_r \|w_r + \tau_r \phi(x)\|^2` as small as it
    can, where :math:`\sum_r \tau_r = 0`, :math:`\tau_y \le 1` and :math:`\tau_r \le 0` for the other
    classes. With :math:`\tau = e_y - p` this is the point p of the simplex nearest to
    :math:`e_y + f / \|\phi(x)\|^2`. As :math:`\tau = 0` is allowed, :math:`\|W\|` never grows; so it has to
    start elsewhere than at 0, where it would stay, and at a tie it returns :math:`\tau = 0`. The update
    "mira" of :func:`ultraconservative` solves the same problem with :math:`\tau_y = 1`; only those in E pay.

    Often another algorithm is called MIRA: that of the least change of W after which the true class leads by
    a cost.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    squares : (m,) array-like
        :math:`\|\phi(x_i)\|^2`. Where it is 0, no step changes anything, and the result is 0.

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> mira([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]], [0, 0], [1.0, 1.0]) + 0.0
    array([[ 0.5, -0.5,  0. ],
           [ 0. ,  0. ,  0. ]])
    >>> mira([[1.0, 4.0, 0.0]], [0], [1.0]) + 0.0
    array([[ 1., -1.,  0.]])
    """
    matrix = score_table(scores)
    labels = class_labels(y, *matrix.shape)
    lengths = _check_squares(squares, len(matrix))
    updates = np.zeros(matrix.shape)
    for tau, f, c, square in zip(updates, matrix, labels.tolist(), lengths.tolist(), strict=True):
        if square > 0 and f[c] < f.max():
            lifted = f.copy()
            lifted[c] += square
            with np.errstate(over="ignore"):
                tau -= _nearest(lifted, square)
            tau[c] = 0.0
            tau[c] = -tau.sum()
    return updates


def check_update(update: Any) -> None:
    if not callable(update) and not (isinstance(update, str) and update in UPDATES):
        raise ValueError(
            f"update must be one of {', '.join(map(repr, UPDATES))} or callable, found {update!r}"
        )


def _check_squares(squares: ArrayLike, m: int) -> Floats:
    lengths = array(squares, "squares")
    if lengths.shape != (m,) or lengths.dtype.kind not in "buif":
        raise ValueError(
            f"squares must have one number for each of the {m} rows of scores, found shape {lengths.shape} "
            f"of type {lengths.dtype}"
        )
    lengths = lengths.astype(np.float64)
    if not (np.isfinite(lengths).all() and lengths.min() >= 0):
        raise ValueError("squares must be finite numbers, at least 0")
    return lengths


def _nearest(v: Floats, size: float) -> Floats:
    """The point of the simplex, of the sum 1, that is nearest to v / size; for the size 0 the limit."""
    if size == 0:
        first = np.where(v == v.max(), 1.0, 0.0)
        limit: Floats = first / first.sum()
        return limit
    ordered = np.sort(v)[::-1]
    ordered = ordered - ordered[0]  # the largest is 0, so that large scores do not swallow the size
    # of the n largest, how far the level lies below them
    depths = (np.cumsum(ordered) - size) / np.arange(1, len(v) + 1)
    level = depths[int(np.append(ordered > depths, False).argmin()) - 1]
    share = np.maximum(v - v.max() - level, 0.0)
    nearest: Floats = share / share.sum()
    return nearest


def coefficients(update: Update, f: Floats, y: int, square: float) -> Floats:
    """The coefficients of one step; zeros without a mistake."""
    tau = np.zeros(len(f))
    ahead = f >= f[y]
    ahead[y] = False
    rivals = np.flatnonzero(ahead)
    if not len(rivals):
        return tau
    if callable(update):
        return _check_coefficients(update(f.copy(), y), f, y, ahead)
    if update == "top":
        tau[rivals[f[rivals].argmax()]] = -1.0
    elif update == "mira":
        tau[rivals] = -_nearest(f[rivals], square)
    else:
        leads = f[rivals] - f[y]
        most = leads.max()
        if most == np.inf:
            leads = f[rivals] / 2 - f[y] / 2
            most = leads.max()
        if update == "proportional" and most > 0:
            leads /= most  # so that their sum does not overflow
            tau[rivals] = -leads / leads.sum()
        else:
            tau[rivals] = -1.0 / len(rivals)
    tau[y] = 1.0
    return tau


def step(update: Update, f: Floats, y: int, weight: float, costs: Floats, square: float) -> Floats:
    """What the classes move by at a mistake: its weight times the cost of the first rival, times tau."""
    rivals = np.where(costs > 0, f, -np.inf)
    length = weight * float(costs[rivals.argmax()])
    rivals[y] = f[y]
    return length * coefficients(update, rivals, y, length * square)


def _check_coefficients(values: ArrayLike, f: Floats, y: int, ahead: Bools) -> Floats:
    tau = np.array(values, dtype=np.float64)
    if tau.shape != f.shape:
        raise ValueError(
            f"update must return a number for each of {len(f)} classes, found the shape {tau.shape}"
        )
    others = np.delete(tau, y)
    # written so that NaN is refused as well
    lawful = (others <= 0).all() and not tau[~ahead & (np.arange(len(f)) != y)].any()
    if not (lawful and tau[y] == 1 and abs(tau.sum()) <= 1e-9):
        raise ValueError(
            "update must be ultraconservative - 1 for the true class, at most 0 for those that score no "
            f"less, 0 for the others, 0 in sum - found {tau.tolist()} for class {y} "
            f"and the scores {f.tolist()}"
        )
    return tau
