"""Decision trees: against a twin that enumerates every split in fractions, and against scikit-learn's."""

import pickle
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.figure import Figure
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from mcutils import pruning, tree
from mcutils.jit import tree as jit
from mcutils.tree import DecisionTree, _draw, best_question, impurity

# ---------------------------------------------------------------------------------------------------
# The twin


def risk(counts, criterion, cost=None):
    """|n| F(n), in whole numbers and fractions where these exist."""
    n = sum(counts)
    if n == 0:
        return Fraction(0)
    if criterion == "gini":
        return n - Fraction(sum(c * c for c in counts), n)
    if criterion == "misclassification":
        if cost is not None:
            return min(sum(c * row[r] for c, row in zip(counts, cost, strict=True)) for r in range(len(cost)))
        return Fraction(n - max(counts))
    return -sum(c * np.log2(c / n) for c in counts if c > 0)


def counted(y, weights, rows, k):
    counts = [0] * k
    for i in rows:
        counts[y[i]] += weights[i]
    return counts


def thresholds(X, rows, j):
    """Yes-sets of the questions about a column, in the order of their thresholds."""
    values = sorted({X[i][j] for i in rows if X[i][j] == X[i][j]})
    known = [[i for i in rows if X[i][j] <= a] for a in values]
    return [part for part in known if 0 < len(part) < len(rows)]


def subsets(X, rows, j):
    levels = sorted({X[i][j] for i in rows})
    result = []
    for size in range(1, len(levels)):
        for chosen in combinations(levels, size):
            result.append([i for i in rows if X[i][j] in chosen])
    return result


def twin(X, y, *, criterion="gini", weights=None, k=None, fewest=1, categorical=(), cost=None, rows=None):
    """All questions as pairs (decrease, column, yes-set), in the order in which ties are broken."""
    rows = range(len(y)) if rows is None else rows
    weights = [1] * len(y) if weights is None else weights
    k = max(y) + 1 if k is None else k
    whole = risk(counted(y, weights, rows, k), criterion, cost)
    result = []
    for j in range(len(X[0])):
        for yes in (subsets if j in categorical else thresholds)(X, rows, j):
            no = [i for i in rows if i not in set(yes)]
            if min(len(yes), len(no)) >= fewest:
                sides = [risk(counted(y, weights, part, k), criterion, cost) for part in (no, yes)]
                result.append((whole - sum(sides), j, yes))
    return result


def small(trial, *, m=(2, 13), d=(1, 4), k=(2, 4), values=4):
    rng = np.random.default_rng(trial)
    n, columns, classes = (int(rng.integers(*each, endpoint=True)) for each in (m, d, k))
    X = rng.integers(values, size=(n, columns)).astype(float)
    return X, rng.integers(classes, size=n), rng


