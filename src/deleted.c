/*-------------------------------------------------------------------------
 *
 * deleted.c
 *		What is remembered of deleted rows.
 *
 * A row that is deleted takes its fence with it, and a stale holder could
 * insert it anew.  A table with remember_deleted keeps, in fencing.deleted,
 * the fence of each key that was vacated: 20 bytes of data a key.
 *
 * A key is kept as a 64-bit digest, made with the hash functions of its types
 * under the collations of the primary key, so that keys that the index takes
 * for equal have one digest: 1.0 and 1.00, or text under a collation that
 * ignores case.  Two keys that share a digest merely share their memory.  Enum
 * values are hashed by label, since their OIDs change in a dump and restore.
 *
 * Entries belong to the topmost table of a partition tree that has the key, so
 * that they stay when it is partitioned anew.  Those of a table that was attached with a
 * memory of its own are found under its name.  TRUNCATE leaves a floor for
 * the table that was truncated alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "catalog.h"
#include "compat.h"
#include "deleted.h"
#include "fence.h"

/* No key has this digest: it stands for the whole table. */
#define WHOLE_TABLE INT64CONST(0)

/* fencing.deleted, as it lies on the page. */
typedef struct FormData_deleted
{
	int64 digest;
	int64 fence;
	Oid rel;
} FormData_deleted;

typedef FormData_deleted *Form_deleted;

#define Anum_deleted_digest 1
#define Anum_deleted_rel	3
#define Natts_deleted		3

typedef struct KeyColumn
{
	AttrNumber column;
	Oid collation;
	FmgrInfo *hash; /* NULL: hash what the type sends instead */
	FmgrInfo send;
} KeyColumn;

struct KeyMemory
{
	Oid self;
	Oid top;
	List *rels; /* self and its ancestors */
	int n_columns;
	KeyColumn columns[INDEX_MAX_KEYS];
};

/*
 * Is a value of this type hashed by OIDs that a dump does not keep?  An enum is
 * one, and so is regclass and its like, which have the hash of oid.
 */
static bool
hashes_oids(Oid type)
{
	Oid base = getBaseType(type);
	Oid part = get_element_type(base);
	Oid hash;

	if (!OidIsValid(part))
		part = get_range_subtype(base);
	if (!OidIsValid(part))
		part = get_multirange_range(base);
	if (OidIsValid(part))
		return hashes_oids(part);
	if (type_is_rowtype(base) && base != RECORDOID)
	{
		TupleDesc desc = lookup_rowtype_tupdesc(base, -1);
		bool found = false;

		for (int i = 0; i < desc->natts && !found; i++)
			found = !TupleDescAttr(desc, i)->attisdropped &&
				hashes_oids(TupleDescAttr(desc, i)->atttypid);
		ReleaseTupleDesc(desc);
		return found;
	}
	hash = lookup_type_cache(base, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;
	return hash == F_HASHENUMEXTENDED ||
		(hash == F_HASHOIDEXTENDED && base != OIDOID);
}

pg_noreturn static void
error_cannot_remember(Relation rel, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" cannot remember deleted rows",
					RelationGetRelationName(rel)),
			 errdetail_internal("%s", why),
			 errhint("SELECT fencing.protect(..., remember_deleted => false)."),
			 errtable(rel)));
}

/*
 * Have equal values of a type the same bytes, as it sends them?  Then those are
 * hashed: an enum; types that have no hash function; and those whose hash of 64
 * bits is one of 32, by which it equals that of a smaller type.
 */
static bool
sends_alike(Oid base)
{
	switch (base)
	{
		case BITOID:
		case VARBITOID:
		case MONEYOID:
		case INT8OID:
		case XID8OID:
		case PG_LSNOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return type_is_enum(base);
	}
}

