/* fencing--1.0.sql: type, casts, tables, functions, views, privileges */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION fencing" to load this file. \quit

-- Not IF NOT EXISTS: a schema of that name that somebody else made, with who
-- knows what in it, must not become ours.
CREATE SCHEMA fencing;
COMMENT ON SCHEMA fencing IS 'fencing tokens checked where the write happens, and the leases that issue them';

------------------------------------------------------------------------------
-- The type
------------------------------------------------------------------------------

CREATE TYPE fencing.fence;

CREATE FUNCTION fencing.fence_in(cstring) RETURNS fencing.fence
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fencing.fence_out(fencing.fence) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fencing.fence_recv(internal) RETURNS fencing.fence
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fencing.fence_send(fencing.fence) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE fencing.fence (
	INPUT = fencing.fence_in,
	OUTPUT = fencing.fence_out,
	RECEIVE = fencing.fence_recv,
	SEND = fencing.fence_send,
	LIKE = pg_catalog.int8,
	CATEGORY = 'N'
);
COMMENT ON TYPE fencing.fence IS 'the highest token committed to a row: 0 (never fenced) to 9223372036854775807; text in decimal or in hexadecimal after 0x';

CREATE FUNCTION fencing.fence(smallint) RETURNS fencing.fence
	AS 'MODULE_PATHNAME', 'fence_from_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fencing.fence(integer) RETURNS fencing.fence
	AS 'MODULE_PATHNAME', 'fence_from_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fencing.fence(bigint) RETURNS fencing.fence
	AS 'MODULE_PATHNAME', 'fence_from_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fencing.fence(numeric) RETURNS fencing.fence
	AS 'MODULE_PATHNAME', 'fence_from_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION fencing.fence(smallint) IS 'fence from smallint; 22003 if negative';
COMMENT ON FUNCTION fencing.fence(integer) IS 'fence from integer; 22003 if negative';
COMMENT ON FUNCTION fencing.fence(bigint) IS 'fence from bigint; 22003 if negative';
COMMENT ON FUNCTION fencing.fence(numeric) IS 'fence from numeric; 22003 if negative, fractional or too large';

-- One implicit way out, to the type whose operators it borrows.
CREATE CAST (fencing.fence AS bigint) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (smallint AS fencing.fence) WITH FUNCTION fencing.fence(smallint) AS ASSIGNMENT;
CREATE CAST (integer AS fencing.fence) WITH FUNCTION fencing.fence(integer) AS ASSIGNMENT;
CREATE CAST (bigint AS fencing.fence) WITH FUNCTION fencing.fence(bigint) AS ASSIGNMENT;
CREATE CAST (numeric AS fencing.fence) WITH FUNCTION fencing.fence(numeric) AS ASSIGNMENT;

------------------------------------------------------------------------------
-- Tables: closed to PUBLIC, read and written by the functions in C alone
------------------------------------------------------------------------------

-- One row a resource.  The fixed-width columns come first: some are written in
-- place (src/record.h has the same order).
CREATE TABLE fencing.lease (
	token bigint NOT NULL,
	ttl bigint NOT NULL,
	granted_at timestamptz NOT NULL,
	grants bigint NOT NULL,
	ended_at timestamptz NOT NULL,
	ended bigint NOT NULL,
	deadline tid NOT NULL,
	released boolean NOT NULL,
	named boolean NOT NULL,
	resource text COLLATE "C" NOT NULL,
	role text COLLATE "C" NOT NULL,
	holder text COLLATE "C" NOT NULL,
	data jsonb,
	CONSTRAINT lease_pkey PRIMARY KEY (resource)
) USING heap WITH (fillfactor = 70);
-- What is written in place cannot be decoded: with this, REPACK (CONCURRENTLY), which would
-- lose it, refuses the table.
ALTER TABLE fencing.lease REPLICA IDENTITY FULL;
COMMENT ON TABLE fencing.lease IS 'lease records; read them through fencing.leases';

