"""Trees over the classes: against twins that recurse in Python, refit one by one, and enumerate."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mcutils import WithProbabilities
from mcutils.data import prototypes
from mcutils.frontier import (
    FilterTree,
    LabelTree,
    RidgeOneVsAll,
    leave_one_out_confusion,
    mean_order,
    spectral_order,
)
from mcutils.jit import descend as jit


@pytest.fixture(scope="module")
def many():
    """37 classes, so that there are byes, in 6 dimensions, so that there are mistakes."""
    nature = prototypes(37, 6, separation=3.0, random_state=0)
    return *nature.draw(900, 1), *nature.draw(500, 2)


def small(seed, k, m=40, d=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=m - k)])
    return rng.normal(size=(m, d)) + rng.normal(size=(k, d))[y], y, rng


# ---------------------------------------------------------------------------------------------------
# One-vs-all by least squares, and leaving out one


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_least_squares_are_those_of_scikit_learn(k, alpha):
    X, y, rng = small(k, k)
    weights = rng.integers(1, 4, size=len(y)).astype(float)
    for known in ({}, {"sample_weight": weights}):
        ours = RidgeOneVsAll(alpha).fit(X, y, **known)
        peer = RidgeClassifier(alpha).fit(X, y, **known)
        # its targets are -1 and 1, ours for more than two classes 0 and 1
        factor = 1 if k == 2 else 2
        rows = np.atleast_2d(peer.coef_)
        np.testing.assert_allclose(factor * ours.coef_, rows, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            factor * ours.intercept_ + 1 - factor, np.ravel(peer.intercept_), rtol=1e-9, atol=1e-12
        )
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_leaving_one_out_needs_no_refit(k, weighted):
    for seed in range(3):
        X, y, rng = small(seed, k, m=30)
        weights = rng.integers(1, 4, size=len(y)).astype(float) if weighted else np.ones(len(y))
        expected = np.zeros((k, k))
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            targets = np.eye(k)[y]
            # a fit to the indicators, the class of i present or not
            centre = np.average(X[rest], axis=0, weights=weights[rest])
            share = np.average(targets[rest], axis=0, weights=weights[rest])
            A, b = X[rest] - centre, targets[rest] - share
            W = np.linalg.solve(
                (A.T * weights[rest]) @ A + 2.0 * np.eye(X.shape[1]), (A.T * weights[rest]) @ b
            )
            expected[y[i], (share + (X[i] - centre) @ W).argmax()] += weights[i]
        known = {"sample_weight": weights} if weighted else {}
        np.testing.assert_array_equal(leave_one_out_confusion(X, y, alpha=2.0, **known), expected)


def thin(seed, m, d, share=0.05):
    """A sparse table whose second column is full and far from 0, as a sparse and as a dense matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < share)
    X[:, 1] = 1e3 + rng.normal(size=m)
    y = np.concatenate([np.arange(3), rng.integers(3, size=m - 3)])
    X[np.arange(m), 2 + y] += 1.0
    return X, y, rng.integers(1, 4, size=m).astype(float)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(("m", "d"), [(60, 40), (40, 60)])
@pytest.mark.parametrize("direct", [4096, 30])
def test_sparse_rows_are_solved_as_dense_ones(monkeypatch, m, d, form, direct):
    """With a factor of features, with one of examples, and by conjugate gradients."""
    X, y, weights = thin(m, m, d)
    peer = Ridge(0.7).fit(X, np.eye(3)[y], sample_weight=weights)
    expected = leave_one_out_confusion(X, y, alpha=0.7, sample_weight=weights)
    dense = RidgeOneVsAll(0.7).fit(X, y, sample_weight=weights)
    monkeypatch.setattr("mcutils.frontier._ridge.DIRECT", direct)
    result = RidgeOneVsAll(0.7).fit(form(X), y, sample_weight=weights)
    for other in (peer, dense):
        # conjugate gradients: the residual is small, not the error
        np.testing.assert_allclose(result.coef_, other.coef_, atol=1e-11 if direct == 4096 else 1e-7)
        np.testing.assert_allclose(result.predict(form(X)), dense.predict(X))
    whole = sparse.csr_array(X)
    twice = (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr)
    parts = sparse.csr_array(twice, shape=(m, d))  # every entry in two parts
    halves = RidgeOneVsAll(0.7).fit(parts, y, sample_weight=weights)
    np.testing.assert_allclose(halves.coef_, result.coef_, rtol=1e-12, atol=1e-12)
    if direct == 4096:
        confusion = leave_one_out_confusion(form(X), y, alpha=0.7, sample_weight=weights)
        np.testing.assert_array_equal(confusion, expected)
        if d <= m:
            orders = [mean_order(table, y, alpha=0.7, sample_weight=weights) for table in (X, form(X))]
            np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_leaving_one_out_of_fewer_examples_than_features(make):
    X, y, weights = thin(3, 30, 50, share=0.08)
    expected = np.zeros((3, 3))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        predicted = Ridge(2.0).fit(X[rest], np.eye(3)[y[rest]], sample_weight=weights[rest]).predict(X[[i]])
        expected[y[i], predicted.argmax()] += weights[i]
    result = leave_one_out_confusion(make(X), y, alpha=2.0, sample_weight=weights)
    np.testing.assert_array_equal(result, expected)
    assert np.trace(result) < weights.sum()


