"""Two classes: classifiers against cvxopt and scikit-learn, degenerate samples, and what is refused."""

import pickle
import tracemalloc
import warnings
from fractions import Fraction
from math import inf, nan

import cvxopt
import numpy as np
import pytest
from cvxopt import solvers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC

from mcutils import _rows, binary, capacity, kernel
from mcutils.binary import _ascent
from mcutils.exact import as_fractions
from mcutils.jit import smo as jit

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11)

KERNELS = [kernel.linear, kernel.rbf(0.5), kernel.rbf(50.0), kernel.polynomial(3, b=1.0)]


def dual_by_cvxopt(gram, y, C, bias):
    """The optimal value of the textbook's dual."""
    m = len(y)
    box = cvxopt.matrix(np.vstack([-np.eye(m), np.eye(m)])), cvxopt.matrix(np.r_[np.zeros(m), C])
    balance = (cvxopt.matrix(y[None, :]), cvxopt.matrix(0.0)) if bias else ()
    result = solvers.qp(cvxopt.matrix(np.outer(y, y) * gram), cvxopt.matrix(-np.ones(m)), *box, *balance)
    return -result["primal objective"]


def sample(trial):
    """Random problems, many of them degenerate: equal points, zero rows, one example of a class, C of 0."""
    rng = np.random.default_rng(trial)
    m, d = int(rng.integers(2, 60)), int(rng.integers(1, 5))
    X = rng.normal(size=(m, d))
    if trial % 3 == 0:
        X = np.round(X)
    y = np.where(X[:, 0] + rng.normal(size=m) * rng.choice([0, 0.3, 2]) > 0, 1.0, -1.0)
    if trial % 7 == 0:
        y[:] = 1
    y[:2] = -1, 1
    C = np.full(m, 10.0 ** rng.integers(-4, 5))
    if trial % 4 == 0:
        C *= rng.integers(0, 3, size=m)
        C[:2] = C.max() + 1e-3
    return KERNELS[trial % 4 if trial % 5 else 0].gram(X), y, C


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trial", range(120))
def test_the_optimum_is_that_of_cvxopt(trial, bias):
    gram, y, C = sample(trial)
    result = binary.solve_svm(gram, y, C=C, fit_intercept=bias, tol=1e-9)
    assert result.converged
    assert result.certificate.certifies(1e-9)
    peer = dual_by_cvxopt(gram, y, C, bias)
    assert result.certificate.primal == pytest.approx(peer, rel=1e-6, abs=1e-6)
    check_solution(result, gram, y, C, bias)


def check_solution(result, gram, y, C, bias, atol=1e-4):
    """A solution has what it claims: values by their formulas, the box, the balance, and the kinds."""
    beta = result.alpha * y
    assert (result.alpha >= 0).all()
    assert (result.alpha <= C).all()
    scores = gram @ beta + result.intercept
    np.testing.assert_allclose(result.scores, scores, atol=1e-8 * max(1.0, np.abs(scores).max()))
    np.testing.assert_allclose(result.slack, np.maximum(0, 1 - y * result.scores), atol=1e-9)
    square = beta @ gram @ beta
    rough = 1e-9 * (1 + result.alpha.sum() + np.max(C, initial=0.0, where=np.isfinite(C)))
    assert result.certificate.primal == pytest.approx(square / 2 + C @ result.slack, rel=1e-9, abs=rough)
    assert result.certificate.dual == pytest.approx(result.alpha.sum() - square / 2, rel=1e-9, abs=rough)
    if bias:
        assert abs(beta.sum()) <= 1e-12 * max(1.0, result.alpha.sum())
        assert result.intercept_interval[0] <= result.intercept <= result.intercept_interval[1]
    else:
        assert (result.intercept, result.intercept_interval) == (0.0, (0.0, 0.0))
    np.testing.assert_array_equal(result.support, np.flatnonzero(result.alpha))
    # complementary slackness, as far as the gap allows: it is the sum of these products
    product = result.alpha * (1 - y * result.scores)
    missed = (C * result.slack - product).sum()
    assert missed == pytest.approx(result.certificate.primal - result.certificate.dual, abs=10 * rough)
    for kind, holds in (
        ("none", result.alpha == 0),
        ("free", (result.alpha > 0) & (result.alpha < C)),
        ("bound", (result.alpha == C) & (C > 0)),
    ):
        np.testing.assert_array_equal(result.kinds == kind, holds)
    free = result.kinds == "free"
    assert np.abs(y[free] * result.scores[free] - 1).max(initial=0.0) < atol


@pytest.mark.parametrize("trial", range(24))
def test_every_bias_of_the_interval_is_optimal_and_no_other(trial):
    gram, y, C = sample(trial)
    result = binary.solve_svm(gram, y, C=C, tol=1e-10)
    inner = result.scores - result.intercept

    def paid(b):
        return C @ np.maximum(0, 1 - y * (inner + b))

    low, high = result.intercept_interval
    least = paid(result.intercept)
    rounding = 1e-9 * C.sum() * (1 + np.abs(inner).max())
    for b in (low, high, (low + high) / 2):
        assert paid(b) == pytest.approx(least, abs=rounding)
    for b in (low - 0.01, high + 0.01):
        assert paid(b) >= least - rounding
    if not (result.kinds == "free").any():
        steep = min(1e-2, 0.99 * C[C > 0].min())  # beyond the interval the slope is a penalty at least
        assert paid(low - 0.01) > least + 1e-4 * steep - rounding
        assert paid(high + 0.01) > least + 1e-4 * steep - rounding