-- One row a resource, written in place (src/deadline.c); empty after a crash.
CREATE UNLOGGED TABLE fencing.deadline (
	token_1 bigint NOT NULL,
	at_1 timestamptz NOT NULL,
	renewed_1 timestamptz NOT NULL,
	ttl_1 bigint NOT NULL,
	token_2 bigint NOT NULL,
	at_2 timestamptz NOT NULL,
	renewed_2 timestamptz NOT NULL,
	ttl_2 bigint NOT NULL,
	current bigint NOT NULL,
	owner bigint NOT NULL,
	closed_1 boolean NOT NULL,
	closed_2 boolean NOT NULL,
	resource text COLLATE "C" NOT NULL
) USING heap;
-- Cheaper than a btree among very many, and more so where its pages are not full: the
-- search in a page meets fewer cache lines.  The writer's lock of a resource keeps it unique.
CREATE INDEX deadline_resource ON fencing.deadline USING hash (resource) WITH (fillfactor = 30);
COMMENT ON TABLE fencing.deadline IS 'deadlines of leases; read them through fencing.leases';

-- Who draws tokens, and in which epoch (src/token.c); written by the first draw.
CREATE TABLE fencing.issuer (
	system bigint NOT NULL,
	timeline bigint NOT NULL,
	epoch bigint NOT NULL,
	floor bigint NOT NULL,
	logged pg_lsn NOT NULL,
	ahead bigint NOT NULL,
	database oid NOT NULL,
	sequence oid NOT NULL
) USING heap;
COMMENT ON TABLE fencing.issuer IS 'who issues tokens: server, timeline and epoch; no token at or below floor is issued';

-- The fences of deleted rows of tables with remember_deleted (src/deleted.c).
-- regclass, so that a dump carries the name of the table.
CREATE TABLE fencing.deleted (
	digest bigint NOT NULL,
	fence bigint NOT NULL,
	rel regclass NOT NULL,
	CONSTRAINT deleted_pkey PRIMARY KEY (rel, digest)
) USING heap;
-- REPACK (CONCURRENTLY) would hide it from a dump whose snapshot is older: with this it refuses.
ALTER TABLE fencing.deleted REPLICA IDENTITY FULL;
COMMENT ON TABLE fencing.deleted IS 'fences of deleted rows: table, digest of the primary key (0: a floor that TRUNCATE left), and fence';

CREATE SEQUENCE fencing.token_seq AS bigint CACHE 1 NO CYCLE;
COMMENT ON SEQUENCE fencing.token_seq IS 'lower 40 bits of the tokens; drawn from by fencing.acquire() and fencing.issue_token()';

REVOKE ALL ON fencing.lease, fencing.deadline, fencing.issuer, fencing.deleted, fencing.token_seq FROM PUBLIC;

-- A dump carries them, and the owner of a database can make one.
SELECT pg_catalog.pg_extension_config_dump('fencing.lease', '');
SELECT pg_catalog.pg_extension_config_dump('fencing.issuer', '');
SELECT pg_catalog.pg_extension_config_dump('fencing.deleted', '');
SELECT pg_catalog.pg_extension_config_dump('fencing.token_seq', '');
GRANT SELECT ON fencing.lease, fencing.issuer, fencing.deleted, fencing.token_seq TO pg_database_owner;

------------------------------------------------------------------------------
-- Protecting a table
------------------------------------------------------------------------------

CREATE FUNCTION fencing.guard() RETURNS trigger
	AS 'MODULE_PATHNAME', 'fencing_guard' LANGUAGE C;
COMMENT ON FUNCTION fencing.guard() IS 'trigger function of protected tables: rejects writes whose token is below the row''s fence (LF001 to LF005)';

CREATE FUNCTION fencing.guard_options(rel regclass, trigger oid,
		OUT on_stale text, OUT resource text, OUT resource_column name,
		OUT remember_deleted boolean, OUT require_present boolean)
	AS 'MODULE_PATHNAME', 'fencing_guard_options' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION fencing.guard_options(regclass, oid) IS 'options in the arguments of a guard''s trigger';

