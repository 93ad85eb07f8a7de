\set k random(0, 10000/:n - 1) * :n + :client_id
SELECT granted, token FROM fencing.acquire('taken/' || :k::text, '1 ms');
