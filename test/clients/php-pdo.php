<?php
// PDO's pgsql driver, with persistent connections as the pool.
const SMALL = 101, WIDE = 2 ** 31 - 1, BIG = 2 ** 53 + 1;
const STALE = "The write carries token 101, but token 9007199254740993 has been committed to the row.";

// Through pgbouncer no prepared statements: PDO writes the values into the statement by itself.
function connection(bool $persistent): PDO
{
    $source = sprintf("pgsql:host=%s;port=%s;dbname=%s", getenv("PGHOST"), getenv("PGPORT"), getenv("PGDATABASE"));
    return new PDO($source, getenv("PGUSER"), "", [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_PERSISTENT => $persistent,
        PDO::ATTR_EMULATE_PREPARES => (bool) getenv("POOLED"),
    ]);
}
$own = connection(false);

function query(PDO $on, string $sql, array $values): PDOStatement
{
    $statement = $on->prepare($sql);
    foreach ($values as $name => $value)
        $statement->bindValue($name, $value, is_int($value) ? PDO::PARAM_INT : (is_null($value) ? PDO::PARAM_NULL : PDO::PARAM_STR));
    $statement->execute();
    return $statement;
}

function value(PDO $on, string $sql, array $values = []) { return query($on, $sql, $values)->fetchColumn(); }
function write(PDO $on, string $sql, array $values = []) { return query($on, $sql, $values)->rowCount(); }
function present(PDO $on, $token) { return value($on, "SELECT fencing.present(:token)", ["token" => $token]); }
function read(PDO $on, $table, $id) { return query($on, "SELECT * FROM $table WHERE id = :id", ["id" => $id])->fetch(PDO::FETCH_ASSOC); }

function fence(int $id)
{
    global $own;
    return value($own, "SELECT fence::text FROM job WHERE id = :id", ["id" => $id]);
}

function update(int $id, $token)
{
    global $own;
    $sql = "UPDATE job SET v = 'x', fence = :token WHERE id = :id AND fence <= :token";
    return write($own, $sql, ["id" => $id, "token" => $token]);
}

function grant(string $resource)
{
    global $own;
    $sql = "SELECT granted, token FROM fencing.acquire(:resource, '1 min', 'me')";
    return query($own, $sql, ["resource" => $resource])->fetch(PDO::FETCH_NUM);
}

function write_back(PDO $on, string $table, array $row)
{
    same(write($on, "UPDATE $table SET v = :v, fence = :fence WHERE id = :id", $row), 1);
}

function transaction(callable $work)
{
    $pool = connection(true);
    $pool->beginTransaction();
    try {
        $work($pool);
        $pool->commit();
    } catch (PDOException $failure) {
        if ($pool->inTransaction())
            $pool->rollBack();
        throw $failure;
    }
}

function same($got, $wanted)
{
    if ($got !== $wanted)
        throw new Exception("got " . var_export($got, true) . ", wanted " . var_export($wanted, true));
}

function fails(string $sqlstate, callable $work): PDOException
{
    try {
        $work();
    } catch (PDOException $failure) {
        same($failure->errorInfo[0], $sqlstate);
        return $failure;
    }
    throw new Exception("no error");
}

function types(...$values): string
{
    global $own;
    $type = function ($value) use ($own) {
        try {
            return str_replace("unknown", "untyped", value($own, "SELECT pg_typeof(:value)::text", ["value" => $value]));
        } catch (PDOException $failure) {
            return "untyped";
        }
    };
    return implode(", ", array_unique(array_map($type, $values)));
}

function fact(string $name, string $value) { echo "is $name: $value\n"; }

function test(string $name, callable $test)
{
    try {
        $test();
        echo "ok $name\n";
    } catch (Throwable $failure) {
        echo "not ok $name: ", strtr($failure->getMessage(), "\n", " "), "\n";
    }
}

fact("integer", types(SMALL, WIDE, BIG));
fact("string", types((string) BIG));
fact("pooler", "`PDO::ATTR_EMULATE_PREPARES`");

