"""Stochastic subgradients: against a plain twin, certified optima, and the rate that is proved of them."""

import os
import pickle
import subprocess
import sys
import tracemalloc
from itertools import product

import numpy as np
import pytest
from cvxopt import matrix, solvers
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from mcutils import hinge
from mcutils.hinge import ClassMap, HingeProblem
from mcutils.jit import subgradient as jit
from mcutils.risk import costs_from_weights
from mcutils.subgradient import AVERAGES, SubgradientMachine, rate

# what is compared is the same after few epochs as after many
few_epochs = pytest.mark.filterwarnings("ignore:after .* epochs:sklearn.exceptions.ConvergenceWarning")

SLOPES = {
    "crammer_singer": hinge.crammer_singer_subgradient,
    "weston_watkins": hinge.weston_watkins_subgradient,
}


def twin(X, y, order, *, loss, lam, average="all", cost=None, weights=None, B=None, mode=0, start=0, delay=0):
    """The algorithm as it is stated: shrink, step, and keep every iterate. Returns V, b, multipliers."""
    m, k = len(X), int(y.max()) + 1
    B = np.eye(k) if B is None else B
    weights = np.ones(m) if weights is None else weights
    points = np.column_stack([X, np.ones(m)]) if mode == 1 else X
    V, b = np.zeros((B.shape[1], points.shape[1])), np.zeros(k)
    iterates, intercepts, multipliers = [], [], np.zeros((m, k))
    for t, i in enumerate(order, start=1):
        iterates.append(V.copy())
        intercepts.append(b.copy())
        slope = weights[i] * SLOPES[loss]((B @ V @ points[i] + b)[None], [y[i]], cost)[0]
        late = t + delay
        eta = 2 / (lam * (late + 1)) if average == "weighted" else 1 / (lam * late)
        V = (1 - eta * lam) * V - eta * np.outer(B.T @ slope, points[i])
        multipliers *= 1 - eta * lam
        multipliers[i] += eta * np.where(np.arange(k) == y[i], 0, slope)
        if mode == 2:
            b = b - slope / np.sqrt(t)
    if average is None:
        return V, b, multipliers, V
    T = len(order)
    share = {
        "all": np.ones(T),
        "tail": np.arange(T) >= start,
        "weighted": delay + np.arange(1.0, T + 1),
    }[average]
    predicted = [np.average(each, axis=0, weights=share) for each in (iterates, intercepts)]
    return *predicted, multipliers, V


def scaled(multipliers, X, task, **options):
    """The largest dual value of the multipliers times a factor of at most 1: that of a parabola."""
    half, one = (task.dual_objective(a * multipliers, X, **options) for a in (0.5, 1.0))
    linear = 4 * half - one
    square = linear - one
    a = min(1.0, linear / (2 * square)) if square > 0 else 1.0
    return max(0.0, a * linear - a * a * square)


def problem(trial, mapped=False):
    rng = np.random.default_rng(trial)
    m, d, k = 17, 3, 3 + trial % 2
    X = rng.normal(size=(m, d)) * (rng.uniform(size=(m, d)) < 0.7)
    y = np.r_[np.arange(k), rng.integers(k, size=m - k)]
    X += 0.5 * np.eye(4)[y, :3]
    cost = rng.uniform(size=(k, k)) * (1 - np.eye(k)) if trial % 3 else None
    weights = rng.integers(0, 4, size=m) / 2 + (np.arange(m) < k) if trial % 2 else None
    return X, y, cost, weights, ClassMap(rng.normal(size=(k, 4))) if mapped else None


