"""Pieces of a job that are computed elsewhere: how the limited process hands them out, and who computes them.

The limited process has no network. It writes its pieces into a pipe, its worker passes them on to the cluster
(`jobs.cluster`) without looking into them, and a process of the cluster computes them. Both ends load only
functions and values of the rooms named below: whoever has taken over a limited process can have no other
code run.
"""

import io
import pickle  # of what `_Loader` lets through, nothing else
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from typing import IO, Any

import numpy as np

from trustreport.service.jobs.code import code_version
from trustreport.service.log import place_of

ARRAY, PIECE, END, DONE, REFUSED = b"A", b"P", b"E", b"D", b"R"
LARGE = 100_000  # bytes of an array from which on it is sent once for all pieces of a job
MOST_SENT = 4_000_000_000  # bytes of the pieces of one job
ROOMS = (
    *("measures", "assessment.dimensions", "assessment.performance", "study.plan"),
    *("vocabulary.results", "vocabulary.place", "vocabulary.quantity", "vocabulary.digits"),
)
NUMPY = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class NotComputed(Exception):
    """The pieces were not computed; the message says why, and names nothing of the data."""


class Pieces:
    """The limited process's end of the pipes: `run` is a `Run` for `assess`."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests, self._answers = requests, answers
        self._sent: set[str] = set()

    def run(self, function: Callable[..., Any], arguments: Iterable[Sequence[Any]]) -> list[Any]:
        """Call a function once for each tuple of arguments, elsewhere.

        Raises
        ------
        NotComputed : the cluster does not answer, or cannot compute them
        """
        n = 0
        with suppress(BrokenPipeError):  # the answer says why no more is taken
            for some in arguments:
                n += 1
                self._send(function, some)
            send(self._requests, END, b"")
        return [self._answer() for _ in range(n)]

    def _send(self, function: Callable[..., Any], some: Sequence[Any]) -> None:
        arrays: dict[str, bytes] = {}
        piece = dumped((function, tuple(some)), arrays)
        for key, array in arrays.items():
            if key not in self._sent:
                self._sent.add(key)
                send(self._requests, ARRAY, key.encode() + array)
        keys = "".join(sorted(arrays)).encode()
        send(self._requests, PIECE, struct.pack(">I", len(keys)) + keys + piece)

    def _answer(self) -> Any:
        kind, body = received(self._answers)
        if kind != DONE:
            raise NotComputed(body.decode(errors="replace") or "Its cluster has ended.")
        return loaded(body, {})


def compute(code: str, piece: bytes, arrays: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    """Compute a piece, in a process of the cluster; its result, or why there is none.

    Parameters
    ----------
    code : that of the service: other code could give other numbers
    arrays : the large arrays that the piece names
    """
    if code != code_version():
        return REFUSED, f"the cluster has trustreport {code_version()}, the service {code}".encode()
    try:
        function, some = loaded(piece, arrays)
        return DONE, dumped(function(*some))
    except Exception as error:
        return REFUSED, f"a fault of the program: {place_of(error)}".encode()


def dumped(value: Any, arrays: dict[str, bytes] | None = None) -> bytes:
    """A value as bytes; large arrays go into `arrays` by their hash, where that is given."""
    out = io.BytesIO()
    _Dumper(out, arrays).dump(value)
    return out.getvalue()


def loaded(text: bytes, arrays: Mapping[str, bytes]) -> Any:
    """The value of such bytes."""
    return _Loader(io.BytesIO(text), arrays).load()


def send(stream: IO[bytes], kind: bytes, body: bytes) -> None:
    """Write one message."""
    stream.write(kind + struct.pack(">Q", len(body)))
    stream.write(body)
    stream.flush()


def received(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Read one message; no kind where there is none any more."""
    head = stream.read(9)
    if len(head) < 9:
        return b"", b""
    (size,) = struct.unpack(">Q", head[1:])
    if size > MOST_SENT:
        raise ValueError("a message that is too large")
    return head[:1], stream.read(size)


class _Dumper(pickle.Pickler):
    """Pickles; large arrays apart, so that what all pieces share is sent once."""

    def __init__(self, out: IO[bytes], arrays: dict[str, bytes] | None) -> None:
        super().__init__(out, protocol=5)
        self._arrays = arrays

    def persistent_id(self, value: Any) -> str | None:
        """Take a large array out of the pickle, and leave the hash of its bytes in its place."""
        if self._arrays is None or type(value) is not np.ndarray or value.nbytes < LARGE:
            return None
        array = dumped(value)
        key = sha256(array).hexdigest()
        self._arrays[key] = array
        return key


class _Loader(pickle.Unpickler):
    """Loads what the rooms that compute define, and arrays."""

    def __init__(self, text: IO[bytes], arrays: Mapping[str, bytes]) -> None:
        super().__init__(text)
        self._arrays = arrays

    def persistent_load(self, key: str) -> Any:
        """Put an array back in the place of its hash."""
        return loaded(self._arrays[key], {})

    def find_class(self, module: str, name: str) -> Any:
        """Give what the computing rooms define and numpy's arrays need; refuse everything else."""
        ours = any(f"{module}.".startswith(f"trustreport.{room}.") for room in ROOMS)
        if ours and "." not in name:
            found = getattr(import_module(module), name)
            if getattr(found, "__module__", None) == module:  # defined there, not imported
                return found
        if (module, name) in NUMPY:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not computed with")
