// postgres.js, which is a pool. It asks the server for the types of numbers and strings.
const postgres = require("postgres");
const { Client, POOLED, run } = require("./cases.js");

const settings = { max: 1, prepare: !POOLED };
const pool = postgres(settings);
const own = postgres(settings);

class PostgresJs extends Client {
  async query(sql, values, on = own) {
    const rows = await on.unsafe(sql, values, { prepare: !POOLED });
    return { count: rows.count, rows };
  }
  async transaction(work) {
    await pool.begin(work);
  }
  // It takes the type of an array's first element for the array's: BigInts become strings.
  array(...numbers) {
    return numbers.map(String);
  }
  fields(error) {
    return {
      sqlstate: error.code,
      detail: error.detail,
      hint: error.hint,
      schema: error.schema_name,
      table: error.table_name,
      column: error.column_name,
    };
  }
}

run(new PostgresJs(), "`prepare: false`");
