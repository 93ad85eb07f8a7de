/*-------------------------------------------------------------------------
 *
 * present.c
 *		What this transaction carries: tokens, holds, what it owes at commit.
 *
 * All of it is one list, in the order in which it came, each entry with its
 * subtransaction: a savepoint that is rolled back takes its entries off the
 * end, and nothing outlives the transaction, so that no pooled connection can
 * leak a token.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "executor/execdesc.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "catalog.h"
#include "deadline.h"
#include "durable.h"
#include "errors.h"
#include "fence.h"
#include "present.h"
#include "queue.h"
#include "record.h"
#include "statement.h"
#include "token.h"

typedef enum EntryKind
{
	ENTRY_TOKEN, /* present() */
	ENTRY_HOLD,	 /* hold(): presents, and is checked at commit */
	ENTRY_BOUND, /* a bound row was written with the token */
	ENTRY_GRANT,
	ENTRY_FORGET,
	ENTRY_RELEASE
} EntryKind;

typedef struct Entry
{
	EntryKind kind;
	int level; /* of a failed check at commit */
	SubTransactionId subid;
	int64 token;
	int64 superseded;  /* ENTRY_GRANT: the token it came after, ... */
	Deadline replaced; /* ... the deadline that its own was written over, ... */
	Deadline lost;	   /* ... and its own, if a later grant's was over that */
	Oid written;	   /* ENTRY_BOUND: the first table written so ... */
	AttrNumber fence;  /* ... and its fence column */
	text *resource;	   /* NULL for ENTRY_TOKEN and ENTRY_FORGET */
	RecordPlace place; /* of its lease record, where it was looked at */
	uint64 hash;
	int previous; /* entry of the same hash before it, or -1 */
} Entry;

/* In TopTransactionContext, like all that the entries point to. */
static Entry *entries;
static int n_entries;
static int max_entries;

/* From a resource's hash to its last entry; NULL as long as there are few. */
#define FEW_ENTRIES 8

typedef struct LastEntry
{
	uint64 hash;
	int index;
	char status;
} LastEntry;

#define SH_PREFIX		  lasts
#define SH_ELEMENT_TYPE	  LastEntry
#define SH_KEY_TYPE		  uint64
#define SH_KEY			  hash
#define SH_HASH_KEY(t, k) ((uint32) (k))
#define SH_EQUAL(t, a, b) ((a) == (b))
#define SH_SCOPE		  static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static lasts_hash *last_entries;

static int64 presented = FENCE_NONE;

/* A savepoint has taken away a grant that came after another of its resource. */
static bool deadline_lost;

/* The one release is written after the commit. */
static bool ends_in_place;

static void
reset(void)
{
	restore_synchronous_commit();
	entries = NULL;
	n_entries = max_entries = 0;
	last_entries = NULL;
	presented = FENCE_NONE;
	deadline_lost = false;
	ends_in_place = false;
}

static int
last_of(uint64 hash)
{
	if (last_entries)
	{
		LastEntry *last = lasts_lookup(last_entries, hash);

		return last ? last->index : -1;
	}
	for (int i = n_entries - 1; i >= 0; i--)
		if (entries[i].resource && entries[i].hash == hash)
			return i;
	return -1;
}

/* There are more than a few now.  All or none: out of memory, it is not used. */
static void
index_entries(void)
{
	lasts_hash *index = lasts_create(TopTransactionContext, 2 * FEW_ENTRIES, NULL);
	bool found;

	for (int i = 0; i < n_entries; i++)
		if (entries[i].resource)
			lasts_insert(index, entries[i].hash, &found)->index = i;
	last_entries = index;
}

