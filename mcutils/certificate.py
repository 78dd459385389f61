r"""What every optimiser of the book returns: an optimum that can be checked without trust.

A minimisation problem and its dual satisfy *weak duality*: no dual value exceeds a primal value. So a
primal point with value :math:`P` and a dual point with value :math:`D \le P` certify each other: the
optimum lies between :math:`D` and :math:`P`, whatever the optimiser did to find them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from ._checks import integer, number

__all__ = ["Certificate"]

# Values closer than this (relative to max(1, |primal|)) are the same value computed twice.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Certificate:
    r"""A primal and a dual value, and the gap between them.

    Parameters
    ----------
    primal : float
        Value of the minimisation problem at the returned point, an upper bound of the optimum. Finite.
    dual : float
        Value of the dual at the returned multipliers, a lower bound of the optimum. Finite. A dual above the
        primal by more than rounding (1e-9, relative) contradicts weak duality, so one of the two is
        computed wrongly: ValueError.
    kkt : mapping of str to float
        Residuals of the optimality conditions by name, for example ``{"stationarity": 1e-9}``. Finite, at
        least 0.
    n_iter : int or None
        Iterations used, where the optimiser counts them.

    Examples
    --------
    >>> from mcutils.certificate import Certificate
    >>> result = Certificate(primal=10.0, dual=9.9)
    >>> round(result.gap, 3)
    0.01
    >>> result.certifies(0.05), result.certifies(1e-6)
    (True, False)
    """

    primal: float
    dual: float
    kkt: Mapping[str, float] = field(default_factory=dict)
    n_iter: int | None = None

    def __post_init__(self) -> None:
        number(self.primal, "primal")
        number(self.dual, "dual")
        if not isinstance(self.kkt, Mapping):
            raise ValueError(f"kkt must map names to residuals, found {self.kkt!r}")
        for name, residual in self.kkt.items():
            number(residual, f"kkt[{name!r}]", least=0)
        if self.n_iter is not None:
            integer(self.n_iter, "n_iter", 0)
        if self.gap < -_ROUNDING:
            raise ValueError(
                f"the dual value {self.dual!r} exceeds the primal value {self.primal!r}: "
                "weak duality forbids it, so one of the two is computed wrongly"
            )

    @property
    def gap(self) -> float:
        r"""Relative gap :math:`(P - D) / \max(1, |P|)`; below zero only by rounding."""
        scale = max(1.0, abs(self.primal))
        difference = self.primal - self.dual
        if not isfinite(difference):  # of two large numbers with opposite signs
            return self.primal / scale - self.dual / scale
        return difference / scale

    def certifies(self, tol: float) -> bool:
        """Whether the relative gap is at most ``tol``: the value is optimal up to ``tol``."""
        if not tol >= 0:
            raise ValueError(f"tol must be at least 0, found {tol!r}")
        return self.gap <= tol
