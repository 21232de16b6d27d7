"""Rows (SQLAlchemy; SQLite or PostgreSQL) and blobs (files named by content, in a folder or a bucket)."""

import trustreport.service.storage.collaboration
import trustreport.service.storage.counters
import trustreport.service.storage.fixing
import trustreport.service.storage.hidden
import trustreport.service.storage.vigilance  # noqa: F401 -- their tables are part of the schema
from trustreport.service.storage.blobs import Blobs, FolderBlobs
from trustreport.service.storage.store import Store

__all__ = ["Blobs", "FolderBlobs", "Store"]