@pytest.mark.parametrize("fewest", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", tree.CRITERIA)
def test_the_best_question_is_the_first_best_of_all(criterion, weighted, fewest):
    for trial in range(60):
        X, y, rng = small(trial)
        if trial % 3 == 0:
            X[rng.uniform(size=X.shape) < 0.2] = np.nan
        weights = rng.integers(1, 4, size=len(y)).tolist() if weighted else None
        questions = twin(
            X.tolist(), np.unique(y, return_inverse=True)[1].tolist(),
            criterion=criterion, weights=weights, fewest=fewest,
        )  # fmt: skip
        result = best_question(X, y, criterion=criterion, sample_weight=weights, min_samples_leaf=fewest)
        if not questions:
            assert result is None
            continue
        best = max(decrease for decrease, _, _ in questions)
        first = next(q for q in questions if q[0] >= best - (0 if criterion != "entropy" else 1e-9))
        assert result.decrease == pytest.approx(float(best), abs=1e-9), trial
        assert result.question.feature == first[1], trial
        assert np.flatnonzero(result.positive).tolist() == sorted(first[2]), trial
        np.testing.assert_array_equal(result.question.answer(X), result.positive)


@pytest.mark.parametrize("fewest", [1, 2, 4])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("criterion", [*tree.CRITERIA, "own"])
def test_the_best_set_of_levels_is_as_good_as_any(criterion, k, fewest):
    for trial in range(25):
        X, y, rng = small(trial, m=(4, 16), d=(1, 2), k=(k, k), values=5)
        y = np.unique(y, return_inverse=True)[1]
        weights = rng.integers(1, 4, size=len(y)) if trial % 2 else None
        questions = twin(
            X.tolist(), y.tolist(), criterion="gini" if criterion == "own" else criterion, fewest=fewest,
            weights=None if weights is None else weights.tolist(), categorical=range(X.shape[1]),
        )  # fmt: skip
        result = best_question(
            X,
            y,
            criterion=gini if criterion == "own" else criterion,
            sample_weight=weights,
            min_samples_leaf=fewest,
            categorical_features=range(X.shape[1]),
        )
        if not questions:
            assert result is None
            continue
        assert result.decrease == pytest.approx(float(max(q[0] for q in questions)), abs=1e-9), trial
        levels = np.unique(X[:, result.question.feature])
        assert 1 <= len(result.question.levels) <= len(levels) / 2
        np.testing.assert_array_equal(result.question.answer(X), result.positive)


class Gini:
    """A criterion of one's own, whose name is the same in every process."""

    def __call__(self, p):
        return 1 - (p**2).sum(axis=1)

    def __repr__(self):
        return "gini"


gini = Gini()


def test_sorted_order_fails_under_a_minimum_leaf_size():
    # one item of pure levels each, and two mixed ones: prefixes of the order leave one item aside
    X, y = np.array([0.0, 1, 1, 1, 2, 2, 2, 3])[:, None], [0, 0, 0, 1, 0, 1, 1, 1]
    best = best_question(X, y, categorical_features=[0], min_samples_leaf=4)
    assert best.decrease == pytest.approx(
        float(max(q[0] for q in twin(X.tolist(), y, fewest=4, categorical=[0])))
    )
    # without a limit the order is enough, and many levels are no obstacle
    rng = np.random.default_rng(0)
    X, y = rng.integers(60, size=(400, 1)).astype(float), rng.integers(2, size=400)
    result = best_question(X, y, categorical_features=[0])
    shares = np.array([y[X[:, 0] == level].mean() for level in range(60)])
    inside = shares[list(map(int, result.question.levels))]
    outside = np.delete(shares, list(map(int, result.question.levels)))
    assert inside.max() <= outside.min() or outside.max() <= inside.min()


@pytest.mark.compiler
def test_too_many_levels_are_refused():
    X, y = np.arange(21.0)[:, None], np.arange(21) % 3
    for criterion in ("gini", gini):
        with pytest.raises(ValueError, match=r"column 0 has 21 levels .* allowed up to 20 levels"):
            best_question(X, y, criterion=criterion, categorical_features=[0])
    frame = pd.DataFrame({"color": [f"c{i}" for i in range(21)]}).astype("category")
    with pytest.raises(ValueError, match="column 'color' has 21 levels"):
        DecisionTree().fit(frame, y)
    assert best_question(X[:20], y[:20], categorical_features=[0], criterion="misclassification") is not None
    # two classes at a node: the order is enough, if the limits let it be
    assert best_question(X, y == 0, categorical_features=[0]).decrease == pytest.approx(2 * 7 * 14 / 21)
    with pytest.raises(ValueError, match="barred by min_samples_leaf"):
        best_question(
            np.arange(41.0)[:, None], np.arange(41) < 1, categorical_features=[0], min_samples_leaf=2
        )


def test_costs_are_what_misclassification_means():
    cost = [[0, 1, 7], [2, 0, 1], [1, 3, 0]]
    for trial in range(40):
        X, y, _ = small(trial, k=(3, 3), m=(5, 14))
        y[:3] = 0, 1, 2
        result = best_question(X, y, criterion="misclassification", cost=cost)
        questions = twin(X.tolist(), y.tolist(), criterion="misclassification", cost=cost)
        if questions:
            assert result.decrease == pytest.approx(float(max(q[0] for q in questions)), abs=1e-9)
        model = DecisionTree("misclassification", cost=cost, max_depth=1).fit(X, y)
        own = model.tree_
        for n in range(own.n_nodes):
            penalties = own.counts[n] @ np.array(cost)
            assert own.predictions[n] == penalties.argmin()
            assert own.impurity[n] == pytest.approx(penalties.min() / own.counts[n].sum())


def test_whole_fractions_are_compared_as_such():
    # both exceed what a floating-point number holds apart
    a, b = 10**15 + 1, 10**15
    assert jit.greater(a, b, a + 1, b + 1)
    assert not jit.greater(a + 1, b + 1, a, b)
    assert not jit.greater(2 * b, 2 * a, b, a)
    # so scores of large nodes are, where rounding cannot tell
    one, other = (a / b, a, b), ((a + 1) / (b + 1), a + 1, b + 1)
    assert one[0] == other[0]
    assert jit.better(jit.GINI, True, 1e5, 2, *one, *other)
    assert not jit.better(jit.GINI, True, 1e5, 2, *other, *one)
    assert not jit.better(jit.GINI, True, 1e5, 2, one[0], 2 * a, 2 * b, *one)
    # 9 log 9 is six times 3 log 3, but not after rounding: entropies of k classes differ by 2 (k + 1) units
    assert not jit.better(jit.ENTROPY, True, 18.0, 4, 0.0, 1010, 1, 0.0, 1000, 1)
    assert jit.better(jit.ENTROPY, True, 18.0, 4, 0.0, 1011, 1, 0.0, 1000, 1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, q, r, s = (int(v) for v in rng.integers(1, 50, size=4))
        assert jit.greater(p, q, r, s) == (Fraction(p, q) > Fraction(r, s))


def test_large_nodes_break_ties_exactly():
    # the same counts on mirrored columns: the first column wins, in whatever order rounding would sum
    rng = np.random.default_rng(0)
    x, y = rng.integers(50, size=6000).astype(float), rng.integers(3, size=6000)
    for order in ([0, 1], [1, 0]):
        X = np.stack([x, -x], axis=1)[:, order]
        for criterion in tree.CRITERIA:
            result = best_question(X, y, criterion=criterion)
            assert result.question.feature == 0
            for shift in range(3):
                assert best_question(X, (y + shift) % 3, criterion=criterion).question == result.question


# ---------------------------------------------------------------------------------------------------
# Impurities


def test_impurities():
    assert impurity([0, 0]) == 0
    np.testing.assert_allclose(impurity([[1, 1, 2], [0, 0, 3]], "entropy"), [1.5, 0])
    np.testing.assert_allclose(impurity([[[1, 3]]], "misclassification"), [[0.25]])
    np.testing.assert_allclose(impurity([1, 3], "misclassification", cost=[[0, 5], [1, 0]]), 0.75)
    np.testing.assert_allclose(impurity([1, 3], lambda p: np.sqrt(p.prod(axis=1))), np.sqrt(3) / 4)
    with pytest.raises(ValueError, match="counts must be at least 0, found -1"):
        impurity([1, -1])
    with pytest.raises(ValueError, match="criterion must be one of"):
        impurity([1, 1], "deviance")
    with pytest.raises(ValueError, match="criterion must return a finite number"):
        impurity([1, 1], lambda p: p)
    with pytest.raises(ValueError, match="one shape"):
        tree.decrease([1, 2], [1, 2, 3])


@given(
    hnp.arrays(np.int64, (2, 3), elements=st.integers(0, 9)),
    st.sampled_from([*tree.CRITERIA, "root"]),
)
def test_a_split_never_increases_a_concave_impurity(sides, criterion):
    function = (lambda p: np.sqrt(p).sum(axis=1)) if criterion == "root" else criterion
    result = float(tree.decrease(sides[0], sides[1], function))
    assert result >= -1e-12
    if criterion in ("gini", "entropy") and sides.sum(axis=1).all():
        same = np.array_equal(sides[0] * sides[1].sum(), sides[1] * sides[0].sum())
        assert (result > 1e-12) == (not same)


def test_a_function_that_is_not_concave_is_refused():
    with pytest.raises(ValueError, match="criterion must be concave"):
        DecisionTree(lambda p: (p**2).sum(axis=1)).fit([[0.0], [1.0]], [0, 1])


# ---------------------------------------------------------------------------------------------------
# Growing


def same(one, other):
    for name in ("left", "right", "parent", "depth", "feature", "items", "predictions", "_members"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("counts", "impurity", "decrease", "threshold"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9, err_msg=name)


OPTIONS = [
    {},
    {"max_leaf_nodes": 4},
    {"max_depth": 2},
    {"min_samples_leaf": 3},
    {"min_samples_split": 6},
    {"min_weight_fraction_leaf": 0.2},
    {"min_impurity_decrease": 0.02},
    {"min_impurity_split": 0.45},
    {"min_impurity_split": 0.45, "max_leaf_nodes": 3},
    {"priority": "unweighted", "max_leaf_nodes": 5},
    {"class_weight": "balanced"},
    {"questions": "categorical"},
    {"questions": "numerical"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options)) or "none")
@pytest.mark.parametrize("criterion", tree.CRITERIA)
def test_both_ways_to_grow_agree(criterion, options):
    for trial in range(12):
        X, y, rng = small(trial, m=(8, 40), d=(3, 3), k=(3, 3))
        if trial % 3 == 0:
            X[rng.uniform(size=X.shape) < 0.1] = np.nan
        weights = rng.integers(0, 4, size=len(y)).astype(float) if trial % 2 else None
        if trial % 4 == 3:
            weights = weights / 7
        model = DecisionTree(criterion, categorical_features=[2], **options)
        model._check_parameters()
        if weights is not None and not weights.any():
            continue
        search, _ = model._prepare(X, y, weights)
        slow = model._grow(search)
        search, _ = model._prepare(X, y, weights)
        same(model._grow_fast(search), slow)


@pytest.mark.parametrize("categorical", [None, [1]])
def test_a_function_grows_the_tree_of_its_name(categorical):
    for trial in range(12):
        X, y, rng = small(trial, m=(8, 40), d=(3, 3), k=(2, 4))
        weights = rng.integers(1, 4, size=len(y)) if trial % 2 else None
        named, own = (
            DecisionTree(criterion, categorical_features=categorical, max_depth=4).fit(X, y, weights).tree_
            for criterion in ("gini", gini)
        )
        same(named, own)


def exact_scores(X, codes, k):
    """Of every division of a node by a column: the decrease of the sum of squares over the sizes, exactly."""
    n, result = len(codes), {}
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        cum = np.cumsum(np.eye(k, dtype=np.int64)[codes[order]], axis=0)[:-1]
        values = X[order, j]
        for p in np.flatnonzero(values[1:] != values[:-1]).tolist():
            left, right = cum[p], cum[-1] + np.eye(k, dtype=np.int64)[codes[order[-1]]] - cum[p]
            score = Fraction(int(left @ left), p + 1) + Fraction(int(right @ right), n - p - 1)
            result.setdefault(score, set()).add(frozenset(np.sort(order[: p + 1]).tolist()))
    return result


@pytest.mark.parametrize("leaves", [None, 12])
@pytest.mark.parametrize("name", ["digits", "iris", "normal"])
def test_splits_are_those_of_scikit_learn_where_the_best_is_unique(name, leaves):
    if name == "normal":
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 6)).astype(np.float32).astype(np.float64)
        y = (X @ rng.normal(size=(6, 3)) + rng.normal(size=(400, 3))).argmax(axis=1)
    else:
        X, y = (load_digits if name == "digits" else load_iris)(return_X_y=True)
        X, y = X[::3].astype(np.float32).astype(np.float64), y[::3]
    k = int(y.max()) + 1
    ours = DecisionTree(max_leaf_nodes=leaves).fit(X, y).tree_
    peer = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y).tree_
    waiting, compared = [(0, 0, np.arange(len(y)))], 0
    while waiting:
        n, q, rows = waiting.pop()
        np.testing.assert_allclose(ours.impurity[n], peer.impurity[q], atol=1e-12)
        if leaves is None:
            assert (ours.left[n] < 0) == (peer.children_left[q] < 0)
        if ours.left[n] < 0 or peer.children_left[q] < 0:
            continue
        scores = exact_scores(X[rows], y[rows], k)
        yes = X[rows, ours.feature[n]] <= ours.threshold[n]
        other = X[rows, peer.feature[q]] <= peer.threshold[q]
        best = scores[max(scores)]
        # ours is among the best in any case
        assert frozenset(np.flatnonzero(yes).tolist()) in best
        if len(best) == 1:
            np.testing.assert_array_equal(yes, other)
            compared += 1
        if np.array_equal(yes, other):
            waiting.append((int(ours.right[n]), int(peer.children_left[q]), rows[yes]))
            waiting.append((int(ours.left[n]), int(peer.children_right[q]), rows[~yes]))
    assert compared >= (2 if name == "iris" else 8)


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("criterion", [*tree.CRITERIA, "own"])
def test_a_node_is_a_leaf_once_it_is_pure_enough(criterion, costs):
    cost = [[0, 1, 4], [2, 0, 0], [1, 3, 0]] if costs else None
    name = gini if criterion == "own" else criterion
    for trial in range(12):
        X, y, rng = small(trial, m=(30, 60), d=(2, 2), k=(3, 3), values=9)
        weights = rng.uniform(size=len(y)) if trial % 2 else None
        y[:3] = range(3)
        full = DecisionTree(name, cost=cost).fit(X, y, weights).tree_
        enough = float(np.median(full.impurity[full.left >= 0]))  # that of a node, or between two
        model = DecisionTree(name, cost=cost, min_impurity_split=enough).fit(X, y, weights)
        ours, kept, waiting = model.tree_, 0, [(0, 0)]
        while waiting:  # the full tree, where each node that is pure enough is cut off
            here, there = waiting.pop()
            kept += 1
            np.testing.assert_allclose(ours.counts[here], full.counts[there])
            open_ = full.left[there] >= 0 and full.impurity[there] > enough * (1 + 1e-12)
            assert (ours.left[here] >= 0) == open_, (trial, here)
            if open_:
                assert ours.questions[here] == full.questions[there]
                waiting += [(ours.left[here], full.left[there]), (ours.right[here], full.right[there])]
        assert kept == ours.n_nodes < full.n_nodes


