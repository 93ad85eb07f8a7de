-- What the torture works on, and the history that each transaction leaves of itself.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fencing;
DROP SCHEMA IF EXISTS torture CASCADE;
CREATE SCHEMA torture;
SET search_path = torture;

-- Nothing is left of an earlier run.
SELECT fencing.evict(n::text) FROM generate_series(1, :resources) n \g /dev/null
SELECT fencing.forget(n::text) FROM generate_series(1, :resources) n \g /dev/null

-- Microseconds: the unit of all times here.
CREATE FUNCTION us(timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN (extract(epoch FROM $1) * 1000000)::bigint;

-- A grant, release, evict or forget, written by its own transaction, after the call and so under
-- its locks. No write with a token of "ends" or lower may commit after the snapshot was taken.
CREATE TABLE event (
    kind text NOT NULL,                 -- grant, release, evict, forget; evicting: about to evict
    resource text NOT NULL,
    token bigint,
    ends bigint,
    at bigint NOT NULL,                 -- on the server's clock, not later than it took effect
    deadline bigint,                    -- promised by the grant
    holder text,                        -- NULL: unlike any other
    op bigint NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    snapshot pg_snapshot NOT NULL DEFAULT pg_current_snapshot()
);
CREATE INDEX ON event (resource, kind, ends);

-- A write. n counts the writes of a row.
CREATE TABLE history (
    tbl text NOT NULL,
    id int NOT NULL,
    resource text NOT NULL,
    n bigint NOT NULL,
    token bigint NOT NULL,
    op bigint NOT NULL,
    deleted boolean NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX ON history (op);
CREATE TABLE counter (tbl text, id int, n bigint NOT NULL DEFAULT 0, PRIMARY KEY (tbl, id)) WITH (fillfactor = 50);

-- Rows 2k and 2k + 1 of every table belong to resource k. "control" is not protected, and "held"
-- only by hold().
CREATE TABLE unbound (id int PRIMARY KEY, resource text, token bigint, op bigint) WITH (fillfactor = 50);
CREATE TABLE bound (LIKE unbound INCLUDING ALL);
CREATE TABLE remembered (LIKE unbound INCLUDING ALL);
CREATE TABLE held (LIKE unbound INCLUDING ALL);
CREATE TABLE control (LIKE unbound INCLUDING ALL);
SELECT fencing.protect('unbound'),
       fencing.protect('bound', resource_column => 'resource'),
       fencing.protect('remembered', remember_deleted => true) \g /dev/null

-- Fires after the row is locked and checked, so that the counter makes nobody wait who has not
-- waited for the row.
CREATE FUNCTION log_write() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    row_id int;
    row_n bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        row_id := OLD.id;
    ELSE
        row_id := NEW.id;
    END IF;
    UPDATE counter SET n = n + 1 WHERE tbl = TG_TABLE_NAME AND id = row_id RETURNING n INTO STRICT row_n;
    IF TG_OP = 'DELETE' THEN
        INSERT INTO history VALUES (TG_TABLE_NAME, OLD.id, OLD.resource, row_n,
            current_setting('torture.token')::bigint, current_setting('torture.op')::bigint, true);
    ELSE
        INSERT INTO history VALUES (TG_TABLE_NAME, NEW.id, NEW.resource, row_n, NEW.token, NEW.op, false);
    END IF;
    RETURN NULL;
END
$$;
SELECT format('CREATE TRIGGER log_write AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION log_write()', tbl),
       format('INSERT INTO counter SELECT %L, id FROM generate_series(2, 2 * %s + 1) id', tbl, :resources),
       format('INSERT INTO %I SELECT id, id / 2, 0, 0 FROM generate_series(2, 2 * %s + 1) id', tbl, :resources)
    FROM unnest('{unbound,bound,remembered,held,control}'::text[]) tbl \gexec

CREATE FUNCTION acquire(op bigint, resource text, ttl interval, holder text, wait interval,
        OUT token bigint, OUT deadline bigint) LANGUAGE plpgsql AS $$
DECLARE
    answer record;
BEGIN
    SELECT * INTO answer FROM fencing.acquire(resource, ttl, holder, wait);
    IF answer.granted THEN
        token := answer.token;
        deadline := us(answer.expires_at);
        INSERT INTO event VALUES ('grant', resource, token, token - 1,
            us(answer.expires_at - answer.valid_for), deadline, holder, op);
    END IF;
END
$$;

CREATE FUNCTION release(op bigint, resource text, token bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    released boolean := fencing.release(resource, token);
BEGIN
    IF released THEN
        INSERT INTO event VALUES ('release', resource, token, token, us(clock_timestamp()), NULL, NULL, op);
    END IF;
    RETURN released;
END
$$;

CREATE FUNCTION evict(op bigint, resource text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    began bigint := us(clock_timestamp());
    token bigint := fencing.evict(resource);
BEGIN
    IF token IS NOT NULL THEN
        INSERT INTO event VALUES ('evict', resource, token, token - 1, began, NULL, NULL, op);
    END IF;
    RETURN token;
END
$$;

CREATE FUNCTION forget(op bigint, resource text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    forgotten boolean := fencing.forget(resource);
BEGIN
    IF forgotten THEN
        INSERT INTO event SELECT 'forget', forget.resource, NULL, max(e.token), us(clock_timestamp()), NULL, NULL, forget.op
            FROM event e WHERE e.resource = forget.resource HAVING max(e.token) IS NOT NULL;
    END IF;
    RETURN forgotten;
END
$$;

-- What is there now.
CREATE VIEW present_row AS
    SELECT 'unbound' AS tbl, id, op FROM unbound
    UNION ALL SELECT 'bound', id, op FROM bound
    UNION ALL SELECT 'remembered', id, op FROM remembered
    UNION ALL SELECT 'held', id, op FROM held
    UNION ALL SELECT 'control', id, op FROM control;
CREATE VIEW record AS
    SELECT resource, token, grants FROM fencing.leases WHERE resource IN (SELECT resource FROM held);
