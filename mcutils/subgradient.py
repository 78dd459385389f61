r"""The multi-class SVM by stochastic subgradients (alg-subgradient-machine).

:class:`SubgradientMachine` minimises the regularised hinge of :mod:`mcutils.hinge`,
:math:`\frac\lambda2 \|W\|_F^2 + \frac1m \sum_i s_i \ell_i(W)` with :math:`\lambda = 1/(m C)`, one example
at a time. After whole epochs the last iterate is a combination of the examples with multipliers that are
feasible for the dual problem. So every fit ends with a lower bound of the optimum, at almost no cost.

:func:`rate` is the guarantee of the convergence theorem (thm-subgradient-rate).

>>> from sklearn.datasets import load_iris
>>> from sklearn.preprocessing import scale
>>> X, y = load_iris(return_X_y=True)
>>> model = SubgradientMachine(C=0.1, max_iter=1000, tol=0.01, random_state=0).fit(scale(X), y)
>>> model.converged_, model.certificate_.certifies(0.01)
(True, True)
"""

from collections.abc import Iterable, Iterator
from functools import partial
from math import ceil
from typing import Any, Self, TypeAlias

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._base import ScoreClassifier, class_codes, codes_among, first_batch
from ._checks import (
    cost_matrix,
    integer,
    number,
    one_of,
    or_name,
    or_none,
    seed,
    squarable,
    switch,
    verbosity,
)
from ._progress import Log
from ._warnings import warn
from ._weights import example_weights, refuse_huge, refuse_idle, times_class_weight
from .certificate import Certificate
from .hinge import HINGES, ClassMap, HingeProblem, balanced_multipliers, lipschitz

__all__ = ["SubgradientMachine", "rate"]

_MOST_STEPS = 10_000_000  # the rate sums over them

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Batch: TypeAlias = tuple[Any, Indices, Floats]  # examples, their classes as numbers, their weights

AVERAGES = ("tail", "all", "weighted", None)
INTERCEPTS = {False: 0, "appended": 1, "free": 2}

_BLOCK = 16384  # rows whose scores are computed together
_USELESS = 0.5  # a larger gap is warned of even without a tol


def rate(
    steps: int,
    *,
    lam: float,
    radius: float,
    k: int,
    loss: str = "crammer_singer",
    average: str | None = "tail",
    largest_weight: float = 1.0,
) -> float:
    r"""How far from the optimum the answer is at most, in expectation (thm-subgradient-rate).

    For the objective :math:`\frac\lambda2 \|W\|_F^2 + \frac1m \sum_i s_i \ell_i(W)` of the block map, steps
    from :math:`W_1 = 0` on examples that are drawn afresh each time, and :math:`G = 2 L R \max_i s_i` with
    the constant L of :func:`mcutils.hinge.lipschitz` and the radius :math:`R = \max_i \|x_i\|`, T steps end
    with

    - "all", the average of all iterates: :math:`\frac{G^2}{2 \lambda T} \sum_{t=1}^T \frac1t`;
    - "tail", that of the iterates after :math:`s = \lfloor T/2 \rfloor`:
      :math:`\frac{G^2}{\lambda (T - s)} \big(\frac{s}{s + 1} + \frac12 \sum_{t=s+1}^T \frac1t\big)`;
    - "weighted", with steps :math:`\frac2{\lambda (t + 1)}` and weights in proportion to t:
      :math:`\frac{2 G^2}{\lambda (T + 1)}`;
    - None, the last iterate: :math:`\frac{G^2}{\lambda (T + 1)} \big(\frac12 + \sum_{t=1}^T \frac1t\big)`.

    Parameters
    ----------
    steps : int
        T, at least 1.
    lam : float
        :math:`\lambda`, which is :math:`1/(m C)`.
    radius : float
        R; with an appended feature its 1 counts.
    k : int
        The number of classes.
    loss : {"crammer_singer", "weston_watkins"}
    average : {"tail", "all", "weighted"} or None
    largest_weight : float
        :math:`\max_i s_i`.

    Examples
    --------
    >>> averages = ("all", "tail", "weighted", None)
    >>> [round(rate(1000, lam=0.1, radius=1.0, k=3, average=name), 3) for name in averages]
    [0.299, 0.215, 0.16, 0.638]
    """
    T = integer(steps, "steps", 1, feasible=_MOST_STEPS)
    for name, value in (("lam", lam), ("radius", radius), ("largest_weight", largest_weight)):
        number(value, name, above=0)
    or_none(one_of, average, "average", [name for name in AVERAGES if name is not None])
    length = 2 * lipschitz(loss, k) * float(radius) * float(largest_weight)
    if length > 1e150:
        raise ValueError(
            f"radius and largest_weight must have a smaller product: its square overflows, found {length}"
        )
    square = length**2
    if average == "weighted":
        return float(2 * square / (lam * (T + 1)))
    if average is None:
        return float(square / (lam * (T + 1)) * (0.5 + (1 / np.arange(1, T + 1)).sum()))
    s = T // 2 if average == "tail" else 0
    start = s / (s + 1)
    return float(square / (lam * (T - s)) * (start + 0.5 * (1 / np.arange(s + 1, T + 1)).sum()))


