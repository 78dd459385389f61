"""The perceptron of k classes: exact twins that keep nothing, optimality by vertices, peers, and the bound.

The mistakes of every update, also of random ones, are counted against a margin that is certified.

The kernel perceptron: exact twins that keep no scores, the same classifier in feature space, and
scikit-learn's.
"""

import pickle
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cvxopt import matrix, solvers
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import cross_val_score

from mcutils import _rows, kernel
from mcutils.binary import NotSeparable, solve_svm
from mcutils.jit import perceptron as jit
from mcutils.perceptron import (
    KernelPerceptron,
    MulticlassPerceptron,
    _bound,
    _updates,
    mira,
    mistake_bound,
    ultraconservative,
)

UPDATES = ("top", "uniform", "proportional", "mira")


def generous(f, y):
    """Another ultraconservative update: whoever is in front pays by its place in the row."""
    ahead = np.flatnonzero((f >= f[y]) & (np.arange(len(f)) != y))
    tau = np.zeros(len(f))
    tau[ahead] = -(ahead + 1.0) / (ahead + 1.0).sum()
    tau[y] = 1.0
    return tau


# ---------------------------------------------------------------------------------------------------
# Updates

ROWS = st.integers(2, 6).flatmap(
    lambda k: st.tuples(
        hnp.arrays(np.float64, k, elements=st.integers(-3, 3)),
        st.integers(0, k - 1),
        st.integers(0, 40).map(lambda a: a / 4),
    )
)


@pytest.mark.parametrize("update", [*UPDATES, generous])
@given(row=ROWS)
@example(row=(np.zeros(3), 2, 1.0))
@example(row=(np.array([0.0, 1.0]), 1, 0.0))
def test_every_update_is_ultraconservative(update, row):
    f, y, square = row
    tau = ultraconservative(f[None], [y], update, squares=[square])[0]
    ahead = [r for r in range(len(f)) if r != y and f[r] >= f[y]]
    assert tau[y] == (1 if ahead else 0)
    assert all(tau[r] <= 0 for r in ahead)
    assert all(tau[r] == 0 for r in range(len(f)) if r != y and r not in ahead)
    assert abs(tau.sum()) < 1e-15


@given(row=ROWS)
def test_updates_are_their_formulas(row):
    f, y, _ = row
    ahead = [r for r in range(len(f)) if r != y and f[r] >= f[y]]
    if not ahead:
        return
    top = ultraconservative(f[None], [y], "top")[0]
    winner = max(ahead, key=lambda r: (f[r], -r))
    assert np.flatnonzero(top < 0).tolist() == [winner]
    uniform = ultraconservative(f[None], [y], "uniform")[0]
    assert uniform[ahead].tolist() == [-1 / len(ahead)] * len(ahead)
    proportional = ultraconservative(f[None], [y], "proportional")[0]
    leads = [Fraction(f[r] - f[y]) for r in ahead]
    if sum(leads):
        assert np.allclose(proportional[ahead], [-float(one / sum(leads)) for one in leads], rtol=1e-15)
    else:
        assert np.array_equal(proportional, uniform)


@given(row=ROWS)
def test_mira_makes_the_norm_as_small_as_it_can(row):
    """A convex programme over a simplex: optimal if and only if no vertex lies downhill."""
    f, y, square = row
    k = len(f)
    ahead = [r for r in range(k) if r != y and f[r] >= f[y]]
    tau = ultraconservative(f[None], [y], "mira", squares=[square])[0]
    if ahead:
        gradient = square * tau + f
        assert all(gradient @ (-np.eye(k)[r] + np.eye(k)[y] - tau) >= -1e-10 for r in ahead)
    original = mira(f[None], [y], [square])[0]
    assert original[y] <= 1 + 1e-15
    assert abs(original.sum()) < 1e-15
    assert all(original[r] <= 0 for r in range(k) if r != y)
    if square:
        gradient = square * original + f
        assert all(gradient @ (np.eye(k)[y] - np.eye(k)[r] - original) >= -1e-10 for r in range(k))
        # the norm of W does not grow, and only those in front pay
        assert original @ f + square * (original @ original) / 2 <= 1e-12
        assert all(original[r] == 0 for r in range(k) if r not in (*ahead, y))
        if original[y] == pytest.approx(1, abs=1e-14):
            assert np.allclose(original, tau, atol=1e-12)
    if not ahead or f[y] == f.max():
        assert not original.any()  # so from W = 0 it does not start


def test_large_and_small_scores():
    f = np.array([[0.0, 1e308, -1e308, 1e308], [1e-320, 3e-320, 2e-320, 0.0], [1e16, 1e16 + 2, 1e16, 0.0]])
    for update in UPDATES:
        tau = ultraconservative(f, [2, 3, 0], update, squares=[1.0, 1e-320, 1e300])
        assert np.isfinite(tau).all()
        assert np.abs(tau.sum(axis=1)).max() < 1e-15
    assert np.array_equal(tau[0], [0, -0.5, 1, -0.5])
    assert np.isfinite(mira(f, [2, 3, 0], [1.0, 1e-320, 1e300])).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ultraconservative([[0.0, 1.0]], [0], "best"),
            "update must be one of 'top', .* found 'best'",
        ),
        (lambda: ultraconservative([[0.0, 1.0]], [0], None), "update must be one of .* found None"),
        (lambda: ultraconservative([[0.0, 1.0]], [0], "mira"), "squares must be given for 'mira'"),
        (lambda: ultraconservative([[0.0, 1.0]], [2]), "y must be integers from 0 to 1"),
        (lambda: ultraconservative([[0.0]], [0]), "scores must be a matrix"),
        (lambda: mira([[0.0, 1.0]], [0], [-1.0]), "squares must be finite numbers, at least 0"),
        (lambda: mira([[0.0, 1.0]], [0], [np.nan]), "squares must be finite numbers, at least 0"),
        (lambda: mira([[0.0, 1.0]], [0], [[1.0]]), "squares must have one number for each of the 1 rows"),
    ],
)
def test_what_the_updates_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "tau",
    [
        [1.0, -1.0, 0.0],  # class 1 is behind
        [1.0, 0.0, -0.5],
        [0.5, 0.0, -0.5],
        [1.0, 0.0, np.nan],
        [2.0, 0.0, -1.0],
        [np.nan] * 3,
    ],
)
def test_an_update_that_is_not_ultraconservative_is_refused(tau):
    with pytest.raises(ValueError, match="update must be ultraconservative"):
        ultraconservative([[1.0, 0.0, 2.0]], [0], lambda f, y: tau)
    with pytest.raises(ValueError, match="a number for each of 3 classes, found the shape"):
        ultraconservative([[1.0, 0.0, 2.0]], [0], lambda f, y: tau[:2])


def test_an_update_cannot_change_the_scores():
    def vandal(f, y):
        tau = generous(f, y)
        f[:] = np.nan
        return tau

    X, y = load_iris(return_X_y=True)
    options = {"max_iter": 2, "shuffle": False}
    with pytest.warns(ConvergenceWarning):
        result = MulticlassPerceptron(vandal, **options).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        assert np.array_equal(result.coef_, MulticlassPerceptron(generous, **options).fit(X, y).coef_)


# ---------------------------------------------------------------------------------------------------
# The estimator


def naive(gram, y, k, update, epochs, bias, dtype=object):
    """Every score summed up anew from the coefficients; exact for integers and rational updates.

    Returns the coefficients (m, k) after each step, and the mistakes of each epoch.
    """
    m = len(y)
    gram = [[one + bias for one in row] for row in gram]
    c, history, mistakes = np.zeros((m, k), dtype=dtype), [], []
    while len(mistakes) < epochs and 0 not in mistakes:
        made = 0
        for i in range(m):
            f = [sum(c[j, r] * gram[i][j] for j in range(m)) for r in range(k)]
            tau = tau_of(f, y[i], update, gram[i][i])
            if tau is not None:
                c[i] += np.array(tau, dtype=dtype)
                made += 1
            history.append(c.copy())
        mistakes.append(made)
    return history, mistakes