test("small integer", function () { same(update(1, SMALL), 1); same(fence(1), "101"); });
test("32-bit integer", function () { same(update(2, WIDE), 1); same(fence(2), "2147483647"); });
test("64-bit integer", function () { same(update(3, BIG), 1); same(fence(3), "9007199254740993"); });
test("string", function () { same(update(4, (string) BIG), 1); same(fence(4), "9007199254740993"); });
test("array", function () use ($own) {
    $count = "SELECT count(*) FROM job WHERE id = 10 AND fence = ANY(:fences)";
    $fences = fn(...$numbers) => ["fences" => "{" . implode(",", $numbers) . "}"];
    same(value($own, $count, $fences(SMALL, BIG)), 1);
    same(value($own, $count, $fences(SMALL, WIDE)), 0);
});
test("assignment alone", function () use ($own) {
    same(write($own, "UPDATE job SET fence = :token WHERE id = 5", ["token" => BIG]), 1);
    same(fence(5), "9007199254740993");
});
test("lower token", function () { same(update(10, SMALL), 0); });
test("read", function () use ($own) {
    $got = value($own, "SELECT fence FROM job WHERE id = 10");
    fact("fence", "`" . get_debug_type($got) . "`");
    same((string) $got, "9007199254740993");
});
test("read as bigint", function () use ($own) {
    $got = value($own, "SELECT fence::bigint FROM job WHERE id = 10");
    fact("bigint", "`" . get_debug_type($got) . "`");
    same($got, BIG);
});
test("stale token", function () use ($own) {
    [$sqlstate, , $message] = fails("LF001", fn() => write($own, "UPDATE job SET fence = 101 WHERE id = 10"))->errorInfo;
    same(str_contains($message, "DETAIL:  " . STALE), true);
    same(str_contains($message, "HINT:  Another holder"), true);
    fact("error", "schema, table, column");
});
test("refused grant", function () use ($own) {
    [$granted, $token] = grant("taken");
    same([$granted, $token], [false, null]);
    same(update(10, $token), 0);
    fails("22004", fn() => present($own, $token));
});
test("present", function () {
    transaction(function ($on) { present($on, BIG); write($on, "UPDATE job SET v = 'x' WHERE id = 6"); });
    same(fence(6), "9007199254740993");
});
test("lost at commit", function () {
    [, $token] = grant("work");
    same($token > BIG, true);
    $lost = fails("LF004", fn() => transaction(function ($on) use ($token) {
        same(value($on, "SELECT fencing.hold('work', :token)", ["token" => $token]), $token);
        write($on, "UPDATE job SET v = 'x' WHERE id = 7");
        grant("work");
    }));
    same(fence(7), "0");
    fact("commit", "`" . get_class($lost) . "`");
});
test("no leak", function () {
    transaction(fn($on) => present($on, BIG));
    fails("22012", fn() => transaction(function ($on) { present($on, BIG); value($on, "SELECT 1 / 0"); }));
    foreach ([1, 2] as $_)
        transaction(fn($on) => same(value($on, "SELECT fencing.presented()"), null));
});
test("whole row, current", function () use ($own) { write_back($own, "job", read($own, "job", 11)); });
test("whole row, stale", function () use ($own) {
    $row = read($own, "job", 12);
    same(update(12, BIG + 1), 1);
    fails("LF001", fn() => write_back($own, "job", $row));
});
test("whole row, presented", function () {
    fails("LF001", fn() => transaction(function ($on) {
        present($on, SMALL);
        write_back($on, "job", read($on, "job", 13));
    }));
});
test("whole row, required", function () use ($own) {
    fails("LF002", fn() => write_back($own, "strict_job", read($own, "strict_job", 1)));
    transaction(function ($on) {
        present($on, BIG + 1);
        write_back($on, "strict_job", read($on, "strict_job", 1));
    });
    same(value($own, "SELECT fence::text FROM strict_job"), "9007199254740994");
});
