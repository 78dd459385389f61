"""Decoding with every loss against scikit-learn's search for the nearest codeword.

The search is what ``OutputCodeClassifier.predict`` does. It returns the rows alone; we return the
distances and the ties as well, and the time and memory for these are counted.
"""

from functools import partial

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from benchmarks.race import Race
from mcutils import ecoc

EXAMPLES, COLUMNS, CLASSES = 1_000_000, 40, 26
AT_MOST = {
    "linear": 0.7,
    "hamming": 2.5,
    "hinge": 2.5,
    "squared_hinge": 2.5,
    "logistic": 2.5,
    "exponential": 2.5,
}


def races() -> list[Race]:
    code = ecoc.dense(CLASSES, COLUMNS, random_state=0)
    codewords = code.astype(np.float64)
    scores = np.random.default_rng(0).normal(scale=2, size=(EXAMPLES, COLUMNS))
    condition = f"{EXAMPLES:,} examples, {COLUMNS} columns, {CLASSES} classes"

    def search() -> np.ndarray:
        return pairwise_distances_argmin(scores, codewords, metric="euclidean")

    # without zeros the nearest codeword is that of least linear loss: both must find the same rows
    np.testing.assert_array_equal(search(), ecoc.decode(scores, code, "linear").winner)
    return [
        Race(
            id=f"ecoc-{name.replace('_', '-')}-{'one-thread' if threads else 'all-cores'}",
            title=f"ECOC decoding, {name.replace('_', ' ')}",
            condition=f"{condition}, {'one thread' if threads else 'all cores'}",
            ours=partial(ecoc.decode, scores, code, name),
            peer=search,
            peer_name="scikit-learn's nearest codeword",
            threads=threads,
            at_most=at_most,
            input_bytes=scores.nbytes,
        )
        for name, at_most in AT_MOST.items()
        for threads in (1, None)
    ]
