"""The estimator of softmax regression."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._base import ScoreClassifier, class_codes
from .._checks import integer, number, squarable, switch, verbosity
from .._progress import Log
from .._typing import Floats, Ints
from .._warnings import warn
from .._weights import example_weights, refuse_huge, refuse_idle, times_class_weight
from ..certificate import Certificate
from ._loss import log_softmax, softmax
from ._newton import minimise
from ._objective import Problem


class SoftmaxRegression(ScoreClassifier):
    r"""The linear classifier of least cross-entropy (def-softmax-loss), solved to a certified gap.

    It minimises :math:`\frac12 \|W\|_F^2 + \sum_i C_i \ell_i`, where :math:`C_i` is C times the weight of the
    example and of its class; intercepts are not penalised. For three classes or more that is scikit-learn's
    ``LogisticRegression(C=C)``. For two classes there are still two rows, :math:`w_1 = -w_2` at the minimum,
    and this is ``LogisticRegression(C=2 * C)``, whose one weight vector is :math:`w_2 - w_1`.

    Parameters
    ----------
    C : float, default=1.0
        The factor of the losses, positive and finite; :math:`\lambda = 1/(mC)`.
    fit_intercept : bool, default=True
        Whether each class has an intercept.
    tol : float, default=1e-4
        How far primal and dual may be apart, relative to the primal (and at least 1).
    max_iter : int, default=100
        The most Newton steps; each has up to 600 products with X.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    warm_start : bool, default=False
        Begin with the classifier of the last :meth:`fit`, if it had the same classes and number of features.
    verbose : int or bool, default=0
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    coef_ : (k, d) array
        W, with rows that add up to 0; two rows for two classes.
    intercept_ : (k,) array
        b, with the sum 0; zeros without intercepts.
    certificate_ : Certificate
        Primal value, and the dual value of the classifier's probabilities, balanced where there are
        intercepts, less what rounding can be expected to add; in ``kkt`` the norm of the gradient in W
        ("stationarity") and the largest entry of that in b ("balance").
    history_ : (n, 3) array
        Seconds since the start of the fit, primal and dual value, a row for each time that they were
        computed; the last are those of ``certificate_``.
    converged_ : bool
        Whether the gap is at most ``tol``.
    n_iter_ : int
        Newton steps, at least 1.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Newton's method, its steps solved by conjugate gradients. On large samples these choose their directions
    in single precision; the gradient that a step starts from, and the certificate, are always double. Memory
    is proportional to X, to one table of probabilities and to W (with up to 200 dense features also to a
    d × d matrix for each class, where that saves time). Sparse matrices stay sparse.
    Features need not be centred or scaled for the sake of the solver; but where they vary by less than 1e-6
    of their size, rounding may keep the gap above ``tol``, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxRegression().fit(X, y)
    >>> model.converged_, round(model.certificate_.primal, 4)
    (True, 28.8863)
    >>> model.predict_proba(X[:1]).round(3)
    array([[0.982, 0.018, 0.   ]])
    """

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the optimisation problem.

        Parameters
        ----------
        X : (m, d) array-like or sparse matrix
        y : (m,) array-like
            Labels of any type that can be sorted, of at least two classes.
        sample_weight : (m,) array-like, optional
            Factors of C, at least 0. An example of weight 0 is ignored.

        Returns
        -------
        SoftmaxRegression
        """
        penalty = number(self.C, "C", above=0)
        tol = number(self.tol, "tol", above=0)
        max_iter = integer(self.max_iter, "max_iter", 1)
        log = Log(type(self).__name__, verbosity(self.verbose), unit="step", tol=tol)
        fit_intercept = switch(self.fit_intercept, "fit_intercept")
        before = None
        if switch(self.warm_start, "warm_start") and hasattr(self, "coef_"):
            before = self.classes_, np.column_stack([self.coef_, self.intercept_])
        X, labels = self._validate(X, y=y)
        squarable(X)
        self.classes_, codes = class_codes(labels)
        k, d = len(self.classes_), X.shape[1]
        penalties = penalty * _factors(self.classes_, codes, self.class_weight, sample_weight)
        refuse_huge(penalties)

        V = np.zeros((k, d + fit_intercept))
        if before and before[1].shape[1] == d + 1 and np.array_equal(before[0], self.classes_):
            V[:] = before[1][:, : V.shape[1]]
        problem = Problem(X, codes, k, penalties, fit_intercept)
        with log:
            minimum = minimise(problem, V, tol, max_iter, log)
        self.history_ = log.history
        V = minimum.V - minimum.V.mean(axis=0)
        self.coef_ = np.ascontiguousarray(V[:, :d])
        self.intercept_ = V[:, d].copy() if fit_intercept else np.zeros(k)
        self.certificate_ = Certificate(
            minimum.primal,
            minimum.dual,
            kkt={"stationarity": minimum.stationarity, "balance": minimum.balance},
            n_iter=minimum.n_steps,
        )
        self.converged_ = self.certificate_.certifies(tol)
        self.n_iter_ = max(1, minimum.n_steps)
        if not self.converged_:
            warn(
                f"softmax regression has not converged to tol={tol:g} in {minimum.n_steps} steps: "
                f"the relative gap is {self.certificate_.gap:.3g}",
            )
        return self

    def scores(self, X: Any) -> Floats:
        r"""The scores :math:`f_y(x)` of all classes, for two classes both.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        scores: Floats = self._validate(X, reset=False) @ self.coef_.T + self.intercept_
        return scores

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`, exact where these are almost 0 or 1.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n, k) array
        """
        return log_softmax(self.scores(X))

    def predict_proba(self, X: Any) -> Floats:
        """The :func:`softmax` of the scores.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n, k) array
        """
        return softmax(self.scores(X))


def _factors(
    classes: NDArray[Any],
    codes: Ints,
    class_weight: Any,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Weight of each example, that of its class included; no class may weigh nothing."""
    factors = times_class_weight(example_weights(sample_weight, len(codes)), class_weight, classes, codes)
    refuse_idle(factors, classes, codes)
    return factors
