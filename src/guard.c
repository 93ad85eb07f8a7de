/*-------------------------------------------------------------------------
 *
 * guard.c
 *		The triggers of a protected table: a write passes here.
 *
 *		executor locks the row -> token carried -> compare -> tuple, or raise
 *
 * BEFORE UPDATE and DELETE row triggers get the newest committed version of
 * the row, locked, so that the fence that is compared is the one that is
 * replaced.  All that can be known once a statement is kept in fn_extra, which
 * lives as long as the statement, and separately for each partition.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/partition.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog.h"
#include "deleted.h"
#include "errors.h"
#include "fence.h"
#include "guard.h"
#include "present.h"
#include "record.h"
#include "statement.h"

typedef enum OnStale
{
	ON_STALE_ERROR, /* raise */
	ON_STALE_SKIP,	/* leave the row out */
	ON_STALE_WARN	/* let it through, keep the higher fence */
} OnStale;

/* What the arguments of the trigger say. */
typedef struct GuardOptions
{
	OnStale on_stale;
	const char *resource;		 /* NULL: not bound to a fixed resource */
	const char *resource_column; /* NULL: not bound by a column */
	bool remember_deleted;
	bool require_present;
} GuardOptions;

/* What is known of a table for the length of a statement. */
typedef struct Guard
{
	Relation rel; /* of this call */
	GuardOptions options;
	AttrNumber fence;
	AttrNumber resource; /* InvalidAttrNumber: no column binds rows */
	Oid resource_out;	 /* what makes text, or a string, of its value; */
						 /* InvalidOid: it is text */
	bool resource_cast;	 /* text: a cast, as of char(n) and boolean */
	MemoryContext query_context;
	bool followed;			 /* another guard judges an INSERT after this one */
	KeyMemory *memory;		 /* NULL: deleted rows are not remembered */
	ItemPointerData updated; /* last row that BEFORE UPDATE let through, ... */
	int64 fence_kept;		 /* ... the fence it left it with, ... */
	int64 fence_left;		 /* ... what its old key is remembered with, ... */
	bool warned;			 /* ... whether with a warning, ... */
	int64 fence_had;		 /* ... the one that it had, ... */
	uint64 bound_to;		 /* ... the hash of what it is bound to, if it is, ... */
	int64 assigned;			 /* ... and the one that the statement gave it ... */
	bool named;				 /* ... or left alone */
	Oid root;				 /* the topmost partitioned table, once it is asked for */
	MemoryContextCallback at_end;
	struct Guard *outer; /* in the list of moves */
} Guard;

/*
 * Rows on their way to another partition: their BEFORE UPDATE and their DELETE
 * are over, their INSERT is to come.  One for each statement: triggers in
 * between may run others.
 */
static Guard *moves = NULL;

/* What becomes of a row. */
typedef enum Verdict
{
	ROW_PASSES,		   /* and takes the token it carried */
	ROW_PASSES_WARNED, /* and keeps its fence, if that is higher */
	ROW_SKIPPED
} Verdict;

/* ---- options and columns ---- */

static bool
option_is(const char *argument, const char *name, const char **value)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) != 0 || argument[length] != '=')
		return false;
	*value = argument + length + 1;
	return true;
}

static bool
read_option(const char *argument, GuardOptions *options)
{
	const char *value;

	if (option_is(argument, "on_stale", &value) && strcmp(value, "error") == 0)
		options->on_stale = ON_STALE_ERROR;
	else if (option_is(argument, "on_stale", &value) && strcmp(value, "skip") == 0)
		options->on_stale = ON_STALE_SKIP;
	else if (option_is(argument, "on_stale", &value) && strcmp(value, "warn") == 0)
		options->on_stale = ON_STALE_WARN;
	else if (option_is(argument, "resource", &value))
		options->resource = value;
	else if (option_is(argument, "resource_column", &value))
		options->resource_column = value;
	else if (option_is(argument, "remember_deleted", &value))
		return parse_bool(value, &options->remember_deleted);
	else if (option_is(argument, "require_present", &value))
		return parse_bool(value, &options->require_present);
	else
		return false;
	return true;
}

/*
 * read_options
 *		Options are trigger arguments, "name=value" each, so that a dump, a
 *		restore and pg_upgrade carry them.  Returns the first that is none.
 */
static const char *
read_options(const Trigger *trigger, GuardOptions *options)
{
	const char *invalid = NULL;

	memset(options, 0, sizeof(*options));
	for (int i = 0; i < trigger->tgnargs; i++)
		if (!read_option(trigger->tgargs[i], options) && invalid == NULL)
			invalid = trigger->tgargs[i];
	return invalid;
}

