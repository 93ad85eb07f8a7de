/*-------------------------------------------------------------------------
 *
 * statement.c
 *		Which statement is calling us?
 *
 * A row trigger is told which columns a statement updates, but for MERGE that
 * is the union over all its actions, and an action that does not set the
 * fence must not pass for one that does.  So the running statements are kept
 * on a stack, by a hook around the executor.  A function finds its own by the
 * memory context that the executor made for the statement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"

#include "compat.h"
#include "guard.h"
#include "statement.h"

typedef struct Running
{
	QueryDesc  *query;
	struct Running *outer;
} Running;

static Running *innermost = NULL;
static ExecutorRun_hook_type next_executor_run = NULL;

static void
run_statement(EXECUTOR_RUN_PARAMS)
{
	Running		self = {queryDesc, innermost};

	innermost = &self;
	PG_TRY();
	{
		if (next_executor_run)
			next_executor_run(EXECUTOR_RUN_ARGS);
		else
			standard_ExecutorRun(EXECUTOR_RUN_ARGS);
	}
	PG_FINALLY();
	{
		innermost = self.outer;
	}
	PG_END_TRY();
}

void
statement_init(void)
{
	next_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = run_statement;
}

static bool
is_of(QueryDesc *query, MemoryContext query_context)
{
	return query && query->estate &&
		query->estate->es_query_cxt == query_context;
}

/*
 * The statement with this memory context.  If the library was loaded in the
 * midst of it, a client's statement is found in its portal; one of a function
 * is not found then.
 */
static QueryDesc *
find_statement(MemoryContext query_context)
{
	for (Running *running = innermost; running; running = running->outer)
		if (is_of(running->query, query_context))
			return running->query;
	if (ActivePortal && is_of(ActivePortal->queryDesc, query_context))
		return ActivePortal->queryDesc;
	return NULL;
}

bool
statement_is_plain_select(MemoryContext query_context)
{
	QueryDesc  *query = ActivePortal ? ActivePortal->queryDesc : NULL;

	return is_of(query, query_context) &&
		query->operation == CMD_SELECT &&
		!query->plannedstmt->hasModifyingCTE;
}

/* Does the list of a MERGE action's columns have the fence of its target? */
static bool
action_sets_fence(List *columns, Oid target)
{
	Relation	rel = table_open(target, NoLock);
	AttrNumber	fence = guard_fence_column(rel);

	table_close(rel, NoLock);
	return list_member_int(columns, fence);
}

#ifdef MERGE_ACTION_IS_KNOWN

/* The action under way in a MERGE knows what it sets. */
static bool
merge_assigns_fence(QueryDesc *query, ModifyTable *plan, PlanState *state)
{
	MergeActionState *action = castNode(ModifyTableState, state)->mt_merge_action;
	Index		target = plan->rootRelation ? plan->rootRelation : plan->nominalRelation;

	return action == NULL ||
		action_sets_fence(action->mas_action->updateColnos,
						  rt_fetch(target, query->plannedstmt->rtable)->relid);
}

#else

/* Before 17 none can tell which it is: all its UPDATE actions must set it. */
static bool
merge_assigns_fence(QueryDesc *query, ModifyTable *plan, PlanState *state)
{
	Index		target = plan->rootRelation ? plan->rootRelation : plan->nominalRelation;
	Oid			relid = rt_fetch(target, query->plannedstmt->rtable)->relid;
	ListCell   *lc;

	foreach(lc, linitial_node(List, plan->mergeActionLists))
	{
		MergeAction *action = lfirst_node(MergeAction, lc);

		if (action->commandType == CMD_UPDATE &&
			!action_sets_fence(action->updateColnos, relid))
			return false;
	}
	return true;
}

#endif

/*
 * statement_assigns_fence
 *		Where it cannot be told, an unchanged fence is none carried.
 *
 * A statement has several ModifyTable nodes if it has data-modifying CTEs;
 * with more than one MERGE among them, all must assign it.
 */
bool
statement_assigns_fence(MemoryContext query_context, bool updated)
{
	QueryDesc  *query;
	ListCell   *plan_cell;
	ListCell   *state_cell;

	if (!updated)
		return false;
	query = find_statement(query_context);
	if (query == NULL)
		return false;

	if (IsA(query->plannedstmt->planTree, ModifyTable))
	{
		ModifyTable *plan = (ModifyTable *) query->plannedstmt->planTree;

		if (plan->operation == CMD_MERGE &&
			!merge_assigns_fence(query, plan, query->planstate))
			return false;
	}
	forboth(plan_cell, query->plannedstmt->subplans,
			state_cell, query->estate->es_subplanstates)
	{
		ModifyTable *plan = lfirst(plan_cell);

		if (plan && IsA(plan, ModifyTable) && plan->operation == CMD_MERGE &&
			!merge_assigns_fence(query, plan, lfirst(state_cell)))
			return false;
	}
	return true;
}
