# Synchronous standbys, by priority and by quorum: no grant and no longer TTL that a client was told
# of is lost in a failover, whatever synchronous_commit says, and also while waiting sessions are
# cancelled, terminated and cut off. FENCING_FAILOVERS says how many failovers.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use FencingCluster;
use FencingTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $failovers = $ENV{FENCING_FAILOVERS} || 20;
my $workers = 3;
my $logs = "$PostgreSQL::Test::Utils::tmp_check/sync";
mkdir $logs;

my $primary = primary('a', {});
my @standbys = map { standby_of($primary, $_) } 'b', 'c';
my @nodes = ($primary, @standbys);

sub synchronous
{
	my ($names) = @_;
	for my $node (@nodes)
	{
		$node->append_conf('postgresql.conf', "synchronous_standby_names = '$names'\n");
		$node->reload if $node->{_pid};
	}
	return if $names eq '';
	$primary->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')")
	  or die 'no synchronous standby';
	return;
}

sub waits
{
	my ($pid) = @_;
	wait_for('the session waits for a standby', sub {
		$primary->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $pid") eq 'SyncRep';
	});
	return;
}

# ---- without synchronous standbys ----

$primary->append_conf('postgresql.conf', "fencing.require_synchronous = on\n");
$primary->reload;
my $session = session($primary, 'postgres', '-v', 'VERBOSITY=verbose');
my $refused = $session->query("SELECT * FROM fencing.acquire('job')");
like($refused->{text}, qr/ERROR:  55000: no lease is granted without synchronous standbys/,
	'fencing.require_synchronous refuses where none is configured');
like($refused->{text}, qr/HINT:  Set synchronous_standby_names/, 'with a hint');
$primary->safe_psql('postgres', 'CREATE ROLE plain LOGIN');
sqlstate_is($primary, 'postgres', "SET fencing.require_synchronous = off; SELECT * FROM fencing.acquire('job')", '55000',
	'no plain role can turn it off', extra_params => [ '-U', 'plain' ]);
{
	local $ENV{PGOPTIONS} = '-c fencing.require_synchronous=off';
	sqlstate_is($primary, 'postgres', "SELECT * FROM fencing.acquire('job')", '55000',
		'nor as it connects, before the library is loaded', extra_params => [ '-U', 'plain' ]);
	is($primary->safe_psql('postgres', "SELECT granted FROM fencing.acquire('by superuser')"), 't', 'a superuser can');
}
$session->end;

synchronous('ANY 1 (a, b, c)');
is(acquire($primary, 'postgres', 'job', "holder => 'w'") > 0, 1, 'it grants where one is');

# ---- what a client sees whose wait is broken off ----

$primary->safe_psql('postgres', q{
	CREATE FUNCTION acquire_off(resource text) RETURNS bigint LANGUAGE sql SET synchronous_commit = off
		AS $$ SELECT token FROM fencing.acquire(resource) $$;
	CREATE TABLE t (value text);
	SELECT fencing.protect('t');
});
caught_up($primary, $_) for @standbys;
my $lasting = acquire($primary, 'postgres', 'lasting', "ttl => '1 min'");
my $expiring = acquire($primary, 'postgres', 'expiring', "ttl => '1 ms'");
cut_off($_) for @standbys;

# A commit that holds the lease and waits for a standby keeps it, but no waiter longer than it said. The
# lease has expired by then, so that nothing else keeps it.
{
	my ($holder, $waiter) = map { session($primary) } 1 .. 2;
	my $pid = $holder->backend;
	my $token = $expiring;
	$holder->send("BEGIN; SELECT fencing.hold('expiring', $token); INSERT INTO t VALUES ('held'); COMMIT");
	waits($pid);
	my $began = time;
	my $answer = $waiter->query("SELECT granted FROM fencing.acquire('expiring', wait => '500 ms')");
	is($answer->{text}, 'f', 'who waits for a lease whose holder is committing is refused');
	cmp_ok(time - $began, '<', 5, 'when its time is over');
	$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$holder->receive;
}

