/*
 * worker CONNINFO LOG NUMBER LIFE SEED RESOURCES
 *
 * A client that takes leases and writes under them.  Between any two steps it
 * may stop itself, until somebody continues it; and it may be killed, cut off
 * or lose its server.  What it is told it writes to the log at once, so that
 * the log survives it.  Ends on SIGTERM.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

#define OK				"00000"
#define LOST			"lost" /* no answer: it may have happened or not */
#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

static int log_fd;
static int number; /* of this worker; a restarted one has the same */
static int resources;
static PGconn *conn;
static PGresult *result;
static int durable; /* do commits wait for their flush? */
static volatile sig_atomic_t ending;

static long long op; /* number of this call */

/* The lease we believe to have. */
static int resource;
static long long token; /* 0: none */
static long long deadline;
static int hot; /* writes on and on, and looks at no clock */

/* Every statement that has parameters has all of these, $1 to $7. */
enum
{
	OP,
	TOKEN,
	ROW,
	RESOURCE,
	TTL,
	HOLDER,
	WAIT,
	N_PARAMS
};
static const Oid types[N_PARAMS] = {20, 20, 23, 25, 1186, 25, 1186};
static char values[N_PARAMS][32];
static const char *params[N_PARAMS];

static void
set(int param, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(values[param], sizeof(values[param]), format, arguments);
	va_end(arguments);
	params[param] = values[param];
}

static int
below(int n)
{
	return (int) (random() % n);
}

static int
one_in(int n)
{
	return below(n) == 0;
}

static long long
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* A line of the log, as client.sql has it, in one write. */
static void
note(const char *kind, const char *target, long long its_token,
	 long long its_deadline, long long sent, const char *state)
{
	char line[512];
	int length;

	length = snprintf(line, sizeof(line),
					  "%lld\t%s\t%s\t%lld\t%lld\t%lld\t%lld\t%lld\t%s\t%d\n",
					  op, kind, target, its_token, its_deadline, sent,
					  now(CLOCK_MONOTONIC), now(CLOCK_REALTIME), state, durable);
	if (write(log_fd, line, length) != length)
		exit(2);
}

/* Between two steps: stops here, sometimes. */
static void
step(void)
{
	if (!one_in(hot ? 1000 : 80))
		return;
	note("pause", "", token, 0, now(CLOCK_MONOTONIC),
		 PQtransactionStatus(conn) == PQTRANS_INTRANS ? "open" : "idle");
	raise(SIGSTOP);
}

static int
is(const char *state, const char *other)
{
	return strcmp(state, other) == 0;
}

/* Runs a statement; returns its SQLSTATE, or LOST. */
static const char *
run(const char *sql)
{
	static char sqlstate[8];
	const char *field;

	PQclear(result);
	result = strchr(sql, '$') == NULL ? PQexec(conn, sql)
									  : PQexecParams(conn, sql, N_PARAMS, types, params, NULL, NULL, 0);
	switch (PQresultStatus(result))
	{
		case PGRES_TUPLES_OK:
			return OK;
		case PGRES_COMMAND_OK:
			/* A COMMIT that rolled back. */
			return is(PQcmdStatus(result), "ROLLBACK") && is(sql, "COMMIT") ? "40000" : OK;
		default:
			field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
			if (field == NULL || PQstatus(conn) == CONNECTION_BAD)
				return LOST;
			snprintf(sqlstate, sizeof(sqlstate), "%s", field);
			return sqlstate;
	}
}

static void
roll_back(void)
{
	if (PQtransactionStatus(conn) != PQTRANS_IDLE && PQstatus(conn) == CONNECTION_OK)
		(void) run("ROLLBACK");
}

static long long
column(int n)
{
	return PQntuples(result) == 0 ? 0 : atoll(PQgetvalue(result, 0, n));
}

static int
connect_to(const char *conninfo)
{
	PQfinish(conn);
	conn = PQconnectdb(conninfo);
	durable = !one_in(3);
	return PQstatus(conn) == CONNECTION_OK &&
		is(run("SET search_path = torture"), OK) &&
		is(run("SET application_name = 'torture'"), OK) &&
		(durable || is(run("SET synchronous_commit = off"), OK));
}

static void
set_resource(int its_number)
{
	resource = its_number;
	set(RESOURCE, "%d", resource);
}

/*
 * By itself, or in a transaction that stays open for a while, perhaps with a
 * first write, and is perhaps rolled back.
 */
