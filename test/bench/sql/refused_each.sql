SELECT * FROM fencing.acquire('hot/' || :client_id::text);
