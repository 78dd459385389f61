"""How three solvers of one dual grow with the examples and with the classes: what chapter `solver` reads.

Drawn data: the classes have random middles in ten dimensions; an RBF kernel, Crammer-Singer. At C = 1 first
the number of examples grows at four classes, then the number of classes at a hundred examples; last the
penalty C grows, for two solvers, with that kernel and with a wide one, all of whose values are near 1. Each
repetition has a sample of its own, which all three solvers get, one after the other, on one thread. All have
to reach the same relative gap; the gap and the primal value are stored beside the time.

The textbook's programme is not run where its matrix would have more than 2,000 rows. Takes some minutes.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from experiments import write
from mcutils.solver import Solution, solve_block, solve_interior, solve_qp

D, C, GAP, REPEATS = 10, 1.0, 1e-6, 7
SOLVERS: dict[str, Callable[..., Solution]] = {
    "textbook": solve_qp,
    "class by class": solve_interior,
    "block": solve_block,
}
# solver: numbers of examples at four classes; numbers of classes at a hundred examples
EXAMPLES = {
    "textbook": (60, 120, 240, 480),
    "class by class": (60, 120, 240, 480, 960),
    "block": (60, 120, 240, 480, 960, 1920),
}
CLASSES = {
    "textbook": (2, 4, 8, 16),
    "class by class": (2, 4, 8, 16, 32),
    "block": (2, 4, 8, 16, 32),
}
FEW_CLASSES, FEW_EXAMPLES = 4, 100
PENALTIES = (1.0, 10.0, 100.0, 1000.0)
WIDTHS = {"usual": 1 / (2 * D), "flat": 1e-4}  # factors of the squared distance
LEAST_SECONDS = 0.02


def drawn(m: int, k: int, seed: int, kernel: str = "usual") -> tuple[np.ndarray, np.ndarray]:
    """The Gram matrix and the classes of a sample: middles and deviations of the same size."""
    rng = np.random.default_rng([seed, m, k])
    y = np.arange(m) % k
    X = rng.normal(size=(k, D))[y] + rng.normal(size=(m, D))
    square = (X**2).sum(axis=1)
    return np.exp(-WIDTHS[kernel] * np.maximum(square[:, None] + square - 2 * X @ X.T, 0.0)), y


def timed(
    solve: Callable[..., Solution], gram: np.ndarray, y: np.ndarray, penalty: float = C
) -> tuple[float, Solution]:
    """Seconds of one call, the median of a few where a call is short, and what it found."""
    times: list[float] = []
    while not times or (sum(times) < LEAST_SECONDS and len(times) < 9):
        start = perf_counter()
        result = solve(gram, y, C=penalty, tol=GAP)
        times.append(perf_counter() - start)
    return median(times), result


def study(sizes: dict[str, tuple[int, ...]], grows: str) -> list[dict[str, object]]:
    """One row for each solver and size: what the repetitions needed, and what they reached."""
    rows = []
    for name, size in ((name, size) for name, own in sizes.items() for size in own):
        m, k = (size, FEW_CLASSES) if grows == "examples" else (FEW_EXAMPLES, size)
        runs = [timed(SOLVERS[name], *drawn(m, k, seed)) for seed in range(REPEATS)]
        seconds = [float(f"{one:.3g}") for one, _ in runs]
        row: dict[str, object] = {"solver": name, "grows": grows, "m": m, "k": k, "seconds": seconds}
        row["gap"] = [float(f"{result.certificate.gap:.1e}") for _, result in runs]
        row["primal"] = [float(f"{result.certificate.primal:.10g}") for _, result in runs]
        rows.append(row)
        print(f"{name:15} m = {m:4} k = {k:2}: {median(seconds):.4f} s", flush=True)
    return rows


def penalties() -> list[dict[str, object]]:
    """One row for each kernel and penalty: how long block takes, for each second of class by class."""
    rows = []
    for kernel, penalty in ((kernel, penalty) for kernel in WIDTHS for penalty in PENALTIES):
        ratios, gaps = [], []
        for seed in range(REPEATS):
            sample = drawn(FEW_EXAMPLES, FEW_CLASSES, seed, kernel)
            (block, first), (by_class, second) = (
                timed(SOLVERS[name], *sample, penalty) for name in ("block", "class by class")
            )
            ratios.append(float(f"{block / by_class:.3g}"))
            gaps += [float(f"{result.certificate.gap:.1e}") for result in (first, second)]
        rows.append({"kernel": kernel, "C": penalty, "block / class by class": ratios, "gap": gaps})
        print(f"{kernel:5} kernel, C = {penalty:6}: block / class by class {median(ratios):.2f}", flush=True)
    return rows


def main() -> None:
    """Run the three studies and write the result file."""
    with threadpool_limits(1):
        for solve in SOLVERS.values():  # what is compiled or imported at the first call
            solve(*drawn(20, 3, 0), C=C, tol=GAP)
        rows = study(EXAMPLES, "examples") + study(CLASSES, "classes")
        large = penalties()
    settings = {"C": C, "gap": GAP, "dimensions": D}
    write("solver", seed=list(range(REPEATS)), settings=settings, tables={"rows": rows, "prices": large})


if __name__ == "__main__":
    main()
