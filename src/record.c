/*-------------------------------------------------------------------------
 *
 * record.c
 *		The lease record of a resource, and the locks around it.
 *
 * Whoever writes a lease record (grant, release, evict, forget) holds its
 * writer's lock, and that for a change, to the end of the transaction.  A
 * transaction that called hold(), or wrote a bound row, takes the commit lock,
 * which excludes a change, just before it commits and reads the record again.
 * Heavyweight locks go only after the commit is visible, so that no window is
 * left between that look and the commit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/tupmacs.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "catalog.h"
#include "compat.h"
#include "durable.h"
#include "errors.h"
#include "fence.h"
#include "present.h"
#include "record.h"

#define NAME_MAX_BYTES 512

/*
 * name_argument
 *		A resource's or a holder's name.  One that is too long is refused, not
 *		cut: two locks must not become one.
 */
text *
name_argument(FunctionCallInfo fcinfo, int n, const char *what)
{
	text *name;
	int bytes;

	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", what)));
	name = PG_GETARG_TEXT_PP(n);
	bytes = VARSIZE_ANY_EXHDR(name);
	if (bytes < 1 || bytes > NAME_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s has %d bytes", what, bytes),
				 errdetail("It must have 1 to %d bytes.", NAME_MAX_BYTES)));
	return name;
}

text *
resource_argument(FunctionCallInfo fcinfo, int n)
{
	return name_argument(fcinfo, n, "resource name");
}

/*
 * scan_records
 *		Starts a scan of the lease table for a resource.
 *
 * With SnapshotSelf, mostly: it sees what is committed now and what this
 * transaction did, in this command too; and since it is no MVCC snapshot, it
 * leaves no SIREAD lock that would fail a SERIALIZABLE transaction for nothing.
 */
static SysScanDesc
scan_records(Relation rel, const text *resource, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyEntryInitialize(&key, 0, Anum_lease_resource, BTEqualStrategyNumber,
						   InvalidOid, C_COLLATION_OID, F_TEXTEQ,
						   PointerGetDatum(resource));
	return systable_beginscan(rel, catalog_oid(LEASE_INDEX), true, snapshot, 1, &key);
}

/*
 * Where this session last saw the rows of some resources in the two tables.
 * Who acquires or renews a lease mostly knows it from the last time, and then
 * needs no index.  Only a hint: what is found there is looked at as a whole.
 * Not larger, since it would push more useful things out of the processor's caches.
 */
typedef struct Places
{
	Oid file; /* they are in this one */
	struct
	{
		uint32 hash; /* the half that does not tell the element */
		ItemPointerData tid;
	} at[16384];
} Places;

static Places places[DEADLINE_TABLE + 1];

RecordPlace
known_place(CatalogObject table, const text *resource)
{
	Places *known = &places[table];
	uint64 hash = resource_hash(resource);
	int i = hash % lengthof(known->at);
	RecordPlace place = {0};

	if (known->at[i].hash == hash >> 32)
	{
		place.file = known->file;
		place.tid = known->at[i].tid;
	}
	return place;
}

void
remember_place(CatalogObject table, const text *resource, Relation rel,
			   ItemPointer tid)
{
	Places *known = &places[table];
	uint64 hash = resource_hash(resource);
	int i = hash % lengthof(known->at);

	if (known->file != rel->rd_rel->relfilenode)
		memset(known, 0, sizeof(*known));
	known->file = rel->rd_rel->relfilenode;
	known->at[i].hash = hash >> 32;
	known->at[i].tid = *tid;
}

/*
 * read_record
 *		A release by this transaction, which its commit will write, counts.
 */
static void
read_record(Relation rel, const text *resource, LeaseRecord *record,
			HeapTuple tuple)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	record->found = true;
	record->tuple = heap_copytuple(tuple);
	record->place.file = rel->rd_rel->relfilenode;
	record->place.tid = tuple->t_self;
	memcpy(&record->form, GETSTRUCT(record->tuple), SIZEOF_LEASE_FORM);
	record->own = TransactionIdIsCurrentTransactionId(xmin);
	record->after_snapshot = !record->own &&
		IsolationUsesXactSnapshot() &&
		XidInMVCCSnapshot(xmin, GetTransactionSnapshot());
	if (present_has_released(resource, record->form.token))
		record->form.released = record->own = true;
}

