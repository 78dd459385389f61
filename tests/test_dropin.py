"""scikit-learn's own tests of its reductions, trees and AdaBoost, run against ours.

The test modules are those of the installed scikit-learn, loaded once more with ours in the place of its own:
the classes below map names of parameters and attributes, and nothing else. What ours does otherwise by intent
stands in ``DIFFERS`` with the reason. This list only shrinks: what is listed and passes fails here.
"""

import importlib.util
import inspect
import re
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
import sklearn
import sklearn.ensemble
import sklearn.multiclass
import sklearn.tree

import mcutils as mc
from mcutils.ecoc import dense
from mcutils.tree import Tree

# ---- scikit-learn's names ----


class OneVsRestClassifier(mc.OneVsAll):
    def __init__(self, estimator, *, n_jobs=None, verbose=0):
        super().__init__(estimator, n_jobs=n_jobs, verbose=verbose)


class OneVsOneClassifier(mc.OneVsOne):
    def __init__(self, estimator, *, n_jobs=None):
        super().__init__(estimator, ties="sum", n_jobs=n_jobs)


class OutputCodeClassifier(mc.OutputCode):
    def __init__(self, estimator, *, code_size=1.5, random_state=None, n_jobs=None):
        super().__init__(estimator, random_state=random_state, n_jobs=n_jobs)
        self.code_size = code_size

    def _make_code(self, k):
        columns = min(int(self.code_size * k), 2 ** (k - 1) - 1)  # no two columns alike
        return dense(k, columns, self.random_state)


class NamedTree(Tree):
    """The arrays of a tree under scikit-learn's names, where who answers yes goes to the left."""

    children_left = property(lambda self: self.right)
    children_right = property(lambda self: self.left)
    node_count = capacity = property(lambda self: self.n_nodes)
    max_depth = property(lambda self: self.depth.max())
    n_classes = property(lambda self: np.array([self.counts.shape[1]]))
    n_node_samples = property(lambda self: self.items)
    weighted_n_node_samples = property(lambda self: self.counts.sum(axis=1))
    value = property(lambda self: (self.counts / self.counts.sum(axis=1, keepdims=True))[:, None])

    def decision_path(self, X):
        return self.paths(self.apply(X))

    def apply(self, X):
        return self.reach(np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float))


class DecisionTreeClassifier(mc.DecisionTree):
    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
    ):
        super().__init__(
            criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
        )
        self.splitter = splitter

    def fit(self, X, y, sample_weight=None):
        assert self.splitter == "best"
        super().fit(X, y, sample_weight)
        grown = self.tree_
        threshold = np.where(grown.is_leaf, -2.0, grown.threshold)
        named = {field.name: getattr(grown, field.name) for field in fields(Tree)}
        self.tree_ = NamedTree(**{**named, "threshold": threshold})
        return self


class AdaBoostClassifier(mc.AdaBoostMH):
    def __init__(self, estimator=None, *, n_estimators=50, learning_rate=1.0, random_state=None):
        super().__init__(estimator, n_estimators=n_estimators, random_state=random_state)
        self.learning_rate = learning_rate


# ---- the tests ----


class Source(NamedTuple):
    name: str
    package: ModuleType
    ours: list[type]
    tables: tuple[str, ...] = ()  # names of the module that list the classes to be tested


SOURCES = {
    "multiclass": Source(
        "sklearn.tests.test_multiclass",
        sklearn.multiclass,
        [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier],
    ),
    "tree": Source(
        "sklearn.tree.tests.test_tree",
        sklearn.tree,
        [DecisionTreeClassifier],
        ("CLF_TREES", "ALL_TREES", "SPARSE_TREES"),
    ),
    "boosting": Source("sklearn.ensemble.tests.test_weight_boosting", sklearn.ensemble, [AdaBoostClassifier]),
}

VERSION = "1.9"  # other versions have other tests
MESSAGE = "the same is refused, in other words: the argument, what was found, what is allowed"
ONE_OUTPUT = "a tree has one output"
DIFFERS = {
    "multiclass": {
        "test_ovr_partial_fit_exceptions": MESSAGE,
        "test_ovr_single_label_predict_proba_zero": "probabilities add up to 1, also where all parts say 0",
        "test_ovo_partial_fit_predict": MESSAGE,
        "test_ovo_decision_function": "the classifiers of pairs answer 1 and -1, 1 for the first class",
        "test_ovo_ties": "a score of zero is half a vote for both",
        "test_ovo_one_class": MESSAGE,
        "test_ecoc_fit_predict": "no two columns are alike: of three classes three differ, not six",
        "test_ecoc_delegate_sparse_base_estimator": "no two columns are alike: of three classes three differ",
        "test_pairwise_indices": "pairwise_indices_ would be k - 1 copies of the numbers of all examples",
        "test_constant_int_target": "one class has one column of probabilities",
    },
    "tree": {
        "test_importances_gini_equal_squared_error": "nodes are numbered as they are split, best first",
        "test_min_weight_fraction_leaf_on_sparse_input": ONE_OUTPUT,
        "test_min_weight_fraction_leaf_with_min_samples_leaf_on_sparse_input": ONE_OUTPUT,
        "test_multioutput": ONE_OUTPUT,
        "test_classes_shape": ONE_OUTPUT,
        "test_sample_weight_invalid": "a number as sample_weight is the weight of every example",
        "test_class_weights": ONE_OUTPUT,
        "test_class_weight_errors": ONE_OUTPUT,
        "test_almost_constant_feature": "values that differ in float64 differ",
        "test_big_input": "X is float64, not float32",
        "test_sparse_input[multilabel]": ONE_OUTPUT,
        "test_decision_path_hardcoded": "who answers no is in the node of the smaller number",
        "test_prune_tree_classifier_are_subtrees[multilabel]": ONE_OUTPUT,
        "test_apply_path_readonly_all_trees[random]": "there is no splitter: thresholds are not drawn",
        "test_min_sample_split_1_error": MESSAGE,
    },
    "boosting": {
        "test_iris": "stumps draw nothing, and so have no random_state",
        "test_adaboost_classifier_sample_weight_error": MESSAGE,
        "test_estimator": "without an edge in round 1 there is a warning, and all scores are 0",
        "test_sample_weights_infinite": "there is no learning_rate",
        "test_sparse_classification": "X is dense",
        "test_multidimensional_X": "X has two dimensions",
        "test_adaboostclassifier_without_sample_weight": MESSAGE,
        "test_adaboost_negative_weight_error": MESSAGE,
        "test_adaboost_decision_function": "AdaBoost.MH is another algorithm: scores need not add up to 0",
    },
}
# Of scikit-learn's compiled classes, not of what an estimator does.
OTHERS = {"ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor", "AdaBoostRegressor"}
INTERNALS = "|".join(["test_huge_allocations", "test_build_pruned_tree", "test_.*_bitness"])


