"""The first page: question, answer, verdicts, what would change them, and the limitations that matter."""
