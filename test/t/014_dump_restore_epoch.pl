# Restored, cloned and upgraded databases issue higher tokens than any in the dump, wherever it is
# restored: in a new cluster whose timeline is lower, beside the old database, over it, as a copy of
# a template, by pg_upgrade. A second restore of one dump cannot be seen, and is mended.

use strict;
use warnings;

use Cwd ();
use File::Basename;
use FencingCluster;
use FencingTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dump = "$PostgreSQL::Test::Utils::tmp_check/dump";
my $node = primary('old', {});

# The old cluster is on timeline 3, as after two failovers.
for (1 .. 2)
{
	token_of($node);
	$node->stop;
	$node->set_standby_mode;
	$node->start;
	promote_node($node);
}
$node->safe_psql('postgres', q{
	CREATE TABLE t (value text);
	SELECT fencing.protect('t');
	INSERT INTO t SELECT 'by ' || token, token FROM fencing.acquire('job', ttl => '1 h', holder => 'w');
});
my $old = $node->safe_psql('postgres', 'SELECT fence FROM t');
is(epoch_of($old), 3, 'the old cluster is in its third epoch');
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'postgres' ], 'pg_dump');
my $after_dump = token_of($node);

sub restore
{
	my ($to, $database, @options) = @_;
	$to->command_ok([ 'pg_restore', '--exit-on-error', '-d', $database, @options, $dump ], "pg_restore @options to $database");
	return;
}

# goes_on(NODE, DATABASE, ABOVE, NAME): its next token.
sub goes_on
{
	my ($in, $database, $above, $name) = @_;

	is($in->safe_psql($database, q{SELECT token, holder FROM fencing.leases WHERE resource = 'job'}), "$old|w",
		"$name: the lease is there");
	is(acquire($in, $database, 'job'), '', "$name: and held");
	sqlstate_is($in, $database, "UPDATE t SET fence = $old - 1", 'LF001', "$name: a stale write is rejected");
	my $token = acquire($in, $database, 'job', "holder => 'w'");
	cmp_ok($token, '>', $above, "$name: the next token is higher");
	sqlstate_is($in, $database, "UPDATE t SET fence = $token", '00000', "$name: and can write");
	sqlstate_is($in, $database, "UPDATE t SET fence = $old", 'LF001', "$name: the old one cannot any more");
	return token_of($in, $database);
}

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
$new->start;
restore($new, 'postgres');
is($new->safe_psql('postgres', 'SELECT timeline_id FROM pg_control_checkpoint()'), 1, 'the new cluster is on timeline 1');
my $elsewhere = goes_on($new, 'postgres', $after_dump, 'a new cluster');

$node->safe_psql('postgres', 'CREATE DATABASE beside');
restore($node, 'beside');
goes_on($node, 'beside', $after_dump, 'the same cluster, another name');

# Over the old one; what was issued there meanwhile is lower too, although the dump does not know it.
restore($node, 'postgres', '--clean', '--if-exists');
my $first = goes_on($node, 'postgres', $after_dump, 'over the old one');

$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE postgres');
my $copy = token_of($node, 'copy');
cmp_ok($copy, '>', $first, 'a copy of a template: the next token is higher');
cmp_ok(epoch_of($copy), '>', epoch_of($first), 'a copy of a template: it is of a later epoch');
$node->safe_psql('postgres', 'DROP DATABASE copy');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE beside');
cmp_ok(acquire($node, 'copy', 'job', "holder => 'w'"), '>', token_of($node, 'beside'), 'also where leases are held');

# A copy by WAL has the page of the sequence, and not what was logged ahead: a crash must not bring
# back the numbers drawn since. Also where something else than a draw makes the issuer's record its own.
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', q{SELECT fencing.release('unneeded', token) FROM fencing.acquire('unneeded')});
$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE postgres STRATEGY wal_log") for 'crashed', 'forgetful';
my $before_crash = acquire($node, 'crashed', 'job', "holder => 'w'");
$node->safe_psql('forgetful', "SELECT fencing.forget('unneeded')");
my ($forgetful) = reverse map { token_of($node, 'forgetful') } 1 .. 3;

# Or where a copy has the OID of what it is a copy of.
$node->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE postgres');
token_of($node, 'again');
my $oid = $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = 'again'");
$node->safe_psql('postgres', $_) for 'CREATE DATABASE kept TEMPLATE again', 'DROP DATABASE again',
	"CREATE DATABASE again TEMPLATE kept OID $oid";
