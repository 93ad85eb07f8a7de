# Real stale writers: psql processes stopped by SIGSTOP after they were granted a lease, and
# continued when another has been granted it and has written.

use strict;
use warnings;

use FencingTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = fencing_node('stale');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, value text);
	SELECT fencing.protect('t');
	INSERT INTO t VALUES (1, 'new'), (2, 'new'), (3, 'new');
});

# A psql that says when it is granted the lease, sleeps for a moment and then writes.
sub stale_writer
{
	my ($write) = @_;
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start(
		[ 'psql', '-Xqt', '-d', $node->connstr('postgres'), '-f', '-' ],
		'<', \<<"SQL", '>', \$out, '2>', \$err, IPC::Run::timeout(60));
\\set VERBOSITY sqlstate
SELECT * FROM fencing.acquire('job', ttl => '1 s', holder => 'first') \\gset
\\warn granted :granted
\\! sleep 1
$write
\\echo wrote :ROW_COUNT :SQLSTATE
SQL
	$psql->pump until $err =~ /granted t/;
	$psql->signal('STOP');
	return { psql => $psql, out => \$out, err => \$err };
}

sub goes_on
{
	my ($writer) = @_;

	$writer->{psql}->signal('CONT');
	$writer->{psql}->finish;
	return ${ $writer->{out} } =~ /wrote (\d+) (\w+)/ ? "$1 $2" : ${ $writer->{err} };
}

sub take_over
{
	$node->poll_query_until('postgres', "SELECT state = 'expired' FROM fencing.leases WHERE resource = 'job'")
	  or die 'the lease does not expire';
	return acquire($node, 'postgres', 'job', "holder => 'second'");
}

# story(NAME, WRITE, ID): how the first worker's write ends, when the second has written.
sub story
{
	my ($name, $write, $id) = @_;
	my $first = stale_writer($write);
	my $token = take_over();

	$node->safe_psql('postgres', "UPDATE t SET value = 'second', fence = $token WHERE id = $id");
	is(goes_on($first), '0 LF001', "$name: the stale writer gets LF001");
	is($node->safe_psql('postgres', "SELECT value, fence FROM t WHERE id = $id"), "second|$token",
		"$name: the row is the second worker's");
	is($node->safe_psql('postgres', "SELECT fencing.release('job', $token)"), 't',
		"$name: its lease is still its own");
}

story('UPDATE with its token', q{UPDATE t SET value = 'first', fence = :token WHERE id = 1;}, 1);
story('DELETE with present()', q{BEGIN; SELECT fencing.present(:token) \g /dev/null
DELETE FROM t WHERE id = 2;}, 2);
story('upsert', q{INSERT INTO t VALUES (3, 'first', :token)
	ON CONFLICT (id) DO UPDATE SET value = excluded.value, fence = excluded.fence;}, 3);

# The stale writer cannot get its lease back either, nor end that of its successor.
my $first = stale_writer("SELECT fencing.renew('job', :token);");
my $token = take_over();
is(goes_on($first), '0 LF004', 'a stale holder cannot renew');
is($node->safe_psql('postgres', "SELECT fencing.release('job', $token - 1)"), 'f', 'nor release');
is($node->safe_psql('postgres', "SELECT fencing.release('job', $token)"), 't', 'the lease is its successor\'s');

# Nobody took over: the lease is over, but the token is not stale, and the write commits.
$first = stale_writer("UPDATE t SET value = 'late', fence = :token WHERE id = 1;");
$node->poll_query_until('postgres', "SELECT state = 'expired' FROM fencing.leases WHERE resource = 'job'")
  or die 'the lease does not expire';
is(goes_on($first), '1 00000', 'a late write that nobody overtook commits');

done_testing();
