r"""What a hypothesis class can represent: shattering, separability, and how reductions inherit capacity.

A class of classifiers is given to these functions by its *label table*: one row for each classifier, one
column for each point, entries the classes as integers from 0 (def-capacity-natarajan). Everything that is
searched is searched exhaustively, so tables are small.

Whether linear rules can produce given labels is a question about strict linear inequalities, and `decide`
returns a certificate either way: a solution, or multipliers that prove that there is none
(prop-capacity-alternative). It is checked in exact arithmetic; with ``exact=True`` it is also found in
fractions. For two classes and many examples, `mcutils.binary.separate` decides the same by a programme of its
own.

>>> import numpy as np
>>> table = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]])
>>> natarajan_dimension(table)
2
>>> separable([[0, 0], [1, 1], [1, 0], [0, 1]], [0, 0, 1, 1]).separable  # exclusive or
False
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import combinations, product
from math import comb, inf, log2
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._alternative import decide as alternative
from ._alternative import nearest, rounded_leads
from ._checks import array, function, integer, switch
from .exact import all_signs, as_fractions

__all__ = [
    "Alternative",
    "LinearSeparation",
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
    "shattered_set",
    "smallest_positive",
    "vote",
]

_MOST_CLASSES = 1_000  # the systems have a block of columns for each class
_MOST_DIMENSION = 10_000  # the numbers below have as many digits
_DECODE = "a function that takes a table of +1 and -1 and gives a class for each row"

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Decode = Callable[[Ints], Ints]


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
        box, rows, mixture = stack.pop()
        yield box
        for point in range(box.points[-1] + 1 if box.points else 0, n_points):
            column = table[rows, point]
            for a, b in combinations(np.unique(column).tolist(), 2):
                keep = (column == a) | (column == b)
                longer = 2 * mixture[keep] + (column[keep] == b)
                if len(np.unique(longer)) == 2 ** (len(box.points) + 1):
                    extended = Shattered((*box.points, point), (*box.pairs, (a, b)))
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
    for boxes in _boxes(_check_table(table)):
        # first in the order of the columns among the largest
        if (len(boxes.points), best.points) > (len(best.points), boxes.points):
            best = boxes
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
        Count only sets of this size. The empty set is shattered by every table.

    Examples
    --------
    >>> n_shattered([[0, 0], [0, 1], [1, 1]]), n_shattered([[0, 0], [0, 1], [1, 1]], size=1)
    (3, 2)
    """
    if size is not None:
        size = integer(size, "size", 0)
    boxes = _boxes(_check_table(table))
    return sum(size is None or len(box.points) == size for box in boxes)


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
    size = integer(size, "size", 0, labels.shape[1])  # no more than the points
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
    return natarajan_bound(n, integer(d, "d", 0), 2)


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
    n, dimension, k = integer(n, "n", 0), integer(dimension, "dimension", 0), integer(k, "k", 2)
    total = term = 1  # term: comb(n, i) * comb(k, 2) ** i
    for i in range(min(n, dimension)):
        term = term * (n - i) * comb(k, 2) // (i + 1)
        total += term
    return total


def reduction_bound(l: int, d: int) -> int:
    r"""The largest n with :math:`2^n \le \big(\sum_{i\le d}\binom ni\big)^l` (thm-capacity-reduction).

    No reduction that decodes the outputs of l binary rules, each from a class of VC dimension d, has a larger
    Natarajan dimension. It is d for l = 1.

    Examples
    --------
    >>> [reduction_bound(1, d) for d in (1, 2, 3)], reduction_bound(3, 2)
    ([1, 2, 3], 25)
    """
    l, d = integer(l, "l", 1), integer(d, "d", 1, feasible=_MOST_DIMENSION)
    low, high = d, int(closed_form(l, d)) + 1  # holds at low, fails at high; once it fails it fails for good
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(middle, l, d):
            low = middle
        else:
            high = middle
    return low


def _fits(n: int, l: int, d: int) -> bool:
    """Whether 2^n <= sauer(n, d)^l: by logarithms, with as many digits as it takes."""
    labelings = sauer(n, d)
    lead = l * log2(labelings) - n  # math.log2 takes integers of any size
    if abs(lead) > 1e-9 * (n + 1):
        return lead > 0
    if labelings & (labelings - 1) == 0:  # a power of two: the only way to be equal
        return l * (labelings.bit_length() - 1) >= n
    with localcontext() as context:
        context.prec = 50
        while True:
            precise = l * Decimal(labelings).ln() / Decimal(2).ln() - n
            if abs(precise) > (n + l) * Decimal(10) ** (10 - context.prec):
                return precise > 0
            context.prec *= 2


