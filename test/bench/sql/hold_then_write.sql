\set k random(0, 10000/:n - 1) * :n + :client_id
\set token :first + :k
BEGIN;
SELECT fencing.hold('held/' || :k::text, :token::bigint);
UPDATE bench.bound SET n = n + 1 WHERE id = :k;
COMMIT;
