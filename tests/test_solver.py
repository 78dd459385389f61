"""One optimum, whoever finds it: three solvers, peers, and certificates that need no trust."""

import os
import pickle
import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from mcutils import _rows, dual, kernel
from mcutils.hinge import HingeProblem, _problem
from mcutils.jit import multiclass as jit
from mcutils.solver import (
    CrammerSinger,
    WestonWatkins,
    _ascent,
    _joint,
    solve_block,
    solve_interior,
    solve_qp,
)

CLASSIFIERS = {"crammer_singer": CrammerSinger, "weston_watkins": WestonWatkins}
SOLVERS = {"block": solve_block, "interior": solve_interior, "qp": solve_qp}


def sample(trial, m=24, k=4, d=3):
    """Points of every class, costs and weights, zeros among all of them."""
    rng = np.random.default_rng(trial)
    y = np.r_[np.arange(k), rng.integers(k, size=m - k)]
    X = rng.normal(size=(m, d)) * (rng.uniform(size=(m, d)) < 0.8) + 0.7 * rng.normal(size=(k, d))[y]
    cost = rng.integers(0, 5, size=(k, k)) / 2 * (1 - np.eye(k)) if trial % 2 else None
    weights = rng.integers(0, 4, size=m) / 2 + (np.arange(m) < k) if trial % 3 else None
    return X, y, cost, weights


# -- the five points ---------------------------------------------------------------------------

FIVE = np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 99.0]])
OF_FIVE = [0, 1, 2, 2, 2]
KNOWN = [
    # loss, C, objective, W
    ("crammer_singer", 1.0, 7 / 12, [[-1 / 2, -1 / 3], [1 / 2, -1 / 3], [0, 2 / 3]]),
    ("weston_watkins", 1.0, 7 / 12, [[-1 / 2, -1 / 3], [1 / 2, -1 / 3], [0, 2 / 3]]),
    ("crammer_singer", 0.25, 11 / 24, None),
    ("weston_watkins", 0.25, 9 / 16, None),
]


@pytest.mark.parametrize(("loss", "C", "objective", "W"), KNOWN)
def test_the_five_points_of_shark(loss, C, objective, W):
    """Their exact solution is that of the tests of the library Shark."""
    for name in ("linear", "precomputed"):
        inputs = FIVE if name == "linear" else FIVE @ FIVE.T
        model = CLASSIFIERS[loss](
            C=C, kernel=name, fit_intercept=False, tol=1e-13, store_multipliers=True
        ).fit(inputs, OF_FIVE)
        assert model.certificate_.primal == pytest.approx(objective, abs=1e-12)
        assert model.certificate_.dual == pytest.approx(objective, abs=1e-12)
        if W is not None:
            np.testing.assert_allclose(model.beta_.T @ FIVE, W, atol=1e-9)
            if name == "linear":
                np.testing.assert_allclose(model.coef_, W, atol=1e-9)
    for solve in (solve_interior, solve_qp):
        result = solve(FIVE @ FIVE.T, HingeProblem(OF_FIVE, loss=loss, C=C))
        assert result.certificate.primal == pytest.approx(objective, rel=1e-8)
        assert result.certificate.dual == pytest.approx(objective, rel=1e-8)


# -- steps -------------------------------------------------------------------------------------


def best_row(appeal, beta, true, penalty, curvature, every):
    """The best row by cvxopt."""
    from cvxopt import matrix, solvers

    k = len(beta)
    others = np.arange(k) != true
    G, h = np.eye(k), np.where(others, 0.0, penalty)
    if every:
        G, h = np.vstack([np.eye(k)[others], -np.eye(k)[others]]), np.repeat([0.0, penalty], k - 1)
    given = curvature * np.eye(k), appeal - curvature * beta, G, h, np.ones((1, k)), np.zeros(1)
    quiet = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-13, "feastol": 1e-13}
    return np.array(solvers.qp(*map(matrix, given), options=quiet)["x"])[:, 0]


@pytest.mark.parametrize("every", [False, True])
def test_a_step_finds_the_best_row(every):
    rng = np.random.default_rng(0)
    step = jit.box_step if every else jit.simplex_step
    for k, _ in product((2, 3, 7), range(20)):
        true, penalty, curvature = int(rng.integers(k)), rng.uniform(0.1, 2), rng.uniform(0.1, 2)
        others = np.arange(k) != true
        multipliers = rng.uniform(size=k) * (rng.uniform(size=k) < 0.6) * others
        multipliers *= penalty / (1 if every else max(1.0, multipliers.sum()))
        beta = np.where(others, -multipliers, multipliers.sum())
        appeal, moved = rng.normal(size=k), np.empty(k)
        step(appeal, beta, true, penalty, curvature, moved)
        np.testing.assert_allclose(moved, best_row(appeal, beta, true, penalty, curvature, every), atol=1e-7)
        assert abs(moved.sum()) < 1e-14
        assert (moved[others] <= 0).all()
        assert (moved[others].min() if every else -moved[true]) >= -penalty
        # it is the last step of this row
        after = appeal + curvature * (moved - beta)
        assert jit.violation(after, moved, true, penalty, every) < 1e-12
        # and the Python form gives the same
        again = np.empty(k)
        step.py_func(appeal, beta, true, penalty, curvature, again)
        np.testing.assert_allclose(again, moved, rtol=1e-13, atol=1e-15)


