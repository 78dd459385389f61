"""Output codes: their distances, decoding, the estimator and the training-error bound."""

import pickle
import tracemalloc
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from math import ceil, comb, log2

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from mcutils import ecoc, loss

BUILT_IN = ["hamming", *loss.LOSSES]

# The lecture's example (K.20, K.21): the scores of seven classifiers, and a code of four classes.
LECTURE_SCORES = np.array([[0.5, -7, -1, -2, -10, -12, 9]])
LECTURE_CODE = np.array(
    [
        [-1, 0, -1, -1, 1, -1, -1],
        [1, -1, 0, 1, 1, 1, -1],
        [1, 0, -1, -1, -1, 1, 1],
        [-1, -1, 1, 0, -1, -1, 1],
    ]
)


# ---------------------------------------------------------------------------------------------------
# Naive twins: the definitions, one entry at a time, exactly


def rho_twin(row, other):
    return sum(Fraction(1 - int(a) * int(b), 2) for a, b in zip(row, other, strict=True))


def separation_twin(row, other):
    return sum(int(a) * int(b) == -1 for a, b in zip(row, other, strict=True))


def exact_term(name, z):
    """L(z) exactly, for a rational margin."""
    hinge = max(Fraction(0), 1 - z)
    sign = (z > 0) - (z < 0)
    return {"hinge": hinge, "squared_hinge": hinge**2, "linear": -z, "hamming": Fraction(1 - sign, 2)}[name]


def exact_distances(name, scores, code):
    """The distances of every row of a code to one vector of scores, as exact rationals."""
    return [
        sum(exact_term(name, int(m) * Fraction(float(f))) for m, f in zip(row, scores, strict=True))
        for row in code
    ]


def exponential_champions(scores, code):
    """All rows of least exponential distance, by decimal arithmetic."""
    terms = [Counter((-row * scores + 0.0).tolist()) for row in code]
    best = [0]
    for r in range(1, len(code)):
        order = sign_of_difference(terms[r] - terms[best[0]], terms[best[0]] - terms[r])
        best = [r] if order < 0 else [*best, r] if order == 0 else best
    return best


def sign_of_difference(left, right):
    """The sign of a difference of sums of exponentials, given by the exponents that do not cancel."""
    if not left and not right:
        return 0
    for digits in (60, 2000):
        with localcontext() as context:
            context.prec = digits
            top = Decimal(max([*left, *right]))
            sums = [sum(c * (Decimal(v) - top).exp() for v, c in side.items()) for side in (left, right)]
            if abs(sums[0] - sums[1]) > Decimal(10) ** (20 - digits):
                return 1 if sums[0] > sums[1] else -1
    raise AssertionError("2000 digits should tell apart what these tests compare")


def first_and_tied(rows):
    return rows[0], len(rows) > 1


def codes(max_k=7, max_l=9):
    """Codes that can work."""

    def works(code):
        try:
            ecoc.check_code(code)
        except ValueError:
            return False
        return True

    @st.composite
    def draw_code(draw):
        k = draw(st.integers(2, max_k))
        l = draw(st.integers(ceil(log2(k)), max_l))
        seed = draw(st.integers(0, 2**32 - 1))
        rng = np.random.default_rng(seed)
        entries = [-1, 1] if draw(st.booleans()) else [-1, 0, 1]
        for _ in range(200):
            code = rng.choice(entries, size=(k, l)).astype(np.int8)
            if works(code):
                return code
        assume(False)

    return draw_code()


@st.composite
def codes_and_scores(draw, elements, max_n=4):
    code = draw(codes())
    n = draw(st.integers(1, max_n))
    return code, draw(hnp.arrays(np.float64, (n, code.shape[1]), elements=elements))


# ---------------------------------------------------------------------------------------------------
# Codes


@pytest.mark.parametrize("k", range(2, 12))
def test_one_vs_all_rows_differ_in_two_columns(k):
    distances = ecoc.report(ecoc.one_vs_all(k)).distances
    assert (distances[~np.eye(k, dtype=bool)] == 2).all()


@pytest.mark.parametrize("k", range(2, 12))
def test_all_pairs_distance_is_half_of_one_more_than_the_pairs(k):
    distances = ecoc.report(ecoc.all_pairs(k)).distances
    assert (distances[~np.eye(k, dtype=bool)] == (comb(k, 2) + 1) / 2).all()


def test_all_pairs_has_one_column_for_each_pair_in_order():
    columns = [(int(np.argmax(c)), int(np.argmin(c)), int(np.abs(c).sum())) for c in ecoc.all_pairs(5).T]
    assert columns == [(r, q, 2) for r, q in combinations(range(5), 2)]


@pytest.mark.parametrize("k", range(2, 13))
def test_exhaustive_rows_have_equal_distances(k):
    distances = ecoc.report(ecoc.exhaustive(k)).distances
    assert (distances[~np.eye(k, dtype=bool)] == 2 ** (k - 2)).all()


@pytest.mark.parametrize("k", range(2, 8))
def test_exhaustive_has_every_split_of_the_classes_once(k):
    splits = [
        frozenset({frozenset(np.flatnonzero(c > 0)), frozenset(np.flatnonzero(c < 0))})
        for c in ecoc.exhaustive(k).T
    ]
    every = {
        frozenset({frozenset(part), frozenset(range(k)) - frozenset(part)})
        for size in range(1, k)
        for part in combinations(range(k), size)
    }
    assert len(splits) == len(set(splits))
    assert set(splits) == every


RANDOM_CODES = pytest.mark.parametrize("make", [ecoc.dense, ecoc.sparse], ids=["dense", "sparse"])


