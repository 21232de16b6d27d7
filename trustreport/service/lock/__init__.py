"""Criteria fixed before the data are there: by the lock of the study, or as a document elsewhere shows."""
