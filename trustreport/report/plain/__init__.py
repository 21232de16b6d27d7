"""One page in plain words, for patients and lay members of committees."""
