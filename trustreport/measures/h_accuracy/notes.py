"""Why an H-accuracy is undefined or has no interval: fixed fragments."""

CLASS_ABSENT = "a class that has priority has no case"
NO_COMPLEXITY = "the cases of a class that has priority have no complexity"
FEW_CREDITED = "fewer than 10 cases or clusters of a class earn credit: no interval"
"""Of a class that has priority; `measure.FEWEST`."""
FEW_DIFFER = "the credits differ in fewer than 10 cases or clusters of a class: no interval"
NO_WIDTH = "every resample gives the same value: the interval has no width and says nothing about precision"
