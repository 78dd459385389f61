"""What happens as the number of classes grows to thousands: what chapter `frontier` reads.

Classes are drawn by `mcutils.data.prototypes`, whose Bayes rule is known. For every k and seed each method
is trained on as many examples of each class; what it costs and how often it errs is stored. Times are those
of the processor, one thread, the smallest of repeats where they are short. `LAST` has where a method ends
because it takes too long.

It takes about seven minutes of the processor.
"""

import tracemalloc
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from experiments import write
from mcutils.data import Prototypes, prototypes
from mcutils.ecoc import OutputCode
from mcutils.frontier import FilterTree, LabelTree, RidgeOneVsAll
from mcutils.reduction import OneVsAll, OneVsOne
from mcutils.softmax import SoftmaxRegression
from mcutils.solver import CrammerSinger

CLASSES = (10, 30, 100, 300, 1000, 3000)
FEATURES, OF_EACH, N_TEST, BATCH = 64, 30, 10_000, 1000
SEEDS, LARGE = (0, 1, 2), 3000  # the largest k is run with the first seed only

# Chosen from powers of ten on a draw of its own, k = 100 and seed 100: see `choose`.
ALPHA = {"all classes": 1.0, "node": 100.0, "pair": 1000.0}
PENALTY = {"logistic": 0.01, "softmax": 0.01, "Crammer-Singer": 0.01}

# The largest k at which a method is run at all, and with all seeds.
LAST = {
    "one-vs-all, logistic": (1000, 300),
    "one-vs-one": (300, 100),
    "softmax": (1000, 300),
    "Crammer-Singer": (1000, 1000),
}
BRANCHING, DIMENSIONS = (2, 4, 8, 16, 32, 64, 128, 256), (8, 16, 24, 32, 40, 48, 56, 64)
RACE, UNRELATED = 1000, {"growth": 0.0, "separation": 5.0}
SHORT, REPEATS = 0.2, 3  # what takes fewer seconds is timed so often
TRACED = 2.0  # what takes fewer seconds to train is trained once more, to see what memory it needs


def pooled() -> Any:
    """The nearest mean in the metric of the pooled covariance: the Bayes rule's form."""
    return LinearDiscriminantAnalysis(solver="lsqr")


def trees(nature: Prototypes) -> dict[str, Any]:
    """Filter trees, and label trees of pairs, with every order; label trees of more branches."""
    node, result = RidgeOneVsAll(ALPHA["node"]), {}
    orders = {"random": "random", "confusion": "confusion", "means": "means", "true": nature.order}
    for name, order in orders.items():
        result[f"filter tree, {name}"] = FilterTree(node, order=order, random_state=0)
        result[f"label tree 2, {name}"] = LabelTree(node, branching=2, order=order, random_state=0)
    for name in ("confusion", "means"):
        result[f"label tree 32, {name}"] = LabelTree(node, branching=32, order=name)
    result["label tree 32, means, pooled"] = LabelTree(pooled(), branching=32, order="means")
    return result


def methods(nature: Prototypes) -> dict[str, Any]:
    """Everything that is compared, by name."""
    least_squares = RidgeOneVsAll(ALPHA["all classes"])
    return {
        "one-vs-all": least_squares,
        "one-vs-all, logistic": OneVsAll(LogisticRegression(C=PENALTY["logistic"])),
        "one-vs-one": OneVsOne(RidgeOneVsAll(ALPHA["pair"])),
        "random code": OutputCode(least_squares, code="dense", decoding="linear", random_state=0),
        "softmax": SoftmaxRegression(C=PENALTY["softmax"], tol=1e-2),
        "Crammer-Singer": CrammerSinger(C=PENALTY["Crammer-Singer"], tol=1e-2),
        "nearest mean": NearestCentroid(),
        "nearest mean, pooled": pooled(),
        **trees(nature),
    }


def numbers(model: Any) -> int:
    """How many numbers a fitted classifier needs to predict."""
    if isinstance(model, (FilterTree, LabelTree)):
        return sum(numbers(part) for part in model.estimators_ if not isinstance(part, int))
    if hasattr(model, "estimators_"):
        code = model.code_.size if hasattr(model, "code_") else 0
        return code + sum(numbers(part) for part in model.estimators_)
    if isinstance(model, NearestCentroid):
        return int(model.centroids_.size)
    return int(model.coef_.size + np.size(model.intercept_))


def counts(model: Any, k: int, m: int) -> dict[str, Any]:
    """Weight vectors, how often training reads an example, and the most vectors that a prediction needs."""
    if isinstance(model, (FilterTree, LabelTree)):
        degrees = [1 if len(children) == 2 else len(children) for children in model.children_]
        calls = np.zeros(k + len(degrees), dtype=int)
        for node, (children, degree) in enumerate(zip(model.children_, degrees, strict=True)):
            calls[k + node] = degree + max(calls[child] for child in children)
        reads = model.n_examples_.sum() / m
        return {"vectors": sum(degrees), "readings": round(reads, 2), "asked": int(calls[-1])}
    if hasattr(model, "estimators_"):
        n = len(model.estimators_)
        return {"vectors": n, "readings": k - 1 if isinstance(model, OneVsOne) else n, "asked": n}
    return {"vectors": k, "readings": 1, "asked": k}


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time, the smallest of repeats where it is short; and what was worked out."""
    times: list[float] = []
    while not times or (times[0] < SHORT and len(times) < REPEATS):
        start = process_time()
        result = work()
        times.append(process_time() - start)
    return min(times), result


def peak(work: Callable[[], Any]) -> float:
    """The most that is allocated at once, in MB, beyond what exists before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def rounded(value: float) -> float:
    return float(f"{value:.3g}")


