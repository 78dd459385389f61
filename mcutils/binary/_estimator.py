"""The support vector machine of two classes as an estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._base import ScoreClassifier, class_codes
from .._checks import integer, number, switch, verbosity
from .._progress import Log
from .._rows import gram_of, refuse_underflow
from .._typing import Floats
from .._weights import example_weights, refuse_idle, times_class_weight
from ..kernel import Kernel, resolve
from ._svm import solve


class BinarySVM(ScoreClassifier):
    r"""The support vector machine of two classes, linear or with a kernel, solved to a certified gap.

    It minimises :math:`\frac12 \|w\|^2 + \sum_i C_i \xi_i` (def-binary-soft), where :math:`C_i` is C times
    the weight of the example and of its class. As scikit-learn's ``SVC``, and unlike its ``LinearSVC``, it
    does not regularise the bias. ``LinearSVC(loss="hinge", intercept_scaling=s)`` is this classifier without
    bias on inputs with one more feature, which is s throughout.

    Parameters
    ----------
    C : float, default=1.0
        The penalty of the slack, positive; ``inf`` is the hard-margin SVM (def-binary-hard).
    kernel : {"linear", "poly", "rbf", "precomputed"} or Kernel, default="linear"
        See :func:`mcutils.kernel.resolve`. With "precomputed", ``X`` is the square Gram matrix in
        :meth:`fit`, and afterwards the matrix of the kernel between new examples (rows) and all those of the
        training (columns).
    gamma, degree, coef0
        Of the named kernels, as in scikit-learn: :math:`e^{-\gamma \|x - z\|^2}` and
        :math:`(\gamma \langle x, z \rangle + \text{coef0})^{\text{degree}}`.
    fit_intercept : bool, default=True
        Whether the classifier has a bias.
    tol : float, default=1e-4
        How far primal and dual may be apart, relative to the primal.
    max_iter : int, default=10,000,000
        The most steps of the solver; see :func:`solve_svm`.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    verbose : int or bool, default=0
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (2,) array
        The labels, sorted; a positive score is the second.
    kernel_ : Kernel
        The kernel, with its parameters.
    solution_ : SVMSolution
        What :func:`solve_svm` found, for the examples in the order of the training.
    alpha_ : (m,) array
        The multipliers of these examples.
    kinds_ : (m,) array of str
        ``"none"``, ``"free"`` or ``"bound"``; see :class:`SVMSolution`.
    certificate_ : Certificate
        Primal and dual value.
    history_ : (n, 3) array
        Seconds since the start of the fit, primal and dual value, a row for each time that they were
        computed; the last are those of ``certificate_``.
    converged_ : bool
        Whether primal and dual differ by at most ``tol`` times the primal.
    n_iter_ : int
        The number of steps, at least 1.
    support_ : (s,) int array
        Which examples are support vectors.
    support_vectors_ : (s, d) array or sparse matrix
        These examples; none are kept for a precomputed kernel.
    dual_coef_ : (1, s) array
        :math:`\alpha_i y_i` of the support vectors.
    intercept_ : (1,) array
        The bias.
    coef_ : (1, d) array
        w, for a linear kernel only.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    *Memory*: Gram matrices of up to 128 MiB (4096 examples) are kept whole. Of larger ones up to 256 MiB of
    rows are kept, those that were used last, and rows are computed when they are needed, some hundreds at a
    time. 10,000 examples stay below 1 GB in all.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BinarySVM(kernel="rbf").fit(scale(X), y)
    >>> model.converged_, round(model.certificate_.primal, 3)
    (True, 59.761)
    >>> model.score(scale(X), y) > 0.98
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000_000,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int | bool = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the optimisation problem.

        Parameters
        ----------
        X : (m, d) array-like or sparse matrix
            The examples; for a precomputed kernel their (m, m) Gram matrix.
        y : (m,) array-like
            Labels of two classes.
        sample_weight : (m,) array-like, optional
            Factors of C, at least 0. An example of weight 0 is ignored.

        Returns
        -------
        BinarySVM

        Raises
        ------
        NotSeparable
            C is infinite and no hyperplane separates the classes.
        """
        fit_intercept, tol = switch(self.fit_intercept, "fit_intercept"), number(self.tol, "tol", above=0)
        log = Log(type(self).__name__, verbosity(self.verbose), unit="step", tol=tol, least=0.0)
        given = getattr(X, "dtype", None)
        X, labels = self._validate(X, y=y)
        self.classes_, codes = class_codes(labels, binary=True)
        signs: Floats = np.where(codes > 0, 1.0, -1.0)
        penalties = self._penalties(signs, sample_weight)
        max_iter = integer(self.max_iter, "max_iter", 1)

        self.kernel_ = resolve(self.kernel, self.gamma, self.degree, self.coef0, X)
        gram = gram_of(self.kernel_, X, given)
        if np.isinf(penalties).any():
            refuse_underflow(self.kernel_, X, gram.diagonal)
        with log:
            solution = solve(
                gram, signs, penalties, fit_intercept=fit_intercept, tol=tol, max_iter=max_iter, log=log
            )
        self.history_ = log.history
        self.solution_ = solution
        self.alpha_, self.kinds_, self.support_ = solution.alpha, solution.kinds, solution.support
        self.certificate_, self.converged_ = solution.certificate, solution.converged
        self.n_iter_ = max(1, solution.certificate.n_iter or 0)
        beta = signs * solution.alpha
        self.dual_coef_ = beta[None, solution.support]
        self.intercept_ = np.array([solution.intercept])
        if self.kernel_.name != "precomputed":
            self.support_vectors_ = X[solution.support]
        if self.kernel_.name == "linear":
            self.coef_ = np.asarray(X.T @ beta)[None, :]
        return self

    def _penalties(self, signs: Floats, sample_weight: ArrayLike | None) -> Floats:
        """C of each example."""
        if isinstance(self.C, (bool, np.bool_)) or not isinstance(self.C, (int, float, np.number)):
            raise ValueError(f"C must be a positive number or inf, found {self.C!r}")
        if not self.C > 0:
            raise ValueError(f"C must be a positive number or inf, found {self.C!r}")
        weights = example_weights(sample_weight, len(signs))
        codes = (signs > 0).astype(np.intp)
        factors = times_class_weight(weights, self.class_weight, self.classes_, codes)
        refuse_idle(factors, self.classes_, codes)
        return np.where(factors > 0, float(self.C) * np.where(factors > 0, factors, 1.0), 0.0)

    _opposite = True

    def scores(self, X: Any) -> Floats:
        """The scores of both classes, -f(x) and f(x).

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix
            For a precomputed kernel the (n, m) matrix of the kernel with the examples of the training.

        Returns
        -------
        (n, 2) array
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        if self.kernel_.name == "linear":
            f: Floats = X @ self.coef_[0]
        else:
            points = self.support_ if self.kernel_.name == "precomputed" else self.support_vectors_
            f = self.kernel_.expand(X, points, self.dual_coef_[0])
        f += float(self.intercept_[0])
        return np.column_stack([-f, f])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
