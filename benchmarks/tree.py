"""Growing, asking and pruning trees against scikit-learn's, on one thread.

Both grow the same trees wherever the best question is unique. The path of penalties includes growing, as
scikit-learn's own function does.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from benchmarks import keel, strangers
from benchmarks.race import Race
from mcutils import pruning
from mcutils.tree import DecisionTree

PEER = "DecisionTreeClassifier"
LEAVES = 50
ROWS = 100_000


def synthetic() -> tuple[np.ndarray, np.ndarray]:
    """20,000 examples of 50 normal features, which float32 represents, and ten classes with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50)).astype(np.float32).astype(np.float64)
    return X, (X @ rng.normal(size=(50, 10)) + 3 * rng.normal(size=(20_000, 10))).argmax(axis=1)


def on(name: str, X: np.ndarray, y: np.ndarray, at_most: float) -> Iterator[Race]:
    condition = f"{len(X):,} examples, {X.shape[1]} features, {len(np.unique(y))} classes, one thread"

    def race(kind: str, title: str, ours: object, peer: object, at_most: float, of: np.ndarray = X) -> Race:
        return Race(
            id=f"tree-{kind}-{name}",
            title=f"{title}, {name}",
            condition=condition,
            ours=ours,
            peer=peer,
            peer_name=PEER,
            threads=1,
            at_most=at_most,
            input_bytes=of.nbytes,
        )

    for kind, leaves in (("full", None), ("best-first", LEAVES)):
        ours = DecisionTree(max_leaf_nodes=leaves)
        peer = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
        title = "Growing to the end" if leaves is None else f"Growing to {LEAVES} leaves"
        yield race(kind, title, partial(ours.fit, X, y), partial(peer.fit, X, y), at_most)

    ours, peer = DecisionTree().fit(X, y), DecisionTreeClassifier(random_state=0).fit(X, y)
    rows = X[np.random.default_rng(1).permutation(np.resize(np.arange(len(X)), ROWS))]
    np.testing.assert_array_equal(ours.predict(rows), peer.predict(rows))
    both = partial(ours.predict, rows), partial(peer.predict, rows)
    yield race("predict", f"Predicting {ROWS:,} rows", *both, 0.8, rows)

    def ours_path() -> pruning.Sequence:
        return pruning.sequence(DecisionTree().fit(X, y))

    peer_path = partial(DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path, X, y)
    np.testing.assert_allclose(
        pruning.sequence(peer).penalties[-1], peer_path().ccp_alphas[-1] * len(y), rtol=1e-9
    )
    yield race("path", "The path of prices", ours_path, peer_path, 1.0)


def races() -> list[Race]:
    return [
        *on("digits", *load_digits(return_X_y=True), at_most=0.6),
        *on("penbased", *keel.load("penbased"), at_most=0.7),
        *on("synthetic", *synthetic(), at_most=0.25),
        *(
            strangers.in_group(next(on(*data, at_most=1.0)), "Growing to the end", 1.0)
            for data in strangers.sets()
        ),
    ]