@few_epochs
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, "appended", "free"])
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
@pytest.mark.parametrize("loss", hinge.HINGES)
def test_it_is_the_algorithm_as_it_is_stated(loss, average, fit_intercept, mapped):
    for trial, replace in product(range(3), [False, True]):
        X, y, cost, weights, class_map = problem(trial, mapped)
        options = {
            "loss": loss,
            "C": 0.3,
            "cost": cost,
            "average": average,
            "fit_intercept": fit_intercept,
            "max_iter": 5,
            "class_map": class_map,
            "replace": replace,
            "random_state": trial,
        }
        model = SubgradientMachine(**options).fit(X, y, weights)
        generator = np.random.RandomState(trial)
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        m = len(rows)
        orders = [
            rows[generator.randint(m, size=m)] if replace else generator.permutation(rows) for _ in range(5)
        ]
        mode = {False: 0, "appended": 1, "free": 2}[fit_intercept]
        B = class_map.matrix if mapped else np.eye(y.max() + 1)
        V, b, multipliers, last = twin(
            X,
            y,
            np.concatenate(orders),
            loss=loss,
            lam=1 / (0.3 * m),
            average=average,
            cost=cost,
            weights=weights,
            B=B,
            mode=mode,
            start=5 * m // 2,
        )
        W = B @ V
        np.testing.assert_allclose(model.coef_, W[:, :3], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.intercept_, W[:, 3] if mode == 1 else b, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.scores(X), X @ W[:, :3].T + model.intercept_, atol=1e-9)
        assert (model.t_, model.n_iter_) == (5 * m, 5)

        # the certificate is of the given problem
        points = np.column_stack([X, np.ones(len(X))]) if mode == 1 else X
        task = HingeProblem(y, loss=loss, C=0.3, cost=cost, sample_weight=weights)
        mapping = {"class_map": class_map}
        if mode == 2:
            assert model.objective_ == model.certificate_.primal
            assert model.objective_ == pytest.approx(task.objective(V, X, intercept=b, **mapping), rel=1e-9)
            used = multipliers.sum(axis=1) if loss == "crammer_singer" else multipliers.max(axis=1)
            penalties = 0.3 * (np.ones(len(y)) if weights is None else weights)
            multipliers *= np.where(used > penalties, penalties / np.maximum(used, 1e-300), 1.0)[:, None]
            rest = hinge.balanced_multipliers(multipliers, y, cost)
            used = rest.sum(axis=1) if loss == "crammer_singer" else rest.max(axis=1)
            most = (penalties / np.maximum(used, 1e-300))[used > 0].min(initial=1e9)
            best = scaled(most * rest, X, task, fit_intercept=True, **mapping)
            assert model.certificate_.dual == pytest.approx(best, rel=1e-8, abs=1e-12)
            continue
        result = model.certificate_
        assert model.objective_ == result.primal
        assert result.primal == pytest.approx(task.objective(V, points, **mapping), rel=1e-9)
        # the last iterate is what its multipliers make of the examples, and they are feasible when scaled
        pull = -multipliers
        pull[np.arange(len(y)), y] = multipliers.sum(axis=1)
        np.testing.assert_allclose(B.T @ pull.T @ points, last, atol=1e-9)
        used = multipliers.sum(axis=1) if loss == "crammer_singer" else multipliers.max(axis=1)
        penalties = 0.3 * (np.ones(len(y)) if weights is None else weights)
        most = 1 / max(1.0, (used[rows] / penalties[rows]).max())
        best = scaled(most * multipliers, points, task, **mapping)
        assert result.dual <= best + 1e-9  # what was visited but not active is counted as used
        if not replace and average != "weighted":
            best = task.dual_objective(multipliers, points, **mapping)
            assert result.dual >= best - 1e-9


@pytest.mark.filterwarnings("ignore:Liblinear:sklearn.exceptions.ConvergenceWarning")  # see test_solver.py
@few_epochs
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
@pytest.mark.parametrize("C", [0.01, 0.3])
def test_the_certificate_encloses_the_optimum_of_liblinear(average, C):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    A = np.column_stack([X, np.ones(len(X))])
    peer = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-9, max_iter=10**6)
    least = HingeProblem(y, C=C).objective(peer.fit(A, y).coef_, A)
    gaps = []
    for epochs in (1, 10, 100, 1000):
        result = SubgradientMachine(C=C, average=average, max_iter=epochs, random_state=0).fit(X, y)
        assert result.certificate_.dual <= least * (1 + 1e-7)
        assert result.certificate_.primal >= least * (1 - 1e-7)
        gaps.append(result.certificate_.gap)
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] < 0.003


@pytest.mark.parametrize("loss", hinge.HINGES)
@pytest.mark.parametrize("average", ["all", "tail", "weighted", None])
@pytest.mark.once
def test_the_rate_holds_for_the_exact_expectation(loss, average):
    """Every sequence of five draws out of three examples."""
    X, y, k, lam = np.array([[1.0, 0.5], [-0.5, 1.0], [0.2, -0.9]]), np.array([0, 1, 2]), 3, 0.5
    radius = np.linalg.norm(X, axis=1).max()
    C = 1 / (lam * 3)
    best = SubgradientMachine(loss, C=C, fit_intercept=False, max_iter=20000, random_state=0).fit(X, y)
    least = best.certificate_.dual * lam
    assert best.certificate_.gap < 1e-3
    for T in (1, 2, 5):
        values = []
        for order in product(range(3), repeat=T):
            V, *_ = twin(X, y, order, loss=loss, lam=lam, average=average, start=T // 2)
            values.append(HingeProblem(y, loss=loss, C=C).objective(V, X) * lam)
        missed = np.mean(values) - least
        bound = rate(T, lam=lam, radius=radius, k=k, loss=loss, average=average)
        assert 0 < missed <= bound


def test_the_rate_by_its_formula():
    square = (2 * np.sqrt(2) * 3.0 * 2.0) ** 2
    options = {"lam": 0.1, "radius": 3.0, "k": 4, "largest_weight": 2.0}
    assert rate(4, average="all", **options) == pytest.approx(square / 0.2 / 4 * (1 + 1 / 2 + 1 / 3 + 1 / 4))
    assert rate(5, average="tail", **options) == pytest.approx(
        square / 0.1 / 3 * (2 / 3 + (1 / 3 + 1 / 4 + 1 / 5) / 2)
    )
    assert rate(1, average="tail", **options) == rate(1, average="all", **options)
    assert rate(4, average="weighted", **options) == pytest.approx(2 * square / 0.1 / 5)
    assert rate(3, average=None, **options) == pytest.approx(square / 0.1 / 4 * (1 / 2 + 1 + 1 / 2 + 1 / 3))
    # the tail and the weighted average pay no logarithm, the others do
    long = {name: rate(10**6, average=name, **options) * 10**6 for name in AVERAGES}
    longer = {name: rate(10**7, average=name, **options) * 10**7 for name in AVERAGES}
    for name in ("all", None):
        assert longer[name] > 1.1 * long[name]
    for name in ("tail", "weighted"):
        assert longer[name] == pytest.approx(long[name], rel=1e-5)


@few_epochs
@pytest.mark.parametrize("fit_intercept", [False, "appended", "free"])
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
@pytest.mark.parametrize("loss", hinge.HINGES)
def test_sparse_and_dense_are_one(loss, average, fit_intercept):
    X, y, cost, weights, class_map = problem(1, mapped=average == "all")
    options = {"cost": cost, "average": average, "fit_intercept": fit_intercept, "class_map": class_map}
    model = SubgradientMachine(loss, max_iter=3, random_state=0, **options)
    dense = model.fit(X, y, weights)
    for form in (csr_array, csc_array):
        sparse = clone(model).fit(form(X), y, weights)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(sparse.scores(form(X)), dense.scores(X), rtol=1e-9, atol=1e-12)
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-10)
        clone(model).partial_fit(form(X), y, classes=np.unique(y))


