"""The first page after signing in, and the search over all."""
