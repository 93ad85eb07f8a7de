// node-postgres, with its pool. Numbers and BigInts are sent as untyped text.
const { Pool } = require("pg");
const { Client, run } = require("./cases.js");

const pool = new Pool({ max: 1 });
const own = new Pool({ max: 1 });

class NodePostgres extends Client {
  async query(sql, values, on = own) {
    const { rowCount, rows } = await on.query(sql, values);
    return { count: rowCount, rows };
  }
  async transaction(work) {
    const connection = await pool.connect();
    try {
      await connection.query("BEGIN");
      await work(connection);
      await connection.query("COMMIT");
    } catch (failure) {
      await connection.query("ROLLBACK");
      throw failure;
    } finally {
      connection.release();
    }
  }
  fields({ code, detail, hint, schema, table, column }) {
    return { sqlstate: code, detail, hint, schema, table, column };
  }
}

run(new NodePostgres(), "nothing, as long as no query has a `name`");
