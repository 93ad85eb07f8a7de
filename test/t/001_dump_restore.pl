# A dump carries tokens, leases, fences, guards and their options; what is restored from it rejects
# stale writes and issues higher tokens. For a superuser, and for the plain owner of a database.

use strict;
use warnings;

use FencingTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = fencing_node('dump');
my $dump = "$PostgreSQL::Test::Utils::tmp_check/dump";

$node->safe_psql('postgres', q{
	CREATE ROLE owner LOGIN;
	CREATE DATABASE source OWNER owner;
});
$node->safe_psql('source', 'CREATE EXTENSION fencing');
$node->safe_psql('source', q{
	CREATE SCHEMA "My Schema";
	CREATE TABLE "My Schema"."Täble" (id int PRIMARY KEY, "Value" text);
	SELECT fencing.protect('"My Schema"."Täble"', fence_column => 'My "fence"', on_stale => 'skip');
	INSERT INTO "My Schema"."Täble" VALUES (1, 'a', 41);

	CREATE TABLE parted (id int PRIMARY KEY, value text) PARTITION BY RANGE (id);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
	SELECT fencing.protect('parted', require_present => true);
	BEGIN;
	SELECT fencing.present(42);
	INSERT INTO parted VALUES (1, 'a');
	COMMIT;

	CREATE TABLE plain (id int PRIMARY KEY, value text);
	SELECT fencing.protect('plain');
	INSERT INTO plain VALUES (1, 'a', 43), (2, 'never fenced', 0);
}, extra_params => [ '-U', 'owner' ]);

my $old = 0;
$old = acquire($node, 'source', 'job', "ttl => '1 h'", q{holder => 'w', data => '{"a": 1}'})
  for 1 .. 5;
acquire($node, 'source', 'gone');
$node->safe_psql('source', "SELECT fencing.release('gone', token) FROM fencing.leases WHERE resource = 'gone'");
$old = $node->safe_psql('source', 'SELECT max(token) FROM fencing.leases');

my %kept = (
	'the protected tables and their options' => 'SELECT * FROM fencing.protected_tables ORDER BY 1',
	'the fences' => q{
		SELECT 'Täble', * FROM "My Schema"."Täble" UNION ALL SELECT 'parted', * FROM parted
		 UNION ALL SELECT 'plain', * FROM plain ORDER BY 1, 2},
	'the leases' => 'SELECT resource, token, holder, data, granted_at, ttl, grants FROM fencing.leases ORDER BY 1',
	'the triggers' => q{
		SELECT tgrelid::regclass, tgname, pg_get_triggerdef(oid) FROM pg_trigger
		 WHERE NOT tgisinternal ORDER BY 1, 2},
	'the sequence' => 'SELECT last_value, is_called FROM fencing.token_seq',
	'the issuer' => 'SELECT * FROM fencing.issuer',
	'a release' => q{SELECT state FROM fencing.leases WHERE resource = 'gone'});
my %before = map { $_ => $node->safe_psql('source', $kept{$_}) } keys %kept;

sub restored_as_it_was
{
	my ($database, $how) = @_;

	is($node->safe_psql($database, $kept{$_}), $before{$_}, "$how: $_") for sort keys %kept;

	sqlstate_is($node, $database, "UPDATE plain SET value = 'b', fence = 42 WHERE id = 1", 'LF001',
		"$how: a stale write is rejected");
	sqlstate_is($node, $database, "UPDATE plain SET value = 'b' WHERE id = 1", 'LF002',
		"$how: a write without a token is rejected");
	sqlstate_is($node, $database, "UPDATE parted SET value = 'b', fence = 43", 'LF002',
		"$how: require_present is in force on a partition");
	sqlstate_is($node, $database, 'TRUNCATE plain', 'LF002', "$how: so is the guard against TRUNCATE");
	sqlstate_is($node, $database, 'TRUNCATE parted_1', 'LF002', "$how: also on a partition");
	is($node->safe_psql($database,
			q{WITH u AS (UPDATE "My Schema"."Täble" SET "My ""fence""" = 40 RETURNING 1) SELECT count(*) FROM u}),
		'0', "$how: on_stale = skip leaves the row out");
	sqlstate_is($node, $database, "UPDATE plain SET value = 'b', fence = 43 WHERE id = 1", '00000',
		"$how: the current token goes on writing");

	is(acquire($node, $database, 'job'), '', "$how: a lease that was held is still held");
	cmp_ok(acquire($node, $database, 'new'), '>', $old, "$how: the next token is higher than all before");
	is(acquire($node, $database, 'job', q{holder => 'w'}) > $old, 1, "$how: so is the next one of the same resource");
}

# A superuser: the whole database, in both formats that restore in another way.
$node->command_ok([ 'pg_dump', '-Fp', '-f', "$dump.sql", 'source' ], 'pg_dump as superuser, plain');
$node->safe_psql('postgres', 'CREATE DATABASE plain_copy');
$node->command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', "$dump.sql", 'plain_copy' ], 'psql restores it');
restored_as_it_was('plain_copy', 'plain dump');

$node->command_ok([ 'pg_dump', '-Fd', '-j2', '-f', "$dump.dir", 'source' ], 'pg_dump as superuser, directory');
$node->safe_psql('postgres', 'CREATE DATABASE parallel_copy');
# By section: pg_restore may create the triggers of a partitioned table before its partitions have their data.
$node->command_ok([ 'pg_restore', '-j2', "--section=$_", '--exit-on-error', '-d', 'parallel_copy', "$dump.dir" ],
	"pg_restore in parallel, $_") for 'pre-data', 'data', 'post-data';
restored_as_it_was('parallel_copy', 'parallel restore');

# The plain owner of the database, who is no superuser: the dump is hers; the extension, which only
# a superuser can create, is there already when she restores.
$node->command_ok([ 'pg_dump', '-U', 'owner', '-Fc', '-f', "$dump.owner", 'source' ],
	'pg_dump as the owner of the database');
$node->safe_psql('postgres', 'CREATE DATABASE owner_copy OWNER owner');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'owner_copy', "$dump.owner" ],
	'a superuser restores the dump of the owner');
restored_as_it_was('owner_copy', 'dump of the owner');

done_testing();
