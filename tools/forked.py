"""Kernels that have the libraries loaded: forked from one process that has imported them.

A chapter spends three seconds on importing what all chapters import. `prepared` makes the kernels that
start inside it come from one process that has done so once, and that holds nothing else: of `mcutils` it
has imported nothing. Where a process cannot be forked, kernels start as always.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

LIBRARIES = (
    "ipykernel.kernelapp",
    "numpy.testing",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.multiclass",
    "sklearn.neighbors",
    "sklearn.svm",
    "sklearn.tree",
    "matplotlib.figure",  # not pyplot: it would settle on a backend before there is a kernel
    "matplotlib.backends.backend_svg",
    "numba",
    "cvxopt",
)


class Origin:
    """The process that the kernels are forked from, and the line to it."""

    def __init__(self) -> None:
        self.line, other_end = socket.socketpair()
        self.lock = threading.Lock()
        with other_end:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(other_end.fileno())],
                pass_fds=[other_end.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"},
            )
        self.answers = self.line.makefile(encoding="utf-8")

    def ask(self, **question: Any) -> Any:
        with self.lock:
            self.line.sendall(json.dumps(question).encode() + b"\n")
            answer = self.answers.readline()
        if not answer:
            raise ChildProcessError("the process that kernels are forked from has died")
        return json.loads(answer)

    def close(self) -> None:
        """End it; it ends when nobody listens, and its kernels with it."""
        self.answers.close()
        self.line.close()
        self.process.wait()


class Kernel:
    """A forked kernel with the methods of `subprocess.Popen` that its manager calls."""

    stdout = stderr = stdin = None

    def __init__(self, origin: Origin, command: list[str], env: dict[str, str], cwd: str):
        self.origin = origin
        self.pid: int = origin.ask(start=command, env=env, cwd=cwd)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.origin.ask(poll=self.pid)
        return self.returncode

    def wait(self) -> int:
        while (code := self.poll()) is None:
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # until the origin has collected it, no other process gets its number
            os.kill(self.pid, number)


class Forked(LocalProvisioner):
    """Launches a kernel by asking the origin for one."""

    origin: Origin | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        if Forked.origin is None:
            Forked.origin = Origin()
        kernel = Kernel(Forked.origin, cmd, kwargs["env"], str(kwargs["cwd"]))
        self.process = kernel  # type: ignore[assignment]  # it has what its manager calls
        self.pid = self.pgid = kernel.pid  # it leads a session of its own
        self.cwd = kwargs["cwd"]
        return self.connection_info


@contextmanager
def prepared() -> Iterator[None]:
    """Fork the kernels that start in this block, where the system can."""
    if not hasattr(os, "fork"):
        yield
        return
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["forked"] = EntryPoint("forked", f"{__name__}:Forked", factory.GROUP_NAME)
    usual = factory.default_provisioner_name
    factory.default_provisioner_name = "forked"
    try:
        yield
    finally:
        factory.default_provisioner_name = usual
        if Forked.origin is not None:
            Forked.origin.close()
            Forked.origin = None


# -- in the process that is forked ---------------------------------------------------------


def serve(line: socket.socket) -> None:
    """Import the libraries, then fork and report on request, until the line is closed."""
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # ipykernel reads it when it is imported
    for name in LIBRARIES:
        import_module(name)
    gc.collect()
    gc.freeze()  # a kernel's first collection would copy what it shares with the others
    for question in line.makefile(encoding="utf-8"):
        request = json.loads(question)
        if "poll" in request:
            pid, status = os.waitpid(request["poll"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                line.close()
                become_kernel(request["start"], request["env"], request["cwd"])
        line.sendall(json.dumps(answer).encode() + b"\n")


def become_kernel(command: list[str], env: dict[str, str], cwd: str) -> None:
    """Run `python -m ipykernel_launcher ARGUMENTS` in this process, and leave it."""
    import numpy as np
    from ipykernel import kernelapp

    os.setsid()
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))  # a kernel ends when this one has ended
    os.chdir(cwd)
    np.random.seed()  # noqa: NPY002 - the global generator: numpy seeded it once, at its import
    sys.argv = command[command.index("ipykernel_launcher") :]
    try:
        kernelapp.launch_new_instance()
    finally:
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: a kernel that is started in the usual way does not see it either
    with suppress(KeyboardInterrupt):  # Ctrl-C reaches the requesting process too, which reports it
        serve(socket.socket(fileno=int(sys.argv[1])))
