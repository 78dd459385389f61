"""The numbers of the user guide: what `appendix/choose.md` and `appendix/costs.md` say is measured.

A page asks for a number by name, as in ``{measured}`race tree-full-synthetic` `` (tools/sphinx/guide.py). The
first word is the function of `MEASURED` that answers; its arguments come after it, between strokes.
Where a number stands for a verdict ("none", "all"), the function asserts it: if a new results file says
otherwise, the build fails and the sentence has to be written anew.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from math import ceil, log
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from mcutils import comparison

RESULTS = Path(__file__).parents[1] / "results"
FILES = ("comparison", "frontier", "benchmarks", "growth", "cluster")  # what a page of the guide depends on

BASELINE = "SVC"
TREES = {"RandomForest", "HistGradientBoosting", "AdaBoost.MH", "pruned tree", "DecisionTree"}
CLEAR = 2  # by what factor a time must be the smaller one to be marked
LEAST = 5.0  # fewer megabytes are not told from what Python takes
LEVEL = 2.0  # points of error that a linear classifier may add, in the chapter's example


@functools.cache
def stored(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


# -- results/comparison.json -----------------------------------------------------------------


@functools.cache
def entries() -> dict[tuple[str, str], dict[str, Any]]:
    """By data set and classifier."""
    rows = stored("comparison")["rows"]
    return {(row["data"], row["machine"]): row for row in rows if row["split"] == "resampled"}


def data_sets() -> list[str]:
    return [row["data"] for row in stored("comparison")["data"]]


def others() -> list[str]:
    """All classifiers but the baseline."""
    return list(dict.fromkeys(name for _, name in entries() if name != BASELINE))


def errors(where: str, name: str) -> list[float]:
    """Per cent of the test part, split by split."""
    row = entries()[where, name]
    return [100 * wrong / n for wrong, n in zip(row["mistakes"], row["n_test"], strict=True)]


@functools.cache
def judged(names: tuple[str, ...]) -> comparison.Family:
    """The differences of these from the baseline on all data sets, corrected together."""
    about = {row["data"]: row for row in stored("comparison")["data"]}
    size = {where: (row["n_train"][0], row["n_test"][0]) for where, row in about.items()}
    differences = {
        (where, name): [a - b for a, b in zip(errors(where, name), errors(where, BASELINE), strict=True)]
        for where in about
        for name in names
    }
    return comparison.family(differences, {key: size[key[0]] for key in differences})


def shown_worse() -> list[tuple[str, str]]:
    """Data set and classifier, where it is shown to be worse than the baseline. None is better."""
    family = judged(tuple(others()))
    assert all(family[key].mean > 0 for key in family.clear), "the page: nowhere is one shown to be better"
    return [(where, name) for where, name in product(data_sets(), others()) if (where, name) in family.clear]


def nowhere_worse() -> set[str]:
    return set(others()) - {name for _, name in shown_worse()}


def compared(what: str) -> str:
    """What the comparison of all classifiers has decided, in the words of the page."""
    return str(COMPARED[what]())


def within() -> str:
    """The data sets on which the linear classifier adds at most so many points, surely enough."""
    family = judged(("LogisticRegression", "RandomForest"))  # those of the chapter's table
    return listed([w for w in data_sets() if family[w, "LogisticRegression"].high < LEVEL])


def best_are_trees() -> str:
    """The data set on which all the smallest errors are those of trees."""
    found = []
    for where in data_sets():
        names = sorted([BASELINE, *others()], key=lambda name: mean(errors(where, name)))
        if set(names[: len(TREES)]) == TREES:
            found.append(where)
    return listed(found)


def listed(names: Sequence[str]) -> str:
    assert names, "the page names at least one"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def lowered() -> tuple[int, int]:
    """In how many cases a temperature lowered the logarithmic loss of a classifier's own probabilities."""
    own = [row for (_, name), row in entries().items() if row["own"] and name != "Dummy"]
    return sum(mean(row["log_loss_t"]) <= mean(row["log_loss"]) for row in own), len(own)


