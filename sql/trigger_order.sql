\i sql/include/fresh.psql
-- other BEFORE triggers may change the fence, under any name: the guard sees what is stored
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100);
CREATE FUNCTION set_fence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_ARGV[0] = 'keep' THEN NEW.fence := OLD.fence; ELSE NEW.fence := TG_ARGV[0]; END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER a BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION set_fence('99');
UPDATE t SET v = 'x';
UPDATE t SET v = 'x', fence = 200;
DROP TRIGGER a ON t;
CREATE TRIGGER zzz BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION set_fence('101');
UPDATE t SET v = 'b' RETURNING *;
BEGIN; SELECT fencing.present(102); UPDATE t SET v = 'x'; ROLLBACK;
BEGIN; SELECT fencing.present(101); UPDATE t SET v = 'c' RETURNING *; ROLLBACK;
ALTER TRIGGER zzz ON t RENAME TO "~";
UPDATE t SET v = 'x' RETURNING *;
-- a trigger that takes away the change
DROP TRIGGER "~" ON t;
CREATE TRIGGER "Keep" BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION set_fence('keep');
UPDATE t SET v = 'x', fence = 50 RETURNING *;
UPDATE t SET v = 'x';
DROP TRIGGER "Keep" ON t;
-- NULL from a trigger
CREATE FUNCTION set_null() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.fence := NULL; RETURN NEW; END';
CREATE TRIGGER n BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION set_null();
UPDATE t SET fence = 105;
INSERT INTO t VALUES (2);
DROP TRIGGER n ON t;
-- on INSERT
CREATE TRIGGER i BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION set_fence('7');
INSERT INTO t VALUES (3, 'i', 5) RETURNING *;
BEGIN; SELECT fencing.present(6); INSERT INTO t VALUES (4, 'i'); ROLLBACK;
DROP TRIGGER i ON t;
-- names that sort after the guard's: refused, never unguarded
CREATE TRIGGER "~~zzz" BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION set_fence('1');
UPDATE t SET v = 'x', fence = 101;
ALTER TABLE t DISABLE TRIGGER "~~zzz";
UPDATE t SET v = 'd', fence = 101 WHERE id = 1 RETURNING *;
ALTER TABLE t ENABLE TRIGGER "~~zzz";
ALTER TRIGGER "~~zzz" ON t RENAME TO "~~~~~";
UPDATE t SET v = 'x', fence = 101;
ALTER TRIGGER "~~~~~" ON t RENAME TO "ÿ";
UPDATE t SET v = 'x', fence = 101;
DROP TRIGGER "ÿ" ON t;
CREATE TRIGGER "~~~" BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION set_fence('1');
INSERT INTO t VALUES (5);
DROP TRIGGER "~~~" ON t;
-- AFTER and statement triggers may be named as they like
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER "~~~" AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION nothing();
CREATE TRIGGER "~~~s" BEFORE UPDATE ON t EXECUTE FUNCTION nothing();
UPDATE t SET v = 'e', fence = 101 WHERE id = 1 RETURNING *;
DROP TRIGGER "~~~" ON t;
DROP TRIGGER "~~~s" ON t;
-- a trigger that leaves the row out, and one that writes the row itself
CREATE TRIGGER skip BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION nothing();
UPDATE t SET v = 'x', fence = 1 RETURNING *;
DROP TRIGGER skip ON t;
CREATE TABLE log (v text);
CREATE FUNCTION write_other() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE t SET v = 'inner', fence = TG_ARGV[0]::bigint WHERE id = 3;
	RETURN NEW;
END $$;
CREATE TRIGGER w BEFORE UPDATE ON t FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION write_other('1');
UPDATE t SET v = 'x', fence = 101 WHERE id = 1;
DROP TRIGGER w ON t;
CREATE TRIGGER w AFTER UPDATE ON t FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION write_other('8');
UPDATE t SET v = 'f', fence = 101 WHERE id = 1 RETURNING *;
SELECT * FROM t ORDER BY id;
