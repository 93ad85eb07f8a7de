\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100);
-- exceptions: by condition and by class
DO $$
BEGIN
	BEGIN
		UPDATE t SET v = 'x', fence = 99;
	EXCEPTION WHEN SQLSTATE 'LF001' THEN
		RAISE WARNING 'caught';
	END;
	BEGIN
		PERFORM fencing.present(99);
		UPDATE t SET v = 'x';
	EXCEPTION WHEN SQLSTATE 'LF001' THEN
		-- present() went with its block
		IF fencing.presented() IS NOT NULL THEN
			RAISE 'presented';
		END IF;
	END;
	UPDATE t SET v = 'b', fence = 101;
END $$;
SELECT * FROM t;
CREATE FUNCTION stale() RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text;
BEGIN
	UPDATE t SET v = 'x', fence = 1;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
	RETURN state;
END $$;
SELECT stale();
CREATE FUNCTION writes(token bigint) RETURNS bigint LANGUAGE sql AS 'UPDATE t SET v = ''sql'', fence = $1 RETURNING fence';
SELECT writes(101);
SELECT writes(100);
-- SECURITY DEFINER, SET search_path
CREATE FUNCTION definer(token bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS 'BEGIN UPDATE public.t SET v = ''d'', fence = token; END';
SELECT definer(102);
SELECT definer(101);
-- procedures that commit: the token goes with its transaction
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fencing.present(103);
	UPDATE t SET v = 'one';
	COMMIT;
	IF fencing.presented() IS NOT NULL THEN
		RAISE 'presented';
	END IF;
	PERFORM fencing.present(104);
	UPDATE t SET v = 'two';
	ROLLBACK;
	PERFORM fencing.present(105);
	UPDATE t SET v = 'three' WHERE fence = 103;
	COMMIT;
	UPDATE t SET v = 'four';
END $$;
CALL commits();
SELECT * FROM t;
-- hold() and leases in a procedure
CREATE PROCEDURE holds() LANGUAGE plpgsql AS $$
DECLARE
	lease record;
BEGIN
	SELECT * INTO lease FROM fencing.acquire('r');
	COMMIT;
	PERFORM fencing.hold('r', lease.token);
	INSERT INTO t VALUES (2, 'held');
	COMMIT;
	PERFORM fencing.hold('r', lease.token);
	PERFORM fencing.release('r', lease.token);
	COMMIT;
	PERFORM fencing.hold('r', lease.token);
END $$;
CALL holds();
SELECT v, fence > 0 AS fenced FROM t WHERE id = 2;
-- a set-returning call, and one per row
SELECT granted FROM generate_series(1, 3) i, fencing.acquire('many ' || i);
SELECT (fencing.acquire('composite')).granted;
SELECT fencing.release(resource, token) FROM fencing.leases WHERE resource LIKE 'many%' ORDER BY resource;
-- in an index, a generated column or a default it has no place
CREATE INDEX ON t (fencing.present(fence));
CREATE TABLE g (a bigint, b bigint GENERATED ALWAYS AS (fencing.present(a)) STORED);
CREATE TABLE d (id int, token bigint DEFAULT fencing.issue_token());
INSERT INTO d VALUES (1), (2);
SELECT count(DISTINCT token) FROM d;
