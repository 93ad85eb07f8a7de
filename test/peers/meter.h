/*
 * Clients in threads, one request in flight each; what they did, as one line:
 * operations a second, and 50th and 99th percentile of the latency in ms.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMES		10000
#define MAX_CLIENTS 256

/* Latencies are counted in classes, each 2 % wider than the one before. */
#define CLASSES 1000
#define WIDER	1.02

typedef struct Client
{
	int id;
	unsigned seed;
	long wrong; /* answers that should not have come */
	long operations;
	double seconds;
	long latency[CLASSES];
	pthread_t thread;
} Client;

static const char *operation;
static int n_clients;
static double duration;
static pthread_barrier_t ready;

/* Each program's own: to connect, and to do the operation once. */
static void *dial(Client *client);
static bool operate(Client *client, void *connection, int name);

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void
fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static int
class_of(double ms)
{
	int class = 0;

	for (double limit = 0.001; ms > limit && class < CLASSES - 1; limit *= WIDER)
		class ++;
	return class;
}

static void *
work(void *arg)
{
	Client *client = arg;
	void *connection = dial(client);
	double start;
	double before;

	pthread_barrier_wait(&ready);
	start = before = now();
	while (before < start + duration)
	{
		int name = rand_r(&client->seed) % (NAMES / n_clients) *
				n_clients +
			client->id;
		double after;

		if (!operate(client, connection, name))
			client->wrong++;
		after = now();
		client->latency[class_of((after - before) * 1e3)]++;
		client->operations++;
		before = after;
	}
	client->seconds = before - start;
	return NULL;
}

static double
percentile(const long *latency, long total, double part)
{
	double limit = 0.001;
	long count = 0;

	for (int i = 0; i < CLASSES; i++, limit *= WIDER)
		if ((count += latency[i]) >= part * total)
			return limit;
	return limit;
}

static int
measure(void)
{
	static Client clients[MAX_CLIENTS];
	long latency[CLASSES] = {0};
	long total = 0;
	long wrong = 0;
	double rate = 0;

	pthread_barrier_init(&ready, NULL, n_clients);
	for (int i = 0; i < n_clients; i++)
	{
		clients[i].id = i;
		clients[i].seed = i * 7919 + time(NULL);
		pthread_create(&clients[i].thread, NULL, work, &clients[i]);
	}
	for (int i = 0; i < n_clients; i++)
	{
		pthread_join(clients[i].thread, NULL);
		rate += clients[i].operations / clients[i].seconds;
		total += clients[i].operations;
		wrong += clients[i].wrong;
		for (int j = 0; j < CLASSES; j++)
			latency[j] += clients[i].latency[j];
	}
	printf("%.1f %.4f %.4f\n", rate,
		   percentile(latency, total, 0.50), percentile(latency, total, 0.99));
	if (wrong)
		fprintf(stderr, "%ld of %ld answers are wrong\n", wrong, total);
	return wrong != 0;
}