def tau_of(f, y, update, square):
    """In the numbers that it is given; MIRA's level by trying every number of those that pay."""
    k = len(f)
    ahead = [r for r in range(k) if r != y and f[r] >= f[y]]
    if not ahead:
        return None
    share = dict.fromkeys(range(k), 0)
    if update == "top":
        share[max(ahead, key=lambda r: (f[r], -r))] = 1
    elif update == "proportional" and sum(f[r] - f[y] for r in ahead) > 0:
        for r in ahead:
            share[r] = (f[r] - f[y]) / (sum(f[s] - f[y] for s in ahead) * one_of(f[y]))
    elif update == "mira" and square > 0:
        for n in range(1, len(ahead) + 1):
            payers = sorted(ahead, key=lambda r: -f[r])[:n]
            level = (sum(f[r] for r in payers) - square) * one_of(f[y]) / n
            if all(f[r] > level for r in payers) and all(f[r] <= level for r in set(ahead) - set(payers)):
                break
        for r in payers:
            share[r] = (f[r] - level) * one_of(f[y]) / square
    else:
        for r in ahead:
            share[r] = one_of(f[y]) / len(ahead)
    return [1 if r == y else -share[r] for r in range(k)]


def one_of(number):
    return 1.0 if isinstance(number, float) else Fraction(1)


SAMPLES = st.integers(2, 9).flatmap(
    lambda m: st.tuples(
        hnp.arrays(np.int64, st.tuples(st.just(m), st.integers(1, 3)), elements=st.integers(-3, 3)),
        hnp.arrays(np.int64, m, elements=st.integers(0, 3)).filter(lambda y: len(set(y.tolist())) > 1),
    )
)


def everything(result, history, X, one, points, values, labels=None):
    """What a fitted classifier predicts at some points, against the coefficients after each of its steps."""
    classes = len(result.classes_)
    c = np.array([step.astype(float) for step in history])
    scores = np.einsum("tir,ij->tjr", c, values + one)
    assert result.t_ == len(history)
    if result.average == "voted":
        votes = np.zeros((len(points), classes))
        for step in scores:
            votes[np.arange(len(points)), step.argmax(axis=1)] += 1
        expected = votes / len(history)
        assert result.votes_.sum() == result.t_
        assert result.mistakes_.sum() == len(result.moved_) == len(result.moves_)
    else:
        expected = scores.mean(axis=0) if result.average else scores[-1]
        mean = c.mean(axis=0) if result.average else c[-1]
        assert np.allclose(result.intercept_, one * mean.sum(axis=0), atol=1e-12)
        if result.kernel is None:
            assert result.coef_.shape == (classes, X.shape[1])
            assert np.allclose(result.coef_, mean.T @ X, rtol=1e-12, atol=1e-12)
        else:
            assert np.allclose(result.dual_coef_, mean.T[:, result.support_], rtol=1e-12)
    if result.kernel is not None or result.average == "voted":
        assert result.support_.tolist() == np.flatnonzero(c[-1].any(axis=1)).tolist()
    given = values.T if result.kernel == "precomputed" else points
    assert np.allclose(result.scores(given), expected, rtol=1e-12, atol=1e-11)
    decided = result.decision_function(given)
    if classes == 2:
        assert np.allclose(decided, expected[:, 1] - expected[:, 0], atol=1e-11)
        assert result.predict(given).tolist() == result.classes_[(decided > 0).astype(int)].tolist()
    else:
        assert result.predict(given).tolist() == result.classes_[decided.argmax(axis=1)].tolist()
    if labels is not None and result.converged_ and result.average is False:
        assert result.predict(given).tolist() == labels.tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("average", [False, True, "voted"])
@pytest.mark.parametrize("q", [None, 1, 2, "precomputed"])
@given(sample=SAMPLES, bias=st.booleans(), epochs=st.integers(1, 9))
@example(sample=(np.array([[0], [0]]), np.array([0, 1])), bias=True, epochs=3)  # inseparable: equal points
@example(sample=(np.array([[0], [1]]), np.array([2, 1])), bias=False, epochs=3)  # inseparable: the origin
def test_it_is_its_naive_twin(average, q, sample, bias, epochs):
    """The top update in integers, where all is exact."""
    X, labels = sample
    y = np.unique(labels, return_inverse=True)[1]
    one = kernel.polynomial(2, b=1.0) if q == 2 else kernel.linear
    gram = one.gram(X).astype(int)
    history, mistakes = naive(gram.tolist(), y.tolist(), y.max() + 1, "top", epochs, int(bias))
    result = MulticlassPerceptron(
        kernel=one if q in (1, 2) else q, fit_intercept=bias, average=average, max_iter=epochs, shuffle=False
    ).fit(gram if q == "precomputed" else X, labels)
    assert result.mistakes_.tolist() == mistakes
    assert (result.n_iter_, result.converged_) == (len(mistakes), mistakes[-1] == 0)
    everything(result, history, X, int(bias), X, gram, labels)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("update", ["uniform", "proportional", "mira"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", [None, "rbf", "linear"])
def test_the_other_updates_are_their_naive_twins(update, bias, name):
    """On points in general position; 150 of them, so that there are several blocks."""
    for seed, k in enumerate((3, 5)):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 3)), rng.integers(0, k, size=150)
        y[:k] = np.arange(k)
        points = rng.normal(size=(40, 3))
        one = kernel.rbf(0.5) if name == "rbf" else kernel.linear
        history, mistakes = naive_floats(one.gram(X) + bias, y, k, update, 3)
        for average in (False, True, "voted"):
            result = MulticlassPerceptron(
                update,
                kernel=name,
                gamma=0.5,
                fit_intercept=bias,
                average=average,
                max_iter=3,
                shuffle=False,
            ).fit(X, y)
            assert result.mistakes_.tolist() == mistakes
            # elsewhere: at the example itself, a step of MIRA leaves ties, and rounding would break them
            everything(result, history, X, int(bias), points, one.gram(X, points))


def naive_floats(gram, y, k, update, epochs):
    c, history, mistakes = np.zeros((len(y), k)), [], []
    for _ in range(epochs):
        mistakes.append(0)
        for i in range(len(y)):
            # the same sums for equal columns, so that they tie
            f = [float(np.dot(np.ascontiguousarray(c[:, r]), gram[i])) for r in range(k)]
            tau = tau_of(f, y[i], update, float(gram[i, i]))
            if tau is not None:
                c[i] += tau
                mistakes[-1] += 1
            history.append(c.copy())
    return history, mistakes


def test_thirds_in_fractions():
    """Shares that are no binary fractions: the twin computes in rationals, and ties there are ties."""
    X = np.array([[1, 0], [0, 1], [-1, -1], [2, 1], [1, 3], [-2, 0]])
    y = np.array([0, 1, 2, 3, 1, 2])
    for update in ("uniform", "proportional", "mira"):
        exact = naive((X @ X.T).tolist(), y.tolist(), 4, update, 1, 1)[0]
        with pytest.warns(ConvergenceWarning):
            result = MulticlassPerceptron(
                update, kernel="linear", average=False, shuffle=False, max_iter=1
            ).fit(X, y)
        assert np.allclose(result.dual_coef_.T, exact[-1].astype(float)[result.support_], rtol=1e-14)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("update", [*UPDATES, generous])
@given(sample=SAMPLES, bias=st.booleans(), epochs=st.integers(1, 9))
def test_for_two_classes_it_is_the_perceptron(update, sample, bias, epochs):
    """The weights of the second class are those of the two-class perceptron: the factor is 1, and not 2."""
    X, labels = sample
    y = labels == labels.max()
    options = {"max_iter": epochs, "random_state": 3}
    for average in (False, True):
        peer = KernelPerceptron(average=average, fit_intercept=bias, **options).fit(X, y)
        w = peer.dual_coef_ @ peer.support_vectors_
        for name in (None, "linear"):
            result = MulticlassPerceptron(
                update, kernel=name, average=average, fit_intercept=bias, **options
            ).fit(X, y)
            assert np.array_equal(result.mistakes_, peer.mistakes_)
            assert np.allclose(result.intercept_, peer.intercept_[0] * np.array([-1, 1]), atol=1e-12)
            if name is None:
                assert np.allclose(result.coef_, np.concatenate([-w, w]), atol=1e-12)
            else:
                assert np.array_equal(result.support_, peer.support_)
                assert np.allclose(result.dual_coef_[1], peer.dual_coef_[0], atol=1e-12)
            assert np.allclose(result.decision_function(X), 2 * peer.decision_function(X), atol=1e-11)
    if epochs == 1:
        return
    # the same with the kernel of a matrix
    gram = kernel.linear.gram(X)
    own = MulticlassPerceptron(update, kernel="precomputed", fit_intercept=bias, **options).fit(gram, y)
    assert np.array_equal(own.mistakes_, peer.mistakes_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [None, "linear", "rbf"])
