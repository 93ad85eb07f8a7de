/*-------------------------------------------------------------------------
 *
 * token.c
 *		Epoch and sequence: the only place that makes a token.
 *
 *		token = (epoch - 1) * 2^40 + next value of the sequence
 *
 * A sequence alone goes back: after a failover to a standby that lags, after
 * a restore.  So the issuer's record keeps who drew last (system identifier,
 * database, sequence, timeline) and in which epoch.  The epoch of now is a
 * pure function of that record and of the server: it rises with the timeline,
 * and starts anew, higher, wherever the identity differs.  The record is
 * brought up to date when that is noticed, but no draw depends on it.
 *
 * The record is written in place, under the lock of its page alone, so that
 * no draw ever waits for another's transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "commands/sequence.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/pg_lsn.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog.h"
#include "compat.h"
#include "durable.h"
#include "errors.h"
#include "fence.h"
#include "token.h"

#define EPOCH_BITS 40
#define EPOCH_SIZE (INT64CONST(1) << EPOCH_BITS)
#define EPOCH_LAST (INT64CONST(1) << (63 - EPOCH_BITS))

/*
 * A change of identity leaves so many epochs out: those that the server which
 * the record came from may have reached since by failovers of its own.
 */
#define EPOCH_JUMP 1024

/* So often a draw raises the floor. */
#define FLOOR_STRIDE 32

/* So many numbers of the sequence are logged ahead. */
#define LOG_AHEAD 1024

/* fencing.issuer, as it lies on the page. */
typedef struct FormData_issuer
{
	int64 system; /* system identifier */
	int64 timeline;
	int64 epoch;
	int64 floor;	   /* no token at or below it is issued */
	XLogRecPtr logged; /* of the sequence, by the last draw that did so ... */
	int64 ahead;	   /* ... up to this number */
	Oid database;
	Oid sequence;
} FormData_issuer;

typedef FormData_issuer *Form_issuer;

/* The issuer as it is now: what a draw needs, and where the record lies. */
typedef struct Issuer
{
	int64 epoch;
	int64 floor;
	bool recorded; /* there is a record ... */
	bool current;  /* ... and it is of this very server */
	XLogRecPtr logged;
	int64 ahead;
	ItemPointerData tid;
	XLogRecPtr lsn; /* up to where all this is in the WAL */
} Issuer;

void
require_primary(const char *what)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot execute %s during recovery", what),
				 errdetail("This server is a standby; a lease can only be granted on the primary."),
				 errhint("Connect with target_session_attrs=read-write, or to the primary.")));
	PreventCommandIfReadOnly(what);
	require_own_transaction(what);
}

/*
 * require_own_transaction
 *		What is to last beyond the call needs the leader of a parallel plan, since
 *		a worker's callbacks at commit are never called; and none of it may come
 *		from an index expression that somebody else's ANALYZE evaluates, whose
 *		transaction, or session user, it would use.
 */
void
require_own_transaction(const char *what)
{
	PreventCommandIfParallelMode(what);
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot execute %s within security-restricted operation",
						what)));
}

/* Who draws: everything of the record but epoch and floor. */
static void
identify(FormData_issuer *self)
{
	self->system = (int64) GetSystemIdentifier();
	self->timeline = GetWALInsertionTimeLine();
	self->database = MyDatabaseId;
	self->sequence = catalog_oid(TOKEN_SEQUENCE);
	self->logged = InvalidXLogRecPtr;
	self->ahead = 0;
}

static bool
same_identity(const FormData_issuer *a, const FormData_issuer *b)
{
	return a->system == b->system &&
		a->database == b->database &&
		a->sequence == b->sequence;
}

/*
 * epoch_now
 *		The epoch of this server, given a record that it or another left.
 *
 * Timelines count from 1, so a change of identity always starts a later
 * epoch; and since the timeline is added there too, the result is the same
 * before and after the record is brought up to date, on every timeline.
 */
