"""Collaborations: a study that several hospitals answer without a patient's row leaving any of them."""
