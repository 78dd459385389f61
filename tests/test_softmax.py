"""Softmax: the loss and its derivatives, the classifier against dual and peers, and what probabilities
say."""

import pickle
import tracemalloc
import warnings
from fractions import Fraction
from functools import partial
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss as peer_log_loss
from sklearn.model_selection import KFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

from mcutils import binary, loss, softmax
from mcutils.exact import solve
from mcutils.reduction import OneVsOne, pairs
from mcutils.softmax import SoftmaxRegression, WithProbabilities, _newton, _objective

SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=st.floats(-30, 30, width=32)
)

precise = partial(SoftmaxRegression, tol=1e-9)


def labels_for(f, seed):
    return np.random.default_rng(seed).integers(0, f.shape[1], len(f))


def differences(function, at, step=1e-6):
    """Central differences of a function of an array, one entry at a time."""
    result = []
    for place in np.ndindex(at.shape):
        there = np.zeros_like(at)
        there[place] = step
        result.append((function(at + there) - function(at - there)) / (2 * step))
    return np.array(result)


# ---------------------------------------------------------------------------------------------------
# The loss


@given(SCORES)
def test_probabilities_and_losses_are_the_definitions(f):
    q = softmax.softmax(f)
    for row, result in zip(f.tolist(), q.tolist(), strict=True):
        total = sum(exp(v) for v in row)
        assert result == pytest.approx([exp(v) / total for v in row], rel=1e-13)
    np.testing.assert_allclose(softmax.log_softmax(f), np.log(q), rtol=1e-12, atol=1e-14)
    for y in range(f.shape[1]):
        losses = softmax.cross_entropy(f, np.full(len(f), y))
        twin = [log(sum(exp(v - row[y]) for v in row)) for row in f.tolist()]
        np.testing.assert_allclose(losses, twin, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(losses, -softmax.log_softmax(f)[:, y], rtol=1e-12, atol=1e-14)


@given(SCORES, st.integers(0, 2**20))
def test_the_loss_is_the_largest_of_the_dual_form_and_at_least_log_2_at_a_mistake(f, seed):
    y = labels_for(f, seed)
    rng = np.random.default_rng(seed)
    losses = softmax.cross_entropy(f, y)
    own = f[np.arange(len(f)), y]
    for q in (rng.dirichlet(np.ones(f.shape[1]), len(f)), softmax.softmax(f)):
        entropy = -(q * np.log(np.maximum(q, 1e-300))).sum(axis=1)
        values = (q * f).sum(axis=1) - own + entropy
        assert (values <= losses + 1e-12 * (1 + np.abs(f).max())).all()
    np.testing.assert_allclose(values, losses, atol=1e-11)
    others = f.copy()
    others[np.arange(len(f)), y] = -np.inf
    mistakes = own <= others.max(axis=1)  # a tie is a mistake for some tie-break
    assert (losses[mistakes] >= log(2) * (1 - 1e-15)).all()


@given(SCORES, st.integers(0, 2**20))
def test_gradient_and_hessian_are_what_differences_say(f, seed):
    f = f / 8  # so that differences have digits
    y = labels_for(f, seed)
    gradient = softmax.cross_entropy_gradient(f, y)
    np.testing.assert_allclose(
        gradient.ravel(), differences(lambda g: softmax.cross_entropy(g, y).sum(), f), atol=1e-8
    )
    assert np.abs(gradient.sum(axis=1)).max() <= 1e-15 * f.shape[1]
    v = np.random.default_rng(seed).normal(size=f.shape)
    product = softmax.cross_entropy_hessian_product(f, v)
    step = 1e-5
    slope = (
        softmax.cross_entropy_gradient(f + step * v, y) - softmax.cross_entropy_gradient(f - step * v, y)
    ) / (2 * step)
    np.testing.assert_allclose(product, slope, atol=1e-8)
    q = softmax.softmax(f)
    variance = (q * (v - (q * v).sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    np.testing.assert_allclose((v * product).sum(axis=1), variance, atol=1e-14)


@given(SCORES, st.integers(0, 2**20), st.floats(0, 1))
def test_the_loss_is_convex_and_does_not_see_what_is_added_to_all_scores(f, seed, t):
    y = labels_for(f, seed)
    g = f + np.random.default_rng(seed).normal(size=f.shape) * 5
    chord = t * softmax.cross_entropy(f, y) + (1 - t) * softmax.cross_entropy(g, y)
    assert (softmax.cross_entropy(t * f + (1 - t) * g, y) <= chord + 1e-12).all()
    np.testing.assert_allclose(softmax.softmax(f + 7.0), softmax.softmax(f), rtol=1e-13)
    # Lipschitz with sqrt 2, and smooth with 1/2
    size = np.linalg.norm(f - g, axis=1)
    assert (np.abs(softmax.cross_entropy(f, y) - softmax.cross_entropy(g, y)) <= 2**0.5 * size + 1e-12).all()
    change = softmax.cross_entropy_gradient(f, y) - softmax.cross_entropy_gradient(g, y)
    assert (np.linalg.norm(change, axis=1) <= size / 2 + 1e-12).all()


def test_two_classes_are_the_logistic_loss_of_the_difference():
    z = np.array([-1e4, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0])
    f = np.column_stack([z, np.zeros(len(z))])
    np.testing.assert_allclose(softmax.cross_entropy(f, np.zeros(len(z), int)), loss.logistic(z), rtol=1e-14)
    np.testing.assert_allclose(
        softmax.cross_entropy_gradient(f, np.zeros(len(z), int))[:, 0],
        loss.logistic.subgradient(z),
        rtol=1e-14,
    )


def test_nothing_overflows_and_tiny_losses_keep_their_digits():
    f = np.array([[0.0, -50.0, -51.0], [1e300, 0.0, -1e300], [-1e4, 1e4, 0.0]])
    np.testing.assert_allclose(
        softmax.cross_entropy(f, [0, 0, 0]), [exp(-50) + exp(-51), 0.0, 2e4], rtol=1e-14
    )
    np.testing.assert_allclose(softmax.cross_entropy_gradient(f, [0, 0, 0])[0].sum(), 0, atol=1e-37)
    assert softmax.log_softmax(f)[0, 0] == pytest.approx(-exp(-50) - exp(-51), rel=1e-14)
    assert np.isfinite(softmax.softmax(f)).all()
    assert softmax.log_softmax([[0.0, -2000.0]])[0, 1] == -2000.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: softmax.softmax([1.0, 2.0]), r"least two classes, found shape \(2,\)"),
        (lambda: softmax.softmax([[1.0]]), r"found shape \(1, 1\)"),
        (lambda: softmax.log_softmax([[np.nan, 1.0]]), "scores must be finite, found nan"),
        (lambda: softmax.softmax([[1e308, -1e308]]), "scores must have finite differences"),
        (lambda: softmax.cross_entropy([[0.0, 1.0]], [2]), "integers from 0 to 1, found 2"),
        (
            lambda: softmax.cross_entropy([[0.0, 1.0]], [0.5]),
            "integers, the true classes, found dtype float64",
        ),
        (lambda: softmax.cross_entropy([[0.0, 1.0]], [0, 1]), r"each of the 1 examples, found shape \(2,\)"),
        (lambda: softmax.cross_entropy_hessian_product([[0.0, 1.0]], [[1.0, 2.0, 3.0]]), r"shape \(1, 2\)"),
        (lambda: softmax.objective([1.0, 2.0], [[1.0]], [0]), "W must have a row"),
        (lambda: softmax.objective([[1.0], [2.0]], [[1.0, 2.0]], [0]), "each of the 2 features, found 1"),
        (lambda: softmax.objective([[1.0], [2.0]], [[1.0]], [0], C=0), "C must be a positive, finite number"),
        (
            lambda: softmax.objective([[1.0], [2.0]], [[1.0]], [0], intercept=[1.0]),
            "intercept must be 2 numbers",
        ),
        (
            lambda: softmax.objective([[1.0], [2.0]], [[1.0]], [0], sample_weight=[-1.0]),
            "sample_weight must be",
        ),
        (lambda: softmax.dual_objective([[0.5, 0.6]], [[1.0]], [0]), "sum 1, found the row"),
        (lambda: softmax.dual_objective([[0.5, 0.5]], [[1.0]], [0]), "must add up to its examples' weight"),
        (lambda: softmax.dual_objective([[0.5, 0.5]], [[1.0], [2.0]], [0, 1]), "q must have a row for each"),
        (
            lambda: softmax.temperature([[1.0, 2.0]], [0], sample_weight=[0.0]),
            "sample_weight must be positive",
        ),
        (
            lambda: softmax.pairwise_coupling([[0.5, 0.5]]),
            r"k\(k-1\)/2 pairs of classes, found shape \(1, 2\)",
        ),
        (lambda: softmax.pairwise_coupling([[1.0]]), "strictly between 0 and 1, found 1.0"),
        (
            lambda: softmax.pairwise_coupling([[0.5]], method="x"),
            "method must be one of 'wu_lin_weng'",
        ),
        (lambda: softmax.brier([[0.5, 0.4]], [0]), "sum 1"),
        (lambda: softmax.log_loss(np.empty((0, 2)), []), "at least one example"),
        (lambda: softmax.reliability([[0.5, 0.5]], [0], bins=0), "bins must be an integer"),
        (lambda: softmax.reliability([[0.5, 0.5]], [0], bins=[0, 0.5]), "increase from 0 to 1"),
        (
            lambda: softmax.reliability([[0.5, 0.5]], [0], level=1.0),
            "level must be a finite number, above 0",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------------------------------------------
# Primal and dual


def problem(trial):
    """Small problems, many with large features, constant ones, and weights of zero."""
    rng = np.random.default_rng(trial)
    m, d, k = int(rng.integers(3, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    m = max(m, k)
    X = rng.normal(size=(m, d))
    if trial % 3 == 0:
        X = np.round(X)
    if trial % 4 == 1:
        X[:, 0] = 100 + X[:, 0]
    y = np.r_[np.arange(k), rng.integers(0, k, m - k)]
    weights = np.r_[np.ones(k), rng.integers(0, 3, m - k)] if trial % 2 else np.ones(m)
    return X, y, weights.astype(float), float(10.0 ** rng.uniform(-3, 3))


@pytest.mark.parametrize("trial", range(60))
@pytest.mark.parametrize("bias", [True, False])
def test_a_minimum_is_certified_and_agrees_with_another_method(trial, bias):
    X, y, weights, C = problem(trial)
    k, d = y.max() + 1, X.shape[1]
    model = precise(C=C, fit_intercept=bias).fit(X, y, sample_weight=weights)
    assert model.converged_
    assert model.certificate_.certifies(1e-8)
    value = softmax.objective(
        model.coef_, X, y, C=C, intercept=model.intercept_ if bias else None, sample_weight=weights
    )
    assert value == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert np.abs(model.coef_.sum(axis=0)).max() <= 1e-9 * (1 + np.abs(model.coef_).max())
    if not bias:
        assert not model.intercept_.any()

    # the definition, by a general minimiser from the definition's own gradient
    def general(v):
        V = v.reshape(k, d + bias)
        f = X @ V[:, :d].T + (V[:, d] if bias else 0.0)
        R = C * weights[:, None] * softmax.cross_entropy_gradient(f, y)
        gradient = V.copy()
        gradient[:, d:] = 0.0
        gradient[:, :d] += R.T @ X
        if bias:
            gradient[:, d] += R.sum(axis=0)
        total = np.square(V[:, :d]).sum() / 2 + C * weights @ softmax.cross_entropy(f, y)
        return total, gradient.ravel()

    start = np.column_stack([model.coef_, model.intercept_]) if bias else model.coef_
    again = optimize.minimize(
        general,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 200, "ftol": 1e-15, "gtol": 1e-12},
    )
    assert again.fun >= model.certificate_.dual - 1e-9 * max(1, abs(again.fun))
    assert again.fun >= value - 1e-7 * max(1, value)


@pytest.mark.parametrize("trial", range(20))
@pytest.mark.parametrize("bias", [True, False])
def test_no_dual_value_exceeds_a_primal_value(trial, bias):
    X, y, weights, C = problem(trial)
    C = min(C, 10.0)
    k, d = y.max() + 1, X.shape[1]
    rng = np.random.default_rng(trial)
    q = rng.dirichlet(np.ones(k), len(y))
    if bias:
        # feasible multipliers are as good as any: mixtures of the labels and of the shares of the classes
        share = np.bincount(y, weights) / weights.sum()
        q = 0.5 * np.eye(k)[y] + 0.5 * share
    low = softmax.dual_objective(q, X, y, C=C, fit_intercept=bias, sample_weight=weights)
    for _ in range(20):
        W = rng.normal(size=(k, d)) * rng.choice([0.01, 0.1, 1.0])
        b = rng.normal(size=k) if bias else None
        assert softmax.objective(W, X, y, C=C, intercept=b, sample_weight=weights) >= low


def test_the_dual_value_is_the_formula():
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([0, 1, 2])
    q = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    C = 0.3
    entropy = 3 * -(0.5 * log(0.5) + 0.5 * log(0.25))
    V = sum(C * np.outer(np.eye(3)[c] - p, x) for x, c, p in zip(X, y, q, strict=True))
    twin = C * entropy - (V**2).sum() / 2
    for bias in (True, False):
        assert softmax.dual_objective(q, X, y, C=C, fit_intercept=bias) == pytest.approx(twin, rel=1e-14)
    # rows are taken as what they are up to rounding: probabilities
    almost = softmax.dual_objective(q * (1 + 5e-7), X, y, C=C, fit_intercept=False)
    assert almost == pytest.approx(twin, rel=1e-14)
    # all certainty: no entropy, and no residual
    assert softmax.dual_objective(np.eye(3), X, y, C=C) == 0.0
    # a certain error, which no intercept forbids
    assert softmax.dual_objective(np.eye(3)[[1, 2, 0]], X, y, C=C) < 0


def test_the_gap_of_a_classifier_is_half_the_squared_gradient():
    X, y, weights, _ = problem(7)
    k = y.max() + 1
    W = np.random.default_rng(0).normal(size=(k, X.shape[1])) / 10
    f = X @ W.T
    gradient = W + (weights[:, None] * softmax.cross_entropy_gradient(f, y)).T @ X
    primal = softmax.objective(W, X, y, sample_weight=weights)
    dual = softmax.dual_objective(softmax.softmax(f), X, y, fit_intercept=False, sample_weight=weights)
    assert primal - dual == pytest.approx((gradient**2).sum() / 2, rel=1e-9)


def test_probabilities_out_of_balance_are_balanced_and_stay_probabilities():
    X, y, weights, _ = problem(3)
    rng = np.random.default_rng(1)
    k = y.max() + 1
    inner = _objective.Problem(X, y, k, weights, True)
    q = rng.dirichlet(np.ones(k) / 3, len(y))
    q[np.arange(len(y)), y] = 0.0
    others, missing = inner.balanced(q, q.sum(axis=1), inner.transfer(inner.excess(q, q.sum(axis=1))))
    assert (others >= 0).all()
    assert (missing <= 1 + 1e-12).all()
    assert not others[np.arange(len(y)), y].any()
    assert np.abs(inner.excess(others, missing)).max() <= 1e-12
    # those in balance stay as they are
    again = inner.balanced(others, missing, inner.transfer(inner.excess(others, missing)))
    np.testing.assert_allclose(again[0], others, atol=1e-14)


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_the_objective_is_that_of_logistic_regression(load, bias, C):
    X, y = scaled(load)
    model = precise(C=C, fit_intercept=bias).fit(X, y)
    peer = LogisticRegression(C=C, fit_intercept=bias, tol=1e-8, max_iter=10_000).fit(X, y)
    value = softmax.objective(peer.coef_, X, y, C=C, intercept=peer.intercept_)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert value >= model.certificate_.dual * (1 - 1e-12)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("bias", [True, False])
def test_with_two_classes_it_is_logistic_regression_with_twice_the_penalty(bias):
    X, y = scaled(load_breast_cancer)
    model = SoftmaxRegression(C=0.35, fit_intercept=bias, tol=1e-12).fit(X, y)
    peer = LogisticRegression(C=0.7, fit_intercept=bias, tol=1e-10, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(model.coef_[1] - model.coef_[0], peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-5)
    result = binary.minimise_risk(X, 2 * y - 1, loss="logistic", C=0.7, fit_intercept=bias)
    assert 2 * model.certificate_.primal == pytest.approx(result.certificate.primal, rel=1e-7)


def test_the_book_agrees_with_cvxopt():
    cvxopt = pytest.importorskip("cvxopt")
    from cvxopt import solvers

    X, y, weights, _ = problem(11)
    k, d = y.max() + 1, X.shape[1]
    n = k * d

    def at(x=None, z=None):
        if x is None:
            return 0, cvxopt.matrix(0.0, (n, 1))
        W = np.array(x).reshape(k, d)
        f = X @ W.T
        q = softmax.softmax(f)
        value = softmax.objective(W, X, y, sample_weight=weights)
        gradient = W + (weights[:, None] * softmax.cross_entropy_gradient(f, y)).T @ X
        predicted = cvxopt.matrix(value), cvxopt.matrix(gradient.reshape(1, n))
        if z is None:
            return predicted
        hessian = np.eye(n)
        for x_i, q_i, c in zip(X, q, weights, strict=True):
            hessian += c * np.kron(np.diag(q_i) - np.outer(q_i, q_i), np.outer(x_i, x_i))
        return (*predicted, cvxopt.matrix(z[0] * hessian))

    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    result = solvers.cp(at, options=options)
    model = precise(fit_intercept=False).fit(X, y, sample_weight=weights)
    assert model.certificate_.primal == pytest.approx(result["primal objective"], rel=1e-7)


# ---------------------------------------------------------------------------------------------------
# The estimator


def test_separable_data_need_the_norm():
    """Without regularisation the loss has no minimum: the classifier grows with C, its losses vanish."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    norms, losses = [], []
    for C in (1.0, 1e3, 1e6, 1e9):
        model = precise(C=C).fit(X, y)
        assert model.converged_
        norms.append(np.linalg.norm(model.coef_))
        losses.append(softmax.cross_entropy(X @ model.coef_.T + model.intercept_, y).sum())
    assert (np.diff(norms) > 0).all()
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 1e-7


@pytest.mark.parametrize("bias", [True, False])
def test_sparse_input_gives_the_same_classifier(bias):
    rng = np.random.default_rng(0)
    X = sparse.random(120, 300, density=0.05, random_state=np.random.RandomState(0), format="csr")
    y = rng.integers(0, 4, 120)
    dense, thin = (
        SoftmaxRegression(C=5.0, fit_intercept=bias, tol=1e-12).fit(Z, y) for Z in (X.toarray(), X)
    )
    assert thin.converged_
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(thin.predict_proba(X), dense.predict_proba(X.toarray()), atol=1e-6)
    assert softmax.objective(thin.coef_, X, y, C=5.0, intercept=thin.intercept_) == pytest.approx(
        thin.certificate_.primal, rel=1e-12
    )


def test_sparse_input_stays_sparse():
    m, d, k = 2000, 20_000, 3
    X = sparse.random(m, d, density=0.001, random_state=np.random.RandomState(0), format="csr")
    y = np.arange(m) % k
    tracemalloc.start()
    model = precise(max_iter=30).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.converged_
    assert peak < 40e6  # dense it would be 320 MB; W has 0.5 MB


def test_many_features_and_few_examples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 400)), np.arange(30) % 3
    model = precise(C=10.0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0


def test_features_of_all_sizes_centred_or_not_and_dependent():
    X, y = load_wine(return_X_y=True)
    dependent = np.column_stack([X, X[:, ::-1], X.sum(axis=1)])
    X = X * np.logspace(-3, 3, X.shape[1])
    for Z in (X, X + 10.0, dependent, sparse.csr_matrix(X)):
        for bias in (True, False):
            model = precise(C=10.0, fit_intercept=bias).fit(Z, y)
            assert model.converged_
            assert model.n_iter_ < 60
    # what is added to a feature moves the intercepts only
    there, here = (precise(C=10.0).fit(scaled(load_wine)[0] + shift, y) for shift in (1e3, 0.0))
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-4)
    np.testing.assert_allclose(there.intercept_ + 1e3 * there.coef_.sum(axis=1), here.intercept_, atol=1e-3)


def test_factors_are_made_only_where_they_save_time(monkeypatch):
    """One of d x d for each class and step takes as long as d/2 products: no cliff between 200 features and
    201. The optimum is the same with them, without them, and with some."""
    products, factors = [0], [0]
    solve, update = _newton._conjugate_gradients, _newton._Blocks.update

    def counting(product, *others):
        def counted(D):
            products[0] += 1
            return product(D)

        return solve(counted, *others)

    def made(self):
        factors[0] += 1
        update(self)

    monkeypatch.setattr(_newton, "_conjugate_gradients", counting)
    monkeypatch.setattr(_newton._Blocks, "update", made)

    def work(X, y, C):
        products[0] = factors[0] = 0
        model = precise(C=C).fit(X, y)
        assert model.converged_
        return model.certificate_, factors[0], products[0] + X.shape[1] / 2 * factors[0], model.n_iter_

    rng = np.random.default_rng(0)
    y = rng.integers(20, size=600)
    X = 0.5 * rng.normal(size=(20, 201))[y] + rng.normal(size=(600, 201))
    _, few, cost, _ = work(X[:, :200], y, 1e-3)
    _, none, one_more, _ = work(X, y, 1e-3)
    assert few == none == 0
    assert 0.5 < cost / one_more < 2
    # overlapping classes at a large penalty: the diagonal is not enough, from some step on
    X = 0.3 * rng.normal(size=(20, 60))[y] + rng.normal(size=(600, 60))
    monkeypatch.setattr(_newton, "_QUICK", 1e6)
    mixed, some, with_some, steps = work(X, y, 1e3)
    monkeypatch.setattr(_newton, "_QUICK", np.inf)
    always, all_of_them, _, most = work(X, y, 1e3)
    monkeypatch.setattr(_newton, "_BLOCK_FEATURES", 0)
    never, none, without, _ = work(X, y, 1e3)
    assert none == 0 < some < steps
    assert all_of_them == most
    assert with_some < without
    for one in (mixed, never):
        assert one.primal == pytest.approx(always.primal, rel=2e-9)


@pytest.mark.parametrize("entries", [2**16, 60])
@pytest.mark.once
def test_products_in_single_precision_and_in_blocks_lead_to_the_same_optimum(monkeypatch, entries):
    X, y = scaled(load_wine)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) * 10.0
    sizes = X * np.logspace(-3, 3, X.shape[1])
    dependent = np.hstack([X, X.sum(axis=1)[:, None]])
    hard = [X, X + 1e3, sizes, sparse.csr_matrix(X), sparse.csr_matrix(sizes), dependent]
    made = []
    product = _newton._Hessian.__call__

    def told(self, D):
        made.append(self.kind)
        return product(self, D)

    settings = [(Z, *more) for Z in hard for more in ((True, 1.0), (False, 1e-3), (True, 1e5))]
    tiny = [(1e-25 * X, bias, 1e50) for bias in (True, False)]  # beyond the range of single precision
    for Z, bias, C in [*settings, *tiny]:
        model = SoftmaxRegression(C=C, fit_intercept=bias, tol=1e-8)
        plain = clone(model).fit(Z, y, weights)
        with monkeypatch.context() as patch:
            patch.setattr(_newton, "_SINGLE", 0)
            patch.setattr(_objective, "_ENTRIES", entries)
            patch.setattr(_newton._Hessian, "__call__", told)
            model.fit(Z, y, weights)
        assert model.converged_
        for one, other in ((model, plain), (plain, model)):
            assert one.certificate_.dual <= other.certificate_.primal * (1 + 1e-12)
    assert made.count(np.float32) > 0.8 * len(made)


def test_rounding_is_not_certified_away():
    """Features that are almost all offset: the gap shows what is lost, or the classifier is right."""
    rng = np.random.default_rng(0)
    for offset in (1e6, 1e9, 1e12):
        X, y = rng.normal(size=(60, 3)) + offset, np.arange(60) % 3
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = precise(C=1e3).fit(X, y)
        exact = precise(C=1e3).fit(X - offset, y).certificate_  # the same problem: the offset is exact
        assert model.certificate_.dual <= exact.primal * (1 + 1e-9)
        result = model.certificate_
        assert result.primal >= exact.dual * (1 - 1e-9) - (result.primal - result.dual)


def test_weights_are_repetitions_and_class_weights_are_weights():
    X, y = scaled(load_iris)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = SoftmaxRegression(tol=1e-12).fit(X, y, sample_weight=weights)
    repeated = SoftmaxRegression(tol=1e-12).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-10)
    by_class = SoftmaxRegression(class_weight={0: 1.0, 1: 3.0, 2: 0.5}, tol=1e-12).fit(X, y)
    by_hand = SoftmaxRegression(tol=1e-12).fit(X, y, sample_weight=np.array([1.0, 3.0, 0.5])[y])
    np.testing.assert_allclose(by_class.coef_, by_hand.coef_, atol=1e-8)
    some = np.r_[0:50, 50:70, 100:110]
    balanced = SoftmaxRegression(class_weight="balanced", tol=1e-12).fit(X[some], y[some])
    ratio = len(some) / (3 * np.array([50, 20, 10]))
    by_hand = SoftmaxRegression(tol=1e-12).fit(X[some], y[some], sample_weight=ratio[y[some]])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=1e-8)


def test_the_intercepts_alone_give_the_shares_of_the_classes():
    y = np.repeat([0, 1, 2], [5, 3, 2])
    model = SoftmaxRegression(tol=1e-14).fit(np.zeros((10, 2)), y)
    np.testing.assert_allclose(model.predict_proba([[0.0, 0.0]]), [[0.5, 0.3, 0.2]], atol=1e-7)
    assert not model.coef_.any()
    entropy = -10 * sum(p * log(p) for p in (0.5, 0.3, 0.2))
    assert model.certificate_.primal == pytest.approx(entropy, rel=1e-12)


def test_a_warm_start_begins_where_the_last_fit_ended():
    X, y = scaled(load_wine)
    model = precise(warm_start=True).fit(X, y)
    cold = model.n_iter_
    model.fit(X, y)
    assert model.certificate_.n_iter == 0
    assert cold > 2
    model.fit(X[:, :5], y)  # other features: from the beginning
    assert model.converged_
    named = np.array(["a", "b", "c"])[y]
    model.fit(X[:, :5], named)
    assert model.certificate_.n_iter > 0


def test_too_few_steps_are_admitted():
    X, y = scaled(load_wine)
    with pytest.warns(ConvergenceWarning, match=r"tol=1e-09 in 1 steps: the relative gap is"):
        model = precise(max_iter=1).fit(X, y)
    assert not model.converged_
    assert model.certificate_.gap > 1e-9


def test_labels_logarithms_and_ties():
    X, y = scaled(load_iris)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = precise().fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.score(X, names) > 0.95
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)
    assert (model.predict(X) == model.classes_[model.decision_function(X).argmax(axis=1)]).all()
    even = precise(fit_intercept=False).fit([[1.0], [-1.0]], ["b", "a"])
    assert even.predict([[0.0]]).tolist() == ["a"]  # a tie
    far = even.predict_log_proba([[1e6]])
    assert np.isfinite(far).all()
    assert far[0, 0] < -1e5


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SoftmaxRegression(C=0.0), "C must be a positive, finite number, found 0.0"),
        (SoftmaxRegression(C=np.inf), "C must be a positive, finite number, found inf"),
        (SoftmaxRegression(C=True), "C must be a positive, finite number, found True"),
        (SoftmaxRegression(tol=0.0), "tol must be a positive, finite number, found 0.0"),
        (SoftmaxRegression(max_iter=0), "max_iter must be an integer, at least 1, found 0"),
        (SoftmaxRegression(class_weight={0: 0.0}), r"zero for a whole class, found it zero for \[0\]"),
        (SoftmaxRegression(class_weight={0: -1.0}), "class_weight must be numbers, at least 0"),
    ],
)
def test_parameters_that_cannot_work_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])


# ---------------------------------------------------------------------------------------------------
# Temperature


@given(SCORES, st.integers(0, 2**20), st.booleans())
def test_the_temperature_is_best_and_bounded_from_below(f, seed, smooth):
    y = labels_for(f, seed)
    result = softmax.temperature(f, y, smooth=smooth)
    assert result.certificate.certifies(1e-9)
    assert result.loss <= result.before + 1e-12
    m, k = f.shape
    part = smooth / (m + 2)
    targets = np.where(np.eye(k)[y] > 0, 1 - part, part / (k - 1))
    np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-12)
    for T in np.logspace(-3, 3, 41):
        value = -(targets * softmax.log_softmax(f / T)).sum() / m
        assert value >= result.certificate.dual - 1e-9 * max(1, value)
    if 0 < result.temperature < np.inf:
        q = result.probabilities(f)
        np.testing.assert_allclose(q, softmax.softmax(f / result.temperature), rtol=1e-9, atol=1e-300)
        # at the least loss the mean score under q is that under the targets
        assert (q * f).sum() == pytest.approx((targets * f).sum(), abs=1e-6 * (1 + np.abs(f).max()) * m)


def test_the_temperature_of_scores_that_are_logarithms_of_probabilities():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(20_000, 4)) * 2
    y = (softmax.softmax(f).cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    assert softmax.temperature(f, y).temperature == pytest.approx(1.0, abs=0.05)
    assert softmax.temperature(3 * f, y).temperature == pytest.approx(3.0, abs=0.15)
    for scale in (1e-200, 1e-5, 1e5, 1e200):
        ratio = softmax.temperature(scale * f, y).temperature / scale
        assert ratio == pytest.approx(softmax.temperature(f, y).temperature, rel=1e-9)


def test_temperatures_at_the_ends():
    right = softmax.temperature([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    assert (right.temperature, right.loss) == (0.0, 0.0)
    np.testing.assert_array_equal(right.probabilities([[2.0, 1.0], [1.0, 1.0]]), [[1, 0], [0.5, 0.5]])
    tied = softmax.temperature([[1.0, 1.0, 0.0]], [0])
    assert tied.temperature == 0
    assert tied.loss == pytest.approx(log(2))
    wrong = softmax.temperature([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    assert wrong.temperature == np.inf
    assert wrong.loss == pytest.approx(log(2))
    np.testing.assert_array_equal(wrong.probabilities([[2.0, 1.0]]), [[0.5, 0.5]])
    none = softmax.temperature([[1.0, 1.0], [3.0, 3.0]], [0, 1])
    assert none.temperature == 1.0
    smooth = softmax.temperature([[1.0, 0.0], [0.0, 1.0]], [0, 1], smooth=True)
    # targets 3/4 and 1/4: the score difference 1 must become log 3
    assert smooth.temperature == pytest.approx(1 / log(3), rel=1e-9)


def test_weights_of_a_temperature_are_repetitions():
    rng = np.random.default_rng(2)
    f, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    f[np.arange(40), y] += 1
    weights = rng.integers(0, 4, 40)
    for smooth in (True, False):
        weighted = softmax.temperature(f, y, smooth=smooth, sample_weight=weights)
        repeated = softmax.temperature(np.repeat(f, weights, axis=0), np.repeat(y, weights), smooth=smooth)
        assert weighted.temperature == pytest.approx(repeated.temperature, rel=1e-9)


# ---------------------------------------------------------------------------------------------------
# Coupling


@pytest.mark.parametrize("method", ["wu_lin_weng", "hastie_tibshirani"])
@pytest.mark.parametrize("k", [2, 3, 5, 12])
def test_consistent_pairs_give_their_probabilities_back(k, method):
    p = np.random.default_rng(k).dirichlet(np.ones(k), 30) * 0.99 + 0.01 / k
    first, second = pairs(k).T
    result = softmax.pairwise_coupling(p[:, first] / (p[:, first] + p[:, second]), method=method)
    np.testing.assert_allclose(result.probabilities, p, atol=1e-9)
    assert result.residual.max() <= 1e-12


def least_squares_in_fractions(r):
    """The bordered equations of three classes."""
    table = {(0, 1): r[0], (0, 2): r[1], (1, 2): r[2]}
    table |= {(b, a): 1 - v for (a, b), v in table.items()}
    Q = [
        [
            sum(table[s, y] ** 2 for s in range(3) if s != y) if y == t else -table[t, y] * table[y, t]
            for t in range(3)
        ]
        for y in range(3)
    ]
    rows = [*([*Q[y], 1] for y in range(3)), [1, 1, 1, 0]]
    return solve(rows, [0, 0, 0, 1])[:3]


@given(st.tuples(*[st.integers(1, 15)] * 3))
def test_the_coupling_is_exact_for_three_classes(r):
    exact = least_squares_in_fractions([Fraction(v, 16) for v in r])
    result = softmax.pairwise_coupling([[v / 16 for v in r]])
    np.testing.assert_allclose(result.probabilities[0], [float(v) for v in exact], atol=1e-13)
    assert all(v > 0 for v in exact)
    assert abs(result.residual[0]) <= 1e-13


@given(st.integers(2, 7), st.integers(0, 2**20), st.sampled_from([0.5, 0.1, 1e-7]))
def test_the_coupling_is_the_least_of_its_objective(k, seed, least):
    rng = np.random.default_rng(seed)
    r = np.clip(rng.beta(0.5, 0.5, (4, k * (k - 1) // 2)), min(least, 0.4), 1 - min(least, 0.4))
    first, second = pairs(k).T

    def squares(p):
        return ((1 - r) * p[:, first] - r * p[:, second]) ** 2

    def divergence(p):
        mu = p[:, first] / (p[:, first] + p[:, second])
        return -(r * np.log(mu) + (1 - r) * np.log1p(-mu))

    for method, value in (("wu_lin_weng", squares), ("hastie_tibshirani", divergence)):
        result = softmax.pairwise_coupling(r, method=method)
        p = result.probabilities
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
        assert result.residual.max() <= 1e-9
        if least > 1e-6:
            assert (p > 0).all()
            for _ in range(5):
                other = 0.9 * p + 0.1 * rng.dirichlet(np.ones(k), len(p))
                assert (value(other).sum(axis=1) >= value(p).sum(axis=1) * (1 - 1e-9)).all()


def test_with_two_classes_coupling_changes_nothing():
    r = np.array([[1e-7], [0.3], [0.9999999]])
    for method in ("wu_lin_weng", "hastie_tibshirani"):
        result = softmax.pairwise_coupling(r, method=method).probabilities
        np.testing.assert_allclose(result, np.hstack([r, 1 - r]), atol=1e-12)


def test_a_cycle_is_coupled_to_equal_probabilities():
    for method in ("wu_lin_weng", "hastie_tibshirani"):
        result = softmax.pairwise_coupling([[0.9, 0.1, 0.9]], method=method)
        np.testing.assert_allclose(result.probabilities, 1 / 3, atol=1e-12)


# ---------------------------------------------------------------------------------------------------
# Classifiers with probabilities


@pytest.fixture(scope="module")
def split_digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, test_size=0.5, random_state=0, stratify=y)


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (SVC(kernel="rbf", C=10.0, decision_function_shape="ovr"), "temperature"),
        (LinearSVC(C=1.0, random_state=0), "temperature"),
        (OneVsOne(LinearSVC(C=1.0, random_state=0)), "coupling"),
    ],
)
def test_probabilities_say_more_than_the_shares_of_the_classes(split_digits, model, method):
    X, Z, y, z = split_digits
    result = WithProbabilities(model, method=method, random_state=0).fit(X, y)
    p = result.predict_proba(Z)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert softmax.log_loss(p, z) < log(10) / 3
    assert softmax.reliability(p, z).ece < 0.1
    assert result.score(Z, z) > 0.92
    if method == "temperature":
        scores = clone(model).fit(X, y).decision_function(Z)
        np.testing.assert_array_equal(result.predict(Z), scores.argmax(axis=1))
        assert len(result.temperatures_) == 1
    else:
        assert len(result.temperatures_) == 45


def test_held_out_examples_calibrate_a_classifier_that_is_trained_already(split_digits):
    X, Z, y, z = split_digits
    model = SoftmaxRegression(C=1e4).fit(X, y)  # right everywhere in training, and far too sure of it
    halves = Z[:450], z[:450], Z[450:], z[450:]
    result = WithProbabilities(model, cv="prefit").fit(*halves[:2])
    assert result.estimator_ is model
    assert result.temperatures_[0].temperature > 1.5
    before, after = model.predict_proba(halves[2]), result.predict_proba(halves[2])
    assert softmax.log_loss(after, halves[3]) < softmax.log_loss(before, halves[3])
    np.testing.assert_array_equal(result.predict(halves[2]), model.predict(halves[2]))
    f = model.decision_function(halves[2])
    np.testing.assert_allclose(after, softmax.softmax(f / result.temperatures_[0].temperature), atol=1e-12)


def test_two_classes_use_the_one_score():
    X, y = make_blobs(200, centers=2, cluster_std=4.0, random_state=0)
    names = np.array(["no", "yes"])[y]
    result = WithProbabilities(binary.BinarySVM(tol=1e-9), random_state=0).fit(X, names)
    f = result.estimator_.decision_function(X)
    T = result.temperatures_[0].temperature
    np.testing.assert_allclose(result.predict_proba(X)[:, 1], 1 / (1 + np.exp(-f / T)), atol=1e-12)
    coupled = WithProbabilities(OneVsOne(binary.BinarySVM(tol=1e-9)), method="coupling", random_state=0).fit(
        X, names
    )
    np.testing.assert_allclose(coupled.predict_proba(X), result.predict_proba(X), atol=1e-6)


def test_probabilities_without_scores_are_mended_through_their_logarithms(split_digits):
    X, Z, y, z = split_digits
    own = GaussianNB(var_smoothing=1e-3).fit(X, y).predict_proba(Z)
    result = WithProbabilities(GaussianNB(var_smoothing=1e-3), random_state=0).fit(X, y)
    p, T = result.predict_proba(Z), result.temperatures_[0].temperature
    assert T > 2  # too sure of itself
    np.testing.assert_allclose(p, softmax.softmax(np.log(np.maximum(own, 1e-7)) / T), atol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), own.argmax(axis=1))
    assert softmax.reliability(p, z).ece < softmax.reliability(own, z).ece / 2
    # a probability of 0 at the true class, of which neighbours have many, is no infinite loss
    near = WithProbabilities(KNeighborsClassifier(1), random_state=0).fit(X, y)
    assert softmax.log_loss(near.predict_proba(Z), z) < 0.5


def test_weights_reach_the_classifier_and_the_temperature():
    X, y = make_blobs(90, centers=3, cluster_std=3.0, random_state=1)
    weights = np.random.default_rng(0).integers(1, 4, 90)
    even = WithProbabilities(SoftmaxRegression(), random_state=0).fit(X, y)
    result = WithProbabilities(SoftmaxRegression(), random_state=0).fit(X, y, sample_weight=weights)
    assert np.abs(result.estimator_.coef_ - even.estimator_.coef_).max() > 1e-3
    np.testing.assert_allclose(
        result.estimator_.coef_, SoftmaxRegression().fit(X, y, sample_weight=weights).coef_, atol=1e-12
    )
    twice = WithProbabilities(LinearSVC(random_state=0), random_state=0).fit(X, y, sample_weight=np.ones(90))
    once = WithProbabilities(LinearSVC(random_state=0), random_state=0).fit(X, y)
    assert twice.temperatures_[0].temperature == pytest.approx(once.temperatures_[0].temperature)
    # a classifier that is trained already meets the weights in the temperature alone
    prefit = WithProbabilities(even.estimator_, cv="prefit").fit(X, y, sample_weight=weights)
    repeated = WithProbabilities(even.estimator_, cv="prefit").fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert prefit.temperatures_[0].temperature == pytest.approx(repeated.temperatures_[0].temperature)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    result = WithProbabilities(SoftmaxRegression(), cv=folds).fit(X, y, sample_weight=weights)
    f = np.empty((90, 3))
    for train, test in folds:
        f[test] = (
            SoftmaxRegression()
            .fit(X[train], y[train], sample_weight=weights[train])
            .decision_function(X[test])
        )
    by_hand = softmax.temperature(f, y, smooth=True, sample_weight=weights)
    assert result.temperatures_[0].temperature == pytest.approx(by_hand.temperature, rel=1e-6)
    with pytest.raises(ValueError, match="sample_weight is given, but KNeighborsOne"):
        WithProbabilities(KNeighborsOne()).fit(X, y, sample_weight=weights)


class KNeighborsOne(KNeighborsClassifier):
    """Its probabilities as scores; it takes no weights."""

    def decision_function(self, X):
        return self.predict_proba(X)


def test_precomputed_kernels_sparse_input_and_several_jobs():
    X, y = scaled(load_iris)
    kernel = WithProbabilities(SVC(kernel="precomputed"), random_state=0).fit(X @ X.T, y)
    assert get_tags(kernel).input_tags.pairwise
    plain = WithProbabilities(SVC(kernel="linear"), random_state=0).fit(X, y)
    assert not get_tags(plain).input_tags.pairwise
    np.testing.assert_allclose(kernel.predict_proba(X @ X.T), plain.predict_proba(X), atol=1e-3)
    thin = WithProbabilities(SoftmaxRegression(), random_state=0, n_jobs=2).fit(sparse.csr_matrix(X), y)
    dense = WithProbabilities(SoftmaxRegression(), random_state=0).fit(X, y)
    np.testing.assert_allclose(thin.predict_proba(X), dense.predict_proba(X), atol=1e-4)
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.predict_proba(X), plain.predict_proba(X))


def test_what_cannot_be_calibrated_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="method must be one of 'temperature', 'coupling', found 'platt'"):
        WithProbabilities(LinearSVC(), method="platt").fit(X, y)
    with pytest.raises(ValueError, match="estimator must be a OneVsOne for 'coupling'"):
        WithProbabilities(LinearSVC(), method="coupling").fit(X, y)
    with pytest.raises(ValueError, match="estimator must have decision_function or predict_proba"):
        WithProbabilities(LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="found cv=5, and 2 examples of class 2"):
        WithProbabilities(LinearSVC()).fit(X[:102], y[:102])
    with pytest.raises(ValueError, match="every fold must leave examples of all classes"):
        WithProbabilities(SGDClassifier(random_state=0), cv=KFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="found 1 class"):
        WithProbabilities(LinearSVC()).fit(X[:50], y[:50])
    with pytest.raises(NotFittedError):
        WithProbabilities(LinearSVC(), cv="prefit").fit(X, y)
    half = LogisticRegression(max_iter=1000).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"labels that are not among the classes: \[2\]"):
        WithProbabilities(half, cv="prefit").fit(X, y)
    pairwise = OneVsOne(SoftmaxRegression()).fit(X, y)
    with pytest.raises(ValueError, match="coupling needs held-out examples"):
        WithProbabilities(pairwise, method="coupling", cv="prefit").fit(
            X[:50], y[:50], sample_weight=np.ones(50)
        )
    X4, y4 = make_blobs(80, centers=4, random_state=0)
    with pytest.raises(ValueError, match="the classifier must return 4 scores for 4 classes, found 6"):
        WithProbabilities(SVC(decision_function_shape="ovo")).fit(X4, y4)


# ---------------------------------------------------------------------------------------------------
# What probabilities are worth


@given(st.integers(2, 6), st.integers(1, 30), st.integers(0, 2**20))
def test_scores_of_probabilities_are_the_definitions(k, m, seed):
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(k), m), rng.integers(0, k, m)
    twin = sum(sum((p[i, r] - (r == y[i])) ** 2 for r in range(k)) for i in range(m)) / m
    assert softmax.brier(p, y) == pytest.approx(twin, rel=1e-12)
    assert softmax.log_loss(p, y) == pytest.approx(-sum(log(p[i, y[i]]) for i in range(m)) / m, rel=1e-12)
    assert softmax.log_loss(p, y) == pytest.approx(peer_log_loss(y, p, labels=np.arange(k)), rel=1e-6)


def test_the_true_probabilities_have_the_least_expected_scores():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p, q = rng.dirichlet(np.ones(3), 2)
        for judge in (softmax.brier, softmax.log_loss):
            expected = [sum(p[y] * judge([s], [y]) for y in range(3)) for s in (p, q)]
            assert expected[0] < expected[1]


@given(st.integers(2, 4), st.integers(1, 40), st.integers(0, 2**20), st.integers(1, 7))
def test_reliability_is_counted_by_hand(k, m, seed, n):
    rng = np.random.default_rng(seed)
    p = rng.multinomial(20, np.ones(k) / k, m) / 20  # confidences on borders of bins, and ties
    y = rng.integers(0, k, m)
    result = softmax.reliability(p, y, bins=n)
    ece = 0.0
    for j in range(n):
        last = j == n - 1
        inside = [
            i
            for i in range(m)
            if result.edges[j] <= p[i].max() and (last or p[i].max() < result.edges[j + 1])
        ]
        assert result.counts[j] == len(inside)
        if not inside:
            assert np.isnan([result.confidence[j], result.accuracy[j]]).all()
            assert (result.lower[j], result.upper[j]) == (0, 1)
            continue
        accuracy = np.mean([p[i].tolist().index(p[i].max()) == y[i] for i in inside])
        confidence = np.mean([p[i].max() for i in inside])
        assert result.accuracy[j] == pytest.approx(accuracy)
        assert result.confidence[j] == pytest.approx(confidence)
        assert result.lower[j] - 1e-12 <= accuracy <= result.upper[j] + 1e-12
        ece += len(inside) / m * abs(accuracy - confidence)
    assert result.ece == pytest.approx(ece, abs=1e-12)


def test_the_ends_of_wilsons_interval_solve_his_equation():
    p = np.column_stack([np.full(40, 0.7), np.full(40, 0.3)])
    y = (np.arange(40) >= 29).astype(int)
    result = softmax.reliability(p, y, bins=1, level=0.95)
    for end in (result.lower[0], result.upper[0]):
        assert abs(29 - 40 * end) == pytest.approx(1.959963984540054 * (40 * end * (1 - end)) ** 0.5)
    # all right: from n / (n + z^2) to 1
    sure = softmax.reliability(p, np.zeros(40, int), bins=1)
    assert sure.upper[0] == pytest.approx(1.0)
    assert sure.lower[0] == pytest.approx(40 / (40 + 1.959963984540054**2))


def test_calibrated_probabilities_look_calibrated():
    rng = np.random.default_rng(0)
    q = softmax.softmax(rng.normal(size=(20_000, 3)) * 2)
    y = (q.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    honest = softmax.reliability(q, y)
    inside = (honest.lower <= honest.confidence) & (honest.confidence <= honest.upper)
    assert inside[honest.counts > 0].mean() >= 0.7
    assert honest.ece < 0.02
    sharpened = softmax.reliability(softmax.softmax(3 * np.log(q)), y)
    assert sharpened.ece > 0.1
