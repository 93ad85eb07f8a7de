"""The cases of README.md for the Python programs, each of which brings a Client of its driver."""
import os
import re

SMALL, WIDE, BIG = 101, 2**31 - 1, 2**53 + 1
POOLED = bool(os.environ.get("POOLED"))
STALE = "The write carries token 101, but token 9007199254740993 has been committed to the row."


class Client:
    """A program defines query and transaction, and fields; an ORM, read and save as well."""

    def query(self, sql, *arguments, on=None):
        """(rows affected, rows); $1 stands for the first argument; on a connection of its own by default."""
        raise NotImplementedError

    def transaction(self):
        """A context manager: a connection out of the pool, which commits at its end."""
        raise NotImplementedError

    def fields(self, error):
        """SQLSTATE, DETAIL, HINT, schema, table and column of an exception; None where it cannot tell."""
        raise NotImplementedError

    def update(self, id, token):
        return self.query("UPDATE job SET v = 'x', fence = $1 WHERE id = $2 AND fence <= $1", token, id)[0]

    def assign(self, id, token):
        return self.query("UPDATE job SET fence = $1 WHERE id = $2", token, id)[0]

    def read(self, id, on=None, table="job"):
        return table, self.query(f"SELECT id, v, fence FROM {table} WHERE id = $1", id, on=on)[1][0]

    def save(self, row, on=None):
        table, (id, v, fence) = row
        sql = f"UPDATE {table} SET id = $1, v = $2, fence = $3 WHERE id = $1"
        return self.query(sql, id, v, fence, on=on)[0]

    def array(self, *numbers):
        return list(numbers)

    def value(self, sql, *arguments, on=None):
        return self.query(sql, *arguments, on=on)[1][0][0]

    def fence(self, id):
        return self.value("SELECT fence::text FROM job WHERE id = $1", id)

    def grant(self, resource):
        return tuple(self.query("SELECT granted, token FROM fencing.acquire($1, '1 min', 'me')", resource)[1][0])

    def present(self, token, on):
        return self.value("SELECT fencing.present($1)", token, on=on)

    def types(self, *values):
        def one(value):
            try:
                return self.value("SELECT pg_typeof($1)::text", value).replace("unknown", "untyped")
            except Exception:
                return "untyped"
        return ", ".join(dict.fromkeys(map(one, values)))


def question_marks(sql, arguments, mark="?"):
    """$1, $2 as marks in the order in which they stand."""
    numbers = [int(number) - 1 for number in re.findall(r"\$(\d)", sql)]
    return re.sub(r"\$\d", mark, sql), [arguments[number] for number in numbers]


def expect(got, wanted):
    assert got == wanted and type(got) is type(wanted), f"got {got!r}, wanted {wanted!r}"


def error(call, *arguments, **keywords):
    """The exception that a call must raise."""
    try:
        call(*arguments, **keywords)
    except Exception as raised:
        return raised
    raise AssertionError("no error")


def fact(name, value):
    print(f"is {name}: {value}")


def kind(value):
    return f"`{type(value).__name__}`"


def run(client, pooler, further=()):
    fact("integer", client.types(SMALL, WIDE, BIG))
    fact("string", client.types(str(BIG)))
    fact("pooler", pooler)
    for name, case in {**CASES, **dict(further)}.items():
        try:
            case(client)
            print("ok", name)
        except Exception as failure:
            print(f"not ok {name}: {type(failure).__name__}:", " ".join(str(failure).split()))


def conditional_update(id, token):
    def case(client):
        expect(client.update(id, token), 1)
        expect(client.fence(id), str(token))
    return case


def array(client):
    count = "SELECT count(*) FROM job WHERE id = 10 AND fence = ANY($1)"
    expect(client.value(count, client.array(SMALL, BIG)), 1)
    expect(client.value(count, client.array(SMALL, WIDE)), 0)


