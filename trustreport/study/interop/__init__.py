"""Files of other tools, read and written; each module is one format."""
