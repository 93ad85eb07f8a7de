\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100);
-- accepted, stale, missing (trap 21)
INSERT INTO t VALUES (1, 'b', 101) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING *;
INSERT INTO t VALUES (1, 'b', 101) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING *;
INSERT INTO t VALUES (1, 'x', 100) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING *;
INSERT INTO t VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET v = excluded.v;
INSERT INTO t VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence;
-- a fence in VALUES alone is for the insert arm
INSERT INTO t VALUES (1, 'x', 102) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
INSERT INTO t VALUES (1, 'x', 102) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = t.fence RETURNING *;
INSERT INTO t VALUES (2, 'b', 102) ON CONFLICT (id) DO UPDATE SET v = excluded.v RETURNING *;
-- with a condition, 0 rows
INSERT INTO t VALUES (1, 'x', 100) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence WHERE t.fence <= excluded.fence RETURNING *;
INSERT INTO t VALUES (1, 'c', 102) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence WHERE t.fence <= excluded.fence RETURNING *;
-- DO NOTHING
INSERT INTO t VALUES (1, 'x', 1) ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO t VALUES (3, 'c', 1) ON CONFLICT DO NOTHING RETURNING *;
-- under present()
BEGIN;
SELECT fencing.present(103);
INSERT INTO t VALUES (1, 'p'), (4, 'p') ON CONFLICT (id) DO UPDATE SET v = excluded.v RETURNING *;
INSERT INTO t VALUES (1, 'q') ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING *;
INSERT INTO t VALUES (1, 'q', 103) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING *;
COMMIT;
BEGIN; SELECT fencing.present(102); INSERT INTO t VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET v = excluded.v; ROLLBACK;
BEGIN; SELECT fencing.present(104); INSERT INTO t VALUES (1, 'x', 105) ON CONFLICT (id) DO UPDATE SET v = excluded.v; ROLLBACK;
-- several rows, of which one is stale
INSERT INTO t VALUES (1, 'x', 104), (2, 'x', 50) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence;
SELECT * FROM t ORDER BY id;
-- skip: 0 rows
SELECT fencing.protect('t', on_stale => 'skip');
INSERT INTO t VALUES (1, 'x', 50), (5, 'new', 50) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING *;
