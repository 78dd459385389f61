"""Risks, costs, the Bayes rule, the confusion matrix: twins, scikit-learn, and exact fractions."""

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from scipy.stats import binom
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from mcutils import risk
from mcutils.exact import as_fractions
from mcutils.perceptron import MulticlassPerceptron
from mcutils.solver import CrammerSinger, WestonWatkins
from mcutils.subgradient import SubgradientMachine
from mcutils.tree import DecisionTree


@st.composite
def predicted(draw, most=6):
    """True classes without gaps, predictions, and weights: some zero, but no class without weight."""
    k = draw(st.integers(2, most))
    extra = draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=20))
    y = np.array([*range(k), *extra])
    caught = np.array(draw(st.lists(st.integers(0, k - 1), min_size=len(y), max_size=len(y))))
    weights = np.array(
        draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y)))
    )
    weights[:k] += 0.25
    return k, y, caught, weights


# ---------------------------------------------------------------------------------------------------
# Risks


@given(predicted())
def test_zero_one_is_one_minus_scikit_learns_accuracy(case):
    _, y, caught, weights = case
    assert np.isclose(risk.zero_one_error(y, caught), 1 - metrics.accuracy_score(y, caught))
    peer = 1 - metrics.accuracy_score(y, caught, sample_weight=weights)
    assert np.isclose(risk.zero_one_error(y, caught, sample_weight=weights), peer)


@given(predicted())
def test_balanced_is_one_minus_scikit_learns_balanced_accuracy(case):
    k, y, caught, weights = case
    peer = 1 - metrics.balanced_accuracy_score(y, caught, sample_weight=weights)
    assert np.isclose(risk.balanced_error(y, caught, n_classes=k, sample_weight=weights), peer)


@given(predicted(), st.integers(0, 2**32 - 1))
def test_cost_sensitive_is_the_sum_of_the_definition(case, seed):
    k, y, caught, weights = case
    cost = np.random.default_rng(seed).integers(0, 9, size=(k, k)) / 4
    np.fill_diagonal(cost, 0)
    twin = sum(
        Fraction(w) * Fraction(cost[a, b]) for a, b, w in zip(y, caught, weights.tolist(), strict=True)
    ) / sum(map(Fraction, weights.tolist()))
    result = risk.cost_sensitive(y, caught, cost, sample_weight=weights)
    assert np.isclose(result, float(twin))
    table = risk.confusion(y, caught, n_classes=k, sample_weight=weights)
    assert np.isclose(table.mean_cost(cost), result)


@given(predicted())
def test_balanced_risk_is_a_cost_sensitive_one_with_inverse_class_sizes(case):
    k, y, caught, weights = case
    share = np.bincount(y, weights, minlength=k) / weights.sum()
    cost = risk.costs_from_weights(1 / (k * share))
    result = risk.cost_sensitive(y, caught, cost, sample_weight=weights)
    assert np.isclose(result, risk.balanced_error(y, caught, sample_weight=weights))


def test_weights_and_repetitions_agree():
    rng = np.random.default_rng(0)
    y, caught, times = (rng.integers(0, 4, size=30) for _ in range(3))
    y[:4], times[:4] = range(4), 1
    again = np.repeat(y, times), np.repeat(caught, times)
    for measure in (risk.zero_one_error, risk.balanced_error):
        assert np.isclose(measure(y, caught, sample_weight=times), measure(*again))
    weighted = risk.confusion(y, caught, sample_weight=times, n_classes=4).counts
    assert np.array_equal(weighted, risk.confusion(*again, n_classes=4).counts)


