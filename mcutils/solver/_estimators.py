"""The estimators of Crammer and Singer and of Weston and Watkins."""

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, hstack, issparse
from sklearn.utils.validation import check_is_fitted

from .._base import ScoreClassifier, class_codes
from .._checks import gram_matrix, integer, number, one_of, squarable, switch, verbosity
from .._progress import Log
from .._rows import WholeGram, WorkingSet
from .._typing import Floats, Ints
from .._weights import example_weights, refuse_idle, times_class_weight
from ..hinge import HingeProblem
from ..kernel import Kernel, check_psd, resolve
from ._ascent import climb, sweep
from ._interior import by_cvxopt
from ._solve import warn_unsolved

SOLVERS = ("block", "interior", "qp")
PRECISIONS = ("auto", "single", "double")


class _CertifiedSVM(ScoreClassifier):
    """What the two SVMs share: all but the loss."""

    _loss: str

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool | str = "appended",
        cost: ArrayLike | None = None,
        class_weight: dict[Any, float] | str | None = None,
        solver: str = "block",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        warm_start: bool = False,
        precision: str = "auto",
        cache_size: float = 256,
        check_kernel: bool = False,
        store_multipliers: bool = False,
        verbose: int | bool = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.cost = cost
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.precision = precision
        self.cache_size = cache_size
        self.check_kernel = check_kernel
        self.store_multipliers = store_multipliers
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the optimisation problem.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            The examples; for a precomputed kernel their (m, m) Gram matrix.
        y : (m,) array-like
            Labels of at least two classes.
        sample_weight : (m,) array-like, optional
            Factors of C, at least 0. An example of weight 0 is ignored; every class needs one above 0.

        Returns
        -------
        Self
        """
        tol, max_iter = self._check_parameters()
        log = Log(type(self).__name__, verbosity(self.verbose), unit="pass", tol=tol)
        given = getattr(X, "dtype", None)
        X, labels = self._validate(X, y=y)
        self.classes_, codes = class_codes(labels)
        k = len(self.classes_)
        weights = self._weights(X, codes, sample_weight)
        problem = HingeProblem(
            codes, loss=self._loss, C=self.C, cost=self.cost, sample_weight=weights, n_classes=k
        )
        self.kernel_ = resolve(self.kernel, self.gamma, self.degree, self.coef0, X)
        beta = self._before(problem)
        bias, linear = float(bool(self.fit_intercept)), self.kernel_.name == "linear"
        if linear:
            squarable(X)  # other kernels name what leaves the range
        if self.check_kernel and not linear:
            check_psd(X if self.kernel_.name == "precomputed" else self.kernel_.gram(X))
        with log:
            if self.solver != "block":
                known = self.kernel_.name == "precomputed"
                gram = _precomputed(X, given) if known else self.kernel_.gram(X)
                beta, certificate = by_cvxopt(
                    gram + bias, problem, tol, max_iter, structured=self.solver == "interior"
                )
                log.values(certificate.n_iter or 1, certificate.primal, certificate.dual)
            elif linear:
                beta, certificate = sweep(_with_ones(X) if bias else X, problem, tol, max_iter, beta, log)
            else:
                whole = self._gram(X, bias, tol, given)
                beta, certificate = climb(whole, problem, tol, max_iter, beta, log)
        self.history_ = log.history
        self.certificate_, self.converged_ = certificate, certificate.certifies(tol)
        self.n_iter_ = certificate.n_iter or 1
        self.intercept_ = bias * beta.sum(axis=0) + 0.0
        for name in ("coef_", "support_", "support_vectors_", "_dual_coef", "_codes"):
            self.__dict__.pop(name, None)  # those of the last fit
        if linear:
            self.coef_ = np.ascontiguousarray((X.T @ beta).T)
        if not linear or self.store_multipliers or self.warm_start:
            self._codes = codes
            self.support_ = np.flatnonzero(beta.any(axis=1))
            own = (csr_array(beta) if linear else beta + 0.0)[self.support_].T
            self._dual_coef = own if linear else np.ascontiguousarray(own)
        if not linear and self.kernel_.name != "precomputed":
            self.support_vectors_ = X[self.support_]
        if not self.converged_:
            warn_unsolved(certificate, tol)
        return self

    @property
    def dual_coef_(self) -> Floats:
        """See the attributes."""
        kept = self._kept("dual_coef_")
        table: Floats = kept.toarray() if issparse(kept) else kept
        return table

    @property
    def beta_(self) -> Floats:
        """See the attributes."""
        self._kept("beta_")
        table = np.zeros((len(self._codes), len(self.classes_)))
        table[self.support_] = self.dual_coef_.T
        return table

    @property
    def support_of_class_(self) -> list[Ints]:
        """See the attributes."""
        self._kept("support_of_class_")
        return [self.support_[np.flatnonzero(row)] for row in self.dual_coef_]

    def _kept(self, name: str) -> Any:
        """The coefficients, if there are any for the attribute of this name."""
        if hasattr(self, "_dual_coef"):
            return self._dual_coef
        why = "was fitted without store_multipliers=True" if hasattr(self, "classes_") else "is not fitted"
        raise AttributeError(f"this {type(self).__name__} has no {name}: it {why}")

    def scores(self, X: Any) -> Floats:
        r"""The scores :math:`f_r(x)` of all classes, for two classes both.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
            For a precomputed kernel the (n, m) matrix of the kernel with the examples of the training.

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        scores: Floats = np.zeros((X.shape[0], len(self.classes_)))
        if self.kernel_.name == "linear":
            scores += X @ self.coef_.T
        else:
            weights = self._dual_coef.T
            if self.kernel_.name == "precomputed":
                scores += X[:, self.support_] @ weights
            elif len(weights):
                for rows, part in self.kernel_.blocks(X, self.support_vectors_, size=512):
                    scores[rows] = part @ weights
        scores += self.intercept_
        return scores

    def _validate(self, X: Any, **more: Any) -> Any:
        checked = super()._validate(X, **more)
        rows = checked[0] if isinstance(checked, tuple) else checked
        if issparse(rows) and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
            return (rows, *checked[1:]) if isinstance(checked, tuple) else rows
        return checked

    def _check_parameters(self) -> tuple[float, int]:
        number(self.C, "C", above=0)
        for name, allowed in (
            ("solver", SOLVERS),
            ("precision", PRECISIONS),
        ):
            one_of(getattr(self, name), name, allowed)
        for name in ("warm_start", "check_kernel", "store_multipliers"):
            switch(getattr(self, name), name)
        chosen = self.fit_intercept
        if not (isinstance(chosen, (bool, np.bool_)) or (isinstance(chosen, str) and chosen == "appended")):
            raise ValueError(f"fit_intercept must be 'appended', True or False, found {chosen!r}")
        size = self.cache_size
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, Real) or not size > 0:
            raise ValueError(f"cache_size must be a positive number of MiB, found {size!r}")
        return number(self.tol, "tol", above=0), integer(self.max_iter, "max_iter", 1)

    def _weights(self, X: Any, codes: Ints, sample_weight: ArrayLike | None) -> Floats:
        weights = example_weights(sample_weight, len(codes))
        weights = times_class_weight(weights, self.class_weight, self.classes_, codes)
        refuse_idle(weights, self.classes_, codes)
        return weights

    def _gram(self, X: Any, bias: float, tol: float, given: Any) -> WholeGram | WorkingSet:
        if self.kernel_.name == "precomputed":
            return WholeGram(_precomputed(X, given) + bias)
        single = self.precision == "single" or (self.precision == "auto" and tol >= 1e-4)
        kind = np.float32 if single else np.float64
        return WorkingSet(self.kernel_, X, bias, kind, float(self.cache_size))

    def _before(self, problem: HingeProblem) -> Floats:
        """Coefficients to start from: with ``warm_start`` those of the last fit, moved into the bounds."""
        zero = np.zeros((len(problem.labels), problem.n_classes))
        if not (self.warm_start and hasattr(self, "_codes")):
            return zero
        known = len(self._codes), self._dual_coef.shape[0]
        if known != zero.shape or not np.array_equal(self._codes, problem.labels):
            return zero
        return problem.coefficients(problem.nearest(problem.multipliers(self.beta_)))


