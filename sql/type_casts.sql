\i sql/include/fresh.psql
-- to bigint: implicit, without a function; from integers and numeric: on assignment
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod
FROM pg_cast WHERE 'fencing.fence'::regtype IN (castsource, casttarget)
ORDER BY castsource::regtype::text, casttarget::regtype::text;
-- no operators and no aggregates of its own
SELECT oprname FROM pg_operator WHERE 'fencing.fence'::regtype IN (oprleft, oprright);
SELECT opcname FROM pg_opclass WHERE opcintype = 'fencing.fence'::regtype;
CREATE TABLE t (f fencing.fence);
-- assignment
INSERT INTO t VALUES (7::int2), (7::int4), (7::int8), (7::numeric), (7.000), ('7'), (0);
SELECT f, count(*) FROM t GROUP BY f ORDER BY f;
INSERT INTO t VALUES ((-1)::int2);
INSERT INTO t VALUES (-1);
INSERT INTO t VALUES ((-1)::int8);
INSERT INTO t VALUES (-1::numeric);
INSERT INTO t VALUES (7.5);
INSERT INTO t VALUES (0.5);
INSERT INTO t VALUES (-0.5);
INSERT INTO t VALUES (9223372036854775807::numeric);
INSERT INTO t VALUES (9223372036854775808);
INSERT INTO t VALUES (1e30::numeric);
INSERT INTO t VALUES ('NaN'::numeric);
INSERT INTO t VALUES ('Infinity'::numeric);
INSERT INTO t VALUES ('-Infinity'::numeric);
INSERT INTO t VALUES (9223372036854775807.1);
-- no way in from anything else, short of its text
INSERT INTO t VALUES (true);
INSERT INTO t VALUES (7::float8);
INSERT INTO t VALUES ('7'::text);
INSERT INTO t VALUES ('7'::text::fencing.fence);
-- explicit
SELECT 101::fencing.fence, 101::int2::fencing.fence, 101::int8::fencing.fence, 101.0::fencing.fence, 101::fencing.fence::bigint + 1;
SELECT pg_typeof(101::fencing.fence::bigint), pg_typeof(max(f)), pg_typeof(f + 1) FROM t GROUP BY f LIMIT 1;
SELECT fencing.fence(5::int2), fencing.fence(5), fencing.fence(5::int8), fencing.fence(5.0);
-- a function that takes a bigint takes a fence
SELECT abs(101::fencing.fence), int8(101::fencing.fence), 101::fencing.fence::text;
-- nothing implicit to numeric or to other integers
SELECT 5::fencing.fence <= 5.0;
SELECT 5::fencing.fence <= 5.0::numeric;
SELECT 5::fencing.fence <= 5::float8;
SELECT 5::fencing.fence::bigint <= 5.0 AS cast_is_the_way;
-- a number like others: where several types meet, bigint is common to them
SELECT greatest(f, 8::bigint), coalesce(f, 8::bigint), CASE WHEN f = 7 THEN f ELSE 8::bigint END, ARRAY[f, 8::bigint] FROM t WHERE f < 8 GROUP BY f ORDER BY f;
SELECT f FROM t WHERE f = 0 UNION SELECT 8::bigint ORDER BY 1;
