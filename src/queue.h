/*-------------------------------------------------------------------------
 *
 * queue.h
 *		Waiting for a lease: first come first served, woken by a release.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_QUEUE_H
#define FENCING_QUEUE_H

#include "datatype/timestamp.h"
#include "record.h"

/*
 * Tries to be served; returns whether it was.  Where it was not, *undecided
 * says that another's grant is in progress, and *until when to try again at
 * the latest.
 */
typedef bool (*QueueTry)(void *arg, bool *undecided, TimestampTz *until);

/* In microseconds, of a clock that is not set. */
extern int64 wait_clock(void);

/* Takes a lock, but waits no longer than that; returns whether it got it. */
extern bool lock_until(const text *resource, ResourceLock which, int64 end);

extern bool queue_wait(const text *resource, int64 end, QueueTry try, void *arg);

extern bool queue_has_waiters(const text *resource);
extern void queue_wake(const text *resource);

#endif /* FENCING_QUEUE_H */
