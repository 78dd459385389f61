"""Trees over the classes: tournaments and trees of labels."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, solve_triangular
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from .._checks import integer, number, seed
from .._reduction import is_linear, selectable
from .._weights import example_weights, refuse_idle

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

ORDERS = ("given", "random", "confusion", "means")

# Scores are computed for so many pairs of an example and a class at once.
_CHUNK = 2**21

# Of a sparse matrix with more rows and columns no matrix is factorised: conjugate gradients solve the
# equations, until the residual is this part of the right hand side, in at most so many steps.
_DIRECT, _RESIDUAL, _MOST_STEPS = 4096, 1e-10, 1000


# ---------------------------------------------------------------------------------------------------
# One-vs-all, by least squares


class RidgeOneVsAll(LinearClassifierMixin, BaseEstimator):
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
    >>> machine = RidgeOneVsAll().fit(X, y)
    >>> machine.coef_.shape, bool(np.allclose(machine.decision_function(X).sum(axis=1), 1))
    ((3, 4), True)
    """

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve all machines.

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
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, codes = _classes(labels)
        weights = _weights(sample_weight, self.classes_, codes)
        alpha = number(self.alpha, "alpha", above=0)
        found = _ridge(_rows(X, weights), codes, len(self.classes_), alpha)
        self.coef_, self.intercept_ = found.weights, found.biases
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Rows:
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
        found: Floats = (self.rows.T * self.weights) @ self.rows
        return found

    def kernel(self) -> Floats:
        """The products of all pairs of rows, each times the root of its weight."""
        scaled = np.sqrt(self.weights)[:, None] * self.rows
        found: Floats = scaled @ scaled.T
        return found

    def sums(self, codes: Indices, k: int) -> Floats:
        """The weighted sum of the rows of each class."""
        found: Floats = _sums(self.rows, codes, self.weights, k)
        return found

    def back(self, U: Floats) -> Floats:
        """The transposed times U."""
        found: Floats = self.rows.T @ U
        return found

    def squares(self, factor: "_Factor") -> Floats:
        """Of each row x the number w x' A x, where A is the inverse that the factor stands for."""
        found: Floats = self.weights * (self.rows * factor.solve(self.rows.T).T).sum(axis=1)
        return found


