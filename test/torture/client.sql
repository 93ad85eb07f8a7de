-- What the clients were told. Times are in microseconds: sent and received on the clients'
-- monotonic clock, the others on the wall clock.
CREATE TEMP TABLE client (
    op bigint,                          -- number of the call
    kind text,
    target text,                        -- resource, or table
    token bigint,
    deadline bigint,                    -- promised
    sent bigint,
    received bigint,
    wall bigint,                        -- when it was received
    state text,                         -- SQLSTATE; refused; no row; lost: not known
    durable boolean                     -- an answer means that it is on disk
);
