"""AdaBoost.MH: every stump and vote in fractions, AdaBoost of two classes on the mk-fold sample, bounds.

What the fractions choose, ties included, must be chosen to the letter in every round.
"""

import pickle
import tracemalloc
import warnings
from fractions import Fraction
from itertools import product
from math import lcm

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification, make_multilabel_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mcutils import boosting
from mcutils.boosting import AdaBoostMH, Stump, best_stump
from mcutils.jit import stumps as jit

# ---------------------------------------------------------------------------------------------------
# Every stump, in fractions


def every_stump(X, k, votes):
    """In the order in which ties are broken: feature, threshold, left and right votes."""
    signs = list(product((-1, 1), repeat=k))
    for v in signs:
        yield None, -np.inf, v, v
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for threshold in (values[1:] + values[:-1]) / 2:
            if votes == "sign":
                for v in signs:
                    yield j, threshold, tuple(-s for s in v), v
            else:
                for left in signs:
                    for right in signs:
                        yield j, threshold, left, right


def wrong_pairs(stump, X, Y):
    j, threshold, left, right = stump
    above = np.ones(len(X), bool) if j is None else X[:, j] > threshold
    return np.where(above[:, None], right, left) != Y


def exact_boosting(X, Y, T, votes, weights):
    """Stump, error and distribution of each round; the first of the best stumps in the order above."""
    k = Y.shape[1]
    D = np.array([Fraction(int(s), int(sum(weights)) * k) for s in weights for _ in range(k)], dtype=object)
    stumps = list(every_stump(X, k, votes))
    wrong = np.array([wrong_pairs(one, X, Y).ravel() for one in stumps])
    for _ in range(T):
        # whole numbers over one denominator
        one = lcm(*(weight.denominator for weight in D))
        errors = wrong.astype(object) @ np.array([int(weight * one) for weight in D], dtype=object)
        best = int(errors.argmin())  # the first
        error = Fraction(int(errors[best]), one)
        yield stumps[best], error, D.reshape(Y.shape), len(np.unique(wrong[errors == errors[best]], axis=0))
        if error in (0, Fraction(1, 2)):
            return
        D = np.where(wrong[best], D / (2 * error) if error else D, D / (2 * (1 - error)))


PROBLEMS = st.tuples(st.integers(2, 6), st.integers(1, 2), st.integers(2, 3)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.int64, shape[:2], elements=st.integers(-2, 2)),
        hnp.arrays(np.int64, (shape[0], shape[2]), elements=st.sampled_from([-1, 1])),
        hnp.arrays(np.int64, shape[0], elements=st.integers(1, 3)),
    )
)
XOR = (
    np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
    np.array([[1, -1], [-1, 1], [-1, 1], [1, -1]]),
    np.ones(4, int),
)


@pytest.mark.filterwarnings("ignore:no example with a weight", "ignore:no base classifier of round 1")
@pytest.mark.parametrize("votes", ["sign", "leaf"])
@given(problem=PROBLEMS)
@example(problem=XOR)
@example(problem=(np.array([[0], [1], [2]]), np.eye(3, dtype=int) * 2 - 1, np.ones(3, int)))
def test_every_round_is_that_of_the_fractions(votes, problem):
    X, Y, weights = problem
    T = 4
    model = AdaBoostMH(n_estimators=T, votes=votes)
    model.fit(X, Y, sample_weight=weights)
    exact = list(exact_boosting(X.astype(float), Y, T, votes, weights))
    useless = exact[-1][1] == Fraction(1, 2)
    assert model.n_estimators_ == len(exact) - useless
    for t, (one, error, D, _) in enumerate(exact):
        result = best_stump(X, Y, D.astype(float), votes=votes)
        assert (result.feature, result.threshold) == one[:2]
        assert (result.left.tolist(), result.right.tolist()) == (list(one[2]), list(one[3]))
        assert result.error == pytest.approx(float(error), rel=1e-14)
        if t < model.n_estimators_:
            kept = model.estimators_[t]
            assert (kept.feature, kept.threshold) == one[:2]
            assert (kept.left.tolist(), kept.right.tolist()) == (list(one[2]), list(one[3]))
            assert model.rounds_.error[t] == kept.error == pytest.approx(float(error), rel=1e-13)
    stop = "perfect" if exact[-1][1] == 0 else "no edge" if useless else "n_estimators"
    assert model.stop_ == stop


