"""A thousand classes: least squares against scikit-learn's, and a tree of labels against both.

`RidgeOneVsAll` and RidgeClassifier solve the same problem. On these classes, which hang in a tree, the label
tree makes fewer mistakes than they do. Where it does not is shown by `python -m experiments.frontier`.
"""

from functools import partial

import numpy as np
from sklearn.linear_model import RidgeClassifier

from benchmarks.race import Race
from mcutils.data import prototypes
from mcutils.frontier import LabelTree, RidgeOneVsAll

K, OF_EACH, N_TEST = 1000, 30, 10_000
ALPHA = {"flat": 1.0, "node": 100.0}


def races() -> list[Race]:
    nature = prototypes(K, random_state=0)
    X, y = nature.draw(OF_EACH * K, 1)
    X_test, y_test = nature.draw(N_TEST, 2)
    flat, peer = RidgeOneVsAll(ALPHA["flat"]), RidgeClassifier(ALPHA["flat"])
    tree = LabelTree(RidgeOneVsAll(ALPHA["node"]), branching=32, order="means")
    for model in (flat, peer, tree):
        model.fit(X, y)
    predicted = peer.predict(X_test)
    assert np.mean(flat.predict(X_test) != predicted) < 1e-3
    # the faster prediction may not be the worse one
    assert tree.score(X_test, y_test) > np.mean(predicted == y_test)
    size = f"{K:,} classes, {X.shape[1]} features"
    return [
        Race(
            id="frontier-fit",
            title="One-vs-all by least squares: training",
            condition=f"{size}, {len(X):,} examples, one thread",
            ours=partial(flat.fit, X, y),
            peer=partial(peer.fit, X, y),
            peer_name="scikit-learn's RidgeClassifier",
            threads=1,
            at_most=0.2,
            input_bytes=X.nbytes + y.nbytes,
        ),
        Race(
            id="frontier-predict",
            title="Label tree against one-vs-all: prediction, with fewer mistakes",
            condition=f"{size}, {N_TEST:,} examples, one thread",
            ours=partial(tree.predict, X_test),
            peer=partial(peer.predict, X_test),
            peer_name="scikit-learn's RidgeClassifier",
            threads=1,
            at_most=0.3,
            input_bytes=X_test.nbytes,
        ),
    ]
