"""Incidents and signals of devices: registered, assessed, linked to reports, closed, exported for a PSUR."""
