"""The automatic runs do what the commands do: one list of Pythons, of steps, and of what is tested."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tools import environment, folders, package, release, run

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = {path.name: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# the Pythons that run.py does not refuse
PYTHONS = [f"3.{minor}" for minor in range(50) if run.refusal((3, minor), "python") is None]


def workflow(name: str) -> dict[Any, Any]:
    content: dict[Any, Any] = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    return content


def jobs() -> list[Any]:
    """Every job of every workflow, as a parameter."""
    return [
        pytest.param(job, id=f"{name}:{key}")
        for name in WORKFLOWS
        for key, job in workflow(name)["jobs"].items()
    ]


def test_the_runs_that_maintaining_describes_are_those_that_exist():
    text = (ROOT / "MAINTAINING.md").read_text(encoding="utf-8")
    section = re.search(r"^## Automatic runs\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    runs = {"tests.yml", "site.yml", "weekly.yml", "release.yml"}
    assert set(re.findall(r"`(\w+\.yml)`", section)) == set(WORKFLOWS) == runs


# -- Pythons -----------------------------------------------------------------------------------


@pytest.mark.parametrize("job", ["book", "package"])
def test_the_tests_run_on_every_python_that_is_not_refused(job):
    assert workflow("tests.yml")["jobs"][job]["strategy"]["matrix"]["python"] == PYTHONS


def test_the_package_names_the_same_pythons():
    prefix = "Programming Language :: Python :: 3."
    named = ["3." + line.removeprefix(prefix) for line in PROJECT["project"]["classifiers"] if prefix in line]
    assert named == PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == PYTHONS[0]
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + PYTHONS[0].replace(".", "")


def test_binder_and_the_published_site_have_one_of_them():
    binder = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
    setups = [
        step["with"] for step in workflow("site.yml")["jobs"]["build"]["steps"] if "setup-python" in str(step)
    ]
    assert [setup["python-version"] for setup in setups] == [binder]
    assert binder in PYTHONS


def test_the_package_is_tested_on_the_three_systems():
    systems = workflow("tests.yml")["jobs"]["package"]["strategy"]["matrix"]["system"]
    assert {name.split("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}


# -- commands ----------------------------------------------------------------------------------


def unknown_commands(script: str) -> list[str]:
    """The lines of a step's script that call nothing that is in the repository."""
    return [line for line in script.strip().splitlines() if not exists(line.split("#")[0].split())]


def exists(words: list[str]) -> bool:
    if words[0] == "git":
        return True
    if words[0] == "make":
        return words[1:] and set(words[1:]) <= {name for name, _ in run.COMMANDS}
    if words[:2] == ["python", "-m"]:
        return find_spec(words[2]) is not None and all((ROOT / w).exists() for w in words[3:] if w[0] != "-")
    return os.access(ROOT / words[0], os.X_OK)