def test_a_step_of_the_two_classes_that_remain():
    rng = np.random.default_rng(1)
    met = set()
    for true, _ in product((-1, 0, 1), range(60)):
        penalty, curvature = rng.uniform(0.1, 2), rng.uniform(0.1, 2)
        share = penalty * rng.uniform()
        # of the true class and another, or of two others when that of the true class is C
        beta = np.array([-share, share - penalty] if true < 0 else [share, -share])
        beta = beta[::-1].copy() if true == 1 else beta
        appeal, moved, expected = rng.normal(size=2), np.empty(2), np.empty(2)
        jit.pair_step(appeal, beta, true, penalty, curvature, moved)
        jit.simplex_step(appeal, beta, true, penalty, curvature, expected)
        np.testing.assert_allclose(moved, expected, atol=1e-13)
        caps = np.array([penalty if r == true else 0.0 for r in range(2)])
        assert (moved <= caps).all()
        met.add((true, int((moved == caps).sum())))
        jit.pair_step.py_func(appeal, beta, true, penalty, curvature, expected)
        np.testing.assert_allclose(moved, expected, atol=1e-14)
    # each with a class at its cap, and with none
    assert {(true, n) for true in (-1, 0, 1) for n in (0, 1)} <= met


def test_a_step_of_an_example_without_curvature():
    moved = np.empty(3)
    jit.simplex_step(np.array([0.0, 2.0, 1.0]), np.zeros(3), 0, 0.5, 0.0, moved)
    assert moved.tolist() == [0.5, -0.5, 0.0]
    jit.simplex_step(np.array([3.0, 2.0, 1.0]), np.zeros(3), 0, 0.5, 0.0, moved)
    assert moved.tolist() == [0.0, 0.0, 0.0]
    jit.box_step(np.array([0.0, 2.0, -1.0]), np.zeros(3), 0, 0.5, 0.0, moved)
    assert moved.tolist() == [0.5, -0.5, 0.0]


# -- one optimum -------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_three_solvers_find_one_optimum(loss):
    for trial in range(6):
        X, y, cost, weights = sample(trial)
        gram = kernel.rbf(0.3).gram(X) if trial % 2 else X @ X.T
        task = HingeProblem(y, loss=loss, C=0.7, cost=cost, sample_weight=weights)
        result = {name: solve(gram, task, tol=1e-8) for name, solve in SOLVERS.items()}
        values = [one.certificate.primal for one in result.values()]
        assert max(values) - min(values) <= 1e-7 * max(values)
        for one in result.values():
            assert one.converged
            assert one.certificate.gap <= 1e-8
            # the certificate is what mcutils.dual makes of the multipliers
            same = dual.certify(one.multipliers, gram, task)
            assert same.primal == pytest.approx(one.certificate.primal, rel=1e-12)
            assert same.dual == pytest.approx(one.certificate.dual, rel=1e-12)
            assert set(same.kkt) == set(one.certificate.kkt)
            A = one.multipliers.copy()
            own = A[np.arange(len(y)), y].copy()
            A[np.arange(len(y)), y] = 0.0
            np.testing.assert_allclose(own, A.sum(axis=1), rtol=1e-12, atol=1e-300)
        scores = [gram @ dual.coefficients(one.multipliers, y) for one in result.values()]
        for table in scores[1:]:
            np.testing.assert_allclose(table, scores[0], atol=2e-3)


@pytest.mark.parametrize("name", SOLVERS)
def test_without_weights_there_is_nothing_to_pay(name):
    result = SOLVERS[name](np.eye(2), HingeProblem([0, 1], sample_weight=[0, 0]))
    assert result.converged
    assert not result.multipliers.any()
    assert str((result.certificate.primal, result.certificate.dual)) == "(0.0, 0.0)"  # no negative zeros