-- The tables whose rows a write through rel can reach, each with the triggers
-- that it needs of its own.  The server clones row triggers to partitions, but
-- not the TRUNCATE trigger, and neither to inheritance children.  A partition, or
-- a child, with a guard of its own, unlike that of rel, keeps it, and what is below it;
-- so does a child that another guarded table has for a child too.
CREATE FUNCTION fencing.guarded_with(rel regclass,
		OUT member regclass, OUT needs_guard boolean, OUT needs_truncate boolean)
	RETURNS SETOF record LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE guards AS (
		SELECT t.tgrelid, t.tgargs FROM pg_trigger t
		WHERE t.tgfoid = 'fencing.guard()'::regprocedure AND t.tgparentid = 0 AND t.tgtype & 31 = 31
	), below (oid) AS (
		SELECT rel::oid
		UNION
		SELECT i.inhrelid FROM pg_inherits i JOIN below b ON i.inhparent = b.oid
	), members (oid) AS (
		SELECT rel::oid
		UNION
		SELECT i.inhrelid FROM pg_inherits i JOIN members m ON i.inhparent = m.oid
			JOIN pg_class c ON c.oid = i.inhrelid
		WHERE NOT EXISTS (SELECT FROM guards g WHERE g.tgrelid = i.inhrelid
			AND (c.relispartition
				OR NOT EXISTS (SELECT FROM guards own WHERE own.tgrelid = rel AND own.tgargs = g.tgargs)
				OR EXISTS (SELECT FROM pg_inherits other JOIN guards o ON o.tgrelid = other.inhparent
					WHERE other.inhrelid = i.inhrelid AND other.inhparent NOT IN (SELECT b.oid FROM below b))))
	)
	SELECT c.oid::regclass,
		NOT c.relispartition OR c.oid = rel,
		c.relkind = 'r'
	FROM members m JOIN pg_class c ON c.oid = m.oid
	WHERE c.relkind IN ('r', 'p')
	ORDER BY c.oid <> rel, c.oid
$$;
COMMENT ON FUNCTION fencing.guarded_with(regclass) IS 'a table, its partitions and its inheritance children, with the guard''s triggers that each needs';

-- Locks a table of the caller's; ownership comes first, or the lock would let
-- anyone block others.
CREATE FUNCTION fencing.lock_owned(rel regclass) RETURNS pg_class
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	class pg_class;
BEGIN
	IF rel IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'table must not be null';
	END IF;
	SELECT * INTO class FROM pg_class c WHERE c.oid = rel;
	IF NOT FOUND THEN
		RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', rel::oid);
	ELSIF NOT pg_has_role(class.relowner, 'USAGE') THEN
		RAISE insufficient_privilege USING
			MESSAGE = format('must be owner of table %s', class.relname);
	ELSIF class.relkind NOT IN ('r', 'p') THEN
		RAISE wrong_object_type USING
			MESSAGE = format('"%s" is not a table', class.relname),
			DETAIL = 'Only ordinary and partitioned tables can be protected.',
			HINT = 'Protect the tables behind a view; a foreign table is protected on its own server.';
	END IF;
	EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', rel);
	SELECT * INTO STRICT class FROM pg_class c WHERE c.oid = rel;
	RETURN class;
END
$$;
COMMENT ON FUNCTION fencing.lock_owned(regclass) IS 'locks a table of the caller''s exclusively; 42501 if it is another''s';

-- A partition of a guarded table still needs the trigger for TRUNCATE.
CREATE FUNCTION fencing.drop_guard(rel regclass, keep_truncate boolean DEFAULT false) RETURNS void
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	found record;
BEGIN
	FOR found IN
		SELECT t.tgname, g.member FROM fencing.guarded_with(rel) g
			JOIN pg_trigger t ON t.tgrelid = g.member
		WHERE t.tgfoid = 'fencing.guard()'::regprocedure AND t.tgparentid = 0
		AND NOT (keep_truncate AND t.tgtype & 32 = 32)
	LOOP
		EXECUTE format('DROP TRIGGER %I ON %s', found.tgname, found.member);
	END LOOP;
END
$$;
COMMENT ON FUNCTION fencing.drop_guard(regclass, boolean) IS 'drops the guard''s triggers of a table, its partitions and its inheritance children, but for those of TRUNCATE if they are kept';

CREATE FUNCTION fencing.check_guard(rel regclass, trigger oid) RETURNS void
	AS 'MODULE_PATHNAME', 'fencing_check_guard' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION fencing.check_guard(regclass, oid) IS 'raises what a guard''s trigger would raise at the first write: that the table is not as its options need it';

CREATE FUNCTION fencing.protect(rel regclass,
		fence_column name DEFAULT NULL,
		on_stale text DEFAULT NULL,
		resource text DEFAULT NULL,
		resource_column name DEFAULT NULL,
		remember_deleted boolean DEFAULT NULL,
		require_present boolean DEFAULT NULL) RETURNS regclass
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $protect$
DECLARE
	class pg_class;
	fences name[];
	other record;
	rekeyed text;
	old record;
	args text;
	target record;
	suffix name;
