"""Why an H-accuracy is undefined or has no interval: fixed fragments."""

CLASS_ABSENT = "a class that has priority has no case"
NO_COMPLEXITY = "the cases of a class that has priority have no complexity"
FEW_RESAMPLES = "in many resamples a class has no complexity: no interval"
"""More than one in twenty."""
NO_WIDTH = "every resample gives the same value: the interval has no width and says nothing about precision"
