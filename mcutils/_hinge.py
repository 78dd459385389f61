"""The problem that hinges, duals, subgradients and solvers share: labels, costs, prices and multipliers.

First come the checks. The functions below them take arrays that are checked already: scores and gaps have a
row for each example and a column for each class, and so do multipliers, with 0 for the true classes.
"""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order

from ._checks import class_labels, one_of
from ._typing import Floats, Ints
from ._weights import example_weights
from .certificate import Certificate
from .risk import check_costs

if TYPE_CHECKING:
    from .hinge import ClassMap

LOSSES = ("crammer-singer", "weston-watkins")


class Setting(NamedTuple):
    """The checked arguments of an objective, but for the examples."""

    labels: Ints
    costs: Floats | None
    prices: Floats


def check_setting(
    k: int, m: int, y: ArrayLike, loss: str, C: float, cost: ArrayLike | None, sample_weight: ArrayLike | None
) -> Setting:
    """The arguments of an objective for m examples of k classes."""
    check_loss(loss)
    if isinstance(C, (bool, np.bool_)) or not isinstance(C, Real) or not 0 < C < np.inf:
        raise ValueError(f"C must be a positive, finite number, found {C!r}")
    weights = example_weights(sample_weight, m, all_zero=True)
    return Setting(class_labels(y, m, k), check_cost(cost, k), float(C) * weights)


def check_loss(loss: str) -> None:
    """One of the two losses."""
    one_of(loss, "loss", LOSSES)


def check_cost(cost: ArrayLike | None, k: int) -> Floats | None:
    """The cost matrix of k classes as floats; None if every mistake costs 1."""
    if cost is None:
        return None
    costs: Floats = check_costs(cost).astype(np.float64)
    if costs.shape != (k, k):
        raise ValueError(
            f"cost must have a row and a column for each of the {k} classes, found shape {costs.shape}"
        )
    return costs


