"""The newest file of a folder or bucket that exports are dropped in, copied once nobody writes it any more.

The address, which may hold a secret, comes from the environment or from whoever calls. No message repeats it.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from trustreport.study.interop.sql import NotFetched

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

CONNECT_SECONDS, SECONDS = 5, 30
BLOCK = 1 << 20
# What an address may say of a bucket, and how `obstore` calls it; the variables AWS_* say the rest.
OPTIONS = {"endpoint": "endpoint", "region": "region"}
PLACE = "the path of a folder, or s3://KEY:SECRET@bucket/prefix?endpoint=https://host&region=..."
ARRIVE = "Look whether exports arrive."
INSTALL = "Install it: pip install 'trustreport[s3]'."


@dataclass(frozen=True, slots=True)
class ExportLimits:
    """The largest file in bytes, and for how many seconds it must not have changed."""

    bytes: int = 1_000_000_000
    quiet: int = 60


def is_export(path: Path, sha: str) -> bool:
    """Whether a file is the export that was taken."""
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest() == sha


def moment_of(changed: datetime) -> str:
    """A time in UTC to the second, as manifests have it: texts of it sort as their times do."""
    return changed.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def take_export(
    address: str,
    newest: str,
    into: Path,
    *,
    after: str = "",
    file: str = "",
    limits: ExportLimits = ExportLimits(),
) -> dict[str, str]:
    """Copy the newest file whose name fits, or the one that is named; `file`, `modified` and `sha256` of it.

    A file that changed within the last `limits.quiet` seconds, or while it is copied, is still being written.

    Parameters
    ----------
    address : of a folder, or of a bucket with what is needed to read it (`PLACE`)
    newest : a path below it whose last part may have ``*``, ``?`` and ``[...]``
    after : a time as of `moment_of`; the file must have changed later
    file : the path of a file that was taken before; then `newest` and `after` say nothing

    Raises
    ------
    NotFetched : no such file is there, it is still being written, it is too large, or leads out of the folder
    """
    store, root = _opened(address)
    with _reading():
        import obstore

        _refuse_outside(root, file)  # before it is opened: a pipe would never end
        found = _named(store, file) if file else _newest(store, newest, after)
        name, changed = str(found["path"]), found["last_modified"]
        _refuse_outside(root, name)
        if -limits.quiet < time.time() - changed.timestamp() < limits.quiet:
            raise _unfinished(name, f"it changed less than {limits.quiet} seconds ago")
        if found["size"] > limits.bytes:
            raise _too_large(name, limits)
        digest, size = sha256(), 0
        with into.open("wb") as out:
            for block in obstore.get(store, name).stream(min_chunk_size=BLOCK):
                size += len(block)
                if size > limits.bytes:
                    raise _too_large(name, limits)
                digest.update(block)
                out.write(block)
        now = obstore.head(store, name)
        if (size, changed) != (now["size"], now["last_modified"]) or size != found["size"]:
            raise _unfinished(name, "it changed while it was read")
    return {"file": name, "modified": moment_of(changed), "sha256": digest.hexdigest()}


def _newest(store: Any, newest: str, after: str) -> Mapping[str, Any]:
    """The file that changed last; where several did at one time, the last by name."""
    import obstore

    folder, _, pattern = newest.rpartition("/")
    listed = obstore.list_with_delimiter(store, folder or None)["objects"]
    fits = [o for o in listed if fnmatchcase(o["path"].rpartition("/")[2], pattern)]
    fits = [o for o in fits if not o["path"].rpartition("/")[2].startswith(".")]
    if not fits:
        raise NotFetched(f"no file {newest} is there", "an export", ARRIVE, passing=True)
    last: Mapping[str, Any] = max(fits, key=lambda o: (moment_of(o["last_modified"]), o["path"]))
    if after and moment_of(last["last_modified"]) <= after:
        found = f"no new file {newest}: the newest, {last['path']}, is of {moment_of(last['last_modified'])}"
        raise NotFetched(found, f"one that changed after {after}", ARRIVE, passing=True)
    return last


def _named(store: Any, file: str) -> Mapping[str, Any]:
    import obstore

    try:
        return obstore.head(store, file)
    except FileNotFoundError:
        mend = "Restore it there, or put the copy that was kept into the study."
        raise NotFetched(f"the file {file} that was taken is not there any more", "", mend) from None


def _refuse_outside(root: Path | None, name: str) -> None:
    """Refuse a link that leads out of the folder, and what is no file; in a bucket there is neither."""
    if root is None:
        return
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        raise NotFetched(f"{name} leads out of the folder of the exports", "a file in it")
    if name and path.exists() and not path.is_file():
        raise NotFetched(f"{name} is no file", "a file")


def _opened(address: str) -> "tuple[LocalStore | S3Store, Path | None]":
    """The folder or bucket of an address, and the path of a folder."""
    try:
        from obstore.store import LocalStore, S3Store
    except ImportError:
        raise NotFetched("exports need obstore, which is not installed", "", INSTALL) from None
    said = address.strip()
    try:
        url = urlsplit(said)
        if url.scheme == "s3" and url.hostname:
            options = dict(parse_qsl(url.query, strict_parsing=bool(url.query)))
            http = options.pop("http", "0") == "1"
            config = {OPTIONS[name]: value for name, value in options.items()}
            if url.username:
                key, secret = unquote(url.username), unquote(url.password or "")
                config |= {"access_key_id": key, "secret_access_key": secret}
            return S3Store(
                url.netloc.rpartition("@")[2],
                prefix=url.path.strip("/") or None,
                client_options={
                    "allow_http": http,
                    "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                    "read_timeout": timedelta(seconds=SECONDS),
                },
                retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=SECONDS)},
                **config,  # type: ignore[arg-type]  # all of them texts
            ), None
        root = Path(unquote(url.path) if url.scheme == "file" else said)
        if url.scheme in ("", "file") and root.is_absolute():
            if not root.is_dir():
                raise NotFetched("the folder of the exports is not there", "", "Is it mounted?", passing=True)
            return LocalStore(prefix=str(root)), root
    except NotFetched:
        raise
    except Exception:  # which may repeat what it was given
        raise NotFetched("this is no address of a folder or bucket", PLACE) from None
    raise NotFetched("this is no address of a folder or bucket", PLACE)


@contextmanager
def _reading() -> Iterator[None]:
    """What obstore raises, without a word of the address."""
    from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

    try:
        yield
    except NotFetched:
        raise
    except (PermissionDeniedError, UnauthenticatedError):
        mend = "Give the account of the service the right to list and read them."
        raise NotFetched("the folder or bucket of the exports refuses to be read", "", mend) from None
    except (BaseError, FileNotFoundError):
        found, mend = "the folder or bucket of the exports cannot be read", "Check address and network."
        raise NotFetched(found, "", mend, passing=True) from None


def _unfinished(name: str, why: str) -> NotFetched:
    return NotFetched(f"{name} is still being written: {why}", "", "Try again later.", passing=True)


def _too_large(name: str, limits: ExportLimits) -> NotFetched:
    return NotFetched(f"{name} is too large", f"at most {limits.bytes:,} bytes", "Export fewer rows a file.")
