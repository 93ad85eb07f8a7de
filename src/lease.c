/*-------------------------------------------------------------------------
 *
 * lease.c
 *		acquire, renew, release, evict, forget: a grant passes here.
 *
 *		lock the resource -> deadline says free -> token drawn -> record
 *		written -> forced durable commit
 *
 * A refusal is mostly decided by one look, which takes no lock, and writes nothing
 * but that a deadline has passed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "catalog.h"
#include "compat.h"
#include "deadline.h"
#include "durable.h"
#include "errors.h"
#include "fence.h"
#include "interval.h"
#include "present.h"
#include "queue.h"
#include "record.h"
#include "token.h"

#define LOOKS_BEFORE_EVICTING 10

/* ---- acquire ---- */

/* What acquire() was asked for, and what came of it. */
typedef struct Request
{
	text *resource;
	int64 ttl;
	text *holder; /* NULL: to be named after role, host, backend */
	Datum data;
	bool data_isnull;
	text *role;

	Relation leases; /* open ... */
	Relation deadlines;
	LeaseRecord record; /* as last looked at */
	Deadline deadline;	/* of its grant, or of ours */
	bool has_deadline;
	bool in_force; /* neither released nor past its deadline */
	int64 passed;  /* the token whose deadline has passed, for good */
	int64 token;   /* granted to us */
	text *granted_to;
	int64 wait_until; /* by wait_clock(); 0: it does not wait */
	bool in_line;
} Request;

/*
 * A worker that comes back under the name it gave itself is granted anew at
 * once, and its own zombie is fenced.  A default name equals no other.
 */
static bool
is_holder_again(const Request *request)
{
	const LeaseRecord *record = &request->record;

	return request->holder && record->form.named &&
		same_resource(record_role(record), request->role) &&
		same_resource(record_holder(record), request->holder);
}

/* The address of the client, as inet_client_addr() has it. */
static const char *
client_host(void)
{
	LOCAL_FCINFO(call, 0);
	Datum address;

	InitFunctionCallInfoData(*call, NULL, 0, InvalidOid, NULL, NULL);
	address = inet_client_addr(call);
	if (call->isnull)
		return "[local]";
	return TextDatumGetCString(DirectFunctionCall1(network_host, address));
}

/*
 * default_holder
 *		"role@host application pid=1 token=2": who, from where, and unlike any
 *		other.  Without printf, which a grant would notice.
 */
static text *
default_holder(const Request *request)
{
	StringInfoData name;
	char number[MAXINT8LEN + 1];

	initStringInfo(&name);
	appendBinaryStringInfo(&name, VARDATA_ANY(request->role),
						   VARSIZE_ANY_EXHDR(request->role));
	appendStringInfoChar(&name, '@');
	appendStringInfoString(&name, client_host());
	if (application_name && *application_name)
	{
		appendStringInfoChar(&name, ' ');
		appendStringInfoString(&name, application_name);
	}
	appendStringInfoString(&name, " pid=");
	pg_ltoa(MyProcPid, number);
	appendStringInfoString(&name, number);
	appendStringInfoString(&name, " token=");
	pg_lltoa(request->token, number);
	appendStringInfoString(&name, number);
	return cstring_to_text_with_len(name.data, name.len);
}

/*
 * looks_free
 *		The unlocked look.  A deadline that is missing has to be looked at
 *		under the lock; one that has passed need not be looked at again.
 */
static bool
looks_free(Request *request)
{
	DeadlineState state;

	record_look(request->leases, request->resource, &request->record);
	request->in_force = false;
	if (!request->record.found || request->record.form.released)
		return true;
	state = deadline_look(request->deadlines, request->resource,
						  &request->record.form.deadline,
						  request->record.form.token, true,
						  &request->deadline);
	request->has_deadline = state != DEADLINE_MISSING;
	request->in_force = state != DEADLINE_PASSED;
	if (state == DEADLINE_PASSED)
		request->passed = request->record.form.token;
	return state != DEADLINE_AHEAD || is_holder_again(request);
}

/*
 * is_free
 *		The look that decides, under the writer's lock.
 *
 * A deadline that is missing is written for its holder too who is granted
 * anew, or the next renewal would have to wait for that transaction.
 */
