"""Pruning: against all pruned subtrees of small trees, scikit-learn's path, and R's rpart."""

import csv
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mcutils import pruning
from mcutils.data import load
from mcutils.pruning import Shape, prune, prune_cv, sequence
from mcutils.tree import DecisionTree, impurity

RPART = Path(__file__).parent / "fixtures" / "rpart"


# ---------------------------------------------------------------------------------------------------
# Brute force


def subtrees(left, right, n=0):
    """All pruned subtrees with the root n, as sets of nodes."""
    result = [frozenset([n])]
    if left[n] >= 0:
        for parts in product(subtrees(left, right, left[n]), subtrees(left, right, right[n])):
            result.append(frozenset([n]) | parts[0] | parts[1])
    return result


def cost(nodes, left, risks, lam):
    leaves = [n for n in nodes if left[n] not in nodes]
    return sum(risks[n] for n in leaves) + lam * len(leaves)


def grown(seed, k=3, items=14, most=7):
    """A random tree with random counts: its splits need not be good."""
    rng = np.random.default_rng(seed)
    left, right, counts = [-1], [-1], [rng.multinomial(items, np.ones(k) / k)]
    for _ in range(int(rng.integers(1, most))):
        open_ = [n for n in range(len(left)) if left[n] < 0 and counts[n].sum() > 1]
        if not open_:
            break
        n = open_[int(rng.integers(len(open_)))]
        while True:
            part = rng.binomial(counts[n], rng.uniform(size=k).round())
            if 0 < part.sum() < counts[n].sum():
                break
            part = rng.binomial(counts[n], 0.5)
            if 0 < part.sum() < counts[n].sum():
                break
        left[n], right[n] = len(left), len(left) + 1
        left, right, counts = [*left, -1, -1], [*right, -1, -1], [*counts, counts[n] - part, part]
    return Shape(np.array(left), np.array(right), np.array(counts))


def exact_risks(shape, criterion):
    table = np.asarray(shape.counts).tolist()
    if criterion == "misclassification":
        return [sum(row) - max(row) for row in table]
    return [sum(row) - Fraction(sum(c * c for c in row), sum(row)) for row in table]


@pytest.mark.parametrize("criterion", ["misclassification", "gini"])
def test_the_sequence_has_the_smallest_minimiser_at_every_penalty(criterion):
    not_unique = pairs = 0
    for seed in range(120):
        shape = grown(seed)
        left, right, risks = shape.left, shape.right, exact_risks(shape, criterion)
        exact = sequence(shape, criterion, exact=True)
        result = sequence(shape, criterion)
        everything = subtrees(left, right)
        breaks = list(exact.penalties)
        middles = [(a + b) / 2 for a, b in pairwise(breaks)]
        for lam in [*breaks, *middles, breaks[-1] + 1]:
            values = [cost(nodes, left, risks, lam) for nodes in everything]
            best = [nodes for nodes, value in zip(everything, values, strict=True) if value == min(values)]
            smallest = frozenset.intersection(*best)
            assert smallest in best, (seed, lam)
            kept = exact.kept(exact.at(lam))
            assert frozenset(np.flatnonzero(kept).tolist()) == smallest, (seed, lam)
            not_unique += len(best) > 1
            pairs += 1
        # the same in floating point: exactly for whole risks
        assert result.leaves.tolist() == list(exact.leaves)
        for i in range(len(result)):
            np.testing.assert_array_equal(result.kept(i), exact.kept(i))
        np.testing.assert_allclose(result.penalties, [float(a) for a in exact.penalties], atol=1e-12)
        np.testing.assert_allclose(result.risks, [float(r) for r in exact.risks], atol=1e-12)
    assert not_unique > 100
    assert pairs > 400