static void
acquire(void)
{
	int block = one_in(6);
	int writes = block && one_in(2);
	long long sent = now(CLOCK_MONOTONIC);
	long long new_token = 0;
	long long new_deadline = 0;
	const char *state = OK;

	if (token == 0)
		set_resource(1 + below(resources));
	set(ROW, "%d", 2 * resource + below(2));
	set(TTL, "%d ms", 50 + below(250));
	params[HOLDER] = params[WAIT] = NULL;
	if (one_in(3))
		set(HOLDER, "worker %d", number);
	if (one_in(2))
		set(WAIT, "%d ms", below(300));

	if (block)
		state = run("BEGIN");
	if (is(state, OK))
		state = run("SELECT * FROM acquire($1, $4, $5, $6, $7)");
	if (is(state, OK))
	{
		new_token = column(0);
		new_deadline = column(1);
		if (new_token == 0)
			state = "refused";
		else
			note("draw", values[RESOURCE], new_token, 0, sent, OK);
	}
	step();
	if (is(state, OK) && writes)
	{
		set(TOKEN, "%lld", new_token);
		state = run("UPDATE bound SET op = $1, token = $2, fence = $2 WHERE id = $3");
		step();
	}
	if (is(state, OK) && block)
		state = one_in(4) ? "undone" : run("COMMIT");
	note("acquire", values[RESOURCE], new_token, new_deadline, sent, state);
	if (writes && new_token != 0)
		note("write", "bound", new_token, 0, sent, state);
	roll_back();
	if (is(state, OK))
	{
		token = new_token;
		deadline = new_deadline;
		hot = one_in(4);
	}
	else if (token == 0)
		usleep(below(20000));
}

static void
renew(void)
{
	long long sent = now(CLOCK_MONOTONIC);
	const char *state;

	if (one_in(3))
		return;			/* dropped */
	set(TTL, "400 ms"); /* longer than any other: never cuts a promise */
	state = run(one_in(4)
					? "SELECT us(fencing.renew($4, $2, $5))"
					: "SELECT us(fencing.renew($4, $2))");
	if (is(state, OK))
		deadline = column(0);
	note("renew", values[RESOURCE], token, deadline, sent, state);
	if (is(state, "LF004"))
		token = 0;
}

static void
begin_call(void)
{
	op++;
	set(OP, "%lld", op);
	set(TOKEN, "%lld", token);
}

/* First of all after a crash, when others look at the lease for the first time. */
static void
renew_again(void)
{
	begin_call();
	renew();
	if (one_in(2))
		token = 0; /* given up without a word */
}

static void
release(void)
{
	long long sent = now(CLOCK_MONOTONIC);
	const char *state;

	note("releasing", values[RESOURCE], token, 0, sent, "");
	state = run(one_in(2)
					? "SELECT release($1, $4, $2)"
					: "SELECT fencing.release($4, $2)");
	note("release", values[RESOURCE], token, 0, sent, state);
	if (!one_in(10))
		token = 0; /* else go on as if we had it */
}

#define UPDATE(table)		"UPDATE " table " SET op = $1, token = $2 WHERE id = $3"
#define UPDATE_FENCE(table) "UPDATE " table " SET op = $1, token = $2, fence = $2 WHERE id = $3"
#define INSERT(table)		"INSERT INTO " table " (id, resource, op, token, fence) VALUES ($3, $4, $1, $2, $2)"
#define UPSERT(table)		INSERT(table) " ON CONFLICT (id) DO UPDATE SET op = excluded.op, token = excluded.token, fence = excluded.fence"
#define PRESENT				"SELECT fencing.present($2)"
#define HOLD				"SELECT fencing.hold($4, $2)"
#define LINGER				"SELECT pg_sleep(0.005)"
#define NAME_IT				"SELECT set_config('torture.op', $1::text, true), set_config('torture.token', $2::text, true)"

/* Table and statements of each way to write. */
static const char *const scripts[][8] = {
	{"unbound", UPDATE_FENCE("unbound")},
	{"unbound", UPSERT("unbound")},
	{"unbound", "BEGIN", PRESENT, UPDATE("unbound"), "COMMIT"},
	{"unbound", "BEGIN", UPDATE("unbound") " AND fence <= fencing.present($2)", "COMMIT"},
	{"remembered", UPSERT("remembered")},
	{"remembered", INSERT("remembered")},
	{"remembered", "BEGIN", INSERT("remembered"), "COMMIT"},
	{"remembered", "BEGIN", PRESENT, NAME_IT, "DELETE FROM remembered WHERE id = $3", "COMMIT"},
	{"remembered", "BEGIN", PRESENT, NAME_IT, "DELETE FROM remembered WHERE id = $3", LINGER, "COMMIT"},
	{"bound", UPDATE_FENCE("bound")},
	{"bound", UPSERT("bound")},
	{"bound", "BEGIN", PRESENT, UPDATE("bound"), LINGER, "COMMIT"},
	{"bound", "BEGIN", HOLD, UPDATE("bound"), "COMMIT"},
	{"held", "BEGIN", HOLD, UPDATE("held"), "COMMIT"},
	{"held", "BEGIN", "SAVEPOINT a", HOLD, "RELEASE a", UPDATE("held"), "COMMIT"},
	{"held", "BEGIN", UPDATE("held"), HOLD, "COMMIT"},
	{"control", UPDATE("control")},
	{"control", "BEGIN", UPDATE("control"), "COMMIT"},
};