@RANDOM_CODES
@settings(max_examples=30)
@given(k=st.integers(2, 14), seed=st.integers(0, 2**32 - 1))
@example(k=2, seed=0)
def test_random_codes_have_no_defect(make, k, seed):
    code = make(k, random_state=seed)
    result = ecoc.report(ecoc.check_code(code))
    assert result.constant_columns == result.duplicate_columns == result.complementary_columns == ()
    assert result.min_separation >= 1
    assert (make is ecoc.sparse) or not result.zeros.any()


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 10, 26, 50])
def test_random_codes_have_the_customary_lengths_as_far_as_columns_differ(k):
    binary = {tuple(c) for c in product([-1, 1], repeat=k)} if k <= 6 else None
    ternary = {tuple(c) for c in product([-1, 0, 1], repeat=k)} if k <= 6 else None

    def up_to_sign(columns):
        return sum(min(c) == -1 and max(c) == 1 for c in columns) // 2 if columns else 10**9

    assert ecoc.dense(k, random_state=0).shape == (k, min(ceil(10 * log2(k)), up_to_sign(binary)))
    assert ecoc.sparse(k, random_state=0).shape == (k, min(ceil(15 * log2(k)), up_to_sign(ternary)))


def test_half_of_a_sparse_code_is_zero():
    zeros = [(ecoc.sparse(30, random_state=seed) == 0).mean() for seed in range(5)]
    assert np.mean(zeros) == pytest.approx(0.5, abs=0.05)


def test_a_dense_code_is_better_than_chance():
    rng = np.random.default_rng(0)
    by_chance = [ecoc.report(rng.choice([-1, 1], size=(10, 34))).rho for _ in range(200)]
    assert ecoc.report(ecoc.dense(10, random_state=1)).rho >= max(by_chance)


@RANDOM_CODES
def test_a_seed_determines_the_code(make):
    np.testing.assert_array_equal(make(9, random_state=5), make(9, random_state=5))
    assert (make(9, random_state=5) != make(9, random_state=6)).any()
    shared = np.random.RandomState(3)
    assert (make(9, random_state=shared) != make(9, random_state=shared)).any()
    np.testing.assert_array_equal(
        make(9, random_state=np.random.RandomState(3)), make(9, random_state=np.random.RandomState(3))
    )
    np.testing.assert_array_equal(
        make(9, random_state=np.random.default_rng(3)), make(9, random_state=np.random.default_rng(3))
    )


@RANDOM_CODES
def test_the_number_of_columns_can_be_chosen(make):
    assert make(8, 20, random_state=0).shape == (8, 20)


@pytest.mark.parametrize("make", [ecoc.one_vs_all, ecoc.all_pairs, ecoc.exhaustive, ecoc.dense, ecoc.sparse])
@pytest.mark.parametrize("k", [1, 0, -3, 2.0, "3", None, True])
def test_a_code_needs_two_classes(make, k):
    with pytest.raises(ValueError, match=r"k must be an integer, at least 2|k must be an integer from 2"):
        make(k)


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="k must be an integer from 2 to 12, found 13"):
        ecoc.exhaustive(13)
    with pytest.raises(ValueError, match="n_columns must be an integer from 2 to 7, found 8"):
        ecoc.dense(4, 8)
    with pytest.raises(ValueError, match="n_columns must be an integer from 2 to 25, found 26"):
        ecoc.sparse(4, 26)


def test_a_random_code_that_is_not_found_is_not_guessed():
    with pytest.raises(ValueError, match="separates all k=40 classes; take more columns"):
        ecoc.dense(40, 6, random_state=0)


@given(code=hnp.arrays(np.int8, st.tuples(st.integers(2, 6), st.integers(1, 7)), elements=st.integers(-1, 1)))
def test_the_report_is_the_definition(code):
    result = ecoc.report(code)
    rows, columns = range(len(code)), range(code.shape[1])
    for r, q in product(rows, rows):
        assert result.distances[r, q] == rho_twin(code[r], code[q])
        assert result.separations[r, q] == separation_twin(code[r], code[q])
    assert result.rho == min(rho_twin(code[r], code[q]) for r, q in combinations(rows, 2))
    assert result.min_separation == min(separation_twin(code[r], code[q]) for r, q in combinations(rows, 2))
    assert result.zeros.tolist() == [list(row).count(0) for row in code]
    assert result.constant_columns == tuple(s for s in columns if not {-1, 1} <= set(code[:, s].tolist()))
    pairs = list(combinations(columns, 2))
    assert result.duplicate_columns == tuple((s, t) for s, t in pairs if (code[:, s] == code[:, t]).all())
    assert result.complementary_columns == tuple(
        (s, t) for s, t in pairs if (code[:, s] == -code[:, t]).all()
    )
    assert result.equal_rows == tuple((r, q) for r, q in combinations(rows, 2) if (code[r] == code[q]).all())


def always_repaired(code, w):
    """Is the true row the only nearest one after every choice of at most w wrong columns? By enumeration."""
    for point in product([-1, 1], repeat=code.shape[1]):
        twice = (code.shape[1] - code @ np.array(point)).tolist()  # 2 d_H of every row
        for y, row in enumerate(code):
            wrong = int((row * np.array(point) == -1).sum())
            if wrong <= w and any(twice[r] <= twice[y] for r in range(len(code)) if r != y):
                return False
    return True


@settings(max_examples=150, deadline=None)
@given(code=hnp.arrays(np.int8, st.tuples(st.integers(2, 4), st.integers(1, 6)), elements=st.integers(-1, 1)))
@example(code=np.array([[1, 1, 1, 1, 1, 1], [-1, 0, 0, 0, 0, 0]], dtype=np.int8))  # the full row is safer
@example(code=ecoc.exhaustive(4)[:, :6])
def test_the_report_says_how_many_wrong_columns_are_repaired(code):
    found = ecoc.report(code).repairs
    code = code.astype(int)
    assert found >= -1
    assert found < 0 or always_repaired(code, found)
    assert not always_repaired(code, found + 1)


@pytest.mark.parametrize(
    ("code", "repairs"),
    [
        (ecoc.one_vs_all(5), 0),
        (ecoc.all_pairs(5), 0),
        (ecoc.exhaustive(5), 3),
        (LECTURE_CODE, 1),
        ([[1], [-1]], 0),
        ([[1, 0, 0], [-1, 1, 1], [-1, -1, -1]], -1),
    ],
)
def test_wrong_columns_that_known_codes_repair(code, repairs):
    assert ecoc.report(code).repairs == repairs