@pytest.mark.parametrize("exact", [False, True])
@given(seed=st.integers(0, 10**6), criterion=st.sampled_from(["misclassification", "gini"]))
def test_what_a_sequence_promises(exact, seed, criterion):
    shape = grown(seed, items=30, most=20)
    path = sequence(shape, criterion, exact=exact)
    risks = exact_risks(shape, criterion)
    assert path.penalties[0] == 0
    assert path.leaves[-1] == 1
    assert path.start_leaves == (np.asarray(shape.left) < 0).sum() >= path.leaves[0]
    for i in range(len(path)):
        kept = path.kept(i)
        nodes = frozenset(np.flatnonzero(kept).tolist())
        leaves = [n for n in nodes if shape.left[n] not in nodes]
        assert len(leaves) == path.leaves[i]
        assert float(sum(risks[n] for n in leaves)) == pytest.approx(float(path.risks[i]), abs=1e-9)
        assert path.at(path.penalties[i]) == i
        if i:
            assert path.penalties[i] > path.penalties[i - 1]
            assert path.leaves[i] < path.leaves[i - 1]
            assert not (kept & ~path.kept(i - 1)).any()
            # the slope of the chord is the penalty
            chord = (path.risks[i] - path.risks[i - 1]) / (path.leaves[i - 1] - path.leaves[i])
            assert float(chord) == pytest.approx(float(path.penalties[i]), abs=1e-9)
            # the weakest links of a tree of the sequence are the next penalty, and all of them go
            ratios = pruning.links(shape, criterion, kept=path.kept(i - 1))
            assert np.nanmin(ratios) == pytest.approx(float(path.penalties[i]), abs=1e-9)
            weakest = np.flatnonzero(ratios <= np.nanmin(ratios) + 1e-9)
            assert not any(kept[shape.left[n]] for n in weakest)


@given(seed=st.integers(0, 10**6), penalties=st.tuples(*[st.fractions(0, 8, max_denominator=6)] * 2))
def test_pruning_is_idempotent_and_monotone(seed, penalties):
    shape = grown(seed, items=30, most=15)
    low, high = sorted(float(penalty) for penalty in penalties)
    once = prune(shape, low)
    twice = prune(once, low)
    np.testing.assert_array_equal(once.left, twice.left)
    np.testing.assert_array_equal(once.counts, twice.counts)
    further, directly = prune(once, high), prune(shape, high)
    np.testing.assert_array_equal(further.left, directly.left)
    np.testing.assert_array_equal(further.right, directly.right)
    np.testing.assert_array_equal(further.counts, directly.counts)
    assert len(directly.left) <= len(once.left)


