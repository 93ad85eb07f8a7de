\set k random(0, 10000/:n - 1) * :n + :client_id
SELECT pg_try_advisory_lock(7001, :k::int);
SELECT pg_advisory_unlock(7001, :k::int);
