"""Mail: an outbox in the database, and the worker that sends from it."""
