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
} Deadline;

extern DeadlineState deadline_look(const text *resource, int64 token,
								   bool decide, Deadline *deadline);
extern DeadlineState deadline_renew(const text *resource, int64 token,
									int64 ttl, bool promised,
									Deadline *deadline);
extern void deadline_grant(const text *resource, int64 token, int64 ttl,
						   int64 committed, Deadline *deadline);
extern void deadline_restart(const text *resource, int64 token, int64 ttl,
							 Deadline *deadline);
extern void deadline_evict(const text *resource);
extern void deadline_forget(const text *resource);

#endif /* FENCING_DEADLINE_H */
