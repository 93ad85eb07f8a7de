\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
CREATE TABLE plain (id int);
SELECT fencing.protect('t');
SELECT token AS t FROM fencing.acquire('r') \gset
-- presents the token, and covers tables without a fence
BEGIN;
SELECT fencing.hold('r', :t) = :t AS ok, fencing.presented() = :t AS presented;
INSERT INTO t VALUES (1, 'held') RETURNING fence = :t AS fenced;
INSERT INTO plain VALUES (1);
SELECT fencing.hold('r', :t) = :t AS again;
COMMIT;
SELECT fencing.presented();
-- outside a transaction block it is in vain
SELECT fencing.hold('r', :t) = :t AS ok;
-- not the current grant
SELECT fencing.hold('r', :t + 1);
SELECT fencing.hold('nobody', :t);
BEGIN; SELECT fencing.hold('r', :t) = :t AS ok; SELECT fencing.hold('r', :t + 1); ROLLBACK;
SELECT token AS other FROM fencing.acquire('other') \gset
SELECT fencing.hold('r', :other);
-- expired and not granted anew: still counts
SELECT token AS e FROM fencing.acquire('e', '1 ms') \gset
SELECT pg_sleep(0.01);
BEGIN; SELECT fencing.hold('e', :e) = :e AS ok; INSERT INTO plain VALUES (2); COMMIT;
-- granted anew
SELECT token AS e2 FROM fencing.acquire('e') \gset
SELECT fencing.hold('e', :e);
BEGIN; SELECT fencing.hold('e', :e2) = :e2 AS ok; COMMIT;
-- released
SELECT fencing.release('e', :e2);
SELECT fencing.hold('e', :e2);
-- released by this very transaction: its holds still pass
BEGIN;
SELECT fencing.hold('r', :t) = :t AS ok;
INSERT INTO plain VALUES (3);
SELECT fencing.release('r', :t);
COMMIT;
SELECT state FROM fencing.leases WHERE resource = 'r';
BEGIN; SELECT fencing.hold('r', :t); ROLLBACK;
-- released first, and then held
SELECT token AS t FROM fencing.acquire('r') \gset
BEGIN; SELECT fencing.release('r', :t); SAVEPOINT s; SELECT fencing.hold('r', :t); ROLLBACK TO s; COMMIT;
-- granted anew by this very transaction: it must hold the new token
SELECT token AS t FROM fencing.acquire('r', holder => 'me') \gset
BEGIN;
SELECT fencing.hold('r', :t) = :t AS ok;
INSERT INTO plain VALUES (4);
SELECT token AS t2 FROM fencing.acquire('r', holder => 'me') \gset
COMMIT;
SELECT count(*) FROM plain WHERE id = 4;
SELECT token = :t AS rolled_back FROM fencing.leases WHERE resource = 'r';
BEGIN;
SELECT token AS t2 FROM fencing.acquire('r', holder => 'me') \gset
SELECT fencing.hold('r', :t2) = :t2 AS ok;
INSERT INTO t VALUES (4, 'first write') RETURNING fence = :t2 AS fenced;
COMMIT;
-- a hold in a rolled-back savepoint is gone, and one in a released savepoint is not
SELECT token AS s FROM fencing.acquire('s', holder => 'me') \gset
BEGIN;
SAVEPOINT a;
SELECT fencing.hold('s', :s) = :s AS ok;
ROLLBACK TO a;
SELECT fencing.presented();
SELECT granted FROM fencing.acquire('s', holder => 'me');
COMMIT;
SELECT token AS s FROM fencing.acquire('s', holder => 'me') \gset
BEGIN;
SAVEPOINT a;
SELECT fencing.hold('s', :s) = :s AS ok;
RELEASE a;
SELECT granted FROM fencing.acquire('s', holder => 'me');
COMMIT;
-- several resources in one transaction; the last one presents
SELECT token AS a FROM fencing.acquire('a', holder => 'me') \gset
SELECT token AS b FROM fencing.acquire('b', holder => 'me') \gset
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a, fencing.hold('b', :b) = :b AS b, fencing.presented() = :b AS last;
SELECT fencing.hold('a', :a) = :a AS a, fencing.presented() = :a AS last;
COMMIT;
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a, fencing.hold('b', :b) = :b AS b;
INSERT INTO plain VALUES (5);
SELECT granted FROM fencing.acquire('a', holder => 'me');
COMMIT;
SELECT count(*) FROM plain WHERE id = 5;
-- present() after it, for another row
BEGIN;
SELECT fencing.hold('b', :b) = :b AS b, fencing.present(1000);
INSERT INTO t VALUES (5, 'x') RETURNING fence;
COMMIT;
-- in all isolation levels
SELECT token AS i FROM fencing.acquire('i') \gset
BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT fencing.hold('i', :i) = :i AS ok; INSERT INTO plain VALUES (6); COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT fencing.hold('i', :i) = :i AS ok; INSERT INTO plain VALUES (7); COMMIT;
BEGIN READ ONLY; SELECT fencing.hold('i', :i) = :i AS ok; SELECT count(*) > 0 FROM plain; COMMIT;
-- in a statement of several in one message, a DO block, with a deferred trigger
SELECT fencing.hold('i', :i) = :i AS ok\; INSERT INTO plain VALUES (8);
SELECT set_config('test.i', :'i', false) = :'i' AS ok;
DO $$ BEGIN PERFORM fencing.hold('i', current_setting('test.i')::bigint); INSERT INTO plain VALUES (9); END $$;
CREATE FUNCTION hold_late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM fencing.hold(''i'', 1); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON plain DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_late();
INSERT INTO plain VALUES (10);
DROP TRIGGER late ON plain;
SELECT id FROM plain ORDER BY id;
-- evicted, forgotten
BEGIN; SELECT fencing.hold('i', :i) = :i AS ok; ROLLBACK;
SELECT fencing.evict('i') > :i AS higher;
SELECT fencing.hold('i', :i);
SELECT fencing.forget('i');
SELECT fencing.hold('i', :i);
-- the same name in many forms
SELECT fencing.hold('I', :i);
-- granted anew, and held anew, in one transaction
SELECT token AS n FROM fencing.acquire('n', holder => 'me') \gset
BEGIN;
SELECT fencing.hold('n', :n) = :n AS ok;
INSERT INTO plain VALUES (20);
SELECT token AS n2 FROM fencing.acquire('n', holder => 'me') \gset
SELECT fencing.hold('n', :n2) = :n2 AS ok;
COMMIT;
SELECT count(*) FROM plain WHERE id = 20;
-- of very many each row carries its own token; what a savepoint takes back is not held
CREATE TABLE many (resource text PRIMARY KEY, fence fencing.fence NOT NULL DEFAULT 0);
SELECT fencing.protect('many', resource_column => 'resource');
SELECT count(*) FROM generate_series(10, 40) g, fencing.acquire('m' || g) WHERE granted;
BEGIN;
SELECT count(fencing.hold(resource, token)) FROM fencing.leases WHERE resource BETWEEN 'm10' AND 'm15';
SAVEPOINT s;
SELECT count(fencing.hold(resource, token)) FROM fencing.leases WHERE resource BETWEEN 'm14' AND 'm40';
INSERT INTO many SELECT 'm' || g FROM generate_series(10, 40) g;
SELECT count(*) FROM many JOIN fencing.leases USING (resource) WHERE fence = token;
ROLLBACK TO s;
INSERT INTO many SELECT 'm' || g FROM generate_series(10, 15) g;
SELECT count(*) FROM many JOIN fencing.leases USING (resource) WHERE fence = token;
SAVEPOINT t;
INSERT INTO many VALUES ('m16');
ROLLBACK TO t;
SELECT count(fencing.hold(resource, token)) FROM fencing.leases WHERE resource BETWEEN 'm16' AND 'm40';
INSERT INTO many SELECT 'm' || g FROM generate_series(16, 40) g;
COMMIT;
SELECT count(*) FROM many JOIN fencing.leases USING (resource) WHERE fence = token;
