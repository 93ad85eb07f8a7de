\set k 2 * random(0, :resources / 2 - 1) + 1
SELECT granted, token FROM fencing.acquire('grow/' || :k::text, '1 ms');
