"""Weights of examples, refused everywhere in one sentence; weights of classes, against scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_class_weight

from mcutils import risk, softmax
from mcutils._weights import example_weights, refuse_idle, times_class_weight
from mcutils.binary import BinarySVM
from mcutils.boosting import AdaBoostMH
from mcutils.ecoc import OutputCode
from mcutils.frontier import FilterTree, LabelTree, RidgeOneVsAll
from mcutils.hinge import HingeProblem
from mcutils.perceptron import MulticlassPerceptron
from mcutils.pruning import prune_cv
from mcutils.reduction import OneVsAll, OneVsOne
from mcutils.softmax import SoftmaxRegression, WithProbabilities
from mcutils.solver import CrammerSinger, WestonWatkins
from mcutils.subgradient import SubgradientMachine
from mcutils.tree import DecisionTree

LABELS = np.array(["a", "b", "c"])
X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])

REFUSED = {
    "negative": ([1, 1, -0.5, 1, -2, 1], "-0.5"),
    "nan": ([1, np.nan, 1, 1, 1, 1], "nan"),
    "infinite": ([1, 1, 1, 1, 1, np.inf], "inf"),
    "complex": (np.ones(6) + 1j, "complex128"),
    "texts": (["1"] * 6, "<U1"),
    "missing": ([1, None, 1, 1, 1, 1], "nan"),
    "objects": ([1, 2, 3, {}, 5, 6], r"\[1, 2, 3, {}, 5, 6\]"),
    "too few": ([1, 1], r"the shape \(2,\)"),
    "a table": (np.ones((6, 2)), r"the shape \(6, 2\)"),
    "nan for all": (float("nan"), "nan"),
}
TAKERS = [
    *(
        model.fit
        for model in (
            AdaBoostMH(),
            BinarySVM(),
            CrammerSinger(),
            DecisionTree(),
            FilterTree(),
            LabelTree(),
            MulticlassPerceptron(),
            OneVsAll(LogisticRegression()),
            OneVsOne(LogisticRegression()),
            OutputCode(LogisticRegression()),
            RidgeOneVsAll(),
            SoftmaxRegression(),
            SubgradientMachine(),
            WestonWatkins(),
            WithProbabilities(SoftmaxRegression()),
        )
    ),
    lambda X, y, sample_weight: prune_cv(DecisionTree(), X, y, sample_weight=sample_weight),
    lambda X, y, sample_weight: HingeProblem(y, sample_weight=sample_weight).objective(np.ones((2, 2)), X),
    lambda X, y, sample_weight: softmax.temperature(X, y, sample_weight=sample_weight),
    lambda X, y, sample_weight: risk.zero_one_error(y, y, sample_weight=sample_weight),
]


@pytest.mark.parametrize("case", REFUSED)
def test_weights_are_refused_everywhere_in_the_same_sentence(case: str) -> None:
    """In mcutils' own words: those of scikit-learn differ from version to version."""
    weights, result = REFUSED[case]
    for take in TAKERS:
        caught = f"^sample_weight must be 6 finite numbers, at least 0, found {result}$"
        with pytest.raises(ValueError, match=caught):
            take(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    "weights",
    [
        [1, 0, 2],
        (True, False, 2),
        np.array([1, 0, 2], dtype=np.int8),
        np.array([1, 9, 0, 9, 2], dtype=np.float32)[::2],
        np.array([1, 0, 2.0], dtype=">f8"),
        pd.Series([1, 0, 2], index=[7, 8, 9]),
        pd.Series([1, 0, 2], dtype="Float64"),
    ],
)
def test_weights_of_every_form(weights: object) -> None:
    result = example_weights(weights, 3)
    assert result.dtype == np.float64
    assert result.dtype.isnative
    assert result.flags.c_contiguous
    assert result.tolist() == [1.0, 0.0, 2.0]


def test_one_weight_for_all_and_none() -> None:
    assert example_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert example_weights(None, 3).tolist() == [1.0, 1.0, 1.0]
    assert example_weights([0, 0], 2, all_zero=True).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="must not be zero for all examples"):
        example_weights(0, 2)


@pytest.mark.parametrize(
    "class_weight", [None, "balanced", {"b": 3.0}, {"a": 0.5, "b": 0.0, "c": 2.0, "d": 9.0}]
)
@pytest.mark.parametrize("seed", range(3))
def test_as_scikit_learn(class_weight: object, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 1, 2, rng.integers(3, size=30)]
    weights = rng.integers(1, 4, size=len(codes))
    theirs = compute_class_weight(class_weight, classes=LABELS, y=np.repeat(LABELS[codes], weights))
    result = times_class_weight(weights, class_weight, LABELS, codes)
    np.testing.assert_allclose(result, weights * theirs[codes], rtol=1e-14)


def test_balanced_without_the_classes_that_weigh_nothing() -> None:
    codes, weights = np.array([0, 0, 0, 1, 2]), np.array([1.0, 2.0, 3.0, 2.0, 0.0])
    result = times_class_weight(weights, "balanced", LABELS, codes)
    assert np.bincount(codes, result).tolist() == [4.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("class_weight", "caught"),
    [
        (
            {"A": 2.0},
            r"classes that y has not: \['A'\], and does not name \['a', 'b', 'c'\]; the classes are",
        ),
        ({"a": np.nan}, "class_weight must be numbers, at least 0, found"),
        ("even", "class_weight must be a dict, 'balanced' or None, found 'even'"),
        (2.0, "class_weight must be a dict, 'balanced' or None, found 2.0"),
    ],
)
def test_refuses(class_weight: object, caught: str) -> None:
    codes = np.arange(3)
    with pytest.raises(ValueError, match=caught):
        times_class_weight(np.ones(3), class_weight, LABELS, codes)
    for model in (CrammerSinger(class_weight=class_weight), DecisionTree(class_weight=class_weight)):
        with pytest.raises(ValueError, match=caught):
            model.fit(np.eye(3), LABELS)


def test_idle_classes_are_named() -> None:
    codes = np.array([0, 1, 1])
    refuse_idle(np.array([1.0, 0.0, 2.0]), LABELS[:2], codes)
    with pytest.raises(
        ValueError, match=r"^penalties must not be zero for a whole class, found it zero for \['c'\]$"
    ):
        refuse_idle(np.ones(3), LABELS, codes, "penalties")
