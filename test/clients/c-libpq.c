/* libpq: every parameter once as text and once in binary, typed and untyped. */
#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 101
#define WIDE INT32_MAX
#define BIG INT64_C(9007199254740993)
#define STALE "The write carries token 101, but token 9007199254740993 has been committed to the row."
#define UPDATE "UPDATE job SET v = 'x', fence = $1 WHERE id = $2 AND fence <= $1"

enum { UNTYPED = 0, INT8 = 20, INT2 = 21, INT4 = 23, INT8ARRAY = 1016 };

typedef struct Param
{
	Oid			type;
	int			length;			/* 0: text */
	char		data[64];		/* "" as text: NULL */
} Param;

static PGconn *own, *pool;
static char why[1024];
static bool failed;

static void
check(bool good, const char *format, ...)
{
	va_list		args;

	if (good || failed)
		return;
	failed = true;
	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
}

static Param
text(const char *value)
{
	Param		param = {0};

	snprintf(param.data, sizeof param.data, "%s", value);
	return param;
}

static Param
number(int64_t value)
{
	Param		param = {0};

	snprintf(param.data, sizeof param.data, "%" PRId64, value);
	return param;
}

/* A binary integer of 2, 4 or 8 bytes. */
static Param
binary(Oid type, int length, int64_t value)
{
	Param		param = {.type = type, .length = length};
	uint64_t	bytes = htobe64(value);

	memcpy(param.data, (char *) &bytes + 8 - length, length);
	return param;
}

/* A binary bigint[] of two. */
static Param
array(int64_t first, int64_t second)
{
	Param		param = {.type = INT8ARRAY, .length = 44};
	uint32_t	header[] = {htonl(1), 0, htonl(INT8), htonl(2), htonl(1)};
	int64_t		numbers[] = {first, second};

	memcpy(param.data, header, 20);
	for (int i = 0; i < 2; i++)
	{
		uint32_t	length = htonl(8);
		uint64_t	bytes = htobe64(numbers[i]);

		memcpy(param.data + 20 + 12 * i, &length, 4);
		memcpy(param.data + 24 + 12 * i, &bytes, 8);
	}
	return param;
}

/* Runs a statement with up to three parameters; its result lives until the fourth next. */
static PGresult *
query(PGconn *on, const char *sql, int n, const Param *params, int format)
{
	static PGresult *results[4];
	static int	next;
	Oid			types[3];
	const char *values[3];
	int			lengths[3], formats[3];

	for (int i = 0; i < n; i++)
	{
		types[i] = params[i].type;
		values[i] = params[i].length == 0 && !*params[i].data ? NULL : params[i].data;
		lengths[i] = params[i].length;
		formats[i] = params[i].length > 0;
	}
	next = (next + 1) % 4;
	PQclear(results[next]);
	return results[next] = PQexecParams(on, sql, n, types, values, lengths, formats, format);
}

#define QUERY(on, sql, ...) \
	query(on, sql, sizeof((Param[]) {__VA_ARGS__}) / sizeof(Param), (Param[]) {__VA_ARGS__}, 0)
#define DO(on, sql) query(on, sql, 0, NULL, 0)

static bool
wrote(PGresult *result)
{
	check(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQresultErrorMessage(result));
	return strcmp(PQcmdTuples(result), "1") == 0;
}

static char *
value(PGresult *result)
{
	check(PQntuples(result) == 1, "%s", PQresultErrorMessage(result));
	return PQntuples(result) == 1 && !PQgetisnull(result, 0, 0) ? PQgetvalue(result, 0, 0) : "";
}

static void
fails(PGresult *result, const char *sqlstate)
{
	const char *got = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	check(got && strcmp(got, sqlstate) == 0, "%s instead of %s", got ? got : "no error", sqlstate);
}

static void
fence(int id, int64_t wanted)
{
	char	   *got = value(QUERY(own, "SELECT fence::text FROM job WHERE id = $1", number(id)));

	check(strcmp(got, number(wanted).data) == 0, "fence %s, wanted %" PRId64, got, wanted);
}