# LIBLINEAR through scikit-learn 1.6 reports an arbitrary number of iterations, and so may warn
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_optimum_is_that_of_liblinear(C):
    X, y = load_iris(return_X_y=True)
    for points in (scale(X), np.column_stack([scale(X), np.ones(len(X))])):
        peer = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-10, max_iter=10**7)
        least = HingeProblem(y, C=C).objective(peer.fit(points, y).coef_, points)
        model = CrammerSinger(C=C, fit_intercept=False, tol=1e-8).fit(points, y)
        assert model.certificate_.primal == pytest.approx(least, rel=1e-6)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-3)
    appended = CrammerSinger(C=C, tol=1e-8).fit(scale(X), y)
    assert appended.certificate_.primal == pytest.approx(least, rel=1e-6)
    assert HingeProblem(y, C=C).objective(
        np.column_stack([appended.coef_, appended.intercept_]), points
    ) == pytest.approx(appended.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_two_classes_are_the_binary_classifier_with_twice_the_penalty(loss):
    X, y = load_iris(return_X_y=True)
    X, y = scale(X[50:]), y[50:]
    for name in ("linear", "rbf"):
        model = CLASSIFIERS[loss](C=0.4, kernel=name, gamma=0.3, fit_intercept=False, tol=1e-9).fit(X, y)
        # LinearSVC without bias, or SVC on the same kernel: scikit-learn's SVC has a bias, so the values are
        # compared with those of mcutils.binary, which has none
        from mcutils.binary import solve_svm

        gram = model.kernel_.gram(X)
        pair = solve_svm(gram, np.where(y == 2, 1, -1), C=0.8, fit_intercept=False, tol=1e-9)
        assert model.certificate_.primal == pytest.approx(pair.certificate.primal / 2, rel=1e-7)
        np.testing.assert_allclose(model.decision_function(X), pair.scores, atol=1e-3)
        assert model.scores(X).shape == (len(X), 2)
        assert set(model.predict(X)) == {1, 2}
    linear = LinearSVC(loss="hinge", C=0.8, fit_intercept=False, tol=1e-9, max_iter=10**6).fit(X, y)
    model = CLASSIFIERS[loss](C=0.4, fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_[1] - model.coef_[0], linear.coef_[0], atol=1e-3)


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
def test_a_bias_is_one_more_feature(loss, name):
    X, y, cost, weights = sample(1)
    options = {"kernel": name, "gamma": 0.5, "cost": cost, "tol": 1e-9, "store_multipliers": True}
    model = CLASSIFIERS[loss](C=0.5, **options).fit(X, y, weights)
    gram = model.kernel_.gram(X) + 1.0
    result = solve_qp(gram, HingeProblem(y, loss=loss, C=0.5, cost=cost, sample_weight=weights))
    assert model.certificate_.primal == pytest.approx(result.certificate.primal, rel=1e-7)
    np.testing.assert_allclose(model.scores(X), gram @ model.beta_, atol=1e-9)
    by_matrix = CLASSIFIERS[loss](C=0.5, **(options | {"kernel": "precomputed"}))
    by_matrix.fit(model.kernel_.gram(X), y, weights)
    np.testing.assert_allclose(by_matrix.scores(model.kernel_.gram(X)), model.scores(X), atol=1e-3)
    for other in ("interior", "qp"):
        same = clone(model).set_params(solver=other).fit(X, y, weights)
        assert same.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)
        np.testing.assert_allclose(same.scores(X), model.scores(X), atol=1e-3)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_fitted_attributes_belong_together(loss):
    X, y, cost, weights = sample(5, m=40)
    for name in ("linear", "rbf"):
        model = CLASSIFIERS[loss](C=0.5, kernel=name, cost=cost, tol=1e-6, store_multipliers=True)
        beta = model.fit(X, y, weights).beta_
        np.testing.assert_array_equal(model.dual_coef_, beta[model.support_].T)
        assert np.abs(beta.sum(axis=1)).max() <= 1e-12
        np.testing.assert_array_equal(model.support_, np.flatnonzero(beta.any(axis=1)))
        for r, indices in enumerate(model.support_of_class_):
            np.testing.assert_array_equal(indices, np.flatnonzero(beta[:, r]))
        gram = model.kernel_.gram(X) + 1.0
        multipliers = np.maximum(-beta, 0.0)
        same = dual.certify(
            multipliers, gram, HingeProblem(y, loss=loss, C=0.5, cost=cost, sample_weight=weights)
        )
        assert model.certificate_.primal == pytest.approx(same.primal, rel=1e-9)
        assert model.certificate_.dual == pytest.approx(same.dual, rel=1e-9)
        assert sorted(model.certificate_.kkt) == sorted(same.kkt)
        assert model.certificate_.kkt["complementarity"] < 1e-4
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.beta_, beta)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_a_linear_classifier_keeps_what_prediction_needs(loss):
    X, y, cost, weights = sample(5, m=400)
    model = CLASSIFIERS[loss](C=0.5, cost=cost, store_multipliers=True).fit(X, y, weights)
    with_multipliers = pickle.dumps(model)
    model.set_params(store_multipliers=False).fit(X, y, weights)
    assert len(pickle.dumps(model)) < 2000 + 16 * model.coef_.size < len(with_multipliers)
    for name in ("beta_", "dual_coef_", "support_of_class_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"no {name}: it was fitted without store_multipliers=True"):
            getattr(model, name)
        with pytest.raises(AttributeError, match=f"no {name}: it is not fitted"):
            getattr(clone(model), name)
    assert not hasattr(model, "support_")
    # what was kept for a warm start is kept as long as one may follow
    assert model.set_params(warm_start=True).fit(X, y, weights).fit(X, y, weights).n_iter_ == 1
    # nothing of one kernel is left with another
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y, weights), "coef_")
    assert not hasattr(model.set_params(kernel="linear").fit(X, y, weights), "support_vectors_")


