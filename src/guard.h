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
#include "utils/reltrigger.h"

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

extern void guard_read_options(const Trigger *trigger, GuardOptions *options);

/* The column of type fencing.fence, or InvalidAttrNumber. */
extern AttrNumber guard_fence_column(Relation rel);

#endif /* FENCING_GUARD_H */
