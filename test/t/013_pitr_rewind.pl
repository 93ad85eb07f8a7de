# Point-in-time recovery to before some grants, and pg_rewind of an old primary: tokens go on rising.
# And what no server can see, so that tokens come twice until an administrator starts a new epoch:
# a base backup started as a primary without a new timeline, two standbys promoted beside each other
# to one timeline, and a new_epoch() that was lost in a failover.

use strict;
use warnings;

use FencingCluster;
use FencingTest;
use PostgreSQL::Test::Cluster;
use Test::More;

sub grants
{
	my ($node, $n) = @_;
	return split /\n/, $node->safe_psql('postgres', qq{
		SELECT token FROM generate_series(1, $n) i, fencing.acquire('job' || repeat('', i), holder => 'w')});
}

# mended(NODE, ABOVE, NAME): the administrator names the highest token that may be out.
sub mended
{
	my ($node, $above, $name) = @_;

	$node->safe_psql('postgres', "SELECT fencing.new_epoch($above)");
	cmp_ok((grants($node, 1))[0], '>', $above, "$name: new_epoch(above) mends it");
	cmp_ok(token_of($node), '>', $above, "$name: for all later tokens");
	return;
}

my $primary = primary('primary', { has_archiving => 1 });

# ---- point-in-time recovery ----

my ($known) = (grants($primary, 10))[9];
$primary->backup('base');
my @copied = grants($primary, 5);
$primary->safe_psql('postgres', "SELECT pg_create_restore_point('here')");
my @lost = grants($primary, 50);
my $wal = $primary->safe_psql('postgres', 'SELECT pg_walfile_name(pg_current_wal_insert_lsn())');
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
wait_for('the WAL is archived', sub { -e $primary->archive_dir . "/$wal" });

sub recovered
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf', "recovery_target_name = 'here'\nrecovery_target_action = promote\n"
		  . "recovery_target_timeline = current\n"
		  . "archive_mode = on\narchive_command = 'cp \"%p\" \"" . $primary->archive_dir . "/%f\"'\n");
	$node->start;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'not recovered';
	return $node;
}

my $recovered = recovered('recovered');
is($recovered->safe_psql('postgres', q{SELECT token FROM fencing.leases WHERE resource = 'job'}), $copied[4],
	'recovered to before the last 50 grants');
my ($after) = grants($recovered, 1);
cmp_ok($after, '>', $lost[49], 'the next token is higher than the 50 that are undone');
is(epoch_of($after), 2, 'for it is of a later epoch');

# The archive tells the second recovery of the first one's timeline.
my $again = recovered('again');
cmp_ok((grants($again, 1))[0], '>', highest($after, token_of($recovered)),
	'a second recovery gives higher tokens than the first');
$again->stop;
$recovered->stop;

# ---- pg_rewind ----

my @standbys = (standby_of($primary, 'first'), standby_of($primary, 'second'));
cut_off($_) for @standbys;
my @diverged = grants($primary, 20);
$primary->stop;
promote_node($standbys[0]);
my ($winner) = grants($standbys[0], 1);
follow_again($primary, $standbys[0]);
caught_up($standbys[0], $primary);
is($primary->safe_psql('postgres', q{SELECT token FROM fencing.leases WHERE resource = 'job'}), $winner,
	'after pg_rewind the old primary has the winner\'s grant, and its own no more');
sqlstate_is($primary, 'postgres', "SELECT * FROM fencing.acquire('job')", '25006', 'and grants nothing');
my $winners = token_of($standbys[0]);
cmp_ok($winners, '>', $diverged[19], 'all tokens are higher than what was rewound');
caught_up($standbys[0], $primary);
crash($standbys[0]);
promote_node($primary);
cmp_ok((grants($primary, 1))[0], '>', $winners, 'and higher again, when it is promoted in its turn');

# ---- two standbys promoted beside each other ----

# "second" has seen nothing of the promotion of "first"; the archive was not shared.
$standbys[1]->append_conf('postgresql.conf', "restore_command = ''\narchive_mode = off\n");
$standbys[1]->restart;
promote_node($standbys[1]);
is($standbys[1]->safe_psql('postgres', 'SELECT timeline_id FROM pg_control_checkpoint()'), '2',
	'a standby promoted beside another comes to the same timeline');
my ($beside) = grants($standbys[1], 1);
cmp_ok($beside, '<=', $winners, 'two standbys promoted beside each other give tokens twice');
mended($standbys[1], token_of($primary), 'beside each other');

# ---- a base backup started as a primary ----

$primary->backup('copy');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($primary, 'copy');
$copy->append_conf('postgresql.conf', "archive_mode = off\n");
$copy->start;
my @originals = grants($primary, 20);
my @copies = grants($copy, 20);
my %original = map { $_ => 1 } @originals;
cmp_ok(scalar(grep { $original{$_} } @copies), '>', 0, 'a base backup started as a primary gives tokens twice');
mended($copy, $originals[19], 'a base backup');
$copy->stop;

# ---- an epoch that was begun by new_epoch() and lost ----

my $last = standby_of($primary, 'last');
cut_off($last);
$primary->safe_psql('postgres', 'SELECT fencing.new_epoch()');
my ($of_lost_epoch) = (grants($primary, 20))[19];
crash($primary);
promote_node($last);
cmp_ok((grants($last, 1))[0], '<=', $of_lost_epoch, 'a new_epoch() that a standby lacks gives tokens twice after a failover');
mended($last, $of_lost_epoch, 'a lost epoch');

done_testing();