def test_a_certificate_is_that_of_all_blocks(monkeypatch):
    """A large sample is taken in blocks."""
    X, y, cost, weights = sample(5, m=40)
    for loss in CLASSIFIERS:
        problem = HingeProblem(y, loss=loss, cost=cost, sample_weight=weights)
        beta = problem.coefficients(problem.nearest(np.random.default_rng(0).normal(size=(40, len(cost)))))
        one = problem.certificate(beta, X @ X.T @ beta)
        with monkeypatch.context() as patch:
            patch.setattr(_problem, "_ENTRIES", 7 * len(cost))
            same = problem.certificate(beta, X @ X.T @ beta)
        assert (same.primal, same.dual) == pytest.approx((one.primal, one.dual), rel=1e-12)
        assert same.kkt == pytest.approx(one.kkt, rel=1e-12)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_sparse_and_dense_are_one(loss):
    X, y, cost, weights = sample(2, m=60)
    for name in ("linear", "rbf", "poly"):
        model = CLASSIFIERS[loss](C=0.5, kernel=name, gamma=0.4, cost=cost, tol=1e-9).fit(X, y, weights)
        for form in (csr_array, csc_array, csr_matrix):
            other = clone(model).fit(form(X), y, weights)
            assert other.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-8)
            np.testing.assert_allclose(other.scores(form(X)), model.scores(X), atol=1e-3)
    twice = csr_array((np.ones(4), [0, 0, 1, 0], [0, 2, 3, 4]), shape=(3, 2))  # an entry in two parts
    parts = CLASSIFIERS[loss](tol=1e-9).fit(twice, [0, 1, 0])
    whole = CLASSIFIERS[loss](tol=1e-9).fit(twice.toarray(), [0, 1, 0])
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-9)
    assert twice.nnz == 4


# -- hard cases --------------------------------------------------------------------------------


def spread(every):
    """A problem with costs and weights for which no class is settled early; and its examples."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 4
    X = rng.normal(size=(300, 5)) + rng.normal(size=(4, 5))[y]
    cost = rng.uniform(0.5, 2, size=(4, 4)) * (1 - np.eye(4))
    loss = "weston_watkins" if every else "crammer_singer"
    return X, HingeProblem(y, loss=loss, C=3.0, cost=cost, sample_weight=rng.uniform(0, 2, size=300))


@pytest.mark.parametrize("every", [False, True])
def test_joint_steps_have_the_gradient_and_the_curvature_of_their_function(every):
    X, problem = spread(every)
    rng = np.random.default_rng(1)
    zero = np.zeros((300, 4))
    joint = _joint.Joint(X, problem, zero, (X**2).sum(axis=1), 10)
    W, way = rng.normal(size=(2, 4, 5))
    step = 1e-6
    here, before, after = (joint.at(V, X @ V.T) for V in (W, W - step * way, W + step * way))
    assert here.free.any()
    assert not here.free.all()
    assert (after.value - before.value) / (2 * step) == pytest.approx(np.vdot(here.gradient, way), rel=1e-6)
    hessian = np.zeros((4, 5, 4, 5))
    jit.add_curvature(X, here.free, joint.price, hessian)
    again = np.zeros_like(hessian)
    jit.add_curvature.py_func(X, here.free, joint.price, again)
    np.testing.assert_allclose(again, hessian, atol=1e-10)
    square = hessian.reshape(20, 20)
    square = np.tril(square) + np.tril(square, -1).T + np.eye(20)
    change = (after.gradient - before.gradient) / (2 * step)
    np.testing.assert_allclose((square @ way.ravel()).reshape(4, 5), change, rtol=1e-5, atol=1e-3)
    assert here.primal == pytest.approx(problem.objective(W, X))
    np.testing.assert_allclose(here.best.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("loss", ["crammer_singer", "weston_watkins"])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_joint_steps_and_passes_find_one_optimum(loss, tol, monkeypatch):
    X, problem = spread(loss == "weston_watkins")
    name = {"crammer_singer": CrammerSinger, "weston_watkins": WestonWatkins}[loss]
    values, visits = [], []
    for most in (0, _joint.MOST):
        monkeypatch.setattr(_ascent, "MOST", most)
        model = name(C=30.0, cost=problem.costs, tol=tol).fit(X, problem.labels)
        assert model.converged_
        assert model.certificate_.gap <= tol
        values.append(model.certificate_.primal)
        visits.append(model.n_iter_)
    assert values[0] == pytest.approx(values[1], rel=2 * tol)
    assert visits[1] < visits[0] / 2


def test_max_iter_bounds_joint_steps():
    X, problem = spread(False)
    for max_iter in range(10, 40, 3):
        with pytest.warns(ConvergenceWarning, match=f"after {max_iter} iterations"):
            model = CrammerSinger(C=30.0, tol=1e-14, max_iter=max_iter).fit(X, problem.labels)
        assert model.n_iter_ == max_iter


def test_joint_steps_with_a_wrong_curvature_are_certified_all_the_same(monkeypatch):
    X, problem = spread(False)
    called = []

    def wrong(X, free, nearness, hessian):
        called.append(1)
        hessian -= (
            2.0 * np.eye(hessian.shape[0] * hessian.shape[1]).reshape(hessian.shape) * (len(called) % 2)
        )

    monkeypatch.setattr(jit, "add_curvature", wrong)
    model = CrammerSinger(C=30.0, tol=1e-4).fit(X, problem.labels)
    assert called
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(
        HingeProblem(problem.labels, C=30.0).objective(
            np.column_stack([model.coef_, model.intercept_]), np.column_stack([X, np.ones(300)])
        )
    )


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("C", [1e-6, 1e3, 1e4, 1e6])
@pytest.mark.compiler
def test_tiny_and_huge_penalties(loss, C):
    """Few features and large C: single rows creep, and Newton's steps end it."""
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = CLASSIFIERS[loss](C=C, tol=1e-8).fit(X, y)
    assert model.converged_
    by_matrix = CLASSIFIERS[loss](C=C, kernel="precomputed", tol=1e-8).fit(X @ X.T, y)
    assert by_matrix.converged_
    assert by_matrix.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.compiler