static bool
is_free(Request *request)
{
	const LeaseRecord *record = &request->record;

	record_look_to_write(request->leases, request->resource, &request->record);
	if (!record->found || record->form.released ||
		record->form.token == request->passed)
		return true;
	request->has_deadline = true;
	switch (deadline_look(request->deadlines, request->resource,
						  &request->record.form.deadline, record->form.token,
						  true, &request->deadline))
	{
		case DEADLINE_PASSED:
			return true;
		case DEADLINE_AHEAD:
		case DEADLINE_LONGER:
			break;
		case DEADLINE_MISSING:
			deadline_restart(request->deadlines, request->resource,
							 &request->record.form.deadline, record->form.token,
							 record->form.ttl, &request->deadline);
			break;
	}
	return is_holder_again(request);
}

/* Writes the record of the grant. */
static void
write_grant(Request *request)
{
	LeaseRecord *record = &request->record;
	Datum values[Natts_lease];
	bool nulls[Natts_lease] = {false};
	HeapTuple tuple;

	values[Anum_lease_token - 1] = Int64GetDatum(request->token);
	values[Anum_lease_ttl - 1] = Int64GetDatum(request->ttl);
	values[Anum_lease_granted_at - 1] =
		TimestampTzGetDatum(request->deadline.renewed_at);
	values[Anum_lease_grants - 1] =
		Int64GetDatum(record->found ? record->form.grants + 1 : 1);
	values[Anum_lease_ended_at - 1] = TimestampTzGetDatum(0);
	values[Anum_lease_ended - 1] = Int64GetDatum(0);
	values[Anum_lease_deadline - 1] = PointerGetDatum(&record->form.deadline);
	values[Anum_lease_released - 1] = BoolGetDatum(false);
	values[Anum_lease_named - 1] = BoolGetDatum(request->holder != NULL);
	values[Anum_lease_resource - 1] = PointerGetDatum(request->resource);
	values[Anum_lease_role - 1] = PointerGetDatum(request->role);
	values[Anum_lease_holder - 1] = PointerGetDatum(request->granted_to);
	values[Anum_lease_data - 1] = request->data;
	nulls[Anum_lease_data - 1] = request->data_isnull;
	tuple = heap_form_tuple(RelationGetDescr(request->leases), values, nulls);
	record_write(request->leases, request->resource, record, tuple);
}

/*
 * grant
 *		We hold the lock for the change and the resource is free.
 *
 * That lock keeps out holders of the previous grant that are about to commit;
 * it may have to wait for one that has begun to.
 */
static void
grant(Request *request)
{
	const LeaseRecord *record = &request->record;
	int64 last = record->found ? record->form.token : 0;
	Deadline *replaced;

	if (record_is_later_than_snapshot(request->resource, record))
		error_snapshot_too_early(text_to_cstring(request->resource));

	request->token = token_draw(request->resource, last, NULL);
	request->granted_to = request->holder ? request->holder
										  : default_holder(request);
	request->deadline.token = request->token;
	request->deadline.ttl = request->ttl;

	/* First: whatever fails from here on, the deadline is put back. */
	replaced = present_granted(request->resource, request->token, last);
	deadline_grant(request->deadlines, request->resource,
				   &request->record.form.deadline, last,
				   present_has_granted(request->resource, last) ? 0 : last,
				   &request->deadline, replaced);
	write_grant(request);
}

/*
 * Waits for commits of previous holders that have begun: whoever may wait does so
 * in line, where the wait ends by its time, or with its client.
 */
static bool
lock_change(const Request *request)
{
	if (request->wait_until == 0)
		return resource_lock(request->resource, LOCK_CHANGE, true);
	return (request->in_line ||
			(request->record.found && is_holder_again(request))) &&
		lock_until(request->resource, LOCK_CHANGE, request->wait_until);
}

/*
 * try_grant
 *		Grants if that can be done at once.  Without waiting for any open
 *		transaction: whoever else holds the writer's lock has a grant that is
 *		undecided, and then we are refused.
 *
 * Mostly the lock for the change is free, and serves as the writer's too.
 */
