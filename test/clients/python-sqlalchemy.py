"""SQLAlchemy's ORM over psycopg2: mapped fence columns, whole rows, and the fence as version counter."""
import re
from contextlib import contextmanager

from sqlalchemy import BigInteger, Column, Integer, String, TypeDecorator, bindparam, create_engine, text, update
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.orm.attributes import flag_modified
from sqlalchemy.orm.exc import StaleDataError

import cases

Base = declarative_base()


class Fence(TypeDecorator):
    """The driver hands out a str, for it does not know the type."""
    impl = BigInteger
    cache_ok = True

    def process_result_value(self, value, dialect):
        return int(value)


class Job(Base):
    __tablename__ = "job"
    id = Column(Integer, primary_key=True)
    v = Column(String)
    fence = Column(Fence, nullable=False)


class StrictJob(Base):
    __tablename__ = "strict_job"
    id = Column(Integer, primary_key=True)
    v = Column(String)
    fence = Column(Fence, nullable=False)


class VersionedJob(Base):
    """UPDATE ... WHERE id = ... AND fence = the one that was read; the program sets the new one."""
    __table__ = Job.__table__
    __mapper_args__ = {"version_id_col": Job.__table__.c.fence, "version_id_generator": False}


class SqlAlchemy(cases.Client):
    def __init__(self):
        self.pool = create_engine("postgresql+psycopg2://", pool_size=1, max_overflow=0)
        self.engine = create_engine("postgresql+psycopg2://", isolation_level="AUTOCOMMIT")

    def query(self, sql, *arguments, on=None):
        if not on:
            with Session(self.engine) as session:
                return self.query(sql, *arguments, on=session)
        named = {f"a{number}": argument for number, argument in enumerate(arguments, 1)}
        result = on.execute(text(re.sub(r"\$(\d)", r":a\1", sql)), named)
        return result.rowcount, result.all() if result.returns_rows else []

    def update(self, id, token):
        statement = (update(Job).where(Job.id == bindparam("key"), Job.fence <= bindparam("token"))
                     .values(v="x", fence=bindparam("token")).execution_options(synchronize_session=False))
        with Session(self.engine) as session:
            return session.execute(statement, {"key": id, "token": token}).rowcount

    def read(self, id, on=None, table="job"):
        if not on:
            with Session(self.engine) as session:
                return self.read(id, session, table)
        return on.get(Job if table == "job" else StrictJob, id)

    def save(self, row, on=None):
        if not on:
            with Session(self.engine) as session:
                session.add(row)
                return self.save(row, session)
        flag_modified(row, "v")
        flag_modified(row, "fence")
        on.flush()
        return 1

    @contextmanager
    def transaction(self):
        with Session(self.pool) as session, session.begin():
            yield session

    def fields(self, error):
        diag = error.orig.diag
        return (error.orig.pgcode, diag.message_detail, diag.message_hint,
                diag.schema_name, diag.table_name, diag.column_name)


def version_counter(client):
    def write(session, job, token):
        job.v, job.fence = "y", token
        session.flush()

    with client.transaction() as session:
        write(session, session.get(VersionedJob, 8), 102)
    with Session(client.pool) as session:
        job = session.get(VersionedJob, 8)
        client.update(8, 103)
        cases.expect(type(cases.error(write, session, job, 104)), StaleDataError)
        session.rollback()
        cases.expect(client.fields(cases.error(write, session, session.get(VersionedJob, 8), 101))[0], "LF001")


cases.run(SqlAlchemy(), "nothing", {"version counter": version_counter})
