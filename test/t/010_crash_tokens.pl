# kill -9 of the server at random points, under a load of acquire, renew, release and issue_token.
# After every restart all tokens are higher than every token that any client saw before, and no
# lease ended earlier than its holder was promised. FENCING_CRASHES says how many crashes.

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep time);

use FencingCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $crashes = $ENV{FENCING_CRASHES} || 30;
my $workers = 4;
my $logs = "$PostgreSQL::Test::Utils::tmp_check/crash";
mkdir $logs;

# Without the WAL writer's help: what is not flushed by those who must is lost.
my $node = primary('crash', {}, 'fsync = on', 'restart_after_crash = on', 'wal_writer_delay = 10s',
	'synchronous_commit = off', "checkpoint_timeout = '30s'", 'max_connections = 50', "max_wal_size = '64MB'");

# What a worker does, at random, until its connection is lost; and what it writes down of it:
#   token TOKEN                                   a token that it saw
#   held RESOURCE TOKEN GRANTED_AT DEADLINE       ... with a lease, or a new deadline for it
#   release RESOURCE TOKEN                        that it is about to give back
sub worker
{
	my ($number, $round) = @_;
	my $session = session($node);
	my %held;
	open(my $log, '>', "$logs/$round.$number") or die $!;
	$log->autoflush(1);
	srand($round * 100 + $number);

	# seen(SQL): the fields of the one row of an answer; leaves when the connection is lost.
	my $seen = sub {
		my $answer = $session->query($_[0]) // do { close $log; POSIX::_exit(0) };
		return $answer->{state} eq '00000' ? split /\|/, $answer->{text} : ();
	};
	for (;;)
	{
		my $resource = 'r' . int rand 4;
		my $what = rand;
		my $ttl = (10 + int rand 700) . ' ms';

		if ($what < 0.45)
		{
			my ($token, $granted_at, $deadline) = $seen->(qq{
				SELECT token, extract(epoch FROM expires_at - valid_for), extract(epoch FROM expires_at)
				  FROM fencing.acquire('$resource', '$ttl') WHERE granted});
			next unless $token;
			print $log "token $token\nheld $resource $token $granted_at $deadline\n";
			$held{$resource} = $token;
		}
		elsif ($what < 0.65 && $held{$resource})
		{
			my $argument = $what < 0.6 ? '' : ", '$ttl'";
			my ($deadline) = $seen->("SELECT extract(epoch FROM fencing.renew('$resource', $held{$resource}$argument))");
			print $log "held $resource $held{$resource} 0 $deadline\n" if $deadline;
		}
		elsif ($what < 0.8 && $held{$resource})
		{
			print $log "release $resource $held{$resource}\n";
			$seen->("SELECT fencing.release('$resource', $held{$resource})");
			delete $held{$resource};
		}
		elsif ($what < 0.9)
		{
			my ($token) = $seen->('SELECT fencing.issue_token()');
			print $log "token $token\n" if $token;
		}
		elsif ($what < 0.98)
		{
			my $answer = $session->query("BEGIN; SELECT token FROM fencing.acquire('x$number.' || random()); ROLLBACK;")
			  // POSIX::_exit(0);
			print $log "token $answer->{text}\n" if $answer->{text} =~ /^\d+$/;
		}
		elsif ($what < 0.983)
		{
			$seen->('CHECKPOINT');
		}
	}
}

sub check_anchor
{
	my ($token) = @_;
	my $session = session($node);
	my ($granted, $left) = split /\|/, $session->value(q{
		SELECT granted, extract(epoch FROM expires_at - clock_timestamp()) FROM fencing.acquire('anchor', '1 s')});
	return $granted eq 'f' && $left > 55 && $session->query("SELECT fencing.renew('anchor', $token, '5 s')")->{state} eq '00000';
}

# Sessions that draw at once log no more of the sequence than one would.
{
	my $lsn = 'SELECT pg_current_wal_insert_lsn()';
	my $script = $node->basedir . '/draw.sql';
	append_to_file($script, 'SELECT fencing.issue_token()');
	my $from = $node->safe_psql('postgres', $lsn);
	$node->command_ok([ 'pgbench', '-n', '-c', 30, '-j', 2, '-t', 200, '-f', $script, 'postgres' ], '6,000 draws of 30 sessions');
	my $to = $node->safe_psql('postgres', "CHECKPOINT; $lsn");
	my ($records) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-s', $from, '-e', $to, '-r', 'Sequence' ]);
	my $logged = () = $records =~ /^rmgr: Sequence/mg;
	cmp_ok($logged, '<', 60, "are logged in $logged records");
}

my $anchor = $node->safe_psql('postgres', q{
	SELECT token FROM fencing.acquire('anchor', '2 s', 'h')});
$node->safe_psql('postgres', "SELECT fencing.renew('anchor', $anchor, '60 s')");

my ($highest, $seen, $too_low, $twice, $short_anchors) = (0, 0, 0, 0, 0);
my (%round_of, %grants, %released);
my $began = time;

for my $round (1 .. $crashes)
{
	my @pids = start_workers($workers, sub { worker($_[0], $round) });
	sleep 0.1 + rand 0.6;

	my $how = ('all', 'postmaster', 'backend')[ $round % 3 ];
	if ($how eq 'backend') { crash_by_backend($node); }
	else { crash($node, $how); $node->start; }
	waitpid $_, 0 for @pids;

	$short_anchors++ unless check_anchor($anchor);
	my $of_round = $highest;
	for my $row (rows(glob "$logs/$round.*"))
	{
		my ($what, @fields) = @$row;
		if ($what eq 'token')
		{
			my ($token) = @fields;
			$seen++;
			$too_low++ if $token <= $highest;
			$twice++ if $round_of{$token}++;
			$of_round = $token if $token > $of_round;
		}
		elsif ($what eq 'held')
		{
			my ($resource, $token, $granted_at, $deadline) = @fields;
			my $grant = $grants{$resource}{$token} //= { granted_at => $granted_at };

			# The last promise counts: a renewal may have brought the deadline forward.
			$grant->{deadline} = $deadline;
		}
		else { $released{"@fields"} = 1; }
	}
	$highest = $of_round;
	my $next = token_of($node);
	$too_low++ if $next <= $highest;
	$highest = $next;
}

my ($leases, $early) = (0, 0);
for my $resource (keys %grants)
{
	my ($last, $last_token);
	for my $token (sort { $a <=> $b } keys %{ $grants{$resource} })
	{
		my $grant = $grants{$resource}{$token};
		$leases++;
		if ($last && !$released{"$resource $last_token"} && $grant->{granted_at} < $last->{deadline})
		{
			$early++;
			diag(sprintf "%s: %s was promised until %.6f, %s was granted at %.6f", $resource, $last_token,
				$last->{deadline}, $token, $grant->{granted_at});
		}
		($last, $last_token) = ($grant, $token);
	}
}

note(sprintf '%d crashes in %.0f s, %d tokens seen, %d leases', $crashes, time - $began, $seen, $leases);
# How many, a busy machine decides.
cmp_ok($seen, '>', $crashes, 'clients saw many tokens');
cmp_ok($leases, '>', $crashes, 'and were granted many leases');
is($too_low, 0, "after each of $crashes crashes all tokens are higher than every token seen before it");
is($twice, 0, 'no token was seen twice');
is($early, 0, 'no lease was granted anew before the deadline that its holder was told');
is($short_anchors, 0, 'a lease held throughout has its full, renewed TTL after every crash');

done_testing();
