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
#include "replication/logicalworker.h"
#include "tcop/pquery.h"

#include "compat.h"
#include "guard.h"
#include "statement.h"

typedef struct Running
{
	QueryDesc *query;
	struct Running *outer;
} Running;

static Running *innermost = NULL;
static ExecutorRun_hook_type next_executor_run = NULL;
static ExecutorFinish_hook_type next_executor_finish = NULL;

static void
run_statement(EXECUTOR_RUN_PARAMS)
{
	Running self = {queryDesc, innermost};

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

/* A data-modifying CTE that nobody reads runs here. */
static void
finish_statement(QueryDesc *query)
{
	Running self = {query, innermost};

	innermost = &self;
	PG_TRY();
	{
		if (next_executor_finish)
			next_executor_finish(query);
		else
			standard_ExecutorFinish(query);
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
	next_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish_statement;
}

static bool
is_of(QueryDesc *query, MemoryContext query_context)
{
	return query && query->estate &&
		query->estate->es_query_cxt == query_context;
}

/*
 * The statement with this memory context; NULL if the library was loaded in
 * the midst of it, or if no statement is running, as where logical replication
 * applies changes.
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
	QueryDesc *query = ActivePortal ? ActivePortal->queryDesc : NULL;

	return is_of(query, query_context) &&
		query->operation == CMD_SELECT &&
		!query->plannedstmt->hasModifyingCTE;
}

bool
statement_is_update(MemoryContext query_context)
{
	QueryDesc *query = find_statement(query_context);

	return query && query->operation == CMD_UPDATE &&
		!query->plannedstmt->hasModifyingCTE;
}

static bool
is_merge(Plan *plan)
{
	return plan && IsA(plan, ModifyTable) &&
		((ModifyTable *) plan)->operation == CMD_MERGE;
}

/*
 * Do all UPDATE actions of a MERGE set the fence?  Their columns are numbered
 * as in the partition that they are for; the first has one list, as all have.
 */
static bool
all_actions_set_fence(PlannedStmt *statement, ModifyTable *plan)
{
	Oid target = rt_fetch(linitial_int(plan->resultRelations),
						  statement->rtable)
					 ->relid;
	Relation rel = table_open(target, NoLock);
	AttrNumber fence = guard_fence_column(rel);
	ListCell *lc;

	table_close(rel, NoLock);
	foreach(lc, linitial_node(List, plan->mergeActionLists))
	{
		MergeAction *action = lfirst_node(MergeAction, lc);

		if (action->commandType == CMD_UPDATE &&
			!list_member_int(action->updateColnos, fence))
			return false;
	}
	return true;
}

/*
 * Does a MERGE set the fence of the row that it now updates?  Before 17 none
 * can tell which action is under way, and so all of them must set it.
 */
static bool
merge_sets_fence(PlannedStmt *statement, Plan *plan, PlanState *state,
				 AttrNumber fence)
{
#ifdef MERGE_ACTION_IS_KNOWN
	MergeActionState *action = state
		? castNode(ModifyTableState, state)->mt_merge_action
		: NULL;

	if (action)
		return list_member_int(action->mas_action->updateColnos, fence);
#endif
	return all_actions_set_fence(statement, (ModifyTable *) plan);
}

/* A question to each plan of a statement; the state is NULL if it is out of reach. */
typedef bool (*PlanTest)(PlannedStmt *statement, Plan *plan, PlanState *state,
						 AttrNumber fence);

static bool
any_plan(PlannedStmt *statement, QueryDesc *query, PlanTest test,
		 AttrNumber fence)
{
	int n = 0;
	ListCell *lc;

	if (test(statement, statement->planTree, query ? query->planstate : NULL, fence))
		return true;
	foreach(lc, statement->subplans)
	{
		PlanState *state = query
			? list_nth(query->estate->es_subplanstates, n)
			: NULL;

		if (test(statement, lfirst(lc), state, fence))
			return true;
		n++;
	}
	return false;
}

static bool
merge_omits_fence(PlannedStmt *statement, Plan *plan, PlanState *state,
				  AttrNumber fence)
{
	return is_merge(plan) && !merge_sets_fence(statement, plan, state, fence);
}

/* Does a MERGE update the row that it now writes?  Before 17 it may if it can. */
static bool
merge_updates(ModifyTable *plan, PlanState *state)
{
	ListCell *lc;

#ifdef MERGE_ACTION_IS_KNOWN
	MergeActionState *action = state
		? castNode(ModifyTableState, state)->mt_merge_action
		: NULL;

	if (action)
		return action->mas_action->commandType == CMD_UPDATE;
#endif
	foreach(lc, linitial_node(List, plan->mergeActionLists))
		if (lfirst_node(MergeAction, lc)->commandType == CMD_UPDATE)
			return true;
	return false;
}

static bool
updates(PlannedStmt *statement, Plan *plan, PlanState *state, AttrNumber fence)
{
	/* Of a table that is not partitioned no row moves. */
	if (plan == NULL || !IsA(plan, ModifyTable) ||
		((ModifyTable *) plan)->rootRelation == 0)
		return false;
	if (is_merge(plan))
		return merge_updates((ModifyTable *) plan, state);
	return ((ModifyTable *) plan)->operation == CMD_UPDATE;
}

/*
 * unseen_statements
 *		Where a statement that was not found must be among: those of its portal.
 *		NIL if it is out of reach.
 *
 * The first write of a session loads the library, so that this happens to many
 * a client.  The plans of a function's statements are out of reach.
 */
static List *
unseen_statements(MemoryContext query_context)
{
	if (ActivePortal &&
		MemoryContextGetParent(query_context) == ActivePortal->portalContext)
		return ActivePortal->stmts;
	return NIL;
}

/* The same question to a statement with this context; true where it is out of reach. */
static bool
any_plan_of(MemoryContext query_context, QueryDesc *query, PlanTest test,
			AttrNumber fence)
{
	List *statements = query ? list_make1(query->plannedstmt)
							 : unseen_statements(query_context);
	ListCell *lc;

	foreach(lc, statements)
	{
		PlannedStmt *statement = lfirst_node(PlannedStmt, lc);

		if (statement->utilityStmt || any_plan(statement, query, test, fence))
			return true;
	}
	return statements == NIL;
}

/*
 * statement_assigns_fence
 *		Where it cannot be told, an unchanged fence is none carried.  Changes that
 *		logical replication applies are whole rows, judged where they come from.
 *
 * A statement has several ModifyTable nodes if it has data-modifying CTEs;
 * with more than one MERGE among them, all must assign it.
 */
bool
statement_assigns_fence(MemoryContext query_context, AttrNumber fence)
{
	QueryDesc *query = find_statement(query_context);

	return (query == NULL && IsLogicalWorker()) ||
		!any_plan_of(query_context, query, merge_omits_fence, fence);
}

/*
 * statement_moves_rows
 *		Where it cannot be told, it may.  COPY, which inserts alone and calls from
 *		the context of its portal, is known where a client sent it.
 */
bool
statement_moves_rows(MemoryContext query_context)
{
	if (ActivePortal && query_context == ActivePortal->portalContext)
		return false;
	return any_plan_of(query_context, find_statement(query_context), updates,
					   InvalidAttrNumber);
}
