"""What the reductions share: fitting binary classifiers to the columns of a code, and their scores.

:mod:`mcutils.reduction` and :mod:`mcutils.ecoc` both learn one classifier for each column: a vector that
gives every class the sign of its examples: positive (+1), negative (-1) or left out (0).
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.svm import SVC, NuSVC
from sklearn.utils import Tags, _safe_indexing, check_array, get_tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ._base import LabelClassifier, ScoreClassifier, class_codes, codes_among, first_batch
from ._checks import array, in_memory, jobs, verbosity
from ._progress import Log, side_by_side
from ._routing import WeightRouter
from ._typing import Floats, Ints
from ._warnings import warn
from ._weights import example_weights, refuse_idle
from .binary import BinarySVM

# Probabilities nearer to 0 or 1 than this are taken as this near: log-odds within +-36.05.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


class Column(NamedTuple):
    """A binary problem: the sign of each class, and what messages call it.

    Of a matrix of labels it is one column, ``label``, and the signs are those of its 0 and 1.
    """

    signs: NDArray[np.int8]
    name: str
    label: int = 0


class Constant(ClassifierMixin, BaseEstimator):
    """What stands for a classifier where all examples have one sign."""

    def __init__(self, sign: int):
        self.sign = sign

    def decision_function(self, X: Any) -> Floats:
        return np.full(X.shape[0], float(self.sign))

    def predict_proba(self, X: Any) -> Floats:
        return np.tile([float(self.sign < 0), float(self.sign > 0)], (X.shape[0], 1))


def base_has(method: str) -> Callable[[Any], bool]:
    def check(reduction: Any) -> bool:
        getattr(reduction.estimator, method)  # an AttributeError names what is missing
        return True

    return check


def _gives_scores(estimator: Any) -> bool:
    if isinstance(estimator, type):
        return False
    if hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
        return True
    return hasattr(estimator, "predict") and is_regressor(estimator)


class BinaryReduction(WeightRouter, ScoreClassifier):
    """A multi-class classifier out of binary classifiers: ``estimators_``, one for each column of a code.

    A subclass has the parameters ``estimator``, ``n_jobs`` and ``verbose``, and the methods below.
    """

    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED}
    __metadata_request__partial_fit: ClassVar = {"sample_weight": UNUSED}

    estimator: Any
    n_jobs: int | None
    verbose: int | bool
    classes_: NDArray[Any]
    estimators_: list[Any]

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work, whatever the data, and whether or not they are used."""
        jobs(self.n_jobs)
        verbosity(self.verbose)

    def _prepare(self) -> int:
        """Set what follows from ``classes_``; return the number of columns."""
        raise NotImplementedError

    def _column(self, s: int) -> Column:
        """What classifier s learns."""
        raise NotImplementedError

    def _codes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Set ``classes_``; the position of each label among them, or the matrix of labels."""
        self.classes_, codes = class_codes(labels)
        return codes

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        check_is_fitted(self)
        return len(self.classes_)

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all classifiers.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        y : (n,) array-like
            Labels of any type that can be sorted. One-vs-all also takes (n, k): for each example and label
            whether it has it, as 0 and 1 or as -1 and 1, in an array or a sparse matrix.
        sample_weight : (n,) array-like, optional
            Passed on to the estimator, its entries selected; refused if the estimator takes none, or with
            scikit-learn's metadata routing does not request them.

        Returns
        -------
        Self
        """
        self._check_parameters()
        X = in_memory(X)
        labels = self._check_data(X, y, "fit", sample_weight, reset=True)
        rows = self._codes(labels)
        weights = None
        if sample_weight is not None:
            weights = example_weights(sample_weight, len(rows))
            if rows.ndim == 1:
                refuse_idle(weights, self.classes_, rows, "sample_weight")
        n_columns = self._prepare()
        self._fit_columns(X, rows, weights, n_columns)
        if rows.ndim == 2:
            _warn_of_constants(self.estimators_)
        return self

    @available_if(base_has("partial_fit"))
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on fitting all classifiers with another batch, by the estimator's own ``partial_fit``.

        A classifier none of whose examples are in the batch stays as it is.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among the classes.
        classes : (k,) array-like
            All labels that will ever come; needed in the first call.
        sample_weight : (n,) array-like, optional

        Returns
        -------
        Self
        """
        self._check_parameters()
        if self._is_pairwise():
            raise ValueError(
                f"partial_fit needs examples, and a precomputed kernel has none: found {self.estimator!r}"
            )
        if getattr(self, "multilabel_", False):
            raise ValueError("partial_fit learns one class for each example: y of fit was a matrix of labels")
        first, X = first_batch(self, classes), in_memory(X)
        labels = self._check_data(X, y, "partial_fit", sample_weight, reset=first)
        codes = codes_among(self.classes_, labels)
        weights = None if sample_weight is None else example_weights(sample_weight, len(labels))
        classifiers = getattr(self, "estimators_", None)
        if first or classifiers is None:
            classifiers = [clone(self.estimator) for _ in range(self._prepare())]
        self._fit_columns(X, codes, weights, len(classifiers), classifiers)
        return self

    def column_scores(self, X: Any) -> Floats:
        """The scores of the binary classifiers, a column for each of ``estimators_``.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, l) array
        """
        self._check_parameters()
        scorer = Scorer(self)
        scores: Floats = scorer(scorer.check(X)).T
        return scores

    def _check_data(self, X: Any, y: ArrayLike, method: str, weights: Any, *, reset: bool) -> NDArray[Any]:
        """The labels. X itself is left to the classifiers, but for its numbers of rows and of features."""
        if not _gives_scores(self.estimator):
            raise ValueError(
                "estimator must have decision_function or predict_proba, or be a regressor, "
                f"found {self.estimator!r}"
            )
        self._check_weights_wanted(method, weights)
        several = isinstance(self, LabelClassifier) and method == "fit"
        labels: NDArray[Any] = validate_data(self, X="no_validation", y=in_memory(y), multi_output=several)
        X = selectable(X)
        if self._is_pairwise():
            X = validate_data(self, X, accept_sparse="csr", reset=reset)
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"X must be square, with a value for each pair of examples, found shape {X.shape}"
                )
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)
        check_consistent_length(X, labels)
        return labels

    def _fit_columns(
        self,
        X: Any,
        rows: NDArray[Any],
        weights: Floats | None,
        n_columns: int,
        classifiers: Sequence[Any] | None = None,
    ) -> None:
        """Set ``estimators_``: a clone fitted to each column; or ``classifiers``, partially fitted.

        X and what is known of all examples are the same objects in every task, so that joblib sends them
        to its workers once.
        """
        codes = rows if rows.ndim == 1 else rows[:0, 0]  # no column of a matrix leaves an example out
        order = np.argsort(codes, kind="stable")
        starts = np.concatenate([[0], np.bincount(codes, minlength=len(self.classes_)).cumsum()])
        pairwise = self._is_pairwise()
        self._order_starts = (order, starts) if pairwise else None
        X = selectable(X)
        shared = (X, rows, order, starts, weights, pairwise)
        # One after another, only the first fit checks the estimator's parameters: the others' are equal.
        alone = effective_n_jobs(self.n_jobs) == 1
        fits = (
            delayed(_fit_column)(self.estimator, self._column(s), alone and s > 0, *shared)
            if classifiers is None
            else delayed(_partially_fit_column)(classifiers[s], self._column(s), *shared)
            for s in range(n_columns)
        )
        with Log(type(self).__name__, verbosity(self.verbose), unit="fit", most=n_columns) as log:
            self.estimators_ = side_by_side(fits, self.n_jobs, log)

    def _is_pairwise(self) -> bool:
        """Whether X holds a value for each pair of examples, as a precomputed kernel does."""
        return bool(get_tags(self.estimator).input_tags.pairwise)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.pairwise = inner.pairwise
        return tags


def selectable(X: Any) -> Any:
    """X in a form whose rows can be selected; the very object if possible. What has no rows is refused."""
    X = in_memory(X)
    rows = X.tocsr() if issparse(X) else X if hasattr(X, "shape") else array(X, "X")
    if not rows.shape or rows.shape[0] == 0:
        check_array(rows, accept_sparse=True, dtype=None)  # raises
    return rows


def _examples(order: Ints, starts: Ints, signs: NDArray[np.int8]) -> Ints | None:
    """The examples, ascending, of the classes whose sign is not 0; None for all."""
    used = np.flatnonzero(signs)
    if len(used) == len(signs):
        return None
    return np.sort(np.concatenate([order[starts[c] : starts[c + 1]] for c in used]))


def _problem(
    column: Column,
    X: Any,
    rows: NDArray[Any],
    order: Ints,
    starts: Ints,
    weights: Floats | None,
    pairwise: bool,
) -> tuple[Any, Ints, dict[str, Floats]]:
    """Examples, labels and weights of one column."""
    signs = column.signs.astype(np.intp)
    rows = rows if rows.ndim == 1 else rows[:, column.label].astype(np.intp)
    examples = _examples(order, starts, column.signs)
    if examples is None:
        return X, signs[rows], {} if weights is None else {"sample_weight": weights}
    X = np.take(X, examples, axis=0) if type(X) is np.ndarray else _safe_indexing(X, examples)
    if pairwise:
        X = _safe_indexing(X, examples, axis=1)
    return X, signs[rows[examples]], {} if weights is None else {"sample_weight": weights[examples]}


def _warn_of_constants(estimators: Sequence[Any]) -> None:
    """In the words of scikit-learn."""
    constant = [s for s, one in enumerate(estimators) if isinstance(one, Constant)]
    if constant:
        labels = ", ".join(f"{'not ' if estimators[s].sign < 0 else ''}{s}" for s in constant)
        warn(
            f"Label {labels} is present in all training examples: a constant stands for its classifier",
            UserWarning,
        )


def _fit_column(estimator: Any, column: Column, checked: bool, *shared: Any) -> Any:
    """A clone fitted to the examples of nonzero sign."""
    try:
        with config_context(skip_parameter_validation=True) if checked else nullcontext():
            X, labels, weights = _problem(column, *shared)
            counted = labels[weights["sample_weight"] > 0] if weights else labels
            if (counted == counted[0]).all():
                return Constant(int(counted[0]))
            return clone(estimator).fit(X, _targets(estimator, labels), **weights)
    except Exception as error:
        error.add_note(f"This was raised by {estimator!r} while fitting {column.name}.")
        raise


def _partially_fit_column(classifier: Any, column: Column, *shared: Any) -> Any:
    """The classifier after another batch; as it was, if the batch has no example for it."""
    try:
        X, labels, weights = _problem(column, *shared)
        if len(labels):
            known = {} if is_regressor(classifier) else {"classes": np.array([-1, 1])}
            classifier.partial_fit(X, _targets(classifier, labels), **known, **weights)
        return classifier
    except Exception as error:
        error.add_note(f"This was raised by {classifier!r} while fitting {column.name}.")
        raise


def _targets(estimator: Any, labels: Ints) -> NDArray[Any]:
    """What the estimator learns: signs, or a regressor 1 and 0, as in scikit-learn."""
    return (labels + 1) / 2 if is_regressor(estimator) else labels


# ---------------------------------------------------------------------------------------------------
# Scores


class Scorer:
    """Scores of the classifiers of a reduction.

    The scores of classifiers that are all linear are one product, with their weights one below the other.
    """

    def __init__(self, reduction: BinaryReduction):
        check_is_fitted(reduction)
        self.reduction = reduction
        classifiers = reduction.estimators_
        self.linear: tuple[Floats, Floats] | None = None
        if all(map(is_linear, classifiers)) and not reduction._is_pairwise():
            weights = np.vstack([classifier.coef_ for classifier in classifiers])
            self.linear = (
                weights,
                np.concatenate([np.ravel(classifier.intercept_) for classifier in classifiers]),
            )

    def check(self, X: Any) -> Any:
        """X in a form that can be scored and whose rows can be selected."""
        X = in_memory(X)
        if self.linear is not None:
            return validate_data(self.reduction, X, accept_sparse="csr", reset=False)
        if self.reduction._is_pairwise():
            return validate_data(self.reduction, X, accept_sparse="csr", reset=False)
        return selectable(X)

    def __call__(self, X: Any, columns: slice = slice(None)) -> Floats:
        """Scores of the classifiers of some columns on checked examples, (number of columns, n)."""
        if self.linear is not None:
            weights, biases = (some[columns] for some in self.linear)
            scores = linear_scores(X, weights, biases)
        else:
            chosen = range(len(self.reduction.estimators_))[columns]
            scores = np.empty((len(chosen), X.shape[0]))
            for place, s in enumerate(chosen):
                scores[place] = self.alone(s, X)
        # a sum is finite only if its terms are: one pass, and no array of booleans
        if not np.isfinite(scores.sum()) and not np.isfinite(scores).all():
            raise ValueError(
                "estimator must give finite scores (are the entries of X too large?), "
                f"found {scores[~np.isfinite(scores)][0]}"
            )
        return scores

    def alone(self, s: int, X: Any) -> Floats:
        """The score of classifier s, by its own method."""
        classifier = self.reduction.estimators_[s]
        if hasattr(classifier, "decision_function"):
            return np.ravel(self._asked(s, "decision_function", X))
        if is_regressor(classifier):
            return 2 * np.ravel(self._asked(s, "predict", X)) - 1
        p = np.clip(self._asked(s, "predict_proba", X), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        log_odds: Floats = np.log(p[:, 1]) - np.log(p[:, 0])
        return log_odds

    def probabilities(self, X: Any) -> Floats:
        """The probability of +1 by each classifier, (number of columns, n), of checked examples."""
        columns = range(len(self.reduction.estimators_))
        return np.array([self._asked(s, "predict_proba", X)[:, 1] for s in columns])

    def _asked(self, s: int, method: str, X: Any) -> Any:
        try:
            if self.reduction._order_starts is not None:
                known = _examples(*self.reduction._order_starts, self.reduction._column(s).signs)
                X = X if known is None else _safe_indexing(X, known, axis=1)
            return getattr(self.reduction.estimators_[s], method)(X)
        except Exception as error:
            error.add_note(f"This was raised by the classifier for {self.reduction._column(s).name}.")
            raise


def linear_scores(X: Any, weights: Floats, biases: Floats) -> Floats:
    """The scores W x + b of checked examples, (l, n)."""
    scores: Floats = (X @ weights.T).T if issparse(X) else weights @ X.T
    scores += biases[:, None]
    return scores


def is_linear(classifier: Any) -> bool:
    """Whether the score is known to be the product with ``coef_`` plus ``intercept_``."""
    kind = type(classifier)
    if kind in (SVC, NuSVC, BinarySVM):
        return (
            isinstance(classifier.kernel, str) and classifier.kernel == "linear" and _has_weights(classifier)
        )
    inherited = getattr(kind, "decision_function", None) is LinearClassifierMixin.decision_function
    return inherited and _has_weights(classifier)


def _has_weights(classifier: Any) -> bool:
    """Whether the classifier was fitted, and its weights are not sparse."""
    return isinstance(getattr(classifier, "coef_", None), np.ndarray)