def test_without_a_factor_fifths_are_held_out(monkeypatch):
    X, y, weights = thin(5, 70, 60)
    part, expected = np.empty(70, dtype=int), np.zeros((3, 3))
    for c in range(3):
        part[y == c] = np.arange((y == c).sum()) % 5
    for p in range(5):
        rest = part != p
        predictions = RidgeOneVsAll().fit(X[rest], y[rest], weights[rest]).predict(X[~rest])
        np.add.at(expected, (y[~rest], predictions), weights[~rest])
    monkeypatch.setattr("mcutils.frontier._ridge.DIRECT", 30)
    monkeypatch.setattr("mcutils.frontier._order.DIRECT", 30)
    result = leave_one_out_confusion(sparse.csr_array(X), y, sample_weight=weights)
    np.testing.assert_array_equal(result, expected)
    monkeypatch.setattr("mcutils.frontier._ridge._MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match=r"solved up to .* not 1e-10, in 2 steps: increase alpha"):
        RidgeOneVsAll().fit(sparse.csr_array(X), y)
    with pytest.raises(
        ValueError, match=r"at most 30 features where it is sparse, found 60: take .*'confusion'"
    ):
        mean_order(sparse.csr_array(X), y)


@pytest.mark.parametrize("model", [FilterTree(), LabelTree()], ids=str)
def test_trees_learn_from_more_words_than_would_fit(model):
    """With a million features no (d, d) table can be made; the same without the empty columns."""
    X, y, _ = thin(1, 60, 80)
    wide = sparse.csr_array((60, 10**6))
    wide = sparse.hstack([sparse.csr_array(X), wide], format="csr")
    predictions = clone(model).fit(X, y).predict(X)
    np.testing.assert_array_equal(
        clone(model).fit(sparse.csr_array(X), y).predict(sparse.csr_array(X)), predictions
    )
    np.testing.assert_array_equal(clone(model).fit(wide, y).predict(wide), predictions)


def test_the_default_order_takes_the_sparse_rows_of_another_base():
    X, y, _ = thin(1, 60, 80)
    X[:, 1] -= 1e3
    model = LabelTree(LinearSVC(random_state=0))
    result = clone(model).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(result.order_, clone(model).fit(X, y).order_)
    np.testing.assert_array_equal(result.predict(sparse.csr_array(X)), result.predict(X))


def test_alpha_may_be_lost_in_rounding():
    """Two equal columns share the weight; and of columns of any size none is lost."""
    X, y = load_iris(return_X_y=True)
    pixels, digits = load_digits(return_X_y=True)
    plain = RidgeOneVsAll(1e-16).fit(X, y)
    twice = RidgeOneVsAll(1e-16).fit(np.column_stack([X, X[:, 0]]), y)
    np.testing.assert_allclose(twice.coef_[:, [0, 4]], plain.coef_[:, [0, 0]] / 2, rtol=1e-9)
    # constant pixels, and fewer examples than features: the training examples are learnt by heart
    for rows in (slice(None), slice(40)):
        images, labels = pixels[rows] / 16, digits[rows]
        model = RidgeOneVsAll(1e-16).fit(images, labels)
        least = np.linalg.lstsq(images - images.mean(axis=0), np.eye(10)[labels], rcond=1e-8)[0]
        np.testing.assert_allclose(model.coef_.T, least, atol=1e-4)
    wild = X.copy()
    wild[3, 1] = 1e15
    wild = np.column_stack([wild, wild[:, 1]])
    expected = RidgeOneVsAll().fit(X[:, [0, 2, 3]], y).score(X[:, [0, 2, 3]], y)
    assert RidgeOneVsAll().fit(wild, y).score(wild, y) == pytest.approx(expected, abs=0.02)
    assert LabelTree().fit(wild, y).score(wild, y) > 0.9
    wild[0, 0] = 1e200
    for model in (RidgeOneVsAll(), LabelTree(), FilterTree(order="means")):
        with pytest.raises(ValueError, match="X must be scaled: its squares"):
            model.fit(wild, y)


def test_an_example_that_is_alone_in_its_class_is_never_recognised():
    X, y, _ = small(0, 3, m=20)
    y[y == 2] = 1
    y[0] = 2
    confusion = leave_one_out_confusion(X, y)
    assert confusion[2].sum() == 1
    assert confusion[2, 2] == 0


def test_many_examples_are_treated_by_parts(monkeypatch):
    X, y, _ = small(1, 5, m=60)
    whole = leave_one_out_confusion(X, y)
    monkeypatch.setattr("mcutils.frontier._ridge._CHUNK", 12)
    np.testing.assert_array_equal(leave_one_out_confusion(X, y), whole)


# ---------------------------------------------------------------------------------------------------
# Orders


def bisection_twin(affinity, classes):
    """The parts of every cut, by the generalised problem (D - A) u = lambda D u."""
    n = len(classes)
    if n <= 2:
        return []
    A = affinity[np.ix_(classes, classes)]
    D = np.diag(A.sum(axis=1))
    u = eigh(D - A, D)[1][:, 1]
    size = max(2**h for h in range(10) if 2**h < n)
    ranks = np.argsort(u)
    cuts = [(set(ranks[:size]), set(ranks[size:])), (set(ranks[n - size :]), set(ranks[: n - size]))]
    crossing = [sum(A[i, j] for i in one for j in two) for one, two in cuts]
    parts = [[classes[i] for i in sorted(part)] for part in cuts[int(np.argmin(crossing))]]
    return [parts, *(deeper for part in parts for deeper in bisection_twin(affinity, part))]


def parts_of(order):
    """The cuts that an order stands for."""
    n = len(order)
    if n <= 2:
        return []
    size = max(2**h for h in range(10) if 2**h < n)
    parts = [order[:size], order[size:]]
    return [[sorted(part) for part in parts], *(deeper for part in parts for deeper in parts_of(part))]


def as_sets(cuts):
    return {frozenset(frozenset(map(int, part)) for part in cut) for cut in cuts}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 13, 21])
