"""One epoch of the perceptron of k classes against scikit-learn's ``Perceptron``.

Scikit-learn learns k binary classifiers, one against all others, and predicts with the last; we learn one
classifier for all classes, and end with the average over all steps. Both visit every example once, in random
order.
"""

import warnings

import numpy as np
from scipy.sparse import random_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron

from benchmarks.race import Race
from mcutils.perceptron import UPDATES, MulticlassPerceptron

CLASSES = 10
AT_MOST = {"dense": 0.6, "sparse": 1.25}


def races() -> list[Race]:
    dense = make_blobs(100_000, 50, centers=CLASSES, cluster_std=15.0, random_state=0)
    rng = np.random.default_rng(0)
    words = random_array((20_000, 50_000), density=100 / 50_000, format="csr", rng=rng)
    topics = rng.normal(size=(50_000, CLASSES))
    sparse = words, (words @ topics).argmax(axis=1)
    result = []
    for kind, (X, y), condition in (
        ("dense", dense, "100,000 examples, 50 features"),
        ("sparse", sparse, "20,000 examples, 50,000 features, 100 of them not zero"),
    ):
        entries = X.nbytes if kind == "dense" else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        size = entries + 8 * CLASSES * X.shape[1]
        for update in UPDATES:
            ours = MulticlassPerceptron(update, max_iter=1, random_state=0)
            peer = Perceptron(max_iter=1, tol=None, random_state=0)
            result.append(
                Race(
                    id=f"perceptron-{kind}-{update}",
                    title=f"Perceptron epoch, {kind}, {update}",
                    condition=f"{condition}, {CLASSES} classes, one epoch, one thread",
                    ours=lambda model=ours, X=X, y=y: _fit(model, X, y),
                    peer=lambda model=peer, X=X, y=y: model.fit(X, y),
                    peer_name="scikit-learn's Perceptron",
                    threads=1,
                    at_most=AT_MOST[kind],
                    input_bytes=size,
                )
            )
    return result


def _fit(model: MulticlassPerceptron, X: object, y: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one epoch is not to be enough
        model.fit(X, y)
