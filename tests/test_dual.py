"""The dual for k classes: against cvxopt, exact fractions, the binary SVM, and definitions by entries."""

from fractions import Fraction as Q

import cvxopt
import numpy as np
import pytest
from cvxopt import solvers
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from mcutils import binary, dual, hinge, kernel
from mcutils.hinge import HingeProblem

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11)

LOSSES = hinge.HINGES
FIVE = [[-1, -1], [1, -1], [0, 1], [0, 2], [0, 99]]
FIVE_Y = [0, 1, 2, 2, 2]
# (loss, C): multipliers in units of their denominator, the optimal rows of W, the optimum
BY_HAND = {
    (loss, Q(1)): (
        [[0, Q(1, 4), 0], [Q(1, 4), 0, 0], [Q(1, 3), Q(1, 3), 0], [0, 0, 0], [0, 0, 0]],
        [[Q(-1, 2), Q(-1, 3)], [Q(1, 2), Q(-1, 3)], [0, Q(2, 3)]],
        Q(7, 12),
    )
    for loss in LOSSES
} | {
    ("crammer_singer", Q(1, 4)): (
        [[0, Q(1, 4), 0], [Q(1, 4), 0, 0], [Q(1, 8), Q(1, 8), 0], [Q(1, 48), Q(1, 48), 0], [0, 0, 0]],
        [[Q(-1, 2), Q(-1, 6)], [Q(1, 2), Q(-1, 6)], [0, Q(1, 3)]],
        Q(11, 24),
    ),
    ("weston_watkins", Q(1, 4)): (
        [[0, Q(1, 4), 0], [Q(1, 4), 0, 0], [Q(1, 4), Q(1, 4), 0], [0, 0, 0], [0, 0, 0]],
        [[Q(-1, 2), Q(-1, 4)], [Q(1, 2), Q(-1, 4)], [0, Q(1, 2)]],
        Q(9, 16),
    ),
}


def exactly(alpha, X, y, C, loss):
    """W, P, D, and the largest of all violations of the conditions, of rational numbers, by the formulas."""
    m, k, d = len(X), len(alpha[0]), len(X[0])
    W = [
        [sum((sum(alpha[i]) if y[i] == r else -alpha[i][r]) * Q(X[i][j]) for i in range(m)) for j in range(d)]
        for r in range(k)
    ]
    half = sum(w * w for row in W for w in row) / 2
    paid, linear, worst = Q(0), sum(map(sum, alpha)), Q(0)
    for i in range(m):
        s = [sum(w * v for w, v in zip(row, X[i], strict=True)) for row in W]
        gaps = {r: 1 + s[r] - s[y[i]] for r in range(k) if r != y[i]}
        if loss == "crammer_singer":
            slack = {r: max(0, *gaps.values()) for r in gaps}
            spare = {0: C - sum(alpha[i])}
            paid += C * max(slack.values())
        else:
            slack = {r: max(Q(0), g) for r, g in gaps.items()}
            spare = {r: C - alpha[i][r] for r in gaps}
            paid += C * sum(slack.values())
        worst = max([worst, *(-a for a in alpha[i]), *(-s for s in spare.values())])
        worst = max([worst, *(alpha[i][r] * (slack[r] - gaps[r]) for r in gaps)])
        some = max(slack.values())
        worst = max(
            [worst, *(s * (some if loss == "crammer_singer" else slack[r]) for r, s in spare.items())]
        )
    return W, half + paid, linear - half, worst


@pytest.mark.parametrize(("loss", "C"), BY_HAND)
def test_five_points_by_hand_exactly(loss, C):
    alpha, W, optimum = BY_HAND[loss, C]
    assert exactly(alpha, FIVE, FIVE_Y, C, loss) == (W, optimum, optimum, 0)


