/*
 * zookeeper HOST setup
 * zookeeper HOST acquire_release|refused CLIENTS SECONDS
 */
#define THREADED
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "meter.h"

static const char *host;
static int in_flight;

static void
watch(zhandle_t *zk, int type, int state, const char *node, void *context)
{
}

static void *
dial(Client *client)
{
	zhandle_t *zk = zookeeper_init(host, watch, 30000, NULL, NULL, 0);

	for (int i = 0; i < 6000 && zoo_state(zk) != ZOO_CONNECTED_STATE; i++)
		usleep(5000);
	if (zoo_state(zk) != ZOO_CONNECTED_STATE)
		fail("cannot connect");
	return zk;
}

static bool
operate(Client *client, void *zk, int name)
{
	char lock[64];
	char node[96];

	if (strcmp(operation, "refused") == 0)
		return zoo_create(zk, "/hot", "w", 1, &ZOO_OPEN_ACL_UNSAFE,
						  ZOO_EPHEMERAL, node, sizeof(node)) == ZNODEEXISTS;
	snprintf(lock, sizeof(lock), "/free/%d/l-", name);
	return zoo_create(zk, lock, "w", 1, &ZOO_OPEN_ACL_UNSAFE,
					  ZOO_EPHEMERAL | ZOO_SEQUENCE, node, sizeof(node)) == ZOK &&
		zoo_delete(zk, node, -1) == ZOK;
}

static void
created(int result, const char *name, const void *data)
{
	__sync_fetch_and_sub(&in_flight, 1);
}

static int
set_up(void)
{
	zhandle_t *zk = dial(NULL);

	zoo_create(zk, "/free", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
	zoo_create(zk, "/hot", "other", 5, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
	for (int i = 0; i < NAMES; i++)
	{
		char node[32];

		snprintf(node, sizeof(node), "/free/%d", i);
		__sync_fetch_and_add(&in_flight, 1);
		zoo_acreate(zk, node, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, created, NULL);
		while (__sync_fetch_and_add(&in_flight, 0) > 500)
			usleep(100);
	}
	while (__sync_fetch_and_add(&in_flight, 0) > 0)
		usleep(1000);
	zookeeper_close(zk);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	zoo_set_debug_level(0);
	host = argv[1];
	operation = argv[2];
	if (argc < 5)
		return set_up();
	n_clients = atoi(argv[3]);
	duration = atof(argv[4]);
	return measure();
}
