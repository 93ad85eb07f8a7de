/*
 * The protocol of fencing, as a model for spin.
 *
 * One resource, one row of an unbound protected table, N sessions that do
 * anything the SQL interface allows with any token there is.  A pause needs no
 * step of its own: a process may stand still between any two steps while the
 * others go on.  What PostgreSQL does under one lock is one step here (d_step),
 * and nothing else is, so that every window which the code leaves open is open
 * in the model too.
 *
 * Every rule of the protocol is a constant that is 1.  The run script sets one
 * of them to 0 at a time and expects a violation: a rule that nothing would
 * miss is not checked by anything.
 *
 * The properties are the assert()s, the end states that are not valid (a
 * session waits for ever), and the one formula at the end.
 *
 * README.md tells what is left out, run turns on what each configuration has.
 */

/* ---------------------------------------------------------------- the size */

#ifndef N
#define N			2		/* sessions */
#endif
#ifndef DRAWS
#define DRAWS		3		/* tokens that one epoch can issue */
#endif
#ifndef TTL
#define TTL			1		/* clock ticks that a lease lasts */
#endif
#ifndef WORK
#define WORK		0		/* transactions a session does; 0: no end to them */
#endif

/* ------------------------------------------------- what a configuration has */

#ifndef TIME
#define TIME		0		/* deadlines; without, any lease may be taken over any time */
#endif
#ifndef HOLD
#define HOLD		0		/* hold() and bound writes; 2: bound writes without a token too */
#endif
#ifndef ROW
#define ROW			0		/* 1: unbound row, written under hold; 2: with any token at all */
#endif
#ifndef LEASE
#define LEASE		1		/* 0: no grants, all tokens issued from the start */
#endif
#ifndef RELEASE
#define RELEASE		0
#endif
#ifndef EVICT
#define EVICT		0
#endif
#ifndef FORGET
#define FORGET		0
#endif
#ifndef SAVEPOINT
#define SAVEPOINT	0		/* a second grant in a savepoint that is rolled back */
#endif
#ifndef LONG
#define LONG		0		/* renewals for two ticks of a lease of one */
#endif
#ifndef STEPS
#define STEPS		0		/* the clock is set back and forth */
#endif
#ifndef CRASHES
#define CRASHES		0
#endif
#ifndef FAILOVERS
#define FAILOVERS	0
#endif
#ifndef RESTORES
#define RESTORES	0		/* a dump restored into another cluster */
#endif
#ifndef SETVALS
#define SETVALS		0		/* somebody sets the sequence back */
#endif
#ifndef WAIT
#define WAIT		0		/* acquire(wait => ...) and its queue */
#endif
#ifndef IDLE
#define IDLE		0		/* a session may leave its transaction open for ever */
#endif
#ifndef OTHER
#define OTHER		0		/* a second resource, whose grant stays undecided for ever */
#endif
#ifndef LONE
#define LONE		0		/* begin with a lease whose holder is dead */
#endif

/* ------------------------------------------------------- the rules; 0: gone */

