/*-------------------------------------------------------------------------
 *
 * catalog.c
 *		Where the extension's own relations and its type are, and how a row is
 *		read at its place.
 *
 * Names are looked up in the schema "fencing" alone, whatever search_path
 * says, and once a session: DROP EXTENSION, or a rename, sends a relcache
 * invalidation for what it drops.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "catalog.h"
#include "compat.h"

static const char *const object_names[CATALOG_OBJECTS] = {
	[LEASE_TABLE] = "lease",
	[LEASE_INDEX] = "lease_pkey",
	[DEADLINE_TABLE] = "deadline",
	[DEADLINE_INDEX] = "deadline_resource",
	[ISSUER_TABLE] = "issuer",
	[TOKEN_SEQUENCE] = "token_seq",
	[DELETED_TABLE] = "deleted",
	[DELETED_INDEX] = "deleted_pkey",
};

/*
 * What a table of ours, or the sequence, is like as the script made it.  Rows are
 * read and written by their layout, and an index is trusted, so all is checked:
 * once a session, and again after every ALTER.
 */
static const struct Shape
{
	char persistence;
	int n_columns;
	Oid types[13];
	CatalogObject index;
	Oid method; /* of the index; InvalidOid: there is none */
	int n_keys;
	AttrNumber keys[2];
} shapes[CATALOG_OBJECTS] = {
	[LEASE_TABLE] = {RELPERSISTENCE_PERMANENT,
					 13,
					 {INT8OID, INT8OID, TIMESTAMPTZOID, INT8OID, TIMESTAMPTZOID,
					  INT8OID, TIDOID, BOOLOID, BOOLOID, TEXTOID, TEXTOID,
					  TEXTOID, JSONBOID},
					 LEASE_INDEX,
					 BTREE_AM_OID,
					 1,
					 {10}},
	[DEADLINE_TABLE] = {RELPERSISTENCE_UNLOGGED,
						13,
						{INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID,
						 INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID,
						 INT8OID, INT8OID, BOOLOID, BOOLOID, TEXTOID},
						DEADLINE_INDEX,
						HASH_AM_OID,
						1,
						{13}},
	[ISSUER_TABLE] = {RELPERSISTENCE_PERMANENT,
					  8,
					  {INT8OID, INT8OID, INT8OID, INT8OID, PG_LSNOID, INT8OID, OIDOID, OIDOID}},
	[TOKEN_SEQUENCE] = {RELPERSISTENCE_PERMANENT,
						3,
						{INT8OID, INT8OID, BOOLOID}},
	[DELETED_TABLE] = {RELPERSISTENCE_PERMANENT,
					   3,
					   {INT8OID, INT8OID, REGCLASSOID},
					   DELETED_INDEX,
					   BTREE_AM_OID,
					   2,
					   {3, 1}},
};

static Oid object_oids[CATALOG_OBJECTS];
static bool shape_checked[CATALOG_OBJECTS];
static Oid type_oid;

static void
forget_object(Datum arg, Oid relid)
{
	for (int i = 0; i < CATALOG_OBJECTS; i++)
		if (!OidIsValid(relid) || object_oids[i] == relid)
		{
			object_oids[i] = InvalidOid;
			memset(shape_checked, false, sizeof(shape_checked));
		}
}

static void
forget_type(Datum arg, int cacheid, uint32 hashvalue)
{
	type_oid = InvalidOid;
}

void
catalog_init(void)
{
	CacheRegisterRelcacheCallback(forget_object, (Datum) 0);
	CacheRegisterSyscacheCallback(TYPEOID, forget_type, (Datum) 0);
}

static Oid
find_object(CatalogObject object, bool missing_ok)
{
	if (!OidIsValid(object_oids[object]))
	{
		Oid schema = get_namespace_oid("fencing", missing_ok);

		if (OidIsValid(schema))
			object_oids[object] = get_relname_relid(object_names[object], schema);
	}
	return object_oids[object];
}

/* Is it there?  DROP EXTENSION may be part of this very transaction. */
bool
catalog_has(CatalogObject object)
{
	return OidIsValid(find_object(object, true));
}

Oid
catalog_oid(CatalogObject object)
{
	Oid found = find_object(object, false);

	if (!OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"fencing.%s\" does not exist",
						object_names[object]),
				 errhint("Is the extension fencing installed in this database, and up to date?")));
	return found;
}

/*
 * for_transaction
 *		Locks or unlocks a relation: for the transaction, not for the cursor that
 *		may have called us (see resource_lock).
 */