def saved() -> str:
    """Of how many classifiers deciding by expected cost lowered the bill, over all data sets."""
    names = [BASELINE, *others()]
    bills = [
        [
            sum(sum(entries()[w, name][key]) / entries()[w, name]["n_test"][0] for w in data_sets())
            for name in names
        ]
        for key in ("cost", "decided")
    ]
    lower = sum(decided < predicted for predicted, decided in zip(*bills, strict=True))
    assert lower == len(names), "the page: of all"
    return str(lower)


def smaller() -> str:
    """How many times the baseline's stored size is the linear classifier's, on the largest data sets."""
    about = {row["data"]: row["m"] for row in stored("comparison")["data"]}
    largest = sorted(about, key=lambda where: -about[where])[:4]
    sizes = [
        [median(entries()[w, name]["bytes"]) for w in largest] for name in (BASELINE, "LogisticRegression")
    ]
    return f"{min(a / b for a, b in zip(*sizes, strict=True)):.0f}"


def joint() -> str:
    """The classifiers with one optimum for all classes and a kernel: all differences are open."""
    names = ["Weston-Watkins, rbf", "Crammer-Singer, rbf"]
    assert nowhere_worse().issuperset(names), "the page: nowhere is one shown to be worse"
    return listed([name.removesuffix(", rbf").replace("-", "–") for name in names])


def worse_of(name: str) -> str:
    return listed([where for where, shown in shown_worse() if shown == name])


def same_trees() -> str:
    """Where both single trees are shown to be worse than the baseline."""
    both = [
        where
        for where in data_sets()
        if {(where, "DecisionTree"), (where, "pruned tree")} <= set(shown_worse())
    ]
    return listed(both)


COMPARED: dict[str, Callable[[], Any]] = {
    "all": lambda: 1 + len(others()),
    "others": lambda: len(others()),
    "data sets": lambda: len(data_sets()),
    "differences": lambda: len(others()) * len(data_sets()),
    "shown worse": lambda: len(shown_worse()),
    "nowhere worse": lambda: len(nowhere_worse()),
    "joint": joint,
    "forests": lambda: listed([n for n in ("RandomForest", "HistGradientBoosting") if n in nowhere_worse()]),
    "linear worse": lambda: worse_of("LogisticRegression"),
    "linear within": within,
    "largest": lambda: max(row["m"] for row in stored("comparison")["data"]),
    "best are trees": best_are_trees,
    "trees worse": same_trees,
    "lowered": lambda: lowered()[0],
    "own": lambda: lowered()[1],
    "saved": saved,
    "smaller": smaller,
}

# -- results/frontier.json, results/benchmarks.json ------------------------------------------


def many(method: str, k: str, what: str = "error") -> str:
    """Of a method with k classes: the error in per cent, seconds to train, or ms for 1000 answers."""
    rows = [row for row in stored("frontier")["rows"] if (row["method"], row["k"]) == (method, int(k))]
    if what == "error":
        return f"{100 * mean(row['error'] for row in rows):.0f}"
    if what == "answers":
        return significant(1000 * mean(row["predict_seconds"] for row in rows))
    return significant(mean(row["fit_seconds"] for row in rows))


# as the page names them, and as the file does
MANY = {
    "discriminant analysis": "nearest mean, pooled",
    "`SoftmaxRegression`": "softmax",
    "`CrammerSinger`": "Crammer-Singer",
    "least squares, `RidgeOneVsAll`": "one-vs-all",
    "`FilterTree`, classes in the order of their means": "filter tree, means",
    "`LabelTree` of 32 branches, with discriminant analysis": "label tree 32, means, pooled",
}