@pytest.mark.parametrize("average", [False, True, "voted"])
def test_batches_are_epochs(name, average):
    X, y = make_blobs(230, centers=4, cluster_std=2.5, random_state=0)
    X = np.round(8 * X)
    options = {"kernel": name, "gamma": 0.001, "shuffle": False, "average": average}
    whole = MulticlassPerceptron(**options, max_iter=4).fit(X, y)
    assert not whole.converged_
    parts, one = MulticlassPerceptron(**options), MulticlassPerceptron(**options)
    for _ in range(4):
        one.partial_fit(X, y, classes=range(4))
        for start in range(0, 230, 70):
            batch = slice(start, start + 70)
            parts.partial_fit(X[batch], y[batch], classes=[0, 1, 2, 3])
    assert np.array_equal(one.mistakes_, whole.mistakes_)
    assert one.mistakes_.sum() == parts.mistakes_.sum()
    assert one.t_ == parts.t_ == whole.t_
    for other in (one, parts):
        assert np.allclose(other.scores(X), whole.scores(X), rtol=1e-9, atol=1e-7)
        if name is not None or average == "voted":
            # counted through all batches: epoch by epoch, the same examples again
            assert set((other.support_ % 230).tolist()) == set(whole.support_.tolist())
            assert np.array_equal(other.support_vectors_, X[other.support_ % 230])
        if average == "voted":
            assert np.array_equal(other.votes_, whole.votes_)
            assert np.array_equal(other.moves_, whole.moves_)
    # and fit goes back to 0
    assert np.array_equal(parts.set_params(max_iter=4).fit(X, y).scores(X), whole.scores(X))


@pytest.mark.parametrize("make", [csr_array, csr_matrix, csc_array, pd.DataFrame])
@pytest.mark.parametrize("name", [None, "linear", "rbf"])
@pytest.mark.parametrize("average", [True, "voted"])
def test_other_containers(make, name, average):
    rng = np.random.default_rng(6)
    X = (rng.integers(-3, 4, size=(90, 5)) * rng.integers(0, 2, size=(90, 5))).astype(float)
    y = np.array(["a", "b", "c"])[(X @ rng.normal(size=(5, 3))).argmax(axis=1)]
    options = {"kernel": name, "gamma": 0.5, "average": average, "random_state": 0, "max_iter": 3000}
    X, y = X[X.any(axis=1)], y[X.any(axis=1)]
    plain = MulticlassPerceptron(**options).fit(X, y)
    other = MulticlassPerceptron(**options).fit(make(X), y)
    assert np.array_equal(other.mistakes_, plain.mistakes_)
    assert np.allclose(other.scores(make(X)), plain.scores(X), atol=1e-9)
    assert other.predict(make(X)).dtype == y.dtype
    again = pickle.loads(pickle.dumps(other))
    assert np.array_equal(again.predict(make(X)), other.predict(make(X)))
    # batches of the one kind after batches of the other
    mixed = MulticlassPerceptron(**options).partial_fit(X, y, classes=["a", "b", "c"])
    both = MulticlassPerceptron(**options).partial_fit(X, y, classes=["a", "b", "c"]).partial_fit(X, y)
    if make is pd.DataFrame:
        mixed.partial_fit(make(X).to_numpy(), y)
    else:
        mixed.partial_fit(make(X), y)
    assert np.allclose(mixed.scores(X), both.scores(X), atol=1e-9)


def test_sparse_examples_stay_sparse():
    """20,000 x 50,000 would be 8 GB: it takes the memory of what is stored, and of W."""
    rng = np.random.default_rng(0)
    places = rng.integers(2000, size=100_000), rng.integers(50_000, size=100_000)
    X = csr_array((rng.random(100_000), places), shape=(2000, 50_000))
    y = rng.integers(0, 4, size=2000)
    model = MulticlassPerceptron(random_state=0, max_iter=1)
    MulticlassPerceptron(random_state=0).fit(
        csr_array(np.eye(2)), [0, 1]
    )  # so that what is loaded at the first call is not counted
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.coef_.shape == (4, 50_000)
    # W, the moves for the average, the average and its parts, each 1.6 MB; dense, X has 800 MB
    assert peak < 8 * model.coef_.nbytes + 3 * X.data.nbytes
    # explicit zeros and entries that are stored in two parts count as what they are
    doubled = csr_matrix(
        (np.repeat(X.data[:300], 2) / 2, np.repeat(X.indices[:300], 2), [0, 200, 420, 600]), shape=(3, 50_000)
    )
    for form in (doubled, csr_matrix(doubled.toarray())):
        result = MulticlassPerceptron("uniform", random_state=0).fit(form, [0, 1, 2])
        assert result.mistakes_.tolist() == [3, 0] or result.mistakes_[-1] == 0
        assert result.predict(doubled).tolist() == [0, 1, 2]


def test_rows_are_computed_when_needed_and_not_twice():
    X, inner = make_circles(2000, noise=0.05, factor=0.4, random_state=1)
    y = inner + 2 * (X[:, 0] > 0) * inner
    rows = []

    def counting(X, Z):
        rows.append(len(X))
        return kernel.rbf(2.0).block(X, Z)

    one = kernel.Kernel("counted", {}, counting, kernel.rbf(2.0).self_products)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = MulticlassPerceptron(kernel=one, shuffle=False, max_iter=3).fit(X, y)
    assert result.n_iter_ == 3
    assert len(result.support_) <= sum(rows) < 2 * len(result.support_) + 200


def test_orders():
    X, y = make_blobs(200, centers=3, cluster_std=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = [
            MulticlassPerceptron(shuffle=shuffle, random_state=seed, max_iter=5).fit(X, y).scores(X)
            for shuffle, seed in ((True, 0), (True, 0), (True, 1), (False, 0), (False, 1))
        ]
    assert np.array_equal(scores[0], scores[1])
    assert not np.allclose(scores[0], scores[2])
    assert np.array_equal(scores[3], scores[4])


def test_a_gram_matrix_is_cut_on_both_sides():
    X, y = make_blobs(90, centers=3, random_state=2)
    gram = kernel.rbf(0.2).gram(X)
    options = {"update": "mira", "random_state": 0, "max_iter": 1000}
    direct = cross_val_score(MulticlassPerceptron(kernel="rbf", gamma=0.2, **options), X, y)
    for name in ("precomputed", kernel.precomputed):
        for average in (True, "voted"):
            model = MulticlassPerceptron(kernel=name, average=average, **options)
            scores = cross_val_score(model, gram, y)
            assert average == "voted" or np.array_equal(scores, direct)
            assert not hasattr(model, "partial_fit")


def test_a_refit_leaves_nothing_behind():
    X, y = separable_sample(0)
    model = MulticlassPerceptron(average="voted", max_iter=1000).fit(X, y)
    assert not hasattr(model, "coef_")
    model.set_params(average=True).fit(X, y)
    assert not hasattr(model, "votes_")
    assert not hasattr(model, "support_")
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="cannot be taken up or given up between batches"):
        model.set_params(kernel=None).partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot be taken up or given up between batches"):
        model.set_params(kernel="linear", average="voted").partial_fit(X, y)
    # the last and the average may be exchanged
    last = model.set_params(average=False).partial_fit(X[:1], y[:1])
    assert np.array_equal(last.dual_coef_, np.round(last.dual_coef_))


