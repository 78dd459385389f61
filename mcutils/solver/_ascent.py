"""Ascent by blocks: one example after the other moves to its best multipliers, and Newton steps join them."""

import itertools
from math import ceil
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse

from .. import _rows
from .._progress import Log
from .._rows import LinearGram, WholeGram, WorkingSet
from .._typing import Bools, Floats, Ints
from ..certificate import Certificate
from ..hinge import HingeProblem
from ..kernel import linear
from ._joint import MOST, Joint, joint_work

_GREED = 0.6  # a sweep moves examples whose violation is more than this part of the largest

# The working set grows when the examples outside it account for more than _SHARE of the gap; not before its
# own part of the gap has fallen to _SHRUNK of that at the last change, or as many examples were moved as it
# has. When the cache is full, a quarter of the set is exchanged instead.
_SHARE, _SHRUNK = 0.5, 0.5

# When the working set is as it should be, the gap falls by stages, to _FALLS of what it was. Examples whose
# violation is more than _TINY of the largest move alone, if they are at most _FEW of all, and if the stage
# before has moved as many: their kernel values are copied first.
_FALLS, _TINY, _FEW = 0.3, 1e-3, 0.4
_LONG = 25  # but not before as many moves for each support vector: a short fit is better off without
_FIRST_STAGE = 0.1  # relative gap

# Newton steps on the free multipliers
_NEWTON = 1500  # the most free multipliers for which a step is taken
_MOVE = 5.0  # the cost of moving one example, in operations for each example of the sample
_CHEAP = 2e6  # work that is always allowed; it doubles each time, and is at least what the ascent has taken
_PATIENCE = 200  # linear: passes over the data before the first step; each later wait is 10 % longer

# Linear: passes until all examples are checked again. Kernel: Newton steps are tried after _ROUND * m moves.
_ROUND = 50
_JOINT = 0.6  # joint steps begin when the passes have taken this part of what these steps may take
_FALL = 0.3  # all examples are also checked when the gap seems to have fallen to this part,
_LEAST = 2  # but only after at least _LEAST * m visits

# A round is idle if it neither halves the gap nor raises the dual value by this part of it; after 25 in a row
# the fit ends.
_IDLE = 1e-6


class _Progress:
    """Whether there is any, seen by the certificates."""

    def __init__(self) -> None:
        self.gap, self.dual, self.idle = np.inf, -np.inf, 0

    def ended(self, primal: float, dual: float) -> bool:
        """After another round."""
        gap = primal - dual
        gained = dual - self.dual > _IDLE * gap or gap <= 0.5 * self.gap
        self.idle = 0 if gained else self.idle + 1
        self.gap, self.dual = min(self.gap, gap), max(self.dual, dual)
        return self.idle > 25


class _Block:
    """Examples that move while all others wait.

    For each class a move takes as many operations as there are examples in the block. What all moves did to
    the scores of the others follows once.
    """

    def __init__(self, gram: WholeGram | WorkingSet, problem: HingeProblem, curvatures: Floats):
        self.gram, self.problem, self.curvatures = gram, problem, curvatures
        self.columns = np.empty(0, np.intp)

    def move(
        self,
        violated: Floats,
        before: int,
        enough: float,
        most: int,
        beta: Floats,
        scores: Floats,
        upper: Floats,
        lower: Floats,
    ) -> int:
        """Move those of the working set that violate, if they are few, until the gap is small enough.

        Parameters are those of the loop :func:`mcutils.jit.multiclass.climb`, which overwrites the last four.

        Returns
        -------
        int
            How often an example was moved; 0 if moving all at once is better.
        """
        from ..jit import multiclass as jit

        gram, problem = self.gram, self.problem
        inside = violated * gram.member
        wanted = np.flatnonzero(inside > _TINY * inside.max())
        if not 0 < len(wanted) <= min(_FEW * len(inside), before):
            return 0
        there = gram.member[self.columns].all() and np.isin(wanted, self.columns).all()
        if not there or len(self.columns) > 1.5 * len(wanted):
            self.columns = wanted
            self.square = gram.rows[np.ix_(gram.places[wanted], wanted)]
        c = self.columns
        own, labels, penalties = beta[c], problem.labels[c], problem.penalties[c]
        near, above, below = (np.ascontiguousarray(table[:, c]) for table in (scores, upper, lower))
        all_of_them, every = np.ones(len(c), scores.dtype), problem.loss == "weston_watkins"
        primal, _, _ = jit.values(near, labels, penalties, problem.costs, every, own, all_of_them)
        moved: int
        moved, *_ = jit.climb(
            self.square,
            np.arange(len(c)),
            all_of_them,
            self.curvatures[c],
            labels,
            penalties,
            problem.costs,
            every,
            _GREED,
            enough / max(1.0, primal),
            1.0,
            0.0,
            most,
            own,
            near,
            above,
            below,
            np.empty_like(all_of_them),
        )
        change = (own - beta[c]).astype(scores.dtype)
        beta[c], upper[:, c], lower[:, c] = own, above, below
        changed = np.flatnonzero(change.any(axis=1))
        for start in range(0, len(changed), 128):
            part = changed[start : start + 128]
            scores += change[part].T @ gram.rows[gram.places[c[part]]]
        return moved


