/*-------------------------------------------------------------------------
 *
 * fence.h
 *		The type fencing.fence, and what counts as a token.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FENCING_FENCE_H
#define FENCING_FENCE_H

/* What a column without a token keeps; no grant issues it. */
#define FENCE_NONE INT64CONST(0)
#define FENCE_MAX  PG_INT64_MAX

typedef enum FenceParse
{
	FENCE_PARSED,
	FENCE_NO_NUMBER,
	FENCE_OUT_OF_RANGE
} FenceParse;

extern FenceParse fence_parse(const char *string, int64 *fence);

/* The token in argument n of a call; NULL, 0 and below are errors. */
extern int64 token_argument(FunctionCallInfo fcinfo, int n);

#endif /* FENCING_FENCE_H */
