"""Trees over the classes."""

import os

from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcutils.frontier import FilterTree, LabelTree, RidgeOneVsAll

CHECKED = [
    RidgeOneVsAll(),
    FilterTree(),
    FilterTree(DecisionTreeClassifier(max_depth=4, random_state=0), order="random", random_state=0),
    FilterTree(LogisticRegression(), order="means"),
    LabelTree(),
    LabelTree(LogisticRegression(), branching=3, order="means"),
    LabelTree(
        DecisionTreeClassifier(max_depth=4, random_state=0), branching=3, order="random", random_state=0
    ),
]


@parametrize_with_checks(
    CHECKED,
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": "of two equal examples, one is left out at a time"}
        if getattr(estimator, "order", None) == "confusion"
        else {}
    ),
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    check(estimator)
