"""Raising the pins: what may move, what is reported, and that a failed trial leaves the tree as it was."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import environment, notebooks, upgrade

ROOT = Path(__file__).resolve().parents[1]

REQUIREMENTS = "# the book\njupyter-book==1.0 # why\nnumpy==2.0\npip==1.0\n"


# -- versions ----------------------------------------------------------------------------


def test_a_pin_becomes_a_lower_bound_within_its_limit():
    expected = "# the book\njupyter-book>=1.0,<2 # why\nnumpy>=2.0\npip>=1.0\n"
    assert upgrade.loosened(REQUIREMENTS) == expected


def test_every_limit_is_of_a_package_that_is_required():
    pins = dict(upgrade.PIN.findall((ROOT / "requirements.txt").read_text(encoding="utf-8")))
    assert set(upgrade.LIMITS) <= set(pins)


def test_the_packages_that_changed_are_reported():
    before = "numpy==2.0 \\\n    --hash=sha256:0\npip==1.0 \\\nsix==1 \\\n"
    after = "numpy==2.1 ; python_version < '4' \\\npip==1.0 \\\nuv==3 \\\n"
    assert upgrade.raised(before, after) == ["numpy 2.0 -> 2.1", "six 1 -> none", "uv none -> 3"]


def test_without_an_index_nothing_is_written(tmp_path):
    (tmp_path / "requirements.txt").write_text("no-such-package-anywhere==1\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_OFFLINE", "1")
        with pytest.raises(environment.Refusal, match="versions could not be resolved"):
            upgrade.write_lock(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.txt"]


# -- the vendored pip --------------------------------------------------------------------


def new_pip(folder: Path, version: str) -> str:
    """Put a wheel of pip into a folder; its hash."""
    wheel = folder / f"pip-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"pip-{version}.dist-info/licenses/LICENSE.txt", f"the terms of {version}")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


@pytest.fixture
def vendor(tmp_path):
    folder = tmp_path / "tools" / "vendor"
    folder.mkdir(parents=True)
    new_pip(folder, "1.0")
    (folder / "LICENSE-pip.txt").write_text("the terms of 1.0")
    (folder / "README.md").write_text("`pip-1.0-py3-none-any.whl` is pip.")
    return folder


def test_a_new_pip_comes_with_its_licence_and_its_name(vendor, tmp_path, monkeypatch):
    monkeypatch.setattr(upgrade, "fetch_pip", lambda version, folder: new_pip(folder, version))
    digest = new_pip(tmp_path, "2.0.post1")
    upgrade.exchange_pip(tmp_path, f"pip==2.0.post1 \\\n    --hash=sha256:{digest}\n")
    assert [path.name for path in vendor.glob("*.whl")] == ["pip-2.0.post1-py3-none-any.whl"]
    assert (vendor / "LICENSE-pip.txt").read_text() == "the terms of 2.0.post1"
    assert (vendor / "README.md").read_text() == "`pip-2.0.post1-py3-none-any.whl` is pip."


def test_a_pip_of_another_hash_is_refused_and_the_old_one_stays(vendor, tmp_path, monkeypatch):
    monkeypatch.setattr(upgrade, "fetch_pip", lambda version, folder: new_pip(folder, version))
    with pytest.raises(environment.Refusal, match="a hash that the lock does not allow"):
        upgrade.exchange_pip(tmp_path, f"pip==2.0 \\\n    --hash=sha256:{'0' * 64}\n")
    assert [path.name for path in vendor.glob("*.whl")] == ["pip-1.0-py3-none-any.whl"]


# -- what moved --------------------------------------------------------------------------


def chapter(*printed):
    """A notebook that prints two lines, and shows them as a value."""
    outputs = [
        new_output("stream", text="\n".join(printed) + "\n"),
        new_output("execute_result", data={"text/plain": printed[-1]}),
    ]
    return new_notebook(cells=[new_markdown_cell("Text."), new_code_cell("show()", outputs=outputs)])


def test_a_line_that_moved_is_reported_with_its_cell_old_and_new():
    before, after = chapter("risk 0.25", "gap 1e-9"), chapter("risk 0.26", "gap 1e-9")
    place = notebooks.place(1, before.cells[1])
    assert upgrade.moved(before, after) == [place, "- risk 0.25", "+ risk 0.26"]
    assert upgrade.moved(before, before) == []


def test_a_value_and_a_line_that_is_new_are_reported_too():
    assert upgrade.moved(chapter("a"), chapter("a", "b"))[1:] == ["- a", "+ b", "+ b"]


# -- the trial ---------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path, monkeypatch, vendor):
    """A repository with a chapter, whose commands and index are what a test says."""

    def git(*arguments):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "toy.ipynb").write_text(notebooks.text(chapter("0.25")), encoding="utf-8")
    (tmp_path / "requirements.txt").write_text(REQUIREMENTS, encoding="utf-8")
    (tmp_path / "requirements.lock").write_text("numpy==2.0\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("_build\n")
    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "All of it.")

    def raise_pins(folder):
        for name, text in (("txt", REQUIREMENTS.replace("2.0", "2.1")), ("lock", "numpy==2.1\n")):
            (folder / f"requirements.{name}").write_text(text, encoding="utf-8")

    ran = []
    monkeypatch.setattr(upgrade, "ROOT", tmp_path)
    monkeypatch.setattr(upgrade, "raise_pins", raise_pins)
    monkeypatch.setattr(upgrade, "command", lambda folder, name: ran.append(name) is None)
    monkeypatch.setattr(upgrade.audit, "findings", lambda lock: [])
    return tmp_path, ran


def state(folder):
    """What a trial may change in a tree."""
    files = [*folder.glob("requirements.*"), *folder.glob("chapters/*")]
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def test_versions_that_change_nothing_else_are_taken(book, capsys):
    folder, ran = book
    assert upgrade.upgrade() == 0
    assert ran == ["notebooks", "test"]
    assert state(folder)["requirements.lock"] == "numpy==2.1\n"
    assert "numpy==2.1" in state(folder)["requirements.txt"]
    assert "numpy 2.0 -> 2.1" in capsys.readouterr().out


def failing_tests(monkeypatch):
    monkeypatch.setattr(upgrade, "command", lambda folder, name: name != "test")


def moving_line(monkeypatch):
    def command(folder, name):
        (folder / "chapters" / "toy.ipynb").write_text(notebooks.text(chapter("0.26")), encoding="utf-8")
        return True

    monkeypatch.setattr(upgrade, "command", command)


def vulnerable_lock(monkeypatch):
    monkeypatch.setattr(upgrade.audit, "findings", lambda lock: ["numpy 2.1: PYSEC-1"])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (failing_tests, "not all passed"),
        (moving_line, "chapters/toy.ipynb\n"),
        (vulnerable_lock, "numpy 2.1: PYSEC-1"),
    ],
)
def test_whatever_is_wrong_leaves_the_tree_as_it_was(book, monkeypatch, capsys, fault, words):
    folder, _ = book
    before = state(folder)
    fault(monkeypatch)
    assert upgrade.upgrade() == 1
    assert words in capsys.readouterr().out
    assert state(folder) == before
    subprocess.run(["git", "-C", str(folder), "apply", "_build/upgrade.patch"], check=True)
    assert state(folder)["requirements.lock"] == "numpy==2.1\n"


def test_where_nothing_is_newer_nothing_runs(book, monkeypatch, capsys):
    _, ran = book
    monkeypatch.setattr(upgrade, "raise_pins", lambda folder: None)
    assert upgrade.upgrade() == 0
    assert ran == []
    assert "all are the newest that fit together" in capsys.readouterr().out
    monkeypatch.setattr(upgrade.audit, "findings", lambda lock: ["unknown for 1 of 1"])
    assert upgrade.upgrade() == 1


def test_changes_that_are_not_committed_are_not_mixed_with_the_trial(book):
    folder, ran = book
    (folder / "requirements.txt").write_text("numpy==1.9\n", encoding="utf-8")
    with pytest.raises(environment.Refusal, match="Commit or stash"):
        upgrade.upgrade()
    assert ran == []


def test_the_lock_is_what_the_command_makes_of_the_requirements(tmp_path, monkeypatch):
    """`lock` has uv resolve it and nothing else."""
    calls = []
    monkeypatch.setattr(upgrade, "resolve", lambda requirements, lock: calls.append((requirements, lock)))
    monkeypatch.setattr(upgrade, "exchange_pip", lambda folder, lock: None)
    monkeypatch.setattr(upgrade, "ROOT", tmp_path)
    (tmp_path / "requirements.txt").write_text(REQUIREMENTS, encoding="utf-8")
    (tmp_path / "requirements.lock").write_text("", encoding="utf-8")
    assert upgrade.main(["lock"]) == 0
    assert calls == [(REQUIREMENTS, tmp_path / "requirements.lock")]
