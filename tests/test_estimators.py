"""What every estimator of mcutils promises: each promise is stated once and tested on all of ESTIMATORS."""

import itertools
import os
import pickle
import pkgutil
import re
import warnings
from functools import partial
from importlib import import_module
from inspect import isclass, signature
from types import FunctionType, SimpleNamespace

import joblib
import numpy as np
import pytest
from estimators import ESTIMATORS, KINDS, expected_failures
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import mcutils

NAMES = list(ESTIMATORS)


of = partial(pytest.mark.parametrize, "name")
ends_early = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# ---------------------------------------------------------------------------------------------------
# Samples and comparisons


def fresh(name, **parameters):
    model = clone(ESTIMATORS[name].configurations[0]).set_params(**(ESTIMATORS[name].exact or {}))
    return clone(model).set_params(**parameters)


def sample(name, seed=0, noise=4, n=8, k=3):
    """n examples of each class in quarters, which single precision holds; of noise 4 they are separable."""
    k = 2 if ESTIMATORS[name].binary else k
    y = np.tile(np.arange(k), n)
    return 4 * np.eye(k, 3)[y] + np.random.default_rng(seed).integers(-noise, noise + 1, (k * n, 3)) / 4, y


def strangers(name):
    return sample(name, seed=1, noise=12)[0]


def predicted(model, X):
    methods = ("predict", "decision_function", "predict_proba", "scores")
    return {method: getattr(model, method)(X) for method in methods if hasattr(model, method)}


def assert_equal(result, wanted, close=1e-12):
    assert result.keys() == wanted.keys()
    assert result["predict"].tolist() == wanted["predict"].tolist()
    for method in result.keys() - {"predict"}:
        np.testing.assert_allclose(result[method], wanted[method], rtol=close, atol=close, err_msg=method)


def assert_first_argmax(model, result):
    """The prediction is the first of the largest values, by each method that predict may decide by."""
    deciding = [result[method] for method in ("scores", "decision_function") if method in result]
    for values in deciding or [result[method] for method in ("predict_proba",) if method in result]:
        assert np.isfinite(values).all()
        first = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        assert result["predict"].tolist() == model.classes_[first].tolist()


