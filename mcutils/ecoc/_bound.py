"""The bound on the training error of decoding."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._checks import array
from ._codes import as_code, report
from ._decoding import LossLike, check_scores, decode, decoding_loss


@dataclass(frozen=True)
class TrainingErrorBound:
    r"""The training error of loss-based decoding, and what bounds it; see :func:`training_error_bound`.

    Attributes
    ----------
    error : float
        Share of examples with some row :math:`r \ne y` with :math:`d_L(r) \le d_L(y)`: ties are errors.
    epsilon : float
        :math:`\varepsilon`, the mean of :math:`L(M(y_i, s) f_s(x_i))` over all examples and columns, the
        zeros of the code included.
    rho : float
        The least distance of two rows of the code, over all pairs of classes.
    bound : float
        :math:`l \varepsilon / (\rho L(0))`.
    sharper : float or None
        Mean over the examples of :math:`\sum_{s: M(y_i,s) \ne 0} L(M(y_i,s) f_s(x_i)) / (\delta_M L(0))`,
        where :math:`\delta_M` is the least number of columns in which two rows have opposite signs. None
        when the rows have unequal numbers of zeros, or :math:`\delta_M = 0`.
    """

    error: float
    epsilon: float
    rho: float
    bound: float
    sharper: float | None


def training_error_bound(
    scores: ArrayLike, y: ArrayLike, code: ArrayLike, loss: LossLike = "hamming"
) -> TrainingErrorBound:
    r"""The bound of Allwein, Schapire and Singer on the error of decoding (thm-ecoc-training-error).

    If :math:`L \ge 0` and :math:`\frac12 (L(z) + L(-z)) \ge L(0) > 0`, then the training error of decoding
    with L is at most :math:`l \varepsilon / (\rho L(0))`: an error forces
    :math:`d_L(y) \ge \rho(r, y) L(0)` (lem-ecoc-distance). For Hamming decoding, :math:`L(0) = 1/2`. In
    codes whose rows have equally many zeros these cancel, and thm-ecoc-sharper bounds by the nonzero
    entries alone.

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_s(x_i)`.
    y : (n,) array-like of int
        Classes as rows of the code, 0 to k-1.
    code : (k, l) array-like
        Entries -1, 0, +1.
    loss : str, MarginLoss or callable
        As for :func:`decode`. A loss with :math:`L(0) = 0`, as "linear", is refused: the theorem says
        nothing. The two conditions are checked at the margins at hand.

    Returns
    -------
    TrainingErrorBound

    Examples
    --------
    >>> scores = [[2.0, -1.0, -3.0], [-0.5, 0.5, -2.0], [-1.0, -1.0, 0.25]]
    >>> result = training_error_bound(scores, [0, 1, 2], one_vs_all(3), loss="hinge")
    >>> result.error, round(result.bound, 4), round(result.sharper, 4)
    (0.0, 0.2917, 0.2917)
    """
    matrix = as_code(code)
    chosen = decoding_loss(loss)
    if not chosen.at_zero > 0:
        raise ValueError(
            f"the bound divides by L(0), which must be positive; the loss {chosen.name!r} has "
            f"L(0) = {chosen.at_zero:g}, so the theorem says nothing about it"
        )
    k, l = matrix.shape
    f = check_scores(scores, l).astype(np.float64, copy=False)
    classes = array(y, "y")
    if classes.shape != (len(f),) or not len(f):
        raise ValueError(
            f"y must be one class for each of the {len(f)} (at least 1) rows of scores, "
            f"found shape {classes.shape}"
        )
    if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= k:
        raise ValueError(
            f"y must be rows of the code, integers from 0 to {k - 1}, found {classes[:6].tolist()}"
        )

    decoded = decode(f, matrix, chosen)
    error = np.mean((decoded.winner != classes) | decoded.tied)

    margins = matrix[classes] * f
    paid = chosen(margins)
    if paid.min() < 0:
        raise ValueError(
            f"the bound needs L >= 0; the loss {chosen.name!r} is {paid.min():g} at a margin here"
        )
    even = (paid + chosen(-margins)) / 2
    if (even < chosen.at_zero * (1 - 1e-12)).any():
        z = margins.flat[even.argmin()]
        raise ValueError(
            f"the bound needs (L(z) + L(-z)) / 2 >= L(0) = {chosen.at_zero:g}; "
            f"for the loss {chosen.name!r} it is {even.min():g} at z = {z:g}"
        )
    known = report(matrix)
    if not known.rho > 0:
        equal = ", ".join(f"{r + 1} and {q + 1}" for r, q in known.equal_rows)
        raise ValueError(
            "the bound divides by the least distance of two rows, which is 0 here: "
            f"rows {equal} are equal and have no zeros (rows counted from 1)"
        )
    epsilon = paid.mean()
    sharper = None
    if known.min_separation and (known.zeros == known.zeros[0]).all():
        used = np.where(matrix[classes] != 0, paid, 0.0).sum(axis=1)
        sharper = float(used.mean() / (known.min_separation * chosen.at_zero))
    return TrainingErrorBound(
        error=float(error),
        epsilon=float(epsilon),
        rho=known.rho,
        bound=float(l * epsilon / (known.rho * chosen.at_zero)),
        sharper=sharper,
    )