def test_pure_enough_is_a_share_whatever_is_rounded():
    # three wrong of ten are pure enough for 0.3, three of nine are not
    X, y = np.arange(10.0)[:, None], np.array([0] * 7 + [1] * 3)
    model = DecisionTree("misclassification", min_impurity_split=0.3)  # 1 - 0.7 is more than 0.3 as a float
    assert model.fit(X, y).get_n_leaves() == 1
    assert model.fit(X[:9], y[1:]).get_n_leaves() == 2
    # one of a million: the difference 1 - 0.999999 is larger by 3e-11 of it
    many, last = np.arange(10.0**6)[:, None], (np.arange(10**6) == 10**6 - 1).astype(int)
    for options in ({}, {"lookahead": 2}):
        rare = DecisionTree("misclassification", min_impurity_split=1e-6, **options)
        assert rare.fit(many, last).get_n_leaves() == 1
    # 0 is another thing than no limit where a mistake costs nothing
    free = DecisionTree("misclassification", cost=np.zeros((2, 2)), min_impurity_split=0.0)
    assert (
        free.fit(X, y).get_n_leaves() == 1 < free.set_params(min_impurity_split=None).fit(X, y).get_n_leaves()
    )


def test_impure_nodes_are_split_as_long_as_a_question_separates():
    # the exclusive or: no question decreases the impurity at the root
    X = np.array(list(product([0.0, 1.0], repeat=2)) * 3)
    y = (X.sum(axis=1) == 1).astype(int)
    for criterion in (*tree.CRITERIA, gini):
        model = DecisionTree(criterion).fit(X, y)
        assert model.tree_.decrease[0] == 0
        assert model.get_n_leaves() == 4
        assert model.score(X, y) == 1
    assert DecisionTree(min_impurity_decrease=1e-9).fit(X, y).get_n_leaves() == 1
    for impure in (0.5, 1.0):
        assert DecisionTree(min_impurity_split=impure).fit(X, y).get_n_leaves() == 1
    # equal items of two classes cannot be separated
    model = DecisionTree().fit([[1.0], [1.0], [1.0], [2.0]], ["a", "b", "b", "a"])
    assert model.get_n_leaves() == 2
    assert model.predict([[1.0], [2.0]]).tolist() == ["b", "a"]


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 25), st.just(2)), elements=st.integers(-3, 3)),
    st.integers(0, 3**25 - 1),
)
def test_leaves_are_a_partition(points, labels):
    X = points.astype(np.float64)
    y = np.array([labels // 3**i % 3 for i in range(len(X))])
    model = DecisionTree().fit(X, y)
    own = model.tree_
    # what can be separated is separated
    for x in np.unique(X, axis=0):
        here = (x == X).all(axis=1)
        counts = np.bincount(np.searchsorted(model.classes_, y[here]), minlength=len(model.classes_))
        np.testing.assert_array_equal(own.counts[model.apply([x])[0]] > 0, counts > 0)
    # every place is in one box, that of its leaf
    places = np.random.default_rng(0).uniform(-4, 4, size=(50, 2))
    low, high = np.moveaxis(tree.boxes(model), -1, 0)
    inside = ((places[:, None] > low) & (places[:, None] <= high)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(own.leaves[inside.argmax(axis=1)], model.apply(places))
    # children share out their parents' items
    inner = np.flatnonzero(~own.is_leaf)
    np.testing.assert_array_equal(own.items[inner], own.items[own.left[inner]] + own.items[own.right[inner]])
    np.testing.assert_array_equal(own.right[inner], own.left[inner] + 1)


def test_a_smaller_tree_is_the_beginning_of_a_larger_one():
    X, y = load_iris(return_X_y=True)
    for priority in ("weighted", "unweighted"):
        full = DecisionTree(priority=priority).fit(X, y).tree_
        for leaves in range(1, full.n_leaves + 1):
            part = DecisionTree(priority=priority, max_leaf_nodes=leaves).fit(X, y).tree_
            n = 2 * leaves - 1
            assert part.n_nodes == n
            np.testing.assert_array_equal(part.counts, full.counts[:n])
            inner = ~part.is_leaf
            np.testing.assert_array_equal(part.threshold[inner], full.threshold[:n][inner])
            # the next split is the best of all leaves
            if leaves < full.n_leaves:
                size = full.counts.sum(axis=1) if priority == "unweighted" else 1.0
                gains = (full.decrease / size)[part.leaves]
                split = int(full.parent[n])
                assert split in part.leaves
                assert (full.decrease / size)[split] == gains.max()


def test_the_unweighted_decrease_prefers_small_nodes():
    # two items that one question separates, against many that one separates nearly
    X = np.r_[np.c_[np.zeros(1000), np.arange(1000.0)], [[1.0, 0.0], [1.0, 1.0]]]
    y = np.r_[np.arange(1000) >= 500, [False, True]].astype(int)
    y[[10, 700]] = 1 - y[[10, 700]]

    def family(X, y, weights):
        return [tree.Numerical(0, 0.5)] if np.ptp(X[:, 0]) else [tree.Numerical(1, a) for a in (499.5, 0.5)]

    first = DecisionTree(questions=family)
    sizes = {}
    for priority in ("weighted", "unweighted"):
        own = clone(first).set_params(priority=priority, max_leaf_nodes=3).fit(X, y).tree_
        sizes[priority] = own.items[own.left >= 0][1]
    assert sizes == {"weighted": 1000, "unweighted": 2}


def test_looking_ahead_finds_the_best_small_tree():
    for trial in range(15):
        X, y, _ = small(trial, m=(6, 12), d=(2, 2), k=(2, 3), values=3)
        y = np.unique(y, return_inverse=True)[1]
        k = int(y.max()) + 1
        best = 0
        for gain, _, yes in twin(X.tolist(), y.tolist()):
            for part in (yes, [i for i in range(len(y)) if i not in yes]):
                deeper = twin(X.tolist(), y.tolist(), rows=part, k=k)
                gain += max((g for g, _, _ in deeper), default=0)
            best = max(best, gain)
        result = best_question(X, y, lookahead=2)
        if result is None:
            assert best == 0
            continue
        assert result.ahead == pytest.approx(float(best), abs=1e-9)
        own = DecisionTree(lookahead=2, max_depth=2).fit(X, y).tree_
        assert own.decrease.sum() == pytest.approx(float(best), abs=1e-9)
    # where the greedy step takes the wrong column
    X = np.array([[a, b, c] for a, b, c in product([0.0, 1.0], repeat=3)] * 2)
    y = (X[:, 0] != X[:, 1]).astype(int)
    y[[0, 1]] = 1
    greedy, ahead = (DecisionTree(lookahead=d, max_leaf_nodes=4).fit(X, y) for d in (1, 2))
    assert ahead.tree_.decrease.sum() >= greedy.tree_.decrease.sum()
    with pytest.raises(ValueError, match="lookahead above 1"):
        DecisionTree(lookahead=2, questions="oblique").fit(X, y)


# ---------------------------------------------------------------------------------------------------
# Other questions


def test_oblique_questions_are_never_worse():
    for trial in range(10):
        rng = np.random.default_rng(trial)
        X = rng.normal(size=(40, 3))
        y = (X @ rng.normal(size=(3, 3)) + 0.5 * rng.normal(size=(40, 3))).argmax(axis=1)
        plain = best_question(X, y)
        oblique = best_question(X, y, questions="oblique")
        assert oblique.decrease >= plain.decrease - 1e-9
        np.testing.assert_array_equal(oblique.question.answer(X), oblique.positive)
        both = best_question(X, y, questions=("numerical", "oblique"))
        assert both.decrease == max(plain.decrease, oblique.decrease)
    # a slanted boundary takes one question instead of many
    X = rng.uniform(size=(200, 2))
    y = (X[:, 0] + 2 * X[:, 1] <= 1.4).astype(int)
    assert DecisionTree(questions="oblique").fit(X, y).get_n_leaves() == 2
    assert DecisionTree().fit(X, y).get_n_leaves() > 5


def test_the_climb_finds_what_enumeration_finds():
    # all lines through two of the points, turned a little either way: all divisions by a line
    reached, whole = 0.0, 0.0
    for trial in range(12):
        rng = np.random.default_rng(trial)
        X, y = rng.normal(size=(12, 2)), rng.integers(2, size=12)
        best = 0.0
        for a, b in combinations(range(12), 2):
            across = np.array([X[a, 1] - X[b, 1], X[b, 0] - X[a, 0]])
            heights = X @ across
            for with_a, with_b in product([0, 1], repeat=2):
                yes = heights < heights[a]
                yes[a], yes[b] = with_a, with_b
                sides = np.bincount(y[~yes], minlength=2), np.bincount(y[yes], minlength=2)
                best = max(best, 12 * float(tree.decrease(*sides)))
        result = best_question(X, y, questions="oblique").decrease
        assert result <= best + 1e-9
        reached, whole = reached + result, whole + best
    assert reached >= 0.9 * whole


def test_a_sphere_takes_one_question():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(150, 2))
    y = ((X**2).sum(axis=1) <= 1).astype(int)
    sphere = DecisionTree(questions="sphere").fit(X, y)
    assert sphere.get_n_leaves() <= 4
    assert sphere.score(X, y) == 1
    for n in np.flatnonzero(~sphere.tree_.is_leaf):
        question = sphere.tree_.questions[n]
        np.testing.assert_array_equal(
            question.answer(X), np.linalg.norm(X - question.center, axis=1) <= question.radius
        )
    # every centre that is an item is tried, with every radius
    best = best_question(X[:20], y[:20], questions="sphere")
    for center in X[:20]:
        far = np.linalg.norm(X[:20] - center, axis=1)
        for radius in far:
            yes = far <= radius
            if 0 < yes.sum() < 20:
                sides = (np.bincount(y[:20][side], minlength=2) for side in (~yes, yes))
                assert best.decrease >= 20 * float(tree.decrease(*sides)) - 1e-9


class Parity:
    """A question of one's own."""

    def answer(self, X):
        return X.sum(axis=1) % 2 == 0


def parity(X, y, weights):
    assert len(X) == len(y) == len(weights)
    return [Parity()]


def test_questions_of_ones_own():
    X = np.array(list(product([0.0, 1.0], repeat=3)))
    y = X.sum(axis=1) % 2
    model = DecisionTree(questions=parity).fit(X, y)
    assert model.get_n_leaves() == 2
    assert model.score(X, y) == 1
    assert isinstance(model.tree_.questions[0], Parity)
    assert "Parity" in model.text()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="one column each"):
        _ = model.feature_importances_
    # of equal questions the numerical wins
    equal = best_question([[0.0], [1.0]], [0, 1], questions=(parity, "numerical"))
    assert equal.question == tree.Numerical(0, 0.5)

    class Wrong:
        def answer(self, X):
            return X[:, 0]

    with pytest.raises(ValueError, match="must be 8 booleans"):
        DecisionTree(questions=lambda X, y, w: [Wrong()]).fit(X, y)


# ---------------------------------------------------------------------------------------------------
# Columns


def test_levels_and_what_is_missing():
    frame = pd.DataFrame(
        {
            "color": pd.Categorical(["red", "blue", "white", "red", None, "blue"]),
            "size": [1.0, 2.0, 3.0, 4.0, np.nan, 6.0],
        }
    )
    y = ["warm", "cold", "cold", "warm", "cold", "cold"]
    model = DecisionTree().fit(frame, y)
    assert model.tree_.questions[0] == tree.Categorical(0, ("red",))
    assert model.text().splitlines()[0] == "color in {red} ?"
    # unseen and missing levels answer no, whatever the categories of the new column
    new = pd.DataFrame({"color": pd.Categorical(["green", None, "red"]), "size": [0.0, 0.0, np.nan]})
    assert model.predict(new).tolist() == ["cold", "cold", "warm"]
    np.testing.assert_array_equal(model.tree_.questions[0].answer(new), [False, False, True])
    # by index or name, strings too
    for named in ([0], ["color"], [True, False]):
        plain = frame.assign(color=frame["color"].astype(object))
        other = DecisionTree(categorical_features=named).fit(plain, y)
        np.testing.assert_array_equal(other.tree_.counts, model.tree_.counts)
        assert other.predict(new.assign(color=["green", None, "red"])).tolist() == ["cold", "cold", "warm"]
    table = np.array([["red", 1.0], ["blue", 2.0], ["red", None]], dtype=object)
    assert DecisionTree(categorical_features=[0]).fit(table, [0, 1, 0]).predict(table).tolist() == [0, 1, 0]


def test_a_set_of_levels_never_has_the_missing_ones():
    values = [None, None, None, "a", "b", "c", "d"]
    table = pd.DataFrame({"x": pd.Categorical(values)})
    result = best_question(table, [1, 1, 1, 0, 0, 0, 0])
    # the complement of the missing ones is more than half of the levels
    assert result.question.levels == ("a", "b", "c", "d")
    assert result.decrease == pytest.approx(2 * 3 * 4 / 7)
    # numbers: whether a value is known
    result = best_question([[np.nan], [1.0], [2.0], [np.nan]], [0, 1, 1, 0])
    assert result.question == tree.Numerical(0, np.inf)
    assert result.question.text() == "x1 is known"
    model = DecisionTree().fit([[np.nan], [1.0], [2.0], [np.nan]], [0, 1, 1, 0])
    assert model.predict([[1e300], [np.nan]]).tolist() == [1, 0]


def test_thresholds_lie_between():
    tiny = np.nextafter(1.0, 2.0)
    # half-way is rounded down, up, not at all
    places = [(1.0, tiny), (tiny, 2 * tiny - 1), (-1.7e308, 1.7e308), (5e-324, 1e-323), (0.1, 0.2)]
    for low, high in places:
        question = best_question([[low], [high]], [0, 1]).question
        assert low <= question.threshold < high
    assert best_question([[0.0], [-0.0]], [0, 1]) is None


# ---------------------------------------------------------------------------------------------------
# Weights


def test_whole_weights_repeat_items():
    for trial in range(20):
        X, y, rng = small(trial, m=(5, 30), d=(2, 3))
        weights = rng.integers(0, 4, size=len(y))
        weights[0] = 1
        rows = np.repeat(np.arange(len(y)), weights)
        for criterion in tree.CRITERIA:
            one = DecisionTree(criterion).fit(X, y, weights).tree_
            other = DecisionTree(criterion).fit(X[rows], y[rows]).tree_
            np.testing.assert_array_equal(one.threshold, other.threshold)
            np.testing.assert_array_equal(one.feature, other.feature)
            np.testing.assert_array_equal(one.counts[:, one.counts[0] > 0], other.counts)


def test_only_proportions_of_weights_matter():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, size=len(y))
    for criterion in tree.CRITERIA:
        trees = [DecisionTree(criterion).fit(X, y, factor * weights).tree_ for factor in (1.0, 3.7, 1e-6)]
        for other in trees[1:]:
            np.testing.assert_array_equal(other.threshold, trees[0].threshold)
            np.testing.assert_array_equal(other.feature, trees[0].feature)
    # doubling all data changes no split
    one, two = DecisionTree().fit(X, y).tree_, DecisionTree().fit(np.r_[X, X], np.r_[y, y]).tree_
    np.testing.assert_array_equal(one.threshold, two.threshold)
    np.testing.assert_array_equal(2 * one.counts, two.counts)


