"""The bound on the mistakes of every update, from the margin of a certified classifier."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from .. import _rows
from .. import kernel as kernels
from .._checks import array, cost_matrix, kernel_parameters, point_matrix, switch
from .._rows import Gram, is_precomputed, refuse_underflow
from .._typing import Floats, Ints
from ..binary import NotSeparable, solve_svm
from ..certificate import Certificate
from ..kernel import Kernel, resolve


@dataclass(frozen=True, eq=False)
class MistakeBound:
    r"""How many mistakes there can be, whatever the order and the update; see :func:`mistake_bound`.

    Attributes
    ----------
    radius : float
        R, the largest :math:`\|\phi(x_i)\|`.
    margin : float
        :math:`\gamma`, the smallest :math:`f_{y_i}(x_i) - f_r(x_i)` of the classifier below, whose norm is 1.
        No classifier of norm 1 has more than ``margin_at_most``.
    bound : float
        :math:`2 R^2 / \gamma^2`. As it is computed from a margin that is reached, it holds without trust in
        the solver, which only decides how small it is.
    certificate : Certificate
        Primal value :math:`1 / 2 \gamma^2`, and the dual value, of the programme that finds the classifier.
    weights : (k, d) array or None
        The rows of W, without a kernel.
    intercept : (k,) array
        The intercepts; zeros without.
    coefficients : (m, k) array
        :math:`c` in :math:`w_r = \sum_i c_{ir} \phi(x_i)`.
    converged : bool
        Whether primal and dual differ by at most ``tol`` of the primal.
    """

    radius: float
    margin: float
    bound: float
    certificate: Certificate
    weights: Floats | None
    intercept: Floats
    coefficients: Floats
    converged: bool

    @property
    def margin_at_most(self) -> float:
        r"""What no margin exceeds: :math:`1 / \sqrt{2 D}` with the dual value D."""
        return float(1 / np.sqrt(2 * self.certificate.dual))


def mistake_bound(
    X: Any,
    y: ArrayLike,
    *,
    kernel: str | Kernel | None = None,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    fit_intercept: bool = True,
    cost: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000_000,
) -> MistakeBound:
    r"""The bound :math:`2 R^2 / \gamma^2` on the mistakes of every ultraconservative perceptron.

    It holds for the sum over all epochs, from W = 0 on (thm-perceptron-mistakes). The largest margin
    :math:`\gamma` of a classifier with :math:`\|W\| = 1` is :math:`1 / \|W\|` for the W of the least norm
    with :math:`f_{y_i}(x_i) - f_r(x_i) \ge 1` for all i and all :math:`r \ne y_i`. This is the hard-margin
    SVM of two classes, without bias, of the :math:`m (k - 1)` examples
    :math:`(e_{y_i} - e_r) \otimes \phi(x_i)`, all of them positive: :func:`mcutils.binary.solve_svm` finds
    it.

    Parameters
    ----------
    X : (m, d) array-like or sparse matrix
        The examples; for a precomputed kernel their Gram matrix.
    y : (m,) array-like
        Their labels.
    kernel, gamma, degree, coef0, fit_intercept, cost
        As those of :class:`MulticlassPerceptron`, whose mistakes are to be bounded. With costs only the
        classes r with :math:`\Delta(y_i, r) > 0` must be beaten, and the bound times the largest
        :math:`s_i \Delta(y_i, r)` is one of the cost ``paid_`` (prop-perceptron-cost).
    classes : (k,) array-like, optional
        All labels, if some have no example; these must be beaten as well.
    tol, max_iter
        Of the solver.

    Returns
    -------
    MistakeBound

    Raises
    ------
    NotSeparable
        No classifier of norm 1 has a margin above ``largest_margin``, which is 0 up to rounding. ``weights``
        is (m, k) then: :math:`\lambda_{ir} \ge 0` of the sum 1 for which
        :math:`\sum_{ir} \lambda_{ir} (e_{y_i} - e_r) \otimes \phi(x_i)` has the norm ``distance``.

    Warns
    -----
    ConvergenceWarning
        The margin may be off by more than ``tol`` allows; the bound holds.

    Examples
    --------
    >>> result = mistake_bound([[1.0, 0.0], [0.0, 2.0]], [0, 1], fit_intercept=False)
    >>> round(result.radius, 6), round(result.margin**2, 6), round(result.bound, 4)
    (2.0, 1.6, 5.0)
    >>> mistake_bound([[1.0], [1.0]], [0, 1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mcutils.binary.NotSeparable: no classifier separates the classes: ...
    """
    switch(fit_intercept, "fit_intercept")
    points = point_matrix(X, "X")
    m = points.shape[0]
    labels = array(y, "y")
    if labels.shape != (m,):
        raise ValueError(f"y must have one label for each of {m} examples, found shape {labels.shape}")
    check_classification_targets(labels)
    names = np.unique(labels if classes is None else array(classes, "classes"))
    if len(names) < 2:
        raise ValueError(f"there must be at least 2 classes, found {names.tolist()}")
    if not np.isin(labels, names).all():
        raise ValueError(
            f"y has labels that are not among the classes: {np.setdiff1d(labels, names)[:6].tolist()}"
        )
    codes, k = np.searchsorted(names, labels), len(names)
    one = 1.0 if fit_intercept else 0.0
    kernel_parameters(gamma, degree, coef0)
    chosen = kernels.linear if kernel is None else resolve(kernel, gamma, degree, coef0, points)

    owner, rival = np.nonzero(cost_matrix(cost, k)[codes] > 0)
    if not len(owner):
        raise ValueError("cost must be positive for an example and a class; all are free")
    gram = pairs_gram(chosen, points, codes, owner, rival, k, one)
    refuse_underflow(chosen, points, gram.diagonal)
    n = len(owner)
    try:
        hard = solve_svm(gram, np.ones(n), C=np.inf, fit_intercept=False, tol=tol, max_iter=max_iter)
    except NotSeparable as error:
        spread = np.zeros((m, k))
        spread[owner, rival] = error.weights
        raise NotSeparable(
            f"no classifier separates the classes: with weights on {int((spread > 0).any(axis=1).sum())} "
            f"examples, the mean of the leads of every classifier of norm 1 is 0 up to {error.distance:.2g}, "
            f"so no margin exceeds {error.largest_margin:.2g}",
            spread,
            error.distance,
            error.largest_margin,
        ) from None

    coefficients = np.zeros((m, k))
    coefficients[owner, rival] -= hard.alpha
    coefficients[np.arange(m), codes] -= coefficients.sum(axis=1)
    intercept = one * coefficients.sum(axis=0)
    weights = None
    if kernel is None:
        weights = np.ascontiguousarray((points.T @ coefficients).T)
        scores = points @ weights.T + intercept
        norm = float(np.sqrt((weights**2).sum() + (intercept**2).sum()))
    else:
        everyone = np.arange(m) if is_precomputed(chosen) else points
        scores = chosen.expand(points, everyone, coefficients) + intercept
        norm = float(np.sqrt((coefficients * scores).sum()))
    # the smaller of the margin as it is reached here and as the solver knows it: they differ by rounding
    margin = min(
        float((scores[owner, codes[owner]] - scores[owner, rival]).min()) / norm,
        float(1 / np.sqrt(2 * hard.certificate.primal)),
    )
    if not margin > 0:
        raise RuntimeError("the margin that was found is lost in rounding; scale the inputs")
    own = np.diag(points) if is_precomputed(chosen) else chosen.diagonal(points)
    radius = float(np.sqrt((own + one).max()))
    return MistakeBound(
        radius=radius,
        margin=margin,
        bound=2 * (radius / margin) ** 2,
        certificate=Certificate(
            0.5 / margin**2, hard.certificate.dual, hard.certificate.kkt, hard.certificate.n_iter
        ),
        weights=None if weights is None else weights / norm,
        intercept=intercept / norm,
        coefficients=coefficients / norm,
        converged=hard.converged,
    )


def pairs_gram(kernel: Kernel, X: Any, y: Ints, owner: Ints, rival: Ints, k: int, one: float) -> Gram:
    r"""The Gram matrix of all :math:`(e_{y_i} - e_r) \otimes \phi(x_i)`: whole if small, else by rows."""
    m, n = X.shape[0], len(owner)
    if is_precomputed(kernel) or 8 * m * m <= _rows.WHOLE_BYTES:
        whole = kernel.gram(X)
        diagonal = np.diag(whole)

        def values(rows: Ints, columns: Ints) -> Floats:
            products: Floats = whole[np.ix_(rows, columns)]
            return products

    else:
        diagonal = kernel.diagonal(X)

        def values(rows: Ints, columns: Ints) -> Floats:
            # every example once, not once for each class that it must beat
            examples, places = np.unique(columns, return_inverse=True)
            return kernel.gram(X[rows], X[examples])[:, places]

    directions = np.eye(k)[y[owner]] - np.eye(k)[rival]

    def compute(rows: Ints, columns: Any) -> Floats:
        products: Floats = (values(owner[rows], owner[columns]) + one) * (
            directions[rows] @ directions[columns].T
        )
        return products

    if 8 * n * n <= _rows.WHOLE_BYTES:
        return Gram.of_matrix(compute(np.arange(n), slice(None)))
    return Gram(2 * (diagonal[owner] + one), compute)
