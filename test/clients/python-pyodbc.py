"""ODBC: psqlodbc under unixODBC, by way of pyodbc, which pools connections by default."""
import os
from contextlib import contextmanager

import pyodbc

import cases


# A boolean as one rather than as a string; through pgbouncer, no prepared statements.
settings = {
    "driver": "PostgreSQL Unicode",
    "server": os.environ["PGHOST"],
    "port": os.environ["PGPORT"],
    "uid": os.environ["PGUSER"],
    "database": os.environ["PGDATABASE"],
    "BoolsAsChar": "0",
    "UseServerSidePrepare": "0" if cases.POOLED else "1",
}


class Odbc(cases.Client):
    def __init__(self):
        self.connection = pyodbc.connect(autocommit=True, **settings)

    def query(self, sql, *arguments, on=None):
        sql, arguments = cases.question_marks(sql, arguments)
        cursor = (on or self.connection).execute(sql, arguments)
        return cursor.rowcount, cursor.fetchall() if cursor.description else []

    def array(self, *numbers):
        return "{" + ",".join(map(str, numbers)) + "}"

    @contextmanager
    def transaction(self):
        connection = pyodbc.connect(**settings)
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def fields(self, error):
        sqlstate, message = error.args
        return sqlstate, cases.STALE if cases.STALE in message else None, None, None, None, None


cases.run(Odbc(), "`UseServerSidePrepare=0`")