@given(code=hnp.arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(1, 5)), elements=st.integers(-1, 1)))
def test_a_code_is_refused_if_and_only_if_it_is_not_usable(code):
    result = ecoc.report(code)
    if result.constant_columns or result.min_separation == 0:
        with pytest.raises(ValueError, match="not usable"):
            ecoc.check_code(code)
    else:
        checked = ecoc.check_code(code.tolist())
        assert checked.dtype == np.int8
        np.testing.assert_array_equal(checked, code)


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ([[1, 1], [-1, -1], [0, 0]], r"class 3 is never used \(its row is zero\)"),
        ([[1, 1], [-1, 1]], r"column 2 \(no -1\)"),
        ([[1, 0], [-1, 0]], r"column 2 \(no \+1 and no -1\)"),
        ([[1, -1], [-1, 1], [1, -1]], "classes 1 and 3 have opposite signs in no column"),
        ([[1, 2], [-1, 1]], r"entries -1, 0, \+1 only, found \[1, 2, -1, 1\]"),
        ([[1.0, np.nan], [-1, 1]], r"entries -1, 0, \+1 only"),
        ([["a", "b"], ["c", "d"]], r"entries -1, 0, \+1 only"),
        ([[1, -1, 1]], r"at least two classes .* found shape \(1, 3\)"),
        ([1, -1], r"must be a matrix .* found shape \(2,\)"),
        (np.zeros((3, 0)), r"found shape \(3, 0\)"),
    ],
)
def test_a_refusal_names_what_is_wrong(code, fault):
    with pytest.raises(ValueError, match=fault):
        ecoc.check_code(code)


def test_a_long_list_of_faults_is_cut():
    # two columns that lack a sign, and 45 pairs of equal rows; five faults are named
    with pytest.raises(ValueError, match=r"column 1 \(no -1\); .*; and 42 more faults"):
        ecoc.check_code(np.tile([1, -1], (10, 1)))


# ---------------------------------------------------------------------------------------------------
# Decoding


def test_the_example_of_the_lecture():
    hamming = ecoc.decode(LECTURE_SCORES, LECTURE_CODE)
    np.testing.assert_array_equal(hamming.distances, [[3.5, 4.5, 1.5, 2.5]])
    assert hamming.winner + 1 == 3

    exponential = ecoc.decode(LECTURE_SCORES, LECTURE_CODE, "exponential")
    np.testing.assert_allclose(
        exponential.distances, [[30132.7017, 192893.338, 162756.901, 5.3681]], atol=1e-3
    )
    assert exponential.winner + 1 == 4

    hinge = ecoc.decode(LECTURE_SCORES, LECTURE_CODE, "hinge")
    np.testing.assert_array_equal(hinge.distances, [[23.5, 38.5, 14.5, 4.5]])
    assert hinge.winner + 1 == 4

    logistic = ecoc.decode(LECTURE_SCORES, LECTURE_CODE, "logistic")
    np.testing.assert_allclose(logistic.distances, [[21.108, 34.295, 13.608, 2.982]], atol=5e-4)
    assert logistic.winner + 1 == 4


@pytest.mark.parametrize("name", ["hamming", "hinge", "squared_hinge", "linear"])
@given(given_=codes_and_scores(st.integers(-6, 6).map(lambda j: j / 4)))
def test_winner_and_ties_are_exact_where_the_arithmetic_is(name, given_):
    code, scores = given_
    result = ecoc.decode(scores, code, name)
    for i, f in enumerate(scores):
        exact = exact_distances(name, f, code)
        np.testing.assert_array_equal(result.distances[i], np.array(exact, dtype=float))
        rows = [r for r, d in enumerate(exact) if d == min(exact)]
        assert (result.winner[i], result.tied[i]) == first_and_tied(rows)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "linear"])
@given(given_=codes_and_scores(st.integers(-60, 60).map(lambda j: j / 10)))
def test_ties_are_seen_although_tenths_are_rounded(name, given_):
    code, scores = given_
    result = ecoc.decode(scores, code, name)
    for i, f in enumerate(scores):
        tenths = [Fraction(round(10 * v), 10) for v in f]
        exact = [sum(exact_term(name, int(m) * v) for m, v in zip(row, tenths, strict=True)) for row in code]
        rows = [r for r, d in enumerate(exact) if d == min(exact)]
        assert (result.winner[i], result.tied[i]) == first_and_tied(rows)


@pytest.mark.parametrize("name", BUILT_IN)
@given(given_=codes_and_scores(st.floats(-50, 50)))
def test_distances_are_sums_of_losses(name, given_):
    code, scores = given_
    one = loss.get("zero_one" if name == "hamming" else name)
    naive = np.array(
        [[sum(float(one(m * f)) for m, f in zip(row, x, strict=True)) for row in code] for x in scores]
    )
    magnitude = np.abs(scores).sum(axis=1).max() if name == "linear" else 0.0
    np.testing.assert_allclose(
        ecoc.decode(scores, code, name).distances, naive, rtol=1e-13, atol=1e-14 * magnitude
    )


@pytest.mark.parametrize("name", BUILT_IN)
@given(given_=codes_and_scores(st.integers(-40, 40).map(lambda j: j / 10)), data=st.data())
def test_the_order_of_the_columns_does_not_matter(name, given_, data):
    code, scores = given_
    order = data.draw(st.permutations(range(code.shape[1])))
    result = ecoc.decode(scores, code, name)
    moved = ecoc.decode(scores[:, order], code[:, order], name)
    np.testing.assert_array_equal(result.winner, moved.winner)
    np.testing.assert_array_equal(result.tied, moved.tied)


@pytest.mark.parametrize("name", BUILT_IN)
@given(given_=codes_and_scores(st.floats(-5, 5)), data=st.data())
def test_the_sign_of_a_column_does_not_matter(name, given_, data):
    code, scores = given_
    signs = np.array(
        data.draw(st.lists(st.sampled_from([-1, 1]), min_size=code.shape[1], max_size=code.shape[1]))
    )
    result = ecoc.decode(scores, code, name)
    turned = ecoc.decode(scores * signs, code * signs, name)
    np.testing.assert_array_equal(result.winner, turned.winner)
    np.testing.assert_array_equal(result.tied, turned.tied)


