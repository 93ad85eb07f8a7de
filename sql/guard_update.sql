\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
INSERT INTO t VALUES (1, 'old'), (2, 'old');
SELECT fencing.protect('t');
-- not yet fenced: a write without a token passes, and leaves it unfenced
UPDATE t SET v = 'legacy' WHERE id = 2 RETURNING *;
-- the first token fences the row; the same token again; a higher one
UPDATE t SET v = 'a', fence = 100 WHERE id = 1 RETURNING *;
UPDATE t SET v = 'b', fence = 100 WHERE id = 1 RETURNING *;
UPDATE t SET v = 'c', fence = 101 WHERE id = 1 RETURNING *;
-- lower: stale, also by one
UPDATE t SET v = 'x', fence = 100 WHERE id = 1;
UPDATE t SET v = 'x', fence = 1 WHERE id = 1;
-- none: missing
UPDATE t SET v = 'x' WHERE id = 1;
UPDATE t SET v = 'x', fence = 0 WHERE id = 1;
UPDATE t SET v = 'x', fence = DEFAULT WHERE id = 1;
-- conditional: 0 rows, and nothing raised
UPDATE t SET v = 'x', fence = 100 WHERE id = 1 AND fence <= 100 RETURNING *;
SELECT * FROM t ORDER BY id;
-- the statement names the fence column and leaves its value: that value
UPDATE t SET v = 'd', fence = fence WHERE id = 1 RETURNING *;
UPDATE t SET (id, v, fence) = (1, 'whole row', 101) WHERE id = 1 RETURNING *;
-- but a zero that is named is no token
UPDATE t SET v = 'named zero', fence = 0 WHERE id = 2 RETURNING *;
-- whatever else the statement is made of
UPDATE t SET v = s.v, fence = s.f FROM (VALUES (1, 'from', 100)) s (id, v, f) WHERE t.id = s.id;
UPDATE t SET v = s.v FROM (VALUES (1, 'from')) s (id, v) WHERE t.id = s.id;
UPDATE t SET v = s.v, fence = s.f FROM (VALUES (1, 'from', 102)) s (id, v, f) WHERE t.id = s.id RETURNING t.*;
UPDATE t SET fence = (SELECT 103) WHERE id = 1 RETURNING *;
UPDATE t SET (v, fence) = (SELECT 'x', 102) WHERE id = 1;
UPDATE ONLY t SET v = 'x' WHERE id = 1;
-- all rows or none: one stale row ends the statement
UPDATE t SET v = 'many', fence = 102;
SELECT * FROM t ORDER BY id;
UPDATE t SET v = 'many', fence = 104 RETURNING *;
-- one statement, each row its own token
UPDATE t SET fence = 200 + id RETURNING *;
UPDATE t SET fence = 202 - id WHERE id = 2;
-- the largest
UPDATE t SET fence = 9223372036854775807 WHERE id = 1 RETURNING *;
UPDATE t SET fence = 9223372036854775806 WHERE id = 1;
-- a primary key that changes takes the fence along
UPDATE t SET id = 3 WHERE id = 2;
UPDATE t SET id = 3, fence = 202 WHERE id = 2 RETURNING *;
-- a whole-row reference, a row lock before, no row
SELECT t FROM t WHERE id = 3 FOR UPDATE;
UPDATE t SET fence = 1 WHERE id = 99;
