-- A careful worker, run by a psql of its own with the variables me, tbl and fenced. It tells what
-- it did and what the server said on stderr, in lines of "me|what".
\set QUIET on
\pset tuples_only on

\set acquire 'select * from fencing.acquire(''nightly report'', ttl => ''2 s'', holder => :''me'')'
:acquire \gset
\if :granted
\else
    select round(extract(epoch from :'expires_at' - clock_timestamp()), 1) as "left" \gset
    \warn :me|acquire: refused, lease ends in :left s
    select pg_sleep_until(:'expires_at') \g /dev/null
    :acquire \gset
\endif
\if :granted
\else
    \warn :me|acquire: refused again
    \quit
\endif
\warn :me|acquire: granted, token :token

-- The last look before the write. No client can do better: wherever it looks, it may be stopped
-- between the look and the write.
select state = 'held' and token = :token as mine
  from fencing.leases where resource = 'nightly report' \gset
\if :mine
\else
    \warn :me|still my lease? no, so stop
    \quit
\endif
\warn :me|still my lease? yes, so write
\! sleep 1

\if :fenced
    update :tbl set written_by = :'me', fence = :token where id = 1;
\else
    update :tbl set written_by = :'me' where id = 1;
\endif
\if :ERROR
    \warn :me|:LAST_ERROR_MESSAGE
    \warn :me|UPDATE: SQLSTATE :SQLSTATE
\else
    \warn :me|UPDATE :ROW_COUNT
\endif

select fencing.release('nightly report', :token) as released \gset
\warn :me|release: :released