def test_the_order_is_cut_by_the_second_eigenvector(k):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = rng.exponential(size=(k, k)) ** 3
        order = spectral_order(table)
        assert sorted(order) == list(range(k))
        near = (table + table.T) / 2
        np.fill_diagonal(near, 0)
        near += near.mean() / 1000
        np.fill_diagonal(near, 0)
        assert as_sets(parts_of(list(order))) == as_sets(bisection_twin(near, list(range(k))))
        # neither the direction of a confusion, nor the diagonal, nor the scale matters
        np.testing.assert_array_equal(spectral_order(8 * table.T), order)
        np.testing.assert_array_equal(spectral_order(table + 5 * np.eye(k)), order)


@pytest.mark.parametrize("seed", range(4))
def test_blocks_are_found_and_stay_together(seed):
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.arange(16) // 4)
    table = np.where(block[:, None] == block, rng.uniform(5, 10, (16, 16)), rng.uniform(0, 0.1, (16, 16)))
    order = spectral_order(table)
    assert all(len(set(block[part])) == 1 for part in order.reshape(4, 4))


def test_classes_without_relations_keep_a_place():
    np.testing.assert_array_equal(spectral_order(np.zeros((5, 5))), np.arange(5))
    table = np.zeros((6, 6))
    table[0, 5] = table[2, 4] = 1
    order = spectral_order(table).tolist()
    assert sorted(order) == list(range(6))
    assert order.index(0) // 4 == order.index(5) // 4
    assert order.index(2) // 4 == order.index(4) // 4


@pytest.mark.parametrize("table", [[1.0], [[1.0, 2.0]], [[0.0, -1.0], [0.0, 0.0]], [[0, np.nan], [0, 0]], []])
def test_an_affinity_is_square_and_not_negative(table):
    with pytest.raises(ValueError, match="affinity must be"):
        spectral_order(table)


@pytest.mark.parametrize("k", [2, 3, 10, 32, 100, 300])
def test_means_tell_the_tree_of_the_classes(k):
    for seed in range(2):
        nature = prototypes(k, random_state=seed)
        order = mean_order(*nature.draw(40 * k, 1))
        assert as_sets(parts_of(list(order))) == as_sets(parts_of(list(nature.order)))


def test_means_that_are_equal_have_the_given_order():
    X = np.array([[0.0], [2.0]] * 4)
    np.testing.assert_array_equal(mean_order(X, [0, 0, 1, 1, 2, 2, 3, 3]), range(4))


def test_the_metric_is_that_inside_the_classes():
    rng = np.random.default_rng(0)
    means = np.array([[0, 0], [0, 3], [30, 0], [30, 3]])
    y = np.repeat(np.arange(4), 200)
    noise = rng.normal(size=(800, 2))
    assert as_sets(parts_of(mean_order(means[y] + noise, y))) == as_sets([[[0, 1], [2, 3]]])
    # noise of that size makes the larger difference the smaller one
    assert as_sets(parts_of(mean_order(means[y] + noise * [100, 1], y))) == as_sets([[[0, 2], [1, 3]]])


def test_orders_by_name():
    X, y, _ = small(0, 7, m=200)
    labels = np.array(list("gfedcba"))
    for kind in (FilterTree, LabelTree):
        model = kind(order="given").fit(X, labels[y])
        np.testing.assert_array_equal(model.order_, range(7))
        codes = np.searchsorted(model.classes_, labels[y])
        model = kind(order="confusion").fit(X, labels[y])
        np.testing.assert_array_equal(model.order_, spectral_order(leave_one_out_confusion(X, codes)))
        model = kind(order="means").fit(X, labels[y])
        np.testing.assert_array_equal(model.order_, mean_order(X, labels[y]))
        model = kind(order=list("cgabfed")).fit(X, labels[y])
        assert model.classes_[model.order_].tolist() == list("cgabfed")
        drawn = [kind(order="random", random_state=seed).fit(X, y).order_.tolist() for seed in (0, 0, 1)]
        assert drawn[0] == drawn[1] != drawn[2]
        assert sorted(drawn[0]) == list(range(7))


# ---------------------------------------------------------------------------------------------------
# The shape of the trees


