# What the TAP tests share: a server with the extension, and statements whose failure is looked at.
package FencingTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(fencing_node sqlstate_is acquire);

# fencing_node(NAME, SETTING...): a running server whose database postgres has the extension.
sub fencing_node
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 1, extra => ['--data-checksums']);
	$node->append_conf('postgresql.conf', "$_\n") for @settings;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION fencing');
	return $node;
}

# sqlstate_is(NODE, DATABASE, SQL, SQLSTATE, TEST NAME): the SQL fails so; 00000 means that it works.
sub sqlstate_is
{
	my ($node, $database, $sql, $sqlstate, $name, %psql) = @_;
	my ($result, $out, $err) = $node->psql($database, "\\set VERBOSITY sqlstate\n$sql",
		on_error_stop => 1, %psql);

	my ($got) = $result ? $err =~ /(?:ERROR|FATAL):  (\w{5})/ : '00000';
	is($got // $err, $sqlstate, $name);
	return $out;
}

# acquire(NODE, DATABASE, RESOURCE, OPTION...): the token granted, '' if it was refused.
sub acquire
{
	my ($node, $database, $resource, @options) = @_;
	my $arguments = join ', ', "'$resource'", @options;

	return $node->safe_psql($database, "SELECT token FROM fencing.acquire($arguments)");
}

1;
