"""What a process of the service holds: settings, storage, limits, numbers, the signing key."""

import os
from dataclasses import dataclass, field

from trustreport.service.engine import Signer
from trustreport.service.provider import Provider, provider_settings
from trustreport.service.settings import Settings
from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.locations import claim_blobs, open_blobs
from trustreport.service.storage.migrate import migrate
from trustreport.service.storage.store import Store
from trustreport.service.web.limits import Throttle
from trustreport.service.web.telemetry import Metrics, Traces


@dataclass(frozen=True)
class Core:
    """Opened once for a process, closed at its end."""

    settings: Settings
    store: Store
    blobs: Blobs
    signer: Signer
    throttle: Throttle
    provider: Provider | None = None  # of identities
    metrics: Metrics = field(default_factory=Metrics)
    traces: Traces = field(default_factory=Traces)

    def close(self) -> None:
        """Let go of the database and the files; what was traced is sent."""
        self.store.close()
        self.blobs.close()
        self.traces.close()


def open_core(settings: Settings) -> Core:
    """Open the data folder and the database, made where they are missing, brought forward where old."""
    identities = provider_settings(settings)
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.chmod(settings.data, 0o700)
    store = Store(settings.address)
    blobs = None
    try:
        migrate(store.engine)
        signer = Signer.open(settings.data / "keys")
        blobs = open_blobs(settings)
        claim_blobs(blobs, signer.name)
    except BaseException:  # no connection stays open
        store.close()
        if blobs is not None:
            blobs.close()
        raise
    return Core(
        settings,
        store,
        blobs,
        signer,
        Throttle(settings, store),
        Provider(identities) if identities else None,
    )
