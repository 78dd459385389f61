r"""Strict linear inequalities, or multipliers that refute them, for `mcutils.capacity` and `mcutils.binary`.

Some rows a are strict. Either some v has :math:`\langle a, v \rangle > 0` for the strict rows and
:math:`\ge 0` for the others; or multipliers that are not negative, those of the strict rows with the sum 1,
make the rows add up to 0 (prop-capacity-alternative). :func:`decide` lets a linear programme in floating
point propose a solution, checks it in whole numbers, and decides in whole numbers where the proposal fails.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isqrt, lcm
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Objects: TypeAlias = NDArray[np.object_]

# The smallest that HiGHS takes.
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_EPS = float(np.finfo(np.float64).eps)
# The largest prime below 2^26: sums of up to 2^10 products of two remainders fit 64 bits.
_PRIME = 67_108_859
_DIGIT = 26
# Where floating point decides nothing, the simplex method runs on whole numbers: up to this many columns, for
# with more the digits take minutes.
_MOST_COLUMNS = 50


def decide(
    matrix: NDArray[Any], n_strict: int, *, blocks: int = 0, exact: bool = False
) -> tuple[NDArray[Any] | None, Objects | None]:
    """A solution, or else the multipliers of the rows that prove that there is none.

    Parameters
    ----------
    table : (n, D) array of float64, integers or numbers of Python
    n_strict : int
        The number of strict rows, which come first.
    blocks : int
        The columns are this number of equal blocks, each with a constant feature, its negative or 0 in the
        last column. The programme then sees the other features shifted to their midpoints, since a distant
        origin would hide how they differ. 0: nothing is known of the columns.
    exact : bool
        Decide in fractions at once.

    Returns
    -------
    solution : (D,) array or None
        Of floats where these solve the inequalities exactly, else (and with ``exact``) of fractions.
    multipliers : (n,) array of fractions or None

    Raises
    ------
    RuntimeError
        If floating point proves neither and D is too large for fractions.
    """
    rows = Rows(matrix, n_strict)
    if exact:
        v, weights = simplex(rows, np.arange(len(matrix)))
        return (None, objects(weights or [])) if v is None else (objects(v), None)
    A, columns = scaled(matrix)
    proposed, support = _proposal(A, n_strict, blocks)
    if proposed is not None:
        v = [fraction(entry) * factor for entry, factor in zip(proposed.tolist(), columns, strict=True)]
        if rows.solved_by(v, *rounded_leads(A, proposed)):
            floats = in_floats(v)  # without rounding: the factors are powers of two
            return objects(v) if floats is None else floats, None
    weights = multipliers(rows, support)
    if weights is None:
        v, weights = search(rows, support)
        if v is not None:
            floats = in_floats(v)
            if floats is not None and rows.solved_by([fraction(entry) for entry in floats.tolist()]):
                return floats, None
            return objects(v), None
    return None, objects(weights or [])


def _proposal(A: Floats, n_strict: int, blocks: int) -> tuple[Floats | None, Ints]:
    """The v in a box with the largest t such that A v >= t in the strict rows and A v >= 0 in the others.

    The second array holds the rows with positive multipliers. Where the programme fails, both are empty.
    """
    from scipy.optimize import linprog  # loaded when it is needed

    n, size = A.shape
    ends, width, shift = np.ones(size), np.ones(size), np.zeros(0)
    if blocks:
        parts = A.reshape(n, blocks, -1)
        features, constant = parts[..., :-1], parts[..., -1:]
        present = constant != 0
        places = features / np.where(present, constant, 1.0)
        low = places.min(axis=0, where=present, initial=np.inf)
        shift = (low + places.max(axis=0, where=present, initial=-np.inf)) / 2
        A = np.concatenate([features - constant * shift, constant], axis=2).reshape(n, size)
        width = np.abs(A).max(axis=0)
        width[width == 0] = 1.0
        A = A / width
        ends.reshape(blocks, -1)[:, -1] = parts.shape[2]  # as far as the other terms reach
    solved = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.column_stack([-A, np.arange(n) < n_strict]),
        b_ub=np.zeros(n),
        bounds=[*zip(-ends, ends, strict=True), (None, None)],
        method="highs",
        options=TOLERANCES,
    )
    if solved.status != 0:
        return None, np.zeros(0, dtype=np.intp)
    v = solved.x[:size] / width
    if blocks:
        parts = v.reshape(blocks, -1)
        parts[:, -1] -= (parts[:, :-1] * shift).sum(axis=1)
    return v, np.flatnonzero(solved.ineqlin.marginals < 0)


def fraction(entry: Any) -> Fraction:
    """A number as it is, whatever its type."""
    if isinstance(entry, Integral):
        return Fraction(int(entry))  # numpy's own would overflow
    return entry if isinstance(entry, Fraction) else Fraction(*entry.as_integer_ratio())


def objects(values: Sequence[Any]) -> Objects:
    """A vector of Python's own numbers, which numpy leaves alone."""
    return np.array([*values, None], dtype=object)[:-1]


