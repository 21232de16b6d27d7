-- 0001 step
CREATE TABLE organisations ( id VARCHAR(26) NOT NULL, name VARCHAR(200) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), UNIQUE (name) )
CREATE TABLE users ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, email VARCHAR(254) NOT NULL, name VARCHAR(200) NOT NULL, password VARCHAR(300) NOT NULL, roles TEXT NOT NULL, operator BOOLEAN NOT NULL, created_at BIGINT NOT NULL, disabled_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), UNIQUE (email) )
CREATE INDEX ix_users_organisation ON users (organisation)
CREATE TABLE links ( hash VARCHAR(64) NOT NULL, purpose VARCHAR(20) NOT NULL, "user" VARCHAR(26), expires_at BIGINT NOT NULL, used_at BIGINT, PRIMARY KEY (hash), FOREIGN KEY("user") REFERENCES users (id) )
CREATE TABLE sessions ( hash VARCHAR(64) NOT NULL, "user" VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, PRIMARY KEY (hash), FOREIGN KEY("user") REFERENCES users (id) )
CREATE INDEX ix_sessions_user ON sessions ("user")
CREATE TABLE tokens ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, "user" VARCHAR(26) NOT NULL, name VARCHAR(200) NOT NULL, hash VARCHAR(64) NOT NULL, scopes TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, used_at BIGINT, revoked_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY("user") REFERENCES users (id), UNIQUE (hash) )
CREATE INDEX ix_tokens_user ON tokens ("user")
CREATE INDEX ix_tokens_organisation ON tokens (organisation)
CREATE TABLE audit ( chain VARCHAR(26) NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, actor VARCHAR(60) NOT NULL, action VARCHAR(60) NOT NULL, subject VARCHAR(100) NOT NULL, details TEXT NOT NULL, previous VARCHAR(64) NOT NULL, hash VARCHAR(64) NOT NULL, PRIMARY KEY (chain, number) )
CREATE INDEX ix_audit_subject ON audit (subject)
CREATE TABLE audit_heads ( chain VARCHAR(26) NOT NULL, number BIGINT NOT NULL, hash VARCHAR(64) NOT NULL, PRIMARY KEY (chain) )
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_refuse()
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()
-- 0001 rows
INSERT INTO audit (chain, number, at, actor, action, subject, details, previous, hash) VALUES ('audit.chain-1', 1006, 1002, 'audit.actor-1', 'audit.action-1', 'audit.subject-1', '{"details":1}', 'audit.previous-1', 'audit.hash-1')
INSERT INTO audit (chain, number, at, actor, action, subject, details, previous, hash) VALUES ('audit.chain-2', 2006, 2002, 'audit.actor-2', 'audit.action-2', 'audit.subject-2', '{"details":2}', 'audit.previous-2', 'audit.hash-2')
INSERT INTO audit_heads (chain, number, hash) VALUES ('audit_heads.chain-1', 1006, 'audit_heads.hash-1')
INSERT INTO audit_heads (chain, number, hash) VALUES ('audit_heads.chain-2', 2006, 'audit_heads.hash-2')
INSERT INTO organisations (id, name, created_at) VALUES ('organisations-1', 'organisations.name-1', 1010)
INSERT INTO organisations (id, name, created_at) VALUES ('organisations-2', 'organisations.name-2', 2010)
INSERT INTO users (id, organisation, email, name, password, roles, operator, created_at, disabled_at) VALUES ('users-1', 'organisations-1', 'users.email-1', 'users.name-1', 'users.password-1', '{"roles":1}', false, 1010, NULL)
INSERT INTO users (id, organisation, email, name, password, roles, operator, created_at, disabled_at) VALUES ('users-2', 'organisations-2', 'users.email-2', 'users.name-2', 'users.password-2', '{"roles":2}', true, 2010, 2011)
INSERT INTO links (hash, purpose, "user", expires_at, used_at) VALUES ('links.hash-1', 'links.purpose-1', NULL, 1010, NULL)
INSERT INTO links (hash, purpose, "user", expires_at, used_at) VALUES ('links.hash-2', 'links.purpose-2', 'users-2', 2010, 2007)
INSERT INTO sessions (hash, "user", created_at, seen_at, expires_at) VALUES ('sessions.hash-1', 'users-1', 1010, 1007, 1010)
INSERT INTO sessions (hash, "user", created_at, seen_at, expires_at) VALUES ('sessions.hash-2', 'users-2', 2010, 2007, 2010)
INSERT INTO tokens (id, organisation, "user", name, hash, scopes, created_at, expires_at, used_at, revoked_at) VALUES ('tokens-1', 'organisations-1', 'users-1', 'tokens.name-1', 'tokens.hash-1', '{"scopes":1}', 1010, 1010, NULL, NULL)
INSERT INTO tokens (id, organisation, "user", name, hash, scopes, created_at, expires_at, used_at, revoked_at) VALUES ('tokens-2', 'organisations-2', 'users-2', 'tokens.name-2', 'tokens.hash-2', '{"scopes":2}', 2010, 2010, 2007, 2010)
-- 0002 step
CREATE TABLE devices ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, key VARCHAR(64) NOT NULL, trade_name TEXT NOT NULL, manufacturer TEXT NOT NULL, basic_udi_di TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id) )
CREATE INDEX ix_devices_organisation ON devices (organisation)
CREATE UNIQUE INDEX devices_key ON devices (organisation, key)
CREATE TABLE studies ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, name VARCHAR(200) NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_studies_organisation ON studies (organisation)
CREATE TABLE versions ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, study VARCHAR(26) NOT NULL, number BIGINT NOT NULL, state VARCHAR(20) NOT NULL, digest VARCHAR(64) NOT NULL, facts TEXT NOT NULL, problems TEXT NOT NULL, device VARCHAR(26), created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, checked_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(study) REFERENCES studies (id), FOREIGN KEY(device) REFERENCES devices (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_versions_organisation ON versions (organisation)
CREATE INDEX ix_versions_study ON versions (study)
CREATE INDEX ix_versions_device ON versions (device)
CREATE UNIQUE INDEX versions_number ON versions (study, number)
CREATE TABLE version_files ( version VARCHAR(26) NOT NULL, name VARCHAR(250) NOT NULL, organisation VARCHAR(26) NOT NULL, sha256 VARCHAR(64) NOT NULL, size BIGINT NOT NULL, archive BOOLEAN NOT NULL, PRIMARY KEY (version, name), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(organisation) REFERENCES organisations (id) )
CREATE INDEX ix_version_files_sha256 ON version_files (sha256)
CREATE INDEX ix_version_files_organisation ON version_files (organisation)
-- 0002 rows
INSERT INTO devices (id, organisation, key, trade_name, manufacturer, basic_udi_di, created_at) VALUES ('devices-1', 'organisations-1', 'devices.key-1', '{"trade_name":1}', '{"manufacturer":1}', '{"basic_udi_di":1}', 1010)
INSERT INTO devices (id, organisation, key, trade_name, manufacturer, basic_udi_di, created_at) VALUES ('devices-2', 'organisations-2', 'devices.key-2', '{"trade_name":2}', '{"manufacturer":2}', '{"basic_udi_di":2}', 2010)
INSERT INTO studies (id, organisation, name, created_by, created_at) VALUES ('studies-1', 'organisations-1', 'studies.name-1', 'users-1', 1010)
INSERT INTO studies (id, organisation, name, created_by, created_at) VALUES ('studies-2', 'organisations-2', 'studies.name-2', 'users-2', 2010)
INSERT INTO versions (id, organisation, study, number, state, digest, facts, problems, device, created_by, created_at, checked_at) VALUES ('versions-1', 'organisations-1', 'studies-1', 1006, 'versions.state-1', 'versions.digest-1', '{"facts":1}', '{"problems":1}', NULL, 'users-1', 1010, NULL)
INSERT INTO versions (id, organisation, study, number, state, digest, facts, problems, device, created_by, created_at, checked_at) VALUES ('versions-2', 'organisations-2', 'studies-2', 2006, 'versions.state-2', 'versions.digest-2', '{"facts":2}', '{"problems":2}', 'devices-2', 'users-2', 2010, 2010)
INSERT INTO version_files (version, name, organisation, sha256, size, archive) VALUES ('versions-1', 'version_files.name-1', 'organisations-1', 'version_files.sha256-1', 1004, false)
INSERT INTO version_files (version, name, organisation, sha256, size, archive) VALUES ('versions-2', 'version_files.name-2', 'organisations-2', 'version_files.sha256-2', 2004, true)
-- 0003 step
CREATE TABLE jobs ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, study VARCHAR(26) NOT NULL, version VARCHAR(26) NOT NULL, task VARCHAR(20) NOT NULL, key VARCHAR(64) NOT NULL, wishes TEXT NOT NULL, code VARCHAR(60) NOT NULL, state VARCHAR(20) NOT NULL, step VARCHAR(60) NOT NULL, progress FLOAT NOT NULL, reason TEXT NOT NULL, attempts BIGINT NOT NULL, worker VARCHAR(100) NOT NULL, lease_until BIGINT NOT NULL, cancel_asked BOOLEAN NOT NULL, report VARCHAR(26), created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, started_at BIGINT, finished_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(study) REFERENCES studies (id), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_jobs_organisation ON jobs (organisation)
CREATE INDEX ix_jobs_version ON jobs (version)
CREATE INDEX ix_jobs_study ON jobs (study)
CREATE UNIQUE INDEX jobs_key ON jobs (key) WHERE state IN ('queued', 'running', 'done')
CREATE INDEX jobs_queue ON jobs (state, task, created_at)
CREATE TABLE workers ( id VARCHAR(100) NOT NULL, code VARCHAR(60) NOT NULL, started_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, PRIMARY KEY (id) )
CREATE TABLE reports ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, study VARCHAR(26) NOT NULL, version VARCHAR(26) NOT NULL, device VARCHAR(26), job VARCHAR(26) NOT NULL, kind VARCHAR(20) NOT NULL, code VARCHAR(60) NOT NULL, facts TEXT NOT NULL, results_sha256 VARCHAR(64) NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(study) REFERENCES studies (id), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(device) REFERENCES devices (id), UNIQUE (job), FOREIGN KEY(job) REFERENCES jobs (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_reports_organisation ON reports (organisation)
CREATE INDEX ix_reports_version ON reports (version)
CREATE INDEX ix_reports_study ON reports (study)
CREATE INDEX ix_reports_device ON reports (device)
CREATE TABLE report_files ( report VARCHAR(26) NOT NULL, name VARCHAR(250) NOT NULL, organisation VARCHAR(26) NOT NULL, sha256 VARCHAR(64) NOT NULL, size BIGINT NOT NULL, PRIMARY KEY (report, name), FOREIGN KEY(report) REFERENCES reports (id), FOREIGN KEY(organisation) REFERENCES organisations (id) )
CREATE INDEX ix_report_files_sha256 ON report_files (sha256)
CREATE INDEX ix_report_files_organisation ON report_files (organisation)
-- 0003 rows
INSERT INTO workers (id, code, started_at, seen_at) VALUES ('workers-1', 'workers.code-1', 1010, 1007)
INSERT INTO workers (id, code, started_at, seen_at) VALUES ('workers-2', 'workers.code-2', 2010, 2007)
INSERT INTO jobs (id, organisation, study, version, task, key, wishes, code, state, step, progress, reason, attempts, worker, lease_until, cancel_asked, report, created_by, created_at, started_at, finished_at) VALUES ('jobs-1', 'organisations-1', 'studies-1', 'versions-1', 'jobs.task-1', 'jobs.key-1', '{"wishes":1}', 'jobs.code-1', 'jobs.state-1', 'jobs.step-1', 1008, '{"reason":1}', 1008, 'jobs.worker-1', 1011, false, NULL, 'users-1', 1010, NULL, NULL)
INSERT INTO jobs (id, organisation, study, version, task, key, wishes, code, state, step, progress, reason, attempts, worker, lease_until, cancel_asked, report, created_by, created_at, started_at, finished_at) VALUES ('jobs-2', 'organisations-2', 'studies-2', 'versions-2', 'jobs.task-2', 'jobs.key-2', '{"wishes":2}', 'jobs.code-2', 'jobs.state-2', 'jobs.step-2', 2008, '{"reason":2}', 2008, 'jobs.worker-2', 2011, true, 'jobs.report-2', 'users-2', 2010, 2010, 2011)
INSERT INTO reports (id, organisation, study, version, device, job, kind, code, facts, results_sha256, created_by, created_at) VALUES ('reports-1', 'organisations-1', 'studies-1', 'versions-1', NULL, 'jobs-1', 'reports.kind-1', 'reports.code-1', '{"facts":1}', 'reports.results_sha256-1', 'users-1', 1010)
INSERT INTO reports (id, organisation, study, version, device, job, kind, code, facts, results_sha256, created_by, created_at) VALUES ('reports-2', 'organisations-2', 'studies-2', 'versions-2', 'devices-2', 'jobs-2', 'reports.kind-2', 'reports.code-2', '{"facts":2}', 'reports.results_sha256-2', 'users-2', 2010)
INSERT INTO report_files (report, name, organisation, sha256, size) VALUES ('reports-1', 'report_files.name-1', 'organisations-1', 'report_files.sha256-1', 1004)
INSERT INTO report_files (report, name, organisation, sha256, size) VALUES ('reports-2', 'report_files.name-2', 'organisations-2', 'report_files.sha256-2', 2004)
-- 0004 step
ALTER TABLE organisations ADD COLUMN retention TEXT DEFAULT '{}' NOT NULL
CREATE TABLE schedules ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, study VARCHAR(26) NOT NULL, wishes TEXT NOT NULL, every_days BIGINT NOT NULL, next_at BIGINT NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(study) REFERENCES studies (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_schedules_next_at ON schedules (next_at)
CREATE INDEX ix_schedules_organisation ON schedules (organisation)
CREATE INDEX ix_schedules_study ON schedules (study)
CREATE TABLE attestations ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, report VARCHAR(26) NOT NULL, "user" VARCHAR(26) NOT NULL, act VARCHAR(20) NOT NULL, meaning TEXT NOT NULL, sha256 VARCHAR(64) NOT NULL, signature VARCHAR(200) NOT NULL, key VARCHAR(64) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(report) REFERENCES reports (id), FOREIGN KEY("user") REFERENCES users (id) )
CREATE INDEX ix_attestations_report ON attestations (report)
CREATE INDEX ix_attestations_user ON attestations ("user")
CREATE INDEX ix_attestations_organisation ON attestations (organisation)
-- 0004 rows
UPDATE organisations SET retention='{"retention":2}' WHERE organisations.id = 'organisations-2'
INSERT INTO schedules (id, organisation, study, wishes, every_days, next_at, created_by, created_at) VALUES ('schedules-1', 'organisations-1', 'studies-1', '{"wishes":1}', 1010, 1007, 'users-1', 1010)
INSERT INTO schedules (id, organisation, study, wishes, every_days, next_at, created_by, created_at) VALUES ('schedules-2', 'organisations-2', 'studies-2', '{"wishes":2}', 2010, 2007, 'users-2', 2010)
INSERT INTO attestations (id, organisation, report, "user", act, meaning, sha256, signature, key, created_at) VALUES ('attestations-1', 'organisations-1', 'reports-1', 'users-1', 'attestations.act-1', '{"meaning":1}', 'attestations.sha256-1', 'attestations.signature-1', 'attestations.key-1', 1010)
INSERT INTO attestations (id, organisation, report, "user", act, meaning, sha256, signature, key, created_at) VALUES ('attestations-2', 'organisations-2', 'reports-2', 'users-2', 'attestations.act-2', '{"meaning":2}', 'attestations.sha256-2', 'attestations.signature-2', 'attestations.key-2', 2010)
-- 0005 step
CREATE INDEX studies_list ON studies (organisation, id)
CREATE INDEX jobs_list ON jobs (organisation, id)
CREATE INDEX reports_list ON reports (organisation, id)
-- 0005 rows
-- 0006 step
CREATE TABLE known_browsers ( hash VARCHAR(64) NOT NULL, "user" VARCHAR(26) NOT NULL, expires_at BIGINT NOT NULL, PRIMARY KEY (hash, "user"), FOREIGN KEY("user") REFERENCES users (id) )
-- 0006 rows
INSERT INTO known_browsers (hash, "user", expires_at) VALUES ('known_browsers.hash-1', 'users-1', 1010)
INSERT INTO known_browsers (hash, "user", expires_at) VALUES ('known_browsers.hash-2', 'users-2', 2010)
-- 0007 step
ALTER TABLE links ADD COLUMN made_by VARCHAR(60) DEFAULT '' NOT NULL
ALTER TABLE users ADD COLUMN link_by VARCHAR(60)
ALTER TABLE users ADD COLUMN link_at BIGINT
ALTER TABLE users ADD COLUMN reset BOOLEAN DEFAULT false NOT NULL
ALTER TABLE users ADD COLUMN confirmed_by VARCHAR(26)
-- 0007 rows
UPDATE users SET link_by='users.link_by-2', link_at=2007, reset=true, confirmed_by='users.confirmed_by-2' WHERE users.id = 'users-2'
UPDATE links SET made_by='links.made_by-2' WHERE links.hash = 'links.hash-2'
INSERT INTO users (id, organisation, email, name, password, roles, operator, created_at, link_by, reset) VALUES ('users-3', 'organisations-1', 'users-3', '', '', '[]', false, 1, 'users-1', false)
INSERT INTO users (id, organisation, email, name, password, roles, operator, created_at, link_by, reset) VALUES ('users-4', 'organisations-1', 'users-4', '', '', '[]', false, 1, 'users-1', false)
INSERT INTO users (id, organisation, email, name, password, roles, operator, created_at, link_by, reset) VALUES ('users-5', 'organisations-1', 'users-5', '', '', '[]', false, 1, 'operator', false)
INSERT INTO audit (chain, number, at, actor, action, subject, details, previous, hash) VALUES ('organisations-1', 3, 1, 'service', 'mail.sent', 'users-4', '{}', '', '')
-- 0008 step
CREATE TABLE removals ( organisation VARCHAR(26) NOT NULL, sha256 VARCHAR(64) NOT NULL, PRIMARY KEY (organisation, sha256) )
-- 0008 rows
INSERT INTO removals (organisation, sha256) VALUES ('removals.organisation-1', 'removals.sha256-1')
INSERT INTO removals (organisation, sha256) VALUES ('removals.organisation-2', 'removals.sha256-2')
-- 0009 step
ALTER TABLE versions ADD COLUMN tables TEXT DEFAULT '{}' NOT NULL
-- 0009 rows
UPDATE versions SET tables='{"tables":2}' WHERE versions.id = 'versions-2'
-- 0010 step
ALTER TABLE organisations ADD COLUMN second_factor BOOLEAN DEFAULT false NOT NULL
ALTER TABLE users ADD COLUMN issuer VARCHAR(500)
ALTER TABLE users ADD COLUMN subject VARCHAR(255)
ALTER TABLE users ADD COLUMN provider_at BIGINT
ALTER TABLE users ADD COLUMN factors_reset_by VARCHAR(26)
ALTER TABLE users ADD COLUMN factors_reset_at BIGINT
CREATE UNIQUE INDEX users_subject ON users (issuer, subject)
ALTER TABLE sessions ADD COLUMN id VARCHAR(26) DEFAULT '' NOT NULL
ALTER TABLE sessions ADD COLUMN address VARCHAR(60) DEFAULT '' NOT NULL
ALTER TABLE sessions ADD COLUMN browser VARCHAR(60) DEFAULT '' NOT NULL
ALTER TABLE sessions ADD COLUMN how VARCHAR(20) DEFAULT 'password' NOT NULL
ALTER TABLE sessions ADD COLUMN proved_at BIGINT
UPDATE sessions SET id='01m8hnd0fbd5j0tb3gx295sy87' WHERE hash = 'sessions.hash-1'
UPDATE sessions SET id='01m8hnd0fcv8r9e7dfykke0bas' WHERE hash = 'sessions.hash-2'
CREATE UNIQUE INDEX sessions_id ON sessions (id)
CREATE TABLE factors ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, "user" VARCHAR(26) NOT NULL, kind VARCHAR(20) NOT NULL, name VARCHAR(200) NOT NULL, secret TEXT NOT NULL, credential VARCHAR(1400), counter BIGINT NOT NULL, confirmed BOOLEAN NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY("user") REFERENCES users (id), UNIQUE (credential) )
CREATE INDEX ix_factors_organisation ON factors (organisation)
CREATE INDEX ix_factors_user ON factors ("user")
CREATE TABLE recovery_codes ( hash VARCHAR(64) NOT NULL, "user" VARCHAR(26) NOT NULL, used_at BIGINT, PRIMARY KEY (hash), FOREIGN KEY("user") REFERENCES users (id) )
CREATE INDEX ix_recovery_codes_user ON recovery_codes ("user")
CREATE TABLE pending_steps ( hash VARCHAR(64) NOT NULL, purpose VARCHAR(20) NOT NULL, "user" VARCHAR(26), details TEXT NOT NULL, expires_at BIGINT NOT NULL, PRIMARY KEY (hash), FOREIGN KEY("user") REFERENCES users (id) )
-- 0010 rows
UPDATE organisations SET second_factor=true WHERE organisations.id = 'organisations-2'
UPDATE users SET issuer='users.issuer-2', subject='users.subject-2', provider_at=2011, factors_reset_by='users.factors_reset_by-2', factors_reset_at=2016 WHERE users.id = 'users-2'
INSERT INTO factors (id, organisation, "user", kind, name, secret, credential, counter, confirmed, created_at, used_at) VALUES ('factors-1', 'organisations-1', 'users-1', 'factors.kind-1', 'factors.name-1', '{"secret":1}', NULL, 1007, false, 1010, NULL)
INSERT INTO factors (id, organisation, "user", kind, name, secret, credential, counter, confirmed, created_at, used_at) VALUES ('factors-2', 'organisations-2', 'users-2', 'factors.kind-2', 'factors.name-2', '{"secret":2}', 'factors.credential-2', 2007, true, 2010, 2007)
INSERT INTO pending_steps (hash, purpose, "user", details, expires_at) VALUES ('pending_steps.hash-1', 'ding_steps.purpose-1', NULL, '{"details":1}', 1010)
INSERT INTO pending_steps (hash, purpose, "user", details, expires_at) VALUES ('pending_steps.hash-2', 'ding_steps.purpose-2', 'users-2', '{"details":2}', 2010)
INSERT INTO recovery_codes (hash, "user", used_at) VALUES ('recovery_codes.hash-1', 'users-1', NULL)
INSERT INTO recovery_codes (hash, "user", used_at) VALUES ('recovery_codes.hash-2', 'users-2', 2007)
UPDATE sessions SET id='sessions-2', address='sessions.address-2', browser='sessions.browser-2', how='sessions.how-2', proved_at=2009 WHERE sessions.hash = 'sessions.hash-2'
-- 0011 step
ALTER TABLE versions ADD COLUMN based_on VARCHAR(26)
CREATE TABLE mails ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26), "user" VARCHAR(26), address VARCHAR(254) NOT NULL, kind VARCHAR(30) NOT NULL, details TEXT NOT NULL, attempts BIGINT NOT NULL, next_at BIGINT NOT NULL, reason VARCHAR(200) NOT NULL, created_at BIGINT NOT NULL, sent_at BIGINT, failed_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY("user") REFERENCES users (id) )
CREATE INDEX ix_mails_organisation ON mails (organisation)
CREATE INDEX ix_mails_user ON mails ("user")
CREATE INDEX mails_due ON mails (sent_at, failed_at, next_at)
CREATE TABLE review_requests ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, report VARCHAR(26) NOT NULL, reviewer VARCHAR(26) NOT NULL, due VARCHAR(10), created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, ended_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(report) REFERENCES reports (id), FOREIGN KEY(reviewer) REFERENCES users (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_review_requests_reviewer ON review_requests (reviewer)
CREATE INDEX ix_review_requests_organisation ON review_requests (organisation)
CREATE INDEX ix_review_requests_report ON review_requests (report)
CREATE TABLE comments ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, version VARCHAR(26) NOT NULL, report VARCHAR(26), text TEXT NOT NULL, sha256 VARCHAR(64) NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, withdrawn_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(report) REFERENCES reports (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_comments_organisation ON comments (organisation)
CREATE INDEX ix_comments_report ON comments (report)
CREATE INDEX ix_comments_version ON comments (version)
CREATE INDEX ix_comments_created_by ON comments (created_by)
CREATE TABLE shares ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, report VARCHAR(26) NOT NULL, hash VARCHAR(64) NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT, uses BIGINT NOT NULL, used_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(report) REFERENCES reports (id), UNIQUE (hash), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_shares_report ON shares (report)
CREATE INDEX ix_shares_organisation ON shares (organisation)
-- 0011 rows
INSERT INTO mails (id, organisation, "user", address, kind, details, attempts, next_at, reason, created_at, sent_at, failed_at) VALUES ('mails-1', NULL, NULL, 'mails.address-1', 'mails.kind-1', '{"details":1}', 1008, 1007, 'mails.reason-1', 1010, NULL, NULL)
INSERT INTO mails (id, organisation, "user", address, kind, details, attempts, next_at, reason, created_at, sent_at, failed_at) VALUES ('mails-2', 'organisations-2', 'users-2', 'mails.address-2', 'mails.kind-2', '{"details":2}', 2008, 2007, 'mails.reason-2', 2010, 2007, 2009)
UPDATE versions SET based_on='versions.based_on-2' WHERE versions.id = 'versions-2'
INSERT INTO comments (id, organisation, version, report, text, sha256, created_by, created_at, withdrawn_at) VALUES ('comments-1', 'organisations-1', 'versions-1', NULL, '{"text":1}', 'comments.sha256-1', 'users-1', 1010, NULL)
INSERT INTO comments (id, organisation, version, report, text, sha256, created_by, created_at, withdrawn_at) VALUES ('comments-2', 'organisations-2', 'versions-2', 'reports-2', '{"text":2}', 'comments.sha256-2', 'users-2', 2010, 2012)
INSERT INTO review_requests (id, organisation, report, reviewer, due, created_by, created_at, ended_at) VALUES ('review_requests-1', 'organisations-1', 'reports-1', 'users-1', NULL, 'users-1', 1010, NULL)
INSERT INTO review_requests (id, organisation, report, reviewer, due, created_by, created_at, ended_at) VALUES ('review_requests-2', 'organisations-2', 'reports-2', 'users-2', 'ests.due-2', 'users-2', 2010, 2008)
INSERT INTO shares (id, organisation, report, hash, created_by, created_at, expires_at, revoked_at, uses, used_at) VALUES ('shares-1', 'organisations-1', 'reports-1', 'shares.hash-1', 'users-1', 1010, 1010, NULL, 1004, NULL)
INSERT INTO shares (id, organisation, report, hash, created_by, created_at, expires_at, revoked_at, uses, used_at) VALUES ('shares-2', 'organisations-2', 'reports-2', 'shares.hash-2', 'users-2', 2010, 2010, 2010, 2004, 2007)
-- 0012 step
CREATE TABLE webhooks ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, url VARCHAR(500) NOT NULL, events TEXT NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, paused_at BIGINT, tried_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_webhooks_organisation ON webhooks (organisation)
CREATE TABLE deliveries ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, webhook VARCHAR(26) NOT NULL, kind VARCHAR(60) NOT NULL, details TEXT NOT NULL, attempts BIGINT NOT NULL, next_at BIGINT NOT NULL, reason VARCHAR(200) NOT NULL, created_at BIGINT NOT NULL, queued_at BIGINT NOT NULL, sent_at BIGINT, failed_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(webhook) REFERENCES webhooks (id) )
CREATE INDEX ix_deliveries_webhook ON deliveries (webhook)
CREATE INDEX ix_deliveries_organisation ON deliveries (organisation)
CREATE INDEX deliveries_due ON deliveries (sent_at, failed_at, next_at)
-- 0012 rows
INSERT INTO webhooks (id, organisation, url, events, created_by, created_at, paused_at, tried_at) VALUES ('webhooks-1', 'organisations-1', 'webhooks.url-1', '{"events":1}', 'users-1', 1010, NULL, 1008)
INSERT INTO webhooks (id, organisation, url, events, created_by, created_at, paused_at, tried_at) VALUES ('webhooks-2', 'organisations-2', 'webhooks.url-2', '{"events":2}', 'users-2', 2010, 2009, 2008)
INSERT INTO deliveries (id, organisation, webhook, kind, details, attempts, next_at, reason, created_at, queued_at, sent_at, failed_at) VALUES ('deliveries-1', 'organisations-1', 'webhooks-1', 'deliveries.kind-1', '{"details":1}', 1008, 1007, 'deliveries.reason-1', 1010, 1009, NULL, NULL)
INSERT INTO deliveries (id, organisation, webhook, kind, details, attempts, next_at, reason, created_at, queued_at, sent_at, failed_at) VALUES ('deliveries-2', 'organisations-2', 'webhooks-2', 'deliveries.kind-2', '{"details":2}', 2008, 2007, 'deliveries.reason-2', 2010, 2009, 2007, 2009)
-- 0013 step
CREATE UNLOGGED TABLE counters ( name VARCHAR(64) NOT NULL, count BIGINT NOT NULL, expires_at BIGINT NOT NULL, PRIMARY KEY (name) )
ALTER TABLE jobs ADD COLUMN trace VARCHAR(55) DEFAULT '' NOT NULL
-- 0013 rows
INSERT INTO counters (name, count, expires_at) VALUES ('counters.name-1', 1005, 1010)
INSERT INTO counters (name, count, expires_at) VALUES ('counters.name-2', 2005, 2010)
UPDATE jobs SET trace='jobs.trace-2' WHERE jobs.id = 'jobs-2'
-- 0014 step
CREATE TABLE collaborations ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, study VARCHAR(26) NOT NULL, version VARCHAR(26) NOT NULL, title VARCHAR(200) NOT NULL, lock VARCHAR(64) NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(study) REFERENCES studies (id), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_collaborations_study ON collaborations (study)
CREATE INDEX ix_collaborations_version ON collaborations (version)
CREATE INDEX ix_collaborations_organisation ON collaborations (organisation)
CREATE TABLE invited_sites ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, collaboration VARCHAR(26) NOT NULL, name VARCHAR(100) NOT NULL, email VARCHAR(254) NOT NULL, key VARCHAR(44) NOT NULL, hash VARCHAR(64), created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT, opened_at BIGINT, refused_at BIGINT, refused TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(collaboration) REFERENCES collaborations (id), UNIQUE (hash), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_invited_sites_organisation ON invited_sites (organisation)
CREATE INDEX ix_invited_sites_collaboration ON invited_sites (collaboration)
CREATE TABLE site_uploads ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, site VARCHAR(26) NOT NULL, sha256 VARCHAR(64) NOT NULL, size BIGINT NOT NULL, key VARCHAR(44) NOT NULL, state VARCHAR(20) NOT NULL, facts TEXT NOT NULL, decided_by VARCHAR(60), decided_at BIGINT, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(site) REFERENCES invited_sites (id) )
CREATE INDEX ix_site_uploads_site ON site_uploads (site)
CREATE INDEX ix_site_uploads_organisation ON site_uploads (organisation)
CREATE INDEX ix_site_uploads_sha256 ON site_uploads (sha256)
-- 0014 rows
INSERT INTO collaborations (id, organisation, study, version, title, lock, created_by, created_at) VALUES ('collaborations-1', 'organisations-1', 'studies-1', 'versions-1', 'collaborations.title-1', 'collaborations.lock-1', 'users-1', 1010)
INSERT INTO collaborations (id, organisation, study, version, title, lock, created_by, created_at) VALUES ('collaborations-2', 'organisations-2', 'studies-2', 'versions-2', 'collaborations.title-2', 'collaborations.lock-2', 'users-2', 2010)
INSERT INTO invited_sites (id, organisation, collaboration, name, email, key, hash, created_by, created_at, expires_at, revoked_at, opened_at, refused_at, refused) VALUES ('invited_sites-1', 'organisations-1', 'collaborations-1', 'invited_sites.name-1', 'invited_sites.email-1', 'invited_sites.key-1', NULL, 'users-1', 1010, 1010, NULL, NULL, NULL, '{"refused":1}')
INSERT INTO invited_sites (id, organisation, collaboration, name, email, key, hash, created_by, created_at, expires_at, revoked_at, opened_at, refused_at, refused) VALUES ('invited_sites-2', 'organisations-2', 'collaborations-2', 'invited_sites.name-2', 'invited_sites.email-2', 'invited_sites.key-2', 'invited_sites.hash-2', 'users-2', 2010, 2010, 2010, 2009, 2010, '{"refused":2}')
INSERT INTO site_uploads (id, organisation, site, sha256, size, key, state, facts, decided_by, decided_at, created_at) VALUES ('site_uploads-1', 'organisations-1', 'invited_sites-1', 'site_uploads.sha256-1', 1004, 'site_uploads.key-1', 'site_uploads.state-1', '{"facts":1}', NULL, NULL, 1010)
INSERT INTO site_uploads (id, organisation, site, sha256, size, key, state, facts, decided_by, decided_at, created_at) VALUES ('site_uploads-2', 'organisations-2', 'invited_sites-2', 'site_uploads.sha256-2', 2004, 'site_uploads.key-2', 'site_uploads.state-2', '{"facts":2}', 'site_uploads.decided_by-2', 2010, 2010)
-- 0015 step
CREATE TABLE vigilance_entries ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, device VARCHAR(26) NOT NULL, "group" VARCHAR(10) NOT NULL, name VARCHAR(200) NOT NULL, facts TEXT NOT NULL, closed BOOLEAN NOT NULL, number BIGINT NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(device) REFERENCES devices (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_vigilance_entries_device ON vigilance_entries (device)
CREATE INDEX ix_vigilance_entries_organisation ON vigilance_entries (organisation)
CREATE UNIQUE INDEX vigilance_entries_name ON vigilance_entries (device, "group", name)
CREATE TABLE vigilance_changes ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, entry VARCHAR(26) NOT NULL, number BIGINT NOT NULL, act VARCHAR(20) NOT NULL, changes TEXT NOT NULL, reason TEXT NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(entry) REFERENCES vigilance_entries (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_vigilance_changes_organisation ON vigilance_changes (organisation)
CREATE INDEX ix_vigilance_changes_entry ON vigilance_changes (entry)
CREATE UNIQUE INDEX vigilance_changes_number ON vigilance_changes (entry, number)
-- 0015 rows
INSERT INTO vigilance_entries (id, organisation, device, "group", name, facts, closed, number, created_by, created_at) VALUES ('vigilance_entries-1', 'organisations-1', 'devices-1', 'es.group-1', 'vigilance_entries.name-1', '{"facts":1}', false, 1006, 'users-1', 1010)
INSERT INTO vigilance_entries (id, organisation, device, "group", name, facts, closed, number, created_by, created_at) VALUES ('vigilance_entries-2', 'organisations-2', 'devices-2', 'es.group-2', 'vigilance_entries.name-2', '{"facts":2}', true, 2006, 'users-2', 2010)
INSERT INTO vigilance_changes (id, organisation, entry, number, act, changes, reason, created_by, created_at) VALUES ('vigilance_changes-1', 'organisations-1', 'vigilance_entries-1', 1006, 'ilance_changes.act-1', '{"changes":1}', '{"reason":1}', 'users-1', 1010)
INSERT INTO vigilance_changes (id, organisation, entry, number, act, changes, reason, created_by, created_at) VALUES ('vigilance_changes-2', 'organisations-2', 'vigilance_entries-2', 2006, 'ilance_changes.act-2', '{"changes":2}', '{"reason":2}', 'users-2', 2010)
-- 0016 step
CREATE TABLE fixed_criteria ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, study VARCHAR(26) NOT NULL, version VARCHAR(26) NOT NULL, kind VARCHAR(20) NOT NULL, name VARCHAR(250) NOT NULL, sha256 VARCHAR(64) NOT NULL, size BIGINT NOT NULL, digest VARCHAR(64) NOT NULL, criteria TEXT NOT NULL, reason TEXT NOT NULL, fixed_on VARCHAR(10), data_opened_on VARCHAR(10), manifest TEXT NOT NULL, needs_second BOOLEAN NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, countersigned_by VARCHAR(26), countersigned_at BIGINT, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(study) REFERENCES studies (id), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_fixed_criteria_sha256 ON fixed_criteria (sha256)
CREATE INDEX ix_fixed_criteria_study ON fixed_criteria (study)
CREATE INDEX ix_fixed_criteria_organisation ON fixed_criteria (organisation)
CREATE INDEX ix_fixed_criteria_version ON fixed_criteria (version)
ALTER TABLE versions ADD COLUMN criteria TEXT DEFAULT '{}' NOT NULL
ALTER TABLE organisations ADD COLUMN countersigned BOOLEAN DEFAULT false NOT NULL
-- 0016 rows
UPDATE organisations SET countersigned=true WHERE organisations.id = 'organisations-2'
UPDATE versions SET criteria='{"criteria":2}' WHERE versions.id = 'versions-2'
INSERT INTO fixed_criteria (id, organisation, study, version, kind, name, sha256, size, digest, criteria, reason, fixed_on, data_opened_on, manifest, needs_second, created_by, created_at, countersigned_by, countersigned_at) VALUES ('fixed_criteria-1', 'organisations-1', 'studies-1', 'versions-1', 'ixed_criteria.kind-1', 'fixed_criteria.name-1', 'fixed_criteria.sha256-1', 1004, 'fixed_criteria.digest-1', '{"criteria":1}', '{"reason":1}', NULL, NULL, '{"manifest":1}', false, 'users-1', 1010, NULL, NULL)
INSERT INTO fixed_criteria (id, organisation, study, version, kind, name, sha256, size, digest, criteria, reason, fixed_on, data_opened_on, manifest, needs_second, created_by, created_at, countersigned_by, countersigned_at) VALUES ('fixed_criteria-2', 'organisations-2', 'studies-2', 'versions-2', 'ixed_criteria.kind-2', 'fixed_criteria.name-2', 'fixed_criteria.sha256-2', 2004, 'fixed_criteria.digest-2', '{"criteria":2}', '{"reason":2}', 'fixed_on-2', 'pened_on-2', '{"manifest":2}', true, 'users-2', 2010, 'riteria.countersigned_by-2', 2016)
-- 0017 step
CREATE TABLE drafts ( id VARCHAR(26) NOT NULL, organisation VARCHAR(26) NOT NULL, version VARCHAR(26) NOT NULL, manifest TEXT NOT NULL, created_by VARCHAR(26) NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(organisation) REFERENCES organisations (id), FOREIGN KEY(version) REFERENCES versions (id), FOREIGN KEY(created_by) REFERENCES users (id) )
CREATE INDEX ix_drafts_created_by ON drafts (created_by)
CREATE INDEX ix_drafts_organisation ON drafts (organisation)
CREATE UNIQUE INDEX drafts_own ON drafts (version, created_by)
-- 0017 rows
INSERT INTO drafts (id, organisation, version, manifest, created_by, created_at) VALUES ('drafts-1', 'organisations-1', 'versions-1', '{"manifest":1}', 'users-1', 1010)
INSERT INTO drafts (id, organisation, version, manifest, created_by, created_at) VALUES ('drafts-2', 'organisations-2', 'versions-2', '{"manifest":2}', 'users-2', 2010)
-- 0018 step
ALTER TABLE jobs ADD COLUMN restarts BIGINT DEFAULT '0' NOT NULL
ALTER TABLE studies ADD COLUMN sample BOOLEAN DEFAULT false NOT NULL
ALTER TABLE studies ADD COLUMN removed_at BIGINT
ALTER TABLE studies ADD COLUMN removed_by VARCHAR(60)
ALTER TABLE reports ADD COLUMN removed_at BIGINT
ALTER TABLE reports ADD COLUMN removed_by VARCHAR(60)
-- 0018 rows
UPDATE studies SET sample=true, removed_at=2010, removed_by='studies.removed_by-2' WHERE studies.id = 'studies-2'
UPDATE jobs SET restarts=2008 WHERE jobs.id = 'jobs-2'
UPDATE reports SET removed_at=2010, removed_by='reports.removed_by-2' WHERE reports.id = 'reports-2'
-- 0019 step
ALTER TABLE devices ADD COLUMN same_as VARCHAR(26)
ALTER TABLE links ADD COLUMN shown BOOLEAN DEFAULT false NOT NULL
ALTER TABLE users ADD COLUMN link_shown BOOLEAN DEFAULT false NOT NULL
UPDATE users SET link_shown = true WHERE link_by IN (SELECT id FROM users) AND NOT EXISTS (SELECT 1 FROM audit WHERE action = 'mail.sent' AND subject = users.id)
-- 0019 rows
UPDATE devices SET same_as='devices.same_as-2' WHERE devices.id = 'devices-2'
UPDATE users SET link_shown=true WHERE users.id = 'users-2'
UPDATE links SET shown=true WHERE links.hash = 'links.hash-2'
