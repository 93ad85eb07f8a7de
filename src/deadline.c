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
 * A renewal mostly needs this row alone: "current" is the token that the lease
 * record bears out for sure.  It is written where nobody can be changing the
 * record: by a renewal, mostly the first one, that looked there under the
 * writer's lock.  Whoever is about to change the record, and has the lock for
 * it, takes it back first, and if nothing came of that the next renewal asks the
 * record again.
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
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_collation.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "catalog.h"
#include "compat.h"
#include "deadline.h"
#include "fence.h"
#include "present.h"
#include "record.h"

/* The fixed-width columns of fencing.deadline, as they lie on the page. */
typedef struct FormData_deadline
{
	Deadline slot[2];
	int64 current; /* holds the lease for sure; 0: only the record tells */
	int64 owner;   /* who may renew that one (renewer()) */
	bool closed[2];
	/* resource follows */
} FormData_deadline;

typedef FormData_deadline *Form_deadline;

/* Without the padding, which a short row does not have. */
#define SIZEOF_DEADLINE_FORM \
	(offsetof(FormData_deadline, closed) + 2 * sizeof(bool))

#define Anum_deadline_resource 13
#define Natts_deadline		   13

/* A row found: its page is locked, so that the tuple stays where it is. */
typedef struct DeadlineRow
{
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

static void
close_row(DeadlineRow *row)
{
	if (row->form)
		UnlockReleaseBuffer(row->buffer);
	row->form = NULL;
}

/* The row at this place, if it can be seen and is the resource's. */
static bool
open_place(DeadlineRow *row, Relation rel, const text *resource,
		   ItemPointer place, int lockmode)
{
	HeapTupleData tuple;

	row->buffer = read_block(rel, ItemPointerGetBlockNumber(place));
	LockBuffer(row->buffer, lockmode);
	if (visible_row(rel, row->buffer, ItemPointerGetOffsetNumber(place), &tuple) &&
		same_resource(text_after(GETSTRUCT(&tuple), SIZEOF_DEADLINE_FORM), resource))
	{
		row->form = (Form_deadline) GETSTRUCT(&tuple);
		return true;
	}
	UnlockReleaseBuffer(row->buffer);
	return false;
}

/*
 * open_row_at
 *		The row of a resource at the place where the lease record has it.
 *
 * A row is never moved but by VACUUM FULL; after a crash all are others.  What
 * can be seen, and has the resource's name and a slot for the token of its
 * record, is that row.
 */
static bool
open_row_at(DeadlineRow *row, Relation rel, const text *resource,
			ItemPointer place, int64 token, int lockmode)
{
	row->form = NULL;
	if (token == FENCE_NONE || !ItemPointerIsValid(place) ||
		!block_exists(rel, ItemPointerGetBlockNumber(place)) ||
		!open_place(row, rel, resource, place, lockmode))
		return false;
	if (slot_of(row, token) < 0)
		close_row(row);
	return row->form != NULL;
}

/* The same by the index, which tells places where it may be. */
static void
find_row(DeadlineRow *row, Relation rel, const text *resource,
		 ItemPointer place, int lockmode)
{
	Relation index = index_open(catalog_oid(DEADLINE_INDEX), AccessShareLock);
	IndexScanDesc scan = begin_index_scan(index, SnapshotSelf, 1);
	ScanKeyData key;
	ItemPointer found;

	ScanKeyEntryInitialize(&key, 0, 1, HTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, PointerGetDatum(resource));
	index_rescan(scan, &key, 1, NULL, 0);
	while (row->form == NULL &&
		   (found = index_getnext_tid(scan, ForwardScanDirection)) != NULL)
		if (open_place(row, rel, resource, found, lockmode))
			*place = *found;
	index_endscan(scan);
	index_close(index, AccessShareLock);
}

/* Sets *place to where the row is, if there is one. */
static void
open_row(DeadlineRow *row, Relation rel, const text *resource,
		 ItemPointer place, int64 token, int lockmode)
{
	if (!open_row_at(row, rel, resource, place, token, lockmode))
		find_row(row, rel, resource, place, lockmode);
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

/* Moves a deadline to ttl from now, unless it has passed. */
static DeadlineState
renew_slot(DeadlineRow *row, int slot, int64 ttl, Deadline *deadline)
{
	TimestampTz now = GetCurrentTimestamp();
	bool passed = has_passed(row, slot, now);

	if (passed)
		row->form->closed[slot] = true;
	else
	{
		row->form->slot[slot].at = now + ttl;
		row->form->slot[slot].renewed_at = now;
	}
	MarkBufferDirty(row->buffer);
	*deadline = row->form->slot[slot];
	return passed ? DEADLINE_PASSED : DEADLINE_AHEAD;
}

/*
 * deadline_renew
 *		Moves the deadline of a token to ttl from now, unless it has passed.
 *		A ttl longer than any before is refused with DEADLINE_LONGER, unless
 *		the caller has seen to it that one as long is on record, and durable:
 *		that one is durable then, else 0.
 *
 * The row may be one that an open grant is about to replace: that does no
 * harm, since the grant's token has a slot of its own.
 */
DeadlineState
deadline_renew(Relation rel, const text *resource, ItemPointer place,
			   int64 token, int64 ttl, int64 durable, Deadline *deadline)
{
	DeadlineRow row;
	DeadlineState state = DEADLINE_MISSING;
	int slot;

	open_row(&row, rel, resource, place, token, BUFFER_LOCK_EXCLUSIVE);
	slot = slot_of(&row, token);
	if (slot >= 0)
	{
		row.form->slot[slot].ttl = Max(row.form->slot[slot].ttl, durable);
		if (ttl > row.form->slot[slot].ttl &&
			!has_passed(&row, slot, GetCurrentTimestamp()))
			state = DEADLINE_LONGER;
		else
			state = renew_slot(&row, slot, ttl, deadline);
	}
	close_row(&row);
	return state;
}

/*
 * deadline_renew_current
 *		The same without a look at the record, where the row says that the
 *		token is current; ttl 0 is the longest promised.  DEADLINE_MISSING where
 *		the record has to be asked.
 */
DeadlineState
deadline_renew_current(Relation rel, const text *resource, int64 token,
					   int64 ttl, int64 owner, Deadline *deadline)
{
	RecordPlace known = known_place(DEADLINE_TABLE, resource);
	ItemPointerData place;
	DeadlineRow row;
	DeadlineState state = DEADLINE_MISSING;
	int slot;

	if (known.file != rel->rd_rel->relfilenode)
		ItemPointerSetInvalid(&known.tid);
	place = known.tid;
	open_row(&row, rel, resource, &place, token, BUFFER_LOCK_EXCLUSIVE);
	slot = slot_of(&row, token);
	if (slot >= 0 && row.form->current == token &&
		row.form->owner == owner &&
		ttl <= row.form->slot[slot].ttl)
		state = renew_slot(&row, slot, ttl ? ttl : row.form->slot[slot].ttl,
						   deadline);
	close_row(&row);
	if (slot >= 0 && ItemPointerCompare(&place, &known.tid) != 0)
		remember_place(DEADLINE_TABLE, resource, rel, &place);
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

	/* Where a bigint is not passed by value, all of them need one. */
	for (Size i = 0; i < offsetof(FormData_deadline, closed) / sizeof(int64); i++)
		values[i] = Int64GetDatum(0);
	values[0] = Int64GetDatum(deadline->token);
	values[1] = TimestampTzGetDatum(deadline->at);
	values[2] = TimestampTzGetDatum(deadline->renewed_at);
	values[3] = Int64GetDatum(deadline->ttl);
	values[Anum_deadline_resource - 1] = PointerGetDatum(resource);
	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	catalog_insert(rel, tuple, Anum_deadline_resource);
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
	catalog_keep(rel, RowExclusiveLock);
}

/* Renewals have to ask the record whether it is current. */
static void
fill_slot(DeadlineRow *row, int slot, const Deadline *deadline)
{
	row->form->slot[slot] = *deadline;
	row->form->closed[slot] = false;
	row->form->current = FENCE_NONE;
	MarkBufferDirty(row->buffer);
}

/*
 * write_slot
 *		Writes a fresh deadline, ttl from now, over *replaced; returns whether
 *		there was a row to write it to.  last is a token of it, to know it by.
 */
static bool
write_slot(Relation rel, const text *resource, ItemPointer place, int64 last,
		   int64 ttl, bool promised, int64 keep, Deadline *deadline,
		   Deadline *replaced)
{
	DeadlineRow row;
	bool written = false;
	TimestampTz now;

	open_row(&row, rel, resource, place, last, BUFFER_LOCK_EXCLUSIVE);
	now = GetCurrentTimestamp();
	deadline->at = now + ttl;
	deadline->renewed_at = promised ? now : deadline->at;
	if (row.form)
	{
		int slot = slot_to_write(&row, keep);

		*replaced = row.form->slot[slot];
		fill_slot(&row, slot, deadline);
		written = true;
	}
	close_row(&row);
	return written;
}

/*
 * deadline_grant
 *		Writes the deadline of a new grant, of which token and ttl are given;
 *		last is the token before it, and committed the one that counts until
 *		this transaction commits, or 0 (see slot_to_write).
 *
 * The caller holds the lock for the change.  A row that is inserted here goes
 * with its grant if that rolls back.
 */
void
deadline_grant(Relation rel, const text *resource, ItemPointer place,
			   int64 last, int64 committed, Deadline *deadline,
			   Deadline *replaced)
{
	replaced->token = FENCE_NONE;
	if (!write_slot(rel, resource, place, last, deadline->ttl, true, committed,
					deadline, replaced))
		insert_row(rel, resource, deadline, false, place);
}

/*
 * deadline_put_back
 *		A deadline that a later grant of this transaction was written over,
 *		which has been rolled back.  The caller holds the lock for the change.
 */
void
deadline_put_back(Relation rel, const text *resource, const Deadline *deadline)
{
	DeadlineRow row;
	ItemPointerData place;

	ItemPointerSetInvalid(&place);
	open_row(&row, rel, resource, &place, deadline->token, BUFFER_LOCK_EXCLUSIVE);
	if (row.form && slot_of(&row, deadline->token) < 0)
		fill_slot(&row, slot_to_write(&row, 0), deadline);
	close_row(&row);
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
	Deadline replaced;

	memset(deadline, 0, sizeof(*deadline));
	deadline->token = token;
	if (!write_slot(rel, resource, place, token, ttl, false, 0, deadline, &replaced))
		insert_row(rel, resource, deadline, true, place);
}

/*
 * deadline_confirm
 *		The record bears the token out, and none is changing it: renewals need
 *		not look there until somebody is about to.
 *
 * ttl and owner are those on record; a ttl that was not promised yet may not be
 * durable.  The caller has a lock of the resource that keeps changes out.
 */
void
deadline_confirm(Relation rel, const text *resource, ItemPointer place,
				 int64 token, int64 ttl, int64 owner)
{
	DeadlineRow row;
	int slot;

	open_row(&row, rel, resource, place, token, BUFFER_LOCK_EXCLUSIVE);
	slot = slot_of(&row, token);
	if (slot >= 0 && row.form->slot[slot].ttl == ttl)
	{
		row.form->current = token;
		row.form->owner = owner;
		MarkBufferDirty(row.buffer);
	}
	close_row(&row);
}

/*
 * deadline_doubt
 *		Somebody is about to change the record: from now on each renewal looks
 *		there.
 */
void
deadline_doubt(Relation rel, const text *resource, ItemPointer place,
			   int64 token)
{
	DeadlineRow row;

	open_row(&row, rel, resource, place, token, BUFFER_LOCK_EXCLUSIVE);
	if (row.form)
	{
		row.form->current = FENCE_NONE;
		MarkBufferDirty(row.buffer);
	}
	close_row(&row);
}

/* The lease is evicted: no renewal under way says yes any more. */
void
deadline_evict(Relation rel, const text *resource, ItemPointer place)
{
	DeadlineRow row;

	open_row(&row, rel, resource, place, FENCE_NONE, BUFFER_LOCK_EXCLUSIVE);
	if (row.form)
	{
		row.form->closed[0] = row.form->closed[1] = true;
		MarkBufferDirty(row.buffer);
	}
	close_row(&row);
}

void
deadline_forget(Relation rel, const text *resource)
{
	ItemPointerData place;

	ItemPointerSetInvalid(&place);
	deadline_doubt(rel, resource, &place, FENCE_NONE);
	if (ItemPointerIsValid(&place))
		simple_heap_delete(rel, &place);
}

/*
 * lease_deadline(resource text, token bigint, ttl bigint, place tid)
 *		For the view fencing.leases: expires_at, renewed_at, whether the deadline
 *		has passed, and whether this transaction has released it.  All NULL on a
 *		standby, which cannot read an unlogged table.  A lease that nobody has
 *		looked at since a crash would have its full TTL from now; a view does not
 *		write that down.
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
		DeadlineState state;

		present_put_back_deadlines(rel);
		state = deadline_look(rel, PG_GETARG_TEXT_PP(0), &place,
							  PG_GETARG_INT64(1), false, &deadline);

		catalog_close(rel, RowExclusiveLock);
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
