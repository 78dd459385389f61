"""Several processes, and data larger than memory: the numbers of the page "When one machine is not enough".

The same problems are solved in this process, on two worker processes of Dask with one thread each, and on
two of Ray, in turns. (With a single worker of one thread, joblib works in this process.) Of repeats, the
fastest counts. Seconds on the clock depend on what else the computer does; the processor seconds of the
busiest worker do not. The scheduler is a process of its own, so what this process writes to sockets is what
the user's program sends.

Then a worker is killed in the middle of a comparison, and a linear machine learns from a table on the disk
that is larger than the memory that it may allocate.

It needs ``ray`` beside the book's own packages, Linux, two cores, and a few minutes.
"""

import contextlib
import os
import resource
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from distributed.client import FutureCancelledError
from distributed.comm.tcp import TCP
from distributed.deploy.subprocess import SubprocessCluster
from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.race import rounded
from experiments import write
from mcutils import LabelTree, OneVsOne, SubgradientMachine, comparison, rademacher
from mcutils.data import prototypes

SEED, REPEATS = 0, 3
M, D, K = 3000, 50, 20  # examples, features and classes
GRID = [{"C": C, "gamma": gamma} for C in (1.0, 10.0) for gamma in (0.003, 0.01, 0.03)]
DRAWS = 40_000
DELAYS = (0.0, 0.1, 0.25, 0.5, 1.0)  # seconds
ROWS, COLUMNS, PART, ALLOWED = 2_000_000, 100, 20_000, 600 << 20  # of the table on the disk, and bytes

Task = Callable[[], Any]


def sample() -> tuple[np.ndarray, np.ndarray]:
    return prototypes(K, D, separation=2.0, random_state=SEED).draw(M, SEED)


def tasks(X: np.ndarray, y: np.ndarray) -> dict[str, tuple[Task, int]]:
    """Each with the bytes of its data."""
    folds, ball = comparison.folds(y), rademacher.KernelBall(X[:1000] @ X[:1000].T)
    logistic = LogisticRegression(max_iter=1000)
    return {
        "comparison.tune": (
            lambda: comparison.tune(SVC(), GRID, X, y, folds=folds).mistakes.tolist(),
            X.nbytes,
        ),
        "OneVsOne": (lambda: OneVsOne(SVC()).fit(X, y).predict(X).tolist(), X.nbytes),
        "LabelTree": (lambda: LabelTree(logistic, branching=5).fit(X, y).predict(X).tolist(), X.nbytes),
        "monte_carlo": (
            lambda: rademacher.monte_carlo(ball, DRAWS, random_state=SEED).value,
            ball.gram.nbytes,
        ),
    }


@contextlib.contextmanager
def written() -> Iterator[list[int]]:
    """The bytes that this process writes to the cluster's sockets."""
    sizes: list[int] = []
    plain = TCP.write

    async def counted(self: Any, *args: Any, **options: Any) -> Any:
        size = await plain(self, *args, **options)
        sizes.append(int(size))
        return size

    TCP.write = counted
    try:
        yield sizes
    finally:
        TCP.write = plain


def timed(task: Task) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = task()
    return time.perf_counter() - start, answer


def row(name: str, workers: str, seconds: float, **more: float) -> dict[str, Any]:
    found = {"task": name, "workers": workers, "seconds": rounded(seconds)}
    return found | {key: rounded(value) for key, value in more.items()}


def alone(name: str, task: Task) -> tuple[dict[str, Any], Any]:
    """In this process."""
    start = time.process_time()
    seconds, answer = timed(task)
    return row(name, "none", seconds, busiest=time.process_time() - start), answer


