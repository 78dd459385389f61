r"""The space of the examples: what a classifier with a kernel needs of its features.

The representer theorem (thm-representer-theorem) says that a classifier whose penalty depends on norms and
whose loss depends on values at :math:`x_1, \dots, x_m` may forget every direction of the feature space but
those of :math:`\mathbb H_S`, the span of :math:`\phi(x_1), \dots, \phi(x_m)`. Two ways to write a function of
it:

- coefficients, :math:`f = \sum_i \beta_i \phi(x_i)`, which are not unique where the Gram matrix
  :math:`\mathbf K` is singular;
- orthonormal coordinates, :math:`f = \sum_j s_j e_j`, in which :math:`\|f\|` is the Euclidean norm of s, so
  that a linear classifier on the coordinates of the examples is the classifier with the kernel
  (prop-representer-coordinates).

:func:`span` gives the second and the way between the two, :func:`decompose` what a function has inside the
span and outside.

>>> from mcutils import representer
>>> result = representer.span([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]])  # two equal examples
>>> result.rank
2
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcutils._checks import reals, squarable
from mcutils.kernel import check_psd

__all__ = ["Parts", "Span", "decompose", "span"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Span:
    r"""The span :math:`\mathbb H_S` of the examples, in orthonormal coordinates; made by :func:`span`.

    Attributes
    ----------
    coordinates : (m, n) array
        Row i: the coordinates of :math:`\phi(x_i)` in the orthonormal basis :math:`e_1, \dots, e_n`. The rows
        have the inner products of the Gram matrix, ``coordinates @ coordinates.T``.
    basis : (m, n) array
        Column j: coefficients of :math:`e_j = \sum_i` ``basis[i, j]`` :math:`\phi(x_i)`.
    tolerance : float
        Eigenvalues of the Gram matrix up to this were taken for 0.
    """

    coordinates: Floats = field(repr=False)
    basis: Floats = field(repr=False)
    tolerance: float

    @property
    def rank(self) -> int:
        """The dimension n of the span."""
        return int(self.coordinates.shape[1])

    def coefficients(self, values: ArrayLike) -> Floats:
        r"""Coefficients of the function of the span that has these values at the examples.

        Of all solutions of :math:`\mathbf K \beta = (f(x_1), \dots, f(x_m))^\top` the shortest. The function
        is :math:`P f` for every f with these values (prop-representer-parts).

        Parameters
        ----------
        values : array-like of shape (m,) or (m, k)
            The values; a column for each function.

        Returns
        -------
        array of the shape of ``values``

        Examples
        --------
        >>> from mcutils import representer
        >>> representer.span([[1.0, 1.0], [1.0, 1.0]]).coefficients([3.0, 3.0])
        array([1.5, 1.5])
        """
        targets = _values(values, len(self.basis))
        inside = self.basis.T @ targets  # coordinates of P f
        missed = np.abs(self.coordinates @ inside - targets)
        # the most that a direction taken for 0 can hide in the values of a function of this norm
        hidden = np.sqrt(self.tolerance * (inside**2).sum(axis=0))
        allowed = 10 * hidden + 1e-9 * np.abs(targets).max(axis=0)
        if (missed > allowed).any():
            i = int(np.argmax(missed if missed.ndim == 1 else (missed - allowed).max(axis=1)))
            raise ValueError(
                f"values are not those of a function of the space: they contradict a linear relation between "
                f"the examples, by {missed.max():.3g} at example {i}, counted from 0"
            )
        return self.basis @ inside


@dataclass(frozen=True)
class Parts:
    r"""A function :math:`f = Pf + f^\perp`, divided at the span of the examples; made by :func:`decompose`.

    Attributes
    ----------
    coefficients : (m,) or (m, k) array
        Those of :math:`Pf`, as :meth:`Span.coefficients` gives them.
    inside, outside : float or (k,) array
        :math:`\|Pf\|^2` and :math:`\|f^\perp\|^2`.
    """

    coefficients: Floats
    inside: Floats
    outside: Floats


def span(gram: ArrayLike) -> Span:
    r"""The span of the examples in orthonormal coordinates, from their Gram matrix.

    With the eigenvectors :math:`q_j` of :math:`\mathbf K` and its eigenvalues :math:`\kappa_j > 0`, the
    vectors :math:`e_j = \kappa_j^{-1/2} \sum_i q_{ij} \phi(x_i)` are orthonormal and
    :math:`\langle \phi(x_i), e_j \rangle = \kappa_j^{1/2} q_{ij}`. Eigenvalues that rounding cannot tell
    from 0 (:func:`mcutils.kernel.check_psd`) count as 0.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        The Gram matrix, symmetric and positive semidefinite; it may be singular.

    Examples
    --------
    >>> import numpy as np
    >>> from mcutils import kernel, representer
    >>> gram = kernel.polynomial(2, b=1.0).gram([[0.0], [1.0], [2.0], [5.0]])  # features 1, x, x²
    >>> result = representer.span(gram)
    >>> result.rank, bool(np.allclose(result.coordinates @ result.coordinates.T, gram))
    (3, True)
    """
    spectrum = check_psd(gram)
    matrix = np.asarray(gram, dtype=np.float64)
    eigenvalues, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = eigenvalues > spectrum.tolerance
    roots = np.sqrt(eigenvalues[kept])
    return Span(vectors[:, kept] * roots, vectors[:, kept] / roots, spectrum.tolerance)


def decompose(gram: ArrayLike, values: ArrayLike, squared_norm: ArrayLike) -> Parts:
    r"""Divide functions at the span of the examples, from their values there and their norms.

    :math:`\|Pf\|^2 = \sum_i \beta_i f(x_i)` for the coefficients of :math:`Pf` (prop-background-span), and
    :math:`\|f^\perp\|^2 = \|f\|^2 - \|Pf\|^2`.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        The Gram matrix of the examples.
    values : array-like of shape (m,) or (m, k)
        :math:`f(x_i)`; a column for each function.
    squared_norm : float or array-like of shape (k,)
        :math:`\|f\|^2`. Less than :math:`\|Pf\|^2` is refused: no function has such values and such a norm.

    Examples
    --------
    With :math:`K(x, z) = \min(x, z)` the function :math:`f = K(1, \cdot)` has the values 1/4 and 1/2 at two
    examples, and squared norm 1; half of it lies in their span.

    >>> from mcutils import representer
    >>> parts = representer.decompose([[0.25, 0.25], [0.25, 0.5]], [0.25, 0.5], 1.0)
    >>> parts.coefficients.round(6) + 0.0, float(parts.inside.round(6)), float(parts.outside.round(6))
    (array([0., 1.]), 0.5, 0.5)
    """
    spanned = span(gram)
    targets = _values(values, len(spanned.basis))
    coefficients = spanned.coefficients(targets)
    inside = (coefficients * targets).sum(axis=0)
    whole = reals(squared_norm, "squared_norm")
    if whole.shape != inside.shape:
        raise ValueError(
            f"squared_norm must be one finite number for each function, shape {inside.shape}; "
            f"found {squared_norm!r}"
        )
    rounding = 1e-9 * np.maximum(np.abs(whole), np.abs(inside))
    if (whole < inside - rounding).any():
        raise ValueError(
            f"squared_norm is less than a function with these values can have: "
            f"found {whole.tolist()}, the least is {inside.tolist()}"
        )
    return Parts(coefficients, inside, np.maximum(whole - inside, 0.0))


def _values(values: ArrayLike, m: int) -> Floats:
    targets = reals(values, "values")
    squarable(targets, "values")
    if targets.ndim not in (1, 2) or len(targets) != m:
        raise ValueError(
            f"values must have a row for each of the {m} examples, and one or two axes; "
            f"found shape {targets.shape}"
        )
    if not np.isfinite(targets).all():
        raise ValueError("values must be finite, found NaN or infinity")
    return targets
