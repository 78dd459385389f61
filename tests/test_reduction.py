"""One-vs-all and one-vs-one: decoding, the estimators, and what scikit-learn's own tests promise.

A test below whose name begins with ``test_as_in_scikit_learn`` makes the same promise as one of
scikit-learn's, named in its docstring; test_dropin.py runs these themselves, and lists what differs.
Further promises that are deliberately others:

=========================================  ========================================================
scikit-learn                               here
=========================================  ========================================================
vote ties are broken by summed scores      a choice, ``ties="sum"``; by default by the order of classes
probabilities are summed as they are       as log-odds, whose sign is the decision
an X of one-vs-one becomes an array        data frames reach the base as they are
=========================================  ========================================================
"""

import tracemalloc
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, make_blobs, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from mcutils import ecoc, reduction
from mcutils.binary import BinarySVM
from mcutils.ecoc import OutputCode
from mcutils.frontier import FilterTree, LabelTree
from mcutils.reduction import OneVsAll, OneVsOne, pairs, sums, tournament, votes
from mcutils.softmax import WithProbabilities, pairwise_coupling

# ---------------------------------------------------------------------------------------------------
# Naive twins: a class, an opponent, a duel at a time


def duel_twin(scores, k, y, r):
    """f_yr, with f_ry = -f_yr."""
    place = list(combinations(range(k), 2)).index((min(y, r), max(y, r)))
    return scores[place] if y < r else -scores[place]


def votes_twin(scores, k):
    win = {1: Fraction(1), 0: Fraction(1, 2), -1: Fraction(0)}
    return [sum(win[int(np.sign(duel_twin(scores, k, y, r)))] for r in range(k) if r != y) for y in range(k)]


def sums_twin(scores, k):
    return [sum(duel_twin(scores, k, y, r) for r in range(k) if r != y) for y in range(k)]


def champion_twin(scores, k, bracket):
    if len(bracket) == 1:
        return bracket[0]
    left = []
    for place in range(0, len(bracket), 2):
        entrants = sorted(bracket[place : place + 2])
        if len(entrants) == 2:
            smaller_wins = duel_twin(scores, k, *entrants) >= 0
            left.append(entrants[0] if smaller_wins else entrants[1])
        else:
            left += entrants
    return champion_twin(scores, k, left)


@st.composite
def scores_of_pairs(draw):
    """Small integers, so that sums are exact, and zeros and ties frequent."""
    k = draw(st.integers(2, 7))
    n = draw(st.integers(1, 5))
    values = hnp.arrays(np.float64, (n, k * (k - 1) // 2), elements=st.integers(-3, 3).map(float))
    return draw(values), k


# ---------------------------------------------------------------------------------------------------
# Decoding


@pytest.mark.parametrize("k", [2, 3, 4, 9])
def test_pairs_come_in_the_order_of_the_columns_of_all_pairs(k):
    code = ecoc.all_pairs(k)
    assert [(int(c.argmax()), int(c.argmin())) for c in code.T] == [tuple(p) for p in pairs(k).tolist()]


@given(scores_of_pairs())
def test_votes_and_sums_are_the_definitions(given_):
    scores, k = given_
    np.testing.assert_array_equal(votes(scores), [[float(v) for v in votes_twin(f, k)] for f in scores])
    np.testing.assert_array_equal(sums(scores), [sums_twin(f, k) for f in scores])


@given(scores_of_pairs())
def test_votes_add_up_to_the_number_of_duels_and_sums_to_zero(given_):
    scores, k = given_
    np.testing.assert_array_equal(votes(scores).sum(axis=1), k * (k - 1) / 2)
    np.testing.assert_array_equal(sums(scores).sum(axis=1), 0)


@given(scores_of_pairs())
def test_the_summed_signs_are_twice_the_wins_less_the_opponents(given_):
    scores, k = given_
    np.testing.assert_array_equal(sums(np.sign(scores)), 2 * votes(scores) - (k - 1))


@given(scores_of_pairs())
def test_the_vote_is_hamming_decoding_and_the_sum_linear_decoding(given_):
    scores, k = given_
    code = ecoc.all_pairs(k)
    for values, loss in ((votes(scores), "hamming"), (sums(scores), "linear")):
        result = ecoc.decode(scores, code, loss)
        np.testing.assert_array_equal(values.argmax(axis=1), result.winner)
        np.testing.assert_array_equal((values == values.max(axis=1)[:, None]).sum(axis=1) > 1, result.tied)


@pytest.mark.parametrize("k", [127, 128, 129, 200])
def test_no_number_of_duels_overflows(k):
    l = k * (k - 1) // 2
    scores = np.vstack([np.ones(l), -np.ones(l)])
    np.testing.assert_array_equal(votes(scores), [np.arange(k)[::-1], np.arange(k)])


@given(scores_of_pairs(), st.randoms(use_true_random=False))
def test_the_champion_is_that_of_the_definition(given_, random):
    scores, k = given_
    bracket = list(range(k))
    random.shuffle(bracket)
    survived = tournament(scores, bracket)
    np.testing.assert_array_equal(
        survived.argmax(axis=1), [champion_twin(f, k, tuple(bracket)) for f in scores]
    )
    # the champion alone survives all rounds, and half of the rest goes in each
    rounds = (k - 1).bit_length()
    left = k
    for depth in range(1, rounds + 1):
        left = (left + 1) // 2
        np.testing.assert_array_equal((survived >= depth).sum(axis=1), left)
    assert left == 1


def test_with_four_classes_the_bracket_can_make_three_different_champions():
    # 0 beats 1 and 3, 1 beats 2 and 3, 2 beats 0 and 3; 3 loses all
    scores = [[1, -1, 1, 1, 1, 1]]
    champions = {tournament(scores, b).argmax() for b in ([0, 1, 2, 3], [1, 2, 0, 3], [0, 2, 1, 3])}
    assert champions == {0, 1, 2}


def test_who_wins_all_duels_wins_every_tournament_and_every_vote():
    rng = np.random.default_rng(0)
    for _ in range(50):
        k = int(rng.integers(2, 9))
        scores = rng.normal(size=k * (k - 1) // 2)
        strongest = int(rng.integers(k))
        for place, (y, r) in enumerate(pairs(k)):
            if strongest in (y, r):
                scores[place] = abs(scores[place]) * (1 if y == strongest else -1)
        assert tournament([scores], rng.permutation(k)).argmax() == strongest
        assert votes([scores]).argmax() == strongest


@pytest.mark.parametrize("function", [votes, sums, tournament])
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0, 3.0], r"one for each pair of k >= 2 classes, found shape \(3,\)"),
        ([[1.0, 2.0]], r"found shape \(1, 2\)"),
        ([[]], r"found shape \(1, 0\)"),
        ([["a", "b", "c"]], "must be real numbers"),
        ([[1.0, np.nan, 0.0]], "must be finite, found nan"),
        ([[1.0, 0.0, -np.inf]], "must be finite, found -inf"),
    ],
)
def test_scores_that_are_none_are_refused(function, scores, message):
    with pytest.raises(ValueError, match=message):
        function(scores)


