"""A folder or bucket that exports are dropped in, for tests."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import obstore
from obstore.store import S3Store


@dataclass(frozen=True)
class Drop:
    """Where exports arrive; `address` is as an operator gives it."""

    address: str
    folder: Path | None = None
    bucket: S3Store | None = None

    def put(self, name: str, content: str, changed: float | None = None) -> None:
        """Drop a file; in a folder it was changed at a time, an hour ago unless said otherwise."""
        if self.folder is None:
            assert self.bucket is not None
            obstore.put(self.bucket, name, content.encode())
            return
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        at = time.time() - 3600 if changed is None else changed
        os.utime(file, (at, at))


def in_folder(folder: Path) -> Drop:
    """A real folder."""
    folder.mkdir()
    return Drop(str(folder), folder=folder)


def in_bucket(files: dict[str, Any]) -> Drop:
    """A prefix of a bucket, from the settings of a place in it."""
    endpoint, place = files["files_endpoint"], files["files"].removeprefix("s3://")
    keys = f"{quote(files['files_key'])}:{quote(files['files_secret'])}"
    address = f"s3://{keys}@{place}?endpoint={quote(endpoint, safe='')}&region=us-east-1&http=1"
    bucket, _, prefix = place.partition("/")
    config: Any = {"endpoint": endpoint, "region": "us-east-1"}
    config |= {"access_key_id": files["files_key"], "secret_access_key": files["files_secret"]}
    store = S3Store(bucket, prefix=prefix, client_options={"allow_http": True}, **config)
    return Drop(address, bucket=store)