def test_what_costs_nothing_is_collapsed_first():
    # below node 2 a question that separates, but both its leaves predict as it does
    shape = Shape([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [[5, 5], [4, 0], [1, 5], [1, 2], [0, 3]])
    path = sequence(shape)
    assert (path.start_leaves, path.penalties.tolist(), path.leaves.tolist()) == (3, [0, 4], [2, 1])
    assert path.kept(0).tolist() == [True, True, True, False, False]
    assert len(prune(shape, 0).left) == 3
    # by Gini it is worth something
    assert sequence(shape, "gini").leaves.tolist() == [3, 2, 1]


def test_equal_links_go_together_also_one_below_the_other():
    # four leaves of one class each, by twos: every internal node has the ratio 1
    counts = [
        [1, 1, 1, 1],
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    shape = Shape([1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1], counts)
    np.testing.assert_array_equal(pruning.links(shape)[:3], [1, 1, 1])
    for exact in (False, True):
        path = sequence(shape, exact=exact)
        assert list(path.penalties) == [0, 1]
        assert list(path.leaves) == [4, 1]


def test_a_single_node():
    model = DecisionTree().fit([[1.0], [2.0]], ["a", "a"])
    path = sequence(model)
    assert (path.penalties.tolist(), path.leaves.tolist(), path.risks.tolist()) == ([0], [1], [0])
    assert prune(model, 3.0).predict([[5.0]]).tolist() == ["a"]


# ---------------------------------------------------------------------------------------------------
# Peers


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_path_of_scikit_learn(digits, criterion):
    X, y = digits
    peer = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    path = peer.cost_complexity_pruning_path(X, y)
    result = sequence(peer)
    # penalties that differ by rounding are one penalty; theirs are divided by m
    alphas = path.ccp_alphas * len(y)
    last = np.r_[np.diff(alphas) > 1e-8, True]
    np.testing.assert_allclose(result.penalties, alphas[last], atol=1e-7)
    np.testing.assert_allclose(result.risks, path.impurities[last] * len(y), atol=1e-6)
    # theirs, pruned between two penalties, has as many leaves
    for i in range(0, len(result) - 1, 9):
        between = (result.penalties[i] + result.penalties[i + 1]) / 2 / len(y)
        pruned = DecisionTreeClassifier(criterion=criterion, random_state=0, ccp_alpha=between).fit(X, y)
        assert pruned.get_n_leaves() == result.leaves[i]
    # our tree of data where best splits are unique has the same path
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32).astype(np.float64)
    y = (X @ rng.normal(size=(5, 3)) + 2 * rng.normal(size=(300, 3))).argmax(axis=1)
    limits = {"criterion": criterion, "min_samples_leaf": 8}
    peer, ours = DecisionTreeClassifier(**limits, random_state=0).fit(X, y), DecisionTree(**limits).fit(X, y)
    np.testing.assert_allclose(sequence(ours).penalties, sequence(peer).penalties, atol=1e-9)


@pytest.mark.parametrize("criterion", ["gini", "misclassification"])
def test_large_trees_in_fractions(digits, criterion):
    model = DecisionTree().fit(*digits)
    exact, result = (sequence(model, criterion, exact=exact) for exact in (True, False))
    assert result.leaves.tolist() == list(exact.leaves)
    np.testing.assert_allclose(result.penalties, [float(a) for a in exact.penalties], rtol=1e-12, atol=1e-12)
    for i in range(len(result)):
        np.testing.assert_array_equal(result.kept(i), exact.kept(i))


def read(name):
    with open(RPART / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["glass", "penguins", "vowel"])
def test_rpart(name):
    table = {key: np.array([float(row[key]) for row in read(f"{name}-table.csv")]) for key in
             ("cp", "nsplit", "rel_error", "xerror", "xstd")}  # fmt: skip
    nodes = {int(row.pop("node")): [int(c) for c in row.values()] for row in read(f"{name}-nodes.csv")}
    place = {node: i for i, node in enumerate(sorted(nodes))}
    left, right = ([place.get(2 * node + side, -1) for node in place] for side in (0, 1))
    path = sequence(Shape(left, right, [nodes[node] for node in place]))
    root = path.risks[-1]
    # every tree of rpart's table is one of the sequence
    rows = {leaves - 1: i for i, leaves in enumerate(path.leaves.tolist())}
    ours = np.array([rows[nsplit] for nsplit in table["nsplit"].astype(int).tolist()])
    np.testing.assert_allclose(path.risks[ours] / root, table["rel_error"], atol=1e-12)
    # its penalties are those at which the larger tree and the smaller cost the same, but for its shortcut:
    # what a node is worth is found on the way up, before other nodes are collapsed
    chords = np.diff(table["rel_error"]) / -np.diff(table["nsplit"])
    true = np.abs(chords - table["cp"][:-1]) < 1e-9
    np.testing.assert_allclose(path.penalties[ours[:-1]][true] / root, table["cp"][:-1][true], atol=1e-12)
    assert true.mean() >= {"glass": 0.9, "penguins": 1, "vowel": 0.95}[name]
    assert len(path) == len(table["cp"]) + (name == "vowel")

    # cross-validation on the same folds: but for ties between questions the same predictions
    data = load(name)
    m = len(data.y)
    result = prune_cv(DecisionTree(), data.X, data.y, cv=np.arange(m) % 7)
    rows = {nsplit: i for i, nsplit in enumerate(result.table["nsplit"].tolist())}
    same = result.table[[rows[nsplit] for nsplit in table["nsplit"].astype(int).tolist()]]
    np.testing.assert_allclose(same["rel_error"], table["rel_error"], atol=1e-12)
    wrong = (same["xerror"] - table["xerror"]) * root
    assert np.abs(wrong).max() < {"glass": 1, "penguins": 1, "vowel": 4}[name] + 0.5
    assert np.abs(wrong).mean() < 2
    for xerror, xstd in ((table["xerror"], table["xstd"]), (result.table["xerror"], result.table["xstd"])):
        wrong = xerror * root
        np.testing.assert_allclose(xstd, np.sqrt(wrong - wrong**2 / m) / root, rtol=1e-9)


# ---------------------------------------------------------------------------------------------------
# Risks


def test_links_and_objective_are_their_definitions():
    for seed in range(30):
        shape = grown(seed)
        left, right = shape.left, shape.right
        for criterion in ("gini", "entropy", "misclassification", lambda p: np.sqrt(p).sum(axis=1) - 1):
            risks = np.asarray(shape.counts).sum(axis=1) * impurity(shape.counts, criterion)

            def leaves(n, left=left, right=right):
                return [n] if left[n] < 0 else [*leaves(left[n]), *leaves(right[n])]

            result = pruning.links(shape, criterion)
            for n in range(len(left)):
                if left[n] < 0:
                    assert np.isnan(result[n])
                    continue
                below = leaves(n)
                ratio = (risks[n] - risks[below].sum()) / (len(below) - 1)
                assert result[n] == pytest.approx(ratio, abs=1e-9)
            path = sequence(shape, criterion)
            assert path.leaves[-1] == 1
            assert (np.diff(path.risks) >= -1e-9).all()


def test_costs_are_pruned_by():
    costs = [[0, 1, 9], [1, 0, 1], [2, 4, 0]]
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=150) < 0.3, rng.integers(3, size=150), y)
    model = DecisionTree(cost=costs).fit(X, y)
    own = model.tree_
    for exact in (False, True):
        path = sequence(model, "misclassification", exact=exact)
        risks = (own.counts @ np.array(costs)).min(axis=1)
        assert float(path.risks[-1]) == risks[0]
        for i in (0, len(path) // 2):
            pruned = own.restricted(path.kept(i))
            leaves = (pruned.counts[pruned.leaves] @ np.array(costs)).min(axis=1)
            assert float(path.risks[i]) == pytest.approx(leaves.sum())
    # whole counts and costs in both ways of computing: the same penalties, and as many
    one, two = (sequence(model, "misclassification", exact=exact) for exact in (False, True))
    np.testing.assert_allclose(one.penalties, [float(a) for a in two.penalties])
    other = sequence(model, "misclassification", cost=1 - np.eye(3))
    assert other.risks[-1] == 150 - np.bincount(y).max()


def test_penalties_that_differ_by_rounding_are_one():
    X, y = load_iris(return_X_y=True)
    one = DecisionTree().fit(X, y, np.full(150, 3.0))
    odd = DecisionTree().fit(X, y, np.full(150, 3 * 0.1))
    for criterion in ("gini", "entropy", "misclassification"):
        whole, real = sequence(one, criterion), sequence(odd, criterion)
        assert real.leaves.tolist() == whole.leaves.tolist()
        np.testing.assert_allclose(real.penalties, whole.penalties / 10, atol=1e-9)


@pytest.mark.parametrize("questions", ["numerical", "sphere"])
def test_a_pruned_tree_predicts(questions):
    X, y = make_moons(150, noise=0.3, random_state=0)
    model = DecisionTree(questions=questions, max_depth=5).fit(X, y)
    path = sequence(model, "misclassification")
    for i in range(len(path)):
        pruned = prune(model, path.penalties[i], "misclassification")
        own = pruned.tree_
        assert own.n_leaves == pruned.get_n_leaves() == path.leaves[i]
        assert (pruned.predict(X) != y).sum() == path.risks[i]
        np.testing.assert_array_equal(np.bincount(pruned.apply(X), minlength=own.n_nodes)[own.leaves],
                                      own.items[own.leaves])  # fmt: skip
        inner = np.flatnonzero(~own.is_leaf)
        np.testing.assert_array_equal(own.right[inner], own.left[inner] + 1)
        np.testing.assert_array_equal(own.parent[own.left[inner]], inner)
        assert [q is None for q in own.questions] == own.is_leaf.tolist()
        assert (own.decrease[own.is_leaf] == 0).all()
    assert model.get_n_leaves() == path.start_leaves
    assert model.text() == DecisionTree(questions=questions, max_depth=5).fit(X, y).text()


# ---------------------------------------------------------------------------------------------------
# Cross-validation


def by_hand(X, y, folds, criterion, alphas, root):
    """Errors on the folds, each by a tree pruned on its own."""
    penalties = np.r_[np.inf, np.sqrt(alphas[1:] * alphas[:-1])] / root
    wrong = np.zeros((len(y), len(penalties)))
    for fold in np.unique(folds):
        inside = folds != fold
        model = DecisionTree().fit(X[inside], y[inside])
        part = sequence(model, criterion).risks[-1]
        for i, penalty in enumerate(penalties):
            pruned = prune(model, penalty * part if np.isfinite(penalty) else 1e9, criterion)
            wrong[~inside, i] = pruned.predict(X[~inside]) != y[~inside]
    return wrong


@pytest.mark.parametrize("criterion", ["misclassification", None])
@pytest.mark.compiler
def test_cross_validation_by_hand(criterion):
    X, y = make_moons(160, noise=0.35, random_state=1)
    y = np.array(["low", "high"])[y]
    folds = np.arange(160) % 5
    result = prune_cv(DecisionTree(), X, y, cv=folds, criterion=criterion)
    table, path = result.table, result.sequence
    root = path.risks[-1]
    wrong = by_hand(X, y, folds, criterion, path.penalties[::-1], root)
    np.testing.assert_array_equal(result.errors, wrong)
    mistakes = min((y == c).sum() for c in ("low", "high"))
    np.testing.assert_allclose(table["xerror"], wrong.sum(axis=0) / mistakes)
    spread = wrong.std(axis=0) * np.sqrt(160) / mistakes
    np.testing.assert_allclose(table["xstd"], spread)
    np.testing.assert_array_equal(table["nsplit"], path.leaves[::-1] - 1)
    np.testing.assert_allclose(table["cp"] * root, table["penalty"])
    # the smallest tree within one standard error
    best = int(np.flatnonzero(table["xerror"] == table["xerror"].min())[0])
    within = np.flatnonzero(table["xerror"] <= table["xerror"][best] + table["xstd"][best])
    assert (result.best, result.chosen) == (best, int(within[0]))
    assert result.penalty == table["penalty"][result.chosen]
    full = DecisionTree().fit(X, y)
    assert result.tree.text() == prune(full, result.penalty, criterion).text()
    least = prune_cv(DecisionTree(), X, y, cv=folds, criterion=criterion, rule="min")
    assert least.chosen == best
    assert least.tree.get_n_leaves() == table["nsplit"][best] + 1
    # splitters, and folds at the same time
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    one, two = (prune_cv(DecisionTree(), X, y, cv=splitter, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.errors, two.errors)
    lines = str(result).splitlines()
    assert len(lines) == len(table) + 1
    assert lines[0].split() == ["CP", "nsplit", "rel", "error", "xerror", "xstd"]
    assert [line[0] for line in lines].index("*") == result.chosen + 1


def test_cross_validation_with_weights_and_costs():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=150) < 0.3, rng.integers(3, size=150), y)
    folds = np.arange(150) % 5
    weights = rng.integers(1, 4, size=150)
    rows = np.repeat(np.arange(150), weights)
    one = prune_cv(DecisionTree(), X, y, cv=folds, sample_weight=weights)
    two = prune_cv(DecisionTree(), X[rows], y[rows], cv=folds[rows])
    for name in one.table.dtype.names:
        np.testing.assert_allclose(one.table[name], two.table[name], err_msg=name)
    costs = np.array([[0, 1, 9], [1, 0, 1], [2, 4, 0]])
    result = prune_cv(DecisionTree(cost=costs), X, y, cv=folds)
    assert set(np.unique(result.errors)) <= set(np.unique(costs))
    start = (np.bincount(y) @ costs).min()
    np.testing.assert_allclose(result.table["xerror"], result.errors.sum(axis=0) / start)
    by_class = prune_cv(DecisionTree(class_weight={0: 2, 1: 1, 2: 1}), X, y, cv=folds)
    by_item = prune_cv(DecisionTree(), X, y, cv=folds, sample_weight=1 + (y == 0))
    np.testing.assert_allclose(by_class.table["xerror"], by_item.table["xerror"])


