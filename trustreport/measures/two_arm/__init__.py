"""Two independent groups: difference, ratio and odds ratio of two proportions."""
