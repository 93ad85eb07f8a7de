\i sql/include/fresh.psql
-- SQLSTATE, DETAIL, HINT and the fields of LF001 to LF006
CREATE FUNCTION failure(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text,
	OUT schema_name text, OUT table_name text, OUT column_name text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	state := 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
		schema_name = SCHEMA_NAME, table_name = TABLE_NAME, column_name = COLUMN_NAME;
END $$;
\x
CREATE SCHEMA "My Schema";
CREATE TABLE "My Schema"."My Table" (id int PRIMARY KEY);
CREATE TABLE bound (id int PRIMARY KEY);
CREATE TABLE strict (id int PRIMARY KEY);
SELECT fencing.protect('"My Schema"."My Table"', 'The Fence'), fencing.protect('bound', resource => 'job'), fencing.protect('strict', require_present => true);
INSERT INTO "My Schema"."My Table" VALUES (1, 100);
SET search_path = "My Schema", public;
-- LF001 stale_token
SELECT * FROM failure('UPDATE "My Table" SET "The Fence" = 99');
SELECT * FROM failure('DELETE FROM "My Table" WHERE fencing.present(99) = 99');
SELECT * FROM failure('DO $d$ BEGIN PERFORM fencing.present(99); TRUNCATE "My Table"; END $d$');
-- LF002 missing_token
SELECT * FROM failure('UPDATE "My Table" SET id = 2');
SELECT * FROM failure('INSERT INTO strict VALUES (1)');
SELECT * FROM failure('INSERT INTO strict VALUES (1, 5)');
SELECT * FROM failure('INSERT INTO strict SELECT 1, 5 WHERE fencing.present(7) = 7');
-- LF003 conflicting_token
SELECT * FROM failure('UPDATE "My Table" SET "The Fence" = 101 WHERE fencing.present(102) = 102');
-- LF005 unknown_token, and the others on a bound table
SELECT * FROM failure('INSERT INTO bound VALUES (1, 5)');
SELECT granted FROM fencing.acquire('job', holder => 'me');
SELECT * FROM failure('INSERT INTO bound VALUES (1, 5)');
SELECT granted FROM fencing.acquire('job', holder => 'me');
SELECT * FROM failure('INSERT INTO bound VALUES (1, 1)');
SELECT * FROM failure('INSERT INTO bound VALUES (1)');
SELECT fencing.release('job', 2);
SELECT * FROM failure('INSERT INTO bound VALUES (1, 2)');
-- LF004 lease_lost
SELECT * FROM failure('SELECT fencing.hold(''job'', 2)');
SELECT * FROM failure('SELECT fencing.hold(''job'', 1)');
SELECT * FROM failure('SELECT fencing.hold(''job'', 7)');
SELECT * FROM failure('SELECT fencing.hold(''nobody'', 7)');
SELECT * FROM failure('SELECT fencing.renew(''job'', 2)');
SELECT granted FROM fencing.acquire('job', '1 ms');
SELECT pg_sleep(0.01);
SELECT * FROM failure('SELECT fencing.renew(''job'', 3)');
-- LF006 issuer_behind
SELECT setval('fencing.token_seq', 1, false);
SELECT * FROM failure('SELECT fencing.acquire(''job'')');
SELECT fencing.new_epoch();
SELECT granted FROM fencing.acquire('job');
-- NULL
SELECT * FROM failure('UPDATE "My Table" SET "The Fence" = NULL');
SELECT * FROM failure('SELECT fencing.present(NULL)');
SELECT * FROM failure('SELECT fencing.present(0)');
SELECT * FROM failure('SELECT fencing.present(-1)');
-- arguments
SELECT * FROM failure('SELECT fencing.acquire(repeat(''x'', 513))');
SELECT * FROM failure('SELECT fencing.acquire(''x'', ''0'')');
SELECT * FROM failure('SELECT fencing.protect(''bound'', on_stale => ''x'')');
SELECT * FROM failure('SELECT fencing.safe_window(''1 s'', -1)');
-- the type
SELECT * FROM failure('SELECT fencing.fence ''x''');
SELECT * FROM failure('SELECT fencing.fence ''-1''');
SELECT * FROM failure('SELECT (-1)::fencing.fence');
SELECT * FROM failure('SELECT 1.5::fencing.fence');
-- protect()
CREATE TABLE two (a fencing.fence, b fencing.fence);
CREATE TABLE other (fence int);
CREATE VIEW view AS SELECT 1;
SELECT * FROM failure('SELECT fencing.protect(''two'')');
SELECT * FROM failure('SELECT fencing.protect(''other'')');
SELECT * FROM failure('SELECT fencing.protect(''view'')');
SELECT * FROM failure('SELECT fencing.protect(''bound'', ''version'')');
SELECT * FROM failure('SELECT fencing.protect(''bound'', resource_column => ''nope'')');
-- at commit: what there is of it
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT token AS t FROM fencing.acquire('c', holder => 'me') \gset
BEGIN; SELECT fencing.hold('c', :t) = :t AS held; SELECT granted FROM fencing.acquire('c', holder => 'me'); COMMIT;
DROP SCHEMA "My Schema" CASCADE;
