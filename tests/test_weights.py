"""Weights of classes, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from mcutils._weights import refuse_idle, times_class_weight
from mcutils.solver import CrammerSinger
from mcutils.tree import DecisionTree

LABELS = np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    "class_weight", [None, "balanced", {"b": 3.0}, {"a": 0.5, "b": 0.0, "c": 2.0, "d": 9.0}]
)
@pytest.mark.parametrize("seed", range(3))
def test_as_scikit_learn(class_weight: object, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 1, 2, rng.integers(3, size=30)]
    weights = rng.uniform(0.5, 2, size=len(codes))
    theirs = compute_class_weight(class_weight, classes=LABELS, y=LABELS[codes], sample_weight=weights)
    found = times_class_weight(weights, class_weight, LABELS, codes)
    np.testing.assert_allclose(found, weights * theirs[codes], rtol=1e-14)


def test_balanced_without_the_classes_that_weigh_nothing() -> None:
    codes, weights = np.array([0, 0, 0, 1, 2]), np.array([1.0, 2.0, 3.0, 2.0, 0.0])
    found = times_class_weight(weights, "balanced", LABELS, codes)
    assert np.bincount(codes, found).tolist() == [4.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("class_weight", "said"),
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
def test_refuses(class_weight: object, said: str) -> None:
    codes = np.arange(3)
    with pytest.raises(ValueError, match=said):
        times_class_weight(np.ones(3), class_weight, LABELS, codes)
    for machine in (CrammerSinger(class_weight=class_weight), DecisionTree(class_weight=class_weight)):
        with pytest.raises(ValueError, match=said):
            machine.fit(np.eye(3), LABELS)


def test_idle_classes_are_named() -> None:
    codes = np.array([0, 1, 1])
    refuse_idle(np.array([1.0, 0.0, 2.0]), LABELS[:2], codes)
    with pytest.raises(
        ValueError, match=r"^prices must not be zero for a whole class, found it zero for \['c'\]$"
    ):
        refuse_idle(np.ones(3), LABELS, codes, "prices")