/* The conditional UPDATE with one token in several forms. */
static void
update(int id, int64_t token, int n, const Param *forms)
{
	for (int i = 0; i < n; i++)
	{
		check(wrote(QUERY(own, UPDATE, forms[i], number(id))), "form %d: no row", i);
		fence(id, token);
	}
}

#define FORMS(...) sizeof((Param[]) {__VA_ARGS__}) / sizeof(Param), (Param[]) {__VA_ARGS__}

/* COMMIT, which must say so. */
static void
commit(void)
{
	check(strcmp(PQcmdStatus(DO(pool, "COMMIT")), "COMMIT") == 0, "COMMIT: %s", PQerrorMessage(pool));
}

static void
begin_present(Param token)
{
	DO(pool, "BEGIN");
	value(QUERY(pool, "SELECT fencing.present($1)", token));
}

static PGresult *
write_back(PGconn *on, const char *table, PGresult *row)
{
	char		sql[128];

	snprintf(sql, sizeof sql, "UPDATE %s SET v = $1, fence = $2 WHERE id = $3", table);
	return QUERY(on, sql, text(PQgetvalue(row, 0, 1)), text(PQgetvalue(row, 0, 2)), text(PQgetvalue(row, 0, 0)));
}

static void
case_array(void)
{
	const char *sql = "SELECT count(*) FROM job WHERE id = 10 AND fence = ANY($1)";

	check(*value(QUERY(own, sql, array(SMALL, BIG))) == '1', "binary");
	check(*value(QUERY(own, sql, text("{101,9007199254740993}"))) == '1', "text");
	check(*value(QUERY(own, sql, array(SMALL, WIDE))) == '0', "without the fence");
}

static void
case_assignment(void)
{
	const char *sql = "UPDATE job SET fence = $1 WHERE id = 5";

	check(wrote(QUERY(own, sql, binary(UNTYPED, 8, BIG))), "untyped binary");
	check(wrote(QUERY(own, sql, binary(INT8, 8, BIG))), "binary bigint");
	check(wrote(QUERY(own, sql, number(BIG))), "text");
	fence(5, BIG);
}

static void
case_read(const char *sql)
{
	uint64_t	bytes;

	check(strcmp(value(DO(own, sql)), "9007199254740993") == 0, "text");
	memcpy(&bytes, value(query(own, sql, 0, NULL, 1)), 8);
	check(be64toh(bytes) == BIG, "binary");
}

static void
case_stale(void)
{
	PGresult   *result = DO(own, "UPDATE job SET fence = 101 WHERE id = 10");
	const int	fields[] = {PG_DIAG_MESSAGE_DETAIL, PG_DIAG_SCHEMA_NAME, PG_DIAG_TABLE_NAME, PG_DIAG_COLUMN_NAME};
	const char *wanted[] = {STALE, "public", "job", "fence"};
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

	fails(result, "LF001");
	for (int i = 0; i < 4; i++)
	{
		const char *got = PQresultErrorField(result, fields[i]);

		check(got && strcmp(got, wanted[i]) == 0, "field %s", wanted[i]);
	}
	check(hint && strncmp(hint, "Another holder", 14) == 0, "hint");
}

static void
case_refused(void)
{
	PGresult   *grant = DO(own, "SELECT token, granted FROM fencing.acquire('taken', '1 min', 'me')");

	check(PQgetisnull(grant, 0, 0) && *PQgetvalue(grant, 0, 1) == 'f', "granted");
	check(!wrote(QUERY(own, UPDATE, text(""), number(10))), "a row");
	fails(QUERY(own, "SELECT fencing.present($1)", text("")), "22004");
}

static void
case_present(void)
{
	begin_present(binary(INT8, 8, BIG));
	wrote(DO(pool, "UPDATE job SET v = 'x' WHERE id = 6"));
	commit();
	fence(6, BIG);
}

