"""Where the files of a service are: in its data folder, or in the bucket that the settings name."""

import os
from collections.abc import Mapping

from trustreport.service.settings import FILES, Settings, Unsuitable
from trustreport.service.storage.blobs import Blobs, FolderBlobs, NotOurs, StorageAway

ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
EXTRA = "pip install 'trustreport[service,s3]'"


def open_blobs(settings: Settings) -> Blobs:
    """The files of a service, not asked for anything yet.

    Raises
    ------
    Unsuitable : the settings of the bucket contradict, or its package is missing
    """
    found = FILES.fullmatch(settings.files)
    if found is None:
        return FolderBlobs(settings.data / "blobs")
    config = _config(settings, os.environ)
    left = settings.data / "blobs"
    if any(left.glob("*/*/*")):
        raise Unsuitable(
            f"{left} holds files, but the settings name {settings.files} for them. Move them by backup "
            "and restore (docs/service.md), or leave TRUSTREPORT_FILES empty."
        )
    try:
        from trustreport.service.storage.bucket_blobs import BucketBlobs
    except ImportError as error:
        raise Unsuitable(f"TRUSTREPORT_FILES={settings.files!r} needs a package ({error}): {EXTRA}") from None
    scratch = settings.data / "tmp"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    return BucketBlobs(
        found["bucket"], found["prefix"] or "", scratch, http=bool(settings.files_http), **config
    )


def claim_blobs(blobs: Blobs, key: str) -> None:
    """Show that the files can be used, and by this service.

    Raises
    ------
    Unsuitable : they cannot, or they are those of a service with another key
    """
    try:
        blobs.claim(key)
    except (StorageAway, NotOurs) as error:
        raise Unsuitable(str(error)) from None


def _config(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """What the settings say of the bucket; the rest is read from the environment by whoever opens it."""
    given = next((environment[name] for name in ENDPOINTS if environment.get(name)), "")
    endpoint = settings.files_endpoint or given
    if endpoint.startswith("http:") and not settings.files_http:
        raise Unsuitable(
            f"The storage of files is at {endpoint}, which is not encrypted. Use https, or set "
            "TRUSTREPORT_FILES_HTTP=1 where nobody else can listen."
        )
    config = {"endpoint": endpoint} if endpoint else {}
    if settings.files_key:
        config |= {"access_key_id": settings.files_key, "secret_access_key": settings.files_secret}
    return config
