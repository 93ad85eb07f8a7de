"""Django's models over psycopg2; save() writes the row whole."""
import os
from contextlib import contextmanager

import django
from django.conf import settings
from django.db import connections, models, transaction

import cases

DATABASE = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": os.environ["PGDATABASE"],
    "USER": os.environ["PGUSER"],
    "HOST": os.environ["PGHOST"],
    "PORT": os.environ["PGPORT"],
    "CONN_MAX_AGE": None,
    "DISABLE_SERVER_SIDE_CURSORS": cases.POOLED,
}
settings.configure(DATABASES={"default": DATABASE, "other": DATABASE.copy()})
django.setup()


class FenceField(models.BigIntegerField):
    """The driver hands out a str, for it does not know the type."""

    def db_type(self, connection):
        return "fencing.fence"

    def from_db_value(self, value, expression, connection):
        return int(value)


class Job(models.Model):
    v = models.TextField()
    fence = FenceField(default=0)

    class Meta:
        app_label = "jobs"
        db_table = "job"


class StrictJob(models.Model):
    v = models.TextField()
    fence = FenceField(default=0)

    class Meta:
        app_label = "jobs"
        db_table = "strict_job"


class Django(cases.Client):
    def query(self, sql, *arguments, on=None):
        with connections[on or "other"].cursor() as cursor:
            cursor.execute(*cases.question_marks(sql, arguments, "%s"))
            return cursor.rowcount, cursor.fetchall() if cursor.description else []

    def update(self, id, token):
        if token is None:
            cases.expect(type(cases.error(Job.objects.filter, fence__lte=token)), ValueError)
            return 0
        return Job.objects.using("other").filter(id=id, fence__lte=token).update(v="x", fence=token)

    def assign(self, id, token):
        return Job.objects.using("other").filter(id=id).update(fence=token)

    def read(self, id, on=None, table="job"):
        return (Job if table == "job" else StrictJob).objects.using(on or "other").get(id=id)

    def save(self, row, on=None):
        row.save(using=on or "other")
        return 1

    @contextmanager
    def transaction(self):
        with transaction.atomic():
            yield "default"

    def fields(self, error):
        diag = error.__cause__.diag
        return (error.__cause__.pgcode, diag.message_detail, diag.message_hint,
                diag.schema_name, diag.table_name, diag.column_name)


cases.run(Django(), "`DISABLE_SERVER_SIDE_CURSORS`")
