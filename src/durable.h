/*-------------------------------------------------------------------------
 *
 * durable.h
 *		What must be on disk, and on the standbys, before anyone is told.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_DURABLE_H
#define FENCING_DURABLE_H

#include "access/xlogdefs.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

extern bool fencing_require_synchronous;

extern void require_synchronous_standbys(void);
extern void force_durable_commit(void);
extern void close_unless_replicated(void);
extern void allow_lazy_commit(void);
extern void restore_synchronous_commit(void);

/* Writes the fixed-width part of a row where it stands. */
extern XLogRecPtr write_in_place(Relation rel, ItemPointer tid,
								 bool (*change)(void *form, void *arg),
								 void *arg);
extern void make_durable(XLogRecPtr lsn);
extern void flush_soon(XLogRecPtr lsn);

#endif /* FENCING_DURABLE_H */
