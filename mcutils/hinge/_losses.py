"""Hinges for k classes, and their subgradients."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from numbers import Real
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import breadth_first_order

from .._checks import class_labels, integer, one_of, reals, score_table, switch
from .._weights import example_weights
from ..risk import check_costs

Floats: TypeAlias = NDArray[np.float64]

LOSSES = ("crammer-singer", "weston-watkins")
"""The names of the losses."""


def gaps(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""The gaps :math:`g_r = \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i)`; exactly 0 for the true class.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> gaps([[2.0, 1.5, 0.0]], [0])
    array([[ 0. ,  0.5, -1. ]])
    >>> gaps([[2.0, 1.5, 0.0]], [0], cost=[[0, 1, 4], [1, 0, 1], [1, 1, 0]])
    array([[0. , 0.5, 2. ]])
    """
    table, labels, costs = _check(scores, y, cost)
    return _gaps(table, labels, costs)


def crammer_singer(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r""":math:`\ell_i = \max_r (\Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i))` (def-hinge-crammer-singer).

    It is at least 0, as r may be the true class.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> crammer_singer([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]], [0, 1, 2])
    array([0.5, 0. , 1. ])
    """
    return _losses("crammer-singer", gaps(scores, y, cost))


def weston_watkins(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r""":math:`\ell_i = \sum_{r \ne y_i} \max(0, \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i))`.

    See def-hinge-weston-watkins. Parameters and result are those of :func:`crammer_singer`.

    Examples
    --------
    >>> weston_watkins([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]], [0, 1, 2])
    array([0.75, 0.  , 2.  ])
    """
    return _losses("weston-watkins", gaps(scores, y, cost))


def loss_augmented(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> NDArray[np.intp]:
    r"""The active class, :math:`\arg\max_r (\Delta(y_i, r) + f_r(x_i))`: that of the largest gap.

    Ties go to the true class if it is among the largest, otherwise to the smallest class. So the answer is
    the true class exactly where the Crammer-Singer loss is 0.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.

    Returns
    -------
    (m,) int array

    Examples
    --------
    >>> loss_augmented([[2.0, 1.5, 1.5], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [0, 0, 1])
    array([1, 0, 0])
    """
    table, labels, costs = _check(scores, y, cost)
    return _active(_gaps(table, labels, costs), labels)


def crammer_singer_subgradient(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""A subgradient of the Crammer-Singer loss with respect to the scores of each example.

    It is the gradient :math:`e_r - e_y` of one active gap, that of the class r which :func:`loss_augmented`
    answers, and 0 where that is the true class. At a tie every convex combination of the gradients of the
    active gaps is one too (prop-subgradient-max).

    With respect to W it is the outer product with the example: row r is x, and row y is -x.

    Parameters
    ----------
    scores : (m, k) array-like
        Finite scores of at least two classes.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> crammer_singer_subgradient([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0]], [0, 1])
    array([[-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    """
    table, labels, costs = _check(scores, y, cost)
    return _slopes("crammer-singer", _gaps(table, labels, costs), labels)


def weston_watkins_subgradient(scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""A subgradient of the Weston-Watkins loss with respect to the scores of each example.

    It is :math:`\sum_r (e_r - e_y)` over the classes r whose gap is positive. A gap of exactly 0 is left out;
    with any share of it between 0 and 1 there is another subgradient.

    With respect to W it is the outer product with the example: the row of each such class is x, and
    row y is minus their number times x. Parameters and result are those of
    :func:`crammer_singer_subgradient`.

    Examples
    --------
    >>> weston_watkins_subgradient([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0]], [0, 1])
    array([[-2.,  1.,  1.],
           [ 0.,  0.,  0.]])
    """
    table, labels, costs = _check(scores, y, cost)
    return _slopes("weston-watkins", _gaps(table, labels, costs), labels)


def lipschitz(loss: str, k: int) -> float:
    r"""The Lipschitz constant of a loss in the Euclidean norm of the scores (prop-hinge-lipschitz).

    :math:`\sqrt 2` for Crammer-Singer, the length of :math:`e_r - e_y`; for Weston-Watkins
    :math:`\sqrt{k (k - 1)}`, that of :math:`\sum_{r \ne y} (e_r - e_y)`. None smaller will do, whatever the
    cost matrix. As a function of W in the Frobenius norm the loss of one example has this constant times
    :math:`\|x\|`.

    Parameters
    ----------
    loss : {"crammer-singer", "weston-watkins"}
    k : int
        The number of classes, at least 2.

    Examples
    --------
    >>> round(lipschitz("crammer-singer", 5), 4), round(lipschitz("weston-watkins", 5), 4)
    (1.4142, 4.4721)
    >>> lipschitz("crammer-singer", 2) == lipschitz("weston-watkins", 2)
    True
    """
    _check_loss(loss)
    k = integer(k, "k", 2)
    return sqrt(2.0) if loss == "crammer-singer" else sqrt(k * (k - 1.0))


@dataclass(frozen=True, eq=False)
class ClassMap:
    r"""A class-sensitive map :math:`\Psi(x, y) = B_y \otimes x` (def-hinge-map).

    Row y of the matrix B describes the class y by p numbers. A machine with parameters V, a (p, d) matrix,
    has the scores :math:`\langle V, \Psi(x, y) \rangle = B_y V x`, so it is the linear machine with the rows
    :math:`W = B V`. With the block map, B = I, V is W itself. Where two rows of B have a column in common,
    what is learned for it serves both classes.

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
        """The map of k separate blocks, B = I: the machine with one vector for each class.

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
        points, labels = reals(x, "x"), np.asarray(y)
        if points.ndim not in (1, 2) or labels.shape != points.shape[:-1]:
            raise ValueError(
                "x must be an example and y a class, or as many of both: found the shapes "
                f"{points.shape} and {labels.shape}"
            )
        labels = class_labels(labels.reshape(-1), labels.size, self.n_classes).reshape(labels.shape)
        product = self.matrix[labels][..., :, None] * points[..., None, :]
        found: Floats = product.reshape(*points.shape[:-1], -1)
        return found

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
        table: Floats = _points(X) @ self.to_rows(V).T
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
        found: Floats = np.linalg.norm(self.matrix[:, None] - self.matrix[None], axis=2)
        return found


def objective(
    W: ArrayLike,
    X: Any,
    y: ArrayLike,
    *,
    loss: str = "crammer-singer",
    C: float = 1.0,
    cost: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    class_map: ClassMap | None = None,
) -> float:
    r""":math:`\frac12 \|W\|_F^2 + C \sum_i s_i \ell_i(W)`, what the machine minimises.

    A bias is not regularised; append a feature that is always 1 for one that is.

    Parameters
    ----------
    W : (k, d) array-like
        A row for each class; with ``class_map`` the (p, d) parameters V, whose norm it then is.
    X : (m, d) array-like or sparse matrix
        The examples.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    loss : {"crammer-singer", "weston-watkins"}
    C : float
        The price of loss, positive.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.
    bias : (k,) array-like, optional
        What is added to the scores, by default 0.
    sample_weight : (m,) array-like, optional
        :math:`s_i \ge 0`, by default 1.
    class_map : ClassMap, optional
        Another map than the block map.

    Examples
    --------
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> objective([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], X, y)
    2.0
    >>> objective([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], X, y, loss="weston-watkins", C=2.0)
    12.0
    """
    V, rows = _parameters(W, X, class_map)
    points, labels, costs, prices = _problem(len(rows), X, y, loss, C, cost, sample_weight)
    scores = points @ rows.T + _check_bias(bias, len(rows))
    paid = _losses(loss, _gaps(score_table(scores), labels, costs))
    return _in_range(float(0.5 * np.vdot(V, V) + prices @ paid))


def objective_subgradient(
    W: ArrayLike,
    X: Any,
    y: ArrayLike,
    *,
    loss: str = "crammer-singer",
    C: float = 1.0,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    class_map: ClassMap | None = None,
) -> Floats:
    r"""A subgradient of :func:`objective`, :math:`W + C \sum_i s_i \, g_i x_i^\top`.

    :math:`g_i` is the subgradient of the loss with respect to the scores, with the tie rules of
    :func:`crammer_singer_subgradient` and :func:`weston_watkins_subgradient`. Parameters are those of
    :func:`objective`.

    Returns
    -------
    array of the shape of ``W``

    Examples
    --------
    >>> objective_subgradient([[0.0, 0.0], [0.0, 0.0]], [[1.0, 3.0]], [1])
    array([[ 1.,  3.],
           [-1., -3.]])
    """
    V, rows = _parameters(W, X, class_map)
    points, labels, costs, prices = _problem(len(rows), X, y, loss, C, cost, sample_weight)
    found = _gaps(score_table(points @ rows.T), labels, costs)
    slopes = prices[:, None] * _slopes(loss, found, labels)
    by_class: Floats = (points.T @ slopes).T
    return V + (by_class if class_map is None else class_map.matrix.T @ by_class)


def dual_objective(
    multipliers: ArrayLike,
    X: Any,
    y: ArrayLike,
    *,
    loss: str = "crammer-singer",
    C: float = 1.0,
    cost: ArrayLike | None = None,
    fit_intercept: bool = False,
    sample_weight: ArrayLike | None = None,
    class_map: ClassMap | None = None,
) -> float:
    r"""A lower bound of every value of :func:`objective`.

    A Crammer-Singer loss is at least every convex combination of the gaps, a Weston-Watkins loss at least
    every combination with factors between 0 and 1. So for multipliers :math:`A_{ir} \ge 0`, with
    :math:`\sum_{r \ne y_i} A_{ir} \le C s_i` for Crammer-Singer and :math:`A_{ir} \le C s_i` for
    Weston-Watkins, no value is below

    .. math:: \sum_{i,r} A_{ir} \Delta(y_i, r) - \tfrac12 \Big\| \sum_{i,r} A_{ir} (e_{y_i} - e_r) x_i^\top
        \Big\|_F^2 .

    A bias b adds :math:`\sum_{i,r} A_{ir} (b_r - b_{y_i})` to that combination of the gaps. Collected by
    classes, b_y has as its factor what the other classes' examples put on y, less what the examples of y put
    on others. If the two are equal for each class, b drops out, and the bound holds for every bias. See
    :func:`balanced`.

    Parameters
    ----------
    multipliers : (m, k) array-like
        A. The column of the true class is not looked at. It must be feasible up to rounding, 1e-9 of
        :math:`C s_i`, and is scaled down by what it is beyond.
    fit_intercept : bool
        Whether the bound is to hold for every bias. Multipliers that are not balanced, by more than 1e-9 of
        all prices in sum, are then refused.
    X, y, loss, C, cost, sample_weight, class_map
        As in :func:`objective`.

    Examples
    --------
    >>> X, y = [[1.0], [-1.0]], [0, 1]
    >>> dual_objective([[0.0, 0.25], [0.25, 0.0]], X, y), objective([[0.5], [-0.5]], X, y)
    (0.25, 0.25)
    """
    fit_intercept = switch(fit_intercept, "fit_intercept")
    A = reals(multipliers, "multipliers").copy()
    m = _points(X).shape[0]
    if A.ndim != 2 or len(A) != m or A.shape[1] < 2:
        raise ValueError(
            f"multipliers must have a row for each of the {m} examples and a column for each of at least two "
            f"classes, found shape {A.shape}"
        )
    k = A.shape[1]
    if class_map is not None and class_map.n_classes != k:
        raise ValueError(f"class_map must be of the {k} classes of multipliers, found {class_map.n_classes}")
    points, labels, costs, prices = _problem(k, X, y, loss, C, cost, sample_weight)
    _clear(A, labels)
    _into_bounds(A, loss, prices)
    pull = _pull(A, labels)
    if fit_intercept and np.abs(pull.sum(axis=0)).max() > 1e-9 * prices.sum():
        raise ValueError(
            "multipliers must be balanced with an intercept, found that the examples of each class put on "
            f"others, beyond what these put on it: {pull.sum(axis=0).tolist()}"
        )
    linear, square = _dual_parts(A, pull, points, labels, costs, class_map)
    return _in_range(linear - square)


def balanced(multipliers: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""Multipliers that bound the objective for every bias; see :func:`dual_objective`.

    Let :math:`F_{yr}` be the sum of :math:`A_{ir}` over the examples of class y, what flows from y to r. The
    multipliers of each pair of classes are scaled by one factor between 0 and 1, which keeps them feasible,
    so that as much flows into every class as out of it. Of all such factors those with the most
    :math:`\sum_{i,r} A_{ir} \Delta(y_i, r)` are taken: a linear program of at most k(k - 1) unknowns.

    Parameters
    ----------
    multipliers : (m, k) array-like
        A, not negative. The column of the true class is not looked at.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.

    Returns
    -------
    (m, k) array
        0 for the true classes.

    Examples
    --------
    >>> balanced([[0.0, 0.5], [0.0, 0.5], [0.25, 0.0]], [0, 0, 1])
    array([[0.   , 0.125],
           [0.   , 0.125],
           [0.25 , 0.   ]])
    """
    A = reals(multipliers, "multipliers").copy()
    if A.ndim != 2 or len(A) < 1 or A.shape[1] < 2:
        raise ValueError(
            "multipliers must have a row for each example and a column for each of at least two classes, "
            f"found shape {A.shape}"
        )
    labels, costs = class_labels(y, *A.shape), _check_cost(cost, A.shape[1])
    _clear(A, labels)
    return _balanced(A, labels, costs)


# ---------------------------------------------------------------------------------------------------


class _Setting(NamedTuple):
    """The checked arguments of an objective, but for the examples."""

    labels: NDArray[np.intp]
    costs: Floats | None
    prices: Floats


class _Problem(NamedTuple):
    """The checked arguments of an objective for k classes."""

    points: Any
    labels: NDArray[np.intp]
    costs: Floats | None
    prices: Floats


def _setting(
    k: int, m: int, y: ArrayLike, loss: str, C: float, cost: ArrayLike | None, sample_weight: ArrayLike | None
) -> _Setting:
    _check_loss(loss)
    if isinstance(C, (bool, np.bool_)) or not isinstance(C, Real) or not 0 < C < np.inf:
        raise ValueError(f"C must be a positive, finite number, found {C!r}")
    weights = example_weights(sample_weight, m, all_zero=True)
    return _Setting(class_labels(y, m, k), _check_cost(cost, k), float(C) * weights)


def _problem(
    k: int, X: Any, y: ArrayLike, loss: str, C: float, cost: ArrayLike | None, sample_weight: ArrayLike | None
) -> _Problem:
    points = _points(X)
    return _Problem(points, *_setting(k, points.shape[0], y, loss, C, cost, sample_weight))


def _parameters(W: ArrayLike, X: Any, class_map: ClassMap | None) -> tuple[Floats, Floats]:
    """The parameters, and the rows of the classes that they make."""
    V = reals(W, "W")
    if V.ndim != 2 or np.ndim(X) != 2 or V.shape[1] != np.shape(X)[1]:
        raise ValueError(
            f"W must be a matrix with a column for each feature of X, found the shapes {V.shape} "
            f"and {np.shape(X)}"
        )
    return V, V if class_map is None else class_map.to_rows(V)


def _check_bias(bias: ArrayLike | None, k: int) -> Floats:
    found = np.zeros(k) if bias is None else reals(bias, "bias")
    if found.shape != (k,):
        raise ValueError(f"bias must be a number for each of the {k} classes, found shape {found.shape}")
    return found


def _points(X: Any) -> Any:
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


def _check(
    scores: ArrayLike, y: ArrayLike, cost: ArrayLike | None
) -> tuple[Floats, NDArray[np.intp], Floats | None]:
    table = score_table(scores)
    return table, class_labels(y, *table.shape), _check_cost(cost, table.shape[1])


def _check_loss(loss: str) -> None:
    one_of(loss, "loss", LOSSES)


def _in_range(value: float) -> float:
    if not isfinite(value):
        raise ValueError("the value leaves the range of floating point; scale X, W or C")
    return value


def _check_cost(cost: ArrayLike | None, k: int) -> Floats | None:
    if cost is None:
        return None
    costs: Floats = check_costs(cost).astype(np.float64)
    if costs.shape != (k, k):
        raise ValueError(
            f"cost must have a row and a column for each of the {k} classes, found shape {costs.shape}"
        )
    return costs


def _gaps(scores: Floats, labels: NDArray[np.intp], costs: Floats | None) -> Floats:
    rows = np.arange(len(scores))
    found: Floats = scores - scores[rows, labels][:, None]
    found += 1.0 if costs is None else costs[labels]
    found[rows, labels] = 0.0
    return found


def _losses(loss: str, gaps: Floats) -> Floats:
    found: Floats = gaps.max(axis=1) if loss == "crammer-singer" else np.maximum(gaps, 0.0).sum(axis=1)
    return found


def _clear(A: Floats, labels: NDArray[np.intp]) -> None:
    """Set the multipliers of the true classes to 0, and refuse what is no multiplier."""
    A[np.arange(len(A)), labels] = 0.0
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("multipliers must be finite and not negative")


def _used(loss: str, A: Floats) -> Floats:
    """What must not exceed the price of each example."""
    found: Floats = A.sum(axis=1) if loss == "crammer-singer" else A.max(axis=1)
    return found


def _into_bounds(A: Floats, loss: str, prices: Floats) -> None:
    """Refuse multipliers beyond the prices, and scale down what is beyond by rounding."""
    used = _used(loss, A)
    beyond = used - prices * (1 + 1e-9)
    if beyond.max() > 0:
        i = int(np.argmax(beyond))
        raise ValueError(
            f"multipliers of an example must not exceed its price {prices[i]:.6g} "
            f"({'in sum' if loss == 'crammer-singer' else 'each'}), found {used[i]:.6g} in row {i}"
        )
    A /= np.maximum(1.0, np.divide(used, prices, out=np.ones(len(A)), where=prices > 0))[:, None]


def _pull(A: Floats, labels: NDArray[np.intp]) -> Floats:
    r"""The factors of :math:`x_i` in the rows of W: :math:`\sum_r A_{ir} (e_{y_i} - e_r)`."""
    pull = -A
    pull[np.arange(len(A)), labels] = A.sum(axis=1)
    return pull


def _dual_parts(
    A: Floats,
    pull: Floats,
    points: Any,
    labels: NDArray[np.intp],
    costs: Floats | None,
    class_map: ClassMap | None,
) -> tuple[float, float]:
    """The linear term of the dual value, and the quadratic one."""
    asked = A.sum() if costs is None else np.vdot(A, costs[labels])
    W = (points.T @ pull).T
    V = W if class_map is None else class_map.matrix.T @ W
    return float(asked), 0.5 * float(np.vdot(V, V))


def _balanced(A: Floats, labels: NDArray[np.intp], costs: Floats | None) -> Floats:
    from scipy.optimize import linprog  # loaded when it is needed

    k = A.shape[1]
    flow = np.zeros((k, k))
    np.add.at(flow, labels, A)
    first, second = np.nonzero(flow)
    if not len(first):
        return A
    most = flow[first, second] / flow.max()
    pairs = np.arange(len(first))
    rows, columns = np.concatenate([first, second]), np.concatenate([pairs, pairs])
    balance = coo_array((np.repeat([1.0, -1.0], len(pairs)), (rows, columns)), shape=(k, len(pairs)))
    worth = np.ones(len(pairs)) if costs is None else costs[first, second]
    answer = linprog(
        -worth,
        A_eq=balance.tocsr(),
        b_eq=np.zeros(k),
        bounds=np.column_stack([np.zeros(len(pairs)), most]),
        method="highs-ds",
    )
    if answer.x is not None:
        flow[first, second] *= np.clip(answer.x / most, 0.0, 1.0)
    before = np.zeros((k, k))
    np.add.at(before, labels, A)
    _cancel(flow)  # the solver's balance is not exact
    kept = np.divide(flow, before, out=np.zeros((k, k)), where=before > 0)
    found = A * kept[labels]
    if np.abs(_pull(found, labels).sum(axis=0)).max() > 1e-11 * before.sum():
        found[:] = 0.0  # feasible, whatever went wrong
    return found


def _cancel(flow: Floats) -> None:
    """Take away what flows from classes with more out than in, along paths to those with more in than out."""
    least = 1e-15 * flow.sum()
    for _ in range(2 * flow.size):  # each path empties a pair, or balances a class
        excess = flow.sum(axis=1) - flow.sum(axis=0)
        start = int(excess.argmax())
        reached, before = breadth_first_order(csr_array(flow > 0), start)
        ends = reached[excess[reached] < 0]
        if excess[start] <= least or not len(ends):
            return
        path = [int(ends[0])]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
        pairs = path[1:], path[:-1]
        taken = min(excess[start], -excess[ends[0]], flow[pairs].min())
        flow[pairs] = np.maximum(flow[pairs] - taken, 0.0)


def _active(gaps: Floats, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    first = gaps.argmax(axis=1)
    found: NDArray[np.intp] = np.where(gaps[np.arange(len(gaps)), first] > 0, first, labels)
    return found


def _slopes(loss: str, gaps: Floats, labels: NDArray[np.intp]) -> Floats:
    rows = np.arange(len(gaps))
    if loss == "crammer-singer":
        slopes = np.zeros_like(gaps)
        slopes[rows, _active(gaps, labels)] += 1.0
        slopes[rows, labels] -= 1.0
    else:
        slopes = (gaps > 0).astype(np.float64)
        slopes[rows, labels] = -slopes.sum(axis=1)
    return slopes + 0.0  # no negative zeros
