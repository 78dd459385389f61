"""Codes, decoders and learners on digits and vowel: the comparison that chapter `ecoc` reads.

For every split, learner and code one `OutputCode` is trained and its scores are decoded in five ways.
Counts of mistakes are stored, split by split, so that a chapter can pair them.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from experiments import write
from mcutils import data, ecoc

CODES = ("one-vs-all", "all-pairs", "dense", "sparse")
Split = tuple[np.ndarray, np.ndarray]  # the row numbers to train on and to test on
DECODINGS = ("hamming", "linear", "hinge", "exponential", "logistic")


def learners() -> dict[str, ClassifierMixin]:
    """A learner that only cuts the space in two, and one that can bend."""
    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "decision tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    }


def splits() -> Iterator[tuple[str, np.ndarray, np.ndarray, list[Split]]]:
    """Each data set with its (train, test) splits: vowel leaves one speaker out at a time."""
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y, list(StratifiedShuffleSplit(10, test_size=0.5, random_state=0).split(X, y))
    vowel = data.load("vowel")
    yield "vowel", vowel.X, vowel.y, list(LeaveOneGroupOut().split(vowel.X, vowel.y, vowel.groups))


def run_split(
    X: np.ndarray, y: np.ndarray, split: Split, learner: ClassifierMixin, code: str, seed: int
) -> dict[str, float]:
    """Mistakes of each decoding on the test part, and the mean training error of the columns."""
    train, test = split
    model = ecoc.OutputCode(learner, code=code, random_state=seed).fit(X[train], y[train])
    scores = model.column_scores(X[test])
    truth = np.searchsorted(model.classes_, y[test])
    decoded = {name: ecoc.decode(scores, model.code_, name) for name in DECODINGS}
    result: dict[str, float] = {name: int(np.sum(d.winner != truth)) for name, d in decoded.items()}
    hamming = decoded["hamming"]
    result["hamming_tied"] = int(np.sum((hamming.winner != truth) & hamming.tied))
    wanted = model.code_[np.searchsorted(model.classes_, y[train])]
    wrong = np.sign(model.column_scores(X[train])) != wanted
    result["columns"] = round(float(np.mean([wrong[a != 0, s].mean() for s, a in enumerate(wanted.T)])), 4)
    return result


def main() -> None:
    """Run every combination and write the result file."""
    table = []
    for (name, X, y, parts), (learner_name, learner), code in product(splits(), learners().items(), CODES):
        runs = Parallel(n_jobs=2)(
            delayed(run_split)(X, y, split, learner, code, seed) for seed, split in enumerate(parts)
        )
        row = {"data": name, "learner": learner_name, "code": code}
        row |= {"n_train": [len(train) for train, _ in parts], "n_test": [len(test) for _, test in parts]}
        row |= {key: [run[key] for run in runs] for key in runs[0]}
        table.append(row)
        print(
            f"{name:7} {learner_name:20} {code:11} {sum(row['hinge'])} mistakes with hinge decoding",
            flush=True,
        )
    write("ecoc", seed=0, settings={}, tables={"rows": table})


if __name__ == "__main__":
    main()