def test_it_reports_that_the_classes_are_not_separated():
    with pytest.warns(ConvergenceWarning, match="epoch 5, the last, made 2 mistakes on 2 examples"):
        result = MulticlassPerceptron(max_iter=5).fit([[1.0], [1.0]], [0, 1])
    assert not result.converged_
    assert result.n_iter_ == 5


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"max_iter": 0}, [[0.0], [1.0]], [0, 1], "max_iter must be an integer, at least 1, found 0"),
        ({"update": "least"}, [[0.0], [1.0]], [0, 1], "update must be one of .* found 'least'"),
        ({"kernel": "sigmoid"}, [[0.0], [1.0]], [0, 1], "kernel must be .* found 'sigmoid'"),
        ({"kernel": "rbf", "gamma": -1}, [[0.0], [1.0]], [0, 1], "gamma must be .* found -1"),
        ({"kernel": "precomputed"}, [[0.0], [1.0]], [0, 1], r"square matrix in fit, found shape \(2, 1\)"),
        ({}, [[0.0], [1.0]], ["a", "a"], r"y must have at least 2 classes, found 1 class: \['a'\]"),
        ({}, [[0.0], [1.0]], [0.5, 1.5], "Unknown label type"),
        ({"fit_intercept": 1}, [[0.0], [1.0]], [0, 1], "fit_intercept must be True or False, found 1"),
        ({"average": "all"}, [[0.0], [1.0]], [0, 1], "average must be True, False or 'voted', found 'all'"),
        ({"average": 1}, [[0.0], [1.0]], [0, 1], "average must be True, False or 'voted', found 1"),
        ({"shuffle": None}, [[0.0], [1.0]], [0, 1], "shuffle must be True or False, found None"),
        ({}, [[1e200], [-1e200]], [0, 1], "leave the range of floating point; scale X"),
        ({"kernel": "linear"}, [[1e200], [-1e200]], [0, 1], "leaves the range of floating point"),
    ],
)
def test_what_it_refuses(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        MulticlassPerceptron(**options).fit(X, y)


def test_what_partial_fit_refuses():
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        MulticlassPerceptron().partial_fit([[1.0]], [0])
    with pytest.raises(ValueError, match="classes must be at least 2 classes"):
        MulticlassPerceptron().partial_fit([[1.0]], [0], classes=[0])
    model = MulticlassPerceptron()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.partial_fit([[np.nan]], ["a"], classes=["a", "b", "c"])
    model.partial_fit([[1.0]], ["a"], classes=["a", "b", "c"])  # a call that failed was no first call
    assert model.n_features_in_ == 1
    with pytest.raises(ValueError, match=r"y has labels that are not among the classes: \['d'\]"):
        model.partial_fit([[1.0]], ["d"])
    assert model.predict([[1.0], [-1.0]]).tolist() == ["a", "a"]
    assert model.coef_.shape == (3, 1)
    with pytest.raises(NotFittedError):
        MulticlassPerceptron().predict([[1.0]])


# ---------------------------------------------------------------------------------------------------
# Weights and costs


def costly(X, y, k, update, epochs, bias, weights, cost):
    """In plain Python, scores summed up anew: W after each step, mistakes and penalties of epochs."""
    m, one = len(y), 1 if bias else 0
    d = len(X[0])
    W = [[0] * (d + 1) for _ in range(k)]
    history, mistakes, paid = [], [], []
    while len(mistakes) < epochs and 0 not in mistakes:
        mistakes.append(0)
        paid.append(0)
        for i in range(m):
            if weights[i] == 0:
                continue
            x, true = [*X[i], one], y[i]
            f = [sum(a * b for a, b in zip(row, x, strict=True)) for row in W]
            rivals = [r for r in range(k) if cost[true][r] > 0 and f[r] >= f[true]]
            if rivals:
                first = min(rivals, key=lambda r: (-f[r], r))
                length = weights[i] * cost[true][first]
                # the free ones are out of the race, and the rest is an update as ever
                shown = [f[r] if r in (*rivals, true) else f[true] - 1 for r in range(k)]
                tau = tau_of(shown, true, update, length * sum(a * a for a in x))
                W = [
                    [a + length * t * b for a, b in zip(row, x, strict=True)]
                    for row, t in zip(W, tau, strict=True)
                ]
                mistakes[-1] += 1
                paid[-1] += length
            history.append(np.array(W, dtype=float))
    return np.array(history), mistakes, paid


COSTS = np.array([[0.0, 1.0, 4.0, 0.0], [2.0, 0.0, 0.5, 3.0], [1.0, 1.0, 0.0, 2.0], [8.0, 0.0, 0.25, 0.0]])


def weighted_sample(seed, m=150, k=4):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-5, 6, size=(m, 3)), rng.integers(0, k, size=m)
    y[:k] = np.arange(k)
    return X, y, rng.integers(0, 4, size=m) / 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", [None, "linear", "precomputed"])
