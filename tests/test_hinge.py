"""Hinges of k classes: by the definition, by finite differences, and inequalities with their equalities."""

import warnings
from itertools import product

import cvxopt
import numpy as np
import pytest
from cvxopt import solvers
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from mcutils import hinge, loss
from mcutils.binary import hinge_objective
from mcutils.hinge import ClassMap, HingeProblem
from mcutils.margin import predict
from mcutils.risk import costs_from_tree

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11)

TREE = {"cat": "animal", "dog": "animal", "car": "thing", "animal": "all", "thing": "all"}
VALUES = {"crammer_singer": hinge.crammer_singer, "weston_watkins": hinge.weston_watkins}
SLOPES = {
    "crammer_singer": hinge.crammer_singer_subgradient,
    "weston_watkins": hinge.weston_watkins_subgradient,
}


@st.composite
def tables(draw):
    """Scores, classes and costs; small integers, so that there are ties, and nothing is rounded."""
    k, m = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    scores = draw(st.lists(st.lists(st.integers(-3, 3), min_size=k, max_size=k), min_size=m, max_size=m))
    y = draw(st.lists(st.integers(0, k - 1), min_size=m, max_size=m))
    if draw(st.booleans()):
        return np.array(scores, dtype=float), np.array(y), None
    cost = draw(st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=k, max_size=k))
    return np.array(scores, dtype=float), np.array(y), np.array(cost) * (1 - np.eye(k))


def by_definition(scores, y, cost):
    """Gaps, both losses and active classes, one entry at a time."""
    gaps, largest, total, active = [], [], [], []
    for f, true in zip(scores, y, strict=True):
        k = len(f)
        row = [(cost[true][r] if cost is not None else float(r != true)) + f[r] - f[true] for r in range(k)]
        gaps.append(row)
        largest.append(max(row))
        total.append(sum(max(0.0, row[r]) for r in range(k) if r != true))
        active.append(true if row[true] == max(row) else row.index(max(row)))
    return gaps, largest, total, active


@given(tables())
def test_values_are_those_of_the_definition(table):
    gaps, largest, total, active = by_definition(*table)
    np.testing.assert_array_equal(hinge.gaps(*table), gaps)
    np.testing.assert_array_equal(hinge.crammer_singer(*table), largest)
    np.testing.assert_array_equal(hinge.weston_watkins(*table), total)
    np.testing.assert_array_equal(hinge.loss_augmented(*table), active)


@given(tables())
def test_the_order_of_the_losses(table):
    k = table[0].shape[1]
    one, all_ = hinge.crammer_singer(*table), hinge.weston_watkins(*table)
    assert (one <= all_).all()
    assert (all_ <= (k - 1) * one).all()
    if k == 2:
        np.testing.assert_array_equal(one, all_)


@given(tables(), st.randoms(use_true_random=False))
def test_both_losses_are_at_least_the_cost_of_every_prediction(table, random):
    scores, y, cost = table
    k = scores.shape[1]
    order = random.sample(range(k), k)
    for tie in ("smallest", "largest", order):
        predicted = predict(scores, tie)
        paid = (1 - np.eye(k) if cost is None else cost)[y, predicted]
        assert (paid <= hinge.crammer_singer(*table)).all()
        assert (paid <= hinge.weston_watkins(*table)).all()


def test_the_order_and_the_bound_are_attained():
    scores = np.zeros((1, 4))
    assert hinge.weston_watkins(scores, [0]) == 3 * hinge.crammer_singer(scores, [0]) == 3
    only = np.array([[0.0, 0.0, -9.0, -9.0]])
    assert (
        hinge.weston_watkins(only, [0]) == hinge.crammer_singer(only, [0]) == 1
    )  # and the prediction costs 1


@given(tables(), st.integers(0, 10**6))
def test_subgradients_satisfy_their_inequality(table, seed):
    scores, y, cost = table
    rng = np.random.default_rng(seed)
    for name, value in VALUES.items():
        slope = SLOPES[name](*table)
        np.testing.assert_array_equal(slope.sum(axis=1), 0)
        assert (np.linalg.norm(slope, axis=1) <= hinge.lipschitz(name, scores.shape[1]) + 1e-12).all()
        for _ in range(5):
            move = rng.integers(-4, 5, size=scores.shape)
            above = value(scores + move, y, cost) - value(*table)
            assert (above >= (slope * move).sum(axis=1)).all()


