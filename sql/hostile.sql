\i sql/include/fresh.psql
-- a search_path, temporary objects and operators of somebody else (trap 31)
CREATE TABLE t (id int PRIMARY KEY, v text);
DO $$
DECLARE
	f text;
BEGIN
	FOREACH f IN ARRAY ARRAY['format(text, text)', 'format(text, regclass, name)', 'quote_literal(text)', 'pg_has_role(oid, text)', 'octet_length(text)', 'cardinality(name[])', 'coalesce_(text, text)', 'now()', 'clock_timestamp()', 'current_user_()', 'make_interval()', 'nextval(regclass)'] LOOP
		EXECUTE 'CREATE FUNCTION public.' || f || ' RETURNS text LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''trapped''''; END''';
	END LOOP;
END $$;
CREATE FUNCTION public.equal(anyelement, anyelement) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped''; END';
CREATE FUNCTION public.equal_oid(oid, oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped''; END';
CREATE OPERATOR public.= (FUNCTION = public.equal_oid, LEFTARG = oid, RIGHTARG = oid);
CREATE FUNCTION public.equal_name(name, name) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped''; END';
CREATE OPERATOR public.= (FUNCTION = public.equal_name, LEFTARG = name, RIGHTARG = name);
CREATE FUNCTION public.cat(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped''; END';
CREATE OPERATOR public.|| (FUNCTION = public.cat, LEFTARG = text, RIGHTARG = text);
CREATE TABLE public.pg_class (oid oid, relname name, relkind "char");
CREATE TABLE public.pg_attribute (attrelid oid);
CREATE TABLE public.pg_trigger (oid oid);
CREATE TABLE public.lease (token bigint);
CREATE TYPE public.fence AS (x int);
-- the same in the temporary schema, which comes first for tables and types
CREATE TEMP TABLE pg_class (oid oid, relname name, relkind "char");
CREATE TEMP TABLE pg_trigger (oid oid);
CREATE TEMP TABLE lease (token bigint, resource text);
CREATE TEMP TABLE deadline (resource text);
CREATE TEMP SEQUENCE token_seq;
CREATE TYPE pg_temp.regclass AS (x int);
CREATE TYPE pg_temp.bigint AS (x int);
SET search_path = public, pg_temp, pg_catalog, fencing;
SELECT fencing.protect('public.t', on_stale => 'error', resource => 'r');
SELECT fencing.protect('public.t', resource => '', remember_deleted => true);
INSERT INTO t VALUES (1, 'a', 100);
UPDATE t SET fence = 99;
SELECT granted, token FROM fencing.acquire('r');
SELECT fencing.renew('r', 1) IS NOT NULL;
BEGIN; SELECT fencing.hold('r', 1); COMMIT;
SELECT fencing.release('r', 1);
SELECT resource, state FROM fencing.leases;
SELECT rel::text, enabled FROM fencing.protected_tables ORDER BY 1;
SELECT fencing.issue_token();
SELECT fencing.new_epoch();
SELECT fencing.evict('r') IS NOT NULL;
SELECT fencing.forget('r');
DELETE FROM t WHERE fencing.present(100) OPERATOR(pg_catalog.=) 100;
SELECT fencing.prune_deleted('t', 100);
SELECT fencing.unprotect('t');
DROP TABLE t;
RESET search_path;
-- functions with rights of their own, or that run SQL, pin it, with pg_temp last
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE pronamespace = 'fencing'::regnamespace AND (prosecdef OR lanname <> 'c')
AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false);
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
GRANT USAGE ON SCHEMA public TO PUBLIC;
-- a schema of that name that somebody else made does not become ours
DROP EXTENSION fencing;
CREATE SCHEMA fencing;
CREATE EXTENSION fencing;
DROP SCHEMA fencing;
CREATE EXTENSION fencing;
CREATE EXTENSION fencing SCHEMA public;
DROP EXTENSION fencing;
CREATE EXTENSION fencing SCHEMA public;
CREATE EXTENSION fencing;
