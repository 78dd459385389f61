"""Splits without leaks, nested tuning, the corrected t, Holm and sign flips."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mcutils import data, softmax
from mcutils.comparison import (
    check_groups,
    corrected_resampled_t,
    family,
    folds,
    holm,
    nested,
    paired_t,
    scores,
    sign_flips,
    smooth,
    splits,
    tune,
)
from mcutils.softmax import SoftmaxRegression
from mcutils.tree import DecisionTree

# -- the corrected t -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "n_train", "n_test", "level"),
    [([3, 1, 4, 1, 5], 2, 1, 0.95), ([-2, 7], 90, 10, 0.9), ([1, -1, 2, -2, 8, 0, 3], 100, 300, 0.5)],
)
def test_the_interval_is_computed_by_hand(numbers, n_train, n_test, level):
    exact = [Fraction(number, 100) for number in numbers]
    J = len(exact)
    mean = sum(exact) / J
    square = sum((one - mean) ** 2 for one in exact) / (J - 1)
    se = sqrt((Fraction(1, J) + Fraction(n_test, n_train)) * square)
    result = corrected_resampled_t([float(one) for one in exact], n_train, n_test, level)
    half = stats.t.ppf((1 + level) / 2, J - 1) * se
    assert result.df == J - 1
    assert result.level == level
    expected = [float(mean), se, float(mean) - half, float(mean) + half]
    np.testing.assert_allclose([result.mean, result.se, result.low, result.high], expected, rtol=1e-12)
    np.testing.assert_allclose(result.p, 2 * stats.t.sf(abs(float(mean)) / se, J - 1), rtol=1e-10)


def test_the_naive_interval_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for J in (2, 3, 10, 40):
        d = rng.normal(0.3, 1, J)
        peer, result = stats.ttest_1samp(d, 0), paired_t(d, 0.9)
        interval = peer.confidence_interval(0.9)
        np.testing.assert_allclose(
            [result.low, result.high, result.p], [interval.low, interval.high, peer.pvalue], rtol=1e-9
        )


def test_the_interval_excludes_zero_where_p_says_so():
    rng = np.random.default_rng(1)
    for _ in range(200):
        result = corrected_resampled_t(rng.normal(0.8, 1, 6), 3, 1)
        assert (result.p < 0.05) == (result.low > 0 or result.high < 0)


def test_equal_differences_are_a_point():
    for number, p in ((0.1, 0.0), (0.0, 1.0), (-0.3, 0.0)):
        result = corrected_resampled_t([number] * 7, 2, 1)
        assert result.se == 0
        assert result.low == result.mean == result.high
        assert result.p == p


@pytest.mark.parametrize("J", [5, 10])
@pytest.mark.parametrize("ratio", [(2, 1), (9, 1)])
@pytest.mark.once
def test_with_the_assumed_correlation_the_corrected_p_is_uniform(J, ratio):
    """Jointly normal, correlation n_test / (n_train + n_test): t is Student's; the naive one is wider."""
    n_train, n_test = ratio
    rho = n_test / (n_train + n_test)
    rng = np.random.default_rng(J + n_train)
    common, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, J))
    tables = sqrt(rho) * common + sqrt(1 - rho) * own
    corrected = [corrected_resampled_t(row, n_train, n_test).p for row in tables]
    assert stats.kstest(corrected, "uniform").pvalue > 0.01
    naive = np.mean([paired_t(row).p <= 0.05 for row in tables])
    # the naive t is sqrt(1 + J rho / (1 - rho)) times as large as Student's
    factor = sqrt(1 + J * rho / (1 - rho))
    expected = 2 * stats.t.sf(stats.t.ppf(0.975, J - 1) / factor, J - 1)
    assert abs(naive - expected) < 4 * sqrt(expected / 4000)
    assert expected > 0.08


