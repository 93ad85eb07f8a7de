\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100), (2, 'a', 100);
SELECT fencing.presented();
BEGIN;
SELECT fencing.present(101), fencing.presented();
UPDATE t SET v = 'b' RETURNING *;
-- another token replaces it, a lower one too
SELECT fencing.present(102), fencing.presented();
UPDATE t SET v = 'c' WHERE id = 1 RETURNING *;
SELECT fencing.present(101);
UPDATE t SET v = 'd' WHERE id = 2 RETURNING *;
COMMIT;
-- gone with the transaction
SELECT fencing.presented();
UPDATE t SET v = 'x' WHERE id = 1;
BEGIN; SELECT fencing.present(200); ROLLBACK;
SELECT fencing.presented();
-- rolled back with its savepoint
BEGIN;
SELECT fencing.present(110);
SAVEPOINT a;
SELECT fencing.present(111);
SAVEPOINT b;
SELECT fencing.present(112);
RELEASE b;
SELECT fencing.presented();
ROLLBACK TO a;
SELECT fencing.presented();
SAVEPOINT c;
SELECT fencing.present(113);
RELEASE c;
SELECT fencing.presented();
ROLLBACK TO a;
SELECT fencing.presented();
ROLLBACK;
BEGIN;
SAVEPOINT a;
SELECT fencing.present(110);
SELECT 1/0;
ROLLBACK TO a;
SELECT fencing.presented();
UPDATE t SET v = 'x' WHERE id = 1;
ROLLBACK;
-- NULL, 0, negative
BEGIN; SELECT fencing.present(NULL); ROLLBACK;
BEGIN; SELECT fencing.present(0); ROLLBACK;
BEGIN; SELECT fencing.present(-1); ROLLBACK;
BEGIN; SELECT fencing.present(9223372036854775807); ROLLBACK;
SELECT fencing.present(9223372036854775808);
-- outside a transaction block a plain SELECT is in vain, and says so
SELECT fencing.present(101);
SELECT fencing.presented();
SELECT fencing.present(101) AS a, 1 AS b FROM t WHERE id = 1;
-- but as the condition of a write it is not
UPDATE t SET v = 'w' WHERE id = 1 AND fence <= fencing.present(120) RETURNING *;
UPDATE t SET v = 'x' WHERE id = 1 AND fence <= fencing.present(119) RETURNING *;
UPDATE t SET v = 'x' WHERE id = 1 AND fencing.present(119) = 119;
DELETE FROM t WHERE id = 2 AND fence <= fencing.present(101) RETURNING *;
WITH p AS MATERIALIZED (SELECT fencing.present(121) AS token)
UPDATE t SET v = 'cte' FROM p WHERE id = 1 AND fence <= p.token RETURNING t.*;
DO $$ BEGIN PERFORM fencing.present(122); UPDATE t SET v = 'do' WHERE id = 1; END $$;
SELECT * FROM t;
-- a statement of several in one message
SELECT fencing.present(123)\; UPDATE t SET v = 'one message' WHERE id = 1 RETURNING *;
SELECT fencing.presented();
-- nothing is evaluated early
EXPLAIN (COSTS OFF) SELECT fencing.present(5);
SELECT provolatile, proparallel, proisstrict FROM pg_proc WHERE oid = 'fencing.present(bigint)'::regprocedure;
-- a cursor that is held, a prepared statement, a read-only transaction
PREPARE p AS SELECT fencing.present($1);
BEGIN; EXECUTE p(124); SELECT fencing.presented(); UPDATE t SET v = 'p' WHERE id = 1 RETURNING *; COMMIT;
BEGIN READ ONLY; SELECT fencing.present(5); COMMIT;
-- no setting carries it
SELECT count(*) FROM pg_settings WHERE name LIKE 'fencing.%' AND name <> 'fencing.require_synchronous';
DISCARD ALL;
SELECT fencing.presented();
-- tokens one after the other take no memory, though each had a savepoint
BEGIN;
DO $$ BEGIN FOR n IN 1 .. 10000 LOOP
	BEGIN PERFORM fencing.present(n); EXCEPTION WHEN division_by_zero THEN NULL; END;
END LOOP; END $$;
DO $$ BEGIN FOR n IN 1 .. 500 LOOP
	BEGIN PERFORM fencing.release(repeat('a long name', 20), token) FROM fencing.acquire(repeat('a long name', 20)); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END;
END LOOP; END $$;
SELECT fencing.presented(), total_bytes < 100000 AS small FROM pg_backend_memory_contexts WHERE name = 'TopTransactionContext';
COMMIT;