def assignment_alone(client):
    expect(client.assign(5, BIG), 1)
    expect(client.fence(5), str(BIG))


def lower_token(client):
    expect(client.update(10, SMALL), 0)


def read(client):
    got = client.value("SELECT fence FROM job WHERE id = 10")
    fact("fence", kind(got))
    expect(str(got), str(BIG))


def read_as_bigint(client):
    got = client.value("SELECT fence::bigint FROM job WHERE id = 10")
    fact("bigint", kind(got))
    expect(got, BIG)


def stale_token(client):
    raised = error(client.query, "UPDATE job SET fence = 101 WHERE id = 10")
    sqlstate, detail, hint, schema, table, column = client.fields(raised)
    expect(sqlstate, "LF001")
    expect(detail or STALE, STALE)
    expect((hint or "Another holder")[:14], "Another holder")
    expect([schema or "public", table or "job", column or "fence"], ["public", "job", "fence"])
    missing = {"DETAIL": detail, "HINT": hint, "schema": schema, "table": table, "column": column}
    fact("error", ", ".join(name for name in missing if not missing[name]) or "nothing")


def refused_grant(client):
    expect(client.grant("taken"), (False, None))
    expect(client.update(10, None), 0)
    expect(client.fields(error(client.present, None, None))[0], "22004")


def present(client):
    with client.transaction() as conn:
        expect(client.present(BIG, conn), BIG)
        client.query("UPDATE job SET v = 'x' WHERE id = 6", on=conn)
    expect(client.fence(6), str(BIG))


def lost_at_commit(client):
    _, token = client.grant("work")
    assert token > BIG, token

    def work():
        with client.transaction() as conn:
            expect(client.value("SELECT fencing.hold('work', $1)", token, on=conn), token)
            client.query("UPDATE job SET v = 'x' WHERE id = 7", on=conn)
            client.grant("work")

    lost = error(work)
    expect(client.fields(lost)[0], "LF004")
    expect(client.fence(7), "0")
    fact("commit", kind(lost))


def no_leak(client):
    def fail():
        with client.transaction() as conn:
            client.present(BIG, conn)
            client.query("SELECT 1 / 0", on=conn)

    with client.transaction() as conn:
        client.present(BIG, conn)
    expect(client.fields(error(fail))[0], "22012")
    for _ in range(2):
        with client.transaction() as conn:
            expect(client.value("SELECT fencing.presented()", on=conn), None)


def whole_row_current(client):
    expect(client.save(client.read(11)), 1)


def whole_row_stale(client):
    row = client.read(12)
    expect(client.update(12, BIG + 1), 1)
    expect(client.fields(error(client.save, row))[0], "LF001")


def whole_row_presented(client):
    def work():
        with client.transaction() as conn:
            client.present(SMALL, conn)
            client.save(client.read(13, conn), conn)

    expect(client.fields(error(work))[0], "LF001")


def whole_row_required(client):
    expect(client.fields(error(client.save, client.read(1, table="strict_job")))[0], "LF002")
    with client.transaction() as conn:
        client.present(BIG + 1, conn)
        expect(client.save(client.read(1, conn, "strict_job"), conn), 1)
    expect(client.value("SELECT fence::text FROM strict_job"), str(BIG + 1))


CASES = {
    "small integer": conditional_update(1, SMALL),
    "32-bit integer": conditional_update(2, WIDE),
    "64-bit integer": conditional_update(3, BIG),
    "string": conditional_update(4, str(BIG)),
    "array": array,
    "assignment alone": assignment_alone,
    "lower token": lower_token,
    "read": read,
    "read as bigint": read_as_bigint,
    "stale token": stale_token,
    "refused grant": refused_grant,
    "present": present,
    "lost at commit": lost_at_commit,
    "no leak": no_leak,
    "whole row, current": whole_row_current,
    "whole row, stale": whole_row_stale,
    "whole row, presented": whole_row_presented,
    "whole row, required": whole_row_required,
}
