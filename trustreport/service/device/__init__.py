"""Devices, and what was reported of them over time."""