def test_with_weights_and_costs_it_is_its_plain_twin(name, bias):
    X, y, weights = weighted_sample(0)
    for update in ("top", "mira", "uniform", "proportional"):
        numbers = weights.tolist(), COSTS.tolist()
        points = X.tolist()
        if update == "top":  # in integers, all exact: also at points that were learned
            history, mistakes, paid = costly(points, y.tolist(), 4, update, 4, bias, *numbers)
        else:
            X = X + np.random.default_rng(1).normal(size=X.shape)
            history, mistakes, paid = costly(X.tolist(), y.tolist(), 4, update, 4, bias, *numbers)
        elsewhere = np.random.default_rng(2).normal(size=(50, 3))
        scores = np.einsum("trj,ij->tir", history, np.column_stack([elsewhere, np.full(50, float(bias))]))
        for average in (False, True, "voted"):
            result = MulticlassPerceptron(
                update,
                kernel=name,
                fit_intercept=bias,
                cost=COSTS,
                average=average,
                max_iter=4,
                shuffle=False,
            ).fit(X @ X.T if name == "precomputed" else X, y, sample_weight=weights)
            assert result.mistakes_.tolist() == mistakes
            assert np.allclose(result.paid_, paid, rtol=1e-12)
            assert result.t_ == len(history) == 4 * np.count_nonzero(weights)
            expected = scores.mean(axis=0) if average is True else scores[-1]
            if average == "voted":
                assert result.moves_.sum(axis=1) == pytest.approx(0, abs=1e-12)
                assert np.maximum(result.moves_, 0).sum() == pytest.approx(sum(paid))
                expected = (scores.argmax(axis=2)[:, :, None] == np.arange(4)).mean(axis=0)
            given = elsewhere @ X.T if name == "precomputed" else elsewhere
            assert np.allclose(result.scores(given), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("costs", [[[0, 2], [3, 0]], [[0, 0], [1, 0]], [[0, 1], [1, 0]]])
def test_two_classes_with_a_kernel_weights_and_costs(update, costs):
    """They have a loop of their own; in integers it is exact."""
    X, y, weights = weighted_sample(5, k=2)
    history, mistakes, paid = costly(X.tolist(), y.tolist(), 2, "top", 4, True, weights.tolist(), costs)
    options = {"kernel": "linear", "average": False, "max_iter": 4, "shuffle": False}
    result = MulticlassPerceptron(update, cost=costs, **options).fit(X, y, sample_weight=weights)
    assert result.mistakes_.tolist() == mistakes
    assert result.paid_.tolist() == paid
    scores = np.column_stack([X, np.ones(len(X))]) @ history[-1].T
    assert np.array_equal(result.scores(X), scores)
    if costs == [[0, 1], [1, 0]]:
        kernelled = KernelPerceptron(**options).fit(X, y, sample_weight=weights)
        assert kernelled.paid_.tolist() == paid
        assert np.array_equal(kernelled.scores(X), scores)
        assert np.array_equal(kernelled.decision_function(X), scores[:, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("update", [*UPDATES, generous])
@pytest.mark.parametrize("name", [None, "rbf"])
@pytest.mark.parametrize("average", [False, True, "voted"])
def test_weights_and_costs_that_say_nothing(update, name, average):
    X, y, weights = weighted_sample(3)
    X = X / 4
    options = {"kernel": name, "gamma": 0.5, "average": average, "max_iter": 5, "random_state": 0}
    plain = MulticlassPerceptron(update, **options).fit(X, y)
    for same in (
        MulticlassPerceptron(update, cost=1 - np.eye(4), **options).fit(X, y, sample_weight=np.ones(150)),
        MulticlassPerceptron(update, class_weight={2: 1.0}, **options).fit(X, y),
    ):
        assert np.array_equal(same.mistakes_, plain.mistakes_)
        assert np.array_equal(same.paid_, plain.mistakes_)
        assert np.array_equal(same.scores(X), plain.scores(X))
    # a common factor (a power of 2 rounds nothing) multiplies W
    for longer in (
        MulticlassPerceptron(update, cost=8 * (1 - np.eye(4)), **options).fit(X, y),
        MulticlassPerceptron(update, **options).fit(X, y, sample_weight=np.full(150, 8.0)),
        MulticlassPerceptron(update, class_weight=dict.fromkeys(range(4), 8.0), **options).fit(X, y),
    ):
        assert np.array_equal(longer.mistakes_, plain.mistakes_)
        assert np.array_equal(longer.paid_, 8 * plain.mistakes_)
        factor = 1 if average == "voted" else 8
        assert np.array_equal(longer.scores(X), factor * plain.scores(X))
    # examples of weight 0 are absent
    options["shuffle"] = False
    less = MulticlassPerceptron(update, **options).fit(X, y, sample_weight=weights > 0)
    without = MulticlassPerceptron(update, **options).fit(X[weights > 0], y[weights > 0])
    assert np.array_equal(less.mistakes_, without.mistakes_)
    points = np.random.default_rng(0).normal(size=(50, 3))
    assert np.allclose(less.scores(points), without.scores(points), atol=1e-12)
    if name is not None or average == "voted":
        assert np.array_equal(np.flatnonzero(weights > 0)[without.support_], less.support_)


def test_class_weights_are_weights():
    X, y, weights = weighted_sample(4)
    names = np.array(["a", "b", "c", "d"])
    options = {"max_iter": 3, "random_state": 0, "average": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        balanced = MulticlassPerceptron(class_weight="balanced", **options).fit(X, names[y])
        same = MulticlassPerceptron(**options).fit(X, y, sample_weight=(150 / 4 / np.bincount(y))[y])
        assert np.array_equal(balanced.coef_, same.coef_)
        both = MulticlassPerceptron(class_weight={"b": 3.0}, **options).fit(X, names[y], weights)
        same = MulticlassPerceptron(**options).fit(X, y, weights * np.where(y == 1, 3.0, 1.0))
        assert np.array_equal(both.coef_, same.coef_)
    parts = MulticlassPerceptron(class_weight={"b": 3.0}, cost=COSTS, shuffle=False)
    for batch in np.split(np.arange(150), 3):
        parts.partial_fit(X[batch], names[y[batch]], classes=names, sample_weight=weights[batch])
    whole = MulticlassPerceptron(class_weight={"b": 3.0}, cost=COSTS, shuffle=False)
    whole.partial_fit(X, names[y], names, weights)
    assert np.array_equal(parts.coef_, whole.coef_)
    assert parts.paid_.sum() == whole.paid_.sum()


@pytest.mark.parametrize("name", [None, "linear"])
@pytest.mark.parametrize("average", [False, True, "voted"])
def test_a_batch_without_weight_is_no_step(name, average):
    model = MulticlassPerceptron(kernel=name, average=average)
    model.partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1, 2], sample_weight=[0.0, 0.0])
    assert (model.t_, model.mistakes_.tolist(), model.paid_.tolist()) == (0, [0], [0.0])
    assert not model.scores([[3.0]]).any()
    model.partial_fit([[1.0], [2.0]], [0, 1], sample_weight=[0.0, 2.0])
    assert model.t_ == 1
    assert model.predict([[3.0]]).tolist() == [1]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_cost_of_all_mistakes_is_bounded(seed, bias):
    """The sharper form too, with the classifier that proves it; and the cost of the predictions is at most
    the sum."""
    X, y = separable_sample(seed, k=4)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 3, size=len(y))
    bound = mistake_bound(X, y, fit_intercept=bias, cost=COSTS, classes=range(4))
    if seed == 0:  # classes that may be taken for each other: the margin is larger
        assert bound.margin > 1.001 * mistake_bound(X, y, fit_intercept=bias).margin
    squares = (X**2).sum(axis=1) + bias
    most = (weights * COSTS.max(axis=1)[y] * squares).max()
    for update in (*UPDATES, generous):
        result = MulticlassPerceptron(
            update, fit_intercept=bias, cost=COSTS, average=False, random_state=0, max_iter=100_000
        )
        cost = 0.0
        for i in rng.permutation(len(y)):
            predicted = result.predict(X[i : i + 1])[0] if hasattr(result, "t_") else 0
            cost += weights[i] * COSTS[y[i], predicted]
            result.partial_fit(X[i : i + 1], y[i : i + 1], range(4), weights[i : i + 1])
        assert 0 < cost <= result.paid_.sum() * (1 + 1e-12)
        result.fit(X, y, weights)
        assert result.converged_
        paid = result.paid_.sum()
        assert paid <= 2 * most / bound.margin**2
        assert paid <= (weights * COSTS.max(axis=1)[y]).max() * bound.bound
        inner = (result.coef_ * bound.weights).sum() + result.intercept_ @ bound.intercept
        square = (result.coef_**2).sum() + (result.intercept_**2).sum()
        assert inner >= paid * bound.margin * (1 - 1e-9)
        assert square <= 2 * most * paid * (1 + 1e-12)


def test_a_free_confusion_is_none():
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 2])
    cost = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    with pytest.raises(NotSeparable):
        mistake_bound(X, y)
    bound = mistake_bound(X, y, cost=cost)
    for update in UPDATES:
        result = MulticlassPerceptron(update, cost=cost, average=False, random_state=0).fit(X, y)
        assert result.converged_
        assert result.paid_.sum() <= bound.bound
    free = MulticlassPerceptron(cost=np.zeros((3, 3))).fit(X, y)
    assert free.mistakes_.tolist() == [0]
    # as long as the classifier is 0 it votes for the first class
    cost[0] = 0
    voted = MulticlassPerceptron(cost=cost, average="voted", shuffle=False)
    voted.partial_fit(X, y, classes=range(3))
    assert np.allclose(3 * voted.scores(X), [[1, 2, 0], [1, 2, 0], [1, 1, 1]])
    with pytest.raises(ValueError, match="cost must be positive for an example"):
        mistake_bound(X, y, cost=np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("options", "weights", "message"),
    [
        ({"cost": np.eye(2)}, None, "cost"),
        ({"cost": 1 - np.eye(3)}, None, "cost must have a row and a column for each of the 2 classes"),
        ({}, [0.0, 0.0], "must not be zero for a whole class"),
        ({}, [1.0, -1.0], "at least 0, found -1.0"),
        ({}, [1.0, np.nan], "finite numbers, at least 0, found nan"),
        ({"class_weight": {0: -1.0}}, None, "class_weight must be numbers, at least 0"),
        ({"class_weight": "even"}, None, "class_weight must be a dict, 'balanced' or None, found 'even'"),
        ({"class_weight": 2.0}, None, "class_weight must be a dict, 'balanced' or None, found 2.0"),
    ],
)
def test_what_weights_and_costs_are_refused(options, weights, message):
    with pytest.raises(ValueError, match=message):
        MulticlassPerceptron(**options).fit([[0.0], [1.0]], [0, 1], weights)
    with pytest.raises(ValueError, match="'balanced' needs all examples"):
        MulticlassPerceptron(class_weight="balanced").partial_fit([[0.0]], [0], [0, 1])


# ---------------------------------------------------------------------------------------------------
# What is compiled


def test_what_is_compiled_is_what_the_updates_are():
    """Every step, and so every epoch, as that of :func:`ultraconservative`, times its length."""
    rng = np.random.default_rng(0)
    who, by = np.empty(6, np.intp), np.empty(6)
    for trial in range(3000):
        k = int(rng.integers(2, 7))
        scale = 10.0 ** rng.integers(-3, 9)
        f = scale * (rng.integers(-3, 4, size=k) if trial % 2 else rng.normal(size=k))
        if trial % 50 == 0:
            f[:2] = 1.5e308, -1.5e308
        y, weight = int(rng.integers(k)), float(rng.uniform(0.1, 4))
        square = float(scale * rng.choice([0.0, 1e-9, 0.5, 3.0, 40.0]))
        costs = rng.integers(0, 3, size=(k, k)) / 2
        np.fill_diagonal(costs, 0)
        rivals = (costs[y] > 0) & (f >= f[y])
        for code, update in enumerate(UPDATES):
            for one in (jit.step, jit.step.py_func):
                if one is jit.step.py_func and trial % 10:
                    continue
                with np.errstate(over="ignore"):
                    n = one(code, f, y, weight, costs, square, who[:k], by[:k])
                result = np.zeros(k)
                result[who[:n]] = by[:n]
                expected = np.zeros(k)
                if rivals.any():
                    with np.errstate(over="ignore"):
                        expected = _updates.step(update, f, y, weight, costs[y], square)
                np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12 * weight)
        assert jit.step(-1, f, y, weight, costs, square, who[:k], by[:k]) == rivals.sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("average", [False, True, "voted"])
def test_a_compiled_epoch_is_the_one_in_python(update, average, monkeypatch):
    """Compiled and not, dense and compressed, and with the update called in Python at each mistake."""
    X, y, weights = weighted_sample(5)
    X = X * np.random.default_rng(5).integers(0, 2, size=X.shape)
    if update != "top":
        X = X + 0.1 * np.random.default_rng(6).normal(size=X.shape) * (X != 0)
    points = np.random.default_rng(7).normal(size=(50, 3))

    def run(one, X):
        model = MulticlassPerceptron(one, cost=COSTS, average=average, max_iter=2, random_state=0)
        return model.fit(X, y, weights)

    expected = run(update, X)
    result = [run(update, csr_array(X)), run(update, np.asfortranarray(X))]
    if update != "mira":  # which does not see the example
        result += [
            run(lambda f, y: _updates.coefficients(update, f, y, 0.0), form) for form in (X, csr_array(X))
        ]
    for name in ("step", "move_dense", "move_sparse", "visit_dense", "visit_sparse"):
        monkeypatch.setattr(jit, name, getattr(jit, name).py_func)
    result += [run(update, X), run(update, csr_array(X))]
    for other in result:
        assert np.array_equal(other.mistakes_, expected.mistakes_)
        assert np.allclose(other.paid_, expected.paid_, rtol=1e-13)
        assert np.allclose(other.scores(points), expected.scores(points), rtol=1e-10, atol=1e-10)


