"""The elements of a report that are not answers of a dimension, by the id that frameworks refer to."""
