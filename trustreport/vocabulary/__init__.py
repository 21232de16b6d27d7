"""What everybody speaks in: quantities, places and digits of a number, messages, errors."""