static void
require_options(const Trigger *trigger, GuardOptions *options)
{
	const char *invalid = read_options(trigger, options);

	if (invalid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid argument \"%s\" of trigger function fencing.guard()",
						invalid),
				 errdetail("Arguments are on_stale=error, skip or warn, resource=NAME, resource_column=COLUMN, remember_deleted=BOOLEAN and require_present=BOOLEAN."),
				 errhint("Use fencing.protect(), which writes them.")));
}

/*
 * guard_fence_column
 *		The fence column is found by its type, so that a rename, and columns
 *		dropped before it, do no harm.
 */
AttrNumber
guard_fence_column(Relation rel)
{
	TupleDesc desc = RelationGetDescr(rel);
	Oid type = fence_type_oid();
	AttrNumber found = InvalidAttrNumber;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attisdropped || attribute->atttypid != type)
			continue;
		if (found != InvalidAttrNumber)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" has more than one column of type fencing.fence",
							RelationGetRelationName(rel)),
					 errdetail("Columns \"%s\" and \"%s\" are of that type, and only one can be the fence.",
							   NameStr(TupleDescAttr(desc, found - 1)->attname),
							   NameStr(attribute->attname)),
					 errhint("Change the type of the other to bigint."),
					 errtable(rel)));
		found = attribute->attnum;
	}
	return found;
}

static AttrNumber
require_fence_column(Relation rel)
{
	AttrNumber fence = guard_fence_column(rel);

	if (fence == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is guarded, but has no column of type fencing.fence",
						RelationGetRelationName(rel)),
				 errhint("Add the column with fencing.protect(), or take the guard off with fencing.unprotect()."),
				 errtable(rel)));
	if (TupleDescAttr(RelationGetDescr(rel), fence - 1)->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("fence column of table \"%s\" is generated",
						RelationGetRelationName(rel)),
				 errdetail("Its value is computed after the guard has looked at the row."),
				 errhint("ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION. A partition has to be detached for that."),
				 errtablecol(rel, fence)));
	return fence;
}

/*
 * A BEFORE trigger that fires later could change the fence that was checked.
 * They fire in the order of their names, and ours sorts behind what anyone
 * usually writes; behind that, refuse rather than trust.
 */
static void
require_last(const TriggerData *trigdata)
{
	TriggerDesc *triggers = trigdata->tg_relation->trigdesc;
	Trigger *self = trigdata->tg_trigger;

	for (int i = 0; i < triggers->numtriggers; i++)
	{
		Trigger *other = &triggers->triggers[i];

		if (TRIGGER_FOR_ROW(other->tgtype) && TRIGGER_FOR_BEFORE(other->tgtype) &&
			(TRIGGER_FOR_INSERT(other->tgtype) || TRIGGER_FOR_UPDATE(other->tgtype)) &&
			other->tgenabled != TRIGGER_DISABLED &&
			other->tgfoid != self->tgfoid &&
			strcmp(other->tgname, self->tgname) > 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("trigger \"%s\" of table \"%s\" fires after the guard",
							other->tgname,
							RelationGetRelationName(trigdata->tg_relation)),
					 errdetail("It could change the fence after it was checked; triggers fire in the order of their names, and the guard's is \"%s\".",
							   self->tgname),
					 errhint("Rename trigger \"%s\" so that it sorts before.",
							 other->tgname),
					 errtable(trigdata->tg_relation)));
	}
}

/*
 * prints_alike
 *		Does this function write a value the same in all sessions?  Otherwise
 *		SET DateStyle would take a row over to another resource.
 */
static bool
prints_alike(Oid out)
{
	switch (out)
	{
		case F_FLOAT4OUT:
		case F_FLOAT8OUT:
		case F_BYTEAOUT:
		case F_INTERVAL_OUT:
		case F_POINT_OUT:
		case F_LSEG_OUT:
		case F_PATH_OUT:
		case F_BOX_OUT:
		case F_POLY_OUT:
		case F_LINE_OUT:
		case F_CIRCLE_OUT:
			return false;
		default:
			return out == F_ENUM_OUT || func_volatile(out) == PROVOLATILE_IMMUTABLE;
	}
}