@pytest.mark.once
def test_resampling_makes_the_naive_t_reject_too_often():
    """Two classifiers of equal expected error, by symmetry: each cuts one of two features at the midpoint."""
    rng, m, J, n_test = np.random.default_rng(3), 60, 10, 20
    rejected = np.zeros(2)
    repetitions = 400
    for _ in range(repetitions):
        y = np.repeat([0, 1], m // 2)
        X = rng.normal(size=(m, 2)) + y[:, None]
        differences = []
        for _ in range(J):
            order = rng.permutation(m)
            train, test = order[n_test:], order[:n_test]
            means = np.stack([X[train][y[train] == c].mean(axis=0) for c in (0, 1)])
            predicted = (X[test] > means.mean(axis=0)) == (means[1] > means[0])
            wrong = (predicted != (y[test] == 1)[:, None]).mean(axis=0)
            differences.append(wrong[0] - wrong[1])
        rejected += [
            paired_t(differences).p <= 0.05,
            corrected_resampled_t(differences, m - n_test, n_test).p <= 0.05,
        ]
    naive, corrected = rejected / repetitions
    assert naive > 0.2, f"the naive t rejects {naive} of true hypotheses, more than 0.2 was expected"
    assert corrected < 0.1, f"the corrected t rejects {corrected} of true hypotheses"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.1], 2, 1), "differences must be at least 2, found 1"),
        (([[0.1, 0.2]], 2, 1), "differences must be a list of numbers"),
        (([0.1, np.nan], 2, 1), "differences must be finite"),
        (([0.1, 0.2], 0, 1), "n_train must be an integer, at least 1, found 0"),
        (([0.1, 0.2], 2, 0.5), "n_test must be an integer, at least 1, found 0.5"),
        (([0.1, 0.2], 2, 1, 1.0), "level must be a finite number, above 0 and below 1, found 1.0"),
    ],
)
def test_a_wrong_comparison_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        corrected_resampled_t(*arguments)


# -- Holm and sign flips ---------------------------------------------------------------------


def closed(p):
    """The closure of Bonferroni's test: the largest p-value of an intersection that contains i."""
    n = len(p)
    sets = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    return [max(min(Fraction(1), len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(n)]


@given(st.lists(st.integers(0, 64), min_size=1, max_size=7))
def test_holm_is_the_closure_of_bonferroni(numerators):
    p = [Fraction(numerator, 64) for numerator in numerators]
    assert holm([float(one) for one in p]).tolist() == [float(one) for one in closed(p)]


def test_holm_is_kept_by_the_worst_dependence():
    """With n true hypotheses, and p <= a/n on disjoint events, some is rejected with the probability a."""
    n, a = 5, Fraction(1, 20)
    some = Fraction(0)
    for small in range(n):
        p = np.ones(n)
        p[small] = float(a / n)
        some += (a / n) * bool((holm(p) <= float(a)).any())
    assert some == a


def test_holm_of_nothing_and_of_impossible_numbers():
    assert holm([]).shape == (0,)
    with pytest.raises(ValueError, match=r"p_values must be between 0 and 1, found 1\.5"):
        holm([0.1, 1.5])


@pytest.mark.once
def test_a_family_keeps_its_level_where_its_members_alone_do_not():
    rng = np.random.default_rng(4)
    names, repetitions, missed, alone, claimed = range(6), 2000, 0, 0, 0
    for _ in range(repetitions):
        table = rng.normal(size=(len(names), 8))  # independent: the union bound is nearly attained
        judged = family(dict(zip(names, table, strict=True)))
        missed += any(not one.low <= 0 <= one.high for one in judged.values())
        claimed += bool(judged.clear)
        alone += any(not (d := paired_t(row)).low <= 0 <= d.high for row in table)
    assert 0.035 < missed / repetitions < 0.065  # five per cent; four standard errors are 1.9
    assert claimed == missed  # the first step of Holm's correction is Bonferroni's
    assert alone / repetitions > 0.2


def test_a_family_of_one_is_its_member_and_sizes_may_differ():
    d = {"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, -2.0]}
    assert family({"a": d["a"]}, (2, 1))["a"] == corrected_resampled_t(d["a"], 2, 1)
    both = family(d, {"a": (2, 1), "b": (9, 1)}, level=0.9)
    assert both["b"] == corrected_resampled_t(d["b"], 9, 1, level=0.95)
    assert list(both) == ["a", "b"]
    assert len(both) == 2
    assert list(both.adjusted.values()) == holm([both["a"].p, both["b"].p]).tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({},), "differences must be a mapping with at least one comparison"),
        (([[1, 2]],), "differences must be a mapping with at least one comparison"),
        (({"a": [1, 2]}, {"b": (2, 1)}), "sizes must have .* of every comparison, 'a' is missing"),
        (
            ({"a": [1, 2]}, (3,)),
            r"sizes must be \(n_train, n_test\), or a mapping to such pairs, found \(3,\)",
        ),
        (({"a": [1, 2]}, {"a": None}), "sizes must be .*, found None"),
        (({"a": [1, 2]}, (0, 1)), "n_train must be an integer, at least 1, found 0"),
        (({"a": [1, 2]}, None, 1), "level must be a finite number, above 0 and below 1, found 1"),
    ],
)
def test_a_wrong_family_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        family(*arguments)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_sign_flips_is_an_enumeration(numbers):
    reached = [
        abs(sum(s * d for s, d in zip(signs, numbers, strict=True))) >= abs(sum(numbers))
        for signs in product((1, -1), repeat=len(numbers))
    ]
    # tenths are no binary fractions: equal sums differ by rounding
    assert sign_flips([number / 10 for number in numbers]) == np.mean(reached)


