# Servers that crash, stand by, are promoted and come back: what the TAP tests of crash, failover
# and restore share.
package FencingCluster;

use strict;
use warnings;

use Exporter 'import';
use POSIX ();
use Time::HiRes qw(sleep time);

use FencingSession;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(start_workers session primary crash crash_by_backend standby_of follow follow_again promote_node
  caught_up cut_off received walreceiver token_of epoch_of highest write_with wait_for rows);

# In all of these: replication that goes on at once, and no log of every statement.
our @QUICK = ('log_statement = none', 'shared_buffers = 8MB', 'max_connections = 40',
	"wal_retrieve_retry_interval = '50ms'", "wal_receiver_status_interval = '1s'",
	"wal_keep_size = '64MB'", 'autovacuum = off', "wal_sender_timeout = '10min'",
	"wal_receiver_timeout = '10min'");

# start_workers(COUNT, WORK): processes that each do WORK(NUMBER) and end, whatever comes of it.
sub start_workers
{
	my ($count, $work) = @_;
	my @pids;

	for my $number (1 .. $count)
	{
		my $pid = fork() // die $!;
		if ($pid == 0)
		{
			eval { $work->($number) };
			POSIX::_exit(0);
		}
		push @pids, $pid;
	}
	return @pids;
}

# primary(NAME, OPTION => ..., SETTING...): a running server with the extension in postgres.
sub primary
{
	my ($name, $init, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 1, %$init);
	$node->append_conf('postgresql.conf', "$_\n") for @QUICK, @settings;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION fencing');
	return $node;
}