static void
bind_by_column(Guard *guard)
{
	const char *name = guard->options.resource_column;
	AttrNumber column = attnameAttNum(guard->rel, name, false);
	Form_pg_attribute attribute;
	Oid cast;
	bool varlena;

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" is bound by column \"%s\", which does not exist",
						RelationGetRelationName(guard->rel), name),
				 errhint("If it was renamed, tell the guard: SELECT fencing.protect(..., resource_column => 'new name')."),
				 errtable(guard->rel)));
	attribute = TupleDescAttr(RelationGetDescr(guard->rel), column - 1);
	if (attribute->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is bound by column \"%s\", which is generated",
						RelationGetRelationName(guard->rel), name),
				 errdetail("Its value is computed after the guard has looked at the row."),
				 errtablecol(guard->rel, column)));
	if (column == guard->fence)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is bound by column \"%s\", which is its fence",
						RelationGetRelationName(guard->rel), name),
				 errdetail("Every token would be for a resource of another name."),
				 errtablecol(guard->rel, column)));
	guard->resource = column;
	if (attribute->atttypid == TEXTOID)
		return;

	/*
	 * The server's own casts leave out the padding of character(n), or write
	 * "true" for "t".  One that somebody made would run as whoever writes a row,
	 * and could name any resource.
	 */
	guard->resource_cast =
		find_coercion_pathway(TEXTOID, getBaseType(attribute->atttypid),
							  COERCION_EXPLICIT, &cast) == COERCION_PATH_FUNC &&
		cast < FirstNormalObjectId;
	if (guard->resource_cast)
		guard->resource_out = cast;
	else
		getTypeOutputInfo(attribute->atttypid, &guard->resource_out, &varlena);
	if (!prints_alike(guard->resource_out))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("table \"%s\" is bound by column \"%s\" of type %s",
						RelationGetRelationName(guard->rel), name,
						format_type_be(attribute->atttypid)),
				 errdetail("Settings of a session can decide how a value of such a type is written as text, and so which resource it names."),
				 errhint("Bind rows by a column of type text, bigint or uuid, for example."),
				 errtablecol(guard->rel, column)));
}

static bool
fires(const Trigger *trigger)
{
	switch (trigger->tgenabled)
	{
		case TRIGGER_FIRES_ALWAYS:
			return true;
		case TRIGGER_FIRES_ON_ORIGIN:
			return SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA;
		case TRIGGER_FIRES_ON_REPLICA:
			return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
		default:
			return false;
	}
}

/* Is it a guard of rows that is in force, with this trigger function? */
static bool
is_row_guard(const Trigger *trigger, Oid function)
{
	return trigger->tgfoid == function && fires(trigger) &&
		TRIGGER_FOR_ROW(trigger->tgtype) && TRIGGER_FOR_BEFORE(trigger->tgtype);
}

/*
 * A table may have several guards: a partition its parent's, besides its own.  One
 * that warns is ruled by the others, or it would hand on a stale row with a fence
 * that they take for the token.
 */
static void
heed_other_guards(Guard *guard, const Trigger *trigger)
{
	const TriggerDesc *triggers = guard->rel->trigdesc;
	GuardOptions *options = &guard->options;
	bool warns = options->on_stale == ON_STALE_WARN;

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
	{
		const Trigger *other = &triggers->triggers[i];
		GuardOptions others;

		if (!is_row_guard(other, trigger->tgfoid) ||
			!(TRIGGER_FOR_INSERT(other->tgtype) || TRIGGER_FOR_UPDATE(other->tgtype)))
			continue;

		/* They fire in the order of their names. */
		guard->followed |= TRIGGER_FOR_INSERT(other->tgtype) &&
			strcmp(other->tgname, trigger->tgname) > 0;
		if (!warns)
			continue;
		(void) read_options(other, &others);
		options->on_stale = Min(options->on_stale, others.on_stale);
	}
}

static Guard *
make_guard(MemoryContext context, Relation rel, const Trigger *trigger)
{
	Guard *guard = MemoryContextAllocZero(context, sizeof(Guard));

	guard->rel = rel;
	guard->query_context = context;
	require_options(trigger, &guard->options);
	heed_other_guards(guard, trigger);
	guard->fence = require_fence_column(rel);
	ItemPointerSetInvalid(&guard->updated);
	if (guard->options.remember_deleted &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		guard->memory = key_memory(rel, context);
	if (guard->options.resource_column)
		bind_by_column(guard);
	return guard;
}

/* AFTER ROW is for what is remembered of deleted rows, and guards nothing else. */
static bool
is_memory_trigger(const TriggerData *trigdata)
{
	GuardOptions options;

	if (!TRIGGER_FIRED_AFTER(trigdata->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigdata->tg_event))
		return false;
	require_options(trigdata->tg_trigger, &options);
	return options.remember_deleted;
}

/*
 * Is this call what the guard is made for?  Says so in the server's words
 * for a trigger that was set up wrongly.
 */
static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"fencing.guard")));
	event = trigdata->tg_event;
	if (TRIGGER_FIRED_FOR_ROW(event) == TRIGGER_FIRED_BY_TRUNCATE(event) ||
		!(TRIGGER_FIRED_BEFORE(event) || is_memory_trigger(trigdata)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be fired BEFORE INSERT, UPDATE or DELETE FOR EACH ROW, or BEFORE TRUNCATE",
						"fencing.guard"),
				 errhint("Use fencing.protect(), which creates the triggers.")));
}

