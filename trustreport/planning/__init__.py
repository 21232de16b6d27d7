"""The sizing of a reader study before any data: readers x cases for a wished power or interval width."""

from trustreport.planning.reading import read_request
from trustreport.planning.request import SizingRequest
from trustreport.planning.study_sizes import StudySizes, size_study

__all__ = ["SizingRequest", "StudySizes", "read_request", "size_study"]
