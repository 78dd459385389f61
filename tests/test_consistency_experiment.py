"""The classifiers of the experiment against the book's own, and the stored numbers against a new run."""

import numpy as np
import pytest

from experiments import consistency as command
from experiments import read
from mcutils import consistency
from mcutils.binary import BinarySVM
from mcutils.reduction import pairs
from mcutils.softmax import SoftmaxRegression
from mcutils.solver import CrammerSinger, WestonWatkins


@pytest.fixture(scope="module")
def problem():
    """Twelve inputs with three classes, in unequal shares, some of them 0."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5, size=(12, 3))
    return rng.normal(size=(12, 4)), counts / counts.sum()


def listed(X, shares):
    """The same sample as examples with weights."""
    place, label = np.nonzero(shares)
    return X[place], label, shares[place, label]


@pytest.mark.parametrize("C", [0.3, 30.0])
@pytest.mark.parametrize(
    ("surrogate", "model"),
    [("crammer_singer", CrammerSinger), ("weston_watkins", WestonWatkins), ("softmax", SoftmaxRegression)],
)
def test_the_trained_classifier_is_that_of_the_book(problem, surrogate, model, C):
    X, shares = problem
    W, gap = command.train(surrogate, X, shares, C)
    Z, y, weights = listed(X, shares)
    peer = model(C=C, fit_intercept=False, tol=1e-9).fit(Z, y, sample_weight=weights)
    assert gap < 1e-4
    np.testing.assert_allclose(W.T, peer.coef_, atol=2e-3)


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_one_vs_all_classifiers_are_binary_classifiers(problem, C):
    X, shares = problem
    W, _ = command.train("ova_hinge", X, shares, C)
    V, _ = command.train("squared", X, shares, C)
    total = shares.sum(axis=1)
    Z, y, weights = listed(X, shares)
    for r in range(3):
        peer = BinarySVM(C=C, fit_intercept=False, tol=1e-9).fit(Z, y == r, sample_weight=weights)
        np.testing.assert_allclose(W[:, r], peer.coef_[0], atol=2e-3)
        normal = np.eye(4) + 2 * C * X.T @ (total[:, None] * X)
        np.testing.assert_allclose(
            V[:, r], np.linalg.solve(normal, 2 * C * X.T @ (2 * shares[:, r] - total)), atol=1e-5
        )


def test_duels_are_binary_classifiers(problem):
    """Two scores that differ by f have half the squared norm that f has: the penalty counts twice."""
    X, shares = problem
    for (W, _), (a, b) in zip(command.all_pairs(X, shares, 3.0), pairs(3), strict=True):
        Z, y, weights = listed(X, shares[:, [a, b]])
        peer = BinarySVM(C=6.0, fit_intercept=False, tol=1e-9).fit(Z, y == 0, sample_weight=weights)
        np.testing.assert_allclose(W[:, 0] - W[:, 1], peer.coef_[0], atol=2e-3)


@pytest.mark.parametrize("surrogate", consistency.SURROGATES)
def test_no_classifier_near_by_is_better_than_the_gap_allows(problem, surrogate):
    X, shares = problem
    W, gap = command.train(surrogate, X, shares, 5.0)

    def objective(V):
        return 0.5 * np.vdot(V, V) + 5.0 * np.vdot(shares, consistency.losses(surrogate, X @ V))

    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-2, 1e-1, 1.0):
        for _ in range(50):
            assert objective(W + size * rng.normal(size=W.shape)) >= objective(W) - gap
    assert gap < 1e-4


def test_stored_numbers_are_found_again():
    stored = read("consistency")
    for name, p in command.designs().items():
        assert p.min() > 0
        assert np.allclose(p.sum(axis=1), 1)
        assert (p.max(axis=1) > 0.5).all() == (name == "majority")
        assert stored["bayes"][name] == pytest.approx(1 - p.max(axis=1).mean(), abs=1e-6)
        for model, error in stored["limits"][name].items():
            assert command.limit(model, p) == pytest.approx(error, abs=1e-6)
    p = command.designs()["no majority"]
    X = command.place_features(len(p))
    for row in stored["rows"]:
        if row["design"] == "no majority" and row["m"] in (100, 10_000):
            counts = command.draw(p, row["m"], 3)
            s, _ = command.scores(row["machine"], X, counts / row["m"], command.FADE * row["m"] ** 0.5, X)
            error, tied = command.error(s, p, command.TIE)
            assert error == pytest.approx(row["errors"][3], abs=2e-3)
            assert tied == pytest.approx(row["tied"][3], abs=0.06)
