"""What people say about versions and reports: comments, requests, attestations, shares."""