def test_the_interval_of_biases_where_no_multiplier_is_free():
    """x = -1, 1 and C = 0.1: both multipliers are C, w = 0.2, and each b up to 0.8 pays the same slack."""
    result = binary.solve_svm([[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=0.1)
    assert result.kinds.tolist() == ["bound", "bound"]
    np.testing.assert_allclose(result.intercept_interval, [-0.8, 0.8], rtol=1e-12)
    assert result.intercept == 0.0
    # with one more positive example the slope never vanishes: one bias, though none is free
    gram = np.outer([-1, 1, 1], [-1, 1, 1])
    result = binary.solve_svm(gram, [-1, 1, 1], C=0.1)
    np.testing.assert_allclose(result.intercept_interval, [0.8, 0.8], rtol=1e-12)
    # a zero Gram matrix: the majority decides, and nothing does where there is none
    assert binary.solve_svm(np.zeros((3, 3)), [1, 1, -1]).intercept_interval == (1.0, 1.0)
    assert binary.solve_svm(np.zeros((2, 2)), [1, -1]).intercept_interval == (-1.0, 1.0)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("exponent", [-12, -6, 4, 8])
def test_penalties_tiny_and_huge(exponent, bias):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    C = 10.0**exponent
    result = binary.solve_svm(X @ X.T, y, C=C, fit_intercept=bias)
    assert result.converged
    # relative to the primal itself, not to 1
    assert result.certificate.primal - result.certificate.dual <= 1e-6 * result.certificate.primal
    if exponent < 0:  # then w is nearly 0 and each example of the smaller class is bound
        few = min((y > 0).sum(), (y < 0).sum())
        assert result.certificate.primal == pytest.approx(C * (2 * few if bias else 60), rel=1e-3)


def test_a_classifier_is_the_same_for_repeated_and_for_weighted_examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    counts = rng.integers(0, 4, size=40)
    once = binary.BinarySVM(kernel="rbf", gamma=0.5).fit(X, y, sample_weight=counts)
    often = binary.BinarySVM(kernel="rbf", gamma=0.5).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert once.certificate_.primal == pytest.approx(often.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(once.decision_function(X), often.decision_function(X), atol=1e-3)
    assert (once.kinds_[counts == 0] == "none").all()


# ---------------------------------------------------------------------------------------------------
# The hard-margin SVM


def hard_sample(trial):
    rng = np.random.default_rng(trial)
    m, d = int(rng.integers(2, 50)), int(rng.integers(1, 6))
    X = rng.normal(size=(m, d))
    if trial % 3 == 0:
        X = np.round(2 * X)
    w = rng.normal(size=d)
    noise = rng.normal(size=m) * rng.choice([0, 0, 0.3])
    y = np.where(X @ w + rng.normal() / 2 + noise > 0, 1.0, -1.0)
    if trial % 7 == 0:
        y[:] = 1
    y[:2] = -1, 1
    return X, y


def hard_by_cvxopt(X, y, bias):
    """The least half square of w with all functional margins at least 1; None where there is none."""
    rows = y[:, None] * (np.column_stack([X, np.ones(len(X))]) if bias else X)
    n = rows.shape[1]
    if linprog(np.zeros(n), A_ub=-rows, b_ub=-np.ones(len(X)), bounds=(None, None)).status != 0:
        return None
    square = np.eye(n)
    if bias:
        square[-1, -1] = 0
    box = cvxopt.matrix(-rows), cvxopt.matrix(-np.ones(len(X)))
    return solvers.qp(cvxopt.matrix(square), cvxopt.matrix(np.zeros(n)), *box)["primal objective"]


@pytest.mark.parametrize("bias", [True, False])
def test_a_refusal_names_the_margins_it_excludes(bias):
    """Two vectors of length 1 at the angle 1e-9: separable, by less than the Gram matrix can hold."""
    gram = np.array([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(binary.NotSeparable, match="so no margin exceeds") as refused:
        binary.solve_svm(gram, [-1, 1], C=inf, fit_intercept=bias)
    assert 0.5e-9 <= refused.value.largest_margin < 1e-7


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trial", range(60))
def test_the_hard_svm_or_the_proof_that_there_is_none(trial, bias):
    X, y = hard_sample(trial)
    peer = hard_by_cvxopt(X, y, bias)
    if peer is None:
        with pytest.raises(binary.NotSeparable, match="not separable by a hyperplane") as refused:
            binary.solve_svm(X @ X.T, y, C=inf, fit_intercept=bias, tol=1e-9)
        check_proof(X, y, refused.value.weights, bias, atol=1e-6)
        assert refused.value.distance < 1e-6
        assert refused.value.largest_margin < 1e-6
        assert not binary.separate(X, y, fit_intercept=bias).separable
        return
    result = binary.solve_svm(X @ X.T, y, C=inf, fit_intercept=bias, tol=1e-9)
    assert result.converged
    assert result.certificate.primal == pytest.approx(peer, rel=1e-6, abs=1e-6)
    assert (y * result.scores).min() == pytest.approx(1)
    assert not result.slack.any()
    assert set(result.kinds) <= {"none", "free"}
    # the geometric margin is 1 / |w|, and the other solver of separation finds no larger one
    w = X.T @ (y * result.alpha)
    margin = binary.geometric_margin(X, y, w, result.intercept)
    assert margin == pytest.approx(1 / np.linalg.norm(w), rel=1e-6)
    other = binary.separate(X, y, fit_intercept=bias)
    assert other.separable
    assert other.margin <= margin * (1 + 1e-6)


def check_proof(X, y, weights, bias, atol):
    assert (weights >= 0).all()
    if bias:
        assert weights[y > 0].sum() == pytest.approx(1)
        assert weights[y < 0].sum() == pytest.approx(1)
    else:
        assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose((weights * y) @ X, 0, atol=atol)


def test_a_hard_svm_is_the_limit_of_soft_ones():
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    y = np.array([-1, -1, 1, 1])
    hard = binary.solve_svm(X @ X.T, y, C=inf)
    for C in (0.5, 1.0, 1e6):  # from C = alpha on they are one
        soft = binary.solve_svm(X @ X.T, y, C=C)
        assert soft.certificate.primal == pytest.approx(hard.certificate.primal)
    assert binary.solve_svm(X @ X.T, y, C=0.4).certificate.primal < hard.certificate.primal


def test_examples_without_a_penalty_are_ignored_by_the_hard_svm():
    X = np.array([[0.0], [1.0], [3.0], [4.0], [10.0]])
    y = np.array([-1, -1, 1, 1, -1])
    result = binary.solve_svm(X @ X.T, y, C=[inf, inf, inf, inf, 0.0])
    np.testing.assert_allclose(result.scores, X[:, 0] - 2, atol=1e-9)
    assert result.slack.tolist() == pytest.approx([0, 0, 0, 0, 9])
    assert result.kinds.tolist() == ["none", "free", "free", "none", "none"]


def test_a_search_that_is_cut_off_claims_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = np.where(X[:, 0] > 0, 1, -1)
    with pytest.raises(RuntimeError, match="not decided after 1 steps"):
        binary.solve_svm(X @ X.T, y, C=inf, max_iter=1)


# ---------------------------------------------------------------------------------------------------
# The solver


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trial", range(0, 120, 5))
def test_rows_in_blocks_are_the_whole_matrix(monkeypatch, trial, bias):
    gram, y, C = sample(trial)
    calls = []

    def compute(rows, columns):
        calls.append(len(rows))
        return gram[rows][:, columns]

    monkeypatch.setattr(_rows, "BLOCK", 6)
    monkeypatch.setattr(_rows, "CACHE_BYTES", 0)
    by_rows = _rows.Gram(np.diag(gram).copy(), compute)
    result = binary.solve_svm(by_rows, y, C=C, fit_intercept=bias, tol=1e-9)
    assert result.converged
    assert len(by_rows.rows) <= 12
    assert calls
    whole = binary.solve_svm(gram, y, C=C, fit_intercept=bias, tol=1e-9)
    assert result.certificate.primal == pytest.approx(whole.certificate.primal, rel=1e-8, abs=1e-8)
    check_solution(result, gram, y, C, bias)


def test_the_row_that_was_not_used_for_longest_makes_room():
    matrix, computed = np.arange(36.0).reshape(6, 6), []

    class Cache(_rows.RowCache):
        def compute(self, wanted):
            computed.append(wanted.tolist())
            return matrix[wanted]

    cache = Cache(np.empty((3, 6)))
    for wanted in ([0, 1], [2], [1, 0], [3], [0, 1], [5, 3, 4], [3, 5]):
        assert np.array_equal(cache.rows[cache.bring(np.array(wanted))], matrix[wanted])
    assert computed == [[0, 1], [2], [3], [5, 4]]
    assert np.flatnonzero(cache.member).tolist() == [3, 4, 5]


@pytest.mark.parametrize("trial", range(0, 60, 4))
def test_the_hard_svm_in_blocks(monkeypatch, trial):
    X, y = hard_sample(trial)
    monkeypatch.setattr(_rows, "BLOCK", 6)
    monkeypatch.setattr(_rows, "WHOLE_BYTES", 0)
    monkeypatch.setattr(_rows, "CACHE_BYTES", 0)
    model = binary.BinarySVM(C=inf)
    try:
        whole = binary.solve_svm(X @ X.T, y, C=inf).certificate.primal
    except binary.NotSeparable:
        with pytest.raises(binary.NotSeparable):
            model.fit(X, y)
    else:
        assert model.fit(X, y).certificate_.primal == pytest.approx(whole, rel=1e-5)


def test_compiled_and_python_agree():
    gram, y, C = sample(3)
    lower, upper = np.minimum(0, y * C), np.maximum(0, y * C)
    for steps in (jit.pairs, jit.singles):
        ends = (np.array([len(y)]),) if steps is jit.pairs else ()
        results = []
        for function in (steps, steps.py_func):
            beta, error = np.zeros(len(y)), y.copy()
            count, violation = function(gram, lower, upper, *ends, beta, error, 1e-3, 1e-12, 100)
            np.testing.assert_allclose(error, y - gram @ beta, atol=1e-10)
            results.append([count, violation, *beta])
        np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-12)
    totals = np.ones((2, len(y)))
    for function, total in zip((jit.add_rows, jit.add_rows.py_func), totals, strict=True):
        function(gram, np.array([0, 2]), np.array([2.0, -1.0]), total)
    np.testing.assert_allclose(totals, [1 + 2 * gram[0] - gram[2]] * 2, rtol=1e-12)


def test_it_can_start_where_a_similar_classifier_ended():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1, -1)
    gram = kernel.rbf(0.5).gram(X)
    cold = binary.solve_svm(gram, y, C=1.0)
    again = binary.solve_svm(gram, y, C=1.0, initial=cold.alpha)
    assert again.certificate.n_iter < cold.certificate.n_iter / 10
    # moved into the box, and into balance
    for initial in (1e9 * cold.alpha, np.where(y > 0, 5.0, -5.0)):
        result = binary.solve_svm(gram, y, C=1.0, initial=initial)
        assert result.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-6)


def test_an_svm_that_is_not_solved_warns_by_how_much():
    gram, y, C = sample(8)
    with pytest.warns(
        ConvergenceWarning, match="not solved to tol=1e-09: primal and dual differ by"
    ) as caught:
        result = binary.solve_svm(gram, y, C=C, tol=1e-9, max_iter=1)
    assert not result.converged
    assert not result.certificate.certifies(1e-9)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("C", "size"), [(inf, 1e-160), (1e300, 1e-100), (1e300, 1.0), (1e100, 1e100), (1.0, 1e150)]
)
def test_where_numbers_end_the_ascent_ends(monkeypatch, whole, C, size):
    """Steps may become impossible and values infinite: no round is repeated without a gain."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > 0.3 * rng.normal(size=60) * (inf > C), 1, -1)
    rounds, refresh = [0], _ascent.Ascent.refresh

    def counting(self):
        rounds[0] += 1
        assert rounds[0] < 200, "a round without steps is repeated for ever"
        refresh(self)

    monkeypatch.setattr(_ascent.Ascent, "refresh", counting)
    if not whole:
        monkeypatch.setattr(_rows, "BLOCK", 16)
        monkeypatch.setattr(_rows, "WHOLE_BYTES", 0)
    model = binary.BinarySVM(C=C, kernel="linear", max_iter=20_000)
    caught = ""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            assert model.fit(size * X, y).n_iter_ <= 20_000
        except binary.NotSeparable:
            assert inf == C
        except (RuntimeError, ValueError) as error:
            caught = str(error)
    assert not caught or "scale" in caught


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("max_iter", [1, 10])
def test_max_iter_bounds_the_steps(monkeypatch, whole, max_iter):
    gram, y, C = sample(8)
    monkeypatch.setattr(_rows, "BLOCK", 6)
    rows = _rows.Gram(np.diag(gram).copy(), lambda rows, columns: gram[rows][:, columns])
    with pytest.warns(ConvergenceWarning, match=f"after {max_iter} steps"):
        result = binary.solve_svm(gram if whole else rows, y, C=C, tol=1e-9, max_iter=max_iter)
    assert result.certificate.n_iter == max_iter


@pytest.mark.compiler
@pytest.mark.once
def test_a_long_ascent_is_not_given_up():
    """600,000 steps. For many of them the gap does not shrink, while the dual rises."""
    X, y = make_classification(400, 20, n_informative=5, flip_y=0.1, random_state=0)
    assert binary.solve_svm(X @ X.T, 2 * y - 1, C=1e3).converged


@pytest.mark.compiler
def test_a_gap_can_be_out_of_reach_of_rounding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = rng.choice([-1, 1], size=60)
    with pytest.warns(ConvergenceWarning, match="not solved"):
        result = binary.solve_svm(X @ X.T, y, C=1e15)
    assert not result.converged


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(
            hnp.arrays(np.float64, (n, n), elements=st.floats(-1e8, 1e8)),
            hnp.arrays(np.float64, n, elements=st.floats(-1e6, 1e6)),
        )
    )
)
def test_products_with_twice_the_digits(problem):
    """Rounded once, where the terms cancel as well."""
    matrix, factors = problem
    matrix[:, -1] = -matrix[:, 0]
    factors[-1] = np.nextafter(factors[0], np.inf)
    symmetric = np.tril(matrix) + np.tril(matrix, -1).T
    result = _rows.Gram.of_matrix(symmetric).precise_product(factors)
    for i, row in enumerate(symmetric.tolist()):
        terms = [Fraction(a) * Fraction(b) for a, b in zip(row, factors.tolist(), strict=True)]
        exact, size = sum(terms), sum(map(abs, terms))
        allowed = (
            abs(exact) / 2**52 + size / 2**90 + Fraction(1, 2**1000)
        )  # the last of numbers near underflow
        assert abs(Fraction(float(result[i])) - exact) <= allowed


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1e4, 1e6, 1e8])
def test_what_is_certified_is_so_in_fractions(seed, size):
    """Kernel values of 10^8 to 10^16, whose multiples cancel to scores of 1: rounding is not believed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2)) * size
    y = np.where(rng.random(12) < 0.5, -1, 1)
    y[:2] = -1, 1
    gram = X @ X.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = binary.solve_svm(gram, y, C=1.0, max_iter=100_000)
    beta = [Fraction(a) * s for a, s in zip(result.alpha.tolist(), y.tolist(), strict=True)]
    inner = [sum(Fraction(v) * b for v, b in zip(row, beta, strict=True)) for row in gram.tolist()]
    square = sum(b * g for b, g in zip(beta, inner, strict=True))
    bias = Fraction(result.intercept)
    slack = sum(max(Fraction(0), 1 - s * (g + bias)) for s, g in zip(y.tolist(), inner, strict=True))
    primal, dual = square / 2 + slack, sum(map(Fraction, result.alpha.tolist())) - square / 2
    assert float(primal) == pytest.approx(result.certificate.primal, rel=1e-7)
    assert float(dual) == pytest.approx(result.certificate.dual, rel=1e-7, abs=1e-7 * float(primal))
    if result.converged:
        assert primal - dual <= primal * Fraction(11, 10**7)


