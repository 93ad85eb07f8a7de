-- The floors' tables and ours. Names are held/K, free/K and taken/K, K from 0 to 9999, and some that
-- are hot.
CREATE EXTENSION fencing;
CREATE SCHEMA bench;

CREATE TABLE bench.logged (id int PRIMARY KEY, n bigint NOT NULL);
CREATE UNLOGGED TABLE bench.unlogged (id int PRIMARY KEY, n bigint NOT NULL);

-- What a refusal answers.
CREATE TABLE bench.answer (
    resource text COLLATE "C" PRIMARY KEY,
    granted boolean,
    token bigint,
    holder text,
    expires_at timestamptz,
    valid_for interval,
    renew_every interval,
    data jsonb);
INSERT INTO bench.answer
    SELECT name, false, NULL, 'bench@[local] pgbench pid=1000 token=' || n, now(), NULL, NULL, NULL
    FROM (SELECT 'held/' || g, g FROM generate_series(0, 9999) g
        UNION ALL SELECT 'hot', 0
        UNION ALL SELECT 'hot/' || g, g FROM generate_series(0, 99) g) x (name, n);

-- A write by key: unguarded, guarded, and guarded by PL/pgSQL.
CREATE TABLE bench.plain (id int PRIMARY KEY, n bigint NOT NULL, fence fencing.fence NOT NULL DEFAULT 0);
CREATE TABLE bench.guarded (LIKE bench.plain INCLUDING ALL);
CREATE TABLE bench.interpreted (LIKE bench.plain INCLUDING ALL);
CREATE TABLE bench.empty (LIKE bench.plain INCLUDING ALL);
-- The guard's rules for an UPDATE, with a setting for present(). Whether the statement names the fence
-- PL/pgSQL cannot see: one that does not passes.
CREATE FUNCTION bench.check_fence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    presented bigint := nullif(current_setting('bench.token', true), '');
    carried bigint := coalesce(presented, NEW.fence);
BEGIN
    IF NEW.fence IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'fence must not be null', TABLE = TG_TABLE_NAME;
    ELSIF NEW.fence <> OLD.fence AND NEW.fence <> carried THEN
        RAISE SQLSTATE 'LF003' USING MESSAGE = format('token %s is not the one presented', NEW.fence);
    ELSIF carried = 0 AND OLD.fence > 0 THEN
        RAISE SQLSTATE 'LF002' USING MESSAGE = format('no token for a row with fence %s', OLD.fence);
    ELSIF carried < OLD.fence THEN
        RAISE SQLSTATE 'LF001' USING MESSAGE = format('token %s is stale: the row has fence %s', carried, OLD.fence);
    END IF;
    NEW.fence := carried;
    RETURN NEW;
END
$$;
CREATE FUNCTION bench.empty_trigger() RETURNS trigger AS :'empty_trigger' LANGUAGE c;
CREATE TRIGGER check_fence BEFORE UPDATE ON bench.interpreted
    FOR EACH ROW EXECUTE FUNCTION bench.check_fence();
CREATE TRIGGER empty BEFORE UPDATE ON bench.empty
    FOR EACH ROW EXECUTE FUNCTION bench.empty_trigger();
SELECT fencing.protect('bench.guarded');

CREATE TABLE bench.many_plain (LIKE bench.plain INCLUDING ALL);
CREATE TABLE bench.many_guarded (LIKE bench.plain INCLUDING ALL);
CREATE TABLE bench.many_interpreted (LIKE bench.plain INCLUDING ALL);
CREATE TABLE bench.many_empty (LIKE bench.plain INCLUDING ALL);
CREATE TRIGGER check_fence BEFORE UPDATE ON bench.many_interpreted
    FOR EACH ROW EXECUTE FUNCTION bench.check_fence();
CREATE TRIGGER empty BEFORE UPDATE ON bench.many_empty
    FOR EACH ROW EXECUTE FUNCTION bench.empty_trigger();
SELECT fencing.protect('bench.many_guarded');
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{plain,guarded,interpreted,empty}'::text[] LOOP
        EXECUTE format('INSERT INTO bench.%I SELECT g, 0 FROM generate_series(1, 300000) g', 'many_' || name);
    END LOOP;
END
$$;

-- A write that belongs to a lease; the same without one.
CREATE TABLE bench.unbound (
    id int PRIMARY KEY,
    resource text NOT NULL,
    n bigint NOT NULL,
    fence fencing.fence NOT NULL DEFAULT 0);
CREATE TABLE bench.bound (LIKE bench.unbound INCLUDING ALL);
SELECT fencing.protect('bench.bound', resource_column => 'resource');

-- With as much room in each page as it has rows, as a table has that was written for long. Full pages
-- would be cleared by every UPDATE, until it has moved enough rows away: sooner in one table than in another.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{logged,unlogged,plain,guarded,interpreted,empty,unbound,bound}'::text[] LOOP
        EXECUTE format('ALTER TABLE bench.%I SET (fillfactor = 50)', name);
        EXECUTE format(CASE WHEN name LIKE '%bound'
            THEN $q$INSERT INTO bench.%I SELECT g, 'held/' || g, 0 FROM generate_series(0, 9999) g$q$
            ELSE 'INSERT INTO bench.%I SELECT g, 0 FROM generate_series(0, 9999) g' END, name);
        EXECUTE format('ALTER TABLE bench.%I RESET (fillfactor)', name);
    END LOOP;
END
$$;

-- held/K gets the token :first + K.
CREATE PROCEDURE bench.lease_names() LANGUAGE plpgsql AS $$
BEGIN
    FOR k IN 0 .. 9999 LOOP
        PERFORM fencing.acquire('held/' || k, '1 day');
        IF k % 100 = 99 THEN COMMIT; END IF;
    END LOOP;
    FOR k IN 0 .. 9999 LOOP
        PERFORM fencing.release('free/' || k, token) FROM fencing.acquire('free/' || k);
        PERFORM fencing.acquire('taken/' || k, '1 ms');
        IF k % 100 = 99 THEN COMMIT; END IF;
    END LOOP;
    FOR k IN 0 .. 99 LOOP
        PERFORM fencing.acquire('hot/' || k, '1 day');
    END LOOP;
    PERFORM fencing.acquire('hot', '1 day');
END
$$;
SET synchronous_commit = off;
CALL bench.lease_names();

-- More resources, put there without leasing them one by one: the even ones are held, the odd ones
-- have expired.
CREATE PROCEDURE bench.grow(from_number bigint, to_number bigint) LANGUAGE sql
BEGIN ATOMIC
    WITH deadlines AS (
        INSERT INTO fencing.deadline
                (token_1, at_1, renewed_1, ttl_1, token_2, at_2, renewed_2, ttl_2, current, owner, closed_1, closed_2, resource)
            SELECT 1, now() + CASE g % 2 WHEN 0 THEN interval '1 day' ELSE '0' END, now(), 86400000000,
                0, '2000-01-01', '2000-01-01', 0, 1, owner, false, false, 'grow/' || g
            FROM generate_series(from_number, to_number) g,
                (SELECT (current_user::regrole::oid::bigint << 32) | (hashtext(current_user) & 4294967295)) me (owner)
            RETURNING ctid AS place, resource)
    INSERT INTO fencing.lease (token, ttl, granted_at, grants, ended_at, ended, deadline, released, named, resource, role, holder)
        SELECT 1, 86400000000, now(), 1, '2000-01-01', 0, place, false, false, resource, current_user,
            'bench@[local] pgbench pid=1000 token=1' FROM deadlines;
END;
