/*-------------------------------------------------------------------------
 *
 * token.h
 *		Epoch and sequence: the only place that makes a token.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_TOKEN_H
#define FENCING_TOKEN_H

#include "access/xlogdefs.h"

/* Draws the next token, which is higher than last and than the floor. */
extern int64 token_draw(const text *resource, int64 last, XLogRecPtr *lsn);

/* Later tokens are higher than this one, also after a crash. */
extern void token_raise_floor(int64 floor);

/* 25006 where nothing can be granted; what is the function's name. */
extern void require_primary(const char *what);

/* 25000 in a parallel worker, 42501 in a security-restricted operation. */
extern void require_own_transaction(const char *what);

#endif /* FENCING_TOKEN_H */