def climb(
    gram: WholeGram | WorkingSet, problem: HingeProblem, tol: float, max_iter: int, beta: Floats, log: Log
) -> tuple[Floats, Certificate]:
    """The block ascent of a kernel classifier.

    Each round moves examples, and changes the working set in between. Once the gap is due to the working set,
    it falls by stages, and where few examples violate these move alone (:class:`_Block`). A round ends where
    the gap is small, where nothing moves or where enough was moved, with the certificate and Newton's steps.
    All loops end: between two changes of the working set an example moves, moves and changes are counted,
    rounds too, and rounds without progress are few.
    """
    from ..jit import multiclass as jit

    m, kind = len(beta), gram.rows.dtype
    curvatures = np.where(gram.curvatures > 1e-12 * gram.curvatures.max(initial=0.0), gram.curvatures, 0.0)
    costs, penalties, labels = problem.costs, problem.penalties, problem.labels
    every = problem.loss == "weston_watkins"
    upper, lower = np.empty((problem.n_classes, m), kind), np.empty((problem.n_classes, m), kind)
    violated = np.zeros(m, kind)
    scores = gram.product(beta)
    if isinstance(gram, WorkingSet):
        spread = np.argsort(labels, kind="stable")[np.linspace(0, m - 1, min(m, _rows.FIRST)).astype(np.intp)]
        gram.take(np.unique(spread), violated)
    left, budget = max_iter * m, _ROUND * m
    progress, goal, steps = _Progress(), tol, 0
    work, cheap = 0.0, _CHEAP
    for rounds in itertools.count(1):
        before, entered = steps, 0
        by_class = np.ascontiguousarray(scores.T, dtype=kind)
        jit.open_sides(beta, labels, penalties, costs, every, upper, lower)
        block, alone, moved = _Block(gram, problem, curvatures), False, 0
        target, since = max(goal, _FIRST_STAGE if m > _rows.FIRST else 0.0), steps
        while True:
            most = min(budget - (steps - since), left - steps)
            done, primal, dual, outside = jit.climb(
                gram.rows,
                gram.places,
                gram.member,
                curvatures,
                labels,
                penalties,
                costs,
                every,
                _GREED,
                target,
                _SHARE,
                _SHRUNK,
                0 if alone else most,  # after a block only a look
                beta,
                by_class,
                upper,
                lower,
                violated,
            )
            steps += done
            moved = moved if alone else done
            gap, size = primal - dual, max(1.0, primal)
            log.values(ceil(steps / m), primal, dual)
            if gap <= goal * size or steps >= left:
                break
            reached, target = gap <= target * size, max(goal, _FALLS * gap / size)
            if entered and not moved and reached:  # those that entered have their turn
                continue
            if outside > _SHARE * gap:
                if entered and not moved:  # nothing could be done with those that entered
                    break
                entered, alone = gram.more(violated), False
                if not entered:
                    break
                steps += entered
                since = steps
                continue
            if not reached and not alone:  # nothing moves, or enough was moved
                break
            if steps < _LONG * np.count_nonzero(beta.any(axis=1)):
                continue
            moved = block.move(violated, moved, target * size, most - done, beta, by_class, upper, lower)
            steps, alone = steps + moved, moved > 0
        beta = tidy(problem, beta)
        scores = gram.product(beta)
        certificate = certified(problem, beta, scores, gram.curvatures, max(1, ceil(steps / m)))
        log.values(ceil(steps / m), certificate.primal, certificate.dual)
        spent = steps >= left or rounds >= max_iter
        if certificate.gap <= tol or spent or progress.ended(certificate.primal, certificate.dual):
            break
        goal = min(goal, 0.5 * tol)
        if isinstance(gram, WorkingSet) and kind == np.float32 and progress.idle > 1:
            gram, kind = gram.doubled(), np.dtype(np.float64)
            upper, lower, violated = upper.astype(kind), lower.astype(kind), violated.astype(kind)
        elif gap > goal * max(1.0, primal):  # the ascent has stalled
            work += _MOVE * m * (steps - before)
            if _newton(gram, problem, beta, scores, min(max(work, cheap), _MOVE * m * (left - steps))):
                scores, work = gram.product(beta), 0.0
            else:
                budget *= 2
            cheap *= 2
    return beta, certificate