static int64
epoch_now(const FormData_issuer *record, const FormData_issuer *self)
{
	if (same_identity(record, self) && self->timeline >= record->timeline)
		return record->epoch + (self->timeline - record->timeline);
	return record->epoch + EPOCH_JUMP + self->timeline;
}

/* Counts a record in.  The highest epoch and floor of all records hold. */
static void
count_record(Issuer *issuer, const FormData_issuer *record, ItemPointer tid,
			 const FormData_issuer *self)
{
	int64 epoch = epoch_now(record, self);

	if (!issuer->recorded || epoch > issuer->epoch)
	{
		issuer->epoch = epoch;
		issuer->current = same_identity(record, self) &&
			record->timeline == self->timeline;
		issuer->logged = record->logged;
		issuer->ahead = record->ahead;
		issuer->tid = *tid;
	}
	issuer->floor = Max(issuer->floor, record->floor);
	issuer->recorded = true;
}

/*
 * read_records
 *		Reads all records: there is one, except where a dump was restored over
 *		an issuer that had drawn already.
 *
 * Under the lock of the page, or identity and epoch may not fit; and without
 * the cost of a scan, which is a good part of a draw.
 */
static void
read_records(Relation rel, const FormData_issuer *self, Issuer *issuer)
{
	memset(issuer, 0, sizeof(*issuer));
	for (BlockNumber block = 0; block_exists(rel, block); block++)
	{
		Buffer buffer = read_block(rel, block);
		OffsetNumber last;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		issuer->lsn = Max(issuer->lsn, BufferGetLSNAtomic(buffer));
		last = PageGetMaxOffsetNumber(BufferGetPage(buffer));
		for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
		{
			HeapTupleData tuple;

			if (visible_row(rel, buffer, offset, &tuple))
				count_record(issuer, (Form_issuer) GETSTRUCT(&tuple),
							 &tuple.t_self, self);
		}
		UnlockReleaseBuffer(buffer);
	}
}

/* Keeps other writers of the issuer out, but for those in place: no draw waits. */
static void
lock_issuer(LOCKTAG *tag)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, 0, 0, 0x46FF);
	(void) LockAcquire(tag, ExclusiveLock, false, false);
}

/*
 * The first draw of all writes the record.  It is inserted frozen, so that a
 * rollback of this transaction does not take it away from tokens of others.
 *
 * Its epoch is that of a record from the first timeline: where the server was
 * promoted before it had received one, the old primary may have issued tokens.
 */
static void
insert_record(Relation rel, const FormData_issuer *self)
{
	LOCKTAG tag;
	Issuer issuer;

	lock_issuer(&tag);
	read_records(rel, self, &issuer);
	if (!issuer.recorded)
	{
		Datum values[8];
		bool nulls[8] = {false};
		HeapTuple tuple;

		values[0] = Int64GetDatum(self->system);
		values[1] = Int64GetDatum(self->timeline);
		values[2] = Int64GetDatum(self->timeline);
		values[3] = Int64GetDatum(0);
		values[4] = LSNGetDatum(InvalidXLogRecPtr);
		values[5] = Int64GetDatum(0);
		values[6] = ObjectIdGetDatum(self->database);
		values[7] = ObjectIdGetDatum(self->sequence);
		tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
		heap_insert(rel, tuple, GetCurrentCommandId(true),
					HEAP_INSERT_FROZEN, NULL);
		XLogFlush(XactLastRecEnd);
	}
	LockRelease(&tag, ExclusiveLock, false);
}

/*
 * Brings identity, timeline and epoch of a record up to date, and what this draw has
 * logged; if it is none, the next one will, or has done so meanwhile.
 */