/* ---- the row ---- */

/* The fence of a row; NULL, from before the guard, is none. */
static int64
fence_of(const Guard *guard, HeapTuple tuple)
{
	bool isnull;
	Datum value = heap_getattr(tuple, guard->fence,
							   RelationGetDescr(guard->rel), &isnull);

	return isnull ? FENCE_NONE : DatumGetInt64(value);
}

/* The fence that a statement assigns; it must not be NULL. */
static int64
assigned_fence(const Guard *guard, HeapTuple tuple)
{
	bool isnull;
	Datum value = heap_getattr(tuple, guard->fence,
							   RelationGetDescr(guard->rel), &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("fence of a row of \"%s\" must not be null",
						RelationGetRelationName(guard->rel)),
				 errdetail("NULL is what acquire() returns for a token when it refuses."),
				 errhint("A client that was not granted the lease must not write. If the statement leaves the column out, give that DEFAULT 0."),
				 errtablecol(guard->rel, guard->fence)));
	return DatumGetInt64(value);
}

/* The row with another fence than the one it has. */
static HeapTuple
with_fence(const Guard *guard, HeapTuple tuple, int64 own, int64 fence)
{
	int column = guard->fence;
	Datum value = Int64GetDatum(fence);
	bool isnull = false;

	if (own == fence)
		return tuple;
	return heap_modify_tuple_by_cols(tuple, RelationGetDescr(guard->rel),
									 1, &column, &value, &isnull);
}

/* By a function of a cast, which may take a typmod, and whether it is explicit. */
static text *
cast_to_text(Oid function, Datum value)
{
	FmgrInfo call;
	Datum result;

	fmgr_info(function, &call);
	if (call.fn_nargs == 1)
		result = FunctionCall1(&call, value);
	else if (call.fn_nargs == 2)
		result = FunctionCall2(&call, value, Int32GetDatum(-1));
	else
		result = FunctionCall3(&call, value, Int32GetDatum(-1), BoolGetDatum(true));
	return DatumGetTextPP(result);
}

/*
 * resource_of
 *		The resource that a row belongs to, or NULL: not bound, or the column
 *		is NULL.
 */
static text *
resource_of(const Guard *guard, HeapTuple tuple)
{
	const GuardOptions *options = &guard->options;
	Datum value;
	bool isnull;
	text *name;

	if (guard->resource == InvalidAttrNumber)
		return options->resource ? cstring_to_text(options->resource) : NULL;
	value = heap_getattr(tuple, guard->resource,
						 RelationGetDescr(guard->rel), &isnull);
	if (isnull)
		return NULL;
	if (!OidIsValid(guard->resource_out))
		name = DatumGetTextPP(value);
	else if (guard->resource_cast)
		name = cast_to_text(guard->resource_out, value);
	else
		name = cstring_to_text(OidOutputFunctionCall(guard->resource_out, value));
	if (options->resource)
		name = cstring_to_text(psprintf("%s:%s", options->resource,
										text_to_cstring(name)));
	return name;
}

static WritePlace
place_of(const Guard *guard, const text *resource)
{
	WritePlace place = {
		.rel = guard->rel,
		.column = guard->fence,
		.resource = resource,
		.level = guard->options.on_stale == ON_STALE_WARN ? WARNING : ERROR,
		.present_only = guard->options.require_present,
	};

	return place;
}

/*
 * A stale row is left out where the table wants that; never a child of a
 * foreign-key action, which would stay behind as an orphan.
 */
static bool
skips_stale(const Guard *guard)
{
	return guard->options.on_stale == ON_STALE_SKIP &&
		!InNoForceRLSOperation();
}

/* The token this transaction carries for a row of a resource. */
static int64
presented_for(const text *resource)
{
	int64 held = resource ? present_held(resource) : FENCE_NONE;

	return held != FENCE_NONE ? held : present_token();
}

/*
 * token_carried
 *		Rules 1, 2 and 4: which token a new row version carries.
 *
 * own is the fence that the row has (FENCE_NONE for an INSERT), assigned the
 * one that the statement gives it.  Returns false if the token is refused but
 * the table only warns.
 */
static bool
token_carried(const Guard *guard, const text *resource, int64 own,
			  int64 assigned, bool named, int64 *token)
{
	int64 carried = presented_for(resource);

	*token = carried;
	if (assigned == own)
	{
		/* An unchanged fence is a token only where the statement names it. */
		if (carried == FENCE_NONE && named && !guard->options.require_present)
			*token = assigned;
		return true;
	}
	if (assigned == carried)
		return true;
	if (guard->options.require_present)
	{
		WritePlace place = place_of(guard, resource);

		error_not_presented(&place, assigned, own, carried);
		return false;
	}
	if (carried != FENCE_NONE)
	{
		WritePlace place = place_of(guard, resource);

		error_conflicting_token(&place, assigned, carried);
		return false;
	}
	*token = assigned;
	return true;
}

