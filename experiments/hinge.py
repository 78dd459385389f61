"""What costs and a class-sensitive map are worth where they could help: what chapter `hinge` reads.

Two studies. On real labels, glasses and vowels: Crammer-Singer with and without the costs of a tree; on the
glasses also Weston-Watkins with the block map, the map of that tree and the map of a tree with the classes
exchanged. Each example is classified by a model that has seen nothing of its fold (for the vowels: not the
speaker); C is chosen inside the training part, by five folds again, as the one of least mean distance in the
tree. So no prediction takes part in a choice. On drawn data, with classes that were made along a
tree: the same three maps, from few examples to many, each at the penalty with the fewest mistakes, and at the
one with the fewest gross mistakes.
"""

import numpy as np

from experiments import write
from mcutils import data, hinge, risk
from mcutils.certificate import Certificate
from mcutils.hinge import HingeProblem
from mcutils.jit import compiled

KINDS = ("float", "not float", "vehicle", "container", "tableware", "headlamp")
PARENTS = {"float": "building", "not float": "building", "building": "window", "vehicle": "window"}
PARENTS |= {"window": "glass", "other": "glass"}
PARENTS |= dict.fromkeys(("container", "tableware", "headlamp"), "other")
EXCHANGED = (0, 3, 4, 1, 2, 5)  # windows and others mixed
VOWELS = {"hid": "front", "hId": "front", "hEd": "front", "hAd": "front"}
VOWELS |= {"hYd": "unrounded", "had": "unrounded", "hed": "unrounded"}
VOWELS |= {"hOd": "rounded", "hod": "rounded", "hUd": "rounded", "hud": "rounded"}
VOWELS |= dict.fromkeys(("front", "unrounded", "rounded"), "vowel")
PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
LOW_PENALTIES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)
SPLITS, FOLDS, TOL = 10, 5, 3e-3
LEAVES, D, OWN, NOISE = 8, 20, 0.5, 1.5
SIZES, DRAWS, TEST = (1, 2, 4, 8, 16), 100, 50


@compiled
def largest_gap(X, y, C, cost, W, A, sweeps):
    """Exact steps in the multipliers of one example, Crammer-Singer with the block map: W, A in place."""
    k = W.shape[0]
    for _ in range(sweeps):
        for i in range(len(y)):
            square = X[i] @ X[i]
            want = A[i] + (W @ X[i] + cost[y[i]]) / square
            down = np.sort(want)[::-1]
            total, level = 0.0, 0.0
            for j in range(k):
                total += down[j]
                if down[j] > (total - C) / (j + 1):
                    level = (total - C) / (j + 1)
            for r in range(k):
                new = max(want[r] - level, 0.0)
                W[r] += (A[i, r] - new) * X[i]
                A[i, r] = new


@compiled
def all_gaps(X, y, C, cost, B, V, A, sweeps):
    """Exact steps in one multiplier, Weston-Watkins with the map of the matrix B: V, A in place."""
    k, p = B.shape
    for _ in range(sweeps):
        for i in range(len(y)):
            square = X[i] @ X[i]
            z = V @ X[i]
            for r in range(k):
                if r != y[i]:
                    u = B[r] - B[y[i]]
                    new = A[i, r] + (cost[y[i], r] + u @ z) / (u @ u * square)
                    new = min(max(new, 0.0), C)
                    step = new - A[i, r]
                    if step != 0.0:
                        A[i, r] = new
                        z -= step * square * u
                        for j in range(p):
                            if u[j] != 0.0:
                                V[j] -= step * u[j] * X[i]


