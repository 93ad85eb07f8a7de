# The server's clock is set forth and back by hours while it runs (libfaketime). Leases end early or
# late, but there are never two current grants, what has expired stays expired, and tokens rise.

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep time);

use FencingCluster;
use FencingTest;
use PostgreSQL::Test::Utils;
use Test::More;

my ($faketime) = glob '/usr/lib/*/faketime/libfaketime.so.1';
plan skip_all => 'libfaketime is not installed' unless $faketime;

my $clock = "$PostgreSQL::Test::Utils::tmp_check/clock";

# The file is replaced, never half written: an empty one is read as no change at all.
sub set_clock
{
	my ($offset) = @_;
	open(my $file, '>', "$clock.new") or die $!;
	print $file "$offset\n";
	close $file;
	rename "$clock.new", $clock or die $!;
	return;
}

set_clock('+0');
my $node = primary('clock', { allows_streaming => 'logical' });
$node->stop;
{
	local @ENV{qw(LD_PRELOAD FAKETIME_TIMESTAMP_FILE FAKETIME_NO_CACHE FAKETIME_DONT_FAKE_MONOTONIC)} =
	  ($faketime, $clock, 1, 1);
	local $ENV{DONT_FAKE_MONOTONIC} = 1;
	$node->start;
}

sub off { return $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())') - time; }

set_clock('+5h');
cmp_ok(abs(off() - 5 * 3600), '<', 60, 'the server\'s clock can be set forth');
set_clock('-7h');
cmp_ok(abs(off() + 7 * 3600), '<', 60, 'and back, while it runs');
set_clock('+0');

# ---- one step at a time ----

my $token = acquire($node, 'postgres', 'job', "ttl => '1 h'");
set_clock('+2h');
is($node->safe_psql('postgres', q{SELECT state FROM fencing.leases WHERE resource = 'job'}), 'expired',
	'set forth: a lease ends early');
my $next = acquire($node, 'postgres', 'job', "ttl => '1 h'");
cmp_ok($next, '>', $token, 'and is granted anew, with a higher token');
set_clock('+0');
sqlstate_is($node, 'postgres', "SELECT fencing.renew('job', $token)", 'LF004', 'set back: its first holder cannot renew');
sqlstate_is($node, 'postgres', "SELECT fencing.hold('job', $token)", 'LF004', 'nor hold');
sqlstate_is($node, 'postgres', "SELECT fencing.renew('job', $next)", '00000', 'the second one can');

$token = acquire($node, 'postgres', 'late', "ttl => '500 ms'");
set_clock('-3h');
sleep 0.6;
is(acquire($node, 'postgres', 'late'), '', 'set back: a lease ends late');
sqlstate_is($node, 'postgres', "SELECT fencing.hold('late', $token)", '00000', 'its holder is the current one');
set_clock('+0');
cmp_ok(acquire($node, 'postgres', 'late'), '>', $token, 'and it ends when the clock is right again');

# Who was told that the lease is over is not told the contrary, and neither is anyone else.
$token = acquire($node, 'postgres', 'final', "ttl => '1 h'");
set_clock('+2h');
sqlstate_is($node, 'postgres', "SELECT fencing.renew('final', $token)", 'LF004', 'set forth: a renewal is too late');
set_clock('+0');
sqlstate_is($node, 'postgres', "SELECT fencing.renew('final', $token)", 'LF004', 'set back: expired is final');
cmp_ok(acquire($node, 'postgres', 'final'), '>', $token, 'and the lease is free');

# A waiter is not misled by the clock either.
$token = acquire($node, 'postgres', 'awaited', "ttl => '1 h'");
my $waiter = session($node);
$waiter->send("SELECT token FROM fencing.acquire('awaited', wait => '3 h')");
sleep 0.3;
set_clock('+2h');
cmp_ok($waiter->receive(10)->{text}, '>', $token, 'set forth: a waiter is granted the lease that has ended');
set_clock('+0');
$waiter->end;

# ---- the clock jumps under load ----

# Every grant, and every write under hold(), leaves a row; a replication slot tells in which order
# they were committed.
$node->safe_psql('postgres', q{
	CREATE TABLE history (what text, resource text, token bigint);
	SELECT pg_create_logical_replication_slot('history', 'test_decoding');
});

sub worker
{
	my ($number) = @_;
	my $session = session($node);
	my %token;

	srand $number;
	until (-e "$clock.stop")
	{
		my $resource = 'r' . int rand 2;
		if (!$token{$resource} || rand() < 0.2)
		{
			my $answer = $session->query(qq{
				WITH grant_ AS (SELECT token FROM fencing.acquire('$resource', '100 ms') WHERE granted)
				INSERT INTO history SELECT 'grant', '$resource', token FROM grant_ RETURNING token});
			$token{$resource} = $1 if $answer->{state} eq '00000' && $answer->{text} =~ /^(\d+)$/;
		}
		next unless $token{$resource};
		my $renewed = rand() < 0.5 ? $session->query("SELECT fencing.renew('$resource', $token{$resource})")->{state} : '00000';
		my $written = $session->query(qq{
			BEGIN;
			SELECT fencing.hold('$resource', $token{$resource});
			INSERT INTO history VALUES ('write', '$resource', $token{$resource});
			COMMIT;})->{state};
		$session->query('ROLLBACK') if $written ne '00000';
		delete $token{$resource} if $written eq 'LF004' || $renewed eq 'LF004' && rand() < 0.5;
	}
}

my @pids;
for my $number (1 .. 3)
{
	my $pid = fork() // die $!;
	if ($pid == 0)
	{
		eval { worker($number); 1 } or print STDERR $@;
		POSIX::_exit(0);
	}
	push @pids, $pid;
}
my $end = time + ($ENV{FENCING_CLOCK_SECONDS} || 8);
my $jumps = 0;
while (time < $end)
{
	set_clock(sprintf '%+dh', 2 * $jumps++ + int(rand 20) - 10);
	sleep 0.05 + rand 0.1;
}
set_clock('+0');
open(my $stop, '>', "$clock.stop") or die $!;
waitpid $_, 0 for @pids;

my %count = (grant => 0, write => 0);
my %current;
my ($not_current, $not_higher) = (0, 0);
for my $change (split /\n/, $node->safe_psql('postgres', "SELECT data FROM pg_logical_slot_get_changes('history', NULL, NULL)"))
{
	my ($what, $resource, $token) = $change =~ /what\[text\]:'(\w+)' resource\[text\]:'(\w+)' token\[bigint\]:(\d+)/ or next;
	$count{$what}++;
	if ($what eq 'grant')
	{
		$not_higher++ if $token <= ($current{$resource} // 0);
		$current{$resource} = $token;
	}
	elsif ($token != $current{$resource}) { $not_current++; }
}
note("$jumps jumps of the clock, $count{grant} grants, $count{write} writes");
cmp_ok($count{grant}, '>', $jumps / 4, 'leases were granted while the clock jumped');
cmp_ok($count{write}, '>', $jumps, 'and written under');
is($not_current, 0, 'every write was by the one current grant');
is($not_higher, 0, 'tokens rise from grant to grant');
sqlstate_is($node, 'postgres', 'SELECT fencing.issue_token()', '00000', 'the server is well');

done_testing();
