"""H-accuracy: right answers weighed by the confidence, class and difficulty that matter to the user."""
