"""Twenty-five machines on eight data sets, tuned alike and tested on the same splits: chapter `comparison`.

Each cell is one machine on one split of one data set. The split leaves out a third of the examples (of the
vowels: of the speakers); on the rest the machine's parameters are chosen among at most six candidates
by three folds, and it is trained once more. Nothing that is left out takes part in a choice, a scaling or a
temperature. The vowels have one more split, that of their file.

    python -m experiments.comparison

It shows its progress and, interrupted, goes on where it was: finished cells are kept in a journal, one line
each, in a folder whose name stands for the versions and settings. A cell has the same mistakes whenever it
is computed again; times are those of the processor, with one thread. With ``--data`` only some data sets are
computed, and the result must go elsewhere.
"""

import argparse
import hashlib
import json
import pickle
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic, process_time
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from experiments import RESULTS, made_with, write
from mcutils import data, ecoc, softmax
from mcutils.binary import BinarySVM
from mcutils.boosting import AdaBoostMH
from mcutils.comparison import check_groups, folds, scores, smooth, splits, tune
from mcutils.ecoc import OutputCode
from mcutils.perceptron import MulticlassPerceptron
from mcutils.pruning import prune, sequence
from mcutils.reduction import OneVsAll, OneVsOne
from mcutils.softmax import SoftmaxRegression
from mcutils.solver import CrammerSinger, WestonWatkins
from mcutils.subgradient import SubgradientMachine
from mcutils.tree import DecisionTree

JOURNALS = Path(__file__).parent.parent / "_build" / "comparison"

SEED, SPLITS, PARTS = 0, 10, 3
OFFICIAL = SPLITS  # the number of the split that the vowels' file prescribes
DISPLAYS, FLIP = 600, 0.1
DIGITS = 800  # of 1797, drawn once
COLUMNS = 15  # of an output code, or all there are
MOST = 6  # candidates of a machine
PRICES = (0.01, 0.05, 0.25, 1.0, 5.0, 25.0)
RBF_PRICES, WIDTHS = (2.0, 50.0), (0.2, 1.0, 5.0)  # gamma is a width divided by d

# What it costs to miss this class; every other mistake costs 1. Chosen before anything was computed.
DEAR_COST = 5
DEAR = {
    "iris": "virginica",
    "wine": "class_2",
    "penguins": "Chinstrap",
    "glass": "headlamps",
    "vehicle": "saab",
    "vowel": "hid",
    "digits": "8",
    "led7": "8",
}


# ---------------------------------------------------------------------------------------------------
# Data sets and machines


@dataclass(frozen=True, eq=False)
class Sample:
    """Features, classes from 0 and their names; for the vowels the speakers and the official split."""

    name: str
    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    groups: np.ndarray | None = None
    is_test: np.ndarray | None = None

    @property
    def costs(self) -> np.ndarray:
        """What it costs to answer the class of a column where that of a row is true."""
        table = 1.0 - np.eye(len(self.names))
        table[self.names.index(DEAR[self.name])] *= DEAR_COST
        return table


@cache
def data_set(name: str) -> Sample:
    """One of the keys of DEAR."""
    if name in ("iris", "wine", "digits"):
        given = {"iris": load_iris, "wine": load_wine, "digits": load_digits}[name]()
        m = len(given.target)
        rows = np.random.default_rng(SEED).permutation(m)[:DIGITS] if name == "digits" else np.arange(m)
        return Sample(name, given.data[rows], given.target[rows], tuple(map(str, given.target_names)))
    if name == "led7":
        X, y = data.led7(DISPLAYS, FLIP, SEED)
        return Sample(name, X.astype(float), y, tuple(str(digit) for digit in range(10)))
    if name not in DEAR:
        raise ValueError(f"name={name!r} is no data set of the comparison; allowed are {list(DEAR)}")
    stored = data.load(name)
    y = np.unique(stored.y, return_inverse=True)[1]
    return Sample(name, stored.X, y, stored.class_names, stored.groups, stored.is_test)


class PrunedTree(ClassifierMixin, BaseEstimator):
    """A tree grown to the end and pruned at the price of a leaf, given as a share of the root's mistakes."""

    def __init__(self, price: float = 0.01):
        self.price = price

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        grown = DecisionTree().fit(X, y)
        root = float(sequence(grown, "misclassification").risks[-1])
        self.tree_ = prune(grown, self.price * root, "misclassification")
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tree_.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.tree_.predict_proba(X)


class Machine(NamedTuple):
    """What is trained, and the parameters to choose from: the simpler first, for they win ties."""

    pipeline: Any
    candidates: list[dict[str, Any]]


