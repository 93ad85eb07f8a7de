/*-------------------------------------------------------------------------
 *
 * statement.h
 *		Which statement is calling us?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_STATEMENT_H
#define FENCING_STATEMENT_H

#include "access/attnum.h"
#include "utils/palloc.h"

extern void statement_init(void);

/* A SELECT that a client sent, and that writes nothing. */
extern bool statement_is_plain_select(MemoryContext query_context);

/*
 * Does the statement assign the fence, a column of the row it now updates?
 * updated says whether its SET lists name it at all.
 */
extern bool statement_assigns_fence(MemoryContext query_context,
									AttrNumber fence, bool updated);

#endif							/* FENCING_STATEMENT_H */
