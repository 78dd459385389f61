r"""The dual of the multi-class SVM: the quadratic program, optimality, support vectors, certificates.

The classifier of def-dual-problem has scores :math:`f_r`, functions of the Hilbert space of a kernel, no
bias, and minimises

.. math:: P(f) = \tfrac12 \sum_r \|f_r\|^2 + \sum_i C_i \ell_i(f), \qquad C_i = C s_i,

with the Crammer-Singer or the Weston-Watkins hinge of the gaps
:math:`g_{ir} = \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i)` (:mod:`mcutils.hinge`). *Multipliers*
:math:`\alpha_{ir} \ge 0`, one for each example and each class r but its own, are bounded by
:math:`\sum_{r \ne y_i} \alpha_{ir} \le C_i` (Crammer-Singer) or :math:`\alpha_{ir} \le C_i`
(Weston-Watkins). They make the classifier

.. math:: f_r = \sum_i \beta_{ir} K(x_i, \cdot), \qquad \beta_{ir} = -\alpha_{ir} \ (r \ne y_i), \quad
   \beta_{i y_i} = \sum_{r \ne y_i} \alpha_{ir},

and the dual value :math:`D(\alpha) = \sum_{i,r} \alpha_{ir} \Delta(y_i, r) - \frac12 \sum_r \|f_r\|^2`, which
is at most every value of P (lem-dual-gap). The largest dual value is the least primal one (thm-dual-strong).

Only kernel values are needed: a Gram matrix, :math:`K_{ij} = K(x_i, x_j)`. A regularised bias is the kernel
K + 1. Tables of multipliers have a row for each example and a column for each class; that of the true class
is not looked at.

>>> import numpy as np
>>> X = np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 99.0]])
>>> y = [0, 1, 2, 2, 2]
>>> multipliers = np.array([[0, 3, 0], [3, 0, 0], [4, 4, 0], [0, 0, 0], [0, 0, 0]]) / 12
>>> result = certify(multipliers, X @ X.T, y)
>>> round(12 * result.primal, 9), round(12 * result.dual, 9), result.certifies(1e-12)
(7.0, 7.0, True)
>>> (coefficients(multipliers, y).T @ X).round(4) + 0.0  # the rows of W
array([[-0.5   , -0.3333],
       [ 0.5   , -0.3333],
       [ 0.    ,  0.6667]])
>>> support(multipliers, X @ X.T, y).of_class(0)
array([0, 1, 2])
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import gram_matrix, number, reals
from .certificate import Certificate
from .hinge import HingeProblem

__all__ = [
    "QuadraticProgram",
    "SupportTypes",
    "certify",
    "coefficients",
    "dual_value",
    "feasible",
    "gap_terms",
    "kkt",
    "primal_value",
    "quadratic_program",
    "support",
]

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]


# ---------------------------------------------------------------------------------------------------
# The quadratic program


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    r"""Minimise :math:`\frac12 u^\top P u + q^\top u` subject to :math:`G u \le h` and :math:`A u = b`.

    Of the program of a classifier, ``multipliers`` reads the table out of u.

    Attributes
    ----------
    P : (m k, m k) array
    q : (m k,) array
    G : (n, m k) array
    h : (n,) array
    A : (m, m k) array
    b : (m,) array
    n_classes : int
        k.
    """

    P: Floats
    q: Floats
    G: Floats
    h: Floats
    A: Floats
    b: Floats
    n_classes: int

    def multipliers(self, u: ArrayLike) -> Floats:
        r"""The table :math:`\alpha_{ir} = u_{rm + i}`.

        The column of the true class holds the sum of the others, up to the solver's rounding.

        Parameters
        ----------
        u : (m k,) array-like

        Returns
        -------
        (m, k) array
        """
        vector = np.asarray(u, dtype=np.float64).reshape(-1)
        if vector.size != self.q.size:
            raise ValueError(f"u must have {self.q.size} entries, found {vector.size}")
        return vector.reshape(self.n_classes, -1).T.copy()


def quadratic_program(
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
) -> QuadraticProgram:
    r"""The dual as the textbook's quadratic program (prop-dual-qp), its value with the sign turned.

    The unknowns are class by class, :math:`u_{rm + i} = \alpha_{ir}` counted from 0, with
    :math:`\alpha_{i y_i} = \sum_{r \ne y_i} \alpha_{ir}` for the true class, which are the m equations. P has
    a block :math:`D_r K D_r` for each class, where the diagonal matrix :math:`D_r` has the signs
    :math:`2 [y_i = r] - 1`. So it is dense in memory: :math:`8 m^2 k^2` bytes.

    Parameters
    ----------
    gram : (m, m) array-like
        :math:`K(x_i, x_j)`, symmetric. That it is positive semidefinite, :func:`mcutils.kernel.check_psd`
        checks; here only the minors of two rows are looked at.
    problem : HingeProblem or (m,) array-like of int
        Labels alone stand for the problem with these labels and the defaults of
        :class:`mcutils.hinge.HingeProblem`.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    Two examples, one of each class, with their two unknowns each; the equations make them equal:

    >>> program = quadratic_program([[1.0, 0.5], [0.5, 2.0]], [0, 1])
    >>> program.P
    array([[ 1. , -0.5,  0. ,  0. ],
           [-0.5,  2. ,  0. ,  0. ],
           [ 0. ,  0. ,  1. , -0.5],
           [ 0. ,  0. , -0.5,  2. ]])
    >>> program.q, program.A.tolist()
    (array([ 0., -1., -1.,  0.]), [[1.0, 0.0, -1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])
    """
    matrix = gram_matrix(gram)
    m = len(matrix)
    task = HingeProblem.of(problem, m, rows="gram")
    k, labels = task.n_classes, task.labels
    unknown = np.arange(k * m).reshape(k, m)
    true = unknown[labels, np.arange(m)]
    others = np.setdiff1d(unknown, true)
    example = others % m

    P = np.zeros((k * m, k * m))
    for r in range(k):
        sign = np.where(labels == r, 1.0, -1.0)
        P[r * m : (r + 1) * m, r * m : (r + 1) * m] = sign[:, None] * matrix * sign
    q = np.zeros(k * m)
    q[others] = -task.costs[labels[example], others // m]
    A = np.zeros((m, k * m))
    A[example, others] = -1.0
    A[np.arange(m), true] = 1.0
    capped = true if task.loss == "crammer_singer" else others
    each = np.eye(k * m)
    # that the true class's unknowns are not negative follows from the equations; with it stated as well,
    # every unknown has a bound, and an interior-point method a regular system
    G = np.vstack([-each, each[capped]])
    h = np.concatenate([np.zeros(k * m), task.penalties[capped % m]])
    return QuadraticProgram(P, q, G, h, A, np.zeros(m), k)


# ---------------------------------------------------------------------------------------------------
# What multipliers make


def coefficients(multipliers: ArrayLike, y: ArrayLike) -> Floats:
    r""":math:`\beta` of a classifier (thm-dual-kkt): :math:`-\alpha_{ir}`; for the true class their sum.

    So the scores of any inputs are their kernel values with the sample times :math:`\beta`. The lecture's
    algorithm has the opposite sign, which predicts the worst class (prop-dual-sign).

    Parameters
    ----------
    multipliers : (m, k) array-like
        Finite; negative ones are taken as they are.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.

    Returns
    -------
    (m, k) array
        Its rows sum to 0.

    Examples
    --------
    >>> coefficients([[9.0, 0.5, 0.25], [0.0, 9.0, 1.0]], [0, 1])
    array([[ 0.75, -0.5 , -0.25],
           [-0.  ,  1.  , -1.  ]])
    """
    A = _read(multipliers)
    task = HingeProblem.of(y, *A.shape)
    return task.coefficients(task.without_true_classes(A))


def feasible(
    multipliers: ArrayLike,
    problem: HingeProblem | ArrayLike,
) -> Floats:
    r"""Multipliers within their bounds, near to those given: what an interior-point method left outside.

    Negative ones become 0. What is beyond the penalty is scaled down, for Crammer-Singer all of an example by
    one factor. Those of the true class become 0.

    Parameters
    ----------
    multipliers : (m, k) array-like
        Finite.
    problem
        As in :func:`quadratic_program`.

    Returns
    -------
    (m, k) array

    Examples
    --------
    >>> feasible([[9.0, 1.5, 0.5], [-1e-9, 0.0, 0.25]], [0, 1])
    array([[0.  , 0.75, 0.25],
           [0.  , 0.  , 0.25]])
    """
    A = _read(multipliers)
    return HingeProblem.of(problem, *A.shape).nearest(A)


def dual_value(
    multipliers: ArrayLike,
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
) -> float:
    r""":math:`D(\alpha) = \sum_{i,r} \alpha_{ir} \Delta(y_i, r) - \frac12 \sum_r \beta_r^\top K \beta_r`.

    It is :meth:`~mcutils.hinge.HingeProblem.dual_objective`, from kernel values: at most every value of P.

    Parameters
    ----------
    multipliers : (m, k) array-like
        Feasible up to rounding, 1e-9 of :math:`C_i`, and scaled down by what they are beyond: see
        :func:`feasible`.
    gram, problem
        As in :func:`quadratic_program`.

    Examples
    --------
    >>> dual_value([[0.0, 0.25], [0.25, 0.0]], [[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    0.25
    """
    A, scores, task = _scored(multipliers, gram, problem)
    return task.values(task.coefficients(A), scores)[1]


def primal_value(
    multipliers: ArrayLike,
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
) -> float:
    r""":math:`P(f)` of the classifier that the multipliers make; parameters as in :func:`dual_value`.

    Examples
    --------
    >>> primal_value([[0.0, 0.25], [0.25, 0.0]], [[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    0.25
    """
    A, scores, task = _scored(multipliers, gram, problem)
    return task.values(task.coefficients(A), scores)[0]


def gap_terms(
    multipliers: ArrayLike,
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
) -> Floats:
    r"""What each example adds to :math:`P(f_\alpha) - D(\alpha)` (lem-dual-gap).

    For Crammer-Singer :math:`(C_i - \sum_r \alpha_{ir}) \ell_i + \sum_r \alpha_{ir} (\ell_i - g_{ir})`, for
    Weston-Watkins the like with the slack :math:`\max(0, g_{ir})` of each class. None is negative, and all
    are 0 exactly where the multipliers are optimal. Parameters as in :func:`dual_value`.

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> gap_terms([[0.0, 0.25], [0.125, 0.0]], [[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    array([0.1875 , 0.21875])
    """
    A, scores, task = _scored(multipliers, gram, problem)
    gaps = task.gaps(scores)
    terms: Floats = task.products(A, gaps, task.slack(gaps)).sum(axis=1)
    return terms


def certify(
    multipliers: ArrayLike,
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
    *,
    n_iter: int | None = None,
) -> Certificate:
    """Primal and dual value of the classifier that the multipliers make, with the residuals of :func:`kkt`.

    Parameters
    ----------
    multipliers, gram, problem
        As in :func:`dual_value`.
    n_iter : int, optional
        Iterations used, to be kept with the values.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> result = certify([[0.0, 0.25], [0.25, 0.0]], [[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    >>> result.gap, sorted(result.kkt)
    (0.0, ['complementarity', 'dual', 'primal', 'stationarity'])
    """
    A, scores, task = _scored(multipliers, gram, problem)
    return task.certificate(task.coefficients(A), scores, n_iter)


# ---------------------------------------------------------------------------------------------------
# Optimality


def kkt(
    multipliers: ArrayLike,
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
    *,
    beta: ArrayLike | None = None,
    slack: ArrayLike | None = None,
) -> dict[str, float]:
    r"""KKT residuals of a classifier, its slack and its multipliers (thm-dual-kkt).

    All are 0 exactly at an optimum, together with its multipliers. Each is a part of what it is measured by,
    so that they can be compared: of the largest penalty, of the largest cost, of the norm.

    ``"stationarity"``
        :math:`\|f - f_\alpha\| / \max(1, \|f\|)`, where :math:`f_\alpha` is the classifier of the
        multipliers. The other half of the condition, :math:`\mu_i = C_i - \sum_r \alpha_{ir}`, defines the
        multipliers of the slack.
    ``"primal"``
        The largest of :math:`g_{ir} - \xi_i` and :math:`-\xi_i`, if positive, divided by the largest cost.
    ``"dual"``
        The largest of :math:`-\alpha_{ir}` and :math:`-\mu_i`, if positive, divided by the largest penalty.
    ``"complementarity"``
        The largest of :math:`|\alpha_{ir} (\xi_i - g_{ir})|` and :math:`|\mu_i \xi_i|`, divided by both.

    With Weston-Watkins each pair (i, r) has its own slack :math:`\xi_{ir}` and
    :math:`\mu_{ir} = C_i - \alpha_{ir}` (prop-dual-weston-watkins).

    Parameters
    ----------
    multipliers : (m, k) array-like
        Finite; here they need not be feasible.
    gram, problem
        As in :func:`quadratic_program`.
    beta : (m, k) array-like, optional
        The coefficients of the classifier, by default those of the multipliers, which make it stationary.
    slack : (m,) array-like, optional
        :math:`\xi`, by default the loss, the least that is feasible. For Weston-Watkins (m, k), where the
        column of the true class is not looked at.

    Returns
    -------
    dict

    Examples
    --------
    >>> gram, y = [[1.0, -1.0], [-1.0, 1.0]], [0, 1]
    >>> kkt([[0.0, 0.25], [0.25, 0.0]], gram, y)
    {'stationarity': 0.0, 'primal': 0.0, 'dual': 0.0, 'complementarity': 0.0}
    >>> kkt([[0.0, 0.25], [0.25, 0.0]], gram, y, slack=[0.5, 0.0])["complementarity"]
    0.375
    """
    matrix = gram_matrix(gram)
    A = _read(multipliers)
    m, k = A.shape
    task = HingeProblem.of(problem, m, k)
    if len(matrix) != m:
        raise ValueError(f"multipliers must have a row for each of the {len(matrix)} of gram, found {m}")
    made = task.coefficients(task.without_true_classes(A))
    given = made if beta is None else _read(beta, "beta")
    if given.shape != (m, k):
        raise ValueError(f"beta must be of shape ({m}, {k}), found {given.shape}")
    scores = matrix @ given
    missing = given - made
    squares = float(np.vdot(missing, matrix @ missing)), float(np.vdot(given, scores))
    distance, norm = np.sqrt(np.maximum(squares, 0.0))
    gaps = task.gaps(scores)
    room = task.slack(gaps) if slack is None else _checked_slack(slack, task)
    return task.residuals(A, gaps, room, float(distance / max(1.0, norm)))


def _checked_slack(slack: ArrayLike, task: HingeProblem) -> Floats:
    """The slack of each pair, a column for each class."""
    room = reals(slack, "slack")
    m, k = len(task.labels), task.n_classes
    shape = (m,) if task.loss == "crammer_singer" else (m, k)
    if room.shape != shape:
        raise ValueError(f"slack must have the shape {shape}, found shape {room.shape}")
    if task.loss == "crammer_singer":
        return np.repeat(room[:, None], k, axis=1)
    return task.without_true_classes(room)


@dataclass(frozen=True, eq=False)
class SupportTypes:
    r"""Which examples make the classifier, and which of them are on the margin; see :func:`support`.

    Attributes
    ----------
    kinds : (m, k) array of str
        Of example i for class r: ``"none"`` where :math:`\beta_{ir} = 0`, so that it is no support vector of
        the class. ``"margin"`` where the multipliers are below the penalty: no slack, the true class is
        ahead by exactly the cost of r. ``"bound"`` where they have reached it: the slack may be positive
        (prop-dual-support). For Crammer-Singer it is the sum of an example's multipliers that reaches the
        penalty, so all of its kinds but "none" are equal; for Weston-Watkins each by itself, and the true
        class has "bound" if one has.
    outliers : (m,) bool array
        Positive slack.
    misclassified : (m,) bool array
        A score of another class is at least that of the true one (a margin that is not positive).
    """

    kinds: NDArray[np.str_]
    outliers: NDArray[np.bool_]
    misclassified: NDArray[np.bool_]

    def of_class(self, r: int) -> Indices:
        """The support vectors of a class, by their indices.

        Parameters
        ----------
        r : int
            The class, 0 to k - 1.
        """
        if not 0 <= r < self.kinds.shape[1]:
            raise ValueError(f"r must be a class, 0 to {self.kinds.shape[1] - 1}, found {r!r}")
        return np.flatnonzero(self.kinds[:, r] != "none")


def support(
    multipliers: ArrayLike,
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
    *,
    tol: float = 1e-6,
) -> SupportTypes:
    r"""The support vectors of each class (def-dual-support), and their kinds.

    It is a statement about these multipliers. At an optimum f is unique, they need not be, and neither are
    the kinds (prop-dual-not-unique); with repeated examples the coefficients of one input may even cancel.

    Parameters
    ----------
    multipliers, gram, problem
        As in :func:`dual_value`.
    tol : float
        From 0 up to 1/2. A multiplier up to ``tol`` times the penalty :math:`C_i` counts as 0, one of at
        least ``1 - tol`` times it as the penalty; slack up to ``tol`` times the largest cost counts as 0.

    Returns
    -------
    SupportTypes

    Examples
    --------
    >>> result = support([[0.0, 0.25], [0.25, 0.0]], [[1.0, -1.0], [-1.0, 1.0]], HingeProblem([0, 1], C=0.25))
    >>> result.kinds.tolist(), result.outliers, result.misclassified
    ([['bound', 'bound'], ['bound', 'bound']], array([False, False]), array([False, False]))
    """
    number(tol, "tol", least=0, below=0.5)
    A, scores, task = _scored(multipliers, gram, problem)
    rows = np.arange(len(A))
    A[tol * task.penalties[:, None] >= A] = 0.0
    used = task.load(A)[:, None] if task.loss == "crammer_singer" else A.copy()
    if task.loss == "weston_watkins":
        used[rows, task.labels] = used.max(axis=1)
    full = used >= (1 - tol) * task.penalties[:, None]
    kinds = np.where(np.broadcast_to(full, A.shape), "bound", "margin").astype("<U6")
    kinds[task.coefficients(A) == 0] = "none"

    lead = scores[rows, task.labels][:, None] - scores
    lead[rows, task.labels] = np.inf
    outliers = task.losses(task.gaps(scores)) > tol * task.largest_cost()
    return SupportTypes(kinds, outliers, lead.min(axis=1) <= 0)


def _scored(
    multipliers: ArrayLike, gram: ArrayLike, problem: HingeProblem | ArrayLike
) -> tuple[Floats, Floats, HingeProblem]:
    """Feasible multipliers, 0 for the true classes, and the scores on the sample that they make."""
    matrix = gram_matrix(gram)
    A = _read(multipliers)
    if len(matrix) != len(A):
        raise ValueError(f"multipliers must have a row for each of the {len(matrix)} of gram, found {len(A)}")
    task = HingeProblem.of(problem, *A.shape)
    A = task.into_bounds(A)
    return A, matrix @ task.coefficients(A), task


def _read(values: ArrayLike, name: str = "multipliers") -> Floats:
    """A finite table, copied."""
    A = reals(values, name).copy()
    if A.ndim != 2 or len(A) < 1 or A.shape[1] < 2:
        raise ValueError(
            f"{name} must have a row for each example and a column for each of at least two classes, "
            f"found shape {A.shape}"
        )
    return A
