-- Does the checker bite? It is shown a clean history, then that history with one thing wrong.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
CREATE TEMP TABLE event (LIKE torture.event);
CREATE TEMP TABLE history (LIKE torture.history);
CREATE TEMP TABLE present_row (tbl text, id int, op bigint);
CREATE TEMP TABLE record (resource text, token bigint, grants bigint);
\ir client.sql
\ir violations.sql

-- Token 10, whose lease expires; then 20, with a write to each row; 20 is released, then evicted.
INSERT INTO event VALUES
    ('grant',   '1', 10,  9, 1000, 2000, NULL, 1, '100', '100:100:'),
    ('grant',   '1', 20, 19, 3000, 4000, NULL, 2, '110', '110:110:'),
    ('release', '1', 20, 20, 3500, NULL, NULL, 5, '120', '120:120:'),
    ('evict',   '1', 25, 24, 3600, NULL, NULL, 6, '130', '130:130:'),
    ('forget',  '2', NULL, 9, 3600, NULL, NULL, 7, '130', '130:130:');
INSERT INTO history
    SELECT tbl, 2, '1', n, token, op, false, xid::xid8
    FROM unnest('{unbound,bound,held,control}'::text[]) tbl,
        (VALUES (1, 0, 0, '50'), (2, 10, 3, '105'), (3, 20, 4, '115')) w (n, token, op, xid);
INSERT INTO history VALUES
    ('remembered', 2, '1', 1, 0, 0, false, '50'), ('remembered', 2, '1', 2, 10, 3, true, '105');
INSERT INTO present_row SELECT tbl, 2, 4 FROM unnest('{unbound,bound,held,control}'::text[]) tbl;
INSERT INTO record VALUES ('1', 25, 2), ('2', 9, 0);
INSERT INTO client VALUES
    (1, 'draw',      '1',     10, 0,    100, 101, 1001, '00000', true),
    (1, 'acquire',   '1',     10, 2000, 100, 102, 1001, '00000', true),
    (2, 'draw',      '1',     20, 0,    300, 302, 3001, '00000', true),
    (2, 'acquire',   '1',     20, 4000, 300, 303, 3001, '00000', true),
    (4, 'write',     'bound', 20, 0,    310, 311, 3010, '00000', true),
    (5, 'releasing', '1',     20, 0,    350, 350, 3500, '',      true),
    (6, 'draw',      '1',     25, 0,    360, 361, 3600, '00000', true),
    (8, 'write',     'bound', 20, 0,    370, 371, 3700, 'LF004', true),
    (9, 'write',     'held',  20, 0,    380, 390, 3800, 'lost',  true);

