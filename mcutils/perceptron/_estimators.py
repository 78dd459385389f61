"""The perceptron of k classes, and that of two classes and a kernel."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import kernel as kernels
from .._base import ScoreClassifier, class_codes, codes_among, first_batch
from .._checks import cost_matrix, integer, kernel_parameters, seed, switch, verbosity
from .._progress import Log
from .._rows import MistakeRows, is_precomputed
from .._typing import Floats, Ints
from .._warnings import warn
from .._weights import example_weights, refuse_idle, times_class_weight
from ..kernel import Kernel, resolve
from ._updates import UPDATES, Update, check_update, step

# With a kernel, a mistake updates the scores of the next examples only, this many; the others wait.
_BLOCK = 64


class MulticlassPerceptron(ScoreClassifier):
    r"""The perceptron of k classes with any ultraconservative update (def-perceptron-ultraconservative).

    It starts at W = 0, visits one example after the other, and moves where the true class is not alone in
    front. It stops after an epoch without mistakes. If the examples, within the radius R, have the margin
    :math:`\gamma`, that comes after at most :math:`2 R^2 / \gamma^2` mistakes (thm-perceptron-mistakes;
    :func:`mistake_bound`). If no classifier separates them, it never comes.

    For two classes, with any update, :math:`w_2 = -w_1` is the weight vector of the perceptron, and its
    mistakes are the same (:class:`KernelPerceptron`).

    *Weights and costs.* With the weight s of an example and the cost :math:`\Delta(y, r)` of the prediction
    r, the rivals are :math:`E = \{r : \Delta(y, r) > 0,\ f_r \ge f_y\}`, and at a mistake, where one of the
    largest score is q (the smallest such class),

    .. math:: w_r \leftarrow w_r + \ell \, \tau_r \phi(x), \qquad \ell = s \, \Delta(y, q) .

    So the weight multiplies the learning rate, as in scikit-learn's ``Perceptron``; 2 is not the same as two
    visits, of which the second may find no mistake. An example of weight 0 is absent. With all weights and
    costs 1 this is the classifier from above; a common factor of all :math:`\ell` multiplies W, and changes
    no mistake. The theorem stays (prop-perceptron-cost): if :math:`\|W^*\| = 1` and
    :math:`f^*_y - f^*_r \ge \gamma` wherever :math:`\Delta(y, r) > 0`, then in sum over all mistakes

    .. math:: \sum \ell \le \frac2{\gamma^2} \max \ell \, \|\phi(x)\|^2 .

    For a step adds at least :math:`\ell \gamma` to :math:`\langle W^*, W \rangle`, and, as
    :math:`\sum_r \tau_r f_r \le 0` and :math:`\|\tau\|^2 \le 2`, at most
    :math:`2 \ell^2 \|\phi(x)\|^2` to :math:`\|W\|^2`; so
    :math:`\gamma \sum \ell \le \|W\| \le (2 \max \ell \|\phi(x)\|^2 \sum \ell)^{1/2}`. A prediction r that
    costs something is a mistake with q = r. So the sum, ``paid_``, is at least what all predictions on the
    way cost, each times its weight: what is bounded is no longer their number, but their weighted cost.

    Parameters
    ----------
    update : {"top", "uniform", "proportional", "mira"} or callable
        Which of the classes in front pay: see :func:`ultraconservative`.
    kernel : {"linear", "poly", "rbf", "precomputed"}, Kernel or None
        None: weights are kept, ``coef_``. Otherwise W is a sum over the examples on which a mistake was
        made, see :func:`mcutils.kernel.resolve`; "linear" is the same classifier as None, in this form. For
        "precomputed", ``fit`` takes the Gram matrix of the sample and ``predict`` a row
        :math:`(K(x, x_i))_i` over the sample for each x.
    gamma : float, "scale" or "auto"
        Of "rbf" and "poly"; ``partial_fit`` keeps that of the first batch.
    degree : int
        Of "poly".
    coef0 : float
        Of "poly".
    fit_intercept : bool
        Whether every class has an intercept. It is the weight of an appended feature which is always 1, as if
        K were :math:`K + 1`; R and :math:`\gamma` are then those of the longer vectors. There is no other
        choice to make: a perceptron regularises nothing.
    cost : (k, k) array-like, optional
        :math:`\Delta`, the cost of predicting the class of a column where that of a row is true, both in the
        order of ``classes_``. By default every mistake costs 1. A class of cost 0 is no rival.
    class_weight : dict or "balanced", optional
        Factors of the weights s by class.
    average : bool or "voted"
        Which W predicts: the last (False); the average over all steps, those without a mistake included
        (True); or all that there were, each with as many votes as there were steps at which it was the
        current one ("voted"; a prediction then takes time proportional to the number of mistakes). Training
        is the same. Only the last is sure to make no mistake on the sample if ``converged_``.
    max_iter : int
        The largest number of epochs in ``fit``.
    shuffle : bool
        Whether every epoch visits the examples in a new random order.
    random_state : int, RandomState or None
        Draws the orders.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted. Ties go to the smallest.
    coef_ : (k, d) array
        The weights, also for two classes a row for each; averaged with ``average=True``. Not with a kernel,
        not if "voted".
    intercept_ : (k,) array
        The intercepts, averaged likewise. Not if "voted".
    kernel_ : Kernel or None
        The kernel in use.
    support_ : (s,) int array
        With a kernel or "voted": on which examples a mistake was made; after ``partial_fit`` all batches are
        counted through.
    support_vectors_ : (s, d) array or sparse matrix
        These examples; not for "precomputed".
    dual_coef_ : (k, s) array
        With a kernel: their coefficients, :math:`w_r = \sum_i c_{ri} \phi(x_i)`. Not if "voted".
    moved_, moves_, votes_ : (n,) int array, (n, k) array, (n,) int array
        If "voted": of each of the n mistakes which support vector it was, its :math:`\ell \tau`, and how many
        steps the classifier after it was the current one.
    mistakes_ : int array
        The mistakes of each epoch.
    paid_ : float array
        The sum of the :math:`\ell` of each epoch; ``mistakes_`` again, without weights and costs.
    n_iter_ : int
        The number of epochs, the last included. Each ``partial_fit`` is one.
    converged_ : bool
        Whether the last epoch made no mistake, by the scores as they were computed.
    t_ : int
        The number of steps: examples visited. Each counts once in the average, whatever its weight.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Scores tie if they are equal as floating-point numbers. With integers and "top" they are exact; thirds
    are not, and whether two scores that should be equal are so may then depend on how they are summed up.

    Examples
    --------
    >>> from mcutils.perceptron import MulticlassPerceptron
    >>> X, y = [[-2.0], [0.0], [2.0], [3.0]], ["low", "middle", "high", "high"]
    >>> model = MulticlassPerceptron("uniform", average=False, random_state=0).fit(X, y)
    >>> model.converged_, model.predict([[-5.0], [0.1], [5.0]]).tolist()
    (True, ['low', 'middle', 'high'])
    """

    _binary = False  # whether there must be two classes

    def __init__(
        self,
        update: Update = "top",
        *,
        kernel: str | Kernel | None = None,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        cost: ArrayLike | None = None,
        class_weight: dict[Any, float] | str | None = None,
        average: bool | str = True,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.update = update
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.cost = cost
        self.class_weight = class_weight
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start at 0, and visit the examples in epochs until one is without mistakes.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
        y : (m,) array-like
            Labels of two classes or more.
        sample_weight : (m,) array-like, optional
            The weights s, at least 0. An example of weight 0 is not visited; every class needs one
            above 0.

        Returns
        -------
        Self
        """
        most = integer(self.max_iter, "max_iter", 1)
        self._check_parameters()
        X, labels = self._validate(X, y=y)
        self.classes_, codes = class_codes(labels, binary=self._binary)
        if is_precomputed(self.kernel) and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix in fit, found shape {X.shape}")
        weights = self._weigh(X, codes, sample_weight)
        refuse_idle(weights, self.classes_, codes)
        rows = np.flatnonzero(weights > 0)
        self._begin(X)
        self._epochs(X, codes, weights, rows, most)
        if not self.converged_:
            warn(
                f"epoch {self.n_iter_}, the last, made {self.mistakes_[-1]} mistakes on {len(rows)} "
                "examples: max_iter is too small, or no classifier of this kind separates the classes",
            )
        return self

    @available_if(lambda self: not is_precomputed(self.kernel))
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit some more examples, once each; not for "precomputed", which has no values between batches.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
        y : (m,) array-like
            Their labels; a batch may be of one class.
        classes : (k,) array-like, optional
            All labels that will ever come; needed in the first call.
        sample_weight : (m,) array-like, optional
            The weights s, at least 0.

        Returns
        -------
        Self
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ValueError("class_weight 'balanced' needs all examples; give partial_fit a dict of weights")
        first = first_batch(self, classes, binary=self._binary) or not hasattr(self, "t_")
        X, labels = self._validate(X, y=y, reset=first)
        codes = codes_among(self.classes_, labels)
        weights = self._weigh(X, codes, sample_weight)
        if first:
            self._begin(X)
        elif (self.average == "voted") != self._voted or (self.kernel is None) != (self.kernel_ is None):
            raise ValueError(
                "kernel=None and average='voted' cannot be taken up or given up between batches, "
                "for the classifier keeps other things then"
            )
        self._epochs(X, codes, weights, np.flatnonzero(weights > 0), 1)
        return self

    def scores(self, X: Any) -> Floats:
        """The score of each class, also if there are only two; if "voted", its share of the votes.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if self._voted:
                scores = self._vote(X)
            elif self.kernel_ is None:
                scores = X @ self.coef_.T + self.intercept_
            else:
                scores = self._expand(X, self.dual_coef_.T) + self.intercept_
        return _finite(scores)

    def _weigh(self, X: Any, y: Ints, sample_weight: ArrayLike | None) -> Floats:
        """The weights s, after all checks that need the data."""
        self._costs = cost_matrix(self.cost, len(self.classes_))
        weights = example_weights(sample_weight, len(y), all_zero=True)
        return times_class_weight(weights, self.class_weight, self.classes_, y)

    def _check_parameters(self) -> None:
        check_update(self.update)
        for name in ("fit_intercept", "shuffle"):
            switch(getattr(self, name), name)
        seed(self.random_state)
        verbosity(self.verbose)
        kernel_parameters(self.gamma, self.degree, self.coef0)
        voted = isinstance(self.average, str) and self.average == "voted"
        if not (voted or isinstance(self.average, (bool, np.bool_))):
            raise ValueError(f"average must be True, False or 'voted', found {self.average!r}")

    def _resolve(self, X: Any) -> Kernel | None:
        return None if self.kernel is None else resolve(self.kernel, self.gamma, self.degree, self.coef0, X)

    def _begin(self, X: Any) -> None:
        """The classifier 0, which has seen nothing."""
        k = len(self.classes_)
        for name in _KEPT:
            self.__dict__.pop(name, None)  # what another fit has left, with other parameters
        self.kernel_ = self._resolve(X)
        self._voted = self.average == "voted"
        self.mistakes_ = np.empty(0, dtype=np.intp)
        self.paid_ = np.empty(0)
        self.t_ = 0
        self._examples = 0
        if self.kernel_ is None:
            self._weights = _Moves((X.shape[1] + 1, k))  # the last row is for the intercepts
        if self.kernel_ is not None or self._voted:
            self.support_ = np.empty(0, dtype=np.intp)
            if not is_precomputed(self.kernel_):
                self.support_vectors_ = X[:0]
            self._coefficients = _Moves((0, k))
        if self._voted:
            self.moved_ = np.empty(0, dtype=np.intp)
            self.moves_ = np.empty((0, k))
            self._times = np.empty(0, dtype=np.intp)

    def _expand(self, X: Any, coefficients: Floats) -> Floats:
        if not len(coefficients):
            return np.zeros((X.shape[0], coefficients.shape[1]))
        points = self.support_ if is_precomputed(self.kernel_) else self.support_vectors_
        assert self.kernel_ is not None
        return self.kernel_.expand(X, points, coefficients)

    def _vote(self, X: Any) -> Floats:
        """The share of steps after which the classifier predicts the class."""
        one = 1.0 if self.fit_intercept else 0.0
        shares = np.zeros((X.shape[0], len(self.classes_)))
        # W = 0 predicts the first class, as long as no mistake costs anything
        shares[:, 0] = self._times[0] if len(self._times) else self.t_
        if not len(self._times):
            return shares / max(1, self.t_)
        for start in range(0, X.shape[0], 1024):
            rows = slice(start, start + 1024)
            if self.kernel_ is not None and is_precomputed(self.kernel_):
                values = X[rows][:, self.support_]
            else:
                values = (self.kernel_ or kernels.linear).gram(X[rows], self.support_vectors_)
            values = values + one
            f = np.zeros((len(self.classes_), len(values)))
            everyone = np.arange(start, start + len(values))
            for place, tau, count in zip(self.moved_, self.moves_, self.votes_, strict=True):
                for r in np.flatnonzero(tau).tolist():
                    f[r] += tau[r] * values[:, place]
                shares[everyone, f.argmax(axis=0)] += count
        return shares / self.t_

    def _epochs(self, X: Any, y: Ints, weights: Floats, rows: Ints, most: int) -> None:
        """Epochs over some rows, on top of what the classifier has learned so far."""
        m, k = len(y), len(self.classes_)
        one = 1.0 if self.fit_intercept else 0.0
        generator = check_random_state(self.random_state)
        expanded = self.kernel_ is not None or self._voted
        problem = (self.update, X, y, weights, self._costs, one)
        sample: _LinearSample | _KernelSample | _TwoClassSample
        if self.kernel_ is None:
            sample = _LinearSample(*problem, self._weights, keep=expanded)
        else:
            sums = self._coefficients.sum
            scores = self._expand(X, sums) + one * sums.sum(axis=0)
            kind = _TwoClassSample if k == 2 and isinstance(self.update, str) else _KernelSample
            sample = kind(*problem, self.kernel_, scores)
        made_here = _Moves((m, k) if expanded else (0, k))
        history: list[tuple[Ints, Ints, Floats]] = []
        mistakes: list[int] = []
        paid: list[float] = []
        with Log(type(self).__name__, int(self.verbose), unit="epoch", most=most) as log:
            while len(mistakes) < most and 0 not in mistakes:
                order = generator.permutation(rows) if self.shuffle else rows
                with np.errstate(over="ignore", invalid="ignore"):  # a sentence reports it
                    places, lengths, moves = sample.visit(order, self.t_)
                if expanded:
                    ids, times = order[places], self.t_ + places
                    made_here.add(ids, moves, times)
                    if self._voted:
                        history.append((ids, times, moves))
                mistakes.append(len(places))
                paid.append(float(lengths.sum()))
                self.t_ += len(rows)
                log.tell(len(mistakes), f", {len(places)} mistakes")

        if expanded:
            self._enter(X, made_here, history)
        self._examples += m
        self.mistakes_ = np.concatenate([self.mistakes_, np.array(mistakes, dtype=np.intp)])
        self.paid_ = np.concatenate([self.paid_, paid])
        self.n_iter_ = len(self.mistakes_)
        self.converged_ = bool(self.mistakes_[-1] == 0)
        if self._voted:
            self.votes_ = np.diff(self._times, append=self.t_)
        elif self.kernel_ is None:
            weights = _finite(self._averaged(self._weights))
            self.coef_, self.intercept_ = weights[:-1].T.copy(), weights[-1].copy()
        else:
            coefficients = self._averaged(self._coefficients)
            self.dual_coef_ = coefficients.T.copy()
            self.intercept_ = one * coefficients.sum(axis=0)

    def _averaged(self, moves: "_Moves") -> Floats:
        return moves.sum - moves.late / max(1, self.t_) if self.average else moves.sum.copy()

    def _enter(self, X: Any, made: "_Moves", history: list[tuple[Ints, Ints, Floats]]) -> None:
        """Keep the examples on which a mistake was made, and their coefficients."""
        support = np.flatnonzero(made.sum.any(axis=1))
        before = len(self.support_)
        if not is_precomputed(self.kernel_):
            stack = sparse_vstack if issparse(X) or issparse(self.support_vectors_) else np.vstack
            self.support_vectors_ = stack([self.support_vectors_, X[support]])
            if issparse(self.support_vectors_):
                self.support_vectors_ = self.support_vectors_.tocsr()
        self.support_ = np.concatenate([self.support_, self._examples + support])
        self._coefficients.sum = np.concatenate([self._coefficients.sum, made.sum[support]])
        self._coefficients.late = np.concatenate([self._coefficients.late, made.late[support]])
        if history:
            ids, times, moves = (np.concatenate(part) for part in zip(*history, strict=True))
            self.moved_ = np.concatenate([self.moved_, before + np.searchsorted(support, ids)])
            self.moves_ = np.concatenate([self.moves_, moves])
            self._times = np.concatenate([self._times, times])


# Fitted attributes that only some configurations have.
_KEPT = (
    *("coef_", "intercept_", "support_", "support_vectors_", "dual_coef_", "moved_", "moves_", "votes_"),
    *("_weights", "_coefficients", "_times"),
)


def _finite(values: Floats) -> Floats:
    if not np.isfinite(values).all():
        raise ValueError("the scores leave the range of floating point; scale X")
    return values


class _Moves:
    """The sum of some moves, and the sum of each times the number of steps before it, for the average."""

    def __init__(self, shape: tuple[int, ...]):
        self.sum, self.late = np.zeros(shape), np.zeros(shape)

    def add(self, at: Any, moves: Floats, times: Ints) -> None:
        """Moves at different places."""
        self.sum[at] += moves
        self.late[at] += moves * times[:, None]


class _LinearSample:
    """A sample and the weights that learn from it; what is compiled goes from mistake to mistake."""

    def __init__(
        self,
        update: Update,
        X: Any,
        y: Ints,
        weights: Floats,
        costs: Floats,
        one: float,
        learned: _Moves,
        *,
        keep: bool,
    ):
        from ..jit import perceptron as jit

        sparse = issparse(X)
        self.visit_: Any = jit.visit_sparse if sparse else jit.visit_dense
        self.move_: Any = jit.move_sparse if sparse else jit.move_dense
        self.X = (X.data, X.indices, X.indptr) if sparse else (X,)
        self.update, self.y, self.weights, self.costs, self.one = update, y, weights, costs, one
        self.code = UPDATES.index(update) if isinstance(update, str) else -1
        self.squares = kernels.linear.self_products(X) + one if update == "mira" else np.zeros(len(y))
        self.learned, self.keep = learned, keep

    def visit(self, order: Ints, t: int) -> tuple[Ints, Floats, Floats]:
        """The places of the mistakes, how long the steps were, and, if that is kept, what moved."""
        k = len(self.costs)
        V, U, scores = self.learned.sum, self.learned.late, np.empty(k)
        places, lengths = np.empty(len(order), np.intp), np.empty(len(order))
        moves = np.zeros((len(order) if self.keep else 0, k))
        problem = (self.y, self.weights, self.costs, self.squares, order, self.code, self.one, t)
        place = made = 0
        while True:
            place, made = self.visit_(*self.X, *problem, place, made, V, U, scores, places, lengths, moves)
            if place == len(order):
                return places[:made], lengths[:made], moves[:made]
            _finite(scores)
            # a mistake, and Python has to say who pays
            i = int(order[place])
            true = int(self.y[i])
            move = step(self.update, scores, true, self.weights[i], self.costs[true], 0.0)
            self.move_(*self.X, i, self.one, t + place, np.arange(k), move, k, V, U)
            places[made], lengths[made] = place, move[true]
            if self.keep:
                moves[made] = move
            place, made = place + 1, made + 1


class _KernelSample:
    """A sample with the scores of all of it, kept up to date."""

    def __init__(
        self,
        update: Update,
        X: Any,
        y: Ints,
        weights: Floats,
        costs: Floats,
        one: float,
        kernel: Kernel,
        scores: Floats,
    ):
        self.update, self.y, self.weights, self.costs, self.one = update, y, weights, costs, one
        self.scores = scores
        self.rows = MistakeRows(kernel, X)
        own = np.diag(X) if is_precomputed(kernel) else kernel.diagonal(X)
        self.squares = np.maximum(own + one, 0.0)

    def visit(self, order: Ints, t: int) -> tuple[Ints, Floats, Floats]:
        """The places of the mistakes, how long the steps were, and what moved."""
        places: list[int] = []
        moves: list[Floats] = []
        for start in range(0, len(order), _BLOCK):
            ids = order[start : start + _BLOCK]
            scores, costs, true = self.scores[ids], self.costs[self.y[ids]], self.y[ids]
            rows: list[Floats] = []
            at = 0
            while at < len(ids):
                _finite(scores[at:])
                rivals = np.where(costs[at:] > 0, scores[at:], -np.inf).max(axis=1)
                wrong = at + np.flatnonzero(rivals >= scores[at:][np.arange(len(ids) - at), true[at:]])
                if not len(wrong):
                    break
                at = int(wrong[0])
                i = int(ids[at])
                move = step(
                    self.update, scores[at], int(true[at]), self.weights[i], costs[at], self.squares[i]
                )
                rows.append(self.rows.first(ids[wrong]) + self.one)
                scores += rows[-1][ids, None] * move
                places.append(start + at)
                moves.append(move)
                at += 1
            if rows:
                self.scores += np.array(rows).T @ np.array(moves[-len(rows) :])
        made, moved = np.array(places, dtype=np.intp), np.array(moves).reshape(-1, len(self.costs))
        return made, moved[np.arange(len(made)), self.y[order[made]]], moved


class _TwoClassSample(_KernelSample):
    """The same for two classes and the updates with names, which are all one: the scores are -f and f.

    There is nothing to choose at a mistake; so it takes less time to bring f up to date everywhere than to
    look for the next mistake block by block.
    """

    def visit(self, order: Ints, t: int) -> tuple[Ints, Floats, Floats]:
        """The places of the mistakes, how long the steps were, and what moved."""
        f = self.scores[:, 1].copy()
        lengths = self.weights * self.costs[self.y, 1 - self.y]
        # NaN compares as no mistake: a mistake that costs nothing is none
        signs = np.where(lengths > 0, 2.0 * self.y - 1.0, np.nan)
        places: list[int] = []
        place = 0
        while True:
            rest = order[place:]
            wrong = np.flatnonzero(signs[rest] * f[rest] <= 0)
            if not len(wrong):
                break
            place += int(wrong[0])
            i = int(order[place])
            f += signs[i] * lengths[i] * (self.rows.first(rest[wrong]) + self.one)
            places.append(place)
            place += 1
        self.scores = _finite(np.column_stack([-f, f]))
        made = np.array(places, dtype=np.intp)
        ids = order[made]
        return made, lengths[ids], (signs * lengths)[ids, None] * np.array([-1.0, 1.0])


class KernelPerceptron(MulticlassPerceptron):
    r"""The perceptron in the feature space of a kernel, for two classes (alg-kernel-perceptron).

    It visits one example after the other, and where :math:`y_i f(x_i) \le 0` - a score of 0 counts as a
    mistake, for the classifier starts at 0 - it adds :math:`y_i \phi(x_i)` to w, and with a bias :math:`y_i`
    to b. So :math:`w = \sum_i c_i \phi(x_i)`, where :math:`|c_i|` counts the mistakes at example i and
    :math:`c_i` has the sign of :math:`y_i` (prop-kernel-combination): a sum over those on which a mistake
    was made. It stops after an epoch without mistakes. A mistake at an example of weight s counts s times.

    It is the second class of :class:`MulticlassPerceptron`, with a kernel and two classes. An epoch takes m
    operations for each mistake, and the rows of the Gram matrix are computed when a mistake first needs them.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "precomputed"} or Kernel
        See :func:`mcutils.kernel.resolve`. For "precomputed", ``fit`` takes the Gram matrix of the sample and
        ``predict`` a row :math:`(K(x, x_i))_i` over the sample for each x. That the matrix is positive
        semidefinite is assumed; :func:`mcutils.kernel.check_psd` says whether it is.
    gamma : float, "scale" or "auto"
        Of "rbf" and "poly", see :func:`mcutils.kernel.resolve`; ``partial_fit`` keeps that of the first
        batch.
    degree : int
        Of "poly".
    coef0 : float
        Of "poly".
    fit_intercept : bool
        Whether there is a bias. It is that of a feature which is always 1, as if K were :math:`K + 1`.
    average : bool
        Whether to predict with the average of w and b over all steps, those without a mistake included,
        instead of the last ones. The last ones make no mistake on the sample if ``converged_``; the average
        may.
    max_iter : int
        The largest number of epochs in ``fit``.
    shuffle : bool
        Whether every epoch visits the examples in a new random order.
    random_state : int, RandomState or None
        Draws the orders.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (2,) array
        The labels, sorted; ``classes_[1]`` is :math:`y = +1`. A score of 0 predicts ``classes_[0]``.
    kernel_ : Kernel
        The kernel in use.
    support_ : (s,) int array
        Which examples have a coefficient; after ``partial_fit`` all batches are counted through.
    support_vectors_ : (s, d) array or sparse matrix
        These examples; not for "precomputed".
    dual_coef_ : (1, s) array
        Their coefficients :math:`c_i`, averaged with ``average``.
    intercept_ : (1,) array
        b.
    mistakes_ : (n,) int array
        The mistakes of each of the n epochs.
    paid_ : (n,) float array
        The sum of the weights at these mistakes.
    n_iter_ : int
        The number of epochs, the last included. Each ``partial_fit`` is one.
    converged_ : bool
        Whether the last epoch made no mistake.
    t_ : int
        The number of steps: examples visited.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Examples
    --------
    >>> from mcutils.perceptron import KernelPerceptron
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["equal", "equal", "not", "not"]
    >>> model = KernelPerceptron("poly", gamma=1.0, degree=2, average=False, shuffle=False).fit(X, y)
    >>> model.mistakes_
    array([3, 4, 4, 1, 2, 2, 1, 0])
    >>> model.predict(X).tolist()
    ['equal', 'equal', 'not', 'not']
    """

    kernel: str | Kernel  # not None: that is refused
    update, cost, class_weight = "top", None, None
    _binary, _opposite = True, True

    def __init__(
        self,
        kernel: str | Kernel = "linear",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        average: bool = True,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def scores(self, X: Any) -> Floats:
        """The scores of both classes, -f(x) and f(x).

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, 2) array
        """
        f = super().scores(X)
        return np.hstack([-f, f])

    def _check_parameters(self) -> None:
        for name in ("fit_intercept", "average"):
            switch(getattr(self, name), name)
        super()._check_parameters()

    def _resolve(self, X: Any) -> Kernel:
        return resolve(self.kernel, self.gamma, self.degree, self.coef0, X)

    def _epochs(self, X: Any, y: Ints, weights: Floats, rows: Ints, most: int) -> None:
        super()._epochs(X, y, weights, rows, most)
        self.dual_coef_, self.intercept_ = self.dual_coef_[1:], self.intercept_[1:]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
