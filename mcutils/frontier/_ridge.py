"""One-vs-all by least squares, and its confusions when each example is left out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, solve_triangular
from scipy.sparse import csr_array, issparse
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.validation import validate_data

from .._base import ScoreClassifier, class_codes
from .._checks import number
from .._typing import Floats, Ints
from .._warnings import warn
from .._weights import example_weights, refuse_idle

# Scores are computed in chunks of this many entries.
_CHUNK = 2**21

# A sparse matrix with more rows and more columns than DIRECT is not factorised: conjugate gradients are used.
DIRECT = 4096
_RESIDUAL = 1e-10  # they stop at this residual, relative to the right hand side,
_MOST_STEPS = 1000  # or after this many steps


class RidgeOneVsAll(LinearClassifierMixin, ScoreClassifier):
    r"""One-vs-all by least squares: a factorisation serves all classes.

    It minimises :math:`\sum_i w_i \|W x_i + b - e_{y_i}\|^2 + \alpha \|W\|_F^2`, where :math:`e_y` is the
    indicator of class y. With the weighted means taken off, the rows of W are
    :math:`(X^\top X + \alpha I)^{-1} \sum_{i: y_i = y} w_i x_i`: one Cholesky factor and the sums of the
    classes; the (m, k) table of the indicators is never made. Of fewer examples than features it is the
    factor of the (m, m) matrix :math:`X X^\top + \alpha I`.

    Parameters
    ----------
    alpha : float
        :math:`\alpha`, positive.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    coef_ : (k, d) array
        W; for two classes (1, d), the second row less the first.
    intercept_ : (k,) array
        b, for two classes (1,).
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    *Sparse matrices* are centred without being written out. Only columns that are more than half full are,
    which at most doubles the memory; and the whole matrix, where more than a tenth of its entries is stored.
    If it has more than 4096 examples and more than 4096 features, there is no factor: the equations are
    solved by conjugate gradients, up to 1e-10 of their right hand side, or else there is a warning.

    *Where alpha is lost in rounding*, as with two equal columns and ``alpha=1e-16``, the factor is that of
    the eigenvalues which are more than rounding errors, of the matrix brought to ones on its diagonal: no
    weight is put on a direction that the sample is not known to have.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RidgeOneVsAll().fit(X, y)
    >>> model.coef_.shape, bool(np.allclose(model.decision_function(X).sum(axis=1), 1))
    ((3, 4), True)
    """

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve all classifiers.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
        y : (m,) array-like
            Labels of at least two classes.
        sample_weight : (m,) array-like, optional
            Weights of the examples, at least 0, not all 0 in a class.

        Returns
        -------
        RidgeOneVsAll
        """
        X, labels = self._validate(X, y=y)
        self.classes_, codes = class_codes(labels)
        weights = checked_weights(sample_weight, self.classes_, codes)
        alpha = number(self.alpha, "alpha", above=0)
        solution = _ridge(centred_rows(X, weights), codes, len(self.classes_), alpha)
        self.coef_, self.intercept_ = solution.weights, solution.biases
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        return self

    _opposite = True

    def scores(self, X: Any) -> Floats:
        """The scores of all classes; of two, -f(x) and f(x), by how much the second is ahead.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        values: Floats = self.decision_function(X)
        return values if values.ndim == 2 else np.column_stack([-values, values])


class _CentredRows:
    """The rows of a table less their weighted mean: what the equations need of them."""

    direct = True  # whether a matrix is to be factorised

    def __init__(self, X: Any, weights: Floats):
        self.weights, self.shape = weights, X.shape
        self.total = float(weights.sum())
        self.centre: Floats = np.asarray(weights @ X) / self.total
        self._centred(X)

    def _centred(self, X: Any) -> None:
        self.rows: Floats = X - self.centre

    def gram(self) -> Floats:
        """The sum of w x x'."""
        products: Floats = (self.rows.T * self.weights) @ self.rows
        return products

    def kernel(self) -> Floats:
        """The products of all pairs of rows, each times the root of its weight."""
        scaled = np.sqrt(self.weights)[:, None] * self.rows
        products: Floats = scaled @ scaled.T
        return products

    def sums(self, codes: Ints, k: int) -> Floats:
        """The weighted sum of the rows of each class."""
        sums: Floats = class_sums(self.rows, codes, self.weights, k)
        return sums

    def back(self, U: Floats) -> Floats:
        """The transposed times U."""
        combined: Floats = self.rows.T @ U
        return combined

    def squares(self, factor: "Factor") -> Floats:
        """Of each row x the number w x' A x, where A is the inverse that the factor stands for."""
        leverage: Floats = self.weights * (self.rows * factor.solve(self.rows.T).T).sum(axis=1)
        return leverage