def power(exponent: int) -> Fraction:
    """Two to a whole exponent."""
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


def nearest(value: Fraction) -> float:
    """The nearest float, infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def root(square: Fraction) -> float:
    """The square root, also where the square is beyond the range of floating point."""
    shift = (150 - square.numerator.bit_length() + square.denominator.bit_length()) // 2
    scaled = square * power(2 * shift)
    return nearest(isqrt(scaled.numerator // scaled.denominator) * power(-shift))


class Rows:
    """A table of numbers, exact: its columns times positive factors that make every entry whole.

    Such factors change neither the verdict nor the multipliers; a solution is multiplied by them.

    Attributes
    ----------
    factors : list of Fraction
        Of the columns. Those of floating-point numbers are powers of two.
    n_strict : int
        The number of strict rows, which come first.
    """

    def __init__(self, matrix: NDArray[Any], n_strict: int):
        self.n_strict = n_strict
        self._shifts: Ints | None = None
        if matrix.dtype.kind == "f":
            parts, exponents = np.frexp(matrix.astype(np.float64))
            entries = np.ldexp(parts, 53).astype(np.int64)
            # odd numbers times powers of two
            zeros = np.frexp((entries & -entries).astype(np.float64))[1] - 1
            zeros[entries == 0] = 0
            exponents = exponents.astype(np.intp) - 53 + zeros
            least = exponents.min(axis=0, initial=2000, where=entries != 0)
            least[least == 2000] = 0
            self._entries: NDArray[Any] = entries >> zeros
            self._shifts = np.where(entries != 0, exponents - least, 0)
            self.factors = [power(-e) for e in least.tolist()]
        elif matrix.dtype.kind == "i":
            self._entries, self.factors = matrix, [Fraction(1)] * matrix.shape[1]
        else:
            columns = [[fraction(entry) for entry in column] for column in matrix.T.astype(object)]
            common = [lcm(*(entry.denominator for entry in column)) for column in columns]
            whole = [[int(entry * c) for entry in column] for column, c in zip(columns, common, strict=True)]
            self._entries = objects([entry for column in whole for entry in column])
            self._entries = self._entries.reshape(matrix.shape[::-1]).T
            self.factors = [Fraction(c) for c in common]
        self.shape = matrix.shape

    def whole(self, chosen: Any) -> Objects:
        """Some rows, as integers of Python."""
        entries: Objects = self._entries[chosen].astype(object)
        return entries if self._shifts is None else entries << self._shifts[chosen].astype(object)

    def leads(self, chosen: Any, v: Sequence[Fraction]) -> list[int]:
        """The products of some rows and v, all times the same positive number."""
        inner = [entry / factor for entry, factor in zip(v, self.factors, strict=True)]
        common = lcm(*(entry.denominator for entry in inner))
        gaps: list[int] = (self.whole(chosen) @ objects([int(entry * common) for entry in inner])).tolist()
        return gaps

    def solved_by(
        self, v: Sequence[Fraction], near: Floats | None = None, reach: Floats | float = 0.0
    ) -> bool:
        """Whether v solves the inequalities; ``near`` are its products with the rows, but for ``reach``.

        Those may all be multiplied, each by a positive number. Without them all products are exact.
        """
        if near is None:
            near = np.zeros(self.shape[0])
        if not any(v) or (near < -reach).any():
            return False
        doubtful = np.flatnonzero(~(near > reach))
        return all(
            lead > 0 or (lead == 0 and i >= self.n_strict)
            for i, lead in zip(doubtful.tolist(), self.leads(doubtful, v), strict=True)
        )


def scaled(matrix: NDArray[Any]) -> tuple[Floats, list[Fraction]]:
    """A table with columns, and then rows, times powers of two that bring the largest entries near 1.

    Returns
    -------
    table : array
        Rounded only where entries underflow, or were no floating-point numbers.
    columns : list of Fraction
        The factors of the columns.
    """
    if matrix.dtype.kind == "i" and np.abs(matrix).max(initial=0) < 2**53:
        matrix = matrix.astype(np.float64)
    if matrix.dtype.kind == "f":
        exponents = -np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1].astype(np.intp)
        columns = [power(e) for e in exponents.tolist()]
        matrix = np.ldexp(matrix, exponents)
    else:
        exact = [[fraction(entry) for entry in column] for column in matrix.T.astype(object)]
        sizes = [max(map(abs, column)) for column in exact]
        columns = [power(size.denominator.bit_length() - size.numerator.bit_length()) for size in sizes]
        rounded = [[float(entry * c) for entry in column] for column, c in zip(exact, columns, strict=True)]
        matrix = np.array(rounded, dtype=np.float64).reshape(matrix.shape[::-1]).T
    rows = np.frexp(np.abs(matrix).max(axis=1, initial=0.0))[1]
    return np.ldexp(matrix, -rows[:, None]), columns


def rounded_leads(matrix: Floats, v: Floats) -> tuple[Floats, Floats]:
    """The products of the rows and a vector, and how far rounding and underflow can have moved them."""
    size = matrix.shape[1] + 3
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is sure of nothing
        return matrix @ v, 2 * size * (_EPS * (np.abs(matrix) @ np.abs(v)) + 1e-300)


def in_floats(v: Sequence[Fraction]) -> Floats | None:
    """A solution in floating point, times a power of two where it must; None if that does not help."""
    sizes = [entry.numerator.bit_length() - entry.denominator.bit_length() for entry in v if entry]
    low, high = min(sizes), max(sizes)
    if high - low > 1900:
        return None
    factor = power(0 if max(high, -low) < 900 else -(low + high) // 2)
    return np.array([float(entry * factor) for entry in v])


# ---------------------------------------------------------------------------------------------------
# Multipliers of a support


def multipliers(rows: Rows, support: Ints) -> list[Fraction] | None:
    """The multipliers that are 0 outside a support, where one choice of them, and no other, proves it."""
    support = np.sort(support)
    if not len(support) or support[0] >= rows.n_strict:
        return None
    strict = objects([int(i < rows.n_strict) for i in support.tolist()])
    balance = rows.whole(support).T
    solution = _solve(np.vstack([strict[None, :], balance]))
    if solution is None or min(solution[0]) < 0 or any((balance @ objects(solution[0])).tolist()):
        return None
    weights = [Fraction(0)] * rows.shape[0]
    for i, value in zip(support.tolist(), solution[0], strict=True):
        weights[i] = Fraction(value, solution[1])
    return weights


def _solve(equations: Objects) -> tuple[list[int], int] | None:
    """The solution of equations with the right-hand sides 1, 0, ..., 0: numerators, and their denominator.

    It solves as many of the equations, the first among them, as there are unknowns, by Dixon's method: digit
    by digit in base p, and from enough digits the fractions. None if no choice of them has one solution.
    """
    n = equations.shape[1]
    chosen = _independent(_remainders(equations))
    if chosen is None:
        return None
    square, right = equations[chosen], objects([1] + [0] * (n - 1))
    inverse = _inverse(_remainders(square))
    # Hadamard's inequality: the numbers of bits of numerators and denominator together
    most = sum(sum(entry * entry for entry in row).bit_length() + 2 for row in square.tolist())
    limbs = _limbs(square)
    rest, digits, base, enough = right, right * 0, 1, 8 * _DIGIT
    while True:
        while base.bit_length() < enough:
            digit = (inverse * _remainders(rest) % _PRIME).sum(axis=1) % _PRIME
            for i, limb in enumerate(limbs):
                rest = rest - ((limb @ digit).astype(object) << _DIGIT * i)
            rest = rest // _PRIME
            digits = digits + base * digit.astype(object)
            base *= _PRIME
        solution = _fractions(digits.tolist(), base)
        if solution is not None and not any((square @ objects(solution[0]) - solution[1] * right).tolist()):
            return solution
        if enough > most:
            return None
        enough *= 2


def _limbs(matrix: Objects) -> list[NDArray[np.int64]]:
    """The table as a sum of multiples of powers of 2^26, so that products with digits fit 64 bits."""
    signs, rest = np.where(matrix < 0, -1, 1), np.abs(matrix)
    limbs = []
    while rest.any():
        limbs.append(signs * (rest & 2**_DIGIT - 1).astype(np.int64))
        rest = rest >> _DIGIT
    return limbs


def _remainders(matrix: Objects) -> NDArray[np.int64]:
    remainders: NDArray[np.int64] = (matrix % _PRIME).astype(np.int64)
    return remainders


def _independent(matrix: NDArray[np.int64]) -> list[int] | None:
    """Rows that make a regular matrix modulo the prime, the first of the table first; None if none do."""
    matrix, chosen = matrix.copy(), []
    for column in range(matrix.shape[1]):
        candidates = np.flatnonzero(matrix[:, column])
        if not len(candidates):
            return None
        pivot = int(candidates[0])
        chosen.append(pivot)
        row = matrix[pivot] * pow(int(matrix[pivot, column]), -1, _PRIME) % _PRIME
        matrix = (matrix - np.outer(matrix[:, column], row)) % _PRIME  # the pivot's own row becomes 0
    return chosen


def _inverse(square: NDArray[np.int64]) -> NDArray[np.int64]:
    """The inverse modulo the prime of a matrix whose rows come from :func:`_independent`: no pivot is 0."""
    n = len(square)
    matrix = np.hstack([square, np.eye(n, dtype=np.int64)])
    for i in range(n):
        row = matrix[i] * pow(int(matrix[i, i]), -1, _PRIME) % _PRIME
        matrix = (matrix - np.outer(matrix[:, i], row)) % _PRIME
        matrix[i] = row
    return matrix[:, n:]


def _fractions(values: list[int], base: int) -> tuple[list[int], int] | None:
    """Numerators and one denominator, all small, that are these values modulo the base."""
    limit, common = isqrt(base // 2), 1
    for value in values:
        # of the next remainders of Euclid's algorithm, the first that is small
        high, low, before, after = base, value * common % base, 0, 1
        if base - low <= limit:
            continue
        while low > limit:
            quotient = high // low
            high, low = low, high - quotient * low
            before, after = after, before - quotient * after
        common *= abs(after)
        if common > limit:
            return None
    numerators = [value * common % base for value in values]
    numerators = [value - base if value > base // 2 else value for value in numerators]
    return (numerators, common) if max(map(abs, numerators)) <= limit else None


# ---------------------------------------------------------------------------------------------------
# The simplex method


def simplex(rows: Rows, chosen: Ints) -> tuple[list[Fraction] | None, list[Fraction] | None]:
    """A solution for some of the rows, or else their multipliers, by phase one with Bland's rule.

    The programme: multipliers that are not negative, the sum of the rows 0, that of the strict ones 1. The
    tableau holds whole numbers, over one denominator that is the last pivot (Edmonds, 1967).
    """
    n, size = len(chosen), rows.shape[1]
    m = size + 1
    tableau = np.zeros((m + 1, n + m + 1), dtype=object)
    tableau[:size, :n] = rows.whole(chosen).T
    tableau[size, :n] = [int(i < rows.n_strict) for i in chosen.tolist()]
    tableau[:m, n : n + m] = np.eye(m, dtype=np.intp)
    tableau[size, -1] = 1
    # the sum of the artificial variables, in the units of the table that was given
    common = lcm(*(factor.numerator for factor in rows.factors))
    units = objects([*(int(common / factor) for factor in rows.factors), common])
    tableau[m] = -(units @ tableau[:m])
    tableau[m, n : n + m] = 0
    basis, denominator = list(range(n, n + m)), 1
    while True:
        entering = next((j for j in range(n) if tableau[m, j] < 0), None)
        if entering is None:
            break
        ratios = [
            (Fraction(tableau[i, -1], tableau[i, entering]), basis[i], i)
            for i in range(m)
            if tableau[i, entering] > 0
        ]
        leaving = min(ratios)[2]  # the sum is bounded below, so there is one
        row, pivot = tableau[leaving].copy(), tableau[leaving, entering]
        tableau = (tableau * pivot - np.outer(tableau[:, entering], row)) // denominator
        tableau[leaving], denominator = row, pivot
        basis[leaving] = entering
    if tableau[m, -1] == 0:
        weights = [Fraction(0)] * (n + m)
        for i, j in enumerate(basis):
            weights[j] = Fraction(tableau[i, -1], denominator)
        return None, weights[:n]
    # the dual values are the units less the reduced costs of the artificial variables
    duals = [-(unit - Fraction(tableau[m, n + i], denominator)) for i, unit in enumerate(units[:size])]
    return [v * factor / common for v, factor in zip(duals, rows.factors, strict=True)], None


def search(rows: Rows, start: Ints) -> tuple[list[Fraction] | None, list[Fraction] | None]:
    """A solution, or else multipliers, whatever floating point finds: more and more rows are looked at.

    Parameters
    ----------
    rows : Rows
    start : int array
        Rows to begin with.
    """
    n, size = rows.shape
    if size > _MOST_COLUMNS:
        raise RuntimeError(
            "floating point proves neither that the inequalities have a solution nor that they have none, "
            f"and with {size} unknowns (more than {_MOST_COLUMNS}) fractions may take very long: exact=True "
            "in capacity.decide or capacity.separable tries all the same; scaling the inputs may help"
        )
    whole = rows.whole(slice(None))
    lengths = [max(map(abs, row)) or 1 for row in whole.tolist()]
    chosen = np.union1d(start, [0]).astype(np.intp)
    while True:
        v, weights = simplex(rows, chosen)
        if weights is not None:
            multipliers = [Fraction(0)] * n
            for i, value in zip(chosen.tolist(), weights, strict=True):
                multipliers[i] = value
            return None, multipliers
        assert v is not None
        leads = rows.leads(slice(None), v)
        behind = [
            (Fraction(lead, length), i)
            for i, (lead, length) in enumerate(zip(leads, lengths, strict=True))
            if lead < 0 or (lead == 0 and i < rows.n_strict)
        ]
        if not behind:
            return v, None
        chosen = np.union1d(chosen, [i for _, i in sorted(behind)[: size + 1]]).astype(np.intp)
