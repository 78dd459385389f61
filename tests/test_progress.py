"""What a fit says with ``verbose``, and the values it keeps: ``history_``."""

import io
import pickle
import re
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mcutils._progress import Log
from mcutils.binary import BinarySVM, solve_svm
from mcutils.boosting import AdaBoostMH
from mcutils.perceptron import KernelPerceptron, MulticlassPerceptron
from mcutils.softmax import SoftmaxRegression
from mcutils.solver import CrammerSinger, WestonWatkins
from mcutils.subgradient import SubgradientMachine

X, Y = load_iris(return_X_y=True)
TWO = Y < 2
CERTIFYING = [
    CrammerSinger(C=0.1),
    CrammerSinger(C=10.0, kernel="rbf", tol=1e-8),
    CrammerSinger(solver="interior"),
    WestonWatkins(C=0.1),
    WestonWatkins(kernel="rbf"),
    SoftmaxRegression(),
    SubgradientMachine(C=0.1, tol=0.1, max_iter=500, random_state=0),
    SubgradientMachine(C=0.01, max_iter=20, random_state=0),
    BinarySVM(),
    BinarySVM(kernel="rbf", fit_intercept=False),
    BinarySVM(C=np.inf),
]
OTHERS = [
    AdaBoostMH(n_estimators=5),
    AdaBoostMH(n_estimators=5, early_stopping=True, random_state=0),
    MulticlassPerceptron(random_state=0),
    KernelPerceptron("rbf", random_state=0),
]
ALL = [*CERTIFYING, *OTHERS]


def fitted(model):
    chosen = TWO if isinstance(model, BinarySVM | KernelPerceptron | MulticlassPerceptron) else Y >= 0
    return model.fit(X[chosen], Y[chosen])


def named(model):
    return f"{model!r:.60}"


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    __module__ = "ipykernel.iostream"


def lines_of(stream):
    """The last state of each line, as a terminal shows it."""
    shown = []
    for line in stream.getvalue().split("\n"):
        cells = ""
        for part in line.split("\r"):
            cells = part + cells[len(part) :]
        shown.append(cells.rstrip())
    return shown


@pytest.mark.parametrize("model", ALL, ids=named)
def test_a_fit_is_silent_unless_asked(model, capfd):
    quiet = fitted(clone(model))
    assert capfd.readouterr() == ("", "")
    loud = fitted(clone(model).set_params(verbose=True))
    out, err = capfd.readouterr()
    name, *_ = type(model).__name__.split("[")
    assert out == ""
    assert err.startswith(f"{name}: started, ")
    last = err.splitlines()[-1]
    assert re.fullmatch(rf"{name}: (pass|step|epoch|round) \d+.*, \d+\.\d s", last), last
    # and learns the same
    assert np.array_equal(quiet.scores(X), loud.scores(X))


@pytest.mark.parametrize("model", CERTIFYING, ids=named)
def test_the_history_ends_with_the_certificate(model):
    model = fitted(clone(model))
    history, certificate = model.history_, model.certificate_
    assert history.dtype == np.float64
    assert history.ndim == 2
    assert history.shape[1] == 3
    seconds, primal, dual = history.T
    assert (seconds > 0).all()
    assert (np.diff(seconds) >= 0).all()
    assert (primal[-1], dual[-1]) == (certificate.primal, certificate.dual)
    # all rows bound the same optimum, up to kernel rows in single precision
    assert dual.max() <= primal.min() + 1e-5 * max(1.0, primal.min())
    assert np.array_equal(pickle.loads(pickle.dumps(model)).history_, history)
    assert not hasattr(clone(model), "history_")


def test_the_last_line_says_what_was_reached(capsys):
    model = CrammerSinger(verbose=1).fit(X, Y)
    reached = model.certificate_
    assert (
        f"primal {reached.primal:.6g}, dual {reached.dual:.6g}, gap {reached.gap:.1e} (tol 0.0001)"
        in capsys.readouterr().err.splitlines()[-1]
    )