class _CentredThinRows(_CentredRows):
    """The same of a sparse matrix, which is left as it is: the mean is taken off the results.

    If the share p of the weight is on the entries that are stored of a column, that is no difference of large
    numbers: its sum of squares is at most 1 / (1 - p) times that of the centred column. Columns that are more
    than half full are kept apart, dense and centred.
    """

    def _centred(self, X: Any) -> None:
        self.direct = min(X.shape) <= DIRECT
        full = np.bincount(X.indices, minlength=X.shape[1]) > X.shape[0] / 2
        self.full = np.flatnonzero(full)
        self.dense: Floats = X[:, self.full].toarray() - self.centre[self.full]
        self.thin = X
        if len(self.full):
            kept = ~full[X.indices]
            ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
            self.thin = csr_array((X.data[kept], X.indices[kept], ends), shape=X.shape)
        self.mean = np.where(full, 0.0, self.centre)

    def gram(self) -> Floats:
        thin = self.thin
        data = thin.data * np.repeat(self.weights, np.diff(thin.indptr))
        weighed = csr_array((data, thin.indices, thin.indptr), shape=thin.shape)
        products: Floats = (weighed.T @ thin).toarray()
        products -= self.total * np.outer(self.mean, self.mean)
        if len(self.full):
            some = self.back(self.weights[:, None] * self.dense)
            products[:, self.full], products[self.full] = some, some.T
        return products

    def kernel(self) -> Floats:
        products: Floats = (self.thin @ self.thin.T).toarray()
        shift = self.thin @ self.mean
        products += self.mean @ self.mean - shift[:, None] - shift
        products += self.dense @ self.dense.T
        root = np.sqrt(self.weights)
        products *= root[:, None] * root
        return products

    def sums(self, codes: Ints, k: int) -> Floats:
        sums: Floats = class_sums(self.thin, codes, self.weights, k).toarray()
        sums -= np.outer(np.bincount(codes, self.weights, minlength=k), self.mean)
        sums[:, self.full] = class_sums(self.dense, codes, self.weights, k)
        return sums

    def times(self, V: Floats, part: slice = slice(None)) -> Floats:
        """Some rows times V."""
        scores: Floats = self.thin[part] @ V
        scores -= self.mean @ V
        scores += self.dense[part] @ V[self.full]
        return scores

    def back(self, U: Floats) -> Floats:
        combined: Floats = self.thin.T @ U
        combined -= np.outer(self.mean, U.sum(axis=0))
        combined[self.full] = self.dense.T @ U
        return combined

    def diagonal(self) -> Floats:
        """That of the Gram matrix."""
        thin = self.thin
        squares = csr_array((thin.data**2, thin.indices, thin.indptr), shape=thin.shape)
        entries: Floats = squares.T @ self.weights - self.total * self.mean**2
        entries[self.full] = self.weights @ self.dense**2
        return np.maximum(entries, 0.0)

    def squares(self, factor: "Factor") -> Floats:
        m, d = self.shape
        inverse, leverage = factor.solve(np.eye(d)), np.empty(m)
        size = max(1, _CHUNK // d)
        for start in range(0, m, size):
            part = slice(start, start + size)
            products = self.times(inverse, part)
            leverage[part] = self.thin[part].multiply(products).sum(axis=1) - products @ self.mean
            leverage[part] += (self.dense[part] * products[:, self.full]).sum(axis=1)
        return self.weights * leverage


@np.errstate(over="ignore", invalid="ignore")  # a sentence reports it
def centred_rows(X: Any, weights: Floats) -> _CentredRows:
    if not issparse(X):
        return _CentredRows(X, weights)
    X = csr_array(X)
    if not X.has_canonical_format:  # an entry in several parts
        X = X.copy()
        X.sum_duplicates()
    m, d = X.shape
    return _CentredRows(X.toarray(), weights) if 10 * X.nnz > m * d else _CentredThinRows(X, weights)


def _refuse_overflow(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise ValueError("X must be scaled: its squares, times sample_weight, are beyond floating point")


class Factor:
    """The inverse of a Gram matrix with alpha on its diagonal."""

    def __init__(self, gram: Floats, alpha: float, *, rescale: bool):
        n = len(gram)
        gram.flat[:: n + 1] += alpha
        diagonal = gram.diagonal()
        _refuse_overflow(gram)
        # what a pivot, or an eigenvalue of a matrix with ones on its diagonal, may be by rounding alone
        noise = 16 * n * float(np.finfo(np.float64).eps)
        self.lower: Floats | None = None
        try:
            lower = cholesky(gram, lower=True)
            if (lower.diagonal() ** 2 > noise * diagonal).all():
                self.lower = lower
                return
        except LinAlgError:
            pass
        # a column is scaled as it likes; of rows that would be another weight
        scale = 1 / np.sqrt(diagonal) if rescale else np.full(n, 1 / np.sqrt(diagonal.max()))
        values, vectors = eigh(gram * scale[:, None] * scale)
        kept = values > noise * values[-1]
        self.root = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])

    def solve(self, B: Floats) -> Floats:
        solution: Floats = (
            self.root @ (self.root.T @ B) if self.lower is None else cho_solve((self.lower, True), B)
        )
        return solution

    def coordinates(self, B: Floats) -> Floats:
        """Columns whose inner products are those of B in the metric of the inverse."""
        coordinates: Floats = (
            self.root.T @ B if self.lower is None else solve_triangular(self.lower, B, lower=True)
        )
        return coordinates


