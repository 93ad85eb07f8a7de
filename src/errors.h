/*-------------------------------------------------------------------------
 *
 * errors.h
 *		The six SQLSTATEs of the extension, and the one place that words
 *		them.
 *
 * Class LF is none that a driver retries by itself: retrying with the same
 * token cannot succeed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_ERRORS_H
#define FENCING_ERRORS_H

#include "access/attnum.h"
#include "utils/elog.h"
#include "utils/relcache.h"

#include "compat.h"

#define ERRCODE_STALE_TOKEN		  MAKE_SQLSTATE('L', 'F', '0', '0', '1')
#define ERRCODE_MISSING_TOKEN	  MAKE_SQLSTATE('L', 'F', '0', '0', '2')
#define ERRCODE_CONFLICTING_TOKEN MAKE_SQLSTATE('L', 'F', '0', '0', '3')
#define ERRCODE_LEASE_LOST		  MAKE_SQLSTATE('L', 'F', '0', '0', '4')
#define ERRCODE_UNKNOWN_TOKEN	  MAKE_SQLSTATE('L', 'F', '0', '0', '5')
#define ERRCODE_ISSUER_BEHIND	  MAKE_SQLSTATE('L', 'F', '0', '0', '6')

/*
 * Where a write went wrong.  rel is NULL at commit if the table is dropped by
 * then, and resource on a table that is not bound.  level is ERROR, or WARNING
 * in a table that only warns.
 */
typedef struct WritePlace
{
	Relation rel;
	AttrNumber column;
	const text *resource;
	int level;
	bool present_only; /* a fence value in the statement is no token */
} WritePlace;

extern void error_stale_fence(const WritePlace *place, int64 token,
							  int64 fence);
extern void error_stale_grant(const WritePlace *place, int64 token,
							  int64 current);
extern void error_missing_token(const WritePlace *place, int64 fence);
extern void error_missing_grant(const WritePlace *place, int64 current);
extern void error_not_presented(const WritePlace *place, int64 assigned, int64 fence,
								int64 presented);
extern void error_conflicting_token(const WritePlace *place, int64 assigned,
									int64 presented);
extern void error_released_grant(const WritePlace *place, int64 token);
extern void error_unknown_token(const WritePlace *place, int64 token,
								int64 current);

/* Why a lease is lost: what became of the token that held it. */
typedef enum LostBy
{
	LOST_WITHOUT_RECORD,
	LOST_OTHER_TOKEN,
	LOST_RELEASED,
	LOST_EXPIRED,
	LOST_TO_WAITING_GRANT
} LostBy;

pg_noreturn extern void error_lease_lost(const char *resource, int64 token,
										 LostBy how, int64 current);
pg_noreturn extern void error_issuer_behind(const char *resource, int64 token,
											int64 last, const char *what);
pg_noreturn extern void error_snapshot_too_early(const char *resource);

#endif /* FENCING_ERRORS_H */