static void
look_once(Relation rel, const text *resource, LeaseRecord *record)
{
	SysScanDesc scan = scan_records(rel, resource, SnapshotSelf);
	HeapTuple tuple = systable_getnext(scan);

	memset(record, 0, sizeof(*record));
	if (HeapTupleIsValid(tuple))
	{
		read_record(rel, resource, record, tuple);
		remember_place(LEASE_TABLE, resource, rel, &tuple->t_self);
	}
	systable_endscan(scan);
}

/*
 * is_visible
 *		Is there a row version at this place of a page that can be seen?
 *
 * If the page has no room for another, and dead versions, we do not say so:
 * then the index scan that follows clears it of them, or a new version would
 * have to go to another page.
 */
static bool
is_visible(Relation rel, const ItemPointerData *tid, Buffer buffer,
		   HeapTuple tuple)
{
	Page page = BufferGetPage(buffer);
	bool visible;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	visible = visible_row(rel, buffer, ItemPointerGetOffsetNumber(tid), tuple) &&
		(!TransactionIdIsValid(((PageHeader) page)->pd_prune_xid) ||
		 PageGetHeapFreeSpace(page) >= 2 * MAXALIGN(tuple->t_len));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return visible;
}

/*
 * look_at_version
 *		Is the row version that an earlier look found still the newest?  Then
 *		what was changed in place since is read again.
 */
static bool
look_at_version(Relation rel, const text *resource, const RecordPlace *place,
				LeaseRecord *record)
{
	HeapTupleData tuple;
	Buffer buffer;
	bool same = false;

	/* VACUUM FULL has moved it, or VACUUM cut the table off before it. */
	if (!ItemPointerIsValid(&place->tid) ||
		place->file != rel->rd_rel->relfilenode ||
		!block_exists(rel, ItemPointerGetBlockNumber(&place->tid)))
		return false;

	buffer = read_block(rel, ItemPointerGetBlockNumber(&place->tid));
	if (is_visible(rel, &place->tid, buffer, &tuple))
	{
		/* The place may have been vacuumed, and another's row be in it. */
		same = same_resource(text_after(GETSTRUCT(&tuple), SIZEOF_LEASE_FORM),
							 resource);
		if (same)
			read_record(rel, resource, record, &tuple);
	}
	ReleaseBuffer(buffer);
	return same;
}

static void
look_again(Relation rel, const text *resource, const RecordPlace *place,
		   LeaseRecord *record)
{
	if (!look_at_version(rel, resource, place, record))
		look_once(rel, resource, record);
}

/*
 * record_look
 *		Reads the lease record of a resource, as it is now.
 *
 * While another session commits a new version, a scan may pass the new one
 * before and the old one after that commit, and so see neither.  Whoever
 * holds the writer or the commit lock is safe from that; for all others a
 * second look settles it: it can miss only if yet another version was
 * committed meanwhile, and then any token known before is stale.
 */
void
record_look(Relation rel, const text *resource, LeaseRecord *record)
{
	RecordPlace place = known_place(LEASE_TABLE, resource);

	look_again(rel, resource, &place, record);
	if (!record->found)
		look_once(rel, resource, record);
}

/* The same for one who has not opened the table. */
static void
look_now(const text *resource, LeaseRecord *record)
{
	Relation rel = catalog_open(LEASE_TABLE, AccessShareLock);

	record_look(rel, resource, record);
	catalog_close(rel, AccessShareLock);
}

/* The token of the last grant; FENCE_NONE where the resource has no record. */
int64
record_token(const text *resource)
{
	LeaseRecord record;

	look_now(resource, &record);
	return record.found ? record.form.token : FENCE_NONE;
}

/* For a token that the record does not bear out. */
void
record_lost(const LeaseRecord *record, const text *resource, int64 token)
{
	LostBy how = LOST_RELEASED;

	if (!record->found)
		how = LOST_WITHOUT_RECORD;
	else if (token != record->form.token)
		how = LOST_OTHER_TOKEN;
	error_lease_lost(text_to_cstring(resource), token, how,
					 record->form.token);
}

