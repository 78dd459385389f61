"""One-vs-all and one-vs-one: decoding, the estimators, and what scikit-learn's own tests promise."""

import os

from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcutils.reduction import OneVsAll, OneVsOne

# ---------------------------------------------------------------------------------------------------
# scikit-learn's checks

CHECKED = [
    OneVsAll(LogisticRegression()),
    OneVsAll(DecisionTreeClassifier(max_depth=4, random_state=0), decode="sign"),
    OneVsAll(SVC(kernel="precomputed")),
    OneVsOne(LinearSVC()),
    OneVsOne(GaussianNB(), ties="sum"),
    OneVsOne(RidgeClassifier(), decode="sum", n_jobs=2),
    OneVsOne(DecisionTreeClassifier(max_depth=4, random_state=0), decode="tournament"),
    OneVsOne(LinearSVC(), decode="tournament", bracket=3, random_state=0),
    OneVsOne(SVC(kernel="precomputed")),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    check(estimator)