def plain(value):
    """The value in types whose == compares all of it, to the last bit of every number."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):  # sparse matrices remember whether they are sorted
        kept = {key: entry for key, entry in value.items() if not str(key).startswith("_has_")}
        if "history_" in kept:  # without the seconds
            kept["history_"] = kept["history_"][:, 1:]
        return {key: plain(entry) for key, entry in kept.items()}
    if isinstance(value, np.random.RandomState):
        return plain(value.get_state())
    if isinstance(value, partial):
        return plain([value.func, value.args, value.keywords])
    if hasattr(value, "__dict__") and not isinstance(value, FunctionType):
        return type(value), plain(vars(value))
    return value


# ---------------------------------------------------------------------------------------------------
# The list, and what scikit-learn requires


def test_the_list_is_complete():
    modules = [each.name for each in pkgutil.iter_modules(mcutils.__path__) if each.name[0] != "_"]
    modules = [import_module(f"mcutils.{name}") for name in modules]
    public = [getattr(module, name) for module in modules for name in module.__all__]
    estimators = {result for result in public if isclass(result) and issubclass(result, BaseEstimator)}
    assert estimators == set(KINDS.values())
    for name in NAMES:
        assert {type(configured).__name__ for configured in ESTIMATORS[name].configurations} == {name}


@pytest.mark.filterwarnings("ignore:no example with a weight has the label")
@parametrize_with_checks(
    [configured for name in NAMES for configured in ESTIMATORS[name].configurations],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_accepts_it(estimator, check):
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    with warnings.catch_warnings():
        if "max_iter" in estimator.get_params(deep=False) or isinstance(
            estimator, KINDS["WithProbabilities"]
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)  # the checks leave few steps
        check(estimator)


@of(NAMES)
def test_conventions(name):
    X, y = sample(name)
    model = fresh(name)
    before = plain(model.get_params())
    assert model.fit(X, y) is model
    assert plain(model.get_params()) == before
    learned = vars(model).keys() - model.get_params(deep=False).keys()
    assert [each for each in learned if not each.startswith("_") and not each.endswith("_")] == []
    assert (model.n_features_in_, model.classes_.tolist()) == (3, sorted(set(y.tolist())))
    assert model.score(X, y) == 1.0
    assert_first_argmax(model, predicted(model, strangers(name)))


@of(NAMES)
def test_names_of_features_are_compared(name):
    pandas = pytest.importorskip("pandas")
    X, y = sample(name)
    frame = pandas.DataFrame(X, columns=["one", "two", "three"], index=range(len(X), 0, -1))
    named, nameless = fresh(name).fit(frame, y), fresh(name).fit(X, y)
    assert named.feature_names_in_.tolist() == ["one", "two", "three"]
    assert_equal(predicted(named, frame), predicted(nameless, X))
    with pytest.warns(UserWarning, match=r"^X does not have valid feature names, but \w+ was fitted with"):
        named.predict(X)
    with pytest.warns(UserWarning, match=r"^X has feature names, but \w+ was fitted without"):
        nameless.predict(frame)
    with pytest.raises(ValueError, match=r"(?s)^The feature names should match.* same order"):
        named.predict(frame[["two", "one", "three"]])
    with pytest.raises(ValueError, match=r"^X has 2 features, but \w+ is expecting 3 features"):
        nameless.predict(X[:, :2])


# ---------------------------------------------------------------------------------------------------
# Copies


def through_pickle(model, path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, path, **how):
    joblib.dump(model, path / "copy")
    return joblib.load(path / "copy", **how)


@pytest.mark.parametrize("copied", [through_pickle, through_joblib])
@of(NAMES)
def test_a_copy_is_equal_before_and_after_fit(name, copied, tmp_path):
    X, y = sample(name)
    model = fresh(name)
    assert plain(vars(copied(model, tmp_path))) == plain(vars(model))
    early = copied(model, tmp_path).fit(X, y)
    late = copied(model.fit(X, y), tmp_path)
    assert plain(vars(early)) == plain(vars(model)) == plain(vars(late))
    for copy in (early, late, through_joblib(model, tmp_path, mmap_mode="r")):
        assert_equal(predicted(copy, strangers(name)), predicted(model, strangers(name)))


@of(NAMES)
def test_a_clone_has_the_parameters_and_fits_alike(name):
    X, y = sample(name)
    for configured in ESTIMATORS[name].configurations:
        assert plain(clone(configured).get_params()) == plain(configured.get_params())
    model = fresh(name).fit(X, y)
    other = clone(model)
    assert not hasattr(other, "classes_")
    assert plain(vars(other.fit(X, y))) == plain(vars(model))


@ends_early
@of(NAMES)
def test_equal_seeds_give_equal_classifiers(name):
    X, y = sample(name, noise=12, k=5)
    draws = ESTIMATORS[name].draws
    assert (draws is not None) == ("random_state" in fresh(name).get_params(deep=False))
    drawn = set()
    for kind, seed in itertools.product((int, np.random.RandomState), range(1 if draws is None else 4)):
        seeded = [{} if draws is None else draws | {"random_state": kind(seed)} for _ in range(2)]
        one, other = (predicted(fresh(name, **each).fit(X, y), strangers(name)) for each in seeded)
        assert_equal(one, other)
        drawn.add(str(one))
    assert draws is None or len(drawn) > 1, "random_state does not matter with these parameters"


# ---------------------------------------------------------------------------------------------------
# Parameters

NO_SWITCH = ["no", 0, 1, 2, None, [], float("nan"), np.array([True, False])]
NO_COUNT = ["1", 1.0, 1.5, True, np.True_, None, -1, float("nan"), float("inf"), [1], np.array([1, 2]), 1j]
NO_NUMBER = ["1", True, np.True_, -1.0, float("nan"), -float("inf"), [1.0], np.array([1.0, 2.0]), 1j]
NO_NAME = ["no such", b"no such", 7.5, ["no such"], np.array(["no", "such"]), object()]
WRONG = {
    "random_state": ["abc", -1, 1.5, True, [1, 2]],
    "n_jobs": [0, "all", 1.5, True],
    "verbose": ["loud", -1, None],
    "class_weight": ["even", 2.0, [1.0, 2.0], {0: "2"}, {0: -1.0}, {0: float("nan")}, {5: 1.0}],
    "cost": [[[0, 1], [2, 3]], [[0, 1]], [[0, -1], [1, 0]], "no such"],
    "gamma": ["abc", 0.0, float("nan"), None, [1.0]],
    "order": ["alphabetical", 3, [0, 0]],
    "code": ["morse", 3, [[1, 1], [1, 1]]],
    "cv": ["often", 1, True, 1.5],
    "bracket": [0, True, 1.5, [0, 0]],
    "categorical_features": NO_NAME,
    "estimator": [object(), LogisticRegression, "ridge", 3],
    "machine": [object(), LogisticRegression, "ridge", 3],
}


def wrong_values(name, default, annotation):
    if name in WRONG:
        return WRONG[name]
    if isinstance(default, bool):
        return NO_SWITCH
    if isinstance(default, int) and annotation is int:
        return NO_COUNT
    numeric = isinstance(default, (int, float)) or "float" in str(annotation)
    optional = default is None or "None" in str(annotation)
    return (NO_NUMBER if numeric else NO_NAME) + ([] if optional else [None])


@of(NAMES)
def test_every_wrong_parameter_is_named(name):
    """Also where it is not used, as a slip in a grid would be silent."""
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
    for parameter in signature(KINDS[name]).parameters.values():
        for value in wrong_values(parameter.name, parameter.default, parameter.annotation):
            with pytest.raises(ValueError, match=rf"\b{parameter.name}\b"):
                fresh(name, **{parameter.name: value}).fit(X, y)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("BinarySVM", "fit_intercept", "no"),
        ("KernelPerceptron", "fit_intercept", "no"),
        ("SoftmaxRegression", "fit_intercept", "no"),
        ("MulticlassPerceptron", "fit_intercept", "no"),
        ("CrammerSinger", "fit_intercept", "free"),
        ("SoftmaxRegression", "warm_start", "no"),
        ("CrammerSinger", "warm_start", "no"),
        ("BinarySVM", "tol", float("inf")),
        ("SubgradientMachine", "tol", float("inf")),
        ("CrammerSinger", "tol", float("inf")),
    ],
)
def test_what_some_refused_and_others_took(name, parameter, value):
    with pytest.raises(ValueError, match=rf"^{parameter} must be .*, found {value!r}$"):
        fresh(name, **{parameter: value}).fit(*sample(name))


LIMITS = {  # what is allowed, and what is not
    "tol": ([1, 0.5, np.float32(0.5), np.int64(1)], [*NO_NUMBER, 0, 0.0, float("inf")]),
    "max_iter": ([1, 7, np.int64(7), np.uint8(7)], [*NO_COUNT, 0, np.float64(10.0)]),
}


@ends_early
@pytest.mark.parametrize("limit", LIMITS)
@of([name for name in NAMES if "max_iter" in fresh(name).get_params(deep=False)])
def test_limits_of_the_work_have_one_rule(name, limit):
    if limit not in fresh(name).get_params():
        pytest.skip(f"{name} has no {limit}")
    allowed, refused = LIMITS[limit]
    X, y = sample(name)
    for value in allowed:
        model = fresh(name, **{limit: value}).fit(X, y)
        assert limit == "tol" or 1 <= model.n_iter_ <= value
    for value in refused:
        with pytest.raises(ValueError, match=rf"^{limit} must be .*, found "):
            fresh(name, **{limit: value}).fit(X, y)


@of([name for name in NAMES if "max_iter" in fresh(name).get_params(deep=False)])
def test_a_fit_that_ends_early_reports_what_it_reached(name):
    model = fresh(name, max_iter=1)
    if "C" in model.get_params():
        model.set_params(C=1000.0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*sample(name, noise=12))
    assert model.converged_ is False
    numbers = [float(each) for each in re.findall(r"\d[\d.]*(?:e[+-]?\d+)?", str(caught[0].message))]
    reached = model.mistakes_[-1] if hasattr(model, "mistakes_") else model.certificate_.gap
    assert np.isclose(numbers, float(reached), rtol=0.05).any()
    assert model.n_iter_ in numbers
    assert caught[0].filename == __file__


# ---------------------------------------------------------------------------------------------------
# Labels


def in_pandas(make):
    return lambda y: make(pytest.importorskip("pandas"), np.array(["c", "a", "b"])[y])


LABELS = {
    "list of str": lambda y: [("c", "a", "b")[code] for code in y],
    "numpy str": lambda y: np.array(["long", "a", "b"])[y],
    "object": lambda y: np.array(["long", "a", "b"], dtype=object)[y],
    "bool": lambda y: y > 0,
    "list of bool": lambda y: (y > 0).tolist(),
    "negative": lambda y: -y - 1,
    "int8": lambda y: y.astype(np.int8),
    "whole floats": lambda y: y - 1.0,
    "Series": in_pandas(lambda pandas, y: pandas.Series(y, index=range(len(y), 0, -1))),
    "Categorical": in_pandas(lambda pandas, y: pandas.Categorical(y, categories=["c", "b", "a", "none"])),
    "Series of Categorical": in_pandas(lambda pandas, y: pandas.Series(y).astype("category")),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@of(NAMES)
def test_predictions_are_labels_of_the_same_kind(name, labels):
    X, y = sample(name)
    wanted = np.asarray(labels(y))
    model = fresh(name).fit(X, labels(y))
    assert model.predict(X).dtype == model.classes_.dtype == wanted.dtype
    assert model.predict(X).tolist() == wanted.tolist()
    assert model.classes_.tolist() == sorted(set(wanted.tolist()))


@of(NAMES)
def test_the_names_of_the_classes_do_not_matter(name):
    X, y = sample(name)
    others = X if ESTIMATORS[name].ordered else sample(name, seed=1, noise=8)[0]
    new = np.array([1, 2, 0])
    before, after = fresh(name).fit(X, y), fresh(name).fit(X, new[y])
    np.testing.assert_array_equal(new[before.predict(others)], after.predict(others))


# ---------------------------------------------------------------------------------------------------
# Forms of X


def with_int64(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X):
    order = np.concatenate([np.arange(start, stop)[::-1] for start, stop in itertools.pairwise(X.indptr)])
    return sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def in_halves(X):
    """Each entry twice, half of it each time."""
    return sparse.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def with_zeros(X):
    m, d = X.shape
    return sparse.csr_array(
        (X.toarray().ravel(), np.tile(np.arange(d), m), d * np.arange(m + 1)), shape=(m, d)
    )


SPARSE = {
    "csr": lambda X: X,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "int64": with_int64,
    "unsorted": unsorted,
    "duplicates": in_halves,
    "zeros": with_zeros,
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("form", SPARSE.values(), ids=SPARSE)
@of(NAMES)
def test_sparse_and_dense_are_one_or_sparse_is_refused(name, form):
    X, y = sample(name)
    X = np.where(np.abs(X) < 1, 0.0, X)
    given = form(sparse.csr_array(X))
    before = plain(given)
    dense = fresh(name).fit(X, y)
    assert get_tags(dense).input_tags.sparse is not ESTIMATORS[name].dense
    if ESTIMATORS[name].dense:
        for call in (dense.predict, lambda rows: fresh(name).fit(rows, y)):
            with pytest.raises((TypeError, ValueError), match=r"^Sparse data was passed"):
                call(given)
        return
    model, wanted = fresh(name).fit(given, y), predicted(dense, X)
    for result in (predicted(model, given), predicted(model, X), predicted(dense, given)):
        assert_equal(result, wanted, ESTIMATORS[name].close)
    assert plain(given) == before


def strided(X):
    room = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    room[::2, ::3] = X
    return room[::2, ::3]


def locked(values):
    values = np.array(values)
    values.flags.writeable = False
    return values


FORMS = {  # each with the factor that makes the sample numbers which it can hold
    "float32": (lambda X: X.astype(np.float32), 1.0),
    "float16": (lambda X: X.astype(np.float16), 1.0),
    "another byte order": (lambda X: X.astype(X.dtype.newbyteorder()), 1.0),
    "Fortran": (np.asfortranarray, 1.0),
    "strided": (strided, 1.0),
    "reversed": (lambda X: X[::-1].copy()[::-1], 1.0),
    "read-only": (locked, 1.0),
    "list": (lambda X: X.tolist(), 1.0),
    "object": (lambda X: X.astype(object), 1.0),
    "int64": (lambda X: X.astype(np.int64), 4.0),
    "int8": (lambda X: X.astype(np.int8), 4.0),
    "bool": (lambda X: X != 0, 0.0),
}


@ends_early
@pytest.mark.parametrize(("form", "factor"), FORMS.values(), ids=FORMS)
@of(NAMES)
def test_the_form_of_x_does_not_matter(name, form, factor):
    X, y = sample(name)
    X = X * factor if factor else (X > 1) * 1.0
    given = form(X)
    before = plain(given)
    wanted, model = predicted(fresh(name).fit(X, y), X), fresh(name).fit(given, y)
    for result in (predicted(model, given), predicted(model, X)):
        assert_equal(result, wanted, ESTIMATORS[name].close)
    assert plain(given) == before


@of(NAMES)
def test_single_precision_costs_no_more_than_its_digits(name):
    X, y = sample(name)
    X = X + np.random.default_rng(0).normal(size=X.shape) / 8
    small = X.astype(np.float32)
    assert_equal(predicted(fresh(name).fit(small, y), small), predicted(fresh(name).fit(X, y), X), 1e-4)


# ---------------------------------------------------------------------------------------------------
# Weights


def same_folds(name, rows):
    """For what is cross-validated: of the examples that are there, those with even and with odd numbers."""
    if "cv" not in fresh(name).get_params(deep=False):
        return {}
    even = np.flatnonzero(rows) // 3 % 2 == 0
    return {
        "cv": [(np.flatnonzero(even), np.flatnonzero(~even)), (np.flatnonzero(~even), np.flatnonzero(even))]
    }


@of(NAMES)
def test_weight_zero_is_absence(name):
    X, y = sample(name, noise=8)
    weights = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    rows = weights > 0
    before = plain([X, y, weights])
    whole = fresh(name, **same_folds(name, rows | True)).fit(X, y, weights)
    part = fresh(name, **same_folds(name, rows)).fit(X[rows], y[rows], weights[rows])
    assert_equal(predicted(whole, strangers(name)), predicted(part, strangers(name)), ESTIMATORS[name].close)
    assert plain([X, y, weights]) == before


@of(NAMES)
def test_equal_weights_of_any_kind_are_none(name):
    X, y = sample(name, noise=8)
    wanted = predicted(fresh(name).fit(X, y), X)
    for ones in (np.ones(len(y)), [1] * len(y), np.ones(len(y), dtype=bool), locked(np.ones(len(y), "f4"))):
        assert_equal(predicted(fresh(name).fit(X, y, sample_weight=ones), X), wanted, ESTIMATORS[name].close)


@of([name for name in NAMES if ESTIMATORS[name].twice is not None])
def test_twice_all_weights_is_what_the_objective_says(name):
    X, y = sample(name, noise=8)
    weights = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    result = predicted(fresh(name).fit(X, y, 2 * weights), strangers(name))
    wanted = predicted(fresh(name, **ESTIMATORS[name].twice).fit(X, y, weights), strangers(name))
    assert_equal(result, wanted, ESTIMATORS[name].close)


WRONG_WEIGHTS = {
    "negative": lambda ones: np.append(ones[1:], -1.0),
    "NaN": lambda ones: np.append(ones[1:], np.nan),
    "infinite": lambda ones: np.append(ones[1:], np.inf),
    "of infinite sum": lambda ones: 1e308 * ones,
    "too few": lambda ones: ones[1:],
    "in a column": lambda ones: ones[:, None],
    "all zero": lambda ones: 0 * ones,
    "complex": lambda ones: ones + 0j,
    "text": lambda ones: ["1"] * len(ones),
    "None": lambda ones: [None] * len(ones),
}


@pytest.mark.parametrize("wrong", WRONG_WEIGHTS.values(), ids=WRONG_WEIGHTS)
@of(NAMES)
def test_wrong_weights_are_named(name, wrong):
    X, y = sample(name)
    with pytest.raises(ValueError, match=r"^sample_weight (and class_weight )?must "):
        fresh(name).fit(X, y, sample_weight=wrong(np.ones(len(y))))


@of([name for name in NAMES if name != "DecisionTree"])  # see test_a_tree_of_a_resampled_sample
def test_a_class_without_weight_is_named(name):
    X, y = sample(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fresh(name).fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
        except ValueError as error:
            caught = [SimpleNamespace(message=error)]
    assert [each for each in caught if re.search(r"zero for \[1\]$|has the label 1:", str(each.message))]


# ---------------------------------------------------------------------------------------------------
# Samples of little, and what is no number

LITTLE = {
    "one class": lambda X, y: (X, 0 * y),
    "one row": lambda X, y: (X[:1], y[:1]),
    "one row of each class": lambda X, y: (X[: y.max() + 1], y[: y.max() + 1]),
    "one row of the first class": lambda X, y: (X[-len(y) + 1 :][y[1:] > 0], y[1:][y[1:] > 0]),
    "two classes": lambda X, y: (X[y < 2], y[y < 2]),
    "one feature": lambda X, y: (X[:, :1], y),
    "a constant feature": lambda X, y: (np.hstack([X, np.ones((len(X), 1))]), y),
    "constant features": lambda X, y: (np.full_like(X, 3.0), y),
    "zeros": lambda X, y: (0 * X, y),
    "equal rows with other labels": lambda X, y: (np.repeat(X, 2, axis=0), np.roll(np.repeat(y, 2), 1)),
    "no rows": lambda X, y: (X[:0], y[:0]),
    "no features": lambda X, y: (X[:, :0], y),
    "too few labels": lambda X, y: (X, y[1:]),
    "a vector": lambda X, y: (X[:, 0], y),
    "numbers for labels": lambda X, y: (X, y + np.linspace(0, 0.5, len(y))),
    "no labels": lambda X, y: (X, None),
    "tiny": lambda X, y: (1e-200 * X, y),
    "huge": lambda X, y: (1e200 * X, y),
}


@ends_early
@pytest.mark.parametrize("less", LITTLE.values(), ids=LITTLE)
@of(NAMES)
def test_little_is_enough_or_refused_in_a_sentence(name, less):
    X, y = less(*sample(name))
    try:
        model = fresh(name).fit(X, y)
    except ValueError as error:
        refused = str(error)
    else:
        refused = None
        result = predicted(model, X)
        assert set(result["predict"].tolist()) <= set(y.tolist())
        assert_first_argmax(model, result)
    assert refused is None or len(refused.split()) > 5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@of(NAMES)
def test_what_is_no_number_is_named(name, bad):
    X, y = sample(name)
    model = fresh(name).fit(X, y)
    place = np.arange(len(y)) == 3
    with pytest.raises(ValueError, match=r"\by contains (NaN|infinity)"):
        fresh(name).fit(X, np.where(place, bad, y))
    wrong = np.where(place[:, None] & [False, True, False], bad, X)
    if np.isnan(bad) and ESTIMATORS[name].missing:
        assert fresh(name).fit(wrong, y).score(wrong, y) == 1.0
        return
    for call in (model.predict, lambda rows: fresh(name).fit(rows, y)):
        for rows in [wrong] if ESTIMATORS[name].dense else [wrong, sparse.csr_array(wrong)]:
            with pytest.raises(ValueError, match=r"\bX contains (NaN|infinity)"):
                call(rows)