def test_sign_flips_is_scipys_permutation_test():
    d = np.random.default_rng(4).normal(0.5, 1, 9)
    peer = stats.permutation_test(
        (d,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert sign_flips(d) == pytest.approx(peer.pvalue, abs=1e-12)


@pytest.mark.parametrize("sizes", [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1], [0, 0, 2, 7, 1]])
def test_sign_flips_keeps_its_level_exactly(sizes):
    p = np.array([sign_flips(np.array(signs) * sizes) for signs in product((1, -1), repeat=len(sizes))])
    for level in np.unique(p):
        assert (p <= level).mean() <= level


def test_eight_data_sets_show_nothing_after_seven_comparisons():
    least = sign_flips(np.arange(1, 9))
    assert least == 1 / 128
    assert holm([least] * 6).max() < 0.05 < holm([least] * 7).min()
    with pytest.raises(ValueError, match="differences must be between 1 and 20, found 21"):
        sign_flips(np.ones(21))


# -- splits ----------------------------------------------------------------------------------


def test_folds_are_a_stratified_partition_that_a_seed_repeats():
    y = np.repeat(["a", "b", "c"], [30, 10, 7])
    result = folds(y, 3, random_state=5)
    tested = np.concatenate([test for _, test in result])
    assert sorted(tested.tolist()) == list(range(len(y)))
    for train, test in result:
        assert sorted([*train, *test]) == list(range(len(y)))
        for name, size in (("a", 30), ("b", 10), ("c", 7)):
            assert size // 3 <= (y[test] == name).sum() <= -(-size // 3)
    again, other = folds(y, 3, random_state=5), folds(y, 3, random_state=6)
    assert all(np.array_equal(a, b) for a, b in zip(result[0], again[0], strict=True))
    assert not np.array_equal(result[0][1], other[0][1])


def test_a_split_is_the_first_part_of_a_partition():
    y = np.repeat([0, 1, 2], 9)
    for j, (train, test) in enumerate(splits(y, 4, parts=3, random_state=7)):
        first = folds(y, 3, random_state=7 + j)[0]
        assert np.array_equal(train, first[0])
        assert np.array_equal(test, first[1])


def test_no_group_is_cut():
    vowel = data.load("vowel")
    for train, test in splits(vowel.y, 5, groups=vowel.groups):
        check_groups([(train, test)], vowel.groups)
        assert len(np.unique(vowel.groups[test])) == 5
        check_groups(folds(vowel.y[train], 3, groups=vowel.groups[train]), vowel.groups[train])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: folds([0, 0, 1], 2),
            "parts must be at most .* of each class, 1, found 2",
        ),
        (lambda: folds([0, 0, 1, 1], 1), "parts must be an integer, at least 2, found 1"),
        (
            lambda: folds([0, 0, 1, 1], 2, groups=[1, 1, 1, 1]),
            "parts must be at most .* groups, 1, found 2",
        ),
        (
            lambda: folds([0, 0, 1, 1], 2, groups=[1, 2]),
            r"groups must name .* of 4 .*shape \(2,\)",
        ),
        (lambda: folds([[0, 1], [1, 0]], 2), r"y should be a 1d array, got an array of shape \(2, 2\)"),
        (lambda: folds([], 2), "y must have at least one label, found none"),
        (lambda: folds([0.5, 1.5], 2), "Unknown label type: continuous"),
        (
            lambda: folds([0, 0, 1, 1], 2, random_state="a"),
            "random_state must be an integer from 0 to .*'a'",
        ),
        (lambda: splits([0, 0, 1, 1], 1.5), "n_splits must be an integer, at least 1, found 1.5"),
        (lambda: splits([0, 0, 1, 1], 0), "n_splits must be an integer, at least 1, found 0"),
    ],
)
def test_wrong_splits_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_mixed_speakers_flatter():
    """What grouping is for: with the same speakers on both sides the nearest neighbour seems excellent."""
    vowel = data.load("vowel")
    apart = nested(KNeighborsClassifier(1), [{}], vowel.X, vowel.y, n_splits=5, groups=vowel.groups)
    mixed = nested(KNeighborsClassifier(1), [{}], vowel.X, vowel.y, n_splits=5)
    assert mixed.errors.max() < 0.1
    assert apart.errors.min() > 0.3