@pytest.mark.parametrize("bracket", [[0, 1], [0, 1, 1], [1, 2, 3], [[0, 1, 2]], [0.0, 1.0, 2.0]])
def test_a_bracket_has_each_class_once(bracket):
    with pytest.raises(ValueError, match="each class from 0 to 2 once"):
        tournament([[1.0, 1.0, 1.0]], bracket)


# ---------------------------------------------------------------------------------------------------
# The estimators


class Steps(ClassifierMixin, BaseEstimator):
    """Scores the first feature in whole steps from the middle of the two means: many are zero."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        low, high = (X[y == c, 0].mean() for c in self.classes_)
        self.side_ = np.sign(high - low)
        self.middle_ = (low + high) / 2
        return self

    def decision_function(self, X):
        return self.side_ * np.trunc(2 * (X[:, 0] - self.middle_))


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to and how many examples it predicted."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X, y, sample_weight
        self.classes_ = np.unique(y)
        self.asked_ = 0
        return self

    def decision_function(self, X):
        self.asked_ += len(X)
        return X[:, 0]


CLASSIFIERS = [
    (OneVsAll, {"decoding": "score"}),
    (OneVsAll, {"decoding": "sign"}),
    (OneVsOne, {"decoding": "vote"}),
    (OneVsOne, {"decoding": "vote", "ties": "sum"}),
    (OneVsOne, {"decoding": "sum"}),
    (OneVsOne, {"decoding": "tournament"}),
    (OneVsOne, {"decoding": "tournament", "bracket": 5, "random_state": 0}),
]
EVERY_MACHINE = pytest.mark.parametrize(
    ("kind", "parameters"),
    CLASSIFIERS,
    ids=["-".join([k.__name__, *map(str, p.values())]) for k, p in CLASSIFIERS],
)
BOTH = pytest.mark.parametrize("kind", [OneVsAll, OneVsOne])


@EVERY_MACHINE
@pytest.mark.parametrize(
    "base",
    [RidgeClassifier(), DecisionTreeClassifier(max_depth=2, random_state=0), Steps()],
    ids=["linear", "probabilities", "steps"],
)
def test_predict_is_the_first_argmax_of_the_decision_function(digits, base, kind, parameters):
    X, y = digits
    X = np.column_stack([X.sum(axis=1), X])
    model = kind(base, **parameters).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (600, 10)
    np.testing.assert_array_equal(model.predict(X), values.argmax(axis=1))


@EVERY_MACHINE
@pytest.mark.parametrize(
    "base", [LogisticRegression(), Steps(), GaussianNB()], ids=["linear", "steps", "Bayes"]
)
def test_two_classes_are_decided_by_the_sign_and_as_the_base_decides(iris, base, kind, parameters):
    X, y = iris[0][50:], iris[1][50:]
    model = kind(base, **parameters).fit(X, y)
    assert len(model.estimators_) == 1
    values = model.decision_function(X)
    f = model.column_scores(X)[:, 0] * (1 if kind is OneVsAll else -1)  # a pair's first class is positive
    np.testing.assert_array_equal(values, np.sign(f) if parameters["decoding"] == "sign" else f)
    np.testing.assert_array_equal(model.scores(X), np.column_stack([-values, values]))
    np.testing.assert_array_equal(model.predict(X), model.classes_[(values > 0).astype(int)])
    scored = hasattr(base, "decision_function")
    alone = clone(base).fit(X, y)
    expected = alone.decision_function(X) > 0 if scored else alone.predict(X) == alone.classes_[1]
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.astype(int)])


def test_a_pair_is_trained_on_its_two_classes_the_first_positive():
    X = np.arange(12.0)[:, None]
    y = np.array(["b", "a", "c", "d"] * 3)
    weight = np.arange(12.0) + 1
    model = OneVsOne(Recorder()).fit(X, y, sample_weight=weight)
    assert model.pairs_.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    for (p, q), fitted in zip(model.pairs_, model.estimators_, strict=True):
        side = {model.classes_[p]: 1, model.classes_[q]: -1}
        expected = [(X[i, 0], side[y[i]], weight[i]) for i in range(12) if y[i] in side]
        assert list(zip(fitted.seen_[0][:, 0], *fitted.seen_[1:], strict=True)) == expected


def test_a_class_is_trained_against_all_others():
    X = np.arange(12.0)[:, None]
    y = np.array(["b", "a", "c", "d"] * 3)
    model = OneVsAll(Recorder()).fit(X, y, sample_weight=np.ones(12))
    for label, fitted in zip("abcd", model.estimators_, strict=True):
        assert fitted.seen_[0] is X  # no copy
        np.testing.assert_array_equal(fitted.seen_[1], np.where(y == label, 1, -1))


def test_the_estimator_shows_what_the_functions_compute(digits):
    X, y = digits
    X = np.column_stack([X.sum(axis=1), X])
    model = OneVsOne(Steps()).fit(X, y)
    scores = model.column_scores(X)
    assert scores.shape == (600, 45)
    assert (scores == 0).any()
    np.testing.assert_array_equal(model.votes(X), votes(scores))
    np.testing.assert_array_equal(model.decision_function(X), votes(scores))
    model.set_params(decoding="sum")
    np.testing.assert_array_equal(model.decision_function(X), sums(scores))
    model.set_params(decoding="tournament")
    np.testing.assert_array_equal(model.decision_function(X), tournament(scores))


def test_ties_can_be_left_to_the_sums(digits):
    X, y = digits
    X = np.column_stack([X.sum(axis=1), X])
    model = OneVsOne(Steps(), ties="sum").fit(X, y)
    scores = model.column_scores(X)
    wins, total = votes(scores), sums(scores)
    # the best by votes, then by sums, then the first
    best = [max(range(10), key=lambda c, i=i: (wins[i, c], total[i, c], -c)) for i in range(600)]
    np.testing.assert_array_equal(model.predict(X), best)
    assert (wins.argmax(axis=1) != best).any()
    np.testing.assert_array_equal(np.round(2 * model.decision_function(X)), 2 * wins)


@given(scores_of_pairs())
def test_no_sum_outweighs_half_a_vote(given_):
    scores, _ = given_
    wins, total = votes(scores), 1e300 * sums(scores)
    values = wins + total / (5 * (1 + np.abs(total)))
    more = wins[:, :, None] > wins[:, None, :]
    assert (values[:, :, None] > values[:, None, :])[more].all()


def test_sign_decoding_is_hamming_decoding_and_needs_the_signs_only(digits):
    X, y = digits
    model = OneVsAll(LinearSVC(random_state=0), decoding="sign").fit(X, y)
    scores = model.column_scores(X)
    np.testing.assert_array_equal(model.decision_function(X), np.sign(scores))
    claims = (scores > 0).sum(axis=1)
    assert (claims != 1).any()
    np.testing.assert_array_equal(model.predict(X)[claims == 1], (scores > 0).argmax(axis=1)[claims == 1])
    np.testing.assert_array_equal(model.predict(X), ecoc.decode(scores, ecoc.one_vs_all(10)).winner)


LINEAR = [
    LogisticRegression(),
    LinearSVC(random_state=0),
    LinearSVC(fit_intercept=False, random_state=0),
    RidgeClassifier(),
    RidgeClassifier(fit_intercept=False),
    SGDClassifier(random_state=0),
    Perceptron(random_state=0),
    SVC(kernel="linear"),
    NuSVC(kernel="linear", nu=0.05),
    BinarySVM(),
]


@pytest.mark.parametrize("base", LINEAR, ids=str)
@BOTH
def test_linear_classifiers_score_together_as_alone(digits, kind, base):
    X, y = digits
    model = kind(base).fit(X, y)
    scorer = reduction.Scorer(model)
    assert scorer.linear is not None
    alone = np.column_stack([fitted.decision_function(X) for fitted in model.estimators_])
    together = model.column_scores(X)
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-9 * np.abs(alone).max())
    if kind is OneVsOne:
        model.set_params(decoding="sum")
        np.testing.assert_allclose(model.decision_function(X), sums(alone), atol=1e-8 * np.abs(alone).max())
        for layout in (sparse.csr_matrix, sparse.csc_array):
            np.testing.assert_allclose(model.column_scores(layout(X)), together, rtol=0, atol=1e-9)
            np.testing.assert_array_equal(model.votes(layout(X)), votes(model.column_scores(layout(X))))


def test_only_classifiers_known_to_be_linear_are_stacked(digits):
    class Squared(LogisticRegression):
        def decision_function(self, X):
            return super().decision_function(X) ** 2 - 1

    X, y = digits
    for base in (
        Squared(),
        SVC(),
        BinarySVM(kernel="rbf"),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GaussianNB(),
    ):
        model = OneVsAll(base).fit(X, y)
        assert reduction.Scorer(model).linear is None
    model = OneVsAll(Squared()).fit(X, y)
    np.testing.assert_array_equal(model.column_scores(X)[:, 3], model.estimators_[3].decision_function(X))


@pytest.mark.parametrize("n", [1, 255, 256, 257, 3000])
def test_chunks_change_nothing(n):
    X, y = make_blobs(n + 90, 5, centers=30, random_state=0, cluster_std=6)
    model = OneVsOne(RidgeClassifier()).fit(X, y)
    assert reduction._CHUNK_BYTES // (8 * 30) > 256
    for layout in (np.asarray, sparse.csr_array):
        Z = layout(X[:n])
        np.testing.assert_array_equal(model.votes(Z), votes(model.column_scores(Z)))


def test_a_tournament_scores_only_the_duels_that_take_place():
    X, y = make_blobs(200, 3, centers=11, random_state=0)
    model = OneVsOne(Recorder(), decoding="tournament").fit(X, y)
    model.predict(X)
    assert sum(fitted.asked_ for fitted in model.estimators_) == 10 * 200


def test_brackets_are_orders_of_labels_or_drawn(iris):
    X, y = iris
    order = ["virginica", "setosa", "versicolor"]
    given_ = OneVsOne(Steps(), decoding="tournament", bracket=order).fit(X, y)
    assert given_.brackets_.tolist() == [[2, 0, 1]]
    scores = given_.column_scores(X)
    np.testing.assert_array_equal(given_.decision_function(X), tournament(scores, [2, 0, 1]))

    drawn = OneVsOne(Steps(), decoding="tournament", bracket=20, random_state=3).fit(X, y)
    again = clone(drawn).fit(X, y)
    np.testing.assert_array_equal(drawn.brackets_, again.brackets_)
    assert (drawn.brackets_ != clone(drawn).set_params(random_state=4).fit(X, y).brackets_).any()
    titles = np.zeros((150, 3))
    for bracket in drawn.brackets_:
        titles[np.arange(150), tournament(scores, bracket).argmax(axis=1)] += 1
    np.testing.assert_array_equal(drawn.decision_function(X), titles)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OneVsAll(GaussianNB(), decoding="vote"), "decoding must be one of 'score', 'sign', found 'vote'"),
        (
            OneVsOne(GaussianNB(), decoding="score"),
            "decoding must be one of 'vote', 'sum', 'tournament', found 'score'",
        ),
        (OneVsOne(GaussianNB(), ties="last"), "ties must be one of 'first', 'sum', found 'last'"),
        (OneVsOne(GaussianNB(), bracket=0), "bracket must be an integer, at least 1, found 0"),
        (OneVsOne(GaussianNB(), bracket=["setosa"]), r"each of the classes \['setosa', .*\] once"),
        (OneVsAll(StandardScaler()), "must have decision_function or predict_proba, or be a regressor"),
        (OneVsOne(StandardScaler()), "must have decision_function or predict_proba, or be a regressor"),
    ],
)
def test_parameters_that_cannot_work_are_refused(iris, model, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        OneVsAll(GaussianNB()),
        OneVsOne(GaussianNB()),
        OutputCode(GaussianNB()),
        FilterTree(GaussianNB()),
        LabelTree(GaussianNB(), order="given"),
        WithProbabilities(OneVsAll(GaussianNB()), cv=2),
    ],
    ids=str,
)
def test_what_has_no_rows_and_weights_below_0_are_refused(iris, model):
    X, y = iris
    for wrong, caught in ((None, "Expected 2D array"), ([], "Expected 2D array"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=caught):
            clone(model).fit(wrong, y)
    weights = np.where(np.arange(len(y)) % 7, 1.0, -1.0)
    with pytest.raises(ValueError, match="sample_weight must be 150 finite numbers, at least 0, found -1"):
        clone(model).fit(X, y, sample_weight=weights)
    if hasattr(model, "partial_fit"):
        with pytest.raises(
            ValueError, match="sample_weight must be 150 finite numbers, at least 0, found -1"
        ):
            clone(model).partial_fit(X, y, np.unique(y), weights)
    fitted = clone(model).fit(X, y)
    for wrong in (None, [], X[:0]):
        with pytest.raises(ValueError, match=r"Expected 2D array|0 sample"):
            fitted.predict(wrong)


@BOTH
def test_data_that_cannot_work_are_refused(iris, kind):
    X, y = iris
    if kind is OneVsOne:
        with pytest.raises(ValueError, match=r"at least 2 classes, found 1 class: \['setosa'\]"):
            kind(GaussianNB()).fit(X[:50], y[:50])
        with pytest.raises(ValueError, match=r"1d array"):
            kind(GaussianNB()).fit(X, np.eye(3, dtype=int)[np.unique(y, return_inverse=True)[1]])
    with pytest.raises(
        ValueError, match=r"sample_weight is given, but KNeighborsClassifier\(\) does not take it"
    ):
        kind(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match=r"not be zero for a whole class, found it zero for \['setosa'\]"):
        kind(GaussianNB()).fit(X, y, sample_weight=(y != "setosa").astype(float))
    with pytest.raises(ValueError, match=r"X must be square.*found shape \(150, 4\)"):
        kind(SVC(kernel="precomputed")).fit(X, y)


@pytest.mark.parametrize("base", [GaussianNB(), RidgeClassifier()])
@BOTH
def test_a_weight_counts_as_so_many_copies(iris, kind, base):
    X, y = iris
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = kind(base).fit(X, y, sample_weight=weight)
    repeated = kind(base).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    scores = [reduction.Scorer(model)(X) for model in (weighted, repeated)]
    np.testing.assert_allclose(*scores, rtol=1e-6, atol=1e-9)


@EVERY_MACHINE
@pytest.mark.parametrize("labels", [[0, 1, 2], [-7, 3, 11], ["x", "yy", "zzz"], [False, True, False]])
def test_labels_may_be_of_any_kind(iris, kind, parameters, labels):
    X, y = iris
    labels = np.array(labels)[np.unique(y, return_inverse=True)[1]]
    model = kind(GaussianNB(), **parameters).fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels) > 0.7


@pytest.mark.parametrize("layout", ["csr_matrix", "csc_array", "coo_matrix", "lil_array", "dok_array"])
@BOTH
def test_sparse_data_give_the_same_classifier(digits, kind, layout):
    X, y = digits
    for base in (LinearSVC(random_state=0), MultinomialNB()):
        full = kind(base).fit(X, y)
        thin = kind(base).fit(getattr(sparse, layout)(X), y)
        np.testing.assert_array_equal(full.predict(X), thin.predict(getattr(sparse, layout)(X)))


@BOTH
def test_sparse_data_reach_a_base_that_refuses_them(digits, kind):
    X, y = digits
    with pytest.raises(TypeError, match="Sparse data was passed"):
        kind(GaussianNB()).fit(sparse.csr_array(X), y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        kind(GaussianNB()).fit(X, y).predict(sparse.csr_array(X))


@BOTH
def test_data_frames_reach_the_classifiers_as_data_frames(iris, kind):
    pd = pytest.importorskip("pandas")
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(colour=np.where(X[:, 0] > 6, "red", "blue"))
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["a", "b", "c", "d"]))
    model = kind(make_pipeline(columns, LogisticRegression())).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "colour"]
    assert model.n_features_in_ == 5
    assert model.score(frame, y) > 0.9
    tournament_ = OneVsOne(make_pipeline(columns, LogisticRegression()), decoding="tournament").fit(frame, y)
    assert tournament_.score(frame, y) > 0.9


@BOTH
def test_classifiers_can_be_fitted_side_by_side(digits, kind):
    X, y = digits
    alone = kind(RidgeClassifier()).fit(X, y)
    together = kind(RidgeClassifier(), n_jobs=2).fit(X, y)
    # not to the bit: a worker has its own number of BLAS threads, and so its own rounding
    np.testing.assert_allclose(together.decision_function(X), alone.decision_function(X), rtol=0, atol=1e-10)


def test_a_cluster_fits_the_classifiers_and_gets_the_data_once(digits, monkeypatch):
    distributed = pytest.importorskip("distributed")
    from joblib import parallel_config

    X, y = digits
    sent = []
    scatter = distributed.Client.scatter

    def counted(self, data, *args, **kwargs):
        sent.extend(data if isinstance(data, list) else [data])
        return scatter(self, data, *args, **kwargs)

    monkeypatch.setattr(distributed.Client, "scatter", counted)
    base = LinearSVC(random_state=0)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        for options in ({"scatter": [X]}, {}):  # by the user, and by itself
            sent.clear()
            with parallel_config(backend="dask", **options):
                model = OneVsOne(base).fit(X, y)
            assert sum(some is X for some in sent) == 1
            largest = sorted((some.nbytes for some in sent if isinstance(some, np.ndarray)), reverse=True)
            # beside X, arrays with a number for each example: the same for all 45 pairs
            assert sum(largest[1:]) <= 3 * 8 * len(y)
            alone = OneVsOne(base).fit(X, y)
            np.testing.assert_allclose(model.column_scores(X), alone.column_scores(X), atol=1e-10)
        with parallel_config(backend="dask"), pytest.raises(ValueError, match="while fitting the pair of"):
            OneVsOne(LinearSVC(C=-1)).fit(X, y)


class Fussy(GaussianNB):
    """Refuses what its parameter names."""

    def __init__(self, refuse=None, *, priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.refuse = refuse

    def fit(self, X, y, sample_weight=None):
        if self.refuse(X, y):
            raise RuntimeError("I do not like this")
        return super().fit(X, y, sample_weight)


def few_positive(X, y):
    return (y == 1).sum() < 20


def test_errors_name_the_class_or_the_pair(iris):
    X, y = iris[0][:115], iris[1][:115]  # 15 of virginica
    with pytest.raises(RuntimeError, match="I do not like this") as caught:
        OneVsAll(Fussy(few_positive)).fit(X, y)
    assert "Fussy" in caught.value.__notes__[0]
    assert "while fitting class 'virginica' against all others" in caught.value.__notes__[0]
    y = np.where(y == "virginica", "aster", y)
    for n_jobs in (1, 2):  # also out of another process
        with pytest.raises(RuntimeError, match="I do not like this") as caught:
            OneVsOne(Fussy(few_positive), n_jobs=n_jobs).fit(X, y)
        assert "while fitting the pair of classes 'aster' (+1) and '" in caught.value.__notes__[0]


@BOTH
def test_a_parameter_that_the_base_refuses_is_refused_at_the_first_fit(iris, kind):
    X, y = iris
    with pytest.raises(ValueError, match=r"'C' parameter of LinearSVC.*\n.*while fitting .* 'setosa'"):
        kind(LinearSVC(C=-1)).fit(X, y)


@BOTH
def test_parameters_are_checked_once(iris, kind, monkeypatch):
    X, y = iris
    checks = []
    check = LinearSVC._validate_params
    monkeypatch.setattr(LinearSVC, "_validate_params", lambda self: (checks.append(self), check(self)))
    model = kind(LinearSVC(random_state=0)).fit(X, y)
    assert len(model.estimators_) == 3
    assert len(checks) == 1


@EVERY_MACHINE
@pytest.mark.parametrize("base", [GaussianNB(), LinearSVC(random_state=0), KNeighborsClassifier(1)])
def test_a_class_with_one_example_and_a_constant_feature(iris, base, kind, parameters):
    X = np.column_stack([iris[0][:101], np.full(101, 7.0)])
    model = kind(base, **parameters).fit(X, iris[1][:101])
    assert set(model.classes_) == set(iris[1])
    assert model.score(X[:100], iris[1][:100]) > 0.5
    assert model.predict(np.full((2, 5), 7.0)).shape == (2,)


class Means(ClassifierMixin, BaseEstimator):
    """The nearer mean: as small a classifier as there is."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        negative, positive = (X[y == c].mean(axis=0) for c in self.classes_)
        self.coef_ = positive - negative
        self.intercept_ = (negative @ negative - positive @ positive) / 2
        return self

    def decision_function(self, X):
        return X @ self.coef_ + self.intercept_