@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_hamming_is_scikit_learns_hamming_loss_in_both_codings(k, m, seed):
    rng = np.random.default_rng(seed)
    y, caught = rng.integers(0, 2, size=(2, m, k))
    weights = rng.uniform(0.5, 2, size=m)
    peer = metrics.hamming_loss(y, caught, sample_weight=weights)
    assert np.isclose(risk.hamming(y, caught, sample_weight=weights), peer)
    assert np.isclose(risk.hamming(2 * y - 1, caught, sample_weight=weights), peer)
    twin = Fraction(int(sum(a != b for a, b in zip(y.ravel(), caught.ravel(), strict=True))), m * k)
    assert np.isclose(risk.hamming(y.astype(bool), 2.0 * caught - 1), float(twin))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk.zero_one_error(["a", "b"], ["a", "a"]), "class numbers"),
        (lambda: risk.zero_one_error([0.0, 1.0], [0, 1]), "class numbers"),
        (lambda: risk.zero_one_error([-1, 1], [1, 1]), "class numbers"),
        (lambda: risk.zero_one_error([], []), "at least one"),
        (lambda: risk.zero_one_error([0, 1], [0]), "equally long"),
        (
            lambda: risk.zero_one_error([0, 1], [0, 1], sample_weight=[1]),
            r"found the shape \(1,\)",
        ),
        (lambda: risk.zero_one_error([0, 1], [0, 1], sample_weight=[0, 0]), "zero for all"),
        (lambda: risk.zero_one_error([0, 1], [0, 1], sample_weight=[1, -1]), "at least 0, found -1.0"),
        (lambda: risk.zero_one_error([0, 1], [0, 1], sample_weight=[1, np.nan]), "finite"),
        (lambda: risk.balanced_error([0, 2], [0, 1]), "no example of class 1"),
        (lambda: risk.balanced_error([0, 1], [0, 1], n_classes=3), "no example of class 2"),
        (lambda: risk.balanced_error([0, 1], [0, 1], sample_weight=[1, 0]), "no example of class 1"),
        (lambda: risk.balanced_error([0, 3], [0, 1], n_classes=2), "only the 2 classes"),
        (lambda: risk.signs([[0, 2]]), "entries"),
        (lambda: risk.signs([[0, -1]]), "entries"),
        (lambda: risk.signs([["a"]]), "entries"),
        (lambda: risk.signs([0, 1]), "matrix"),
        (lambda: risk.hamming([[0, 1]], [[0, 1, 1]]), "same shape"),
        (lambda: risk.cost_sensitive([0, 2], [0, 1], [[0, 1], [1, 0]]), "y has class 2"),
        (lambda: risk.cost_sensitive([0, 1], [0, 2], [[0, 1], [1, 0]]), "predicted has class 2"),
        (lambda: risk.check_costs([[0, 1]]), "matrix"),
        (lambda: risk.check_costs([[0, -1], [1, 0]]), "not negative"),
        (lambda: risk.check_costs([[0, np.inf], [1, 0]]), "finite"),
        (lambda: risk.costs_from_weights([[1, 2]]), "vector"),
        (lambda: risk.costs_from_weights([1]), "at least two"),
        (lambda: risk.costs_from_weights([1, -2]), "weights must not be negative, found -2"),
        (lambda: risk.costs_from_graph([("a", "b")], ["a", "z"]), "'z', which has no edge"),
        (lambda: risk.costs_from_graph([("a", "b")], ["a", "a"]), "different"),
        (lambda: risk.costs_from_graph([("a", "b")], ["a"]), "at least two"),
        (lambda: risk.costs_from_graph([("a", "b", "c")], ["a", "b"]), "pairs"),
        (lambda: risk.costs_from_graph([("a", "b"), ("c", "d")], "ad"), "no path joins 'a' and 'd'"),
        (lambda: risk.costs_from_tree({"a": "b", "c": "d"}, "ac"), "one root"),
        (lambda: risk.costs_from_tree({"a": "b", "b": "a"}, "ab"), "one root, .* found none"),
        (lambda: risk.costs_from_tree({"a": "b", "b": "a", "c": "r"}, "ab"), "cycle"),
        (lambda: risk.costs_from_tree({"a": "a", "c": "r"}, "ac"), "cycle"),
        (lambda: risk.bayes_rule([0.5, 0.5]), "matrix"),
        (lambda: risk.bayes_rule([[1.5, -0.5]]), "not be negative"),
        (lambda: risk.bayes_rule([[0.5, 0.5]], np.ones((3, 3)) - np.eye(3)), "row for each class"),
        (lambda: risk.top_k([1, 2], [0, 1], 1), "matrix"),
        (lambda: risk.top_k([[1, 2]], [0, 1], 1), "equally long"),
        (lambda: risk.top_k([[1, 2]], [2], 1), "only the 2 classes"),
        (lambda: risk.top_k([[1, 2]], [0], 3), "size must be an integer from 1 to 2"),
        (lambda: risk.top_k([[1, 2]], [0], 0), "size must be an integer from 1 to 2"),
        (lambda: risk.top_k([[1, np.nan]], [0], 1), "nan"),
        (lambda: risk.top_k([[1, 2]], [0], 1, tie="first"), "tie must be one of"),
        (lambda: risk.hoeffding_interval(0.1, 10, 1.0), "delta must be a finite number, above 0 and below 1"),
        (lambda: risk.hoeffding_interval(0.1, 10, 0), "delta must be a finite number, above 0 and below 1"),
        (lambda: risk.hoeffding_interval(0.1, 0, 0.1), "at least 1"),
        (
            lambda: risk.hoeffding_interval(1.1, 10, 0.1),
            "empirical must be .* at most 1, found 1.1",
        ),
        (
            lambda: risk.hoeffding_interval(0.1, 10, 0.1, largest=0),
            "largest must be a positive, finite number, found 0",
        ),
        (lambda: risk.confusion([0, 1], [0, 2], n_classes=2), "only the 2 classes"),
        (lambda: risk.confusion([0, 1], [0, 0]).macro("precision"), "precision of class 1"),
        (lambda: risk.confusion([0, 1], [0, 0]).macro("accuracy"), "name must be one of"),
        (lambda: risk.confusion([0, 1], [0, 0]).macro("recall", "drop"), "undefined must be one of"),
        (lambda: risk.confusion([0, 1], [0, 0]).mean_cost(1 - np.eye(3)), "shape"),
        (lambda: risk.confusion([0, 1], [0, 0]).with_priors([1, 1, 1]), "2 numbers"),
        (lambda: risk.confusion([0, 0], [0, 1]).with_priors([0.5, 0.5]), "class 1 .* has no example"),
    ],
)
def test_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------------------------------------------
# Costs