static bool
renew_record(void *form, void *arg)
{
	const FormData_issuer *self = arg;
	Form_issuer record = form;

	if (!same_identity(record, self) || record->timeline != self->timeline ||
		!XLogRecPtrIsInvalid(self->logged))
	{
		record->logged = self->logged;
		record->ahead = self->ahead;
	}
	record->epoch = epoch_now(record, self);
	record->system = self->system;
	record->timeline = self->timeline;
	record->database = self->database;
	record->sequence = self->sequence;
	return true;
}

static void
write_self(Relation rel, const FormData_issuer *self, Issuer *issuer)
{
	issuer->lsn = write_in_place(rel, &issuer->tid, renew_record,
								 unconstify(FormData_issuer *, self));
	issuer->current = true;
}

/* Sees to it that the record is of this server. */
static void
settle_issuer(Relation rel, const FormData_issuer *self, Issuer *issuer)
{
	if (!issuer->current)
		write_self(rel, self, issuer);
	if (issuer->epoch > EPOCH_LAST)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("the epochs of the token issuer have run out"),
				 errdetail("Epoch %lld is beyond the last one, %lld.",
						   (long long) issuer->epoch, (long long) EPOCH_LAST)));
}

static void
read_issuer(Relation rel, Issuer *issuer)
{
	FormData_issuer self;

	identify(&self);
	read_records(rel, &self, issuer);
	if (!issuer->recorded)
	{
		insert_record(rel, &self);
		read_records(rel, &self, issuer);
	}
	settle_issuer(rel, &self, issuer);
}

static bool
raise_floor(void *form, void *arg)
{
	int64 floor = *(int64 *) arg;
	Form_issuer record = form;

	if (record->floor >= floor)
		return false;
	record->floor = floor;
	return true;
}

void
token_raise_floor(int64 floor)
{
	Relation rel = catalog_open(ISSUER_TABLE, RowExclusiveLock);
	Issuer issuer;

	read_issuer(rel, &issuer);
	(void) write_in_place(rel, &issuer.tid, raise_floor, &floor);
	catalog_close(rel, RowExclusiveLock);
}

/* Writes WAL for the sequence as it would be LOG_AHEAD numbers later. */
static void
log_ahead(Relation rel, Buffer buffer, HeapTupleHeader tuple, Size length,
		  FormData_issuer *self)
{
	Form_pg_sequence_data data =
		(Form_pg_sequence_data) ((char *) tuple + tuple->t_hoff);
	xl_seq_rec record;

	self->ahead = data->last_value + LOG_AHEAD;
	data->last_value = self->ahead;
	data->log_cnt = 0;
	sequence_record_init(&record, rel);
	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_WILL_INIT);
	XLogRegisterData((char *) &record, sizeof(record));
	XLogRegisterData((char *) tuple, length);
	self->logged = XLogInsert(RM_SEQ_ID, XLOG_SEQ_LOG);
	PageSetLSN(BufferGetPage(buffer), self->logged);
	data->last_value -= LOG_AHEAD;
	data->log_cnt = LOG_AHEAD;
}

static int64
token_of(const Issuer *issuer, int64 number)
{
	return (issuer->epoch - 1) * EPOCH_SIZE + number;
}

/*
 * next_of_sequence
 *		Draws from the sequence, and flushes its WAL before anyone sees the
 *		number.  Reads the issuer's record in the same moment, so that no number
 *		is counted into another epoch than its own.
 *
 * As nextval() does, but for two things.  That leaves the flush to the commit
 * of whoever happened to write the WAL, and a crash before would draw the same
 * numbers again.  And it logs no more than 32 numbers ahead, and whoever draws
 * meanwhile waits for that flush, besides the one of its commit.  A crash
 * leaves out as many as are logged ahead at the most.
 *
 * A sequence that is at its end stays there.  What it says of numbers logged ahead
 * counts only if our own record of that was the last one for its page: ALTER SEQUENCE,
 * and a copy of the database, log the page as it is.  If others wrote it and its
 * next number is one of those that were logged ahead, it may have been set back, by
 * setval() or by the replication of sequences, and any of them drawn already: so all
 * are left out.  But a number that would be refused is not drawn.
 */
