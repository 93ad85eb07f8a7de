/*-------------------------------------------------------------------------
 *
 * guard.h
 *		The triggers of a protected table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_GUARD_H
#define FENCING_GUARD_H

#include "access/attnum.h"
#include "utils/relcache.h"

/* The column of type fencing.fence, or InvalidAttrNumber. */
extern AttrNumber guard_fence_column(Relation rel);

#endif /* FENCING_GUARD_H */
