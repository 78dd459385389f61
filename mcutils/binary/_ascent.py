"""Ascent over a box: steps by one or two multipliers, and Newton steps on those that are free."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from .. import _rows
from .._rows import Gram
from .._typing import Floats, Ints

# A Newton step factorises the Gram matrix of the free multipliers; the work is the cube of their number.
_NEWTON = 1500  # the most free multipliers for which a step is taken
_PAIR_WORK = 12  # a pair step costs this many times the size of the block
_CHEAP = 300**3  # a Newton step of at most this work is always taken


class Ascent:
    r"""Maximise :math:`p^\top \beta - \frac12 \beta^\top G \beta` over a box, the sums of groups fixed.

    ``ends`` has the place behind the last coordinate of each group; without groups it is None.
    """

    def __init__(
        self,
        gram: Gram,
        target: Floats,
        lower: Floats,
        upper: Floats,
        ends: Ints | None,
        beta: Floats,
        max_iter: int,
    ):
        self.gram, self.target, self.lower, self.upper, self.ends = gram, target, lower, upper, ends
        self.beta = beta
        self.steps, self.max_iter = 0, max_iter
        self.work = 0
        self.precise = False
        # scale of the curvatures; what is a millionth of a millionth of it is rounding
        self.tiny = 1e-12 * (float(gram.diagonal.max(initial=0.0)) or 1.0)
        self.previous = np.empty(0, dtype=np.intp)
        self.refresh()

    def refresh(self) -> None:
        """The gradient, from scratch."""
        product = self.gram.precise_product if self.precise else self.gram.product
        self.error = self.target - product(self.beta)

    def groups(self) -> list[slice]:
        if self.ends is None:
            return []
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]

    def badness(self) -> tuple[Floats, Floats]:
        """By how much each coordinate should rise, and fall, as seen from the middle of its group."""
        middle = np.zeros(len(self.beta))
        rise, fall = self.beta < self.upper, self.beta > self.lower
        for group in self.groups():
            high = self.error[group][rise[group]].max(initial=-np.inf)
            low = self.error[group][fall[group]].min(initial=np.inf)
            # without one that may rise, or one that may fall, none can move
            middle[group] = (high + low) / 2 if np.isfinite(high - low) else self.error[group]
        ahead = self.error - middle
        return np.where(rise, np.maximum(ahead, 0.0), 0.0), np.where(fall, np.maximum(-ahead, 0.0), 0.0)

    def violation(self) -> float:
        """The largest gradient along a move that the box leaves open."""
        worst = max(float(side.max(initial=0.0)) for side in self.badness())
        return worst if self.ends is None else 2 * worst

    def sweep(self, tolerance: float, most: int) -> bool:
        """Some steps, at least one for each block; whether the violation was brought below the tolerance."""
        most = min(most, self.max_iter - self.steps)
        if self.gram.whole is not None and len(self.beta) <= 2 * _rows.BLOCK:
            steps, violation = self._inner(
                self.gram.whole, slice(None), self.ends, self.beta, self.error, tolerance, most
            )
            self.steps += steps
            self.work += _PAIR_WORK * steps * len(self.beta)
            return violation <= tolerance
        while True:
            violation = self.violation()
            if violation <= tolerance:
                return True
            if most <= 0:
                return False
            chosen = self._choose()
            ends = None if self.ends is None else np.searchsorted(chosen, self.ends)
            beta, error = self.beta[chosen], self.error[chosen]
            steps, _ = self._inner(
                self.gram.square(chosen),
                chosen,
                ends,
                beta,
                error,
                max(0.1 * violation, 0.5 * tolerance),
                min(most, 20 * _rows.BLOCK),
            )
            move = np.zeros(len(self.beta))
            move[chosen] = beta - self.beta[chosen]
            self.beta[chosen] = beta
            self.error -= self.gram.product(move)
            self.previous = chosen
            self.steps += steps
            self.work += (_PAIR_WORK * steps + len(self.beta)) * len(chosen)
            most -= steps
            if not steps:  # rounding has ended all progress
                return False

    def _choose(self) -> Ints:
        """The worst on both sides of each group, and of the last choice those that are free, then any."""
        block = min(_rows.BLOCK, len(self.beta))
        groups = self.groups() or [slice(None)]
        share = max(1, block // (4 * len(groups)))
        chosen: set[int] = set()
        for side in self.badness():
            for group in groups:
                start, bad = group.start or 0, side[group]
                worst = np.argpartition(-bad, share - 1)[:share] if len(bad) > share else np.arange(len(bad))
                chosen.update((start + worst[bad[worst] > 0]).tolist())
        free = (self.beta > self.lower) & (self.beta < self.upper)
        for i in self.previous[np.argsort(~free[self.previous], kind="stable")].tolist():
            if len(chosen) >= block:
                break
            chosen.add(i)
        return np.array(sorted(chosen), dtype=np.intp)

    def _inner(
        self,
        square: Floats,
        chosen: Any,
        ends: Ints | None,
        beta: Floats,
        error: Floats,
        tolerance: float,
        most: int,
    ) -> tuple[int, float]:
        from ..jit import smo as jit

        box = self.lower[chosen], self.upper[chosen]
        if ends is None:
            outcome = jit.singles(square, *box, beta, error, tolerance, self.tiny, most)
        else:
            outcome = jit.pairs(square, *box, ends, beta, error, tolerance, self.tiny, most)
        return int(outcome[0]), float(outcome[1])

    def newton(self) -> None:
        """Newton steps on the free coordinates, each as far as the box allows.

        The last one, that the box does not stop, ends where the ascent by one or two coordinates would creep
        along a valley. The others fix a coordinate each. They may take as much work as the ascent has taken
        since the last call; if one alone would take more, none is taken.
        """
        free = np.flatnonzero((self.beta > self.lower) & (self.beta < self.upper))
        budget = max(self.work, _CHEAP)
        if not 0 < len(free) <= _NEWTON or len(free) ** 3 > budget:
            return
        self.work = 0
        square = self.gram.square(free)
        lower, upper = self.lower[free], self.upper[free]
        beta, error = self.beta[free], self.error[free]
        group = np.zeros(len(free)) if self.ends is None else np.searchsorted(self.ends, free, side="right")
        moving = np.arange(len(free))
        while len(moving) and budget > 0 and self.steps < self.max_iter:
            budget -= len(moving) ** 3 + len(free) ** 2
            part = square if len(moving) == len(free) else square[np.ix_(moving, moving)]
            direction = self._newton_direction(part, error[moving], group[moving])
            if direction is None:
                break
            change = square[:, moving] @ direction
            slope, curvature = float(error[moving] @ direction), float(direction @ change[moving])
            if not (np.isfinite(curvature) and slope > 0):
                break
            side = np.where(direction > 0, upper[moving], lower[moving])
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                room = np.where(direction != 0, (side - beta[moving]) / direction, np.inf)
                t = min(slope / curvature if curvature > 0 else np.inf, float(room.min()))
            if not 0 < t < np.inf:
                break
            stopped = room <= t
            moved = np.clip(beta[moving] + t * direction, lower[moving], upper[moving])
            beta[moving] = np.where(stopped, side, moved)
            error -= t * change
            self.steps += 1
            if not stopped.any():
                break
            moving = moving[~stopped]
        move = np.zeros(len(self.beta))
        move[free] = beta - self.beta[free]
        self.beta[free] = beta
        self.error -= self.gram.product(move)

    def _newton_direction(self, square: Floats, error: Floats, group: NDArray[Any]) -> Floats | None:
        # a ridge below rounding: where the matrix is singular the step is long, and the box ends it
        square = square.copy()
        square[np.diag_indices(len(square))] += self.tiny
        constraints = np.zeros((len(square), 0))
        if self.ends is not None:
            constraints = (group[:, None] == np.unique(group)).astype(np.float64)
            size = constraints.sum(axis=0)
            error = error - constraints @ ((constraints.T @ error) / size)  # the same step, fewer digits lost
        try:
            factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        solved = cho_solve(factor, np.column_stack([error, constraints]), check_finite=False)
        if not np.isfinite(solved).all():
            return None
        direction: Floats = solved[:, 0]
        if self.ends is not None:
            shift = np.linalg.lstsq(constraints.T @ solved[:, 1:], constraints.T @ direction, rcond=None)[0]
            direction = direction - solved[:, 1:] @ shift
            direction -= constraints @ ((constraints.T @ direction) / size)  # sums stay, to the last digit
        return direction if np.isfinite(direction).all() else None