@pytest.mark.parametrize("votes", ["sign", "leaf"])
def test_more_rounds_where_the_best_is_often_the_only_one(votes):
    """Each error within some units of the last place of that of the fractions; k = 5 is two blocks."""
    alone = 0
    for seed, k in enumerate((3, 3, 5) if votes == "sign" else (2, 2, 3)):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 9, size=(11, 2)).astype(float)
        y = rng.integers(k, size=11)
        y[:k] = np.arange(k)
        Y = np.where(y[:, None] == np.arange(k), 1, -1)
        T = 9 if k < 5 else 5
        model = AdaBoostMH(n_estimators=T, votes=votes).fit(X, y)
        exact = list(exact_boosting(X, Y, T, votes, np.ones(11)))
        assert len(exact) == model.n_estimators_
        for (one, error, _, n_best), result, recorded in zip(
            exact, model.estimators_, model.rounds_.error, strict=True
        ):
            assert abs(recorded - float(error)) <= 40 * np.spacing(float(error))
            alone += n_best == 1
            assert (result.feature, result.threshold) == one[:2]
            assert (result.left.tolist(), result.right.tolist()) == (list(one[2]), list(one[3]))
    assert alone >= 10


@pytest.mark.parametrize("votes", ["sign", "leaf"])
@given(data=st.data())
def test_no_stump_is_better(votes, data):
    """On random real weights, many examples and classes: against all thresholds by matrix products."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    m, d, k = rng.integers(2, 60), rng.integers(1, 5), rng.integers(1, 11)
    X = rng.normal(size=(m, d)) if rng.random() < 0.5 else rng.integers(0, 4, size=(m, d)).astype(float)
    Y = rng.choice([-1, 1], size=(m, k))
    D = rng.exponential(size=(m, k)) * (rng.random((m, k)) < 0.8)
    D[0, 0] += 1
    result = best_stump(X, Y, D, votes=votes)
    D /= D.sum()
    sides = [np.ones(m, bool)] + [X[:, j] > value for j in range(d) for value in np.unique(X[:, j])]
    least = 1.0
    for side in sides:
        right, left = (D * Y)[side].sum(axis=0), (D * Y)[~side].sum(axis=0)
        edge = np.abs(right - left) if votes == "sign" else np.abs(right) + np.abs(left)
        least = min(least, (1 - edge.sum()) / 2)
    assert result.error == pytest.approx(least, abs=1e-12)
    assert D[result(X) != Y].sum() == pytest.approx(result.error, abs=1e-12)
    # the order of the values matters, not their distances; and the rows stand in no order
    again = best_stump(np.exp(X), Y, D, votes=votes)
    same = again(np.exp(X)) == result(X)
    assert same[D > 0].all()  # an example without weight may lie on either side
    order = rng.permutation(m)
    shuffled = best_stump(X[order], Y[order], D[order], votes=votes)
    assert (shuffled.feature, shuffled.threshold) == (result.feature, result.threshold)
    assert np.array_equal(shuffled.right, result.right)


@pytest.mark.parametrize(
    "values",
    [
        (1.0, np.nextafter(1.0, 2)),
        (-5e-324, 0.0),
        (0.0, 5e-324),
        (-1.7e308, 1.7e308),
        (1.6e308, 1.7e308),
        (np.nextafter(-1.0, -2), -1.0),
    ],
)
def test_a_threshold_lies_between_what_it_parts(values):
    result = best_stump([[values[0]], [values[1]]], [[1], [-1]])
    assert values[0] <= result.threshold < values[1]
    assert result.error == 0.0


def test_a_class_without_edge_is_voted_against():
    stump = best_stump([[0.0], [0.0], [1.0], [1.0]], [[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert (stump.left.tolist(), stump.right.tolist()) == ([1, 1], [-1, -1])
    stump = best_stump([[0.0], [0.0], [1.0], [1.0]], [[1, 1], [1, -1], [-1, 1], [-1, -1]], votes="leaf")
    assert (stump.left.tolist(), stump.right.tolist()) == ([1, -1], [-1, -1])


# ---------------------------------------------------------------------------------------------------
# AdaBoost of two classes on the mk-fold sample


def binary_adaboost(votes, labels):
    """Errors and weights of AdaBoost on the sample of the labels, its base classifiers given by votes."""
    D, errors, alphas = np.full(len(labels), 1 / len(labels)), [], []
    for h in votes:
        error = D[h != labels].sum()
        alpha = np.log((1 - error) / error) / 2
        D = D * np.exp(-alpha * h * labels)
        D /= D.sum()
        errors.append(error)
        alphas.append(alpha)
    return np.array(errors), np.array(alphas)


@pytest.mark.parametrize("votes", ["sign", "leaf"])
def test_it_is_adaboost_of_two_classes(votes):
    for load in (load_iris, load_digits):
        X, y = load(return_X_y=True)
        X, y = X[:400], y[:400]
        model = AdaBoostMH(n_estimators=60, votes=votes).fit(X, y)
        labels = np.where(y[:, None] == model.classes_, 1, -1).ravel()
        errors, alphas = binary_adaboost([one(X).ravel() for one in model.estimators_], labels)
        assert np.abs(model.rounds_.error / errors - 1).max() < 1e-12
        assert np.abs(model.estimator_weights_ / alphas - 1).max() < 1e-12


def test_with_trees_it_is_scikit_learn_s_adaboost_on_the_mk_fold_sample():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(3, size=80)
    tree = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostMH(tree, n_estimators=12, random_state=0).fit(X, y)
    fold = np.array([[*x, *np.eye(3)[l]] for x in X for l in range(3)])
    labels = np.array([1 if c == l else -1 for c in y for l in range(3)])
    peer = AdaBoostClassifier(tree, n_estimators=12, random_state=0).fit(fold, labels)
    assert model.n_estimators_ == 12
    assert np.allclose(model.rounds_.error, peer.estimator_errors_, rtol=1e-10)
    assert np.allclose(2 * model.estimator_weights_, peer.estimator_weights_, rtol=1e-10)
    assert np.array_equal(np.where(model.scores(X) > 0, 1, -1).ravel(), peer.predict(fold))


# ---------------------------------------------------------------------------------------------------
# What is recorded, and the bounds


def samples():
    yield load_iris(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield X[:300], y[:300]
    rng = np.random.default_rng(0)
    yield rng.normal(size=(60, 2)), rng.integers(4, size=60)
    yield make_multilabel_classification(100, n_features=5, n_classes=6, random_state=0)


@pytest.mark.parametrize("votes", ["sign", "leaf"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bounds(votes, weighted):
    for X, y in samples():
        rng = np.random.default_rng(0)
        weights = rng.exponential(size=len(X)) if weighted else np.ones(len(X))
        model = AdaBoostMH(n_estimators=40, votes=votes).fit(X, y, weights if weighted else None)
        Y = np.where(y if y.ndim == 2 else y[:, None] == model.classes_, 1, -1)
        D = np.repeat(weights[:, None] / weights.sum() / Y.shape[1], Y.shape[1], axis=1)
        rounds, k = model.rounds_, Y.shape[1]
        assert model.n_estimators_ == 40
        assert np.allclose(rounds.alpha, np.log(1 / rounds.error - 1) / 2, rtol=1e-13)
        assert np.array_equal(rounds.alpha, model.estimator_weights_)
        assert np.allclose(rounds.z**2, 4 * rounds.error * (1 - rounds.error), rtol=1e-14)
        assert (rounds.error < 0.5).all()
        current = D
        for t, scores in enumerate(model.staged_scores(X)):
            h = model.estimators_[t](X)
            assert current[h != Y].sum() == pytest.approx(rounds.error[t], rel=1e-10)
            z = (current * np.exp(-rounds.alpha[t] * h * Y)).sum()
            assert rounds.z[t] == pytest.approx(z, rel=1e-10)
            current = current * np.exp(-rounds.alpha[t] * h * Y) / z
            assert rounds.bound[t] == pytest.approx((D * np.exp(-Y * scores)).sum(), rel=1e-10)
            assert D[Y * scores <= 0].sum() <= rounds.bound[t] * (1 + 1e-10)
            assert rounds.bound[t] <= np.exp(-2 * ((0.5 - rounds.error[: t + 1]) ** 2).sum()) * (1 + 1e-12)
            if y.ndim == 1:
                rows = np.arange(len(y))
                own = scores[rows, y]
                rivals = scores.copy()
                rivals[rows, y] = -np.inf
                mistakes = weights[own <= rivals.max(axis=1)].sum() / weights.sum()
                assert mistakes <= k / 2 * rounds.bound[t] * (1 + 1e-10)


def test_half_of_k_is_reached():
    """One example, its own class and one other scored 0, all others -oo: 1 mistake, bound (k / 2) (2 / k)."""
    for k in (2, 5):
        scores = np.full((1, k), -800.0)
        scores[0, :2] = 0.0
        Y = np.where(np.arange(k) == 0, 1, -1)
        assert k / 2 * np.exp(-Y * scores).mean() == 1.0


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_the_first_round_learns_nothing(k):
    """Balanced classes and no information: h = -1 has the error 1 / k, and the error 1/2 from then on."""
    X, y = np.zeros((5 * k, 2)), np.repeat(np.arange(k), 5)
    if k == 2:
        with pytest.warns(ConvergenceWarning, match=r"no base classifier of round 1 has .* found 0.5"):
            model = AdaBoostMH().fit(X, y)
        assert (model.n_estimators_, model.stop_) == (0, "no edge")
        assert not model.scores(X).any()
        assert (model.predict(X) == 0).all()
        return
    model = AdaBoostMH().fit(X, y)
    assert (model.n_estimators_, model.stop_) == (1, "no edge")
    assert model.rounds_.error[0] == pytest.approx(1 / k, rel=1e-14)
    assert model.estimators_[0].feature is None
    assert (model.estimators_[0](X) == -1).all()
    assert model.score(X, y) == pytest.approx(1 / k)  # a tie of all, which the first class wins
    assert not model.feature_importances_.any()


def test_a_perfect_base_classifier_ends_it():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
    model = AdaBoostMH().fit(X, y)
    assert (model.n_estimators_, model.stop_) == (1, "perfect")
    assert all(model.rounds_.__dict__[name].tolist() == [0.0] for name in ("error", "z", "bound"))
    assert model.rounds_.alpha.tolist() == [np.inf]
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.predict([[-9.0], [9.0]]).tolist() == ["a", "b"]

    class Late(DecisionTreeClassifier):
        """Of depth 2 for three rounds, then without a bound."""

        rounds = 0

        def fit(self, X, y, sample_weight=None):
            Late.rounds += 1
            self.max_depth = 2 if Late.rounds < 4 else None
            return super().fit(X, y, sample_weight)

    X, y = load_iris(return_X_y=True)
    Late.rounds = 0
    X = X + np.random.default_rng(0).normal(scale=1e-6, size=X.shape)
    model = AdaBoostMH(Late(), random_state=0).fit(X, y)
    assert (model.n_estimators_, model.stop_) == (4, "perfect")
    weights = model.estimator_weights_
    assert weights[3] == pytest.approx(1 + weights[:3].sum())
    Y = np.where(y[:, None] == np.arange(3), 1, -1)
    assert np.array_equal(np.sign(model.scores(X)), Y)
    assert model.score(X, y) == 1.0


# ---------------------------------------------------------------------------------------------------
# The estimator


@pytest.mark.parametrize("votes", ["sign", "leaf"])
@pytest.mark.parametrize("large", [boosting._LARGE, 1])
def test_compiled_and_python_agree(votes, large, monkeypatch):
    monkeypatch.setattr(boosting, "_LARGE", large)
    monkeypatch.setattr(boosting, "_SIZE", 8)
    for (X, y), names in [(one, sorted(vars(jit))) for one in list(samples())[:3]]:
        X, y = X[::3, :5], y[::3]
        compiled = AdaBoostMH(n_estimators=6, votes=votes).fit(X, y)
        with monkeypatch.context() as patch:
            for name in names:
                if hasattr(getattr(jit, name), "py_func"):
                    patch.setattr(jit, name, getattr(jit, name).py_func)
            plain = AdaBoostMH(n_estimators=6, votes=votes).fit(X, y)
        assert np.allclose(compiled.rounds_.error, plain.rounds_.error, rtol=1e-13)
        same_stumps(compiled, plain)


def same_stumps(one, other):
    assert one.n_estimators_ == other.n_estimators_
    for a, b in zip(one.estimators_, other.estimators_, strict=True):
        assert (a.feature, a.threshold) == (b.feature, b.threshold)
        assert np.array_equal(a.left, b.left)
        assert np.array_equal(a.right, b.right)


@pytest.mark.parametrize("votes", ["sign", "leaf"])
@pytest.mark.compiler
def test_buckets_change_nothing(votes, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    many = X, (X @ rng.normal(size=(4, 5)) + rng.normal(size=(len(X), 5))).argmax(axis=1)
    for X, y in [*samples(), many]:
        with monkeypatch.context() as patch:
            patch.setattr(boosting, "_LARGE", np.inf)
            plain = AdaBoostMH(n_estimators=25, votes=votes).fit(X, y)
            patch.setattr(boosting, "_LARGE", 1)
            patch.setattr(boosting, "_SIZE", 4 if len(X) < 1000 else 32)
            for n_jobs in (1, 2):
                same = AdaBoostMH(n_estimators=25, votes=votes, n_jobs=n_jobs).fit(X, y)
                same_stumps(plain, same)
                assert np.allclose(plain.rounds_.error, same.rounds_.error, rtol=1e-12)
    # of the large sample few buckets are swept
    swept, above = [], jit.edges_above

    def counting(*arguments):
        edges = above(*arguments)
        swept.append((edges >= 0).mean())
        return edges

    monkeypatch.setattr(jit, "screened_edges", jit.screened_edges.py_func)
    monkeypatch.setattr(jit, "edges_above", counting)
    monkeypatch.setattr(boosting, "_LARGE", 1)
    same_stumps(plain, AdaBoostMH(n_estimators=25, votes=votes).fit(*many))
    assert len(swept) >= 2 * 25
    assert np.mean(swept) < 0.2


@pytest.mark.parametrize("votes", ["sign", "leaf"])
@pytest.mark.compiler
@pytest.mark.once
def test_threads_change_nothing(votes):
    filters = list(warnings.filters)
    for X, y in samples():
        alone = AdaBoostMH(n_estimators=25, votes=votes).fit(X, y)
        for n_jobs in (2, 3, 100):
            together = AdaBoostMH(n_estimators=25, votes=votes, n_jobs=n_jobs).fit(X, y)
            same_stumps(alone, together)
            assert np.array_equal(alone.rounds_.error, together.rounds_.error)
        Y = np.where(y if y.ndim == 2 else y[:, None] == alone.classes_, 1, -1)
        assert best_stump(X, Y, votes=votes, n_jobs=2).error == alone.rounds_.error[0]
    assert list(warnings.filters) == filters


@pytest.mark.parametrize("votes", ["sign", "leaf"])
def test_a_weight_is_a_number_of_repeats(votes):
    for X, y in samples():
        times = np.random.default_rng(0).integers(0, 4, size=len(X))
        weighted = AdaBoostMH(n_estimators=25, votes=votes).fit(X, y, sample_weight=times)
        repeated = AdaBoostMH(n_estimators=25, votes=votes).fit(
            np.repeat(X, times, axis=0), np.repeat(y, times, axis=0)
        )
        same_stumps(weighted, repeated)
        assert np.allclose(weighted.rounds_.error, repeated.rounds_.error, rtol=1e-10)
        same_stumps(weighted, AdaBoostMH(n_estimators=25, votes=votes).fit(X, y, sample_weight=times / 7))


def test_renamed_features_and_classes_change_only_names():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMH(n_estimators=30).fit(X, y)
    names = np.array(["setosa", "versicolor", "virginica"])
    named = AdaBoostMH(n_estimators=30).fit(pd.DataFrame(X, columns=list("abcd")), names[y])
    same_stumps(model, named)
    assert named.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(named.predict(pd.DataFrame(X, columns=list("abcd"))), names[model.predict(X)])
    assert model.predict(X).dtype == y.dtype


def test_stages():
    for X, y in samples():
        model = AdaBoostMH(n_estimators=7).fit(X, y)
        scores = np.zeros((len(X), len(model.classes_)))
        stages = zip(
            model.staged_scores(X),
            model.staged_decision_function(X),
            model.staged_predict(X),
            model.staged_score(X, y),
            strict=True,
        )
        for t, (result, decided, predicted, score) in enumerate(stages):
            scores = scores + model.estimator_weights_[t] * model.estimators_[t](X)
            assert np.allclose(result, scores, rtol=1e-13)
            assert np.array_equal(result, decided)
            early = AdaBoostMH(n_estimators=t + 1).fit(X, y)
            assert np.array_equal(early.predict(X), predicted)
            assert early.score(X, y) == score
        assert np.array_equal(result, model.scores(X))
        assert np.array_equal(predicted, model.predict(X))
    two = AdaBoostMH(n_estimators=9).fit(X, y[:, 0])
    assert two.decision_function(X).shape == (len(X),)
    scores = two.scores(X)
    assert np.array_equal(two.decision_function(X), scores[:, 1] - scores[:, 0])
    assert np.array_equal(two.predict(X), (two.decision_function(X) > 0).astype(int))
    # two classes have opposite signs, so this is AdaBoost, twice
    assert np.array_equal(scores[:, 0], -scores[:, 1])
    assert np.array_equal(
        scores[:, 1], AdaBoostMH(n_estimators=9).fit(X, np.c_[y[:, 0]] @ [[1, 1]]).scores(X)[:, 0]
    )


def test_several_labels():
    X, Y = make_multilabel_classification(200, n_features=6, n_classes=4, random_state=0)
    model = AdaBoostMH(n_estimators=50).fit(X, Y)
    assert model.multilabel_
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert np.array_equal(model.predict(X), (model.scores(X) > 0).astype(int))
    for other, coding in ((2 * Y - 1, (-1, 1)), (Y.astype(bool), (0, 1)), (Y.astype(float), (0, 1))):
        result = AdaBoostMH(n_estimators=50).fit(X, other)
        same_stumps(model, result)
        assert result.predict(X).dtype == other.dtype
        assert set(np.unique(result.predict(X)).astype(int)) <= set(coding)
        assert np.array_equal(result.predict(X) > 0, model.predict(X) > 0)
    of_sparse = AdaBoostMH(n_estimators=50).fit(X, csr_array(Y))
    same_stumps(model, of_sparse)
    assert np.array_equal(of_sparse.predict(X).toarray(), model.predict(X))
    assert model.score(X, Y) == (model.predict(X) == Y).all(axis=1).mean()


def test_a_label_without_example():
    X, Y = make_multilabel_classification(100, n_features=6, n_classes=4, random_state=0)
    Y[:, 2] = 0
    with pytest.warns(UserWarning, match="no example with a weight has the label 2: all there is to learn"):
        model = AdaBoostMH(n_estimators=150, votes="leaf").fit(X, Y)
    assert not model.predict(X)[:, 2].any()
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="has the label 1:"):
        model = AdaBoostMH(n_estimators=50).fit(X, y, sample_weight=y != 1)
    assert set(model.predict(X)) == {0, 2}
    with pytest.warns(UserWarning, match="has the label 0, 1:"):
        model = AdaBoostMH().fit(X, np.zeros((150, 2), int))
    assert model.stop_ == "perfect"
    assert not model.predict(X).any()


def test_probabilities_are_those_for_which_the_scores_are_best():
    """A base learner that can answer each of three inputs as it likes minimises the exponential loss."""
    counts = np.array([[7, 2, 1], [1, 5, 4], [3, 3, 4]])
    x, y = (np.repeat(part.ravel(), counts.ravel()) for part in np.indices((3, 3)))
    model = AdaBoostMH(DecisionTreeClassifier(max_depth=4, random_state=0), n_estimators=400)
    model.fit(np.eye(3)[x], y)
    assert np.allclose(model.predict_proba(np.eye(3)), counts / 10, atol=0.01)
    assert np.allclose(expit(2 * model.scores(np.eye(3))), counts / 10, atol=0.01)


def test_probabilities(iris):
    X, y = iris
    model = AdaBoostMH(n_estimators=20).fit(X, y)
    p = 1 / (1 + np.exp(-2 * model.scores(X)))
    assert np.allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), rtol=1e-12)
    assert np.array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    staged = list(model.staged_predict_proba(X))
    assert len(staged) == model.n_estimators_
    assert np.array_equal(staged[-1], model.predict_proba(X))
    Y = np.column_stack([y == "setosa", X[:, 0] > 6]).astype(int)
    model.fit(X, Y)
    assert np.allclose(model.predict_proba(X), 1 / (1 + np.exp(-2 * model.scores(X))), rtol=1e-12)
    assert np.array_equal(model.predict_proba(X).round(), model.predict(X))


def test_large_scores_have_probabilities():
    model = AdaBoostMH(n_estimators=1).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    model.estimator_weights_ *= 1e4
    p = model.predict_proba([[0.0], [1.0], [2.0]])
    assert np.isfinite(p).all()
    assert np.allclose(p.sum(axis=1), 1)


def test_one_class(iris):
    X, _ = iris
    model = AdaBoostMH().fit(X, np.full(150, "a"))
    assert set(model.predict(X)) == {"a"}
    assert (model.predict_proba(X) == np.ones((150, 1))).all()


@pytest.mark.parametrize("kind", ["classes", "labels"])
def test_early_stopping(kind):
    if kind == "classes":
        X, y = make_classification(400, 10, n_informative=4, n_classes=4, flip_y=0.3, random_state=0)
    else:
        X, y = make_multilabel_classification(300, n_features=6, n_classes=4, random_state=0)
    model = AdaBoostMH(
        n_estimators=300, early_stopping=True, validation_fraction=0.25, n_iter_no_change=20, random_state=3
    ).fit(X, y)
    errors = model.validation_errors_
    assert model.stop_ == "validation"
    assert model.n_estimators_ == errors.argmin() + 1
    assert len(errors) == model.n_estimators_ + 20 < 300
    # the same split by hand: what is learned from the rest alone
    from sklearn.model_selection import train_test_split

    stratify = y if kind == "classes" else None
    parts = train_test_split(
        np.arange(len(X)), test_size=0.25, random_state=np.random.RandomState(3), stratify=stratify
    )
    by_hand = AdaBoostMH(n_estimators=len(errors)).fit(X[parts[0]], y[parts[0]])
    stages = by_hand.staged_predict(X[parts[1]])
    assert np.allclose(errors, [(predicted != y[parts[1]]).mean() for predicted in stages])
    assert np.array_equal(model.rounds_.error, by_hand.rounds_.error[: model.n_estimators_])
    assert np.array_equal(model.predict(X), list(by_hand.staged_predict(X))[model.n_estimators_ - 1])
    assert AdaBoostMH(n_estimators=3).fit(X, y).validation_errors_ is None


def test_importances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 1] > 0).astype(int) + (X[:, 3] > 0.5)
    model = AdaBoostMH(n_estimators=20).fit(X, y)
    shares = np.zeros(5)
    for one, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        if one.feature is not None:
            shares[one.feature] += alpha
    assert np.allclose(model.feature_importances_, shares / shares.sum())
    assert set(np.argsort(model.feature_importances_)[-2:]) == {1, 3}
    trees = AdaBoostMH(DecisionTreeClassifier(max_depth=4), n_estimators=5, random_state=0).fit(X, y)
    assert trees.feature_importances_.shape == (5,)
    assert trees.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(trees.feature_importances_)[-2:]) == {1, 3}
    linear = AdaBoostMH(LogisticRegression(), n_estimators=2).fit(X, y)
    assert not hasattr(linear, "feature_importances_")


def test_any_base_learner():
    X, y = load_iris(return_X_y=True)
    trees = AdaBoostMH(DecisionTreeClassifier(max_depth=4), n_estimators=30, random_state=0).fit(X, y)
    assert trees.score(X, y) == 1.0
    # of depth 1 it cannot use a class and a feature at once: after h = -1 it has nothing
    one = AdaBoostMH(DecisionTreeClassifier(max_depth=1), random_state=0).fit(X, y)
    assert (one.n_estimators_, one.stop_) == (1, "no edge")
    assert (one.rounds_.error[0], one.score(X, y)) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert len(trees.estimators_) == trees.n_estimators_ <= 30
    again = clone(trees).fit(X, y)
    assert np.array_equal(again.scores(X), trees.scores(X))
    labels = np.c_[y == 0, y != 1].astype(int)
    assert (
        AdaBoostMH(DecisionTreeClassifier(max_depth=4), n_estimators=30).fit(X, labels).score(X, labels) == 1
    )
    # linear on (x, unit vector): it cannot have another question for each class, and is soon useless
    linear = AdaBoostMH(LogisticRegression(), n_estimators=50).fit(X, y)
    assert linear.stop_ == "no edge"
    assert linear.n_estimators_ < 50
    with pytest.raises(ValueError, match="estimator must take sample_weight in fit, found KNeighbors"):
        AdaBoostMH(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="max_depth") as caught:
        AdaBoostMH(DecisionTreeClassifier(max_depth=-1)).fit(X, y)
    assert "on the mk-fold sample" in caught.value.__notes__[0]


def test_it_can_be_kept():
    X, y = load_iris(return_X_y=True)
    for model in (
        AdaBoostMH(n_estimators=20),
        AdaBoostMH(DecisionTreeClassifier(max_depth=2), n_estimators=5),
    ):
        model.fit(X, y)
        kept = pickle.loads(pickle.dumps(model))
        assert np.array_equal(kept.scores(X), model.scores(X))
        assert np.array_equal(kept.rounds_.error, model.rounds_.error)


@pytest.mark.compiler
def test_memory():
    """Less than three times the data, the weights of a class each included."""
    X, y = make_classification(4000, 50, n_informative=20, n_classes=10, random_state=0)
    AdaBoostMH(n_estimators=2).fit(X[:100], y[:100])
    for votes in ("sign", "leaf"):
        tracemalloc.start()
        model = AdaBoostMH(n_estimators=5, votes=votes).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert model.n_estimators_ == 5
        assert peak < 3 * (X.nbytes + y.nbytes)


X3, Y3 = [[0.0], [1.0], [2.0]], [0, 1, 2]


@pytest.mark.parametrize("unit", [1e-300, 1e-140, 1e140, 1e304])
def test_only_the_proportions_of_weights_matter(unit):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=150)
    for model in (
        AdaBoostMH(n_estimators=10),
        AdaBoostMH(n_estimators=10, early_stopping=True, random_state=0),
        AdaBoostMH(DecisionTreeClassifier(max_depth=3, random_state=0), n_estimators=3),
    ):
        plain, scaled = (clone(model).fit(X, y, some) for some in (weights, weights * unit))
        np.testing.assert_allclose(scaled.rounds_.error, plain.rounds_.error, rtol=1e-9)
        assert scaled.predict(X).tolist() == plain.predict(X).tolist()
    signs, D = np.where(y[:, None] == np.arange(3), 1, -1), np.repeat(weights[:, None], 3, axis=1)
    one, other = best_stump(X, signs, D), best_stump(X, signs, D * unit)
    assert (one.feature, one.threshold) == (other.feature, other.threshold)
    assert other.error == pytest.approx(one.error, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AdaBoostMH(n_estimators=0).fit(X3, Y3), "n_estimators must be"),
        (lambda: AdaBoostMH(n_estimators=2.5).fit(X3, Y3), "n_estimators must be"),
        (lambda: AdaBoostMH(votes="both").fit(X3, Y3), "votes must be one of 'sign', 'leaf', found 'both'"),
        (lambda: AdaBoostMH(votes=None).fit(X3, Y3), "votes must be one of .* found None"),
        (lambda: AdaBoostMH(early_stopping="yes").fit(X3, Y3), "early_stopping must be True or False"),
        (
            lambda: AdaBoostMH(validation_fraction=1.0).fit(X3, Y3),
            "validation_fraction must be a finite number, above 0 and below 1",
        ),
        (
            lambda: AdaBoostMH(validation_fraction=np.nan).fit(X3, Y3),
            "validation_fraction must be a finite number, above 0 and below 1",
        ),
        (lambda: AdaBoostMH(n_iter_no_change=0).fit(X3, Y3), "n_iter_no_change must be"),
        (lambda: AdaBoostMH().fit(X3, [[0, 2], [1, 0], [2, 1]]), "y must have one class for each example"),
        (
            lambda: AdaBoostMH().fit(X3, [[0, 2], [2, 0], [2, 0]]),
            "y must have the entries 0 and 1, or -1 and 1",
        ),
        (lambda: AdaBoostMH().fit(X3, [[0, -1], [0, 0], [-1, 0]]), "y must have the entries 0 and 1, or"),
        (lambda: AdaBoostMH().fit([[0.0], [np.nan], [1.0]], Y3), "contains NaN"),
        (lambda: AdaBoostMH().fit([[0.0], [np.inf], [1.0]], Y3), "contains infinity"),
        (
            lambda: AdaBoostMH().fit(X3, Y3, sample_weight=[1.0, -1.0, 1.0]),
            "sample_weight must be 3 finite numbers, at least 0, found -1.0",
        ),
        (lambda: AdaBoostMH().fit(X3, Y3, sample_weight=[0.0, 0.0, 0.0]), "zero"),
        (lambda: AdaBoostMH().fit(X3, Y3).predict([[np.nan]]), "contains NaN"),
        (lambda: best_stump([[np.nan]], [[1]]), "X contains NaN"),
        (lambda: best_stump([[1.0]], [[0]]), r"signs must be a matrix of -1 and 1 .* entries \[0\]"),
        (lambda: best_stump([[1.0]], [[1], [1]]), "signs must be a matrix .* each of 1 examples"),
        (lambda: best_stump([[1.0]], [[1]], [[-1.0]]), "weights must be finite, at least 0, and not all 0"),
        (lambda: best_stump([[1.0]], [[1]], [[0.0]]), "weights must be finite, at least 0, and not all 0"),
        (lambda: best_stump([[1.0]], [[1]], [[np.nan]]), "weights must be finite"),
        (lambda: best_stump([[1.0]], [[1]], [[np.inf]]), "weights must be finite"),
        (lambda: best_stump([[1.0]], [[1]], [1.0]), "weights must be numbers with the shape of signs"),
        (lambda: best_stump([[1.0]], [[1]], [["a"]]), "weights must be numbers"),
        (lambda: best_stump([[1.0]], [[1]], votes="all"), "votes must be one of"),
        (lambda: best_stump(X3, np.eye(3) * 2 - 1)([1.0]), r"X must be a matrix .* found shape \(1,\)"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_not_fitted():
    with pytest.raises(NotFittedError):
        AdaBoostMH().predict(X3)
    with pytest.raises(NotFittedError):
        next(AdaBoostMH().staged_scores(X3))


def test_a_stump_needs_its_feature():
    stump = Stump(2, 0.0, np.array([1, -1]), np.array([-1, 1]), 0.25)
    assert stump([[9, 9, 0.0], [0, 0, 1.0]]).tolist() == [[1, -1], [-1, 1]]
    with pytest.raises(ValueError, match="at least 3 features"):
        stump([[1.0, 2.0]])


def test_nothing_is_warned_of_without_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdaBoostMH(n_estimators=5, n_jobs=2).fit(*load_iris(return_X_y=True))