@pytest.mark.parametrize("branching", [2, 3, 4, 7])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 27, 28, 50])
def test_leaves_and_children_are_numbered_as_promised(k, branching):
    X, y = np.repeat(np.arange(float(k)), 2)[:, None], np.repeat(np.arange(k), 2)
    model = LabelTree(branching=branching, order="given").fit(X, y)
    n_nodes = len(model.children_)
    assert sorted(np.concatenate(model.children_)) == list(range(k + n_nodes - 1))
    below = [{c} for c in range(k)]
    height = [0] * k
    for node, children in enumerate(model.children_):
        assert 2 <= len(children) <= branching
        assert children.max() < k + node
        below.append(set().union(*(below[c] for c in children)))
        height.append(int(model.rounds_[node]))
        assert all(height[c] < height[-1] for c in children)
        # a node of height h has the classes from a multiple of b^h on, up to the next one
        size = branching ** height[-1]
        first = min(below[-1]) // size * size
        assert below[-1] == set(range(first, min(first + size, k)))
    assert below[-1] == set(range(k))
    # the least number of rounds
    assert branching ** (model.depth_ - 1) < k <= branching**model.depth_
    if branching == 2:
        tournament = FilterTree().fit(X, y)
        assert [c.tolist() for c in tournament.children_] == [c.tolist() for c in model.children_]
        assert n_nodes == k - 1


# ---------------------------------------------------------------------------------------------------
# What classifiers are trained on


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on; decides by the sum of the features, odd or even."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X, y, sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.asarray(X).sum(axis=1).astype(int) % len(self.classes_)]


def filter_twin(model, X, y, node):
    """The examples that win a match, and what was trained on before: by recursion, one example at a time."""
    k = len(model.classes_)
    if node < k:
        return [i for i in range(len(y)) if y[i] == node]
    sides = [filter_twin(model, X, y, child) for child in model.children_[node - k].tolist()]
    fitted = model.estimators_[node - k]
    entered = sorted((i, side) for side, rows in enumerate(sides) for i in rows)
    assert model.n_examples_[node - k] == len(entered)
    if isinstance(fitted, int):
        assert {side for _, side in entered} <= {fitted}
        return [i for i, _ in entered]
    np.testing.assert_array_equal(fitted.seen_[0], X[[i for i, _ in entered]])
    assert fitted.seen_[1].tolist() == [side for _, side in entered]
    return [i for i, side in entered if fitted.predict(X[[i]])[0] == side]


@pytest.mark.parametrize("k", [2, 3, 5, 8, 11])
def test_a_match_is_trained_on_those_who_get_to_it(k):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.arange(k), rng.integers(k, size=5 * k)])
        X = np.column_stack([np.arange(len(y)), rng.integers(100, size=len(y))])
        model = FilterTree(Recorder(), order="random", random_state=seed).fit(X, y)
        champions = filter_twin(model, X, y, 2 * k - 2)
        assert (model.predict(X) == y).nonzero()[0].tolist() == champions


def test_a_node_is_trained_on_all_below_it():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(11), rng.integers(11, size=50)])
    X = np.column_stack([np.arange(len(y)), rng.integers(100, size=len(y))])
    model = LabelTree(Recorder(), branching=3, order="random", random_state=0).fit(X, y)
    below = [{c} for c in range(11)]
    for children, fitted, n in zip(model.children_, model.estimators_, model.n_examples_, strict=True):
        below.append(set().union(*(below[c] for c in children)))
        rows = [i for i in range(len(y)) if y[i] in below[-1]]
        parts = [next(j for j, c in enumerate(children) if y[i] in below[c]) for i in rows]
        np.testing.assert_array_equal(fitted.seen_[0], X[rows])
        assert fitted.seen_[1].tolist() == parts
        assert n == len(rows)


def test_weights_go_along_and_weight_zero_is_absence(many):
    X, y, _, _ = many
    weights = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    weights[np.unique(y, return_index=True)[1]] = 1.0
    for kind in (FilterTree, LabelTree):
        model = kind(Recorder(), order="given").fit(X, y, sample_weight=weights)
        rows = np.flatnonzero((weights > 0) & np.isin(y, model.children_[0]))
        np.testing.assert_array_equal(model.estimators_[0].seen_[0], X[rows])
        np.testing.assert_array_equal(model.estimators_[0].seen_[2], weights[rows])
        # whole weights are repetitions
        model = kind(order="means")
        weighted = clone(model).fit(X, y, sample_weight=weights).predict(X)
        often = np.repeat(np.arange(len(y)), weights.astype(int))
        np.testing.assert_array_equal(weighted, clone(model).fit(X[often], y[often]).predict(X))