# ---------------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.parametrize(
    ("left", "right", "counts", "message"),
    [
        ("a", None, 3, "left must have an integer for each node"),
        (
            [1.5, -1, -1],
            [2, -1, -1],
            [[1], [1], [0]],
            "an integer for each node, found float64",
        ),
        ([1, -1, -1], None, [[1], [1], [0]], "right must have an integer for each node, found object"),
        ([1, -1, -1], [2, -1], [[1], [1], [0]], "an entry for each node"),
        ([1, -1, -1], [-1, -1, -1], [[1], [1], [0]], "two children or none"),
        ([1, -1, -1], [1, -1, -1], [[1], [1], [0]], "every node but the root once"),
        ([1, -1, -1], [2, -1, -1], [[1, 1], [2, 0], [0, -1]], "counts must be at least 0, found -1"),
        ([1, -1, -1], [2, -1, -1], [[1, 1], [2, 0], [0, 1]], "the sum of its children's"),
        ([-1], [-1], [[np.nan, 1.0]], "counts must be finite, found nan"),
        ([-1], [-1], [[1j, 1.0]], "counts must be real numbers, found dtype complex128"),
        ([-1], [-1], [["a"]], "counts must be real numbers"),
    ],
)
def test_a_shape_is_a_tree(left, right, counts, message):
    with pytest.raises(ValueError, match=message):
        Shape(left, right, counts)


