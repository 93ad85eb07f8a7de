/*
 * handover WAITERS TIMES ACQUIRE RELEASE FLUSH
 *		One session holds a lock, WAITERS others wait in line for it.  It is
 *		released, the first in line has it, and whoever had it goes to the end
 *		of the line; TIMES times.  Prints in ms
 *
 *		p50 p99 of the time from the release sent to the waiter's row,
 *		p50 p99 of FLUSH, a statement with one flush, sent in between,
 *		and how often another than the first in line was served.
 *
 * handover WAITERS 0 ACQUIRE RELEASE FLUSH
 *		Lets them wait till the end of the standard input.
 */
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_SESSIONS 256

static PGconn *session[MAX_SESSIONS];
static int n_sessions;

/* The sessions, the holder first, then in the order in which they wait. */
static int line[MAX_SESSIONS];

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void
fail(PGconn *connection)
{
	fprintf(stderr, "%s", PQerrorMessage(connection));
	exit(1);
}

static void
check(PGconn *connection, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		fail(connection);
}

static PGconn *
dial(const char *name)
{
	const char *keywords[] = {"application_name", NULL};
	const char *values[] = {name, NULL};
	PGconn *connection = PQconnectdbParams(keywords, values, 0);

	if (PQstatus(connection) != CONNECTION_OK)
		fail(connection);
	return connection;
}

static void
prepare(PGconn *connection, const char *name, const char *sql)
{
	PGresult *result = PQprepare(connection, name, sql, 0, NULL);

	check(connection, result);
	PQclear(result);
}

static void
start(PGconn *connection, const char *name)
{
	if (!PQsendQueryPrepared(connection, name, 0, NULL, NULL, NULL, 0))
		fail(connection);
}

static void
finish(PGconn *connection)
{
	PGresult *result;

	while ((result = PQgetResult(connection)) != NULL)
	{
		check(connection, result);
		PQclear(result);
	}
}

static void
run(PGconn *connection, const char *name)
{
	start(connection, name);
	finish(connection);
}

static void
wait_till_all_wait(PGconn *observer, int waiters)
{
	for (;;)
	{
		PGresult *result = PQexec(observer,
								  "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiter' "
								  "AND state = 'active' AND wait_event_type IN ('Lock', 'Extension')");
		int count;

		check(observer, result);
		count = atoi(PQgetvalue(result, 0, 0));
		PQclear(result);
		if (count == waiters)
			return;
		usleep(1000);
	}
}

/* Releases, and waits for the release's answer and for a waiter that is served. */
static int
hand_over(double *served_at)
{
	struct pollfd readable[MAX_SESSIONS];
	int served = -1;
	int released = 0;

	for (int i = 0; i < n_sessions; i++)
		readable[i] = (struct pollfd){PQsocket(session[i]), POLLIN, 0};
	start(session[line[0]], "release");
	while (served < 0 || !released)
	{
		if (poll(readable, n_sessions, -1) < 0)
			exit(1);
		for (int i = 0; i < n_sessions; i++)
		{
			if (!readable[i].revents)
				continue;
			if (!PQconsumeInput(session[i]))
				fail(session[i]);
			if (PQisBusy(session[i]))
				continue;
			if (i == line[0])
				released = 1;
			else
			{
				served = i;
				*served_at = now();
			}
			readable[i].fd = -1;
			finish(session[i]);
		}
	}
	return served;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static void
print_percentiles(double *ms, int n)
{
	qsort(ms, n, sizeof(double), compare);
	printf("%.4f %.4f ", ms[n / 2], ms[n * 99 / 100]);
}

int
main(int argc, char **argv)
{
	int waiters = argc == 6 ? atoi(argv[1]) : 0;
	int times = argc == 6 ? atoi(argv[2]) : 0;
	double *ms = calloc(times + 1, sizeof(double));
	double *flush_ms = calloc(times + 1, sizeof(double));
	int out_of_line = 0;
	PGconn *observer = dial("observer");

	if (waiters < 1 || waiters >= MAX_SESSIONS)
		return 2;
	n_sessions = waiters + 1;
	prepare(observer, "flush", argv[5]);
	for (int i = 0; i < n_sessions; i++)
	{
		session[i] = dial("waiter");
		prepare(session[i], "acquire", argv[3]);
		prepare(session[i], "release", argv[4]);
		line[i] = i;
	}
	run(session[0], "acquire");
	for (int i = 1; i < n_sessions; i++)
	{
		start(session[i], "acquire");
		wait_till_all_wait(observer, i);
	}
	if (times == 0)
	{
		printf("waiting\n");
		fflush(stdout);
		while (getchar() != EOF)
			;
		return 0;
	}
	for (int i = 0; i < times; i++)
	{
		double sent;
		double served_at;
		int served;
		int place = 1;

		usleep(2000 + rand() % 10000);
		sent = now();
		run(observer, "flush");
		flush_ms[i] = now() - sent;

		usleep(2000 + rand() % 10000);
		sent = now();
		served = hand_over(&served_at);
		ms[i] = served_at - sent;
		if (served != line[1])
			out_of_line++;

		/* Who was served moves to the front, who has released to the end. */
		while (line[place] != served)
			place++;
		memmove(line + place, line + place + 1, (waiters - place) * sizeof(int));
		line[waiters] = line[0];
		line[0] = served;
		start(session[line[waiters]], "acquire");
		wait_till_all_wait(observer, waiters);
	}
	print_percentiles(ms, times);
	print_percentiles(flush_ms, times);
	printf("%d\n", out_of_line);
	return 0;
}