BEGIN
	class := fencing.lock_owned(protect.rel);

	IF class.relpersistence = 't' THEN
		RAISE wrong_object_type USING
			MESSAGE = format('"%s" is a temporary table', class.relname),
			DETAIL = 'One session alone can see it, so that there is nobody to fence.';
	ELSIF class.relnamespace = 'fencing'::regnamespace THEN
		RAISE wrong_object_type USING
			MESSAGE = format('"%s" belongs to the extension fencing', class.relname);
	END IF;

	fences := ARRAY(SELECT a.attname FROM pg_attribute a
		WHERE a.attrelid = protect.rel AND NOT a.attisdropped
		AND a.atttypid = 'fencing.fence'::regtype ORDER BY a.attnum);
	IF cardinality(fences) > 1 THEN
		RAISE object_not_in_prerequisite_state USING
			MESSAGE = format('table "%s" has more than one column of type fencing.fence', class.relname),
			DETAIL = format('Columns "%s" and "%s" are of that type, and only one can be the fence.', fences[1], fences[2]),
			HINT = 'Change the type of the other to bigint.',
			SCHEMA = (SELECT n.nspname FROM pg_namespace n WHERE n.oid = class.relnamespace), TABLE = class.relname;
	ELSIF cardinality(fences) = 1 AND fences[1] <> protect.fence_column THEN
		RAISE duplicate_column USING
			MESSAGE = format('the fence column of table "%s" is "%s"', class.relname, fences[1]),
			HINT = format('Rename it: ALTER TABLE %s RENAME COLUMN %I TO %I', protect.rel, fences[1], protect.fence_column),
			SCHEMA = (SELECT n.nspname FROM pg_namespace n WHERE n.oid = class.relnamespace), TABLE = class.relname, COLUMN = fences[1];
	ELSIF cardinality(fences) = 0 THEN
		fences := ARRAY[coalesce(nullif(protect.fence_column, ''), 'fence')];
		SELECT a.atttypid::regtype AS type, a.attidentity, a.attgenerated, t.typcategory INTO other
			FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
			WHERE a.attrelid = protect.rel AND a.attname = fences[1] AND a.attnum > 0 AND NOT a.attisdropped;
		IF FOUND THEN
			RAISE datatype_mismatch USING
				MESSAGE = format('column "%s" of table "%s" has type %s', fences[1], class.relname, other.type),
				DETAIL = 'The fence column must have type fencing.fence.',
				HINT = CASE WHEN other.typcategory IN ('N', 'S') AND other.attgenerated <> 'v' THEN
					CASE WHEN other.attidentity <> '' THEN format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY; ', protect.rel, fences[1])
						WHEN other.attgenerated <> '' THEN format('ALTER TABLE %s ALTER COLUMN %I DROP EXPRESSION; ', protect.rel, fences[1])
						ELSE '' END ||
					format('ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT, ALTER COLUMN %2$I TYPE fencing.fence USING coalesce(%2$I::bigint, 0)::fencing.fence, ALTER COLUMN %2$I SET DEFAULT 0, ALTER COLUMN %2$I SET NOT NULL',
						   protect.rel, fences[1])
					ELSE 'Give the fence column another name: SELECT fencing.protect(..., fence_column => ''name'').' END,
				SCHEMA = (SELECT n.nspname FROM pg_namespace n WHERE n.oid = class.relnamespace), TABLE = class.relname, COLUMN = fences[1];
		END IF;
		-- The default is a constant, so that no row is touched.
		EXECUTE format('ALTER TABLE %s ADD COLUMN %I fencing.fence NOT NULL DEFAULT %L',
					   protect.rel, fences[1], 0);
	ELSIF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = protect.rel
				  AND a.attname = fences[1] AND a.attgenerated <> '') THEN
		RAISE wrong_object_type USING
			MESSAGE = format('column "%s" of table "%s" is generated', fences[1], class.relname),
			DETAIL = 'The guard writes the fence, so that it cannot be computed from other columns.';
	END IF;

	-- What is not given stays as it is; '' takes a binding off.
	SELECT t.tgparentid, t.tgenabled, o.* INTO old
		FROM pg_trigger t, fencing.guard_options(protect.rel, t.oid) o
		WHERE t.tgrelid = protect.rel AND t.tgfoid = 'fencing.guard()'::regprocedure
		AND t.tgtype & 3 = 3
		ORDER BY t.tgparentid LIMIT 1;
	IF old.tgparentid <> 0 THEN
		RAISE wrong_object_type USING
			MESSAGE = format('table "%s" is protected as a partition', class.relname),
			HINT = format('Change the options of %s, of which it is a part.',
						  (SELECT i.inhparent::regclass FROM pg_inherits i WHERE i.inhrelid = protect.rel));
	END IF;
	on_stale := coalesce(protect.on_stale, old.on_stale, 'error');
	resource := nullif(coalesce(protect.resource, old.resource), '');
	resource_column := nullif(coalesce(protect.resource_column, old.resource_column), '');
	remember_deleted := coalesce(protect.remember_deleted, old.remember_deleted, false);
	require_present := coalesce(protect.require_present, old.require_present, false);

	IF protect.on_stale NOT IN ('error', 'skip', 'warn') THEN
		RAISE invalid_parameter_value USING
			MESSAGE = format('on_stale is "%s"', protect.on_stale),
			DETAIL = 'It must be error, skip or warn.';
	ELSIF octet_length(protect.resource) > 512 THEN
		RAISE invalid_parameter_value USING
			MESSAGE = format('resource name has %s bytes', octet_length(protect.resource)),
			DETAIL = 'It must have 1 to 512 bytes.';
	END IF;

	IF protect.remember_deleted AND NOT EXISTS (
			SELECT FROM pg_index i WHERE i.indrelid = protect.rel AND i.indisprimary AND i.indimmediate) THEN
		RAISE object_not_in_prerequisite_state USING
			MESSAGE = format('table "%s" has no primary key', class.relname),
			DETAIL = 'The fence of a deleted row is kept under its primary key, which must not be deferrable.',
			HINT = 'Add a primary key first.';
	END IF;

	SELECT string_agg(quote_literal(option.name || '=' || option.value), ', ') INTO args
		FROM (VALUES ('on_stale', protect.on_stale),
					 ('resource', protect.resource),
					 ('resource_column', protect.resource_column::text),
					 ('remember_deleted', nullif(protect.remember_deleted, false)::text),
					 ('require_present', nullif(protect.require_present, false)::text)) option (name, value)
		WHERE option.value IS NOT NULL;
	PERFORM fencing.drop_guard(protect.rel);
	FOR target IN SELECT * FROM fencing.guarded_with(protect.rel) LOOP
		-- Triggers fire in the order of their names: these sort last.  Those of a
		-- partitioned table are named for it, so that a table with its own can be attached.
		SELECT CASE c.relkind WHEN 'p' THEN '_' || c.relname ELSE '' END INTO STRICT suffix
			FROM pg_class c WHERE c.oid = target.member;
		IF target.needs_guard THEN
			EXECUTE format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION fencing.guard(%s)',
						   ('~~fencing_guard' || suffix)::name, target.member, args);
		END IF;
		-- After the row, since a DELETE may commit while an INSERT waits for its key.
		IF target.needs_guard AND protect.remember_deleted THEN
			EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s FOR EACH ROW EXECUTE FUNCTION fencing.guard(%s)',
						   ('~~fencing_inserted' || suffix)::name, target.member, args);
			-- By bytes: a type may have no equality that is found in pg_catalog, and text changes with settings.
			SELECT format('record_image_ne(ROW(%s), ROW(%s))', string_agg(format('OLD.%I', a.attname), ', '),
						  string_agg(format('NEW.%I', a.attname), ', ')) INTO rekeyed
				FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
				WHERE i.indrelid = target.member AND i.indisprimary;
			EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION fencing.guard(%s)',
						   ('~~fencing_rekeyed' || suffix)::name, target.member, rekeyed, args);
		END IF;
		IF target.needs_truncate THEN
			EXECUTE format('CREATE TRIGGER "~~fencing_truncate" BEFORE TRUNCATE ON %s EXECUTE FUNCTION fencing.guard(%s)',
						   target.member, args);
		END IF;
	END LOOP;
	-- ENABLE ALWAYS, and REPLICA, are not for the guard of rows alone.
	IF old.tgenabled IN ('A', 'R') THEN
		FOR target IN SELECT g.member, t.tgname FROM fencing.guarded_with(protect.rel) g
				JOIN pg_trigger t ON t.tgrelid = g.member
			WHERE t.tgfoid = 'fencing.guard()'::regprocedure AND t.tgparentid = 0 LOOP
			EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', target.member,
						   CASE old.tgenabled WHEN 'A' THEN 'ALWAYS' ELSE 'REPLICA' END, target.tgname);
		END LOOP;
	END IF;
	PERFORM fencing.check_guard(g.member, t.oid)
		FROM fencing.guarded_with(protect.rel) g JOIN pg_trigger t ON t.tgrelid = g.member
		WHERE t.tgfoid = 'fencing.guard()'::regprocedure;
	RETURN protect.rel;