@pytest.mark.once
def test_gram_matrices_of_low_rank_and_a_large_penalty(loss):
    for trial in range(3):
        rng = np.random.default_rng(trial)
        m, rank, k = 120, 2 + 3 * trial, 4
        X, y = rng.normal(size=(m, rank)), np.arange(m) % k
        X += 0.8 * rng.normal(size=(k, rank))[y]
        result = solve_block(X @ X.T, HingeProblem(y, loss=loss, C=1e4), tol=1e-7)
        assert result.converged
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = solve_interior(X @ X.T, HingeProblem(y, loss=loss, C=1e4))
        assert result.certificate.dual <= peer.certificate.primal
        assert result.certificate.primal >= peer.certificate.dual
        linear = CLASSIFIERS[loss](C=1e4, fit_intercept=False, tol=1e-7).fit(X, y)
        assert linear.certificate_.primal == pytest.approx(result.certificate.primal, rel=2e-7)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_duplicates_zeros_and_one_example_of_a_class(loss):
    X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])
    y = [0, 0, 1, 1, 2, 2]
    for C in (0.3, 5.0):
        best = solve_qp(X @ X.T, HingeProblem(y, loss=loss, C=C)).certificate.primal
        for name in ("linear", "precomputed"):
            inputs = X if name == "linear" else X @ X.T
            model = CLASSIFIERS[loss](C=C, kernel=name, fit_intercept=False, tol=1e-10).fit(inputs, y)
            assert model.certificate_.primal == pytest.approx(best, rel=1e-7)
    alone = CLASSIFIERS[loss](fit_intercept=False).fit([[1.0], [-1.0]], ["a", "b"])
    assert alone.predict([[2.0], [-2.0]]).tolist() == ["a", "b"]
    nothing = CLASSIFIERS[loss](C=2.0, fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 2, 2])
    assert nothing.certificate_.gap == 0
    assert nothing.certificate_.primal == 2.0 * 4 * (1 if loss == "crammer_singer" else 2)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_weighting_is_repeating(loss):
    X, y = load_iris(return_X_y=True)
    X, counts = scale(X), np.random.default_rng(0).integers(0, 4, size=150)
    for name in ("linear", "rbf"):
        model = CLASSIFIERS[loss](C=0.5, kernel=name, gamma=0.3, tol=1e-6)
        weighted = clone(model).set_params(store_multipliers=True).fit(X, y, counts)
        repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        for one, other in ((weighted, repeated), (repeated, weighted)):
            assert one.certificate_.gap <= 1e-6
            assert one.certificate_.dual <= other.certificate_.primal
        kept = counts > 0
        alone = clone(model).fit(X[kept], y[kept], counts[kept])
        assert alone.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=2e-6)
        assert not weighted.beta_[~kept].any()
    factors = {0: 1.0, 1: 3.0, 2: 0.5}
    by_class = CLASSIFIERS[loss](C=0.5, class_weight=factors, tol=1e-8).fit(X, y)
    same = CLASSIFIERS[loss](C=0.5, tol=1e-8).fit(X, y, [factors[label] for label in y])
    np.testing.assert_array_equal(by_class.coef_, same.coef_)
    balanced = CLASSIFIERS[loss](C=0.5, class_weight="balanced", tol=1e-8).fit(X[30:], y[30:])
    assert balanced.converged_


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.compiler
def test_a_path_of_penalties_goes_on_from_the_last_classifier(loss):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    for name in ("linear", "rbf"):
        path = CLASSIFIERS[loss](kernel=name, tol=1e-4, warm_start=True)
        for C in (0.5, 1.0, 0.9):
            path.set_params(C=C).fit(X, y)
            cold = clone(path).fit(X, y)
            assert path.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-4)
        # from the optimum itself there is nothing to do
        path.set_params(tol=2e-4).fit(X, y)
        assert path.n_iter_ == 1
        # other labels: from nothing
        path.fit(X[:300], y[:300])
        np.testing.assert_array_equal(path.beta_, clone(path).fit(X[:300], y[:300]).beta_)


