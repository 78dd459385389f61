"""How often the margin bound fails, and how loose each step of its proof is: what chapter `bound` reads.

The distribution is known: twelve places on a line, each equally likely, k runs of neighbouring places for the
k classes, and one label in ten replaced by another class. The class of score functions is finite: every
class owns one of five prototypes, and its score is minus the distance to it. So all risks are exact. A
sample is a table of counts, and a sum of signs over equal examples is binomial: expectations over samples and
signs are means over many draws, with their standard errors.
"""

from itertools import product

import numpy as np

from experiments import write
from mcutils import bound
from mcutils.margin import margins, rho_loss

PLACES, PROTOTYPES = np.arange(12), np.array([1.5, 3.5, 5.5, 7.5, 9.5])
M, RHO, DRAWS = 5000, 2.0, 50_000
DELTAS = (0.5, 0.1, 0.05, 0.01)
STEPS = ("losses", "margins", "masked", "unmasked", "split", "components", "total")


def problem(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells (place, label): scores (F, cells, k), labels and probabilities of the cells."""
    concept = PLACES * k // len(PLACES)
    p = np.full((len(PLACES), k), 0.1 / (k - 1))
    p[PLACES, concept] = 0.9
    scores = -np.abs(PLACES[:, None] - PROTOTYPES)
    chosen = np.array(list(product(range(len(PROTOTYPES)), repeat=k)))
    # The same number taken off all scores of a place changes neither a margin nor a complexity, since signs
    # have mean zero; it makes the draws scatter less.
    scores -= np.median(scores, axis=1, keepdims=True)
    values = scores[:, chosen].transpose(1, 0, 2)
    labels = np.tile(np.arange(k), len(PLACES))
    return np.repeat(values, k, axis=1), labels, p.ravel() / len(PLACES)


def risks(values: np.ndarray, labels: np.ndarray, p: np.ndarray, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """The margin losses (F, cells) and the risks (F,) of all score functions; every tie is a mistake.

    That is the largest risk of a classifier that belongs to the scores: the bound holds for every tie-break.
    """
    reached = np.array([margins(table, labels) for table in values])
    return rho_loss(reached, rho), (reached <= 0) @ p


def samples(p: np.ndarray, m: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the cells in n samples, and sums of signs over the cells."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(m, p, size=n)
    return counts, 2 * rng.binomial(counts, 0.5) - counts


def run(k: int, m: int = M, rho: float = RHO, draws: int = DRAWS, seed: int = 0) -> dict[str, object]:
    """All numbers of one problem."""
    values, labels, p = problem(k)
    losses, risk = risks(values, labels, p, rho)
    counts, signs = samples(p, m, draws, seed)
    seen = counts @ losses.T / m  # (draws, F)
    best = seen.argmin(axis=1)
    expected = losses @ p
    rows = np.arange(draws)
    excess = (risk - seen).max(axis=1)  # what a bound has to cover
    deviation = (expected - seen).max(axis=1)

    # the suprema of the signs and of their negatives have one law: their mean scatters less
    blocks = np.array_split(signs, draws // 1000)
    parts = [[bound.steps(values, labels, rho, block) for block in (drawn, -drawn)] for drawn in blocks]
    suprema = {name: np.concatenate([a[name] + b[name] for a, b in parts]) / m for name in STEPS}
    single = suprema["total"] * rho / k**2 / 2

    penalty = {"expected supremum": float(deviation.mean())}
    penalty |= {name: float(column.mean()) for name, column in suprema.items()}
    # counts of failures: the fixed part of each bound against what it has to cover, sample by sample
    failures = {}
    for delta in DELTAS:
        confidence = bound.uniform(0, 0, m, delta).confidence
        failures[str(delta)] = {
            name: int((excess > value + confidence).sum()) for name, value in penalty.items()
        }
        failures[str(delta)]["no price"] = int((excess > confidence).sum())
    standard_error = {"expected supremum": float(deviation.std() / draws**0.5)}
    standard_error |= {name: float(column.std() / draws**0.5) for name, column in suprema.items()}
    return {
        "k": k,
        "m": m,
        "rho": rho,
        "draws": draws,
        "functions": len(values),
        "risk": float(risk[best].mean()),
        "deviations": {str(d): float(np.quantile(deviation, 1 - d)) for d in DELTAS},
        "margin_risk": float(expected[best].mean()),
        "seen": float(seen[rows, best].mean()),
        "complexity": float(single.mean()),
        "complexity_error": float(single.std() / draws**0.5),
        "price": penalty,
        "price_error": standard_error,
        "quantiles": {str(delta): float(np.quantile(excess, 1 - delta)) for delta in DELTAS},
        "failures": failures,
    }


def main() -> None:
    """Run every problem and write the result file."""
    rows = [run(k) for k in (2, 3, 4)]
    for row in rows:
        print(row["k"], row["price"], row["failures"], flush=True)
    write("bound", seed=0, settings={}, tables={"rows": rows})


if __name__ == "__main__":
    main()