void
record_require(const text *resource, int64 token, LeaseRecord *record)
{
	look_now(resource, record);
	record_confirm(record, resource, token);
}

/* For a record that was looked at. */
void
record_confirm(const LeaseRecord *record, const text *resource, int64 token)
{
	if (!record->found || record->form.token != token || record->form.released)
		record_lost(record, resource, token);
}

/*
 * record_look_again
 *		The same for one who holds the commit lock, and knows from an earlier
 *		look, whose lock of the table was kept, where the record was: as long as
 *		that version can be seen, there is no newer one.
 */
void
record_look_again(const text *resource, const RecordPlace *place,
				  LeaseRecord *record)
{
	Relation rel = catalog_open(LEASE_TABLE, NoLock);

	look_again(rel, resource, place, record);
	catalog_close(rel, NoLock);
}

/*
 * record_look_to_check
 *		The first look of one who will look again before the commit.
 */
void
record_look_to_check(const text *resource, LeaseRecord *record)
{
	Relation rel = catalog_open(LEASE_TABLE, AccessShareLock);

	record_look(rel, resource, record);
	catalog_close(rel, NoLock);
}

/*
 * record_look_to_write
 *		The same for one who holds the writer's lock and may write the record;
 *		*record is what an earlier look found, or all zero.
 *
 * The table is locked for that, and stays so to the end of a transaction that
 * writes.  Else VACUUM FULL could move the row between the look and the write,
 * and REINDEX CONCURRENTLY would not wait for a row that is not committed yet,
 * and leave it out of the index.
 */
void
record_look_to_write(Relation rel, const text *resource, LeaseRecord *record)
{
	RecordPlace place = record->place;

	look_again(rel, resource, &place, record);
}

/*
 * update_record
 *		CatalogTupleUpdate() for a table with no index but ours, which mostly is
 *		not concerned, and then is not opened.
 */
static void
update_record(Relation rel, ItemPointer tid, HeapTuple tuple,
			  const text *resource)
{
	update_row(rel, tid, tuple);
	if (!HeapTupleIsHeapOnly(tuple))
	{
		Relation index = index_open(catalog_oid(LEASE_INDEX), RowExclusiveLock);
		Datum value = PointerGetDatum(resource);
		bool isnull = false;

		(void) index_insert(index, &value, &isnull, &tuple->t_self, rel,
							UNIQUE_CHECK_YES, false, BuildIndexInfo(index));
		index_close(index, RowExclusiveLock);
	}
}

/*
 * record_write
 *		Writes a new version of the record that record_look_to_write() found,
 *		or the first one.
 */
void
record_write(Relation rel, const text *resource, LeaseRecord *record,
			 HeapTuple tuple)
{
	if (!record->found)
		catalog_insert(rel, tuple, Anum_lease_resource);
	else if (catalog_has_more_indexes(rel, Anum_lease_resource))
		CatalogTupleUpdate(rel, &record->place.tid, tuple);
	else
		update_record(rel, &record->place.tid, tuple, resource);
	remember_place(LEASE_TABLE, resource, rel, &tuple->t_self);

	/* So that this statement may write it once more. */
	CommandCounterIncrement();
}

/*
 * record_release
 *		Writes a release before the commit of whoever released.  Nothing to write
 *		is left if it has granted the resource anew, forgotten it or dropped the
 *		extension since.
 */
void
record_release(const text *resource, const RecordPlace *place, int64 token)
{
	LeaseRecord record;
	Relation rel;

	if (!catalog_has(LEASE_TABLE))
		return;
	rel = catalog_open(LEASE_TABLE, NoLock);
	look_again(rel, resource, place, &record);
	if (record.found && record.form.token == token)
	{
		/* None is left so late, but the server wants one for an update. */
		PushActiveSnapshot(GetTransactionSnapshot());
		((Form_lease) GETSTRUCT(record.tuple))->released = true;
		record_write(rel, resource, &record, record.tuple);
		PopActiveSnapshot();
	}
	catalog_close(rel, NoLock);
}

/* What is written over a record in place when its grant ends; never a lower token. */
typedef struct End
{
	int64 token;
	TimestampTz at;
	int64 next; /* transaction ID */
} End;

