\i sql/include/fresh.psql
-- decimal in, decimal out
SELECT fencing.fence '0', fencing.fence '1', fencing.fence '9223372036854775807';
SELECT fencing.fence '007';
-- hexadecimal in, as ZooKeeper prints its zxids
SELECT fencing.fence '0x0', fencing.fence '0x100000002', fencing.fence '0XfF', fencing.fence '0x7fffffffffffffff';
-- spaces around it do not count
SELECT fencing.fence '  101 ', fencing.fence E'\t0x65\n';
-- not a number
SELECT fencing.fence '';
SELECT fencing.fence ' ';
SELECT fencing.fence '0x';
SELECT fencing.fence 'x';
SELECT fencing.fence '0x1g';
SELECT fencing.fence 'ff';
SELECT fencing.fence '1 2';
SELECT fencing.fence '1.0';
SELECT fencing.fence '1e3';
SELECT fencing.fence '0x 1';
SELECT fencing.fence 'NULL';
-- out of range
SELECT fencing.fence '-1';
SELECT fencing.fence '9223372036854775808';
SELECT fencing.fence '18446744073709551617';
SELECT fencing.fence '0x8000000000000000';
SELECT fencing.fence '0x10000000000000001';
SELECT fencing.fence '-9223372036854775808';
-- the message names the type and the value
\set VERBOSITY terse
SELECT fencing.fence 'ten';
SELECT fencing.fence '-1';
\set VERBOSITY sqlstate
-- 8 bytes, by value
SELECT typlen, typbyval, typalign, typcategory FROM pg_type WHERE oid = 'fencing.fence'::regtype;
