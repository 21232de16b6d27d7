"""Published tables of several studies pooled: sensitivity and specificity together."""
