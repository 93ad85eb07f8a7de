/*-------------------------------------------------------------------------
 *
 * fencing.c
 *		The hall: module magic, settings and the server's callbacks.
 *
 * Nothing here has to be preloaded.  The first call of any function of the
 * extension, and so the first write to a protected table, loads it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "catalog.h"
#include "durable.h"
#include "present.h"
#include "statement.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomBoolVariable("fencing.require_synchronous",
							 "Grants no lease unless synchronous standbys are configured.",
							 "A primary that was cut off from them then refuses, instead of granting what a failover would lose.",
							 &fencing_require_synchronous,
							 false,
							 PGC_SUSET,
							 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("fencing");

	catalog_init();
	statement_init();
	present_init();
}
