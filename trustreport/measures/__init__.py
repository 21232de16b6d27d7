"""Measures: arrays in, an estimate with its interval out.

A file holds one subject: formulas, reasons, sources. Begin with `estimate`. Nothing of the package is
imported here but measures.

These parameters are the same in all of them, and not described again:

- `truth`, bool array, shape (n_cases,): the reference standard, True = condition present
- `cluster`, int array, shape (n_cases,): which cases belong together, as images of a patient or frames of a
  video; each case alone where absent
- `level`, float in (0, 1): confidence level of the interval
- `rng`: numpy Generator
"""
