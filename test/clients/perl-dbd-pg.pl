# DBD::Pg, which binds everything as untyped text.
use strict;
use warnings;
use DBI;

my ($SMALL, $WIDE, $BIG) = (101, 2**31 - 1, 9007199254740993);
my $STALE = "The write carries token 101, but token $BIG has been committed to the row.";

# Every statement prepared, but never through a pooler that knows no prepared statements. The
# fields of an error are read at once: they are gone when the statement is.
sub connection {
    return DBI->connect('dbi:Pg:', undef, undef, {
        PrintError => 0,
        HandleError => \&throw,
        pg_server_prepare => $ENV{POOLED} ? 0 : 1,
        pg_switch_prepared => 1,
    });
}

sub throw {
    my ($message, $handle) = @_;
    my $on = $handle->{Type} eq 'st' ? $handle->{Database} : $handle;
    my @fields = qw(detail hint schema table column);
    die { message => $message, state => $handle->state, map { $_ => $on->pg_error_field("$_") } @fields };
}

my ($own, $pooled) = (connection(), connection());

sub value { my ($on, $sql, @values) = @_; return ($on->selectrow_array($sql, undef, @values))[0]; }
sub fence { return value($own, 'SELECT fence::text FROM job WHERE id = $1', @_); }
sub present { my ($on, $token) = @_; return value($on, 'SELECT fencing.present($1)', $token); }
sub grant { return $own->selectrow_array(q{SELECT granted, token FROM fencing.acquire($1, '1 min', 'me')}, undef, @_); }

sub update {
    my ($id, $token) = @_;
    return $own->do(q{UPDATE job SET v = 'x', fence = $1 WHERE id = $2 AND fence <= $1}, undef, $token, $id) + 0;
}

sub read_row {
    my ($on, $table, $id) = @_;
    return $on->selectrow_array("SELECT id, v, fence FROM $table WHERE id = \$1", undef, $id);
}

sub write_back {
    my ($on, $table, @row) = @_;
    same($on->do("UPDATE $table SET id = \$1, v = \$2, fence = \$3 WHERE id = \$1", undef, @row), 1);
}

sub transaction {
    my ($work) = @_;
    $pooled->begin_work;
    return if eval { $work->($pooled); $pooled->commit; 1 };
    my $error = $@;
    $pooled->rollback unless $pooled->{AutoCommit};
    die $error;
}

# The fields of the error that the work must raise.
sub fails {
    my ($state, $work) = @_;
    eval { $work->(); 1 } and die "no error\n";
    die $@ unless ref $@;
    same($@->{state}, $state);
    return %{$@};
}

sub same {
    my ($got, $wanted) = map { $_ // 'undef' } @_;
    die "got $got, wanted $wanted\n" if $got ne $wanted;
}

sub types {
    my %seen;
    return join ', ', grep { !$seen{$_}++ } map { eval { value($own, 'SELECT pg_typeof($1)::text', $_) } // 'untyped' } @_;
}

sub fact { print "is $_[0]: $_[1]\n"; }

sub test {
    my ($name, $test) = @_;
    print eval { $test->(); 1 } ? "ok $name\n" : "not ok $name: " . (ref $@ ? $@->{message} : $@) =~ s/\s+/ /gr . "\n";
}

fact(integer => types($SMALL, $WIDE, $BIG));
fact(string => types("$BIG"));
fact(pooler => '`pg_server_prepare => 0`');

test 'small integer', sub { same(update(1, $SMALL), 1); same(fence(1), 101) };
test '32-bit integer', sub { same(update(2, $WIDE), 1); same(fence(2), 2147483647) };
test '64-bit integer', sub { same(update(3, $BIG), 1); same(fence(3), '9007199254740993') };
test 'string', sub { same(update(4, "$BIG"), 1); same(fence(4), '9007199254740993') };
test 'array', sub {
    my $count = 'SELECT count(*) FROM job WHERE id = 10 AND fence = ANY($1)';
    same(value($own, $count, [ $SMALL, $BIG ]), 1);
    same(value($own, $count, [ $SMALL, $WIDE ]), 0);
};
test 'assignment alone', sub {
    same($own->do('UPDATE job SET fence = $1 WHERE id = 5', undef, $BIG), 1);
    same(fence(5), '9007199254740993');
};
test 'lower token', sub { same(update(10, $SMALL), 0) };
test 'read', sub {
    fact(fence => 'scalar');
    same((read_row($own, 'job', 10))[2], '9007199254740993');
};
test 'read as bigint', sub {
    fact(bigint => 'scalar');
    same(value($own, 'SELECT fence::bigint FROM job WHERE id = 10') + 1, '9007199254740994');
};
test 'stale token', sub {
    my %got = fails('LF001', sub { $own->do('UPDATE job SET fence = 101 WHERE id = 10') });
    same($got{detail}, $STALE);
    same(substr($got{hint}, 0, 14), 'Another holder');
    same("@got{qw(schema table column)}", 'public job fence');
    fact(error => 'nothing');
};
test 'refused grant', sub {
    my ($granted, $token) = grant('taken');
    same($granted, 0);
    same($token, undef);
    same(update(10, $token), 0);
    fails('22004', sub { present($own, $token) });
};
test 'present', sub {
    transaction(sub { present($_[0], $BIG); $_[0]->do(q{UPDATE job SET v = 'x' WHERE id = 6}) });
    same(fence(6), '9007199254740993');
};
test 'lost at commit', sub {
    my (undef, $token) = grant('work');
    die "token $token\n" unless $token > $BIG;
    fails('LF004', sub {
        transaction(sub {
            same(value($_[0], q{SELECT fencing.hold('work', $1)}, $token), $token);
            $_[0]->do(q{UPDATE job SET v = 'x' WHERE id = 7});
            grant('work');
        });
    });
    same(fence(7), 0);
    fact(commit => '`die`');
};
test 'no leak', sub {
    transaction(sub { present($_[0], $BIG) });
    fails('22012', sub { transaction(sub { present($_[0], $BIG); $_[0]->do('SELECT 1 / 0') }) });
    transaction(sub { same(value($_[0], 'SELECT fencing.presented()'), undef) }) for 1, 2;
};
test 'whole row, current', sub { write_back($own, 'job', read_row($own, 'job', 11)) };
test 'whole row, stale', sub {
    my @row = read_row($own, 'job', 12);
    same(update(12, $BIG + 1), 1);
    fails('LF001', sub { write_back($own, 'job', @row) });
};
test 'whole row, presented', sub {
    fails('LF001', sub {
        transaction(sub { present($_[0], $SMALL); write_back($_[0], 'job', read_row($_[0], 'job', 13)) });
    });
};
test 'whole row, required', sub {
    fails('LF002', sub { write_back($own, 'strict_job', read_row($own, 'strict_job', 1)) });
    transaction(sub { present($_[0], $BIG + 1); write_back($_[0], 'strict_job', read_row($_[0], 'strict_job', 1)) });
    same(value($own, 'SELECT fence::text FROM strict_job'), '9007199254740994');
};
