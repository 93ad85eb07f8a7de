\set k random(0, 10000/:n - 1) * :n + :client_id
UPDATE golease.records SET expires_at = clock_timestamp() + 86400000 * interval '1 ms', updated_at = clock_timestamp()
    WHERE kd = sha256(('held/' || :k::text)::bytea) AND owner = 'me' AND token = 1
        AND active AND expires_at > clock_timestamp()
    RETURNING token, acquired_at, expires_at;