def _precomputed(X: Floats, given: Any) -> Floats:
    """A Gram matrix that was given, checked; made symmetric where its entries have few digits."""
    if given == np.float32 and X.shape[0] == X.shape[1]:
        away, allowed = np.abs(X - X.T).max(), 8 * float(np.finfo(np.float32).eps) * np.abs(X).max()
        if away <= allowed:
            X = (X + X.T) / 2
            X[np.diag_indices(len(X))] += allowed  # what rounding may have taken from a diagonal
    return gram_matrix(X)


def _with_ones(X: Any) -> Any:
    """The examples with a feature that is always 1."""
    ones = np.ones((X.shape[0], 1))
    return hstack([X, csr_array(ones)], format="csr") if issparse(X) else np.hstack([X, ones])


class CrammerSinger(_CertifiedSVM):
    r"""The multi-class SVM of Crammer and Singer, linear or with a kernel, solved to a certified gap.

    It minimises :math:`\frac12 \sum_r \|f_r\|^2 + \sum_i C_i \max_r (\Delta(y_i, r) + f_r(x_i) -
    f_{y_i}(x_i))` (def-dual-problem), where :math:`C_i` is C times the weight of the example and of its
    class, and predicts the class of the largest score.

    Parameters
    ----------
    C : float, default=1.0
        The factor of the losses, positive.
    kernel : {"linear", "poly", "rbf", "precomputed"} or Kernel, default="linear"
        See :func:`mcutils.kernel.resolve`. The linear classifier keeps W instead of kernel values. With
        "precomputed", ``X`` is the square Gram matrix in :meth:`fit`, and afterwards the matrix of the kernel
        between new examples (rows) and all those of the training (columns).
    gamma, degree, coef0
        Of the named kernels, as in scikit-learn: :math:`e^{-\gamma \|x - z\|^2}` and
        :math:`(\gamma \langle x, z \rangle + \text{coef0})^{\text{degree}}`.
    fit_intercept : "appended", True or False, default="appended"
        "appended", or True: a feature that is always 1, whose coefficients are regularised as all others, as
        if the kernel were :math:`K + 1`. False: none. A bias that is not regularised would tie the rows of
        the dual together, so that no row could move by itself.
    cost : (k, k) array-like, optional
        :math:`\Delta`, the cost of predicting the class of a column where that of a row is true, both in
        the order of ``classes_``. By default every mistake costs 1.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    solver : {"block", "interior", "qp"}, default="block"
        See the module. The others need cvxopt and the whole Gram matrix.
    tol : float, default=1e-4
        The relative gap :math:`(P - D) / \max(1, |P|)` to stop at.
    max_iter : int, default=10,000
        Bounds all work. Linear: the number of passes over the examples. With a kernel: the number of rounds
        (Newton steps end a round), and ``max_iter * m`` bounds the moves of examples and their entries into
        the working set. Solvers of cvxopt: the number of steps of the interior point.
    warm_start : bool, default=False
        Whether :meth:`fit` starts at the multipliers of the last fit, moved into their bounds, as along a
        path of C. It does so where the labels are the same, in the same order, and multipliers were kept.
    precision : {"auto", "single", "double"}, default="auto"
        Of the kernel rows of the solver "block". "auto" is single for ``tol`` from 1e-4. The certificate is
        computed in double precision in any case; where single cannot reach ``tol``, double goes on.
    cache_size : float, default=256
        The most memory for kernel rows, in MiB; at least 512 rows are kept. Copies of parts of them take at
        most 40 % more. A row of the Gram matrix is computed when its example joins the working set. When the
        cache is full, a quarter of the set is exchanged after each use, and the fit takes longer.
    check_kernel : bool, default=False
        Whether the whole Gram matrix is computed first, and refused if it has a negative eigenvalue. Without
        this only what is met is refused.
    store_multipliers : bool, default=False
        Whether a linear classifier, which predicts with ``coef_`` alone, keeps its multipliers too: then it
        has ``beta_``, ``support_``, ``dual_coef_`` and ``support_of_class_``. With ``warm_start``, and with
        another kernel, they are kept in any case.
    verbose : int or bool, default=0
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    kernel_ : Kernel
        The kernel, with its parameters.
    beta_ : (m, k) array
        :math:`\beta`: :math:`f_r = \sum_i \beta_{ir} K(x_i, \cdot)`, of all examples. The rows sum to 0. It
        is made when it is asked for; of a linear classifier see ``store_multipliers``.
    support_ : (s,) int array
        The examples whose row of ``beta_`` is not 0.
    dual_coef_ : (k, s) array
        Their coefficients, a row for each class.
    support_of_class_ : list of k int arrays
        The examples with a coefficient in the score of each class.
    support_vectors_ : (s, d) array or sparse matrix
        The examples of ``support_``; only with a kernel of points other than the linear.
    coef_ : (k, d) array
        W, for the linear kernel only; also for two classes a row for each.
    intercept_ : (k,) array
        What is added to the scores; 0 without an intercept.
    certificate_ : Certificate
        Primal and dual value, and in ``kkt`` the residuals of :func:`mcutils.dual.kkt`.
    history_ : (n, 3) array
        Seconds since the start of the fit, primal and dual value, a row for each time that they were
        computed; the last are those of ``certificate_``.
    converged_ : bool
        Whether the relative gap is at most ``tol``. If not, ConvergenceWarning names what was reached.
    n_iter_ : int
        Of what ``max_iter`` limits.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    *Memory.* The tables of coefficients and scores take some 50 bytes for each example and class, the kernel
    rows as much as ``cache_size`` allows. 10,000 examples of 10 classes stay below 1 GB. A linear classifier
    keeps no table of this size afterwards, unless it is told to.

    *No bias* for two classes is the binary classifier without bias, with a C twice as large (prop-dual-two).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CrammerSinger(kernel="rbf", tol=1e-3).fit(X, y)
    >>> model.converged_, model.score(X, y) > 0.99
    (True, True)
    """

    _loss = "crammer_singer"


