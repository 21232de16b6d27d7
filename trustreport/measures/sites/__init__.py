"""Sites and studies taken together: how they differ, their mean, and what the next one may show."""
