"""Two classes: machines against cvxopt and scikit-learn, degenerate samples, and what is refused."""

import os
import warnings

import cvxopt
import numpy as np
import pytest
from cvxopt import solvers
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcutils import binary, kernel

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11)

KERNELS = [kernel.linear, kernel.rbf(0.5), kernel.rbf(50.0), kernel.polynomial(3, b=1.0)]


def dual_by_cvxopt(gram, y, C, bias):
    """The optimal value of the textbook's dual."""
    m = len(y)
    box = cvxopt.matrix(np.vstack([-np.eye(m), np.eye(m)])), cvxopt.matrix(np.r_[np.zeros(m), C])
    balance = (cvxopt.matrix(y[None, :]), cvxopt.matrix(0.0)) if bias else ()
    found = solvers.qp(cvxopt.matrix(np.outer(y, y) * gram), cvxopt.matrix(-np.ones(m)), *box, *balance)
    return -found["primal objective"]


def sample(trial):
    """Random problems, many of them degenerate: equal points, zero rows, one example of a class, prices 0."""
    rng = np.random.default_rng(trial)
    m, d = int(rng.integers(2, 60)), int(rng.integers(1, 5))
    X = rng.normal(size=(m, d))
    if trial % 3 == 0:
        X = np.round(X)
    y = np.where(X[:, 0] + rng.normal(size=m) * rng.choice([0, 0.3, 2]) > 0, 1.0, -1.0)
    if trial % 7 == 0:
        y[:] = 1
    y[:2] = -1, 1
    C = np.full(m, 10.0 ** rng.integers(-4, 5))
    if trial % 4 == 0:
        C *= rng.integers(0, 3, size=m)
        C[:2] = C.max() + 1e-3
    return KERNELS[trial % 4 if trial % 5 else 0].gram(X), y, C


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trial", range(120))
def test_the_optimum_is_that_of_cvxopt(trial, bias):
    gram, y, C = sample(trial)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = binary.solve_svm(gram, y, C, bias=bias, tol=1e-9)
    assert found.converged
    peer = dual_by_cvxopt(gram, y, C, bias)
    assert found.certificate.primal == pytest.approx(peer, rel=1e-6, abs=1e-6)


# gamma="scale" looks at the rows and not at their weights, as everywhere in scikit-learn
CHECKED = [
    binary.BinarySVM(),
    binary.BinarySVM(kernel="rbf", gamma=0.01, bias=False),
    binary.BinarySVM(kernel="rbf", gamma=0.1),
    binary.BinarySVM(kernel="polynomial", gamma=0.1, degree=2, coef0=1.0),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one check leaves it 1000 steps
        check(estimator)