# ---------------------------------------------------------------------------------------------------
# The mistake bound


def separable_sample(seed, m=120, d=4, k=4, gap=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(m, d))
    f = X @ rng.normal(size=(d, k))
    ordered = np.sort(f, axis=1)
    return X[ordered[:, -1] - ordered[:, -2] > gap], f.argmax(axis=1)[ordered[:, -1] - ordered[:, -2] > gap]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_update_makes_more_mistakes_than_the_bound(seed, bias):
    X, y = separable_sample(seed)
    bound = mistake_bound(X, y, fit_intercept=bias)
    assert bound.converged
    assert bound.certificate.gap < 1e-6
    rng = np.random.default_rng(seed)

    def haphazard(f, y):
        ahead = np.flatnonzero((f >= f[y]) & (np.arange(len(f)) != y))
        tau = np.zeros(len(f))
        tau[ahead] = -rng.dirichlet(np.full(len(ahead), 0.3))
        tau[y] = 1.0
        return tau

    for update in (*UPDATES, generous, haphazard):
        for order in range(3):
            result = MulticlassPerceptron(
                update, fit_intercept=bias, random_state=order, average=False, max_iter=100_000
            ).fit(X, y)
            assert result.converged_
            assert result.mistakes_.sum() <= bound.bound
            # the two steps of the proof, for the last W: M gamma <= <W*, W> and |W|^2 <= 2 R^2 M
            mistakes = result.mistakes_.sum()
            inner = (result.coef_ * bound.weights).sum() + result.intercept_ @ bound.intercept
            square = (result.coef_**2).sum() + (result.intercept_**2).sum()
            assert inner >= mistakes * bound.margin * (1 - 1e-12)
            assert square <= 2 * bound.radius**2 * mistakes * (1 + 1e-12)


def test_the_bound_with_a_kernel():
    X, y = separable_sample(3, k=3)
    for name in ("rbf", "poly", kernel.linear + kernel.rbf(2.0)):
        options = {"kernel": name, "gamma": 2.0, "degree": 2, "coef0": 1.0}
        bound = mistake_bound(X, y, **options)
        assert bound.weights is None
        gram = kernel.resolve(name, 2.0, 2, 1.0).gram(X)
        own = mistake_bound(gram, y, kernel="precomputed")
        assert own.bound == pytest.approx(bound.bound, rel=1e-6)
        assert np.sqrt(gram.diagonal().max() + 1) == pytest.approx(bound.radius)
        # the scores from the coefficients, summed up here
        c, truth = bound.coefficients, np.eye(3)[y] > 0
        f = (gram + 1) @ c
        assert (c * f).sum() == pytest.approx(1)
        leads = f[truth] - np.where(truth, -np.inf, f).max(axis=1)
        assert leads.min() == pytest.approx(bound.margin, rel=1e-7)
        for update in UPDATES:
            result = MulticlassPerceptron(
                update, **options, average=False, random_state=0, max_iter=100_000
            ).fit(X, y)
            assert result.mistakes_.sum() <= bound.bound


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_margin_is_that_of_the_quadratic_programme(bias, k):
    """The textbook's programme in W itself, by cvxopt; and the bracket of the certificate."""
    X, y = separable_sample(k, m=40, d=3, k=k)
    assert len(np.unique(y)) == k
    Z = np.column_stack([X, np.ones(len(X))]) if bias else X
    rows = [
        np.kron(np.eye(k)[y[i]] - np.eye(k)[r], Z[i]) for i in range(len(y)) for r in set(range(k)) - {y[i]}
    ]
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
    result = solvers.qp(
        matrix(np.eye(k * Z.shape[1])),
        matrix(np.zeros(k * Z.shape[1])),
        matrix(-np.array(rows)),
        matrix(-np.ones(len(rows))),
        options=options,
    )
    margin = 1 / np.sqrt(2 * result["primal objective"])
    bound = mistake_bound(X, y, fit_intercept=bias, tol=1e-9)
    assert bound.margin == pytest.approx(margin, rel=1e-6)
    assert bound.margin <= bound.margin_at_most <= bound.margin * (1 + 1e-8)
    assert bound.radius == pytest.approx(np.linalg.norm(Z, axis=1).max())
    assert bound.bound == pytest.approx(2 * (bound.radius / bound.margin) ** 2)
    # the classifier that proves it
    assert (bound.weights**2).sum() + (bound.intercept**2).sum() == pytest.approx(1)
    assert (
        np.array(rows) @ np.column_stack([bound.weights, bound.intercept])[:, : Z.shape[1]].ravel()
    ).min() == (pytest.approx(bound.margin))
    assert np.allclose(bound.coefficients.T @ X, bound.weights)
    sparse = mistake_bound(csr_array(X), y, fit_intercept=bias, tol=1e-9)
    assert sparse.margin == pytest.approx(bound.margin, rel=1e-8)


def test_for_two_classes_it_is_novikoff_s():
    """W = (-w, w) / sqrt 2 has the margin sqrt 2 times that of w: the bound is (R / rho)^2."""
    X, y = separable_sample(1, k=2)
    hard = solve_svm(X @ X.T, np.where(y == 1, 1.0, -1.0), C=np.inf, fit_intercept=False)
    rho = 1 / np.sqrt(2 * hard.certificate.primal)
    bound = mistake_bound(X, y, fit_intercept=False)
    assert bound.margin == pytest.approx(np.sqrt(2) * rho, rel=1e-5)
    assert bound.bound == pytest.approx((bound.radius / rho) ** 2, rel=1e-5)


def test_the_bound_is_reached():
    """Two orthogonal unit vectors, two classes: R = 1, gamma = 1, and two mistakes."""
    bound = mistake_bound(np.eye(2), [0, 1], fit_intercept=False)
    assert bound.bound == pytest.approx(2)
    for update in UPDATES:
        result = MulticlassPerceptron(update, fit_intercept=False, shuffle=False).fit(np.eye(2), [0, 1])
        assert result.mistakes_.tolist() == [2, 0]


