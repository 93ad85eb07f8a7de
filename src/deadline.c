/*-------------------------------------------------------------------------
 *
 * deadline.c
 *		Deadlines of leases, and the cheap renewal.
 *
 * A renewal must cost next to nothing: no WAL, no transaction ID, no dead row
 * version.  So deadlines lie in an unlogged table, one row a resource, and are
 * written in place under the exclusive lock of the row's page, where the clock
 * is read too.  No snapshot decides what is seen, and nothing is undone.
 *
 * A row has two slots.  A grant writes its deadline into the one that the
 * committed token does not use; a deadline counts only for the token it was
 * written for, so a grant that rolls back leaves the old one as it was.
 *
 * "Passed" is final.  Whoever finds a deadline passed marks the slot closed
 * under the same lock; otherwise a delayed renewal, or a clock that steps
 * back, could say yes to the old holder after a grant said yes to the new.
 *
 * A crash or a promotion empties an unlogged table.  A lease whose row is
 * missing has its full TTL again, counted from the first look at it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "catalog.h"
#include "deadline.h"
#include "fence.h"
#include "present.h"
#include "record.h"

/* The fixed-width columns of fencing.deadline, as they lie on the page. */
typedef struct FormData_deadline
{
	Deadline slot[2];
	bool closed[2];
	/* resource follows */
} FormData_deadline;

typedef FormData_deadline *Form_deadline;

/* Without the padding, which a short row does not have. */
#define SIZEOF_DEADLINE_FORM \
	(offsetof(FormData_deadline, closed) + 2 * sizeof(bool))

#define Anum_deadline_resource 9
#define Natts_deadline		   9

/* A row found: its page is pinned, so that the tuple stays where it is. */
typedef struct DeadlineRow
{
	SysScanDesc scan; /* NULL: it was where it should be */
	Buffer buffer;
	Form_deadline form; /* NULL: there is no row */
} DeadlineRow;

/* The slot of a token, or -1. */
static int
slot_of(const DeadlineRow *row, int64 token)
{
	if (row->form == NULL)
		return -1;
	if (row->form->slot[0].token == token)
		return 0;
	if (row->form->slot[1].token == token)
		return 1;
	return -1;
}

/*
 * open_row_at
 *		The row of a resource at the place where the lease record has it.
 *
 * A row is never moved but by VACUUM FULL; after a crash all are others.  What
 * has the resource's name and a slot for the token of its record is that row:
 * an earlier one, dead by now, has never heard of that token.
 */
static bool
open_row_at(DeadlineRow *row, Relation rel, const text *resource,
			ItemPointer place, int64 token, int lockmode)
{
	HeapTupleData tuple;

	if (token == FENCE_NONE || !ItemPointerIsValid(place) ||
		!block_exists(rel, ItemPointerGetBlockNumber(place)))
		return false;
	row->buffer = read_block(rel, ItemPointerGetBlockNumber(place));
	LockBuffer(row->buffer, lockmode);
	if (row_at(rel, row->buffer, ItemPointerGetOffsetNumber(place), &tuple))
	{
		row->form = (Form_deadline) GETSTRUCT(&tuple);
		if (same_resource(text_after(row->form, SIZEOF_DEADLINE_FORM), resource) &&
			slot_of(row, token) >= 0)
			return true;
	}
	row->form = NULL;
	UnlockReleaseBuffer(row->buffer);
	return false;
}

/* Sets *place to where the row is, if there is one. */
static void
open_row(DeadlineRow *row, Relation rel, const text *resource,
		 ItemPointer place, int64 token, int lockmode)
{
	HeapTuple tuple;

	row->scan = NULL;
	row->form = NULL;
	if (open_row_at(row, rel, resource, place, token, lockmode))
		return;

	row->scan = resource_scan(rel, catalog_oid(DEADLINE_INDEX),
							  Anum_deadline_resource, resource, SnapshotSelf);
	tuple = systable_getnext(row->scan);
	if (HeapTupleIsValid(tuple))
	{
		*place = tuple->t_self;
		row->buffer = read_block(rel, ItemPointerGetBlockNumber(place));
		LockBuffer(row->buffer, lockmode);
		row->form = (Form_deadline) GETSTRUCT(tuple);
	}
}

static void
close_row(DeadlineRow *row)
{
	if (row->form)
		UnlockReleaseBuffer(row->buffer);
	if (row->scan)
		systable_endscan(row->scan);
}

/*
 * slot_to_write
 *		The slot for a new grant: never that of the committed token.
 *
 * keep is that token; 0 if this transaction has granted the resource before.
 * Then the committed token is the lower of the two, whatever savepoints were
 * rolled back since.
 */
