"""What every request passes through: limits, names of requests, headers, one shape of error."""
