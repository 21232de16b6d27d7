"""Work that takes longer than a request: a queue in the database, workers, a process with limits."""
