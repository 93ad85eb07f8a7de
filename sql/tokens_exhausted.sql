\i sql/include/fresh.psql
-- an epoch that has run out is followed by the next one
SELECT setval('fencing.token_seq', 1099511627774);
SELECT fencing.issue_token();
SELECT fencing.issue_token();
SELECT fencing.acquire('a');
SELECT fencing.new_epoch();
SELECT fencing.issue_token() > 1099511627775 AS higher;
SELECT fencing.issue_token() < 1099511627776 + 100 AS starts_anew;
-- a grant table of the user's own: drawn after the row is locked
CREATE TABLE grants (resource text PRIMARY KEY, token bigint NOT NULL);
INSERT INTO grants VALUES ('r', fencing.issue_token()) ON CONFLICT (resource) DO UPDATE SET token = fencing.issue_token() RETURNING token AS t \gset
INSERT INTO grants VALUES ('r', 0) ON CONFLICT (resource) DO UPDATE SET token = fencing.issue_token() RETURNING token > :t AS higher;
