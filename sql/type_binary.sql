\i sql/include/fresh.psql
\getenv out PG_ABS_BUILDDIR
\set good :out '/results/fence.bin'
\set bad :out '/results/bigint.bin'
-- the binary format is bigint's
SELECT fencing.fence_send('258'), fencing.fence_send('258') = int8send(258);
CREATE TABLE fences (id int, f fencing.fence);
CREATE TABLE bigints (id int, f bigint);
INSERT INTO bigints VALUES (1, 0), (2, 258), (3, 9223372036854775807), (4, NULL);
COPY bigints TO :'good' (FORMAT binary);
COPY fences FROM :'good' (FORMAT binary);
SELECT * FROM fences ORDER BY id;
COPY fences TO :'good' (FORMAT binary);
TRUNCATE bigints;
COPY bigints FROM :'good' (FORMAT binary);
SELECT * FROM bigints ORDER BY id;
-- and so are the checks
TRUNCATE bigints, fences;
INSERT INTO bigints VALUES (1, -1);
COPY bigints TO :'bad' (FORMAT binary);
COPY fences FROM :'bad' (FORMAT binary);
CREATE TABLE shorts (id int, f int);
INSERT INTO shorts VALUES (1, 1);
COPY shorts TO :'bad' (FORMAT binary);
COPY fences FROM :'bad' (FORMAT binary);
SELECT count(*) FROM fences;