@pytest.mark.once
def test_two_hundred_classes_take_memory_for_their_classifiers_only():
    k, d = 200, 30
    X, y = make_blobs(8 * k, d, centers=k, random_state=0, cluster_std=0.5)
    l = k * (k - 1) // 2
    tracemalloc.start()
    try:
        model = OneVsOne(Means()).fit(X, y)
        kept, most = tracemalloc.get_traced_memory()
        assert len(model.estimators_) == l == 19_900
        # a classifier is 30 + 1 numbers in a handful of objects; the rows of a pair would be 3840 bytes
        assert most < 2000 * l
        assert kept < 2000 * l
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        predicted = model.predict(X)
        # votes and scores of each example against one class, not the 19,900 scores: 160 kB each
        assert tracemalloc.get_traced_memory()[1] - before < 30 * len(X) * k
    finally:
        tracemalloc.stop()
    assert (predicted == y).mean() > 0.99
    np.testing.assert_array_equal(model.set_params(decoding="tournament").predict(X[:50]), y[:50])


# ---------------------------------------------------------------------------------------------------
# partial_fit


def test_a_classifier_that_has_not_seen_its_classes_is_refused(digits):
    X, y = digits
    few = y < 3
    model = OneVsOne(SGDClassifier(random_state=0)).partial_fit(X[few], y[few], classes=np.arange(10))
    with pytest.raises(
        NotFittedError, match=r"the classifier for the pair of classes 3 \(\+1\) and 4 \(-1\)"
    ):
        model.predict(X)
    model.partial_fit(X[~few], y[~few])
    assert model.predict(X).shape == (600,)