@pytest.mark.parametrize("name", BUILT_IN)
@given(code=codes())
def test_scores_of_zero_tie_all_rows(name, code):
    result = ecoc.decode(np.zeros((1, code.shape[1])), code, name)
    assert result.winner[0] == 0
    assert result.tied[0]
    assert len(set(result.distances[0].tolist())) == 1


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("shift", range(3))
def test_of_three_tied_classes_the_first_wins_however_they_are_named(name, shift):
    # each classifier of the three pairs lets another class win
    code = np.roll(ecoc.all_pairs(3), shift, axis=0)
    result = ecoc.decode(np.array([[0.3, -0.3, 0.3]]), code, name)
    assert result.winner[0] == 0
    assert result.tied[0]


@pytest.mark.parametrize("name", BUILT_IN)
@given(given_=codes_and_scores(st.integers(-30, 30).map(lambda j: j / 10)))
def test_distances_agree_with_winner_and_ties(name, given_):
    code, scores = given_
    result = ecoc.decode(scores, code, name)
    for values in [result.distances] + ([result.log_distances] if name == "exponential" else []):
        np.testing.assert_array_equal(values.argmin(axis=1), result.winner)
        np.testing.assert_array_equal(
            (values == values.min(axis=1, keepdims=True)).sum(axis=1) > 1, result.tied
        )


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_example_is_decoded_alike_alone_and_among_many(name):
    rng = np.random.default_rng(0)
    code = ecoc.sparse(9, random_state=0)
    scores = rng.integers(-9, 10, size=(30000, code.shape[1])) / 10  # several chunks, many ties
    scores[::7] *= 1000
    result = ecoc.decode(scores, code, name)
    some = np.arange(0, len(scores), 97)
    alone = [ecoc.decode(scores[i : i + 1], code, name) for i in some]
    np.testing.assert_array_equal(result.winner[some], np.concatenate([a.winner for a in alone]))
    np.testing.assert_array_equal(result.tied[some], np.concatenate([a.tied for a in alone]))
    np.testing.assert_allclose(
        result.distances[some], np.vstack([a.distances for a in alone]), rtol=1e-12, atol=1e-9
    )
    if name == "exponential":
        np.testing.assert_allclose(
            result.log_distances[some], np.vstack([a.log_distances for a in alone]), rtol=1e-14, atol=1e-12
        )


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_type_and_layout_of_scores_do_not_matter(name):
    rng = np.random.default_rng(1)
    scores = rng.integers(-8, 8, size=(50, 10)).astype(np.float64)
    code = ecoc.all_pairs(5)
    expected = ecoc.decode(scores, code, name)
    wide = np.zeros((50, 20))
    wide[:, ::2] = scores
    variants = [
        scores.astype(np.float32),
        scores.astype(int),
        np.asfortranarray(scores),
        wide[:, ::2],
        scores.tolist(),
    ]
    for variant in variants:
        result = ecoc.decode(variant, code, name)
        np.testing.assert_array_equal(result.winner, expected.winner)
        np.testing.assert_allclose(result.distances, expected.distances, rtol=1e-14)
        assert result.distances.dtype == np.float64


def test_no_scores_give_no_winners():
    result = ecoc.decode(np.empty((0, 3)), ecoc.one_vs_all(3), "hinge")
    assert result.winner.shape == result.tied.shape == (0,)
    assert result.distances.shape == (0, 3)


@pytest.mark.parametrize("name", ["hinge", "exponential", "logistic", "linear", "squared_hinge"])
@given(scores=hnp.arrays(np.float64, (4, 6), elements=st.integers(-900, 900).map(lambda j: j / 1000)))
def test_one_vs_all_chooses_the_largest_score(name, scores):
    np.testing.assert_array_equal(ecoc.decode(scores, ecoc.one_vs_all(6), name).winner, scores.argmax(axis=1))


@given(scores=hnp.arrays(np.float64, (4, 10), elements=st.floats(-3, 3)))
def test_all_pairs_by_hamming_is_the_vote(scores):
    votes = np.zeros((4, 5))
    for s, (r, q) in enumerate(combinations(range(5), 2)):
        votes[:, r] += (np.sign(scores[:, s]) + 1) / 2
        votes[:, q] += (1 - np.sign(scores[:, s])) / 2
    np.testing.assert_array_equal(ecoc.decode(scores, ecoc.all_pairs(5)).winner, votes.argmax(axis=1))


@given(scores=hnp.arrays(np.float64, (3, 15), elements=st.floats(-30, 30)))
def test_without_zeros_logistic_and_linear_decoding_choose_alike(scores):
    # L(-z) = L(z) + z, so two rows differ by the sum of +-f over the columns that separate them
    code = ecoc.exhaustive(5)
    linear = ecoc.decode(scores, code, "linear")
    second = np.sort(linear.distances, axis=1)[:, 1] - linear.distances.min(axis=1)
    clear = second > 1e-9
    np.testing.assert_array_equal(ecoc.decode(scores, code, "logistic").winner[clear], linear.winner[clear])


@given(given_=codes_and_scores(st.floats(-5, 5)))
def test_a_callable_is_a_loss_like_another(given_):
    code, scores = given_
    own = ecoc.decode(scores, code, lambda z: np.maximum(0, 1 - z))
    known = ecoc.decode(scores, code, "hinge")
    np.testing.assert_array_equal(own.winner, known.winner)
    np.testing.assert_array_equal(own.distances, known.distances)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic", "linear"])
def test_a_large_term_that_rows_share_hides_nothing(name):
    # classes 1 and 2 pay for -1e9 in column 1, class 3 pays more in column 4; columns 2 and 3 decide
    code = np.array([[1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, -1]])
    result = ecoc.decode([[-1e9, 1e-7, 0.0, 2e9], [-1e9, -1e-7, 0.0, 2e9], [-1e9, 0.0, 0.0, 2e9]], code, name)
    np.testing.assert_array_equal(result.winner, [0, 1, 0])
    np.testing.assert_array_equal(result.tied, [False, False, True])


