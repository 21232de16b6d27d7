"""The manifest as a form: its fields are those of the plan's models, the YAML remains the one source."""