@pytest.mark.compiler
def test_ten_thousand_examples_fit_into_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 5))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    tracemalloc.start()
    model = binary.BinarySVM(C=0.01, kernel="rbf", gamma=0.1, tol=1e-2).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.converged_
    assert peak < 5e8


# ---------------------------------------------------------------------------------------------------
# Peers


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    "named",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "gamma": 0.1, "degree": 2, "coef0": 1.0},
    ],
    ids=str,
)
def test_agrees_with_svc(named, C):
    X, y = (part[:200] for part in load_breast_cancer(return_X_y=True))
    X = scale(X)
    model = binary.BinarySVM(C=C, tol=1e-10, **named).fit(X, y)
    peer = SVC(C=C, tol=1e-8, **named | {"kernel": named["kernel"]}).fit(X, y)
    gram = model.kernel_.gram(X)
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    theirs = np.abs(beta).sum() - beta @ gram @ beta / 2
    assert theirs == pytest.approx(model.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)
    assert model.intercept_[0] == pytest.approx(peer.intercept_[0], abs=1e-3)
    if named["kernel"] == "linear":
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)


@pytest.mark.parametrize("scaling", [None, 1.0, 10.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.compiler
def test_agrees_with_linear_svc(loss, scaling):
    """Which regularises its intercept: a classifier without bias, with one more feature."""
    X, y = (part[:200] for part in load_breast_cancer(return_X_y=True))
    X = scale(X)
    signs = np.where(y == 1, 1.0, -1.0)
    peer = LinearSVC(
        loss=loss.replace("-", "_"),
        dual=True,
        tol=1e-10,
        max_iter=10**7,
        fit_intercept=scaling is not None,
        intercept_scaling=scaling or 1.0,
    ).fit(X, y)
    longer = X if scaling is None else np.column_stack([X, np.full(len(X), scaling)])
    w = peer.coef_[0] if scaling is None else np.append(peer.coef_[0], peer.intercept_[0] / scaling)
    result = binary.minimise_risk(longer, signs, loss=loss, fit_intercept=False)
    paid = np.maximum(0, 1 - signs * (longer @ w)) ** (1 if loss == "hinge" else 2)
    assert w @ w / 2 + paid.sum() == pytest.approx(result.certificate.primal, rel=1e-6)
    if loss == "hinge":
        model = binary.BinarySVM(fit_intercept=False).fit(longer, y)
        assert model.certificate_.primal == pytest.approx(result.certificate.primal, rel=2e-6)
        assert binary.hinge_objective(longer, signs, w) == pytest.approx(result.certificate.primal, rel=1e-6)
        with_bias = binary.BinarySVM().fit(X, y)  # a bias that costs nothing is cheaper
        assert with_bias.certificate_.primal < model.certificate_.primal


# ---------------------------------------------------------------------------------------------------
# The estimator


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:150], np.array(["malignant", "benign"])[y][:150]


def test_attributes_and_labels(cancer):
    X, y = cancer
    model = binary.BinarySVM(C=2.0).fit(X, y)
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert set(model.predict(X)) == {"benign", "malignant"}
    np.testing.assert_array_equal(model.predict(X) == "malignant", model.decision_function(X) > 0)
    np.testing.assert_allclose(model.decision_function(X), model.solution_.scores, atol=1e-9)
    np.testing.assert_allclose(model.coef_, model.dual_coef_ @ model.support_vectors_, atol=1e-12)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.converged_
    assert model.n_iter_ == model.certificate_.n_iter
    signs = np.where(y == "malignant", 1, -1)
    assert model.certificate_.primal == pytest.approx(
        binary.hinge_objective(X, signs, model.coef_[0], model.intercept_[0], 2.0)
    )
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_a_score_of_zero_is_the_first_class():
    model = binary.BinarySVM().fit([[-1.0], [1.0]], ["b", "a"])
    assert model.decision_function([[0.0]]) == [0.0]
    assert model.predict([[0.0]]) == ["a"]


def test_deleting_what_does_not_support_changes_nothing(cancer):
    """prop-kernel-support"""
    X, y = cancer
    model = binary.BinarySVM(kernel="rbf", gamma=0.05, tol=1e-10).fit(X, y)
    assert len(model.support_) < len(X)
    rest = clone(model).fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(rest.decision_function(X), model.decision_function(X), atol=1e-4)
    assert rest.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_a_precomputed_kernel_is_the_kernel(cancer, precision):
    X, y = cancer
    one = kernel.rbf(0.05)
    train, test = X[:100], X[100:]
    gram = one.gram(train).astype(precision)
    model = binary.BinarySVM(kernel="precomputed").fit(gram, y[:100])
    direct = binary.BinarySVM(kernel=one).fit(train, y[:100])
    assert not hasattr(model, "support_vectors_")
    assert not hasattr(model, "coef_")
    scores = model.decision_function(one.gram(test, train))
    np.testing.assert_allclose(scores, direct.decision_function(test), atol=1e-3)


def test_a_precomputed_matrix_that_is_no_kernel_is_refused():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        binary.BinarySVM(kernel="precomputed").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize("named", [{}, {"kernel": "rbf", "gamma": 0.1}, {"kernel": "poly", "degree": 2}])
def test_sparse_inputs(cancer, named):
    X, y = cancer
    thin = np.where(np.abs(X) > 1, X, 0.0)
    dense = binary.BinarySVM(**named).fit(thin, y)
    sparse = binary.BinarySVM(**named).fit(csr_array(thin), y)
    np.testing.assert_allclose(
        sparse.decision_function(csr_array(thin)), dense.decision_function(thin), atol=2e-3
    )


def test_class_weights_are_penalties(cancer):
    X, y = cancer
    weighted = binary.BinarySVM(C=0.5, class_weight={"benign": 3.0}).fit(X, y)
    penalties = np.where(y == "benign", 1.5, 0.5)
    signs = np.where(y == "malignant", 1, -1)
    assert weighted.certificate_.primal == pytest.approx(
        binary.solve_svm(X @ X.T, signs, C=penalties).certificate.primal, rel=2e-6
    )
    by_rows = binary.BinarySVM(C=0.5).fit(X, y, sample_weight=2 * penalties)
    assert by_rows.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=2e-6)
    balanced = binary.BinarySVM(class_weight="balanced").fit(X, y)
    assert balanced.alpha_[y == "benign"].max() <= len(y) / (2 * (y == "benign").sum())


