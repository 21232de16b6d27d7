"""What stays on record: signatures, how long data are kept, backups."""
