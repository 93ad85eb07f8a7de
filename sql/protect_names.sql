\i sql/include/fresh.psql
-- quoted, mixed case and Unicode names in any schema
CREATE SCHEMA "My Schema";
CREATE SCHEMA "schéma ""quoted""";
CREATE TABLE "My Schema"."My Table" (id int);
CREATE TABLE "schéma ""quoted"""."таблица; DROP TABLE x; --" (id int);
CREATE TABLE "schéma ""quoted"""."it's %I %s $1" (id int);
CREATE TABLE "select" (id int);
CREATE TABLE "My Schema".twin (id int);
CREATE TABLE twin (id int);
SELECT fencing.protect('"My Schema"."My Table"');
SELECT fencing.protect('"schéma ""quoted"""."таблица; DROP TABLE x; --"', 'Забор "1"');
SELECT fencing.protect('"schéma ""quoted"""."it''s %I %s $1"', 'it''s %I %s $1');
SELECT fencing.protect('"select"', 'from');
SELECT fencing.protect('"My Schema".twin', 'Fence');
INSERT INTO "My Schema"."My Table" VALUES (1, 5);
UPDATE "My Schema"."My Table" SET fence = 4;
INSERT INTO "schéma ""quoted"""."таблица; DROP TABLE x; --" VALUES (1, 5);
UPDATE "schéma ""quoted"""."таблица; DROP TABLE x; --" SET "Забор ""1""" = 4;
INSERT INTO "schéma ""quoted"""."it's %I %s $1" VALUES (1, 5);
UPDATE "schéma ""quoted"""."it's %I %s $1" SET "it's %I %s $1" = 4;
INSERT INTO "select" VALUES (1, 5);
UPDATE "select" SET "from" = 4;
INSERT INTO "My Schema".twin VALUES (1, 5);
UPDATE "My Schema".twin SET "Fence" = 4;
SELECT rel, fence_column FROM fencing.protected_tables ORDER BY rel::text COLLATE "C";
-- not on the path, and a namesake first on it
SET search_path = "My Schema";
SELECT fencing.protect('public.twin');
SELECT rel, fence_column FROM fencing.protected_tables ORDER BY rel::text COLLATE "C";
-- a resource column with such a name
CREATE TABLE "My Schema"."accounts" ("Konto-Nr." text);
SELECT fencing.protect('accounts', resource_column => 'Konto-Nr.', resource => 'Bank');
SELECT token AS t FROM fencing.acquire('Bank:ä 1') \gset
BEGIN; SELECT fencing.hold('Bank:ä 1', :t) = :t AS held; INSERT INTO accounts VALUES ('ä 1'); COMMIT;
INSERT INTO accounts VALUES ('ä 1');
-- the longest names
CREATE TABLE n123456789_123456789_123456789_123456789_123456789_123456789_12 (id int);
SELECT fencing.protect('n123456789_123456789_123456789_123456789_123456789_123456789_12', 'c123456789_123456789_123456789_123456789_123456789_123456789_12');
SELECT fencing.unprotect('n123456789_123456789_123456789_123456789_123456789_123456789_12');
DROP SCHEMA "schéma ""quoted""", "My Schema" CASCADE;
