"""Figures: results in, a `matplotlib.figure.Figure` at its final size out.

Each figure is a frozen dataclass and a `panels.Chart`, with its table of `values` and how it is drawn on
a sheet and its panels (see `assessment.finding.Drawing`). `style` holds the look, `numbers` writes numbers
and ticks, `layout` sets rows and finds room for names.
"""