static void
add(EntryKind kind, const text *resource, int64 token, int level)
{
	Entry *entry;
	bool found;

	if (n_entries == max_entries)
	{
		int more = Max(FEW_ENTRIES, 2 * max_entries);

		if (entries == NULL)
			entries = MemoryContextAlloc(TopTransactionContext,
										 more * sizeof(Entry));
		else
		{
			entries = repalloc_huge(entries, more * sizeof(Entry));
			if (last_entries == NULL)
				index_entries();
		}
		max_entries = more;
	}
	entry = &entries[n_entries];
	entry->kind = kind;
	entry->level = level;
	entry->subid = GetCurrentSubTransactionId();
	entry->token = token;
	entry->resource = NULL;
	memset(&entry->place, 0, sizeof(entry->place));
	if (resource)
	{
		MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);

		entry->resource = cstring_to_text_with_len(VARDATA_ANY(resource),
												   VARSIZE_ANY_EXHDR(resource));
		MemoryContextSwitchTo(old);
		entry->hash = resource_hash(resource);
		entry->previous = last_of(entry->hash);
		if (last_entries)
			lasts_insert(last_entries, entry->hash, &found)->index = n_entries;
	}
	n_entries++;
	if (kind == ENTRY_TOKEN || kind == ENTRY_HOLD)
		presented = token;
}

/* An entry that is checked at commit, where the lease record is known. */
static void
add_check(EntryKind kind, const text *resource, int64 token, int level,
		  const LeaseRecord *record)
{
	add(kind, resource, token, level);
	entries[n_entries - 1].place = record->place;
}

/*
 * Presents a token.  In a WHERE clause that is done once a row, so an entry
 * that counts no more, since it is followed at once, is taken over.
 */
static void
present(int64 token)
{
	Entry *last = n_entries > 0 ? &entries[n_entries - 1] : NULL;

	if (token == presented)
		return;
	if (last && last->kind == ENTRY_TOKEN &&
		last->subid == GetCurrentSubTransactionId())
		presented = last->token = token;
	else
		add(ENTRY_TOKEN, NULL, token, ERROR);
}

int64
present_token(void)
{
	return presented;
}

/* From i back, the first entry of this resource; others may share its hash. */
static int
entry_of(const text *resource, int i)
{
	while (i >= 0 && !same_resource(entries[i].resource, resource))
		i = entries[i].previous;
	return i;
}

/* The last entry of a resource, and the one before; -1 if there is none. */
static int
last_entry(const text *resource)
{
	if (last_entries)
		return entry_of(resource, last_of(resource_hash(resource)));
	for (int i = n_entries - 1; i >= 0; i--)
		if (entries[i].resource && same_resource(entries[i].resource, resource))
			return i;
	return -1;
}

static int
entry_before(int i)
{
	return entry_of(entries[i].resource, entries[i].previous);
}

/* Of tokens presented one after the other in one savepoint the last counts. */
static void
merge_tokens(void)
{
	while (n_entries > 1 && entries[n_entries - 1].kind == ENTRY_TOKEN &&
		   entries[n_entries - 2].kind == ENTRY_TOKEN &&
		   entries[n_entries - 2].subid == entries[n_entries - 1].subid)
	{
		entries[n_entries - 2] = entries[n_entries - 1];
		n_entries--;
	}
}

/*
 * hand_back_deadline
 *		A grant is rolled back with its savepoint: if the one before it was this
 *		transaction's too, the deadline of that one is to be put back.
 */
static void
hand_back_deadline(const Entry *dropped)
{
	int i = entry_of(dropped->resource, dropped->previous);

	while (i >= 0 && (entries[i].kind != ENTRY_GRANT || entries[i].token != dropped->replaced.token))
		i = entry_before(i);
	if (i >= 0)
	{
		entries[i].lost = dropped->replaced;
		deadline_lost = true;
	}
}

/* Before anyone looks at them, and for others before the commit. */
void
present_put_back_deadlines(Relation deadlines)
{
	if (!deadline_lost)
		return;
	for (int i = 0; i < n_entries; i++)
		if (entries[i].kind == ENTRY_GRANT && entries[i].lost.token != FENCE_NONE)
		{
			deadline_put_back(deadlines, entries[i].resource, &entries[i].lost);
			entries[i].lost.token = FENCE_NONE;
		}
	deadline_lost = false;
}