def test_the_hard_svm_of_the_estimator(cancer):
    X, y = cancer
    model = binary.BinarySVM(C=inf).fit(X, y)
    assert model.score(X, y) == 1.0
    assert set(model.kinds_) == {"none", "free"}
    with pytest.raises(binary.NotSeparable) as refused:
        binary.BinarySVM(C=inf).fit(np.ones((4, 1)), [0, 0, 1, 1])
    assert refused.value.weights.shape == (4,)
    # as it comes back from another process
    copy = pickle.loads(pickle.dumps(refused.value))
    assert str(copy) == str(refused.value)
    np.testing.assert_array_equal(copy.weights, refused.value.weights)


# ---------------------------------------------------------------------------------------------------
# Separation


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 9), st.integers(1, 3)), elements=st.integers(-4, 4)),
    st.integers(0, 2**9 - 1),
    st.booleans(),
)
def test_separation_is_proved_either_way(X, labels, bias):
    y = np.array([1 if labels >> i & 1 else -1 for i in range(len(X))])
    assume(not bias or len(set(y)) == 2)
    result = binary.separate(X, y, fit_intercept=bias)
    if result.separable:
        scores = X @ as_fractions(result.weights) + Fraction(result.intercept)
        assert min(scores * y) > 0
        assert result.margin == binary.geometric_margin(X, y, result.weights, result.intercept) > 0
        assert result.multipliers is None
        assert bias or result.intercept == 0.0
        return
    assert (result.weights, result.intercept, result.margin) == (None, None, None)
    check = result.multipliers  # fractions: nothing is rounded here
    assert check.min() >= 0
    assert check.sum() == 1
    assert not ((check * y) @ X).any()
    assert not bias or check @ y == 0


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 7), st.integers(1, 3)), elements=st.integers(-3, 3)),
    st.integers(0, 2**7 - 1),
    st.lists(st.integers(-300, 300), min_size=3, max_size=3),
    st.booleans(),
)
def test_separation_is_proved_at_every_scale(A, labels, exponents, bias):
    """Each feature times a power of ten: a proof in fractions, and the verdict of `capacity`."""
    y = np.array([1 if labels >> i & 1 else -1 for i in range(len(A))])
    assume(not bias or len(set(y)) == 2)
    X = A * 10.0 ** np.array(exponents[: A.shape[1]])
    result = binary.separate(X, y, fit_intercept=bias)
    assert result.separable == capacity.separable(X, (y > 0).astype(int), k=2, fit_intercept=bias).separable
    points = as_fractions(X)
    if result.separable:
        scores = points @ as_fractions(result.weights) + Fraction(result.intercept)
        assert min(scores * y) > 0
        assert result.margin >= 0  # the distance itself may be smaller than every float
    else:
        weights = result.multipliers
        assert min(weights) >= 0
        assert sum(weights) == 1
        assert not any((weights * y) @ points)
        assert not bias or weights @ y == 0


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 9), st.integers(1, 3)), elements=st.integers(-3, 3)),
    st.integers(0, 2**9 - 1),
    st.integers(-140, 140),
    st.booleans(),
)
def test_a_hard_svm_exists_at_every_scale_or_at_none(A, labels, exponent, bias):
    """A margin that is rounding alone is none, and squares of the margin stay in range."""
    y = np.array([1 if labels >> i & 1 else -1 for i in range(len(A))])
    assume(not bias or len(set(y)) == 2)
    X = A * 10.0**exponent
    truth = capacity.separable(A, (y > 0).astype(int), k=2, fit_intercept=bias, exact=True).separable
    if truth:
        result = binary.solve_svm(X @ X.T, y, C=inf, fit_intercept=bias)
        assert result.converged
        assert (y * result.scores).min() == pytest.approx(1)
        return
    with pytest.raises(binary.NotSeparable) as refused:
        binary.solve_svm(X @ X.T, y, C=inf, fit_intercept=bias)
    assert max(refused.value.distance, refused.value.largest_margin) <= 1e-6 * np.abs(X).max()