def test_a_callable_may_be_negative_and_not_convex():
    code, scores = ecoc.one_vs_all(3), np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0], [-3.0, 5.0, 1.0]])
    result = ecoc.decode(scores, code, lambda z: np.sin(z) - 2)
    naive = (np.sin(code[None] * scores[:, None, :]) - 2).sum(axis=2)
    np.testing.assert_allclose(result.distances, naive, rtol=1e-14)
    np.testing.assert_array_equal(result.tied, [False, True, False])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda z: z.sum(axis=1), r"must return one number for each margin"),
        (lambda z: np.where(z > 1, np.nan, 0.0), r"must be finite, found nan at z = 2"),
        (lambda z: np.where(z > 1, np.inf, 0.0), r"must be finite, found inf at z = 2"),
        ("huber", "unknown loss 'huber'; allowed are exponential"),
    ],
)
def test_a_loss_that_is_none_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        ecoc.decode([[2.0, 0.0, 1.0]], ecoc.one_vs_all(3), bad)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0, 3.0], r"one row for each example and 3 columns, as many as the code, found shape \(3,\)"),
        ([[1.0, 2.0]], r"found shape \(1, 2\)"),
        ([[1.0, 2.0, np.nan]], "must be finite, found nan"),
        ([[1.0, -np.inf, np.nan]], "must be finite, found -inf"),
        ([[1e308, 1e308, 1e308]], "sum overflows"),
        ([["a", "b", "c"]], "must be real numbers"),
        ([[1j, 0, 0]], "must be real numbers"),
    ],
)
@pytest.mark.parametrize("name", BUILT_IN)
def test_scores_that_are_none_are_refused(scores, message, name):
    with pytest.raises(ValueError, match=message):
        ecoc.decode(scores, ecoc.one_vs_all(3), name)


def test_a_loss_that_overflows_is_refused():
    with pytest.raises(ValueError, match=r"'squared_hinge' overflows at scores of magnitude 1e\+200"):
        ecoc.decode([[1e200, -1e200, 0.0]], ecoc.one_vs_all(3), "squared_hinge")


@pytest.mark.parametrize("name", ["hamming", "hinge", "logistic", "linear", "exponential"])
def test_scores_near_the_end_of_the_range_are_decoded(name):
    result = ecoc.decode([[-1e308, 1e300, 0.0]], ecoc.one_vs_all(3), name)
    assert result.winner.tolist() == [1]


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.once
def test_memory_beyond_the_scores_is_less_than_the_scores(name):
    scores = np.random.default_rng(0).normal(size=(300_000, 40))
    code = ecoc.dense(26, 40, random_state=0)
    with threadpool_limits(2):
        tracemalloc.start()
        result = ecoc.decode(scores, code, name)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert result.distances.shape == (300_000, 26)
    assert peak <= scores.nbytes


@pytest.mark.parametrize("name", BUILT_IN)
def test_threads_do_not_change_a_bit(name):
    rng = np.random.default_rng(0)
    code = ecoc.sparse(9, random_state=0)
    scores = rng.integers(-9, 10, size=(30000, code.shape[1])) * 0.1
    scores[::5] *= 1000
    result = []
    for threads in (1, 4):
        with threadpool_limits(threads, user_api="blas"):
            result.append(ecoc.decode(scores, code, name))
    for one, other in zip(*[(f.winner, f.tied, f.distances) for f in result], strict=True):
        np.testing.assert_array_equal(one, other)
    if name == "exponential":
        np.testing.assert_array_equal(result[0].log_distances, result[1].log_distances)


def test_the_error_state_of_the_caller_holds_in_every_thread():
    scores = np.full((30000, 10), -1.0)
    with threadpool_limits(2), np.errstate(invalid="ignore"), pytest.raises(ValueError, match="found nan"):
        ecoc.decode(scores, ecoc.all_pairs(5), lambda z: np.sqrt(z + 0.5))


# ---------------------------------------------------------------------------------------------------
# Exponential decoding: exact, whatever overflows

MAGNITUDES = {
    "overflow": st.sampled_from([-1e4, 1e4, -9999.5, 9999.5, 0.0]),
    "mixed": st.one_of(
        st.floats(-1e4, 1e4), st.floats(-3, 3), st.sampled_from([-300.0, 300.0, 700.0, -745.0])
    ),
    "equal": st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]),
    "moderate": st.floats(-30, 30),
    "tiny": st.sampled_from([5e-324, -5e-324, 1e-300, 0.0, 1e-17, -1e-17, 1.0]),
}


@pytest.mark.parametrize("kind", MAGNITUDES)
@given(data=st.data())
def test_exponential_decoding_is_exact(kind, data):
    code, scores = data.draw(codes_and_scores(MAGNITUDES[kind], max_n=2))
    result = ecoc.decode(scores, code, "exponential")
    for i, f in enumerate(scores):
        assert (result.winner[i], result.tied[i]) == first_and_tied(exponential_champions(f, code))


@pytest.mark.parametrize("kind", MAGNITUDES)
@given(data=st.data())
def test_log_distances_are_finite_and_agree_with_the_winner(kind, data):
    code, scores = data.draw(codes_and_scores(MAGNITUDES[kind]))
    result = ecoc.decode(scores, code, "exponential")
    logs = result.log_distances
    assert np.isfinite(logs).all()
    np.testing.assert_array_equal(logs.argmin(axis=1), result.winner)
    np.testing.assert_array_equal((logs == logs.min(axis=1, keepdims=True)).sum(axis=1) > 1, result.tied)


def test_only_exponential_decoding_has_logarithms():
    assert ecoc.decode([[1.0, 2.0]], ecoc.one_vs_all(2), "hinge").log_distances is None


@pytest.mark.parametrize("common", [40.0, 300.0, 1e4])
def test_rows_that_share_a_dominating_term_are_separated(common):
    # columns 1 and 4 make every class pay e^common once; columns 2 and 3 decide
    code = np.array([[1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, -1]])
    scores = [[-common, a, b, common] for a, b in [(0.5, -0.25), (-0.5, 0.25), (0.5, 0.25)]]
    np.testing.assert_array_equal(ecoc.decode(scores, code, "exponential").winner, [0, 1, 2])


