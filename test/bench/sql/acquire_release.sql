\set k random(0, 10000/:n - 1) * :n + :client_id
SELECT granted, token FROM fencing.acquire('free/' || :k::text) \gset
SELECT fencing.release('free/' || :k::text, :token::bigint);