static bool
try_grant(Request *request, bool *undecided)
{
	ResourceLock which = LOCK_CHANGE;
	bool locked = resource_lock(request->resource, which, false);

	if (!locked)
	{
		which = LOCK_WRITER;
		locked = resource_lock(request->resource, which, false);
	}
	*undecided = !locked;
	if (!locked)
		return false;
	if (is_free(request) && (which == LOCK_CHANGE || lock_change(request)))
	{
		grant(request);
		return true;
	}
	resource_unlock(request->resource, which);
	return false;
}

static void
open_tables(Request *request)
{
	request->leases = catalog_open(LEASE_TABLE, RowExclusiveLock);
	request->deadlines = catalog_open(DEADLINE_TABLE, RowExclusiveLock);
	present_put_back_deadlines(request->deadlines);
}

/* Who has written keeps the tables locked to the end of the transaction. */
static void
close_tables(Request *request, bool written)
{
	LOCKMODE mode = written ? NoLock : RowExclusiveLock;

	catalog_close(request->deadlines, mode);
	catalog_close(request->leases, mode);
}

/*
 * acquire_now
 *		An acquire() that does not wait stands behind those that do.
 *
 * Not so one whose own the lease is: what is granted anew to its holder, as
 * long as it holds it, or in the transaction that has just changed it, was not
 * free for those who wait; and they cannot be served before that transaction
 * ends.
 */
static bool
acquire_now(Request *request)
{
	bool undecided;
	bool granted;

	open_tables(request);
	granted = looks_free(request) &&
		((request->in_force && is_holder_again(request)) ||
		 !queue_has_waiters(request->resource) ||
		 resource_is_ours(request->resource)) &&
		try_grant(request, &undecided);
	close_tables(request, granted);
	return granted;
}

/* One try of the first in line (QueueTry). */
static bool
acquire_first(void *arg, bool *undecided, TimestampTz *until)
{
	Request *request = arg;
	bool granted;

	*undecided = false;
	request->in_line = true;
	open_tables(request);
	granted = looks_free(request) && try_grant(request, undecided);
	close_tables(request, granted);
	*until = request->has_deadline ? request->deadline.at : DT_NOEND;
	return granted;
}

/* Reads the arguments of acquire(). */
static void
read_request(FunctionCallInfo fcinfo, Request *request)
{
	int64 wait = 0;

	memset(request, 0, sizeof(*request));
	request->resource = resource_argument(fcinfo, 0);
	request->ttl = ttl_argument(fcinfo, 1);
	if (!PG_ARGISNULL(2))
		request->holder = name_argument(fcinfo, 2, "holder");
	if (!PG_ARGISNULL(3))
		wait = interval_argument(fcinfo, 3, "wait", 0, TTL_MAX,
								 "from 0 to 365 days");
	if (wait > 0)
		request->wait_until = wait_clock() + wait;
	request->data_isnull = PG_ARGISNULL(4);
	if (!request->data_isnull)
		request->data = PointerGetDatum(PG_DETOAST_DATUM(PG_GETARG_DATUM(4)));
	request->role = cstring_to_text(GetUserNameFromId(GetUserId(), false));
}

