"""Decoding: the row of a code that is closest to the scores, and which rows truly tie."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from .. import loss as losses
from .._checks import array
from .._typing import Bools, Floats, Ints
from ..loss import MarginLoss
from ._codes import Code, as_code

LossLike: TypeAlias = str | MarginLoss | Callable[[Floats], Any]
_Logs: TypeAlias = tuple[Ints, Floats]

_EPS = float(np.finfo(np.float64).eps)

# Scores are decoded in chunks with a work space of about this many bytes: small enough for the cache of a
# core, large enough that a chunk costs more than the calls that it takes.
_CHUNK_BYTES = 2**23

# Up to this magnitude, sums of exp(f) and exp(-f) neither overflow nor underflow.
_MODERATE = 300.0


@dataclass(frozen=True, eq=False)
class Decoding:
    r"""What :func:`decode` found for n vectors of scores and the k rows of a code.

    Attributes
    ----------
    winner : (n,) int array
        The row of least distance; of tied rows, the first.
    tied : (n,) bool array
        Whether another row has the same least distance.
    distances : (n, k) array
        The distance of every row. ``winner`` is its first argmin, but where exponential distances
        overflow to ``inf`` or underflow to 0; ``log_distances`` never do.
    """

    winner: Ints
    tied: Bools
    distances: Floats
    # exponential decoding only: examples that were decided by logarithms, and these, (k, number of examples)
    _by_logs: list[_Logs] | None = field(default=None, repr=False)

    @cached_property
    def log_distances(self) -> Floats | None:
        """Logarithms of the distances of exponential decoding, always finite; None for other losses.

        ``winner`` is their first argmin.
        """
        if self._by_logs is None:
            return None
        with np.errstate(divide="ignore"):
            log_distances = np.log(self.distances)
        for examples, logs in self._by_logs:
            log_distances[examples] = logs.T
        return log_distances


def decode(scores: ArrayLike, code: ArrayLike, loss: LossLike = "hamming") -> Decoding:
    r"""The row of the code closest to the scores, and the distance of every row.

    Hamming decoding (def-ecoc-hamming) measures
    :math:`d_H(r) = \sum_s \frac{1 - \operatorname{sign}(M(r,s) f_s)}{2}` with
    :math:`\operatorname{sign}(0) = 0`; loss-based decoding (def-ecoc-loss) measures
    :math:`d_L(r) = \sum_s L(M(r,s) f_s)`. Zeros of the code count: they pay 1/2, or :math:`L(0)`.

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_s(x_i)`, finite. All sums are taken in float64, whatever the type of the scores.
    code : (k, l) array-like
        Entries -1, 0, +1; see :func:`check_code`.
    loss : str, MarginLoss or callable
        "hamming" (another name of "zero_one"), any loss of :mod:`mcutils.loss`, or a vectorised function
        of the margins.

    Returns
    -------
    Decoding

    Notes
    -----
    *Ties* go to the smallest index, and ``tied`` marks them.

    - Hamming distances are multiples of 1/2, and exact.
    - Exponential distances are compared exactly as well. Two rows tie just when the same exponents
      :math:`-M(r,s) f_s` occur in both, because powers of e with different rational exponents are
      linearly independent over the rationals (Lindemann and Weierstrass). So rows are distinguished that
      share a term :math:`e^{10000}` and differ in a term of size 1.
    - For the other losses two rows tie when rounding explains their difference: when it is at most
      :math:`(l + 8)\,2^{-51}` times the sum of :math:`|L|` over the terms of both rows in the columns
      where their terms differ.

    So what truly ties is seen to tie, in whatever order a classifier adds. The reported distances agree with
    these decisions: rows that tie with the winner have its value, and no other row has.

    *Memory*: the distances take 8nk bytes, the work space about 10 megabytes per thread. Many examples are
    decoded in as many threads as BLAS may use (``OMP_NUM_THREADS``, ``threadpoolctl``).

    Examples
    --------
    >>> code = one_vs_all(3)
    >>> scores = [[-1.0, 2.0, 1.0], [0.0, 0.0, 0.0]]
    >>> result = decode(scores, code)
    >>> result.winner, result.tied
    (array([1, 0]), array([ True,  True]))
    >>> result.distances
    array([[3. , 1. , 1. ],
           [1.5, 1.5, 1.5]])
    >>> decode(scores, code, loss="hinge").distances
    array([[7., 2., 3.],
           [3., 3., 3.]])

    Distances that overflow still choose rightly:

    >>> result = decode([[9000.0, 1e4, 9500.0]], code, loss="exponential")
    >>> result.winner, result.distances, result.log_distances
    (array([1]), array([[inf, inf, inf]]), array([[10000.,  9500., 10000.]]))
    """
    matrix = as_code(code)
    decoder = _Decoder(decoding_loss(loss), matrix)
    f = check_scores(scores, matrix.shape[1])
    n, (k, l) = len(f), matrix.shape
    # (k, n), so that every loop over the examples of a chunk is contiguous; the result is its transpose
    distances = np.empty((k, n))
    winner = np.empty(n, dtype=np.intp)
    tied = np.empty(n, dtype=np.bool_)
    step = max(16, _CHUNK_BYTES // (8 * (3 * l + k)))

    def decode_chunk(start: int) -> _Logs | None:
        chunk = slice(start, start + step)
        decoded = decoder(f[chunk].astype(np.float64, copy=False))
        winner[chunk], tied[chunk], distances[:, chunk] = decoded.winner, decoded.tied, decoded.distances
        return None if decoded.logs is None else (start + decoded.close, decoded.logs)

    logs = [some for some in _map_chunks(decode_chunk, range(0, n, step)) if some is not None]
    return Decoding(winner, tied, distances.T, logs if decoder.loss is losses.exponential else None)


def _map_chunks(function: Callable[[int], _Logs | None], starts: range) -> list[_Logs | None]:
    """Call for every chunk, side by side in as many threads as BLAS may use.

    A product of one chunk is too small for BLAS to share out among threads: left to itself it loses time
    where the classifier is idle, and stalls where it is not.
    """
    blas = _threadpools().select(user_api="blas")
    n_threads = max((library["num_threads"] for library in blas.info()), default=1)
    if len(starts) < 2 or n_threads < 2:
        return [function(start) for start in starts]
    context = copy_context()  # NumPy's error state is the caller's in every thread
    with blas.limit(limits=1), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda start: context.copy().run(function, start), starts))


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def decoding_loss(loss: LossLike) -> MarginLoss:
    return losses.zero_one if isinstance(loss, str) and loss == "hamming" else losses.get(loss)


def check_scores(scores: ArrayLike, l: int) -> NDArray[Any]:
    f = array(scores, "scores")
    if f.ndim != 2 or f.shape[1] != l:
        raise ValueError(
            f"scores must be a matrix with one row for each example and {l} columns, as many as the code, "
            f"found shape {f.shape}"
        )
    if f.dtype.kind not in "iufb":
        raise ValueError(f"scores must be real numbers, found dtype {f.dtype}")
    return f


class _Chunk(NamedTuple):
    winner: Ints  # (m,)
    tied: Bools  # (m,)
    distances: Floats  # (k, m)
    close: Ints  # (u,), the examples that an umpire decided
    logs: Floats | None = None  # (k, u), logarithms of their distances, for the exponential loss


class _Decoder:
    """Decodes chunks of scores f, (m, l): measures all rows, then lets an umpire decide close calls."""

    def __init__(self, loss: MarginLoss, matrix: Code):
        self.loss = loss
        self.signs = matrix.astype(np.float64)
        # L(M f) = [M = 1] L(f) + [M = -1] L(-f) + [M = 0] L(0): one product sums the losses
        self.halves = np.hstack([matrix == 1, matrix == -1]).astype(np.float64)
        self.at_zero = (matrix == 0).sum(axis=1)[:, None] * loss.at_zero

    def __call__(self, f: Floats) -> _Chunk:
        k = len(self.signs)
        magnitude = np.abs(f)
        size: Floats = np.einsum("ij->i", magnitude)
        if not np.isfinite(size).all():
            bad = f[~np.isfinite(f)]
            fault = f"found {bad[0]}" if len(bad) else "found magnitudes whose sum overflows"
            raise ValueError(f"scores must be finite, {fault}")

        distances, rounding = self.measure(f, magnitude, size)
        near = distances <= distances.min(axis=0) + rounding
        rank = np.arange(k, 0, -1, dtype=np.min_scalar_type(k))[:, None]
        winner = k - (near * rank).max(axis=0).astype(np.intp)  # the first that is near
        tied = near.sum(axis=0, dtype=rank.dtype) > 1
        undecided = tied
        if self.loss is losses.exponential and magnitude.max() > _MODERATE:
            undecided = tied | (magnitude.max(axis=1) > _MODERATE)
        close = np.flatnonzero(undecided)
        if self.loss is losses.zero_one or not len(close):
            return _Chunk(winner, tied, distances, close)
        logs = None
        if self.loss is losses.exponential:
            logs, rounding = self.log_distances(f[close])
            near[:, close] = logs <= logs.min(axis=0) + rounding
            with np.errstate(over="ignore", under="ignore"):
                distances[:, close] = np.exp(logs)
        champion, equal = self.umpire(f[close], near[:, close])
        winner[close] = champion
        tied[close] = equal.sum(axis=0) > 1
        distances[:, close] = _agree(distances[:, close], champion, equal, near[:, close])
        if logs is not None:
            logs = _agree(logs, champion, equal, near[:, close])
        return _Chunk(winner, tied, distances, close, logs)

    def measure(self, f: Floats, magnitude: Floats, size: Floats) -> tuple[Floats, Floats]:
        """All distances, (k, m), and by how much rounding may have moved the least of them, (m,)."""
        m, l = f.shape
        relative = 4 * (l + 8) * _EPS
        if self.loss is losses.zero_one:
            # small integers, halved: exact
            distances = self.signs @ np.sign(f).T
            np.subtract(l, distances, out=distances)
            distances *= 0.5
            return distances, np.zeros(m)
        if self.loss is losses.linear_loss:
            return -self.signs @ f.T, relative * size

        values = np.empty((m, 2 * l))
        plus, minus = values[:, :l], values[:, l:]
        if self.loss is losses.exponential:
            # larger scores are left to logarithms, and must only not overflow here
            moderate = f if magnitude.max() <= _MODERATE else np.clip(f, -_MODERATE, _MODERATE)
            np.exp(moderate, out=minus)
            np.divide(1.0, minus, out=plus)
            # as much as the rounding of their logarithms, so that these keep the order of the others
            relative += 4 * _MODERATE * _EPS
        elif self.loss is losses.logistic:
            # L(z) = L(|z|) + max(-z, 0): one logarithm serves both signs
            with np.errstate(under="ignore"):
                even = np.exp(-magnitude)
            np.log1p(even, out=even)
            part = np.maximum(f, 0.0)
            np.add(even, part, out=minus)
            part -= f  # now max(-f, 0), exactly
            np.add(even, part, out=plus)
        else:
            with np.errstate(over="ignore"):
                plus[...] = self.loss(f)
                minus[...] = self.loss(-f)
        with np.errstate(invalid="ignore"):
            distances = self.halves @ values.T
        distances += self.at_zero
        scale = distances.min(axis=0)
        if not np.isfinite(scale).all():
            raise ValueError(
                f"the loss {self.loss.name!r} overflows at scores of magnitude {magnitude.max():g}"
            )
        if min(values.min(), self.loss.at_zero) < 0:
            # terms of both signs: rounding is relative to their magnitudes, not to their sum
            scale = np.maximum(np.abs(plus), np.abs(minus)).sum(axis=1) + np.abs(self.at_zero).max()
        return distances, relative * scale

    def log_distances(self, f: Floats) -> tuple[Floats, Floats]:
        """Logarithms of all exponential distances, (k, m), and a bound of their rounding, (m,)."""
        logs = np.empty((len(self.signs), len(f)))
        columns = np.ascontiguousarray(f.T)
        for r, row in enumerate(self.signs):
            exponents = -row[:, None] * columns
            top = exponents.max(axis=0)
            with np.errstate(over="ignore"):
                exponents -= top
            # e^-700 is lost beside the top's 1 as well, and is quicker than a number that underflows
            np.maximum(exponents, -700.0, out=exponents)
            logs[r] = top + np.log(np.exp(exponents, out=exponents).sum(axis=0))
        return logs, 4 * _EPS * (f.shape[1] + 8 + np.abs(f).max(axis=1))

    def umpire(self, f: Floats, near: Bools) -> tuple[Ints, Bools]:
        """Of the rows that are ``near``, (k, m), the first that none beats; and all that equal it."""
        champion = near.argmax(axis=0)
        equal = np.zeros_like(near)
        equal[champion, np.arange(len(f))] = True
        for r, row in enumerate(self.signs):
            games = np.flatnonzero(near[r] & (champion != r))
            if len(games):
                result = self.compare(f[games], row, self.signs[champion[games]])
                equal[:, games[result < 0]] = False
                champion[games[result < 0]] = r
                equal[r, games[result <= 0]] = True
        return champion, equal

    def compare(self, f: Floats, row: Floats, other: Floats) -> Floats:
        """The sign of d(row) - d(other) for every f: -1, +1, or 0 for a tie."""
        if self.loss is losses.exponential:
            return _compare_exponential_sums(-row * f, -other * f)
        left, right = self.loss(row * f), self.loss(other * f)
        difference = (left - right).sum(axis=1)
        # columns with the same term cancel, and add nothing to the rounding
        terms = np.where(left != right, np.abs(left) + np.abs(right), 0.0).sum(axis=1)
        rounding = 2 * (f.shape[1] + 8) * _EPS * terms
        return np.where(np.abs(difference) <= rounding, 0.0, np.sign(difference))


def _agree(values: Floats, champion: Ints, equal: Bools, near: Bools) -> Floats:
    """Distances moved, within rounding, to what was decided: the champion's value for its equals only."""
    least = values[champion, np.arange(values.shape[1])]
    above = np.maximum(values, np.nextafter(least, np.inf))
    return np.where(equal, least, np.where(near, above, values))


def _compare_exponential_sums(left: Floats, right: Floats) -> Floats:
    r"""The exact sign of :math:`\sum_s e^{a_s} - \sum_s e^{b_s}` for every row a of left, b of right.

    Take the 2l exponents of both together in descending order, :math:`v_1 \ge v_2 \ge \dots`, and let
    :math:`C_j` be how many more of the first j come from a than from b. Summation by parts gives the
    difference as :math:`\sum_j C_j (e^{v_j} - e^{v_{j+1}})`: an exponent that occurs in both cancels
    exactly, and what remains is measured by its own largest term.
    """
    exponents = np.hstack([left, right])
    order = np.argsort(-exponents, axis=1)
    v = np.take_along_axis(exponents, order, axis=1)
    count = np.where(order < left.shape[1], 1.0, -1.0).cumsum(axis=1)[:, :-1]
    with np.errstate(over="ignore", under="ignore"):
        gap = v[:, :-1] - v[:, 1:]
        live = (count != 0) & (gap > 0)
        top = np.where(live, v[:, :-1], -np.inf).max(axis=1, keepdims=True)
        depth = np.where(live, np.minimum(top - v[:, :-1], 700.0), 700.0)
        terms = np.where(live, count * np.exp(-depth) * -np.expm1(-gap), 0.0)
        sign: Floats = np.sign(terms.sum(axis=1))
        # rounding of an exponent of size depth, of exp, expm1 and the sum; and what e^-700 stands for
        rounding = _EPS * (np.abs(terms) * (depth + 2 * exponents.shape[1] + 16)).sum(axis=1) + 1e-290
        unsure = live.any(axis=1) & (np.abs(terms.sum(axis=1)) <= rounding)
    for i in np.flatnonzero(unsure):
        sign[i] = _sign_of_exponential_sum(left[i].tolist(), right[i].tolist())
    return sign


def _sign_of_exponential_sum(left: list[float], right: list[float]) -> int:
    """The sign of a difference of sums of exponentials that is not zero, in as many digits as it takes."""
    count = Counter(left)
    count.subtract(right)
    multiplicity = {Decimal(v): c for v, c in count.items() if c}
    digits = 50
    while True:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
            top = max(multiplicity)
            terms = [c * (v - top).exp() for v, c in multiplicity.items()]
            total = sum(terms, Decimal(0))
            if abs(total) > sum(map(abs, terms), Decimal(0)).scaleb(12 - digits):
                return 1 if total > 0 else -1
        digits *= 2