def many_rows(k: str) -> list[tuple[str, str, str, str]]:
    """Method, error, seconds to train, milliseconds for 1000 answers."""
    return [
        (shown, many(method, k), many(method, k, "training"), many(method, k, "answers"))
        for shown, method in MANY.items()
    ]


def unrelated(method: str) -> str:
    """The error of a method on classes without relatives, in per cent."""
    rows = [row for row in stored("frontier")["unrelated"] if row["method"] == method]
    return f"{100 * mean(row['error'] for row in rows):.0f}"


def race(identifier: str) -> str:
    """Our time over the peer's, the median of a race."""
    return significant(one_race(identifier)["ratio"]["median"])


def races(begin: str) -> str:
    """The least and the largest of these ratios over all races whose name begins so."""
    ratios = [r["ratio"]["median"] for r in stored("benchmarks")["races"] if r["id"].startswith(begin)]
    return f"{significant(min(ratios))} to {significant(max(ratios))}"


def one_race(identifier: str) -> dict[str, Any]:
    found = {row["id"]: row for row in stored("benchmarks")["races"]}
    return dict(found[identifier])


def significant(value: float) -> str:
    """Two digits, as far as they are known."""
    return f"{float(f'{value:.2g}'):g}"


# -- results/growth.json ----------------------------------------------------------------------


class Cost(NamedTuple):
    """How time and memory of a fit grow, and the statements and sections that say so, if there are any."""

    time: str
    memory: str
    labels: tuple[str, ...] = ()


# m examples, d features (of sparse matrices: stored entries of a row), k classes.
GROWTH = {
    "CrammerSinger": Cost(
        "linear: $mkd$ a pass over the examples. With a kernel: $md$ for each example that joins the working "
        "set, so up to $m^2d$. The bound on the number of passes grows with $C$",
        "linear: $mk$ numbers, of which $kd$ are kept. With a kernel: $mk$, and `cache_size` (256 MiB)",
        ("prop-solver-rate", "prop-solver-shrink"),
    ),
    "WestonWatkins": Cost(
        "as `CrammerSinger`; the bound on the number of passes is larger",
        "as `CrammerSinger`",
        ("prop-solver-rate",),
    ),
    "SoftmaxRegression": Cost(
        "$mkd$ for each product with X; up to 600 of them in each Newton step",
        "$mk + kd$ numbers, with up to 200 dense features also $kd^2$ where that saves time",
        ("prop-softmax-gradient",),
    ),
    "SubgradientMachine": Cost(
        "$mkd$ an epoch, and `max_iter` epochs", "$kd$ numbers", ("thm-subgradient-rate",)
    ),
    "MulticlassPerceptron": Cost(
        "$mkd$ an epoch, until an epoch is without a mistake or `max_iter` are over",
        "$kd$ numbers; with a kernel, the examples of all mistakes",
        ("cor-perceptron-passes", "prop-perceptron-average"),
    ),
    "KernelPerceptron": Cost(
        "$m$ for each mistake of all epochs, and $md$ for each example with one; two classes only",
        "a row of the kernel, $m$ numbers, for each example with a mistake",
        ("cor-perceptron-passes",),
    ),
    "BinarySVM": Cost(
        "$md$ for each kernel row that is computed, and $m$ a step; two classes only",
        "the Gram matrix, $m^2$ numbers, up to 4096 examples; of more, rows of up to 256 MiB",
    ),
    "OneVsAll": Cost("$k$ fits to all $m$ examples", "$k$ classifiers", ("prop-frontier-cost",)),
    "OneVsOne": Cost(
        "$\\frac{k(k-1)}2$ fits, which read $(k-1)m$ examples in all",
        "$\\frac{k(k-1)}2$ classifiers",
        ("prop-frontier-cost", "prop-reduction-cost"),
    ),
    "OutputCode": Cost(
        "$l$ fits, one for each column; and the search for a good random code, which does not depend on $m$",
        "$l$ classifiers",
        ("prop-frontier-cost",),
    ),
    "RidgeOneVsAll": Cost(
        "$md\\min(m, d)$ for one factorisation, and $kd^2$",
        "$kd + \\min(m, d)^2$ numbers",
        (),
    ),
    "LabelTree": Cost(
        "each example is read once on each level; an answer asks about $\\log_2k$ classifiers. "
        "The order by confusions takes $mk$ numbers first",
        '$k - 1$ classifiers; with `order="confusion"` $mk$ numbers in training',
        ("prop-frontier-trees",),
    ),
    "FilterTree": Cost(
        "each example is read at most once on each level; an answer asks about $\\log_2k$ classifiers",
        "$k - 1$ classifiers",
        ("prop-frontier-trees",),
    ),
    "DecisionTree": Cost(
        "$dm$ to sort, and to try all thresholds, on each level of the tree, but for logarithms; "
        "$2^{v-1}$ for $v$ levels of a category with three classes and more",
        "$md$ numbers, and $k$ for each node",
        ("prop-tree-count", "thm-tree-sorted"),
    ),
    "AdaBoostMH": Cost(
        "stumps: $dm\\log m + mkd\\,T$ for $T$ rounds", "$md + mk$ numbers", ("prop-boosting-cost",)
    ),
    "WithProbabilities": Cost(
        "`cv` fits of its classifier for the scores, and one more", "that of one fit", ()
    ),
}


