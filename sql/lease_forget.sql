\i sql/include/fresh.psql
-- forget() drops the record of what nobody holds, and never lowers tokens (trap 7)
SELECT fencing.forget('never');
SELECT token AS t FROM fencing.acquire('a') \gset
SELECT fencing.forget('a');
SELECT fencing.release('a', :t);
SELECT fencing.forget('a');
SELECT fencing.forget('a');
SELECT count(*) FROM fencing.leases;
SELECT token > :t AS higher, granted FROM fencing.acquire('a') \gset
SELECT :'granted' AS granted, :'higher' AS higher;
SELECT grants FROM fencing.leases;
-- expired ones, too
SELECT token AS t FROM fencing.acquire('b', '1 ms') \gset
SELECT pg_sleep(0.01);
SELECT fencing.forget('b');
SELECT fencing.renew('b', :t);
SELECT fencing.release('b', :t);
-- rolled back
SELECT token AS t FROM fencing.acquire('c') \gset
SELECT fencing.release('c', :t);
BEGIN; SELECT fencing.forget('c'); SELECT count(*) FROM fencing.leases WHERE resource = 'c'; ROLLBACK;
SELECT state FROM fencing.leases WHERE resource = 'c';
BEGIN; SELECT fencing.forget('c'); SELECT token > :t AS higher FROM fencing.acquire('c'); COMMIT;
SELECT state, grants FROM fencing.leases WHERE resource = 'c';
-- even if the sequence is set back afterwards
SELECT token AS t FROM fencing.acquire('d') \gset
SELECT fencing.release('d', :t), fencing.forget('d');
SELECT setval('fencing.token_seq', 1, false);
SELECT fencing.acquire('d');