/* The row that acquire() returns. */
static Datum
make_answer(FunctionCallInfo fcinfo, const Request *request, bool granted)
{
	static const Oid types[] = {BOOLOID, INT8OID, TEXTOID, TEXTOID, TIMESTAMPTZOID,
								INTERVALOID, INTERVALOID, JSONBOID};
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TupleDesc desc;
	Datum values[8] = {0};
	bool nulls[8] = {false};
	const LeaseRecord *record = &request->record;

	/* In FROM the executor knows the row type; elsewhere it is looked up. */
	if (rsinfo && IsA(rsinfo, ReturnSetInfo) && rsinfo->expectedDesc)
		desc = rsinfo->expectedDesc;
	else if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!has_columns(desc, types, lengthof(types)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type \"fencing.answer\" is not as the extension made it"),
				 errhint("Alter it back, or restore a dump of the database, which makes it anew.")));
	desc = BlessTupleDesc(desc);

	values[0] = BoolGetDatum(granted);
	values[2] = PointerGetDatum(request->resource);
	nulls[1] = nulls[5] = nulls[6] = !granted;
	if (granted)
	{
		values[1] = Int64GetDatum(request->token);
		values[3] = PointerGetDatum(request->granted_to);
		values[4] = TimestampTzGetDatum(request->deadline.at);
		values[5] = IntervalPGetDatum(interval_of(request->ttl));
		values[6] = IntervalPGetDatum(interval_of(heartbeat_of(request->ttl)));
		values[7] = request->data;
		nulls[7] = request->data_isnull;
	}
	else
	{
		nulls[3] = !record->found || record->form.released;
		nulls[7] = true;
		if (!nulls[3])
		{
			values[3] = PointerGetDatum(record_holder(record));
			values[7] = record_data(record, &nulls[7]);
		}
		nulls[4] = nulls[3] || !request->has_deadline;
		values[4] = TimestampTzGetDatum(request->deadline.at);
	}
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/*
 * acquire(resource text, ttl interval, holder text, wait interval,
 *		   data jsonb) returns one row
 *		Grants the lease if it is free: never granted, released, expired, or
 *		held under the same given name by the same role.  With wait, stands in
 *		line for it up to that long.
 */
PG_FUNCTION_INFO_V1(fencing_acquire);

Datum
fencing_acquire(PG_FUNCTION_ARGS)
{
	Request request;
	bool granted;

	read_request(fcinfo, &request);
	require_primary("acquire()");
	require_synchronous_standbys();
	granted = acquire_now(&request);

	/* What this transaction has itself taken does not become free meanwhile. */
	if (!granted && request.wait_until != 0 && !request.record.own)
		granted = queue_wait(request.resource, request.wait_until, acquire_first, &request);
	PG_RETURN_DATUM(make_answer(fcinfo, &request, granted));
}

/* ---- renew, release ---- */

/*
 * The lease is for the role that acquired it, or a member of it.  A role that
 * was dropped meanwhile leaves it to administrators.
 */
static void
require_role_of(const LeaseRecord *record, const text *resource)
{
	Oid role;
	char *name = text_to_cstring(record_role(record));

	if (strcmp(name, GetUserNameFromId(GetUserId(), false)) == 0)
		return;
	role = get_role_oid(name, true);
	if (OidIsValid(role)
			? is_member_of_role(GetUserId(), role) ||
				is_member_of_role(GetSessionUserId(), role)
			: is_administrator())
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for the lease of resource \"%s\"",
					text_to_cstring(resource)),
			 errdetail("It was acquired by role \"%s\".", name),
			 errhint("Renew and release as that role, or as a member of it.")));
}

/* A longer promise, if the row is still that of the token. */
typedef struct LongerTtl
{
	int64 token;
	int64 ttl;
} LongerTtl;

static bool
raise_ttl(void *form, void *arg)
{
	const LongerTtl *longer = arg;
	Form_lease lease = form;

	if (lease->token != longer->token || lease->ttl >= longer->ttl)
		return false;
	lease->ttl = longer->ttl;
	return true;
}

/*
 * record_ttl
 *		After a crash a lease has the TTL on record again, so a longer one
 *		must be there, durable, before it is promised.  In place, like the
 *		deadline: a renewal stands even if its transaction rolls back.  Returns
 *		up to where the WAL must be flushed.
 *
 * A TTL that is on record already was perhaps put there by a renewal whose
 * wait for the standbys was broken off: so it may have to be waited for again.
 */
static XLogRecPtr
record_ttl(const text *resource, int64 token, int64 ttl)
{
	Relation rel = catalog_open(LEASE_TABLE, RowExclusiveLock);
	LongerTtl longer = {token, ttl};
	LeaseRecord record;
	XLogRecPtr lsn = InvalidXLogRecPtr;

	/* Look again: VACUUM FULL may have moved the row before we had the lock. */
	record_look(rel, resource, &record);
	if (record.found)
		lsn = write_in_place(rel, &record.tuple->t_self, raise_ttl, &longer);
	catalog_close(rel, RowExclusiveLock);
	return lsn;
}

/*
 * first_look
 *		A renewal that finds no deadline: the first look at the lease since a
 *		crash, as it seems.
 *
 * It seems so too if the lease was granted anew meanwhile, twice, and its slot
 * used for that.  So the record is read again, under the writer's lock.  That
 * is waited for: who has it may be about to write a deadline, by a clock and a
 * TTL that were read before now.
 */