def test_a_tree_of_a_resampled_sample():
    """BaggingClassifier gives how often each item was drawn as its weight; maybe none of a class."""
    X, y = load_iris(return_X_y=True)
    rare = np.r_[:100, 149]
    forest = BaggingClassifier(DecisionTree(), n_estimators=12, random_state=0).fit(X[rare], y[rare])
    missed = [
        one
        for one, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True)
        if 100 not in drawn
    ]
    assert missed
    for one in missed:
        assert one.classes_.tolist() == [0, 1, 2]
        assert not one.predict_proba(X)[:, 2].any()


def test_class_weights():
    X, y = load_iris(return_X_y=True)
    by_class = DecisionTree(class_weight={0: 1, 1: 2, 2: 5}, max_leaf_nodes=5).fit(X, y).tree_
    by_item = DecisionTree(max_leaf_nodes=5).fit(X, y, np.array([1, 2, 5])[y]).tree_
    same(by_class, by_item)
    balanced = DecisionTree(class_weight="balanced").fit(X[:120], y[:120])
    np.testing.assert_allclose(balanced.tree_.counts[0], 40)
    # a class of weight 0 is not there
    none = DecisionTree(class_weight="balanced").fit(X, y, y < 2)
    np.testing.assert_allclose(none.tree_.counts[0], [50, 50, 0])


