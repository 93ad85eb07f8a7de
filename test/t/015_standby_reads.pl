# A standby shows leases and grants none; after its promotion, which open sessions notice, leases in
# force have their full TTL again from the first look, and tokens are higher.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use FencingCluster;
use FencingTest;
use Test::More;

# What is written in place is replayed to the byte: the standby compares each page with the primary's.
my $primary = primary('primary', {}, 'wal_consistency_checking = all');
my $standby = standby_of($primary, 'standby');

$primary->safe_psql('postgres', q{
	CREATE TABLE t (value text);
	SELECT fencing.protect('t');
	INSERT INTO t VALUES ('new');
});
my $token = acquire($primary, 'postgres', 'job', "ttl => '20 s'", q{holder => 'w'}, q{data => '{"a": 1}'});
my $renewed = acquire($primary, 'postgres', 'renewed', "ttl => '2 s'", q{holder => 'w'});
$primary->safe_psql('postgres', "SELECT fencing.renew('renewed', $renewed, '1 h')");
my $short = acquire($primary, 'postgres', 'short', "ttl => '100 ms'", q{holder => 'w'});
my $given_back = acquire($primary, 'postgres', 'given back');
$primary->safe_psql('postgres', "SELECT fencing.release('given back', $given_back)");
my $highest = token_of($primary);
caught_up($primary, $standby);

# ---- on the standby ----

is($standby->safe_psql('postgres', q{
		SELECT resource, token, holder, data, ttl, grants, state, expires_at IS NULL, renewed_at IS NULL
		  FROM fencing.leases ORDER BY 1}),
	join("\n", "given back|$given_back|" . $primary->safe_psql('postgres', "SELECT holder FROM fencing.leases WHERE resource = 'given back'")
		  . '||00:00:30|1|released|t|t',
		qq(job|$token|w|{"a": 1}|00:00:20|1|unknown|t|t), "renewed|$renewed|w||01:00:00|1|unknown|t|t",
		"short|$short|w||00:00:00.1|1|unknown|t|t"),
	'a standby shows the leases; their state is unknown, and they have no deadlines');
is($standby->safe_psql('postgres', 'SELECT rel, enabled FROM fencing.protected_tables'), 't|t', 'and the protected tables');

my $open = session($standby, 'postgres', '-v', 'VERBOSITY=verbose');
for my $call ("acquire('job')", "acquire('new', wait => '1 s')", "renew('job', $token)", "renew('job', $token, '1 h')",
	"release('job', $token)", 'issue_token()', "hold('job', $token)", "evict('job')", "forget('job')", 'new_epoch()')
{
	my ($function) = $call =~ /(\w+)/;
	my $answer = $open->query("SELECT fencing.$call");
	like($answer->{text}, qr/ERROR:  25006: .*$function/, "$function fails on a standby");
	like($answer->{text}, qr/DETAIL: .*a lease can only be granted on the primary/, "$function says where leases are granted");
}
is($open->query('SELECT 1')->{state}, '00000', 'the session is still open');

# ---- promoted ----

sleep 1;
crash($primary);
promote_node($standby);

my $before = time;
my ($left, $longer) = split /\|/, $standby->safe_psql('postgres', q{
	SELECT extract(epoch FROM j.expires_at - clock_timestamp()), extract(epoch FROM r.expires_at - clock_timestamp())
	  FROM fencing.leases j, fencing.leases r WHERE j.resource = 'job' AND r.resource = 'renewed'});
cmp_ok($left, '>', 19, 'after the promotion the view shows a full TTL');
cmp_ok($longer, '>', 3590, 'that of the last renewal');
is($standby->safe_psql('postgres', q{
		SELECT string_agg(resource || ' ' || state, ', ' ORDER BY resource) FROM fencing.leases}),
	'given back released, job held, renewed held, short held', 'every lease not released is in force, an expired one too');

# The TTL counts from the first look, not from the promotion.
sleep 1;
my ($granted, $look) = split /\|/, $open->query(q{
	SELECT granted, extract(epoch FROM expires_at - clock_timestamp()) FROM fencing.acquire('job')})->{text};
is($granted, 'f', 'nobody else is granted it');
cmp_ok($look, '>', 19.5, 'the full TTL counts from the first look');
sleep 0.5;
cmp_ok($standby->safe_psql('postgres', q{SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM fencing.leases WHERE resource = 'job'}),
	'<', $look - 0.4, 'and then it runs');
is($open->query("SELECT fencing.renew('job', $token) IS NOT NULL")->{text}, 't', 'its holder can renew it');
is($open->query("SELECT fencing.hold('renewed', $renewed)")->{state}, '00000', 'and hold it, in a session that was open before');

my $next = acquire($standby, 'postgres', 'given back');
cmp_ok($next, '>', $highest, 'a released lease is free, and its token is higher than all of the old primary');
is(epoch_of($next), 2, 'of the second epoch');
is(acquire($standby, 'postgres', 'short', "holder => 'other'"), '', 'a short lease is in force once more');
sleep 0.15;
cmp_ok(acquire($standby, 'postgres', 'short', "holder => 'other'"), '>', $next, 'and is free when its TTL is over');

sqlstate_is($standby, 'postgres', "UPDATE t SET fence = $next", '00000', 'the new primary takes writes');
sqlstate_is($standby, 'postgres', "UPDATE t SET fence = $highest", 'LF001', 'and rejects stale ones');

done_testing();
