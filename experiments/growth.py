"""What each estimator costs, and how that grows: seconds, memory and mistakes, as the guide shows them.

Every estimator is fitted with its defaults, and beside it the estimator of scikit-learn that does the same
or nearly the same, if there is one. The classes are those of `mcutils.data.prototypes`, whose means hang in a
tree; `BinarySVM` and `KernelPerceptron` take two classes only, and are given those of two. The examples are
multiplied by 4 again and again, and from the middle on the features and the classes too, one at a time. Where
a fit took longer than a second, none with more follows; 16,000 examples are fitted in any case.

Each size is a process of its own, forked from one that has compiled all loops. Times are those of the
processor, one thread, the smallest of repeats where they are short, so that what else the computer does
matters little. Memory is the most that the process held while it fitted, beyond what it held before.

It needs a system that can fork, and takes ten minutes of the processor.
"""

import multiprocessing
import pickle
import re
import resource
import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import mcutils as mc
from benchmarks.race import rounded
from experiments import write
from mcutils import ecoc
from mcutils.data import prototypes

SEED, N_TEST = 0, 5000
MIDDLE = (4000, 20, 10)  # examples, features, classes
LADDERS = {"m": (1000, 4000, 16_000, 64_000), "d": (20, 80, 320), "k": (10, 40, 160)}
PATIENCE = 1.0  # after a fit that took more seconds there is none with more of the same
SURE = 16_000  # so many examples are fitted in any case
SHORT, REPEATS = 0.5, 3  # what takes fewer seconds is fitted so often
ROUNDS = 50  # of boosting


class Pair(NamedTuple):
    """An estimator, and what scikit-learn has in its place."""

    ours: Any
    peer: Any = None


def pairs(k: int) -> list[Pair]:
    """What is measured for k classes: all with defaults, but for kernels, rounds and the size of a code."""
    logistic = LogisticRegression()
    columns = ecoc.dense(k, random_state=SEED).shape[1]
    return [
        Pair(mc.CrammerSinger(), LinearSVC(multi_class="crammer_singer")),
        Pair(mc.CrammerSinger(kernel="rbf"), SVC()),
        Pair(mc.WestonWatkins(), LinearSVC()),
        Pair(mc.WestonWatkins(kernel="rbf"), SVC()),
        Pair(mc.SoftmaxRegression(), LogisticRegression()),
        Pair(mc.SubgradientMachine(random_state=SEED), SGDClassifier(random_state=SEED)),
        Pair(mc.MulticlassPerceptron(random_state=SEED), Perceptron(random_state=SEED)),
        Pair(mc.KernelPerceptron(kernel="rbf", random_state=SEED)),
        Pair(mc.BinarySVM(), SVC(kernel="linear")),
        Pair(mc.BinarySVM(kernel="rbf"), SVC()),
        Pair(mc.OneVsAll(logistic), OneVsRestClassifier(logistic)),
        Pair(mc.OneVsOne(logistic), OneVsOneClassifier(logistic)),
        Pair(
            mc.OutputCode(logistic, code="dense", random_state=SEED),
            OutputCodeClassifier(logistic, code_size=(columns + 0.5) / k, random_state=SEED),
        ),
        Pair(mc.RidgeOneVsAll(), RidgeClassifier()),
        Pair(mc.LabelTree()),
        Pair(mc.FilterTree(random_state=SEED)),
        Pair(mc.DecisionTree(), DecisionTreeClassifier(random_state=SEED)),
        Pair(mc.AdaBoostMH(n_estimators=ROUNDS), AdaBoostClassifier(n_estimators=ROUNDS, random_state=SEED)),
        Pair(
            mc.WithProbabilities(mc.CrammerSinger(), random_state=SEED),
            CalibratedClassifierCV(LinearSVC(), method="sigmoid", ensemble=False),
        ),
    ]


TWO_CLASSES = (mc.BinarySVM, mc.KernelPerceptron)