#ifndef COMMIT_CHECK
#define COMMIT_CHECK		1	/* hold is looked at again at commit */
#endif
#ifndef CHECK_LOCKED
#define CHECK_LOCKED		1	/* ... under S, kept until the commit is visible */
#endif
#ifndef WRITER_LOCKS_X
#define WRITER_LOCKS_X		1	/* a grant keeps X to its end */
#endif
#ifndef CHECK_OWN
#define CHECK_OWN			1	/* ... and sees what this transaction granted itself */
#endif
#ifndef BARE_CHECK
#define BARE_CHECK			1	/* no token, no record: still no record at commit */
#endif
#ifndef CHECK_RELEASED
#define CHECK_RELEASED		1	/* a released grant is no longer current */
#endif
#ifndef DRAW_LOCKED
#define DRAW_LOCKED			1	/* the token is drawn under W */
#endif
#ifndef LAST_CHECK
#define LAST_CHECK			1	/* it is compared with the last one */
#endif
#ifndef FLOOR
#define FLOOR				1	/* forget raises the floor, a grant is above it */
#endif
#ifndef SEQ_FLUSHED
#define SEQ_FLUSHED			1	/* no token leaves before its WAL is flushed */
#endif
#ifndef ACQUIRE_REFUSES
#define ACQUIRE_REFUSES		1	/* where W is taken, rather than wait */
#endif
#ifndef DECIDE_LOCKED
#define DECIDE_LOCKED		1	/* free or not is decided under W, not by the look before */
#endif
#ifndef FENCE_COMPARE
#define FENCE_COMPARE		1	/* lower than the row's fence is refused */
#endif
#ifndef COMPARE_LOCKED
#define COMPARE_LOCKED		1	/* ... under the row's lock */
#endif
#ifndef DELETED_KEPT
#define DELETED_KEPT		1	/* a deleted row's fence binds a new row */
#endif
#ifndef CLOSE
#define CLOSE				1	/* a grant that finds the lease expired closes it */
#endif
#ifndef FORGET_CLOSES
#define FORGET_CLOSES		1	/* so does forget() */
#endif
#ifndef EVICT_CLOSES
#define EVICT_CLOSES		1	/* so does evict() */
#endif
#ifndef TWO_SLOTS
#define TWO_SLOTS			1	/* an undecided grant leaves the old deadline alone */
#endif
#ifndef RENEW_CURRENT
#define RENEW_CURRENT		1	/* only a committed grant is renewed */
#endif
#ifndef RENEW_IN_TIME
#define RENEW_IN_TIME		1	/* never past the deadline */
#endif
#ifndef LONG_IN_PLACE
#define LONG_IN_PLACE		1	/* a longer TTL is durable when told, whatever becomes of the transaction */
#endif
#ifndef LOOK_BEFORE_GRANT
#define LOOK_BEFORE_GRANT	1	/* a grant by name, too, sees to the current token's slot first */
#endif
#ifndef OWNER_SKIPS_QUEUE
#define OWNER_SKIPS_QUEUE	1	/* who has W already does not queue */
#endif
#ifndef LOOK_FULL
#define LOOK_FULL			1	/* the first look after a crash grants a full TTL */
#endif
#ifndef LOOK_WRITTEN
#define LOOK_WRITTEN		1	/* ... and writes it down */
#endif
#ifndef LOOK_STAYS
#define LOOK_STAYS			1	/* ... where no rollback undoes it */
#endif
#ifndef LOOK_LOCKED
#define LOOK_LOCKED			1	/* ... under W, the row read again, also when a renewal looks first */
#endif
#ifndef SURE_GRANTED
#define SURE_GRANTED		1	/* a grant takes back that the token before is sure to be current */
#endif
#ifndef SURE_RELEASED
#define SURE_RELEASED		1	/* ... so does a release */
#endif
#ifndef SURE_EVICTED
#define SURE_EVICTED		1	/* ... and evict */
#endif
#ifndef SURE_LOCKED
#define SURE_LOCKED			1	/* a renewal writes down that its token is, under W */
#endif
#ifndef LOOK_WAITS
#define LOOK_WAITS			1	/* ... which waits for W, and writes it down */
#endif
#ifndef RELEASE_TOKEN
#define RELEASE_TOKEN		1	/* a release is of that token only */
#endif
#ifndef RELEASE_AT_COMMIT
#define RELEASE_AT_COMMIT	1	/* a release is undone by a rollback */
#endif
#ifndef LOCK_ORDER
#define LOCK_ORDER			1	/* W before X, always */
#endif
#ifndef EVICT_KILLS
#define EVICT_KILLS			1	/* evict terminates first who holds or is granting */
#endif
#ifndef EVICT_RAISES
#define EVICT_RAISES		1	/* evict raises the token, besides terminating */
#endif
#ifndef EVICT_LOCKED
#define EVICT_LOCKED		1	/* ... under W and X */
#endif
#ifndef EVICT_COMMITTED
#define EVICT_COMMITTED		1	/* ... in the committed version, also if its own transaction replaced it */
#endif
#ifndef EPOCH_RISES
#define EPOCH_RISES			1	/* the epoch follows the timeline */
#endif
#ifndef EPOCH_COUNTS
#define EPOCH_COUNTS		1	/* ... also while the record is still another cluster's */
#endif
#ifndef EPOCH_JUMPS
#define EPOCH_JUMPS			1	/* ... by more than the failovers that the record does not know of */
#endif
#ifndef ALL_OR_NONE
#define ALL_OR_NONE			1	/* a commit waits for one S without keeping another */
#endif
#ifndef WAITER_WAITS
#define WAITER_WAITS		1	/* the front waiter waits for W, where the lease looks free */
#endif
#ifndef RESET_FIRST
#define RESET_FIRST			1	/* the latch is reset before the look */
#endif
#ifndef NO_OVERTAKING
#define NO_OVERTAKING		1	/* an acquire without wait is refused while somebody waits */
#endif

#if LONG
#define SHORT		1
#else
#define SHORT		TTL
#endif

/* --------------------------------------------------------------- the server */

/* fencing.lease, the committed version; cur 0: there is no record */
byte cur;
bit rel = 1;
bit relvolatile;				/* the release is committed, not flushed */
byte ttl = SHORT;

/* fencing.deadline: two slots, each left ticks from its deadline */
byte stok[2];
byte sleft[2];
bit sclosed[2];
byte sure;						/* token that is current without a look at the record; or 0 */
byte fresh;						/* left of the deadline that a first look is about to write */

/* fencing.token_seq and fencing.issuer */
byte seq;
byte seqdisk;					/* what a crash leaves of it */
byte floor;
byte tli = 1;
bit ident;						/* which cluster this is */
byte rec_tli = 1, rec_epoch = 1;
bit rec_ident;

/* the locks: session, or 0 */
byte Q, W, X;					/* X: to change the record */
byte S;							/* to commit under it: a bit a session */

/* a row of an unbound protected table */
bit present;
byte fence;
byte rowlock;
byte rowwait;					/* a bit a session */

/* what others can see of a session: the listable lock H, the latch */
byte hold[N + 1];
bit killed[N + 1];
bit latch[N + 1];
bit asleep[N + 1];

