"""Monitoring over time: sequential charts, funnel limits, standardised change, drift, rare events."""
