# A crash right after a grant: the grant is durable although the session does not wait for its
# commits, later tokens are higher, and the lease has its full TTL again.

use strict;
use warnings;

use FencingCluster qw(session token_of wait_for);
use FencingTest;
use List::Util qw(max);
use Test::More;

my $node = fencing_node('crash', 'synchronous_commit = off', 'wal_writer_delay = 10s');

sub crash
{
	$node->stop('immediate');
	$node->start;
}

sub seconds_left
{
	return $node->safe_psql('postgres', q{
		SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM fencing.leases WHERE resource = 'job'});
}

# In a first round the cluster is new: sequence, tables and record are written for the first time.
my $highest = 0;
for my $round (1 .. 3)
{
	my $token = acquire($node, 'postgres', 'job', "ttl => '1 min'", "holder => 'worker'");

	cmp_ok($token, '>', $highest, "round $round: the token is higher than all before");
	$highest = $token;
	crash();
	is($node->safe_psql('postgres', q{SELECT token, holder, grants, state FROM fencing.leases WHERE resource = 'job'}),
		"$token|worker|$round|held", "round $round: the grant survives the crash");
}

is(acquire($node, 'postgres', 'job', "holder => 'other'"), '', 'no other worker gets the lease meanwhile');
cmp_ok($node->safe_psql('postgres', "SELECT extract(epoch FROM fencing.renew('job', $highest) - clock_timestamp())"),
	'>', 55, 'its holder can renew it');

# The TTL counts anew from the first look after the crash.
my $short = acquire($node, 'postgres', 'job', "ttl => '3 s'", "holder => 'worker'");
sleep 2;
cmp_ok(seconds_left(), '<', 1.5, 'two of three seconds are over');
crash();
is(acquire($node, 'postgres', 'job', "holder => 'other'"), '', 'after the crash the lease is held');
cmp_ok(seconds_left(), '>', 2, 'for its full TTL');
$node->poll_query_until('postgres', "SELECT state = 'expired' FROM fencing.leases WHERE resource = 'job'")
  or die 'the lease does not expire';
my $next = acquire($node, 'postgres', 'job', "holder => 'other'");
cmp_ok($next, '>', $short, 'then it expires and is granted anew, with a higher token');

# A renewal that named a longer TTL is durable like a grant.
$node->safe_psql('postgres', "SELECT fencing.renew('job', $next, '1 h')");
crash();
is(acquire($node, 'postgres', 'job'), '', 'after a crash the renewed lease is held');
cmp_ok(seconds_left(), '>', 3500, 'for the longer TTL');

# A sequence that was altered is logged anew by the next draw, or by new_epoch().
for my $altered (
	'ALTER SEQUENCE fencing.token_seq START 1',
	'ALTER SEQUENCE fencing.token_seq SET UNLOGGED; ALTER SEQUENCE fencing.token_seq SET LOGGED',
	'ALTER SEQUENCE fencing.token_seq SET UNLOGGED; ALTER SEQUENCE fencing.token_seq SET LOGGED; SELECT fencing.new_epoch()')
{
	token_of($node);
	$node->safe_psql('postgres', $altered);
	my $before = max(map { token_of($node) } 1 .. 3);
	crash();
	cmp_ok(token_of($node), '>', $before, "after a crash tokens are higher: $altered");
}

# A renewal that is the first look at the lease waits for one who may be about to write its deadline, or
# to end it.
sub renew_behind_release
{
	my ($end) = @_;

	crash();
	my ($releasing, $renewing) = map { session($node, 'postgres') } 1 .. 2;
	$releasing->query('BEGIN');
	$releasing->query("SELECT fencing.release('job', $next)");
	$renewing->send("SELECT fencing.renew('job', $next)");
	wait_for('the renewal waits', sub {
		$node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 1;
	});
	$releasing->query($end);
	return $renewing->receive;
}

is(renew_behind_release('ROLLBACK')->{text},
	$node->safe_psql('postgres', "SELECT expires_at FROM fencing.leases WHERE resource = 'job'"),
	'a renewal after a crash, behind a release that is rolled back, is written down');

# Not for its holder that is granted anew: that has its deadline written before.
crash();
my $again = session($node, 'postgres');
$again->query('BEGIN');
cmp_ok($again->value("SELECT token FROM fencing.acquire('job', holder => 'other')"), '>', $next, 'granted anew');
ok($node->safe_psql('postgres', "SET statement_timeout = '10 s'; SELECT fencing.renew('job', $next)"),
	'a renewal after a crash does not wait for that to commit');
$again->query('ROLLBACK');
is(renew_behind_release('COMMIT')->{state}, 'LF004', 'behind a release that is committed it fails');

# A release is written in place; flushed by whatever comes after it, it survives too.
my $given_back = acquire($node, 'postgres', 'given back', "ttl => '1 h'");
$node->safe_psql('postgres', "SELECT fencing.release('given back', $given_back)");
acquire($node, 'postgres', 'another');
crash();
is($node->safe_psql('postgres', q{SELECT token, grants, state FROM fencing.leases WHERE resource = 'given back'}),
	"$given_back|1|released", 'a release survives a crash');

# A token drawn for the user's own table, and one of a grant that was rolled back, come no second time.
my $drawn = $node->safe_psql('postgres', 'SELECT fencing.issue_token()');
my $undone = $node->safe_psql('postgres', "BEGIN; SELECT token FROM fencing.acquire('undone'); ROLLBACK");
cmp_ok($undone, '>', $drawn, 'tokens of one session rise');
crash();
cmp_ok($node->safe_psql('postgres', 'SELECT fencing.issue_token()'), '>', $undone,
	'a token that a client has seen is not issued again after a crash');
is(acquire($node, 'postgres', 'undone') > $undone, 1, 'nor granted');

# The fence and the guard of a table, across a crash.
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY);
	SELECT fencing.protect('t');
	INSERT INTO t VALUES (1, 100);
	SET synchronous_commit = on;
	UPDATE t SET fence = 101;
});
crash();
sqlstate_is($node, 'postgres', 'UPDATE t SET fence = 100', 'LF001', 'a stale write is rejected after a crash');
sqlstate_is($node, 'postgres', 'UPDATE t SET fence = 101', '00000', 'the current one is not');

done_testing();
