"""Multi-class classification: theorems you can run.

The helper package of the book *Multi-Class Classification*. A topic has one name: the chapter
``ecoc`` derives what the module ``mcutils.ecoc`` implements and ``tests/test_ecoc.py`` tests.

The estimators, the certificate of an optimum and the loader of the data sets can be imported from here;
everything else is in the module of its topic. Importing the package loads nothing: a module is loaded when
one of its names is first used.

>>> from mcutils import DecisionTree, load
>>> penguins = load("penguins")
>>> DecisionTree().fit(penguins.X, penguins.y).classes_
array(['Adelie', 'Chinstrap', 'Gentoo'], dtype='<U9')
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Where each name stands. The types of these names are in __init__.pyi.
HOMES = {
    "AdaBoostMH": "boosting",
    "BinarySVM": "binary",
    "Certificate": "certificate",
    "CrammerSinger": "solver",
    "DecisionTree": "tree",
    "FilterTree": "frontier",
    "KernelPerceptron": "perceptron",
    "LabelTree": "frontier",
    "MulticlassPerceptron": "perceptron",
    "OneVsAll": "reduction",
    "OneVsOne": "reduction",
    "OutputCode": "ecoc",
    "RidgeOneVsAll": "frontier",
    "SoftmaxRegression": "softmax",
    "SubgradientMachine": "subgradient",
    "WestonWatkins": "solver",
    "WithProbabilities": "softmax",
    "load": "data",
    "show_versions": "versions",
}

MODULES = (
    "binary",
    "boosting",
    "bound",
    "capacity",
    "certificate",
    "comparison",
    "consistency",
    "data",
    "display",
    "dual",
    "ecoc",
    "exact",
    "frontier",
    "hinge",
    "kernel",
    "loss",
    "margin",
    "perceptron",
    "plot",
    "pruning",
    "rademacher",
    "reduction",
    "representer",
    "risk",
    "softmax",
    "solver",
    "subgradient",
    "tree",
    "versions",
)

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    """A name of the list above, or a module, loaded now (PEP 562)."""
    if name in HOMES:
        value = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    elif name in MODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # the next time it is found at once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, *MODULES})