class Always(ClassifierMixin, BaseEstimator):
    """Predicts the first label."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_side_without_survivors_loses():
    X, y, _ = small(0, 8, m=60)
    model = FilterTree(Always()).fit(X, y)
    # in each match of the first round the second class is eliminated, and so on
    assert not any(isinstance(fitted, int) for fitted in model.estimators_)
    assert set(model.predict(X)) == {0}

    class Contrary(Always):
        def predict(self, X):
            return np.asarray(X[:, 0] > 0, dtype=int) ^ self.side_

        def fit(self, X, y, sample_weight=None):
            self.side_ = int((X[y == 0, 0] > 0).mean() > 0.5) ^ 1
            return super().fit(X, y)

    X = np.column_stack([np.tile([-1.0, 1.0], 4), np.zeros(8)])
    model = FilterTree(Contrary()).fit(X, np.tile([0, 1, 2, 3], 2))
    # 0 and 2 lie left, 1 and 3 right, and the classifiers confuse them without exception
    assert model.n_examples_.tolist() == [4, 4, 0]
    assert model.estimators_[2] == 0
    result = model.eliminations(X, np.tile([0, 1, 2, 3], 2))
    assert (result.error, result.path_bound) == (1.0, 1.0)
    assert set(model.predict(X)) == {0, 1}


# ---------------------------------------------------------------------------------------------------
# Costs


@pytest.mark.parametrize(
    "base", [RidgeOneVsAll(), LogisticRegression(), DecisionTreeClassifier(random_state=0)]
)
def test_costs_of_zero_and_one_are_labels(many, base):
    X, y, X_test, _ = many
    labels = FilterTree(base).fit(X, y)
    costs = FilterTree(base).fit_costs(X, 1.0 - np.eye(37)[y])
    np.testing.assert_array_equal(costs.predict(X_test), labels.predict(X_test))
    np.testing.assert_array_equal(costs.n_examples_, labels.n_examples_)


@pytest.mark.parametrize("k", [2, 3, 6, 9])
def test_a_match_with_costs_prefers_the_cheaper_of_the_two_who_came(k):
    rng = np.random.default_rng(k)
    X = np.column_stack([np.arange(80), rng.integers(100, size=80)])
    costs = rng.integers(4, size=(80, k)).astype(float)
    names = np.array(list("abcdefghi"))[:k]
    model = FilterTree(Recorder(), order="random", random_state=0).fit_costs(X, costs, names)

    def winners(node):
        if node < k:
            return [node] * 80
        one, two = (winners(child) for child in model.children_[node - k].tolist())
        fitted = model.estimators_[node - k]
        rows = [i for i in range(80) if costs[i, one[i]] != costs[i, two[i]]]
        assert model.n_examples_[node - k] == len(rows)
        if isinstance(fitted, int):
            return [(one, two)[fitted][i] for i in range(80)]
        np.testing.assert_array_equal(fitted.seen_[0], X[rows])
        assert fitted.seen_[1].tolist() == [int(costs[i, two[i]] < costs[i, one[i]]) for i in rows]
        assert fitted.seen_[2].tolist() == [abs(costs[i, one[i]] - costs[i, two[i]]) for i in rows]
        return [(one, two)[fitted.predict(X[[i]])[0]][i] for i in range(80)]

    np.testing.assert_array_equal(model.predict(X), names[winners(2 * k - 2)])


def test_costs_change_the_prediction():
    X, y, _ = small(3, 3, m=300)
    costly = 1.0 - np.eye(3)
    costly[0] *= 50
    plain, careful = FilterTree().fit(X, y), FilterTree().fit_costs(X, costly[y])

    def paid(model):
        return costly[y, model.predict(X)].mean()

    assert paid(careful) < paid(plain)
    # equal costs teach nothing, and the first is predicted for all
    assert set(FilterTree().fit_costs(X, np.ones((300, 3))).predict(X)) == {0}


# ---------------------------------------------------------------------------------------------------
# Predicting

BASES = [
    RidgeOneVsAll(),
    LogisticRegression(max_iter=1000),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearSVC(),
    SVC(kernel="linear"),
    SVC(),
    KNeighborsClassifier(3),
    DecisionTreeClassifier(max_depth=3, random_state=0),
]


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize(
    "tree", [FilterTree(order="means"), LabelTree(order="means"), LabelTree(branching=5)], ids=str
)
def test_an_example_goes_from_the_root_to_a_leaf_as_the_classifiers_say(many, tree, base):
    X, y, X_test, _ = many
    model = clone(tree).set_params(estimator=base).fit(X, y)
    k = len(model.classes_)
    compiled = model._linear is not None
    pairs = isinstance(base, SVC) and base.kernel == "linear" and getattr(tree, "branching", 2) == 2
    assert compiled == (pairs or not isinstance(base, (SVC, KNeighborsClassifier, DecisionTreeClassifier)))
    predictions = model.predict(X_test)
    for x, predicted in list(zip(X_test, predictions, strict=True))[:60]:
        at = k + len(model.children_) - 1
        while at >= k:
            fitted = model.estimators_[at - k]
            at = model.children_[at - k][fitted if isinstance(fitted, int) else fitted.predict([x])[0]]
        assert model.classes_[at] == predicted
    np.testing.assert_array_equal(model.classes_[model._descended(X_test)], predictions)


def test_compiled_and_python_agree(many):
    X, y, X_test, _ = many
    model = LabelTree(branching=5).fit(X, y)
    arguments = (X_test[:50].copy(), *model._linear)
    compiled, python = np.empty((2, 50), dtype=np.intp)
    jit.leaves(*arguments, compiled)
    jit.leaves.py_func(*arguments, python)
    np.testing.assert_array_equal(compiled, python)


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_two_classes_are_decided_as_the_base_decides(kind):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.array(["no", "yes"])[y[50:] - 1]
    for base in (RidgeOneVsAll(), LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)):
        model = kind(base).fit(X, y)
        assert (model.depth_, len(model.estimators_)) == (1, 1)
        order = model.classes_[model.order_]
        np.testing.assert_array_equal(
            model.predict(X), order[clone(base).fit(X, np.where(y == order[0], 0, 1)).predict(X)]
        )


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_a_tie_goes_to_the_first_child(kind):
    # at the point 0 all scores of classifiers through it are equal
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]] * 3)
    y = np.arange(12) % 4
    for parameters in ({}, {"branching": 4})[: 1 if kind is FilterTree else 2]:
        model = kind(order=[2, 3, 1, 0], **parameters).fit(X, y)
        assert model.predict([[0.0, 0.0]]).tolist() == [2]
        assert model._descended(np.zeros((1, 2))).tolist() == [2]


def test_a_flat_label_tree_is_one_vs_all(digits):
    X, y = digits
    flat = LabelTree(branching=10, order="given").fit(X, y)
    assert len(flat.estimators_) == 1
    np.testing.assert_array_equal(flat.predict(X), RidgeOneVsAll().fit(X, y).predict(X))


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_frames_and_sparse_matrices_reach_the_base(kind):
    iris = load_iris(as_frame=True)
    frame = iris.data.assign(colour=pd.Categorical(["red", "green", "blue"] * 50))
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    base = make_pipeline(columns, LogisticRegression(max_iter=1000))
    model = kind(base, order="random", random_state=0).fit(frame, iris.target)
    assert model.score(frame, iris.target) > 0.9
    assert model.feature_names_in_.tolist() == list(frame.columns)

    X = sparse.csr_array(load_iris().data)
    model = kind(LogisticRegression(), order="given").fit(X, iris.target)
    np.testing.assert_array_equal(model.predict(X), model.predict(X.toarray()))


# ---------------------------------------------------------------------------------------------------
# Where labels are lost


@pytest.mark.parametrize(
    "model",
    [
        FilterTree(order="random", random_state=0),
        FilterTree(DecisionTreeClassifier(max_depth=2, random_state=0)),
        LabelTree(),
        LabelTree(branching=4, order="random", random_state=0),
        LabelTree(KNeighborsClassifier(1), order="means"),
    ],
    ids=str,
)
def test_a_mistake_is_the_loss_of_one_match(many, model):
    X, y, X_test, y_test = many
    model = clone(model).fit(X, y)
    weights = np.random.default_rng(0).integers(0, 5, size=len(y_test)).astype(float)
    for features, labels, weight in ((X, y, None), (X_test, y_test, None), (X_test, y_test, weights)):
        result = model.eliminations(features, labels, sample_weight=weight)
        wrong = model.predict(features) != labels
        assert result.error == pytest.approx(np.average(wrong, weights=weight), abs=1e-12)
        assert result.by_round.sum() == pytest.approx(result.error, abs=1e-12)
        assert len(result.by_round) == model.depth_
        assert result.error <= result.path_bound <= model.depth_ * result.rates.max()
        assert (result.lost <= result.entered).all()
        assert (result.entered <= result.passing).all()
        assert result.passing[-1] == result.total


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 9), st.integers(4, 12)), elements=st.integers(0, 1)))
def test_eliminations_are_counted_match_by_match(coins):
    """Classifiers that predict by the table: node n sends example i to side coins[n, i]."""
    nodes, m = coins.shape
    k = nodes + 1
    y = np.arange(m) % k

    class Coin(ClassifierMixin, BaseEstimator):
        def predict(self, X):
            return coins[self.node, np.asarray(X)[:, 0].astype(int)]

    for kind in (FilterTree, LabelTree):
        model = kind(order="given").fit(np.arange(2.0 * k)[:, None], np.tile(np.arange(k), 2))
        for node in range(nodes):
            model.estimators_[node] = Coin()
            model.estimators_[node].node = node
        X = np.arange(float(m))[:, None]
        result = model.eliminations(X, y)
        entered, lost = [0] * nodes, [0] * nodes
        on_path = [0] * nodes
        for i in range(m):
            way, at = [], int(y[i])
            while at != k + nodes - 1:
                parent = next(n for n in range(nodes) if at in model.children_[n])
                way.append((parent, model.children_[parent].tolist().index(at)))
                at = k + parent
            for node, _ in way:
                on_path[node] += 1
            for node, side in way if kind is FilterTree else way[::-1]:
                entered[node] += 1
                if coins[node, i] != side:
                    lost[node] += 1
                    break
        assert result.entered.tolist() == entered
        assert result.lost.tolist() == lost
        assert result.passing.tolist() == on_path
        bound = sum(Fraction(n * l, e) for n, l, e in zip(on_path, lost, entered, strict=True) if e) / m
        assert result.path_bound == pytest.approx(float(bound), abs=1e-12)
        assert result.error == pytest.approx((model.classes_[model._descended(X)] != y).mean(), abs=1e-12)


# ---------------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RidgeOneVsAll(0.0), "alpha must be a positive, finite number, found 0.0"),
        (RidgeOneVsAll(np.inf), "alpha must be a positive, finite number"),
        (RidgeOneVsAll(True), "alpha must be a positive, finite number"),
        (FilterTree(order="best"), "order must be one of .*'means'.* found 'best'"),
        (FilterTree(order=[0, 1]), r"order must have each of the classes \[0, 1, 2\] once, found \[0, 1\]"),
        (LabelTree(order=[0, 1, 1]), "order must have each of the classes"),
        (LabelTree(branching=1), "branching must be an integer, at least 2, found 1"),
        (LabelTree(branching=2.0), "branching must be an integer"),
        (LabelTree(branching=True), "branching must be an integer"),
        (FilterTree(SVC(kernel="precomputed")), "estimator must learn from examples"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_are_refused(model, message):
    X, y, _ = small(0, 3)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("model", [RidgeOneVsAll(), FilterTree(), LabelTree()], ids=str)
def test_data_that_cannot_be_are_refused(model):
    X, y, _ = small(0, 3)
    with pytest.raises(ValueError, match=r"at least 2 classes, found 1 class: \[5\]"):
        model.fit(X, np.full(len(X), 5))
    with pytest.raises(ValueError, match=r"zero for a whole class, found it zero for \[1\]"):
        model.fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    for function in (leave_one_out_confusion, mean_order):
        with pytest.raises(ValueError, match="alpha must be a positive, finite number"):
            function(X, y, alpha=-1.0)
        with pytest.raises(ValueError, match="at least 2 classes"):
            function(X, np.zeros(len(X)))


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_trees_say_what_is_wrong(kind):
    X, y, _ = small(0, 3)
    with pytest.raises(ValueError, match=r"but KNeighborsClassifier.* does not take it"):
        kind(KNeighborsClassifier(), order="given").fit(X, y, sample_weight=np.ones(len(y)))
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match=r"y has labels that are not among the classes: \[7\]"):
        model.eliminations(X[:2], [0, 7])
    with pytest.raises(ValueError, match=r"(?i)sample.weights? must .*zero"):
        model.eliminations(X[:2], [0, 1], sample_weight=[0, 0])
    with pytest.raises(NotFittedError):
        kind().eliminations(X, y)

    class Broken(Always):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError) as caught:
        kind(Broken()).fit(X, y)
    assert "while fitting node 0 of 2" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("model", "costs", "classes", "message"),
    [
        (FilterTree(), [[1.0], [2.0]], None, r"k >= 2 columns, found shape \(2, 1\)"),
        (FilterTree(), [1.0, 2.0], None, r"found shape \(2,\)"),
        (FilterTree(), [[0.0, np.inf], [0.0, 1.0]], None, "costs must be finite"),
        (FilterTree(), [[0.0, 1.0]], None, "inconsistent numbers of samples"),
        (FilterTree(), [[0.0, 1.0]] * 2, [1, 0], "classes must be 2 labels, sorted and different"),
        (FilterTree(), [[0.0, 1.0]] * 2, [1, 2, 3], "classes must be 2 labels"),
        (FilterTree(order="means"), [[0.0, 1.0]] * 2, None, "order='means' needs labels"),
        (FilterTree(KNeighborsClassifier()), [[0.0, 1.0]] * 2, None, "does not take sample_weight"),
    ],
)
def test_costs_that_cannot_be_are_refused(model, costs, classes, message):
    with pytest.raises(ValueError, match=message):
        model.fit_costs(np.zeros((2, 1)), costs, classes)


@pytest.mark.compiler
@pytest.mark.once
def test_a_thousand_classes_are_learnt_and_separated():
    nature = prototypes(1000, random_state=5)
    X, y = nature.draw(20_000, 1)
    X_test, y_test = nature.draw(2000, 2)
    flat = RidgeOneVsAll().fit(X, y).score(X_test, y_test)
    tree = LabelTree(RidgeOneVsAll(100.0), branching=32, order="means").fit(X, y)
    assert tree.depth_ == 2
    assert tree.score(X_test, y_test) > flat + 0.05
    blobs, centres = make_blobs(4000, 10, centers=1000, center_box=(-300, 300), random_state=0)
    assert (
        FilterTree(DecisionTreeClassifier(random_state=0), order="means")
        .fit(blobs, centres)
        .score(blobs, centres)
        == 1
    )


# ---------------------------------------------------------------------------------------------------
# Scores, and nodes side by side


def leads(classifier, X, degree):
    """Of each child: its score minus the largest of the others'."""
    if isinstance(classifier, int):
        return np.where(np.arange(degree) == classifier, 1.0, -1.0) * np.ones((len(X), 1))
    if hasattr(classifier, "decision_function"):
        f = classifier.decision_function(X)
    else:
        f = np.log(np.clip(classifier.predict_proba(X), 2.0**-52, 1 - 2.0**-52))
    f = np.column_stack([np.zeros(len(X)), f]) if f.ndim == 1 else f
    return np.column_stack([f[:, c] - np.delete(f, c, axis=1).max(axis=1) for c in range(degree)])


