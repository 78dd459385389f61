"""The estimator: a multi-class classifier out of a binary one, by an output code."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._base import codes_among
from .._checks import seed
from .._reduction import BinaryReduction, Column
from .._typing import Floats
from ._bound import TrainingErrorBound, training_error_bound
from ._codes import Code, all_pairs, check_code, dense, exhaustive, one_vs_all, sparse
from ._decoding import LossLike, decode, decoding_loss

_NAMED_CODES: dict[str, Callable[[int], Code]] = {
    "all-pairs": all_pairs,
    "one-vs-all": one_vs_all,
    "exhaustive": exhaustive,
}
_RANDOM_CODES = {"dense": dense, "sparse": sparse}


class OutputCode(BinaryReduction):
    r"""A multi-class classifier out of a binary one, by an output code.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with ``decision_function``, or else ``predict_proba``; one clone is fitted to
        each column of the code. From probabilities the score is the log-odds
        :math:`\log \frac{p}{1 - p}`, where p is kept at least :math:`2^{-52}` away from 0 and 1, so that
        a classifier that is certain scores :math:`\pm 36.04` and not infinity. A regressor learns 1 and 0 for
        +1 and -1; from its prediction a the score is :math:`2 a - 1`.
    code : {"all-pairs", "one-vs-all", "exhaustive", "dense", "sparse"} or (k, l) array-like
        The code; rows in the order of ``classes_``. See :func:`all_pairs`, :func:`one_vs_all`,
        :func:`exhaustive`, :func:`dense`, :func:`sparse` and :func:`check_code`.
    decoding : str, MarginLoss or callable
        "hamming" or the loss of loss-based decoding, as for :func:`decode`.
    n_jobs : int or None
        How many columns are fitted at once, through joblib.
    random_state : int, RandomState or None
        Draws the "dense" or "sparse" code. It is not passed on: a random estimator has its own.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    n_classes_ : int
        k.
    code_ : (k, l) int8 array
        The code in use.
    estimators_ : list of estimator
        The l fitted classifiers; that of column s was trained on the examples with
        :math:`M(y_i, s) \ne 0`, labelled :math:`M(y_i, s)`.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    ``decision_function`` is minus the distance of every row of the code; for exponential decoding, minus the
    logarithm of the distance, which cannot overflow. For two classes it is the second's value minus the
    first's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCode(LogisticRegression(), code="all-pairs", decoding="logistic").fit(X, y)
    >>> model.code_.shape, model.column_scores(X).shape
    ((3, 3), (150, 3))
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        code: str | ArrayLike = "all-pairs",
        decoding: LossLike = "hinge",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.code = code
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        try:
            decoding_loss(self.decoding)
        except ValueError as error:
            raise ValueError(f"decoding must be 'hamming' or a loss: {error}") from None
        seed(self.random_state)

    def _prepare(self) -> int:
        self.code_ = self._make_code(len(self.classes_))
        return len(self.code_.T)

    def _column(self, s: int) -> Column:
        return Column(self.code_[:, s], f"column {s + 1} of the code (counted from 1)")

    def _make_code(self, k: int) -> Code:
        if isinstance(self.code, str):
            if self.code in _NAMED_CODES:
                return _NAMED_CODES[self.code](k)
            if self.code in _RANDOM_CODES:
                return _RANDOM_CODES[self.code](k, random_state=self.random_state)
            allowed = ", ".join([*_NAMED_CODES, *_RANDOM_CODES])
            raise ValueError(f"unknown code {self.code!r}; allowed are {allowed}, or an array")
        code = check_code(self.code)
        if len(code) != k:
            raise ValueError(f"code must have one row for each class: {len(code)} rows, {k} classes in y")
        return code

    def scores(self, X: Any) -> Floats:
        """Minus the distances of the classes' rows; where these would overflow, minus their logarithms.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        decoded = decode(self.column_scores(X), self.code_, self.decoding)
        return -(decoded.distances if decoded.log_distances is None else decoded.log_distances)

    def training_error_bound(self, X: Any, y: ArrayLike) -> TrainingErrorBound:
        """:func:`training_error_bound` of the fitted classifiers on examples, usually those of ``fit``.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among ``classes_``.

        Returns
        -------
        TrainingErrorBound
        """
        scores = self.column_scores(X)
        labels = np.asarray(y)
        return training_error_bound(scores, codes_among(self.classes_, labels), self.code_, self.decoding)
