"""What a display draws is what scikit-learn, scipy and a count by hand say of the same predictions."""

import subprocess
import sys
from copy import copy
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from mcutils import BinarySVM, CrammerSinger, DecisionTree, OutputCode, display, ecoc, load, pruning, risk
from mcutils.softmax import reliability

IRIS = load_iris()
X, Y = IRIS.data[:, 1:3], IRIS.target_names[IRIS.target]


@pytest.fixture(autouse=True)
def without_windows() -> None:
    mpl.use("agg")


@pytest.fixture(scope="module")
def model() -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(X, Y)


def legend(shown: Any) -> list[str]:
    return [text.get_text() for text in shown.ax_.get_legend().get_texts()]


def heights(line: Any, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The height of a curve of steps at some places."""
    x, y = line.get_data()
    return np.array([y[x <= v][-1] if (x <= v).any() else 0.0 for v in places])


# ---- every display ----


def every_display(model: LogisticRegression) -> list[Any]:
    return [
        display.MarginDisplay([0.5, -1.0, 2.0]),
        display.CodeDisplay(ecoc.all_pairs(4)),
        display.ReliabilityDisplay(reliability(model.predict_proba(X), IRIS.target)),
        display.PruningDisplay(pruning.prune_cv(DecisionTree(), X, Y, cv=3)),
        display.GapDisplay([[0.0, 3.0, 1.0], [1.0, 2.0, 2.0]]),
        display.RegionsDisplay(xx0=[0, 1], xx1=[0, 1, 2], response=[[0, 1]] * 3, classes=["a", "b"]),
        display.ConfusionDisplay(risk.confusion([0, 0, 1], [0, 1, 1])),
    ]


def test_every_display_is_tried(model: LogisticRegression) -> None:
    assert sorted(type(one).__name__ for one in every_display(model)) == display.__all__


def test_a_display_draws_in_new_axes_or_in_those_that_are_given(model: LogisticRegression) -> None:
    for one in every_display(model):
        assert one.plot() is one
        assert one.ax_.figure is one.figure_ is plt.gcf()
        ax = Figure().subplots()
        assert one.plot(ax=ax).ax_ is ax
        assert one.figure_ is ax.figure
        with pytest.raises(ValueError, match=r"^ax must be an Axes of matplotlib, found 3$"):
            one.plot(ax=3)


def test_without_matplotlib_a_display_says_what_is_missing() -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from mcutils import display\n"
        "try: display.GapDisplay([[0, 1, 1]]).plot()\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("GapDisplay needs matplotlib: install it")


# ---- margins ----


def test_the_curve_of_the_margins_counts(model: LogisticRegression) -> None:
    shown = display.MarginDisplay.from_estimator(model, X, Y, rho=1.5, ax=Figure().subplots())
    scores = model.decision_function(X).tolist()
    margins = np.array(
        [f[y] - max(f[:y] + f[y + 1 :]) for f, y in zip(scores, IRIS.target.tolist(), strict=True)]
    )
    np.testing.assert_allclose(shown.margins, margins)
    places = np.linspace(-3, 9, 37)
    counted = [np.mean(margins <= v) for v in places]
    np.testing.assert_allclose(heights(shown.line_, places), counted)
    loss = np.clip(1 - margins / 1.5, 0, 1).mean()
    np.testing.assert_allclose(shown.loss_line_.get_ydata(), loss)
    drawn = [mark.get_data()[1][0] for mark in shown.marks_]
    np.testing.assert_allclose(drawn, [np.mean(margins <= 0), np.mean(margins <= 1.5)])
    assert np.mean(margins > 0) == pytest.approx(model.score(X, Y))
    assert legend(shown) == [
        "LogisticRegression",
        f"margin ≤ 0: {100 * np.mean(margins <= 0):.1f}%",
        f"margin loss: {100 * loss:.1f}%",
        f"margin ≤ 1.5: {100 * np.mean(margins <= 1.5):.1f}%",
    ]
    # the shaded area is rho times the mean loss
    (area,) = shown.ax_.collections
    x, y = area.get_paths()[0].vertices.T
    assert abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2 == pytest.approx(1.5 * loss)


def test_of_two_classes_the_one_score_has_a_sign() -> None:
    two = Y != "setosa"
    machine = LinearSVC(random_state=0).fit(X[two], Y[two])
    f, sign = machine.decision_function(X[two]), np.where(Y[two] == machine.classes_[1], 1, -1)
    shown = display.MarginDisplay.from_estimator(machine, X[two], Y[two], ax=Figure().subplots())
    np.testing.assert_allclose(shown.margins, sign * f)
    given = display.MarginDisplay.from_predictions(Y[two], f, ax=Figure().subplots())
    np.testing.assert_allclose(given.margins, sign * f)


def test_margins_of_probabilities_and_the_style_that_is_asked_for(model: LogisticRegression) -> None:
    shown = display.MarginDisplay.from_estimator(
        model, X, Y, response_method="predict_proba", name="p", ax=Figure().subplots(), color="red", ls=":"
    )
    assert np.abs(shown.margins).max() <= 1
    assert legend(shown) == ["p"]
    assert (shown.line_.get_color(), shown.line_.get_linestyle()) == ("red", ":")


def test_margins_that_make_no_sense(model: LogisticRegression) -> None:
    with pytest.raises(ValueError, match=r"^margins must be a vector of at least one, found shape"):
        display.MarginDisplay([[1.0]])
    with pytest.raises(ValueError, match=r"^rho must be None or a positive, finite number, found 0$"):
        display.MarginDisplay([1.0]).plot(rho=0)
    with pytest.raises(ValueError, match=r"y_score must have a column for each of the 2 classes, found 3"):
        display.MarginDisplay.from_predictions(["a", "b"], np.eye(3)[:2])
    with pytest.raises(ValueError, match=r"labels among the classes \['a', 'b', 'c'\], found 'd'"):
        display.MarginDisplay.from_predictions(["a", "d"], np.eye(3)[:2], labels=["a", "b", "c"])
    nb = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match=r"estimator must be a classifier with decision_function, found Gau"):
        display.MarginDisplay.from_estimator(nb, X, Y, response_method="decision_function")


# ---- codes ----


def test_the_distances_of_a_code_count() -> None:
    code = ecoc.sparse(6, n_columns=10, random_state=0)
    counted = np.array(
        [[sum((1 - int(a) * int(b)) / 2 for a, b in zip(r, s, strict=True)) for s in code] for r in code]
    )
    shown = display.CodeDisplay(code).plot(ax=Figure().subplots())
    np.testing.assert_array_equal(shown.distances, counted)
    off = np.where(np.eye(6) == 1, np.inf, counted)
    assert [text.get_text() for text in shown.text_] == [f"{d:g}" for d in off.min(axis=1)]
    near = off.min(axis=1)
    assert 0 < (near == near.min()).sum() < 6
    assert [text.get_weight() == "bold" for text in shown.text_] == (near == near.min()).tolist()
    table = shown.plot(kind="distances", ax=Figure().subplots())
    for r, row in enumerate(table.text_):
        assert [None if t is None else float(t.get_text()) for t in row] == [
            None if c == r else counted[r, c] for c in range(6)
        ]
    assert len(table.ax_.patches) == (off == off.min()).sum()
    alike = display.CodeDisplay(ecoc.all_pairs(4)).plot(ax=Figure().subplots())
    assert {text.get_weight() for text in alike.text_} == {"normal"}


@pytest.mark.parametrize("base", [LinearSVC(random_state=0), GaussianNB()])
def test_the_code_of_a_classifier(base: Any) -> None:
    own = OutputCode(base, code="all-pairs").fit(X, Y)
    shown = display.CodeDisplay.from_estimator(own, ax=Figure().subplots())
    np.testing.assert_array_equal(shown.code, own.code_)
    assert [label.get_text() for label in shown.ax_.get_yticklabels()] == IRIS.target_names.tolist()
    theirs = OutputCodeClassifier(base, code_size=2, random_state=0).fit(X, Y)
    shown = display.CodeDisplay.from_estimator(theirs, ax=Figure().subplots())
    assert set(np.unique(shown.code)) == {-1, 1}
    np.testing.assert_array_equal(shown.code > 0, theirs.code_book_ > 0)


def test_codes_that_make_no_sense(model: LogisticRegression) -> None:
    with pytest.raises(ValueError, match=r"estimator must be an OutputCode or an OutputCodeClassifier"):
        display.CodeDisplay.from_estimator(model)
    with pytest.raises(ValueError, match=r"display_labels must have 4 entries, found 2"):
        display.CodeDisplay(ecoc.all_pairs(4), display_labels="ab")
    with pytest.raises(ValueError, match=r"kind must be one of 'code', 'distances', found 'table'"):
        display.CodeDisplay(ecoc.all_pairs(4)).plot(kind="table")


# ---- reliability ----


def test_the_bars_are_wilsons_and_the_marks_scikit_learns(model: LogisticRegression) -> None:
    p = model.predict_proba(X)
    right, confidence = model.predict(X) == Y, p.max(axis=1)
    shown = display.ReliabilityDisplay.from_estimator(model, X, Y, least=2, ax=Figure().subplots())
    marks, _, (bars,) = shown.errorbar_
    place = np.minimum((10 * confidence).astype(int), 9)
    many = [b for b in range(10) if (place == b).sum() >= 2]
    shares, means = calibration_curve(right, confidence, n_bins=10)
    few = np.array([(place == b).sum() >= 2 for b in np.unique(place)])
    np.testing.assert_allclose(marks.get_xdata(), means[few])
    np.testing.assert_allclose(marks.get_ydata(), shares[few])
    for segment, b, count in zip(bars.get_segments(), many, shown.text_, strict=True):
        n = int((place == b).sum())
        ends = binomtest(int(right[place == b].sum()), n).proportion_ci(method="wilson")
        np.testing.assert_allclose(segment[:, 1], [ends.low, ends.high], atol=1e-12)
        assert count.get_text() == str(n)
    assert legend(shown) == ["LogisticRegression"]


def test_reliability_that_makes_no_sense() -> None:
    p = [[0.9, 0.1], [0.8, 0.2]]
    with pytest.raises(ValueError, match=r"least must be at most 1, the fullest bin, found 2"):
        display.ReliabilityDisplay.from_predictions([0, 1], p, least=2)
    with pytest.raises(ValueError, match=r"^y_prob"):
        display.ReliabilityDisplay.from_predictions([0, 1], [[0.9, 0.3], [0.8, 0.2]])
    with pytest.raises(ValueError, match=r"reliability must be what mcutils.softmax.reliability returns"):
        display.ReliabilityDisplay(p)  # type: ignore[arg-type]


# ---- pruning ----


def test_the_path_is_that_of_the_table_and_the_rule_takes_the_smallest_tree_below_the_line() -> None:
    vehicle = load("vehicle")
    shown = display.PruningDisplay.from_estimator(
        DecisionTree(), vehicle.X, vehicle.y, ax=Figure().subplots()
    )
    result = pruning.prune_cv(DecisionTree(), vehicle.X, vehicle.y)
    marks, _, (bars,) = shown.errorbar_
    root = len(vehicle.y) - np.bincount(np.unique(vehicle.y, return_inverse=True)[1]).max()
    wrong = result.errors.sum(axis=0)
    np.testing.assert_allclose(marks.get_ydata(), wrong / root)
    half = result.errors.std(axis=0) * np.sqrt(len(vehicle.y)) / root
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, np.transpose([wrong / root - half, wrong / root + half]))
    assert shown.training_line_ is not None
    assert shown.training_line_.get_ydata()[-1] == 0
    (limit,) = set(shown.limit_line_.get_ydata())
    best = wrong.argmin()
    assert limit == pytest.approx(wrong[best] / root + half[best])
    chosen = int((marks.get_ydata() <= limit).argmax())
    leaves = marks.get_xdata()[chosen]
    assert shown.chosen_.get_data() == (leaves, marks.get_ydata()[chosen])
    assert leaves == result.tree.get_n_leaves()
    assert set(legend(shown)) == {
        "cross-validated, ±1 SE",
        "training",
        "least + 1 SE",
        f"chosen: {leaves} leaves",
    }
    alone = shown.plot(include_training=False, ax=Figure().subplots())
    assert alone.training_line_ is None
    assert "training" not in legend(alone)


def test_pruning_that_makes_no_sense() -> None:
    with pytest.raises(ValueError, match=r"result must be what mcutils.pruning.prune_cv returns, found 3"):
        display.PruningDisplay(3)  # type: ignore[arg-type]


# ---- gaps ----

HISTORY = [[0.1, 9.0, -3.0], [0.4, 6.0, 4.5], [0.5, 5.0, 5.0]]


def test_the_gap_is_relative_and_a_gap_of_0_is_left_out_of_a_logarithmic_axis() -> None:
    shown = display.GapDisplay(HISTORY, name="ascent").plot(ax=Figure().subplots())
    (line,) = shown.lines_
    np.testing.assert_allclose(line.get_xdata(), [0.1, 0.4, 0.5])
    np.testing.assert_allclose(line.get_ydata(), [12 / 9, 1.5 / 6, np.nan])
    assert shown.ax_.get_yscale() == "log"
    assert legend(shown) == ["ascent"]
    both = shown.plot(kind="values", against="steps", ax=Figure().subplots())
    primal, dual = both.lines_
    assert primal.get_xdata().tolist() == dual.get_xdata().tolist() == [1, 2, 3]
    assert primal.get_ydata().tolist() == [9, 6, 5]
    assert dual.get_ydata().tolist() == [-3, 4.5, 5]
    assert primal.get_linestyle() != dual.get_linestyle()
    assert legend(both) == ["ascent, primal", "ascent, dual"]


def test_histories_that_make_no_sense(model: LogisticRegression) -> None:
    with pytest.raises(ValueError, match=r"history must have no dual value above the primal one, found 3.0"):
        display.GapDisplay([[0, 2, 3]])
    with pytest.raises(ValueError, match=r"history must have seconds that do not fall"):
        display.GapDisplay(HISTORY[::-1])
    with pytest.raises(ValueError, match=r"found shape \(1, 2\)"):
        display.GapDisplay([[0, 2]])
    with pytest.raises(ValueError, match=r"estimator must have history_, found LogisticRegression"):
        display.GapDisplay.from_estimator(model)


def test_the_history_of_an_estimator(model: LogisticRegression) -> None:
    trained = copy(model)
    trained.history_ = np.array(HISTORY)
    shown = display.GapDisplay.from_estimator(trained, ax=Figure().subplots())
    np.testing.assert_array_equal(shown.history, HISTORY)
    assert legend(shown) == ["LogisticRegression"]


# ---- regions ----


def test_a_region_is_where_its_class_is_predicted() -> None:
    machine = SVC(gamma=1.0).fit(X, Y)
    shown = display.RegionsDisplay.from_estimator(machine, X, Y, ax=Figure().subplots())
    rng = np.random.default_rng(0)
    low, high = X.min(axis=0), X.max(axis=0)
    fresh = rng.uniform(low, high, (500, 2))
    sure = np.ptp(np.sort(machine.decision_function(fresh), axis=1)[:, -2:], axis=1) > 0.05
    predicted = machine.predict(fresh)
    assert sure.sum() > 400
    for name, surface in zip(machine.classes_, shown.surfaces_, strict=True):
        inside = np.any([path.contains_points(fresh) for path in surface.get_paths()], axis=0)
        np.testing.assert_array_equal(inside[sure], predicted[sure] == name)
    for name, points in zip(machine.classes_, shown.points_, strict=True):
        np.testing.assert_array_equal(np.transpose(points.get_data()), X[name == Y])
    assert len({points.get_marker() for points in shown.points_}) == 3
    assert shown.support_ is not None
    np.testing.assert_array_equal(np.transpose(shown.support_.get_data()), X[machine.support_])
    assert legend(shown) == [*machine.classes_, "support vectors"]


def test_the_dashed_lines_of_a_machine_for_two_classes() -> None:
    two = Y != "setosa"
    machine = BinarySVM(C=1.0).fit(X[two], Y[two])
    shown = display.RegionsDisplay.from_estimator(
        machine, X[two], Y[two], styles=[1, 0], ax=Figure().subplots()
    )
    lines = [c for c in shown.ax_.collections if not c.get_facecolor().size]
    levels = set()
    for one in lines:
        for path in one.get_paths():
            levels |= {*np.round(machine.decision_function(path.vertices), 6).tolist()}
    assert levels == {-1.0, 0.0, 1.0}
    assert [points.get_marker() for points in shown.points_] == ["s", "o"]
    assert shown.support_ is not None
    assert len(shown.support_.get_xdata()) == len(machine.support_)


def test_support_vectors_of_a_linear_machine_are_examples_of_its_training() -> None:
    machine = CrammerSinger(C=0.1, store_multipliers=True).fit(X, Y)
    shown = display.RegionsDisplay.from_estimator(machine, X, ax=Figure().subplots())
    assert shown.support_ is not None
    np.testing.assert_array_equal(np.transpose(shown.support_.get_data()), X[machine.support_])
    assert sorted(text.get_text() for text in shown.ax_.texts) == sorted(IRIS.target_names)
    with pytest.raises(ValueError, match=r"X must be the .* or more examples of the training"):
        display.RegionsDisplay.from_estimator(machine, X[:20])
    without = display.RegionsDisplay.from_estimator(machine, X[:20], include_support=False)
    assert without.support_ is None


def test_regions_of_a_data_frame_and_of_a_tree() -> None:
    frame = pd.DataFrame(X, columns=["width", "length"])
    tree = DecisionTree(max_leaf_nodes=3).fit(frame, Y)
    shown = display.RegionsDisplay.from_estimator(tree, frame, Y, eps=0.5, ax=Figure().subplots())
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("width", "length")
    np.testing.assert_allclose(shown.ax_.get_xlim(), [X[:, 0].min() - 0.5, X[:, 0].max() + 0.5])
    assert shown.support_ is None


def test_regions_that_make_no_sense(model: LogisticRegression) -> None:
    four = LogisticRegression(max_iter=1000).fit(IRIS.data, Y)
    with pytest.raises(ValueError, match=r"X must be an array of two features, found shape"):
        display.RegionsDisplay.from_estimator(four, IRIS.data)
    with pytest.raises(ValueError, match=r"styles must have a number for each of the 3 classes"):
        display.RegionsDisplay.from_estimator(model, X, styles=[0])
    with pytest.raises(ValueError, match=r"grid_resolution must be at most 2000: more cannot be computed"):
        display.RegionsDisplay.from_estimator(model, X, grid_resolution=10**6)
    with pytest.raises(ValueError, match=r"response must be from 0 to 1, a number of classes, found 2"):
        display.RegionsDisplay(xx0=[0, 1], xx1=[0, 1], response=[[0, 1], [2, 0]], classes=["a", "b"])


# ---- confusion ----


def test_the_matrix_is_scikit_learns_and_its_intervals_are_scipys(model: LogisticRegression) -> None:
    shown = display.ConfusionDisplay.from_estimator(model, X, Y, ax=Figure().subplots())
    theirs = confusion_matrix(Y, model.predict(X))
    np.testing.assert_array_equal(shown.confusion.counts, theirs)
    written = [[0 if t is None else int(t.get_text()) for t in row] for row in shown.text_]
    assert written == theirs.tolist()
    for shares, counts, kind in ((shown.recall, theirs, "recall"), (shown.precision, theirs.T, "precision")):
        exact = [binomtest(int(row[c]), int(row.sum())) for c, row in enumerate(counts)]
        ends = [(test.statistic, *test.proportion_ci(method="exact")) for test in exact]
        np.testing.assert_allclose(shares, ends, atol=1e-12)
        drawn = shown.plot(kind=kind, ax=Figure().subplots()).ax_
        (bars,) = drawn.collections
        np.testing.assert_allclose([s[:, 0] for s in bars.get_segments()], np.array(ends)[:, 1:], atol=1e-12)
        assert [label.get_text() for label in drawn.get_yticklabels()] == IRIS.target_names.tolist()


def test_the_intervals_of_hoeffding_are_cut_off_at_0_and_1() -> None:
    y_true, y_pred = [0] * 100 + [1] * 4, [0] * 60 + [1] * 40 + [1] * 4
    shown = display.ConfusionDisplay.from_predictions(
        y_true, y_pred, method="hoeffding", level=0.9, ax=Figure().subplots()
    )
    half = np.sqrt(np.log(2 / 0.1) / 200)
    np.testing.assert_allclose(shown.recall[0], [0.6, 0.6 - half, 0.6 + half])
    np.testing.assert_allclose(shown.recall[1], [1.0, 1 - np.sqrt(np.log(2 / 0.1) / 8), 1.0])


def test_a_class_without_examples_has_no_recall() -> None:
    shown = display.ConfusionDisplay.from_predictions(
        ["a", "b"], ["a", "a"], labels=["b", "a", "c"], ax=Figure().subplots()
    )
    assert [text.get_text() for text in shown.interval_text_][2] == "–"
    with pytest.raises(ValueError, match=r"kind must be 'matrix': class 'c' never occurs and has no recall"):
        shown.plot(kind="recall")
    without = shown.plot(include_intervals=False, ax=Figure().subplots())
    assert without.interval_text_ == []


def test_confusions_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match=r"confusion must have whole counts: weights have no such intervals"):
        display.ConfusionDisplay(risk.Confusion([[0.5, 1], [1, 1]]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"y_true and y_pred must be equally many, found 2 and 1"):
        display.ConfusionDisplay.from_predictions([0, 1], [0])
    with pytest.raises(ValueError, match=r"y_pred must have labels among the classes \[0, 1\], found 2"):
        display.ConfusionDisplay.from_predictions([0, 1], [0, 2], labels=[0, 1])
