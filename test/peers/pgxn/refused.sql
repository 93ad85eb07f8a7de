SELECT acquired, epoch, expires_at FROM pgxn.acquire('hot', 'w' || :client_id::text, '30 s'::interval);