# -- tuning ----------------------------------------------------------------------------------

GRID = [{"n_neighbors": n} for n in (1, 3, 9, 27)]


def test_tune_is_scikit_learns_grid_search():
    X, y = load_wine(return_X_y=True)
    for seed in range(5):
        inner = folds(y, 3, random_state=seed)
        result = tune(KNeighborsClassifier(), GRID, X, y, folds=inner)
        peer = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 9, 27]}, cv=inner, scoring=_right)
        peer.fit(X, y)
        parts = np.array([peer.cv_results_[f"split{j}_test_score"] for j in range(3)])
        assert result.mistakes.tolist() == (len(y) - parts.sum(axis=0)).tolist()
        assert result.index == int(result.mistakes.argmin())
        assert result.params == GRID[result.index]
        final = KNeighborsClassifier(**result.params).fit(X, y)
        assert np.array_equal(result.estimator.predict_proba(X), final.predict_proba(X))
        assert result.tune_seconds >= result.fit_seconds >= 0


def _right(model, X, y):
    return int((model.predict(X) == y).sum())


def test_held_out_scores_are_of_classifiers_that_have_not_seen_the_example():
    X, y = load_iris(return_X_y=True)
    inner = folds(y, 3)
    result = tune(GaussianNB(), [{}], X, y, folds=inner)
    p = cross_val_predict(GaussianNB(), X, y, cv=inner, method="predict_proba")
    np.testing.assert_allclose(np.exp(result.held_out), smooth(p, 100), rtol=1e-12)

    model = LinearSVC(random_state=0)
    result = tune(model, [{"C": 1.0}], X, y, folds=inner)
    peer = softmax.WithProbabilities(model, cv=inner).fit(X, y)
    fitted = softmax.temperature(result.held_out, y, smooth=True)
    assert fitted.temperature == pytest.approx(peer.temperatures_[0].temperature, rel=1e-9)


def test_nested_is_a_grid_search_inside_a_cross_validation():
    X, y = load_wine(return_X_y=True)
    result = nested(KNeighborsClassifier(), GRID, X, y, n_splits=4, random_state=3)
    for j, (train, test) in enumerate(splits(y, 4, random_state=3)):
        inner = StratifiedKFold(3, shuffle=True, random_state=3 + j)
        search = GridSearchCV(
            KNeighborsClassifier(), {"n_neighbors": [1, 3, 9, 27]}, cv=inner, scoring=_right
        )
        right = cross_val_score(search, X, y, cv=[(train, test)], scoring=_right)
        assert result.mistakes[j] == len(test) - right[0]
        assert (result.n_train[j], result.n_test[j]) == (len(train), len(test))
        assert result.errors[j] == result.mistakes[j] / len(test)


