"""A manifest and its tables to a frozen `Study` and its `Plan`."""

from trustreport.ingest.reading import read, read_plan

__all__ = ["read", "read_plan"]
