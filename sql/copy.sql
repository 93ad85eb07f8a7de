\i sql/include/fresh.psql
\getenv out PG_ABS_BUILDDIR
\set file :out '/results/copy.bin'
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
COPY t FROM stdin;
1	a	100
2	b	0x65
\.
COPY t (id, v) FROM stdin;
3	c
\.
COPY t FROM stdin (FORMAT csv);
4,d,7
\.
COPY t FROM stdin (FORMAT csv);
5,e,
\.
COPY t FROM stdin;
6	e	-1
\.
COPY t FROM stdin;
6	e	\N
\.
COPY t TO stdout;
COPY t TO stdout (FORMAT csv);
COPY t TO :'file' (FORMAT binary);
-- under present(): the token presented, or the same, or none
BEGIN;
SELECT fencing.present(200);
COPY t (id, v) FROM stdin;
7	p
\.
COPY t FROM stdin;
8	p	200
9	p	0
\.
SELECT * FROM t WHERE id > 6 ORDER BY id;
COPY t FROM stdin;
10	p	199
\.
ROLLBACK;
CREATE TABLE u (LIKE t INCLUDING ALL);
SELECT fencing.protect('u');
COPY u FROM :'file' (FORMAT binary);
SELECT * FROM u ORDER BY id;
UPDATE u SET fence = 99 WHERE id = 1;
-- require_present
SELECT fencing.protect('u', require_present => true);
COPY u FROM stdin;
11	x	5
\.
BEGIN;
SELECT fencing.present(5);
COPY u FROM stdin;
11	x	5
\.
COPY u (id, v) FROM stdin;
12	x
\.
COMMIT;
COPY u TO stdout;
-- partitions, and FREEZE in the transaction that made the table
BEGIN;
CREATE TABLE f (id int);
SELECT fencing.protect('f');
COPY f FROM stdin (FREEZE);
1	5
\.
COMMIT;
UPDATE f SET fence = 4;
