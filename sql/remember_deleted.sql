\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t', remember_deleted => true);
SELECT remember_deleted FROM fencing.protected_tables;
INSERT INTO t VALUES (1, 'a', 100), (2, 'a', 100), (3, 'a', 0);
DELETE FROM t WHERE fencing.present(102) = 102 AND id = 1;
DELETE FROM t WHERE id = 3;
-- the fence of a deleted row binds a row inserted later under its key
INSERT INTO t VALUES (1, 'x', 101);
INSERT INTO t VALUES (1, 'x');
INSERT INTO t VALUES (1, 'b', 102) RETURNING *;
INSERT INTO t VALUES (3, 'unfenced', 0) RETURNING *;
INSERT INTO t VALUES (4, 'never there', 1) RETURNING *;
BEGIN; SELECT fencing.present(103); DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 'again') RETURNING *; COMMIT;
-- by ON CONFLICT, COPY, MERGE, a CTE
DELETE FROM t WHERE fencing.present(110) = 110 AND id = 2;
INSERT INTO t VALUES (2, 'x', 109) ON CONFLICT DO NOTHING;
INSERT INTO t VALUES (2, 'x', 109) ON CONFLICT (id) DO UPDATE SET v = 'x';
COPY t FROM stdin;
2	x	109
\.
MERGE INTO t USING (VALUES (2)) s (id) ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (2, 'x', 109);
INSERT INTO t VALUES (2, 'x', 110) RETURNING *;
-- a primary key that is updated leaves the old key, and comes in under the new one
UPDATE t SET id = 20, fence = 111 WHERE id = 2;
INSERT INTO t VALUES (2, 'x', 110);
INSERT INTO t VALUES (2, 'ok', 111) RETURNING *;
DELETE FROM t WHERE fencing.present(120) = 120 AND id = 20;
UPDATE t SET id = 20, fence = 119 WHERE id = 2;
UPDATE t SET id = 20, fence = 120 WHERE id = 2 RETURNING *;
-- rolled back: not remembered
BEGIN; SELECT fencing.present(500); DELETE FROM t WHERE id = 4; ROLLBACK;
DELETE FROM t WHERE fencing.present(5) = 5 AND id = 4;
INSERT INTO t VALUES (4, 'ok', 5) RETURNING *;
-- TRUNCATE leaves one floor for the whole table
BEGIN; SELECT fencing.present(200); TRUNCATE t; COMMIT;
INSERT INTO t VALUES (77, 'x', 199);
INSERT INTO t VALUES (77, 'x');
INSERT INTO t VALUES (77, 'ok', 200) RETURNING *;
-- pruned up to a token
SELECT fencing.prune_deleted('t', 199) > 0 AS some;
INSERT INTO t VALUES (78, 'x', 199);
SELECT fencing.prune_deleted('t', 200);
INSERT INTO t VALUES (78, 'ok', 1) RETURNING *;
SELECT fencing.prune_deleted('t', NULL);
SELECT fencing.prune_deleted(NULL, 1);
-- it follows a rename, and goes with the table
DELETE FROM t WHERE fencing.present(300) = 300 AND id = 78;
ALTER TABLE t RENAME TO renamed;
ALTER TABLE renamed RENAME id TO key;
INSERT INTO renamed VALUES (78, 'x', 299);
DROP TABLE renamed;
SELECT count(*) FROM fencing.deleted;
-- keys of any kind; one that is equal in other letters, where the server was built with ICU
SELECT count(*) > 0 AS icu FROM pg_collation WHERE collprovider = 'i' \gset
\if :icu
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
\set equal kEY
\else
CREATE COLLATION nocase FROM "C";
\set equal Key
\endif
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE keys (a numeric, b uuid, c text COLLATE nocase, d colour, e timestamptz, f int[], PRIMARY KEY (a, b, c, d, e, f));
SELECT fencing.protect('keys', remember_deleted => true);
INSERT INTO keys VALUES (1.0, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'Key', 'red', '2024-01-01 00:00+00', '{1,2}', 10);
DELETE FROM keys WHERE fencing.present(10) = 10;
INSERT INTO keys VALUES (1.00, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', :'equal', 'red', '2024-01-01 01:00+01', '{1,2}', 9);
INSERT INTO keys VALUES (1.00, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'other', 'red', '2024-01-01 01:00+01', '{1,2}', 9) RETURNING fence;
INSERT INTO keys VALUES (1.00, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'key', 'green', '2024-01-01 01:00+01', '{1,2}', 9) RETURNING fence;
INSERT INTO keys VALUES (1.00, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'key', 'red', '2024-01-01 01:00+01', '{2,1}', 9) RETURNING fence;
-- partitions: a key that moves
CREATE TABLE p (id int, r text, PRIMARY KEY (id, r)) PARTITION BY LIST (r);
CREATE TABLE p_a PARTITION OF p FOR VALUES IN ('a');
CREATE TABLE p_b PARTITION OF p FOR VALUES IN ('b');
SELECT fencing.protect('p', remember_deleted => true);
INSERT INTO p VALUES (1, 'a', 10);
UPDATE p SET r = 'b', fence = 11;
INSERT INTO p VALUES (1, 'a', 10);
INSERT INTO p VALUES (1, 'a', 11) RETURNING tableoid::regclass, *;
DELETE FROM p WHERE fencing.present(20) = 20;
INSERT INTO p VALUES (1, 'b', 19);
INSERT INTO p_a VALUES (1, 'a', 19);
INSERT INTO p_a VALUES (1, 'a', 20) RETURNING *;
ALTER TABLE p DETACH PARTITION p_b;
SELECT fencing.protect('p_b', remember_deleted => true);
-- skip, warn, require_present
CREATE TABLE s (id int PRIMARY KEY);
SELECT fencing.protect('s', remember_deleted => true, on_stale => 'skip');
INSERT INTO s VALUES (1, 10);
DELETE FROM s WHERE fencing.present(10) = 10;
INSERT INTO s VALUES (1, 9) RETURNING *;
INSERT INTO s VALUES (1);
INSERT INTO s VALUES (1, 10) RETURNING *;
SELECT fencing.protect('s', on_stale => 'warn');
DELETE FROM s WHERE fencing.present(11) = 11;
INSERT INTO s VALUES (1, 9) RETURNING *;
-- foreign keys
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY REFERENCES parent ON DELETE CASCADE);
SELECT fencing.protect('child', remember_deleted => true);
INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 10);
BEGIN; SELECT fencing.present(10); DELETE FROM parent; COMMIT;
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (1, 9);
-- a primary key that is not there, or is deferrable
CREATE TABLE no_key (id int);
SELECT fencing.protect('no_key', remember_deleted => true);
CREATE TABLE late_key (id int PRIMARY KEY DEFERRABLE);
SELECT fencing.protect('late_key', remember_deleted => true);
ALTER TABLE s DROP CONSTRAINT s_pkey;
INSERT INTO s VALUES (5, 5);
SELECT fencing.protect('s', remember_deleted => false);
INSERT INTO s VALUES (5, 5) RETURNING *;
SELECT remember_deleted FROM fencing.protected_tables WHERE rel = 's'::regclass;
-- an index of the administrator's own keeps up; not one that has to be computed, or has a condition
CREATE TABLE indexed (id int PRIMARY KEY);
SELECT fencing.protect('indexed', remember_deleted => true);
INSERT INTO indexed VALUES (1, 900), (2, 900);
CREATE INDEX own ON fencing.deleted (fence);
DELETE FROM indexed WHERE fencing.present(901) = 901 AND id = 1;
INSERT INTO indexed VALUES (1, 902);
DELETE FROM indexed WHERE fencing.present(903) = 903 AND id = 1;
SET enable_seqscan = off;
SELECT fence FROM fencing.deleted WHERE fence > 900;
RESET enable_seqscan;
DROP INDEX fencing.own;
CREATE INDEX own ON fencing.deleted ((fence % 10));
DELETE FROM indexed WHERE fencing.present(901) = 901;
DROP INDEX fencing.own;
CREATE INDEX own ON fencing.deleted (fence) WHERE fence > 900;
DELETE FROM indexed WHERE fencing.present(901) = 901;
DROP INDEX fencing.own;
DELETE FROM indexed WHERE fencing.present(901) = 901 RETURNING *;
-- keys that are equal must have one digest: by the type's hash, or by bytes that are alike
CREATE TYPE pair AS (a numeric, b varbit);
CREATE TABLE pairs (k pair PRIMARY KEY);
SELECT fencing.protect('pairs', remember_deleted => true);
CREATE TABLE arrays (k money[] PRIMARY KEY);
SELECT fencing.protect('arrays', remember_deleted => true);
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TABLE labels (k e[] PRIMARY KEY);
SELECT fencing.protect('labels', remember_deleted => true);
CREATE TYPE labelled AS (a int, b e);
CREATE TABLE rows (k labelled PRIMARY KEY);
SELECT fencing.protect('rows', remember_deleted => true);
CREATE TABLE names (k regclass PRIMARY KEY);
SELECT fencing.protect('names', remember_deleted => true);
DO $$
DECLARE
	type text;
