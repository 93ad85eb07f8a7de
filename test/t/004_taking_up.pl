# The fence taken up in a running system: protect() on a large table in use, and the way from
# writers that know of no token to a table that refuses them.

use strict;
use warnings;

use FencingTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = fencing_node('taking_up');
$node->safe_psql('postgres', q{
	CREATE TABLE big (id int PRIMARY KEY, v text);
	INSERT INTO big SELECT g, 'legacy' FROM generate_series(1, 100000) g;
});

sub filenode
{
	return $node->safe_psql('postgres', q{SELECT pg_relation_filenode('big')});
}

# A session that keeps a transaction open on the table.
sub open_session
{
	my ($sql) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query_safe($_) for 'BEGIN', $sql;
	return $session;
}

# ---- no scan, no rewrite
my $before = filenode();
is($node->safe_psql('postgres', q{
	BEGIN;
	SELECT fencing.protect('big');
	SELECT seq_scan + idx_scan + n_tup_ins + n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'big';
	SELECT mode FROM pg_locks WHERE relation = 'big'::regclass AND pid = pg_backend_pid() AND mode = 'AccessExclusiveLock';
	ROLLBACK}), "big\n0\nAccessExclusiveLock", 'protect() reads no row and writes none, under an exclusive lock');

# ---- the lock that it needs, and lock_timeout
my $reader = open_session('SELECT count(*) FROM big');
sqlstate_is($node, 'postgres', q{SET lock_timeout = '100 ms'; SELECT fencing.protect('big', on_stale => 'warn')},
	'55P03', 'lock_timeout ends the wait for a transaction that has read the table');
is($node->safe_psql('postgres', q{UPDATE big SET v = 'legacy 2' WHERE id = 1 RETURNING v}),
	'legacy 2', 'and those who were queued behind it go on');
is($node->safe_psql('postgres', q{SELECT count(*) FROM fencing.protected_tables}), '0', 'nothing is left of it');
$reader->query_safe('COMMIT');
$reader->quit;
$node->safe_psql('postgres', q{SET lock_timeout = '2 s'; SELECT fencing.protect('big', on_stale => 'warn')});
is(filenode(), $before, 'protect() does not rewrite the table');

# ---- warn: legacy writers go on, and are seen
$node->safe_psql('postgres', q{UPDATE big SET v = 'new', fence = 10 WHERE id = 1});
my ($result, $out, $err) = $node->psql('postgres', q{
	\set VERBOSITY sqlstate
	UPDATE big SET v = 'legacy 3' WHERE id = 1 RETURNING v, fence;
	UPDATE big SET v = 'legacy 4' WHERE id = 2 RETURNING v, fence});
is($out, "legacy 3|10\nlegacy 4|0", 'a legacy write passes and the row keeps its fence');
like($err, qr/\A\S+ WARNING:  LF002\z/, 'one warning, of the row that is fenced already');
($result, $out, $err) = $node->psql('postgres', q{
	\set VERBOSITY sqlstate
	UPDATE big SET v = 'stale', fence = 9 WHERE id = 1 RETURNING v, fence});
is($out, 'stale|10', 'so does a stale one');
like($err, qr/WARNING:  LF001/, 'with a warning');
like(slurp_file($node->logfile), qr/WARNING:  missing token for a row of "big" with fence 10/,
	'the log names the table, for whoever looks for the writers left');

# ---- error: when no warning is left
$node->safe_psql('postgres', q{SELECT fencing.protect('big', on_stale => 'error')});
sqlstate_is($node, 'postgres', q{UPDATE big SET v = 'legacy 5' WHERE id = 1}, 'LF002', 'then a legacy write is refused');
sqlstate_is($node, 'postgres', q{UPDATE big SET v = 'stale', fence = 9 WHERE id = 1}, 'LF001', 'and a stale one');
is($node->safe_psql('postgres', q{UPDATE big SET v = 'new', fence = 10 WHERE id = 1 RETURNING v}), 'new', 'a current one is not');
is($node->safe_psql('postgres', q{UPDATE big SET v = 'legacy 6' WHERE id = 3 RETURNING v, fence}), 'legacy 6|0',
	'a row that was never fenced is still open to writes without a token');
$node->safe_psql('postgres', q{SELECT fencing.protect('big', require_present => true)});
sqlstate_is($node, 'postgres', q{UPDATE big SET v = 'legacy 7' WHERE id = 3}, 'LF002', 'until require_present closes it');

$node->stop;
done_testing();
