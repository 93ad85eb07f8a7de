\i sql/include/fresh.psql
-- names: 1 to 512 bytes, never cut in silence (trap 32)
SELECT granted FROM fencing.acquire(repeat('x', 512));
SELECT granted FROM fencing.acquire(repeat('ü', 256));
SELECT fencing.acquire(repeat('x', 513));
SELECT fencing.acquire(repeat('ü', 257));
SELECT fencing.acquire('');
SELECT fencing.hold(repeat('x', 513), 1);
SELECT fencing.renew('', 1);
SELECT fencing.release(repeat('x', 513), 1);
SELECT fencing.forget('');
SELECT fencing.evict('');
SELECT granted FROM fencing.acquire('holder', holder => repeat('x', 512));
SELECT fencing.acquire('holder 2', holder => repeat('x', 513));
SELECT fencing.acquire('holder 2', holder => '');
-- ttl: 1 ms to 365 days (trap 4)
SELECT granted FROM fencing.acquire('ttl 1', '1 ms');
SELECT granted FROM fencing.acquire('ttl 2', '365 days');
SELECT granted FROM fencing.acquire('ttl 3', '12 months');
SELECT granted FROM fencing.acquire('ttl 4', '8760 hours');
SELECT granted FROM fencing.acquire('ttl 5', '1 day -23 hours');
SELECT fencing.acquire('ttl', '999 us');
SELECT fencing.acquire('ttl', '0');
SELECT fencing.acquire('ttl', '-1 s');
SELECT fencing.acquire('ttl', '365 days 1 us');
SELECT fencing.acquire('ttl', '1 year 6 days');
SELECT fencing.acquire('ttl', '1 month -31 days');
SELECT fencing.acquire('ttl', '1000000 years');
SELECT fencing.acquire('ttl', '-178000000 years');
SELECT fencing.acquire('ttl', '2147483647 days 2562047788 hours');
SELECT fencing.acquire('ttl', NULL);
SELECT fencing.renew('ttl 2', 1, '0');
SELECT fencing.renew('ttl 2', 1, '366 days');
-- wait: from 0; no more than that
SELECT granted FROM fencing.acquire('ttl 2', wait => '0');
SELECT granted FROM fencing.acquire('ttl 2', wait => NULL);
SELECT granted FROM fencing.acquire('ttl 2', wait => '20 ms');
SELECT granted FROM fencing.acquire('wait 1', wait => '1 h');
SELECT fencing.acquire('wait', wait => '-1 s');
SELECT fencing.acquire('wait', wait => '1000000 years');
-- data: any jsonb
SELECT granted, data FROM fencing.acquire('data 1', data => 'null');
SELECT granted, data FROM fencing.acquire('data 2', data => '[1, {"a": "b"}]');
SELECT granted, length(data::text) FROM fencing.acquire('data 3', data => to_jsonb(repeat('x', 100000)));
SELECT length(data::text) FROM fencing.acquire('data 3');
SELECT granted, data FROM fencing.acquire('data 4');
SELECT fencing.acquire('data', data => '{');
-- tokens
SELECT fencing.renew('data 1', 0);
SELECT fencing.renew('data 1', -1);
SELECT fencing.release('data 1', 0);
SELECT fencing.release('data 1', -1);
SELECT fencing.hold('data 1', 0);
SELECT fencing.hold('data 1', -1);
SELECT fencing.hold('data 1', 9223372036854775807);
-- resources with every kind of character
SELECT granted FROM fencing.acquire(E'new\nline');
SELECT granted FROM fencing.acquire('100%; DROP TABLE x; -- ''quoted'' "names" \ {}');
SELECT granted FROM fencing.acquire(' ');
SELECT granted FROM fencing.acquire('锁');
SELECT fencing.release(resource, token) FROM fencing.leases WHERE resource IN (E'new\nline', '锁');
