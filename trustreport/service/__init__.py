"""The service: studies, reports, reviews and their record behind a web API.

`settings` says where data lie and what is allowed; `storage` keeps rows and blobs; `access` knows who asks;
`record` holds the audit log, attestations and retention; `jobs` computes; `routes` is the API; `pages` what
a browser shows; `web` what every request passes through.
"""
