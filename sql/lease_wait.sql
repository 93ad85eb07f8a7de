\i sql/include/fresh.psql
-- waiting for a lease, with other sessions at the other end of dblink
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dblink;
RESET client_min_messages;
CREATE TEMP TABLE sessions (name text PRIMARY KEY, pid int);
-- sends a call to a session and returns when it waits in line
CREATE FUNCTION start(session text, call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF session <> ALL (coalesce(dblink_get_connections(), '{}')) THEN
		PERFORM dblink_connect(session, format('host=%s port=%s dbname=%s',
			split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()));
		DELETE FROM sessions WHERE name = session;
		INSERT INTO sessions SELECT session, pid FROM dblink(session, 'SELECT pg_backend_pid()') AS r (pid int);
	END IF;
	PERFORM dblink_send_query(session, call);
	FOR i IN 1 .. 2000 LOOP
		PERFORM pg_stat_clear_snapshot(), pg_sleep(0.005);
		IF EXISTS (SELECT FROM pg_stat_activity JOIN sessions USING (pid) WHERE name = session
				   AND state = 'active' AND wait_event_type IN ('Extension', 'Lock')) THEN
			RETURN 'waits';
		ELSIF dblink_is_busy(session) = 0 THEN
			RETURN 'does not wait';
		END IF;
	END LOOP;
	RETURN 'neither';
END $$;
-- what came of it, or that it still waits
CREATE FUNCTION result(session text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	rest text;
BEGIN
	FOR i IN 1 .. 2000 LOOP
		EXIT WHEN dblink_is_busy(session) = 0;
		PERFORM pg_sleep(0.005);
	END LOOP;
	IF dblink_is_busy(session) = 1 THEN
		RETURN 'still waits';
	END IF;
	BEGIN
		SELECT a INTO answer FROM dblink_get_result(session) AS r (a text);
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		answer := SQLSTATE;
	END;
	LOOP
		BEGIN
			SELECT a INTO rest FROM dblink_get_result(session) AS r (a text);
			EXIT WHEN NOT FOUND;
		EXCEPTION WHEN query_canceled OR OTHERS THEN
			NULL;
		END;
	END LOOP;
	RETURN answer;
END $$;
CREATE FUNCTION is_waiting(session text) RETURNS boolean LANGUAGE sql AS 'SELECT pg_sleep(0.05) IS NOT NULL AND dblink_is_busy(session) = 1';
\set acquire 'SELECT CASE WHEN granted THEN \'granted \' || token ELSE \'refused\' END FROM fencing.acquire(\'r\', \'1 h\', wait => \'1 h\')'
\set now 'SELECT CASE WHEN granted THEN \'granted \' || token ELSE \'refused\' END FROM fencing.acquire(\'r\')'
-- woken by a release, when that commits (trap 34)
SELECT granted, token FROM fencing.acquire('r', '1 h');
SELECT start('a', :'acquire');
BEGIN; SELECT fencing.release('r', 1); SELECT is_waiting('a'); ROLLBACK;
SELECT is_waiting('a');
BEGIN; SELECT fencing.release('r', 1); SELECT is_waiting('a'); COMMIT;
SELECT result('a');
-- first come first served; who does not wait does not overtake
SELECT start('b', :'acquire');
SELECT start('c', :'acquire');
SELECT fencing.renew('r', 2) > now();
SELECT is_waiting('b'), is_waiting('c');
SELECT fencing.release('r', 2);
SELECT result('b'), is_waiting('c');
SELECT granted FROM fencing.acquire('r');
SELECT fencing.release('r', 3);
SELECT result('c');
-- by an eviction, by a forget() of what was evicted
SELECT start('a', :'acquire');
SELECT fencing.evict('r');
SELECT result('a');
-- by expiry, also if a renewal brings the deadline forward
SELECT start('a', :'acquire');
SELECT fencing.renew('r', 6, '20 ms') > now();
SELECT result('a');
SELECT granted FROM fencing.acquire('short', '50 ms');
SELECT start('b', $$SELECT granted FROM fencing.acquire('short', wait => '1 h')$$) <> 'neither' AS sent;
SELECT result('b');
-- ends by its time, and the transaction goes on
SELECT start('b', $$SELECT granted FROM fencing.acquire('r', wait => '100 ms')$$) <> 'neither' AS sent;
SELECT result('b');
BEGIN;
SAVEPOINT s;
SELECT granted, holder IS NOT NULL AS by_whom FROM fencing.acquire('r', wait => '10 ms');
SELECT 1 AS goes_on;
COMMIT;
-- by the session's lock_timeout and statement_timeout, by a cancel; the next one moves up
SET lock_timeout = '20 ms';
SELECT granted FROM fencing.acquire('r', wait => '1 h');
RESET lock_timeout;
SET statement_timeout = '20 ms';
SELECT granted FROM fencing.acquire('r', wait => '1 h');
RESET statement_timeout;
SELECT start('a', :'acquire');
SELECT start('b', :'acquire');
SELECT start('c', $$SELECT granted FROM fencing.acquire('r', wait => '50 ms')$$) <> 'neither' AS sent;
SELECT result('c');
SET lock_timeout = '20 ms';
SELECT granted FROM fencing.acquire('r', wait => '1 h');
RESET lock_timeout;
SELECT dblink_cancel_query('a');
SELECT result('a'), is_waiting('b');
SELECT fencing.release('r', 7);
SELECT result('b');
-- by its session's end
SELECT start('a', :'acquire');
SELECT start('c', :'acquire');
SELECT pg_terminate_backend(pid) FROM sessions WHERE name = 'a';
SELECT is_waiting('c');
SELECT fencing.release('r', token) FROM fencing.leases WHERE resource = 'r';
SELECT result('c') LIKE 'granted%' AS granted;
SELECT dblink_disconnect('a');
-- a holder's name given by the caller is served at once, also before those in line
SELECT fencing.release('r', token) FROM fencing.leases WHERE resource = 'r';
SELECT granted FROM fencing.acquire('r', '1 h', 'worker');
SELECT start('c', :'acquire');
SELECT granted FROM fencing.acquire('r', '1 h', 'worker');
SELECT granted FROM fencing.acquire('r', '1 h', 'worker', wait => '10 ms');
SELECT fencing.release('r', token) FROM fencing.leases WHERE resource = 'r';
SELECT result('c') LIKE 'granted%' AS granted;
-- it holds no lock on the lease's row meanwhile, and no transaction waits for the waiter
SELECT start('c', :'acquire');
SELECT fencing.renew('r', token) > now() FROM fencing.leases WHERE resource = 'r';
SELECT granted FROM fencing.acquire('another', wait => '1 h');
SELECT fencing.evict('r') > 0;
SELECT result('c') LIKE 'granted%' AS granted;
SELECT dblink_disconnect('b'), dblink_disconnect('c');
DROP EXTENSION dblink;
-- a wait that was given up leaves no lock_timeout behind
SELECT granted FROM fencing.acquire('left behind', '1 h');
SET lock_timeout = '600 ms';
SET statement_timeout = '200 ms';
DO $$
BEGIN
	PERFORM fencing.acquire('left behind', wait => '1 min');
EXCEPTION WHEN query_canceled THEN
	PERFORM pg_sleep(0.8);
END
$$;
RESET lock_timeout;
RESET statement_timeout;
