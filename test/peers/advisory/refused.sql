SELECT pg_try_advisory_lock(7000, 1);
