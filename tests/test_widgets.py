"""The scripts of the site, in a JavaScript engine without a page: their numbers are Python's numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from mcutils import bound, ecoc, plot

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


def engine(script):
    context = MiniRacer()
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
def quiz():
    with engine("static/book.js") as context:
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


def test_classes_have_the_colours_of_the_figures(decoder):
    colors = call(decoder, "(() => mcEcoc.CLASS_STYLES.map((style) => style.color))")
    assert tuple(colors) == tuple(color.lower() for color in plot.CLASS_COLORS[: len(colors)])


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


def test_feedback_says_right_or_wrong(quiz):
    assert call(quiz, "mcQuiz.feedback", 2, 2).startswith("Right: the answer is 2.")
    assert call(quiz, "mcQuiz.feedback", 1, 2).startswith("Wrong: the answer is not 1.")
    assert call(quiz, "mcQuiz.feedback", None, 2) == "Choose an option first."


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
    def judged(*chosen):
        return call(quiz, "mcQuiz.compare", list(chosen), ["b", "b", "a"])

    assert judged("b", "b", "a") == {
        "rows": ["right", "right", "right"],
        "all": "All rows are right. The reasons are open below.",
        "verdict": "right",
    }
    assert judged("b", "a", "c") == {
        "rows": ["right", "not a", "not c"],
        "all": "Right: 1 of 3 rows. The answer is open below.",
        "verdict": "wrong",
    }
    # as long as a row is open nothing is given away
    assert judged("b", "", "") == {
        "rows": ["", "", ""],
        "all": "Choose a letter first in row 2, 3.",
        "verdict": "none",
    }


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_work_from_a_file_and_ask_nobody(script):
    """Modules and fetch are blocked on file://, and the site needs no other host."""
    source = script.read_text(encoding="utf-8")
    assert not re.findall(r"\b(?:import|export|fetch|require|XMLHttpRequest|WebSocket)\b|https?:", source)
