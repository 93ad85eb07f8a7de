/*-------------------------------------------------------------------------
 *
 * record.h
 *		The lease record of a resource, and the locks around it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_RECORD_H
#define FENCING_RECORD_H

#include "access/htup.h"
#include "access/genam.h"
#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "storage/itemptr.h"
#include "storage/lock.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "catalog.h"
#include "compat.h"

/* The fixed-width columns of fencing.lease, as they lie on the page. */
typedef struct FormData_lease
{
	int64 token; /* the current grant's, or the last one's */
	int64 ttl;	 /* longest promised, in microseconds */
	TimestampTz granted_at;
	int64 grants;			  /* how many so far */
	TimestampTz ended_at;	  /* released in place: when ... */
	int64 ended;			  /* ... and the next transaction ID then; or 0 */
	ItemPointerData deadline; /* where its row in fencing.deadline should be */
	bool released;			  /* by its holder, or evicted */
	bool named;				  /* the caller gave the holder's name */
							  /* the rest follows */
} FormData_lease;

typedef FormData_lease *Form_lease;

/* Without the padding, which a short row does not have. */
#define SIZEOF_LEASE_FORM (offsetof(FormData_lease, named) + sizeof(bool))

#define Anum_lease_token	  1
#define Anum_lease_ttl		  2
#define Anum_lease_granted_at 3
#define Anum_lease_grants	  4
#define Anum_lease_ended_at	  5
#define Anum_lease_ended	  6
#define Anum_lease_deadline	  7
#define Anum_lease_released	  8
#define Anum_lease_named	  9
#define Anum_lease_resource	  10
#define Anum_lease_role		  11
#define Anum_lease_holder	  12
#define Anum_lease_data		  13
#define Natts_lease			  13

/* Where a version of a lease record is. */
typedef struct RecordPlace
{
	Oid file; /* of the table; VACUUM FULL makes a new one */
	ItemPointerData tid;
} RecordPlace;

/* What one look at a lease record found. */
typedef struct LeaseRecord
{
	bool found;
	bool own;			 /* this transaction wrote it, or will at its commit */
	bool after_snapshot; /* committed after our transaction snapshot */
	FormData_lease form;
	HeapTuple tuple;   /* a copy */
	RecordPlace place; /* all zero where none was found */
} LeaseRecord;

/* Where this session last saw a resource's row; all zero if it does not know. */
extern RecordPlace known_place(CatalogObject table, const text *resource);
extern void remember_place(CatalogObject table, const text *resource,
						   Relation rel, ItemPointer tid);

/* The resource's name in argument n of a call, checked. */
extern text *name_argument(FunctionCallInfo fcinfo, int n, const char *what);
extern text *resource_argument(FunctionCallInfo fcinfo, int n);

/* May it have been another's since this transaction's snapshot was taken? */
extern bool record_is_later_than_snapshot(const text *resource,
										  const LeaseRecord *record);

extern void record_look(Relation rel, const text *resource,
						LeaseRecord *record);

/* The same for a token that must hold the lease; LF004 where it does not. */
extern void record_require(const text *resource, int64 token,
						   LeaseRecord *record);
extern void record_confirm(const LeaseRecord *record, const text *resource,
						   int64 token);
pg_noreturn extern void record_lost(const LeaseRecord *record,
									const text *resource, int64 token);
extern int64 record_token(const text *resource);
extern void record_look_to_check(const text *resource, LeaseRecord *record);
extern void record_look_again(const text *resource, const RecordPlace *place,
							  LeaseRecord *record);
extern void record_look_to_write(Relation rel, const text *resource,
								 LeaseRecord *record);
extern void record_write(Relation rel, const text *resource,
						 LeaseRecord *record, HeapTuple tuple);
extern void record_release(const text *resource, const RecordPlace *place,
						   int64 token);
extern XLogRecPtr record_end(Relation rel, const RecordPlace *place,
							 int64 token);
extern void record_prepare_end(const RecordPlace *place);
extern void record_end_after_commit(const RecordPlace *place, int64 token);
extern text *record_role(const LeaseRecord *record);
extern text *record_holder(const LeaseRecord *record);
extern Datum record_data(const LeaseRecord *record, bool *isnull);

/*
 * The locks of a resource.  All but two are modes of one lock, of which
 * a higher one is taken after a lower one, if at all.  Each is held to the end
 * of the transaction, unless its taker lets it go.
 */
typedef enum ResourceLock
{
	LOCK_QUEUE,	 /* first of those that wait for the lease */
	LOCK_EVICT,	 /* evicts: one at a time */
	LOCK_HOLDER, /* has called hold(); conflicts with none of these */
	LOCK_COMMIT, /* commits what depends on the lease record: not with CHANGE */
	LOCK_WRITER, /* may write the record: one at a time */
	LOCK_CHANGE, /* writes it: not with COMMIT */
	LOCK_ALL	 /* taken by none; conflicts with all from HOLDER on */
} ResourceLock;

extern text *text_after(const void *columns, Size bytes);
extern bool same_resource(const text *a, const text *b);
extern uint64 resource_hash(const text *resource);
extern bool resource_lock(const text *resource, ResourceLock which, bool wait);
extern bool resource_try_lock(const text *resource, ResourceLock which);
extern bool resource_is_ours(const text *resource);
extern void resource_unlock(const text *resource, ResourceLock which);
extern VirtualTransactionId *resource_conflicts(const text *resource,
												ResourceLock which);

#endif /* FENCING_RECORD_H */