class SubgradientMachine(ScoreClassifier):
    r"""A linear multi-class SVM, by stochastic subgradients (alg-subgradient-machine).

    It minimises :math:`\frac12 \|W\|_F^2 + C \sum_i s_i \ell_i(W)`, where :math:`\ell_i` is a hinge of
    :mod:`mcutils.hinge` and :math:`s_i` a weight; divided by :math:`m C` that is
    :math:`\frac\lambda2 \|W\|_F^2 + \frac1m \sum_i s_i \ell_i(W)` with :math:`\lambda = 1/(m C)`. From
    :math:`W_1 = 0` on, step t takes one example, shrinks W by :math:`1 - \eta_t \lambda`, whether or not the
    example has a loss, and subtracts :math:`\eta_t s_i` times a subgradient of its loss: for the loss of
    Crammer and Singer x is added to the row of the true class and taken from that of the active class, for
    that of Weston and Watkins it is taken from the row of every class with a positive gap, and added as often
    to that of the true class.

    The step size is :math:`\eta_t = 1/(\lambda t)`, or :math:`2/(\lambda (t + 1))` with
    ``average="weighted"``.

    Parameters
    ----------
    loss : {"crammer_singer", "weston_watkins"}
        The loss; see :mod:`mcutils.hinge`.
    C : float
        The factor of the losses.
    cost : (k, k) array-like, optional
        :math:`\Delta`, the cost of predicting the class of a column where that of a row is true, both in
        the order of ``classes_``. By default every mistake costs 1.
    average : {"tail", "all", "weighted"} or None
        What :meth:`predict` uses: the average of the iterates of the last half of the steps, of all
        steps, of all steps weighted in proportion to t; or with None the last iterate. In ``partial_fit``,
        where the number of steps to come is unknown, the tail starts where the number of steps was last a
        power of two, but is at least the last half and at most the last three quarters.
    fit_intercept : {"appended", "free"}, True or False
        "appended", or True: a feature that is always 1, whose coefficients are regularised as all others.
        "free": an intercept of each class that is not regularised, with steps :math:`1/\sqrt t`; it stays
        bounded for weights of at most 1 (prop-subgradient-free), no rate is proved for it here, and its
        certificate takes a number for each example and class. False: none.
    max_iter : int
        The number of epochs; an epoch has a step for each example.
    tol : float, optional
        Stop after 1, 2, 4, 8, ... or max_iter epochs where the relative gap of the certificate is at most
        this. By default all epochs are made, and only a gap above 1/2 is warned of: the optimum may then be
        less than half of the objective that was reached, and the certificate is of no use.
    delay : int or "radius"
        How many steps the first one is behind, :math:`t_0`: the step sizes are :math:`1/(\lambda (t_0 + t))`,
        or :math:`2/(\lambda (t_0 + t + 1))`. "radius" takes the least with a first :math:`\eta_t s_i` of at
        most :math:`1/\|x_i\|^2` for every example (of the first batch), or twice that for "weighted". By
        default 0; see the notes for large C.
    alpha : float, optional
        :math:`\lambda` itself, instead of :math:`1/(m C)`. Without it, ``partial_fit`` takes the m of its
        first batch, and keeps :math:`\lambda`; where a table is read in batches, :meth:`fit_batches` has the
        m of all of it.
    class_map : ClassMap, optional
        Lets classes learn from each other; the rows of W are then :math:`W = B V`, and what is regularised is
        V. By default every class has its own row.
    class_weight : dict or "balanced", optional
        Factors of the weights :math:`s_i` by class.
    shuffle : bool
        Whether every epoch, and every ``partial_fit``, visits the examples in a new random order.
    replace : bool
        Whether each step draws its example afresh instead: the setting of thm-subgradient-rate.
    warm_start : bool
        Whether a further :meth:`fit` goes on: from the last iterate, with its number of steps. Averages and
        ``max_iter`` count from there. This must have been True in the fit before, and of the parameters only
        the order, tol, max_iter and average (but not to or from "weighted") may have changed: where anything
        else has, examples, weights or C, it begins anew, as its multipliers would then mean something else,
        or its step sizes be too small. A fixed ``random_state`` draws the same orders again.
    random_state : int, RandomState or None
        Draws the orders, or the examples.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    coef_ : (k, d) array
        W, also for two classes a row for each.
    intercept_ : (k,) array
        What is added to the scores; 0 without an intercept.
    certificate_ : Certificate or None
        The objective at ``coef_`` and ``intercept_``, and a lower bound of the optimum. None after
        ``partial_fit``, which has no objective.
    history_ : (n, 3) array
        Seconds since the start of the fit, primal and dual value, a row for each certificate: with ``tol``
        after 1, 2, 4, 8, ... epochs, and the last. Empty after ``partial_fit``.
    objective_ : float or None
        The objective; None after ``partial_fit``.
    converged_ : bool or None
        Whether the gap is at most ``tol``. Without ``tol`` False where the gap is above 1/2, else None, as
        no tol was given. ConvergenceWarning goes with each False. None after ``partial_fit``.
    lambda_ : float
        :math:`\lambda`.
    n_iter_ : int
        The number of epochs of the last ``fit``; each ``partial_fit`` is one more.
    t_ : int
        The number of steps, also those that a ``fit`` with ``warm_start`` went on from.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    The certificate. After T steps of size :math:`1/(\lambda t)` the last iterate is
    :math:`W_{T+1} = \frac1{\lambda T} \sum_t s_{i_t} (e_{y} - e_{r}) x_{i_t}^\top`, with the active r of each
    step (several for Weston-Watkins). An example that was visited E times in :math:`T = E m` steps so has
    multipliers of :math:`\frac{C}{E} s_i` times the number of its visits where r was active: feasible for the
    dual, see :meth:`~mcutils.hinge.HingeProblem.dual_objective`, whose value takes no more than the sum of
    the costs of the active classes and the norm of :math:`W_{T+1}`. Where examples were visited more often,
    multipliers are scaled down until they are feasible, and in any case by the best factor up to there.

    A free intercept b needs multipliers in balance: for each class, those of its examples are in sum what
    other examples have for it. With multipliers A a value of the objective at any (W, b) is at least
    :math:`\frac12 \|W\|_F^2` plus the sum of :math:`A_{ir}` times the gaps, where :math:`b_y` has as its
    factor what class y lacks to the balance. In balance no b is left, and the minimum over W is the dual
    value; out of balance the infimum over b is :math:`-\infty`. So the multipliers of the last iterate are
    kept, those of each pair of classes scaled down until the balance holds
    (:func:`~mcutils.hinge.balanced_multipliers`), and the value taken of what is left. The step sizes make
    the imbalance small: in T steps b has moved by the sum of :math:`1/\sqrt t` times the slopes, and b stays
    bounded (prop-subgradient-free, for weights of at most 1), so the mean of the slopes is of the order of
    :math:`1/\sqrt T`.

    How many epochs. By :func:`rate`, E epochs leave for each example an excess of the order of
    :math:`L^2 R^2 C / E`. So it takes of the order of :math:`R^2 C` epochs before there is anything to
    expect, and many times as many for a small gap: for C = 10 and features of unit variance, thousands. (The
    theorem is for ``replace=True`` and no delay. For epochs in any order the gap itself, for "tail" and
    "all", is of the order of :math:`\log E / E`, see prop-subgradient-closes.) The gap
    shows whether there were enough; ``tol`` stops when there are. If it takes too many, a method that ascends
    in the dual, one example at a time and each exactly, is the right one.

    Large C. The first step is :math:`1/\lambda = m C` times an example, much longer than what mends any
    mistake, and a t-th of it is left after t steps. ``delay="radius"`` begins with the step that moves the
    difference of two scores of an example by 2, and costs nothing: the iterates are those of the same steps
    behind :math:`t_0` ones on examples without loss, and their multipliers stay feasible. In the proof of the
    theorem for "all" it adds :math:`\frac{\lambda t_0}{2 T} \|W^*\|_F^2`, of the minimiser
    :math:`W^*`, and in turn makes :math:`\frac1{t_0 + t}` of :math:`\frac1t` in the sum: the start is
    forgotten more slowly, and the noise is less. Once T is many times :math:`t_0` neither matters. It is not
    the default, which is the algorithm of the theorem, and with few epochs the lower bound can be worse with
    it. Of the averages, "tail" forgets the beginning, and "all" never quite does.

    Examples
    --------
    >>> from mcutils.subgradient import SubgradientMachine
    >>> X, y = [[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]], ["north", "east", "far"]
    >>> model = SubgradientMachine(fit_intercept=False, max_iter=1000, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 1.0], [-5.0, -1.0]]).tolist()
    ['north', 'far']
    >>> bool(model.certificate_.gap < 0.05)
    True
    """

    certificate_: Certificate | None
    objective_: float | None
    converged_: bool | None
    t_: int
    _b: Floats
    _active_costs: float
    _marks: list[tuple[int, Floats, Floats]]  # sums of iterates, when a tail may begin
    _before: str | None

    def __init__(
        self,
        loss: str = "crammer_singer",
        *,
        C: float = 1.0,
        cost: ArrayLike | None = None,
        average: str | None = "tail",
        fit_intercept: bool | str = "appended",
        max_iter: int = 100,
        tol: float | None = None,
        delay: int | str = 0,
        alpha: float | None = None,
        class_map: ClassMap | None = None,
        class_weight: dict[Any, float] | str | None = None,
        shuffle: bool = True,
        replace: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.loss = loss
        self.C = C
        self.cost = cost
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.delay = delay
        self.alpha = alpha
        self.class_map = class_map
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.replace = replace
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start at 0, or where the last fit ended, and visit the examples in epochs.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
        y : (m,) array-like
            Labels of at least two classes.
        sample_weight : (m,) array-like, optional
            Factors of the losses, at least 0. An example of weight 0 is not visited; every class
            needs one above 0.

        Returns
        -------
        SubgradientMachine
        """
        self._check_parameters()
        log = self._log()
        X, labels = self._validate(X, y=y)
        squarable(X)
        self.classes_, codes = class_codes(labels)
        weights = self._weights(X, codes, sample_weight)
        refuse_idle(weights, self.classes_, codes)
        refuse_huge(float(self.C) * weights)
        rows = np.flatnonzero(weights > 0)
        batch, m = (X, codes, weights), len(rows)
        state = self._fingerprint(X, codes, weights) if self.warm_start else None
        if state is not None and state == getattr(self, "_before", None):
            self._go_on()
        else:
            self._before = None
            self._begin([batch], m)
            self._visits = np.zeros(len(codes))
            self._counts = np.zeros((len(codes), len(self.classes_)) if self._mode() == 2 else (0, 0))
        self._run([batch], m, log)
        self._before = state
        if not self.warm_start:
            del self._visits, self._counts
        return self

    def fit_batches(self, batches: Iterable[Any]) -> Self:
        """Fit to examples that are read a batch at a time, as a table on a disk that memory does not hold.

        The problem is that of :meth:`fit` to all of them, with the same meaning of every parameter and the
        same certificate; with ``shuffle=False`` all steps are the same. Otherwise the examples of a batch are
        visited in random order, and the batches as they come. ``replace``, ``warm_start`` and
        ``fit_intercept="free"`` need all examples at once, and are refused.

        A first pass over the batches counts and checks; then an epoch is one, and so is every certificate.
        ``delay="radius"`` takes one more. Beside one batch, in float64, memory has some matrices of the size
        of W, and a number for each example.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Each as in :meth:`fit`; a batch may lack classes. It is read several times, and must give the same
            batches each time: a list, or an object whose ``__iter__`` reads them anew. A generator, which
            can be read once, is refused.

        Returns
        -------
        SubgradientMachine

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from mcutils.subgradient import SubgradientMachine
        >>> X, y = load_iris(return_X_y=True)
        >>> batches = [(X[i::3], y[i::3]) for i in range(3)]
        >>> model = SubgradientMachine(C=0.1, max_iter=1000, tol=0.05, random_state=0).fit_batches(batches)
        >>> model.converged_, model.score(X, y) > 0.9
        (True, True)
        """
        self._check_parameters()
        log = self._log()
        for name in ("replace", "warm_start"):
            if getattr(self, name):
                raise ValueError(f"{name} must be False for fit_batches, found True")
        if self._mode() == 2:
            raise ValueError(
                "fit_intercept must be 'appended', True or False for fit_batches, found 'free': its "
                "certificate takes a number for each example and class"
            )
        self._before = None
        known = _Batches(self, batches)
        self.classes_ = known.classes
        self._begin(known, known.m)
        self._visits, self._counts = np.zeros(known.n), np.zeros((0, 0))
        self._run(known, known.m, log)
        del self._visits, self._counts
        return self

    def _log(self) -> Log:
        return Log(
            type(self).__name__, int(self.verbose), unit="epoch", most=int(self.max_iter), tol=self.tol
        )

    def _run(self, batches: Iterable[Batch], m: int, log: Log) -> None:
        """The epochs, each a pass over the batches with m examples of positive weight, and certificates."""
        generator = check_random_state(self.random_state)
        epochs = int(self.max_iter)
        planned = {self.t_ + epochs * m // 2, self.t_ + epochs * m}
        if self.tol is not None:
            planned |= {self.t_ + 2**e * m for e in range(epochs.bit_length())}
        with log:
            for epoch in range(1, epochs + 1):
                start = 0
                for X, codes, weights in batches:
                    order = self._order(generator, np.flatnonzero(weights > 0))
                    factors = None
                    if self.average == "weighted":
                        first = self.t_ + self._delay + 1
                        factors = np.arange(float(first), first + len(order))
                    stop = start + len(codes)
                    self._visits[start:stop] += np.bincount(order, factors, minlength=len(codes))
                    self._steps(X, codes, weights, order, planned)
                    start = stop
                self.n_iter_ = epoch
                log.tell(epoch)
                if epoch == epochs or (self.tol is not None and epoch & (epoch - 1) == 0):
                    self._finish()
                    certificate = self.certificate_ = self._certify(batches, m)
                    self.objective_ = certificate.primal
                    log.values(epoch, certificate.primal, certificate.dual)
                    if self.tol is not None:
                        self.converged_ = certificate.certifies(self.tol)
                    elif not certificate.certifies(_USELESS):
                        self.converged_ = False
                    if self.converged_:
                        break
        self.history_ = log.history
        if self.converged_ is False:
            above = "1/2" if self.tol is None else f"tol={self.tol:g}"
            warn(
                f"after {self.n_iter_} epochs the relative gap is {certificate.gap:.2g}, above {above}: "
                "scale the features, increase max_iter, or decrease C",
            )

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit some more examples, once each.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
        y : (m,) array-like
            Their labels; a batch may lack classes.
        classes : (k,) array-like, optional
            All labels; needed in the first call.
        sample_weight : (m,) array-like, optional
            Factors of the losses, at least 0.

        Returns
        -------
        SubgradientMachine
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ValueError("class_weight 'balanced' needs all examples; give partial_fit a dict of weights")
        first = first_batch(self, classes)
        X, labels = self._validate(X, y=y, reset=first)
        squarable(X)
        codes = codes_among(self.classes_, labels)
        weights = self._weights(X, codes, sample_weight)
        rows = np.flatnonzero(weights > 0)
        if not hasattr(self, "_V"):
            self._begin([(X, codes, weights)], max(1, len(rows)))
        self._counts, self._before = np.zeros((0, 0)), None
        order = self._order(check_random_state(self.random_state), rows)
        powers = {2**e for e in range((self.t_ + len(order)).bit_length())}
        self._steps(X, codes, weights, order, powers)
        self.n_iter_ += 1
        self._finish()
        self.certificate_ = self.objective_ = self.converged_ = None
        self.history_ = Log().history
        return self

    def scores(self, X: Any) -> Floats:
        r"""The scores :math:`f_r(x)` of all classes, for two classes both.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        return self._scores(self._validate(X, reset=False))

    def _scores(self, X: Any) -> Floats:
        scores: Floats = X @ self.coef_.T + self.intercept_
        return scores

    def _check_parameters(self) -> None:
        one_of(self.loss, "loss", HINGES)
        number(self.C, "C", above=0)
        or_none(number, self.alpha, "alpha", above=0)
        if not (self.average is None or isinstance(self.average, str)) or self.average not in AVERAGES:
            raise ValueError(f"average must be 'tail', 'all', 'weighted' or None, found {self.average!r}")
        self._mode()
        integer(self.max_iter, "max_iter", 1)
        or_none(number, self.tol, "tol", above=0)
        seed(self.random_state)
        or_name("radius", partial(integer, feasible=2**62), self.delay, "delay", 0)
        if self.class_map is not None and not isinstance(self.class_map, ClassMap):
            raise ValueError(f"class_map must be a ClassMap, found {self.class_map!r}")
        for name in ("shuffle", "replace", "warm_start"):
            switch(getattr(self, name), name)
        verbosity(self.verbose)

    def _mode(self) -> int:
        chosen = self.fit_intercept
        if isinstance(chosen, (bool, np.bool_)):
            return int(chosen)
        if isinstance(chosen, str) and chosen in INTERCEPTS:
            return INTERCEPTS[chosen]
        raise ValueError(f"fit_intercept must be 'appended', 'free', True or False, found {chosen!r}")

    def _weights(self, X: Any, codes: Indices, sample_weight: ArrayLike | None) -> Floats:
        weights = example_weights(sample_weight, len(codes))
        return times_class_weight(weights, self.class_weight, self.classes_, codes)

    def _order(self, generator: np.random.RandomState, rows: Indices) -> Indices:
        if self.replace and len(rows):
            return rows[generator.randint(len(rows), size=len(rows))]
        return generator.permutation(rows) if self.shuffle else rows

    def _fingerprint(self, X: Any, codes: Indices, weights: Floats) -> str:
        """A hash of the problem and of the step sizes."""
        scores = (X.data, X.indices, X.indptr, X.shape) if issparse(X) else X
        shared = None if self.class_map is None else self.class_map.matrix
        costs = None if self.cost is None else np.asarray(self.cost, dtype=np.float64)
        problem = (scores, codes, weights, len(self.classes_), self.loss, costs, self._mode(), shared)
        steps = (float(self.C), self.alpha, self.delay, self.average == "weighted")
        fingerprint: str = joblib.hash((problem, steps))
        return fingerprint

    def _schedule(self, batches: Iterable[Batch], m: int) -> None:
        """Set what follows from C."""
        self.lambda_ = 1 / (m * float(self.C)) if self.alpha is None else float(self.alpha)
        self._penalty = 1 / self.lambda_
        if self.delay == "radius":
            longest = max(self._longest(X, weights) for X, _, weights in batches)
            self._delay = max(0, ceil(self._penalty * longest) - 1)
        else:
            self._delay = int(self.delay)

    def _longest(self, X: Any, weights: Floats) -> float:
        """The largest squared norm of an example times its weight."""
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else (X**2).sum(axis=1)
        squares += self._mode() == 1
        return float((weights * squares).max(initial=0.0))

    def _go_on(self) -> None:
        """Keep the last iterate, and forget the average."""
        self._U = np.zeros(self._V.shape if self.average is not None else (0, len(self._b)))
        self._total, self._marks, self._since = 0.0, [], self.t_
        self._late = self._weight_until(self.t_) * self._b
        self.n_iter_ = 0
        self.certificate_ = self.objective_ = self.converged_ = None

    def _begin(self, batches: Iterable[Batch], m: int) -> None:
        """W = 0, which has seen nothing."""
        k, d = len(self.classes_), self.n_features_in_
        self._costs = cost_matrix(self.cost, k)
        self._similar = np.empty((0, 0))
        if self.class_map is not None:
            if self.class_map.n_classes != k:
                raise ValueError(
                    f"class_map must have a row for each of the {k} classes, found {self.class_map.n_classes}"
                )
            self._similar = self.class_map.matrix @ self.class_map.matrix.T
        self._schedule(batches, m)
        self._V, self._U = np.zeros((d + 1, k)), np.zeros((d + 1, k) if self.average is not None else (0, k))
        self._b, self._late = np.zeros(k), np.zeros(k)  # see mcutils.jit.subgradient
        self._total = 0.0  # A, see mcutils.jit.subgradient
        self._active_costs = 0.0
        self._marks = []
        self.t_ = self.n_iter_ = self._since = 0
        self.certificate_ = self.objective_ = self.converged_ = None

    def _steps(self, X: Any, codes: Indices, weights: Floats, order: Indices, planned: set[int]) -> None:
        """Steps on these examples, with a mark at each planned time on the way."""
        from .jit import subgradient as jit

        times = [t - self.t_ for t in sorted(planned) if self.t_ < t < self.t_ + len(order)]
        for piece in np.split(order, times):
            steps: Any = jit.sparse if issparse(X) else jit.dense
            data = (X.data, X.indices, X.indptr) if issparse(X) else (X,)
            self._total, costs = steps(
                *data,
                codes,
                weights,
                self._costs,
                self._similar,
                piece,
                self.loss == "weston_watkins",
                self.average == "weighted",
                self.average is not None,
                self._mode(),
                self._penalty,
                self.t_ + self._delay,
                self._delay,
                self._total,
                self._V,
                self._U,
                self._b,
                self._late,
                self._counts,
            )
            self._active_costs += costs
            self.t_ += len(piece)
            if self.average == "tail" and self.t_ in planned:
                self._marks.append((self.t_, *self._sums()))

    def _weight_until(self, t: int) -> float:
        """The weights of the iterates until time t in sum, those of the delay included."""
        late = t + self._delay
        return late * (late + 1) / 2 if self.average == "weighted" else float(late)

    def _factor(self) -> float:
        """What the last iterate is of V."""
        return self._penalty / max(1.0, self._weight_until(self.t_))

    def _sums(self) -> tuple[Floats, Floats]:
        """The weighted sums of all iterates of this fit so far, each before its step."""
        return self._total * self._V - self._U, self._weight_until(self.t_) * self._b - self._late

    def _finish(self) -> None:
        """Set the coefficients that :meth:`predict` uses."""
        if self.average is None or self.t_ == self._since:
            W, b = self._factor() * self._V, self._b.copy()
        else:
            W, b = self._sums()
            start = self._since
            past = [mark for mark in self._marks if mark[0] - start <= (self.t_ - start) // 2]
            if past:
                start, earlier, earlier_b = past[-1]
                W, b = W - earlier, b - earlier_b
                self._marks = self._marks[len(past) - 1 :]
            count = self._weight_until(self.t_) - self._weight_until(start)
            W, b = W / count, b / count
        self.coef_ = np.ascontiguousarray(W[:-1].T)
        self.intercept_ = W[-1] + b

    def _certify(self, batches: Iterable[Batch], m: int) -> Certificate:
        """The objective, and what the last iterate proves of the optimum."""
        C = self._penalty / m
        paid = 0.0
        for X, codes, weights in batches:
            problem = HingeProblem(
                codes,
                loss=self.loss,
                C=C,
                cost=self._costs,
                sample_weight=weights,
                n_classes=len(self.classes_),
            )
            for start in range(0, X.shape[0], _BLOCK):
                block = slice(start, start + _BLOCK)
                losses = problem.losses(problem.gaps(self._scores(X[block]), block))
                paid += float(weights[block] @ losses)
        appended = self._mode() == 1
        columns = np.column_stack([self.coef_, self.intercept_]) if appended else self.coef_
        objective = float(self._half_square(columns) + C * paid)
        # multipliers A, two terms of their dual value, and the largest a for which a A is feasible
        if self._mode() == 2:  # the only batch is that of fit
            A = self._factor() * self._counts
            used = problem.load(A)
            A *= np.divide(problem.penalties, used, out=np.ones_like(used), where=used > problem.penalties)[
                :, None
            ]
            A = balanced_multipliers(A, codes, self._costs)
            linear, square = problem.dual_terms(A, X, self.class_map)
            used = problem.load(A)
            most = float(
                np.divide(problem.penalties, used, out=np.full_like(used, np.inf), where=used > 0).min()
            )
        else:
            linear = self._factor() * self._active_costs
            square = self._half_square((self._factor() * self._V).T)
            most = C / (self._factor() * float(self._visits.max()))
        a = min(most, linear / (2 * square)) if square > 0 else most
        bound = max(0.0, float(a * linear - a * a * square)) if linear > 0 else 0.0
        return Certificate(objective, bound, n_iter=self.n_iter_)

    def _half_square(self, W: Floats) -> float:
        """Half the squared norm of the parameters that make these rows."""
        V = W if self.class_map is None else np.linalg.pinv(self.class_map.matrix) @ W
        return 0.5 * float(np.vdot(V, V))


class _Batches:
    """Batches of examples, checked in every pass; each pass must read the same ones.

    ``n`` examples, of which ``m`` have a weight; ``classes`` are the labels of all of them, sorted.
    """

    def __init__(self, model: SubgradientMachine, given: Iterable[Any]):
        if isinstance(given, Iterator) or not isinstance(given, Iterable):
            raise ValueError(
                "batches must be what can be read several times, a list or an object whose __iter__ begins "
                f"anew, found {given!r}"
            )
        self.model, self.given = model, given
        self.marks: list[Any] = []
        self.n = self.m = 0
        names, sums = [], []
        for _, labels, weights, mark in self._read():
            check_classification_targets(labels)
            self.marks.append(mark)
            self.n, self.m = self.n + len(labels), self.m + int(np.count_nonzero(weights))
            unique, codes = np.unique(labels, return_inverse=True)
            names.append(unique)
            sums.append(np.bincount(codes, weights, minlength=len(unique)))
        if not names:
            raise ValueError("batches must have at least one batch, found none")
        self.classes, codes = class_codes(np.concatenate(names))
        totals = np.bincount(codes, np.concatenate(sums), len(self.classes)).astype(np.float64)
        every = np.arange(len(self.classes))
        refuse_idle(totals, self.classes, every)
        weighted = times_class_weight(totals, model.class_weight, self.classes, every)
        refuse_idle(weighted, self.classes, every)
        refuse_huge(float(model.C) * weighted)
        self.factors = weighted / totals

    def _read(self) -> Iterator[tuple[Any, NDArray[Any], Floats, Any]]:
        """Of each batch the examples, labels, weights, and what another pass must find again."""
        for place, batch in enumerate(self.given):
            if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
                raise ValueError(
                    "batches must be pairs (X, y) or triples (X, y, sample_weight), "
                    f"found {type(batch).__name__} in batch {place} (counted from 0)"
                )
            X, labels = self.model._validate(batch[0], y=batch[1], reset=not self.marks)
            squarable(X)
            weights = example_weights(batch[2] if len(batch) == 3 else None, len(labels), all_zero=True)
            entries = X.data if issparse(X) else X.ravel()
            yield X, labels, weights, (joblib.hash((labels, weights)), float(entries @ entries))

    def __iter__(self) -> Iterator[Batch]:
        found = 0
        for X, labels, weights, mark in self._read():
            if found == len(self.marks) or mark != self.marks[found]:
                raise ValueError(
                    "batches must be the same in every pass, "
                    f"found another batch {found} (counted from 0) than in the first pass"
                )
            found += 1
            codes = codes_among(self.classes, labels)
            yield X, codes, weights * self.factors[codes]
        if found < len(self.marks):
            raise ValueError(
                "batches must be the same in every pass, "
                f"found {len(self.marks)} of them in the first pass, and then {found}"
            )
