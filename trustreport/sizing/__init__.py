"""The sizing of a reader study before any data: readers x cases for a wished power or interval width."""

from trustreport.sizing.request import SizingRequest, read_request
from trustreport.sizing.study_sizes import StudySizes, size_study

__all__ = ["SizingRequest", "StudySizes", "read_request", "size_study"]