def _newton_work(size: int) -> float:
    return size**3 / 24 + 30 * size**2


def _newton(gram: Any, problem: HingeProblem, beta: Floats, scores: Floats, budget: float) -> bool:
    """Newton steps on the coefficients that have room on both sides; each as far as the bounds allow.

    The last one, that no bound stops, ends where single rows would creep along a valley. The others bring a
    coefficient to its bound each. The budget is of operations of the ascent, which take longer than those of
    a factorisation.
    """
    rows = np.flatnonzero(beta.any(axis=1))
    free = _free(problem, beta, rows)
    rows = rows[free.sum(axis=1) > 1]
    size = int(_free(problem, beta, rows).sum()) - len(rows)
    if not 0 < size <= _NEWTON or _newton_work(size) > budget:
        return False
    square = gram.square(rows)
    tiny = 1e-12 * (float(np.diag(square).max()) or 1.0)
    appeal = scores[rows] + problem.costs[problem.labels[rows]]
    own, labels, penalties = beta[rows], problem.labels[rows], problem.penalties[rows]
    true, every = labels[:, None] == np.arange(problem.n_classes), problem.loss == "weston_watkins"
    high = np.where(true, np.inf if every else penalties[:, None], 0.0)
    low = np.where(true | (not every), -np.inf, -penalties[:, None])
    moved = False
    for _ in range(len(rows) * problem.n_classes):
        free = (own < high) & (own > low)
        # what the others of a row gain, one of them loses: the true class, or that which has most room
        base = np.where(every | free[true], labels, np.where(free, own, np.inf).argmin(axis=1))
        free[np.arange(len(rows)), base] = False
        i, r = np.nonzero(free)
        budget -= _newton_work(len(i))
        if not len(i) or budget < 0:
            break
        b = base[i]
        signs = (
            (r[:, None] == r).astype(np.float64) - (r[:, None] == b) - (b[:, None] == r) + (b[:, None] == b)
        )
        hessian = square[np.ix_(i, i)] * signs
        hessian[np.diag_indices(len(i))] += tiny
        slope = appeal[i, b] - appeal[i, r]
        try:
            step = cho_solve(cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False), slope)
        except np.linalg.LinAlgError:
            break
        direction = np.zeros_like(own)
        direction[i, r] = step
        np.add.at(direction, (i, b), -step)
        change = square @ direction
        gain, curvature = float(slope @ step), float(np.vdot(direction, change))
        if not (np.isfinite(curvature) and gain > 0):
            break
        side = np.where(direction > 0, high, low)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            room = np.where(direction != 0, (side - own) / direction, np.inf)
            t = min(gain / curvature if curvature > 0 else np.inf, float(room.min()))
        if not 0 < t < np.inf:
            break
        stopped = room <= t
        own = np.where(stopped, side, np.clip(own + t * direction, low, high))
        appeal += t * change
        moved = True
        if not stopped.any():
            break
    beta[rows] = own
    beta[:] = tidy(problem, beta)
    return moved