@BOTH
def test_batches_make_the_same_classifier_as_all_at_once(digits, kind):
    X, y = digits
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    model = kind(MultinomialNB())
    for part in np.array_split(np.arange(600), 4):
        model.partial_fit(X[part], y[part], classes=np.arange(10), sample_weight=weight[part])
    whole = kind(MultinomialNB()).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(reduction.Scorer(model)(X), reduction.Scorer(whole)(X), atol=1e-9)
    # a fitted classifier goes on
    whole.partial_fit(X, y)
    assert whole.score(X, y) > 0.8


@BOTH
def test_partial_fit_refuses_what_it_cannot_use(digits, kind):
    X, y = digits
    model = kind(MultinomialNB())
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="labels that are not among the classes"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"at least 2 classes, found \[1\]"):
        kind(MultinomialNB()).partial_fit(X[y == 1], y[y == 1], classes=[1])

    class Unweighted(SGDClassifier):
        def partial_fit(self, X, y, classes=None):
            return super().partial_fit(X, y, classes)

    with pytest.raises(ValueError, match=r"sample_weight is given, but Unweighted\(\) does not take it"):
        kind(Unweighted()).partial_fit(X, y, classes=np.arange(10), sample_weight=np.ones(600))
    # what was refused has done no harm
    keep = y < 3
    assert model.partial_fit(X[keep], y[keep]).score(X[keep], y[keep]) > 0.9


