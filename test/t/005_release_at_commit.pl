# A release takes effect with its commit: one that fails at the last moment, behind all that the
# extension has done for it, leaves the lease held.

use strict;
use warnings;

use FencingCluster;
use FencingTest;
use Test::More;

my $node = primary('primary', {});
my $token = acquire($node, 'postgres', 'job', "ttl => '1 h'");

sub state_of
{
	return $node->safe_psql('postgres', "SELECT state FROM fencing.leases WHERE resource = 'job'");
}

# Who notifies holds a lock until the standby that never comes has its commit; the next one waits for it.
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'none'\n");
$node->reload;
my $first = session($node, 'postgres');
$first->send('BEGIN; CREATE TABLE written (); NOTIFY waiting; COMMIT');
wait_for('a commit waits for a standby', sub {
	$node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1;
});
my $session = session($node, 'postgres', '-v', 'VERBOSITY=verbose');
$session->query("SET lock_timeout = '100 ms'");
$session->query('BEGIN');
is($session->value("SELECT fencing.release('job', $token)"), 't', 'released');
$session->query('NOTIFY waiting');
is($session->query('COMMIT')->{state}, '55P03', 'and the commit fails');
is(state_of(), 'held', 'the lease is still held');
ok($session->value("SELECT fencing.renew('job', $token)"), 'and can be renewed');
$session->query('BEGIN');
$session->query("SELECT fencing.release('job', $token)");
is($session->query('COMMIT')->{state}, '00000', 'a release alone waits for no standby');
is(state_of(), 'released', 'and takes effect');

$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->reload;
$first->receive;

# One that fails nowhere.
$token = acquire($node, 'postgres', 'job', "ttl => '1 h'");
$session->query('BEGIN');
$session->query("SELECT fencing.release('job', $token)");
$session->query('NOTIFY waiting');
is($session->query('COMMIT')->{state}, '00000', 'a release and a notification');
is(state_of(), 'released', 'both take effect');

# Of many releases in a row the WAL writer is told now and then; the last of them is flushed before
# long all the same. Of a single one it is told always: nothing else would flush it.
sub release_is_flushed
{
	my ($times, $name) = @_;
	my $statements = q{
		SELECT token FROM fencing.acquire('in a row') \\gset
		SELECT fencing.release('in a row', :token);
	} x $times;

	(my $end = $node->safe_psql('postgres', "$statements SELECT pg_current_wal_insert_lsn()")) =~ s/.*\n//s;
	ok($node->poll_query_until('postgres', "SELECT pg_current_wal_flush_lsn() >= '$end'"), $name);
}

release_is_flushed(300, 'the last of many releases is flushed');
my $background_writer = $node->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE backend_type = 'background writer'");
kill 'STOP', $background_writer;
release_is_flushed(1, 'a release is flushed, though nothing follows');
kill 'CONT', $background_writer;

done_testing();
