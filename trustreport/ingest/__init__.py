"""A manifest and its tables to a frozen `Study` and its `Plan`."""

from trustreport.ingest.reading import read

__all__ = ["read"]