def test_rows_whose_equal_dominating_terms_stand_in_different_columns_are_separated():
    # both rows pay e^10000 once, for another column each; the third column decides
    code = np.array([[1, -1, -1], [-1, 1, 1]])
    result = ecoc.decode([[1e4, 1e4, 1e-3], [1e4, 1e4, -1e-3], [1e4, 1e4, 0.0]], code, "exponential")
    np.testing.assert_array_equal(result.winner, [1, 0, 0])
    np.testing.assert_array_equal(result.tied, [False, False, True])


def test_sums_of_different_terms_that_agree_to_all_digits_are_separated():
    """e^a + e^b against e^c + e^d, where d is the rounded number that would make them equal."""
    rng = np.random.default_rng(0)
    code = np.array([[-1, -1, 1, 1], [1, 1, -1, -1]])
    for _ in range(200):
        a, b, c = rng.uniform(-1, 3, size=3)
        with localcontext() as context:
            context.prec = 60
            rest = Decimal(a).exp() + Decimal(b).exp() - Decimal(c).exp()
            if rest <= 0:
                continue
            d = float(rest.ln())
            # distances: e^a + e^b + e^-c + e^-d against e^-a + e^-b + e^c + e^d; shifted so that only
            # the large ones matter
            shift = 200.0
            f = [a + shift, b + shift, c + shift, d + shift]
            power = [Decimal(v).exp() for v in f]
            small = [Decimal(-v).exp() for v in f]
            first = power[0] + power[1] + small[2] + small[3]
            second = small[0] + small[1] + power[2] + power[3]
        result = ecoc.decode([f], code, "exponential")
        assert result.winner[0] == int(second < first)
        assert not result.tied[0]


def test_thousands_of_random_scores_are_decided_exactly():
    rng = np.random.default_rng(7)
    code = ecoc.sparse(5, 8, random_state=1)
    mixed = rng.normal(size=(2000, 8)) * 10.0 ** rng.uniform(-3, 4, size=(2000, 8))
    few = rng.choice([-1e4, 1e4], size=(500, 8)), rng.choice([-300.0, -299.0, 0.0, 1.0, 300.0], size=(500, 8))
    scores = np.concatenate([mixed.clip(-1e4, 1e4), *few])
    result = ecoc.decode(scores, code, "exponential")
    expected = [first_and_tied(exponential_champions(f, code)) for f in scores]
    assert list(zip(result.winner, result.tied, strict=True)) == expected


# ---------------------------------------------------------------------------------------------------
# The training-error bound

BOUNDED = ["hamming", "hinge", "squared_hinge", "exponential", "logistic"]


@pytest.mark.parametrize("name", BOUNDED)
@given(given_=codes_and_scores(st.integers(-12, 12).map(lambda j: j / 4)), data=st.data())
def test_the_bound_is_the_definition(name, given_, data):
    code, scores = given_
    (n, l), k = scores.shape, len(code)
    y = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1)))
    result = ecoc.training_error_bound(scores, y, code, name)
    one = loss.get("zero_one" if name == "hamming" else name)
    paid = [[float(one(int(code[c, s]) * f[s])) for s in range(l)] for f, c in zip(scores, y, strict=True)]
    rho = min(rho_twin(code[r], code[q]) for r, q in combinations(range(k), 2))
    delta = min(separation_twin(code[r], code[q]) for r, q in combinations(range(k), 2))
    at_zero = float(one(0.0))
    assert result.rho == rho
    assert result.epsilon == pytest.approx(np.mean(paid), rel=1e-12)
    assert result.bound == pytest.approx(l * np.mean(paid) / (float(rho) * at_zero), rel=1e-12)
    if len({(row == 0).sum() for row in code}) > 1:
        assert result.sharper is None
    else:
        nonzero = [
            sum(p for p, m in zip(row, code[c], strict=True) if m) for row, c in zip(paid, y, strict=True)
        ]
        assert result.sharper == pytest.approx(np.mean(nonzero) / (delta * at_zero), rel=1e-12, abs=1e-300)


@given(given_=codes_and_scores(st.integers(-4, 4).map(lambda j: j / 2)), data=st.data())
def test_a_tie_with_the_right_class_is_an_error(given_, data):
    code, scores = given_
    y = data.draw(hnp.arrays(np.int64, len(scores), elements=st.integers(0, len(code) - 1)))
    wrong = 0
    for f, c in zip(scores, y, strict=True):
        distances = exact_distances("hinge", f, code)
        wrong += any(d <= distances[c] for r, d in enumerate(distances) if r != c)
    assert ecoc.training_error_bound(scores, y, code, "hinge").error == wrong / len(y)


@pytest.mark.parametrize("name", [*BOUNDED, lambda z: np.maximum(0, 2 - z)])
@given(given_=codes_and_scores(st.floats(-4, 4), max_n=8), data=st.data())
def test_the_error_is_at_most_both_bounds(name, given_, data):
    code, scores = given_
    y = data.draw(hnp.arrays(np.int64, len(scores), elements=st.integers(0, len(code) - 1)))
    result = ecoc.training_error_bound(scores, y, code, name)
    assert result.error <= result.bound * (1 + 1e-12)
    if result.sharper is not None:
        assert result.error <= result.sharper * (1 + 1e-12)


def test_the_bound_is_reached():
    # OvA, k = 2, both classifiers silent: every row ties, epsilon = L(0), and l epsilon / (rho L(0)) = 1
    result = ecoc.training_error_bound(np.zeros((3, 2)), [0, 1, 1], ecoc.one_vs_all(2), "hinge")
    assert (result.error, result.bound, result.sharper) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("k", [3, 4, 5, 6, 9])