def test_bad_trees_are_refused():
    good = Shape([1, -1, -1], [2, -1, -1], [[1, 1], [1, 0], [0, 1]])
    for bad, message in [
        (DecisionTreeRegressor().fit([[0.0], [1.0]], [0, 1]), "found DecisionTreeRegressor"),
        (DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]]), "one output"),
    ]:
        with pytest.raises(ValueError, match=message):
            sequence(bad)
    with pytest.raises(ValueError, match="penalty must be at least 0, found -1"):
        prune(good, -1)
    with pytest.raises(ValueError, match="penalty must be at least 0, found nan"):
        sequence(good).at(float("nan"))
    with pytest.raises(ValueError, match="i must be an integer from -2 to 1, found 2"):
        sequence(good).kept(2)
    with pytest.raises(ValueError, match="criterion must be one of"):
        sequence(good, "deviance")
    with pytest.raises(ValueError, match="exact risks exist for"):
        sequence(good, "entropy", exact=True)
    with pytest.raises(ValueError, match="whole numbers"):
        sequence(Shape([-1], [-1], [[0.5, 1]]), exact=True)
    with pytest.raises(ValueError, match="cost has shape"):
        sequence(good, cost=1 - np.eye(3))
    for kept in ([True], [False, True, True], [True, True, False]):
        with pytest.raises(ValueError, match="kept"):
            pruning.links(good, kept=kept)