def closed_form(l: int, d: int) -> float:
    r"""The upper bound :math:`2ld\log_2(3l)` of `reduction_bound` (thm-capacity-reduction).

    Examples
    --------
    >>> round(closed_form(1, 1), 2), round(closed_form(3, 2), 2)
    (3.17, 38.04)
    """
    l, d = integer(l, "l", 1), integer(d, "d", 1, feasible=_MOST_DIMENSION)
    return 2 * l * d * log2(3 * l)


# --- decoding the outputs of binary rules -----------------------------------------------------------------


def smallest_positive(outputs: ArrayLike) -> Ints:
    """One-vs-all by signs: the first class whose rule is positive; 0 if none is (def-capacity-reduction).

    Parameters
    ----------
    outputs : (n, k) array-like of +1 and -1
        The outputs of the k rules; any positive number counts as +1.

    Examples
    --------
    >>> import numpy as np
    >>> smallest_positive(np.array([[-1, 1, 1], [-1, -1, -1]]))
    array([1, 0])
    """
    first: Ints = np.argmax(_check_outputs(outputs) > 0, axis=1)
    return first


def decision_list(outputs: ArrayLike) -> Ints:
    """One-vs-all by signs: the first class whose rule is positive; the last class if none is.

    Parameters
    ----------
    outputs : (n, k) array-like of +1 and -1
        The outputs of the k rules; any positive number counts as +1, and the last one changes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> decision_list(np.array([[-1, 1, 1], [-1, -1, -1]]))
    array([1, 2])
    """
    positive = _check_outputs(outputs) > 0
    first: Ints = np.where(positive.any(axis=1), np.argmax(positive, axis=1), positive.shape[1] - 1)
    return first


def vote(outputs: ArrayLike) -> Ints:
    """All-pairs by vote: the class that wins most duels, ties to the smallest.

    Parameters
    ----------
    outputs : (n, k(k-1)/2) array-like
        Pairs in the order (0, 1), (0, 2), ..., (k-2, k-1). Positive: the first of the pair wins; negative:
        the second; 0: half a win for each.

    Examples
    --------
    >>> import numpy as np
    >>> vote(np.array([[1, -1, 1], [-1, -1, 1]]))  # 0 beats 1 beats 2 beats 0: a cycle; 1 beats 0 and 2
    array([0, 1])
    """
    duels = _check_outputs(outputs)
    k = round((1 + (1 + 8 * duels.shape[1]) ** 0.5) / 2)
    if k * (k - 1) // 2 != duels.shape[1]:
        raise ValueError(f"outputs has {duels.shape[1]} columns, which is no number of pairs")
    wins = np.zeros((len(duels), k), dtype=np.int64)
    for s, (y, r) in enumerate(combinations(range(k), 2)):
        sign = np.sign(duels[:, s]).astype(np.int64)
        wins[:, y] += sign
        wins[:, r] -= sign
    winner: Ints = np.argmax(wins, axis=1)
    return winner


def sensitivity(decode: Decode, l: int) -> tuple[int, tuple[int, ...]]:
    """The most coordinates of one vector of outputs that change the decoded class when flipped alone.

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
    outputs : tuple of int
        The first vector with that many sensitive coordinates.

    Examples
    --------
    >>> sensitivity(smallest_positive, 4)
    (4, (-1, -1, -1, 1))
    """
    function(decode, "decode", _DECODE)
    l = integer(l, "l", 1, 20)
    every = all_signs(l)
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
        The outputs of the binary rules; all ``n_rules ** l`` choices are made, at most a million.
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
    rules = array(binary, "binary")
    if (
        rules.ndim != 2
        or 0 in rules.shape
        or rules.dtype.kind not in "if"
        or not np.isin(rules, (-1, 1)).all()
    ):
        raise ValueError(
            "binary must be a table with entries +1 and -1, a row for each of at least one rule and a column "
            f"for each of at least one point, found shape {rules.shape} of type {rules.dtype}"
        )
    function(decode, "decode", _DECODE)
    outputs = np.unique(rules, axis=0)
    l = integer(l, "l", 1)
    if l * log2(len(outputs)) > log2(10**6):
        raise ValueError(f"l={l} rules out of {len(outputs)} are {len(outputs)}**{l} choices; at most 10**6")
    chosen = np.array(list(product(range(len(outputs)), repeat=l)), dtype=np.intp)
    table = np.stack([decode(outputs[chosen, point]) for point in range(outputs.shape[1])], axis=1)
    return np.unique(table, axis=0)