static int
slot_to_write(const DeadlineRow *row, int64 keep)
{
	if (keep != 0 && row->form->slot[0].token == keep)
		return 1;
	if (keep != 0 && row->form->slot[1].token == keep)
		return 0;
	return row->form->slot[1].token > row->form->slot[0].token ? 1 : 0;
}

/* Has it passed?  Read the clock only under the lock of the page. */
static bool
has_passed(const DeadlineRow *row, int slot, TimestampTz now)
{
	return row->form->closed[slot] || now >= row->form->slot[slot].at;
}

/*
 * deadline_look
 *		Has the deadline of a token passed?  With decide, for good.
 *
 * Many may look at one that has not, so only to close it the page is locked
 * for itself; the pin keeps the row where it is meanwhile.
 */
DeadlineState
deadline_look(Relation rel, const text *resource, ItemPointer place,
			  int64 token, bool decide, Deadline *deadline)
{
	DeadlineRow row;
	DeadlineState state = DEADLINE_MISSING;
	int slot;
	bool passed;

	open_row(&row, rel, resource, place, token, BUFFER_LOCK_SHARE);
	slot = slot_of(&row, token);
	passed = slot >= 0 && has_passed(&row, slot, GetCurrentTimestamp());
	if (passed && decide)
	{
		LockBuffer(row.buffer, BUFFER_LOCK_UNLOCK);
		LockBuffer(row.buffer, BUFFER_LOCK_EXCLUSIVE);
		slot = slot_of(&row, token);
		passed = slot >= 0 && has_passed(&row, slot, GetCurrentTimestamp());
		if (passed)
		{
			row.form->closed[slot] = true;
			MarkBufferDirty(row.buffer);
		}
	}
	if (slot >= 0)
	{
		state = passed ? DEADLINE_PASSED : DEADLINE_AHEAD;
		*deadline = row.form->slot[slot];
	}
	close_row(&row);
	return state;
}

/*
 * deadline_renew
 *		Moves the deadline of a token to ttl from now, unless it has passed.
 *		A ttl longer than the last one is refused with DEADLINE_LONGER, unless
 *		promised: the caller has seen to it that the record of it is durable.
 *
 * The row may be one that an open grant is about to replace: that does no
 * harm, since the grant's token has a slot of its own.
 */
DeadlineState
deadline_renew(Relation rel, const text *resource, ItemPointer place,
			   int64 token, int64 ttl, bool promised, Deadline *deadline)
{
	DeadlineRow row;
	DeadlineState state = DEADLINE_MISSING;
	int slot;

	open_row(&row, rel, resource, place, token, BUFFER_LOCK_EXCLUSIVE);
	slot = slot_of(&row, token);
	if (slot >= 0)
	{
		TimestampTz now = GetCurrentTimestamp();

		if (has_passed(&row, slot, now))
		{
			state = DEADLINE_PASSED;
			row.form->closed[slot] = true;
			MarkBufferDirty(row.buffer);
		}
		else if (!promised && ttl > row.form->slot[slot].at - row.form->slot[slot].renewed_at)
			state = DEADLINE_LONGER;
		else
		{
			state = DEADLINE_AHEAD;
			row.form->slot[slot].at = now + ttl;
			row.form->slot[slot].renewed_at = now;
			MarkBufferDirty(row.buffer);
		}
		*deadline = row.form->slot[slot];
	}
	close_row(&row);
	return state;
}

/*
 * insert_row
 *		A row of its own for a deadline.  The table stays locked to the end of
 *		the transaction, or REINDEX CONCURRENTLY would not wait for the row.
 *
 * A frozen row is seen at once, and stays if we roll back.
 */
static void
insert_row(Relation rel, const text *resource, const Deadline *deadline,
		   bool frozen, ItemPointer place)
{
	Datum values[Natts_deadline] = {0};
	bool nulls[Natts_deadline] = {false};
	HeapTuple tuple;

	values[0] = Int64GetDatum(deadline->token);
	values[1] = TimestampTzGetDatum(deadline->at);
	values[2] = TimestampTzGetDatum(deadline->renewed_at);
	values[Anum_deadline_resource - 1] = PointerGetDatum(resource);
	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	(void) catalog_has_more_indexes(rel, Anum_deadline_resource);
	CatalogTupleInsert(rel, tuple);
	*place = tuple->t_self;
	if (frozen)
	{
		Buffer buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(place));
		Page page = BufferGetPage(buffer);
		ItemId item = PageGetItemId(page, ItemPointerGetOffsetNumber(place));

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		HeapTupleHeaderSetXminFrozen((HeapTupleHeader) PageGetItem(page, item));
		MarkBufferDirty(buffer);
		UnlockReleaseBuffer(buffer);
	}
	LockRelationOid(RelationGetRelid(rel), RowExclusiveLock);
}

/*
 * write_slot
 *		Writes a fresh deadline; returns whether there was a row to write it
 *		to.  last is a token of the row, to know it by.
 */