def costs(name: str) -> list[dict[str, Any]]:
    """The rows of an estimator and its peers, of all its settings."""
    return [row for row in stored("growth")["rows"] if row["estimator"].partition("(")[0] == name]


def base(row: dict[str, Any], *free: str) -> bool:
    """Whether a row has the usual numbers of features and classes, but for these."""
    usual = {"d": usual_features(), "k": usual_classes(row["estimator"])}
    return all(row[key] == value for key, value in usual.items() if key not in free)


@functools.cache
def usual_features() -> int:
    return min(row["d"] for row in stored("growth")["rows"])


@functools.cache
def usual_classes(estimator: str) -> int:
    """The fewest that it was given."""
    return min(row["k"] for row in stored("growth")["rows"] if row["estimator"] == estimator)


@functools.cache
def sizes() -> list[int]:
    """The numbers of examples that all were fitted to."""
    return sorted(set.intersection(*(set(of_size(measured)) for measured in series().values())))


def series() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The rows of each estimator and of its peer, by our estimator and the package."""
    result: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in stored("growth")["rows"]:
        result.setdefault((row["estimator"], row["package"]), []).append(row)
    return result


def cost_rows() -> list[tuple[str, str]]:
    """What was measured of each estimator of ours, and of scikit-learn's in its place."""
    rows = []
    for (name, package), ours in series().items():
        if package == "mcutils":
            theirs = series().get((name, "scikit-learn"), [])
            rows.append((in_words(ours, beside=theirs), in_words(theirs, beside=ours) if theirs else "–"))
    return rows


def shown(name: str) -> str:
    """An estimator and its parameters, in pieces that fit into a line of a small screen."""
    head, _, rest = name.removesuffix(")").partition("(")
    parameters = ", ".join(f"`{part}`" for part in rest.split(", ") if part)
    return f"`{head}` with {parameters}" if parameters else f"`{head}`"


