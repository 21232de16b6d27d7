"""What is found: dimensions, checks and verdicts of one study."""
