"""Time to event: what a score says of an event by a horizon, where follow-up may end before it."""
