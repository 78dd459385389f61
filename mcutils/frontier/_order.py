"""Orders of the classes in which those that are confused, or near, are near each other."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import validate_data

from .._base import class_codes
from .._checks import number, reals
from .._typing import Floats, Ints
from ._ridge import DIRECT, Factor, RidgeOneVsAll, centred_rows, checked_weights, class_sums


def mean_order(
    X: ArrayLike, y: ArrayLike, *, alpha: float = 1.0, sample_weight: ArrayLike | None = None
) -> Ints:
    r"""An order in which classes with near means are near each other (alg-frontier-spectral-order).

    As :func:`spectral_order`, with the affinity :math:`e^{-4 \delta^2 / \bar\delta^2}`: :math:`\delta` is the
    distance of two means in the metric of the covariance inside the classes, pooled, and :math:`\bar\delta^2`
    the mean of :math:`\delta^2` over the pairs of the part that is cut. So every cut is made at the scale of
    its own part, whereas confusions show the nearest relatives only. It needs no predictions.

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
    points, labels = validate_data(RidgeOneVsAll(), X, y, accept_sparse="csr", dtype=np.float64)
    classes, codes = class_codes(labels)
    weights = checked_weights(sample_weight, classes, codes)
    k, alpha = len(classes), number(alpha, "alpha", above=0)
    sizes = np.bincount(codes, weights)
    if issparse(points):
        if points.shape[1] > DIRECT:
            raise ValueError(
                f"X must have at most {DIRECT} features where it is sparse, found {points.shape[1]}: "
                "take the order 'confusion' instead of 'means', or fewer features"
            )
        rows = centred_rows(points, weights)
        means = rows.sums(codes, k) / sizes[:, None]
        scatter = rows.gram() - (means.T * sizes) @ means
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            means = class_sums(points, codes, weights, k) / sizes[:, None]
            inside = points - means[codes]
            scatter = (inside.T * weights) @ inside
    # in these coordinates the metric is the Euclidean one, up to a factor
    factor = Factor(scatter, alpha, rescale=True)
    means = factor.coordinates((means - means.mean(axis=0)).T).T

    def near(part: Ints) -> Floats:
        squares = np.square(pdist(means[part]))
        scale = squares.mean()
        nearness: Floats = squareform(np.exp(-4 * squares / scale) if scale > 0 else squares)
        return nearness

    return np.concatenate(_bisected(near, np.arange(len(classes))))


def spectral_order(affinity: ArrayLike) -> Ints:
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
    points = reals(affinity, "affinity")
    if points.ndim != 2 or len(points) != len(points.T) or not len(points):
        raise ValueError(f"affinity must be square, with a row for each class, found shape {points.shape}")
    if points.min() < 0:
        raise ValueError(f"affinity must be at least 0, found {points.min()}")
    near = (points + points.T) / 2
    np.fill_diagonal(near, 0.0)
    near += near.mean() / 1000
    np.fill_diagonal(near, 0.0)
    return np.concatenate(_bisected(lambda part: near[np.ix_(part, part)], np.arange(len(near))))


def _bisected(near: Callable[[Ints], Floats], classes: Ints) -> list[Ints]:
    """The classes cut in two again and again; ``near`` returns the affinity inside a part."""
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