def of_size(measured: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """By the number of examples, with the usual features and classes."""
    return {row["m"]: row for row in measured if base(row)}


def in_words(measured: list[dict[str, Any]], beside: list[dict[str, Any]]) -> str:
    """The seconds at each size, bold where the peer takes CLEAR times as many; then memory and error."""
    *_, largest = sizes()
    of_m, n_test = of_size(measured), stored("growth")["settings"]["n_test"]
    last = of_m[largest]
    seconds = [significant(of_m[m]["fit_seconds"]) for m in sizes()]
    if beside and CLEAR * last["fit_seconds"] < of_size(beside)[largest]["fit_seconds"]:
        seconds[-1] = f"**{seconds[-1]}**"
    error = f"{100 * last['mistakes'] / n_test:.1f} %"
    return f"{shown(last['name'])}\n\n{', '.join(seconds)} s; {max(1, round(last['peak']))} MB; {error}"


WORDS = {"m": "examples", "d": "features", "k": "classes"}


def curve(measured: list[dict[str, Any]], what: str, value: str) -> list[tuple[int, float]]:
    """What was measured with more and more of one thing, the others at the middle."""
    middle = sizes()[1]
    return sorted(
        (row[what], row[value]) for row in measured if base(row, what) and (what == "m" or row["m"] == middle)
    )


def exponent(points: list[tuple[int, float]]) -> float | None:
    """The slope of the best line through the points, both scales logarithmic; None of fewer than two."""
    if len(points) < 2:
        return None
    logs = [(log(x), log(y)) for x, y in points]
    middle = [mean(column) for column in zip(*logs, strict=True)]
    across = sum((x - middle[0]) ** 2 for x, _ in logs)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in logs) / across


def growth(measured: list[dict[str, Any]], value: str = "fit_seconds") -> dict[str, float]:
    """The exponents of the seconds, or of the megabytes as far as they are more than noise."""
    found = {}
    for what in WORDS:
        points = [point for point in curve(measured, what, value) if value != "peak" or point[1] >= LEAST]
        slope = exponent(points)
        if slope is not None:
            found[what] = slope
    return found


def times_in_words(name: str) -> str:
    """The exponents of the times of an estimator, for all its settings, and of its peers."""
    found = []
    for (setting, package), measured in series().items():
        if setting.partition("(")[0] == name:
            slopes = growth(measured)
            own = next(row["name"] for row in measured)
            theirs = " of scikit-learn" if package != "mcutils" else ""
            listing = ", ".join(f"{WORDS[what]} {slope:z.2f}" for what, slope in slopes.items())
            found.append(f"{shown(own)}{theirs}: {listing}")
    return "; ".join(dict.fromkeys(found))


def cost(estimator: str, m: str, what: str = "seconds", package: str = "mcutils") -> str:
    """Of the rows with the usual features and classes: seconds, megabytes, kilobytes kept, or the error."""
    (row,) = [row for row in series()[estimator, package] if row["m"] == int(m) and base(row)]
    if what == "error":
        return f"{100 * row['mistakes'] / stored('costs')['settings']['n_test']:.1f}"
    return significant(row[{"seconds": "fit_seconds", "megabytes": "peak", "kilobytes": "kilobytes"}[what]])


def usual(what: str) -> str:
    """The features or the classes of most rows."""
    return str(Counter(row[what] for row in stored("growth")["rows"]).most_common(1)[0][0])


def circumstances() -> str:
    """How the costs were measured."""
    result = stored("growth")
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    shared = "other work ran on it at the same time; " if result["settings"]["machine was shared"] else ""
    return (
        f"{machine['system']}, {machine['processor']}, {machine['cores']} cores, one thread; "
        f"{shared}{result['settings']['cpu_seconds']} processor seconds in all; {versions}"
    )


def cost_in_words(name: str) -> str:
    """What the page of an estimator says: how its costs grow, and what was measured."""
    known = GROWTH[name]
    *_, largest = sizes()
    usual = [row for row in costs(name) if row["m"] == largest and base(row)]
    times = [f"{shown(row['name'])} {significant(row['fit_seconds'])} s" for row in usual]
    labels = f" ({', '.join(known.labels)})" if known.labels else ""
    return (
        f"Time of a fit: {known.time}{labels}. Memory, beside X: {known.memory}. "
        f"Measured with m = {largest:,}, d = {usual[0]['d']}, k = {usual[0]['k']}: {'; '.join(times)}."
    )