BEGIN
	FOREACH type IN ARRAY '{regcollation,regconfig,regdictionary,regnamespace,regoper,regoperator,regproc,regprocedure,regrole,regtype}'::text[] LOOP
		EXECUTE format('CREATE TABLE of_%1$s (k %1$s PRIMARY KEY)', type);
		BEGIN
			PERFORM fencing.protect(('of_' || type)::regclass, remember_deleted => true);
			RAISE WARNING '% is not refused', type;
		EXCEPTION WHEN feature_not_supported THEN
			NULL;
		END;
	END LOOP;
END
$$;
CREATE TABLE oids (k oid PRIMARY KEY);
SELECT fencing.protect('oids', remember_deleted => true);
CREATE TABLE bits (k varbit, m money, n numeric[], PRIMARY KEY (k, m, n));
SELECT fencing.protect('bits', remember_deleted => true);
INSERT INTO bits VALUES (B'101', 1, '{1.0}', 5);
DELETE FROM bits WHERE fencing.present(6) = 6;
INSERT INTO bits VALUES (B'101', 1, '{1.00}', 4);
INSERT INTO bits VALUES (B'1010', 1, '{1.0}', 4), (B'101', 1.01, '{1.0}', 4) RETURNING *;
-- also where there is another key later
CREATE TABLE later (k int PRIMARY KEY);
SELECT fencing.protect('later', remember_deleted => true);
ALTER TABLE later DROP CONSTRAINT later_pkey, ADD p pair PRIMARY KEY;
INSERT INTO later (k, fence, p) VALUES (1, 5, '(1,0)');
-- a warned UPDATE of the key is remembered as a warned DELETE is
CREATE TABLE rekeyed (id int PRIMARY KEY);
SELECT fencing.protect('rekeyed', on_stale => 'warn', remember_deleted => true);
INSERT INTO rekeyed VALUES (1, 5), (3, 9);
UPDATE rekeyed SET id = 2, fence = 3 WHERE id = 1;
DELETE FROM rekeyed WHERE fencing.present(9) = 9 AND id = 3;
UPDATE rekeyed SET id = 3, fence = 6 WHERE id = 2;
SELECT * FROM rekeyed;
SELECT fencing.protect('rekeyed', on_stale => 'error');
INSERT INTO rekeyed VALUES (1, 3);
-- whether the key has changed is no matter of settings
SELECT pg_get_triggerdef(oid) ~ 'WHEN \(record_image_ne' AS by_bytes FROM pg_trigger WHERE tgrelid = 'bits'::regclass AND tgname = '~~fencing_rekeyed';
-- a key that is computed after the guard
CREATE TABLE computed (a int, id int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY);
SELECT fencing.protect('computed', remember_deleted => true);
-- keys of partitions alone are each their own
CREATE TABLE root (id int NOT NULL, part int NOT NULL, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (part);
CREATE TABLE root_1 PARTITION OF root (PRIMARY KEY (id)) FOR VALUES IN (1);
CREATE TABLE root_2 PARTITION OF root (PRIMARY KEY (id)) FOR VALUES IN (2);
SELECT fencing.protect('root_1', remember_deleted => true), fencing.protect('root_2', remember_deleted => true);
INSERT INTO root VALUES (1, 1, 5), (1, 2, 5);
DELETE FROM root WHERE fencing.present(6) = 6;
INSERT INTO root VALUES (1, 1, 5);
INSERT INTO root VALUES (1, 1, 6);
SELECT rel, fence FROM fencing.deleted WHERE rel::text LIKE 'root%' ORDER BY rel::text;
-- dropped along with a type, or with another extension
CREATE TYPE typed AS (id int);
CREATE TABLE of_type OF typed (PRIMARY KEY (id));
ALTER TABLE of_type NOT OF;
SELECT fencing.protect('of_type', remember_deleted => true);
INSERT INTO of_type VALUES (1, 5);
DELETE FROM of_type WHERE fencing.present(6) = 6;
ALTER TYPE typed ADD ATTRIBUTE fence fencing.fence;
ALTER TABLE of_type OF typed;
SELECT count(*) FROM fencing.deleted WHERE rel = 'of_type'::regclass;
DROP TYPE typed CASCADE;
CREATE TABLE of_extension (id int PRIMARY KEY);
SELECT fencing.protect('of_extension', remember_deleted => true);
INSERT INTO of_extension VALUES (1, 5);
DELETE FROM of_extension WHERE fencing.present(6) = 6;
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS dblink;
ALTER EXTENSION dblink ADD TABLE of_extension;
DROP EXTENSION dblink;
RESET client_min_messages;
SELECT count(*) FROM fencing.deleted d WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = d.rel);
-- warn keeps what is remembered, whatever else it warns of
CREATE TABLE lenient (id int PRIMARY KEY, v text);
SELECT fencing.protect('lenient', on_stale => 'warn', remember_deleted => true);
INSERT INTO lenient VALUES (1, 'a', 10), (2, 'b', 20);
DELETE FROM lenient WHERE fencing.present(20) = 20 AND id = 2;
UPDATE lenient SET id = 2 WHERE id = 1 RETURNING *;
DELETE FROM lenient WHERE fencing.present(40) = 40;
BEGIN;
SELECT fencing.present(35);
INSERT INTO lenient VALUES (2, 'c', 7) RETURNING *;
ROLLBACK;
SELECT fencing.protect('lenient', require_present => true);
INSERT INTO lenient VALUES (2, 'd') RETURNING *;
-- a row that moves to a partition with a key of its own leaves its key
ALTER TABLE root_1 DROP CONSTRAINT root_1_pkey, ADD PRIMARY KEY (id);
DELETE FROM root WHERE fencing.present(6) = 6;
INSERT INTO root VALUES (7, 1, 10);
UPDATE root SET part = 2, fence = 11;
INSERT INTO root VALUES (7, 1, 5);
INSERT INTO root VALUES (7, 1, 11);
-- a child is watched for its own key
CREATE TABLE mother (id int PRIMARY KEY, code int NOT NULL);
CREATE TABLE daughter (PRIMARY KEY (code)) INHERITS (mother);
SELECT fencing.protect('mother', remember_deleted => true);
SELECT tgrelid::regclass, substring(pg_get_triggerdef(oid) FROM 'WHEN \((.*)\) EXECUTE') FROM pg_trigger
WHERE tgname = '~~fencing_rekeyed' AND tgrelid IN ('mother'::regclass, 'daughter'::regclass) ORDER BY 1;
-- skip leaves a row out also where another table is updated
CREATE TABLE skipping (id int PRIMARY KEY);
SELECT fencing.protect('skipping', on_stale => 'skip', remember_deleted => true);
INSERT INTO skipping VALUES (1, 10);
DELETE FROM skipping WHERE fencing.present(20) = 20;
WITH u AS (UPDATE lenient SET v = 'z' WHERE false) INSERT INTO skipping VALUES (1, 5);
MERGE INTO skipping s USING (VALUES (1)) x (id) ON s.id = x.id
	WHEN MATCHED THEN UPDATE SET fence = 5 WHEN NOT MATCHED THEN INSERT VALUES (1, 5);
