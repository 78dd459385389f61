"""Boosting on digits and vowel, and its time against T, m, k and N: what chapter `boosting` reads.

With stumps, it also makes its mistakes on the other data sets of the races, in fewer splits.

For every split each classifier is trained once; its mistakes on the test part are stored, split by split, so
that a chapter can pair them. Times are those of the processor, the smallest of repeats; exponents are fitted.
"""

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.boosting import data_sets as races
from experiments import write
from mcutils import data
from mcutils.boosting import AdaBoostMH
from mcutils.reduction import OneVsAll

SPLITS, ROUNDS, LEAVES = 10, 200, 32
TREE_ROUNDS = (20, 100)  # two budgets: what depends on the budget is no property of the method
LARGE, LARGE_SPLITS = ("penbased", "synthetic"), 5

# The grid of times: one of four numbers is varied, the others are these. It is large enough that what a fit
# costs once, and a round besides its search, is a small part.
USUAL = {"T": 200, "m": 4000, "k": 16, "N": 40}
VARIED = {
    "T": (100, 200, 400, 800),
    "m": (2000, 4000, 8000, 16000),
    "k": (8, 16, 32, 64),
    "N": (20, 40, 80, 160),
}
REPEATS = 5


def models() -> dict[str, Any]:
    """Stumps and trees, each with AdaBoost.MH and with SAMME, and one AdaBoost for each class."""
    stump = DecisionTreeClassifier(max_depth=1)
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES)
    models: dict[str, Any] = {
        "MH, stumps": AdaBoostMH(n_estimators=ROUNDS),
        "MH, stumps with free leaves": AdaBoostMH(n_estimators=ROUNDS, votes="leaf"),
        "SAMME, stumps": AdaBoostClassifier(stump, n_estimators=ROUNDS, random_state=0),
        "one-vs-all, stumps": OneVsAll(AdaBoostMH(n_estimators=ROUNDS)),
    }
    for n in TREE_ROUNDS:
        models[f"MH, {n} trees"] = AdaBoostMH(tree, n_estimators=n, random_state=0)
        models[f"SAMME, {n} trees"] = AdaBoostClassifier(tree, n_estimators=n, random_state=0)
    return models


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield "digits", *load_digits(return_X_y=True)
    vowel = data.load("vowel")
    yield "vowel", vowel.X, vowel.y


def splits(X: np.ndarray, y: np.ndarray, n: int = SPLITS) -> list[tuple[np.ndarray, np.ndarray]]:
    """The row numbers of train and test, halves with the same share of each class."""
    return list(StratifiedShuffleSplit(n, test_size=0.5, random_state=0).split(X, y))


def compare(name: str, X: np.ndarray, y: np.ndarray, n: int, only: str) -> Iterator[dict[str, Any]]:
    """Mistakes on each test part of each classifier whose name ends like ``only``."""
    parts = splits(X, y, n)
    for title, model in models().items():
        if title.endswith(only):
            wrong = []
            for train, test in parts:
                fitted = clone(model).fit(X[train], y[train])
                wrong.append(int((fitted.predict(X[test]) != y[test]).sum()))
            print(f"{name:9} {title:28} {sum(wrong)} mistakes", flush=True)
            yield {"data": name, "machine": title, "n_test": len(parts[0][1]), "mistakes": wrong}


def seconds(T: int, m: int, k: int, N: int) -> float:
    """Time to fit T rounds to m examples of k classes with N features, all values different."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, N)), rng.integers(k, size=m)
    model, times = AdaBoostMH(n_estimators=T), []
    model.fit(X[: 10 * k], y[: 10 * k])
    for _ in range(REPEATS):
        start = process_time()
        model.fit(X, y)
        times.append(process_time() - start)
    if model.n_estimators_ != T:
        raise RuntimeError(f"there should be {T} rounds, found {model.n_estimators_}")
    return min(times)


def exponent(values: tuple[int, ...], times: list[float]) -> float:
    """The slope of the line through the logarithms."""
    return float(np.polyfit(np.log(values), np.log(times), 1)[0])


def main() -> None:
    """Run everything and write the result file."""
    with threadpool_limits(1):
        rows = [row for one in data_sets() for row in compare(*one, SPLITS, "")]
        large = [row for one in races() if one[0] in LARGE for row in compare(*one, LARGE_SPLITS, ", stumps")]
        grid = []
        for name, values in VARIED.items():
            times = [seconds(**{**USUAL, name: value}) for value in values]
            grid.append(
                {
                    "varied": name,
                    "values": values,
                    "seconds": [float(f"{time:.3g}") for time in times],
                    "exponent": round(exponent(values, times), 2),
                }
            )
            print(f"time against {name}: exponent {grid[-1]['exponent']}", flush=True)
    settings = {"rounds": ROUNDS, "tree_rounds": TREE_ROUNDS, "leaves": LEAVES, "usual": USUAL}
    tables = {"rows": rows, "large": large, "times": grid}
    write("boosting", seed=0, settings={"settings": settings}, tables=tables)


if __name__ == "__main__":
    main()
