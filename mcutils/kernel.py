r"""Kernels: inner products of features that are never written down.

A *kernel* is a symmetric function :math:`K(x, z)` of two inputs whose Gram matrices
:math:`\mathbf K = (K(x_i, x_j))_{ij}` are all positive semidefinite (def-classes-pds); then and only then
:math:`K(x, z) = \langle \phi(x), \phi(z) \rangle` for a map :math:`\phi` into a Hilbert space
(thm-background-moore-aronszajn). What a classifier or a bound needs of the features is in the Gram matrix, so
that is what a :class:`Kernel` computes: whole, in blocks of rows, or only its diagonal. Sums, products and
positive multiples of kernels are kernels (prop-classes-kernels), and are written as such. Inputs may be
sparse.

>>> from mcutils import kernel
>>> kernel.linear.gram([[1.0, 0.0], [1.0, 2.0]])
array([[1., 1.],
       [1., 5.]])
>>> kernel.polynomial(2, b=1.0).gram([[1.0], [2.0]], [[3.0]])
array([[16.],
       [49.]])
>>> (2.0 * kernel.linear + kernel.rbf(1.0)).gram([[1.0], [2.0]]).round(4)
array([[3.    , 4.3679],
       [4.3679, 9.    ]])
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations_with_replacement
from math import comb
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.special import gammainc

from ._checks import integer, kernel_parameters, number_that, point_matrix, squarable

__all__ = [
    "Kernel",
    "NotPositiveSemidefinite",
    "Spectrum",
    "check_psd",
    "linear",
    "polynomial",
    "precomputed",
    "rbf",
    "rbf_features",
    "rbf_truncation",
    "resolve",
]

Floats = NDArray[np.float64]
Points: TypeAlias = Any  # an array-like or a sparse matrix of numbers, a row for each input


@dataclass(frozen=True)
class Kernel:
    r"""A kernel :math:`K`, made by :func:`polynomial`, :func:`rbf` or one of the two without parameters.

    Kernels can be added and multiplied with each other and with positive numbers, but for
    :data:`precomputed`, whose inputs are not points.

    Parameters
    ----------
    name : str
        What it is called in messages.
    parameters : mapping
        Its parameters, by the names of the formula; for a sum, product or multiple what it is made of.
    block : callable
        :math:`(X, Z) \mapsto (K(x_i, z_j))_{ij}` on float64 arrays, or CSR arrays, of rows.
    self_products : callable
        :math:`X \mapsto (K(x_i, x_i))_i`.

    Examples
    --------
    >>> from mcutils import kernel
    >>> kernel.rbf(0.5)
    Kernel(name='rbf', parameters={'gamma': 0.5})
    >>> (kernel.linear * kernel.linear).gram([[3.0]])
    array([[81.]])
    """

    name: str
    parameters: Mapping[str, Any]
    block: Callable[[Any, Any], Floats] = field(repr=False, compare=False)
    self_products: Callable[[Any], Floats] = field(repr=False, compare=False)

    __array_ufunc__ = None  # a number of numpy's leaves the multiplication to the kernel

    def __add__(self, other: "Kernel") -> "Kernel":
        """The kernel of both feature vectors in a row."""
        return _combination("sum", np.add, self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        """The kernel of all products of two features, or of the features times a root of the number."""
        if isinstance(other, Kernel):
            return _combination("product", np.multiply, self, other)
        if not isinstance(other, (int, float, np.integer, np.floating)):
            return NotImplemented
        _no_matrices("multiple", self)
        factor = number_that(other, "the factor of a kernel", "a positive number", lambda v: v > 0)
        return Kernel(
            "multiple",
            {"factor": factor, "of": self},
            partial(_multiple, factor, self.block),
            partial(_multiple, factor, self.self_products),
        )

    __rmul__ = __mul__

    def gram(self, X: Points, Z: Points | None = None) -> Floats:
        r"""The matrix :math:`(K(x_i, z_j))_{ij}`; without Z the Gram matrix of X, exactly symmetric.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            A row for each input.
        Z : array-like or sparse matrix of shape (n, d), optional
            The inputs of the columns.

        Returns
        -------
        (m, n) or (m, m) array

        Examples
        --------
        >>> from mcutils import kernel
        >>> kernel.rbf(1.0).gram([[0.0], [1.0]]).round(4)
        array([[1.    , 0.3679],
               [0.3679, 1.    ]])
        """
        rows = point_matrix(X, "X")
        if Z is None:
            matrix = self._finite(self.block, rows, rows)
            return (matrix + matrix.T) / 2
        columns = point_matrix(Z, "Z", rows.shape[1])
        return self._finite(self.block, rows, columns)

    def diagonal(self, X: Points) -> Floats:
        r"""The numbers :math:`K(x_i, x_i) = \|\phi(x_i)\|^2`, without the rest of the Gram matrix.

        Their sum is :math:`\operatorname{tr} \mathbf K`, and the root of their maximum is the smallest radius
        :math:`r` that fits the sample (prop-classes-ball).

        Examples
        --------
        >>> from mcutils import kernel
        >>> kernel.linear.diagonal([[3.0, 4.0], [0.0, 1.0]])
        array([25.,  1.])
        """
        return self._finite(self.self_products, point_matrix(X, "X"))

    def blocks(
        self, X: Points, Z: Points | None = None, *, size: int = 1024
    ) -> Iterator[tuple[slice, Floats]]:
        """The rows of :meth:`gram`, at most ``size`` at a time: for a matrix that does not fit into memory.

        Yields
        ------
        rows : slice
            Which rows of X.
        block : (size, n) array
            Those rows of the Gram matrix; the last block may have fewer.

        Examples
        --------
        >>> from mcutils import kernel
        >>> [(rows.start, rows.stop) for rows, _ in kernel.linear.blocks([[1.0], [2.0], [3.0]], size=2)]
        [(0, 2), (2, 3)]
        """
        size = integer(size, "size", 1)
        rows = point_matrix(X, "X")
        columns = rows if Z is None else point_matrix(Z, "Z", rows.shape[1])
        m = rows.shape[0]
        for start in range(0, m, size):
            part = slice(start, min(start + size, m))
            yield part, self._finite(self.block, rows[part], columns)

    def expand(self, X: Points, points: Points, coefficients: ArrayLike) -> Floats:
        r"""The function :math:`x \mapsto \sum_j c_j K(x, z_j)` at every row of X, in blocks of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Where to evaluate. For :data:`precomputed`: row i is :math:`(K(x_i, z))_z` for all points z of
            the training, also those that have no coefficient.
        points : array-like or sparse matrix of shape (s, d)
            The points :math:`z_j`. For :data:`precomputed`: the s numbers of their columns in X.
        coefficients : array-like of shape (s,)
            The numbers :math:`c_j`. With none, the function is 0.

        Returns
        -------
        (n,) array

        Examples
        --------
        >>> from mcutils import kernel
        >>> kernel.linear.expand([[1.0], [2.0]], [[3.0], [4.0]], [1.0, -1.0])
        array([-1., -2.])
        >>> kernel.precomputed.expand([[3.0, 7.0, 4.0]], [0, 2], [1.0, -1.0])
        array([-1.])
        """
        weights = np.asarray(coefficients, dtype=np.float64)
        if self.name == "precomputed":
            values: Floats = point_matrix(X, "X")[:, np.asarray(points, dtype=np.intp)] @ weights
            return values
        if not len(weights):
            return np.zeros(point_matrix(X, "X").shape[0])
        return np.concatenate([block @ weights for _, block in self.blocks(X, points)])

    def _against(self, Z: Any) -> Callable[..., Floats]:
        r"""The function :math:`X \mapsto (K(x_i, z_j))_{ij}` for points that stay the same.

        Nothing is checked. It may fill an array that is given as ``out``, and begin at a later one of the
        points. For the RBF kernel all exponents are one product of matrices,

        .. math:: -\gamma \|x - z\|^2
           = \langle (2 \gamma x, -\gamma \|x\|^2, 1), (z, 1, -\gamma \|z\|^2) \rangle,

        and the memory is passed over three times, where :func:`_bell` takes six.
        """
        compute: Any = self.block
        if issparse(Z) or getattr(compute, "func", None) is not _bell:
            return lambda X, out=None, first=0: compute(X, Z[first:])
        gamma = Z.dtype.type(compute.args[0])
        centre = Z.mean(axis=0)
        right = np.empty((len(Z), Z.shape[1] + 2), Z.dtype)
        np.subtract(Z, centre, out=right[:, :-2])
        right[:, -1] = -gamma * _squares(right[:, :-2])
        right[:, -2] = 1.0

        def block(X: Any, out: Floats | None = None, first: int = 0) -> Floats:
            left = np.empty((len(X), X.shape[1] + 2), Z.dtype)
            np.subtract(X, centre, out=left[:, :-2])
            left[:, -2] = -gamma * _squares(left[:, :-2])
            left[:, :-2] *= 2 * gamma
            left[:, -1] = 1.0
            exponents: Floats = np.matmul(left, right[first:].T, out=out)
            np.minimum(exponents, 0.0, out=exponents)
            return np.exp(exponents, out=exponents)

        return block

    def _finite(self, compute: Callable[..., Floats], *points: Any) -> Floats:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # refused below, in a sentence
            values = compute(*points)
        self._refuse_infinite(values)
        return values

    def _refuse_infinite(self, values: Floats) -> None:
        """Refuse what kernel values made, if one of them is not finite."""
        if not np.isfinite(values).all():
            raise ValueError(f"the {self.name} kernel leaves the range of floating point; scale X")


def _combination(name: str, combine: Callable[..., Floats], first: Kernel, second: Kernel) -> Kernel:
    _no_matrices(name, first, second)
    return Kernel(
        name,
        {"first": first, "second": second},
        partial(_both, combine, first.block, second.block),
        partial(_both, combine, first.self_products, second.self_products),
    )


def _no_matrices(name: str, *parts: Kernel) -> None:
    if any(one.name == "precomputed" for one in parts):
        raise ValueError(f"a precomputed kernel has no points to make a {name} with: combine the matrices")


def _both(
    combine: Callable[..., Floats], first: Callable[..., Floats], second: Callable[..., Floats], *points: Any
) -> Floats:
    return combine(first(*points), second(*points))


def _multiple(factor: float, compute: Callable[..., Floats], *points: Any) -> Floats:
    return factor * compute(*points)


def _squares(X: Any) -> Floats:
    if not issparse(X):
        squares: Floats = np.einsum("ij,ij->i", X, X)
        return squares
    # without entries in several parts every entry is squared where it stands, and nothing else is copied
    whole = X.format == "csr" and X.has_canonical_format
    own = type(X)((X.data**2, X.indices, X.indptr), shape=X.shape) if whole else X.multiply(X)
    sums: Floats = np.asarray(own.sum(axis=1)).ravel()  # of a csr_matrix the sum is a matrix
    return sums


def _products(X: Any, Z: Any) -> Floats:
    inner = X @ Z.T
    products: Floats = inner.toarray() if issparse(inner) else inner
    return products


linear = Kernel("linear", {}, _products, _squares)
r"""The linear kernel :math:`K(x, z) = \langle x, z \rangle`."""


def polynomial(q: int, a: float = 1.0, b: float = 0.0) -> Kernel:
    r"""The polynomial kernel :math:`K(x, z) = (\langle x, z \rangle / a + b)^q`.

    Parameters
    ----------
    q : int
        The degree, a natural number from 1. With a fraction there are inputs whose Gram matrix is not
        positive semidefinite.
    a : float, default=1.0
        Positive: the scale of the inner products.
    b : float, default=0.0
        Not negative. With :math:`b = 0` the features are the monomials of degree q, with :math:`b > 0` those
        of degree at most q.

    Examples
    --------
    >>> from mcutils import kernel
    >>> kernel.polynomial(3, a=2.0, b=1.0).gram([[2.0]])
    array([[27.]])
    >>> kernel.polynomial(2, b=-1.0)
    Traceback (most recent call last):
        ...
    ValueError: b must be a number, at least 0, found -1.0
    """
    degree = integer(q, "q", 1)
    scale = number_that(a, "a", "a positive number", lambda v: v > 0)
    shift = number_that(b, "b", "a number, at least 0", lambda v: v >= 0)
    power = partial(_power, degree, scale, shift)
    return Kernel(
        "poly",
        {"q": degree, "a": scale, "b": shift},
        partial(power, _products),
        partial(power, _squares),
    )


def _power(q: int, a: float, b: float, compute: Callable[..., Floats], *points: Any) -> Floats:
    values: Floats = (compute(*points) / a + b) ** q
    return values


def rbf(gamma: float) -> Kernel:
    r"""The radial basis function, or Gaussian, kernel :math:`K(x, z) = e^{-\gamma \|x - z\|^2}`.

    Every input has the norm :math:`\sqrt{K(x, x)} = 1` in feature space, so that the radius of
    prop-classes-ball is 1 whatever the data are.

    Parameters
    ----------
    gamma : float
        Positive.

    Examples
    --------
    >>> from mcutils import kernel
    >>> kernel.rbf(0.5).gram([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """
    width = number_that(gamma, "gamma", "a positive number", lambda v: v > 0)

    return Kernel("rbf", {"gamma": width}, partial(_bell, width), _ones)


def _bell(gamma: float, X: Any, Z: Any) -> Floats:
    x, z = X, Z
    # |x - z|^2 = |x|^2 + |z|^2 - 2 <x, z>, around a centre: far from 0 the three terms would cancel.
    # Sparse rows stay around 0, where most of their entries are.
    if not (issparse(X) or issparse(Z)):
        centre = Z.mean(axis=0)
        x, z = X - centre, Z - centre
    # in place: a pass over memory takes as long as the exponential
    distances: Floats = _squares(x)[:, None] + _squares(z)
    products = _products(x, z)
    products *= 2
    distances -= products
    if X is Z:
        np.fill_diagonal(distances, 0.0)
    np.maximum(distances, 0.0, out=distances)
    distances *= -gamma
    return np.exp(distances, out=distances)


def _ones(X: Any) -> Floats:
    return np.ones(X.shape[0])


def _no_columns(X: Any, Z: Any) -> Floats:
    if issparse(X):
        raise ValueError("a precomputed kernel is a dense matrix, found a sparse one")
    if X.shape[0] != X.shape[1] or not np.array_equal(X, Z):
        raise ValueError(
            "a precomputed kernel has its own Gram matrix only: give that square matrix as X, and no Z"
        )
    check_psd(X)
    matrix: Floats = X
    return matrix


def _own_diagonal(X: Any) -> Floats:
    return np.diag(_no_columns(X, X)).copy()


precomputed = Kernel("precomputed", {}, _no_columns, _own_diagonal)
"""The kernel whose inputs are its values, in the rows of a Gram matrix, in the place of points."""


def resolve(
    kernel: str | Kernel, gamma: float | str, degree: int, coef0: float, X: Points | None = None
) -> Kernel:
    r"""The kernel that an estimator's parameters name, by scikit-learn's conventions.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "precomputed"} or Kernel
        A :class:`Kernel` is returned as it is.
    gamma : float, "scale" or "auto"
        Of "rbf": :math:`e^{-\gamma \|x - z\|^2}`, and of "poly":
        :math:`(\gamma \langle x, z \rangle + \text{coef0})^q`, where it is :math:`1 / a`. "auto" is
        :math:`1 / d` for d features; "scale" is that divided by the variance of all entries of X, and 1 if
        this is 0.
    degree : int
        Of "poly": q.
    coef0 : float
        Of "poly".
    X : array-like or sparse matrix of shape (m, d), optional
        The training sample, for "scale" and "auto".

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from mcutils import kernel
    >>> kernel.resolve("rbf", "scale", 3, 0.0, [[0.0, 4.0], [4.0, 0.0]])
    Kernel(name='rbf', parameters={'gamma': 0.125})
    >>> kernel.resolve("poly", 0.5, 2, 1.0)
    Kernel(name='poly', parameters={'q': 2, 'a': 2.0, 'b': 1.0})
    """
    kernel_parameters(gamma, degree, coef0)
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str) or kernel not in ("linear", "poly", "rbf", "precomputed"):
        raise ValueError(
            "kernel must be 'linear', 'poly', 'rbf', 'precomputed' or a Kernel of mcutils.kernel, "
            f"found {kernel!r}"
        )
    if kernel == "linear":
        return linear
    if kernel == "precomputed":
        return precomputed
    if isinstance(gamma, str) and gamma in ("scale", "auto"):
        sample = point_matrix(X, "X")
        squarable(sample)
        variance = 1.0
        if gamma == "scale":
            square_mean = sample.multiply(sample).mean() if issparse(sample) else 0.0
            variance = square_mean - sample.mean() ** 2 if issparse(sample) else sample.var()
        width = 1 / (sample.shape[1] * variance) if variance else 1.0
    else:
        width = float(gamma)
    return rbf(width) if kernel == "rbf" else polynomial(degree, 1 / width, coef0)


def rbf_features(X: ArrayLike, gamma: float, degree: int) -> Floats:
    r"""The features of the RBF kernel up to a degree: those of all monomials of at most that degree.

    The feature of the exponents :math:`(q_1, \dots, q_d)` is (prop-kernel-series)

    .. math:: \prod_{j=1}^d e^{-\gamma x_j^2} \sqrt{\frac{(2 \gamma)^{q_j}}{q_j!}} x_j^{q_j}.

    Each factor is the root of a probability, up to its sign: that of :math:`q_j` under the Poisson
    distribution of mean :math:`2 \gamma x_j^2`. So no feature exceeds 1, however large x is.

    Parameters
    ----------
    X : array-like of shape (m, d)
        A row for each input.
    gamma : float
        Positive.
    degree : int
        At least 0.

    Returns
    -------
    (m, n) array
        The features, n = (d + degree choose d), by degree, and lexicographically
        within a degree. Inner products of rows differ from the RBF kernel by at most :func:`rbf_truncation`.

    Examples
    --------
    >>> import numpy as np
    >>> from mcutils import kernel
    >>> X = np.array([[0.3, 0.4], [-0.5, 0.0]])
    >>> features = kernel.rbf_features(X, 1.0, 6)
    >>> features.shape
    (2, 28)
    >>> gap = np.abs(features @ features.T - kernel.rbf(1.0).gram(X)).max()
    >>> bool(0 < gap < kernel.rbf_truncation(1.0, 0.51, 0.51, 6) < 2e-6)
    True
    """
    points = point_matrix(X, "X")
    if issparse(points):
        raise ValueError("X must be dense, found a sparse matrix: few of the features would be 0")
    width = number_that(gamma, "gamma", "a positive number", lambda v: v > 0)
    squarable(points)
    highest = integer(degree, "degree", 0)
    m, d = points.shape
    n = comb(d + highest, d)
    if m * n > 2**27:
        raise ValueError(f"degree {highest} in {d} dimensions has {n} features: too many for {m} inputs")
    factors = [np.exp(-width * points**2)]  # factors[p][:, j]: the factor of coordinate j at the exponent p
    for p in range(1, highest + 1):
        factors.append(factors[-1] * points * np.sqrt(2 * width / p))
    features = np.ones((m, n))
    monomials = (chosen for q in range(highest + 1) for chosen in combinations_with_replacement(range(d), q))
    for column, chosen in enumerate(monomials):
        for j in range(d):
            features[:, column] *= factors[chosen.count(j)][:, j]
    return features


def rbf_truncation(gamma: float, radius_x: float, radius_z: float, degree: int) -> float:
    r"""What :func:`rbf_features` can miss of the RBF kernel, for :math:`\|x\| \le r_x, \|z\| \le r_z`.

    With :math:`u = 2 \gamma r_x r_z` it is :math:`e^{-u} \sum_{q > \text{degree}} \frac{u^q}{q!}`, the
    probability that a Poisson variable of mean u exceeds the degree (prop-kernel-truncation). If
    :math:`r_x = r_z`, the difference at x = z of that norm is this number.

    Parameters
    ----------
    gamma : float
        Positive.
    radius_x, radius_z : float
        Not negative.
    degree : int
        At least 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from mcutils import kernel
    >>> [float(f"{kernel.rbf_truncation(1.0, 1.0, 1.0, q):.2g}") for q in (0, 5, 10, 20)]
    [0.86, 0.017, 8.3e-06, 6.1e-15]
    """
    width = number_that(gamma, "gamma", "a positive number", lambda v: v > 0)
    x = number_that(radius_x, "radius_x", "a number, at least 0", lambda v: v >= 0)
    z = number_that(radius_z, "radius_z", "a number, at least 0", lambda v: v >= 0)
    return float(gammainc(integer(degree, "degree", 0, feasible=2**53) + 1, 2 * width * x * z))


class NotPositiveSemidefinite(ValueError):
    r"""A matrix is the Gram matrix of no features, and here is why.

    Attributes
    ----------
    eigenvalue : float
        The smallest eigenvalue: negative, by more than rounding explains.
    direction : (m,) array
        Coefficients c of length 1 with :math:`\sum_{ij} c_i c_j K_{ij}` equal to that eigenvalue. For
        features it would be :math:`\|\sum_i c_i \phi(x_i)\|^2 \ge 0`.
    tolerance : float
        What rounding explains.
    """

    def __init__(self, eigenvalue: float, direction: Floats, tolerance: float):
        super().__init__(eigenvalue, direction, tolerance)
        self.eigenvalue = eigenvalue
        self.direction = direction
        self.tolerance = tolerance

    def __str__(self) -> str:
        return (
            f"gram is not positive semidefinite: its smallest eigenvalue is {self.eigenvalue:.4g}, "
            f"and rounding explains no more than {self.tolerance:.2g}"
        )


@dataclass(frozen=True)
class Spectrum:
    r"""What :func:`check_psd` saw.

    Attributes
    ----------
    smallest, largest : float
        The extreme eigenvalues, as computed.
    tolerance : float
        What rounding can have moved them by. The true smallest eigenvalue is at least
        ``smallest - tolerance``.
    """

    smallest: float
    largest: float
    tolerance: float

    @property
    def definite(self) -> bool:
        """Whether the smallest eigenvalue is positive beyond doubt; otherwise it may be 0."""
        return self.smallest > self.tolerance


def check_psd(gram: ArrayLike, *, tolerance: float | None = None) -> Spectrum:
    r"""Refuse a matrix that is the Gram matrix of no features: not symmetric, or with a negative eigenvalue.

    A Gram matrix of fewer dimensions than points has the eigenvalue 0, which comes out as
    :math:`\pm` rounding. If every entry is right up to 8 units in its last place (of the largest entry),
    :math:`m \times m` of them move an eigenvalue by at most :math:`8 m \varepsilon \max_{ij} |K_{ij}|`
    (the norm of the error matrix, by Weyl's inequality), with :math:`\varepsilon = 2^{-52}`. What is more
    negative than that is refused, by :class:`NotPositiveSemidefinite`; what is not may still be indefinite
    by less, and the result shows it: see :class:`Spectrum`.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        The matrix.
    tolerance : float, optional
        For entries that are known less well, such as measured similarities: how far they may have moved an
        eigenvalue, and the two entries of a pair from each other.

    Examples
    --------
    >>> import numpy as np
    >>> from mcutils import kernel
    >>> kernel.check_psd(np.eye(3)).definite
    True
    >>> kernel.check_psd(np.ones((3, 3))).definite  # one dimension for three points
    False
    >>> kernel.check_psd([[1.0, 2.0], [2.0, 1.0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mcutils.kernel.NotPositiveSemidefinite: gram is not positive semidefinite: its smallest eigenvalue ...
    """
    matrix = point_matrix(gram, "gram")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"gram must be square, found shape {matrix.shape}")
    size = float(np.abs(matrix).max())
    if tolerance is None:
        allowed = 8 * len(matrix) * float(np.finfo(np.float64).eps) * size
    else:
        allowed = number_that(tolerance, "tolerance", "a number, at least 0", lambda v: v >= 0)
    asymmetry = float(np.abs(matrix - matrix.T).max())
    if asymmetry > allowed:
        i, j = np.unravel_index(np.argmax(np.abs(matrix - matrix.T)), matrix.shape)
        raise ValueError(
            f"gram is not symmetric: entries ({i}, {j}) and ({j}, {i}), counted from 0, differ by "
            f"{asymmetry:.3g}"
        )
    symmetric = (matrix + matrix.T) / 2
    eigenvalues = np.linalg.eigvalsh(symmetric)
    if eigenvalues[0] < -allowed:
        _, directions = eigh(symmetric, subset_by_index=[0, 0])
        raise NotPositiveSemidefinite(float(eigenvalues[0]), directions[:, 0], float(allowed))
    return Spectrum(float(eigenvalues[0]), float(eigenvalues[-1]), float(allowed))
