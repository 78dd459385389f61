"""Notebooks' kernels that are forked: they run what others run, end when they should, and none stays."""

import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import nbformat
import pytest

from tools import notebooks
from tools.forked import Forked, prepared

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process"),
]


def execute(folder, *sources):
    """What each cell of a notebook printed."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    outputs = notebooks.execute(folder / "small.ipynb", nbformat.v4.new_notebook(cells=cells)).outputs
    return ["".join(output.get("text", "") for output in cell) for cell in outputs]


# What a notebook could see of where it runs.
SURROUNDINGS = """\
import os, signal, sys, threading
print(sys.path, sys.executable, sys.flags, os.getcwd(), __name__)
print(sorted(item for item in os.environ.items() if item[0] != "JPY_PARENT_PID"))
print(sorted(thread.name for thread in threading.enumerate()), signal.getsignal(signal.SIGINT))
print([name for name in sys.modules if name.split(".")[0] in ("mcutils", "tools", "tests")])
import matplotlib.pyplot
print(matplotlib.get_backend())"""


def test_a_forked_kernel_sees_what_another_sees(tmp_path):
    loaded = "import sys; print('numba' in sys.modules)"
    with prepared():
        forked = execute(tmp_path, loaded, SURROUNDINGS)
    usual = execute(tmp_path, loaded, SURROUNDINGS)
    assert (forked[0], usual[0]) == ("True\n", "False\n")
    assert forked[1] == usual[1]


@pytest.mark.parametrize("block", [prepared, nullcontext])
def test_what_is_compiled_anew_is_no_output(tmp_path, block, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    use = "from mcutils import BinarySVM; print(BinarySVM().fit([[0.0], [1.0]], [0, 1]).score([[0.0]], [0]))"
    with block():
        assert execute(tmp_path, use) == ["1.0\n"]  # what is written to stderr is an error
    assert any((tmp_path / "cache").rglob("*.nbi"))


@pytest.mark.parametrize("block", [prepared, nullcontext])
def test_two_kernels_draw_other_numbers(tmp_path, block):
    source = "import numpy, random; print(numpy.random.random(), random.random())"
    with block():
        first, second = (execute(tmp_path, source)[0].split() for _ in range(2))
    assert not set(first) & set(second)


def test_a_kernel_that_dies_is_reported_and_the_next_one_starts(tmp_path):
    with prepared():
        with pytest.raises(notebooks.CellError, match="died"):
            execute(tmp_path, "import os; os._exit(3)")
        assert execute(tmp_path, "print(1)") == ["1\n"]


def test_a_cell_that_takes_too_long_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "SECONDS_A_CELL", 1)
    with prepared(), pytest.raises(notebooks.CellError, match="timed out"):
        execute(tmp_path, "while True: pass")


def test_nothing_stays(tmp_path):
    with prepared():
        pid = int(execute(tmp_path, "import os; print(os.getpid())")[0])
        origin = Forked.origin.process
        assert origin.poll() is None
    assert origin.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_kernel_ends_with_the_process_that_requested_it(tmp_path):
    """Killed outright, a build leaves no kernel behind."""
    note = tmp_path / "pid"
    source = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    program = (
        "from pathlib import Path; from tests.test_forked import execute, prepared\n"
        f"with prepared(): execute(Path({str(tmp_path)!r}), {source!r})"
    )
    root = Path(__file__).parents[1]
    with subprocess.Popen([sys.executable, "-c", program], cwd=root) as run:
        while not (note.exists() and note.read_text()):
            assert run.poll() is None
            time.sleep(0.05)
        run.kill()
    kernel = int(note.read_text())
    for _ in range(200):
        if not Path(f"/proc/{kernel}").exists():
            return
        time.sleep(0.05)
    pytest.fail("the kernel still runs ten seconds after the build was killed")