def test_inner_products_that_underflow_prove_nothing():
    """Of 1e-170 the square is 0: in the Gram matrix both classes are one point."""
    with pytest.raises(ValueError, match="X is too small for a hard-margin SVM"):
        binary.BinarySVM(C=inf).fit([[0.0], [1e-170]], [0, 1])
    with pytest.raises(ValueError, match="gram is so small"):
        binary.solve_svm(np.array([[0.0, 0.0], [0.0, 1e-310]]), [-1, 1], C=inf)


@pytest.mark.parametrize(("factor", "rel"), [(1e-320, 1e-3), (1e-200, 1e-14), (1.0, 0), (1e307, 1e-14)])
def test_distances_at_every_scale(factor, rel):
    X = np.array([[3.0, 0.0], [0.0, 4.0]]) * factor
    expected = pytest.approx([1.8 * factor, 3.2 * factor], rel=rel)
    for w in ([3.0, 4.0], [3e-200, 4e-200], [3e200, 4e200]):
        assert binary.distance(X, w) == expected
        assert binary.geometric_margin(X, [1, 1], w) == pytest.approx(1.8 * factor, rel=rel)


def test_separation_at_any_scale():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    shift = np.array([1e9, 0.0])
    for factor in (1e-200, 1e-8, 1.0, 1e8, 1e150):
        assert binary.separate(factor * X, [-1, -1, 1]).separable
    assert binary.separate(X + shift, [-1, -1, 1]).separable
    assert binary.separate(X + shift, [1, 1, 1], fit_intercept=False).separable
    # a constant feature, and all features constant
    assert binary.separate([[1.0, 7.0], [2.0, 7.0]], [-1, 1]).separable
    assert not binary.separate([[7.0], [7.0]], [-1, 1]).separable


