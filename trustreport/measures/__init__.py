"""Measures: arrays in, an estimate with its interval out.

A file holds one subject: formulas, reasons, sources. Begin with `estimate`. Nothing of the package is
imported here but measures.
"""
