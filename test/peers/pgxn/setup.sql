-- PGXN pg_lease 0.1.0, emulated: functions are all its interface, SECURITY DEFINER with a pinned
-- search_path, and a row is kept for ever as the mark of its epoch. The bodies are a guess, written
-- from its documentation.
DROP SCHEMA IF EXISTS pgxn CASCADE;
CREATE SCHEMA pgxn;
CREATE TABLE pgxn.leases (key text PRIMARY KEY, owner text, epoch bigint NOT NULL, expires_at timestamptz);

CREATE FUNCTION pgxn.acquire(p_key text, p_owner text, p_ttl interval,
    OUT acquired boolean, OUT epoch bigint, OUT expires_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    r pgxn.leases;
    t timestamptz;
BEGIN
    LOOP
        SELECT * INTO r FROM pgxn.leases l WHERE l.key = p_key FOR UPDATE;
        EXIT WHEN found;
        INSERT INTO pgxn.leases VALUES (p_key, p_owner, 1, clock_timestamp() + p_ttl)
            ON CONFLICT DO NOTHING RETURNING * INTO r;
        IF found THEN
            acquired := true;
            epoch := r.epoch;
            expires_at := r.expires_at;
            RETURN;
        END IF;
    END LOOP;
    t := clock_timestamp();
    IF r.owner IS NULL OR r.expires_at <= t THEN
        UPDATE pgxn.leases l SET owner = p_owner, epoch = l.epoch + 1, expires_at = t + p_ttl
            WHERE l.key = p_key RETURNING l.epoch, l.expires_at INTO epoch, expires_at;
        acquired := true;
    ELSIF r.owner = p_owner THEN
        UPDATE pgxn.leases l SET expires_at = t + p_ttl
            WHERE l.key = p_key RETURNING l.epoch, l.expires_at INTO epoch, expires_at;
        acquired := true;
    ELSE
        acquired := false;
        epoch := r.epoch;
        expires_at := r.expires_at;
    END IF;
END
$$;

CREATE FUNCTION pgxn.renew(p_key text, p_owner text, p_epoch bigint, p_ttl interval,
    OUT status text, OUT expires_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    r pgxn.leases;
    t timestamptz;
BEGIN
    SELECT * INTO r FROM pgxn.leases l WHERE l.key = p_key FOR UPDATE;
    t := clock_timestamp();
    IF NOT found OR r.owner IS DISTINCT FROM p_owner THEN
        status := 'not_owner';
    ELSIF r.expires_at <= t THEN
        status := 'lapsed';
    ELSIF r.epoch <> p_epoch THEN
        status := 'epoch_mismatch';
    ELSE
        UPDATE pgxn.leases l SET expires_at = t + p_ttl WHERE l.key = p_key RETURNING l.expires_at INTO expires_at;
        status := 'ok';
    END IF;
END
$$;

CREATE FUNCTION pgxn.release(p_key text, p_owner text, p_epoch bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    r pgxn.leases;
BEGIN
    SELECT * INTO r FROM pgxn.leases l WHERE l.key = p_key FOR UPDATE;
    IF NOT found OR r.owner IS DISTINCT FROM p_owner THEN
        RETURN 'not_owner';
    ELSIF r.expires_at <= clock_timestamp() THEN
        RETURN 'lapsed';
    ELSIF r.epoch <> p_epoch THEN
        RETURN 'epoch_mismatch';
    END IF;
    UPDATE pgxn.leases l SET owner = NULL, epoch = l.epoch + 1, expires_at = NULL WHERE l.key = p_key;
    RETURN 'ok';
END
$$;

CREATE FUNCTION pgxn.release_notify(p_key text, p_owner text, p_epoch bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('lease', p_key);
    RETURN pgxn.release(p_key, p_owner, p_epoch);
END
$$;

INSERT INTO pgxn.leases SELECT 'held/' || g, 'me', 1, now() + interval '1 day' FROM generate_series(0, 9999) g;
INSERT INTO pgxn.leases SELECT 'free/' || g, NULL, 2, NULL FROM generate_series(0, 9999) g;
INSERT INTO pgxn.leases VALUES ('hot', 'other', 1, now() + interval '1 day');
VACUUM ANALYZE pgxn.leases;
