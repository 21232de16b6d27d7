"""A manifest and its tables to a frozen `Study` and its `Plan`."""

from trustreport.study.ingest.reading import read, read_plan

__all__ = ["read", "read_plan"]
