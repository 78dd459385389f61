"""One epoch of the subgradient machine against scikit-learn's ``SGDClassifier`` with the hinge.

Scikit-learn learns k binary machines, one against all others; we learn one machine for all classes, end with
an average of the iterates, and compute a certificate. Both visit every example once, and both in random
order. The sparse race has as many features as words of a language; its memory is counted in copies of the
entries of X and of W.
"""

import numpy as np
from scipy.sparse import random_array
from sklearn.datasets import make_blobs
from sklearn.linear_model import SGDClassifier

from benchmarks.race import Race
from mcutils.subgradient import SubgradientMachine

CLASSES = 10
LOSSES = ("crammer-singer", "weston-watkins")
AT_MOST = {"dense": 0.6, "sparse": 1.5}


def races() -> list[Race]:
    dense = make_blobs(100_000, 50, centers=CLASSES, cluster_std=15.0, random_state=0)
    rng = np.random.default_rng(0)
    words = random_array((20_000, 50_000), density=100 / 50_000, format="csr", rng=rng)
    topics = rng.normal(size=(50_000, CLASSES))
    sparse = words, (words @ topics).argmax(axis=1)
    found = []
    for kind, (X, y), condition in (
        ("dense", dense, "100,000 examples, 50 features"),
        ("sparse", sparse, "20,000 examples, 50,000 features, 100 of them not zero"),
    ):
        entries = X.nbytes if kind == "dense" else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        size = entries + 8 * CLASSES * X.shape[1]
        for loss in LOSSES:
            ours = SubgradientMachine(loss, C=1e-3, max_iter=1, random_state=0)
            peer = SGDClassifier(max_iter=1, tol=None, random_state=0)
            found.append(
                Race(
                    id=f"subgradient-{kind}-{loss}",
                    title=f"Subgradient epoch, {kind}, {loss}",
                    condition=f"{condition}, {CLASSES} classes, one epoch, one thread",
                    ours=lambda machine=ours, X=X, y=y: machine.fit(X, y),
                    peer=lambda machine=peer, X=X, y=y: machine.fit(X, y),
                    peer_name="scikit-learn's SGDClassifier",
                    threads=1,
                    at_most=AT_MOST[kind],
                    input_bytes=size,
                )
            )
    return found