def test_weights_of_any_size_and_a_column_of_labels():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=150)
    plain = prune_cv(DecisionTree(), X, y, sample_weight=weights).table
    for unit in (1e-300, 1e300):
        table = prune_cv(DecisionTree(), X, y, sample_weight=weights * unit).table
        for name in ("cp", "nsplit", "rel_error", "xerror"):
            np.testing.assert_allclose(table[name], plain[name], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(table["penalty"], plain["penalty"] * unit, rtol=1e-9)
        # as with more or fewer items
        np.testing.assert_allclose(table["xstd"], plain["xstd"] / np.sqrt(unit), rtol=1e-9)
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        column = prune_cv(DecisionTree(), X, y[:, None], sample_weight=weights)
    assert column.table.tolist() == plain.tolist()


def test_a_training_part_may_have_no_weight_of_a_class():
    X, y = load_iris(return_X_y=True)
    fold = np.arange(150) % 5
    weights = np.where((y == 0) & (fold != 0), 0, 1)
    result = prune_cv(DecisionTree(), X, y, cv=fold, sample_weight=weights)
    assert (result.errors[(fold == 0) & (y == 0)] == 1).all()
    without = prune_cv(DecisionTree(), X[weights > 0], y[weights > 0], cv=fold[weights > 0])
    np.testing.assert_array_equal(result.errors[weights > 0], without.errors)


def test_bad_cross_validation_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="estimator must be a DecisionTree, found DecisionTreeClassifier"):
        prune_cv(DecisionTreeClassifier(), X, y)
    with pytest.raises(ValueError, match="rule must be one of '1se', 'min', found '2se'"):
        prune_cv(DecisionTree(), X, y, rule="2se")
    with pytest.raises(ValueError, match="number of a fold for each of 150 items"):
        prune_cv(DecisionTree(), X, y, cv=[0, 1])
    some = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(50, 100))]
    with pytest.raises(ValueError, match="every item once, it never leaves out 50 of 150"):
        prune_cv(DecisionTree(), X, y, cv=some)
    with pytest.raises(ValueError, match="every class in every training part"):
        prune_cv(DecisionTree(cost=1 - np.eye(3)), X, y, cv=y)