static int64
next_of_sequence(Relation issuer_rel, int64 last, FormData_issuer *self,
				 Issuer *issuer)
{
	Relation rel = catalog_open(TOKEN_SEQUENCE, RowExclusiveLock);
	Buffer buffer = read_block(rel, 0);
	Page page = BufferGetPage(buffer);
	ItemId item;
	HeapTupleHeader tuple;
	Form_pg_sequence_data data;
	bool by_us;
	bool drawn = true;
	int64 next;
	XLogRecPtr logged;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	read_records(issuer_rel, self, issuer);
	while (!issuer->recorded)
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		insert_record(issuer_rel, self);
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		read_records(issuer_rel, self, issuer);
	}
	item = PageGetItemId(page, FirstOffsetNumber);
	tuple = (HeapTupleHeader) PageGetItem(page, item);
	data = (Form_pg_sequence_data) ((char *) tuple + tuple->t_hoff);
	by_us = issuer->current && issuer->logged == PageGetLSN(page) &&
		data->last_value + data->log_cnt == issuer->ahead;
	next = data->last_value;
	if (next < EPOCH_SIZE && data->is_called)
		next++;
	if (issuer->current && !by_us && next <= issuer->ahead)
	{
		if (token_of(issuer, next) <= Max(last, issuer->floor))
			drawn = false;
		else
			next = issuer->ahead + 1;
	}
	if (next >= EPOCH_SIZE)
		drawn = false;
	if (drawn)
	{
		bool covered;

		/*
		 * What was logged before the last checkpoint is not replayed.  One that
		 * begins after we have looked must find the page dirty, and then waits
		 * for us.
		 */
		MarkBufferDirty(buffer);
		covered = by_us && data->is_called && data->log_cnt > 0 &&
			PageGetLSN(page) > GetRedoRecPtr();

		START_CRIT_SECTION();
		data->last_value = next;
		data->is_called = true;
		data->log_cnt--;
		if (!covered && RelationNeedsWAL(rel))
			log_ahead(rel, buffer, tuple, ItemIdGetLength(item), self);
		END_CRIT_SECTION();
	}
	logged = PageGetLSN(page);

	/* Before anyone else looks, or they would all log anew. */
	if (!XLogRecPtrIsInvalid(self->logged))
		write_self(issuer_rel, self, issuer);
	UnlockReleaseBuffer(buffer);
	catalog_close(rel, NoLock);
	XLogFlush(logged);
	return next;
}

/*
 * token_draw
 *		The next token, for a resource (NULL: for none): higher than its last
 *		one (0 if it has none), and than the floor; LF006 otherwise.  Its epoch
 *		is for sure once the WAL is flushed up to *lsn; lsn is NULL for one who
 *		writes the token to WAL, and flushes that.
 */
int64
token_draw(const text *resource, int64 last, XLogRecPtr *lsn)
{
	Relation rel = catalog_open(ISSUER_TABLE, RowExclusiveLock);
	FormData_issuer self;
	Issuer issuer;
	int64 number;
	int64 token;
	int64 highest;

	identify(&self);
	number = next_of_sequence(rel, last, &self, &issuer);
	settle_issuer(rel, &self, &issuer);
	if (number >= EPOCH_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("the tokens of epoch %lld have run out",
						(long long) issuer.epoch),
				 errhint("An administrator starts a new epoch with SELECT fencing.new_epoch().")));
	token = token_of(&issuer, number);
	highest = Max(last, issuer.floor);
	if (number < 1 || token <= highest)
		error_issuer_behind(resource ? text_to_cstring(resource) : NULL, token,
							highest,
							last > issuer.floor ? "its last token"
												: "the highest token on record");
	if (number % FLOOR_STRIDE == 0)
		(void) write_in_place(rel, &issuer.tid, raise_floor, &token);
	catalog_close(rel, RowExclusiveLock);
	if (lsn)
		*lsn = issuer.lsn;
	return token;
}