/* A rolled-back savepoint takes its entries, and those within it, away. */
static void
drop_from(SubTransactionId subid)
{
	while (n_entries > 0 && entries[n_entries - 1].subid >= subid)
	{
		Entry *entry = &entries[--n_entries];

		if (entry->kind == ENTRY_GRANT)
			hand_back_deadline(entry);
		if (entry->resource)
		{
			/* It is there: no memory is asked for in an abort. */
			if (last_entries)
				lasts_lookup(last_entries, entry->hash)->index = entry->previous;
			pfree(entry->resource);
		}
	}
	presented = FENCE_NONE;
	for (int i = n_entries - 1; i >= 0 && presented == FENCE_NONE; i--)
		if (entries[i].kind == ENTRY_TOKEN || entries[i].kind == ENTRY_HOLD)
			presented = entries[i].token;
}

/*
 * find_entry
 *		The last entry of a resource that is of one of these kinds, has this
 *		token, if it is not ANY_TOKEN, and fails at least at this level.
 */
#define KIND(kind) (1 << (kind))
#define ANY_TOKEN  (-1)

static const Entry *
find_entry(const text *resource, int kinds, int64 token, int level)
{
	for (int i = last_entry(resource); i >= 0; i = entry_before(i))
		if ((kinds & KIND(entries[i].kind)) &&
			(token == ANY_TOKEN || entries[i].token == token) &&
			entries[i].level >= level)
			return &entries[i];
	return NULL;
}

int64
present_held(const text *resource)
{
	const Entry *hold = find_entry(resource, KIND(ENTRY_HOLD), ANY_TOKEN, 0);

	return hold ? hold->token : FENCE_NONE;
}

/* What a lease record says to a token; FENCE_NONE is no token. */
static GrantVerdict
judge(const LeaseRecord *record, int64 token)
{
	if (!record->found)
		return token == FENCE_NONE ? GRANT_NO_RECORD : GRANT_UNKNOWN;
	if (token == FENCE_NONE)
		return GRANT_MISSING;
	if (token < record->form.token)
		return GRANT_STALE;
	if (token > record->form.token)
		return GRANT_UNKNOWN;
	return record->form.released ? GRANT_RELEASED : GRANT_CURRENT;
}

GrantVerdict
present_bound_write(const text *resource, int64 token,
					const WritePlace *place, int64 *current)
{
	LeaseRecord record;
	GrantVerdict verdict;

	/* Already known as current, and checked again at commit? */
	*current = token;
	if (find_entry(resource, KIND(ENTRY_HOLD) | KIND(ENTRY_BOUND), token,
				   place->level))
		return token == FENCE_NONE ? GRANT_NO_RECORD : GRANT_CURRENT;

	record_look_to_check(resource, &record);
	if (record.found)
		*current = record.form.token;
	else
		*current = FENCE_NONE;
	verdict = judge(&record, token);
	if (verdict == GRANT_CURRENT && record.after_snapshot)
		error_snapshot_too_early(text_to_cstring(resource));
	if (verdict == GRANT_CURRENT || verdict == GRANT_NO_RECORD)
	{
		add_check(ENTRY_BOUND, resource, token, place->level, &record);
		entries[n_entries - 1].written = RelationGetRelid(place->rel);
		entries[n_entries - 1].fence = place->column;
	}
	return verdict;
}

/* To be told which deadline that of the grant is written over. */
Deadline *
present_granted(const text *resource, int64 token, int64 superseded)
{
	Entry *entry;

	add(ENTRY_GRANT, resource, token, ERROR);
	entry = &entries[n_entries - 1];
	entry->superseded = superseded;
	entry->replaced.token = FENCE_NONE;
	entry->lost.token = FENCE_NONE;
	return &entry->replaced;
}

void
present_forgotten(void)
{
	add(ENTRY_FORGET, NULL, FENCE_NONE, ERROR);
}

