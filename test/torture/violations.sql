-- The checker: what must never be, found in event, history, present_row and record (see
-- schema.sql), and in client, the log of what the clients were told.
\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE TEMP TABLE property (name text PRIMARY KEY);
INSERT INTO property VALUES
    ('no write commits after one with a higher token on the same row'),
    ('no bound or held write commits once its lease is over'),
    ('no token is given out twice'),
    ('no token is lower than one that was seen before it was asked for'),
    ('grants of a resource commit in the order of their tokens'),
    ('no lease is granted before the deadline promised to its holder'),
    ('no lease ends before the deadline promised to its holder'),
    ('no renewal succeeds once its lease is over'),
    ('no acknowledged grant is lost'),
    ('no acknowledged write is lost'),
    ('no write that was refused is there'),
    ('every row is as the last write left it'),
    ('every grant on record is in the history');

-- Writes of a row, in the order of its counter, whose lock each keeps until it has committed.
CREATE TEMP VIEW stale_on_row AS
    SELECT * FROM (
        SELECT *, max(token) OVER (PARTITION BY tbl, id ORDER BY n) AS fence FROM history) w
    WHERE token < fence;

-- Writes that had not committed when a grant (release, evict, forget) that ended their lease had
-- all its locks. The nearest event of each kind is enough, since events are in order themselves.
CREATE TEMP VIEW stale_on_lease AS
    SELECT DISTINCT ON (w.tbl, w.id, w.n) w.*, e.kind, e.token AS event_token
    FROM history w
        CROSS JOIN (VALUES ('grant'), ('release'), ('evict'), ('forget')) k (kind)
        CROSS JOIN LATERAL (
            SELECT * FROM event e
            WHERE e.resource = w.resource AND e.kind = k.kind AND e.ends >= w.token
            ORDER BY e.ends LIMIT 1) e
    WHERE w.op <> 0 AND e.xid <> w.xid AND NOT pg_visible_in_snapshot(w.xid, e.snapshot);

CREATE TEMP VIEW draw AS
    SELECT op, token FROM client WHERE kind = 'draw'
    UNION SELECT op, token FROM event WHERE kind IN ('grant', 'evict');

-- The highest token seen before each moment, on the clients' monotonic clock.
CREATE TEMP VIEW draw_order AS
    SELECT * FROM (
        SELECT *, max(token) FILTER (WHERE seen) OVER (ORDER BY at, seen DESC) AS seen_before FROM (
            SELECT op, token, received AS at, true AS seen FROM client WHERE kind = 'draw'
            UNION ALL SELECT op, token, sent, false FROM client WHERE kind = 'draw') o) o
    WHERE NOT seen;

-- Evictions that began and are not in the history: they may have taken place, a little later.
CREATE TEMP VIEW evicting AS
    SELECT * FROM event b WHERE kind = 'evicting'
        AND NOT EXISTS (SELECT FROM event e WHERE e.kind = 'evict' AND e.op = b.op);

-- Each grant with the one before it.
CREATE TEMP VIEW succession AS
    SELECT g.*, p.token AS old_token, p.holder AS old_holder, p.xid AS old_xid, p.at AS old_at,
        greatest(p.deadline, (SELECT max(c.deadline) FROM client c
                              WHERE c.kind = 'renew' AND c.token = p.token AND c.state = '00000')) AS promised,
        EXISTS (SELECT FROM client c WHERE c.kind = 'releasing' AND c.token = p.token) AS released,
        EXISTS (SELECT FROM event e WHERE e.kind = 'evict' AND e.resource = g.resource
                AND e.token BETWEEN p.token AND g.token)
            OR EXISTS (SELECT FROM evicting e WHERE e.resource = g.resource
                       AND e.at BETWEEN p.at - 10000000 AND g.at) AS evicted
    FROM event g CROSS JOIN LATERAL (
        SELECT * FROM event p
        WHERE p.resource = g.resource AND p.kind = 'grant' AND p.ends < g.ends
        ORDER BY p.ends DESC LIMIT 1) p
    WHERE g.kind = 'grant';

CREATE TEMP VIEW violation (name, detail) AS
    SELECT 'no write commits after one with a higher token on the same row',
        format('%s row %s write %s: token %s, fence %s', tbl, id, n, token, fence)
    FROM stale_on_row WHERE tbl <> 'control'
UNION ALL
    SELECT 'no bound or held write commits once its lease is over',
        format('%s row %s write %s: token %s, %s %s', tbl, id, n, token, kind, event_token)
    FROM stale_on_lease WHERE tbl IN ('bound', 'held')