/* the standby, or the dump: a state that was committed at some time */
byte z_cur, z_seq, z_floor, z_fence, z_rec_tli = 1, z_rec_epoch = 1;
bit z_rel = 1, z_present, z_rec_ident;

/* ---------------------------------- what the properties remember (no session reads it) */

byte g_grant;					/* highest token committed by a grant or evict, in this history */
byte g_ever;					/* the same over all histories, lost ones included */
byte g_row;						/* highest token committed to the row */
bit g_free = 1;					/* released, evicted or forgotten: to be had at once */
bit g_record;					/* has a record */
byte g_left;					/* ticks that the current grant was promised */
byte g_pend;					/* the same for the undecided one */
int issued, granted;			/* a bit a token */
int said;						/* renewed since somebody took it as expired */
int dead;						/* taken as expired by a grant that committed, or evicted */
byte z_g_grant, z_g_row;
bit z_g_free = 1, z_g_record;
bit won;

#define NONE		9
#define NOTOKEN		99			/* a bound write that carries none, where there is no record */
#define BIT(x)		(1 << (x))
#define HAS(m, x)	(((m) >> (x)) & 1)
#define SLOT(t)		((t) == 0 -> NONE : (stok[0] == (t) -> 0 : (stok[1] == (t) -> 1 : NONE)))

/*
 * A function of the record and the server alone.  Where the record is another
 * cluster's, all timelines of this one count: with "its epoch + 1" a promotion
 * which happens before the record was ever rewritten would start no epoch.
 * And it jumps, since a dump does not know of the failovers that its cluster
 * had after it, or that its record had not caught up with.
 */
#if !EPOCH_RISES
#define EPOCH		1
#elif EPOCH_COUNTS
#define EPOCH		(rec_ident == ident -> rec_epoch + tli - rec_tli : rec_epoch + JUMP + tli)
#else
#define EPOCH		(rec_ident == ident -> rec_epoch + tli - rec_tli : rec_epoch + JUMP + 1)
#endif
#define JUMP		(EPOCH_JUMPS -> FAILOVERS : 0)
#define TOKEN		((EPOCH - 1) * (DRAWS + 1) + seq)
#define ROOM		(seq < DRAWS)

/* the lease as this session's transaction sees it */
#define EFF			(dirty -> newtok : cur)
#define EFFREL		(dirty -> newrel : rel)
#define INTX		(dirty || hold[me] || rowlock == me || looked != NONE || newttl)

/* another session waits for a row that this one locked: the deadlock detector's victim */
#define VICTIM		(rowlock == me && rowwait)

#define FREE_W		(W == 0 || W == me)
#define FREE_X		(X == 0 || X == me)
#define FREE_S		((S & ~BIT(me)) == 0)

#define LOOKS_FREE	(cur == 0 || rel || SLOT(cur) == NONE || \
					 sclosed[SLOT(cur)] || sleft[SLOT(cur)] == 0)

/* a slot gets token t and l ticks */
#define SET_SLOT(i, t, l)	stok[i] = t; sleft[i] = l; sclosed[i] = 0

#define REFUSED \
	named = (dirty -> named : 0); overtakes = 0; tok = 0

/* the answer of a renewal of t, and what it must not be */
#define RENEWED \
	if \
	:: ok -> \
		SET_SLOT(i, t, span); \
		assert(HAS(granted, t)); \
		assert(!HAS(dead, t)); \
		said = said | BIT(t); \
		if \
		:: t == g_grant && !g_free -> assert(STEPS || g_left > 0); g_left = span \
		:: else \
		fi; \
		if \
		:: span > ttl && t == cur && LONG_IN_PLACE -> ttl = span; newttl = 0 \
		:: span > ttl && !LONG_IN_PLACE -> newttl = span \
		:: else \
		fi \
	:: else -> \
		assert(STEPS || !(t == cur && !rel && g_left > 0)) \
	fi; \
	t = 0; i = 0; ok = 0; span = 0

/* everything that ends with a transaction, however it ends */
#define CLEAR_LOCALS \
	dirty = 0; newtok = 0; newrel = 0; ownrel = 0; named = 0; old = 0; t = 0; tok = 0; \
	i = 0; ok = 0; span = 0; newttl = 0; waiting = 0; overtakes = 0; looked = NONE; \
	newfence = 0; newpresent = 0; carried = 0; hold[me] = 0
#define UNLOCK \
	if :: W == me -> W = 0; g_pend = 0; fresh = 0 :: else fi; \
	if :: X == me -> X = 0 :: else fi; \
	if :: Q == me -> Q = 0 :: else fi; \
	if :: rowlock == me -> rowlock = 0 :: else fi; \
	S = S & ~BIT(me); rowwait = rowwait & ~BIT(me)

inline draw()
{
	d_step {
		seq++;
		tok = TOKEN;
		assert(SETVALS || !HAS(issued, tok));
		issued = issued | BIT(tok);
		if
		:: SEQ_FLUSHED -> seqdisk = seq
		:: else
		fi
	}
}

/* -------------------------------------------------------------- a session */