def multiplier_table(
    values: ArrayLike, m: int | None = None, k: int | None = None, name: str = "multipliers"
) -> Floats:
    """A finite table, copied."""
    table = np.array(values, dtype=np.float64)
    if table.ndim != 2 or len(table) < 1 or table.shape[1] < 2:
        raise ValueError(
            f"{name} must have a row for each example and a column for each of at least two classes, "
            f"found shape {table.shape}"
        )
    if m not in (None, len(table)) or k not in (None, table.shape[1]):
        raise ValueError(f"{name} must be of shape ({m}, {k or 'k'}), found {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError(f"{name} must be finite, found {table[~np.isfinite(table)][0]}")
    return table


def count_classes(y: ArrayLike, m: int, cost: ArrayLike | None, n_classes: int | None) -> int:
    """The number of classes: as given, or as the cost matrix or the labels show."""
    if n_classes is None and cost is not None:
        return max(2, len(np.atleast_1d(np.asarray(cost))))
    if n_classes is None:
        k = int(class_labels(y, m, np.iinfo(np.intp).max).max()) + 1
        if k < 2:
            raise ValueError(
                "y must have at least two classes, found only class 0; n_classes says how many there are"
            )
        return k
    if isinstance(n_classes, (bool, np.bool_)) or not isinstance(n_classes, Integral) or n_classes < 2:
        raise ValueError(f"n_classes must be an integer, at least 2, found {n_classes!r}")
    return int(n_classes)


def gaps(scores: Floats, labels: Ints, costs: Floats | None) -> Floats:
    """By how much each class is not behind the true class by its cost; exactly 0 for the true class."""
    rows = np.arange(len(scores))
    found: Floats = scores - scores[rows, labels][:, None]
    found += 1.0 if costs is None else costs[labels]
    found[rows, labels] = 0.0
    return found


def losses(loss: str, gaps: Floats) -> Floats:
    """The loss of each example, from its gaps."""
    found: Floats = gaps.max(axis=1) if loss == "crammer-singer" else np.maximum(gaps, 0.0).sum(axis=1)
    return found


def slack(loss: str, gaps: Floats) -> Floats:
    """The least feasible slack of each pair: for Crammer-Singer that of the example, in each column."""
    if loss == "crammer-singer":
        return np.repeat(gaps.max(axis=1, keepdims=True), gaps.shape[1], axis=1)
    return np.maximum(gaps, 0.0)


def clear_true_classes(A: Floats, labels: Ints) -> None:
    """Set the multipliers of the true classes to 0, and refuse what is no multiplier."""
    A[np.arange(len(A)), labels] = 0.0
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("multipliers must be finite and not negative")


def into_bounds(A: Floats, loss: str, prices: Floats) -> None:
    """Refuse multipliers beyond the prices, and scale down what is beyond by rounding."""
    used = load(loss, A)
    beyond = used - prices * (1 + 1e-9)
    if beyond.max() > 0:
        i = int(np.argmax(beyond))
        raise ValueError(
            f"multipliers of an example must not exceed its price {prices[i]:.6g} "
            f"({'in sum' if loss == 'crammer-singer' else 'each'}), found {used[i]:.6g} in row {i}"
        )
    A /= np.maximum(1.0, np.divide(used, prices, out=np.ones(len(A)), where=prices > 0))[:, None]


def load(loss: str, A: Floats) -> Floats:
    """What must not exceed the price of each example: the sum of its multipliers, or the largest."""
    found: Floats = A.sum(axis=1) if loss == "crammer-singer" else A.max(axis=1)
    return found


def coefficients(A: Floats, labels: Ints) -> Floats:
    r"""The factors of :math:`x_i` in the rows of W: :math:`\sum_r A_{ir} (e_{y_i} - e_r)`."""
    pull = -A
    pull[np.arange(len(A)), labels] = A.sum(axis=1)
    return pull


def slack_multipliers(A: Floats, setting: Setting, loss: str) -> Floats:
    """The multipliers of the slack: one column for Crammer-Singer, else one for each class."""
    used = A.sum(axis=1, keepdims=True) if loss == "crammer-singer" else A
    spare: Floats = setting.prices[:, None] - used
    return spare


def complementary_products(A: Floats, gaps: Floats, slack: Floats, setting: Setting, loss: str) -> Floats:
    """Every multiplier times what its constraint leaves; their sum is the gap of the multipliers' machine."""
    spare = slack_multipliers(A, setting, loss)
    return np.concatenate([A * (slack - gaps), spare * slack[:, : spare.shape[1]]], axis=1)


def dual_parts(
    A: Floats,
    pull: Floats,
    points: Any,
    labels: Ints,
    costs: Floats | None,
    class_map: "ClassMap | None",
) -> tuple[float, float]:
    """The linear term of the dual value, and the quadratic one."""
    asked = A.sum() if costs is None else np.vdot(A, costs[labels])
    W = (points.T @ pull).T
    V = W if class_map is None else class_map.matrix.T @ W
    return float(asked), 0.5 * float(np.vdot(V, V))


def values(A: Floats, scores: Floats, setting: Setting, loss: str) -> tuple[float, float]:
    """P and D; all that is needed of the kernel are the scores on the sample."""
    square = 0.5 * float(np.vdot(coefficients(A, setting.labels), scores))
    paid = float(setting.prices @ losses(loss, gaps(scores, setting.labels, setting.costs)))
    asked = float(A.sum() if setting.costs is None else np.vdot(A, setting.costs[setting.labels]))
    return square + paid, asked - square


def kkt_residuals(
    A: Floats, gaps: Floats, slack: Floats, setting: Setting, loss: str, away: float
) -> dict[str, float]:
    """By how much each group of optimality conditions is violated, without units."""
    price, cost = float(setting.prices.max()) or 1.0, cost_scale(setting.costs)
    least = min(A.min(), slack_multipliers(A, setting, loss).min())
    violated = max((gaps - slack).max(), -slack.min())
    products = np.abs(complementary_products(A, gaps, slack, setting, loss))
    return {
        "stationarity": away,
        "primal": max(0.0, float(violated)) / cost,
        "dual": max(0.0, -float(least)) / price,
        "complementarity": float(products.max()) / (price * cost),
    }


def cost_scale(costs: Floats | None) -> float:
    """The largest cost, and 1 where all are 0."""
    return 1.0 if costs is None else float(costs.max()) or 1.0


def certificate(
    A: Floats, scores: Floats, setting: Setting, loss: str, n_iter: int | None = None
) -> Certificate:
    """The certificate of feasible multipliers whose scores on the sample are known."""
    found = gaps(scores, setting.labels, setting.costs)
    residuals = kkt_residuals(A, found, slack(loss, found), setting, loss, 0.0)
    return Certificate(*values(A, scores, setting, loss), residuals, n_iter)


def balanced(A: Floats, labels: Ints, costs: Floats | None) -> Floats:
    """Multipliers scaled pair by pair of classes, so that as much flows into every class as out of it."""
    from scipy.optimize import linprog  # loaded when it is needed

    k = A.shape[1]
    flow = np.zeros((k, k))
    np.add.at(flow, labels, A)
    first, second = np.nonzero(flow)
    if not len(first):
        return A
    most = flow[first, second] / flow.max()
    pairs = np.arange(len(first))
    rows, columns = np.concatenate([first, second]), np.concatenate([pairs, pairs])
    balance = coo_array((np.repeat([1.0, -1.0], len(pairs)), (rows, columns)), shape=(k, len(pairs)))
    worth = np.ones(len(pairs)) if costs is None else costs[first, second]
    answer = linprog(
        -worth,
        A_eq=balance.tocsr(),
        b_eq=np.zeros(k),
        bounds=np.column_stack([np.zeros(len(pairs)), most]),
        method="highs-ds",
    )
    if answer.x is not None:
        flow[first, second] *= np.clip(answer.x / most, 0.0, 1.0)
    before = np.zeros((k, k))
    np.add.at(before, labels, A)
    _cancel(flow)  # the solver's balance is not exact
    kept = np.divide(flow, before, out=np.zeros((k, k)), where=before > 0)
    found = A * kept[labels]
    if np.abs(coefficients(found, labels).sum(axis=0)).max() > 1e-11 * before.sum():
        found[:] = 0.0  # feasible, whatever went wrong
    return found


def _cancel(flow: Floats) -> None:
    """Take away what flows from classes with more out than in, along paths to those with more in than out."""
    least = 1e-15 * flow.sum()
    for _ in range(2 * flow.size):  # each path empties a pair, or balances a class
        excess = flow.sum(axis=1) - flow.sum(axis=0)
        start = int(excess.argmax())
        reached, before = breadth_first_order(csr_array(flow > 0), start)
        ends = reached[excess[reached] < 0]
        if excess[start] <= least or not len(ends):
            return
        path = [int(ends[0])]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
        pairs = path[1:], path[:-1]
        taken = min(excess[start], -excess[ends[0]], flow[pairs].min())
        flow[pairs] = np.maximum(flow[pairs] - taken, 0.0)