@pytest.mark.parametrize("job", jobs())
def test_the_commands_of_the_workflows_exist(job):
    for step in job.get("steps", []):
        assert unknown_commands(step.get("run", "")) == []
    if "uses" in job:
        called = ROOT / job["uses"]
        assert called.exists()
        inputs = workflow(called.name)[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true
        assert set(job.get("with", {})) <= set(inputs)


@pytest.mark.parametrize(
    "line", ["make bok", "make", ".ci/walk", "python -m tools.nothing", "curl example.org"]
)
def test_a_command_that_does_not_exist_would_be_noticed(line):
    assert unknown_commands(f".ci/run\n{line}") == [line]


def test_the_readmes_two_commands_are_run():
    scripts = [step.get("run", "") for job in jobs() for step in job.values[0].get("steps", [])]
    assert ".ci/run" in {script.split(" ")[0] for script in scripts}  # test_commands.py: this is `make test`
    assert "make book" in scripts


# -- safety ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_run_may_do_little_and_has_no_secret(name):
    assert workflow(name)["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow(name)
    assert "secrets" not in WORKFLOWS[name].read_text(encoding="utf-8")


@pytest.mark.parametrize("job", jobs())
def test_a_job_ends_and_runs_actions_of_a_known_version(job):
    assert "uses" in job or job["timeout-minutes"] <= 60
    for step in job.get("steps", []):
        # GitHub's own by major version, another's by the hash of a commit
        known = r"actions/[\w-]+@v\d+|[\w-]+/[\w-]+@[0-9a-f]{40}"
        assert re.fullmatch(known, step.get("uses", "actions/none@v0"))
    # whoever may write does not run the repository's code
    if "permissions" in job:
        assert not any("checkout" in str(step) for step in job["steps"])
        lines = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
        assert all(line.startswith("git ") for line in lines)


@pytest.mark.skipif(os.name == "nt", reason="a bash script")
def test_the_notebooks_for_colab_go_to_the_branch_that_their_links_name(tmp_path):
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    branch = config["html_context"]["run"]["notebooks_branch"]
    steps = [
        *workflow("site.yml")["jobs"]["build"]["steps"],
        *workflow("site.yml")["jobs"]["notebooks"]["steps"],
    ]
    (put,) = [step["with"] for step in steps if "upload-artifact" in step.get("uses", "")]
    (get,) = [step["with"] for step in steps if "download-artifact" in step.get("uses", "")]
    assert put["path"] == f"_build/html/{folders.FOLDER}/{folders.COLAB}"
    assert put["name"] == get["pattern"]
    script = next(step["run"] for step in reversed(steps) if "run" in step)
    subprocess.run(["git", "init", "--quiet", "--bare", "there"], cwd=tmp_path, check=True)
    for chapter in ("bound", "tree"):  # twice: the branch keeps nothing of the first time
        work = tmp_path / chapter
        work.mkdir()
        (work / f"{chapter}.ipynb").write_text("{}", encoding="utf-8")
        environment = {**os.environ, "ADDRESS": str(tmp_path / "there")}
        subprocess.run(
            ["bash", "-e", "-c", script], cwd=work, env=environment, check=True, capture_output=True
        )
    listed = ["git", "-C", "there", "log", "--format=", "--name-only", branch]
    found = subprocess.run(listed, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert found.split() == ["tree.ipynb"]


# -- releases ----------------------------------------------------------------------------------


def test_a_release_is_tried_on_every_python_and_published_by_a_tag_alone():
    jobs = workflow("release.yml")["jobs"]
    (setup,) = [step["with"] for step in jobs["build"]["steps"] if "setup-python" in step.get("uses", "")]
    assert setup["python-version"].split() == PYTHONS
    assert workflow("release.yml")[True]["push"] == {"tags": ["v*"]}
    publish = jobs["publish"]
    assert set(publish["needs"]) == set(jobs) - {"publish"}
    assert "github.ref_type == 'tag'" in publish["if"]
    assert publish["permissions"] == {"id-token": "write"}
    (put,) = [step["with"] for step in jobs["build"]["steps"] if "upload-artifact" in step.get("uses", "")]
    get, put_where = publish["steps"][0]["with"], ROOT / put["path"]
    assert (get["name"], get["path"], put_where) == (put["name"], "dist", release.DIST)


def test_a_version_that_contradicts_another_is_named(tmp_path, monkeypatch):
    assert release.contradictions("v9.9") == ["the tag is v9.9"]
    (tmp_path / "CITATION.cff").write_text('version: 9.8\ndate-released: "2020-01-02"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"## [Unreleased]\n\n## [{release.__version__}] - 2020-01-02\n")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(package, "ROOT", tmp_path)
    assert release.contradictions() == ["CITATION.cff has 9.8 of 2020-01-02"]
    (tmp_path / "CITATION.cff").write_text(f'version: {release.__version__}\ndate-released: "2020-01-03"\n')
    assert release.contradictions() == [f"CHANGELOG.md has {release.__version__} of 2020-01-02"]
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n")
    assert release.contradictions() == ["CHANGELOG.md has None of None"]


def test_the_example_of_the_readme_is_what_a_release_runs():
    done = subprocess.run(
        [sys.executable, "-c", release.example()], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert 0.9 < float(done.stdout) < 1


# -- git hooks ---------------------------------------------------------------------------------


def test_the_git_hooks_are_the_steps_of_make_check():
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    (repository,) = yaml.safe_load(text)["repos"]
    assert repository["repo"] == "local"  # no versions of their own
    hooks = [(hook["name"], tuple(hook["entry"].split())) for hook in repository["hooks"]]
    assert hooks == [(name, (".ci/tool", *program)) for name, program in run.CHECKS]
    for hook in repository["hooks"]:
        assert (hook["pass_filenames"], hook["always_run"]) == (False, True)


@pytest.mark.skipif(os.name == "nt", reason="a bash script")
def test_a_git_hook_without_the_environment_names_the_remedy(tmp_path):
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "tool").write_bytes((ROOT / ".ci" / "tool").read_bytes())
    result = subprocess.run(
        ["bash", ".ci/tool", "ruff", "check"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "`make check`" in result.stderr


# -- mcutils by itself -------------------------------------------------------------------------


def test_every_module_is_tested_by_itself():
    """A new module is taken along without being named, or its test file is missed."""
    assert {"certificate", "data", "ecoc", "loss"} <= set(package.modules())
    for argument in package.pytest_arguments():
        if argument.startswith("tests/"):
            assert (ROOT / argument).exists()
    # what is left out is an extra, which users choose by name; the others are choices within a module
    extras = set(PROJECT["project"]["optional-dependencies"])
    assert {"plot"} == package.WITH_THE_BOOK <= extras
    assert extras - package.WITH_THE_BOOK == {"interior"}


# Names of scikit-learn that begin with an underscore can change in any release. These have been the same
# in all that the range lets in: a documented function, one beside it, and the class below linear classifiers.
PRIVATE = {
    "sklearn.utils._safe_indexing",
    "sklearn.utils.metaestimators._safe_split",
    "sklearn.linear_model._base.LinearClassifierMixin",
}


def test_few_private_names_of_scikit_learn_are_used():
    imports = [
        node
        for path in (ROOT / "mcutils").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn")
    ]
    names = {f"{node.module}.{alias.name}" for node in imports for alias in node.names}
    assert {name for name in names if "._" in name} == PRIVATE


def test_the_lowest_versions_are_those_of_the_ranges():
    """Every dependency, those of the extras too, at its lower bound; nothing else is pinned."""
    python, pins = package.lowest(package.project())
    assert ".".join(map(str, python)) == PYTHONS[0]
    extras = PROJECT["project"]["optional-dependencies"]
    declared = [*PROJECT["project"]["dependencies"], *extras["plot"], *extras["interior"]]
    assert [pin.replace("==", ">=") for pin in pins] == [each.split(";")[0] for each in declared]
    needs = ["numpy>=2.0,<3", "six >= 1.16", "numba>=0.60; sys_platform != 'emscripten'"]
    project = {"requires-python": ">=3.11", "dependencies": needs}
    assert package.lowest(project) == ((3, 11), ["numpy==2.0", "six==1.16", "numba==0.60"])


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy==2.0", "numpy~=2.0", "numpy<3,>=2"])
def test_a_range_without_a_lower_end_is_refused(requirement):
    with pytest.raises(environment.Refusal, match="must declare a lowest version, found 'numpy"):
        package.lowest({"requires-python": ">=3.11", "dependencies": [requirement]})


def test_every_module_with_loops_is_tested_without_a_compiler():
    package = ROOT / "mcutils"
    users = {
        path.relative_to(package).parts[0].removesuffix(".py")
        for path in package.rglob("*.py")
        if re.search(r"^ *from [.\w]*\bjit import", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {name for name in users if not name.startswith("_")} == set(run.WITH_LOOPS)
    assert "--no-compiler" in dict(run.CI_TESTS)["without a compiler"]


def test_only_the_compiler_is_left_out_in_a_browser():
    needs = [Requirement(each) for each in PROJECT["project"]["dependencies"]]
    for platform, left_out in (("emscripten", {"numba"}), ("linux", set()), ("win32", set())):
        there = {"sys_platform": platform}
        assert {each.name for each in needs if each.marker and not each.marker.evaluate(there)} == left_out


def test_the_lowest_versions_are_tested_once():
    job = workflow("tests.yml")["jobs"]["package"]
    (lowest,) = job["strategy"]["matrix"]["include"]
    assert lowest == {"system": "ubuntu-latest", "python": PYTHONS[0], "versions": "lowest"}
    assert job["strategy"]["matrix"]["versions"] == ["book"]
    commands = {step["if"]: step["run"] for step in job["steps"] if "run" in step}
    assert [command for when, command in commands.items() if "'lowest'" in when] == [
        "python -m tools.package --lowest"
    ]
    assert all("matrix.versions ==" in when for when in commands)