/* Checks its lease, as far as a client can, and writes. */
static void
write_row(void)
{
	const char *const *script = scripts[below(lengthof(scripts))];
	const char *table = *script;
	const char *begin = one_in(2) ? "BEGIN"
		: one_in(2)				  ? "BEGIN ISOLATION LEVEL REPEATABLE READ"
								  : "BEGIN ISOLATION LEVEL SERIALIZABLE";
	long long sent = now(CLOCK_MONOTONIC);
	const char *state = OK;
	int rows = 0;

	if (now(CLOCK_REALTIME) > deadline && !hot && one_in(4))
	{
		token = 0;
		return;
	}
	set(ROW, "%d", 2 * resource + below(2));
	while (is(state, OK) && *++script)
	{
		step();
		state = run(is(*script, "BEGIN") ? begin : *script);
		if (strncmp(*script, "SELECT", 6) != 0)
			rows += atoi(PQcmdTuples(result));
	}
	note("write", table, token, 0, sent, is(state, OK) && rows == 0 ? "no row" : state);
	roll_back();
	if (strncmp(state, "LF", 2) == 0 && one_in(4))
		token = 0; /* else stubborn */
}

/* Many at a time: a crash right after one must not bring it back. */
static void
issue_tokens(void)
{
	for (int n = below(60); n > 0; n--)
	{
		long long sent = now(CLOCK_MONOTONIC);

		if (!is(run("SELECT fencing.issue_token()"), OK))
			return;
		note("draw", "", column(0), 0, sent, OK);
		op++;
	}
}

#define OTHER_BACKEND(act) \
	"SELECT " act "(pid) FROM pg_stat_activity WHERE application_name = 'torture'" \
	" AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"

/* What administrators and maintenance do, to any resource. */
static void
administer(void)
{
	static const char *const acts[][2] = {
		{"evict", "SELECT evict($1, $4)"},
		{"evict", "SELECT evict($1, $4)"},
		{"forget", "SELECT forget($1, $4)"},
		{"terminate", OTHER_BACKEND("pg_terminate_backend")},
		{"terminate", OTHER_BACKEND("pg_terminate_backend")},
		{"cancel", OTHER_BACKEND("pg_cancel_backend")},
		{"cancel", OTHER_BACKEND("pg_cancel_backend")},
		{"maintain", "CHECKPOINT"},
		{"maintain", "VACUUM fencing.lease, fencing.deadline, fencing.deleted"},
		{"maintain", "VACUUM (FREEZE) fencing.lease, fencing.deadline"},
		{"maintain", "VACUUM (FULL) fencing.deadline"},
		{"maintain", "VACUUM (FULL) fencing.lease"},
		{"maintain", "REINDEX TABLE fencing.lease"},
		{"maintain", "SELECT * FROM fencing.leases"},
	};
	const char *const *act = acts[below(lengthof(acts))];
	int ours = resource;
	long long sent;
	const char *state = OK;

	set_resource(1 + below(resources));
	if (is(*act, "evict"))
		state = run("INSERT INTO event (kind, resource, at, op) VALUES ('evicting', $4, us(clock_timestamp()), $1)");
	sent = now(CLOCK_MONOTONIC);
	if (is(state, OK))
		state = run(act[1]);
	if (is(*act, "evict") && is(state, OK) && column(0) != 0)
		note("draw", values[RESOURCE], column(0), 0, sent, OK);
	note(*act, values[RESOURCE], 0, 0, sent, state);
	set_resource(ours);
}

static void
act(void)
{
	begin_call();
	if (one_in(200))
		administer();
	else if (one_in(100))
		issue_tokens();
	else if (token == 0)
		acquire();
	else if (hot)
		write_row();
	else if (one_in(40))
		acquire();
	else if (one_in(6))
		renew();
	else if (one_in(12))
		release();
	else if (one_in(30))
		token = 0; /* given up without a word */
	else
		write_row();
}

static void
end(int signal)
{
	ending = 1;
}

int
main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESTART};

	if (argc != 7 || (log_fd = open(argv[2], O_WRONLY | O_APPEND | O_CREAT, 0644)) < 0)
		return 2;
	sigaction(SIGTERM, &action, NULL);
	number = atoi(argv[3]);
	op = atoll(argv[4]) * 1000000;
	srandom(atoi(argv[5]) + atoi(argv[4]));
	resources = atoi(argv[6]);
	set_resource(1);

	while (!ending)
	{
		if (conn && PQstatus(conn) == CONNECTION_OK)
			act();
		else if (!connect_to(argv[1]))
			usleep(20000);
		else if (token != 0)
			renew_again();
		step();
	}
	PQfinish(conn);
	return 0;
}