# ---------------------------------------------------------------------------------------------------
# Promises of scikit-learn's tests (see the top of this file for those that differ)


@BOTH
def test_an_unfitted_classifier_raises_as_in_scikit_learn(kind):
    """test_ovr_exceptions, test_ovo_exceptions."""
    with pytest.raises(NotFittedError):
        kind(LinearSVC()).predict([])


@BOTH
def test_as_in_scikit_learn_targets_are_checked(iris, kind):
    """test_ovr_exceptions, test_ovo_float_y, test_ovo_one_class."""
    X = iris[0]
    with pytest.raises(ValueError, match=r"1d array|y must have one class for each example"):
        kind(MultinomialNB()).fit([[1, 0], [0, 1]], [[1, 2], [3, 1]])
    with pytest.raises(ValueError, match="Unknown label type"):
        kind(LinearSVC()).fit(X, X[:, 0])
    if kind is OneVsOne:
        with pytest.raises(ValueError, match="found 1 class"):
            kind(LinearSVC()).fit(np.eye(4), ["a"] * 4)


@BOTH
def test_as_in_scikit_learn_ties_are_broken_as_argmax_does(kind):
    """test_ovr_ties."""

    class Zero(BaseEstimator):
        def fit(self, X, y):
            self.fitted_ = True
            return self

        def decision_function(self, X):
            return np.zeros(len(X))

    X, y = np.zeros((4, 1)), np.arange(4)
    model = kind(Zero()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), np.zeros(4))
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), np.zeros(4))


