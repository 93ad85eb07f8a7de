\set k 2 * random(0, :resources / 2 - 1)
SELECT token FROM fencing.lease WHERE resource = 'grow/' || :k::text;
