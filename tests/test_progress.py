"""What a fit says with ``verbose``, and the values it keeps: ``history_``."""

import inspect
import io
import pickle
import re
import sys
import time
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.parallel import delayed

import mcutils
from mcutils._progress import Log, side_by_side
from mcutils.binary import BinarySVM, solve_svm
from mcutils.boosting import AdaBoostMH
from mcutils.comparison import folds, nested, tune
from mcutils.display import PruningDisplay
from mcutils.ecoc import OutputCode
from mcutils.frontier import FilterTree, LabelTree
from mcutils.perceptron import KernelPerceptron, MulticlassPerceptron
from mcutils.pruning import prune_cv
from mcutils.rademacher import KernelBall, monte_carlo
from mcutils.reduction import OneVsAll, OneVsOne
from mcutils.softmax import SoftmaxRegression, WithProbabilities
from mcutils.solver import CrammerSinger, WestonWatkins
from mcutils.subgradient import SubgradientMachine
from mcutils.tree import DecisionTree

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
GRID = [{"var_smoothing": v} for v in (1e-9, 1e-3)]


def scored(kind, *arguments, **options):
    return lambda **more: kind(*arguments, **options, **more).fit(X, Y).scores(X)


def in_batches(**more):
    model = OneVsAll(GaussianNB(), **more)
    return model.partial_fit(X, Y, classes=[0, 1, 2]).scores(X)


def calibrated(**more):
    model = WithProbabilities(GaussianNB(), cv=3, random_state=0, **more)
    return model.fit(X, Y).predict_proba(X)


def of_costs(**more):
    return FilterTree(GaussianNB(), **more).fit_costs(X, 1.0 - np.eye(3)[Y]).scores(X)


# what joblib divides: a call whose results are compared, and its last line without the time
DIVIDED = {
    "OneVsAll": (scored(OneVsAll, GaussianNB()), "OneVsAll: fit 3/3"),
    "OneVsAll.partial_fit": (in_batches, "OneVsAll: fit 3/3"),
    "OneVsOne": (scored(OneVsOne, GaussianNB()), "OneVsOne: fit 3/3"),
    "OutputCode": (scored(OutputCode, GaussianNB(), code="exhaustive"), "OutputCode: fit 3/3"),
    "LabelTree": (scored(LabelTree, GaussianNB()), "LabelTree: fit 2/2"),
    "FilterTree": (scored(FilterTree, GaussianNB()), "FilterTree: fit 2/2"),
    "FilterTree.fit_costs": (of_costs, "FilterTree: fit 2/2"),
    "WithProbabilities": (calibrated, "WithProbabilities: fit 4/4"),  # three folds and everything
    "tune": (  # all candidates on three folds, and the best on everything
        lambda **more: tune(GaussianNB(), GRID, X, Y, folds=folds(Y, 3), **more).held_out,
        "tune: fit 7/7",
    ),
    "nested": (
        lambda **more: nested(GaussianNB(), GRID, X, Y, n_splits=2, **more).mistakes,
        "nested: split 2/2",
    ),
    "prune_cv": (lambda **more: prune_cv(DecisionTree(), X, Y, cv=3, **more).errors, "prune_cv: fold 3/3"),
    "PruningDisplay.from_estimator": (
        lambda **more: PruningDisplay.from_estimator(DecisionTree(), X, Y, cv=3, **more).result.errors,
        "prune_cv: fold 3/3",
    ),
    "monte_carlo": (
        lambda **more: monte_carlo(KernelBall(X @ X.T), 600, random_state=0, **more).value,
        "monte_carlo: block 3/3",
    ),
}


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


# -- what joblib divides ----------------------------------------------------------------------


@pytest.mark.parametrize("name", DIVIDED)
def test_what_is_divided_is_silent_unless_asked(name, capfd):
    function, last = DIVIDED[name]
    quiet = function()
    assert capfd.readouterr() == ("", "")
    with parallel_config(backend="threading"):
        for n_jobs in (1, 2):
            np.testing.assert_array_equal(function(verbose=True, n_jobs=n_jobs), quiet)
            out, err = capfd.readouterr()
            assert out == ""
            first, *_, end = err.splitlines()
            assert re.fullmatch(rf"{last.split(':')[0]}: started, \d+\.\d s", first)
            assert re.fullmatch(rf"{last}, \d+\.\d s", end)