static void
for_transaction(void (*change)(Oid, LOCKMODE), Oid relid, LOCKMODE mode)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = CurTransactionResourceOwner;
	change(relid, mode);
	CurrentResourceOwner = owner;
}

/* Another may be in its place when the lock is ours. */
static Oid
lock_object(CatalogObject object, LOCKMODE mode)
{
	Oid relid = catalog_oid(object);

	for (;;)
	{
		Oid locked = relid;

		for_transaction(LockRelationOid, locked, mode);
		relid = catalog_oid(object);
		if (relid == locked)
			return relid;
		for_transaction(UnlockRelationOid, locked, mode);
	}
}

/* Has a row type these columns, and no others? */
bool
has_columns(TupleDesc desc, const Oid *types, int n)
{
	if (desc->natts != n)
		return false;
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (column->attisdropped || column->atttypid != types[i])
			return false;
	}
	return true;
}

static bool
are_keys(Relation rel, Relation index, const struct Shape *shape)
{
	Form_pg_index form = index->rd_index;

	if (form->indrelid != RelationGetRelid(rel) ||
		index->rd_rel->relam != shape->method ||
		form->indisunique != (shape->method == BTREE_AM_OID) ||
		!form->indimmediate || !form->indisvalid ||
		form->indnatts != shape->n_keys ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < shape->n_keys; i++)
		if (form->indkey.values[i] != shape->keys[i] ||
			(shape->types[shape->keys[i] - 1] == TEXTOID &&
			 index->rd_indcollation[i] != C_COLLATION_OID))
			return false;
	return true;
}

/* Another index may be put in its place before we have opened it. */
static bool
has_index(Relation rel, const struct Shape *shape)
{
	for (;;)
	{
		Oid relid = lock_object(shape->index, AccessShareLock);
		Relation index = index_open(relid, NoLock);
		bool as_made = are_keys(rel, index, shape);

		for_transaction(UnlockRelationOid, relid, AccessShareLock);
		index_close(index, NoLock);
		if (as_made)
			return true;
		AcceptInvalidationMessages();
		if (catalog_oid(shape->index) == relid)
			return false;
	}
}

static void
check_shape(CatalogObject object, Relation rel)
{
	const struct Shape *shape = &shapes[object];
	bool as_made = rel->rd_rel->relpersistence == shape->persistence &&
		rel->rd_tableam == GetHeapamTableAmRoutine() &&
		has_columns(RelationGetDescr(rel), shape->types, shape->n_columns) &&
		(!OidIsValid(shape->method) || has_index(rel, shape));

	if (!as_made)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"fencing.%s\" is not as the extension made it",
						RelationGetRelationName(rel)),
				 errdetail("Its columns, its index, its access method or whether it is logged were altered, and leases could be lost."),
				 errhint("Alter it back, and SELECT fencing.new_epoch(); or restore a dump of the database, which makes it anew.")));
	shape_checked[object] = true;
}

/*
 * catalog_open, catalog_close
 *		As table_open() and table_close(), for our tables and the sequence.
 *		NoLock: it is locked, and stays so to the end of the transaction.
 *
 * What is written in place is not undone by a rollback; but it is if this
 * transaction has itself rewritten the table.
 */
Relation
catalog_open(CatalogObject object, LOCKMODE mode)
{
	Oid relid = mode == NoLock ? catalog_oid(object) : lock_object(object, mode);
	Relation rel = table_open(relid, NoLock);

	if (!shape_checked[object])
		check_shape(object, rel);
	if (was_rewritten_here(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"fencing.%s\" was rewritten in this transaction",
						RelationGetRelationName(rel)),
				 errdetail("What a lease promises would be lost if it rolled back."),
				 errhint("Commit first.")));
	return rel;
}

void
catalog_close(Relation rel, LOCKMODE mode)
{
	if (mode != NoLock)
		for_transaction(UnlockRelationOid, RelationGetRelid(rel), mode);
	table_close(rel, NoLock);
}

/* Keeps an open table locked to the end of the transaction, though it is closed. */
void
catalog_keep(Relation rel, LOCKMODE mode)
{
	for_transaction(LockRelationOid, RelationGetRelid(rel), mode);
}

/*
 * catalog_has_more_indexes
 *		Has an administrator made indexes on a table of ours?  That is fine if
 *		they are on plain columns, from this one on: all before may be written in
 *		place, which no index would know of.
 */
