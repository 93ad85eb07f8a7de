\set k random(0, 10000/:n - 1) * :n + :client_id
UPDATE danth.lease SET held_until = now() + '1 day'::interval
    WHERE name = 'held/' || :k::text AND worker_id = 'me' AND held_until > now()
    RETURNING worker_id;
