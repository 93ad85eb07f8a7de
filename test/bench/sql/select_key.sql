\set k random(0, 10000/:n - 1) * :n + :client_id
SELECT expires_at FROM bench.answer WHERE resource = 'held/' || :k::text;
