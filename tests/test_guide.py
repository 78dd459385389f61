"""The user guide: its code runs, its numbers are those of the results, its tables have every estimator."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from docutils import nodes
from docutils.utils import new_document
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sphinx import addnodes
from sphinx_proof import nodes as proof

import mcutils
from experiments import growth
from tools import docstrings, guide, ledger
from tools.sphinx import curves, units, uses
from tools.sphinx import guide as pages
from tools.sphinx.api import LABEL

ROOT = Path(__file__).resolve().parents[1]
CHOOSE, SKLEARN, COSTS = (ROOT / "appendix" / f"{name}.md" for name in ("choose", "sklearn", "costs"))
MOST = 3  # statements of a snippet, beside imports
ESTIMATORS = set(mcutils.HOMES) - {"Certificate", "load", "show_versions"}


def sections(path: Path) -> dict[str, str]:
    """The code of each section, by its anchor; under "" what all of them need."""
    text = path.read_text(encoding="utf-8")
    parts = re.split(r"^\(((?:choose|sec-sklearn)-[a-z]+)\)=\n", text, flags=re.MULTILINE)
    named = {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}
    code = {name: re.findall(r"```python\n(.*?)```", part, re.DOTALL) for name, part in named.items()}
    return {name: "".join(blocks) for name, blocks in code.items() if blocks}


def run(code: str, names: dict[str, object]) -> object:
    """Run code, and return the value of its last line, if it has one."""
    body = ast.parse(code).body
    *first, last = body
    if not isinstance(last, ast.Expr):
        first.append(last)
    exec(compile(ast.Module(first, []), "page", "exec"), names)
    return (
        eval(compile(ast.Expression(last.value), "page", "eval"), names)
        if isinstance(last, ast.Expr)
        else None
    )


def prepared(path: Path) -> dict[str, object]:
    names: dict[str, object] = {}
    run(sections(path)[""], names)
    return names


SNIPPETS = {name: code for name, code in sections(CHOOSE).items() if name}
CHECKS = {name: code for name, code in sections(SKLEARN).items() if name}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_is_short_and_runs(name, capsys):
    body = ast.parse(SNIPPETS[name]).body
    assert 1 <= sum(not isinstance(line, ast.Import | ast.ImportFrom) for line in body) <= MOST
    names = prepared(CHOOSE)
    value = run(SNIPPETS[name], names)
    if isinstance(value, float):
        assert 0.9 < value <= 1, "a score"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CHECKS)
def test_what_is_said_of_scikit_learn_holds(name):
    assert "assert" in CHECKS[name]
    run(CHECKS[name], prepared(SKLEARN))


def test_every_answer_is_asked_for_and_every_question_answered():
    text = CHOOSE.read_text(encoding="utf-8")
    asked = set(re.findall(r"<(choose-[a-z]+)>", text))
    assert asked == set(re.findall(r"^\((choose-[a-z]+)\)=$", text, re.MULTILINE)) == SNIPPETS.keys()


def test_every_section_on_scikit_learn_has_a_check():
    text = SKLEARN.read_text(encoding="utf-8")
    assert CHECKS.keys() == set(re.findall(r"^\((sec-sklearn-[a-z]+)\)=$", text, re.MULTILINE))
    assert text.count("## ") == len(CHECKS)


# -- numbers ---------------------------------------------------------------------------------


def asked_for() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in (CHOOSE, COSTS)]
    return re.findall(r"\{measured\}`([^`]+)`", "".join(texts))


def test_the_numbers_are_those_of_the_chapters():
    """As chapter `comparison` and `frontier` assert them, by other code."""
    assert [guide.compared(name) for name in ("others", "data sets", "differences")] == ["24", "8", "192"]
    assert [guide.compared(name) for name in ("shown worse", "nowhere worse")] == ["23", "11"]
    assert guide.compared("trees worse") == "vehicle and digits"
    assert (guide.compared("linear worse"), guide.compared("linear within")) == ("vowel", "led7")
    assert guide.compared("best are trees") == "glass"
    assert guide.lowered() == (72 - 7, 72)
    assert (guide.many("nearest mean, pooled", "1000"), guide.many("one-vs-all", "1000")) == ("11", "27")
    for name in asked_for():
        assert re.fullmatch(
            r"[\d.]+( to [\d.]+)?|[\w–,]+( [\d,]+)?( and [\w–,]+)?", guide.measured(name)
        ) or (name == "circumstances"), name


def test_the_words_beside_the_numbers_are_true():
    ratios = {row["id"]: row["ratio"]["median"] for row in guide.stored("benchmarks")["races"]}
    of = {
        begin: [r for name, r in ratios.items() if name.startswith(begin)]
        for begin in ("binary-", "tree-full")
    }
    assert sum(ratio > 1 for ratio in of["binary-"]) > len(of["binary-"]) / 2  # slower in most of the races
    assert max(of["tree-full"]) < 1
    assert min(r for name, r in ratios.items() if name.startswith("subgradient-sparse")) > 1
    sparse = [r for name, r in ratios.items() if name.startswith("perceptron-sparse")]
    assert min(sparse) > 0.7
    assert max(sparse) > 1  # no reason to leave scikit-learn


def takes(name, what):
    estimator = getattr(mcutils, name)
    signature = inspect.signature(estimator)
    if what in ("cost", "class_weight"):
        return what in signature.parameters
    if what in ("partial_fit", "predict_proba"):
        return hasattr(estimator, what)
    tags = get_tags(estimator(LogisticRegression()) if "estimator" in signature.parameters else estimator())
    return {"sparse": tags.input_tags.sparse, "labels": tags.classifier_tags.multi_label}[what]


@pytest.mark.parametrize(
    ("what", "names"),
    [
        (
            "sparse",
            "CrammerSinger WestonWatkins SoftmaxRegression SubgradientMachine MulticlassPerceptron",
        ),
        ("partial_fit", "SubgradientMachine MulticlassPerceptron"),
        ("cost", "CrammerSinger WestonWatkins SubgradientMachine MulticlassPerceptron DecisionTree"),
        ("class_weight", "CrammerSinger"),
        ("labels", "AdaBoostMH OneVsAll"),
        ("predict_proba", "SoftmaxRegression DecisionTree WithProbabilities OneVsAll OneVsOne AdaBoostMH"),
    ],
)
def test_an_estimator_takes_what_the_page_says(what, names):
    assert [name for name in names.split() if not takes(name, what)] == []
    if what in ("cost", "labels"):  # the page names all of them
        assert {name for name in ESTIMATORS if takes(name, what)} == set(names.split())


def test_no_number_is_written_by_hand():
    """But for sizes that the results files have, and numbers that are words of the language."""
    text = re.sub(
        r"```.*?```|\{\w+(?::\w+)?\}`.*?`|`[^`]*`|\$[^$]*\$|\([a-z-]+\)=",
        "",
        CHOOSE.read_text("utf-8"),
        flags=re.DOTALL,
    )
    text = text.partition("# Which")[2]
    assert set(re.findall(r"\d[\d,.]*\d|\d", text)) <= {"16,000", "30", "50,000", "32", "20", "1"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("speed of light", "'speed' measures nothing"),
        ("compared nothing", "'nothing'"),
        ("race none", "'none'"),
    ],
)
def test_a_number_that_is_not_measured_is_refused(name, message):
    with pytest.raises((KeyError, ValueError), match=message):
        guide.measured(name)


def test_a_verdict_that_no_longer_holds_stops_the_build(monkeypatch):
    entries = guide.entries()
    better = {key: {**row, "mistakes": [0] * 10} for key, row in entries.items() if key[1] == "LDA"}
    monkeypatch.setattr(guide, "entries", lambda: entries | better)
    guide.judged.cache_clear()
    with pytest.raises(AssertionError, match="nowhere is one shown to be better"):
        guide.shown_worse()
    guide.judged.cache_clear()


# -- costs -----------------------------------------------------------------------------------


def test_every_estimator_has_its_costs():
    assert (
        guide.GROWTH.keys()
        == ESTIMATORS
        == {row["estimator"].partition("(")[0] for row in guide.stored("growth")["rows"]}
    )
    book = ledger.read(ROOT).labels
    assert {label for known in guide.GROWTH.values() for label in known.labels} <= book.keys()


def test_the_table_of_costs_has_each_row_of_the_file():
    rows = [row for row in guide.stored("growth")["rows"] if row["m"] == guide.sizes()[-1]]
    cells = [cell.replace("*", "") for pair in guide.cost_rows() for cell in pair if cell != "–"]
    assert len(cells) == len(rows)
    for row in rows:
        seconds = f", {guide.significant(row['fit_seconds'])} s; "
        assert any(cell.startswith(f"{guide.shown(row['name'])}\n") and seconds in cell for cell in cells), (
            row
        )


def test_wins_and_losses_are_marked_alike():
    marked = [["**" in cell for cell in pair] for pair in guide.cost_rows()]
    assert max(map(sum, marked)) == 1
    assert min(map(sum, zip(*marked, strict=True))) > 0
    assert not any(
        any(marks) for marks, pair in zip(marked, guide.cost_rows(), strict=True) if pair[1] == "–"
    )


def test_costs_grow_as_measured():
    assert guide.growth(guide.series()["KernelPerceptron(kernel='rbf')", "mcutils"]).keys() == {"m", "d"}
    pairs = guide.growth(guide.series()["OneVsOne(LogisticRegression())", "mcutils"])
    assert pairs["k"] > 1.3, "the pairs grow with the square of the classes"
    assert f"classes {pairs['k']:.2f}" in guide.times_in_words("OneVsOne")


def test_an_exponent_is_the_slope_of_the_best_line():
    assert guide.exponent([(n, 3.0 * n**1.7) for n in (10, 40, 160)]) == pytest.approx(1.7)
    points = [(1000, 0.2), (4000, 1.1), (16_000, 3.0)]
    slope, _ = np.polyfit(*np.log(points).T, 1)
    assert guide.exponent(points) == pytest.approx(slope)
    assert guide.exponent(points[:1]) is None


def test_the_file_of_costs_is_whole():
    columns = ("estimator", "package", "m", "d", "k")
    rows = {tuple(row[c] for c in columns): row for row in guide.stored("growth")["rows"]}
    assert len(rows) == len(guide.stored("growth")["rows"])
    wanted = set()
    for size, less in growth.sizes():
        for ours, peer in growth.pairs(size.k):
            binary = isinstance(ours, growth.TWO_CLASSES)
            if binary and size.k != growth.MIDDLE[2]:
                continue
            for package, model in (("mcutils", ours), ("scikit-learn", peer)):
                at, before = (
                    (growth.name(ours), package, one.m, one.d, 2 if binary else one.k) if one else None
                    for one in (size, less)
                )
                sure = size[1:] == growth.MIDDLE[1:] and size.m <= growth.SURE
                # what took too long, or was not measured for that, is not followed by more
                enough = sure or (before in rows and rows[before]["fit_seconds"] <= growth.PATIENCE)
                if model is not None and enough:
                    wanted.add(at)
                    assert rows[at]["name"] == growth.name(model)
    assert rows.keys() == wanted


def test_every_curve_is_drawn_with_its_exponent():
    for value in ("fit_seconds", "peak"):
        html = "\n".join(curves.table(value))
        assert html.count("<tr>") == 1 + len(guide.cost_rows())
        for measured in guide.series().values():
            assert html.count(curves.shown(measured[0]["name"])) >= 1
            for what, slope in guide.growth(measured, value).items():
                points = guide.curve(measured, what, value)
                assert curves.in_words(measured[0]["package"], points, value, slope) in html
        scale = curves.Scale(value)
        assert scale.y(10.0) - scale.y(100.0) == pytest.approx(curves.DECADE)
        assert all(0 <= float(y) <= scale.height() for y in re.findall(r' cy="([^"]*)"', html))
        assert "nan" not in html


def test_a_fit_is_measured():
    row = growth.measure(mcutils.RidgeOneVsAll(), growth.samples(60, 3, 3))
    assert row["fit_seconds"] > 0
    assert row["peak"] >= 0
    assert 0 <= row["mistakes"] <= growth.N_TEST
    assert not row["warned"]
    assert growth.name(mcutils.FilterTree(random_state=3)) == "FilterTree()"


def test_the_page_of_an_estimator_says_what_it_costs():
    text = pages.as_rst("`a` and $m^2$")
    assert text == "``a`` and :math:`m^2`"
    lines: list[str] = []

    class App:
        env = type("Env", (), {"note_dependency": staticmethod(lambda name: None)})

    pages.add_costs(App, "class", "mcutils.boosting.AdaBoostMH", None, None, lines)
    assert "``AdaBoostMH`` with ``n_estimators=50`` " in lines[3]
    assert "(prop-boosting-cost)" in lines[3]
    pages.add_costs(App, "class", "mcutils.boosting.Stump", None, None, nothing := [])
    assert nothing == []


# -- docstrings and statements ---------------------------------------------------------------


def test_every_label_in_a_docstring_is_one_of_the_book():
    book = ledger.read(ROOT).labels
    named = {(label, name) for name, obj in docstrings.public() for label in LABEL.findall(obj.__doc__ or "")}
    assert sorted(pair for pair in named if pair[0] not in book) == []
    assert len({label for label, _ in named}) > 100


def paragraph_with(label):
    link = addnodes.pending_xref("", refdomain="prf", reftarget=label)
    return nodes.paragraph("", "It holds: ", link)


def definition(name, *content):
    signature = addnodes.desc_signature("", name, ids=[name], fullname=name)
    return addnodes.desc("", signature, addnodes.desc_content("", *content), objtype="class")


def test_a_label_leads_back_to_the_outermost_definition_that_names_it():
    page = new_document("page")
    method = definition("mcutils.a.B.fit", paragraph_with("thm-a-two"))
    page += nodes.section(
        "", paragraph_with("thm-a-none"), definition("mcutils.a.B", paragraph_with("thm-a-one"), method)
    )
    assert sorted(uses.uses(page)) == [("thm-a-one", "mcutils.a.B"), ("thm-a-two", "mcutils.a.B")]


def test_a_row_further_down_is_not_that_of_a_statement():
    first, second = (proof.theorem_node("", realtype="theorem", label=label) for label in ("a", "b"))
    sketch, row, later = nodes.paragraph(classes=["sketch"]), units.Strip(), units.Strip()
    section = nodes.section("", first, sketch, row, second, nodes.paragraph(), later)
    assert uses.row_below(first) is row
    new = uses.row_below(second)
    assert new is not later
    assert section.index(new) == section.index(second) + 1


# -- when one machine is not enough ----------------------------------------------------------


CLUSTER = ROOT / "appendix" / "cluster.md"


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:Port 8787", "ignore:.*Hosting the HTTP server")
def test_the_page_on_clusters_runs_from_top_to_bottom(tmp_path, monkeypatch):
    """But for the killing of a worker, which tests/test_cluster.py does."""
    monkeypatch.chdir(tmp_path)
    text = CLUSTER.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        run(block, names)
    expected = list(names["alone"].mistakes)
    assert list(names["clustered"].mistakes) == list(names["kept"].mistakes) == expected
    assert names["model"].score(names["X"], names["y"]) > 0.85


def test_the_page_on_clusters_has_measured_numbers():
    text = CLUSTER.read_text(encoding="utf-8")
    for name in re.findall(r"\{measured\}`([^`]+)`", text):
        assert guide.measured(name)
    plain = re.sub(
        r"```.*?```|\{\w+(?::\w+)?\}`.*?`|`[^`]*`|\$[^$]*\$", "", text.partition("# When")[2], flags=re.DOTALL
    )
    # the level and the distance of the bound, which are chosen; the type of a float
    assert set(re.findall(r"\d[\d,.]*\d|\d", plain)) <= {"0.95", "0.01", "1", "64"}
    assert guide.measured("rows 0.01 | 0.05") == "18,445"


def test_the_page_on_clusters_names_all_that_splits():
    """Each estimator with workers is in the table, or among those whose workers are threads."""
    splits, _, rest = CLUSTER.read_text(encoding="utf-8").partition("(sec-cluster-workers)=")
    not_split = rest.partition("(sec-cluster-not)=")[2]
    for name in ESTIMATORS:
        shared = "n_jobs" in inspect.signature(getattr(mcutils, name)).parameters and name != "AdaBoostMH"
        assert (f"`{name}`" in splits) == shared, name
        assert shared or f"`{name}`" in not_split or name.endswith("Perceptron"), name


def test_the_table_of_clusters_has_each_row_of_the_file():
    rows, cells = guide.stored("cluster")["rows"], guide.cluster_rows()
    assert len(rows) == len(cells) * len(guide.WAYS)
    for row in rows:
        (shown,) = [times for task, times, _ in cells if task == f"`{row['task']}`"]
        assert f"{guide.WAYS[row['workers']]}: {guide.significant(row['seconds'])} s" in shown