UNION ALL
    SELECT 'no token is given out twice', format('token %s: calls %s', token, array_agg(op))
    FROM draw GROUP BY token HAVING count(*) > 1
UNION ALL
    SELECT 'no token is lower than one that was seen before it was asked for',
        format('call %s: token %s, seen before %s', op, token, seen_before)
    FROM draw_order WHERE token < seen_before
UNION ALL
    SELECT 'grants of a resource commit in the order of their tokens',
        format('resource %s: token %s had not committed when %s was granted', resource, old_token, token)
    FROM succession WHERE xid <> old_xid AND NOT pg_visible_in_snapshot(old_xid, snapshot)
UNION ALL
    SELECT 'no lease is granted before the deadline promised to its holder',
        format('resource %s: token %s granted %s us before the deadline of %s', resource, token, promised - at, old_token)
    FROM succession
    WHERE promised > at AND NOT released AND NOT evicted AND holder IS DISTINCT FROM old_holder
        OR promised > at AND NOT released AND NOT evicted AND holder IS NULL
UNION ALL
    SELECT 'no lease ends before the deadline promised to its holder',
        format('resource %s: token %s not renewed %s us before its deadline', c.target, c.token, c.deadline - c.wall)
    FROM client c
    WHERE c.kind = 'renew' AND c.state = 'LF004' AND c.wall < c.deadline
        AND NOT EXISTS (SELECT FROM client r WHERE r.kind = 'releasing' AND r.token = c.token)
        AND NOT EXISTS (SELECT FROM event e WHERE e.resource = c.target
                        AND e.ends >= c.token AND e.at <= c.wall)
        AND NOT EXISTS (SELECT FROM evicting e WHERE e.resource = c.target
                        AND e.at BETWEEN c.wall - 10000000 AND c.wall)
UNION ALL
    SELECT 'no renewal succeeds once its lease is over',
        format('resource %s: token %s renewed in call %s, after the %s of call %s', r.target, r.token, r.op, e.kind, e.op)
    FROM client r
        JOIN event e ON e.resource = r.target AND e.ends >= r.token
        JOIN client c ON c.op = e.op AND c.kind = CASE e.kind WHEN 'grant' THEN 'acquire' ELSE e.kind END
            AND c.state = '00000' AND c.received < r.sent
    WHERE r.kind = 'renew' AND r.state = '00000'
UNION ALL
    SELECT 'no acknowledged grant is lost', format('resource %s: token %s', c.target, c.token)
    FROM client c
    WHERE c.kind = 'acquire' AND c.state = '00000' AND NOT EXISTS (
        SELECT FROM event e WHERE e.kind = 'grant' AND e.token = c.token AND e.resource = c.target)
UNION ALL
    SELECT 'no acknowledged write is lost', format('%s: call %s, token %s', c.target, c.op, c.token)
    FROM client c
    WHERE c.kind = 'write' AND c.state = '00000' AND c.durable
        AND NOT EXISTS (SELECT FROM history w WHERE w.op = c.op AND w.tbl = c.target)
UNION ALL
    SELECT 'no write that was refused is there', format('%s: call %s, %s', c.target, c.op, c.state)
    FROM client c
    WHERE c.kind = 'write' AND c.state ~ '^(LF|40|23)'
        AND EXISTS (SELECT FROM history w WHERE w.op = c.op AND w.tbl = c.target)
UNION ALL
    SELECT 'every row is as the last write left it', format('%s row %s', tbl, id)
    FROM (SELECT DISTINCT ON (tbl, id) * FROM history ORDER BY tbl, id, n DESC) w
        FULL JOIN present_row p USING (tbl, id)
    WHERE coalesce(w.deleted, true) <> (p.id IS NULL) OR w.op <> p.op
UNION ALL
    SELECT 'every row is as the last write left it', format('%s row %s: %s writes, counted %s', tbl, id, count(*), max(n))
    FROM history GROUP BY tbl, id HAVING count(*) <> max(n) OR count(DISTINCT n) <> max(n)
UNION ALL
    SELECT 'every grant on record is in the history',
        format('resource %s: %s grants on record, %s in the history', r.resource, r.grants, count(e))
    FROM record r LEFT JOIN event e ON e.resource = r.resource AND e.kind = 'grant'
        AND e.token > coalesce((SELECT max(f.ends) FROM event f WHERE f.resource = r.resource AND f.kind = 'forget'), 0)
    GROUP BY r.resource, r.grants HAVING r.grants <> count(e);
