"""Webhooks: their addresses, and what is sent to them."""
