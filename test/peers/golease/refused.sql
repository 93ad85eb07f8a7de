WITH f AS (
    INSERT INTO golease.fences AS x VALUES (sha256('hot'::bytea), 1)
    ON CONFLICT (kd) DO UPDATE SET token = x.token + 1 WHERE x.token < 9223372036854775807
    RETURNING x.token
), g AS (
    INSERT INTO golease.records AS y
    SELECT sha256('hot'::bytea), 'w' || :client_id::text, f.token, clock_timestamp(),
           clock_timestamp() + 30000 * interval '1 ms', true, clock_timestamp() FROM f
    ON CONFLICT (kd) DO UPDATE SET
        owner = excluded.owner, token = excluded.token, acquired_at = clock_timestamp(),
        expires_at = clock_timestamp() + 30000 * interval '1 ms', active = true, updated_at = clock_timestamp()
        WHERE NOT y.active OR y.expires_at <= clock_timestamp()
    RETURNING y.token, y.acquired_at, y.expires_at
)
SELECT token, acquired_at, expires_at, 'got' AS outcome FROM g
UNION ALL
SELECT 0, clock_timestamp(), clock_timestamp(),
       CASE WHEN EXISTS (SELECT FROM golease.fences WHERE kd = sha256('hot'::bytea) AND token >= 9223372036854775807)
            THEN 'spent' ELSE 'busy' END
    WHERE NOT EXISTS (SELECT FROM g);
