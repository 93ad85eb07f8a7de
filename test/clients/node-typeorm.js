// TypeORM over node-postgres. save() writes what changed; update() writes all that it is given.
const { DataSource, EntitySchema, LessThanOrEqual } = require("typeorm");
const { Client, run } = require("./cases.js");

// The type only names what arrives: bigint is a string here.
const entities = ["job", "strict_job"].map((name) => new EntitySchema({
  name,
  columns: { id: { type: "int", primary: true }, v: { type: "text" }, fence: { type: "bigint" } },
}));

async function connect() {
  return new DataSource({
    type: "postgres",
    host: process.env.PGHOST,
    port: Number(process.env.PGPORT),
    username: process.env.PGUSER,
    database: process.env.PGDATABASE,
    entities,
    poolSize: 1,
    installExtensions: false,
  }).initialize();
}

class TypeOrm extends Client {
  constructor(pool, own) {
    super();
    Object.assign(this, { pool, own: own.manager });
  }
  async query(sql, values, on = this.own) {
    const result = await on.query(sql, values);
    return sql.startsWith("SELECT") ? { rows: result } : { rows: [], count: result[1] };
  }
  async transaction(work) {
    await this.pool.transaction(work);
  }
  async update(id, token) {
    const where = { id, fence: LessThanOrEqual(token) };
    return (await this.own.update("job", where, { v: "x", fence: token })).affected;
  }
  async assign(id, token) {
    return (await this.own.update("job", { id }, { fence: token })).affected;
  }
  async read(id, on = this.own, table = "job") {
    return { table, row: await on.findOneBy(table, { id }) };
  }
  async save({ table, row }, on = this.own) {
    return (await on.update(table, row.id, row)).affected;
  }
  fields({ code, detail, hint, schema, table, column }) {
    return { sqlstate: code, detail, hint, schema, table, column };
  }
}

Promise.all([connect(), connect()]).then((both) => run(new TypeOrm(...both), "nothing"));
