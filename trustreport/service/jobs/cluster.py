"""The worker's end of the pipes: passes the pieces of a job on to a Dask cluster, and their results back.

The limited process keeps its walls: it reaches no network, and this side looks into neither pieces nor
results.
"""

import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, Any

from trustreport.service.jobs import pieces
from trustreport.service.jobs.code import code_version
from trustreport.service.log import log, place_of
from trustreport.service.settings import Settings, Unsuitable

CONNECT_SECONDS = 10
LOOK_SECONDS = 0.5  # between two looks whether the cluster is still there, and the job
NEEDED = "The setting TRUSTREPORT_BACKEND=dask needs"


class Cluster:
    """The Dask cluster of one scheduler; TLS is that of Dask's own configuration."""

    def __init__(self, address: str) -> None:
        self.address = address

    def connect(self) -> Any:
        """A client of its own; OSError where nothing answers."""
        distributed = import_module("distributed")
        return distributed.Client(
            self.address, timeout=CONNECT_SECONDS, set_as_default=False, heartbeat_interval=1000
        )

    @contextmanager
    def pipes(self) -> Iterator[tuple[int, int]]:
        """Two descriptors for a limited process: where it hands out pieces, and where their results come.

        They are passed on until the block ends; what was not computed by then is dropped.
        """
        requests, theirs_out = os.pipe()
        theirs_in, answers = os.pipe()
        over = threading.Event()
        given = (os.fdopen(requests, "rb"), os.fdopen(answers, "wb"))
        thread = threading.Thread(target=self._pass_on, args=(*given, over), daemon=True)
        thread.start()
        try:
            yield theirs_out, theirs_in
        finally:
            over.set()
            for theirs in (
                theirs_out,
                theirs_in,
            ):  # the thread reads the end, once the child has closed its own
                os.close(theirs)
            thread.join(2 * CONNECT_SECONDS)

    def _pass_on(self, requests: IO[bytes], answers: IO[bytes], over: threading.Event) -> None:
        with suppress(OSError), requests, answers:  # OSError: the job has ended
            try:
                _Relay(self, requests, answers, over).until_the_end()
            except Exception as error:
                log().error("cluster", error=place_of(error))
                why = "Its cluster (Dask) does not answer. Request it again once the cluster is back."
                pieces.send(answers, pieces.REFUSED, why.encode())


class _Relay:
    """The pieces of one job; connects with the first."""

    def __init__(
        self, cluster: Cluster, requests: IO[bytes], answers: IO[bytes], over: threading.Event
    ) -> None:
        self.cluster, self.requests, self.answers, self.over = cluster, requests, answers, over
        self.arrays: dict[str, Any] = {}
        self.futures: list[Any] = []

    def until_the_end(self) -> None:
        """Pass pieces to the cluster and their results back, until the job closes its pipe."""
        kind, body = pieces.received(self.requests)
        if not kind:
            return
        sent = 0
        with self.cluster.connect() as client:
            while kind:
                sent += len(body)
                if sent > pieces.MOST_SENT:
                    raise ValueError("more than a job may send")
                if kind == pieces.ARRAY:
                    self.arrays[body[:64].decode()] = client.scatter(body[64:], hash=False)
                elif kind == pieces.PIECE:
                    self._submit(client, body)
                elif kind == pieces.END:
                    self._answer(client)
                kind, body = pieces.received(self.requests)

    def _submit(self, client: Any, body: bytes) -> None:
        (size,) = struct.unpack(">I", body[:4])
        keys = [body[4 + i : 68 + i].decode() for i in range(0, size, 64)]
        arrays = {key: self.arrays[key] for key in keys}
        work = client.submit(pieces.compute, code_version(), body[4 + size :], arrays, pure=False)
        self.futures.append(work)

    def _answer(self, client: Any) -> None:
        """Wait for all; the job is looked at meanwhile, and whether the cluster is still there."""
        wait, waiting = import_module("distributed").wait, self.futures
        while waiting:
            with suppress(TimeoutError), client.as_current():
                wait(waiting, timeout=LOOK_SECONDS)
            waiting = [future for future in waiting if future.status == "pending"]
            if self.over.is_set():
                return
            if client.status != "running":
                raise ConnectionError("the scheduler is gone")
        for kind, result in client.gather(self.futures):
            if kind == pieces.REFUSED:
                result = b"Its cluster (Dask) did not compute it: " + result + b"."
            pieces.send(self.answers, kind, result)
        self.futures.clear()


def cluster_of(settings: Settings) -> Cluster | None:
    """The cluster that the settings ask for, which answers; None where they ask for none.

    Raises
    ------
    Unsuitable : it is not named, does not answer, or a package is missing
    """
    if not settings.backend:
        return None
    try:
        configured = import_module("dask").config.get("scheduler-address", None)
        import_module("distributed")
    except ImportError:
        raise Unsuitable(
            f"{NEEDED} a package that is not installed: pip install 'trustreport[dask]'."
        ) from None
    if not configured:
        raise Unsuitable(f"{NEEDED} the address of a Dask scheduler: DASK_SCHEDULER_ADDRESS=tcp://host:8786.")
    cluster = Cluster(str(configured))
    try:
        cluster.connect().close()
    except (OSError, ValueError) as error:
        raise Unsuitable(
            f"{NEEDED} a Dask scheduler, and none answers at DASK_SCHEDULER_ADDRESS={configured!r} "
            f"({type(error).__name__}). Start it, or correct the address."
        ) from None
    return cluster