END
$protect$;
COMMENT ON FUNCTION fencing.protect(regclass, name, text, text, name, boolean, boolean) IS 'adds a fence column where it is missing, without a rewrite, and installs the guard; called again, changes the options given (NULL keeps, '''' takes a binding off); owner only; locks the table exclusively, briefly';

CREATE FUNCTION fencing.unprotect(rel regclass) RETURNS void
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	class pg_class;
	of_parent boolean;
	of_its_own boolean;
BEGIN
	class := fencing.lock_owned(rel);
	SELECT bool_or(t.tgparentid <> 0), bool_or(t.tgparentid = 0) INTO of_parent, of_its_own FROM pg_trigger t
		WHERE t.tgrelid = rel AND t.tgfoid = 'fencing.guard()'::regprocedure AND t.tgtype & 3 = 3;
	IF of_parent AND NOT of_its_own THEN
		RAISE wrong_object_type USING
			MESSAGE = format('table "%s" is protected as a partition', class.relname),
			HINT = format('Unprotect %s, of which it is a part.',
						  (SELECT i.inhparent::regclass FROM pg_inherits i WHERE i.inhrelid = rel));
	END IF;
	PERFORM fencing.drop_guard(rel, coalesce(of_parent, false));
END
$$;
COMMENT ON FUNCTION fencing.unprotect(regclass) IS 'takes the guard off a table; the fence column and its values stay; owner only';

CREATE FUNCTION fencing.prune_deleted(rel regclass, up_to bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_prune_deleted' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.prune_deleted(regclass, bigint) IS 'forgets the deleted rows of a table whose fence is up_to or lower; returns how many; owner only';

-- The memory of a table goes with it.
CREATE FUNCTION fencing.forget_dropped() RETURNS event_trigger
	LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off
AS $$
BEGIN
	-- By the index: this is a part of every DROP TABLE.
	DELETE FROM fencing.deleted d WHERE d.rel = ANY (ARRAY(
		SELECT o.objid FROM pg_event_trigger_dropped_objects() o
			WHERE o.classid = 'pg_class'::regclass AND o.objsubid = 0));
END
$$;
COMMENT ON FUNCTION fencing.forget_dropped() IS 'event trigger function: drops the memory of deleted rows with its table';
-- For every command: a table goes with anything that its partition key needs.
CREATE EVENT TRIGGER fencing_forget_dropped ON sql_drop
	EXECUTE FUNCTION fencing.forget_dropped();
COMMENT ON EVENT TRIGGER fencing_forget_dropped IS 'drops the memory of deleted rows with its table';

CREATE VIEW fencing.protected_tables AS
	SELECT c.oid::pg_catalog.regclass AS rel,
		a.attname AS fence_column,
		o.on_stale, o.resource, o.resource_column, o.remember_deleted, o.require_present,
		coalesce(g.guards AND (NOT o.remember_deleted OR more.remembers), false) AS enabled,
		CASE WHEN c.relkind <> 'p' THEN coalesce(more.truncates, false) END AS truncate_enabled
	FROM pg_catalog.pg_class c
		LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
			AND a.atttypid = 'fencing.fence'::pg_catalog.regtype AND NOT a.attisdropped
		LEFT JOIN LATERAL (
			-- A table that was attached with a guard of its own has two.
			-- One made by hand may be for some events or columns alone.
			SELECT t.tgrelid, t.oid, t.tgenabled IN ('O', 'A') AND t.tgtype & 28 = 28
				AND t.tgattr = '' AND t.tgqual IS NULL AS guards
			FROM pg_catalog.pg_trigger t
			WHERE t.tgrelid = c.oid
			AND t.tgfoid = 'fencing.guard()'::pg_catalog.regprocedure AND t.tgtype & 3 = 3
			ORDER BY guards DESC, t.tgparentid DESC LIMIT 1) g ON true
		LEFT JOIN LATERAL fencing.guard_options(g.tgrelid, g.oid) o ON true
		CROSS JOIN LATERAL (
			-- What is remembered is looked at after each INSERT, and each UPDATE of a key.
			SELECT pg_catalog.bool_or(t.tgtype & 32 = 32 AND t.tgqual IS NULL) AS truncates,
				pg_catalog.bool_or(t.tgtype & 7 = 5 AND t.tgqual IS NULL)
				AND pg_catalog.bool_or(t.tgtype & 19 = 17) AS remembers
			FROM pg_catalog.pg_trigger t
			WHERE t.tgrelid = c.oid AND t.tgfoid = 'fencing.guard()'::pg_catalog.regprocedure
			AND t.tgenabled IN ('O', 'A') AND t.tgattr = '') more
	WHERE c.relkind IN ('r', 'p', 'f') AND (a.attnum IS NOT NULL OR g.oid IS NOT NULL);
COMMENT ON VIEW fencing.protected_tables IS 'every fence column and every guard: options (NULL: no guard), whether the guard is enabled, and whether TRUNCATE is guarded';
COMMENT ON COLUMN fencing.protected_tables.rel IS 'the table, partitioned table, partition or foreign table';
COMMENT ON COLUMN fencing.protected_tables.fence_column IS 'its column of type fencing.fence; NULL: dropped, and every write is refused';
COMMENT ON COLUMN fencing.protected_tables.on_stale IS 'error, skip or warn; NULL: no guard';
COMMENT ON COLUMN fencing.protected_tables.resource IS 'the resource that all rows belong to, or what precedes the resource_column''s value';
COMMENT ON COLUMN fencing.protected_tables.resource_column IS 'the column that names a row''s resource';
COMMENT ON COLUMN fencing.protected_tables.remember_deleted IS 'whether a deleted row''s fence binds a row inserted later under its key';
COMMENT ON COLUMN fencing.protected_tables.require_present IS 'whether only present() and hold() carry a token';
COMMENT ON COLUMN fencing.protected_tables.enabled IS 'false: writes to the table are not checked, or not all of them';
COMMENT ON COLUMN fencing.protected_tables.truncate_enabled IS 'false: TRUNCATE is not checked, as on a partition added after protect() (call it again); NULL: a partitioned table, whose partitions are checked';

------------------------------------------------------------------------------
-- Presenting a token
------------------------------------------------------------------------------

CREATE FUNCTION fencing.present(token bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_present' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.present(bigint) IS 'carries the token for all that this transaction writes from here on; returns it; rolled back with its savepoint; 22004 for NULL';

CREATE FUNCTION fencing.presented() RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_presented' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.presented() IS 'the token presented in this transaction, or NULL';

CREATE FUNCTION fencing.hold(resource text, token bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_hold' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.hold(text, bigint) IS 'presents the token and ties this transaction to the lease: it commits only if the token is still the resource''s current grant by then; LF004 otherwise, also from COMMIT';

------------------------------------------------------------------------------
-- Leases
------------------------------------------------------------------------------

-- A type of its own: the executor is quicker with it than with OUT parameters.
CREATE TYPE fencing.answer AS (
	granted boolean,
	token bigint,
	resource text,
	holder text,
	expires_at timestamptz,
	valid_for interval,
	renew_every interval,
	data jsonb
);
COMMENT ON TYPE fencing.answer IS 'what acquire() returns';

CREATE FUNCTION fencing.acquire(resource text, ttl interval DEFAULT '30 s',
		holder text DEFAULT NULL, wait interval DEFAULT NULL, data jsonb DEFAULT NULL) RETURNS fencing.answer
	AS 'MODULE_PATHNAME', 'fencing_acquire' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.acquire(text, interval, text, interval, jsonb) IS 'grants the lease of a resource if it is free, with a token higher than any before; waits in line up to "wait" for it; one row, with token NULL and the present holder''s data where it is refused; call it in FROM';

CREATE FUNCTION fencing.renew(resource text, token bigint, ttl interval DEFAULT NULL) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'fencing_renew' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.renew(text, bigint, interval) IS 'moves the deadline of a lease to ttl from now (NULL: the ttl recorded) and returns it; LF004 if the token no longer holds it; not undone by a rollback';

CREATE FUNCTION fencing.release(resource text, token bigint) RETURNS boolean
	AS 'MODULE_PATHNAME', 'fencing_release' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.release(text, bigint) IS 'gives a lease back at commit: true, or false if it was no longer that token''s to release; safe to repeat';

CREATE FUNCTION fencing.issue_token() RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_issue_token' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.issue_token() IS 'a token for a grant table of your own, higher than any issued before; draw it in the transaction that records the grant, after locking its row';

CREATE FUNCTION fencing.safe_window(ttl interval, drift_ppm integer DEFAULT 1000, rtt interval DEFAULT '0') RETURNS interval
	AS 'MODULE_PATHNAME', 'fencing_safe_window' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fencing.safe_window(interval, integer, interval) IS 'ttl x (1 - drift) - rtt: how long a client may act on its own monotonic clock; never below 0; drift in parts per million';

CREATE FUNCTION fencing.heartbeat_interval(ttl interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'fencing_heartbeat_interval' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fencing.heartbeat_interval(interval) IS 'ttl / 3: how often to renew';

CREATE FUNCTION fencing.lease_deadline(resource text, token bigint, ttl bigint, place tid,
		OUT expires_at timestamptz, OUT renewed_at timestamptz, OUT passed boolean, OUT released boolean)
	AS 'MODULE_PATHNAME', 'fencing_lease_deadline' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.lease_deadline(text, bigint, bigint, tid) IS 'deadline of a lease, for fencing.leases; NULL on a standby';

CREATE VIEW fencing.leases AS
	SELECT l.resource, l.token, l.holder, l.data, l.granted_at, d.renewed_at, d.expires_at,
		pg_catalog.make_interval(secs => l.ttl / 1000000.0) AS ttl,
		l.grants,
		CASE WHEN l.released OR d.released THEN 'released'
			WHEN d.passed IS NULL THEN 'unknown'
			WHEN d.passed THEN 'expired'
			ELSE 'held' END AS state
	FROM fencing.lease l, LATERAL fencing.lease_deadline(l.resource, l.token, l.ttl, l.deadline) d;
COMMENT ON VIEW fencing.leases IS 'every resource with its last grant; state is held, expired, released, or unknown on a standby';
COMMENT ON COLUMN fencing.leases.resource IS 'what the lease is for';
COMMENT ON COLUMN fencing.leases.token IS 'of the last grant, or nobody''s after evict()';
COMMENT ON COLUMN fencing.leases.holder IS 'who was granted it: the name given, or role, host, application and backend';
COMMENT ON COLUMN fencing.leases.data IS 'what the holder gave to acquire()';
COMMENT ON COLUMN fencing.leases.granted_at IS 'when the token was granted';
COMMENT ON COLUMN fencing.leases.renewed_at IS 'when the lease was granted or renewed last; NULL from a crash to the next renewal';
COMMENT ON COLUMN fencing.leases.expires_at IS 'the deadline, by the server''s clock; NULL on a standby';
COMMENT ON COLUMN fencing.leases.ttl IS 'the longest promised, which counts anew after a crash';
COMMENT ON COLUMN fencing.leases.grants IS 'how many so far';
COMMENT ON COLUMN fencing.leases.state IS 'held, expired, released, or unknown on a standby';

-- Administrators

CREATE FUNCTION fencing.evict(resource text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_evict' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.evict(text) IS 'ends the current grant of a resource now: terminates sessions whose open transaction holds or is granting it, then raises its token; the token returned is nobody''s, NULL if the resource has no record; not undone by ROLLBACK';

CREATE FUNCTION fencing.forget(resource text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'fencing_forget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION fencing.forget(text) IS 'drops the record of a resource that nobody holds; false if it is held or has none; later tokens are higher all the same';

CREATE FUNCTION fencing.new_epoch(above bigint DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'fencing_new_epoch' LANGUAGE C VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION fencing.new_epoch(bigint) IS 'all later tokens are higher than any this database knows of, and than "above"; returns the epoch; not undone by ROLLBACK';

------------------------------------------------------------------------------
-- Privileges: whoever has USAGE on the schema may lease
------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA fencing TO PUBLIC;
GRANT SELECT ON fencing.leases, fencing.protected_tables TO PUBLIC;
REVOKE ALL ON FUNCTION fencing.evict(text), fencing.forget(text), fencing.new_epoch(bigint) FROM PUBLIC;
