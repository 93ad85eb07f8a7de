\i sql/include/fresh.psql
-- present() called by a trigger, a rule of the database's own (before the guard)
CREATE TABLE t (id int PRIMARY KEY, v text, want bigint);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', NULL, 100);
CREATE FUNCTION present_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM fencing.present(NEW.want); RETURN NEW; END';
CREATE TRIGGER p BEFORE UPDATE ON t FOR EACH ROW WHEN (NEW.want IS NOT NULL) EXECUTE FUNCTION present_it();
UPDATE t SET want = 101 RETURNING *;
UPDATE t SET want = 100;
UPDATE t SET want = NULL;
-- session_replication_role
SET session_replication_role = replica;
UPDATE t SET v = 'replica', fence = 1 RETURNING *;
RESET session_replication_role;
ALTER TABLE t ENABLE ALWAYS TRIGGER "~~fencing_guard";
UPDATE t SET v = 'x', want = NULL;
SET session_replication_role = replica;
UPDATE t SET v = 'x';
UPDATE t SET fence = 50 RETURNING *;
UPDATE t SET fence = 49;
RESET session_replication_role;