def least_leads(model, X):
    """On the way to each leaf, from the leaf up."""
    k = len(model.classes_)
    above = {
        child: (node, place)
        for node, children in enumerate(model.children_)
        for place, child in enumerate(children.tolist())
    }
    least = np.full((len(X), k), np.inf)
    for leaf in range(k):
        at = leaf
        while at in above:
            node, place = above[at]
            lead = leads(model.estimators_[node], X, len(model.children_[node]))[:, place]
            least[:, leaf], at = np.minimum(least[:, leaf], lead), k + node
    return least


TREES = [
    FilterTree(),
    FilterTree(DecisionTreeClassifier(max_depth=3), order="random", random_state=0),
    LabelTree(branching=3),
    LabelTree(LinearDiscriminantAnalysis(), branching=5, order="means"),
    LabelTree(DecisionTreeClassifier(max_depth=4), order="given"),
]


@pytest.mark.parametrize("model", TREES, ids=repr)
def test_scores_are_the_least_leads_and_the_only_positive_one_is_that_of_the_prediction(many, model):
    X, y, fresh, _ = many
    fitted = clone(model).fit(X, y)
    scores = fitted.scores(fresh)
    np.testing.assert_allclose(scores, least_leads(fitted, fresh), atol=1e-12)
    np.testing.assert_array_equal(fitted.classes_[scores.argmax(axis=1)], fitted.predict(fresh))
    assert ((scores > 0).sum(axis=1) == 1).all()
    np.testing.assert_array_equal(fitted.decision_function(fresh), scores)
    if not isinstance(model.estimator, LinearDiscriminantAnalysis):
        sparse_too = clone(model).fit(sparse.csr_array(X), y)
        labels = sparse_too.classes_[sparse_too.scores(sparse.csr_array(fresh)).argmax(axis=1)]
        np.testing.assert_array_equal(labels, sparse_too.predict(sparse.csr_array(fresh)))


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_ties_are_scored_as_they_are_predicted(kind):
    # 9 examples at one place: equal shares in every node; and the order is not that of the classes
    X, y = np.zeros((9, 1)), np.repeat(["a", "b", "c"], 3)
    model = kind(DecisionTreeClassifier(), order=["c", "a", "b"]).fit(X, y)
    scores = model.scores(X)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
    assert (scores[:, list(model.classes_).index(model.predict(X)[0])] == 5e-324).all()
    assert ((scores > 0).sum(axis=1) == 1).all()


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
@pytest.mark.parametrize("order", [["no", "yes"], ["yes", "no"]])
def test_of_two_classes_the_score_of_the_second_decides(kind, order):
    X, y, _ = small(3, 2)
    model = kind(order=order).fit(X, np.array(["no", "yes"])[y])
    ahead = model.decision_function(X)
    assert ahead.shape == (len(X),)
    np.testing.assert_array_equal(np.where(ahead > 0, "yes", "no"), model.predict(X))
    np.testing.assert_array_equal(model.scores(X), np.column_stack([-ahead, ahead]))
    flat = RidgeOneVsAll().fit(X, y).decision_function(X)
    np.testing.assert_allclose(ahead, flat, atol=1e-12)