static bool
end_grant(void *form, void *arg)
{
	const End *end = arg;
	Form_lease lease = form;

	if (lease->token > end->token)
		return false;
	lease->token = end->token;
	lease->ended_at = end->at;
	lease->ended = end->next;
	lease->released = true;
	return true;
}

/*
 * record_end
 *		Ends a grant in place: the record that record_look_to_write() found is
 *		released, with this token.  Returns up to where the WAL must be flushed.
 */
XLogRecPtr
record_end(Relation rel, const RecordPlace *place, int64 token)
{
	ItemPointerData tid = place->tid;
	End end = {
		.token = token,
		.at = GetCurrentTimestamp(),
		.next = (int64) U64FromFullTransactionId(ReadNextFullTransactionId())};

	return write_in_place(rel, &tid, end_grant, &end);
}

/*
 * record_prepare_end, record_end_after_commit
 *		The same for a release, once its transaction has committed: too late for
 *		an error.  So before that the table is opened and the page brought into
 *		memory.
 */
static Relation ending_in;
static Buffer ending_on;

void
record_prepare_end(const RecordPlace *place)
{
	ending_in = catalog_open(LEASE_TABLE, NoLock);
	ending_on = read_block(ending_in, ItemPointerGetBlockNumber(&place->tid));
}

void
record_end_after_commit(const RecordPlace *place, int64 token)
{
	flush_soon(record_end(ending_in, place, token));
	ReleaseBuffer(ending_on);
	catalog_close(ending_in, NoLock);

	/* It is no part of the next transaction. */
	XactLastRecEnd = InvalidXLogRecPtr;
}

/*
 * others_ended_since_snapshot
 *		Is there anything that the snapshot of this transaction does not show?
 *
 * A snapshot of now has the same xmax, and as many transactions in progress
 * below it, if and only if none has ended.
 */
static bool
others_ended_since_snapshot(void)
{
	Snapshot ours = GetTransactionSnapshot();
	Snapshot latest = GetLatestSnapshot();

	return latest->xmax != ours->xmax || latest->xcnt != ours->xcnt;
}

/*
 * ended_before_snapshot
 *		Was a grant that was ended in place ended before our snapshot was taken?
 *
 * Surely so if a transaction that began after that had ended by then.  Where
 * none had, the snapshot may be older, but is as good if nothing has ended since.
 * The clock only refuses more: a release that changed no data is one too.
 *
 * An ID that is yet to come is of another server, from which the record was
 * restored.
 */
static bool
ended_before_snapshot(const FormData_lease *form)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32 behind = XidFromFullTransactionId(next) - GetTransactionSnapshot()->xmax;

	if ((uint64) form->ended > U64FromFullTransactionId(next) ||
		(uint64) form->ended < U64FromFullTransactionId(next) - behind)
		return true;
	return form->ended_at < GetCurrentTransactionStartTimestamp() &&
		!others_ended_since_snapshot();
}

/*
 * was_forgotten_since_snapshot
 *		Of a resource without a record: had it one when our snapshot was
 *		taken, or later?
 *
 * As long as we have the snapshot, VACUUM leaves versions alone that it may
 * see, and those that came and went since.
 */
static bool
was_forgotten_since_snapshot(const text *resource)
{
	Relation rel = catalog_open(LEASE_TABLE, AccessShareLock);
	SysScanDesc scan = scan_records(rel, resource, SnapshotAny);
	Snapshot ours = GetTransactionSnapshot();
	HeapTuple tuple;
	bool found = false;

	while (!found && (tuple = systable_getnext(scan)) != NULL)
	{
		TransactionId xmax = HeapTupleHeaderGetUpdateXid(tuple->t_data);

		found = TransactionIdIsValid(xmax) &&
			!TransactionIdIsCurrentTransactionId(xmax) &&
			XidInMVCCSnapshot(xmax, ours);
	}
	systable_endscan(scan);
	catalog_close(rel, AccessShareLock);
	return found;
}

/*
 * record_is_later_than_snapshot
 *		Rule 9, for one who grants: may another have held the lease, and
 *		written under it, when the snapshot of this transaction was taken, or
 *		later?
 *
 * One who did not release it may have written until now; one whose grant was
 * ended in place, until then.
 */