@few_epochs
@pytest.mark.parametrize("average", ["all", "weighted", None])
def test_batches_are_one_epoch(average):
    X, y, cost, *_ = problem(4)
    options = {"alpha": 0.2, "cost": cost, "average": average, "shuffle": False, "max_iter": 1}
    whole = SubgradientMachine(**options).fit(X, y)
    parts = SubgradientMachine(**options)
    for rows in (slice(0, 1), slice(1, 8), slice(8, 17)):
        parts.partial_fit(X[rows], y[rows], classes=np.unique(y))
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-10, atol=1e-13)
    assert (parts.t_, parts.n_iter_) == (17, 3)
    assert parts.certificate_ is parts.objective_ is parts.converged_ is None
    assert whole.objective_ == whole.certificate_.primal
    assert whole.lambda_ == parts.lambda_ == 0.2


def test_the_tail_of_a_stream():
    """It starts at the last power of two that leaves it half of the steps."""
    X, y, *_ = problem(4)
    parts = SubgradientMachine(alpha=0.2, shuffle=False, fit_intercept=False)
    seen = []
    for t, i in enumerate(np.tile(np.arange(17), 3), start=1):
        parts.partial_fit(X[[i]], y[[i]], classes=np.unique(y))
        seen.append(i)
        start = max(2**e for e in range(10) if 2**e <= t / 2) if t > 1 else 0
        assert t / 2 <= t - start <= max(1, 3 * t / 4)
        V, *_ = twin(
            X,
            y,
            seen,
            loss="crammer_singer",
            lam=0.2,
            average="tail",
            start=start,
        )
        np.testing.assert_allclose(parts.coef_, V, rtol=1e-9, atol=1e-11)
        assert len(parts._marks) <= 2


