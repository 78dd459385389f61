"""The multi-class SVMs against LIBLINEAR, LIBSVM and the textbook's quadratic program.

The linear classifier and LIBLINEAR's minimise the same. LIBLINEAR stops at a violation of the optimality
conditions, not at a gap, and shows no dual value: of the tolerances below its largest is taken whose primal
value is within the required gap of a dual value that is nearly the largest. The kernel
classifier has no like in scikit-learn: ``SVC`` solves one classifier for each pair of classes, with a bias
each; ours has none. Its largest tolerance is taken for which their gaps in sum are what is required of us,
relative to their primal values in sum.

The data sets of KEEL come from the package index: see :mod:`benchmarks.keel`. The sets of
:mod:`benchmarks.strangers` need no download; their races are summed up by geometric means.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC

from benchmarks import keel, strangers
from benchmarks.race import Race
from mcutils.hinge import HingeProblem
from mcutils.solver import CrammerSinger, solve_block, solve_interior, solve_qp

GAP = 1e-3
TOLERANCES = (1.0, 0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
LINEAR_AT_MOST = 0.7
KERNEL_AT_MOST = {1.0: 1.0, 10.0: 2.5}
STRANGE_AT_MOST = 2.0
NO_LINEAR_PEER = {"pixels"}  # no tolerance brings LinearSVC to the gap


def data() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield "digits", *load_digits(return_X_y=True)
    for name in ("penbased", "optdigits"):
        yield name, *keel.load(name)
    yield "synthetic", *make_classification(20_000, 50, n_informative=20, n_classes=10, random_state=0)


def condition(X: np.ndarray, y: np.ndarray, gap: float) -> str:
    classes = len(np.unique(y))
    return f"{len(X):,} examples, {X.shape[1]} features, {classes} classes, gap {gap:g}, one thread"


def linear(name: str, X: np.ndarray, y: np.ndarray, C: float) -> Race:
    ours = CrammerSinger(C=C, fit_intercept=False, tol=GAP)
    assert ours.fit(X, y).converged_
    dual = CrammerSinger(C=C, fit_intercept=False, tol=GAP / 10).fit(X, y).certificate_.dual
    for tolerance in TOLERANCES:
        peer = LinearSVC(
            C=C,
            multi_class="crammer_singer",
            fit_intercept=False,
            tol=tolerance,
            max_iter=100_000,
            random_state=0,
        )
        primal = HingeProblem(y, C=C).objective(peer.fit(X, y).coef_, X)
        if primal - dual <= GAP * primal:
            break
    else:
        raise ValueError(f"LinearSVC has a larger gap with every tolerance: {name}, C = {C:g}")
    return Race(
        id=f"solver-linear-{name}-{C:g}",
        title=f"Crammer-Singer, linear, {name}, C = {C:g}",
        condition=condition(X, y, GAP),
        ours=partial(ours.fit, X, y),
        peer=partial(peer.fit, X, y),
        peer_name=f"LinearSVC(tol={tolerance:g})",
        threads=1,
        at_most=LINEAR_AT_MOST,
        input_bytes=X.nbytes,
    )


def gap_of_pairs(model: SVC, gram: np.ndarray, y: np.ndarray, C: float) -> float:
    """The gaps of all classifiers in sum, each at its best bias, relative to their primal values in sum."""
    starts = np.concatenate([[0], np.cumsum(model.n_support_)])
    of_class = [np.flatnonzero(y == label) for label in model.classes_]
    primal = dual = 0.0
    for first, second in combinations(range(len(of_class)), 2):
        members = np.concatenate([of_class[first], of_class[second]])
        signs = np.repeat([1.0, -1.0], [len(of_class[first]), len(of_class[second])])
        beta = np.zeros(len(y))
        for one, row in ((first, second - 1), (second, first)):
            rows = slice(starts[one], starts[one + 1])
            beta[model.support_[rows]] = model.dual_coef_[row, rows]
        beta = beta[members]
        inner = gram[np.ix_(members, members)] @ beta
        square = beta @ inner
        # the hinges are linear in b between these values, so one of them is the best
        b = np.sort(signs - inner)[int((signs > 0).sum()) - 1]
        primal += square / 2 + C * np.maximum(0, 1 - signs * (inner + b)).sum()
        dual += np.abs(beta).sum() - square / 2
    return float((primal - dual) / primal)


def with_kernel(name: str, X: np.ndarray, y: np.ndarray, C: float) -> Race:
    ours = CrammerSinger(C=C, kernel="rbf", fit_intercept=False, tol=GAP)
    gram = ours.fit(X, y).kernel_.gram(X)
    assert ours.converged_
    for tolerance in TOLERANCES:
        peer = SVC(C=C, tol=tolerance).fit(X, y)
        if gap_of_pairs(peer, gram, y, C) <= GAP:
            break
    else:
        raise ValueError(f"SVC has a larger gap with every tolerance: {name}, C = {C:g}")
    return Race(
        id=f"solver-kernel-{name}-{C:g}",
        title=f"Crammer-Singer, RBF, {name}, C = {C:g}",
        condition=condition(X, y, GAP),
        ours=partial(ours.fit, X, y),
        peer=partial(peer.fit, X, y),
        peer_name=f"SVC(tol={tolerance:g})",
        threads=1,
        at_most=KERNEL_AT_MOST[C],
        input_bytes=X.nbytes,
    )


def predicting() -> Race:
    X, y = keel.load("penbased")
    X = scale(X)
    ours, peer = CrammerSinger(kernel="rbf", tol=GAP).fit(X, y), SVC().fit(X, y)
    return Race(
        id="solver-predict",
        title="Predicting with the RBF kernel, penbased, C = 1",
        condition=f"2,000 rows of {X.shape[1]} features, 10 classes, one thread",
        ours=partial(ours.predict, X[:2000]),
        peer=partial(peer.predict, X[:2000]),
        peer_name="SVC",
        threads=1,
        at_most=0.2,
        input_bytes=X[:2000].nbytes,
    )


def against_the_textbook(m: int, k: int, gap: float, at_most: float) -> Race:
    rng = np.random.default_rng(0)
    y = np.arange(m) % k
    X = rng.normal(size=(m, 10)) + rng.normal(size=(k, 10))[y]
    model = CrammerSinger(kernel="rbf", gamma=0.1).fit(X, y)
    gram = model.kernel_.gram(X)
    block = at_most < 0.1
    ours: Any = partial(solve_block, gram, y, tol=gap) if block else partial(solve_interior, gram, y, tol=gap)
    peer = partial(solve_qp, gram, y, tol=gap)
    one, other = ours().certificate, peer().certificate
    assert abs(one.primal - other.primal) <= gap * one.primal
    return Race(
        id=f"solver-{'block' if block else 'structured'}-{m}-{k}",
        title=f"{'Block ascent' if block else 'Structured equations'}, {m} examples, {k} classes",
        condition=f"Crammer-Singer, RBF, gap {gap:g}, one thread",
        ours=ours,
        peer=peer,
        peer_name="the textbook's program in cvxopt",
        threads=1,
        at_most=at_most,
        input_bytes=gram.nbytes,
    )


FIRST_CALL = (
    "import time; from sklearn.datasets import load_iris; from mcutils.solver import CrammerSinger;"
    "X, y = load_iris(return_X_y=True); start = time.perf_counter();"
    "CrammerSinger(kernel={kernel!r}).fit(X, y); print(time.perf_counter() - start)"
)


def first_call(kernel: str) -> float:
    """Seconds of the first fit in a new process, the compiler's import included."""
    return float(_new_process(FIRST_CALL.format(kernel=kernel)))


