"""What is installed, and pickles of other versions."""

import copy
import pickle
import warnings

import joblib
import pytest
import sklearn.exceptions
from estimators import KINDS
from sklearn.base import BaseEstimator, clone

import mcutils
from mcutils import BinarySVM, versions
from mcutils.versions import InconsistentVersionWarning

X, Y = [[0.0], [1.0]], ["a", "b"]


def of_version(version):
    """A pickle as that version writes it."""
    state = {**vars(BinarySVM().fit(X, Y)), "_mcutils_version": version}
    if version is None:
        del state["_mcutils_version"]
    return pickle.dumps(_Raw(state))


class _Raw:
    def __init__(self, state):
        self.state = state

    def __reduce__(self):
        return BinarySVM, (), self.state


def test_a_pickle_records_the_version(tmp_path):
    model = BinarySVM().fit(X, Y)
    assert model.__getstate__()["_mcutils_version"] == mcutils.__version__
    joblib.dump(model, tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model)]
        copies.append(joblib.load(tmp_path / "model"))
    assert all("_mcutils_version" not in vars(each) for each in copies)


@pytest.mark.parametrize(("version", "named"), [("0.0.1", "0.0.1"), ("99.0", "99.0"), (None, "0.1.0")])
@pytest.mark.parametrize("kind", [InconsistentVersionWarning, sklearn.exceptions.InconsistentVersionWarning])
def test_another_version_warns(version, named, kind, monkeypatch):
    monkeypatch.setattr("mcutils._base.__version__", "1.2.3")
    saved = of_version(version)
    with pytest.warns(kind, match=rf"BinarySVM was saved by mcutils {named}, and this is 1.2.3") as warned:
        model = pickle.loads(saved)
    assert [each.filename for each in warned] == [__file__]
    assert model.predict(X).tolist() == Y
    assert "_mcutils_version" not in vars(model)


@pytest.mark.parametrize("name", KINDS)
def test_every_estimator_records_it(name):
    kind = KINDS[name]
    assert kind.__getstate__ is not BaseEstimator.__getstate__
    assert kind.__setstate__ is not BaseEstimator.__setstate__


def test_the_versions_that_are_shown(capsys):
    mcutils.show_versions()
    shown = dict(line.strip().split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    assert shown["mcutils"] == mcutils.__version__
    assert shown["scikit-learn"] == sklearn.__version__
    assert shown["python"].startswith("3.")
    assert {"executable", "machine", "numpy", "scipy", "joblib", "numba", "user_api"} <= shown.keys()


def test_what_is_missing_is_said(capsys, monkeypatch):
    monkeypatch.setitem(versions.sys.modules, "numba", None)
    monkeypatch.setattr("mcutils.versions.PACKAGES", ("no-such-package",))
    mcutils.show_versions()
    out = capsys.readouterr().out
    assert "no-such-package: not installed" in out
    assert "cannot be imported" in out
    assert "kept in" not in out