@cache
def machines(d: int, k: int) -> dict[str, Machine]:
    """All machines for d features and k classes."""

    def grid(prefix: str, **values: tuple) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{}]
        for key, choices in values.items():
            found = [{**one, f"{prefix}{key}": choice} for one in found for choice in choices]
        if len(found) > MOST:
            raise RuntimeError(f"at most {MOST} candidates are allowed, found {len(found)}")
        return found

    def scaled(machine: Any, inside: str = "", **values: tuple) -> Machine:
        pipeline = make_pipeline(StandardScaler(), machine)
        return Machine(pipeline, grid(f"{pipeline.steps[-1][0]}__{inside}", **values))

    def plain(machine: Any, **values: tuple) -> Machine:
        return Machine(machine, grid("", **values))

    linear = {"C": PRICES}
    rbf = {"C": RBF_PRICES, "gamma": tuple(width / d for width in WIDTHS)}
    near, far = BinarySVM(tol=1e-3), BinarySVM(kernel="rbf", tol=1e-3)
    code = ecoc.dense(k, min(2 ** (k - 1) - 1, COLUMNS), random_state=SEED)
    updates = ("top", "uniform", "mira")
    prices = (0.1, 0.03, 0.01, 0.005, 0.002, 0.0)
    smoothing = (1.0, 0.3, 0.1, 0.01, 1e-4, 1e-9)
    shrinkage = (0.9, 0.5, 0.2, 0.05, 0.01, 0.0001)
    seed = {"random_state": SEED}
    return {
        "one-vs-all, linear": scaled(OneVsAll(near), "estimator__", **linear),
        "one-vs-one, linear": scaled(OneVsOne(near, ties="sum"), "estimator__", **linear),
        "one-vs-all, rbf": scaled(OneVsAll(far), "estimator__", **rbf),
        "one-vs-one, rbf": scaled(OneVsOne(far, ties="sum"), "estimator__", **rbf),
        "output code, rbf": scaled(OutputCode(far, code=code), "estimator__", **rbf),
        "Crammer-Singer, linear": scaled(CrammerSinger(tol=1e-2), **linear),
        "Crammer-Singer, rbf": scaled(CrammerSinger(kernel="rbf", tol=1e-2), **rbf),
        "Weston-Watkins, linear": scaled(WestonWatkins(tol=1e-2), **linear),
        "Weston-Watkins, rbf": scaled(WestonWatkins(kernel="rbf", tol=1e-2), **rbf),
        "softmax": scaled(SoftmaxRegression(tol=1e-5), **linear),
        "perceptron": scaled(MulticlassPerceptron(**seed), update=updates, max_iter=(5, 50)),
        "perceptron, rbf": scaled(
            MulticlassPerceptron(kernel="rbf", **seed), max_iter=(5, 20), gamma=rbf["gamma"]
        ),
        "subgradient": scaled(SubgradientMachine(max_iter=20, delay="radius", **seed), **linear),
        "AdaBoost.MH": plain(AdaBoostMH(), votes=("sign", "leaf"), n_estimators=(50, 150, 450)),
        "pruned tree": plain(PrunedTree(), price=prices),
        "LogisticRegression": scaled(LogisticRegression(max_iter=1000), **linear),
        "LinearSVC": scaled(LinearSVC(**seed), **linear),
        "SVC": scaled(SVC(), **rbf),
        "RandomForest": plain(
            RandomForestClassifier(50, **seed),
            min_samples_leaf=(3, 1),
            max_features=("sqrt", 0.3, 0.6),
        ),
        "HistGradientBoosting": plain(
            HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=5, **seed),
            max_leaf_nodes=(4, 8, 31),
            learning_rate=(0.1, 0.3),
        ),
        "KNeighbors": scaled(KNeighborsClassifier(), n_neighbors=(25, 15, 9, 5, 3, 1)),
        "GaussianNB": scaled(GaussianNB(), var_smoothing=smoothing),
        "LDA": scaled(LinearDiscriminantAnalysis(solver="lsqr"), shrinkage=shrinkage),
        "DecisionTree": plain(
            DecisionTreeClassifier(**seed), max_leaf_nodes=(8, 25, 80), min_samples_leaf=(3, 1)
        ),
        "Dummy": plain(DummyClassifier()),
    }


NAMES = tuple(machines(2, 3))


# ---------------------------------------------------------------------------------------------------
# One cell


