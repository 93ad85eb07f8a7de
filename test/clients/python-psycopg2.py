"""psycopg2, with its pool. It writes the values into the statement by itself."""
import re
from contextlib import contextmanager

import psycopg2
from psycopg2.pool import ThreadedConnectionPool

import cases


class Psycopg2(cases.Client):
    def __init__(self):
        self.pool = ThreadedConnectionPool(1, 1, "")
        self.connection = psycopg2.connect("")
        self.connection.autocommit = True

    def query(self, sql, *arguments, on=None):
        named = {f"a{number}": argument for number, argument in enumerate(arguments, 1)}
        with (on or self.connection).cursor() as cursor:
            cursor.execute(re.sub(r"\$(\d)", r"%(a\1)s", sql), named)
            return cursor.rowcount, cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self):
        connection = self.pool.getconn()
        try:
            with connection:
                yield connection
        finally:
            self.pool.putconn(connection)

    def fields(self, error):
        diag = error.diag
        return (error.pgcode, diag.message_detail, diag.message_hint,
                diag.schema_name, diag.table_name, diag.column_name)


cases.run(Psycopg2(), "nothing")
