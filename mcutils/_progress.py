"""How far a fit is: a line for who waits, the primal and dual values on the way, and fits side by side."""

import shutil
import sys
from collections.abc import Iterable
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.utils.parallel import Parallel

from ._typing import Floats

_REWRITE = 0.1  # seconds between two states of a line that is rewritten
_FIRST = 1.0  # seconds until the second line, where lines follow each other; each further wait is doubled


def is_watched() -> bool:
    """Whether stderr is a terminal or belongs to a notebook."""
    notebook = type(sys.stderr).__module__.startswith("ipykernel")
    return sys.stderr is not None and (notebook or sys.stderr.isatty())


class Log:
    """What a fit says with ``verbose``, on stderr, and the values that it keeps as ``history_``.

    A terminal and a notebook show one line, which is rewritten. Elsewhere, as in a file, lines come in
    growing intervals. From ``verbose=2`` each report is a line. It is a context, so that the line ends also
    where the fit is interrupted.
    """

    def __init__(
        self,
        name: str = "",
        verbose: int = 0,
        *,
        unit: str = "round",
        most: int | None = None,
        tol: float | None = None,
        least: float = 1.0,
    ):
        self.name, self.unit, self.least = name, unit, least
        self.verbose = verbose if sys.stderr else 0  # there is none in a program without a console
        self.most = "" if most is None else f"/{most}"
        self.tol = "" if tol is None else f" (tol {float(tol):g})"
        self.start, self.rows = perf_counter(), list[tuple[float, float, float]]()
        self.due, self.wait, self.known, self.last, self.shown = 0.0, _FIRST, "", "", ""

    def values(self, count: int, primal: float, dual: float) -> None:
        """The primal and the dual value after some rounds."""
        self.rows.append((perf_counter() - self.start, primal, dual))
        if self.verbose:
            gap = (primal - dual) / (max(self.least, abs(primal)) or 1.0)
            self.tell(count, f", primal {primal:.6g}, dual {dual:.6g}, gap {gap:.1e}{self.tol}")

    def tell(self, count: int, what: str | None = None) -> None:
        """What else is known after some rounds; None: what was said last."""
        if self.verbose:
            self.known = self.known if what is None else what
            self._say(f"{self.unit} {count}{self.most}{self.known}")

    @property
    def history(self) -> Floats:
        """A row for each call of :meth:`values`: seconds since the start, primal, dual."""
        return np.array(self.rows, dtype=np.float64).reshape(-1, 3)

    def close(self) -> None:
        """Show the last report, if it was not, and end the line."""
        if self.last != self.shown:
            self._show()
        if self.shown and self._rewrites():
            print(file=sys.stderr, flush=True)
        self.last = self.shown = ""

    def __enter__(self) -> Self:
        if self.verbose:
            self._say("started")
        return self

    def __exit__(self, *reason: Any) -> None:
        self.close()

    def _say(self, what: str) -> None:
        seconds = perf_counter() - self.start
        self.last = f"{self.name}: {what}, {seconds:.1f} s"
        if seconds >= self.due or self.verbose > 1:
            self._show()
            self.due = seconds + (_REWRITE if self._rewrites() else self.wait)
            self.wait *= 2

    def _show(self) -> None:
        if self._rewrites():
            width = shutil.get_terminal_size().columns - 1  # a longer line would not be rewritten
            print(
                f"\r{self.last[:width]:<{min(width, len(self.shown))}}", end="", file=sys.stderr, flush=True
            )
        else:
            print(self.last, file=sys.stderr, flush=True)
        self.shown = self.last

    def _rewrites(self) -> bool:
        """Whether one line is enough, and can be written over."""
        return self.verbose < 2 and is_watched()


def side_by_side(calls: Iterable[Any], n_jobs: int | None, log: Log, before: int = 0) -> list[Any]:
    """The results of delayed calls, which joblib divides, in their order; the log counts them.

    ``before`` others are counted already. A result counts when all before it are there too: where it gives
    results in the order of completion, joblib 1.5 may end with an error of its own.
    """
    try:
        pool = Parallel(n_jobs=n_jobs, return_as="generator" if log.verbose else "list")
    except ValueError:  # multiprocessing and Ray give all results at the end
        pool = Parallel(n_jobs=n_jobs)
    results = []
    for result in pool(calls):
        results.append(result)
        log.tell(before + len(results))
    return results