# ---------------------------------------------------------------------------------------------------
# The estimator


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.25, random_state=0)
    return X, np.array(["low", "high"])[y]


def test_paths_shares_and_importances(moons):
    X, y = moons
    model = DecisionTree(min_samples_leaf=5).fit(X, y)
    own = model.tree_
    leaf = model.apply(X)
    assert own.is_leaf[leaf].all()
    np.testing.assert_array_equal(np.bincount(leaf, minlength=own.n_nodes)[own.leaves], own.items[own.leaves])
    np.testing.assert_allclose(model.predict_proba(X), (own.counts / own.items[:, None])[leaf])
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    path = model.decision_path(X).toarray()
    assert path.dtype.kind == "i"
    assert (path[:, 0] == 1).all()
    np.testing.assert_array_equal(path.sum(axis=1), own.depth[leaf] + 1)
    for n in np.flatnonzero(~own.is_leaf):
        here = path[:, n] == 1
        np.testing.assert_array_equal(path[here, own.right[n]] == 1, own.questions[n].answer(X[here]))
    assert model.get_depth() == own.depth.max()
    assert model.get_n_leaves() == own.n_leaves == own.is_leaf.sum()
    # the decreases add up
    total = own.items * own.impurity
    assert own.decrease.sum() == pytest.approx(total[0] - total[own.leaves].sum())
    importances = model.feature_importances_
    peer = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(importances, peer.feature_importances_, atol=1e-9)
    assert DecisionTree().fit([[0.0], [1.0]], [1, 1]).feature_importances_.tolist() == [0.0]