def test_separation_by_less_than_rounding_sees():
    """The scores differ by less than the bound of their rounding: decided in fractions."""
    X = np.array([[1.0], [1.0 + 2.0**-50]])
    assert binary.separate(X, [-1, 1]).separable
    touching = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    assert not binary.separate(touching, [-1, -1, 1]).separable


# ---------------------------------------------------------------------------------------------------
# The lecture's quantities


@given(
    hnp.arrays(np.int64, (4, 2), elements=st.integers(-9, 9)),
    st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9)),
    st.integers(1, 15),
)
def test_distances_and_margins_are_their_formulas(X, plane, labels):
    *w, b = plane
    assume(any(w))
    y = np.array([1 if labels >> i & 1 else -1 for i in range(4)])
    scores = [sum(v * x for v, x in zip(w, row, strict=True)) + b for row in X.tolist()]
    length = (w[0] ** 2 + w[1] ** 2) ** 0.5
    np.testing.assert_allclose(binary.distance(X, w, b), [abs(f) / length for f in scores])
    least = min(f * label for f, label in zip(scores, y.tolist(), strict=True))
    assert binary.geometric_margin(X, y, w, b) == pytest.approx(least / length)
    paid = sum(max(0, 1 - f * label) for f, label in zip(scores, y.tolist(), strict=True))
    assert binary.hinge_objective(X, y, w, b, 0.5) == pytest.approx(length**2 / 2 + paid / 2)


