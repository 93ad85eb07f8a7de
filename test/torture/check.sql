-- Loads the clients' log from stdin, and reports: the properties, whether the torture bit, counts.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
SET search_path = torture, pg_temp;
\ir client.sql
\copy client FROM pstdin
CREATE INDEX ON client (kind, token);
CREATE INDEX ON client (op);
ANALYZE client;
ANALYZE event;
ANALYZE history;
\ir violations.sql

CREATE TEMP TABLE found AS SELECT * FROM violation;
SELECT CASE WHEN count(f) = 0 THEN 'ok - ' || p.name
       ELSE format(E'not ok - %s: %s times\n# %s', p.name, count(f),
                   array_to_string((array_agg(f.detail))[1:10], E'\n# ')) END
    FROM property p LEFT JOIN found f USING (name) GROUP BY p.name ORDER BY p.name;

SELECT CASE WHEN bool_and(granted) THEN 'ok' ELSE 'not ok' END || ' - in the end every resource can be leased'
    FROM generate_series(1, :resources) n, fencing.acquire(n::text, wait => '5 s');

-- Counts, with the least that each must be for the torture to have bitten.
CREATE TEMP TABLE figure (id serial, what text, n bigint, least bigint DEFAULT 0);
INSERT INTO figure (what, n, least)
    SELECT 'server crashes (kill -9)', count(*), :crashes FROM client WHERE kind = 'crash'
    UNION ALL SELECT 'clients paused', count(*), :seconds FROM client WHERE kind = 'pause'
    UNION ALL SELECT 'of them, in an open transaction', count(*), 1 FROM client WHERE kind = 'pause' AND state = 'open'
    UNION ALL SELECT 'processes of the server stopped for a moment', count(*), :crashes FROM client WHERE kind = 'freeze'
    UNION ALL SELECT 'clients killed', count(*), 1 FROM client WHERE kind = 'kill'
    UNION ALL SELECT 'backends terminated', count(*), 1 FROM client WHERE kind = 'terminate' AND state = '00000'
    UNION ALL SELECT 'statements cancelled', count(*), 1 FROM client WHERE kind = 'cancel' AND state = '00000'
    UNION ALL SELECT 'connections lost in a call', count(*), 1 FROM client WHERE state = 'lost'
    UNION ALL SELECT 'tokens seen', count(*), :seconds FROM client WHERE kind = 'draw'
    UNION ALL SELECT 'grants', count(*), :seconds FROM event WHERE kind = 'grant'
    UNION ALL SELECT 'of them, takeovers of an expired lease', count(*), :seconds / 10 FROM succession
        WHERE NOT released AND NOT evicted AND (holder IS DISTINCT FROM old_holder OR holder IS NULL)
    UNION ALL SELECT 'acquire() refused', count(*), 1 FROM client WHERE kind = 'acquire' AND state = 'refused'
    UNION ALL SELECT 'renewals', count(*), 1 FROM client WHERE kind = 'renew' AND state = '00000'
    UNION ALL SELECT 'renewals refused', count(*), 1 FROM client WHERE kind = 'renew' AND state = 'LF004'
    UNION ALL SELECT 'releases, evictions, forgettings', count(*), 1 FROM event WHERE kind IN ('release', 'evict', 'forget')
    UNION ALL SELECT 'unflushed writes lost in crashes', count(*), 0 FROM client c
        WHERE kind = 'write' AND state = '00000' AND NOT durable AND NOT EXISTS (SELECT FROM history w WHERE w.op = c.op);
INSERT INTO figure (what, n, least)
    SELECT tbl || ': writes', count(*), :seconds FROM history GROUP BY tbl ORDER BY tbl;
INSERT INTO figure (what, n, least)
    SELECT format('%s: writes rejected with %s', target, state), count(*), 0
    FROM client WHERE kind = 'write' AND state NOT IN ('00000', 'lost', 'no row') GROUP BY target, state ORDER BY target, state;
INSERT INTO figure (what, n, least)
    SELECT tbl || ': stale writes rejected', count(*) FILTER (WHERE state LIKE 'LF%'), 1
    FROM unnest('{unbound,remembered,bound,held}'::text[]) tbl JOIN client ON kind = 'write' AND target = tbl GROUP BY tbl;
INSERT INTO figure (what, n, least)
    SELECT 'control: stale writes taken, by row', count(*), 1 FROM stale_on_row WHERE tbl = 'control'
    UNION ALL SELECT 'control: stale writes taken, after a newer grant', count(*), 1 FROM stale_on_lease WHERE tbl = 'control';

SELECT CASE WHEN count(*) = 0 THEN 'ok - the torture bit'
       ELSE 'not ok - the torture did not bite: ' || string_agg(format('%s: %s', what, n), ', ') END
    FROM figure WHERE n < least;
SELECT format('# %s  %s', rpad(what, 52), n) FROM figure ORDER BY id;
