/*-------------------------------------------------------------------------
 *
 * deadline.h
 *		Deadlines of leases, and the cheap renewal.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_DEADLINE_H
#define FENCING_DEADLINE_H

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

typedef enum DeadlineState
{
	DEADLINE_MISSING, /* lost in a crash: nobody has looked since */
	DEADLINE_AHEAD,	  /* in force */
	DEADLINE_LONGER,  /* in force; longer than was promised so far */
	DEADLINE_PASSED	  /* final: no renewal takes it back */
} DeadlineState;

typedef struct Deadline
{
	int64 token;
	TimestampTz at;
	TimestampTz renewed_at; /* = at: restarted, and promised to nobody */
	int64 ttl;				/* longest promised; 0: only the record tells */
} Deadline;

/*
 * Each of these takes the open table, locked as by any writer, and where the
 * row of the resource should be, as the lease record has it; a place that is
 * wrong, or invalid, costs a look at the index.
 */
extern DeadlineState deadline_look(Relation rel, const text *resource,
								   ItemPointer place, int64 token,
								   bool decide, Deadline *deadline);
extern DeadlineState deadline_renew(Relation rel, const text *resource,
									ItemPointer place, int64 token, int64 ttl,
									int64 durable, Deadline *deadline);
extern DeadlineState deadline_renew_current(Relation rel, const text *resource,
											int64 token, int64 ttl, int64 owner,
											Deadline *deadline);
extern void deadline_restart(Relation rel, const text *resource,
							 ItemPointer place, int64 token, int64 ttl,
							 Deadline *deadline);

/* Sets *place to where it wrote, *replaced to the deadline that was there. */
extern void deadline_grant(Relation rel, const text *resource,
						   ItemPointer place, int64 last, int64 committed,
						   Deadline *deadline, Deadline *replaced);
extern void deadline_put_back(Relation rel, const text *resource,
							  const Deadline *deadline);

extern void deadline_confirm(Relation rel, const text *resource,
							 ItemPointer place, int64 token, int64 ttl,
							 int64 owner);
extern void deadline_doubt(Relation rel, const text *resource,
						   ItemPointer place, int64 token);
extern void deadline_evict(Relation rel, const text *resource,
						   ItemPointer place);
extern void deadline_forget(Relation rel, const text *resource);

#endif /* FENCING_DEADLINE_H */
