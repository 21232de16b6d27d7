"""Where independent pieces of work are computed: in this process, by its cores, or by a cluster's workers.

No result depends on it: each piece carries its own random generator, and the pieces are put together in
one order.
"""

import logging
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal, get_args

from trustreport.measures.similarity.features import Run, one_by_one, with_joblib
from trustreport.vocabulary.errors import MissingLibrary

Backend = Literal["loky", "threading", "dask", "ray"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)


@contextmanager
def workers(jobs: int = 1, backend: Backend = "loky") -> Iterator[Run]:
    """A `Run` for `assess`, with its workers while the block lasts.

    Parameters
    ----------
    jobs : how many workers; 1 with loky or threading is this process alone
    backend : ``loky`` (processes of this machine), ``threading``, ``dask`` (the scheduler that Dask's own
        configuration names, ``DASK_SCHEDULER_ADDRESS``, else that many worker processes here) or ``ray`` (the
        cluster of ``RAY_ADDRESS``, else that many worker processes here)

    Raises
    ------
    ValueError : for less than one job or an unknown backend
    MissingLibrary : where the backend's package is not installed; the message says how to install it
    """
    _check(jobs, backend)
    if backend == "dask":
        with _dask(jobs):
            yield with_joblib(n_jobs=jobs, backend="dask")
    elif backend == "ray":
        with _ray(jobs):
            yield with_joblib(n_jobs=jobs, backend="ray")
    else:
        yield with_joblib(n_jobs=jobs, backend=backend) if jobs > 1 else one_by_one


@contextmanager
def executor(jobs: int = 1, backend: Backend = "loky") -> Iterator[tuple[Executor, int]]:
    """The workers themselves, and how many calls they do at a time; for calls that outlive no block.

    Parameters and errors are those of `workers`. Where the block ends with an exception, what processes of
    this machine are doing is ended too; what threads and a cluster have begun runs to its end.
    """
    _check(jobs, backend)
    if backend == "dask":
        with _dask(jobs) as client:
            yield client.get_executor(pure=False), max(sum(client.nthreads().values()), 1)
    elif backend == "ray":
        with _ray(jobs) as ray:
            yield _RayExecutor(ray), max(int(ray.cluster_resources().get("CPU", 1)), 1)
    elif backend == "threading":
        threads = ThreadPoolExecutor(jobs)
        try:
            yield threads, jobs
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
    else:
        from joblib.externals.loky import ProcessPoolExecutor

        processes = ProcessPoolExecutor(jobs, initializer=_leave_interrupts)
        kill = True
        try:
            yield processes, jobs
            kill = False
        finally:
            processes.shutdown(wait=True, kill_workers=kill)


class _RayExecutor(Executor):
    """Ray's tasks as futures of the standard library; Ray calls nothing again whose worker is lost."""

    def __init__(self, ray: Any) -> None:
        self._remote = ray.remote(max_retries=0)

    def submit(self, call: Any, /, *args: Any, **named: Any) -> Future[Any]:
        """Start a task on the cluster; its future raises what the task raised."""
        future: Future[Any] = self._remote(call).remote(*args, **named).future()
        return future


def _leave_interrupts() -> None:
    """Ctrl-C is for the process that was started on the terminal; it ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check(jobs: int, backend: str) -> None:
    if jobs < 1:
        raise ValueError(f"jobs must be 1 or more, got {jobs}.")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}.")


@contextmanager
def _dask(jobs: int) -> Iterator[Any]:
    distributed = _needed("distributed", "dask")
    if _needed("dask", "dask").config.get("scheduler-address", None):
        own: dict[str, Any] = {}
    else:
        # Without an address its pages take port 8787 of every interface, which two runs cannot share.
        own = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.Client(**own) as client:  # joblib's backend computes with the client that is open
        yield client


@contextmanager
def _ray(jobs: int) -> Iterator[Any]:
    ray = _needed("ray", "ray")
    _needed("ray.util.joblib", "ray").register_ray()
    if ray.is_initialized():  # by whoever called: theirs to end
        yield ray
        return
    # Ray refuses a number of workers for a cluster that runs; without an address it would look for one here.
    where: dict[str, Any] = {}
    if not os.environ.get("RAY_ADDRESS"):
        where = {"address": "local", "num_cpus": jobs, "include_dashboard": False}
    ray.init(log_to_driver=False, logging_level=logging.ERROR, **where)
    try:
        yield ray
    finally:
        ray.shutdown()


def _needed(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibrary(
            f"The backend {extra} needs a package that is not installed: pip install 'trustreport[{extra}]'."
        ) from error
