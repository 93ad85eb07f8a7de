# Failover to an asynchronous standby that lacks the last 100 grants, three times in a chain, each
# standby following the last winner: all later tokens are higher than the lost ones, and writes
# that carry a lost token fail, on a bound table at once, else when the new holder has written. So
# they are where the standby lacks the very first grant.

use strict;
use warnings;

use FencingCluster;
use FencingTest;
use Test::More;

my $primary = primary('n0', {});
my @standbys = map { standby_of($primary, "n$_") } 1 .. 3;

$primary->safe_psql('postgres', q{
	CREATE TABLE unbound (value text);
	CREATE TABLE bound (value text);
	SELECT fencing.protect('unbound'), fencing.protect('bound', resource => 'job');
	INSERT INTO unbound VALUES ('new');
	INSERT INTO bound VALUES ('new', 0);
});

# grants(NODE, N): the tokens of N grants in a row.
sub grants
{
	my ($node, $n) = @_;
	return split /\n/, $node->safe_psql('postgres', qq{
		SELECT token FROM generate_series(1, $n) i, fencing.acquire('job' || repeat('', i), holder => 'w')});
}

is(join(' ', grants($primary, 3)), '1 2 3', 'a cluster that was never failed over grants 1, 2, 3');
my $highest = 3;
my @lost_before;

for my $failover (1 .. 3)
{
	my ($known) = grants($primary, 1);
	is(write_with($primary, 'bound', $known), '00000', "failover $failover: the holder writes");
	is(write_with($primary, 'unbound', $known), '00000', "failover $failover: to both tables");
	caught_up($primary, $_) for @standbys;
	cut_off($_) for @standbys;

	my @lost = grants($primary, 100);
	cmp_ok($lost[0], '>', highest($highest, $known), "failover $failover: 100 more grants");
	crash($primary);

	my $winner = shift @standbys;
	promote_node($winner);
	is($winner->safe_psql('postgres', "SELECT token, state FROM fencing.leases WHERE resource = 'job'"),
		"$known|held", "failover $failover: the new primary has the last grant that it received, in force again");
	is(write_with($winner, 'bound', $lost[$_]), 'LF005',
		"failover $failover: a lost token cannot write to a bound table") for 0, 99;
	is(write_with($winner, 'bound', $known), '00000', "failover $failover: the grant that it has still can");

	my ($token) = grants($winner, 1);
	cmp_ok($token, '>', $lost[99], "failover $failover: the next token is higher than the 100 that were lost");
	is(epoch_of($token), $failover + 1, "failover $failover: it is of the next epoch");
	is(token_of($winner) > $lost[99], 1, "failover $failover: so is one for a table of the user's own");

	is(write_with($winner, 'unbound', $token), '00000', "failover $failover: the new holder writes");
	for my $stale (@lost[ 0, 50, 99 ], @lost_before)
	{
		is(write_with($winner, $_, $stale), 'LF001', "failover $failover: lost token $stale cannot write to $_")
		  for 'unbound', 'bound';
	}
	is($winner->safe_psql('postgres', 'SELECT value, fence FROM unbound'), "by $token|$token",
		"failover $failover: the row is the new holder's");

	$highest = $token;
	@lost_before = ($known, $lost[99]);
	$primary = $winner;
	follow($_, $primary) for @standbys;
}

# A standby that has the extension, and not even the first grant: the record of who issues tokens was
# never written there.
my $young = primary('young', {});
my $heir = standby_of($young, 'heir');
caught_up($young, $heir);
cut_off($heir);
my ($lost) = grants($young, 1);
is($lost, 1, 'the first grant of all is lost');
crash($young);
promote_node($heir);
my ($first) = grants($heir, 1);
cmp_ok($first, '>', $lost, 'the next token is higher than the first of all');
is(epoch_of($first), 2, 'it is of the second epoch');

done_testing();
