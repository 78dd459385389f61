r"""What a class of classifiers can represent: shattering, separation and what one class has of another.

A class of classifiers is given to these functions by its *label table*: one row for each classifier, one
column for each point, entries the classes as integers from 0 (def-capacity-natarajan). Everything that is
searched is searched exhaustively, so tables are small.

Whether linear rules can produce given labels is a question about strict linear inequalities, and `decide`
answers it with a certificate either way: a solution, or multipliers that prove that there is none
(prop-capacity-alternative); with ``exact=True`` it computes in fractions. For two classes and many examples,
`mcutils.binary.separate` decides the same by a programme of its own, with the features scaled.

>>> import numpy as np
>>> table = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]])
>>> natarajan_dimension(table)
2
>>> separable([[0, 0], [1, 1], [1, 0], [0, 1]], [0, 0, 1, 1]).separable  # exclusive or
False
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

__all__ = [
    "Alternative",
    "Separation",
    "Shattered",
    "closed_form",
    "decide",
    "decision_list",
    "growth",
    "linear_labelings",
    "n_shattered",
    "natarajan_bound",
    "natarajan_dimension",
    "realises",
    "reduction_bound",
    "reduction_labelings",
    "sauer",
    "sensitivity",
    "separable",
    "share_realised",
    "shattered_set",
    "smallest_positive",
    "vote",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Decode = Callable[[Ints], Ints]

# Below this a margin found in floating point is not believed, and fractions decide.
_DOUBT = 1e-7
# Multipliers of unit rows whose sum is longer than this are not believed either.
_ROUNDING = 1e-13


# --- shattering -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shattered:
    """A shattered set of points, with two classes for each: every mixture of them occurs in the table.

    Attributes
    ----------
    points : tuple of int
        The columns of the table.
    pairs : tuple of (int, int)
        Two classes for each point, the smaller one first.
    """

    points: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]


def _boxes(table: Ints) -> Iterator[Shattered]:
    """Every shattered set with every choice of its pairs, smaller ones before what contains them."""
    n_points = table.shape[1]
    stack: list[tuple[Shattered, Ints, Ints]] = [
        (Shattered((), ()), np.arange(len(table)), np.zeros(len(table), dtype=np.intp))
    ]
    while stack:
        found, rows, mixture = stack.pop()
        yield found
        for point in range(found.points[-1] + 1 if found.points else 0, n_points):
            column = table[rows, point]
            for a, b in combinations(np.unique(column).tolist(), 2):
                keep = (column == a) | (column == b)
                longer = 2 * mixture[keep] + (column[keep] == b)
                if len(np.unique(longer)) == 2 ** (len(found.points) + 1):
                    extended = Shattered((*found.points, point), (*found.pairs, (a, b)))
                    stack.append((extended, rows[keep], longer))


def shattered_set(table: ArrayLike) -> Shattered:
    """A largest shattered set of points, with its pairs of classes (def-capacity-natarajan).

    Parameters
    ----------
    table : (n_classifiers, n_points) array-like of int
        The classes that the classifiers give to the points; rows may repeat.

    Returns
    -------
    Shattered
        Found by exhaustive search.

    Examples
    --------
    >>> shattered_set([[0, 0, 0], [0, 1, 2], [1, 0, 2], [1, 1, 0]])
    Shattered(points=(0, 1), pairs=((0, 1), (0, 1)))
    """
    best = Shattered((), ())
    for found in _boxes(_check_table(table)):
        # first in the order of the columns among the largest
        if (len(found.points), best.points) > (len(best.points), found.points):
            best = found
    return best


def natarajan_dimension(table: ArrayLike) -> int:
    """The size of the largest shattered set of points; with two classes the Vapnik–Chervonenkis dimension.

    Parameters
    ----------
    table : (n_classifiers, n_points) array-like of int
        The classes that the classifiers give to the points.

    Examples
    --------
    >>> import numpy as np
    >>> thresholds = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    >>> natarajan_dimension(thresholds)
    1
    """
    return len(shattered_set(table).points)


def n_shattered(table: ArrayLike, size: int | None = None) -> int:
    """The number of shattered sets, each counted once for every choice of its pairs (lem-capacity-boxes).

    Parameters
    ----------
    table : (n_classifiers, n_points) array-like of int
        The classes that the classifiers give to the points.
    size : int, optional
        Count only sets of so many points. The empty set is shattered by every table.

    Examples
    --------
    >>> n_shattered([[0, 0], [0, 1], [1, 1]]), n_shattered([[0, 0], [0, 1], [1, 1]], size=1)
    (3, 2)
    """
    if size is not None and size < 0:
        raise ValueError(f"size={size} is no number of points; it must be at least 0")
    found = _boxes(_check_table(table))
    return sum(size is None or len(box.points) == size for box in found)


def growth(table: ArrayLike, size: int) -> int:
    """The most different labelings that the classifiers give to any ``size`` of the points.

    Parameters
    ----------
    table : (n_classifiers, n_points) array-like of int
        The classes that the classifiers give to the points.
    size : int
        From 0 to the number of points.

    Examples
    --------
    >>> growth([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]], 2)
    3
    """
    labels = _check_table(table)
    if not 0 <= size <= labels.shape[1]:
        raise ValueError(f"size={size} must lie between 0 and the {labels.shape[1]} points of the table")
    if size == 0:
        return 1
    return max(
        len(np.unique(labels[:, columns], axis=0)) for columns in combinations(range(labels.shape[1]), size)
    )


# --- bounds -----------------------------------------------------------------------------------------------


def sauer(n: int, d: int) -> int:
    r"""The bound of Sauer's lemma, :math:`\sum_{i \le d} \binom ni` (cor-capacity-sauer).

    Examples
    --------
    >>> sauer(4, 1), sauer(3, 5)
    (5, 8)
    """
    return natarajan_bound(n, d, 2)


def natarajan_bound(n: int, dimension: int, k: int) -> int:
    r"""The most labelings of n points: :math:`\sum_{i \le D} \binom ni \binom k2^i` (cor-capacity-sauer).

    Parameters
    ----------
    n : int
        Number of points, at least 0.
    dimension : int
        Natarajan dimension :math:`D` of the class, at least 0.
    k : int
        Number of classes, at least 2.

    Examples
    --------
    >>> natarajan_bound(4, 1, 3)
    13
    """
    for name, value, least in (("n", n, 0), ("dimension", dimension, 0), ("k", k, 2)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, found {value}")
    total = term = 1  # term: comb(n, i) * comb(k, 2) ** i
    for i in range(min(n, dimension)):
        term = term * (n - i) * comb(k, 2) // (i + 1)
        total += term
    return total


def reduction_bound(l: int, d: int) -> int:
    r"""The largest n with :math:`2^n \le \big(\sum_{i\le d}\binom ni\big)^l` (thm-capacity-reduction).

    No reduction that decodes the answers of l binary rules, each from a class of VC dimension d, has a larger
    Natarajan dimension. It is d for l = 1.

    Examples
    --------
    >>> [reduction_bound(1, d) for d in (1, 2, 3)], reduction_bound(3, 2)
    ([1, 2, 3], 25)
    """
    _check_counts(l, d)
    low, high = d, int(closed_form(l, d)) + 1  # holds at low, fails at high; once it fails it fails for good
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(middle, l, d):
            low = middle
        else:
            high = middle
    return low


def _fits(n: int, l: int, d: int) -> bool:
    """Whether 2^n <= sauer(n, d)^l: by logarithms, and in whole numbers where these are too near."""
    labelings = sauer(n, d)
    lead = l * log2(labelings) - n  # math.log2 takes integers of any size
    if abs(lead) > 1e-9 * (n + 1):
        return lead > 0
    return bool(2**n <= labelings**l)


def closed_form(l: int, d: int) -> float:
    r"""The upper bound :math:`2ld\log_2(3l)` of `reduction_bound` (thm-capacity-reduction).

    Examples
    --------
    >>> round(closed_form(1, 1), 2), round(closed_form(3, 2), 2)
    (3.17, 38.04)
    """
    _check_counts(l, d)
    return 2 * l * d * log2(3 * l)


# --- decoding the answers of binary rules -----------------------------------------------------------------


def smallest_positive(answers: Ints) -> Ints:
    """One-vs-all by signs: the first class whose rule says yes; 0 if none does (def-capacity-reduction).

    Parameters
    ----------
    answers : (n, k) array of +1 and -1
        The answers of the k rules.

    Examples
    --------
    >>> import numpy as np
    >>> smallest_positive(np.array([[-1, 1, 1], [-1, -1, -1]]))
    array([1, 0])
    """
    first: Ints = np.argmax(answers > 0, axis=1)
    return first


def decision_list(answers: Ints) -> Ints:
    """One-vs-all by signs: the first class whose rule says yes; the last class if none does.

    Parameters
    ----------
    answers : (n, k) array of +1 and -1
        The answers of the k rules; the last one changes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> decision_list(np.array([[-1, 1, 1], [-1, -1, -1]]))
    array([1, 2])
    """
    said_yes = answers > 0
    first: Ints = np.where(said_yes.any(axis=1), np.argmax(said_yes, axis=1), answers.shape[1] - 1)
    return first


def vote(answers: Ints) -> Ints:
    """All-pairs by vote: the class that wins most duels, of several the smallest.

    Parameters
    ----------
    answers : (n, k(k-1)/2) array
        Pairs in the order (0, 1), (0, 2), ..., (k-2, k-1). Positive: the first of the pair wins; negative:
        the second; 0: half a win for each.

    Examples
    --------
    >>> import numpy as np
    >>> vote(np.array([[1, -1, 1], [-1, -1, 1]]))  # 0 beats 1 beats 2 beats 0: a cycle; 1 beats 0 and 2
    array([0, 1])
    """
    k = round((1 + (1 + 8 * answers.shape[1]) ** 0.5) / 2)
    if k * (k - 1) // 2 != answers.shape[1]:
        raise ValueError(f"answers has {answers.shape[1]} columns, which is no number of pairs")
    wins = np.zeros((len(answers), k), dtype=np.int64)
    for s, (y, r) in enumerate(combinations(range(k), 2)):
        sign = np.sign(answers[:, s]).astype(np.int64)
        wins[:, y] += sign
        wins[:, r] -= sign
    winner: Ints = np.argmax(wins, axis=1)
    return winner


def sensitivity(decode: Decode, l: int) -> tuple[int, tuple[int, ...]]:
    """The most coordinates of one vector of answers that change the decoded class when flipped alone.

    A lower bound for the Natarajan dimension is made of it (thm-capacity-sensitive).

    Parameters
    ----------
    decode : callable
        Takes an (n, l) array of +1 and -1, gives n classes.
    l : int
        Number of binary rules; all 2^l vectors are tried.

    Returns
    -------
    size : int
        The number of sensitive coordinates.
    answers : tuple of int
        The first vector with so many.

    Examples
    --------
    >>> sensitivity(smallest_positive, 4)
    (4, (-1, -1, -1, 1))
    """
    if not 1 <= l <= 20:
        raise ValueError(f"l must be from 1 to 20, since all 2^l vectors are tried; found {l}")
    every = np.array(list(product((-1, 1), repeat=l)), dtype=np.intp)
    decoded = decode(every)
    changed = np.zeros(len(every), dtype=np.intp)
    for s in range(l):
        flipped = every.copy()
        flipped[:, s] *= -1
        changed += decode(flipped) != decoded
    best = int(np.argmax(changed))
    return int(changed[best]), tuple(every[best].tolist())


def reduction_labelings(binary: ArrayLike, decode: Decode, l: int) -> Ints:
    """The label table of a reduction: every choice of l rows of a binary table, decoded point by point.

    Parameters
    ----------
    binary : (n_rules, n_points) array-like of +1 and -1
        The answers of the binary rules; all ``n_rules ** l`` choices are made, at most a million.
    decode : callable
        Takes an (n, l) array of +1 and -1, gives n classes.
    l : int
        Number of binary rules that are decoded together.

    Returns
    -------
    (n_classifiers, n_points) int array
        Without repetitions.

    Examples
    --------
    >>> import numpy as np
    >>> half_lines = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> len(reduction_labelings(half_lines, decision_list, 3))
    9
    """
    answers = np.unique(np.asarray(binary), axis=0)
    if answers.ndim != 2 or not np.isin(answers, (-1, 1)).all():
        raise ValueError("binary must be a table with a row for each rule and entries +1 and -1")
    if l < 1 or len(answers) ** l > 10**6:
        raise ValueError(f"l={l} rules out of {len(answers)} are {len(answers)}**{l} choices; at most 10**6")
    chosen = np.array(list(product(range(len(answers)), repeat=l)), dtype=np.intp)
    table = np.stack([decode(answers[chosen, point]) for point in range(answers.shape[1])], axis=1)
    return np.unique(table, axis=0)


# --- separation by linear programming ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Alternative:
    """Which of the two alternatives holds, with what proves it (prop-capacity-alternative).

    Attributes
    ----------
    solution : (D,) array or None
        A point v at which all strict inequalities hold, and the others too.
    strict, weak : arrays or None
        If there is no such point: non-negative multipliers, those of the strict inequalities with the sum 1,
        with which the inequalities add up to 0 > 0. Arrays of
        `fractions.Fraction` where it was decided exactly.
    exact : bool
        Whether it was decided in fractions; otherwise it holds up to rounding.
    """

    solution: NDArray[Any] | None
    strict: NDArray[Any] | None
    weak: NDArray[Any] | None
    exact: bool

    @property
    def feasible(self) -> bool:
        """Whether there is a solution."""
        return self.solution is not None


def decide(strict: ArrayLike, weak: ArrayLike | None = None, *, exact: bool = False) -> Alternative:
    r"""Is there a v with :math:`\langle a, v\rangle > 0` for all rows a of ``strict``, and >= 0 for ``weak``?

    Parameters
    ----------
    strict : (n, D) array-like
        At least one row. Numbers, or `fractions.Fraction`.
    weak : (n', D) array-like, optional
        Rows of the inequalities that may be equalities.
    exact : bool, default=False
        Decide in fractions, by the simplex method with Bland's rule; floating-point entries are taken for
        what they are, binary fractions. Otherwise by floating-point linear programming, and in fractions only
        where neither certificate holds beyond doubt.

    Returns
    -------
    Alternative
        A solution, or multipliers that prove that there is none.

    Examples
    --------
    >>> decide([[1, 0], [-1, 1]]).feasible
    True
    >>> no = decide([[1, 2], [-2, -4]], exact=True)
    >>> [str(value) for value in no.strict]
    ['2/3', '1/3']
    """
    rows, others = _check_rows(strict, weak)
    if not exact:
        found = _decide_float(rows.astype(np.float64), others.astype(np.float64))
        if found is not None:
            return found
    return _decide_exact(rows, others)


def _decide_float(strict: Floats, weak: Floats) -> Alternative | None:
    """Largest t with A v >= t for unit rows and v in a box; its dual are the multipliers."""
    lengths = np.linalg.norm(strict, axis=1)
    if not lengths.all():  # 0 > 0 is impossible by itself
        return Alternative(None, np.eye(len(strict))[np.argmin(lengths)], np.zeros(len(weak)), False)
    weak_lengths = np.linalg.norm(weak, axis=1)
    weak_lengths[weak_lengths == 0] = 1.0
    A, B = strict / lengths[:, None], weak / weak_lengths[:, None]
    size = A.shape[1]
    answer = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.block([[-A, np.ones((len(A), 1))], [-B, np.zeros((len(B), 1))]]),
        b_ub=np.zeros(len(A) + len(B)),
        bounds=[(-1, 1)] * size + [(None, 1)],
        method="highs",
    )
    if answer.status != 0:
        return None
    v = answer.x[:size]
    if np.min(A @ v) > _DOUBT and (len(B) == 0 or np.min(B @ v) >= 0):
        return Alternative(v, None, None, False)
    weights = np.maximum(-answer.ineqlin.marginals, 0.0)
    alpha, beta = weights[: len(A)], weights[len(A) :]
    if alpha.sum() > 0.5 and np.abs(alpha @ A + beta @ B).max() <= _ROUNDING:
        alpha, beta = alpha / lengths, beta / weak_lengths
        return Alternative(None, alpha / alpha.sum(), beta / alpha.sum(), False)
    return None


def _decide_exact(strict: NDArray[Any], weak: NDArray[Any]) -> Alternative:
    """Phase one of the simplex method for: multipliers >= 0, sum of rows 0, sum of the strict ones 1."""
    n, size = len(strict), strict.shape[1]
    columns = [[_fraction(entry) for entry in row] + [Fraction(1)] for row in strict]
    columns += [[_fraction(entry) for entry in row] + [Fraction(0)] for row in weak]
    right = [Fraction(0)] * size + [Fraction(1)]
    N, m = len(columns), size + 1
    # columns of the problem, one artificial variable for each row, the right-hand side
    tableau = [
        [column[i] for column in columns] + [Fraction(int(i == j)) for j in range(m)] + [right[i]]
        for i in range(m)
    ]
    basis = list(range(N, N + m))
    # reduced costs of the sum of the artificial variables
    cost = [-sum((row[j] for row in tableau), Fraction(0)) for j in range(N)] + [Fraction(0)] * m
    cost.append(-sum((row[-1] for row in tableau), Fraction(0)))
    while True:
        entering = next((j for j in range(N) if cost[j] < 0), None)
        if entering is None:
            break
        ratios = [
            (row[-1] / row[entering], basis[i], i) for i, row in enumerate(tableau) if row[entering] > 0
        ]
        leaving = min(ratios)[2]  # the sum is bounded below, so there is one
        pivot = tableau[leaving][entering]
        tableau[leaving] = [entry / pivot for entry in tableau[leaving]]
        for row in (*(row for i, row in enumerate(tableau) if i != leaving), cost):
            factor = row[entering]
            if factor:
                row[:] = [a - factor * b for a, b in zip(row, tableau[leaving], strict=True)]
        basis[leaving] = entering
    if cost[-1] == 0:
        multipliers = [Fraction(0)] * (N + m)
        for i, j in enumerate(basis):
            multipliers[j] = tableau[i][-1]
        weights = np.array([*multipliers[:N], None], dtype=object)[:-1]
        return Alternative(None, weights[:n], weights[n:], True)
    # the dual values are 1 - reduced cost of the artificial variables
    v = [-(1 - cost[N + i]) for i in range(size)]
    return Alternative(np.array([*v, None], dtype=object)[:-1], None, None, True)


@dataclass(frozen=True, eq=False)
class Separation:
    r"""Whether one linear machine gives each point its class, strictly, with what proves it.

    Attributes
    ----------
    separable : bool
        Whether there are such weights.
    weights : (k, d) array or None
        One weight vector for each class, the last one 0 (only differences count).
    bias : (k,) array or None
        The biases, the last one 0; zeros without bias.
    multipliers : (m, k) array or None
        If not separable: :math:`\alpha_{ir} \ge 0` with the sum 1, 0 at :math:`r = y_i`, such that for every
        class :math:`\sum_i (\sum_r \alpha_{ir} [y_i = y] - \alpha_{iy})\,x_i = 0`, with bias the same for the
        constant 1: any weights have a weighted mean of all leads that is 0, so some lead is not positive.
    margins : (m,) array or None
        The lead of each example's class over the best of the others with these weights.
    exact : bool
        Whether it was decided in fractions.
    """

    separable: bool
    weights: NDArray[Any] | None
    bias: NDArray[Any] | None
    multipliers: NDArray[Any] | None
    margins: NDArray[Any] | None
    exact: bool


def separable(
    X: ArrayLike, y: ArrayLike, *, k: int | None = None, bias: bool = True, exact: bool = False
) -> Separation:
    """Is there a linear machine in which each point's class wins alone? (prop-capacity-separable)

    Parameters
    ----------
    X : (m, d) array-like
        The points; entries may be `fractions.Fraction`.
    y : (m,) array-like of int
        The classes, from 0.
    k : int, optional
        Number of classes, at least 2; by default as many as ``y`` needs.
    bias : bool, default=True
        Whether scores have a constant term.
    exact : bool, default=False
        Decide in fractions.

    Returns
    -------
    Separation
        With weights, or with multipliers that prove that there are none.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> separable(line, [0, 1, 2]).separable, separable(line, [0, 1, 0]).separable
    (True, False)
    >>> separable(line, [0, 1, 2], bias=False).separable  # at 0 all scores are 0
    False
    """
    points, labels, k = _check_points(X, y, k)
    rows, owners = _leads(points, labels, k, bias)
    found = decide(rows, exact=exact)
    if found.solution is None:
        assert found.strict is not None
        multipliers = np.zeros((len(labels), k), dtype=found.strict.dtype)
        for value, (i, r) in zip(found.strict, owners, strict=True):
            multipliers[i, r] = value
        return Separation(False, None, None, multipliers, None, found.exact)
    width = points.shape[1] + bias
    table = np.concatenate([found.solution.reshape(k - 1, width), np.zeros((1, width), dtype=np.intp)])
    leads = rows @ found.solution
    margins = np.array(
        [min(leads[j] for j in range(len(owners)) if owners[j][0] == i) for i in range(len(labels))]
    )
    weights, constant = (table[:, :-1], table[:, -1]) if bias else (table, np.zeros(k, dtype=np.intp))
    return Separation(True, weights, constant, None, margins, found.exact)


def realises(X: ArrayLike, labels: ArrayLike, k: int, *, bias: bool = True, exact: bool = False) -> bool:
    """Does a linear machine with the tie rule "smallest class" give the points exactly these labels?

    Other than `separable`, a smaller class may win by a tie (def-capacity-linear): without bias this matters.

    Parameters
    ----------
    X : (m, d) array-like
        The points.
    labels : (m,) array-like of int
        From 0 to k - 1.
    k : int
        Number of classes.
    bias, exact : bool
        As in `separable`.

    Examples
    --------
    >>> opposite = [[1.0], [-1.0]]
    >>> realises(opposite, [0, 0], 2, bias=False), realises(opposite, [1, 1], 2, bias=False)
    (True, False)
    """
    points, y, k = _check_points(X, labels, k)
    rows, owners = _leads(points, y, k, bias)
    tied = np.array([y[i] < r for i, r in owners], dtype=bool)
    if tied.all():  # all scores 0: class 0 everywhere
        return True
    return decide(rows[~tied], rows[tied], exact=exact).feasible


def linear_labelings(X: ArrayLike, k: int, *, bias: bool = True, exact: bool = False) -> Ints:
    """All labelings of the points by linear machines with k classes, ties to the smallest.

    Parameters
    ----------
    X : (n, d) array-like
        The points, few: the labelings are found point after point, those of the first points that no machine
        produces are not continued.
    k : int
        Number of classes, at least 2.
    bias, exact : bool
        As in `separable`.

    Returns
    -------
    (n_labelings, n) int array
        In lexicographic order.

    Examples
    --------
    >>> linear_labelings([[0.0], [1.0], [2.0]], 2).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    points = np.asarray(X)
    _check_points(points, np.zeros(len(points), dtype=np.intp), k)
    found: list[tuple[int, ...]] = [()]
    for n in range(1, len(points) + 1):
        found = [
            (*start, c)
            for start in found
            for c in range(k)
            if realises(points[:n], [*start, c], k, bias=bias, exact=exact)
        ]
    return np.array(found, dtype=np.intp)


def share_realised(
    draw: Callable[[np.random.Generator], Ints],
    X: ArrayLike,
    k: int,
    *,
    n_draws: int = 100,
    bias: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> float:
    """A containment experiment: the share of drawn labelings that some linear machine produces strictly.

    Parameters
    ----------
    draw : callable
        Takes a generator, gives labels of the points: those of a random classifier of the class in question.
    X : (m, d) array-like
        The points.
    k : int
        Number of classes.
    n_draws : int, default=100
        Number of classifiers.
    bias : bool, default=True
        Whether the scores of the linear machine have a constant term.
    random_state : int, numpy.random.Generator or None
        Seed, or a generator that is advanced.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(4.0)[:, None]
    >>> share_realised(lambda rng: (line[:, 0] > rng.random() * 4).astype(int), line, 2, random_state=0)
    1.0
    """
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, found {n_draws}")
    rng = np.random.default_rng(random_state)
    return sum(separable(X, draw(rng), k=k, bias=bias).separable for _ in range(n_draws)) / n_draws


# --- checks -----------------------------------------------------------------------------------------------


def _leads(
    points: NDArray[Any], labels: Ints, k: int, bias: bool
) -> tuple[NDArray[Any], list[tuple[int, int]]]:
    """The lead of y_i over each rival r, linear in the first k - 1 weight vectors: a row for each i and r."""
    m = len(points)
    inputs = np.column_stack([points, np.ones(m, dtype=np.intp)]) if bias else points
    width = inputs.shape[1]
    owners = [(i, r) for i in range(m) for r in range(k) if r != labels[i]]
    rows = np.zeros((len(owners), k * width), dtype=inputs.dtype)
    for j, (i, r) in enumerate(owners):
        rows[j, labels[i] * width : (labels[i] + 1) * width] = inputs[i]
        rows[j, r * width : (r + 1) * width] = -inputs[i]
    return rows[:, : (k - 1) * width], owners


def _fraction(entry: Any) -> Fraction:
    return (
        entry if isinstance(entry, Fraction) else Fraction(entry.item() if hasattr(entry, "item") else entry)
    )


def _check_counts(l: int, d: int) -> None:
    for name, value in (("l", l), ("d", d)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, found {value}")


def _check_table(table: ArrayLike) -> Ints:
    labels = np.asarray(table)
    if labels.ndim != 2 or len(labels) < 1:
        raise ValueError(
            "table must have a row for each of at least one classifier and a column for each point, "
            f"found shape {labels.shape}"
        )
    if labels.dtype.kind not in "iu":
        raise ValueError(f"table must hold classes as integers, found dtype {labels.dtype}")
    return np.unique(labels, axis=0).astype(np.intp) if labels.shape[1] else labels[:1].astype(np.intp)


def _check_rows(strict: ArrayLike, weak: ArrayLike | None) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = _numbers(strict, "strict")
    if rows.shape[0] < 1 or rows.shape[1] < 1:
        raise ValueError(f"strict must have at least one row and one column, found shape {rows.shape}")
    others = np.zeros((0, rows.shape[1]), dtype=rows.dtype) if weak is None else _numbers(weak, "weak")
    if others.shape[1] != rows.shape[1]:
        raise ValueError(f"strict has {rows.shape[1]} columns, weak has {others.shape[1]}; they must agree")
    return rows, others


def _numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    table = np.asarray(values)
    if table.ndim != 2:
        raise ValueError(f"{name} must be a matrix, found shape {table.shape}")
    if table.dtype.kind == "O":
        if not all(isinstance(entry, (int, float, Fraction, np.number)) for entry in table.flat):
            raise ValueError(f"{name} must hold numbers or fractions")
    elif table.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold real numbers, found dtype {table.dtype}")
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        raise ValueError(f"{name} must be finite, found {table[~np.isfinite(table)][0]}")
    return table


def _check_points(X: ArrayLike, y: ArrayLike, k: int | None) -> tuple[NDArray[Any], Ints, int]:
    points = _numbers(X, "X")
    labels = np.asarray(y)
    if len(points) < 1 or points.shape[1] < 1:
        raise ValueError(f"X must have at least one point and one coordinate, found shape {points.shape}")
    if labels.shape != (len(points),) or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be one integer for each of the {len(points)} points of X")
    if k is None:
        k = max(2, int(labels.max()) + 1)
    if k < 2:
        raise ValueError(f"k must be at least 2, found {k}")
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"labels must be integers from 0 to {k - 1}, found {labels.min()} to {labels.max()}")
    return points, labels.astype(np.intp), k