def run(name: str, model: Any, k: int, seed: int, sample: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """One row: what training costs, what predicting costs, and the mistakes on the test part."""
    row = {"k": k, "method": name, "seed": seed, **judged(model, sample)}
    row |= {"parameters": numbers(model), **counts(model, k, len(sample[1]))}
    if seed == SEEDS[0]:
        # tracing slows down what makes many small arrays
        short = row["fit_seconds"] < TRACED
        row["peak"] = rounded(peak(lambda: clone(model).fit(*sample[:2]))) if short else None
    print(f"{k:5} {seed} {name:30} {shown(row)}", flush=True)
    return row


def judged(model: Any, sample: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Seconds to train, seconds to predict a batch, and mistakes."""
    X, y, X_test, y_test = sample
    fit, _ = seconds(lambda: model.fit(X, y))
    model.predict(X_test[:10])  # compiles
    # a thousand at a time: the table of all scores at once costs a flat classifier more than the scores
    batches = X_test.reshape(-1, BATCH, FEATURES)
    predict, predicted = seconds(lambda: [model.predict(batch) for batch in batches])
    mistakes = int((np.concatenate(predicted) != y_test).sum())
    return {
        "fit_seconds": rounded(fit),
        "predict_seconds": rounded(predict * BATCH / N_TEST),
        "mistakes": mistakes,
        "error": mistakes / N_TEST,
    }


def shown(row: dict[str, Any]) -> str:
    return f"{row['fit_seconds']:8.3g} s, {row['predict_seconds']:8.3g} s, error {row['error']:.3f}"


def draws(nature: Prototypes, k: int, seed: int) -> tuple[np.ndarray, ...]:
    """Training and test part, from generators of their own."""
    rng = np.random.default_rng([k, seed])
    return *nature.draw(OF_EACH * k, rng), *nature.draw(N_TEST, rng)


def make(k: int, seed: int, **changes: float) -> Prototypes:
    return prototypes(k, FEATURES, random_state=seed, **changes)


def grow() -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """For every k and seed the Bayes error, and the rows of all methods that are still feasible."""
    for k in CLASSES:
        for seed in SEEDS[:1] if k == LARGE else SEEDS:
            nature = make(k, seed)
            error, standard_error = nature.bayes_error(random_state=seed)
            sample = draws(nature, k, seed)
            bayes = {
                "k": k,
                "seed": seed,
                "error": round(error, 5),
                "standard_error": rounded(standard_error),
            }
            bayes["mistakes"] = int((nature.predict(sample[2]) != sample[3]).sum())
            rows = []
            for name, model in methods(nature).items():
                largest, thorough = LAST.get(name, (LARGE, LARGE))
                if k <= (largest if seed == SEEDS[0] else thorough):
                    rows.append(run(name, model, k, seed, sample))
            yield bayes, rows


def race() -> Iterator[dict[str, Any]]:
    """Flat classifiers on fewer and fewer principal components against trees with more and more branches."""
    for seed in SEEDS:
        nature = make(RACE, seed)
        sample = draws(nature, RACE, seed)
        for kind, base in (("ridge", RidgeOneVsAll(ALPHA["node"])), ("pooled", pooled())):
            for branching in BRANCHING:
                model = LabelTree(base, branching=branching, order="means")
                yield contest("tree", kind, branching, model, seed, sample)
        for kind, base in (("ridge", RidgeOneVsAll(ALPHA["all classes"])), ("pooled", pooled())):
            for dimension in DIMENSIONS:
                flat = base if dimension == FEATURES else make_pipeline(PCA(dimension, random_state=0), base)
                yield contest("flat", kind, dimension, flat, seed, sample)


def contest(
    shape: str, kind: str, capacity: int, model: Any, seed: int, sample: tuple[np.ndarray, ...]
) -> dict[str, Any]:
    row = {"shape": shape, "machine": kind, "capacity": capacity, "seed": seed, **judged(model, sample)}
    print(f"race: {shape} {kind:7} {capacity:4} {shown(row)}", flush=True)
    return row


def unrelated() -> Iterator[dict[str, Any]]:
    """Classes without relations, where there is no tree to be found."""
    for seed in SEEDS:
        nature = make(RACE, seed, **UNRELATED)
        sample = draws(nature, RACE, seed)
        error, standard_error = nature.bayes_error(random_state=seed)
        known = methods(nature)
        for name in ("one-vs-all", "nearest mean, pooled", "filter tree, means", "label tree 32, means"):
            row = run(name, known[name], RACE, seed, sample)
            yield {
                **{key: row[key] for key in ("method", "seed", "mistakes", "error")},
                "bayes": round(error, 5),
                "standard_error": rounded(standard_error),
            }


def shortlist(k: int, seed: int) -> dict[str, Any]:
    """The part of 32 classes that a label tree comes to; then the best flat score inside it."""
    nature = make(k, seed)
    X, y, X_test, y_test = draws(nature, k, seed)
    tree = LabelTree(RidgeOneVsAll(ALPHA["node"]), branching=32, order="means").fit(X, y)
    part = np.empty(k, dtype=int)
    for node, children in enumerate(tree.children_):
        if children.max() < k:
            part[children] = node
    reached = part[tree.predict(X_test)]
    inside = part == reached[:, None]
    result = {"k": k, "seed": seed, "size": 32, "missed": int((reached != part[y_test]).sum())}
    for name, flat in (("ridge", RidgeOneVsAll(ALPHA["all classes"])), ("pooled", pooled())):
        scores = flat.fit(X, y).decision_function(X_test)
        result[f"{name}_all"] = int((scores.argmax(axis=1) != y_test).sum())
        result[f"{name}_short"] = int((np.where(inside, scores, -np.inf).argmax(axis=1) != y_test).sum())
    return result


def rounds(k: int, seed: int) -> Iterator[dict[str, Any]]:
    """In which round labels are lost, on test data, and what the bound of the path is."""
    nature = make(k, seed)
    sample = draws(nature, k, seed)
    for name, model in trees(nature).items():
        if name.startswith("filter tree"):
            result = model.fit(*sample[:2]).eliminations(*sample[2:])
            yield {
                "k": k,
                "seed": seed,
                "method": name,
                "error": round(result.error, 5),
                "path_bound": round(result.path_bound, 4),
                "by_round": [round(value, 5) for value in result.by_round.tolist()],
            }


def choose() -> dict[str, dict[str, int]]:
    """Mistakes for each candidate of `ALPHA` and `PENALTY`, on a draw that is used for nothing else."""
    nature = make(100, 100)
    X, y, X_test, y_test = draws(nature, 100, 100)
    alphas, penalties = (1.0, 10.0, 100.0, 1000.0), (0.001, 0.01, 0.1, 1.0)
    kinds: dict[str, tuple[tuple[float, ...], Callable[[float], Any]]] = {
        "all classes": (alphas, RidgeOneVsAll),
        "node": (alphas, lambda value: FilterTree(RidgeOneVsAll(value), order="means")),
        "pair": (alphas, lambda value: OneVsOne(RidgeOneVsAll(value))),
        "logistic": (penalties, lambda value: OneVsAll(LogisticRegression(C=value))),
        "softmax": (penalties, lambda value: SoftmaxRegression(C=value, tol=1e-2)),
        "Crammer-Singer": (penalties, lambda value: CrammerSinger(C=value, tol=1e-2)),
    }
    result: dict[str, dict[str, int]] = {}
    for name, (values, kind) in kinds.items():
        result[name] = {
            str(value): int((kind(value).fit(X, y).predict(X_test) != y_test).sum()) for value in values
        }
        best = min(values, key=lambda value, name=name: result[name][str(value)])
        if best != {**ALPHA, **PENALTY}[name]:
            raise RuntimeError(f"{name} should be {best}, by its mistakes {result[name]}")
        print(f"chosen on another draw: {name} {best}", flush=True)
    return result


def exponents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Slopes of the logarithms of times and sizes against that of k, from k = 100 on."""
    result = []
    for name in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == name and row["k"] >= 100]
        if len({row["k"] for row in own}) > 1:
            logs = np.log([row["k"] for row in own])
            slopes = {
                what: round(float(np.polyfit(logs, np.log([row[what] for row in own]), 1)[0]), 2)
                for what in ("fit_seconds", "predict_seconds", "parameters")
            }
            result.append({"method": name, "from": 100, "to": max(row["k"] for row in own), **slopes})
    return result


def main() -> None:
    """Run everything and write the result file."""
    start = process_time()
    with threadpool_limits(1):
        chosen = choose()
        bayes, rows = [], []
        for one, several in grow():
            bayes.append(one)
            rows += several
        tables = {
            "bayes": bayes,
            "rows": rows,
            "exponents": exponents(rows),
            "race": list(race()),
            "unrelated": list(unrelated()),
            "shortlist": [shortlist(RACE, seed) for seed in SEEDS],
            "rounds": [row for k in (100, RACE) for row in rounds(k, SEEDS[0])],
        }
    settings = {
        "features": FEATURES,
        "of_each": OF_EACH,
        "n_test": N_TEST,
        "batch": BATCH,
        "seeds": SEEDS,
        "race": RACE,
    }
    settings |= {"alpha": ALPHA, "price": PENALTY, "unrelated": UNRELATED, "last": LAST}
    settings |= {"tried": chosen, "processor_seconds": round(process_time() - start)}
    write("frontier", seed=SEEDS, settings={"settings": settings}, tables=tables)


if __name__ == "__main__":
    main()
