"""The notation: the constants of the five lectures name the same classifier; every chapter has its symbols;
and the search (web/static/find.js), in a JavaScript engine without a page."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cvxopt import matrix, solvers
from py_mini_racer import MiniRacer

ROOT = Path(__file__).parents[1]
M_EXAMPLES, DIMENSION = 30, 3


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no line through the origin separates, and signs for them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(M_EXAMPLES, DIMENSION))
    return X, np.sign(X @ rng.normal(size=DIMENSION) + rng.normal(size=M_EXAMPLES))


def model(rows: np.ndarray, norm: float, slack: float) -> np.ndarray:
    """Minimise (norm/2)‖v‖² + slack · Σ max(0, 1 − ⟨row_i, v⟩), as a quadratic program in (v, ξ)."""
    m, n = rows.shape
    quadratic = np.diag(np.r_[np.full(n, norm), np.zeros(m)])
    linear = np.r_[np.zeros(n), np.full(m, slack)]
    constraints = np.block([[-rows, -np.eye(m)], [np.zeros((m, n)), -np.eye(m)]])
    limits = np.r_[-np.ones(m), np.zeros(m)]
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    solution = solvers.qp(*map(matrix, (quadratic, linear, constraints, limits)), options=options)
    return np.array(solution["x"]).ravel()[:n]


@pytest.mark.parametrize("C", [0.05, 0.7, 4.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_three_constants_name_the_same_classifier(seed: int, C: float) -> None:
    X, t = data(seed)
    rows, m = t[:, None] * X, M_EXAMPLES
    of_l7 = model(rows, norm=1, slack=C)
    of_m5 = model(rows, norm=1 / (m * C), slack=1 / m)  # (λ/2)‖w‖² with λ = 1/(mC)
    of_d10 = model(rows, norm=2 / (2 * m * C), slack=1 / m)  # λ‖w‖² with λ = 1/(2mC)
    np.testing.assert_allclose(of_m5, of_l7, atol=1e-6)
    np.testing.assert_allclose(of_d10, of_l7, atol=1e-6)


@pytest.mark.parametrize("C", [0.05, 0.7])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_at_two_classes_c_of_the_multiclass_classifier_is_2c_of_the_binary_one(seed: int, C: float) -> None:
    X, t = data(seed)
    rows = t[:, None] * X
    both = model(np.hstack([rows, -rows]), norm=1, slack=C)  # (w_1, w_2), margin t⟨w_1 − w_2, x⟩
    w1, w2 = both[:DIMENSION], both[DIMENSION:]
    np.testing.assert_allclose(w1, -w2, atol=1e-6)
    np.testing.assert_allclose(w1 - w2, model(rows, norm=1, slack=2 * C), atol=1e-6)
    assert np.abs(w1 - w2 - model(rows, norm=1, slack=C)).max() > 1e-3  # C itself is not right


def test_each_chapter_has_its_symbols() -> None:
    chapters = re.findall(r"file: chapters/(\w+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "appendix/notation").glob("*.md"))
    assert sorted(re.findall(r"^\(sec-notation-(\w+)\)=\n## ", pages, re.MULTILINE)) == sorted(chapters)
    home = (ROOT / "appendix/notation.md").read_text(encoding="utf-8")
    listed = home.split("## Chapter by chapter")[1].split("(sec-")[0]
    assert re.findall(r"<sec-notation-(\w+)>", listed) == chapters


# the formulas of the symbols of a row, and its words
ROWS = [
    ([r"\gamma", r"\gamma_t"], "edge of a weak learner"),
    ([r"\Gamma_d(n)"], "Sauer's sum"),
    ([r"\varepsilon_D(h)", r"\mathcal F_y"], "weighted error"),
    ([r"f_{yr}", r"\hat R_{S,\rho}(f)"], "pairwise score, one-vs-one"),
    ([r"\operatorname{Ndim}(\mathcal H)", r"\beta"], "Natarajan dimension, “alphas” in code"),
    ([r"\theta", r"\R", r"L"], "anything; 0–1 loss"),
]


@pytest.fixture(scope="module")
def search() -> Iterator[MiniRacer]:
    context = MiniRacer()
    context.eval((ROOT / "web/static/find.js").read_text(encoding="utf-8"))
    yield context
    context.close()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("γ", [0]),
        ("gamma", [0]),
        (r"\gamma", [0]),
        ("$\\gamma_t$", [0]),
        (r"\gamma_{t}", [0]),
        ("γ_t", [0]),
        ("Gamma", [1]),
        ("GAMMA", [0, 1]),  # no such capitals: any
        ("epsilon", [2]),
        ("ϵ", [2]),
        ("eta", []),  # no part of beta, nor of theta
        ("beta", [4]),
        ("F", [2]),
        ("f", [3]),
        (r"\mathcal F", [2]),
        ("f_y", [3]),
        ("F_y", [2]),
        ("R", [3, 5]),  # and the real numbers
        ("rho", [3]),
        ("Ndim", [4]),
        ("ndim", [4]),
        ("natara", [4]),
        ("weak", [0]),
        ("Weighted error", [2]),
        ("error ε", [2]),
        ("error γ", []),
        ("0-1", [5]),
        ("one-vs-one", [3]),
        ("L", [5]),
        ("l", [5]),  # no such letter: any
        ("", [0, 1, 2, 3, 4, 5]),
        ("nothing like it", []),
    ],
)
def test_what_the_search_finds(search: MiniRacer, typed: str, found: list[int]) -> None:
    rows = f"{json.dumps(ROWS)}.map((row) => mcFind.row(...row))"
    hits = json.loads(str(search.eval(f"JSON.stringify(mcFind.find({json.dumps(typed)}, {rows}))")))
    assert [n for n, hit in enumerate(hits) if hit] == found
