\i sql/include/fresh.psql
-- acquire
SELECT granted, token, resource, holder, valid_for, renew_every, data, expires_at BETWEEN now() + '59 s' AND clock_timestamp() + '60 s' AS expires
FROM fencing.acquire('a', '60 s', 'worker 1', data => '{"host": "x"}');
-- refused: about the present holder
SELECT granted, token, resource, holder, valid_for, renew_every, data, expires_at > now() AS expires FROM fencing.acquire('a', '1 h', 'worker 2');
SELECT granted, token, resource, holder, valid_for, renew_every, data FROM fencing.acquire('a');
-- other resources are other resources: case, spaces, Unicode compositions
SELECT granted, token FROM fencing.acquire('A');
SELECT granted, token FROM fencing.acquire('a ');
SELECT granted, token FROM fencing.acquire(U&'\00e9'), fencing.acquire(U&'e\0301') AS b (granted2, token2);
-- a holder name given by the caller: again at once, with a higher token, and its zombie is fenced
SELECT granted, token, valid_for, data FROM fencing.acquire('a', '30 s', 'worker 1', data => '{"host": "y"}');
SELECT fencing.renew('a', 1);
SELECT fencing.release('a', 1);
-- default holders are unique: of role, host and backend
SELECT granted, holder = current_user || '@[local] pg_regress/lease pid=' || pg_backend_pid() || ' token=' || token AS named FROM fencing.acquire('default') \gset
SELECT :'granted' AS granted;
SELECT granted FROM fencing.acquire('default');
SELECT granted FROM fencing.acquire('default', '30 s', (SELECT holder FROM fencing.leases WHERE resource = 'default'));
-- renew
SELECT fencing.renew('a', 6) BETWEEN now() + '29 s' AND clock_timestamp() + '30 s' AS renewed;
SELECT fencing.renew('a', 6, '10 s') BETWEEN now() + '9 s' AND clock_timestamp() + '10 s' AS shorter;
SELECT fencing.renew('a', 6, '1 h') BETWEEN now() + '59 min' AND clock_timestamp() + '1 h' AS longer;
SELECT ttl, state FROM fencing.leases WHERE resource = 'a';
SELECT fencing.renew('a', 6, '10 s') < now() + '11 s';
SELECT ttl FROM fencing.leases WHERE resource = 'a';
-- the token stays the same over renewals (trap 13); renewed twice is renewed
SELECT token, grants FROM fencing.leases WHERE resource = 'a';
SELECT fencing.renew('a', 6) >= fencing.renew('a', 6) - interval '1 s';
-- renew changes only the lease of that very token (trap 10)
SELECT fencing.renew('a', 1);
SELECT fencing.renew('a', 7);
SELECT fencing.renew('nobody', 1);
-- its effect stands even if its transaction rolls back
SELECT expires_at AS before FROM fencing.leases WHERE resource = 'a' \gset
BEGIN;
SELECT fencing.renew('a', 6, '2 h') > :'before' AS later;
ROLLBACK;
SELECT expires_at > timestamptz :'before' + interval '30 min' AS still, ttl FROM fencing.leases WHERE resource = 'a';
-- release, and once more (trap 12)
SELECT fencing.release('a', 6);
SELECT fencing.release('a', 6);
SELECT fencing.release('a', 99);
SELECT fencing.release('nobody', 1);
SELECT state, grants FROM fencing.leases WHERE resource = 'a';
SELECT fencing.renew('a', 6);
-- granted anew at once
SELECT granted, token > 6 AS higher FROM fencing.acquire('a', '30 s', 'worker 2');
SELECT fencing.release('a', 6);
SELECT state, grants, holder FROM fencing.leases WHERE resource = 'a';
-- takes effect at commit
SELECT token AS t FROM fencing.acquire('b') \gset
BEGIN; SELECT fencing.release('b', :t); ROLLBACK;
SELECT state FROM fencing.leases WHERE resource = 'b';
BEGIN; SAVEPOINT s; SELECT fencing.release('b', :t); ROLLBACK TO s; COMMIT;
SELECT state FROM fencing.leases WHERE resource = 'b';
BEGIN; SELECT fencing.release('b', :t); SELECT granted FROM fencing.acquire('b'); COMMIT;
SELECT state, grants FROM fencing.leases WHERE resource = 'b';
-- expired: granted at once (trap 3), and never taken back
SELECT token AS t FROM fencing.acquire('c', '1 ms') \gset
SELECT pg_sleep(0.01);
SELECT state FROM fencing.leases WHERE resource = 'c';
SELECT fencing.renew('c', :t);
SELECT fencing.release('c', :t);
SELECT token AS t FROM fencing.acquire('c', '1 ms') \gset
SELECT pg_sleep(0.01);
SELECT granted, token > :t AS higher FROM fencing.acquire('c');
SELECT fencing.renew('c', :t);
SELECT fencing.release('c', :t);
-- rolled back: no grant, and the token is not issued again
BEGIN; SELECT granted, token AS t FROM fencing.acquire('d') \gset
ROLLBACK;
SELECT count(*) FROM fencing.leases WHERE resource = 'd';
SELECT granted, token > :t AS higher FROM fencing.acquire('d');
BEGIN; SAVEPOINT s; SELECT granted FROM fencing.acquire('e'); ROLLBACK TO s; SELECT granted FROM fencing.acquire('e'); COMMIT;
SELECT state, grants FROM fencing.leases WHERE resource = 'e';
-- a grant that rolls back leaves the deadline before as it was
SELECT token AS t FROM fencing.acquire('f', '1 h', 'me') \gset
BEGIN; SELECT granted FROM fencing.acquire('f', '1 s', 'me'); SELECT granted FROM fencing.acquire('f', '2 s', 'me'); ROLLBACK;
SELECT token = :t AS same, expires_at > now() + '50 min' AS unchanged, ttl, state FROM fencing.leases WHERE resource = 'f';
SELECT fencing.renew('f', :t) > now();
-- clock_timestamp(), not now(): in a long transaction (trap 1)
BEGIN;
SELECT pg_sleep(0.05);
SELECT expires_at - interval '1 s' > now() + '40 ms' AS by_the_clock FROM fencing.acquire('g', '1 s');
SELECT granted_at > now() + '40 ms' AS by_the_clock FROM fencing.leases WHERE resource = 'g';
COMMIT;
-- in a transaction that is used on, and under other roles' settings
BEGIN; SET LOCAL synchronous_commit = off; SELECT granted FROM fencing.acquire('h'); COMMIT;
BEGIN; SET LOCAL timezone = 'Asia/Kathmandu'; SELECT expires_at BETWEEN now() AND now() + '40 s' AS zone_is_nothing FROM fencing.acquire('i'); COMMIT;
PREPARE acquire(text, interval) AS SELECT granted FROM fencing.acquire($1, $2);
EXECUTE acquire('j', '5 s');
EXECUTE acquire('j', '5 s');
-- the view
\d fencing.leases
-- a grant keeps its deadline where one after it is rolled back
BEGIN;
SELECT token, expires_at FROM fencing.acquire('late', '1 h', 'worker') \gset
SELECT fencing.renew('late', :token, '2 h') AS expires_at \gset
SAVEPOINT s;
SELECT granted FROM fencing.acquire('late', '1 s', 'worker');
SELECT granted FROM fencing.acquire('late', '1 s', 'worker');
ROLLBACK TO s;
SELECT granted FROM fencing.acquire('late', '1 s', 'worker');
ROLLBACK TO s;
COMMIT;
SELECT token = :token AS same, expires_at = :'expires_at' AS as_told, state FROM fencing.leases WHERE resource = 'late';
BEGIN;
SELECT token FROM fencing.acquire('later', '50 ms', 'worker') \gset
SAVEPOINT s;
SELECT granted FROM fencing.acquire('later', '50 ms', 'worker');
ROLLBACK TO s;
COMMIT;
SELECT pg_sleep(0.1);
SELECT fencing.renew('later', :token);
-- nor if the later one cannot be written
ALTER TABLE fencing.lease ALTER data SET STORAGE PLAIN;
BEGIN;
SELECT token, expires_at FROM fencing.acquire('full', '1 h', 'worker') \gset
SAVEPOINT s;
SELECT granted FROM fencing.acquire('full', '1 s', 'worker', data => to_jsonb(repeat('x', 10000)));
ROLLBACK TO s;
COMMIT;
ALTER TABLE fencing.lease ALTER data SET STORAGE EXTENDED;
SELECT token = :token AS same, expires_at = :'expires_at' AS as_told, state FROM fencing.leases WHERE resource = 'full';
-- many in one transaction
DO $$ DECLARE t bigint; BEGIN FOR n IN 1 .. 200 LOOP
	SELECT token INTO t FROM fencing.acquire('many'); PERFORM fencing.release('many', t);
END LOOP; END $$;
SELECT grants, state FROM fencing.leases WHERE resource = 'many';
