"""The lists in the docstrings of mcutils are complete: every parameter, every attribute that a fit sets."""

import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sphinx.pycode import ModuleAnalyzer

from tools import docstrings, package
from tools.sphinx import api

ROOT = Path(__file__).resolve().parents[1]

PUBLIC = dict(docstrings.public())
ESTIMATORS = {
    name: obj for name, obj in PUBLIC.items() if inspect.isclass(obj) and issubclass(obj, BaseEstimator)
}

# Together these fits set every attribute that is listed.
SETTINGS = {
    "mcutils.perceptron.KernelPerceptron": [{"kernel": "rbf"}],
    "mcutils.perceptron.MulticlassPerceptron": [{}, {"kernel": "rbf"}, {"average": "voted"}],
    "mcutils.solver.CrammerSinger": [{}, {"kernel": "rbf"}],
    "mcutils.solver.WestonWatkins": [{}, {"kernel": "rbf"}],
}


def example(low, high=0):
    """Nothing.

    Parameters
    ----------
    low, high : float
        The ends : both.

        More.

    Attributes
    ----------
    kind_ : str
    size_

    Notes
    -----
    Else : nothing.
    """


def test_a_section_is_read_name_by_name():
    assert docstrings.entries(example, "Parameters") == [["low", "high"]]
    assert docstrings.names(example, "Attributes") == ["kind_", "size_"]
    assert docstrings.names(example, "Returns") == []


def test_the_page_has_every_module():
    page = (ROOT / "appendix" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. automodule:: mcutils\.(\w+)$", page, re.MULTILINE)
    internal = {"jit"}  # its functions take only what their callers have checked
    assert sorted(listed) == sorted({*package.modules(), *package.WITH_THE_BOOK} - internal)


def test_the_page_shows_a_package_as_one_file():
    api.read_packages(None, "appendix/api", [".. automodule:: mcutils.tree"])
    source = ModuleAnalyzer.for_module("mcutils.tree")
    assert source.find_attr_docs()["", "CRITERIA"] == ["The names of the impurities.", ""]
    methods = [source.tagorder[f"DecisionTree.{name}"] for name in ("fit", "apply", "predict", "text")]
    assert methods == sorted(methods)
    assert max(source.tagorder.values()) < len(source.tagorder)


@pytest.mark.parametrize("name", [name for name in PUBLIC if docstrings.names(PUBLIC[name], "Parameters")])
def test_a_list_of_parameters_has_all_of_them(name):
    documented = [name.lstrip("*") for name in docstrings.names(PUBLIC[name], "Parameters")]
    parameters = [p for p in inspect.signature(PUBLIC[name]).parameters if p not in ("self", "cls")]
    assert sorted(documented) == sorted(parameters)


def fitted(estimator, settings):
    """The public attributes that end in an underscore, once the estimator has been fitted."""
    required = [p for p in inspect.signature(estimator).parameters.values() if p.default is p.empty]
    model = estimator(**{p.name: LogisticRegression() for p in required}, **settings)
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = slice(20, None, 5)
    if not model.__sklearn_tags__().classifier_tags.multi_class:
        few = slice(0, 100, 5)
    model.fit(X[few], y[few])
    return {name for name in dir(model) if re.fullmatch("[^_].*_", name) and hasattr(model, name)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_attributes_of_an_estimator_are_those_that_a_fit_sets(name):
    result = [fitted(ESTIMATORS[name], settings) for settings in SETTINGS.get(name, [{}])]
    assert sorted(docstrings.names(ESTIMATORS[name], "Attributes")) == sorted(set().union(*result))