def test_a_start_is_moved_into_its_bounds():
    X, y, cost, _ = sample(3)
    gram = X @ X.T
    large = solve_block(gram, HingeProblem(y, C=5.0, cost=cost), tol=1e-9)
    small = solve_block(gram, HingeProblem(y, C=0.1, cost=cost), tol=1e-9, initial=large.multipliers)
    best = solve_qp(gram, HingeProblem(y, C=0.1, cost=cost))
    assert small.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-7)


# -- the kernel rows ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.compiler
def test_rows_are_computed_as_they_are_touched(loss, monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    monkeypatch.setattr(_rows, "FIRST", 64)
    monkeypatch.setattr(_rows, "_MORE", 64)
    wide = CLASSIFIERS[loss](kernel="rbf", tol=1e-3).fit(X, y)
    # room for 200 rows only, fewer than there are support vectors
    narrow = CLASSIFIERS[loss](kernel="rbf", tol=1e-3, cache_size=200 * len(X) * 4 / 2**20).fit(X, y)
    assert len(narrow.support_) > 200
    for model in (wide, narrow):
        assert model.converged_
    assert narrow.certificate_.dual <= wide.certificate_.primal
    assert wide.certificate_.dual <= narrow.certificate_.primal


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "one", [kernel.rbf(0.3), kernel.polynomial(3, b=1.0), kernel.linear + 2.0 * kernel.rbf(0.1)]
)
def test_rows_and_scores_of_a_working_set_are_those_of_the_whole_matrix(one, sparse, monkeypatch):
    monkeypatch.setattr(_rows, "_NEAR", 1)
    monkeypatch.setattr(_rows, "BLOCK", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) + 5
    beta = rng.normal(size=(400, 4)) * (rng.uniform(size=400) < 0.6)[:, None]
    whole = one.gram(X) + 1.0
    part = _rows.WorkingSet(one, csr_array(X) if sparse else X, 1.0, np.float64, room=64)
    np.testing.assert_allclose(part.product(beta), whole @ beta, rtol=1e-10, atol=1e-12 * whole.max())
    chosen = np.r_[3:140, 300, 299]
    part.take(chosen, np.zeros(400))
    np.testing.assert_allclose(part.rows[part.places[chosen]], whole[chosen], rtol=1e-10)
    assert not part.product(np.zeros((400, 4))).any()


@pytest.fixture
def moves_alone(monkeypatch):
    """How often an example was moved while the others waited, a number for each block; checks all scores."""
    moves, move = [], _ascent._Block.move

    def counting(block, violated, before, enough, most, beta, scores, upper, lower):
        moves.append(move(block, violated, before, enough, most, beta, scores, upper, lower))
        np.testing.assert_allclose(scores.T, block.gram.product(beta), rtol=1e-3, atol=1e-3)
        return moves[-1]

    monkeypatch.setattr(_ascent._Block, "move", counting)
    return moves


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.compiler
def test_examples_that_move_alone_reach_the_same_optimum(loss, precision, moves_alone, monkeypatch):
    X, y = three_heaps(1200)
    model = CLASSIFIERS[loss](C=10, kernel="rbf", tol=1e-3, precision=precision)
    alone = clone(model).fit(X, y)
    assert sum(moves_alone) > 0
    monkeypatch.setattr(_ascent, "_FEW", 0)
    moves_alone.clear()
    together = model.fit(X, y)
    assert sum(moves_alone) == 0
    assert alone.converged_
    assert together.converged_
    assert alone.certificate_.dual <= together.certificate_.primal
    assert together.certificate_.dual <= alone.certificate_.primal


