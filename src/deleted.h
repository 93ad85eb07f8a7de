/*-------------------------------------------------------------------------
 *
 * deleted.h
 *		What is remembered of deleted rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_DELETED_H
#define FENCING_DELETED_H

#include "access/htup.h"
#include "utils/relcache.h"

/* How the keys of a table are remembered; opaque, made once a statement. */
typedef struct KeyMemory KeyMemory;

extern KeyMemory *key_memory(Relation rel, MemoryContext context);

/* What stands for the primary key of a row. */
extern int64 key_digest(const KeyMemory *memory, Relation rel,
						HeapTuple tuple);

extern void remember_deleted(const KeyMemory *memory, int64 digest,
							 int64 fence);
extern void remember_truncated(const KeyMemory *memory, int64 fence);

/* The fence that binds a row inserted under this key, or FENCE_NONE. */
extern int64 remembered_fence(const KeyMemory *memory, int64 digest);

#endif /* FENCING_DELETED_H */
