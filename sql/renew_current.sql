\i sql/include/fresh.psql
-- fencing.deadline says whose token is current for sure, and with what a renewal goes by it alone;
-- whoever is about to change that says no more, and the next renewal asks the record
CREATE VIEW sure AS SELECT resource, current, current IN (token_1, token_2) AS has_deadline FROM fencing.deadline ORDER BY 1;
-- a grant, and its first renewal
SELECT token FROM fencing.acquire('a', '1 h') \gset
TABLE sure;
SELECT fencing.renew('a', :token) > now() AS renewed;
TABLE sure;
-- one that is open, or rolled back
BEGIN; SELECT fencing.release('a', :token); SELECT granted FROM fencing.acquire('a', '1 h'); TABLE sure; ROLLBACK;
TABLE sure;
SELECT fencing.renew('a', :token) > now() AS renewed;
TABLE sure;
BEGIN; SELECT granted FROM fencing.acquire('b', '1 h'); SAVEPOINT s; SELECT granted FROM fencing.acquire('b2', '1 h'); ROLLBACK TO s; COMMIT;
TABLE sure;
-- several at once: the first renewals write it down
BEGIN; SELECT token AS c FROM fencing.acquire('c', '1 h') \gset
SELECT token AS d FROM fencing.acquire('d', '1 h') \gset
SELECT fencing.renew('c', :c) > now() AS renewed;
COMMIT;
TABLE sure;
SELECT fencing.renew('c', :c) > now(), fencing.renew('d', :d) > now();
TABLE sure;
-- granted and released at once, or granted anew
BEGIN; SELECT token AS e FROM fencing.acquire('e', '1 h') \gset
SELECT fencing.release('e', :e); COMMIT;
SELECT * FROM sure WHERE resource = 'e';
SELECT fencing.renew('e', :e);
SELECT token AS e FROM fencing.acquire('e', '1 h', 'worker') \gset
SELECT token AS again FROM fencing.acquire('e', '1 h', 'worker') \gset
SELECT fencing.renew('e', :e);
SELECT fencing.renew('e', :again) > now() AS renewed;
SELECT current = :again AS newest FROM sure WHERE resource = 'e';
-- a release that is open, rolled back, and committed
BEGIN; SELECT fencing.release('c', :c); SELECT * FROM sure WHERE resource = 'c'; SELECT fencing.renew('c', :c); ROLLBACK;
SELECT * FROM sure WHERE resource = 'c';
SELECT fencing.renew('c', :c) > now() AS renewed;
SELECT current = :c AS sure FROM sure WHERE resource = 'c';
SELECT fencing.release('c', :c);
SELECT * FROM sure WHERE resource = 'c';
SELECT fencing.renew('c', :c);
-- evicted, forgotten
SELECT fencing.evict('d') > :d AS evicted;
SELECT * FROM sure WHERE resource = 'd';
SELECT fencing.renew('d', :d);
SELECT fencing.forget('d');
SELECT * FROM sure WHERE resource = 'd';
SELECT fencing.renew('d', :d);
-- NULL is the TTL on record: the longest promised
SELECT token AS f FROM fencing.acquire('f', '1 min') \gset
SELECT fencing.renew('f', :f, '1 s') < now() + interval '30 s' AS shorter;
SELECT fencing.renew('f', :f) > now() + interval '50 s' AS as_recorded;
SELECT fencing.renew('f', :f, '1 h') > now() + interval '50 min' AS longer;
SELECT fencing.renew('f', :f, '1 s') < now() + interval '30 s' AS shorter;
SELECT fencing.renew('f', :f) > now() + interval '50 min' AS as_recorded;
SELECT current = :f AS sure FROM sure WHERE resource = 'f';
BEGIN; SELECT fencing.renew('f', :f, '2 h') > now() AS renewed; ROLLBACK;
SELECT fencing.renew('f', :f) > now() + interval '110 min' AS as_recorded;
-- the role still counts
CREATE ROLE regress_fencing_owner;
CREATE ROLE regress_fencing_member IN ROLE regress_fencing_owner;
CREATE ROLE regress_fencing_other;
SET ROLE regress_fencing_owner;
SELECT token AS g FROM fencing.acquire('g', '1 h') \gset
SELECT fencing.renew('g', :g) > now() AS renewed;
SET ROLE regress_fencing_member;
SELECT fencing.renew('g', :g) > now() AS renewed;
RESET ROLE;
SET SESSION AUTHORIZATION regress_fencing_other;
SELECT fencing.renew('g', :g);
RESET SESSION AUTHORIZATION;
ALTER ROLE regress_fencing_owner RENAME TO regress_fencing_renamed;
SET SESSION AUTHORIZATION regress_fencing_renamed;
SELECT fencing.renew('g', :g);
RESET SESSION AUTHORIZATION;
CREATE ROLE regress_fencing_owner;
SET SESSION AUTHORIZATION regress_fencing_owner;
SELECT fencing.renew('g', :g) > now() AS renewed;
RESET SESSION AUTHORIZATION;
-- the row is elsewhere, the index another
VACUUM FULL fencing.deadline;
SELECT fencing.renew('f', :f) > now() AS renewed;
REINDEX TABLE CONCURRENTLY fencing.deadline;
SELECT fencing.renew('f', :f) > now() AS renewed;
\c
SELECT fencing.renew('f', :f) > now() AS renewed;
-- gone in the transaction of a grant
BEGIN; SELECT granted FROM fencing.acquire('h', '1 h'); TRUNCATE fencing.deadline; COMMIT;
SELECT fencing.renew('f', :f) > now() AS renewed;
SELECT current = :f AS sure FROM sure WHERE resource = 'f';
BEGIN; SELECT granted FROM fencing.acquire('h2', '1 h'); DROP EXTENSION fencing CASCADE; COMMIT;
DROP ROLE regress_fencing_owner, regress_fencing_renamed, regress_fencing_member, regress_fencing_other;
