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

/* Was a value that was set before the library was loaded taken over? */
static bool taken_over = false;

static bool
check_require_synchronous(bool *value, void **extra, GucSource source)
{
	if (source > PGC_S_DEFAULT)
		taken_over = true;
	return true;
}

void
_PG_init(void)
{
	bool was_set = GetConfigOption("fencing.require_synchronous", true, false) != NULL;

	DefineCustomBoolVariable("fencing.require_synchronous",
							 "Grants no lease unless synchronous standbys are configured.",
							 "A primary that was cut off from them then refuses, instead of granting what a failover would lose.",
							 &fencing_require_synchronous,
							 false,
							 PGC_SUSET,
							 0, check_require_synchronous, NULL, NULL);
	MarkGUCPrefixReserved("fencing");

	/*
	 * What a client without the right to set it asks for as it connects takes
	 * the place of the server's value, and is then refused: so neither is known.
	 */
	if (was_set && !taken_over)
		SetConfigOption("fencing.require_synchronous", "on", PGC_SUSET, PGC_S_OVERRIDE);

	catalog_init();
	statement_init();
	present_init();
}
