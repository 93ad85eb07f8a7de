\set k random(0, 10000/:n - 1) * :n + :client_id
UPDATE bench.empty SET n = n + 1, fence = :first::bigint WHERE id = :k AND fence <= :first::bigint;
