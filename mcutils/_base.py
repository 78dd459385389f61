"""What the classifiers share: the classes of a sample, and prediction by the largest score."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from . import __version__
from ._checks import in_memory
from ._rows import is_precomputed
from ._typing import Bools, Floats, Ints
from ._warnings import warn
from .versions import InconsistentVersionWarning


class Estimator(BaseEstimator):
    """scikit-learn's base class, with pickles that say which version of ``mcutils`` has saved them."""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_mcutils_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        saved = state.pop("_mcutils_version", "0.1.0")  # which recorded none
        if saved != __version__:
            versions = {"original_sklearn_version": saved, "current_sklearn_version": __version__}
            warn(InconsistentVersionWarning(estimator_name=type(self).__name__, **versions))
        super().__setstate__(state)


class ScoreClassifier(ClassifierMixin, Estimator):
    """A classifier that has a score for each class, and predicts the class of the largest.

    A subclass has ``scores``. Its inputs are float64.
    """

    classes_: NDArray[Any]
    # Whether inputs may be sparse; never where ``kernel`` is precomputed.
    _takes_sparse = True
    # Whether the scores of two classes are -f and f: then f is the decision function.
    _opposite = False

    def scores(self, X: Any) -> Floats:
        """The scores of all classes, for two classes both.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """The scores of all classes; for two classes (n,), as everywhere in scikit-learn.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
            Of two classes (n,): by how much the second is ahead.
        """
        return self._decided(self.scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the largest score; ties go to the first class.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        largest = self.scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[largest]
        return labels

    def _decided(self, scores: Floats) -> Floats:
        if scores.shape[1] != 2:
            return scores
        ahead: Floats = scores[:, 1] if self._opposite else scores[:, 1] - scores[:, 0]
        return ahead

    def _validate(self, X: Any, **more: Any) -> Any:
        """Examples as scikit-learn checks them, with labels if ``y`` is among the rest."""
        if "y" in more:
            more["y"] = in_memory(more["y"])
        sparse = self._takes_sparse and not self._is_pairwise()
        return validate_data(
            self, in_memory(X), accept_sparse="csr" if sparse else False, dtype=np.float64, order="C", **more
        )

    def _is_pairwise(self) -> bool:
        return is_precomputed(getattr(self, "kernel", None))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = self._takes_sparse and not tags.input_tags.pairwise
        return tags


class LabelClassifier(ScoreClassifier):
    """One that also learns a matrix of labels, and then predicts for each example those of positive score."""

    multilabel_ = False
    _coding: NDArray[Any]
    _coded_sparse: bool

    def predict(self, X: Any) -> Any:
        """The label of the largest score, ties to the first; with several labels those of positive score.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array, or (n, k) array or sparse array in the coding of y
        """
        return self._answer(self.scores(X))

    def _decided(self, scores: Floats) -> Floats:
        return scores if self.multilabel_ else super()._decided(scores)

    def _answer(self, scores: Floats) -> Any:
        if not self.multilabel_:
            return self.classes_[scores.argmax(axis=1)]
        coded = self._coding[(scores > 0).astype(np.intp)]
        return csr_array(coded) if self._coded_sparse else coded

    def _read_labels(self, target: Any) -> Ints | Bools:
        """Set what predictions are made of; the class of each example, or who has which label."""
        kind = type_of_target(target, input_name="y")
        if kind.endswith("multioutput"):
            raise ValueError(
                "y must have one class for each example, or a column of 0 and 1 for each label: "
                "Multioutput target data is not supported with label binarization"
            )
        self.multilabel_ = kind == "multilabel-indicator"
        if not self.multilabel_:
            self.classes_, codes = class_codes(column_or_1d(target, warn=True), fewest=1)
            return codes
        matrix = target.toarray() if issparse(target) else np.asarray(target)
        entries = np.unique(matrix)
        if not (np.isin(entries, (0, 1)).all() or np.isin(entries, (-1, 1)).all()):
            raise ValueError(f"y must have the entries 0 and 1, or -1 and 1, found {entries.tolist()}")
        self.classes_ = np.arange(matrix.shape[1])
        self._coding = np.array([-1 if entries[0] == -1 else 0, 1]).astype(matrix.dtype)
        self._coded_sparse = issparse(target)
        belongs: Bools = matrix > 0
        return belongs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def class_codes(labels: NDArray[Any], *, binary: bool = False, fewest: int = 2) -> tuple[NDArray[Any], Ints]:
    """The classes of a sample, sorted, and the position of each label among them.

    There must be ``fewest`` classes or more, with ``binary`` exactly two.
    """
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < fewest:
        raise ValueError(f"y must have {_wanted(binary)}, found 1 class: {classes.tolist()}")
    if binary and len(classes) > 2:  # in the words of scikit-learn
        target = type_of_target(labels)
        raise ValueError(f"Only binary classification is supported. The type of the target is {target}.")
    return classes, codes.astype(np.intp, copy=False)


def first_batch(estimator: Any, classes: ArrayLike | None, *, binary: bool = False) -> bool:
    """Whether this is the first ``partial_fit`` of the estimator; if so, set its ``classes_``."""
    known = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be given in the first call of partial_fit, found None")
        return False
    given = np.unique(classes)
    if known is not None and not np.array_equal(known, given):
        raise ValueError(f"classes must stay {known.tolist()}, found {given.tolist()}")
    if len(given) < 2 or (binary and len(given) > 2):
        raise ValueError(f"classes must be {_wanted(binary)}, found {given.tolist()}")
    if known is None:
        estimator.classes_ = given
    return known is None


def _wanted(binary: bool) -> str:
    return "2 classes" if binary else "at least 2 classes"


def codes_among(classes: NDArray[Any], labels: NDArray[Any]) -> Ints:
    """The position of each label among classes that are known already."""
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"y has labels that are not among the classes: {unknown[:6].tolist()}")
    return np.searchsorted(classes, labels).astype(np.intp, copy=False)
