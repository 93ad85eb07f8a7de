/*-------------------------------------------------------------------------
 *
 * compat.h
 *		Differences between server majors, 15 to 19.
 *
 * Every other file is written once, against the newest interface; what an
 * older server lacks is made up for here.  No other file tests a version.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_COMPAT_H
#define FENCING_COMPAT_H

#include "access/genam.h"
#include "access/heapam.h"
#include "access/heapam_xlog.h"
#include "commands/sequence.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinvaladt.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000
#error fencing needs PostgreSQL 15 or later
#endif

#if PG_VERSION_NUM >= 190000
#include "commands/sequence_xlog.h"
#endif

/* Written before the declaration since 18. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* Soft errors came with 16; before it every input error is raised. */
#if PG_VERSION_NUM < 160000
#define ereturn(context, value, ...) \
	do \
	{ \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return (value); \
	} while (0)
#else
#include "nodes/miscnodes.h"
#endif

/* Ownership checks were unified in 16. */
#if PG_VERSION_NUM < 160000
#define owns_relation(relid, role) pg_class_ownercheck(relid, role)
#else
#include "catalog/pg_class.h"
#define owns_relation(relid, role) \
	object_ownercheck(RelationRelationId, relid, role)
#endif

/* The file of a relation has another name before 16. */
#if PG_VERSION_NUM < 160000
#define locator_of(rel) ((rel)->rd_node)
#else
#define locator_of(rel) ((rel)->rd_locator)
#endif

/*
 * Has this transaction given a table that was there before it a new file?  Asked
 * of the first change, since the server forgets the last one with its savepoint.
 */
static inline bool
was_rewritten_here(Relation rel)
{
#if PG_VERSION_NUM < 160000
	SubTransactionId rewritten = rel->rd_firstRelfilenodeSubid;
#else
	SubTransactionId rewritten = rel->rd_firstRelfilelocatorSubid;
#endif

	return rewritten != InvalidSubTransactionId &&
		rel->rd_createSubid == InvalidSubTransactionId;
}

/* In the WAL record of a sequence too the file has another name before 16. */
static inline void
sequence_record_init(xl_seq_rec *record, Relation rel)
{
#if PG_VERSION_NUM < 160000
	record->node = locator_of(rel);
#else
	record->locator = locator_of(rel);
#endif
}

/* From 16 it tells which indexes need an entry; HeapTupleIsHeapOnly() does too. */
static inline void
update_row(Relation rel, ItemPointer tid, HeapTuple tuple)
{
#if PG_VERSION_NUM < 160000
	simple_heap_update(rel, tid, tuple);
#else
	TU_UpdateIndexes indexes;

	simple_heap_update(rel, tid, tuple, &indexes);
#endif
}

/* Both have one more thing to say from 19. */
static inline TableScanDesc
begin_table_scan(Relation rel, Snapshot snapshot)
{
#if PG_VERSION_NUM < 190000
	return table_beginscan(rel, snapshot, 0, NULL);
#else
	return table_beginscan(rel, snapshot, 0, NULL, SO_NONE);
#endif
}

static inline TM_Result
delete_row(Relation rel, ItemPointer tid, bool wait)
{
	TM_FailureData failure;

#if PG_VERSION_NUM < 190000
	return heap_delete(rel, tid, GetCurrentCommandId(true), InvalidSnapshot, wait,
					   &failure, false);
#else
	return heap_delete(rel, tid, GetCurrentCommandId(true), 0, InvalidSnapshot, wait,
					   &failure);
#endif
}

/*
 * From 18 the WAL record of a row changed in place tells which caches to
 * invalidate; for a row of ours that is none.
 */
#if PG_VERSION_NUM < 180000
#define MinSizeOfHeapInplace SizeOfHeapInplace
#endif

/* A scan of an index for what it has alone, the places of rows. */
static inline IndexScanDesc
begin_index_scan(Relation index, Snapshot snapshot, int n_keys)
{
#if PG_VERSION_NUM < 180000
	return index_beginscan_bitmap(index, snapshot, n_keys);
#else
	return index_beginscan_bitmap(index, snapshot, NULL, n_keys);
#endif
}

/* Locks for the transaction; 17 and 18 gave these one argument more each. */
#if PG_VERSION_NUM < 170000
#define holds_lock(tag, mode) LockHeldByMe(tag, mode)
#else
#define holds_lock(tag, mode) LockHeldByMe(tag, mode, false)
#endif
#if PG_VERSION_NUM < 180000
#define acquire_lock(tag, mode, at_once, or_error) \
	LockAcquireExtended(tag, mode, false, at_once, or_error, NULL)
#else
#define acquire_lock(tag, mode, at_once, or_error) \
	LockAcquireExtended(tag, mode, false, at_once, or_error, NULL, false)
#endif

/* The primary key of a table, if it is checked at once. */
static inline Oid
primary_key_of(Relation rel)
{
#if PG_VERSION_NUM < 180000
	Oid index = RelationGetPrimaryKeyIndex(rel);
	Relation key;
	bool immediate;

	if (!OidIsValid(index))
		return InvalidOid;
	key = index_open(index, AccessShareLock);
	immediate = key->rd_index->indimmediate;
	index_close(key, AccessShareLock);
	return immediate ? index : InvalidOid;
#else
	return RelationGetPrimaryKeyIndex(rel, false);
#endif
}

/* ExecutorRun() lost its last argument in 18. */
#if PG_VERSION_NUM < 180000
#define EXECUTOR_RUN_PARAMS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, \
		bool execute_once
#define EXECUTOR_RUN_ARGS queryDesc, direction, count, execute_once
#else
#define EXECUTOR_RUN_PARAMS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define EXECUTOR_RUN_ARGS queryDesc, direction, count
#endif

/* From 17 the action that MERGE is carrying out can be read. */
#if PG_VERSION_NUM >= 170000
#define MERGE_ACTION_IS_KNOWN 1
#endif

/*
 * The process that runs a virtual transaction; NULL if it has ended, though
 * its place may have been taken by another.
 */
static inline PGPROC *
vxid_proc(VirtualTransactionId vxid)
{
#if PG_VERSION_NUM < 170000
	PGPROC *proc = BackendIdGetProc(vxid.backendId);

	return proc && proc->lxid == vxid.localTransactionId ? proc : NULL;
#else
	PGPROC *proc = ProcNumberGetProc(vxid.procNumber);

	return proc && proc->vxid.lxid == vxid.localTransactionId ? proc : NULL;
#endif
}

/* Wait events of an extension have names of their own from 17. */
static inline uint32
wait_event_for_lease(void)
{
#if PG_VERSION_NUM < 170000
	return PG_WAIT_EXTENSION;
#else
	static uint32 event = 0;

	if (event == 0)
		event = WaitEventExtensionNew("FencingLease");
	return event;
#endif
}

#endif /* FENCING_COMPAT_H */