@pytest.mark.parametrize("questions", [("numerical",), ("oblique",), ("sphere",)])
def test_training_items_reach_their_leaves(moons, questions):
    X, y = moons
    model = DecisionTree(questions=questions, max_depth=4).fit(X, y)
    np.testing.assert_array_equal(
        np.bincount(model.apply(X), minlength=model.tree_.n_nodes)[model.tree_.leaves],
        model.tree_.items[model.tree_.leaves],
    )
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.apply(X), model.apply(X))
    assert again.text() == model.text()
    # one row or many
    np.testing.assert_array_equal([model.apply(x[None])[0] for x in X], model.apply(X))


def test_infinite_values_are_refused(moons):
    X, y = moons
    for questions in ("numerical", "sphere"):
        model = DecisionTree(questions=questions, max_depth=2).fit(X, y)
        for n in (1, 3, 120):
            bad = X[:n].copy()
            bad[n - 1, 1] = -np.inf
            with pytest.raises(ValueError, match="infinity"):
                model.predict(bad)
            bad[n - 1, 1] = np.nan
            model.predict(bad)
        with pytest.raises(ValueError, match="infinity"):
            DecisionTree(questions=questions).fit(np.where(X[3] == X, np.inf, X), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "deviance"}, "criterion must be one of"),
        ({"questions": "numeric"}, "questions must be among"),
        ({"criterion": ["gini"]}, "criterion must be one of"),
        ({"questions": ()}, "questions must name at least one"),
        ({"questions": None}, "questions must be among .* or functions, found None"),
        ({"questions": [["oblique"]]}, r"questions must be among .* found \['oblique'\]"),
        ({"priority": "first"}, "priority must be one of 'weighted', 'unweighted', found 'first'"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes must be None or an integer, at least 1, found 0"),
        ({"max_depth": 1.5}, "max_depth must be None or an integer, at least 0, found 1.5"),
        ({"min_samples_split": 1}, "min_samples_split must be an integer, at least 2, found 1"),
        ({"min_samples_leaf": True}, "min_samples_leaf must be an integer, at least 1, found True"),
        (
            {"min_weight_fraction_leaf": 0.6},
            "min_weight_fraction_leaf must be a finite number, at least 0 and at most 0.5",
        ),
        ({"min_impurity_decrease": -1}, "min_impurity_decrease must be a finite number"),
        ({"min_impurity_split": -0.1}, "min_impurity_split must be None or a finite number, at least 0"),
        (
            {"min_impurity_split": "pure"},
            "min_impurity_split must be None or a finite number, .* found 'pure'",
        ),
        ({"lookahead": 0}, "lookahead must be an integer"),
        ({"categorical_features": "auto"}, "categorical_features must be 'from_dtype'"),
        ({"categorical_features": 1}, "categorical_features must be 'from_dtype', None, or .* found 1"),
        ({"categorical_features": [2]}, r"categorical_features has 2; allowed are columns 0 to 1"),
        ({"categorical_features": ["x"]}, "categorical_features names 'x'"),
        ({"categorical_features": [True]}, "categorical_features is a mask of 1 entries, X has 2 columns"),
        ({"class_weight": {"low": -1}}, "class_weight must be numbers, at least 0"),
        ({"cost": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, "cost must have a row and a column for each of 2"),
    ],
)
def test_bad_parameters_are_refused(moons, parameters, message):
    with pytest.raises(ValueError, match=message):
        DecisionTree(**parameters).fit(*moons)