# --- separation by linear programming ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Alternative:
    """Which of the two alternatives holds, with what proves it (prop-capacity-alternative).

    Attributes
    ----------
    solution : (D,) array or None
        A point v at which all strict inequalities hold, and the others too, in exact arithmetic.
    strict, weak : arrays of fractions.Fraction, or None
        If there is no such point: non-negative multipliers, those of the strict inequalities with the sum 1,
        with which the inequalities add up to 0 > 0.
    exact : bool
        Whether the numbers are fractions. Multipliers always are. A solution is where that was requested, and
        where floating-point numbers would not do.
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
        Decide in fractions, by the simplex method with Bland's rule. Otherwise floating-point linear
        programming proposes a solution, and fractions decide only where that is no proof.

    Returns
    -------
    Alternative
        A solution, or multipliers that prove that there is none. Both are checked in exact arithmetic:
        floating-point entries are taken for what they are, binary fractions. So neither the scale of the rows
        nor that of the columns changes the verdict.

    Raises
    ------
    RuntimeError
        Only if ``exact`` is False and D exceeds 50: floating point proves neither alternative, and fractions
        would take long.

    Examples
    --------
    >>> decide([[1, 0], [-1, 1]]).feasible
    True
    >>> no = decide([[1, 2], [-2, -4]], exact=True)
    >>> [str(value) for value in no.strict]
    ['2/3', '1/3']
    """
    table, n_strict = _check_rows(strict, weak)
    return _decide(table, n_strict, 0, switch(exact, "exact"))


def _decide(table: NDArray[Any], n_strict: int, blocks: int, exact: bool) -> Alternative:
    solution, weights = alternative(table, n_strict, blocks=blocks, exact=exact)
    if weights is None:
        assert solution is not None
        return Alternative(solution, None, None, solution.dtype == object)
    return Alternative(None, weights[:n_strict], weights[n_strict:], True)


@dataclass(frozen=True, eq=False)
class LinearSeparation:
    r"""Whether one linear classifier gives each point its class, strictly, with what proves it.

    Attributes
    ----------
    separable : bool
        Whether there are such weights.
    weights : (k, d) array or None
        One weight vector for each class, the last one 0 (only differences count).
    intercept : (k,) array or None
        The biases, the last one 0; zeros without bias.
    multipliers : (m, k) array of fractions.Fraction, or None
        If not separable: :math:`\alpha_{ir} \ge 0` with the sum 1, 0 at :math:`r = y_i`, such that for every
        class :math:`\sum_i (\sum_r \alpha_{ir} [y_i = y] - \alpha_{iy})\,x_i = 0`, with bias the same for the
        constant 1: any weights have a weighted mean of all leads that is 0, so some lead is not positive.
    margins : (m,) array or None
        The lead of each example's class over the best of the others with these weights; of fractions where
        floating point would give 0.
    exact : bool
        Whether the numbers are fractions: multipliers always, weights where that was requested or where
        floating-point numbers would not do.
    """

    separable: bool
    weights: NDArray[Any] | None
    intercept: NDArray[Any] | None
    multipliers: NDArray[Any] | None
    margins: NDArray[Any] | None
    exact: bool


