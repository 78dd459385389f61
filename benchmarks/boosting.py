"""AdaBoost.MH with stumps against scikit-learn's AdaBoostClassifier, which is SAMME, with trees of depth 1.

Both do the same number of rounds. What they learn is not the same: a stump of AdaBoost.MH votes for every
class, a tree of depth 1 predicts one class on each side. Their mistakes on test data are compared by
`python -m experiments.boosting`.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks import keel, strangers
from benchmarks.race import Race
from mcutils.boosting import AdaBoostMH

ROUNDS, AT_MOST = 200, 0.15
STRANGE_ROUNDS, STRANGE_AT_MOST = 50, 0.25


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield "digits", *load_digits(return_X_y=True)
    yield "penbased", *keel.load("penbased")
    X, y = make_classification(
        20000, 50, n_informative=20, n_redundant=0, n_classes=10, n_clusters_per_class=1, random_state=0
    )
    yield "synthetic", X, y


def races() -> list[Race]:
    result = [on(name, X, y, ROUNDS) for name, X, y in data_sets()]
    for name, X, y in strangers.sets():
        race = on(name, X, y, STRANGE_ROUNDS)
        result.append(strangers.in_group(race, "AdaBoost with stumps", STRANGE_AT_MOST))
    return result


def on(name: str, X: np.ndarray, y: np.ndarray, rounds: int) -> Race:
    m, d, k = *X.shape, len(np.unique(y))
    tree = DecisionTreeClassifier(max_depth=1)
    peer = AdaBoostClassifier(tree, n_estimators=rounds, random_state=0)
    ours = AdaBoostMH(n_estimators=rounds)
    # none may save itself a round
    assert len(clone(peer).fit(X, y).estimators_) == clone(ours).fit(X, y).n_estimators_ == rounds
    return Race(
        id=f"boosting-{name}",
        title=f"AdaBoost with stumps, {name}",
        condition=f"{m:,} examples, {d} features, {k} classes, {rounds} rounds, one thread",
        ours=partial(ours.fit, X, y),
        peer=partial(peer.fit, X, y),
        peer_name="scikit-learn's AdaBoostClassifier",
        threads=1,
        at_most=AT_MOST,
        input_bytes=X.nbytes + y.nbytes,
    )
