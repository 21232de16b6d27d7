"""The manifest as a form: its fields are those of the plan's models, and the YAML remains the single source."""
