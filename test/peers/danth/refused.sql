INSERT INTO danth.lease AS l VALUES ('hot', 'w' || :client_id::text, now() + '30 s'::interval)
    ON CONFLICT (name) DO UPDATE SET
        worker_id = CASE WHEN l.held_until < now() THEN excluded.worker_id ELSE l.worker_id END,
        held_until = CASE WHEN l.held_until < now() THEN excluded.held_until ELSE l.held_until END
    RETURNING worker_id, held_until;
