\set k random(0, 10000/:n - 1) * :n + :client_id
SELECT status, expires_at FROM pgxn.renew('held/' || :k::text, 'me', 1, '1 day'::interval);
