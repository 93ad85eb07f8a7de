/*
 * handover poll|notify TIMES
 *		One session holds a lease of the schema pgxn, another one wants it: it
 *		tries every 50 ms, or whenever it is notified of a release.  From the
 *		release sent to the lease had, 50th and 99th percentile in ms.
 */
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool notify;
static bool stop;
static double had;
static pthread_barrier_t go;
static pthread_barrier_t done;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* The first value of a statement's result, "" if there is none. */
static const char *
value(PGconn *connection, const char *sql)
{
	static __thread char text[128];
	PGresult *result = PQexec(connection, sql);
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
	{
		fprintf(stderr, "%s", PQerrorMessage(connection));
		exit(1);
	}
	snprintf(text, sizeof(text), "%s",
			 PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
	PQclear(result);
	return text;
}

static PGconn *
dial(void)
{
	PGconn *connection = PQconnectdb("");

	(void) value(connection, "SELECT 1");
	return connection;
}

static void
wait_for_notification(PGconn *connection)
{
	for (;;)
	{
		struct pollfd readable = {PQsocket(connection), POLLIN, 0};
		PGnotify *notification;
		bool notified = false;

		PQconsumeInput(connection);
		while ((notification = PQnotifies(connection)) != NULL)
		{
			notified = true;
			PQfreemem(notification);
		}
		if (notified || poll(&readable, 1, 1000) == 0)
			return;
	}
}

static void
acquire(PGconn *connection, char *epoch, size_t size)
{
	for (;;)
	{
		snprintf(epoch, size, "%s",
				 value(connection, "SELECT epoch FROM pgxn.acquire('handover', 'b', '60 s') WHERE acquired"));
		if (*epoch)
			return;
		if (notify)
			wait_for_notification(connection);
		else
			usleep(50000);
	}
}

static void *
waiter(void *arg)
{
	PGconn *connection = dial();
	char epoch[64];
	char release[200];

	if (notify)
		(void) value(connection, "LISTEN lease");
	for (;;)
	{
		pthread_barrier_wait(&go);
		if (stop)
			return NULL;
		acquire(connection, epoch, sizeof(epoch));
		had = now();
		snprintf(release, sizeof(release),
				 "SELECT pgxn.release('handover', 'b', %s)", epoch);
		(void) value(connection, release);
		pthread_barrier_wait(&done);
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return x < y ? -1 : x > y;
}

int
main(int argc, char **argv)
{
	int times = argc == 3 ? atoi(argv[2]) : 0;
	double *ms = calloc(times + 1, sizeof(double));
	PGconn *connection = dial();
	pthread_t thread;

	if (times < 1)
		return 2;
	notify = strcmp(argv[1], "notify") == 0;
	pthread_barrier_init(&go, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	pthread_create(&thread, NULL, waiter, NULL);
	for (int i = 0; i < times; i++)
	{
		char release[200];
		double sent;

		snprintf(release, sizeof(release), "SELECT pgxn.%s('handover', 'a', %s)",
				 notify ? "release_notify" : "release",
				 value(connection, "SELECT epoch FROM pgxn.acquire('handover', 'a', '60 s') WHERE acquired"));
		pthread_barrier_wait(&go);
		usleep(60000 + rand() % 60000);
		sent = now();
		(void) value(connection, release);
		pthread_barrier_wait(&done);
		ms[i] = had - sent;
	}
	stop = true;
	pthread_barrier_wait(&go);
	qsort(ms, times, sizeof(double), compare);
	printf("%.4f %.4f\n", ms[times / 2], ms[times * 99 / 100]);
	return 0;
}
