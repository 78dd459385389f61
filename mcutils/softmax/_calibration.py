"""The estimator that makes probabilities for a classifier with scores."""

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Tags, check_consistent_length, get_tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base import Estimator, class_codes, codes_among
from .._checks import divided, in_memory, integer, jobs, one_of, seed, verbosity
from .._progress import Log, side_by_side
from .._reduction import selectable
from .._routing import WeightRouter
from .._typing import Floats, Ints
from .._weights import example_weights
from ..reduction import OneVsOne, pairs
from ._coupling import pairwise_coupling
from ._temperature import temperature

# What WithProbabilities keeps probabilities away from 0, and those of a pair from 1, as LIBSVM does.
_LEAST = 1e-7


class WithProbabilities(WeightRouter, ClassifierMixin, Estimator):
    r"""Probabilities from a classifier that has scores, or probabilities of its own.

    The probabilities are fitted to scores of examples that the classifier was not trained on: each fold of a
    cross-validation is scored by a clone trained on the others. The classifier that predicts is trained on
    all examples.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``decision_function``, or else with ``predict_proba``, as naive Bayes or a forest:
        then the scores are the logarithms of its probabilities, none less than 1e-7. For "coupling" a
        :class:`mcutils.reduction.OneVsOne`.
    method : {"temperature", "coupling"}
        ``"temperature"``: the softmax of the scores over one :func:`temperature`, with smoothed targets; of
        two classes with the one score f, those of (0, f). ``"coupling"``: a temperature for each pair of
        classes, fitted to the examples of these two, and :func:`pairwise_coupling` of the pairs'
        probabilities, which are first kept 1e-7 away from 0 and 1.
    cv : int, cross-validation splitter, or "prefit"
        An integer is the number of stratified folds, in random order. "prefit": the estimator is trained
        already, and :meth:`fit` gets examples that it was not trained on.
    random_state : int, RandomState or None
        Shuffles the folds. It is not passed on.
    n_jobs : int or None
        How many classifiers are trained at once, through joblib.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    estimator_ : estimator
        The classifier trained on all examples.
    temperatures_ : list of Temperature
        One, or one for each pair.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    :meth:`predict` returns the class of the largest probability. With "temperature" that is the class of the
    classifier's largest score (of SVC not always the result of its own ``predict``), except where the
    temperature is infinite or probabilities are equal after rounding; the coupling of pairs may differ from
    their vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = WithProbabilities(LinearSVC(random_state=0), random_state=0).fit(X, y)
    >>> log_loss(model.predict_proba(X), y) < 0.5
    True
    """

    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED}

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["temperature", "coupling"] = "temperature",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier, and fit the probabilities to scores of examples that were held out.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
            Passed on to the classifier, its rows selected.
        y : (n,) array-like
        sample_weight : (n,) array-like, optional
            Passed on to the classifier, its entries selected, and counted in the fit of the probabilities;
            refused if the classifier takes none, or with scikit-learn's metadata routing does not request
            them.

        Returns
        -------
        WithProbabilities
        """
        one_of(self.method, "method", ("temperature", "coupling"))
        seed(self.random_state)
        jobs(self.n_jobs)
        verbose = verbosity(self.verbose)
        if isinstance(self.cv, Integral):
            integer(self.cv, "cv", 2)
        coupling = self.method == "coupling"
        given = self.estimator
        able = isinstance(given, OneVsOne) if coupling else _has_scores(given)
        if isinstance(given, type) or not able:
            wanted = "be a OneVsOne" if coupling else "have decision_function or predict_proba"
            raise ValueError(f"estimator must {wanted} for {self.method!r}, found {given!r}")
        labels: NDArray[Any] = validate_data(self, X="no_validation", y=in_memory(y))
        X = selectable(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        weights = None
        if sample_weight is not None:
            self._check_weights_wanted("fit", sample_weight)
            weights = example_weights(sample_weight, len(labels))

        if isinstance(self.cv, str) and self.cv == "prefit":
            self._prefit(X, labels, weights)
            return self
        self.classes_, codes = class_codes(labels)
        folds = self._folds(labels, codes)
        tasks = [*folds, (np.arange(len(labels)), None)]
        calls = (
            delayed(_train_and_score)(self.estimator, self.method, X, labels, weights, train, test)
            for train, test in tasks
        )
        with Log(type(self).__name__, verbose, unit="fit", most=len(tasks)) as log:
            fits = side_by_side(calls, self.n_jobs, log)
        for fitted, _ in fits:
            if not np.array_equal(fitted, self.classes_):
                raise ValueError(
                    f"every fold must leave examples of all classes {self.classes_.tolist()} for training, "
                    f"found one with {fitted.tolist()}"
                )
        self.estimator_ = fits[-1][1]
        held_out = np.concatenate([test for _, test in folds])
        scores = np.concatenate([scores_of_fold for _, scores_of_fold in fits[:-1]])
        self._calibrate(scores, codes[held_out], None if weights is None else weights[held_out])
        return self

    def _prefit(self, X: Any, labels: NDArray[Any], weights: Floats | None) -> None:
        check_is_fitted(self.estimator)
        self.estimator_ = self.estimator
        self.classes_ = self.estimator.classes_
        codes = codes_among(self.classes_, labels)
        self._calibrate(_score(self.estimator_, self.method, X), codes, weights)

    def _folds(self, labels: NDArray[Any], codes: Ints) -> list[tuple[Ints, Ints]]:
        if isinstance(self.cv, Integral):
            counts = np.bincount(codes)
            if self.cv < 2 or counts.min() < self.cv:
                fewest = self.classes_[[int(counts.argmin())]].tolist()[0]
                raise ValueError(
                    "cv must be at least 2 and at most the number of examples of each class: "
                    f"found cv={self.cv}, and {counts.min()} examples of class {fewest!r}"
                )
            splitter = StratifiedKFold(int(self.cv), shuffle=True, random_state=self.random_state)
            return divided(splitter, np.zeros(len(labels)), labels)
        return divided(self.cv, np.zeros(len(labels)), labels)

    def _calibrate(self, scores: Floats, codes: Ints, weights: Floats | None) -> None:
        k = len(self.classes_)
        columns = k if self.method == "temperature" else k * (k - 1) // 2
        if scores.shape[1] != columns:
            raise ValueError(
                f"the classifier must return {columns} scores for {k} classes, found {scores.shape[1]}"
            )
        if self.method == "temperature":
            self.temperatures_ = [temperature(scores, codes, smooth=True, sample_weight=weights)]
            return
        self.temperatures_ = []
        for s, (first, second) in enumerate(pairs(k).tolist()):
            used = np.flatnonzero((codes == first) | (codes == second))
            if not len(used) or (weights is not None and not weights[used].sum() > 0):
                raise ValueError(
                    f"coupling needs held-out examples of {self.classes_[first]!r} or "
                    f"{self.classes_[second]!r}, found none"
                )
            self.temperatures_.append(
                temperature(
                    np.column_stack([scores[used, s], np.zeros(len(used))]),
                    (codes[used] == second).astype(np.intp),
                    smooth=True,
                    sample_weight=None if weights is None else weights[used],
                )
            )

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of all classes.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        X = in_memory(X)
        scores = _score(self.estimator_, self.method, X)  # the classifier checks X
        validate_data(self, X, reset=False, skip_check_array=True)
        if self.method == "temperature":
            return self.temperatures_[0].probabilities(scores)
        duels = np.column_stack(
            [
                one.probabilities(np.column_stack([f, np.zeros(len(f))]))[:, 0]
                for one, f in zip(self.temperatures_, scores.T, strict=True)
            ]
        )
        return pairwise_coupling(np.clip(duels, _LEAST, 1 - _LEAST)).probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the largest probability, the first if there are several.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        winner = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags


def _has_scores(classifier: Any) -> bool:
    return hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")


def _score(classifier: Any, method: str, X: Any) -> Floats:
    """Scores of all classes, or of all pairs."""
    if method == "coupling":
        scores_of_pairs: Floats = np.asarray(classifier.column_scores(X), dtype=np.float64)
        return scores_of_pairs
    if not hasattr(classifier, "decision_function"):
        logarithms: Floats = np.log(np.maximum(classifier.predict_proba(X), _LEAST))
        return logarithms
    scores = np.asarray(classifier.decision_function(X), dtype=np.float64)
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


def _train_and_score(
    classifier: Any,
    method: str,
    X: Any,
    labels: NDArray[Any],
    weights: Floats | None,
    train: Ints,
    test: Ints | None,
) -> tuple[NDArray[Any], Any]:
    """Classes of a clone trained on some examples, and its scores of others, or else itself."""
    some, known = (X, labels) if test is None else _safe_split(classifier, X, labels, train)
    fitted = clone(classifier).fit(
        some, known, **({} if weights is None else {"sample_weight": weights[train]})
    )
    if test is None:
        return fitted.classes_, fitted
    return fitted.classes_, _score(fitted, method, _safe_split(classifier, X, labels, test, train)[0])
