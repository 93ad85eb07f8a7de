\i sql/include/fresh.psql
-- All operators come from bigint and pg_catalog, so that no search_path matters.
CREATE TABLE public.t (id int PRIMARY KEY, f fencing.fence NOT NULL);
INSERT INTO public.t VALUES (1, 3), (2, 1), (3, 2);
SET search_path = '';
SELECT f FROM public.t WHERE f <= 2 ORDER BY f;
SELECT f, pg_catalog.count(*) FROM public.t GROUP BY f ORDER BY f DESC;
SELECT pg_catalog.max(f), pg_catalog.min(f) FROM public.t WHERE f = ANY ('{1,2}');
SELECT DISTINCT f FROM public.t WHERE f IN (1, 2) ORDER BY 1;
SELECT fencing.protect('public.t');
UPDATE public.t SET f = 5 WHERE f = 3 AND id = 1;
UPDATE public.t SET f = 4 WHERE f = 5 AND id = 1;
-- operators of somebody else, first on the path
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.yes(fencing.fence, fencing.fence) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''hostile operator''; END';
CREATE FUNCTION hostile.yes(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''hostile operator''; END';
CREATE OPERATOR hostile.<= (FUNCTION = hostile.yes, LEFTARG = fencing.fence, RIGHTARG = fencing.fence);
CREATE OPERATOR hostile.<= (FUNCTION = hostile.yes, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR hostile.< (FUNCTION = hostile.yes, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR hostile.>= (FUNCTION = hostile.yes, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR hostile.= (FUNCTION = hostile.yes, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR hostile.= (FUNCTION = hostile.yes, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR hostile.= (FUNCTION = hostile.yes, LEFTARG = fencing.fence, RIGHTARG = fencing.fence);
CREATE FUNCTION hostile.yes(text, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''hostile operator''; END';
CREATE OPERATOR hostile.= (FUNCTION = hostile.yes, LEFTARG = text, RIGHTARG = text);
SET search_path = hostile, pg_catalog, public;
-- what a user writes is the user's, what the guard does is not
SELECT f FROM t ORDER BY f;
SELECT f, count(*) FROM t GROUP BY f ORDER BY f;
UPDATE t SET f = 4 WHERE id OPERATOR(pg_catalog.=) 1;
UPDATE t SET f = 6 WHERE id OPERATOR(pg_catalog.=) 1 RETURNING f;
SELECT granted, token FROM fencing.acquire('a');
SELECT fencing.release('a', 1);
SELECT resource, state FROM fencing.leases;
SELECT rel, enabled, truncate_enabled FROM fencing.protected_tables;
SELECT fencing.protect('t', on_stale => 'skip');
UPDATE t SET f = 5 WHERE id OPERATOR(pg_catalog.=) 1;
SELECT fencing.unprotect('t');
