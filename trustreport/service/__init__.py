"""The service: studies, reports, reviews and their record behind a web API.

`settings` says where data lie and what is allowed; `storage` keeps rows and blobs; `access` knows who asks;
`record` keeps the audit log, backups and what is removed; `jobs` computes. `study`, `version`, `review`,
`report`, `device`, `webhook` and `account` each hold their API and pages; `app` puts their routes together.
"""