my %how = (
	'a plain statement' => "SELECT token FROM fencing.acquire('%s')",
	'synchronous_commit = off' => "SET synchronous_commit = off; SELECT token FROM fencing.acquire('%s')",
	'SET LOCAL after the grant' => "BEGIN; SELECT token FROM fencing.acquire('%s'); SET LOCAL synchronous_commit = local; COMMIT",
	'a function that sets it' => "SELECT acquire_off('%s')",
	'a savepoint rolled back' => "SET synchronous_commit = off; BEGIN; SAVEPOINT s; SET LOCAL synchronous_commit = on; "
	  . "ROLLBACK TO s; SELECT token FROM fencing.acquire('%s'); COMMIT",
	'a grant in a savepoint' => "SET synchronous_commit = off; BEGIN; SAVEPOINT s; "
	  . "SELECT token FROM fencing.acquire('%s'); RELEASE s; COMMIT",
	'a write that is not forced' => 'SET synchronous_commit = local; BEGIN; SELECT fencing.present(1); '
	  . "INSERT INTO t SELECT '%s'; COMMIT");
my @left;
for my $name (sort keys %how)
{
	my $resource = $name =~ s/\W/_/gr;
	my $waiting = session($primary);
	my $pid = $waiting->backend;
	my $answer = $waiting->send(sprintf $how{$name}, $resource)->receive(1, 1);

	if ($name =~ /not forced/) { is($answer->{state}, '00000', "$name does not wait for the standby"); next; }
	is($answer, 'waiting', "$name waits for the standby");

	for my $end ($name eq 'a plain statement' ? ('cancel', 'terminate', 'cut off') : 'cancel')
	{
		if ($end ne 'cancel' || !$waiting->is_open)
		{
			$waiting = session($primary);
			$pid = $waiting->backend;
			$resource = "$end " . $resource =~ s/^terminate //r;
			$waiting->send("SELECT token FROM fencing.acquire('$resource')");
		}
		waits($pid);
		push @left, $resource;
		if ($end eq 'cut off')
		{
			$waiting->end('KILL');
			sleep 0.2;
			waits($pid);
			$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
			next;
		}
		$primary->safe_psql('postgres', "SELECT pg_${end}_backend($pid)");
		is($waiting->receive(20), undef, "$name, $end: the connection is closed without an answer");
		my @tokens = $waiting->{last} =~ /^(\d+)$/mg;
		pop @tokens if $name =~ /savepoint|SET LOCAL/;    # of a COMMIT that was not answered
		is("@tokens", '', "$name, $end: and without a token");
	}
}

# A longer TTL is a promise too, and one that was broken off must not be taken for kept.
my $renewing = session($primary);
my $pid = $renewing->backend;
is($renewing->send("SELECT fencing.renew('lasting', $lasting, '2 h')")->receive(1, 1), 'waiting',
	'a renewal with a longer TTL waits for the standby');
$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
is($renewing->receive->{state}, '57014', 'and fails where that is cancelled');
is($renewing->send("SELECT fencing.renew('lasting', $lasting)")->receive(1, 1), 'waiting',
	'the next renewal waits again, since it promises the same');
$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
is($renewing->receive->{state}, '57014', 'and fails as well');
is($renewing->send("SELECT fencing.renew('lasting', $lasting, '1 min')")->receive(5)->{state}, '00000',
	'one that promises no more than was kept does not');
$renewing->end;

# One that began to wait for a lease when no standbys were asked for.
my $waiting = session($primary);
$pid = $waiting->backend;
synchronous('');
$waiting->query('SET fencing.require_synchronous = off');
is($waiting->query("SELECT granted FROM fencing.acquire('since', '2 s')")->{text}, 't', 'no standby is asked for');
$waiting->send("SELECT token FROM fencing.acquire('since', wait => '30 s')");
wait_for('it waits for the lease', sub {
	$primary->safe_psql('postgres', "SELECT state FROM pg_stat_activity WHERE pid = $pid") eq 'active' });
