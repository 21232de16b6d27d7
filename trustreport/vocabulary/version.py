"""The version of this package, which every report states."""

__version__ = "0.1.0"