def test_a_side_that_nobody_reached_is_scored_behind():
    class Never(Always):
        def decision_function(self, X):
            return np.full(len(X), -2.0)

    X, y, _ = small(1, 4)
    model = FilterTree(Never(), order="given").fit(X, y)
    assert isinstance(model.estimators_[-1], Never)
    assert model.scores(X)[0].tolist() == [2.0, -2.0, -2.0, -2.0]
    model.estimators_[-1] = 1  # as where no label of the first side has won
    assert model.scores(X)[0].tolist() == [-1.0, -2.0, 1.0, -2.0]


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_trees_with_scores_can_be_calibrated(kind):
    X, y = load_digits(return_X_y=True)
    X, fresh, y, truth = X[::2], X[1::2], y[::2], y[1::2]
    for probable in (WithProbabilities(kind(), random_state=0), CalibratedClassifierCV(kind(), cv=3)):
        p = probable.fit(X, y).predict_proba(fresh)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert log_loss(truth, p) < 1 < np.log(10)
    for name in ("scores", "decision_function"):
        assert not hasattr(kind(Always()), name)


def test_a_score_that_is_none_is_refused():
    class Endless(Always):
        def decision_function(self, X):
            return np.full(len(X), np.inf)

    X, y, _ = small(1, 3)
    with pytest.raises(ValueError, match="estimator must give a finite score for each of the 2 children"):
        LabelTree(Endless(), order="given").fit(X, y).scores(X)


@pytest.mark.parametrize("model", TREES, ids=repr)
def test_nodes_can_be_learnt_side_by_side(many, model):
    X, y, fresh, _ = many
    if isinstance(model.estimator, DecisionTreeClassifier):  # each node draws what it drew alone
        model = clone(model).set_params(
            estimator__max_features=2, estimator__random_state=np.random.RandomState(5)
        )
    alone, together = clone(model).fit(X, y), clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_allclose(together.scores(fresh), alone.scores(fresh), atol=1e-10)
    np.testing.assert_array_equal(together.n_examples_, alone.n_examples_)
    if isinstance(model, FilterTree) and model.estimator is not None:
        costs = np.random.default_rng(0).uniform(size=(len(X), 37))
        alone.fit_costs(X, costs)
        together.fit_costs(X, costs)
        np.testing.assert_allclose(together.scores(fresh), alone.scores(fresh), atol=1e-10)
    with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
        clone(model).set_params(n_jobs=0).fit(X, y)
