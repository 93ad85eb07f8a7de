/*-------------------------------------------------------------------------
 *
 * durable.c
 *		What must be on disk, and on the standbys, before anyone is told.
 *
 * A grant that a crash or a failover could take back is no grant.  So the
 * commit of one is flushed, and replicated where synchronous standbys are
 * configured, whatever synchronous_commit says by then; and what is not
 * undone by a rollback is written in place, with WAL of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "postmaster/walwriter.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "catalog.h"
#include "compat.h"
#include "durable.h"

bool fencing_require_synchronous = false;

static bool
standbys_configured(void)
{
	return max_wal_senders > 0 &&
		SyncRepStandbyNames != NULL && SyncRepStandbyNames[0] != '\0';
}

/* Have the synchronous standbys flushed the WAL up to here? */
static bool
standbys_have(XLogRecPtr lsn)
{
	bool have;

	LWLockAcquire(SyncRepLock, LW_SHARED);
	have = lsn <= WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH];
	LWLockRelease(SyncRepLock);
	return have;
}

/*
 * A session that has waited for long may not know yet what others wait for: the
 * configuration is otherwise read between commands.
 */
static void
heed_reload(void)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/*
 * require_synchronous_standbys
 *		With fencing.require_synchronous, refuses to grant on a primary whose
 *		loss could lose the grant.
 */
void
require_synchronous_standbys(void)
{
	heed_reload();
	if (fencing_require_synchronous && !standbys_configured())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no lease is granted without synchronous standbys"),
				 errdetail("fencing.require_synchronous is on, and synchronous_standby_names is empty."),
				 errhint("Set synchronous_standby_names, or turn fencing.require_synchronous off if a failover may lose grants.")));
}

static void
set_synchronous_commit(const char *value)
{
	(void) set_config_option("synchronous_commit", value,
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

/*
 * force_durable_commit
 *		Called before the commit of a transaction with a grant, when no user
 *		code can lower synchronous_commit any more.
 */
void
force_durable_commit(void)
{
	ForceSyncCommit();
	if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
		set_synchronous_commit("on");
}

/*
 * close_unless_replicated
 *		Called after the commit of a transaction with a grant.  If the wait
 *		for the standbys was cancelled, the server would report success with
 *		a mere warning.  Instead the client gets no answer at all, which is
 *		what it must act on: a grant not known.
 *
 * We are past the commit record, so raising an error is out of the question:
 * the session is told to end as soon as it may.  Not by a signal, whose handler
 * in a background worker may end it at once.
 */
void
close_unless_replicated(void)
{
	if (!standbys_configured() ||
		XLogRecPtrIsInvalid(XactLastCommitEnd) ||
		standbys_have(XactLastCommitEnd))
		return;

	whereToSendOutput = DestNone;
	ProcDiePending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

/*
 * allow_lazy_commit, restore_synchronous_commit
 *		Lets the commit that is about to be made return before its WAL is
 *		flushed.  Not through the setting, which would cost as much as the rest
 *		of a release: nothing but the commit itself runs before it is restored.
 */
static int session_synchronous_commit;
static bool is_lazy = false;

void
allow_lazy_commit(void)
{
	if (is_lazy)
		return;
	session_synchronous_commit = synchronous_commit;
	synchronous_commit = SYNCHRONOUS_COMMIT_OFF;
	is_lazy = true;
}

void
restore_synchronous_commit(void)
{
	if (is_lazy)
		synchronous_commit = session_synchronous_commit;
	is_lazy = false;
}

/*
 * write_in_place
 *		Changes the fixed-width columns of a row where it stands: seen by
 *		all at once, undone by no rollback, replayed after a crash and on a
 *		standby.  The server does the same to pg_database.datfrozenxid, with the
 *		same WAL record.
 *
 * change() gets those columns under the exclusive lock of the page, so that it
 * can look again before it writes; it returns whether it wrote.  It must not
 * raise an error.  Returns up to where the WAL must be flushed for the row as
 * it now is to be durable, also where another session wrote it, and may not
 * have flushed it yet.
 */
XLogRecPtr
write_in_place(Relation rel, ItemPointer tid,
			   bool (*change)(void *form, void *arg), void *arg)
{
	Buffer buffer = read_block(rel, ItemPointerGetBlockNumber(tid));
	Page page = BufferGetPage(buffer);
	HeapTupleData tuple;
	XLogRecPtr lsn;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	if (row_at(rel, buffer, ItemPointerGetOffsetNumber(tid), &tuple) &&
		change(GETSTRUCT(&tuple), arg))
	{
		MarkBufferDirty(buffer);
		if (RelationNeedsWAL(rel))
		{
			xl_heap_inplace record = {0};

			record.offnum = ItemPointerGetOffsetNumber(tid);
			XLogBeginInsert();
			XLogRegisterData((char *) &record, MinSizeOfHeapInplace);
			XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
			XLogRegisterBufData(0, (char *) GETSTRUCT(&tuple),
								tuple.t_len - tuple.t_data->t_hoff);
			lsn = XLogInsert(RM_HEAP_ID, XLOG_HEAP_INPLACE);
			PageSetLSN(page, lsn);
		}
	}
	END_CRIT_SECTION();
	lsn = PageGetLSN(page);
	UnlockReleaseBuffer(buffer);
	return lsn;
}

/*
 * make_durable
 *		Flushes the WAL up to here and waits for the synchronous standbys,
 *		whatever synchronous_commit says.  If that wait is cancelled, the
 *		caller gets an error: what it wrote stands, but a failover may lose
 *		it, so nobody may be told.
 */
void
make_durable(XLogRecPtr lsn)
{
	int level;

	XLogFlush(lsn);
	heed_reload();
	if (!standbys_configured())
		return;

	level = NewGUCNestLevel();
	if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
		(void) set_config_option("synchronous_commit", "on",
								 PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);

	/* It looks for cancel and terminate itself. */
	HOLD_INTERRUPTS();
	SyncRepWaitForLSN(lsn, false);
	RESUME_INTERRUPTS();
	AtEOXact_GUC(true, level);
	if (!standbys_have(lsn))
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceled while waiting for the synchronous standbys"),
				 errdetail("The change is in force here, but a failover may lose it."),
				 errhint("Call the function again.")));
}

/*
 * flush_soon
 *		Has the WAL writer flush the WAL up to here before long, as after a commit
 *		that does not wait.
 *
 * That wakes it whenever there is a page to write, and in a busy server it then
 * is in the way of those who commit.  So a session does that no more often than
 * the WAL writer looks by itself.  What is left then is flushed with the next
 * commit of anyone, or, if there is none, within 15 s by the background writer:
 * by what it logs for standbys, so not with wal_level = minimal.
 */
void
flush_soon(XLogRecPtr lsn)
{
	static TimestampTz woken = 0;
	bool wakes = lsn - lsn % XLOG_BLCKSZ > GetFlushRecPtr(NULL);

	if (wakes && XLogStandbyInfoActive())
	{
		TimestampTz now = GetCurrentTimestamp();

		if (now >= woken &&
			!TimestampDifferenceExceeds(woken, now, WalWriterDelay))
			return;
		woken = now;
	}
	XLogSetAsyncXactLSN(lsn);
}
