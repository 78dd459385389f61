"""Gram matrices that are whole, or whose rows are computed when they are needed and kept while there is room.

:class:`RowCache` computes, places and replaces rows. Each solver has its own rule about which rows it needs
next: :class:`Gram`, :class:`WorkingSet` and :class:`MistakeRows`.
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
# For the mistakes that are to come, at most this many rows are computed at once.
_ROWS = 64
# A working set begins with this many rows, and grows by this many.
FIRST, _MORE = 512, 256

# Kernel values of which use is made at once: about what stays near to the processor.
_NEAR = 2**18

_EPS = float(np.finfo(np.float64).eps)


def is_precomputed(kernel: Any) -> bool:
    """Whether a kernel, or the name of one, is that of a Gram matrix that is given."""
    name = kernel.name if isinstance(kernel, Kernel) else kernel
    return isinstance(name, str) and name == "precomputed"  # an array is refused by resolve


def refuse_underflow(kernel: Kernel, X: Any, diagonal: Floats) -> None:
    """Refuse points whose kernel values are too small for a hard-margin SVM to prove anything about them."""
    values = X.data if issparse(X) else X
    if kernel.name != "precomputed" and float(diagonal.max()) < 1e-280 and np.any(values):
        raise ValueError(
            f"X is too small for a hard-margin SVM: its kernel values, at most {float(diagonal.max()):.3g}, "
            "are rounded to 0 or nearly so; scale it"
        )


class RowCache:
    """Rows of a Gram matrix: row i is ``rows[places[i]]``, and not there if ``places[i]`` is -1.

    ``rows`` is the room for them; the first ``filled`` rows of it are those of the first examples.
    """

    def __init__(self, rows: Floats, filled: int = 0):
        self.rows, self.filled = rows, filled
        capacity, m = rows.shape
        self.owner = np.arange(capacity)  # of a place, if it is filled
        self.places = np.arange(m)
        self.places[filled:] = -1
        self.last = np.zeros(m, np.int64)  # when a row was last used
        self.clock = 0

    def compute(self, wanted: Ints) -> Floats:
        """Rows that are not there; where all are there, none is computed."""
        raise NotImplementedError

    @property
    def member(self) -> Floats:
        """1 for each row that is there, else 0."""
        return (self.places >= 0).astype(self.rows.dtype)

    def take(self, new: Ints, worth: Any) -> None:
        """Compute rows that are not there; where there is no room, instead of those of least worth."""
        capacity = len(self.rows)
        at = np.arange(self.filled, min(self.filled + len(new), capacity))
        if len(at) < len(new):
            least = np.argsort(worth[self.owner[: self.filled]], kind="stable")[: len(new) - len(at)]
            self.places[self.owner[least]] = -1
            at = np.concatenate([at, least])
        self.filled = min(self.filled + len(new), capacity)
        self.owner[at], self.places[new] = new, at
        for start in range(0, len(new), 128):  # the work space of a kernel stays small
            part = slice(start, start + 128)
            self.fill(at[part], new[part])

    def fill(self, at: Ints, new: Ints) -> None:
        """Compute rows in their places."""
        self.rows[at] = self.compute(new)

    def bring(self, wanted: Ints) -> Ints:
        """The places of some rows, computed if need be. They replace those that were not used for longest."""
        self.clock += 1
        self.last[wanted] = self.clock
        missing = wanted[self.places[wanted] < 0]
        if len(missing):
            self.take(missing, self.last)
        return self.places[wanted]


class Gram(RowCache):
    """A Gram matrix, whole or by rows: of these the last used are kept, at least two blocks."""

    def __init__(self, diagonal: Floats, values: Callable[[Ints, Any], Floats], whole: Floats | None = None):
        self.diagonal, self.values, self.whole = diagonal, values, whole
        m = len(diagonal)
        capacity = min(m, max(2 * BLOCK, CACHE_BYTES // (8 * m)))
        rows, filled = (np.empty((capacity, m)), 0) if whole is None else (whole, m)
        super().__init__(rows, filled)

    @classmethod
    def of_matrix(cls, matrix: Floats) -> "Gram":
        return cls(np.diag(matrix).copy(), lambda rows, columns: matrix[np.ix_(rows, columns)], whole=matrix)

    def compute(self, wanted: Ints) -> Floats:
        return self.values(wanted, slice(None))

    def square(self, indices: Ints) -> Floats:
        if self.whole is not None:
            return self.whole[np.ix_(indices, indices)]
        values = self.values(indices, indices)
        return (values + values.T) / 2

    def product(self, beta: Floats) -> Floats:
        """The matrix times a vector, by the rows of its nonzeros."""
        from .jit import smo as jit

        used = np.flatnonzero(beta)
        if self.whole is not None and len(used) > len(beta) // 3:
            return self.whole @ beta
        total = np.zeros(len(beta))
        for start in range(0, len(used), BLOCK):
            part = used[start : start + BLOCK]
            jit.add_rows(self.rows, self.bring(part), beta[part], total)
        return total

    def precise_product(self, beta: Floats) -> Floats:
        """The same in twice the digits, for terms that are large and sums that are not."""
        from .jit import smo as jit

        used = np.flatnonzero(beta)
        high, low = np.zeros(len(beta)), np.zeros(len(beta))
        for start in range(0, len(used), BLOCK):
            part = used[start : start + BLOCK]
            jit.add_rows_precisely(self.rows, self.bring(part), beta[part], high, low)
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


class WholeGram(RowCache):
    """A Gram matrix in memory, for a solver that can also take a :class:`WorkingSet`."""

    def __init__(self, matrix: Floats):
        super().__init__(matrix, filled=len(matrix))
        self.curvatures = np.diag(matrix).copy()

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


class WorkingSet(RowCache):
    """A Gram matrix of which only the rows of a working set are computed, as far as there is room for them.

    In single precision they take half the room, and less time; :meth:`product` always has double.
    """

    def __init__(self, kernel: Kernel, X: Any, shift: float, kind: Any, room: float):
        self.kernel, self.X, self.shift, self.room = kernel, X, shift, room
        m = X.shape[0]
        self.curvatures = kernel.diagonal(X) + shift
        self.points = X.astype(kind)
        self.block = kernel._against(self.points)
        capacity = int(min(m, max(FIRST, 2**20 * room // (np.dtype(kind).itemsize * m))))
        super().__init__(np.empty((capacity, m), kind))

    def fill(self, at: Ints, new: Ints) -> None:
        if (np.diff(at) == 1).all():  # in place: new memory takes longer than the kernel
            place = self.rows[at[0] : at[-1] + 1]
            values = self.block(self.points[new], place)
            if values is not place:
                place[:] = values
        else:
            self.rows[at] = self.block(self.points[new])
        if self.shift:
            self.rows[at] += self.rows.dtype.type(self.shift)

    def doubled(self) -> "WorkingSet":
        """The same with rows in double precision."""
        again = WorkingSet(self.kernel, self.X, self.shift, np.float64, self.room)
        again.take(self.owner[: self.filled][: len(again.rows)], self.last)
        return again

    def more(self, violated: Floats) -> int:
        """Bring the worst examples into the working set; how many.

        They replace those that violate least. If they replaced those that entered first, a fit of 4000
        examples with room for 524 would compute 6 percent more rows, and take 9 percent longer.
        """
        others = np.where(self.places >= 0, 0.0, violated)
        room = len(self.rows) - self.filled
        count = min(_MORE, room) if room else len(self.rows) // 4
        worst = np.argpartition(-others, count)[:count] if len(others) > count else np.arange(len(others))
        worst = worst[others[worst] > 0]
        if len(worst):
            self.take(np.sort(worst), violated)
        return len(worst)

    def square(self, indices: Ints) -> Floats:
        points = self.X[indices]
        return self.kernel.gram(points) + self.shift

    def product(self, beta: Floats) -> Floats:
        scores = np.zeros(beta.shape)
        is_used = beta.any(axis=1)
        used, others = np.flatnonzero(is_used), np.flatnonzero(~is_used)
        if len(used):
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # refused below
                self._fill_scores(used, others, beta[used], scores)
            self.kernel._refuse_infinite(scores)
            if self.shift:
                scores += self.shift * beta.sum(axis=0)
        return scores

    def _fill_scores(self, used: Ints, others: Ints, weights: Floats, scores: Floats) -> None:
        """The scores of the examples with coefficients, by half of their kernel values, and of the others."""
        # other kernels, and sparse points, are prepared anew for each block: fewer and larger ones then
        near = self.kernel.name == "rbf" and not issparse(self.X)
        points, size = self.X[used], max(64, _NEAR // len(used)) if near else BLOCK
        block, work = self.kernel._against(points), np.empty(size * len(used))

        def values(rows: Any, first: int = 0) -> Floats:
            shape = (rows.shape[0], len(used) - first)
            return block(rows, work[: shape[0] * shape[1]].reshape(shape), first)

        own = np.zeros(weights.shape)
        for start in range(0, len(used), size):
            stop = min(start + size, len(used))
            part = values(points[start:stop], start)
            own[start:stop] += part @ weights[start:]
            own[stop:] += part[:, stop - start :].T @ weights[start:stop]
        scores[used] = own
        for start in range(0, len(others), size):
            rows = others[start : start + size]
            scores[rows] = values(self.X[rows]) @ weights


class LinearGram:
    """The Gram matrix of the rows of X, of which only parts are computed."""

    def __init__(self, X: Any):
        self.X = X

    def square(self, indices: Ints) -> Floats:
        points = self.X[indices]
        values = points @ points.T
        square: Floats = values.toarray() if issparse(values) else values
        return square


class MistakeRows(RowCache):
    """The Gram matrix of a sample, for a learner that needs the row of each mistake."""

    def __init__(self, kernel: Kernel, X: Any):
        self.kernel, self.X, self.blocks = kernel, X, 0
        m = X.shape[0]
        if is_precomputed(kernel):
            super().__init__(X, filled=m)
        else:
            super().__init__(np.empty((min(m, max(_ROWS, CACHE_BYTES // (8 * m))), m)))

    def compute(self, wanted: Ints) -> Floats:
        return self.kernel._finite(self.kernel.block, self.X[wanted], self.X)

    def first(self, coming: Ints) -> Floats:
        """The row of the first, until the next call. If it must be computed, so are some of the next."""
        i = coming[0]
        if self.places[i] < 0:
            # The more mistakes there were, the more are to be expected. Row by row, a fit of 6000 examples
            # with many mistakes takes two to three times as long; with the largest block from the start, one
            # with few mistakes computes two to three times as many rows.
            self.bring(coming[: min(1 + self.blocks // 4, _ROWS)])
            self.blocks += 1
        self.last[i] = self.clock
        row: Floats = self.rows[self.places[i]]
        return row
