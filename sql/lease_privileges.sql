\i sql/include/fresh.psql
SELECT fencing.issue_token();
-- renew() and release() are for the role that acquired, and its members
CREATE ROLE regress_fencing_a;
CREATE ROLE regress_fencing_b;
CREATE ROLE regress_fencing_member IN ROLE regress_fencing_a;
CREATE ROLE regress_fencing_noinherit NOINHERIT IN ROLE regress_fencing_a;
SET ROLE regress_fencing_a;
SELECT token AS t, granted FROM fencing.acquire('r', '1 h', 'worker') \gset
SELECT fencing.renew('r', :t) > now();
SET ROLE regress_fencing_member;
SELECT fencing.renew('r', :t) > now();
-- the same name under another role is another holder
SELECT granted FROM fencing.acquire('r', '1 h', 'worker');
SET ROLE regress_fencing_noinherit;
SELECT fencing.renew('r', :t) > now();
SET SESSION AUTHORIZATION regress_fencing_b;
SELECT fencing.renew('r', :t);
SELECT fencing.release('r', :t);
-- who may not tells nothing that is not so: an old token is just old
SELECT fencing.release('r', 1);
-- but hold() needs no particular role
CREATE TEMP TABLE mine (id int);
BEGIN; SELECT fencing.hold('r', :t) = :t AS held; INSERT INTO mine VALUES (1); COMMIT;
DROP TABLE mine;
RESET SESSION AUTHORIZATION;
SET ROLE regress_fencing_member;
SELECT fencing.release('r', :t);
RESET ROLE;
-- the session user being a member is enough
SET ROLE regress_fencing_a;
SELECT token AS s FROM fencing.acquire('s', '1 h') \gset
RESET ROLE;
SET SESSION AUTHORIZATION regress_fencing_member;
SET ROLE regress_fencing_member;
SELECT fencing.renew('s', :s) > now();
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_fencing_b;
SELECT fencing.renew('s', :s);
RESET SESSION AUTHORIZATION;
-- a SECURITY DEFINER function acquires for its owner; the caller may be a member
CREATE FUNCTION acquire_for() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT token FROM fencing.acquire(''d'', ''1 h'')';
ALTER FUNCTION acquire_for() OWNER TO regress_fencing_a;
SET ROLE regress_fencing_member;
SELECT acquire_for() AS t \gset
SELECT fencing.renew('d', :t) > now();
RESET ROLE;
-- superusers
SELECT fencing.renew('s', :s) > now();
-- nothing of it by an index of somebody else's, whose ANALYZE is ours
SELECT token AS own FROM fencing.acquire('own', '1 h') \gset
GRANT CREATE ON SCHEMA public TO regress_fencing_b;
SET ROLE regress_fencing_b;
CREATE TABLE trap (call text);
CREATE FUNCTION do_it(call text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE call;
	RETURN 1;
EXCEPTION WHEN insufficient_privilege THEN
	RAISE WARNING 'refused';
	RETURN 2;
END $$;
INSERT INTO trap SELECT format('SELECT fencing.%s', call) FROM unnest(ARRAY[
	format('release(''own'', %s)', :own), format('renew(''own'', %s)', :own), 'present(9)', format('hold(''own'', %s)', :own)]) call;
CREATE INDEX ON trap (do_it(call));
RESET ROLE;
BEGIN;
ANALYZE trap;
SELECT fencing.presented();
COMMIT;
SELECT state FROM fencing.leases WHERE resource = 'own';
DROP TABLE trap;
DROP FUNCTION do_it(text);
REVOKE CREATE ON SCHEMA public FROM regress_fencing_b;
-- kept by name: renamed and dropped, it is for administrators
ALTER ROLE regress_fencing_a RENAME TO regress_fencing_renamed;
SET SESSION AUTHORIZATION regress_fencing_renamed;
SELECT fencing.renew('d', :t);
SET SESSION AUTHORIZATION regress_fencing_member;
SELECT fencing.renew('d', :t);
RESET SESSION AUTHORIZATION;
SELECT fencing.renew('d', :t) > now();
ALTER FUNCTION acquire_for() OWNER TO CURRENT_USER;
DROP ROLE regress_fencing_renamed;
SET SESSION AUTHORIZATION regress_fencing_member;
SELECT fencing.release('d', :t);
RESET SESSION AUTHORIZATION;
SELECT fencing.release('d', :t);
-- somebody else of the same name, later
CREATE ROLE regress_fencing_a;
SET ROLE regress_fencing_a;
SELECT fencing.release('s', token) FROM fencing.leases WHERE resource = 's';
RESET ROLE;
-- whoever may use the schema sees who holds what
SET ROLE regress_fencing_b;
SELECT resource, state FROM fencing.leases ORDER BY resource;
RESET ROLE;
DROP ROLE regress_fencing_a, regress_fencing_b, regress_fencing_member, regress_fencing_noinherit;