/* Rule 5: the token against the row's fence. */
static Verdict
check_fence(const Guard *guard, int64 token, int64 fence)
{
	WritePlace place;

	if (token >= fence &&
		(token != FENCE_NONE || !guard->options.require_present))
		return ROW_PASSES;
	if (token != FENCE_NONE && skips_stale(guard))
		return ROW_SKIPPED;
	place = place_of(guard, NULL);
	if (token == FENCE_NONE)
		error_missing_token(&place, fence);
	else
		error_stale_fence(&place, token, fence);
	return ROW_PASSES_WARNED;
}

/* Rule 7: the token against the current grant of the row's resource. */
static Verdict
check_grant(const Guard *guard, const text *resource, int64 token)
{
	WritePlace place;
	int64 current;
	GrantVerdict verdict;

	if (resource == NULL)
		return ROW_PASSES;
	place = place_of(guard, resource);
	verdict = present_bound_write(resource, token, &place, &current);
	switch (verdict)
	{
		case GRANT_CURRENT:
		case GRANT_NO_RECORD:
			return ROW_PASSES;
		case GRANT_STALE:
			if (skips_stale(guard))
				return ROW_SKIPPED;
			error_stale_grant(&place, token, current);
			break;
		case GRANT_MISSING:
			error_missing_grant(&place, current);
			break;
		case GRANT_UNKNOWN:
			error_unknown_token(&place, token, current);
			break;
		case GRANT_RELEASED:
			error_released_grant(&place, token);
			break;
	}
	return ROW_PASSES_WARNED;
}

/* Both checks of a row of one resource; the fence alone where that decides. */
static Verdict
check_row(const Guard *guard, const text *resource, int64 token, int64 fence)
{
	Verdict verdict = check_fence(guard, token, fence);

	return verdict == ROW_PASSES ? check_grant(guard, resource, token) : verdict;
}

/*
 * check_memory
 *		A row that comes in under a key against what is remembered of it, to
 *		which *token is raised.  A bound row is protected by its grant; one that
 *		was warned of has been judged.
 *
 * Before the row is in the index this only serves to leave it out, or to warn:
 * a DELETE that commits while we wait for the key is missed.  So it is done
 * again after the row, which settles it.
 */
static Verdict
check_memory(const Guard *guard, const text *resource, HeapTuple tuple,
			 int64 *token, Verdict verdict)
{
	int64 remembered;

	if (guard->memory == NULL || resource != NULL || verdict == ROW_SKIPPED)
		return verdict;
	remembered = remembered_fence(guard->memory,
								  key_digest(guard->memory, guard->rel, tuple));
	if (*token < remembered && verdict == ROW_PASSES)
		verdict = check_fence(guard, *token, remembered);
	*token = Max(*token, remembered);
	return verdict;
}

/* For a row that cannot be left out. */
static void
raise_for_skip(Guard *guard)
{
	if (guard->options.on_stale == ON_STALE_SKIP)
		guard->options.on_stale = ON_STALE_ERROR;
}

static void
guard_after(Guard *guard, const TriggerData *trigdata)
{
	HeapTuple tuple = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event)
		? trigdata->tg_newtuple
		: trigdata->tg_trigtuple;
	int64 fence = fence_of(guard, tuple);

	if (TRIGGER_FIRED_BY_DELETE(trigdata->tg_event))
		return;

	/* It is too late to leave the row out, or to raise its fence. */
	raise_for_skip(guard);
	(void) check_memory(guard, resource_of(guard, tuple), tuple, &fence, ROW_PASSES);
}

static Oid
root_of(Guard *guard)
{
	if (!OidIsValid(guard->root))
	{
		guard->root = RelationGetRelid(guard->rel);
		while (get_rel_relispartition(guard->root))
			guard->root = get_partition_parent(guard->root, true);
	}
	return guard->root;
}

/* Takes the move of a statement off the list; returns it, or NULL. */
static Guard *
take_move(MemoryContext query_context)
{
	for (Guard **link = &moves; *link; link = &(*link)->outer)
		if ((*link)->query_context == query_context)
		{
			Guard *move = *link;

			*link = move->outer;
			return move;
		}
	return NULL;
}

static void
end_moves(void *query_context)
{
	(void) take_move(query_context);
}

static void
put_move(Guard *guard)
{
	guard->outer = moves;
	moves = guard;
}

