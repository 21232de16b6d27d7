"""The versions of a study: uploaded, edited, checked."""