def separable(
    X: ArrayLike, y: ArrayLike, *, k: int | None = None, fit_intercept: bool = True, exact: bool = False
) -> LinearSeparation:
    """Is there a linear classifier in which each point's class wins alone? (prop-capacity-separable)

    Parameters
    ----------
    X : (m, d) array-like
        The points; entries may be `fractions.Fraction`.
    y : (m,) array-like of int
        The classes, from 0.
    k : int, optional
        Number of classes, at least 2; by default as many as ``y`` needs.
    fit_intercept : bool, default=True
        Whether scores have a constant term.
    exact : bool, default=False
        Decide in fractions.

    Returns
    -------
    LinearSeparation
        With weights, or with multipliers that prove that there are none.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> separable(line, [0, 1, 2]).separable, separable(line, [0, 1, 0]).separable
    (True, False)
    >>> separable(line, [0, 1, 2], fit_intercept=False).separable  # at 0 all scores are 0
    False
    """
    points, labels, k = _check_points(X, y, k)
    fit_intercept = switch(fit_intercept, "fit_intercept")
    rows, owners = _leads(points, labels, k, fit_intercept)
    verdict = _decide(rows, len(rows), k - 1 if fit_intercept else 0, switch(exact, "exact"))
    if verdict.solution is None:
        assert verdict.strict is not None
        multipliers = np.zeros((len(labels), k), dtype=verdict.strict.dtype)
        for value, (i, r) in zip(verdict.strict, owners, strict=True):
            multipliers[i, r] = value
        return LinearSeparation(False, None, None, multipliers, None, verdict.exact)
    width = points.shape[1] + fit_intercept
    table = np.concatenate([verdict.solution.reshape(k - 1, width), np.zeros((1, width), dtype=np.intp)])
    leads = _products(rows, verdict.solution)
    margins = leads.reshape(len(labels), k - 1).min(axis=1)
    weights, constant = (
        (table[:, :-1], table[:, -1]) if fit_intercept else (table, np.zeros(k, dtype=np.intp))
    )
    return LinearSeparation(True, weights, constant, None, margins, verdict.exact)


def realises(
    X: ArrayLike, labels: ArrayLike, k: int, *, fit_intercept: bool = True, exact: bool = False
) -> bool:
    """Does a linear classifier with the tie rule "smallest class" give the points exactly these labels?

    Other than `separable`, a smaller class may win by a tie (def-capacity-linear): without bias this matters.

    Parameters
    ----------
    X : (m, d) array-like
        The points.
    labels : (m,) array-like of int
        From 0 to k - 1.
    k : int
        Number of classes.
    fit_intercept, exact : bool
        As in `separable`.

    Examples
    --------
    >>> opposite = [[1.0], [-1.0]]
    >>> realises(opposite, [0, 0], 2, fit_intercept=False), realises(opposite, [1, 1], 2, fit_intercept=False)
    (True, False)
    """
    points, y, k = _check_points(X, labels, integer(k, "k", 2, feasible=_MOST_CLASSES), "labels")
    fit_intercept, exact = switch(fit_intercept, "fit_intercept"), switch(exact, "exact")
    rows, owners = _leads(points, y, k, fit_intercept)
    tied = np.array([y[i] < r for i, r in owners], dtype=bool)
    if tied.all():  # all scores 0: class 0 everywhere
        return True
    order = np.argsort(tied, kind="stable")  # the strict rows first
    return _decide(rows[order], int(np.sum(~tied)), k - 1 if fit_intercept else 0, exact).feasible


