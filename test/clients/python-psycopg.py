"""psycopg 3, with its pool."""
import re

import psycopg
from psycopg_pool import ConnectionPool

import cases

# Every statement prepared, but never through a pooler that knows no prepared statements.
settings = {"prepare_threshold": None if cases.POOLED else 0}


class Psycopg(cases.Client):
    def __init__(self):
        self.pool = ConnectionPool("", min_size=1, max_size=1, kwargs=settings)
        self.connection = psycopg.connect(autocommit=True, **settings)

    def query(self, sql, *arguments, on=None):
        named = {f"a{number}": argument for number, argument in enumerate(arguments, 1)}
        cursor = (on or self.connection).execute(re.sub(r"\$(\d)", r"%(a\1)s", sql), named)
        return cursor.rowcount, cursor.fetchall() if cursor.description else []

    def transaction(self):
        return self.pool.connection()

    def fields(self, error):
        diag = error.diag
        return (error.sqlstate, diag.message_detail, diag.message_hint,
                diag.schema_name, diag.table_name, diag.column_name)


cases.run(Psycopg(), "`prepare_threshold=None`")