def test_bad_items_are_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match="must not be zero for all examples"):
        DecisionTree().fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="could not convert string to float"):
        DecisionTree().fit(pd.DataFrame({"x": ["a", "b"]}), [0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        DecisionTree(categorical_features=[0]).fit(X, y[:3])
    with pytest.raises(ValueError, match="Expected 2D array"):
        DecisionTree(categorical_features=[0]).fit(X[:, 0], y)
    with pytest.raises(ValueError, match="feature_names has 1 entries, the tree has 2"):
        DecisionTree().fit(X, y).text(["x"])
    with pytest.raises(ValueError, match="class_names has 1 entries, the tree has 2"):
        DecisionTree().fit(X, y).text(class_names=["x"])


FAMILY = {"questions": lambda rows, codes, weights: (tree.Numerical(1, a) for a in np.unique(rows[:, 1]))}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"criterion": "entropy"},
        {"criterion": "misclassification", "cost": [[0, 2], [1, 0]]},
        {"criterion": lambda p: 1 - (p**2).sum(axis=1)},
        {"lookahead": 2, "max_depth": 2},
        {"questions": "oblique", "max_depth": 2},
        {"questions": "sphere", "max_depth": 2},
        {"categorical_features": [0]},
        FAMILY | {"max_depth": 2},
    ],
    ids=lambda parameters: ", ".join(parameters) or "defaults",
)
def test_a_tree_depends_on_the_proportions_of_the_weights_only(moons, parameters):
    X, y = moons[0].round(0 if "categorical_features" in parameters else 8)[:40], moons[1][:40]
    weights = np.random.default_rng(0).uniform(0.5, 2, size=40)
    for unit in (1e-140, 1e-300, 1e140, 1e300):
        for plain, scaled in ((None, np.full(40, unit)), (weights, weights * unit)):
            one, other = (DecisionTree(**parameters).fit(X, y, some) for some in (plain, scaled))
            assert one.text() == other.text()
            np.testing.assert_allclose(other.tree_.counts / unit, one.tree_.counts, rtol=1e-12)
            np.testing.assert_allclose(other.tree_.decrease / unit, one.tree_.decrease, rtol=1e-9, atol=1e-9)
    # every item is there, however light; and each item has a question that separates it
    light = 10.0 ** np.random.default_rng(1).uniform(-200, 0, size=40)
    for some in (light, light * 1e300, np.where(np.arange(40) % 2, 1e-300, 1e300)):
        model = DecisionTree(**parameters).fit(X, y, some)
        assert np.isfinite(model.predict_proba(X)).all()
        if not parameters:
            assert model.score(X, y) == 1
    with pytest.raises(ValueError, match="sample_weight must have a finite sum"):
        DecisionTree(**parameters).fit(X, y, np.full(40, 1e308))


def test_levels_of_any_data_frame():
    """A frame that is not pandas', as polars' are, seen as scikit-learn sees it from 1.9 on."""
    narwhals = pytest.importorskip("narwhals.stable.v2")
    y = ["a", "b", "a", "c"] * 5
    pandas = pd.DataFrame(
        {"colour": pd.Categorical(["red", "blue", None, "green"] * 5), "n": np.arange(20.0)}
    )
    other = narwhals.from_native(pandas)
    assert not hasattr(other, "iloc")
    expected, result = DecisionTree().fit(pandas, y), DecisionTree().fit(other, y)
    assert result.text() == expected.text()
    assert "colour in {blue} ?" in result.text()
    assert result.predict(other).tolist() == expected.predict(pandas).tolist() == y
    by_name = DecisionTree(categorical_features=["colour"]).fit(other, y)
    assert by_name.text() == result.text()


def test_texts_are_levels_only_if_they_are_said_to_be():
    frame = pd.DataFrame({"n": [1.0, 2.0], "colour": ["red", "blue"], "size": pd.Categorical(["s", "l"])})
    caught = (
        r"column 'colour' of X must hold numbers, could not convert string to float: 'red'\. Are these levels"
    )
    for columns in (["n", "colour"], ["n", "colour", "size"]):
        with pytest.raises(ValueError, match=caught):
            DecisionTree().fit(frame[columns], [0, 1])
    model = DecisionTree(categorical_features=["colour"]).fit(frame[["n", "colour"]], [0, 1])
    with pytest.raises(ValueError, match="column 'n' of X must hold numbers"):
        model.predict(pd.DataFrame({"n": ["many"], "colour": ["red"]}))
    with pytest.raises(ValueError, match=r"column 1 of X .* by categorical_features=\[1\]"):
        DecisionTree().fit([[1.0, "red"], [2.0, "blue"]], [0, 1])


def test_one_class_is_a_leaf():
    model = DecisionTree().fit([[0.0], [1.0]], ["a", "a"])
    assert model.text() == "a (2)"
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert best_question([[0.0], [1.0]], ["a", "a"]).decrease == 0


# ---------------------------------------------------------------------------------------------------
# Pictures


def test_text_of_questions():
    assert tree.Numerical(0, 2.5).text(["height"]) == "height <= 2.5"
    assert tree.Categorical(1, (1.0, "b")).text() == "x2 in {1, b}"
    assert tree.Oblique((1.0, 0.0, -0.5), 2.0).text() == "1 x1 - 0.5 x3 <= 2"
    assert tree.Oblique((-1.0, 2.0), 0.0).text() == "-1 x1 + 2 x2 <= 0"
    assert tree.Sphere((1.0, np.nan), 2.0).text() == "|(x1) - (1)| <= 2"


def test_a_drawn_tree(moons):
    X, y = moons
    model = DecisionTree(max_leaf_nodes=5).fit(X, y)
    ax = Figure().subplots()
    tree.draw(ax, model, feature_names=["u", "v"])
    words = [text.get_text() for text in ax.texts]
    assert words.count("no") == words.count("yes") == 1
    assert sum("<=" in word for word in words) == 4
    assert sum(word in ("low", "high") for word in words) == 5
    # yes to the right, children below their parents
    places = _draw._layout(model.tree_)
    own = model.tree_
    for n in np.flatnonzero(~own.is_leaf):
        assert places[own.left[n], 0] < places[n, 0] < places[own.right[n], 0]
        assert places[own.right[n], 1] == places[n, 1] - 1
    kept = np.arange(own.n_nodes) < 3
    ax = Figure().subplots()
    tree.draw(ax, model, kept=kept)
    assert sum("<=" in text.get_text() for text in ax.texts) == 1
    for bad in (kept[:2], ~kept, np.arange(own.n_nodes) < 2):
        with pytest.raises(ValueError, match="kept"):
            tree.draw(ax, model, kept=bad)


@pytest.mark.parametrize("questions", ["numerical", "oblique", "sphere"])
def test_drawn_regions(moons, questions):
    X, y = moons
    model = DecisionTree(questions=questions, max_leaf_nodes=4).fit(X, y)
    figure = Figure()
    ax = figure.subplots()
    tree.draw_regions(ax, model, (-2, 3), (-1, 2))
    figure.canvas.draw()
    assert {text.get_text() for text in ax.texts} == {"low", "high"}
    if questions == "numerical":
        patches = [patch for patch in ax.patches if patch.get_fill()]
        assert sum(p.get_width() * p.get_height() for p in patches) == pytest.approx(15)
    else:
        with pytest.raises(ValueError, match="numerical questions only"):
            tree.boxes(model)
    with pytest.raises(ValueError, match="two numerical features"):
        tree.draw_regions(ax, DecisionTree().fit([[1.0]], [0]), (0, 1), (0, 1))


# ---------------------------------------------------------------------------------------------------
# Columns that are drawn, pruning in fit, sparse matrices: as in scikit-learn


def test_log_loss_is_the_entropy(iris):
    X, y = iris
    model = DecisionTree("log_loss").fit(X, y)
    assert model.text() == DecisionTree("entropy").fit(X, y).text()
    assert np.array_equal(model.tree_.impurity, impurity(model.tree_.counts, "entropy"))
    assert impurity([1, 1], "log_loss") == 1.0
    assert np.array_equal(pruning.sequence(model).risks, pruning.sequence(model, "log_loss").risks)