def _new_process(code: str) -> str:
    """What it prints. It keeps the byte code of what it imports, as Python does by default."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def starting(kernel: str) -> Race:
    """Our first fit in a new process against half a second."""
    seconds = min(first_call(kernel) for _ in range(3))
    X, _ = load_iris(return_X_y=True)
    return Race(
        id=f"solver-first-{kernel}",
        title=f"A new process with a first fit, {kernel} kernel",
        condition=f"iris; of it {seconds:.2f} s are the first fit, from a warm cache",
        ours=partial(first_call, kernel),
        peer=_only_import,
        peer_name="a new process that imports scikit-learn's SVC",
        threads=1,
        at_most=2.0,
        input_bytes=X.nbytes,
    )


def _only_import() -> None:
    _new_process("import sklearn.svm, sklearn.datasets")


def races() -> list[Race]:
    result = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of peers at their loosest
        for name, X, y in data():
            X = scale(X)
            result += [linear(name, X, y, C) for C in (0.1, 1.0, 10.0)]
            if name in ("digits", "optdigits"):
                result += [with_kernel(name, X, y, C) for C in (1.0, 10.0)]
        for name, X, y in strangers.sets():
            X = scale(X)
            for C in (1.0, 10.0):
                for kind, race in (("linear", linear), ("RBF", with_kernel)):
                    if kind == "linear" and name in NO_LINEAR_PEER:
                        continue
                    group = f"Crammer-Singer, {kind}, C = {C:g}"
                    result.append(strangers.in_group(race(name, X, y, C), group, STRANGE_AT_MOST))
        result.append(predicting())
        result.append(against_the_textbook(400, 5, 1e-6, 0.01))
        result.append(against_the_textbook(400, 5, 1e-8, 0.2))
        result += [starting(kernel) for kernel in ("linear", "rbf")]
    return result
