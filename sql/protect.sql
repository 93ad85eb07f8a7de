\i sql/include/fresh.psql
-- what protect() makes
CREATE TABLE t (id int PRIMARY KEY, v text);
INSERT INTO t VALUES (1, 'a');
SELECT pg_relation_filenode('t') AS before \gset
SELECT fencing.protect('t');
SELECT pg_relation_filenode('t') = :before AS not_rewritten;
SELECT attname, atttypid::regtype, attnotnull, pg_get_expr(adbin, adrelid) AS "default"
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = 't'::regclass AND attname = 'fence';
SELECT rel, fence_column, on_stale, resource, resource_column, remember_deleted, require_present, enabled FROM fencing.protected_tables;
-- a name of the user's own
CREATE TABLE named (id int);
SELECT fencing.protect('named', 'token');
SELECT fencing.protect('named');
SELECT fencing.protect('named', 'token');
SELECT fencing.protect('named', 'fence');
INSERT INTO named VALUES (1, 5);
UPDATE named SET token = 4;
-- a column that is there already
CREATE TABLE existing (fence fencing.fence NOT NULL DEFAULT 0, id int);
INSERT INTO existing VALUES (9, 1);
SELECT fencing.protect('existing');
UPDATE existing SET fence = 8;
CREATE TABLE existing_named (version fencing.fence NOT NULL DEFAULT 0, id int);
SELECT fencing.protect('existing_named');
SELECT rel, fence_column FROM fencing.protected_tables ORDER BY rel::text;
-- called again: what is given changes, what is not stays, and '' takes a binding off
SELECT fencing.protect('t', on_stale => 'skip', resource => 'r', resource_column => 'v', require_present => true);
SELECT fencing.protect('t');
SELECT on_stale, resource, resource_column, require_present FROM fencing.protected_tables WHERE rel = 't'::regclass;
SELECT fencing.protect('t', on_stale => 'warn');
SELECT on_stale, resource, resource_column, require_present FROM fencing.protected_tables WHERE rel = 't'::regclass;
SELECT fencing.protect('t', resource => '', require_present => false);
SELECT on_stale, resource, resource_column, require_present FROM fencing.protected_tables WHERE rel = 't'::regclass;
SELECT fencing.protect('t', resource_column => '', on_stale => 'error');
SELECT on_stale, resource, resource_column, require_present FROM fencing.protected_tables WHERE rel = 't'::regclass;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal;
-- a rewritten option binds at once
UPDATE t SET fence = 5;
UPDATE t SET fence = 4;
-- unprotect leaves the column and its values
SELECT fencing.unprotect('t');
UPDATE t SET v = 'free' RETURNING *;
SELECT rel, fence_column, on_stale, enabled FROM fencing.protected_tables WHERE rel = 't'::regclass;
SELECT fencing.unprotect('t');
SELECT fencing.protect('t');
UPDATE t SET fence = 4;
-- disabled, as the owner may
ALTER TABLE t DISABLE TRIGGER USER;
SELECT enabled FROM fencing.protected_tables WHERE rel = 't'::regclass;
UPDATE t SET fence = 4;
ALTER TABLE t ENABLE ALWAYS TRIGGER "~~fencing_guard";
SELECT enabled FROM fencing.protected_tables WHERE rel = 't'::regclass;
SELECT fencing.protect('t', on_stale => 'skip');
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 't'::regclass ORDER BY tgname;
-- a long name of a resource, and a bad column
SELECT fencing.protect('t', resource => repeat('x', 512)) IS NOT NULL AS ok;
SELECT fencing.protect('t', resource => repeat('x', 513));
SELECT fencing.protect('t', resource => repeat('ü', 257));
SELECT fencing.protect('t', resource_column => 'nope');
SELECT fencing.protect('t', resource_column => 'ctid');
SELECT length(resource) FROM fencing.protected_tables WHERE rel = 't'::regclass;
-- quotes and the like in options
SELECT fencing.protect('t', resource => E'it''s a "resource" = \\ with, $1 and %s');
SELECT resource FROM fencing.protected_tables WHERE rel = 't'::regclass;
-- by plain CREATE TRIGGER, of which protect() is the sugar
CREATE TABLE plain (id int, fence fencing.fence NOT NULL DEFAULT 0);
CREATE TRIGGER zz BEFORE INSERT OR UPDATE OR DELETE ON plain FOR EACH ROW EXECUTE FUNCTION fencing.guard();
CREATE TRIGGER zt BEFORE TRUNCATE ON plain EXECUTE FUNCTION fencing.guard('on_stale=error');
INSERT INTO plain VALUES (1, 5);
UPDATE plain SET fence = 4;
TRUNCATE plain;
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables WHERE rel = 'plain'::regclass;
SELECT fencing.protect('plain', on_stale => 'skip');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'plain'::regclass ORDER BY tgname;
-- in one transaction, rolled back
CREATE TABLE undone (id int);
BEGIN; SELECT fencing.protect('undone'); ROLLBACK;
\d undone
-- of a relation's OID, and of a table being dropped
SELECT fencing.protect('t'::regclass::oid);
SELECT fencing.protect(1234567890);
-- a guard made by hand that does not fire for every write does not count
CREATE TABLE part (id int, v text, fence fencing.fence NOT NULL DEFAULT 0);
CREATE TRIGGER g BEFORE UPDATE OF v ON part FOR EACH ROW EXECUTE FUNCTION fencing.guard();
SELECT on_stale, enabled FROM fencing.protected_tables WHERE rel = 'part'::regclass;
CREATE TRIGGER h BEFORE INSERT OR UPDATE OR DELETE ON part FOR EACH ROW WHEN (false) EXECUTE FUNCTION fencing.guard();
SELECT on_stale, enabled FROM fencing.protected_tables WHERE rel = 'part'::regclass;
CREATE TRIGGER i BEFORE INSERT OR UPDATE OR DELETE ON part FOR EACH ROW EXECUTE FUNCTION fencing.guard('on_stale=skip');
SELECT on_stale, enabled FROM fencing.protected_tables WHERE rel = 'part'::regclass;
-- nor one for TRUNCATE under a condition, or one that remembers deleted rows and is not fired after an INSERT or a new key
CREATE TRIGGER t BEFORE TRUNCATE ON part WHEN (false) EXECUTE FUNCTION fencing.guard('on_stale=skip');
SELECT truncate_enabled FROM fencing.protected_tables WHERE rel = 'part'::regclass;
CREATE TABLE memory (id int PRIMARY KEY, fence fencing.fence NOT NULL DEFAULT 0);
CREATE TRIGGER g BEFORE INSERT OR UPDATE OR DELETE ON memory FOR EACH ROW EXECUTE FUNCTION fencing.guard('remember_deleted=true');
SELECT enabled FROM fencing.protected_tables WHERE rel = 'memory'::regclass;
CREATE TRIGGER i AFTER INSERT ON memory FOR EACH ROW EXECUTE FUNCTION fencing.guard('remember_deleted=true');
SELECT enabled FROM fencing.protected_tables WHERE rel = 'memory'::regclass;
CREATE TRIGGER u AFTER UPDATE ON memory FOR EACH ROW EXECUTE FUNCTION fencing.guard('remember_deleted=true');
SELECT enabled FROM fencing.protected_tables WHERE rel = 'memory'::regclass;
ALTER TABLE memory DISABLE TRIGGER i;
SELECT enabled FROM fencing.protected_tables WHERE rel = 'memory'::regclass;
-- a fence column that this server cannot guard
CREATE FOREIGN DATA WRAPPER none;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER none;
CREATE FOREIGN TABLE distant (fence fencing.fence) SERVER elsewhere;
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables WHERE rel = 'distant'::regclass;
DROP FOREIGN TABLE distant;
DROP SERVER elsewhere;
DROP FOREIGN DATA WRAPPER none;