proctype session(byte me)
{
	bit dirty, newrel;			/* has an undecided version of the lease row, and what is in it */
	byte newtok, newttl;		/* ... token 0: forgotten */
	bit ownrel;					/* ... and released the grant before it itself */
	bit named;					/* granted by the holder's name: needs no expiry */
	byte old;					/* the token taken as expired */
	byte t, tok, span, i;		/* token asked about, token drawn, length of a renewal, slot */
	bit ok, waiting;
	bit overtakes;				/* somebody waited when this acquire began */
	byte looked = NONE;			/* slot of a first look that a rollback undoes */
	byte newfence, carried;		/* of the unbound row */
	bit newpresent;
	byte todo = WORK;

end_work:
	{
	/* the next statement of a transaction, or the first of a new one */
	if
	/* acquire: the look without a lock */
	:: d_step { (LEASE && !LONE && ROOM && !FAILOVERS && (todo || !WORK) && (!TIME || !dirty || !newrel)) ->
			/* by the holder's name, or with no clock in the model */
			named = (dirty && !newrel -> named : 1);
			overtakes = 0 }; goto acquire
	:: d_step { (FAILOVERS && ROOM && !dirty) -> named = 1 }; goto acquire
	:: d_step { (TIME && ROOM && (todo || !WORK) && (!dirty || newrel) && (LOOKS_FREE || dirty)
				 && (dirty || !(NO_OVERTAKING && Q != 0))) ->
			named = 0; overtakes = (Q != 0 && !dirty) }; goto acquire
	:: d_step { (WAIT && ROOM && todo && (!dirty || (newrel && !OWNER_SKIPS_QUEUE)) && Q != me) ->
			named = 0; waiting = 1 }; goto end_queue

	/* hold, or a bound write: the token must be current now */
	:: d_step { (HOLD && EFF > 0 && (!EFFREL || !CHECK_RELEASED) && hold[me] != EFF) ->
			hold[me] = EFF }; goto end_work
	:: d_step { (HOLD == 2 && EFF == 0 && hold[me] == 0) -> hold[me] = NOTOKEN }; goto end_work

	/* a write to the unbound row: update or insert, or delete */
	:: d_step { (ROW == 1 && hold[me] && hold[me] != NOTOKEN && carried != hold[me]) ->
			carried = hold[me] }; goto write
	:: d_step { (ROW == 2 && carried == 0) -> i = 0 }; goto choose

	/* renew: first the committed row */
	:: d_step { (TIME && !LONE && !INTX && cur > 0 && !rel) -> t = cur; span = SHORT }; goto renew
	:: d_step { (LONG && !INTX && cur > 0 && !rel) -> t = cur; span = 2 }; goto renew
	:: d_step { (!RENEW_CURRENT && !INTX && stok[0]) -> t = stok[0]; span = SHORT }; goto renew
	:: d_step { (!RENEW_CURRENT && !INTX && stok[1]) -> t = stok[1]; span = SHORT }; goto renew

	/* by the slot alone */
	:: d_step { (TIME && !LONE && !INTX && sure) -> assert(cur == sure && !rel); t = sure; span = SHORT }; goto renew
	/* a renewal has looked at the record: those to come need not */
	:: d_step { (TIME && !LONE && !INTX && cur > 0 && !rel && sure != cur && SLOT(cur) != NONE) -> t = cur }; goto confirm

	:: d_step { (RELEASE && EFF > 0 && !EFFREL && (todo || !WORK)) -> t = EFF }; goto release
	:: d_step { (FORGET && cur > 0 && !dirty && (!TIME || LOOKS_FREE)) -> i = 0 }; goto forget
	:: d_step { (EVICT && ROOM && (cur > 0 || dirty)) -> i = 0 }; goto evict

	/* SAVEPOINT; acquire; ROLLBACK TO: the slot is overwritten, the row is not */
	:: d_step { (SAVEPOINT && ROOM && dirty && !newrel && newtok != cur) ->
			seq++; seqdisk = seq; tok = TOKEN; issued = issued | BIT(tok);
			i = (SLOT(cur) == 0 && TWO_SLOTS -> 1 : 0);
			SET_SLOT(i, tok, SHORT); sure = 0 }; goto end_work

	:: (IDLE && INTX) -> goto end_idle
	:: (INTX) -> goto commit
	:: (INTX) -> goto abort
	fi;

	/* ---- acquire, with wait: the queue, then asleep until it looks free */
end_queue:
	atomic { Q == 0 -> Q = me };
look:
#if RESET_FIRST
	latch[me] = 0;
#endif
	if
	:: d_step { LOOKS_FREE -> ok = 1 }; goto front
	:: d_step { else -> ok = 0 }
	fi;
#if !RESET_FIRST
	latch[me] = 0;
#endif
sleep:
	asleep[me] = 1;
end_sleep:
	atomic { latch[me] || LOOKS_FREE && cur && !rel -> asleep[me] = 0; latch[me] = 0 };
	goto look;
front:
	/*
	 * The releaser wakes us before its locks go: a conditional W would fail,
	 * and nobody would wake us again.
	 */
	if
	:: d_step { FREE_W -> W = me }; goto decide
	:: d_step { !WAITER_WAITS && !FREE_W -> ok = 0 }; goto sleep
	fi;

	/* ---- acquire: W or refused; free or refused; then X */
acquire:
#if !DRAW_LOCKED
	draw();
#endif
	if
	:: d_step { FREE_W -> W = me }
	:: d_step { ACQUIRE_REFUSES && !FREE_W -> REFUSED }; goto end_work
	fi;
decide:
	/* under W; a first look reads the TTL and the clock before there is a row to lock */
	if
	:: d_step { (TIME && DECIDE_LOCKED && LOOK_WRITTEN && (LOOK_BEFORE_GRANT || !named)
				 && !dirty && cur && !rel && SLOT(cur) == NONE) ->
			fresh = (LOOK_FULL -> ttl : 0) }
	:: else
	fi;
	/* by the slot, under its content lock; expired is final */
	atomic {
		ok = 0;
		i = SLOT(cur);
		if
		:: dirty && !newrel -> ok = named
		:: (!dirty || newrel) && (EFF == 0 || EFFREL) -> ok = 1; old = 0
		:: else ->
			if
			:: !TIME -> ok = 1
			:: TIME && !DECIDE_LOCKED -> ok = 1
			:: TIME && DECIDE_LOCKED && i == NONE ->
				/* first look after a crash: nobody has an undecided grant, either slot will do */
				if
				:: LOOK_WRITTEN && (LOOK_BEFORE_GRANT || !named) ->
					SET_SLOT(1, cur, fresh);
					assert(g_left <= sleft[1]);
					g_left = sleft[1];
					looked = (LOOK_STAYS -> NONE : 1)
				:: else
				fi;
				ok = named || !LOOK_FULL
			:: TIME && DECIDE_LOCKED && i != NONE && named -> ok = 1
			:: TIME && DECIDE_LOCKED && i != NONE && !named && !sclosed[i] && sleft[i] > 0 ->
				assert(STEPS || !g_free);
				ok = 0
			:: else ->
				ok = 1; old = cur;
				sclosed[i] = CLOSE;
				said = said & ~BIT(cur)
			fi
		fi;
		i = 0; fresh = 0;
		if
		:: !ok && !dirty -> W = 0
		:: else
		fi;
		if
		:: !ok -> REFUSED
		:: else
		fi
	};
	if
	:: !ok && waiting -> goto look
	:: !ok && !waiting -> goto end_work
	:: ok
	fi;
	/* who has begun to commit under the grant before is waited for */
	if
	:: d_step { FREE_X && FREE_S -> X = (WRITER_LOCKS_X -> me : X) }
	:: VICTIM -> goto abort
	fi;
#if DRAW_LOCKED
	draw();
#endif
	if
	:: d_step { (!LAST_CHECK || tok > EFF) && (!FLOOR || tok > floor) ->
			assert(named || !overtakes);
			ownrel = ownrel || (dirty && newrel);
			/* the slot that the committed token does not use */
			i = (SLOT(cur) == 0 && TWO_SLOTS -> 1 : 0);
			if
			:: TIME -> SET_SLOT(i, tok, SHORT); g_pend = SHORT; sure = (SURE_GRANTED -> 0 : sure)
			:: else
			fi;
			dirty = 1; newtok = tok; newrel = 0; tok = 0; i = 0; ok = 0;
			waiting = 0; overtakes = 0; won = LONE }
	:: d_step { else -> assert(SETVALS || tok > EFF && tok > floor) }; goto abort		/* issuer_behind */
	fi;
	goto end_work;

	/* ---- renew: in place, under the content lock alone; no transaction */
renew:
	if
	:: d_step { SLOT(t) != NONE || !LOOK_LOCKED ->
			i = SLOT(t);
			if
			:: i != NONE -> ok = !(sclosed[i] || (RENEW_IN_TIME && sleft[i] == 0))
			:: else -> ok = 1; i = 1;
				g_left = (t == g_grant && !g_free -> ttl : g_left)
			fi;
			RENEWED }
	/*
	 * First look after a crash, or what looks like one: since the look at the
	 * row, t may have been superseded, and the slots be later grants'.  So it
	 * waits for W, as long as t is current.
	 */
	:: d_step { SLOT(t) == NONE && LOOK_LOCKED && (cur != t || rel) -> ok = 0; RENEWED }
	:: d_step { SLOT(t) == NONE && LOOK_LOCKED && cur == t && !rel && W == 0 ->
			i = 1; ok = 1;
			assert(g_left <= ttl);
			g_left = ttl;
			span = (span > ttl -> span : ttl);
			RENEWED }
	/* told without a slot: whoever has W looks first, and counts from then */
	:: d_step { !LOOK_WAITS && SLOT(t) == NONE && cur == t && !rel && W != 0 ->
			g_left = (t == g_grant && !g_free -> span : g_left);
			ttl = (span > ttl -> span : ttl);
			t = 0; span = 0 }
	fi;
	goto end_work;

confirm:
	if
	:: d_step { SURE_LOCKED && W == 0 -> W = me }
	:: d_step { SURE_LOCKED && W != 0 -> t = 0 }; goto end_work
	:: d_step { !SURE_LOCKED -> skip }
	fi;
	d_step { ok = (cur == t && !rel) };
	d_step {
		sure = (ok && SLOT(t) != NONE -> t : sure);
		W = (W == me -> 0 : W);
		t = 0; ok = 0
	};
	goto end_work;

	/* ---- release: a writer of the lease row like a grant */
release:
	if
	:: d_step { LOCK_ORDER && FREE_W -> W = me }
	:: d_step { !LOCK_ORDER && FREE_X && FREE_S -> X = me }
	:: VICTIM -> goto abort
	fi;
	if
	:: d_step { LOCK_ORDER && FREE_X && FREE_S -> X = (WRITER_LOCKS_X -> me : X) }
	:: d_step { !LOCK_ORDER && FREE_W -> W = me }
	:: VICTIM -> goto abort
	fi;
	d_step {
		if
		:: (EFF == t || (!RELEASE_TOKEN && EFF > 0)) && !EFFREL ->
			ownrel = ownrel || (EFF == t && newtok == 0);
			newtok = EFF; newrel = 1; dirty = 1;
			sure = (SURE_RELEASED -> 0 : sure);
			rel = (RELEASE_AT_COMMIT -> rel : 1)
		:: else ->
			if
			:: !dirty -> W = 0; X = (X == me -> 0 : X)
			:: else
			fi
		fi;
		t = 0; ok = 0
	};
	goto end_work;

	/* ---- forget: of a lease that nobody holds */
forget:
	if
	:: d_step { FREE_W -> W = me }
	:: VICTIM -> goto abort
	fi;
	if
	:: d_step { FREE_X && FREE_S -> X = me }
	:: VICTIM -> goto abort
	fi;
	d_step {
		i = SLOT(cur);
		if
		:: cur == 0 -> ok = 0
		:: cur != 0 && (rel || !TIME) -> ok = rel
		:: cur != 0 && !rel && TIME && i != NONE && (sclosed[i] || sleft[i] == 0) ->
			ok = 1; old = cur;
			sclosed[i] = sclosed[i] || FORGET_CLOSES;
			said = said & ~BIT(cur)
		:: else -> ok = 0
		fi;
		if
		:: ok -> newtok = 0; newrel = 1; dirty = 1; sure = 0;
			floor = (cur > floor -> cur : floor)
		:: else -> W = 0; X = 0
		fi;
		ok = 0; i = 0
	};
	goto end_work;

	/* ---- evict: terminate, then raise, in place: no rollback takes it back */
evict:
	atomic {
		i = 1;
		do
		:: i > N -> break
		:: i <= N && i != me && (hold[i] || W == i || X == i) -> killed[i] = EVICT_KILLS; i++
		:: else -> i++
		od;
		i = 0
	};
#if EVICT_LOCKED
	do
	:: d_step { FREE_W -> W = me }; break
	:: d_step { EVICT_KILLS && !FREE_W && !killed[W] -> killed[W] = 1 }
	:: VICTIM -> goto abort
	od;
	if
	:: d_step { FREE_X && FREE_S -> X = me }
	:: VICTIM -> goto abort
	fi;
#endif
	draw();
	if
	:: d_step { (!LAST_CHECK || tok > EFF && tok > cur) && (!FLOOR || tok > floor) ->
			assert(tok > g_ever);
			g_ever = tok; g_grant = tok; g_free = 1; g_left = 0; g_record = 1;
			granted = granted | BIT(tok);
			dead = dead | (cur -> BIT(cur) : 0);
			if
			:: EVICT_RAISES && dirty ->
				newtok = tok; newrel = 1;
				cur = (EVICT_COMMITTED -> tok : cur);
				rel = (EVICT_COMMITTED -> 1 : rel)
			:: EVICT_RAISES && !dirty -> cur = tok; rel = 1
			:: else
			fi;
			relvolatile = 0;
			sure = (SURE_EVICTED -> 0 : sure);
			sclosed[0] = sclosed[0] || EVICT_CLOSES;
			sclosed[1] = sclosed[1] || EVICT_CLOSES;
			if
			:: WAIT && Q -> latch[Q] = 1
			:: else
			fi;
			if
			:: !dirty -> W = (W == me -> 0 : W); X = (X == me -> 0 : X)
			:: else
			fi;
			tok = 0; ok = 0 }
	:: d_step { else -> assert(SETVALS || tok > EFF && tok > floor) }; goto abort
	fi;
	goto end_work;

	/* ---- a write to the unbound row, with any token that was ever issued, or none */
choose:
	if
	:: d_step { (carried < 31 && (issued >> (carried + 1))) -> carried++ }; goto choose
	:: d_step { HAS(issued, carried) || carried == 0 -> i = 0 }
	fi;
write:
#if !COMPARE_LOCKED
	atomic { newfence = fence; newpresent = present };
#endif
	/* an insert waits here too, on the unique index */
	rowwait = (rowlock && rowlock != me -> rowwait | BIT(me) : rowwait);
	if
	:: d_step { rowlock == 0 ->
			rowlock = me; rowwait = rowwait & ~BIT(me);
			newfence = (COMPARE_LOCKED -> fence : newfence);
			newpresent = (COMPARE_LOCKED -> present : newpresent) }
	:: rowlock == me
	/* both wait for each other: either may be the victim */
	:: (rowlock && rowlock != me && (W == me || X == me) && S == 0) -> goto abort
	fi;
	d_step {
		ok = !FENCE_COMPARE || carried >= newfence || (!DELETED_KEPT && !newpresent);
		newfence = (ok -> carried : newfence)
	};
	if
	:: d_step { ok -> newpresent = 1; ok = 0 }
	:: d_step { ok && ROW == 2 && newpresent -> newpresent = 0; ok = 0 }
	:: !ok -> goto abort									/* stale_token */
	fi;
	goto end_work;

	/* ---- commit: first the check, XACT_EVENT_PRE_COMMIT */
commit:
	if
	:: (!hold[me] || (hold[me] == NOTOKEN && !BARE_CHECK) || !COMMIT_CHECK) -> goto committing
	:: else
	fi;
#if OTHER && ALL_OR_NONE
	goto end_idle;
#endif
	if
	:: d_step { CHECK_LOCKED && FREE_X -> S = S | BIT(me) }
	:: d_step { !CHECK_LOCKED -> skip }
	:: VICTIM -> goto abort
	fi;
#if OTHER
	/* the same transaction holds a second resource, whose S it will not get */
	goto end_idle;
#endif
	d_step {
		/* the current one, and nobody else released it */
		ok = (hold[me] == NOTOKEN -> (CHECK_OWN -> EFF : cur) == 0
			  : hold[me] == (CHECK_OWN -> EFF : cur)
				&& (!CHECK_RELEASED || !rel || (dirty && (newrel || newtok != cur))))
	};
	if
	:: ok
	:: !ok -> goto abort									/* lease_lost */
	fi;

committing:
	atomic {
		/* a held token: not below any grant, not released by another */
		if
		:: hold[me] && hold[me] != NOTOKEN ->
			assert(hold[me] > g_grant || (hold[me] == g_grant && !g_free));
			assert(!dirty || hold[me] >= newtok)
		:: hold[me] == NOTOKEN -> assert(!g_record || (dirty && newtok == 0))
		:: else
		fi;
		if
		:: rowlock == me ->
			assert(carried >= g_row);
			g_row = carried;
			fence = newfence; present = newpresent
		:: else
		fi;
		if
		:: dirty && !newrel ->
			assert(newtok > g_ever);
			assert(!HAS(granted, newtok));
			/* never while an unexpired promise stands; never again a yes to the old one */
			assert(!TIME || STEPS || named || ownrel || g_free || g_left == 0);
			assert(!old || !HAS(said, old));
			dead = dead | (old -> BIT(old) : 0);
			granted = granted | BIT(newtok);
			g_ever = newtok; g_grant = newtok; g_free = 0; g_left = g_pend; g_pend = 0; g_record = 1
		:: dirty && newrel && newtok == 0 ->
			assert(!TIME || STEPS || g_free || g_left == 0);
			assert(!old || !HAS(said, old));
			dead = dead | (old -> BIT(old) : 0);
			g_free = 1; g_left = 0; g_record = 0
		:: dirty && newrel && newtok ->
			/* a grant released before it committed never was one to anybody else */
			if
			:: newtok != g_grant ->
				assert(newtok > g_ever);
				granted = granted | BIT(newtok);
				g_ever = newtok; g_grant = newtok; g_record = 1; g_free = 1; g_left = 0; g_pend = 0
			:: newtok == g_grant && ownrel -> g_free = 1; g_left = 0
			:: else
			fi
		:: else
		fi;
		/* a release alone is not flushed; anything else flushes it as well */
		relvolatile = (dirty && newrel && newtok == cur && newtok && !hold[me] && rowlock != me
					   -> 1 : (dirty || hold[me] || rowlock == me -> 0 : relvolatile));
		seqdisk = (relvolatile -> seqdisk : seq);
		if
		:: dirty ->
			ttl = (newtok != cur -> SHORT : ttl);
			cur = newtok; rel = newrel
		:: !dirty && newttl -> ttl = newttl
		:: else
		fi
	};
#if TIME
	/* visible, and none may change it yet */
	d_step {
		if
		:: dirty && !newrel && newtok -> sure = newtok
		:: else
		fi
	};
#endif
#if WAIT
	/* visible; then the waiter is woken; then the locks go */
	d_step {
		if
		:: Q && Q != me -> latch[Q] = 1
		:: else
		fi
	};
#endif
	d_step {
		UNLOCK;
		CLEAR_LOCALS;
		todo = (todo -> todo - 1 : 0)
	};
	goto end_work;

end_idle:
	false;

abort:
	atomic {
		if
		:: looked != NONE -> stok[looked] = 0; sleft[looked] = 0
		:: else
		fi;
		UNLOCK;
		CLEAR_LOCALS;
		todo = (todo -> todo - 1 : 0)
	};
	goto end_work

	} unless {
		/* terminated, or the server is gone */
		d_step {
			killed[me] ->
			UNLOCK;
			CLEAR_LOCALS;
			asleep[me] = 0; latch[me] = 0;
			killed[me] = 0
		}
	};
	goto end_work
}