/* Has this transaction granted the resource with this token? */
bool
present_has_granted(const text *resource, int64 token)
{
	return find_entry(resource, KIND(ENTRY_GRANT), token, 0) != NULL;
}

/* The commit writes it into the record, which none else may write till then. */
void
present_released(const text *resource, int64 token, const LeaseRecord *record)
{
	add_check(ENTRY_RELEASE, resource, token, ERROR, record);
}

/* It cannot have released what it granted before it did that. */
bool
present_has_released(const text *resource, int64 token)
{
	const Entry *last = find_entry(resource, KIND(ENTRY_RELEASE) | KIND(ENTRY_GRANT), token, 0);

	return last && last->kind == ENTRY_RELEASE;
}

/*
 * wait_for_writer
 *		Waits for the grant, release or evict of a resource that is in progress.
 *
 * The new holder, who granted and has not committed, may be waiting for a row
 * that this transaction has locked.  The one to give up is this one: it would
 * fail anyway once that grant commits.  The deadlock detector kills whoever
 * looks first, so look early; and since the new holder may come to that row
 * later, look again before it does.  Without a line in the log at each look.
 */
static void
wait_for_writer(const Entry *entry)
{
	MemoryContext context = CurrentMemoryContext;
	int timeout = DeadlockTimeout;
	bool log_waits = log_lock_waits;
	volatile bool deadlock = false;
	static TimeoutId look_again = MAX_TIMEOUTS;

	if (look_again == MAX_TIMEOUTS)
		look_again = RegisterTimeout(USER_TIMEOUT, CheckDeadLockAlert);

	DeadlockTimeout = Min(DeadlockTimeout, 10);
	log_lock_waits = false;
	PG_TRY();
	{
		int interval = Max(timeout / 3, 1);

		enable_timeout_every(look_again,
							 TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
														 interval),
							 interval);
		(void) resource_lock(entry->resource, LOCK_COMMIT, true);
		disable_timeout(look_again, false);
		resource_unlock(entry->resource, LOCK_COMMIT);
	}
	PG_CATCH();
	{
		disable_timeout(look_again, false);
		DeadlockTimeout = timeout;
		log_lock_waits = log_waits;
		if (geterrcode() != ERRCODE_T_R_DEADLOCK_DETECTED)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		deadlock = true;
	}
	PG_END_TRY();
	DeadlockTimeout = timeout;
	log_lock_waits = log_waits;
	if (deadlock)
		error_lease_lost(text_to_cstring(entry->resource), entry->token,
						 LOST_TO_WAITING_GRANT, 0);
}

/*
 * lock_for_commit
 *		Takes the commit locks of these entries, which keep new grants out until
 *		the commit is visible.
 *
 * None is kept while another is waited for: a grant waits for commits,
 * and must not wait behind a transaction that is still open.
 */
static void
lock_for_commit(const int *checks, int n_checks)
{
	int locked = 0;

	while (locked < n_checks)
	{
		const Entry *entry = &entries[checks[locked]];

		CHECK_FOR_INTERRUPTS();
		if (resource_lock(entry->resource, LOCK_COMMIT, false))
		{
			locked++;
			continue;
		}
		while (locked > 0)
			resource_unlock(entries[checks[--locked]].resource, LOCK_COMMIT);
		wait_for_writer(entry);
	}
}

/*
 * granted_anew
 *		Has this transaction itself granted the resource anew after the token,
 *		with no other grant in between, and does it hold that new token?
 */
static bool
granted_anew(const Entry *entry, int64 current)
{
	int64 token = current;

	if (present_held(entry->resource) != current)
		return false;
	for (int i = last_entry(entry->resource); i >= 0; i = entry_before(i))
		if (entries[i].kind == ENTRY_GRANT && entries[i].token == token)
			token = entries[i].superseded;
	return token == entry->token;
}

/*
 * check_at_commit
 *		Is the token still the current grant's?
 *
 * A release by this very transaction does not count: it takes effect with the
 * commit that is being checked.
 */
