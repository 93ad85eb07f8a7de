# Logical replication: rows and fences are replicated, leases and the sequence are not. So after a
# switch-over the new server would issue tokens from the start, until new_epoch(above). The guard is
# silent while changes are applied; ENABLE ALWAYS makes it check them too.

use strict;
use warnings;

use FencingCluster;
use FencingTest;
use Test::More;

my $old = primary('old', { allows_streaming => 'logical' });
my $new = primary('new', { allows_streaming => 'logical' });

my $tables = q{
	CREATE TABLE silent (id int PRIMARY KEY, value text);
	CREATE TABLE always (id int PRIMARY KEY, value text);
	SELECT fencing.protect('silent'), fencing.protect('always');
};
$_->safe_psql('postgres', $tables) for $old, $new;
$new->safe_psql('postgres', 'ALTER TABLE always ENABLE ALWAYS TRIGGER "~~fencing_guard"');
is($new->safe_psql('postgres', q{SELECT bool_and(enabled) FROM fencing.protected_tables}), 't', 'both tables count as protected');

# A holder has written before the subscription begins, and goes on after it.
acquire($old, 'postgres', 'job', "holder => 'w'") for 1 .. 5;
my $first = acquire($old, 'postgres', 'job', "holder => 'w'");
for my $table ('silent', 'always')
{
	$old->safe_psql('postgres', "INSERT INTO $table SELECT i, 'new', $first FROM generate_series(1, 4) i");
}
$old->safe_psql('postgres', 'CREATE PUBLICATION p FOR TABLE silent, always');
$new->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '" . $old->connstr . " dbname=postgres' PUBLICATION p");
$new->wait_for_subscription_sync($old, 's');
for my $table ('silent', 'always')
{
	is($new->safe_psql('postgres', "SELECT count(*), min(fence), max(fence) FROM $table"), "4|$first|$first",
		"$table: the initial copy brings rows and fences");
}

sub applied { $old->wait_for_catchup('s'); return; }

my $token = acquire($old, 'postgres', 'job', "holder => 'w'");
for my $table ('silent', 'always')
{
	is(write_with($old, "$table", $token), '00000', "$table: a write on the old server");
	$old->safe_psql('postgres', "UPDATE $table SET value = 'again', fence = $token WHERE id = 1");
	$old->safe_psql('postgres', "BEGIN; SELECT fencing.present($token); UPDATE $table SET value = 'presented' WHERE id = 2; COMMIT");
	$old->safe_psql('postgres', "INSERT INTO $table VALUES (5, 'inserted', $token)");
	applied();
	is($new->safe_psql('postgres', "SELECT string_agg(value || ' ' || fence, ', ' ORDER BY id) FROM $table"),
		join(', ', map { "$_ $token" } 'again', 'presented', "by $token", "by $token", 'inserted'),
		"$table: writes are applied with their fences");
	sqlstate_is($new, 'postgres', "UPDATE $table SET fence = $first", 'LF001',
		"$table: an ordinary session on the new server is checked");
}
my $presented = "BEGIN; SELECT fencing.present($token); DELETE FROM %s WHERE id = 5; COMMIT";
$old->safe_psql('postgres', sprintf $presented, 'silent');
applied();
is($new->safe_psql('postgres', 'SELECT count(*) FROM silent'), 4, 'silent: a DELETE is applied');

# A change that is stale on the subscriber, where somebody has written with a higher token.
my $ahead = $token + 1000;
$new->safe_psql('postgres', "UPDATE $_ SET value = 'ahead', fence = $ahead WHERE id = 3") for 'silent', 'always';
$old->safe_psql('postgres', "UPDATE silent SET value = 'stale', fence = $token WHERE id = 3");
applied();
is($new->safe_psql('postgres', 'SELECT value, fence FROM silent WHERE id = 3'), "stale|$token",
	'silent: a stale change is applied, and lowers the fence');

sub stopped_by
{
	my ($error, $change, $name) = @_;
	my $offset = -s $new->logfile;

	$old->safe_psql('postgres', $change);
	$new->wait_for_log(qr/ERROR:  $error/, $offset);
	pass($name);
	return;
}
stopped_by('stale token', "UPDATE always SET value = 'stale', fence = $token WHERE id = 3",
	'always: a stale change stops the subscription');
is($new->safe_psql('postgres', 'SELECT value, fence FROM always WHERE id = 3'), "ahead|$ahead", 'always: and is not applied');

# The owner mends the row, and the subscription goes on.
$new->safe_psql('postgres', q{
	BEGIN;
	ALTER TABLE always DISABLE TRIGGER "~~fencing_guard";
	UPDATE always SET fence = } . $token . q{ WHERE id = 3;
	ALTER TABLE always ENABLE ALWAYS TRIGGER "~~fencing_guard";
	COMMIT;
});
applied();
is($new->safe_psql('postgres', 'SELECT value, fence FROM always WHERE id = 3'), "stale|$token",
	'always: it goes on when the owner has mended the row');

# A DELETE has no column that could carry the token.
stopped_by('missing token', sprintf($presented, 'always'), 'always: a DELETE of a fenced row stops the subscription');
$new->safe_psql('postgres', 'ALTER TABLE always ENABLE TRIGGER "~~fencing_guard"');
applied();
is($new->safe_psql('postgres', 'SELECT count(*) FROM always'), 4, 'always: it goes on when the guard is silent again');

# ---- switch-over ----

my $last = token_of($old);
$old->stop;
$new->safe_psql('postgres', 'ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s');
is($new->safe_psql('postgres', 'SELECT count(*) FROM fencing.leases'), 0, 'the new server knows no lease');
my $too_low = acquire($new, 'postgres', 'job', "ttl => '1 s'");
cmp_ok($too_low, '<', $token, 'what breaks: it issues tokens from the start');
is(write_with($new, 'silent', $too_low), 'LF001', 'its holder cannot write');
is(write_with($new, 'silent', $token), '00000', 'and the old holder, whose lease nobody knows, can');

my $epoch = $new->safe_psql('postgres', "SELECT fencing.new_epoch(above => $last)");
is($epoch, 2, 'new_epoch(above) makes it safe');
my $next = acquire($new, 'postgres', 'job2');
cmp_ok($next, '>', $last, 'later tokens are higher');
is(write_with($new, 'silent', $next), '00000', 'the new holder writes');
is(write_with($new, 'silent', $token), 'LF001', 'the old one cannot any more');

done_testing();
