"""Blobs as objects of S3-compatible storage, below a prefix of one bucket.

Each file is one request that stores all of it or nothing, so nobody sees a part of one, and a process that
dies leaves no parts behind (as uploads in several parts would). What is sent is copied to the local disk
first, since its hash is its name; it never is in memory as a whole.

Times are compared by the storage's own clock.
"""

import base64
import hashlib
import io
import json
import ssl
import tempfile
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import httpx2
import obstore
from obstore import exceptions
from obstore.store import S3Store

from trustreport.service.ids import new_id
from trustreport.service.storage.blobs import BLOCK, SHA, Blob, Blobs, Damaged, NotOurs, StorageAway, checked

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

READ = 4 * BLOCK  # bytes fetched at a time
IN_MEMORY = BLOCK  # of an upload; what is larger waits on the disk
CONNECT_SECONDS, SECONDS, PROBE_SECONDS = 3, 10, 3
BYTES_A_SECOND = 10_000_000  # at least, for an upload
TRIES = 3
SIGNED = timedelta(minutes=15)  # how long the address of an upload is valid
DECIDED_SECONDS, MARK_SECONDS = 10, 120  # in which a removal is decided on, and through or given up
OWNER = "service.json"  # names the key of the service whose files these are
PROBE = "ready"

SILENT = "The storage of files does not answer."
REFUSED = "The storage of files refuses the credentials of the service."
NO_BUCKET = "The bucket for the files does not exist."