static void
check_at_commit(const Entry *entry)
{
	LeaseRecord record;
	GrantVerdict verdict;
	WritePlace place = {0};

	record_look_again(entry->resource, &entry->place, &record);
	verdict = judge(&record, entry->token);
	if (verdict == GRANT_CURRENT || verdict == GRANT_NO_RECORD ||
		(verdict == GRANT_RELEASED && record.own) ||
		(verdict == GRANT_STALE && granted_anew(entry, record.form.token)))
		return;

	place.resource = entry->resource;
	place.level = entry->level;
	if (entry->kind == ENTRY_HOLD)
		record_lost(&record, entry->resource, entry->token);

	/* The lock of the write is still ours; the table may be dropped. */
	place.rel = try_relation_open(entry->written, NoLock);
	place.column = entry->fence;
	switch (verdict)
	{
		case GRANT_STALE:
			error_stale_grant(&place, entry->token, record.form.token);
			break;
		case GRANT_MISSING:
			error_missing_grant(&place, record.form.token);
			break;
		case GRANT_RELEASED:
			error_released_grant(&place, entry->token);
			break;
		default:
			error_unknown_token(&place, entry->token, record.form.token);
			break;
	}
	if (place.rel)
		relation_close(place.rel, NoLock);
}

/* Has this transaction not granted anew what it released? */
static bool
is_last_word(const Entry *release)
{
	const Entry *grant = find_entry(release->resource, KIND(ENTRY_GRANT), ANY_TOKEN, 0);

	return grant == NULL || grant < release;
}

/*
 * write_releases
 *		Before the commit, so that it takes them along; or leaves the only one
 *		for after it.
 *
 * A transaction that has written nothing needs no transaction ID to release a
 * lease: what is written in place when nothing can fail any more is as good.
 * For several it needs one, or a crash could take some of them back; but its
 * commit need not be flushed for releases.  Nothing is left to write of what was
 * granted anew since.
 */
static void
write_releases(int n_releases)
{
	bool only = !TransactionIdIsValid(GetTopTransactionIdIfAny());

	ends_in_place = only && n_releases == 1;
	for (int i = 0; i < n_entries; i++)
	{
		const Entry *entry = &entries[i];

		CHECK_FOR_INTERRUPTS();
		if (entry->kind != ENTRY_RELEASE)
			continue;
		if (ends_in_place)
			record_prepare_end(&entry->place);
		else if (is_last_word(entry))
			record_release(entry->resource, &entry->place, entry->token);
	}
	if (only && !ends_in_place)
		allow_lazy_commit();
}

static void
before_commit(void)
{
	int *checks = palloc(Max(n_entries, 1) * sizeof(int));
	int n_checks = 0;
	int n_releases = 0;
	bool grants = false;

	for (int i = 0; i < n_entries; i++)
	{
		if (entries[i].kind == ENTRY_HOLD || entries[i].kind == ENTRY_BOUND)
			checks[n_checks++] = i;
		if (entries[i].kind == ENTRY_GRANT)
			grants = true;
		if (entries[i].kind == ENTRY_RELEASE)
			n_releases++;
	}
	lock_for_commit(checks, n_checks);
	for (int i = 0; i < n_checks; i++)
		check_at_commit(&entries[checks[i]]);

	if (deadline_lost && catalog_has(DEADLINE_TABLE))
	{
		Relation deadlines = catalog_open(DEADLINE_TABLE, RowExclusiveLock);

		present_put_back_deadlines(deadlines);
		catalog_close(deadlines, RowExclusiveLock);
	}
	if (n_releases > 0)
		write_releases(n_releases);
	if (grants)
	{
		/* They may have been taken away since. */
		require_synchronous_standbys();
		force_durable_commit();
	}
}

