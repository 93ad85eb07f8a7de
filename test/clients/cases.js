// The cases of README.md for the programs of Node.js, each of which brings a client of its driver.
const assert = require("node:assert");

const SMALL = 101, WIDE = 2 ** 31 - 1, BIG = 2n ** 53n + 1n;
const STALE = "The write carries token 101, but token 9007199254740993 has been committed to the row.";
const POOLED = Boolean(process.env.POOLED);

// A program defines query and transaction, and fields; an ORM, read and save as well.
class Client {
  // {count, rows}: rows affected and returned; on a connection of its own by default.
  async query(sql, values, on) { throw new Error("left to the program of a driver"); }
  // Calls work with a connection out of the pool, and commits.
  async transaction(work) { throw new Error("left to the program of a driver"); }
  // {sqlstate, detail, hint, schema, table, column} of what was thrown.
  fields(error) { throw new Error("left to the program of a driver"); }

  async update(id, token) {
    return (await this.query("UPDATE job SET v = 'x', fence = $1 WHERE id = $2 AND fence <= $1", [token, id])).count;
  }
  async assign(id, token) {
    return (await this.query("UPDATE job SET fence = $1 WHERE id = $2", [token, id])).count;
  }
  async read(id, on, table = "job") {
    const { rows } = await this.query(`SELECT id, v, fence FROM ${table} WHERE id = $1`, [id], on);
    return { table, ...rows[0] };
  }
  async save({ table, id, v, fence }, on) {
    return (await this.query(`UPDATE ${table} SET v = $1, fence = $2 WHERE id = $3`, [v, fence, id], on)).count;
  }
  async value(sql, values = [], on = undefined) {
    return Object.values((await this.query(sql, values, on)).rows[0])[0];
  }
  array(...numbers) { return numbers; }
  async fence(id) { return this.value("SELECT fence::text FROM job WHERE id = $1", [id]); }
  async present(token, on) { return this.value("SELECT fencing.present($1)", [token], on); }
  async grant(resource) {
    return (await this.query("SELECT granted, token FROM fencing.acquire($1, '1 min', 'me')", [resource])).rows[0];
  }
  async types(...values) {
    const found = new Set();
    for (const value of values) {
      const type = await this.value("SELECT pg_typeof($1)::text AS type", [value]).catch(() => "untyped");
      found.add(type.replace("unknown", "untyped"));
    }
    return [...found].join(", ");
  }
}

const fact = (name, value) => console.log(`is ${name}: ${value}`);
const kind = (value) => `\`${typeof value === "object" ? value.constructor.name : typeof value}\``;

async function error(promise) {
  let raised;
  try { await promise; } catch (thrown) { raised = thrown; }
  assert(raised, "no error");
  return raised;
}

const conditionalUpdate = (id, token) => async (client) => {
  assert.strictEqual(await client.update(id, token), 1);
  assert.strictEqual(await client.fence(id), String(token));
};