class _ThinRows(_Rows):
    """The same of a sparse matrix, which is left as it is: the mean is taken off the results.

    If the share p of the weight is on the entries that are stored of a column, that is no difference of large
    numbers: its sum of squares is at most 1 / (1 - p) times that of the centred column. Columns that are more
    than half full are kept apart, dense and centred.
    """

    def _centred(self, X: Any) -> None:
        self.direct = min(X.shape) <= _DIRECT
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
        found: Floats = (weighed.T @ thin).toarray()
        found -= self.total * np.outer(self.mean, self.mean)
        if len(self.full):
            some = self.back(self.weights[:, None] * self.dense)
            found[:, self.full], found[self.full] = some, some.T
        return found

    def kernel(self) -> Floats:
        found: Floats = (self.thin @ self.thin.T).toarray()
        shift = self.thin @ self.mean
        found += self.mean @ self.mean - shift[:, None] - shift
        found += self.dense @ self.dense.T
        root = np.sqrt(self.weights)
        found *= root[:, None] * root
        return found

    def sums(self, codes: Indices, k: int) -> Floats:
        found: Floats = _sums(self.thin, codes, self.weights, k).toarray()
        found -= np.outer(np.bincount(codes, self.weights, minlength=k), self.mean)
        found[:, self.full] = _sums(self.dense, codes, self.weights, k)
        return found

    def times(self, V: Floats, part: slice = slice(None)) -> Floats:
        """Some rows times V."""
        found: Floats = self.thin[part] @ V
        found -= self.mean @ V
        found += self.dense[part] @ V[self.full]
        return found

    def back(self, U: Floats) -> Floats:
        found: Floats = self.thin.T @ U
        found -= np.outer(self.mean, U.sum(axis=0))
        found[self.full] = self.dense.T @ U
        return found

    def diagonal(self) -> Floats:
        """That of the Gram matrix."""
        thin = self.thin
        squares = csr_array((thin.data**2, thin.indices, thin.indptr), shape=thin.shape)
        found: Floats = squares.T @ self.weights - self.total * self.mean**2
        found[self.full] = self.weights @ self.dense**2
        return np.maximum(found, 0.0)

    def squares(self, factor: "_Factor") -> Floats:
        m, d = self.shape
        inverse, found = factor.solve(np.eye(d)), np.empty(m)
        size = max(1, _CHUNK // d)
        for start in range(0, m, size):
            part = slice(start, start + size)
            products = self.times(inverse, part)
            found[part] = self.thin[part].multiply(products).sum(axis=1) - products @ self.mean
            found[part] += (self.dense[part] * products[:, self.full]).sum(axis=1)
        return self.weights * found


@np.errstate(over="ignore", invalid="ignore")  # said in a sentence
def _rows(X: Any, weights: Floats) -> _Rows:
    if not issparse(X):
        return _Rows(X, weights)
    X = csr_array(X)
    if not X.has_canonical_format:  # an entry in several parts
        X = X.copy()
        X.sum_duplicates()
    m, d = X.shape
    return _Rows(X.toarray(), weights) if 10 * X.nnz > m * d else _ThinRows(X, weights)


def _refuse_overflow(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise ValueError("X must be scaled: its squares, times sample_weight, are beyond floating point")


class _Factor:
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
        found: Floats = (
            self.root @ (self.root.T @ B) if self.lower is None else cho_solve((self.lower, True), B)
        )
        return found

    def coordinates(self, B: Floats) -> Floats:
        """Columns whose inner products are those of B in the metric of the inverse."""
        found: Floats = self.root.T @ B if self.lower is None else solve_triangular(self.lower, B, lower=True)
        return found


@dataclass(frozen=True)
class _Ridge:
    """The machines; and what each example has of its own score, if a matrix was factorised."""

    weights: Floats
    biases: Floats
    own: Callable[[], Floats]


@np.errstate(over="ignore", invalid="ignore")  # said in a sentence
def _ridge(rows: _Rows, codes: Indices, k: int, alpha: float) -> _Ridge:
    m, d = rows.shape
    share = rows.weights / rows.total
    if isinstance(rows, _ThinRows) and not rows.direct:
        W = _by_conjugate_gradients(rows, rows.sums(codes, k), alpha)
        own = partial(np.zeros, m)
    elif d <= m:
        factor = _Factor(rows.gram(), alpha, rescale=True)
        W = factor.solve(rows.sums(codes, k).T).T
        own = partial(rows.squares, factor)
    else:
        kernel, root = rows.kernel(), np.sqrt(rows.weights)
        factor = _Factor(kernel.copy(), alpha, rescale=False)
        targets = np.zeros((m, k))
        targets[np.arange(m), codes] = root
        W = rows.back(root[:, None] * factor.solve(targets)).T
        own = partial(_own_of_pairs, kernel, factor)
    return _Ridge(W, np.bincount(codes, share, minlength=k) - W @ rows.centre, lambda: share + own())


def _own_of_pairs(kernel: Floats, factor: _Factor) -> Floats:
    """The diagonal of the inverse times the kernel."""
    found: Floats = factor.solve(kernel).diagonal()
    return found


def _by_conjugate_gradients(rows: _ThinRows, sums: Floats, alpha: float) -> Floats:
    """The same machines, the equations of each class solved until the residual is small."""
    m, d = rows.shape
    diagonal = (rows.diagonal() + alpha)[:, None]
    _refuse_overflow(diagonal)
    weights, found, worst = rows.weights[:, None], np.zeros_like(sums), 0.0
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
            found[live] += (step * direction).T
            residual = residual - step * bent
            nearer = residual / diagonal
            after = (residual * nearer).sum(axis=0)
            direction = nearer + (after / before) * direction
            before = after
        else:
            worst = max(worst, float((norms / limit).max()) * _RESIDUAL)
    if worst:
        warnings.warn(
            f"the equations are solved up to {worst:.2g} of their right hand side, not {_RESIDUAL:g}, "
            f"in {_MOST_STEPS} steps: increase alpha",
            ConvergenceWarning,
            stacklevel=5,  # who called fit
        )
    return found


def _sums(rows: Any, codes: Indices, weights: Floats, k: int) -> Any:
    """The weighted sum of the examples of each class."""
    m = len(codes)
    return csr_array((weights, (codes, np.arange(m))), shape=(k, m)) @ rows


def _classes(labels: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, found 1 class: {classes.tolist()}")
    return classes, codes


def _weights(sample_weight: ArrayLike | None, classes: NDArray[Any], codes: Indices) -> Floats:
    weights = example_weights(sample_weight, len(codes))
    refuse_idle(weights, classes, codes, "sample_weight")
    return weights


# ---------------------------------------------------------------------------------------------------
# Which classes are confused


def leave_one_out_confusion(
    X: ArrayLike, y: ArrayLike, *, alpha: float = 1.0, sample_weight: ArrayLike | None = None
) -> Floats:
    r"""Which class takes which for another, when each example is predicted by a machine trained without it.

    The machine is :class:`RidgeOneVsAll`. No machine is trained anew: with
    :math:`h_i = w_i \big(1 / \sum_j w_j + x_i^\top (X^\top X + \alpha I)^{-1} x_i\big)`, all centred, the
    scores without example i are :math:`(f(x_i) - h_i e_{y_i}) / (1 - h_i)` (lem-frontier-leave-one-out). So
    it is enough to take :math:`h_i` off the score of the own class.

    Of a sparse matrix with more than 4096 examples and more than 4096 features no :math:`h_i` is computed.
    There the examples of each class are dealt out in turn to five parts, and each part is predicted by a
    machine trained on the four others.

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
    table, labels = validate_data(RidgeOneVsAll(), X, y, accept_sparse="csr", dtype=np.float64)
    classes, codes = _classes(labels)
    weights = _weights(sample_weight, classes, codes)
    k, alpha = len(classes), number(alpha, "alpha", above=0)
    rows = _rows(table, weights)
    if rows.direct:
        found = _ridge(rows, codes, k, alpha)
        guess = _guess(table, found, codes, found.own())
    else:
        guess = _held_out(table, codes, weights, k, alpha)
    counts: Floats = np.zeros((k, k))
    np.add.at(counts, (codes, guess), weights)
    return counts


def _guess(table: Any, found: _Ridge, codes: Indices, own: Floats) -> Indices:
    """The class of the largest score, where each example's own share is taken off."""
    guess = np.empty_like(codes)
    size = max(1, _CHUNK // len(found.biases))
    for start in range(0, len(codes), size):
        part = slice(start, start + size)
        scores = table[part] @ found.weights.T + found.biases
        scores[np.arange(len(scores)), codes[part]] -= own[part]
        guess[part] = scores.argmax(axis=1)
    return guess


def _held_out(table: Any, codes: Indices, weights: Floats, k: int, alpha: float) -> Indices:
    """The answers of five machines, each to the part that it was not trained on."""
    guess, part = np.empty_like(codes), np.empty_like(codes)
    for rows in _members(codes, k):
        part[rows] = np.arange(len(rows)) % 5
    for fifth in range(5):
        train, test = np.flatnonzero(part != fifth), np.flatnonzero(part == fifth)
        found = _ridge(_rows(table[train], weights[train]), codes[train], k, alpha)
        guess[test] = _guess(table[test], found, codes[test], np.zeros(len(test)))
    return guess


def mean_order(
    X: ArrayLike, y: ArrayLike, *, alpha: float = 1.0, sample_weight: ArrayLike | None = None
) -> Indices:
    r"""An order in which classes with near means are near each other (alg-frontier-spectral-order).

    As :func:`spectral_order`, with the affinity :math:`e^{-4 \delta^2 / \bar\delta^2}`: :math:`\delta` is the
    distance of two means in the metric of the covariance inside the classes, pooled, and :math:`\bar\delta^2`
    the mean of :math:`\delta^2` over the pairs of the part that is cut. So every cut is made at the scale of
    its own part, whereas confusions tell of the nearest relatives only. It needs no predictions.

    Parameters
    ----------
    X : (m, d) array-like, sparse matrix or data frame
        A sparse matrix of at most 4096 features: there is a (d, d) table.
    y : (m,) array-like
        Labels of k >= 2 classes.
    alpha : float
        Added to the diagonal of the scatter matrix, positive.
    sample_weight : (m,) array-like, optional
        Weights of the examples.

    Returns
    -------
    (k,) int array
        Each of 0 to k - 1 once, as positions in the sorted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mcutils.data import prototypes
    >>> nature = prototypes(32, random_state=0)
    >>> order = mean_order(*nature.draw(1000, random_state=1))
    >>> halves, true = (set(map(frozenset, np.split(some, 2))) for some in (order, nature.order))
    >>> halves == true
    True
    """
    table, labels = validate_data(RidgeOneVsAll(), X, y, accept_sparse="csr", dtype=np.float64)
    classes, codes = _classes(labels)
    weights = _weights(sample_weight, classes, codes)
    k, alpha = len(classes), number(alpha, "alpha", above=0)
    sizes = np.bincount(codes, weights)
    if issparse(table):
        if table.shape[1] > _DIRECT:
            raise ValueError(
                f"X must have at most {_DIRECT} features where it is sparse, found {table.shape[1]}: "
                "take the order 'confusion' instead of 'means', or fewer features"
            )
        rows = _rows(table, weights)
        means = rows.sums(codes, k) / sizes[:, None]
        scatter = rows.gram() - (means.T * sizes) @ means
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            means = _sums(table, codes, weights, k) / sizes[:, None]
            inside = table - means[codes]
            scatter = (inside.T * weights) @ inside
    # in these coordinates the metric is the Euclidean one, up to a factor
    factor = _Factor(scatter, alpha, rescale=True)
    means = factor.coordinates((means - means.mean(axis=0)).T).T

    def near(part: Indices) -> Floats:
        squares = np.square(pdist(means[part]))
        scale = squares.mean()
        found: Floats = squareform(np.exp(-4 * squares / scale) if scale > 0 else squares)
        return found

    return np.concatenate(_bisected(near, np.arange(len(classes))))


def spectral_order(affinity: ArrayLike) -> Indices:
    r"""An order in which classes that are confused are near each other (alg-frontier-spectral-order).

    With :math:`A = (C + C^\top)/2`, zeros on the diagonal and the degrees
    :math:`D = \operatorname{diag}(A 1)`, the classes are sorted by :math:`D^{-1/2} v`, where v is the
    eigenvector of the second largest eigenvalue of :math:`D^{-1/2} A D^{-1/2}`, and cut in two; each part
    goes on by itself. As in a bracket, the first part has the largest power of two below the number of
    classes; from which end it is taken is decided by the smaller affinity across the cut.

    Parameters
    ----------
    affinity : (k, k) array-like
        C, at least 0: a confusion matrix, or another table of what is near what. Its diagonal is not used. A
        thousandth of its mean is added everywhere, so that a class that is never confused is equally near to
        all others, and joins whichever part has room for it.

    Returns
    -------
    (k,) int array
        Each of 0 to k - 1 once.

    Examples
    --------
    >>> spectral_order([[9, 0, 3, 0], [0, 9, 0, 2], [3, 1, 9, 0], [0, 2, 0, 9]]).reshape(2, 2).tolist()
    [[0, 2], [1, 3]]
    """
    table = np.asarray(affinity, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(table.T) or not len(table):
        raise ValueError(f"affinity must be square, with a row for each class, found shape {table.shape}")
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError("affinity must be finite and at least 0")
    near = (table + table.T) / 2
    np.fill_diagonal(near, 0.0)
    near += near.mean() / 1000
    np.fill_diagonal(near, 0.0)
    return np.concatenate(_bisected(lambda part: near[np.ix_(part, part)], np.arange(len(near))))


def _bisected(near: Callable[[Indices], Floats], classes: Indices) -> list[Indices]:
    """The classes cut in two again and again; ``near`` answers the affinity inside a part."""
    n = len(classes)
    if n <= 2:
        return [classes]
    affinity = near(classes)
    root = np.sqrt(affinity.sum(axis=1))
    if not root.all():
        return [classes]
    _, vectors = eigh(affinity / np.outer(root, root), subset_by_index=[n - 2, n - 2])
    line = np.argsort(vectors[:, 0] / root, kind="stable")
    size = 2 ** ((n - 1).bit_length() - 1)
    cuts = [(line[:size], line[size:]), (line[-size:], line[:-size])]
    best = min(cuts, key=lambda cut: affinity[np.ix_(*cut)].sum())
    # equal halves come in the order of their first class, whatever the sign of the eigenvector
    sides = sorted((classes[np.sort(side)] for side in best), key=lambda side: (-len(side), side[0]))
    return [piece for side in sides for piece in _bisected(near, side)]


# ---------------------------------------------------------------------------------------------------
# What both trees share


@dataclass(frozen=True)
class Eliminations:
    r"""Where examples lose their label on the way through a tree; see :meth:`FilterTree.eliminations`.

    Attributes
    ----------
    entered : (N,) array
        Weight of the examples whose label has lost nowhere before a node, and that the node decides about.
    lost : (N,) array
        Of these, the weight of those that the node sends to another child than that of their label.
    passing : (N,) array
        Weight of all examples whose label is below the node.
    rounds : (N,) int array
        The round of each node, from 1 for the first that is played.
    total : float
        Weight of all examples.
    """

    entered: Floats
    lost: Floats
    passing: Floats
    rounds: Indices
    total: float

    @property
    def rates(self) -> Floats:
        """The error of each node on what entered it; 0 where nothing did."""
        return np.divide(self.lost, self.entered, out=np.zeros_like(self.lost), where=self.entered > 0)

    @property
    def error(self) -> float:
        """What is lost somewhere: the error of the tree (thm-frontier-identity)."""
        return float(self.lost.sum() / self.total)

    @property
    def path_bound(self) -> float:
        """The mean over the examples of the summed errors above their label (thm-frontier-path-error)."""
        return float(self.passing @ self.rates / self.total)

    @property
    def by_round(self) -> Floats:
        """The part of all examples that is lost in each round; in sum the error."""
        found: Floats = np.bincount(self.rounds, self.lost)[1:] / self.total
        return found


class _Tree(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A tree over the classes with a machine at each inner node, which answers the number of a child."""

    estimator: Any
    order: Any
    random_state: Any
    classes_: NDArray[Any]
    order_: Indices
    children_: list[Indices]
    rounds_: Indices
    estimators_: list[Any]
    n_features_in_: int

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Any, Indices, Any]:
        """The examples that weigh something, their classes as numbers, and their weights, None for all 1."""
        seed(self.random_state)
        base = self._base()
        if get_tags(base).input_tags.pairwise:
            raise ValueError(
                f"estimator must learn from examples, not from a precomputed kernel, found {base!r}"
            )
        labels = validate_data(self, X="no_validation", y=y)
        X = selectable(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        check_consistent_length(X, labels)
        self.classes_, codes = _classes(labels)
        if sample_weight is None:
            return X, codes, None
        if "sample_weight" not in signature(base.fit).parameters:
            raise ValueError(f"sample_weight is given, but {base!r} does not take it")
        weights = _weights(sample_weight, self.classes_, codes)
        rows = np.flatnonzero(weights)
        return _safe_indexing(X, rows), codes[rows], weights[rows]

    def _base(self) -> Any:
        return RidgeOneVsAll() if self.estimator is None else self.estimator

    def _ordered(self, X: Any, codes: Indices, weights: Floats | None) -> Indices:
        """The classes, as numbers, in the order of the leaves."""
        k = len(self.classes_)
        if isinstance(self.order, str):
            if self.order == "given":
                return np.arange(k)
            if self.order == "random":
                drawn: Indices = check_random_state(self.random_state).permutation(k)
                return drawn
            if self.order == "confusion":
                return spectral_order(leave_one_out_confusion(X, codes, sample_weight=weights))
            if self.order == "means":
                return mean_order(X, codes, sample_weight=weights)
            raise ValueError(f"order must be one of {ORDERS} or the labels, found {self.order!r}")
        labels = np.asarray(self.order)
        if labels.shape != (k,) or not np.array_equal(np.sort(labels), self.classes_):
            raise ValueError(
                f"order must have each of the classes {self.classes_.tolist()} once, found {labels.tolist()}"
            )
        return np.searchsorted(self.classes_, labels)

    def _grow(self, order: Indices, branching: int) -> None:
        """Join neighbours, ``branching`` at a time, until one is left; one that is left over has a bye."""
        self.order_, self.depth_ = order, 0
        self.children_, self.estimators_, rounds, level = [], [], [], order.tolist()
        while len(level) > 1:
            self.depth_ += 1
            joined = []
            for start in range(0, len(level), branching):
                group = level[start : start + branching]
                if len(group) > 1:
                    self.children_.append(np.array(group))
                    rounds.append(self.depth_)
                joined.append(group[0] if len(group) == 1 else len(order) + len(rounds) - 1)
            level = joined
        self.rounds_ = np.array(rounds)
        self.n_examples_ = np.zeros(len(rounds), dtype=np.intp)

    def _fit_next(self, X: Any, parts: Sequence[Indices], weights: Floats | None) -> None:
        """A machine that tells the parts apart; where fewer than two have examples, the number of one."""
        sizes = [len(part) for part in parts]
        self.n_examples_[len(self.estimators_)] = sum(sizes)
        if np.count_nonzero(sizes) < 2:
            self.estimators_.append(int(np.argmax(sizes)))
            return
        rows = np.concatenate(parts)
        # in the order in which they came: some machines look at one after the other
        into_order = np.argsort(rows, kind="stable")
        rows = rows[into_order]
        known = {} if weights is None else {"sample_weight": weights[rows]}
        targets = np.repeat(np.arange(len(parts)), sizes)[into_order]
        machine = clone(self._base())
        try:
            self.estimators_.append(machine.fit(_safe_indexing(X, rows), targets, **known))
        except Exception as error:
            place = f"node {len(self.estimators_)} of {len(self.children_)} (counted from 0)"
            error.add_note(f"This was raised by {machine!r} while fitting {place}.")
            raise

    def _answers(self, node: int, X: Any, rows: Indices) -> Indices:
        """The number of the child to which a node sends some of the examples."""
        machine = self.estimators_[node]
        if isinstance(machine, int) or not len(rows):
            return np.full(len(rows), machine if isinstance(machine, int) else 0)
        answers: Indices = machine.predict(_safe_indexing(X, rows))
        return answers

    def _right(self, node: int, X: Any, parts: Sequence[Indices]) -> NDArray[np.bool_]:
        """Of the examples below each child, all in a row, which the node sends to it."""
        sent = [self._answers(node, X, rows) == number for number, rows in enumerate(parts)]
        return np.concatenate(sent)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the leaf that is reached from the root.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        check_is_fitted(self)
        if self._linear is None or issparse(X):
            labels: NDArray[Any] = self.classes_[self._descended(selectable(X))]
            return labels
        from ..jit import descend

        table = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        answer = np.empty(len(table), dtype=np.intp)
        descend.leaves(table, *self._linear, answer)
        labels = self.classes_[answer]
        return labels

    def _descended(self, X: Any) -> Indices:
        """The leaves, by the machines' own answers, a node at a time."""
        k, n = len(self.classes_), X.shape[0]
        at = np.empty(n, dtype=np.intp)
        waiting = {k + len(self.children_) - 1: np.arange(n)}
        for node in range(len(self.children_) - 1, -1, -1):
            rows = waiting.pop(k + node)
            answers = self._answers(node, X, rows)
            for place, child in enumerate(self.children_[node].tolist()):
                waiting[child] = rows[answers == place]
        for leaf, rows in waiting.items():
            at[rows] = leaf
        return at

    def _stack(self, X: Any) -> None:
        """If all machines are linear, keep them in one table, where a compiled loop can read them.

        Where they learnt from sparse rows they go without: such rows are sent on a node at a time, and their
        tables are large.
        """
        self._linear: tuple[Floats, Floats, Indices, Indices, Indices] | None = None
        if issparse(X):
            return
        plain = LinearClassifierMixin.decision_function
        for machine, children in zip(self.estimators_, self.children_, strict=True):
            if isinstance(machine, (int, LinearDiscriminantAnalysis)):
                continue
            # SVC has a weight vector for each pair of more than two classes
            if not is_linear(machine) or (
                len(children) > 2 and getattr(type(machine), "decision_function", None) is not plain
            ):
                return
        weights: list[Floats] = []
        biases: list[Floats] = []
        for machine in self.estimators_:
            if isinstance(machine, int):  # always the same child: no weights, and the bias decides
                weights.append(np.zeros((1, self.n_features_in_)))
                biases.append(np.array([2.0 * machine - 1.0]))
            else:
                weights.append(machine.coef_)
                biases.append(np.ravel(machine.intercept_))
        rows = np.cumsum([0, *map(len, biases[:-1])])
        table = np.ascontiguousarray(np.vstack(weights), dtype=np.float64)
        starts = np.cumsum([0, *map(len, self.children_)])
        children = np.concatenate(self.children_)
        self._linear = table, np.concatenate(biases, dtype=np.float64), rows, children, starts

    def _known(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Any, Indices, Floats]:
        """Examples to be judged on, their classes as numbers, and their weights."""
        check_is_fitted(self)
        X, labels = selectable(X), np.asarray(y)
        check_consistent_length(X, labels)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y has labels that were not in fit: {unknown[:6].tolist()}")
        return X, np.searchsorted(self.classes_, labels), example_weights(sample_weight, len(labels))

    def _eliminations(
        self, entered: list[float], lost: list[float], codes: Indices, weights: Floats
    ) -> Eliminations:
        below = np.zeros(len(self.classes_) + len(self.children_))
        below[: len(self.classes_)] = np.bincount(codes, weights, minlength=len(self.classes_))
        for node, children in enumerate(self.children_, start=len(self.classes_)):
            below[node] = below[children].sum()
        passing = below[len(self.classes_) :]
        return Eliminations(np.array(entered), np.array(lost), passing, self.rounds_, float(weights.sum()))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base()).input_tags
        dense = isinstance(self.order, str) and self.order in ("confusion", "means")
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan and not dense
        return tags


# ---------------------------------------------------------------------------------------------------
# The two trees


class FilterTree(_Tree):
    r"""A tournament whose matches are learnt from those who get to them (def-frontier-filter-tree).

    Neighbours in the order meet, and the last of an odd number has a bye, as in
    :func:`mcutils.reduction.tournament`. The machine of a match learns which of the two sides has the label,
    from the examples whose label has won all its matches before (alg-frontier-filter-tree); so the machines
    are trained from the leaves to the root, k - 1 of them. To predict, the way goes from the root to a leaf:
    :math:`\lceil \log_2 k \rceil` machines are asked.

    Parameters
    ----------
    estimator : estimator, optional
        A binary classifier, by default :class:`RidgeOneVsAll`. A clone is fitted to each match, labels 0 and
        1 for the first and the second side. Of its answers only ``predict`` is used.
    order : {"given", "random", "confusion", "means"} or array-like of labels
        The order of the leaves: that of ``classes_``, a random one, the :func:`spectral_order` of
        :func:`leave_one_out_confusion`, the :func:`mean_order`, or one of your own.
    random_state : int, RandomState or None
        Draws the random order. It is not passed on: a random estimator has its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    order_ : (k,) int array
        The leaves, as positions in ``classes_``.
    children_ : list of k - 1 int arrays
        The two sides of each match: leaves below k, and match n as k + n.
    rounds_ : (k - 1,) int array
        The round of each match, from 1.
    depth_ : int
        Number of rounds.
    estimators_ : list of k - 1 estimators
        The machines of the matches; where no example came to one side, the number of the side that always
        wins.
    n_examples_ : int array
        How many examples each machine was trained on.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Machines known to be linear are not asked one by one: a compiled loop goes from the root to the leaf. It
    adds up in another order than they do alone, so that a score that is zero but for rounding may get another
    sign.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = FilterTree(order=[1, 2, 0]).fit(X, y)
    >>> [children.tolist() for children in machine.children_]
    [[1, 2], [3, 0]]
    >>> found = machine.eliminations(X, y)
    >>> found.entered.astype(int).tolist(), found.lost.astype(int).tolist()
    ([100, 147], [3, 0])
    >>> round(found.error, 4) == round(1 - machine.score(X, y), 4), round(found.path_bound, 4)
    (True, 0.02)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: str | ArrayLike = "given",
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.order = order
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the machines of all matches, from the first round to the last.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        y : (m,) array-like
            Labels of any type that can be sorted, of at least two classes.
        sample_weight : (m,) array-like, optional
            Passed on to the estimator, its entries selected; refused if the estimator takes none. An example
            of weight 0 is ignored.

        Returns
        -------
        FilterTree
        """
        X, codes, weights = self._prepare(X, y, sample_weight)
        self._grow(self._ordered(X, codes, weights), 2)
        alive = _members(codes, len(self.classes_))
        for node, children in enumerate(self.children_):
            sides = [alive[child] for child in children]
            self._fit_next(X, sides, weights)
            alive.append(np.concatenate(sides)[self._right(node, X, sides)])
        self._stack(X)
        return self

    def fit_costs(self, X: Any, costs: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Train with a cost of each answer for each example (alg-frontier-filter-tree).

        A match learns, for every example, which of the two classes that came to it is the cheaper, with the
        difference of their costs as the weight. Costs that are 0 for the label and 1 elsewhere give what
        :meth:`fit` does with equal weights. Time and memory grow as mk.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        costs : (m, k) array-like
            What each answer costs for each example; finite. The estimator must take ``sample_weight``.
        classes : (k,) array-like, optional
            The labels of the columns, sorted; by default 0 to k - 1.

        Returns
        -------
        FilterTree
        """
        table = np.asarray(costs, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
            raise ValueError(
                f"costs must be finite, a row for each example and k >= 2 columns, found shape {table.shape}"
            )
        k = table.shape[1]
        labels = np.arange(k) if classes is None else np.asarray(classes)
        if labels.shape != (k,) or not np.array_equal(np.unique(labels), labels):
            raise ValueError(f"classes must be {k} labels, sorted and different, found {labels.tolist()}")
        if isinstance(self.order, str) and self.order in ("confusion", "means"):
            raise ValueError(f"order={self.order!r} needs labels; with costs give an order of your own")
        base = self._base()
        if "sample_weight" not in signature(base.fit).parameters:
            raise ValueError(f"costs are weights of examples, but {base!r} does not take sample_weight")
        seed(self.random_state)
        X, every = selectable(X), np.arange(len(table))
        validate_data(self, X, reset=True, skip_check_array=True)
        check_consistent_length(X, table)
        self.classes_ = labels
        self._grow(self._ordered(X, every, None), 2)
        winners: list[Any] = list(range(k))
        for node, (first, second) in enumerate(self.children_):
            lead = table[every, winners[second]] - table[every, winners[first]]
            sides = [np.flatnonzero(lead > 0), np.flatnonzero(lead < 0)]
            self._fit_next(X, sides, np.abs(lead))
            won = self._answers(node, X, every)
            winners.append(np.where(won == 1, winners[second], winners[first]))
        self._stack(X)
        return self

    def eliminations(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Eliminations:
        """In which match each label loses, on examples of your choice.

        Those who enter a match are the examples whose label has won all its matches before. A mistake of the
        tree is the loss of exactly one match (thm-frontier-identity), and its share is at most the mean
        error of the matches on the label's way to the root, summed (thm-frontier-path-error).

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among ``classes_``.
        sample_weight : (n,) array-like, optional

        Returns
        -------
        Eliminations
        """
        X, codes, weights = self._known(X, y, sample_weight)
        alive = _members(codes, len(self.classes_))
        entered, lost = [], []
        for node, children in enumerate(self.children_):
            sides = [alive[child] for child in children]
            rows, right = np.concatenate(sides), self._right(node, X, sides)
            entered.append(float(weights[rows].sum()))
            lost.append(float(weights[rows[~right]].sum()))
            alive.append(rows[right])
        return self._eliminations(entered, lost, codes, weights)


def _members(codes: Indices, k: int) -> list[Indices]:
    """The examples of each class, ascending."""
    ends = np.bincount(codes, minlength=k).cumsum()
    return np.split(np.argsort(codes, kind="stable"), ends[:-1])


class LabelTree(_Tree):
    r"""A tree of sets of labels, with a classifier of few classes at each node (def-frontier-label-tree).

    Neighbours in the order are joined, ``branching`` at a time, then the joined ones, until one set is left.
    The machine of a node learns, from all examples whose label is in its set, in which part the label is. To
    predict, the way goes from the root to a leaf.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier, by default :class:`RidgeOneVsAll`. A clone is fitted to each node, labels from 0 on for
        the parts in their order. Of its answers only ``predict`` is used.
    branching : int
        The most children of a node, at least 2. From k on the tree is flat: one machine for all classes.
    order : {"given", "random", "confusion", "means"} or array-like of labels
        The order of the leaves, as for :class:`FilterTree`.
    random_state : int, RandomState or None
        Draws the random order. It is not passed on: a random estimator has its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    order_ : (k,) int array
        The leaves, as positions in ``classes_``.
    children_ : list of int arrays
        The children of each node: leaves below k, and node n as k + n.
    rounds_ : (N,) int array
        The height of each node, from 1.
    depth_ : int
        The height of the root.
    estimators_ : list of N estimators
        The machines of the nodes.
    n_examples_ : int array
        How many examples each machine was trained on.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Machines known to be linear are not asked one by one: a compiled loop goes from the root to the leaf. It
    adds up in another order than they do alone, so that scores that are equal but for rounding may be ordered
    otherwise.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = LabelTree(branching=4).fit(X, y)
    >>> [children.tolist() for children in machine.children_], machine.depth_
    ([[0, 6, 5, 9], [1, 8, 2, 3], [4, 7], [10, 11, 12]], 2)
    >>> machine.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        branching: int = 2,
        order: str | ArrayLike = "confusion",
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.branching = branching
        self.order = order
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the machines of all nodes.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        y : (m,) array-like
            Labels of any type that can be sorted, of at least two classes.
        sample_weight : (m,) array-like, optional
            Passed on to the estimator, its entries selected; refused if the estimator takes none. An example
            of weight 0 is ignored.

        Returns
        -------
        LabelTree
        """
        most = integer(self.branching, "branching", 2)
        X, codes, weights = self._prepare(X, y, sample_weight)
        self._grow(self._ordered(X, codes, weights), most)
        below = _members(codes, len(self.classes_))
        for children in self.children_:
            parts = [below[child] for child in children]
            self._fit_next(X, parts, weights)
            below.append(np.concatenate(parts))
        self._stack(X)
        return self

    def eliminations(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Eliminations:
        """At which node each example leaves the way to its label, on examples of your choice.

        Those who enter a node are the examples that no node above has sent another way. Otherwise as
        :meth:`FilterTree.eliminations`; rounds are heights, the root last.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among ``classes_``.
        sample_weight : (n,) array-like, optional

        Returns
        -------
        Eliminations
        """
        X, codes, weights = self._known(X, y, sample_weight)
        below = _members(codes, len(self.classes_))
        for children in self.children_:
            below.append(np.concatenate([below[child] for child in children]))
        on_way = np.ones(len(codes), dtype=bool)
        n_nodes = len(self.children_)
        entered, lost = [0.0] * n_nodes, [0.0] * n_nodes
        for node in range(n_nodes - 1, -1, -1):
            parts = [below[child][on_way[below[child]]] for child in self.children_[node]]
            rows, right = np.concatenate(parts), self._right(node, X, parts)
            on_way[rows] = right
            entered[node] = float(weights[rows].sum())
            lost[node] = float(weights[rows[~right]].sum())
        return self._eliminations(entered, lost, codes, weights)
