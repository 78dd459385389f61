"""Small problems that run every line of the compiled loops, for test_jit.py: with numba, and without it.

A problem in `EXACT` has the same result to the last bit: both do the same operations in the same order. In
those in `NEAR` a compiled loop may add in another order, or takes its logarithms from another library, and
Newton's steps make more of the difference.
"""

import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

EXACT: dict[str, Callable[[], Any]] = {}
NEAR: dict[str, Callable[[], Any]] = {}
TOLERANCE = 1e-10


def exact(problem: Callable[[], Any]) -> Callable[[], Any]:
    EXACT[problem.__name__] = problem
    return problem


def near(problem: Callable[[], Any]) -> Callable[[], Any]:
    NEAR[problem.__name__] = problem
    return problem


def blobs(m: int = 24, d: int = 3, k: int = 3, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Examples around k random middles."""
    rng = np.random.default_rng(1)
    y = np.arange(m) % k
    return spread * rng.normal(size=(m, d)) + 2 * rng.normal(size=(k, d))[y], y


def costs(k: int = 3) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)


# ---------------------------------------------------------------------------------------------------
# Boosting


@exact
def stumps_in_threads():
    """The first problem: whichever thread comes first, one warning is enough."""
    from mcutils.boosting import AdaBoostMH

    X, y = blobs(60, d=3, k=5, spread=2.0)
    return AdaBoostMH(n_estimators=3, n_jobs=2).fit(X, y).decision_function(X)


@exact
def stumps():
    from mcutils.boosting import AdaBoostMH

    X, y = blobs(60, d=3, k=5, spread=2.0)
    result = []
    for values in (X, np.round(X)):  # many values of a feature, and few
        for votes in ("sign", "leaf"):
            model = AdaBoostMH(n_estimators=4, votes=votes).fit(values, y)
            chosen = [(one.feature, one.threshold, one.left, one.error) for one in model.estimators_]
            result.append((chosen[0], chosen[1:], model.decision_function(values)))
    return result


@exact
def stumps_from_buckets():
    """As of a large sample: a feature in buckets, one of few values, and one that is swept."""
    from mcutils import boosting

    X, y = blobs(120, d=3, k=5, spread=2.0)
    X[:, 1], X[:, 2] = np.round(X[:, 1]), np.maximum(X[:, 2], np.median(X[:, 2]))
    kept = boosting._LARGE, boosting._SIZE
    boosting._LARGE, boosting._SIZE = 1, 8
    try:
        model = boosting.AdaBoostMH(n_estimators=12).fit(X, y)
    finally:
        boosting._LARGE, boosting._SIZE = kept
    return [(one.feature, one.threshold, one.left) for one in model.estimators_], model.decision_function(X)


# ---------------------------------------------------------------------------------------------------
# Signs


@exact
def signs_of_functions():
    from mcutils import rademacher

    rng = np.random.default_rng(0)
    return [
        rademacher.complexity(rademacher.Finite(rng.normal(size=(n, m)))) for n, m in ((3, 9), (5, 3), (1, 1))
    ]


@exact
def signs_of_points():
    from mcutils import rademacher

    X = np.random.default_rng(0).normal(size=(8, 3))
    families = [rademacher.L2Ball(X), rademacher.L1Ball(X), rademacher.KernelBall(X @ X.T)]
    families.append(rademacher.MulticlassBall(X[:5] @ X[:5].T, k=3))
    return [rademacher.complexity(family) for family in families]


# ---------------------------------------------------------------------------------------------------
# Classifiers of two classes


@exact
def soft_svms():
    from mcutils import binary

    X, y = blobs(k=2, spread=2.0)
    result = [
        binary.solve_svm(X @ X.T, 2 * y - 1, C=C, fit_intercept=bias)
        for C in (0.1, 10.0)
        for bias in (True, False)
    ]
    model = binary.BinarySVM(kernel="rbf").fit(X, y)
    return [(one.alpha, one.intercept, one.certificate.dual) for one in result], model.decision_function(X)


@exact
def hard_svms():
    from mcutils import binary

    X, y = blobs(k=2, spread=0.3)
    result = [binary.solve_svm(X @ X.T, 2 * y - 1, C=np.inf, fit_intercept=bias) for bias in (True, False)]
    return [(one.alpha, one.intercept) for one in result]


@exact
def scores_in_twice_the_digits():
    from mcutils import binary

    X, y = blobs(k=2, spread=2.0)
    one = binary.solve_svm((X + 1e4) @ (X + 1e4).T, 2 * y - 1, C=1e3, tol=1e-4)
    return one.alpha, one.intercept


@exact
def steps_of_two_multipliers():
    """Where a side of the box is reached, where nothing may move, where no gain is above 0."""
    from mcutils.jit import smo as jit

    result = []
    for box, target in ((1.0, 1.0), (0.1, 1.0), (0.0, 1.0), (1.0, 1e-200)):
        for loop, groups in ((jit.pairs, (np.array([2, 4]),)), (jit.singles, ())):
            rng = np.random.default_rng(2)
            F = rng.normal(size=(4, 2))
            beta, error = np.zeros(4), target * rng.normal(size=4)
            upper = box * rng.uniform(0.5, 2, 4)
            steps = loop(F @ F.T, -0.5 * upper, upper, *groups, beta, error, 1e-9 * target, 1e-12, 50)
            result.append((steps, beta, error))
    return result


@exact
def rows_of_a_large_gram_matrix():
    from mcutils.jit import smo as jit

    matrix, total = np.random.default_rng(0).normal(size=(4, 6)), np.ones(6)
    high, low = np.ones(6), np.zeros(6)
    jit.add_rows(matrix, np.array([3, 0]), np.array([0.3, -7.0]), total)
    jit.add_rows_precisely(matrix, np.array([3, 0]), np.array([0.3, -7.0]), high, low)
    return total, high, low


# ---------------------------------------------------------------------------------------------------
# Classifiers of k classes


def kernel_problem(loss: str, **options: Any) -> Any:
    from mcutils import hinge, solver

    X, y = blobs(18)
    gram = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    result = solver.solve_block(gram, hinge.HingeProblem(y, loss=loss, **options))
    return result.multipliers, result.certificate.dual


@near
def svms_of_a_gram_matrix():
    return [
        kernel_problem(loss, C=C, cost=cost)
        for loss in ("crammer_singer", "weston_watkins")
        for C in (0.1, 10.0)
        for cost in (None, costs())
    ]


@near
def linear_svms():
    from mcutils import solver

    X, y = blobs(18, spread=2.0)
    result = []
    for kind in (solver.CrammerSinger, solver.WestonWatkins):
        for C in (0.1, 10.0):
            for form in (X, sparse.csr_array(np.where(np.abs(X) < 1, 0.0, X))):
                model = kind(C=C, cost=costs(), tol=1e-8).fit(form, y)
                result.append((model.coef_, model.intercept_, model.n_iter_))
    return result


@near
def svms_by_rows_in_single_precision():
    from mcutils import solver

    X, y = blobs(18)
    result = []
    for kind in (solver.CrammerSinger, solver.WestonWatkins):
        model = kind(kernel="rbf", precision="single").fit(X, y)
        result.append((model.converged_, model.predict(X)))
    return result


@near
def svms_of_which_some_examples_move_alone():
    from mcutils import _rows, solver

    X, y = blobs(60)
    with mock.patch.object(_rows, "FIRST", 8):
        models = [kind(C=10, kernel="rbf", tol=1e-8) for kind in (solver.CrammerSinger, solver.WestonWatkins)]
        return [model.fit(X, y).scores(X) for model in models]


@near
def svms_of_many_classes():
    """Working sets of classes: many are left out."""
    from mcutils import solver

    X, y = blobs(40, d=8, k=20)
    return [kind(tol=1e-8).fit(X, y).coef_ for kind in (solver.CrammerSinger, solver.WestonWatkins)]


@near
def climbs_with_half_of_the_rows():
    """Until rounding ends all progress."""
    from mcutils.jit import multiclass as jit

    X, y = blobs(16)
    gram = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    member, places = 1.0 - np.arange(16) % 2, np.arange(16) // 2
    upper, lower, violated = np.empty((3, 16)), np.empty((3, 16)), np.zeros(16)
    result = []
    for every in (False, True):
        beta, scores = np.zeros((16, 3)), np.zeros((3, 16))
        problem = (y, np.ones(16), costs(), every)
        jit.open_sides(beta, *problem, upper, lower)
        ends = (0.6, 0.0, np.inf, 0.5, 10_000)
        _, *values = jit.climb(
            gram[::2], places, member, np.ones(16), *problem, *ends, beta, scores, upper, lower, violated
        )
        result.append((beta, scores, values))
    return result


@exact
def random_order():
    from mcutils.jit import multiclass as jit

    order, state = np.arange(50), np.array([88172645463325252], dtype=np.uint64)
    jit.shuffle(order, 40, state)
    return order, state


@near
def steps_of_one_example():
    from mcutils.jit import multiclass as jit

    rng = np.random.default_rng(3)
    result = []
    for loop, k in ((jit.simplex_step, 4), (jit.pair_step, 2), (jit.box_step, 4)):
        for true in (0, 1, -1) if loop is not jit.box_step else (0, 1):
            for curvature in (0.0, 0.7) if loop is not jit.pair_step else (0.7,):
                appeal, beta, moved = rng.normal(size=k), -0.1 * rng.uniform(size=k), np.empty(k)
                beta[true] -= beta.sum()
                loop(appeal, beta, true, 0.8, curvature, moved)
                result.append(moved)
    return result


# ---------------------------------------------------------------------------------------------------
# One example after the other


@exact
def perceptrons():
    from mcutils.perceptron import MulticlassPerceptron

    X, y = blobs(20, d=4, k=7, spread=1.5)
    result = []
    for update in ("top", "uniform", "proportional", "mira", all_in_front):
        for form in (X, sparse.csr_array(np.where(np.abs(X) < 1, 0.0, X))):
            for average in (True, "voted"):
                model = MulticlassPerceptron(
                    update, cost=costs(7), average=average, max_iter=2, random_state=0
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model.fit(form, y, sample_weight=1.0 + y % 2)
                result.append((model.mistakes_, model.paid_, model.decision_function(form)))
    return result


def all_in_front(scores: np.ndarray, true: int) -> np.ndarray:
    """A rule of one's own: the rivals share, as with "uniform"."""
    rivals = (scores >= scores[true]) & (np.arange(len(scores)) != true)
    moves = np.where(rivals, -1.0 / rivals.sum(), 0.0)
    moves[true] = 1.0
    return moves


@exact
def steps_of_a_perceptron():
    """A lead that overflows; an example that is 0."""
    from mcutils.jit import perceptron as jit

    result = []
    for update in (-1, 0, 1, 2, 3):
        for scores in ([1e308, -1e308, 1e308], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]):
            for square in (0.0, 2.0):
                who, by = np.zeros(3, np.intp), np.zeros(3)
                n = jit.step(update, np.array(scores), 1, 1.0, 1.0 - np.eye(3), square, who, by)
                result.append((n, who[:n], by[:n]))
    return result