# ---------------------------------------------------------------------------------------------------
# Regularised risks

SIX = [(loss, penalty) for loss in ("hinge", "squared_hinge", "logistic") for penalty in ("l2", "l1")]


def risk_sample(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(3, 80)), int(rng.integers(1, 12))
    if seed % 5 == 0:
        d += m  # more features than examples
    X = rng.normal(size=(m, d)) * 10.0 ** rng.integers(-1, 2, size=d)
    if seed % 3 == 0:
        X = np.round(X)
        X[:, 0] = 1.0
    y = np.where(X[:, -1] + rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    return X, y, 10.0 ** rng.integers(-2, 3)


def risk(X, y, w, b, C, loss, penalty):
    z = y * (X @ w + b)
    paid = {
        "hinge": np.maximum(0, 1 - z),
        "squared_hinge": np.maximum(0, 1 - z) ** 2,
        "logistic": np.logaddexp(0, -z),
    }[loss].sum()
    return C * paid + (np.abs(w).sum() if penalty == "l1" else w @ w / 2)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("loss", "penalty"), SIX)
@pytest.mark.compiler
def test_all_risks_are_certified(loss, penalty, seed, bias):
    X, y, C = risk_sample(seed)
    result = binary.minimise_risk(X, y, loss=loss, penalty=penalty, C=C, fit_intercept=bias)
    assert result.certificate.certifies(1e-8)
    value = risk(X, y, result.weights, result.intercept, C, loss, penalty)
    assert result.certificate.primal == pytest.approx(value, rel=1e-12)
    assert bias or result.intercept == 0.0
    # weak duality, where it matters: no point nearby or far is below the dual value
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-1, 10.0):
        w = result.weights * (1 + size * rng.normal(size=len(result.weights)))
        b = result.intercept + size * rng.normal() * bias
        assert risk(X, y, w, b, C, loss, penalty) >= result.certificate.dual - 1e-9 * max(1.0, value)


@pytest.mark.parametrize("seed", range(6))
def test_the_logistic_risk_is_that_of_scikit_learn(seed):
    X, y, C = risk_sample(seed)
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=100_000, solver="newton-cholesky").fit(X, y)
    result = binary.minimise_risk(X, y, loss="logistic", C=C)
    theirs = risk(X, y, peer.coef_[0], peer.intercept_[0], C, "logistic", "l2")
    assert theirs == pytest.approx(result.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_lasso_is_that_of_liblinear(loss, seed):
    X, y, C = risk_sample(seed)
    if loss == "logistic":
        # the name of this changed in scikit-learn 1.8
        l1 = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}
        peer = LogisticRegression(
            C=C, **l1, solver="liblinear", tol=1e-10, max_iter=10**6, fit_intercept=False
        )
    else:
        peer = LinearSVC(C=C, penalty="l1", dual=False, tol=1e-10, max_iter=10**6, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w = peer.fit(X, y).coef_[0]
    result = binary.minimise_risk(X, y, loss=loss, penalty="l1", C=C, fit_intercept=False)
    assert risk(X, y, w, 0.0, C, loss, "l1") == pytest.approx(result.certificate.primal, rel=1e-6)
    assert ((w == 0) & (result.weights != 0)).sum() <= 1 + len(w) // 10


def test_the_lasso_has_zeros_and_the_ridge_has_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=80) > 0, 1, -1)
    for loss in ("hinge", "squared_hinge", "logistic"):
        sparse = binary.minimise_risk(X, y, loss=loss, penalty="l1", C=0.1).weights
        full = binary.minimise_risk(X, y, loss=loss, penalty="l2", C=0.1).weights
        assert (sparse == 0).sum() >= 20
        assert (full != 0).all()


# ---------------------------------------------------------------------------------------------------
# What is refused