class WestonWatkins(_CertifiedSVM):
    r"""The multi-class SVM of Weston and Watkins, linear or with a kernel, solved to a certified gap.

    It minimises :math:`\frac12 \sum_r \|f_r\|^2 + \sum_i C_i \sum_{r \ne y_i} \max(0, \Delta(y_i, r) +
    f_r(x_i) - f_{y_i}(x_i))` (def-dual-problem), where :math:`C_i` is C times the weight of the example and
    of its class, and predicts the class of the largest score. It differs from :class:`CrammerSinger` in
    the loss only: each parameter and each attribute means what it means there.

    Parameters
    ----------
    C : float, default=1.0
        The factor of the losses, positive.
    kernel : {"linear", "poly", "rbf", "precomputed"} or Kernel, default="linear"
        The kernel.
    gamma, degree, coef0
        Of the named kernels, as in scikit-learn.
    fit_intercept : "appended", True or False, default="appended"
        "appended", or True: a feature that is always 1. False: none.
    cost : (k, k) array-like, optional
        :math:`\Delta`, in the order of ``classes_``. By default every mistake costs 1.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    solver : {"block", "interior", "qp"}, default="block"
        See the module.
    tol : float, default=1e-4
        The relative gap to stop at.
    max_iter : int, default=10,000
        The largest number of passes over the examples, or of steps of an interior-point method.
    warm_start : bool, default=False
        Whether :meth:`fit` starts at the multipliers of the last fit.
    precision : {"auto", "single", "double"}, default="auto"
        Of the kernel rows of the solver "block".
    cache_size : float, default=256
        The most MiB of kernel rows to keep, but no fewer than 512 rows.
    check_kernel : bool, default=False
        Whether the whole Gram matrix is checked first.
    store_multipliers : bool, default=False
        Whether a linear classifier keeps its multipliers too.
    verbose : int or bool, default=0
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    kernel_ : Kernel
        The kernel, with its parameters.
    beta_ : (m, k) array
        The coefficients of all examples. The rows sum to 0. Of a linear classifier see
        ``store_multipliers``.
    support_ : (s,) int array
        The examples whose row of ``beta_`` is not 0.
    dual_coef_ : (k, s) array
        Their coefficients, a row for each class.
    support_of_class_ : list of k int arrays
        The examples with a coefficient in the score of each class.
    support_vectors_ : (s, d) array or sparse matrix
        The examples of ``support_``; only with a kernel of points other than the linear.
    coef_ : (k, d) array
        W, for the linear kernel only.
    intercept_ : (k,) array
        What is added to the scores; 0 without an intercept.
    certificate_ : Certificate
        Primal and dual value, and in ``kkt`` the residuals of :func:`mcutils.dual.kkt`.
    history_ : (n, 3) array
        Seconds since the start of the fit, primal and dual value, a row for each time that they were
        computed; the last are those of ``certificate_``.
    converged_ : bool
        Whether the relative gap is at most ``tol``.
    n_iter_ : int
        The number that ``max_iter`` limits.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = WestonWatkins(C=0.5).fit(X, y)
    >>> model.coef_.shape, model.converged_, model.certificate_.certifies(1e-4)
    ((3, 4), True, True)
    """

    _loss = "weston_watkins"