static XLogRecPtr
first_look(Relation rel, const text *resource, int64 token, int64 ttl)
{
	LeaseRecord record;
	ItemPointer place = &record.form.deadline;
	Deadline deadline;
	XLogRecPtr lsn;

	(void) resource_lock(resource, LOCK_WRITER, true);
	record_require(resource, token, &record);
	lsn = record_ttl(resource, token, ttl);
	if (deadline_look(rel, resource, place, token, false, &deadline) == DEADLINE_MISSING)
		deadline_restart(rel, resource, place, token,
						 Max(ttl, record.form.ttl), &deadline);
	resource_unlock(resource, LOCK_WRITER);
	return lsn;
}

/*
 * renewer
 *		The current role, whose name is given, as the deadline knows who may renew:
 *		by OID, which nobody chooses, and by its name of now, by which the lease is
 *		its own.
 */
static int64
renewer(const text *role)
{
	return ((uint64) GetUserId() << 32) |
		DatumGetUInt32(hash_any((const unsigned char *) VARDATA_ANY(role),
								VARSIZE_ANY_EXHDR(role)));
}

/*
 * confirm
 *		Has the renewals to come by this role go without the record: the first
 *		one since the grant, since a crash, or since a change that was rolled back.
 *		Not while a change is in progress.
 */
static void
confirm(Relation rel, const text *resource, int64 token, const text *role)
{
	Relation leases;
	LeaseRecord record;

	if (!resource_try_lock(resource, LOCK_WRITER))
		return;
	leases = catalog_open(LEASE_TABLE, AccessShareLock);
	record_look(leases, resource, &record);
	if (record.found && record.form.token == token && !record.form.released &&
		!record.own)
		deadline_confirm(rel, resource, &record.form.deadline, token,
						 record.form.ttl, renewer(role));
	catalog_close(leases, AccessShareLock);
	resource_unlock(resource, LOCK_WRITER);
}

/* A renewal that looks at the record. */
static DeadlineState
renew_by_record(Relation rel, const text *resource, int64 token, int64 ttl,
				const text *role, Deadline *deadline)
{
	LeaseRecord record;
	ItemPointer place = &record.form.deadline;
	DeadlineState state;

	record_require(resource, token, &record);
	require_role_of(&record, resource);
	if (ttl == 0)
		ttl = record.form.ttl;
	state = deadline_renew(rel, resource, place, token, ttl, 0, deadline);
	while (state == DEADLINE_LONGER || state == DEADLINE_MISSING)
	{
		XLogRecPtr lsn;

		/* Till that is durable, the deadline does not know the TTL on record. */
		deadline_doubt(rel, resource, place, token);
		lsn = state == DEADLINE_LONGER ? record_ttl(resource, token, ttl)
									   : first_look(rel, resource, token, ttl);
		if (!XLogRecPtrIsInvalid(lsn))
			make_durable(lsn);
		state = deadline_renew(rel, resource, place, token, ttl,
							   Max(ttl, record.form.ttl), deadline);
	}
	if (state == DEADLINE_AHEAD)
	{
		/* Perhaps moved for nobody: released, or granted anew, since we looked. */
		record_require(resource, token, &record);
		if (same_resource(record_role(&record), role))
			confirm(rel, resource, token, role);
	}
	return state;
}

/*
 * renew(resource text, token bigint, ttl interval) returns timestamptz
 *		Moves the deadline to ttl (NULL: the one recorded) from now, and
 *		returns it.  LF004 where the token no longer holds the lease.
 */
PG_FUNCTION_INFO_V1(fencing_renew);

