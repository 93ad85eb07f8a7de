\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
-- none given: a row starts unfenced
INSERT INTO t VALUES (1, 'a') RETURNING fence;
INSERT INTO t VALUES (2, 'a', 0) RETURNING fence;
INSERT INTO t VALUES (3, 'a', DEFAULT) RETURNING fence;
-- the value given
INSERT INTO t VALUES (4, 'a', 100) RETURNING fence;
INSERT INTO t SELECT i, 'b', 90 + i FROM generate_series(5, 6) i RETURNING fence;
-- the token presented; 0 is none given
BEGIN;
SELECT fencing.present(200);
INSERT INTO t VALUES (7, 'p') RETURNING fence;
INSERT INTO t VALUES (8, 'p', 0), (9, 'p', 200) RETURNING fence;
INSERT INTO t VALUES (10, 'p', 201);
ROLLBACK;
SELECT * FROM t ORDER BY id;
INSERT INTO t VALUES (11, 'n', NULL);
INSERT INTO t VALUES (11, 'n', -1);
INSERT INTO t VALUES (1, 'dup', 100);