@pytest.mark.parametrize(("loss", "C"), BY_HAND)
def test_five_points_by_hand_as_computed(loss, C):
    alpha, W, optimum = BY_HAND[loss, C]
    X = np.array(FIVE, dtype=float)
    table, gram = np.array(alpha, dtype=float), X @ X.T
    np.testing.assert_allclose(dual.coefficients(table, FIVE_Y).T @ X, np.array(W, dtype=float), atol=1e-15)
    result = dual.certify(table, gram, HingeProblem(FIVE_Y, loss=loss, C=float(C)), n_iter=3)
    assert result.primal == pytest.approx(float(optimum), rel=1e-12)
    assert result.dual == pytest.approx(float(optimum), rel=1e-12)
    assert max(result.kkt.values()) < 1e-13
    assert result.n_iter == 3
    assert optimal(gram, FIVE_Y, loss=loss, C=float(C))[1] == pytest.approx(float(optimum), rel=1e-8)


def test_multipliers_are_not_unique_and_the_classifier_is():
    """C = 1/4: what (0, 1) puts on class 0 instead of 1, half of it (0, 2) puts on class 1."""
    alpha, W, optimum = BY_HAND["crammer_singer", Q(1, 4)]
    t = Q(1, 24)
    other = [row[:] for row in alpha]
    other[2] = [Q(1, 8) + t, Q(1, 8) - t, 0]
    other[3] = [Q(1, 48) - t / 2, Q(1, 48) + t / 2, 0]
    assert exactly(other, FIVE, FIVE_Y, Q(1, 4), "crammer_singer") == (W, optimum, optimum, 0)
    gram = np.array(FIVE) @ np.array(FIVE).T
    one, two = (
        dual.support(np.array(table, dtype=float), gram, HingeProblem(FIVE_Y, C=0.25), tol=1e-9)
        for table in (alpha, other)
    )
    assert one.of_class(0).tolist() == [0, 1, 2, 3]
    assert two.of_class(0).tolist() == [0, 1, 2]


# ---------------------------------------------------------------------------------------------------


