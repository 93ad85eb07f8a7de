-- What every program finds.  9007199254740993 is 2^53 + 1, which no double has.
\set QUIET on
SET client_min_messages = warning;
\o /dev/null
CREATE EXTENSION IF NOT EXISTS fencing;
DROP TABLE IF EXISTS job, strict_job;
CREATE TABLE job (id integer PRIMARY KEY, v text);
SELECT fencing.protect('job');
INSERT INTO job SELECT id, '', CASE WHEN id < 10 THEN 0 ELSE 9007199254740993 END FROM generate_series(1, 20) id;
CREATE TABLE strict_job (id integer PRIMARY KEY, v text);
SELECT fencing.protect('strict_job', require_present => true);
SELECT fencing.present(9007199254740993) \; INSERT INTO strict_job VALUES (1, '');
GRANT ALL ON job, strict_job TO PUBLIC;

-- Every grant's token is above 2^53, and one resource is another's.
SELECT fencing.evict(resource), fencing.forget(resource) FROM fencing.leases;
SELECT fencing.new_epoch(9007199254740993);
SELECT fencing.acquire('taken', '1 hour', 'another');

-- The token of a request is in its headers, as PostgREST hands them on.
CREATE OR REPLACE FUNCTION pre_request() RETURNS void LANGUAGE sql
AS $$ SELECT fencing.present((current_setting('request.headers')::json->>'fencing-token')::bigint)
	WHERE current_setting('request.headers')::json->>'fencing-token' IS NOT NULL $$;
