# A session kept open: psql at the end of a pipe, with the SQLSTATE of every answer, and a closed
# connection told apart from an error.
package FencingSession;

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use POSIX ();
use Time::HiRes qw(time);

# new(CONNSTR, PSQL OPTION...)
sub new
{
	my ($class, $connstr, @options) = @_;

	pipe(my $theirs_in, my $in) or die "pipe: $!";
	pipe(my $out, my $theirs_out) or die "pipe: $!";
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		open(STDIN, '<&', $theirs_in) && open(STDOUT, '>&', $theirs_out) && open(STDERR, '>&', $theirs_out)
		  or POSIX::_exit(127);
		POSIX::close($_) for 3 .. 255;
		exec('psql', '-XqAt', '-v', 'VERBOSITY=sqlstate', '-v', 'ON_ERROR_STOP=0', '-d', $connstr,
			@options, '-f', '-')
		  or POSIX::_exit(127);
	}
	close $theirs_in;
	close $theirs_out;
	$in->autoflush(1);
	return bless {
		owner => $$, pid => $pid, in => $in, out => $out, buffer => '', select => IO::Select->new($out)
	}, $class;
}

# send(SQL): one or more statements, of which none is waited for.
sub send
{
	my ($self, $sql) = @_;
	local $SIG{PIPE} = 'IGNORE';

	$sql .= ';' unless $sql =~ /;\s*\z/;
	print { $self->{in} } "$sql\n\\warn \@\@ :SQLSTATE\n";
	return $self;
}

# receive(SECONDS): the answer to the oldest statement sent and not yet received: a hash with state
# (SQLSTATE of the last statement), text and notices. undef: the connection was closed without one; what
# came before that is in {last}. Dies where nothing came in time, or returns 'waiting' if told so.
sub receive
{
	my ($self, $seconds, $may_wait) = @_;
	my $end = time + ($seconds // 60);

	until ($self->{buffer} =~ /^@@ \w*\n/m)
	{
		my $left = $end - time;
		if ($left <= 0)
		{
			return 'waiting' if $may_wait;
			die "no answer in time: $self->{buffer}";
		}
		next unless $self->{select}->can_read($left);
		unless (sysread($self->{out}, $self->{buffer}, 65536, length $self->{buffer}))
		{
			$self->{last} = $self->{buffer};
			$self->end;
			return;
		}
	}
	$self->{buffer} =~ s/\A(.*?)^@@ (\w*)\n//ms;
	my ($text, $state) = ($1, $2);

	# ":SQLSTATE" is that of the last statement; an earlier one's error is in the text.
	$state = $1 if $text =~ /(?:ERROR|FATAL):  (\w{5})/;
	my $notices = join '', $text =~ /^(psql:\S+ (?:WARNING|NOTICE|INFO): .*\n)/mg;
	$text =~ s/^psql:\S+ (?:WARNING|NOTICE|INFO): .*\n//mg;
	chomp $text;
	return { text => $text, state => $state, notices => $notices };
}

sub query
{
	my ($self, $sql, $seconds) = @_;
	return $self->send($sql)->receive($seconds);
}

# value(SQL): its only value; dies where that fails.
sub value
{
	my ($self, $sql) = @_;
	my $answer = $self->query($sql) // die "connection lost: $self->{last}";
	die "$sql: $answer->{text}" if $answer->{state} ne '00000';
	return $answer->{text};
}

# backend(): the process ID of the session's backend.
sub backend
{
	my ($self) = @_;
	return $self->{backend} //= $self->value('SELECT pg_backend_pid()');
}

# is_open(): psql is still there and has been told of no end.
sub is_open { return defined $_[0]->{in}; }

# end(SIGNAL): closes the session; with a signal, psql gets that first and says no good-bye.
sub end
{
	my ($self, $signal) = @_;

	return unless defined $self->{in};
	kill $signal, $self->{pid} if $signal;
	close $self->{in};
	close $self->{out};
	delete $self->{in};
	local $?;
	waitpid $self->{pid}, 0;
	return;
}

# Not from a child that was forked with the session open.
sub DESTROY { $_[0]->end('KILL') if $_[0]->{owner} == $$; return; }

1;