/* Equal keys must have one hash, and keep it. */
static void
read_column(KeyColumn *key, Oid type, Relation rel, MemoryContext context)
{
	Oid base = getBaseType(type);
	TypeCacheEntry *entry;
	Oid send;
	bool varlena;

	if (sends_alike(base))
	{
		getTypeBinaryOutputInfo(base, &send, &varlena);
		fmgr_info_cxt(send, &key->send, context);
		return;
	}
	entry = lookup_type_cache(base, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	if (!OidIsValid(entry->hash_extended_proc_finfo.fn_oid) || hashes_oids(base))
		error_cannot_remember(rel,
							  psprintf("Its primary key has a column of type %s, which has no extended hash function, or one that hashes OIDs.",
									   format_type_be(type)));
	key->hash = &entry->hash_extended_proc_finfo;
}

/*
 * key_memory
 *		Reads the primary key of a table, and where its memory is kept.
 */
KeyMemory *
key_memory(Relation rel, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	KeyMemory *memory = palloc0(sizeof(KeyMemory));
	Oid index = primary_key_of(rel);
	Oid constraint;
	Relation key;

	if (!OidIsValid(index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" remembers deleted rows, but has no primary key",
						RelationGetRelationName(rel)),
				 errdetail("The fence of a deleted row is kept under its primary key, which must not be deferrable."),
				 errhint("Add a primary key, or SELECT fencing.protect(..., remember_deleted => false)."),
				 errtable(rel)));

	key = index_open(index, AccessShareLock);
	if (key->rd_index->indisexclusion)
		error_cannot_remember(rel, "Its primary key is WITHOUT OVERLAPS: keys that are not equal exclude one another.");
	memory->n_columns = IndexRelationGetNumberOfKeyAttributes(key);
	for (int i = 0; i < memory->n_columns; i++)
	{
		AttrNumber column = key->rd_index->indkey.values[i];
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), column - 1);

		if (attribute->attgenerated)
			error_cannot_remember(rel, "Its primary key has a generated column, which is computed after the guard has looked at the row.");
		memory->columns[i].column = column;
		memory->columns[i].collation = key->rd_indcollation[i];
		read_column(&memory->columns[i], attribute->atttypid, rel, context);
	}
	index_close(key, AccessShareLock);

	/* As far up as the key is one; not by the indexes, which REINDEX CONCURRENTLY replaces. */
	memory->self = RelationGetRelid(rel);
	(void) get_primary_key_attnos(memory->self, false, &constraint);
	do
	{
		HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
		Form_pg_constraint form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for constraint %u", constraint);
		form = (Form_pg_constraint) GETSTRUCT(tuple);
		memory->top = form->conrelid;
		memory->rels = lappend_oid(memory->rels, memory->top);
		constraint = form->conparentid;
		ReleaseSysCache(tuple);
	} while (OidIsValid(constraint));
	MemoryContextSwitchTo(old);
	return memory;
}

static uint64
hash_of(const KeyColumn *key, Datum value)
{
	bytea *sent;

	if (key->hash)
		return DatumGetUInt64(FunctionCall2Coll(key->hash, key->collation, value,
												Int64GetDatum(0)));
	sent = SendFunctionCall(unconstify(FmgrInfo *, &key->send), value);
	return hash_bytes_extended((unsigned char *) VARDATA_ANY(sent),
							   VARSIZE_ANY_EXHDR(sent), 0);
}

int64
key_digest(const KeyMemory *memory, Relation rel, HeapTuple tuple)
{
	uint64 digest = 0;

	for (int i = 0; i < memory->n_columns; i++)
	{
		const KeyColumn *key = &memory->columns[i];
		bool isnull;
		Datum value = heap_getattr(tuple, key->column,
								   RelationGetDescr(rel), &isnull);

		/* A NULL in a primary key is refused by the server a little later. */
		digest = hash_combine64(digest, isnull ? 0 : hash_of(key, value));
	}
	return (int64) digest == WHOLE_TABLE ? 1 : (int64) digest;
}

static SysScanDesc
scan_entry(Relation deleted, Oid rel, int64 digest)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], Anum_deleted_rel, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(rel));
	ScanKeyInit(&keys[1], Anum_deleted_digest, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(digest));
	return systable_beginscan(deleted, catalog_oid(DELETED_INDEX), true,
							  SnapshotSelf, 2, keys);
}