@dataclass(frozen=True)
class _Ridge:
    """The classifiers; and what each example has of its own score, if a matrix was factorised."""

    weights: Floats
    biases: Floats
    own: Callable[[], Floats]


@np.errstate(over="ignore", invalid="ignore")  # a sentence reports it
def _ridge(rows: _CentredRows, codes: Ints, k: int, alpha: float) -> _Ridge:
    m, d = rows.shape
    share = rows.weights / rows.total
    if isinstance(rows, _CentredThinRows) and not rows.direct:
        W = _by_conjugate_gradients(rows, rows.sums(codes, k), alpha)
        own = partial(np.zeros, m)
    elif d <= m:
        factor = Factor(rows.gram(), alpha, rescale=True)
        W = factor.solve(rows.sums(codes, k).T).T
        own = partial(rows.squares, factor)
    else:
        kernel, root = rows.kernel(), np.sqrt(rows.weights)
        factor = Factor(kernel.copy(), alpha, rescale=False)
        targets = np.zeros((m, k))
        targets[np.arange(m), codes] = root
        W = rows.back(root[:, None] * factor.solve(targets)).T
        own = partial(_own_of_pairs, kernel, factor)
    return _Ridge(W, np.bincount(codes, share, minlength=k) - W @ rows.centre, lambda: share + own())


def _own_of_pairs(kernel: Floats, factor: Factor) -> Floats:
    """The diagonal of the inverse times the kernel."""
    diagonal: Floats = factor.solve(kernel).diagonal()
    return diagonal