Datum
fencing_renew(PG_FUNCTION_ARGS)
{
	text *resource = resource_argument(fcinfo, 0);
	int64 token = token_argument(fcinfo, 1);
	int64 ttl = PG_ARGISNULL(2) ? 0 : ttl_argument(fcinfo, 2);
	text *role;
	Relation rel;
	Deadline deadline;
	DeadlineState state;

	require_primary("renew()");
	role = cstring_to_text(GetUserNameFromId(GetUserId(), false));

	/* Let go at once, so that none waits for the transaction of who renews. */
	rel = catalog_open(DEADLINE_TABLE, RowExclusiveLock);
	present_put_back_deadlines(rel);
	state = deadline_renew_current(rel, resource, token, ttl, renewer(role), &deadline);
	if (state == DEADLINE_MISSING)
		state = renew_by_record(rel, resource, token, ttl, role, &deadline);
	catalog_close(rel, RowExclusiveLock);
	if (state == DEADLINE_PASSED)
		error_lease_lost(text_to_cstring(resource), token, LOST_EXPIRED, 0);
	PG_RETURN_TIMESTAMPTZ(deadline.at);
}

/*
 * release(resource text, token bigint) returns boolean
 *		Gives the lease back; false if it was no longer the token's to give.
 *		Takes effect, and wakes who waits, when its transaction commits.
 */
PG_FUNCTION_INFO_V1(fencing_release);

Datum
fencing_release(PG_FUNCTION_ARGS)
{
	text *resource = resource_argument(fcinfo, 0);
	int64 token = token_argument(fcinfo, 1);
	LeaseRecord record;
	Relation rel;
	bool released = false;

	require_primary("release()");
	rel = catalog_open(LEASE_TABLE, RowExclusiveLock);
	record_look(rel, resource, &record);
	if (record.found && token >= record.form.token && !record.form.released)
	{
		/* A grant in progress decides first whose lease it is. */
		(void) resource_lock(resource, LOCK_CHANGE, true);
		record_look_to_write(rel, resource, &record);
		released = record.found && token == record.form.token &&
			!record.form.released;
		if (released)
		{
			Relation deadlines;

			require_role_of(&record, resource);
			deadlines = catalog_open(DEADLINE_TABLE, RowExclusiveLock);
			deadline_doubt(deadlines, resource, &record.form.deadline, token);
			catalog_close(deadlines, RowExclusiveLock);
			present_released(resource, token, &record);
		}
		else
			resource_unlock(resource, LOCK_CHANGE);
	}
	catalog_close(rel, released ? NoLock : RowExclusiveLock);
	PG_RETURN_BOOL(released);
}

/* ---- administrators ---- */

/*
 * forget(resource text) returns boolean
 *		Drops the record of a resource that nobody holds; false if there is
 *		none, or somebody does.  Later tokens are higher all the same.
 */
PG_FUNCTION_INFO_V1(fencing_forget);

Datum
fencing_forget(PG_FUNCTION_ARGS)
{
	Request request = {0};
	bool free;

	request.resource = resource_argument(fcinfo, 0);
	require_primary("forget()");
	if (!resource_lock(request.resource, LOCK_WRITER, false))
		PG_RETURN_BOOL(false);
	open_tables(&request);
	free = is_free(&request) && request.record.found;
	if (free)
	{
		(void) resource_lock(request.resource, LOCK_CHANGE, true);
		token_raise_floor(request.record.form.token);
		CatalogTupleDelete(request.leases, &request.record.tuple->t_self);
		deadline_forget(request.deadlines, request.resource);
		CommandCounterIncrement();
		present_forgotten();
	}
	else
		resource_unlock(request.resource, LOCK_WRITER);
	close_tables(&request, free);
	PG_RETURN_BOOL(free);
}

static void
require_may_terminate(VirtualTransactionId vxid)
{
	PGPROC *proc = vxid_proc(vxid);

	if (proc && superuser_arg(proc->roleId) && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to evict a superuser's session"),
				 errdetail("The session with process ID %d holds the lease in an open transaction.",
						   proc->pid),
				 errhint("Call evict() as a superuser.")));
}

/* Ends the sessions of these transactions: all, or, with an error, none. */
static void
terminate_all(const VirtualTransactionId *vxids)
{
	for (int i = 0; VirtualTransactionIdIsValid(vxids[i]); i++)
		require_may_terminate(vxids[i]);
	for (int i = 0; VirtualTransactionIdIsValid(vxids[i]); i++)
	{
		PGPROC *proc = vxid_proc(vxids[i]);

		if (proc && proc->pid != 0)
			(void) kill(proc->pid, SIGTERM);
	}
}

