"""Several processes and machines: what joblib moves to a cluster, and what Dask's collections become."""

import os
import signal
import sys
import time
import tracemalloc
import warnings
from threading import Thread

import numpy as np
import pytest
from estimators import ESTIMATORS
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from mcutils import (
    AdaBoostMH,
    CrammerSinger,
    FilterTree,
    LabelTree,
    OneVsAll,
    WestonWatkins,
    WithProbabilities,
    rademacher,
)
from mcutils.comparison import folds, nested, tune
from mcutils.pruning import prune_cv
from mcutils.tree import DecisionTree

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")

GRID = [{"C": 1.0}, {"C": 10.0}]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[::3], y[::3]


@pytest.fixture
def computed():
    """How often anything was computed."""
    starts = []
    with dask.config.set(scheduler="sync"), dask.callbacks.Callback(start=starts.append):
        yield starts


def in_chunks(X, y):
    return array.from_array(X, chunks=(50, X.shape[1])), array.from_array(y, chunks=50)


# -- Dask's collections ----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_computes_a_collection_once(name, computed, digits):
    X, y = digits
    facts = ESTIMATORS[name]
    if facts.binary:
        X, y = X[y < 2], y[y < 2]
    model = clone(facts.configurations[0])
    lazy_X, lazy_y = in_chunks(X, y)
    alone = clone(model).fit(X, y)
    assert computed == []
    model.fit(lazy_X, lazy_y)
    assert len(computed) == 2, "X and y"
    for method in ("predict", "predict_proba", "decision_function", "scores"):
        if hasattr(model, method):
            computed.clear()
            np.testing.assert_array_equal(getattr(model, method)(lazy_X), getattr(alone, method)(X))
            assert len(computed) == 1, method


