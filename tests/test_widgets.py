"""The scripts of the site, in a JavaScript engine without a page: their numbers are Python's numbers."""

import json
import re
from fractions import Fraction
from pathlib import Path

import cvxopt
import numpy as np
import pytest
from py_mini_racer import MiniRacer
from scipy import stats
from sklearn.linear_model import LogisticRegression

from mcutils import (
    binary,
    bound,
    comparison,
    data,
    dual,
    ecoc,
    kernel,
    margin,
    plot,
    pruning,
    risk,
    solver,
    tree,
)
from mcutils.boosting import AdaBoostMH
from mcutils.hinge import HingeProblem

WEB = Path(__file__).parents[1] / "web"
SCRIPTS = sorted(path for path in WEB.rglob("*.js") if "vendor" not in path.parts)
LOSSES = ("hamming", "hinge", "exponential", "logistic", "linear")

# the lecture's worked example
LECTURE_CODE = np.array(
    [[-1, 0, -1, -1, 1, -1, -1], [1, -1, 0, 1, 1, 1, -1], [1, 0, -1, -1, -1, 1, 1], [-1, -1, 1, 0, -1, -1, 1]]
)
LECTURE_SCORES = np.array([0.5, -7, -1, -2, -10, -12, 9])
LECTURE_DISTANCES = {
    "hamming": [3.5, 4.5, 1.5, 2.5],
    "hinge": [23.5, 38.5, 14.5, 4.5],
    "exponential": [30132.70, 192893.34, 162756.90, 5.3681],
    "logistic": [21.108, 34.295, 13.608, 2.982],
}


def engine(*scripts):
    context = MiniRacer()
    for script in scripts:
        context.eval((WEB / script).read_text(encoding="utf-8"))
    return context


@pytest.fixture(scope="module")
def decoder():
    with engine("extra/widgets/ecoc-decoder.js") as context:
        yield context


@pytest.fixture(scope="module")
def explorer():
    with engine("extra/widgets/bound-explorer.js") as context:
        yield context


@pytest.fixture(scope="module")
def pruner():
    with engine("extra/widgets/pruning-path.js") as context:
        yield context


@pytest.fixture(scope="module")
def svm():
    with engine("extra/widgets/svm-machine.js", "extra/widgets/svm-demo.js") as context:
        yield context


@pytest.fixture(scope="module")
def quiz():
    with engine("static/book.js") as context:
        yield context


@pytest.fixture(scope="module")
def tables():
    with engine("static/tables.js") as context:
        yield context


def call(context, function, *arguments):
    """Call a JavaScript function with Python data; in the answer, None stands for what is not finite."""
    return json.loads(context.eval(f"JSON.stringify({function}(...{json.dumps(arguments)}))"))


def decode_all(context, code, scores, loss):
    """Decode every row of ``scores`` in JavaScript: distances (nan where not finite), winner, tied."""
    rows = call(
        context,
        f"((code, rows) => rows.map((f) => mcEcoc.decode(code, f, '{loss}')))",
        code.tolist(),
        scores.tolist(),
    )
    distances = np.array([row["distances"] for row in rows], dtype=float)
    return distances, np.array([row["index"] for row in rows]), np.array([row["tied"] for row in rows])


def draw(kind, n, l):
    rng = np.random.default_rng(7)
    match kind:
        case "real":
            return rng.uniform(-12, 12, (n, l))
        case "slider steps":  # sums of tenths: equal on paper, not always in floating point
            return rng.integers(-120, 121, (n, l)) / 10
        case "signs and zeros":  # a quarter to all of these tie
            return rng.integers(-1, 2, (n, l)).astype(float)
        case "ends of the sliders":
            return rng.choice([-12.0, 12.0], (n, l))
        case "large":  # exp overflows, and underflows
            return rng.uniform(-1e4, 1e4, (n, l))
        case "large and equal":
            return rng.choice([-1e4, 0.0, 1e4], (n, l))


