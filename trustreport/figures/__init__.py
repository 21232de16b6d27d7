"""Figures: results in, a `matplotlib.figure.Figure` at its final size out.

Each figure is a frozen dataclass with `draw(say)` and `values(say)` (see `assessment.finding.Drawing`).
"""
