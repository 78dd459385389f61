"""Classifiers that minimise each surrogate, with more and more examples: what chapter `consistency` reads.

Drawn examples: the inputs are places on a circle, the class probabilities of each place are known, and so is
the error of every rule. A kernel classifier is trained with each surrogate on m examples, with a penalty that
fades as m grows. Where no class has a majority, the surrogates part; where one has, they do not. Scores that
are nearer to each other than the training is accurate are ties, and tied classes share the prediction.

Real examples: the same classifiers with a Gaussian kernel, the penalty chosen on a validation part.
Every classifier comes with a certified gap between its objective and the least one.
"""

from collections.abc import Iterator
from typing import Any

import cvxopt
import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import expit
from threadpoolctl import threadpool_limits

from experiments import write
from mcutils import consistency, data
from mcutils.reduction import pairs, votes
from mcutils.softmax import softmax

SIZES, DRAWS, FADE = (100, 1000, 10_000, 100_000, 1_000_000), 10, 10.0
TIE = 0.01  # scores nearer than this are tied; those of drawn examples are certified to be more accurate
ALL_PAIRS = "all-pairs hinge"
CLASSIFIERS = (*consistency.SURROGATES, ALL_PAIRS)
PENALTIES, SPLITS = (1.0, 10.0, 100.0, 1000.0, 10_000.0), 10
# up to this many multipliers Crammer-Singer is solved without forming products, slowly and precisely
PRECISE = 800


# --- one classifier ---------------------------------------------------------------------------------------


