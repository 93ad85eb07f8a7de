"""asyncpg, with its pool. It asks the server for the type of each parameter, and binds nothing else."""
import asyncio
from contextlib import contextmanager

import asyncpg

import cases

# It parses in one round trip and executes in the next: through pgbouncer, only inside a transaction.
settings = {"statement_cache_size": 0} if cases.POOLED else {}
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
wait = loop.run_until_complete


async def fence_as_int(connection):
    await connection.set_type_codec("fence", schema="fencing", encoder=str, decoder=int)


class Asyncpg(cases.Client):
    def __init__(self):
        self.pool = wait(asyncpg.create_pool(min_size=1, max_size=1, init=fence_as_int, **settings))
        self.connection = wait(asyncpg.connect(**settings))

    def query(self, sql, *arguments, on=None):
        if cases.POOLED and not on:
            with self.in_transaction(self.connection):
                return self.query(sql, *arguments, on=self.connection)
        connection = on or self.connection
        if sql.startswith("SELECT"):
            return 0, wait(connection.fetch(sql, *arguments))
        return int(wait(connection.execute(sql, *arguments)).split()[-1]), []

    def update(self, id, token):
        if isinstance(token, str):
            sql = "UPDATE job SET v = 'x', fence = $1::text::bigint WHERE id = $2 AND fence <= $1::text::bigint"
            return self.query(sql, token, id)[0]
        return super().update(id, token)

    def assign(self, id, token):
        return self.query("UPDATE job SET fence = $1::bigint WHERE id = $2", token, id)[0]

    @contextmanager
    def in_transaction(self, connection):
        transaction = connection.transaction()
        wait(transaction.start())
        try:
            yield connection
        except BaseException:
            wait(transaction.rollback())
            raise
        wait(transaction.commit())

    @contextmanager
    def transaction(self):
        connection = wait(self.pool.acquire())
        try:
            with self.in_transaction(connection):
                yield connection
        finally:
            wait(self.pool.release(connection))

    def fields(self, error):
        return (error.sqlstate, error.detail, error.hint,
                error.schema_name, error.table_name, error.column_name)


cases.run(Asyncpg(), "`statement_cache_size=0`, every statement in a transaction")