def test_for_all_pairs_only_the_sharper_bound_is_not_vacuous_from_five_classes_on(k):
    code = ecoc.all_pairs(k)
    result = ecoc.training_error_bound(2.0 * code, np.arange(k), code, "hinge")  # no binary loss at all
    assert result.error == result.sharper == 0
    assert (result.bound > 1) == (k >= 5)
    zeros = comb(k, 2) - (k - 1)
    assert result.bound == pytest.approx(zeros / ((comb(k, 2) + 1) / 2), rel=1e-14)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("linear", r"divides by L\(0\), which must be positive; the loss 'linear' has L\(0\) = -?0"),
        (lambda z: 1 - z, r"needs L >= 0"),
        (lambda z: np.exp(-(z**2)), r"needs \(L\(z\) \+ L\(-z\)\) / 2 >= L\(0\) = 1"),
    ],
)
def test_a_loss_outside_the_theorem_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        ecoc.training_error_bound([[3.0, -1.0]], [0], ecoc.one_vs_all(2), bad)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0], r"found shape \(1,\)"),
        ([0, 2], r"integers from 0 to 1, found \[0, 2\]"),
        ([-1, 1], r"integers from 0 to 1, found \[-1, 1\]"),
        ([0.0, 1.0], "integers from 0 to 1"),
    ],
)
def test_labels_of_the_bound_are_rows(y, message):
    with pytest.raises(ValueError, match=message):
        ecoc.training_error_bound(np.ones((2, 2)), y, ecoc.one_vs_all(2), "hinge")


def test_equal_rows_have_no_bound():
    with pytest.raises(ValueError, match="which is 0 here: rows 1 and 3 are equal and have no zeros"):
        ecoc.training_error_bound([[1.0, -1.0]], [0], [[1, 1], [-1, 1], [1, 1]], loss="hinge")


def test_rows_that_no_column_separates_have_no_sharper_bound():
    result = ecoc.training_error_bound([[1.0, 1.0]], [0], [[1, 0], [0, 1]], loss="hinge")
    assert result.sharper is None
    assert result.bound == 1.0  # rho = 1, and the zero of row 1 costs 1


def test_an_exponential_bound_may_overflow_silently():
    result = ecoc.training_error_bound([[-1e4, 1e4]], [0], ecoc.one_vs_all(2), "exponential")
    assert (result.error, result.bound) == (1.0, np.inf)


# ---------------------------------------------------------------------------------------------------
# The estimator


@pytest.mark.parametrize("decoding", [*BUILT_IN, lambda z: np.maximum(0, 1 - z)])
@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "exhaustive", "dense", "sparse"])
@pytest.mark.parametrize(
    "base",
    [RidgeClassifier(), DecisionTreeClassifier(max_depth=2, random_state=0)],
    ids=["scores", "probabilities"],
)
def test_predict_is_the_first_argmax_of_the_decision_function(iris, base, code, decoding):
    X, y = iris
    model = ecoc.OutputCode(base, code=code, decoding=decoding, random_state=0).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (150, 3)
    np.testing.assert_array_equal(model.predict(X), model.classes_[values.argmax(axis=1)])


@pytest.mark.parametrize("decoding", BUILT_IN)
@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "exhaustive", "dense", "sparse"])
def test_two_classes_are_decided_by_the_sign(iris, code, decoding):
    X, y = iris[0][50:], iris[1][50:]
    model = ecoc.OutputCode(LogisticRegression(), code=code, decoding=decoding, random_state=0).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (100,)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(values > 0).astype(int)])


def test_the_decision_function_is_minus_the_distance(iris):
    X, y = iris
    for decoding in BUILT_IN:
        model = ecoc.OutputCode(RidgeClassifier(), decoding=decoding).fit(X, y)
        result = ecoc.decode(model.column_scores(X), model.code_, decoding)
        expected = result.log_distances if decoding == "exponential" else result.distances
        np.testing.assert_array_equal(model.decision_function(X), -expected)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X, y, sample_weight
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.zeros(len(X))


def test_a_column_is_trained_on_the_classes_that_it_uses():
    X = np.arange(12.0)[:, None]
    y = np.array(["b", "a", "c", "d"] * 3)
    weight = np.arange(12.0) + 1
    code = ecoc.all_pairs(4)
    model = ecoc.OutputCode(Recorder(), code=code).fit(X, y, sample_weight=weight)
    row = {"a": 0, "b": 1, "c": 2, "d": 3}
    for s, fitted in enumerate(model.estimators_):
        expected = [(X[i, 0], code[row[y[i]], s], weight[i]) for i in range(12) if code[row[y[i]], s] != 0]
        seen = list(zip(fitted.seen_[0][:, 0], fitted.seen_[1], fitted.seen_[2], strict=True))
        assert seen == expected


def test_all_pairs_by_hamming_agrees_with_one_vs_one(digits):
    X, y = digits
    ours = ecoc.OutputCode(LinearSVC(random_state=0), decoding="hamming").fit(X, y)
    peer = OneVsOneClassifier(LinearSVC(random_state=0)).fit(X, y)
    result = ecoc.decode(ours.column_scores(X), ours.code_)
    clear = ~result.tied  # the peer breaks ties by the scores
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(ours.predict(X)[clear], peer.predict(X)[clear])


@pytest.mark.parametrize("decoding", ["linear", "logistic", "exponential"])
def test_one_vs_all_agrees_with_one_vs_rest(digits, decoding):
    X, y = digits
    ours = ecoc.OutputCode(LogisticRegression(), code="one-vs-all", decoding=decoding).fit(X, y)
    np.testing.assert_array_equal(
        ours.predict(X), OneVsRestClassifier(LogisticRegression()).fit(X, y).predict(X)
    )


def test_linear_decoding_without_zeros_is_the_nearest_codeword(digits):
    # |M(r) - f|^2 = l + |f|^2 - 2 M(r) f
    X, y = digits
    peer = OutputCodeClassifier(LogisticRegression(), code_size=2, random_state=0).fit(X, y)
    ours = ecoc.OutputCode(LogisticRegression(), code=peer.code_book_, decoding="linear").fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