my ($again) = reverse map { token_of($node, 'again') } 1 .. 3;
$node->stop('immediate');
$node->start;
cmp_ok(token_of($node, 'crashed'), '>', $before_crash, 'after a crash the next token of a copy is higher');
cmp_ok(token_of($node, 'forgetful'), '>', $forgetful, 'and that of one that began with forget()');
cmp_ok(token_of($node, 'again'), '>', $again, 'and that of one with the same OID');

# Twice over the old one: the second restore brings the same record back.
restore($node, 'postgres', '--clean', '--if-exists');
my $second = token_of($node);
cmp_ok($second, '<=', $first, 'a second restore of one dump gives tokens twice');
$node->safe_psql('postgres', "SELECT fencing.new_epoch($first)");
goes_on($node, 'postgres', $first, 'a second restore, new_epoch(above)');

# setval, or the sequence restored alone, into the past.
my $last = acquire($node, 'postgres', 'job', "holder => 'w'");
$node->safe_psql('postgres', "SELECT setval('fencing.token_seq', 1)");
sqlstate_is($node, 'postgres', "SELECT * FROM fencing.acquire('job', holder => 'w')", 'LF006',
	'a sequence that was set back grants nothing');
$node->safe_psql('postgres', 'SELECT fencing.new_epoch()');
cmp_ok(acquire($node, 'postgres', 'job', "holder => 'w'"), '>', $last, 'and new_epoch() mends it');

# ---- pg_upgrade ----

# upgrade(FROM, TO): with the programs of another installation, or of this one.
sub upgrade
{
	my ($from, $to) = @_;
	my @nodes = map {
		PostgreSQL::Test::Cluster->new("$_->{name}_$from->{version}_$to->{version}",
			$_->{path} ? (install_path => $_->{path}) : ());
	} { %$from, name => 'from' }, { %$to, name => 'to' };
	my $name = "pg_upgrade from $from->{version} to $to->{version}";

	$_->init(allows_streaming => 1) for @nodes;
	$nodes[0]->start;
	$nodes[0]->safe_psql('postgres', q{
		CREATE EXTENSION fencing;
		CREATE TABLE t (value text);
		SELECT fencing.protect('t');
		SELECT fencing.acquire('job' || i, ttl => '1 h') FROM generate_series(1, 40) i;
		INSERT INTO t SELECT 'by ' || token, token FROM fencing.acquire('job', ttl => '1 h', holder => 'w');
	});
	$old = $nodes[0]->safe_psql('postgres', 'SELECT fence FROM t');
	my $highest = token_of($nodes[0]);
	$_->stop for grep { $_->{_pid} } @nodes;
	local $ENV{PGHOST} = $nodes[0]->host;
	my $old_directory = Cwd::getcwd();
	chdir $PostgreSQL::Test::Utils::tmp_check;
	$nodes[1]->command_ok([ 'pg_upgrade', '--no-sync', '-d', $nodes[0]->data_dir, '-D', $nodes[1]->data_dir,
			'-b', $from->{bindir}, '-B', $to->{bindir}, '-s', $nodes[0]->host,
			'-p', $nodes[0]->port, '-P', $nodes[1]->port ], $name);
	chdir $old_directory;
	$nodes[1]->start;
	goes_on($nodes[1], 'postgres', $highest, $name);
	$nodes[1]->stop;
	return;
}

sub installation
{
	my ($bindir) = @_;
	my ($version) = `'$bindir/postgres' --version` =~ /(\d+)/ or return;
	my $sharedir = `'$bindir/pg_config' --sharedir`;
	chomp $sharedir;
	return -e "$sharedir/extension/fencing.control" && { bindir => $bindir, version => $version };
}

my ($ours) = map { dirname($_) } grep { -x } map { "$_/postgres" } split /:/, $ENV{PATH};
my $this = installation($ours);
upgrade($this, $this);

# Other majors, where they have the extension too: those staged beside ours, installed, or named.
my %major = map { $_->{version} => $_ } grep { $_ } map { installation($_) } grep { -x "$_/initdb" }
  split(/:/, $ENV{FENCING_BINDIRS} // ''), glob(dirname(dirname($ours)) . '/*/bin'), glob('/usr/lib/postgresql/*/bin');
$major{ $this->{version} } = $this;
SKIP:
{
	my @majors = sort { $a <=> $b } keys %major;
	skip 'pg_upgrade to another major: only one has the extension; FENCING_BINDIRS can name more', 1 if @majors < 2;
	for my $i (1 .. $#majors)
	{
		upgrade(map { { %$_, path => dirname($_->{bindir}) } } @major{ @majors[ $i - 1, $i ] });
	}
}

done_testing();