TWO = np.eye(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binary.solve_svm([1.0], [1]), r"gram must be a square matrix, found shape \(1,\)"),
        (lambda: binary.solve_svm(np.eye(2, 3), [1, -1]), r"found shape \(2, 3\)"),
        (lambda: binary.solve_svm([["a"]], [1]), "gram must hold real numbers"),
        (lambda: binary.solve_svm([[np.nan]], [1]), "gram must be finite"),
        (lambda: binary.solve_svm([[1, 0], [0.5, 1]], [1, -1]), r"entry \(0, 1\), .* its mirror by 0.5"),
        (lambda: binary.solve_svm([[1, 2], [2, 1]], [1, -1]), r"entry \(0, 1\), .* beyond its diagonal by 1"),
        (lambda: binary.solve_svm(-TWO, [1, -1]), r"entry \(0, 0\), counted from 0, is -1"),
        (lambda: binary.solve_svm(TWO, [1, 0]), r"y must have labels -1 and \+1, found \[0.0, 1.0\]"),
        (lambda: binary.solve_svm(TWO, [1]), "y must have one number for each of 2 examples"),
        (lambda: binary.solve_svm(TWO, [1, 1]), r"y must have both labels .* found only \+1"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=[1, 0]), r"both labels among the examples of C > 0"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=0), "C must be a positive number or inf, found 0"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=-1.0), "C must be a positive number or inf, found -1.0"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=np.nan), "C must be a positive number or inf, found nan"),
        (lambda: binary.solve_svm(TWO, [1, -1], C="1"), "C must be a positive number"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=[1, -1]), "C must be at least 0 for each example"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=[0, 0]), "and positive for some"),
        (lambda: binary.solve_svm(TWO, [1, -1], C=[1, inf]), "C must be finite for all examples, or inf"),
        (
            lambda: binary.solve_svm(TWO, [1, -1], C=[1, 1, 1]),
            "C must have one number for each of 2 examples",
        ),
        (lambda: binary.solve_svm(TWO, [1, -1], tol=0), "tol must be a positive, finite number, found 0"),
        (
            lambda: binary.solve_svm(TWO, [1, -1], max_iter=0),
            "max_iter must be an integer, at least 1, found 0",
        ),
        (lambda: binary.solve_svm(TWO, [1, -1], initial=[1]), "initial must have one number for each of 2"),
        (lambda: binary.BinarySVM(C=-1.0).fit(TWO, [0, 1]), "C must be a positive number or inf, found -1.0"),
        (lambda: binary.BinarySVM(C="1").fit(TWO, [0, 1]), "C must be a positive number or inf, found '1'"),
        (lambda: binary.BinarySVM(kernel="cubic").fit(TWO, [0, 1]), "kernel must be .* found 'cubic'"),
        (lambda: binary.BinarySVM().fit(TWO, [0, 0]), r"y must have 2 classes, found 1 class: \[0\]"),
        (lambda: binary.BinarySVM().fit(np.eye(3), [0, 1, 2]), "Only binary classification is supported"),
        (
            lambda: binary.BinarySVM().fit(TWO, ["a", "b"], sample_weight=[0, 1]),
            r"must not be zero for a whole class, found it zero for \['a'\]",
        ),
        (lambda: binary.BinarySVM().fit(TWO, [0, 1], sample_weight=[-1, 1]), "at least 0, found -1.0"),
        (lambda: binary.BinarySVM(class_weight={0: -1}).fit(TWO, [0, 1]), "class_weight must be numbers"),
        (lambda: binary.separate([1.0], [1]), r"X must be a matrix of numbers .* found shape \(1,\)"),
        (lambda: binary.separate([[np.inf]], [1]), "X must be finite"),
        (lambda: binary.separate(TWO, [1, 1]), "y must have both labels"),
        (lambda: binary.distance(TWO, [0.0, 0.0]), "w must not be zero"),
        (lambda: binary.distance(TWO, [1.0]), "w must have 2 finite numbers"),
        (lambda: binary.minimise_risk(TWO, [1, -1], loss="huber"), "loss must be one of 'hinge', .*'huber'"),
        (
            lambda: binary.minimise_risk(TWO, [1, -1], penalty="l0"),
            "penalty must be one of 'l2', 'l1', found 'l0'",
        ),
        (lambda: binary.minimise_risk(TWO, [1, -1], C=inf), "C must be a positive, finite number, found inf"),
        (lambda: binary.minimise_risk(TWO, [1, 1]), "y must have both labels"),
        (
            lambda: binary.minimise_risk(TWO, [1, -1], fit_intercept="no"),
            "fit_intercept must be True or False, found 'no'",
        ),
        (lambda: binary.minimise_risk(TWO, [1, -1], tol=inf), "tol must be a positive, finite number"),
        (lambda: binary.minimise_risk(TWO, [1, -1], C=[1.0, 2.0]), "C must be a positive, finite number"),
        (
            lambda: binary.solve_svm(np.eye(2), [1, -1], fit_intercept=None),
            "fit_intercept must be True or False, found None",
        ),
        (
            lambda: binary.separate(TWO, [1, -1], fit_intercept=1),
            "fit_intercept must be True or False, found 1",
        ),
        (lambda: binary.distance(TWO, [1.0, 0.0], nan), "b must be a finite number, found nan"),
        (lambda: binary.distance(TWO, [1j, 0.0]), "w must have 2 finite numbers"),
        (lambda: binary.hinge_objective(TWO, [1, -1], [1.0, 0.0], C=-1), "C must be a positive number"),
        (lambda: binary.hinge_objective(TWO, [1, -1], [1.0, 0.0], C=nan), "C must be a positive number"),
        (lambda: binary.hinge_objective(TWO, [1, -1], [1.0, 0.0], C=inf), "C must be finite, found inf"),
        (lambda: binary.hinge_objective(TWO, [1, -1], [1.0, 0.0], nan), "b must be a finite number"),
        (lambda: binary.hinge_objective(TWO, [1, -1], [1e200, 0.0]), "leaves the range of floating point"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
