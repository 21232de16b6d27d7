"""Object storage in a process of its own (moto's server), and places in it, for tests and benchmarks."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from running import free_port

INSTALLED = Path(sys.prefix) / "bucket_server"  # by `./run test`
SERVE = "from moto.server import main; main()"
BUCKET = "reports"


def is_installed() -> bool:
    """Whether the server is there (`./run test` installs it)."""
    return (INSTALLED / "moto").is_dir()


@contextmanager
def own_bucket_server() -> Iterator[str]:
    """The address of object storage on loopback, ours alone, with an empty bucket; gone at the end."""
    address = f"http://127.0.0.1:{free_port()}"
    # Its packages are its own: they ask for older ones than ours do.
    environment = {**os.environ, "PYTHONPATH": str(INSTALLED), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-c", SERVE, "-H", "127.0.0.1", "-p", address.rpartition(":")[2]]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while True:
            try:
                asked(address, "PUT", BUCKET)
                break
            except urllib.error.URLError:
                if time.monotonic() > end or process.poll() is not None:
                    raise
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


def asked(address: str, method: str, path: str) -> str:
    """What the server answers to a request of nobody in particular."""
    request = urllib.request.Request(f"{address}/{path}", method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


def new_prefix(address: str) -> dict[str, Any]:
    """A place of its own in the bucket, as settings of the service."""
    return {
        "files": f"s3://{BUCKET}/t{time.time_ns()}/files",
        "files_endpoint": address,
        "files_http": 1,
        "files_key": "a key",
        "files_secret": "a secret",
    }


def names_in(files: dict[str, Any]) -> list[str]:
    """The names of all objects below a prefix, as the storage lists them."""
    import re

    prefix = files["files"].removeprefix(f"s3://{BUCKET}/")
    listed = asked(files["files_endpoint"], "GET", f"{BUCKET}?list-type=2&prefix={prefix}/")
    return [name.removeprefix(f"{prefix}/") for name in re.findall("<Key>(.*?)</Key>", listed)]
