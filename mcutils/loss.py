r"""Margin losses :math:`z \mapsto L(z)`: what a score pays for a margin ``z``.

A binary classifier with the score :math:`f` where the label is :math:`y \in \{-1, +1\}` has the
margin :math:`z = y f`: positive when the sign is right, and larger when it is right with more
confidence. A margin loss charges for small margins. Every loss here is vectorised, returns float64
of the shape it was given, and neither warns nor breaks for :math:`|z|` up to :math:`10^4` (and far
beyond, the squared hinge up to :math:`10^{154}`); only the *exponential* loss can leave the range of
floating point, where it returns ``inf``, and therefore it also has its logarithm.

>>> from mcutils import loss
>>> loss.hinge([-1.0, 0.0, 0.5, 2.0])
array([2. , 1. , 0.5, 0. ])
>>> float(loss.logistic(0.0))  # natural logarithm: L(0) = log 2
0.6931471805599453
>>> float(loss.exponential.log_value(-1e4))
10000.0
>>> sorted(loss.LOSSES)
['exponential', 'hinge', 'linear', 'logistic', 'squared_hinge', 'zero_one']
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "LOSSES",
    "ExponentialLoss",
    "MarginLoss",
    "exponential",
    "get",
    "hinge",
    "linear_loss",
    "logistic",
    "squared_hinge",
    "zero_one",
]

# A float array; ufuncs return a scalar np.float64 for a scalar, which has the same interface.
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MarginLoss:
    r"""A loss :math:`L` of the margin, with its subgradient.

    Parameters
    ----------
    name : str
        What it is called in messages and by :func:`get`.
    value : callable
        :math:`z \mapsto L(z)` on float64 arrays, elementwise.
    slope : callable or None
        A subgradient of a convex :math:`L`, elementwise; None when there is none.

    Examples
    --------
    >>> from mcutils.loss import squared_hinge
    >>> squared_hinge([0.0, 3.0]), squared_hinge.subgradient([0.0, 3.0])
    (array([1., 0.]), array([-2., -0.]))
    >>> squared_hinge.at_zero
    1.0
    """

    name: str
    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"name must be a text, found {self.name!r}")
        if not callable(self.value):
            raise ValueError(f"value must be a function of the margins, found {self.value!r}")
        if self.slope is not None and not callable(self.slope):
            raise ValueError(f"slope must be a function of the margins or None, found {self.slope!r}")

    def __call__(self, z: ArrayLike) -> Floats:
        """Value of the loss at every margin: float64, of the shape of ``z``."""
        return self.value(_margins(z))

    def subgradient(self, z: ArrayLike) -> Floats:
        r"""A subgradient :math:`g(z)`, that is :math:`L(w) \ge L(z) + g(z)(w - z)` for all :math:`w`.

        Where :math:`L` is smooth this is the derivative. At its kink the hinge has 0, the slope
        to the right. A loss that is not convex has no subgradient and raises a ValueError.
        """
        if self.slope is None:
            raise ValueError(f"the loss {self.name!r} has no subgradient (it is not known to be convex)")
        return self.slope(_margins(z))

    @property
    def at_zero(self) -> float:
        """L(0), what a zero of a code matrix pays."""
        return self(np.zeros((1, 1))).item()


class ExponentialLoss(MarginLoss):
    r""":math:`L(z) = e^{-z}`: the one loss here that overflows, so it also has its logarithm."""

    def log_value(self, z: ArrayLike) -> Floats:
        r""":math:`\log L(z) = -z`, exact where :math:`L(z)` itself overflows or underflows."""
        return -_margins(z)


def _margins(z: ArrayLike) -> Floats:
    """Real numbers as float64; NaN stays NaN, as in numpy's own functions."""
    array = np.asarray(z)
    if array.dtype.kind not in "buifO":
        raise ValueError(f"z must be real numbers, found dtype {array.dtype}")
    return array.astype(np.float64, copy=False)


def _hinge(z: Floats) -> Floats:
    return np.maximum(0.0, 1.0 - z)


