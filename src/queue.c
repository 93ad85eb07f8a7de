/*-------------------------------------------------------------------------
 *
 * queue.c
 *		Waiting for a lease: first come first served, woken by a release.
 *
 * The queue of a resource is the wait queue of its queue lock.  Its holder is
 * the first in line: it sleeps on its latch until the lease is released or its
 * deadline comes.  All others sleep in the lock manager and cost nothing.  A
 * waiter that gives up, is cancelled or dies loses the lock, and the next one
 * is first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "queue.h"

/*
 * The first in line looks again at least this often: a deadline may have been
 * brought forward by a renewal with a shorter TTL, or the clock set.
 */
#define LOOK_AGAIN_MS 1000

int64
wait_clock(void)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	return (int64) INSTR_TIME_GET_MICROSEC(now);
}

/* Rounded up: what ends later would be looked at again at once. */
static long
milliseconds_until(int64 end)
{
	return (long) Min((Max(end - wait_clock(), 0) + 999) / 1000, INT_MAX);
}

/*
 * lock_until
 *		Takes a lock, but waits no longer than to the end; returns whether it got it.
 *
 * The lock manager's own time-out does that, within a subtransaction, since
 * its error would otherwise abort the caller's.  A shorter lock_timeout of
 * the session stays an error.
 */
bool
lock_until(const text *resource, ResourceLock which, int64 end)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int session_timeout = LockTimeout;
	int left = (int) Min(milliseconds_until(end), INT_MAX);
	volatile bool locked = true;

	if (resource_lock(resource, which, false))
		return true;
	if (left <= 0)
		return false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		if (session_timeout <= 0 || left < session_timeout)
			LockTimeout = left;
		(void) resource_lock(resource, which, true);

		/* The time may be up at the very moment when the lock is ours. */
		CHECK_FOR_INTERRUPTS();
		LockTimeout = session_timeout;
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		bool ours = LockTimeout != session_timeout &&
			geterrcode() == ERRCODE_LOCK_NOT_AVAILABLE;
		ErrorData *error;

		LockTimeout = session_timeout;
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (!ours)
			ReThrowError(error);
		locked = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return locked;
}

/*
 * sleep_until
 *		The first in line sleeps.  lock_timeout counts from when it became
 *		first, as for any lock that it would wait for.
 */
static void
sleep_until(TimestampTz until, int64 end, TimestampTz lock_deadline)
{
	long left = Min(TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until),
					milliseconds_until(end));

	left = Min(left, LOOK_AGAIN_MS);

	if (LockTimeout > 0)
		enable_timeout_at(LOCK_TIMEOUT, lock_deadline);
	PG_TRY();
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Max(left, 1), wait_event_for_lease());
		CHECK_FOR_INTERRUPTS();
	}
	PG_FINALLY();
	{
		/* Whoever catches a cancel goes on, and waits for no lock any more. */
		if (LockTimeout > 0)
			disable_timeout(LOCK_TIMEOUT, true);
	}
	PG_END_TRY();
}

static bool
serve_first(const text *resource, int64 end, QueueTry try, void *arg)
{
	TimestampTz lock_deadline =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LockTimeout);

	for (;;)
	{
		bool undecided;
		TimestampTz until;

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (try(arg, &undecided, &until))
			return true;
		if (wait_clock() >= end)
			return false;
		if (undecided)
		{
			/* In the lock manager, where a deadlock is noticed. */
			if (!lock_until(resource, LOCK_WRITER, end))
				return false;
			resource_unlock(resource, LOCK_WRITER);
		}
		else
			sleep_until(until, end, lock_deadline);
	}
}

/* A client that has gone away is noticed while we wait. */
static int
watch_client(void)
{
	int session_interval = client_connection_check_interval;

	if (MyProcPort && WaitEventSetCanReportClosed() &&
		(session_interval == 0 || session_interval > LOOK_AGAIN_MS))
	{
		client_connection_check_interval = LOOK_AGAIN_MS;
		enable_timeout_after(CLIENT_CONNECTION_CHECK_TIMEOUT, LOOK_AGAIN_MS);
	}
	return session_interval;
}

static void
unwatch_client(int session_interval)
{
	client_connection_check_interval = session_interval;
	if (session_interval == 0 && MyProcPort && WaitEventSetCanReportClosed())
		disable_timeout(CLIENT_CONNECTION_CHECK_TIMEOUT, false);
}

/*
 * queue_wait
 *		Waits in line for a resource, to this end at the most, and tries
 *		whenever it may have become free.  Returns whether it was served.
 */
bool
queue_wait(const text *resource, int64 end, QueueTry try, void *arg)
{
	int session_interval = watch_client();
	volatile bool served = false;

	PG_TRY();
	{
		if (lock_until(resource, LOCK_QUEUE, end))
		{
			served = serve_first(resource, end, try, arg);
			resource_unlock(resource, LOCK_QUEUE);
		}
	}
	PG_FINALLY();
	{
		unwatch_client(session_interval);
	}
	PG_END_TRY();
	return served;
}

/* Does anybody else stand in line?  Whoever comes later is not overtaken. */
bool
queue_has_waiters(const text *resource)
{
	VirtualTransactionId *holders = resource_conflicts(resource, LOCK_QUEUE);
	bool has_waiters = VirtualTransactionIdIsValid(holders[0]);

	pfree(holders);
	return has_waiters;
}

/*
 * queue_wake
 *		Wakes the first in line, if there is one.  Called when the release can
 *		be seen; whoever becomes first after this looks after it.
 */
void
queue_wake(const text *resource)
{
	VirtualTransactionId *holders = resource_conflicts(resource, LOCK_QUEUE);

	for (int i = 0; VirtualTransactionIdIsValid(holders[i]); i++)
	{
		PGPROC *proc = vxid_proc(holders[i]);

		if (proc)
			SetLatch(&proc->procLatch);
	}

	/* One transaction may release very many. */
	pfree(holders);
}