static void
before_prepare(void)
{
	for (int i = 0; i < n_entries; i++)
		if (entries[i].kind != ENTRY_TOKEN)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction with a grant, a release, a forget(), a hold or a bound write"),
					 errdetail("A prepared transaction that is forgotten would keep everyone else from the lease."),
					 errhint("Commit the lease in a transaction of its own.")));
}

static void
after_commit(void)
{
	bool granted = false;

	for (int i = 0; i < n_entries; i++)
	{
		if (entries[i].kind == ENTRY_GRANT)
			granted = true;
		if (entries[i].kind == ENTRY_RELEASE)
		{
			if (ends_in_place)
				record_end_after_commit(&entries[i].place, entries[i].token);
			queue_wake(entries[i].resource);
		}
	}
	if (granted)
		close_unless_replicated();
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	/* Not n_entries: savepoints may have taken all of them away again. */
	if (entries == NULL)
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			before_commit();
			break;
		case XACT_EVENT_PRE_PREPARE:
			before_prepare();
			break;
		case XACT_EVENT_COMMIT:
			after_commit();
			reset();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			reset();
			break;
		default:
			break;
	}
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId subid,
						SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		drop_from(subid);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (int i = n_entries - 1; i >= 0 && entries[i].subid >= subid; i--)
			entries[i].subid = parent;
		merge_tokens();
	}
}

void
present_init(void)
{
	reset();
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}

/*
 * A token lasts as long as the transaction.  A SELECT of its own outside a
 * transaction block is a transaction, and so in vain: warn, as SET LOCAL does.
 */
static void
warn_outside_block(FunctionCallInfo fcinfo, const char *what)
{
	if (!IsTransactionBlock() && !(MyXactFlags & XACT_FLAGS_PIPELINING) &&
		statement_is_plain_select(fcinfo->flinfo->fn_mcxt))
		ereport(WARNING,
				(errcode(ERRCODE_NO_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s can only be used in transaction blocks", what),
				 errhint("Unless more follows in its pipeline, the token was carried for this SELECT alone. Begin a transaction first.")));
}

/*
 * present(token bigint) returns bigint
 *		Carries the token for all that this transaction writes from here on,
 *		and returns it.  Rolled back with its savepoint.
 */
PG_FUNCTION_INFO_V1(fencing_present);

Datum
fencing_present(PG_FUNCTION_ARGS)
{
	int64 token = token_argument(fcinfo, 0);

	require_own_transaction("present()");
	warn_outside_block(fcinfo, "fencing.present()");

	present(token);
	PG_RETURN_INT64(token);
}

/*
 * presented() returns bigint
 *		The token presented in this transaction, or NULL.
 */
PG_FUNCTION_INFO_V1(fencing_presented);

Datum
fencing_presented(PG_FUNCTION_ARGS)
{
	PreventCommandIfParallelMode("presented()");
	if (presented == FENCE_NONE)
		PG_RETURN_NULL();
	PG_RETURN_INT64(presented);
}

/*
 * hold(resource text, token bigint) returns bigint
 *		Presents the token, and lets this transaction commit only if it is
 *		still the resource's current grant by then.  LF004 if it is not now.
 */
PG_FUNCTION_INFO_V1(fencing_hold);

Datum
fencing_hold(PG_FUNCTION_ARGS)
{
	text *resource = resource_argument(fcinfo, 0);
	int64 token = token_argument(fcinfo, 1);
	LeaseRecord record;

	if (RecoveryInProgress())
		require_primary("hold()");
	require_own_transaction("hold()");
	warn_outside_block(fcinfo, "fencing.hold()");
	if (present_held(resource) == token)
	{
		present(token);
		PG_RETURN_INT64(token);
	}

	/* Lets evict() find us; conflicts with nothing. */
	(void) resource_lock(resource, LOCK_HOLDER, true);

	record_look_to_check(resource, &record);
	record_confirm(&record, resource, token);
	if (record.after_snapshot)
		error_snapshot_too_early(text_to_cstring(resource));
	add_check(ENTRY_HOLD, resource, token, ERROR, &record);
	PG_RETURN_INT64(token);
}
