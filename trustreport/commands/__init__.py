"""The commands, a module each, and what those do that sign, verify and qualify."""