def name(model: Any) -> str:
    """How the estimator is written, without its seed and the size of its code."""
    text = " ".join(repr(model).split()).replace("estimator=", "")
    return re.sub(r"(, )?random_state=\d+|code_size=[\d.]+, ", "", text)


class Size(NamedTuple):
    """Examples, features and classes."""

    m: int
    d: int
    k: int


def ladder(what: str) -> list[Size]:
    """Sizes with more and more of one of the three."""
    return [Size(*MIDDLE)._replace(**{what: n}) for n in LADDERS[what]]


def sizes() -> list[tuple[Size, Size | None]]:
    """Each size once, and that with a quarter."""
    steps = [pair for what in LADDERS for pair in zip(ladder(what), [None, *ladder(what)], strict=False)]
    return [(size, less) for size, less in steps if less is not None or size.m < MIDDLE[0]]


def samples(m: int, d: int, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """m examples and a test part."""
    nature, rng = prototypes(k, d, random_state=SEED), np.random.default_rng([SEED, m, d, k])
    return [nature.draw(n, rng) for n in (m, N_TEST)]


def held() -> float:
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(model: Any, sample: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """What one fit costs, and its mistakes on the test part."""
    (X, y), (fresh, truth) = sample
    before = held()
    times: list[float] = []
    with warnings.catch_warnings(record=True) as told, threadpool_limits(1):
        warnings.simplefilter("always", ConvergenceWarning)
        while not times or (times[0] < SHORT and len(times) < REPEATS):
            fitted, start = clone(model), process_time()
            fitted.fit(X, y)
            times.append(process_time() - start)
        peak = held() - before
        start = process_time()
        mistakes = int((fitted.predict(fresh) != truth).sum())
        asked = process_time() - start
    return {
        "fit_seconds": rounded(min(times)),
        "predict_seconds": rounded(asked),
        "peak": rounded(peak),
        "kilobytes": rounded(len(pickle.dumps(fitted)) / 1000),
        "mistakes": mistakes,
        "warned": any(issubclass(one.category, ConvergenceWarning) for one in told),
    }


def apart(model: Any, sample: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """The same in a process of its own, whose memory begins with what this one holds."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(measure, (model, sample))


def rows() -> Iterator[dict[str, Any]]:
    """A row for each estimator, ours and theirs, and each size."""
    seconds: dict[tuple[str, str, Size | None], float] = {}
    for size, less in sizes():
        many, two = samples(*size), samples(size.m, size.d, 2)
        for ours, peer in pairs(size.k):
            binary = isinstance(ours, TWO_CLASSES)
            if binary and size.k != MIDDLE[2]:
                continue
            for package, model in (("mcutils", ours), ("scikit-learn", peer)):
                longest = seconds.get((name(ours), package, less), np.inf)
                sure = size[1:] == MIDDLE[1:] and size.m <= SURE
                if model is None or not (sure or longest <= PATIENCE):
                    continue
                what = {"estimator": name(ours), "package": package, "name": name(model)}
                of = {"m": size.m, "d": size.d, "k": 2 if binary else size.k}
                row = {**what, **of, **apart(model, two if binary else many)}
                seconds[name(ours), package, size] = row["fit_seconds"]
                print(row, flush=True)
                yield row


def compile_loops() -> None:
    """Fit everything once, small."""
    for sample, binary in ((samples(200, 5, 4)[0], False), (samples(200, 5, 2)[0], True)):
        for ours, peer in pairs(4):
            if isinstance(ours, TWO_CLASSES) == binary:
                for model in (ours, peer):
                    if model is not None:
                        clone(model).fit(*sample).predict(sample[0])


def main() -> None:
    start = process_time()
    compile_loops()
    table = list(rows())
    seconds = round(process_time() - start + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
    settings = {"n_test": N_TEST, "rounds": ROUNDS, "cpu_seconds": seconds, "machine was shared": True}
    write("growth", seed=SEED, settings={"settings": settings}, tables={"rows": table})


if __name__ == "__main__":
    main()