class BucketBlobs(Blobs):
    """Objects ``PREFIX/ORGANISATION/ab/SHA256`` of a bucket.

    Parameters
    ----------
    scratch : a folder on a local disk, where uploads wait until their hash is known
    config : of `obstore.store.S3Store`; what it does not say, the variables ``AWS_*`` do
    """

    def __init__(self, bucket: str, prefix: str, scratch: Path, *, http: bool, **config: Any) -> None:
        self.place = f"s3://{bucket}/{prefix}".rstrip("/")
        self._scratch = scratch
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            client_options={
                "allow_http": http,
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "read_timeout": timedelta(seconds=SECONDS),
                "timeout": timedelta(seconds=6 * SECONDS),
            },
            retry_config={"max_retries": TRIES - 1, "retry_timeout": timedelta(seconds=SECONDS)},
            **config,
        )
        self._http = httpx2.Client(verify=ssl.create_default_context())

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def is_new(self) -> bool:
        """Whether no service has files here, or had."""
        with self._translated():
            return self._size(OWNER) is None and super().is_new()

    def claim(self, key: str) -> None:
        """Say that these are the files of the service with this key; its first use is what counts.

        Raises
        ------
        NotOurs : another service has its files here, or this data folder has another key
        """
        said = json.dumps({"format": "trustreport files 1", "key": key}).encode()
        with self._translated():
            if self._size(OWNER) is None:
                self._send(OWNER, io.BytesIO(said))
            found = bytes(obstore.get(self._store, OWNER).bytes())
        if found != said:
            raise NotOurs(
                f"{self.place} holds the files of a service with another signing key. All machines of one "
                "service have the same keys/signing.pem in their data folders; another service takes another "
                "prefix."
            )

    def put(self, organisation: str, stream: IO[bytes]) -> Blob:
        """Keep what a stream holds: it is there whole, or not at all."""
        digest, size = hashlib.sha256(), 0
        with tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(self._scratch)) as spool:
            while block := stream.read(BLOCK):
                digest.update(block)
                size += len(block)
                spool.write(block)
            blob = Blob(digest.hexdigest(), size)
            name = checked(organisation, blob.sha256)
            with self._translated():
                # A removal may have taken what was stored just now, and be over when its mark is looked for.
                while (
                    self._waited_for_removal(organisation, blob.sha256, self._send(name, spool))
                    or self._size(name) is None
                ):
                    pass
            return blob

    def open(self, organisation: str, sha256: str) -> IO[bytes]:
        """A blob, fetched in pieces as it is read; raises FileNotFoundError where there is none."""
        size = self.size(organisation, sha256)
        if size is None:
            raise FileNotFoundError(f"{sha256} is not in {self.place}")
        raw = _RemoteFile(self, checked(organisation, sha256), size)
        return io.BufferedReader(raw, max(1, min(size, READ)))

    def size(self, organisation: str, sha256: str) -> int | None:
        """How many bytes a blob has; None where there is none."""
        with self._translated():
            return self._size(checked(organisation, sha256))

    def local_path(self, organisation: str, sha256: str) -> None:
        """None: no blob is on this machine."""
        return

    def copy(self, organisation: str, sha256: str, target: Path) -> None:
        """Write a blob to a new file, if it still is what was kept.

        Raises
        ------
        FileNotFoundError : there is no such blob
        Damaged : it was changed
        """
        digest = hashlib.sha256()
        with self.open(organisation, sha256) as stream, target.open("wb") as out:
            while block := stream.read(BLOCK):
                digest.update(block)
                out.write(block)
        if digest.hexdigest() != sha256:
            raise Damaged(f"{sha256} in {self.place} is not what was kept")

    def stored_blobs(self) -> Iterator[tuple[str, str]]:
        """Organisation and hash of every blob."""
        for organisation, sha256, _ in self._listed():
            yield organisation, sha256

    def remove(self, organisation: str, sha256: str, *, older: float) -> bool:
        """Remove a blob that no row names; whether it is gone. One stored within `older` seconds stays.

        A mark says so first: whoever has stored the same content at that moment sees it and stores it again.
        """
        name, mark = checked(organisation, sha256), f"{_marks(organisation, sha256)}/{new_id()}"
        with self._translated():
            began = time.monotonic()
            moment = self._send(mark, io.BytesIO())
            try:
                modified = self._modified(name)
                if modified is None:
                    return True
                if time.monotonic() - began > DECIDED_SECONDS or modified > moment - timedelta(seconds=older):
                    return False
                obstore.delete(self._store, name)
                return True
            finally:
                obstore.delete(self._store, mark)

    def sweep(self, wanted: Set[tuple[str, str]], *, older: float) -> list[tuple[str, str]]:
        """Remove what no row names, and marks that were left; younger than `older` seconds stay."""
        swept = []
        with self._translated():
            limit = self._send(PROBE, io.BytesIO()) - timedelta(seconds=older)
        for organisation, sha256, modified in list(self._listed()):
            if (organisation, sha256) in wanted or modified > limit:
                continue
            if self.remove(organisation, sha256, older=older):
                swept.append((organisation, sha256))
        with self._translated():
            for name, modified in list(self._objects()):
                if name.split("/")[1:2] == ["removing"] and modified <= limit:
                    obstore.delete(self._store, name)
        return swept

    def probe(self) -> None:
        """Store an empty object; raises `StorageAway` where that does not work."""
        with self._translated():
            self._send(PROBE, io.BytesIO(), tries=1, seconds=PROBE_SECONDS)

    def fetch(self, name: str, start: int, end: int) -> bytes:
        """Some bytes of an object."""
        with self._translated():
            return bytes(obstore.get_range(self._store, name, start=start, end=end))

    def _waited_for_removal(self, organisation: str, sha256: str, stored_at: datetime) -> bool:
        """Wait while others remove what was stored at this moment; whether any did."""
        began, waited = time.monotonic(), False
        while True:
            moment = stored_at + timedelta(seconds=time.monotonic() - began)
            marks = self._objects(_marks(organisation, sha256))
            if not any(moment - marked < timedelta(seconds=MARK_SECONDS) for _, marked in marks):
                return waited
            waited = True
            time.sleep(0.1)

    def _listed(self) -> Iterator[tuple[str, str, datetime]]:
        with self._translated():
            for name, modified in self._objects():
                organisation, _, rest = name.partition("/")
                folder, _, sha256 = rest.partition("/")
                if SHA.fullmatch(sha256) and folder == sha256[:2]:
                    yield organisation, sha256, modified

    def _objects(self, below: str | None = None) -> Iterator[tuple[str, datetime]]:
        for page in obstore.list(self._store, below):
            for found in page:
                yield found["path"], found["last_modified"]

    def _size(self, name: str) -> int | None:
        try:
            return obstore.head(self._store, name)["size"]
        except FileNotFoundError:
            return None

    def _modified(self, name: str) -> datetime | None:
        try:
            return obstore.head(self._store, name)["last_modified"]
        except FileNotFoundError:
            return None

    def _send(
        self, name: str, content: IO[bytes], *, tries: int = TRIES, seconds: float = SECONDS
    ) -> datetime:
        """Store an object in one request; when that was, by the storage's clock.

        `obstore` holds in memory what it sends in one request, or sends parts: so it signs, and httpx2 sends.
        """
        size, digest = content.seek(0, io.SEEK_END), _md5(content)
        headers = {"Content-Length": str(size), "Content-MD5": digest}
        timeout = httpx2.Timeout(seconds + size / BYTES_A_SECOND, connect=CONNECT_SECONDS)
        for left in reversed(range(tries)):
            content.seek(0)
            address = obstore.sign(self._store, "PUT", name, SIGNED)
            try:
                answer = self._http.put(address, content=_blocks(content), headers=headers, timeout=timeout)
            except httpx2.TransportError:
                answer = None
            if answer is not None and answer.is_success:
                return parsedate_to_datetime(answer.headers.get("date") or _now())
            if answer is not None and answer.status_code < 500:
                break
            if left:
                time.sleep(0.2 * (tries - left))
        raise self._away(*(0, "") if answer is None else (answer.status_code, answer.text))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """What obstore raises, as `StorageAway`."""
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._away(404, "NoSuchBucket") from None
            raise
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
            raise self._away(403, "") from None
        except exceptions.BaseError as error:
            raise self._away(0, str(error)) from None

    def _away(self, status: int, text: str) -> StorageAway:
        """Why the storage cannot be used; of what it answered nothing is quoted."""
        if "NoSuchBucket" in text or status == 404:
            return StorageAway(NO_BUCKET, f"Make the bucket of {self.place}, or correct TRUSTREPORT_FILES.")
        nobody = "credential" in text.lower() or "/latest/api/token" in text  # it asked the instance's role
        if status in (400, 401, 403) or nobody or "403 Forbidden" in text:
            return StorageAway(
                REFUSED,
                f"{self.place} needs credentials that may read, write, list and delete there: "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or TRUSTREPORT_FILES_KEY and _FILES_SECRET; "
                "AWS_REGION must be that of the bucket.",
            )
        where = self._store.config.get("endpoint") or "the endpoint of the region"
        answered = f" It answered with status {status}." if status else ""
        return StorageAway(
            SILENT, f"{self.place} at {where} was asked.{answered} Check AWS_ENDPOINT_URL and the network."
        )


class _RemoteFile(io.RawIOBase):
    """An object, fetched piece by piece."""

    def __init__(self, blobs: BucketBlobs, name: str, size: int) -> None:
        self._blobs, self._name, self._size, self._at = blobs, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fetch as many bytes as the buffer holds, in one request."""
        out = memoryview(buffer).cast("B")
        end = min(self._at + len(out), self._size)
        if end <= self._at:
            return 0
        piece = self._blobs.fetch(self._name, self._at, end)
        out[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def readall(self) -> bytes:
        """Fetch the rest in requests of bounded size."""
        pieces = []
        while self._at < self._size:
            piece = self._blobs.fetch(self._name, self._at, min(self._at + READ, self._size))
            self._at += len(piece)
            pieces.append(piece)
        return b"".join(pieces)


def _marks(organisation: str, sha256: str) -> str:
    """Where those who remove a blob say so, each by an object."""
    return f"{organisation}/removing/{sha256}"


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _md5(stream: IO[bytes]) -> str:
    """By which the storage refuses what was changed on its way."""
    stream.seek(0)
    digest = hashlib.md5(usedforsecurity=False)
    for block in _blocks(stream):
        digest.update(block)
    return base64.b64encode(digest.digest()).decode()


def _now() -> str:
    return datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
