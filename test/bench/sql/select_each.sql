SELECT granted, token, resource, holder, expires_at, valid_for, renew_every, data
    FROM bench.answer WHERE resource = 'hot/' || :client_id::text;
