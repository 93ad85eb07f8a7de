/*-------------------------------------------------------------------------
 *
 * present.h
 *		What this transaction carries: tokens, holds, what it owes at commit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_PRESENT_H
#define FENCING_PRESENT_H

#include "deadline.h"
#include "errors.h"
#include "record.h"

extern void present_init(void);

/* The token presented in this transaction, or FENCE_NONE. */
extern int64 present_token(void);

/* The token this transaction holds the resource with, or FENCE_NONE. */
extern int64 present_held(const text *resource);

/* What the current grant of a resource says to a token. */
typedef enum GrantVerdict
{
	GRANT_CURRENT,	 /* the token is the current grant's */
	GRANT_NO_RECORD, /* no token, and the resource is not leased */
	GRANT_MISSING,	 /* no token, but the resource is leased */
	GRANT_STALE,
	GRANT_RELEASED,
	GRANT_UNKNOWN /* never granted */
} GrantVerdict;

/*
 * Checks a bound write, and where the verdict lets it pass, has it checked
 * again at commit: with an error, or a mere warning (place->level).
 */
extern GrantVerdict present_bound_write(const text *resource, int64 token,
										const WritePlace *place,
										int64 *current);

/* This transaction has granted, released or forgotten a lease. */
extern Deadline *present_granted(const text *resource, int64 token,
								 int64 superseded);
extern void present_put_back_deadlines(Relation deadlines);
extern bool present_has_granted(const text *resource, int64 token);
extern void present_forgotten(void);
extern void present_released(const text *resource, int64 token,
							 const LeaseRecord *record);
extern bool present_has_released(const text *resource, int64 token);

#endif /* FENCING_PRESENT_H */