def on_dask(name: str, task: Task) -> tuple[dict[str, Any], Any]:
    """On two workers of Dask, which have loaded everything before."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with SubprocessCluster(**options) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        client.run(prepare)
        before = client.run(time.process_time)
        with written() as sizes, parallel_config(backend="dask"), warnings.catch_warnings():
            warnings.resetwarnings()  # workers get the filters: those of Ray would have them import it
            warnings.simplefilter("ignore")
            seconds, answer = timed(task)
        after = client.run(time.process_time)
    busiest = max(after[worker] - before[worker] for worker in after)
    return row(name, "dask", seconds, busiest=busiest, sent=float(sum(sizes))), answer


def on_ray(name: str, task: Task) -> tuple[dict[str, Any], Any]:
    """On two workers of Ray."""
    with parallel_config(backend="ray", n_jobs=2):
        assert os.getpid() not in Parallel()(delayed(os.getpid)() for _ in range(4)), "Ray is not used"
        seconds, answer = timed(task)
    return row(name, "ray", seconds), answer


def prepare() -> None:
    """Load what the tasks need, and keep to one thread."""
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    threadpool_limits(1)
    SVC().fit(X, y)
    LogisticRegression().fit(X, y)
    LabelTree().fit(X, y)


def races() -> Iterator[dict[str, Any]]:
    X, y = sample()
    prepare()
    os.environ["RAY_AUTH_MODE"] = "disabled"  # or it would leave a token in the home folder
    ray = import_module("ray")  # none of the book's packages
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    import_module("ray.util.joblib").register_ray()
    for name, (task, size) in tasks(X, y).items():
        ways: list[Callable[[], tuple[dict[str, Any], Any]]] = [
            lambda name=name, task=task: alone(name, task),
            lambda name=name, task=task: on_dask(name, task),
            lambda name=name, task=task: on_ray(name, task),
        ]
        found = [[way() for way in ways] for _ in range(REPEATS)]
        answers = [answer for turn in found for _, answer in turn]
        assert all(answer == answers[0] for answer in answers), f"{name}: an answer depends on the workers"
        for same in zip(*found, strict=True):
            fastest = min((row for row, _ in same), key=lambda row: row["seconds"])
            print(fastest, flush=True)
            yield fastest | {"data_bytes": size}
    ray.shutdown()


# ---- a worker that dies ----


class KeepingClient(Client):  # type: ignore[misc]
    """Sends data as the result of a task, which can run again."""

    async def scatter(self, data: Any, **options: Any) -> Any:
        return self.submit(lambda: data, pure=False)


def killed(kind: type[Client], delay: float) -> dict[str, Any]:
    """Kill the worker with the most data when both have worked so long; what becomes of the answer."""
    X, y = sample()
    task, _ = tasks(X, y)["comparison.tune"]
    expected, dead = task(), []
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(**options) as cluster, kind(cluster) as client:
        client.run(prepare)
        pids = client.run(os.getpid)

        def kill() -> None:
            workers = cluster.scheduler.workers
            while not all(worker.processing for worker in workers.values()):
                time.sleep(0.01)
            time.sleep(delay)
            most = max(workers.values(), key=lambda worker: worker.nbytes).address
            os.kill(pids[most], signal.SIGKILL)
            dead.append(most)

        thread = Thread(target=kill)
        thread.start()
        found: dict[str, Any] = {"client": kind.__name__, "delay": delay}
        try:
            with parallel_config(backend="dask"):
                seconds, answer = timed(task)
            assert answer == expected
            found["seconds"] = rounded(seconds)
        except FutureCancelledError as error:
            found["error"] = type(error).__name__
        thread.join()
    assert len(dead) == 1
    print(found, flush=True)
    return found


# ---- a table larger than memory ----


class OnDisk:
    """Batches of a table that are mapped into memory one at a time."""

    def __init__(self, path: str, labels: np.ndarray):
        self.path, self.labels = path, labels

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, len(self.labels), PART):
            rows = slice(start, start + PART)
            yield np.load(self.path, mmap_mode="r")[rows], self.labels[rows]


def peak() -> float:
    """The most memory that this process has held, in MB; in getrusage that of its parent counts too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def larger(path: str) -> dict[str, Any]:
    """Learn from the table with less memory than it takes."""
    rng = np.random.default_rng(SEED)
    block, of_block = rng.normal(size=(PART, COLUMNS)).astype(np.float32), np.arange(PART) % 5
    block[:, :5] += 2 * np.eye(5, dtype=np.float32)[of_block]
    np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(ROWS, COLUMNS))
    with Path(path).open("r+b") as file:
        file.seek(-4 * ROWS * COLUMNS, os.SEEK_END)
        for _ in range(ROWS // PART):
            (block + rng.normal(size=block.shape, scale=0.1).astype(np.float32)).tofile(file)
    labels = np.tile(of_block, ROWS // PART)
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = SubgradientMachine(C=1e-6, max_iter=1, random_state=SEED)
    model.fit_batches([(block, of_block)])  # compiles the loops
    before = peak()
    resource.setrlimit(resource.RLIMIT_DATA, (ALLOWED, ALLOWED))
    with contextlib.suppress(MemoryError):
        model.fit(np.load(path, mmap_mode="r"), labels)
        raise AssertionError("the limit lets the table in")
    seconds, _ = timed(lambda: model.fit_batches(OnDisk(path, labels)))
    certificate = model.certificate_
    assert certificate is not None
    return {
        "allowed": rounded(ALLOWED / 1e6),
        "table": rounded(Path(path).stat().st_size / 1e6),
        "more": rounded(peak() - before),
        "seconds": rounded(seconds),
        "passes": 3,
        "gap": rounded(certificate.gap),
    }


def on_disk() -> dict[str, Any]:
    """The same in a process of its own, which begins with nothing."""
    with tempfile.TemporaryDirectory() as folder, get_context("spawn").Pool(1) as pool:
        return pool.apply(larger, (f"{folder}/X.npy",))


def main() -> None:
    disk = on_disk()
    print(disk, flush=True)
    died = [killed(kind, delay) for delay in DELAYS for kind in (Client, KeepingClient)]
    rows = list(races())
    settings = {
        "settings": {
            "examples": M,
            "features": D,
            "classes": K,
            "repeats": REPEATS,
        }
        | {name: version(name) for name in ("joblib", "distributed", "ray")},
        "disk": disk,
    }
    write("cluster", seed=SEED, settings=settings, tables={"killed": died, "rows": rows})


if __name__ == "__main__":
    main()
