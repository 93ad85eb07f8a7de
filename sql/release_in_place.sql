\i sql/include/fresh.psql
-- a transaction that only releases takes no transaction ID, and writes the row version that is there
SELECT token FROM fencing.acquire('a') \gset
SELECT ctid AS place, xmin AS version FROM fencing.lease \gset
BEGIN;
SELECT fencing.release('a', :token);
SELECT fencing.release('a', :token) AS again;
SELECT state FROM fencing.leases;
SELECT pg_current_xact_id_if_assigned();
COMMIT;
SELECT ctid = :'place' AND xmin = :'version'::xid AS same_version FROM fencing.lease;
SELECT state FROM fencing.leases;
-- at its commit, and not before
SELECT token FROM fencing.acquire('a') \gset
BEGIN; SELECT fencing.release('a', :token); ROLLBACK;
SELECT state FROM fencing.leases;
BEGIN; SAVEPOINT s; SELECT fencing.release('a', :token); ROLLBACK TO s; SELECT state FROM fencing.leases; COMMIT;
SELECT state FROM fencing.leases;
BEGIN; SAVEPOINT s; SELECT fencing.release('a', :token); RELEASE s; COMMIT;
SELECT state FROM fencing.leases;
-- many at once, and in a function, which sees what it did
SELECT count(token) FROM generate_series(1, 300) n, fencing.acquire('m' || n, '1 h');
SELECT count(*) FILTER (WHERE fencing.release(resource, token)) FROM fencing.leases WHERE state = 'held';
SELECT state, count(*) FROM fencing.leases GROUP BY 1;
CREATE FUNCTION give_back(bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM fencing.release('a', $1);
    RETURN (SELECT state FROM fencing.leases WHERE resource = 'a');
END
$$;
SELECT token FROM fencing.acquire('a') \gset
SELECT give_back(:token);
SELECT state FROM fencing.leases WHERE resource = 'a';
-- with a write that may fail at the commit: both or neither
CREATE TABLE t (id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
SELECT token FROM fencing.acquire('a') \gset
BEGIN; SELECT fencing.release('a', :token); INSERT INTO t VALUES (1), (1); COMMIT;
SELECT state FROM fencing.leases WHERE resource = 'a';
BEGIN; SELECT fencing.release('a', :token); INSERT INTO t VALUES (1), (2); COMMIT;
SELECT state FROM fencing.leases WHERE resource = 'a';
-- with data that is stored out of line
SELECT token FROM fencing.acquire('a', data => (SELECT jsonb_agg(md5(n::text)) FROM generate_series(1, 1000) n)) \gset
BEGIN; SELECT fencing.release('a', :token); INSERT INTO t VALUES (3); COMMIT;
SELECT state, jsonb_array_length(data) FROM fencing.leases WHERE resource = 'a';
-- one that may fail to be serializable
SELECT token FROM fencing.acquire('a') \gset
BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT fencing.release('a', :token); COMMIT;
SELECT state FROM fencing.leases WHERE resource = 'a';
-- given back, and granted anew: the release does not take that back
SELECT token FROM fencing.acquire('a') \gset
BEGIN;
SELECT fencing.release('a', :token);
SELECT granted FROM fencing.acquire('a');
COMMIT;
SELECT state, token > :token AS anew FROM fencing.leases WHERE resource = 'a';
-- or forgotten
BEGIN;
SELECT fencing.release('a', token) FROM fencing.leases WHERE resource = 'a';
SELECT fencing.forget('a');
COMMIT;
SELECT count(*) FROM fencing.leases WHERE resource = 'a';
-- or with the extension gone
SELECT token FROM fencing.acquire('a') \gset
BEGIN; SELECT fencing.release('a', :token); DROP EXTENSION fencing CASCADE; COMMIT;
\i sql/include/fresh.psql
-- an index of the administrator's own keeps up
CREATE INDEX ON fencing.lease (holder);
SELECT token FROM fencing.acquire('a', '1 h', 'h1') \gset
SELECT token FROM fencing.acquire('a', '1 h', 'h1') \gset
SELECT fencing.release('a', :token);
SELECT granted FROM fencing.acquire('a', '1 h', 'h2');
SET enable_seqscan = off;
SELECT resource FROM fencing.lease WHERE holder = 'h2';
SELECT resource FROM fencing.lease WHERE holder = 'h1';
RESET enable_seqscan;
-- but not one that would miss what is written in place, or has to be computed
CREATE INDEX of_holders ON fencing.lease (lower(holder));
SELECT fencing.acquire('a', '1 h', 'h2');
SELECT fencing.acquire('new');
DROP INDEX fencing.of_holders;
CREATE INDEX partial ON fencing.lease (holder) WHERE resource = 'a';
SELECT fencing.acquire('a', '1 h', 'h2');
DROP INDEX fencing.partial;
CREATE INDEX of_tokens ON fencing.lease (holder, token);
SELECT fencing.acquire('a', '1 h', 'h2');
DROP INDEX fencing.of_tokens;
CREATE INDEX of_deadlines ON fencing.deadline (at_1);
SELECT fencing.acquire('new');
DROP INDEX fencing.of_deadlines;
SELECT granted FROM fencing.acquire('a', '1 h', 'h2');
SELECT granted FROM fencing.acquire('new');