const CASES = {
  "small integer": conditionalUpdate(1, SMALL),
  "32-bit integer": conditionalUpdate(2, WIDE),
  "64-bit integer": conditionalUpdate(3, BIG),
  "string": conditionalUpdate(4, String(BIG)),

  async "array"(client) {
    const count = "SELECT count(*)::integer FROM job WHERE id = 10 AND fence = ANY($1)";
    assert.strictEqual(await client.value(count, [client.array(BigInt(SMALL), BIG)]), 1);
    assert.strictEqual(await client.value(count, [client.array(SMALL, WIDE)]), 0);
  },
  async "assignment alone"(client) {
    assert.strictEqual(await client.assign(5, BIG), 1);
    assert.strictEqual(await client.fence(5), String(BIG));
  },
  async "lower token"(client) {
    assert.strictEqual(await client.update(10, SMALL), 0);
  },
  async "read"(client) {
    const got = await client.value("SELECT fence FROM job WHERE id = 10");
    fact("fence", kind(got));
    assert.strictEqual(String(got), String(BIG));
  },
  async "read as bigint"(client) {
    const got = await client.value("SELECT fence::bigint FROM job WHERE id = 10");
    fact("bigint", kind(got));
    assert.strictEqual(String(got), String(BIG));
  },
  async "stale token"(client) {
    const got = client.fields(await error(client.query("UPDATE job SET fence = 101 WHERE id = 10", [])));
    assert.strictEqual(got.sqlstate, "LF001");
    assert.strictEqual(got.detail, STALE);
    assert.match(got.hint, /^Another holder has taken over/);
    assert.deepStrictEqual([got.schema, got.table, got.column], ["public", "job", "fence"]);
    fact("error", "nothing");
  },
  async "refused grant"(client) {
    const { granted, token } = await client.grant("taken");
    assert.deepStrictEqual([granted, token], [false, null]);
    assert.strictEqual(await client.update(10, token), 0);
    assert.strictEqual(client.fields(await error(client.present(token))).sqlstate, "22004");
  },
  async "present"(client) {
    await client.transaction(async (on) => {
      assert.strictEqual(String(await client.present(BIG, on)), String(BIG));
      await client.query("UPDATE job SET v = 'x' WHERE id = 6", [], on);
    });
    assert.strictEqual(await client.fence(6), String(BIG));
  },
  async "lost at commit"(client) {
    const { token } = await client.grant("work");
    assert(BigInt(token) > BIG, `token ${token}`);
    const lost = await error(client.transaction(async (on) => {
      assert.strictEqual(await client.value("SELECT fencing.hold('work', $1)", [token], on), token);
      await client.query("UPDATE job SET v = 'x' WHERE id = 7", [], on);
      await client.grant("work");
    }));
    assert.strictEqual(client.fields(lost).sqlstate, "LF004");
    assert.strictEqual(await client.fence(7), "0");
    fact("commit", kind(lost));
  },
  async "no leak"(client) {
    await client.transaction((on) => client.present(BIG, on));
    const failed = await error(client.transaction(async (on) => {
      await client.present(BIG, on);
      await client.query("SELECT 1 / 0", [], on);
    }));
    assert.strictEqual(client.fields(failed).sqlstate, "22012");
    for (let i = 0; i < 2; i++) {
      await client.transaction(async (on) => {
        assert.strictEqual(await client.value("SELECT fencing.presented()", [], on), null);
      });
    }
  },
  async "whole row, current"(client) {
    assert.strictEqual(await client.save(await client.read(11)), 1);
  },
  async "whole row, stale"(client) {
    const row = await client.read(12);
    assert.strictEqual(await client.update(12, BIG + 1n), 1);
    assert.strictEqual(client.fields(await error(client.save(row))).sqlstate, "LF001");
  },
  async "whole row, presented"(client) {
    const stale = await error(client.transaction(async (on) => {
      await client.present(SMALL, on);
      await client.save(await client.read(13, on), on);
    }));
    assert.strictEqual(client.fields(stale).sqlstate, "LF001");
  },
  async "whole row, required"(client) {
    const missing = await error(client.save(await client.read(1, undefined, "strict_job")));
    assert.strictEqual(client.fields(missing).sqlstate, "LF002");
    await client.transaction(async (on) => {
      await client.present(BIG + 1n, on);
      assert.strictEqual(await client.save(await client.read(1, on, "strict_job"), on), 1);
    });
    assert.strictEqual(await client.value("SELECT fence::text FROM strict_job"), String(BIG + 1n));
  },
};

async function run(client, pooler) {
  fact("integer", await client.types(SMALL, WIDE, BIG));
  fact("string", await client.types(String(BIG)));
  fact("pooler", pooler);
  for (const [name, test] of Object.entries(CASES)) {
    try {
      await test(client);
      console.log(`ok ${name}`);
    } catch (failure) {
      console.log(`not ok ${name}: ${failure.name}: ${failure.message.replace(/\s+/g, " ")}`);
    }
  }
  process.exit();
}

module.exports = { Client, POOLED, SMALL, WIDE, BIG, run };
