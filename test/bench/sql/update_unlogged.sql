\set k random(0, 10000/:n - 1) * :n + :client_id
UPDATE bench.unlogged SET n = n + 1 WHERE id = :k;