bool
catalog_has_more_indexes(Relation rel, AttrNumber first)
{
	List *indexes = RelationGetIndexList(rel);
	ListCell *lc;

	if (list_length(indexes) == 1) /* ours: check_shape() has seen to that */
		return false;
	foreach(lc, indexes)
	{
		Relation index = index_open(lfirst_oid(lc), AccessShareLock);
		IndexInfo *info = BuildIndexInfo(index);
		bool can_be_kept = info->ii_Predicate == NIL &&
			info->ii_ExclusionOps == NULL && index->rd_index->indimmediate;

		/* An expression has no number. */
		for (int i = 0; i < info->ii_NumIndexAttrs; i++)
			if (info->ii_IndexAttrNumbers[i] < first)
				can_be_kept = false;
		if (!can_be_kept)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("index \"%s\" on table \"fencing.%s\" cannot be kept up to date",
							RelationGetRelationName(index),
							RelationGetRelationName(rel)),
					 errdetail("It has an expression, a condition, a column that is written in place, or a constraint that excludes or is deferrable."),
					 errhint("Drop it.")));
		index_close(index, AccessShareLock);
	}
	return true;
}

/* CatalogTupleInsert(), with the indexes that an administrator made (see above). */
void
catalog_insert(Relation rel, HeapTuple tuple, AttrNumber first)
{
	(void) catalog_has_more_indexes(rel, first);
	CatalogTupleInsert(rel, tuple);
}

/*
 * block_exists
 *		Has a relation that is open, and locked, this block?
 *
 * RelationGetNumberOfBlocks() is a system call.  A relation only grows as long
 * as it is locked, and whoever has cut it off before that has told us.
 */
bool
block_exists(Relation rel, BlockNumber block)
{
	BlockNumber known = RelationGetSmgr(rel)->smgr_cached_nblocks[MAIN_FORKNUM];

	return (known != InvalidBlockNumber && block < known) ||
		block < RelationGetNumberOfBlocks(rel);
}

/*
 * read_block
 *		ReadBuffer() for a block that is read again and again.
 *
 * Finds the buffer where it was the last time, without a look at the table of
 * all buffers, which is larger than any cache.  Now and then it looks there all
 * the same: only so does a buffer count as used, and is not given away.
 */
Buffer
read_block(Relation rel, BlockNumber block)
{
	static struct
	{
		Oid rel;
		BlockNumber block;
		Buffer buffer;
	} recent[1024];
	static uint32 reads;
	uint32 i = (RelationGetRelid(rel) + block) % lengthof(recent);
	Buffer buffer;

	if (++reads % 64 != 0 &&
		recent[i].rel == RelationGetRelid(rel) && recent[i].block == block &&
		ReadRecentBuffer(locator_of(rel), MAIN_FORKNUM, block, recent[i].buffer))
		return recent[i].buffer;

	buffer = ReadBuffer(rel, block);
	recent[i].rel = RelationGetRelid(rel);
	recent[i].block = block;
	recent[i].buffer = buffer;
	return buffer;
}

/*
 * row_at
 *		Sets *tuple to the row version at this place of a page, whose lock we
 *		hold; returns whether there is one.
 */
bool
row_at(Relation rel, Buffer buffer, OffsetNumber offset, HeapTuple tuple)
{
	Page page = BufferGetPage(buffer);
	ItemId item;

	if (offset > PageGetMaxOffsetNumber(page))
		return false;
	item = PageGetItemId(page, offset);
	if (!ItemIdIsNormal(item))
		return false;
	ItemPointerSet(&tuple->t_self, BufferGetBlockNumber(buffer), offset);
	tuple->t_tableOid = RelationGetRelid(rel);
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	return true;
}

/*
 * visible_row
 *		The same, if it can be seen.
 *
 * By SnapshotSelf, as by all looks at our tables: what is committed now, and
 * what this transaction did.
 */
bool
visible_row(Relation rel, Buffer buffer, OffsetNumber offset, HeapTuple tuple)
{
	return row_at(rel, buffer, offset, tuple) &&
		HeapTupleSatisfiesVisibility(tuple, SnapshotSelf, buffer);
}

Oid
fence_type_oid(void)
{
	if (!OidIsValid(type_oid))
		type_oid = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								   CStringGetDatum("fence"),
								   ObjectIdGetDatum(get_namespace_oid("fencing", false)));
	return type_oid;
}

bool
is_administrator(void)
{
	return owns_relation(catalog_oid(LEASE_TABLE), GetUserId());
}
