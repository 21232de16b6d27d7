"""The two halves of the app; both are code of the trustreport that is installed where they run."""

from trustreport.api.federated.flower import client, server

__all__ = ["client", "server"]
