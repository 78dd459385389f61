"""The book's commands: `python3 tools/run.py` prints them, `make` does the same.

This file is the one that any Python may be handed, so it is written in the syntax that
Python 2.7 and 3.14 share: a wrong version is refused in a sentence, not with a syntax error.
"""

import sys


def refusal(version, executable):
    """The sentence for a Python that the locked packages do not run on, or None."""
    if (3, 11) <= tuple(version[:2]) <= (3, 13):
        return None
    return (
        "The book needs Python 3.11, 3.12 or 3.13, and {0} is Python {1}.{2}: "
        "name another one, as in `make book PYTHON=python3.12` or `python3.12 tools/run.py book`."
    ).format(executable or "this", version[0], version[1])


if refusal(sys.version_info, sys.executable):
    sys.exit(refusal(sys.version_info, sys.executable))

import os
import shutil
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if __name__ == "__main__":  # Python put the script's folder first on the path; the repository belongs there
    sys.path[0] = ROOT

try:
    from tools import environment
except ImportError as error:
    sys.exit("This Python lacks a part of its standard library ({0}): install all of it.".format(error))

COMMANDS = (
    ("book", "build the site: _build/html/index.html"),
    ("test", "run every check and test, execute every chapter, build the site, look at it in a browser"),
    ("check", "only the fast checks: lint, format, types, notebooks, ledger"),
    ("notebooks", "execute the chapters and rewrite their outputs (all of them, or those named)"),
    ("chapter", "begin a chapter from the template, with its module, its tests and its entries: NAME=..."),
    ("measure", "count what a reader meets in each chapter: words, minutes, pictures, what is folded"),
    ("handout", "write chapters for a class, without solutions: _build/handouts (those named)"),
    ("lab", "open the chapters in JupyterLab"),
    ("serve", "build the site and serve it to this computer"),
    ("bench", "race mcutils against its peers and rewrite results/benchmarks.json"),
    ("upgrade", "try the newest versions of the locked packages, and report every printed line that moves"),
    ("clean", "remove what the commands wrote, but not .venv"),
)

# What a command runs in the environment, when it is one program; what follows its name is handed on.
PROGRAMS = {
    "book": ("tools.site", "build"),
    "serve": ("tools.site", "serve"),
    "notebooks": ("tools.notebooks", "write"),
    "chapter": ("tools.chapter",),
    "measure": ("tools.measure",),
    "handout": ("tools.handout",),
    "bench": ("benchmarks",),
    "upgrade": ("tools.upgrade",),
    "lab": (
        "jupyterlab",
        "--ServerApp.root_dir=" + ROOT,
        "--ServerApp.preferred_dir=" + os.path.join(ROOT, "chapters"),
    ),
}

CHECKS = (
    ("lint", ("ruff", "check")),
    ("format", ("ruff", "format", "--check")),
    ("types", ("mypy",)),
    ("notebooks", ("tools.notebooks", "check")),
    ("ledger", ("tools.ledger", "check")),
)

# loadscope keeps the cells of a notebook on one worker: split, they would not share a kernel.
PYTEST = ("pytest", "-n", "2", "--dist", "loadscope", "--nbval")

TESTS = (
    ("tests and chapters", PYTEST),
    ("site", ("tools.site", "build")),
    ("browser", ("pytest", "-n", "2", "--maxschedchunk", "1", "tests/browser")),
)

# What these leave out unless CI is set: see conftest.py, tests/conftest.py, tests/browser/test_pages.py.
QUICK = "--quick"
LEFT_OUT_BY_QUICK = (
    "mutants and a second execution of chapters that have not changed",
    "small books built by tools that have not changed",
    "scikit-learn's checks of an estimator in further configurations",
    "each page at its other width, and in its other mode; most pages without scripts",
    "most pages of the package's modules and of the lectures, which are made alike",
    "most pages, and walks through what scripts do, where no tool, style or script has changed",
)

LEFT_OUT = 77  # the exit status of a step that this machine cannot take, with the reason printed (automake's)

# Another computer, as far as one can be another: other BLAS kernels, another number of threads, plain
# instructions. The printed numbers must not notice: see tools.pythons.
OTHER_MACHINE = {"OPENBLAS_CORETYPE": "Prescott", "OMP_NUM_THREADS": "2", "NUMBA_CPU_NAME": "generic"}

# The modules with loops that numba compiles: in a browser these are plain Python.
WITH_LOOPS = (
    "binary",
    "boosting",
    "frontier",
    "jit",
    "perceptron",
    "pruning",
    "rademacher",
    "solver",
    "subgradient",
    "tree",
)

CI_TESTS = (
    ("other Pythons, other numerics", ("tools.pythons",)),
    ("lowest versions", ("tools.package", "--lowest")),
    (
        "without a compiler",
        ("pytest", "-n", "2", "--dist", "loadscope", "--no-compiler", "--again")
        + tuple("tests/test_" + name + ".py" for name in WITH_LOOPS),
    ),
)


def usage():
    lines = ["  {0:<10} {1}".format(name, what) for name, what in COMMANDS]
    return "\n".join(
        ["make COMMAND, or python3 tools/run.py COMMAND:", ""]
        + lines
        + ["", "The first command that needs them installs the locked packages into .venv (1 GB)."]
    )


