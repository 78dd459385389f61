# ruff: noqa: I001 - a statement for each of these names would fill the page
"""The types of the names that ``mcutils`` loads when they are first used."""

from . import (
    binary as binary,
    boosting as boosting,
    bound as bound,
    capacity as capacity,
    certificate as certificate,
    comparison as comparison,
    consistency as consistency,
    data as data,
    display as display,
    dual as dual,
    ecoc as ecoc,
    exact as exact,
    frontier as frontier,
    hinge as hinge,
    kernel as kernel,
    loss as loss,
    margin as margin,
    perceptron as perceptron,
    plot as plot,
    pruning as pruning,
    rademacher as rademacher,
    reduction as reduction,
    representer as representer,
    risk as risk,
    softmax as softmax,
    solver as solver,
    subgradient as subgradient,
    tree as tree,
    versions as versions,
)
from .binary import BinarySVM as BinarySVM
from .boosting import AdaBoostMH as AdaBoostMH
from .certificate import Certificate as Certificate
from .data import load as load
from .ecoc import OutputCode as OutputCode
from .frontier import FilterTree as FilterTree, LabelTree as LabelTree, RidgeOneVsAll as RidgeOneVsAll
from .perceptron import KernelPerceptron as KernelPerceptron
from .perceptron import MulticlassPerceptron as MulticlassPerceptron
from .reduction import OneVsAll as OneVsAll, OneVsOne as OneVsOne
from .softmax import SoftmaxRegression as SoftmaxRegression, WithProbabilities as WithProbabilities
from .solver import CrammerSinger as CrammerSinger, WestonWatkins as WestonWatkins
from .subgradient import SubgradientMachine as SubgradientMachine
from .tree import DecisionTree as DecisionTree
from .versions import show_versions as show_versions

__version__: str
HOMES: dict[str, str]
MODULES: tuple[str, ...]
__all__: list[str]