def linear_labelings(X: ArrayLike, k: int, *, fit_intercept: bool = True, exact: bool = False) -> Ints:
    """All labelings of the points by linear classifiers with k classes, ties to the smallest.

    Parameters
    ----------
    X : (n, d) array-like
        The points, few: the labelings are found point after point, those of the first points that no
        classifier produces are not continued.
    k : int
        Number of classes, at least 2.
    fit_intercept, exact : bool
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
    points, _, k = _check_points(
        X, np.zeros(len(_numbers(X, "X")), dtype=np.intp), integer(k, "k", 2, feasible=_MOST_CLASSES)
    )
    labelings: list[tuple[int, ...]] = [()]
    for n in range(1, len(points) + 1):
        labelings = [
            (*start, c)
            for start in labelings
            for c in range(k)
            if realises(points[:n], [*start, c], k, fit_intercept=fit_intercept, exact=exact)
        ]
    return np.array(labelings, dtype=np.intp)


# --- checks -----------------------------------------------------------------------------------------------


def _products(rows: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """The products of the rows and a vector, all positive: where rounding would hide that, in fractions."""
    if object not in (rows.dtype, v.dtype):
        products, reach = rounded_leads(rows.astype(np.float64), v)
        if (products > reach).all():
            return products
    precise: NDArray[Any] = as_fractions(rows) @ as_fractions(v)
    rounded = np.array([nearest(entry) for entry in precise])
    return rounded if v.dtype != object and (rounded > 0).all() and np.isfinite(rounded).all() else precise


def _leads(
    points: NDArray[Any], labels: Ints, k: int, fit_intercept: bool
) -> tuple[NDArray[Any], list[tuple[int, int]]]:
    """The lead of y_i over each rival r, linear in the first k - 1 weight vectors: a row for each i and r."""
    m = len(points)
    inputs = np.column_stack([points, np.ones(m, dtype=np.intp)]) if fit_intercept else points
    width = inputs.shape[1]
    owners = [(i, r) for i in range(m) for r in range(k) if r != labels[i]]
    rows = np.zeros((len(owners), k * width), dtype=inputs.dtype)
    for j, (i, r) in enumerate(owners):
        rows[j, labels[i] * width : (labels[i] + 1) * width] = inputs[i]
        rows[j, r * width : (r + 1) * width] = -inputs[i]
    return rows[:, : (k - 1) * width], owners


def _check_outputs(outputs: ArrayLike) -> NDArray[Any]:
    table = array(outputs, "outputs")
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"outputs must be a matrix with a column for each rule, found shape {table.shape}")
    if table.dtype.kind not in "iuf":
        raise ValueError(f"outputs must hold real numbers, found dtype {table.dtype}")
    if np.isnan(table).any():
        raise ValueError("outputs must be numbers, found nan")
    return table


def _check_table(table: ArrayLike) -> Ints:
    labels = array(table, "table")
    if labels.ndim != 2 or len(labels) < 1:
        raise ValueError(
            "table must have a row for each of at least one classifier and a column for each point, "
            f"found shape {labels.shape}"
        )
    if labels.dtype.kind not in "iu":
        raise ValueError(f"table must hold classes as integers, found dtype {labels.dtype}")
    return np.unique(labels, axis=0).astype(np.intp) if labels.shape[1] else labels[:1].astype(np.intp)


def _check_rows(strict: ArrayLike, weak: ArrayLike | None) -> tuple[NDArray[Any], int]:
    """All rows, the strict ones first, and the number of these."""
    rows = _numbers(strict, "strict")
    if rows.shape[0] < 1 or rows.shape[1] < 1:
        raise ValueError(f"strict must have at least one row and one column, found shape {rows.shape}")
    if weak is None:
        return rows, len(rows)
    others = _numbers(weak, "weak")
    if others.shape[1] != rows.shape[1]:
        raise ValueError(f"strict has {rows.shape[1]} columns, weak has {others.shape[1]}; they must agree")
    kind = rows.dtype if rows.dtype == others.dtype else np.dtype(object)  # no integer is rounded
    return np.concatenate([rows.astype(kind), others.astype(kind)]), len(rows)


def _numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """A matrix of finite numbers: float64, int64, or objects that are numbers of any size."""
    table = array(values, name)
    if table.ndim != 2:
        raise ValueError(f"{name} must be a matrix, found shape {table.shape}")
    if table.dtype.kind not in "iufO":
        raise ValueError(f"{name} must hold real numbers, found dtype {table.dtype}")
    if table.dtype.kind == "O":
        bad = [entry for entry in table.flat if not isinstance(entry, Real) or isinstance(entry, bool)]
        if bad:
            raise ValueError(f"{name} must hold numbers or fractions, found {bad[0]!r}")
        bad = [entry for entry in table.flat if entry != entry or abs(entry) == inf]
    else:
        bad = table[~np.isfinite(table)].tolist()
    if bad:
        raise ValueError(f"{name} must be finite, found {bad[0]}")
    if table.dtype.kind == "f":
        return table.astype(np.float64 if table.dtype.itemsize <= 8 else object)
    # with the least integer, and the unsigned ones, negatives would not be what they should
    small = table.dtype.kind != "O" and (not table.size or -(2**63) < table.min() <= table.max() < 2**63)
    return table.astype(np.int64 if small else object)


def _check_points(
    X: ArrayLike, y: ArrayLike, k: int | None, name: str = "y"
) -> tuple[NDArray[Any], Ints, int]:
    points = _numbers(X, "X")
    labels = array(y, name)
    if len(points) < 1 or points.shape[1] < 1:
        raise ValueError(f"X must have at least one point and one coordinate, found shape {points.shape}")
    if labels.shape != (len(points),) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be one integer for each of the {len(points)} points of X, "
            f"found shape {labels.shape} of type {labels.dtype}"
        )
    k = max(2, int(labels.max()) + 1) if k is None else integer(k, "k", 2, feasible=_MOST_CLASSES)
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"{name} must be integers from 0 to {k - 1}, found {labels.min()} to {labels.max()}")
    return points, labels.astype(np.intp), k
