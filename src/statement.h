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

/* An UPDATE and nothing else: a row that it inserts, it moves there. */
extern bool statement_is_update(MemoryContext query_context);

/* May a row that it inserts be one that it moves from another partition? */
extern bool statement_moves_rows(MemoryContext query_context);

/*
 * Does the statement, whose SET lists name the fence, a column of the row that
 * it now updates, assign it to this row?
 */
extern bool statement_assigns_fence(MemoryContext query_context,
									AttrNumber fence);

#endif /* FENCING_STATEMENT_H */
