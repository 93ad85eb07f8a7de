SELECT * FROM fencing.acquire('hot');