@pytest.mark.parametrize(
    "base", [LinearSVC(random_state=0), SVC(), LogisticRegression(), MultinomialNB()], ids=str
)
def test_as_in_scikit_learn_one_vs_all_predicts_what_one_vs_rest_does(digits, base):
    """test_ovr_fit_predict, test_ovr_fit_predict_svc."""
    X, y = digits
    ours, peer = OneVsAll(base).fit(X, y), OneVsRestClassifier(base).fit(X, y)
    assert len(ours.estimators_) == 10
    if hasattr(base, "decision_function"):
        np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("base", [LinearSVC(random_state=0), SVC(), LogisticRegression()], ids=str)
def test_as_in_scikit_learn_one_vs_one_predicts_what_it_does(digits, base):
    """test_ovo_fit_predict, test_ovo_decision_function."""
    X, y = digits
    ours, peer = OneVsOne(base, ties="sum").fit(X, y), OneVsOneClassifier(base).fit(X, y)
    assert len(ours.estimators_) == 45
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    decisions = ours.decision_function(X)
    votes_of_all = np.zeros((600, 10))
    for (first, second), fitted in zip(ours.pairs_, ours.estimators_, strict=True):
        caught = fitted.predict(X)
        votes_of_all[caught == 1, first] += 1
        votes_of_all[caught == -1, second] += 1
    np.testing.assert_array_equal(votes_of_all, ours.votes(X))
    np.testing.assert_array_equal(votes_of_all, np.round(decisions))
    assert len(np.unique(decisions[:, 0])) > 590


def test_as_in_scikit_learn_ties_are_broken_by_the_scores():
    """test_ovo_ties, test_ovo_ties2: with ties="sum", each label wins once when they are cycled."""
    X = np.array([[1, 2], [2, 1], [-2, 1], [-2, -1]])
    base = Perceptron(shuffle=False, max_iter=4, tol=None)
    for shift in range(3):
        y = (np.array([2, 0, 1, 2]) + shift) % 3
        ours, peer = OneVsOne(base, ties="sum").fit(X, y), OneVsOneClassifier(base).fit(X, y)
        np.testing.assert_array_equal(ours.votes(X)[0], [1, 1, 1])
        clear = (ours.column_scores(X) != 0).all(axis=1)
        assert clear[0]
        np.testing.assert_array_equal(ours.predict(X)[clear], peer.predict(X)[clear])
        assert ours.predict(X)[0] == shift
        # the stated rule otherwise
        assert OneVsOne(base).fit(X, y).predict(X)[0] == 0


@BOTH
def test_as_in_scikit_learn_lists_and_strings_are_data(iris, kind):
    """test_ovo_fit_on_list, test_ovo_string_y, test_ovr_multiclass, test_ovr_binary."""
    X, y = iris
    model = kind(LinearSVC(random_state=0))
    expected = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(X.tolist(), y.tolist()).predict(X.tolist()), expected)
    np.testing.assert_array_equal(
        kind(LinearSVC()).fit(np.eye(4), list("abcd")).predict(np.eye(4)), list("abcd")
    )

    X = np.array([[0, 0, 5], [0, 5, 0], [3, 0, 0], [0, 0, 6], [6, 0, 0]])
    for labels in (["eggs", "spam", "ham", "eggs", "ham"], ["eggs", "spam", "spam", "eggs", "spam"]):
        for base in (MultinomialNB(), LinearSVC(random_state=0), LogisticRegression()):
            model = kind(base).fit(X, labels)
            assert set(model.classes_) == set(labels)
            assert model.predict([[0, 0, 4]])[0] == "eggs"
    assert model.decision_function(X).shape == (5,)