KINDS = ("real", "slider steps", "signs and zeros", "ends of the sliders", "large", "large and equal")
CODES = {"lecture": LECTURE_CODE, "all-pairs": ecoc.all_pairs(5), "exhaustive": ecoc.exhaustive(4)}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_decoding_is_that_of_python(decoder, loss, kind, code):
    scores = draw(kind, 400, code.shape[1])
    distances, winner, tied = decode_all(decoder, code, scores, loss)
    expected = ecoc.decode(scores, code, loss=loss)

    finite = np.isfinite(expected.distances)
    np.testing.assert_array_equal(np.isfinite(distances), finite)
    np.testing.assert_allclose(distances[finite], expected.distances[finite], rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(winner, expected.winner)
    np.testing.assert_array_equal(tied, expected.tied)


@pytest.mark.parametrize("loss", LOSSES)
def test_inputs_without_sign_tie_everywhere(decoder, loss):
    _, winner, tied = decode_all(decoder, ecoc.exhaustive(4), np.zeros((1, 7)), loss)
    assert winner == [0]
    assert tied == [True]


@pytest.mark.parametrize("loss", LECTURE_DISTANCES)
def test_worked_example(decoder, loss):
    distances = call(decoder, "mcEcoc.distances", LECTURE_CODE.tolist(), LECTURE_SCORES.tolist(), loss)
    places = 3 if loss == "logistic" else 2
    np.testing.assert_allclose(distances, LECTURE_DISTANCES[loss], rtol=0, atol=0.51 * 10.0**-places)
    found = call(decoder, "mcEcoc.winner", distances)
    assert (found["index"] + 1, found["tied"]) == (3 if loss == "hamming" else 4, False)


def test_exponential_decision_flips_where_the_lecture_changes_its_mind(decoder):
    """At f_6 = -1.264298… (the lecture: -12) the decision goes over from class 4 to class 3."""
    scores = np.tile(LECTURE_SCORES, (2, 1))
    scores[:, 5] = -1.2643, -1.2642
    _, winner, _ = decode_all(decoder, LECTURE_CODE, scores, "exponential")
    assert (winner + 1).tolist() == [4, 3]


def test_the_smallest_index_wins_a_tie(decoder):
    found = call(decoder, "mcEcoc.winner", [2, 1, 3, 1])
    assert (found["index"], found["tied"], found["least"]) == (1, True, [1, 3])


def test_rounding_is_a_tie_and_a_small_difference_is_none(decoder):
    assert call(decoder, "mcEcoc.winner", [0.1 + 0.2, 0.3])["tied"]
    found = call(decoder, "mcEcoc.winner", [1 + 1e-9, 1])
    assert (found["index"], found["tied"]) == (1, False)


def test_an_unknown_loss_is_refused_by_name(decoder):
    message = decoder.eval("try { mcEcoc.loss('cubic', 1) } catch (error) { error.message }")
    assert message == 'unknown loss "cubic"; allowed: hamming, hinge, exponential, logistic, linear'


def random_code(rng):
    k, l = rng.integers(2, 7), rng.integers(1, 11)
    shares = rng.choice([[0.5, 0, 0.5], [0.4, 0.2, 0.4], [0.25, 0.5, 0.25]])
    return rng.choice([-1, 0, 1], p=shares, size=(k, l))


def refused(code):
    """The faults that check_code names, all of them at once if they are at most five."""
    try:
        ecoc.check_code(code)
    except ValueError as error:
        return str(error).removeprefix("code is not usable: ").split(" (columns and classes")[0].split("; ")
    return []


def test_a_code_of_ones_own_is_reported_as_in_python(decoder):
    rng = np.random.default_rng(0)
    codes = [LECTURE_CODE, [[1], [-1]], [[0], [0]], np.eye(4, dtype=int), ecoc.all_pairs(5)]
    codes = [np.asarray(code) for code in codes] + [random_code(rng) for _ in range(400)]
    usable = 0
    for code in codes:
        found = call(decoder, "mcEcoc.report", code.tolist())
        expected = ecoc.report(code)
        assert (found["rho"], found["separation"]) == (expected.rho, expected.min_separation)
        assert found["repairs"] == expected.repairs
        assert found["duplicates"] == [list(pair) for pair in expected.duplicate_columns]
        assert found["complements"] == [list(pair) for pair in expected.complementary_columns]
        faults = refused(code)
        assert found["usable"] == (not faults)
        if len(found["faults"]) <= 5:
            assert found["faults"] == faults
        else:
            assert found["faults"][:5] == faults[:5]
        usable += not faults
    assert usable > 50


def test_the_codes_to_start_from_are_those_of_python(decoder):
    presets = call(decoder, "(() => mcEcoc.PRESETS)")
    for name, make in {
        "one-vs-all": ecoc.one_vs_all,
        "all-pairs": ecoc.all_pairs,
        "exhaustive": ecoc.exhaustive,
    }.items():
        np.testing.assert_array_equal(presets[name]["code"], make(4))
        assert len(presets[name]["scores"]) == make(4).shape[1]
    winners = {
        name: {loss: ecoc.decode([p["scores"]], p["code"], loss).winner[0] + 1 for loss in LOSSES}
        for name, p in presets.items()
    }
    assert winners["one-vs-all"] == {loss: 1 if loss == "hamming" else 2 for loss in LOSSES}
    assert winners["all-pairs"] == {loss: 2 if loss == "linear" else 1 for loss in LOSSES}
    assert winners["exhaustive"]["hamming"] == 3 != winners["exhaustive"]["exponential"]


def test_a_click_goes_from_minus_to_zero_to_plus_and_back(decoder):
    assert [call(decoder, "mcEcoc.next", entry) for entry in (-1, 0, 1)] == [0, 1, -1]


def test_classes_have_the_colours_of_the_figures(decoder, pruner):
    few = call(pruner, "(() => mcPruning.CLASS_STYLES)")
    assert few == call(decoder, "(() => mcEcoc.CLASS_STYLES)")[: len(few)]
    colors = call(decoder, "(() => mcEcoc.CLASS_STYLES.map((style) => style.color))")
    assert tuple(colors) == tuple(color.lower() for color in plot.CLASS_COLORS[: len(colors)])


def grow(rng, splits, k, most):
    """A random tree with random counts: left, right and counts, parents before their children."""
    left, right = [-1], [-1]
    for _ in range(splits):
        n = rng.choice([n for n, child in enumerate(left) if child < 0])
        left[n], right[n] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
    counts = rng.integers(0, most, (len(left), k))
    counts[:, 0] += counts.sum(axis=1) == 0
    for n in reversed(range(len(left))):
        if left[n] >= 0:
            counts[n] = counts[left[n]] + counts[right[n]]
    return left, right, counts.tolist()


def same_path(pruner, left, right, counts):
    """Compares the sequence of the page with Python's, and all links; returns it."""
    risks = [call(pruner, "mcPruning.mistakes", row) for row in counts]
    assert risks == [sum(row) - max(row) for row in counts]
    found = call(pruner, "mcPruning.sequence", {"left": left, "right": right}, risks)
    shape = pruning.Shape(left, right, counts)
    expected = pruning.sequence(shape, exact=True)
    assert [Fraction(*each["price"]) for each in found] == list(expected.penalties)
    assert [each["leaves"] for each in found] == list(expected.leaves)
    assert [each["risk"] for each in found] == list(expected.risks)
    for i, each in enumerate(found):
        assert each["kept"] == expected.kept(i).tolist()
        ratios = np.array([np.nan if r is None else r[0] / r[1] for r in each["links"]])
        np.testing.assert_array_equal(ratios, pruning.links(shape, kept=expected.kept(i)))
        below = expected.kept(min(i + 1, len(found) - 1))
        for n in np.flatnonzero(each["weakest"]):
            assert not below[left[n]]
            assert ratios[n] == float(expected.penalties[i + 1])
    return found


@pytest.mark.parametrize("most", [2, 4, 30])  # small counts: many ties, also of links one above the other
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_pruned_trees_of_the_page_are_those_of_python(pruner, k, most):
    rng = np.random.default_rng([k, most])
    paths = [same_path(pruner, *grow(rng, int(rng.integers(0, 16)), k, most)) for _ in range(100)]
    assert {1, 2, 3} <= {len(path) for path in paths}


def test_the_tree_of_the_page_is_that_of_the_chapter(pruner):
    notebook = json.loads((WEB.parent / "chapters" / "pruning.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"]]
    (found,) = (found[1] for text in cells if (found := re.search(r"data-tree='(.*?)'", text, re.DOTALL)))
    page = json.loads(found)
    penguins = data.load("penguins")
    grown = tree.DecisionTree().fit(penguins.X, penguins.y).tree_
    assert page["left"] == grown.left.tolist()
    assert page["right"] == grown.right.tolist()
    assert page["counts"] == grown.counts.tolist()
    assert page["classes"] == np.unique(penguins.y).tolist()
    names = [re.sub("_(mm|g)$", "", name).replace("_", " ") for name in penguins.feature_names]
    texts = ["" if q is None else q.text(names).replace("<=", "≤") for q in grown.questions]
    assert page["questions"] == texts
    path = same_path(pruner, page["left"], page["right"], page["counts"])
    assert [each["leaves"] for each in path] == [14, 10, 9, 7, 4, 3, 2, 1]


def test_the_places_of_the_nodes(pruner):
    found = call(pruner, "mcPruning.layout", {"left": [1, 3, -1, -1, -1], "right": [2, 4, -1, -1, -1]})
    assert found == {"x": [1.25, 0.5, 2, 0, 1], "depth": [0, 1, 1, 2, 2], "width": 3}


BOUND_KINDS = ("quadratic", "linear", "sqrt")


def test_the_explorer_knows_the_bounds_of_python(explorer):
    assert call(explorer, "(() => mcBound.KINDS)") == list(BOUND_KINDS)
    message = explorer.eval("try { mcBound.term('cubic', 2, 1, 1) } catch (error) { error.message }")
    assert message == 'unknown kind "cubic"; allowed: quadratic, linear, sqrt'


@pytest.mark.parametrize("kind", BOUND_KINDS)
def test_the_terms_of_the_explorer_are_those_of_python(explorer, kind):
    rng = np.random.default_rng(11)
    k = [2, 10, 1000, *rng.integers(2, 1001, size=97).tolist()]
    m = np.rint(10 ** rng.uniform(2, 9, size=100)).tolist()
    ratio, delta = 10 ** rng.uniform(-1, 2, size=100), 10 ** rng.uniform(-9, -0.31, size=100)
    settings = [
        {"k": a, "m": b, "ratio": c, "delta": d}
        for a, b, c, d in zip(k, m, ratio.tolist(), delta.tolist(), strict=True)
    ]
    terms = call(explorer, f"((s) => s.map((o) => mcBound.term('{kind}', o.k, o.m, o.ratio)))", settings)
    expected = bound.complexity_term(kind, k, m, ratio)
    np.testing.assert_allclose(terms, expected, rtol=1e-14)
    totals = call(explorer, f"((s) => s.map((o) => mcBound.total('{kind}', o)))", settings)
    of_python = [
        bound.uniform(0.0, term / 2, int(b), d).total for term, b, d in zip(expected, m, delta, strict=True)
    ]
    np.testing.assert_allclose(totals, of_python, rtol=1e-13)


@pytest.mark.parametrize("kind", BOUND_KINDS)
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-3, 1e-9])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 100.0])
def test_the_explorer_asks_for_as_many_examples_as_python(explorer, kind, delta, ratio):
    for k in (2, 3, 10, 100, 1000):
        found = call(explorer, "mcBound.samplesNeeded", kind, k, ratio, delta)
        expected = bound.samples_needed(kind, k, ratio, delta)
        # beyond 2^52 the numbers of JavaScript have gaps
        assert found == expected if expected < 2**52 else found == pytest.approx(expected, rel=1e-14)
        if expected < 2**52:
            here, before = (
                call(explorer, "mcBound.total", kind, {"k": k, "m": n, "ratio": ratio, "delta": delta})
                for n in (expected, max(1, expected - 1))
            )
            assert here < 1 + 1e-12
            assert before >= 1 - 1e-12 or expected == 1


SVM_KERNELS = ("linear", "polynomial", "rbf")


def svm_kernel(settings):
    match settings["kernel"]:
        case "linear":
            return kernel.linear
        case "polynomial":
            return kernel.polynomial(settings["degree"], b=1.0)
        case "rbf":
            return kernel.rbf(settings["gamma"])