def test_the_gap_of_two_classes_is_relative_to_a_small_primal_too(capsys):
    model = BinarySVM(C=1e-4, verbose=1).fit(X[TWO], Y[TWO])
    assert model.certificate_.primal < 0.1
    shown = float(re.search(r"gap (\S+) ", capsys.readouterr().err.splitlines()[-1])[1])
    assert shown > 5 * model.certificate_.gap or model.certificate_.gap < 1e-14


def test_a_fit_that_was_already_finished_starts_a_new_history():
    model = CrammerSinger(warm_start=True).fit(X, Y)
    once = len(model.history_)
    assert len(model.fit(X, Y).history_) <= once


def test_partial_fit_has_no_history():
    model = SubgradientMachine(random_state=0, C=0.01).fit(X, Y)
    assert len(model.history_) == 1
    assert model.partial_fit(X, Y).history_.shape == (0, 3)


def test_an_interrupted_fit_ends_its_line(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    model = AdaBoostMH(verbose=1, estimator=BrokenLearner())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert lines_of(stream)[-1] == ""
    assert stream.getvalue().endswith("\n")


class BrokenLearner(BinarySVM):
    def fit(self, X, y, sample_weight=None):
        raise KeyboardInterrupt


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_one_line_is_rewritten(kind, monkeypatch):
    stream = kind()
    monkeypatch.setattr(sys, "stderr", stream)
    with Log("Some", 1, unit="epoch", most=3) as log:
        log.tell(1, ", a long remark about it")
        time.sleep(0.11)
        log.tell(2, ", short")
        log.tell(3)
    shown = lines_of(stream)
    assert len(shown) == 2
    assert shown[1] == ""
    assert re.fullmatch(r"Some: epoch 3/3, short, 0\.\d s", shown[0])
    assert "epoch 2/3" in stream.getvalue()
    assert "epoch 1/3" not in stream.getvalue()


def test_a_line_is_no_wider_than_the_terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "30")
    with Log("Some", 1) as log:
        log.tell(1, "," + 80 * "x")
    assert max(map(len, re.split("[\r\n]", stream.getvalue()))) == 29


def test_elsewhere_lines_come_in_growing_intervals(monkeypatch, capsys):
    clock = iter(np.arange(0.0, 1000.0, 0.25))
    monkeypatch.setattr("mcutils._progress.perf_counter", lambda: next(clock))
    with Log("Some", 1) as log:
        for count in range(400):
            log.tell(count, "")
    said = [float(line.split()[-2]) for line in capsys.readouterr().err.splitlines()]
    assert said[0] == 0.2
    assert said[-1] == 100.2
    assert len(said) == 8
    assert (np.diff(np.diff(said[:-1])) > 0).all()


def test_more_verbose_means_every_report(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    model = SoftmaxRegression(verbose=2).fit(X, Y)
    assert "\r" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 1 + len(model.history_)


def test_a_program_without_a_console_stays_silent(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert CrammerSinger(verbose=1).fit(X, Y).converged_


def test_a_warning_starts_on_a_line_of_its_own(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("mcutils._warnings.warnings.warn", lambda *_, **__: print("WARNING", file=sys.stderr))
    for model in (
        CrammerSinger(max_iter=1, C=100.0),
        SoftmaxRegression(max_iter=1),
        SubgradientMachine(max_iter=1, tol=1e-9),
        BinarySVM(max_iter=1, kernel="rbf", tol=1e-12),
        MulticlassPerceptron(max_iter=1),
    ):
        fitted(model.set_params(verbose=1))
    assert [line for line in lines_of(stream) if "WARNING" in line] == 5 * ["WARNING"]


@pytest.mark.parametrize("model", ALL, ids=named)
@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_verbose_is_checked(model, verbose):
    with pytest.raises(ValueError, match="verbose must be True, False or an integer, at least 0, found"):
        fitted(clone(model).set_params(verbose=verbose))


def test_functions_are_silent(capfd):
    with pytest.warns(ConvergenceWarning):
        solve_svm(X[TWO] @ X[TWO].T, 2 * Y[TWO] - 1, max_iter=1)
    assert capfd.readouterr() == ("", "")