static void
begin_move(Guard *guard)
{
	(void) take_move(guard->query_context);
	if (guard->at_end.func == NULL)
	{
		guard->at_end.func = end_moves;
		guard->at_end.arg = guard->query_context;
		MemoryContextRegisterResetCallback(guard->query_context, &guard->at_end);
	}
	put_move(guard);
}

/*
 * What a row that was warned of is left with: never less than it had, nor a
 * token that was not granted, which would lock the holder out.
 */
static int64
fence_of_warned(const text *resource, int64 own, int64 token)
{
	return Max(own, resource ? Min(token, record_token(resource)) : token);
}

static HeapTuple
guard_insert(Guard *guard, const TriggerData *trigdata)
{
	HeapTuple tuple = trigdata->tg_trigtuple;
	int64 assigned = assigned_fence(guard, tuple);
	int64 given = assigned;
	bool named = true;
	text *resource = resource_of(guard, tuple);
	int64 own = FENCE_NONE;
	int64 token;
	Guard *source = take_move(guard->query_context);
	bool changes_resource;
	bool warned;
	Verdict verdict;
	Guard raising;

	/* Perhaps of a row that has arrived where no guard saw it. */
	if (source && (RelationGetRelid(source->rel) == RelationGetRelid(guard->rel) || root_of(source) != root_of(guard)))
		source = NULL;

	/* A row that is moved here brings its fence along, guarded there or not. */
	if (source)
		own = source->fence_kept;
	else if (assigned != FENCE_NONE && statement_is_update(guard->query_context))
		own = assigned;

	/* And it is deleted where it was: too late to leave it out. */
	if (guard->options.on_stale == ON_STALE_SKIP &&
		guard->rel->rd_rel->relispartition &&
		(source || statement_moves_rows(guard->query_context)))
	{
		raising = *guard;
		raise_for_skip(&raising);
		guard = &raising;
	}

	changes_resource = source && resource &&
		resource_hash(resource) != source->bound_to;
	warned = source && source->warned && assigned == own &&
		guard->options.on_stale == ON_STALE_WARN;

	/* What the statement gave it counts, where it has not been judged like this. */
	if (source && assigned == own && !warned &&
		(source->warned || changes_resource))
	{
		own = source->fence_had;
		given = source->assigned;
		named = source->named;
	}

	if (warned)
	{
		verdict = ROW_PASSES_WARNED;
		token = own;
	}
	else if (!token_carried(guard, resource, own, given, named, &token))
	{
		verdict = ROW_PASSES_WARNED;
		token = fence_of_warned(resource, own, Max(assigned, token));
	}
	else
	{
		/* Rule 7: if the old one's token let it go, the new one's may be lower. */
		verdict = check_row(guard, resource, token,
							changes_resource && !source->warned ? FENCE_NONE : own);
		if (verdict == ROW_PASSES_WARNED)
			token = fence_of_warned(resource, own, token);
	}
	verdict = check_memory(guard, resource, tuple, &token, verdict);
	if (verdict == ROW_SKIPPED)
		return NULL;

	/* For the next guard it is a row on its way as well. */
	if (source && guard->followed)
	{
		source->fence_kept = token;
		source->warned |= verdict == ROW_PASSES_WARNED;
		put_move(source);
	}

	/* Of a row that was routed to a partition the server frees only another one. */
	if (assigned == token && TTS_IS_VIRTUAL(trigdata->tg_trigslot))
		return heap_copytuple(tuple);
	return with_fence(guard, tuple, assigned, token);
}

/*
 * guard_resource_change
 *		Rule 7 for a row that goes over to another resource: the old one's
 *		token lets it go, the new one's takes it, even if it is lower.
 */
static Verdict
guard_resource_change(const Guard *guard, const text *from, const text *to,
					  int64 fence, int64 token)
{
	int64 leaving = presented_for(from);
	Verdict verdict;

	/* A row that no resource protects is protected by its fence. */
	if ((from == NULL || to == NULL) && leaving == FENCE_NONE)
		leaving = token;
	verdict = check_row(guard, from, leaving, fence);
	if (verdict != ROW_PASSES)
		return verdict;
	return check_row(guard, to, token, to ? FENCE_NONE : fence);
}

/*
 * guard_key_change
 *		A row that takes another key vacates its old one, and comes in under
 *		the new one.
 */
static Verdict
guard_key_change(const Guard *guard, const text *resource,
				 HeapTuple old, HeapTuple new, int64 left, int64 *token,
				 Verdict verdict)
{
	int64 from = key_digest(guard->memory, guard->rel, old);
	int64 to = key_digest(guard->memory, guard->rel, new);

	if (from == to)
		return verdict;
	verdict = check_memory(guard, resource, new, token, verdict);
	if (verdict != ROW_SKIPPED)
		remember_deleted(guard->memory, from, left);
	return verdict;
}