def outer(name: str, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of training and of test."""
    sample = data_set(name)
    if split == OFFICIAL and sample.is_test is not None:
        found = np.flatnonzero(~sample.is_test), np.flatnonzero(sample.is_test)
    elif 0 <= split < SPLITS:
        found = splits(sample.y, 1, parts=PARTS, groups=sample.groups, random_state=SEED + split)[0]
    else:
        raise ValueError(f"split={split} does not exist for {name}; allowed are 0 to {SPLITS - 1}")
    if sample.groups is not None:
        check_groups([found], sample.groups)
    return found


@cache
def _warm(machine: str) -> None:
    """Compile and import what the machine needs, so that the first cell of a process is not slower."""
    X, y = load_iris(return_X_y=True)
    given = machines(X.shape[1], 3)[machine]
    for params in given.candidates:
        scores(clone(given.pipeline).set_params(**params).fit(X[::2], y[::2]), X, len(X))


def one(name: str, machine: str, split: int) -> dict[str, Any]:
    """Tune, train and test one machine on one split: a line of the journal."""
    with threadpool_limits(1), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        _warm(machine)
        warned.clear()
        start = process_time()
        sample = data_set(name)
        train, test = outer(name, split)
        groups = None if sample.groups is None else sample.groups[train]
        inner = folds(sample.y[train], PARTS, groups=groups, random_state=SEED + split)
        pipeline, candidates = machines(sample.X.shape[1], len(sample.names))[machine]
        found = tune(pipeline, candidates, sample.X[train], sample.y[train], folds=inner, groups=groups)
        before = process_time()
        answer = found.estimator.predict(sample.X[test])
        seconds = process_time() - before
        row = {
            "data": name,
            "machine": machine,
            "split": split,
            "n_test": len(test),
            "chosen": found.index,
            "inner": int(found.mistakes[found.index]),
            "fit": _short(found.fit_seconds),
            "tune": _short(found.tune_seconds),
            "predict": _short(seconds),
            "bytes": len(pickle.dumps(found.estimator, protocol=5)),
        }
        row |= _judge(sample, found, train, test, answer)
        if split == OFFICIAL and sample.groups is not None:
            wrong = answer != sample.y[test]
            speakers = sample.groups[test]
            row["speakers"] = [int(wrong[speakers == who].sum()) for who in np.unique(speakers)]
        if name == "led7":
            row["risk"] = round(exact_risk(found.estimator), 6)
        row["warned"] = len(warned)
        row["cpu"] = _short(process_time() - start)
    return row


def _judge(sample: Sample, found: Any, train: np.ndarray, test: np.ndarray, answer: np.ndarray) -> dict:
    """Mistakes, costs, and what the probabilities are worth."""
    truth, costs = sample.y[test], sample.costs
    cooled = softmax.temperature(found.held_out, sample.y[train], smooth=True)
    values = scores(found.estimator, sample.X[test], len(train))
    fitted = smooth(cooled.probabilities(values), len(train))
    own = hasattr(found.estimator, "predict_proba")
    stated = np.exp(values) if own else fitted  # the scores are logarithms of smoothed probabilities
    stated /= stated.sum(axis=1, keepdims=True)
    cheapest = np.argmin(stated @ costs, axis=1)
    row: dict[str, Any] = {
        "mistakes": int((answer != truth).sum()),
        "cost": int(costs[truth, answer].sum()),
        "decided": int(costs[truth, cheapest].sum()),
        "own": own,
    }
    for key, p in (("", stated), ("_t", fitted)):
        row[f"log_loss{key}"] = round(softmax.log_loss(p, truth), 4)
        row[f"ece{key}"] = round(softmax.reliability(p, truth).ece, 4)
    return row


def exact_risk(machine: Any) -> float:
    """The probability of a mistake on a display, from all 128 displays."""
    bits = (np.arange(128)[:, None] >> np.arange(7)) & 1
    X = np.where(bits == 1, 1, -1)
    wrong = (X[:, None, :] != data.LED7[None, :, :]).sum(axis=2)
    chances = FLIP**wrong * (1 - FLIP) ** (7 - wrong) / len(data.LED7)
    return 1.0 - float(chances[np.arange(128), machine.predict(X.astype(float))].sum())


def _short(seconds: float) -> float:
    return float(f"{seconds:.3g}")


# ---------------------------------------------------------------------------------------------------
# All cells


Cell = tuple[str, str, int]


def cells(names: Iterable[str]) -> list[Cell]:
    """Split by split, so that whatever is finished when somebody stops is of all machines."""
    found = [(name, machine, split) for split in range(SPLITS) for name in names for machine in NAMES]
    return found + [("vowel", machine, OFFICIAL) for machine in NAMES if "vowel" in names]


def settings() -> dict[str, Any]:
    """All that decides what a cell computes, but for the versions."""
    return {
        "seed": SEED,
        "splits": SPLITS,
        "parts": PARTS,
        "displays": DISPLAYS,
        "digits": DIGITS,
        "flip": FLIP,
        "columns": COLUMNS,
        "candidates": MOST,
        "dear": DEAR,
        "dear_cost": DEAR_COST,
        "width": "gamma is given for d = 1; it is divided by the number of features",
        "machines": {
            name: {"pipeline": " ".join(repr(given.pipeline).split()), "candidates": given.candidates}
            for name, given in machines(1, 5).items()
        },
    }


class Journal:
    """Finished cells, a line of JSON each; a line that was cut off by an interruption is dropped."""

    def __init__(self, folder: Path):
        key = json.dumps([made_with(), settings()], sort_keys=True)
        self.path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:12]}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        whole = self.path.read_bytes()
        whole = whole[: whole.rfind(b"\n") + 1]
        self.path.write_bytes(whole)
        rows = map(json.loads, whole.decode().splitlines())
        self.rows: dict[Cell, dict] = {(r["data"], r["machine"], r["split"]): r for r in rows}

    def add(self, row: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.rows[row["data"], row["machine"], row["split"]] = row


class Bar:
    """How far it is: on a terminal one line that changes, elsewhere a line for every twentieth."""

    def __init__(self, total: int):
        self.total, self.start, self.shown = total, monotonic(), -1

    def show(self, done: int, what: str) -> None:
        live = sys.stderr.isatty()
        if not live and 20 * done // self.total == self.shown:
            return
        self.shown = 20 * done // self.total
        spent = monotonic() - self.start
        left = spent / done * (self.total - done)
        bar = "#" * (30 * done // self.total)
        line = f"[{bar:30}] {done}/{self.total}, {_clock(spent)} spent, {_clock(left)} left, {what}"
        print(f"\r{line:100.100}" if live else line, end="" if live else "\n", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def run(wanted: list[Cell], journal: Journal, jobs: int) -> None:
    """Compute what the journal lacks."""
    missing = [cell for cell in wanted if cell not in journal.rows]
    if len(missing) < len(wanted):
        print(f"{len(wanted) - len(missing)} of {len(wanted)} cells are in {journal.path}", file=sys.stderr)
    if not missing:
        return
    bar = Bar(len(missing))
    with parallel_config(backend="loky", inner_max_num_threads=1):
        rows: Iterator[dict] = Parallel(jobs, return_as="generator_unordered", batch_size=1)(
            delayed(one)(*cell) for cell in missing
        )
        for done, row in enumerate(rows, 1):
            journal.add(row)
            bar.show(done, f"{row['data']}, {row['machine']}")
    print(file=sys.stderr)


LISTED = ("mistakes", "n_test", "cost", "decided", "log_loss", "ece", "log_loss_t", "ece_t", "fit", "tune")
LISTED += ("predict", "bytes", "chosen", "inner", "warned")


def table(names: Iterable[str], journal: Journal) -> list[dict[str, Any]]:
    """A row for each machine on each data set, with a list over the splits."""
    found = []
    for name in names:
        kinds = [("resampled", list(range(SPLITS)))] + [("official", [OFFICIAL])] * (name == "vowel")
        for kind, numbers in kinds:
            for machine in NAMES:
                rows = [journal.rows[name, machine, split] for split in numbers]
                row = {"data": name, "machine": machine, "split": kind, "own": rows[0]["own"]}
                row |= {key: [one[key] for one in rows] for key in LISTED}
                row |= {"risk": [one["risk"] for one in rows]} if name == "led7" else {}
                row |= {"speakers": rows[0]["speakers"]} if kind == "official" else {}
                found.append(row)
    return found


def describe(name: str) -> dict[str, Any]:
    """Sizes of a data set and of its splits."""
    sample = data_set(name)
    train, test = zip(*(map(len, outer(name, split)) for split in range(SPLITS)), strict=True)
    return {
        "data": name,
        "m": len(sample.y),
        "d": sample.X.shape[1],
        "k": len(sample.names),
        "groups": 0 if sample.groups is None else len(np.unique(sample.groups)),
        "n_train": list(train),
        "n_test": list(test),
        "official": None if sample.is_test is None else [len(part) for part in outer(name, OFFICIAL)],
        "bayes": 0.25997752 if name == "led7" else None,
    }


def save(names: list[str], journal: Journal, folder: Path) -> None:
    """Write the result of some data sets into a folder."""
    seconds = sum(journal.rows[cell]["cpu"] for cell in cells(names))
    tables = {"data": map(describe, names), "rows": table(names, journal)}
    head = {"settings": settings(), "cpu_seconds": round(seconds)}
    write("comparison", seed=SEED, settings=head, tables=tables, folder=folder)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=DEAR, help="only these data sets; needs --folder")
    parser.add_argument("--folder", type=Path, help="where to write comparison.json, by default results/")
    parser.add_argument("--journal", type=Path, default=JOURNALS, help="folder of the journals")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each (2)")
    given = parser.parse_args(arguments)
    if given.data and not given.folder:
        parser.error("--data needs --folder: the book's file holds all data sets")
    names = given.data or list(DEAR)
    journal = Journal(given.journal)
    run(cells(names), journal, given.jobs)
    save(names, journal, given.folder or RESULTS)


if __name__ == "__main__":
    from experiments import comparison  # under this name the processes find its functions

    comparison.main()
