\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100);
-- updatable views, with and without the column, renamed, with a check option, of a view
CREATE VIEW whole AS SELECT * FROM t;
CREATE VIEW part AS SELECT id, v FROM t;
CREATE VIEW other AS SELECT id, fence AS version, v FROM t WITH CHECK OPTION;
CREATE VIEW nested AS SELECT * FROM other WHERE id < 10;
UPDATE whole SET v = 'x', fence = 99;
UPDATE whole SET v = 'x';
UPDATE whole SET v = 'b', fence = 101 RETURNING *;
UPDATE part SET v = 'x';
UPDATE other SET v = 'x', version = 100;
UPDATE nested SET v = 'x', version = 100;
UPDATE nested SET v = 'c', version = 102 RETURNING *;
UPDATE nested SET v = 'd', version = version RETURNING *;
DELETE FROM part;
INSERT INTO other VALUES (2, 50, 'i') RETURNING *;
INSERT INTO part VALUES (3, 'i');
BEGIN; SELECT fencing.present(102); UPDATE part SET v = 'p' WHERE id = 1 RETURNING *; DELETE FROM nested WHERE id = 1 RETURNING *; ROLLBACK;
BEGIN; SELECT fencing.present(101); UPDATE part SET v = 'p' WHERE id = 1; ROLLBACK;
-- INSTEAD OF
CREATE VIEW instead AS SELECT id, upper(v) AS v, fence FROM t;
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' THEN
		DELETE FROM t WHERE id = OLD.id;
		RETURN OLD;
	ELSIF TG_OP = 'INSERT' THEN
		INSERT INTO t VALUES (NEW.id, NEW.v, coalesce(NEW.fence, '0'));
	ELSE
		UPDATE t SET v = lower(NEW.v), fence = NEW.fence WHERE id = OLD.id;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER i INSTEAD OF INSERT OR UPDATE OR DELETE ON instead FOR EACH ROW EXECUTE FUNCTION instead();
UPDATE instead SET v = 'X', fence = 99 WHERE id = 1;
UPDATE instead SET v = 'E', fence = 103 WHERE id = 1 RETURNING *;
DELETE FROM instead WHERE id = 1;
INSERT INTO instead VALUES (4, 'I');
BEGIN; SELECT fencing.present(103); DELETE FROM instead WHERE id = 1; ROLLBACK;
-- rules
CREATE VIEW ruled AS SELECT * FROM t;
CREATE RULE r AS ON UPDATE TO ruled DO INSTEAD UPDATE t SET v = NEW.v, fence = NEW.fence WHERE id = OLD.id;
CREATE RULE d AS ON DELETE TO ruled DO INSTEAD DELETE FROM t WHERE id = OLD.id;
UPDATE ruled SET v = 'x', fence = 99 WHERE id = 1;
UPDATE ruled SET v = 'ruled', fence = 104 WHERE id = 1;
DELETE FROM ruled WHERE id = 1;
-- a rule that writes the fence back counts as naming it, which require_present closes
UPDATE ruled SET v = 'written back' WHERE id = 1;
SELECT * FROM t ORDER BY id;
SELECT fencing.protect('t', require_present => true);
UPDATE ruled SET v = 'x' WHERE id = 1;
-- a rule on the table itself
CREATE TABLE log (id int);
CREATE RULE l AS ON UPDATE TO t DO ALSO INSERT INTO log VALUES (NEW.id);
BEGIN; SELECT fencing.present(105); UPDATE t SET v = 'z' WHERE id = 1; COMMIT;
SELECT * FROM log;
