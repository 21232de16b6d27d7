"""Draws figures and lays out pages, in processes of their own where there is room for them."""
