\i sql/include/fresh.psql
-- rule 7: rows that belong to the resource that a column names
CREATE TABLE t (id int PRIMARY KEY, account text, v text);
SELECT fencing.protect('t', resource_column => 'account');
SELECT token AS a FROM fencing.acquire('a', holder => 'me') \gset
SELECT token AS b FROM fencing.acquire('b', holder => 'me') \gset
INSERT INTO t VALUES (1, 'a', 'x', :a), (2, 'b', 'x', :b), (3, NULL, 'x', 0), (4, 'none', 'x', 0);
INSERT INTO t VALUES (5, 'a', 'x', :b);
INSERT INTO t VALUES (5, 'b', 'x', :a);
INSERT INTO t VALUES (5, 'none', 'x', :a);
-- a NULL value: rules 1 to 6 alone
UPDATE t SET v = 'n', fence = 5 WHERE id = 3 RETURNING v, fence;
UPDATE t SET v = 'x', fence = 4 WHERE id = 3;
UPDATE t SET v = 'x' WHERE id = 3;
-- a row carries the token held for its own resource before the presented one
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a, fencing.hold('b', :b) = :b AS b;
UPDATE t SET v = 'both' WHERE id IN (1, 2) RETURNING id, fence = :a AS a, fence = :b AS b;
DELETE FROM t WHERE id = 1 RETURNING id;
INSERT INTO t VALUES (1, 'a', 'back') RETURNING fence = :a AS a;
COMMIT;
BEGIN;
SELECT fencing.hold('b', :b) = :b AS b;
UPDATE t SET v = 'x' WHERE id = 1;
ROLLBACK;
BEGIN;
SELECT fencing.hold('b', :b) = :b AS b, fencing.present(:a) = :a AS a;
UPDATE t SET v = 'c' WHERE id IN (1, 2) RETURNING id, fence = :a AS a, fence = :b AS b;
COMMIT;
-- a change of the row's resource needs the current grant of both
UPDATE t SET account = 'b', fence = :b WHERE id = 1;
UPDATE t SET account = 'b', fence = :a WHERE id = 1;
UPDATE t SET account = 'b' WHERE id = 1;
BEGIN; SELECT fencing.hold('a', :a) = :a AS a; UPDATE t SET account = 'b' WHERE id = 1; ROLLBACK;
BEGIN; SELECT fencing.hold('b', :b) = :b AS b; UPDATE t SET account = 'b' WHERE id = 1; ROLLBACK;
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a, fencing.hold('b', :b) = :b AS b;
UPDATE t SET account = 'b' WHERE id = 1 RETURNING account, fence = :b AS b;
-- and back: the row takes the new one's token, even if it is lower
UPDATE t SET account = 'a' WHERE id = 1 RETURNING account, fence = :a AS a;
COMMIT;
SELECT fence = :a AS lower FROM t WHERE id = 1;
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a;
UPDATE t SET account = 'b', fence = :b WHERE id = 1;
ROLLBACK;
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a, fencing.hold('b', :b) = :b AS b;
UPDATE t SET account = 'b', fence = :b WHERE id = 1 RETURNING account, fence = :b AS b;
UPDATE t SET account = 'a', fence = :b WHERE id = 1;
ROLLBACK;
-- to and from no resource
BEGIN;
SELECT fencing.hold('a', :a) = :a AS a;
UPDATE t SET account = NULL WHERE id = 1 RETURNING account, fence = :a AS a;
UPDATE t SET account = 'a' WHERE id = 1 RETURNING account, fence = :a AS a;
COMMIT;
UPDATE t SET account = NULL WHERE id = 1;
BEGIN;
UPDATE t SET account = NULL, fence = :b WHERE id = 1;
ROLLBACK;
BEGIN;
UPDATE t SET account = NULL, fence = :a WHERE id = 1 RETURNING account, fence = :a AS a;
ROLLBACK;
UPDATE t SET account = 'a' WHERE id = 3;
UPDATE t SET account = 'none' WHERE id = 2;
-- never leased to never leased
UPDATE t SET account = 'none 2' WHERE id = 4 RETURNING *;
-- to a leased one
UPDATE t SET account = 'a', fence = :a WHERE id = 4 RETURNING account, fence = :a AS a;
-- resource and resource_column: resource:value
CREATE TABLE both_of (id int PRIMARY KEY, k int);
SELECT fencing.protect('both_of', resource => 'job', resource_column => 'k');
SELECT token AS j FROM fencing.acquire('job:7') \gset
INSERT INTO both_of VALUES (1, 7, :j) RETURNING fence = :j AS ok;
INSERT INTO both_of VALUES (2, 8, :j);
INSERT INTO both_of VALUES (2, 7);
INSERT INTO both_of VALUES (3, NULL) RETURNING *;
-- a value's text: of numbers, uuids, padded text, booleans, enums
CREATE TABLE texts (id int, k uuid);
SELECT fencing.protect('texts', resource_column => 'k');
SELECT token AS u FROM fencing.acquire('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11') \gset
INSERT INTO texts VALUES (1, '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', :u) RETURNING k;
CREATE TABLE padded (id int, k char(5));
SELECT fencing.protect('padded', resource_column => 'k');
SELECT token AS p FROM fencing.acquire('ab') \gset
INSERT INTO padded VALUES (1, 'ab', :p) RETURNING fence = :p AS ok;
CREATE TABLE flags (id int, k boolean);
SELECT fencing.protect('flags', resource => 'flag', resource_column => 'k');
SELECT token AS p FROM fencing.acquire('flag:true') \gset
INSERT INTO flags VALUES (1, true, :p) RETURNING fence = :p AS ok;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE moods (id int, k mood);
SELECT fencing.protect('moods', resource_column => 'k');
SELECT token AS p FROM fencing.acquire('ok') \gset
INSERT INTO moods VALUES (1, 'ok', :p) RETURNING fence = :p AS ok;
-- a type whose text depends on settings would name another resource under others
CREATE TABLE dates (id int, d date);
SELECT fencing.protect('dates', resource_column => 'd');
INSERT INTO dates VALUES (1, '2024-05-06');
-- a generated column has no value yet when the guard looks
CREATE TABLE gen (id int, r text GENERATED ALWAYS AS ('g' || id::text) STORED);
SELECT fencing.protect('gen', resource_column => 'r');
ALTER TABLE gen ADD fence fencing.fence NOT NULL DEFAULT 0;
CREATE TRIGGER g BEFORE INSERT OR UPDATE OR DELETE ON gen FOR EACH ROW EXECUTE FUNCTION fencing.guard('resource_column=r');
INSERT INTO gen VALUES (1);
-- nor can it be the fence itself
CREATE TABLE fences (id int);
SELECT fencing.protect('fences', resource_column => 'fence');
-- an empty or an overlong value is no resource's name
INSERT INTO t VALUES (6, '', 'x', 0) RETURNING id;
INSERT INTO t VALUES (6, '', 'x', :a);
INSERT INTO t VALUES (7, repeat('x', 513), 'x', :a);
-- ON CONFLICT, MERGE, COPY
INSERT INTO t VALUES (1, 'a', 'upsert', :a) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence RETURNING v, fence = :a AS ok;
INSERT INTO t VALUES (1, 'a', 'x', :a) ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = :b;
MERGE INTO t USING (VALUES (1)) s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'merge', fence = :a;
MERGE INTO t USING (VALUES (1)) s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'x';
BEGIN; SELECT fencing.hold('a', :a) = :a AS a;
COPY t (id, account, v) FROM stdin;
8	a	copied
\.
COMMIT;
COPY t (id, account, v) FROM stdin;
9	a	x
\.
-- partitions by resource: the move needs both
CREATE TABLE p (id int, r text) PARTITION BY LIST (r);
CREATE TABLE p_a PARTITION OF p FOR VALUES IN ('a');
CREATE TABLE p_b PARTITION OF p FOR VALUES IN ('b');
SELECT fencing.protect('p', resource_column => 'r');
INSERT INTO p VALUES (1, 'a', :a);
UPDATE p SET r = 'b', fence = :b;
BEGIN; SELECT fencing.hold('a', :a) = :a AS a, fencing.hold('b', :b) = :b AS b; UPDATE p SET r = 'b' RETURNING tableoid::regclass, r, fence = :b AS b; UPDATE p SET r = 'a' RETURNING tableoid::regclass, r, fence = :a AS a; COMMIT;
SELECT id, account, v FROM t ORDER BY id;
-- a cast that somebody made does not tell which resource a row belongs to, nor does it run
CREATE TYPE stage AS ENUM ('billing', 'shipping');
CREATE TABLE invoices (id int PRIMARY KEY, at stage);
SELECT fencing.protect('invoices', resource_column => 'at');
SELECT token FROM fencing.acquire('billing') \gset
INSERT INTO invoices VALUES (1, 'billing', :token) RETURNING id;
CREATE FUNCTION mine(stage) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE CAST (stage AS text) WITH FUNCTION mine(stage);
UPDATE invoices SET id = 2 WHERE id = 1;
UPDATE invoices SET id = 2, fence = :token WHERE id = 1 RETURNING id;
CREATE TYPE place AS (city text);
CREATE FUNCTION name_of(place) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT ($1).city';
CREATE CAST (place AS text) WITH FUNCTION name_of(place);
CREATE TABLE placed (id int PRIMARY KEY, at place);
SELECT fencing.protect('placed', resource_column => 'at');
-- the server's own casts do
CREATE TABLE spaced (id int PRIMARY KEY, at char(10));
SELECT fencing.protect('spaced', resource_column => 'at');
INSERT INTO spaced VALUES (1, 'billing');
INSERT INTO spaced VALUES (1, 'billing', :token) RETURNING id;
CREATE TABLE at_points (id int PRIMARY KEY, at point);
SELECT fencing.protect('at_points', resource_column => 'at');