def train(X: np.ndarray, y: np.ndarray, C: float, cost: np.ndarray, B: np.ndarray | None) -> np.ndarray:
    """The rows of the classes; Crammer-Singer without a matrix B, Weston-Watkins with one. Certified."""
    k = len(cost)
    A = np.zeros((len(y), k))
    if B is None:
        A[np.arange(len(y)), y] = C
        V, loss, class_map = np.zeros((k, X.shape[1])), "crammer_singer", None
    else:
        V = np.zeros((B.shape[1], X.shape[1]))
        loss, class_map = "weston_watkins", hinge.ClassMap(B)
    task = HingeProblem(y, loss=loss, C=C, cost=cost)
    for _ in range(1000):
        if B is None:
            largest_gap(X, y, C, cost, V, A, 20)
        else:
            all_gaps(X, y, C, cost, B, V, A, 20)
        value = task.objective(V, X, class_map=class_map)
        lower = task.dual_objective(A * (1 - np.eye(k)[y]), X, class_map=class_map)
        if Certificate(value, lower).certifies(TOL):
            return V if B is None else B @ V
    raise RuntimeError(f"no solution for C = {C}")


def problem(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Scaled features with a constant one, classes, edges between classes, gross groups, speakers."""
    given = data.load(name)
    X = (given.X - given.X.mean(axis=0)) / given.X.std(axis=0)
    names, y = np.unique(given.y, return_inverse=True)
    if name == "glass":
        parents, kinds, groups = PARENTS, list(KINDS), np.array([0, 0, 0, 1, 1, 1])
    else:
        parents, kinds = VOWELS, [str(one) for one in names]
        groups = np.unique([VOWELS[one] for one in kinds], return_inverse=True)[1]
    distance = risk.costs_from_tree(parents, kinds, scale=False).astype(float)
    return np.column_stack([X, np.ones(len(X))]), y, distance, groups, given.groups


def models(name: str) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    """Name, costs and map of each classifier."""
    distance = problem(name)[2]
    flat = 1.0 - np.eye(len(distance))
    result: dict[str, tuple[np.ndarray, np.ndarray | None]] = {
        "all mistakes cost 1": (flat, None),
        "tree, largest cost 1": (distance / distance.max(), None),
        "tree, next relatives 1": (distance / 2, None),
    }
    if name == "glass":
        tree = hinge.ClassMap.hierarchy(PARENTS, list(KINDS)).matrix
        result["block map"] = (flat, np.eye(len(KINDS)))
        result["map of the tree"] = (flat, tree)
        result["map of a wrong tree"] = (flat, tree[list(EXCHANGED)])
    return result


def parts(rows: np.ndarray, speakers: np.ndarray | None, seed: object) -> np.ndarray:
    """Five folds of these rows, without cutting a speaker in two."""
    units = rows if speakers is None else speakers[rows]
    _, place = np.unique(units, return_inverse=True)
    return (np.random.default_rng(seed).permutation(place.max() + 1) % FOLDS)[place]


def folded(X: np.ndarray, y: np.ndarray, model: tuple, C: float, fold: np.ndarray) -> np.ndarray:
    """Predictions for every example by a classifier that has not seen its fold."""
    predicted = np.empty_like(y)
    for part in range(FOLDS):
        seen = fold != part
        predicted[~seen] = np.argmax(X[~seen] @ train(X[seen], y[seen], C, *model).T, axis=1)
    return predicted


def nested(name: str, model: str) -> dict[str, object]:
    """Chosen penalties and test results, fold by fold, of one classifier on real labels."""
    X, y, distance, groups, speakers = problem(name)
    kind, everything = models(name)[model], np.arange(len(y))
    outer = [np.unique(speakers, return_inverse=True)[1]] if speakers is not None else []
    outer = outer or [parts(everything, None, split) for split in range(SPLITS)]
    chosen, tested = [], []
    for split, fold in enumerate(outer):
        for part in range(fold.max() + 1):
            seen = fold != part
            inner = parts(everything[seen], speakers, [split, part])
            trials = [distance[y[seen], folded(X[seen], y[seen], kind, C, inner)].mean() for C in PENALTIES]
            C = PENALTIES[int(np.argmin(trials))]
            predicted = np.argmax(X[~seen] @ train(X[seen], y[seen], C, *kind).T, axis=1)
            truth = y[~seen]
            chosen.append(C)
            gross = groups[predicted] != groups[truth]
            tested.append(
                (len(truth), (predicted != truth).sum(), gross.sum(), distance[truth, predicted].sum())
            )
    row: dict[str, object] = {"data": name, "machine": model, "rounds": len(outer), "prices": chosen}
    for key, column in zip(("n", "mistakes", "gross", "distance"), np.array(tested).T, strict=True):
        row[key] = [int(value) for value in column]
    return row


def leaf_tree(order: tuple[int, ...]) -> np.ndarray:
    """The map of a tree with eight leaves, in this order, two by two."""
    parents: dict[object, object] = {leaf: f"pair {place // 2}" for place, leaf in enumerate(order)}
    parents |= {f"pair {j}": f"half {j // 2}" for j in range(4)} | {"half 0": "all", "half 1": "all"}
    return hinge.ClassMap.hierarchy(parents, list(range(LEAVES))).matrix


def maps() -> dict[str, np.ndarray]:
    """The three maps that are compared on drawn data."""
    return {
        "block map": np.eye(LEAVES),
        "map of the tree": leaf_tree(tuple(range(LEAVES))),
        "map of a wrong tree": leaf_tree((0, 4, 2, 6, 1, 5, 3, 7)),
    }


def drawn(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """n examples a class and a test sample: middles are sums of what a class shares with its relatives."""
    rng = np.random.default_rng([seed, n])
    tree = maps()["map of the tree"]
    parts = rng.normal(size=(tree.shape[1], D))
    parts[:LEAVES] *= OWN
    labels = [np.repeat(np.arange(LEAVES), size) for size in (n, TEST)]
    train_X, test_X = ((tree @ parts)[y] + NOISE * rng.normal(size=(len(y), D)) for y in labels)
    return train_X, labels[0], test_X, labels[1]


def shared(name: str, n: int) -> dict[str, object]:
    """Mean shares of mistakes and of gross ones for every C of one map; all draws at its best ones."""
    B, flat = maps()[name], 1.0 - np.eye(LEAVES)
    wrong, gross = np.zeros((2, DRAWS, len(LOW_PENALTIES)))
    for draw in range(DRAWS):
        X, y, fresh, truth = drawn(n, draw)
        for j, C in enumerate(LOW_PENALTIES):
            predicted = np.argmax(fresh @ train(X, y, C, flat, B).T, axis=1)
            wrong[draw, j] = (predicted != truth).mean()
            gross[draw, j] = (predicted // 2 != truth // 2).mean()
    best, least = int(wrong.mean(axis=0).argmin()), int(gross.mean(axis=0).argmin())
    return {
        "map": name,
        "n": n,
        "wrong": [round(float(v), 5) for v in wrong.mean(axis=0)],
        "gross": [round(float(v), 5) for v in gross.mean(axis=0)],
        "best": best,
        "draws": wrong[:, best].tolist(),
        "gross draws": gross[:, best].tolist(),
        "best for gross": least,
        "least gross draws": gross[:, least].tolist(),
    }


def main() -> None:
    """Run both studies and write the result file."""
    costs = []
    for name in ("glass", "vowel"):
        for model in models(name):
            costs.append(nested(name, model))
            print(name, model, [sum(costs[-1][key]) for key in ("mistakes", "gross", "distance")], flush=True)
    sharing = []
    for n in SIZES:
        for name in maps():
            sharing.append(shared(name, n))
            print(n, name, sharing[-1]["wrong"], sharing[-1]["gross"], flush=True)
    settings = {"prices": PENALTIES, "low prices": LOW_PENALTIES, "vowels": VOWELS}
    write("hinge", seed=0, settings=settings, tables={"costs": costs, "sharing": sharing})


if __name__ == "__main__":
    main()