bool
record_is_later_than_snapshot(const text *resource, const LeaseRecord *record)
{
	if (!IsolationUsesXactSnapshot())
		return false;
	if (!record->found)
		return was_forgotten_since_snapshot(resource);
	if (present_has_granted(resource, record->form.token))
		return false;
	if (record->after_snapshot)
		return true;
	if (!record->form.released)
		return others_ended_since_snapshot();
	return record->form.ended != 0 && !ended_before_snapshot(&record->form);
}

/*
 * text_after
 *		The text column that follows so many bytes of columns in a row.
 *
 * If the row has data that had to be compressed, names may be too: such a one
 * is not equal to what it stands for.
 */
text *
text_after(const void *columns, Size bytes)
{
	char *end = (char *) columns + bytes;

	return (text *) att_align_pointer(end, TYPALIGN_INT, -1, end);
}

/*
 * The columns after the form of a record that was found: resource, role, holder
 * and data.  None but the last is ever NULL.
 */
static text *
next_column(const text *column)
{
	return text_after(column, VARSIZE_ANY(column));
}

static text *
role_column(const LeaseRecord *record)
{
	return next_column(text_after(GETSTRUCT(record->tuple), SIZEOF_LEASE_FORM));
}

/* Who acquired the lease, by name. */
text *
record_role(const LeaseRecord *record)
{
	return DatumGetTextPP(PointerGetDatum(role_column(record)));
}

text *
record_holder(const LeaseRecord *record)
{
	return DatumGetTextPP(PointerGetDatum(next_column(role_column(record))));
}

Datum
record_data(const LeaseRecord *record, bool *isnull)
{
	*isnull = HeapTupleHasNulls(record->tuple);
	if (*isnull)
		return (Datum) 0;
	return PointerGetDatum(next_column(next_column(role_column(record))));
}

