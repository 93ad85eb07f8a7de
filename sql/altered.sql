\i sql/include/fresh.psql
-- relations of the extension that were altered are not written to: 55000, and no crash
SELECT token FROM fencing.acquire('a', '1 h');
-- whether they are logged
ALTER TABLE fencing.deadline SET LOGGED;
SELECT granted FROM fencing.acquire('b');
SELECT fencing.renew('a', 1);
ALTER TABLE fencing.deadline SET UNLOGGED;
ALTER TABLE fencing.lease SET UNLOGGED;
SELECT granted FROM fencing.acquire('b');
BEGIN; SELECT fencing.hold('a', 1); ROLLBACK;
ALTER TABLE fencing.lease SET LOGGED;
ALTER SEQUENCE fencing.token_seq SET UNLOGGED;
SELECT fencing.issue_token();
ALTER SEQUENCE fencing.token_seq SET LOGGED;
SELECT granted, token FROM fencing.acquire('b');
-- columns
ALTER TABLE fencing.issuer ALTER epoch TYPE text;
SELECT fencing.issue_token();
ALTER TABLE fencing.issuer ALTER epoch TYPE bigint USING epoch::bigint;
SELECT fencing.issue_token();
ALTER TABLE fencing.lease ALTER role TYPE name;
SELECT granted FROM fencing.acquire('a');
ALTER TABLE fencing.lease ALTER role TYPE text COLLATE "C";
SELECT granted FROM fencing.acquire('a');
ALTER TABLE fencing.deadline ALTER token_1 TYPE text;
SELECT granted FROM fencing.acquire('a');
ALTER TABLE fencing.deadline ALTER token_1 TYPE bigint USING token_1::bigint;
SELECT granted FROM fencing.acquire('a');
CREATE TABLE t (id int PRIMARY KEY);
SELECT fencing.protect('t', remember_deleted => true);
INSERT INTO t VALUES (1, 5);
ALTER TABLE fencing.deleted ALTER fence TYPE int;
DELETE FROM t WHERE fencing.present(6) = 6;
ALTER TABLE fencing.deleted ALTER fence TYPE bigint;
DELETE FROM t WHERE fencing.present(6) = 6;
ALTER TYPE fencing.answer ADD ATTRIBUTE more text;
SELECT * FROM fencing.acquire('c');
SELECT fencing.acquire('c');
ALTER TYPE fencing.answer DROP ATTRIBUTE more;
SELECT granted FROM fencing.acquire('c');
ALTER TABLE fencing.lease ADD more text, ADD more2 text, ADD more3 text;
SELECT granted FROM fencing.acquire('a');
\i sql/include/fresh.psql
-- another index under the name of ours
DROP INDEX fencing.deadline_resource;
CREATE INDEX deadline_resource ON fencing.deadline USING hash (lower(resource));
SELECT granted FROM fencing.acquire('a');
DROP INDEX fencing.deadline_resource;
CREATE INDEX deadline_resource ON fencing.deadline (resource);
SELECT granted FROM fencing.acquire('a');
DROP INDEX fencing.deadline_resource;
CREATE INDEX deadline_resource ON fencing.deadline USING hash (resource);
SELECT granted FROM fencing.acquire('a');
CREATE TABLE t (id int PRIMARY KEY);
SELECT fencing.protect('t', remember_deleted => true);
INSERT INTO t VALUES (1, 5);
ALTER TABLE fencing.deleted DROP CONSTRAINT deleted_pkey;
CREATE INDEX deleted_pkey ON fencing.deleted (rel, digest, (fence + 1));
DELETE FROM t WHERE fencing.present(6) = 6;
DROP INDEX fencing.deleted_pkey;
ALTER TABLE fencing.deleted ADD CONSTRAINT deleted_pkey PRIMARY KEY (rel, digest);
DELETE FROM t WHERE fencing.present(6) = 6;
-- and beside ours, such as only the executor keeps up
ALTER TABLE fencing.lease ADD CONSTRAINT own EXCLUDE USING btree (resource WITH =);
SELECT granted FROM fencing.acquire('b');
ALTER TABLE fencing.lease DROP CONSTRAINT own;
ALTER TABLE fencing.lease ADD CONSTRAINT own UNIQUE (resource) DEFERRABLE;
SELECT granted FROM fencing.acquire('b');
ALTER TABLE fencing.lease DROP CONSTRAINT own;
SELECT granted FROM fencing.acquire('b');
-- what is written in place would be lost with the new file of a transaction that rolls back,
-- also where a second one was rolled back to a savepoint
BEGIN;
CLUSTER fencing.lease USING lease_pkey;
SAVEPOINT s;
CLUSTER fencing.lease USING lease_pkey;
ROLLBACK TO s;
SELECT fencing.evict('a');
ROLLBACK;
BEGIN;
TRUNCATE fencing.deadline;
SAVEPOINT s;
TRUNCATE fencing.deadline;
ROLLBACK TO s;
SELECT fencing.renew('a', 1);
ROLLBACK;
BEGIN;
ALTER SEQUENCE fencing.token_seq MAXVALUE 1000000000000000;
SELECT fencing.issue_token();
ROLLBACK;
BEGIN;
ALTER SEQUENCE fencing.token_seq MAXVALUE 1000000000000000;
SELECT fencing.evict('a');
ROLLBACK;
SELECT fencing.issue_token();