def _hinge_slope(z: Floats) -> Floats:
    return -np.heaviside(1.0 - z, 0.0)


def _squared_hinge(z: Floats) -> Floats:
    return np.square(np.maximum(0.0, 1.0 - z))


def _squared_hinge_slope(z: Floats) -> Floats:
    return -2.0 * np.maximum(0.0, 1.0 - z)


def _exponential(z: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-z)


def _exponential_slope(z: Floats) -> Floats:
    return -_exponential(z)


def _logistic(z: Floats) -> Floats:
    # log(1 + e^{-z}) = max(-z, 0) + log(1 + e^{-|z|}): the exponential cannot overflow
    with np.errstate(under="ignore"):
        return np.maximum(-z, 0.0) + np.log1p(np.exp(-np.abs(z)))


def _logistic_slope(z: Floats) -> Floats:
    # -1 / (1 + e^z), by the exponential of -|z| alone
    with np.errstate(under="ignore"):
        e = np.exp(-np.abs(z))
        return -np.where(z > 0, e, 1.0)[()] / (1.0 + e)


def _linear_slope(z: Floats) -> Floats:
    return np.full_like(z, -1.0)[()]


def _zero_one(z: Floats) -> Floats:
    return 0.5 - 0.5 * np.sign(z)


hinge = MarginLoss("hinge", _hinge, _hinge_slope)
r"""The hinge loss :math:`\max\{0, 1 - z\}`."""
squared_hinge = MarginLoss("squared_hinge", _squared_hinge, _squared_hinge_slope)
r"""The squared hinge loss :math:`\max\{0, 1 - z\}^2`."""
exponential = ExponentialLoss("exponential", _exponential, _exponential_slope)
r"""The exponential loss :math:`e^{-z}`."""
logistic = MarginLoss("logistic", _logistic, _logistic_slope)
r"""The logistic loss :math:`\log(1 + e^{-z})`, with the natural logarithm."""
linear_loss = MarginLoss("linear", np.negative, _linear_slope)
r"""The linear loss :math:`-z`."""
zero_one = MarginLoss("zero_one", _zero_one)
r"""The zero-one loss :math:`\frac12 (1 - \operatorname{sign} z)`, 1/2 for a margin of 0."""

LOSSES: dict[str, MarginLoss] = {
    one.name: one for one in (hinge, squared_hinge, exponential, logistic, linear_loss, zero_one)
}
"""The losses by name, for :func:`get`."""


def get(loss: str | MarginLoss | Callable[[Floats], Any]) -> MarginLoss:
    """The loss of this name, or a callable of your own made into one.

    Parameters
    ----------
    loss : str, MarginLoss or callable
        A key of :data:`LOSSES`; or a loss, returned as it is; or any vectorised function of the
        margins. What a callable returns is checked at every call: finite numbers, in the shape of
        its argument.

    Examples
    --------
    >>> from mcutils import loss
    >>> loss.get("hinge") is loss.hinge
    True
    >>> import numpy as np
    >>> ramp = loss.get(lambda z: np.clip(1 - z, 0, 1))
    >>> ramp([-5.0, 0.5])
    array([1. , 0.5])
    """
    if isinstance(loss, MarginLoss):
        return loss
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"unknown loss {loss!r}; allowed are {', '.join(sorted(LOSSES))}, or a callable")
        return LOSSES[loss]
    if not callable(loss):
        raise ValueError(f"loss must be a name ({', '.join(sorted(LOSSES))}) or a callable, found {loss!r}")
    function = loss
    name = getattr(function, "__name__", type(function).__name__)

    def checked(z: Floats) -> Floats:
        values = np.asarray(function(z), dtype=np.float64)
        if values.shape != z.shape:
            raise ValueError(
                f"the loss {name!r} must return one number for each margin: "
                f"for margins of shape {z.shape} it returned shape {values.shape}"
            )
        bad = ~np.isfinite(values)
        if bad.any():
            raise ValueError(f"the loss {name!r} must be finite, found {values[bad][0]} at z = {z[bad][0]:g}")
        return values[()]

    return MarginLoss(name, checked)