/* ------------------------------------------------------------- the clock */

#if TIME
#define TICK(x)		x = (x -> x - 1 : 0)

active proctype clock()
{
end:
	do
	:: d_step { (LONE || (!WAIT && (sleft[0] || sleft[1] || fresh || g_left || g_pend))) ->
			TICK(sleft[0]); TICK(sleft[1]); TICK(fresh); TICK(g_left); TICK(g_pend) }
#if STEPS
	/* set back: a deadline that had passed has not passed any more */
	:: d_step { (stok[0] && sleft[0] < TTL || stok[1] && sleft[1] < TTL) ->
			sleft[0] = (stok[0] && sleft[0] < TTL -> sleft[0] + 1 : sleft[0]);
			sleft[1] = (stok[1] && sleft[1] < TTL -> sleft[1] + 1 : sleft[1]) }
#endif
	od
}
#endif

/* ------------------------------------------- what befalls the whole server */

#define EVERYBODY_OUT \
	W = 0; X = 0; S = 0; Q = 0; rowlock = 0; rowwait = 0; g_pend = 0; fresh = 0; \
	i = 1; \
	do \
	:: i <= N -> killed[i] = 1; hold[i] = 0; i++ \
	:: else -> break \
	od; \
	i = 0; \
	sure = 0; stok[0] = 0; stok[1] = 0; sleft[0] = 0; sleft[1] = 0; sclosed[0] = 0; sclosed[1] = 0