@pytest.mark.parametrize("name", hinge.HINGES)
@pytest.mark.parametrize("costly", [False, True])
def test_where_the_loss_is_smooth_the_subgradient_is_the_difference_quotient(name, costly):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(50, 4)), rng.integers(4, size=50)
    cost = rng.uniform(size=(4, 4)) * (1 - np.eye(4)) if costly else None
    step = 1e-7
    quotients = np.empty_like(scores)
    for r in range(4):
        move = step * (np.arange(4) == r)
        more, less = (VALUES[name](scores + s * move, y, cost) for s in (1, -1))
        quotients[:, r] = (more - less) / (2 * step)
    np.testing.assert_allclose(quotients, SLOPES[name](scores, y, cost), atol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_lipschitz_constants_hold_and_are_attained(k):
    rng = np.random.default_rng(k)
    f, g, y = rng.normal(size=(200, k)), rng.normal(size=(200, k)), rng.integers(k, size=200)
    for name, value in VALUES.items():
        constant = hinge.lipschitz(name, k)
        assert (
            np.abs(value(f, y) - value(g, y)) <= constant * np.linalg.norm(f - g, axis=1) * (1 + 1e-12)
        ).all()
        # one step against a true class that all others are ahead of, along the subgradient
        start = np.arange(k)[None, :] + 5.0 * (np.arange(k) > 0)
        move = SLOPES[name](start, [0])
        rise = (value(start + move, [0]) - value(start, [0])).item()
        assert rise == pytest.approx(constant * np.linalg.norm(move), rel=1e-12)
        # and no cost matrix helps
        rise = value(start + move, [0], np.zeros((k, k))) - value(start, [0], np.zeros((k, k)))
        assert rise.item() == pytest.approx(constant * np.linalg.norm(move), rel=1e-12)


def test_two_classes_are_the_hinge_of_the_difference_and_half_the_norm():
    """E-M5.3: with rows w/2 and -w/2 the loss is that of the binary SVM, and the penalty half of its."""
    rng = np.random.default_rng(0)
    X, w, y = rng.normal(size=(30, 3)), rng.normal(size=3), rng.integers(2, size=30)
    signs = np.where(y == 0, 1.0, -1.0)
    W = np.stack([w / 2, -w / 2])
    np.testing.assert_allclose(hinge.crammer_singer(X @ W.T, y), loss.hinge(signs * (X @ w)), rtol=1e-12)
    for name in hinge.HINGES:
        both = HingeProblem(y, loss=name, C=0.5).objective(W, X)
        # 1/4 |w|^2 + C sum = 1/2 (1/2 |w|^2 + 2 C sum)
        assert 2 * both == pytest.approx(hinge_objective(X, signs, w, C=1.0), rel=1e-12)


@pytest.mark.parametrize("name", hinge.HINGES)
@pytest.mark.parametrize("mapped", [False, True])
def test_the_objective_and_its_subgradient(name, mapped):
    rng = np.random.default_rng(1)
    class_map = ClassMap(rng.normal(size=(4, 6))) if mapped else None
    X, y, V = rng.normal(size=(20, 3)), rng.integers(4, size=20), rng.normal(size=(6 if mapped else 4, 3))
    cost, weights = rng.uniform(size=(4, 4)) * (1 - np.eye(4)), rng.uniform(size=20)
    task = HingeProblem(y, loss=name, C=0.7, cost=cost, sample_weight=weights)
    scores = class_map.scores(V, X) if mapped else X @ V.T
    expected = 0.5 * (V**2).sum() + 0.7 * sum(weights * VALUES[name](scores, y, cost))
    assert task.objective(V, X, class_map=class_map) == pytest.approx(expected, rel=1e-12)
    slope = task.objective_subgradient(V, X, class_map=class_map)
    for place in product(range(len(V)), range(3)):
        step = np.zeros_like(V)
        step[place] = 1e-6
        more, less = (task.objective(V + s * step, X, class_map=class_map) for s in (1, -1))
        assert (more - less) / 2e-6 == pytest.approx(slope[place], abs=1e-6)
    sparse = csr_array(X)
    assert task.objective(V, sparse, class_map=class_map) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(task.objective_subgradient(V, sparse, class_map=class_map), slope, rtol=1e-12)


@pytest.mark.parametrize("name", hinge.HINGES)
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_the_dual_is_below_and_meets_the_objective(name, mapped, bias):
    rng = np.random.default_rng(2)
    m, k = 12, 3
    class_map = ClassMap.hierarchy(TREE, ["cat", "dog", "car"]) if mapped else None
    X, y = rng.normal(size=(m, 2)), rng.integers(k, size=m)
    cost, weights = costs_from_tree(TREE, ["cat", "dog", "car"]), rng.uniform(0, 2, size=m)
    task = HingeProblem(y, loss=name, C=0.8, cost=cost, sample_weight=weights)
    mapping, penalties = {"class_map": class_map}, 0.8 * weights
    # weak duality for anything feasible
    for _ in range(50):
        A = rng.dirichlet(np.ones(k), size=m) * penalties[:, None]
        V = rng.normal(size=(6 if mapped else k, 2))
        assert task.dual_objective(A, X, **mapping) <= task.objective(V, X, **mapping)
        even = hinge.balanced_multipliers(A, y, cost)
        least = task.dual_objective(even, X, **mapping, fit_intercept=True)
        assert least <= task.objective(V, X, **mapping, intercept=10 * rng.normal(size=k))
    # the textbook's programme: a variable for each example and each class that is not its own
    pairs = [(i, r) for i in range(m) for r in range(k) if r != y[i]]
    B = class_map.matrix if mapped else np.eye(k)
    Z = np.array([np.kron(B[y[i]] - B[r], X[i]) for i, r in pairs])
    due = np.array([cost[y[i], r] for i, r in pairs])
    if name == "crammer_singer":
        upper, limits = np.array([[float(i == j) for i, _ in pairs] for j in range(m)]), penalties
    else:
        upper, limits = np.eye(len(pairs)), np.array([penalties[i] for i, _ in pairs])
    sides = np.vstack([-np.eye(len(pairs)), upper]), np.r_[np.zeros(len(pairs)), limits]
    even = np.array([np.eye(k)[y[i]] - np.eye(k)[r] for i, r in pairs]).T[:-1]  # the last follows
    sides += (even, np.zeros(k - 1)) if bias else ()
    result = solvers.qp(cvxopt.matrix(Z @ Z.T), cvxopt.matrix(-due), *map(cvxopt.matrix, sides))
    A = np.zeros((m, k))
    A[tuple(zip(*pairs, strict=True))] = np.clip(np.array(result["x"])[:, 0], 0, None)
    least = -result["primal objective"]
    assert task.dual_objective(A, X, **mapping, fit_intercept=bias) == pytest.approx(least, rel=1e-7)
    V = (np.array(result["x"])[:, 0] @ Z).reshape(-1, 2)
    b = np.append(np.array(result["y"])[:, 0], 0.0) if bias else None
    assert task.objective(V, X, **mapping, intercept=b) == pytest.approx(least, rel=1e-7)


def test_balanced_multipliers_are_the_best_of_the_scaled():
    """Whatever factors of the pairs: against vertices by hand, and every cycle of three classes."""
    for trial in range(200):
        rng = np.random.default_rng(trial)
        k = int(rng.integers(2, 6))
        m = int(rng.integers(1, 30))
        A, y = rng.exponential(size=(m, k)) * (rng.uniform(size=(m, k)) < 0.6), rng.integers(k, size=m)
        A *= 10.0 ** rng.uniform(-6, 3)
        cost = rng.uniform(size=(k, k)) * (1 - np.eye(k))
        result = hinge.balanced_multipliers(A, y, cost)
        A[np.arange(m), y] = 0
        assert (result >= 0).all()
        assert (result <= A).all()
        flow, kept = np.zeros((k, k)), np.zeros((k, k))
        np.add.at(flow, y, A)
        np.add.at(kept, y, result)
        np.testing.assert_allclose(kept.sum(axis=0), kept.sum(axis=1), atol=1e-11 * (1e-300 + flow.sum()))
        if k == 2:
            np.testing.assert_allclose(kept[0, 1], min(flow[0, 1], flow[1, 0]), rtol=1e-9)
        if k == 3:  # two swaps of each pair are free to choose: what a cycle takes, swaps may not
            values = []
            for around in np.linspace(-1, 1, 2001) * flow.max():
                turn = max(around, 0.0) * np.eye(3)[[1, 2, 0]] + max(-around, 0.0) * np.eye(3)[[2, 0, 1]]
                if (turn <= flow).all():
                    swaps = np.minimum(flow - turn, (flow - turn).T)
                    values.append(((turn + swaps) * cost).sum())
            assert (kept * cost).sum() >= max(values) * (1 - 1e-9)
            assert (kept * cost).sum() <= max(values) + 0.005 * flow.max()
    # what is in balance stays as it is
    A = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.5], [0.5, 0.0, 0.0]])
    np.testing.assert_array_equal(hinge.balanced_multipliers(A, [0, 1, 2]), A)
    np.testing.assert_array_equal(hinge.balanced_multipliers(A[:2], [0, 1]), np.zeros((2, 3)))


