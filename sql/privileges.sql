\i sql/include/fresh.psql
-- everything that an ordinary role may do, and what not
CREATE ROLE regress_fencing_user;
GRANT CREATE ON SCHEMA public TO regress_fencing_user;
CREATE TABLE of_others (id int PRIMARY KEY);
SELECT fencing.protect('of_others');
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON of_others TO regress_fencing_user;
SET ROLE regress_fencing_user;
SELECT fencing.fence '1', 1::fencing.fence;
SELECT granted, token FROM fencing.acquire('r', '1 h');
SELECT granted FROM fencing.acquire('r', wait => '1 ms');
SELECT fencing.renew('r', 1) > now(), fencing.renew('r', 1, '2 h') > now();
BEGIN; SELECT fencing.hold('r', 1), fencing.presented(); COMMIT;
SELECT fencing.issue_token();
SELECT fencing.release('r', 1);
SELECT fencing.safe_window('1 s'), fencing.heartbeat_interval('1 s');
SELECT resource, state FROM fencing.leases;
SELECT rel, enabled FROM fencing.protected_tables;
-- a table of its own, and one of others with the server's own privileges
CREATE TABLE mine (id int PRIMARY KEY, r text);
SELECT fencing.protect('mine', remember_deleted => true, resource_column => 'r');
INSERT INTO mine VALUES (1, NULL, 5);
UPDATE mine SET fence = 4;
DELETE FROM mine WHERE fencing.present(5) = 5;
INSERT INTO mine VALUES (1, NULL, 4);
SELECT fencing.prune_deleted('mine', 5);
SELECT fencing.protect('mine', on_stale => 'skip');
SELECT fencing.unprotect('mine');
INSERT INTO of_others VALUES (1, 5);
UPDATE of_others SET fence = 4;
SELECT fencing.protect('of_others');
SELECT fencing.unprotect('of_others');
SELECT fencing.prune_deleted('of_others', 5);
BEGIN; SELECT fencing.present(5); TRUNCATE of_others; COMMIT;
DROP TABLE mine;
-- the tables and the sequence are closed
SELECT * FROM fencing.lease;
SELECT * FROM fencing.deadline;
SELECT * FROM fencing.issuer;
SELECT * FROM fencing.deleted;
SELECT * FROM fencing.token_seq;
SELECT nextval('fencing.token_seq');
SELECT setval('fencing.token_seq', 1);
SELECT currval('fencing.token_seq');
INSERT INTO fencing.lease DEFAULT VALUES;
UPDATE fencing.lease SET token = 0;
DELETE FROM fencing.lease;
TRUNCATE fencing.lease;
LOCK TABLE fencing.lease IN ACCESS SHARE MODE;
UPDATE fencing.leases SET token = 0;
CREATE TABLE fencing.mine (id int);
-- administrators' functions
SELECT fencing.evict('r');
SELECT fencing.forget('r');
SELECT fencing.new_epoch();
-- no setting that an ordinary role can change
SET fencing.require_synchronous = on;
SET fencing.presented = 5;
RESET ROLE;
-- one REVOKE closes it all
REVOKE USAGE ON SCHEMA fencing FROM PUBLIC;
SET ROLE regress_fencing_user;
SELECT fencing.acquire('r');
SELECT fencing.present(1);
SELECT * FROM fencing.leases;
SELECT fencing.issue_token();
-- while writes to protected tables go on as they did
INSERT INTO of_others VALUES (1, '5');
UPDATE of_others SET fence = '4';
RESET ROLE;
GRANT USAGE ON SCHEMA fencing TO regress_fencing_user;
SET ROLE regress_fencing_user;
SELECT granted FROM fencing.acquire('r');
RESET ROLE;
REVOKE ALL ON SCHEMA fencing, public FROM regress_fencing_user;
DROP TABLE of_others;
DROP ROLE regress_fencing_user;
GRANT USAGE ON SCHEMA fencing TO PUBLIC;
-- by PUBLIC: what is closed, and who owns all
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace = 'fencing'::regnamespace AND NOT has_function_privilege('public', p.oid, 'EXECUTE') ORDER BY 1::text;
SELECT c.relname, c.relkind FROM pg_class c WHERE relnamespace = 'fencing'::regnamespace AND relkind IN ('r', 'v', 'S')
AND has_table_privilege('public', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') ORDER BY 1;
SELECT count(*) FROM pg_class WHERE relnamespace = 'fencing'::regnamespace AND relowner <> (SELECT extowner FROM pg_extension WHERE extname = 'fencing');
-- require_synchronous, set by a superuser
SET fencing.require_synchronous = on;
SELECT fencing.acquire('sync');
SELECT fencing.renew('r', token) > now() FROM fencing.leases WHERE resource = 'r';
RESET fencing.require_synchronous;
SHOW fencing.require_synchronous;
SELECT granted FROM fencing.acquire('sync');
