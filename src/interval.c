/*-------------------------------------------------------------------------
 *
 * interval.c
 *		Intervals as arguments, and what a client makes of a ttl.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "interval.h"

#define TTL_MIN			   INT64CONST(1000) /* 1 ms */
#define HEARTBEATS_PER_TTL 3

/*
 * microseconds
 *		An interval as microseconds; a month counts 30 days, as in EXTRACT.
 *		Returns false where it is not finite or does not fit.
 */
static bool
microseconds(const Interval *interval, int64 *result)
{
	int64 days = (int64) interval->month * DAYS_PER_MONTH + interval->day;

	return !pg_mul_s64_overflow(days, USECS_PER_DAY, result) &&
		!pg_add_s64_overflow(*result, interval->time, result);
}

Interval *
interval_of(int64 usecs)
{
	Interval *interval = palloc0(sizeof(Interval));

	interval->time = usecs;
	return interval;
}

/* An interval argument between two bounds, in microseconds. */
int64
interval_argument(FunctionCallInfo fcinfo, int n, const char *what,
				  int64 least, int64 most, const char *bounds)
{
	int64 usecs;

	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", what)));
	if (!microseconds(PG_GETARG_INTERVAL_P(n), &usecs) ||
		usecs < least || usecs > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %s is out of range", what,
						DatumGetCString(DirectFunctionCall1(interval_out,
															PG_GETARG_DATUM(n)))),
				 errdetail("It must be %s.", bounds)));
	return usecs;
}

int64
ttl_argument(FunctionCallInfo fcinfo, int n)
{
	return interval_argument(fcinfo, n, "ttl", TTL_MIN, TTL_MAX,
							 "from 1 millisecond to 365 days");
}

/*
 * safe_window(ttl interval, drift_ppm integer, rtt interval) returns interval
 *		ttl * (1 - drift) - rtt: how long a client may act, counted on its own
 *		monotonic clock.  Never below 0.
 */
PG_FUNCTION_INFO_V1(fencing_safe_window);

Datum
fencing_safe_window(PG_FUNCTION_ARGS)
{
	int64 ttl = ttl_argument(fcinfo, 0);
	int64 rtt = interval_argument(fcinfo, 2, "rtt", 0, TTL_MAX,
								  "from 0 to 365 days");
	int32 drift;
	int64 lost;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("drift_ppm must not be null")));
	drift = PG_GETARG_INT32(1);
	if (drift < 0 || drift > 1000000)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("drift_ppm %d is out of range", drift),
				 errdetail("It must be from 0 to 1000000 parts per million.")));

	/* In two parts, which cannot overflow; rounded up, to the safe side. */
	lost = ttl / 1000000 * drift + (ttl % 1000000 * drift + 999999) / 1000000;
	PG_RETURN_INTERVAL_P(interval_of(Max(ttl - lost - rtt, 0)));
}

int64
heartbeat_of(int64 ttl)
{
	return ttl / HEARTBEATS_PER_TTL;
}

/*
 * heartbeat_interval(ttl interval) returns interval
 *		ttl / 3: two renewals may fail before the lease is in danger.
 */
PG_FUNCTION_INFO_V1(fencing_heartbeat_interval);

Datum
fencing_heartbeat_interval(PG_FUNCTION_ARGS)
{
	PG_RETURN_INTERVAL_P(interval_of(heartbeat_of(ttl_argument(fcinfo, 0))));
}