def test_the_hinge_sees_the_scale_that_the_zero_one_loss_does_not():
    """E-K.8: on a separable sample the regularised error falls to 0 with the scale, and is never 0."""
    X, y = np.array([[1.0], [-1.0]]), np.array([0, 1])
    W = np.array([[1.0], [-1.0]])
    errors, values = [], []
    for factor in (1.0, 0.5, 0.1, 1e-6, 0.0):
        V = factor * W
        errors.append(0.5 * (V**2).sum() + (predict(X @ V.T) != y).sum())
        values.append(HingeProblem(y).objective(V, X))
    assert errors[0] > errors[1] > errors[2] > errors[3] > 0
    assert errors[4] == 1  # the limit is another matter
    assert values[1] < values[0] < values[2] < values[3]


class TestClassMap:
    def test_scores_are_products_with_the_features(self):
        rng = np.random.default_rng(0)
        for class_map in (
            ClassMap.block(3),
            ClassMap.hierarchy(TREE, ["cat", "dog", "car"]),
            ClassMap(rng.normal(size=(3, 2))),
        ):
            p = class_map.matrix.shape[1]
            V, X = rng.normal(size=(p, 4)), rng.normal(size=(5, 4))
            scores = class_map.scores(V, X)
            np.testing.assert_allclose(scores, class_map.scores(V, csr_array(X)), rtol=1e-12)
            np.testing.assert_allclose(scores, X @ class_map.to_rows(V).T, rtol=1e-12)
            for r in range(3):
                np.testing.assert_array_equal(class_map.features(X[0], r), np.kron(class_map.matrix[r], X[0]))
                result = class_map.features(X, np.full(5, r)) @ V.ravel()
                np.testing.assert_allclose(scores[:, r], result, rtol=1e-9, atol=1e-12)
            for y, r in product(range(3), repeat=2):
                length = np.linalg.norm(class_map.features(X[1], y) - class_map.features(X[1], r))
                assert length == pytest.approx(class_map.distances()[y, r] * np.linalg.norm(X[1]))

    def test_the_constants_of_the_block_map(self):
        apart = ClassMap.block(4).distances()
        np.testing.assert_allclose(apart, np.sqrt(2) * (1 - np.eye(4)))
        assert apart.max() == pytest.approx(hinge.lipschitz("crammer_singer", 4))

    def test_distances_of_a_hierarchy_are_the_edges_between(self):
        for classes in (["cat", "dog", "car"], ["animal", "cat", "car", "all"]):
            apart = ClassMap.hierarchy(TREE, classes).distances() ** 2
            np.testing.assert_allclose(apart, costs_from_tree(TREE, classes, scale=False), atol=1e-12)

    def test_it_cannot_be_changed(self):
        given_ = np.eye(2)
        class_map = ClassMap(given_)
        given_[0, 0] = 7
        assert class_map.matrix[0, 0] == 1
        with pytest.raises(ValueError, match="read-only"):
            class_map.matrix[0, 0] = 7

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: ClassMap([[1.0, 0.0]]), r"at least two classes, found shape \(1, 2\)"),
            (lambda: ClassMap([1.0, 2.0]), r"found shape \(2,\)"),
            (lambda: ClassMap([[1.0], [np.nan]]), "matrix must be finite"),
            (lambda: ClassMap([["a"], ["b"]]), "of type <U1"),
            (
                lambda: ClassMap(np.eye(2), ["one"]),
                "names must name each of the 2 columns of matrix, found 1",
            ),
            (lambda: ClassMap.hierarchy(TREE, ["cat", "cat"]), "must name different concepts"),
            (lambda: ClassMap.hierarchy(TREE, ["cat", "cow"]), "'cow', which is not in the tree"),
            (lambda: ClassMap.hierarchy({"a": "b", "b": "a"}, ["a", "b"]), "found a circle through 'a'"),
            (lambda: ClassMap.block(2).to_rows(np.eye(3)), r"V must be a matrix of 2 rows.* \(3, 3\)"),
            (lambda: ClassMap.block(2).features([1.0], [0]), r"found the shapes \(1,\) and \(1,\)"),
            (lambda: ClassMap.block(2).features([1.0], 2), "integers from 0 to 1, found 2"),
        ],
    )
    def test_what_it_refuses(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()


X3, Y3, W3 = [[1.0], [2.0]], [0, 1], [[1.0], [0.0], [0.0]]
TWO, THREE = HingeProblem(Y3), HingeProblem(Y3, n_classes=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hinge.gaps([[1.0]], [0]), "at least two classes"),
        (
            lambda: THREE.objective(W3, X3, intercept=[1.0]),
            r"each of the 3 classes, found shape \(1,\)",
        ),
        (
            lambda: THREE.objective(W3, X3, intercept=[1.0, np.nan, 0.0]),
            "intercept must be finite",
        ),
        (lambda: hinge.balanced_multipliers([[1.0]], [0]), r"found shape \(1, 1\)"),
        (
            lambda: hinge.balanced_multipliers([[0.0, -1.0]], [0]),
            "multipliers must be finite and not negative",
        ),
        (
            lambda: TWO.dual_objective([[0.0, 1.0], [0.5, 0.0]], X3, fit_intercept=True),
            r"must be balanced with an intercept, .* \[0.5, -0.5\]",
        ),
        (lambda: hinge.gaps([[1.0, 2.0]], [2]), "integers from 0 to 1, found 2"),
        (lambda: hinge.gaps([[1.0, np.inf]], [0]), "scores must be finite"),
        (lambda: hinge.gaps([[1.0, 2.0]], [0], np.zeros((3, 3))), r"2 classes, found shape \(3, 3\)"),
        (lambda: hinge.gaps([[1.0, 2.0]], [0], [[0, 1, 1], [1, 0, 1]]), r"2 classes, found shape \(2, 3\)"),
        (lambda: hinge.gaps([[1.0, 2.0]], [0], [[0, -1], [1, 0]]), "finite and not negative"),
        (lambda: hinge.gaps([[1.0, 2.0]], [0], [[2, 1], [1, 0]]), "a right prediction must be 0"),
        (lambda: hinge.lipschitz("hinge", 3), "'crammer_singer', 'weston_watkins', found 'hinge'"),
        (lambda: hinge.lipschitz("weston_watkins", 1), "k must be an integer, at least 2, found 1"),
        (lambda: HingeProblem(Y3, loss="log").objective(W3, X3), "loss must be one of .* found 'log'"),
        (
            lambda: HingeProblem(Y3, C=0).objective(W3, X3),
            "C must be a positive, finite number, found 0",
        ),
        (
            lambda: HingeProblem([0], n_classes=3).objective(W3, [[1.0, 2.0]]),
            r"the shapes \(3, 1\) and \(1, 2\)",
        ),
        (lambda: HingeProblem([0, 3], n_classes=3), "integers from 0 to 2, found 3"),
        (
            lambda: HingeProblem(Y3, sample_weight=[1.0, -1.0]).objective(W3, X3),
            "sample_weight must be",
        ),
        (lambda: TWO.dual_objective(np.zeros((3, 2)), X3), r"each of the 2 .* shape \(3, 2\)"),
        (
            lambda: TWO.dual_objective([[0, -1], [0, 0]], X3),
            "multipliers must be finite and not neg",
        ),
        (
            lambda: TWO.dual_objective([[0, 2], [0, 0]], X3),
            "its penalty 1 .in sum., found 2 in row 0",
        ),
        (
            lambda: TWO.dual_objective([[0, 1], [0, 0]], X3, class_map=ClassMap.block(3)),
            "class_map must be of the 2 classes of multipliers, found 3",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", hinge.HINGES)
def test_the_least_loss_alone_is_a_linear_programme(name):
    """The objective with a large C against the least sum of losses, by linear programming."""
    rng = np.random.default_rng(5)
    m, k, d = 15, 3, 2
    X, y = rng.normal(size=(m, d)), rng.integers(k, size=m)
    rows, limits = [], []
    slacks = m if name == "crammer_singer" else m * k
    for i, r in product(range(m), range(k)):
        if r != y[i]:
            row = np.zeros(k * d + slacks)
            row[r * d : (r + 1) * d] += X[i]
            row[y[i] * d : (y[i] + 1) * d] -= X[i]
            row[k * d + (i if name == "crammer_singer" else i * k + r)] = -1
            rows.append(row)
            limits.append(-1.0)
    penalty = np.r_[np.zeros(k * d), np.ones(slacks)]
    result = linprog(penalty, np.array(rows), limits, bounds=[(None, None)] * (k * d) + [(0, None)] * slacks)
    W = result.x[: k * d].reshape(k, d)
    assert VALUES[name](X @ W.T, y).sum() == pytest.approx(result.fun, rel=1e-9)


NAN = [[np.nan], [0.0], [1.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: HingeProblem([0, 1, 2]).dual_objective(np.zeros((3, 3)), NAN),
            "^X must be finite, found nan$",
        ),
        (
            lambda: HingeProblem([0, 1, 2]).dual_objective(np.zeros((3, 3)), csr_array(NAN)),
            "^X must be finite, found nan$",
        ),
        (lambda: THREE.objective(W3, csr_array(NAN)), "^X must be finite, found nan$"),
        (lambda: THREE.objective([[np.nan]] * 3, X3), "^W must be finite, found nan$"),
        (
            lambda: THREE.objective([[1j, 0.0]] * 3, X3),
            "^W must be real numbers, found dtype complex128$",
        ),
        (
            lambda: THREE.objective(np.full((3, 1), 1e200), X3),
            "leaves the range of floating point",
        ),
        (
            lambda: HingeProblem(Y3, cost=1j * (1 - np.eye(3))).objective(W3, X3),
            "^cost must be real numbers",
        ),
        (
            lambda: HingeProblem(Y3, sample_weight=[1j] * 2).objective(W3, X3),
            "^sample_weight must be 2 finite numbers, at least 0, found complex128",
        ),
        (
            lambda: HingeProblem([0, 0], n_classes=2).dual_objective([[0.0, 1e-9]] * 2, [[1e200]] * 2),
            "leaves the range of floating point",
        ),
        (
            lambda: HingeProblem([0], n_classes=2).dual_objective([[1j, 0.0]], [[1.0]]),
            "^multipliers must be real numbers",
        ),
        (
            lambda: HingeProblem([0], n_classes=2).dual_objective([[0.0, 0.0]], [[1.0]], fit_intercept="no"),
            "^fit_intercept must be True or False",
        ),
        (lambda: hinge.balanced_multipliers([["a", "b"]], [0]), "^multipliers must be real numbers"),
        (lambda: hinge.lipschitz("crammer_singer", 2.5), "^k must be an integer, at least 2"),
        (lambda: hinge.ClassMap.block(2.5), "^k must be an integer, at least 2"),
        (lambda: hinge.ClassMap.block(2).features([np.nan], 1), "^x must be finite, found nan$"),
        (lambda: hinge.ClassMap.block(2).to_rows([[np.nan], [0.0]]), "^V must be finite, found nan$"),
    ],
)
def test_no_value_is_made_of_what_is_no_number(call, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
            call()
