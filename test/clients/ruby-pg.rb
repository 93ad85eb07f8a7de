# ruby-pg: exec_params, with integers and arrays encoded by the gem's basic type map.
require "pg"

SMALL, WIDE, BIG = 101, 2**31 - 1, 2**53 + 1
STALE = "The write carries token 101, but token #{BIG} has been committed to the row."

def connection
  connection = PG.connect
  connection.type_map_for_queries = PG::BasicTypeMapForQueries.new(connection)
  # What has no decoder, as a fence, arrives as text; without a default it warns of that.
  connection.type_map_for_results = PG::BasicTypeMapForResults.new(connection)
  connection.type_map_for_results.default_type_map = PG::TypeMapAllStrings.new
  connection
end

OWN, POOL = connection, connection

def value(on, sql, *values) = on.exec_params(sql, values).getvalue(0, 0)
def write(on, sql, *values) = on.exec_params(sql, values).cmd_tuples
def fence(id) = value(OWN, "SELECT fence::text FROM job WHERE id = $1", id)
def present(on, token) = value(on, "SELECT fencing.present($1)", token)
def grant(resource) = OWN.exec_params("SELECT granted, token FROM fencing.acquire($1, '1 min', 'me')", [resource])[0]
def read(on, table, id) = on.exec_params("SELECT id, v, fence FROM #{table} WHERE id = $1", [id]).values[0]
def update(id, token) = write(OWN, "UPDATE job SET v = 'x', fence = $1 WHERE id = $2 AND fence <= $1", token, id)

def write_back(on, table, row)
  same write(on, "UPDATE #{table} SET id = $1, v = $2, fence = $3 WHERE id = $1", *row), 1
end

def transaction(&work) = POOL.transaction(&work)

def same(got, wanted)
  raise "got #{got.inspect}, wanted #{wanted.inspect}" unless got.eql?(wanted)
end

# The result with the fields of the error that the block must raise.
def fails(sqlstate)
  yield
rescue PG::Error => error
  same error.result.error_field(PG::PG_DIAG_SQLSTATE), sqlstate
  error
else
  raise "no error"
end

def types(*values)
  values.map { |value| value(OWN, "SELECT pg_typeof($1)::text", value) rescue "untyped" }.uniq.join(", ")
end

def fact(name, value) = puts("is #{name}: #{value}")

def test(name)
  yield
  puts "ok #{name}"
rescue StandardError => error
  puts "not ok #{name}: #{error.class}: #{error.message.tr("\n", " ")}"
end

fact "integer", types(SMALL, WIDE, BIG)
fact "string", types(BIG.to_s)
fact "pooler", "nothing, as long as it does not `prepare`"

test("small integer") { same update(1, SMALL), 1; same fence(1), "101" }
test("32-bit integer") { same update(2, WIDE), 1; same fence(2), "2147483647" }
test("64-bit integer") { same update(3, BIG), 1; same fence(3), "9007199254740993" }
test("string") { same update(4, BIG.to_s), 1; same fence(4), "9007199254740993" }
test("array") do
  count = "SELECT count(*) FROM job WHERE id = 10 AND fence = ANY($1)"
  same value(OWN, count, [SMALL, BIG]), 1
  same value(OWN, count, [SMALL, WIDE]), 0
end
test("assignment alone") do
  same write(OWN, "UPDATE job SET fence = $1 WHERE id = 5", BIG), 1
  same fence(5), "9007199254740993"
end
test("lower token") { same update(10, SMALL), 0 }
test("read") do
  got = value(OWN, "SELECT fence FROM job WHERE id = 10")
  fact "fence", "`#{got.class}`"
  same got.to_s, "9007199254740993"
end
test("read as bigint") do
  got = value(OWN, "SELECT fence::bigint FROM job WHERE id = 10")
  fact "bigint", "`#{got.class}`"
  same got, BIG
end
test("stale token") do
  result = fails("LF001") { write(OWN, "UPDATE job SET fence = 101 WHERE id = 10") }.result
  same result.error_field(PG::PG_DIAG_MESSAGE_DETAIL), STALE
  same result.error_field(PG::PG_DIAG_MESSAGE_HINT)[0, 14], "Another holder"
  place = [PG::PG_DIAG_SCHEMA_NAME, PG::PG_DIAG_TABLE_NAME, PG::PG_DIAG_COLUMN_NAME]
  same place.map { |field| result.error_field(field) }, %w[public job fence]
  fact "error", "nothing"
end
test("refused grant") do
  granted, token = grant("taken").values_at("granted", "token")
  same [granted, token], [false, nil]
  same update(10, token), 0
  fails("22004") { present(OWN, token) }
end
test("present") do
  transaction { |on| present(on, BIG); write(on, "UPDATE job SET v = 'x' WHERE id = 6") }
  same fence(6), "9007199254740993"
end
test("lost at commit") do
  token = grant("work")["token"]
  raise "token #{token}" unless token > BIG
  lost = fails("LF004") do
    transaction do |on|
      same value(on, "SELECT fencing.hold('work', $1)", token), token
      write(on, "UPDATE job SET v = 'x' WHERE id = 7")
      grant("work")
    end
  end
  same fence(7), "0"
  fact "commit", "`#{lost.class}`"
end
test("no leak") do
  transaction { |on| present(on, BIG) }
  fails("22012") { transaction { |on| present(on, BIG); value(on, "SELECT 1 / 0") } }
  2.times { transaction { |on| same value(on, "SELECT fencing.presented()"), nil } }
end
test("whole row, current") { write_back(OWN, "job", read(OWN, "job", 11)) }
test("whole row, stale") do
  row = read(OWN, "job", 12)
  same update(12, BIG + 1), 1
  fails("LF001") { write_back(OWN, "job", row) }
end
test("whole row, presented") do
  fails("LF001") { transaction { |on| present(on, SMALL); write_back(on, "job", read(on, "job", 13)) } }
end
test("whole row, required") do
  fails("LF002") { write_back(OWN, "strict_job", read(OWN, "strict_job", 1)) }
  transaction { |on| present(on, BIG + 1); write_back(on, "strict_job", read(on, "strict_job", 1)) }
  same value(OWN, "SELECT fence::text FROM strict_job"), "9007199254740994"
end