#if CRASHES
/*
 * The unlogged deadlines are emptied.  The client of a killed session knows
 * its token still and goes on using it: sessions here use any token.
 */
active proctype crash()
{
	byte left = CRASHES;
	byte i;

end:
	do
	:: d_step { left > 0 ->
			left--;
			EVERYBODY_OUT;
			seq = seqdisk;
			relvolatile = 0 }
	:: d_step { left > 0 && relvolatile ->	/* a release not flushed comes back */
			left--;
			EVERYBODY_OUT;
			seq = seqdisk;
			rel = 0; g_free = 0; g_left = 0; relvolatile = 0 }
	od
}
#endif

#if FAILOVERS || RESTORES
#define SHIP \
	z_cur = cur; z_rel = rel; z_seq = seq; z_floor = floor; z_fence = fence; z_present = present; \
	z_rec_tli = rec_tli; z_rec_epoch = rec_epoch; z_rec_ident = rec_ident; \
	z_g_grant = g_grant; z_g_row = g_row; z_g_free = g_free; z_g_record = g_record
#define TAKE \
	cur = z_cur; rel = z_rel; seq = z_seq; seqdisk = seq; floor = z_floor; fence = z_fence; \
	present = z_present; rec_tli = z_rec_tli; rec_epoch = z_rec_epoch; rec_ident = z_rec_ident; \
	g_grant = z_g_grant; g_row = z_g_row; g_free = z_g_free; g_record = z_g_record; g_left = 0; \
	relvolatile = 0

