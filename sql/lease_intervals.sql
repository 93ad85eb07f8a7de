\i sql/include/fresh.psql
-- ttl x (1 - drift) - rtt
SELECT fencing.safe_window('30 s');
SELECT fencing.safe_window('30 s', 0);
SELECT fencing.safe_window('30 s', 1000);
SELECT fencing.safe_window('30 s', 83334, '100 ms');
SELECT fencing.safe_window('30 s', rtt => '50 ms');
SELECT fencing.safe_window('30 s', 1000000);
SELECT fencing.safe_window('1 s', 1000, '2 s');
SELECT fencing.safe_window('365 days', 1000);
SELECT fencing.safe_window('1 ms', 1);
SELECT fencing.safe_window('30 s', -1);
SELECT fencing.safe_window('30 s', 1000001);
SELECT fencing.safe_window('0');
SELECT fencing.safe_window('-1 s');
SELECT fencing.safe_window('30 s', 0, '-1 s');
SELECT fencing.heartbeat_interval('30 s');
SELECT fencing.heartbeat_interval('1 s');
SELECT fencing.heartbeat_interval('1 ms');
SELECT fencing.heartbeat_interval('3 days');
SELECT fencing.heartbeat_interval('0');
SELECT fencing.heartbeat_interval('366 days');
SELECT renew_every = fencing.heartbeat_interval('10 s') AS agrees FROM fencing.acquire('a', '10 s');
