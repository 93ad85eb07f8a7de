\set k random(0, 10000/:n - 1) * :n + :client_id
\set token :first + :k
SELECT fencing.renew('held/' || :k::text, :token::bigint);
