"""The commands: what they promise on a computer that lacks something, and that they do nothing twice."""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import mcutils
from tools import environment, package, pythons, run

ROOT = Path(__file__).resolve().parent.parent
NAMES = [name for name, _ in run.COMMANDS]


# -- any Python gets a reply -----------------------------------------------------------------


@pytest.mark.parametrize("version", [(2, 7), (3, 6), (3, 10), (3, 14), (4, 0)])
def test_another_python_is_refused_in_a_sentence(version):
    sentence = run.refusal(version, "/usr/bin/python3")
    assert "3.11, 3.12 or 3.13" in sentence
    assert f"/usr/bin/python3 is Python {version[0]}.{version[1]}" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_allowed_pythons_are_not_refused(version):
    assert run.refusal((*version, 1), sys.executable) is None


@pytest.mark.ci
def test_the_refusal_comes_before_anything_that_could_fail():
    """Under a Python that claims to be 3.9, nothing but the sentence is printed."""
    trick = "import sys, runpy; sys.version_info = (3, 9, 2); runpy.run_path('tools/run.py')"
    result = subprocess.run(
        [sys.executable, "-S", "-c", trick], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.strip() == run.refusal((3, 9), sys.executable)


def newer_than_python_2(tree: ast.AST) -> set[str]:
    """The names of the constructs in a syntax tree that Python 2.7 cannot read."""
    result = set()
    for node in ast.walk(tree):
        if isinstance(
            node,
            ast.JoinedStr
            | ast.AnnAssign
            | ast.NamedExpr
            | ast.Nonlocal
            | ast.YieldFrom
            | ast.AsyncFunctionDef
            | ast.Await
            | ast.Match
            | ast.MatMult
            | ast.TryStar,
        ):
            result.add(type(node).__name__)
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            if arguments.kwonlyargs or arguments.posonlyargs:
                result.add("keyword-only or positional-only argument")
            annotated = [*arguments.args, arguments.vararg, arguments.kwarg]
            if node.returns or any(argument and argument.annotation for argument in annotated):
                result.add("annotation")
        if isinstance(node, ast.Raise) and node.cause:
            result.add("raise from")
        if isinstance(node, ast.ClassDef) and node.keywords:
            result.add("class keyword")
        if isinstance(node, ast.Assign | ast.List | ast.Tuple | ast.Set) and any(
            isinstance(part, ast.Starred) for part in getattr(node, "elts", getattr(node, "targets", ()))
        ):
            result.add("starred element")
        if isinstance(node, ast.Call):
            if sum(isinstance(argument, ast.Starred) for argument in node.args) > 1:
                result.add("two starred arguments")
            if (
                isinstance(node.func, ast.Name)
                and node.func.id == "print"
                and (node.keywords or len(node.args) != 1)
            ):
                result.add("print that is no statement")
        if isinstance(node, ast.Dict) and None in node.keys:
            result.add("starred dictionary")
    return result


def test_run_py_is_readable_for_any_python():
    text = (ROOT / "tools/run.py").read_bytes()
    assert text.isascii()  # Python 2 refuses anything else without a coding line
    assert newer_than_python_2(ast.parse(text, feature_version=(3, 4))) == set()


@pytest.mark.parametrize(
    "line",
    ["f'{a}'", "a: int = 1", "print('a', end='')", "[*a]", "def f(*, a): pass", "def f() -> int: pass",
     "f(*a, *b)", "{**a}", "x = (y := 1)"],
)  # fmt: skip
def test_what_python_2_cannot_read_would_be_noticed(line):
    assert newer_than_python_2(ast.parse(line))


# -- one list of commands --------------------------------------------------------------------


def command(*arguments: str, program: tuple[str, ...] = (sys.executable, "tools/run.py")):
    # these tests may themselves run under make, of which an inner make would speak
    inherited = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(
        [*program, *arguments], cwd=ROOT, env=inherited, capture_output=True, text=True, check=False
    )


def test_make_and_run_py_print_the_same_list():
    alone = command()
    assert alone.returncode == 0
    assert re.findall(r"^  (\w+) ", alone.stdout, re.MULTILINE) == NAMES
    if shutil.which("make"):
        assert command(program=("make", f"PYTHON={sys.executable}")).stdout == alone.stdout


def test_makefile_has_the_commands():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^COMMANDS := (.*)$", makefile, re.MULTILINE)[1].split() == NAMES


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")
def test_make_without_python_is_refused():
    result = command("book", program=("make", "PYTHON=no-such-python"))
    assert result.returncode != 0
    assert result.stderr.splitlines()[0] == (
        "The book needs Python 3.11, 3.12 or 3.13, and there is no no-such-python here."
    )


@pytest.mark.parametrize("name", NAMES)
def test_readme_explains_every_command(name):
    assert f"| `make {name}` |" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_what_the_readme_says():
    assert "make test " in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("make test")


@pytest.mark.parametrize("words", [("bok",), ("test", "ecoc")])
def test_a_wrong_command_is_refused_in_a_sentence(words):
    result = command(*words)
    assert result.returncode == 1
    assert repr(words[-1]) in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_every_step_runs_and_a_failed_one_decides(monkeypatch, capsys):
    codes = {"first": 0, "second": 3, "third": run.LEFT_OUT, "fourth": 0}
    monkeypatch.setattr(run, "run", lambda program, variables: codes[program[0]])
    assert run.run_steps([(name, (name,), {}) for name in codes]) == 1
    report = capsys.readouterr().out
    outcomes = re.findall(r"^  (ok|FAILED|left out) +\d+\.\d s  (\w+)$", report, re.MULTILINE)
    assert outcomes == [("ok", "first"), ("FAILED", "second"), ("left out", "third"), ("ok", "fourth")]
    assert report.splitlines()[-1] == "NOT DONE ON THIS MACHINE, for the reason given above: third"


def test_a_step_that_was_left_out_fails_nothing(monkeypatch):
    monkeypatch.setattr(run, "run", lambda program, variables: run.LEFT_OUT)
    assert run.run_steps([("browser", ("browser",), {})]) == 0


def without_chromium(**variables: str):
    """The step "browser" on a computer that has none."""
    (program,) = [program for name, program in run.TESTS if name == "browser"]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("CI", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", *program],
        cwd=ROOT,
        env={**inherited, "CHROMIUM": "no-such-browser", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.ci
def test_without_chromium_the_browser_tests_are_left_out_in_a_sentence():
    result = without_chromium()
    assert result.returncode == run.LEFT_OUT
    (sentence,) = result.stderr.splitlines()
    assert "The browser tests were left out" in sentence
    assert "apt install chromium" in sentence


@pytest.mark.ci
def test_without_chromium_ci_fails():
    result = without_chromium(CI="true")
    assert result.returncode == 1
    assert "with CI set they are not left out" in result.stderr


@pytest.mark.ci
def test_the_other_tests_do_not_look_at_the_site():
    """They run before it is built. Of the files, a few of both folders are enough."""
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "--ignore-glob=*/test_[!c]*.py", "tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tests/test_commands.py" in result.stdout
    assert "tests/browser" not in result.stdout


@pytest.mark.ci
def test_elsewhere_what_depends_on_no_version_is_left_out():
    def collected(*options: str) -> set[str]:
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, "tests/test_boosting.py"]
        return set(
            subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        )

    left_out = {f"tests/test_boosting.py::test_threads_change_nothing[{votes}]" for votes in ("sign", "leaf")}
    everything = collected()
    assert left_out < everything
    assert {name for name in everything - collected("--again") if "::" in name} == left_out


def test_ci_leaves_nothing_out_and_others_name_what_they_leave_out(monkeypatch, capsys):
    ran = {}
    monkeypatch.setattr(run, "check", lambda: 0)
    for ci in ("", "true"):
        monkeypatch.setenv("CI", ci)
        monkeypatch.setattr(run, "run_steps", lambda steps, ci=ci: ran.update({ci: list(steps)}) or 0)
        assert run.test() == 0
        caught = capsys.readouterr().out
        for name, _ in run.CI_TESTS:
            assert (f"  {name}\n" in caught) == (not ci)
    everything = run.TESTS + run.CI_TESTS
    assert [name for name, _, _ in ran["true"]] == [name for name, _ in everything]
    assert [name for name, _, _ in ran[""]] == [name for name, _ in run.TESTS]
    assert [program[-1] for _, program, _ in ran[""] if program[0] == "pytest"] == ["--quick", "--quick"]
    assert not any("--quick" in program for _, program, _ in ran["true"])
    programs = {name: program for name, program, _ in ran["true"]}
    assert ("tools.pythons",) in programs.values()
    assert ("tools.package", "--lowest") in programs.values()


def test_a_failed_check_fails_the_tests(monkeypatch):
    monkeypatch.setattr(run, "run_steps", lambda steps: 0)
    monkeypatch.setattr(run, "check", lambda: 1)
    assert run.test() == 1


def test_checks_run_together_and_each_is_reported(capsys):
    steps = [
        (name, ("timeit", "-n1", "-r1", code), dict(os.environ))
        for name, code in (("right", "print('a word')"), ("wrong", "raise ValueError('no')"))
    ]
    assert run.run_together(steps) == 1
    caught = capsys.readouterr().out
    assert re.search(
        r"=== right: .*\na word\n.*=== wrong: .*ValueError: no.*  ok       right\n  FAILED   wrong",
        caught,
        re.DOTALL,
    )


# -- the environment -------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path):
    """A copy of what the environment is made from, in a folder that has none."""
    for name in ("requirements.lock", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def check_in(folder: Path, **variables: str):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    return subprocess.run(
        [sys.executable, "tools/run.py", "check"],
        cwd=folder,
        env={**inherited, "PIP_CONFIG_FILE": os.devnull, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.ci
def test_no_network_is_one_sentence(copy):
    result = check_in(copy, PIP_INDEX_URL="http://me:secret@127.0.0.1:9/simple", PIP_RETRIES="0")
    assert result.returncode == 1
    (sentence,) = result.stderr.splitlines()
    assert "check the network" in sentence
    assert "PIP_INDEX_URL" in sentence
    assert "secret" not in sentence
    assert not (copy / ".venv" / "stamp").exists()


@pytest.mark.ci
def test_a_folder_that_cannot_be_written_is_one_sentence(copy):
    (copy / "_build").write_text("a file where the log's folder should be")
    result = check_in(copy)
    assert result.returncode == 1
    (sentence,) = result.stderr.splitlines()
    assert str(copy / "_build") in sentence


def exchange_pip(copy: Path, version: str = "1.0") -> Path:
    """Put another pip into the copy, of the version and hash in its lock, which fails as pip does."""
    wheel = copy / "tools" / "vendor" / f"pip-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pip/__init__.py", "")
        archive.writestr("pip/__main__.py", "print('ERROR: No space left'); raise SystemExit(2)")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (copy / "requirements.lock").write_text(f"pip=={version} \\\n    --hash=sha256:{digest}\n")
    return wheel


@pytest.mark.ci
def test_a_failing_installation_is_one_sentence_and_leaves_no_stamp(copy):
    exchange_pip(copy)
    result = check_in(copy)
    assert result.returncode == 1
    (sentence,) = result.stderr.splitlines()
    assert "pip says 'No space left'" in sentence
    assert str(copy / "_build" / "install.log") in sentence
    assert not (copy / ".venv" / "stamp").exists()


@pytest.mark.ci
def test_a_pip_that_the_lock_does_not_allow_is_not_run(copy):
    exchange_pip(copy).write_bytes(b"something else")
    result = check_in(copy)
    assert result.returncode == 1
    (sentence,) = result.stderr.splitlines()
    assert "which requirements.lock does not allow" in sentence
    assert not (copy / ".venv").exists()


@pytest.mark.ci
def test_a_lock_with_another_pip_than_the_one_that_is_there(copy):
    exchange_pip(copy).unlink()
    result = check_in(copy)
    assert result.returncode == 1
    (sentence,) = result.stderr.splitlines()
    assert "must hold pip-1.0-py3-none-any.whl" in sentence
    assert "it holds pip-" in sentence


@pytest.fixture
def place(copy, monkeypatch):
    """The environment's paths, moved into the copy; what would be installed is only counted."""
    monkeypatch.setattr(environment, "ROOT", copy)
    monkeypatch.setattr(environment, "LOCK", copy / "requirements.lock")
    here = environment.Place(copy / ".venv", environment.THIS, copy / "_build" / "install.log")
    monkeypatch.setattr(environment, "HERE", here)
    installations = []

    def install(place):
        installations.append(place)
        python = Path(place.python)
        python.parent.mkdir(exist_ok=True, parents=True)
        python.touch()

    monkeypatch.setattr(environment, "install", install)
    return copy, installations


def test_nothing_is_installed_twice(place):
    _, installations = place
    environment.ensure()
    environment.ensure()
    assert len(installations) == 1


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: edit(folder / "requirements.lock", "numpy==", "numpy==1"),
        lambda folder: edit(folder / "pyproject.toml", '"numpy>=', '"numpy>=1'),
        lambda folder: (folder / ".venv" / "stamp").unlink(),
        lambda folder: (folder / ".venv" / "stamp").write_text("half a st"),
        lambda folder: Path(environment.HERE.python).unlink(),
    ],
    ids=["lock", "dependencies", "no stamp", "broken stamp", "no python"],
)
def test_what_matters_is_installed_again(place, change):
    folder, installations = place
    environment.ensure()
    change(folder)
    environment.ensure()
    environment.ensure()
    assert len(installations) == 2


def test_a_lint_rule_installs_nothing(place):
    folder, installations = place
    environment.ensure()
    edit(folder / "pyproject.toml", "line-length = 110", "line-length = 100")
    environment.ensure()
    assert len(installations) == 1


def test_a_copy_of_the_tree_does_not_take_the_original_environment_for_its_own(place, monkeypatch):
    folder, _ = place
    environment.ensure()
    before = environment.fingerprint(environment.HERE)
    shutil.copytree(folder, folder / "copy")
    monkeypatch.setattr(environment, "ROOT", folder / "copy")
    assert environment.fingerprint(environment.HERE) != before


def test_an_interrupted_installation_has_no_stamp(place, monkeypatch):
    def interrupted(place):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(environment, "install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            environment.ensure()
    _, installations = place
    environment.ensure()
    assert len(installations) == 1


def test_each_python_has_an_environment_of_its_own(place):
    folder, installations = place
    other = environment.THIS._replace(version=(3, 99))
    elsewhere = environment.Place(folder / "other", other, folder / "_build" / "install-3.99.log")
    for _ in range(2):
        environment.ensure()
        environment.ensure(elsewhere)
    assert installations == [environment.HERE, elsewhere]
    assert environment.HERE.stamp.read_text() != elsewhere.stamp.read_text()


# -- other Pythons ---------------------------------------------------------------------------


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.skipif(os.name == "nt", reason="shell scripts")
def test_a_python_is_one_that_runs(tmp_path, monkeypatch):
    """A shim on the PATH that fails is passed over; then pyenv's versions are looked at, the newest first."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert environment.find((3, 99)) is None
    script(tmp_path / "bin" / "python3.99", "echo 'pyenv: python3.99: command not found' >&2; exit 127")
    assert environment.find((3, 99)) is None
    script(tmp_path / "bin" / "python3.99", "echo 3 98 linux-x86_64")  # another than its name says
    assert environment.find((3, 99)) is None
    paths = [tmp_path / "pyenv" / "versions" / f"3.99.{n}" / "bin" / "python3.99" for n in (9, 10)]
    for path in paths:
        script(path, "echo 3 99 linux-x86_64")
    assert environment.find((3, 99)) == (str(paths[1]), (3, 99), "linux-x86_64")
    on_path = script(tmp_path / "bin" / "python3.99", "echo 3 99 linux-x86_64")
    assert environment.find((3, 99)).path == str(on_path)
    assert environment.find(environment.THIS.version) == environment.THIS


def other_pythons(monkeypatch, capsys, codes, own=0):
    """Exit status and last lines of tools.pythons, if the tests of each Python that is here end so.

    Once, and on one Python, the chapters run with other numerics.
    """
    here = {version: environment.THIS._replace(version=version) for version in codes}
    monkeypatch.setattr(environment, "find", here.get)
    numerics = {}

    def test(place, settings):
        numerics[place.interpreter.version] = settings
        return codes[place.interpreter.version]

    monkeypatch.setattr(pythons, "test", test)
    monkeypatch.setattr(pythons, "notebooks_with_other_numerics", lambda: numerics.update(own=True) or own)
    status = pythons.main()
    assert [*numerics.values()] == [{}] * (len(codes) - 1) + [run.OTHER_MACHINE if codes else True]
    return status, capsys.readouterr().out.strip().splitlines()


def test_each_other_python_is_tested_or_named(monkeypatch, capsys):
    monkeypatch.setattr(pythons, "THIS", environment.THIS._replace(version=(3, 11)))
    status, caught = other_pythons(monkeypatch, capsys, {(3, 12): 0, (3, 13): 0})
    assert status == 0
    assert [line.split(",")[0].strip() for line in caught[-2:]] == ["Python 3.12: ok", "Python 3.13: ok"]
    status, caught = other_pythons(monkeypatch, capsys, {(3, 12): 3, (3, 13): 0})
    assert status == 1
    assert "Python 3.12: FAILED" in caught[-2]
    status, caught = other_pythons(monkeypatch, capsys, {(3, 12): 0})
    assert status == 0
    assert "Python 3.13: NOT TESTED" in caught[-1]


def test_no_other_python_is_said_in_the_last_line(monkeypatch, capsys):
    status, caught = other_pythons(monkeypatch, capsys, {})
    assert status == run.LEFT_OUT == package.LEFT_OUT
    assert caught[-1].startswith("NO OTHER PYTHON WAS TESTED: only ")
    status, caught = other_pythons(monkeypatch, capsys, {}, own=1)
    assert status == 1
    assert "other numerics, on this Python: FAILED" in "".join(caught)


# -- what is pinned --------------------------------------------------------------------------


def test_the_lock_pins_what_is_required_with_hashes_and_names_no_index():
    lock = (ROOT / "requirements.lock").read_text()
    requirements = (ROOT / "requirements.txt").read_text()
    pins = re.findall(r"^[\w.-]+==\S+", requirements, re.MULTILINE)
    assert len(pins) > 20
    entries = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)[1:]
    locked = {entry.split()[0] for entry in entries}
    assert set(pins) <= locked
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock
    version, hashes = environment.pinned_pip(lock)
    assert f"pip=={version}" in pins
    assert environment.vendored_pip(lock).exists()
    assert all(len(digest) == 64 for digest in hashes)


def test_citation_has_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == mcutils.__version__
