"""Maps of an example and a class into one space of features."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from .._checks import array, class_labels, integer, reals
from .._typing import Floats


@dataclass(frozen=True, eq=False)
class ClassMap:
    r"""A class-sensitive map :math:`\Psi(x, y) = B_y \otimes x` (def-hinge-map).

    Row y of the matrix B describes the class y by p numbers. A classifier with parameters V, a (p, d) matrix,
    has the scores :math:`\langle V, \Psi(x, y) \rangle = B_y V x`, so it is the linear classifier with the
    rows :math:`W = B V`. With the block map, B = I, V is W itself. Where two rows of B have a column in
    common, what is learned for it serves both classes.

    Parameters
    ----------
    matrix : (k, p) array-like
        B, finite, for at least two classes.
    names : sequence, optional
        What the columns stand for.

    Examples
    --------
    >>> tree = {"cat": "animal", "dog": "animal", "car": "thing", "animal": "all", "thing": "all"}
    >>> shared = ClassMap.hierarchy(tree, ["cat", "dog", "car"])
    >>> shared.names
    ('cat', 'dog', 'car', 'animal', 'all', 'thing')
    >>> shared.matrix.astype(int)
    array([[1, 0, 0, 1, 1, 0],
           [0, 1, 0, 1, 1, 0],
           [0, 0, 1, 0, 1, 1]])
    >>> (shared.distances() ** 2).round(12)  # the numbers of edges between the classes
    array([[0., 2., 4.],
           [2., 0., 4.],
           [4., 4., 0.]])
    """

    matrix: Floats
    names: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix)
        if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 1 or matrix.dtype.kind not in "buif":
            raise ValueError(
                "matrix must have a row of numbers for each of at least two classes, found shape "
                f"{matrix.shape} of type {matrix.dtype}"
            )
        matrix = matrix.astype(np.float64)
        if not np.isfinite(matrix).all():
            raise ValueError("matrix must be finite")
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)
        if self.names is not None:
            names = tuple(self.names)
            if len(names) != matrix.shape[1]:
                raise ValueError(
                    f"names must name each of the {matrix.shape[1]} columns of matrix, found {len(names)}"
                )
            object.__setattr__(self, "names", names)

    @classmethod
    def block(cls, k: int) -> Self:
        """The map of k separate blocks, B = I: the classifier with one vector for each class.

        Parameters
        ----------
        k : int
            The number of classes, at least 2.

        Examples
        --------
        >>> ClassMap.block(3).features([5.0, 7.0], 1)
        array([0., 0., 5., 7., 0., 0.])
        """
        return cls(np.eye(integer(k, "k", 2)))

    @classmethod
    def hierarchy(cls, parents: Mapping[Hashable, Hashable], classes: Sequence[Hashable]) -> Self:
        """A column for each concept of a tree: 1 for the classes that are it or stand below it.

        The squared distance of two rows is the number of edges between the two classes, the cost of
        :func:`mcutils.risk.costs_from_tree` without its scale.

        Parameters
        ----------
        parents : mapping
            The parent of each concept but the root.
        classes : sequence
            The concepts that are classes, in the order of the rows. Their columns come first, then those of
            the other concepts, as they are met on the way up.
        """
        names = list(classes)
        if len(set(names)) != len(names):
            raise ValueError(f"classes must name different concepts, found {names}")
        lines = []
        for name in names[:]:
            line, concept = [name], name
            if name not in parents and name not in parents.values():
                raise ValueError(f"classes names {name!r}, which is not in the tree")
            while concept in parents:
                concept = parents[concept]
                if concept in line:
                    raise ValueError(f"parents must be a tree, found a circle through {concept!r}")
                line.append(concept)
                if concept not in names:
                    names.append(concept)
            lines.append(line)
        return cls(np.array([[one in line for one in names] for line in lines], dtype=float), tuple(names))

    @property
    def n_classes(self) -> int:
        """k, the number of rows of B."""
        return len(self.matrix)

    def features(self, x: ArrayLike, y: Any) -> Floats:
        r""":math:`\Psi(x, y) = B_y \otimes x`, laid out as V is when it is read row by row.

        Parameters
        ----------
        x : (d,) or (m, d) array-like
            An example, or several.
        y : int or (m,) array-like of int
            A class for each.

        Returns
        -------
        (p d,) or (m, p d) array

        Examples
        --------
        >>> ClassMap([[1, 0, 1], [0, 1, 1]]).features([5.0, 7.0], 1)
        array([0., 0., 5., 7., 5., 7.])
        """
        points, labels = reals(x, "x"), array(y, "y")
        if points.ndim not in (1, 2) or labels.shape != points.shape[:-1]:
            raise ValueError(
                "x must be an example and y a class, or as many of both: found the shapes "
                f"{points.shape} and {labels.shape}"
            )
        labels = class_labels(labels.reshape(-1), labels.size, self.n_classes).reshape(labels.shape)
        product = self.matrix[labels][..., :, None] * points[..., None, :]
        features: Floats = product.reshape(*points.shape[:-1], -1)
        return features

    def to_rows(self, V: ArrayLike) -> Floats:
        """The vectors of the classes, W = B V.

        Parameters
        ----------
        V : (p, d) array-like

        Returns
        -------
        (k, d) array
        """
        parameters = reals(V, "V")
        if parameters.ndim != 2 or len(parameters) != self.matrix.shape[1]:
            raise ValueError(
                f"V must be a matrix of {self.matrix.shape[1]} rows, one for each column of the map, "
                f"found shape {parameters.shape}"
            )
        return self.matrix @ parameters

    def scores(self, V: ArrayLike, X: Any) -> Floats:
        r"""The scores :math:`\langle V, \Psi(x_i, y) \rangle` of all classes.

        Parameters
        ----------
        V : (p, d) array-like
        X : (m, d) array-like or sparse matrix

        Returns
        -------
        (m, k) array
        """
        table: Floats = example_matrix(X) @ self.to_rows(V).T
        return table

    def distances(self) -> Floats:
        r"""The matrix of :math:`\|B_y - B_r\|`.

        For an example x, :math:`\|\Psi(x, y) - \Psi(x, r)\|` is this times :math:`\|x\|`. The largest entry
        times :math:`\|x\|` is the Lipschitz constant of the Crammer-Singer loss as a function of V
        (prop-hinge-lipschitz); for the block map it is :math:`\sqrt 2`.

        Returns
        -------
        (k, k) array
        """
        distances: Floats = np.linalg.norm(self.matrix[:, None] - self.matrix[None], axis=2)
        return distances


def example_matrix(X: Any) -> Any:
    """X as a float64 matrix with a row for each example; in CSR format if it is sparse."""
    if issparse(X):
        table = csr_array(X)
        reals(table.data, "X")
        return table.astype(np.float64)
    points = np.asarray(X)
    if points.ndim != 2 or len(points) < 1 or points.dtype.kind not in "buif":
        raise ValueError(
            f"X must be a matrix of numbers with a row for each example, found shape {points.shape} "
            f"of type {points.dtype}"
        )
    return reals(points, "X")
