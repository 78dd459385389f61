"""The lists in the docstrings of mcutils are complete: every parameter, every attribute that a fit sets."""

import inspect
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sphinx import addnodes
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


def test_every_module_has_a_page():
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / api.PAGES).glob("*.md")}
    internal = {"jit"}  # its functions take only what their callers have checked
    assert pages.keys() == {*package.modules(), *package.WITH_THE_BOOK} - internal
    for name, page in pages.items():
        assert re.findall(r"^\.\. automodule:: (.+)$", page, re.MULTILINE) == [f"mcutils.{name}"]
        assert re.match(rf"# .+: `mcutils\.{name}`\n\n```{{module-summary}}\n```\n", page)


def test_a_page_shows_a_package_as_one_file():
    api.read_packages(None, "appendix/api/tree", [".. automodule:: mcutils.tree"])
    source = ModuleAnalyzer.for_module("mcutils.tree")
    assert source.find_attr_docs()["", "CRITERIA"] == ["The names of the impurities.", ""]
    methods = [source.tagorder[f"DecisionTree.{name}"] for name in ("fit", "apply", "predict", "text")]
    assert methods == sorted(methods)
    assert max(source.tagorder.values()) < len(source.tagorder)


ROLES = {"thm-a-b": "prf:ref", "eq-a-c": "eq", "sec-a-d": "ref"}


def defined(*content):
    """A page that defines f, with this content."""
    signature = addnodes.desc_signature("", "f(name='thm-a-b')", ids=["mcutils.a.f"], fullname="f")
    description = addnodes.desc("", signature, addnodes.desc_content("", *content), objtype="function")
    page = new_document("page")
    page += nodes.section("", description)
    return page


def test_a_label_in_a_docstring_is_a_link():
    text = nodes.paragraph(
        "", "All of it (thm-a-b, part 2), by (eq-a-c). See sec-a-d; ", nodes.literal("", "thm-a-b")
    )
    page = defined(text)
    assert list(api.link_labels(page, ROLES, "page")) == []
    links = [
        (link["refdomain"], link["reftype"], link["reftarget"])
        for link in text.findall(addnodes.pending_xref)
    ]
    assert links == [("prf", "ref", "thm-a-b"), ("math", "eq", "eq-a-c")]
    # the number of an equation brings its brackets
    assert text.astext() == "All of it (thm-a-b, part 2), by eq-a-c. See sec-a-d; thm-a-b"
    assert list(page.findall(addnodes.pending_xref)) == list(text.findall(addnodes.pending_xref))


def test_a_label_that_the_book_does_not_have_is_named():
    page = defined(nodes.paragraph("", "It holds (thm-a-b, lem-a-none)."))
    assert list(api.link_labels(page, ROLES, "page")) == [("lem-a-none", "mcutils.a.f")]


def test_the_summary_of_a_page_and_its_warning(tmp_path, caplog):
    app = SimpleNamespace(
        doctreedir=tmp_path, env=SimpleNamespace(docname="appendix/api/a", found_docs={"chapters/a"})
    )
    (tmp_path / "texts").mkdir()
    api.kept_text(app, api.LABELS).write_text(json.dumps(ROLES), encoding="utf-8")
    page = defined(nodes.paragraph("", "As in thm-a-b. And in lem-a-none."))
    page[0].insert(0, api.ModuleSummary())
    api.module_page(app, page)
    assert "mcutils.a.f names lem-a-none, which is no label of the book" in caplog.text
    assert [record.levelname for record in caplog.records] == ["WARNING"]  # an error to tools/site.py
    derived, table, _ = page[0]
    assert [link["reftarget"] for link in derived.findall(addnodes.pending_xref)] == ["/chapters/a"]
    assert [entry.astext() for entry in table.findall(nodes.entry)] == [
        "Name",
        "What it is",
        "f",
        "As in thm-a-b.",
    ]


def test_a_summary_has_first_sentences():
    formula = nodes.math("", "1.5 \\le x. ")
    words = nodes.paragraph("", "AdaBoost.MH, where ", formula, nodes.Text(" is 1.5. Not more. Nor this."))
    ((name, anchor, sentence),) = api.definitions(defined(words, nodes.paragraph("", "Never.")))
    assert (name, anchor) == ("f", "mcutils.a.f")
    assert [type(node) for node in sentence] == [nodes.Text, nodes.math, nodes.Text]
    assert sentence[-1] == " is 1.5."
    ((_, _, sentence),) = api.definitions(defined())
    assert sentence == []


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