/*
 * A standby that has some earlier state, promoted in the end.  What was
 * granted since is lost, and the history that the properties look at is the
 * promoted one; the tokens which were seen are not forgotten (g_ever, granted,
 * issued).  The next standby follows the promoted server.
 */
active proctype failover()
{
	byte left = FAILOVERS, restores = RESTORES;
	byte i;

end:
	do
	:: d_step { (left || restores) -> SHIP }
	:: d_step { left -> left--; EVERYBODY_OUT; TAKE; tli++; z_seq = seq }
	/* a dump into a new cluster, whose timelines begin anew */
	:: d_step { restores -> restores--; EVERYBODY_OUT; TAKE; tli = 1; ident = 1; SHIP }
	/* the record catches up, whenever somebody gets to it */
	:: d_step { (rec_ident != ident || rec_tli != tli) ->
			i = EPOCH; rec_epoch = i; rec_tli = tli; rec_ident = ident; i = 0 }
	od
}
#endif

#if SETVALS
active proctype meddler()
{
end:
	d_step { seq > 0 -> seq = 0; seqdisk = 0 }
}
#endif

#if WAIT
/* nothing can move, somebody sleeps, and the lease is there to be had */
active proctype watch()
{
	byte i;

end:
	timeout ->
	for (i : 1 .. N) {
		assert(W == 0 && !(asleep[i] && LOOKS_FREE))
	}
}
#endif

init
{
	byte i;

	atomic {
		if
		:: LONE -> cur = 1; rel = 0; seq = 1; seqdisk = 1; stok[0] = 1; sleft[0] = TTL;
			issued = 2; granted = 2; g_ever = 1; g_grant = 1; g_free = 0; g_record = 1; g_left = TTL
		:: !LONE && LEASE
		:: !LEASE -> issued = BIT(DRAWS + 1) - 2
		fi;
		i = 1;
		do
		:: i <= N -> run session(i); i++
		:: else -> break
		od
	}
}

#if LONE
ltl served { <> won }
#endif
