"""Hostile files and requests, drawn by two engines; `python -m benchmarks.fuzz` runs them."""