def sweep(
    X: Any, problem: HingeProblem, tol: float, max_iter: int, beta: Floats, log: Log
) -> tuple[Floats, Certificate]:
    """The block ascent of a linear classifier, which keeps W."""
    from ..jit import multiclass as jit

    m, every = X.shape[0], problem.loss == "weston_watkins"
    state = np.array([88172645463325252], dtype=np.uint64)
    squares = linear.self_products(X)
    squares[squares <= 1e-12 * squares.max(initial=0.0)] = 0.0
    active, counts = np.empty((m, problem.n_classes), np.int32), np.empty(m, np.int32)
    data = (X.data, X.indices, X.indptr) if issparse(X) else (X,)
    visit: Any = jit.sparse if issparse(X) else jit.dense
    order, accuracy, settled = np.empty(m, np.intp), float(problem.costs.max()) or 1.0, False
    progress, n_iter, work, cheap = _Progress(), 0, 0.0, _CHEAP
    passes, patience = 0, _PATIENCE  # since the last Newton step, and until the next
    W = np.ascontiguousarray((X.T @ beta).T)
    whole = m * problem.n_classes * (X.shape[1] + 8.0)  # what a pass over all classes takes
    joint = not issparse(X) and W.size <= MOST
    taken, share = 0.0, _JOINT * joint_work(m, X.shape[1], problem.n_classes) if joint else np.inf
    while True:
        by_class = np.ascontiguousarray(W @ X.T)
        primal, dual, _ = jit.values(
            by_class, problem.labels, problem.penalties, problem.costs, every, beta, problem.penalties
        )
        gap, allowed = primal - dual, tol * max(1.0, primal)
        log.values(n_iter, primal, dual)
        if gap <= allowed or n_iter >= max_iter or progress.ended(primal, dual):
            beta = tidy(problem, beta)
            W = np.ascontiguousarray((X.T @ beta).T)
            certificate = certified(problem, beta, X @ W.T, squares, n_iter)
            log.values(n_iter, certificate.primal, certificate.dual)
            if certificate.gap <= tol or n_iter >= max_iter or progress.idle > 25:
                return beta, certificate
        due = share / np.log(max(gap / allowed, 1.01))  # the nearer the end, the longer the passes go on
        if taken >= due and squares.any():
            steps = Joint(X, problem, beta, squares, max_iter - n_iter)
            beta = steps.ascend(tol, W, log, n_iter)
            W = np.ascontiguousarray((X.T @ beta).T)
            n_iter, share = n_iter + steps.visits, 10 * share
            continue
        if settled:
            accuracy *= 0.3
        if passes >= patience:
            beta = tidy(problem, beta)
            if _newton(LinearGram(X), problem, beta, by_class.T, max(work, cheap)):
                W = np.ascontiguousarray((X.T @ beta).T)
                by_class, work = np.ascontiguousarray(W @ X.T), 0.0
            passes, patience, cheap = 0, patience + patience // 10, 2 * cheap
        passes_left = min(_ROUND, max_iter - n_iter)
        if taken < due < np.inf:
            passes_left = min(passes_left, max(_LEAST, ceil((due - taken) / whole)))
        kept = jit.reopen(
            by_class, problem.labels, problem.penalties, problem.costs, every, beta, order, active, counts
        )
        done, _, visits, products, settled = visit(
            *data,
            squares,
            problem.labels,
            problem.penalties,
            problem.costs,
            every,
            accuracy,
            max(_FALL * gap, allowed),
            _LEAST * m,
            passes_left,
            state,
            order,
            kept,
            beta,
            W,
            active,
            counts,
        )
        n_iter, passes, work = n_iter + done, passes + done, work + 4.0 * visits * X.shape[1]
        taken += products * (X.shape[1] + 8.0) + whole  # all classes of all examples are looked at in between


def tidy(problem: HingeProblem, beta: Floats) -> Floats:
    """Coefficients whose rows sum to 0, from such up to rounding."""
    return problem.coefficients(problem.multipliers(beta))


def certified(
    problem: HingeProblem, beta: Floats, scores: Floats, curvatures: Floats, n_iter: int
) -> Certificate:
    """The certificate of coefficients, unless their scores show that the kernel has a negative eigenvalue."""
    squares = np.einsum("ir,ir->r", beta, scores)
    # what rounding may make of terms that are no larger than those of the sum of all norms, squared
    norms = np.sqrt(np.maximum(curvatures, 0.0)) @ np.abs(beta)
    rounding = 8 * float(np.finfo(np.float64).eps) * float((norms**2).max())
    if squares.min() < -rounding:
        raise ValueError(
            "kernel must be positive semidefinite, found a combination of the examples with the square "
            f"{squares.min():.4g}: mcutils.kernel.check_psd shows a negative eigenvalue"
        )
    return problem.certificate(beta, scores, n_iter)


def _free(problem: HingeProblem, beta: Floats, rows: Ints) -> Bools:
    """Which coefficients of some rows have room on both sides."""
    part, penalty = beta[rows], problem.penalties[rows][:, None]
    true = problem.labels[rows][:, None] == np.arange(problem.n_classes)
    if problem.loss == "weston_watkins":
        inside: Bools = (part < 0) & (part > -penalty) & ~true
        return np.asarray(inside | (true & inside.any(axis=1, keepdims=True)))
    return np.asarray(part < np.where(true, penalty, 0.0))