def _by_conjugate_gradients(rows: _CentredThinRows, sums: Floats, alpha: float) -> Floats:
    """The same classifiers, the equations of each class solved until the residual is small."""
    m, d = rows.shape
    diagonal = (rows.diagonal() + alpha)[:, None]
    _refuse_overflow(diagonal)
    weights, solution, worst = rows.weights[:, None], np.zeros_like(sums), 0.0
    size = max(1, 8 * _CHUNK // (m + d))
    for start in range(0, len(sums), size):
        live = np.arange(start, min(start + size, len(sums)))
        residual = np.ascontiguousarray(sums[live].T)
        direction = residual / diagonal
        before = (residual * direction).sum(axis=0)
        limit = _RESIDUAL * np.linalg.norm(residual, axis=0)
        for _ in range(_MOST_STEPS):
            norms = np.linalg.norm(residual, axis=0)
            open_ = norms > limit
            if not open_.all():
                live, residual, direction = live[open_], residual[:, open_], direction[:, open_]
                before, limit, norms = before[open_], limit[open_], norms[open_]
            if not len(live):
                break
            bent = rows.back(weights * rows.times(direction)) + alpha * direction
            step = before / (direction * bent).sum(axis=0)
            solution[live] += (step * direction).T
            residual = residual - step * bent
            nearer = residual / diagonal
            after = (residual * nearer).sum(axis=0)
            direction = nearer + (after / before) * direction
            before = after
        else:
            worst = max(worst, float((norms / limit).max()) * _RESIDUAL)
    if worst:
        warn(
            f"the equations are solved up to {worst:.2g} of their right hand side, not {_RESIDUAL:g}, "
            f"in {_MOST_STEPS} steps: increase alpha",
        )
    return solution


def class_sums(rows: Any, codes: Ints, weights: Floats, k: int) -> Any:
    """The weighted sum of the examples of each class."""
    m = len(codes)
    return csr_array((weights, (codes, np.arange(m))), shape=(k, m)) @ rows


def checked_weights(sample_weight: ArrayLike | None, classes: NDArray[Any], codes: Ints) -> Floats:
    """The weights of the examples; their sum must be positive in each class."""
    weights = example_weights(sample_weight, len(codes))
    refuse_idle(weights, classes, codes, "sample_weight")
    return weights


def leave_one_out_confusion(
    X: ArrayLike, y: ArrayLike, *, alpha: float = 1.0, sample_weight: ArrayLike | None = None
) -> Floats:
    r"""Leave-one-out confusion matrix of :class:`RidgeOneVsAll`, without refitting.

    The classifier is :class:`RidgeOneVsAll`. No classifier is trained anew: with
    :math:`h_i = w_i \big(1 / \sum_j w_j + x_i^\top (X^\top X + \alpha I)^{-1} x_i\big)`, all centred, the
    scores without example i are :math:`(f(x_i) - h_i e_{y_i}) / (1 - h_i)` (lem-frontier-leave-one-out). So
    it is enough to take :math:`h_i` off the score of the own class.

    Of a sparse matrix with more than 4096 examples and more than 4096 features no :math:`h_i` is computed.
    There the examples of each class are dealt out in turn to five parts, and each part is predicted by a
    classifier trained on the four others.

    Parameters
    ----------
    X : (m, d) array-like, sparse matrix or data frame
    y : (m,) array-like
        Labels of k >= 2 classes.
    alpha : float
        As for :class:`RidgeOneVsAll`.
    sample_weight : (m,) array-like, optional
        Weights of the examples. An example of weight 2 is left out as a whole.

    Returns
    -------
    (k, k) array
        How many examples (or what weight) of the class of a row are predicted as that of a column.

    Examples
    --------
    >>> from mcutils.data import load
    >>> penguins = load("penguins")
    >>> leave_one_out_confusion(penguins.X, penguins.y).astype(int)
    array([[146,   0,   0],
           [  6,  62,   0],
           [  0,   0, 119]])
    """
    points, labels = validate_data(RidgeOneVsAll(), X, y, accept_sparse="csr", dtype=np.float64)
    classes, codes = class_codes(labels)
    weights = checked_weights(sample_weight, classes, codes)
    k, alpha = len(classes), number(alpha, "alpha", above=0)
    rows = centred_rows(points, weights)
    if rows.direct:
        solution = _ridge(rows, codes, k, alpha)
        guess = _guess(points, solution, codes, solution.own())
    else:
        guess = _held_out(points, codes, weights, k, alpha)
    counts: Floats = np.zeros((k, k))
    np.add.at(counts, (codes, guess), weights)
    return counts


def _guess(points: Any, solution: _Ridge, codes: Ints, own: Floats) -> Ints:
    """The class of the largest score, where each example's own share is taken off."""
    guess = np.empty_like(codes)
    size = max(1, _CHUNK // len(solution.biases))
    for start in range(0, len(codes), size):
        part = slice(start, start + size)
        scores = points[part] @ solution.weights.T + solution.biases
        scores[np.arange(len(scores)), codes[part]] -= own[part]
        guess[part] = scores.argmax(axis=1)
    return guess


def _held_out(points: Any, codes: Ints, weights: Floats, k: int, alpha: float) -> Ints:
    """The scores of five models, each for the part that it was not trained on."""
    guess, part = np.empty_like(codes), np.empty_like(codes)
    for rows in members(codes, k):
        part[rows] = np.arange(len(rows)) % 5
    for fifth in range(5):
        train, test = np.flatnonzero(part != fifth), np.flatnonzero(part == fifth)
        solution = _ridge(centred_rows(points[train], weights[train]), codes[train], k, alpha)
        guess[test] = _guess(points[test], solution, codes[test], np.zeros(len(test)))
    return guess


def members(codes: Ints, k: int) -> list[Ints]:
    """The examples of each class, ascending."""
    ends = np.bincount(codes, minlength=k).cumsum()
    return np.split(np.argsort(codes, kind="stable"), ends[:-1])
