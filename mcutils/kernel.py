r"""Kernels: inner products of features that are never written down.

A *kernel* is a symmetric function :math:`K(x, z)` of two inputs whose Gram matrices
:math:`\mathbf K = (K(x_i, x_j))_{ij}` are all positive semidefinite (def-classes-pds); then and only then
:math:`K(x, z) = \langle \phi(x), \phi(z) \rangle` for a map :math:`\phi` into a Hilbert space
(thm-background-moore-aronszajn). What a machine or a bound needs of the features is in the Gram matrix, so
that is what a :class:`Kernel` computes: whole, in blocks of rows, or only its diagonal.

>>> from mcutils import kernel
>>> kernel.linear.gram([[1.0, 0.0], [1.0, 2.0]])
array([[1., 1.],
       [1., 5.]])
>>> kernel.polynomial(2, b=1.0).gram([[1.0], [2.0]], [[3.0]])
array([[16.],
       [49.]])
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Kernel", "Spectrum", "check_psd", "linear", "polynomial", "precomputed", "rbf"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    r"""A kernel :math:`K`, made by :func:`polynomial`, :func:`rbf` or one of the two without parameters.

    Parameters
    ----------
    name : str
        What it is called in messages.
    parameters : mapping
        Its parameters, by the names of the formula.
    block : callable
        :math:`(X, Z) \mapsto (K(x_i, z_j))_{ij}` on float64 arrays of rows.
    self_products : callable
        :math:`X \mapsto (K(x_i, x_i))_i`.

    Examples
    --------
    >>> from mcutils import kernel
    >>> kernel.rbf(0.5)
    Kernel(name='rbf', parameters={'gamma': 0.5})
    """

    name: str
    parameters: Mapping[str, float]
    block: Callable[[Floats, Floats], Floats] = field(repr=False, compare=False)
    self_products: Callable[[Floats], Floats] = field(repr=False, compare=False)

    def gram(self, X: ArrayLike, Z: ArrayLike | None = None) -> Floats:
        r"""The matrix :math:`(K(x_i, z_j))_{ij}`; without Z the Gram matrix of X, exactly symmetric.

        Parameters
        ----------
        X : array-like of shape (m, d)
            A row for each input.
        Z : array-like of shape (n, d), optional
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
        rows = _points(X, "X")
        if Z is None:
            found = self._finite(self.block, rows, rows)
            return (found + found.T) / 2
        columns = _points(Z, "Z", rows.shape[1])
        return self._finite(self.block, rows, columns)

    def diagonal(self, X: ArrayLike) -> Floats:
        r"""The numbers :math:`K(x_i, x_i) = \|\phi(x_i)\|^2`, without the rest of the Gram matrix.

        Their sum is :math:`\operatorname{tr} \mathbf K`, and the root of their maximum is the smallest radius
        :math:`r` that fits the sample (prop-classes-ball).

        Examples
        --------
        >>> from mcutils import kernel
        >>> kernel.linear.diagonal([[3.0, 4.0], [0.0, 1.0]])
        array([25.,  1.])
        """
        return self._finite(self.self_products, _points(X, "X"))

    def blocks(
        self, X: ArrayLike, Z: ArrayLike | None = None, *, size: int = 1024
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
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
            raise ValueError(f"size must be an integer, at least 1, found {size!r}")
        rows = _points(X, "X")
        columns = rows if Z is None else _points(Z, "Z", rows.shape[1])
        for start in range(0, len(rows), size):
            part = slice(start, min(start + size, len(rows)))
            yield part, self._finite(self.block, rows[part], columns)

    def _finite(self, compute: Callable[..., Floats], *points: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # said below, in a sentence
            values = compute(*points)
        if not np.isfinite(values).all():
            raise ValueError(f"the {self.name} kernel leaves the range of floating point; scale the inputs")
        return values


def _points(X: ArrayLike, name: str, columns: int | None = None) -> Floats:
    """X as a float64 matrix with a row for each input."""
    points = np.asarray(X)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(f"{name} must be a matrix with a row for each input, found shape {points.shape}")
    if points.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers, found entries of type {points.dtype}")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, found NaN or infinity")
    if columns is not None and points.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, as X has, found {points.shape[1]}")
    return np.asarray(points, dtype=np.float64)


def _number(value: Any, name: str, allowed: str, ok: Callable[[float], bool]) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} must be {allowed}, found {value!r}")
    number = float(value)
    if not (np.isfinite(number) and ok(number)):
        raise ValueError(f"{name} must be {allowed}, found {value!r}")
    return number