@cache
def module(source: str) -> ModuleType | None:
    """The test module with our classes in it; None if this scikit-learn came without its tests."""
    name, package, ours, tables = SOURCES[source]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return None
    loaded = importlib.util.module_from_spec(spec)
    with mock.patch.multiple(package, **{one.__name__: one for one in ours}):
        spec.loader.exec_module(loaded)
    if tables:
        table = {one.__name__: one for one in ours}
        loaded.CLF_TREES, loaded.ALL_TREES, loaded.REG_TREES = table, table, {}
    return loaded


def functions(source: str) -> list[str]:
    """The tests that have one of our classes in them."""
    _, _, ours, tables = SOURCES[source]
    names = re.compile(rf"\b({'|'.join([*(one.__name__ for one in ours), *tables])})\b")
    return [
        name
        for name, function in vars(module(source)).items()
        if name.startswith("test_")
        and names.search(inspect.getsource(function))
        and not re.match(INTERNALS, name)
        and parameter_sets(function)
    ]


@cache
def parameter_sets(function: Any) -> list[dict[str, Any]]:
    """What the marks of a test give to it, without the classes that are not ours."""
    axes, sets = [], []
    for mark in getattr(function, "pytestmark", []):
        if mark.name == "parametrize":
            names, values = mark.args
            names = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
            rows = [(one,) if len(names) == 1 else one for one in values]
            axes.append([dict(zip(names, row, strict=True)) for row in rows])
    for chosen in product(*axes):
        given = {name: value for one in chosen for name, value in one.items()}
        if not OTHERS & {label(value) for value in given.values()}:
            sets.append(given)
    return sets


def label(value: Any) -> str:
    if value is None or isinstance(value, str | int | float):
        return str(value)
    return str(getattr(value, "__name__", type(value).__name__))


def errors(source: str, name: str, fixture: Any) -> dict[tuple[str, ...], BaseException | None]:
    """What the test raises, for each set of parameters."""
    tests = module(source)
    function = getattr(tests, name)
    # tests draw from one generator: whatever ran before, each begins with the same numbers
    tests.rng.seed(0)
    np.random.seed(0)  # noqa: NPY002
    raised: dict[tuple[str, ...], BaseException | None] = {}
    for given in parameter_sets(function):
        asked = [one for one in inspect.signature(function).parameters if one not in given]
        more = {one: 0 if one == "global_random_seed" else fixture(one) for one in asked}
        try:
            function(**given, **more)
            error = None
        except (Exception, pytest.fail.Exception) as one:
            error = one
        raised[tuple(map(label, given.values()))] = error
    return raised


def reason(source: str, name: str, labels: tuple[str, ...]) -> str | None:
    """Why it differs: a key of the list is a test, or a test with one of its parameters."""
    keys = [name, *(f"{name}[{one}]" for one in labels)]
    return next((DIFFERS[source][key] for key in keys if key in DIFFERS[source]), None)


if not sklearn.__version__.startswith(f"{VERSION}."):
    pytest.skip(f"the list is that of scikit-learn {VERSION}", allow_module_level=True)
if not all(map(module, SOURCES)):
    pytest.skip("this scikit-learn was installed without its tests", allow_module_level=True)
CASES = [(source, name) for source in SOURCES for name in functions(source)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("source", "name"), CASES)
def test_as_in_scikit_learn(source, name, request):
    passes = []
    for labels, error in errors(source, name, request.getfixturevalue).items():
        why = reason(source, name, labels)
        if error is None and why:
            passes.append(labels)
        elif error is not None and why is None:
            raise error
    assert not passes, f"it passes and is on the list: {why}"


def test_the_list_has_what_there_is_and_the_page_its_numbers():
    listed = {(source, key.split("[")[0]) for source, keys in DIFFERS.items() for key in keys}
    assert listed <= set(CASES)
    page = Path(__file__).parents[1].joinpath("appendix", "sklearn.md").read_text("utf-8")
    assert f"scikit-learn {VERSION}" in page
    counts = [
        [one for one, _ in cases].count(source)
        for source in SOURCES
        for cases in (set(CASES) - listed, CASES)
    ]
    assert [int(number) for pair in re.findall(r"(\d+) of (\d+)", page) for number in pair] == counts