@exact
def a_perceptron_that_overflows():
    from mcutils.perceptron import MulticlassPerceptron

    X = np.array([[1e200, 0.0], [0.0, 1e200], [-1e200, 1e200]])
    caught = []
    for form in (X, sparse.csr_array(X)):
        try:
            MulticlassPerceptron(random_state=0).fit(form, [0, 1, 2])
        except ValueError as error:
            caught.append(str(error))
    return caught


@exact
def subgradients():
    from mcutils.hinge import ClassMap
    from mcutils.subgradient import SubgradientMachine

    X, y = blobs(30, d=4, k=5, spread=1.5)
    forms = (X, sparse.csr_array(np.where(np.abs(X) < 1, 0.0, X)))
    related = ClassMap(np.hstack([np.eye(5), np.ones((5, 1))]))
    result = []
    for loss in ("crammer_singer", "weston_watkins"):
        for average in ("tail", "all", "weighted", None):
            for intercept in ("appended", "free", False):
                for class_map in (None, related):
                    model = SubgradientMachine(
                        loss=loss,
                        cost=costs(5),
                        average=average,
                        fit_intercept=intercept,
                        class_map=class_map,
                        max_iter=2,
                        random_state=0,
                    )
                    for form in forms:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", ConvergenceWarning)
                            model.fit(form, y, sample_weight=1.0 + y % 2)
                        result.append((model.coef_, model.intercept_, model.objective_))
    return result