@pytest.mark.parametrize("estimator", [LogisticRegression(max_iter=20), SVC(), DecisionTree(max_depth=3)])
@pytest.mark.parametrize("name", ["OneVsAll", "OneVsOne", "OutputCode", "FilterTree", "LabelTree"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_reduction_computes_a_collection_once(name, estimator, computed, digits):
    X, y = digits
    lazy_X, lazy_y = in_chunks(X, y)
    model = clone(ESTIMATORS[name].configurations[0]).set_params(estimator=estimator).fit(lazy_X, lazy_y)
    assert len(computed) == 2
    computed.clear()
    model.predict(lazy_X)
    assert len(computed) == 1


def test_functions_compute_a_collection_once(computed, digits):
    X, y = digits
    lazy_X, lazy_y = in_chunks(X, y)
    for call in (
        lambda X, y: tune(SVC(), GRID, X, y, folds=folds(digits[1])).mistakes,
        lambda X, y: nested(SVC(), GRID, X, y, n_splits=2).mistakes,
        lambda X, y: prune_cv(DecisionTree(), X, y, cv=3).table["xerror"],
    ):
        computed.clear()
        np.testing.assert_array_equal(call(lazy_X, lazy_y), call(X, y))
        assert len(computed) == 2, "X and y"


class Frame:
    """A data frame of Dask's, as far as anybody looks; Dask's own needs another package."""

    def __init__(self, table):
        self.table, self.computed = table, 0

    def __dask_graph__(self):
        return {}

    def compute(self):
        self.computed += 1
        return self.table


def test_a_frame_keeps_its_names(digits):
    pd = pytest.importorskip("pandas")
    X, y = digits
    frame = Frame(pd.DataFrame(X[:, 10:16], columns=list("abcdef")))
    assert LabelTree().fit(frame, y).feature_names_in_.tolist() == list("abcdef")
    assert DecisionTree(max_depth=2).fit(frame, y).feature_names_in_.tolist() == list("abcdef")
    assert frame.computed == 2


# -- a cluster -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


@pytest.fixture
def sent(monkeypatch):
    """What was handed to the cluster."""
    everything = []
    scatter = distributed.Client.scatter

    def counted(self, data, *args, **kwargs):
        everything.extend(data if isinstance(data, list) else [data])
        return scatter(self, data, *args, **kwargs)

    monkeypatch.setattr(distributed.Client, "scatter", counted)
    return everything


@pytest.mark.parametrize("kind", [FilterTree, LabelTree])
def test_the_nodes_of_a_tree_are_learnt_on_a_cluster(cluster, sent, digits, kind):
    X, y = digits
    alone = kind().fit(X, y)
    with parallel_config(backend="dask", scatter=[X]):
        together = kind().fit(X, y)
    np.testing.assert_allclose(together.scores(X), alone.scores(X), atol=1e-10)
    assert sum(some is X for some in sent) == 1


def test_a_comparison_is_made_on_a_cluster(cluster, sent, digits):
    X, y = digits
    inner = folds(y)
    alone, alone_nested = tune(SVC(), GRID, X, y, folds=inner), nested(SVC(), GRID, X, y, n_splits=2)
    with parallel_config(backend="dask"):
        together = tune(SVC(), GRID, X, y, folds=inner)
        assert sum(some is X for some in sent) == 1
        together_nested = nested(SVC(), GRID, X, y, n_splits=2)
    np.testing.assert_array_equal(together.mistakes, alone.mistakes)
    np.testing.assert_array_equal(together.held_out, alone.held_out)
    np.testing.assert_array_equal(together_nested.mistakes, alone_nested.mistakes)
    np.testing.assert_array_equal(together_nested.inner, alone_nested.inner)


def test_a_family_is_sent_once(cluster, sent):
    family = rademacher.KernelBall(np.eye(400))
    alone = rademacher.monte_carlo(family, 2000, random_state=0)
    with warnings.catch_warnings(), parallel_config(backend="dask"):
        warnings.simplefilter("error")  # of a large graph
        assert rademacher.monte_carlo(family, 2000, random_state=0) == alone
    assert [type(some) for some in sent if sys.getsizeof(some) > 10_000] == [rademacher.KernelBall]


class KeepingClient(distributed.Client):
    """Sends data as the result of a task, which can run again, as the page has it."""

    async def scatter(self, data, **options):
        return self.submit(lambda: data, pure=False)


@pytest.mark.ci
def test_nothing_is_lost_when_a_worker_dies(digits):
    """The worker that has the most data is killed while both work, after Dask had time to drop copies."""
    X, y = digits
    grid, inner = [{"C": float(C)} for C in range(1, 61)], folds(y)
    alone = tune(SVC(), grid, X, y, folds=inner)
    killed = []
    often = {"distributed.scheduler.active-memory-manager.interval": "50ms"}
    with (
        dask.config.set(often),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        KeepingClient(cluster) as client,
    ):
        pids = client.run(os.getpid)

        def kill():
            workers = cluster.scheduler.workers
            until = time.monotonic() + 60
            while time.monotonic() < until and not all(one.processing for one in workers.values()):
                time.sleep(0.005)
            time.sleep(0.5)
            most = max(workers.values(), key=lambda one: one.nbytes).address
            os.kill(pids[most], signal.SIGKILL)
            killed.append(most)

        thread = Thread(target=kill)
        thread.start()
        with parallel_config(backend="dask"):
            together = tune(SVC(), grid, X, y, folds=inner)
        thread.join()
        assert len(killed) == 1
        assert killed[0] not in client.scheduler_info()["workers"]
    np.testing.assert_array_equal(together.mistakes, alone.mistakes)
    np.testing.assert_array_equal(together.held_out, alone.held_out)


def test_probabilities_are_fitted_on_a_cluster(cluster, digits):
    X, y = digits
    model = WithProbabilities(LabelTree(), random_state=0)
    alone = clone(model).fit(X, y).predict_proba(X)
    with parallel_config(backend="dask"):
        together = clone(model).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(together, alone, atol=1e-8)


def test_boosting_stays_in_this_process(cluster, sent, digits):
    X, y = digits
    alone = AdaBoostMH(n_estimators=5).fit(X, y)
    with parallel_config(backend="dask"):
        together = AdaBoostMH(n_estimators=5, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(together.scores(X), alone.scores(X))
    assert sent == []


# -- this machine ----------------------------------------------------------------------------


def test_workers_read_one_memory_map():
    X, y = np.ones((4000, 40)), np.arange(4000) % 3
    assert X.nbytes > 1 << 20

    def look(values):  # a function of a function: joblib sends it whole
        raise RuntimeError(type(values).__name__)

    with pytest.raises(RuntimeError, match=r"^memmap"):
        OneVsAll(make_pipeline(FunctionTransformer(look), LogisticRegression()), n_jobs=2).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [CrammerSinger, WestonWatkins])
def test_a_feature_is_appended_to_a_copy(kind):
    X = np.random.default_rng(0).normal(size=(2000, 500))
    y = (X[:, 0] > 0).astype(int)
    more = {}
    for fit_intercept in (True, False):
        model = kind(C=1e-4, max_iter=2, fit_intercept=fit_intercept).fit(X, y)
        tracemalloc.start()
        model.fit(X, y)
        more[fit_intercept] = tracemalloc.get_traced_memory()[1] / X.nbytes
        tracemalloc.stop()
    assert more[False] < 0.5
    assert 1 < more[True] < 1.5