static HeapTuple
guard_update(Guard *guard, const TriggerData *trigdata)
{
	HeapTuple old = trigdata->tg_trigtuple;
	HeapTuple new = trigdata->tg_newtuple;
	int64 fence = fence_of(guard, old);
	bool named = bms_is_member(guard->fence - FirstLowInvalidHeapAttributeNumber,
							   trigdata->tg_updatedcols);
	int64 assigned = assigned_fence(guard, new);
	text *from = resource_of(guard, old);
	text *to = resource_of(guard, new);
	int64 token;
	Verdict verdict;

	/* Ask only where the answer counts: it is the dearest question here. */
	if (named && assigned == fence && fence != FENCE_NONE)
		named = statement_assigns_fence(guard->query_context, guard->fence);

	if (!token_carried(guard, to, fence, assigned, named, &token))
	{
		verdict = ROW_PASSES_WARNED;
		token = fence_of_warned(to, fence, Max(assigned, token));
	}
	else
	{
		verdict = same_resource(from, to)
			? check_row(guard, to, token, fence)
			: guard_resource_change(guard, from, to, fence, token);
		if (verdict == ROW_PASSES_WARNED)
			token = fence_of_warned(to, fence, token);
	}
	guard->fence_left = Max(fence, token);
	if (verdict != ROW_SKIPPED && guard->memory)
		verdict = guard_key_change(guard, to, old, new, guard->fence_left,
								   &token, verdict);

	/* If the row moves to another partition, its DELETE comes next. */
	ItemPointerSetInvalid(&guard->updated);
	if (verdict == ROW_SKIPPED)
		return NULL;
	guard->updated = old->t_self;
	guard->fence_kept = token;
	guard->warned = verdict == ROW_PASSES_WARNED;
	guard->fence_had = fence;
	guard->bound_to = to ? resource_hash(to) : 0;
	guard->assigned = assigned;
	guard->named = named;
	return with_fence(guard, new, assigned, token);
}

static HeapTuple
guard_delete(Guard *guard, const TriggerData *trigdata)
{
	HeapTuple tuple = trigdata->tg_trigtuple;
	text *resource;
	int64 token;
	int64 fence;

	/*
	 * The DELETE of an UPDATE that moves the row to another partition follows
	 * its BEFORE UPDATE at once, in this statement and for this very row
	 * version: it was judged there.
	 */
	if (ItemPointerIsValid(&guard->updated) &&
		ItemPointerEquals(&guard->updated, &tuple->t_self))
	{
		begin_move(guard);
		if (guard->memory)
			remember_deleted(guard->memory,
							 key_digest(guard->memory, guard->rel, tuple),
							 guard->fence_left);
		return tuple;
	}

	resource = resource_of(guard, tuple);
	token = presented_for(resource);
	fence = fence_of(guard, tuple);
	if (check_row(guard, resource, token, fence) == ROW_SKIPPED)
		return NULL;
	if (guard->memory)
		remember_deleted(guard->memory,
						 key_digest(guard->memory, guard->rel, tuple),
						 Max(fence, token));
	return tuple;
}

/* The guards of rows of a table that is truncated; its own where there is none. */
static List *
guards_of_rows(Guard *guard, const Trigger *trigger)
{
	/* What the relation cache has of triggers may go while we look at rows. */
	TriggerDesc *triggers = CopyTriggerDesc(guard->rel->trigdesc);
	List *guards = NIL;

	for (int i = 0; i < triggers->numtriggers; i++)
		if (is_row_guard(&triggers->triggers[i], trigger->tgfoid))
			guards = lappend(guards, make_guard(guard->query_context, guard->rel, &triggers->triggers[i]));
	return guards ? guards : list_make1(guard);
}

/*
 * guard_truncate
 *		Rule 3: TRUNCATE is as deleting every row, and so is judged by what
 *		guards the rows.  The table is locked for it, so that one scan settles
 *		it; a row cannot be left out, so "skip" raises.
 */