@few_epochs
def test_fit_and_then_more():
    X, y, *_ = problem(4)
    model = SubgradientMachine(max_iter=2, shuffle=False, average="all").fit(X, y)
    lam = model.lambda_
    assert lam == pytest.approx(1 / 17)
    model.partial_fit(X, y)
    assert (model.t_, model.n_iter_, model.lambda_) == (51, 3, lam)
    whole = SubgradientMachine(max_iter=3, shuffle=False, average="all").fit(X, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    model.fit(X, y)  # begins anew
    assert model.t_ == 34


@pytest.mark.compiler
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
@pytest.mark.parametrize("loss", hinge.HINGES)
def test_weighting_and_repeating_agree_within_the_certificates(loss, average):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    counts = np.random.default_rng(0).integers(0, 4, size=len(X))
    options = {"C": 0.02, "average": average, "max_iter": 2000, "random_state": 0}
    weighted = SubgradientMachine(loss, **options).fit(X, y, counts)
    repeated = SubgradientMachine(loss, **options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    for one, other in ((weighted, repeated), (repeated, weighted)):
        assert one.certificate_.gap < 0.005
        assert one.certificate_.dual <= other.certificate_.primal
    kept = counts > 0
    alone = SubgradientMachine(loss, **options).fit(X[kept], y[kept], counts[kept])
    np.testing.assert_allclose(alone.coef_, weighted.coef_, rtol=1e-9, atol=1e-12)


def test_class_weights_are_weights():
    X, y, *_ = problem(0)
    named = np.array(["a", "b", "c"])[y]
    factors = {"a": 1.0, "b": 3.0, "c": 0.5}
    result = SubgradientMachine(class_weight=factors, random_state=0).fit(X, named)
    same = SubgradientMachine(random_state=0).fit(X, named, [factors[name] for name in named])
    np.testing.assert_array_equal(result.coef_, same.coef_)
    # with the costs of a row multiplied the loss is another: its margin grows, not its slope
    costly = SubgradientMachine(cost=costs_from_weights([1, 3, 0.5]), random_state=0).fit(X, named)
    assert not np.allclose(costly.coef_, same.coef_)
    balanced = SubgradientMachine(class_weight="balanced", random_state=0).fit(X, named)
    share = {name: len(y) / (3 * (named == name).sum()) for name in "abc"}
    same = SubgradientMachine(class_weight=share, random_state=0).fit(X, named)
    np.testing.assert_allclose(balanced.coef_, same.coef_, rtol=1e-12)
    part = SubgradientMachine(class_weight=factors, random_state=0)
    part.partial_fit(X[:1], named[:1], classes=["a", "b", "c"])
    assert part.predict(X).shape == (17,)


@pytest.mark.compiler
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
@pytest.mark.parametrize("loss", hinge.HINGES)
def test_the_three_intercepts(loss, average):
    """An appended one is a column of ones; a free one is no worse; their optima are in this order."""
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    options = {"C": 0.05, "average": average, "max_iter": 2000, "random_state": 0}
    none, appended, free = (
        SubgradientMachine(loss, fit_intercept=chosen, **options).fit(X, y)
        for chosen in (False, "appended", "free")
    )
    ones = np.column_stack([X, np.ones(len(X))])
    same = SubgradientMachine(loss, fit_intercept=False, **options).fit(ones, y)
    np.testing.assert_allclose(appended.coef_, same.coef_[:, :4], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(appended.intercept_, same.coef_[:, 4], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(none.intercept_, np.zeros(3))
    np.testing.assert_array_equal(
        SubgradientMachine(loss, fit_intercept=True, **options).fit(X, y).coef_, appended.coef_
    )
    for one in (none, appended, free):
        assert one.certificate_.gap < 0.01
    assert free.certificate_.dual < appended.certificate_.primal
    assert appended.certificate_.dual < none.certificate_.primal


@pytest.mark.compiler
@few_epochs
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("average", ["tail", "weighted"])
@pytest.mark.parametrize("loss", hinge.HINGES)
@pytest.mark.once
def test_the_certificate_with_a_free_intercept_encloses_the_optimum_of_cvxopt(loss, average, sparse):
    """The primal programme: W, b (the last 0), and the losses of examples, or of examples and classes."""
    for trial in range(4):
        X, y, cost, weights, class_map = problem(trial, mapped=trial == 3)
        m, k = len(y), y.max() + 1
        B = np.eye(k) if class_map is None else class_map.matrix
        options = {"loss": loss, "C": 0.1, "cost": cost}
        task = HingeProblem(y, sample_weight=weights, **options)
        options["class_map"] = class_map
        costs = 1 - np.eye(k) if cost is None else cost
        penalties = 0.1 * (np.ones(m) if weights is None else weights)
        pairs = [(i, r) for i in range(m) for r in range(k) if r != y[i]]
        each = loss == "weston_watkins"
        slack = np.eye(len(pairs)) if each else np.array([np.eye(m)[i] for i, _ in pairs])
        lines = np.array(
            [np.r_[np.kron(B[r] - B[y[i]], X[i]), (np.eye(k)[r] - np.eye(k)[y[i]])[:-1]] for i, r in pairs]
        )
        n, losses = lines.shape[1], slack.shape[1]
        P = np.diag(np.r_[np.ones(n - k + 1), np.zeros(k - 1 + losses)])
        q = np.r_[np.zeros(n), [penalties[i] for i, _ in pairs] if each else penalties]
        G = np.block([[lines, -slack], [np.zeros((losses, n)), -np.eye(losses)]])
        h = np.r_[[-costs[y[i], r] for i, r in pairs], np.zeros(losses)]
        quiet = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
        best = solvers.qp(*map(matrix, (P, q, G, h)), options=quiet)
        result = np.array(best["x"])[:, 0]
        V, b = result[: n - k + 1].reshape(-1, X.shape[1]), np.append(result[n - k + 1 : n], 0.0)
        least = task.objective(V, X, intercept=b, class_map=class_map)
        assert least == pytest.approx(best["primal objective"], rel=1e-6)
        gaps = []
        for epochs in (1, 30, 1000, 20000):
            model = SubgradientMachine(
                average=average, fit_intercept="free", max_iter=epochs, random_state=0, **options
            ).fit(csr_array(X) if sparse else X, y, weights)
            assert model.certificate_.dual <= least * (1 + 1e-7)
            assert model.certificate_.primal >= least * (1 - 1e-7)
            gaps.append(model.certificate_.gap)
        assert gaps[-1] < 0.01


@few_epochs
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
def test_a_delay_is_steps_that_are_not_made(average):
    for fit_intercept, mode in ((False, 0), ("appended", 1), ("free", 2)):
        X, y, cost, weights, _ = problem(1)
        radius = np.max(weights * ((X**2).sum(axis=1) + (mode == 1)))
        for chosen, delay in ((7, 7), ("radius", int(np.ceil(radius / 0.02)) - 1)):
            options = {"alpha": 0.02, "cost": cost, "average": average, "shuffle": False, "max_iter": 4}
            model = SubgradientMachine(delay=chosen, fit_intercept=fit_intercept, **options)
            model.fit(X, y, weights)
            rows = np.flatnonzero(weights)
            V, b, *_ = twin(
                X,
                y,
                np.tile(rows, 4),
                loss="crammer_singer",
                lam=0.02,
                average=average,
                cost=cost,
                weights=weights,
                mode=mode,
                start=2 * len(rows),
                delay=delay,
            )
            np.testing.assert_allclose(model.coef_, V[:, :3], rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(model.intercept_, V[:, 3] if mode == 1 else b, rtol=1e-9, atol=1e-11)
            sparse = clone(model).fit(csr_array(X), y, weights)
            np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-9, atol=1e-12)
    # the first step is the longest allowed, and any shorter delay makes it longer
    assert 1 / (0.02 * (delay + 1)) <= 1 / radius < 1 / (0.02 * delay)


@pytest.mark.filterwarnings("ignore:Liblinear:sklearn.exceptions.ConvergenceWarning")  # see test_solver.py
@few_epochs
def test_a_delay_helps_where_c_is_large():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    A = np.column_stack([X, np.ones(len(X))])
    peer = LinearSVC(multi_class="crammer_singer", C=10, fit_intercept=False, tol=1e-9, max_iter=10**6)
    least = HingeProblem(y, C=10).objective(peer.fit(A, y).coef_, A)
    for average in ("tail", "all", "weighted", None):
        for epochs in (1, 10):
            options = {"C": 10, "average": average, "max_iter": epochs, "random_state": 0}
            plain = SubgradientMachine(**options).fit(X, y)
            later = SubgradientMachine(delay="radius", **options).fit(X, y)
            assert later.objective_ - least < (plain.objective_ - least) / 3
            assert later.certificate_.dual <= least * (1 + 1e-7)


@pytest.mark.parametrize("fit_intercept", [False, "appended", "free"])
@pytest.mark.parametrize("average", ["tail", "all", "weighted", None])
def test_a_warm_start_goes_on(average, fit_intercept):
    X, y, cost, weights, _ = problem(1)
    options = {"C": 0.3, "cost": cost, "fit_intercept": fit_intercept, "shuffle": False, "delay": 2}
    options["average"] = average
    whole = SubgradientMachine(max_iter=12, **options).fit(X, y, weights)
    parts = SubgradientMachine(max_iter=7, warm_start=True, **options).fit(X, y, weights)
    parts.set_params(max_iter=5).fit(X, y, weights)
    assert (parts.t_, parts.n_iter_) == (whole.t_, 5)
    np.testing.assert_allclose(parts._factor() * parts._V, whole._factor() * whole._V, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(parts._b, whole._b, rtol=1e-9, atol=1e-12)
    assert parts.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-9)
    # it predicts with the average since it went on
    options["average"] = "weighted" if average == "weighted" else "all"
    begun = SubgradientMachine(max_iter=7, **options)
    ended = clone(begun).set_params(max_iter=12)
    W, count = [], []
    for one in (begun, ended):
        one.fit(X, y, weights)
        count.append(one._weight_until(one.t_) - one._weight_until(0))
        W.append(count[-1] * np.column_stack([one.coef_, one.intercept_]))
    if average in ("all", "weighted"):
        result = np.column_stack([parts.coef_, parts.intercept_])
        np.testing.assert_allclose(result, (W[1] - W[0]) / (count[1] - count[0]), rtol=1e-8, atol=1e-10)


@few_epochs
def test_a_warm_start_begins_anew_where_its_multipliers_would_mean_something_else():
    X, y, *_ = problem(0)
    model = SubgradientMachine(warm_start=True, max_iter=2, random_state=0)
    for change in (
        lambda one: one.fit(X + 1, y),
        lambda one: one.fit(X, y[::-1]),
        lambda one: one.fit(X, y, np.arange(1.0, 18.0)),
        lambda one: one.set_params(loss="weston_watkins").fit(X, y),
        lambda one: one.set_params(cost=2 * (1 - np.eye(3))).fit(X, y),
        lambda one: one.set_params(average="weighted").fit(X, y),
        lambda one: one.set_params(fit_intercept="free").fit(X, y),
        lambda one: one.set_params(class_map=ClassMap(np.ones((3, 1)) + np.eye(3))).fit(X, y),
        lambda one: one.set_params(class_weight={0: 2.0}).fit(X, y),
        lambda one: one.set_params(C=2.0).fit(X, y),
        lambda one: one.set_params(delay="radius").fit(X, y),
        lambda one: one.set_params(warm_start=False).fit(X, y),
        lambda one: one.partial_fit(X, y).fit(X, y),
    ):
        assert change(clone(model).fit(X, y)).t_ == 34
    for change in (
        lambda one: one.fit(X, y),
        lambda one: one.fit(csr_array(X), y).fit(csr_array(X), y),
        lambda one: one.set_params(average=None).fit(X, y),
        lambda one: one.set_params(shuffle=False, replace=True, max_iter=2).fit(X, y),
    ):
        assert change(clone(model).fit(X, y)).t_ == 68
    # goes on until the warning is gone
    model.set_params(C=0.1, tol=0.05)
    with pytest.warns(ConvergenceWarning, match="after 2 epochs the relative gap is"):
        model.fit(X, y)
    model.set_params(max_iter=1000).fit(X, y)
    assert model.converged_ is True


@few_epochs
def test_two_classes_have_both_rows_and_one_decision():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.where(y[50:] == 1, "no", "yes")
    model = SubgradientMachine(C=0.1, random_state=0).fit(X, y)
    assert model.coef_.shape == (2, 4)
    np.testing.assert_allclose(model.coef_[0], -model.coef_[1], rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, "yes", "no"))
    tied = SubgradientMachine(fit_intercept=False, random_state=0).fit(X, y)
    assert tied.predict(np.zeros((1, 4))) == ["no"]
    both = SubgradientMachine("weston_watkins", C=0.1, random_state=0).fit(X, y)
    np.testing.assert_allclose(both.coef_, model.coef_, rtol=1e-12)


@pytest.mark.compiler
def test_the_stopping_rule():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    result = SubgradientMachine(C=0.01, tol=0.02, max_iter=1000, random_state=0).fit(X, y)
    assert result.converged_ is True
    assert result.certificate_.certifies(0.02)
    assert result.n_iter_ < 1000
    assert result.n_iter_ & (result.n_iter_ - 1) == 0
    assert result.certificate_.n_iter == result.n_iter_
    again = SubgradientMachine(C=0.01, max_iter=result.n_iter_, random_state=0).fit(X, y)
    np.testing.assert_allclose(again.coef_, result.coef_, rtol=1e-9, atol=1e-12)
    assert again.converged_ is None
    with pytest.warns(ConvergenceWarning, match=r"after 3 epochs the relative gap is .*, above tol=0.0001"):
        result = SubgradientMachine(tol=1e-4, max_iter=3, random_state=0).fit(X, y)
    assert result.converged_ is False


def test_a_certificate_that_is_of_no_use_is_said():
    """Without tol all epochs are made, and the gap need only be at most 1/2."""
    X, y = load_wine(return_X_y=True)
    model = SubgradientMachine(random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"after 100 epochs the relative gap is 1, above 1/2: scale the features, "
    ) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 100
    assert model.converged_ is False
    assert model.certificate_.gap > 0.99
    # what is advised helps: there is no warning, and no tol
    assert model.fit(scale(X), y).converged_ is None
    assert model.certificate_.gap < 0.5
    assert clone(model).set_params(C=1e-6).fit(X, y).converged_ is None
    # a tol of the user counts instead
    assert model.set_params(tol=0.7, C=0.01, max_iter=200).fit(scale(X), y).converged_ is True
    model.partial_fit(X, y)
    assert model.converged_ is None


@few_epochs
def test_order_and_seed():
    X, y, *_ = problem(0)
    result = [
        SubgradientMachine(shuffle=shuffle, replace=replace, random_state=seed, max_iter=3).fit(X, y).coef_
        for shuffle, replace, seed in (
            (True, False, 0),
            (True, False, 0),
            (True, False, 1),
            (False, False, 0),
            (False, False, 1),
            (True, True, 0),
            (False, True, 0),
        )
    ]
    for one, other, same in ((0, 1, True), (0, 2, False), (3, 4, True), (0, 5, False), (5, 6, True)):
        assert np.array_equal(result[one], result[other]) is same


@pytest.mark.compiler
def test_memory_is_that_of_the_entries_and_of_some_copies_of_w():
    m, d, k = 4000, 50_000, 5
    rng = np.random.default_rng(0)
    places = rng.integers(m, size=50 * m), rng.integers(d, size=50 * m)
    X = csr_array((rng.random(50 * m), places), shape=(m, d))
    y = rng.integers(k, size=m)
    model = SubgradientMachine(C=0.01, max_iter=2, random_state=0).fit(X[:100], y[:100])
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.data.nbytes + X.indices.nbytes + 10 * 8 * k * (d + 1) + 50 * m * k
    assert peak < m * d  # an eighth of the dense matrix


def test_compiled_and_python_agree():
    X, y, *_ = problem(3)
    k = 4
    rng = np.random.default_rng(0)
    table = csr_array(X)
    order = rng.permutation(17)
    for every, rising, mode, mapped in product([False, True], [False, True], [0, 1, 2], [False, True]):
        B = rng.normal(size=(k, 3))
        similar = B @ B.T if mapped else np.empty((0, 0))
        results = []
        for kernel, data in (
            (jit.dense, (X,)),
            (jit.dense.py_func, (X,)),
            (jit.sparse, (table.data, table.indices, table.indptr)),
            (jit.sparse.py_func, (table.data, table.indices, table.indptr)),
        ):
            state = [np.zeros((4, k)), np.zeros((4, k)), np.zeros(k), np.zeros(k), np.zeros((17, k))]
            result = kernel(
                *data,
                y,
                np.ones(17),
                1 - np.eye(k),
                similar,
                order,
                every,
                rising,
                True,
                mode,
                2.0,
                3,
                3,
                0.0,
                *state,
            )
            results.append(np.concatenate([result, *map(np.ravel, state)]))
        for other in results[1:]:
            np.testing.assert_allclose(other, results[0], rtol=1e-9, atol=1e-11)
    scores = np.array([0.0, 0.5, 0.5, -2.0])
    for function in (jit.active, jit.active.py_func):
        who, by = np.empty(4, np.intp), np.empty(4)
        assert function(scores, 0, 1 - np.eye(4), False, who, by) == (2, 1.0)
        assert who[:2].tolist() == [1, 0]  # of two largest gaps that of the smallest class
        assert function(scores, 0, 1 - np.eye(4), True, who, by) == (3, 2.0)
        assert (who[:3].tolist(), by[:3].tolist()) == ([1, 2, 0], [1.0, 1.0, -2.0])
        assert function(scores, 1, np.zeros((4, 4)), True, who, by) == (0, 0.0)
    similar, shares = np.arange(16.0).reshape(4, 4), np.empty(4)
    who, by, others = np.array([1, 0]), np.array([1.0, -1.0]), np.empty(4, np.intp)
    assert jit.share.py_func(similar, who, by, 2, others, shares) == 4
    np.testing.assert_array_equal(shares, similar @ [-1, 1, 0, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "log"}, "loss must be one of .* found 'log'"),
        ({"C": 0}, "C must be a positive, finite number, found 0"),
        ({"C": True}, "C must be a positive, finite number, found True"),
        ({"alpha": np.inf}, "alpha must be None or a positive, finite number, found inf"),
        ({"average": "half"}, "average must be 'tail', 'all', 'weighted' or None, found 'half'"),
        ({"fit_intercept": "yes"}, "fit_intercept must be .* found 'yes'"),
        ({"max_iter": 0}, "max_iter must be an integer, at least 1, found 0"),
        ({"max_iter": 1.5}, "max_iter must be an integer, at least 1, found 1.5"),
        ({"tol": -1}, "tol must be None or a positive, finite number, found -1"),
        ({"delay": -1}, "delay must be 'radius' or an integer, at least 0, found -1"),
        ({"delay": 0.5}, "delay must be 'radius' or an integer, at least 0, found 0.5"),
        ({"delay": True}, "delay must be 'radius' or an integer, at least 0, found True"),
        ({"warm_start": 1}, "warm_start must be True or False, found 1"),
        ({"class_map": np.eye(2)}, "class_map must be a ClassMap, found"),
        ({"class_map": ClassMap.block(3)}, "each of the 2 classes, found 3"),
        ({"cost": np.zeros((3, 3))}, r"each of the 2 classes, found shape \(3, 3\)"),
        ({"shuffle": None}, "shuffle must be True or False, found None"),
        ({"replace": 1}, "replace must be True or False, found 1"),
        ({"class_weight": {0: -1.0}}, "class_weight must be numbers, at least 0, found"),
        ({"class_weight": {0: 0.0, 1: 0.0}}, "must not be zero for a whole class"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SubgradientMachine(**options).fit([[0.0], [1.0]], [0, 1])


def test_what_else_is_refused():
    with pytest.raises(ValueError, match=r"y must have at least 2 classes, found 1 class: \['a'\]"):
        SubgradientMachine().fit([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        SubgradientMachine().partial_fit([[1.0]], [0])
    with pytest.raises(ValueError, match=r"classes must be at least 2 classes, found \[0\]"):
        SubgradientMachine().partial_fit([[1.0]], [0], classes=[0])
    with pytest.raises(ValueError, match="'balanced' needs all examples"):
        SubgradientMachine(class_weight="balanced").partial_fit([[1.0]], [0], classes=[0, 1])
    model = SubgradientMachine().partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"y has labels that are not among the classes: \['c'\]"):
        model.partial_fit([[1.0]], ["c"])
    for name, options in (
        ("steps", {"steps": 0}),
        ("lam", {"lam": 0.0}),
        ("radius", {"radius": -1}),
        ("largest_weight", {"largest_weight": np.inf}),
        ("average", {"average": "last"}),
        ("loss", {"loss": "log"}),
        ("k", {"k": 1}),
    ):
        with pytest.raises(ValueError, match=f"{name} must be"):
            rate(**({"steps": 10, "lam": 1.0, "radius": 1.0, "k": 3} | options))


def test_what_weighs_nothing_is_not_visited():
    model = SubgradientMachine(class_weight={"a": 0.0, "b": 1.0}, random_state=0)
    model.partial_fit([[1.0]], ["a"], classes=["a", "b"])
    assert model.t_ == 0
    np.testing.assert_array_equal(model.coef_, np.zeros((2, 1)))
    model.partial_fit([[1.0], [-1.0], [7.0]], ["b", "a", "b"], sample_weight=[1.0, 1.0, 0.0])
    assert model.t_ == 1
    before = model.coef_.copy()
    model.partial_fit([[7.0]], ["a"])
    np.testing.assert_array_equal(model.coef_, before)


# ---------------------------------------------------------------------------------------------------
# Batches


def in_batches(X, y, weights=None, sizes=7):
    cuts = np.array_split(np.arange(len(y)), sizes)
    return [(X[i], y[i]) if weights is None else (X[i], y[i], weights[i]) for i in cuts]


@few_epochs
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("loss", hinge.HINGES)
def test_batches_end_where_all_examples_at_once_do(loss, average, form, mapped):
    for trial in range(4):
        X, y, cost, weights, class_map = problem(trial, mapped)
        model = SubgradientMachine(
            loss,
            C=0.3,
            cost=cost,
            average=average,
            class_map=class_map,
            max_iter=6,
            delay=("radius", 3)[trial % 2],
            class_weight=(None, "balanced", {"d": 2.0})[trial % 3],
            fit_intercept=trial < 3,
            shuffle=False,
        )
        named = np.array(["d", "c", "b", "a"])[y]  # the first batch has not the first class
        alone = clone(model).fit(form(X), named, weights)
        parts = clone(model).fit_batches(in_batches(form(X), named, weights))
        assert parts.classes_.tolist() == alone.classes_.tolist()
        assert (parts.t_, parts.n_iter_, parts.lambda_) == (alone.t_, alone.n_iter_, alone.lambda_)
        np.testing.assert_allclose(parts.coef_, alone.coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(parts.intercept_, alone.intercept_, rtol=1e-9, atol=1e-11)
        for name in ("primal", "dual"):
            found, expected = (getattr(one.certificate_, name) for one in (parts, alone))
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert parts.objective_ == parts.certificate_.primal


def test_batches_in_random_order_reach_the_optimum_and_stop_there():
    X, y = load_wine(return_X_y=True)
    batches = in_batches(scale(X).astype(np.float32), y)
    model = SubgradientMachine(C=0.01, max_iter=4000, tol=0.01, random_state=0).fit_batches(batches)
    alone = SubgradientMachine(C=0.01, max_iter=4000, tol=1e-3, random_state=0).fit(scale(X), y)
    assert model.converged_
    assert model.n_iter_ < 4000
    # two intervals for one optimum
    assert model.certificate_.dual <= alone.certificate_.primal * (1 + 1e-6)
    assert alone.certificate_.dual <= model.certificate_.primal * (1 + 1e-6)
    with pytest.warns(ConvergenceWarning, match="after 1 epochs the relative gap"):
        SubgradientMachine(C=100.0, max_iter=1, tol=1e-6).fit_batches(batches)


class Changing:
    """Batches that are others from some pass on."""

    def __init__(self, batches, change, passes=1):
        self.batches, self.change, self.passes = batches, change, passes

    def __iter__(self):
        self.passes -= 1
        return iter(self.batches if self.passes >= 0 else self.change(self.batches))


@few_epochs
def test_batches_must_stay_the_same():
    X, y, *_ = problem(1)
    batches, model = in_batches(X, y), SubgradientMachine(max_iter=2)
    for change, words in (
        (lambda b: b[:-1], "found 7 of them in the first pass, and then 6"),
        (lambda b: [*b, b[0]], r"found another batch 7 \(counted from 0\)"),
        (lambda b: [b[1], b[0], *b[2:]], "found another batch 0"),
        (lambda b: [*b[:2], (2 * b[2][0], b[2][1]), *b[3:]], "found another batch 2"),
        (lambda b: [*b[:2], (b[2][0], (b[2][1] + 1) % 4), *b[3:]], "found another batch 2"),
        (lambda b: [*b[:2], (*b[2], np.full(len(b[2][1]), 2.0)), *b[3:]], "found another batch 2"),
    ):
        for passes in (1, 2, 3):  # in an epoch, and in the certificate
            with pytest.raises(ValueError, match=f"batches must be the same in every pass, .*{words}"):
                model.fit_batches(Changing(batches, change, passes))
    model.fit_batches(Changing(batches, lambda b: b[:-1], 4))  # count, two epochs, a certificate


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        (3, "batches must be what can be read several times, .*found 3"),
        (iter([]), "batches must be what can be read several times"),
        ([], "at least one batch, found none"),
        (np.eye(3), "found ndarray in batch 0"),
        ([([[1.0]], [0]), [1.0]], "found list in batch 1"),
        ([([[1.0]], [0])], "at least 2 classes, found 1 class"),
        ([([[1.0]], [0]), ([[1.0, 2.0]], [1])], "2 features, but SubgradientMachine is expecting 1"),
        ([([[1.0]], [0]), ([[np.nan]], [1])], "NaN"),
        ([([[1.0]], [0]), ([[1e200]], [1])], "X must be scaled"),
        ([([[1.0]], [0]), ([[1.0]], [1], [0.0])], r"zero for a whole class, found it zero for \[1\]"),
        ([([[1.0]], [0.5]), ([[1.0]], [1])], "Unknown label type"),
    ],
)
def test_what_is_no_batch_is_refused(batches, words):
    with pytest.raises(ValueError, match=words):
        SubgradientMachine().fit_batches(batches)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replace": True}, "replace must be False for fit_batches"),
        ({"warm_start": True}, "warm_start must be False for fit_batches"),
        ({"fit_intercept": "free"}, "must be 'appended', True or False for fit_batches, found 'free'"),
        ({"class_weight": {0: 1.0, 1: 0.0}}, r"zero for a whole class, found it zero for \[1\]"),
        ({"C": -1.0}, "C must be a positive"),
    ],
)
def test_what_batches_cannot_do_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        SubgradientMachine(**options).fit_batches([([[1.0], [2.0]], [0, 1])])


LARGER_THAN_MEMORY = """
import re, resource, sys, warnings
import numpy as np
from mcutils.subgradient import SubgradientMachine

path, allowed = sys.argv[1], int(sys.argv[2])
m, d, k, size = 2_000_000, 100, 5, 20_000

def peak():  # in MB; in getrusage the memory of the process that started this one counts too
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024

class OnDisk:
    def __iter__(self):
        for start in range(0, m, size):
            rows = slice(start, start + size)
            yield np.load(path, mmap_mode="r")[rows], labels[rows]

rng = np.random.default_rng(0)
block, labels = rng.normal(size=(size, d)).astype(np.float32), np.tile(np.arange(size) % k, m // size)
block[:, :k] += 2 * np.eye(k, dtype=np.float32)[labels[:size]]
table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(m, d))
del table
with open(path, "r+b") as file:
    file.seek(-4 * m * d, 2)
    for _ in range(m // size):
        block.tofile(file)
warnings.simplefilter("ignore")  # of the gap, after one epoch
model = SubgradientMachine(C=1e-6, max_iter=1, random_state=0)
model.fit_batches([(block, labels[:size])])  # all loops are compiled
before = peak()
resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
try:
    model.fit(np.load(path, mmap_mode="r"), labels)
    sys.exit("the limit lets the table in")
except MemoryError:
    pass
model.fit_batches(OnDisk())
print(model.t_, model.certificate_.gap, peak() - before)
"""


@pytest.mark.ci
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what a process allocates")
@pytest.mark.once
def test_a_table_larger_than_memory_is_learnt_from(tmp_path):
    table = tmp_path / "X.npy"
    try:
        done = subprocess.run(
            [sys.executable, "-c", LARGER_THAN_MEMORY, str(table), str(600 << 20)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        assert table.stat().st_size > 800_000_000
    finally:
        table.unlink(missing_ok=True)
    assert done.returncode == 0, done.stderr
    steps, gap, more = map(float, done.stdout.split())
    assert steps == 2_000_000
    assert gap < 0.2
    assert more < 100, "MB"
