/*-------------------------------------------------------------------------
 *
 * fence.c
 *		The type fencing.fence: parse, print, send, receive, cast.
 *
 * A fence is a bigint that is never negative.  It is binary-coercible to
 * bigint and borrows all operators from it, so that only the ways in need
 * code: each of them refuses what is not in 0 .. 9223372036854775807.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "compat.h"
#include "fence.h"

/*
 * fence_parse
 *		Reads a fence from text: decimal, or hexadecimal after 0x, as
 *		ZooKeeper prints its zxids; spaces around it do not count.
 *
 * Knows nothing of the server, so that it can be read (and fuzzed) alone.
 */
FenceParse
fence_parse(const char *string, int64 *fence)
{
	const char *p = string;
	uint64 value = 0;
	uint64 base = 10;
	bool negative = false;
	bool overflow = false;
	int digits = 0;

	while (isspace((unsigned char) *p))
		p++;
	if (*p == '+' || *p == '-')
		negative = (*p++ == '-');
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
	{
		base = 16;
		p += 2;
	}
	for (; isxdigit((unsigned char) *p); p++, digits++)
	{
		uint64 digit;

		if (isdigit((unsigned char) *p))
			digit = *p - '0';
		else if (base == 16)
			digit = tolower((unsigned char) *p) - 'a' + 10;
		else
			break;
		if (value > ((uint64) FENCE_MAX - digit) / base)
			overflow = true;
		else
			value = value * base + digit;
	}
	while (isspace((unsigned char) *p))
		p++;

	if (digits == 0 || *p != '\0')
		return FENCE_NO_NUMBER;
	if (overflow || (negative && value != 0))
		return FENCE_OUT_OF_RANGE;
	*fence = (int64) value;
	return FENCE_PARSED;
}

#define FENCE_RANGE_DETAIL \
	errdetail("A fence is a number from 0 to 9223372036854775807.")

PG_FUNCTION_INFO_V1(fence_in);

Datum
fence_in(PG_FUNCTION_ARGS)
{
	char *string = PG_GETARG_CSTRING(0);
	int64 fence = 0;

	switch (fence_parse(string, &fence))
	{
		case FENCE_PARSED:
			break;
		case FENCE_NO_NUMBER:
			ereturn(fcinfo->context, (Datum) 0,
					(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					 errmsg("invalid input syntax for type %s: \"%s\"",
							"fencing.fence", string),
					 errdetail("A fence is written in decimal, or in hexadecimal after 0x.")));
		case FENCE_OUT_OF_RANGE:
			ereturn(fcinfo->context, (Datum) 0,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("value \"%s\" is out of range for type %s",
							string, "fencing.fence"),
					 FENCE_RANGE_DETAIL));
	}
	PG_RETURN_INT64(fence);
}

PG_FUNCTION_INFO_V1(fence_out);

Datum
fence_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(psprintf(INT64_FORMAT, PG_GETARG_INT64(0)));
}

/* The value as a fence, if it is one. */
static int64
fence_checked(int64 value)
{
	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%lld\" is out of range for type %s",
						(long long) value, "fencing.fence"),
				 FENCE_RANGE_DETAIL));
	return value;
}

PG_FUNCTION_INFO_V1(fence_recv);

Datum
fence_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);

	PG_RETURN_INT64(fence_checked(pq_getmsgint64(buf)));
}

PG_FUNCTION_INFO_V1(fence_send);

Datum
fence_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, PG_GETARG_INT64(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

PG_FUNCTION_INFO_V1(fence_from_int2);

Datum
fence_from_int2(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(fence_checked(PG_GETARG_INT16(0)));
}

PG_FUNCTION_INFO_V1(fence_from_int4);

Datum
fence_from_int4(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(fence_checked(PG_GETARG_INT32(0)));
}

PG_FUNCTION_INFO_V1(fence_from_int8);

Datum
fence_from_int8(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(fence_checked(PG_GETARG_INT64(0)));
}

/*
 * fence_from_numeric
 *		A numeric without a fraction; bigint's own cast would round, and a
 *		rounded token is another token.
 */
PG_FUNCTION_INFO_V1(fence_from_numeric);

Datum
fence_from_numeric(PG_FUNCTION_ARGS)
{
	Datum number = PG_GETARG_DATUM(0);
	Datum whole = DirectFunctionCall2(numeric_trunc, number,
									  Int32GetDatum(0));
	char *printed = DatumGetCString(DirectFunctionCall1(numeric_out,
														whole));
	int64 fence = 0;

	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, number, whole)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" has a fraction and is no %s",
						DatumGetCString(DirectFunctionCall1(numeric_out,
															number)),
						"fencing.fence"),
				 FENCE_RANGE_DETAIL));
	if (fence_parse(printed, &fence) != FENCE_PARSED)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						printed, "fencing.fence"),
				 FENCE_RANGE_DETAIL));
	PG_RETURN_INT64(fence);
}

int64
token_argument(FunctionCallInfo fcinfo, int n)
{
	int64 token;

	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("token must not be null"),
				 errdetail("NULL is what acquire() returns for a token when it refuses."),
				 errhint("A client that was not granted the lease must not write.")));
	token = PG_GETARG_INT64(n);
	if (token < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("token %lld is out of range", (long long) token),
				 errdetail("A token is a number from 1 to 9223372036854775807.")));
	if (token == FENCE_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("0 is no token"),
				 errdetail("0 stands for a row that was never fenced; no grant issues it."),
				 errhint("Pass the token that acquire() or issue_token() returned.")));
	return token;
}