def surroundings(command):
    """The environment variables of the programs: the same results whatever the user has set up."""
    variables = dict(os.environ)
    # without bytecode every program would compile all that it imports: seconds each time
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "JUPYTER_PATH", "MPLBACKEND"):
        variables.pop(name, None)
    scripts = os.path.dirname(environment.PYTHON)
    variables.update(
        PATH=scripts + os.pathsep + variables.get("PATH", os.defpath),
        VIRTUAL_ENV=environment.FOLDER,
        JUPYTER_PREFER_ENV_PATH="1",
        PYTHONUTF8="1",
    )
    if command != "lab":  # a reader's own start-up files and styles are welcome there, and only there
        build = os.path.join(ROOT, "_build")
        variables.update(
            IPYTHONDIR=os.path.join(build, "ipython"),
            MPLCONFIGDIR=os.path.join(build, "matplotlib"),
            SCIPY_ARRAY_API="1",  # read when scipy is imported: scikit-learn's checks want it
        )
    if command not in ("lab", "bench"):  # chapters run two at a time: on two cores, more threads would wait
        variables["OMP_NUM_THREADS"] = "1"
    return variables


def run(program, variables):
    """Run a program to its end. Ctrl-C reaches it too: it stops in its own way, and nothing kills it."""
    process = subprocess.Popen([environment.PYTHON, "-m"] + list(program), cwd=ROOT, env=variables)
    interrupted = False
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
    if interrupted and code:  # a server that was to stop has done so, and exits with 0
        raise KeyboardInterrupt
    return code


def run_steps(steps):
    """Run every (name, program, variables), whatever the earlier ones gave; then print how each went."""
    report, failed, left_out = [], 0, []
    for name, program, variables in steps:
        print("\n=== " + name + ": python -m " + " ".join(program))
        sys.stdout.flush()
        start = time.time()
        code = run(program, variables)
        failed += code not in (0, LEFT_OUT)
        left_out += [name] if code == LEFT_OUT else []
        outcome = {0: "ok", LEFT_OUT: "left out"}.get(code, "FAILED")
        report.append("  {0:<8} {1:6.1f} s  {2}".format(outcome, time.time() - start, name))
    print("\n" + "\n".join(report))
    if left_out:
        print("\nNOT DONE ON THIS MACHINE, for the reason given above: " + ", ".join(left_out))
    return 1 if failed else 0


def run_together(steps):
    """Start every (name, program, variables) at once; print, in order, what each wrote and how it went."""
    start = time.time()
    running = []
    for name, program, variables in steps:
        output = tempfile.TemporaryFile()  # noqa: SIM115 (the program writes to it)
        command = [environment.PYTHON, "-m"] + list(program)
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=subprocess.STDOUT)
        running.append((name, program, process, output))
    failed = 0
    report = []
    for name, program, process, output in running:
        code = process.wait()
        failed += code != 0
        report.append("  {0:<8} {1}".format("FAILED" if code else "ok", name))
        output.seek(0)
        words = output.read().decode("utf-8", "replace").rstrip()
        output.close()
        print("\n=== " + name + ": python -m " + " ".join(program) + ("\n" + words if words else ""))
    print("\n" + "\n".join(report) + "\n  {0:.1f} s".format(time.time() - start))
    sys.stdout.flush()
    return 1 if failed else 0


def check():
    variables = surroundings("check")
    return run_together([(name, program, variables) for name, program in CHECKS])


def test():
    variables = surroundings("test")
    checked = check()
    if os.environ.get("CI"):
        steps = [(name, program, variables) for name, program in TESTS]
        steps += [(name, program, variables) for name, program in CI_TESTS]
        return run_steps(steps) or checked
    steps = [
        (name, program + (QUICK,) if program[0] == "pytest" else program, variables)
        for name, program in TESTS
    ]
    code = run_steps(steps) or checked
    print("\nLeft out, and done by CI=true make test:")
    for what in LEFT_OUT_BY_QUICK + tuple(name for name, _ in CI_TESTS):
        print("  " + what)
    return code


def clean():
    """Remove the site, the caches and the build leftovers; .venv depends on requirements.lock alone."""
    targets = ["_build", "dist", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"]
    for folder, names, _ in os.walk(ROOT):
        names[:] = [name for name in names if name not in (".git", ".venv")]
        targets += [
            os.path.join(folder, name) for name in names if name in ("__pycache__", ".ipynb_checkpoints")
        ]
    for target in targets:
        path = os.path.join(ROOT, target)
        if os.path.exists(path):
            shutil.rmtree(path)
    return 0


def main(arguments):
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        print(usage())
        return 0
    command, rest = arguments[0], arguments[1:]
    names = [name for name, _ in COMMANDS]
    if command not in names:
        sys.exit("There is no command {0!r}; there are {1}.".format(command, ", ".join(names)))
    if rest and command not in PROGRAMS:
        sys.exit("{0} takes nothing after its name, and found {1!r}.".format(command, " ".join(rest)))
    try:
        if command == "clean":
            return clean()
        environment.ensure()
        if command in PROGRAMS:
            return run(PROGRAMS[command] + tuple(rest), surroundings(command))
        return {"check": check, "test": test}[command]()
    except environment.Refusal as reason:
        sys.exit(str(reason))
    except OSError as error:
        sys.exit("A file could not be read or written: {0}.".format(error))
    except KeyboardInterrupt:
        sys.exit("Interrupted.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
