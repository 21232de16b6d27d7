"""Webhooks: events of an organisation, sent to addresses that its administrator named."""