def draw_svm(rng, name):
    """A problem that a reader might place: any size, cost and shape, sometimes with equal points."""
    m = int(np.rint(2 * 100 ** rng.uniform()))
    X = rng.uniform(-1, 1, (m, 2)).round(2)
    noise = rng.choice([0.0, 0.1, 0.5]) * rng.normal(size=m)
    match rng.choice(["clouds", "line", "disc", "chance", "equal", "lattice"]):
        case "clouds":
            y = np.where(np.arange(m) % 2, 1, -1)
            X = np.clip(0.3 * y[:, None] + 0.3 * rng.normal(size=(m, 2)), -1, 1).round(2)
        case "line":
            y = np.where(X @ [1, 0.5] + noise > 0.1, 1, -1)
        case "disc":
            y = np.where(np.hypot(*X.T) + noise < 0.6, 1, -1)
        case "chance":
            y = rng.choice([-1, 1], m)
        case "equal":  # every point several times, in either class
            X, y = X[rng.integers(0, max(1, m // 5), m)], rng.choice([-1, 1], m)
        case "lattice":
            X, y = X.round() / 2, rng.choice([-1, 1], m)
    settings = {
        "kernel": name,
        "C": float(10 ** rng.uniform(-2, 4)),
        "gamma": float(10 ** rng.uniform(-2, 4)),
        "degree": int(rng.integers(1, 9)),
    }
    return X, y, settings


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_the_machine_of_the_page_is_that_of_python(svm, name):
    """On 100 random problems a kernel: both values, from their definitions and against `solve_svm`."""
    rng = np.random.default_rng(SVM_KERNELS.index(name))
    for number in range(100):
        X, y, settings = draw_svm(rng, name)
        found = call(svm, "mcSvm.solve", X.tolist(), y.tolist(), settings)
        where = f"problem {number}: m = {len(y)}, {settings}"
        assert found["gap"] <= 1e-6, where

        C, gram = settings["C"], svm_kernel(settings).gram(X)
        alpha = np.array(found["alpha"])
        assert (alpha >= 0).all(), where
        assert (alpha <= C).all(), where
        assert abs(alpha @ y) <= 1e-12 * C * len(y), where
        if abs(y.sum()) == len(y):  # one class: any bias beyond 1; a null stands for infinity
            assert found["primal"] == found["dual"] == 0, where
            assert found["bias"] == y[0], where
            assert found["interval"] == ([1, None] if y[0] > 0 else [None, -1]), where
            continue
        v = alpha * y
        slack = np.maximum(0, 1 - y * (gram @ v + found["bias"]))
        size = max(1, found["primal"])
        assert v @ gram @ v / 2 + C * slack.sum() == pytest.approx(found["primal"], abs=1e-8 * size), where
        assert alpha.sum() - v @ gram @ v / 2 == pytest.approx(found["dual"], abs=1e-8 * size), where

        expected = binary.solve_svm(gram, y, C=C, tol=1e-8).certificate
        assert found["primal"] == pytest.approx(expected.primal, abs=1e-5 * size), where
        assert found["dual"] == pytest.approx(expected.dual, abs=1e-5 * size), where


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_scores_bias_and_kinds_are_those_of_python(svm, name):
    """Of a problem where w and the multipliers are unique."""
    rng = np.random.default_rng(21)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.where(X @ [1, 0.5] + 0.3 * rng.normal(size=60) > 0, 1, -1)
    settings = {"kernel": name, "C": 2.0, "gamma": 1.0, "degree": 3}
    found = call(svm, "mcSvm.solve", X.tolist(), y.tolist(), settings)
    gram = svm_kernel(settings).gram(X)
    expected = binary.solve_svm(gram, y, C=2.0, tol=1e-12)
    scores = gram @ (found["alpha"] * y) + found["bias"]
    np.testing.assert_allclose(scores, expected.scores, atol=1e-5)
    np.testing.assert_allclose(found["interval"], expected.intercept_interval, atol=1e-5)
    assert found["kinds"] == expected.kinds.tolist()
    assert found["mistakes"] == (np.where(scores > 0, 1, -1) != y).tolist()
    assert {"none", "free", "bound"} == set(found["kinds"])
    assert 0 < sum(found["mistakes"]) < 20


def test_the_stray_point_does_what_the_chapter_says(svm):
    """Data "separable but for one": deep in the other class it never rules, at its edge from C = 50 on."""
    points = call(svm, "mcSvm.EXAMPLES.outlier.points")
    assert points[-1] == [-0.6, 0.35, 1]

    def machines(stray):
        at = [point[:2] for point in [*points[:-1], stray]]
        signs = [-1 if point[2] else 1 for point in points]
        for C in (1, 2, 5, 10, 20, 50, 100, 1000, 10000):
            yield C, call(svm, "mcSvm.solve", at, signs, {"kernel": "linear", "C": C})

    norms = {}
    for C, found in machines(points[-1]):
        assert [i for i, wrong in enumerate(found["mistakes"]) if wrong] == [40], C
        norms[C] = found["norm"]
    assert norms[1] < norms[5] < norms[20] < norms[50]
    assert [norms[C] for C in (100, 1000, 10000)] == pytest.approx([norms[50]] * 3, rel=1e-6)
    for C, found in machines([-0.1, 0.35, 1]):
        assert found["mistakes"][40] == (C < 50), C
        assert sum(found["mistakes"]) == (C < 50), C


@pytest.mark.parametrize("label", [-1, 1])
def test_one_class_only(svm, label):
    found = call(svm, "mcSvm.solve", [[0, 0], [0.5, 1]], [label] * 2, {"kernel": "linear", "C": 1})
    assert found["alpha"] == [0, 0]
    assert (found["primal"], found["dual"], found["bias"]) == (0, 0, label)
    assert found["mistakes"] == [False, False]


def test_bias_between_two_bounds(svm):
    """C is so small that no multiplier is free: every bias of an interval is optimal; the middle is taken."""
    found = call(svm, "mcSvm.solve", [[-1, 0], [1, 0]], [-1, 1], {"kernel": "linear", "C": 0.1})
    assert found["alpha"] == [0.1, 0.1]
    assert found["kinds"] == ["bound", "bound"]
    np.testing.assert_allclose(found["interval"], [-0.8, 0.8])
    assert found["bias"] == pytest.approx(0)
    assert found["primal"] == pytest.approx(0.02 + 0.1 * 1.6)


def test_of_two_equal_points_of_either_class_one_is_an_error(svm):
    found = call(svm, "mcSvm.solve", [[0, 0], [0, 0]], [1, -1], {"kernel": "rbf", "gamma": 1, "C": 1})
    assert found["mistakes"] == [True, False]  # the score 0 is the negative class
    assert found["primal"] == found["dual"] == 2


def test_an_unknown_kernel_is_refused_by_name(svm):
    message = svm.eval("try { mcSvm.kernel({ kernel: 'cubic' }) } catch (error) { error.message }")
    assert message == 'unknown kernel "cubic"; allowed: linear, polynomial, rbf'


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_the_picture_shows_the_scores(svm, name):
    rng = np.random.default_rng(5)
    X, v = rng.uniform(-1, 1, (30, 2)), rng.normal(size=30)
    settings = {"kernel": name, "gamma": 7.0, "degree": 5}
    scores = call(svm, "((...a) => [...mcSvm.lattice(...a)])", X.tolist(), v.tolist(), 0.3, settings, 21)
    at = np.linspace(-1, 1, 21)
    places = np.array([(x, y) for y in at[::-1] for x in at])  # rows from the top
    expected = svm_kernel(settings).gram(places, X) @ v + 0.3
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def test_the_contour_of_a_cone_is_a_circle(svm):
    at = np.linspace(-1, 1, 41)
    cone = np.hypot(at[:, None], at)
    (line,) = call(svm, "mcSvm.contours", cone.ravel().tolist(), 41, 0.61)
    line = np.array(line)
    np.testing.assert_array_equal(line[0], line[-1])  # closed
    np.testing.assert_allclose(np.hypot(*(line / 20 - 1).T), 0.61, atol=2e-3)
    turns = np.unwrap(np.arctan2(*(line - 20).T))
    assert abs(turns[-1] - turns[0]) == pytest.approx(2 * np.pi)  # once round


def test_contours_end_at_the_frame(svm):
    at = np.linspace(-1, 1, 12)
    saddle = at[:, None] * at
    lines = [np.array(line) for line in call(svm, "mcSvm.contours", saddle.ravel().tolist(), 12, 0.05)]
    assert len(lines) == 2
    for line in lines:
        assert {0.0, 11.0} & set(line[0])
        assert {0.0, 11.0} & set(line[-1])
        x, y = (line / 5.5 - 1).T
        np.testing.assert_allclose(x * y, 0.05, atol=1e-9)  # the saddle is linear along every edge


@pytest.mark.parametrize(("level", "count"), [(0.4, 5), (0.6, 4)])
def test_contours_do_not_cross_where_all_four_edges_are_crossed(svm, level, count):
    """In the middle of each cell the function is 1/2: which corners belong together depends on the level."""
    chequered = np.indices((3, 3)).sum(axis=0) % 2
    assert len(call(svm, "mcSvm.contours", chequered.ravel().tolist(), 3, level)) == count


CLASS_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "wedge": "v"}


def test_the_classes_of_the_page_look_as_in_the_book(svm):
    styles = call(svm, "(() => mcSvm.STYLES)")
    assert [style["color"] for style in styles] == list(plot.CLASS_COLORS[:5])
    assert [CLASS_MARKERS[style["name"]] for style in styles] == list(plot.CLASS_MARKERS[:5])


def draw_classes(rng, name):
    """A problem of three to five classes, all of them there, sometimes with equal points."""
    k = int(rng.integers(3, 6))
    m = int(rng.integers(k, 61))
    X = rng.uniform(-1, 1, (m, 2)).round(2)
    y = rng.permutation(np.arange(m) % k)
    match rng.choice(["clouds", "sectors", "chance", "equal", "lattice"]):
        case "clouds":
            angle = 2 * np.pi * y / k
            X = 0.5 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * rng.normal(size=(m, 2))
            X = np.clip(X, -1, 1).round(2)
        case "sectors":
            turn = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) + rng.choice([0.0, 0.1]) * rng.normal(size=m)
            y = np.unique(np.floor(k * (turn % 1)), return_inverse=True)[1]
        case "equal":  # every point several times, of any class
            X = X[rng.integers(0, max(1, m // 5), m)]
        case "lattice":
            X = X.round() / 2
    settings = {
        "kernel": name,
        "C": float(10 ** rng.uniform(-2, 3)),
        "gamma": float(10 ** rng.uniform(-2, 4)),
        "degree": int(rng.integers(1, 9)),
    }
    return X, y, int(y.max()) + 1, settings


def classes_of_the_page(svm, X, y, k, settings):
    found = call(svm, "mcSvm.solveClasses", X.tolist(), y.tolist(), k, settings)
    return found | {"v": np.array(found["v"])}


def crammer_singer_values(v, gram, y, C):
    """The primal and dual value that multipliers have by definition, and the scores."""
    rows = np.arange(len(y))
    scores = gram @ v
    rivals = scores + 1.0
    rivals[rows, y] -= 1
    slack = rivals.max(axis=1) - scores[rows, y]
    half = np.vdot(v, scores) / 2
    return half + C * slack.sum(), v[rows, y].sum() - half, scores


def textbook(gram, y, C, k):
    """Multipliers from cvxopt, for the dual as a quadratic program: C times those of C K at the price 1."""
    program = dual.quadratic_program(C * gram, HingeProblem(y, n_classes=k))
    given = (program.P, program.q, program.G, program.h, program.A, program.b)
    options = {"show_progress": False, "abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9}
    found = cvxopt.solvers.qp(*map(cvxopt.matrix, given), options=options)
    return C * dual.feasible(program.multipliers(found["x"]), HingeProblem(y, C=1.0))


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_the_machine_of_the_page_for_k_classes_is_that_of_python(svm, name):
    """On 30 random problems a kernel: both values, by definition and against the textbook's program."""
    rng = np.random.default_rng(100 + SVM_KERNELS.index(name))
    places = rng.uniform(-1, 1, (200, 2))
    compared = 0
    for number in range(30):
        X, y, k, settings = draw_classes(rng, name)
        found = classes_of_the_page(svm, X, y, k, settings)
        where = f"problem {number}: m = {len(y)}, k = {k}, {settings}"
        assert found["gap"] <= 1e-6, where

        C, v, own = settings["C"], found["v"], np.arange(k) == y[:, None]
        gram = svm_kernel(settings).gram(X) + 1
        assert np.abs(v.sum(axis=1)).max() <= 1e-12 * C, where
        assert (v <= C * own + 1e-12 * C).all(), where
        primal, lower, _ = crammer_singer_values(v, gram, y, C)
        size = max(1, primal)
        assert found["primal"] == pytest.approx(primal, abs=1e-8 * size), where
        assert found["dual"] == pytest.approx(lower, abs=1e-8 * size), where
        np.testing.assert_allclose(found["biases"], v.sum(axis=0), atol=1e-10 * C, err_msg=where)

        multipliers = textbook(gram, y, C, k)
        optimum = dual.dual_value(
            multipliers, gram, HingeProblem(y, C=C)
        )  # a bound from below; its error is of second order
        assert found["primal"] == pytest.approx(optimum, abs=1e-5 * size), where
        assert found["dual"] == pytest.approx(optimum, abs=1e-5 * size), where

        # the answers away from the borders
        between = svm_kernel(settings).gram(places, X) + 1
        theirs = between @ dual.coefficients(multipliers, y)
        ours = between @ v
        ahead = np.diff(np.sort(theirs, axis=1)[:, -2:]).ravel() > 0.05
        np.testing.assert_array_equal(ours.argmax(axis=1)[ahead], theirs.argmax(axis=1)[ahead], err_msg=where)
        compared += ahead.sum()
    assert compared > 1000


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_the_biases_of_the_page_are_regularised(svm, name):
    """It is the estimator with an appended feature, and not the one without a bias."""
    rng = np.random.default_rng(31)
    X = rng.uniform(-1, 1, (40, 2))
    y = np.repeat(np.arange(4), [25, 5, 5, 5])
    settings = {"kernel": name, "C": 3.0, "gamma": 0.3, "degree": 2}
    found = classes_of_the_page(svm, X, y, 4, settings)
    values = {}
    for intercept in ("appended", False):
        machine = solver.CrammerSinger(
            C=3.0, kernel=svm_kernel(settings), fit_intercept=intercept, tol=1e-8
        ).fit(X, y)
        values[intercept] = machine.certificate_.primal
    assert found["primal"] == pytest.approx(values["appended"], rel=1e-6)
    assert found["primal"] < (1 - 1e-5) * values[False]


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_of_two_classes_it_is_half_the_machine_without_a_bias_at_twice_the_cost(svm, name):
    rng = np.random.default_rng(32)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.where(X @ [1, 0.5] + 0.3 * rng.normal(size=60) > 0, 1, -1)
    settings = {"kernel": name, "C": 1.0, "gamma": 1.0, "degree": 3}
    found = classes_of_the_page(svm, X, (y < 0).astype(int), 2, settings)
    gram = svm_kernel(settings).gram(X) + 1
    expected = binary.solve_svm(gram, y, C=2.0, fit_intercept=False, tol=1e-12)
    assert found["primal"] == pytest.approx(expected.certificate.primal / 2, rel=1e-6)
    np.testing.assert_allclose(gram @ (found["v"] @ [1, -1]), expected.scores, atol=1e-5)
    assert found["kinds"] == expected.kinds.tolist()
    assert found["mistakes"] == (np.where(expected.scores >= 0, 1, -1) != y).tolist()
    assert {"none", "free", "bound"} == set(found["kinds"])


def test_what_the_chapter_says_of_a_class_in_the_middle(svm):
    """Three classes, one between two, linear: a strip for the squares, which no machine for two finds."""
    points = np.array(call(svm, "mcSvm.EXAMPLES.nested.points"))
    X, y = points[:, :2], points[:, 2].astype(int)
    assert np.bincount(y).tolist() == [30, 30, 30]
    wrong = {}
    for C in (0.1, 0.2, 1.0, 10.0):
        found = classes_of_the_page(svm, X, y, 3, {"kernel": "linear", "C": C})
        wrong[C] = np.bincount(y[found["mistakes"]], minlength=3).tolist()
    assert wrong[0.1] == wrong[0.2] == [0, 30, 0]
    assert sum(wrong[1.0]) == sum(wrong[10.0]) == 4
    for C in (0.01, 0.1, 1.0, 10.0, 100.0, 10000.0):
        signs = np.where(y == 1, 1, -1).tolist()
        found = call(svm, "mcSvm.solve", X.tolist(), signs, {"kernel": "linear", "C": C})
        assert y[found["mistakes"]].tolist() == [1] * 30


def test_what_the_chapter_says_of_the_cost_of_a_bias(svm):
    X = np.array([[0.5, 0.7], [0.9, 0.8]])
    settings = {"kernel": "linear", "C": 10000.0}
    found = classes_of_the_page(svm, X, np.array([0, 1]), 2, settings)
    w, b = X.T @ (found["v"] @ [1, -1]), found["biases"][0] - found["biases"][1]
    assert X @ w + b == pytest.approx([1, -1], abs=1e-6)  # half-way it is 0
    free = call(svm, "mcSvm.solve", X.tolist(), [1, -1], settings)
    w_free = X.T @ (free["alpha"] * np.array([1, -1]))
    across = X[1] - X[0]
    cosines = [-(u @ across) / np.linalg.norm(u) / np.linalg.norm(across) for u in (w_free, w)]
    angles = np.degrees(np.arccos(np.minimum(1, cosines)))
    assert angles == pytest.approx([0, 20.1], abs=0.1)
    # what turning costs in w it saves in b
    size = [u @ u + bias**2 for u, bias in ((w_free, free["bias"]), (w, b))]
    assert w @ w > w_free @ w_free
    assert size[1] < 0.95 * size[0]


@pytest.mark.parametrize("C", [1.0, 300.0])
@pytest.mark.parametrize("name", SVM_KERNELS)
def test_kinds_and_mistakes_of_k_classes_are_what_the_key_says(svm, name, C):
    """From scores of Python: beyond the margin no multipliers, short of it all of C, at it anything."""
    points = np.array(call(svm, "mcSvm.EXAMPLES.sectors.points"))
    X, y = points[:, :2], points[:, 2].astype(int)
    settings = {"kernel": name, "C": C, "gamma": 2.0, "degree": 3}
    found = classes_of_the_page(svm, X, y, 5, settings)
    gram = svm_kernel(settings).gram(X) + 1
    theirs = solver.solve_interior(gram, HingeProblem(y, C=C), tol=1e-8).multipliers
    scores = gram @ np.where(np.arange(5) == y[:, None], theirs, -theirs)
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    lead = own - scores.max(axis=1)
    kinds = np.array(found["kinds"])
    assert (kinds[lead > 1.01] == "none").all()
    assert (kinds[lead < 0.99] == "bound").all()
    assert (np.abs(lead[kinds == "free"] - 1) < 0.01).all()
    assert {"none", "free", "bound"} == set(kinds)
    clear = np.abs(lead) > 1e-3
    np.testing.assert_array_equal(np.array(found["mistakes"])[clear], (lead < 0)[clear])


@pytest.mark.parametrize("name", SVM_KERNELS)
def test_many_points_and_a_large_cost_come_in_small_pieces(svm, name):
    """200 points of five classes by chance: the gap closes, and the page gets its turn many times."""
    rng = np.random.default_rng(33)
    X, y = rng.uniform(-1, 1, (200, 2)), rng.permutation(np.arange(200) % 5)
    settings = {"kernel": name, "C": 500.0, "gamma": 5.0, "degree": 4}
    gaps = call(
        svm,
        """((X, y, settings) => {
            const machine = mcSvm.classes(X, y, 5, settings);
            const gaps = [];
            while (!machine.done) {
                machine.advance(() => true);
                gaps.push(machine.certificate.gap);
            }
            return gaps;
        })""",
        X.tolist(),
        y.tolist(),
        settings,
    )
    assert gaps[-1] <= 1e-6
    assert gaps == sorted(gaps, reverse=True)  # what is shown never gets worse
    assert len(gaps) > 200


@pytest.mark.parametrize("k", [1, 3])
def test_points_of_one_place_and_a_class_alone(svm, k):
    """Three classes on one point: equal scores, and the first class is answered. One class: nothing to do."""
    y = np.arange(6) % k
    found = classes_of_the_page(svm, np.zeros((6, 2)), y, k, {"kernel": "linear", "C": 2.0})
    assert found["mistakes"] == (y > 0).tolist()
    assert found["primal"] == pytest.approx(12 * (k > 1))
    assert found["dual"] == pytest.approx(12 * (k > 1))
    assert found["norm"] == pytest.approx(0, abs=1e-9)
    if k == 1:
        assert found["kinds"] == ["none"] * 6


def test_the_page_begins_with_the_machines_of_the_chapter(svm):
    """The points of its figure, with the support vectors and mistakes that the chapter prints."""
    notebook = json.loads((WEB.parent / "chapters" / "kernel.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"]]
    (points,) = (found[1] for text in cells if (found := re.search(r"data-points='(.*?)'", text)))
    points = np.array(json.loads(points))

    toy = next(text for text in cells if "def toy(" in text)
    drawn = re.search(r"^X, y = (toy\(.*\))$", toy, re.MULTILINE)[1]
    names = {"np": np}
    exec(toy[toy.index("def toy(") : toy.index("def draw(")], names)
    X, y = eval(drawn, names)
    np.testing.assert_array_equal(points[:, :2], X)
    np.testing.assert_array_equal(points[:, 2], y < 0)  # circles are class +1, as in the figure

    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    printed = "".join("".join(output.get("text", "")) for output in outputs)
    rows = re.findall(
        r"^(linear|RBF), C = (\d+)(?:, gamma = (\S+))? +support +(\d+) +wrong: +(\d+) of", printed, re.M
    )
    assert len(rows) == 5
    for name, C, gamma, support, wrong in rows:
        settings = {"kernel": name.lower(), "C": float(C), "gamma": float(gamma or 0)}
        found = call(svm, "mcSvm.solve", X.tolist(), y.tolist(), settings)
        assert 60 - found["kinds"].count("none") == int(support), settings
        assert sum(found["mistakes"]) == int(wrong), settings


def test_the_examples_of_the_page_fit(svm):
    examples = call(svm, "(() => Object.values(mcSvm.EXAMPLES).map(({ points }) => points()))")
    sizes = []
    for points in map(np.array, examples):
        sizes.append(int(points[:, 2].max()) + 1)
        assert np.unique(points[:, 2]).tolist() == list(range(sizes[-1]))
        assert np.abs(points[:, :2]).max() < 1
    assert set(sizes) == {2, 3, 5}
    assert max(map(len, examples)) == 200


@pytest.mark.parametrize(
    ("bold", "count", "expected"),
    [
        ("2.", 3, 2),
        ("2", 3, 2),
        (" 3. ", 3, 3),
        ("12.", 12, 12),
        ("4.", 3, None),  # no such option
        ("0.", 3, None),
        ("2.5", 3, None),
        ("Because 2.", 3, None),
        ("", 3, None),
    ],
)
def test_the_right_option_is_read_from_the_answer(quiz, bold, count, expected):
    assert call(quiz, "mcQuiz.rightOption", bold, count) == expected


def quiz_judged(quiz, chosen, right, missed, count):
    """The verdict, what is said around the reason, and whether the answer opens."""
    found = call(quiz, "mcQuiz.judge", chosen, right, missed, count)
    return found["verdict"], f"{found['before']} … {found['after']}".strip(" …"), found["open"]


def test_a_first_miss_gives_a_second_try(quiz):
    assert quiz_judged(quiz, 2, 2, [], 3) == ("right", "Right, 2.", True)
    assert quiz_judged(quiz, 1, 2, [], 3) == ("wrong", "Not 1. … Try once more.", False)
    assert quiz_judged(quiz, 3, 2, [1], 3) == ("wrong", "Not 3. … The answer is 2.", True)
    assert quiz_judged(quiz, 2, 2, [1], 3) == ("right", "Right, 2.", True)
    assert quiz_judged(quiz, None, 2, [], 3) == ("none", "Choose an option first.", False)
    # the same miss again is no second one, and of two options a miss leaves nothing to try
    assert quiz_judged(quiz, 1, 2, [1], 4) == ("wrong", "Not 1. … Try once more.", False)
    assert quiz_judged(quiz, 1, 2, [], 2) == ("wrong", "Not 1. … The answer is 2.", True)


@pytest.mark.parametrize(
    ("bold", "count", "expected"),
    [
        ("1 b, 2 c, 3 a.", 3, ["b", "c", "a"]),
        (" 1 b,2 b , 3  b", 3, ["b", "b", "b"]),
        ("1 b, 2 c.", 3, None),  # a row is missing
        ("1 b, 2 c, 3 a, 4 a.", 3, None),
        ("1 b, 3 c, 2 a.", 3, None),  # the rows come in order, so that a slip shows
        ("1 b, 2 d, 3 a.", 3, None),  # no such letter
        ("1 b, 2 , 3 a.", 3, None),
        ("1 b c, 2 a, 3 a.", 3, None),
        ("b, c, a", 3, None),
        ("", 0, None),
    ],
)
def test_the_letters_of_a_match_are_read_from_the_answer(quiz, bold, count, expected):
    assert call(quiz, "mcQuiz.rightLetters", bold, ["a", "b", "c"], count) == expected


def test_a_match_is_judged_row_by_row(quiz):
    def compared(*chosen, again=False):
        return call(quiz, "mcQuiz.compare", list(chosen), ["b", "b", "a"], again)

    assert compared("b", "b", "a") == {
        "rows": ["right", "right", "right"],
        "all": "All rows are right. The reasons are open below.",
        "verdict": "right",
        "open": True,
    }
    first = compared("b", "a", "c")
    assert first == {
        "rows": ["right", "not a", "not c"],
        "all": "Right: 1 of 3 rows. Try once more.",
        "verdict": "wrong",
        "open": False,
    }
    second = {"all": "Right: 1 of 3 rows. The answer is open below.", "open": True}
    assert compared("b", "a", "c", again=True) == first | second
    # as long as a row is open nothing is given away
    assert compared("b", "", "", again=True) == {
        "rows": ["", "", ""],
        "all": "Choose a letter first in row 2, 3.",
        "verdict": "none",
        "open": False,
    }


def test_the_keys_of_a_table_are_the_values_that_python_wrote(tables):
    values = [0.1, -2.5e-9, 3, 12345, float("inf"), -float("inf"), Fraction(1, 3)]
    html = plot.table([(value,) for value in values], ("x",), caption="c", labels=0)._repr_html_()
    written = re.findall(r'data-value="(.*?)"', html)
    keys = tables.eval(f"{json.dumps(written)}.map((value) => mcTables.key(value, '–'))")
    assert list(keys) == [float(value) for value in values]
    assert call(tables, "mcTables.key", "0", "–") == 0
    assert tables.eval("mcTables.key(undefined, ' yes ')") == "yes"
    assert tables.eval("mcTables.key(undefined, ' – ')") is None


@pytest.mark.parametrize(
    ("keys", "up", "down"),
    [
        ([3, 1, 2], [1, 2, 0], [0, 2, 1]),
        ([10, 9, -1, 0.5], [2, 3, 1, 0], [0, 1, 3, 2]),  # numbers, not their letters
        ([1, None, 0, None], [2, 0, 1, 3], [0, 2, 1, 3]),  # what does not exist comes last, either way
        ([1, 0, 1, 0], [1, 3, 0, 2], [0, 2, 1, 3]),  # equal ones keep their order, either way
        (["b", "A", "a", "ä", "Z"], [2, 1, 3, 0, 4], [4, 0, 3, 1, 2]),  # as a dictionary has them
        (["LED-10", "LED-7"], [1, 0], [0, 1]),
        (["none", 2, 1], [2, 1, 0], [0, 1, 2]),
        ([None, None], [0, 1], [0, 1]),
    ],
)
def test_rows_are_put_in_order(tables, keys, up, down):
    assert call(tables, "mcTables.order", keys, "ascending") == up
    assert call(tables, "mcTables.order", keys, "descending") == down
    assert call(tables, "mcTables.order", keys, "none", up) == list(range(len(keys)))


def test_sorting_keeps_the_order_of_the_column_that_was_sorted_before(tables):
    kind, error = ["tree", "svm", "tree", "svm"], [0.4, 0.3, 0.2, 0.1]
    first = call(tables, "mcTables.order", error, "ascending")
    assert first == [3, 2, 1, 0]
    assert call(tables, "mcTables.order", kind, "ascending", first) == [3, 1, 2, 0]
    assert call(tables, "mcTables.order", kind, "descending", first) == [2, 0, 3, 1]


def test_a_head_goes_through_both_directions_and_back(tables):
    directions = ["none"]
    for _ in range(3):
        directions.append(call(tables, "mcTables.next", directions[-1]))
    assert directions == ["none", "ascending", "descending", "none"]


def test_what_was_sorted_is_said(tables):
    said = "Sorted by error, smallest first.", "Sorted by error, largest first."
    assert call(tables, "mcTables.announcement", "error", "ascending", True) == said[0]
    assert call(tables, "mcTables.announcement", "error", "descending", True) == said[1]
    assert (
        call(tables, "mcTables.announcement", "loss", "descending", False) == "Sorted by loss, from Z to A."
    )
    assert call(tables, "mcTables.announcement", "x", "none", True) == "The rows are in their first order."


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_work_from_a_file_and_ask_nobody(script):
    """Modules and fetch are blocked on file://, and the site needs no other host."""
    source = script.read_text(encoding="utf-8")
    assert not re.findall(r"\b(?:import|export|fetch|require|XMLHttpRequest|WebSocket)\b|https?:", source)


@pytest.fixture(scope="module")
def rounds():
    with engine("extra/widgets/boosting-rounds.js") as context:
        yield context


def boosting_figure():
    """What the chapter hands to its figure: points in tenths, and stumps."""
    notebook = json.loads((WEB.parent / "chapters" / "boosting.ipynb").read_text(encoding="utf-8"))
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    return [json.loads(re.search(rf"data-{what}='(.*?)'", text)[1]) for what in ("points", "stumps")]


def boosted_penguins():
    penguins = data.load("penguins")
    y = np.unique(penguins.y, return_inverse=True)[1]
    X = np.rint(10 * penguins.X[:, :2])
    return X, y, AdaBoostMH(n_estimators=60).fit(X, y)


def test_the_figure_of_boosting_has_the_penguins_and_the_stumps_of_python():
    X, y, machine = boosted_penguins()
    points, stumps = boosting_figure()
    np.testing.assert_array_equal(points, np.c_[X, y])
    assert len(stumps) == len(machine.estimators_)
    for (feature, cut, signs), stump in zip(stumps, machine.estimators_, strict=True):
        expected = (0, None) if stump.feature is None else (stump.feature, stump.threshold)
        assert (feature, cut) == expected
        assert signs == stump.right.tolist()


def test_the_rounds_of_the_figure_are_those_of_python(rounds):
    X, y, machine = boosted_penguins()
    points, stumps = boosting_figure()
    states = call(rounds, "mcBoosting.run", points, stumps)
    signs = np.where(np.arange(3) == y[:, None], 1, -1)
    assert states[0]["weights"] == pytest.approx([1 / len(y)] * len(y))
    assert (states[0]["hamming"], states[0]["product"]) == (1, 1)  # a score of 0 is no answer
    found = {name: [state[name] for state in states[1:]] for name in states[0]}
    np.testing.assert_allclose(found["error"], machine.rounds_.error, atol=1e-12)
    np.testing.assert_allclose(found["alpha"], machine.rounds_.alpha, rtol=1e-9)
    np.testing.assert_allclose(found["product"], machine.rounds_.bound, rtol=1e-9)
    for t, scores in enumerate(machine.staged_scores(X)):
        assert found["hamming"][t] == pytest.approx(np.mean(signs * scores <= 0))
        np.testing.assert_array_equal(found["wrong"][t], scores.argmax(axis=1) != y)
        loss = np.exp(-signs * scores).sum(axis=1)
        np.testing.assert_allclose(found["weights"][t], loss / loss.sum(), rtol=1e-8)


@pytest.mark.parametrize("t", [0, 1, 3, 10, 60])
def test_the_regions_of_the_figure_are_answers_of_python(rounds, t):
    _, _, machine = boosted_penguins()
    _, stumps = boosting_figure()
    box = [320, 600, 130, 216]
    boxes = call(rounds, "mcBoosting.regions", stumps, machine.rounds_.alpha.tolist(), t, box)
    area = sum((b["right"] - b["left"]) * (b["top"] - b["bottom"]) for b in boxes)
    assert area == pytest.approx((box[1] - box[0]) * (box[3] - box[2]))
    at = np.random.default_rng(0).uniform([320, 130], [600, 216], (300, 2))
    scores = np.zeros((300, 3)) if t == 0 else list(machine.staged_scores(at))[t - 1]
    for place, answer in zip(at, scores.argmax(axis=1), strict=True):
        inside = [
            b["label"]
            for b in boxes
            if b["left"] < place[0] <= b["right"] and b["bottom"] < place[1] <= b["top"]
        ]
        assert inside == [answer]


def test_the_classes_of_boosting_have_the_colours_of_the_figures(rounds):
    colors = call(rounds, "(() => mcBoosting.CLASS_STYLES.map((style) => style.color))")
    assert tuple(colors) == tuple(color.lower() for color in plot.CLASS_COLORS[: len(colors)])


@pytest.fixture(scope="module")
def costs():
    with engine("extra/widgets/cost-triangle.js") as context:
        yield context


def cost_tables(n):
    """Costs in tenths with a diagonal of 0, half of them with a column for abstaining; many of them tie."""
    rng = np.random.default_rng(21)
    for i in range(n):
        table = rng.choice([0, 5, 10, 20, 40], (3, 3))
        np.fill_diagonal(table, 0)
        yield np.c_[table, np.full(3, rng.integers(0, 11))] if i % 2 else table


def grid_points(n):
    """All points of the triangle whose probabilities are whole numbers of n-ths, in hundredths."""
    return [[100 // n * share for share in (a, b, n - a - b)] for a in range(n + 1) for b in range(n + 1 - a)]


def test_the_best_answer_is_that_of_the_bayes_rule_ties_included(costs):
    points = grid_points(20)
    exact = np.array([[Fraction(share, 100) for share in p] for p in points])
    tied = 0
    for table in cost_tables(60):
        expected = risk.bayes_rule(exact, np.array([[Fraction(int(c), 10) for c in row] for row in table]))
        found = call(
            costs,
            "((t, ps) => ps.map((p) => { const e = mcCosts.expected(t, p); return [e, mcCosts.best(e)]; }))",
            table.tolist(),
            points,
        )
        for row, values, answer, tie in zip(
            found, expected.expected, expected.decision, expected.tied, strict=True
        ):
            assert [Fraction(value, 1000) for value in row[0]] == list(values)
            assert (row[1]["index"], row[1]["tied"]) == (answer, tie)
            assert row[1]["least"] == [a for a, value in enumerate(values) if value == min(values)]
        tied += expected.tied.sum()
    assert tied > 400


def inside(polygon, at):
    """Whether points of the plane lie in a convex polygon, boundary excluded, whichever way it turns."""
    ends = np.array(polygon)[:, 1:]
    sides = ends - np.roll(ends, 1, axis=0)
    away = at[:, None] - np.roll(ends, 1, axis=0)
    turn = sides[:, 0] * away[..., 1] - sides[:, 1] * away[..., 0]
    return (turn > 0).all(axis=1) | (turn < 0).all(axis=1)


def test_the_regions_of_the_triangle_are_answers_of_the_bayes_rule(costs):
    p = np.random.default_rng(22).dirichlet(np.ones(3), 300)
    for table in cost_tables(40):
        answer = risk.bayes_rule(p, table).decision
        polygons = [call(costs, "mcCosts.region", table.tolist(), a) for a in range(table.shape[1])]
        areas = [call(costs, "mcCosts.area", polygon) if polygon else 0 for polygon in polygons]
        assert sum(areas) == pytest.approx(1)
        for a, polygon in enumerate(polygons):
            found = inside(polygon, p[:, 1:]) if polygon else np.zeros(300, dtype=bool)
            np.testing.assert_array_equal(found, answer == a)


def test_of_two_answers_that_always_tie_the_first_has_the_region(costs):
    table = [[0, 10, 0], [10, 0, 10], [0, 10, 0]]
    assert call(costs, "mcCosts.region", table, 2) == []
    assert call(costs, "mcCosts.area", call(costs, "mcCosts.region", table, 0)) == pytest.approx(0.75)


def test_a_dragged_point_stays_on_the_grid_and_in_the_triangle(costs):
    rng = np.random.default_rng(23)
    for shares in [*rng.dirichlet(np.ones(3), 100), *rng.uniform(-1, 1, (100, 2))]:
        shares = list(shares) if len(shares) == 3 else [1 - sum(shares), *shares]
        point = call(costs, "mcCosts.snap", shares)
        assert sum(point) == 100
        assert min(point) >= 0
        if min(shares) >= 0:
            assert np.abs(np.array(point) / 100 - shares).max() < 1 / 100


@pytest.mark.parametrize("step", [1, 6])
def test_arrow_keys_reach_every_corner_and_lose_nothing(costs, step):
    corners = {"ArrowLeft": 0, "ArrowRight": 1, "ArrowUp": 2}
    for key, corner in corners.items():
        point = [33, 34, 33]
        for _ in range(110):
            point = call(costs, "mcCosts.move", point, key, step)
            assert sum(point) == 100
            assert min(point) >= 0
        if key != "ArrowUp":
            assert point[1 - corner] == 0
        else:
            assert point == [0, 0, 100]
    assert call(costs, "mcCosts.move", [0, 0, 100], "ArrowDown", 6) == [3, 3, 94]


def test_the_starting_states_are_what_their_names_say(costs):
    start = call(costs, "(() => mcCosts.START)")
    presets = call(costs, "(() => mcCosts.PRESETS)")
    tables = {key: np.array(call(costs, "mcCosts.matrix", preset)) for key, preset in presets.items()}
    np.testing.assert_array_equal(tables["equal"], 10 * (1 - np.eye(3)))
    np.testing.assert_array_equal(tables["miss"], 10 * risk.costs_from_weights([1, 1, 4]))
    np.testing.assert_array_equal(tables["line"], 10 * risk.costs_from_graph([(1, 2), (2, 3)], [1, 2, 3]))
    np.testing.assert_array_equal(tables["abstain"][:, 3], [4, 4, 4])
    assert start["preset"] == "miss"
    found = risk.bayes_rule(np.array([start["p"]]), tables["miss"])
    assert (found.decision[0], np.argmax(start["p"])) == (2, 0)  # as the sentence in the chapter says
    np.testing.assert_allclose(found.expected / 1000, [[1.3, 1.45, 0.75]])


def test_the_classes_of_the_triangle_have_the_colours_of_the_figures(costs):
    colors = call(costs, "(() => mcCosts.CLASS_STYLES.map((style) => style.color))")
    assert tuple(colors) == tuple(color.lower() for color in plot.CLASS_COLORS[: len(colors)])


@pytest.fixture(scope="module")
def ruler():
    with engine("extra/widgets/margin-ruler.js") as context:
        yield context


def ruler_figure():
    """What the chapter gives the ruler: margins in hundredths, and the table without scripts."""
    notebook = json.loads((WEB.parent / "chapters" / "margin.ipynb").read_text(encoding="utf-8"))
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    hundredths = json.loads(re.search(r'data-hundredths="(.*?)"', text, re.DOTALL)[1])
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>((?:<td>.*?</td>)+)</tr>', text)
    return hundredths, [(rho, *re.findall("<td>(.*?)</td>", cells)) for rho, cells in rows]


def shares_of_python(margins, rho, nu):
    u = nu * np.asarray(margins, dtype=float)
    scores = np.column_stack([u, np.zeros(len(u))])  # of two classes, the first of which is true
    strict = margin.sandwich(scores, np.zeros(len(u), dtype=int), rho, "for")
    found = margin.sandwich(scores, np.zeros(len(u), dtype=int), rho, "against")
    assert found.zero_one == found.nonpositive
    return {
        "negative": strict.zero_one,
        "nonpositive": found.nonpositive,
        "loss": found.margin_loss,
        "atMost": found.at_most_rho,
    }


RULED = {
    "ties at 0 and at rho": [-1.0, 0.0, 0.0, 0.5, 2.0, 2.0, 3.0],
    "all at 0": [0.0, 0.0],
    "all at rho": [2.0, 2.0, 2.0],
    "none positive": [-2.0, -0.5],
    "one": [1.5],
    "many": (np.random.default_rng(3).integers(-200, 900, 400) / 100).tolist(),
}


@pytest.mark.parametrize("margins", RULED.values(), ids=RULED)
@pytest.mark.parametrize("rho", [0.1, 0.5, 2.0, 10.0])
@pytest.mark.parametrize("nu", [1 / 32, 0.25, 1.0, 2.0**0.75, 32.0])
def test_the_shares_of_the_ruler_are_those_of_python(ruler, margins, rho, nu):
    found = call(ruler, "mcRuler.shares", margins, rho, nu)
    assert found == pytest.approx(shares_of_python(margins, rho, nu), abs=1e-14)
    # the area under the staircase, divided by rho, is the loss (prop-margin-average)
    corners = call(ruler, "mcRuler.staircase", margins, nu)
    assert call(ruler, "mcRuler.area", corners, 0, rho) / rho == pytest.approx(found["loss"], abs=1e-12)
    assert [v for v, _ in corners] == sorted({nu * u for u in margins})
    assert [height for _, height in corners] == [np.mean(nu * np.array(margins) <= v) for v, _ in corners]


def test_a_factor_of_the_scores_moves_the_loss_and_nothing_that_is_predicted(ruler):
    margins = RULED["many"]
    found = [call(ruler, "mcRuler.shares", margins, 2.0, 2.0**octave) for octave in range(-12, 13)]
    losses = [shares["loss"] for shares in found]
    assert len({(shares["negative"], shares["nonpositive"]) for shares in found}) == 1
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 0.999
    assert losses[-1] == found[0]["nonpositive"]  # no positive margin is below 0.01


def test_the_ruler_of_the_page_has_the_margins_of_the_penguins(ruler):
    penguins = data.load("penguins")
    bill = penguins.X[:, :2]
    bill = (bill - bill.mean(axis=0)) / bill.std(axis=0)
    y = np.unique(penguins.y, return_inverse=True)[1]
    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8).fit(bill, y)
    margins = np.sort(margin.margins(model.decision_function(bill), y))
    hundredths, rows = ruler_figure()
    np.testing.assert_allclose(np.array(hundredths) / 100, margins, atol=0.00501)
    assert 0 not in hundredths  # the script counts the margins at most 0 as mistakes
    assert len(rows) == 5
    for rho, factor, *shown in rows:
        shares = shares_of_python(np.array(hundredths) / 100, float(rho), float(Fraction(factor)))
        assert shown == [f"{100 * shares[name]:.1f}" for name in ("nonpositive", "loss", "atMost")]


# -- the comparison table --------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    with engine("extra/widgets/comparison-table.js") as context:
        yield context


@pytest.fixture(scope="module")
def races():
    """What the chapter hands to its table, made from the file in the same way."""
    rows = json.loads((WEB.parent / "results" / "comparison.json").read_text(encoding="utf-8"))
    entries = {(r["data"], r["machine"]): r for r in rows["rows"] if r["split"] == "resampled"}
    sets = [{"name": r["data"], "n_train": r["n_train"][0], "n_test": r["n_test"][0]} for r in rows["data"]]
    classifiers = list(dict.fromkeys(name for _, name in entries))
    mistakes = [[entries[s["name"], name]["mistakes"] for s in sets] for name in classifiers]
    return {"sets": sets, "classifiers": classifiers, "mistakes": mistakes}


def judged(races, shown, baseline, method):
    """The p-values and the verdicts of Python, a row for each classifier, in the order of the data sets."""
    found = {}
    for c, row in enumerate(races["mistakes"]):
        for i, s in enumerate(shown) if c != baseline else ():
            about = races["sets"][s]
            D = (np.array(row[s]) - races["mistakes"][baseline][s]) / about["n_test"]
            sizes = about["n_train"], about["n_test"]
            test = (
                comparison.paired_t(D) if method == "naive" else comparison.corrected_resampled_t(D, *sizes)
            )
            found[c, i] = test.mean, test.p
    p = [p for _, p in found.values()]
    p = comparison.holm(p) if method == "holm" else p
    signs = {-1: "better", 0: "open", 1: "worse"}
    return {
        place: (value, signs[int(np.sign(mean))] if value <= 0.05 else "open")
        for (place, (mean, _)), value in zip(found.items(), p, strict=True)
    }


EVERYTHING = tuple(range(8))
HIDDEN = [EVERYTHING, *((s,) for s in EVERYTHING), (3, 5), (0, 1, 2, 4, 6, 7)]


@pytest.mark.parametrize("method", ["naive", "corrected", "holm"])
def test_the_verdicts_of_the_comparison_are_those_of_python(table, races, method):
    for baseline in range(25):
        for shown in HIDDEN if baseline in (0, 17) else (EVERYTHING, (baseline % 8,)):
            found = call(table, "mcComparison.compare", races, shown, baseline, method)
            expected = judged(races, shown, baseline, method)
            assert found["family"] == len(expected) == 24 * len(shown)
            for (c, i), (p, verdict) in expected.items():
                one = found["table"][c][i]
                assert one["verdict"] == verdict, (baseline, shown, c, i)
                assert abs(one["adjusted"] - p) < 1e-12
            assert found["table"][baseline] == [None] * len(shown)
            verdicts = [verdict for _, verdict in expected.values()]
            assert [found[key] for key in ("worse", "better", "open")] == [
                verdicts.count(key) for key in ("worse", "better", "open")
            ]


@pytest.mark.parametrize("df", [1, 2, 3, 4, 9, 10, 29])
def test_students_distribution_of_the_comparison(table, df):
    for t in (0.0, 0.01, 0.3, 1.0, 2.262, 5.0, 40.0, 1e6):
        assert abs(call(table, "mcComparison.student", t, df) - 2 * stats.t.sf(t, df)) < 1e-14


def test_equal_differences_of_the_comparison_have_no_variance(table):
    about = {"n_train": 2, "n_test": 10}
    for ours, p in (([3, 4, 5], 1), ([4, 5, 6], 0)):
        found = call(table, "mcComparison.difference", ours, [3, 4, 5], about, "corrected")
        assert (found["p"], round(found["mean"], 12)) == (p, (ours[0] - 3) / 10)


def test_ranks_and_order_of_the_comparison(table, races):
    for shown in (EVERYTHING, (0, 3), (6,)):
        rows = call(table, "mcComparison.summary", races, shown)
        totals = np.array([[sum(row[s]) for s in shown] for row in races["mistakes"]])
        ranks = stats.rankdata(totals, axis=0)
        np.testing.assert_allclose([row["mean"] for row in rows], ranks.mean(axis=1), rtol=1e-12)
        np.testing.assert_allclose([row["median"] for row in rows], np.median(ranks, axis=1), rtol=1e-12)
        n_test = np.array([races["sets"][s]["n_test"] for s in shown])
        np.testing.assert_allclose([row["errors"] for row in rows], 10 * totals / n_test, rtol=1e-12)
    assert call(table, "mcComparison.sorted", [3, 1, 2, 1], False) == [1, 3, 2, 0]
    assert call(table, "mcComparison.sorted", [3, 1, 2, 1], True) == [0, 2, 1, 3]


def test_what_the_comparison_proposes_to_try(table, races):
    """The counts that the chapter, and the line above the table, speak of."""
    svc, digits = races["classifiers"].index("SVC"), [6]
    assert races["sets"][6]["name"] == "digits"
    counts = {}
    for name, shown, method in (
        ("text", EVERYTHING, "holm"),
        ("naive", EVERYTHING, "naive"),
        ("digits", digits, "holm"),
    ):
        found = call(table, "mcComparison.compare", races, shown, svc, method)
        counts[name] = found["worse"], found["better"]
        on_digits = sum(
            row[-2 if len(shown) == 8 else 0]["verdict"] != "open" for row in found["table"] if row[0]
        )
        counts[name + ", on digits"] = on_digits
    assert (counts["text"], counts["naive"]) == ((23, 0), (89, 23))
    assert (counts["text, on digits"], counts["digits, on digits"]) == (3, 7)
    told = call(table, "mcComparison.told", found, {"name": "SVC", "sets": 1, "method": "holm"})
    assert told == (
        "24 comparisons with SVC on 1 data set, corrected t tests with Holm’s correction for all 24: "
        "7 shown worse, 0 shown better, 17 open."
    )