$_->append_conf('postgresql.conf', "synchronous_standby_names = 'ANY 1 (a, b, c)'\n") for @nodes;
$_->reload for grep { $_->{_pid} } @nodes;
waits($pid);
$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
is($waiting->receive(20), undef, 'and since they are, it is told no token without them');
push @left, 'since';

# Grants whose wait was broken off are in force here, unknown to anyone; a failover loses them.
my $unknown = $primary->safe_psql('postgres', q{SELECT max(token) FROM fencing.lease});
my $in_force = join ',', map { "'$_'" } @left;
is($primary->safe_psql('postgres', "SELECT count(*) FROM fencing.leases WHERE state = 'held' AND resource IN ($in_force)"),
	scalar @left, 'the grants that nobody was told of are in force');
crash($primary);
my ($winner, $other) = @standbys;
promote_node($winner);
is($winner->safe_psql('postgres', "SELECT count(*) FROM fencing.leases WHERE resource IN ($in_force)"), 0,
	'a failover loses them');
is($winner->safe_psql('postgres', "SELECT ttl FROM fencing.leases WHERE resource = 'lasting'"), '00:01:00',
	'and the longer TTL');
follow($other, $winner);
follow_again($primary, $winner);
@standbys = ($other, $primary);
$primary = $winner;
caught_up($primary, $_) for @standbys;
cmp_ok(acquire($primary, 'postgres', $left[0]), '>', $unknown, 'but no token of theirs is given to anyone again');

# A renewal that has waited for a standby does not say yes to what was given back meanwhile.
{
	my $token = acquire($primary, 'postgres', 'moved', "ttl => '1 min'");
	my @receivers = map { walreceiver($_) } @standbys;
	kill 'STOP', @receivers;
	my $late = session($primary);
	is($late->send("SELECT fencing.renew('moved', $token, '1 h')")->receive(1, 1), 'waiting',
		'another renewal with a longer TTL waits for the standbys');
	is($primary->safe_psql('postgres', "SELECT fencing.release('moved', $token)"), 't', 'the lease is released meanwhile');
	kill 'CONT', @receivers;
	is($late->receive->{state}, 'LF004', 'and the renewal says so');
}

# A grant is refused at its COMMIT too, where the standbys were taken out of the settings since.
{
	my $session = session($primary);
	$session->query("SET fencing.require_synchronous = on; BEGIN; SELECT * FROM fencing.acquire('uncovered')");
	synchronous('');
	wait_for('the session knows', sub { $session->query('SHOW synchronous_standby_names')->{text} eq '' });
	is($session->query('COMMIT')->{state}, '55000', 'fencing.require_synchronous holds at COMMIT as well');
	is($primary->safe_psql('postgres', "SELECT count(*) FROM fencing.leases WHERE resource = 'uncovered'"), 0, 'nothing is granted');
	synchronous('ANY 1 (a, b, c)');
}

# ---- failovers under load ----

# A worker takes leases of new names, and writes down what it was told:
#   granted RESOURCE TOKEN
#   ttl RESOURCE TOKEN SECONDS
my @takes = (
	"SELECT token FROM fencing.acquire('%s')",
	"SET synchronous_commit = off; SELECT token FROM fencing.acquire('%s')",
	"SET synchronous_commit = local; BEGIN; SELECT token FROM fencing.acquire('%s'); COMMIT",
	"RESET synchronous_commit; BEGIN; SELECT token FROM fencing.acquire('%s'); SET LOCAL synchronous_commit = off; COMMIT",
	"SELECT acquire_off('%s')",
	"SET synchronous_commit = off; BEGIN; SAVEPOINT s; SET LOCAL synchronous_commit = on; ROLLBACK TO s; "
	  . "SELECT token FROM fencing.acquire('%s'); COMMIT");

