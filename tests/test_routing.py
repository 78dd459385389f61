"""Metadata routing: every estimator as a consumer, the meta-estimators as routers."""

from inspect import signature

import numpy as np
import pytest
from estimators import ESTIMATORS, KINDS
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tests.metadata_routing_common import ConsumingClassifier, _Registry, check_recorded_metadata
from sklearn.utils.metadata_routing import get_routing_for_object

import mcutils as mc

X, Y = load_iris(return_X_y=True)
X = X - X.mean(axis=0)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))
ROUTERS = ["OneVsAll", "OneVsOne", "OutputCode", "WithProbabilities", "LabelTree", "FilterTree"]
CONSUMERS = [name for name in ESTIMATORS if name not in ROUTERS]

routing = pytest.mark.usefixtures("routed")


@pytest.fixture
def routed():
    with config_context(enable_metadata_routing=True):
        yield


def sample(name):
    used = Y < 2 if ESTIMATORS[name].binary else Y >= 0
    return X[used], Y[used], WEIGHTS[used]


def test_the_routers_are_those_that_take_an_estimator_but_boosting():
    """AdaBoostMH gives its base learner weights of its own."""
    takes = {name for name, kind in KINDS.items() if "estimator" in signature(kind).parameters}
    assert takes == {*ROUTERS, "AdaBoostMH"}


@routing
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CONSUMERS)
def test_each_estimator_consumes_weights(name):
    X, y, weights = sample(name)
    alone = clone(ESTIMATORS[name].configurations[0])
    scaled = StandardScaler().fit(X).transform(X)
    wanted = clone(alone).fit(scaled, y, sample_weight=weights)
    inside = clone(alone).set_fit_request(sample_weight=True)
    whole = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inside)
    whole.fit(X, y, sample_weight=weights)
    assert np.array_equal(whole.predict(X), wanted.predict(scaled))
    if hasattr(alone, "decision_function"):
        assert np.array_equal(whole.decision_function(X), wanted.decision_function(scaled))
    undecided = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), alone)
    with pytest.raises(UnsetMetadataPassedError):
        undecided.fit(X, y, sample_weight=weights)
    inside.set_score_request(sample_weight=True)
    result = cross_validate(inside, X, y, cv=2, params={"sample_weight": weights}, error_score="raise")
    assert len(result["test_score"]) == 2


def router(name, inside):
    if name == "OutputCode":
        return mc.OutputCode(inside, code="one-vs-all")
    return getattr(mc, name)(inside)


@routing
@pytest.mark.parametrize("name", ROUTERS)
def test_a_router_hands_weights_on_to_a_pipeline(name):
    inside = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True),
        LogisticRegression().set_fit_request(sample_weight=True),
    )
    if name == "WithProbabilities":
        inside.set_params(logisticregression__C=0.5)
    model = router(name, inside).fit(X, Y, sample_weight=WEIGHTS)
    without = router(name, clone(inside)).fit(X, Y)
    assert model.score(X, Y) > 0.8
    fitted = model.estimator_ if name == "WithProbabilities" else model.estimators_[0]
    other = without.estimator_ if name == "WithProbabilities" else without.estimators_[0]
    assert not np.array_equal(fitted[0].mean_, other[0].mean_)
    assert not np.array_equal(fitted[1].coef_, other[1].coef_)


@routing
@pytest.mark.parametrize("name", ROUTERS)
def test_a_router_asks_what_the_estimator_wants(name):
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        router(name, LogisticRegression()).fit(X, Y, sample_weight=WEIGHTS)
    refusing = LogisticRegression().set_fit_request(sample_weight=False)
    with pytest.raises(TypeError, match="sample_weight"):
        router(name, refusing).fit(X, Y, sample_weight=WEIGHTS)
    # a router has no request of its own
    assert not hasattr(router(name, refusing), "set_fit_request")


@routing
@pytest.mark.parametrize("name", ROUTERS)
def test_scikit_learn_sees_the_weights_arrive(name):
    registry = _Registry()
    inside = ConsumingClassifier(registry=registry).set_fit_request(sample_weight=True, metadata=False)
    most = 1 if name == "WithProbabilities" else 2  # scikit-learn's classifier has two probabilities
    used = np.isin(Y, range(most + 1))
    router(name, inside).fit(X[used], Y[used], sample_weight=WEIGHTS[used])
    assert len(registry)
    for each in registry:
        check_recorded_metadata(
            each, method="fit", parent="fit", split_params=("sample_weight",), sample_weight=WEIGHTS
        )


@routing
@pytest.mark.parametrize("name", ROUTERS)
def test_routers_stand_inside_others(name):
    inside = LogisticRegression().set_fit_request(sample_weight=True)
    whole = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), router(name, inside))
    whole.fit(X, Y, sample_weight=WEIGHTS)
    scaled = StandardScaler().fit(X).transform(X)
    alone = router(name, clone(inside)).fit(scaled, Y, sample_weight=WEIGHTS)
    assert np.array_equal(whole.predict(X), alone.predict(scaled))
    search = GridSearchCV(router(name, inside), {"estimator__C": [0.1, 1.0]}, cv=2, error_score="raise")
    search.estimator.set_score_request(sample_weight=False)
    search.fit(X, Y, sample_weight=WEIGHTS)
    assert search.best_score_ > 0.7


@routing
@pytest.mark.parametrize("name", ["LabelTree", "FilterTree"])
def test_the_default_of_a_tree_takes_weights(name):
    model = getattr(mc, name)().fit(X, Y, sample_weight=WEIGHTS)
    with config_context(enable_metadata_routing=False):
        wanted = getattr(mc, name)().fit(X, Y, sample_weight=WEIGHTS)
    assert np.array_equal(model.estimators_[0].coef_, wanted.estimators_[0].coef_)


@routing
def test_weights_are_routed_to_partial_fit():
    inside = SGDClassifier(random_state=0)
    with pytest.raises(UnsetMetadataPassedError):
        mc.OneVsAll(inside).partial_fit(X, Y, np.unique(Y), WEIGHTS)
    inside.set_partial_fit_request(sample_weight=True)
    model = mc.OneVsAll(inside).partial_fit(X, Y, np.unique(Y), WEIGHTS)
    with config_context(enable_metadata_routing=False):
        wanted = mc.OneVsAll(SGDClassifier(random_state=0)).partial_fit(X, Y, np.unique(Y), WEIGHTS)
    assert np.array_equal(model.decision_function(X), wanted.decision_function(X))


@pytest.mark.parametrize("name", ROUTERS)
def test_without_routing_the_estimator_takes_weights_by_name(name):
    model = router(name, LogisticRegression()).fit(X, Y, sample_weight=WEIGHTS)
    with config_context(enable_metadata_routing=True):
        inside = LogisticRegression().set_fit_request(sample_weight=True)
        wanted = router(name, inside).fit(X, Y, sample_weight=WEIGHTS)
    assert np.array_equal(model.predict(X), wanted.predict(X))
    with pytest.raises(ValueError, match="sample_weight is given, but Pipeline"):
        router(name, make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_names_of_features_pass_through_set_output(name):
    pandas = pytest.importorskip("pandas")
    X, y, _ = sample(name)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = make_pipeline(StandardScaler(), clone(ESTIMATORS[name].configurations[0]))
    model.set_output(transform="pandas").fit(frame, y)
    assert model[-1].feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        model[-1].predict(frame.rename(columns={"a": "z"}))


def test_a_router_tells_who_gets_what():
    described = str(get_routing_for_object(mc.OneVsAll(LogisticRegression())))
    assert "'callee': 'fit'" in described
    assert "estimator" in described