/* Names are compared byte for byte; NULL is a row that none protects. */
bool
same_resource(const text *a, const text *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

/*
 * sip_hash
 *		SipHash-2-4 (Aumasson and Bernstein, 2012) under a key that only the
 *		cluster knows.
 *
 * pg_locks shows hashes to everyone.  With one that can be inverted, as the
 * server's own, names could be made up that share the locks of somebody
 * else's resource, whatever it is seeded with.
 */
#define ROTATE(x, bits) (((x) << (bits)) | ((x) >> (64 - (bits))))

static inline void
sip_round(uint64 *v)
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = ROTATE(v[1], 13) ^ v[0];
	v[3] = ROTATE(v[3], 16) ^ v[2];
	v[0] = ROTATE(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = ROTATE(v[1], 17) ^ v[2];
	v[3] = ROTATE(v[3], 21) ^ v[0];
	v[2] = ROTATE(v[2], 32);
}

static inline void
sip_word(uint64 *v, uint64 word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

static uint64
sip_hash(const char *name, Size length)
{
	Size rest = length % sizeof(uint64);
	uint64 key[2];
	uint64 word;
	uint64 v[4] = {
		UINT64CONST(0x736f6d6570736575), UINT64CONST(0x646f72616e646f6d),
		UINT64CONST(0x6c7967656e657261), UINT64CONST(0x7465646279746573)};

	memcpy(key, GetMockAuthenticationNonce(), sizeof(key));
	for (int i = 0; i < 4; i++)
		v[i] ^= key[i % 2];
	for (Size i = 0; i < length - rest; i += sizeof(word))
	{
		memcpy(&word, name + i, sizeof(word));
		sip_word(v, word);
	}
	word = 0;
	memcpy(&word, name + length - rest, rest);
	sip_word(v, word ^ (uint64) length << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Each call asks for that of its resource several times. */
uint64
resource_hash(const text *resource)
{
	static char last[NAME_MAX_BYTES];
	static Size last_length = 0;
	static uint64 last_hash;
	const char *name = VARDATA_ANY(resource);
	Size length = VARSIZE_ANY_EXHDR(resource);

	if (length > sizeof(last) || length == 0)
		return sip_hash(name, length);
	if (length != last_length || memcmp(name, last, length) != 0)
	{
		memcpy(last, name, length);
		last_length = length;
		last_hash = sip_hash(name, length);
	}
	return last_hash;
}

/*
 * The tags are advisory locks of this database with a last field that the
 * server's own advisory functions, which use 1 and 2, cannot produce.  Two
 * names with one 64-bit hash share their locks and merely wait for each other.
 */
static const struct
{
	uint16 field;
	LOCKMODE mode;
} resource_locks[] = {
	[LOCK_QUEUE] = {0x4600, ExclusiveLock},
	[LOCK_EVICT] = {0x4601, ExclusiveLock},
	[LOCK_HOLDER] = {0x4602, AccessShareLock},
	[LOCK_COMMIT] = {0x4602, RowShareLock},
	[LOCK_WRITER] = {0x4602, ShareUpdateExclusiveLock},
	[LOCK_CHANGE] = {0x4602, ExclusiveLock},
	[LOCK_ALL] = {0x4602, AccessExclusiveLock},
};

static void
resource_locktag(LOCKTAG *tag, const text *resource, ResourceLock which)
{
	uint64 hash = resource_hash(resource);

	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId,
						 (uint32) (hash >> 32), (uint32) hash,
						 resource_locks[which].field);
}

static void
waiting_context(void *arg)
{
	text *resource = arg;

	errcontext("while waiting for the lease of resource \"%s\"",
			   text_to_cstring(resource));
}

/*
 * For the transaction, not for the cursor that may have called us: a cursor
 * that fails in a subtransaction loses its locks, and not what it did before.
 *
 * Who holds the lock for the change has nobody to wait for.  But where others wait for
 * it, the server does not grant another mode of it without waiting.
 */
static bool
take_lock(const text *resource, ResourceLock which, bool wait, bool or_error)
{
	LOCKTAG tag;
	ErrorContextCallback context;
	ResourceOwner owner = CurrentResourceOwner;
	LockAcquireResult result;

	resource_locktag(&tag, resource, which);

	context.callback = waiting_context;
	context.arg = unconstify(text *, resource);
	context.previous = error_context_stack;
	error_context_stack = &context;
	CurrentResourceOwner = CurTransactionResourceOwner;
	result = acquire_lock(&tag, resource_locks[which].mode, !wait, or_error);
	if (result == LOCKACQUIRE_NOT_AVAIL &&
		holds_lock(&tag, resource_locks[LOCK_CHANGE].mode))
		result = acquire_lock(&tag, resource_locks[which].mode, false, or_error);
	CurrentResourceOwner = owner;
	error_context_stack = context.previous;

	return result != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * resource_lock
 *		Takes a lock of a resource to the end of the transaction; without
 *		wait, returns whether it was free.
 */
bool
resource_lock(const text *resource, ResourceLock which, bool wait)
{
	return take_lock(resource, which, wait, true);
}

/*
 * resource_try_lock
 *		The same, without waiting, for one who can do without: also where the
 *		server has no memory left for locks.
 */
bool
resource_try_lock(const text *resource, ResourceLock which)
{
	return take_lock(resource, which, false, false);
}

/* Is the lock for the change this transaction's? */
bool
resource_is_ours(const text *resource)
{
	LOCKTAG tag;

	resource_locktag(&tag, resource, LOCK_CHANGE);
	return holds_lock(&tag, resource_locks[LOCK_CHANGE].mode);
}

void
resource_unlock(const text *resource, ResourceLock which)
{
	LOCKTAG tag;
	ResourceOwner owner = CurrentResourceOwner;

	resource_locktag(&tag, resource, which);
	CurrentResourceOwner = CurTransactionResourceOwner;
	LockRelease(&tag, resource_locks[which].mode, false);
	CurrentResourceOwner = owner;
}

/*
 * resource_conflicts
 *		The transactions, but for ours, that have a lock with which this one
 *		conflicts.  The last element is not valid.
 */
VirtualTransactionId *
resource_conflicts(const text *resource, ResourceLock which)
{
	LOCKTAG tag;

	resource_locktag(&tag, resource, which);
	return GetLockConflicts(&tag, resource_locks[which].mode, NULL);
}