@pytest.mark.parametrize("most", ["sqrt", "log2", 1, 3, 99, 0.01, 0.5, 1.0, None])
def test_the_number_of_columns_is_that_of_scikit_learn(iris, most):
    X, y = iris
    theirs = DecisionTreeClassifier(max_features=most).fit(X, y)
    assert DecisionTree(max_features=most).fit(X, y).max_features_ == min(theirs.max_features_, 4)


@pytest.mark.parametrize("criterion", ["gini", lambda p: 1 - (p**2).sum(axis=1)], ids=["gini", "own"])
def test_each_column_is_drawn_as_often(criterion):
    """One of five columns, of which one is constant, so that another is drawn in its place."""
    X = np.random.default_rng(0).normal(size=(12, 5))
    X[:, 3] = 0
    y = np.arange(12) % 3
    roots = [
        DecisionTree(criterion, max_features=1, max_depth=1, random_state=seed).fit(X, y).tree_.feature[0]
        for seed in range(400)
    ]
    counts = np.bincount(roots, minlength=5)
    assert counts[3] == 0
    # five standard deviations of a binomial number with the mean 100
    assert np.abs(counts[[0, 1, 2, 4]] - 100).max() < 5 * np.sqrt(75)


def test_of_two_columns_the_better_one_is_taken():
    """The best column is drawn with another in half of all pairs; the worst wins against none."""
    y = np.repeat([0, 1], 8)
    X = np.column_stack([np.roll(y, shift) + 0.0 for shift in (0, 2, 4, 7)])
    X[:, 2] = np.arange(16) % 2
    gains = [best_question(X[:, [j]], y).decrease for j in range(4)]
    assert sorted(gains, reverse=True)[0] == gains[0]
    roots = [
        int(DecisionTree(max_features=2, max_depth=1, random_state=seed).fit(X, y).tree_.feature[0])
        for seed in range(300)
    ]
    worst = int(np.argmin(gains))
    assert worst not in roots
    assert abs(roots.count(0) - 150) < 5 * np.sqrt(75)


def test_max_features_of_all_columns_draws_nothing(iris):
    X, y = iris
    whole = DecisionTree().fit(X, y)
    for most in (4, 1.0, 10):
        assert DecisionTree(max_features=most, random_state=0).fit(X, y).text() == whole.text()


def coinciding(criterion, weighted):
    """A tree of scikit-learn and ours, of so many items at each leaf that no two questions are as good."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=600) > 1).astype(int) + (X[:, 2] > 1)
    weights = rng.uniform(0.5, 2, size=600) if weighted else None
    limits = {"criterion": criterion, "min_samples_leaf": 12}
    return X, y, weights, DecisionTree(**limits), DecisionTreeClassifier(**limits, random_state=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_pruning_path_is_that_of_scikit_learn(criterion, weighted):
    X, y, weights, ours, theirs = coinciding(criterion, weighted)
    path = ours.cost_complexity_pruning_path(X, y, weights)
    wanted = theirs.cost_complexity_pruning_path(X, y, weights)
    last = np.append(np.diff(wanted.ccp_alphas) > 1e-12, True)  # equal penalties are one of ours
    assert len(path.ccp_alphas) > 10
    assert np.allclose(path.ccp_alphas, wanted.ccp_alphas[last], rtol=1e-9)
    assert np.allclose(path.impurities, wanted.impurities[last], rtol=1e-9)
    sizes = []
    for alpha in [*path.ccp_alphas, *(path.ccp_alphas[1:] * 1.001)]:
        ours.set_params(ccp_alpha=alpha).fit(X, y, weights)
        sizes.append(ours.get_n_leaves())
        shares = ours.tree_.counts.sum(axis=1) / ours.tree_.counts[0].sum()
        leaves = ours.tree_.is_leaf
        place = np.searchsorted(path.ccp_alphas, alpha, side="right") - 1
        assert (shares * ours.tree_.impurity)[leaves].sum() == pytest.approx(path.impurities[place])
        if alpha not in path.ccp_alphas:
            theirs.set_params(ccp_alpha=alpha).fit(X, y, weights)
            assert ours.get_n_leaves() == theirs.get_n_leaves()
            assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert sizes[0] > sizes[5] > sizes[len(path.ccp_alphas) - 1] == 1


def test_a_penalty_is_not_chosen_twice(iris):
    with pytest.raises(ValueError, match="estimator must have ccp_alpha=0"):
        pruning.prune_cv(DecisionTree(ccp_alpha=0.1), *iris)


@pytest.mark.parametrize("kind", [csc_array, csr_array])
def test_a_sparse_matrix_is_a_dense_one(digits, kind):
    X, y = digits
    ours, dense = DecisionTree(max_depth=6).fit(kind(X), y), DecisionTree(max_depth=6).fit(X, y)
    assert ours.text() == dense.text()
    assert np.array_equal(ours.predict_proba(kind(X)), dense.predict_proba(X))
    with pytest.raises(ValueError, match=r"X must have at most .* found the shape \(1048576, 1000\)"):
        DecisionTree().fit(csr_array((2**20, 1000)), np.zeros(2**20))


@pytest.mark.parametrize(
    ("name", "part", "whole"), [("min_samples_split", 0.6, 3), ("min_samples_leaf", 0.3, 2)]
)
def test_a_part_of_the_items_is_rounded_upwards(name, part, whole):
    def grown(value, criterion="gini"):
        return DecisionTree(criterion, **{name: value}).fit([[0], [1], [2], [3]], [0, 1, 0, 1]).text()

    assert grown(part) == grown(whole) == grown(part, lambda p: 1 - (p**2).sum(axis=1))
    assert grown(part) != grown(whole - 1)


def test_logarithms_of_probabilities(iris):
    X, y = iris
    model = DecisionTree(max_depth=2).fit(X, y)
    assert np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_features": 0}, "max_features must be 'sqrt' or 'log2' or None or an integer, at least 1"),
        ({"max_features": 1.5}, "max_features must be .* a float above 0 and at most 1, found 1.5"),
        ({"max_features": "auto"}, "max_features must be .* found 'auto'"),
        ({"max_features": 1, "lookahead": 2}, "max_features draws columns .* lookahead 1"),
        ({"max_features": 1, "questions": "oblique"}, "max_features draws columns .* found 'oblique'"),
        ({"ccp_alpha": -1.0}, "ccp_alpha must be a finite number, at least 0, found -1.0"),
        ({"min_samples_leaf": 0.0}, "min_samples_leaf must be an integer, at least 1, or a float above 0"),
        ({"random_state": "a"}, "random_state must be"),
    ],
)
def test_new_parameters_that_cannot_work_are_refused(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        DecisionTree(**parameters).fit(*iris)