-- What is wrong, and what does it. Row 3 has no other write.
CREATE TEMP TABLE doctored (n serial, property text, why text, sql text);
INSERT INTO doctored (property, why, sql) VALUES
    (NULL, 'a clean history', ''),
    ('no write commits after one with a higher token on the same row', 'lower token, same row',
     'INSERT INTO history VALUES (''unbound'', 2, 1, 4, 10, 99, false, ''140''); UPDATE present_row SET op = 99 WHERE tbl = ''unbound'''),
    ('no write commits after one with a higher token on the same row', 'a deleted row comes back',
     'UPDATE history SET token = 20 WHERE tbl = ''remembered'' AND n = 2;
      INSERT INTO history VALUES (''remembered'', 2, 1, 3, 10, 99, false, ''140''); INSERT INTO present_row VALUES (''remembered'', 2, 99)'),
    ('no bound or held write commits once its lease is over', 'granted anew',
     'INSERT INTO history VALUES (''held'', 3, 1, 1, 10, 99, false, ''112''); INSERT INTO present_row VALUES (''held'', 3, 99)'),
    ('no bound or held write commits once its lease is over', 'released',
     'INSERT INTO history VALUES (''bound'', 3, 1, 1, 20, 99, false, ''122''); INSERT INTO present_row VALUES (''bound'', 3, 99)'),
    ('no bound or held write commits once its lease is over', 'evicted',
     'DELETE FROM event WHERE kind = ''release'';
      INSERT INTO history VALUES (''held'', 3, 1, 1, 20, 99, false, ''132''); INSERT INTO present_row VALUES (''held'', 3, 99)'),
    ('no bound or held write commits once its lease is over', 'forgotten',
     'INSERT INTO history VALUES (''bound'', 3, 2, 1, 9, 99, false, ''132''); INSERT INTO present_row VALUES (''bound'', 3, 99)'),
    ('no token is given out twice', 'seen twice',
     'INSERT INTO client VALUES (99, ''draw'', '''', 25, 0, 360, 361, 3600, ''00000'', true)'),
    ('no token is given out twice', 'granted twice, and one client died before it knew',
     'INSERT INTO event VALUES (''grant'', ''2'', 20, 19, 9000, 9900, NULL, 99, ''200'', ''200:200:''); UPDATE record SET grants = 1 WHERE resource = ''2'''),
    ('no token is lower than one that was seen before it was asked for', 'lower',
     'INSERT INTO client VALUES (99, ''draw'', '''', 15, 0, 400, 401, 4000, ''00000'', true)'),
    ('grants of a resource commit in the order of their tokens', 'the lower one later',
     'INSERT INTO event VALUES (''grant'', ''1'', 30, 29, 9000, 9900, NULL, 99, ''200'', ''110:200:110''); UPDATE record SET grants = 3 WHERE resource = ''1'''),
    ('no lease is granted before the deadline promised to its holder', 'before that of the grant',
     'UPDATE event SET at = 1999 WHERE token = 20 AND kind = ''grant'''),
    ('no lease is granted before the deadline promised to its holder', 'before that of a renewal',
     'INSERT INTO client VALUES (99, ''renew'', ''1'', 10, 3001, 190, 191, 1900, ''00000'', true)'),
    ('no lease ends before the deadline promised to its holder', 'not renewed',
     'INSERT INTO client VALUES (99, ''renew'', ''1'', 10, 2000, 190, 191, 1900, ''LF004'', true)'),
    ('no renewal succeeds once its lease is over', 'renewed after the next grant',
     'INSERT INTO client VALUES (99, ''renew'', ''1'', 10, 1900, 310, 311, 3100, ''00000'', true)'),
    ('no acknowledged grant is lost', 'lost',
     'DELETE FROM event WHERE kind = ''grant'' AND token = 20; UPDATE record SET grants = 1 WHERE resource = ''1'''),
    ('no acknowledged write is lost', 'lost',
     'INSERT INTO client VALUES (99, ''write'', ''bound'', 20, 0, 310, 311, 3010, ''00000'', true)'),
    ('no write that was refused is there', 'refused at commit',
     'UPDATE client SET state = ''LF004'' WHERE op = 4'),
    ('every row is as the last write left it', 'another write''s',
     'UPDATE present_row SET op = 3 WHERE tbl = ''held'''),
    ('every row is as the last write left it', 'deleted, and there',
     'INSERT INTO present_row VALUES (''remembered'', 2, 3)'),
    ('every row is as the last write left it', 'gone',
     'DELETE FROM present_row WHERE tbl = ''held'''),
    ('every row is as the last write left it', 'a write without history',
     'DELETE FROM history WHERE tbl = ''held'' AND n = 2'),
    ('every grant on record is in the history', 'one more on record',
     'UPDATE record SET grants = 3 WHERE resource = ''1''');

CREATE FUNCTION pg_temp.reported(sql text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    names text[];
BEGIN
    EXECUTE sql;
    names := ARRAY(SELECT DISTINCT name FROM violation);
    RAISE EXCEPTION USING errcode = 'ZZ000';
EXCEPTION WHEN SQLSTATE 'ZZ000' THEN
    RETURN names;
END
$$;
SELECT CASE WHEN names = array_remove(ARRAY[property], NULL)
       THEN format('ok - checker: %s (%s)', coalesce(property, 'nothing wrong'), why)
       ELSE format('not ok - checker: %s (%s): reported %s', coalesce(property, 'nothing wrong'), why, names) END
    FROM (SELECT *, pg_temp.reported(sql) AS names FROM doctored ORDER BY n) d;
SELECT format('not ok - checker: nothing tests "%s"', name) FROM property
    WHERE name NOT IN (SELECT property FROM doctored WHERE property IS NOT NULL);
