// Sequelize over node-postgres. An instance saves what changed; here it is made to save its row whole.
const { Sequelize, DataTypes, Op } = require("sequelize");
const { Client, run } = require("./cases.js");

function connect() {
  const sequelize = new Sequelize({
    dialect: "postgres",
    host: process.env.PGHOST,
    port: process.env.PGPORT,
    username: process.env.PGUSER,
    database: process.env.PGDATABASE,
    logging: false,
    pool: { max: 1 },
  });
  for (const name of ["job", "strict_job"]) {
    // The data type only names what arrives: BIGINT is a string here.
    const columns = { v: DataTypes.TEXT, fence: { type: DataTypes.BIGINT, allowNull: false } };
    sequelize.define(name, columns, { tableName: name, timestamps: false });
  }
  return sequelize;
}
const pool = connect();
const own = connect();

class SequelizeClient extends Client {
  async query(sql, values, transaction) {
    const [rows, { rowCount }] = await (transaction ? pool : own).query(sql, { bind: values, transaction });
    return { count: rowCount, rows };
  }
  async transaction(work) {
    await pool.transaction(work);
  }
  async update(id, token) {
    const where = { id, fence: { [Op.lte]: token } };
    const [count] = await own.models.job.update({ v: "x", fence: token }, { where, validate: false });
    return count;
  }
  async assign(id, token) {
    const [count] = await own.models.job.update({ fence: token }, { where: { id } });
    return count;
  }
  async read(id, transaction, table = "job") {
    return (transaction ? pool : own).models[table].findByPk(id, { transaction });
  }
  async save(row, transaction) {
    row.changed("v", true);
    row.changed("fence", true);
    await row.save({ transaction });
    return 1;
  }
  fields({ original: { code, detail, hint, schema, table, column } }) {
    return { sqlstate: code, detail, hint, schema, table, column };
  }
}

run(new SequelizeClient(), "nothing");
