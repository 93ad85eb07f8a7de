\i sql/include/fresh.psql
-- columns computed from the fence follow what the guard stores
CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text, fence fencing.fence NOT NULL DEFAULT 0, twice bigint GENERATED ALWAYS AS (fence * 2) STORED);
SELECT fencing.protect('t');
INSERT INTO t (v) VALUES ('a'), ('b') RETURNING *;
BEGIN;
SELECT fencing.present(100);
UPDATE t SET v = 'c' WHERE id = 1 RETURNING *;
INSERT INTO t (v) VALUES ('d') RETURNING *;
COMMIT;
UPDATE t SET v = 'x', fence = 99 WHERE id = 1;
UPDATE t SET v = 'e', fence = 101 WHERE id = 1 RETURNING *;
SELECT fencing.protect('t', on_stale => 'warn');
UPDATE t SET v = 'f', fence = 50 WHERE id = 1 RETURNING *;
-- checks and indexes see it, too
ALTER TABLE t ADD CHECK (fence < 1000);
CREATE UNIQUE INDEX ON t (fence) WHERE fence > 100;
BEGIN; SELECT fencing.present(1000); UPDATE t SET v = 'g' WHERE id = 1; ROLLBACK;
BEGIN; SELECT fencing.present(101); UPDATE t SET v = 'g' WHERE id = 2; ROLLBACK;
SELECT * FROM t ORDER BY id;
