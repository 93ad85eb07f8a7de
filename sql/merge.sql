\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100), (2, 'b', 100);
CREATE TABLE s (id int, v text, f bigint);
INSERT INTO s VALUES (1, 'm', 101), (3, 'm', 101);
-- accepted
MERGE INTO t USING s ON t.id = s.id
	WHEN MATCHED THEN UPDATE SET v = s.v, fence = s.f
	WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.f);
SELECT * FROM t ORDER BY id;
-- stale
UPDATE s SET f = 100;
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'x', fence = s.f;
-- missing
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'x';
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE;
-- unchanged, but set
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'same', fence = t.fence;
SELECT * FROM t ORDER BY id;
-- an action that does not set it must not pass for one that does
MERGE INTO t USING s ON t.id = s.id
	WHEN MATCHED AND t.id = 1 THEN UPDATE SET v = 'x'
	WHEN MATCHED THEN UPDATE SET v = 'x', fence = 101;
MERGE INTO t USING (SELECT * FROM s WHERE id = 1) s ON t.id = s.id
	WHEN MATCHED AND t.v = 'same' THEN UPDATE SET v = 'x'
	WHEN MATCHED AND t.v = 'other' THEN UPDATE SET fence = s.f
	WHEN NOT MATCHED THEN INSERT VALUES (9, 'x', 1);
-- the action that sets it to a new value is known by the value
MERGE INTO t USING s ON t.id = s.id
	WHEN MATCHED AND t.id = 9 THEN UPDATE SET v = 'x'
	WHEN MATCHED THEN UPDATE SET v = 'new value', fence = 102;
SELECT * FROM t ORDER BY id;
-- an INSERT action names the column, an UPDATE action does not
MERGE INTO t USING s ON t.id = s.id
	WHEN MATCHED THEN UPDATE SET v = 'x'
	WHEN NOT MATCHED THEN INSERT (id, v, fence) VALUES (s.id, s.v, s.f);
-- in a function, and within a CTE-like nesting of statements
CREATE FUNCTION merge_it() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	MERGE INTO t USING s ON t.id = s.id
		WHEN MATCHED AND t.id = 1 THEN UPDATE SET v = 'x'
		WHEN MATCHED THEN UPDATE SET v = 'x', fence = t.fence;
END $$;
SELECT merge_it();
CREATE FUNCTION merge_all() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'function', fence = t.fence;
END $$;
SELECT merge_all();
-- under present()
BEGIN;
SELECT fencing.present(103);
MERGE INTO t USING s ON t.id = s.id
	WHEN MATCHED AND t.id = 1 THEN UPDATE SET v = 'p'
	WHEN MATCHED THEN DELETE;
SELECT * FROM t ORDER BY id;
ROLLBACK;
BEGIN;
SELECT fencing.present(101);
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'p';
ROLLBACK;
BEGIN;
SELECT fencing.present(103);
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET fence = 104;
ROLLBACK;
-- DO NOTHING, and the condition in the action
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.fence <= s.f THEN UPDATE SET fence = s.f WHEN MATCHED THEN DO NOTHING;
SELECT * FROM t ORDER BY id;
-- skip
SELECT fencing.protect('t', on_stale => 'skip');
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'x', fence = s.f;
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.id = 1 THEN UPDATE SET v = 'x' WHEN MATCHED THEN UPDATE SET fence = 1;
SELECT * FROM t ORDER BY id;
-- a new session, whose first statement is a MERGE
\c -
\set VERBOSITY sqlstate
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.id = 1 THEN UPDATE SET v = 'x' WHEN MATCHED THEN UPDATE SET v = 'x', fence = t.fence;
\c -
\set VERBOSITY sqlstate
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'first', fence = t.fence;
\c -
\set VERBOSITY sqlstate
SELECT merge_it();
SELECT * FROM t ORDER BY id;
-- an UPDATE that is skipped lends its mark to no DELETE of the same row
BEGIN;
SELECT fencing.present(1);
MERGE INTO t USING (VALUES (1, 'u'), (1, 'd')) x (id, op) ON t.id = x.id
	WHEN MATCHED AND op = 'u' THEN UPDATE SET v = 'stale' WHEN MATCHED THEN DELETE;
COMMIT;
MERGE INTO t USING (VALUES (1, 'u'), (1, 'd')) x (id, op) ON t.id = x.id
	WHEN MATCHED AND op = 'u' THEN UPDATE SET v = 'stale', fence = 1 WHEN MATCHED THEN DELETE;
SELECT * FROM t ORDER BY id;
