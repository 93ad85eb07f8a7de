-- What another session does while refused.sql runs.
SELECT pg_advisory_lock(7000, 1);
SELECT pg_sleep(86400);
