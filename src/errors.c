/*-------------------------------------------------------------------------
 *
 * errors.c
 *		The words of the six SQLSTATEs, each with a DETAIL that has both
 *		tokens and a HINT that says what to do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/rel.h"

#include "errors.h"

#define STOP_HINT \
	"Stop, and do not retry with this token: acquire the lease anew and start from fresh data."
#define LOST_HINT \
	"Stop the work that the lease covered; to go on, acquire the lease anew and start from fresh data."
#define PRESENT_ONLY_HINT \
	"Call fencing.present() first in the transaction."
#define PRESENT_HINT \
	"Call fencing.present() first in the transaction, or assign the token to the fence column in an INSERT or UPDATE."

void
error_stale_fence(const WritePlace *place, int64 token, int64 fence)
{
	ereport(place->level,
			(errcode(ERRCODE_STALE_TOKEN),
			 errmsg("stale token %lld for a row of \"%s\" with fence %lld",
					(long long) token, RelationGetRelationName(place->rel),
					(long long) fence),
			 errdetail("The write carries token %lld, but token %lld has been committed to the row.",
					   (long long) token, (long long) fence),
			 errhint("Another holder has taken over. " STOP_HINT),
			 errtablecol(place->rel, place->column)));
}

void
error_stale_grant(const WritePlace *place, int64 token, int64 current)
{
	const char *resource = text_to_cstring(place->resource);

	ereport(place->level,
			(errcode(ERRCODE_STALE_TOKEN),
			 errmsg("stale token %lld for resource \"%s\"",
					(long long) token, resource),
			 errdetail("The write carries token %lld, but the current grant of resource \"%s\" has token %lld.",
					   (long long) token, resource,
					   (long long) current),
			 errhint("Another holder has taken over, or the lease was evicted. " STOP_HINT),
			 place->rel ? errtablecol(place->rel, place->column) : 0));
}

void
error_missing_token(const WritePlace *place, int64 fence)
{
	ereport(place->level,
			(errcode(ERRCODE_MISSING_TOKEN),
			 fence == 0
				 ? errmsg("missing token for a row of \"%s\"",
						  RelationGetRelationName(place->rel))
				 : errmsg("missing token for a row of \"%s\" with fence %lld",
						  RelationGetRelationName(place->rel),
						  (long long) fence),
			 fence == 0
				 ? errdetail("The write carries no token, and this table takes no write without one.")
				 : errdetail("The write carries no token, which counts as 0, but token %lld has been committed to the row.",
							 (long long) fence),
			 place->present_only ? errhint(PRESENT_ONLY_HINT) : errhint(PRESENT_HINT),
			 errtablecol(place->rel, place->column)));
}

void
error_missing_grant(const WritePlace *place, int64 current)
{
	const char *resource = text_to_cstring(place->resource);

	ereport(place->level,
			(errcode(ERRCODE_MISSING_TOKEN),
			 errmsg("missing token for resource \"%s\"", resource),
			 errdetail("The write carries no token, but resource \"%s\" is leased here; its current grant has token %lld.",
					   resource, (long long) current),
			 errhint("Call fencing.hold() with the token of your grant first in the transaction."),
			 place->rel ? errtablecol(place->rel, place->column) : 0));
}

void
error_not_presented(const WritePlace *place, int64 assigned, int64 fence,
					int64 presented)
{
	ereport(place->level,
			(errcode(ERRCODE_MISSING_TOKEN),
			 errmsg("missing token for a row of \"%s\": a value in the statement is none",
					RelationGetRelationName(place->rel)),
			 presented == 0
				 ? errdetail("The statement writes %lld to the fence column, the row's fence is %lld, and in this table only a presented token counts.",
							 (long long) assigned, (long long) fence)
				 : errdetail("The statement writes %lld to the fence column, which is neither the row's fence, %lld, nor the token presented, %lld.",
							 (long long) assigned, (long long) fence,
							 (long long) presented),
			 presented == 0
				 ? errhint(PRESENT_ONLY_HINT)
				 : errhint("Read the row again, assign the presented token, or leave the fence column out of the statement."),
			 errtablecol(place->rel, place->column)));
}

void
error_conflicting_token(const WritePlace *place, int64 assigned,
						int64 presented)
{
	ereport(place->level,
			(errcode(ERRCODE_CONFLICTING_TOKEN),
			 errmsg("conflicting tokens for a row of \"%s\"",
					RelationGetRelationName(place->rel)),
			 errdetail("The statement writes token %lld to the fence column, but this transaction presented token %lld.",
					   (long long) assigned, (long long) presented),
			 errhint("Carry one token. An ORM that writes back the fence that it read has read an old row: read it again."),
			 errtablecol(place->rel, place->column)));
}

void
error_released_grant(const WritePlace *place, int64 token)
{
	const char *resource = text_to_cstring(place->resource);

	ereport(place->level,
			(errcode(ERRCODE_LEASE_LOST),
			 errmsg("lease on resource \"%s\" is lost", resource),
			 errdetail("Token %lld does not hold resource \"%s\": it was released or evicted.",
					   (long long) token, resource),
			 errhint(LOST_HINT),
			 place->rel ? errtablecol(place->rel, place->column) : 0));
}

void
error_unknown_token(const WritePlace *place, int64 token, int64 current)
{
	const char *resource = text_to_cstring(place->resource);

	ereport(place->level,
			(errcode(ERRCODE_UNKNOWN_TOKEN),
			 errmsg("unknown token %lld for resource \"%s\"",
					(long long) token, resource),
			 current == 0
				 ? errdetail("The write carries token %lld, but resource \"%s\" has never been leased here, or was forgotten.",
							 (long long) token, resource)
				 : errdetail("The write carries token %lld, but the highest grant of resource \"%s\" has token %lld.",
							 (long long) token, resource,
							 (long long) current),
			 errhint("Write with the token that fencing.acquire() returned for this very resource."),
			 place->rel ? errtablecol(place->rel, place->column) : 0));
}

void
error_lease_lost(const char *resource, int64 token, LostBy how, int64 current)
{
	const char *detail = NULL;

	switch (how)
	{
		case LOST_WITHOUT_RECORD:
			detail = "Token %lld does not hold resource \"%s\": it has no grant, or none that was committed.";
			break;
		case LOST_OTHER_TOKEN:
			detail = "Token %lld does not hold resource \"%s\": its current grant has token %lld.";
			break;
		case LOST_RELEASED:
			detail = "Token %lld does not hold resource \"%s\": it was released or evicted.";
			break;
		case LOST_EXPIRED:
			detail = "Token %lld no longer holds resource \"%s\": its deadline has passed.";
			break;
		case LOST_TO_WAITING_GRANT:
			detail = "Token %lld loses resource \"%s\": the transaction that is about to change its grant waits for a lock of this one.";
			break;
	}
	ereport(ERROR,
			(errcode(ERRCODE_LEASE_LOST),
			 errmsg("lease on resource \"%s\" is lost", resource),
			 errdetail(detail, (long long) token, resource,
					   (long long) current),
			 errhint(LOST_HINT)));
}

void
error_issuer_behind(const char *resource, int64 token, int64 last,
					const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_ISSUER_BEHIND),
			 errmsg("the token sequence lies behind the tokens already issued"),
			 resource ? errdetail("It would issue token %lld for resource \"%s\", but %s is %lld.",
								  (long long) token, resource, what, (long long) last)
					  : errdetail("It would issue token %lld, but %s is %lld.",
								  (long long) token, what, (long long) last),
			 errhint("The sequence was set back, or restored alone. An administrator mends it with SELECT fencing.new_epoch().")));
}

/*
 * Rule 9: data read under a snapshot from before the grant may be the old
 * holder's, even though the token is ours.
 */
void
error_snapshot_too_early(const char *resource)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access: the lease on resource \"%s\" may have changed hands after this transaction's snapshot",
					resource),
			 errdetail("What this transaction has read may be older than what the holder before wrote."),
			 errhint("Retry the transaction: acquire the lease in an earlier one, and read data after it.")));
}
