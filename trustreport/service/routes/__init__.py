"""The API, version 1: one file a resource."""
