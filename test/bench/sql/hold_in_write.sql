\set k random(0, 10000/:n - 1) * :n + :client_id
\set token :first + :k
UPDATE bench.bound SET n = n + 1 WHERE id = :k AND fence <= fencing.hold(resource, :token);
