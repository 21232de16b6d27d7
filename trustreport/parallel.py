"""Where independent pieces of work are computed: in this process, by its cores, or by a cluster's workers.

No result depends on it: each piece carries its own random generator, and the pieces are put together in
one order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal, get_args

from trustreport.errors import MissingLibrary
from trustreport.measures.similarity.tasks import Run, one_by_one, with_joblib

Backend = Literal["loky", "threading", "dask", "ray"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)


@contextmanager
def workers(jobs: int = 1, backend: Backend = "loky") -> Iterator[Run]:
    """A `Run` for `assess`, with its workers while the block lasts.

    Parameters
    ----------
    jobs : how many workers; 1 with loky or threading is this process alone
    backend : ``loky`` (processes of this machine), ``threading``, ``dask`` (the scheduler that Dask's own
        configuration names, ``DASK_SCHEDULER_ADDRESS``, else that many worker processes here) or ``ray``

    Raises
    ------
    ValueError : for less than one job or an unknown backend
    MissingLibrary : where the backend's package is not installed; the message says how to install it
    """
    if jobs < 1:
        raise ValueError(f"jobs must be 1 or more, got {jobs}.")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}.")
    if backend == "dask":
        with _dask(jobs):
            yield with_joblib(n_jobs=jobs, backend="dask")
    elif backend == "ray":
        with _ray(jobs):
            yield with_joblib(n_jobs=jobs, backend="ray")
    else:
        yield with_joblib(n_jobs=jobs, backend=backend) if jobs > 1 else one_by_one


@contextmanager
def _dask(jobs: int) -> Iterator[None]:
    distributed = _needed("distributed", "dask")
    if _needed("dask", "dask").config.get("scheduler-address", None):
        own: dict[str, Any] = {}
    else:
        own = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(**own):  # joblib's backend computes with the client that is open
        yield


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    ray = _needed("ray", "ray")
    _needed("ray.util.joblib", "ray").register_ray()
    if ray.is_initialized():  # by whoever called: theirs to end
        yield
        return
    ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def _needed(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibrary(
            f"The backend {extra} needs a package that is not installed: pip install 'trustreport[{extra}]'."
        ) from error
