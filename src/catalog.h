/*-------------------------------------------------------------------------
 *
 * catalog.h
 *		Where the extension's own relations and its type are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_CATALOG_H
#define FENCING_CATALOG_H

#include "storage/itemptr.h"
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
extern Oid fence_type_oid(void);

/* Are we, by rights, the owner of the extension's tables? */
extern bool is_administrator(void);

#endif /* FENCING_CATALOG_H */
