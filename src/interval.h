/*-------------------------------------------------------------------------
 *
 * interval.h
 *		Intervals as arguments, and what a client makes of a ttl.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_INTERVAL_H
#define FENCING_INTERVAL_H

#include "datatype/timestamp.h"
#include "fmgr.h"

#define TTL_MAX (INT64CONST(365) * USECS_PER_DAY)

/* Argument n of a call in microseconds, between two bounds; NULL is an error. */
extern int64 interval_argument(FunctionCallInfo fcinfo, int n,
							   const char *what, int64 least, int64 most,
							   const char *bounds);
extern int64 ttl_argument(FunctionCallInfo fcinfo, int n);

extern Interval *interval_of(int64 usecs);
extern int64 heartbeat_of(int64 ttl);

#endif /* FENCING_INTERVAL_H */
