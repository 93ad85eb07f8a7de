\set k random(0, 10000/:n - 1) * :n + :client_id
\set token :first + :k
BEGIN;
SELECT expires_at FROM bench.answer WHERE resource = 'held/' || :k::text;
UPDATE bench.unbound SET n = n + 1 WHERE id = :k;
COMMIT;
