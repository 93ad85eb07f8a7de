/*-------------------------------------------------------------------------
 *
 * catalog.h
 *		Where the extension's own relations and its type are, and how a row is
 *		read at its place.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_CATALOG_H
#define FENCING_CATALOG_H

#include "access/attnum.h"
#include "access/htup.h"
#include "access/tupdesc.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "storage/off.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

typedef enum CatalogObject
{
	LEASE_TABLE,
	LEASE_INDEX,
	DEADLINE_TABLE,
	DEADLINE_INDEX,
	ISSUER_TABLE,
	TOKEN_SEQUENCE,
	DELETED_TABLE,
	DELETED_INDEX
} CatalogObject;

#define CATALOG_OBJECTS (DELETED_INDEX + 1)

extern void catalog_init(void);
extern Oid catalog_oid(CatalogObject object);
extern Relation catalog_open(CatalogObject object, LOCKMODE mode);
extern void catalog_close(Relation rel, LOCKMODE mode);
extern void catalog_keep(Relation rel, LOCKMODE mode);
extern bool has_columns(TupleDesc desc, const Oid *types, int n);
extern bool catalog_has(CatalogObject object);
extern bool catalog_has_more_indexes(Relation rel, AttrNumber first);
extern void catalog_insert(Relation rel, HeapTuple tuple, AttrNumber first);
extern bool block_exists(Relation rel, BlockNumber block);
extern Buffer read_block(Relation rel, BlockNumber block);
extern bool row_at(Relation rel, Buffer buffer, OffsetNumber offset,
				   HeapTuple tuple);
extern bool visible_row(Relation rel, Buffer buffer, OffsetNumber offset,
						HeapTuple tuple);
extern Oid fence_type_oid(void);

/* Are we, by rights, the owner of the extension's tables? */
extern bool is_administrator(void);

#endif /* FENCING_CATALOG_H */