def _squares(X: Floats) -> Floats:
    squares: Floats = np.einsum("ij,ij->i", X, X)
    return squares


linear = Kernel("linear", {}, lambda X, Z: X @ Z.T, _squares)


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
    if isinstance(q, bool) or not isinstance(q, (int, np.integer)) or q < 1:
        raise ValueError(f"q must be an integer, at least 1, found {q!r}")
    scale = _number(a, "a", "a positive number", lambda v: v > 0)
    shift = _number(b, "b", "a number, at least 0", lambda v: v >= 0)
    degree = int(q)

    def power(products: Floats) -> Floats:
        values: Floats = (products / scale + shift) ** degree
        return values

    return Kernel(
        "polynomial",
        {"q": degree, "a": scale, "b": shift},
        lambda X, Z: power(X @ Z.T),
        lambda X: power(_squares(X)),
    )


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
    width = _number(gamma, "gamma", "a positive number", lambda v: v > 0)

    def block(X: Floats, Z: Floats) -> Floats:
        # |x - z|^2 = |x|^2 + |z|^2 - 2 <x, z>, around a centre: far from 0 the three terms would cancel
        centre = Z.mean(axis=0)
        x, z = X - centre, Z - centre
        squared = _squares(x)[:, None] + _squares(z) - 2 * (x @ z.T)
        if X is Z:
            np.fill_diagonal(squared, 0.0)
        similarity: Floats = np.exp(-width * np.maximum(squared, 0.0))
        return similarity

    return Kernel("rbf", {"gamma": width}, block, lambda X: np.ones(len(X)))


def _no_columns(X: Floats, Z: Floats) -> Floats:
    if X.shape[0] != X.shape[1] or not np.array_equal(X, Z):
        raise ValueError(
            "a precomputed kernel knows its own Gram matrix only: give that square matrix as X, and no Z"
        )
    check_psd(X)
    return X


precomputed = Kernel("precomputed", {}, _no_columns, lambda X: np.diag(_no_columns(X, X)).copy())


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
    negative than that is refused; what is not may still be indefinite by less, and the answer says so:
    see :class:`Spectrum`.

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
    ValueError: gram is not positive semidefinite: its smallest eigenvalue is -1, and ...
    """
    matrix = _points(gram, "gram")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"gram must be square, found shape {matrix.shape}")
    size = float(np.abs(matrix).max())
    if tolerance is None:
        allowed = 8 * len(matrix) * float(np.finfo(np.float64).eps) * size
    else:
        allowed = _number(tolerance, "tolerance", "a number, at least 0", lambda v: v >= 0)
    asymmetry = float(np.abs(matrix - matrix.T).max())
    if asymmetry > allowed:
        i, j = np.unravel_index(np.argmax(np.abs(matrix - matrix.T)), matrix.shape)
        raise ValueError(
            f"gram is not symmetric: entries ({i}, {j}) and ({j}, {i}), counted from 0, differ by "
            f"{asymmetry:.3g}"
        )
    eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    if eigenvalues[0] < -allowed:
        raise ValueError(
            f"gram is not positive semidefinite: its smallest eigenvalue is {eigenvalues[0]:.4g}, "
            f"and rounding explains no more than {allowed:.2g}"
        )
    return Spectrum(float(eigenvalues[0]), float(eigenvalues[-1]), float(allowed))
