-- The tables, checks, foreign key and partial indexes of the PostgreSQL store of faustbrian/go-lease.
DROP SCHEMA IF EXISTS golease CASCADE;
CREATE SCHEMA golease;
CREATE TABLE golease.fences (kd bytea PRIMARY KEY, token bigint NOT NULL CHECK (token > 0));
CREATE TABLE golease.records (
    kd bytea PRIMARY KEY REFERENCES golease.fences (kd),
    owner text NOT NULL CHECK (octet_length(owner) BETWEEN 1 AND 128),
    token bigint NOT NULL CHECK (token > 0),
    acquired_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    active boolean NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK (expires_at > acquired_at));
CREATE INDEX ON golease.records (expires_at) WHERE active;
CREATE INDEX ON golease.records (updated_at) WHERE NOT active;
INSERT INTO golease.fences
    SELECT sha256((p || g)::bytea), 1 FROM generate_series(0, 9999) g, (VALUES ('held/'), ('free/')) v (p);
INSERT INTO golease.fences VALUES (sha256('hot'::bytea), 1);
INSERT INTO golease.records
    SELECT sha256(('held/' || g)::bytea), 'me', 1, now(), now() + interval '1 day', true, now()
    FROM generate_series(0, 9999) g;
INSERT INTO golease.records
    VALUES (sha256('hot'::bytea), 'other', 1, now(), now() + interval '1 day', true, now());
-- Every free name has been leased and released before.
INSERT INTO golease.records
    SELECT sha256(('free/' || g)::bytea), 'old', 1, now(), now() + interval '1 s', false, now()
    FROM generate_series(0, 9999) g;
VACUUM ANALYZE golease.fences, golease.records;
