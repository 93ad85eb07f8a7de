\i sql/include/fresh.psql
CREATE TABLE t (id int, f fencing.fence NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i FROM generate_series(1, 2000) i;
ANALYZE t;
CREATE FUNCTION scans(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := coalesce(found, substring(line FROM 'using \w+|on \w+'));
	END LOOP;
	RETURN found;
END $$;
SET enable_seqscan = off;
CREATE INDEX t_btree ON t (f);
SELECT scans($$SELECT * FROM t WHERE f = 5$$);
SELECT scans($$SELECT * FROM t WHERE f <= 5::int2$$);
SELECT scans($$SELECT max(f) FROM t$$);
SELECT scans($$SELECT f FROM t ORDER BY f LIMIT 1$$);
SELECT * FROM t WHERE f = fencing.fence '0x5';
SELECT max(f) FROM t;
DROP INDEX t_btree;
CREATE INDEX t_hash ON t USING hash (f);
SELECT scans($$SELECT * FROM t WHERE f = 5$$);
SELECT * FROM t WHERE f = 5;
DROP INDEX t_hash;
CREATE INDEX t_brin ON t USING brin (f);
SELECT count(*) FROM t WHERE f BETWEEN 5 AND 7;
DROP INDEX t_brin;
-- UNIQUE, PRIMARY KEY, exclusion, foreign key, CHECK, DEFAULT
ALTER TABLE t ADD UNIQUE (f);
INSERT INTO t VALUES (0, 5);
CREATE TABLE p (f fencing.fence PRIMARY KEY);
INSERT INTO p VALUES (1), (1);
INSERT INTO p VALUES (1) ON CONFLICT (f) DO NOTHING;
INSERT INTO p VALUES (1) ON CONFLICT (f) DO UPDATE SET f = excluded.f + 1;
SELECT * FROM p;
CREATE TABLE c (f fencing.fence REFERENCES p, b bigint REFERENCES p, CHECK (f < 10), d fencing.fence DEFAULT 0);
INSERT INTO c VALUES (2, 2);
INSERT INTO c VALUES (3, 2);
INSERT INTO c VALUES (2, 3);
INSERT INTO c VALUES (10, 2);
SELECT * FROM c;
-- partition keys
CREATE TABLE ranges (f fencing.fence) PARTITION BY RANGE (f);
CREATE TABLE ranges_1 PARTITION OF ranges FOR VALUES FROM (0) TO (100);
CREATE TABLE ranges_2 PARTITION OF ranges FOR VALUES FROM (100) TO (MAXVALUE);
CREATE TABLE lists (f fencing.fence) PARTITION BY LIST (f);
CREATE TABLE lists_1 PARTITION OF lists FOR VALUES IN (1, 2);
CREATE TABLE hashes (f fencing.fence) PARTITION BY HASH (f);
CREATE TABLE hashes_0 PARTITION OF hashes FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashes_1 PARTITION OF hashes FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO ranges VALUES (0), (99), (100), (9223372036854775807);
INSERT INTO lists VALUES (1), (2);
INSERT INTO lists VALUES (3);
INSERT INTO hashes SELECT i FROM generate_series(1, 100) i;
SELECT tableoid::regclass, f FROM ranges ORDER BY f;
SELECT count(*) > 10 FROM hashes_0;
SELECT scans($$SELECT * FROM ranges WHERE f = 5$$);
-- statistics and a sort on disk
ANALYZE t;
SELECT count(*) FROM (SELECT f FROM t ORDER BY f DESC) s;
