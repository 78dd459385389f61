"""One epoch of SubgradientMachine against scikit-learn's ``SGDClassifier`` with the hinge.

Scikit-learn learns k binary classifiers, one against all others; we learn one classifier for all classes, end
with an average of the iterates, and compute a certificate. Both visit every example once, and both in random
order. The sparse race has as many features as words of a language; its memory is counted in copies of the
entries of X and of W. The last race is with ourselves: twice the entries in a row, of as many features, take
no more than about twice the time.
"""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse, random_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from benchmarks.race import Race
from mcutils.subgradient import SubgradientMachine

CLASSES = 10
LOSSES = ("crammer_singer", "weston_watkins")
AT_MOST = {"dense": 0.6, "sparse": 1.5, "entries": 2.2}


def races() -> list[Race]:
    dense = make_blobs(100_000, 50, centers=CLASSES, cluster_std=15.0, random_state=0)
    rng = np.random.default_rng(0)
    words, more = (
        random_array((20_000, 50_000), density=entries / 50_000, format="csr", rng=rng)
        for entries in (100, 200)
    )
    topics = rng.normal(size=(50_000, CLASSES))
    sparse, fuller = ((rows, (rows @ topics).argmax(axis=1)) for rows in (words, more))
    result = []
    for kind, (X, y), condition in (
        ("dense", dense, "100,000 examples, 50 features"),
        ("sparse", sparse, "20,000 examples, 50,000 features, 100 of them not zero"),
    ):
        for loss in LOSSES:
            ours = SubgradientMachine(loss, C=1e-3, max_iter=1, random_state=0)
            peer = SGDClassifier(max_iter=1, tol=None, random_state=0)
            result.append(
                Race(
                    id=f"subgradient-{kind}-{loss}",
                    title=f"Subgradient epoch, {kind}, {loss}",
                    condition=f"{condition}, {CLASSES} classes, one epoch, one thread",
                    ours=lambda model=ours, X=X, y=y: _fit(model, X, y),
                    peer=lambda model=peer, X=X, y=y: model.fit(X, y),
                    peer_name="scikit-learn's SGDClassifier",
                    threads=1,
                    at_most=AT_MOST[kind],
                    input_bytes=size(X),
                )
            )
    model = SubgradientMachine(C=1e-3, max_iter=1, random_state=0)
    result.append(
        Race(
            id="subgradient-entries",
            title="Subgradient epoch, twice the entries",
            condition=f"20,000 examples, 50,000 features, 200 of them not zero, {CLASSES} classes, one epoch",
            ours=lambda: _fit(model, *fuller),
            peer=lambda: _fit(model, *sparse),
            peer_name="the same with 100 that are not zero",
            threads=1,
            at_most=AT_MOST["entries"],
            input_bytes=size(more),
        )
    )
    return result


def _fit(model: SubgradientMachine, X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one epoch is not to be enough
        model.fit(X, y)


def size(X: Any) -> int:
    """Bytes of the entries, and of a W."""
    entries = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if issparse(X) else X.nbytes
    return int(entries + 8 * CLASSES * X.shape[1])