sub worker
{
	my ($number, $round) = @_;
	open(my $log, '>', "$logs/$round.$number") or die $!;
	$log->autoflush(1);
	my $session = session($primary);

	for (my $n = 0; !-e "$logs/stop.$round";)
	{
		my $resource = "$round.$number." . $n++;
		my $answer = $session->query(sprintf $takes[rand @takes], $resource);

		if ($answer && $answer->{state} eq '00000' && $answer->{text} =~ /^\d+\z/)
		{
			my $token = $answer->{text};
			print $log "granted $resource $token\n";
			if (rand() < 0.2)
			{
				my $renewed = $session->query("SELECT fencing.renew('$resource', $token, '1000 s')");
				print $log "ttl $resource $token 1000\n" if $renewed && $renewed->{state} eq '00000';
			}
		}
		unless ($session->is_open)
		{
			print $log "closed\n";
			$session = session($primary);
		}
	}
}

my %broken = (cancel => 0, terminate => 0);

# Breaks off the wait of whoever waits for a standby; one after the other.
sub break_off
{
	my $how = rand() < 0.7 ? 'cancel' : 'terminate';
	$broken{$how} += $primary->safe_psql('postgres', qq{
		SELECT count(pg_${how}_backend(pid)) FROM pg_stat_activity
		 WHERE wait_event = 'SyncRep' AND random() < 0.5});
	return;
}

my %granted;
my ($told, $lost, $shortened, $too_low, $closed, $highest) = (0, 0, 0, 0, 0, $unknown);
my $began = time;

for my $round (1 .. $failovers)
{
	synchronous($round % 2 ? 'ANY 1 (a, b, c)' : 'FIRST 1 (a, b, c)');

	my @pids = start_workers($workers, sub { worker($_[0], $round) });
	sleep 0.1 + rand 0.2;

	# The standbys stall, the waits are broken off, and some are when the primary is lost.
	my @receivers = grep { $_ } map { walreceiver($_) } @standbys;
	kill 'STOP', @receivers;
	sleep 0.05;
	break_off() for 1 .. 2;
	kill 'CONT', @receivers;
	sleep 0.1 + rand 0.1;
	if ($round % 3)
	{
		cut_off($_) for @standbys;
		break_off() for 1 .. 3;
		sleep 0.05;
	}
	open(my $stop, '>', "$logs/stop.$round") or die $!;
	crash($primary);
	waitpid $_, 0 for @pids;

	my ($first, $second) = sort { received($b) <=> received($a) } @standbys;
	my $old = $primary;
	promote_node($first);
	$primary = $first;
	follow($second, $primary);

	my $highest_here = $highest;
	for my $row (rows(glob "$logs/$round.*"))
	{
		my ($what, $resource, $token, $ttl) = @$row;
		if ($what eq 'closed') { $closed++; next; }
		$told++ if $what eq 'granted';
		$granted{$resource} = { token => $token, ttl => $ttl // 30 };
		$too_low++ if $token <= $highest;
		$highest_here = $token if $token > $highest_here;
	}
	$highest = $highest_here;

	my %there = map { split /\|/ } split /\n/,
	  $primary->safe_psql('postgres', 'SELECT resource, token || \' \' || extract(epoch FROM ttl)::int FROM fencing.leases');
	for my $resource (keys %granted)
	{
		my ($token, $ttl) = split / /, $there{$resource} // '0 0';
		$lost++ if $token != $granted{$resource}{token};
		$shortened++ if $ttl < $granted{$resource}{ttl};
	}
	my $next = token_of($primary);
	$too_low++ if $next <= $highest;
	$highest = $next;

	follow_again($old, $primary);
	@standbys = ($second, $old);
}

note(sprintf '%d failovers in %.0f s, %d grants told, %d waits cancelled and %d terminated, %d connections closed',
	$failovers, time - $began, $told, $broken{cancel}, $broken{terminate}, $closed);
cmp_ok($told, '>', $failovers, 'clients were told of many grants');
cmp_ok($broken{cancel}, '>', 0, 'waits were cancelled');
is($lost, 0, "in $failovers failovers no grant that a client was told of was lost");
is($shortened, 0, 'nor was any longer TTL');
is($too_low, 0, 'all later tokens are higher');

done_testing();