DO $$ BEGIN INSERT INTO skipping SELECT 1, 5; END $$;
TABLE skipping;
-- keys that differ in some of their 64 bits alone
CREATE TABLE wide (id bigint PRIMARY KEY);
SELECT fencing.protect('wide', remember_deleted => true);
INSERT INTO wide VALUES (1, 100), (4294967296, 10);
DELETE FROM wide WHERE id = 1 AND fencing.present(100) = 100;
UPDATE wide SET fence = 20;
DELETE FROM wide WHERE fencing.present(20) = 20;
INSERT INTO wide VALUES (4294967296, 20) RETURNING *;
INSERT INTO wide VALUES (1, 20);
CREATE TABLE moments (at timestamptz PRIMARY KEY);
SELECT fencing.protect('moments', remember_deleted => true);
INSERT INTO moments SELECT '2000-01-01 00:00:00Z'::timestamptz + interval '1 us' * n, 1 FROM unnest(ARRAY[1, 4294967296]) n;
DELETE FROM moments WHERE fencing.present(2) = 2;
SELECT count(*) FROM fencing.deleted WHERE rel = 'moments'::regclass;
-- what is remembered goes with the table, whatever takes that along
CREATE COLLATION own (locale = 'C');
CREATE TABLE collated (id text COLLATE own, PRIMARY KEY (id)) PARTITION BY LIST (id COLLATE own);
CREATE TABLE collated_1 PARTITION OF collated DEFAULT;
SELECT fencing.protect('collated', remember_deleted => true);
INSERT INTO collated VALUES ('1', 100);
DELETE FROM collated WHERE fencing.present(100) = 100;
SELECT count(*) FROM fencing.deleted WHERE rel = 'collated'::regclass;
DROP COLLATION own CASCADE;
SELECT count(*) FROM fencing.deleted WHERE rel::oid NOT IN (SELECT oid FROM pg_class);
-- a partition's key that is no part of the partitioned table's
CREATE TABLE whole (id int NOT NULL, k int NOT NULL, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (k);
CREATE TABLE piece (id int PRIMARY KEY, k int NOT NULL, fence fencing.fence NOT NULL DEFAULT 0);
ALTER TABLE whole ATTACH PARTITION piece FOR VALUES IN (1);
SELECT fencing.protect('piece', remember_deleted => true);
ALTER TABLE ONLY whole ADD PRIMARY KEY (id, k);
INSERT INTO piece VALUES (1, 1, 100);
DELETE FROM piece WHERE id = 1 AND fencing.present(200) = 200;
SELECT rel, fence FROM fencing.deleted WHERE rel IN ('whole'::regclass, 'piece');
INSERT INTO piece VALUES (1, 1, 150);
ALTER TABLE whole DROP CONSTRAINT whole_pkey;
INSERT INTO piece VALUES (1, 1, 150);