def test_by_rows_it_is_the_same(monkeypatch):
    X, y = separable_sample(5)
    expected = mistake_bound(X, y)
    owner, rival = np.nonzero(y[:, None] != np.arange(4))
    arguments = kernel.linear, X, y, owner, rival, 4, 1.0
    whole = _bound.pairs_gram(*arguments).whole
    monkeypatch.setattr(_rows, "WHOLE_BYTES", 0)
    rows = _bound.pairs_gram(*arguments)
    assert rows.whole is None
    assert np.allclose(rows.diagonal, np.diag(whole))
    assert np.allclose(rows.values(np.array([3, 0]), slice(None)), whole[[3, 0]])
    for points in (X, csr_array(X)):
        result = mistake_bound(points, y)
        assert result.margin == pytest.approx(expected.margin, rel=1e-6)
        assert np.allclose(result.coefficients.T @ X, result.weights, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.compiler
def test_where_rounding_counts_the_certificate_stands(degree):
    """Iris unscaled, in features of very different sizes: values computed in two ways differ."""
    X, y = load_iris(return_X_y=True)
    options = {"kernel": "poly", "gamma": 1.0, "degree": degree, "coef0": 1.0}
    for scale in (1.0, 1e3):
        for tol in (1e-3, 1e-9):
            result = mistake_bound(scale * X, y, **options, tol=tol)
            assert result.certificate.primal >= result.certificate.dual * (1 - 1e-12)
            assert 0 < result.margin <= result.margin_at_most * (1 + 1e-12)
    with pytest.raises(NotSeparable) as caught:  # the features of high degree vanish
        mistake_bound(1e-3 * X, y, **options)
    assert caught.value.largest_margin < 1e-6


def test_classes_without_examples_must_be_beaten_too():
    X, y = np.array([[1.0, 0.2], [-1.0, 0.3]]), np.array([0, 2])
    two, three = mistake_bound(X, y), mistake_bound(X, y, classes=[0, 1, 2])
    assert three.coefficients.shape == (2, 3)
    assert three.margin < two.margin
    model = MulticlassPerceptron(average=False).partial_fit(X, y, classes=[0, 1, 2])
    while not model.converged_:
        model.partial_fit(X, y)
    assert model.mistakes_.sum() <= three.bound


@pytest.mark.parametrize("bias", [False, True])
def test_what_cannot_be_separated_is_refused_with_a_proof(bias):
    X = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 1.0], [0.0, 3.0]])
    y = np.array(["a", "a", "b", "c"])
    with pytest.raises(NotSeparable, match="no classifier separates the classes") as caught:
        mistake_bound(X, y, fit_intercept=bias)
    weights = caught.value.weights
    assert weights.shape == (4, 3)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    codes = np.array([0, 0, 1, 2])
    Z = np.column_stack([X, np.full(4, float(bias))])
    total = sum(
        weights[i, r] * np.kron(np.eye(3)[codes[i]] - np.eye(3)[r], Z[i]) for i in range(4) for r in range(3)
    )
    assert np.linalg.norm(total) < 1e-6
    assert caught.value.distance < 1e-6
    assert np.linalg.norm(total) <= caught.value.largest_margin < 1e-6
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.warns(ConvergenceWarning):
        assert not MulticlassPerceptron(fit_intercept=bias).fit(X, y).converged_
    with pytest.raises(NotSeparable):  # at the origin all scores are 0
        mistake_bound([[0.0], [1.0]], [0, 1], fit_intercept=False)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mistake_bound([[1.0], [2.0]], [0, 0]), "there must be at least 2 classes, found"),
        (lambda: mistake_bound([[1.0], [2.0]], [0]), "y must have one label for each of 2 examples"),
        (lambda: mistake_bound([[1.0], [2.0]], [0, 3], classes=[0, 1]), r"not among the classes: \[3\]"),
        (lambda: mistake_bound([[1.0], [2.0]], [0, 1], fit_intercept="no"), "fit_intercept must be True or"),
        (lambda: mistake_bound([[1.0], [np.nan]], [0, 1]), "X must be finite"),
        (lambda: mistake_bound([[1.0], [2.0]], [0, 1], tol=-1.0), "tol must be"),
        (lambda: mistake_bound([[1.0], [2.0]], [0, 1], kernel="cubic"), "kernel must be"),
    ],
)
def test_what_the_bound_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ---------------------------------------------------------------------------------------------------


def test_an_update_of_one_s_own_can_be_cloned_and_pickled():
    model = clone(MulticlassPerceptron(generous, random_state=0))
    X, y = separable_sample(0)
    model.set_params(max_iter=1000).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


# ---------------------------------------------------------------------------------------------------
# Two classes: the kernel perceptron


def naive_of_two_classes(gram, y, epochs, bias):
    """Every score summed up anew from the coefficients; exact for a matrix of integers.

    Returns the coefficients after each step, and the mistakes of each epoch.
    """
    m = len(y)
    c, history, mistakes = [0] * m, [], []
    while len(mistakes) < epochs and 0 not in mistakes:
        made = 0
        for i in range(m):
            score = sum(c[j] * (gram[j][i] + bias) for j in range(m))
            if y[i] * score <= 0:
                c[i] += y[i]
                made += 1
            history.append(list(c))
        mistakes.append(made)
    return history, mistakes


def tensor(X, q):
    """Features of (<x, z> + 1)^q, in integers for integers: (x, 1) multiplied q times with itself."""
    extended = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    features = np.ones((len(X), 1), dtype=X.dtype)
    for _ in range(q):
        features = (features[:, :, None] * extended[:, None, :]).reshape(len(X), -1)
    return features


