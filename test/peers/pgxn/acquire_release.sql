\set k random(0, 10000/:n - 1) * :n + :client_id
SELECT acquired, epoch, expires_at
    FROM pgxn.acquire('free/' || :k::text, 'w' || :client_id::text, '30 s'::interval) \gset
SELECT pgxn.release('free/' || :k::text, 'w' || :client_id::text, :epoch::bigint);