@pytest.mark.compiler
def test_what_is_wrong_with_the_scores_of_the_others_does_not_reach_the_certificate(monkeypatch):
    move = _ascent._Block.move

    def spoiling(self, violated, before, enough, most, beta, scores, upper, lower):
        moved = move(self, violated, before, enough, most, beta, scores, upper, lower)
        scores *= 1 + 0.1 * (moved > 0)
        return moved

    monkeypatch.setattr(_ascent._Block, "move", spoiling)
    X, y = three_heaps(1200)
    model = CrammerSinger(C=10, kernel="rbf", fit_intercept=False, tol=1e-3, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    true = HingeProblem(y, C=10).certificate(model.beta_, model.kernel_.gram(X) @ model.beta_)
    assert model.certificate_.primal == pytest.approx(true.primal, rel=1e-9)
    assert model.certificate_.dual == pytest.approx(true.dual, rel=1e-9)
    assert model.converged_ == (true.gap <= 1e-3)


def counted(monkeypatch, most):
    """Count the rows that are computed, and refuse more than this: an endless loop would never be seen."""
    rows = [0]
    take = _rows.WorkingSet.take

    def counting(self, new, violated):
        rows[0] += len(new)
        assert rows[0] <= most, "rows of the Gram matrix are exchanged for ever"
        take(self, new, violated)

    monkeypatch.setattr(_rows.WorkingSet, "take", counting)
    return rows


def three_heaps(m=5200):
    y = np.arange(m) % 3
    return np.random.default_rng(0).normal(size=(m, 2)) + 4 * np.c_[y == 1, y == 2], y


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.compiler
def test_a_cache_of_a_tenth_of_the_rows_is_enough(loss, precision, monkeypatch):
    """The rest has 9/10 of the gap before anything has moved: no reason to exchange rows."""
    rows = counted(monkeypatch, 5200)
    X, y = three_heaps()
    model = CLASSIFIERS[loss](kernel="rbf", cache_size=1, precision=precision).fit(X, y)
    assert model.converged_
    assert rows[0] > 512  # some were exchanged
    wide = CLASSIFIERS[loss](kernel="rbf").fit(X, y)
    assert model.certificate_.dual <= wide.certificate_.primal
    assert wide.certificate_.dual <= model.certificate_.primal


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.compiler
def test_max_iter_bounds_moves_and_exchanges(loss, monkeypatch):
    """max_iter times m visits, the last sweep or exchange excepted, however small the cache."""
    X, y = three_heaps(1200)
    monkeypatch.setattr(_rows, "FIRST", 64)
    for C, max_iter in product((1.0, 1e8), (1, 3)):
        with monkeypatch.context() as patch:
            rows = counted(patch, 64 + max_iter * len(X) + 64)
            model = CLASSIFIERS[loss](C=C, kernel="rbf", cache_size=1e-3, max_iter=max_iter, tol=1e-7)
            with pytest.warns(ConvergenceWarning, match=r"the relative gap of primal and dual is \d"):
                model.fit(X, y)
        assert rows[0] > 64
        assert max_iter <= model.n_iter_ <= max_iter + 1
        assert not model.converged_


def awkward(name, m=300):
    """Samples that leave a working set little to do, or very much."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, 2)), np.arange(m) % 3
    if name == "one row":
        X[:] = 1.0
    if name == "duplicates":
        X = rng.integers(2, size=(m, 2)).astype(float)
    if name == "one class":
        y = np.where(np.arange(m) < 4, 1 + np.arange(m) % 2, 0)
    if name == "one far away":
        X[0] = 1e6
    return X, y


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("name", ["one row", "duplicates", "one class", "one far away", "noise"])
@pytest.mark.compiler
def test_awkward_samples_and_a_tiny_cache(loss, name, monkeypatch):
    X, y = awkward(name)
    wide = CLASSIFIERS[loss](C=0.1, kernel="rbf", tol=1e-3).fit(X, y)
    monkeypatch.setattr(_rows, "FIRST", 16)
    narrow = CLASSIFIERS[loss](C=0.1, kernel="rbf", cache_size=1e-3, tol=1e-3)
    with monkeypatch.context() as patch:
        counted(patch, 100 * len(X))
        narrow.fit(X, y)
    assert narrow.converged_
    assert narrow.certificate_.primal == pytest.approx(wide.certificate_.primal, rel=2e-3)
    # with a penalty that none of them can pay it ends, with a warning
    counted(monkeypatch, 7 * len(X))
    with pytest.warns(ConvergenceWarning, match="not solved to tol"):
        narrow.set_params(C=1e9, max_iter=5).fit(X, y)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_precision(precision):
    """The certificate is in double precision, and where single cannot reach the gap, double goes on."""
    X, y = load_iris(return_X_y=True)
    model = CrammerSinger(kernel="rbf", precision=precision, tol=1e-9).fit(X, y)
    assert model.converged_
    gram = model.kernel_.gram(X) + 1
    best = solve_qp(gram, y).certificate
    assert model.certificate_.primal == pytest.approx(best.primal, rel=1e-8)
    assert model.certificate_.dual == pytest.approx(best.dual, rel=1e-8)


@pytest.mark.skipif(os.name == "nt", reason="there a process does not say how much memory it took")
@pytest.mark.once
def test_the_memory_of_ten_thousand_examples():
    """A whole Gram matrix would take 800 MB, and the textbook's program 80 GB."""
    # the parent's memory counts in getrusage on Linux, but not in VmHWM
    program = (
        "import resource, sys; from pathlib import Path; from sklearn.datasets import make_classification;"
        "from mcutils.solver import CrammerSinger;"
        "X, y = make_classification(10_000, 20, n_informative=12, n_classes=10, n_clusters_per_class=1,"
        " class_sep=1.5, random_state=0);"
        "assert CrammerSinger(kernel='rbf', tol=1e-2).fit(X, y).converged_;"
        "status = Path('/proc/self/status');"
        "said = [line.split()[1] for line in status.read_text().splitlines() if line.startswith('VmHWM')]"
        " if status.exists() else [];"
        "unit = 1024 if sys.platform == 'darwin' else 1;"
        "print(said[0] if said else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit)"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert int(run.stdout) < 2**20  # KiB


# -- what is said ------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.compiler
def test_an_svm_that_is_not_solved_warns_how_far_it_is(loss, name):
    X, y = load_digits(return_X_y=True)
    model = CLASSIFIERS[loss](C=10.0, kernel=name, tol=1e-9, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"after 1 iterations the relative gap .* is 0\.\d+|e-\d+"):
        model.fit(X, y)
    assert not model.converged_
    assert model.certificate_.gap > 1e-9
    with pytest.warns(ConvergenceWarning, match="not solved to tol=1e-09"):
        solve_block(X @ X.T, HingeProblem(y, loss=loss), max_iter=1, tol=1e-9)


BAD = [
    ({"C": 0.0}, "C must be a positive, finite number, found 0.0"),
    ({"C": -1}, "C must be"),
    ({"C": np.inf}, "C must be"),
    ({"C": True}, "C must be"),
    ({"cost": [[0, 1], [1, 0]]}, "cost must have a row and a column for each of the 3 classes"),
    ({"cost": [[1, 1, 1], [1, 0, 1], [1, 1, 0]]}, "cost of a right prediction must be 0"),
    ({"cost": [[0, -1, 1], [1, 0, 1], [1, 1, 0]]}, "cost must be finite and not negative"),
    ({"solver": "simplex"}, "solver must be one of 'block', 'interior', 'qp', found 'simplex'"),
    ({"kernel": "sigmoid"}, "kernel must be"),
    ({"fit_intercept": "free"}, "fit_intercept must be 'appended', True or False, found 'free'"),
    ({"precision": "half"}, "precision must be"),
    ({"tol": 0}, "tol must be a positive"),
    ({"max_iter": 0}, "max_iter must be an integer, at least 1"),
    ({"cache_size": 0}, "cache_size must be a positive number of MiB"),
    ({"class_weight": {0: -1.0}}, "class_weight must be numbers, at least 0"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_bad_parameters_are_refused_by_name(parameters, message):
    X, y = load_iris(return_X_y=True)
    for model in (CrammerSinger, WestonWatkins):
        with pytest.raises(ValueError, match=message):
            model(**parameters).fit(X, y)


def test_bad_inputs_are_refused_by_name():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="NaN"):
        CrammerSinger().fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="y must have at least 2 classes, found 1 class"):
        CrammerSinger().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="must not be zero for a whole class"):
        CrammerSinger(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    with pytest.raises(ValueError, match="must not be zero for all examples"):
        CrammerSinger().fit(X, y, np.zeros(150))
    gram = X @ X.T
    precomputed = CrammerSinger(kernel="precomputed")
    with pytest.raises(ValueError, match="square"):
        precomputed.fit(X, y)
    skew = gram.copy()
    skew[3, 5] += 1.0
    with pytest.raises(ValueError, match=r"entry \(3, 5\).*is not that of its mirror"):
        precomputed.fit(skew, y)
    with pytest.raises(ValueError, match=r"its entry \(41, 41\), counted from 0, is -"):
        precomputed.fit(gram - 1000 * np.eye(150), y)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_negative_curvature_is_refused_where_it_is_met(loss):
    # no pair of rows shows it: an eigenvalue of 1 - 2 * 0.7 along the sum
    bad = np.full((3, 3), -0.7)
    np.fill_diagonal(bad, 1.0)
    gram, y = np.kron(np.eye(10), bad), np.arange(30) % 3 * 0 + np.repeat(np.arange(10), 3) % 2
    with pytest.raises(ValueError, match="kernel must be positive semidefinite"):
        CLASSIFIERS[loss](C=100.0, kernel="precomputed", fit_intercept=False).fit(gram, y)
    with pytest.raises(kernel.NotPositiveSemidefinite):
        CLASSIFIERS[loss](C=1e-3, kernel="precomputed", check_kernel=True).fit(gram, y)


def test_without_cvxopt_the_other_solvers_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxopt", None)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ImportError, match=r"pip install 'cvxopt>=1\.3'.*\[interior\].*solver 'block'"):
        CrammerSinger(solver="interior").fit(X, y)
    assert CrammerSinger().fit(X, y).converged_


# -- scikit-learn ------------------------------------------------------------------------------