# ---------------------------------------------------------------------------------------------------
# Trees


def table(m: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Columns of levels and of numbers in turn, with values missing."""
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 4, m), rng.normal(size=m), rng.integers(0, 5, m), 100 * rng.integers(0, 9, m)]
    X = np.column_stack(columns)
    y = np.minimum((X[:, 1] > 0.3).astype(int) + (X[:, 0] == 2) + (X[:, 3] > 600), 2)
    X[:, :3] = np.where(rng.random((m, 3)) < 0.03, np.nan, X[:, :3])
    return X, np.where(rng.random(m) < 0.1, rng.integers(0, 3, m), y)


def trees(criterion: Any, m: int = 100, **options: Any) -> Any:
    from mcutils.pruning import sequence
    from mcutils.tree import DecisionTree

    X, y = table(m)
    rng = np.random.default_rng(5)
    result = []
    for labels in (y, np.minimum(y, 1)):
        for weights in (None, rng.integers(0, 4, len(y)), rng.uniform(size=len(y))):
            model = DecisionTree(criterion, categorical_features=[0, 2], **options)
            tree = model.fit(X, labels, sample_weight=weights).tree_
            path = sequence(model)
            shape = (tree.left, tree.feature, tree.threshold, tree.counts, model.feature_importances_)
            result.append((*shape, path.penalties, model.predict(X)))
    return result


@exact
def trees_of_gini():
    return trees("gini", 600, max_leaf_nodes=3), trees(
        "gini", max_leaf_nodes=8, min_samples_leaf=9, priority="unweighted"
    )


@near
def trees_of_entropy():
    return trees("entropy"), trees("entropy", max_depth=3, min_impurity_decrease=0.05, min_impurity_split=0.5)


@exact
def trees_of_misclassification():
    return (
        trees("misclassification"),
        trees("misclassification", min_weight_fraction_leaf=0.02),
        trees("misclassification", min_impurity_split=0.3),
        trees("gini", min_impurity_split=0.4),
    )


@exact
def trees_of_costs():
    from mcutils.tree import DecisionTree

    X, y = table()
    model = DecisionTree("misclassification", cost=costs(), max_depth=3).fit(X, y)
    enough = float(model.tree_.impurity[0]) / 2
    pure = DecisionTree("misclassification", cost=costs(), min_impurity_split=enough).fit(X, y)
    return model.tree_.counts, model.tree_.threshold, pure.tree_.counts


@exact
def large_trees():
    """From 2049 examples on, scores that are equal as floats are compared as fractions."""
    from mcutils.tree import DecisionTree

    X, y = np.arange(4200)[:, None] // [1, 600], np.arange(4200) // 2 % 2
    model = DecisionTree(max_leaf_nodes=3, categorical_features=[1]).fit(X, y)
    return model.tree_.feature, model.tree_.threshold, model.tree_.counts


@exact
def a_tree_without_questions():
    from mcutils.tree import DecisionTree

    return DecisionTree().fit([[1.0], [1.0]], [0, 1]).tree_.counts


@exact
def oblique_trees():
    from mcutils.tree import DecisionTree

    X, y = blobs(30, d=2)
    return DecisionTree(questions=("numerical", "oblique", "sphere"), max_depth=2).fit(X, y).predict(X)


@exact
def trees_that_look_ahead():
    from mcutils.tree import DecisionTree

    X, y = table(40)
    return DecisionTree(lookahead=2, max_leaf_nodes=4, categorical_features=[0]).fit(X, y).tree_.threshold


@exact
def too_many_levels():
    from mcutils.tree import DecisionTree

    X, y = np.arange(60)[:, None] % 30, np.arange(60) % 3
    try:
        DecisionTree(categorical_features=[0]).fit(X, y)
    except ValueError as error:
        return str(error)


@exact
def fractions_that_floats_confuse():
    from mcutils.jit import tree as jit

    a = 2**52
    pairs = [
        (a, a + 1, a + 1, a + 2),
        (a + 1, a + 2, a, a + 1),
        (2 * a, 2 * a + 2, a, a + 1),
        (7, 2, 10, 3),
        (5, 2, 2, 1),
    ]
    better = [
        jit.better(jit.GINI, True, 1e5, 2, one[0] / one[1], *one, other[0] / other[1], *other)
        for one in [(a, a + 1), (a + 1, a + 2)]
        for other in [(a, a + 1), (a + 1, a + 2)]
    ]
    return [jit.greater(*pair) for pair in pairs], better


@exact
def trees_of_classifiers():
    from mcutils.frontier import FilterTree, LabelTree

    X, y = blobs(60, d=4, k=6, spread=2.0)
    return [tree.fit(X, y).predict(X) for tree in (FilterTree(), LabelTree(branching=3))]


# ---------------------------------------------------------------------------------------------------


def solved(names: Iterable[str] = ()) -> dict[str, Any]:
    """The results of these problems, or of all."""
    return {name: problem() for name, problem in {**EXACT, **NEAR}.items() if not names or name in names}


def report(names: Iterable[str], watch: bool) -> dict[str, Any]:
    """Results and warnings; with `watch` also which lines of the loops and functions of mcutils ran."""
    import mcutils

    package = str(Path(mcutils.__file__).parent)
    lines: set[tuple[str, int]] = set()
    functions: set[tuple[str, int]] = set()

    def on_call(frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename.startswith(package):
            functions.add((code.co_filename, code.co_firstlineno))
        return on_line if code.co_filename.startswith(os.path.join(package, "jit")) else None

    def on_line(frame: Any, event: str, argument: Any) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return on_line

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if watch:
            threading.settrace(on_call)
            sys.settrace(on_call)
        results = solved(names)
        sys.settrace(None)
    caught = [(one.category, str(one.message)) for one in warned]
    return {"results": results, "warnings": caught, "lines": lines, "functions": functions}


if __name__ == "__main__":  # python tests/loops.py FILE watch|only [PROBLEM ...], in a process without numba
    sys.modules["numba"] = None  # Python's way to forbid an import
    file, how, *chosen = sys.argv[1:]
    Path(file).write_bytes(pickle.dumps(report(chosen, how == "watch")))