sub session
{
	my ($node, $database, @options) = @_;
	return FencingSession->new($node->connstr($database // 'postgres'), @options);
}

# children(PID): the processes that a postmaster has started.
sub children
{
	my ($parent) = @_;
	my @children;

	for my $stat (glob '/proc/[0-9]*/stat')
	{
		open(my $file, '<', $stat) or next;
		my $line = <$file> // next;
		push @children, $1 if $line =~ /^(\d+) \(.*\) \S $parent /s;
	}
	return @children;
}

sub is_alive
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/stat") or return 0;
	return (<$file> // '') !~ /\) Z /;
}

# crash(NODE, WHOM): kill -9 of the postmaster; of all its processes too, unless WHOM is
# 'postmaster', and then they notice by themselves.
sub crash
{
	my ($node, $whom) = @_;
	my $postmaster = $node->{_pid};
	my @children = children($postmaster);

	$node->kill9;
	kill 'KILL', @children unless ($whom // 'all') eq 'postmaster';

	# A CHECKPOINT whose checkpointer is gone tries to signal it for a minute.
	wait_for("the processes of " . $node->name . " are gone",
		sub { !grep { is_alive($_) } $postmaster, @children }, 100);

	# Whoever should reap a killed postmaster may be slow, and then it passes for alive.
	unlink $node->data_dir . '/postmaster.pid', $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	return;
}

# crash_by_backend(NODE): kill -9 of one backend; the postmaster restarts all the others.
sub crash_by_backend
{
	my ($node) = @_;
	my $victim = session($node);
	my @children = children($node->{_pid});

	kill 'KILL', $victim->backend;
	wait_for('the server has ended its processes', sub { !grep { is_alive($_) } @children });
	wait_for('the server accepts connections again',
		sub { session($node)->query('SELECT 1') });
	return;
}

# wait_for(WHAT, SUB, SECONDS): dies if SUB does not become true.
sub wait_for
{
	my ($what, $is_so, $seconds) = @_;
	my $end = time + ($seconds // 60);

	until ($is_so->())
	{
		die "in vain: $what" if time > $end;
		sleep 0.02;
	}
	return;
}

# standby_of(PRIMARY, NAME, SETTING...): a running standby, caught up.
sub standby_of
{
	my ($primary, $name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$primary->backup($name);
	$node->init_from_backup($primary, $name, has_streaming => 1);
	follow($node, $primary);
	$node->append_conf('postgresql.conf', "$_\n") for @settings;
	$node->start;
	caught_up($primary, $node);
	return $node;
}

# follow(NODE, PRIMARY): from its next start, or reload, on.
sub follow
{
	my ($node, $primary) = @_;

	$node->append_conf('postgresql.conf', "primary_conninfo = '"
		  . $primary->connstr . ' application_name=' . $node->name . "'\nrecovery_target_timeline = latest\n");
	$node->reload if $node->{_pid};
	return;
}

# follow_again(NODE, PRIMARY): a server that was a primary comes back as a standby of its successor.
sub follow_again
{
	my ($node, $primary) = @_;
	my $conf = $node->data_dir . '/postgresql.conf';
	my $kept = slurp_file($conf);

	# It says on which timeline the source is.
	$primary->safe_psql('postgres', 'CHECKPOINT');
	command_quietly('pg_rewind', '--no-sync', '--target-pgdata=' . $node->data_dir,
		'--source-server=' . $primary->connstr('postgres'));
	open(my $file, '>', $conf) or die "$conf: $!";
	print $file $kept;
	close $file;
	unlink $node->data_dir . '/postmaster.pid';
	$node->set_standby_mode;
	follow($node, $primary);
	$node->start;
	return;
}

sub command_quietly
{
	my @command = @_;
	my $ran = run_log(\@command, '>', \my $out, '2>', \my $err);
	die "@command: $out$err" unless $ran;
	return;
}

sub promote_node
{
	my ($node) = @_;
	$node->promote;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'not promoted';
	return;
}

sub caught_up
{
	my ($primary, $standby) = @_;

	# A release is not flushed: do it.
	$primary->safe_psql('postgres', q{SET synchronous_commit = local; SELECT pg_logical_emit_message(true, '', '')});
	my $lsn = $primary->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');

	wait_for($standby->name . " has replayed $lsn", sub {
		my ($status, $out) = $standby->psql('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'");
		return ($out // '') eq 't';
	});
	return;
}

# cut_off(STANDBY): it receives no more WAL.
sub cut_off
{
	my ($standby) = @_;

	$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
	$standby->reload;
	$standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_wal_receiver')
	  or die 'the standby goes on receiving';
	return;
}

# received(STANDBY): the WAL that it has.
sub received
{
	my ($standby) = @_;
	return $standby->safe_psql('postgres', q{
		SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'});
}

sub walreceiver
{
	my ($standby) = @_;
	return $standby->safe_psql('postgres', 'SELECT pid FROM pg_stat_wal_receiver');
}

sub token_of
{
	my ($node, $database) = @_;
	return $node->safe_psql($database // 'postgres', 'SELECT fencing.issue_token()');
}

sub epoch_of
{
	my ($token) = @_;
	return ($token >> 40) + 1;
}

sub highest
{
	my $highest = 0;
	for (@_) { $highest = $_ if $_ > $highest; }
	return $highest;
}

# write_with(NODE, TABLE, TOKEN): the SQLSTATE of a write that carries the token.
sub write_with
{
	my ($node, $table, $token) = @_;
	my ($status, $out, $err) =
	  $node->psql('postgres', "\\set VERBOSITY sqlstate\nUPDATE $table SET value = 'by $token', fence = $token");

	return '00000' if $status == 0 && $err eq '';
	return $err =~ /(?:ERROR|FATAL):  (\w{5})/ ? $1 : $err;
}

# rows(FILE...): what workers wrote, line by line, as lists of fields.
sub rows
{
	my @rows;

	for my $name (@_)
	{
		open(my $file, '<', $name) or next;
		while (my $line = <$file>)
		{
			push @rows, [ split / /, $line =~ s/\n\z//r ] if $line =~ /\n\z/;
		}
	}
	return @rows;
}

1;