/*
 * write_entry
 *		Raises the fence of an entry.
 *
 * The key is ours: whoever else would vacate it waits for our row, or we have
 * waited for theirs.  Only a pruning may delete the entry meanwhile.
 */
static void
write_entry(Oid rel, int64 digest, int64 fence)
{
	Relation deleted = catalog_open(DELETED_TABLE, RowExclusiveLock);
	Datum values[Natts_deleted];
	bool nulls[Natts_deleted] = {false};
	bool covered = false;
	bool settled;

	do
	{
		SysScanDesc scan = scan_entry(deleted, rel, digest);
		HeapTuple tuple = systable_getnext(scan);

		settled = true;
		if (HeapTupleIsValid(tuple))
		{
			covered = ((Form_deleted) GETSTRUCT(tuple))->fence >= fence;
			if (!covered)
				settled = delete_row(deleted, &tuple->t_self, true) == TM_Ok;
		}
		systable_endscan(scan);
	} while (!settled);

	if (!covered)
	{
		values[0] = Int64GetDatum(digest);
		values[1] = Int64GetDatum(fence);
		values[2] = ObjectIdGetDatum(rel);
		catalog_insert(deleted, heap_form_tuple(RelationGetDescr(deleted), values, nulls), 1);

		/* So that this statement may vacate the key once more. */
		CommandCounterIncrement();
	}
	catalog_close(deleted, NoLock);
}

void
remember_deleted(const KeyMemory *memory, int64 digest, int64 fence)
{
	if (fence != FENCE_NONE)
		write_entry(memory->top, digest, fence);
}

void
remember_truncated(const KeyMemory *memory, int64 fence)
{
	if (fence != FENCE_NONE)
		write_entry(memory->self, WHOLE_TABLE, fence);
}

int64
remembered_fence(const KeyMemory *memory, int64 digest)
{
	Relation deleted = catalog_open(DELETED_TABLE, AccessShareLock);
	int64 digests[] = {digest, WHOLE_TABLE};
	int64 fence = FENCE_NONE;
	ListCell *lc;

	foreach(lc, memory->rels)
	{
		for (size_t i = 0; i < lengthof(digests); i++)
		{
			SysScanDesc scan = scan_entry(deleted, lfirst_oid(lc), digests[i]);
			HeapTuple tuple = systable_getnext(scan);

			if (HeapTupleIsValid(tuple))
				fence = Max(fence, ((Form_deleted) GETSTRUCT(tuple))->fence);
			systable_endscan(scan);
		}
	}
	catalog_close(deleted, AccessShareLock);
	return fence;
}

/*
 * prune_deleted(rel regclass, up_to bigint) returns bigint
 *		Forgets the deleted rows of a table whose fence is up_to or lower, and
 *		returns how many.  For its owner, who knows that no holder with such a
 *		token is left.
 */
PG_FUNCTION_INFO_V1(fencing_prune_deleted);

Datum
fencing_prune_deleted(PG_FUNCTION_ARGS)
{
	Oid relid;
	int64 up_to = token_argument(fcinfo, 1);
	Relation deleted;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple tuple;
	int64 pruned = 0;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("table must not be null")));
	relid = PG_GETARG_OID(0);
	if (!owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	PreventCommandIfReadOnly("prune_deleted()");

	deleted = catalog_open(DELETED_TABLE, RowExclusiveLock);
	ScanKeyInit(&key, Anum_deleted_rel, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(deleted, catalog_oid(DELETED_INDEX), true,
							  SnapshotSelf, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();

		/* One that is being written has a higher token: leave it. */
		if (((Form_deleted) GETSTRUCT(tuple))->fence <= up_to &&
			delete_row(deleted, &tuple->t_self, false) == TM_Ok)
			pruned++;
	}
	systable_endscan(scan);
	catalog_close(deleted, NoLock);
	PG_RETURN_INT64(pruned);
}
