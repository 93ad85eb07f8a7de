/*
 * redis SOCKET setup
 * redis SOCKET acquire_release|renew|refused CLIENTS SECONDS
 */
#include <hiredis/hiredis.h>

#include "meter.h"

#define RELEASE \
	"if redis.call('get',KEYS[1])==ARGV[1] " \
	"then return redis.call('del',KEYS[1]) else return 0 end"
#define RENEW \
	"if redis.call('get',KEYS[1])==ARGV[1] " \
	"then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"

static const char *path;

typedef struct Connection
{
	redisContext *redis;
	char release[64];
	char renew[64];
} Connection;

static void
load(redisContext *redis, const char *script, char *sha)
{
	redisReply *reply = redisCommand(redis, "SCRIPT LOAD %s", script);

	if (reply == NULL || reply->type != REDIS_REPLY_STRING)
		fail("cannot load a script");
	strcpy(sha, reply->str);
	freeReplyObject(reply);
}

static void *
dial(Client *client)
{
	Connection *connection = calloc(1, sizeof(Connection));

	connection->redis = redisConnectUnix(path);
	if (connection->redis == NULL || connection->redis->err)
		fail("cannot connect");
	load(connection->redis, RELEASE, connection->release);
	load(connection->redis, RENEW, connection->renew);
	return connection;
}

/* Is it a reply of this type and, where it is a number, this one? */
static bool
is(redisReply *reply, int type, long long number)
{
	bool as_wanted = reply && reply->type == type &&
		(type != REDIS_REPLY_INTEGER || reply->integer == number);

	if (reply)
		freeReplyObject(reply);
	return as_wanted;
}

static bool
operate(Client *client, void *arg, int name)
{
	Connection *connection = arg;
	redisContext *redis = connection->redis;
	char value[64];

	snprintf(value, sizeof(value), "%08x-%04x-4000-8000-%012lx",
			 rand_r(&client->seed), client->id, client->operations);
	if (strcmp(operation, "renew") == 0)
		return is(redisCommand(redis, "EVALSHA %s 1 held/%d me-%d 86400000",
							   connection->renew, name, name),
				  REDIS_REPLY_INTEGER, 1);
	if (strcmp(operation, "refused") == 0)
		return is(redisCommand(redis, "SET hot %s NX PX 30000", value),
				  REDIS_REPLY_NIL, 0);
	return is(redisCommand(redis, "SET free/%d %s NX PX 30000", name, value),
			  REDIS_REPLY_STATUS, 0) &&
		is(redisCommand(redis, "EVALSHA %s 1 free/%d %s",
						connection->release, name, value),
		   REDIS_REPLY_INTEGER, 1);
}

static int
set_up(void)
{
	Connection *connection = dial(NULL);
	redisReply *reply;

	for (int i = 0; i < NAMES; i++)
		redisAppendCommand(connection->redis, "SET held/%d me-%d PX 86400000", i, i);
	redisAppendCommand(connection->redis, "SET hot other PX 86400000");
	for (int i = 0; i <= NAMES; i++)
	{
		if (redisGetReply(connection->redis, (void **) &reply) != REDIS_OK)
			fail("cannot set up");
		freeReplyObject(reply);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	path = argv[1];
	operation = argv[2];
	if (argc < 5)
		return set_up();
	n_clients = atoi(argv[3]);
	duration = atof(argv[4]);
	return measure();
}
