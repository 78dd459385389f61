"""The support vector machine of two classes against scikit-learn's SVC, both to the same certified gap.

SVC stops at a violation of the optimality conditions, not at a gap. Of the tolerances below, its largest is
taken whose solution has the required gap; the gap of its solution is computed here, at its best
bias. Both have 200 MB for rows of the Gram matrix, or more.
"""

from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from benchmarks.race import Race
from mcutils import binary, kernel

EXAMPLES, FEATURES, GAMMA = 2000, 20, 0.05
TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
# kernel, C, gap, claim
PROBLEMS = (
    ("rbf", 1.0, 1e-3, 2.5),
    ("rbf", 10.0, 1e-3, 2.5),
    ("linear", 1.0, 1e-6, 2.0),
    ("linear", 10.0, 1e-6, 1.0),
)


def relative_gap(model: SVC, gram: np.ndarray, signs: np.ndarray, C: float) -> float:
    beta = np.zeros(len(signs))
    beta[model.support_] = model.dual_coef_[0]
    inner = gram @ beta
    square = beta @ inner
    # the hinges are linear in b between these values, so one of them is the best
    kinks = np.sort(signs - inner)
    b = kinks[int((signs > 0).sum()) - 1]
    primal = square / 2 + C * np.maximum(0, 1 - signs * (inner + b)).sum()
    return float((primal - (np.abs(beta).sum() - square / 2)) / primal)


def races() -> list[Race]:
    X, y = make_classification(EXAMPLES, FEATURES, n_informative=10, flip_y=0.05, random_state=0)
    X, signs = scale(X), np.where(y == 1, 1.0, -1.0)
    result = []
    for name, C, gap, at_most in PROBLEMS:
        gram = (kernel.linear if name == "linear" else kernel.rbf(GAMMA)).gram(X)
        ours = binary.BinarySVM(C=C, kernel=name, gamma=GAMMA, tol=gap)
        for tolerance in TOLERANCES:
            peer = SVC(C=C, kernel=name, gamma=GAMMA, tol=tolerance)
            if relative_gap(peer.fit(X, signs), gram, signs, C) <= gap:
                break
        assert ours.fit(X, signs).converged_
        assert relative_gap(peer, gram, signs, C) <= gap
        result.append(
            Race(
                id=f"binary-{name}-{C:g}",
                title=f"SVM of two classes, {name}, C = {C:g}",
                condition=f"{EXAMPLES:,} examples, {FEATURES} features, gap {gap:g}, one thread",
                ours=partial(ours.fit, X, signs),
                peer=partial(peer.fit, X, signs),
                peer_name=f"SVC(tol={tolerance:g})",
                threads=1,
                at_most=at_most,
                input_bytes=gram.nbytes,
            )
        )
    return result
