"""Rows (SQLAlchemy; SQLite or PostgreSQL) and blobs (files named by their content)."""

from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage import collaboration as _collaboration  # its tables belong to the schema
from trustreport.service.storage.store import Store

__all__ = ["Blobs", "Store"]