@pytest.mark.once
def test_the_error_that_chose_is_too_small():
    """Labels that have nothing to do with X: nested errors are those of chance, the inner ones less."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 4
    many = [{"max_depth": depth, "random_state": seed} for depth in (2, 4, 8) for seed in range(10)]
    tree = DecisionTreeClassifier(splitter="random")
    result = nested(tree, many, X, y, n_splits=10)
    assert abs(result.errors.mean() - 0.75) < 0.04
    assert result.inner.mean() < 0.68


def test_nested_keeps_groups_apart_also_inside():
    """Classes cannot be learnt, only who is who: a neighbour is of help only inside a group."""
    rng = np.random.default_rng(6)
    groups, y = np.repeat(np.arange(24), 10), np.tile(np.repeat([0, 1], 5), 24)
    places, directions = rng.permutation(24), rng.choice([-1.0, 1.0], 24)
    X = np.column_stack([100.0 * places[groups], y * directions[groups]]) + 0.01 * rng.normal(size=(240, 2))
    model = KNeighborsClassifier(1)
    apart = nested(model, [{}], X, y, groups=groups)
    mixed = nested(model, [{}], X, y)
    assert mixed.errors.max() < 0.1
    assert mixed.inner.max() < 0.2
    assert apart.errors.mean() > 0.3
    assert apart.inner.mean() > 0.3


def test_leaks_are_refused():
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) // 3
    clean = folds(y, 3, groups=groups)
    tune(GaussianNB(), [{}], X, y, folds=clean, groups=groups)
    with pytest.raises(ValueError, match=r"groups must be on one side .* found \d+ on both sides of split 0"):
        tune(GaussianNB(), [{}], X, y, folds=folds(y, 3), groups=groups)
    train, test = clean[0]
    overlapping = [(np.append(train, test[0]), test), *clean[1:]]
    with pytest.raises(
        ValueError, match=f"not test what they train on, found example {test[0]} twice in fold 0"
    ):
        tune(GaussianNB(), [{}], X, y, folds=overlapping)
    with pytest.raises(ValueError, match=r"must test every example once, found example \d+ 0 times"):
        tune(GaussianNB(), [{}], X, y, folds=clean[1:])
    with pytest.raises(ValueError, match=r"must test every example once, found example \d+ 2 times"):
        tune(GaussianNB(), [{}], X, y, folds=[*clean, clean[0]])


def test_other_wrong_tasks_are_refused():
    X, y = load_iris(return_X_y=True)
    ordered = [(np.setdiff1d(np.arange(150), part), part) for part in np.split(np.arange(150), 3)]
    with pytest.raises(ValueError, match=r"all classes \[0, 1, 2\] for training, found one with \[1, 2\]"):
        tune(GaussianNB(), [{}], X, y, folds=ordered)
    with pytest.raises(ValueError, match="candidates must be at least one dict"):
        tune(GaussianNB(), [], X, y, folds=folds(y))
    with pytest.raises(ValueError, match="X and y must have the same length, found 149 and 150"):
        tune(GaussianNB(), [{}], X[1:], y, folds=folds(y))


CALLS = load_iris().data[:, 2:], load_iris().target


def test_tables_of_every_kind_reach_the_classifier():
    """What scikit-learn takes is handed on as it is, and the same numbers give the same predictions."""
    X, y = CALLS
    names = ["length", "width"]
    grid = [{"C": 0.1}, {"C": 10.0}]
    model = SoftmaxRegression()
    expected = tune(model, grid, X, y, folds=folds(y)), nested(model, grid, X, y, n_splits=2)
    forms = [X.tolist(), csr_array(X), csc_array(X), coo_array(X), pd.DataFrame(X, columns=names)]
    for form in forms:
        tuned = tune(model, grid, form, y, folds=folds(y))
        assert tuned.mistakes.tolist() == expected[0].mistakes.tolist()
        np.testing.assert_allclose(tuned.held_out, expected[0].held_out, rtol=1e-3, atol=1e-3)
        assert nested(model, grid, form, y, n_splits=2).mistakes.tolist() == expected[1].mistakes.tolist()
    assert tuned.estimator.feature_names_in_.tolist() == names
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert tune(model, grid, X, y[:, None], folds=folds(y)).mistakes.tolist() == tuned.mistakes.tolist()


def test_columns_can_be_named_and_hold_levels():
    X, y = CALLS
    colour = np.where(y == 0, "red", np.where(X[:, 1] > 1.6, "blue", "green"))
    frame = pd.DataFrame({"colour": colour, "width": X[:, 1]}, index=np.arange(len(y)) + 7)
    by_name = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"), GaussianNB()
    )
    assert nested(by_name, [{}], frame, y, n_splits=1).errors < 0.1
    levels = frame.astype({"colour": "category"})
    result = tune(DecisionTree(), [{"max_depth": 1}, {"max_depth": 3}], levels, y, folds=folds(y))
    assert result.estimator.feature_names_in_.tolist() == ["colour", "width"]
    assert "colour in {red} ?" in result.estimator.text()


def test_a_kernel_that_was_computed_can_be_tuned():
    """Columns are selected with the rows, outside and inside."""
    X, y = CALLS
    grid = [{"C": 0.1}, {"C": 10.0}]
    expected = nested(SVC(kernel="linear"), grid, X, y, n_splits=2)
    result = nested(SVC(kernel="precomputed"), grid, X @ X.T, y, n_splits=2)
    assert result.mistakes.tolist() == expected.mistakes.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": None}, "X must have a row for each example, found None"),
        ({"X": 5.0}, r"X must have a row for each example, found 5\.0"),
        ({"X": []}, "X and y must have the same length, found 0 and 150"),
        ({"X": csr_array((3, 2))}, "X and y must have the same length, found 3 and 150"),
        ({"y": []}, "y must have at least one label, found none"),
        ({"candidates": {"priors": None}}, "candidates must be a list of dicts .* found {'priors': None}"),
        ({"candidates": ["priors"]}, r"candidates must be a list of dicts .* found \['priors'\]"),
    ],
    ids=str,
)
def test_what_cannot_be_tuned_is_refused(change, words):
    task = {"estimator": GaussianNB(), "candidates": [{}], "X": CALLS[0], "y": CALLS[1]} | change
    for call in (lambda: tune(**task, folds=folds(CALLS[1])), lambda: nested(**task)):
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("wrong", [3, [0, 1], [([0, 1], [2, 150])], [([], [0])], [([0.5], [1])], [([0],)]])
def test_folds_are_pairs_of_indices(wrong):
    with pytest.raises(ValueError, match=r"folds must be .*pairs"):
        tune(GaussianNB(), [{}], *CALLS, folds=wrong)
    pairs = (pair for pair in folds(CALLS[1]))
    assert tune(GaussianNB(), [{}], *CALLS, folds=pairs).index == 0


def test_of_equal_candidates_the_first_is_chosen():
    X, y = load_iris(return_X_y=True)
    worse, good = {"n_neighbors": 99}, {"n_neighbors": 5}
    result = tune(KNeighborsClassifier(), [worse, good, good, worse, good], X, y, folds=folds(y))
    assert result.mistakes[1] == result.mistakes[2] == result.mistakes[4] < result.mistakes[0]
    assert result.index == 1


def test_smooth_is_a_mixture():
    p = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    for m in (1, 10, 1000):
        weight = 1 / (m + 2)
        np.testing.assert_allclose(smooth(p, m), (1 - weight) * p + weight / 3, rtol=1e-14)


def test_scores_have_a_column_for_each_class():
    X, y = load_iris(return_X_y=True)
    for rows in (y < 3, y > 0):
        model = LinearSVC(random_state=0).fit(X[rows], y[rows])
        result = scores(model, X, 99)
        assert result.shape == (150, len(model.classes_))
        assert np.array_equal(model.classes_[result.argmax(axis=1)], model.predict(X))
    tree = DecisionTreeClassifier().fit(X, y)
    assert np.exp(scores(tree, X, 150)).min() == pytest.approx(1 / (3 * 152))
    with pytest.raises(ValueError, match="estimator must have predict_proba or decision_function"):
        scores(object(), X, 1)
    with pytest.raises(ValueError, match="m must be an integer, at least 1, found 0"):
        smooth([[1.0]], 0)
    with pytest.raises(ValueError, match="probabilities must have a column for each class"):
        smooth([1.0], 1)


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.5, 1j, "1"])
def test_what_is_no_probability_is_not_smoothed(bad):
    with pytest.raises(ValueError, match=r"^probabilities must be "):
        smooth([[bad, 0.5]], 8)


def test_fits_side_by_side_choose_what_fits_in_a_row_choose():
    X, y = load_iris(return_X_y=True)
    # each fit draws anew from the state that is given, in a candidate too
    grid = [{"max_features": n, "random_state": np.random.RandomState(n)} for n in (1, 2, 3)]
    base, inner = DecisionTreeClassifier(random_state=np.random.RandomState(0)), folds(y, 3)
    alone = tune(base, grid, X, y, folds=inner)
    together = tune(base, grid, X, y, folds=inner, n_jobs=2)
    again = tune(base, grid, X, y, folds=inner)
    for other in (together, again):
        assert other.index == alone.index
        np.testing.assert_array_equal(other.mistakes, alone.mistakes)
        np.testing.assert_array_equal(other.held_out, alone.held_out)
        np.testing.assert_array_equal(other.estimator.predict(X), alone.estimator.predict(X))
    first, second = (nested(base, grid, X, y, n_splits=3, n_jobs=n) for n in (None, 2))
    for name in ("mistakes", "n_train", "n_test", "chosen", "inner"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for wrong in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
            tune(base, grid, X, y, folds=inner, n_jobs=wrong)
        with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
            nested(base, grid, X, y, n_splits=3, n_jobs=wrong)


def test_the_time_of_other_processes_is_counted():
    X, y = load_wine(return_X_y=True)
    grid = [{"max_features": n} for n in (1, 2, 3, 4)]
    forest = RandomForestClassifier(50, random_state=0)
    alone, together = (tune(forest, grid, X, y, folds=folds(y, 3), n_jobs=n) for n in (None, 2))
    assert together.fit_seconds < together.tune_seconds
    assert alone.tune_seconds / 3 < together.tune_seconds < 6 * alone.tune_seconds
