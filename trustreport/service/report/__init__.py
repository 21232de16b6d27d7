"""Reports: read, compared, shared."""
