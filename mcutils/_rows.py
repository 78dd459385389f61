"""Gram matrices that are whole, or whose rows are computed when they are needed and kept while there is room.

Each solver asks for rows in its own way, and has its own rule about which are kept: :class:`Gram` those that
were used last, :class:`WorkingSet` those of the examples that the solver works on, :class:`RowCache` all of
them until there is no more room.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ._typing import Floats, Ints
from .kernel import Kernel, check_psd

# A Gram matrix of at most this many bytes is kept whole. Of a larger one, this many bytes of rows are kept:
# those that were used last.
WHOLE_BYTES = 2**27
CACHE_BYTES = 2**28

# The rows of a Gram matrix are taken in blocks of at most this size.
BLOCK = 512
# A row cache computes at most this many rows at once.
_ROWS = 64
# A working set begins with this many rows, and grows by this many.
FIRST, _MORE = 512, 256

_EPS = float(np.finfo(np.float64).eps)


def is_precomputed(kernel: Any) -> bool:
    """Whether a kernel, or the name of one, is that of a Gram matrix that is given."""
    name = kernel.name if isinstance(kernel, Kernel) else kernel
    return isinstance(name, str) and name == "precomputed"  # an array is refused by resolve


def refuse_underflow(kernel: Kernel, X: Any, diagonal: Floats) -> None:
    """Refuse points whose kernel values are too small for a hard machine to prove anything about them."""
    values = X.data if issparse(X) else X
    if kernel.name != "precomputed" and float(diagonal.max()) < 1e-280 and np.any(values):
        raise ValueError(
            f"X is too small for a hard machine: its kernel values, at most {float(diagonal.max()):.3g}, are "
            "rounded to 0 or nearly so; scale it"
        )


class Gram:
    """A Gram matrix, whole or by rows: of these the last used are kept."""

    def __init__(self, diagonal: Floats, compute: Callable[[Ints, Any], Floats], whole: Floats | None = None):
        self.diagonal, self.compute, self.whole = diagonal, compute, whole
        if whole is None:
            m = len(diagonal)
            capacity = min(m, max(2 * BLOCK, CACHE_BYTES // (8 * m)))
            self._kept = np.empty((capacity, m))
            self._owner = np.full(capacity, -1)
            self._place = np.full(m, -1)
            self._asked = np.full(capacity, -1)
            self._clock = 0

    @classmethod
    def of_matrix(cls, matrix: Floats) -> "Gram":
        return cls(np.diag(matrix).copy(), lambda rows, columns: matrix[np.ix_(rows, columns)], whole=matrix)

    def _at_hand(self, indices: Ints) -> tuple[Floats, Ints]:
        """A matrix, and which of its rows are the wanted ones; at most a block of them."""
        if self.whole is not None:
            return self.whole, indices
        self._clock += 1
        known = self._place[indices] >= 0
        self._asked[self._place[indices[known]]] = self._clock
        missing = indices[~known]
        if len(missing):
            places = np.argsort(self._asked, kind="stable")[: len(missing)]
            old = self._owner[places]
            self._place[old[old >= 0]] = -1
            for start in range(0, len(missing), 128):  # what a kernel takes beside its answer stays small
                part = slice(start, start + 128)
                self._kept[places[part]] = self.compute(missing[part], slice(None))
            self._owner[places], self._place[missing], self._asked[places] = missing, places, self._clock
        return self._kept, self._place[indices]

    def square(self, indices: Ints) -> Floats:
        if self.whole is not None:
            return self.whole[np.ix_(indices, indices)]
        found = self.compute(indices, indices)
        return (found + found.T) / 2

    def product(self, beta: Floats) -> Floats:
        """The matrix times a vector, by the rows of its nonzeros."""
        from .jit import smo as jit

        used = np.flatnonzero(beta)
        if self.whole is not None and len(used) > len(beta) // 3:
            return self.whole @ beta
        total = np.zeros(len(beta))
        for start in range(0, len(used), BLOCK):
            part = used[start : start + BLOCK]
            jit.add_rows(*self._at_hand(part), beta[part], total)
        return total

    def precise_product(self, beta: Floats) -> Floats:
        """The same in twice the digits, for terms that are large and sums that are not."""
        from .jit import smo as jit

        used = np.flatnonzero(beta)
        high, low = np.zeros(len(beta)), np.zeros(len(beta))
        for start in range(0, len(used), BLOCK):
            part = used[start : start + BLOCK]
            jit.add_rows_precisely(*self._at_hand(part), beta[part], high, low)
        return high + low

    def rounding(self, beta: Floats) -> Floats:
        r"""About what rounding may add to each entry of :meth:`product`: errors of terms
        :math:`K_{ij} \beta_j` that are no larger than :math:`\sqrt{K_{ii} K_{jj}} |\beta_j|`."""
        root = np.sqrt(np.maximum(self.diagonal, 0.0))
        return _EPS * root * float(np.linalg.norm(root * beta))


def gram_of(kernel: Kernel, X: Any, given: Any = None) -> Gram:
    """The Gram matrix of a sample: whole where it is small, else by rows."""
    m = X.shape[0]
    if kernel.name == "precomputed" and given == np.float32:  # its entries have that many digits only
        check_psd(X, tolerance=8 * m * float(np.finfo(np.float32).eps) * float(np.abs(X).max()))
        return Gram.of_matrix((X + X.T) / 2)
    if kernel.name == "precomputed" or 8 * m * m <= WHOLE_BYTES:
        return Gram.of_matrix(kernel.gram(X))
    return Gram(kernel.diagonal(X), lambda rows, columns: kernel.gram(X[rows], X[columns]))


class WholeGram:
    """A Gram matrix in memory, for a solver that can also take a :class:`WorkingSet`."""

    def __init__(self, matrix: Floats):
        self.rows = matrix
        self.curvatures = np.diag(matrix).copy()
        self.places = np.arange(len(matrix))
        self.member = np.ones(len(matrix))

    def more(self, violated: Floats) -> int:
        """All rows are there."""
        return 0

    def square(self, indices: Ints) -> Floats:
        return self.rows[np.ix_(indices, indices)]

    def product(self, beta: Floats) -> Floats:
        used = np.flatnonzero(beta.any(axis=1))
        if 2 * len(used) > len(beta):
            return self.rows @ beta
        scores: Floats = self.rows[used].T @ beta[used]
        return scores


class WorkingSet:
    """A Gram matrix of which only the rows of a working set are computed, as far as there is room for them.

    In single precision they take half the room, and less time; :meth:`product` always has double.
    """

    def __init__(self, kernel: Kernel, X: Any, shift: float, kind: Any, room: float):
        self.kernel, self.X, self.shift, self.room = kernel, X, shift, room
        m = X.shape[0]
        self.curvatures = kernel.diagonal(X) + shift
        self.points = X.astype(kind)
        capacity = int(min(m, max(FIRST, 2**20 * room // (np.dtype(kind).itemsize * m))))
        self.rows = np.empty((capacity, m), kind)
        self.places = np.full(m, -1)
        self.owner = np.full(capacity, -1)
        self.member = np.zeros(m, kind)

    def doubled(self) -> "WorkingSet":
        """The same with rows in double precision."""
        again = WorkingSet(self.kernel, self.X, self.shift, np.float64, self.room)
        again.take(self.owner[self.owner >= 0][: len(again.owner)], self.member)
        return again

    def take(self, new: Ints, violated: Any) -> None:
        """Compute rows; where there is no room, instead of those that violate least."""
        free = np.flatnonzero(self.owner < 0)[: len(new)]
        if len(free) < len(new):
            kept = np.flatnonzero(self.owner >= 0)
            by_violation = kept[np.argsort(violated[self.owner[kept]], kind="stable")]
            free = np.concatenate([free, by_violation[: len(new) - len(free)]])
            old = self.owner[free]
            self.places[old[old >= 0]] = -1
            self.member[old[old >= 0]] = 0
        self.owner[free], self.places[new], self.member[new] = new, free, 1
        for start in range(0, len(new), 128):  # what a kernel takes beside its answer stays small
            part = slice(start, start + 128)
            found = self.kernel.block(self.points[new[part]], self.points)
            if self.shift:
                found += found.dtype.type(self.shift)
            self.rows[free[part]] = found

    def more(self, violated: Floats) -> int:
        """Bring the worst examples into the working set; how many."""
        others = np.where(self.member > 0, 0.0, violated)
        room = int((self.owner < 0).sum())
        count = min(_MORE, room) if room else len(self.owner) // 4
        worst = np.argpartition(-others, count)[:count] if len(others) > count else np.arange(len(others))
        worst = worst[others[worst] > 0]
        if len(worst):
            self.take(np.sort(worst), violated)
        return len(worst)

    def square(self, indices: Ints) -> Floats:
        points = self.X[indices]
        return self.kernel.gram(points) + self.shift

    def product(self, beta: Floats) -> Floats:
        used = np.flatnonzero(beta.any(axis=1))
        scores = np.zeros(beta.shape)
        if len(used):
            points, weights = self.X[used], beta[used]
            for rows, part in self.kernel.blocks(self.X, points, size=512):
                scores[rows] = part @ weights
            if self.shift:
                scores += self.shift * weights.sum(axis=0)
        return scores


class LinearGram:
    """The Gram matrix of the rows of X, of which only parts are computed."""

    def __init__(self, X: Any):
        self.X = X

    def square(self, indices: Ints) -> Floats:
        points = self.X[indices]
        found = points @ points.T
        square: Floats = found.toarray() if issparse(found) else found
        return square


class RowCache:
    """Rows of the Gram matrix of a sample: computed in blocks when needed, and kept while there is room."""

    def __init__(self, kernel: Kernel, X: Any):
        self.kernel, self.X = kernel, X
        self.kept: dict[int, Floats] = {}
        self.room = max(_ROWS, CACHE_BYTES // (8 * X.shape[0]))
        self.blocks = 0

    def __call__(self, coming: Ints) -> Floats:
        """The row of the first; if it must be computed, so are the next, which may be needed as well."""
        if is_precomputed(self.kernel):
            row: Floats = self.X[coming[0]]
            return row
        i = int(coming[0])
        if i not in self.kept:
            # the more mistakes there were, the more are to be expected, and the more pays to compute together
            ahead = min(1 + self.blocks // 4, _ROWS)
            block = [j for j in coming[:ahead].tolist() if j not in self.kept]
            if len(self.kept) + len(block) > self.room:
                self.kept.clear()
            values = self.kernel._finite(self.kernel.block, self.X[block], self.X)
            self.kept.update(zip(block, values, strict=True))
            self.blocks += 1
        return self.kept[i]