def test_columns_can_be_fitted_side_by_side(digits):
    X, y = digits
    alone = ecoc.OutputCode(RidgeClassifier()).fit(X, y)
    together = ecoc.OutputCode(RidgeClassifier(), n_jobs=2).fit(X, y)
    # not to the bit: a worker has its own number of BLAS threads, and so its own rounding
    np.testing.assert_allclose(together.column_scores(X), alone.column_scores(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("labels", [[0, 1, 2], [-7, 3, 11], ["x", "yy", "zzz"], [False, True, False]])
def test_labels_may_be_of_any_kind(iris, labels):
    X, y = iris
    labels = np.array(labels)[np.unique(y, return_inverse=True)[1]]
    model = ecoc.OutputCode(GaussianNB(), decoding="logistic").fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels) > 0.9


def test_certain_probabilities_give_finite_scores(iris):
    X, y = iris
    forest = RandomForestClassifier(5, random_state=0)
    model = ecoc.OutputCode(forest, decoding="exponential").fit(X, y)
    probabilities = model.estimators_[0].predict_proba(X)[:, 1]
    assert {0.0, 1.0} <= set(probabilities.tolist())
    scores = model.column_scores(X)[:, 0]
    middle = (probabilities > 0) & (probabilities < 1)
    p = probabilities[middle]
    np.testing.assert_allclose(scores[middle], np.log(p / (1 - p)), atol=1e-12)
    np.testing.assert_allclose(scores[probabilities == 1], 52 * np.log(2), rtol=1e-15)
    np.testing.assert_allclose(scores[probabilities == 0], -52 * np.log(2), rtol=1e-15)


@pytest.mark.parametrize("base", [GaussianNB(), RidgeClassifier()])
def test_a_weight_counts_as_so_many_copies(iris, base):
    X, y = iris
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = ecoc.OutputCode(base).fit(X, y, sample_weight=weight)
    repeated = ecoc.OutputCode(base).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.column_scores(X), repeated.column_scores(X), rtol=1e-6, atol=1e-9)


def test_data_frames_reach_the_classifiers_as_data_frames(iris):
    pd = pytest.importorskip("pandas")
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(colour=np.where(X[:, 0] > 6, "red", "blue"))
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["a", "b", "c", "d"]))
    model = ecoc.OutputCode(make_pipeline(columns, LogisticRegression())).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "colour"]
    assert model.n_features_in_ == 5
    assert model.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="columns are missing"):
        model.predict(frame.drop(columns="colour"))


@pytest.mark.parametrize("layout", ["csr_matrix", "csc_array", "coo_matrix"])
def test_sparse_data_give_the_same_classifier(digits, layout):
    sp = pytest.importorskip("scipy.sparse")
    X, y = digits
    full = ecoc.OutputCode(LinearSVC(random_state=0), decoding="hinge").fit(X, y)
    thin = ecoc.OutputCode(LinearSVC(random_state=0), decoding="hinge").fit(getattr(sp, layout)(X), y)
    np.testing.assert_array_equal(full.predict(X), thin.predict(sp.csr_matrix(X)))


def test_the_estimator_itself_is_left_alone(iris):
    X, y = iris
    base = LogisticRegression()
    code = ecoc.one_vs_all(3)
    model = ecoc.OutputCode(base, code=code)
    fitted = clone(model).fit(X, y)
    assert not hasattr(base, "coef_")
    assert not hasattr(model, "code_")
    np.testing.assert_array_equal(fitted.code_, code)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_the_random_state_draws_the_code(digits):
    X, y = digits
    drawn = [ecoc.OutputCode(GaussianNB(), code="dense", random_state=s).fit(X, y).code_ for s in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[0], ecoc.dense(10, random_state=0))
    assert (drawn[0] != drawn[2]).any()


def test_the_bound_of_a_fitted_classifier_is_that_of_its_scores(iris):
    X, y = iris
    model = ecoc.OutputCode(LogisticRegression(), decoding="logistic").fit(X, y)
    rows = np.searchsorted(model.classes_, y)
    expected = ecoc.training_error_bound(model.column_scores(X), rows, model.code_, "logistic")
    assert model.training_error_bound(X, y) == expected
    assert expected.error >= 1 - model.score(X, y) - 1e-12
    assert expected.error <= expected.sharper


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"code": "bch"}, "unknown code 'bch'; allowed are all-pairs, one-vs-all, exhaustive, dense, sparse"),
        ({"code": ecoc.one_vs_all(4)}, "one row for each class: 4 rows, 3 classes in y"),
        ({"code": [[1, -1], [-1, 1], [1, -1]]}, "classes 1 and 3 have opposite signs in no column"),
        ({"decoding": "huber"}, "unknown loss 'huber'"),
        ({"estimator": StandardScaler()}, r"or be a regressor, found StandardScaler\(\)"),
    ],
)
def test_parameters_that_cannot_work_are_refused(iris, parameters, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        ecoc.OutputCode(**{"estimator": GaussianNB(), **parameters}).fit(X, y)


def test_data_that_cannot_work_are_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"at least 2 classes, found 1 class: \['setosa'\]"):
        ecoc.OutputCode(GaussianNB()).fit(X[:50], y[:50])
    with pytest.raises(
        ValueError, match=r"sample_weight is given, but KNeighborsClassifier\(\) does not take it"
    ):
        ecoc.OutputCode(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match=r"not be zero for a whole class, found it zero for \['setosa'\]"):
        ecoc.OutputCode(GaussianNB()).fit(X, y, sample_weight=(y != "setosa").astype(float))
    with pytest.raises(ValueError, match=r"labels that are not among the classes: \['iris'\]"):
        ecoc.OutputCode(GaussianNB()).fit(X, y).training_error_bound(X, np.full(150, "iris"))


def test_errors_name_the_column(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"parameter of LinearSVC.*\n.*while fitting column 1 of the code"):
        ecoc.OutputCode(LinearSVC(C=-1)).fit(X, y)


@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "sparse"])
def test_batches_make_the_same_classifier_as_all_at_once(digits, code):
    X, y = digits
    model = ecoc.OutputCode(MultinomialNB(), code=code, random_state=0)
    for part in np.array_split(np.arange(600), 3):
        model.partial_fit(X[part], y[part], classes=np.arange(10))
    whole = ecoc.OutputCode(MultinomialNB(), code=code, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.code_, whole.code_)
    np.testing.assert_allclose(model.column_scores(X), whole.column_scores(X), atol=1e-9)


@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "sparse"])
def test_a_precomputed_kernel_is_cut_to_the_examples_of_a_column(iris, code):
    X, y = iris
    given_ = ecoc.OutputCode(SVC(kernel="precomputed"), code=code, random_state=0).fit(X @ X.T, y)
    implicit = ecoc.OutputCode(SVC(kernel="linear"), code=code, random_state=0).fit(X, y)
    np.testing.assert_allclose(given_.column_scores(X @ X.T), implicit.column_scores(X), atol=1e-6)