def random_tree(rng, n):
    return {i: int(rng.integers(0, i)) for i in range(1, n)}


def ancestors(parents, node):
    chain = [node]
    while chain[-1] in parents:
        chain.append(parents[chain[-1]])
    return set(chain)


@given(st.integers(2, 25), st.integers(0, 2**32 - 1))
def test_tree_distance_counts_the_ancestors_that_are_not_shared(n, seed):
    parents = random_tree(np.random.default_rng(seed), n)
    result = risk.costs_from_tree(parents, range(n), scale=False)
    twin = [[len(ancestors(parents, a) ^ ancestors(parents, b)) for b in range(n)] for a in range(n)]
    assert np.array_equal(result, twin)


@given(st.integers(2, 15), st.integers(0, 2**32 - 1))
def test_graph_distance_is_scipys_shortest_path(n, seed):
    rng = np.random.default_rng(seed)
    edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]  # connected
    edges += [tuple(rng.integers(0, n, size=2).tolist()) for _ in range(n)]  # loops and doubles too
    classes = rng.permutation(n)[: max(2, n // 2)].tolist()
    if len(classes) < 2:
        return
    result = risk.costs_from_graph(edges, classes, scale=False)
    rows, columns = np.array(edges).T
    matrix = np.zeros((n, n))
    matrix[rows, columns] = 1
    peer = shortest_path(matrix, directed=False, unweighted=True)[np.ix_(classes, classes)]
    assert np.array_equal(result, peer)
    scaled = risk.costs_from_graph(edges, classes)
    assert scaled.max() == 1
    assert np.allclose(scaled * result.max(), result)


def test_a_concept_on_the_way_need_not_be_a_class():
    assert risk.costs_from_graph([("a", "x"), ("x", "b")], "ab", scale=False)[0, 1] == 2
    with pytest.raises(ValueError, match="no path"):
        risk.costs_from_graph([("a", "x"), ("y", "b")], "ab")


# ---------------------------------------------------------------------------------------------------
# The Bayes rule


def all_rules(n_inputs, n_answers):
    return product(range(n_answers), repeat=n_inputs)


@given(st.integers(2, 3), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_no_rule_has_less_risk_than_the_bayes_rule(k, more, seed):
    rng = np.random.default_rng(seed)
    joint = as_fractions(rng.integers(0, 4, size=(3, k))) / 40
    cost = rng.integers(0, 4, size=(k, k + more))
    cost[np.arange(k), np.arange(k)] = 0
    result = risk.bayes_rule(joint, as_fractions(cost))
    risks = {
        rule: sum(joint[x, y] * int(cost[y, a]) for x, a in enumerate(rule) for y in range(k))
        for rule in all_rules(3, k + more)
    }
    least = min(risks.values())
    best = [rule for rule, value in risks.items() if value == least]
    assert tuple(result.decision) == min(best)  # ties to the smallest, input by input
    assert result.conditional_risk.sum() == least
    choices = [{rule[x] for rule in best} for x in range(3)]
    assert [len(c) > 1 for c in choices] == result.tied.tolist()


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_without_a_cost_the_prediction_is_the_first_most_probable_class(k, seed):
    p = np.random.default_rng(seed).integers(0, 4, size=(10, k)) / 7
    result = risk.bayes_rule(p)
    assert np.array_equal(result.decision, p.argmax(axis=1))
    assert np.array_equal(result.tied, (p == p.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    assert np.allclose(result.conditional_risk, p.sum(axis=1) - p.max(axis=1))
    by_cost = risk.bayes_rule(7 * p, 1 - np.eye(k))  # sums of small integers are exact
    assert np.array_equal(by_cost.decision, result.decision)
    assert np.array_equal(by_cost.tied, result.tied)


# ---------------------------------------------------------------------------------------------------
# The confusion matrix


@given(predicted())
def test_confusion_recall_precision_and_macro_averages_are_scikit_learns(case):
    k, y, caught, weights = case
    result = risk.confusion(y, caught, n_classes=k, sample_weight=weights)
    options = {"labels": range(k), "sample_weight": weights}
    assert np.allclose(result.counts, metrics.confusion_matrix(y, caught, **options))
    peer = metrics.precision_recall_fscore_support(y, caught, zero_division=np.nan, **options)
    for ours, theirs in zip((result.precision, result.recall, result.f1), peer, strict=False):
        assert np.allclose(ours, theirs, equal_nan=True)
    for name, score in (
        ("recall", metrics.recall_score),
        ("precision", metrics.precision_score),
        ("f1", metrics.f1_score),
    ):
        peer = score(y, caught, average="macro", zero_division=0, **options)
        assert np.isclose(result.macro(name, "zero"), peer)
    assert np.isclose(1 - result.macro("recall"), risk.balanced_error(y, caught, sample_weight=weights))
    assert np.isclose(result.zero_one, risk.zero_one_error(y, caught, sample_weight=weights))


def test_absent_classes_and_those_never_named():
    y, caught = [0, 0, 2], [0, 3, 2]  # class 1 does neither, class 3 is named only
    result = risk.confusion(y, caught)
    assert np.allclose(result.recall, [0.5, np.nan, 1, np.nan], equal_nan=True)
    assert np.allclose(result.precision, [1, np.nan, 1, 0], equal_nan=True)
    assert np.allclose(result.f1, [2 / 3, np.nan, 1, 0], equal_nan=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that y has no class 3
        skipped = metrics.balanced_accuracy_score(y, caught)
    assert result.macro("recall", "skip") == skipped == 0.75
    with pytest.warns(UndefinedMetricWarning, match="Recall is ill-defined"):
        counted = metrics.recall_score(y, caught, labels=range(4), average="macro")
    assert result.macro("recall", "zero") == counted == 0.375


def test_new_priors_leave_recall_and_change_precision_as_bayes_says():
    rng = np.random.default_rng(1)
    result = risk.Confusion(rng.integers(1, 20, size=(3, 3)).astype(float))
    pi = [0.1, 0.2, 0.7]
    other = result.with_priors(pi)
    assert np.allclose(other.recall, result.recall)
    rows = result.counts / result.counts.sum(axis=1, keepdims=True)
    for y in range(3):
        twin = (
            [0.1, 0.2, 0.7][y]
            * rows[y, y]
            / sum(p * r for p, r in zip((0.1, 0.2, 0.7), rows[:, y], strict=True))
        )
        assert np.isclose(other.precision[y], twin)
    same = result.with_priors(result.support)
    assert np.allclose(same.precision, result.precision)
    assert np.isclose(other.counts.sum(), 1)


@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_top_k_ranks_by_score_then_by_the_tie_rule(k, m, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-1, 2, size=(m, k)).astype(float)
    y = rng.integers(0, k, size=m)
    weights = rng.uniform(0.5, 2, size=m)
    for size in range(1, k + 1):
        ranked = [sorted(range(k), key=lambda c, row=row: (-row[c], c))[:size] for row in scores]
        missed = np.array([c not in best for c, best in zip(y, ranked, strict=True)])
        assert np.isclose(risk.top_k(scores, y, size), missed.mean())
        result = [risk.top_k(scores, y, size, tie=tie) for tie in ("for", "smallest", "against")]
        assert result == sorted(result)
        weighted = risk.top_k(scores, y, size, sample_weight=weights)
        assert np.isclose(weighted, (weights * missed).sum() / weights.sum())
    assert risk.top_k(scores, y, k, tie="against") == 0
    assert np.isclose(risk.top_k(scores, y, 1), risk.zero_one_error(y, scores.argmax(axis=1)))


def test_top_k_is_scikit_learns_where_no_scores_are_equal():
    rng = np.random.default_rng(2)
    scores, y = rng.normal(size=(60, 5)), rng.integers(0, 5, size=60)
    for size in range(1, 5):
        peer = metrics.top_k_accuracy_score(y, scores, k=size, labels=range(5))
        for tie in ("smallest", "for", "against"):
            assert np.isclose(1 - risk.top_k(scores, y, size, tie=tie), peer)
    # with equal scores scikit-learn prefers the largest class
    equal = np.zeros((3, 3))
    assert metrics.top_k_accuracy_score([0, 1, 2], equal, k=1, normalize=False) == 1
    assert metrics.top_k_accuracy_score([2, 2, 2], equal, k=1, labels=range(3)) == 1
    assert risk.top_k(equal, [2, 2, 2], 1) == 1


# ---------------------------------------------------------------------------------------------------
# Intervals


@pytest.mark.parametrize("m", [1, 2, 10, 57])
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_the_interval_fails_at_most_as_often_as_it_says(m, delta):
    for p in np.linspace(0, 1, 41):
        inside = 0.0
        for wrong in range(m + 1):
            result = risk.hoeffding_interval(wrong / m, m, delta)
            if result.low <= p <= result.high:
                inside += binom.pmf(wrong, m, p)
        assert inside >= 1 - delta - 1e-12


def test_the_interval_scales_with_the_largest_cost():
    one, five = risk.hoeffding_interval(0.2, 30, 0.1), risk.hoeffding_interval(1.0, 30, 0.1, largest=5)
    assert np.isclose(five.low, 5 * one.low)
    assert np.isclose(five.high, 5 * one.high)
    assert one.confidence == 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk.top_k([[1, 2]], [0], 1.5), r"^size must be an integer from 1 to 2, found 1\.5$"),
        (lambda: risk.top_k([["1", "2"]], [0], 1), r"^scores must be real numbers, found dtype <U1$"),
        (
            lambda: risk.hoeffding_interval(0.2, np.nan, 0.05),
            r"^m must be an integer, .* found nan$",
        ),
        (lambda: risk.hoeffding_interval(0.2, 10.5, 0.05), r"^m must be an integer"),
        (lambda: risk.hoeffding_interval("0", 10, 0.05), r"^empirical must be a finite number"),
        (lambda: risk.confusion([0, 1], [0, 1], n_classes=2.5), r"^n_classes must be an integer"),
        (lambda: risk.balanced_error([0, 1], [0, 1], n_classes=True), r"^n_classes must be an integer"),
        (lambda: risk.check_costs([[0, 1j], [1, 0]]), r"^cost must be real numbers, found dtype complex128$"),
        (lambda: risk.check_costs([["0", "1"], ["1", "0"]]), r"^cost must be real numbers"),
        (lambda: risk.check_costs([[0, None], [1, 0]]), r"^cost must be real numbers, found None$"),
        (lambda: risk.costs_from_weights([1j, 1]), r"^weights must be real numbers"),
        (lambda: risk.costs_from_graph([("a", "b")], "ab", scale="no"), r"^scale must be True or False"),
        (lambda: risk.bayes_rule([[0.5 + 1j, 0.5]]), r"^probabilities must be real numbers"),
        (lambda: risk.bayes_rule([[np.nan, 0.5]]), r"^probabilities must be finite, found nan$"),
        (
            lambda: risk.zero_one_error([0, 1], [0, 1], sample_weight=[1j, 1]),
            r"^sample_weight must be 2 finite numbers, at least 0, found complex128",
        ),
        (
            lambda: risk.zero_one_error([0, 1], [0, 1], sample_weight=[1e308, 1e308]),
            r"^sample_weight must have a finite sum",
        ),
        (lambda: risk.Confusion("a"), r"^counts must be real numbers"),
        (lambda: risk.Confusion([1, 2]), r"^counts must have a row and a column for each class"),
        (lambda: risk.Confusion([[1, -1], [0, 1]]), r"^counts must not be negative"),
        (lambda: risk.Confusion([[0, 0], [0, 0]]), r"^counts must not be negative, and their sum positive"),
        (lambda: risk.Confusion([[np.nan, 0], [0, 1]]), r"^counts must be finite, found nan$"),
        (lambda: risk.confusion([0], [0]).with_priors([1j, 1]), r"^priors must be real numbers"),
    ],
)
def test_what_is_no_such_number_is_refused(call, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # above all numpy's, that an imaginary part is dropped
        with pytest.raises(ValueError, match=message):
            call()


def test_a_confusion_matrix_may_be_given_as_a_list():
    assert risk.Confusion([[1, 0], [1, 2]]).recall.tolist() == [1.0, 2 / 3]


@pytest.mark.parametrize(
    "model", [CrammerSinger, WestonWatkins, SubgradientMachine, MulticlassPerceptron, DecisionTree]
)
def test_no_classifier_drops_the_imaginary_part_of_a_cost(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^cost must be real numbers, found dtype complex128$"):
            model(cost=(1 - np.eye(2)) * (1 + 1j)).fit([[0.0], [1.0]], [0, 1])
