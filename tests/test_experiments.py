"""The command of the comparison: one budget for all, and an interrupted run goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedGroupKFold

from experiments import RESULTS, read
from experiments import comparison as command
from mcutils import data
from mcutils.comparison import check_groups, folds, nested

ROOT = Path(__file__).resolve().parent.parent

LIVE = ("softmax", "LDA", "DecisionTree")


@pytest.fixture(scope="module")
def stored():
    return read("comparison")


def test_every_classifier_has_the_same_budget(stored):
    assert stored["settings"]["candidates"] == command.MOST == 6
    for name, (pipeline, candidates) in command.machines(4, 3).items():
        assert len(candidates) == (1 if name == "Dummy" else 6)
        assert len({str(params) for params in candidates}) == len(candidates)
        assert all(pipeline.get_params().keys() >= params.keys() for params in candidates)


def test_the_base_classifiers_of_the_old_argument_are_tuned_alike():
    """One-vs-all, one-vs-one, codes and the classifiers of one optimum: the same penalties and widths."""
    grids = set()
    for name in ("one-vs-all", "one-vs-one", "output code", "Crammer-Singer", "Weston-Watkins"):
        pipeline, candidates = command.machines(10, 11)[f"{name}, rbf"]
        grids.add(tuple(tuple(params.values()) for params in candidates))
        kernels = [value for key, value in pipeline.get_params().items() if key.endswith("__kernel")]
        assert kernels == ["rbf"]
    assert len(grids) == 1


@pytest.mark.parametrize("model", LIVE)
@pytest.mark.parametrize("name", ["iris", "glass", "vowel"])
def test_a_cell_is_that_of_the_file(stored, name, model):
    """Also by another way: what `nested` finds with the same seed."""
    (row,) = [
        one
        for one in stored["rows"]
        if (one["data"], one["machine"], one["split"]) == (name, model, "resampled")
    ]
    cell = command.one(name, model, 3)
    for key in ("mistakes", "n_test", "cost", "decided", "chosen", "inner"):
        assert cell[key] == row[key][3], key
    sample = command.data_set(name)
    result = nested(
        *command.machines(sample.X.shape[1], len(sample.names))[model],
        sample.X,
        sample.y,
        n_splits=4,
        groups=sample.groups,
    )
    assert result.mistakes.tolist() == row["mistakes"][:4]
    assert result.chosen.tolist() == row["chosen"][:4]


def test_the_file_is_whole(stored):
    assert [one["data"] for one in stored["data"]] == list(command.DEAR)
    kinds = {(row["data"], row["machine"], row["split"]) for row in stored["rows"]}
    wanted = {(name, model, "resampled") for name in command.DEAR for model in command.NAMES}
    assert kinds == wanted | {("vowel", model, "official") for model in command.NAMES}
    assert len(kinds) == len(stored["rows"])
    sizes = {one["data"]: one for one in stored["data"]}
    for row in stored["rows"]:
        if row["split"] == "resampled":
            assert row["n_test"] == sizes[row["data"]]["n_test"]
            assert len(row["mistakes"]) == command.SPLITS
        else:
            assert row["n_test"] == [462]
            assert sum(row["speakers"]) == row["mistakes"][0]
        # a mistake costs 1 or 5
        wrong, cost = np.array(row["mistakes"]), np.array(row["cost"])
        assert ((wrong <= cost) & (cost <= 5 * wrong)).all()
    assert json.loads(json.dumps(command.settings())) == stored["settings"]


def test_no_classifier_beats_the_bayes_rule_of_the_displays(stored):
    (sizes,) = [one for one in stored["data"] if one["data"] == "led7"]
    risks = [row["risk"] for row in stored["rows"] if row["data"] == "led7"]
    assert len(risks) == len(command.NAMES)
    assert np.min(risks) >= sizes["bayes"] - 1e-6
    assert np.min(risks) < sizes["bayes"] + 0.02


def test_the_exact_risk_is_that_of_many_displays():
    X, y = data.led7(500, random_state=1)
    model = LinearDiscriminantAnalysis().fit(X.astype(float), y)
    fresh, truth = data.led7(200_000, random_state=2)
    share = (model.predict(fresh.astype(float)) != truth).mean()
    assert abs(command.exact_risk(model) - share) < 0.004


def test_vowels_are_split_by_speaker_and_as_their_file_says():
    vowel = data.load("vowel")
    _, test = command.outer("vowel", command.OFFICIAL)
    assert np.array_equal(test, np.flatnonzero(vowel.is_test))
    for split in range(command.SPLITS):
        check_groups([command.outer("vowel", split)], vowel.groups)
    with pytest.raises(ValueError, match="split=10 does not exist for iris; allowed are 0 to 9"):
        command.outer("iris", 10)
    with pytest.raises(ValueError, match="name='moons' is no data set of the comparison"):
        command.data_set("moons")


DRIVER = """
from experiments import comparison as command
from experiments import RESULTS, read
command.SPLITS, command.NAMES = 4, ("LDA", "GaussianNB", "softmax")
command.main({arguments!r})
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    journals, result = tmp_path / "journals", tmp_path / "comparison.json"
    arguments = ["--data", "glass", "--journal", str(journals), "--folder", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(arguments=arguments)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        if sum(path.read_bytes().count(b"\n") for path in journals.glob("*.jsonl")) >= 2:
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (journal,) = journals.glob("*.jsonl")
    before = [line for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert 2 <= len(before) < 12
    assert not result.exists()

    with journal.open("a") as file:
        file.write('{"data": "glass", "machine": "LD')  # cut off while it was written
    monkeypatch.setattr(command, "SPLITS", 4)
    monkeypatch.setattr(command, "NAMES", ("LDA", "GaussianNB", "softmax"))
    computed, real = [], command.one
    monkeypatch.setattr(command, "one", lambda *cell: computed.append(cell) or real(*cell))
    command.main([*arguments, "--jobs", "1"])
    after = journal.read_text().splitlines(keepends=True)
    finished = [(row["data"], row["machine"], row["split"]) for row in map(json.loads, before)]
    assert after[: len(before)] == before
    assert len(after) == 12 == len(before) + len(computed)
    assert not set(finished) & set(computed)

    written = json.loads(result.read_text())
    assert written["seed"] == command.SEED
    assert {"python", "numpy", "scikit-learn", "mcutils"} <= written["versions"].keys()
    assert {"system", "processor", "cores"} <= written["machine"].keys()
    rows = written["rows"]
    whole = read("comparison")["rows"]
    for row in rows:
        (full,) = [one for one in whole if (one["data"], one["machine"]) == ("glass", row["machine"])]
        assert row["mistakes"] == full["mistakes"][:4]

    computed.clear()
    command.main([*arguments, "--jobs", "1"])
    assert not computed


def test_another_setting_is_another_journal(tmp_path, monkeypatch):
    first = command.Journal(tmp_path)
    assert command.Journal(tmp_path).path == first.path
    monkeypatch.setattr(command, "DEAR_COST", 6)
    assert command.Journal(tmp_path).path != first.path


def test_a_part_does_not_overwrite_the_whole(capsys):
    with pytest.raises(SystemExit):
        command.main(["--data", "iris"])
    assert "--data needs --folder" in capsys.readouterr().err


def test_inner_folds_of_the_vowels_are_by_speaker():
    """By scikit-learn's own splitter, and refused if they were not."""
    sample = command.data_set("vowel")
    train, _ = command.outer("vowel", 2)
    peer = StratifiedGroupKFold(3, shuffle=True, random_state=2)
    ours = folds(sample.y[train], 3, groups=sample.groups[train], random_state=2)
    theirs = peer.split(sample.X[train], sample.y[train], sample.groups[train])
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_result_names_what_made_it(path):
    assert {"python", "numpy"} <= json.loads(path.read_text(encoding="utf-8"))["versions"].keys()
