\i sql/include/fresh.psql
-- everything that users call or read has a comment
SELECT pg_describe_object(classid, objid, 0)
FROM pg_depend d
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'fencing') AND deptype = 'e'
AND CASE classid
	WHEN 'pg_cast'::regclass THEN false
	WHEN 'pg_proc'::regclass THEN (SELECT proname !~ '^fence_(in|out|recv|send)$' FROM pg_proc WHERE oid = objid)
	WHEN 'pg_type'::regclass THEN (SELECT typtype = 'b' AND typelem = 0 FROM pg_type WHERE oid = objid)
	ELSE true END
AND obj_description(objid, (SELECT relname FROM pg_class WHERE oid = classid)) IS NULL
ORDER BY 1;
-- what there is
SELECT p.oid::regprocedure, prorettype::regtype, provolatile, proparallel, proisstrict, proretset
FROM pg_proc p WHERE pronamespace = 'fencing'::regnamespace
AND proname IN ('protect', 'unprotect', 'guard', 'present', 'presented', 'hold', 'acquire', 'renew', 'release', 'issue_token', 'safe_window', 'heartbeat_interval', 'evict', 'forget', 'new_epoch')
ORDER BY 1::text;
SELECT pg_get_function_arguments('fencing.acquire'::regproc);
SELECT pg_get_function_arguments('fencing.protect'::regproc);
SELECT pg_get_function_arguments('fencing.renew'::regproc), pg_get_function_arguments('fencing.safe_window'::regproc);
SELECT extversion, extrelocatable, extnamespace::regnamespace FROM pg_extension WHERE extname = 'fencing';
SELECT name, setting, context, short_desc IS NOT NULL AS described FROM pg_settings WHERE name LIKE 'fencing.%';
-- dumped: what must not be lost
SELECT unnest(extconfig)::regclass FROM pg_extension WHERE extname = 'fencing' ORDER BY 1::text;
SELECT relname, relpersistence FROM pg_class WHERE relnamespace = 'fencing'::regnamespace AND relkind IN ('r', 'S') ORDER BY 1;
-- DROP EXTENSION while tables are protected
CREATE TABLE t (id int PRIMARY KEY);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 5);
DROP EXTENSION fencing;
UPDATE t SET fence = 4;
DROP EXTENSION fencing CASCADE;
\d t
UPDATE t SET id = 2;
-- and again, in the same session
CREATE EXTENSION fencing;
SELECT token FROM fencing.acquire('a');
SELECT fencing.protect('t');
INSERT INTO t VALUES (3, 5);
UPDATE t SET fence = 4 WHERE id = 3;
UPDATE t SET fence = 6 WHERE id = 3;
BEGIN;
SELECT granted FROM fencing.acquire('b');
DROP EXTENSION fencing CASCADE;
COMMIT;
BEGIN;
CREATE EXTENSION fencing;
SELECT granted, token FROM fencing.acquire('c');
SELECT fencing.hold('c', 1);
ROLLBACK;
SELECT fencing.acquire('c');
CREATE EXTENSION fencing;
SELECT granted, token FROM fencing.acquire('c');
-- objects of it cannot be dropped one by one
DROP TABLE fencing.lease;
DROP FUNCTION fencing.guard();
DROP SCHEMA fencing;
ALTER EXTENSION fencing SET SCHEMA public;
ALTER EXTENSION fencing UPDATE;
