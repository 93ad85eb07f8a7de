\i sql/include/fresh.psql
-- 1, 2, 3 on a new cluster; one sequence for grants and issue_token()
SELECT fencing.issue_token();
SELECT token FROM fencing.acquire('a');
SELECT fencing.issue_token();
SELECT seqcache, seqcycle, seqtypid::regtype, seqincrement FROM pg_sequence WHERE seqrelid = 'fencing.token_seq'::regclass;
-- refused: none is used up
SELECT granted FROM fencing.acquire('a');
SELECT fencing.issue_token();
-- lastval() is the application's; nextval() by an administrator does no harm
CREATE SEQUENCE own START 100;
SELECT nextval('own'), fencing.issue_token(), nextval('fencing.token_seq'), fencing.issue_token();
SELECT nextval('own'), fencing.issue_token();
SELECT lastval();
-- set back: LF006, for this resource and for those with a floor above
SELECT setval('fencing.token_seq', 1, false);
SELECT fencing.release('a', 2);
SELECT fencing.acquire('a');
SELECT setval('fencing.token_seq', 5000);
SELECT token FROM fencing.acquire('a');
SELECT setval('fencing.token_seq', 50);
SELECT fencing.release('a', 5001);
SELECT fencing.acquire('a');
-- but no token is issued twice: others go on above all that were, and then this one does
SELECT fencing.issue_token() > 5001 AS higher;
SELECT token > 5001 AS higher FROM fencing.acquire('a');
SELECT fencing.release('a', token) FROM fencing.leases;
SELECT setval('fencing.token_seq', 50);
SELECT fencing.acquire('a');
-- mended by new_epoch()
SELECT fencing.new_epoch();
SELECT token FROM fencing.acquire('a');
SELECT token > 2 ^ 40 AS next_epoch FROM fencing.leases;
SELECT fencing.new_epoch() - fencing.new_epoch();
SELECT fencing.issue_token() > token AS higher FROM fencing.leases;
-- which has no floor yet, and needs none
SELECT fencing.issue_token() AS t \gset
SELECT setval('fencing.token_seq', 1, false);
SELECT fencing.issue_token() > :t AS higher;
SELECT fencing.issue_token() > :t + 1 AS higher;
-- nextval() may take other steps
ALTER SEQUENCE fencing.token_seq INCREMENT -10;
SELECT fencing.issue_token() AS t \gset
SELECT nextval('fencing.token_seq') IS NOT NULL AS set_back;
SELECT fencing.issue_token() > :t AS higher;
ALTER SEQUENCE fencing.token_seq INCREMENT 1;
-- above a given token
SELECT fencing.new_epoch(8070450532247928832);
SELECT fencing.issue_token() > 8070450532247928832 AS higher;
SELECT fencing.new_epoch(1) > 0 AS ok;
SELECT fencing.issue_token() > 8070450532247928832 AS higher;
-- not undone by a rollback
SELECT fencing.issue_token() AS before \gset
BEGIN; SELECT fencing.new_epoch() > 0 AS ok; ROLLBACK;
SELECT fencing.issue_token() - :before >= 1099511627776 AS later;
-- out of range, and running out: an error, never a wrap
SELECT fencing.new_epoch(-1);
SELECT fencing.new_epoch(9223372036854775807);
SELECT fencing.new_epoch(9223360000000000000) > 0 AS ok;
SELECT fencing.issue_token() > 9223360000000000000 AS higher;
DO $$
BEGIN
	FOR i IN 1 .. 10 LOOP
		PERFORM fencing.new_epoch();
	END LOOP;
END $$;
SELECT fencing.issue_token() > 9223360000000000000 AS higher;
SELECT setval('fencing.token_seq', 1099511627774);
SELECT fencing.issue_token() IS NOT NULL AS last_of_the_epoch;
SELECT fencing.issue_token();
SELECT fencing.issue_token();
SELECT fencing.acquire('z');