def sample(seed):
    """A problem, some with costs, weights (some 0), empty classes, repeated inputs."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(3, 14)), int(rng.integers(2, 5))
    X = np.round(rng.normal(size=(m, 2)), 1)
    if seed % 3 == 0:
        X[1] = X[0]
    y = rng.integers(0, k - (seed % 4 == 0 and k > 2), size=m)
    gram = (X @ X.T, np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2)))[seed % 2]
    setting = {"C": float(10.0 ** rng.integers(-2, 3))}
    if seed % 5 == 0:
        setting["cost"] = rng.integers(0, 4, size=(k, k)) * (1 - np.eye(k))
    if seed % 7 == 0:
        setting["sample_weight"] = rng.integers(0, 3, size=m) + (np.arange(m) < 2)
    return X, gram, y, k, setting


def optimal(gram, y, n_classes=None, **setting):
    program = dual.quadratic_program(gram, HingeProblem(y, n_classes=n_classes, **setting))
    parts = (program.P, program.q, program.G, program.h, program.A, program.b)
    result = solvers.qp(*map(cvxopt.matrix, parts))
    assert result["status"] == "optimal"
    return program.multipliers(np.array(result["x"])), -result["primal objective"]


def primal_by_cvxopt(gram, y, k, loss, C, cost=None, sample_weight=None):
    """The primal in explicit features, a root of the Gram matrix, with its slack."""
    m = len(y)
    penalties = C * (np.ones(m) if sample_weight is None else np.asarray(sample_weight, dtype=float))
    costs = 1 - np.eye(k) if cost is None else np.asarray(cost)
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-9 * values.max()
    features = vectors[:, kept] * np.sqrt(values[kept])
    d = kept.sum()
    pairs = [(i, r) for i in range(m) for r in range(k) if r != y[i]]
    n_slack = m if loss == "crammer_singer" else len(pairs)
    H = np.diag(np.r_[np.ones(k * d), np.zeros(n_slack)])
    G, h = np.zeros((len(pairs) + n_slack, len(H))), np.zeros(len(pairs) + n_slack)
    for n, (i, r) in enumerate(pairs):
        G[n, r * d : (r + 1) * d] += features[i]
        G[n, y[i] * d : (y[i] + 1) * d] -= features[i]
        G[n, k * d + (i if loss == "crammer_singer" else n)] = -1
        h[n] = -costs[y[i], r]
    G[len(pairs) :, k * d :] = -np.eye(n_slack)
    q = np.r_[np.zeros(k * d), penalties if loss == "crammer_singer" else [penalties[i] for i, _ in pairs]]
    return solvers.qp(*map(cvxopt.matrix, (H, q, G, h)))["primal objective"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(14))
def test_the_program_has_the_value_of_the_primal(seed, loss):
    _X, gram, y, k, setting = sample(seed)
    setting["C"] = min(setting["C"], 10.0)
    positive = dict(setting)
    if "sample_weight" in setting:  # cvxopt needs an interior
        positive["sample_weight"] = np.maximum(setting["sample_weight"], 0.25)
    table, value = optimal(gram, y, n_classes=k, loss=loss, **positive)
    given = dual.feasible(table, HingeProblem(y, loss=loss, n_classes=k, **positive))
    result = dual.certify(given, gram, HingeProblem(y, loss=loss, n_classes=k, **positive))
    assert result.certifies(1e-6)
    scale = max(1.0, abs(value))
    assert result.dual == pytest.approx(value, abs=1e-7 * scale)
    assert result.primal == pytest.approx(primal_by_cvxopt(gram, y, k, loss, **positive), abs=1e-5 * scale)
    # the column of the true class is the sum of the others
    table[np.arange(len(y)), y] -= given.sum(axis=1)
    assert np.abs(table[np.arange(len(y)), y]).max() < 1e-6 * setting["C"] * k * 3


@pytest.mark.parametrize("seed", [1, 3, 4, 13, 15, 21, 37])
def test_a_gram_matrix_of_low_rank_does_not_stop_the_solver(seed):
    """Without a bound for each unknown cvxopt met a singular system, with Weston and Watkins and rank 3."""
    rng = np.random.default_rng(seed)
    for trial in range(6):
        k = 2 + trial % 3
        X, y = rng.normal(size=(10, 3)), np.arange(10) % k
        C = 10.0 ** rng.integers(-2, 2)
        table, _ = optimal(X @ X.T, y, loss="weston_watkins", C=C)
        table = dual.feasible(table, HingeProblem(y, loss="weston_watkins", C=C))
        assert dual.certify(table, X @ X.T, HingeProblem(y, loss="weston_watkins", C=C)).certifies(1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(21))
def test_values_are_those_of_hinge(seed, loss):
    X, gram, y, k, setting = sample(seed)
    gram = X @ X.T
    rng = np.random.default_rng(seed)
    table = dual.feasible(
        rng.normal(size=(len(y), k)) * setting["C"],
        HingeProblem(y, loss=loss, n_classes=k, **setting),
    )
    W = dual.coefficients(table, y).T @ X
    P, D = (
        HingeProblem(y, loss=loss, n_classes=k, **setting).objective(W, X),
        HingeProblem(y, loss=loss, n_classes=k, **setting).dual_objective(table, X),
    )
    assert dual.primal_value(
        table, gram, HingeProblem(y, loss=loss, n_classes=k, **setting)
    ) == pytest.approx(P, rel=1e-12)
    assert dual.dual_value(table, gram, HingeProblem(y, loss=loss, n_classes=k, **setting)) == pytest.approx(
        D, rel=1e-12, abs=1e-12
    )
    terms = dual.gap_terms(table, gram, HingeProblem(y, loss=loss, n_classes=k, **setting))
    assert terms.sum() == pytest.approx(P - D, rel=1e-9, abs=1e-12)
    assert terms.min() >= -1e-12 * max(1.0, P)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(8))
def test_the_program_is_minus_the_dual_value(seed, loss):
    _X, gram, y, k, setting = sample(seed)
    rng = np.random.default_rng(seed)
    program = dual.quadratic_program(gram, HingeProblem(y, loss=loss, n_classes=k, **setting))
    table = dual.feasible(
        rng.random((len(y), k)),
        HingeProblem(y, loss=loss, n_classes=k, **setting),
    )
    D = dual.dual_value(table, gram, HingeProblem(y, loss=loss, n_classes=k, **setting))
    full = table.copy()
    full[np.arange(len(y)), y] = table.sum(axis=1)
    u = full.T.ravel()
    assert u @ program.P @ u / 2 + program.q @ u == pytest.approx(-D, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(program.A @ u, program.b, atol=1e-12)
    assert (program.G @ u <= program.h + 1e-12).all()
    np.testing.assert_array_equal(program.multipliers(u), full)
    # the program's gradient by its matrices, and by differences of the dual value
    step = 1e-6 * setting["C"]
    inner = table * 0.5 + step
    inner[np.arange(len(y)), y] = 0
    slope = np.zeros_like(table)
    for i, r in zip(*np.nonzero(inner), strict=True):
        ahead, behind = inner.copy(), inner.copy()
        ahead[i, r] += step
        behind[i, r] -= step
        loose = setting | {"C": setting["C"] * 10}
        if "sample_weight" in loose:
            loose["sample_weight"] = np.ones(len(y))
        slope[i, r] = dual.dual_value(ahead, gram, HingeProblem(y, loss=loss, n_classes=k, **loose))
        slope[i, r] -= dual.dual_value(behind, gram, HingeProblem(y, loss=loss, n_classes=k, **loose))
        slope[i, r] /= 2 * step
    scores = gram @ dual.coefficients(inner, y)
    gaps = hinge.gaps(scores, y, setting.get("cost"))
    np.testing.assert_allclose(
        slope[inner > 0], gaps[inner > 0], rtol=1e-5, atol=1e-6 * max(1, np.abs(gaps).max())
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_two_classes_are_the_binary_classifier_of_twice_the_penalty(C, loss):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=40) > 0).astype(int)
    gram = kernel.rbf(0.8).gram(X)
    signs = np.where(y == 1, 1.0, -1.0)
    peer = binary.solve_svm(gram, signs, C=2 * C, fit_intercept=False, tol=1e-10)
    table = np.zeros((40, 2))
    table[np.arange(40), 1 - y] = peer.alpha / 2
    result = dual.certify(table, gram, HingeProblem(y, loss=loss, C=C))
    assert result.primal == pytest.approx(peer.certificate.primal / 2, rel=1e-9)
    assert result.dual == pytest.approx(peer.certificate.dual / 2, rel=1e-9)
    assert result.certifies(1e-8)
    kinds = dual.support(table, gram, HingeProblem(y, loss=loss, C=C)).kinds
    np.testing.assert_array_equal(
        np.where(kinds == "margin", "free", kinds), np.column_stack([peer.kinds] * 2)
    )


def test_two_classes_with_a_regularised_bias_are_liblinear_s():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=50) > 0).astype(int)
    gram = X @ X.T + 1
    table, value = optimal(gram, y, C=0.5)
    result = dual.certify(dual.feasible(table, HingeProblem(y, C=0.5)), gram, HingeProblem(y, C=0.5))
    assert result.dual == pytest.approx(value, rel=1e-8)
    assert result.certifies(1e-8)
    peer = LinearSVC(loss="hinge", C=1.0, tol=1e-10, max_iter=1_000_000).fit(X, y)
    w = np.append(peer.coef_, peer.intercept_)
    paid = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ peer.coef_[0] + peer.intercept_)).sum()
    assert (w @ w / 2 + paid) / 2 == pytest.approx(result.primal, rel=1e-6)


def test_one_class_is_a_sample_too():
    """Errata E-L7.12: the dual is solved by hand for one example of one class."""
    # one example, K = 1, k = 3: alpha = (a, a), D = 2a - (4 + 1 + 1) a^2 / 2, largest at a = 1/3
    table, value = optimal([[1.0]], [0], n_classes=3)
    assert value == pytest.approx(1 / 3, rel=1e-8)
    np.testing.assert_allclose(table, [[2 / 3, 1 / 3, 1 / 3]], atol=1e-6)
    result = dual.certify([[0, 1 / 3, 1 / 3]], [[1.0]], [0])
    assert (result.primal, result.dual) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_zero_multipliers_and_a_zero_kernel():
    for loss in LOSSES:
        each = 1.0 if loss == "crammer_singer" else 2.0
        result = dual.certify(
            np.zeros((2, 3)), np.eye(2), HingeProblem([0, 2], C=0.5, loss=loss, n_classes=3)
        )
        assert (result.primal, result.dual) == (each, 0.0)
        full = dual.feasible(np.ones((2, 3)), HingeProblem([0, 2], C=0.5, loss=loss, n_classes=3))
        result = dual.certify(full, np.zeros((2, 2)), HingeProblem([0, 2], C=0.5, loss=loss, n_classes=3))
        assert (result.primal, result.dual) == (each, each)  # nothing can be learned, and that is optimal
        assert max(result.kkt.values()) == 0
    # no cost at all: f = 0 pays nothing
    result = dual.certify(np.zeros((2, 2)), np.eye(2), HingeProblem([0, 1], cost=np.zeros((2, 2))))
    assert (result.primal, result.dual, max(result.kkt.values())) == (0.0, 0.0, 0.0)


# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(12))
def test_residuals_are_the_conditions(seed, loss):
    """Each residual by its definition, entry by entry, of a classifier that meets none of the conditions."""
    _X, gram, y, k, setting = sample(seed)
    rng = np.random.default_rng(100 + seed)
    m = len(y)
    table, beta = rng.normal(size=(m, k)), rng.normal(size=(m, k))
    slack = rng.normal(size=m if loss == "crammer_singer" else (m, k))
    result = dual.kkt(table, gram, HingeProblem(y, loss=loss, n_classes=k, **setting), beta=beta, slack=slack)
    penalties = setting["C"] * np.asarray(setting.get("sample_weight", np.ones(m)))
    costs = setting.get("cost", 1 - np.eye(k))
    scores = gram @ beta
    primal, below, products = [0.0], [0.0], [0.0]
    for i in range(m):
        others = [r for r in range(k) if r != y[i]]
        for r in others:
            xi = slack[i] if loss == "crammer_singer" else slack[i, r]
            g = costs[y[i], r] + scores[i, r] - scores[i, y[i]]
            primal += [g - xi, -xi]
            below.append(-table[i, r])
            products.append(abs(table[i, r] * (xi - g)))
            if loss == "weston_watkins":
                mu = penalties[i] - table[i, r]
                below.append(-mu)
                products.append(abs(mu * xi))
        if loss == "crammer_singer":
            mu = penalties[i] - sum(table[i, r] for r in others)
            below.append(-mu)
            products.append(abs(mu * slack[i]))
    cost, penalty = max(costs.max(), 0) or 1, penalties.max()
    assert result["primal"] == pytest.approx(max(primal) / cost)
    assert result["dual"] == pytest.approx(max(below) / penalty)
    assert result["complementarity"] == pytest.approx(max(products) / (penalty * cost))
    # stationarity in the coordinates of a square root of the Gram matrix
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0))
    made = np.array(
        [[table[i].sum() - table[i, y[i]] if y[i] == r else -table[i, r] for r in range(k)] for i in range(m)]
    )
    distance, norm = np.linalg.norm(root.T @ (beta - made)), np.linalg.norm(root.T @ beta)
    assert result["stationarity"] == pytest.approx(distance / max(1, norm))


@pytest.mark.parametrize("loss", LOSSES)
def test_each_condition_is_needed(loss):
    """An optimum, and one thing at a time wrong: the residual of that name shows it."""
    alpha, _, _ = BY_HAND[loss, Q(1, 4)]
    X = np.array(FIVE, dtype=float)
    table, gram = np.array(alpha, dtype=float), X @ X.T
    beta = dual.coefficients(table, FIVE_Y)
    scores = gram @ beta
    gaps = hinge.gaps(scores, FIVE_Y)
    slack = gaps.max(axis=1) if loss == "crammer_singer" else np.maximum(gaps, 0)

    def result(table=table, beta=beta, slack=slack):
        return dual.kkt(table, gram, HingeProblem(FIVE_Y, loss=loss, C=0.25), beta=beta, slack=slack)

    assert max(result().values()) < 1e-14
    assert result(slack=slack - 0.1)["primal"] == pytest.approx(0.1)
    assert result(slack=slack + 0.1)["primal"] == 0
    assert result(slack=slack + 0.1)["complementarity"] > 0.05
    assert result(beta=-beta)["stationarity"] == pytest.approx(2 * np.sqrt(np.vdot(beta, scores)))
    more = table.copy()
    more[4, 0] = -0.05
    assert result(table=more)["dual"] == pytest.approx(0.2)
    more[4, 0] = 0.3
    assert result(table=more)["dual"] == pytest.approx(0.2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(9))
def test_support_types_by_definition(seed, loss):
    _X, gram, y, k, setting = sample(3 * seed + 1)
    setting.pop("sample_weight", None)
    table, _ = optimal(gram, y, n_classes=k, loss=loss, **setting)
    C, tol = setting["C"], 1e-4
    table = dual.feasible(table, HingeProblem(y, loss=loss, C=C, n_classes=k))
    result = dual.support(table, gram, HingeProblem(y, loss=loss, n_classes=k, **setting), tol=tol)
    table[table <= tol * C] = 0
    scores = gram @ dual.coefficients(table, y)
    for i in range(len(y)):
        others = [r for r in range(k) if r != y[i]]
        full = {r: table[i, r] >= (1 - tol) * C for r in others}
        if loss == "crammer_singer":
            full = dict.fromkeys(others, table[i].sum() >= (1 - tol) * C)
        kinds = {r: "none" if table[i, r] == 0 else "bound" if full[r] else "margin" for r in others}
        whole = "bound" if "bound" in kinds.values() else "margin" if "margin" in kinds.values() else "none"
        assert result.kinds[i].tolist() == [kinds.get(r, whole) for r in range(k)]
        assert result.misclassified[i] == (max(scores[i, r] for r in others) >= scores[i, y[i]])
    for r in range(k):
        assert result.of_class(r).tolist() == [i for i in range(len(y)) if result.kinds[i, r] != "none"]


def test_a_tie_is_misclassified_and_slack_is_seen():
    result = dual.support(np.zeros((2, 2)), np.eye(2), [0, 1])
    assert result.misclassified.all()
    assert result.outliers.all()
    assert (result.kinds == "none").all()


@given(st.integers(0, 10_000))
def test_feasible_multipliers_stay_and_others_come_in(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=4)
    weight = rng.integers(0, 3, size=4)
    table = rng.normal(size=(4, 3))
    for loss in LOSSES:
        result = dual.feasible(table, HingeProblem(y, loss=loss, C=0.5, sample_weight=weight, n_classes=3))
        used = result.sum(axis=1) if loss == "crammer_singer" else result.max(axis=1)
        assert result.min() >= 0
        assert (used <= 0.5 * weight * (1 + 1e-15)).all()
        assert (result[np.arange(4), y] == 0).all()
        again = dual.feasible(result, HingeProblem(y, loss=loss, C=0.5, sample_weight=weight, n_classes=3))
        np.testing.assert_allclose(again, result, rtol=1e-15)


# ---------------------------------------------------------------------------------------------------


GOOD = np.eye(3), [0, 1, 2]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"y": [[0, 1]]}, r"y must have a class for each of at least one example, found shape \(1, 2\)"),
        ({"y": []}, "y must have a class for each of at least one example"),
        ({"y": [0, 1, -1]}, "y must be integers from 0"),
        ({"y": [0.0, 1.0, 2.0]}, "y must be integers"),
        ({"y": [0, 0, 0]}, "y must have at least two classes, found only class 0"),
        ({"y": [0, 0, 0], "n_classes": 1}, "n_classes must be an integer, at least 2, found 1"),
        ({"n_classes": 3.0}, "n_classes must be an integer, at least 2, found 3.0"),
        ({"n_classes": 2}, "y must be integers from 0 to 1"),
        ({"C": 0}, "C must be a positive, finite number"),
        ({"C": np.nan}, "C must be a positive, finite number"),
        ({"C": np.inf}, "C must be a positive, finite number"),
        ({"C": True}, "C must be a positive, finite number"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"cost": np.ones((3, 3))}, "cost of a right prediction must be 0"),
        ({"cost": np.eye(3) - 1}, "cost must"),
        ({"cost": 1 - np.eye(4), "n_classes": 3}, "cost must have a row and a column for each of the 3"),
        ({"sample_weight": [1, 1]}, "sample_weight must be"),
        ({"sample_weight": [1, -1, 1]}, "sample_weight must be"),
    ],
)
def test_problems_that_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        HingeProblem(**({"y": [0, 1, 2]} | bad))


@pytest.mark.parametrize(
    ("gram", "y", "message"),
    [
        ([[1.0, np.nan], [np.nan, 1.0]], [0, 1], "gram must be finite"),
        (np.ones((2, 3)), [0, 1], "gram must be a square matrix"),
        ([[1.0, 0.5], [0.2, 1.0]], [0, 1], "gram is no Gram matrix.*mirror"),
        (-np.eye(3), [0, 1, 2], "gram is no Gram matrix"),
        ([["a"]], [0], "gram must hold real numbers"),
        (np.eye(3), [0, 1], "problem must have a label for each of the 3 rows of gram, found 2"),
        (
            np.eye(2),
            HingeProblem([0, 1, 2]),
            "problem must have a label for each of the 2 rows of gram, found 3",
        ),
    ],
)
def test_what_is_refused_of_a_gram_matrix(gram, y, message):
    with pytest.raises(ValueError, match=message):
        dual.quadratic_program(gram, y)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((2, 3)), "multipliers must have a row for each of the 3 of gram, found 2"),
        (
            np.zeros((3, 4)),
            "problem must have 4 classes, as multipliers has, found 3; its argument n_classes",
        ),
        (np.zeros(3), "multipliers must have a row for each example"),
        (np.full((3, 3), np.nan), "multipliers must be finite"),
        (np.full((3, 3), -1e-3), "multipliers must be finite and not negative"),
        (np.full((3, 3), 0.6), "multipliers of an example must not exceed its penalty"),
    ],
)
def test_multipliers_that_are_refused(table, message):
    for function in (dual.dual_value, dual.primal_value, dual.certify, dual.support, dual.gap_terms):
        with pytest.raises(ValueError, match=message):
            function(table, GOOD[0], HingeProblem(GOOD[1]))


def test_more_that_is_refused():
    with pytest.raises(ValueError, match=r"tol must be a finite number, at least 0 and below 0\.5, found"):
        dual.support(np.zeros((3, 3)), *GOOD, tol=0.5)
    with pytest.raises(ValueError, match="r must be a class, 0 to 2, found 3"):
        dual.support(np.zeros((3, 3)), *GOOD).of_class(3)
    with pytest.raises(ValueError, match=r"slack must have the shape \(3,\)"):
        dual.kkt(np.zeros((3, 3)), *GOOD, slack=[1.0])
    with pytest.raises(ValueError, match="beta must be of shape"):
        dual.kkt(np.zeros((3, 3)), *GOOD, beta=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="u must have 9 entries, found 4"):
        dual.quadratic_program(*GOOD).multipliers(np.zeros(4))


def test_weights_are_penalties():
    """An example of weight 2 is the example twice, in both values."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    twice = X[[0, 0, 1, 2]]
    table = np.array([[0, 0.5, 0.7], [0.2, 0, 0.1], [0.4, 0, 0]])
    both = np.array([[0, 0.25, 0.35], [0, 0.25, 0.35], [0.2, 0, 0.1], [0.4, 0, 0]])
    for value in (dual.primal_value, dual.dual_value):
        one = value(table, X @ X.T, HingeProblem([0, 1, 2], sample_weight=[2, 1, 1]))
        assert one == pytest.approx(value(both, twice @ twice.T, [0, 0, 1, 2]), rel=1e-12)
