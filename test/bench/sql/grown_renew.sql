\set k 2 * random(0, :resources / 2 - 1)
SELECT fencing.renew('grow/' || :k::text, 1);