# -- results/cluster.json --------------------------------------------------------------------

WAYS = {"none": "One process", "dask": "Two of Dask", "ray": "Two of Ray"}


def by_task() -> dict[str, dict[str, dict[str, Any]]]:
    """The rows of each task, by how many workers it had."""
    rows = stored("cluster")["rows"]
    tasks = dict.fromkeys(row["task"] for row in rows)
    return {task: {row["workers"]: row for row in rows if row["task"] == task} for task in tasks}


def cluster_rows() -> list[tuple[str, str, str]]:
    """Task, seconds of each way, and the megabytes that the client sent."""
    rows = []
    for task, ways in by_task().items():
        assert ways.keys() == WAYS.keys(), "the page: two backends"
        times = []
        for way, row in ways.items():
            busiest = f" ({significant(row['busiest'])})" if "busiest" in row else ""
            times.append(f"{WAYS[way]}: {significant(row['seconds'])} s{busiest}")
        sent, data = (significant(ways["dask"][key] / 1e6) for key in ("sent", "data_bytes"))
        rows.append((f"`{task}`", "\n\n".join(times), f"{sent} ({data}) MB"))
    return rows


def shares() -> list[float]:
    """What the busiest of two workers computed, as a part of what one process did."""
    return [ways["dask"]["busiest"] / ways["none"]["busiest"] for ways in by_task().values()]


def cluster(what: str) -> str:
    """What the page on clusters says was measured."""
    result = stored("cluster")
    settings, disk = result["settings"], result["disk"]
    if what in ("kills", "lost", "error"):
        plain = [row.get("error") for row in result["killed"] if row["client"] == "Client"]
        keeping = [row.get("error") for row in result["killed"] if row["client"] == "KeepingClient"]
        assert len(plain) == len(keeping), "the page: as often"
        assert not any(keeping), "the page: none is lost"
        (error,) = set(filter(None, plain))
        return {"kills": str(len(plain)), "lost": str(len(plain) - plain.count(None)), "error": error}[what]
    if what == "faster":
        faster = sum(ways["dask"]["seconds"] < ways["none"]["seconds"] for ways in by_task().values())
        return str(faster)
    if what == "tasks":
        return str(len(by_task()))
    if what == "share":
        return f"{min(shares()):.2f} to {max(shares()):.2f}"
    if what == "cores":
        return str(result["machine"]["cores"])
    if what == "circumstances":
        names = ("joblib", "distributed", "ray")
        machine, used = result["machine"], ", ".join(f"{name} {settings[name]}" for name in names)
        return f"{machine['system']}, {machine['processor']}; {used}"
    if what in disk:
        assert disk["more"] < disk["allowed"] < disk["table"], "the page: larger than memory"
        return significant(disk[what])
    return f"{settings[what]:,}"


def rows_for(error: str, delta: str) -> str:
    """How many rows Hoeffding's inequality asks for (prop-risk-hoeffding)."""
    return f"{ceil(log(2 / float(delta)) / (2 * float(error) ** 2)):,}"


MEASURED: dict[str, Callable[..., str]] = {
    "compared": compared,
    "many": many,
    "unrelated": unrelated,
    "race": race,
    "races": races,
    "cost": cost,
    "usual": usual,
    "largest": lambda: f"{sizes()[-1]:,}",
    "middle": lambda: f"{sizes()[1]:,}",
    "least": lambda: f"{LEAST:g}",
    "sizes": lambda: listed([f"{m:,}" for m in sizes()]),
    "circumstances": circumstances,
    "cluster": cluster,
    "rows": rows_for,
}


def measured(name: str) -> str:
    """The number that a page asks for."""
    function, _, rest = name.partition(" ")
    if function not in MEASURED:
        raise ValueError(f"{function!r} measures nothing; there are {', '.join(MEASURED)}")
    return MEASURED[function](*(part.strip() for part in rest.split("|") if part.strip()))