static bool
write_slot(Relation rel, const text *resource, ItemPointer place, int64 last,
		   int64 token, int64 ttl, bool promised, int64 keep,
		   Deadline *deadline)
{
	DeadlineRow row;
	bool written = false;
	TimestampTz now;

	open_row(&row, rel, resource, place, last, BUFFER_LOCK_EXCLUSIVE);
	now = GetCurrentTimestamp();
	deadline->token = token;
	deadline->at = now + ttl;
	deadline->renewed_at = promised ? now : deadline->at;
	if (row.form)
	{
		int slot = slot_to_write(&row, keep);

		row.form->slot[slot] = *deadline;
		row.form->closed[slot] = false;
		MarkBufferDirty(row.buffer);
		written = true;
	}
	close_row(&row);
	return written;
}

/*
 * deadline_grant
 *		Writes the deadline of a new grant; last is the token before it, and
 *		committed the one that counts until this transaction commits, or 0 (see
 *		slot_to_write).
 *
 * The caller holds the writer's lock.  A row that is inserted here goes with
 * its grant if that rolls back.
 */
void
deadline_grant(Relation rel, const text *resource, ItemPointer place,
			   int64 last, int64 token, int64 ttl, int64 committed,
			   Deadline *deadline)
{
	if (!write_slot(rel, resource, place, last, token, ttl, true, committed, deadline))
		insert_row(rel, resource, deadline, false, place);
}

/*
 * deadline_restart
 *		The first look at a lease since a crash: a full TTL from now.
 *
 * The caller holds the writer's lock.  The row stays if the transaction that
 * looked rolls back.
 */
void
deadline_restart(Relation rel, const text *resource, ItemPointer place,
				 int64 token, int64 ttl, Deadline *deadline)
{
	if (!write_slot(rel, resource, place, token, token, ttl, false, 0, deadline))
		insert_row(rel, resource, deadline, true, place);
}

/* The lease is evicted: no renewal under way says yes any more. */
void
deadline_evict(const text *resource)
{
	Relation rel = catalog_open(DEADLINE_TABLE, RowExclusiveLock);
	ItemPointerData place;
	DeadlineRow row;

	ItemPointerSetInvalid(&place);
	open_row(&row, rel, resource, &place, FENCE_NONE, BUFFER_LOCK_EXCLUSIVE);
	if (row.form)
	{
		row.form->closed[0] = row.form->closed[1] = true;
		MarkBufferDirty(row.buffer);
	}
	close_row(&row);
	table_close(rel, RowExclusiveLock);
}

void
deadline_forget(Relation rel, const text *resource)
{
	SysScanDesc scan = resource_scan(rel, catalog_oid(DEADLINE_INDEX),
									 Anum_deadline_resource, resource, SnapshotSelf);
	HeapTuple tuple = systable_getnext(scan);

	if (HeapTupleIsValid(tuple))
		simple_heap_delete(rel, &tuple->t_self);
	systable_endscan(scan);
}

/*
 * lease_deadline(resource text, token bigint, ttl bigint, place tid)
 *		For the view fencing.leases: expires_at, renewed_at, whether the deadline
 *		has passed, and whether this transaction has released it.  All NULL on a standby, which cannot read an
 *		unlogged table.  A lease that nobody has looked at since a crash would
 *		have its full TTL from now; a view does not write that down.
 */
PG_FUNCTION_INFO_V1(fencing_lease_deadline);

Datum
fencing_lease_deadline(PG_FUNCTION_ARGS)
{
	TupleDesc desc;
	Datum values[4] = {0};
	bool nulls[4] = {true, true, true, true};
	Deadline deadline;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!RecoveryInProgress())
	{
		Relation rel = catalog_open(DEADLINE_TABLE, RowExclusiveLock);
		ItemPointerData place = *(ItemPointer) PG_GETARG_POINTER(3);
		DeadlineState state = deadline_look(rel, PG_GETARG_TEXT_PP(0), &place,
											PG_GETARG_INT64(1), false, &deadline);

		table_close(rel, RowExclusiveLock);
		if (state == DEADLINE_MISSING)
			values[0] = TimestampTzGetDatum(GetCurrentTimestamp() +
											PG_GETARG_INT64(2));
		else
		{
			values[0] = TimestampTzGetDatum(deadline.at);
			values[1] = TimestampTzGetDatum(deadline.renewed_at);
			nulls[1] = deadline.renewed_at == deadline.at;
		}
		values[2] = BoolGetDatum(state == DEADLINE_PASSED);
		values[3] = BoolGetDatum(present_has_released(PG_GETARG_TEXT_PP(0),
													  PG_GETARG_INT64(1)));
		nulls[0] = nulls[2] = nulls[3] = false;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
