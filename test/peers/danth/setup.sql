-- The shape of the table of danthegoodman1/pg_lease.
DROP SCHEMA IF EXISTS danth CASCADE;
CREATE SCHEMA danth;
CREATE TABLE danth.lease (name text PRIMARY KEY, worker_id text, held_until timestamptz);
INSERT INTO danth.lease
    SELECT 'held/' || g, 'me', now() + interval '1 day' FROM generate_series(0, 9999) g;
INSERT INTO danth.lease VALUES ('hot', 'other', now() + interval '1 day');
VACUUM ANALYZE danth.lease;
