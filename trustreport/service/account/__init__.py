"""Accounts, the organisation they belong to, and its log."""
