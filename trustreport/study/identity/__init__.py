"""Who could be recognised in a study, and the pseudonyms under which a report may leave the house."""
