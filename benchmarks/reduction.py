"""One-vs-all and one-vs-one against ``sklearn.multiclass``, with the same classifiers inside.

Both fit the same binary classifiers to the same examples; what differs is what is done around them. The
promise is for the total times, and for the upper end of what nine repetitions leave open. In predicting,
both break ties of votes by the sums of scores, as scikit-learn does.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from benchmarks import strangers
from benchmarks.race import Race
from mcutils.reduction import OneVsAll, OneVsOne

A_CLASS, FEATURES, MOST_FEATURES = 40, 20, 100
FIT_AT_MOST = 1.05
# base, k, and at most how much of the peer's time predicting takes: by one-vs-all, by one-vs-one
ENTRIES = [
    (LinearSVC(random_state=0), 10, 0.9, 0.5),
    (LinearSVC(random_state=0), 26, 0.9, 0.5),
    (LinearSVC(random_state=0), 100, 0.9, 0.5),
    # not linear: a classifier scores as often as in scikit-learn, or half as often
    (GaussianNB(), 26, 1.05, 0.75),
]


def races() -> list[Race]:
    result = [race for entry in ENTRIES for race in of_one_base(*entry)]
    for name, X, y in strangers.sets():
        if X.shape[1] <= MOST_FEATURES:
            result += [strangers.in_group(*entry, FIT_AT_MOST) for entry in to_the_answer(name, X, y)]
    return result


def to_the_answer(name: str, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[Race, str]]:
    """Fitting and predicting, with the linear classifier whose own fit takes least; and the group of this."""
    base = RidgeClassifier()
    for rival, ours, peer in (
        ("all", OneVsAll(base), OneVsRestClassifier(base)),
        ("one", OneVsOne(base, ties="sum"), OneVsOneClassifier(base)),
    ):
        title = f"One-vs-{rival}, fit and predict"
        yield (
            Race(
                id=f"reduction-both-one-vs-{rival}-{name}",
                title=f"{title}, {name}",
                condition=f"RidgeClassifier, {len(X):,} examples, {X.shape[1]} features, "
                f"{len(np.unique(y))} classes, one thread",
                ours=partial(fit_and_predict, ours, X, y),
                peer=partial(fit_and_predict, peer, X, y),
                peer_name=f"scikit-learn's {type(peer).__name__}",
                threads=1,
                at_most=FIT_AT_MOST,
                input_bytes=X.nbytes,
            ),
            title,
        )


def fit_and_predict(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    predicted: np.ndarray = model.fit(X, y).predict(X)
    return predicted


def of_one_base(base: Any, k: int, all_at_most: float, one_at_most: float) -> list[Race]:
    X, y = make_blobs(A_CLASS * k, FEATURES, centers=k, cluster_std=4.0, random_state=0)
    result = []
    for name, ours, peer, at_most in (
        ("all", OneVsAll(base), OneVsRestClassifier(base), all_at_most),
        ("one", OneVsOne(base, ties="sum"), OneVsOneClassifier(base), one_at_most),
    ):
        ours.fit(X, y)
        peer.fit(X, y)
        # the classifiers are the same up to the names of their two labels, and so up to rounding
        assert np.mean(ours.predict(X) == peer.predict(X)) > 0.98
        condition = f"{type(base).__name__}, k = {k}, {len(X):,} examples, {FEATURES} features, one thread"
        for act, claim in (("fit", FIT_AT_MOST), ("predict", at_most)):
            arguments = (X, y) if act == "fit" else (X,)
            result.append(
                Race(
                    id=f"reduction-{act}-one-vs-{name}-{type(base).__name__.lower()}-{k:03}",
                    title=f"One-vs-{name}, {act}",
                    condition=condition,
                    ours=partial(getattr(ours, act), *arguments),
                    peer=partial(getattr(peer, act), *arguments),
                    peer_name=f"scikit-learn's {type(peer).__name__}",
                    threads=1,
                    at_most=claim,
                    input_bytes=X.nbytes,
                    surely=True,
                )
            )
    return result