/*
 * issue_token() returns bigint
 *		A token for a grant table of the user's own.
 */
PG_FUNCTION_INFO_V1(fencing_issue_token);

Datum
fencing_issue_token(PG_FUNCTION_ARGS)
{
	XLogRecPtr lsn;
	int64 token;

	require_primary("issue_token()");
	token = token_draw(NULL, 0, &lsn);
	XLogFlush(lsn);
	PG_RETURN_INT64(token);
}

/*
 * Sets the epoch; one that another session has set meanwhile is not lowered.  Numbers
 * that were drawn belong to those before.
 */
static bool
raise_epoch(void *form, void *arg)
{
	int64 epoch = *(int64 *) arg;
	Form_issuer record = form;

	record->epoch = Max(record->epoch, epoch);
	record->logged = InvalidXLogRecPtr;
	record->ahead = 0;
	return true;
}

static int64
epoch_of(int64 token)
{
	return token / EPOCH_SIZE + 1;
}

/* The highest token in fencing.lease. */
static int64
highest_granted(void)
{
	Relation rel = catalog_open(LEASE_TABLE, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false,
										  SnapshotSelf, 0, NULL);
	HeapTuple tuple;
	int64 highest = 0;

	while ((tuple = systable_getnext(scan)) != NULL)
		highest = Max(highest, *(int64 *) GETSTRUCT(tuple));
	systable_endscan(scan);
	catalog_close(rel, AccessShareLock);
	return highest;
}

/*
 * new_epoch(above bigint) returns bigint
 *		Starts an epoch whose tokens are all higher than any that this
 *		database knows of, and than "above" where it is not NULL.  Returns
 *		the epoch.  Not undone by a rollback.
 */
PG_FUNCTION_INFO_V1(fencing_new_epoch);

Datum
fencing_new_epoch(PG_FUNCTION_ARGS)
{
	Relation rel;
	Issuer issuer;
	int64 above = 0;
	int64 epoch;
	bool exhausted;
	FormData_issuer self;
	LOCKTAG tag;
	XLogRecPtr lsn;

	require_primary("new_epoch()");
	if (!PG_ARGISNULL(0))
		above = PG_GETARG_INT64(0);
	if (above < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("token %lld is out of range", (long long) above),
				 errdetail("A token is a number from 1 to 9223372036854775807.")));
	above = Max(above, highest_granted());

	/*
	 * An exhausted sequence starts again, when the epoch has risen: all its
	 * numbers belong to epochs before.  Nobody can draw from it till then.
	 */
	rel = catalog_open(ISSUER_TABLE, RowExclusiveLock);
	lock_issuer(&tag);
	identify(&self);
	exhausted = next_of_sequence(rel, 0, &self, &issuer) >= EPOCH_SIZE - 1;
	settle_issuer(rel, &self, &issuer);
	above = Max(above, issuer.floor);
	epoch = Max(issuer.epoch, epoch_of(above)) + 1;
	if (epoch > EPOCH_LAST)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("no epoch is left above token %lld", (long long) above),
				 errdetail("The last epoch is %lld; the current one is %lld.",
						   (long long) EPOCH_LAST, (long long) issuer.epoch)));
	lsn = write_in_place(rel, &issuer.tid, raise_epoch, &epoch);
	read_issuer(rel, &issuer);
	make_durable(lsn);
	if (exhausted)
		(void) DirectFunctionCall3(setval3_oid,
								   ObjectIdGetDatum(catalog_oid(TOKEN_SEQUENCE)),
								   Int64GetDatum(1), BoolGetDatum(false));
	LockRelease(&tag, ExclusiveLock, false);
	catalog_close(rel, RowExclusiveLock);
	PG_RETURN_INT64(issuer.epoch);
}