static void
case_lost(void)
{
	const char *acquire = "SELECT token FROM fencing.acquire('work', '1 min', 'me')";
	Param		token = text(value(DO(own, acquire)));

	check(strtoll(token.data, NULL, 10) > BIG, "token %s", token.data);
	DO(pool, "BEGIN");
	check(strcmp(value(QUERY(pool, "SELECT fencing.hold('work', $1)", token)), token.data) == 0, "token");
	wrote(DO(pool, "UPDATE job SET v = 'x' WHERE id = 7"));
	value(DO(own, acquire));
	fails(DO(pool, "COMMIT"), "LF004");
	check(PQtransactionStatus(pool) == PQTRANS_IDLE, "still in the transaction");
	fence(7, 0);
}

static void
case_leak(void)
{
	begin_present(number(BIG));
	commit();
	begin_present(number(BIG));
	fails(DO(pool, "SELECT 1 / 0"), "22012");
	DO(pool, "COMMIT");
	for (int i = 0; i < 2; i++)
		check(*value(DO(pool, "SELECT fencing.presented()")) == '\0', "presented");
}

static void
case_whole_current(void)
{
	check(wrote(write_back(own, "job", DO(own, "SELECT * FROM job WHERE id = 11"))), "no row");
}

static void
case_whole_stale(void)
{
	PGresult   *row = DO(own, "SELECT * FROM job WHERE id = 12");

	check(wrote(QUERY(own, UPDATE, number(BIG + 1), number(12))), "no row");
	fails(write_back(own, "job", row), "LF001");
}

static void
case_whole_presented(void)
{
	begin_present(number(SMALL));
	fails(write_back(pool, "job", DO(pool, "SELECT * FROM job WHERE id = 13")), "LF001");
	DO(pool, "ROLLBACK");
}

static void
case_whole_required(void)
{
	fails(write_back(own, "strict_job", DO(own, "SELECT * FROM strict_job")), "LF002");
	begin_present(number(BIG + 1));
	check(wrote(write_back(pool, "strict_job", DO(pool, "SELECT * FROM strict_job"))), "no row");
	commit();
	check(strcmp(value(DO(own, "SELECT fence FROM strict_job")), "9007199254740994") == 0, "fence");
}

#define TEST(name, ...) \
	(failed = false, __VA_ARGS__, failed ? printf("not ok %s: %s\n", name, why) : printf("ok %s\n", name))

int
main(void)
{
	own = PQconnectdb("");
	pool = PQconnectdb("");
	puts("is integer: smallint, integer, bigint or untyped, text or binary");
	puts("is string: untyped");
	puts("is fence: text, or 8 bytes as a bigint's");
	puts("is bigint: text, or 8 bytes");
	puts("is commit: `PGRES_FATAL_ERROR`");
	puts("is error: nothing");
	puts("is pooler: nothing, as long as it does not `PQprepare`");
	TEST("small integer", update(1, SMALL, FORMS(binary(INT2, 2, SMALL), binary(INT4, 4, SMALL),
												 binary(INT8, 8, SMALL), number(SMALL))));
	TEST("32-bit integer", update(2, WIDE, FORMS(binary(INT4, 4, WIDE), binary(INT8, 8, WIDE), number(WIDE))));
	TEST("64-bit integer", update(3, BIG, FORMS(binary(INT8, 8, BIG), binary(UNTYPED, 8, BIG), number(BIG))));
	TEST("string", update(4, BIG, FORMS(text("9007199254740993"))));
	TEST("array", case_array());
	TEST("assignment alone", case_assignment());
	TEST("lower token", check(!wrote(QUERY(own, UPDATE, binary(INT4, 4, SMALL), number(10))), "a row"));
	TEST("read", case_read("SELECT fence FROM job WHERE id = 10"));
	TEST("read as bigint", case_read("SELECT fence::bigint FROM job WHERE id = 10"));
	TEST("stale token", case_stale());
	TEST("refused grant", case_refused());
	TEST("present", case_present());
	TEST("lost at commit", case_lost());
	TEST("no leak", case_leak());
	TEST("whole row, current", case_whole_current());
	TEST("whole row, stale", case_whole_stale());
	TEST("whole row, presented", case_whole_presented());
	TEST("whole row, required", case_whole_required());
	PQfinish(own);
	PQfinish(pool);
	return 0;
}