static void
wait_for_all(const VirtualTransactionId *vxids)
{
	for (int i = 0; VirtualTransactionIdIsValid(vxids[i]); i++)
		(void) VirtualXactLock(vxids[i], true);
}

/*
 * holders
 *		The transactions that have called hold(), but for those that commit at
 *		this moment: they need no help to end.
 */
static VirtualTransactionId *
holders(const text *resource)
{
	VirtualTransactionId *all = resource_conflicts(resource, LOCK_ALL);
	VirtualTransactionId *committing = resource_conflicts(resource, LOCK_CHANGE);
	VirtualTransactionId *last = all;

	for (VirtualTransactionId *one = all; VirtualTransactionIdIsValid(*one); one++)
	{
		VirtualTransactionId *same = committing;

		while (VirtualTransactionIdIsValid(*same) &&
			   !VirtualTransactionIdEquals(*same, *one))
			same++;
		if (!VirtualTransactionIdIsValid(*same))
			*last++ = *one;
	}
	SetInvalidVirtualTransactionId(*last);
	return all;
}

/*
 * evict_in_place
 *		Raises the token of a record that was found, for all at once.  Returns
 *		the new one.
 */
static int64
evict_in_place(Relation rel, const text *resource, LeaseRecord *record)
{
	Relation deadlines = catalog_open(DEADLINE_TABLE, RowExclusiveLock);
	ItemPointer place = &record->form.deadline;
	int64 token;
	XLogRecPtr lsn;

	token = token_draw(resource, record->form.token, NULL);
	deadline_doubt(deadlines, resource, place, record->form.token);
	lsn = record_end(rel, &record->place, token);
	deadline_evict(deadlines, resource, place);
	catalog_close(deadlines, RowExclusiveLock);
	make_durable(lsn);
	return token;
}

/*
 * evict(resource text) returns bigint
 *		Ends the current grant now: terminates the sessions whose open
 *		transaction holds or is granting it, then raises the resource's token,
 *		in place, so that no rollback undoes it, and waits for those sessions to
 *		end.  Returns the new token, which is nobody's, or NULL if the resource
 *		has no record.
 */
PG_FUNCTION_INFO_V1(fencing_evict);

Datum
fencing_evict(PG_FUNCTION_ARGS)
{
	text *resource = resource_argument(fcinfo, 0);
	VirtualTransactionId *evicted;
	LeaseRecord record = {0};
	int64 token = FENCE_NONE;
	Relation rel;

	require_primary("evict()");
	(void) resource_lock(resource, LOCK_EVICT, true);
	for (int tries = 0; !resource_lock(resource, LOCK_WRITER, false); tries++)
	{
		CHECK_FOR_INTERRUPTS();

		/* Whoever has only looked, and was refused, lets go at once. */
		if (tries < LOOKS_BEFORE_EVICTING)
			pg_usleep(1000);
		else
		{
			VirtualTransactionId *writers = resource_conflicts(resource, LOCK_WRITER);

			/* Then the first in line is granted the lease: let it finish. */
			terminate_all(writers);
			wait_for_all(writers);
			pfree(writers);
			tries = 0;
		}
	}
	rel = catalog_open(LEASE_TABLE, RowExclusiveLock);
	record_look_to_write(rel, resource, &record);
	if (record.found && record.own)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cannot evict a lease that this transaction has changed"),
				 errhint("Commit or roll back first.")));
	evicted = holders(resource);
	terminate_all(evicted);
	(void) resource_lock(resource, LOCK_CHANGE, true);
	record_look_to_write(rel, resource, &record);
	if (record.found)
		token = evict_in_place(rel, resource, &record);
	catalog_close(rel, RowExclusiveLock);

	/* It is in force already, so let others go on. */
	resource_unlock(resource, LOCK_CHANGE);
	resource_unlock(resource, LOCK_WRITER);
	resource_unlock(resource, LOCK_EVICT);
	if (record.found)
		queue_wake(resource);

	/* None of them can commit any more; one that is stopped may take long to end. */
	wait_for_all(evicted);
	if (!record.found)
		PG_RETURN_NULL();
	PG_RETURN_INT64(token);
}