@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_verbose_of_what_is_divided_is_checked(name, verbose):
    with pytest.raises(ValueError, match="verbose must be True, False or an integer, at least 0, found"):
        DIVIDED[name][0](verbose=verbose)


@pytest.mark.parametrize("name", DIVIDED)
def test_every_step_is_counted(name, capsys):
    function, last = DIVIDED[name]
    function(verbose=2)
    stem, most = last.split("/")
    stem = stem.rstrip("0123456789")
    said = [re.sub(r", \d+\.\d s$", "", line) for line in capsys.readouterr().err.splitlines()]
    assert said[1:] == [f"{stem}{done}/{most}" for done in range(1, int(most) + 1)]


def late(number):
    """The first is done last."""
    time.sleep(0.1 if number == 0 else 0.0)
    return number


def refused(number):
    if number == 4:
        raise RuntimeError("I do not like this")
    return number


# the processes of multiprocessing give all results at the end, as Ray does
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("verbose", [0, 1])
def test_results_keep_their_order_and_errors_arrive(backend, verbose, capfd):
    with parallel_config(backend=backend), Log("Some", verbose, unit="task", most=7) as log:
        assert side_by_side(map(delayed(late), range(6)), 2, log, before=1) == list(range(6))
        with pytest.raises(RuntimeError, match="I do not like this"):
            side_by_side(map(delayed(refused), range(9)), 2, log)
    assert ("Some: task" in capfd.readouterr().err) == bool(verbose)


def test_the_line_goes_on_while_joblib_works(monkeypatch):
    """In the order of the calls, each when it is there, not all at the end."""
    log = Log("Some", 2, most=3)
    seen = []
    monkeypatch.setattr(log, "tell", lambda count: seen.append(("told", count)))
    side_by_side(map(delayed(lambda number: seen.append(("done", number))), range(1, 4)), 1, log)
    assert seen == [(what, number) for number in range(1, 4) for what in ("done", "told")]


def test_nested_gives_its_tunes_no_verbose(capsys):
    DIVIDED["nested"][0](verbose=2)
    assert "tune" not in capsys.readouterr().err


def public_callables(modules):
    """All that is public, by name: functions, constructors and methods."""
    for module in modules:
        for name in module.__all__:
            parts = {name: getattr(module, name)}
            if inspect.isclass(parts[name]):
                members = inspect.getmembers(parts[name])
                parts = {f"{name}.{key}": part for key, part in members if key == "__init__" or key[0] != "_"}
            for key, part in parts.items():
                if inspect.isfunction(part) or inspect.ismethod(part):
                    yield key.removesuffix(".__init__"), part


SINGLE = {"best_stump"}  # one search, a round of AdaBoostMH


def divided(modules):
    """What takes ``n_jobs``, and whether it takes ``verbose``."""
    known = {name: inspect.signature(function).parameters for name, function in public_callables(modules)}
    return {name: "verbose" in known[name] for name in known.keys() - SINGLE if "n_jobs" in known[name]}


def test_all_that_is_divided_has_verbose():
    modules = [import_module(f"mcutils.{name}") for name in mcutils.MODULES]
    assert [name for name, loud in divided(modules).items() if not loud] == []
    assert divided(modules).keys() - {"AdaBoostMH"} <= DIVIDED.keys(), "DIVIDED has no line for it"


def test_what_forgot_verbose_is_found():
    class Box:
        def __init__(self, n_jobs=None):
            """Divides."""

        @classmethod
        def open(cls, X, n_jobs=None, verbose=0):
            """Divides, and says so."""

    module = SimpleNamespace(__all__=["Box"], Box=Box)
    assert divided([module]) == {"Box": False, "Box.open": True}