def train(surrogate: str, X: np.ndarray, shares: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """The W that minimises half its squared norm plus C times the mean loss of the scores X W.

    Row i of the shares is how often input i comes with each class; the sum of all is 1. Returned with an
    upper bound of how far the objective is above its minimum.
    """
    solve = polyhedral if surrogate in consistency.POLYHEDRAL else smooth
    return solve(surrogate, X, shares, C)


def polyhedral(surrogate: str, X: np.ndarray, shares: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """By the dual: cvxopt finds a multiplier for every piece of the loss at every input."""
    pieces = consistency._pieces(surrogate, shares.shape[1])
    a, b, groups = (part.astype(float) for part in (pieces.a, pieces.b, pieces.groups))
    penalties = C * shares @ pieces.weights.T  # of the groups, at each input
    i, piece = np.nonzero((penalties @ groups > 0) & b.any(axis=1))
    at, group = np.nonzero(penalties > 0)
    sums = groups[np.ix_(group, piece)] * (at[:, None] == i)
    solved = cvxopt.solvers.qp(
        cvxopt.matrix((X @ X.T)[np.ix_(i, i)] * (b @ b.T)[np.ix_(piece, piece)]),
        cvxopt.matrix(-a[piece]),
        cvxopt.sparse([cvxopt.matrix(sums), cvxopt.spdiag([-1.0] * len(i))]),
        cvxopt.matrix(np.concatenate([penalties[at, group], np.zeros(len(i))])),
        kktsolver="ldl" if surrogate == "crammer_singer" and len(i) <= PRECISE else "chol",
        options={"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12},
    )
    result = np.zeros((len(X), len(a)))
    result[i, piece] = np.maximum(np.array(solved["x"]).ravel(), 0.0)
    beyond = np.divide(result @ groups.T, penalties, out=np.zeros_like(penalties), where=penalties > 0)
    result /= np.maximum(1.0, beyond) @ groups
    W = -X.T @ (result @ b)
    square = 0.5 * np.vdot(W, W)
    primal = square + C * np.vdot(shares, consistency.losses(surrogate, X @ W))
    return W, primal - (np.sum(result @ a) - square)


def smooth(surrogate: str, X: np.ndarray, shares: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """By scipy; the objective is above its minimum by at most half the squared norm of its gradient."""
    k, total = shares.shape[1], shares.sum(axis=1, keepdims=True)

    def slope(s: np.ndarray) -> np.ndarray:
        if surrogate == "squared":
            return 2 * total * s - 2 * (2 * shares - total)
        return total * (softmax(s) if surrogate == "softmax" else expit(s)) - shares

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        W = w.reshape(-1, k)
        s = X @ W
        value = 0.5 * np.vdot(W, W) + C * np.vdot(shares, consistency.losses(surrogate, s))
        return value, (W + C * X.T @ slope(s)).ravel()

    limits = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-6}
    w = minimize(objective, np.zeros(X.shape[1] * k), jac=True, method="L-BFGS-B", options=limits).x
    gradient = objective(w)[1]
    return w.reshape(-1, k), 0.5 * np.vdot(gradient, gradient)


def all_pairs(X: np.ndarray, shares: np.ndarray, C: float) -> list[tuple[np.ndarray, float]]:
    """A hinge classifier for every pair: Crammer-Singer of two classes, with the difference of the scores."""
    return [train("crammer_singer", X, shares[:, pair], C) for pair in pairs(shares.shape[1])]


def scores(
    model: str, X: np.ndarray, shares: np.ndarray, C: float, Z: np.ndarray
) -> tuple[np.ndarray, float]:
    """The scores at Z of a classifier trained at X, and how far each may be from those of the best one.

    The objective grows by half the squared distance from its minimiser at least. Votes are counted with half
    a vote for a tied duel; their accuracy is that of the duels.
    """
    length = np.sqrt(np.square(Z).sum(axis=1).max())
    if model != ALL_PAIRS:
        W, gap = train(model, X, shares, C)
        return Z @ W, length * np.sqrt(2 * max(gap, 0.0))
    trained = all_pairs(X, shares, C)
    duels = np.column_stack([Z @ (W[:, 0] - W[:, 1]) for W, _ in trained])
    gap = max(gap for _, gap in trained)
    return votes(np.where(np.abs(duels) < TIE, 0.0, duels)), length * np.sqrt(2 * max(gap, 0.0))


# --- drawn examples ---------------------------------------------------------------------------------------


def circle(k: int, amplitude: float, places: int) -> np.ndarray:
    """Probabilities of k classes at places on a circle, each class most probable on an arc of its own."""
    angles = 2 * np.pi * (np.arange(places) + 0.5) / places
    return 1 / k + amplitude * np.cos(angles[:, None] - 2 * np.pi * np.arange(k) / k)


def designs() -> dict[str, np.ndarray]:
    """The probabilities at every place; all places are equally frequent."""
    three = circle(3, 0.15, 36)
    return {
        "no majority": three,
        "majority": 0.3 * (three == three.max(axis=1, keepdims=True)) + 0.7 * three,
        "no majority, k = 5": circle(5, 0.12, 40),
    }


def place_features(places: int) -> np.ndarray:
    """A row for each place, with inner products exp(20 (cos difference of angles - 1)) + 1."""
    angles = 2 * np.pi * np.arange(places) / places
    values, vectors = np.linalg.eigh(np.exp(20 * (np.cos(angles[:, None] - angles) - 1)) + 1)
    return vectors * np.sqrt(values)


def draw(p: np.ndarray, m: int, seed: int) -> np.ndarray:
    """How many of m examples fall on each place and class."""
    cells = p.ravel() / p.sum()
    return np.random.default_rng([m, seed]).multinomial(m, cells).reshape(p.shape)


def error(s: np.ndarray, p: np.ndarray, tie: float) -> tuple[float, float]:
    """The probability of a mistake, where tied classes share it; and the share of places with a tie."""
    top = s >= s.max(axis=1, keepdims=True) - tie
    right = (top * p).sum(axis=1) / top.sum(axis=1)
    return float(1 - right.mean()), float((top.sum(axis=1) > 1).mean())


def limit(model: str, p: np.ndarray) -> float:
    """The error of scores that minimise the conditional risk at each place."""
    if model == ALL_PAIRS:
        first, second = pairs(p.shape[1]).T
        best = votes(p[:, first] - p[:, second])
    else:
        best = np.array([consistency.minimise(model, row / row.sum()).scores for row in p])
    return error(best, p, 1e-9)[0]


def drawn(name: str, p: np.ndarray, X: np.ndarray) -> Iterator[dict[str, Any]]:
    """Each classifier on each number of examples, with a penalty that grows as the root of that number."""
    for model in CLASSIFIERS:
        for m in SIZES:
            result = []
            for seed in range(DRAWS):
                s, accuracy = scores(model, X, draw(p, m, seed) / m, FADE * m**0.5, X)
                if 2 * accuracy > TIE:
                    raise RuntimeError(f"{model}, m={m}: scores are known to {accuracy:.1e} only")
                result.append(error(s, p, TIE))
            wrong, tied = np.round(np.transpose(result), 6).tolist()
            print(f"{name:20} {model:16} {m:8} {np.mean(wrong):.4f}, ties {np.mean(tied):.2f}", flush=True)
            yield {"design": name, "machine": model, "m": m, "errors": wrong, "tied": tied}


# --- real examples ----------------------------------------------------------------------------------------


def real(name: str) -> Iterator[dict[str, Any]]:
    """Mistakes on the test third of each split; the penalty has the fewest on the validation third."""
    result = data.load(name)
    X, labels = result.X, np.unique(result.y, return_inverse=True)[1]
    mistakes: dict[str, list[int]] = {model: [] for model in CLASSIFIERS}
    worst = dict.fromkeys(CLASSIFIERS, 0.0)
    unsure: list[bool] = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(X))
        train_rows, validation, test = np.array_split(order, 3)
        scaled = (X - X[train_rows].mean(axis=0)) / X[train_rows].std(axis=0)
        K = np.exp(-cdist(scaled, scaled[train_rows], "sqeuclidean") / X.shape[1]) + 1
        values, vectors = np.linalg.eigh(K[train_rows])
        Z = K @ (vectors[:, values > 1e-10] / np.sqrt(values[values > 1e-10]))
        shares = np.eye(labels.max() + 1)[labels[train_rows]] / len(train_rows)
        for model in CLASSIFIERS:
            tried = []
            for C in PENALTIES:
                s, accuracy = scores(model, Z[train_rows], shares, C, Z)
                wrong = s.argmax(axis=1) != labels
                tried.append((wrong[validation].sum(), C, wrong[test].sum(), accuracy, s[test]))
            best = min(tried, key=lambda one: one[:2])
            mistakes[model].append(int(best[2]))
            worst[model] = max(worst[model], best[3])
            if model == "softmax":
                unsure += (softmax(best[4]).max(axis=1) < 0.5).tolist()
    for model in CLASSIFIERS:
        print(f"{name:9} {model:16} {sum(mistakes[model])} mistakes, {worst[model]:.0e}", flush=True)
        yield {"data": name, "machine": model, "n_test": len(test), "mistakes": mistakes[model]}
    print(f"{name:9} without a probability above 1/2: {np.mean(unsure):.4f}")
    yield {"data": name, "no_majority": round(float(np.mean(unsure)), 4)}


def main() -> None:
    """Run everything and write the result file."""
    with threadpool_limits(1):
        rows, bayes, limits = [], {}, {}
        for name, p in designs().items():
            bayes[name] = round(float(1 - p.max(axis=1).mean()), 6)
            limits[name] = {model: round(limit(model, p), 6) for model in CLASSIFIERS}
            print(f"{name:20} limits {limits[name]}", flush=True)
            rows += drawn(name, p, place_features(len(p)))
        tables = [table for name in ("penguins", "vehicle") for table in real(name)]
    settings = {
        "sizes": SIZES,
        "draws": DRAWS,
        "fade": FADE,
        "tie": TIE,
        "prices": PENALTIES,
        "splits": SPLITS,
    }
    head = {"settings": settings, "bayes": bayes, "limits": limits}
    seeds = list(range(max(DRAWS, SPLITS)))
    write("consistency", seed=seeds, settings=head, tables={"rows": rows, "real": tables})


if __name__ == "__main__":
    main()