TWO_CLASSES = st.integers(2, 9).flatmap(
    lambda m: st.tuples(
        hnp.arrays(np.int64, st.tuples(st.just(m), st.integers(1, 3)), elements=st.integers(-3, 3)),
        hnp.arrays(np.int64, m, elements=st.sampled_from([-1, 1])).filter(lambda y: abs(y.sum()) < len(y)),
    )
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("q", [1, 2, 3])
@given(sample=TWO_CLASSES, bias=st.booleans(), epochs=st.integers(1, 12))
@example(sample=(np.array([[0], [0]]), np.array([1, -1])), bias=True, epochs=3)  # inseparable: equal points
@example(sample=(np.array([[0], [1]]), np.array([1, -1])), bias=False, epochs=3)  # inseparable: the origin
@example(sample=(np.full((6, 2), 3), np.array([1, -1, -1, -1, 1, 1])), bias=False, epochs=6)  # sums of 0
def test_the_kernel_perceptron_is_its_naive_twin(q, sample, bias, epochs):
    X, y = sample
    one = kernel.linear if q == 1 else kernel.polynomial(q, b=1.0)
    gram = one.gram(X).astype(int)
    history, mistakes = naive_of_two_classes(gram.tolist(), y.tolist(), epochs, int(bias))
    options = {"fit_intercept": bias, "max_iter": epochs, "shuffle": False}
    for average in (False, True):
        result = KernelPerceptron(one, average=average, **options).fit(X, y)
        c = np.mean(history, axis=0) if average else np.array(history[-1])
        assert result.mistakes_.tolist() == mistakes
        assert (result.n_iter_, result.converged_, result.t_) == (
            len(mistakes),
            mistakes[-1] == 0,
            len(history),
        )
        assert result.support_.tolist() == np.flatnonzero(history[-1]).tolist()
        assert np.array_equal(result.support_vectors_, X[result.support_])
        assert np.allclose(result.dual_coef_, c[None, result.support_], rtol=1e-13)
        assert result.intercept_ == pytest.approx([bias * c.sum()], abs=1e-12)
        scores = result.decision_function(X)
        rounding = 1e-12 * (1 + gram.max())  # the terms of a sum that is almost 0 need not be small
        assert np.allclose(scores, gram @ c + bias * c.sum(), rtol=1e-12, atol=rounding)
        assert result.predict(X).tolist() == np.where(scores > 0, 1, -1).tolist()
        if result.converged_ and not average:
            assert (result.predict(X) == y).all()
        own = KernelPerceptron("precomputed", average=average, **options).fit(gram, y)
        assert np.array_equal(own.dual_coef_, result.dual_coef_)
        assert np.allclose(own.decision_function(gram[:1]), scores[:1], rtol=1e-12, atol=rounding)


@given(sample=TWO_CLASSES, q=st.integers(1, 3))
def test_with_a_kernel_it_is_the_perceptron_in_feature_space_step_by_step(sample, q):
    """After every single example: the score of every point, in integers, and the number of mistakes."""
    X, y = sample
    mapped = tensor(X, q)
    w = np.zeros(mapped.shape[1], dtype=int)
    model = KernelPerceptron(kernel.polynomial(q, b=1.0), fit_intercept=False, average=False)
    for _ in range(2):
        for x, features, label in zip(X, mapped, y, strict=True):
            wrong = label * (w @ features) <= 0
            w += wrong * label * features
            model.partial_fit(x[None], [label], classes=[-1, 1])
            assert model.mistakes_[-1] == wrong
            assert np.array_equal(model.decision_function(X), mapped @ w)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("epochs", [1, 2, 7])
def test_it_is_scikit_learn_s_perceptron(bias, epochs):
    """The same order, the same update at a score of 0: the same w, b and predictions in integers."""
    rng = np.random.default_rng(epochs)
    X, y = rng.integers(-4, 5, size=(60, 3)), np.where(rng.random(60) < 0.4, "no", "yes")
    peer = Perceptron(shuffle=False, tol=None, max_iter=epochs, fit_intercept=bias).fit(X, y)
    result = KernelPerceptron(shuffle=False, max_iter=epochs, fit_intercept=bias, average=False).fit(X, y)
    assert result.n_iter_ == epochs  # not separable, so that neither stops
    assert np.array_equal(result.dual_coef_ @ result.support_vectors_, peer.coef_)
    assert np.array_equal(result.intercept_, peer.intercept_)
    assert np.array_equal(result.decision_function(X), peer.decision_function(X))
    assert np.array_equal(result.predict(X), peer.predict(X))
    averaged = SGDClassifier(
        loss="perceptron",
        penalty=None,
        learning_rate="constant",
        eta0=1.0,
        average=True,
        shuffle=False,
        tol=None,
        max_iter=epochs,
        fit_intercept=bias,
    ).fit(X, y)
    result.set_params(average=True).fit(X, y)
    assert np.allclose(result.dual_coef_ @ result.support_vectors_, averaged.coef_, rtol=1e-10)
    assert result.intercept_ == pytest.approx(averaged.intercept_, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_with_the_rbf_kernel_it_is_the_perceptron_on_the_truncated_map(seed):
    X, y = make_moons(80, noise=0.15, random_state=seed)
    mapped = kernel.rbf_features(X, 1.0, 40)
    radius = np.linalg.norm(X, axis=1).max()
    assert kernel.rbf_truncation(1.0, radius, radius, 40) < 1e-6
    peer = Perceptron(shuffle=False, tol=None, max_iter=3, fit_intercept=False).fit(mapped, y)
    model = KernelPerceptron("rbf", gamma=1.0, fit_intercept=False, average=False, shuffle=False)
    for _ in range(3):
        model.partial_fit(X, y, classes=[0, 1])
    assert np.allclose(model.decision_function(X), peer.decision_function(mapped), atol=1e-4)


def test_novikoff_s_bound():
    """On data of margin rho within radius r at most (r / rho)^2 mistakes, in whatever order."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = np.where(X @ [0.6, 0.8] > 0, 1, -1)
    X, y = X[abs(X @ [0.6, 0.8]) > 0.1], y[abs(X @ [0.6, 0.8]) > 0.1]
    for seed in range(5):
        result = KernelPerceptron(fit_intercept=False, random_state=seed).fit(X, y)
        assert result.converged_
        assert result.mistakes_.sum() <= (X**2).sum(axis=1).max() / 0.1**2


def test_batches_of_two_classes_are_epochs():
    X, y = make_circles(120, noise=0.1, factor=0.5, random_state=0)
    options = {"kernel": "rbf", "gamma": 2.0, "shuffle": False}
    for average in (False, True):
        whole = KernelPerceptron(**options, average=average, max_iter=1000).fit(X, y)
        parts = KernelPerceptron(**options, average=average)
        one = KernelPerceptron(**options, average=average)
        for epoch in range(whole.n_iter_):
            one.partial_fit(X, y, classes=[0, 1])
            for start in range(0, 120, 50):
                batch = slice(start, start + 50)
                parts.partial_fit(X[batch], y[batch], classes=[0, 1] if start + epoch == 0 else None)
        assert np.array_equal(one.mistakes_, whole.mistakes_)
        assert one.t_ == parts.t_ == whole.t_
        for other in (one, parts):
            assert np.allclose(other.decision_function(X), whole.decision_function(X), atol=1e-9)
            assert other.intercept_ == pytest.approx(whole.intercept_)
            # counted through all batches: epoch by epoch, the same examples again
            assert set((other.support_ % 120).tolist()) == set(whole.support_.tolist())
            assert np.array_equal(other.support_vectors_, X[other.support_ % 120])


@pytest.mark.parametrize("make", [csr_array, csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_two_classes_in_other_containers(make, name):
    rng = np.random.default_rng(6)
    X = (rng.integers(-3, 4, size=(40, 3)) * rng.integers(0, 2, size=(40, 3))).astype(float)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "b", "a")
    options = {"kernel": name, "gamma": 0.5, "coef0": 1.0, "random_state": 0, "max_iter": 500}
    if name == "linear":
        y = np.where(X.sum(axis=1) > 0, "b", "a")
    plain = KernelPerceptron(**options).fit(X, y)
    other = KernelPerceptron(**options).fit(make(X), y)
    assert np.array_equal(other.mistakes_, plain.mistakes_)
    assert np.allclose(other.decision_function(make(X)), plain.decision_function(X), atol=1e-9)
    assert other.predict(make(X)).dtype == y.dtype
    again = pickle.loads(pickle.dumps(other))
    assert np.array_equal(again.predict(make(X)), other.predict(make(X)))


def test_rows_of_two_classes_are_computed_when_needed_and_not_twice(monkeypatch):
    X, y = make_circles(2000, noise=0.08, factor=0.4, random_state=1)
    rows = []

    def counting(X, Z):
        rows.append(len(X))
        return kernel.rbf(1.0).block(X, Z)

    one = kernel.Kernel("counted", {}, counting, kernel.rbf(1.0).self_products)
    options = {"average": False, "shuffle": False}
    result = KernelPerceptron(one, **options).fit(X, y)
    assert result.n_iter_ > 2
    assert len(result.support_) <= sum(rows) < 200  # of 2000
    # without room to keep them it takes more rows, and comes to the same
    monkeypatch.setattr(_rows, "CACHE_BYTES", 0)
    monkeypatch.setattr(_rows, "_ROWS", 2)
    kept, rows[:] = sum(rows), []
    small = _rows.MistakeRows(kernel.linear, X)
    assert len(small.rows) == 2
    for i in range(10):
        assert np.allclose(small.first(np.arange(i, 2000)), X @ X[i])
    again = KernelPerceptron(one, **options).fit(X, y)
    assert max(rows) <= 2
    assert sum(rows) > kept / 2
    assert np.array_equal(again.mistakes_, result.mistakes_)
    assert np.allclose(again.decision_function(X), result.decision_function(X), atol=1e-10)


def test_orders_of_two_classes():
    X, y = make_moons(100, noise=0.1, random_state=0)
    scores = [
        KernelPerceptron("rbf", shuffle=shuffle, random_state=seed, max_iter=1000)
        .fit(X, y)
        .decision_function(X)
        for shuffle, seed in ((True, 0), (True, 0), (True, 1), (False, 0), (False, 1))
    ]
    assert np.array_equal(scores[0], scores[1])
    assert not np.allclose(scores[0], scores[2])
    assert np.array_equal(scores[3], scores[4])


def test_a_gram_matrix_of_two_classes_is_cut_on_both_sides():
    """The tag is pairwise: in cross-validation, columns are chosen with the rows."""
    X, y = make_moons(60, noise=0.1, random_state=0)
    gram = kernel.rbf(2.0).gram(X)
    direct = cross_val_score(KernelPerceptron("rbf", gamma=2.0, random_state=0, max_iter=1000), X, y)
    for name in ("precomputed", kernel.precomputed):
        assert np.array_equal(
            cross_val_score(KernelPerceptron(name, random_state=0, max_iter=1000), gram, y), direct
        )
    assert not hasattr(KernelPerceptron("precomputed"), "partial_fit")


def test_it_reports_that_two_classes_are_not_separated():
    with pytest.warns(ConvergenceWarning, match="epoch 5, the last, made 2 mistakes on 2 examples"):
        result = KernelPerceptron(max_iter=5).fit([[1.0], [1.0]], [0, 1])
    assert not result.converged_
    assert result.n_iter_ == 5


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"max_iter": 0}, [[0.0], [1.0]], [0, 1], "max_iter must be an integer, at least 1, found 0"),
        ({"max_iter": 1.5}, [[0.0], [1.0]], [0, 1], "max_iter must be an integer, at least 1, found 1.5"),
        ({"kernel": "sigmoid"}, [[0.0], [1.0]], [0, 1], "kernel must be .* found 'sigmoid'"),
        ({"kernel": "rbf", "gamma": -1}, [[0.0], [1.0]], [0, 1], "gamma must be .* found -1"),
        ({"kernel": "precomputed"}, [[0.0], [1.0]], [0, 1], r"square matrix in fit, found shape \(2, 1\)"),
        ({}, [[0.0], [1.0], [2.0]], [0, 1, 2], "Only binary classification is supported"),
        ({}, [[0.0], [1.0]], ["a", "a"], r"y must have 2 classes, found 1 class: \['a'\]"),
        ({"fit_intercept": "no"}, [[0.0], [1.0]], [0, 1], "fit_intercept must be True or False, found 'no'"),
        ({"average": 10}, [[0.0], [1.0]], [0, 1], "average must be True or False, found 10"),
        ({"shuffle": None}, [[0.0], [1.0]], [0, 1], "shuffle must be True or False, found None"),
    ],
)
def test_what_the_kernel_perceptron_refuses(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        KernelPerceptron(**options).fit(X, y)


def test_what_partial_fit_refuses_of_two_classes():
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        KernelPerceptron().partial_fit([[1.0]], [0])
    with pytest.raises(ValueError, match=r"classes must be 2 classes, found \[0, 1, 2\]"):
        KernelPerceptron().partial_fit([[1.0]], [0], classes=[0, 1, 2])
    model = KernelPerceptron().partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"y has labels that are not among the classes: \['c'\]"):
        model.partial_fit([[1.0]], ["c"])
    assert model.predict([[1.0], [0.0]]).tolist() == ["a", "a"]