static void
guard_truncate(Guard *guard, const Trigger *trigger)
{
	List *guards;
	ListCell *lc;
	TableScanDesc scan;
	TupleTableSlot *slot;
	MemoryContext row;
	MemoryContext outer;
	int64 highest = FENCE_NONE;

	/* A partitioned table has no rows; each partition has its own trigger. */
	if (guard->rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return;
	guards = guards_of_rows(guard, trigger);
	foreach(lc, guards)
		raise_for_skip(lfirst(lc));

	row = AllocSetContextCreate(CurrentMemoryContext, "fencing truncate",
								ALLOCSET_SMALL_SIZES);
	slot = table_slot_create(guard->rel, NULL);
	scan = begin_table_scan(guard->rel, SnapshotSelf);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		HeapTuple tuple;
		bool copied;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(row);
		outer = MemoryContextSwitchTo(row);
		tuple = ExecFetchSlotHeapTuple(slot, false, &copied);
		foreach(lc, guards)
		{
			Guard *each = lfirst(lc);
			text *resource = resource_of(each, tuple);
			int64 token = presented_for(resource);
			int64 fence = fence_of(each, tuple);

			(void) check_row(each, resource, token, fence);
			highest = Max(highest, Max(token, fence));
		}
		MemoryContextSwitchTo(outer);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	foreach(lc, guards)
	{
		Guard *each = lfirst(lc);

		if (each->memory)
			remember_truncated(each->memory, highest);
	}
}

/*
 * guard() returns trigger
 *		BEFORE INSERT OR UPDATE OR DELETE FOR EACH ROW, and BEFORE TRUNCATE;
 *		AFTER INSERT OR UPDATE FOR EACH ROW where deleted rows are remembered.
 *
 * One trigger must serve the three row events: what an UPDATE that moves a
 * row to another partition leaves for its DELETE is kept with the trigger.
 */
PG_FUNCTION_INFO_V1(fencing_guard);

Datum
fencing_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	Guard *guard = fcinfo->flinfo->fn_extra;

	if (guard == NULL)
	{
		check_call(fcinfo);
		guard = make_guard(fcinfo->flinfo->fn_mcxt, trigdata->tg_relation,
						   trigdata->tg_trigger);
		if (TRIGGER_FIRED_BEFORE(trigdata->tg_event) &&
			TRIGGER_FIRED_FOR_ROW(trigdata->tg_event))
			require_last(trigdata);
		fcinfo->flinfo->fn_extra = guard;
	}
	guard->rel = trigdata->tg_relation;

	if (TRIGGER_FIRED_AFTER(trigdata->tg_event))
	{
		guard_after(guard, trigdata);
		return PointerGetDatum(NULL);
	}
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		return PointerGetDatum(guard_update(guard, trigdata));
	if (TRIGGER_FIRED_BY_INSERT(trigdata->tg_event))
		return PointerGetDatum(guard_insert(guard, trigdata));
	if (TRIGGER_FIRED_BY_DELETE(trigdata->tg_event))
		return PointerGetDatum(guard_delete(guard, trigdata));
	guard_truncate(guard, trigdata->tg_trigger);
	return PointerGetDatum(NULL);
}

/* A copy: that of the relation cache goes with whatever concerns the table. */
static const Trigger *
find_trigger(Relation rel, Oid trigger)
{
	TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
		if (triggers->triggers[i].tgoid == trigger)
			return &triggers->triggers[i];
	return NULL;
}

/*
 * check_guard(rel regclass, trigger oid) returns void
 *		Says now what the guard would say at the first write: that a column or
 *		a key is not as its options need it.  For fencing.protect().
 */
PG_FUNCTION_INFO_V1(fencing_check_guard);

Datum
fencing_check_guard(PG_FUNCTION_ARGS)
{
	Relation rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	const Trigger *trigger;

	if (rel == NULL)
		PG_RETURN_VOID();
	trigger = find_trigger(rel, PG_GETARG_OID(1));
	if (trigger)
		(void) make_guard(CurrentMemoryContext, rel, trigger);
	relation_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

/*
 * guard_options(rel regclass, trigger oid)
 *		The options in the arguments of a guard's trigger; for
 *		fencing.protect() and fencing.protected_tables.
 */
PG_FUNCTION_INFO_V1(fencing_guard_options);

Datum
fencing_guard_options(PG_FUNCTION_ARGS)
{
	static const char *const on_stale[] = {"error", "skip", "warn"};
	Relation rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	const Trigger *trigger;
	GuardOptions options = {0};
	bool valid = true;
	TupleDesc desc;
	Datum values[5];
	bool nulls[5] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (rel == NULL) /* dropped since the view found it */
		PG_RETURN_NULL();
	trigger = find_trigger(rel, PG_GETARG_OID(1));
	if (trigger)
		valid = read_options(trigger, &options) == NULL;

	/* Not an error: anyone may make such a trigger, and the view shows all. */
	nulls[0] = !valid;
	values[0] = CStringGetTextDatum(on_stale[options.on_stale]);
	nulls[1] = options.resource == NULL;
	values[1] = nulls[1] ? (Datum) 0 : CStringGetTextDatum(options.resource);
	nulls[2] = options.resource_column == NULL;
	values[2] = nulls[2] ? (Datum) 0 : DirectFunctionCall1(namein, CStringGetDatum(options.resource_column));
	values[3] = BoolGetDatum(options.remember_deleted);
	values[4] = BoolGetDatum(options.require_present);
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