@BOTH
def test_as_in_scikit_learn_batches_need_not_have_all_classes(kind):
    """test_ovr_partial_fit, test_ovr_partial_fit_exceptions, test_ovo_partial_fit_predict."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(14, 2))
    y = np.array([1, 1, 2, 3, 3, 0, 0, 4, 4, 4, 4, 4, 2, 2])
    model = kind(MultinomialNB())
    model.partial_fit(X[:7], y[:7], np.arange(5))
    model.partial_fit(X[7:], y[7:])
    np.testing.assert_array_equal(model.predict(X), kind(MultinomialNB()).fit(X, y).predict(X))
    with pytest.raises(ValueError, match=r"not among the classes: \[5\]"):
        model.partial_fit(X, np.where(y == 0, 5, y))


@BOTH
def test_as_in_scikit_learn_partial_fit_is_there_if_the_base_has_it(kind):
    """test_ovr_partial_fit, test_multiclass_estimator_attribute_error."""
    assert hasattr(kind(MultinomialNB()), "partial_fit")
    with pytest.raises(
        AttributeError, match=f"This '{kind.__name__}' has no attribute 'partial_fit'"
    ) as caught:
        kind(LogisticRegression()).partial_fit([[0.0]], [0])
    assert "'LogisticRegression' object has no attribute 'partial_fit'" in str(caught.value.__cause__)


@BOTH
def test_as_in_scikit_learn_a_search_reaches_the_base(iris, kind):
    """test_ovr_gridsearch, test_ovo_gridsearch, test_ovr_pipeline."""
    X, y = iris
    search = GridSearchCV(kind(LinearSVC(random_state=0)), {"estimator__C": [0.1, 0.5, 0.8]}).fit(X, y)
    assert search.best_estimator_.estimators_[0].C in [0.1, 0.5, 0.8]
    tree = DecisionTreeClassifier(random_state=0)
    piped = kind(make_pipeline(tree)).fit(X, y)
    np.testing.assert_array_equal(piped.predict(X), kind(tree).fit(X, y).predict(X))


@BOTH
def test_as_in_scikit_learn_a_precomputed_kernel_is_cut_to_the_pair(iris, kind):
    """test_pairwise_tag, test_pairwise_n_features_in, test_pairwise_cross_val_score."""
    X, y = iris
    X, y = X[:-1], y[:-1]
    gram = X @ X.T
    given_, implicit = SVC(kernel="precomputed"), SVC(kernel="linear")
    assert get_tags(kind(given_)).input_tags.pairwise
    assert not get_tags(kind(implicit)).input_tags.pairwise
    fitted = kind(given_).fit(gram, y)
    assert fitted.n_features_in_ == 149
    features = [100, 99, 99] if kind is OneVsOne else [149] * 3
    assert [model.n_features_in_ for model in fitted.estimators_] == features
    np.testing.assert_allclose(
        fitted.decision_function(gram), kind(implicit).fit(X, y).decision_function(X), atol=1e-6
    )
    np.testing.assert_array_equal(
        cross_val_score(kind(given_), gram, y, error_score="raise"),
        cross_val_score(kind(implicit), X, y, error_score="raise"),
    )
    by_tournament = OneVsOne(given_, decoding="tournament").fit(gram, y)
    np.testing.assert_array_equal(
        by_tournament.predict(gram), OneVsOne(implicit, decoding="tournament").fit(X, y).predict(X)
    )


@BOTH
def test_as_in_scikit_learn_missing_values_are_the_business_of_the_base(iris, kind):
    """test_support_missing_values."""
    X, y = iris
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    assert kind(model).fit(X, y).score(X, y) > 0.8


@BOTH
def test_as_in_scikit_learn_two_classes_are_predicted_as_by_the_base(kind):
    """test_ovo_consistent_binary_classification, test_ovr_single_label_decision_function."""
    X, y = load_breast_cancer(return_X_y=True)
    base = KNeighborsClassifier(n_neighbors=8, weights="distance")
    np.testing.assert_array_equal(kind(base).fit(X, y).predict(X), clone(base).fit(X, y).predict(X))
    svc = kind(SVC()).fit(X, y)
    np.testing.assert_array_equal(svc.decision_function(X) > 0, svc.predict(X))


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.integers(3, 6))
def test_naming_the_classes_in_another_order_changes_only_ties(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12 * k, 3))
    y = np.repeat(np.arange(k), 12)
    X[:, 0] += 2 * y
    new = rng.permutation(k)
    for decode in ("vote", "sum"):
        before = OneVsOne(RidgeClassifier(), decoding=decode).fit(X, y)
        after = OneVsOne(RidgeClassifier(), decoding=decode).fit(X, new[y])
        np.testing.assert_allclose(
            after.decision_function(X)[:, new], before.decision_function(X), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("k", [2.5, True, "3", None, 0])
def test_pairs_are_those_of_a_number_of_classes(k):
    with pytest.raises(ValueError, match=r"^k must be an integer, at least 1, found"):
        reduction.pairs(k)


@pytest.mark.parametrize("decode", [reduction.votes, reduction.sums, reduction.tournament])
@pytest.mark.parametrize("scores", [[[1j, 0, 0]], [["1", "0", "0"]], [[np.nan, 0, 0]], None])
def test_no_class_is_made_of_what_is_no_score(decode, scores):
    with pytest.raises(ValueError, match=r"^scores must be"):
        decode(scores)


# ---------------------------------------------------------------------------------------------------
# Several labels, regressors, one class, probabilities


@pytest.fixture(scope="module")
def labels():
    X, Y = make_multilabel_classification(120, n_features=8, n_classes=4, random_state=0)
    return X, Y


def is_the_same(ours, theirs, X):
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    for method in ("predict_proba", "decision_function"):
        if hasattr(theirs, method):
            np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-9)


@pytest.mark.parametrize("base", [LogisticRegression(), SVC(), Ridge(), Lasso(alpha=0.1)], ids=repr)
def test_several_labels_and_classes_are_as_in_scikit_learn(labels, iris, base):
    for X, y in (labels, iris, (iris[0][:100], iris[1][:100])):
        is_the_same(OneVsAll(base).fit(X, y), OneVsRestClassifier(base).fit(X, y), X)


def test_labels_in_any_coding(labels):
    X, Y = labels
    wanted = OneVsAll(GaussianNB()).fit(X, Y)
    assert wanted.multilabel_
    assert wanted.decision_function(X).shape == Y.shape
    for other in (2 * Y - 1, Y.astype(bool), Y.astype(float)):
        assert (OneVsAll(GaussianNB()).fit(X, other).predict(X) == other.dtype.type(1)).astype(
            int
        ).tolist() == wanted.predict(X).tolist()
    predicted = OneVsAll(GaussianNB(), n_jobs=2).fit(X, sparse.csc_array(Y)).predict(X)
    assert np.array_equal(predicted.toarray(), wanted.predict(X))
    with pytest.raises(ValueError, match="y must have the entries 0 and 1, or -1 and 1"):
        OneVsAll(GaussianNB()).fit(X, 2 * Y)
    with pytest.raises(ValueError, match="y of fit was a matrix of labels"):
        wanted.partial_fit(X, Y[:, 0])


def test_a_label_that_all_examples_have(labels):
    X, Y = labels
    Y = Y.copy()
    Y[:, 1], Y[:, 2] = 1, 0
    with pytest.warns(UserWarning, match="Label 1, not 2 is present in all training examples"):
        model = OneVsAll(LogisticRegression()).fit(X, Y)
    assert (model.predict(X)[:, 1:3] == [1, 0]).all()
    assert (model.predict_proba(X)[:, 1:3] == [1, 0]).all()
    # that an example of no weight has the label counts for nothing
    weight = (Y[:, 0] == 0).astype(float)
    with pytest.warns(UserWarning, match="Label not 0, 1, not 2 is"):
        model.fit(X, Y, sample_weight=weight)
    assert not model.predict(X)[:, 0].any()


def test_the_score_of_a_regressor(iris):
    X, y = iris
    for kind in (OneVsAll, OneVsOne):
        model = kind(Ridge()).fit(X, y)
        regressor = model.estimators_[0]
        assert np.allclose(model.column_scores(X)[:, 0], 2 * regressor.predict(X) - 1)
    first = Ridge().fit(X[:100], y[:100] == "setosa")
    assert np.allclose(OneVsOne(Ridge()).fit(X, y).column_scores(X)[:, 0], 2 * first.predict(X) - 1)
    model = OneVsAll(SGDRegressor(random_state=0))
    for _ in range(20):
        model.partial_fit(X - X.mean(axis=0), y, classes=np.unique(y))
    assert model.score(X - X.mean(axis=0), y) > 0.7


@pytest.mark.parametrize("base", [LogisticRegression(), LinearSVC(), Ridge()], ids=repr)
def test_one_class(base):
    X = np.arange(6.0).reshape(3, 2)
    model = OneVsAll(base).fit(X, ["a"] * 3)
    assert model.predict(X).tolist() == ["a"] * 3
    assert model.n_classes_ == 1
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(X).tolist() == [[1.0]] * 3


class Known(ClassifierMixin, BaseEstimator):
    """Knows the probabilities of all classes at each input, which is a number of a row."""

    def __init__(self, table):
        self.table = table

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        codes = X[:, 1].astype(int)
        self.sides_ = [np.unique(codes[y == sign]) for sign in self.classes_]
        return self

    def predict_proba(self, X):
        rows = np.array(self.table)[X[:, 0].astype(int)]
        p = np.column_stack([rows[:, side].sum(axis=1) for side in self.sides_])
        return p / p.sum(axis=1, keepdims=True)


@BOTH
def test_true_probabilities_of_the_parts_are_those_of_the_whole(kind):
    table = np.random.default_rng(0).dirichlet(np.ones(4), size=6)
    X = np.array([[x, y] for x in range(6) for y in range(4)], dtype=float)
    model = kind(Known(table.tolist())).fit(X, X[:, 1])
    assert np.allclose(model.predict_proba(X), np.repeat(table, 4, axis=0), atol=1e-12)
    two = X[X[:, 1] < 2]
    model.fit(two, two[:, 1])
    wanted = table[:, :2] / table[:, :2].sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(two), np.repeat(wanted, 2, axis=0), atol=1e-12)


def test_probabilities_of_pairs_are_coupled(iris, monkeypatch):
    X, y = iris
    model = OneVsOne(GaussianNB()).fit(X, y)
    pairs = np.column_stack([one.predict_proba(X)[:, 1] for one in model.estimators_])
    eps = np.finfo(float).eps
    wanted = pairwise_coupling(np.clip(pairs, eps, 1 - eps)).probabilities
    assert np.array_equal(model.predict_proba(X), wanted)
    monkeypatch.setattr("mcutils.reduction._COUPLED_BYTES", 8 * 9 * 40)
    assert np.allclose(model.predict_proba(X), wanted, atol=1e-15)


def test_where_there_are_no_probabilities(iris):
    X, y = iris
    for model in (OneVsAll(LinearSVC()), OneVsOne(LinearSVC()), OneVsAll(Ridge())):
        assert not hasattr(model.fit(X, y), "predict_proba")
    with pytest.raises(AttributeError) as raised:
        OneVsAll(GaussianNB(), decoding="sign").predict_proba  # noqa: B018
    assert "decoding='score'" in str(raised.value.__cause__)
    assert not hasattr(OneVsOne(GaussianNB(), decoding="tournament"), "predict_proba")
